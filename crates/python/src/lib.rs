//! The PyO3 adapter: hands plans to the simulator and results back. Errors are mapped here and nowhere else.

mod algorithm;
mod capture;
mod ebpf;
#[cfg_attr(not(all(feature = "live", target_os = "linux")), path = "no_live.rs")]
mod live;
mod metrics;
mod quantities;
mod scenario;
mod stepper;
mod thread_pool;
mod watch;

use longfat_bpf_loader::{ROUTERS, kernel_form};
use longfat_net::queue::{self, Discipline};
use longfat_net::router::{self, Router};
use longfat_scenario::forms;
use longfat_sim::{EventRow, Outcome, Plan, PlanError, Rates, RunError, Sample, Series, Simulation};
use longfat_transport::Feedback;
use longfat_transport::cc::{self, Algorithm, Controller, Kind, Parameter, Properties};
use longfat_transport::udp::{self, Protocol};
use longfat_units::Entry;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pythonize::pythonize;
use scenario::PyScenario;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

pyo3::create_exception!(
    _core,
    AlgorithmError,
    PyException,
    "A user's own algorithm failed: (flow name, what it said)."
);

/// The one place where errors of the core become Python's.
fn raise(error: RunError) -> PyErr {
    match error {
        RunError::Plan(e) => PyValueError::new_err(e.to_string()),
        RunError::Algorithm { flow, reason } => AlgorithmError::new_err((flow, reason)),
        RunError::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

fn refuse(error: PlanError) -> PyErr {
    raise(RunError::Plan(error))
}

/// simulate(scenario, algorithms, memory_bytes=None, capture=None, qlog=None, fast=True) -> dict
///
/// Runs a scenario. `algorithms` maps flow names to callables that make a user's own algorithm. The GIL is
/// released while the core runs. Ctrl-C ends the run; if the run takes more than `memory_bytes`, it ends with
/// a MemoryError. `capture` is (path, program, snap_bytes, links): the packets of the run go into that file,
/// those of all links if the list is empty. `qlog` is (paths, program, version): the senders' logs go into
/// these files, one for each flow; the version is "current" or "0.3". An OSError says which file cannot be
/// created, "pcap" or "qlog", and why.
#[pyfunction]
#[pyo3(signature = (scenario, algorithms, memory_bytes=None, capture=None, qlog=None, fast=true))]
fn simulate<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, PyScenario>,
    algorithms: &Bound<'py, PyDict>,
    memory_bytes: Option<u64>,
    capture: Option<capture::Asked>,
    qlog: Option<capture::AskedLogs>,
    fast: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mut watch = watch::Watch::new(memory_bytes);
    let plan = scenario.get().plan(fast)?;
    let Built { run, interrupt, readers } = build(py, plan, algorithms, Rates::Planned, &mut watch)?;
    let mut taps = capture::Taps::begin(capture, qlog, &run)?;
    let outcome = py.detach(|| match &mut taps {
        None => run.run(&mut || watch.goes_on()),
        Some(taps) => run.run_tapped(taps, &mut || watch.goes_on()),
    });
    let written = taps.map(capture::Taps::finish); // also what an interrupted run has sent
    match (watch.take().or_else(|| interrupt.take()), outcome) {
        (Some(error), _) => Err(error),
        (None, outcome) => {
            let result = to_result(py, outcome.map_err(raise)?, &readers)?;
            if let Some(written) = written {
                written.add_to(&result)?;
            }
            Ok(result)
        }
    }
}

/// A run that has not begun, and what its algorithms in Python leave behind.
struct Built {
    run: Simulation,
    interrupt: algorithm::Interrupt,
    /// The flows of these algorithms, and whether they read round-trip times with a receiver's waits in them.
    readers: Vec<(String, algorithm::Reads)>,
}

/// Makes a run of a plan.
fn build(
    py: Python<'_>,
    plan: Plan,
    algorithms: &Bound<'_, PyDict>,
    rates: Rates,
    watch: &mut watch::Watch,
) -> PyResult<Built> {
    let plan = plan.check().map_err(refuse)?;
    let interrupt = algorithm::Interrupt::default();
    let mut raised = None;
    let mut readers = Vec::new();
    let mut objects = ebpf::Objects::default();
    let mut make = |flow: &str| {
        let make = algorithms.get_item(flow).ok().flatten()?;
        let reason = match make.call0() {
            Ok(made) => {
                if let Some(connection) = objects.connect(flow, &made) {
                    return Some(connection);
                }
                let reads = algorithm::Reads::default();
                match algorithm::UserAlgorithm::new(&made, interrupt.clone(), reads.clone()) {
                    Ok(user) => {
                        readers.push((flow.to_owned(), reads));
                        return Some(Controller::custom(user.properties(), user));
                    }
                    Err(reason) => reason,
                }
            }
            Err(error) => algorithm::described(py, &error, &interrupt),
        };
        raised.get_or_insert((flow.to_owned(), reason));
        None
    };
    let run = Simulation::new_while(plan, rates, &mut make, &mut || watch.goes_on());
    if let Some(error) = watch.take().or_else(|| interrupt.take()) {
        return Err(error);
    }
    if let Some((flow, reason)) = raised {
        return Err(raise(RunError::Algorithm { flow, reason }));
    }
    Ok(Built { run: run.map_err(raise)?, interrupt, readers })
}

/// What `simulate` returns.
fn to_result<'py>(
    py: Python<'py>,
    outcome: Outcome,
    readers: &[(String, algorithm::Reads)],
) -> PyResult<Bound<'py, PyDict>> {
    let result = to_dict(py, outcome)?;
    let readers: Vec<_> = readers.iter().filter(|(_, reads)| reads.any()).map(|(flow, _)| flow).collect();
    result.set_item("reads_rtt", readers)?;
    Ok(result)
}

