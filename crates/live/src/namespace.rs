//! The two ends of the network: a namespace each, with one TUN device in it. They have no name outside this
//! process, and only its file descriptors keep them: whatever ends the process leaves nothing behind.

use crate::error::LiveError;
use crate::sys::netlink::Netlink;
use crate::sys::tun::Device;
use crate::sys::{namespaces, scheduling, tun};
use crate::sysctl::{self, Sysctl, TcpSetup};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The interface's name in both namespaces.
const DEVICE: &str = "longfat0";
/// From the block for tests of network devices (RFC 2544, RFC 6890), which a host's own network does not use.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)];
/// The addresses of programs on both ends, from the same block.
pub const GUESTS: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 1, 1), Ipv4Addr::new(198, 18, 1, 2)];
/// The same of IPv6, from the block for such tests (RFC 5180).
pub const GUESTS_6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0x2001, 2, 0, 1, 0, 0, 0, 1), Ipv6Addr::new(0x2001, 2, 0, 1, 0, 0, 0, 2)];
/// Programs expect packets of at least this many bytes to fit: Ethernet's.
pub const GUEST_PACKET_BYTES: u32 = 1500;

/// How the hosts of both ends are set up.
#[derive(Clone, Debug)]
pub struct HostSetup {
    /// Largest IP packet, bytes.
    pub packet_bytes: u32,
    /// Most packets that wait for the router before the kernel drops them.
    pub queue_packets: u32,
    /// Whether the kernel may hand out trains, many packets with one header.
    pub trains: bool,
    /// Settings of TCP.
    pub tcp: TcpSetup,
    /// Initial congestion windows of connections that each side opens, segments.
    pub initial_window: [Option<u32>; 2],
    /// Whether programs run there, with addresses of their own.
    pub guests: bool,
    /// Whether side B stands for the machine's own network.
    pub outside: Option<Families>,
}

/// What side A has of the machine's own network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Families {
    /// IPv4 alone.
    Four,
    /// IPv4 and IPv6.
    Both,
}

/// One end of the network.
pub struct End {
    namespace: OwnedFd,
    /// Where the router reads what the end's hosts send, and writes what they are to receive.
    pub tun: OwnedFd,
}

impl End {
    /// Runs `act` in the end's namespace. A socket or process that it opens there stays there.
    pub fn within<T>(&self, act: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        namespaces::enter_network(self.namespace.as_fd())?;
        act()
    }

    /// Returns how many packets its TUN device has dropped, in either direction.
    pub fn device_drops(&self) -> std::io::Result<u64> {
        let table = self.within(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        // name: bytes packets errs drop fifo frame compressed multicast, then the same for what was sent
        let row = table.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'));
        let counts: Vec<u64> =
            row.unwrap_or_default().split_whitespace().filter_map(|n| n.parse().ok()).collect();
        Ok([3, 11].iter().filter_map(|&i| counts.get(i)).sum())
    }

    /// Returns its namespace.
    pub fn namespace(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }

    /// Returns the TUN device.
    pub fn device(&self) -> Device<'_> {
        Device { tun: self.tun.as_fd() }
    }
}

/// Both ends.
pub struct Ends {
    /// Side A and side B.
    pub ends: [End; 2],
    /// The settings that hold in both.
    pub sysctls: Vec<Sysctl>,
    /// User and group outside of the user namespace that this process has made, if it has.
    pub as_user: Option<(u32, u32)>,
}

/// Makes both ends and returns them with the settings that hold in both. The calling thread is in the second
/// one's namespace afterwards. A process without the right to make namespaces makes them in a user namespace
/// of its own; its user and group outside of that come too.
pub fn ends(setup: &HostSetup) -> Result<Ends, LiveError> {
    let user = namespaces::user();
    let as_user = namespaces::leave_network(false).is_err();
    if as_user {
        become_root()?;
    }
    let first = end(setup, 0)?;
    namespaces::leave_network(false).map_err(|e| LiveError::rights("a second network namespace", &e))?;
    let second = end(setup, 1)?;
    Ok(Ends {
        ends: [first, second],
        sysctls: sysctl::read_back(setup.tcp),
        as_user: as_user.then_some(user),
    })
}

