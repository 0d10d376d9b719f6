//! Runs a [`CheckedPlan`](longfat_sim::CheckedPlan) on this machine: the kernel's own TCP in two network
//! namespaces, and between them a router in user space that drives the simulator's own links by the wall
//! clock. The crate is empty on systems other than Linux.

#![cfg(target_os = "linux")]

mod agenda;
mod background;
mod connection;
mod datagrams;
mod error;
mod flow;
mod guests;
mod guided;
mod hosts;
mod iperf;
mod lanes;
mod layout;
mod namespace;
mod network;
mod outbox;
mod outside;
mod path;
mod planned;
mod ports;
mod probe;
mod programs;
mod rest;
mod router;
mod run;
mod spare;
mod stamps;
mod sys;
mod sysctl;
mod tcp_info;
mod until;
mod validity;

pub use error::LiveError;
pub use guests::{ConnectionReport, WayReport};
pub use guided::PROTOCOLS;
pub use iperf::{IperfReport, Traffic};
pub use longfat_bpf_loader::{HAS_LOADER, Source};
pub use probe::probe;
pub use programs::{Program, ProgramReport, Programs};
pub use run::{Congestion, Live, ProgramsRan, run};
pub use sys::init::Order;
pub use sys::process::die_with_parent;
pub use validity::{Check, ExplicitReport, Validity};
