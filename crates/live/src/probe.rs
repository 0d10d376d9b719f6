//! What a machine can do live.

use crate::{guided, namespace};

/// Returns what a live run needs from this machine; each name comes with what is missing, or an empty text.
/// The calling thread moves into namespaces of its own for good, and so into one without a network if it may.
pub fn probe() -> Vec<(&'static str, String)> {
    // first, with the rights that the process has outside of those namespaces
    let group = guided::probe();
    let mut probed = namespace::probe();
    probed.push(("cgroup", group));
    probed
}
