//! The kernel's calls, each behind a safe function; the only place where Rust cannot check what is done.

use longfat_units::{Interval, Time};
use std::ffi::CStr;
use std::io::{Error, Result};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Wall-clock time since the run began (CLOCK_MONOTONIC).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// A clock at zero, `later` from now.
    pub fn starting_in(later: Interval) -> Self {
        Clock { epoch_ns: monotonic_ns(libc::CLOCK_MONOTONIC) + later.as_ns() }
    }

    /// The time; zero before the beginning.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_ns(monotonic_ns(libc::CLOCK_MONOTONIC).saturating_sub(self.epoch_ns))
    }

    /// Waits for the beginning.
    pub fn wait_for_start(&self) {
        let left = self.epoch_ns.saturating_sub(monotonic_ns(libc::CLOCK_MONOTONIC));
        let _ = wait(&mut [], Some(Interval::from_ns(left)));
    }
}

/// How long the calling thread has used a processor.
pub fn thread_cpu() -> Interval {
    Interval::from_ns(monotonic_ns(libc::CLOCK_THREAD_CPUTIME_ID))
}

fn monotonic_ns(clock: libc::clockid_t) -> u64 {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `at` is a timespec of our own.
    unsafe { libc::clock_gettime(clock, &mut at) };
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

/// -1 is the error of errno.
fn checked(answer: libc::c_int) -> Result<libc::c_int> {
    if answer < 0 { Err(Error::last_os_error()) } else { Ok(answer) }
}

fn checked_size(answer: libc::ssize_t) -> Result<usize> {
    if answer < 0 { Err(Error::last_os_error()) } else { Ok(answer as usize) }
}

/// Whether a call would have had to wait.
pub fn would_block(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINPROGRESS | libc::EINTR))
}

/// The calling thread moves into a new network namespace; with `as_user`, in a user namespace of its own, of which it is
/// root (the process must have no other thread then).
pub fn leave_network(as_user: bool) -> Result<()> {
    let flags = libc::CLONE_NEWNET | if as_user { libc::CLONE_NEWUSER } else { 0 };
    // SAFETY: takes no pointers.
    checked(unsafe { libc::unshare(flags) }).map(|_| ())
}

