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
//! Up to Low_Window it is standard TCP: a = 1, b = 1/2. `variant = "linux"` is the kernel's module: a(w) and b(w) from
//! the RFC's table, growth for each acknowledgement rather than each segment, and b of the last growth.
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

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Window};
use super::row::{LossDetection, Row};
use longfat_units::math::{ln, pow};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style};

/// Low_P of the RFC, which belongs to [`LOW_WINDOW`].
const LOW_P: f64 = 1e-3;
/// Low_Window of the RFC, in segments.
const LOW_WINDOW: f64 = 38.0;
/// High_Window of the RFC, in segments, with High_P and High_Decrease.
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_P: f64 = 1e-7;
const HIGH_DECREASE: f64 = 0.1;
/// End of the table as a multiple of High_Window.
const TABLE_END: f64 = 100_000.0 / 83_000.0;
/// Linux holds b as a whole number of these.
const LINUX_DECREASE_UNIT: f64 = 1.0 / 256.0;

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
    protocol: None,
    loss_detection: LossDetection::Sack,
    build: Hstcp::build,
};

/// The RFC's response function and the AIMD parameters that follow from it. Windows in segments.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    low_window: f64,
    end: f64,
    high_decrease: f64,
    ln_ratio: f64,
    /// p(w) = factor / w^exponent.
    factor: f64,
    exponent: f64,
}

impl Response {
    /// The line through (Low_Window, Low_P) and (High_Window, `high_p`) on a log-log scale.
    pub fn new(low_window: f64, high_window: f64, high_p: f64, high_decrease: f64) -> Self {
        let low_p = LOW_P * (LOW_WINDOW / low_window) * (LOW_WINDOW / low_window);
        let ln_ratio = ln(high_window / low_window);
        let exponent = ln(low_p / high_p) / ln_ratio;
        Response {
            low_window,
            end: high_window * TABLE_END,
            high_decrease,
            ln_ratio,
            factor: low_p * pow(low_window, exponent),
            exponent,
        }
    }

    /// The same line with the digits that the RFC prints and uses for its table: p(w) = 0.078 / w^1.2 with
    /// its own parameters.
    pub fn rounded(self) -> Self {
        let factor = ((1e3 * self.factor).floor() / 1e3).max(1e-3);
        Response { factor, exponent: (10.0 * self.exponent).round() / 10.0, ..self }
    }

    /// The window that goes with the loss ratio `p`.
    pub fn window(&self, p: f64) -> f64 {
        pow(self.factor / p, 1.0 / self.exponent)
    }

    /// b(w): the part of the window that a loss takes away.
    pub fn decrease(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 0.5;
        }
        (self.high_decrease - 0.5) * ln(window.min(self.end) / self.low_window) / self.ln_ratio + 0.5
    }

    /// a(w): growth in segments per round trip; at least standard TCP's.
    pub fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let b = self.decrease(window);
        (self.factor * pow(window, 2.0 - self.exponent) * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

/// The RFC's appendix B: row i (from 1) begins at the least whole window whose a(w) reaches i. There is a row for
/// each of up to 1e8 segments, so rows are computed as windows come to need them.
#[derive(Clone, Debug)]
struct Rows {
    response: Response,
    /// The windows of the rows so far.
    windows: Vec<u32>,
    /// The last window of the table.
    end: u32,
    complete: bool,
}

impl Rows {
    fn new(response: Response) -> Self {
        let first = response.low_window.floor() as u32;
        Rows { response, windows: vec![first], end: response.end.floor() as u32, complete: false }
    }

    /// Computes rows until one lies above `window`, or the table ends. Returns how many lie at or below it.
    fn reach(&mut self, window: f64) -> usize {
        while !self.complete && self.windows.last().is_some_and(|&last| f64::from(last) <= window) {
            self.add();
        }
        self.windows.partition_point(|&row| f64::from(row) <= window)
    }

    fn add(&mut self) {
        let a = (self.windows.len() + 1) as f64;
        let mut below = self.windows.last().map_or(0, |&last| last);
        let reaches = |window: u32| self.response.increase(f64::from(window)) >= a;
        if below >= self.end || !reaches(self.end) {
            self.complete = true;
            return;
        }
        // rows are close to each other where a(w) is steep: look near the last one first
        let (mut reached, mut step) = (self.end, 1);
        while let Some(near) = below.checked_add(step).filter(|&near| near < reached) {
            if reaches(near) {
                reached = near;
            } else {
                below = near;
                step = step.saturating_mul(2);
            }
        }
        while reached - below > 1 {
            let middle = below + (reached - below) / 2;
            if reaches(middle) { reached = middle } else { below = middle }
        }
        self.windows.push(reached);
    }

    /// The window of row `i`, counted from 0, if the table has that row.
    fn window(&mut self, i: usize) -> Option<f64> {
        while !self.complete && self.windows.len() <= i {
            self.add();
        }
        self.windows.get(i).map(|&window| f64::from(window))
    }

    /// b(w) at row `i`, counted from 0.
    fn decrease(&self, i: usize) -> f64 {
        if i == 0 { 0.5 } else { self.response.decrease(f64::from(self.windows[i])) }
    }
}

/// Which row applies between two rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    /// The row above, as in Linux.
    Above,
    /// The row above, with b as Linux holds it.
    Linux,
    /// The closest row.
    Closest,
    Interpolated,
}

