//! Prints what follows from the definition of the keys: `schema`, `reference` or `stub`.

use longfat_scenario::{reference, schema, stub};

fn main() {
    let text = match std::env::args().nth(1).as_deref() {
        Some("schema") => schema::printed(&schema::scenario_schema()),
        Some("reference") => reference::reference(),
        Some("stub") => stub::stub(),
        _ => "schema, reference or stub\n".to_owned(),
    };
    print!("{text}");
}
