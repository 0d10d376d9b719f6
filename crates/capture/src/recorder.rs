//! A tap on a simulated run that writes a capture.
//!
//! Each link is an interface, and each packet is recorded once for each link that it comes to, at the link's
//! end towards the sender of its flow: data when they come to the link, before its queue, and what the
//! receiver sends when it has crossed the link, at the last one when it reaches the sender. That is what
//! tcpdump sees at the sender's side of the link, so sequence numbers are in the order in which they were
//! sent and round-trip times are whole.
//!
//! A record of data has the headers with which the packet leaves the link, so a mark can be seen. It is
//! therefore held back until the packet has left its queue, and with it all later ones: the file is in order
//! of time. What is held is no more than what the queues hold and what happens meanwhile.

use crate::file::{CaptureFile, Interface, Written};
use crate::headers::Conversation;
use longfat_net::DropReason;
use longfat_sim::{CheckedConnection, Tap};
use longfat_units::Time;
use longfat_wire::{Ecn, Explicit, FlowId, Kind, Packet, SimPacket};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

/// How the comment of a packet begins that a queue has dropped.
pub(crate) const DROPPED: &str = "dropped";
/// The same of one that a loss process or an outage took.
pub(crate) const LOST: &str = "lost";
/// The most flows that the file's comment names.
const MOST_NAMED: usize = 100;

/// A packet as a flow sent it: nothing on the way changes this. Copies have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sent {
    flow: FlowId,
    kind: u8,
    seq: u64,
    stamp: Time,
    delay_ns: u32,
}

impl Sent {
    const fn of(packet: &SimPacket) -> Self {
        Sent {
            flow: packet.flow,
            kind: packet.kind as u8,
            seq: packet.seq,
            stamp: packet.stamp,
            delay_ns: packet.one_way_delay_ns,
        }
    }
}

/// The place of a record in the file: its time, and its number among those of that time.
type Place = (Time, u64);

/// What becomes of a packet at a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It is still in the queue.
    Open,
    Crossed,
    /// It was marked there.
    Marked,
    /// It has lost its ECN field there.
    Bleached,
    Dropped(DropReason),
    /// The connection with this index begins here.
    Opens,
}

/// A record that is not in the file yet.
struct Held {
    link: usize,
    packet: SimPacket,
    /// When its own sender sent it.
    left: Time,
    /// It arrives at the sender of its flow.
    arrives: bool,
    fate: Fate,
}

/// Writes a capture of a simulated run.
pub struct Recorder {
    file: CaptureFile,
    /// The interface of each link; `None` where nothing is recorded.
    interfaces: Vec<Option<u32>>,
    snap_bytes: usize,
    conversations: Vec<Option<Conversation>>,
    /// Connections that begin, for when their first record is written.
    opening: BTreeMap<Place, Conversation>,
    opened: u32,
    held: BTreeMap<Place, Held>,
    numbers: u64,
    /// Data in a link's queue, by link.
    queued: BTreeMap<(usize, Sent), VecDeque<Place>>,
    /// When packets of receivers were sent that are on their way.
    sent_at: BTreeMap<Sent, VecDeque<Time>>,
    end: Time,
    buffer: Vec<u8>,
}

/// What a recorder is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// The file to write.
    pub path: &'a Path,
    /// The most bytes of a packet to keep; 0 for all.
    pub snap_bytes: u32,
    /// The links to record, by name; all if empty.
    pub links: &'a [String],
    /// The program, as the file names it.
    pub program: &'a str,
}

impl Recording<'_> {
    /// The most bytes of a packet to keep.
    pub(crate) fn snap(&self) -> u32 {
        if self.snap_bytes == 0 { u32::from(u16::MAX) } else { self.snap_bytes }
    }

    /// The interfaces of the file, and for each link the number of its own, if it is recorded.
    pub(crate) fn recorded(&self, links: &[Interface]) -> (Vec<Interface>, Vec<Option<u32>>) {
        let mut recorded = Vec::new();
        let numbers = links
            .iter()
            .map(|link| {
                let wanted = self.links.is_empty() || self.links.contains(&link.name);
                wanted.then(|| {
                    recorded.push(link.clone());
                    recorded.len() as u32 - 1
                })
            })
            .collect();
        (recorded, numbers)
    }
}

