//! The list of explicit protocols: routers that are a law around the link's queue. Other routers (XCP-i,
//! XCP-TCP friendliness, two queues) drive the same laws, and have the protocol's name as a parameter.

use super::law::{Controlled, Laws};
use super::row::{Router, Setup};
use crate::Element;
use crate::element::{Visitor, as_type};
use crate::queue::Boxed;
use longfat_units::parameters::Parameters;
use longfat_wire::Packet;

macro_rules! protocols {
    ($($module:ident::$type:ident;)*) => {
        $(pub use super::$module::$type;)*

        pub(super) static ROWS: &[Router] = &[$(super::$module::ROW),*];

        /// The names of all protocols; the first is the default of routers that drive one.
        pub const PROTOCOLS: &[&str] = &[$(super::$module::ROW.entry.name),*];

        /// Returns a function that makes instances of this protocol's law with its default parameters.
        pub(super) fn laws<P: Packet>(protocol: &str) -> Laws<P> {
            $(if protocol == super::$module::ROW.name {
                let Ok(p) = super::$module::ROW.checked(&[]) else {
                    unreachable!("its defaults are accepted")
                };
                return Box::new(move || Box::new($type::build(&p)));
            })*
            unreachable!("{protocol} is not in the list")
        }

        /// The router of this protocol.
        pub(super) fn router<P: Packet + Send + 'static>(
            protocol: &str,
            setup: Setup<P>,
            p: &Parameters,
        ) -> Boxed<P> {
            $(if protocol == super::$module::ROW.name {
                return Box::new(Controlled::new(setup.queue, setup.capacity, $type::build(p)));
            })*
            unreachable!("{protocol} is not in the list")
        }

        /// Hands the router of a protocol to `visitor`. Returns the visitor if it is another element.
        pub(crate) fn visit_listed<P: Packet, V: Visitor<P>>(
            element: &mut (dyn Element<P> + Send),
            visitor: V,
        ) -> Result<V::Output, V> {
            $(if let Some(router) = as_type::<P, Controlled<P, $type>>(element) {
                return Ok(visitor.visit(router));
            })*
            Err(visitor)
        }
    };
}

// One line for each protocol: its module, which has its row, and the type of its law.
protocols! {
    xcp::Xcp;
    vcp::Vcp;
    jetmax::JetMax;
    rcp::Rcp;
    maxnet::MaxNet;
    erica::Erica;
}
