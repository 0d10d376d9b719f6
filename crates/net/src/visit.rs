//! Elements as what they are. Links hold elements of any kind, and call them through a table of functions; a loop over
//! many packets is quicker where the compiler knows whose functions those are.

use crate::{Element, Visitor, queue, router};
use longfat_wire::Packet;

/// Hands a queue, or the router of a protocol, to `visitor` as what it is; other elements as they came.
pub fn visit<P: Packet, V: Visitor<P>>(element: &mut (dyn Element<P> + Send), visitor: V) -> V::Output {
    let visitor = match queue::visit_listed(element, visitor) {
        Ok(output) => return output,
        Err(visitor) => visitor,
    };
    match router::visit_listed(element, visitor) {
        Ok(output) => output,
        Err(visitor) => visitor.visit(element),
    }
}
