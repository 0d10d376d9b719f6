//! What happens to packets behind a link's transmitter, as planned.

use super::error::{LONGEST_S, PlanError, bad, within};
use super::held;
use super::streams::Streams;
use crate::forms::{Added, DELAYS_S, DelaySteps, Handovers, Outage};
use crate::tables::Disturbed;
use longfat_net::disturbance::{self as net, AddedDelay, DisturbanceStreams, Disturbances, Outages, Reorder};
use longfat_units::{Interval, Time};
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// The disturbances of a link in one direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisturbancePlan {
    /// The scenario's own keys, as far as they mean something in this direction.
    pub disturbed: Disturbed,
    /// The name of the medium: links of one medium have the same delay that varies at handovers.
    pub medium: String,
}

impl Deref for DisturbancePlan {
    type Target = Disturbed;

    fn deref(&self) -> &Disturbed {
        &self.disturbed
    }
}

impl DisturbancePlan {
    /// Whether there is an outage in which the queue waits.
    pub(super) fn holds_the_queue(&self) -> bool {
        self.outages.iter().any(|outage| !outage.drains)
    }

    /// Checks every value; `at` is its own key. A trace may have more steps than a file can list.
    pub(super) fn check(&self, at: &str) -> Result<(), PlanError> {
        let at = format!("{at}.disturbed");
        let Some(Added::Steps(DelaySteps { steps, .. })) = &self.added_delay else {
            return held::check(&at, &self.disturbed);
        };
        held::check(&at, &Disturbed { added_delay: None, ..self.disturbed.clone() })?;
        let at = format!("{at}.added_delay.steps");
        for &(from_s, delay_s) in steps.iter() {
            within(&at, from_s, 0.0, LONGEST_S)?;
            within(&at, delay_s, DELAYS_S.0, DELAYS_S.1)?;
        }
        if steps.is_empty() || steps.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return bad(at, "give one step or more, each later than the one before");
        }
        Ok(())
    }

    /// Builds all of it; `streams` are the link's.
    pub(super) fn build(&self, seed: u64, streams: &Streams) -> Disturbances {
        let span = Interval::from_secs_f64;
        let mut end = Time::ZERO;
        let outages = self.outages.iter().map(|&Outage { begin_s, length_s, drains }| {
            let begin = Time::from_secs_f64(begin_s).max(end); // two that touch may overlap once rounded
            end = begin + span(length_s);
            net::Outage { begin, end, drains }
        });
        let added = match &self.added_delay {
            None => AddedDelay::None,
            Some(Added::Steps(DelaySteps { steps, .. })) => {
                let steps =
                    steps.iter().map(|&(from_s, delay_s)| (Time::from_secs_f64(from_s), span(delay_s)));
                AddedDelay::Steps(steps.collect())
            }
            Some(Added::Handovers(Handovers { period_s, range_s })) => {
                let draws = Streams::of_medium(seed, &self.medium).stream("handovers");
                AddedDelay::Handovers(net::Handovers::new(span(*period_s), span(*range_s), draws))
            }
        };
        Disturbances {
            reorder: self.reorder.map_or(Reorder { probability: 0.0, delay: Interval::ZERO }, |reorder| {
                Reorder { probability: reorder.probability, delay: span(reorder.delay_s) }
            }),
            jitter: span(self.jitter),
            duplicate: self.duplicate,
            added,
            overtaking: self.overtaking,
            remark: self.remark,
            outages: Outages(outages.collect()),
            streams: DisturbanceStreams {
                reorder: streams.stream("reorder"),
                jitter: streams.stream("jitter"),
                duplicate: streams.stream("duplicate"),
            },
        }
    }
}