/// Returns what a live run needs from this machine; each name comes with what is missing, or an empty text.
/// The calling thread moves into namespaces of its own for good, and so into one without a network if it may.
pub fn probe() -> Vec<(&'static str, String)> {
    let missing = |result: Result<(), LiveError>| result.err().map_or_else(String::new, |e| e.to_string());
    let own = namespaces::leave_network(false).map_err(|e| LiveError::rights("network namespaces", &e));
    let rights = own.or_else(|_| become_root());
    let tun = tun::open_tun(DEVICE, true).map(|_| ()).map_err(|e| LiveError::tun(&e));
    let settings = sysctl::try_writing().map_err(LiveError::setup("net.ipv4"));
    let realtime =
        if scheduling::prioritize_router() { "" } else { "no right to SCHED_DEADLINE or SCHED_FIFO" };
    vec![
        ("namespaces", missing(rights)),
        ("tun", missing(tun)),
        ("sysctls", missing(settings)),
        ("realtime", realtime.to_owned()),
    ]
}

fn become_root() -> Result<(), LiveError> {
    let (user, group) = namespaces::user();
    namespaces::leave_network(true).map_err(|e| LiveError::rights("network namespaces", &e))?;
    namespaces::map_user((0, user), (0, group)).map_err(|(file, e)| LiveError::rights(file, &e))
}

/// Lets side A send everything to side B, which takes it.
fn route_outside(netlink: &Netlink, index: u32, side: usize, families: Families) -> std::io::Result<()> {
    let addresses = [IpAddr::from(GUESTS[side]), IpAddr::from(GUESTS_6[side])];
    for address in addresses.into_iter().take(if families == Families::Both { 2 } else { 1 }) {
        if side == 0 {
            netlink.set_default_route(index, address)?;
        } else {
            netlink.own_everything(address)?;
        }
    }
    Ok(())
}

fn end(setup: &HostSetup, side: usize) -> Result<End, LiveError> {
    let namespace = fs::File::open("/proc/thread-self/ns/net").map_err(LiveError::setup("its namespace"))?;
    sysctl::apply(setup.tcp).map_err(|(name, error)| LiveError::setup(name)(error))?;
    let netlink = Netlink::open().map_err(LiveError::setup("a netlink socket"))?;
    let loopback = netlink.index("lo").and_then(|index| netlink.put_up(index));
    loopback.map_err(LiveError::setup("lo"))?;
    let tun = tun::open_tun(DEVICE, setup.trains).map_err(|e| LiveError::tun(&e))?;
    let index = netlink
        .index(DEVICE)
        .and_then(|index| {
            // before the device is up, so that no packet meets the default limits
            netlink.set_limits(index, setup.queue_packets, setup.packet_bytes)?;
            netlink.add_address(index, ADDRESSES[side].into())?;
            if setup.guests {
                sysctl::prepare_guests(DEVICE);
                netlink.add_address(index, GUESTS[side].into())?;
            }
            netlink.put_up(index)?;
            if setup.guests {
                // a kernel without IPv6 has no such addresses
                let _ = netlink.add_address(index, IpAddr::from(GUESTS_6[side]));
            }
            if let Some(families) = setup.outside {
                route_outside(&netlink, index, side, families)?;
            }
            Ok(index)
        })
        .map_err(LiveError::setup("the TUN device"))?;
    if let Some(segments) = setup.initial_window[side] {
        netlink
            .set_initial_window(ADDRESSES[1 - side], index, segments)
            .map_err(LiveError::setup("the route"))?;
    }
    Ok(End { namespace: namespace.into(), tun })
}
