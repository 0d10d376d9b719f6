//! Opening the connection, slow-start and congestion avoidance.

use crate::path::{Path, RTT_MS, Sent, at_ms, config, constant, ms, standard, steady};
use longfat_transport::{Recovery, SenderConfig, SlowStartExit};
use longfat_wire::Kind;

/// The window after this many round trips of data.
fn cwnd_after(path: &mut Path, rounds: u64) -> f64 {
    // acknowledgements of a flight arrive one round trip after it; just before the next ones do, all have
    path.run_to(at_ms(RTT_MS * (rounds + 2) - 1)).cwnd()
}

#[test]
fn data_follow_the_answer_to_the_connection_request() {
    let mut path = Path::new(config(), standard()).start();
    path.run_to(at_ms(RTT_MS));
    let kinds: Vec<_> = path.sent.iter().map(|s| (s.packet.kind, s.at)).collect();
    assert_eq!(kinds[0], (Kind::Syn, at_ms(0)));
    assert!(kinds[1..].iter().all(|&k| k == (Kind::Data, at_ms(RTT_MS))), "{kinds:?}");
    assert_eq!(kinds.len(), 1 + 10, "an initial window of ten segments");
    assert_eq!(path.sender.rtt().srtt(), ms(RTT_MS));
}

#[test]
fn a_connection_request_is_repeated_after_one_second_and_then_after_two() {
    // RFC 6298: initial timeout 1 s (2.1), doubled by each expiry (5.5)
    let mut path = Path::new(config(), standard()).losing(|s| s.packet.kind == Kind::Syn && s.earlier < 2);
    path = path.start();
    path.run_to(at_ms(4000));
    let requests: Vec<_> = path.sent.iter().filter(|s| s.packet.kind == Kind::Syn).map(|s| s.at).collect();
    assert_eq!(requests, [at_ms(0), at_ms(1000), at_ms(3000)]);
    assert_eq!(path.data_between(at_ms(0), at_ms(3000 + RTT_MS)).count(), 0);
    assert!(path.sender.acked_bytes() > 0);
}

#[test]
fn a_lost_connection_request_leaves_an_initial_window_of_one_segment() {
    // RFC 5681, section 3.1
    for lost in [Kind::Syn, Kind::SynAck] {
        let mut path = Path::new(config(), standard())
            .losing(move |s| s.packet.kind == lost && s.earlier == 0)
            .losing_acks(move |now, p| p.kind == lost && now < at_ms(1000))
            .start();
        path.run_to(at_ms(1000 + RTT_MS));
        assert_eq!(path.data_between(at_ms(0), at_ms(2000)).count(), 1, "{lost:?}");
    }
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut path = Path::new(SenderConfig { initial_window: 2.0, ..config() }, standard()).start();
    path.run_to(at_ms(RTT_MS * 8));
    assert_eq!(path.flights(6), [2, 4, 8, 16, 32, 64]);
}

#[test]
fn byte_counting_makes_up_for_delayed_acknowledgements_in_slow_start() {
    // the receiver acknowledges the first 16 segments at once, then every second: RFC 3465 counts both of a
    // pair
    let counting = SenderConfig { initial_window: 16.0, ..config() };
    let mut path = Path::new(counting.clone(), standard()).delayed_acks(ms(40)).start();
    path.run_to(at_ms(RTT_MS * 5));
    assert_eq!(path.flights(4), [16, 32, 64, 128]);
    // without it every acknowledgement counts one segment: growth by half each round trip
    let plain = SenderConfig { byte_counting: false, ..counting };
    let mut path = Path::new(plain, standard()).delayed_acks(ms(40)).start();
    path.run_to(at_ms(RTT_MS * 5));
    assert_eq!(path.flights(4), [16, 32, 48, 72]);
}

