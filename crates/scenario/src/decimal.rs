//! Exact decimal numbers: what files write, before it is rounded to a float once.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// Up to here, every whole number is a float.
const MOST_EXACT: u64 = 1 << 53;
/// The powers of ten that are floats.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// A decimal number, `mantissa` times ten to the power `exponent`.
#[derive(Clone, Debug)]
pub struct Decimal {
    mantissa: BigInt,
    exponent: i64,
}

impl Decimal {
    /// Reads digits with a sign, a point and an exponent; `None` for anything else.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole, part].concat();
        let exponent = power.parse::<i64>().ok()? - part.len() as i64;
        // a usual number has few digits, and needs no arithmetic on long ones
        let mantissa = match digits.parse::<i64>() {
            Ok(short) => short.into(),
            Err(_) => digits.strip_prefix('+').unwrap_or(&digits).parse().ok()?,
        };
        Some(Decimal { mantissa, exponent })
    }

    /// The shortest decimal number that is read as this float. Infinity and NaN become 0.
    pub fn of(x: f64) -> Decimal {
        if x.fract() == 0.0 && x.abs() <= MOST_EXACT as f64 {
            return Decimal { mantissa: (x as i64).into(), exponent: 0 };
        }
        Decimal::parse(&format!("{x:e}")).unwrap_or_else(|| Decimal::from(0))
    }

    /// Ten times itself, `power` times; a negative power divides.
    #[must_use]
    pub fn shifted(mut self, power: i64) -> Decimal {
        self.exponent += power;
        self
    }

    /// The product with a whole number.
    #[must_use]
    pub fn times(mut self, factor: u64) -> Decimal {
        self.mantissa *= factor;
        self
    }

    /// The product with another one.
    #[must_use]
    pub fn product(&self, other: &Decimal) -> Decimal {
        Decimal { mantissa: &self.mantissa * &other.mantissa, exponent: self.exponent + other.exponent }
    }

    /// Whether it is above 0.
    pub fn is_positive(&self) -> bool {
        self.mantissa.sign() == Sign::Plus
    }

    /// The nearest float; infinity beyond the greatest.
    pub fn to_f64(&self) -> f64 {
        // whole numbers to 2^53 and powers of ten to 10^22 are exact as floats: one operation rounds once
        let power = usize::try_from(self.exponent.unsigned_abs()).ok().and_then(|at| POWERS.get(at));
        if let (Ok(whole), Some(power)) = (i64::try_from(&self.mantissa), power)
            && whole.unsigned_abs() <= MOST_EXACT
        {
            return if self.exponent < 0 { whole as f64 / power } else { whole as f64 * power };
        }
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// The whole number that it is; `None` if it has a part behind the point.
    pub fn whole(&self) -> Option<i128> {
        let (quotient, is_exact) = self.quotient(&Decimal::from(1));
        is_exact.then(|| i128::try_from(quotient).ok()).flatten()
    }

    /// The whole part of the ratio of two positive numbers; `u64::MAX` if it is larger.
    pub fn ratio_floor(&self, other: &Decimal) -> u64 {
        u64::try_from(self.quotient(other).0).unwrap_or(u64::MAX)
    }

    /// The ratio of two numbers, as a float.
    pub fn ratio(&self, other: &Decimal) -> f64 {
        // 20 digits behind the point are more than a float has
        let scaled = self.clone().shifted(40);
        Decimal { mantissa: scaled.quotient(other).0, exponent: -40 }.to_f64()
    }

    /// The whole part of a ratio, and whether nothing is left.
    fn quotient(&self, other: &Decimal) -> (BigInt, bool) {
        let (a, b) = aligned(self, other);
        let (quotient, rest) = (&a / &b, &a % &b);
        (quotient, rest.sign() == Sign::NoSign)
    }

    /// Its digits, without an exponent where that is short, and without zeros at the end.
    pub fn digits(&self) -> String {
        let (digits, exponent) = self.normal();
        let sign = if self.mantissa.sign() == Sign::Minus { "-" } else { "" };
        let count = digits.len() as i64;
        let is_short = (-12..=12).contains(&exponent) && count + exponent.abs() <= 24;
        if is_short || (exponent <= 0 && count + exponent > -6) {
            return format!("{sign}{}", plain(&digits, exponent));
        }
        let power = exponent + count - 1;
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}E{power:+}")
    }

    /// The digits without zeros at the end, and the exponent that goes with them.
    fn normal(&self) -> (String, i64) {
        let digits = self.mantissa.magnitude().to_string();
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() {
            return ("0".to_owned(), 0);
        }
        (kept.to_owned(), self.exponent + (digits.len() - kept.len()) as i64)
    }

    /// All its digits, without an exponent.
    pub fn plain(&self) -> String {
        let (digits, exponent) = self.normal();
        plain(&digits, exponent)
    }
}

fn plain(digits: &str, exponent: i64) -> String {
    let count = digits.len() as i64;
    if exponent >= 0 {
        format!("{digits}{}", "0".repeat(exponent as usize))
    } else if count + exponent > 0 {
        let (whole, part) = digits.split_at((count + exponent) as usize);
        format!("{whole}.{part}")
    } else {
        format!("0.{}{digits}", "0".repeat((-exponent - count) as usize))
    }
}

/// Both mantissas at the lesser exponent.
fn aligned(a: &Decimal, b: &Decimal) -> (BigInt, BigInt) {
    let scale = |power: i64| BigInt::from(10).pow(u32::try_from(power).unwrap_or(0));
    let difference = a.exponent - b.exponent;
    (&a.mantissa * scale(difference), &b.mantissa * scale(-difference))
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Decimal {
        Decimal { mantissa: number.into(), exponent: 0 }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        let (a, b) = aligned(self, other);
        Some(a.cmp(&b))
    }
}
