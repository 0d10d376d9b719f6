//! The router: it reads what the hosts of one side send off their TUN device, lets it cross the link of the
//! plan, and writes it to the other side when it is due. It drives the simulator's own link by the wall
//! clock. Each direction has its own router on its own thread, because most of a packet's cost is the
//! kernel's work to receive it.
//!
//! The link acts at the times when it was due to: the rest of the router may be late, but the rate is exact.
//! The router measures how late packets are handed to hosts, and how long they lay before they were read.

use crate::guests::Guests;
use crate::outside::Gate;
use crate::path::Path;
use crate::ports::{CONNECTIONS, carries_datagrams, conversation, is_iperf_control};
use crate::sys::clock::{Clock, thread_cpu};
use crate::sys::scheduling::prioritize_router;
use crate::sys::tun;
use crate::sys::waiting::{sleep, wait_until_readable, would_block};
use crate::until::Until;
use longfat_capture::Watch;
use longfat_net::{DropReason, Sojourn};
use longfat_sim::{Link, LinkCounters, LinkSample, LinkSummary, Series, link_summary};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Kind, Packet, RealPacket};
use std::cmp::{Ordering as Order, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::Receiver;

/// Packets read before the packets that are due have their turn.
const BATCH: usize = 32;
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
    /// What comes within this interval is handled together: waking costs more than a packet does.
    pub rest: Interval,
}

