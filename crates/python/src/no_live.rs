//! Takes the place of `live.rs` where there are no live runs.

use pyo3::prelude::*;

/// Adds `LIVE`, which is false.
pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("LIVE", false)
}
