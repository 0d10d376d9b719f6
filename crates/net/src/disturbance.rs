//! What happens to packets behind a link's transmitter besides its constant propagation delay: reordering,
//! jitter, duplication, a delay that varies, and outages.
//!
//! ```text
//! added delay:  steps: each value from its time on (a trace is a list of steps)
//!               handovers: a new value in [0, range] at each multiple of the period
//! jitter:       a delay in [0, jitter] for each packet
//! order:        with both, a packet arrives no earlier than those before it, unless they may overtake
//! reordering:   with its probability, a data packet or an acknowledgement takes the extra delay, and others overtake it
//! duplication:  with its probability, such a packet arrives a second time, right behind the first
//! remark:       mark: each data packet that is ECN-capable is marked; bleach: each loses its ECN field
//! outages:      the queue waits: nothing is sent, and a packet whose transmission has begun still arrives
//!               the queue drains: packets leave as ever, and those whose last bit leaves during the outage are lost
//! ```
//!
//! Every delay is added to the link's own, which therefore stays the least: a driver may rely on it.
//!
//! The forms and the distributions (uniform) are chosen here; the values are the scenario's. Handovers are
//! after Starlink, whose links are allocated anew every 15 s (Garcia, Sundberg, Brunstrom: A Detailed
//! Characterization of Starlink One-way Delay, LEO-NET 2025, abstract).

use longfat_units::{Interval, Stream, Time};
use longfat_wire::{Ecn, Kind, Packet};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Some packets take longer than others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// The share of packets.
    pub probability: f64,
    /// How much longer.
    pub delay: Interval,
}

/// A propagation delay that varies; this much is added to the constant one.
#[derive(Clone, Debug)]
pub enum AddedDelay {
    /// Nothing.
    None,
    /// Each delay from its time on; nothing before the first.
    Steps(Arc<[(Time, Interval)]>),
    /// A new delay every so often.
    Handovers(Handovers),
}

/// A delay that is drawn anew at each multiple of a period.
#[derive(Clone, Debug)]
pub struct Handovers {
    period: Interval,
    range: Interval,
    draws: Stream,
    delay: Interval,
    next: Time,
}

impl Handovers {
    /// Delays in [0, range], from `draws`; the period is above 0.
    pub const fn new(period: Interval, range: Interval, draws: Stream) -> Self {
        Handovers { period, range, draws, delay: Interval::ZERO, next: Time::ZERO }
    }

    /// The delay at `now`; times never decrease.
    fn at(&mut self, now: Time) -> Interval {
        while self.next <= now {
            self.delay = self.range.scale(self.draws.unit());
            self.next += self.period;
        }
        self.delay
    }
}

impl AddedDelay {
    fn at(&mut self, now: Time) -> Interval {
        match self {
            AddedDelay::None => Interval::ZERO,
            AddedDelay::Steps(steps) => {
                let passed = steps.partition_point(|&(from, _)| from <= now);
                passed.checked_sub(1).map_or(Interval::ZERO, |step| steps[step].1)
            }
            AddedDelay::Handovers(handovers) => handovers.at(now),
        }
    }
}

/// A time in which the link carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins.
    pub begin: Time,
    /// When packets are carried again.
    pub end: Time,
    /// Whether the link sends on during the outage, and loses what it sends.
    pub drains: bool,
}

/// Outages in order of time; none begins before the one before it has ended.
#[derive(Clone, Debug, Default)]
pub struct Outages(pub Vec<Outage>);

impl Outages {
    /// The outage at `now`, if there is one.
    fn at(&self, now: Time) -> Option<Outage> {
        let begun = self.0.partition_point(|outage| outage.begin <= now);
        begun.checked_sub(1).map(|last| self.0[last]).filter(|outage| now < outage.end)
    }

    /// When a link that may not send at `now` may do so again; `None` if it may send.
    pub fn holds(&self, now: Time) -> Option<Time> {
        self.at(now).filter(|outage| !outage.drains).map(|outage| outage.end)
    }

    /// Whether what leaves at `now` is lost.
    fn loses(&self, now: Time) -> bool {
        self.at(now).is_some_and(|outage| outage.drains)
    }
}

