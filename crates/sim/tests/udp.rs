//! Transports over UDP on a bottleneck: how much they use, how much they leave to others, and that their
//! counters add up.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{column, dumbbell, flow, refusal_of, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

fn over_udp(name: &str, algorithm: &str, parameters: Value) -> Value {
    with(flow(name, algorithm), json!({"parameters": parameters}))
}

/// 100 Mbit/s, 42 ms and a buffer of one BDP, measured from 20 s on.
fn on_100_mbit(flows: Vec<Value>) -> Outcome {
    run(&with(dumbbell(100e6, 350, 60.0, flows), json!({"window_s": [20.0, 60.0]})))
}

#[test]
fn udt_alone_fills_nine_tenths_of_a_path_whatever_its_length() {
    for variant in ["thesis", "draft"] {
        for rtt_s in [0.01, 0.042, 0.2] {
            let one = over_udp("1", "udt", json!({"variant": variant}));
            let outcome = on_100_mbit(vec![with(one, json!({"rtt_s": rtt_s}))]);
            let share = outcome.summary.links[0].utilization;
            assert!(share > 0.9, "{variant}, {rtt_s} s: {share}");
        }
    }
}

#[test]
fn two_flows_of_udt_share_evenly_whatever_their_round_trip_times() {
    // the rate control interval is the same for all (Gu, Grossman 2007)
    let one = |name: &str, rtt_s: f64| {
        with(over_udp(name, "udt", json!({"variant": "draft"})), json!({"rtt_s": rtt_s}))
    };
    let plan = dumbbell(100e6, 350, 200.0, vec![one("1", 0.02), one("2", 0.1)]);
    let outcome = run(&with(plan, json!({"window_s": [100.0, 200.0]})));
    let rates: Vec<f64> = outcome.summary.flows.iter().map(|f| f.goodput_bps).collect();
    let ratio = rates[0].min(rates[1]) / rates[0].max(rates[1]);
    assert!(ratio > 0.6, "{rates:?}");
    assert!(outcome.summary.links[0].utilization > 0.9);
}

/// Goodput of an established flow of `algorithm` after another one has joined, bit/s, on 250 Mbit/s and 100
/// ms.
fn beside(algorithm: &str, other: Value) -> f64 {
    let old = with(flow("old", algorithm), json!({"rtt_s": 0.1}));
    let other = with(other, json!({"rtt_s": 0.1, "start_s": 20.0}));
    let plan = with(dumbbell(250e6, 1000, 90.0, vec![old, other]), json!({"window_s": [30.0, 90.0]}));
    run(&plan).summary.flows[0].goodput_bps
}

#[test]
fn udt_takes_more_from_standard_tcp_and_bic_than_their_own_kind_does() {
    for (algorithm, left) in [("reno", 0.5), ("bic", 1.0)] {
        let own = beside(algorithm, flow("new", algorithm));
        for variant in ["thesis", "draft"] {
            let udt = beside(algorithm, over_udp("new", "udt", json!({"variant": variant})));
            assert!(udt < left * own, "{algorithm}, {variant}: {udt} beside udt, {own} beside its own kind");
        }
    }
}

#[test]
fn runat_climbs_until_it_loses_and_comes_back() {
    let outcome = on_100_mbit(vec![over_udp("1", "runat", json!({}))]);
    let summary = &outcome.summary.flows[0];
    assert!(outcome.summary.links[0].utilization > 0.7, "{}", outcome.summary.links[0].utilization);
    assert!(summary.loss_ratio < 0.1 && summary.congestion_events > 5, "{summary:?}");
    // each retransmission was lost before; no acknowledgement is lost, so nothing arrives twice
    assert_eq!(summary.spurious_retransmits, 0);
}

#[test]
fn constant_bit_rate_arrives_as_sent_below_the_capacity_and_loses_the_excess_above() {
    let at = |mbps: f64| {
        let outcome = on_100_mbit(vec![over_udp("1", "cbr", json!({"rate": mbps}))]);
        let f = &outcome.summary.flows[0];
        (f.throughput_bps / 1e6, f.goodput_bps / 1e6, f.loss_ratio)
    };
    let (throughput, goodput, loss) = at(60.0);
    assert!(
        (throughput - 60.0).abs() < 0.01 && (goodput - 60.0 * 1448.0 / 1500.0).abs() < 0.01 && loss == 0.0
    );
    let (throughput, _, loss) = at(150.0);
    assert!((throughput - 100.0).abs() < 0.01 && (loss - 1.0 / 3.0).abs() < 1e-3, "{throughput} {loss}");
}

