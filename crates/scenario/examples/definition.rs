//! Prints what follows from the definition of the keys: `schema`.

use longfat_scenario::schema;

fn main() {
    let text = match std::env::args().nth(1).as_deref() {
        Some("schema") => schema::printed(&schema::scenario_schema()),
        _ => "schema\n".to_owned(),
    };
    print!("{text}");
}