#[derive(Clone, Debug)]
enum Table {
    Exact(Response),
    Rows(Reading, Rows),
}

/// AIMD parameters that hold for windows in [from, until).
#[derive(Clone, Copy, Debug)]
struct Band {
    from: f64,
    until: f64,
    increase: f64,
    decrease: f64,
}

impl Table {
    /// The parameters at the whole part of `cwnd`. Whole segments make logarithms rare.
    fn band(&mut self, cwnd: f64) -> Band {
        let from = cwnd.floor();
        match self {
            Table::Exact(response) => Band {
                from,
                until: from + 1.0,
                increase: response.increase(from),
                decrease: response.decrease(from),
            },
            Table::Rows(Reading::Interpolated, rows) => interpolated(rows, from),
            Table::Rows(reading, rows) => stepped(rows, *reading, from),
        }
    }
}

/// The parameters of one row, which hold up to the last window to which it applies.
fn stepped(rows: &mut Rows, reading: Reading, from: f64) -> Band {
    // the last window that each row applies to; that of the last row has no end
    let last = |rows: &mut Rows, i: usize| {
        let window = rows.window(i)?;
        match rows.window(i + 1) {
            Some(next) if reading == Reading::Closest => Some((0.5 * (window + next)).floor()),
            _ => Some(window),
        }
    };
    let mut i = rows.reach(from);
    // up to half-way to the next row the row below is the closest
    if reading == Reading::Closest || (i > 0 && rows.window(i - 1) == Some(from)) {
        i = i.saturating_sub(1);
        if last(rows, i).is_some_and(|end| end < from) {
            i += 1;
        }
    }
    let before = i.checked_sub(1).and_then(|below| last(rows, below));
    let end = last(rows, i);
    let row = i.min(rows.windows.len() - 1);
    let b = rows.decrease(row);
    Band {
        from: before.map_or(0.0, |end| end + 1.0),
        until: end.map_or(f64::INFINITY, |end| end + 1.0),
        increase: (row + 1) as f64,
        decrease: if reading == Reading::Linux {
            (b / LINUX_DECREASE_UNIT).floor() * LINUX_DECREASE_UNIT
        } else {
            b
        },
    }
}

