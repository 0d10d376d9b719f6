//! The router: reads what hosts send off their TUN devices, lets it cross the links of the plan, and writes it to the other
//! side when it is due. It drives the very links of the simulator, by the wall clock.
//!
//! What a link does, it does at the time when it was to: the rest of the router may be late, the rate is not. How late
//! packets are handed to hosts is measured.

use crate::path::{LISTEN_PORT, PLACES, Path, carries_datagrams, opener, place};
use crate::sys::{self, Clock};
use longfat_net::Sojourn;
use longfat_sim::{LINK_COLUMNS, Link, LinkCounters, LinkFigures, Series, link_figures, link_sample};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Kind, Packet, Ports, RealPacket};
use std::cmp::{Ordering as Order, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// Packets read off one device before the other one, and what is due, has its turn.
const BATCH: usize = 32;
/// The router looks at least this often whether it is still wanted.
const LONGEST_WAIT: Interval = Interval::from_millis(50);

/// A connection that is about to be opened.
pub type News = (FlowId, Path);

/// When links are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Period of samples, seconds.
    pub period_s: f64,
    /// The window of figures.
    pub window: (Time, Time),
    /// The run's end.
    pub end: Time,
}

/// What the router has to say after a run.
pub struct Report {
    /// Figures of the window.
    pub links: Vec<LinkFigures>,
    /// Samples of each link, by name.
    pub series: Vec<(String, Series)>,
    /// Packets that left the first link.
    pub packets: u64,
    /// How much later than due packets were handed to hosts.
    pub lateness: Sojourn,
    /// The greatest of it.
    pub latest: Interval,
    /// Packets that a host's kernel did not take.
    pub refused: u64,
    /// Packets that belonged to no connection.
    pub strangers: u64,
    /// The largest packet read, bytes.
    pub largest_bytes: u32,
    /// Most packets of one batch, for each side: what waited in its device at once, at least.
    pub most_read: [usize; 2],
    /// Processor time of its thread.
    pub cpu: Interval,
    /// Whether the kernel let its thread come before others.
    pub hurried: bool,
}

enum Place {
    /// Comes to the link of this side.
    Link(usize),
    /// Handed to the hosts of this side.
    Host(usize),
}

/// A packet that is somewhere at a time.
struct Due {
    at: Time,
    number: u64,
    place: Place,
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

/// The router of a run: link i carries what side i sends.
pub struct Router<'a> {
    clock: Clock,
    tuns: [BorrowedFd<'a>; 2],
    links: Vec<Link<RealPacket>>,
    paths: Vec<Option<Box<Path>>>,
    news: Receiver<News>,
    agenda: BinaryHeap<Reverse<Due>>,
    entries: u64,
    spare: Vec<Vec<u8>>,
    packet_bytes: usize,
    times: Times,
    samples: u64,
    next_sample: Time,
    next_mark: Time,
    before: Option<Vec<LinkCounters>>,
    figures: Option<Vec<LinkFigures>>,
    series: Vec<Series>,
    lateness: Sojourn,
    latest: Interval,
    refused: u64,
    strangers: u64,
    largest_bytes: u32,
    most_read: [usize; 2],
}

impl<'a> Router<'a> {
    /// A router between two TUN devices; connections are announced through `news` before their first packet.
    pub fn new(
        clock: Clock,
        tuns: [BorrowedFd<'a>; 2],
        links: Vec<Link<RealPacket>>,
        news: Receiver<News>,
        packet_bytes: usize,
        times: Times,
    ) -> Self {
        Router {
            clock,
            tuns,
            series: vec![Series::new(LINK_COLUMNS); links.len()],
            links,
            paths: (0..PLACES).map(|_| None).collect(),
            news,
            agenda: BinaryHeap::new(),
            entries: 0,
            spare: Vec::new(),
            packet_bytes,
            times,
            samples: 0,
            next_sample: Time::ZERO,
            next_mark: times.window.0,
            before: None,
            figures: None,
            lateness: Sojourn::default(),
            latest: Interval::ZERO,
            refused: 0,
            strangers: 0,
            largest_bytes: 0,
            most_read: [0; 2],
        }
    }

    /// Runs to the end, or until it is no longer wanted.
    pub fn run(mut self, wanted: &AtomicBool) -> io::Result<Report> {
        let hurried = sys::hurry();
        while wanted.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if now >= self.times.end {
                break;
            }
            self.act_until(now);
            let read = self.read(0)? + self.read(1)?;
            if read == 0 {
                let left = self.next().since(self.clock.now()).min(LONGEST_WAIT);
                if left > Interval::ZERO {
                    let mut devices = self.tuns.map(sys::readable);
                    sys::wait(&mut devices, Some(left))?;
                }
            }
        }
        self.act_until(self.times.end);
        // what hosts have sent up to now is counted, but goes nowhere
        while self.read(0)? + self.read(1)? > 0 {}
        Ok(self.report(hurried))
    }

