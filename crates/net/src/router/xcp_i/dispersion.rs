//! IGI and PTR (Hu, Steenkiste: Evaluation and Characterization of Available Bandwidth Probing Techniques,
//! IEEE JSAC 21(6), 2003): trains of packets with growing gaps, until they arrive with the gaps that they
//! were sent with; such a train uses exactly the available bandwidth.
//!
//! ```text
//! at gap 0:  gB = the most frequent gap on arrival,  B = s / gB
//! gaps    :  3/4 of the mean gap on arrival of the last train at gap 0, and a quarter of that more each round
//! stop    :  mean gap on arrival <= gap sent, in two rounds in a row; the first of them counts
//! PTR     :  s / mean gap on arrival
//! IGI     :  B - B sum(g - gB, over the gaps g above gB and the gap sent) / sum(g), the median of a round's trains
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | first gap, step | 0.5 and 0.25, 0.25 | of the gap on arrival | IGI/PTR 2.1 of the authors | none |
//! | above this ratio of gaps, half-way | 1.5 | | IGI/PTR 2.1 | it divides by a wrong count there, so that nothing comes of it |
//! | equal within | 5 | us | IGI/PTR 2.1 | at most 5 % of the gap: links are faster now |
//! | bins of gaps | 25 | us | IGI/PTR 2.1 | at most a quarter of the mean gap |
//! | most rounds | 30 | | chosen here | IGI/PTR 2.1 has no end where nothing is left |
//! | trains lost | 3 | an estimate | chosen here | IGI/PTR 2.1 reports over TCP |

use super::estimator::{Estimator, MESSAGE_BYTES, Post, Progress};
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Packet};
use std::collections::BTreeMap;

const FIRST_GAP: f64 = 0.5;
const STEP: f64 = 0.25;
const FAR: f64 = 1.5;
const EQUAL_S: f64 = 5e-6;
const EQUAL_SHARE: f64 = 0.05;
const BIN_S: f64 = 25e-6;
const BIN_SHARE: f64 = 0.25;
const MOST_ROUNDS: u32 = 30;
const MOST_LOST: u32 = 3;

/// The trains that it sends.
#[derive(Clone, Copy, Debug)]
pub struct Train {
    /// Packets per train.
    pub packets: u16,
    /// IP bytes of each packet.
    pub bytes: u32,
    /// Trains at each gap.
    pub trains: u32,
    /// How long to wait for the report of a train.
    pub timeout: Interval,
}

/// How the last gaps become an estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// Capacity of the bottleneck less competing traffic.
    Igi,
    /// The rate at which the trains arrive.
    Ptr,
}

/// The trains at one gap.
#[derive(Clone, Debug, Default)]
struct Round {
    gap_s: f64,
    /// Mean gap on arrival of each train.
    means_s: Vec<f64>,
    /// Competing traffic that each train met, bit/s.
    competing_bps: Vec<f64>,
}

/// The estimator.
pub struct Dispersion {
    train: Train,
    formula: Formula,
    /// Number of the current train.
    number: u32,
    /// Its next packet, and when that packet leaves or the wait for the report ends.
    index: u16,
    due: Time,
    lost: u32,
    rounds: u32,
    step_s: f64,
    bottleneck_bps: Option<f64>,
    round: Round,
    /// The result of the last round, if its gaps were equal.
    before: Option<f64>,
}

impl Dispersion {
    pub fn new(train: Train, formula: Formula) -> Self {
        Dispersion {
            train,
            formula,
            number: 0,
            index: 0,
            due: Time::NEVER,
            lost: 0,
            rounds: 0,
            step_s: 0.0,
            bottleneck_bps: None,
            round: Round::default(),
            before: None,
        }
    }

    fn bits(&self) -> f64 {
        8.0 * f64::from(self.train.bytes)
    }

    fn begin_train<P: Packet>(&mut self, now: Time, post: &mut Post<P>) -> Progress {
        self.number = self.number.wrapping_add(1);
        (self.index, self.due) = (0, now);
        self.go_on(now, post)
    }

    /// Sends the packets of the train that are due.
    fn go_on<P: Packet>(&mut self, now: Time, post: &mut Post<P>) -> Progress {
        let Train { packets, bytes, timeout, .. } = self.train;
        while self.index < packets && self.due <= now {
            post.send(
                Content::Train { train: self.number, index: self.index, packets },
                bytes.max(MESSAGE_BYTES),
            );
            self.index += 1;
            self.due += Interval::from_secs_f64(self.round.gap_s);
        }
        if self.index == packets {
            self.due = now + timeout;
        }
        Progress::Going
    }

