//! What every registry of Longfat says about its rows. Congestion controls, transports over UDP, queues and
//! routers have a registry each; a row there is an [`Entry`] and what only its kind needs. Everything that
//! lists rows by name follows from it: the command line, error messages, figures, the documentation's tables
//! and the tests.

use crate::parameters::Parameter;
use core::ops::Deref;

/// One row of a registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name in scenario files.
    pub name: &'static str,
    /// The name in prose and tables, such as "Scalable TCP".
    pub title: &'static str,
    /// Other names that scenario files may use.
    pub aliases: &'static [&'static str],
    /// Author, title, place, year.
    pub citation: &'static str,
    /// The page that describes the model: `docs/models/PAGE.md`. Several rows may share one.
    pub page: &'static str,
    /// What users may set.
    pub parameters: &'static [Parameter],
    /// How figures draw it. `None` leaves the choice to the figure.
    pub style: Option<Style>,
}

/// How figures draw a row: the same in every figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour as `#rrggbb`.
    pub colour: &'static str,
    /// Marker as matplotlib writes it: "o" is a circle, "s" a square.
    pub marker: &'static str,
}

impl Style {
    /// This colour (`#rrggbb`) and this marker (matplotlib's code).
    pub const fn new(colour: &'static str, marker: &'static str) -> Self {
        Style { colour, marker }
    }
}

impl Entry {
    /// Whether scenario files call it so: its name or an alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// The row with this name or alias.
pub fn find<'a, R: Deref<Target = Entry>>(rows: &'a [R], name: &str) -> Option<&'a R> {
    rows.iter().find(|row| row.is_called(name))
}
