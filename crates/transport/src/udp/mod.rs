//! Transports over UDP: senders and receivers of their own beside TCP's, with their own acknowledgements,
//! loss reports and clocks. Sans-I/O like TCP's: every call is handed `now`, and returns or hands on what the
//! end wants sent; `wake` says when it wants to be called again. One file a protocol, one line each in the
//! list of [`ends`].
//!
//! `row` and `end` say what a protocol is, and `connection` what a sender with a connection is; the protocols
//! use those and never the list.

mod arrivals;
pub mod cadpc;
pub mod cbr;
mod channel;
mod connection;
mod end;
mod ends;
pub mod onoff;
mod periods;
pub mod rbudp;
mod row;
pub mod runat;
pub mod sabul;
#[cfg(test)]
mod testing;
pub mod tsunami;
pub mod udt;

pub use ends::{Protocol, Receiver, Sender, find, protocols};
pub use row::{Config, Row};
