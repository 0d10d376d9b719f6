//! XCP-i's router: detection of clouds, the messages between edges, and virtual routers (Lopez Pacheco 2008,
//! section 4.4).

use crate::driver::{Arrivals, World, data};
use crate::setup::setup;
use longfat_net::router::{Setup, find};
use longfat_net::{Address, Element};
use longfat_units::parameters::{ParameterError, Value};
use longfat_units::{Interval, Time};
use longfat_wire::{
    Content, Crossing, Explicit, Extra, Kind, Load, Message, Packet, QuickStart, RateCode, SimPacket, Trail,
    Xcp,
};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// The messages on the way: time, sender, content.
pub type Talk = Rc<RefCell<Vec<(f64, u32, Content)>>>;

pub fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// A router of this address before a link far faster than anything here.
pub fn router(address: u32, given: &[(&str, Value)]) -> Box<dyn Element<SimPacket>> {
    let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let setup = Setup { address: Address(address), ..setup(1e9, 1 << 20) };
    find("xcp-i").unwrap().instance(setup, &given).unwrap()
}

pub fn word(word: &str) -> Value {
    Value::Word(word.to_owned())
}

/// Routers in a star: all but the last are upstream of the last. Probes find that a link in between has
/// `spare_bps`, one for each upstream router; an edge's own link has less.
fn world(given: &[(&str, Value)], spare_bps: &'static [f64]) -> (World<SimPacket>, Talk) {
    let talk = Talk::default();
    let heard = talk.clone();
    let mut world = World::new();
    for address in 0..=spare_bps.len() as u32 {
        world.add_link(1e9, vec![router(address, given)]);
    }
    world.carry = Some(Box::new(move |now, packet| {
        let Some(Message { from, content, .. }) = packet.message_mut() else { panic!("a message") };
        if let Content::Probe(crossings) = content {
            let (capacity_bps, spare_bps) = (1e8, spare_bps[from.0 as usize]);
            let input_bps = capacity_bps - spare_bps;
            crossings.push(Crossing { link: *from, capacity_bps, input_bps: 1e8 });
            crossings.push(Crossing { link: Address(1000), capacity_bps, input_bps });
            crossings.push(Crossing { link: Address(1001), capacity_bps, input_bps: 0.0 });
        }
        heard.borrow_mut().push((now.as_secs_f64(), from.0, content.clone()));
        Some(Interval::from_millis(5))
    }));
    (world, talk)
}

/// A packet of 1000 bytes of a flow with a window of 100 000 bytes and 0.1 s.
fn carrying(flow: u32) -> SimPacket {
    let header = Xcp { cwnd_bytes: 1e5, rtt_s: 0.1, feedback_bytes: f64::INFINITY, ..Xcp::default() };
    let mut packet = data(flow, 0, 1000);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::Xcp(header)), ..Extra::default() }));
    packet
}

fn feedback(packet: &SimPacket) -> f64 {
    let Some(Explicit::Xcp(header)) = packet.explicit() else { panic!("no header") };
    header.feedback_bytes
}

/// Each router's own hop, and `cloud` more hops between all routers and the last one.
fn through(cloud: u8, last: usize) -> impl FnMut(Time, usize, SimPacket, &mut Arrivals<SimPacket>) {
    move |at, link, mut packet, out| {
        if link < last {
            packet.ttl -= 1 + cloud;
            out.push((at, last, packet));
        }
    }
}

/// Data of 8 Mbit/s into a router from 0 s until then.
fn stream(world: &mut World<SimPacket>, link: usize, until_s: f64) {
    for i in 0..(1000.0 * until_s) as u64 {
        world.send(Time::from_ns(1_000_000 * i), link, carrying(link as u32));
    }
}

/// Mean feedback of a flow at the last router in a span of time, bytes a packet.
fn mean_feedback(world: &World<SimPacket>, flow: u32, last: u32, (from_s, to_s): (f64, f64)) -> f64 {
    let passed_last = |p: &SimPacket| p.trail().is_some_and(|t| t.last_router == Some(Address(last)));
    let given: Vec<f64> = (world.sent())
        .filter(|(at, p)| p.flow.0 == flow && passed_last(p) && (from_s..to_s).contains(&at.as_secs_f64()))
        .map(|(_, p)| feedback(p))
        .collect();
    given.iter().sum::<f64>() / given.len() as f64
}

fn said(talk: &Talk) -> Vec<(u32, Content)> {
    talk.borrow().iter().map(|(_, by, what)| (*by, what.clone())).collect()
}

fn times(talk: &Talk, wanted: impl Fn(&Content) -> bool) -> Vec<f64> {
    talk.borrow().iter().filter(|(_, _, what)| wanted(what)).map(|(at, ..)| *at).collect()
}

fn is_probe(content: &Content) -> bool {
    matches!(content, Content::Probe(_))
}

