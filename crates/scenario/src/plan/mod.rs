//! The plan of a run: its types, as read from JSON, and every check of them.
//!
//! Two of the scenario's tables stand in it as they are: how the ends of a connection behave, and what
//! disturbs a link. [`Plan::from_json`] reads a plan, and [`Plan::check`] turns it into a [`CheckedPlan`],
//! the only thing from which a run can be built. A check happens once: what it had to parse or build (rates,
//! capacities, queues, parameters) stays in the checked types, so nothing has to be checked again later.

mod checked;
mod connection;
mod distribution;
mod disturbance;
mod error;
mod held;
mod link;
mod names;
mod nodes;
mod streams;
mod traffic;

pub use crate::sizes::{FileSizes, Habits};
pub use checked::{
    BackgroundPlan, CheckedBackground, CheckedFlow, CheckedPlan, CheckedRun, FlowPlan, Plan, SamplePlan,
};
pub use connection::{CheckedConnection, ConnectionPlan, Control};
pub use disturbance::DisturbancePlan;
pub use error::PlanError;
pub use link::{CapacityPlan, CheckedLink, LinkPlan, QueuePlan, RouterPlan};
pub use link::{CheckedQueue, CheckedRouter};
pub use names::ranks;
pub use nodes::MOST_NODES;
pub use streams::Streams;
pub use traffic::{
    Bulk, BulkPlan, Onoff, OnoffPlan, Short, ShortPlan, Sizes, SizesPlan, SurgePlan, Traffic, TrafficPlan,
    WebPlan,
};
