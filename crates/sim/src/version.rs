//! Which plans a change of results concerned, so that stored runs of the others stay valid.

use serde_json::Value;

/// What gave other bytes than before, change by change: words as plans write them, such as the names of algorithms (not
/// their aliases), queues, routers, protocols, traffic or losses; none for a change that concerns every plan.
/// `tests/results.rs` notices what is missing for its cases.
const CHANGES: &[&[&str]] = &[
    // 2: Westwood+'s sample of the bandwidth ends after a round trip, not only after more than one. XCP-r's fields after
    // a loss before the first echo are older, and had no version of their own
    &["westwood+", "xcp-r"],
];

/// Of the bytes that plans give, whichever: counts up with every change that alters any.
pub const RESULTS_VERSION: u32 = 1 + CHANGES.len() as u32;

/// The last version that altered what this plan gives: of the changes that concern a word in it that is no name of its own.
pub fn results_version(plan: &Value) -> u32 {
    last(CHANGES, plan)
}

fn last(changes: &[&[&str]], plan: &Value) -> u32 {
    let concerns = |words: &&[&str]| words.is_empty() || mentions(plan, words);
    changes.iter().rposition(concerns).map_or(1, |place| place as u32 + 2)
}

fn mentions(plan: &Value, words: &[&str]) -> bool {
    match plan {
        Value::String(word) => words.contains(&word.as_str()),
        Value::Object(map) => map.iter().any(|(key, value)| key != "name" && mentions(value, words)),
        Value::Array(list) => list.iter().any(|value| mentions(value, words)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_net::{queue, router};
    use longfat_transport::{cc, udp};
    use serde_json::json;

    /// Of `BackgroundPlan` and `LossPlan`.
    const KINDS: [&str; 9] =
        ["web", "surge", "short", "bulk", "onoff", "none", "random", "every", "gilbert_elliott"];

    #[test]
    fn changes_are_told_in_words_that_plans_have() {
        for word in CHANGES.iter().copied().flatten() {
            let known = cc::find(word).is_some_and(|row| row.name == *word)
                || udp::find(word).is_some_and(|row| row.name == *word)
                || queue::find(word).is_some_and(|row| row.name == *word)
                || router::find(word).is_some_and(|row| row.name == *word)
                || KINDS.contains(word);
            assert!(known, "{word:?} is in no plan");
        }
    }

    #[test]
    fn a_change_concerns_the_plans_that_name_what_it_changed_wherever_they_do() {
        let changes: &[&[&str]] = &[&["westwood+"], &["xcp", "web"], &["cubic"]];
        let version = |plan: Value| last(changes, &plan);
        assert_eq!(version(json!({"flows": [{"algorithm": "sack"}]})), 1);
        assert_eq!(version(json!({"flows": [{"algorithm": "sack"}, {"algorithm": "westwood+"}]})), 2);
        assert_eq!(version(json!({"background": [{"kind": "web", "flow": {"algorithm": "westwood+"}}]})), 3);
        assert_eq!(version(json!({"links": [{"router": {"kind": "friendly", "protocol": "xcp"}}]})), 3);
        assert_eq!(version(json!({"flows": [{"algorithm": "cubic"}], "background": [{"kind": "web"}]})), 4);
    }

    #[test]
    fn a_name_that_a_plan_gives_is_none_of_what_changed() {
        let plan = json!({"links": [{"name": "cubic"}], "flows": [{"name": "web", "algorithm": "sack"}]});
        assert_eq!(last(&[&["cubic"], &["web"]], &plan), 1);
    }

    #[test]
    fn a_change_of_everything_concerns_every_plan_and_what_came_before_it_no_more() {
        let changes: &[&[&str]] = &[&["cubic"], &[]];
        assert_eq!([json!({}), json!({"algorithm": "cubic"})].map(|plan| last(changes, &plan)), [3, 3]);
    }
}
