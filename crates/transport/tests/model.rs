//! A model of a sender drives every registered algorithm through random legal sequences of events, with its
//! default parameters and with every word of its choices, and checks what must hold for any congestion
//! control.

use longfat_transport::Mirror;
use longfat_transport::cc::{
    Ack, Algorithm, Cause, Congestion, CongestionControl, Controller, Delivery, Echo, Internals, Kind,
    LEAST_SSTHRESH, LostSegment, Opening, Parameters, Repair, Value, Window, algorithms,
};
use longfat_units::{Interval, Time};
use longfat_wire::{Explicit, Load, MaxNet};
use proptest::prelude::*;

/// An event at a sender. Fractions are of the greatest queueing delay.
#[derive(Clone, Debug)]
enum Event {
    /// This many acknowledgements of `acked` segments each.
    Acks {
        times: u32,
        acked: u32,
        queue: f64,
        measured: bool,
    },
    Congestion(Cause),
    /// Every hole is filled: fast recovery ends.
    Recovered,
    /// The last congestion event turns out spurious.
    Undo,
    /// A dubious acknowledgement finds this share of the window in flight, with `cwnd_moderation`.
    Moderated {
        share: f64,
    },
    /// Nothing arrives for this long.
    Pause {
        ms: u64,
    },
}

#[derive(Clone, Debug)]
struct Path {
    base_rtt_ms: u64,
    /// Whether the connection request gave a round-trip time.
    measured: bool,
    greatest_queue_ms: u64,
    cwnd: f64,
    ssthresh: f64,
    max_ssthresh: f64,
    slow_start_limit: u32,
}

fn paths() -> impl Strategy<Value = Path> {
    let thresholds = || prop_oneof![Just(f64::INFINITY), 2.0..20_000.0_f64];
    let max_ssthresh = prop_oneof![Just(f64::INFINITY), Just(100.0)];
    let limits = prop_oneof![2 => Just(2), 1 => Just(1), 1 => Just(u32::MAX)];
    let measured = prop::bool::weighted(0.8);
    (1..400_u64, measured, 1..500_u64, 1.0..20_000.0_f64, thresholds(), max_ssthresh, limits).prop_map(
        |(base_rtt_ms, measured, greatest_queue_ms, cwnd, ssthresh, max_ssthresh, slow_start_limit)| Path {
            base_rtt_ms,
            measured,
            greatest_queue_ms,
            cwnd,
            ssthresh,
            max_ssthresh,
            slow_start_limit,
        },
    )
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        8 => (1..200_u32, 1..=3_u32, 0.0..=1.0_f64, prop::bool::weighted(0.9))
            .prop_map(|(times, acked, queue, measured)| Event::Acks { times, acked, queue, measured }),
        2 => Just(Event::Congestion(Cause::Loss)),
        1 => Just(Event::Congestion(Cause::Mark)),
        1 => Just(Event::Congestion(Cause::Timeout)),
        3 => Just(Event::Recovered),
        1 => Just(Event::Undo),
        1 => (0.0..=1.0_f64).prop_map(|share| Event::Moderated { share }),
        1 => (1..5_000_u64).prop_map(|ms| Event::Pause { ms }),
    ];
    prop::collection::vec(event, 1..120)
}

/// The sender as an algorithm sees it.
struct Sender {
    control: Controller,
    /// What the receiver makes of explicit headers.
    mirror: Option<Box<dyn Mirror>>,
    w: Window,
    now: Time,
    base_rtt: Interval,
    greatest_queue: Interval,
    slow_start_limit: u32,
    srtt: Interval,
    least_rtt: Option<Interval>,
    delivered: u64,
    recovering: bool,
    /// The algorithm controls the window in every phase.
    models: bool,
    /// A timeout is being repaired. Only model-based algorithms learn of it.
    after_timeout: bool,
    lost: u64,
    newly_lost: u64,
    /// The window before the last congestion event, while it can still be undone.
    before: Option<Window>,
    next_timer: Option<Time>,
}

impl Sender {
    fn new(row: &Algorithm, given: &[(String, Value)], path: &Path) -> Self {
        Self::seeded(row, given, path, path.base_rtt_ms)
    }

