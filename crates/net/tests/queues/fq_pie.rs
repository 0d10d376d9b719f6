use crate::source::{Bench, Given, capable, merged, parameters, poisson, s, setup, steady};
use longfat_net::DropReason;
use longfat_net::queue::{FqPie, Pie};
use longfat_wire::{Ecn, FlowId, SimPacket};

fn fq_pie(given: &[(&str, &dyn Given)]) -> Bench<FqPie<SimPacket>> {
    Bench::new(FqPie::build(setup(10_000), &parameters("fq_pie", given)))
}

#[test]
fn each_flow_that_sends_too_much_waits_for_the_target_and_a_sparse_one_does_not() {
    let sparse = steady(3, 0.1e6, (0.0, 120.0));
    let sent = sparse.len();
    let busy = poisson(1.2, 2, (0.0, 120.0)).collect();
    let mut bench = fq_pie(&[]);
    bench.run(merged(vec![busy, sparse]).into_iter(), |_, _| {});
    let waits = |flow: u32| -> Vec<f64> {
        let all = bench.tally.sent.iter().zip(&bench.tally.waits);
        let late = all.filter(|((at, p), _)| *at > s(40.0) && p.flow == FlowId(flow));
        late.map(|(_, wait)| wait.as_secs_f64()).collect()
    };
    for flow in 0..2 {
        let waits = waits(flow);
        let mean_ms = 1e3 * waits.iter().sum::<f64>() / waits.len() as f64;
        assert!((mean_ms / 15.0 - 1.0).abs() < 0.2, "flow {flow}: {mean_ms} ms");
    }
    // the packet on the wire, and two of each other flow, if their queues are new too
    assert!(waits(3).iter().all(|wait| *wait < 0.005_1));
    assert_eq!((bench.tally.dropped_of(3), bench.tally.sent_of(3)), (0, sent));
}

#[test]
fn with_a_single_queue_it_drops_as_much_as_pie_does() {
    let load = || poisson(1.1, 10, (0.0, 200.0));
    let mut single = fq_pie(&[("flows", &1.0)]);
    single.run(load(), |_, _| {});
    let mut pie = Bench::new(Pie::build(setup(10_000), &parameters("pie", &[])));
    pie.run(load(), |_, _| {});
    let drops = |tally: &crate::source::Tally| tally.drops(DropReason::Early) as f64;
    let (single, pie) = (drops(&single.tally), drops(&pie.tally));
    assert!(pie > 10_000.0 && (single / pie - 1.0).abs() < 0.02, "{single} and {pie}");
}

#[test]
fn it_marks_while_the_probability_of_the_flow_s_own_queue_is_at_most_the_threshold() {
    let load = || merged(vec![steady(0, 1e6, (0.0, 60.0)), steady(1, 14e6, (0.0, 60.0))]);
    let run = |threshold: f64| {
        let mut bench = fq_pie(&[("ecn", &"true"), ("ecn_threshold", &threshold)]);
        bench.run(load().into_iter().map(|(at, p)| (at, capable(p))), |_, _| {});
        bench.tally
    };
    // nobody answers the marks, so the probability of flow 1 grows beyond any threshold; flow 0 has what it
    // needs
    let tally = run(0.1);
    assert!(tally.marks() > 5 && tally.dropped_of(1) > 1000, "{} {}", tally.marks(), tally.dropped_of(1));
    assert_eq!(tally.dropped_of(0), 0);
    assert!(tally.sent.iter().all(|(_, p)| p.flow == FlowId(1) || p.ecn == Ecn::Capable));
    assert_eq!(run(1.0).drops(DropReason::Early), 0);
}
