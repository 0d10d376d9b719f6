//! Elements as what they are. Links hold elements of any kind, and call them through a table of functions; a
//! loop over many packets is quicker where the compiler knows whose functions those are.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use core::any::type_name;
    use longfat_wire::SimPacket;

    /// Tells as what an element was handed on.
    struct Name;

    impl Visitor<SimPacket> for Name {
        type Output = &'static str;

        fn visit<E: Element<SimPacket> + ?Sized>(self, _: &mut E) -> &'static str {
            type_name::<E>()
        }
    }

    #[test]
    fn queues_and_routers_of_protocols_come_as_what_they_are_and_others_as_they_came() {
        for row in queue::disciplines() {
            let mut queue =
                row.instance::<SimPacket>(testing::source::setup(10), &[]).expect("default parameters");
            assert!(visit(queue.as_mut(), Name).contains("::queue::"), "{}", row.name);
        }
        for row in router::routers() {
            let setup = testing::router::setup(1e8, 10);
            let mut router = row.instance(setup, &[]).expect("default parameters");
            let known = router::PROTOCOLS.contains(&row.name);
            assert_eq!(visit(router.as_mut(), Name).contains("Controlled"), known, "{}", row.name);
        }
    }
}
