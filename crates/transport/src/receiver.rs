//! The receiving end of a TCP connection: reassembly, delayed acknowledgements, SACK blocks, echoes of ECN
//! marks. [`crate::Echoing`] echoes explicit headers.
//!
//! | constant | value | source |
//! |---|---|---|
//! | segments per acknowledgement | 2 | RFC 5681, section 4.2 |
//!
//! `receiver/compression.rs` says when acknowledgements of segments above a gap wait.

mod compression;
#[cfg(test)]
mod compression_tests;

use crate::chunks::Chunks;
use crate::packet_sizes::{ack_bytes, syn_bytes};
use compression::{BLOCKS_EXPECTED, Compression};
use longfat_units::{Interval, Time};
use longfat_wire::{
    Ecn, Explicit, Extra, FlowId, Function, Kind, Packet, QuickStart, RateCode, SackBlocks, SimPacket,
};

/// How a receiver acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// The flow whose data it takes.
    pub flow: FlowId,
    /// Acknowledge every second segment, and a single one after this long; `None` acknowledges each segment.
    pub delayed_ack: Option<Interval>,
    /// The first this many acknowledgements of a connection are not delayed (Linux TCP_MAX_QUICKACKS).
    pub quick_acks: u32,
    /// Send SACK blocks.
    pub sack: bool,
    /// The longest time that acknowledgements of segments above a gap wait for each other (Linux
    /// tcp_comp_sack_delay_ns); zero: they do not.
    pub sack_compression: Interval,
    /// Packets carry timestamps (RFC 7323).
    pub timestamps: bool,
    /// Routers that a connection request passes without a decrement of its time-to-live. A path of links
    /// decrements it from one link to the next, but not where the sender's host hands the packet to the
    /// first.
    pub uncounted_hops: u8,
}

/// Room for so many acknowledgements is kept (chosen here): a recovery may need as much, and those that a
/// misbehaving receiver has divided bring more than was taken.
const MOST_SPARE: usize = 4096;

/// The receiver of one connection.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Receiver {
    /// Acknowledgements are delayed, nothing is missing, and no mark is echoed.
    steady: bool,
    echo_mark: bool,
    /// An acknowledgement without SACK blocks, IP bytes.
    ack_bytes: u16,
    quick: u32,
    unacknowledged: u32,
    /// The next segment expected in order.
    next: u64,
    deadline: Time,
    /// Stamp of the earliest segment not yet acknowledged (RFC 7323, section 4.3).
    echo: Time,
    /// IP bytes that arrived, duplicates included.
    pub received_bytes: u64,
    config: ReceiverConfig,
    /// Ranges [start, end) that arrived above `next`, ascending, disjoint, not adjacent.
    early: Chunks<(u64, u64)>,
    /// The last segments that arrived early, latest first, where each has an acknowledgement of its own.
    recent: [u64; SackBlocks::MOST],
    /// Room for what acknowledgements carry besides the usual.
    #[expect(clippy::vec_box, reason = "the boxes go from packet to packet")]
    spare: Vec<Box<Extra>>,
    /// Acknowledgements that wait, if SACK blocks are compressed.
    compression: Option<Box<Compression>>,
    /// Segments that were acknowledged as if they had come.
    skipped: u64,
    /// Segments that arrived a second time.
    pub duplicates: u64,
    /// Those of them, [start, end), that the next acknowledgement reports (RFC 2883); empty for none.
    repeated: (u64, u64),
}

impl Receiver {
    /// A receiver that waits for a connection request.
    pub fn new(config: ReceiverConfig) -> Self {
        Receiver {
            ack_bytes: ack_bytes(config.timestamps),
            compression: Compression::new(config.sack_compression).filter(|_| config.sack).map(Box::new),
            config,
            next: 0,
            early: Chunks::default(),
            recent: [u64::MAX; SackBlocks::MOST],
            unacknowledged: 0,
            quick: config.quick_acks,
            deadline: Time::NEVER,
            echo: Time::ZERO,
            echo_mark: false,
            spare: Vec::new(),
            steady: false,
            skipped: 0,
            received_bytes: 0,
            duplicates: 0,
            repeated: (0, 0),
        }
    }

    /// Segments handed to the application.
    #[inline]
    pub const fn delivered(&self) -> u64 {
        self.next - self.skipped
    }

    /// Segments that never came and count as received, of a receiver that conceals losses. The last one of a
    /// transfer is none of them: a gap lies below a segment that has come.
    #[inline]
    pub const fn concealed(&self) -> u64 {
        self.skipped
    }

