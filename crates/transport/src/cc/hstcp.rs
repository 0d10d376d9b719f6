//! HighSpeed TCP (Floyd, RFC 3649, 2003): the AIMD parameters are functions of the window.
//!
//! ```text
//! Ack :  w <- w + a(w) / w              (per segment that counts)
//! Loss:  w <- (1 - b(w)) w
//! b(w) = (High_Decrease - 0.5) (ln w - ln Low_Window) / (ln High_Window - ln Low_Window) + 0.5
//! p(w) = Low_P (w / Low_Window)^(1/S),   S = ln(High_Window / Low_Window) / ln(High_P / Low_P)
//! a(w) = w^2 p(w) 2 b(w) / (2 - b(w))
//! ```
//!
//! Up to Low_Window it is standard TCP: a = 1, b = 1/2. `variant = "linux"` is the kernel's module: a(w) and
//! b(w) from the RFC's table, growth for each acknowledgement rather than each segment, and b of the last
//! growth.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | Low_Window | 38 | segments | RFC 3649 | parameter; Li, Leith, Shorten (2007) use 31 |
//! | Low_P | 1e-3 at 38 | | RFC 3649 | at other low windows scaled as 1/w^2, along the standard response function |
//! | High_Window | 83000 | segments | RFC 3649 | none |
//! | High_P | 1e-7 | | RFC 3649 | none |
//! | High_Decrease | 0.1 | of the window | RFC 3649 | none |
//! | rounded p(w) | 0.078 / w^1.2 | | RFC 3649 | tables only: exponent to one decimal, factor cut to three |
//! | Linux's unit of b | 1/256 | of the window | Linux tcp_highspeed, md | rounded down |
//! | end of the table | 100000 | segments | chosen: just beyond the RFC's last rows | scaled with High_Window; b stays as it is there, as b(w) would fall through 0 |

mod response;
mod table;

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style};
use response::{HIGH_DECREASE, HIGH_P, HIGH_WINDOW, LOW_WINDOW, Response};
use table::{Band, Reading, Rows, Table};

/// The registry row.
pub const ROW: Row<Hstcp> = Row {
    entry: Entry {
        name: "hstcp",
        title: "HighSpeed TCP",
        aliases: &["highspeed", "hs-tcp"],
        citation: "Floyd: HighSpeed TCP for Large Congestion Windows, RFC 3649, 2003",
        page: "hstcp",
        parameters: &[
            Parameter::choice(
                "variant",
                &["rfc", "linux"],
                "linux: the kernel's tcp_highspeed, which grows per acknowledgement; its table is the nearest one",
            ),
            Parameter::choice(
                "table",
                &["exact", "nearest", "interpolated", "closest"],
                "a(w), b(w) from the equations, or the RFC's table: as Linux reads it, interpolated, the closest row",
            ),
            Parameter::number(
                "low_window",
                LOW_WINDOW,
                (2.0, 300.0),
                "segments",
                "standard TCP up to this window",
            ),
            Parameter::number(
                "high_window",
                HIGH_WINDOW,
                (1e4, 1e8),
                "segments",
                "window at which the loss ratio high_p is met",
            ),
            Parameter::number("high_p", HIGH_P, (1e-12, 1e-6), "", "loss ratio at high_window"),
            Parameter::number(
                "high_decrease",
                HIGH_DECREASE,
                (0.05, 0.5),
                "of the window",
                "decrease at high_window (b of the RFC)",
            ),
        ],
        style: Some(Style::new("#0072b2", "s")),
    },
    linux_module: Some("highspeed"),
    properties: Properties::DEFAULT,
    build: Hstcp::build,
};

/// HighSpeed TCP.
#[derive(Clone, Debug)]
pub struct Hstcp {
    linux: bool,
    low_window: f64,
    table: Table,
    /// The parameters of the present window.
    band: Band,
}

