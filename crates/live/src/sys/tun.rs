//! TUN devices: a network interface whose packets this process reads and writes.

use rustix::fs::{Mode, OFlags, open};
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{BorrowedFd, OwnedFd};

const NODE: &str = "/dev/net/tun";
/// TUNSETIFF of linux/if_tun.h.
const ATTACH: Opcode = opcode::write::<libc::c_int>(b'T', 202);

const UNUSED_BYTES: usize = size_of::<libc::ifreq>() - libc::IFNAMSIZ - size_of::<u16>();

/// struct ifreq of linux/if.h, as far as TUNSETIFF uses it.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: u16,
    unused: [u8; UNUSED_BYTES],
}

/// Opens a TUN device in the caller's namespace that carries IP packets without further header. Its reads and
/// writes do not wait, and it disappears when its descriptor is closed.
#[expect(
    unsafe_code,
    reason = "rustix has no TUNSETIFF, and crates for TUN devices configure the interface too, by ioctls"
)]
pub fn open_tun(name: &str) -> Result<OwnedFd> {
    let tun = open(NODE, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let mut request = Request {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI) as u16,
        unused: [0; UNUSED_BYTES],
    };
    // the zero at its end has to fit too
    let field = request.name.get_mut(..name.len()).filter(|field| field.len() < libc::IFNAMSIZ);
    field.ok_or(Error::from(ErrorKind::InvalidInput))?.copy_from_slice(name.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one ifreq, whose size and layout `Request` has.
    unsafe { ioctl(&tun, Updater::<ATTACH, Request>::new(&mut request)) }?;
    Ok(tun)
}

/// Reads one packet from a TUN device into the buffer and returns its length.
#[inline]
pub fn read(from: BorrowedFd<'_>, into: &mut [u8]) -> Result<usize> {
    Ok(rustix::io::read(from, into)?)
}

/// Writes one packet to a TUN device.
#[inline]
pub fn write(to: BorrowedFd<'_>, packet: &[u8]) -> Result<usize> {
    Ok(rustix::io::write(to, packet)?)
}
