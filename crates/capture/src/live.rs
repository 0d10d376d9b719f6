//! Writes real packets that routers see, without making the routers late: they put copies of headers into a
//! ring, and a thread of its own writes them. What does not fit into the ring is counted.
//!
//! The file is as that of a simulated run ([`crate::Recorder`]): data are recorded when they come to a link,
//! with the headers that they leave it with, and what receivers send when it reaches the sender.

use crate::file::{CaptureFile, Interface, Written};
use crate::recorder::{Recording, dropped};
use longfat_net::DropReason;
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, RealPacket};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The most copies in the ring: half a second of 1 Gbit/s, where a packet and its acknowledgement make three
/// (chosen here).
const RING: usize = 1 << 17;
/// How often the writer looks into the ring. It never waits for a copy, so that a router need not wake it.
const LOOK: Duration = Duration::from_millis(5);
/// The routers' copies are this far out of order at most.
const DISORDER: Interval = Interval::from_millis(100);
/// Data whose fate is not known after this long are written as they came.
const PATIENCE: Interval = Interval::from_millis(5000);
/// ECN's bits for "marked".
const MARKED: u8 = 0b11;

/// What a router tells.
enum What {
    Came,
    Left,
    Arrived,
    Dropped(DropReason),
}

struct Copied {
    at: Time,
    link: u32,
    what: What,
    forward: bool,
    bytes: Vec<u8>,
    original: u32,
}

/// A router's end of the ring.
pub struct Watch {
    ring: SyncSender<Copied>,
    link: Option<u32>,
    snap_bytes: usize,
    missed: Arc<AtomicU64>,
}

impl Watch {
    /// A packet comes to the link.
    pub fn enters(&self, at: Time, packet: &RealPacket) {
        if packet.kind().is_forward() {
            self.put(at, What::Came, packet);
        }
    }

    /// Data have crossed the link; this is known at `at`.
    pub fn leaves(&self, at: Time, packet: &RealPacket) {
        self.put(at, What::Left, packet);
    }

    /// What a receiver sends is where it goes behind the link: at the next one, or at its host.
    pub fn arrives(&self, at: Time, packet: &RealPacket) {
        self.put(at, What::Arrived, packet);
    }

    /// A packet that came to the link goes no further.
    pub fn drops(&self, at: Time, packet: &RealPacket, reason: DropReason) {
        self.put(at, What::Dropped(reason), packet);
    }

