//! How hosts open connections: they tell the routers, set the kernel's options, then connect or begin to
//! send.

use super::{Hosts, UNSENT, open_socket};
use crate::agenda::Act;
use crate::connection::{Connection, Endpoint, Owner, carrier, echoes, segment_bytes, window_bytes};
use crate::datagrams;
use crate::guided::is_guided;
use crate::namespace::ADDRESSES;
use crate::path::{Counts, Path};
use crate::ports::{ECHO_PORT, GUIDED_PORTS, LISTEN_PORT, WINDOW_PORTS, connection_id};
use crate::stamps::Stamps;
use crate::sys::socket;
use longfat_sim::{CheckedConnection, Control, LinkPlan, PathLosses, Streams};
use longfat_transport::udp;
use longfat_units::{Interval, Time};
use longfat_wire::{Carrier, FlowId};
use socket2::Socket;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddrV4;
use std::sync::Arc;

impl Hosts<'_> {
    /// Lets an iperf3 open a flow's connection.
    pub(super) fn start_iperf(&mut self, i: usize) -> Result<()> {
        let flow = &self.plan.run.flows[i];
        let planned = &flow.connection;
        let (streams, rtt) = (Streams::of_flow(self.plan.run.seed, &flow.name), self.flows[i].rtt);
        let counts = self.flows[i].counts.clone();
        let side = self.plan.layout.side(planned);
        let id = connection_id(Carrier::Tcp, side, self.iperf.port(i));
        self.announce(id, planned, &streams, rtt, counts)?;
        self.iperf.start(i, side, planned, self.congestion.get(&flow.name).map(String::as_str))
    }

    /// Opens a session's next connection.
    pub(super) fn open_next(&mut self, now: Time, i: usize) -> Result<()> {
        let planned = &self.background.plan(i).connection;
        let opening = self.background.open(now, i);
        self.agenda.put(opening.next_at, Act::Open(i));
        let rtt = Interval::from_secs_f64(planned.rtt().draw(&mut opening.streams.stream("rtt")));
        if opening.bytes.is_none() {
            self.agenda.put(planned.stop(), Act::Stop(Owner::Session(i)));
        }
        self.open(now, planned, &opening.streams, Owner::Session(i), opening.bytes, rtt, opening.counts)
    }

    /// Opens a connection: tells the routers about it, then connects or begins to send.
    #[expect(clippy::too_many_arguments, reason = "what a connection is, each once")]
    pub(super) fn open(
        &mut self,
        now: Time,
        planned: &CheckedConnection,
        streams: &Streams,
        owner: Owner,
        bytes: Option<u64>,
        rtt: Interval,
        counts: Arc<Counts>,
    ) -> Result<()> {
        let side = self.plan.layout.side(planned);
        let carrier = carrier(planned);
        let opened = if let Owner::Flow(i) = owner { self.guided.take_socket(i) } else { None };
        let socket = opened.map_or_else(|| open_socket(&self.ends[side], carrier), Ok)?;
        if carrier == Carrier::Tcp {
            self.prepare(&socket, planned, owner)?;
        }
        let port = socket::bind(&socket, SocketAddrV4::new(ADDRESSES[side], 0))?;
        let flow = connection_id(carrier, side, port);
        self.announce(flow, planned, streams, rtt, counts)?;
        let listens = match self.guided.listener(planned) {
            Some(number) => GUIDED_PORTS.start + number,
            None if echoes(planned) => ECHO_PORT,
            None => self.window_port(planned).unwrap_or(LISTEN_PORT),
        };
        socket::connect(&socket, SocketAddrV4::new(ADDRESSES[1 - side], listens))?;
        let Control::Udp(protocol, parameters) = planned.control() else {
            let end =
                Endpoint::Sending { owner, left: bytes, total: bytes, finished: false, began: now, flow };
            let slot = self.keep(Connection { socket, end })?;
            if let Owner::Flow(i) = owner {
                self.sending[i] = Some(slot);
            }
            return Ok(());
        };
        let config = udp::Config {
            flow,
            mss_bytes: planned.mss_bytes(),
            header_bytes: planned.header_bytes,
            bytes,
            line: planned.access_rate(),
            host_tick: Interval::ZERO,
            tick_phase: Interval::ZERO,
            rto_min: Interval::ZERO,
        };
        let (sender, _) = (protocol.build)(parameters, &config, streams.stream("udp"));
        let mut source = datagrams::Source::new(owner, sender, socket);
        let next = source.start(now, &self.zeros);
        self.agenda.put(next, Act::Datagrams(self.sources.len()));
        self.sources.push(source);
        Ok(())
    }

    /// The port for connections with the same limit of the receiver's window, if it has one.
    fn window_port(&self, planned: &CheckedConnection) -> Option<u16> {
        let bytes = window_bytes(planned)?;
        WINDOW_PORTS.zip(&self.windows).find(|(_, limit)| **limit == bytes).map(|(port, _)| port)
    }

    /// Tells the routers about a connection that is about to be opened.
    fn announce(
        &mut self,
        flow: FlowId,
        planned: &CheckedConnection,
        streams: &Streams,
        rtt: Interval,
        counts: Arc<Counts>,
    ) -> Result<()> {
        self.counts.insert(flow, counts.clone());
        let (forward_delay, reverse_delay) = Path::delays(rtt, self.plan.delays(planned));
        let losses = |link: usize| {
            let LinkPlan { name, loss, ack_loss, .. } = &self.plan.links[link];
            (name.as_str(), *loss, *ack_loss)
        };
        let path = Path {
            forward: planned.forward.as_slice().into(),
            reverse: planned.reverse.as_slice().into(),
            forward_delay,
            reverse_delay,
            access: planned.access_rate(),
            access_free: [Time::ZERO; 2],
            ecn: planned.negotiates_ecn(),
            explicit: is_guided(planned),
            stamps: [Stamps::default(); 2],
            losses: PathLosses::new(losses, planned, streams),
            counts,
        };
        for router in &self.news {
            router.send((flow, path.clone())).map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }

    /// Sets the options of a TCP connection that is about to be opened.
    fn prepare(&self, socket: &Socket, planned: &CheckedConnection, owner: Owner) -> Result<()> {
        let name = match owner {
            Owner::Flow(i) => &self.plan.run.flows[i].name,
            Owner::Session(i) => &self.background.plan(i).name,
        };
        if let Some(algorithm) = self.congestion.get(name) {
            socket.set_tcp_congestion(algorithm.as_bytes())?;
        }
        socket::abort_when_closed(socket)?;
        socket.set_tcp_mss(segment_bytes(planned))?;
        let held = (self.plan.rate_bps(planned) * UNSENT.0.as_secs_f64() / 8.0) as u64;
        socket.set_tcp_notsent_lowat(held.max(UNSENT.1) as u32)
    }
}
