//! RACK-TLP (RFC 8985): losses found by time, and probes of a tail. The round trip takes 100 ms, so SRTT and
//! the least RTT are 100 ms, a quarter of it is 25 ms, two of it are 200 ms, and the retransmission timeout
//! is 300 ms.

use crate::path::{Constant, Path, RTT_MS, Sent, at_ms, config, constant, ms, standard, steady};
use longfat_transport::cc::{
    Ack, Congestion, CongestionControl, Controller, LossDetection, Properties, Window,
};
use longfat_transport::{Recovery, RttSamples, SenderConfig};
use longfat_units::{Interval, Time};
use longfat_wire::Kind;
use std::sync::{Arc, Mutex};

fn by_time(config: SenderConfig) -> SenderConfig {
    SenderConfig { loss_detection: LossDetection::Rack, ..config }
}

/// So many segments, all but those lost sent once.
fn transfer(segments: u64, window: f64) -> SenderConfig {
    by_time(SenderConfig { bytes: Some(1000 * segments), ..steady(window) })
}

/// The timeouts, the congestion events and what was sent again.
fn repairs(path: &Path) -> (u64, u64, Vec<(Time, u64)>) {
    (path.counters().timeouts, path.counters().congestion_events, path.again())
}

#[test]
fn a_probe_repairs_a_lost_tail_without_a_timeout() {
    // 0 to 9 leave at 100 ms, 10 to 24 at 200, and the last acknowledgement comes at 300. Two segments are
    // under way from then on, so the probe is due after 2 SRTT. Its acknowledgement comes at 600 and finds 23
    // lost.
    let mut path = Path::new(by_time(SenderConfig { bytes: Some(25_000), ..config() }), standard())
        .losing_once(&[23, 24])
        .start();
    path.run_to_end();
    assert_eq!(repairs(&path), (0, 1, vec![(at_ms(500), 24), (at_ms(600), 23)]));
}

#[test]
fn the_probe_of_a_single_segment_waits_for_a_delayed_acknowledgement_but_not_beyond_the_timeout() {
    // section 7.2: 2 x 100 + 200 ms would be 700 ms, the timeout expires 300 ms after the last
    // acknowledgement
    let mut path = Path::new(by_time(SenderConfig { bytes: Some(25_000), ..config() }), standard())
        .losing_once(&[24])
        .start();
    path.run_to_end();
    assert_eq!(repairs(&path), (0, 0, vec![(at_ms(600), 24)]));
    assert_eq!(path.receiver().duplicates, 0);
}

#[test]
fn the_probe_of_a_lost_flight_is_new_data_beyond_the_window_and_finds_all_of_it_lost() {
    // the flight of 300 ms is lost. The probe is due at 300 + 200 ms; its acknowledgement comes at 600, when
    // the timeout would have expired, and says that a segment sent 200 ms after the flight has arrived
    let lost = |s: &Sent| s.packet.kind == Kind::Data && (20..30).contains(&s.packet.seq) && s.earlier == 0;
    let mut path = Path::new(by_time(steady(10.0)), constant()).losing(lost).start();
    path.run_to(at_ms(599));
    let probes: Vec<_> = path.data_between(at_ms(301), at_ms(599)).map(|s| (s.at, s.packet.seq)).collect();
    assert_eq!(probes, [(at_ms(500), 30)]);
    path.run_to(at_ms(RTT_MS * 30));
    assert_eq!((path.counters().timeouts, path.counters().congestion_events), (0, 1));
    assert_eq!((path.counters().retransmits, path.receiver().duplicates), (10, 0));
}

#[test]
fn one_tail_gets_one_probe_and_then_the_timeout() {
    // section 7.3: the path is dead from 250 ms on; the probe leaves at 500, the timeout expires 300 ms later
    let mut path = Path::new(transfer(30, 10.0), constant()).losing(|s| s.at >= at_ms(250)).start();
    path.run_to(at_ms(850));
    assert_eq!(repairs(&path), (1, 1, vec![(at_ms(500), 29), (at_ms(800), 20)]));
}