    fn put(&self, at: Time, what: What, packet: &RealPacket) {
        let Some(link) = self.link else { return };
        let copied = Copied {
            at,
            link,
            what,
            forward: packet.kind().is_forward(),
            bytes: packet.first_bytes(self.snap_bytes),
            original: packet.bytes(),
        };
        if self.ring.try_send(copied).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The place of a record in the file.
type Place = (Time, u64);

struct Held {
    copied: Copied,
    /// Its fate is known.
    open: bool,
    comment: Option<&'static str>,
}

/// The writer of a capture of real packets.
pub struct LiveRecorder {
    ring: Receiver<Copied>,
    file: CaptureFile,
    /// The time of the run's beginning since 1970-01-01.
    began: Interval,
    held: BTreeMap<Place, Held>,
    queued: BTreeMap<Vec<u8>, VecDeque<Place>>,
    numbers: u64,
    newest: Time,
    missed: Arc<AtomicU64>,
}

impl LiveRecorder {
    /// Creates the file, and an end of the ring for the router of each link.
    ///
    /// # Errors
    /// Returns why the file cannot be written.
    pub fn create(asked: &Recording<'_>, links: &[Interface]) -> io::Result<(Self, Vec<Watch>)> {
        Self::with_ring(asked, links, RING)
    }

    fn with_ring(
        asked: &Recording<'_>,
        links: &[Interface],
        copies: usize,
    ) -> io::Result<(Self, Vec<Watch>)> {
        let (sender, ring) = sync_channel(copies);
        let missed = Arc::new(AtomicU64::new(0));
        let (recorded, numbers) = asked.recorded(links);
        let snap_bytes = asked.snap();
        let file = CaptureFile::create(asked.path, asked.program, "", snap_bytes, &recorded)?;
        let watches = numbers
            .into_iter()
            .map(|link| Watch {
                ring: sender.clone(),
                link,
                snap_bytes: snap_bytes as usize,
                missed: Arc::clone(&missed),
            })
            .collect();
        let recorder = LiveRecorder {
            ring,
            file,
            began: Interval::ZERO,
            held: BTreeMap::new(),
            queued: BTreeMap::new(),
            numbers: 0,
            newest: Time::ZERO,
            missed,
        };
        Ok((recorder, watches))
    }

    /// Writes in a thread of its own until the routers have dropped their ends of the ring. The run begins at
    /// `began` since 1970-01-01.
    ///
    /// # Errors
    /// Returns why there is no thread.
    pub fn start(mut self, began: Interval) -> io::Result<JoinHandle<Written>> {
        self.began = began;
        thread::Builder::new().name("capture".to_owned()).spawn(move || self.run())
    }

    fn run(mut self) -> Written {
        loop {
            match self.ring.try_recv() {
                Ok(copied) => self.take(copied),
                Err(TryRecvError::Empty) => {
                    self.write();
                    thread::sleep(LOOK);
                }
                Err(TryRecvError::Disconnected) => break,
            }
        }
        self.newest = Time::NEVER;
        self.write();
        let missed = self.missed.load(Ordering::Relaxed);
        let mut written = self.file.finish();
        if missed > 0 {
            written.missing += missed;
            written.failure.get_or_insert_with(|| "the routers were faster than the writer".to_owned());
        }
        written
    }

    fn take(&mut self, copied: Copied) {
        self.newest = self.newest.max(copied.at);
        match (&copied.what, copied.forward) {
            (What::Came, _) => {
                let key = key(&copied);
                let place = self.hold(copied, true, None);
                self.queued.entry(key).or_default().push_back(place);
            }
            (What::Left, _) => self.resolve(copied, None),
            (What::Dropped(reason), true) => {
                let comment = dropped(*reason);
                self.resolve(copied, Some(comment));
            }
            (What::Dropped(reason), false) => {
                let comment = dropped(*reason);
                self.hold(copied, false, Some(comment));
            }
            (What::Arrived, _) => {
                self.hold(copied, false, None);
            }
        }
    }

    fn hold(&mut self, copied: Copied, open: bool, comment: Option<&'static str>) -> Place {
        let place = (copied.at, self.numbers);
        self.numbers += 1;
        self.held.insert(place, Held { copied, open, comment });
        place
    }

    /// The fate of data is known.
    fn resolve(&mut self, copied: Copied, comment: Option<&'static str>) {
        let key = key(&copied);
        let Some(places) = self.queued.get_mut(&key) else { return };
        let place = places.pop_front();
        if places.is_empty() {
            self.queued.remove(&key);
        }
        let Some(held) = place.and_then(|place| self.held.get_mut(&place)) else { return };
        let marked = ecn(&copied) == MARKED && ecn(&held.copied) != MARKED;
        held.open = false;
        held.comment = comment.or(marked.then_some("marked"));
        held.copied.bytes = copied.bytes;
    }

    /// Writes what is old enough that nothing older can come.
    fn write(&mut self) {
        while let Some(first) = self.held.first_entry() {
            let age = self.newest.since(first.key().0);
            if age < if first.get().open { PATIENCE } else { DISORDER } {
                break;
            }
            let Held { copied, open, comment } = first.remove();
            if open {
                self.queued.remove(&key(&copied));
            }
            let at = copied.at + self.began;
            self.file.write(at, copied.link, &copied.bytes, copied.original, comment);
        }
        self.file.flush();
    }
}

fn is_version_6(copied: &Copied) -> bool {
    copied.bytes.first().is_some_and(|first| first >> 4 == 6)
}

/// ECN's bits: the last ones of the class, which begins in the middle of the first byte of IPv6.
fn ecn(copied: &Copied) -> u8 {
    let class = copied.bytes.get(1).map_or(0, |byte| if is_version_6(copied) { byte >> 4 } else { *byte });
    class & MARKED
}

/// What a packet keeps on its way: link, identification and place of a fragment, addresses, ports and
/// numbers.
fn key(copied: &Copied) -> Vec<u8> {
    let bytes = &copied.bytes;
    let first = usize::from(bytes.first().copied().unwrap_or_default());
    let kept = if is_version_6(copied) {
        [4..7, 8..40, 40..52]
    } else {
        let header = 4 * (first & 0x0f);
        [4..8, 12..20, header..header + 12]
    };
    let parts = kept.into_iter().flat_map(|range| bytes.get(range).unwrap_or_default());
    copied.link.to_be_bytes().iter().chain(parts).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments;
    use longfat_wire::{Ecn, FlowId};
    use std::fs::File;
    use std::path::PathBuf;

    /// A TCP packet of a flow's sender, or of its receiver, with this number.
    fn packet(seq: u32, from_sender: bool) -> RealPacket {
        let mut ip = vec![0x45, 2, 0, 60, 0, seq as u8, 0x40, 0, 64, 6, 0, 0];
        ip.extend([10, 0, 0, if from_sender { 1 } else { 2 }, 10, 0, 0, if from_sender { 2 } else { 1 }]);
        let ports: [u16; 2] = if from_sender { [40_000, 5001] } else { [5001, 40_000] };
        ip.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
        ip.extend(seq.to_be_bytes());
        ip.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        ip.resize(60, 0);
        let (mut packet, _) = RealPacket::parse(ip).expect("a packet");
        packet.assign(FlowId(0), from_sender);
        packet
    }

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("longfat-live-{name}-{}.pcapng", std::process::id()))
    }