#[test]
fn with_a_limit_of_one_segment_an_acknowledgement_of_two_counts_one_in_slow_start_alone() {
    let one = SenderConfig { initial_window: 16.0, slow_start_limit: 1.0, ..config() };
    let mut path = Path::new(one, standard()).delayed_acks(ms(40)).start();
    path.run_to(at_ms(RTT_MS * 5));
    assert_eq!(path.flights(4), [16, 32, 48, 72]);
    let one = SenderConfig { slow_start_limit: 1.0, ..steady(20.0) };
    let grown = cwnd_after(&mut Path::new(one, standard()).delayed_acks(ms(40)).start(), 20) - 20.0;
    assert!((19.0..=20.0).contains(&grown), "{grown}");
}

#[test]
fn without_a_limit_slow_start_doubles_however_few_acknowledgements_arrive() {
    // only the acknowledgement of every eighth segment gets through
    let flights = |slow_start_limit| {
        let config = SenderConfig { initial_window: 16.0, slow_start_limit, ..config() };
        let mut path =
            Path::new(config, standard()).losing_acks(|_, p| p.kind == Kind::Ack && p.seq % 8 != 0).start();
        path.run_to(at_ms(RTT_MS * 5));
        path.flights(4)
    };
    assert_eq!(flights(f64::INFINITY), [16, 32, 64, 128]);
    // two acknowledgements for sixteen segments, which count two each
    assert_eq!(flights(2.0)[..2], [16, 16 + 4]);
}

#[test]
fn slow_start_ends_at_the_initial_threshold() {
    let mut path = Path::new(SenderConfig { initial_ssthresh: 25.0, ..config() }, standard()).start();
    path.run_to(at_ms(RTT_MS * 6));
    // 10, 20, then 25 and one more each round trip (RFC 5681, section 3.1)
    assert_eq!(path.flights(5), [10, 20, 25, 26, 27]);
}

#[test]
fn congestion_avoidance_adds_one_segment_each_round_trip() {
    let mut each = Path::new(steady(20.0), standard()).start();
    let mut pairs = Path::new(steady(20.0), standard()).delayed_acks(ms(40)).start();
    for (path, what) in [(&mut each, "each segment acknowledged"), (&mut pairs, "every second")] {
        let grown = cwnd_after(path, 20) - 20.0;
        assert!((19.0..=20.0).contains(&grown), "{what}: {grown}");
    }
}

#[test]
fn without_byte_counting_delayed_acknowledgements_halve_the_growth_of_congestion_avoidance() {
    let plain = SenderConfig { byte_counting: false, ..steady(20.0) };
    let mut path = Path::new(plain, standard()).delayed_acks(ms(40)).start();
    let first = cwnd_after(&mut path, 2); // quick acknowledgements are over
    let grown = cwnd_after(&mut path, 22) - first;
    assert!((9.0..=10.5).contains(&grown), "{grown}");
}

#[test]
fn limited_slow_start_adds_half_of_max_ssthresh_each_round_trip() {
    // RFC 3742, section 2: K = int(cwnd / (max_ssthresh / 2)), 1 / K segments for each acknowledged one: with
    // max_ssthresh = 100 the window grows by 1/2 a segment for each from 100 on, 1/3 from 150 on, 1/4 from
    // 200 on
    let limited = SenderConfig { initial_window: 100.0, max_ssthresh: 100.0, ..config() };
    let mut path = Path::new(limited, standard()).start();
    let windows: Vec<f64> = (0..8).map(|n| cwnd_after(&mut path, n)).collect();
    for (n, w) in windows.iter().enumerate() {
        let expected = 100.0 + 50.0 * n as f64;
        assert!((w - expected).abs() < 3.0, "after {n} round trips {w}, not {expected}: {windows:?}");
    }
}

#[test]
fn limited_slow_start_is_the_standard_one_up_to_max_ssthresh() {
    let limited = SenderConfig { initial_window: 10.0, max_ssthresh: 100.0, ..config() };
    let mut path = Path::new(limited, standard()).start();
    path.run_to(at_ms(RTT_MS * 6));
    assert_eq!(path.flights(4), [10, 20, 40, 80]);
}

