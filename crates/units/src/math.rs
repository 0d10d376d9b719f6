//! Transcendental functions from the `libm` crate: they give the same bits on every machine, which the
//! platform's own library does not guarantee.

/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// ln(1 + x), exact for small x.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Base-10 logarithm.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// e^x.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// x^y.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Sine of x radians.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Square root (IEEE 754 exact everywhere).
#[inline]
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// The error function.
#[inline]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// The gamma function.
#[inline]
pub fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}
