//! Why an object is refused, and why a running program ends.

use crate::kfunc_names;
use thiserror::Error;

/// Why an object cannot run here. Each text is one line, and names what is wrong and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// The file is no relocatable eBPF object, or a damaged one.
    #[error("not an eBPF object: {0}")]
    Elf(String),
    /// The object is for machines of the other byte order.
    #[error("a big-endian object; accepted: little-endian (clang -target bpfel)")]
    Endianness,
    /// Without types nothing says where a field is.
    #[error("no BTF; compile with clang -g")]
    NoBtf,
    /// The type information cannot be read.
    #[error("damaged BTF: {0}")]
    Btf(String),
    /// Nothing in the object is a congestion control.
    #[error("no congestion control: no struct tcp_congestion_ops in .struct_ops or .struct_ops.link")]
    NoStructOps,
    /// None of the object's congestion controls has this name.
    #[error("no congestion control {wanted}; the object has {present}")]
    NoSuchName {
        /// The name asked for.
        wanted: String,
        /// The names that there are, separated by commas.
        present: String,
    },
    /// Several congestion controls, and none was chosen.
    #[error("several congestion controls, {0}; choose one with :NAME")]
    Several(String),
    /// A congestion control that the kernel would not register.
    #[error("{name}: {reason}")]
    Algorithm {
        /// The name of the variable, or of the congestion control.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A map that is not had.
    #[error("map {map}: {reason}")]
    Map {
        /// The name of the map.
        map: String,
        /// What is wrong.
        reason: String,
    },
    /// A function of the kernel that is not had.
    #[error("kfunc {0}: {reason}", reason = kfunc_names::refusal(.0))]
    Kfunc(String),
    /// A variable of the kernel that is not had.
    #[error("extern variable {0}: not available here")]
    Extern(String),
    /// A program that cannot run.
    #[error("{program}, instruction {instruction}: {reason}")]
    Program {
        /// The name of the function.
        program: String,
        /// The instruction, counted from the function's first, 8 bytes each.
        instruction: usize,
        /// What is wrong.
        reason: String,
    },
    /// The license keeps the kernel from registering it.
    #[error("license {0:?}: the kernel accepts only those compatible with the GPL")]
    License(String),
}

/// Why a running program was ended.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{program}, instruction {instruction}: {reason}")]
pub struct Fault {
    /// The name of the function.
    pub program: String,
    /// The instruction, counted from the function's first, 8 bytes each.
    pub instruction: usize,
    /// What it did.
    pub reason: String,
}

pub(crate) type Loaded<T> = Result<T, LoadError>;
