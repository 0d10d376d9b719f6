//! Algorithms that the kernel knows for as long as an object lives.

use crate::error::Error;
use crate::names::{available, numbered};
use crate::source::Source;
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
    /// Registers an algorithm. If the verifier rejects a program, its
    /// output is written to a new file in `log_folder`, which the error names; nothing else is written.
    ///
    /// # Errors
    /// One line each: no object, no rights, a kernel without BTF, a rejected program, a name that is taken, a
    /// build without the loader.
    pub fn new(source: &Source, log_folder: &Path) -> Result<Self, Error> {
        Self::load(source, source.name.clone(), log_folder)
    }

    /// Registers the algorithm likewise, but if its name is taken, under the first of `lf_hstcp_2`,
    /// `lf_hstcp_3`, ... that is free.
    ///
    /// # Errors
    /// As [`Registration::new`].
    pub fn beside_others(source: &Source, log_folder: &Path) -> Result<Self, Error> {
        beside_others(&source.name, |name| Self::load(source, name, log_folder))
    }

    #[cfg(not(feature = "loader"))]
    fn load(source: &Source, _name: String, _log_folder: &Path) -> Result<Self, Error> {
        check_exists(&source.object)?;
        Err(Error::NoLoader)
    }

    #[cfg(feature = "loader")]
    fn load(source: &Source, name: String, log_folder: &Path) -> Result<Self, Error> {
        check_loadable(source)?;
        let link = loader::register(source, &name, log_folder)?;
        Ok(Registration { name, _link: link })
    }

    /// Returns the name that sockets select the algorithm by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Registers an algorithm under its own name, or under the first free one of `own_2`, `own_3`, ... if it is
/// taken.
pub(crate) fn beside_others<T>(
    own: &str,
    mut register: impl FnMut(String) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut result = register(own.to_owned());
    for number in 2..MOST_NAMES {
        if !matches!(result, Err(Error::Taken { .. })) {
            break;
        }
        let name = numbered(own, number);
        // asking is quicker than loading
        if available().is_ok_and(|names| !names.contains(&name)) {
            result = register(name);
        }
    }
    result
}

/// Asks the kernel's verifier whether it would take an algorithm, without registering it: nothing stays, and
/// no other process sees anything of it. If the verifier rejects a program, its output is written as by
/// [`Registration::new`].
///
/// # Errors
/// As [`Registration::new`], but a name that is taken is none.
pub fn try_load(source: &Source, log_folder: &Path) -> Result<(), Error> {
    #[cfg(not(feature = "loader"))]
    return check_exists(&source.object).and_then(|()| {
        let _ = log_folder;
        Err(Error::NoLoader)
    });
    #[cfg(feature = "loader")]
    check_loadable(source).and_then(|()| loader::try_load(source, log_folder))
}

#[cfg(feature = "loader")]
pub(crate) fn check_loadable(source: &Source) -> Result<(), Error> {
    check_exists(&source.object)?;
    if Path::new(KERNEL_TYPES).exists() { Ok(()) } else { Err(Error::NoKernelTypes) }
}

pub(crate) fn check_exists(object: &Path) -> Result<(), Error> {
    if object.is_file() { Ok(()) } else { Err(Error::NoObject { path: object.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_missing_object_names_the_command_that_builds_it() {
        let missing = Path::new("nowhere/lf_stcp.o");
        let error =
            Registration::new(&Source::only(missing), Path::new(".")).expect_err("there is none").to_string();
        assert!(error.contains("nowhere/lf_stcp.o") && error.contains("make bpf"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