#[test]
fn a_lost_first_flight_gets_a_probe_after_the_round_trip_of_the_request() {
    // section 7.3: there is a sample since the start of the connection. 0 and 1 leave at 100 ms; the probe's
    // acknowledgement finds 0 lost when the timeout would have expired.
    let mut path = Path::new(transfer(2, 20.0), constant()).losing_once(&[0, 1]).start();
    path.run_to_end();
    assert_eq!(repairs(&path), (0, 1, vec![(at_ms(300), 1), (at_ms(400), 0)]));
}

#[test]
fn without_timestamps_an_acknowledgement_a_round_trip_after_a_retransmission_counts_as_its_own() {
    // Section 6.2, step 2. 0 and 1 are lost or late, and sent again at 200 ms, which is lost too. The
    // original of 1 arrives at 300 and is acknowledged at 350: with timestamps it says nothing of the second
    // 0.
    let run = |timestamps| {
        let lost = |s: &Sent| {
            let data = s.packet.kind == Kind::Data;
            data && ((s.packet.seq == 0 && s.earlier < 2) || (s.packet.seq == 1 && s.earlier == 1))
        };
        let slow = |s: &Sent| {
            let delayed = s.packet.kind == Kind::Data && s.packet.seq == 1;
            if delayed { ms(150) } else { Interval::ZERO }
        };
        let config = SenderConfig { timestamps, ..transfer(6, 20.0) };
        let mut path = Path::new(config, constant()).losing(lost).reordering().delaying(slow).start();
        path.run_to_end();
        (path.counters().timeouts, path.again())
    };
    let sent_again = |third| vec![(at_ms(200), 0), (at_ms(200), 1), (at_ms(third), 0)];
    assert_eq!(run(false), (0, sent_again(350)));
    assert_eq!(run(true), (1, sent_again(500)));
}

#[test]
fn a_loss_that_the_probe_repairs_alone_is_a_congestion_event_once_later_data_arrive() {
    // section 7.4.2: one segment at a time; 5 leaves at 600 ms and is lost
    let single = SenderConfig { max_window: 1.0, ..transfer(12, 10.0) };
    let mut path = Path::new(single, constant()).losing_once(&[5]).start();
    path.run_to(at_ms(1001));
    // the probe left at 900 ms, when the timeout would have expired; 6 left at 1000
    assert_eq!(repairs(&path), (0, 0, vec![(at_ms(900), 5)]));
    path.run_to(at_ms(1101));
    assert_eq!((path.counters().congestion_events, path.cwnd(), path.ssthresh()), (1, 5.0, 5.0));
    path.run_to_end();
    assert_eq!(path.counters().congestion_events, 1);
}

#[test]
fn a_probe_that_was_not_needed_is_no_congestion_event() {
    // The acknowledgement of 5 is lost, so the receiver gets it twice. The duplicate says so without DSACK
    // (case 2).
    let single = SenderConfig { max_window: 1.0, ..transfer(12, 10.0) };
    let slow = |s: &Sent| {
        let delayed = s.packet.kind == Kind::Data && s.packet.seq == 5 && s.earlier == 0;
        if delayed { ms(250) } else { Interval::ZERO }
    };
    // it arrives at 600 + 250 + 50 ms and its acknowledgement is back at 950, after the probe of 900 ms
    let mut path = Path::new(single, constant()).delaying(slow).start();
    path.run_to_end();
    assert_eq!(repairs(&path), (0, 0, vec![(at_ms(900), 5)]));
    assert_eq!(path.receiver().duplicates, 1);
}

#[test]
fn a_lost_retransmission_is_found_when_a_later_one_arrives() {
    // section 9.1, example 2: the retransmission of 20 is lost, that of 22 arrives. Counting to three needs a
    // timeout.
    let again = |s: &Sent| s.packet.kind == Kind::Data && s.packet.seq == 20 && s.earlier < 2;
    let other = |s: &Sent| s.packet.kind == Kind::Data && s.packet.seq == 22 && s.earlier < 1;
    let run = |detection| {
        let config = SenderConfig { loss_detection: detection, ..transfer(30, 10.0) };
        let mut path = Path::new(config, constant()).losing(move |s| again(s) || other(s)).start();
        path.run_to_end();
        path
    };
    let expected = vec![(at_ms(400), 20), (at_ms(400), 22), (at_ms(500), 20)];
    assert_eq!(repairs(&run(LossDetection::Rack)), (0, 1, expected));
    assert_eq!(run(LossDetection::Sack).counters().timeouts, 1);
}