#[test]
fn an_acknowledgement_of_many_segments_adds_at_most_one_in_congestion_avoidance() {
    // RFC 5681, section 3.1: no more than one segment; here only one acknowledgement in 40 gets through
    let mut path =
        Path::new(steady(20.0), standard()).losing_acks(|_, p| p.kind == Kind::Ack && p.seq % 40 != 0);
    path = path.start();
    let mut last = path.cwnd();
    for t in 0..400 {
        let w = path.run_to(at_ms(RTT_MS + 10 * t)).cwnd();
        assert!(w - last <= 1.0, "{last} to {w}");
        last = w;
    }
}

#[test]
fn an_acknowledgement_after_a_timeout_that_covers_more_than_a_window_adds_at_most_one_segment() {
    // segments 31..60 arrive, but 30 and all acknowledgements for a while do not: the retransmission of 30 is
    // answered by one acknowledgement of thirty segments, at a window of no more than a few
    let mut path = Path::new(steady(30.0), standard())
        .losing_once(&[30])
        .losing_acks(|now, p| p.kind == Kind::Ack && (at_ms(240)..at_ms(450)).contains(&now));
    path = path.start();
    path.run_until_counted(|c| c.timeouts == 1);
    path.run_to(path.now + ms(RTT_MS));
    assert!(path.sender.acked_bytes() >= 59_000, "{}", path.sender.acked_bytes());
    assert!(path.cwnd() <= 3.0, "{}", path.cwnd());
}

/// The window in each of three round trips after a timeout. Up to `until_ms` the first `lost` segments are
/// lost; later, only the acknowledgements of every `kept`-th segment arrive.
fn after_a_timeout(slow_start_limit: f64, lost: u64, until_ms: u64, kept: u64) -> Vec<f64> {
    let config = SenderConfig { slow_start_limit, ..steady(40.0) };
    let until = at_ms(until_ms);
    let mut path = Path::new(config, standard())
        .losing(move |s| s.packet.kind == Kind::Data && s.packet.seq < lost && s.at < until)
        .losing_acks(move |now, p| p.kind == Kind::Ack && now > until && p.seq > 1 && p.seq % kept != 0)
        .start();
    path.run_until_counted(|c| c.timeouts > 0);
    (0..3).map(|_| path.run_to(path.now + ms(RTT_MS)).cwnd()).collect()
}

#[test]
fn after_a_timeout_an_acknowledgement_counts_one_segment_or_without_a_limit_all_that_it_reports() {
    // everything was lost; acknowledgements of two segments each
    assert_eq!(after_a_timeout(2.0, 40, 300, 2), [2.0, 3.0, 4.0]);
    assert_eq!(after_a_timeout(f64::INFINITY, 40, 300, 2), [2.0, 3.0, 5.0]);
    // four segments and their retransmissions were lost: the acknowledgement of the last one covers many
    // others too, but these were reported before
    let limited = after_a_timeout(2.0, 4, 499, 1);
    assert_eq!(limited[..2], [2.0, 4.0]);
    assert_eq!(after_a_timeout(f64::INFINITY, 4, 499, 1), limited);
}

#[test]
fn an_acknowledgement_releases_at_most_a_burst_and_the_next_ones_release_the_rest() {
    // nothing but the initial window is to leave: the handshake's answer releases four of twenty segments,
    // each of their acknowledgements four more, until the window is full
    let mut path = Path::new(SenderConfig { max_burst: 4.0, ..steady(20.0) }, constant()).start();
    path.run_to(at_ms(RTT_MS * 4));
    assert_eq!(path.flights(3), [4, 16, 20]);
    // a burst of two is all that slow-start needs
    let narrow = SenderConfig { initial_window: 2.0, max_burst: 2.0, ..config() };
    let mut path = Path::new(narrow, standard()).start();
    path.run_to(at_ms(RTT_MS * 8));
    assert_eq!(path.flights(6), [2, 4, 8, 16, 32, 64]);
}

