//! The registry: one row a queue discipline, and what makes an instance of it.

use super::{Blue, Choke, CoDel, DropTail, FqCoDel, Limit, Pie, Red, Sred};
use super::{blue, choke, codel, droptail, fq_codel, pie, red, sred};
use crate::Element;
use longfat_units::parameters::{Parameter, ParameterError, Parameters, Value};
use longfat_units::{Rate, Stream};
use longfat_wire::Packet;

/// Drop-tail's one parameter, which chooses between its forms.
pub const SOJOURN: &str = "sojourn";

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// As written in scenario files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Author, title, place, year.
    pub citation: &'static str,
    /// What users may set.
    pub parameters: &'static [Parameter],
    /// The Linux kernel's qdisc, if there is one.
    pub linux_module: Option<&'static str>,
    /// Whether it can mark packets instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// Whether it draws random numbers.
    pub random: bool,
}

/// What a queue is built with beside its parameters.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What it holds.
    pub limit: Limit,
    /// Rate of the link behind it.
    pub rate: Rate,
    /// Its own random stream.
    pub stream: Stream,
}

/// A queue of some discipline.
pub type Boxed<P> = Box<dyn Element<P> + Send>;

macro_rules! disciplines {
    ($($module:ident::$type:ident),* $(,)?) => {
        static ROWS: &[Discipline] = &[$($module::ROW),*];

        impl Discipline {
            /// An instance with these parameters.
            pub fn instance<P: Packet + Send + 'static>(
                &self,
                setup: Setup,
                given: &[(String, Value)],
            ) -> Result<Boxed<P>, ParameterError> {
                let p = self.checked(given)?;
                $(if self.name == $module::ROW.name {
                    return $type::build(setup, &p).map(|queue| -> Boxed<P> { Box::new(queue) });
                })*
                unreachable!("{} has a row but no type", self.name)
            }
        }
    };
}

// One line a module.
disciplines! {
    droptail::DropTail,
    red::Red,
    choke::Choke,
    blue::Blue,
    sred::Sred,
    codel::CoDel,
    fq_codel::FqCoDel,
    pie::Pie,
}

impl Discipline {
    /// Every declared parameter with its value.
    pub fn checked(&self, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        if !self.ecn && given.iter().any(|(name, _)| name == "ecn") {
            let able: Vec<_> = ROWS.iter().filter(|row| row.ecn).map(|row| row.name).collect();
            return Err(ParameterError::Unknown {
                owner: self.name,
                name: "ecn".to_owned(),
                known: format!("nothing that marks; these do: {}", able.join(", ")),
            });
        }
        Parameters::new(self.name, self.parameters, given)
    }

    /// The error for a parameter whose value does not go with the others.
    pub(super) fn refuse(&self, name: &'static str, value: String, accepted: String) -> ParameterError {
        ParameterError::Refused { owner: self.name, name, value, accepted }
    }
}

/// All rows, in the order of their introduction.
pub fn disciplines() -> impl Iterator<Item = &'static Discipline> {
    ROWS.iter()
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Discipline> {
    ROWS.iter().find(|row| row.name == name || row.aliases.contains(&name))
}
