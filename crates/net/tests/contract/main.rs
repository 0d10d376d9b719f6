//! The element contract, proven by elements made for the purpose: each needs another part of it, and all of them see
//! packets, time and their surroundings through `Element` and `Sink` alone.

#[path = "../common/mod.rs"]
mod driver;
mod forwarders;
mod xcp;