#[test]
fn a_burst_counts_retransmissions_too() {
    // half of a flight is lost: the first partial acknowledgement would release many of them at once
    for max_burst in [2.0, f64::INFINITY] {
        let config = SenderConfig { max_burst, recovery: Recovery::Prr, ..steady(40.0) };
        let mut path = Path::new(config, standard())
            .losing(|s| s.packet.kind == Kind::Data && s.earlier == 0 && (80..100).contains(&s.packet.seq))
            .losing_acks(|now, p| {
                p.kind == Kind::Ack
                    && now == at_ms(350)
                    && p.seq == 80
                    && p.sack().iter().any(|(_, end)| end < 118)
            })
            .start();
        let mut most = 0;
        path.run_to(at_ms(350));
        while path.now < at_ms(3000) {
            let before = path.sent.len();
            path.run_one_event();
            most = most.max(path.sent.len() - before);
        }
        assert_eq!(path.counters().retransmits, 20, "{max_burst}");
        assert_eq!(most <= 2, max_burst == 2.0, "{most} of {max_burst}");
    }
}

#[test]
fn the_window_does_not_grow_beyond_what_the_receiver_lets_it_use() {
    let narrow = SenderConfig { max_window: 25.0, ..config() };
    let mut path = Path::new(narrow, standard()).start();
    path.run_to(at_ms(RTT_MS * 40));
    assert_eq!(path.flights(39)[10..], [25; 29]);
    assert!(path.cwnd() < 25.0 + 3.0, "{}", path.cwnd());
}

#[test]
fn hystart_plus_slows_growth_to_a_quarter_once_the_round_trip_time_has_risen_and_then_ends_slow_start() {
    // from the third round trip on, packets take 20 ms longer: more than the accepted 12.5 ms
    let watched = SenderConfig { slow_start_exit: SlowStartExit::HystartPlus, ..config() };
    let late = |s: &Sent| ms(if s.at >= at_ms(3 * RTT_MS) { 20 } else { 0 });
    let mut path = Path::new(watched, standard()).delaying(late).start();
    path.run_to(at_ms(1400));
    let cwnd = path.cwnd();
    assert!(path.ssthresh().is_finite() && cwnd >= path.ssthresh(), "{cwnd} {}", path.ssthresh());
    // 10 doubled three or four times, then four or five rounds of a quarter: 80 x 1.25^4 to 160 x 1.25^5
    assert!((195.0..=500.0).contains(&path.ssthresh()), "{cwnd}");
    let plain = SenderConfig { slow_start_exit: SlowStartExit::None, ..config() };
    assert!(Path::new(plain, standard()).delaying(late).start().run_to(at_ms(900)).ssthresh().is_infinite());
}

#[test]
fn search_lets_a_connection_double_on_an_empty_path() {
    let watched = SenderConfig { slow_start_exit: SlowStartExit::Search, initial_window: 2.0, ..config() };
    let mut path = Path::new(watched, standard()).start();
    path.run_to(at_ms(RTT_MS * 10));
    assert_eq!(path.flights(8), (1..=8).map(|n| 1 << n).collect::<Vec<_>>());
}

#[test]
fn where_slow_start_has_no_limit_an_acknowledgement_counts_what_it_is_the_first_to_report() {
    // 2 is late and arrives between 4 and 5, so that 3 and 4 are acknowledged selectively: its
    // acknowledgement covers three segments (RFC 3465 counts them, at most two), and is the first to report
    // one (Linux, tcp_cong_control)
    for (limit, cwnd) in [(2.0, 19.0), (f64::INFINITY, 18.0)] {
        let spread = |s: &Sent| match (s.packet.kind, s.packet.seq) {
            (Kind::Data, 2) => ms(9),
            (Kind::Data, seq) => ms(2 * seq.min(10)),
            _ => ms(0),
        };
        let config = SenderConfig { slow_start_limit: limit, ..config() };
        let mut path = Path::new(config, standard()).reordering().delaying(spread).start();
        path.run_to(at_ms(RTT_MS * 3 - 10));
        assert_eq!((path.cwnd(), path.counters().retransmits), (cwnd, 0));
    }
}
