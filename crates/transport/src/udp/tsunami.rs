//! Tsunami (Meiss: Tsunami: A High-Speed Rate-Controlled Protocol for File Transfer, Indiana University,
//! 2002; Wallace: Tsunami File Transfer Protocol, PFLDnet 2003): blocks at a distance that follows the error
//! rate, and lists of missing blocks that the client sends again and again.
//!
//! ```text
//! every 50 blocks, if 350 ms have passed since the last time, the client
//!     asks for its missing blocks, n of them, or for everything from the first one on if n reaches 2048
//!     e <- h e + (1 - h) 50000 n / (1 + n + blocks since the last time)                   in thousandths of a per cent
//! the server, when told e, with the threshold E and the distance of blocks D:
//!     e > E:  D <- D (1 + (25/24 - 1) (1 + e - E) / (100000 - E))
//!     e <= E: D <- 5/6 D,   never below 8 block / target rate or above 10 ms
//! the server, when told nothing for 500 ms and 2048 blocks:  as if e were 100000
//! the last block comes again until the client has everything; at each the client asks for what is missing
//! ```
//!
//! Requests travel over TCP in the original, and here as [`super::channel`] says. The server serves them
//! before new blocks, one at a time, a block each D.
//!
//! The papers' texts could not be had: this follows the published source (tsunami-udp 1.1, 2009-2013,
//! `client/command.c`, `client/protocol.c`, `server/main.c`, `server/protocol.c`, `client/config.c`,
//! `tsunami-client.h`), which the first of the authors wrote.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | target rate | 650 | Mbit/s of payload | `DEFAULT_TARGET_RATE` | D is not cut to whole microseconds |
//! | first D | 3 | of the least | `ttp_open_transfer` | none |
//! | greatest D | 10 | ms | `ttp_accept_retransmit` | none |
//! | E | 7500 | thousandths of a per cent | `DEFAULT_ERROR_RATE` | none |
//! | slower, faster | 25/24, 5/6 | of D | `DEFAULT_SLOWER_NUM` to `DEFAULT_FASTER_DEN` | none |
//! | h | 0.25 | | `DEFAULT_HISTORY` | none |
//! | update period | 350 ms and 50 blocks | | `UPDATE_PERIOD`; `command_get` | none |
//! | most requests at once | 2048 | | `MAX_RETRANSMISSION_BUFFER` | none |
//! | most requests kept by the client | 32 times as many | | `ttp_request_retransmit` | none |
//! | most requests waiting at the server | as many | | chosen here | the source reads one request each D from its TCP socket, whose buffers, with sizes that it does not set, make the client wait; here requests are dropped, and the client asks again |
//! | on the wire | 0.5 s at the target rate | | `ttp_open_transfer` | none |
//! | silence | 500 ms and 2048 blocks | | `client_handler` | the server never gives up; the source does after 15 s |
//! | distance after the last block | D and 10 times the greatest D | | `client_handler` | the source means the greatest wait, which comes to the same |
//! | request | 10 | bytes | `retransmission_t`: 16, 32 and 32 bits | without padding |
//! | block | mss | | source: 1024 bytes, 32 KiB before 2008 | one block a packet |

mod control;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use super::row::Row;
use longfat_units::parameters::Parameter;
use longfat_units::{Entry, Style};

/// A share of 1 in thousandths of a per cent.
const WHOLE: f64 = 100_000.0;
/// The client asks for so many blocks at once; for more it restarts the transfer.
const MOST_REQUESTS: usize = 2048;
/// The requests that the client's table has room for. As many wait at the server.
const MOST_KEPT: usize = 32 * MOST_REQUESTS;

const TARGET: Parameter = Parameter::number(
    "target_rate",
    650.0,
    (0.001, 1e7),
    "Mbit/s",
    "payload at the least distance of blocks",
);

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "tsunami",
        title: "Tsunami",
        aliases: &[],
        citation: "Meiss: Tsunami: A High-Speed Rate-Controlled Protocol for File Transfer, Indiana University, 2002",
        page: "tsunami",
        parameters: &[
            TARGET,
            Parameter::number(
                "error_rate",
                0.075,
                (0.0, 0.99),
                "",
                "error rate above which the server slows down (E)",
            ),
            Parameter::number(
                "slower",
                25.0 / 24.0,
                (1.0, 100.0),
                "",
                "growth of the distance at an error rate of 100 %",
            ),
            Parameter::number(
                "faster",
                5.0 / 6.0,
                (0.001, 1.0),
                "",
                "fall of the distance at low error rates",
            ),
        ],
        style: Some(Style::new("#0096c7", "P")),
    },
    reliable: true,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::new(p, config)),
};
