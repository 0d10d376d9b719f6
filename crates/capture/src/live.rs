//! Writes real packets that routers see, without making the routers late: they put copies of headers into a ring, and a
//! thread of its own writes them. What does not fit into the ring is counted.
//!
//! The file is as that of a simulated run ([`crate::Recorder`]): data are recorded when they come to a link, with the
//! headers that they leave it with, and what receivers send when it reaches the sender.

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

/// The most copies in the ring: a second of 10 Gbit/s both ways.
const RING: usize = 1 << 20;
/// How often the writer looks into the ring. It never waits for a copy, so that a router need not wake it.
const LOOK: Duration = Duration::from_millis(5);
/// The routers' copies are this far out of order at most.
const DISORDER: Interval = Interval::from_millis(100);
/// Data whose fate is not known after this long are written as they came.
const PATIENCE: Interval = Interval::from_millis(5000);
/// ECN's bits, in the second byte of IP.
const ECN: (usize, u8) = (1, 0b11);

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

    /// A packet that has crossed the link is handed to its host.
    pub fn leaves(&self, at: Time, packet: &RealPacket) {
        let what = if packet.kind().is_forward() { What::Left } else { What::Arrived };
        self.put(at, what, packet);
    }

    /// A packet that came to the link goes no further.
    pub fn drops(&self, at: Time, packet: &RealPacket, reason: DropReason) {
        self.put(at, What::Dropped(reason), packet);
    }

    fn put(&self, at: Time, what: What, packet: &RealPacket) {
        let Some(link) = self.link else { return };
        let whole = packet.as_bytes();
        let copied = Copied {
            at,
            link,
            what,
            forward: packet.kind().is_forward(),
            bytes: whole.get(..self.snap_bytes).unwrap_or(whole).to_vec(),
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
        let (sender, ring) = sync_channel(RING);
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

    /// Writes in a thread of its own until the routers have dropped their ends of the ring. The run begins at `began`
    /// since 1970-01-01.
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
        let marked = ecn(&copied) == ECN.1 && ecn(&held.copied) != ECN.1;
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

fn ecn(copied: &Copied) -> u8 {
    copied.bytes.get(ECN.0).map_or(0, |byte| byte & ECN.1)
}

/// What a packet keeps on its way: link, identification, addresses, ports and numbers.
fn key(copied: &Copied) -> Vec<u8> {
    let bytes = &copied.bytes;
    let header = 4 * usize::from(bytes.first().map_or(0, |first| first & 0x0f));
    let kept = [4..6, 12..20, header..header + 12];
    let parts = kept.into_iter().flat_map(|range| bytes.get(range).unwrap_or_default());
    copied.link.to_be_bytes().iter().chain(parts).copied().collect()
}
