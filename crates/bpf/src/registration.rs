//! Algorithms that the kernel knows for as long as an object lives.

use crate::error::Error;
use crate::names::{available, numbered, own_name};
#[cfg(feature = "loader")]
use crate::{kernel::KERNEL_TYPES, loader};
use std::path::Path;

/// Whether this build can register algorithms.
pub const HAS_LOADER: bool = cfg!(feature = "loader");
/// The most processes that may use the same algorithm at a time (chosen here).
const MOST_NAMES: u32 = 1000;

/// An algorithm that the kernel knows as long as this lives.
#[derive(Debug)]
pub struct Registration {
    name: String,
    #[cfg(feature = "loader")]
    _link: libbpf_rs::Link,
}

impl Registration {
    /// Registers the algorithm of an object that `make bpf` has built. If the verifier rejects a program, its
    /// output is written to a new file in `log_folder`, which the error names; nothing else is written.
    ///
    /// # Errors
    /// One line each: no object, no rights, a kernel without BTF, a rejected program, a name that is taken, a
    /// build without the loader.
    pub fn new(object: &Path, log_folder: &Path) -> Result<Self, Error> {
        Self::load(object, own_name(object), log_folder)
    }

    /// Registers the algorithm likewise, but if its name is taken, under the first of `lf_hstcp_2`,
    /// `lf_hstcp_3`, ... that is free.
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
            // asking is quicker than loading
            if available().is_ok_and(|names| !names.contains(&name)) {
                result = Self::load(object, name, log_folder);
            }
        }
        result
    }

    #[cfg(not(feature = "loader"))]
    fn load(object: &Path, _name: String, _log_folder: &Path) -> Result<Self, Error> {
        check_exists(object)?;
        Err(Error::NoLoader)
    }

    #[cfg(feature = "loader")]
    fn load(object: &Path, name: String, log_folder: &Path) -> Result<Self, Error> {
        check_exists(object)?;
        if !Path::new(KERNEL_TYPES).exists() {
            return Err(Error::NoKernelTypes);
        }
        let link = loader::register(object, &name, log_folder)?;
        Ok(Registration { name, _link: link })
    }

    /// Returns the name that sockets select the algorithm by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn check_exists(object: &Path) -> Result<(), Error> {
    if object.is_file() { Ok(()) } else { Err(Error::NoObject { path: object.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_missing_object_names_the_command_that_builds_it() {
        let missing = Path::new("nowhere/lf_stcp.o");
        let error = Registration::new(missing, Path::new(".")).expect_err("there is none").to_string();
        assert!(error.contains("nowhere/lf_stcp.o") && error.contains("make bpf"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
