//! iperf3 as what flows over TCP carry: a client of it in the sender's namespace and a server in the receiver's for each
//! flow. The connection that carries the data is looked at from outside, through a descriptor of our own.

use crate::error::LiveError;
use crate::namespace::{ADDRESSES, End};
use crate::path::{IPERF_CLIENTS, IPERF_SERVERS, segment_bytes};
use crate::sys;
use crate::tcp_info::TcpInfo;
use longfat_sim::{CheckedPlan, ConnectionPlan, PlanError};
use longfat_transport::udp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Error, Read, Result, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Servers come up, and both end when asked to, within this many steps (5 s in all; chosen here).
const STEPS: usize = 500;
const STEP: Duration = Duration::from_millis(10);
/// The largest segment that iperf3 sets (MAX_MSS of its iperf.h).
const LARGEST_SEGMENT: u32 = 9 * 1024;

/// A client sends so much before its server is ready for the test (COOKIE_SIZE of its iperf.h).
const COOKIE_BYTES: u64 = 37;

/// What flows over TCP carry.
#[derive(Clone, Debug, Default)]
pub enum Traffic {
    /// What Longfat's own sockets send.
    #[default]
    Longfat,
    /// What this program sends, which is iperf3.
    Iperf3(PathBuf),
}

/// What iperf3 says of a flow, from its beginning to its stop or the run's end; a figure that it has not is `None`.
#[derive(Clone, Debug, Serialize)]
pub struct IperfReport {
    /// Payload that the client has handed to the kernel, bit/s.
    pub sent_bps: Option<f64>,
    /// Payload that the server has read, bit/s.
    pub received_bps: Option<f64>,
    /// The same, bytes.
    pub received_bytes: Option<u64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// The greatest congestion window that the client saw when it looked, once a second.
    pub max_cwnd_bytes: Option<u64>,
    /// For how long the client has sent.
    pub seconds: Option<f64>,
    /// Shares of a processor that client and server used.
    pub processor: Vec<f64>,
    /// As the client names itself.
    pub version: Option<String>,
}

/// A plan's flows as far as iperf3 carries them.
pub struct Iperf<'a> {
    program: PathBuf,
    ends: &'a [End; 2],
    pairs: BTreeMap<usize, Pair>,
}

struct Pair {
    flow: String,
    server_port: u16,
    client_port: u16,
    server: Process,
    client: Option<Process>,
    /// What carries the data, once it is there.
    socket: Option<OwnedFd>,
    /// Whether both ends of it will go with their processes.
    tended: bool,
    stopped: bool,
}

/// Whether iperf3 can do what a plan asks for.
pub fn check<P>(plan: &CheckedPlan<P>, traffic: &Traffic) -> std::result::Result<(), LiveError> {
    let Traffic::Iperf3(_) = traffic else { return Ok(()) };
    let refuse = |at: String, what: String| Err(LiveError::Plan(PlanError { at, what }));
    let carried = plan.flows.iter().enumerate().filter(|(_, flow)| is_carried(&flow.connection));
    for (n, (i, flow)) in carried.enumerate() {
        if n >= IPERF_SERVERS.len() {
            let what = format!("accepted with iperf3: up to {} flows over TCP", IPERF_SERVERS.len());
            return refuse("flows".to_owned(), what);
        }
        if flow.bytes.is_some() {
            let what = "iperf3 ends when the kernel has taken the last byte, not when it has arrived; accepted \
                        with iperf3: flows without a size";
            return refuse(format!("flows[{i}].bytes"), what.to_owned());
        }
        if segment_bytes(&flow.connection) > LARGEST_SEGMENT {
            let what = format!("accepted with iperf3: segments of up to {LARGEST_SEGMENT} bytes");
            return refuse(format!("flows[{i}].mss_bytes"), what);
        }
    }
    Ok(())
}

fn is_carried(connection: &ConnectionPlan) -> bool {
    udp::find(&connection.algorithm).is_none()
}

