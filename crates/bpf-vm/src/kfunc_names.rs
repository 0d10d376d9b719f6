//! The kernel's functions that a congestion control may call, and the version of Linux that first offered
//! each: sets of functions for struct_ops programs, and those for all programs that public objects use. A
//! message about a function that the simulator lacks needs to know whether a kernel has it.
//!
//! Sources: `bpf_tcp_ca_check_kfunc_ids` (net/ipv4/bpf_tcp_ca.c), `tcp_cubic_check_kfunc_ids` (tcp_cubic.c),
//! `tcp_dctcp_check_kfunc_ids` (tcp_dctcp.c) and `tcp_bbr_check_kfunc_ids` (tcp_bbr.c) of Linux 6.12.117 for
//! the names; docs.ebpf.io, KFuncs, for the versions: commits e78aea8b2170 (5.13), 9bb00b2895cb (6.2),
//! 06accc8779c1 (6.4), d1e59a469737 (7.1). `bbr_main` has two more arguments since 6.10 (57bfc7605ca5).

/// Names, and the first version that has them.
const KNOWN: [(&str, &[&str]); 4] = [
    (
        "5.13",
        &[
            "tcp_reno_ssthresh",
            "tcp_reno_cong_avoid",
            "tcp_reno_undo_cwnd",
            "tcp_slow_start",
            "tcp_cong_avoid_ai",
            "cubictcp_init",
            "cubictcp_recalc_ssthresh",
            "cubictcp_cong_avoid",
            "cubictcp_state",
            "cubictcp_cwnd_event",
            "cubictcp_acked",
            "dctcp_init",
            "dctcp_update_alpha",
            "dctcp_cwnd_event",
            "dctcp_ssthresh",
            "dctcp_cwnd_undo",
            "dctcp_state",
            "bbr_init",
            "bbr_main",
            "bbr_sndbuf_expand",
            "bbr_undo_cwnd",
            "bbr_cwnd_event",
            "bbr_ssthresh",
            "bbr_min_tso_segs",
            "bbr_set_state",
        ],
    ),
    ("6.2", &["bpf_rcu_read_lock", "bpf_rcu_read_unlock"]),
    ("6.4", &["bpf_iter_num_new", "bpf_iter_num_next", "bpf_iter_num_destroy"]),
    ("7.1", &["cubictcp_cwnd_event_tx_start", "dctcp_cwnd_event_tx_start", "bbr_cwnd_event_tx_start"]),
];

/// Names that Linux 7.1 has no more (d1e59a469737).
const UNTIL_7_0: [&str; 2] = ["cubictcp_cwnd_event", "bbr_cwnd_event"];

/// The first version of Linux that offers this function to a congestion control; `None` if none is known to.
pub(crate) fn since(name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(_, names)| names.contains(&name)).map(|(version, _)| *version)
}

/// Why an object that calls a function is refused, where the simulator lacks it.
pub(crate) fn refusal(name: &str) -> String {
    match since(name) {
        Some(version) if UNTIL_7_0.contains(&name) => {
            format!("not available here; Linux offered it from {version} to 7.0")
        }
        Some(version) => format!("not available here; Linux offers it since {version}"),
        None => "not available here; Longfat knows no Linux that offers it to congestion control".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::{Btf, Type};
    use crate::kfuncs;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_that_there_is_here_is_one_that_a_kernel_offers() {
        for name in kfuncs::names() {
            assert!(since(name).is_some(), "{name}");
        }
        assert_eq!(since("bbr_main"), Some("5.13"));
        assert_eq!(refusal("bbr_main"), "not available here; Linux offers it since 5.13");
        assert_eq!(refusal("bbr_cwnd_event"), "not available here; Linux offered it from 5.13 to 7.0");
        assert_eq!(refusal("dctcp_cwnd_event"), "not available here; Linux offers it since 5.13");
        assert_eq!(since("bbr_secondary"), None);
    }

    /// A set is there if its algorithm is built in. Linux 7.1 has `cwnd_event_tx_start` where some sets had
    /// `cwnd_event`.
    #[test]
    fn the_running_kernel_has_every_function_of_the_sets_whose_algorithms_it_has() {
        let Ok(data) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            return eprintln!("skipped: no /sys/kernel/btf/vmlinux");
        };
        let kernel = Btf::new(&data).expect("the kernel's own");
        let functions = kernel.iter().filter(|(_, of)| matches!(of, Type::Function { .. }));
        let present: BTreeSet<&str> = functions.map(|(_, of)| of.name()).collect();
        let set_of = |name: &'static str| name.split('_').next().unwrap_or(name);
        let built_in =
            |name| set_of(name) == "tcp" || present.contains(format!("{}_init", set_of(name)).as_str());
        for name in KNOWN[0].1.iter().copied().filter(|&name| built_in(name)) {
            let newer = format!("{name}_tx_start");
            assert!(present.contains(name) || present.contains(newer.as_str()), "{name}");
        }
    }
}
