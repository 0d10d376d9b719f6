//! Data Center TCP (Alizadeh, Greenberg, Maltz, Padhye, Patel, Prabhakar, Sengupta, Sridharan: SIGCOMM 2010;
//! RFC 8257): the window shrinks in proportion to the share of packets that a queue has marked, so a queue
//! that marks above a threshold K stays short and is never empty.
//!
//! ```text
//! once a window:  M     <- marked / acknowledged
//!                 alpha <- (1 - g) alpha + g M
//! Mark:           cwnd  <- cwnd (1 - alpha / 2)      (at most once a window)
//! Ack, Loss:      standard TCP
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `g` | 1/16 | | RFC 8257, section 4.2 | `linux`: a shift of 4, dctcp_shift_g |
//! | `alpha` | 1 | | RFC 8257, section 4.2 (initial value); Linux, dctcp_alpha_on_init | none |
//! | loss | 1/2 | of cwnd | RFC 8257, section 3.5; Linux, dctcp_react_to_loss | none |
//! | what is counted | segments | | Linux, delivered and delivered_ce | RFC 8257 counts bytes; all segments are full but the last |
//! | alpha in `linux` | 1/1024 | | Linux, DCTCP_MAX_ALPHA | below 16/1024 it falls to 0 at once, min_not_zero |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, MarkSample, Window};
use super::row::{Properties, Row};
use crate::feedback::Feedback;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style};

/// The registry row.
pub const ROW: Row<Dctcp> = Row {
    entry: Entry {
        name: "dctcp",
        title: "Data Center TCP",
        aliases: &[],
        citation: "Bensley, Thaler, Balasubramanian, Eggert, Judd: Data Center TCP (DCTCP), RFC 8257, 2017",
        page: "dctcp",
        parameters: &[
            Parameter::choice("variant", &["rfc8257", "linux"], "RFC 8257, or Linux's whole numbers"),
            Parameter::number(
                "g",
                0.0625,
                (1e-4, 1.0),
                "",
                "weight of a window in alpha (variant rfc8257 only)",
            ),
            Parameter::number("alpha", 1.0, (0.0, 1.0), "", "share of marks at the beginning"),
        ],
        style: Some(Style::new("#0072b2", "P")),
    },
    linux_module: Some("dctcp"),
    properties: Properties { feedback: Feedback::Dctcp, ..Properties::DEFAULT },
    build: Dctcp::build,
};

const LINUX_SHIFT: u32 = 4;
const LINUX_MOST: u64 = 1024;

/// How alpha is kept.
#[derive(Clone, Copy, Debug)]
enum Alpha {
    Rfc {
        value: f64,
        g: f64,
    },
    /// In units of 1/1024.
    Linux(u64),
}

/// RFC 8257, section 3.3, step 6.
fn smoothed(alpha: f64, g: f64, marked: f64) -> f64 {
    (1.0 - g) * alpha + g * marked
}

/// Linux, dctcp_update_alpha.
fn smoothed_by_linux(alpha: u64, marked: u64, delivered: u64) -> u64 {
    let decayed = match alpha >> LINUX_SHIFT {
        0 => 0,
        step => alpha - step,
    };
    let share = (marked << (10 - LINUX_SHIFT)) / delivered.max(1);
    (decayed + share).min(LINUX_MOST)
}

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    alpha: Alpha,
    /// The window of observation ends when this segment is acknowledged.
    window_end: u64,
    delivered: u64,
    marked: u64,
}

impl Dctcp {
    fn build(p: &Parameters) -> Self {
        let first = p.number("alpha");
        let alpha = match p.word("variant") {
            "linux" => Alpha::Linux((first * LINUX_MOST as f64) as u64),
            _ => Alpha::Rfc { value: first, g: p.number("g") },
        };
        Dctcp { alpha, window_end: 0, delivered: 0, marked: 0 }
    }

    fn count(&mut self, sample: &MarkSample) {
        self.delivered += sample.delivered;
        self.marked += sample.marked;
    }

