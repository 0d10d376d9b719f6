//! The machine's own network, for side A: side B has every address there is, and what comes for one of them
//! is taken by a socket of side B, which the forwarder outside of the namespaces serves. A packet for a new
//! port brings the socket for that port about, so that it is there before the packet has crossed the path.

use crate::namespace::End;
use crate::sys::socket;
use longfat_wire::Conversation;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::collections::BTreeSet;
use std::io::{IoSlice, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};

const TCP: u8 = 6;
const UDP: u8 = 17;
/// The networks of the path's own hosts, IPv4 with the bits of the prefix, and the first 32 bits of IPv6.
const OWN: [(Ipv4Addr, u32); 2] = [(Ipv4Addr::new(198, 18, 0, 0), 24), (Ipv4Addr::new(198, 18, 1, 0), 24)];
const OWN_6: u32 = 0x2001_0002;

/// The sockets of side B that stand for the machine's own network.
pub struct Gate<'a> {
    end: &'a End,
    forwarder: OwnedFd,
    ports: BTreeSet<(u8, u16)>,
}

impl<'a> Gate<'a> {
    /// `end` is side B; `forwarder` gets each socket, after a letter for its protocol.
    pub const fn new(end: &'a End, forwarder: OwnedFd) -> Self {
        Gate { end, forwarder, ports: BTreeSet::new() }
    }

    /// Side A has sent this. A port that another program has at side B stays that program's.
    pub fn see(&mut self, exchanged: &Conversation) {
        let (address, port) = exchanged.destination;
        let known = !matches!(exchanged.protocol, TCP | UDP) || port == 0 || is_own(address);
        if !known && self.ports.insert((exchanged.protocol, port)) {
            let _ = self.open(exchanged.protocol, port);
        }
    }

    fn open(&self, protocol: u8, port: u16) -> Result<()> {
        let listener = self.end.within(|| socket::listen_everywhere(protocol == TCP, port))?;
        let name: &[u8] = if protocol == TCP { b"t" } else { b"u" };
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let passed = [listener.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&passed));
        sendmsg(&self.forwarder, &[IoSlice::new(name)], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

fn is_own(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            OWN.iter().any(|(own, bits)| (u32::from(four) ^ u32::from(*own)) >> (32 - bits) == 0)
        }
        IpAddr::V6(six) => (u128::from(six) >> 96) as u32 == OWN_6 || six == Ipv6Addr::LOCALHOST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_the_path_are_not_outside_and_everything_else_is() {
        for (address, own) in [
            ("198.18.0.2", true),
            ("198.18.1.2", true),
            ("198.18.2.1", false),
            ("192.0.2.7", false),
            ("2001:2:0:1::2", true),
            ("2001:db8::7", false),
        ] {
            assert_eq!(is_own(address.parse().unwrap()), own, "{address}");
        }
    }
}
