//! The element contract, proven by elements made for this purpose: each needs a different part of it, and all
//! of them see packets, time and their surroundings only through `Element` and `Sink`.

#[path = "../common/mod.rs"]
mod driver;
mod forwarders;
mod xcp;
