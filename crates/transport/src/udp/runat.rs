//! RUNAT (Wu, Rao: A class of reliable UDP-based transport protocols based on stochastic approximation,
//! INFOCOM 2005; Lopez Pacheco 2008, section 2.4.2.2): bursts of W datagrams, and a pause T between them that
//! depends on the losses.
//!
//! ```text
//! once a period, l: share lost, g: goodput, r: rate sent
//! Zone I   (l < .001):  T <- T + c_r T (l - .001)                                                              (2.12)
//! Zone II:              r <- r + a_n G,  G = (g_now - g_before) / (r_before - r_before that),  T = W / r  (2.13-2.15)
//! Zone III (l > .05):   T <- T + c_d T (l - .05)                                                       (chosen here)
//! ```
//!
//! The thesis prints zone II for l > .05, and gives no rule between .001 and .05 and no zone III. Here zone
//! II lies between the two bounds and zone III above them; `variant = "thesis"` does what the thesis prints.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | l_low, l_high | .001, .05 | share of datagrams | thesis | none |
//! | W | 16 | datagrams | chosen here: the thesis only has W > 1 | |
//! | c_r, c_d | 100, 5 | | chosen here | |
//! | a_n | .2 | of the rate | chosen here; constant, as what is tracked moves | |
//! | perturbation | .02 | of the rate, up and down in turn | chosen here | |
//! | G | -1 to 1 | | chosen here: beyond that it is noise | |
//! | period | one RTO | | chosen here: Algorithm 2 finds a loss after one | |
//! | first rate | W a round trip | | chosen here | |
//! | greatest T | 1 s, or the RTO where that is longer | s | chosen here | |
//! | RTO | RFC 6298 | s | thesis (2.3) | |

use super::arrivals::Arrivals;
use super::connection::accept;
use super::end::{Books, CONTROL_BYTES, Counts, Out, ReceivingEnd, Reliable, SendingEnd};
use super::row::{Config, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use longfat_wire::{Kind, SimPacket};
use std::collections::{BTreeSet, VecDeque};

const LOW: f64 = 0.001;
const HIGH: f64 = 0.05;
const PERTURBATION: f64 = 0.02;
/// Rates that differ by less than this share give no gradient.
const LEAST_DIFFERENCE: f64 = 1e-3;
const MOST_IDLE_S: f64 = 1.0;

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "runat",
        title: "RUNAT",
        aliases: &[],
        citation: "Wu, Rao: A class of reliable UDP-based transport protocols based on stochastic approximation, INFOCOM \
                   2005",
        page: "runat",
        parameters: &[
            Parameter::choice(
                "variant",
                &["assumed", "thesis"],
                "thesis: zone II at losses above .05, and nothing between .001 and .05",
            ),
            Parameter::number("burst", 16.0, (2.0, 1e4), "packets", "datagrams sent at once (W)"),
            Parameter::number("increase_gain", 100.0, (0.01, 900.0), "", "gain of zone I (c_r)"),
            Parameter::number("decrease_gain", 5.0, (0.01, 100.0), "", "gain of zone III (c_d)"),
            Parameter::number("gradient_gain", 0.2, (0.001, 0.9), "of the rate", "gain of zone II (a_n)"),
        ],
        style: Some(Style::new("#bc6c25", "|")),
    },
    reliable: true,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::default()),
};

/// The counts of one control period.
#[derive(Clone, Copy, Debug, Default)]
struct Observed {
    sent: u64,
    acked: u64,
    lost: u64,
}

/// The pause between bursts, and how the zones change it.
#[derive(Clone, Debug)]
struct Control {
    literal: bool,
    burst: f64,
    increase_gain: f64,
    decrease_gain: f64,
    gradient_gain: f64,
    /// The least pause, seconds: the time that the host's own link needs for a burst.
    line_s: f64,
    /// T, seconds.
    idle_s: f64,
    /// Rates of the last period and of the one before it, datagrams per second.
    rates: (f64, f64),
    goodput: f64,
    up: bool,
}

impl Control {
    fn new(p: &Parameters, config: &Config) -> Self {
        let burst = p.number("burst").floor();
        Control {
            literal: p.word("variant") == "thesis",
            burst,
            increase_gain: p.number("increase_gain"),
            decrease_gain: p.number("decrease_gain"),
            gradient_gain: p.number("gradient_gain"),
            line_s: burst * config.line_s(),
            idle_s: MOST_IDLE_S,
            rates: (0.0, 0.0),
            goodput: 0.0,
            up: false,
        }
    }