#[test]
fn fewer_than_three_duplicates_wait_for_a_quarter_of_the_least_round_trip() {
    for (after, expected) in [(1, 225), (2, 225), (3, 200)] {
        let mut path = Path::new(transfer(1 + after, 20.0), constant()).losing_once(&[0]).start();
        path.run_to_end();
        assert_eq!(repairs(&path), (0, 1, vec![(at_ms(expected), 0)]), "{after} after the hole");
    }
}

#[test]
fn a_segment_that_is_late_by_less_than_the_reordering_window_is_not_sent_again() {
    for (late, retransmits) in [(24, 0), (26, 1)] {
        let slow = move |s: &Sent| {
            let delayed = s.packet.kind == Kind::Data && s.packet.seq == 6;
            if delayed { ms(late) } else { Interval::ZERO }
        };
        let mut path = Path::new(transfer(30, 3.0), constant()).reordering().delaying(slow).start();
        path.run_to_end();
        assert_eq!(path.counters().retransmits, retransmits, "{late} ms");
        assert_eq!(path.counters().congestion_events, retransmits, "{late} ms");
    }
}

#[test]
fn once_reordering_was_seen_three_duplicates_are_no_loss() {
    // 1 arrives after 2, and shows that the path reorders; 40 arrives after twenty others
    let run = |reordered: bool| {
        let slow = move |s: &Sent| {
            let delayed = s.packet.seq == 40 || (reordered && s.packet.seq == 1);
            if s.packet.kind == Kind::Data && delayed { ms(20) } else { Interval::ZERO }
        };
        let growing = by_time(SenderConfig { initial_window: 3.0, bytes: Some(100_000), ..config() });
        let mut path = Path::new(growing, standard()).reordering().delaying(slow).start();
        path.run_to_end();
        path.counters().retransmits
    };
    assert_eq!((run(true), run(false)), (0, 1));
}

#[test]
fn every_pattern_of_losses_is_repaired_with_either_proportional_reduction() {
    for recovery in [Recovery::RateHalving, Recovery::Prr, Recovery::Prr9937] {
        for pattern in 0u32..1024 {
            let config = SenderConfig { recovery, ..transfer(30, 10.0) };
            let mut path = Path::new(config, standard()).losing(move |s| {
                s.packet.kind == Kind::Data
                    && (10..20).contains(&s.packet.seq)
                    && s.earlier == 0
                    && pattern >> (s.packet.seq - 10) & 1 == 1
            });
            path = path.start();
            path.run_to_end();
            let c = path.counters();
            assert_eq!(c.retransmits, u64::from(pattern.count_ones()), "{recovery:?} {pattern:010b}");
            assert_eq!((c.timeouts, path.receiver().duplicates), (0, 0), "{recovery:?} {pattern:010b}");
        }
    }
}

#[test]
fn a_recovery_of_a_segment_that_was_only_late_is_undone_and_shows_reordering() {
    // 20 arrives 20 ms late, after more than three others: it is sent again and the window halved. Its
    // acknowledgement echoes the stamp of the original (RFC 3522). When 80 is as late, 25 ms are waited.
    let slow = |s: &Sent| ms(if matches!(s.packet.seq, 20 | 80) && s.earlier == 0 { 20 } else { 0 });
    let spread = Controller::custom(Properties::CUSTOM, Constant { pacing_rate_pps: Some(200.0) });
    let mut path = Path::new(transfer(200, 20.0), spread).reordering().delaying(slow).start();
    path.run_to_end();
    assert_eq!((path.counters().congestion_events, path.counters().undone), (1, 1));
    assert_eq!((path.cwnd(), path.again().len()), (20.0, 1));
    // without timestamps a DSACK says so when the retransmission has arrived too, a round trip later
    let silent = SenderConfig { timestamps: false, ..transfer(200, 20.0) };
    let spread = Controller::custom(Properties::CUSTOM, Constant { pacing_rate_pps: Some(200.0) });
    let mut path = Path::new(silent, spread).reordering().delaying(slow).start();
    let undone = path.run_until_counted(|c| c.undone == 1);
    let (again, _) = path.again()[0];
    assert_eq!(undone, again + ms(RTT_MS));
    assert_eq!((path.cwnd(), path.counters().congestion_events), (20.0, 1));
}

