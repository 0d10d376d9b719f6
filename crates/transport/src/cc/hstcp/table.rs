//! The table of RFC 3649, appendix B, and the ways in which it is read between its rows.

use super::response::Response;

/// Linux holds b as a whole number of these.
const LINUX_DECREASE_UNIT: f64 = 1.0 / 256.0;

/// The RFC's appendix B: row i (from 1) begins at the least whole window whose a(w) reaches i. There is a row
/// for each of up to 1e8 segments, so rows are computed as windows come to need them.
#[derive(Clone, Debug)]
pub struct Rows {
    response: Response,
    /// The windows of the rows so far.
    windows: Vec<u32>,
    /// The last window of the table.
    end: u32,
    complete: bool,
}

impl Rows {
    /// With none but the first row, which is Low_Window.
    pub fn new(response: Response) -> Self {
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
pub enum Reading {
    /// The row above, as in Linux.
    Above,
    /// The row above, with b as Linux holds it.
    Linux,
    /// The closest row.
    Closest,
    /// The line between the row below and the row above.
    Interpolated,
}

/// Where a(w) and b(w) come from.
#[derive(Clone, Debug)]
pub enum Table {
    /// The equations themselves.
    Exact(Response),
    /// The RFC's table.
    Rows(Reading, Rows),
}

/// AIMD parameters that hold for windows in [from, until).
#[derive(Clone, Copy, Debug)]
pub struct Band {
    /// The least window, segments.
    pub from: f64,
    /// The least window to which they no longer apply, segments.
    pub until: f64,
    /// a(w), segments per round trip.
    pub increase: f64,
    /// b(w), of the window.
    pub decrease: f64,
}

impl Table {
    /// The parameters at the whole part of `cwnd`. Whole segments make logarithms rare.
    pub fn band(&mut self, cwnd: f64) -> Band {
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

#[cfg(test)]
mod tests {
    use super::super::super::CongestionControl;
    use super::super::super::testing::{ack, instance, window};
    use super::super::{Hstcp, ROW};
    use super::*;

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
    fn the_generated_table_is_appendix_b() {
        let mut table = Rows::new(Response::rfc().rounded());
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
        let mut table = Rows::new(Response::rfc().rounded());
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
            assert!((Response::rfc().increase(f64::from(w)) / f64::from(a) - 1.0).abs() < 0.05, "{w}");
            assert!((Response::rfc().decrease(f64::from(w)) - b).abs() < 0.0075, "{w}");
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
    fn interpolation_meets_the_table_at_its_rows_and_halves_in_between() {
        let mut rows = Rows::new(Response::rfc().rounded());
        let (low, high) = (rows.window(9).unwrap(), rows.window(10).unwrap());
        let mean_decrease = 0.5 * (rows.decrease(9) + rows.decrease(10));
        let mut table = Table::Rows(Reading::Interpolated, rows);
        assert_eq!(table.band(low).increase, 10.0);
        assert_eq!(table.band(high).increase, 11.0);
        let middle = table.band(0.5 * (low + high));
        assert!((middle.increase - 10.5).abs() < 0.01 && (middle.decrease - mean_decrease).abs() < 1e-4);
    }
}
