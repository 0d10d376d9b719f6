//! What is left of an object file when it has been read, relocated and checked.

use crate::maps::Spec;
use crate::program::Code;
use crate::struct_ops::Described;

/// What all connections of an object share and none changes.
#[derive(Debug)]
pub(crate) struct Image {
    pub code: Code,
    pub maps: Vec<Spec>,
    /// The values of maps that never change, by the number of the map.
    pub constants: Vec<Vec<u8>>,
    pub algorithms: Vec<Described>,
}
