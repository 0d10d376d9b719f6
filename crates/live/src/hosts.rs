//! The hosts of both ends: one thread opens connections when the plan says so, keeps them busy, takes what
//! arrives, and looks at them at sample times. It waits for whatever comes first.

mod opening;

use crate::agenda::{Act, Agenda};
use crate::background::Background;
use crate::connection::{CHUNK, Connection, Endpoint, Owner, carrier, echoes, fill, take, window_bytes};
use crate::datagrams;
use crate::flow::Flow;
use crate::guided::Guided;
use crate::iperf::Iperf;
use crate::namespace::{ADDRESSES, End};
use crate::path::Counts;
use crate::planned::Planned;
use crate::ports::{ECHO_PORT, GUIDED_PORTS, LISTEN_PORT, WINDOW_PORTS, connection_id};
use crate::programs::{self, News as Programs, ProgramReport};
use crate::router::{News, Times};
use crate::sys::clock::Clock;
use crate::sys::socket;
use crate::sys::waiting::{Ready, Watch, sleep, would_block};
use crate::tcp_info::TcpInfo;
use crate::until::Until;
use longfat_net::Sojourn;
use longfat_sim::{BackgroundSummary, EventRow, Series, Streams, TransferSample};
use longfat_units::{Interval, Time};
use longfat_wire::{Carrier, FlowId};
use socket2::Socket;
use std::collections::BTreeMap;
use std::io::Result;
use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// How much data the kernel holds that it has not sent yet: as much as its path carries in this time,
/// and at least this many bytes. More would still be sent after a flow's stop; less could run out while this
/// thread waits for a processor.
pub const UNSENT: (Interval, u64) = (Interval::from_millis(50), 1 << 16);

fn open_socket(end: &End, carrier: Carrier) -> Result<Socket> {
    end.within(match carrier {
        Carrier::Tcp => socket::tcp,
        Carrier::Udp => socket::udp,
    })
}

/// Between two looks at loss recovery, where there are few flows.
const WATCH: Interval = Interval::from_millis(10);
const FEW_FLOWS: usize = 50;
/// The thread checks at least this often whether it is still wanted.
const LONGEST_WAIT: Interval = Interval::from_millis(50);
/// The number of what tells about programs.
const PROGRAMS: u64 = u64::MAX;
/// Between two looks whether a program's peer waits for it.
const PEER: Interval = Interval::from_millis(20);
/// Numbers below this are listeners': of two ends each, three kinds and one for each algorithm that routers
/// guide.
const LISTENERS: u64 = 6 + 2 * (GUIDED_PORTS.end - GUIDED_PORTS.start + MOST_WINDOWS) as u64;
/// Limits of receivers' windows that a run can have.
const MOST_WINDOWS: u16 = WINDOW_PORTS.end - WINDOW_PORTS.start;

/// The limits of receivers' windows in a plan, bytes, each once.
fn windows(plan: &Planned) -> Vec<u32> {
    let flows = plan.run.flows.iter().map(|flow| &flow.connection);
    let sessions = plan.run.background.iter().map(|entry| &entry.connection);
    let mut all: Vec<u32> = flows.chain(sessions).filter_map(window_bytes).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The hosts of a run.
pub struct Hosts<'a> {
    clock: Clock,
    ends: &'a [End; 2],
    plan: &'a Planned,
    congestion: &'a BTreeMap<String, String>,
    times: Times,
    watch: Watch,
    news: Vec<Sender<News>>,
    /// For connections at both ends, then for datagrams at both, and perhaps for connections whose receivers
    /// tell of every mark at both, and for those whose rate routers set.
    listeners: Vec<Socket>,
    /// The limits of receivers' windows, bytes, in the order of their ports.
    windows: Vec<u32>,
    connections: Vec<Option<Connection>>,
    vacant: Vec<usize>,
    sources: Vec<datagrams::Source>,
    counts: BTreeMap<FlowId, Arc<Counts>>,
    agenda: Agenda,
    samples: u64,
    /// Flows with series.
    pub flows: Vec<Flow>,
    /// The slot in `connections` of each flow's sending end.
    sending: Vec<Option<usize>>,
    background: Background<'a>,
    /// Summaries of background sources, once the measured span has ended.
    pub background_summaries: Vec<BackgroundSummary>,
    /// What was seen of loss recovery, if the plan asks for it.
    pub events: Vec<EventRow>,
    /// What connections send.
    zeros: Vec<u8>,
    /// Room for what connections receive.
    room: Vec<u8>,
    /// The flows whose traffic iperf3 makes.
    pub iperf: Iperf<'a>,
    guided: Guided,
    programs: Option<programs::Ready>,
    /// How much later than planned this thread acted: a socket that it holds then takes nothing.
    pub lateness: Sojourn,
}

