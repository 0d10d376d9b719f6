//! Flows of the plan that inherit what earlier flows between the same two hosts have learnt. The run stops
//! where such a flow starts, as it does for samples: both drivers have then handled the same events.

use crate::model::flow::{Flow, RouteMetrics};
use longfat_scenario::plan::CheckedFlow;
use longfat_units::Time;
use std::collections::BTreeMap;

/// The flows that inherit.
pub struct Inheritance {
    /// When the next one starts.
    pub next: Time,
    /// Those that have not started, latest first: when they do, and their index.
    waiting: Vec<(Time, usize)>,
    /// Indices of those that have started and may still be open.
    open: Vec<usize>,
    /// What flows between the same two hosts have learnt, by the hosts' number in the plan.
    routes: BTreeMap<u64, RouteMetrics>,
}

impl Inheritance {
    /// What these flows hand on to each other.
    pub fn new(plans: &[CheckedFlow], flows: &[Flow]) -> Self {
        let heirs = plans.iter().zip(flows).enumerate().filter(|(_, (plan, _))| heir(plan).is_some());
        let mut waiting: Vec<_> = heirs.map(|(index, (_, flow))| (flow.began, index)).collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        let next = waiting.last().map_or(Time::NEVER, |&(at, _)| at);
        Inheritance { next, waiting, open: Vec::new(), routes: BTreeMap::new() }
    }

    /// Flows start now: they inherit from flows that are complete.
    pub fn pass_on(&mut self, plans: &[CheckedFlow], flows: &mut [Flow], now: Time) {
        let Inheritance { next, waiting, open, routes } = self;
        open.retain(|&index| {
            let Some(at) = flows[index].sending.completed(now) else { return true };
            if let Some(hosts) = heir(&plans[index]) {
                let flow = &flows[index];
                routes.entry(hosts).or_default().end(at, flow.order, flow.sending.sender.window());
            }
            false
        });
        while let Some((_, index)) = waiting.pop_if(|(at, _)| *at <= now) {
            let metrics = heir(&plans[index]).map(|hosts| routes.entry(hosts).or_default());
            if let Some(ssthresh) = metrics.and_then(|metrics| metrics.ssthresh(now)) {
                flows[index].sending.sender.inherit_ssthresh(ssthresh);
            }
            open.push(index);
        }
        *next = waiting.last().map_or(Time::NEVER, |&(at, _)| at);
    }
}

/// The number of the hosts whose connections hand on to this flow what they have learnt.
fn heir(plan: &CheckedFlow) -> Option<u64> {
    plan.hosts.filter(|_| plan.connection.ssthresh_cache)
}
