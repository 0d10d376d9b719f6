//! The first process of a process namespace: everything that programs start ends with it, also what has left
//! its parent, its session or its group. It starts programs, tells how they end, and ends all when its orders
//! do.

use super::clock::Clock;
use super::namespaces::{enter_network, leave_mounts, leave_users};
use longfat_units::{Interval, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::io::{Errno, FdFlags, dup, fcntl_setfd};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount,
};
use rustix::process::{Gid, Pid, PidfdFlags, Signal, Uid, WaitOptions, WaitStatus, kill_process_group};
use rustix::process::{pidfd_open, setpgid, setsid, wait, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, PipeReader, Read, Result, Write, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

/// How long programs have to end when they are asked to, before they are killed.
const GRACE: Interval = Interval::from_millis(1000);
/// Orphans that have ended are collected at least this often.
const LONGEST_WAIT: Interval = Interval::from_millis(250);
/// The same while everything ends.
const STEP: Interval = Interval::from_millis(10);
/// How much of a program's output is kept: its last bytes.
const KEPT_BYTES: usize = 1 << 16;
/// Lines of a program's output that a warning has.
const LAST_WORDS: usize = 3;
/// What shells return for a command that is not there, and for one that cannot be executed.
const NOT_FOUND: i32 = 127;
const NOT_EXECUTABLE: i32 = 126;
const RESOLVER: &str = "/etc/resolv.conf";
/// A folder that every machine has.
const PLACE: &str = "/tmp";
/// Settings that let the kernel give up at once what the programs' sockets still have to send.
const GIVE_UP: [(&str, &str); 2] =
    [("/proc/sys/net/ipv4/tcp_orphan_retries", "1"), ("/proc/sys/net/ipv4/tcp_fin_timeout", "1")];

/// A program to start.
#[derive(Clone, Debug, Deserialize)]
pub struct Order {
    /// What messages call it.
    pub told_as: String,
    /// Its command and arguments.
    pub command: Vec<String>,
    /// The variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// The side of the path that it runs on: 0 or 1.
    pub side: usize,
    /// Whether it has the caller's standard streams, and with them the terminal. The output of others is
    /// kept.
    pub in_front: bool,
}

/// Whom programs run as.
#[derive(Clone, Debug)]
pub enum Identity {
    /// The user of this process.
    Own,
    /// Another user, with a group and further groups.
    User(u32, u32, Vec<u32>),
    /// The user and group of this process outside of its user namespace.
    Outside(u32, u32),
}

/// What the process is told.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Told {
    /// Start this program.
    Start(usize),
    /// Ask this program to end.
    Stop(usize),
}

/// How a program has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// The program.
    pub program: usize,
    /// Its exit code; 128 and the signal's number if a signal ended it, as shells say.
    pub code: i32,
    /// Whether it was asked to end.
    pub asked: bool,
    /// The last bytes of what it has printed.
    pub output: String,
}

/// What the process tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// A program has ended.
    Ended(Ended),
    /// The process cannot go on, for this reason.
    Failed(String),
}

/// What the process has to know when it begins.
pub struct Setup<'a> {
    /// The programs.
    pub orders: Vec<Order>,
    /// The network namespaces of both sides.
    pub networks: [BorrowedFd<'a>; 2],
    /// Descriptors that only the caller is to hold.
    pub not_mine: Vec<RawFd>,
    /// Whom programs run as.
    pub identity: Identity,
    /// The standard streams of a program in front.
    pub streams: Option<[RawFd; 3]>,
    /// The process group of a program in front, so that it is in the terminal's foreground.
    pub group: Option<i32>,
    /// The text of /etc/resolv.conf for programs; the machine's own if `None`.
    pub resolver: Option<String>,
}

/// The other end of the process: its owner's.
pub struct Handle {
    /// Orders go here and reports come from here, a line each. When it is closed, all programs end.
    pub orders: UnixStream,
    process: Pid,
}

