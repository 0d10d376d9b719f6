//! The response function of RFC 3649, and the AIMD parameters that follow from it.

use longfat_units::math::{ln, pow};

/// Low_P of the RFC, which belongs to [`LOW_WINDOW`].
const LOW_P: f64 = 1e-3;
/// Low_Window of the RFC, in segments.
pub const LOW_WINDOW: f64 = 38.0;
/// High_Window of the RFC, in segments.
pub const HIGH_WINDOW: f64 = 83_000.0;
/// High_P of the RFC.
pub const HIGH_P: f64 = 1e-7;
/// High_Decrease of the RFC, of the window.
pub const HIGH_DECREASE: f64 = 0.1;
/// End of the table as a multiple of High_Window.
const TABLE_END: f64 = 100_000.0 / 83_000.0;
/// The RFC's response function and the AIMD parameters that follow from it. Windows in segments.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    pub(super) low_window: f64,
    /// The end of the table.
    pub(super) end: f64,
    high_decrease: f64,
    ln_ratio: f64,
    /// p(w) = factor / w^exponent.
    factor: f64,
    exponent: f64,
}

impl Response {
    /// With the parameters of the RFC.
    pub fn rfc() -> Self {
        Response::new(LOW_WINDOW, HIGH_WINDOW, HIGH_P, HIGH_DECREASE)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_function_meets_the_rfcs_table_of_loss_ratios() {
        // RFC 3649: W = 0.12 / p^0.835, whose digits are rounded
        for (p, printed) in [(1e-3, 38.0), (1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_279.0), (1e-7, 83_981.0)]
        {
            let Response { factor, exponent, .. } = Response::rfc();
            let w = pow(factor / p, 1.0 / exponent);
            assert!((w / printed - 1.0).abs() < 0.015, "p = {p}: {w}, printed {printed}");
        }
    }

    #[test]
    fn at_high_window_a_is_72_segments_and_b_a_tenth() {
        // RFC 3649
        assert_eq!(Response::rfc().increase(83_000.0).floor(), 72.0);
        assert!((Response::rfc().decrease(83_000.0) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_lower_low_window_raises_the_increase_above_it() {
        let lls = Response::new(31.0, 83_000.0, 1e-7, 0.1);
        assert!((lls.increase(31.0), lls.decrease(31.0)) == (1.0, 0.5));
        assert!(lls.increase(5_000.0) > Response::rfc().increase(5_000.0));
        assert!((lls.increase(83_000.0) - Response::rfc().increase(83_000.0)).abs() < 1e-6);
    }

    #[test]
    fn beyond_its_table_the_decrease_stays_positive_and_the_increase_grows() {
        assert!(Response::rfc().decrease(1e9) > 0.09);
        assert!(Response::rfc().increase(1e9) > Response::rfc().increase(1e5));
    }
}
