//! The retransmission timer.

use crate::path::{Path, RTT_MS, Sent, at_ms, config, constant, ms, standard, steady};
use longfat_transport::cc::{
    Ack, Congestion, CongestionControl, Controller, LossDetection, Properties, Window,
};
use longfat_transport::{FirstReduction, Happened, Recovery, SenderConfig, TimeoutReductions};
use longfat_units::{Interval, Time};
use longfat_wire::Kind;

const ALL: [LossDetection; 5] = [
    LossDetection::Sack,
    LossDetection::Rack,
    LossDetection::NewReno,
    LossDetection::RenoClassic,
    LossDetection::Tahoe,
];

/// Drops everything that leaves in [from, to).
fn silent(from_ms: u64, to_ms: u64) -> impl FnMut(&Sent) -> bool {
    move |s| (at_ms(from_ms)..at_ms(to_ms)).contains(&s.at)
}

fn timeouts(path: &mut Path) -> Vec<Time> {
    path.log().iter().filter(|e| e.1 == Happened::Timeout).map(|e| e.0).collect()
}

#[test]
fn timeouts_in_a_row_double_their_distance_and_hold_ssthresh() {
    // RFC 6298, 5.5 and RFC 5681, section 3.1
    for detection in ALL {
        let mut path = Path::new(SenderConfig { loss_detection: detection, ..steady(40.0) }, constant())
            .losing(silent(450, 9000))
            .start();
        path.run_to(at_ms(9000));
        let at = timeouts(&mut path);
        assert!(at.len() >= 4, "{detection:?} {at:?}");
        for t in at.windows(3) {
            assert_eq!(t[2].since(t[1]).as_ns(), 2 * t[1].since(t[0]).as_ns(), "{detection:?} {at:?}");
        }
        assert_eq!((path.cwnd(), path.ssthresh()), (1.0, 20.0), "{detection:?}");
        assert_eq!(path.counters().congestion_events, 1, "{detection:?}");
        // one segment for each timeout: the first one not acknowledged
        let again = path.again();
        assert_eq!(again.len(), at.len(), "{detection:?}");
        assert!(again.iter().all(|a| a.1 == again[0].1), "{detection:?} {again:?}");
    }
}

#[test]
fn the_first_timeout_comes_when_an_acknowledgement_is_late_by_the_margin() {
    // a steady round trip of 100 ms and a margin of at least 200 ms; the timer restarts with each
    // acknowledgement
    let mut path = Path::new(steady(20.0), constant()).losing(silent(1950, 100_000)).start();
    path.run_until_counted(|c| c.timeouts == 1);
    // the last flight that got through left at 1900 ms
    let waited = path.now.since(at_ms(2000));
    assert!((ms(300)..=ms(310)).contains(&waited), "{waited:?}");
}

#[test]
fn after_a_silence_the_transfer_goes_on_by_slow_start() {
    for detection in ALL {
        let finite = SenderConfig { loss_detection: detection, bytes: Some(300_000), ..steady(30.0) };
        let mut path = Path::new(finite, standard()).losing(silent(450, 1500)).start();
        let first = path.run_until_counted(|c| c.timeouts == 1);
        path.run_to_end();
        assert!(path.now.since(first) < ms(6000), "{detection:?}: {:?} after {first:?}", path.now);
        assert_eq!(path.sender.acked_bytes(), 300_000, "{detection:?}");
        let resumed = path.data_between(at_ms(1500), Time::NEVER).next().expect("it went on").at;
        let flights: Vec<_> = (0..4)
            .map(|i| path.data_between(resumed + ms(RTT_MS * i), resumed + ms(RTT_MS * (i + 1))).count())
            .collect();
        assert_eq!(flights, [1, 2, 4, 8], "{detection:?}");
    }
}

#[test]
fn a_lost_last_segment_is_sent_again_by_the_timer() {
    // with RACK-TLP a probe does that
    for detection in ALL.into_iter().filter(|&detection| detection != LossDetection::Rack) {
        let finite = SenderConfig { loss_detection: detection, bytes: Some(25_000), ..config() };
        let mut path = Path::new(finite, standard()).losing_once(&[24]).start();
        path.run_to_end();
        let c = path.counters();
        assert_eq!((c.timeouts, c.retransmits, c.congestion_events), (1, 1, 1), "{detection:?}");
        assert_eq!(path.again()[0].1, 24);
    }
}

