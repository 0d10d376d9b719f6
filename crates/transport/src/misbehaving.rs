//! A receiver that breaks the rules to get its data faster, or by a fault. [`crate::Echoing`] holds one.
//!
//! ```text
//! concealed losses: a gap counts as received: it is acknowledged, and never repaired
//! ACKs ahead:       the same, and each ACK covers up to n segments that have not come yet, but no more than have come
//! divided ACKs:     n ACKs in place of one, each for an nth of what the one covers
//! hidden marks:     a marked packet counts as unmarked
//! ```
//!
//! ACK division and optimistic ACKs are after Savage, Cardwell, Wetherall, Anderson: TCP Congestion Control
//! with a Misbehaving Receiver, CCR 29(5), 1999, sections 2.1 and 2.3, from memory of the paper, not
//! verified. RFC 3465, section 2.1, and RFC 5681, section 3.1, have the defence against the first: byte
//! counting.
//!
//! | constant | value | source |
//! |---|---|---|
//! | time between two parts of a divided ACK | 1 ns | chosen here: the host's own link sets their real distance |

use crate::Receiver;
use longfat_units::{Interval, Time};
use longfat_wire::{Division, Ecn, Kind, SimPacket};

const BETWEEN_PARTS: Interval = Interval::from_ns(1);

/// What a receiver does against the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Acknowledges segments that are missing below the highest one that has come.
    pub conceals_losses: bool,
    /// The most segments above the highest one that an acknowledgement covers; more than 0 conceals losses
    /// too.
    pub ahead: u64,
    /// Acknowledgements in place of one, 1 or more.
    pub parts: u32,
    /// What it takes a mark for; `None` sees marks.
    pub hides_marks_as: Option<Ecn>,
}

/// What such a receiver keeps.
#[derive(Clone, Debug)]
pub(crate) struct Misbehaving {
    habits: Habits,
    /// The last segment number that it acknowledged.
    told: u64,
    /// What is left of a divided acknowledgement: when the next part leaves, the whole, and how many parts.
    rest: Option<(Time, SimPacket, u32)>,
    /// The packet that came last came before.
    again: bool,
}

impl Misbehaving {
    /// Nothing has come yet.
    pub const fn new(habits: Habits) -> Self {
        Misbehaving { habits, told: 0, rest: None, again: false }
    }

    /// Looks at a packet before the receiver does. Returns what the receiver gets in its place, if anything
    /// else.
    pub fn look(&mut self, packet: &SimPacket, receiver: &mut Receiver) -> Option<SimPacket> {
        if packet.kind != Kind::Data {
            return None;
        }
        if self.habits.conceals_losses || self.habits.ahead > 0 {
            self.again = packet.seq < receiver.next_expected();
            receiver.skip_to(packet.seq);
        }
        let ecn = self.habits.hides_marks_as.filter(|_| packet.ecn == Ecn::Marked)?;
        Some(SimPacket { ecn, ..packet.clone() })
    }

    /// The receiver wants to send this. Returns what leaves now.
    pub fn tell(&mut self, now: Time, mut ack: SimPacket) -> SimPacket {
        if ack.kind != Kind::Ack {
            return ack;
        }
        // one that goes too far is ignored; what then comes again is acknowledged as it should be
        if self.habits.ahead > 0 && !self.again {
            ack.seq += self.habits.ahead.min(ack.seq);
            ack.extra.get_or_insert_default();
        }
        let before = self.told;
        self.told = before.max(ack.seq);
        self.rest = None;
        let newly = ack.seq.saturating_sub(before);
        if self.habits.parts < 2 || newly == 0 {
            return ack;
        }
        let division = Division { parts: self.habits.parts, segments: newly.min(u64::from(u32::MAX)) as u32 };
        ack.extra.get_or_insert_default().division = Some(division);
        let part = SimPacket { seq: before, ..ack.clone() };
        self.rest = Some((now + BETWEEN_PARTS, ack, self.habits.parts - 1));
        part
    }

