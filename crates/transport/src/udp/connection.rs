//! A connection: how it opens, and its timers.
//!
//! | constant | value | source |
//! |---|---|---|
//! | handshake | 92 bytes | IP 20, UDP 8, header 16, information 48: draft-gg-udt-03, section 2; the same was chosen for all others |
//! | request repeated | after the timeout of RFC 6298, from 1 s on | chosen here |

use super::row::Config;
use crate::rtt::{RtoConfig, RttEstimator};
use longfat_units::Time;
use longfat_wire::{FlowId, Kind, SimPacket};

const HANDSHAKE_BYTES: u32 = 92;

/// The phase of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    Connecting,
    Open,
}

/// The sender's end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    flow: FlowId,
    phase: Phase,
    /// The first sample is the time from the request to its response.
    pub(super) rtt: RttEstimator,
    /// When the next packet may leave.
    pub(super) send_at: Time,
    /// When the request is repeated; once the connection is open, the protocol's own timeout.
    pub(super) expire_at: Time,
}

impl Connection {
    pub(super) fn new(config: &Config) -> Self {
        Connection {
            flow: config.flow,
            phase: Phase::Idle,
            rtt: RttEstimator::new(&RtoConfig::with_min(config.rto_min)),
            send_at: Time::NEVER,
            expire_at: Time::NEVER,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Sends the request.
    pub(super) fn request(&mut self, now: Time, out: &mut dyn FnMut(SimPacket)) {
        self.phase = Phase::Connecting;
        self.expire_at = self.rtt.deadline(now);
        out(SimPacket::new(Kind::Syn, self.flow, 0, HANDSHAKE_BYTES, now));
    }

    /// Sends the request again if its time is over. Returns whether it did.
    pub(super) fn repeats(&mut self, now: Time, out: &mut dyn FnMut(SimPacket)) -> bool {
        let repeats = self.phase == Phase::Connecting && now >= self.expire_at;
        if repeats {
            self.rtt.back_off();
            self.request(now, out);
        }
        repeats
    }

    /// Opens if this packet is the response to the request. Returns whether it is.
    pub(super) fn opens(&mut self, now: Time, packet: &SimPacket) -> bool {
        let opens = self.phase == Phase::Connecting && packet.kind == Kind::SynAck;
        if opens {
            self.phase = Phase::Open;
            self.rtt.sample(packet.stamp, now);
            self.expire_at = Time::NEVER;
        }
        opens
    }

    /// The earlier of the two timers.
    pub(super) fn wake(&self) -> Time {
        self.send_at.min(self.expire_at)
    }

    /// Stops both timers.
    pub(super) fn rest(&mut self) {
        (self.send_at, self.expire_at) = (Time::NEVER, Time::NEVER);
    }
}

/// The response to a connection request.
pub(super) fn accept(request: &SimPacket) -> SimPacket {
    SimPacket::new(Kind::SynAck, request.flow, 0, HANDSHAKE_BYTES, request.stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::testing::{config, ms};

    /// A connection whose first request left at the beginning, and the number of requests so far.
    fn requested() -> (Connection, u32) {
        let (mut connection, mut requests) = (Connection::new(&config()), 0);
        connection.request(ms(0), &mut |packet| requests += u32::from(packet.kind == Kind::Syn));
        (connection, requests)
    }

    #[test]
    fn a_request_is_repeated_after_one_second_and_then_after_two() {
        let (mut connection, mut requests) = requested();
        let mut count = |packet: SimPacket| requests += u32::from(packet.kind == Kind::Syn);
        assert!(!connection.repeats(ms(999), &mut count));
        assert!(connection.repeats(ms(1000), &mut count));
        assert!(!connection.repeats(ms(2999), &mut count));
        assert!(connection.repeats(ms(3000), &mut count));
        assert_eq!((requests, connection.wake()), (3, ms(7000)));
    }

    #[test]
    fn only_the_response_opens_a_connection_and_only_once() {
        let (mut connection, _) = requested();
        let request = SimPacket::new(Kind::Syn, FlowId(0), 0, HANDSHAKE_BYTES, ms(0));
        let response = accept(&request);
        assert!(!connection.opens(ms(40), &request) && !connection.is_open());
        assert!(connection.opens(ms(40), &response) && connection.is_open());
        assert_eq!((connection.rtt.srtt(), connection.wake()), (ms(40).since(ms(0)), Time::NEVER));
        assert!(!connection.opens(ms(41), &response));
    }
}
