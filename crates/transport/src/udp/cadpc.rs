//! CADPC (Welzl: Scalable Performance Signalling and Congestion Avoidance, Kluwer 2003): Congestion Avoidance
//! with Distributed Proportional Control. The rate follows the traffic at the bottleneck, which PTP's routers
//! report; losses, delays and acknowledgements play no part.
//!
//! ```text
//! every `interval` round trips, x: rate, traffic: what left over the bottleneck's link, both over its capacity
//! x <- x + x a (1 - x - traffic)
//! bottleneck: of the routers on the path the one with the least C - traffic C
//! ```
//!
//! traffic contains x itself. n flows alone on a link rest where 1 - x - n x = 0: each has C / (n + 1), all
//! have C n / (n + 1). One more flow, which is not there, would have the rest.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | the law | x + x a (1 - x - traffic) | | from memory of the book, not verified | none known |
//! | `gain` (a) | 0.5 | | from memory of the book, not verified | |
//! | `interval` | 4 | round trips | from memory of the book, not verified | |
//! | first and least rate | 1 | packet per round trip | chosen here | the book's rule for starting was not at hand |
//! | a query | 44 and the header's 20 | bytes | chosen here, as UDT's control packets | PTP is directly above IP (protocol 123) |
//! | a report | 44 and 12 | bytes | chosen here | |

use super::channel::{carried, carrying};
use super::connection::accept;
use super::end::{Books, CONTROL_BYTES, Counts, Out, Pace, ReceivingEnd, SendingEnd};
use super::row::{Config, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use longfat_wire::{Explicit, Extra, Kind, Ptp, PtpReport, PtpStamp, Report, SimPacket};

/// The number of routers, the capacity and the traffic of one.
const REPORT_BYTES: u32 = CONTROL_BYTES + 12;
const QUERY_BYTES: u32 = CONTROL_BYTES + Ptp::HEADER_BYTES;

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "cadpc",
        title: "CADPC",
        aliases: &[],
        citation: "Welzl: Scalable Performance Signalling and Congestion Avoidance, Kluwer 2003",
        page: "cadpc",
        parameters: &[
            Parameter::number("gain", 0.5, (0.01, 1.0), "", "how far an update moves the rate (a)"),
            Parameter::number(
                "interval",
                4.0,
                (1.0, 100.0),
                "round trips",
                "time from one update to the next",
            ),
        ],
        style: Some(Style::new("#8f2d56", "P")),
    },
    reliable: false,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::default()),
};

/// The law: the next rate of a flow with the rate `x`. Rates and traffic are shares of the bottleneck's
/// capacity.
pub fn next_rate(gain: f64, x: f64, traffic: f64) -> f64 {
    x + x * gain * (1.0 - x - traffic)
}

/// The sending end: datagrams at equal distances, and queries.
pub struct Sender {
    books: Books,
    gain: f64,
    interval: f64,
    rate_bps: f64,
    /// PTP routers on the path, as far as known.
    routers: u8,
    pace: Pace,
    query_at: Time,
}

impl Sender {
    fn new(p: &Parameters, config: &Config) -> Self {
        let mut books = Books::new(config);
        books.config.bytes = None; // every datagram is full, the last one too
        Sender {
            books,
            gain: p.number("gain"),
            interval: p.number("interval"),
            rate_bps: 0.0,
            routers: 0,
            pace: Pace::new(config),
            query_at: Time::NEVER,
        }
    }

    fn packet_bits(&self) -> f64 {
        f64::from(8 * self.books.config.packet_bytes())
    }

    fn gap(&self) -> Interval {
        Interval::from_secs_f64(self.packet_bits() / self.rate_bps)
    }

    /// The round-trip time, or what the host's own link takes for a packet if that is longer.
    fn rtt_s(&self) -> f64 {
        self.books.connection.rtt.srtt().as_secs_f64().max(self.books.config.line_s())
    }

    /// One packet per round trip.
    fn least_bps(&self) -> f64 {
        self.packet_bits() / self.rtt_s()
    }

    fn set_rate(&mut self, now: Time, bps: f64) {
        let most_bps = self.books.config.line.as_bps() as f64;
        self.rate_bps = bps.max(self.least_bps()).min(most_bps);
        self.pace.hasten(now, self.gap());
    }

