//! Settings of a network namespace (sysctl(8)): what the hosts' kernel is told beside its defaults.

use std::fs;
use std::io::Result;

/// A setting of a namespace's TCP, by its name with dots, and its value.
pub type Sysctl = (String, String);

/// What the settings of a live run depend on.
#[derive(Clone, Copy, Debug)]
pub struct TcpSetup {
    /// Most bytes that a socket may buffer, for sending and for receiving.
    pub buffer_bytes: u64,
    /// Whether connections offer ECN.
    pub ecn: bool,
    /// Percent of cwnd / srtt at which the kernel paces outside of slow-start; `None` for its default.
    pub pacing_ratio: Option<u32>,
    /// Whether programs run there: they may use IPv6 and answer offers of ECN, as by the kernel's defaults.
    pub guests: bool,
}

/// Whether writes to a network namespace's settings work at all; the error if not.
pub fn try_writing() -> Result<()> {
    fs::write(path(NO_METRICS_SAVE), "1")
}

/// Sets the calling thread's namespace up; the error names the setting.
pub fn apply(setup: TcpSetup) -> std::result::Result<(), (&'static str, std::io::Error)> {
    for (name, value) in settings(setup) {
        let written = fs::write(path(name), &value);
        // a kernel without IPv6 has nothing to switch off
        if !name.starts_with("net.ipv6") {
            written.map_err(|error| (name, error))?;
        }
    }
    Ok(())
}

/// Prepares the calling thread's namespace and its device for programs, as far as this kernel can: anyone may
/// ping, and the device has no IPv6 address but that which it gets, so that it sends nothing by itself.
pub fn prepare_guests(device: &str) {
    // all groups; in a user namespace only its own has a number
    let may_ping = path("net.ipv4.ping_group_range");
    let _ = fs::write(&may_ping, "0 2147483647").or_else(|_| fs::write(&may_ping, "0 0"));
    for (setting, value) in [("addr_gen_mode", "1"), ("accept_ra", "0"), ("router_solicitations", "0")] {
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{device}/{setting}"), value);
    }
}

/// Reads the same settings back from the calling thread's namespace; one that this kernel lacks is left out.
pub fn read_back(setup: TcpSetup) -> Vec<Sysctl> {
    settings(setup).into_iter().filter_map(|(name, _)| Some((name.to_owned(), read(name)?))).collect()
}

fn path(setting: &str) -> String {
    format!("/proc/sys/{}", setting.replace('.', "/"))
}

fn read(setting: &str) -> Option<String> {
    let text = fs::read_to_string(path(setting)).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

const NO_METRICS_SAVE: &str = "net.ipv4.tcp_no_metrics_save";

fn settings(setup: TcpSetup) -> Vec<(&'static str, String)> {
    let buffer = setup.buffer_bytes;
    let pacing = setup.pacing_ratio.map(|ratio| ("net.ipv4.tcp_pacing_ca_ratio", ratio.to_string()));
    let without_ipv6 = u8::from(!setup.guests).to_string();
    // 2: offers are answered, but not made
    let ecn = if setup.ecn { 1 } else { 2 * u8::from(setup.guests) };
    let mut all = vec![
        ("net.ipv6.conf.all.disable_ipv6", without_ipv6.clone()),
        ("net.ipv6.conf.default.disable_ipv6", without_ipv6),
        // one connection must not inherit anything from an earlier one
        (NO_METRICS_SAVE, "1".to_owned()),
        // as in the simulator
        ("net.ipv4.tcp_slow_start_after_idle", "0".to_owned()),
        ("net.ipv4.tcp_sack", "1".to_owned()),
        ("net.ipv4.tcp_timestamps", "1".to_owned()),
        ("net.ipv4.tcp_window_scaling", "1".to_owned()),
        ("net.ipv4.tcp_mtu_probing", "0".to_owned()),
        ("net.ipv4.tcp_moderate_rcvbuf", "1".to_owned()),
        ("net.ipv4.tcp_ecn", ecn.to_string()),
        // the algorithm controls cwnd: buffers must not be what limits it
        ("net.ipv4.tcp_rmem", format!("4096 {buffer} {buffer}")),
        ("net.ipv4.tcp_wmem", format!("4096 {buffer} {buffer}")),
        ("net.ipv4.ip_local_port_range", "10000 65535".to_owned()),
    ];
    all.extend(pacing);
    all
}
