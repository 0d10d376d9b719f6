//! What a sender keeps of its last reduction and of its retransmissions, to find out whether the reduction
//! was spurious (`spurious.rs`).

use crate::cc::Window;
use longfat_units::Time;

/// What a reduction can be undone by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the reduction.
    pub window: Window,
    /// The first segment that was not acknowledged then.
    pub from: u64,
    /// Retransmissions that may yet be reported as needless; `None` until there is one.
    pub open: Option<u64>,
}

/// Segments that were sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resent {
    /// When the first of them was.
    pub first: Time,
    /// One past the highest of them.
    pub end: u64,
}

/// What an acknowledgement shows of the last reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// Nothing.
    None,
    /// An original was late, and retransmissions are still under way.
    Reordering,
    /// It was spurious, and is undone.
    Spurious,
}