/// What a router makes of the ECN field of data packets, against the rules of RFC 3168.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// It marks each one that is ECN-capable, whether there is congestion or not.
    Mark,
    /// It clears the field: ECN-capable packets are not capable any more, and marks are lost.
    Bleach,
}

impl Remark {
    /// Changes the field of a data packet. Returns whether this has marked it.
    pub fn apply<P: Packet>(self, packet: &mut P) -> bool {
        let (before, after) = match self {
            Remark::Mark => (packet.ecn(), Ecn::Marked),
            Remark::Bleach => (packet.ecn(), Ecn::NotCapable),
        };
        if packet.kind() != Kind::Data || before == Ecn::NotCapable || before == after {
            return false;
        }
        packet.set_ecn(after);
        self == Remark::Mark
    }
}

/// The random streams of the disturbances, one for each.
#[derive(Clone, Debug)]
pub struct DisturbanceStreams {
    /// Which packets take longer.
    pub reorder: Stream,
    /// Each packet's jitter.
    pub jitter: Stream,
    /// Which packets arrive twice.
    pub duplicate: Stream,
}

/// The disturbances of a link.
#[derive(Clone, Debug)]
pub struct Disturbances {
    /// Packets that others overtake.
    pub reorder: Reorder,
    /// The greatest jitter.
    pub jitter: Interval,
    /// The share of packets that arrive twice.
    pub duplicate: f64,
    /// The delay that varies.
    pub added: AddedDelay,
    /// Whether packets may overtake each other by jitter and by a delay that varies.
    pub overtaking: bool,
    /// What happens to the ECN field.
    pub remark: Option<Remark>,
    /// When the link carries nothing.
    pub outages: Outages,
    /// Random streams.
    pub streams: DisturbanceStreams,
}

/// A packet on its way, by the time at which it leaves the disturbed part.
#[derive(Clone, Debug)]
struct Held<P> {
    at: Time,
    number: u64,
    packet: P,
}

impl<P> Held<P> {
    const fn key(&self) -> (Time, u64) {
        (self.at, self.number)
    }
}

impl<P> PartialEq for Held<P> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<P> Eq for Held<P> {}
impl<P> PartialOrd for Held<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<P> Ord for Held<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// What became of a packet that enters the disturbed part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate<P> {
    /// It leaves at this time.
    Leaves(P, Time),
    /// It is on its way.
    Carried,
    /// It is, and a copy of it too; this is another one.
    Doubled(P),
    /// An outage took it.
    Lost(P),
}

/// The disturbed part of a link: packets enter it when they leave the transmitter, in that order, and leave
/// it in the order of their arrival.
#[derive(Clone, Debug)]
pub struct Disturbed<P> {
    law: Disturbances,
    held: BinaryHeap<Reverse<Held<P>>>,
    numbers: u64,
    /// No packet arrives earlier, unless it may overtake.
    latest: Time,
}

impl Disturbances {
    /// Whether packets leave in the order in which they come, and each once.
    pub fn keeps_order(&self) -> bool {
        let varies = self.jitter > Interval::ZERO || !matches!(self.added, AddedDelay::None);
        self.reorder.probability == 0.0 && self.duplicate == 0.0 && !(self.overtaking && varies)
    }

    /// How long a packet takes to which only jitter and a varying delay happen.
    #[inline]
    fn delay(&mut self, departure: Time) -> Interval {
        let added = self.added.at(departure);
        if self.jitter == Interval::ZERO {
            added
        } else {
            added + self.jitter.scale(self.streams.jitter.unit())
        }
    }
}

impl<P> Disturbed<P> {
    /// When a link that may not send at `now` may do so again; `None` if it may send.
    pub fn holds(&self, now: Time) -> Option<Time> {
        self.law.outages.holds(now)
    }

    /// When the next packet leaves; [`Time::NEVER`] if none is on its way.
    #[inline]
    pub fn head(&self) -> Time {
        self.held.peek().map_or(Time::NEVER, |Reverse(held)| held.at)
    }
}

impl<P: Packet> Disturbed<P> {
    /// Changes the ECN field of a packet that will [`enter`](Disturbed::enter). Returns whether this has
    /// marked it.
    #[inline]
    pub fn remark(&self, packet: &mut P) -> bool {
        self.law.remark.is_some_and(|remark| remark.apply(packet))
    }
}