/// What a router reports after a run.
pub struct Report {
    /// The link's summary of the measured span.
    pub summary: LinkSummary,
    /// The link's name, and its samples.
    pub series: (String, Series<LinkSample>),
    /// Packets that left the link.
    pub packets: u64,
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

/// Where a packet goes next.
enum Stop {
    /// To the link.
    Link,
    /// To the hosts of the other side.
    Host,
}

/// A packet that is due somewhere.
struct Due {
    at: Time,
    number: u64,
    stop: Stop,
    packet: RealPacket,
}

impl Due {
    const fn key(&self) -> (Time, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Order {
        self.key().cmp(&other.key())
    }
}

/// The router for what one side sends.
pub struct Router<'a> {
    clock: Clock,
    side: usize,
    from: BorrowedFd<'a>,
    to: BorrowedFd<'a>,
    link: Link<RealPacket>,
    paths: Vec<Option<Box<Path>>>,
    news: Receiver<News>,
    guests: Option<Guests>,
    outside: Option<Gate<'a>>,
    agenda: BinaryHeap<Reverse<Due>>,
    entries: u64,
    spare: Vec<Vec<u8>>,
    packet_bytes: usize,
    times: Times,
    samples: u64,
    next_sample: Time,
    next_mark: Time,
    before: Option<LinkCounters>,
    summary: Option<LinkSummary>,
    series: Series<LinkSample>,
    lateness: Sojourn,
    latest: Interval,
    unread: Sojourn,
    refused: u64,
    strangers: u64,
    largest_bytes: u32,
    cpu: Interval,
    realtime: bool,
    /// Where copies of packets go, if there is a capture.
    watch: Option<Watch>,
}

impl<'a> Router<'a> {
    /// A router for a side's link, between the TUN devices of that side and the other. Connections of the plan are
    /// announced through `news` before their first packet; those of programs are `guests`. Side A's router may have the
    /// machine's own network on its other side.
    #[expect(clippy::too_many_arguments, reason = "what a router is made of, each once")]
    pub fn new(
        clock: Clock,
        side: usize,
        tuns: [BorrowedFd<'a>; 2],
        link: Link<RealPacket>,
        news: Receiver<News>,
        guests: Option<Guests>,
        outside: Option<Gate<'a>>,
        packet_bytes: usize,
        times: Times,
    ) -> Self {
        Router {
            clock,
            side,
            from: tuns[side],
            to: tuns[1 - side],
            series: Series::default(),
            link,
            paths: (0..CONNECTIONS).map(|_| None).collect(),
            news,
            guests,
            outside,
            agenda: BinaryHeap::new(),
            entries: 0,
            spare: Vec::new(),
            packet_bytes,
            times,
            samples: 0,
            next_sample: Time::ZERO,
            next_mark: times.measured.0,
            before: None,
            summary: None,
            lateness: Sojourn::default(),
            latest: Interval::ZERO,
            unread: Sojourn::default(),
            refused: 0,
            strangers: 0,
            largest_bytes: 0,
            cpu: Interval::ZERO,
            realtime: false,
            watch: None,
        }
    }

    /// The same router with a capture.
    pub fn watched(self, watch: Option<Watch>) -> Self {
        Router { watch, ..self }
    }

    /// Runs to the end.
    pub fn run(&mut self, until: &Until) -> io::Result<()> {
        self.realtime = prioritize_router();
        loop {
            let now = self.clock.now();
            if now >= until.end() {
                break;
            }
            self.act_until(now);
            let read = self.read()?;
            if read < BATCH {
                sleep(self.times.rest);
            }
            let left = self.next().since(self.clock.now()).min(LONGEST_WAIT);
            if read == 0 && left > Interval::ZERO {
                wait_until_readable(self.from, left)?;
            }
        }
        self.times.end = until.end();
        self.act_until(self.times.end);
        self.cpu = thread_cpu();
        Ok(())
    }

    /// Returns the report, once no router runs any more. What hosts have sent up to now is counted, but goes
    /// nowhere.
    pub fn report(mut self) -> io::Result<Report> {
        loop {
            // paced packets may still be on their way to the device
            wait_until_readable(self.from, LAST_WAIT)?;
            if self.read()? == 0 {
                break;
            }
        }
        let end = self.times.end;
        let packets = self.link.settle(end).1.packets_out;
        let summary = match self.summary.take() {
            Some(summary) => summary,
            None => self.summarize(end),
        };
        Ok(Report {
            summary,
            series: (self.link.name, self.series),
            packets,
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
        let packets = self.agenda.peek().map_or(Time::NEVER, |Reverse(due)| due.at);
        packets.min(self.link.wake()).min(self.next_sample).min(self.next_mark)
    }

    /// Does everything that was due up to `now`, in the order in which it was due.
    fn act_until(&mut self, now: Time) {
        loop {
            let at = self.next();
            if at > now {
                return;
            }
            if self.next_sample <= at {
                self.sample(at);
            } else if self.next_mark <= at {
                self.mark(at);
            } else if self.link.wake() <= at {
                self.link.on_timer(at);
                self.clear(at);
            } else if let Some(Reverse(due)) = self.agenda.pop() {
                match due.stop {
                    Stop::Link => self.enter(at, due.packet),
                    Stop::Host => self.hand_over(at, due.packet),
                }
            }
        }
    }

    fn put(&mut self, at: Time, stop: Stop, packet: RealPacket) {
        self.entries += 1;
        self.agenda.push(Reverse(Due { at, number: self.entries, stop, packet }));
    }

    /// Reads what the hosts have sent and returns how many packets.
    fn read(&mut self) -> io::Result<usize> {
        for n in 0..BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.resize(self.packet_bytes, 0);
            match tun::read(self.from, &mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    self.take(buffer);
                }
                Err(error) if would_block(&error) => {
                    self.spare.push(buffer);
                    return Ok(n);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(BATCH)
    }

    /// Takes a packet that a host has sent.
    fn take(&mut self, bytes: Vec<u8>) {
        if self.guests.as_ref().is_some_and(|guests| guests.sent(&bytes)) {
            return self.take_from_guest(bytes);
        }
        let (mut packet, ports) = match RealPacket::parse(bytes) {
            Ok(parsed) => parsed,
            Err(bytes) => return self.spare.push(bytes), // not from a connection
        };
        if is_iperf_control(ports) {
            // it bypasses the link, as if on a network of its own: the path is there for the data
            self.refused += u64::from(tun::write(self.to, packet.as_bytes()).is_err());
            return self.spare.push(packet.into_bytes());
        }
        let now = self.clock.now();
        let (flow, from_opener) = conversation(self.side, ports);
        packet.assign(flow, from_opener);
        if matches!(packet.kind(), Kind::Syn | Kind::SynAck) || self.paths[flow.0 as usize].is_none() {
            self.learn();
        }
        let Some(path) = &mut self.paths[flow.0 as usize] else {
            self.strangers += 1;
            return self.spare.push(packet.into_bytes());
        };
        if packet.kind() == Kind::Syn && !path.ecn {
            packet.decline_ecn();
        }
        if packet.kind() == Kind::Data {
            path.counts.packets_sent.add(1);
        }
        if path.explicit {
            packet.read_explicit();
            path.counts.explicit.see_sent(&packet);
        }
        if let Some(stamp) = packet.stamp() {
            let way = path.stamps.waited(now, stamp);
            if (self.times.measured.0..self.times.measured.1).contains(&now) {
                self.unread.record(way);
            }
        }
        self.largest_bytes = self.largest_bytes.max(packet.bytes());
        let at = path.leave_host(now, packet.kind(), packet.bytes());
        self.put(at, Stop::Link, packet);
    }

    /// Takes a packet that a program has sent.
    fn take_from_guest(&mut self, bytes: Vec<u8>) {
        let (mut packet, exchanged) = match RealPacket::parse_any(bytes) {
            Ok(parsed) => parsed,
            Err(bytes) => return self.spare.push(bytes),
        };
        let now = self.clock.now();
        let Some(guests) = &mut self.guests else { return };
        let Some(flow) = guests.meet(now, &exchanged) else { return self.spare.push(packet.into_bytes()) };
        if let Some(outside) = &mut self.outside {
            outside.see(&exchanged);
        }
        packet.assign_by_headers(flow);
        let index = flow.0 as usize;
        if index >= self.paths.len() {
            self.paths.resize_with(index + 1, || None);
        }
        let path = self.paths[index].get_or_insert_with(|| Box::new(guests.path(flow)));
        if packet.kind() == Kind::Data {
            path.counts.packets_sent.add(1);
        }
        if let Some(stamp) = packet.stamp() {
            let way = path.stamps.waited(now, stamp);
            if (self.times.measured.0..self.times.measured.1).contains(&now) {
                self.unread.record(way);
            }
        }
        self.largest_bytes = self.largest_bytes.max(packet.bytes());
        // data and acknowledgements leave the host over one link
        let at = path.leave_host(now, Kind::Data, packet.bytes());
        self.put(at, Stop::Link, packet);
    }

    /// Takes in the connections that were announced.
    fn learn(&mut self) {
        while let Ok((flow, path)) = self.news.try_recv() {
            self.paths[flow.0 as usize] = Some(Box::new(path));
        }
    }

    /// A packet comes to the link.
    fn enter(&mut self, now: Time, packet: RealPacket) {
        if let Some(watch) = &self.watch {
            watch.enters(now, &packet);
        }
        let path = self.paths[packet.flow().0 as usize].as_mut();
        if path.is_some_and(|path| path.losses.strike(self.side, packet.kind())) {
            self.link.counters.packets_lost += 1;
            self.lose(now, packet, DropReason::Lost);
        } else {
            self.link.arrive(now, packet);
            self.clear(now);
        }
    }

    /// Passes on what the link has sent or dropped.
    fn clear(&mut self, now: Time) {
        while let Some((packet, reason)) = self.link.dropped.pop() {
            self.lose(now, packet, reason);
        }
        self.link.doubled.clear();
        let mut departed = core::mem::take(&mut self.link.departed);
        for (packet, departure) in departed.drain(..) {
            let Some(path) = &self.paths[packet.flow().0 as usize] else { continue };
            if packet.got_marked() && packet.flow().0 as usize >= CONNECTIONS {
                path.counts.marked.add(u64::from(packet.kind() == Kind::Data));
            }
            let at = departure + path.delay(packet.kind());
            self.put(at, Stop::Host, packet);
        }
        self.link.departed = departed;
    }

    fn lose(&mut self, now: Time, packet: RealPacket, reason: DropReason) {
        if let Some(watch) = &self.watch {
            watch.drops(now, &packet, reason);
        }
        if let (Kind::Data, Some(path)) = (packet.kind(), &self.paths[packet.flow().0 as usize]) {
            path.counts.packets_lost.add(1);
        }
        self.spare.push(packet.into_bytes());
    }

    /// Hands a packet to its host's kernel.
    fn hand_over(&mut self, at: Time, mut packet: RealPacket) {
        packet.write_explicit();
        let now = self.clock.now();
        if let Some(watch) = &self.watch {
            watch.leaves(now, &packet);
        }
        let late = now.since(at);
        self.lateness.record(late);
        self.latest = self.latest.max(late);
        if tun::write(self.to, packet.as_bytes()).is_err() {
            self.refused += 1;
        } else if let Some(path) = &self.paths[packet.flow().0 as usize] {
            if packet.kind() == Kind::Data {
                path.counts.packets_received.add(1);
                path.counts.received_bytes.add(u64::from(packet.bytes()));
                if carries_datagrams(packet.flow()) {
                    path.counts.delivered_bytes.add(packet.payload_bytes() as u64); // nobody acknowledges what it read
                }
            }
            if path.explicit {
                path.counts.explicit.see_received(&packet);
            }
        }
        self.spare.push(packet.into_bytes());
    }

    fn sample(&mut self, now: Time) {
        self.series.push(&LinkSample::of(&mut self.link, now));
        self.samples += 1;
        self.next_sample = Time::from_secs_f64(self.samples as f64 * self.times.period_s);
        if self.next_sample > self.times.end {
            self.next_sample = Time::NEVER;
        }
    }

    /// The measured span begins or ends.
    fn mark(&mut self, now: Time) {
        if self.before.is_none() {
            self.before = Some(self.link.settle(now).1);
            self.link.restart(now);
            self.next_mark = self.times.measured.1;
        } else {
            self.next_mark = Time::NEVER;
            self.summary = Some(self.summarize(now));
        }
    }

    fn summarize(&mut self, now: Time) -> LinkSummary {
        let before = self.before.unwrap_or_default();
        let (occupancy, after) = self.link.settle(now);
        link_summary(&self.link, (self.times.measured.0, before), (now, after, occupancy))
    }
}
