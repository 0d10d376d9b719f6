//! A window that something else limits, with every algorithm of the registry: it stays near what is in use,
//! and a queue still shrinks it.

use crate::path::{MSS, Path, RTT_MS, Sent, at_ms, config, ms};
use longfat_transport::cc::{Algorithm, algorithms, find};
use longfat_transport::{SenderConfig, Steer};
use longfat_units::Interval;

/// What may be in flight, segments.
const USED: f64 = 20.0;

fn path(algorithm: &Algorithm, config: SenderConfig) -> Path {
    let controller = algorithm.instance(&[]).expect("defaults");
    Path::new(SenderConfig { loss_detection: algorithm.properties.loss_detection, ..config }, controller)
}

/// The window after 20 s in which pacing, set from outside, keeps [`USED`] segments in flight.
fn paced(algorithm: &Algorithm) -> f64 {
    let mut path = path(algorithm, config()).start();
    path.run_to(at_ms(RTT_MS - 1));
    let rate = Some(USED * 1000.0 / RTT_MS as f64);
    path.sender.steer(path.now, Steer { rate, ..Steer::default() }, &mut |_| ());
    path.run_to(at_ms(20_000)).cwnd()
}

#[test]
fn slow_start_goes_on_to_twice_of_what_was_in_flight() {
    // Linux, tcp_is_cwnd_limited: a window of ten of which all, nine, six or five are used
    for (segments, cwnd) in [(10, 20.0), (9, 18.0), (6, 12.0), (5, 10.0)] {
        let bytes = Some(segments * u64::from(MSS));
        let config = SenderConfig { bytes, slow_start_limit: f64::INFINITY, ..config() };
        let mut path = path(find("reno").expect("registered"), config).start();
        path.run_to_end();
        assert_eq!(path.cwnd(), cwnd, "{segments} segments");
    }
}

/// The window after 20 s in which the receiver has room for [`USED`] segments.
fn narrow(algorithm: &Algorithm, slow_start_limit: f64) -> f64 {
    let config = SenderConfig { max_window: USED, slow_start_limit, ..config() };
    path(algorithm, config).start().run_to(at_ms(20_000)).cwnd()
}

#[test]
fn no_window_grows_far_beyond_what_the_receiver_has_room_for() {
    for algorithm in algorithms() {
        // Models hold a multiple of the rate they see: BBR 2.77 in its start, Vivace two round trips of a
        // rate that its start may have doubled, and probes 5 % above. Hybla adds 2^4 - 1 segments for an
        // acknowledgement in slow-start.
        let [most, of_linux] = match algorithm.name {
            "hybla" => [USED + 15.0, 160.0], // 2^4 - 1 for each of a full first flight of ten
            "ptcp" => [USED + 2.0, 3.0 * USED], // sixteen flows triple in the last round trip that was full
            "vivace" => [1.05 * 4.0 * USED + 2.0; 2],
            _ if algorithm.properties.model_based => [2.77 * USED + 2.0; 2],
            _ => [USED + 2.0, 2.0 * USED + 2.0],
        };
        for (limit, most) in [(2.0, most), (f64::INFINITY, of_linux)] {
            let cwnd = narrow(algorithm, limit);
            assert!(cwnd <= most, "{}: {cwnd} with room for {USED}", algorithm.name);
        }
    }
}

#[test]
fn no_window_grows_far_beyond_twice_of_what_pacing_keeps_in_flight() {
    // the rate replaces that of Vivace, which has no other control
    for algorithm in algorithms().filter(|algorithm| algorithm.name != "vivace") {
        let cwnd = paced(algorithm);
        let most = match algorithm.name {
            "hybla" => 2.0 * USED + 17.0,
            _ if algorithm.properties.model_based => 2.77 * USED + 2.0,
            _ => 2.0 * USED + 2.0,
        };
        assert!(cwnd <= most, "{}: {cwnd} with {USED} in flight", algorithm.name);
    }
}

#[test]
fn algorithms_that_measure_delay_shrink_also_a_window_that_the_receiver_limits() {
    // a queue of 0.4 s grows in 4 s; TCP-LP and HSTCP-LP look at delays after a first loss
    let late = |s: &Sent| -> Interval { ms((s.at.as_ns() / 1_000_000).saturating_sub(5000).min(4000) / 10) };
    for name in ["vegas", "fast", "ledbat", "ledbat++", "cdg", "lp", "hstcp-lp", "copa"] {
        let config = SenderConfig { max_window: 2.0 * USED, ..config() };
        let algorithm = find(name).expect("registered");
        let mut path = path(algorithm, config).delaying(late).losing_once(&[30]).start();
        let before = path.run_to(at_ms(4900)).cwnd();
        let after = path.run_to(at_ms(12_000)).cwnd();
        assert!(after < 0.75 * before, "{name}: {before}, later {after}");
    }
}

#[test]
fn a_window_grows_while_pacing_alone_keeps_it_from_being_filled() {
    // RFC 9002, section 7.8: segments that pacing holds back do not make the window underused
    let mut path = path(find("reno").expect("registered"), config()).start();
    path.run_to(at_ms(RTT_MS - 1));
    path.sender.steer(path.now, Steer { rate: Some(150.0), ..Steer::default() }, &mut |_| ());
    let cwnd = path.run_to(at_ms(2000)).cwnd();
    assert!(cwnd > 25.0, "{cwnd}: 15 segments are in flight");
}

#[test]
fn bursts_keep_a_window_from_growing_beyond_twice_of_what_they_leave_in_flight() {
    // of two segments that each second one acknowledges in slow-start, one stays behind
    let short = SenderConfig { max_burst: 2.0, initial_window: 2.0, ..config() };
    let mut path = path(find("reno").expect("registered"), short).delayed_acks(ms(40)).start();
    for t in 0..100 {
        path.run_to(at_ms(200 * t));
        let (cwnd, most) = (path.cwnd(), 2.0 * path.sender.in_flight() as f64);
        assert!(cwnd <= most.max(10.0) + 2.0, "{cwnd} {most}");
    }
}
