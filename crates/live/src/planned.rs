//! What the plan of a run says, once the routers have taken what was built of its links.

use crate::connection::packet_bytes;
use crate::layout::Layout;
use crate::rest::Rest;
use longfat_sim::{CheckedConnection, CheckedRun, ConnectionPlan, LinkPlan};
use longfat_units::{Distribution, Interval};

/// The plan of a run.
pub struct Planned {
    /// The links.
    pub links: Vec<LinkPlan>,
    /// Everything else.
    pub run: CheckedRun,
    /// Which thread has which links, and which side opens which connection.
    pub layout: Layout,
    /// The round-trip time of programs' connections, s, if programs run.
    pub programs_rtt_s: Option<f64>,
}

impl Planned {
    /// Returns how long the full buffer of a link takes to drain that data of flows cross, the shortest time,
    /// s. A buffer that counts packets is assumed to be full of the largest ones.
    pub fn drain_s(&self) -> f64 {
        let largest = self.run.flows.iter().map(|f| packet_bytes(&f.connection)).max().unwrap_or(1500);
        let drain = |link: &LinkPlan| {
            let bytes = link.queue.limit().in_packets(1500) * u64::from(largest);
            8.0 * bytes as f64 / link.rate_bps
        };
        let crossed = self.run.flows.iter().flat_map(|flow| &flow.connection.forward);
        let least = crossed.map(|&link| drain(&self.links[link])).reduce(f64::min);
        least.or_else(|| self.links.first().map(drain)).unwrap_or_default()
    }

    /// Returns how the threads of the run wait.
    pub fn rest(&self) -> Rest {
        let planned = connections(&self.run).map(|(_, c)| least(c));
        let shortest_s = planned.chain(self.programs_rtt_s).fold(f64::INFINITY, f64::min);
        let data = connections(&self.run).flat_map(|(_, c)| &c.forward).map(|&link| &self.links[link]);
        // programs at both sides may send data
        let of_programs = self.links.iter().filter(|_| self.programs_rtt_s.is_some());
        let fastest_bps = data.chain(of_programs).map(|link| link.rate_bps).fold(0.0, f64::max);
        Rest::new(shortest_s, fastest_bps, self.drain_s())
    }

    /// Returns the rate of the slowest link that a connection's data cross, bit/s.
    pub fn rate_bps(&self, connection: &ConnectionPlan) -> f64 {
        connection.forward.iter().map(|&link| self.links[link].rate_bps).fold(f64::INFINITY, f64::min)
    }

    /// Returns the propagation delays of the links that a connection crosses, there and back.
    pub fn delays(&self, connection: &ConnectionPlan) -> (Interval, Interval) {
        let sum = |path: &[usize]| {
            let delays = path.iter().map(|&link| Interval::from_secs_f64(self.links[link].delay_s));
            delays.fold(Interval::ZERO, |sum, delay| sum + delay)
        };
        (sum(&connection.forward), sum(&connection.reverse))
    }
}

/// Returns every connection of a plan with its key.
pub fn connections(plan: &CheckedRun) -> impl Iterator<Item = (String, &CheckedConnection)> {
    let flows = plan.flows.iter().enumerate().map(|(i, f)| (format!("flows[{i}]"), &f.connection));
    let background = plan.background.iter().enumerate();
    flows.chain(background.map(|(i, b)| (format!("background[{i}].flow"), &b.connection)))
}

/// Returns the shortest round-trip time that a connection can have, s.
fn least(connection: &CheckedConnection) -> f64 {
    match connection.rtt() {
        Distribution::Fixed(x) | Distribution::Uniform(x, _) | Distribution::Exponential(x, _) => *x,
        Distribution::Empirical(values) => values.values().iter().copied().fold(f64::INFINITY, f64::min),
    }
}

/// Returns the longest, s; one connection in a thousand exceeds it if the distribution is exponential.
pub fn most(connection: &CheckedConnection) -> f64 {
    match connection.rtt() {
        Distribution::Fixed(x) | Distribution::Uniform(_, x) => *x,
        Distribution::Exponential(least, mean) => least + 7.0 * (mean - least),
        Distribution::Empirical(values) => values.values().iter().copied().fold(0.0, f64::max),
    }
}
