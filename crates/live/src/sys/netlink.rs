//! Links, addresses and routes of the caller's namespace, through rtnetlink(7).

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::net::netdevice::name_to_index;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;

/// The main routing table (RT_TABLE_MAIN).
const MAIN_TABLE: u8 = 254;
/// Both ends are in one network of 256 addresses, or of the usual size of IPv6.
const PREFIX_BITS: u8 = 24;
const PREFIX_BITS_6: u8 = 64;
/// More than the kernel's answer to a request has.
const ANSWER_BYTES: usize = 4096;

/// A route to all addresses of a family.
fn everywhere(family_of: IpAddr, kind: RouteType, scope: RouteScope) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = match family_of {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    message.header.table = MAIN_TABLE;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = scope;
    message.header.kind = kind;
    message
}

/// The kernel's interface to the network of the namespace in which it was opened.
pub struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    /// Opens it in the caller's namespace.
    pub fn open() -> Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // NETLINK_ROUTE is protocol 0, the default
        let socket = socket_with(rustix::net::AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        Ok(Netlink { socket })
    }

    /// Returns the index of an interface.
    pub fn index(&self, name: &str) -> Result<u32> {
        Ok(name_to_index(&self.socket, name)?)
    }

    /// Sets how many packets may wait in an interface, and its largest packet, bytes.
    pub fn set_limits(&self, interface: u32, queue_packets: u32, packet_bytes: u32) -> Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface;
        message.attributes = vec![LinkAttribute::TxQueueLen(queue_packets), LinkAttribute::Mtu(packet_bytes)];
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Puts an interface up.
    pub fn put_up(&self, interface: u32) -> Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives an interface an address.
    pub fn add_address(&self, interface: u32, address: IpAddr) -> Result<()> {
        let mut message = AddressMessage::default();
        (message.header.family, message.header.prefix_len) = match address {
            IpAddr::V4(_) => (AddressFamily::Inet, PREFIX_BITS),
            IpAddr::V6(_) => (AddressFamily::Inet6, PREFIX_BITS_6),
        };
        // nobody else is there who could have the same address
        message.header.flags = AddressHeaderFlags::Nodad;
        message.header.index = interface;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE)
    }

    /// Routes connections to this address through this interface and lets them begin with this congestion
    /// window, in segments.
    pub fn set_initial_window(&self, to: Ipv4Addr, interface: u32, segments: u32) -> Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = 32;
        message.header.table = MAIN_TABLE;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::Inet(to)),
            RouteAttribute::Oif(interface),
            RouteAttribute::Metrics(vec![RouteMetric::InitCwnd(segments)]),
        ];
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Routes everything through this interface, from this address.
    pub fn set_default_route(&self, interface: u32, from: IpAddr) -> Result<()> {
        let mut message = everywhere(from, RouteType::Unicast, RouteScope::Link);
        message.attributes =
            vec![RouteAttribute::Oif(interface), RouteAttribute::PrefSource(RouteAddress::from(from))];
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE)
    }

    /// Makes this host take every address of the family of `like` that no other route has for its own.
    pub fn own_everything(&self, like: IpAddr) -> Result<()> {
        let mut message = everywhere(like, RouteType::Local, RouteScope::Host);
        message.attributes = vec![RouteAttribute::Oif(self.index("lo")?)];
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE)
    }

    /// Sends one request and waits for the kernel's acknowledgement.
    fn ask(&self, request: RouteNetlinkMessage, flags: u16) -> Result<()> {
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        send(&self.socket, &bytes, SendFlags::empty())?;
        let mut answer = [0u8; ANSWER_BYTES];
        // the kernel has answered by the time that `send` returns
        let (length, _) = recv(&self.socket, &mut answer, RecvFlags::empty())?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer[..length]);
        match answer.map(|answer| answer.payload) {
            Ok(NetlinkPayload::Error(refusal)) if refusal.code.is_some() => Err(refusal.to_io()),
            Ok(NetlinkPayload::Error(_)) => Ok(()),
            _ => Err(Error::new(ErrorKind::InvalidData, "the kernel's answer is not an acknowledgement")),
        }
    }
}
