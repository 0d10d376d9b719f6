//! Compressed SACK blocks, as Linux's receivers send them (`tcp_comp_sack_*`; net/ipv4/tcp_input.c of Linux
//! 6.12, `__tcp_ack_snd_check` and `tcp_sack_new_ofo_skb`): above a gap the first acknowledgements leave at
//! once, so that the sender finds the loss, and the others wait a little for each other.
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | longest wait | 1 ms, or as configured | Linux, tcp_comp_sack_delay_ns | none |
//! | its limit on short paths | RTT/20 | Linux up to 6.18, `__tcp_ack_snd_check` | the RTT is the handshake's |
//! | slack of its timer | 100 us | Linux, tcp_comp_sack_slack_ns | always all of it |
//! | most that wait | 44 | Linux, tcp_comp_sack_nr | none |
//! | acknowledgements at once | 3 | Linux, TCP_FASTRETRANS_THRESH | none |
//! | blocks that may be new while some wait | 2 | Linux, TCP_SACK_BLOCKS_EXPECTED | none |
//! | blocks that it remembers | 4 | Linux, TCP_NUM_SACKS | none |
//!
//! Linux takes the RTT of the handshake if it is the least it knows. Its timer is a soft one, whose slack
//! another interrupt does not shorten: only another such timer of the same processor does
//! (`hrtimer_interrupt`, kernel/time/hrtimer.c). validation/live/ack_timer.py measures it. Linux 6.19 has a
//! setting in place of RTT/20, tcp_comp_sack_rtt_percent, which is 33 by default: on a short path it waits up
//! to 6.6 times as long, and the slack is 10 us. A segment below the gap puts Linux into its quick mode,
//! where up to 16 acknowledgements leave at once (tcp_enter_quickack_mode); a mark does so for two of them.
//! Here such a segment alone is acknowledged at once, and after a mark each one until the sender has answered
//! it. Linux is in that mode also for as long as its receive window grows (`tcp_grow_window`), which it does
//! not here.

use longfat_units::{Interval, Time};

const ROUND_TRIP_PARTS: u64 = 20;
const SLACK: Interval = Interval::from_ns(100_000);
const MOST_WAITING: u32 = 44;
const AT_ONCE: u32 = 3;
pub(super) const BLOCKS_EXPECTED: usize = 2;
const BLOCKS_REMEMBERED: usize = 4;

/// The acknowledgements that wait.
#[derive(Clone, Debug)]
pub(super) struct Compression {
    longest: Interval,
    /// When the connection request came.
    opened: Option<Time>,
    /// From then to the first data.
    handshake_rtt: Option<Interval>,
    waiting: u32,
    /// When the last segment whose acknowledgement waits arrived, and its stamp.
    held: (Time, Time),
    /// Acknowledgements that left at once while `missing` was missing.
    at_once: u32,
    missing: u64,
    /// A segment of each block, the one that changed last first. An acknowledgement that has waited tells of
    /// several segments, so more than the last block may be new in it.
    blocks: [u64; BLOCKS_REMEMBERED],
}

impl Compression {
    /// `None` if nothing may wait.
    pub fn new(longest: Interval) -> Option<Self> {
        (longest > Interval::ZERO).then_some(Compression {
            longest,
            opened: None,
            handshake_rtt: None,
            waiting: 0,
            held: (Time::ZERO, Time::ZERO),
            at_once: 0,
            missing: 0,
            blocks: [u64::MAX; BLOCKS_REMEMBERED],
        })
    }

    /// A connection request came; it may come again, also after data.
    pub fn open(&mut self, now: Time) {
        if self.handshake_rtt.is_none() {
            self.opened.get_or_insert(now);
        }
    }

    /// Data came.
    pub fn hear(&mut self, now: Time) {
        if let Some(opened) = self.opened.take() {
            self.handshake_rtt = Some(now.since(opened));
        }
    }

    fn wait(&self) -> Interval {
        let part = self.handshake_rtt.map(|rtt| Interval::from_ns(rtt.as_ns() / ROUND_TRIP_PARTS));
        part.map_or(self.longest, |part| part.min(self.longest)) + SLACK
    }

    /// A segment of each block, the one that changed last first.
    pub fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// The block of this segment has changed; `is_other` says whether another block holds an earlier one.
    pub fn put_first(&mut self, seq: u64, is_other: impl Fn(u64) -> bool) {
        let others = self.blocks.into_iter().filter(|&earlier| is_other(earlier));
        let mut blocks = [u64::MAX; BLOCKS_REMEMBERED];
        for (slot, block) in blocks.iter_mut().zip(core::iter::once(seq).chain(others)) {
            *slot = block;
        }
        self.blocks = blocks;
    }

    /// When the last segment whose acknowledgement waits arrived, and its stamp, if there is one.
    pub fn held(&self) -> Option<(Time, Time)> {
        (self.waiting > 0).then_some(self.held)
    }

    /// An acknowledgement leaves, for all.
    pub fn release(&mut self) {
        self.waiting = 0;
    }

    /// Whether an acknowledgement has to leave at once while `missing` is missing.
    pub fn is_due(&mut self, missing: u64) -> bool {
        if self.waiting >= MOST_WAITING {
            return true;
        }
        if self.missing != missing {
            (self.missing, self.at_once) = (missing, 0);
        }
        let few = self.at_once < AT_ONCE;
        self.at_once += u32::from(few);
        few
    }

    /// Lets the acknowledgement of a segment wait. Returns how long the first one may.
    pub fn hold(&mut self, now: Time, stamp: Time) -> Interval {
        self.waiting += 1;
        self.held = (now, stamp);
        self.wait()
    }
}
