//! Child processes: they end with the thread that started them, write into memory, and let their sockets be
//! looked at.

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, FdFlags};
use rustix::process::{
    ForeignRawFd, Pid, PidfdFlags, PidfdGetfdFlags, Signal, getppid, kill_process, pidfd_getfd, pidfd_open,
    set_parent_process_death_signal,
};
use socket2::Socket;
use std::fs::File;
use std::io::Result;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// A child process with few open files has no descriptor with a higher number.
const DESCRIPTORS: ForeignRawFd = 64;

/// Asks the kernel to kill this process (SIGKILL) when the thread that started it ends.
pub fn die_with_parent() -> Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Makes the kernel kill the command's process (SIGKILL) when the calling thread ends. That thread has to be
/// the one that starts the command.
#[expect(unsafe_code, reason = "only Command::pre_exec runs code between fork and exec, and it is unsafe")]
pub fn end_with_this_thread(command: &mut Command) {
    let parent = Pid::from_raw(std::process::id().cast_signed());
    let bind = move || {
        die_with_parent()?;
        // if the parent has ended already, another process has adopted the child and will not end it
        if getppid() == parent { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec the closure only makes two system calls and turns their numbers into
    // errors. It neither allocates nor takes a lock.
    unsafe { command.pre_exec(bind) };
}

/// Asks a child process to end, as Ctrl-C does.
pub fn interrupt(child: &Child) -> Result<()> {
    Ok(kill_process(Pid::from_child(child), Signal::INT)?)
}

/// Takes over a descriptor that this process has inherited under this number.
#[expect(unsafe_code, reason = "the parent passes descriptors by their numbers")]
pub fn inherited(number: RawFd) -> Result<OwnedFd> {
    // SAFETY: it only asks for the descriptor's flags, and fails if there is none.
    rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) })?;
    // SAFETY: the descriptor is open, and whoever passed it here leaves it to this process alone.
    let fd = unsafe { OwnedFd::from_raw_fd(number) };
    rustix::io::fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
    Ok(fd)
}

/// Returns a file that exists only in memory, for as long as it is open.
pub fn memory_file(name: &str) -> Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// A TCP or UDP socket of another process, and its ports.
pub struct ForeignSocket {
    /// Our own descriptor of the socket.
    pub socket: Socket,
    /// The port that it is bound to.
    pub port: u16,
    /// The port of its peer; `None` if it is not connected.
    pub peer: Option<u16>,
}

/// Returns the IPv4 sockets that a child process has now (pidfd_getfd(2), Linux 5.6).
pub fn sockets_of(child: &Child) -> Result<Vec<ForeignSocket>> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut found = Vec::new();
    for number in 0..DESCRIPTORS {
        match pidfd_getfd(&process, number, PidfdGetfdFlags::empty()) {
            Ok(fd) => {
                let socket = Socket::from(fd);
                let own = socket.local_addr().ok().and_then(|address| address.as_socket_ipv4());
                let peer = socket.peer_addr().ok().and_then(|address| address.as_socket_ipv4());
                if let Some(own) = own {
                    found.push(ForeignSocket {
                        socket,
                        port: own.port(),
                        peer: peer.map(|peer| peer.port()),
                    });
                }
            }
            Err(Errno::BADF) => {}
            Err(Errno::SRCH) => break, // the child has ended
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}