/// Paced at 200 packets a second, with a window that nothing reduces.
struct Steadfast;

impl CongestionControl for Steadfast {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = w.cwnd;
    }
    fn pacing_rate(&self, _: &Window, _: Interval) -> Option<f64> {
        Some(200.0)
    }
}

#[test]
fn dsacks_lengthen_the_reordering_window_by_a_step_for_each_round_trip_until_sixteen_recoveries_had_none() {
    // every third segment is late by 45 ms, more than a quarter of the round trip, and nothing is lost: the
    // window grows to 50 ms, and nothing is sent again from then on (RFC 8985, section 6.2, step 4)
    let slow = |s: &Sent| ms(if s.packet.seq.is_multiple_of(3) && s.earlier == 0 { 45 } else { 0 });
    let spread = || Controller::custom(Properties::CUSTOM, Steadfast);
    let mut path = Path::new(transfer(1000, 20.0), spread()).reordering().delaying(slow).start();
    path.run_to_end();
    let last = path.again().last().expect("the first ones were sent again").0;
    assert!(last < at_ms(1000), "{last:?}");
    // then nothing is late, and one in forty is lost, from 321 on, until this many recoveries are over:
    // segments that are late by 45 ms again are sent again if there were sixteen
    let needless = |recoveries: u64| {
        let (from, to) = (321, 321 + 40 * recoveries);
        let slow = move |s: &Sent| {
            let late = s.packet.seq.is_multiple_of(3) && s.earlier == 0;
            ms(if late && (s.packet.seq < from || s.packet.seq > to + 40) { 45 } else { 0 })
        };
        let lost =
            move |s: &Sent| s.earlier == 0 && (from..to).contains(&s.packet.seq) && s.packet.seq % 40 == 1;
        let mut path =
            Path::new(transfer(to + 160, 20.0), spread()).reordering().delaying(slow).losing(lost).start();
        path.run_to_end();
        path.again().iter().filter(|(_, seq)| (to + 40..to + 100).contains(seq)).count()
    };
    assert_eq!(needless(15), 0);
    assert!(needless(16) > 0);
}

#[test]
fn nothing_is_undone_where_segments_are_lost_but_none_is_late() {
    // each episode begins with holes that the one before has already sent again: their acknowledgements echo
    // times from before it, and show nothing
    for (detection, stamps) in
        [(LossDetection::Rack, true), (LossDetection::Rack, false), (LossDetection::Sack, true)]
    {
        for seed in 0..40_u64 {
            let mut state = seed;
            let lossy = move |s: &Sent| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                s.packet.kind == Kind::Data && (state >> 33).is_multiple_of(12)
            };
            let config = SenderConfig {
                loss_detection: detection,
                timestamps: stamps,
                recovery: Recovery::Prr9937,
                ..transfer(1500, 60.0)
            };
            let mut path = Path::new(config, standard()).losing(lossy).start();
            path.run_to_end();
            assert_eq!(path.counters().undone, 0, "{detection:?} {stamps} {seed}");
        }
    }
}

#[test]
fn recovery_finds_at_once_what_waited_for_the_reordering_window() {
    // 0 to 3 leave 10 ms apart and 0 and 1 are lost, so there are duplicates at 220 and 230 ms. Then 0 is
    // late, as it has been since 100 + 100 + 25 ms. Recovery needs no reordering window, so 1 is not waited
    // for until 235 ms. (Rate halving would hold it back.)
    let paced = Controller::custom(Properties::CUSTOM, Constant { pacing_rate_pps: Some(100.0) });
    let config = SenderConfig { recovery: Recovery::Prr, ..transfer(4, 20.0) };
    let mut path = Path::new(config, paced).losing_once(&[0, 1]).start();
    path.run_to_end();
    assert_eq!(repairs(&path), (0, 1, vec![(at_ms(230), 0), (at_ms(230), 1)]));
}

