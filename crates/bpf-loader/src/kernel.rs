//! Facts about the kernel's interface.

/// Where the loader finds the kernel's types.
pub const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The most characters of a name (TCP_CA_NAME_MAX less the zero at its end).
pub const LONGEST_NAME: usize = 15;
/// Where the kernel lists the algorithms that sockets may select.
pub const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
