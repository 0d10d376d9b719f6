//! The list of all routers, and the function that builds one. Those that are a protocol's law come from the
//! list of protocols.

use super::protocols;
use super::row::{Router, Setup};
use crate::queue::Boxed;
use longfat_units::parameters::{ParameterError, Parameters, Value};
use longfat_wire::Packet;

macro_rules! routers {
    ($($module:ident::$type:ident;)*) => {
        $(pub use super::$module::$type;)*

        static ROWS: &[Router] = &[$(super::$module::ROW),*];

        impl Router {
            /// An instance from checked parameters.
            pub fn build<P: Packet + Send + 'static>(&self, setup: Setup<P>, p: &Parameters) -> Boxed<P> {
                $(if self.name == super::$module::ROW.name {
                    return Box::new($type::build(setup, p));
                })*
                protocols::router(self.name, setup, p)
            }
        }
    };
}

// One line for each router: its module, which has its row, and its type.
routers! {
    quickstart::QuickStart;
    friendly::Friendly;
    dqw::Dqw;
    xcp_i::XcpI;
    ptp::Ptp;
}

impl Router {
    /// An instance with these parameters.
    ///
    /// # Errors
    ///
    /// As [`Router::checked`].
    pub fn instance<P: Packet + Send + 'static>(
        &self,
        setup: Setup<P>,
        given: &[(String, Value)],
    ) -> Result<Boxed<P>, ParameterError> {
        self.checked(given).map(|p| self.build(setup, &p))
    }
}

/// All rows: protocols first, each in the order of its list.
pub fn routers() -> impl Iterator<Item = &'static Router> {
    protocols::ROWS.iter().chain(ROWS)
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Router> {
    routers().find(|row| row.is_called(name))
}