#[test]
fn a_router_behind_a_cloud_asks_the_edge_before_it_and_is_answered() {
    let (mut world, talk) = world(&[], &[4e6]);
    let mut syn = carrying(0);
    syn.kind = Kind::Syn;
    world.send(Time::ZERO, 0, syn);
    world.run(s(0.5), &mut through(1, 1));
    let talk = said(&talk);
    assert_eq!(talk[..2], [(1, Content::Request), (0, Content::Accepted)]);
    assert!(talk.len() == 3 && talk[2].0 == 0 && is_probe(&talk[2].1), "{talk:?}");
}

#[test]
fn where_every_router_is_of_its_kind_nobody_asks() {
    let (mut world, talk) = world(&[], &[4e6]);
    stream(&mut world, 0, 0.5);
    world.run(s(2.0), &mut through(0, 1));
    assert!(said(&talk).is_empty(), "{talk:?}");
}

#[test]
fn a_cloud_that_no_router_counts_in_is_not_seen() {
    // section 7.3.1: layer 2 leaves the TTL as it is
    let (mut world, talk) = world(&[], &[4e6]);
    stream(&mut world, 0, 0.5);
    world.run(s(2.0), &mut |at, link, mut packet, out| {
        if link == 0 {
            packet.ttl -= 1;
            out.push((at + Interval::from_millis(20), 1, packet));
        }
    });
    assert!(said(&talk).is_empty(), "{talk:?}");
}

#[test]
fn the_router_after_the_one_behind_a_cloud_does_not_see_that_cloud() {
    let (mut world, talk) = world(&[], &[4e6, 4e6]);
    stream(&mut world, 0, 0.1);
    world.run(s(1.0), &mut |at, link, mut packet, out| {
        packet.ttl -= if link == 0 { 3 } else { 1 };
        if link < 2 {
            out.push((at, link + 1, packet));
        }
    });
    assert!(!said(&talk).is_empty() && said(&talk).iter().all(|(by, _)| *by < 2), "{talk:?}");
}

#[test]
fn packets_without_a_header_acknowledgements_and_those_that_met_no_router_are_left_alone() {
    let (mut world, talk) = world(&[], &[4e6]);
    let mut echo = carrying(0);
    echo.kind = Kind::Ack;
    let mut straight = carrying(1);
    straight.ttl = 60;
    world.send(Time::ZERO, 0, data(0, 0, 1000));
    world.send(Time::ZERO, 0, echo.clone());
    world.send(Time::ZERO, 1, straight);
    world.run(s(1.0), &mut through(2, 1));
    assert!(said(&talk).is_empty(), "{talk:?}");
    let (_, ack) = world.sent().filter(|(_, p)| p.kind == Kind::Ack).last().unwrap();
    assert_eq!(ack.trail(), echo.trail());
}

#[test]
fn a_request_that_is_not_acknowledged_is_sent_once_more_and_then_at_the_next_packet() {
    let (mut world, talk) = world(&[("timeout", Value::Number(0.2))], &[4e6]);
    world.lost_messages = vec![0, 1];
    world.send(Time::ZERO, 0, carrying(0));
    world.send(s(0.1), 0, carrying(0));
    world.send(s(0.6), 0, carrying(0));
    world.run(s(1.0), &mut through(1, 1));
    let requests = times(&talk, |what| *what == Content::Request);
    for (at, expected) in requests.iter().zip([0.0, 0.2, 0.6]) {
        assert!((at - expected).abs() < 1e-3, "{requests:?}");
    }
    assert_eq!(requests.len(), 3);
    assert_eq!(times(&talk, |what| *what == Content::Accepted).len(), 1);
    world.assert_conserves();
}

#[test]
fn data_pass_as_they_are_where_the_other_edge_never_answers() {
    let (mut world, talk) = world(&[("timeout", Value::Number(0.2))], &[4e6]);
    world.lost_messages = (0..1000).collect();
    stream(&mut world, 0, 3.0);
    world.run(s(4.0), &mut through(1, 1));
    assert!(times(&talk, |what| *what == Content::Request).len() >= 14);
    // the real routers have 1 Gbit/s to give to one flow of 8 Mbit/s: .4 x .1 s x 124 MB/s over 100 packets
    let given = mean_feedback(&world, 0, 1, (1.0, 3.0));
    assert!((given / 49_600.0 - 1.0).abs() < 0.03, "{given}");
}

