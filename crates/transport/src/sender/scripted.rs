//! What a host that follows a script does with a sender and sees of it. In a scenario an application offers
//! everything at the beginning, and the receiver's window stays as it is.

use super::{Outbox, Phase, Sender};
use longfat_units::Time;

/// Which segments a sender has under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// The first one that is not cumulatively acknowledged.
    pub base: u64,
    /// The next new one.
    pub next: u64,
    /// Selectively acknowledged ones.
    pub sacked: u64,
    /// Ones that count as lost and were not sent again.
    pub lost: u64,
    /// Ones that counted as lost and were sent again since.
    pub again: u64,
    /// Without SACK: duplicate acknowledgements.
    pub duplicates: u64,
}

impl Sender {
    /// Has nothing to send until [`Sender::write`]. Call it before [`Sender::start`].
    pub fn wait_for_writes(&mut self) {
        self.end = self.next;
    }

    /// The application writes this many full segments more.
    pub fn write(&mut self, now: Time, segments: u64, out: &mut impl Outbox) {
        if self.phase == Phase::Done {
            self.phase = Phase::Open;
            self.cwnd_since = now;
        }
        self.account(now);
        self.end += segments;
        self.transmit::<true>(now, out);
    }

    /// The receiver announces a window of this many whole segments; the next packet or write is the first to
    /// meet it.
    pub fn set_receiver_window(&mut self, segments: u64) {
        self.receiver_window = segments;
    }

    /// Returns which segments are under way.
    pub fn segments(&self) -> Segments {
        Segments {
            base: self.board.base(),
            next: self.next,
            sacked: self.board.sacked(),
            lost: self.board.lost(),
            again: self.board.sent_again(),
            duplicates: self.duplicates,
        }
    }
}
