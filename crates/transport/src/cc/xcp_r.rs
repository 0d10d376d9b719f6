//! XCP-r (Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on
//! heterogeneous high speed networks, thesis, ENS Lyon, 2008, section 5.3): the receiver does XCP's sums. If
//! each acknowledgement carries only its own feedback, a lost acknowledgement loses it; if each carries the
//! window, nothing is lost. Routers are XCP's.
//!
//! ```text
//! Out :  XCP's header; congestion flag set while the receiver does not know of a window that was set otherwise
//! Data:  cwnd' <- H_cwnd if the flag is set,   cwnd' <- max(cwnd' + feedback, one packet)      at the receiver
//! Ack :  cwnd <- cwnd'
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! The thesis's first formula, `variant = "first"`, needs no copy, but fails if the sender's round trip
//! differs from the router's interval:
//!
//! ```text
//! Data:  cwnd' <- H_cwnd + feedback H_cwnd / s
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | window at first | 1 | packet | section 5.3: created so by the request for a connection | the flag on the first packets makes it the initial window |
//! | flag | on every packet until its acknowledgement | | chosen here | the text says when it is set; on one packet it would be lost with it |
//! | wish of a sender that its window does not hold | 0 | bytes | chosen here: XCP's header has it | such a sender ignores growth, which the receiver cannot know |

use super::congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Echo, Internals, LEAST_SSTHRESH, Window,
};
use super::row::{Properties, Protocol, Row};
use super::xcp::Xcp;
use crate::echoing::Mirror;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, Xcp as Header};

/// The registry row.
pub const ROW: Row<XcpR> = Row {
    entry: Entry {
        name: "xcp-r",
        title: "XCP-r",
        aliases: &[],
        citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
                   high speed networks, thesis, ENS Lyon, 2008, section 5.3",
        page: "xcp_r",
        parameters: &[Parameter::choice(
            "variant",
            &["mirror", "first"],
            "how the receiver finds the window: by the sums, or from one packet",
        )],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        protocol: Some(Protocol { name: "xcp", header_bytes: Header::HEADER_BYTES, mirror: Some(mirror) }),
        ..Properties::DEFAULT
    },
    build: XcpR::build,
};

fn mirror(p: &Parameters, packet_bytes: f64) -> Box<dyn Mirror> {
    match p.word("variant") {
        "first" => Box::new(OnePacket { packet_bytes }),
        _ => Box::new(Copied { packet_bytes, cwnd_bytes: packet_bytes, from_bytes: None }),
    }
}

/// Whether two windows are equal up to rounding.
fn same(a_bytes: f64, b_bytes: f64) -> bool {
    (a_bytes - b_bytes).abs() < 0.5
}

/// An XCP-r sender.
#[derive(Clone, Debug)]
pub struct XcpR {
    xcp: Xcp,
    /// The window after the last acknowledgement; if the window differs, something else has set it.
    agreed_bytes: f64,
    /// Where a reduction under way will end.
    reducing_to_bytes: f64,
    /// Known from the first acknowledgement on.
    packet_bytes: Option<f64>,
    limited: bool,
}

impl XcpR {
    fn build(_: &Parameters) -> Self {
        XcpR {
            xcp: Xcp::default(),
            agreed_bytes: 0.0,
            reducing_to_bytes: f64::INFINITY,
            packet_bytes: None,
            limited: true,
        }
    }
}

impl CongestionControl for XcpR {
    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        let cwnd_bytes = cwnd_bytes.min(self.reducing_to_bytes);
        let Some(Explicit::Xcp(mut header)) = self.xcp.explicit(cwnd_bytes, srtt) else { return None };
        header.reset = !same(cwnd_bytes, self.agreed_bytes);
        if !self.limited {
            header.feedback_bytes = 0.0;
        }
        Some(Explicit::Xcp(header))
    }

    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        let (Explicit::Xcp(header), Echo::Data { limited }) = (header, echo) else { return };
        let Header { cwnd_bytes, feedback_bytes: told_bytes, reset, .. } = header;
        self.packet_bytes = Some(packet_bytes);
        self.limited = limited;
        self.xcp.guided = told_bytes.is_finite();
        let own_bytes = w.cwnd * packet_bytes;
        // packets sent before the window was set otherwise carry the old one
        let known = same(own_bytes, self.agreed_bytes) || (*reset && same(own_bytes, *cwnd_bytes));
        if self.xcp.guided && known && (limited || *told_bytes < own_bytes) {
            w.cwnd = (told_bytes / packet_bytes).max(1.0);
            self.agreed_bytes = w.cwnd * packet_bytes;
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.xcp.on_ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.xcp.on_congestion(event, w);
        if event.cause != Cause::Timeout {
            let to = w.ssthresh.max(LEAST_SSTHRESH);
            // before the first acknowledgement, headers carry the falling window
            self.reducing_to_bytes = self.packet_bytes.map_or(f64::INFINITY, |bytes| to * bytes);
        }
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        self.reducing_to_bytes = f64::INFINITY;
    }

    fn internals(&self, out: &mut Internals) {
        self.xcp.internals(out);
    }
}

