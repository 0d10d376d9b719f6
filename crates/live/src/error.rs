//! Why a plan cannot be run live.

use longfat_sim::PlanError;
use std::io::Error;
use thiserror::Error as Derive;

/// Why a plan cannot be run live, or why a run ended early; each error is one line.
#[derive(Debug, Derive)]
pub enum LiveError {
    /// The plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// This machine lacks something that the run needs.
    #[error("{0}")]
    Machine(String),
    /// The kernel refused something in the middle of the run.
    #[error("the run ended early: {0}")]
    Broken(String),
}

impl LiveError {
    /// The process may not make `what`.
    pub fn rights(what: &str, error: &Error) -> Self {
        LiveError::Machine(format!(
            "live runs need the right to make {what} ({error}); accepted: root, or a kernel that gives users \
             namespaces of their own (kernel.unprivileged_userns_clone = 1, user.max_user_namespaces > 0); \
             `longfat doctor` says more"
        ))
    }

    /// The process cannot open a TUN device.
    pub fn tun(error: &Error) -> Self {
        LiveError::Machine(format!(
            "live runs need TUN devices, and /dev/net/tun cannot be used ({error}); accepted: a kernel with the \
             module tun (modprobe tun), and a /dev/net/tun that this user may open"
        ))
    }

    /// The process cannot make a cgroup, which an algorithm needs.
    pub fn cgroup(algorithm: &str, error: &Error) -> Self {
        LiveError::Machine(format!(
            "{algorithm}: a live run needs a cgroup of version 2 ({error}); accepted: root, and a mounted cgroup2 file \
             system (mount -t cgroup2 none /mnt); `longfat doctor` says more"
        ))
    }

    /// A step of setting up failed.
    pub fn setup(what: &str) -> impl Fn(Error) -> Self {
        let what = what.to_owned();
        move |error| LiveError::Machine(format!("live: {what} cannot be set up ({error})"))
    }

    /// A step of the run failed.
    pub fn broken(what: &str) -> impl Fn(Error) -> Self {
        let what = what.to_owned();
        move |error| LiveError::Broken(format!("{what}: {error}"))
    }
}
