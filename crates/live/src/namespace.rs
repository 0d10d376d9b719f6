//! The two ends of the network: a namespace each, with one TUN device in it. Nothing of them has a name outside of this
//! process, and all of it hangs from its file descriptors: whatever ends the process leaves nothing.

use crate::error::LiveError;
use crate::{routes, sys};
use std::ffi::CStr;
use std::fs;
use std::io::Result;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Interfaces are called so in both namespaces.
const DEVICE: &CStr = c"longfat0";
/// Of the block for tests of network devices (RFC 2544, RFC 6890): not to be met in a host's own network.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)];

/// How the hosts of both ends are set up.
#[derive(Clone, Debug)]
pub struct HostSetup {
    /// Largest IP packet, bytes.
    pub packet_bytes: u32,
    /// Packets that wait for the router at most before the kernel drops them.
    pub queue_packets: u32,
    /// Most bytes that a socket may buffer, for sending and for receiving.
    pub buffer_bytes: u64,
    /// Whether an algorithm has the kernel send at cwnd / srtt.
    pub paced: bool,
    /// Whether connections offer ECN.
    pub ecn: bool,
    /// Initial windows of connections that this side opens, segments.
    pub initial_window: [Option<u32>; 2],
}

/// One end of the network.
pub struct End {
    namespace: OwnedFd,
    /// Where the router reads what its hosts send, and writes what they are to receive.
    pub tun: OwnedFd,
}

impl End {
    /// Does something in the end's namespace, such as opening a socket, which then stays there.
    pub fn within<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        sys::enter_network(self.namespace.as_fd())?;
        act()
    }

    /// Packets that its TUN device has dropped, in either direction.
    pub fn device_drops(&self) -> Result<u64> {
        let table = self.within(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        // name: bytes packets errs drop fifo frame compressed multicast, then the same of what was sent
        let row = table.lines().find_map(|line| line.trim().strip_prefix("longfat0:"));
        let counts: Vec<u64> =
            row.unwrap_or_default().split_whitespace().filter_map(|n| n.parse().ok()).collect();
        Ok([3, 11].iter().filter_map(|&i| counts.get(i)).sum())
    }

    /// The TUN device.
    pub fn tun(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

/// A setting of a namespace's TCP, with the value that it has.
pub type Sysctl = (String, String);

/// Both ends, made by the calling thread, which is in the second one's namespace afterwards; and the settings that hold in
/// both. Without the right to make namespaces they are made in a user namespace of the process's own.
pub fn ends(setup: &HostSetup) -> std::result::Result<([End; 2], Vec<Sysctl>), LiveError> {
    let as_user = sys::leave_network(false).is_err();
    if as_user {
        become_root()?;
    }
    let first = end(setup, 0)?;
    sys::leave_network(false).map_err(|e| LiveError::rights("a second network namespace", &e))?;
    let second = end(setup, 1)?;
    let settings = settings(setup).into_iter().filter_map(|(name, _)| Some((name.to_owned(), read(name)?)));
    Ok(([first, second], settings.collect()))
}

/// What a live run needs of this machine, each with what is missing, if it is. The calling thread moves into namespaces of
/// its own for good, and so into one without a network if that can be had.
pub fn probe() -> Vec<(&'static str, String)> {
    let told =
        |result: std::result::Result<(), LiveError>| result.err().map_or_else(String::new, |e| e.to_string());
    let own = sys::leave_network(false).map_err(|e| LiveError::rights("network namespaces", &e));
    let rights = own.or_else(|_| become_root());
    let tun = sys::open_tun(DEVICE).map(|_| ()).map_err(|e| LiveError::tun(&e));
    let settings = fs::write(path("net.ipv4.tcp_no_metrics_save"), "1").map_err(LiveError::setup("net.ipv4"));
    let realtime =
        if sys::hurry() { String::new() } else { "no right to SCHED_DEADLINE or SCHED_FIFO".to_owned() };
    vec![
        ("namespaces", told(rights)),
        ("tun", told(tun)),
        ("sysctls", told(settings)),
        ("realtime", realtime),
    ]
}

fn become_root() -> std::result::Result<(), LiveError> {
    let (user, group) = sys::user();
    sys::leave_network(true).map_err(|e| LiveError::rights("network namespaces", &e))?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("0 {user} 1")),
        ("/proc/self/gid_map", format!("0 {group} 1")),
    ];
    for (file, text) in maps {
        fs::write(file, text).map_err(|e| LiveError::rights(file, &e))?;
    }
    Ok(())
}

fn end(setup: &HostSetup, side: usize) -> std::result::Result<End, LiveError> {
    let namespace = fs::File::open("/proc/thread-self/ns/net").map_err(LiveError::setup("its namespace"))?;
    for (name, value) in settings(setup) {
        let written = fs::write(path(name), &value);
        // a kernel without IPv6 has nothing to switch off
        if !name.starts_with("net.ipv6") {
            written.map_err(LiveError::setup(name))?;
        }
    }
    sys::set_up_interface(c"lo", None, None).map_err(LiveError::setup("lo"))?;
    let tun = sys::open_tun(DEVICE).map_err(|e| LiveError::tun(&e))?;
    let index = sys::interface_index(DEVICE).map_err(LiveError::setup("the TUN device"))?;
    routes::set_queue_length(index, setup.queue_packets)
        .and_then(|()| sys::set_up_interface(DEVICE, Some(ADDRESSES[side]), Some(setup.packet_bytes)))
        .map_err(LiveError::setup("the TUN device"))?;
    if let Some(segments) = setup.initial_window[side] {
        routes::set_initial_window(ADDRESSES[1 - side], index, segments)
            .map_err(LiveError::setup("the route"))?;
    }
    Ok(End { namespace: namespace.into(), tun })
}

fn path(setting: &str) -> String {
    format!("/proc/sys/{}", setting.replace('.', "/"))
}

fn read(setting: &str) -> Option<String> {
    let text = fs::read_to_string(path(setting)).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What the hosts' kernel is told, beside what it does of itself.
fn settings(setup: &HostSetup) -> Vec<(&'static str, String)> {
    let buffer = setup.buffer_bytes;
    let pacing = setup.paced.then(|| ("net.ipv4.tcp_pacing_ca_ratio", "100".to_owned()));
    let mut all = vec![
        ("net.ipv6.conf.all.disable_ipv6", "1".to_owned()),
        ("net.ipv6.conf.default.disable_ipv6", "1".to_owned()),
        // nothing is remembered from one connection to the next
        ("net.ipv4.tcp_no_metrics_save", "1".to_owned()),
        // as in the simulator
        ("net.ipv4.tcp_slow_start_after_idle", "0".to_owned()),
        ("net.ipv4.tcp_sack", "1".to_owned()),
        ("net.ipv4.tcp_timestamps", "1".to_owned()),
        ("net.ipv4.tcp_window_scaling", "1".to_owned()),
        ("net.ipv4.tcp_mtu_probing", "0".to_owned()),
        ("net.ipv4.tcp_moderate_rcvbuf", "1".to_owned()),
        ("net.ipv4.tcp_ecn", u8::from(setup.ecn).to_string()),
        // the window is the algorithm's matter: buffers must not be what limits it
        ("net.ipv4.tcp_rmem", format!("4096 {buffer} {buffer}")),
        ("net.ipv4.tcp_wmem", format!("4096 {buffer} {buffer}")),
        ("net.ipv4.ip_local_port_range", "10000 65535".to_owned()),
    ];
    all.extend(pacing);
    all
}