    fn set_idle(&mut self, idle_s: f64, rto: Interval) {
        self.idle_s = idle_s.min(rto.as_secs_f64().max(MOST_IDLE_S)).max(self.line_s);
    }

    /// A period of `period_s` is over. Returns whether its losses lower the rate.
    fn adapt(&mut self, seen: Observed, period_s: f64, rto: Interval) -> bool {
        if seen.acked + seen.lost == 0 || period_s <= 0.0 {
            return false;
        }
        let loss = seen.lost as f64 / (seen.acked + seen.lost) as f64;
        let goodput = seen.acked as f64 / period_s;
        let gradient = self.gradient(goodput);
        self.goodput = goodput;
        self.rates = (seen.sent as f64 / period_s, self.rates.0);
        let before_s = self.idle_s;
        if loss < LOW {
            self.set_idle(before_s + self.increase_gain * before_s * (loss - LOW), rto);
        } else if (loss > HIGH) == self.literal {
            let rate = self.burst / before_s * (1.0 + self.gradient_gain * gradient);
            self.up = !self.up;
            let perturbed = rate * if self.up { 1.0 + PERTURBATION } else { 1.0 - PERTURBATION };
            self.set_idle(self.burst / perturbed, rto);
        } else if loss > HIGH {
            self.set_idle(before_s + self.decrease_gain * before_s * (loss - HIGH), rto);
        }
        self.idle_s > before_s
    }

    /// The part of a rate change that arrives as goodput (2.15). The goodput of this period belongs to the
    /// rate of the one before.
    fn gradient(&self, goodput: f64) -> f64 {
        let (last, before) = self.rates;
        if before <= 0.0 || (last - before).abs() < LEAST_DIFFERENCE * last {
            return 0.0;
        }
        ((goodput - self.goodput) / (last - before)).clamp(-1.0, 1.0)
    }
}

/// The state of a datagram.
#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Sent(Time),
    /// Found lost, and loaded into W to be sent again.
    Loaded,
    Acked,
}

/// The sending end.
pub struct Sender {
    books: Books,
    control: Control,
    /// The oldest outstanding datagram (snd_una).
    base: u64,
    /// The state of each datagram from `base` on.
    states: VecDeque<State>,
    /// The largest number acknowledged.
    largest: u64,
    loaded: BTreeSet<u64>,
    /// Transmissions that may still be acknowledged, in order.
    order: VecDeque<(Time, u64)>,
    last_burst: Time,
    control_at: Time,
    period_began: Time,
    seen: Observed,
    tick: (Interval, Interval),
}

impl Sender {
    fn new(p: &Parameters, config: &Config) -> Self {
        Sender {
            books: Books::new(config),
            control: Control::new(p, config),
            base: 0,
            states: VecDeque::new(),
            largest: 0,
            loaded: BTreeSet::new(),
            order: VecDeque::new(),
            last_burst: Time::ZERO,
            control_at: Time::NEVER,
            period_began: Time::ZERO,
            seen: Observed::default(),
            tick: (config.host_tick, config.tick_phase),
        }
    }

    fn on_ack(&mut self, now: Time, packet: &SimPacket) {
        self.books.connection.rtt.sample(packet.stamp, now);
        let seq = packet.seq;
        if let Some(state) = seq.checked_sub(self.base).and_then(|i| self.states.get_mut(i as usize))
            && *state != State::Acked
        {
            if *state == State::Loaded {
                self.loaded.remove(&seq);
            }
            *state = State::Acked;
            self.seen.acked += 1;
            self.largest = self.largest.max(seq);
            while self.states.front() == Some(&State::Acked) {
                self.states.pop_front();
                self.base += 1;
            }
            self.books.connection.expire_at =
                if self.states.is_empty() { Time::NEVER } else { self.books.connection.rtt.deadline(now) };
        }
        self.find_losses(now, false);
        self.look_for_end(now);
        self.plan_burst(now);
    }