impl<P: Packet + Clone> Disturbed<P> {
    /// Nothing on its way.
    pub fn new(law: Disturbances) -> Self {
        Disturbed { law, held: BinaryHeap::new(), numbers: 0, latest: Time::ZERO }
    }

    fn hold(&mut self, at: Time, packet: P) {
        self.numbers += 1;
        self.held.push(Reverse(Held { at, number: self.numbers, packet }));
    }

    /// The last bit of a packet leaves the transmitter at `departure`; departures never decrease. With
    /// `ahead`, a packet that will be the next one to leave does so at once.
    #[inline]
    pub fn enter(&mut self, departure: Time, packet: P, ahead: bool) -> Fate<P> {
        let law = &mut self.law;
        if law.outages.loses(departure) {
            return Fate::Lost(packet);
        }
        let mut at = departure + law.delay(departure);
        if !law.overtaking {
            at = at.max(self.latest);
            self.latest = at;
        }
        let mut doubled = false;
        // as with losses, a run does not depend on how connections open
        if matches!(packet.kind(), Kind::Data | Kind::Ack) {
            if law.reorder.probability > 0.0 && law.streams.reorder.unit() < law.reorder.probability {
                at += law.reorder.delay;
            }
            doubled = law.duplicate > 0.0 && law.streams.duplicate.unit() < law.duplicate;
        }
        if !doubled {
            if ahead && self.held.is_empty() && self.law.keeps_order() {
                return Fate::Leaves(packet, at);
            }
            self.hold(at, packet);
            return Fate::Carried;
        }
        self.hold(at, packet.clone());
        self.hold(at, packet.clone());
        Fate::Doubled(packet)
    }

    /// Takes the next packet that leaves by `now`, with the time at which it does.
    pub fn release(&mut self, now: Time) -> Option<(P, Time)> {
        if self.head() > now {
            return None;
        }
        self.held.pop().map(|Reverse(held)| (held.packet, held.at))
    }

    /// Packets on their way, copies included.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::source::{data, s};
    use longfat_wire::SimPacket;
    use proptest::prelude::*;

    const MS: Interval = Interval::from_millis(1);

    fn calm() -> Disturbances {
        Disturbances {
            reorder: Reorder { probability: 0.0, delay: Interval::ZERO },
            jitter: Interval::ZERO,
            duplicate: 0.0,
            added: AddedDelay::None,
            overtaking: false,
            remark: None,
            outages: Outages::default(),
            streams: DisturbanceStreams {
                reorder: Stream::new(1, "reorder"),
                jitter: Stream::new(1, "jitter"),
                duplicate: Stream::new(1, "duplicate"),
            },
        }
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Interval::from_millis(n)
    }

    /// Sends a packet a millisecond. Returns when each arrives, by its number, and which were lost.
    fn arrivals(law: Disturbances, packets: u64) -> (Vec<(u64, Time)>, Vec<u64>) {
        let mut part: Disturbed<SimPacket> = Disturbed::new(law);
        let (mut arrived, mut lost) = (vec![], vec![]);
        for seq in 0..packets {
            while let Some((packet, at)) = part.release(ms(seq)) {
                arrived.push((packet.seq, at));
            }
            if let Fate::Lost(packet) = part.enter(ms(seq), data(0, seq, 1500), false) {
                lost.push(packet.seq);
            }
        }
        while let Some((packet, at)) = part.release(Time::NEVER - Interval::from_ns(1)) {
            arrived.push((packet.seq, at));
        }
        (arrived, lost)
    }

    #[test]
    fn a_hundredth_of_the_packets_is_overtaken_by_ten_others() {
        let reorder = Reorder { probability: 0.01, delay: Interval::from_millis(10) };
        let (arrived, lost) = arrivals(Disturbances { reorder, ..calm() }, 100_000);
        let late: Vec<_> = arrived.iter().filter(|(seq, at)| *at > ms(*seq)).collect();
        assert!((900..1100).contains(&late.len()), "{}", late.len());
        assert!(late.iter().all(|(seq, at)| *at == ms(seq + 10)));
        assert_eq!((arrived.len(), lost.len()), (100_000, 0));
        // a late packet comes behind the one that was sent ten later: it entered before
        let place = |seq| arrived.iter().position(|(s, _)| *s == seq).unwrap();
        let (first, _) = late[0];
        assert!(place(*first) > place(first + 9) && place(*first) < place(first + 11));
    }

