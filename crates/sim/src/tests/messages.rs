//! Messages between elements cross links as other packets do.
#![allow(clippy::expect_used, reason = "a test may panic")]

use super::flow;
use super::plan_of::plan_of;
use crate::results::outcome::Outcome;
use crate::results::summary::MessageCounters;
use crate::run::messages::PROCESSING;
use crate::run::state::Simulation;
use longfat_net::queue::Boxed;
use longfat_net::{Address, DropReason, Element, Sink};
use longfat_scenario::plan::Plan;
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Crossing, FlowId, Kind, Message, Packet, SimPacket};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// What an element has seen; with the sender and the content if it was a message for that element.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Message { from: Address, crossings: Vec<Crossing> },
    Data { ttl: u8 },
    Passing,
}

type Diary = Arc<Mutex<Vec<(f64, Seen)>>>;

/// Records everything that arrives, and periodically sends a probe of `bytes` bytes to the others in turn.
struct Speaker {
    address: Address,
    to: Vec<Address>,
    bytes: u32,
    period: Interval,
    sent: usize,
    diary: Diary,
}

impl Element<SimPacket> for Speaker {
    fn arrive(&mut self, now: Time, packet: SimPacket, out: &mut dyn Sink<SimPacket>) {
        if self.sent == 0 && !self.to.is_empty() {
            self.sent = 1;
            out.set_timer(now + self.period);
        }
        let seen = match packet.message() {
            Some(Message { from, to, content: Content::Probe(crossings) }) if *to == self.address => {
                Seen::Message { from: *from, crossings: crossings.clone() }
            }
            Some(_) => Seen::Passing,
            None => Seen::Data { ttl: packet.ttl },
        };
        let is_mine = matches!(seen, Seen::Message { .. });
        self.diary.lock().expect("no test has panicked").push((now.as_secs_f64(), seen));
        if !is_mine {
            out.forward(packet);
        }
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<SimPacket>) {
        let to = self.to[self.sent % self.to.len()];
        let message = Message { from: self.address, to, content: Content::Probe(Vec::new()) };
        out.originate(SimPacket::control(message, self.bytes), to);
        self.sent += 1;
        out.set_timer(now + self.period);
    }

    fn next(&mut self, _: Time, _: &mut dyn Sink<SimPacket>) -> Option<SimPacket> {
        None
    }
    fn packets(&self) -> u64 {
        0
    }
    fn bytes(&self) -> u64 {
        0
    }
}

/// An element in front of a queue, both with timers of their own.
struct InFront<E> {
    element: E,
    element_timer: Time,
    queue: Boxed<SimPacket>,
    queue_timer: Time,
}

impl<E: Element<SimPacket> + Send> InFront<E> {
    fn of(element: E, queue: Boxed<SimPacket>) -> Boxed<SimPacket> {
        Box::new(InFront { element, element_timer: Time::NEVER, queue, queue_timer: Time::NEVER })
    }

    /// Calls the element, passes on what it forwards, and sets the earlier timer.
    fn act(
        &mut self,
        now: Time,
        out: &mut dyn Sink<SimPacket>,
        act: impl FnOnce(&mut E, &mut dyn Sink<SimPacket>),
    ) {
        let mut forwarded = Vec::new();
        let InFront { element, element_timer, queue, queue_timer } = self;
        act(element, &mut Part { out, timer_at: element_timer, forwarded: &mut forwarded });
        for packet in forwarded {
            queue.arrive(now, packet, &mut Part { out, timer_at: queue_timer, forwarded: &mut Vec::new() });
        }
        out.set_timer((*element_timer).min(*queue_timer));
    }
}