impl Recorder {
    /// Begins a capture of a run of this plan, which ends at `end`. `links` has the run's links in order, and
    /// `flows` the names of its flows with their connections.
    pub fn create<'a>(
        asked: &Recording<'_>,
        links: &[Interface],
        flows: impl Iterator<Item = (&'a str, &'a CheckedConnection)>,
        end: Time,
    ) -> io::Result<Self> {
        let (recorded, interfaces) = asked.recorded(links);
        let named: Vec<String> = flows
            .zip(0..)
            .take(MOST_NAMED)
            .map(|((name, connection), number)| {
                let [(sender, from), (receiver, to)] = Conversation::new(number, connection).ends();
                format!(
                    "flow {name} ({}): {sender}:{from} to {receiver}:{to}",
                    connection.algorithm.listed_name()
                )
            })
            .collect();
        let snap_bytes = asked.snap();
        let file = CaptureFile::create(asked.path, asked.program, &named.join("\n"), snap_bytes, &recorded)?;
        Ok(Recorder {
            file,
            interfaces,
            snap_bytes: snap_bytes as usize,
            conversations: Vec::new(),
            opening: BTreeMap::new(),
            opened: 0,
            held: BTreeMap::new(),
            numbers: 0,
            queued: BTreeMap::new(),
            sent_at: BTreeMap::new(),
            end,
            buffer: Vec::new(),
        })
    }

    /// Ends the capture: writes what happened before the run's end.
    pub fn finish(mut self) -> Written {
        for held in self.held.values_mut() {
            if held.fate == Fate::Open {
                held.fate = Fate::Crossed;
            }
        }
        self.write_until(self.end);
        self.file.finish()
    }

    fn hold(&mut self, at: Time, held: Held) -> Place {
        let place = (at, self.numbers);
        self.numbers += 1;
        self.held.insert(place, held);
        place
    }

    fn write_until(&mut self, now: Time) {
        while let Some(first) = self.held.first_entry() {
            if first.key().0 > now || first.get().fate == Fate::Open {
                return;
            }
            let (place, held) = first.remove_entry();
            self.write(place, &held);
        }
    }

    fn write(&mut self, place: Place, held: &Held) {
        let packet = &held.packet;
        let index = packet.flow.0 as usize;
        if let Some(conversation) = self.opening.remove(&place) {
            if self.conversations.len() <= index {
                self.conversations.resize_with(index + 1, || None);
            }
            self.conversations[index] = Some(conversation);
            return;
        }
        let Some(Some(conversation)) = self.conversations.get_mut(index) else { return };
        if let Some(interface) = self.interfaces[held.link] {
            let text = comment(held);
            let headers = conversation.write(packet, held.left, self.snap_bytes, &mut self.buffer);
            self.file.write(place.0, interface, headers.bytes, headers.original, text.as_deref());
        }
        if held.arrives && held.fate == Fate::Crossed {
            conversation.hear(place.0, held.left);
        }
    }

    /// The record of data that a link has released, or dropped. A copy has none.
    fn resolve(&mut self, link: usize, packet: &SimPacket, dropped: Option<DropReason>) {
        let key = (link, Sent::of(packet));
        let Some(places) = self.queued.get_mut(&key) else { return };
        let place = places.pop_front();
        if places.is_empty() {
            self.queued.remove(&key);
        }
        let Some(held) = place.and_then(|place| self.held.get_mut(&place)) else { return };
        held.fate = match dropped {
            Some(reason) => Fate::Dropped(reason),
            None if held.packet.ecn == packet.ecn => Fate::Crossed,
            None if packet.ecn == Ecn::Marked => Fate::Marked,
            None => Fate::Bleached,
        };
        held.packet.clone_from(packet);
    }

    /// When a receiver sent this packet, which is at a link at `now`.
    fn left(&mut self, now: Time, packet: &SimPacket) -> Time {
        let known = self.sent_at.get(&Sent::of(packet)).and_then(|times| times.front());
        known.copied().unwrap_or(now)
    }

    /// This packet of a receiver is under way no more.
    fn forget(&mut self, packet: &SimPacket) {
        let sent = Sent::of(packet);
        if let Some(times) = self.sent_at.get_mut(&sent) {
            times.pop_front();
            if times.is_empty() {
                self.sent_at.remove(&sent);
            }
        }
    }
}

