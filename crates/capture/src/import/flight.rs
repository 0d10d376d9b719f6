//! What is in flight: sent, and neither acknowledged, nor selectively acknowledged, nor lost.
//!
//! A piece is lost once something three segments beyond it was selectively acknowledged, until it is sent
//! again: as in forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996), and as RACK finds where nothing
//! is reordered.

use super::rtt::Sent;
use std::collections::BTreeMap;

/// A piece is lost if this many segments follow it until the highest that has arrived (RFC 6675, DupThresh).
const LOSS_PROOF: u64 = 3;
/// The most pieces in memory; of more, the oldest are forgotten. A path of 10 Gbit/s and 1 s has as many.
const MOST_PIECES: usize = 1 << 20;

/// A part of the stream that was sent in one packet.
#[derive(Clone, Copy)]
struct Piece {
    end: u64,
    at_ns: u64,
    /// It was captured when it was sent, and once.
    once: bool,
    again: bool,
    lost: bool,
}

/// The pieces in flight of one direction, by their first byte.
#[derive(Default)]
pub struct Flight {
    pieces: BTreeMap<u64, Piece>,
    bytes: u64,
    /// Bytes of all pieces, lost ones too.
    waiting: u64,
    /// The highest byte that was selectively acknowledged.
    sacked: u64,
    /// Below this, everything is marked that is lost.
    judged: u64,
}

impl Flight {
    /// Bytes in flight.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that have not been acknowledged, also not selectively.
    pub const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// New bytes are sent: from `start` on, which no byte was beyond before.
    /// `at_ns` is `None` if the capture does not show when.
    pub fn send(&mut self, start: u64, end: u64, at_ns: Option<u64>) {
        let piece =
            Piece { end, at_ns: at_ns.unwrap_or(0), once: at_ns.is_some(), again: false, lost: false };
        self.bytes += end - start;
        self.waiting += end - start;
        self.pieces.insert(start, piece);
        if self.pieces.len() > MOST_PIECES
            && let Some((start, piece)) = self.pieces.pop_first()
        {
            self.leave(start, piece, None);
        }
    }

    /// Bytes are sent again.
    pub fn send_again(&mut self, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        for (&start, piece) in self.pieces.range_mut(start..end.max(start)) {
            if core::mem::take(&mut piece.lost) {
                self.bytes += piece.end - start;
            }
            (piece.once, piece.again) = (false, true);
        }
    }

    /// Everything below `end` is acknowledged. Returns when the pieces were sent that this reports, if
    /// none of them was sent twice: of those, it is not known which arrived.
    pub fn acknowledge(&mut self, end: u64) -> Option<Sent> {
        self.split(end);
        let (mut sent, mut twice) = (None, false);
        while let Some(first) = self.pieces.first_entry().filter(|first| *first.key() < end) {
            let (start, piece) = first.remove_entry();
            twice |= piece.again;
            sent = self.leave(start, piece, sent);
        }
        sent.filter(|_| !twice)
    }

    /// These bytes are selectively acknowledged; segments have `segment` bytes. Returns when the pieces were
    /// sent that this reports first, if none of them was sent twice: such a block also has older pieces that
    /// there was no room for before.
    pub fn sack(&mut self, start: u64, end: u64, segment: u32) -> Option<Sent> {
        if start >= end {
            return None;
        }
        self.split(start);
        self.split(end);
        let known: Vec<u64> = self.pieces.range(start..end).map(|(&start, _)| start).collect();
        let (mut sent, mut twice) = (None, false);
        for start in known {
            if let Some(piece) = self.pieces.remove(&start) {
                twice |= piece.again;
                sent = self.leave(start, piece, sent);
            }
        }
        self.sacked = self.sacked.max(end);
        let beyond = self.sacked.saturating_sub(LOSS_PROOF * u64::from(segment));
        if beyond > self.judged {
            for (&start, piece) in self.pieces.range_mut(self.judged..beyond) {
                if piece.end <= beyond && !piece.lost && !piece.again {
                    piece.lost = true;
                    self.bytes -= piece.end - start;
                }
            }
            self.judged = self.pieces.range(..beyond).next_back().map_or(beyond, |(&start, piece)| {
                if piece.end > beyond { start.max(self.judged) } else { beyond }
            });
        }
        sent.filter(|_| !twice)
    }

    /// No piece has a time any more: the clock has stepped.
    pub fn forget_times(&mut self) {
        self.pieces.values_mut().for_each(|piece| piece.once = false);
    }

    /// A piece is in flight no more. Returns when it and the earlier ones were sent, if that was captured.
    fn leave(&mut self, start: u64, piece: Piece, earlier: Option<Sent>) -> Option<Sent> {
        self.waiting -= piece.end - start;
        if !piece.lost {
            self.bytes -= piece.end - start;
        }
        if piece.once { Some(Sent::at(piece.at_ns).with(earlier)) } else { earlier }
    }

    /// Makes two pieces of one that reaches across this byte.
    fn split(&mut self, at: u64) {
        if let Some((_, piece)) = self.pieces.range_mut(..at).next_back()
            && piece.end > at
        {
            let rest = *piece;
            piece.end = at;
            self.pieces.insert(at, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 100;

    /// Ten segments, sent at 0, 1, ... 9 ns.
    fn ten() -> Flight {
        let mut flight = Flight::default();
        for i in 0..10 {
            flight.send(i * 100, (i + 1) * 100, Some(i));
        }
        flight
    }

    fn sent(first_ns: u64, last_ns: u64) -> Option<Sent> {
        Some(Sent { first_ns, last_ns })
    }

    #[test]
    fn selectively_acknowledged_and_lost_segments_are_not_in_flight_until_they_are_sent_again() {
        let mut flight = ten();
        assert_eq!(flight.sack(200, 400, SEGMENT), sent(2, 3));
        assert_eq!(flight.bytes(), 700, "two have arrived, the second is three beyond the first");
        assert_eq!(flight.sack(200, 500, SEGMENT), sent(4, 4));
        assert_eq!(flight.bytes(), 500, "the first two are lost");
        flight.send_again(0, 100);
        assert_eq!(flight.bytes(), 600);
        assert_eq!(flight.sack(200, 600, SEGMENT), sent(5, 5));
        assert_eq!(flight.bytes(), 500);
        assert_eq!(flight.acknowledge(100), None, "sent twice");
        flight.send_again(100, 200);
        assert_eq!(flight.acknowledge(700), None);
        assert_eq!((flight.bytes(), flight.acknowledge(1000)), (300, sent(7, 9)));
        assert_eq!(flight.bytes(), 0);
    }

    #[test]
    fn a_packet_of_offload_is_acknowledged_in_parts() {
        let mut flight = Flight::default();
        flight.send(0, 1000, Some(5));
        assert_eq!(flight.acknowledge(100), sent(5, 5));
        assert_eq!(flight.sack(300, 500, SEGMENT), sent(5, 5));
        assert_eq!(flight.bytes(), 700);
        flight.send_again(100, 300);
        assert_eq!(flight.acknowledge(1000), None);
        assert_eq!(flight.bytes(), 0);
    }
}
