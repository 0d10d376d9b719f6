//! Live runs, which need Linux; elsewhere `no_live.rs` takes this file's place.

use crate::{capture, refuse, to_dict};
use longfat_live::{Congestion, LiveError, Programs, Source, Traffic};
use longfat_sim::Plan;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::{depythonize, pythonize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// live_run(plan, congestion, forms, objects, pacing_ratio, iperf3, capture, programs) -> dict
///
/// Runs a plan, as `Scenario.plan` has it, on this machine's own TCP. `congestion` maps the names of
/// flows and backgrounds to the kernel's names of their algorithms, or to keys of `objects`. `forms` is
/// the folder of the algorithms that `make bpf` built; `objects` maps names to users' own objects: the
/// file, the variable and the kernel's name. `pacing_ratio` is net.ipv4.tcp_pacing_ca_ratio, None for the
/// default. `iperf3` is the path of that program if it makes the traffic of flows over TCP, else None.
/// `capture` is that of `simulate`. `programs` are tables of what runs on the path beside the plan, or
/// None. The process moves into namespaces of its own for good, so call this in a process that does
/// nothing else.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
fn live_run<'py>(
    py: Python<'py>,
    plan: &Bound<'py, PyAny>,
    congestion: BTreeMap<String, String>,
    forms: PathBuf,
    objects: BTreeMap<String, (PathBuf, String, String)>,
    pacing_ratio: Option<u32>,
    iperf3: Option<PathBuf>,
    capture: Option<capture::Asked>,
    programs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let programs: Option<Programs> = programs.map(depythonize).transpose()?;
    let plan = depythonize::<Plan>(plan)?.check().map_err(refuse)?;
    let traffic = iperf3.map_or(Traffic::Longfat, Traffic::Iperf3);
    let source = |(object, variable, name)| Source { object, variable: Some(variable), name };
    let objects = objects.into_iter().map(|(asked, own)| (asked, source(own))).collect();
    let congestion = Congestion { names: congestion, forms, objects, pacing_ratio };
    let recording = capture.as_ref().map(capture::Asked::recording);
    let live = py.detach(|| longfat_live::run(plan, &congestion, &traffic, recording.as_ref(), programs));
    let live = live.map_err(|error| match error {
        LiveError::Plan(_) | LiveError::Machine(_) => PyValueError::new_err(error.to_string()),
        LiveError::Broken(_) => PyRuntimeError::new_err(error.to_string()),
    })?;
    let result = to_dict(py, live.outcome)?;
    result.set_item("validity", pythonize(py, &live.validity)?)?;
    if let Some(written) = &live.capture {
        capture::add(&result, written)?;
    }
    if let Some(ran) = &live.programs {
        result.set_item("programs", pythonize(py, ran)?)?;
    }
    Ok(result)
}

/// live_die_with_parent() -> None
///
/// This process gets a SIGKILL when the thread that started it ends.
#[pyfunction]
fn live_die_with_parent() -> PyResult<()> {
    Ok(longfat_live::die_with_parent()?)
}

/// live_has_loader() -> bool
///
/// Whether this build can bring algorithms of its own into the kernel.
#[pyfunction]
const fn live_has_loader() -> bool {
    longfat_live::HAS_LOADER
}

/// live_probe() -> list of (what, "" or what is missing)
///
/// What this process may do live. It moves into namespaces of its own for good.
#[pyfunction]
fn live_probe() -> Vec<(&'static str, String)> {
    longfat_live::probe()
}

/// Adds the functions of live runs to the module, and `LIVE`, whether it has them.
pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("LIVE", true)?;
    m.add_function(wrap_pyfunction!(live_run, m)?)?;
    m.add_function(wrap_pyfunction!(live_die_with_parent, m)?)?;
    m.add_function(wrap_pyfunction!(live_probe, m)?)?;
    m.add_function(wrap_pyfunction!(live_has_loader, m)?)
}
