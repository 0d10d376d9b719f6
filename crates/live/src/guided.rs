//! Connections whose rate the routers on the path set. Their sockets are in a cgroup, whose program puts
//! explicit headers into a TCP option; no other socket is in it. All of them are opened before the run
//! begins, so that the group can be removed again.

use crate::error::LiveError;
use crate::layout::Layout;
use crate::namespace::End;
use crate::sys::{cgroup::Cgroup, socket};
use longfat_bpf_loader::{GUIDED_FORMS, KernelForm, guided_form};
use longfat_sim::{CheckedRun, ConnectionPlan};
use longfat_transport::cc;
use longfat_wire::OPTION_BYTES;
use socket2::Socket;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Those of them that send messages to each other.
pub const TALKING: [&str; 1] = ["xcp-i"];
/// The protocols that those may speak.
pub const PROTOCOLS: [&str; 3] = ["xcp", "vcp", "jetmax"];
/// Since this version of Linux, programs write TCP options.
const LEAST_KERNEL: (u32, u32) = (5, 10);
const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// Whether routers set the rate of this connection.
pub fn is_guided(planned: &ConnectionPlan) -> bool {
    guided_form(planned.algorithm.listed_name()).is_some()
}

/// Returns the bytes of headers in a connection's data packets: the TCP option takes the place of the
/// explicit header that the plan counts.
pub fn header_bytes(planned: &ConnectionPlan) -> u32 {
    if !is_guided(planned) {
        return planned.header_bytes;
    }
    let protocol = cc::find(planned.algorithm.listed_name()).and_then(|row| row.properties.protocol);
    let simulated = protocol.map_or(0, |protocol| protocol.header_bytes);
    planned.header_bytes.saturating_sub(simulated) + OPTION_BYTES as u32
}

/// One algorithm of this kind, with the sockets of its connections.
struct Group {
    asked: &'static KernelForm,
    registered: longfat_bpf_loader::Guided,
    /// The listeners of both ends, until the hosts take them.
    listeners: Option<[Socket; 2]>,
}

/// The algorithms of this kind in a run. The kernel has them as long as this lives.
#[derive(Default)]
pub struct Guided {
    groups: Vec<Group>,
    /// The sockets of flows that have not started, by index.
    waiting: BTreeMap<usize, Socket>,
}

impl Guided {
    /// Registers what `names`, the kernel's name for each flow's algorithm, asks for, from the folder
    /// `forms`, and opens the sockets of the flows.
    pub fn set_up(
        run: &CheckedRun,
        names: &BTreeMap<String, String>,
        forms: &Path,
        ends: &[End; 2],
        layout: &Layout,
    ) -> Result<Self, LiveError> {
        let mut guided = Guided::default();
        let is_asked = |form: &&KernelForm| names.values().any(|name| name == form.name);
        for asked in GUIDED_FORMS.iter().filter(is_asked) {
            check_kernel(asked)?;
            let registered =
                longfat_bpf_loader::Guided::beside_others(&asked.object(forms), &std::env::temp_dir());
            let mut registered = registered.map_err(|error| LiveError::Machine(error.to_string()))?;
            let cgroup = Cgroup::new().map_err(|error| LiveError::cgroup(asked.algorithm, &error))?;
            let attached = registered.attach(std::os::fd::AsFd::as_fd(&cgroup));
            attached.map_err(|error| LiveError::Machine(error.to_string()))?;
            let flows = run.flows.iter().enumerate();
            let own = flows.filter(|(_, flow)| flow.connection.algorithm.name() == asked.algorithm);
            let opened = cgroup.within(|| {
                for (i, flow) in own {
                    guided.waiting.insert(i, ends[layout.side(&flow.connection)].within(socket::tcp)?);
                }
                Ok([ends[0].within(socket::tcp)?, ends[1].within(socket::tcp)?])
            });
            let listeners = Some(opened.map_err(|error| LiveError::cgroup(asked.algorithm, &error))?);
            guided.groups.push(Group { asked, registered, listeners });
        }
        Ok(guided)
    }

    /// Returns the name under which the kernel knows an algorithm that was asked for under this one.
    pub fn registered_as(&self, asked: &str) -> Option<&str> {
        let group = self.groups.iter().find(|group| group.asked.name == asked);
        group.map(|group| group.registered.name())
    }

    /// Takes the listeners of both ends, for each algorithm in turn.
    pub fn take_listeners(&mut self) -> Vec<[Socket; 2]> {
        self.groups.iter_mut().filter_map(|group| group.listeners.take()).collect()
    }

    /// Returns which of those listeners a connection goes to, if routers set its rate.
    pub fn listener(&self, planned: &ConnectionPlan) -> Option<u16> {
        let at = self.groups.iter().position(|group| group.asked.algorithm == planned.algorithm.name())?;
        Some(at as u16)
    }

    /// Takes the socket of a flow that starts.
    pub fn take_socket(&mut self, flow: usize) -> Option<Socket> {
        self.waiting.remove(&flow)
    }
}

/// Returns what this machine lacks to put explicit headers into packets, or an empty text.
pub fn probe() -> String {
    let kernel = GUIDED_FORMS.iter().map(check_kernel).collect::<Result<Vec<_>, _>>();
    let group = kernel.and_then(|_| Cgroup::new().map_err(|error| LiveError::cgroup("xcp", &error)));
    group.err().map_or_else(String::new, |error| error.to_string())
}

fn check_kernel(asked: &KernelForm) -> Result<(), LiveError> {
    check_release(asked, &fs::read_to_string(RELEASE).map_err(LiveError::setup(RELEASE))?)
}

/// The same for a kernel of this release, such as "6.1.0-13-amd64".
fn check_release(asked: &KernelForm, release: &str) -> Result<(), LiveError> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= LEAST_KERNEL {
        return Ok(());
    }
    Err(LiveError::Machine(format!(
        "{}: this is Linux {}, and programs write TCP options since Linux {}.{}; accepted: a newer kernel",
        asked.algorithm,
        release.trim(),
        LEAST_KERNEL.0,
        LEAST_KERNEL.1
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_before_5_10_is_refused_in_one_line_and_later_ones_are_not() {
        let xcp = guided_form("xcp").expect("XCP has a form");
        for release in ["5.10.0", "5.10.0-26-amd64\n", "5.11.1", "6.1.0-13-amd64"] {
            assert!(check_release(xcp, release).is_ok(), "{release}");
        }
        for release in ["5.9.16", "5.9.16-arch1-1\n", "4.19.0-25-amd64"] {
            let refused = check_release(xcp, release).expect_err(release).to_string();
            let expected = format!(
                "xcp: this is Linux {}, and programs write TCP options since Linux 5.10; accepted: a newer kernel",
                release.trim()
            );
            assert!(refused.starts_with(&expected), "{refused}");
            assert_eq!(refused.lines().count(), 1, "{refused}");
        }
    }
}