#[test]
fn an_edge_that_answers_after_all_gets_a_virtual_router_that_begins_anew() {
    let (mut world, _) = world(&[("timeout", Value::Number(0.2))], &[4e6]);
    // two requests at 0 s and every 0.4 s up to 2 s
    world.lost_messages = (0..10).collect();
    stream(&mut world, 0, 4.9);
    world.run(s(5.0), &mut through(1, 1));
    // in its first interval of 50 ms it gives nothing, and no more than its share thereafter
    let first = mean_feedback(&world, 0, 1, (2.02, 2.05));
    assert!(first.abs() < 1e-9, "{first}");
    let given = mean_feedback(&world, 0, 1, (2.2, 4.9));
    assert!((given / 200.0 - 1.0).abs() < 0.03, "{given}");
}

#[test]
fn packets_of_another_protocol_are_none_of_its_own() {
    let (mut world, talk) = world(&[], &[4e6]);
    let request = Explicit::QuickStart(QuickStart { rate: RateCode::LEAST, ..QuickStart::default() });
    for (i, header) in (0..).zip([request, Explicit::Vcp(Load::Low)]) {
        for kind in [Kind::Syn, Kind::Data] {
            let mut packet = carrying(i);
            packet.kind = kind;
            packet.explicit_mut().map(|own| *own = header).unwrap();
            world.send(Time::ZERO, 0, packet);
        }
    }
    world.run(s(1.0), &mut through(2, 1));
    assert!(said(&talk).is_empty(), "{talk:?}");
    assert!(world.sent().all(|(_, packet)| packet.trail() == Some(&Trail::default())));
}

#[test]
fn until_the_first_answer_a_virtual_router_takes_back_what_flows_have() {
    let (mut world, _) = world(&[], &[4e6]);
    world.lost_messages = vec![2]; // the probe
    stream(&mut world, 0, 1.0);
    world.run(s(1.0), &mut through(1, 1));
    // equation 4.2 with 1 Mbit/s: .4 x .1 s x (125 000 - 1 000 000 bytes/s) over 100 packets
    let given = mean_feedback(&world, 0, 1, (0.4, 1.0));
    assert!((given / -350.0 - 1.0).abs() < 0.03, "{given}");
}

#[test]
fn a_virtual_router_gives_out_four_tenths_of_what_the_cloud_has_to_spare() {
    let (mut world, _) = world(&[], &[4e6]);
    stream(&mut world, 0, 2.9);
    world.run(s(3.0), &mut through(1, 1));
    // equations 4.1 and 4.2: BW = 8 + 4 Mbit/s, phi = .4 x .1 s x 500 000 bytes/s = 20 000 bytes over 100
    // packets
    let given = mean_feedback(&world, 0, 1, (1.5, 2.9));
    assert!((given / 200.0 - 1.0).abs() < 0.03, "{given}");
}

#[test]
fn a_cloud_with_more_traffic_than_it_can_carry_takes_back() {
    let (mut world, _) = world(&[], &[-2e6]);
    stream(&mut world, 0, 2.9);
    world.run(s(3.0), &mut through(1, 1));
    let given = mean_feedback(&world, 0, 1, (1.5, 2.9));
    assert!((given / -100.0 - 1.0).abs() < 0.03, "{given}");
}

#[test]
fn each_upstream_edge_has_a_virtual_router_of_its_own() {
    let (mut world, talk) = world(&[], &[4e6, 1e6]);
    stream(&mut world, 0, 2.9);
    stream(&mut world, 1, 2.9);
    world.run(s(3.0), &mut through(2, 2));
    let given = [0, 1].map(|flow| mean_feedback(&world, flow, 2, (1.5, 2.9)));
    assert!((given[0] / 200.0 - 1.0).abs() < 0.03 && (given[1] / 50.0 - 1.0).abs() < 0.06, "{given:?}");
    let answered: Vec<u32> =
        said(&talk).iter().filter(|(_, what)| is_probe(what)).map(|(by, _)| *by).collect();
    assert!(answered.contains(&0) && answered.contains(&1));
}

#[test]
fn estimates_come_once_a_period_until_the_other_edge_has_been_inactive_and_begin_again_with_it() {
    let (mut world, talk) =
        world(&[("period", Value::Number(0.5)), ("inactivity", Value::Number(3.0))], &[4e6]);
    stream(&mut world, 0, 2.0);
    world.send(s(20.0), 0, carrying(0));
    world.run(s(22.0), &mut through(1, 1));
    let stops = times(&talk, |what| *what == Content::Stop);
    assert!((stops[0] - 5.0).abs() < 0.01 && stops.len() == 1, "{stops:?}");
    let probes = times(&talk, is_probe);
    let (before, after): (Vec<f64>, Vec<f64>) = probes.iter().partition(|&&at| at < 10.0);
    // from the answer to the first request until the stop has arrived, and from the last packet on
    assert_eq!((before.len(), after.len()), (10, 4), "{probes:?}");
    assert!(before.windows(2).all(|pair| (pair[1] - pair[0] - 0.5).abs() < 1e-6));
    assert_eq!(times(&talk, |what| *what == Content::Request).len(), 2);
}

