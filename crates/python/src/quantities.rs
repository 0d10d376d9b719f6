//! Numbers with units for Python.

use crate::scenario::values::plain;
use longfat_scenario::problem::Refusal;
use longfat_scenario::units::{self, Dimension, RATE, SIZE, TIME};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The dimension of this name.
fn dimension(name: &str) -> PyResult<&'static Dimension> {
    [&TIME, &RATE, &SIZE]
        .into_iter()
        .find(|dimension| dimension.name == name)
        .ok_or_else(|| PyValueError::new_err(format!("there is no dimension {name:?}")))
}

fn raised<T>(found: Result<T, Refusal>) -> PyResult<T> {
    found.map_err(|refusal| PyValueError::new_err(refusal.to_string()))
}

/// parse_quantity(dimension, value, like) -> float
///
/// The SI value of a number with a unit.
#[pyfunction]
pub fn parse_quantity(name: &str, value: &Bound<'_, PyAny>, like: &str) -> PyResult<f64> {
    raised(dimension(name)?.parse(&plain(value), like)).map(|exact| exact.to_f64())
}

/// write_quantity(dimension, value) -> str
///
/// The SI value with a unit.
#[pyfunction]
pub fn write_quantity(name: &str, value: f64) -> PyResult<String> {
    Ok(dimension(name)?.write(value))
}

/// within(dimension, value, least, greatest) -> float
///
/// The value, if it lies within the limits.
#[pyfunction]
pub fn quantity_within(name: &str, value: f64, least: f64, greatest: f64) -> PyResult<f64> {
    raised(dimension(name)?.within(value, (least, greatest)))
}

/// dimensions() -> {dimension: (example, names of units)}
#[pyfunction]
pub fn dimensions() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    [&TIME, &RATE, &SIZE]
        .into_iter()
        .map(|dimension| (dimension.name, dimension.example, dimension.unit_names().collect()))
        .collect()
}

/// split(text) -> (number, unit) or None
///
/// The number and the unit, perhaps empty, of a text.
#[pyfunction]
pub fn split(value: &Bound<'_, PyAny>) -> Option<(f64, String)> {
    let (amount, unit) = units::split(plain(value).text()?)?;
    Some((amount.to_f64(), unit))
}
