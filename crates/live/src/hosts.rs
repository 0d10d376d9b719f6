//! The hosts of both ends: opens connections when the plan says so, keeps them busy, takes what arrives, and looks at them
//! at sample times. One thread, which waits for whatever comes first.

use crate::connection::{CHUNK, Connection, Endpoint, Owner, fill, take};
use crate::flow::Flow;
use crate::iperf::Iperf;
use crate::namespace::{ADDRESSES, End};
use crate::path::{Counts, LISTEN_PORT, Path, Stamps, place, segment_bytes};
use crate::router::{News, Times};
use crate::sys::{self, Clock, Watch};
use crate::tcp_info::TcpInfo;
use longfat_net::Sojourn;
use longfat_sim::{
    BackgroundCounters, BackgroundSummary, CheckedConnection, CheckedPlan, EventRow, PathLosses, Series,
    Session, Streams, TransferSample, Transport, background_summary, sessions,
};
use longfat_transport::udp;
use longfat_units::{Interval, Time};
use longfat_wire::{Carrier, FlowId, Kind, RealPacket};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Between two looks at what loss recovery is at, where there are few flows.
const WATCH: Interval = Interval::from_millis(10);
const FEW_FLOWS: usize = 50;
/// What the kernel holds of data that was not sent yet: so long at the first link's rate, at least so much. More would be
/// sent after a flow's stop; less could be used up while this thread waits for a processor.
pub const UNSENT: (Interval, u64) = (Interval::from_millis(50), 1 << 16);
/// IP and UDP headers.
const UDP_HEADERS: u32 = 28;
const LISTENERS: u64 = 4;

/// What there is to do at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Act {
    Sample,
    Begin,
    End,
    Look,
    Start(usize),
    Stop(Owner),
    Open(usize),
    Datagrams(usize),
}

/// A source of datagrams.
struct Source {
    owner: Owner,
    sender: udp::Sender,
    socket: OwnedFd,
    planned_for: Time,
}

/// The hosts of a run.
pub struct Hosts<'a> {
    clock: Clock,
    ends: &'a [End; 2],
    plan: &'a CheckedPlan<RealPacket>,
    congestion: &'a BTreeMap<String, String>,
    times: Times,
    watch: Watch,
    news: [Sender<News>; 2],
    listeners: Vec<OwnedFd>,
    connections: Vec<Option<Connection>>,
    vacant: Vec<usize>,
    sources: Vec<Source>,
    counts: BTreeMap<FlowId, Arc<Counts>>,
    agenda: BinaryHeap<Reverse<(Time, Act)>>,
    samples: u64,
    /// Flows with series.
    pub flows: Vec<Flow>,
    /// Where a flow's sending end is.
    sending: Vec<Option<usize>>,
    sessions: Vec<Session>,
    /// How many connections each background source opened and completed, and what is counted of all of them.
    background: Vec<(BackgroundCounters, Arc<Counts>)>,
    before: Vec<BackgroundCounters>,
    /// Summaries of background traffic, once the measured span has ended.
    pub background_summaries: Vec<BackgroundSummary>,
    /// Background connections that are complete.
    pub transfers: Series<TransferSample>,
    /// What was seen of loss recovery, if the plan wants it.
    pub events: Vec<EventRow>,
    zeros: Vec<u8>,
    /// Of the flows whose traffic is iperf3's.
    pub iperf: Iperf<'a>,
    /// How much later than planned this thread did what it had to: a socket that it holds then takes nothing.
    pub lateness: Sojourn,
}

