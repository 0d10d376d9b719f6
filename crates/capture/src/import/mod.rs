//! What a capture says about its TCP connections. One pass, in layers, each of which knows only the one
//! below:
//!
//! ```text
//! record      what a file has
//! unpack      gzip, zstd, xz
//! container   the records of pcap and pcapng
//! link, ip    the innermost IP packet of a frame: link types, tags, tunnels
//! segment     TCP's header, as far as it was captured
//! clock       steps of the clock
//! copies      packets that are there twice
//! connection  two directions, each with its sizes, flight and round-trip times
//! flows       all connections: the result
//! ```
//!
//! ```text
//! flow        a connection in the direction with more payload; the other one too, if it has a tenth of it
//! sent again  a segment that begins below the highest byte seen so far of its direction, and is no probe
//! RTT         from a segment that was sent once to the first acknowledgement, also a selective one, that
//!             reports it; of several, the last. Where it was sent again: from the timestamp that comes back,
//!             if few segments had it. To this is added the least time from an acknowledgement's timestamp to
//!             the first segment that echoes it: the sender's side of the capture
//! smoothed    srtt <- 7/8 srtt + 1/8 RTT (RFC 6298), with the RTT of the first of several
//! in flight   sent, and neither acknowledged, nor selectively acknowledged, nor lost
//! throughput  IP bytes of the payload that was acknowledged, also selectively, over the time from the
//!             connection's first packet to its last; without packets of the receiver, of all that was sent
//! ```

mod clock;
mod connection;
mod container;
mod copies;
mod direction;
mod flight;
mod flows;
mod ip;
mod link;
mod pcap;
mod pcapng;
mod reason;
mod record;
mod rtt;
mod segment;
mod sizes;
mod unpack;

pub use clock::Steps;
pub use connection::{CapturedFlow, Row};
pub use flows::{Captured, flows};
pub use reason::Reason;
pub use record::{Contents, Damage};
pub use segment::{Segment, segments};

const NS_PER_S: f64 = 1e9;

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S
}