/// The calling thread moves into this network namespace.
pub fn enter_network(namespace: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: takes no pointers; the descriptor is open.
    checked(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(|_| ())
}

/// The process gets a SIGKILL when the thread that started it ends.
pub fn die_with_parent() -> Result<()> {
    // SAFETY: takes no pointers.
    checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(|_| ())
}

/// The process of this command gets a SIGKILL when the calling thread ends, which is to be the one that starts it.
pub fn end_with_this_thread(command: &mut Command) {
    let parent = std::process::id();
    let bind = move || {
        die_with_parent()?;
        // SAFETY: takes nothing.
        let now = unsafe { libc::getppid() };
        // whoever has adopted it will not end it
        if now as u32 == parent { Ok(()) } else { Err(Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: between fork and exec it makes system calls alone, and allocates nothing.
    unsafe { command.pre_exec(bind) };
}

/// Asks a child process to end, as Ctrl-C does; it must not have been waited for.
pub fn interrupt(child: u32) -> Result<()> {
    // SAFETY: takes no pointers.
    checked(unsafe { libc::kill(child as libc::pid_t, libc::SIGINT) }).map(|_| ())
}

/// A file that is nowhere but in memory, and for as long as it is open.
pub fn memory_file(name: &CStr) -> Result<std::fs::File> {
    // SAFETY: the name is a C string, the descriptor new.
    unsafe {
        let fd = checked(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC))?;
        Ok(std::fs::File::from_raw_fd(fd))
    }
}

/// A child process that has few files open has none numbered so high.
const DESCRIPTORS: libc::c_int = 64;

/// The TCP sockets that a child process has now: a descriptor of our own of each (pidfd_getfd(2), Linux 5.6), with its
/// port and its peer's (0 if it has none).
pub fn sockets_of(child: u32) -> Result<Vec<(OwnedFd, u16, u16)>> {
    let mut found = Vec::new();
    // SAFETY: the calls take no pointers; what they answer is new and nobody else's.
    unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, child as libc::pid_t, 0) as libc::c_int;
        let process = OwnedFd::from_raw_fd(checked(process)?);
        for number in 0..DESCRIPTORS {
            let fd = libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) as libc::c_int;
            match checked(fd) {
                Ok(fd) => {
                    let socket = OwnedFd::from_raw_fd(fd);
                    if let Some(own) = port_of(&socket, libc::getsockname) {
                        let peer = port_of(&socket, libc::getpeername).unwrap_or_default();
                        found.push((socket, own, peer));
                    }
                }
                Err(error) if error.raw_os_error() == Some(libc::EBADF) => {}
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => break, // it has ended
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

type Named = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

/// The port of one of a socket's names, if it is a socket of IPv4 and has that name.
fn port_of(socket: &OwnedFd, named: Named) -> Option<u16> {
    let mut name = sockaddr(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    let mut length = ADDRESS_BYTES;
    // SAFETY: the address and its length are our own and outlive the call.
    checked(unsafe { named(socket.as_raw_fd(), (&raw mut name).cast(), &mut length) }).ok()?;
    (name.sin_family == libc::AF_INET as libc::sa_family_t && length == ADDRESS_BYTES)
        .then(|| u16::from_be(name.sin_port))
}

/// A thread that comes before others, in ns: it may use so much of a processor in each period. What is left keeps the
/// machine alive, and is short enough not to be felt (chosen here; SCHED_FIFO would leave 50 ms of each second at once).
const SHARE_NS: (u64, u64) = (900_000, 1_000_000);
const SCHED_DEADLINE: u32 = 6;
/// It may use what other such threads leave, too.
const SCHED_FLAG_RECLAIM: u64 = 0x02;

/// struct sched_attr of sched_setattr(2), in its first form.
#[repr(C)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// The calling thread's waits end as exactly as the kernel can, and it comes before others where it may: whether it does.
pub fn hurry() -> bool {
    let (runtime, period) = SHARE_NS;
    let attr = SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        policy: SCHED_DEADLINE,
        flags: SCHED_FLAG_RECLAIM,
        nice: 0,
        priority: 0,
        runtime,
        deadline: period,
        period,
    };
    let parameter = libc::sched_param { sched_priority: 1 };
    // SAFETY: attributes and parameter are our own and outlive the calls; 0 is the calling thread.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) == 0
            || libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) == 0
    }
}

/// The calling thread comes before other threads but those of SCHED_DEADLINE, where it may. For one that has little to do.
pub fn precede() {
    let parameter = libc::sched_param { sched_priority: 2 };
    // SAFETY: the parameter is our own and outlives the call; 0 is the calling thread.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter);
    }
}

/// The effective user.
pub fn user() -> (u32, u32) {
    // SAFETY: takes nothing.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Opens a TUN device of IP packets without further header in the caller's namespace. Its reads and writes don't wait, and
/// it vanishes with its descriptor.
pub fn open_tun(name: &CStr) -> Result<OwnedFd> {
    const NODE: &CStr = c"/dev/net/tun";
    let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: the path is a C string.
    let fd = checked(unsafe { libc::open(NODE.as_ptr(), flags) })?;
    // SAFETY: just opened, nobody else's.
    let tun = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    configure(tun.as_raw_fd(), libc::TUNSETIFF, &mut request)?;
    Ok(tun)
}

fn interface(name: &CStr) -> libc::ifreq {
    // SAFETY: all zeros is an ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, &byte) in request.ifr_name.iter_mut().zip(name.to_bytes().iter().take(libc::IFNAMSIZ - 1)) {
        *slot = byte as libc::c_char;
    }
    request
}

fn configure(fd: RawFd, what: libc::Ioctl, request: &mut libc::ifreq) -> Result<()> {
    // SAFETY: all requests made here take an ifreq, which outlives the call.
    checked(unsafe { libc::ioctl(fd, what, request as *mut libc::ifreq) }).map(|_| ())
}

/// Gives an interface of the caller's namespace its address and packet size (if any), and puts it up.
pub fn set_up_interface(name: &CStr, address: Option<Ipv4Addr>, packet_bytes: Option<u32>) -> Result<()> {
    let socket = socket(libc::SOCK_DGRAM)?;
    let fd = socket.as_raw_fd();
    let mut request = interface(name);
    if let Some(address) = address {
        for (what, value) in
            [(libc::SIOCSIFADDR, address), (libc::SIOCSIFNETMASK, Ipv4Addr::new(255, 255, 255, 0))]
        {
            request.ifr_ifru.ifru_addr = generic(&sockaddr(SocketAddrV4::new(value, 0)));
            configure(fd, what, &mut request)?;
        }
    }
    if let Some(packet_bytes) = packet_bytes {
        request.ifr_ifru.ifru_mtu = packet_bytes as libc::c_int;
        configure(fd, libc::SIOCSIFMTU, &mut request)?;
    }
    configure(fd, libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: the call before wrote the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    configure(fd, libc::SIOCSIFFLAGS, &mut request)
}

/// The index of an interface of the caller's namespace.
pub fn interface_index(name: &CStr) -> Result<u32> {
    // SAFETY: the name is a C string.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        index => Ok(index),
    }
}

fn sockaddr(at: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: at.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*at.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

fn generic(address: &libc::sockaddr_in) -> libc::sockaddr {
    // SAFETY: both are 16 bytes of plain data, made to stand for each other.
    unsafe { std::mem::transmute_copy(address) }
}

/// A socket of IPv4 in the caller's namespace, whose calls don't wait.
pub fn socket(kind: libc::c_int) -> Result<OwnedFd> {
    open_socket(libc::AF_INET, kind, 0)
}

/// A socket that speaks with the kernel of routes.
pub fn route_socket() -> Result<OwnedFd> {
    open_socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)
}

fn open_socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd =
        checked(unsafe { libc::socket(family, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: just opened, nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

const ADDRESS_BYTES: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

/// Binds a socket; port 0 lets the kernel choose. The port.
pub fn bind(socket: BorrowedFd<'_>, at: SocketAddrV4) -> Result<u16> {
    let mut own = sockaddr(at);
    let mut length = ADDRESS_BYTES;
    let fd = socket.as_raw_fd();
    // SAFETY: the address and its length are our own and outlive the calls.
    unsafe {
        checked(libc::bind(fd, (&raw const own).cast(), length))?;
        checked(libc::getsockname(fd, (&raw mut own).cast(), &mut length))?;
    }
    Ok(u16::from_be(own.sin_port))
}

/// A bound socket takes connections.
pub fn listen(socket: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: takes no pointers.
    checked(unsafe { libc::listen(socket.as_raw_fd(), libc::SOMAXCONN) }).map(|_| ())
}

/// Connects, or begins to.
pub fn connect(socket: BorrowedFd<'_>, to: SocketAddrV4) -> Result<()> {
    let to = sockaddr(to);
    // SAFETY: the address is our own and outlives the call.
    let answer = checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const to).cast(), ADDRESS_BYTES) });
    match answer {
        Err(error) if would_block(&error) => Ok(()),
        answer => answer.map(|_| ()),
    }
}