/// read_capture(path) -> dict
///
/// The TCP connections of a capture, compressed or not, and what else it holds; of standard input if `path`
/// is None. Raises OSError if it cannot be opened, and ValueError if nothing of it can be read. Ctrl-C ends
/// the reading.
#[pyfunction]
fn read_capture(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Bound<'_, PyDict>> {
    capture::read(py, path)
}

fn to_dict(py: Python<'_>, outcome: Outcome) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    // by way of JSON, where what is undefined (NaN) is null, so None
    let mut summary =
        serde_json::to_value(&outcome.summary).map_err(|e| PyValueError::new_err(e.to_string()))?;
    summary["events"] = outcome.events_handled.into();
    summary["driver"] = outcome.driver.into();
    summary["servers"] = outcome.servers.clone().into();
    result.set_item("summary", pythonize(py, &summary)?)?;
    result.set_item("flows", named(py, outcome.flows)?)?;
    result.set_item("links", named(py, outcome.links)?)?;
    let internals = PyDict::new(py);
    for (flow, quantities) in outcome.internals {
        internals.set_item(flow, named(py, quantities)?)?;
    }
    result.set_item("internals", internals)?;
    result.set_item("transfers", columns(py, &outcome.transfers)?)?;
    result.set_item("events", events(py, &outcome.events)?)?;
    Ok(result)
}

/// Takes the series apart, so that only one of them is there twice.
fn named<'py, S: Sample>(py: Python<'py>, all: Vec<(String, Series<S>)>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, series) in all {
        py.check_signals()?;
        dict.set_item(name, columns(py, &series)?)?;
    }
    Ok(dict)
}

