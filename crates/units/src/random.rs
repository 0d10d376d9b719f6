//! One independent random stream per stochastic component, so that adding a component does not change any
//! other draw.

use crate::math;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// The name of a component, as far as it has been written: its FNV-1a hash, so that longer names cost no
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(u64);

impl Name {
    /// Its hash.
    pub const fn hash(self) -> u64 {
        self.0
    }

    /// The empty name.
    pub const EMPTY: Name = Name(0xcbf2_9ce4_8422_2325);

    /// The name that this text makes of it.
    #[must_use]
    pub fn and(self, text: &str) -> Self {
        Name(text.bytes().fold(self.0, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The same with a number in decimal digits.
    #[must_use]
    pub fn and_number(self, number: u64) -> Self {
        let mut name = self;
        let mut unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0));
        while unit > 0 {
            let digit = b'0' + (number / unit % 10) as u8;
            name = Name((name.0 ^ u64::from(digit)).wrapping_mul(0x0100_0000_01b3));
            unit /= 10;
        }
        name
    }
}

/// A random stream, seeded from the run's seed and the component's name.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the component `name` in the run with this seed.
    pub fn new(run_seed: u64, name: &str) -> Self {
        Stream::of(run_seed, Name::EMPTY.and(name))
    }

    /// The same of a name that was written piece by piece.
    pub fn of(run_seed: u64, name: Name) -> Self {
        // FNV-1a over the name, then SplitMix64 (in `seed_from_u64`) over both: equal names give equal
        // streams, names that differ anywhere give unrelated ones.
        let seed = name.0 ^ run_seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Stream(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    #[inline]
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number uniform in [0, n); 0 when n is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * math::ln(1.0 - self.unit())
    }

    /// Pareto with this shape (tail index) and mean, shape > 1: least value mean (shape - 1) / shape.
    pub fn pareto(&mut self, shape: f64, mean: f64) -> f64 {
        self.pareto_from(shape, mean * (shape - 1.0) / shape)
    }

    /// Pareto with this shape (tail index) and least value.
    pub fn pareto_from(&mut self, shape: f64, least: f64) -> f64 {
        least * math::pow(1.0 - self.unit(), -1.0 / shape)
    }

    /// Pareto with this shape, bounded by two values: as if larger draws were repeated.
    pub fn bounded_pareto(&mut self, shape: f64, least: f64, most: f64) -> f64 {
        bounded_pareto_at(self.unit(), shape, least, most)
    }

    /// Normal with mean 0 and standard deviation 1 (Box, Muller 1958; one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = math::sqrt(-2.0 * math::ln(1.0 - self.unit()));
        radius * math::sin(2.0 * core::f64::consts::PI * self.unit())
    }

    /// e to the power of a normal draw with this mean and standard deviation.
    pub fn lognormal(&mut self, mu: f64, sigma: f64) -> f64 {
        math::exp(mu + sigma * self.normal())
    }

    /// Weibull: 1 - exp(-(x / scale)^shape).
    pub fn weibull(&mut self, shape: f64, scale: f64) -> f64 {
        scale * math::pow(-math::ln(1.0 - self.unit()), 1.0 / shape)
    }

    /// The number of failures before the first success of trials that succeed with probability p in (0, 1].
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 0;
        }
        (math::ln(1.0 - self.unit()) / math::ln_1p(-p)) as u64
    }
}

/// The value below which a share `unit` of a bounded Pareto distribution lies.
pub fn bounded_pareto_at(unit: f64, shape: f64, least: f64, most: f64) -> f64 {
    let beyond = math::pow(least / most, shape);
    (least * math::pow(1.0 - unit * (1.0 - beyond), -1.0 / shape)).min(most)
}

/// Uniform draws that fill [0, 1) evenly: of every [`Strata::NUMBER`] in a row, one lies in each part of that
/// size (stratified sampling, with the parts in random order). The mean of many draws is close to the
/// distribution's, even with a heavy tail, while each single draw is uniform.
#[derive(Clone, Debug)]
pub struct Strata {
    stream: Stream,
    left: Vec<u32>,
}

