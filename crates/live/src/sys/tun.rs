//! TUN devices: a network interface whose packets this process reads and writes.

use longfat_wire::Offload;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{readv, writev};
use rustix::ioctl::{IntegerSetter, Opcode, Updater, ioctl, opcode};
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::os::fd::{BorrowedFd, OwnedFd};

const NODE: &str = "/dev/net/tun";
/// TUNSETIFF of linux/if_tun.h.
const ATTACH: Opcode = opcode::write::<libc::c_int>(b'T', 202);
/// TUNSETOFFLOAD, and what it accepts: checksums and trains of TCP over IPv4 and IPv6 (TUN_F_CSUM,
/// TUN_F_TSO4, TUN_F_TSO6), and those of UDP (TUN_F_USO4, TUN_F_USO6; Linux 6.2).
const OFFLOAD: Opcode = opcode::write::<libc::c_uint>(b'T', 208);
const LONG_TRAINS: usize = 0x01 | 0x02 | 0x04;
const DATAGRAMS: usize = 0x20 | 0x40;
/// A train has at most 65 535 bytes, so these are enough for packets of 536 bytes that come one by one.
const MOST_SLICES: usize = 128;

const UNUSED_BYTES: usize = size_of::<libc::ifreq>() - libc::IFNAMSIZ - size_of::<u16>();

/// struct ifreq of linux/if.h, as far as TUNSETIFF uses it.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: u16,
    unused: [u8; UNUSED_BYTES],
}

/// Opens a TUN device in the caller's namespace, whose packets have the header of [`Offload`] before them.
/// With `trains`, the kernel may leave checksums and the cutting of trains to whoever reads it. Its reads and
/// writes do not wait, and it disappears when its descriptor is closed.
#[expect(
    unsafe_code,
    reason = "rustix has no TUNSETIFF, and crates for TUN devices configure the interface too, by ioctls"
)]
pub fn open_tun(name: &str, trains: bool) -> Result<OwnedFd> {
    let tun = open(NODE, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let mut request = Request {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as u16,
        unused: [0; UNUSED_BYTES],
    };
    // the zero at its end has to fit too
    let field = request.name.get_mut(..name.len()).filter(|field| field.len() < libc::IFNAMSIZ);
    field.ok_or(Error::from(ErrorKind::InvalidInput))?.copy_from_slice(name.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one ifreq, whose size and layout `Request` has.
    unsafe { ioctl(&tun, Updater::<ATTACH, Request>::new(&mut request)) }?;
    if trains {
        take_offloads(&tun)?;
    }
    Ok(tun)
}

/// Lets the kernel leave checksums and the cutting of trains to this process, as far as it can.
#[expect(unsafe_code, reason = "rustix has no TUNSETOFFLOAD")]
fn take_offloads(tun: &OwnedFd) -> Result<()> {
    let mut result = Ok(());
    for flags in [LONG_TRAINS | DATAGRAMS, LONG_TRAINS] {
        // SAFETY: TUNSETOFFLOAD takes a number and touches no memory.
        result = unsafe { ioctl(tun, IntegerSetter::<OFFLOAD>::new_usize(flags)) };
        if result.is_ok() {
            break;
        }
    }
    Ok(result?)
}

/// A TUN device whose packets have the header of [`Offload`] before them.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    /// Its descriptor.
    pub tun: BorrowedFd<'a>,
}

impl Device<'_> {
    /// Reads one packet, or a train, into the buffer. Returns its length and what the kernel has left to do;
    /// `None` for that if it is of an unknown kind.
    #[inline]
    pub fn read(&self, into: &mut [u8]) -> Result<(usize, Option<Offload>)> {
        let mut header = [0; Offload::BYTES];
        let length = readv(self.tun, &mut [IoSliceMut::new(&mut header), IoSliceMut::new(into)])?;
        Ok((length.saturating_sub(Offload::BYTES), Offload::read(header)))
    }

    /// Writes one packet, or a train: its headers, then its payload.
    #[inline]
    pub fn write<'p>(
        &self,
        offload: Offload,
        head: &[u8],
        payload: impl Iterator<Item = &'p [u8]>,
    ) -> Result<()> {
        let header = offload.header();
        let mut slices = [IoSlice::new(&[]); MOST_SLICES];
        slices[0] = IoSlice::new(&header);
        slices[1] = IoSlice::new(head);
        let mut used = 2;
        for slice in payload {
            let place = slices.get_mut(used).ok_or(Error::from(ErrorKind::InvalidInput))?;
            *place = IoSlice::new(slice);
            used += 1;
        }
        writev(self.tun, &slices[..used])?;
        Ok(())
    }
}
