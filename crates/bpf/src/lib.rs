//! The algorithms of `bpf/` in the running Linux kernel.
//!
//! `make bpf` compiles each to an object; [`Registration::new`] loads one through the kernel's verifier and
//! registers it under its own name (`lf_hstcp`, ...), which sockets then select by `TCP_CONGESTION`;
//! [`Registration::beside_others`] finds another name where that one is taken. The registration is a struct_ops link that only this process holds: it goes with the [`Registration`] or with
//! the process, whatever ends it. Sockets that use the algorithm keep it until they close.
//!
//! The feature `loader` compiles the loader in; without it everything here still works, and
//! registering returns an error that says what to do.

mod error;
#[cfg(feature = "loader")]
mod loader;

pub use error::Error;

use std::path::{Path, PathBuf};

/// Whether this build can register algorithms.
pub const HAS_LOADER: bool = cfg!(feature = "loader");
/// The file in which the loader finds the kernel's types.
pub const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Most characters of a name (TCP_CA_NAME_MAX less the zero at its end).
pub const LONGEST_NAME: usize = 15;
/// So many processes may have the same algorithm at a time (chosen here).
const MOST_NAMES: u32 = 1000;
/// Where the kernel lists what sockets may select.
pub const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// An algorithm with a kernel form in `bpf/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelForm {
    /// The name in scenario files and in the registry of `longfat-transport`.
    pub algorithm: &'static str,
    /// The kernel's name for it, at most 15 characters; the object is `<name>.o`.
    pub name: &'static str,
    /// Whether it relies on the kernel's pacing: with the namespace's `net.ipv4.tcp_pacing_ca_ratio` at 100
    /// it leaves at cwnd / srtt, as in the simulator.
    pub paced: bool,
}

const fn form(algorithm: &'static str, name: &'static str) -> KernelForm {
    KernelForm { algorithm, name, paced: false }
}

/// All of them.
pub const KERNEL_FORMS: [KernelForm; 12] = [
    form("hstcp", "lf_hstcp"),
    form("stcp", "lf_stcp"),
    form("bic", "lf_bic"),
    form("htcp", "lf_htcp"),
    KernelForm { paced: true, ..form("fast", "lf_fast") },
    form("yeah", "lf_yeah"),
    form("africa", "lf_africa"),
    form("westwood+", "lf_westwoodplus"),
    form("ctcp", "lf_ctcp"),
    form("illinois", "lf_illinois"),
    form("vegas", "lf_vegas"),
    form("ltcp", "lf_ltcp"),
];

/// The kernel form of this algorithm, if it has one.
pub fn kernel_form(algorithm: &str) -> Option<&'static KernelForm> {
    KERNEL_FORMS.iter().find(|form| form.algorithm == algorithm)
}

impl KernelForm {
    /// Its object in the folder where `make bpf` left it.
    pub fn object(&self, folder: &Path) -> PathBuf {
        folder.join(self.name).with_extension("o")
    }
}

/// The names that sockets may select at present.
pub fn available() -> Result<Vec<String>, Error> {
    let listed = std::fs::read_to_string(AVAILABLE).map_err(|e| Error::io(Path::new(AVAILABLE), &e))?;
    Ok(listed.split_whitespace().map(str::to_owned).collect())
}

/// An algorithm that the kernel knows as long as this lives.
#[derive(Debug)]
pub struct Registration {
    name: String,
    #[cfg(feature = "loader")]
    _link: libbpf_rs::Link,
}

impl Registration {
    /// Registers the algorithm that an object of `make bpf` holds. What the verifier says of a program that
    /// it rejects is written to `<object's name>.log` in `log_folder`; nothing else is written.
    ///
    /// # Errors
    /// One line each: no object, no rights, a kernel without BTF, a rejected program, a name that is taken, a
    /// build without the loader.
    pub fn new(object: &Path, log_folder: &Path) -> Result<Self, Error> {
        Self::load(object, own_name(object), log_folder)
    }

    /// The same, but where the name is taken, under the first of `lf_hstcp_2`, `lf_hstcp_3`, ... that is not.
    ///
    /// # Errors
    /// As [`Registration::new`].
    pub fn beside_others(object: &Path, log_folder: &Path) -> Result<Self, Error> {
        let own = own_name(object);
        let mut result = Self::load(object, own.clone(), log_folder);
        for number in 2..MOST_NAMES {
            if !matches!(result, Err(Error::Taken { .. })) {
                break;
            }
            let name = numbered(&own, number);
            // to ask is quicker than to load
            if available().is_ok_and(|there| !there.contains(&name)) {
                result = Self::load(object, name, log_folder);
            }
        }
        result
    }

    #[cfg(not(feature = "loader"))]
    fn load(object: &Path, _name: String, _log_folder: &Path) -> Result<Self, Error> {
        is_object(object)?;
        Err(Error::NoLoader)
    }

    #[cfg(feature = "loader")]
    fn load(object: &Path, name: String, log_folder: &Path) -> Result<Self, Error> {
        is_object(object)?;
        if !Path::new(KERNEL_TYPES).exists() {
            return Err(Error::NoKernelTypes);
        }
        let link = loader::register(object, &name, log_folder)?;
        Ok(Registration { name, _link: link })
    }

    /// What sockets select it by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn is_object(object: &Path) -> Result<(), Error> {
    if object.is_file() { Ok(()) } else { Err(Error::NoObject { path: object.to_owned() }) }
}

/// An object is called as the algorithm in it.
fn own_name(object: &Path) -> String {
    object.file_stem().unwrap_or(object.as_os_str()).to_string_lossy().into_owned()
}

/// A further name of an algorithm, as long as the kernel takes it.
fn numbered(own: &str, number: u32) -> String {
    let suffix = format!("_{number}");
    let stem: String = own.chars().take(LONGEST_NAME - suffix.len()).collect();
    stem + &suffix
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_fits_the_kernel_and_belongs_to_one_algorithm_of_the_registry() {
        let names: BTreeSet<_> = KERNEL_FORMS.iter().map(|form| form.name).collect();
        assert_eq!(names.len(), KERNEL_FORMS.len());
        for form in &KERNEL_FORMS {
            assert!(form.name.len() <= LONGEST_NAME && form.name.starts_with("lf_"), "{}", form.name);
            // the kernel takes no other characters
            assert!(form.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{}", form.name);
            let row = longfat_transport::cc::find(form.algorithm).map(|row| row.name);
            assert_eq!(row, Some(form.algorithm));
        }
    }

    #[test]
    fn further_names_are_as_long_as_the_kernel_takes_them() {
        assert_eq!(numbered("lf_hstcp", 2), "lf_hstcp_2");
        assert_eq!(numbered("lf_westwoodplus", 2), "lf_westwoodpl_2");
        assert_eq!(numbered("lf_westwoodplus", 12), "lf_westwoodp_12");
    }

    #[test]
    fn an_object_that_is_not_there_is_told_with_the_command_that_makes_it() {
        let missing = Path::new("nowhere/lf_stcp.o");
        let error = Registration::new(missing, Path::new(".")).expect_err("there is none").to_string();
        assert!(error.contains("nowhere/lf_stcp.o") && error.contains("make bpf"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
