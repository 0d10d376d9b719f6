//! The usual acknowledgement: the flow is steady, and nothing is lost or in doubt. What [`Sender::on_packet`]
//! does then, and nothing else.

use super::transmission::Outbox;
use super::{Happened, Phase, Sender};
use crate::cc::{Ack, CongestionControl};
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, SimPacket};

impl Sender {
    /// Whether the packet is an acknowledgement of new data in steady flow.
    #[inline(always)]
    pub(super) fn is_steady(&self, packet: &SimPacket) -> bool {
        self.plain
            && self.samples_each
            && self.phase == Phase::Open
            && packet.kind == Kind::Ack
            && packet.extra.is_none()
            && !packet.ecn_flag
            && self.board.is_clear()
            && packet.seq > self.board.base()
            && self.duplicates == 0
            && self.send_at == Time::NEVER
    }

    /// Takes an acknowledgement for which [`Sender::is_steady`].
    #[inline(always)]
    pub(super) fn take_steady(&mut self, now: Time, packet: &SimPacket, out: &mut impl Outbox) {
        self.integrate(now);
        let newly = self.board.advance(packet.seq);
        let rtt = self.rtt.sample(packet.stamp, now);
        self.rto_at = if packet.seq < self.next { self.rtt.deadline(now) } else { Time::NEVER };
        let acked = self.growth(newly);
        debug_assert!(self.rtt.base().is_some(), "a sample was just taken");
        // a clear scoreboard: all that is not acknowledged is in flight
        let in_flight = self.next - packet.seq;
        debug_assert_eq!((in_flight, self.board.sacked()), (self.in_flight(), 0));
        let ack = Ack {
            base_rtt: Some(self.rtt.known_base()),
            in_flight: in_flight as i64 as f64,
            delivered: packet.seq,
            unacknowledged: packet.seq,
            ..self.describe(now, packet, acked, newly, Some(rtt))
        };
        if self.wants_samples {
            self.controller.on_sample(&ack);
        }
        if self.may_grow() {
            self.controller.on_ack(&ack, &mut self.window);
            self.check("on_ack", now);
        } else {
            self.hear_without_growth(now, &ack);
        }
        if packet.seq == self.end {
            self.phase = Phase::Done;
            return self.note(now, Happened::Done);
        }
        debug_assert!(
            self.controller.pacing_rate(&self.window, self.rtt.srtt()).is_none(),
            "an algorithm that paces has to say so"
        );
        self.transmit_new::<false>(now, in_flight, out);
    }

    /// What the algorithm learns from an acknowledgement that counts `acked` segments and is the first to
    /// report `newly` of them.
    #[inline(always)]
    pub(super) fn describe(
        &self,
        now: Time,
        packet: &SimPacket,
        acked: f64,
        newly: u64,
        rtt: Option<Interval>,
    ) -> Ack {
        Ack {
            now,
            acked,
            newly_delivered: newly as u32,
            rtt,
            srtt: self.rtt.srtt(),
            base_rtt: self.rtt.base(),
            one_way_delay: Some(Interval::from_ns(u64::from(packet.one_way_delay_ns))),
            in_flight: self.in_flight() as i64 as f64, // signed: one instruction on most machines
            delivered: self.board.base() + self.board.sacked(),
            next_segment: self.next,
            unacknowledged: self.board.base(),
            may_grow: true,
        }
    }
}
