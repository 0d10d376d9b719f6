//! Sizes of files and habits of users, as Barford and Crovella describe them: Generating Representative Web
//! Workloads for Network and Server Performance Evaluation, SIGMETRICS 1998.

use super::error::{LONGEST_S, PlanError, bad, within};
use longfat_units::{Stream, bounded_pareto_at, math};
use serde::Deserialize;

/// The distributions that a SURGE user draws from.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Habits {
    /// Bytes of a file.
    #[serde(flatten)]
    pub sizes: FileSizes,
    /// Tail index of the number of files of an object; the least number is 1.
    pub files_shape: f64,
    /// Most files of an object.
    pub files_most: u64,
    /// Weibull shape of the OFF time between files.
    pub active_off_shape: f64,
    /// Weibull scale of the OFF time between files, seconds.
    pub active_off_scale_s: f64,
    /// Least OFF time between objects, seconds.
    pub inactive_off_least_s: f64,
    /// Tail index of the OFF time between objects.
    pub inactive_off_shape: f64,
}

/// Sizes of files with a lognormal body below a Pareto tail; the constants come from the scenario.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct FileSizes {
    /// Mean of the logarithm of a file's bytes, in the body.
    pub body_mu: f64,
    /// Standard deviation of that logarithm.
    pub body_sigma: f64,
    /// Share of files that lie in the tail.
    pub tail_share: f64,
    /// Where the tail begins and the body ends, bytes.
    pub tail_least_bytes: f64,
    /// Tail index.
    pub tail_shape: f64,
    /// Where the tail ends, bytes.
    pub largest_bytes: f64,
}

impl Habits {
    pub(super) fn check(&self, at: &str) -> Result<(), PlanError> {
        let key = |name: &str| format!("{at}.{name}");
        self.sizes.check(at)?;
        within(&key("files_most"), self.files_most as f64, 1.0, 1e6)?;
        for (name, shape) in [
            ("files_shape", self.files_shape),
            ("active_off_shape", self.active_off_shape),
            ("inactive_off_shape", self.inactive_off_shape),
        ] {
            within(&key(name), shape, 0.05, 100.0)?;
        }
        within(&key("active_off_scale_s"), self.active_off_scale_s, 0.0, LONGEST_S)?;
        within(&key("inactive_off_least_s"), self.inactive_off_least_s, 1e-6, LONGEST_S)
    }
}

impl FileSizes {
    pub(super) fn check(&self, at: &str) -> Result<(), PlanError> {
        let key = |name: &str| format!("{at}.{name}");
        within(&key("body_mu"), self.body_mu, 0.0, 30.0)?;
        within(&key("body_sigma"), self.body_sigma, 0.0, 10.0)?;
        within(&key("tail_share"), self.tail_share, 0.0, 1.0)?;
        within(&key("tail_least_bytes"), self.tail_least_bytes, 1.0, 1e12)?;
        // sizes of the body are drawn until one lies below the tail, so the body's middle has to lie there
        if self.body_mu > math::ln(self.tail_least_bytes) {
            return bad(key("body_mu"), "the middle of the body lies above tail_least_bytes");
        }
        within(&key("tail_shape"), self.tail_shape, 0.05, 100.0)?;
        within(&key("largest_bytes"), self.largest_bytes, self.tail_least_bytes, 1e15)
    }

    /// Draws the bytes of a file.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let unit = stream.unit();
        if unit < self.tail_share { self.tail(stream.unit()) } else { self.body(stream) }
    }

    /// Draws the bytes of a file from a uniform `unit`: values below the tail's share choose from the tail.
    pub fn at(&self, unit: f64, stream: &mut Stream) -> f64 {
        if unit < self.tail_share { self.tail(unit / self.tail_share) } else { self.body(stream) }
    }

    fn tail(&self, unit: f64) -> f64 {
        bounded_pareto_at(unit, self.tail_shape, self.tail_least_bytes, self.largest_bytes)
    }

    fn body(&self, stream: &mut Stream) -> f64 {
        loop {
            let bytes = stream.lognormal(self.body_mu, self.body_sigma);
            if bytes < self.tail_least_bytes {
                return bytes;
            }
        }
    }
}

impl Habits {
    /// Draws the number of files of an object.
    pub fn files(&self, stream: &mut Stream) -> u64 {
        (stream.pareto_from(self.files_shape, 1.0) as u64).clamp(1, self.files_most)
    }

    /// Draws the seconds between two files of an object.
    pub fn active_off_s(&self, stream: &mut Stream) -> f64 {
        stream.weibull(self.active_off_shape, self.active_off_scale_s)
    }

    /// Draws the seconds between two objects.
    pub fn inactive_off_s(&self, stream: &mut Stream) -> f64 {
        stream.pareto_from(self.inactive_off_shape, self.inactive_off_least_s)
    }
}
