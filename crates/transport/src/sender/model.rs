//! Model-based algorithms at the sender: it samples delivery rates for them, tells them of each lost segment,
//! and leaves the window to them.

use super::usage::Limit;
use super::{Phase, Sender};
use crate::cc::{CongestionControl, Delivery, LostSegment, Opening, Repair};
use longfat_units::{Interval, Time};

impl Sender {
    /// Whether the algorithm controls the window in every phase.
    #[inline]
    pub(super) const fn is_model_based(&self) -> bool {
        self.deliveries.is_some()
    }

    /// The connection is open.
    pub(super) fn open_model(&mut self, now: Time) {
        let Some(deliveries) = &mut self.deliveries else { return };
        let rtt = self.rtt.base().filter(|_| self.rtt.srtt() != Interval::ZERO);
        if let Some(rtt) = rtt {
            deliveries.include(rtt);
        }
        let selective = self.config.loss_detection.has_sack();
        let opening = Opening { now, rtt, selective };
        self.controller.on_open(&opening, &mut self.window);
        self.check("on_open", now);
    }

    /// A segment has left: keeps what it knew.
    #[cold]
    #[inline(never)]
    pub(super) fn record_delivery(&mut self, now: Time, seq: u64) {
        let in_flight = self.in_flight();
        if let Some(limited) = self.deliveries.as_ref().filter(|d| in_flight <= 1 && d.is_app_limited()) {
            self.controller.on_restart(now, limited.last_sent(), &mut self.window);
            self.check("on_restart", now);
        }
        let Some(deliveries) = &mut self.deliveries else { return };
        deliveries.sent(seq, now, in_flight);
    }

    /// There was nothing to send, although the window had room.
    #[cold]
    pub(super) fn note_application_limit(&mut self) {
        let in_flight = self.in_flight();
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.settle(in_flight);
            deliveries.limit();
        }
    }

    /// A timer that finds losses has expired.
    pub(super) fn tell_late_losses(&mut self, now: Time) {
        self.tell_losses(now);
        let in_flight = self.in_flight();
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.settle(in_flight);
        }
    }

    /// The retransmission timer has expired, and what it found lost is known.
    pub(super) fn tell_timeout(&mut self, now: Time) {
        self.tell_late_losses(now);
        self.controller.on_timeout(now, &mut self.window);
        self.check("on_timeout", now);
    }

    /// Tells the algorithm of segments that were found lost. Returns how many there were.
    fn tell_losses(&mut self, now: Time) -> u64 {
        let Some(deliveries) = &mut self.deliveries else { return 0 };
        let before = deliveries.lost();
        for (start, end) in self.board.take_losses() {
            for seq in start..end {
                let Some(departure) = deliveries.lose(seq) else { continue };
                let lost = LostSegment {
                    now,
                    segment: seq,
                    left: departure.left,
                    tx_in_flight: departure.in_flight,
                    lost: departure.lost,
                    app_limited: departure.app_limited,
                    total_delivered: deliveries.delivered(),
                };
                self.controller.on_lost(&lost, &mut self.window);
            }
        }
        let found = deliveries.lost() - before;
        if found > 0 {
            self.check("on_lost", now);
        }
        found
    }

    /// An acknowledgement has been read, which delivered `newly` segments, and losses have been found;
    /// `on_sample` has been called.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver(&mut self, now: Time, newly: u64) {
        let Some(deliveries) = &mut self.deliveries else { return self.check_sampling(now) };
        let newest = deliveries.conclude(now, newly);
        let newly_lost = self.tell_losses(now);
        let (in_flight, may_grow) = (self.in_flight(), self.may_grow());
        let Some(deliveries) = &mut self.deliveries else { return };
        let delivery = Delivery {
            now,
            rate: newest.and_then(|n| n.rate(deliveries.min_rtt())),
            delivered: newest.map_or(0, |n| n.delivered),
            prior_delivered: newest.map(|n| n.prior_delivered),
            app_limited: newest.is_some_and(|n| n.app_limited),
            tx_in_flight: newest.map_or(0, |n| n.in_flight),
            // those that this acknowledgement found have been lost since then too
            lost: newest.map_or(0, |n| n.lost + newly_lost),
            rtt: newest.and_then(|n| n.rtt),
            left: newest.map(|n| n.left),
            newly_delivered: newly,
            newly_lost,
            total_delivered: deliveries.delivered(),
            total_lost: deliveries.lost(),
            prior_in_flight: deliveries.in_flight(),
            in_flight,
            srtt: self.rtt.srtt(),
            next_departure: self.pace_at,
            window_limited: self.limit == Limit::Window && self.send_at == Time::NEVER,
            may_grow,
            source_limited: matches!(self.limit, Limit::Source | Limit::Recent),
            repair: match self.phase {
                Phase::Recovery => Repair::Recovery,
                Phase::Loss => Repair::Timeout,
                _ => Repair::None,
            },
        };
        deliveries.settle(in_flight);
        self.controller.on_delivery(&delivery, &mut self.window);
        if self.controller.holds_back() {
            deliveries.limit();
        }
        self.check("on_delivery", now);
    }
}