#[test]
fn any_random_losses_of_data_and_acknowledgements_are_repaired() {
    // a third of all packets is lost, retransmissions and probes too
    for seed in 0u64..200 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut lost = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33 & 1023 < 340
        };
        let mut ack_state = seed | 1;
        let mut ack_lost = move || {
            ack_state =
                ack_state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ack_state >> 33 & 1023 < 100
        };
        let recovery = [Recovery::RateHalving, Recovery::Prr, Recovery::Prr9937][(seed % 3) as usize];
        let mut path = Path::new(SenderConfig { recovery, ..transfer(99, 3.0) }, standard())
            .losing(move |_| lost())
            .losing_acks(move |_, _| ack_lost())
            .delaying(|s| Interval::from_ns(664_967 * (s.packet.seq % 10))) // they leave at times of their own
            .start();
        path.run_to_end();
        assert_eq!(path.receiver().delivered(), 99, "{seed}");
    }
}

/// From segment 100 on each takes 10 ms longer than the one before it, up to 400 ms: a queue fills.
fn filling(s: &Sent) -> Interval {
    let behind = if s.packet.kind == Kind::Data { s.packet.seq.saturating_sub(100).min(40) } else { 0 };
    ms(10 * behind)
}

#[test]
fn a_repair_behind_a_queue_that_fills_does_not_time_out_while_segments_sent_before_it_arrive() {
    // 110 is lost, and sent again at some 430 ms; 300 ms later it still waits in the queue, and what was sent
    // before it arrives. By echoes no round-trip time is known in the meantime, and nothing restarts the
    // timer.
    let timeouts = |rtt_samples| {
        let config = SenderConfig { rtt_samples, ..by_time(steady(60.0)) };
        let mut path = Path::new(config, constant()).losing_once(&[110]).delaying(filling).start();
        path.run_to(at_ms(3000));
        path.counters().timeouts
    };
    assert_eq!([RttSamples::Last, RttSamples::Numbered].map(timeouts), [0, 0]);
    assert_eq!(timeouts(RttSamples::Echoed), 1);
}

#[test]
fn selective_acknowledgements_smooth_the_round_trip_time_where_segments_are_known_by_number() {
    let smoothed = |rtt_samples| {
        let config = SenderConfig { rtt_samples, ..by_time(steady(60.0)) };
        let mut path = Path::new(config, constant()).losing_once(&[110]).delaying(filling).start();
        path.run_to(at_ms(700)); // 110 is not acknowledged yet
        assert_eq!(path.acks.last().map(|(_, ack)| ack.seq), Some(110));
        path.sender.rtt().srtt()
    };
    // the times of 30 segments above it rise by 10 ms each, and the smoothed one is eight of them behind
    assert!(smoothed(RttSamples::Echoed) < ms(150));
    assert!([RttSamples::Last, RttSamples::Numbered].map(smoothed).iter().all(|&rtt| rtt > ms(300)));
}

#[test]
fn linux_smooths_the_time_of_the_first_segment_that_an_acknowledgement_covers_and_quic_that_of_the_last() {
    // segments leave 5 ms apart, and every second one is acknowledged
    let smoothed = |rtt_samples| {
        let apart = Controller::custom(Properties::CUSTOM, Constant { pacing_rate_pps: Some(200.0) });
        let config = SenderConfig { rtt_samples, ..by_time(steady(60.0)) };
        let mut path = Path::new(config, apart).delayed_acks(ms(40)).start();
        path.run_to(at_ms(3000));
        path.sender.rtt().srtt().as_secs_f64() * 1e3
    };
    assert!((smoothed(RttSamples::Last) - 105.0).abs() < 0.1, "{}", smoothed(RttSamples::Last));
    assert!((smoothed(RttSamples::Numbered) - 100.0).abs() < 0.1, "{}", smoothed(RttSamples::Numbered));
    assert!((smoothed(RttSamples::Echoed) - 105.0).abs() < 0.1, "{}", smoothed(RttSamples::Echoed));
}

