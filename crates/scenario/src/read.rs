//! Reads scenarios from texts and trees of values.

use crate::at::{At, Context};
use crate::keys;
use crate::problem::{Problem, Refusal, Refused};
use crate::tables::Scenario;
use crate::text::quoted;
use crate::tree::{Item, Table, Value};
use std::ops::Range;
use toml::Spanned;
pub use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

/// Reads the tree of a TOML text.
pub fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let problem = |what: &str, span: Option<Range<usize>>| {
        let what = what.trim_end_matches('.').replace('\n', ", ");
        let word = span.clone().and_then(|span| text.get(span)).unwrap_or_default();
        let (what, accepted) = toml_problem(&what, word);
        vec![Problem { key: String::new(), value: None, refusal: Refusal::new(what, accepted), span }]
    };
    let document = DeTable::parse(text).map_err(|error| problem(error.message(), error.span()))?;
    table(document.into_inner()).map_err(|span| problem("the number overflowed", Some(span)))
}

/// As deep as the parser reads.
const MOST_DEEP: &str = "up to 80 brackets within each other";

/// What is wrong with a text at this word, and what would be accepted.
fn toml_problem(what: &str, word: &str) -> (String, String) {
    const LISTS: [&str; 5] = ["flow", "link", "node", "background", "program"];
    let name = word.trim_matches(['[', ']', ' ']);
    let is_twice = what.contains("duplicate key");
    let (what, accepted) = match LISTS.iter().find(|list| is_twice && **list == name) {
        Some(list) => (format!("[{list}] comes twice"), format!("[[{list}]], a list of tables")),
        None if is_twice => ("this key comes twice".to_owned(), "one of them".to_owned()),
        None if what.starts_with("string values must be quoted") => {
            let text = word.trim_matches(|c: char| c.is_whitespace() || "“”„‘’«»".contains(c));
            ("a text has no quotes".to_owned(), quoted(text))
        }
        None if what.starts_with("cannot recurse") => {
            ("it is nested too deeply".to_owned(), MOST_DEEP.to_owned())
        }
        None if what.contains("overflowed") => {
            ("the number is too large".to_owned(), "a smaller one".to_owned())
        }
        None => {
            let (what, expected) = what.split_once(", expected ").unwrap_or((what, "TOML"));
            let expected = match expected {
                "key" | "`=`" => "a key, \"=\" and a value",
                "`\"`" => "a text with its closing quote",
                other if other.starts_with("non-double-quote") => "a text without control characters",
                other => other,
            };
            (format!("this is not TOML: {what}"), expected.to_owned())
        }
    };
    (what, accepted)
}

/// A table, or the place of a number that is too large.
fn table(from: DeTable<'_>) -> Result<Table, Range<usize>> {
    let mut to = Table::with_room(from.len());
    for (key, value) in from {
        let place = key.span();
        to.push(key.into_inner(), Item { key: Some(place), ..item(value)? });
    }
    Ok(to)
}

fn item(found: Spanned<DeValue<'_>>) -> Result<Item, Range<usize>> {
    let span = found.span();
    let overflow = || span.clone();
    let value = match found.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => Value::Integer(integer(&number).ok_or_else(overflow)?.into()),
        DeValue::Float(number) => Value::Float(float(&number).ok_or_else(overflow)?),
        DeValue::Boolean(switch) => Value::Bool(switch),
        DeValue::Datetime(moment) => Value::Moment(moment.to_string()),
        DeValue::Array(items) => Value::List(items.into_iter().map(item).collect::<Result<_, _>>()?),
        DeValue::Table(inner) => Value::Table(table(inner)?),
    };
    Ok(Item { value, span: Some(span), key: None })
}

/// The value of a whole number; `None` if it is too large.
pub fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The value of any other number; `None` if it is too large.
pub fn float(number: &DeFloat<'_>) -> Option<f64> {
    let text = number.as_str();
    text.parse().ok().filter(|found: &f64| !found.is_infinite() || text.contains("inf"))
}

