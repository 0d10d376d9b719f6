//! Standard TCP: additive increase, multiplicative decrease (Jacobson 1988; RFC 5681).
//!
//! ```text
//! Ack :  cwnd <- cwnd + 1 / cwnd        (per segment that counts)
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! Tahoe, Reno, NewReno and SACK TCP share this rule; they differ in how the shared sender recovers, which the
//! registry rows name.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | increase | 1 | segment per RTT | RFC 5681, equation 3 | none |
//! | decrease | 1/2 | of cwnd | RFC 5681, equation 4 | of cwnd, not of FlightSize (as Linux does); equal while the window limits |

use super::registry::{Algorithm, Recovery};
use super::{Ack, Congestion, CongestionControl, Parameters, Window};

const CITATION: &str = "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009";

/// The rows of this family.
pub const ROWS: [Algorithm; 4] = [
    Algorithm {
        name: "sack",
        aliases: &["standard", "tcp"],
        citation: CITATION,
        parameters: &[],
        linux_module: Some("reno"),
        recovery: Recovery::Sack,
        build: Aimd::build,
    },
    Algorithm {
        name: "newreno",
        aliases: &[],
        citation: "Henderson, Floyd, Gurtov, Nishida: The NewReno Modification to TCP's Fast Recovery Algorithm, RFC 6582, 2012",
        parameters: &[],
        linux_module: Some("reno"),
        recovery: Recovery::NewReno,
        build: Aimd::build,
    },
    Algorithm {
        name: "reno",
        aliases: &[],
        citation: CITATION,
        parameters: &[],
        linux_module: Some("reno"),
        recovery: Recovery::Reno,
        build: Aimd::build,
    },
    Algorithm {
        name: "tahoe",
        aliases: &[],
        citation: "Jacobson: Congestion Avoidance and Control, SIGCOMM 1988",
        parameters: &[],
        linux_module: None,
        recovery: Recovery::Tahoe,
        build: Aimd::build,
    },
];

/// The AIMD(1, 1/2) rule. Stateless: everything is in the window.
#[derive(Clone, Debug, Default)]
pub struct Aimd;

impl Aimd {
    fn build(_: &Parameters) -> super::Controller {
        super::Controller::Aimd(Aimd)
    }
}

/// RFC 5681, equation 3: growth of the window by `acked` segments' worth of acknowledgements.
#[inline]
pub fn standard_increase(cwnd: f64, acked: f64) -> f64 {
    acked / cwnd
}

/// RFC 5681, equation 4: the window that a loss leaves.
pub fn standard_decrease(cwnd: f64) -> f64 {
    0.5 * cwnd
}

impl CongestionControl for Aimd {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        w.cwnd += standard_increase(w.cwnd, ack.acked);
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
    }
}