/// Starts the process. The caller must not have another thread.
pub fn start(setup: &Setup<'_>) -> Result<Handle> {
    let (ours, theirs) = UnixStream::pair()?;
    for stream in setup.streams.into_iter().flatten() {
        fcntl_setfd(borrowed(stream), FdFlags::CLOEXEC)?;
    }
    #[expect(
        unsafe_code,
        reason = "fork(2) makes no namespace, and after unshare(2) of one there can be no threads"
    )]
    // SAFETY: this process has one thread, so the child may do everything; it never returns from `serve`.
    // Without a stack of its own, the child has a copy of this one, as after fork(2).
    let number = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_NEWPID | libc::SIGCHLD, 0, 0, 0, 0) };
    match number as libc::pid_t {
        0 => {
            drop(ours);
            serve(setup, theirs);
        }
        number => {
            let process = Pid::from_raw(number).filter(|_| number > 0).ok_or_else(Error::last_os_error)?;
            drop(theirs);
            if let Some(group) = setup.group {
                // only from here: within its namespace, the caller's group has no number
                setpgid(Some(process), Pid::from_raw(group))?;
            }
            Ok(Handle { orders: ours, process })
        }
    }
}

impl Handle {
    /// Waits until the process and all programs are gone.
    pub fn wait(&self) {
        while matches!(waitpid(Some(self.process), WaitOptions::empty()), Err(Errno::INTR)) {}
    }
}

/// Serves until there are no more orders. Never returns.
fn serve(setup: &Setup<'_>, orders: UnixStream) -> ! {
    for &fd in &setup.not_mine {
        #[expect(
            unsafe_code,
            reason = "they belong to the parent's objects, which this process never drops"
        )]
        // SAFETY: nothing in this process uses them.
        unsafe {
            libc::close(fd)
        };
    }
    let mut init = Init { setup, orders, clock: Clock::starting_in(Interval::ZERO), running: Vec::new() };
    let ran = init.prepare().and_then(|()| init.run());
    if let Err(error) = &ran {
        init.report(&Report::Failed(error.to_string()));
    }
    let code = i32::from(ran.is_err());
    init.end();
    #[expect(unsafe_code, reason = "the parent's destructors and handlers at exit are not this process's")]
    // SAFETY: it does not return.
    unsafe {
        libc::_exit(code)
    }
}

/// A program that was started.
struct Running {
    program: usize,
    process: Pid,
    pidfd: Option<OwnedFd>,
    output: Option<PipeReader>,
    kept: Vec<u8>,
    /// When it is killed; it was asked to end.
    kill_at: Option<Time>,
    over: bool,
}

struct Init<'a> {
    setup: &'a Setup<'a>,
    orders: UnixStream,
    clock: Clock,
    running: Vec<Running>,
}

