//! What happens to packets behind a link's transmitter, as planned.

use super::error::{LONGEST_S, PlanError, bad, within};
use super::streams::Streams;
use longfat_net::disturbance::{
    AddedDelay, DisturbanceStreams, Disturbances, Handovers, Outage, Outages, Remark, Reorder,
};
use longfat_units::{Interval, Time};
use serde::{Deserialize, Serialize};

/// Longest delay that a disturbance adds, seconds.
const LONGEST_DELAY_S: f64 = 100.0;
/// Shortest and longest time between two handovers, seconds; the shortest keeps a run from drawing too often.
const HANDOVERS_S: (f64, f64) = (0.1, LONGEST_S);

/// The disturbances of a link, as read from JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisturbancePlan {
    /// Packets that others overtake.
    pub reorder: Option<ReorderPlan>,
    /// Greatest jitter, seconds.
    pub jitter_s: f64,
    /// The share of packets that arrive twice.
    pub duplicate: f64,
    /// A propagation delay that varies.
    pub added_delay: Option<AddedDelayPlan>,
    /// Whether packets may overtake each other by jitter and by a delay that varies.
    pub overtaking: bool,
    /// What happens to the ECN field of data packets.
    pub remark: Option<RemarkPlan>,
    /// When the link carries nothing, in order of time.
    pub outages: Vec<OutagePlan>,
}

/// A share of the packets that takes longer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderPlan {
    /// The share.
    pub probability: f64,
    /// How much longer, seconds.
    pub delay_s: f64,
}

/// A propagation delay that varies; what is added to the link's own, seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AddedDelayPlan {
    /// Time and delay of each step.
    Steps(Vec<(f64, f64)>),
    /// A new delay in [0, `range_s`] at each multiple of the period.
    Handovers {
        /// Period, seconds.
        period_s: f64,
        /// Greatest delay, seconds.
        range_s: f64,
        /// The name of the medium; links of one medium have the same delay.
        medium: String,
    },
}

/// What happens to the ECN field of data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkPlan {
    /// All that are ECN-capable are marked.
    Mark,
    /// None is ECN-capable any more.
    Bleach,
}

/// A time in which a link carries nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutagePlan {
    /// When it begins, seconds.
    pub begin_s: f64,
    /// How long it lasts, seconds.
    pub length_s: f64,
    /// What the queue does meanwhile.
    pub queue: OutageQueue,
}

/// What a queue does during an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutageQueue {
    /// Its packets wait.
    Waits,
    /// Its packets leave, and are lost.
    Drains,
}

impl DisturbancePlan {
    /// Whether there is an outage in which the queue waits.
    pub(super) fn holds_the_queue(&self) -> bool {
        self.outages.iter().any(|outage| outage.queue == OutageQueue::Waits)
    }

    /// Checks everything in it; `at` is its own key, `streams` are the link's.
    pub(super) fn check(&self, at: &str, seed: u64, streams: &Streams) -> Result<Disturbances, PlanError> {
        let delay =
            |key: String, s: f64| within(&key, s, 0.0, LONGEST_DELAY_S).map(|()| Interval::from_secs_f64(s));
        let jitter = delay(format!("{at}.jitter_s"), self.jitter_s)?;
        within(&format!("{at}.duplicate"), self.duplicate, 0.0, 1.0)?;
        let reorder = match self.reorder {
            None => Reorder { probability: 0.0, delay: Interval::ZERO },
            Some(ReorderPlan { probability, delay_s }) => {
                within(&format!("{at}.reorder.probability"), probability, 0.0, 1.0)?;
                Reorder { probability, delay: delay(format!("{at}.reorder.delay_s"), delay_s)? }
            }
        };
        let key = format!("{at}.added_delay");
        let added = match &self.added_delay {
            None => AddedDelay::None,
            Some(AddedDelayPlan::Steps(steps)) => {
                let mut checked = Vec::with_capacity(steps.len());
                for &(from_s, delay_s) in steps {
                    within(&key, from_s, 0.0, LONGEST_S)?;
                    checked.push((Time::from_secs_f64(from_s), delay(key.clone(), delay_s)?));
                }
                if checked.is_empty() || checked.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    return bad(key, "give one step or more, each later than the one before");
                }
                AddedDelay::Steps(checked.into())
            }
            Some(AddedDelayPlan::Handovers { period_s, range_s, medium }) => {
                within(&format!("{key}.period_s"), *period_s, HANDOVERS_S.0, HANDOVERS_S.1)?;
                let range = delay(format!("{key}.range_s"), *range_s)?;
                let draws = Streams::of_medium(seed, medium).stream("handovers");
                AddedDelay::Handovers(Handovers::new(Interval::from_secs_f64(*period_s), range, draws))
            }
        };
        Ok(Disturbances {
            reorder,
            jitter,
            duplicate: self.duplicate,
            added,
            overtaking: self.overtaking,
            remark: self.remark.map(|remark| match remark {
                RemarkPlan::Mark => Remark::Mark,
                RemarkPlan::Bleach => Remark::Bleach,
            }),
            outages: self.check_outages(&format!("{at}.outages"))?,
            streams: DisturbanceStreams {
                reorder: streams.stream("reorder"),
                jitter: streams.stream("jitter"),
                duplicate: streams.stream("duplicate"),
            },
        })
    }

    fn check_outages(&self, at: &str) -> Result<Outages, PlanError> {
        let mut outages: Vec<Outage> = Vec::with_capacity(self.outages.len());
        for planned in &self.outages {
            within(&format!("{at}.begin_s"), planned.begin_s, 0.0, LONGEST_S)?;
            within(&format!("{at}.length_s"), planned.length_s, 1e-6, LONGEST_S)?;
            let begin = Time::from_secs_f64(planned.begin_s);
            if outages.last().is_some_and(|before| begin < before.end) {
                return bad(at, "give outages in order of time, none before the end of the one before");
            }
            let end = begin + Interval::from_secs_f64(planned.length_s);
            outages.push(Outage { begin, end, drains: planned.queue == OutageQueue::Drains });
        }
        Ok(Outages(outages))
    }
}
