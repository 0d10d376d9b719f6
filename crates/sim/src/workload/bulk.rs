//! Long-lived flows (Ha, Kim, Le, Rhee, Xu, PFLDnet 2006: iperf as ftp): so many connections, each opened once and never
//! complete. Unlike the scenario's flows they have no series, and their round-trip times are drawn.

use super::{Opened, Source, Workload};
use crate::plan::{ConnectionPlan, DistributionPlan, LONGEST_S, PlanError, within};
use longfat_units::{Stream, Time};
use serde::Deserialize;

/// Long-lived flows as planned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkPlan {
    /// Its name in results.
    pub name: String,
    /// How many.
    pub flows: u64,
    /// When each starts, seconds.
    pub start_s: DistributionPlan,
    /// The connections.
    pub flow: ConnectionPlan,
}

impl Workload for BulkPlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn connection(&self) -> &ConnectionPlan {
        &self.flow
    }

    fn members(&self) -> u64 {
        self.flows
    }

    /// They send as much as they can.
    fn offered_bytes(&self, _of_transfers: u64, _packets_sent: u64) -> Option<u64> {
        None
    }

    fn check(&self, at: &str) -> Result<(), PlanError> {
        within(&format!("{at}.flows"), self.flows as f64, 0.0, 1e6)?;
        self.start_s.check(&format!("{at}.start_s"), LONGEST_S)
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        let start = self.start_s.distribution().draw(&mut stream("start"));
        Box::new(Lasting { start: Time::from_secs_f64(start) })
    }
}

/// A connection that is opened once and has no end.
pub struct Lasting {
    /// When it is opened.
    pub start: Time,
}

impl Source for Lasting {
    fn first(&mut self) -> Time {
        self.start
    }

    fn open(&mut self, _now: Time) -> Opened {
        Opened { bytes: None, next_at: Time::NEVER }
    }
}
