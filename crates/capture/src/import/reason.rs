//! Why a packet of a file is left out.

use core::fmt;

/// Why a packet is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// Its link type, by number, is not read.
    LinkType(u32),
    /// It carries no IP.
    NotIp,
    /// A wireless packet whose content is encrypted.
    Encrypted,
    /// It carries this protocol of IP, not TCP.
    Protocol(u8),
    /// A part of an IP packet that is not its first.
    Fragment,
    /// It is cut before the end of the numbers that are needed.
    Cut,
    /// It has more headers around IP than are read.
    Nested,
    /// Its headers contradict themselves.
    Malformed,
    /// Its time is not valid.
    BadTime,
    /// Its lengths do not fit its block.
    BadLength,
}

/// Protocols that are named (IANA, "Assigned Internet Protocol Numbers").
const NAMED: [(u8, &str); 9] = [
    (1, "ICMP"),
    (2, "IGMP"),
    (17, "UDP"),
    (50, "ESP, which is encrypted"),
    (58, "ICMPv6"),
    (89, "OSPF"),
    (103, "PIM"),
    (112, "VRRP"),
    (132, "SCTP"),
];

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reason::LinkType(number) => write!(f, "of link type {number}, which is not read"),
            Reason::NotIp => f.write_str("not of IP"),
            Reason::Encrypted => f.write_str("of an encrypted wireless network"),
            Reason::Protocol(number) => match NAMED.iter().find(|(known, _)| *known == number) {
                Some((_, name)) => write!(f, "of {name}"),
                None => write!(f, "of IP's protocol {number}"),
            },
            Reason::Fragment => f.write_str("later fragments of IP packets"),
            Reason::Cut => f.write_str("cut before the end of TCP's ports, numbers and flags"),
            Reason::Nested => f.write_str("with too many headers around IP"),
            Reason::Malformed => f.write_str("with headers that contradict themselves"),
            Reason::BadTime => f.write_str("with an invalid time"),
            Reason::BadLength => f.write_str("whose lengths do not fit their block"),
        }
    }
}