    fn end_window(&mut self, next_segment: u64) {
        let (marked, delivered) = (self.marked.min(self.delivered), self.delivered);
        self.alpha = match self.alpha {
            Alpha::Rfc { value, g } => {
                Alpha::Rfc { value: smoothed(value, g, marked as f64 / delivered.max(1) as f64), g }
            }
            Alpha::Linux(alpha) => Alpha::Linux(smoothed_by_linux(alpha, marked, delivered)),
        };
        self.window_end = next_segment;
        (self.delivered, self.marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        w.cwnd += standard_increase(w.cwnd, ack.acked);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = match (event.cause, self.alpha) {
            (Cause::Mark, Alpha::Rfc { value, .. }) => w.cwnd * (1.0 - 0.5 * value),
            (Cause::Mark, Alpha::Linux(alpha)) => {
                let cwnd = w.cwnd as u64;
                (cwnd - ((cwnd * alpha) >> 11)).max(2) as f64
            }
            (_, Alpha::Rfc { .. }) => standard_decrease(w.cwnd),
            (_, Alpha::Linux(_)) => ((w.cwnd as u64) >> 1).max(2) as f64,
        };
        w.ssthresh = w.ssthresh.min(w.cwnd);
    }

    fn on_marks(&mut self, sample: &MarkSample, _w: &mut Window) {
        match self.alpha {
            Alpha::Rfc { .. } => {
                self.count(sample);
                if sample.unacknowledged > self.window_end {
                    self.end_window(sample.next_segment);
                }
            }
            Alpha::Linux(_) => {
                // in_ack_event comes before the acknowledgement is counted
                if sample.unacknowledged >= self.window_end {
                    self.end_window(sample.next_segment);
                }
                self.count(sample);
            }
        }
    }

    fn internals(&self, out: &mut Internals) {
        let alpha = match self.alpha {
            Alpha::Rfc { value, .. } => value,
            Alpha::Linux(alpha) => alpha as f64 / LINUX_MOST as f64,
        };
        out.push(("alpha", alpha));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{congestion, instance, loss, window};
    use super::*;
    use longfat_units::{Interval, Time};

    /// Windows of 20 segments, of which `marked` are marked, each acknowledged singly; alpha after each.
    fn windows(variant: &str, marked: &[u64]) -> Vec<f64> {
        let mut c = instance(&ROW, &[("variant", variant)]);
        let mut alphas = Vec::new();
        for (i, &marked) in (0..).zip(marked) {
            for n in 0..20 {
                let unacknowledged = 20 * i + n + 1;
                let sample = MarkSample {
                    now: Time::ZERO,
                    delivered: 1,
                    marked: u64::from(n < marked),
                    next_segment: unacknowledged + 20,
                    unacknowledged,
                    srtt: Interval::from_millis(1),
                };
                c.on_marks(&sample, &mut window(20.0, 2.0));
            }
            let mut internals = Internals::default();
            c.internals(&mut internals);
            alphas.extend(internals.iter().map(|(_, alpha)| alpha));
        }
        alphas
    }

    #[test]
    fn alpha_is_an_average_of_the_windows_shares_with_a_weight_of_a_sixteenth() {
        // The first acknowledgement ends a window, and each 21st after it: segments 2 to 22, 23 to 43 and 44
        // to 64. Marked are 1 to 20 and 61 to 70.
        let found = windows("rfc8257", &[20, 0, 0, 10]);
        let (first, second) = (15.0 / 16.0 + 19.0 / 21.0 / 16.0, 0.931_919_6);
        let third = 15.0 / 16.0 * second + 4.0 / 21.0 / 16.0;
        for (found, expected) in found.iter().zip([1.0, first, second, third]) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn a_mark_takes_half_of_alpha_and_a_loss_takes_half() {
        for variant in ["rfc8257", "linux"] {
            for (alpha, left) in [(1.0, 500.0), (0.5, 750.0), (0.0, 1000.0)] {
                let given = [
                    ("alpha".to_owned(), longfat_units::parameters::Value::Number(alpha)),
                    ("variant".to_owned(), longfat_units::parameters::Value::Word(variant.to_owned())),
                ];
                let mut c = ROW.instance(&given).expect("declared parameters");
                let mut w = window(1000.0, 2.0);
                c.on_congestion(&congestion(Cause::Mark), &mut w);
                assert_eq!(w.ssthresh, left, "{variant}, alpha {alpha}");
                for event in [loss(), congestion(Cause::Timeout)] {
                    c.on_congestion(&event, &mut w);
                    assert_eq!(w.ssthresh, 500.0, "{variant}, alpha {alpha}");
                }
            }
        }
    }

    #[test]
    fn linux_counts_alpha_in_1024ths_and_forgets_the_last_16_at_once() {
        // 1024 - 64 = 960; 1024 - 64 + 20 x 64 / 20 = 1024
        assert_eq!(smoothed_by_linux(1024, 0, 20), 960);
        assert_eq!(smoothed_by_linux(1024, 20, 20), 1024);
        assert_eq!(smoothed_by_linux(160, 1, 20), 160 - 10 + 3);
        assert_eq!(smoothed_by_linux(16, 0, 20), 15);
        assert_eq!(smoothed_by_linux(15, 0, 20), 0);
        assert_eq!(smoothed_by_linux(0, 1, 100), 0, "less than a 64th of a window is nothing");
    }
}
