//! Standard TCP: additive increase, multiplicative decrease (Jacobson 1988; RFC 5681).
//!
//! ```text
//! Ack :  cwnd <- cwnd + 1 / cwnd        (per segment that counts)
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! Four senders share this rule; the loss detection of their rows says how they differ.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | increase | 1 | segment per RTT | RFC 5681, equation 3 | none |
//! | decrease | 1/2 | of cwnd | RFC 5681, equation 4 | of cwnd, not of FlightSize (as Linux does); equal while the window limits |
//! | what a mark leaves with `abe` | 0.8 | of cwnd | RFC 8511, section 3 | of cwnd, as above |

use super::congestion_control::{Ack, Congestion, CongestionControl, Window};
use super::row::{LossDetection, Properties, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Style};

/// What a mark leaves of cwnd with ABE.
const BETA_ECN: f64 = 0.8;
const CITATION: &str = "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009";

/// Reno, with the loss detection that the host has for all its algorithms.
pub const RENO: Row<Aimd> = Row {
    entry: Entry {
        name: "reno",
        title: "Reno (RFC 5681)",
        aliases: &["sack", "standard", "tcp"],
        citation: CITATION,
        page: "standard",
        parameters: &[],
        style: Some(Style::new("#6b7280", "o")),
    },
    linux_module: Some("reno"),
    properties: Properties { beta_ecn: Some(BETA_ECN), ..Properties::DEFAULT },
    build: Aimd::build,
};

/// NewReno: recovers from several losses in a window without SACK.
pub const NEWRENO: Row<Aimd> = Row {
    entry: Entry {
        name: "newreno",
        title: "NewReno TCP",
        aliases: &[],
        citation: "Henderson, Floyd, Gurtov, Nishida: The NewReno Modification to TCP's Fast Recovery Algorithm, RFC 6582, 2012",
        page: "standard",
        parameters: &[],
        style: Some(Style::new("#9ca3af", "3")),
    },
    linux_module: Some("reno"),
    properties: Properties {
        loss_detection: LossDetection::NewReno,
        beta_ecn: Some(BETA_ECN),
        ..Properties::DEFAULT
    },
    build: Aimd::build,
};

/// Reno as it was before SACK: fast recovery ends at the first new acknowledgement.
pub const RENO_CLASSIC: Row<Aimd> = Row {
    entry: Entry {
        name: "reno-classic",
        title: "Reno without SACK",
        aliases: &[],
        citation: CITATION,
        page: "standard",
        parameters: &[],
        style: Some(Style::new("#4b5563", "4")),
    },
    linux_module: Some("reno"),
    properties: Properties {
        loss_detection: LossDetection::RenoClassic,
        beta_ecn: Some(BETA_ECN),
        ..Properties::DEFAULT
    },
    build: Aimd::build,
};

/// Tahoe: starts again from one segment after every loss.
pub const TAHOE: Row<Aimd> = Row {
    entry: Entry {
        name: "tahoe",
        title: "Tahoe TCP",
        aliases: &[],
        citation: "Jacobson: Congestion Avoidance and Control, SIGCOMM 1988",
        page: "standard",
        parameters: &[],
        style: Some(Style::new("#111827", "+")),
    },
    linux_module: None,
    properties: Properties {
        loss_detection: LossDetection::Tahoe,
        beta_ecn: Some(BETA_ECN),
        ..Properties::DEFAULT
    },
    build: Aimd::build,
};

/// The AIMD(1, 1/2) rule. Stateless: everything is in the window.
#[derive(Clone, Debug, Default)]
pub struct Aimd;

impl Aimd {
    fn build(_: &Parameters) -> Self {
        Aimd
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
