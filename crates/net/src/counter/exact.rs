//! A table of all flows seen in an interval: exact, but it needs a search for each packet (Lopez Pacheco
//! 2008, section 6.3.2).

use super::Counter;
use longfat_units::Stream;
use std::collections::BTreeSet;

/// The table, and its length when the last interval ended.
#[derive(Clone, Debug, Default)]
pub struct Exact {
    table: BTreeSet<u64>,
    last: usize,
}

impl Counter for Exact {
    fn see(&mut self, flow: u64, _draws: &mut Stream) {
        self.table.insert(flow);
    }

    fn end_interval(&mut self) {
        self.last = self.table.len();
        self.table.clear();
    }

    fn flows(&self) -> Option<f64> {
        (self.last > 0).then_some(self.last as f64)
    }
}
