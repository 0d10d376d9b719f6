//! Helpers for tests of distributions.

use longfat_units::math;

/// Number of draws of a sample.
pub const DRAWS: usize = 20_000;
/// Kolmogorov-Smirnov: one in a hundred samples of the right distribution exceeds it.
const ONE_PERCENT: f64 = 1.628;

/// Draws a sample and sorts it.
pub fn sorted(draw: impl FnMut() -> f64) -> Vec<f64> {
    let mut xs: Vec<f64> = core::iter::repeat_with(draw).take(DRAWS).collect();
    xs.sort_by(f64::total_cmp);
    xs
}

/// Asserts that the samples' distribution is nowhere further from `cdf` than chance allows.
pub fn assert_fits(sorted: &[f64], cdf: impl Fn(f64) -> f64) {
    let n = sorted.len() as f64;
    let distance = sorted.iter().enumerate().fold(0.0_f64, |far, (i, &x)| {
        let p = cdf(x);
        far.max((p - i as f64 / n).abs()).max(((i + 1) as f64 / n - p).abs())
    });
    assert!(distance * n.sqrt() < ONE_PERCENT, "{distance}");
}

/// The normal distribution function, by integrating the density with Simpson's rule.
pub fn normal_cdf(z: f64) -> f64 {
    let (from, steps) = (-8.0, 400);
    let h = (z - from) / f64::from(steps);
    let density = |i: i32| math::exp(-0.5 * (from + f64::from(i) * h) * (from + f64::from(i) * h));
    let weight = |i: i32| {
        if i == 0 || i == steps {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    let sum: f64 = (0..=steps).map(|i| weight(i) * density(i)).sum();
    sum * h / 3.0 / math::sqrt(2.0 * core::f64::consts::PI)
}