    fn report(mut self, hurried: bool) -> Report {
        let end = self.times.end;
        let packets = self.links.first_mut().map_or(0, |link| link.settle(end).1.packets_out);
        let links = match self.figures.take() {
            Some(figures) => figures,
            None => self.take_figures(end),
        };
        Report {
            links,
            series: self.links.iter().map(|link| link.name.clone()).zip(self.series).collect(),
            packets,
            lateness: self.lateness,
            latest: self.latest,
            refused: self.refused,
            strangers: self.strangers,
            largest_bytes: self.largest_bytes,
            most_read: self.most_read,
            cpu: sys::thread_cpu(),
            hurried,
        }
    }

    /// When something is due next.
    fn next(&self) -> Time {
        let packets = self.agenda.peek().map_or(Time::NEVER, |Reverse(due)| due.at);
        let links = self.links.iter().fold(Time::NEVER, |at, link| at.min(link.wake()));
        packets.min(links).min(self.next_sample).min(self.next_mark)
    }

    /// Everything that was due up to `now`, in the order in which it was.
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
            } else if let Some(i) = self.links.iter().position(|link| link.wake() <= at) {
                self.links[i].on_timer(at);
                self.clear(i);
            } else if let Some(Reverse(due)) = self.agenda.pop() {
                match due.place {
                    Place::Link(i) => self.enter(at, i, due.packet),
                    Place::Host(side) => self.hand_over(at, side, due.packet),
                }
            }
        }
    }

    fn put(&mut self, at: Time, place: Place, packet: RealPacket) {
        self.entries += 1;
        self.agenda.push(Reverse(Due { at, number: self.entries, place, packet }));
    }

    /// Reads what a side's hosts have sent; how many packets.
    fn read(&mut self, side: usize) -> io::Result<usize> {
        for n in 0..BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.resize(self.packet_bytes, 0);
            match sys::read(self.tuns[side], &mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    self.take(side, buffer);
                }
                Err(error) if sys::would_block(&error) => {
                    self.spare.push(buffer);
                    self.most_read[side] = self.most_read[side].max(n);
                    return Ok(n);
                }
                Err(error) => return Err(error),
            }
        }
        self.most_read[side] = BATCH;
        Ok(BATCH)
    }

    /// A packet of a side's host.
    fn take(&mut self, side: usize, bytes: Vec<u8>) {
        let (mut packet, ports) = match RealPacket::parse(bytes) {
            Ok(parsed) => parsed,
            Err(bytes) => return self.spare.push(bytes), // nothing that connections send
        };
        let now = self.clock.now();
        let (flow, from_opener) = conversation(side, ports);
        packet.assign(flow, from_opener);
        if packet.kind() == Kind::Syn || self.paths[flow.0 as usize].is_none() {
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
        self.largest_bytes = self.largest_bytes.max(packet.bytes());
        let at = path.leave_host(now, packet.kind(), packet.bytes());
        self.put(at, Place::Link(side), packet);
    }

    fn learn(&mut self) {
        while let Ok((flow, path)) = self.news.try_recv() {
            self.paths[flow.0 as usize] = Some(Box::new(path));
        }
    }

    /// A packet comes to a link.
    fn enter(&mut self, now: Time, i: usize, packet: RealPacket) {
        let lost = self.paths[packet.flow().0 as usize]
            .as_mut()
            .is_some_and(|path| path.is_lost(i, packet.kind()));
        if lost {
            self.links[i].counters.packets_lost += 1;
            self.lose(packet);
        } else {
            self.links[i].arrive(now, packet);
            self.clear(i);
        }
    }

    /// What a link has sent or dropped goes on.
    fn clear(&mut self, i: usize) {
        while let Some(packet) = self.links[i].dropped.pop() {
            self.lose(packet);
        }
        for (packet, departure) in std::mem::take(&mut self.links[i].departed) {
            let Some(path) = &self.paths[packet.flow().0 as usize] else { continue };
            let at = departure + path.delay(packet.kind());
            let side = if packet.kind().is_forward() { 1 - opener(packet.flow()) } else { opener(packet.flow()) };
            self.put(at, Place::Host(side), packet);
        }
    }

    fn lose(&mut self, packet: RealPacket) {
        if let (Kind::Data, Some(path)) = (packet.kind(), &self.paths[packet.flow().0 as usize]) {
            path.counts.packets_lost.add(1);
        }
        self.spare.push(packet.into_bytes());
    }

    /// A packet is handed to its host's kernel.
    fn hand_over(&mut self, at: Time, side: usize, packet: RealPacket) {
        let late = self.clock.now().since(at);
        self.lateness.record(late);
        self.latest = self.latest.max(late);
        if sys::write(self.tuns[side], packet.as_bytes()).is_err() {
            self.refused += 1;
        } else if let (Kind::Data, Some(path)) = (packet.kind(), &self.paths[packet.flow().0 as usize]) {
            path.counts.packets_received.add(1);
            path.counts.received_bytes.add(u64::from(packet.bytes()));
            if carries_datagrams(packet.flow()) {
                path.counts.delivered_bytes.add(packet.payload_bytes() as u64); // nobody acknowledges what was read
            }
        }
        self.spare.push(packet.into_bytes());
    }

    fn sample(&mut self, now: Time) {
        for (link, series) in self.links.iter_mut().zip(&mut self.series) {
            series.push(&link_sample(link, now));
        }
        self.samples += 1;
        self.next_sample = Time::from_secs_f64(self.samples as f64 * self.times.period_s);
        if self.next_sample > self.times.end {
            self.next_sample = Time::NEVER;
        }
    }

    /// The window of figures begins or ends.
    fn mark(&mut self, now: Time) {
        if self.before.is_none() {
            self.before = Some(self.links.iter_mut().map(|link| link.settle(now).1).collect());
            self.links.iter_mut().for_each(|link| link.restart(now));
            self.next_mark = self.times.window.1;
        } else {
            self.next_mark = Time::NEVER;
            self.figures = Some(self.take_figures(now));
        }
    }

    fn take_figures(&mut self, now: Time) -> Vec<LinkFigures> {
        let before = self.before.clone().unwrap_or_else(|| vec![LinkCounters::default(); self.links.len()]);
        let from = self.times.window.0;
        (self.links.iter_mut().zip(before))
            .map(|(link, before)| {
                let (occupancy, after) = link.settle(now);
                link_figures(link, (from, before), (now, after, occupancy))
            })
            .collect()
    }
}

/// The connection that a packet of this side belongs to, and whether the opener sent it.
fn conversation(side: usize, ports: Ports) -> (FlowId, bool) {
    if ports.source == LISTEN_PORT {
        (place(ports.carrier, 1 - side, ports.destination), false)
    } else {
        (place(ports.carrier, side, ports.source), true)
    }
}
