//! Metrics of rates and of sampled counters. `python/longfat/runs/metrics.py` has their definitions and
//! sources.
//!
//! They round as NumPy does, which computed them in earlier versions: a change of the order of operations
//! would change results. Counters are cumulative bytes, sampled at increasing times in seconds.

/// A sampled counter.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    /// When it was sampled, s.
    pub time: &'a [f64],
    /// Bytes so far, as many as there are times.
    pub bytes: &'a [f64],
}

impl Counter<'_> {
    /// The first and the last time; none if there are fewer than two samples.
    fn ends(&self) -> Option<(f64, f64)> {
        if self.time.len() < 2 { None } else { Some((self.time[0], self.time[self.time.len() - 1])) }
    }

    /// The counter at a time, on a straight line between samples; before the first and after the last one it
    /// rests.
    fn at(&self, time: f64) -> f64 {
        let after = self.time.partition_point(|&sampled| sampled <= time);
        let last = self.time.len() - 1;
        if after == 0 {
            return self.bytes[0];
        }
        let before = after - 1;
        if before == last || self.time[before] == time {
            return self.bytes[before];
        }
        let slope = (self.bytes[after] - self.bytes[before]) / (self.time[after] - self.time[before]);
        slope * (time - self.time[before]) + self.bytes[before]
    }

    /// The fading average of the rate, bit/s, at times `sampling_s` apart from the first sample on.
    ///
    /// The average covers about `averaging_s`; without it nothing is averaged. Nothing if there are fewer
    /// than two samples.
    #[must_use]
    pub fn short_term_throughput_bps(&self, averaging_s: f64, sampling_s: f64) -> Vec<(f64, f64)> {
        let Some((begin, end)) = self.ends() else { return Vec::new() };
        let steps = ((end - begin) / sampling_s).round_ties_even().max(1.0) as usize;
        let weight = if averaging_s > 0.0 { (sampling_s / averaging_s).min(1.0) } else { 1.0 };
        let mut average = 0.0;
        let mut earlier = self.at(begin);
        let mut averages = vec![(begin, average)];
        for step in 1..=steps {
            let time = begin + sampling_s * step as f64;
            let bytes = self.at(time);
            average += weight * ((bytes - earlier) * (8.0 / sampling_s) - average);
            earlier = bytes;
            averages.push((time, average));
        }
        averages
    }

    /// The time from `start_s` until the fading average reaches a share of the mean over the rest of the
    /// samples.
    #[must_use]
    pub fn convergence_time_s(
        &self,
        start_s: f64,
        averaging_s: f64,
        sampling_s: f64,
        share: f64,
    ) -> Option<f64> {
        let later = self.time.partition_point(|&sampled| sampled <= start_s);
        if later == self.time.len() {
            return None;
        }
        let time = [&[start_s], &self.time[later..]].concat();
        let bytes = [&[self.at(start_s)], &self.bytes[later..]].concat();
        let rest = Counter { time: &time, bytes: &bytes };
        let (begin, end) = rest.ends()?;
        let mean = 8.0 * (rest.at(end) - rest.at(begin)) / (end - begin);
        let averages = rest.short_term_throughput_bps(averaging_s, sampling_s);
        let reached = averages.iter().find(|(_, average)| mean > 0.0 && *average >= share * mean)?;
        Some(reached.0 - start_s)
    }

    /// The time from `start_s` until the fading average of this counter reaches a share of another one's.
    #[must_use]
    pub fn time_to_share_s(
        &self,
        other: &Counter<'_>,
        start_s: f64,
        averaging_s: f64,
        sampling_s: f64,
        share: f64,
    ) -> Option<f64> {
        let own = self.short_term_throughput_bps(averaging_s, sampling_s);
        let others = other.short_term_throughput_bps(averaging_s, sampling_s);
        let reached = |&((time, own), (_, other)): &((f64, f64), (f64, f64))| {
            time > start_s && own > 0.0 && own >= share * other
        };
        own.into_iter().zip(others).find(reached).map(|((time, _), _)| time - start_s)
    }

    /// The coefficient of variation of the mean rates over whole spans between two times.
    #[must_use]
    pub fn variation(&self, (begin, end): (f64, f64), span_s: f64) -> f64 {
        if self.time.is_empty() {
            return f64::NAN;
        }
        let edges = ((end - begin) / span_s).ceil().max(0.0) as usize;
        let step = (begin + span_s) - begin; // as NumPy's `arange` rounds it
        let bytes: Vec<f64> = (0..edges).map(|edge| self.at(begin + edge as f64 * step)).collect();
        let gains: Vec<f64> = bytes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        variation(&gains)
    }
}

/// The coefficient of variation: the population's standard deviation over the mean; NaN if that is not
/// positive.
#[must_use]
pub fn variation(values: &[f64]) -> f64 {
    let number = values.len() as f64;
    let middle = sum(values) / number;
    let squares: Vec<f64> = values.iter().map(|x| (x - middle) * (x - middle)).collect();
    if middle > 0.0 { (sum(&squares) / number).sqrt() / middle } else { f64::NAN }
}

/// The sum as NumPy rounds it: eight sums side by side within 128 values, halves of what is longer.
#[must_use]
pub fn sum(values: &[f64]) -> f64 {
    if values.len() < 8 {
        return values.iter().sum();
    }
    if values.len() > 128 {
        let (first, second) = values.split_at(values.len() / 16 * 8);
        return sum(first) + sum(second);
    }
    let (eights, rest) = values.split_at(values.len() / 8 * 8);
    let mut sums = [0.0; 8];
    for eight in eights.chunks_exact(8) {
        for (sum, value) in sums.iter_mut().zip(eight) {
            *sum += value;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, value| sum + value)
}
