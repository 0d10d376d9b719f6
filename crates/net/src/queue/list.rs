//! The list of all queue disciplines, and the function that builds one.

use super::row::{Boxed, Discipline, Setup};
use crate::Element;
use crate::element::{Visitor, as_type};
use longfat_units::parameters::{ParameterError, Parameters, Value};
use longfat_units::{Rate, registry};
use longfat_wire::Packet;

macro_rules! disciplines {
    ($($module:ident::$type:ident;)*) => {
        $(pub use super::$module::$type;)*

        static ROWS: &[Discipline] = &[$(super::$module::ROW),*];

        impl Discipline {
            /// An instance from checked parameters.
            pub fn build<P: Packet + Send + 'static>(&self, setup: Setup, p: &Parameters) -> Boxed<P> {
                $(if self.name == super::$module::ROW.name {
                    return Box::new($type::build(setup, p));
                })*
                unreachable!("{} is not in the list", self.name)
            }
        }

        /// Hands an element that is in the list to `visitor`. Returns the visitor if it is not.
        pub(crate) fn visit_listed<P: Packet, V: Visitor<P>>(
            element: &mut (dyn Element<P> + Send),
            visitor: V,
        ) -> Result<V::Output, V> {
            $(if let Some(queue) = as_type::<P, $type<P>>(element) {
                return Ok(visitor.visit(queue));
            })*
            Err(visitor)
        }
    };
}

// One line for each discipline: its module, which has its row, and its type.
disciplines! {
    droptail::DropTail;
    red::Red;
    choke::Choke;
    blue::Blue;
    sred::Sred;
    codel::CoDel;
    fq_codel::FqCoDel;
    pie::Pie;
    dualpi2::DualPi2;
    fq_pie::FqPie;
    sfq::Sfq;
}

impl Discipline {
    /// Every declared parameter with its value, before a link of this rate.
    ///
    /// # Errors
    ///
    /// A parameter that the row does not declare, a value outside what it accepts, or values that do not go
    /// together.
    pub fn checked(&self, rate: Rate, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        if !self.ecn && given.iter().any(|(name, _)| name == "ecn") {
            let able: Vec<_> = ROWS.iter().filter(|row| row.ecn).map(|row| row.name).collect();
            return Err(ParameterError::CannotMark { owner: self.name, able: able.join(", ") });
        }
        let p = Parameters::new(self.name, self.parameters, given)?;
        (self.check)(rate, &p).map(|()| p)
    }

    /// An instance with these parameters.
    ///
    /// # Errors
    ///
    /// As [`Discipline::checked`].
    pub fn instance<P: Packet + Send + 'static>(
        &self,
        setup: Setup,
        given: &[(String, Value)],
    ) -> Result<Boxed<P>, ParameterError> {
        self.checked(setup.rate, given).map(|p| self.build(setup, &p))
    }
}

/// All rows, in the order of the list.
pub fn disciplines() -> impl Iterator<Item = &'static Discipline> {
    ROWS.iter()
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Discipline> {
    registry::find(ROWS, name)
}