impl Hstcp {
    fn build(p: &Parameters) -> Self {
        let linux = p.word("variant") == "linux";
        let low_window = p.number("low_window");
        let response =
            Response::new(low_window, p.number("high_window"), p.number("high_p"), p.number("high_decrease"));
        let rows = |reading| Table::Rows(reading, Rows::new(response.rounded()));
        let table = match p.word("table") {
            _ if linux => rows(Reading::Linux),
            "nearest" => rows(Reading::Above),
            "interpolated" => rows(Reading::Interpolated),
            "closest" => rows(Reading::Closest),
            _ => Table::Exact(response),
        };
        Hstcp { linux, ..Hstcp::new(low_window, table) }
    }

    fn new(low_window: f64, mut table: Table) -> Self {
        Hstcp { linux: false, low_window, band: table.band(low_window), table }
    }

    /// The RFC's equations with its own parameters, for algorithms that sometimes behave as HighSpeed TCP.
    pub(super) fn rfc() -> Self {
        Hstcp::new(LOW_WINDOW, Table::Exact(Response::rfc()))
    }

    #[inline]
    fn follow(&mut self, cwnd: f64) {
        if cwnd < self.band.from || cwnd >= self.band.until {
            self.band = self.table.band(cwnd);
        }
    }
}

impl CongestionControl for Hstcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        if self.linux {
            self.follow(w.cwnd);
            w.cwnd += self.band.increase / w.cwnd;
            return;
        }
        if w.cwnd <= self.low_window {
            w.cwnd += standard_increase(w.cwnd, ack.acked);
            return;
        }
        self.follow(w.cwnd);
        w.cwnd += ack.acked * self.band.increase / w.cwnd;
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        if self.linux {
            w.ssthresh = w.cwnd - self.band.decrease * w.cwnd;
            return;
        }
        if w.cwnd <= self.low_window {
            w.ssthresh = standard_decrease(w.cwnd);
            return;
        }
        self.follow(w.cwnd);
        w.ssthresh = (1.0 - self.band.decrease) * w.cwnd;
    }

    fn internals(&self, out: &mut Internals) {
        out.extend([("increase", self.band.increase), ("decrease", self.band.decrease)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, instance, loss, sawtooth, window};
    use super::*;

    #[test]
    fn linux_counts_acknowledgements_and_not_the_segments_in_them() {
        // tcp_highspeed: the window gains (row + 1) / cwnd an acknowledgement; 300 lies in the fourth row
        let mut c = instance(&ROW, &[("variant", "linux")]);
        let mut w = window(300.0, 10.0);
        c.on_ack(&ack(2.0), &mut w);
        assert!((w.cwnd - 300.0 - 4.0 / 300.0).abs() < 1e-12, "{}", w.cwnd);
    }

    #[test]
    fn linux_backs_off_by_the_row_of_its_last_growth_and_halves_before_any() {
        let mut c = instance(&ROW, &[("variant", "linux")]);
        let mut w = window(300.0, 1000.0);
        c.on_ack(&ack(1.0), &mut w);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 0.5 * 301.0);
        // tcp_highspeed has 98 / 256 in the row of 347 segments
        let mut w = window(320.0, 10.0);
        c.on_ack(&ack(1.0), &mut w);
        w.cwnd = 256.0;
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 256.0 - 98.0);
    }

    #[test]
    fn up_to_low_window_it_is_standard_tcp() {
        for table in ["exact", "nearest", "interpolated", "closest"] {
            let mut c = instance(&ROW, &[("table", table)]);
            let mut w = window(20.0, 10.0);
            c.on_ack(&ack(1.0), &mut w);
            assert_eq!(w.cwnd, 20.05);
            c.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, 10.025);
        }
    }

    #[test]
    fn periodic_losses_give_the_mean_windows_of_the_rfcs_table() {
        for table in ["exact", "interpolated"] {
            for (packets, printed) in [(10_000, 263.0), (100_000, 1795.0)] {
                let mean = sawtooth(&mut instance(&ROW, &[("table", table)]), packets).mean;
                assert!(
                    (mean / printed - 1.0).abs() < 0.06,
                    "{table}, 1 loss in {packets}: {mean} against {printed}"
                );
            }
        }
    }
}