#[test]
fn nothing_that_arrived_is_sent_again_with_sack() {
    // only the first of the flight and the silence behind it are lost
    let finite = SenderConfig { bytes: Some(60_000), ..steady(20.0) };
    let mut path = Path::new(finite, constant())
        .losing(|s| {
            s.packet.kind == Kind::Data && s.earlier == 0 && (s.packet.seq == 40 || s.packet.seq > 42)
        })
        .start();
    path.run_to_end();
    assert_eq!(path.receiver().duplicates, 0);
    assert!(path.counters().timeouts >= 1);
    assert!(path.again().iter().all(|a| a.1 != 41 && a.1 != 42));
}

#[test]
fn a_spike_of_delay_is_found_spurious_and_undone() {
    // RFC 3522 and RFC 4015: the acknowledgement echoes a stamp from before the retransmission
    for detection in ALL {
        let spike = |s: &Sent| {
            let slow = s.packet.kind == Kind::Data && (at_ms(950)..at_ms(1050)).contains(&s.at);
            if slow { ms(700) } else { Interval::ZERO }
        };
        let mut path = Path::new(SenderConfig { loss_detection: detection, ..steady(30.0) }, constant())
            .delaying(spike)
            .start();
        path.run_to(at_ms(1099));
        let before = *path.sender.window();
        path.run_to(at_ms(3000));
        let c = path.counters();
        assert_eq!((c.timeouts, c.undone), (1, 1), "{detection:?}");
        assert_eq!(*path.sender.window(), before, "{detection:?}");
        // the one segment that the timer sent
        assert_eq!(c.retransmits, 1, "{detection:?}");
        assert_eq!(path.flights(28).last(), Some(&30), "{detection:?}");
    }
}

#[test]
fn a_timeout_after_a_loss_is_not_undone() {
    for detection in ALL.into_iter().filter(|&detection| detection != LossDetection::Rack) {
        let mut path = Path::new(SenderConfig { loss_detection: detection, ..steady(30.0) }, constant())
            .losing(silent(950, 1050))
            .start();
        path.run_to(at_ms(3000));
        let c = path.counters();
        assert_eq!((c.timeouts, c.undone), (1, 0), "{detection:?}");
        assert_eq!(path.ssthresh(), 15.0, "{detection:?}");
    }
}

#[test]
fn a_loss_among_what_was_sent_after_a_timeout_is_an_event_of_its_own() {
    // the timer expires for the flight of 400 ms; segments beyond it leave as the window opens, one of them
    // is lost
    let lost_later = |s: &Sent| s.packet.kind == Kind::Data && s.packet.seq == 95 && s.earlier == 0;
    let mut silence = silent(350, 450);
    let mut path = Path::new(steady(20.0), standard()).losing(move |s| silence(s) || lost_later(s)).start();
    path.run_to(at_ms(RTT_MS * 40));
    let c = path.counters();
    assert_eq!((c.timeouts, c.congestion_events), (1, 2), "{c:?}");
}

#[test]
fn a_retransmission_that_is_lost_after_a_timeout_halves_the_window_again() {
    // the flight of 400 ms is lost, which begins with 120, and a probe after it; 140 is lost again when
    // slow-start has come there: that is another episode (RFC 5681, section 4.3)
    for detection in [LossDetection::Sack, LossDetection::Rack] {
        let mut silence = silent(350, 850);
        let lost = move |s: &Sent| silence(s) || (s.packet.seq == 140 && s.earlier == 1);
        let config = SenderConfig { loss_detection: detection, ..steady(40.0) };
        let mut path = Path::new(config, standard()).losing(lost).start();
        path.run_to(at_ms(4000));
        let log = path.log();
        let last = |what| log.iter().rfind(|e| e.1 == what).map(|e| e.0);
        let (timeout, loss) = (last(Happened::Timeout), last(Happened::Loss));
        assert!(loss > timeout, "{detection:?} {log:?}");
        assert!(path.ssthresh() < 20.0, "{detection:?} {}", path.ssthresh());
    }
}