impl Tap for Recorder {
    fn opens(&mut self, now: Time, flow: usize, _name: &str, connection: &CheckedConnection) {
        let conversation = Conversation::new(self.opened, connection);
        self.opened += 1;
        let packet = SimPacket { flow: FlowId(flow as u32), ..SimPacket::default() };
        let held = Held { link: 0, packet, left: now, arrives: false, fate: Fate::Opens };
        let place = self.hold(now, held);
        self.opening.insert(place, conversation);
    }

    fn enters(&mut self, now: Time, link: usize, packet: &SimPacket) {
        if packet.kind == Kind::Control {
            return; // a message of routers, of no flow
        }
        self.write_until(now);
        if packet.kind.is_forward() {
            let held =
                Held { link, packet: packet.clone(), left: packet.stamp, arrives: false, fate: Fate::Open };
            let place = self.hold(now, held);
            self.queued.entry((link, Sent::of(packet))).or_default().push_back(place);
        } else if packet.hop == 0 {
            self.sent_at.entry(Sent::of(packet)).or_default().push_back(now);
        }
    }

    fn leaves(&mut self, now: Time, link: usize, packet: &SimPacket, arrival: Time, last: bool) {
        if packet.kind == Kind::Control {
            return;
        }
        if packet.kind.is_forward() {
            self.resolve(link, packet, None);
        } else {
            let left = self.left(now, packet);
            if last {
                self.forget(packet);
            }
            let fate = Fate::Crossed;
            self.hold(arrival, Held { link, packet: packet.clone(), left, arrives: last, fate });
        }
        self.write_until(now);
    }

    fn drops(&mut self, now: Time, link: usize, packet: &SimPacket, reason: DropReason) {
        if packet.kind == Kind::Control {
            return;
        }
        if packet.kind.is_forward() {
            self.resolve(link, packet, Some(reason));
        } else {
            let left = self.left(now, packet);
            self.forget(packet);
            let fate = Fate::Dropped(reason);
            self.hold(now, Held { link, packet: packet.clone(), left, arrives: false, fate });
        }
        self.write_until(now);
    }
}

/// What the file says about a packet beside its headers.
fn comment(held: &Held) -> Option<String> {
    let fate = match held.fate {
        Fate::Open | Fate::Crossed | Fate::Opens => None,
        Fate::Marked => Some("marked"),
        Fate::Bleached => Some("ECN field cleared"),
        Fate::Dropped(reason) => Some(dropped(reason)),
    };
    let explicit = held.packet.explicit().and_then(described);
    match (fate, explicit) {
        (Some(fate), Some(header)) => Some(format!("{fate}; {header}")),
        (Some(fate), None) => Some(fate.to_owned()),
        (None, header) => header,
    }
}

/// Why a packet went no further.
pub(crate) const fn dropped(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Full => "dropped: queue full",
        DropReason::Early => "dropped: active queue management, by chance",
        DropReason::Forced => "dropped: active queue management, average queue too long",
        DropReason::Match => "dropped: active queue management, a packet drawn is of the same flow",
        DropReason::Delay => "dropped: active queue management, waited too long",
        DropReason::Lost => "lost on the link",
    }
}

/// An explicit header that has no form in TCP's options.
fn described(header: &Explicit) -> Option<String> {
    Some(match header {
        Explicit::Xcp(_) | Explicit::JetMax(_) => return None,
        Explicit::Vcp(load) => format!("VCP: load {load:?}"),
        Explicit::QuickStart(ask) => format!("Quick-Start: {:?} of {} bit/s", ask.function, ask.rate.bps()),
        Explicit::Rcp(rcp) => format!("RCP: rate {} bit/s, RTT {} s", rcp.rate_bps, rcp.rtt_s),
        Explicit::MaxNet(maxnet) => format!("MaxNet: price {} s", maxnet.price_s),
        Explicit::Erica(erica) => {
            format!(
                "ERICA: current rate {} bit/s, explicit rate {} bit/s",
                erica.current_bps, erica.explicit_bps
            )
        }
        Explicit::Ptp(ptp) => format!("PTP: asks router {}, has crossed {}", ptp.wanted, ptp.hops),
    })
}