    fn on_report(&mut self, now: Time, report: &PtpReport) {
        self.routers = report.routers;
        if report.capacity_bps > 0.0 {
            let of_capacity = |bps: f64| bps / report.capacity_bps;
            let x = next_rate(self.gain, of_capacity(self.rate_bps), of_capacity(report.traffic_bps));
            self.set_rate(now, x * report.capacity_bps);
        }
    }

    /// Asks each router on the path. The first time, the sender does not know how many there are.
    fn query(&mut self, now: Time, out: Out) {
        for wanted in 1..=self.routers.max(1) {
            let query = Explicit::Ptp(Ptp { wanted, ..Ptp::default() });
            let extra = Extra { explicit: Some(query), ..Extra::default() };
            let packet =
                SimPacket::new(Kind::Query, self.books.config.flow, u64::from(wanted), QUERY_BYTES, now);
            out(SimPacket { extra: Some(Box::new(extra)), ..packet });
        }
        self.query_at = now + Interval::from_secs_f64(self.interval * self.rtt_s());
    }

    fn send_what_is_due(&mut self, now: Time, out: Out) {
        while self.books.is_active() && self.pace.due(now) <= now {
            let n = self.books.counters.packets_sent;
            if n == self.books.end {
                return self.finish(); // the last one has had its time
            }
            self.books.send(now, n, false, out);
            self.pace.sent(now, self.gap());
        }
    }

    fn finish(&mut self) {
        self.books.done = true;
        self.query_at = Time::NEVER;
        self.books.connection.rest();
    }
}

impl SendingEnd for Sender {
    fn stop(&mut self, _now: Time) {
        self.finish();
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if self.books.done {
            return;
        }
        if self.books.connection.opens(now, packet) {
            self.set_rate(now, self.least_bps());
            self.query(now, out);
        } else if packet.kind == Kind::Ack && self.books.connection.is_open() {
            self.books.connection.rtt.sample(packet.stamp, now);
            if let Some(Report::Ptp(report)) = carried(packet) {
                self.on_report(now, report);
            }
        }
        self.send_what_is_due(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if self.books.connection.repeats(now, out) {
            return;
        }
        if now >= self.query_at {
            self.query(now, out);
        }
        self.send_what_is_due(now, out);
    }

    fn wake(&self) -> Time {
        let open = self.books.is_active();
        if open { self.pace.due(Time::ZERO).min(self.query_at) } else { self.books.connection.wake() }
    }

    fn books(&self) -> &Books {
        &self.books
    }

    fn books_mut(&mut self) -> &mut Books {
        &mut self.books
    }
}

/// What the receiver knows of one router.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    stamp: Option<PtpStamp>,
    /// Capacity and traffic between the last two stamps, bit/s.
    load: Option<(f64, f64)>,
}

impl Watched {
    fn take(&mut self, stamp: PtpStamp) {
        if let Some(before) = self.stamp {
            if stamp.time < before.time {
                return; // a later query came first
            }
            if stamp.time > before.time {
                let span_s = stamp.time.since(before.time).as_secs_f64();
                let bits = 8.0 * stamp.bytes.saturating_sub(before.bytes) as f64;
                self.load = Some((stamp.capacity_bps, bits / span_s));
            }
        }
        self.stamp = Some(stamp);
    }

    /// The capacity that is unused, bit/s.
    fn spare_bps(&self) -> f64 {
        self.load.map_or(f64::INFINITY, |(capacity_bps, traffic_bps)| capacity_bps - traffic_bps)
    }
}

/// The receiving end: turns stamps into traffic, and reports the bottleneck's.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    routers: Vec<Watched>,
    delivered: u64,
    counts: Counts,
}

impl Receiver {
    /// Takes a query in. The one of the last router on the path brings the report.
    fn on_query(&mut self, query: &Ptp) -> Option<PtpReport> {
        self.routers.resize(usize::from(query.hops), Watched::default());
        if let Some(router) = usize::from(query.wanted).checked_sub(1).and_then(|i| self.routers.get_mut(i)) {
            router.take(query.stamp);
        }
        (query.wanted >= query.hops).then(|| self.report())
    }

