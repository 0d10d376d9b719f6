//! A kernel's eBPF congestion control as a user's own algorithm.

use longfat_ebpf::{Algorithm, Object};
use longfat_transport::cc::Controller;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// EbpfAlgorithm(path, name=None)
///
/// The congestion control of an object file with this name, or the only one. Calling it returns it, as calling a
/// class makes an algorithm. Flows of a run that have the same one share its maps and global variables.
#[pyclass(name = "EbpfAlgorithm", frozen, module = "longfat._core")]
pub struct PyEbpf(Algorithm);

#[pymethods]
impl PyEbpf {
    #[new]
    #[pyo3(signature = (path, name=None))]
    fn new(path: PathBuf, name: Option<&str>) -> PyResult<Self> {
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let refused = |reason: String| PyValueError::new_err(format!("{file}: {reason}"));
        let bytes = std::fs::read(&path).map_err(|error| refused(error.to_string()))?;
        let object = Object::new(&bytes).map_err(|error| refused(error.to_string()))?;
        object.algorithm(name).map(PyEbpf).map_err(|error| refused(error.to_string()))
    }

    /// Its name in the kernel.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether it controls the window in every phase (cong_control).
    #[getter]
    fn model_based(&self) -> bool {
        self.0.is_model_based()
    }

    fn __call__(slf: Py<Self>) -> Py<Self> {
        slf
    }
}

/// The objects of a run, each with maps that nobody else has.
#[derive(Default)]
pub struct Objects(Vec<(Py<PyAny>, Algorithm)>);

impl Objects {
    /// A new connection, if this is an algorithm of an object.
    pub fn connect(&mut self, made: &Bound<'_, PyAny>) -> Option<Controller> {
        let object = made.cast::<PyEbpf>().ok()?;
        let known = self.0.iter().position(|(known, _)| known.is(made));
        let index = known.unwrap_or_else(|| {
            self.0.push((made.clone().unbind(), object.get().0.fresh()));
            self.0.len() - 1
        });
        let connection = self.0[index].1.connection();
        Some(Controller::Custom(Box::new(connection)))
    }
}
