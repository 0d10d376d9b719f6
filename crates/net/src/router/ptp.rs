//! PTP's router (Welzl: The Performance Transparency Protocol (PTP), draft-welzl-ptp-03, 2000): tells those
//! who ask what it knows about its link, and decides nothing.
//!
//! ```text
//! every packet that leaves:  bytes <- bytes + its length
//! a query that leaves     :  hops <- hops + 1;   if hops = wanted:  stamp <- (now, C, bytes)
//! ```
//!
//! The receiver calculates the traffic from two queries of the same router; the router keeps no state for it.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | stamp | time, capacity, bytes | | from memory of the draft's data set, not verified | a query asks one router; PTP's query collects the data sets of all |
//! | bytes | all that left over the link | bytes of IP | chosen here, as ifOutOctets (RFC 2863) counts | without the headers of layer 2 |

use super::behind::Behind;
use super::row::{Router, Setup};
use crate::{Capacity, Element, Sink};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Time};
use longfat_wire::{Explicit, FlowId, Kind, Packet, PtpStamp};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "ptp",
        title: "PTP",
        aliases: &[],
        citation: "Welzl: The Performance Transparency Protocol (PTP), draft-welzl-ptp-03, 2000",
        page: "cadpc",
        parameters: &[],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

/// A queue that counts what leaves it.
pub struct Ptp<P> {
    queue: Behind<P>,
    capacity: Capacity,
    bytes: u64,
}

impl<P: Packet> Ptp<P> {
    /// From checked parameters; never refused.
    pub fn build(setup: Setup<P>, _p: &Parameters) -> Self {
        Ptp { queue: Behind::new(setup.queue), capacity: setup.capacity, bytes: 0 }
    }

    fn answer(&self, now: Time, packet: &mut P) {
        if let Some(Explicit::Ptp(query)) = packet.explicit_mut() {
            query.hops = query.hops.saturating_add(1);
            if query.hops == query.wanted {
                let capacity_bps = self.capacity.bps(now);
                query.stamp = PtpStamp { time: now, capacity_bps, bytes: self.bytes };
            }
        }
    }
}

impl<P: Packet> Element<P> for Ptp<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.queue.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.queue.arrive(now, packet, out);
        out.set_timer(self.queue.wake());
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.queue.timer(now, out);
        out.set_timer(self.queue.wake());
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let mut packet = self.queue.next(now, out);
        if let Some(packet) = &mut packet {
            self.bytes += u64::from(packet.bytes());
            if packet.kind() == Kind::Query {
                self.answer(now, packet);
            }
        }
        out.set_timer(self.queue.wake());
        packet
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn flows_estimated(&self) -> Option<f64> {
        self.queue.flows_estimated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::driver::data;
    use crate::testing::router::{Tally, setup};
    use longfat_units::Interval;
    use longfat_wire::{Extra, FlowId, Ptp as Query, SimPacket};

    fn router() -> Ptp<SimPacket> {
        Ptp::build(setup(8e6, 100), &ROW.checked(&[]).unwrap())
    }

    fn query(wanted: u8) -> SimPacket {
        let header = Explicit::Ptp(Query { wanted, ..Query::default() });
        let extra = Extra { explicit: Some(header), ..Extra::default() };
        SimPacket {
            extra: Some(Box::new(extra)),
            ..SimPacket::new(Kind::Query, FlowId(0), 0, 64, Time::ZERO)
        }
    }

    fn crossed(router: &mut Ptp<SimPacket>, now: Time, packet: SimPacket) -> SimPacket {
        let mut tally = Tally::default();
        router.arrive(now, packet, &mut tally);
        router.next(now, &mut tally).expect("the queue was empty")
    }

    fn header(packet: &SimPacket) -> Query {
        let Some(Explicit::Ptp(query)) = packet.explicit() else { panic!("no query") };
        *query
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Interval::from_millis(ms)
    }

    #[test]
    fn two_queries_tell_what_left_in_between() {
        let mut router = router();
        let first = header(&crossed(&mut router, ms(0), query(1)));
        for i in 0..50 {
            crossed(&mut router, ms(i), data(1, 0, 1500));
        }
        let second = header(&crossed(&mut router, ms(100), query(1)));
        assert_eq!((first.hops, second.hops), (1, 1));
        assert_eq!(second.stamp, PtpStamp { time: ms(100), capacity_bps: 8e6, bytes: 64 + 50 * 1500 + 64 });
        // 50 packets of 1500 bytes and a query of 64 bytes in 100 ms: 6.00512 of 8 Mbit/s
        assert_eq!(8 * (second.stamp.bytes - first.stamp.bytes), 600_512);
    }

    #[test]
    fn the_router_that_a_query_asks_answers_and_the_others_count_it() {
        let (mut near, mut far) = (router(), router());
        for (wanted, stamped_ms) in [(1, Some(1)), (2, Some(2)), (3, None)] {
            let once = crossed(&mut near, ms(1), query(wanted));
            let twice = header(&crossed(&mut far, ms(2), once));
            assert_eq!(twice.hops, 2);
            assert_eq!(twice.stamp.time, stamped_ms.map_or(Time::ZERO, ms), "router {wanted}");
        }
    }

    #[test]
    fn other_packets_pass_unchanged_and_the_queue_drops_as_without_it() {
        let mut router = router();
        let packet = data(3, 7, 1500);
        assert_eq!(crossed(&mut router, ms(1), packet.clone()), packet);
        let mut tally = Tally::default();
        for _ in 0..120 {
            router.arrive(ms(2), packet.clone(), &mut tally);
        }
        assert_eq!((router.packets(), tally.dropped.len()), (100, 20));
    }
}
