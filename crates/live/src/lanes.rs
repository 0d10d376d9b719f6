//! Stretches of path between the places where packets are handled: from a host to its first link, from link
//! to link, and from the last link to a host. Each keeps order, so of each only the first packet can be due
//! next.

use longfat_net::Pipe;
use longfat_units::Time;
use longfat_wire::RealPacket;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a lane ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// At a link, by its index.
    Link(usize),
    /// At the hosts of a side.
    Host(usize),
}

struct Lane {
    stop: Stop,
    pipe: Pipe<RealPacket>,
    /// When the last packet arrives.
    last: Time,
}

/// All lanes of a thread.
#[derive(Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
    /// When the first packet of each lane that has one arrives.
    heads: BinaryHeap<Reverse<(Time, usize)>>,
}

impl Lanes {
    /// Adds a lane and returns its number.
    pub fn add(&mut self, stop: Stop) -> usize {
        self.lanes.push(Lane { stop, pipe: Pipe::default(), last: Time::ZERO });
        self.lanes.len() - 1
    }

    /// Says where a lane ends from now on; packets under way go there too.
    pub fn lead(&mut self, lane: usize, stop: Stop) {
        self.lanes[lane].stop = stop;
    }

    /// A packet enters a lane and arrives at `at`, or with the packet before it if that is later.
    #[inline]
    pub fn put(&mut self, number: usize, at: Time, packet: RealPacket) {
        let lane = &mut self.lanes[number];
        lane.last = lane.last.max(at);
        if lane.pipe.is_empty() {
            self.heads.push(Reverse((lane.last, number)));
        }
        lane.pipe.push(lane.last, packet);
    }

    /// When the next packet arrives.
    #[inline]
    pub fn next(&self) -> Time {
        self.heads.peek().map_or(Time::NEVER, |&Reverse((at, _))| at)
    }

    /// Takes the packet that arrives next, with the end of its lane.
    #[inline]
    pub fn take(&mut self) -> Option<(Stop, RealPacket)> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((_, number)) = *head;
        let lane = &mut self.lanes[number];
        let packet = lane.pipe.pop();
        if lane.pipe.is_empty() {
            std::collections::binary_heap::PeekMut::pop(head);
        } else {
            *head = Reverse((lane.pipe.head(), number));
        }
        packet.map(|packet| (lane.stop, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Interval;

    #[test]
    fn packets_of_all_lanes_arrive_in_the_order_of_their_times_and_never_overtake_on_one() {
        let mut lanes = Lanes::default();
        let stops = [Stop::Link(4), Stop::Host(1)];
        let numbers = stops.map(|stop| lanes.add(stop));
        for (lane, ms, hop) in [(0, 5, 1), (1, 1, 2), (0, 3, 3), (1, 6, 4), (0, 9, 5)] {
            let mut packet = RealPacket::default();
            packet.hop = hop;
            lanes.put(numbers[lane], Time::ZERO + Interval::from_millis(ms), packet);
        }
        let mut found = Vec::new();
        while lanes.next() != Time::NEVER {
            let at = lanes.next();
            let Some((stop, packet)) = lanes.take() else { break };
            found.push((at.as_ns() / 1_000_000, stop, packet.hop));
        }
        let [link, host] = stops;
        // the packet for 3 ms left behind the one for 5 ms
        assert_eq!(found, [(1, host, 2), (5, link, 1), (5, link, 3), (6, host, 4), (9, link, 5)]);
    }
}
