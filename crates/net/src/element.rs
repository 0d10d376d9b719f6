//! The interface of an element, and how a link drives it.

use core::any::Any;
use longfat_units::{Interval, Time};
use longfat_wire::{Address, FlowId, Packet};

/// Why a packet was dropped, or marked instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// Active queue management dropped it with some probability.
    Early,
    /// The average queue was so long that every arrival is dropped (RED, CHOKe).
    Forced,
    /// It was of the same flow as a packet drawn from the queue, or was that packet (CHOKe).
    Match,
    /// Packets had been waiting too long for a whole interval (CoDel).
    Delay,
    /// The path lost it (random, periodic or bursty loss).
    Lost,
}

impl DropReason {
    /// How many reasons there are.
    pub const COUNT: usize = 6;
}

/// Where an element puts its actions.
pub trait Sink<P> {
    /// Pass the packet on to the element behind this one (for those that hold no queue).
    fn forward(&mut self, packet: P);
    /// Drop it: an arriving packet, one at the head, or one from anywhere in the queue.
    fn drop(&mut self, packet: P, reason: DropReason);
    /// A packet was marked (RFC 3168): counted here, changed by the element itself.
    fn marked(&mut self, reason: DropReason);
    /// The packet that `next` returns has waited for this span.
    fn waited(&mut self, _span: Interval) {}
    /// That packet has waited in a low-latency queue (besides [`Sink::waited`]).
    fn waited_low(&mut self, _span: Interval) {}
    /// Call `timer` at this time; replaces an earlier request. [`Time::NEVER`] clears it.
    fn set_timer(&mut self, at: Time);
    /// Send a packet of the element's own ([`Packet::control`]) to another element. It travels over the links
    /// in between, may be dropped on the way, and arrives at that element as other packets do.
    fn originate(&mut self, packet: P, to: Address);
}

/// A queue or a router in front of a link, driven by three calls. Several may stand in a row. Only the last
/// one keeps packets; those before it forward, drop or change what arrives. An element that wants a timer
/// sets the first one when its first packet arrives. It is `Any` for [`visit`](crate::visit).
pub trait Element<P: Packet>: Any {
    /// A flow begins whose packets will come, and this is its identity: one that had its index before is
    /// over. An element that hashes flows, or compares them over time, has to use the identity; one with a
    /// queue hands it on. Without this call the index is the identity.
    fn begins(&mut self, _flow: FlowId, _identity: u64) {}
    /// A packet arrives.
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>);
    /// The element's own timer fired.
    fn timer(&mut self, _now: Time, _out: &mut dyn Sink<P>) {}
    /// The link is free and asks for the next packet; the element may drop some on the way to it. An element
    /// that has packets but returns none gets this call again after the next arrival or timer.
    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P>;
    /// Packets waiting.
    fn packets(&self) -> u64;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// The estimated number of active flows, if it estimates that.
    fn flows_estimated(&self) -> Option<f64> {
        None
    }
}

/// What [`visit`](crate::visit) hands an element to.
pub trait Visitor<P: Packet> {
    /// What it makes of the element.
    type Output;
    /// Works with the element.
    fn visit<E: Element<P> + ?Sized>(self, element: &mut E) -> Self::Output;
}

/// The element as a value of this type, or as it came.
///
/// # Errors
/// The element itself, if it is of another type.
pub fn into_type<P: Packet, E: Element<P>>(
    element: Box<dyn Element<P> + Send>,
) -> Result<Box<E>, Box<dyn Element<P> + Send>> {
    let any: &dyn Any = &*element;
    if !any.is::<E>() {
        return Err(element);
    }
    let any: Box<dyn Any> = element;
    Ok(any.downcast().unwrap_or_else(|_| unreachable!("it is one")))
}

/// The element as a value of this type, if it is one.
pub(crate) fn as_type<P: Packet, E: Element<P>>(element: &mut (dyn Element<P> + Send)) -> Option<&mut E> {
    let element: &mut dyn Any = element;
    element.downcast_mut()
}