/// The columns of the event log, with texts as numbers of what `texts` lists.
fn events<'py>(py: Python<'py>, rows: &[EventRow]) -> PyResult<Bound<'py, PyDict>> {
    let mut texts: Vec<&str> = Vec::new();
    let mut numbers: BTreeMap<&str, i32> = BTreeMap::new();
    for row in rows {
        for text in [&*row.flow, row.what] {
            numbers.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() as i32 - 1
            });
        }
    }
    let dict = PyDict::new(py);
    let number = |text: &str| numbers.get(text).copied().unwrap_or_default().to_le_bytes();
    dict.set_item("time_s", column(py, rows, |row| row.time_s.to_le_bytes())?)?;
    dict.set_item("name", column(py, rows, |row| number(&row.flow))?)?;
    dict.set_item("event", column(py, rows, |row| number(row.what))?)?;
    dict.set_item("cwnd", column(py, rows, |row| row.cwnd.to_le_bytes())?)?;
    dict.set_item("texts", texts)?;
    Ok(dict)
}

/// One value of each row, as bytes that numpy reads without copying.
fn column<'py, T, const BYTES: usize>(
    py: Python<'py>,
    rows: &[T],
    value: impl Fn(&T) -> [u8; BYTES],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, BYTES * rows.len(), |out| {
        for (slot, row) in out.as_chunks_mut::<BYTES>().0.iter_mut().zip(rows) {
            *slot = value(row);
        }
        Ok(())
    })
}

/// Each column as the bytes of little-endian f64, which numpy reads without copying.
fn columns<'py, S: Sample>(py: Python<'py>, series: &Series<S>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in series.columns() {
        dict.set_item(name, column(py, values, |value| value.to_le_bytes())?)?;
    }
    Ok(dict)
}

fn parameter(p: &Parameter) -> serde_json::Value {
    let (default, least, greatest, choices) = match p.kind {
        Kind::Number { default, least, greatest } => {
            (json!(default), json!(least), json!(greatest), json!(null))
        }
        Kind::Choice(words) => (json!(words[0]), json!(null), json!(null), json!(words)),
    };
    let words: Vec<_> = forms::file_words(p).iter().map(longfat_scenario::tree::Value::json).collect();
    let written = forms::written(p, &forms::default(p)).json();
    json!({"name": p.name, "default": default, "unit": p.unit, "meaning": p.meaning, "least": least,
        "greatest": greatest, "choices": choices, "auto": p.auto, "words": words, "written": written})
}

/// What the rows of all registries say, and `more`, an object, that only this kind does.
fn row(entry: &Entry, more: serde_json::Value) -> serde_json::Value {
    let mut row = json!({"name": entry.name, "title": entry.title, "aliases": entry.aliases,
        "citation": entry.citation, "page": entry.page,
        "colour": entry.style.map(|style| style.colour), "marker": entry.style.map(|style| style.marker),
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>()});
    if let (Some(row), serde_json::Value::Object(more)) = (row.as_object_mut(), more) {
        row.extend(more);
    }
    row
}

fn algorithm_row(a: &Algorithm) -> serde_json::Value {
    let Properties { model_based, feedback, sends_ect1, beta_ecn, protocol, .. } = a.properties;
    let form = kernel_form(a.name).map(|form| form.name);
    let more = json!({"linux_module": a.linux_module, "kernel_form": form,
        "live": a.linux_module.is_some() || form.is_some(), "transport": "tcp", "random": false,
        "protocol": protocol.map(|p| p.name), "explicit": protocol.is_some(),
        "explicit_bytes": protocol.map_or(0, |p| p.header_bytes), "abe": beta_ecn.is_some(),
        "scalable": feedback != Feedback::Classic, "ect1": sends_ect1, "model_based": model_based});
    row(a, more)
}

fn row_over_udp(p: &Protocol) -> serde_json::Value {
    let transport = if p.answered { "udp" } else { "datagrams" };
    let more = json!({"linux_module": null, "live": !p.answered, "transport": transport, "random": p.random});
    row(p, more)
}

fn queue_row(d: &Discipline) -> serde_json::Value {
    row(
        d,
        json!({"linux_module": d.linux_module, "live": true, "ecn": d.ecn,
        "l4s": d.l4s, "random": d.random}),
    )
}

