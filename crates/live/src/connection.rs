//! A TCP connection's end: what it is there for, and how it is kept busy.
//!
//! Every close of such a socket is an abort, so that whatever ends the process leaves no connection to the kernel, which
//! would go on with it for minutes. One that has carried everything is therefore kept until the kernel is done with it, too.

use crate::path::Counts;
use crate::sys;
use longfat_units::Time;
use longfat_wire::FlowId;
use std::io::Result;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Handed to the kernel, or taken from it, in one call.
pub const CHUNK: usize = 1 << 18;
/// Calls on one socket before others have their turn.
const CALLS: usize = 8;

/// Whose connection it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A flow, by its place in the plan.
    Flow(usize),
    /// A session of a background source.
    Session(usize),
}

/// A TCP connection's end.
pub struct Connection {
    /// Its socket.
    pub socket: OwnedFd,
    /// What it is there for.
    pub end: Endpoint,
}

/// What a connection's end is there for.
pub enum Endpoint {
    /// Sends.
    Sending {
        /// Whose it is.
        owner: Owner,
        /// What is left of its payload, bytes; endless if `None`.
        left: Option<u64>,
        /// All of its payload.
        total: Option<u64>,
        /// Whether it has said that no more will come.
        finished: bool,
        /// When it was opened.
        began: Time,
        /// Its place in the router.
        flow: FlowId,
    },
    /// Takes what arrives.
    Sink(Arc<Counts>),
    /// A sink that has everything and has said so; the kernel waits for that to be acknowledged.
    Ending,
}

/// Hands the kernel what it takes.
pub fn fill(socket: BorrowedFd<'_>, left: &mut Option<u64>, zeros: &[u8]) -> Result<()> {
    for _ in 0..CALLS {
        let size = left.map_or(zeros.len(), |left| zeros.len().min(left as usize));
        if size == 0 {
            return Ok(());
        }
        match sys::send(socket, &zeros[..size]) {
            Ok(sent) => *left = left.map(|left| left - sent as u64),
            Err(error) if sys::would_block(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes what has arrived; whether that was all.
pub fn take(socket: BorrowedFd<'_>, counts: &Counts) -> Result<bool> {
    for _ in 0..CALLS {
        match sys::discard(socket, CHUNK) {
            Ok(0) => return Ok(true),
            Ok(taken) => counts.delivered_bytes.add(taken as u64),
            Err(error) if sys::would_block(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
