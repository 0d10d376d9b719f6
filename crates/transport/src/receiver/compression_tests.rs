//! Which acknowledgements wait for each other above a gap, and for how long.

use super::{Receiver, ReceiverConfig};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Kind, SimPacket};

const MS: u64 = 1_000_000;

fn compressing(longest: Interval) -> Receiver {
    Receiver::new(ReceiverConfig {
        flow: FlowId(0),
        delayed_ack: Some(Interval::from_millis(40)),
        quick_acks: 0,
        sack: true,
        sack_compression: longest,
        timestamps: true,
        uncounted_hops: 1,
    })
}

fn at(us: u64) -> Time {
    Time::from_ns(1000 * us)
}

fn packet(kind: Kind, seq: u64) -> SimPacket {
    SimPacket::new(kind, FlowId(0), seq, 1500, at(seq))
}

/// Opens a connection with this handshake; the first two segments are acknowledged.
fn opened(longest: Interval, rtt_us: u64) -> Receiver {
    let mut r = compressing(longest);
    r.on_packet(at(0), &packet(Kind::Syn, 0));
    for seq in 0..2 {
        r.on_packet(at(rtt_us), &packet(Kind::Data, seq));
    }
    r
}

/// Lets these segments arrive every 357 us from 100 ms on, as at 33.6 Mbit/s, with the timer in between;
/// returns when each acknowledgement leaves (us after the first segment), and what the first block of each
/// then ends with.
fn acks(r: &mut Receiver, segments: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut tell = |now: Time, ack: Option<SimPacket>| {
        let Some(ack) = ack else { return };
        let end = ack.sack().iter().next().map_or(ack.seq, |(_, end)| end);
        found.push(((now.as_ns() - 100 * MS) / 1000, end));
    };
    for (i, seq) in segments.into_iter().enumerate() {
        let now = at(100_000 + 357 * i as u64);
        while r.wake() <= now {
            let wake = r.wake();
            tell(wake, r.on_timer(wake));
        }
        tell(now, r.on_packet(now, &packet(Kind::Data, seq)));
    }
    if r.wake() != Time::NEVER {
        let wake = r.wake();
        tell(wake, r.on_timer(wake));
    }
    found
}

/// A live trace of this rate has four segments in most acknowledgements, 1.42 to 1.45 ms apart.
#[test]
fn above_a_gap_three_acknowledgements_leave_at_once_and_the_others_every_1_1_ms() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    let found = acks(&mut r, 3..14);
    // segments 3, 4 and 5 at once; 6 waits from 1071 us on for 7, 8 and 9; 10 from 2499 us on for the others
    assert_eq!(found, [(0, 4), (357, 5), (714, 6), (2171, 10), (3599, 14)]);
}

#[test]
fn a_receiver_that_does_not_compress_acknowledges_each_segment_above_a_gap() {
    assert_eq!(acks(&mut opened(Interval::ZERO, 60_000), 3..14).len(), 11);
}

#[test]
fn on_a_short_path_they_wait_for_a_twentieth_of_the_round_trip_time() {
    // 6 ms / 20 + 0.1 ms = 0.4 ms: each waits for one other
    let mut r = opened(Interval::from_millis(1), 6000);
    assert_eq!(acks(&mut r, 3..8), [(0, 4), (357, 5), (714, 6), (1471, 8)]);
}

#[test]
fn what_closes_the_gap_and_what_comes_below_it_again_is_acknowledged_at_once() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    // 6 waits; 2 closes the gap at 1428 us, and its acknowledgement is that of 6 too; 2 comes again, and the
    // block of what came twice ends with it
    assert_eq!(acks(&mut r, [3, 4, 5, 6, 2, 2]), [(0, 4), (357, 5), (714, 6), (1428, 7), (1785, 3)]);
}

#[test]
fn what_comes_above_the_gap_again_waits_as_others_do() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    assert_eq!(acks(&mut r, [3, 4, 5, 5]), [(0, 4), (357, 5), (714, 6), (2171, 6)]);
}

#[test]
fn a_repair_below_another_gap_leaves_at_once_and_lets_three_others_do_so_again() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    let found = acks(&mut r, [3, 5, 6, 7, 2, 8, 9, 10, 11]);
    // 7 waits, 2 closes the first gap and moves what is expected by two, then 8, 9 and 10 leave at once, and
    // 11 waits
    assert_eq!(found[..3], [(0, 4), (357, 6), (714, 7)]);
    assert_eq!(found[3..], [(1428, 8), (1785, 9), (2142, 10), (2499, 11), (3956, 12)]);
}

