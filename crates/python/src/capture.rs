//! Captures of packets.

use longfat_capture::{Interface, Recorder, Recording, Written};
use longfat_net::Capacity;
use longfat_sim::Simulation;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// What Python asks for: the file, the program that the file names, how many bytes of each packet, and the links.
#[derive(FromPyObject)]
pub struct Asked(PathBuf, String, u32, Vec<String>);

impl Asked {
    /// Begins the capture of a run.
    pub fn begin(self, run: &Simulation) -> PyResult<Recorder> {
        let Asked(path, program, snap_bytes, links) = self;
        let interfaces: Vec<Interface> = run
            .links()
            .iter()
            .map(|link| Interface {
                name: link.name.clone(),
                description: "a simulated link".to_owned(),
                bps: matches!(link.capacity, Capacity::Constant(_)).then(|| link.rate.as_bps()),
            })
            .collect();
        let asked = Recording { path: &path, snap_bytes, links: &links, program: &program };
        let flows = run.plan().flows().iter().map(|flow| (flow.name.as_str(), &flow.connection));
        Ok(Recorder::create(&asked, &interfaces, flows, run.end())?)
    }
}

/// What became of a capture.
pub fn told<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("packets", written.packets)?;
    told.set_item("bytes", written.bytes)?;
    told.set_item("missing", written.missing)?;
    told.set_item("failure", written.failure.clone())?;
    Ok(told)
}
