//! UDT (Gu, Grossman: UDT: UDP-based data transfer for high-speed wide area networks, Computer Networks
//! 51(7), 2007; Lopez Pacheco 2008, section 2.4.2.1; draft-gg-udt-03): rate control at a fixed interval, SYN,
//! together with a flow window.
//!
//! ```text
//! P: time between two packets, L: link capacity by packet pairs, C = 1 / P, d = 1/9, A: arrival speed
//! ACK with new data, no loss since the last:  P <- SYN / (SYN / P + inc)                                      (2.11)
//!     inc = max(10^(ceil(log10 B) - 9), 1/1500) 1500 / packet size, B in bit/s                                 (2.10)
//!     thesis: B = min(L d, L - C)                          draft: B = L - C                                     (2.9)
//! NAK:    P <- 1.125 P     thesis: at most once a SYN      draft: at most 5 times an epoch                      (2.8)
//! Window: thesis: W = A (SYN + RTT)                        draft: W = A (SYN + RTT) + 16                        (2.7)
//! Slow start, until the first NAK: P = 0, W <- W + packets acknowledged; then P = 1 / A
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | SYN | 0.01 | s | thesis; draft, section 4 | none |
//! | decrease | 1.125 | factor of P | thesis (2.8); draft, 7.2 | none |
//! | d | 1/9 | of L | thesis (2.9) | none |
//! | packet pairs | every 16th packet | | thesis; draft, 6.1 | none |
//! | initial window | 16 | packets | draft, 7.2 | none |
//! | least window | 2 | packets | Gu: The UDT Congestion Control Algorithm, 2009 | none |
//! | decreases an epoch | 5 | | Gu, Grossman 2007; reference implementation | the draft's text allows one more |
//! | flow window | 25600 | packets | reference implementation | none |
//! | P | at most RTT + SYN | s | chosen here, after the authors' ns-2 agent | none |

mod control;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use super::row::Row;
use longfat_units::parameters::Parameter;
use longfat_units::{Entry, Style};

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "udt",
        title: "UDT",
        aliases: &[],
        citation: "Gu, Grossman: UDT: UDP-based data transfer for high-speed wide area networks, Computer Networks 51(7), \
                   2007",
        page: "udt",
        parameters: &[
            Parameter::choice(
                "variant",
                &["thesis", "draft"],
                "draft: increases by all that is available, decreases at random moments, and has 16 packets more of window",
            ),
            Parameter::number(
                "flow_window",
                25_600.0,
                (2.0, 1e9),
                "packets",
                "most packets outstanding: the receiver's buffer",
            ),
        ],
        style: Some(Style::new("#2ca02c", "x")),
    },
    reliable: true,
    answered: true,
    random: true,
    build: |p, config, stream| {
        let control = control::Control::new(p, config, stream);
        let receiver = Receiver::new(config.flow, config.packet_bytes());
        (Sender::new(config, control), receiver)
    },
};
