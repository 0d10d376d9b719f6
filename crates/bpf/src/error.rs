//! The errors of registration, with one line for each.

use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// Why an algorithm is not registered.
#[derive(Debug, ThisError)]
pub enum Error {
    /// `make bpf` has not been run, or could not build it.
    #[error(
        "{}: no such object; build the kernel's algorithms with make bpf (Debian: apt install clang libbpf-dev)",
        path.display()
    )]
    NoObject {
        /// Where it should be.
        path: PathBuf,
    },
    /// The feature `loader` is off.
    #[error(
        "this build of longfat has no loader for kernel algorithms; rebuild it with make setup once libelf and zlib \
         have their headers (Debian: apt install libelf-dev zlib1g-dev pkg-config)"
    )]
    NoLoader,
    /// The kernel does not describe its types.
    #[error("this kernel has no BTF ({}); it needs CONFIG_DEBUG_INFO_BTF", crate::KERNEL_TYPES)]
    NoKernelTypes,
    /// Neither root nor CAP_BPF and CAP_NET_ADMIN.
    #[error(
        "{name}: registering a kernel algorithm needs root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN in the \
         first namespace)"
    )]
    NoRights {
        /// The object's name.
        name: String,
    },
    /// Another process has registered it.
    #[error(
        "{name}: already registered with the kernel by another process; end that one first (bpftool \
         struct_ops list)"
    )]
    Taken {
        /// As the kernel knows it.
        name: String,
    },
    /// The verifier did not accept a program.
    #[error("{name}: the kernel's verifier rejects program {program}: {reason} (log: {})", log.display())]
    Rejected {
        /// The object's name.
        name: String,
        /// The program in it.
        program: String,
        /// The verifier's last words.
        reason: String,
        /// All of its words.
        log: PathBuf,
    },
    /// Anything else that libbpf or the kernel refuses.
    #[error("{name}: cannot be registered with the kernel: {reason}")]
    Refused {
        /// The object's name.
        name: String,
        /// In its words.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Error::Io { path: path.to_owned(), reason: error.to_string() }
    }
}
