//! The check of the scenario's tables that a plan holds, with the limits of their keys.

use super::error::{PlanError, bad};
use crate::at::{At, Context};
use crate::forms::row_named;
use crate::keys::Checked;
use crate::problem::{Problem, Refusal};
use crate::tree::Table;
use crate::world::Files;
use std::path::Path;

/// Refuses values that a file could not give these keys, and those that do not fit together.
pub fn check<T: Checked>(at: &str, table: &T) -> Result<(), PlanError> {
    let mut written = Table::default();
    table.put(&mut written);
    // of algorithms that the registry does not have, only the machine that made the plan knows
    if written.get("algorithm").is_some_and(|item| row_named(&item.value).is_none()) {
        written.remove("algorithm");
    }
    let context = Context { world: &Files, base: Path::new(""), stack: None };
    let mut problems = Vec::new();
    T::take(&written, &At::top(&context), &mut problems);
    if let Some(Problem { key, refusal, .. }) = problems.into_iter().next() {
        return refuse(at, &key, refusal);
    }
    table.check().or_else(|refusal| refuse(at, &refusal.key.clone(), refusal))
}

fn refuse(at: &str, key: &str, refusal: Refusal) -> Result<(), PlanError> {
    let Refusal { what, accepted, part, .. } = refusal;
    let key = format!("{at}.{key}.{part}");
    bad(key.trim_end_matches('.'), format!("{what}; accepted: {accepted}"))
}
