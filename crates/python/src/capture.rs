//! Captures of packets, written and read, and logs of senders.

use crate::watch;
use longfat_capture::{
    Captured, CapturedFlow, Damage, Interface, Qlog, Recorder, Recording, Row, Version, Written,
};
use longfat_net::{Capacity, DropReason};
use longfat_sim::{CheckedConnection, Simulation, Tap};
use longfat_transport::SenderView;
use longfat_units::Time;
use longfat_wire::SimPacket;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A capture that Python asks for: the file, the program that the file names, how many bytes of each packet,
/// and the links.
#[derive(FromPyObject)]
pub struct Asked(PathBuf, String, u32, Vec<String>);

/// Logs that Python asks for: a file for each flow, the program that the files name, and the version of qlog.
#[derive(FromPyObject)]
pub struct AskedLogs(Vec<PathBuf>, String, String);

/// The TCP connections of a file; of standard input, if there is no path.
pub fn read(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Bound<'_, PyDict>> {
    let found = watch::aside(py, move || {
        let Some(path) = path else { return longfat_capture::flows(std::io::stdin().lock()).map_err(Ok) };
        let file = std::fs::File::open(path).map_err(Err)?;
        longfat_capture::flows(file).map_err(Ok)
    })?;
    let found = found.map_err(|why: Result<Damage, std::io::Error>| match why {
        Ok(damage) => PyValueError::new_err(damage.to_string()),
        Err(error) => PyOSError::new_err(longfat_capture::said(&error)),
    })?;
    let Captured { flows, contents, steps, duration_s, .. } = &found;
    let list = PyList::empty(py);
    for flow in flows {
        py.check_signals()?;
        list.append(flow_dict(py, flow)?)?;
    }
    let all = PyDict::new(py);
    all.set_item("flows", list)?;
    all.set_item("duration_s", duration_s)?;
    all.set_item("packets", contents.packets)?;
    all.set_item("others", contents.others())?;
    all.set_item("comment", &contents.comment)?;
    all.set_item("damage", &contents.damage)?;
    let left_out = PyDict::new(py);
    for (reason, count) in &contents.left_out {
        left_out.set_item(reason.to_string(), count)?;
    }
    all.set_item("left_out", left_out)?;
    let counts = [
        ("missed", contents.missed),
        ("untimed", contents.untimed),
        ("undescribed", contents.undescribed),
        ("cut_options", contents.cut_options),
        ("copies", found.copies),
        ("mirrored", found.mirrored),
        ("strays", steps.strays),
        ("steps_back", steps.back.0),
        ("steps_forward", steps.forward.0),
        ("without_payload", found.without_payload),
        ("minor_packets", found.minor_packets),
        ("probes", found.probes),
        ("unseen_bytes", found.unseen_bytes),
    ];
    for (name, count) in counts {
        all.set_item(name, count)?;
    }
    all.set_item("step_back_s", steps.back.1 as f64 / 1e9)?;
    all.set_item("step_forward_s", steps.forward.1 as f64 / 1e9)?;
    Ok(all)
}

/// A column of a series, and its value in a row.
type Column = (&'static str, fn(&Row) -> f64);

fn flow_dict<'py>(py: Python<'py>, flow: &CapturedFlow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let [sender, receiver] = flow.ends.map(|(address, port)| SocketAddr::new(address, port).to_string());
    dict.set_item("sender", sender)?;
    dict.set_item("receiver", receiver)?;
    dict.set_item("start_s", flow.start_s)?;
    dict.set_item("duration_s", flow.duration_s)?;
    dict.set_item("opened", flow.opened)?;
    dict.set_item("heard", flow.heard)?;
    dict.set_item("closed", flow.closed)?;
    dict.set_item("throughput_bps", flow.throughput_bps)?;
    dict.set_item("goodput_bps", flow.goodput_bps)?;
    dict.set_item("busy_s", flow.busy_s)?;
    dict.set_item("busy_bps", flow.busy_bps)?;
    dict.set_item("flight_bytes", flow.flight_bytes)?;
    dict.set_item("packets", flow.packets)?;
    dict.set_item("long_packets", flow.long_packets)?;
    dict.set_item("payload_bytes", flow.payload_bytes)?;
    dict.set_item("retransmits", flow.retransmits)?;
    dict.set_item("rtt_min_s", flow.rtt_min_s)?;
    dict.set_item("rtt_mean_s", flow.rtt_mean_s)?;
    dict.set_item("srtt_mean_s", flow.srtt_mean_s)?;
    dict.set_item("rtt_samples", flow.rtt_samples)?;
    let series = PyDict::new(py);
    let columns: [Column; 6] = [
        ("time_s", |row| row.time_s),
        ("received_bytes", |row| row.received_bytes),
        ("delivered_bytes", |row| row.delivered_bytes),
        ("srtt_s", |row| row.srtt_s),
        ("retransmits", |row| row.retransmits),
        ("flight_bytes", |row| row.flight_bytes),
    ];
    for (name, column) in columns {
        series.set_item(name, flow.rows.iter().map(column).collect::<Vec<f64>>())?;
    }
    dict.set_item("series", series)?;
    Ok(dict)
}

impl Asked {
    /// What the core is asked for.
    pub fn recording(&self) -> Recording<'_> {
        let Asked(path, program, snap_bytes, links) = self;
        Recording { path, snap_bytes: *snap_bytes, links, program }
    }
}

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
    let interfaces: Vec<Interface> = run
        .links()
        .iter()
        .map(|link| Interface {
            name: link.name.clone(),
            description: "a simulated link".to_owned(),
            bps: matches!(link.capacity, Capacity::Constant(_)).then(|| link.rate.as_bps()),
        })
        .collect();
    Recorder::create(&asked.recording(), &interfaces, flows(run), run.end())
        .map_err(|error| refuse("pcap", &error))
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
    run.plan().flows.iter().map(|flow| (flow.name.as_str(), &flow.connection))
}

/// Puts what became of a capture into a result.
pub fn add(result: &Bound<'_, PyDict>, written: &Written) -> PyResult<()> {
    let dict = PyDict::new(result.py());
    dict.set_item("packets", written.packets)?;
    dict.set_item("bytes", written.bytes)?;
    dict.set_item("missing", written.missing)?;
    dict.set_item("failure", written.failure.clone())?;
    result.set_item("capture", dict)
}

impl Finished {
    /// Puts it into a result.
    pub fn add_to(&self, result: &Bound<'_, PyDict>) -> PyResult<()> {
        if let Some(written) = &self.capture {
            add(result, written)?;
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