#[test]
fn a_repair_of_one_segment_alone_is_one_of_the_three() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    // 2 and 3 are missing; 2 moves what is expected by one
    let found = acks(&mut r, [4, 5, 6, 7, 2, 8, 9, 10]);
    assert_eq!(found[..3], [(0, 5), (357, 6), (714, 7)]);
    assert_eq!(found[3..], [(1428, 8), (1785, 9), (2142, 10), (3599, 11)]);
}

#[test]
fn a_request_that_comes_again_does_not_change_the_round_trip_time() {
    // as on a path of 6 ms, where each waits for one other
    for again_us in [3_000, 50_000] {
        let mut r = compressing(Interval::from_millis(1));
        let mut arrivals = vec![(0, Kind::Syn, 0), (6000, Kind::Data, 0), (6000, Kind::Data, 1)];
        arrivals.push((again_us, Kind::Syn, 0));
        arrivals.sort_by_key(|&(us, ..)| us);
        for (us, kind, seq) in arrivals {
            r.on_packet(at(us), &packet(kind, seq));
        }
        assert_eq!(acks(&mut r, 3..8), [(0, 4), (357, 5), (714, 6), (1471, 8)], "{again_us}");
    }
}

#[test]
fn a_third_block_sends_off_what_waits_and_then_waits_itself() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    let found = acks(&mut r, [3, 4, 5, 7, 9]);
    // 7 waits from 1071 us on; 9 at 1428 us is a third block: what is told is 7, and 9 waits
    assert_eq!(found, [(0, 4), (357, 5), (714, 6), (1428, 8), (2528, 10)]);
}

#[test]
fn an_acknowledgement_that_has_waited_tells_of_the_segments_on_both_sides_of_a_gap() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    acks(&mut r, 3..6);
    // 6 extends the block, 7 is missing, and three segments follow, more than an acknowledgement has blocks
    let mut arrivals = [6, 8, 9, 10].into_iter().enumerate();
    let waits = |(i, seq)| r.on_packet(at(110_000 + i as u64), &packet(Kind::Data, seq)).is_none();
    assert!(arrivals.all(waits));
    let ack = r.on_timer(r.wake()).unwrap();
    assert_eq!(ack.sack().iter().collect::<Vec<_>>(), [(8, 11), (3, 7)]);
}

proptest::proptest! {
    #[test]
    fn acknowledgements_tell_of_every_segment_that_has_come(
        arrivals in proptest::collection::vec((0u64..40, 1u64..2000), 1..200)
    ) {
        let mut r = opened(Interval::from_millis(1), 60_000);
        let mut told = [false; 40];
        let mut hear = |ack: Option<SimPacket>| {
            let Some(ack) = ack else { return };
            told[..ack.seq.min(40) as usize].fill(true);
            for (start, end) in ack.sack().iter() {
                told[start as usize..end as usize].fill(true);
            }
        };
        let mut us = 100_000;
        for &(seq, gap_us) in &arrivals {
            us += gap_us;
            while r.wake() <= at(us) {
                hear(r.on_timer(r.wake()));
            }
            hear(r.on_packet(at(us), &packet(Kind::Data, seq)));
        }
        while r.wake() != Time::NEVER {
            hear(r.on_timer(r.wake()));
        }
        for (seq, _) in arrivals {
            proptest::prop_assert!(told[seq as usize], "{}", seq);
        }
    }
}

#[test]
fn no_more_than_44_wait() {
    let mut r = opened(Interval::from_millis(1), 60_000);
    let now = at(100_000);
    let left: Vec<u64> =
        (3..100).filter(|&seq| r.on_packet(now, &packet(Kind::Data, seq)).is_some()).collect();
    assert_eq!(left, [3, 4, 5, 50, 95]);
}

#[test]
fn nothing_waits_while_acknowledgements_are_quick() {
    let mut r =
        Receiver::new(ReceiverConfig { quick_acks: 16, ..opened(Interval::from_millis(1), 60_000).config });
    let now = at(100_000);
    assert!((3..19).all(|seq| r.on_packet(now, &packet(Kind::Data, seq)).is_some()));
}
