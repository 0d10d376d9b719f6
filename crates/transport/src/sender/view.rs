//! What somebody who logs a sender sees of it at one moment.

use super::{Phase, Sender};
use crate::cc::Window;
use longfat_units::Interval;

/// What a sender is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It waits for the answer to its connection request, or has not begun.
    Opening,
    /// Its window doubles each round trip, below ssthresh.
    SlowStart,
    /// Its algorithm moves the window.
    Avoidance,
    /// Its window shrinks after a mark.
    Reducing,
    /// It repairs losses that acknowledgements have shown.
    Recovery,
    /// It repairs what was outstanding when its timer expired.
    Loss,
    /// Everything is acknowledged.
    Done,
}

/// A sender at one moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderView {
    /// The window, segments.
    pub window: Window,
    /// Segments in flight (RFC 6675 "pipe").
    pub in_flight: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Interval>,
    /// How far samples are from that (RFC 6298, RTTVAR).
    pub rtt_variation: Interval,
    /// The least round-trip time; `None` before the first sample.
    pub base_rtt: Option<Interval>,
    /// The pacing rate, segments per second; `None` without pacing.
    pub pace: Option<f64>,
    /// How often in a row its timer has expired.
    pub backoffs: u32,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// What it is doing.
    pub stage: Stage,
}

impl Sender {
    /// Returns what there is to see of it now.
    pub fn view(&self) -> SenderView {
        let stage = match self.phase {
            Phase::Idle | Phase::SynSent => Stage::Opening,
            Phase::Open if self.window.in_slow_start() => Stage::SlowStart,
            Phase::Open => Stage::Avoidance,
            Phase::Reducing => Stage::Reducing,
            Phase::Recovery => Stage::Recovery,
            Phase::Loss => Stage::Loss,
            Phase::Done => Stage::Done,
        };
        SenderView {
            window: self.window,
            in_flight: self.in_flight(),
            srtt: self.rtt.measured(),
            rtt_variation: self.rtt.variation(),
            base_rtt: self.rtt.base(),
            pace: self.pace(),
            backoffs: self.rtt.backoffs(),
            mss_bytes: self.config.mss_bytes,
            stage,
        }
    }
}