impl<E: Element<SimPacket> + Send> Element<SimPacket> for InFront<E> {
    fn arrive(&mut self, now: Time, packet: SimPacket, out: &mut dyn Sink<SimPacket>) {
        self.act(now, out, |element, out| element.arrive(now, packet, out));
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<SimPacket>) {
        if self.queue_timer <= now {
            self.queue_timer = Time::NEVER;
            let timer_at = &mut self.queue_timer;
            self.queue.timer(now, &mut Part { out, timer_at, forwarded: &mut Vec::new() });
        }
        let is_due = self.element_timer <= now;
        if is_due {
            self.element_timer = Time::NEVER;
        }
        self.act(now, out, |element, out| {
            if is_due {
                element.timer(now, out);
            }
        });
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<SimPacket>) -> Option<SimPacket> {
        let timer_at = &mut self.queue_timer;
        self.queue.next(now, &mut Part { out, timer_at, forwarded: &mut Vec::new() })
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

/// The sink of one of the two.
struct Part<'a> {
    out: &'a mut dyn Sink<SimPacket>,
    timer_at: &'a mut Time,
    forwarded: &'a mut Vec<SimPacket>,
}

impl Sink<SimPacket> for Part<'_> {
    fn forward(&mut self, packet: SimPacket) {
        self.forwarded.push(packet);
    }
    fn drop(&mut self, packet: SimPacket, reason: DropReason) {
        self.out.drop(packet, reason);
    }
    fn marked(&mut self, reason: DropReason) {
        self.out.marked(reason);
    }
    fn set_timer(&mut self, at: Time) {
        *self.timer_at = at;
    }
    fn originate(&mut self, packet: SimPacket, to: Address) {
        self.out.originate(packet, to);
    }
}

const RATE_BPS: f64 = 10e6;
const DELAY_S: f64 = 0.005;
const HOPS: usize = 4;

/// A chain of nodes with links there (0 to 3) and back (4 to 7, the last one first).
fn chain(duration_s: f64) -> Value {
    let link = |name: String, nodes: (usize, usize)| {
        json!({"name": name, "rate_bps": RATE_BPS, "delay_s": DELAY_S, "nodes": nodes,
            "queue": {"kind": "droptail", "limit_packets": 20}, "loss": {"kind": "none"},
            "ack_loss": {"kind": "none"}, "router": {"kind": "xcp"}})
    };
    let there = (0..HOPS).map(|i| link(format!("there {i}"), (i, i + 1)));
    let back = (0..HOPS).rev().map(|i| link(format!("back {i}"), (i + 1, i)));
    let mut flow = flow("cbr", &[0, 1, 2, 3], &[4, 5, 6, 7]);
    flow["parameters"] = json!({"rate": 4.0});
    flow["rtt_s"] = json!(2.0 * (HOPS as f64 * DELAY_S + 0.001));
    (flow["mss"], flow["header_bytes"]) = (json!(972), json!(28));
    json!({"seed": 1, "duration_s": duration_s, "window_s": [0.0, duration_s],
        "links": there.chain(back).collect::<Vec<_>>(), "flows": [flow], "background": [],
        "sample": {"flows_s": 0.1, "links_s": 0.1}, "events": false, "fast": true})
}

/// A speaker in front of link `at`, to these others.
type Speaks<'a> = (usize, &'a [u32], Interval);

const PROBE_BYTES: u32 = 1000;

/// Runs the plan and returns what was seen at each of the links with speakers.
fn run(plan: &Value, speakers: &[Speaks]) -> (Outcome, Vec<Vec<(f64, Seen)>>) {
    let plan = Plan::from_json(&plan_of(plan)).and_then(Plan::check).expect("the plan is in order");
    let mut run = Simulation::new(plan, &mut |_| None).expect("the plan can be run");
    run.needs_oracle = true;
    let diaries: Vec<Diary> = speakers.iter().map(|_| Diary::default()).collect();
    for (&(at, to, period), diary) in speakers.iter().zip(&diaries) {
        let speaker = Speaker {
            address: Address(at as u32),
            to: to.iter().copied().map(Address).collect(),
            bytes: PROBE_BYTES,
            period,
            sent: 0,
            diary: diary.clone(),
        };
        run.links[at].install(|queue| InFront::of(speaker, queue));
    }
    let outcome = run.run(&mut || true).expect("nothing fails");
    (outcome, diaries.iter().map(|d| d.lock().expect("no test has panicked").clone()).collect())
}

