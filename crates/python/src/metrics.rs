//! Metrics of rates and of sampled counters for Python; `longfat.runs.metrics` says what they are.

use longfat_sim::Counter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Samples that Python hands over: the times, s, and the bytes so far, both as little-endian f64.
type Bytes<'a> = (&'a [u8], &'a [u8]);

fn floats(data: &[u8]) -> Vec<f64> {
    data.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect()
}

struct Samples {
    time: Vec<f64>,
    bytes: Vec<f64>,
}

impl Samples {
    fn read((time, bytes): Bytes<'_>) -> PyResult<Self> {
        let found = Self { time: floats(time), bytes: floats(bytes) };
        if found.time.len() != found.bytes.len() {
            return Err(PyValueError::new_err("as many times as values are needed"));
        }
        Ok(found)
    }

    fn counter(&self) -> Counter<'_> {
        Counter { time: &self.time, bytes: &self.bytes }
    }
}

/// short_term_throughput_bps(samples, averaging_s, sampling_s) -> tuple
#[pyfunction]
pub fn short_term_throughput_bps<'py>(
    py: Python<'py>,
    samples: Bytes<'_>,
    averaging_s: f64,
    sampling_s: f64,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let averages = Samples::read(samples)?.counter().short_term_throughput_bps(averaging_s, sampling_s);
    let (time, average): (Vec<_>, Vec<_>) =
        averages.into_iter().map(|(time, average)| (time.to_le_bytes(), average.to_le_bytes())).unzip();
    Ok((PyBytes::new(py, time.as_flattened()), PyBytes::new(py, average.as_flattened())))
}

/// convergence_time_s(samples, start_s, averaging_s, sampling_s, share) -> float or None
#[pyfunction]
pub fn convergence_time_s(
    samples: Bytes<'_>,
    start_s: f64,
    averaging_s: f64,
    sampling_s: f64,
    share: f64,
) -> PyResult<Option<f64>> {
    Ok(Samples::read(samples)?.counter().convergence_time_s(start_s, averaging_s, sampling_s, share))
}

/// time_to_share_s(samples, others, start_s, averaging_s, sampling_s, share) -> float or None
#[pyfunction]
pub fn time_to_share_s(
    samples: Bytes<'_>,
    others: Bytes<'_>,
    start_s: f64,
    averaging_s: f64,
    sampling_s: f64,
    share: f64,
) -> PyResult<Option<f64>> {
    let (own, others) = (Samples::read(samples)?, Samples::read(others)?);
    Ok(own.counter().time_to_share_s(&others.counter(), start_s, averaging_s, sampling_s, share))
}

/// rate_variation(samples, window_s, span_s) -> float
#[pyfunction]
pub fn rate_variation(samples: Bytes<'_>, window_s: (f64, f64), span_s: f64) -> PyResult<f64> {
    Ok(Samples::read(samples)?.counter().variation(window_s, span_s))
}

/// sum(values) -> float
#[pyfunction]
pub fn sum(values: Vec<f64>) -> f64 {
    longfat_sim::sum(&values)
}

/// variation(values) -> float
#[pyfunction]
pub fn variation(values: &[u8]) -> f64 {
    longfat_sim::variation(&floats(values))
}
