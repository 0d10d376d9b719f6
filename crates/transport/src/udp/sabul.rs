//! SABUL (Gu, Grossman: SABUL: A Transport Protocol for Grid Computing, Journal of Grid Computing 1, 2003):
//! data over UDP at a rate that is looked at each SYN, control messages over TCP. UDT is its successor.
//!
//! ```text
//! P: time between two packets, l: losses reported over packets sent since the last SYN, h <- w h + (1 - w) l
//! SYN, h <= .001:          P <- P SYN / (P inc + SYN),  inc = max(10^ceil(log10(SYN / P)) / 1000, 1/1500)
//!      then                10 us <= P <= 1 ms
//! ERR, first loss among what was sent after the last such decrease:   P <- 1.125 P, and a pause of one SYN
//! ERR, the 16th, 32nd, 64th... since:                                 P <- 1.125 P
//! variant "mimd", SYN:     h > .001:  P <- P (1 + .1 (h - .001)) + .5 us
//!                          h < .001:  P <- P (1 + 10 (h - .001))
//!                          h = .001:  P <- P + .1 us
//!                  ERR:    changes nothing
//! ```
//!
//! The receiver sends a SYN each 10 ms, an ACK with the first packet missing each 100 ms, an ERR with the
//! packets of a gap at once, and each 20 ms one with those that were reported longer than 1.5 round trips
//! ago. Lost packets go before new ones. Control messages travel as [`super::channel`] says.
//!
//! The paper's text could not be had, only its abstract: this follows the authors' published library (SABUL
//! 2, University of Illinois, `sender.cpp` of 16 March 2003, `recver.cpp`, `sabul.cpp` and `recver.h` of 7
//! January 2003). Its comments keep the rule that "mimd" follows, the library's earlier one.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | SYN | 0.01 | s | `sabul.cpp`: `m_iSYNInterval` | none |
//! | loss limit | 0.001 | share of packets | `sender.cpp`: `m_dLossRateLimit` | none |
//! | w | 0.1 | | `m_dWeight`, the weight of the past | none |
//! | decrease | 1.125 | factor of P | `processFeedback` | none |
//! | first, least P | 10 | us | constructor of `CSabulSender` | at least the time that the host's own link needs |
//! | greatest P after an increase | 1000 | us | the same | none |
//! | greatest P | 1 | s | chosen here; the source has none | |
//! | ACK, ERR interval | 100, 20 | ms | `recver.cpp` | none |
//! | losses reported again after | 1.5 RTT, at least 20 ms | | `CSabulRecver::open` | the RTT is measured from the acceptance to the first packet, and then by the control connection; the source measures once |
//! | EXP | 1 | s | `m_iEXPInterval` | none |
//! | flow window | 25600 | packets | `recver.h`: `FlagSize` | none |
//! | losses in an ERR | mss / 4 - 2 | | `sabul.cpp`: `m_iMaxLossLength` | none |
//! | ACK, SYN | 8 | bytes | `feedback`: two 32-bit words | none |
//! | ERR | 8, and 4 for each loss | bytes | the same | none |
//! | silence after which the receiver's clocks stop | 1 | s | chosen here; the source closes the connection | |

mod control;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use super::row::Row;
use longfat_units::parameters::Parameter;
use longfat_units::{Entry, Interval, Style};

/// The interval of rate control.
const SYN: Interval = Interval::from_millis(10);
/// The silence after which all that is outstanding is lost, and after which the receiver's clocks stop.
const EXP: Interval = Interval::from_millis(1000);

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "sabul",
        title: "SABUL",
        aliases: &[],
        citation: "Gu, Grossman: SABUL: A Transport Protocol for Grid Computing, Journal of Grid Computing 1, 2003",
        page: "sabul",
        parameters: &[
            Parameter::choice(
                "variant",
                &["library", "mimd"],
                "mimd: the library's earlier rule, which multiplies and ignores single loss reports",
            ),
            Parameter::number(
                "least_period",
                1e-5,
                (1e-9, 1e-3),
                "s",
                "first and least time between packets (P)",
            ),
            Parameter::number(
                "flow_window",
                25_600.0,
                (2.0, 1e9),
                "packets",
                "most packets outstanding: the receiver's reordering window",
            ),
        ],
        style: Some(Style::new("#a7c957", "x")),
    },
    reliable: true,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::new(config)),
};
