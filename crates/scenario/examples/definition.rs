//! Prints what follows from the definition of the keys: `schema` or `reference`.

use longfat_scenario::{reference, schema};

fn main() {
    let text = match std::env::args().nth(1).as_deref() {
        Some("schema") => schema::printed(&schema::scenario_schema()),
        Some("reference") => reference::reference(),
        _ => "schema or reference\n".to_owned(),
    };
    print!("{text}");
}
