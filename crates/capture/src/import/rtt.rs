//! Round-trip times: from the segments that an acknowledgement reports first, and from timestamps.

use super::seconds;
use std::collections::VecDeque;

/// The weight of a sample in the smoothed round-trip time (RFC 6298, alpha).
const WEIGHT: f64 = 1.0 / 8.0;
/// The most interfaces on which a connection's round trips are measured.
const MOST_INTERFACES: usize = 16;
/// A timestamp counts if its segments were sent within this part of the round trip (chosen here).
const SHARP: u64 = 10;
/// The most timestamps that wait for an echo in memory.
const MOST_STAMPS: usize = 1 << 17;

/// When the segments were sent that an acknowledgement reports first, ns: the first and the last of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    pub first_ns: u64,
    pub last_ns: u64,
}

impl Sent {
    pub const fn at(at_ns: u64) -> Self {
        Sent { first_ns: at_ns, last_ns: at_ns }
    }

    /// The same with others that the same acknowledgement reports.
    pub fn with(self, others: Option<Sent>) -> Self {
        let Sent { first_ns, last_ns } = others.unwrap_or(self);
        Sent { first_ns: self.first_ns.min(first_ns), last_ns: self.last_ns.max(last_ns) }
    }
}

/// Round-trip times that acknowledgements show on one interface.
#[derive(Clone, Default)]
pub struct Rtt {
    interface: u32,
    pub samples: u64,
    sum_s: f64,
    least_s: f64,
    pub smoothed_s: f64,
    /// The integral of the smoothed one, s^2, and since when, ns.
    area: f64,
    since_ns: u64,
    began_ns: u64,
}

impl Rtt {
    /// An acknowledgement arrives. The last of its segments has the round trip of the path; the sender
    /// smooths that of the first (RFC 6298, and RFC 7323 by timestamps), which may have waited for a delayed
    /// acknowledgement.
    pub fn sample(&mut self, now_ns: u64, sent: Sent) {
        let rtt_s = seconds(now_ns.saturating_sub(sent.last_ns));
        let waited_s = seconds(now_ns.saturating_sub(sent.first_ns));
        if self.samples == 0 {
            (self.least_s, self.smoothed_s) = (rtt_s, waited_s);
            (self.began_ns, self.since_ns) = (now_ns, now_ns);
        }
        self.area += self.smoothed_s * seconds(now_ns.saturating_sub(self.since_ns));
        self.since_ns = now_ns.max(self.since_ns);
        self.samples += 1;
        self.sum_s += rtt_s;
        self.least_s = self.least_s.min(rtt_s);
        self.smoothed_s += WEIGHT * (waited_s - self.smoothed_s);
    }

    /// Least, mean, and the mean of the smoothed one over time, s; NaN without a sample.
    pub fn summary(&self) -> [f64; 3] {
        if self.samples == 0 {
            return [f64::NAN; 3];
        }
        let span_s = seconds(self.since_ns - self.began_ns);
        let smoothed = if span_s > 0.0 { self.area / span_s } else { self.smoothed_s };
        [self.least_s, self.sum_s / self.samples as f64, smoothed]
    }
}

/// Those of all interfaces: acknowledgements are seen last where it is nearest to the sender.
#[derive(Default)]
pub struct Rtts(Vec<Rtt>);

impl Rtts {
    pub fn sample(&mut self, interface: u32, now_ns: u64, sent: Sent) {
        let known = self.0.iter().position(|rtt| rtt.interface == interface);
        let index = known.unwrap_or(self.0.len());
        if index == self.0.len() {
            if index == MOST_INTERFACES {
                return;
            }
            self.0.push(Rtt { interface, ..Rtt::default() });
        }
        self.0[index].sample(now_ns, sent);
    }

    /// Among the interfaces that saw at least half as many as the one that saw most, the one with the
    /// longest.
    pub fn longest(&self) -> Option<&Rtt> {
        let most = self.0.iter().map(|rtt| rtt.samples).max()?;
        let seeing = self.0.iter().filter(|rtt| 2 * rtt.samples >= most);
        seeing.max_by(|a, b| a.least_s.total_cmp(&b.least_s))
    }
}

/// A TSval, and when segments with it were sent, ns: the first and the last.
#[derive(Clone, Copy)]
struct Stamp {
    value: u32,
    first_ns: u64,
    last_ns: u64,
    /// When another interface showed it last.
    sight_ns: u64,
}

/// The timestamps of one direction that the other has not echoed yet.
#[derive(Default)]
pub struct Stamps {
    waiting: VecDeque<Stamp>,
    /// The first that was sent, and the last: they show how fast they tick.
    span: Option<[(u32, u64); 2]>,
}