#[test]
fn an_on_off_source_takes_its_rate_from_tcp_while_it_is_on() {
    let source = over_udp("off", "onoff", json!({"rate": 60.0, "on": 10.0, "off": 10.0}));
    let outcome = on_100_mbit(vec![flow("tcp", "reno"), source]);
    let received = |name: &str, from: usize, to: usize| {
        let bytes = column(&outcome.flows, name, "received_bytes");
        8.0 * (bytes[10 * to] - bytes[10 * from]) / (to - from) as f64 / 1e6
    };
    // on from 20 s and 40 s, off from 30 s and 50 s; a few seconds to settle
    assert!((received("off", 23, 30) - 60.0).abs() < 2.0, "{}", received("off", 23, 30));
    assert!(received("off", 31, 40) == 0.0);
    assert!((30.0..43.0).contains(&received("tcp", 25, 30)), "{}", received("tcp", 25, 30));
    assert!(received("tcp", 37, 40) > 75.0, "{}", received("tcp", 37, 40));
}

#[test]
fn what_a_source_sent_has_arrived_or_was_dropped() {
    let source = with(over_udp("1", "cbr", json!({"rate": 30.0})), json!({"stop_s": 5.0}));
    let outcome = run(&dumbbell(20e6, 20, 10.0, vec![source]));
    let f = &outcome.summary.flows[0];
    let arrived = column(&outcome.flows, "1", "received_bytes").last().expect("samples") / 1500.0;
    assert_eq!(f.packets_sent, 12_500);
    assert_eq!(f.packets_sent as f64, arrived + f.packets_lost as f64);
    assert_eq!(f.completed_s, Some(5.0));
}

#[test]
fn a_source_has_no_window_and_its_figures_say_so() {
    let outcome = on_100_mbit(vec![over_udp("1", "cbr", json!({})), over_udp("2", "udt", json!({}))]);
    let summary = serde_json::to_value(&outcome.summary).expect("it is JSON");
    assert!(summary["flows"][0]["cwnd_mean"].is_null());
    assert!(summary["flows"][1]["cwnd_mean"].as_f64().expect("a number") > 2.0);
}

#[test]
fn pages_over_udt_arrive_and_free_their_indices() {
    let mut plan = dumbbell(10e6, 50, 20.0, vec![flow("1", "reno")]);
    let mut pages = crate::common::web("web", 10);
    pages["flow"]["algorithm"] = json!("udt");
    plan["background"] = json!([pages]);
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.02});
    plan["links"][1]["ack_loss"] = json!({"kind": "random", "probability": 0.2});
    let outcome = run(&plan);
    let web = &outcome.summary.background[0];
    assert!(web.transfers_completed > 100 && web.transfers_completed + 20 > web.transfers_started, "{web:?}");
    assert_eq!(
        serde_json::to_string(&outcome.summary).ok(),
        serde_json::to_string(&run(&with(plan, json!({"fast": false}))).summary).ok()
    );
}

#[test]
fn a_rate_above_the_host_s_own_link_is_refused_before_the_run() {
    let source = with(over_udp("1", "cbr", json!({"rate": 30.0})), json!({"access_rate_bps": 2e7}));
    let plan = dumbbell(1e7, 50, 5.0, vec![source]);
    let refused = refusal_of(&plan).expect("too fast").to_string();
    let offer = "give at most the 20 Mbit/s of the host's own link";
    assert_eq!(refused, format!("flows[0].algorithm: cbr.rate = 30 Mbit/s is not accepted; {offer}"));
}

/// A flow with a round trip of 100 ms between hosts whose links are faster than the path.
fn far(one: Value) -> Value {
    with(one, json!({"rtt_s": 0.1, "access_rate_bps": 1e10}))
}

