//! Traffic that comes and goes: sources of connections.

use crate::plan::{BackgroundPlan, ConnectionPlan};
use longfat_units::{Interval, Stream, Time};

/// One web session: asks for pages at exponential gaps, whether or not the last one has come; page sizes are Pareto
/// (Li, Leith, Shorten 2007, section IV-F). Each page is a connection of its own, opened by the side that sends it:
/// the request itself is not modelled.
#[derive(Clone, Debug)]
pub struct Session {
    /// Index of the background source it belongs to.
    pub group: usize,
    /// Names its streams and those of its connections.
    pub name: String,
    /// When the next page is asked for.
    pub next_at: Time,
    gaps: Stream,
    sizes: Stream,
    gap_s: f64,
    page_bytes: f64,
    shape: f64,
    /// Pages asked for.
    pub pages: u64,
}

impl Session {
    /// The next page's size in bytes; the time of the one after it is drawn.
    pub fn take_page(&mut self, now: Time) -> u64 {
        self.next_at = now + Interval::from_secs_f64(self.gaps.exponential(self.gap_s));
        self.pages += 1;
        (self.sizes.pareto(self.shape, self.page_bytes) + 0.5).max(1.0) as u64
    }
}

/// The sessions of all background sources.
pub fn sessions(seed: u64, plans: &[BackgroundPlan]) -> Vec<Session> {
    let mut all = Vec::new();
    for (group, BackgroundPlan::Web { name, sessions, gap_s, page_bytes, shape, .. }) in
        plans.iter().enumerate()
    {
        for i in 0..*sessions {
            let name = format!("background/{name}/{i}");
            let mut gaps = Stream::new(seed, &format!("{name}/gaps"));
            all.push(Session {
                group,
                next_at: Time::from_secs_f64(gaps.exponential(*gap_s)),
                sizes: Stream::new(seed, &format!("{name}/sizes")),
                gaps,
                gap_s: *gap_s,
                page_bytes: *page_bytes,
                shape: *shape,
                pages: 0,
                name,
            });
        }
    }
    all
}

/// The name and the connections of a background source.
pub fn connection(plan: &BackgroundPlan) -> (&str, &ConnectionPlan) {
    match plan {
        BackgroundPlan::Web { name, flow, .. } => (name, flow),
    }
}