    /// The next segment that it expects in order.
    pub(crate) const fn next_expected(&self) -> u64 {
        self.next
    }

    /// Counts everything below this segment as received; for a receiver that conceals losses.
    pub(crate) fn skip_to(&mut self, seq: u64) {
        self.skipped += seq.saturating_sub(self.next);
        self.next = self.next.max(seq);
    }

    /// When [`Receiver::on_timer`] wants to be called.
    #[inline]
    pub const fn wake(&self) -> Time {
        self.deadline
    }

    /// Asks the processor for room for what the next acknowledgements carry besides the usual, if they may
    /// need it.
    #[inline(always)]
    pub fn prefetch_room(&self) {
        if !self.steady {
            for extra in self.spare.iter().rev().take(2) {
                longfat_units::cache::prefetch(&**extra);
            }
        }
    }

    /// A packet of the sender arrived. Returns the response, if one is due now.
    #[inline]
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        if self.is_next(packet) { self.take_next(now, packet) } else { self.take(now, packet) }
    }

    /// Whether the packet is the segment expected next in steady flow. [`Receiver::take_next`] is enough
    /// then.
    #[inline(always)]
    pub fn is_next(&self, packet: &SimPacket) -> bool {
        self.steady && packet.seq == self.next && packet.kind == Kind::Data && packet.ecn != Ecn::Marked
    }

    /// [`Receiver::on_packet`] for a packet that [`Receiver::is_next`]: every second one is acknowledged.
    #[inline(always)]
    pub fn take_next(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        self.received_bytes += u64::from(packet.bytes);
        self.next += 1;
        if self.unacknowledged == 0 {
            self.unacknowledged = 1;
            self.echo = packet.stamp;
            self.deadline = self.config.delayed_ack.map_or(Time::NEVER, |wait| now + wait);
            return None;
        }
        Some(self.plain_ack(now, packet.stamp))
    }

    /// [`Receiver::on_packet`] for any other packet.
    #[inline(never)]
    pub fn take(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        if packet.kind == Kind::Syn {
            if let Some(compression) = &mut self.compression {
                compression.open(now);
            }
            return Some(self.accept(packet));
        }
        // RFC 3168: echo a mark until the sender announces that it has reduced its window
        self.echo_mark = (self.echo_mark && !packet.ecn_flag) || packet.ecn == Ecn::Marked;
        let answer = self.on_data(now, packet, self.echo_mark);
        self.steady =
            self.config.delayed_ack.is_some() && self.quick == 0 && self.early.is_empty() && !self.echo_mark;
        answer
    }

    /// Data arrived. Returns the acknowledgement, which is due now at the latest if the packet is `urgent`.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, now: Time, packet: &SimPacket, urgent: bool) -> Option<SimPacket> {
        self.received_bytes += u64::from(packet.bytes);
        if self.unacknowledged == 0 {
            self.echo = packet.stamp;
        }
        self.unacknowledged += 1;
        if let Some(compression) = &mut self.compression {
            compression.hear(now);
        }
        let in_order = packet.seq == self.next;
        let at_once = if in_order && self.early.is_empty() {
            self.next += 1;
            self.quick > 0 || urgent
        } else {
            if packet.seq <= self.next {
                self.echo = packet.stamp; // not that of a segment above a gap (RFC 7323, section 4.3)
            }
            if self.compression.is_some() {
                return self.take_compressed(now, packet, urgent);
            }
            self.reassemble(packet.seq);
            // a gap, its repair, or a duplicate is reported at once (RFC 5681, section 4.2)
            true
        };
        if at_once || self.unacknowledged >= 2 || self.config.delayed_ack.is_none() {
            self.quick = self.quick.saturating_sub(1);
            return Some(self.acknowledge(now, packet.stamp));
        }
        self.deadline = self.config.delayed_ack.map_or(Time::NEVER, |wait| now + wait);
        None
    }

    /// The response to a connection request. It returns what is left of a requested rate, with the difference
    /// of the two times-to-live (RFC 4782, section 4.3).
    #[cold]
    #[inline(never)]
    fn accept(&self, request: &SimPacket) -> SimPacket {
        let mut answer = SimPacket::new(
            Kind::SynAck,
            self.config.flow,
            0,
            syn_bytes(self.config.timestamps),
            request.stamp,
        );
        if let Some(&Explicit::QuickStart(asked)) = request.explicit()
            && asked.function == Function::Request
            && asked.rate != RateCode::NONE
        {
            let ttl = request.ttl().wrapping_sub(self.config.uncounted_hops).wrapping_sub(asked.ttl);
            let response = Explicit::QuickStart(QuickStart { function: Function::Response, ttl, ..asked });
            answer.bytes += response.header_bytes() as u16;
            answer.extra = Some(Box::new(Extra { explicit: Some(response), ..Extra::default() }));
        }
        answer
    }

    /// The timer of a delayed acknowledgement, or of those that wait above a gap.
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        if now < self.deadline {
            return None;
        }
        let held = self.compression.as_ref().and_then(|compression| compression.held());
        let (arrived, stamp) = held.unwrap_or_else(|| {
            (self.deadline - self.config.delayed_ack.unwrap_or(Interval::ZERO), self.echo)
        });
        Some(self.acknowledge(arrived, stamp))
    }

    /// A segment arrived above a gap, or into one, or below it for a second time. Returns the acknowledgement
    /// that is due now: its own, or that of those which have waited.
    #[cold]
    #[inline(never)]
    fn take_compressed(&mut self, now: Time, packet: &SimPacket, urgent: bool) -> Option<SimPacket> {
        let held = self.compression.as_ref().and_then(|compression| compression.held());
        // a third block might push one out that no acknowledgement has told of
        let before =
            held.filter(|_| packet.seq > self.next && self.is_apart(packet.seq)).map(|(arrived, stamp)| {
                let before = self.acknowledge(arrived, stamp);
                self.unacknowledged = 1;
                before
            });
        let (expected, is_old) = (self.next, packet.seq < self.next);
        self.reassemble(packet.seq);
        self.put_first(packet.seq);
        let missing = self.next;
        // Before it counts, Linux looks whether an acknowledgement is due for more than one segment in order.
        // The last one left when the gap was seen or moved, so it has told of all that was expected before.
        let has_moved = missing - expected > 1;
        let at_once = urgent || self.quick > 0 || is_old || has_moved || self.early.is_empty();
        let compression = self.compression.as_mut()?;
        if at_once || compression.is_due(missing) {
            self.quick = self.quick.saturating_sub(1);
            return Some(self.acknowledge(now, packet.stamp));
        }
        let wait = compression.hold(now, packet.stamp);
        if self.deadline == Time::NEVER {
            self.deadline = now + wait;
        }
        before
    }

    /// The block of this segment is the next one that acknowledgements tell of, before those of earlier
    /// segments.
    fn put_first(&mut self, seq: u64) {
        let Some(range) = self.range_of(seq) else { return };
        let Some(mut compression) = self.compression.take() else { return };
        compression.put_first(seq, |earlier| self.range_of(earlier).is_some_and(|other| other != range));
        self.compression = Some(compression);
    }

    /// Whether the segment touches none of the last blocks, and there are as many as may be new.
    fn is_apart(&self, seq: u64) -> bool {
        let blocks = self.sack_blocks((0, 0));
        let touches = |&(start, end): &(u64, u64)| start <= seq + 1 && seq <= end;
        let last: Vec<(u64, u64)> = blocks.iter().take(BLOCKS_EXPECTED).collect();
        last.len() == BLOCKS_EXPECTED && !last.iter().any(touches)
    }

    fn reassemble(&mut self, seq: u64) {
        if seq > self.next && self.early.back().is_none_or(|&(_, end)| seq >= end) {
            // above all others: the usual case
            match self.early.back_mut() {
                Some((_, end)) if *end == seq => *end += 1,
                _ => self.early.push_back((seq, seq + 1)),
            }
            self.recent = [seq, self.recent[0], self.recent[1]];
            return;
        }
        let at = self.early.find(|&(_, end)| end <= seq);
        if seq < self.next || self.early.get(at).is_some_and(|&(start, _)| start <= seq) {
            self.duplicates += 1;
            self.note_repeated(seq);
        } else if seq == self.next {
            self.next += 1;
            if let Some(&(start, end)) = self.early.front()
                && start == self.next
            {
                self.next = end;
                self.early.pop_front();
            }
        } else {
            self.insert(seq);
        }
        if seq >= self.next {
            // latest range first; the blocks leave out further entries of the same range
            self.recent = [seq, self.recent[0], self.recent[1]];
        }
    }

    /// A segment arrived a second time. An acknowledgement reports one range of them, as long as it is
    /// contiguous: the first (Linux, tcp_dsack_extend).
    #[cold]
    fn note_repeated(&mut self, seq: u64) {
        match &mut self.repeated {
            (start, end) if start == end => self.repeated = (seq, seq + 1),
            (_, end) if *end == seq => *end += 1,
            (start, _) if *start == seq + 1 => *start = seq,
            _ => {}
        }
    }

    fn insert(&mut self, seq: u64) {
        let below = |&(_, end): &(u64, u64)| end < seq;
        self.early.cut(below);
        let at = self.early.find(below);
        let Some(range) = self.early.get_mut(at) else {
            self.early.push_back((seq, seq + 1));
            return;
        };
        if range.1 == seq {
            range.1 += 1;
            let (start, end) = *range;
            let after = self.early.next(at);
            if let Some(next) = self.early.get_mut(after)
                && next.0 == end
            {
                next.0 = start;
                self.early.remove_before(after);
            }
        } else if range.0 == seq + 1 {
            range.0 = seq;
        } else {
            self.early.insert(at, (seq, seq + 1));
        }
    }

    /// Acknowledges everything so far. The segment that triggers it was sent at `stamp` and arrived at
    /// `arrived`, perhaps a while ago.
    #[inline]
    fn acknowledge(&mut self, arrived: Time, stamp: Time) -> SimPacket {
        if let Some(compression) = &mut self.compression {
            compression.release();
        }
        let mut ack = self.plain_ack(arrived, stamp);
        ack.ecn_flag = self.echo_mark;
        let (start, end) = core::mem::take(&mut self.repeated);
        if self.config.sack && (start < end || !self.early.is_empty()) {
            let sack = self.sack_blocks((start, end));
            ack.bytes += sack.header_bytes() as u16;
            let mut extra = self.room();
            extra.sack = sack;
            ack.extra = Some(extra);
        }
        ack
    }

    /// The same without SACK blocks and without an echo of a mark.
    #[inline(always)]
    fn plain_ack(&mut self, arrived: Time, stamp: Time) -> SimPacket {
        self.unacknowledged = 0;
        self.deadline = Time::NEVER;
        SimPacket {
            one_way_delay_ns: arrived.since(stamp).as_ns().min(u64::from(u32::MAX)) as u32,
            ..SimPacket::new(Kind::Ack, self.config.flow, self.next, u32::from(self.ack_bytes), self.echo)
        }
    }

    /// The blocks of an acknowledgement. The segments `repeated` arrived a second time: they come first, and
    /// then the range that holds them, if one does (RFC 2883, section 4).
    fn sack_blocks(&self, repeated: (u64, u64)) -> SackBlocks {
        let again = (repeated.0 < repeated.1).then_some(repeated);
        match &self.compression {
            None => self.blocks_of(again, self.recent),
            Some(compression) => self.blocks_of(again, compression.blocks().iter().copied()),
        }
    }

    /// The segments that arrived again, and the ranges that hold them and these segments, each once.
    #[inline(always)]
    fn blocks_of(&self, again: Option<(u64, u64)>, latest: impl IntoIterator<Item = u64>) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some((start, end)) = again {
            blocks.push(start, end);
            if let Some((start, end)) = self.range_of(start) {
                blocks.push(start, end);
            }
        }
        let holds = |(start, end): (u64, u64), seq| start <= seq && seq < end;
        for seq in latest {
            if !blocks.iter().skip(usize::from(again.is_some())).any(|range| holds(range, seq))
                && let Some((start, end)) = self.range_of(seq)
            {
                blocks.push(start, end);
            }
        }
        blocks
    }

    /// The range of early arrivals that holds `seq`, if one does: usually one of the last.
    #[inline]
    fn range_of(&self, seq: u64) -> Option<(u64, u64)> {
        if seq < self.next {
            return None;
        }
        let nearest = self.early.last_items(4).find(|&&(start, _)| start <= seq);
        let &(start, end) = nearest.or_else(|| self.early.get(self.early.find(|&(_, end)| end <= seq)))?;
        (start <= seq && seq < end).then_some((start, end))
    }

    /// Room for what an acknowledgement carries besides the usual, with nothing in it.
    #[inline]
    pub(crate) fn room(&mut self) -> Box<Extra> {
        let mut extra = self.spare.pop().unwrap_or_default();
        extra.clear();
        extra
    }

    /// Takes back what an acknowledgement carried besides the usual, so that a later one need not allocate
    /// it. That may have been an acknowledgement of another connection.
    #[inline]
    pub fn recycle(&mut self, extra: Box<Extra>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(extra); // not looked at: it may have left the cache
        }
    }

    /// Frees its lists; for a connection that is over.
    pub fn free(&mut self) {
        self.early = Chunks::default();
        self.spare = Vec::new();
        self.compression = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(delayed: bool) -> Receiver {
        let delayed_ack = delayed.then_some(Interval::from_millis(40));
        Receiver::new(ReceiverConfig {
            flow: FlowId(0),
            delayed_ack,
            quick_acks: 16,
            sack: true,
            sack_compression: Interval::ZERO,
            timestamps: true,
            uncounted_hops: 1,
        })
    }

    fn data(seq: u64) -> SimPacket {
        SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::from_ns(seq))
    }

    fn arrivals(r: &mut Receiver, segments: impl IntoIterator<Item = u64>) -> Vec<SimPacket> {
        segments.into_iter().filter_map(|s| r.on_packet(Time::from_ns(s + 1000), &data(s))).collect()
    }

    #[test]
    fn the_first_sixteen_segments_are_acknowledged_at_once_and_then_every_second() {
        let mut r = receiver(true);
        let acks = arrivals(&mut r, 0..36);
        assert_eq!(acks.len(), 16 + 10);
        assert_eq!(acks.last().unwrap().seq, 36);
        // the echo is the earlier segment of the pair
        assert_eq!(acks.last().unwrap().stamp, Time::from_ns(34));
    }

    #[test]
    fn a_receiver_without_quick_acknowledgements_delays_from_the_first_segment_on() {
        for (quick_acks, at_once) in [(0, 0), (2, 2), (7, 7)] {
            let config = ReceiverConfig { quick_acks, ..receiver(true).config };
            let acks = arrivals(&mut Receiver::new(config), 0..20 + u64::from(quick_acks));
            assert_eq!(acks.len(), at_once + 10);
            assert_eq!(acks[at_once].seq, u64::from(quick_acks) + 2);
        }
    }

    #[test]
    fn a_single_segment_is_acknowledged_when_the_timer_fires() {
        let mut r = receiver(true);
        arrivals(&mut r, 0..17);
        assert_eq!(r.wake(), Time::from_ns(1016) + Interval::from_millis(40));
        let ack = r.on_timer(r.wake()).unwrap();
        // the one-way delay is the segment's, without the wait
        assert_eq!((ack.seq, ack.one_way_delay_ns), (17, 1000));
        assert_eq!(r.wake(), Time::NEVER);
    }

    #[test]
    fn the_first_sack_block_holds_the_latest_arrival() {
        let mut r = receiver(true);
        arrivals(&mut r, 0..3);
        let acks = arrivals(&mut r, [5, 8, 6, 11, 14]);
        let blocks: Vec<Vec<_>> = acks.iter().map(|a| a.sack().iter().collect()).collect();
        assert_eq!(blocks[0], [(5, 6)]);
        assert_eq!(blocks[1], [(8, 9), (5, 6)]);
        assert_eq!(blocks[2], [(5, 7), (8, 9)]);
        assert_eq!(blocks[4], [(14, 15), (11, 12), (5, 7)]);
        assert!(acks.iter().all(|a| a.seq == 3));
        // the hole is filled: acknowledge everything up to the next one
        assert_eq!(arrivals(&mut r, [3, 4]).last().unwrap().seq, 7);
    }

    #[test]
    fn segments_that_come_twice_are_counted_and_acknowledged() {
        let mut r = receiver(true);
        arrivals(&mut r, [0, 1, 2, 4]);
        assert_eq!(arrivals(&mut r, [1, 4]).len(), 2);
        assert_eq!((r.duplicates, r.delivered()), (2, 3));
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_has_reduced() {
        let mut r = receiver(false);
        let mut marked = data(0);
        marked.ecn = Ecn::Marked;
        assert!(r.on_packet(Time::ZERO, &marked).unwrap().ecn_flag);
        assert!(r.on_packet(Time::ZERO, &data(1)).unwrap().ecn_flag);
        let mut reduced = data(2);
        reduced.ecn_flag = true;
        assert!(!r.on_packet(Time::ZERO, &reduced).unwrap().ecn_flag);
    }

    proptest::proptest! {
        #[test]
        fn any_order_of_arrival_delivers_each_segment_once(order in proptest::collection::vec(0u64..60, 1..300)) {
            let mut r = receiver(true);
            arrivals(&mut r, order.iter().copied());
            let mut seen: Vec<u64> = order.clone();
            seen.sort_unstable();
            seen.dedup();
            let in_order = seen.iter().zip(0..).take_while(|&(&s, i)| s == i).count() as u64;
            proptest::prop_assert_eq!(r.delivered(), in_order);
            proptest::prop_assert_eq!(r.duplicates, (order.len() - seen.len()) as u64);
            let early: u64 = r.early.iter().map(|&(a, b)| b - a).sum();
            proptest::prop_assert_eq!(r.delivered() + early, seen.len() as u64);
            proptest::prop_assert!(r.early.iter().zip(r.early.iter().skip(1)).all(|(a, b)| a.1 < b.0));
        }
    }
}