    /// Algorithm 2: a datagram outstanding for longer than the RTO before an acknowledged one is lost. With
    /// `all`, later datagrams are lost too.
    fn find_losses(&mut self, now: Time, all: bool) {
        let rto = self.books.connection.rtt.rto();
        while let Some(&(at, seq)) = self.order.front() {
            let state = seq.checked_sub(self.base).and_then(|i| self.states.get_mut(i as usize));
            if let Some(state) = state
                && *state == State::Sent(at)
            {
                if now.since(at) <= rto || (seq > self.largest && !all) {
                    return;
                }
                *state = State::Loaded;
                self.loaded.insert(seq);
                self.seen.lost += 1;
            }
            self.order.pop_front();
        }
    }

    fn begin_period(&mut self, now: Time) {
        self.period_began = now;
        self.seen = Observed::default();
        self.control_at = now + self.books.connection.rtt.rto();
    }

    /// Sends W datagrams at once, lost ones first.
    fn burst(&mut self, now: Time, out: Out) {
        self.last_burst = now;
        for _ in 0..self.control.burst as u64 {
            if let Some(seq) = self.loaded.pop_first() {
                self.states[(seq - self.base) as usize] = State::Sent(now);
                self.send(now, seq, true, out);
            } else if self.next() < self.books.end {
                let seq = self.next();
                self.states.push_back(State::Sent(now));
                self.send(now, seq, false, out);
            } else {
                break;
            }
        }
        self.plan_burst(now);
    }

    fn send(&mut self, now: Time, seq: u64, again: bool, out: Out) {
        self.books.send(now, seq, again, out);
        self.order.push_back((now, seq));
        self.seen.sent += 1;
        if self.books.connection.expire_at == Time::NEVER {
            self.books.connection.expire_at = self.books.connection.rtt.deadline(now);
        }
    }

    fn plan_burst(&mut self, now: Time) {
        let more = !self.loaded.is_empty() || self.next() < self.books.end;
        let after = (self.last_burst + Interval::from_secs_f64(self.control.idle_s)).max(now);
        self.books.connection.send_at =
            if more && !self.books.done { after.round_up(self.tick.0, self.tick.1) } else { Time::NEVER };
    }

    fn next(&self) -> u64 {
        self.base + self.states.len() as u64
    }
}

impl SendingEnd for Sender {
    fn stop(&mut self, now: Time) {
        self.books.end = self.next();
        self.look_for_end(now);
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if self.opens(now, packet) {
            let rtt = &self.books.connection.rtt;
            self.control.set_idle(rtt.srtt().as_secs_f64(), rtt.rto());
            self.begin_period(now);
            self.burst(now, out);
        } else if packet.kind == Kind::Ack && self.books.is_active() {
            self.on_ack(now, packet);
        }
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if self.books.connection.repeats(now, out) {
            return;
        }
        if now >= self.books.connection.expire_at {
            self.count_timeout(now);
            self.find_losses(now, true);
            self.books.connection.rtt.back_off();
            self.books.connection.expire_at = self.books.connection.rtt.deadline(now);
        }
        if now >= self.control_at {
            let period_s = now.since(self.period_began).as_secs_f64();
            if self.control.adapt(self.seen, period_s, self.books.connection.rtt.rto()) {
                self.count_congestion(now);
            }
            self.begin_period(now);
        }
        if now >= self.books.connection.send_at {
            self.burst(now, out);
        } else {
            self.plan_burst(now);
        }
    }

    fn wake(&self) -> Time {
        if self.books.done { Time::NEVER } else { self.books.connection.wake().min(self.control_at) }
    }

    fn cwnd(&self) -> f64 {
        self.control.burst
    }

    fn acked(&self) -> u64 {
        self.base
    }

    fn books(&self) -> &Books {
        &self.books
    }

    fn books_mut(&mut self) -> &mut Books {
        &mut self.books
    }
}