fn router_row(r: &Router) -> serde_json::Value {
    let protocol = router::PROTOCOLS.contains(&r.name).then_some(r.name);
    let live = ROUTERS.contains(&r.name);
    row(r, json!({"linux_module": null, "live": live, "protocol": protocol}))
}

/// registry() -> dict
///
/// What there is: {"algorithms": [...], "queues": [...], "routers": [...]}. Algorithms also say what carries
/// them, "transport": "tcp", "udp" (over UDP, answered by the receiver) or "datagrams" (not answered), and
/// whether they draw random numbers.
#[pyfunction]
fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let algorithms = cc::algorithms().map(algorithm_row).chain(udp::protocols().map(row_over_udp));
    let all = json!({"algorithms": algorithms.collect::<Vec<_>>(),
        "queues": queue::disciplines().map(queue_row).collect::<Vec<_>>(),
        "routers": router::routers().map(router_row).collect::<Vec<_>>()});
    Ok(pythonize(py, &all)?)
}

/// version() -> str
///
/// Longfat's version, which the whole workspace has.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// commit() -> str or None
///
/// The commit that the core was built from, with "-dirty" after it if tracked files differed; None if
/// unknown.
#[pyfunction]
const fn commit() -> Option<&'static str> {
    option_env!("LONGFAT_BUILT_FROM")
}

/// results_version() -> int
///
/// Returns the newest version of results; a change of any scenario's results increments it.
#[pyfunction]
const fn results_version() -> u32 {
    longfat_sim::RESULTS_VERSION
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("AlgorithmError", m.py().get_type::<AlgorithmError>())?;
    m.add_function(wrap_pyfunction!(simulate, m)?)?;
    m.add_function(wrap_pyfunction!(read_capture, m)?)?;
    live::add(m)?;
    m.add_function(wrap_pyfunction!(registry, m)?)?;
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(commit, m)?)?;
    m.add_function(wrap_pyfunction!(results_version, m)?)?;
    m.add_function(wrap_pyfunction!(metrics::short_term_throughput_bps, m)?)?;
    m.add_function(wrap_pyfunction!(metrics::convergence_time_s, m)?)?;
    m.add_function(wrap_pyfunction!(metrics::time_to_share_s, m)?)?;
    m.add_function(wrap_pyfunction!(metrics::rate_variation, m)?)?;
    m.add_function(wrap_pyfunction!(metrics::sum, m)?)?;
    m.add_function(wrap_pyfunction!(metrics::variation, m)?)?;
    m.add_class::<algorithm::PyAck>()?;
    m.add_class::<algorithm::PyCongestion>()?;
    m.add_class::<algorithm::PyOpening>()?;
    m.add_class::<algorithm::PyDelivery>()?;
    m.add_class::<algorithm::PyLostSegment>()?;
    m.add_class::<algorithm::PyWindow>()?;
    m.add_function(wrap_pyfunction!(stepper::advance_all, m)?)?;
    m.add_class::<stepper::Stepper>()?;
    m.add_function(wrap_pyfunction!(ebpf::ebpf_needs, m)?)?;
    m.add_function(wrap_pyfunction!(ebpf::ebpf_try_load, m)?)?;
    m.add("PACKET_BYTES", longfat_scenario::memory::PACKET)?;
    m.add("Refused", m.py().get_type::<scenario::Refused>())?;
    m.add_class::<scenario::PyScenario>()?;
    m.add_function(wrap_pyfunction!(scenario::assignment, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::toml_tables, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::connection_keys, m)?)?;
    m.add_function(wrap_pyfunction!(quantities::parse_quantity, m)?)?;
    m.add_function(wrap_pyfunction!(quantities::write_quantity, m)?)?;
    m.add_function(wrap_pyfunction!(quantities::quantity_within, m)?)?;
    m.add_function(wrap_pyfunction!(quantities::dimensions, m)?)?;
    m.add_function(wrap_pyfunction!(quantities::split, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::written_parameter, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::stacks, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::larger_files, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::scenario_schema, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::definition, m)?)?;
    m.add_class::<ebpf::PyEbpf>()
}
