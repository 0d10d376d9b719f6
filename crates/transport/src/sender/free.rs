//! What a sender frees once its connection is over.

use super::Sender;
use crate::Scoreboard;

impl Sender {
    /// Frees its lists and what its algorithm knows; for a connection that is over.
    pub fn free(&mut self) {
        self.board = Scoreboard::default();
        self.controller.free();
        (self.ages, self.rack, self.deliveries) = (None, None, None);
        (self.marks, self.watch, self.steering) = (None, None, None);
        self.spare = Vec::new();
    }
}