#[test]
fn a_timeout_reduces_ssthresh_again_once_what_the_last_one_sent_again_is_acknowledged() {
    // RFC 5681, section 3.1: ssthresh stays only while the same segment was already sent again by the timer
    for detection in ALL {
        // the flight of 400 ms begins with 120; its first repair arrives, and nothing for two seconds after
        // that
        let lost = |s: &Sent| {
            let repair = s.packet.seq == 120 && s.earlier == 1;
            s.packet.kind == Kind::Data && (at_ms(350)..at_ms(4000)).contains(&s.at) && !repair
        };
        let config = SenderConfig { loss_detection: detection, ..steady(40.0) };
        let mut path = Path::new(config, constant()).losing(lost).start();
        path.run_until_counted(|c| c.timeouts == 1);
        let first = path.ssthresh();
        path.run_until_counted(|c| c.timeouts == 2);
        assert!(path.ssthresh() < first, "{detection:?}: {} after {first}", path.ssthresh());
        let second = path.ssthresh();
        path.run_until_counted(|c| c.timeouts == 3);
        assert_eq!(path.ssthresh(), second, "{detection:?}: the same segment again");
    }
}

/// An algorithm that keeps 60 % of its window at a reduction, and grows in slow-start only.
struct Mild;

impl CongestionControl for Mild {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            w.slow_start(ack.acked);
        }
    }
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = 0.6 * w.cwnd;
    }
}

fn mild() -> Controller {
    Controller::custom(Properties::CUSTOM, Mild)
}

#[test]
fn each_timeout_may_reduce_ssthresh_also_in_recovery_and_after_another_timeout() {
    // four segments of a flight of forty are lost, whenever they are sent: the timer expires in the recovery
    // that halves the window to 20, and again when the window is 1
    for (reductions, halved, events) in
        [(TimeoutReductions::Once, [20.0, 20.0, 20.0], 1), (TimeoutReductions::Each, [20.0, 10.0, 2.0], 3)]
    {
        let lost = |s: &Sent| s.packet.kind == Kind::Data && (40..44).contains(&s.packet.seq);
        let config = SenderConfig {
            timeout_reductions: reductions,
            loss_detection: LossDetection::NewReno,
            ..steady(40.0)
        };
        let mut path = Path::new(config, constant()).losing(lost).start();
        path.run_until_counted(|c| c.congestion_events == 1);
        let mut ssthresh = vec![path.ssthresh()];
        for timeouts in 1..=2 {
            path.run_until_counted(|c| c.timeouts == timeouts);
            ssthresh.push(path.ssthresh());
        }
        assert_eq!(ssthresh, halved, "{reductions:?}");
        assert_eq!((path.cwnd(), path.counters().congestion_events), (1.0, events), "{reductions:?}");
    }
}

#[test]
fn the_first_reduction_those_in_slow_start_and_those_by_timeouts_may_leave_half() {
    // the first loss, the second, and a timeout
    let after = |first_reduction| {
        let config = SenderConfig { first_reduction, recovery: Recovery::Immediate, ..steady(40.0) };
        let lost =
            |s: &Sent| s.packet.kind == Kind::Data && s.earlier == 0 && [40, 200].contains(&s.packet.seq);
        let mut silence = silent(2950, 100_000);
        let mut path = Path::new(config, mild()).losing(move |s| lost(s) || silence(s)).start();
        let mut left = Vec::new();
        for count in 1..=2 {
            path.run_until_counted(|c| c.congestion_events == count);
            left.push(path.ssthresh());
        }
        path.run_until_counted(|c| c.timeouts == 1);
        left.push(path.ssthresh());
        left
    };
    assert_eq!(after(FirstReduction::Own), [24.0, 0.6 * 24.0, 0.6 * (0.6 * 24.0)]);
    assert_eq!(after(FirstReduction::Half), [20.0, 12.0, 6.0]);
    // below ssthresh, and not the first: a loss of data sent after a timeout, whose flight of eight was all
    // that the receiver's window allowed; a full window had grown by one more
    let in_slow_start = |first_reduction| {
        let lost = |s: &Sent| s.packet.kind == Kind::Data && s.packet.seq == 34 && s.earlier == 0;
        let mut silence = silent(350, 450);
        let recovery = Recovery::Immediate;
        let config = SenderConfig { first_reduction, recovery, max_window: 8.0, ..steady(20.0) };
        let mut path = Path::new(config, mild()).losing(move |s| silence(s) || lost(s)).start();
        path.run_until_counted(|c| c.timeouts == 1);
        let mut before = path.cwnd();
        while path.counters().congestion_events < 2 {
            before = path.cwnd();
            path.run_one_event();
        }
        (before, path.ssthresh())
    };
    assert_eq!(in_slow_start(FirstReduction::Own), (9.0, 0.6 * 9.0));
    assert_eq!(in_slow_start(FirstReduction::Half), (9.0, 4.5));
}
