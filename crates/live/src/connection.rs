//! One end of a TCP connection: its purpose, and how it is kept busy.
//!
//! Every close of such a socket aborts the connection, so that no connection is left to the kernel when the
//! process ends, however it ends; the kernel would otherwise go on with it for minutes. A connection that has
//! carried everything therefore stays open until the kernel has finished with it too.

use crate::guided::{header_bytes, is_guided};
use crate::path::Counts;
use crate::sys::{socket, waiting};
use longfat_sim::{CheckedConnection, ConnectionPlan, Control};
use longfat_transport::Feedback;
use longfat_units::Time;
use longfat_wire::{Carrier, FlowId};
use socket2::Socket;
use std::io::Result;
use std::sync::Arc;

/// Bytes handed to the kernel, or taken from it, in one call.
pub const CHUNK: usize = 1 << 18;
/// Calls on one socket before others have their turn.
const CALLS: usize = 2;

/// Whose connection it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A flow, by its index in the plan.
    Flow(usize),
    /// A session of a background source.
    Session(usize),
}

/// One end of a TCP connection.
pub struct Connection {
    /// Its socket.
    pub socket: Socket,
    /// Its purpose.
    pub end: Endpoint,
}

/// The purpose of a connection's end.
pub enum Endpoint {
    /// It sends.
    Sending {
        /// Whose connection it is.
        owner: Owner,
        /// Payload left to send, bytes; endless if `None`.
        left: Option<u64>,
        /// All of its payload, bytes.
        total: Option<u64>,
        /// Whether it has told the peer that no more will come.
        finished: bool,
        /// When it was opened.
        began: Time,
        /// The router's name for the connection.
        flow: FlowId,
    },
    /// It takes what arrives.
    Sink {
        /// What is counted of it.
        counts: Arc<Counts>,
        /// The greatest window that it offers, bytes, if that has a limit.
        window: Option<u32>,
    },
    /// It has received everything and closed its own direction; the kernel waits for the peer to acknowledge
    /// that.
    Ending,
}

/// Hands the kernel as much payload as it takes.
pub fn fill(socket: &Socket, left: &mut Option<u64>, zeros: &[u8]) -> Result<()> {
    for _ in 0..CALLS {
        let size = left.map_or(zeros.len(), |left| zeros.len().min(left as usize));
        if size == 0 {
            return Ok(());
        }
        match socket::send(socket, &zeros[..size]) {
            Ok(sent) => *left = left.map(|left| left - sent as u64),
            Err(error) if waiting::would_block(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes what has arrived; `room` bounds how much at once. Returns whether the peer will send no more.
pub fn take(socket: &Socket, counts: &Counts, room: &mut [u8]) -> Result<bool> {
    for _ in 0..CALLS {
        match socket::discard(socket, room) {
            Ok(0) => return Ok(true),
            Ok(taken) => counts.delivered_bytes.add(taken as u64),
            Err(error) if waiting::would_block(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Returns what carries a connection's packets.
pub const fn carrier(planned: &CheckedConnection) -> Carrier {
    match planned.control() {
        Control::Tcp(..) | Control::Custom => Carrier::Tcp,
        Control::Udp(..) => Carrier::Udp,
    }
}

/// What TCP's maximum segment size does not count: IP and TCP headers without options.
const MSS_HEADERS: u32 = 40;

/// Returns a connection's maximum segment size as the kernel counts it, bytes.
pub fn segment_bytes(planned: &ConnectionPlan) -> u32 {
    packet_bytes(planned) - MSS_HEADERS
}

/// Returns the IP length of a connection's largest packets, bytes.
pub fn packet_bytes(planned: &ConnectionPlan) -> u32 {
    planned.mss_bytes() + header_bytes(planned)
}

/// Returns the greatest window that the receiver of a connection over TCP offers, bytes; `None` without a
/// limit, and for receivers that listen elsewhere.
pub fn window_bytes(planned: &CheckedConnection) -> Option<u32> {
    let limited = carrier(planned) == Carrier::Tcp && !echoes(planned) && !is_guided(planned);
    planned.max_window.filter(|_| limited).map(|segments| (segments * f64::from(planned.mss_bytes())) as u32)
}

/// Whether the receiver of a connection has to tell of every mark (RFC 8257).
pub fn echoes(connection: &CheckedConnection) -> bool {
    connection.feedback() == Feedback::Dctcp
}
