//! Algorithms whose rate the routers on the path set. Their objects hold a second program, which reads and
//! writes the TCP option of both ends of a connection. It is attached to a cgroup, and acts on the sockets in
//! there.

use crate::error::Error;
use crate::registration::beside_others;
#[cfg(not(feature = "loader"))]
use crate::registration::check_exists;
#[cfg(feature = "loader")]
use crate::registration::check_loadable;
use crate::source::Source;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// Such an algorithm; the kernel knows it as long as this lives, and its program stays attached as long.
#[derive(Debug)]
pub struct Guided {
    name: String,
    log_folder: PathBuf,
    #[cfg(feature = "loader")]
    object: libbpf_rs::Object,
    #[cfg(feature = "loader")]
    links: Vec<libbpf_rs::Link>,
}

impl Guided {
    /// Registers the algorithm of an object, as
    /// [`Registration::beside_others`](crate::Registration::beside_others) does.
    ///
    /// # Errors
    /// The same.
    pub fn beside_others(object: &Path, log_folder: &Path) -> Result<Self, Error> {
        let source = Source::only(object);
        beside_others(&source.name, |name| Self::load(&source, name, log_folder))
    }

    #[cfg(not(feature = "loader"))]
    fn load(source: &Source, _name: String, _log_folder: &Path) -> Result<Self, Error> {
        check_exists(&source.object)?;
        Err(Error::NoLoader)
    }

    #[cfg(feature = "loader")]
    fn load(source: &Source, name: String, log_folder: &Path) -> Result<Self, Error> {
        check_loadable(source)?;
        let (object, link) = crate::loader::register_with_programs(source, &name, log_folder)?;
        Ok(Guided { name, log_folder: log_folder.to_owned(), object, links: vec![link] })
    }

    /// Lets the algorithm's other program act on the sockets that are opened in this cgroup from now on, and
    /// on those that they accept.
    ///
    /// # Errors
    /// The kernel refuses, in its own words.
    pub fn attach(&mut self, cgroup: BorrowedFd<'_>) -> Result<(), Error> {
        #[cfg(not(feature = "loader"))]
        {
            let _ = (cgroup, &self.log_folder);
            Err(Error::NoLoader)
        }
        #[cfg(feature = "loader")]
        {
            let link = crate::loader::attach(&self.object, &self.name, cgroup, &self.log_folder)?;
            self.links.push(link);
            Ok(())
        }
    }

    /// Returns the name that sockets select the algorithm by.
    pub fn name(&self) -> &str {
        &self.name
    }
}
