//! iperf3 as a source of traffic: for each flow over TCP, a client in the sender's namespace and a server in
//! the receiver's. The connection that carries the data is observed from outside, through our own descriptor
//! of its socket.

use crate::connection::{carrier, echoes, segment_bytes};
use crate::error::LiveError;
use crate::guided::is_guided;
use crate::layout::Layout;
use crate::namespace::{ADDRESSES, End};
use crate::ports::{IPERF_CLIENTS, IPERF_SERVERS};
use crate::sys::process::{ForeignSocket, end_with_this_thread, interrupt, memory_file, sockets_of};
use crate::sys::socket::abort_when_closed;
use crate::tcp_info::TcpInfo;
use longfat_sim::{CheckedConnection, CheckedRun, ConnectionPlan, PlanError};
use longfat_wire::Carrier;
use serde::Serialize;
use serde_json::Value;
use socket2::Socket;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Error, Read, Result, Seek};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Servers have to come up, and clients and servers to end when asked, within this many steps (5 s in all;
/// chosen here).
const STEPS: usize = 500;
const STEP: Duration = Duration::from_millis(10);
/// The largest segment that iperf3 sets (MAX_MSS of its iperf.h).
const LARGEST_SEGMENT: u32 = 9 * 1024;

/// How much a client sends before its server is ready for the test (COOKIE_SIZE of its iperf.h).
const COOKIE_BYTES: u64 = 37;

/// What makes the traffic of flows over TCP.
#[derive(Clone, Debug, Default)]
pub enum Traffic {
    /// Longfat's own sockets.
    #[default]
    Longfat,
    /// This program, which is iperf3.
    Iperf3(PathBuf),
}

/// What iperf3 reports about a flow, from its start to its stop or to the end of the run; a number that the
/// report lacks is `None`.
#[derive(Clone, Debug, Serialize)]
pub struct IperfReport {
    /// Payload that the client has handed to the kernel, bit/s.
    pub sent_bps: Option<f64>,
    /// Payload that the server has read, bit/s.
    pub received_bps: Option<f64>,
    /// The same, bytes.
    pub received_bytes: Option<u64>,
    /// Segments that were retransmitted.
    pub retransmits: Option<u64>,
    /// The greatest congestion window that the client saw; it looks once a second.
    pub max_cwnd_bytes: Option<u64>,
    /// How long the client has sent.
    pub seconds: Option<f64>,
    /// The shares of a processor that client and server used.
    pub processor: Vec<f64>,
    /// The version that the client reports.
    pub version: Option<String>,
}

/// The flows of a plan that iperf3 carries.
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
    /// The socket that carries the data, once it exists.
    socket: Option<Socket>,
    /// Whether both ends of the connection will end with their processes.
    tended: bool,
    stopped: bool,
}

/// Checks that iperf3 can do what a plan asks for.
pub fn check(plan: &CheckedRun, traffic: &Traffic) -> std::result::Result<(), LiveError> {
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
        if echoes(&flow.connection) {
            let what = "iperf3's server has the kernel's default algorithm, which does not tell of every mark; accepted \
                        with iperf3: other algorithms";
            return refuse(format!("flows[{i}].algorithm"), what.to_owned());
        }
        if is_guided(&flow.connection) {
            let what = "iperf3 opens its own sockets, outside the cgroup whose packets carry explicit headers; accepted \
                        with iperf3: other algorithms";
            return refuse(format!("flows[{i}].algorithm"), what.to_owned());
        }
        if segment_bytes(&flow.connection) > LARGEST_SEGMENT {
            let what = format!("accepted with iperf3: segments of up to {LARGEST_SEGMENT} bytes");
            return refuse(format!("flows[{i}].mss"), what);
        }
    }
    Ok(())
}

fn is_carried(connection: &CheckedConnection) -> bool {
    carrier(connection) == Carrier::Tcp
}