/// One flow on 1 Gbit/s and 100 ms with a buffer of one BDP, where this share of packets is lost, from
/// `from_s` on.
fn on_a_long_fat_path(one: Value, loss: f64, from_s: f64, to_s: f64) -> Outcome {
    let mut plan = dumbbell(1e9, 8333, to_s, vec![far(one)]);
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": loss});
    run(&with(plan, json!({"window_s": [from_s, to_s]})))
}

#[test]
fn blasts_fill_a_long_fat_path_that_loses_a_packet_in_a_thousand() {
    let rbudp = over_udp("1", "rbudp", json!({"rate": 990.0, "payload": 1024.0}));
    let tsunami = over_udp("1", "tsunami", json!({"target_rate": 950.0}));
    for one in [rbudp, tsunami] {
        let outcome = on_a_long_fat_path(one, 1e-3, 10.0, 30.0);
        let (flow, link) = (&outcome.summary.flows[0], &outcome.summary.links[0]);
        assert!(link.utilization > 0.95, "{}: {}", flow.algorithm, link.utilization);
        // what the path lost is all that went twice
        assert!(flow.spurious_retransmits == 0 && flow.loss_ratio < 0.0012, "{flow:?}");
    }
}

#[test]
fn the_time_of_a_blast_is_that_of_its_packets_and_a_round_trip_for_each_bitmap() {
    // with T = S / B (1 + L + L^2 ...) + rounds RTT; of S / 1448 packets, about L^k of them are in blast k +
    // 1
    for (bytes, blasts) in [(10_000_000_u64, 2.0), (100_000_000, 2.0), (2_000_000_000, 3.0)] {
        let one = over_udp("1", "rbudp", json!({"rate": 990.0}));
        let outcome = on_a_long_fat_path(with(one, json!({"bytes": bytes})), 1e-3, 0.0, 30.0);
        let flow = &outcome.summary.flows[0];
        let sending_s = 8.0 * bytes as f64 / (990e6 * 1448.0 / 1500.0) * 1.001;
        let predicted_s = 0.1 + sending_s + 0.1 * blasts;
        let took_s = flow.completed_s.expect("it ends");
        assert!((took_s / predicted_s - 1.0).abs() < 0.02, "{bytes}: {took_s} s, not {predicted_s} s");
        assert_eq!(flow.congestion_events as f64, blasts - 1.0);
    }
}

/// What one SABUL uses of 1 Gbit/s and 100 ms, of which 833 packets in 10 ms (SYN) are all.
fn used_by_sabul(parameters: Value, loss: f64) -> f64 {
    on_a_long_fat_path(over_udp("1", "sabul", parameters), loss, 10.0, 60.0).summary.links[0].utilization
}

#[test]
fn sabul_rests_where_its_increases_make_up_for_its_decreases() {
    // A decrease takes a ninth off the n packets a SYN and pauses for one SYN. The next decrease waits for
    // the loss of a packet that was sent later, 1 / (100 n L) s on average, and a round trip for its report.
    // Until then each SYN without a loss, exp(-n L) of them, adds one packet, or .1 if n is at most 100. The
    // two are equal for
    //     (RTT + 1 / (100 n L)) 100 exp(-n L) (1 or .1) = n / 9
    // | L        | n    | cycle        | left = right | mean, 17/18 n | less the pause                   |
    // | .0001    | 342  | .1 + .2924 s | 37.9 = 38.0  | 388 Mbit/s    | 388 x .392 / .402 = 378 Mbit/s   |
    // | .001     | 137  | .1 + .0730 s | 15.1 = 15.2  | 155 Mbit/s    | 155 x .173 / .183 = 147 Mbit/s   |
    // | .001, .1 | 34.2 | .1 + .2924 s | 3.79 = 3.80  | 38.8 Mbit/s   | 38.8 x .392 / .402 = 37.8 Mbit/s |
    // The time to the next loss is random, at most three quarters of a cycle, so n varies by .75 / sqrt(17) =
    // 18 %, and it forgets a value after 9 cycles. The mean over 50 s, 124 cycles, has then 124 / 17
    // independent parts and varies by 7 %; the test allows twice as much.
    let slow = json!({"least_period": 1.2e-4}); // 83 packets a SYN at most
    for (parameters, loss, expected) in
        [(json!({}), 1e-4, 0.378), (json!({}), 1e-3, 0.147), (slow, 1e-3, 0.0378)]
    {
        let used = used_by_sabul(parameters, loss);
        assert!((used / expected - 1.0).abs() < 0.14, "{loss}: {used}, not {expected}");
    }
}

