//! What the algorithms' unit tests share: events with simple values, and an ideal path that loses
//! periodically.

use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Window};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameters, Value};
use longfat_units::{Interval, Time};

const RTT: Interval = Interval::from_millis(100);

/// The parameters with these words set.
pub fn parameters<C>(row: &Row<C>, words: &[(&str, &str)]) -> Parameters {
    let given: Vec<_> = words.iter().map(|(n, v)| ((*n).to_owned(), Value::Word((*v).to_owned()))).collect();
    Parameters::new(row.name, row.parameters, &given).expect("declared parameters")
}

/// An instance with these words set.
pub fn instance<C>(row: &Row<C>, words: &[(&str, &str)]) -> C {
    (row.build)(&parameters(row, words))
}

/// Its properties then.
pub fn properties<C>(row: &Row<C>, words: &[(&str, &str)]) -> Properties {
    row.properties.with(&parameters(row, words))
}

/// An instance with these numbers set.
pub fn with_numbers<C>(row: &Row<C>, numbers: &[(&str, f64)]) -> C {
    let given: Vec<_> = numbers.iter().map(|(n, v)| ((*n).to_owned(), Value::Number(*v))).collect();
    row.instance(&given).expect("declared parameters")
}

/// A window in segments, with standard slow-start.
pub fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window { cwnd, ssthresh, max_ssthresh: f64::INFINITY }
}

/// An acknowledgement of `acked` segments at the beginning of time on an empty path of 100 ms.
pub fn ack(acked: f64) -> Ack {
    ack_at(Time::ZERO, acked, RTT)
}

/// An acknowledgement at `now` with this round-trip time, on a path of 100 ms.
pub fn ack_at(now: Time, acked: f64, rtt: Interval) -> Ack {
    Ack {
        now,
        acked,
        newly_delivered: 1,
        rtt: Some(rtt),
        srtt: rtt,
        base_rtt: Some(RTT),
        one_way_delay: None,
        in_flight: 10.0,
        delivered: 1,
        next_segment: 12,
        unacknowledged: 1,
        may_grow: true,
    }
}

/// A congestion event with this cause.
pub fn congestion(cause: Cause) -> Congestion {
    Congestion { cause, now: Time::ZERO, in_flight: 10.0, srtt: RTT, base_rtt: Some(RTT) }
}

/// A loss.
pub fn loss() -> Congestion {
    congestion(Cause::Loss)
}

/// One round trip: as many acknowledgements of one segment as the window had at its beginning.
pub fn round_trip(c: &mut impl CongestionControl, w: &mut Window) {
    for _ in 0..w.cwnd as u64 {
        c.on_ack(&ack(1.0), w);
    }
}

/// The behaviour of a window between periodic losses.
pub struct Sawtooth {
    /// Mean window over time, in segments.
    pub mean: f64,
    /// Window before the last loss, in segments.
    pub peak: f64,
}

/// A long connection that loses exactly every `packets`th packet, once it has settled.
pub fn sawtooth(c: &mut impl CongestionControl, packets: u32) -> Sawtooth {
    let mut w = window(100.0, 2.0);
    let mut result = Sawtooth { mean: 0.0, peak: 0.0 };
    for _ in 0..60 {
        let mut round_trips = 0.0;
        for _ in 0..packets {
            round_trips += 1.0 / w.cwnd;
            c.on_ack(&ack(1.0), &mut w);
        }
        result = Sawtooth { mean: f64::from(packets) / round_trips, peak: w.cwnd };
        c.on_congestion(&loss(), &mut w);
        w.cwnd = w.ssthresh;
    }
    result
}

/// A long connection on a path of `rtt_s` without a queue that loses exactly every `packets`th packet:
/// every segment is acknowledged, and a loss is repaired at once. It begins with a loss at a window of
/// `peak` segments. The mean is that of the second half of the cycles.
pub fn periodic(
    c: &mut impl CongestionControl,
    rtt_s: f64,
    packets: u64,
    peak: f64,
    cycles: u32,
) -> Sawtooth {
    let rtt = Interval::from_secs_f64(rtt_s);
    let mut w = window(peak, 2.0);
    let (mut now_s, mut unacknowledged) = (0.0, 0);
    let mut result = Sawtooth { mean: 0.0, peak };
    let (mut sent, mut round_trips) = (0.0, 0.0);
    for cycle in 0..cycles {
        result.peak = w.cwnd;
        let event = Congestion { now: Time::from_secs_f64(now_s), ..loss() };
        c.on_congestion(&event, &mut w);
        w.cwnd = w.ssthresh;
        c.on_recovered(event.now, &mut w);
        for _ in 0..packets {
            now_s += rtt_s / w.cwnd;
            unacknowledged += 1;
            let mut ack = ack_at(Time::from_secs_f64(now_s), 1.0, rtt);
            ack.base_rtt = Some(rtt);
            (ack.unacknowledged, ack.delivered) = (unacknowledged, unacknowledged);
            ack.next_segment = unacknowledged + w.cwnd as u64;
            if 2 * cycle >= cycles {
                sent += 1.0;
                round_trips += 1.0 / w.cwnd;
            }
            c.on_sample(&ack);
            c.on_ack(&ack, &mut w);
        }
    }
    result.mean = sent / round_trips;
    result
}