    fn seeded(row: &Algorithm, given: &[(String, Value)], path: &Path, seed: u64) -> Self {
        let Ok(parameters) = Parameters::new(row.name, row.parameters, given) else {
            panic!("{} takes no {given:?}", row.name);
        };
        let mut control = (row.build)(&parameters);
        control.on_start(1448, seed);
        let base_rtt = Interval::from_millis(path.base_rtt_ms);
        let next_timer = control.properties.timer_period.map(|period| Time::ZERO + period);
        let mut w = Window { cwnd: path.cwnd, ssthresh: path.ssthresh, max_ssthresh: path.max_ssthresh };
        let models = control.properties.model_based;
        if models {
            // a request that was sent twice gives no round-trip time
            let rtt = path.measured.then_some(base_rtt);
            control.on_open(
                &Opening { now: Time::ZERO + base_rtt, rtt, selective: !path.base_rtt_ms.is_multiple_of(3) },
                &mut w,
            );
            control.on_restart(Time::ZERO + base_rtt, None, &mut w);
        }
        Sender {
            mirror: row.mirror(&parameters, 1500.0),
            control,
            w,
            now: Time::ZERO + base_rtt,
            base_rtt,
            greatest_queue: Interval::from_millis(path.greatest_queue_ms),
            slow_start_limit: path.slow_start_limit,
            srtt: if path.measured { base_rtt } else { Interval::ZERO },
            least_rtt: path.measured.then_some(base_rtt),
            delivered: 0,
            recovering: false,
            models,
            after_timeout: false,
            lost: 0,
            newly_lost: 0,
            before: None,
            next_timer,
        }
    }

    fn step(&mut self, event: &Event) {
        match *event {
            Event::Acks { times, acked, queue, measured } => {
                for _ in 0..times {
                    self.acknowledge(acked, queue, measured);
                }
            }
            // one event per episode
            Event::Congestion(cause) if !self.recovering || cause == Cause::Timeout => self.congestion(cause),
            Event::Recovered if self.recovering || (self.models && self.after_timeout) => {
                (self.recovering, self.after_timeout) = (false, false);
                self.before = None;
                if !self.models {
                    self.w.cwnd = self.w.ssthresh;
                }
                self.control.on_recovered(self.now, &mut self.w);
                self.check("on_recovered");
            }
            Event::Undo => {
                if let Some(before) = self.before.take() {
                    (self.recovering, self.after_timeout) = (false, false);
                    if !self.models {
                        self.w = before;
                    }
                    self.control.on_undo(&mut self.w);
                    self.check("on_undo");
                }
            }
            // in recovery the reduction bounds the window
            Event::Moderated { share } if !self.recovering && !self.models => {
                self.w.cwnd = self.w.cwnd.min((share * self.w.cwnd).floor() + 3.0);
            }
            Event::Pause { ms } => self.pass(Interval::from_millis(ms)),
            _ => {}
        }
    }

    /// Time passes; timers fire.
    fn pass(&mut self, span: Interval) {
        let until = self.now + span;
        while let (Some(at), Some(period)) =
            (self.next_timer.filter(|at| *at <= until), self.control.properties.timer_period)
        {
            assert!(period > Interval::ZERO, "a timer that never lets time pass");
            if !self.recovering {
                self.control.on_timer(at, &mut self.w);
                self.check("on_timer");
            }
            self.next_timer = Some(at + period);
        }
        self.now = until;
    }

