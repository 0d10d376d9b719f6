//! TCP and UDP sockets of IPv4, none of whose calls wait.

use super::waiting::would_block;
use rustix::net::{RecvFlags, SendFlags};
use socket2::{Domain, Socket, Type};
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Opens a TCP socket in the caller's namespace.
pub fn tcp() -> Result<Socket> {
    Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None)
}

/// Opens a UDP socket in the caller's namespace.
pub fn udp() -> Result<Socket> {
    Socket::new(Domain::IPV4, Type::DGRAM.nonblocking(), None)
}

/// Opens a TCP or UDP socket in the caller's namespace for a port of all of its addresses, of IPv4 and of
/// IPv6.
pub fn listen_everywhere(tcp: bool, port: u16) -> Result<Socket> {
    let kind = if tcp { Type::STREAM } else { Type::DGRAM };
    let (socket, address) = match Socket::new(Domain::IPV6, kind.nonblocking(), None) {
        Ok(socket) => {
            socket.set_only_v6(false)?;
            (socket, SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))
        }
        // a kernel without IPv6
        Err(_) => (
            Socket::new(Domain::IPV4, kind.nonblocking(), None)?,
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
        ),
    };
    socket.bind(&address.into())?;
    if tcp {
        listen(&socket)?;
    }
    Ok(socket)
}

/// Binds a socket and returns its port; the kernel chooses one if the address has port 0.
pub fn bind(socket: &Socket, at: SocketAddrV4) -> Result<u16> {
    socket.bind(&at.into())?;
    let own = socket.local_addr()?.as_socket_ipv4();
    own.map(|own| own.port()).ok_or_else(|| Error::from(ErrorKind::AddrNotAvailable))
}

/// Lets a bound socket accept connections.
pub fn listen(socket: &Socket) -> Result<()> {
    socket.listen(libc::SOMAXCONN)
}

/// Connects, or begins to.
pub fn connect(socket: &Socket, to: SocketAddrV4) -> Result<()> {
    match socket.connect(&to.into()) {
        Err(error) if would_block(&error) => Ok(()),
        result => result,
    }
}

/// Accepts the next connection of a listening socket; returns it with its opener's port.
pub fn accept(socket: &Socket) -> Result<(Socket, u16)> {
    let (connection, peer) = socket.accept4(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC)?;
    Ok((connection, peer.as_socket_ipv4().map_or(0, |peer| peer.port())))
}

/// Tells the peer that nothing more will be sent.
pub fn finish(socket: &Socket) -> Result<()> {
    socket.shutdown(Shutdown::Write)
}

/// Sends what fits and returns how many bytes did.
pub fn send(socket: &Socket, bytes: &[u8]) -> Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

/// Receives into the buffer; returns how many bytes came, or how many of a longer datagram fit.
pub fn receive(socket: &Socket, into: &mut [u8]) -> Result<usize> {
    Ok(rustix::net::recv(socket, into, RecvFlags::empty())?.0)
}

/// Takes up to as many bytes off a TCP socket as `room` has, without copying them into it (tcp(7),
/// MSG_TRUNC); returns how many.
pub fn discard(socket: &Socket, room: &mut [u8]) -> Result<usize> {
    Ok(rustix::net::recv(socket, room, RecvFlags::TRUNC)?.1)
}

/// Makes every close of a TCP socket abort its connection, so that the kernel keeps nothing of it (socket(7),
/// SO_LINGER with no time). Connections that the socket accepts inherit this.
pub fn abort_when_closed(socket: &Socket) -> Result<()> {
    socket.set_linger(Some(Duration::ZERO))
}

/// Limits the window that a TCP socket offers (tcp(7), TCP_WINDOW_CLAMP). Connections that a listening socket
/// accepts inherit this, but the kernel forgets it when the packets that come begin to take another share of
/// its memory.
#[expect(unsafe_code, reason = "rustix and socket2 do not offer TCP_WINDOW_CLAMP")]
pub fn limit_window(socket: &Socket, bytes: u32) -> Result<()> {
    let value: libc::c_int = bytes.try_into().unwrap_or(libc::c_int::MAX);
    // SAFETY: the value is an int that outlives the call, and its size is given.
    let result = unsafe {
        let (at, size) = (&raw const value, size_of_val(&value) as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, at.cast(), size)
    };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Copies the kernel's state of a TCP connection (struct tcp_info of include/uapi/linux/tcp.h) into the
/// buffer, as many bytes as fit and the kernel has.
#[expect(
    unsafe_code,
    reason = "rustix and socket2 do not offer TCP_INFO, and libc's struct lacks its later fields"
)]
pub fn tcp_info(socket: &Socket, into: &mut [u8]) -> Result<()> {
    let mut length = into.len() as libc::socklen_t;
    // SAFETY: `length` is the size of the buffer, which the kernel does not exceed; both outlive the call.
    let result = unsafe {
        let value = into.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, value, &mut length)
    };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}
