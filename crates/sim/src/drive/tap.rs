//! An observer of every packet of a run. Only the oracle calls a tap; its results are those of the fast
//! driver.

use longfat_net::DropReason;
use longfat_scenario::plan::CheckedConnection;
use longfat_transport::SenderView;
use longfat_units::Time;
use longfat_wire::SimPacket;

/// Watches the packets of a run. Calls come in order of time, except that those for the flows of the plan
/// come before all others.
pub trait Tap {
    /// The connection with this index begins; one that had the index before is over. Background connections
    /// go by the name of their background.
    fn opens(&mut self, now: Time, flow: usize, name: &str, connection: &CheckedConnection);

    /// A packet comes to a link, before its loss process and its queue.
    fn enters(&mut self, now: Time, link: usize, packet: &SimPacket);

    /// A packet is on its way out of a link: it will be at the next link at `arrival`, or at its end if this
    /// is the `last` link of its path.
    fn leaves(&mut self, now: Time, link: usize, packet: &SimPacket, arrival: Time, last: bool);

    /// A packet that came to a link goes no further.
    fn drops(&mut self, now: Time, link: usize, packet: &SimPacket, reason: DropReason);

    /// A TCP sender has acted: it has taken a packet of the receiver, unless one of its timers expired, and
    /// has handed its host what it sends.
    fn acts(
        &mut self,
        _now: Time,
        _flow: usize,
        _taken: Option<&SimPacket>,
        _sent: &mut dyn Iterator<Item = &SimPacket>,
        _sender: &SenderView,
    ) {
    }
}
