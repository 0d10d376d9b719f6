//! JetMax-r: the receiver does JetMax's sum, as XCP-r's does XCP's (Lopez Pacheco, thesis, ENS Lyon, 2008, chapter 5 and
//! section 7.4: the mechanism is that of any explicit protocol). Routers are JetMax's.
//!
//! ```text
//! Data:  x' <- 1/delta - tau (1/delta - g)            at the receiver
//! Ack :  x <- x'                                      where it is made of the present rate
//! ```
//!
//! Every packet of JetMax's carries its rate, so that the receiver needs neither memory nor XCP-r's flag; and for the same
//! reason one acknowledgement a round trip is all that JetMax itself needs.

use super::jetmax::{self, JetMax, moved};
use super::registry::Algorithm;
use crate::Mirror;
use longfat_wire::Explicit;

/// The registry row.
pub const ROW: Algorithm = Algorithm {
    name: "jetmax-r",
    citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
               high speed networks, thesis, ENS Lyon, 2008, chapter 5 and section 7.4; \
               Zhang, Leonard, Loguinov: JetMax, INFOCOM 2006",
    build: |p| JetMax::build(p, true),
    ..jetmax::ROW
};

/// What JetMax-r's receiver does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mirrored {
    pub(super) tau: f64,
    pub(super) packet_bytes: f64,
}

impl Mirror for Mirrored {
    fn answer(&mut self, header: &Explicit) -> Explicit {
        let Explicit::JetMax(mut header) = *header else { return *header };
        header.next_gap_s = 1.0 / moved(self.tau, &header, self.packet_bytes);
        Explicit::JetMax(header)
    }
}