/// The receiving end: acknowledges each datagram by its number.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    arrivals: Arrivals,
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, _now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match packet.kind {
            Kind::Syn => return Some(accept(packet)),
            Kind::Data => {}
            _ => return None,
        }
        self.arrivals.take(packet);
        Some(SimPacket::new(Kind::Ack, packet.flow, packet.seq, CONTROL_BYTES, packet.stamp))
    }

    fn delivered(&self) -> u64 {
        self.arrivals.in_order()
    }

    fn counts(&self) -> &Counts {
        &self.arrivals.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, data, ms};

    fn control(variant: &str, rate: f64) -> Control {
        let given = [("variant".to_owned(), Value::Word(variant.to_owned()))];
        let mut c = Control::new(&ROW.check(&given, config().line).unwrap(), &config());
        c.idle_s = c.burst / rate;
        c
    }

    /// A period of one second with these numbers of datagrams sent, acknowledged and lost.
    fn period(c: &mut Control, sent: u64, acked: u64, lost: u64) -> f64 {
        c.adapt(Observed { sent, acked, lost }, 1.0, Interval::from_millis(240));
        c.burst / c.idle_s
    }

    #[test]
    fn without_losses_the_pause_shrinks_by_a_tenth_a_period() {
        // (2.12) with c_r = 100 and l = 0: T - 100 x .001 T
        for variant in ["assumed", "thesis"] {
            let mut c = control(variant, 1000.0);
            let before_s = c.idle_s;
            period(&mut c, 1000, 1000, 0);
            assert!((c.idle_s / before_s - 0.9).abs() < 1e-12, "{variant}");
        }
    }

    #[test]
    fn heavy_losses_lengthen_the_pause_by_what_they_exceed_a_twentieth() {
        let mut c = control("assumed", 1000.0);
        // l = .25: T + 5 x .2 T
        assert!((period(&mut c, 1000, 750, 250) - 500.0).abs() < 1e-9);
    }

    #[test]
    fn between_the_bounds_the_rate_climbs_while_goodput_does_and_falls_where_it_falls() {
        for (step, sign) in [(40, 1.0), (-40, -1.0)] {
            let mut c = control("assumed", 1000.0);
            period(&mut c, 1000, 990, 10);
            period(&mut c, 1040, 990, 10);
            let before = c.burst / c.idle_s;
            // 40 more sent brought 40 more, or 40 fewer: G is 1 or -1
            let after = period(&mut c, 1040, (990 + step) as u64, 10);
            assert!((after / before - 1.0) * sign > 0.15, "{step}: {before} to {after}");
        }
    }

    #[test]
    fn the_thesis_to_the_letter_does_nothing_between_the_bounds() {
        let mut c = control("thesis", 1000.0);
        assert_eq!(period(&mut c, 1000, 980, 20), 1000.0);
        assert_ne!(period(&mut c, 1000, 900, 100), 1000.0);
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_next_after_the_pause() {
        let mut path = Path::new(&ROW, &[], &config());
        path.run(ms(100), |_, _| false);
        // connected after 40 ms, and a pause of one round trip
        let at: Vec<_> = path.sent.iter().map(|&(at, _)| at).collect();
        assert_eq!(at, [[ms(40); 16], [ms(80); 16]].concat());
    }

    #[test]
    fn a_lost_datagram_is_found_by_the_first_acknowledgement_after_its_rto() {
        let mut path = Path::new(&ROW, &[], &config());
        path.run(ms(1500), |at, packet| packet.seq == 3 && packet.kind == Kind::Data && at == ms(40));
        let again: Vec<_> = path.sent.iter().filter(|&&(_, seq)| seq == 3).map(|&(at, _)| at).collect();
        // RTO 40 + 200 ms; found by an acknowledgement, sent in the burst after it
        assert_eq!(again.len(), 2);
        let waited = again[1].since(again[0]);
        assert!(waited > Interval::from_millis(240) && waited < Interval::from_millis(320), "{waited:?}");
        assert!(path.receiver.delivered() > 100);
    }

    #[test]
    fn a_lost_tail_is_repaired_when_nothing_comes_back() {
        let few = Config { bytes: Some(4 * 1448), ..config() };
        let mut path = Path::new(&ROW, &[], &few);
        path.run(ms(60_000), |at, packet| packet.kind == Kind::Data && at < ms(1000));
        assert!(path.sender.books().done);
        assert_eq!(path.sender.books().payload(path.sender.acked()), 4 * 1448);
        assert!(path.sender.books().counters.timeouts >= 2);
    }

    #[test]
    fn the_receiver_counts_what_comes_twice() {
        let mut r = Receiver::default();
        for seq in [0, 2, 2, 0, 1] {
            assert_eq!(r.on_packet(ms(0), &data(seq)).map(|ack| ack.seq), Some(seq));
        }
        assert_eq!((r.delivered(), r.counts().duplicates), (3, 2));
    }
}