impl<'a> Hosts<'a> {
    /// Hosts that have not begun; `congestion` has the kernel's name of the algorithm of each flow and background.
    pub fn new(
        ends: &'a [End; 2],
        plan: &'a CheckedPlan<RealPacket>,
        congestion: &'a BTreeMap<String, String>,
        times: Times,
        news: [Sender<News>; 2],
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
            connections: Vec::new(),
            vacant: Vec::new(),
            sources: Vec::new(),
            counts: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            samples: 0,
            flows: Vec::new(),
            sending: vec![None; plan.flows.len()],
            sessions: sessions(plan.seed, &plan.background),
            background: plan.background.iter().map(|_| Default::default()).collect(),
            before: vec![BackgroundCounters::default(); plan.background.len()],
            background_summaries: Vec::new(),
            transfers: Series::default(),
            events: Vec::new(),
            zeros: vec![0; CHUNK],
            iperf,
            lateness: Sojourn::default(),
        };
        hosts.listen()?;
        hosts.arrange();
        Ok(hosts)
    }

    /// The kernel's algorithm of each flow and background.
    pub const fn congestion(&self) -> &BTreeMap<String, String> {
        self.congestion
    }

    fn listen(&mut self) -> Result<()> {
        for kind in [libc::SOCK_STREAM, libc::SOCK_DGRAM] {
            for (end, address) in self.ends.iter().zip(ADDRESSES) {
                let socket = end.within(|| sys::socket(kind))?;
                sys::bind(socket.as_fd(), SocketAddrV4::new(address, LISTEN_PORT))?;
                if kind == libc::SOCK_STREAM {
                    sys::abort_when_closed(socket.as_fd())?; // and so the connections that come from it
                    sys::listen(socket.as_fd())?;
                }
                self.watch.set(socket.as_fd(), self.listeners.len() as u64, true, true, false)?;
                self.listeners.push(socket);
            }
        }
        Ok(())
    }

    /// Puts everything that is known beforehand on the agenda.
    fn arrange(&mut self) {
        for (i, planned) in self.plan.flows.iter().enumerate() {
            let streams = Streams::of_flow(self.plan.seed, &planned.name);
            let start = Time::from_secs_f64(planned.start.draw(&mut streams.stream("start")));
            let rtt = Interval::from_secs_f64(planned.connection.rtt().draw(&mut streams.stream("rtt")));
            let has_window = !matches!(planned.connection.transport(), Transport::Udp(..));
            self.flows.push(Flow::new(planned, start, rtt, has_window));
            self.agenda.push(Reverse((start, Act::Start(i))));
            self.agenda.push(Reverse((planned.connection.stop(), Act::Stop(Owner::Flow(i)))));
        }
        for (i, session) in self.sessions.iter().enumerate() {
            self.agenda.push(Reverse((session.next_at, Act::Open(i))));
        }
        self.agenda.push(Reverse((Time::ZERO, Act::Sample)));
        self.agenda.push(Reverse((self.times.measured.0, Act::Begin)));
        self.agenda.push(Reverse((self.times.measured.1, Act::End)));
        if self.flows.len() <= FEW_FLOWS {
            self.agenda.push(Reverse((Time::ZERO + WATCH, Act::Look)));
        }
    }

    /// Runs to the end, or until it is no longer wanted.
    pub fn run(&mut self, wanted: &AtomicBool) -> Result<()> {
        let mut ready = Vec::new();
        while wanted.load(Ordering::Relaxed) {
            let now = self.clock.now();
            while let Some(&Reverse((at, act))) = self.agenda.peek() {
                if at > now || at > self.times.end {
                    break;
                }
                self.agenda.pop();
                self.lateness.record(self.clock.now().since(at));
                self.act(at, act)?;
            }
            if now >= self.times.end {
                break;
            }
            let next = self.agenda.peek().map_or(Time::NEVER, |&Reverse((at, _))| at).min(self.times.end);
            let most = next.since(self.clock.now()).min(Interval::from_millis(50));
            sys::wait(&mut [], Some(most.min(self.times.rest)))?;
            let most = most.saturating_sub(self.times.rest);
            self.watch.wait(most, &mut ready)?;
            for &(number, read, write) in &ready {
                match number.checked_sub(LISTENERS) {
                    None => self.take_new(number as usize)?,
                    Some(place) => self.serve(place as usize, read, write)?,
                }
            }
        }
        Ok(())
    }

    fn act(&mut self, at: Time, act: Act) -> Result<()> {
        if matches!(act, Act::Look | Act::Sample) {
            self.iperf.attend()?;
        }
        match act {
            Act::Start(i) if self.iperf.carries(i) => self.start_iperf(i)?,
            Act::Start(i) => {
                let planned = &self.plan.flows[i];
                let (streams, rtt) = (Streams::of_flow(self.plan.seed, &planned.name), self.flows[i].rtt);
                let counts = self.flows[i].counts.clone();
                self.open(at, &planned.connection, &streams, Owner::Flow(i), planned.bytes, rtt, counts)?;
            }
            Act::Stop(owner) => self.stop(at, owner)?,
            Act::Open(i) => self.open_next(at, i)?,
            Act::Datagrams(i) => self.send_datagrams(at, i)?,
            Act::Look => {
                self.look(at);
                self.agenda.push(Reverse((at + WATCH, Act::Look)));
            }
            Act::Sample => {
                self.look(at);
                self.flows.iter_mut().for_each(|flow| flow.sample(at, self.times.measured));
                self.samples += 1;
                let next = Time::from_secs_f64(self.samples as f64 * self.plan.sample.flows_s);
                self.agenda.push(Reverse((next, Act::Sample)));
            }
            Act::Begin => {
                self.look(at);
                self.flows.iter_mut().for_each(Flow::begin_measured);
                self.before = self.background_counters();
            }
            Act::End => self.end_measured(at),
        }
        Ok(())
    }

    fn end_measured(&mut self, now: Time) {
        self.look(now);
        for (flow, planned) in self.flows.iter_mut().zip(&self.plan.flows) {
            flow.end_measured(&planned.connection.algorithm, self.times.measured);
        }
        let from = self.times.measured.0;
        self.background_summaries =
            (self.plan.background.iter().zip(&self.before).zip(self.background_counters()))
                .map(|((planned, &before), after)| background_summary(planned, (from, before), (now, after)))
                .collect();
    }

    fn background_counters(&self) -> Vec<BackgroundCounters> {
        let now = |(opened, counts): &(BackgroundCounters, Arc<Counts>)| BackgroundCounters {
            bytes_delivered: counts.delivered_bytes.get(),
            received_bytes: counts.received_bytes.get(),
            packets_sent: counts.packets_sent.get(),
            packets_lost: counts.packets_lost.get(),
            ..*opened
        };
        self.background.iter().map(now).collect()
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
                if self.plan.events {
                    self.events.extend(row);
                }
            }
        }
    }

    /// What the kernel says of a flow's connection now.
    fn info(&self, i: usize) -> Option<TcpInfo> {
        let own = self.sending[i].and_then(|place| self.connections[place].as_ref());
        let socket = own.map(|connection| connection.socket.as_fd()).or_else(|| self.iperf.socket(i))?;
        TcpInfo::of(socket).ok()
    }

    /// An iperf3 opens a flow's connection.
    fn start_iperf(&mut self, i: usize) -> Result<()> {
        let flow = &self.plan.flows[i];
        let planned = &flow.connection;
        let (streams, rtt) = (Streams::of_flow(self.plan.seed, &flow.name), self.flows[i].rtt);
        let counts = self.flows[i].counts.clone();
        let at = place(Carrier::Tcp, planned.forward[0], self.iperf.port(i));
        self.announce(at, planned, &streams, rtt, counts)?;
        self.iperf.start(i, planned, self.congestion.get(&flow.name).map(String::as_str))
    }

    /// A session opens its next connection.
    fn open_next(&mut self, now: Time, i: usize) -> Result<()> {
        let session = &mut self.sessions[i];
        let group = session.group;
        let (bytes, streams) = session.open(now);
        if session.next_at != Time::NEVER {
            self.agenda.push(Reverse((session.next_at, Act::Open(i))));
        }
        let planned = &self.plan.background[group].connection;
        self.background[group].0.open(bytes.map(|payload| planned.ip_bytes(payload)));
        let rtt = Interval::from_secs_f64(planned.rtt().draw(&mut streams.stream("rtt")));
        if bytes.is_none() {
            self.agenda.push(Reverse((planned.stop(), Act::Stop(Owner::Session(i)))));
        }
        let counts = self.background[group].1.clone();
        self.open(now, planned, &streams, Owner::Session(i), bytes, rtt, counts)
    }

    /// Opens a connection: tells the router of it, then connects, or begins to send.
    #[expect(clippy::too_many_arguments, reason = "what a connection is, each once")]
    fn open(
        &mut self,
        now: Time,
        planned: &CheckedConnection,
        streams: &Streams,
        owner: Owner,
        bytes: Option<u64>,
        rtt: Interval,
        counts: Arc<Counts>,
    ) -> Result<()> {
        let side = planned.forward[0];
        let (kind, carrier) = match planned.transport() {
            Transport::Udp(..) => (libc::SOCK_DGRAM, Carrier::Udp),
            Transport::Tcp(..) | Transport::Custom => (libc::SOCK_STREAM, Carrier::Tcp),
        };
        let socket = self.ends[side].within(|| sys::socket(kind))?;
        if carrier == Carrier::Tcp {
            self.prepare(socket.as_fd(), planned, owner)?;
        }
        let port = sys::bind(socket.as_fd(), SocketAddrV4::new(ADDRESSES[side], 0))?;
        let flow = place(carrier, side, port);
        self.announce(flow, planned, streams, rtt, counts)?;
        sys::connect(socket.as_fd(), SocketAddrV4::new(ADDRESSES[1 - side], LISTEN_PORT))?;
        let Transport::Udp(protocol, parameters) = planned.transport() else {
            let end =
                Endpoint::Sending { owner, left: bytes, total: bytes, finished: false, began: now, flow };
            let place = self.keep(Connection { socket, end })?;
            if let Owner::Flow(i) = owner {
                self.sending[i] = Some(place);
            }
            return Ok(());
        };
        let config = udp::Config {
            flow,
            mss_bytes: planned.mss_bytes,
            header_bytes: planned.header_bytes,
            bytes,
            line: planned.access_rate(),
            host_tick: Interval::ZERO,
            tick_phase: Interval::ZERO,
            rto_min: Interval::ZERO,
        };
        let (sender, _) = (protocol.build)(parameters, &config, streams.stream("udp"));
        self.sources.push(Source { owner, sender, socket, planned_for: Time::NEVER });
        let i = self.sources.len() - 1;
        self.drive(i, |sender, out| sender.start(now, out));
        Ok(())
    }

    /// Tells the routers of a connection that is about to be opened.
    fn announce(
        &mut self,
        flow: FlowId,
        planned: &CheckedConnection,
        streams: &Streams,
        rtt: Interval,
        counts: Arc<Counts>,
    ) -> Result<()> {
        self.counts.insert(flow, counts.clone());
        let (forward_delay, reverse_delay) = Path::delays(rtt);
        let path = Path {
            forward_delay,
            reverse_delay,
            access: planned.access_rate(),
            access_free: [Time::ZERO; 2],
            ecn: planned.ecn,
            stamps: Stamps::default(),
            losses: PathLosses::new(&self.plan.links, planned, streams),
            counts,
        };
        for router in &self.news {
            router.send((flow, path.clone())).map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }

    /// What the kernel is told of a TCP connection before it is opened.
    fn prepare(&self, socket: BorrowedFd<'_>, planned: &CheckedConnection, owner: Owner) -> Result<()> {
        let name = match owner {
            Owner::Flow(i) => &self.plan.flows[i].name,
            Owner::Session(i) => &self.plan.background[self.sessions[i].group].name,
        };
        if let Some(algorithm) = self.congestion.get(name) {
            sys::set_congestion_control(socket, algorithm)?;
        }
        sys::abort_when_closed(socket)?;
        sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, segment_bytes(planned) as i32)?;
        let held = (self.plan.links[0].rate_bps * UNSENT.0.as_secs_f64() / 8.0) as u64;
        sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, held.max(UNSENT.1) as i32)
    }

    /// A connection gets a place, under which its socket is watched.
    fn keep(&mut self, connection: Connection) -> Result<usize> {
        let place = self.vacant.pop().unwrap_or(self.connections.len());
        let write = matches!(connection.end, Endpoint::Sending { .. });
        self.watch.set(connection.socket.as_fd(), LISTENERS + place as u64, true, true, write)?;
        if place == self.connections.len() {
            self.connections.push(Some(connection));
        } else {
            self.connections[place] = Some(connection);
        }
        Ok(place)
    }

    /// A listener has something: connections to accept, or datagrams, which the router has counted already.
    fn take_new(&mut self, listener: usize) -> Result<()> {
        let socket = self.listeners[listener].as_fd();
        if listener >= self.ends.len() {
            let mut bytes = [0u8; 1];
            while sys::receive(socket, &mut bytes).is_ok() {}
            return Ok(());
        }
        loop {
            match sys::accept(self.listeners[listener].as_fd()) {
                Ok((socket, port)) => {
                    let flow = place(Carrier::Tcp, 1 - listener, port);
                    let counts = self.counts.get(&flow).cloned().unwrap_or_default();
                    self.keep(Connection { socket, end: Endpoint::Sink(counts) })?;
                }
                Err(error) if sys::would_block(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// A connection can be read or written.
    fn serve(&mut self, place: usize, read: bool, write: bool) -> Result<()> {
        let Some(Some(connection)) = self.connections.get_mut(place) else { return Ok(()) };
        let (socket, number) = (connection.socket.as_fd(), LISTENERS + place as u64);
        match &mut connection.end {
            Endpoint::Sink(counts) => {
                if read && take(socket, counts)? {
                    sys::finish(socket)?;
                    self.watch.set_for_changes(socket, number)?;
                    connection.end = Endpoint::Ending;
                }
            }
            Endpoint::Ending => {
                if TcpInfo::is_over(socket)? {
                    self.close(place, true);
                }
            }
            Endpoint::Sending { left, finished, .. } => {
                if write && !*finished {
                    fill(socket, left, &self.zeros)?;
                    if *left == Some(0) {
                        sys::finish(socket)?;
                        *finished = true;
                        self.watch.set(socket, number, false, true, false)?;
                    }
                }
                if read {
                    // the listening side sends nothing but the end, once it has everything
                    match sys::receive(socket, &mut [0]) {
                        Err(error) if sys::would_block(&error) => {}
                        answer => self.close(place, answer.is_ok()),
                    }
                }
            }
        }
        Ok(())
    }

    /// A connection is over: everything was acknowledged, or else the kernel has given it up.
    fn close(&mut self, place: usize, complete: bool) {
        let Some(connection) = self.connections[place].take() else { return };
        self.vacant.push(place);
        let Endpoint::Sending { owner, total, began, flow, .. } = connection.end else { return };
        self.counts.remove(&flow);
        let now = self.clock.now();
        match owner {
            Owner::Flow(i) => {
                if let Ok(info) = TcpInfo::of(connection.socket.as_fd()) {
                    self.events.extend(self.flows[i].see(now, info).filter(|_| self.plan.events));
                }
                self.flows[i].completed = complete.then_some(now);
                self.sending[i] = None;
            }
            Owner::Session(i) => {
                let session = &mut self.sessions[i];
                if complete {
                    self.transfers.push(&TransferSample {
                        group: session.group as f64,
                        start_s: began.as_secs_f64(),
                        duration_s: now.since(began).as_secs_f64(),
                        bytes: total.unwrap_or_default() as f64,
                    });
                    self.background[session.group].0.completed += 1;
                }
                if session.completed(now) {
                    self.agenda.push(Reverse((session.next_at, Act::Open(i))));
                }
            }
        }
    }

    /// A flow, or an endless background connection, is to send nothing new from now on; what the kernel has taken already
    /// is still sent.
    fn stop(&mut self, now: Time, by: Owner) -> Result<()> {
        if let Owner::Flow(i) = by
            && self.iperf.carries(i)
        {
            self.look(now);
            self.flows[i].completed = Some(now);
            return self.iperf.stop(i);
        }
        for source in self.sources.iter_mut().filter(|source| source.owner == by) {
            source.sender.stop(now);
        }
        for (place, connection) in self.connections.iter_mut().enumerate() {
            if let Some(Connection { socket, end: Endpoint::Sending { owner, left, finished, .. } }) =
                connection
                && *owner == by
                && !*finished
            {
                (*left, *finished) = (Some(0), true);
                sys::finish(socket.as_fd())?;
                self.watch.set(socket.as_fd(), LISTENERS + place as u64, false, true, false)?;
            }
        }
        Ok(())
    }

    fn send_datagrams(&mut self, now: Time, i: usize) -> Result<()> {
        if self.sources[i].planned_for == now {
            self.drive(i, |sender, out| sender.on_timer(now, out));
        }
        Ok(())
    }

    /// A source of datagrams acts; what it sends goes out, and its next time is put on the agenda.
    fn drive(
        &mut self,
        i: usize,
        act: impl FnOnce(&mut udp::Sender, &mut dyn FnMut(longfat_wire::SimPacket)),
    ) {
        let Source { sender, socket, planned_for, .. } = &mut self.sources[i];
        let zeros = &self.zeros;
        act(sender, &mut |packet| {
            if packet.kind == Kind::Data {
                let payload = usize::from(packet.bytes).saturating_sub(UDP_HEADERS as usize);
                // a datagram that the kernel does not take is lost, as any other
                let _ = sys::send(socket.as_fd(), &zeros[..payload]);
            }
        });
        *planned_for = sender.wake();
        if *planned_for != Time::NEVER {
            self.agenda.push(Reverse((*planned_for, Act::Datagrams(i))));
        }
    }

    /// After the run, when nothing reaches the hosts any more: what each flow's kernel says it sent beyond what came to
    /// the router.
    pub fn missing(&mut self) -> u64 {
        for i in 0..self.flows.len() {
            if let Some(info) = self.info(i) {
                self.flows[i].info = info;
            }
        }
        let missing =
            |flow: &Flow| flow.info.data_segments_sent.saturating_sub(flow.counts.packets_sent.get());
        self.flows.iter().map(missing).sum()
    }
}
