//! A control group for sockets, in the second version's hierarchy (Documentation/admin-guide/cgroup-v2.rst).
//!
//! A socket belongs for good to the group in which its process was when it was opened, and so do the
//! connections that it accepts. Programs attached to the group act on them even after the group has been
//! removed, for as long as they exist (Linux 5.3). So a group is there only while sockets are opened: once
//! these are, nothing of it has a name, and whatever ends the process leaves nothing behind.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

const PREFIX: &str = "longfat-";
const MEMBERS: &str = "cgroup.procs";
/// Writing this moves the writer.
const SELF: &str = "0";

/// A group that exists as long as this does.
#[derive(Debug)]
pub struct Cgroup {
    home: PathBuf,
    own: PathBuf,
    folder: File,
}

impl Cgroup {
    /// Makes a group below that of this process.
    ///
    /// # Errors
    /// There is no hierarchy of the second version, or this process may not make a group in it.
    pub fn new() -> Result<Self> {
        let home = home()?;
        sweep(&home);
        let own = home.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&own)?;
        match File::open(&own) {
            Ok(folder) => Ok(Cgroup { home, own, folder }),
            Err(error) => {
                let _ = fs::remove_dir(&own);
                Err(error)
            }
        }
    }

    /// Does something while this process is in the group. The sockets that it opens stay there.
    pub fn within<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        fs::write(self.own.join(MEMBERS), SELF)?;
        let result = act();
        fs::write(self.home.join(MEMBERS), SELF)?;
        result
    }
}

impl AsFd for Cgroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.home.join(MEMBERS), SELF);
        let _ = fs::remove_dir(&self.own);
    }
}

/// Returns the folder of the group that this process is in.
fn home() -> Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let root =
        mount(&mounts).ok_or_else(|| Error::new(ErrorKind::NotFound, "no cgroup2 file system is mounted"))?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let path =
        path.ok_or_else(|| Error::new(ErrorKind::NotFound, "this process has no cgroup of version 2"))?;
    Ok(Path::new(&root).join(path))
}

/// Returns where the hierarchy is mounted: /sys/fs/cgroup, or elsewhere where both versions are used.
fn mount(mounts: &str) -> Option<String> {
    // number parent device root mount-point options ... - type source options (proc_pid_mountinfo(5))
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        (after.split(' ').next() == Some("cgroup2")).then(|| before.split(' ').nth(4))?.map(unescaped)
    })
}

/// Replaces what stands for a space, a tab, a line feed and a backslash.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}

/// Removes the groups of processes that were killed between making a group and removing it.
fn sweep(home: &Path) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_version_is_found_wherever_it_is_mounted() {
        let hybrid = "22 1 0:20 / /proc rw - proc proc rw\n\
                      30 22 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                      39 22 0:35 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(mount(hybrid).as_deref(), Some("/sys/fs/cgroup/unified"));
        let odd = "39 22 0:35 / /my\\040groups rw - cgroup2 none rw\n";
        assert_eq!(mount(odd).as_deref(), Some("/my groups"));
        assert_eq!(mount("30 22 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup2 rw,cpu\n"), None);
    }
}
