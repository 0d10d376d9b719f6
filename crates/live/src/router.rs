//! The router: it reads what the hosts of one side send off their TUN device, lets it cross the links of the
//! plan, and writes it to the other side when it is due. It drives the simulator's own links by the wall
//! clock. Each direction has its own router on its own thread where the plan allows it ([`crate::layout`]),
//! because most of a packet's cost is the kernel's work to receive it.
//!
//! The links act at the times when they were due to: the rest of the router may be late, but the rates are
//! exact. The router measures how late packets are handed to hosts, and how long they lay before they were
//! read.

use crate::guests::Guests;
use crate::network::{LinkReport, Network};
use crate::outbox::Outbox;
use crate::outside::Gate;
use crate::path::Path;
use crate::ports::{carries_datagrams, conversation, is_iperf_control};
use crate::rest::Rest;
use crate::spare::Spare;
use crate::sys::clock::{Clock, thread_cpu};
use crate::sys::scheduling::prioritize_router;
use crate::sys::tun::Device;
use crate::sys::waiting::{sleep, wait_until_any_readable, would_block};
use crate::until::Until;
use longfat_net::Sojourn;
use longfat_sim::MessageCounters;
use longfat_units::{Interval, Time};
use longfat_wire::{Conversation, FlowId, Kind, Packet, Ports, RealPacket};
use std::io;
use std::sync::mpsc::Receiver;

/// Packets read before the packets that are due have their turn.
const BATCH: usize = 128;
/// Packets are dense where some come or leave again before so many rests have passed (chosen here).
const DENSE: u64 = 2;
/// The router checks at least this often whether it is still wanted.
const LONGEST_WAIT: Interval = Interval::from_millis(50);

/// After the end, a host that has sent nothing for this long will not send any more.
const LAST_WAIT: Interval = Interval::from_millis(20);

/// A connection that is about to be opened.
pub type News = (FlowId, Path);

/// The times of a run.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Period of the links' samples, seconds.
    pub period_s: f64,
    /// The span that the summary covers.
    pub measured: (Time, Time),
    /// The end of the run.
    pub end: Time,
    /// How threads wait.
    pub rest: Rest,
}

/// What a router reports after a run.
pub struct Report {
    /// What its links report.
    pub links: Vec<LinkReport>,
    /// The messages between its links' routers, if there can be any.
    pub messages: Option<MessageCounters>,
    /// How much later than due packets were handed to hosts.
    pub lateness: Sojourn,
    /// The greatest lateness.
    pub latest: Interval,
    /// How long packets of the measured span took from a host's TCP until they were read (`Stamps`).
    pub unread: Sojourn,
    /// The connections of programs.
    pub guests: Option<Guests>,
    /// Packets that a host's kernel did not take.
    pub refused: u64,
    /// Packets that belonged to no connection.
    pub strangers: u64,
    /// The largest packet read, bytes.
    pub largest_bytes: u32,
    /// Processor time of its thread.
    pub cpu: Interval,
    /// Whether the kernel let its thread run before others.
    pub realtime: bool,
}

/// The router for what some sides send.
pub struct Router<'a> {
    clock: Clock,
    sides: Vec<usize>,
    devices: [Device<'a>; 2],
    network: Network,
    news: Receiver<News>,
    guests: Option<Guests>,
    outside: Option<Gate<'a>>,
    outbox: Outbox,
    lost: Vec<RealPacket>,
    spare: Spare,
    times: Times,
    samples: u64,
    next_sample: Time,
    next_mark: Time,
    is_measuring: bool,
    /// When packets last came or left.
    active: Time,
    lateness: Sojourn,
    latest: Interval,
    unread: Sojourn,
    refused: u64,
    strangers: u64,
    largest_bytes: u32,
    cpu: Interval,
    realtime: bool,
}