impl<'a> Hosts<'a> {
    /// Hosts that have not begun. `congestion` has the kernel's name for the algorithm of each flow and
    /// background source.
    pub fn new(
        ends: &'a [End; 2],
        plan: &'a Planned,
        congestion: &'a BTreeMap<String, String>,
        times: Times,
        news: Vec<Sender<News>>,
        clock: Clock,
        iperf: Iperf<'a>,
    ) -> Result<Self> {
        let mut hosts = Hosts {
            clock,
            ends,
            plan,
            congestion,
            times,
            watch: Watch::new()?,
            news,
            listeners: Vec::new(),
            windows: windows(plan),
            connections: Vec::new(),
            vacant: Vec::new(),
            sources: Vec::new(),
            counts: BTreeMap::new(),
            agenda: Agenda::default(),
            samples: 0,
            flows: Vec::new(),
            sending: vec![None; plan.run.flows.len()],
            background: Background::new(&plan.run),
            background_summaries: Vec::new(),
            events: Vec::new(),
            zeros: vec![0; CHUNK],
            room: vec![0; CHUNK],
            iperf,
            guided: Guided::default(),
            programs: None,
            lateness: Sojourn::default(),
        };
        hosts.listen()?;
        hosts.arrange();
        Ok(hosts)
    }

    /// Returns the kernel's name for the algorithm of each flow and background source.
    pub const fn congestion(&self) -> &BTreeMap<String, String> {
        self.congestion
    }

    /// Takes the background connections that are complete.
    pub fn take_transfers(&mut self) -> Series<TransferSample> {
        self.background.take_transfers()
    }

    fn listen(&mut self) -> Result<()> {
        let echoing = self.echoing();
        let ports = [(Carrier::Tcp, LISTEN_PORT, None), (Carrier::Udp, LISTEN_PORT, None)];
        let echo_port = echoing.map(|algorithm| (Carrier::Tcp, ECHO_PORT, Some(algorithm)));
        let window_ports = WINDOW_PORTS.take(self.windows.len()).map(|port| (Carrier::Tcp, port, None));
        for (carrier, port, algorithm) in ports.into_iter().chain(echo_port).chain(window_ports) {
            let window = self.window_at(port);
            for (end, address) in self.ends.iter().zip(ADDRESSES) {
                let listener = open_socket(end, carrier)?;
                socket::bind(&listener, SocketAddrV4::new(address, port))?;
                if let Some(algorithm) = algorithm {
                    listener.set_tcp_congestion(algorithm.as_bytes())?;
                }
                if let Some(bytes) = window {
                    socket::limit_window(&listener, bytes)?;
                }
                if carrier == Carrier::Tcp {
                    socket::abort_when_closed(&listener)?; // and so the connections that it accepts
                    socket::listen(&listener)?;
                }
                self.watch.add(listener.as_fd(), self.listeners.len() as u64, false)?;
                self.listeners.push(listener);
            }
        }
        Ok(())
    }

    /// The greatest window that receivers offer who listen at this port, bytes, if it has a limit.
    fn window_at(&self, port: u16) -> Option<u32> {
        WINDOW_PORTS.zip(&self.windows).find(|&(own, _)| own == port).map(|(_, &bytes)| bytes)
    }

    /// Takes the sockets of connections whose rate routers set.
    pub fn guide(&mut self, mut guided: Guided) -> Result<()> {
        for (listeners, port) in guided.take_listeners().into_iter().zip(GUIDED_PORTS) {
            for (listener, address) in listeners.into_iter().zip(ADDRESSES) {
                socket::bind(&listener, SocketAddrV4::new(address, port))?;
                socket::abort_when_closed(&listener)?;
                socket::listen(&listener)?;
                self.watch.add(listener.as_fd(), self.listeners.len() as u64, false)?;
                self.listeners.push(listener);
            }
        }
        self.guided = guided;
        Ok(())
    }

