//! A kernel's eBPF congestion control as a user's own algorithm.

use longfat_bpf_loader::{Error as KernelError, Source, try_load};
use longfat_bpf_vm::{Algorithm, Called, Needs, Object};
use longfat_transport::cc::Controller;
use pyo3::exceptions::{PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What is kept of callbacks during a trace.
#[derive(Default)]
struct Trace {
    /// The most that are kept.
    most: usize,
    /// The callbacks that are kept; all of them if there are none.
    only: Vec<String>,
    /// The flow of each connection and what was called, in the order of the calls.
    kept: Vec<(String, Called)>,
    /// How many there were.
    total: u64,
}

type SharedTrace = Arc<Mutex<Option<Trace>>>;

/// EbpfAlgorithm(path, name=None)
///
/// The congestion control of an object file with this name, or the only one. Calling it returns it, as
/// calling a class makes an algorithm, with another pacing_ca_ratio (percent) if one is given. Flows of a run
/// that have the same one share its maps and global variables.
#[pyclass(name = "EbpfAlgorithm", frozen, module = "longfat._core")]
pub struct PyEbpf {
    algorithm: Algorithm,
    trace: SharedTrace,
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Reads a file; the error is one line that names it.
fn contents(path: &Path) -> PyResult<Vec<u8>> {
    std::fs::read(path).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, reason: &dyn ToString) -> PyErr {
    PyValueError::new_err(format!("{}: {}", file_name(path), reason.to_string()))
}

#[pymethods]
impl PyEbpf {
    #[new]
    #[pyo3(signature = (path, name=None))]
    fn new(path: PathBuf, name: Option<&str>) -> PyResult<Self> {
        let object = Object::new(&contents(&path)?).map_err(|error| refused(&path, &error))?;
        let algorithm = object.algorithm(name).map_err(|error| refused(&path, &error))?;
        Ok(PyEbpf { algorithm, trace: SharedTrace::default() })
    }

    /// Its name in the kernel.
    #[getter]
    fn name(&self) -> &str {
        self.algorithm.name()
    }

    /// Whether it controls the window in every phase (cong_control).
    #[getter]
    fn model_based(&self) -> bool {
        self.algorithm.is_model_based()
    }

    /// The variable of its structure in the object.
    #[getter]
    fn variable(&self) -> &str {
        self.algorithm.variable()
    }

    /// Whether its connections negotiate ECN (TCP_CONG_NEEDS_ECN).
    #[getter]
    fn needs_ecn(&self) -> bool {
        self.algorithm.needs_ecn()
    }

    /// The names of the callbacks that it has.
    #[getter]
    fn callbacks(&self) -> Vec<&'static str> {
        self.algorithm.callbacks().collect()
    }

    #[pyo3(signature = (*, pacing_ca_ratio=None))]
    fn __call__(slf: Py<Self>, py: Python<'_>, pacing_ca_ratio: Option<u64>) -> PyResult<Py<Self>> {
        let Some(percent) = pacing_ca_ratio else { return Ok(slf) };
        let own = slf.get();
        let algorithm = own.algorithm.clone().with_pacing_ratio(percent);
        Py::new(py, PyEbpf { algorithm, trace: own.trace.clone() })
    }

    /// Connections that are made from now on keep their first `most` callbacks, of these names if there are
    /// any.
    fn begin_trace(&self, most: usize, only: Vec<String>) {
        let trace = Trace { most, only, ..Trace::default() };
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
    }

    /// Ends the trace. Returns how many callbacks there were, and a list of those that were kept.
    fn end_trace<'py>(&self, py: Python<'py>) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let kept: Vec<Value> = trace.kept.iter().map(|(flow, called)| entry(flow, called)).collect();
        Ok((trace.total, pythonize(py, &kept)?))
    }
}