/// Runs the plan with both drivers, which have to give the same.
fn run_by_both(plan: &Value, speakers: &[Speaks]) -> (Outcome, Vec<Vec<(f64, Seen)>>) {
    let (fast, seen) = run(plan, speakers);
    let mut slow = plan.clone();
    slow["fast"] = json!(false);
    let (oracle, also) = run(&slow, speakers);
    let everything = |o: &Outcome| {
        let flows = o.flows.iter().flat_map(|(_, s)| s.columns());
        let series = flows.chain(o.links.iter().flat_map(|(_, s)| s.columns()));
        let bits: Vec<u64> = series.flat_map(|(_, column)| column.iter().map(|x| x.to_bits())).collect();
        (serde_json::to_string(&o.summary).expect("a summary is JSON"), bits)
    };
    assert!(everything(&fast) == everything(&oracle), "{plan}");
    assert!(seen == also, "the elements saw different things: {plan}");
    (fast, seen)
}

fn messages(seen: &[(f64, Seen)]) -> Vec<(f64, Address, Vec<Crossing>)> {
    let mine = seen.iter().filter_map(|(at, seen)| match seen {
        Seen::Message { from, crossings } => Some((*at, *from, crossings.clone())),
        _ => None,
    });
    mine.collect()
}

fn counters(outcome: &Outcome) -> MessageCounters {
    outcome.summary.messages.expect("elements can send messages")
}

const EVERY: Interval = Interval::from_millis(100);

#[test]
fn a_message_takes_the_links_in_between_and_as_long_as_they_take() {
    // one flow that has stopped when the message is sent; its first packet sets the speaker's timer
    let mut plan = chain(0.15);
    plan["flows"][0]["stop_s"] = json!(0.001);
    let (outcome, seen) = run_by_both(&plan, &[(0, &[3], EVERY), (1, &[], EVERY), (3, &[], EVERY)]);
    let (first, _) = seen[0].first().expect("a data packet came");
    let there = messages(&seen[2]);
    let transmission_s = 8.0 * f64::from(PROBE_BYTES) / RATE_BPS;
    let takes_s = PROCESSING.as_secs_f64() + 3.0 * (DELAY_S + transmission_s);
    assert_eq!(there.len(), 1);
    assert!((there[0].0 - first - 0.1 - takes_s).abs() < 1e-8, "{there:?}, sent at {first} + 0.1");
    assert_eq!(there[0].1, Address(0));
    assert_eq!(there[0].2.iter().map(|c| c.link.0).collect::<Vec<_>>(), [0, 1, 2]);
    // the router in between lets it pass
    assert_eq!(seen[1].iter().filter(|(_, s)| *s == Seen::Passing).count(), 1);
    assert_eq!(counters(&outcome), MessageCounters { sent: 1, delivered: 1, dropped: 0, undeliverable: 0 });
}

#[test]
fn a_message_goes_back_over_the_links_that_lead_back() {
    let (_, seen) = run_by_both(&chain(1.0), &[(0, &[], EVERY), (3, &[0], EVERY)]);
    let there = messages(&seen[0]);
    assert!(there.len() > 7, "{}", there.len());
    for (_, from, crossings) in there {
        assert_eq!(from, Address(3));
        // from node 3, where link 3 begins, to node 0
        assert_eq!(crossings.iter().map(|c| c.link.0).collect::<Vec<_>>(), [5, 6, 7]);
    }
}

#[test]
fn each_link_tells_a_probe_what_it_carries_and_what_has_come_to_it() {
    let mut plan = chain(2.0);
    plan["links"][1]["rate_bps"] = json!(8e6);
    let (_, seen) = run_by_both(&plan, &[(0, &[3], EVERY), (3, &[], EVERY)]);
    let last = messages(&seen[1]).pop().expect("probes came");
    let rates: Vec<f64> = last.2.iter().map(|c| c.capacity_bps).collect();
    assert_eq!(rates, [10e6, 8e6, 10e6]);
    for crossing in last.2 {
        // 4 Mbit/s of data and a probe of 1000 bytes every 100 ms
        assert!((crossing.input_bps / 4.08e6 - 1.0).abs() < 0.03, "{crossing:?}");
        assert!((crossing.spare_bps() - (crossing.capacity_bps - 4.08e6)).abs() < 0.15e6, "{crossing:?}");
    }
}