#[test]
fn sabul_alone_uses_four_fifths_because_each_overflow_brings_eight_or_nine_decreases() {
    // n grows by 100 a second. From 833 on the queue grows by 5000 t^2 packets and is full, 8333 packets,
    // after 1.29 s; the first report comes .2 s later, at n = 982. By then up to 139 x 100 x .2 = 2780
    // packets are lost, fewer if the flow window stops the sender, each with a report of its own. The first,
    // 16th, 32nd ... 1024th decrease P, and perhaps the 2048th: n falls to (8/9)^8 of 982, 383, or to
    // (8/9)^9, 340. The way back takes 4.50 or 4.93 s, in which the link lacks (833 - n)^2 / 200 = 1014 or
    // 1214 packets a SYN times seconds, less 83 in the queue, of 833 x 5.99 or 6.42 in the whole cycle: .814
    // or .788 used. A window that cuts cycles may have a part of one below the mean more or less: 3.2 s,
    // which lack .6 s; that is .012 of 50 s.
    let used = used_by_sabul(json!({}), 0.0);
    assert!((0.776..0.826).contains(&used), "{used}");
}

#[test]
fn the_earlier_rule_of_sabul_rests_where_half_a_microsecond_makes_up_for_the_falls() {
    // A SYN with a loss, 1 - exp(-n L) of them, adds .5 us to P, a share of 5e-5 n; one without takes a
    // hundredth off P, and after one with a loss, h = .9 / n / 10, a quarter less:
    //     (1 - exp(-n L)) 5e-5 n = .01 exp(-n L) (1 - .23 (1 - exp(-n L)))
    // n = 389: .3223 x .01945 = .00627 = .00678 x .926, 467 Mbit/s. The logarithm of n moves by .0095 up or
    // .0194 down, with a variance of .029^2 x .32 x .68 = 1.8e-4, and comes back by .014 of its distance in
    // each SYN. So n varies by sqrt(1.8e-4 / .028) = 8 % and forgets a value after 70 SYNs; the mean over
    // 5000 varies by 1.3 %. The test allows twice as much.
    let used = used_by_sabul(json!({"variant": "mimd"}), 1e-3);
    assert!((used / 0.467 - 1.0).abs() < 0.026, "{used}");
}

#[test]
fn tsunami_slows_down_only_above_fifteen_hundredths_of_losses() {
    // 7.5 % of the client's error rate are 15 % of the blocks: at 20 % lost it slows down, at 10 % it does
    // not
    for (loss, slows) in [(0.1, false), (0.2, true)] {
        let outcome =
            on_a_long_fat_path(over_udp("1", "tsunami", json!({"target_rate": 400.0})), loss, 10.0, 60.0);
        let events = outcome.summary.flows[0].congestion_events;
        assert_eq!(events > 10, slows, "{loss}: {events}");
    }
}

#[test]
fn tcp_beside_a_blast_loses_the_path() {
    let own = beside_a_gigabit(flow("new", "reno"));
    for other in [
        over_udp("new", "sabul", json!({})),
        over_udp("new", "rbudp", json!({"rate": 990.0, "payload": 1024.0})),
        over_udp("new", "tsunami", json!({"target_rate": 950.0})),
    ] {
        let left = beside_a_gigabit(other.clone());
        assert!(left < 0.1 * own, "{}: {left} beside it, {own} beside its own kind", other["algorithm"]);
    }
}

/// Goodput of an established standard TCP after another flow has joined, bit/s, on 1 Gbit/s and 100 ms.
fn beside_a_gigabit(other: Value) -> f64 {
    let flows = vec![far(flow("old", "reno")), with(far(other), json!({"start_s": 10.0}))];
    let plan = with(dumbbell(1e9, 8333, 60.0, flows), json!({"window_s": [30.0, 60.0]}));
    run(&plan).summary.flows[0].goodput_bps
}
