//! Long-lived flows (Ha, Kim, Le, Rhee, Xu, PFLDnet 2006: iperf as ftp): each connection opens once and never
//! completes. Unlike the scenario's flows they have no series, and their round-trip times are drawn at
//! random.

use super::source::{Opened, Source, Workload};
use longfat_scenario::plan::{Bulk, CheckedConnection};
use longfat_units::{Stream, Time};

impl Workload for Bulk {
    fn members(&self) -> u64 {
        self.flows
    }

    /// They send as much as they can.
    fn offered_bytes(&self, _: u64, _: u64, _: &CheckedConnection) -> Option<u64> {
        None
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        let start = self.start.draw(&mut stream("start"));
        Box::new(Lasting { start: Time::from_secs_f64(start) })
    }
}

/// A source that opens one endless connection.
pub struct Lasting {
    /// When the connection opens.
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
