//! What a receiver may do about explicit headers beside echoing them. In the thesis's "r" architecture (Lopez Pacheco
//! 2008, chapter 5) it keeps a copy of what the sender would make of them, and each acknowledgement carries that copy: one
//! that arrives makes up for all that were lost before it. Section 7.4 has it for any explicit protocol, so that all a
//! protocol brings is its own [`Mirror`], made by its sender's algorithm.

use longfat_wire::Explicit;
use std::fmt::Debug;

/// A receiver's copy of what its sender controls.
pub trait Mirror: Debug + Send {
    /// A data packet arrived with this header, which the routers have written into: what an acknowledgement says that
    /// leaves now. One that answers for several packets says it once, as of the last one.
    fn answer(&mut self, header: &Explicit) -> Explicit;
}