    fn report(&self) -> PtpReport {
        let bottleneck = self.routers.iter().min_by(|a, b| a.spare_bps().total_cmp(&b.spare_bps()));
        let known = self.routers.iter().all(|router| router.load.is_some());
        let (capacity_bps, traffic_bps) =
            bottleneck.filter(|_| known).and_then(|router| router.load).unwrap_or_default();
        PtpReport { routers: self.routers.len() as u8, capacity_bps, traffic_bps }
    }
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, _now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match packet.kind {
            Kind::Syn => return Some(accept(packet)),
            Kind::Data => {
                self.delivered += 1;
                self.counts.received_bytes += u64::from(packet.bytes);
                return None;
            }
            Kind::Query => {}
            _ => return None,
        }
        let Some(Explicit::Ptp(query)) = packet.extra.as_ref()?.explicit else { return None };
        let known = self.routers.len();
        let report = self.on_query(&query);
        // the path has more or fewer routers than the sender knows
        let report = report.or_else(|| (known != self.routers.len()).then(|| self.report()))?;
        let answer = SimPacket::new(Kind::Ack, packet.flow, packet.seq, REPORT_BYTES, packet.stamp);
        Some(carrying(answer, Report::Ptp(report)))
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
    use crate::udp::testing::{Path, config, data, ms};
    use longfat_wire::FlowId;

    /// The rates of flows that all see what the others send, after this many updates.
    fn settled(mut rates: Vec<f64>, updates: u32) -> Vec<f64> {
        for _ in 0..updates {
            let traffic = rates.iter().sum();
            rates.iter_mut().for_each(|x| *x = next_rate(0.5, *x, traffic));
        }
        rates
    }

    #[test]
    fn a_tenth_of_a_link_that_is_two_fifths_full_grows_by_a_quarter() {
        // .1 + .1 x .5 (1 - .1 - .4)
        assert!((next_rate(0.5, 0.1, 0.4) - 0.125).abs() < 1e-15);
        // alone and almost at rest, every update multiplies by 1 + a
        assert!((next_rate(0.5, 1e-9, 0.0) / 1.5e-9 - 1.0).abs() < 1e-8);
        // a full link takes a x from each: .5 - .5 x .5 x .5
        assert!((next_rate(0.5, 0.5, 1.0) - 0.375).abs() < 1e-15);
    }

    #[test]
    fn n_flows_rest_at_one_part_in_n_plus_one_each() {
        for (n, each) in [(1.0, 1.0 / 2.0), (2.0, 1.0 / 3.0), (4.0, 0.2), (9.0, 0.1), (99.0, 0.01)] {
            assert!((next_rate(0.5, each, n * each) - each).abs() < 1e-15, "{n}");
        }
    }

    #[test]
    fn flows_reach_equal_shares_from_any_rates() {
        let rates = settled(vec![0.9, 0.01, 1e-4, 0.05], 400);
        assert!(rates.iter().all(|x| (x - 0.2).abs() < 1e-6), "{rates:?}");
        let rates = settled([vec![1e-6; 8], vec![0.5]].concat(), 1000);
        assert!(rates.iter().all(|x| (x - 0.1).abs() < 1e-6), "{rates:?}");
    }

    fn query(wanted: u8, hops: u8, at_ms: u64, capacity_bps: f64, bytes: u64) -> SimPacket {
        let stamp = PtpStamp { time: ms(at_ms), capacity_bps, bytes };
        let header = Explicit::Ptp(Ptp { wanted, hops, stamp });
        let extra = Extra { explicit: Some(header), ..Extra::default() };
        let packet = SimPacket::new(Kind::Query, FlowId(0), 0, QUERY_BYTES, ms(at_ms));
        SimPacket { extra: Some(Box::new(extra)), ..packet }
    }

    fn told(answer: Option<SimPacket>) -> Option<PtpReport> {
        match answer?.extra?.report.as_deref() {
            Some(Report::Ptp(report)) => Some(*report),
            _ => None,
        }
    }

    #[test]
    fn the_bottleneck_is_the_link_with_the_least_unused_capacity() {
        let mut r = Receiver::default();
        // the first query brings the number of routers
        let first = told(r.on_packet(ms(0), &query(1, 2, 0, 1e8, 0)));
        assert_eq!(first, Some(PtpReport { routers: 2, ..PtpReport::default() }));
        assert_eq!(told(r.on_packet(ms(100), &query(1, 2, 100, 1e8, 1_000_000))), None);
        let second = told(r.on_packet(ms(100), &query(2, 2, 100, 2e7, 0)));
        assert_eq!(
            second.map(|report| report.capacity_bps),
            Some(0.0),
            "the second router has told once only"
        );
        // in 100 ms 1 MB are 80 of 100 Mbit/s, 20 unused; 100 kB are 8 of 20 Mbit/s, 12 unused
        assert_eq!(told(r.on_packet(ms(200), &query(1, 2, 200, 1e8, 2_000_000))), None);
        let third = told(r.on_packet(ms(200), &query(2, 2, 200, 2e7, 100_000)));
        assert_eq!(third, Some(PtpReport { routers: 2, capacity_bps: 2e7, traffic_bps: 8e6 }));
    }

