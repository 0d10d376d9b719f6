//! Objects with a kernel's eBPF congestion control: refused, or run and ended, with one line.

use longfat_bpf_vm::{Connection, Object};
use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Window};
use longfat_units::{Interval, Time};

/// The most instructions of a callback: enough for the algorithms of `bpf/`.
const BUDGET: u64 = 5000;

/// Loads the bytes as an object and calls what it holds, if anything.
pub fn check(data: &[u8]) {
    let object = match Object::new(data) {
        Ok(object) => object,
        Err(error) => return one_line(&error.to_string()),
    };
    let names: Vec<String> = object.names().map(str::to_owned).collect();
    for name in names.iter().take(4) {
        match object.algorithm(Some(name)) {
            Ok(algorithm) => {
                let mut connection = algorithm.connection();
                connection.set_budget(BUDGET);
                exercise(&mut connection);
            }
            Err(error) => one_line(&error.to_string()),
        }
    }
}

fn one_line(text: &str) {
    assert_eq!(text.lines().count(), 1, "{text:?}");
}

fn exercise(control: &mut Connection) {
    let mut w = Window { cwnd: 10.0, ssthresh: 30.0, max_ssthresh: f64::INFINITY };
    control.on_start(1448, 0);
    // a kernel that meets snd_cwnd 0 sends nothing, and so does the sender
    let least = if control.properties().model_based { 0.0 } else { 1.0 };
    let span = Interval::from_millis;
    for n in 1..6 {
        let now = Time::from_ns(10_000_000 * n);
        let ack = Ack {
            now,
            acked: 2.0,
            newly_delivered: 2,
            rtt: Some(span(40 + n)),
            srtt: span(41),
            base_rtt: Some(span(40)),
            one_way_delay: None,
            in_flight: w.cwnd,
            delivered: 2 * n,
            next_segment: 2 * n + w.cwnd as u64,
            unacknowledged: 2 * n,
            may_grow: true,
        };
        control.on_sample(&ack);
        control.on_ack(&ack, &mut w);
        let cause = [Cause::Loss, Cause::Mark, Cause::Timeout][n as usize % 3];
        let event = Congestion { cause, now, in_flight: w.cwnd, srtt: span(41), base_rtt: Some(span(40)) };
        control.on_congestion(&event, &mut w);
        control.on_recovered(now, &mut w);
        control.on_undo(&mut w);
        assert!(w.cwnd.is_finite() && w.cwnd >= least && !w.ssthresh.is_nan(), "{w:?}");
    }
    if let Some(failure) = control.take_failure() {
        one_line(&failure);
    }
}
