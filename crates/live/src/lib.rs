//! Runs a [`CheckedPlan`](longfat_sim::CheckedPlan) on this machine: the kernel's own TCP in two network namespaces, and between them a
//! router in user space that drives the very links of the simulator by the wall clock.

mod connection;
mod error;
mod flow;
mod hosts;
mod iperf;
mod namespace;
mod path;
mod router;
mod routes;
mod run;
#[expect(unsafe_code, reason = "the kernel's interface; everything else stands on these functions")]
mod sys;
mod tcp_info;
mod validity;

pub use error::LiveError;
pub use iperf::{IperfReport, Traffic};
pub use longfat_bpf::{HAS_LOADER, KernelForm, kernel_form};
pub use namespace::probe;
pub use run::{Live, run};
pub use sys::die_with_parent;
pub use validity::{Check, Validity};
