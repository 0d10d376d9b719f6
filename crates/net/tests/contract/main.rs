//! The element contract, proven by elements made for the purpose: each needs another part of it, and all of them see
//! packets, time and their surroundings through `Element` and `Sink` alone.

mod choke;
mod codel;
mod driver;
mod forwarders;
mod messages;
mod xcp;
