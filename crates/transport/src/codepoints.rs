//! Which ECN codepoint each packet of a connection carries. A queue that marks drops what is not capable
//! (Not-ECT), so this decides which packets it can drop.
//!
//! | packets that are capable | new data | sent again | ACK | SYN, SYN-ACK | source |
//! |---|---|---|---|---|---|
//! | [`Capable::NewData`] | yes | no | no | no | RFC 3168, 6.1.1, 6.1.4, 6.1.5; Linux tcp_ecn_send |
//! | [`Capable::Established`] | yes | yes | yes | no | RFC 8311, 4.3; Linux tcp_ecn_send of AccECN (6.18) |
//! | [`Capable::All`] | yes | yes | yes | yes | RFC 8257, 3.6; Linux tcp_ecn_send_syn, TCP_CONG_NEEDS_ECN |
//!
//! RFC 9768 and RFC 9331 leave the choice to others: the first feeds back what arrives on any packet, the
//! second chooses ECT(0) or ECT(1). RFC 5562 (ECT on the SYN-ACK alone) is experimental, and Linux does not
//! have it. A mark on a SYN, a SYN-ACK or an ACK changes nothing: RFC 8257, 3.6, has receivers ignore the
//! first two, and no sender here reduces its ACKs.

use crate::feedback::Feedback;
use longfat_wire::Ecn;

/// Which packets of a connection with ECN are capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capable {
    /// Data that are sent for the first time.
    NewData,
    /// All but those that open the connection.
    Established,
    /// All.
    All,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A connection request.
    Syn,
    /// The answer to it.
    SynAck,
    /// Data that are sent for the first time.
    NewData,
    /// Data that are sent again.
    Retransmission,
    /// An acknowledgement without data.
    Ack,
}

/// The codepoints of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codepoints {
    /// That of packets which are capable: ECT(0) or ECT(1), or not capable without ECN.
    pub ect: Ecn,
    /// Which these are.
    pub capable: Capable,
}

impl Codepoints {
    /// Those of a connection without ECN.
    pub const NONE: Codepoints = Codepoints { ect: Ecn::NotCapable, capable: Capable::NewData };

    /// Those of a connection with ECN, whose capable packets carry `ect`. The algorithm `needs` one kind of
    /// feedback, and the receiver `gives` that or a richer one.
    pub const fn new(ect: Ecn, needs: Feedback, gives: Feedback) -> Self {
        let capable = match (needs, gives) {
            (Feedback::Classic, Feedback::Accurate) => Capable::Established,
            (Feedback::Classic, _) => Capable::NewData,
            (Feedback::Dctcp | Feedback::Accurate, _) => Capable::All,
        };
        Codepoints { ect, capable }
    }

    /// That of one packet.
    #[inline]
    pub const fn of(self, packet: Carrier) -> Ecn {
        let capable = match (packet, self.capable) {
            (_, Capable::All) | (Carrier::NewData, _) => true,
            (Carrier::Retransmission | Carrier::Ack, Capable::Established) => true,
            (Carrier::Syn | Carrier::SynAck, Capable::Established) => false,
            (_, Capable::NewData) => false,
        };
        if capable { self.ect } else { Ecn::NotCapable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_the_table_on_the_transports_page_holds() {
        use Feedback::{Accurate, Classic, Dctcp};
        let (no, zero, one) = (Ecn::NotCapable, Ecn::Capable, Ecn::Ect1);
        // algorithm and `ecn`; SYN, SYN-ACK, new data, sent again, ACK
        for (flow, codepoints, expected) in [
            ("without ECN", Codepoints::NONE, [no; 5]),
            ("any, true", Codepoints::new(zero, Classic, Classic), [no, no, zero, no, no]),
            ("any, accurate", Codepoints::new(zero, Classic, Accurate), [no, no, zero, zero, zero]),
            ("any, l4s", Codepoints::new(one, Classic, Accurate), [no, no, one, one, one]),
            ("dctcp", Codepoints::new(zero, Dctcp, Dctcp), [zero; 5]),
            ("dctcp, accurate", Codepoints::new(zero, Dctcp, Accurate), [zero; 5]),
            ("dctcp, l4s", Codepoints::new(one, Dctcp, Accurate), [one; 5]),
            ("prague", Codepoints::new(one, Accurate, Accurate), [one; 5]),
        ] {
            let packets =
                [Carrier::Syn, Carrier::SynAck, Carrier::NewData, Carrier::Retransmission, Carrier::Ack];
            assert_eq!(packets.map(|packet| codepoints.of(packet)), expected, "{flow}");
        }
    }
}
