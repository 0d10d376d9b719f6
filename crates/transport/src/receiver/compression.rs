//! Compressed SACK blocks, as Linux's receivers send them (`tcp_comp_sack_*`; net/ipv4/tcp_input.c of Linux 6.12,
//! `__tcp_ack_snd_check` and `tcp_sack_new_ofo_skb`): above a gap the first acknowledgements leave at once, so that the
//! sender finds the loss, and the others wait a little for each other.
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | longest wait | 1 ms, or as configured | Linux, tcp_comp_sack_delay_ns | none |
//! | part of the round-trip time that it is at most | 1/20 | Linux, `__tcp_ack_snd_check` | that of the handshake, which Linux takes if it is the least it knows |
//! | slack of its timer | 100 us | Linux, tcp_comp_sack_slack_ns | always all of it: another interrupt lets Linux's timer end earlier |
//! | most that wait | 44 | Linux, tcp_comp_sack_nr | none |
//! | acknowledgements at once | 3 | Linux, TCP_FASTRETRANS_THRESH | none |
//! | blocks that may be new while some wait | 2 | Linux, TCP_SACK_BLOCKS_EXPECTED | none |

use super::Receiver;
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;

const ROUND_TRIP_PARTS: u64 = 20;
const SLACK: Interval = Interval::from_ns(100_000);
const MOST_WAITING: u32 = 44;
const AT_ONCE: u32 = 3;
const BLOCKS_EXPECTED: usize = 2;

/// The acknowledgements that wait.
#[derive(Clone, Debug)]
pub(super) struct Compression {
    longest: Interval,
    /// When the connection request came.
    opened: Option<Time>,
    /// From then to the first data.
    handshake_rtt: Option<Interval>,
    waiting: u32,
    /// When the last segment whose acknowledgement waits arrived, and its stamp.
    held: (Time, Time),
    /// Acknowledgements that left at once while `missing` was missing.
    at_once: u32,
    missing: u64,
}

impl Compression {
    /// `None` if nothing may wait.
    pub fn new(longest: Interval) -> Option<Self> {
        (longest > Interval::ZERO).then_some(Compression {
            longest,
            opened: None,
            handshake_rtt: None,
            waiting: 0,
            held: (Time::ZERO, Time::ZERO),
            at_once: 0,
            missing: 0,
        })
    }

    /// A connection request came.
    pub fn open(&mut self, now: Time) {
        self.opened = Some(now);
    }

    /// Data came.
    pub fn hear(&mut self, now: Time) {
        if let Some(opened) = self.opened.take() {
            self.handshake_rtt = Some(now.since(opened));
        }
    }

    fn wait(&self) -> Interval {
        let part = self.handshake_rtt.map(|rtt| Interval::from_ns(rtt.as_ns() / ROUND_TRIP_PARTS));
        part.map_or(self.longest, |part| part.min(self.longest)) + SLACK
    }

    /// When the last segment whose acknowledgement waits arrived, and its stamp, if there is one.
    pub fn held(&self) -> Option<(Time, Time)> {
        (self.waiting > 0).then_some(self.held)
    }

    /// An acknowledgement leaves, for all.
    pub fn release(&mut self) {
        self.waiting = 0;
    }

    /// Whether an acknowledgement has to leave at once while `missing` is missing.
    fn is_due(&mut self, missing: u64) -> bool {
        if self.waiting >= MOST_WAITING {
            return true;
        }
        if self.missing != missing {
            (self.missing, self.at_once) = (missing, 0);
        }
        let few = self.at_once < AT_ONCE;
        self.at_once += u32::from(few);
        few
    }
}

impl Receiver {
    /// A segment arrived above a gap, or into one, or a second time. Returns the acknowledgement that is due now: its own,
    /// or that of those which have waited.
    #[cold]
    #[inline(never)]
    pub(super) fn take_compressed(
        &mut self,
        now: Time,
        packet: &SimPacket,
        urgent: bool,
    ) -> Option<SimPacket> {
        let held = self.compression.as_ref().and_then(|compression| compression.held());
        // a third block might push one out that no acknowledgement has told of
        let before =
            held.filter(|_| packet.seq > self.next && self.is_apart(packet.seq)).map(|(arrived, stamp)| {
                let before = self.acknowledge(arrived, stamp);
                self.unacknowledged = 1;
                before
            });
        let is_old = packet.seq < self.next;
        self.reassemble(packet.seq);
        let missing = self.next;
        let at_once = urgent || self.quick > 0 || is_old || self.early.is_empty();
        let compression = self.compression.as_mut()?;
        if at_once || compression.is_due(missing) {
            self.quick = self.quick.saturating_sub(1);
            return Some(self.acknowledge(now, packet.stamp));
        }
        compression.waiting += 1;
        compression.held = (now, packet.stamp);
        if self.deadline == Time::NEVER {
            self.deadline = now + compression.wait();
        }
        before
    }