    #[test]
    fn steps_hold_from_their_time_on_and_a_packet_does_not_overtake_when_the_delay_falls() {
        let steps: Arc<[_]> = [(ms(2), MS.scale(5.0)), (ms(4), Interval::ZERO)].into();
        let law = |overtaking| Disturbances { added: AddedDelay::Steps(steps.clone()), overtaking, ..calm() };
        // sent at 0 .. 9 ms, with 0 0 5 5 0 0 ... ms added
        let kept: Vec<_> = arrivals(law(false), 10).0;
        let expected = [0, 1, 7, 8, 8, 8, 8, 8, 8, 9].map(ms);
        assert_eq!(kept, (0..10).zip(expected).collect::<Vec<_>>());
        let free: Vec<_> = arrivals(law(true), 10).0.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(free, [0, 1, 4, 5, 6, 2, 7, 3, 8, 9]);
    }

    #[test]
    fn handovers_change_the_delay_at_each_multiple_of_the_period() {
        let handovers =
            Handovers::new(Interval::from_millis(100), MS.scale(30.0), Stream::new(1, "handover"));
        let law = Disturbances { added: AddedDelay::Handovers(handovers), overtaking: true, ..calm() };
        let mut extra = vec![Interval::ZERO; 1000];
        arrivals(law, 1000).0.iter().for_each(|(seq, at)| extra[*seq as usize] = at.since(ms(*seq)));
        let values: Vec<_> = extra.chunks(100).map(|span| span[0]).collect();
        assert!(extra.chunks(100).zip(&values).all(|(span, value)| span.iter().all(|x| x == value)));
        assert!(values.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(values.iter().all(|value| *value <= MS.scale(30.0)));
    }

    #[test]
    fn an_outage_holds_the_queue_or_loses_what_leaves() {
        let outages = |drains| Outages(vec![Outage { begin: ms(3), end: ms(6), drains }]);
        assert_eq!([2, 3, 5, 6].map(|t| outages(false).holds(ms(t))), [None, Some(ms(6)), Some(ms(6)), None]);
        assert_eq!([2, 3, 5, 6].map(|t| outages(true).holds(ms(t))), [None; 4]);
        assert_eq!(arrivals(Disturbances { outages: outages(true), ..calm() }, 10).1, [3, 4, 5]);
        assert_eq!(arrivals(Disturbances { outages: outages(false), ..calm() }, 10).1, []);
    }

    proptest! {
        #[test]
        fn packets_are_conserved_and_keep_their_order_where_that_is_promised(
            jitter in 0.0f64..20.0, duplicate in 0.0f64..0.5, overtaking: bool, late in 0.0f64..0.3,
            steps in proptest::collection::vec((0u64..200, 0u64..50), 0..5),
        ) {
            let mut steps: Vec<_> = steps.into_iter().map(|(at, ms_added)| (ms(at), MS.scale(ms_added as f64))).collect();
            steps.sort();
            steps.dedup_by_key(|(at, _)| *at);
            let law = Disturbances {
                jitter: MS.scale(jitter),
                duplicate,
                overtaking,
                reorder: Reorder { probability: late, delay: MS },
                added: AddedDelay::Steps(steps.into()),
                ..calm()
            };
            let mut part: Disturbed<SimPacket> = Disturbed::new(law);
            let (mut copies, mut left) = (0, vec![]);
            for seq in 0..300 {
                copies += usize::from(matches!(part.enter(ms(seq), data(0, seq, 1500), false), Fate::Doubled(_)));
                while let Some((packet, at)) = part.release(ms(seq)) {
                    left.push((packet.seq, at));
                }
                prop_assert_eq!(left.len() + part.len(), seq as usize + 1 + copies);
            }
            while let Some((packet, at)) = part.release(s(1e6)) {
                left.push((packet.seq, at));
            }
            prop_assert!(left.iter().all(|(seq, at)| *at >= ms(*seq)), "none arrives before it was sent");
            prop_assert!(left.windows(2).all(|pair| pair[0].1 <= pair[1].1));
            if late == 0.0 && !overtaking {
                prop_assert!(left.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            }
            prop_assert!(duplicate > 0.0 || copies == 0);
        }
    }
}
