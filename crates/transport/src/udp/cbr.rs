//! Constant bit rate: datagrams of full size at equal distances, without acknowledgements or reactions to
//! losses (the UDP flows of Lopez Pacheco 2008, section 3.2).
//!
//! ```text
//! packet n leaves at  start + n 8 (mss + headers) / rate
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | rate | 50 | Mbit/s of IP packets | Lopez Pacheco 2008, section 3.2 | the thesis does not say which bytes its rate counts |

use super::end::{Books, Counts, Out, ReceivingEnd, SendingEnd};
use super::periods::Periods;
use super::row::{BPS_PER_MBPS, Config, RATE, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Kind, SimPacket};

/// The row.
pub const ROW: Row<Source, Counter> = Row {
    entry: Entry {
        name: "cbr",
        title: "Constant bit rate",
        aliases: &[],
        citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
                   high speed networks, thesis, ENS Lyon, 2008, section 3.2",
        page: "cbr",
        parameters: &[RATE],
        style: None,
    },
    reliable: false,
    answered: false,
    random: false,
    build: |p, config, _| (Source::new(p, config, None), Counter::default()),
};

/// A source of datagrams that reacts to nothing.
pub struct Source {
    books: Books,
    /// Distance of two packets while it sends, seconds.
    gap_s: f64,
    /// When it sends; always if `None`.
    periods: Option<Periods>,
    started: Option<Time>,
    /// When the next packet leaves.
    at: Time,
}

impl Source {
    /// A source at rest.
    pub(super) fn new(p: &Parameters, config: &Config, periods: Option<Periods>) -> Self {
        let mut books = Books::new(config);
        books.config.bytes = None; // every datagram is full, the last one too
        let gap_s = f64::from(8 * config.packet_bytes()) / (BPS_PER_MBPS * p.number(RATE.name));
        Source { books, gap_s, periods, started: None, at: Time::NEVER }
    }
}

impl SendingEnd for Source {
    fn start(&mut self, now: Time, out: Out) {
        self.started = Some(now);
        self.at = now;
        self.on_timer(now, out);
    }

    fn stop(&mut self, _now: Time) {
        self.books.done = true;
        self.at = Time::NEVER;
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        let Some(started) = self.started else { return };
        while self.at <= now {
            let n = self.books.counters.packets_sent;
            if n == self.books.end {
                return self.stop(now); // the last one has had its time
            }
            self.books.send(now, n, false, out);
            let sending = Interval::from_secs_f64((n + 1) as f64 * self.gap_s);
            self.at = started + self.periods.as_mut().map_or(sending, |periods| periods.when(sending));
        }
    }

    fn connected(&self) -> Option<bool> {
        None // it sends without asking
    }

    fn wake(&self) -> Time {
        self.at.round_up(self.books.config.host_tick, self.books.config.tick_phase)
    }

    fn books(&self) -> &Books {
        &self.books
    }

    fn books_mut(&mut self) -> &mut Books {
        &mut self.books
    }
}

/// A receiver that only counts what arrives.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    delivered: u64,
    counts: Counts,
}

impl ReceivingEnd for Counter {
    fn on_packet(&mut self, _now: Time, packet: &SimPacket) -> Option<SimPacket> {
        if packet.kind == Kind::Data {
            self.delivered += 1;
            self.counts.received_bytes += u64::from(packet.bytes);
        }
        None
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, ms};
    use longfat_units::Rate;

    fn at(mbps: f64) -> [(&'static str, Value); 1] {
        [("rate", Value::Number(mbps))]
    }

    #[test]
    fn fifty_megabit_is_a_packet_every_240_microseconds_without_drift() {
        let mut path = Path::new(&ROW, &at(50.0), &config());
        path.run(ms(60_000), |_, _| false);
        assert_eq!(path.sent.len(), 250_001);
        assert_eq!(path.sent[1], (Time::from_ns(240_000), 1));
        assert_eq!(path.sent[250_000].0, ms(60_000));
        // a rate whose packets are no whole number of nanoseconds apart
        let mut path = Path::new(&ROW, &at(7.0), &config());
        path.run(ms(60_000), |_, _| false);
        assert_eq!(path.sent.len(), 35_001);
        assert_eq!(path.sent[35_000].0, ms(60_000));
    }

    #[test]
    fn losses_change_nothing() {
        let mut path = Path::new(&ROW, &at(12.0), &config());
        path.run(ms(1000), |_, packet| !packet.seq.is_multiple_of(2));
        assert_eq!(path.sent.len(), 1001);
        // of the 981 sent by 980 ms those with even numbers have arrived
        assert_eq!(path.receiver.delivered(), 491);
        assert_eq!(path.receiver.counts().received_bytes, 491 * 1500);
    }

    #[test]
    fn so_many_bytes_are_as_many_full_datagrams_and_then_it_is_done() {
        let few = Config { bytes: Some(3 * 1448 + 1), ..config() };
        let mut path = Path::new(&ROW, &at(12.0), &few);
        path.run(ms(1000), |_, _| false);
        assert_eq!((path.sent.len(), path.sender.books().done), (4, true));
        assert_eq!(path.receiver.counts().received_bytes, 4 * 1500);
    }

    #[test]
    fn a_rate_above_the_host_s_own_link_is_refused() {
        let slow = Config { line: Rate::from_bps(4e7).unwrap(), ..config() };
        let given = [("rate".to_owned(), Value::Number(50.0))];
        let refusal = ROW.ends(&given, &slow, longfat_units::Stream::new(1, "x")).err().unwrap().to_string();
        assert_eq!(
            refusal,
            "cbr.rate = 50 Mbit/s is not accepted; give at most the 40 Mbit/s of the host's own link"
        );
    }

    #[test]
    fn a_coarse_host_sends_what_is_due_at_its_ticks() {
        let coarse = Config { host_tick: Interval::from_millis(10), ..config() };
        let mut path = Path::new(&ROW, &at(12.0), &coarse);
        path.run(ms(1000), |_, _| false);
        assert_eq!(path.sent.len(), 1001);
        assert!(path.sent.iter().all(|(at, _)| at.as_ns() % 10_000_000 == 0));
    }
}