/// The parameters on the line from the row at or below the window to the one above.
fn interpolated(rows: &mut Rows, from: f64) -> Band {
    let one = |increase, decrease| Band { from, until: from + 1.0, increase, decrease };
    let i = rows.reach(from);
    let Some(below) = i.checked_sub(1) else { return one(1.0, 0.5) };
    let (low, decrease) = (rows.window(below).unwrap_or_default(), rows.decrease(below));
    match rows.window(i) {
        Some(high) => {
            let x = (from - low) / (high - low);
            one(i as f64 + x, decrease + x * (rows.decrease(i) - decrease))
        }
        None => Band { from, until: f64::INFINITY, increase: i as f64, decrease },
    }
}

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
        let response = Response::new(LOW_WINDOW, HIGH_WINDOW, HIGH_P, HIGH_DECREASE);
        Hstcp::new(LOW_WINDOW, Table::Exact(response))
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

    fn internals(&self, out: &mut Vec<(&'static str, f64)>) {
        out.extend([("increase", self.band.increase), ("decrease", self.band.decrease)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, instance, loss, sawtooth, window};
    use super::*;

    fn rfc() -> Response {
        Response::new(38.0, 83_000.0, 1e-7, 0.1)
    }

    /// RFC 3649, appendix B, as far as Linux implements it: (w, a(w), b(w)).
    const APPENDIX_B: [(u32, u32, f64); 72] = [
        (38, 1, 0.50),
        (118, 2, 0.44),
        (221, 3, 0.41),
        (347, 4, 0.38),
        (495, 5, 0.37),
        (663, 6, 0.35),
        (851, 7, 0.34),
        (1058, 8, 0.33),
        (1284, 9, 0.32),
        (1529, 10, 0.31),
        (1793, 11, 0.30),
        (2076, 12, 0.29),
        (2378, 13, 0.28),
        (2699, 14, 0.28),
        (3039, 15, 0.27),
        (3399, 16, 0.27),
        (3778, 17, 0.26),
        (4177, 18, 0.26),
        (4596, 19, 0.25),
        (5036, 20, 0.25),
        (5497, 21, 0.24),
        (5979, 22, 0.24),
        (6483, 23, 0.23),
        (7009, 24, 0.23),
        (7558, 25, 0.22),
        (8130, 26, 0.22),
        (8726, 27, 0.22),
        (9346, 28, 0.21),
        (9991, 29, 0.21),
        (10661, 30, 0.21),
        (11358, 31, 0.20),
        (12082, 32, 0.20),
        (12834, 33, 0.20),
        (13614, 34, 0.19),
        (14424, 35, 0.19),
        (15265, 36, 0.19),
        (16137, 37, 0.19),
        (17042, 38, 0.18),
        (17981, 39, 0.18),
        (18955, 40, 0.18),
        (19965, 41, 0.17),
        (21013, 42, 0.17),
        (22101, 43, 0.17),
        (23230, 44, 0.17),
        (24402, 45, 0.16),
        (25618, 46, 0.16),
        (26881, 47, 0.16),
        (28193, 48, 0.16),
        (29557, 49, 0.15),
        (30975, 50, 0.15),
        (32450, 51, 0.15),
        (33986, 52, 0.15),
        (35586, 53, 0.14),
        (37253, 54, 0.14),
        (38992, 55, 0.14),
        (40808, 56, 0.14),
        (42707, 57, 0.13),
        (44694, 58, 0.13),
        (46776, 59, 0.13),
        (48961, 60, 0.13),
        (51258, 61, 0.13),
        (53677, 62, 0.12),
        (56230, 63, 0.12),
        (58932, 64, 0.12),
        (61799, 65, 0.12),
        (64851, 66, 0.11),
        (68113, 67, 0.11),
        (71617, 68, 0.11),
        (75401, 69, 0.10),
        (79517, 70, 0.10),
        (84035, 71, 0.10),
        (89053, 72, 0.10),
    ];

    #[test]
    fn the_response_function_meets_the_rfcs_table_of_loss_ratios() {
        // RFC 3649: W = 0.12 / p^0.835, whose digits are rounded
        for (p, printed) in [(1e-3, 38.0), (1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_279.0), (1e-7, 83_981.0)]
        {
            let w = rfc().window(p);
            assert!((w / printed - 1.0).abs() < 0.015, "p = {p}: {w}, printed {printed}");
        }
    }

    #[test]
    fn at_high_window_a_is_72_segments_and_b_a_tenth() {
        // RFC 3649
        assert_eq!(rfc().increase(83_000.0).floor(), 72.0);
        assert!((rfc().decrease(83_000.0) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_generated_table_is_appendix_b() {
        let mut table = Rows::new(rfc().rounded());
        assert_eq!(table.reach(1e9), 73);
        for (i, (w, a, b)) in APPENDIX_B.into_iter().enumerate() {
            assert_eq!(i as u32 + 1, a);
            let row = table.window(i).unwrap();
            assert!((row / f64::from(w) - 1.0).abs() < 0.004, "row {a}: {row} against {w}");
            assert!((table.decrease(i) - b).abs() < 0.0075, "row {a}: {} against {b}", table.decrease(i));
        }
    }

    #[test]
    fn rows_are_computed_up_to_the_first_one_above_the_window() {
        // appendix B has 10 rows up to 1529 segments; the next one is at 1793
        let mut table = Rows::new(rfc().rounded());
        assert_eq!(table.reach(1700.0), 10);
        assert_eq!(table.windows.len(), 11);
        assert_eq!(table.reach(500.0), 5);
        assert_eq!(table.windows.len(), 11);
    }

    #[test]
    fn a_table_of_a_hundred_million_windows_costs_no_more_than_the_window_that_is_reached() {
        let rows = Rows::new(Response::new(38.0, 1e8, 1e-7, 0.1).rounded());
        let table = Table::Rows(Reading::Linux, rows);
        let mut c = Hstcp { linux: true, ..Hstcp::new(38.0, table) };
        let mut w = window(1000.0, 10.0);
        c.on_ack(&ack(1.0), &mut w);
        let Table::Rows(_, rows) = &c.table else { panic!("{:?}", c.table) };
        assert!(rows.windows.len() < 1000, "{}", rows.windows.len());
    }

    #[test]
    fn where_the_increase_grows_by_more_than_one_a_segment_each_window_has_a_row() {
        // p(w) = 0.006 / w^0.5, so a(w) grows as w^1.5 and by more than 1 a segment from some window on
        let mut table = Rows::new(Response::new(38.0, 1e8, 1e-6, 0.1).rounded());
        let (low, high) = (table.reach(1e6), table.reach(1e6 + 1000.0));
        assert_eq!(high - low, 1000);
    }

    #[test]
    fn the_exact_equations_stay_within_five_percent_of_appendix_b() {
        // its a(w) is rounded down, its p(w) to two digits
        for (w, a, b) in APPENDIX_B.into_iter().skip(1) {
            assert!((rfc().increase(f64::from(w)) / f64::from(a) - 1.0).abs() < 0.05, "{w}");
            assert!((rfc().decrease(f64::from(w)) - b).abs() < 0.0075, "{w}");
        }
    }

    #[test]
    fn the_table_is_stepped_as_linux_does_the_row_above_the_window_counts() {
        let mut c = instance(&ROW, &[("table", "nearest")]);
        for (cwnd, a) in
            [(38.9, 1.0), (39.0, 2.0), (118.5, 2.0), (119.0, 3.0), (347.0, 4.0), (348.0, 5.0), (5e5, 73.0)]
        {
            let band = c.table.band(cwnd);
            assert_eq!(band.increase, a, "{cwnd}");
            assert!(band.from <= cwnd && cwnd < band.until);
        }
    }

    #[test]
    fn the_closest_row_is_the_one_below_up_to_half_way() {
        // appendix B: rows 2 to 4 are at 118, 221 and 347 segments
        let mut c = instance(&ROW, &[("table", "closest")]);
        for (cwnd, a) in [(118.0, 2.0), (169.9, 2.0), (170.0, 3.0), (221.0, 3.0), (284.9, 3.0), (285.0, 4.0)]
        {
            let band = c.table.band(cwnd);
            assert_eq!(band.increase, a, "{cwnd}");
            assert!(band.from <= cwnd && cwnd < band.until);
            assert!((band.decrease - APPENDIX_B[a as usize - 1].2).abs() < 0.01);
        }
    }

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
    fn interpolation_meets_the_table_at_its_rows_and_halves_in_between() {
        let mut rows = Rows::new(rfc().rounded());
        let (low, high) = (rows.window(9).unwrap(), rows.window(10).unwrap());
        let mean_decrease = 0.5 * (rows.decrease(9) + rows.decrease(10));
        let mut table = Table::Rows(Reading::Interpolated, rows);
        assert_eq!(table.band(low).increase, 10.0);
        assert_eq!(table.band(high).increase, 11.0);
        let middle = table.band(0.5 * (low + high));
        assert!((middle.increase - 10.5).abs() < 0.01 && (middle.decrease - mean_decrease).abs() < 1e-4);
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

    #[test]
    fn a_lower_low_window_raises_the_increase_above_it() {
        let lls = Response::new(31.0, 83_000.0, 1e-7, 0.1);
        assert!((lls.increase(31.0), lls.decrease(31.0)) == (1.0, 0.5));
        assert!(lls.increase(5_000.0) > rfc().increase(5_000.0));
        assert!((lls.increase(83_000.0) - rfc().increase(83_000.0)).abs() < 1e-6);
    }

    #[test]
    fn beyond_its_table_the_decrease_stays_positive_and_the_increase_grows() {
        assert!(rfc().decrease(1e9) > 0.09);
        assert!(rfc().increase(1e9) > rfc().increase(1e5));
    }
}
