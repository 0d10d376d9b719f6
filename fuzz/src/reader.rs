//! Texts of scenarios: each is refused with problems that have sentences, or gives a plan that can run.

use longfat_scenario::at::Context;
use longfat_scenario::problem::Problem;
use longfat_scenario::tables::Scenario;
use longfat_scenario::tree::Value;
use longfat_scenario::world::{Own, OwnFacts, World};
use longfat_scenario::{memory, notes, read, resolve, write};
use std::path::{Path, PathBuf};

/// A machine without files.
struct Bare;

impl World for Bare {
    fn bytes(&self, _: &Path, _: u64) -> Result<Vec<u8>, String> {
        Err("there are no files".to_owned())
    }

    fn whole(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn is_file(&self, _: &Path) -> bool {
        false
    }

    fn own(&self, _: &Own, _: &[(String, Value)]) -> Result<(OwnFacts, String), String> {
        Err("there are no algorithms".to_owned())
    }

    fn kernel_has(&self, _: &str) -> bool {
        false
    }
}

fn scenario(text: &str) -> Result<Scenario, Vec<Problem>> {
    let context = Context { world: &Bare, base: Path::new(""), stack: None };
    read::scenario(read::parse(text)?, &context)
}

/// Reads a text. A scenario that is accepted has a plan and is the same when it is written and read again; so
/// is the one with every default written out, up to its plan.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let found = match scenario(text) {
        Ok(found) => found,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a problem");
            for problem in problems {
                let message = problem.in_text("x.toml", text);
                assert!(message.contains("accepted: "), "no offer: {message}");
                assert!(!problem.refusal.what.is_empty(), "no sentence: {message}");
            }
            return;
        }
    };
    let resolved = match resolve::resolve(&found, true) {
        Ok(resolved) => resolved,
        Err(refusal) => panic!("accepted, and has no plan: {refusal}"),
    };
    let estimate = memory::estimate(&resolved.plan, &resolved.flows);
    assert!(estimate.bytes.is_finite() && estimate.bytes > 0.0, "no estimate");
    drop((notes::notes(&found), notes::warnings(&found)));
    let written = write::toml(&write::tables(&found));
    match scenario(&written) {
        Ok(again) => assert!(again == found, "another scenario when read again:\n{written}"),
        Err(problems) => panic!("written, and refused: {}\n{written}", problems[0]),
    }
    let plan = format!("{:?}", resolved.plan);
    if let Ok(filled) = resolve::filled(&found) {
        let again = resolve::resolve(&filled, true).map(|resolved| format!("{:?}", resolved.plan));
        assert!(again.as_ref() == Ok(&plan), "another plan with its defaults written out");
    }
    if let Err(error) = resolved.plan.check() {
        panic!("accepted, and its plan is refused: {error}");
    }
}
