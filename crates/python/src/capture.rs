//! Captures of packets, and logs of senders.

use longfat_capture::{Interface, Qlog, Recorder, Recording, Version, Written};
use longfat_net::{Capacity, DropReason};
use longfat_sim::{CheckedConnection, Simulation, Tap};
use longfat_transport::SenderView;
use longfat_units::Time;
use longfat_wire::SimPacket;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A capture that Python asks for: the file, the program that the file names, how many bytes of each packet, and the
/// links.
#[derive(FromPyObject)]
pub struct Asked(PathBuf, String, u32, Vec<String>);

/// Logs that Python asks for: a file for each flow, the program that the files name, and the version of qlog.
#[derive(FromPyObject)]
pub struct AskedLogs(Vec<PathBuf>, String, String);

/// Everybody who watches a run.
pub struct Taps {
    recorder: Option<Recorder>,
    qlog: Option<Qlog>,
}

/// What became of the files.
pub struct Finished {
    capture: Option<Written>,
    /// Why something is missing in the logs, if anything is; `None` without logs.
    qlog: Option<Option<String>>,
}

impl Taps {
    /// Begins what is asked for; `None` if nothing is.
    pub fn begin(
        capture: Option<Asked>,
        qlog: Option<AskedLogs>,
        run: &Simulation,
    ) -> PyResult<Option<Self>> {
        let some = capture.is_some() || qlog.is_some();
        let recorder = capture.map(|asked| record(asked, run)).transpose()?;
        let qlog = qlog.map(|asked| log(asked, run)).transpose()?;
        Ok(some.then_some(Taps { recorder, qlog }))
    }

    /// Ends the files.
    pub fn finish(self) -> Finished {
        Finished { capture: self.recorder.map(Recorder::finish), qlog: self.qlog.map(Qlog::finish) }
    }
}

fn record(asked: Asked, run: &Simulation) -> PyResult<Recorder> {
    let Asked(path, program, snap_bytes, links) = asked;
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
    Recorder::create(&asked, &interfaces, flows(run), run.end()).map_err(|error| refuse("pcap", &error))
}

fn log(asked: AskedLogs, run: &Simulation) -> PyResult<Qlog> {
    let AskedLogs(paths, program, version) = asked;
    let version = if version == "0.3" { Version::V0_3 } else { Version::Current };
    let named = paths.into_iter().zip(flows(run)).map(|(path, (name, connection))| (path, name, connection));
    Qlog::create(version, &program, named).map_err(|error| refuse("qlog", &error))
}

/// What an OSError says: which file cannot be written, and why.
fn refuse(what: &'static str, error: &std::io::Error) -> PyErr {
    PyOSError::new_err((what, longfat_capture::said(error)))
}

fn flows(run: &Simulation) -> impl Iterator<Item = (&str, &CheckedConnection)> {
    run.plan().flows().iter().map(|flow| (flow.name.as_str(), &flow.connection))
}

impl Finished {
    /// Puts it into a result.
    pub fn tell(&self, result: &Bound<'_, PyDict>) -> PyResult<()> {
        if let Some(written) = &self.capture {
            let told = PyDict::new(result.py());
            told.set_item("packets", written.packets)?;
            told.set_item("bytes", written.bytes)?;
            told.set_item("missing", written.missing)?;
            told.set_item("failure", written.failure.clone())?;
            result.set_item("capture", told)?;
        }
        if let Some(failure) = &self.qlog {
            result.set_item("qlog", failure.clone())?;
        }
        Ok(())
    }
}

impl Tap for Taps {
    fn opens(&mut self, now: Time, flow: usize, name: &str, connection: &CheckedConnection) {
        if let Some(recorder) = &mut self.recorder {
            recorder.opens(now, flow, name, connection);
        }
    }

    fn enters(&mut self, now: Time, link: usize, packet: &SimPacket) {
        if let Some(recorder) = &mut self.recorder {
            recorder.enters(now, link, packet);
        }
    }

    fn leaves(&mut self, now: Time, link: usize, packet: &SimPacket, arrival: Time, last: bool) {
        if let Some(recorder) = &mut self.recorder {
            recorder.leaves(now, link, packet, arrival, last);
        }
    }

    fn drops(&mut self, now: Time, link: usize, packet: &SimPacket, reason: DropReason) {
        if let Some(recorder) = &mut self.recorder {
            recorder.drops(now, link, packet, reason);
        }
    }

    fn acts(
        &mut self,
        now: Time,
        flow: usize,
        taken: Option<&SimPacket>,
        sent: &mut dyn Iterator<Item = &SimPacket>,
        sender: &SenderView,
    ) {
        if let Some(qlog) = &mut self.qlog {
            qlog.acts(now, flow, taken, sent, sender);
        }
    }
}
