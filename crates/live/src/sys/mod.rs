//! What a live run asks of the kernel. `rustix` and `socket2` make the system calls; the few that neither
//! offers are `unsafe` here, each with its reason, and nowhere else in the crate.

pub mod cgroup;
pub mod clock;
pub mod init;
pub mod namespaces;
pub mod netlink;
pub mod process;
pub mod scheduling;
pub mod socket;
pub mod tun;
pub mod waiting;
