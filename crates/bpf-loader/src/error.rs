//! What can go wrong; each error is one line.

use crate::kernel::KERNEL_TYPES;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// Why an algorithm could not be registered.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The object does not exist: `make bpf` has not been run, or could not build it.
    #[error(
        "{}: no such object; build the kernel's algorithms with make bpf (Debian: apt install clang libbpf-dev)",
        path.display()
    )]
    NoObject {
        /// Where it should be.
        path: PathBuf,
    },
    /// The feature `loader` is off.
    #[cfg_attr(not(target_os = "linux"), error("only Linux takes kernel algorithms"))]
    #[cfg_attr(
        target_os = "linux",
        error(
            "this build of longfat has no loader for kernel algorithms; install the headers of libelf and \
             zlib (Debian: apt install libelf-dev zlib1g-dev pkg-config) and rebuild it with make setup"
        )
    )]
    NoLoader,
    /// The kernel does not describe its types.
    #[error("this kernel has no BTF ({}); it needs CONFIG_DEBUG_INFO_BTF", KERNEL_TYPES)]
    NoKernelTypes,
    /// The process is not root and lacks CAP_BPF, CAP_PERFMON or CAP_NET_ADMIN.
    #[error(
        "{name}: registering a kernel algorithm needs root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN in \
         the initial user namespace)"
    )]
    NoRights {
        /// The object's name.
        name: String,
    },
    /// Another process has registered an algorithm of this name.
    #[error(
        "{name}: another process has already registered it with the kernel; end that process first \
         (bpftool struct_ops list)"
    )]
    Taken {
        /// The kernel's name for it.
        name: String,
    },
    /// The verifier rejected a program.
    #[error("{name}: the kernel's verifier rejects program {program}: {reason} (log: {})", log.display())]
    Rejected {
        /// The object's name.
        name: String,
        /// The rejected program of the object.
        program: String,
        /// The verifier's last message.
        reason: String,
        /// The file with all of its messages.
        log: PathBuf,
    },
    /// libbpf or the kernel refused for another reason.
    #[error("{name}: cannot be registered with the kernel: {reason}")]
    Refused {
        /// The object's name.
        name: String,
        /// The reason in their words.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Error::Io { path: path.to_owned(), reason: error.to_string() }
    }
}