impl<'a> Iperf<'a> {
    /// Servers for all of a plan's flows over TCP, which listen; none with other traffic.
    pub fn new<P>(
        traffic: &Traffic,
        ends: &'a [End; 2],
        plan: &CheckedPlan<P>,
    ) -> std::result::Result<Self, LiveError> {
        let Traffic::Iperf3(program) = traffic else {
            return Ok(Iperf { program: PathBuf::new(), ends, pairs: BTreeMap::new() });
        };
        let setup = LiveError::setup("iperf3");
        let carried = plan.flows.iter().enumerate().filter(|(_, flow)| is_carried(&flow.connection));
        let mut pairs = BTreeMap::new();
        for ((i, flow), (server_port, client_port)) in carried.zip(IPERF_SERVERS.zip(IPERF_CLIENTS)) {
            let side = 1 - flow.connection.forward[0];
            let mut command = Command::new(program);
            command.args(["--server", "--one-off", "--json", "--bind", &ADDRESSES[side].to_string()]);
            command.args(["--port", &server_port.to_string()]);
            let server = Process::start(command, &ends[side]).map_err(&setup)?;
            let flow = flow.name.clone();
            let (client, socket) = (None, None);
            pairs.insert(
                i,
                Pair {
                    flow,
                    server_port,
                    client_port,
                    server,
                    client,
                    socket,
                    tended: false,
                    stopped: false,
                },
            );
        }
        let mut iperf = Iperf { program: program.clone(), ends, pairs };
        iperf.wait_for_servers().map_err(setup)?;
        Ok(iperf)
    }

    fn wait_for_servers(&mut self) -> Result<()> {
        for _ in 0..STEPS {
            let tables = self.ends.each_ref().map(|end| end.within(listening).unwrap_or_default());
            let listens = |pair: &Pair| tables.iter().flatten().any(|&port| port == pair.server_port);
            if self.pairs.values().all(listens) {
                return Ok(());
            }
            for pair in self.pairs.values_mut() {
                pair.server.must_run()?;
            }
            std::thread::sleep(STEP);
        }
        Err(Error::other("its servers don't listen"))
    }

    /// Whether it carries this flow.
    pub fn carries(&self, flow: usize) -> bool {
        self.pairs.contains_key(&flow)
    }

    /// The port that a flow's data come from.
    pub fn port(&self, flow: usize) -> u16 {
        self.pairs[&flow].client_port
    }

    /// A flow's connection at its sender, while it is there.
    pub fn socket(&self, flow: usize) -> Option<BorrowedFd<'_>> {
        self.pairs.get(&flow)?.socket.as_ref().map(AsFd::as_fd)
    }

    /// Starts a flow's client.
    pub fn start(&mut self, flow: usize, planned: &ConnectionPlan, algorithm: Option<&str>) -> Result<()> {
        let Some(pair) = self.pairs.get_mut(&flow) else { return Ok(()) };
        let side = planned.forward[0];
        let mut command = Command::new(&self.program);
        command.args(["--client", &ADDRESSES[1 - side].to_string(), "--port", &pair.server_port.to_string()]);
        command.args(["--bind", &ADDRESSES[side].to_string(), "--cport", &pair.client_port.to_string()]);
        command.args(["--set-mss", &segment_bytes(planned).to_string()]);
        command.args(["--time", "0", "--json"]); // until it is interrupted
        if let Some(algorithm) = algorithm {
            command.args(["--congestion", algorithm]);
        }
        pair.client = Some(Process::start(command, &self.ends[side])?);
        Ok(())
    }

    /// Finds connections that were opened since the last time, and sees to it that nothing of them outlives its process.
    pub fn attend(&mut self) -> Result<()> {
        for pair in self.pairs.values_mut().filter(|pair| !pair.stopped) {
            let Some(client) = &mut pair.client else { continue };
            client.must_run().map_err(|e| Error::other(format!("iperf3 of flow {}: {e}", pair.flow)))?;
            if pair.tended {
                continue;
            }
            for (socket, own, _) in tend(client)? {
                if own == pair.client_port {
                    pair.socket = Some(socket);
                }
            }
            // until data come, the server opens its port again and again: nobody else may have a descriptor of it then
            let acked = |socket: &OwnedFd| TcpInfo::of(socket.as_fd()).map(|info| info.acked_bytes);
            if pair.socket.as_ref().is_some_and(|socket| acked(socket).is_ok_and(|n| n > COOKIE_BYTES)) {
                pair.tended = tend(&pair.server)?.iter().any(|&(_, _, peer)| peer == pair.client_port);
            }
        }
        Ok(())
    }

    /// A flow ends: nothing of it is sent from now on.
    pub fn stop(&mut self, flow: usize) -> Result<()> {
        match self.pairs.get_mut(&flow) {
            Some(pair) => pair.stop(),
            None => Ok(()),
        }
    }

    /// Ends all of them, and takes their reports, by flow.
    pub fn finish(&mut self) -> Result<BTreeMap<String, IperfReport>> {
        self.pairs.values_mut().try_for_each(Pair::stop)?;
        let mut reports = BTreeMap::new();
        for pair in std::mem::take(&mut self.pairs).into_values() {
            if let Some(client) = pair.client {
                reports.insert(pair.flow, report(&client.end()?, &pair.server.end()?));
            }
        }
        Ok(reports)
    }
}

