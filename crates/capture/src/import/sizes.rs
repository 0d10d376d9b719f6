//! The packets of one direction, counted as the segments that are on the wire.
//!
//! With large-send or large-receive offload, a capture shows packets that the network card cuts, or has put
//! together. Such a packet is longer than a segment may be: than the SYNs' MSS, or, without them, than most
//! packets are.

use std::collections::BTreeMap;

/// TCP's and IPv4's headers without options, bytes.
const PLAIN_HEADERS: u32 = 40;
/// The most bytes of a packet that need no offload: Ethernet's, without the least headers.
const USUAL_MSS: u32 = 1460;
/// Every path carries segments of this length (RFC 9293, the default MSS): shorter ones are no measure.
const LEAST_MSS: u32 = 536;
/// The most lengths that are counted apart.
const MOST_LENGTHS: usize = 1 << 12;

/// The packets with payload of one direction.
#[derive(Clone, Default)]
pub struct Sizes {
    /// Packets by their payload, bytes.
    counts: BTreeMap<u32, u64>,
    /// Packets, and those that are not among `counts`, as segments.
    packets: u64,
    beyond: u64,
    /// The most that the SYNs allow, bytes; `None` without them.
    announced: Option<u32>,
    /// The bytes of options in the longest headers.
    options: u32,
    /// Payload of all, and headers of all segments, bytes.
    payload: u64,
    headers: u64,
    /// Segments that were sent again.
    again: u64,
    /// The payload of a full segment, bytes.
    full: u32,
}

impl Sizes {
    /// A SYN says that segments may have this many bytes, options included.
    pub fn announce(&mut self, mss: u16) {
        let mss = u32::from(mss).max(1);
        self.announced = Some(self.announced.map_or(mss, |least| least.min(mss)));
    }

    /// A packet is sent, of which `again` bytes were sent before. IP's header is so much longer than IPv4's.
    pub fn add(&mut self, payload: u32, again: u32, header: u32, longer: u32) {
        self.options = self.options.max(header.saturating_sub(PLAIN_HEADERS + longer).min(40));
        self.packets += 1;
        let room = self.counts.len() < MOST_LENGTHS;
        match self.counts.get_mut(&payload) {
            Some(count) => *count += 1,
            None if room => drop(self.counts.insert(payload, 1)),
            None => self.beyond += self.segments_of(payload),
        }
        // the lengths decide together: looked at again when there is a new one, and when there are twice as
        // many
        if self.packets.is_power_of_two() || room && self.counts.get(&payload) == Some(&1) {
            self.full = self.decide();
        }
        let segments = self.segments_of(payload);
        self.payload += u64::from(payload);
        self.headers += u64::from(header) * segments;
        self.again += if again == 0 { 0 } else { self.segments_of(again).min(segments) };
    }

    /// The payload of a full segment, bytes.
    pub const fn full(&self) -> u32 {
        self.full
    }

    fn decide(&self) -> u32 {
        let largest = self.counts.last_key_value().map_or(1, |(payload, _)| *payload);
        let Some(mss) = self.announced else { return self.usual(largest) };
        if largest <= mss {
            return largest;
        }
        // of the MSS less options, the longest segment that was seen, and the MSS (a program may announce it
        // without options), the one of which most of the longer packets are multiples
        let less = mss.saturating_sub(self.options).max(1);
        let seen = self.counts.range(..=mss).next_back().map(|(payload, _)| *payload);
        if let Some(full) = seen.filter(|seen| *seen >= less) {
            return full;
        }
        let multiples = |full: &u32| {
            self.counts.range(mss + 1..).filter(|(payload, _)| payload.is_multiple_of(*full)).count()
        };
        let likely = [Some(mss), seen.filter(|seen| *seen >= LEAST_MSS), Some(less)];
        likely.into_iter().flatten().max_by_key(multiples).unwrap_or(less)
    }

    /// Without SYNs: the largest, if no offload is needed for it; otherwise the most frequent.
    fn usual(&self, largest: u32) -> u32 {
        if largest <= USUAL_MSS {
            return largest;
        }
        let likely = self.counts.range(LEAST_MSS..).max_by_key(|(payload, count)| (**count, !**payload));
        likely.map_or(largest, |(payload, _)| *payload)
    }

    fn segments_of(&self, payload: u32) -> u64 {
        if self.announced.is_some_and(|mss| payload <= mss) {
            return 1;
        }
        u64::from(payload.div_ceil(self.full.max(1)).max(1))
    }

    /// Packets that were captured.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Segments, and those of them that were sent again.
    pub fn segments(&self) -> (u64, u64) {
        let known = self.counts.iter().map(|(payload, count)| self.segments_of(*payload) * count);
        let all = known.sum::<u64>() + self.beyond;
        (all, self.again.min(all))
    }

    /// Segments that were sent again so far.
    pub const fn again(&self) -> u64 {
        self.again
    }

    /// Payload of all packets, bytes.
    pub const fn payload(&self) -> u64 {
        self.payload
    }

    /// IP bytes of a byte of payload.
    pub fn overhead(&self) -> f64 {
        if self.payload == 0 { 1.0 } else { (self.payload + self.headers) as f64 / self.payload as f64 }
    }

    /// The packets that are more than one segment.
    pub fn long(&self) -> u64 {
        let long = self.counts.iter().filter(|(payload, _)| self.segments_of(**payload) > 1);
        long.map(|(_, count)| *count).sum()
    }
}