/// The next connection that a listening socket has, and its opener's port.
pub fn accept(socket: BorrowedFd<'_>) -> Result<(OwnedFd, u16)> {
    let mut peer = sockaddr(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    let mut length = ADDRESS_BYTES;
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the address and its length are our own and outlive the call; the new descriptor is nobody else's.
    unsafe {
        let fd = checked(libc::accept4(socket.as_raw_fd(), (&raw mut peer).cast(), &mut length, flags))?;
        Ok((OwnedFd::from_raw_fd(fd), u16::from_be(peer.sin_port)))
    }
}

/// Says that nothing more will be sent.
pub fn finish(socket: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: takes no pointers.
    checked(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }).map(|_| ())
}

/// Sends what fits; how much that was.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the bytes outlive the call.
    checked_size(unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    })
}

/// Receives into the bytes.
pub fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the bytes outlive the call and are as many as said.
    checked_size(unsafe { libc::recv(socket.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0) })
}

/// Takes up to `most` bytes off a TCP socket without looking at them (tcp(7), MSG_TRUNC).
pub fn discard(socket: BorrowedFd<'_>, most: usize) -> Result<usize> {
    // SAFETY: with MSG_TRUNC on TCP nothing is written.
    checked_size(unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), most, libc::MSG_TRUNC) })
}

/// Reads one packet of a TUN device into the buffer: how long it is.
#[inline]
pub fn read(from: BorrowedFd<'_>, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the bytes outlive the call and are as many as said.
    checked_size(unsafe { libc::read(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) })
}

