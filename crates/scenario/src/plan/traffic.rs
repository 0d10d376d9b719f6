//! Traffic that comes and goes: what a plan says of each kind. How the kinds behave is in `model/workload`,
//! one file a kind, with the sources of the models.

use super::distribution::{distribution, empirical};
use super::error::{LONGEST_S, PlanError, bad, within};
use crate::forms::{Drawn, Rows};
use crate::sizes::{FileSizes, Habits};
use longfat_units::{Distribution, Empirical};
use serde::{Deserialize, Serialize};

/// The kind of traffic and its numbers, as read from JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TrafficPlan {
    /// Web sessions.
    Web(WebPlan),
    /// SURGE user equivalents.
    Surge(SurgePlan),
    /// Short flows.
    Short(ShortPlan),
    /// Long-lived flows.
    Bulk(BulkPlan),
    /// On-off sources.
    Onoff(OnoffPlan),
}

/// The kind of traffic and its numbers after their check.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Web sessions.
    Web(WebPlan),
    /// SURGE user equivalents.
    Surge(SurgePlan),
    /// Short flows.
    Short(Short),
    /// Long-lived flows.
    Bulk(Bulk),
    /// On-off sources.
    Onoff(Onoff),
}

/// Web sessions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebPlan {
    /// Sessions at once.
    pub sessions: u64,
    /// Mean gap between two requests of a session, seconds.
    pub gap_s: f64,
    /// Mean page, bytes.
    pub page_bytes: f64,
    /// Pareto shape (tail index) of the pages, above 1.
    pub shape: f64,
}

/// SURGE user equivalents.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurgePlan {
    /// How many users.
    pub users: u64,
    /// What they fetch, and when.
    pub habits: Habits,
}

/// Short flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortPlan {
    /// Mean gap between two starts, seconds.
    pub gap_s: f64,
    /// Payload.
    pub sizes: SizesPlan,
}

/// How the sizes of short flows are drawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizesPlan {
    /// A lognormal body and a Pareto tail.
    Files(FileSizes),
    /// One of these values in bytes, each with its weight.
    Empirical(Rows),
}

/// Short flows after their check.
#[derive(Clone, Debug)]
pub struct Short {
    /// Mean gap between two starts, seconds.
    pub gap_s: f64,
    /// Payload.
    pub sizes: Sizes,
}

/// How the sizes of short flows are drawn, after their check.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// A lognormal body and a Pareto tail.
    Files(FileSizes),
    /// One of these values, bytes.
    Empirical(Empirical),
}

/// Long-lived flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkPlan {
    /// How many.
    pub flows: u64,
    /// When each starts, seconds.
    pub start_s: Drawn,
}

/// Long-lived flows after their check.
#[derive(Clone, Debug)]
pub struct Bulk {
    /// How many.
    pub flows: u64,
    /// When each starts, seconds.
    pub start: Distribution,
}

/// On-off sources; rate and periods are parameters of the algorithm `onoff`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnoffPlan {
    /// How many.
    pub sources: u64,
    /// When each begins, seconds.
    pub start_s: Drawn,
}

/// On-off sources after their check.
#[derive(Clone, Debug)]
pub struct Onoff {
    /// How many.
    pub sources: u64,
    /// When each begins, seconds.
    pub start: Distribution,
}

/// Checks a number of members that open connections.
fn members(at: &str, number: u64) -> Result<(), PlanError> {
    within(at, number as f64, 0.0, 1e6)
}

impl TrafficPlan {
    /// Checks everything in it. `at` is the key of the background, `algorithm` the one of its connections.
    pub(super) fn check(self, at: &str, algorithm: &str) -> Result<Traffic, PlanError> {
        let key = |name: &str| format!("{at}.{name}");
        Ok(match self {
            TrafficPlan::Web(web) => {
                members(&key("sessions"), web.sessions)?;
                within(&key("gap_s"), web.gap_s, 1e-6, LONGEST_S)?;
                within(&key("page_bytes"), web.page_bytes, 1.0, 1e12)?;
                within(&key("shape"), web.shape, 1.000_001, 100.0)?;
                Traffic::Web(web)
            }
            TrafficPlan::Surge(surge) => {
                members(&key("users"), surge.users)?;
                check_habits(&key("habits"), &surge.habits)?;
                Traffic::Surge(surge)
            }
            TrafficPlan::Short(short) => {
                within(&key("gap_s"), short.gap_s, 1e-6, LONGEST_S)?;
                Traffic::Short(Short { gap_s: short.gap_s, sizes: short.sizes.check(&key("sizes"))? })
            }
            TrafficPlan::Bulk(bulk) => {
                members(&key("flows"), bulk.flows)?;
                let start = distribution(&key("start_s"), &bulk.start_s, LONGEST_S)?;
                Traffic::Bulk(Bulk { flows: bulk.flows, start })
            }
            TrafficPlan::Onoff(onoff) => {
                members(&key("sources"), onoff.sources)?;
                if algorithm != "onoff" {
                    return bad(key("flow.algorithm"), "on-off sources take the algorithm \"onoff\"");
                }
                let start = distribution(&key("start_s"), &onoff.start_s, LONGEST_S)?;
                Traffic::Onoff(Onoff { sources: onoff.sources, start })
            }
        })
    }
}

impl SizesPlan {
    fn check(self, at: &str) -> Result<Sizes, PlanError> {
        Ok(match self {
            SizesPlan::Files(files) => {
                check_files(at, &files)?;
                Sizes::Files(files)
            }
            SizesPlan::Empirical(rows) => Sizes::Empirical(empirical(at, &rows, 1.0, 1e15)?),
        })
    }
}

fn check_habits(at: &str, habits: &Habits) -> Result<(), PlanError> {
    let key = |name: &str| format!("{at}.{name}");
    check_files(at, &habits.sizes)?;
    within(&key("files_most"), habits.files_most as f64, 1.0, 1e6)?;
    for (name, shape) in [
        ("files_shape", habits.files_shape),
        ("active_off_shape", habits.active_off_shape),
        ("inactive_off_shape", habits.inactive_off_shape),
    ] {
        within(&key(name), shape, 0.05, 100.0)?;
    }
    within(&key("active_off_scale_s"), habits.active_off_scale_s, 0.0, LONGEST_S)?;
    within(&key("inactive_off_least_s"), habits.inactive_off_least_s, 1e-6, LONGEST_S)
}

fn check_files(at: &str, files: &FileSizes) -> Result<(), PlanError> {
    let key = |name: &str| format!("{at}.{name}");
    within(&key("body_mu"), files.body_mu, 0.0, 30.0)?;
    within(&key("body_sigma"), files.body_sigma, 0.0, 10.0)?;
    within(&key("tail_share"), files.tail_share, 0.0, 1.0)?;
    within(&key("tail_least_bytes"), files.tail_least_bytes, 1.0, 1e12)?;
    // sizes of the body are drawn until one lies below the tail, so the body's middle has to lie there
    if !files.body_fits() {
        return bad(key("body_mu"), "the middle of the body lies above tail_least_bytes");
    }
    within(&key("tail_shape"), files.tail_shape, 0.05, 100.0)?;
    within(&key("largest_bytes"), files.largest_bytes, files.tail_least_bytes, 1e15)
}
