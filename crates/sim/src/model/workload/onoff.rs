//! On-off sources, which ignore feedback from the network: each runs the algorithm `onoff` (`transport::udp`)
//! from its start on.

use super::bulk::Lasting;
use super::source::{Source, Workload};
use longfat_scenario::plan::{CheckedConnection, Onoff};
use longfat_units::{Stream, Time};

impl Workload for Onoff {
    fn members(&self) -> u64 {
        self.sources
    }

    /// All that they send: nothing holds them back.
    fn offered_bytes(&self, _: u64, packets_sent: u64, connection: &CheckedConnection) -> Option<u64> {
        Some(packets_sent * u64::from(connection.mss_bytes() + connection.header_bytes))
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        let start = self.start.draw(&mut stream("start"));
        Box::new(Lasting { start: Time::from_secs_f64(start) })
    }
}
