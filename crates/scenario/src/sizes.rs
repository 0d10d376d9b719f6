//! Sizes of files and habits of users, as Barford and Crovella describe them: Generating Representative Web
//! Workloads for Network and Server Performance Evaluation, SIGMETRICS 1998.

use crate::sums::sum;
use longfat_units::{Stream, bounded_pareto_at, math};
use serde::{Deserialize, Serialize};

/// The distributions that a SURGE user draws from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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

impl FileSizes {
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

impl FileSizes {
    /// Whether at least half of the lognormal is below the tail; sizes are drawn again until they are.
    pub fn body_fits(&self) -> bool {
        self.body_mu <= math::ln(self.tail_least_bytes)
    }

    /// The share of files with more bytes.
    pub fn larger(&self, bytes: f64) -> f64 {
        if bytes >= self.largest_bytes {
            return 0.0;
        }
        if bytes >= self.tail_least_bytes {
            let beyond = math::pow(self.tail_least_bytes / bytes, self.tail_shape);
            let end = math::pow(self.tail_least_bytes / self.largest_bytes, self.tail_shape);
            return self.tail_share * (beyond - end) / (1.0 - end);
        }
        let body = |bytes: f64| normal_cdf((math::ln(bytes) - self.body_mu) / self.body_sigma);
        1.0 - (1.0 - self.tail_share) * body(bytes) / body(self.tail_least_bytes)
    }

    /// The mean size of a file, bytes.
    pub fn mean_bytes(&self) -> f64 {
        let (mu, sigma, least) = (self.body_mu, self.body_sigma, math::ln(self.tail_least_bytes));
        // a lognormal weighted by its size is one with a greater mu
        let weighted = normal_cdf((least - (mu + sigma * sigma)) / sigma);
        let body = math::exp(mu + 0.5 * sigma * sigma) * weighted / normal_cdf((least - mu) / sigma);
        let (ratio, shape) = (self.tail_least_bytes / self.largest_bytes, self.tail_shape);
        let tail = if ratio == 1.0 {
            self.tail_least_bytes
        } else {
            let stretch = if shape == 1.0 {
                -math::ln(ratio)
            } else {
                (1.0 - math::pow(ratio, shape - 1.0)) / (shape - 1.0)
            };
            self.tail_least_bytes * shape * stretch / (1.0 - math::pow(ratio, shape))
        };
        (1.0 - self.tail_share) * body + self.tail_share * tail
    }
}

/// The standard normal distribution.
fn normal_cdf(x: f64) -> f64 {
    0.5 * (1.0 + math::erf(x / std::f64::consts::SQRT_2))
}

impl Habits {
    /// The mean number of files of an object.
    pub fn mean_files(&self) -> f64 {
        let shares: Vec<f64> =
            (1..=self.files_most).map(|n| math::pow(n as f64, -self.files_shape)).collect();
        sum(&shares)
    }

    /// The mean time between two files of an object, s.
    pub fn mean_active_off_s(&self) -> f64 {
        self.active_off_scale_s * math::gamma(1.0 + 1.0 / self.active_off_shape)
    }

    /// The mean time between two objects, s.
    pub fn mean_inactive_off_s(&self) -> f64 {
        self.inactive_off_least_s * self.inactive_off_shape / (self.inactive_off_shape - 1.0)
    }

    /// The mean time of a file on an idle path, s: handshake, doubling windows, and its bits at the path's
    /// rate.
    ///
    /// Counts a round trip for the SYN exchange and one for each window, from the initial one on; no losses,
    /// no queue.
    fn mean_transfer_s(&self, rtt_s: f64, mss_bytes: f64, window: f64, rate_bps: f64) -> f64 {
        let (mut rounds, mut sent, mut window, mut share) = (0.0, 0.0, window, 1.0);
        while share > 0.0 {
            rounds += share; // the share of files that need another round
            sent += window * mss_bytes;
            window *= 2.0;
            share = self.sizes.larger(sent);
        }
        rtt_s * (1.0 + rounds) + 8.0 * self.sizes.mean_bytes() / rate_bps
    }

    /// The load of one user on an idle path, bit/s of IP: an object's bytes over the user's mean cycle. The
    /// window is the initial one, in segments.
    pub fn offered_bps(
        &self,
        rtt_s: f64,
        mss_bytes: f64,
        header_bytes: f64,
        window: f64,
        rate_bps: f64,
    ) -> f64 {
        let files = self.mean_files();
        let cycle_s = files * self.mean_transfer_s(rtt_s, mss_bytes, window, rate_bps)
            + (files - 1.0) * self.mean_active_off_s()
            + self.mean_inactive_off_s();
        let packets = 1.0 + header_bytes / mss_bytes;
        8.0 * files * self.sizes.mean_bytes() * packets / cycle_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Barford and Crovella print: sizes have no end.
    const PRINTED: Habits = Habits {
        sizes: FileSizes {
            body_mu: 9.357,
            body_sigma: 1.318,
            tail_share: 0.07,
            tail_least_bytes: 133e3,
            tail_shape: 1.1,
            largest_bytes: f64::INFINITY,
        },
        files_shape: 2.43,
        files_most: 100_000,
        active_off_shape: 1.46,
        active_off_scale_s: 0.382,
        inactive_off_least_s: 1.0,
        inactive_off_shape: 1.5,
    };

    fn near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found} is not about {expected}");
    }

    #[test]
    fn means_are_those_of_the_printed_distributions() {
        // a Pareto tail of index 1.1 from 133 kB has the mean 11 x 133 kB; a lognormal exp(mu + sigma^2 / 2)
        let tail = FileSizes { tail_share: 1.0, largest_bytes: 1e300, ..PRINTED.sizes };
        near(tail.mean_bytes() / (11.0 * 133e3), 1.0, 1e-6);
        let whole =
            FileSizes { tail_share: 0.0, tail_least_bytes: 1e15, largest_bytes: 1e16, ..PRINTED.sizes };
        near(whole.mean_bytes() / 27_597.0, 1.0, 1e-3);
        near(PRINTED.mean_inactive_off_s(), 3.0, 0.0);
        near(PRINTED.mean_active_off_s(), 0.346, 1e-3);
        // zeta(2.43)
        near(PRINTED.mean_files(), 1.370, 1e-3);
    }

    #[test]
    fn the_share_of_larger_files_is_that_of_tables() {
        // half of the lognormal lies above its median; of all files 3.2 % of the body is drawn again, 7 % is
        // tail
        let sizes = PRINTED.sizes;
        near(sizes.larger(math::exp(9.357)), 1.0 - 0.93 * 0.5 / 0.9680, 1e-3);
        near(sizes.larger(133e3), 0.07, 1e-9);
        near(sizes.larger(1.33e6), 0.07 * math::pow(10.0, -1.1), 1e-9);
        near(FileSizes { largest_bytes: 10e6, ..sizes }.larger(10e6), 0.0, 0.0);
    }
}