/// Reads a scenario from a tree.
pub fn scenario(tables: Table, context: &Context<'_>) -> Result<Scenario, Vec<Problem>> {
    if tables.has("base") && tables.has("axes") {
        let refusal = Refusal::new("this is a sweep", "a scenario (see `longfat sweep`)");
        return Err(vec![Problem { key: String::new(), value: None, refusal, span: None }]);
    }
    let (whole, top) = (Item::new(tables.into()), At::top(context));
    let mut problems = match keys::read::<Scenario>(&whole, &top) {
        Ok(scenario) => {
            let misfits = scenario.misfits();
            if misfits.is_empty() {
                return Ok(scenario);
            }
            misfits.into_iter().map(|refusal| keys::placed(refusal, &whole, &top)).collect()
        }
        Err(Refused::Keys(problems)) => problems,
        Err(Refused::Value(refusal)) => vec![keys::placed(refusal, &whole, &top)],
    };
    // in the order of the text; those without a place first
    problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
    Err(problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Files;
    use std::path::Path;

    fn messages(text: &str) -> Vec<String> {
        let context = Context { world: &Files, base: Path::new(""), stack: None };
        let found = parse(text).and_then(|tables| scenario(tables, &context));
        found.map_or_else(
            |problems| problems.iter().map(|one| one.in_text("x.toml", text)).collect(),
            |_| Vec::new(),
        )
    }

    #[test]
    fn a_problem_behind_the_end_of_a_line_has_a_place() {
        for end in ["\r\n", "\n", ""] {
            let long = "x".repeat(200);
            for text in [format!("buffer =\"{end}[flow]"), format!("# {long}\na = \"{long}{end}")] {
                let found = messages(&text);
                assert!(found[0].contains("--> x.toml:"), "{found:?}");
            }
        }
    }

    #[test]
    fn problems_come_in_the_order_of_the_text_each_at_its_key_or_value() {
        let text = "duration = 60\nlenght = 3\n[bottleneck]\nrate = \"10 Mbit/s\"\n\
                    queue = { kind = \"red\", mni = \"2 packets\" }\n[[flow]]\nrtt = “1 ms”\n";
        let quoted = messages(text);
        assert!(quoted[0].contains("accepted: \"1 ms\""), "{quoted:?}");
        let found = messages(&text.replace(['“', '”'], "\""));
        let places: Vec<&str> =
            found.iter().filter_map(|one| one.split("--> ").nth(1)?.lines().next()).collect();
        assert_eq!(places, ["x.toml:1:12", "x.toml:2:1", "x.toml:5:31"]);
    }

    #[test]
    fn an_unknown_key_of_a_table_with_many_is_answered_with_the_nearest_ones() {
        let found = messages(
            "duration = \"1 s\"\n[bottleneck]\nrate = \"1 Mbit/s\"\nqueue = { kind = \"red\", mni = 1 }\n\
             [[flow]]\nrtt = \"1 ms\"\nstat = 1\nzzzzzz = 3\n",
        );
        let accepted: Vec<&str> = found.iter().filter_map(|one| one.split("accepted: ").nth(1)).collect();
        assert!(accepted[0].contains("max_p"), "a short list is whole: {accepted:?}");
        let count = accepted[2].split(' ').nth(3).unwrap();
        let listed = format!("of the {count} keys that `longfat schema` lists");
        assert_eq!(accepted[1..], [format!("start, rtt, stop or another {listed}"), format!("one {listed}")]);
    }

    #[test]
    fn a_wrong_number_of_a_drawn_time_is_marked_itself() {
        for (start, marked) in [
            ("{ uniform = [\"1 s\", \"2 kB\"] }", "\"2 kB\""),
            ("{ uniform = [7, \"2 s\"] }", "7"),
            ("{ exponential = \"1 kB\" }", "\"1 kB\""),
            ("{ exponential = \"3 s\", least = \"-1 s\" }", "\"-1 s\""),
            ("{ uniform = [\"2 s\", \"1 s\"] }", "{ uniform = [\"2 s\", \"1 s\"] }"),
        ] {
            let text = format!(
                "duration = \"9 s\"\n[bottleneck]\nrate = \"1 Mbit/s\"\n[[flow]]\nrtt = \"1 ms\"\nstart = {start}"
            );
            let found = messages(&text);
            let marks = format!(
                "{}{} accepted",
                " ".repeat(text.lines().last().unwrap().find(marked).unwrap()),
                "^".repeat(marked.len())
            );
            assert!(found[0].contains(&format!("| {marks}")), "{}", found[0]);
        }
    }

    #[test]
    fn all_parts_that_do_not_fit_together_are_reported_at_once() {
        let found = messages(
            "duration = \"5 s\"\nwindow = [\"1 s\", \"6 s\"]\n[bottleneck]\nrate = \"10 Mbit/s\"\n\
             buffer = \"100 B\"\n[[flow]]\nrtt = \"1 ms\"\nname = \"a\"\n[[flow]]\nrtt = \"1 ms\"\nname = \"a\"\n",
        );
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
