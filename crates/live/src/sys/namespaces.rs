//! Namespaces of the calling thread.

use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::io::{Error, Result};
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

/// Moves the calling process into a new mount namespace; it must not have another thread.
#[expect(unsafe_code, reason = "rustix marks unshare(2) as unsafe for the sake of one flag")]
pub fn leave_mounts() -> Result<()> {
    // SAFETY: only UnshareFlags::FILES is unsafe, which would leave descriptors of other threads behind.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?)
}

/// Moves the calling process, root of a user namespace, into a further one, in which it is this user again.
#[expect(unsafe_code, reason = "rustix marks unshare(2) as unsafe for the sake of one flag")]
pub fn leave_users(user: u32, group: u32) -> Result<()> {
    // SAFETY: only UnshareFlags::FILES is unsafe, which would leave descriptors of other threads behind.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
    map_user((user, 0), (group, 0)).map_err(|(_, error)| error)
}

/// Gives the calling process in its new user namespace a user and a group: inner and outer number of each.
/// The error names the file that cannot be written.
pub fn map_user(user: (u32, u32), group: (u32, u32)) -> std::result::Result<(), (&'static str, Error)> {
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{} {} 1", user.0, user.1)),
        ("/proc/self/gid_map", format!("{} {} 1", group.0, group.1)),
    ];
    maps.into_iter().try_for_each(|(file, text)| std::fs::write(file, text).map_err(|error| (file, error)))
}
