//! Which plans each change of results concerned, so that stored runs of all others stay valid.

use serde_json::Value;

/// The changes after which runs gave other bytes than before, in order. Each lists words as plans write them:
/// names of algorithms (not aliases), queues, routers, protocols, kinds of traffic, losses or samples, and
/// keys of numbers, which count where the number is not 0. An empty list is a change that concerns every
/// plan. `tests/results.rs` fails if an entry is missing for one of its cases.
const CHANGES: &[&[&str]] = &[
    // 2: Westwood+'s bandwidth sample ends after one round trip; before, it needed more than one. The change
    // of XCP-r's fields after a loss before the first echo is older, and had no version of its own
    &["westwood+", "xcp-r"],
    // 3: RCP's router has a rate from time 0 on, not from the first packet. ERICA's router measures each
    // flow's rate and counts newcomers at once. The senders of RCP, MaxNet and ERICA have one rule for
    // losses: only routers change the rate
    &["rcp", "maxnet", "erica"],
    // 4: an acknowledgement that has waited tells of the last four blocks, not of those of the last three
    // segments
    &["sack_compression"],
    // 5: a background connection keeps its index while its receiver has an acknowledgement to send, which one
    // that acknowledges ahead had, and one that compresses SACKs may have had
    &["ack_ahead", "sack_compression"],
    // 6: growth is not scaled before the first round-trip time is known, which without timestamps may take
    // long; before, it was scaled by the stand-in for none
    &["htcp", "ltcp"],
    // 7: on a link whose rate follows a sine, a packet's transmission ends at the nanosecond at which its
    // last bit is sent; before, the search for it was rounded on the way
    &["least_bps"],
    // 8: a loss before the first round-trip time is known halves the window; before, it left the window as it
    // was
    &["westwood", "westwood+"],
    // 9: only what proves spurious is undone, a retransmission that is lost after a timeout begins a
    // recovery, and another timeout reduces ssthresh once something was acknowledged since; segments that
    // arrive twice are reported by DSACK. Packets of flows that tell more of marks than RFC 3168's echo are
    // ECN-capable, and a reduction by a mark leaves at least two segments. A window grows to twice of what is
    // in use, and shrinks also while something else limits it. What is undefined is NaN, not 0. Flows, links
    // and sessions are told apart by names: queues hash other numbers, losses are drawn from other streams,
    // and ties within a nanosecond fall otherwise
    &[],
    // 10: what is lost, and what has left, belongs to the monitor interval in which it left, repetitions too;
    // before, intervals counted new segments, and those of repetitions alone saw no loss and had no end
    &["vivace"],
    // 11: routers lower the rate of JetMax also in fast recovery
    &["jetmax", "jetmax-r"],
    // 12: where segments are known by number, the retransmission timer follows their times, also of those
    // that are acknowledged selectively, and starts again for what was sent before a repair; on QUIC only the
    // newest transmission has a time, repetitions too. With RACK each repair of the first segment gets a
    // whole timeout
    &["last", "numbered", "rack"],
    // 13: an undone reduction gives back the whole window at once; before, one segment an acknowledgement,
    // from what a timeout had left
    &["prague"],
];

/// The version of the results of all plans: every change that alters any of them increments it.
pub const RESULTS_VERSION: u32 = 1 + CHANGES.len() as u32;

/// The last version that altered the results of this plan. A change concerns a plan that contains one of its
/// words, except as the value of a key `name`, or one of its keys with another number than 0.
pub fn results_version(plan: &Value) -> u32 {
    last(CHANGES, plan)
}

fn last(changes: &[&[&str]], plan: &Value) -> u32 {
    let concerns = |words: &&[&str]| words.is_empty() || mentions(plan, words);
    changes.iter().rposition(concerns).map_or(1, |index| index as u32 + 2)
}

fn mentions(plan: &Value, words: &[&str]) -> bool {
    match plan {
        Value::String(word) => words.contains(&word.as_str()),
        Value::Object(map) => map.iter().any(|(key, value)| {
            let is_set = value.as_f64().is_some_and(|number| number != 0.0);
            key != "name" && (mentions(value, words) || (is_set && words.contains(&key.as_str())))
        }),
        Value::Array(list) => list.iter().any(|value| mentions(value, words)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_net::{queue, router};
    use longfat_transport::{RttSamples, cc, udp};
    use serde_json::json;

    /// The kinds of `TrafficPlan` and `LossModel`.
    const KINDS: [&str; 9] =
        ["web", "surge", "short", "bulk", "onoff", "none", "random", "every", "gilbert_elliott"];

    /// Keys of numbers in `Transport` and `CapacityPlan`.
    const KEYS: [&str; 3] = ["sack_compression", "ack_ahead", "least_bps"];

    #[test]
    fn changes_are_written_in_words_that_plans_have() {
        for word in CHANGES.iter().copied().flatten() {
            let known = cc::find(word).is_some_and(|row| row.name == *word)
                || udp::find(word).is_some_and(|row| row.name == *word)
                || queue::find(word).is_some_and(|row| row.name == *word)
                || router::find(word).is_some_and(|row| row.name == *word)
                || KINDS.contains(word)
                || KEYS.contains(word)
                || serde_json::from_value::<RttSamples>(json!(word)).is_ok()
                || serde_json::from_value::<cc::LossDetection>(json!(word)).is_ok();
            assert!(known, "no plan contains {word:?}");
        }
    }

    #[test]
    fn a_change_concerns_the_plans_that_name_what_it_changed_at_any_depth() {
        let changes: &[&[&str]] = &[&["westwood+"], &["xcp", "web"], &["cubic"]];
        let version = |plan: Value| last(changes, &plan);
        let flow = |kind: &str| json!({"transport": {"algorithm": {"kind": kind, "parameters": {}}}});
        assert_eq!(version(json!({"flows": [flow("reno")]})), 1);
        assert_eq!(version(json!({"flows": [flow("reno"), flow("westwood+")]})), 2);
        assert_eq!(version(json!({"background": [{"kind": "web", "flow": flow("westwood+")}]})), 3);
        assert_eq!(version(json!({"links": [{"router": {"kind": "friendly", "protocol": "xcp"}}]})), 3);
        assert_eq!(version(json!({"flows": [flow("cubic")], "background": [{"kind": "web"}]})), 4);
    }

    #[test]
    fn a_change_of_a_key_concerns_the_plans_that_set_its_number() {
        let changes: &[&[&str]] = &[&["sack_compression"]];
        let version = |flow: Value| last(changes, &json!({"background": [{"flow": flow}]}));
        assert_eq!(version(json!({"sack_compression": 0.001})), 2);
        assert_eq!(version(json!({"sack_compression": 0.0})), 1);
        assert_eq!(version(json!({"rto_min": 0.2})), 1);
    }

    #[test]
    fn names_in_a_plan_do_not_count_as_words_of_a_change() {
        let plan = json!({"links": [{"name": "cubic"}], "flows": [{"name": "web"}]});
        assert_eq!(last(&[&["cubic"], &["web"]], &plan), 1);
    }

    #[test]
    fn a_change_of_everything_concerns_every_plan_and_hides_earlier_changes() {
        let changes: &[&[&str]] = &[&["cubic"], &[]];
        assert_eq!([json!({}), json!({"kind": "cubic"})].map(|plan| last(changes, &plan)), [3, 3]);
    }
}