#[test]
fn a_message_waits_behind_data_and_is_dropped_where_a_queue_is_full() {
    let mut plan = chain(3.0);
    plan["flows"][0]["parameters"]["rate"] = json!(8.37);
    plan["links"][1]["rate_bps"] = json!(6e6);
    // no two of these times are multiples of each other
    let often = Interval::from_ns(37_310_007);
    let (outcome, seen) = run_by_both(&plan, &[(0, &[3], often), (3, &[], EVERY)]);
    let c = counters(&outcome);
    assert!(c.dropped > 5 && c.delivered > 5, "{c:?}");
    let there = messages(&seen[1]);
    // those that arrive left their element whole periods after the first packet came to it
    let (first, _) = seen[0].first().expect("a data packet came");
    let takes_s = PROCESSING.as_secs_f64() + 3.0 * DELAY_S + 2.0 * 0.8e-3 + 8e3 / 6e6;
    for (at, ..) in &there[there.len() / 2..] {
        let periods = (at - first - takes_s) / often.as_secs_f64();
        let waited_s = periods.fract() * often.as_secs_f64();
        // behind 19 or 20 packets of 1000 bytes at 6 Mbit/s
        assert!((0.0245..0.028).contains(&waited_s), "{waited_s}");
    }
    let drops: u64 = outcome.summary.links.iter().map(|l| l.packets_dropped).sum();
    assert_eq!(drops, c.dropped + outcome.summary.flows[0].packets_lost);
}

#[test]
fn a_message_without_a_path_or_a_router_at_its_end_is_lost_and_counted() {
    let mut plan = chain(1.0);
    plan["links"][2]["router"] = json!(null);
    // nothing leads back to node 0 any more
    plan["links"][7]["nodes"] = json!([5, 6]);
    plan["flows"][0]["reverse"] = json!([4, 5, 6]);
    let (outcome, _) = run_by_both(&plan, &[(1, &[0, 2, 77], EVERY)]);
    let c = counters(&outcome);
    assert!(c.sent > 8, "{c:?}");
    assert_eq!((c.delivered, c.undeliverable), (0, c.sent));
}

#[test]
fn a_router_that_does_not_know_messages_is_crossed_and_they_end_behind_it() {
    let (outcome, seen) = run_by_both(&chain(1.0), &[(0, &[2], EVERY), (3, &[], EVERY)]);
    let c = counters(&outcome);
    assert!(c.sent > 8 && c.delivered >= c.sent - 1 && c.undeliverable >= c.sent - 1, "{c:?}");
    assert!(seen[1].iter().all(|(_, seen)| matches!(seen, Seen::Data { .. })), "none goes further");
}

#[test]
fn the_time_to_live_falls_at_each_router_but_not_at_the_first_link_nor_in_a_switch() {
    let mut plan = chain(0.2);
    let all: &[Speaks] = &[(0, &[], EVERY), (1, &[], EVERY), (2, &[], EVERY), (3, &[], EVERY)];
    let ttls = |plan: &Value| -> Vec<Seen> {
        run_by_both(plan, all).1.iter().map(|seen| seen.last().expect("data came").1.clone()).collect()
    };
    assert_eq!(ttls(&plan), [64, 63, 62, 61].map(|ttl| Seen::Data { ttl }));
    plan["links"][2]["layer2"] = json!(true);
    plan["links"][2]["router"] = Value::Null;
    plan["links"][2]["queue"]["kind"] = json!("codel"); // an element, as drop-tail alone is none in the fast form
    assert_eq!(ttls(&plan), [64, 63, 63, 62].map(|ttl| Seen::Data { ttl }));
}

