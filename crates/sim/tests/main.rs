//! Tests of whole runs. They are one program, since each program that runs plans compiles both drivers.

mod common;
#[path = "../../scenario/tests/plan_of/mod.rs"]
mod plan_of;
mod theory_common;

mod at_arrival;
mod background;
mod bbr;
mod bbr3;
mod cadpc;
mod copa;
mod dctcp;
mod delay_and_rate;
mod determinism;
mod disturbance;
mod drivers;
mod erica;
mod friendly;
mod golden;
mod host;
mod identity;
mod internals;
mod interrupts;
mod invariants;
mod jetmax;
mod loss_detection;
mod maxnet;
mod misbehaving;
mod plans;
mod prague;
mod queues;
mod quick_start;
mod random_plans;
mod rcp;
mod reference;
mod results;
mod service_tick;
mod steps;
mod summaries;
mod theory_cubic;
mod theory_fairness;
mod theory_hybrid;
mod theory_queue;
mod theory_response;
mod udp;
mod vcp;
mod vivace;
mod xcp;
mod xcp_i;
mod xcp_r;

#[test]
fn every_file_beside_this_one_is_a_part_of_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let missing = |name: &String| {
        let module = name.strip_suffix(".rs").filter(|module| *module != "main");
        module.is_some_and(|module| !include_str!("main.rs").contains(&format!("\nmod {module};\n")))
    };
    assert_eq!(files.filter(missing).collect::<Vec<_>>(), Vec::<String>::new());
}