    fn recorder(path: &std::path::Path, copies: usize) -> (LiveRecorder, Watch) {
        let asked = Recording { path, snap_bytes: 96, links: &[], program: "Longfat" };
        let links = [Interface { name: "bottleneck".into(), description: String::new(), bps: None }];
        let (recorder, mut watches) = LiveRecorder::with_ring(&asked, &links, copies).expect("a file");
        (recorder, watches.remove(0))
    }

    fn ms(ms: u64) -> Time {
        Time::from_ns(1_000_000 * ms)
    }

    #[test]
    fn data_are_recorded_as_they_come_and_acknowledgements_as_they_arrive_in_order_of_time() {
        let path = file("order");
        let (recorder, watch) = recorder(&path, 100);
        let (data, ack) = (packet(7, true), packet(9, false));
        watch.enters(ms(1), &data);
        watch.enters(ms(2), &packet(8, true));
        watch.drops(ms(2), &packet(8, true), DropReason::Full);
        watch.enters(ms(3), &ack);
        watch.arrives(ms(4), &ack);
        let mut marked = data;
        marked.set_ecn(Ecn::Marked);
        watch.leaves(ms(5), &marked);
        drop(watch);
        let written =
            recorder.start(Interval::from_millis(1000)).expect("a thread").join().expect("a writer");
        assert_eq!((written.packets, written.missing, written.failure), (3, 0, None));
        let mut found = Vec::new();
        segments(File::open(&path).expect("open"), &mut |segment| {
            found.push((segment.at_ns / 1_000_000, segment.seq, segment.dropped));
        })
        .expect("read");
        assert_eq!(found, [(1001, 7, false), (1002, 8, true), (1004, 9, false)]);
        std::fs::remove_file(&path).expect("removed");
    }

    /// A datagram over IPv6 with this payload.
    fn datagram(payload: u8) -> RealPacket {
        let mut ip = vec![0x60, 0x20, 0, 0, 0, 12, 17, 64]; // ECT(0)
        ip.extend([[0xfd; 16], [0xfe; 16]].concat());
        ip.extend([0xc0, 0, 0x01, 0xbb, 0, 12, payload, 0, payload, 0, 0, 0]);
        let (mut packet, _) = RealPacket::parse(ip).expect("a packet");
        packet.assign_by_headers(FlowId(0));
        packet
    }

    #[test]
    fn marks_and_drops_of_ipv6_are_those_of_the_packets_that_had_them() {
        let path = file("six");
        let (mut recorder, watch) = recorder(&path, 100);
        (1..4).for_each(|n| watch.enters(ms(n.into()), &datagram(n)));
        let mut marked = datagram(2);
        marked.set_ecn(Ecn::Marked);
        watch.leaves(ms(4), &marked);
        watch.leaves(ms(5), &datagram(3));
        watch.drops(ms(6), &datagram(1), DropReason::Full);
        while let Ok(copied) = recorder.ring.try_recv() {
            recorder.take(copied);
        }
        let held: Vec<_> = recorder.held.values().map(|held| (held.open, held.comment)).collect();
        assert_eq!(held, [(false, Some(dropped(DropReason::Full))), (false, Some("marked")), (false, None)]);
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn copies_that_do_not_fit_into_the_ring_are_counted_and_said() {
        let path = file("full");
        let (recorder, watch) = recorder(&path, 2);
        (0..5).for_each(|seq| watch.arrives(ms(u64::from(seq)), &packet(seq, false)));
        drop(watch);
        let written = recorder.start(Interval::ZERO).expect("a thread").join().expect("a writer");
        assert_eq!((written.packets, written.missing), (2, 3));
        assert_eq!(written.failure.as_deref(), Some("the routers were faster than the writer"));
        std::fs::remove_file(&path).expect("removed");
    }
}
