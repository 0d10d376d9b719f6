//! SRED's zombie list (Ott, Lakshman, Wong: SRED: Stabilized RED, IEEE INFOCOM 1999; Lopez Pacheco 2008,
//! section 2.5.1.4).
//!
//! ```text
//! packet:  a zombie drawn from the list has its flow: a hit; else it replaces the zombie with probability r
//!          P <- (1 - alpha) P + alpha hit;  1 / P estimates the number of flows
//! ```

use super::Counter;
use longfat_units::Stream;

/// The list, and how often packets meet their own flow in it.
#[derive(Clone, Debug)]
pub struct Zombies {
    list: Vec<u64>,
    most: usize,
    overwrite: f64,
    alpha: f64,
    hits: f64,
}

impl Zombies {
    /// An empty list for `most` packets; `overwrite` is r.
    pub const fn new(most: usize, overwrite: f64, alpha: f64) -> Self {
        Zombies { list: Vec::new(), most, overwrite, alpha, hits: 0.0 }
    }

    /// Compares the flow, by its identity, with the list and updates the list. Returns whether it was a hit.
    /// The first packets fill the list.
    pub fn look(&mut self, flow: u64, draws: &mut Stream) -> bool {
        if self.list.len() < self.most {
            self.list.push(flow);
            return false;
        }
        let index = draws.below(self.list.len() as u64) as usize;
        let hit = self.list[index] == flow;
        if !hit && draws.unit() < self.overwrite {
            self.list[index] = flow;
        }
        self.hits += self.alpha * (f64::from(u8::from(hit)) - self.hits);
        hit
    }

    /// The estimated probability of a hit, P.
    pub const fn hit_probability(&self) -> f64 {
        self.hits
    }
}

impl Counter for Zombies {
    fn see(&mut self, flow: u64, draws: &mut Stream) {
        self.look(flow, draws);
    }

    fn flows(&self) -> Option<f64> {
        (self.hits > 0.0).then(|| 1.0 / self.hits)
    }
}