    /// Whether the segment touches none of the last blocks, and there are as many as may be new.
    fn is_apart(&self, seq: u64) -> bool {
        let blocks = self.sack_blocks();
        let touches = |&(start, end): &(u64, u64)| start <= seq + 1 && seq <= end;
        let last: Vec<(u64, u64)> = blocks.iter().take(BLOCKS_EXPECTED).collect();
        last.len() == BLOCKS_EXPECTED && !last.iter().any(touches)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ReceiverConfig;
    use super::*;
    use longfat_wire::{FlowId, Kind};

    const MS: u64 = 1_000_000;

    fn compressing(longest: Interval) -> Receiver {
        Receiver::new(ReceiverConfig {
            flow: FlowId(0),
            delayed_ack: Some(Interval::from_millis(40)),
            quick_acks: 0,
            sack: true,
            sack_compression: longest,
            timestamps: true,
            uncounted_hops: 1,
        })
    }

    fn at(us: u64) -> Time {
        Time::from_ns(1000 * us)
    }

    fn packet(kind: Kind, seq: u64) -> SimPacket {
        SimPacket::new(kind, FlowId(0), seq, 1500, at(seq))
    }

    /// Opens a connection with this handshake; the first two segments are acknowledged.
    fn opened(longest: Interval, rtt_us: u64) -> Receiver {
        let mut r = compressing(longest);
        r.on_packet(at(0), &packet(Kind::Syn, 0));
        for seq in 0..2 {
            r.on_packet(at(rtt_us), &packet(Kind::Data, seq));
        }
        r
    }

    /// Lets these segments arrive every 357 us from 100 ms on, as at 33.6 Mbit/s, with the timer in between; returns when
    /// each acknowledgement leaves (us after the first segment), and what the first block of each then ends with.
    fn acks(r: &mut Receiver, segments: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        let mut tell = |now: Time, ack: Option<SimPacket>| {
            let Some(ack) = ack else { return };
            let end = ack.sack().iter().next().map_or(ack.seq, |(_, end)| end);
            found.push(((now.as_ns() - 100 * MS) / 1000, end));
        };
        for (i, seq) in segments.into_iter().enumerate() {
            let now = at(100_000 + 357 * i as u64);
            while r.wake() <= now {
                let wake = r.wake();
                tell(wake, r.on_timer(wake));
            }
            tell(now, r.on_packet(now, &packet(Kind::Data, seq)));
        }
        if r.wake() != Time::NEVER {
            let wake = r.wake();
            tell(wake, r.on_timer(wake));
        }
        found
    }

    /// A live trace of this rate has four segments in most acknowledgements, 1.42 to 1.45 ms apart.
    #[test]
    fn above_a_gap_three_acknowledgements_leave_at_once_and_the_others_every_1_1_ms() {
        let mut r = opened(Interval::from_millis(1), 60_000);
        let found = acks(&mut r, 3..14);
        // segments 3, 4 and 5 at once; 6 waits from 1071 us on for 7, 8 and 9; 10 from 2499 us on for the others
        assert_eq!(found, [(0, 4), (357, 5), (714, 6), (2171, 10), (3599, 14)]);
    }

    #[test]
    fn a_receiver_that_does_not_compress_acknowledges_each_segment_above_a_gap() {
        assert_eq!(acks(&mut opened(Interval::ZERO, 60_000), 3..14).len(), 11);
    }

    #[test]
    fn on_a_short_path_they_wait_for_a_twentieth_of_the_round_trip_time() {
        // 6 ms / 20 + 0.1 ms = 0.4 ms: each waits for one other
        let mut r = opened(Interval::from_millis(1), 6000);
        assert_eq!(acks(&mut r, 3..8), [(0, 4), (357, 5), (714, 6), (1471, 8)]);
    }

    #[test]
    fn what_closes_the_gap_and_what_comes_twice_is_acknowledged_at_once() {
        let mut r = opened(Interval::from_millis(1), 60_000);
        // 6 waits; 2 closes the gap at 1428 us, and its acknowledgement is that of 6 too; 2 comes again
        assert_eq!(acks(&mut r, [3, 4, 5, 6, 2, 2]), [(0, 4), (357, 5), (714, 6), (1428, 7), (1785, 7)]);
    }

    #[test]
    fn a_repair_below_another_gap_lets_three_leave_at_once_again() {
        let mut r = opened(Interval::from_millis(1), 60_000);
        let found = acks(&mut r, [3, 5, 6, 7, 2, 8, 9, 10]);
        // 7 waits, 2 closes the first gap, then 8 and 9 leave at once, and 10 waits
        assert_eq!(found[..3], [(0, 4), (357, 6), (714, 7)]);
        assert_eq!(found[3..], [(1428, 8), (1785, 9), (2142, 10), (3599, 11)]);
    }

    #[test]
    fn a_third_block_sends_off_what_waits_and_then_waits_itself() {
        let mut r = opened(Interval::from_millis(1), 60_000);
        let found = acks(&mut r, [3, 4, 5, 7, 9]);
        // 7 waits from 1071 us on; 9 at 1428 us is a third block: what is told is 7, and 9 waits
        assert_eq!(found, [(0, 4), (357, 5), (714, 6), (1428, 8), (2528, 10)]);
    }

    #[test]
    fn no_more_than_44_wait() {
        let mut r = opened(Interval::from_millis(1), 60_000);
        let now = at(100_000);
        let left: Vec<u64> =
            (3..100).filter(|&seq| r.on_packet(now, &packet(Kind::Data, seq)).is_some()).collect();
        assert_eq!(left, [3, 4, 5, 50, 95]);
    }

    #[test]
    fn nothing_waits_while_acknowledgements_are_quick() {
        let mut r = Receiver::new(ReceiverConfig {
            quick_acks: 16,
            ..opened(Interval::from_millis(1), 60_000).config
        });
        let now = at(100_000);
        assert!((3..19).all(|seq| r.on_packet(now, &packet(Kind::Data, seq)).is_some()));
    }
}
