//! The position of a value while a scenario is read.

use crate::world::World;
use std::fmt;
use std::path::Path;

/// What holds for a whole scenario while it is read.
pub struct Context<'a> {
    /// The machine that reads it.
    pub world: &'a dyn World,
    /// The folder that files are relative to.
    pub base: &'a Path,
    /// The stack of the flows and backgrounds over TCP that name none.
    pub stack: Option<&'a str>,
}

/// A position: the keys that lead to a value.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// What holds for the whole scenario.
    pub context: &'a Context<'a>,
    parent: Option<&'a At<'a>>,
    key: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Top,
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The scenario itself.
    pub const fn top(context: &'a Context<'a>) -> At<'a> {
        At { context, parent: None, key: Step::Top }
    }

    /// A key of the table here.
    pub const fn below<'b>(&'b self, key: &'b str) -> At<'b>
    where
        'a: 'b,
    {
        At { context: self.context, parent: Some(self), key: Step::Key(key) }
    }

    /// An item of the list here.
    pub const fn item<'b>(&'b self, index: usize) -> At<'b>
    where
        'a: 'b,
    {
        At { context: self.context, parent: Some(self), key: Step::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent
            && !matches!(parent.key, Step::Top)
        {
            write!(out, "{parent}.")?;
        }
        match self.key {
            Step::Top => Ok(()),
            Step::Key(key) => out.write_str(key),
            Step::Index(index) => write!(out, "{index}"),
        }
    }
}