impl Init<'_> {
    /// Lets go of the parent's streams, and makes /proc show the processes of this namespace.
    fn prepare(&self) -> Result<()> {
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        dup2_stderr(&null)?;
        self.orders.set_nonblocking(true)?;
        leave_mounts()?;
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
        // where containers hide parts of /proc the kernel refuses, and programs see the processes of the
        // machine
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let _ = mount("proc", "/proc", "proc", flags, None);
        if let Some(text) = &self.setup.resolver {
            // the file needs a place only until it is mounted itself
            mount("tmpfs", PLACE, "tmpfs", flags, None)?;
            let file = format!("{PLACE}/resolv.conf");
            std::fs::write(&file, text)?;
            mount_bind(&file, RESOLVER)?;
            unmount(PLACE, UnmountFlags::DETACH)?;
        }
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let mut lines = Vec::new();
        loop {
            self.wait_for_something(LONGEST_WAIT)?;
            let mut chunk = [0; 4096];
            match self.orders.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(n) => lines.extend_from_slice(&chunk[..n]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
            while let Some(end) = lines.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = lines.drain(..=end).collect();
                match serde_json::from_slice(&line)? {
                    Told::Start(program) => self.start(program)?,
                    Told::Stop(program) => self.ask_to_end(program),
                }
            }
            self.look();
        }
    }

    /// Waits until there is an order, or a program has printed something or ended.
    fn wait_for_something(&self, most: Interval) -> Result<()> {
        let mut fds = vec![PollFd::new(&self.orders, PollFlags::IN)];
        for each in &self.running {
            fds.extend(each.pidfd.as_ref().filter(|_| !each.over).map(|fd| PollFd::new(fd, PollFlags::IN)));
            fds.extend(each.output.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        }
        let most = Timespec { tv_sec: 0, tv_nsec: most.as_ns().cast_signed() };
        match poll(&mut fds, Some(&most)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes what programs have printed, collects what has ended, and kills what was asked to end and does
    /// not.
    fn look(&mut self) {
        self.has_children();
        let now = self.clock.now();
        for each in self.running.iter().filter(|each| !each.over && each.kill_at.is_some_and(|at| at <= now))
        {
            let _ = kill_process_group(each.process, Signal::KILL);
        }
    }

    /// A child has ended: a program, or what a program has left behind.
    fn collect(&mut self, process: Pid, status: WaitStatus) {
        let status = ExitStatus::from_raw(status.as_raw());
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        let found = self.running.iter_mut().find(|each| each.process == process && !each.over);
        let (Some(code), Some(each)) = (code, found) else { return };
        each.over = true;
        each.take_output();
        let output = String::from_utf8_lossy(&each.kept).into_owned();
        let ended = Ended { program: each.program, code, asked: each.kill_at.is_some(), output };
        self.warn(&ended);
        self.report(&Report::Ended(ended));
    }

    /// Tells the user of the program in front at once that another program has failed: it may be waited for.
    fn warn(&self, ended: &Ended) {
        let order = &self.setup.orders[ended.program];
        let (Some([_, _, stderr]), false, false) =
            (self.setup.streams, order.in_front || ended.asked, ended.code == 0)
        else {
            return;
        };
        let words: Vec<&str> = ended.output.trim_end().lines().rev().take(LAST_WORDS).collect();
        let mut text = format!("longfat: {} ended with exit code {}", order.told_as, ended.code);
        for line in words.into_iter().rev() {
            text += &format!("\nlongfat: {}: {line}", order.told_as);
        }
        let _ = rustix::io::write(borrowed(stderr), format!("{text}\n").as_bytes());
    }

    fn report(&mut self, report: &Report) {
        let Ok(mut line) = serde_json::to_vec(report) else { return };
        line.push(b'\n');
        // a report of 64 KiB may have to wait for the owner; without an owner, nobody wants it
        let _ = self.orders.set_nonblocking(false);
        let _ = self.orders.write_all(&line);
        let _ = self.orders.set_nonblocking(true);
    }

    fn start(&mut self, program: usize) -> Result<()> {
        let Some(order) = self.setup.orders.get(program) else { return Ok(()) };
        let (name, arguments) = order.command.split_first().ok_or(ErrorKind::InvalidInput)?;
        let mut command = Command::new(name);
        command.args(arguments).env_clear().envs(&order.environment);
        let mut output = None;
        if let Some([stdin, stdout, stderr]) = self.setup.streams.filter(|_| order.in_front) {
            command.stdin(copy(stdin)?).stdout(copy(stdout)?).stderr(copy(stderr)?);
        } else {
            let (reader, writer) = pipe()?;
            fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
            command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
            output = Some(reader);
        }
        self.arrange(&mut command, order)?;
        match command.spawn() {
            Ok(child) => {
                let process = Pid::from_child(&child);
                let pidfd = pidfd_open(process, PidfdFlags::empty()).ok();
                let (kept, kill_at, over) = (Vec::new(), None, false);
                self.running.push(Running { program, process, pidfd, output, kept, kill_at, over });
            }
            Err(error) => {
                let (code, why) = match error.kind() {
                    ErrorKind::NotFound => (NOT_FOUND, "command not found".to_owned()),
                    _ => (NOT_EXECUTABLE, error.to_string()),
                };
                let ended = Ended { program, code, asked: false, output: format!("{name}: {why}\n") };
                self.warn(&ended);
                self.report(&Report::Ended(ended));
            }
        }
        Ok(())
    }

    /// Arranges what happens in the program's process before the program is executed.
    #[expect(
        unsafe_code,
        reason = "only Command::pre_exec runs code between fork and exec, and it is unsafe"
    )]
    fn arrange(&self, command: &mut Command, order: &Order) -> Result<()> {
        let network = self.setup.networks[order.side].try_clone_to_owned()?;
        let (identity, in_front) = (self.setup.identity.clone(), order.in_front);
        let prepare = move || {
            enter_network(network.as_fd())?;
            if !in_front {
                setsid()?;
            }
            // Python ignores this one
            // SAFETY: the default action is not a function.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
            match &identity {
                Identity::Own => Ok(()),
                Identity::User(user, group, groups) => {
                    let groups: Vec<Gid> = groups.iter().map(|&group| Gid::from_raw(group)).collect();
                    set_thread_groups(&groups)?;
                    set_thread_gid(Gid::from_raw(*group))?;
                    Ok(set_thread_uid(Uid::from_raw(*user))?)
                }
                Identity::Outside(user, group) => leave_users(*user, *group),
            }
        };
        // SAFETY: the process that forks has one thread, so the child may do everything.
        unsafe { command.pre_exec(prepare) };
        Ok(())
    }

    fn ask_to_end(&mut self, program: usize) {
        let at = self.clock.now() + GRACE;
        for each in self.running.iter_mut().filter(|each| each.program == program && !each.over) {
            each.kill_at = Some(at);
            let _ = kill_process_group(each.process, Signal::TERM);
            let _ = kill_process_group(each.process, Signal::CONT);
        }
    }

    /// Collects what has ended; returns whether there is anything else.
    fn has_children(&mut self) -> bool {
        self.running.iter_mut().for_each(Running::take_output);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((process, status))) => self.collect(process, status),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Ends everything: programs get a moment to end by themselves. The kernel kills the rest with this
    /// process.
    fn end(&mut self) {
        let at = self.clock.now() + GRACE;
        self.running.iter_mut().filter(|each| !each.over).for_each(|each| each.kill_at = Some(Time::NEVER));
        for signal in [libc::SIGHUP, libc::SIGTERM, libc::SIGCONT] {
            signal_all(signal);
        }
        while self.clock.now() < at && self.has_children() {
            super::waiting::sleep(STEP);
        }
        self.look();
        for network in self.setup.networks {
            if enter_network(network).is_ok() {
                for (setting, value) in GIVE_UP {
                    let _ = std::fs::write(setting, value);
                }
            }
        }
    }
}

impl Running {
    /// Takes what the program has printed; its last bytes are kept until it ends.
    fn take_output(&mut self) {
        let Some(output) = &mut self.output else { return };
        let mut chunk = [0; 1 << 16];
        loop {
            match output.read(&mut chunk) {
                Ok(0) => {
                    self.output = None;
                    return;
                }
                Ok(n) => {
                    self.kept.extend_from_slice(&chunk[..n]);
                    let surplus = self.kept.len().saturating_sub(KEPT_BYTES);
                    self.kept.drain(..surplus);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Sends a signal to every process of this namespace but the first.
#[expect(unsafe_code, reason = "rustix has no kill(2) of all processes")]
fn signal_all(signal: libc::c_int) {
    const ALL: libc::pid_t = -1;
    // SAFETY: it only sends signals. In a process namespace, no others are reached.
    unsafe { libc::kill(ALL, signal) };
}

#[expect(unsafe_code, reason = "the caller passes the streams by their numbers")]
fn borrowed(stream: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the process has inherited the streams, and nothing closes them.
    unsafe { BorrowedFd::borrow_raw(stream) }
}

fn copy(stream: RawFd) -> Result<Stdio> {
    Ok(dup(borrowed(stream))?.into())
}