impl Strata {
    /// Parts of [0, 1); chosen here.
    pub const NUMBER: u32 = 1000;

    /// Draws from this stream.
    pub const fn new(stream: Stream) -> Self {
        Strata { stream, left: Vec::new() }
    }

    /// The next draw.
    pub fn unit(&mut self) -> f64 {
        if self.left.is_empty() {
            self.left.extend(0..Self::NUMBER);
        }
        let place = self.stream.below(self.left.len() as u64) as usize;
        let part = self.left.swap_remove(place);
        (f64::from(part) + self.stream.unit()) / f64::from(Self::NUMBER)
    }
}

/// Values with weights, as measured: each is drawn as often as its weight is of all weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    values: Arc<[f64]>,
    /// For each value, its weight plus those of all values before it.
    up_to: Arc<[f64]>,
}

impl Empirical {
    /// From rows of value and weight. The error says why they are not a distribution.
    pub fn new(rows: &[(f64, f64)]) -> Result<Self, &'static str> {
        if rows.is_empty() {
            return Err("there is no value");
        }
        if rows.iter().any(|&(value, weight)| !value.is_finite() || !(0.0..=1e15).contains(&weight)) {
            return Err("values have to be finite, and weights from 0 to 1e15");
        }
        let mut sum = 0.0;
        let weights = rows.iter().map(|&(_, weight)| {
            sum += weight;
            sum
        });
        let up_to: Arc<[f64]> = weights.collect();
        if sum <= 0.0 {
            return Err("all weights are 0");
        }
        Ok(Empirical { values: rows.iter().map(|row| row.0).collect(), up_to })
    }

    /// The value at a share `unit`, below 1, of all weights, in the order of the rows.
    pub fn at(&self, unit: f64) -> f64 {
        let last = self.up_to.len() - 1;
        let place = self.up_to.partition_point(|&sum| sum <= unit * self.up_to[last]);
        self.values[place.min(last)]
    }

    /// All values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// A quantity that is fixed, or drawn once per component.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always this value.
    Fixed(f64),
    /// Uniform between the two values.
    Uniform(f64, f64),
    /// Exponential above a least value (the first number) with this mean (the second).
    Exponential(f64, f64),
    /// One of many values.
    Empirical(Empirical),
}