impl<'a> Router<'a> {
    /// A router for what these sides send over a network, between the TUN devices of both sides. Connections
    /// of the plan are announced through `news` before their first packet.
    pub fn new(
        clock: Clock,
        sides: Vec<usize>,
        devices: [Device<'a>; 2],
        network: Network,
        news: Receiver<News>,
        times: Times,
    ) -> Self {
        Router {
            clock,
            sides,
            devices,
            network,
            news,
            guests: None,
            outside: None,
            outbox: Outbox::default(),
            lost: Vec::new(),
            spare: Spare::default(),
            times,
            samples: 0,
            next_sample: Time::ZERO,
            next_mark: times.measured.0,
            is_measuring: false,
            active: Time::ZERO,
            lateness: Sojourn::default(),
            latest: Interval::ZERO,
            unread: Sojourn::default(),
            refused: 0,
            strangers: 0,
            largest_bytes: 0,
            cpu: Interval::ZERO,
            realtime: false,
        }
    }

    /// The same router for programs' connections too. Side A's may have the machine's own network on its
    /// other side.
    pub fn hosting(self, guests: Option<Guests>, outside: Option<Gate<'a>>) -> Self {
        Router { guests, outside, ..self }
    }

    /// Runs to the end.
    pub fn run(&mut self, until: &Until) -> io::Result<()> {
        self.realtime = prioritize_router();
        loop {
            let now = self.clock.now();
            if now >= until.end() {
                break;
            }
            let handed = self.act_until(now);
            let read = self.read()?;
            if read < BATCH {
                self.rest(now, handed + read > 0)?;
            }
        }
        self.times.end = until.end();
        self.act_until(self.times.end);
        self.cpu = thread_cpu();
        Ok(())
    }

    /// Waits for more to do. `is_active` says whether packets have come or left at `now`.
    fn rest(&mut self, now: Time, is_active: bool) -> io::Result<()> {
        let Rest { rest, watch } = self.times.rest;
        if is_active {
            let before = std::mem::replace(&mut self.active, now);
            if now.since(before).as_ns() < DENSE * rest.as_ns() {
                sleep(rest);
                return Ok(());
            }
        }
        let left = self.next().since(self.clock.now()).saturating_sub(watch);
        // shortly before a packet is due, the loop watches the clock
        if left > Interval::ZERO { self.wait(left.min(LONGEST_WAIT)) } else { Ok(()) }
    }

    fn wait(&self, most: Interval) -> io::Result<()> {
        wait_until_any_readable(self.sides.iter().map(|&side| self.devices[side].tun), most)
    }

    /// Returns the report, once no router runs any more. What hosts have sent up to now is counted, but goes
    /// nowhere.
    pub fn report(mut self) -> io::Result<Report> {
        loop {
            // paced packets may still be on their way to the device
            self.wait(LAST_WAIT)?;
            if self.read()? == 0 {
                break;
            }
        }
        Ok(Report {
            messages: self.network.messages(),
            links: self.network.reports(self.times.end),
            lateness: self.lateness,
            latest: self.latest,
            unread: self.unread,
            guests: self.guests,
            refused: self.refused,
            strangers: self.strangers,
            largest_bytes: self.largest_bytes,
            cpu: self.cpu,
            realtime: self.realtime,
        })
    }

    /// Returns when something is due next.
    fn next(&self) -> Time {
        self.network.next().min(self.next_sample).min(self.next_mark)
    }

    /// Does everything that was due up to `now`, in the order in which it was due, and hands over what has
    /// arrived. Returns how many packets that was.
    fn act_until(&mut self, now: Time) -> usize {
        let mut packets = 0;
        loop {
            let at = self.next();
            if at > now {
                break;
            }
            if self.next_sample <= at {
                self.sample(at);
            } else if self.next_mark <= at {
                self.mark(at);
            } else if let Some((side, mut packet)) = self.network.act(at, &mut self.lost) {
                packet.write_explicit();
                self.outbox.put(side, at, packet);
                packets += 1;
            }
            while let Some(packet) = self.lost.pop() {
                self.lose(packet);
            }
        }
        self.hand_over();
        packets
    }

    /// Reads what the hosts have sent and returns how many packets.
    fn read(&mut self) -> io::Result<usize> {
        let mut packets = 0;
        for n in 0..self.sides.len() {
            let side = self.sides[n];
            while packets < BATCH {
                let mut buffer = self.spare.largest();
                match self.devices[side].read(&mut buffer) {
                    Ok((length, offload)) => {
                        let buffer = self.spare.fitted(buffer, length);
                        let read = offload
                            .ok_or(())
                            .map(|offload| RealPacket::parse_offloaded(buffer, length, offload));
                        packets += match read {
                            Ok(Ok((packet, exchanged))) => {
                                let packets = packet.joined();
                                self.sort(side, packet, &exchanged);
                                packets
                            }
                            Ok(Err(buffer)) => {
                                self.spare.keep(buffer);
                                1
                            }
                            Err(()) => 1,
                        };
                    }
                    Err(error) if would_block(&error) => {
                        self.spare.keep(buffer);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(packets)
    }

    /// Finds out what a packet or a train is that a side's host has sent.
    fn sort(&mut self, side: usize, packet: RealPacket, exchanged: &Conversation) {
        if self.guests.as_ref().is_some_and(|guests| guests.sent(exchanged)) {
            return self.take_from_guest(side, packet, exchanged);
        }
        match exchanged.ports() {
            // it bypasses the links, as if on a network of its own: the path is there for the data
            Some(ports) if is_iperf_control(ports) => self.pass_by(1 - side, packet),
            Some(ports) => self.take(side, packet, ports),
            None => self.spare.take_back(packet), // not from a connection
        }
    }

    /// Takes a packet or a train that a side's host has sent.
    fn take(&mut self, side: usize, mut packet: RealPacket, ports: Ports) {
        let now = self.clock.now();
        let (flow, from_opener) = conversation(side, ports);
        packet.assign(flow, from_opener);
        if matches!(packet.kind(), Kind::Syn | Kind::SynAck) || self.network.path(flow).is_none() {
            while let Ok((flow, path)) = self.news.try_recv() {
                self.network.learn(flow, path);
            }
        }
        let Some(path) = self.network.path(flow) else {
            self.strangers += packet.joined() as u64;
            return self.spare.take_back(packet);
        };
        if packet.kind() == Kind::Syn && !path.ecn {
            packet.decline_ecn();
        }
        if path.explicit {
            packet.read_explicit();
            path.counts.explicit.see_sent(&packet);
        }
        self.send(now, packet, from_opener);
    }

    /// Takes a packet or a train that a program has sent.
    fn take_from_guest(&mut self, side: usize, mut packet: RealPacket, exchanged: &Conversation) {
        let now = self.clock.now();
        let Some(guests) = &mut self.guests else { return };
        let Some(flow) = guests.meet(now, exchanged) else { return self.spare.take_back(packet) };
        if let Some(outside) = &mut self.outside {
            outside.see(exchanged);
        }
        packet.assign_by_headers(flow);
        if self.network.path(flow).is_none() {
            self.network.learn_guest(flow, guests.path(flow), side);
        }
        self.send(now, packet, true);
    }

    /// Sends a packet, or those of a train, of a known connection.
    fn send(&mut self, now: Time, packet: RealPacket, from_opener: bool) {
        let Some(path) = self.network.path(packet.flow()) else { return };
        let packets = packet.joined();
        if packet.kind() == Kind::Data {
            path.counts.packets_sent.add(packets as u64);
        }
        if let Some(stamp) = packet.stamp() {
            let waited = path.stamps[usize::from(!from_opener)].waited(now, stamp);
            if (self.times.measured.0..self.times.measured.1).contains(&now) {
                (0..packets).for_each(|_| self.unread.record(waited));
            }
        }
        for packet in packet.cut() {
            self.largest_bytes = self.largest_bytes.max(packet.bytes());
            self.network.send(now, packet);
        }
    }

    /// Hands a packet to the hosts of a side at once.
    fn pass_by(&mut self, side: usize, packet: RealPacket) {
        let packets: Vec<_> = packet.cut().collect();
        let mut head = Vec::new();
        let offload = RealPacket::write_joined(&packets, &mut head);
        let written = self.devices[side].write(offload, &head, RealPacket::payloads(&packets));
        self.refused += u64::from(written.is_err());
    }

    fn lose(&mut self, packet: RealPacket) {
        if let (Kind::Data, Some(path)) = (packet.kind(), self.network.path(packet.flow())) {
            path.counts.packets_lost.add(1);
        }
        self.spare.take_back(packet);
    }

    /// Hands the packets that have arrived to their hosts' kernels.
    fn hand_over(&mut self) {
        let Router { clock, devices, network, outbox, spare, lateness, latest, refused, .. } = self;
        outbox.hand_over(clock, devices, |group, handed, taken| {
            let now = clock.now();
            for &due in &group.due {
                let late = now.since(due);
                lateness.record(late);
                *latest = late.max(*latest);
            }
            group.packets.iter().for_each(|packet| network.hand_over(handed, packet));
            if !taken {
                *refused += group.packets.len() as u64;
            } else if let Some(path) = group.packets.first().and_then(|first| network.path(first.flow())) {
                group.packets.iter().for_each(|packet| see(path, packet));
            }
            group.packets.drain(..).for_each(|packet| spare.take_back(packet));
        });
    }

    fn sample(&mut self, now: Time) {
        self.network.sample(now);
        self.samples += 1;
        self.next_sample = Time::from_secs_f64(self.samples as f64 * self.times.period_s);
        if self.next_sample > self.times.end {
            self.next_sample = Time::NEVER;
        }
    }

    /// The measured span begins or ends.
    fn mark(&mut self, now: Time) {
        if self.is_measuring {
            self.next_mark = Time::NEVER;
            self.network.end_measured(now);
        } else {
            self.is_measuring = true;
            self.network.begin_measured(now);
            self.next_mark = self.times.measured.1;
        }
    }
}

/// Counts a packet that was handed to its host.
fn see(path: &Path, packet: &RealPacket) {
    if packet.kind() == Kind::Data {
        path.counts.packets_received.add(1);
        path.counts.received_bytes.add(u64::from(packet.bytes()));
        if carries_datagrams(packet.flow()) {
            path.counts.delivered_bytes.add(packet.payload_bytes() as u64); // nobody acknowledges what it read
        }
    }
    if path.explicit {
        path.counts.explicit.see_received(packet);
    }
}
