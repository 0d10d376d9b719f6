//! What is registered: one algorithm of one object.

use crate::names::own_name;
use std::path::{Path, PathBuf};

/// Which algorithm of which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The object file.
    pub object: PathBuf,
    /// The variable with the algorithm's structure; `None` for an object with one only.
    pub variable: Option<String>,
    /// The algorithm's name in the kernel.
    pub name: String,
}

impl Source {
    /// The only algorithm of an object, which has the name of the file, as those of `bpf/` do.
    pub fn only(object: &Path) -> Self {
        Source { object: object.to_owned(), variable: None, name: own_name(object) }
    }
}
