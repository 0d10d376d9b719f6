//! On-off sources that listen to nobody: so many, each the algorithm `onoff` (`transport::udp`) from its start on.

use super::bulk::Lasting;
use super::{Source, Workload};
use crate::plan::{ConnectionPlan, DistributionPlan, LONGEST_S, PlanError, bad, within};
use longfat_units::{Stream, Time};
use serde::Deserialize;

/// On-off sources as planned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnoffPlan {
    /// Its name in results.
    pub name: String,
    /// How many.
    pub sources: u64,
    /// When each begins, seconds.
    pub start_s: DistributionPlan,
    /// What carries them; its algorithm has rate and periods.
    pub flow: ConnectionPlan,
}

impl Workload for OnoffPlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn connection(&self) -> &ConnectionPlan {
        &self.flow
    }

    fn members(&self) -> u64 {
        self.sources
    }

    /// What they send: nothing holds them back.
    fn offered_bytes(&self, _of_transfers: u64, packets_sent: u64) -> Option<u64> {
        Some(packets_sent * u64::from(self.flow.mss_bytes + self.flow.header_bytes))
    }

    fn check(&self, at: &str) -> Result<(), PlanError> {
        within(&format!("{at}.sources"), self.sources as f64, 0.0, 1e6)?;
        if self.flow.algorithm != "onoff" {
            return bad(format!("{at}.flow.algorithm"), "on-off sources take the algorithm \"onoff\"");
        }
        self.start_s.check(&format!("{at}.start_s"), LONGEST_S)
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        let start = self.start_s.distribution().draw(&mut stream("start"));
        Box::new(Lasting { start: Time::from_secs_f64(start) })
    }
}