#[test]
fn an_edge_that_has_missed_the_end_is_told_again() {
    let (mut world, talk) = world(&[("inactivity", Value::Number(2.0))], &[4e6]);
    world.send(Time::ZERO, 0, carrying(0));
    world.lost_messages = vec![4]; // request, acknowledgement, probes at 0 and 1 s, end
    world.run(s(10.0), &mut through(1, 1));
    let stops = times(&talk, |what| *what == Content::Stop);
    assert_eq!(stops.len(), 2, "{talk:?}");
    assert!(times(&talk, is_probe).last().is_some_and(|at| *at < 3.0));
}

#[test]
fn one_that_falls_silent_is_asked_anew_after_ten_periods() {
    let (mut world, talk) = world(&[("period", Value::Number(0.1)), ("timeout", Value::Number(0.1))], &[4e6]);
    world.lost_messages = (2..200).collect();
    stream(&mut world, 0, 2.5);
    world.run(s(2.5), &mut through(1, 1));
    let requests = times(&talk, |what| *what == Content::Request);
    assert!((requests[1] - 1.01).abs() < 0.01, "{requests:?}");
}

#[test]
fn an_oracle_with_error_is_off_by_5_to_20_percent_of_what_is_spare_to_both_sides_anew_each_time() {
    let (mut world, _) = world(&[("estimator", word("oracle-error"))], &[4e6]);
    stream(&mut world, 0, 30.0);
    world.run(s(30.0), &mut through(1, 1));
    let errors: Vec<f64> = (2..29)
        .map(|i| mean_feedback(&world, 0, 1, (f64::from(i) + 0.3, f64::from(i) + 0.95)) / 200.0 - 1.0)
        .collect();
    assert!(errors.iter().all(|e| (0.04..0.21).contains(&e.abs())), "{errors:.3?}");
    assert!(errors.iter().any(|e| *e > 0.0) && errors.iter().any(|e| *e < 0.0), "{errors:.3?}");
    assert!(errors.windows(2).all(|pair| pair[0] != pair[1]), "{errors:.3?}");
}

#[test]
fn errors_the_wrong_way_round_are_refused() {
    let given = [("error_least".to_owned(), Value::Number(0.3))];
    let setup = setup(1e6, 1);
    let refused: Result<Box<dyn Element<SimPacket> + Send>, ParameterError> =
        find("xcp-i").unwrap().instance(setup, &given);
    let line = refused.err().map(|e| e.to_string());
    let expected = "xcp-i.error_least = 0.3 is not accepted; give a number up to error_most, which is 0.2";
    assert_eq!(line.as_deref(), Some(expected));
}

fn any_content() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::Request),
        Just(Content::Accepted),
        Just(Content::Stop),
        Just(Content::Probe(vec![])),
        (-1e9..1e9_f64).prop_map(Content::Available),
        Just(Content::Available(f64::NAN)),
        (0..3_u32, 0..70_u16, 0..70_u16).prop_map(|(train, index, packets)| Content::Train {
            train,
            index,
            packets
        }),
        (0..3_u32, prop::collection::vec(0..1_000_000_u64, 0..80)).prop_map(|(train, gaps)| Content::Gaps {
            train,
            gaps: gaps.into_iter().map(Interval::from_ns).collect(),
        }),
    ]
}

proptest! {
    #[test]
    fn whatever_is_said_to_it_and_whenever_a_router_passes_data_on(
        estimator in prop_oneof![Just("oracle"), Just("igi"), Just("ptr")],
        said in prop::collection::vec((0.0..2.0_f64, any_content()), 0..40),
        packets in prop::collection::vec((0.0..2.0_f64, 60..65_u8, any::<bool>()), 1..40),
    ) {
        let mut world = World::new();
        let given = [("estimator", word(estimator)), ("timeout", Value::Number(0.1)), ("inactivity", Value::Number(0.5))];
        world.add_link(1e9, vec![router(0, &given)]);
        world.carry = Some(Box::new(|_, _| None));
        for (at_s, content) in said {
            let message = Message { from: Address(7), to: Address(0), content };
            world.send(s(at_s), 0, SimPacket::control(message, 40));
        }
        let count = packets.len();
        for (at_s, ttl, met) in packets {
            let mut packet = carrying(0);
            packet.ttl = ttl;
            if let Some(trail) = packet.trail_mut() {
                *trail = Trail { ttl: 64, last_router: met.then_some(Address(7)) };
            }
            world.send(s(at_s), 0, packet);
        }
        world.run(s(10.0), &mut crate::driver::ignore);
        prop_assert_eq!(world.sent().count(), count);
        prop_assert!(world.sent().all(|(_, p)| p.trail().is_some_and(|t| t.ttl + 1 == p.ttl) && !feedback(p).is_nan()));
        world.assert_conserves();
    }
}