/// Writes one packet to a TUN device.
#[inline]
pub fn write(to: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the bytes outlive the call.
    checked_size(unsafe { libc::write(to.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

/// Sets an option of a socket that is a number.
pub fn set_option(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int, value: i32) -> Result<()> {
    let bytes = value.to_ne_bytes();
    set_option_bytes(socket, level, name, &bytes)
}

/// Sets the congestion control of a TCP socket by the kernel's name of it.
pub fn set_congestion_control(socket: BorrowedFd<'_>, name: &str) -> Result<()> {
    set_option_bytes(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes())
}

fn set_option_bytes(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &[u8],
) -> Result<()> {
    // SAFETY: the value outlives the call and is as long as said.
    checked(unsafe {
        let length = value.len() as libc::socklen_t;
        libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length)
    })
    .map(|_| ())
}

/// Whatever closes a TCP socket from now on ends its connection at once: nothing of it is left to the kernel (socket(7),
/// SO_LINGER with no time). Connections accepted from a socket inherit it.
pub fn abort_when_closed(socket: BorrowedFd<'_>) -> Result<()> {
    // struct linger: whether, and for how many seconds
    let bytes = [1i32.to_ne_bytes(), 0i32.to_ne_bytes()].concat();
    set_option_bytes(socket, libc::SOL_SOCKET, libc::SO_LINGER, &bytes)
}

/// What the kernel tells of a TCP connection (struct tcp_info), as far as this kernel has it.
pub fn tcp_info(socket: BorrowedFd<'_>, into: &mut [u8]) -> Result<usize> {
    let mut length = into.len() as libc::socklen_t;
    // SAFETY: the bytes outlive the call; their number is told and answered in `length`.
    checked(unsafe {
        let value = into.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, value, &mut length)
    })?;
    Ok(length as usize)
}

/// What [`wait`] waits for: a descriptor, and the bits of poll(2).
pub fn readable(fd: BorrowedFd<'_>) -> libc::pollfd {
    libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }
}

/// Waits until something is ready or a span has passed.
pub fn wait(what: &mut [libc::pollfd], most: Option<Interval>) -> Result<()> {
    let span = most.map(|m| libc::timespec {
        tv_sec: (m.as_ns() / 1_000_000_000) as libc::time_t,
        tv_nsec: (m.as_ns() % 1_000_000_000) as libc::c_long,
    });
    let timeout = span.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the descriptors and the timeout outlive the call.
    let answer =
        unsafe { libc::ppoll(what.as_mut_ptr(), what.len() as libc::nfds_t, timeout, std::ptr::null()) };
    match checked(answer) {
        Err(error) if !would_block(&error) => Err(error),
        _ => Ok(()),
    }
}

/// An epoll of many descriptors, each with a number of the caller's.
pub struct Watch {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Watch {
    /// None yet.
    pub fn new() -> Result<Self> {
        // SAFETY: takes no pointers; the descriptor is new.
        let epoll = unsafe {
            let fd = checked(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Watch { epoll, events: vec![libc::epoll_event { events: 0, u64: 0 }; 256] })
    }

    /// Watches a descriptor, or changes what for; nothing is watched for if neither is asked.
    pub fn set(&self, fd: BorrowedFd<'_>, number: u64, new: bool, read: bool, write: bool) -> Result<()> {
        let bits = if read { libc::EPOLLIN } else { 0 } | if write { libc::EPOLLOUT } else { 0 };
        self.control(if new { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD }, fd, number, bits as u32)
    }

    /// Watches a descriptor that was watched before for changes alone: it is said to be ready to be read once now, and
    /// then whenever its state becomes another.
    pub fn set_for_changes(&self, fd: BorrowedFd<'_>, number: u64) -> Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, number, (libc::EPOLLIN | libc::EPOLLET) as u32)
    }

    fn control(&self, what: libc::c_int, fd: BorrowedFd<'_>, number: u64, bits: u32) -> Result<()> {
        let mut event = libc::epoll_event { events: bits, u64: number };
        // SAFETY: the event is our own and outlives the call.
        checked(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), what, fd.as_raw_fd(), &mut event) })
            .map(|_| ())
    }

    /// The numbers of those that are ready to be read, or to be written, within a span.
    pub fn wait(&mut self, most: Interval, ready: &mut Vec<(u64, bool, bool)>) -> Result<()> {
        ready.clear();
        // epoll's own timeouts are whole milliseconds
        wait(&mut [readable(std::os::fd::AsFd::as_fd(&self.epoll))], Some(most))?;
        let room = self.events.len() as libc::c_int;
        // SAFETY: the events are our own, and as many as said.
        let answer = unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), room, 0) };
        let number = match checked(answer) {
            Err(error) if would_block(&error) => 0,
            answer => answer? as usize,
        };
        let ended = (libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLRDHUP) as u32;
        for event in &self.events[..number] {
            let bits = event.events;
            let read = bits & (libc::EPOLLIN as u32 | ended) != 0;
            ready.push((event.u64, read, bits & (libc::EPOLLOUT as u32 | ended) != 0));
        }
        Ok(())
    }
}
