//! TCP, written once for all algorithms: handshake, sender, receiver, scoreboard, timers, pacing. Sans-I/O: every
//! call is handed `now`, and answers what it wants sent and when it wants to be woken.

pub mod cc;
