//! Port numbers: which connection a packet belongs to.

use longfat_wire::{Carrier, FlowId, Ports};
use std::ops::Range;

/// Where the side that connections are opened to listens. This port and the next ones are reserved (IANA), so
/// no program that runs beside them wants them.
pub const LISTEN_PORT: u16 = 1011;
/// The same for connections whose receivers tell of every mark, which takes another congestion control.
pub const ECHO_PORT: u16 = 1012;
/// The same for connections whose rate routers set: one port for each of their algorithms.
pub const GUIDED_PORTS: Range<u16> = 1013..1021;
/// The same for connections whose receiver's window has a limit: one port for each limit. The first two of
/// these are for experiments (RFC 4727), and 1023 is reserved (IANA).
pub const WINDOW_PORTS: Range<u16> = 1021..1024;
/// Where the servers of iperf3 listen, one for each flow. The kernel does not choose these ports, nor
/// `IPERF_CLIENTS`, by itself.
pub const IPERF_SERVERS: Range<u16> = 5201..7201;
/// The ports that iperf3's clients send data from, for the same flows in the same order.
pub const IPERF_CLIENTS: Range<u16> = 7201..9201;
/// How many connections can be told apart: by carrier, the side that opened them, and its port.
pub const CONNECTIONS: usize = 4 << 16;

/// Returns the id of the connection that `side` opened from `port`, below [`CONNECTIONS`].
pub const fn connection_id(carrier: Carrier, side: usize, port: u16) -> FlowId {
    let carrier = match carrier {
        Carrier::Tcp => 0,
        Carrier::Udp => 2,
    };
    FlowId(((carrier + side as u32) << 16) | port as u32)
}

/// Whether this is a connection of programs, which the plan does not have.
pub const fn is_guest(flow: FlowId) -> bool {
    flow.0 as usize >= CONNECTIONS
}

/// Returns the side that opened a connection of the plan.
pub const fn opener(flow: FlowId) -> usize {
    (flow.0 >> 16 & 1) as usize
}

/// Whether this is the id of UDP datagrams, which have no connection.
pub const fn carries_datagrams(flow: FlowId) -> bool {
    (flow.0 >> 17) & 1 == 1
}

/// Returns the connection that a packet from this side belongs to, and whether its opener sent the packet.
pub fn conversation(side: usize, ports: Ports) -> (FlowId, bool) {
    let listens = matches!(ports.source, LISTEN_PORT | ECHO_PORT)
        || GUIDED_PORTS.contains(&ports.source)
        || WINDOW_PORTS.contains(&ports.source)
        || IPERF_SERVERS.contains(&ports.source);
    if listens {
        (connection_id(ports.carrier, 1 - side, ports.destination), false)
    } else {
        (connection_id(ports.carrier, side, ports.source), true)
    }
}

/// Whether an iperf3 and its server exchange this packet for control, beside the data.
pub fn is_iperf_control(ports: Ports) -> bool {
    let controls = |server, client| IPERF_SERVERS.contains(&server) && !IPERF_CLIENTS.contains(&client);
    controls(ports.source, ports.destination) || controls(ports.destination, ports.source)
}