/// cwnd', the sums that an XCP sender would do.
#[derive(Clone, Debug)]
struct Copied {
    packet_bytes: f64,
    cwnd_bytes: f64,
    /// The window that the last flagged packet announced. All packets of a round trip carry the flag; it
    /// counts once.
    from_bytes: Option<f64>,
}

impl Mirror for Copied {
    fn answer(&mut self, header: &Explicit) -> Explicit {
        let Explicit::Xcp(mut header) = *header else { return *header };
        let from_bytes = header.reset.then_some(header.cwnd_bytes);
        if from_bytes != self.from_bytes {
            self.from_bytes = from_bytes;
            self.cwnd_bytes = from_bytes.unwrap_or(self.cwnd_bytes);
        }
        // without a router on the path the header arrives unchanged
        if header.feedback_bytes.is_finite() {
            self.cwnd_bytes = (self.cwnd_bytes + header.feedback_bytes).max(self.packet_bytes);
            header.feedback_bytes = self.cwnd_bytes;
        }
        Explicit::Xcp(header)
    }
}

/// The first formula: as if every packet of a window had got the same feedback as this one.
#[derive(Clone, Debug)]
struct OnePacket {
    packet_bytes: f64,
}

impl Mirror for OnePacket {
    fn answer(&mut self, header: &Explicit) -> Explicit {
        let Explicit::Xcp(mut header) = *header else { return *header };
        if header.feedback_bytes.is_finite() {
            let packets = header.cwnd_bytes / self.packet_bytes;
            header.feedback_bytes =
                (header.cwnd_bytes + header.feedback_bytes * packets).max(self.packet_bytes);
        }
        Explicit::Xcp(header)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{instance, loss, parameters, window};
    use super::super::xcp;
    use super::*;
    use crate::{Echoing, Receiver, ReceiverConfig};
    use longfat_wire::{Extra, FlowId, Kind, SimPacket};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const PACKET: f64 = 1500.0;
    const RTT: Interval = Interval::from_millis(100);

    fn receiver<C>(row: &Row<C>, words: &[(&str, &str)], delayed: bool) -> Echoing {
        let delayed_ack = delayed.then_some(Interval::from_millis(40));
        let config = ReceiverConfig {
            flow: FlowId(0),
            delayed_ack,
            quick_acks: 16,
            sack: true,
            sack_compression: Interval::ZERO,
            timestamps: true,
            uncounted_hops: 1,
        };
        Echoing::new(Receiver::new(config), row.mirror(&parameters(row, words), PACKET))
    }

    /// A data packet that leaves now, to which the routers give this feedback unless less is wished for.
    fn data(c: &impl CongestionControl, w: &Window, seq: u64, feedback_bytes: f64) -> SimPacket {
        let Some(Explicit::Xcp(mut header)) = c.explicit(w.cwnd * PACKET, RTT) else { panic!("a header") };
        header.feedback_bytes = header.feedback_bytes.min(feedback_bytes);
        let mut packet = SimPacket::new(Kind::Data, FlowId(0), seq, PACKET as u32, Time::ZERO);
        packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::Xcp(header)), ..Extra::default() }));
        packet
    }

    fn take(c: &mut impl CongestionControl, w: &mut Window, ack: &SimPacket, limited: bool) {
        let echo = ack.extra.as_ref().and_then(|e| e.explicit).expect("a header comes back");
        c.on_explicit(&echo, PACKET, Echo::Data { limited }, w);
    }

    /// Packets, an acknowledgement's way behind the sender, with these feedbacks; the flag says which
    /// acknowledgements are lost. Returns the windows after the others, bytes.
    fn windows<C: CongestionControl>(row: &Row<C>, delayed: bool, path: &[(f64, bool)]) -> Vec<f64> {
        const WAY: usize = 20;
        let mut c = instance(row, &[]);
        let mut r = receiver(row, &[], delayed);
        let mut w = window(100.0, f64::INFINITY);
        let mut back = VecDeque::new();
        let mut seen = Vec::new();
        for i in 0..path.len() + WAY {
            if let Some(&(feedback_bytes, lost)) = path.get(i)
                && let Some(ack) = r.on_packet(Time::ZERO, &data(&c, &w, i as u64, feedback_bytes))
                && !lost
            {
                back.push_back((i + WAY, ack));
            }
            while back.front().is_some_and(|&(at, _)| at <= i)
                && let Some((_, ack)) = back.pop_front()
            {
                take(&mut c, &mut w, &ack, true);
                seen.push(w.cwnd * PACKET);
            }
        }
        seen
    }

    proptest! {
        #[test]
        fn while_nothing_is_lost_the_window_is_xcp_s_to_the_byte(
            feedback in proptest::collection::vec(-400.0..500.0_f64, 1..300), delayed in any::<bool>(),
        ) {
            let path: Vec<_> = feedback.into_iter().map(|f| (f, false)).collect();
            let direct = windows(&xcp::ROW, delayed, &path);
            let mirrored = windows(&ROW, delayed, &path);
            prop_assert_eq!(direct.len(), mirrored.len());
            for (a, b) in direct.iter().zip(&mirrored) {
                prop_assert!((a - b).abs() < 0.01, "{a} {b}");
            }
        }

        #[test]
        fn one_acknowledgement_makes_up_for_all_that_were_lost_before_it(
            mut path in proptest::collection::vec((-3000.0..3000.0_f64, any::<bool>()), 1..300),
        ) {
            let whole: Vec<_> = path.iter().map(|&(feedback, _)| (feedback, false)).collect();
            if let Some((_, lost)) = path.last_mut() {
                *lost = false;
            }
            let complete = windows(&xcp::ROW, false, &whole);
            let partial = windows(&ROW, false, &path);
            let (a, b) = (complete.last().copied().unwrap_or(0.0), partial.last().copied().unwrap_or(1.0));
            prop_assert!((a - b).abs() < 0.01, "{a} without loss, {b}");
        }
    }

    #[test]
    fn xcp_ends_with_another_window_when_acknowledgements_are_lost() {
        // a hundred packets are given 300 bytes each, 20 segments in all; every other acknowledgement is lost
        let path: Vec<_> = (0..100).map(|i| (300.0, i % 2 == 0)).collect();
        let last = |windows: Vec<f64>| windows.last().map(|bytes| (bytes / PACKET).round());
        assert_eq!(last(windows(&xcp::ROW, false, &path)), Some(110.0));
        assert_eq!(last(windows(&ROW, false, &path)), Some(120.0));
    }

    #[test]
    fn after_a_loss_only_a_receiver_that_knows_of_it_is_believed_and_one_flagged_packet_is_enough() {
        let mut c = instance(&ROW, &[]);
        let mut r = receiver(&ROW, &[], false);
        let mut w = window(100.0, f64::INFINITY);
        let answered = r.on_packet(Time::ZERO, &data(&c, &w, 0, 0.0)).unwrap();
        take(&mut c, &mut w, &answered, true);
        let before = data(&c, &w, 1, 1500.0);
        c.on_congestion(&loss(), &mut w);
        // the window is on its way down: headers tell where it goes
        w.cwnd = 80.0;
        let (lost, flagged, again) = (data(&c, &w, 2, 0.0), data(&c, &w, 3, 3000.0), data(&c, &w, 4, 1500.0));
        assert!(matches!(
            lost.extra.unwrap().explicit,
            Some(Explicit::Xcp(Header { reset: true, cwnd_bytes: 75_000.0, .. }))
        ));
        w.cwnd = w.ssthresh;
        c.on_recovered(Time::ZERO, &mut w);
        let late = r.on_packet(Time::ZERO, &before).unwrap();
        take(&mut c, &mut w, &late, true);
        assert_eq!(w.cwnd, 50.0);
        for (packet, cwnd) in [(flagged, 52.0), (again, 53.0)] {
            let ack = r.on_packet(Time::ZERO, &packet).unwrap();
            take(&mut c, &mut w, &ack, true);
            assert_eq!(w.cwnd, cwnd);
        }
        let Some(Explicit::Xcp(header)) = c.explicit(53.0 * PACKET, RTT) else { panic!("a header") };
        assert!(!header.reset);
    }

    #[test]
    fn a_loss_before_the_first_answer_tells_routers_of_the_window_that_is_there() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(10.0, f64::INFINITY);
        c.on_congestion(&loss(), &mut w);
        for cwnd in [10.0, 7.0, 5.0] {
            let Some(Explicit::Xcp(header)) = c.explicit(cwnd * PACKET, RTT) else { panic!("a header") };
            assert_eq!((header.cwnd_bytes, header.reset), (cwnd * PACKET, true));
        }
    }

    #[test]
    fn a_window_that_a_timeout_set_to_one_segment_is_not_set_back_by_what_is_under_way() {
        let mut c = instance(&ROW, &[]);
        let mut r = receiver(&ROW, &[], false);
        let mut w = window(100.0, f64::INFINITY);
        let acks: Vec<_> = (0..3).filter_map(|i| r.on_packet(Time::ZERO, &data(&c, &w, i, 0.0))).collect();
        take(&mut c, &mut w, &acks[0], true);
        w.cwnd = 1.0;
        acks[1..].iter().for_each(|ack| take(&mut c, &mut w, ack, true));
        assert_eq!(w.cwnd, 1.0);
        let ack = r.on_packet(Time::ZERO, &data(&c, &w, 1, 750.0)).unwrap();
        take(&mut c, &mut w, &ack, true);
        assert_eq!(w.cwnd, 1.5);
    }

    #[test]
    fn a_sender_that_its_window_does_not_hold_asks_for_nothing_and_only_shrinks() {
        let mut c = instance(&ROW, &[]);
        let mut r = receiver(&ROW, &[], false);
        let mut w = window(100.0, f64::INFINITY);
        for (i, feedback, cwnd) in [(0, 3000.0, 100.0), (1, 3000.0, 100.0), (2, -6000.0, 98.0)] {
            let ack = r.on_packet(Time::ZERO, &data(&c, &w, i, feedback)).unwrap();
            take(&mut c, &mut w, &ack, false);
            assert_eq!(w.cwnd, cwnd, "{i}");
        }
    }

    #[test]
    fn without_a_router_on_the_path_it_grows_as_standard_tcp() {
        let mut c = instance(&ROW, &[]);
        let mut r = receiver(&ROW, &[], false);
        let mut w = window(10.0, 20.0);
        let ack = r.on_packet(Time::ZERO, &data(&c, &w, 0, f64::INFINITY)).unwrap();
        take(&mut c, &mut w, &ack, true);
        c.on_ack(&super::super::testing::ack(2.0), &mut w);
        assert_eq!(w.cwnd, 12.0);
    }

    #[test]
    fn the_first_formula_takes_one_packet_s_feedback_for_that_of_the_window() {
        // section 5.3: a router's interval may end within a window. Here 50 of 100 packets are given 30 bytes
        // and then 50 nothing: one more segment, where the last packet alone says none, and the fiftieth two.
        let last = |variant, packets: usize| {
            let words = [("variant", variant)];
            let (c, mut r) = (instance(&ROW, &words), receiver(&ROW, &words, false));
            let w = window(100.0, f64::INFINITY);
            let given = (0..packets).map(|i| if i < 50 { 30.0 } else { 0.0 }).zip(0..);
            let acks = given.filter_map(|(f, i)| r.on_packet(Time::ZERO, &data(&c, &w, i, f)));
            let Some(Explicit::Xcp(header)) = acks.last().and_then(|a| a.extra?.explicit) else {
                panic!("a header")
            };
            header.feedback_bytes / PACKET
        };
        assert_eq!((last("mirror", 100), last("first", 100)), (101.0, 100.0));
        assert_eq!((last("mirror", 50), last("first", 50)), (101.0, 102.0));
    }
}