    #[test]
    fn a_query_that_a_later_one_has_overtaken_changes_nothing() {
        let mut r = Receiver::default();
        let mut traffic_bps = |at_ms, bytes| {
            let answer = r.on_packet(ms(at_ms), &query(1, 1, at_ms, 1e8, bytes));
            told(answer).map(|report| report.traffic_bps)
        };
        assert_eq!(traffic_bps(0, 0), Some(0.0));
        // 2 MB in 200 ms; what left 100 ms earlier comes later
        assert_eq!(traffic_bps(200, 2_000_000), Some(8e7));
        assert_eq!(traffic_bps(100, 1_500_000), Some(8e7));
        // 500 kB since the stamp at 200 ms
        assert_eq!(traffic_bps(300, 2_500_000), Some(4e7));
    }

    #[test]
    fn a_receiver_counts_data_and_does_not_acknowledge_it() {
        let mut r = Receiver::default();
        assert!(r.on_packet(ms(0), &data(0)).is_none() && r.on_packet(ms(0), &data(2)).is_none());
        assert_eq!((r.delivered(), r.counts().received_bytes), (2, 3000));
    }

    #[test]
    fn without_a_router_it_stays_at_one_packet_per_round_trip() {
        let mut path = Path::new(&ROW, &[], &config());
        path.run(ms(1000), |_, _| false);
        let at: Vec<_> = path.sent.iter().map(|&(at, _)| at).collect();
        assert_eq!(at, (1..=25).map(|i| ms(40 * i)).collect::<Vec<_>>());
    }

    #[test]
    fn a_report_sets_the_rate_and_the_next_query_leaves_four_round_trips_later() {
        let mut path = Path::new(&ROW, &[], &config());
        path.run(ms(90), |_, _| false);
        let report = |traffic_bps| {
            let report = Report::Ptp(PtpReport { routers: 3, capacity_bps: 1e8, traffic_bps });
            carrying(SimPacket::new(Kind::Ack, FlowId(0), 1, REPORT_BYTES, ms(60)), report)
        };
        // one packet of 1500 bytes in 40 ms: .3 of 100 Mbit/s, x = .003; .003 + .003 x .5 (1 - .003 - .103)
        path.sender.on_packet(ms(100), &report(10.3e6), &mut |_| {});
        assert!((path.sender.rate_bps - 434_100.0).abs() < 1.0, "{}", path.sender.rate_bps);
        // the first query left at 40 ms; the next ones ask all three routers
        assert_eq!(path.sender.query_at, ms(200));
        let mut asked = Vec::new();
        path.sender.on_timer(ms(200), &mut |packet| {
            if let Some(Explicit::Ptp(query)) = packet.extra.and_then(|extra| extra.explicit) {
                asked.push(query.wanted);
            }
        });
        assert_eq!(asked, [1, 2, 3]);
    }

    #[test]
    fn so_many_bytes_are_as_many_full_datagrams_and_then_it_is_done() {
        let few = Config { bytes: Some(3 * 1448 + 1), ..config() };
        let mut path = Path::new(&ROW, &[], &few);
        path.run(ms(10_000), |_, _| false);
        assert_eq!((path.sent.len(), path.sender.books().done), (4, true));
        assert_eq!(path.receiver.counts().received_bytes, 4 * 1500);
    }

    #[test]
    fn a_lost_request_is_repeated() {
        let (mut sender, mut requests) = (Sender::new(&ROW.check(&[], config().line).unwrap(), &config()), 0);
        let mut count = |packet: SimPacket| requests += u32::from(packet.kind == Kind::Syn);
        sender.start(ms(0), &mut count);
        assert_eq!(sender.wake(), ms(1000));
        sender.on_timer(ms(1000), &mut count);
        assert_eq!(sender.wake(), ms(3000));
        assert_eq!(requests, 2);
    }
}