    /// Progress after a round.
    fn end_round(&mut self, gaps_s: &[f64]) -> Progress {
        let arrived_s = mean(&self.round.means_s);
        let round = core::mem::take(&mut self.round);
        self.rounds += 1;
        if self.bottleneck_bps.is_none() {
            let last_s = mean(gaps_s);
            self.bottleneck_bps = Some(self.bits() / most_frequent(gaps_s));
            self.step_s = STEP * last_s;
            self.round.gap_s = FIRST_GAP * last_s + self.step_s;
            return Progress::Going;
        }
        let says = self.says(&round, arrived_s);
        let equal = arrived_s <= round.gap_s + equal_within(round.gap_s);
        match self.before {
            Some(first) if equal => return Progress::Known(first),
            _ if self.rounds > MOST_ROUNDS => return Progress::Known(says),
            _ => self.before = equal.then_some(says),
        }
        let far = arrived_s >= FAR * round.gap_s;
        self.round.gap_s = self.step_s + if far { 0.5 * (round.gap_s + arrived_s) } else { round.gap_s };
        Progress::Going
    }

    fn says(&self, round: &Round, arrived_s: f64) -> f64 {
        match self.formula {
            Formula::Ptr => self.bits() / arrived_s,
            Formula::Igi => {
                let mut competing = round.competing_bps.clone();
                competing.sort_by(f64::total_cmp);
                let median = competing.get(competing.len() / 2).copied().unwrap_or(0.0);
                self.bottleneck_bps.unwrap_or(0.0) - median
            }
        }
    }

    /// The competing traffic between a train's packets.
    fn competing_bps(&self, gaps_s: &[f64]) -> f64 {
        let bottleneck_bps = self.bottleneck_bps.unwrap_or(0.0);
        let least_s = self.bits() / bottleneck_bps;
        let sent_s = least_s.max(self.round.gap_s);
        let above = gaps_s.iter().filter(|&&gap| gap > sent_s + equal_within(sent_s));
        bottleneck_bps * above.map(|gap| gap - least_s).sum::<f64>() / gaps_s.iter().sum::<f64>()
    }

    fn end<P: Packet>(&mut self, now: Time, progress: Progress, post: &mut Post<P>) -> Progress {
        match progress {
            Progress::Going => self.begin_train(now, post),
            done => {
                self.due = Time::NEVER;
                done
            }
        }
    }
}

impl<P: Packet> Estimator<P> for Dispersion {
    fn begin(&mut self, now: Time, post: &mut Post<P>) -> Progress {
        let number = self.number;
        *self = Dispersion { number, ..Dispersion::new(self.train, self.formula) };
        self.begin_train(now, post)
    }

    fn gaps(&mut self, now: Time, train: u32, gaps: &[Interval], post: &mut Post<P>) -> Progress {
        if train != self.number || self.index < self.train.packets || self.due == Time::NEVER {
            return Progress::Going; // from a train whose wait has ended
        }
        let gaps_s: Vec<f64> = gaps.iter().map(|gap| gap.as_secs_f64()).collect();
        if gaps_s.iter().sum::<f64>() <= 0.0 {
            self.due = now; // no two consecutive packets arrived: treat the train as lost
            return Estimator::timer(self, now, post);
        }
        self.round.means_s.push(mean(&gaps_s));
        if self.bottleneck_bps.is_some() {
            self.round.competing_bps.push(self.competing_bps(&gaps_s));
        }
        let ended = self.round.means_s.len() as u32 >= self.train.trains;
        let progress = if ended { self.end_round(&gaps_s) } else { Progress::Going };
        self.end(now, progress, post)
    }

    fn wake(&self) -> Time {
        self.due
    }

    fn timer(&mut self, now: Time, post: &mut Post<P>) -> Progress {
        if self.index < self.train.packets {
            return self.go_on(now, post);
        }
        self.lost += 1;
        let progress = if self.lost < MOST_LOST { Progress::Going } else { Progress::Done };
        self.end(now, progress, post)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// By how much equal gaps may differ.
fn equal_within(gap_s: f64) -> f64 {
    EQUAL_S.min(EQUAL_SHARE * gap_s)
}

/// The mean of the gaps in the fullest bin and in its neighbours.
fn most_frequent(gaps_s: &[f64]) -> f64 {
    let width_s = BIN_S.min(BIN_SHARE * mean(gaps_s));
    let bin = |gap: f64| (gap / width_s) as i64;
    let mut counts: BTreeMap<i64, u32> = BTreeMap::new();
    for &gap in gaps_s {
        *counts.entry(bin(gap)).or_default() += 1;
    }
    let fullest = counts.iter().max_by_key(|&(&bin, &count)| (count, -bin)).map_or(0, |(&bin, _)| bin);
    let near: Vec<f64> = gaps_s.iter().copied().filter(|&gap| (bin(gap) - fullest).abs() <= 1).collect();
    mean(&near)
}

/// An arriving train from one router.
#[derive(Clone, Debug, Default)]
pub struct Arriving {
    train: u32,
    last: Option<(u16, Time)>,
    gaps: Vec<Interval>,
}

impl Arriving {
    /// A packet arrives. Returns the gaps of the whole train if it was the last packet.
    pub fn packet(&mut self, now: Time, train: u32, index: u16, packets: u16) -> Option<Vec<Interval>> {
        if self.train != train {
            *self = Arriving { train, ..Arriving::default() };
        }
        if let Some((before, at)) = self.last
            && before + 1 == index
        {
            self.gaps.push(now.since(at));
        }
        self.last = Some((index, now));
        (index + 1 == packets).then(|| core::mem::take(&mut self.gaps))
    }
}