    /// When the next part of a divided acknowledgement leaves.
    pub fn wake(&self) -> Time {
        self.rest.as_ref().map_or(Time::NEVER, |(at, ..)| *at)
    }

    /// The part that leaves now, if one does; the last one acknowledges the whole.
    pub fn part(&mut self, now: Time) -> Option<SimPacket> {
        let (at, whole, left) = self.rest.take_if(|(at, ..)| *at <= now)?;
        if left == 1 {
            return Some(whole);
        }
        let before = self.told - whole.extra.as_ref()?.division?.segments as u64;
        let part = SimPacket { seq: before, ..whole.clone() };
        self.rest = Some((at + BETWEEN_PARTS, whole, left - 1));
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Echoing, Feedback, Receiver, ReceiverConfig};
    use longfat_wire::FlowId;

    use super::*;

    const HONEST: Habits = Habits { conceals_losses: false, ahead: 0, parts: 1, hides_marks_as: None };

    fn receiver(habits: Habits) -> Echoing {
        let receiver = Receiver::new(ReceiverConfig {
            flow: FlowId(0),
            delayed_ack: None,
            quick_acks: 16,
            sack: true,
            sack_compression: Interval::ZERO,
            timestamps: true,
            uncounted_hops: 1,
        });
        Echoing::new(receiver, None).telling(Feedback::Classic, 52).misbehaving(Some(habits))
    }

    fn data(seq: u64) -> SimPacket {
        SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::ZERO)
    }

    /// The acknowledgements of these segments.
    fn acks(receiver: &mut Echoing, segments: &[u64]) -> Vec<SimPacket> {
        let mut acks = Vec::new();
        for &seq in segments {
            let now = Time::from_ns(1000 * (seq + 1));
            acks.extend(receiver.on_packet(now, &data(seq)));
            while receiver.wake() < now + Interval::from_ns(500) {
                acks.extend(receiver.on_timer(receiver.wake()));
            }
        }
        acks
    }

    #[test]
    fn a_concealed_gap_is_acknowledged_without_sack_and_only_what_came_is_delivered() {
        let mut receiver = receiver(Habits { conceals_losses: true, ..HONEST });
        let told = acks(&mut receiver, &[0, 1, 5, 6]);
        assert_eq!(told.iter().map(|ack| ack.seq).collect::<Vec<_>>(), [1, 2, 6, 7]);
        assert!(told.iter().all(|ack| ack.sack().is_empty()));
        assert_eq!(receiver.receiver().delivered(), 4);
    }

    #[test]
    fn acks_run_ahead_by_no_more_than_has_come_and_not_for_what_comes_again() {
        let mut receiver = receiver(Habits { ahead: 3, ..HONEST });
        let told = acks(&mut receiver, &[0, 1, 2, 3, 4, 2]);
        assert_eq!(told.iter().map(|ack| ack.seq).collect::<Vec<_>>(), [2, 4, 6, 7, 8, 5]);
    }

    #[test]
    fn a_divided_ack_comes_in_parts_of_which_the_last_acknowledges_the_whole() {
        let mut receiver = receiver(Habits { parts: 3, ..HONEST });
        let told = acks(&mut receiver, &[0, 1]);
        assert_eq!(told.iter().map(|ack| ack.seq).collect::<Vec<_>>(), [0, 0, 1, 1, 1, 2]);
        let division = |ack: &SimPacket| ack.extra.as_ref().and_then(|extra| extra.division);
        assert!(told.iter().all(|ack| division(ack) == Some(Division { parts: 3, segments: 1 })));
    }

    #[test]
    fn a_hidden_mark_is_not_echoed() {
        for (habits, echoed) in
            [(HONEST, true), (Habits { hides_marks_as: Some(Ecn::Capable), ..HONEST }, false)]
        {
            let marked = SimPacket { ecn: Ecn::Marked, ..data(0) };
            let ack = receiver(habits).on_packet(Time::ZERO, &marked).expect("an acknowledgement");
            assert_eq!(ack.ecn_flag, echoed);
        }
    }
}
