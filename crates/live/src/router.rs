//! The router: reads what the hosts of one side send off their TUN device, lets it cross the link of the plan, and writes it
//! to the other side when it is due. It drives the very link of the simulator, by the wall clock. Each direction has a router
//! of its own, on a thread of its own: a packet costs the more the kernel's work of receiving it.
//!
//! What a link does, it does at the time when it was to: the rest of the router may be late, the rate is not. How late
//! packets are handed to hosts is measured, and how long they lay before they were read.

use crate::path::{PLACES, Path, carries_datagrams, conversation, is_arrangement};
use crate::sys::{self, Clock};
use longfat_net::Sojourn;
use longfat_sim::{Link, LinkCounters, LinkSample, LinkSummary, Series, link_summary};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Kind, Packet, RealPacket};
use std::cmp::{Ordering as Order, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// Packets read before what is due has its turn.
const BATCH: usize = 32;
/// The router looks at least this often whether it is still wanted.
const LONGEST_WAIT: Interval = Interval::from_millis(50);

/// After the end, a host that has sent nothing for so long has sent all that it will.
const LAST_WAIT: Interval = Interval::from_millis(20);

/// A connection that is about to be opened.
pub type News = (FlowId, Path);

/// When links are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Period of samples, seconds.
    pub period_s: f64,
    /// The span that the summary covers.
    pub measured: (Time, Time),
    /// The run's end.
    pub end: Time,
    /// What comes within so long is handled together: waking costs more than a packet does.
    pub rest: Interval,
}

/// What the router has to say after a run.
pub struct Report {
    /// Summary of the measured span.
    pub summary: LinkSummary,
    /// The link's name, and its samples.
    pub series: (String, Series<LinkSample>),
    /// Packets that left the link.
    pub packets: u64,
    /// How much later than due packets were handed to hosts.
    pub lateness: Sojourn,
    /// The greatest of it.
    pub latest: Interval,
    /// How long packets of the measured span were on their way from a host's TCP to being read (`Stamps`).
    pub unread: Sojourn,
    /// Packets that a host's kernel did not take.
    pub refused: u64,
    /// Packets that belonged to no connection.
    pub strangers: u64,
    /// The largest packet read, bytes.
    pub largest_bytes: u32,
    /// Processor time of its thread.
    pub cpu: Interval,
    /// Whether the kernel let its thread come before others.
    pub hurried: bool,
}

enum Place {
    /// Comes to the link.
    Link,
    /// Handed to the hosts of the other side.
    Host,
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

/// The router of what one side sends.
pub struct Router<'a> {
    clock: Clock,
    side: usize,
    from: BorrowedFd<'a>,
    to: BorrowedFd<'a>,
    link: Link<RealPacket>,
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
    hurried: bool,
}

impl<'a> Router<'a> {
    /// The router of a side's link, between the TUN devices of that side and the other; connections are announced through
    /// `news` before their first packet.
    pub fn new(
        clock: Clock,
        side: usize,
        tuns: [BorrowedFd<'a>; 2],
        link: Link<RealPacket>,
        news: Receiver<News>,
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
            paths: (0..PLACES).map(|_| None).collect(),
            news,
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
            hurried: false,
        }
    }

