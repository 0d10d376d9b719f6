//! The algorithms that have a kernel form in `bpf/`.

use std::path::{Path, PathBuf};

/// An algorithm with a kernel form in `bpf/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelForm {
    /// The name in scenario files and in the registry of `longfat-transport`.
    pub algorithm: &'static str,
    /// The kernel's name for it, at most 15 characters; the object is `<name>.o`.
    pub name: &'static str,
    /// Whether it relies on the kernel's pacing: with the namespace's `net.ipv4.tcp_pacing_ca_ratio` at 100
    /// packets leave at cwnd / srtt, as in the simulator. One that sets its pacing rate does not.
    pub paced: bool,
}

const fn form(algorithm: &'static str, name: &'static str) -> KernelForm {
    KernelForm { algorithm, name, paced: false }
}

/// All kernel forms.
pub const KERNEL_FORMS: [KernelForm; 17] = [
    form("hstcp", "lf_hstcp"),
    form("stcp", "lf_stcp"),
    form("bic", "lf_bic"),
    form("htcp", "lf_htcp"),
    KernelForm { paced: true, ..form("fast", "lf_fast") },
    form("yeah", "lf_yeah"),
    form("africa", "lf_africa"),
    form("westwood+", "lf_westwoodplus"),
    form("ctcp", "lf_ctcp"),
    form("illinois", "lf_illinois"),
    form("vegas", "lf_vegas"),
    form("ltcp", "lf_ltcp"),
    form("hybla", "lf_hybla"),
    form("veno", "lf_veno"),
    form("dctcp", "lf_dctcp"),
    form("ledbat++", "lf_ledbat"),
    form("copa", "lf_copa"),
];

/// The kernel forms of algorithms whose rate routers set. Their objects also hold a sock_ops program
/// ([`Guided`](crate::Guided)), and they are none of [`KERNEL_FORMS`].
pub const GUIDED_FORMS: [KernelForm; 4] =
    [form("xcp", "lf_xcp"), form("xcp-r", "lf_xcp_r"), form("vcp", "lf_vcp"), form("jetmax", "lf_jetmax")];

/// The routers that live runs have: those that guide these algorithms, or that only drop packets.
pub const ROUTERS: [&str; 6] = ["xcp", "xcp-i", "vcp", "jetmax", "dqw", "friendly"];

/// Returns the kernel form of this algorithm, if it has one.
pub fn kernel_form(algorithm: &str) -> Option<&'static KernelForm> {
    KERNEL_FORMS.iter().chain(&GUIDED_FORMS).find(|form| form.algorithm == algorithm)
}

/// Returns the kernel form of an algorithm whose rate routers set, if this one is such.
pub fn guided_form(algorithm: &str) -> Option<&'static KernelForm> {
    GUIDED_FORMS.iter().find(|form| form.algorithm == algorithm)
}

impl KernelForm {
    /// Returns its object in the folder where `make bpf` has put it.
    pub fn object(&self, folder: &Path) -> PathBuf {
        folder.join(self.name).with_extension("o")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::LONGEST_NAME;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_fits_the_kernel_and_belongs_to_one_algorithm_of_the_registry() {
        let all = || KERNEL_FORMS.iter().chain(&GUIDED_FORMS);
        let names: BTreeSet<_> = all().map(|form| form.name).collect();
        assert_eq!(names.len(), all().count());
        for form in all() {
            assert!(form.name.len() <= LONGEST_NAME && form.name.starts_with("lf_"), "{}", form.name);
            // the kernel accepts no other characters
            assert!(form.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{}", form.name);
            let row = longfat_transport::cc::find(form.algorithm).map(|row| row.name);
            assert_eq!(row, Some(form.algorithm));
            let guided = longfat_transport::cc::find(form.algorithm)
                .is_some_and(|row| row.properties.protocol.is_some());
            assert_eq!(guided_form(form.algorithm).is_some(), guided, "{}", form.name);
        }
    }
}
