//! Namespaces of the calling thread.

use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::io::Result;
use std::os::fd::BorrowedFd;

/// Moves the calling thread into a new network namespace. With `as_user` it also gets a user namespace of its
/// own, in which it is root; the process must not have another thread then.
#[expect(unsafe_code, reason = "rustix marks unshare(2) as unsafe for the sake of one flag")]
pub fn leave_network(as_user: bool) -> Result<()> {
    let user = if as_user { UnshareFlags::NEWUSER } else { UnshareFlags::empty() };
    // SAFETY: only UnshareFlags::FILES is unsafe, which would leave descriptors of other threads behind.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWNET | user) }?)
}

/// Moves the calling thread into this network namespace.
pub fn enter_network(namespace: BorrowedFd<'_>) -> Result<()> {
    Ok(move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?)
}

/// Returns the effective user and group.
pub fn user() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}
