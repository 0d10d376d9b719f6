//! IPv4 and IPv6 as far as TCP needs them (RFC 791, 8200, 2675).

use super::reason::Reason;
use super::record::Order;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const IPV6_BYTES: usize = 40;
const HOP_BY_HOP: u8 = 0;
/// The option that has the length of a packet of more than 65,535 bytes.
const JUMBO: u8 = 0xc2;

/// What an IP header says.
#[derive(Clone, Copy, Debug)]
pub struct Ip {
    pub from: IpAddr,
    pub to: IpAddr,
    /// Identification of IPv4; 0 in IPv6.
    pub id: u16,
    /// The packet's length, bytes; 0 where the header does not say it.
    pub bytes: u32,
    /// The length of IP's headers, bytes.
    pub header: u32,
}

/// The header at the beginning of these bytes, the protocol in it, and what follows.
pub fn read_ip(bytes: &[u8]) -> Result<(Ip, u8, &[u8]), Reason> {
    match bytes.first().ok_or(Reason::Cut)? >> 4 {
        4 => read_4(bytes),
        6 => read_6(bytes),
        _ => Err(Reason::NotIp),
    }
}

fn read_4(bytes: &[u8]) -> Result<(Ip, u8, &[u8]), Reason> {
    let header = usize::from(bytes[0] & 0xf) * 4;
    let fixed: [u8; 20] = *bytes.first_chunk().ok_or(Reason::Cut)?;
    let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    if header < fixed.len() {
        return Err(Reason::Malformed);
    }
    if word(6) & 0x1fff != 0 {
        return Err(Reason::Fragment);
    }
    let (from, to) = (IpAddr::V4(address(12)), IpAddr::V4(address(16)));
    let ip = Ip { from, to, id: word(4), bytes: u32::from(word(2)), header: header as u32 };
    after_authentication(ip, fixed[9], skip(bytes, header)?)
}

/// Past an authentication header (RFC 4302), if there is one.
fn after_authentication(ip: Ip, protocol: u8, rest: &[u8]) -> Result<(Ip, u8, &[u8]), Reason> {
    if protocol != 51 {
        return Ok((ip, protocol, rest));
    }
    let [next, words, ..] = *rest else { return Err(Reason::Cut) };
    let length = (usize::from(words) + 2) * 4;
    Ok((Ip { header: ip.header + length as u32, ..ip }, next, skip(rest, length)?))
}

fn read_6(bytes: &[u8]) -> Result<(Ip, u8, &[u8]), Reason> {
    let fixed: [u8; IPV6_BYTES] = *bytes.first_chunk().ok_or(Reason::Cut)?;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    let payload = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let mut length = if payload == 0 { 0 } else { payload + IPV6_BYTES as u32 };
    let (mut next, mut rest) = (fixed[6], skip(bytes, IPV6_BYTES)?);
    loop {
        let bytes = match next {
            HOP_BY_HOP | 43 | 60 | 135 | 139 | 140 => (usize::from(*rest.get(1).ok_or(Reason::Cut)?) + 1) * 8,
            44 if Order::Big.u16_at(rest, 2).ok_or(Reason::Cut)? >> 3 != 0 => return Err(Reason::Fragment),
            44 => 8,
            51 => (usize::from(*rest.get(1).ok_or(Reason::Cut)?) + 2) * 4,
            _ => break,
        };
        if let (HOP_BY_HOP, Some(&[JUMBO, 4])) = (next, rest.get(2..).and_then(<[u8]>::first_chunk)) {
            length = Order::Big.u32_at(rest, 4).ok_or(Reason::Cut)?.saturating_add(IPV6_BYTES as u32);
        }
        next = *rest.first().ok_or(Reason::Cut)?;
        rest = skip(rest, bytes)?;
    }
    let header = (bytes.len() - rest.len()) as u32;
    Ok((Ip { from: address(8), to: address(24), id: 0, bytes: length, header }, next, rest))
}

/// What follows the first `length` bytes.
pub fn skip(bytes: &[u8], length: usize) -> Result<&[u8], Reason> {
    bytes.get(length..).ok_or(Reason::Cut)
}