    /// Runs to the end, or until it is no longer wanted.
    pub fn run(&mut self, wanted: &AtomicBool) -> io::Result<()> {
        self.hurried = sys::hurry();
        while wanted.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if now >= self.times.end {
                break;
            }
            self.act_until(now);
            let read = self.read()?;
            if read < BATCH {
                sys::wait(&mut [], Some(self.times.rest))?;
            }
            let left = self.next().since(self.clock.now()).min(LONGEST_WAIT);
            if read == 0 && left > Interval::ZERO {
                sys::wait(&mut [sys::readable(self.from)], Some(left))?;
            }
        }
        self.act_until(self.times.end);
        self.cpu = sys::thread_cpu();
        Ok(())
    }

    /// What it has to say, when no router runs any more. What hosts have sent up to now is counted, but goes nowhere.
    pub fn report(mut self) -> io::Result<Report> {
        loop {
            // what is paced may still be on its way to the device
            sys::wait(&mut [sys::readable(self.from)], Some(LAST_WAIT))?;
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
            refused: self.refused,
            strangers: self.strangers,
            largest_bytes: self.largest_bytes,
            cpu: self.cpu,
            hurried: self.hurried,
        })
    }

    /// When something is due next.
    fn next(&self) -> Time {
        let packets = self.agenda.peek().map_or(Time::NEVER, |Reverse(due)| due.at);
        packets.min(self.link.wake()).min(self.next_sample).min(self.next_mark)
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
            } else if self.link.wake() <= at {
                self.link.on_timer(at);
                self.clear();
            } else if let Some(Reverse(due)) = self.agenda.pop() {
                match due.place {
                    Place::Link => self.enter(at, due.packet),
                    Place::Host => self.hand_over(at, due.packet),
                }
            }
        }
    }

    fn put(&mut self, at: Time, place: Place, packet: RealPacket) {
        self.entries += 1;
        self.agenda.push(Reverse(Due { at, number: self.entries, place, packet }));
    }

    /// Reads what the hosts have sent; how many packets.
    fn read(&mut self) -> io::Result<usize> {
        for n in 0..BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.resize(self.packet_bytes, 0);
            match sys::read(self.from, &mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    self.take(buffer);
                }
                Err(error) if sys::would_block(&error) => {
                    self.spare.push(buffer);
                    return Ok(n);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(BATCH)
    }

    /// A packet of a host.
    fn take(&mut self, bytes: Vec<u8>) {
        let (mut packet, ports) = match RealPacket::parse(bytes) {
            Ok(parsed) => parsed,
            Err(bytes) => return self.spare.push(bytes), // nothing that connections send
        };
        if is_arrangement(ports) {
            // goes past the link, as over a network of its own: the path is there for the data
            self.refused += u64::from(sys::write(self.to, packet.as_bytes()).is_err());
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
        if let Some(stamp) = packet.stamp() {
            let way = path.stamps.waited(now, stamp);
            if (self.times.measured.0..self.times.measured.1).contains(&now) {
                self.unread.record(way);
            }
        }
        self.largest_bytes = self.largest_bytes.max(packet.bytes());
        let at = path.leave_host(now, packet.kind(), packet.bytes());
        self.put(at, Place::Link, packet);
    }

    fn learn(&mut self) {
        while let Ok((flow, path)) = self.news.try_recv() {
            self.paths[flow.0 as usize] = Some(Box::new(path));
        }
    }

    /// A packet comes to the link.
    fn enter(&mut self, now: Time, packet: RealPacket) {
        let path = self.paths[packet.flow().0 as usize].as_mut();
        if path.is_some_and(|path| path.losses.strike(self.side, packet.kind())) {
            self.link.counters.packets_lost += 1;
            self.lose(packet);
        } else {
            self.link.arrive(now, packet);
            self.clear();
        }
    }

    /// What the link has sent or dropped goes on.
    fn clear(&mut self) {
        while let Some(packet) = self.link.dropped.pop() {
            self.lose(packet);
        }
        while let Some((packet, departure)) = self.link.departed.pop() {
            let Some(path) = &self.paths[packet.flow().0 as usize] else { continue };
            let at = departure + path.delay(packet.kind());
            self.put(at, Place::Host, packet);
        }
    }

    fn lose(&mut self, packet: RealPacket) {
        if let (Kind::Data, Some(path)) = (packet.kind(), &self.paths[packet.flow().0 as usize]) {
            path.counts.packets_lost.add(1);
        }
        self.spare.push(packet.into_bytes());
    }

    /// A packet is handed to its host's kernel.
    fn hand_over(&mut self, at: Time, packet: RealPacket) {
        let late = self.clock.now().since(at);
        self.lateness.record(late);
        self.latest = self.latest.max(late);
        if sys::write(self.to, packet.as_bytes()).is_err() {
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
