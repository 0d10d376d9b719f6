//! The largest value of a key with which a run fits into some memory.

use super::{Estimate, estimate};
use crate::plan::{Plan, TrafficPlan};
use longfat_units::math;
use std::sync::Arc;

/// The largest value is found within this factor.
const WITHIN: f64 = 1.01;

/// What would be accepted, in words, in place of the value that takes most of the memory: the most, to two
/// digits, where that is known.
pub fn largest_within(plan: &Plan, tables: &[usize], allowed: f64) -> String {
    let Estimate { key, .. } = estimate(plan, tables);
    if key.ends_with(".gap_s") {
        return "a longer one".to_owned();
    }
    let with = |value: f64| -> Option<Plan> {
        let mut changed = plan.clone();
        let (place, name) = key.rsplit_once('.')?;
        let index: usize = place.split_once('[')?.1.strip_suffix(']')?.parse().ok()?;
        match (place.split_once('[')?.0, name) {
            ("flows", "initial_window") => {
                let table = tables.get(index)?;
                let alike = changed.flows.iter_mut().zip(tables).filter(|(_, other)| *other == table);
                alike.for_each(|(flow, _)| {
                    Arc::make_mut(&mut flow.connection.transport).initial_window = value;
                });
            }
            ("background", "sessions" | "users" | "flows" | "sources") => {
                match &mut changed.background.get_mut(index)?.traffic {
                    TrafficPlan::Web(web) => web.sessions = value as u64,
                    TrafficPlan::Surge(surge) => surge.users = value as u64,
                    TrafficPlan::Bulk(bulk) => bulk.flows = value as u64,
                    TrafficPlan::Onoff(onoff) => onoff.sources = value as u64,
                    TrafficPlan::Short(_) => return None,
                }
            }
            _ => return None,
        }
        Some(changed)
    };
    let fits = |value: f64| with(value).is_some_and(|plan| estimate(&plan, tables).bytes <= allowed);
    if !fits(1.0) {
        return "less".to_owned();
    }
    let (mut low, mut high) = (1.0, 1e9);
    while high > low * WITHIN {
        let middle = math::sqrt(low * high);
        if fits(middle) { low = middle } else { high = middle }
    }
    let unit = math::pow(10.0, (math::log10(low).floor() - 1.0).max(0.0));
    format!("up to about {}", (low / unit).floor() * unit)
}