/// When acknowledgements came, and the round-trip times that they gave.
type Samples = Vec<(Time, Option<Interval>)>;

/// Leaves the window alone, and keeps what acknowledgements give it.
struct Times(Arc<Mutex<Samples>>);

impl CongestionControl for Times {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_sample(&mut self, ack: &Ack) {
        self.0.lock().expect("no thread has panicked").push((ack.now, ack.rtt));
    }
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = w.cwnd;
    }
}

/// The round-trip times that an algorithm gets on this path, and the smoothed one at the end.
fn times(config: SenderConfig, end: Time, path: impl FnOnce(Path) -> Path) -> (Samples, Interval) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut path = path(Path::new(
        config,
        Controller::custom(Properties { samples: true, ..Properties::CUSTOM }, Times(kept.clone())),
    ))
    .start();
    path.run_to(end);
    let all = kept.lock().expect("no thread has panicked").clone();
    (all, path.sender.rtt().srtt())
}

#[test]
fn the_acknowledgement_of_a_probe_of_a_segment_gives_the_round_trip_time_of_the_probe() {
    for rtt_samples in [RttSamples::Last, RttSamples::Numbered] {
        let config = SenderConfig { bytes: Some(25_000), rtt_samples, ..by_time(config()) };
        let (times, _) = times(config, at_ms(2000), |path| path.losing_once(&[24]));
        assert_eq!(times.last(), Some(&(at_ms(800), Some(ms(100)))), "{rtt_samples:?}");
    }
}

#[test]
fn by_number_an_original_that_arrives_late_is_not_taken_for_its_repetition() {
    // from segment 100 on data take 600 ms longer; the timer expires before that
    let late = |s: &Sent| {
        let late = s.packet.kind == Kind::Data && s.packet.seq >= 100;
        if late { ms(600) } else { Interval::ZERO }
    };
    let config = SenderConfig { rtt_samples: RttSamples::Numbered, ..by_time(steady(20.0)) };
    let (times, _) = times(config, at_ms(1400), |path| path.delaying(late));
    let during: Vec<_> = times.iter().filter(|time| time.0 > at_ms(1000)).collect();
    assert!(during.len() > 10, "{during:?}");
    assert!(during.iter().all(|time| time.1.is_none_or(|rtt| rtt >= ms(700))), "{during:?}");
}

#[test]
fn by_number_only_the_newest_segment_gives_a_round_trip_time_and_in_linux_each_one_does() {
    // 45 arrives 20 ms late, within the reordering window
    let late = |s: &Sent| if s.packet.seq == 45 { ms(20) } else { Interval::ZERO };
    let smoothed = |rtt_samples| {
        let config = SenderConfig { rtt_samples, ..by_time(steady(20.0)) };
        times(config, at_ms(425), |path| path.reordering().delaying(late)).1
    };
    assert_eq!(smoothed(RttSamples::Numbered), ms(100));
    assert!(smoothed(RttSamples::Last) > ms(102), "{:?}", smoothed(RttSamples::Last));
}

#[test]
fn each_repair_of_the_first_segment_has_a_whole_timeout() {
    // 110 and its first repair are lost, and everything from the second repair on
    let gone = |s: &Sent| s.packet.kind == Kind::Data && s.packet.seq == 110 && s.earlier < 3;
    let mut silent = false;
    let mut path = Path::new(by_time(steady(20.0)), constant())
        .losing(move |s| {
            silent |= s.packet.seq == 110 && s.earlier == 2;
            silent && s.at < at_ms(1500) || gone(s)
        })
        .start();
    path.run_to(at_ms(1500));
    let repairs: Vec<_> = path.again().into_iter().filter(|&(_, seq)| seq == 110).collect();
    let [_, second, third] = repairs[..3] else { panic!("{repairs:?}") };
    assert_eq!(third.0.since(second.0), ms(300));
}
