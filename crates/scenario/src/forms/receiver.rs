//! What a receiver does against the rules.

use super::basic::{SWITCH, whole};
use crate::keys::{Checked, Inline, Keys, inline, table};
use crate::tree::Table;
use longfat_transport::Habits;
use longfat_wire::Ecn;

table! {
    /// What the receiver does against the rules; by default nothing.
    pub inline Receiver {
        /// It acknowledges segments that are missing below the highest one that has come.
        conceal_losses: bool = SWITCH, else Receiver::HONEST.conceal_losses;
        /// Its ACKs cover up to this many segments that have not come yet.
        ack_ahead: i64 = whole((0, 1_000_000_000), ""), else Receiver::HONEST.ack_ahead;
        /// It sends this many ACKs in place of one, each for a part of the same segments.
        divide_acks: i64 = whole((1, 100), ""), else Receiver::HONEST.divide_acks;
        /// It takes marked packets for unmarked ones.
        hide_marks: bool = SWITCH, else Receiver::HONEST.hide_marks;
    }
}

impl Receiver {
    /// One that keeps the rules.
    pub const HONEST: Receiver =
        Receiver { conceal_losses: false, ack_ahead: 0, divide_acks: 1, hide_marks: false };

    /// What it does besides, if it is not honest and its sender puts this codepoint on its data.
    pub fn habits(self, codepoint: Ecn) -> Option<Habits> {
        (self != Receiver::HONEST).then_some(Habits {
            conceals_losses: self.conceal_losses,
            ahead: self.ack_ahead as u64,
            parts: self.divide_acks as u32,
            hides_marks_as: self.hide_marks.then_some(codepoint),
        })
    }
}

impl Checked for Receiver {
    /// What is as of an honest receiver is not written.
    fn tidy(&self, written: &mut Table) {
        let mut honest = Table::default();
        Receiver::HONEST.put(&mut honest);
        written.retain(|key, item| honest.get(key) != Some(item));
    }
}

/// What a receiver does against the rules.
pub const RECEIVER: Inline<Receiver> =
    inline("{ conceal_losses = true }, or with ack_ahead = 10, divide_acks = 4 and hide_marks = true");