impl Pair {
    fn stop(&mut self) -> Result<()> {
        if !self.stopped {
            self.stopped = true;
            self.socket = None;
            // each of them sums up for itself, before the other's word has come to it
            self.server.interrupt()?;
            self.client.as_mut().map_or(Ok(()), Process::interrupt)?;
        }
        Ok(())
    }
}

/// Every socket of a process is to be no more once it is closed: a kernel would go on with its connection for minutes.
fn tend(process: &Process) -> Result<Vec<(OwnedFd, u16, u16)>> {
    let sockets = sys::sockets_of(process.child.id())?;
    for (socket, ..) in &sockets {
        sys::abort_when_closed(socket.as_fd())?;
    }
    Ok(sockets)
}

/// The ports at which something listens in the calling thread's namespace.
fn listening() -> Result<Vec<u16>> {
    const LISTEN: &str = "0A"; // TCP_LISTEN of include/net/tcp_states.h
    let table = fs::read_to_string("/proc/thread-self/net/tcp")?;
    // number: local address:port, remote address:port, state, ...
    let port = |row: &str| {
        let mut fields = row.split_whitespace();
        let (local, state) = (fields.nth(1)?, fields.nth(1)?);
        let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        (state == LISTEN).then_some(port)
    };
    Ok(table.lines().filter_map(port).collect())
}

/// An iperf3 that goes with the thread that started it; what it says is kept in memory.
struct Process {
    child: Child,
    report: File,
    complaint: File,
}

impl Process {
    fn start(mut command: Command, at: &End) -> Result<Self> {
        let (report, complaint) = (sys::memory_file(c"report")?, sys::memory_file(c"complaint")?);
        command.stdin(Stdio::null()).stdout(report.try_clone()?).stderr(complaint.try_clone()?);
        sys::end_with_this_thread(&mut command);
        Ok(Process { child: at.within(|| command.spawn())?, report, complaint })
    }

    /// An error, with what it says, if it has ended.
    fn must_run(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            return Ok(());
        }
        let told = json(&mut self.report)?["error"].as_str().map(str::to_owned);
        let complaint = text(&mut self.complaint)?;
        let why = told.or_else(|| complaint.lines().next().map(str::to_owned));
        Err(Error::other(why.unwrap_or_else(|| "it has ended".to_owned())))
    }

    fn interrupt(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() { sys::interrupt(self.child.id()) } else { Ok(()) }
    }

    /// Waits for its end; what it says.
    fn end(mut self) -> Result<Value> {
        for _ in 0..STEPS {
            if self.child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(STEP);
        }
        json(&mut self.report)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // it has ended already, or else its report does not matter
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(file: &mut File) -> Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Nothing (null) if there is no report.
fn json(file: &mut File) -> Result<Value> {
    Ok(serde_json::from_str(&text(file)?).unwrap_or_default())
}

/// The figures of a client's report and its server's (iperf3's own keys).
fn report(client: &Value, server: &Value) -> IperfReport {
    let sender = &client["end"]["streams"][0]["sender"];
    let processor = |report: &Value| report["end"]["cpu_utilization_percent"]["host_total"].as_f64();
    IperfReport {
        sent_bps: sender["bits_per_second"].as_f64(),
        received_bps: server["end"]["sum_received"]["bits_per_second"].as_f64(),
        received_bytes: server["end"]["sum_received"]["bytes"].as_u64(),
        retransmits: sender["retransmits"].as_u64(),
        max_cwnd_bytes: sender["max_snd_cwnd"].as_u64(),
        seconds: sender["seconds"].as_f64(),
        processor: [client, server].into_iter().filter_map(processor).map(|p| p / 100.0).collect(),
        version: client["start"]["version"].as_str().map(str::to_owned),
    }
}