fn entry(flow: &str, called: &Called) -> Value {
    let sample: Map<String, Value> =
        called.sample.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
    json!({"time_s": called.now.as_secs_f64(), "flow": flow, "callback": called.callback,
        "arguments": called.arguments, "sample": sample, "result": called.result,
        "cwnd_before": called.before.0, "ssthresh_before": called.before.1,
        "cwnd_after": called.after.0, "ssthresh_after": called.after.1})
}

/// The objects of a run, each with maps that nobody else has.
#[derive(Default)]
pub struct Objects(Vec<Algorithm>);

impl Objects {
    /// A new connection for this flow, if this is an algorithm of an object.
    pub fn connect(&mut self, flow: &str, made: &Bound<'_, PyAny>) -> Option<Controller> {
        let asked = made.cast::<PyEbpf>().ok()?.get();
        let known = self.0.iter().position(|known| known.is_same(&asked.algorithm));
        let index = known.unwrap_or_else(|| {
            self.0.push(asked.algorithm.fresh());
            self.0.len() - 1
        });
        let own = self.0[index].clone().with_pacing_ratio(asked.algorithm.pacing_ratio());
        let mut connection = own.connection();
        if asked.trace.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            let (trace, flow) = (asked.trace.clone(), flow.to_owned());
            connection.observe(move |called| {
                let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(trace) = trace.as_mut() else { return };
                if trace.only.is_empty() || trace.only.iter().any(|name| name == called.callback) {
                    trace.total += 1;
                    if trace.kept.len() < trace.most {
                        trace.kept.push((flow.clone(), called.clone()));
                    }
                }
            });
        }
        Some(Controller::custom(connection.properties(), connection))
    }
}

/// ebpf_needs(path) -> dict
///
/// What an object needs: {"license", "instructions", "needs": [{"kind", "name", "here", "optional"}],
/// "algorithms": [{"name", "variable", "callbacks", "needs_ecn", "model_based", "problem"}], "problem": what
/// keeps the whole object from running here, or None}.
#[pyfunction]
pub fn ebpf_needs(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let file = contents(&path)?;
    let needs = Needs::new(&file).map_err(|error| refused(&path, &error))?;
    let (algorithms, problem) = match Object::new(&file) {
        Ok(object) => (described(&object), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let each = needs.needs.iter().map(|need| {
        json!({"kind": need.kind.name(), "name": need.name, "here": need.is_here, "optional": need.is_optional})
    });
    let found = json!({"license": needs.license, "instructions": needs.instructions,
        "needs": each.collect::<Vec<_>>(), "algorithms": algorithms, "problem": problem});
    Ok(pythonize(py, &found)?)
}

fn described(object: &Object) -> Vec<Value> {
    object
        .described()
        .map(|(name, variable, incomplete)| {
            let found = object.algorithm(Some(variable)).ok();
            let callbacks = found.as_ref().map(|own| own.callbacks().collect::<Vec<_>>());
            json!({"name": name, "variable": variable, "callbacks": callbacks.unwrap_or_default(),
                "needs_ecn": found.as_ref().is_some_and(Algorithm::needs_ecn),
                "model_based": found.as_ref().is_some_and(Algorithm::is_model_based),
                "problem": incomplete.map(ToString::to_string)})
        })
        .collect()
}

/// ebpf_try_load(path, variable, name) -> None
///
/// Asks this machine's kernel whether it would take an object's congestion control; nothing is registered and
/// nothing stays. Raises ValueError with one line if not, and PermissionError if it cannot be asked: no
/// rights, no loader in this build, or a kernel without its types.
#[pyfunction]
pub fn ebpf_try_load(py: Python<'_>, path: PathBuf, variable: String, name: String) -> PyResult<()> {
    let source = Source { object: path, variable: Some(variable), name };
    py.detach(|| try_load(&source, &std::env::temp_dir())).map_err(|error| match error {
        KernelError::NoRights { .. } | KernelError::NoLoader | KernelError::NoKernelTypes => {
            PyPermissionError::new_err(error.to_string())
        }
        _ => PyValueError::new_err(error.to_string()),
    })
}
