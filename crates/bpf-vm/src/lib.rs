//! Runs congestion control written for the Linux kernel as eBPF (struct_ops `tcp_congestion_ops`) in user
//! space, on a model of `struct tcp_sock`: the object file that the kernel registers is a congestion control
//! of the simulator.
//!
//! ```text
//! object file ──► elf, btf, btf_ext      sections, types, places that depend on the kernel's types
//!             ──► core_relo              the kernel's types are those of kernel_model (tables in kernel_types)
//!             ──► program                instructions, decoded once; object joins all of it
//!             ──► verify, struct_ops     what can be refused before a run; which program is which callback
//! Algorithm   ──► Connection             one for each flow: a CongestionControl of longfat-transport
//!             ──► interpreter            with memory, maps, helpers and kfuncs
//! ```
//!
//! # Pointers
//!
//! A register is 64 bits and nothing else. A pointer is an address of the model: its upper half names a
//! region (the arguments, the stack, the connection, the sample, one map's values), its lower half a byte of
//! the region, which is a slice. So pointer arithmetic is plain arithmetic, spilled pointers need no tags,
//! and a comparison with null works; each access looks its region up, checks the bounds, and for the
//! connection whether the field may be written. The regions' numbers lie apart from each other and from
//! everything that numbers usually are, so a pointer that leaves its region names none. A program that
//! computes a valid address out of nothing reaches only the model. (The kernel's verifier refuses such a
//! program; this crate does not prove what the verifier proves, it ends the program when it goes wrong.)
//!
//! # Determinism
//!
//! Time is the simulator's, random numbers come from the flow's seed, maps iterate in the order of their
//! keys, and a stack frame is zero when a function begins. An end is always the same: after [`BUDGET`]
//! instructions of a callback, or at the first thing that the kernel would not permit.
//!
//! # Deviations from a kernel
//!
//! - The sender is the simulator's. `connection` describes when it calls what.
//! - cwnd is in whole segments for the programs. Recovery moves the sender's own window.
//! - Writes are checked when they happen, against what `bpf_tcp_ca_btf_struct_access` permits.
//! - Fields that the model lacks make the program refused if control flow can reach their use.

#![forbid(unsafe_code)]

mod address;
mod algorithm;
mod btf;
mod btf_ext;
mod bytes;
mod connection;
mod core_relo;
mod elf;
mod error;
mod helper_names;
mod helpers;
mod host;
mod image;
#[cfg(test)]
mod instruction_tests;
mod interpreter;
mod kernel_model;
mod kernel_types;
mod kfunc_names;
mod kfuncs;
mod maps;
mod memory;
mod native;
mod needs;
mod object;
mod program;
mod samples;
mod sock;
mod struct_ops;
mod verify;

pub use algorithm::Algorithm;
pub use connection::{BUDGET, Called, Connection};
pub use error::{Fault, LoadError};
pub use needs::{Need, NeedKind, Needs};
pub use object::Object;
pub use samples::Sample;
