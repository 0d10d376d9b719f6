//! Traffic that comes and goes: sources that open connections. A kind of traffic is one file here, which says
//! how it behaves; its numbers and their checks are in `plan/traffic.rs`, and `session.rs` lists the kinds.

mod bulk;
mod onoff;
mod session;
mod short;
#[cfg(test)]
mod sizes;
mod source;
mod surge;
#[cfg(test)]
mod testing;
mod web;

pub use session::{Session, each_session, offered_bytes, sessions};
