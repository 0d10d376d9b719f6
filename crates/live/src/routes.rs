//! Routes and devices of a namespace, through rtnetlink(7): what a connection to an address begins with, and how much a
//! device holds.

use crate::sys;
use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_CREATE: u16 = 0x400;
const RTM_SETLINK: u16 = 19;
const RTM_NEWROUTE: u16 = 24;
const IFLA_TXQLEN: u16 = 13;
const RT_TABLE_MAIN: u8 = 254;
const RT_SCOPE_LINK: u8 = 253;
const RTPROT_STATIC: u8 = 4;
const RTN_UNICAST: u8 = 1;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;
const RTAX_INITCWND: u16 = 11;

const HEADER_BYTES: usize = 16;

/// Connections of the caller's namespace to this address go through this interface, and begin with this window, segments.
pub fn set_initial_window(to: Ipv4Addr, interface: u32, segments: u32) -> Result<()> {
    let mut body =
        vec![libc::AF_INET as u8, 32, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST];
    body.extend(0u32.to_ne_bytes()); // rtm_flags
    attribute(&mut body, RTA_DST, &to.octets());
    attribute(&mut body, RTA_OIF, &interface.to_ne_bytes());
    let mut metrics = Vec::new();
    attribute(&mut metrics, RTAX_INITCWND, &segments.to_ne_bytes());
    attribute(&mut body, RTA_METRICS, &metrics);
    ask(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &body)
}

/// An interface of the caller's namespace holds so many packets. The older ioctl for it asks for rights over the whole
/// machine.
pub fn set_queue_length(interface: u32, packets: u32) -> Result<()> {
    let mut body = vec![libc::AF_UNSPEC as u8, 0, 0, 0]; // family, padding, type
    body.extend(interface.to_ne_bytes());
    body.extend([0u32, 0].map(u32::to_ne_bytes).concat()); // flags, none of which changes
    attribute(&mut body, IFLA_TXQLEN, &packets.to_ne_bytes());
    ask(RTM_SETLINK, 0, &body)
}

/// Length, type, value, padded to four bytes.
fn attribute(into: &mut Vec<u8>, kind: u16, value: &[u8]) {
    into.extend(((4 + value.len()) as u16).to_ne_bytes());
    into.extend(kind.to_ne_bytes());
    into.extend(value);
    into.resize(into.len().next_multiple_of(4), 0);
}

fn ask(kind: u16, flags: u16, body: &[u8]) -> Result<()> {
    let mut message = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK | flags).to_ne_bytes());
    message.extend([1u32, 0].map(u32::to_ne_bytes).concat()); // sequence number; port: the kernel
    message.extend(body);
    let socket = sys::route_socket()?;
    sys::send(socket.as_fd(), &message)?;
    let mut answer = [0u8; 4096];
    let length = sys::receive(socket.as_fd(), &mut answer)?; // the kernel answers before `send` is back
    let kind = u16::from_ne_bytes([answer[4], answer[5]]);
    if length < HEADER_BYTES + 4 || kind != NLMSG_ERROR {
        return Err(Error::new(ErrorKind::InvalidData, "an answer that is none"));
    }
    let code = [0, 1, 2, 3].map(|i| answer[HEADER_BYTES + i]);
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        code => Err(Error::from_raw_os_error(-code)),
    }
}