impl Distribution {
    /// One draw. A fixed value does not use the stream.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Distribution::Fixed(x) => *x,
            Distribution::Uniform(a, b) => stream.uniform(*a, *b),
            Distribution::Exponential(least, mean) => least + stream.exponential(mean - least),
            Distribution::Empirical(values) => values.at(stream.unit()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(n: u32, mut draw: impl FnMut() -> f64) -> f64 {
        (0..n).map(|_| draw()).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn a_name_in_pieces_is_the_whole_name() {
        for number in [0, 7, 10, 99, 100, 1_234_567_890, u64::MAX] {
            let pieces = Name::EMPTY.and("background/").and_number(number).and("/rtt");
            assert_eq!(pieces, Name::EMPTY.and(&format!("background/{number}/rtt")));
        }
    }

    #[test]
    fn the_same_name_and_seed_give_the_same_stream_and_others_do_not() {
        let draw = |seed, name| Stream::new(seed, name).unit();
        assert_eq!(draw(1, "flow/1/start"), draw(1, "flow/1/start"));
        assert_ne!(draw(1, "flow/1/start"), draw(2, "flow/1/start"));
        assert_ne!(draw(1, "flow/1/start"), draw(1, "flow/2/start"));
    }

    #[test]
    fn an_exponential_with_a_least_value_keeps_its_mean_and_decays_from_there() {
        let mut s = Stream::new(11, "least");
        let drawn: Vec<f64> =
            (0..100_000).map(|_| Distribution::Exponential(10.0, 100.0).draw(&mut s)).collect();
        assert!(drawn.iter().all(|&x| x >= 10.0));
        assert!((drawn.iter().sum::<f64>() / 1e5 - 100.0).abs() < 1.5);
        // half of it lies below 10 + 90 ln 2 = 72.4, and 13.5 % above 10 + 2 x 90
        let above = |x: f64| drawn.iter().filter(|&&d| d > x).count() as f64 / 1e5;
        assert!((above(72.38) - 0.5).abs() < 0.01 && (above(190.0) - 0.1353).abs() < 0.005);
    }

    #[test]
    fn distributions_have_their_means() {
        let mut s = Stream::new(7, "means");
        assert!((mean(200_000, || s.exponential(3.0)) - 3.0).abs() < 0.03);
        assert!((mean(200_000, || s.uniform(2.0, 4.0)) - 3.0).abs() < 0.01);
        assert!((mean(200_000, || s.pareto(3.0, 6.0)) - 6.0).abs() < 0.1);
        assert!((mean(200_000, || s.geometric(0.01) as f64) - 99.0).abs() < 1.0);
        assert!((mean(200_000, || s.below(10) as f64) - 4.5).abs() < 0.03);
        assert!((mean(200_000, || s.pareto_from(3.0, 4.0)) - 6.0).abs() < 0.1);
        assert!(mean(200_000, || s.normal()).abs() < 0.01);
        assert!((mean(200_000, || s.lognormal(0.0, 1.0)) - 1.6487).abs() < 0.03); // sqrt(e)
        assert!((mean(200_000, || s.weibull(2.0, 1.0)) - 0.8862).abs() < 0.005); // Gamma(3/2)
    }

    #[test]
    fn normal_draws_have_the_variance_and_the_tails_of_a_table() {
        let mut s = Stream::new(7, "normal");
        let draws: Vec<f64> = (0..200_000).map(|_| s.normal()).collect();
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 200_000.0;
        assert!((variance - 1.0).abs() < 0.015, "{variance}");
        let beyond = |z: f64| draws.iter().filter(|x| x.abs() > z).count() as f64 / 200_000.0;
        assert!((beyond(1.0) - 0.3173).abs() < 0.004 && (beyond(2.0) - 0.0455).abs() < 0.002);
    }

    #[test]
    fn strata_are_each_met_once_in_as_many_draws() {
        let mut s = Strata::new(Stream::new(7, "strata"));
        for _ in 0..3 {
            let draws: Vec<f64> = (0..Strata::NUMBER).map(|_| s.unit()).collect();
            assert!(draws.windows(2).any(|pair| pair[1] < pair[0]));
            let mut parts: Vec<u32> = draws.iter().map(|x| (x * 1000.0) as u32).collect();
            parts.sort_unstable();
            assert!(parts.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn measured_values_come_as_often_as_their_weights_say() {
        let measured = Empirical::new(&[(5.0, 1.0), (3.0, 0.0), (7.0, 3.0)]);
        let drawn = Distribution::Empirical(measured.unwrap());
        let mut s = Stream::new(7, "measured");
        let draws: Vec<f64> = (0..100_000).map(|_| drawn.draw(&mut s)).collect();
        assert!(draws.iter().all(|&x| x == 5.0 || x == 7.0));
        assert!((draws.iter().filter(|&&x| x == 5.0).count() as f64 / 1e5 - 0.25).abs() < 0.005);
        for rows in
            [&[][..], &[(1.0, 0.0)], &[(1.0, -1.0), (2.0, 3.0)], &[(f64::NAN, 1.0)], &[(1.0, f64::NAN)]]
        {
            assert!(Empirical::new(rows).is_err(), "{rows:?}");
        }
    }

    #[test]
    fn pareto_tail_has_its_index() {
        let mut s = Stream::new(7, "tail");
        let least = 0.2 / 1.2;
        let over = (0..200_000).filter(|_| s.pareto(1.2, 1.0) > 10.0 * least).count() as f64 / 200_000.0;
        assert!((over - math::pow(10.0, -1.2)).abs() < 0.003, "{over}");
    }
}