    fn acknowledge(&mut self, acked: u32, queue: f64, measured: bool) {
        let rtt = self.base_rtt + self.greatest_queue.scale(queue);
        self.pass(rtt.scale(1.0 / self.w.cwnd));
        self.delivered += u64::from(acked);
        if measured {
            let first = self.srtt == Interval::ZERO;
            self.srtt = if first { rtt } else { self.srtt.scale(0.875) + rtt.scale(0.125) };
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let in_flight = self.w.cwnd.floor();
        let ack = Ack {
            now: self.now,
            acked: f64::from(if self.w.in_slow_start() { acked.min(self.slow_start_limit) } else { acked }),
            newly_delivered: acked,
            rtt: measured.then_some(rtt),
            srtt: self.srtt,
            base_rtt: self.least_rtt,
            one_way_delay: measured.then(|| rtt.scale(0.5)),
            in_flight,
            delivered: self.delivered,
            next_segment: self.delivered + in_flight as u64,
            unacknowledged: self.delivered,
            may_grow: true,
        };
        if self.control.properties.samples {
            self.control.on_sample(&ack);
        }
        let header = self.control.explicit(1500.0 * self.w.cwnd, self.srtt);
        assert_eq!(header.is_some(), self.control.properties.protocol.is_some());
        if let Some(mut echo) = header {
            // some paths have no routers
            if measured {
                cross_routers(&mut echo, queue, self.w.cwnd);
            }
            let echo = self.mirror.as_mut().map_or(echo, |m| m.answer(&echo));
            let from = if self.recovering { Echo::Recovery } else { Echo::Data { limited: acked < 3 } };
            self.control.on_explicit(&echo, 1500.0, from, &mut self.w);
            self.check("on_explicit");
        }
        if self.models {
            let mut w = self.w;
            self.control.on_ack(&ack, &mut w);
            assert_eq!(w, self.w, "a model-based algorithm grows by on_delivery alone");
            self.deliver(&ack);
        } else if !self.recovering {
            self.control.on_ack(&ack, &mut self.w);
            self.check("on_ack");
        }
    }

    /// What the sender tells a model-based algorithm; one that measures nothing delivered nothing either.
    fn deliver(&mut self, ack: &Ack) {
        let newly = if ack.rtt.is_some() { u64::from(ack.newly_delivered) } else { 0 };
        let flight = ack.in_flight as u64;
        let delivery = Delivery {
            now: self.now,
            rate: ack.rtt.map(|rtt| ack.in_flight / rtt.as_secs_f64()),
            delivered: if newly > 0 { flight.min(self.delivered) } else { 0 },
            prior_delivered: ack.rtt.map(|_| self.delivered.saturating_sub(flight)),
            app_limited: self.delivered.is_multiple_of(7),
            tx_in_flight: flight,
            lost: self.newly_lost,
            rtt: ack.rtt,
            left: ack.rtt.map(|rtt| self.now - rtt),
            newly_delivered: newly,
            newly_lost: self.newly_lost,
            total_delivered: self.delivered,
            total_lost: self.lost,
            prior_in_flight: flight,
            in_flight: flight,
            srtt: self.srtt,
            next_departure: self.now,
            window_limited: true,
            may_grow: true,
            source_limited: false,
            repair: match (self.recovering, self.after_timeout) {
                (true, _) => Repair::Recovery,
                (false, true) => Repair::Timeout,
                _ => Repair::None,
            },
        };
        self.newly_lost = 0;
        self.control.on_delivery(&delivery, &mut self.w);
        self.check("on_delivery");
    }

    /// A twentieth of the window is found lost.
    fn lose(&mut self) {
        let flight = self.w.cwnd as u64;
        for _ in 0..1 + flight / 20 {
            self.lost += 1;
            self.newly_lost += 1;
            let lost = LostSegment {
                now: self.now,
                segment: self.delivered + 2 * self.lost,
                left: self.now - self.srtt,
                tx_in_flight: flight,
                lost: self.newly_lost,
                app_limited: false,
                total_delivered: self.delivered,
            };
            self.control.on_lost(&lost, &mut self.w);
        }
        self.check("on_lost");
    }

    fn congestion(&mut self, cause: Cause) {
        let before = self.w;
        let event = Congestion {
            cause,
            now: self.now,
            in_flight: self.w.cwnd.floor(),
            srtt: self.srtt,
            base_rtt: self.least_rtt,
        };
        self.control.on_congestion(&event, &mut self.w);
        self.check("on_congestion");
        assert!(
            self.models || self.w.ssthresh <= before.cwnd,
            "{cause:?} at {} segments asks for {}",
            before.cwnd,
            self.w.ssthresh
        );
        assert!(self.w.cwnd <= before.cwnd, "{cause:?} raised cwnd from {} to {}", before.cwnd, self.w.cwnd);
        self.w.ssthresh = self.w.ssthresh.max(LEAST_SSTHRESH);
        self.before = (cause != Cause::Mark).then_some(before);
        self.recovering = cause != Cause::Timeout;
        self.after_timeout = cause == Cause::Timeout;
        if self.after_timeout {
            self.w.cwnd = 1.0;
        }
        if self.models && cause != Cause::Mark {
            self.lose();
            if self.after_timeout {
                self.control.on_timeout(self.now, &mut self.w);
                self.check("on_timeout");
            }
        }
    }

    fn check(&self, after: &str) {
        let Window { cwnd, ssthresh, .. } = self.w;
        assert!(cwnd.is_finite() && cwnd >= 1.0, "{after}: cwnd is {cwnd}");
        assert!(ssthresh > 0.0, "{after}: ssthresh is {ssthresh}");
        let quantum = self.control.send_quantum();
        assert!(quantum.is_finite() && quantum >= 1.0, "{after}: sends {quantum} segments at a time");
        if let Some(rate) = self.control.pacing_rate(&self.w, self.srtt) {
            assert!(self.control.properties.paces, "{after}: paces against what its row says");
            assert!(rate.is_finite() && rate > 0.0, "{after}: paces at {rate} segments per second");
        }
        let mut internals = Internals::default();
        self.control.internals(&mut internals);
        assert!(internals.iter().all(|(_, x)| !x.is_nan()), "{after}: {internals:?}");
    }
}

/// What routers write: more while their queues are short and their links not full, less later.
fn cross_routers(header: &mut Explicit, queue: f64, cwnd: f64) {
    match header {
        Explicit::Xcp(header) => {
            let spare = if cwnd < 100_000.0 { 0.5 } else { 0.0 };
            header.feedback_bytes = (spare - queue) * 3000.0;
        }
        Explicit::Vcp(load) => *load = [Load::Low, Load::High, Load::Over][(2.9 * queue) as usize],
        Explicit::QuickStart(_) | Explicit::Ptp(_) => {}
        Explicit::JetMax(header) => {
            (header.hops, header.suggested) = (2, 1 + (2.0 * queue) as u8);
            header.loss = (queue - 0.5).max(0.0);
            header.fair_bps = (1.0 - queue) * 1e8;
        }
        Explicit::Rcp(header) => header.rate_bps = (1.0 - queue) * 1e8,
        Explicit::MaxNet(header) => header.price_s = MaxNet::price_s_for((1.01 - queue) * 1e8),
        Explicit::Erica(header) => header.explicit_bps = (1.0 - queue) * 1e8,
    }
}

/// The default parameters, then each word of each choice on its own.
fn settings(row: &Algorithm) -> Vec<Vec<(String, Value)>> {
    let words = row.parameters.iter().flat_map(|p| {
        let words = if let Kind::Choice(words) = p.kind { words } else { &[] };
        words.iter().skip(1).map(|word| vec![(p.name.to_owned(), Value::Word((*word).to_owned()))])
    });
    std::iter::once(Vec::new()).chain(words).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_keeps_a_legal_window_through_any_legal_sequence(path in paths(), events in events()) {
        for row in algorithms() {
            for given in settings(row) {
                let context = format!("{} with {given:?}", row.name);
                let run = || {
                    let mut sender = Sender::new(row, &given, &path);
                    events.iter().for_each(|event| sender.step(event));
                    sender.w
                };
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                let reason = outcome.as_ref().err().map(|e| {
                    e.downcast_ref::<String>().cloned().or_else(|| e.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                });
                prop_assert!(outcome.is_ok(), "{context}: {reason:?}");
            }
        }
    }
}

#[test]
fn two_instances_fed_alike_end_with_the_same_window_also_with_samples_or_seeds_that_their_row_denies() {
    let path = Path {
        base_rtt_ms: 42,
        measured: true,
        greatest_queue_ms: 20,
        cwnd: 3.0,
        ssthresh: f64::INFINITY,
        max_ssthresh: f64::INFINITY,
        slow_start_limit: 2,
    };
    let acks = |times, queue| Event::Acks { times, acked: 2, queue, measured: true };
    let script =
        [acks(400, 0.2), Event::Congestion(Cause::Loss), acks(50, 0.9), Event::Recovered, acks(3000, 0.5)];
    for row in algorithms() {
        for given in settings(row) {
            let run = |seed, samples| {
                let mut sender = Sender::seeded(row, &given, &path, seed);
                sender.control.properties.samples |= samples;
                script.iter().for_each(|event| sender.step(event));
                sender.w
            };
            let alike = run(1, false);
            assert_eq!(run(1, false), alike, "{} with {given:?}", row.name);
            assert_eq!(run(2 - u64::from(row.properties.draws), true), alike, "{} with {given:?}", row.name);
        }
    }
}

#[test]
fn no_window_leaps_while_no_round_trip_time_is_known() {
    let path = Path {
        base_rtt_ms: 400,
        measured: false,
        greatest_queue_ms: 20,
        cwnd: 1000.0,
        ssthresh: 2.0,
        max_ssthresh: f64::INFINITY,
        slow_start_limit: 2,
    };
    let script = [
        Event::Congestion(Cause::Loss),
        Event::Recovered,
        Event::Pause { ms: 100_000 },
        Event::Acks { times: 100, acked: 1, queue: 0.5, measured: false },
    ];
    for row in algorithms() {
        for given in settings(row) {
            let mut sender = Sender::new(row, &given, &path);
            script.iter().for_each(|event| sender.step(event));
            assert!(sender.w.cwnd < 10_000.0, "{} with {given:?}: cwnd is {}", row.name, sender.w.cwnd);
        }
    }
}