#[test]
fn a_plan_whose_links_do_not_meet_or_have_a_router_at_a_switch_is_refused_with_its_key() {
    let refused = |at: &str, change: &dyn Fn(&mut Value)| {
        let mut plan = chain(1.0);
        change(&mut plan);
        let checked = Plan::from_json(&plan_of(&plan)).and_then(Plan::check);
        let error = checked.err().expect("it cannot be run");
        assert_eq!(error.at, at, "{error}");
    };
    refused("flows[0].forward", &|plan| plan["flows"][0]["forward"] = json!([0, 2]));
    refused("links[2].router", &|plan| plan["links"][2]["layer2"] = json!(true));
    refused("flows[0].reverse", &|plan| plan["flows"][0]["reverse"] = json!([4, 6]));
    refused("links[1].nodes", &|plan| plan["links"][1]["nodes"] = json!([1, 1]));
    refused("links[3].nodes", &|plan| plan["links"][3]["nodes"] = json!(null));
    refused("links[0].nodes", &|plan| plan["links"][0]["nodes"] = json!([0, 1_000_000]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn messages_among_data_keep_the_books_and_both_drivers_give_the_same_bytes(
        rates in proptest::collection::vec(1e6..2e7_f64, 2 * HOPS),
        delays in proptest::collection::vec(prop_oneof![4 => 1e-4..0.02_f64, 1 => Just(0.0)], 2 * HOPS),
        routers in proptest::collection::vec(any::<bool>(), 2 * HOPS),
        packets in 2..30_u64,
        periods in [3_000_u64..50_000, 3_000_u64..50_000],
        algorithm in prop::sample::select(vec!["reno", "xcp"]),
    ) {
        let mut plan = chain(2.0);
        for i in 0..2 * HOPS {
            plan["links"][i]["rate_bps"] = json!(rates[i]);
            plan["links"][i]["delay_s"] = json!(delays[i]);
            plan["links"][i]["queue"]["limit_packets"] = json!(packets);
            if !routers[i] && i != 0 && i != 3 && i != 5 {
                plan["links"][i]["router"] = json!(null);
            }
        }
        let flow = &mut plan["flows"][0];
        (flow["algorithm"], flow["parameters"]) = (json!(algorithm), json!({}));
        flow["rtt_s"] = json!(0.2);
        let [a, b] = periods.map(|us| Interval::from_ns(1000 * us));
        let (outcome, seen) = run_by_both(&plan, &[(0, &[3, 5, 4], a), (3, &[0, 7], b), (5, &[], a)]);
        let c = counters(&outcome);
        prop_assert!(c.sent > 0);
        prop_assert!(c.delivered + c.dropped + c.undeliverable <= c.sent + c.delivered);
        let taken: usize = seen.iter().map(|s| messages(s).len()).sum();
        prop_assert!(taken as u64 <= c.delivered);
        // what a link took in and did not send on is dropped or still waits there
        for link in &outcome.summary.links {
            prop_assert!(link.packets_dropped <= link.packets_in, "{link:?}");
        }
    }
}

#[test]
fn packets_of_messages_belong_to_no_flow() {
    let message = Message { from: Address(1), to: Address(2), content: Content::Probe(vec![]) };
    let packet = SimPacket::control(message.clone(), 77);
    assert_eq!((packet.flow, packet.kind, packet.bytes), (FlowId::NONE, Kind::Control, 77));
    assert_eq!(packet.message(), Some(&message));
}

#[test]
fn reasons_of_drops_do_not_matter_to_messages() {
    // an element that drops every message that passes
    struct Censor;
    impl Element<SimPacket> for Censor {
        fn arrive(&mut self, _: Time, packet: SimPacket, out: &mut dyn Sink<SimPacket>) {
            if packet.kind == Kind::Control {
                out.drop(packet, DropReason::Early);
            } else {
                out.forward(packet);
            }
        }
        fn next(&mut self, _: Time, _: &mut dyn Sink<SimPacket>) -> Option<SimPacket> {
            None
        }
        fn packets(&self) -> u64 {
            0
        }
        fn bytes(&self) -> u64 {
            0
        }
    }
    let plan = Plan::from_json(&plan_of(&chain(1.0))).and_then(Plan::check).expect("the plan is in order");
    let mut run = Simulation::new(plan, &mut |_| None).expect("the plan can be run");
    run.needs_oracle = true;
    run.links[1].install(|queue| InFront::of(Censor, queue));
    let (address, to, diary) = (Address(0), vec![Address(3)], Diary::default());
    let speaker = Speaker { address, to, bytes: 100, period: EVERY, sent: 0, diary };
    run.links[0].install(|queue| InFront::of(speaker, queue));
    let outcome = run.run(&mut || true).expect("nothing fails");
    let c = counters(&outcome);
    assert!(c.sent > 8 && c.dropped == c.sent && c.delivered == 0, "{c:?}");
    assert_eq!(outcome.summary.flows[0].packets_lost, 0);
}