impl<'a> Iperf<'a> {
    /// Starts a server for each of a plan's flows over TCP and waits until all listen; starts none with other
    /// traffic.
    pub fn new(
        traffic: &Traffic,
        ends: &'a [End; 2],
        plan: &CheckedRun,
        layout: &Layout,
    ) -> std::result::Result<Self, LiveError> {
        let Traffic::Iperf3(program) = traffic else {
            return Ok(Iperf { program: PathBuf::new(), ends, pairs: BTreeMap::new() });
        };
        let setup = LiveError::setup("iperf3");
        let carried = plan.flows.iter().enumerate().filter(|(_, flow)| is_carried(&flow.connection));
        let mut pairs = BTreeMap::new();
        for ((i, flow), (server_port, client_port)) in carried.zip(IPERF_SERVERS.zip(IPERF_CLIENTS)) {
            let side = 1 - layout.side(&flow.connection);
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
        Err(Error::other("its servers do not listen"))
    }

    /// Whether it carries this flow.
    pub fn carries(&self, flow: usize) -> bool {
        self.pairs.contains_key(&flow)
    }

    /// Returns the port that a flow's data come from.
    pub fn port(&self, flow: usize) -> u16 {
        self.pairs[&flow].client_port
    }

    /// Returns the sender's socket of a flow, while it exists.
    pub fn socket(&self, flow: usize) -> Option<&Socket> {
        self.pairs.get(&flow)?.socket.as_ref()
    }

    /// Starts a flow's client on this side.
    pub fn start(
        &mut self,
        flow: usize,
        side: usize,
        planned: &ConnectionPlan,
        algorithm: Option<&str>,
    ) -> Result<()> {
        let Some(pair) = self.pairs.get_mut(&flow) else { return Ok(()) };
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

    /// Finds connections that were opened since the last call, and makes sure that none of them outlives its
    /// process.
    pub fn attend(&mut self) -> Result<()> {
        for pair in self.pairs.values_mut().filter(|pair| !pair.stopped) {
            let Some(client) = &mut pair.client else { continue };
            client.must_run().map_err(|e| Error::other(format!("iperf3 of flow {}: {e}", pair.flow)))?;
            if pair.tended {
                continue;
            }
            for ForeignSocket { socket, port, .. } in tend(client)? {
                if port == pair.client_port {
                    pair.socket = Some(socket);
                }
            }
            // until the server is ready, it opens its port again and again: nobody else may have a descriptor
            // of it then. The client waits for that before it sends more than the cookie.
            let sent = |socket: &Socket| TcpInfo::of(socket).map(|info| info.sent_bytes);
            if pair.socket.as_ref().is_some_and(|socket| sent(socket).is_ok_and(|n| n > COOKIE_BYTES)) {
                pair.tended = tend(&pair.server)?.iter().any(|found| found.peer == Some(pair.client_port));
            }
        }
        Ok(())
    }

    /// Stops a flow: it sends nothing from now on.
    pub fn stop(&mut self, flow: usize) -> Result<()> {
        match self.pairs.get_mut(&flow) {
            Some(pair) => pair.stop(),
            None => Ok(()),
        }
    }

    /// Ends all clients and servers and returns their reports by flow.
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
            // each side sums up by itself, before the other's message has reached it
            self.server.interrupt()?;
            self.client.as_mut().map_or(Ok(()), Process::interrupt)?;
        }
        Ok(())
    }
}

/// Makes every close of a process's sockets abort the connection, which the kernel would otherwise go on with
/// for minutes. Returns the sockets.
fn tend(process: &Process) -> Result<Vec<ForeignSocket>> {
    let sockets = sockets_of(&process.child)?;
    for found in &sockets {
        abort_when_closed(&found.socket)?;
    }
    Ok(sockets)
}

/// Returns the TCP ports that something listens on in the calling thread's namespace.
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

/// An iperf3 that ends with the thread that started it; its output is kept in memory.
struct Process {
    child: Child,
    report: File,
    complaint: File,
}

impl Process {
    fn start(mut command: Command, at: &End) -> Result<Self> {
        let (report, complaint) = (memory_file("report")?, memory_file("complaint")?);
        command.stdin(Stdio::null()).stdout(report.try_clone()?).stderr(complaint.try_clone()?);
        end_with_this_thread(&mut command);
        Ok(Process { child: at.within(|| command.spawn())?, report, complaint })
    }

    /// Fails, with what the process printed, if it has ended.
    fn must_run(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            return Ok(());
        }
        let reported = json(&mut self.report)?["error"].as_str().map(str::to_owned);
        let complaint = text(&mut self.complaint)?;
        let why = reported.or_else(|| complaint.lines().next().map(str::to_owned));
        Err(Error::other(why.unwrap_or_else(|| "it has ended".to_owned())))
    }

    fn interrupt(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() { interrupt(&self.child) } else { Ok(()) }
    }

    /// Waits until it ends, and returns its report.
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
        // either it has ended already, or its report does not matter
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

/// Parses a report; null if there is none.
fn json(file: &mut File) -> Result<Value> {
    Ok(serde_json::from_str(&text(file)?).unwrap_or_default())
}

/// Picks the numbers from the reports of a client and its server (by iperf3's own keys).
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