    /// Takes the programs that are to run on the path.
    pub fn host(&mut self, programs: programs::Ready) -> Result<()> {
        for (i, start, stop) in programs.times() {
            self.agenda.put(start, Act::StartProgram(i));
            self.agenda.put(stop, Act::StopProgram(i));
        }
        self.watch.add(programs.as_fd(), PROGRAMS, false)?;
        self.programs = Some(programs);
        Ok(())
    }

    /// Ends all programs and returns how they ran.
    pub fn end_programs(&mut self) -> Option<Vec<ProgramReport>> {
        let now = self.clock.now();
        self.programs.take().map(|programs| programs.finish(now))
    }

    /// The kernel's name of the algorithm whose receivers tell of every mark, if a connection has it.
    fn echoing(&self) -> Option<&'a str> {
        let flows = self.plan.run.flows.iter().map(|flow| (&flow.name, &flow.connection));
        let sessions = self.plan.run.background.iter().map(|entry| (&entry.name, &entry.connection));
        let (name, _) = flows.chain(sessions).find(|(_, connection)| echoes(connection))?;
        self.congestion.get(name).map(String::as_str)
    }

    /// Puts everything that is known beforehand on the agenda.
    fn arrange(&mut self) {
        for (i, planned) in self.plan.run.flows.iter().enumerate() {
            let streams = Streams::of_flow(self.plan.run.seed, &planned.name);
            let start = Time::from_secs_f64(planned.start.draw(&mut streams.stream("start")));
            let rtt = Interval::from_secs_f64(planned.connection.rtt().draw(&mut streams.stream("rtt")));
            let has_cwnd = carrier(&planned.connection) == Carrier::Tcp;
            self.flows.push(Flow::new(planned, start, rtt, has_cwnd));
            self.agenda.put(start, Act::Start(i));
            self.agenda.put(planned.connection.stop(), Act::Stop(Owner::Flow(i)));
        }
        for (i, at) in self.background.first_openings() {
            self.agenda.put(at, Act::Open(i));
        }
        self.agenda.put(Time::ZERO, Act::Sample);
        self.agenda.put(self.times.measured.0, Act::Begin);
        self.agenda.put(self.times.measured.1, Act::End);
        if self.flows.len() <= FEW_FLOWS {
            self.agenda.put(Time::ZERO + WATCH, Act::Look);
        }
    }

    /// Runs to the end, which a program may bring about.
    pub fn run(&mut self, until: &Until) -> Result<()> {
        let mut ready = Vec::new();
        loop {
            let now = self.clock.now();
            while let Some((at, act)) = self.agenda.take_due(now.min(until.end())) {
                self.lateness.record(self.clock.now().since(at));
                self.act(at, act)?;
            }
            if now >= until.end() {
                break;
            }
            let next = self.agenda.next().min(until.end());
            let most = next.since(self.clock.now()).min(LONGEST_WAIT);
            sleep(most.min(self.times.rest.rest));
            self.watch.wait(most.saturating_sub(self.times.rest.rest), &mut ready)?;
            for &Ready { number, read, write } in &ready {
                match number.checked_sub(LISTENERS) {
                    None => self.take_new(number as usize)?,
                    Some(_) if number == PROGRAMS => self.hear_of_programs(until)?,
                    Some(slot) => self.serve(slot as usize, read, write)?,
                }
            }
        }
        self.times.end = until.end();
        if self.times.measured.1 > self.times.end {
            self.times.measured.1 = self.times.end;
            self.act(self.times.end, Act::End)?;
        }
        Ok(())
    }

    /// A program has ended, and perhaps the run with it.
    fn hear_of_programs(&mut self, until: &Until) -> Result<()> {
        let now = self.clock.now();
        if let Some(programs) = &mut self.programs
            && programs.look(now)? == Programs::Over
        {
            until.end_by(now);
        }
        Ok(())
    }

    /// Starts a program, or waits for its peer.
    fn start_program(&mut self, now: Time, i: usize) -> Result<()> {
        let Some(programs) = &mut self.programs else { return Ok(()) };
        if let Some(side) = programs.awaited(now, i)
            && !self.ends[side].within(programs::somebody_waits)?
        {
            self.agenda.put(now + PEER, Act::StartProgram(i));
            return Ok(());
        }
        programs.start(now, i)
    }

    fn act(&mut self, at: Time, act: Act) -> Result<()> {
        if matches!(act, Act::Look | Act::Sample) {
            self.iperf.attend()?;
        }
        match act {
            Act::Start(i) if self.iperf.carries(i) => self.start_iperf(i)?,
            Act::Start(i) => {
                let planned = &self.plan.run.flows[i];
                let (streams, rtt) = (Streams::of_flow(self.plan.run.seed, &planned.name), self.flows[i].rtt);
                let counts = self.flows[i].counts.clone();
                self.open(at, &planned.connection, &streams, Owner::Flow(i), planned.bytes, rtt, counts)?;
            }
            Act::Stop(owner) => self.stop(at, owner)?,
            Act::Open(i) => self.open_next(at, i)?,
            Act::Datagrams(i) => {
                let next = self.sources[i].on_timer(at, &self.zeros);
                self.agenda.put(next, Act::Datagrams(i));
            }
            Act::StartProgram(i) => self.start_program(at, i)?,
            Act::StopProgram(i) => {
                if let Some(programs) = &mut self.programs {
                    programs.stop(i)?;
                }
            }
            Act::Look => {
                self.look(at);
                self.agenda.put(at + WATCH, Act::Look);
            }
            Act::Sample => {
                self.look(at);
                self.flows.iter_mut().for_each(|flow| flow.sample(at, self.times.measured));
                self.samples += 1;
                let next = Time::from_secs_f64(self.samples as f64 * self.plan.run.sample.flows_s);
                self.agenda.put(next, Act::Sample);
            }
            Act::Begin => {
                self.look(at);
                self.flows.iter_mut().for_each(Flow::begin_measured);
                self.background.begin_measured();
            }
            Act::End => {
                self.look(at);
                for (flow, planned) in self.flows.iter_mut().zip(&self.plan.run.flows) {
                    flow.end_measured(planned.connection.algorithm.listed_name(), self.times.measured);
                }
                self.background_summaries = self.background.summaries(self.times.measured.0, at);
            }
        }
        Ok(())
    }

    /// Looks at the kernel's side of every flow that runs.
    fn look(&mut self, now: Time) {
        for i in 0..self.flows.len() {
            if let Some(info) = self.info(i) {
                let flow = &mut self.flows[i];
                if self.iperf.carries(i) {
                    // nobody else tells what its server has received
                    let delivered = &flow.counts.delivered_bytes;
                    delivered.add(info.acked_bytes.saturating_sub(delivered.get()));
                }
                let row = flow.see(now, info);
                if self.plan.run.events {
                    self.events.extend(row);
                }
            }
        }
    }

    /// Returns what the kernel says of a flow's connection now.
    fn info(&self, i: usize) -> Option<TcpInfo> {
        let own = self.sending[i].and_then(|slot| self.connections[slot].as_ref());
        let socket = own.map(|connection| &connection.socket).or_else(|| self.iperf.socket(i))?;
        TcpInfo::of(socket).ok()
    }

    /// Puts a connection into a slot, under whose number its socket is watched, and returns the slot.
    fn keep(&mut self, connection: Connection) -> Result<usize> {
        let slot = self.vacant.pop().unwrap_or(self.connections.len());
        let write = matches!(connection.end, Endpoint::Sending { .. });
        self.watch.add(connection.socket.as_fd(), LISTENERS + slot as u64, write)?;
        if slot == self.connections.len() {
            self.connections.push(Some(connection));
        } else {
            self.connections[slot] = Some(connection);
        }
        Ok(slot)
    }

    /// Takes what a listener has: connections to accept, or datagrams, which the router has counted already.
    fn take_new(&mut self, listener: usize) -> Result<()> {
        let (kind, side) = (listener / self.ends.len(), listener % self.ends.len());
        if kind == 1 {
            while socket::receive(&self.listeners[listener], &mut [0]).is_ok() {}
            return Ok(());
        }
        loop {
            match socket::accept(&self.listeners[listener]) {
                Ok((socket, port)) => {
                    let flow = connection_id(Carrier::Tcp, 1 - side, port);
                    let counts = self.counts.get(&flow).cloned().unwrap_or_default();
                    let own = socket.local_addr()?.as_socket_ipv4();
                    let window = own.and_then(|own| self.window_at(own.port()));
                    self.keep(Connection { socket, end: Endpoint::Sink { counts, window } })?;
                }
                Err(error) if would_block(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Serves a connection that can be read or written.
    fn serve(&mut self, slot: usize, read: bool, write: bool) -> Result<()> {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return Ok(()) };
        let (socket, number) = (&connection.socket, LISTENERS + slot as u64);
        match &mut connection.end {
            Endpoint::Sink { counts, window } => {
                let ends = read && take(socket, counts, &mut self.room)?;
                if let Some(bytes) = window {
                    socket::limit_window(socket, *bytes)?;
                }
                if ends {
                    counts.all_delivered_ns.add(self.clock.now().as_ns());
                    socket::finish(socket)?;
                    self.watch.watch_changes(socket.as_fd(), number)?;
                    connection.end = Endpoint::Ending;
                }
            }
            Endpoint::Ending => {
                if TcpInfo::is_over(socket)? {
                    self.close(slot, true);
                }
            }
            Endpoint::Sending { left, finished, .. } => {
                if write && !*finished {
                    fill(socket, left, &self.zeros)?;
                    if *left == Some(0) {
                        socket::finish(socket)?;
                        *finished = true;
                        self.watch.watch_reads(socket.as_fd(), number)?;
                    }
                }
                if read {
                    // the listening side sends nothing but its end, once it has everything
                    match socket::receive(socket, &mut [0]) {
                        Err(error) if would_block(&error) => {}
                        received => self.close(slot, received.is_ok()),
                    }
                }
            }
        }
        Ok(())
    }

    /// Closes a connection that is over: everything was acknowledged, or else the kernel has given up.
    fn close(&mut self, slot: usize, complete: bool) {
        let Some(connection) = self.connections[slot].take() else { return };
        self.vacant.push(slot);
        let Endpoint::Sending { owner, total, began, flow, .. } = connection.end else { return };
        self.counts.remove(&flow);
        let now = self.clock.now();
        match owner {
            Owner::Flow(i) => {
                if let Ok(info) = TcpInfo::of(&connection.socket) {
                    self.events.extend(self.flows[i].see(now, info).filter(|_| self.plan.run.events));
                }
                self.flows[i].completed = complete.then_some(now);
                self.sending[i] = None;
            }
            Owner::Session(i) => {
                let bytes = complete.then_some(total.unwrap_or_default());
                if let Some(at) = self.background.close(now, i, began, bytes) {
                    self.agenda.put(at, Act::Open(i));
                }
            }
        }
    }

    /// Stops a flow or an endless background connection: it sends nothing new from now on, but the kernel
    /// still sends what it has taken already.
    fn stop(&mut self, now: Time, by: Owner) -> Result<()> {
        if let Owner::Flow(i) = by
            && self.iperf.carries(i)
        {
            self.look(now);
            self.flows[i].completed = Some(now);
            return self.iperf.stop(i);
        }
        for source in self.sources.iter_mut().filter(|source| source.owner == by) {
            source.stop(now);
        }
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            if let Some(Connection { socket, end: Endpoint::Sending { owner, left, finished, .. } }) =
                connection
                && *owner == by
                && !*finished
            {
                (*left, *finished) = (Some(0), true);
                socket::finish(socket)?;
                self.watch.watch_reads(socket.as_fd(), LISTENERS + slot as u64)?;
            }
        }
        Ok(())
    }

    /// Looks at the flows' kernels for the last time, before routers take what hosts have sent up to now.
    /// Timers may still send something after that.
    pub fn look_last(&mut self) {
        for i in 0..self.flows.len() {
            if let Some(info) = self.info(i) {
                self.flows[i].info = info;
            }
        }
    }

    /// Returns how many data segments the flows' kernels had sent at that look beyond those that came to the
    /// router.
    pub fn missing(&self) -> u64 {
        let missing =
            |flow: &Flow| flow.info.data_segments_sent.saturating_sub(flow.counts.packets_sent.get());
        self.flows.iter().map(missing).sum()
    }
}