impl Stamps {
    /// A segment with this one is sent.
    pub fn send(&mut self, value: u32, now_ns: u64) {
        let [first, _] = self.span.unwrap_or([(value, now_ns); 2]);
        self.span = Some([first, (value, now_ns)]);
        match self.waiting.back_mut() {
            Some(last) if last.value == value => last.last_ns = now_ns.max(last.last_ns),
            Some(last) if is_before(value, last.value) => {}
            _ => {
                self.waiting.push_back(Stamp { value, first_ns: now_ns, last_ns: now_ns, sight_ns: now_ns });
                if self.waiting.len() > MOST_STAMPS {
                    self.waiting.pop_front();
                }
            }
        }
    }

    /// Another interface shows a segment with this one.
    pub fn sight(&mut self, value: u32, now_ns: u64) {
        let index = self.waiting.partition_point(|stamp| is_before(stamp.value, value));
        if let Some(stamp) = self.waiting.get_mut(index).filter(|stamp| stamp.value == value) {
            stamp.sight_ns = now_ns.max(stamp.sight_ns);
        }
    }

    /// The other end echoes this one. Earlier ones are not echoed any more.
    pub fn echo(&mut self, value: u32) -> Echo {
        while self.waiting.front().is_some_and(|stamp| is_before(stamp.value, value)) {
            self.waiting.pop_front();
        }
        Echo(self.waiting.front().filter(|stamp| stamp.value == value).copied())
    }

    /// Nothing before now has a time to compare with.
    pub fn clear(&mut self) {
        *self = Stamps::default();
    }

    /// How much time has passed until a segment with this one, ns, as its sender counts; `None` if that is
    /// not known.
    pub fn elapsed_ns(&self, value: u32) -> Option<u64> {
        let [(first, first_ns), (last, last_ns)] = self.span?;
        let ticks = last.wrapping_sub(first);
        if ticks < 2 || is_before(last, first) || is_before(value, last) {
            return None;
        }
        let since = f64::from(value.wrapping_sub(last));
        Some((since * last_ns.saturating_sub(first_ns) as f64 / f64::from(ticks)) as u64)
    }
}

/// A timestamp that came back.
pub struct Echo(Option<Stamp>);

impl Echo {
    /// When the segment was sent that carried it, ns, if few enough did.
    pub fn sent_ns(&self, now_ns: u64) -> Option<u64> {
        let Stamp { first_ns, last_ns, .. } = self.0?;
        let sharp = last_ns - first_ns <= now_ns.saturating_sub(first_ns) / SHARP;
        sharp.then_some(first_ns)
    }

    /// How long ago the last interface showed it, ns.
    pub fn since_ns(&self, now_ns: u64) -> Option<u64> {
        self.0.map(|stamp| now_ns.saturating_sub(stamp.sight_ns))
    }
}

/// Whether a timestamp is older than another; they wrap (RFC 7323, section 5.2).
const fn is_before(value: u32, than: u32) -> bool {
    (value.wrapping_sub(than).cast_signed()) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smoothed_round_trip_time_moves_by_an_eighth_and_its_mean_is_over_time() {
        let mut rtt = Rtt::default();
        rtt.sample(1_000_000_000, Sent::at(900_000_000));
        rtt.sample(2_000_000_000, Sent::at(1_800_000_000));
        rtt.sample(5_000_000_000, Sent::at(4_888_000_000));
        let [least, mean, smoothed] = rtt.summary();
        assert_eq!(least, 0.1);
        assert!((mean - 0.412 / 3.0).abs() < 1e-12);
        // 0.1 for 1 s, then 0.1 + (0.2 - 0.1) / 8 = 0.1125 for 3 s
        assert!((smoothed - (0.1 + 3.0 * 0.1125) / 4.0).abs() < 1e-12, "{smoothed}");
    }

    #[test]
    fn a_timestamp_that_many_segments_carry_gives_no_round_trip() {
        let mut stamps = Stamps::default();
        for at_ns in [0, 10, 20, 30] {
            stamps.send(7, at_ns);
        }
        assert_eq!(stamps.echo(7).sent_ns(100), None, "30 ns of 100 are uncertain");
        assert_eq!(stamps.echo(7).sent_ns(1000), Some(0));
        stamps.send(8, 40);
        assert_eq!(stamps.echo(8).since_ns(100), Some(60));
        assert_eq!(stamps.echo(7).sent_ns(1000), None, "older than what was echoed");
        stamps.send(9, 60);
        stamps.send(9, 50);
        assert_eq!(stamps.echo(9).sent_ns(1000), Some(60), "two packets out of order");
    }
}
