//! A connection's `struct tcp_sock`, as the programs of its congestion control see it: what the simulator's
//! sender knows, in the kernel's units.
//!
//! | field | here |
//! |---|---|
//! | snd_una, snd_nxt, write_seq | segments times the MSS, from 1 on; they wrap |
//! | packets_out | snd_nxt - snd_una, in segments |
//! | sacked_out | what of them is not in flight (RFC 6675 "pipe"); lost_out and retrans_out are 0 |
//! | srtt_us | eighths of a microsecond, as in the kernel; mdev_us follows from the samples (tcp_rtt_estimator) |
//! | rtt_min | the least round-trip time of the connection, without the kernel's window of 300 s |
//! | is_cwnd_limited | in cong_avoid, whether the window is in use for the sender |
//! | ecn_flags | TCP_ECN_OK for an algorithm with TCP_CONG_NEEDS_ECN |

use crate::bytes::{u32_at, u64_at};
use crate::host::TICK_NS;
use crate::kernel_model::{CWND_LIMITED_BIT, Fields, Model, model};
use longfat_transport::cc::Ack;
use longfat_units::Interval;

/// What the kernel takes for no threshold (TCP_INFINITE_SSTHRESH).
pub(crate) const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// No limit of the pacing rate.
const UNLIMITED: u64 = u64::MAX;
/// Pacing at twice the window's rate in slow-start, at 1.2 times that otherwise (net.ipv4.tcp_pacing_ss_ratio
/// and tcp_pacing_ca_ratio), percent.
const SLOW_START_RATIO: u64 = 200;
/// The same outside of slow-start.
pub(crate) const AVOIDANCE_RATIO: u64 = 120;
/// States of the connection (enum tcp_ca_state).
pub(crate) mod state {
    pub const OPEN: u8 = 0;
    pub const CWR: u8 = 2;
    pub const RECOVERY: u8 = 3;
    pub const LOSS: u8 = 4;
}
/// sk_pacing_status.
const PACING_NONE: u32 = 0;
const ESTABLISHED: u8 = 1;
const FAMILY_INET: u16 = 2;
const ECN_OK: u8 = 1;
/// The bits of icsk_ca_state in its byte.
const STATE_MASK: u8 = 0x1f;
/// The window that a connection begins with (TCP_INIT_CWND).
const INITIAL_CWND: u32 = 10;

/// The connection.
pub(crate) struct Sock {
    pub bytes: Vec<u8>,
    model: &'static Model,
    pub mss: u32,
    /// Percent of the window's rate at which the kernel paces outside of slow-start.
    pub avoidance_ratio: u64,
}

impl Sock {
    pub fn new() -> Self {
        let model = model();
        let (bytes, avoidance_ratio) = (vec![0; model.sock_bytes], AVOIDANCE_RATIO);
        Sock { bytes, model, mss: 1, avoidance_ratio }
    }

    /// The connection is established.
    pub fn start(&mut self, mss: u32, needs_ecn: bool) {
        let f = &self.model.fields;
        self.mss = mss.max(1);
        self.bytes.fill(0);
        self.set(f.mss_cache, self.mss);
        self.bytes[f.advmss..f.advmss + 2].copy_from_slice(&(mss as u16).to_le_bytes());
        self.bytes[f.sk_family..f.sk_family + 2].copy_from_slice(&FAMILY_INET.to_le_bytes());
        self.bytes[f.sk_state] = ESTABLISHED;
        self.bytes[f.ecn_flags] = if needs_ecn { ECN_OK } else { 0 };
        self.bytes[f.sk_pacing_shift] = 10;
        self.set(f.sk_gso_max_size, 65_536);
        self.bytes[f.sk_gso_max_segs..f.sk_gso_max_segs + 2].copy_from_slice(&65_535_u16.to_le_bytes());
        self.set(f.sk_sndbuf, i32::MAX as u32);
        self.set_wide(f.sk_max_pacing_rate, UNLIMITED);
        self.set_wide(f.sk_pacing_rate, UNLIMITED);
        self.set(f.snd_wnd, 1 << 30);
        self.set(f.max_window, 1 << 30);
        self.set(f.snd_cwnd_clamp, u32::MAX);
        self.set(f.snd_cwnd, INITIAL_CWND);
        self.set(f.snd_ssthresh, INFINITE_SSTHRESH);
        self.set(f.reordering, 3);
        self.set(f.app_limited, u32::MAX);
        self.set(f.rtt_min + 4, u32::MAX); // its value; the time before it is zero
        for seq in [f.snd_una, f.snd_nxt, f.write_seq, f.high_seq] {
            self.set(seq, 1);
        }
    }

    pub const fn fields(&self) -> &'static Fields {
        &self.model.fields
    }

    #[inline]
    pub fn get(&self, field: usize) -> u32 {
        u32_at(&self.bytes, field).unwrap_or(0)
    }

    #[inline]
    pub fn set(&mut self, field: usize, value: u32) {
        self.bytes[field..field + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn get_wide(&self, field: usize) -> u64 {
        u64_at(&self.bytes, field).unwrap_or(0)
    }

    #[inline]
    pub fn set_wide(&mut self, field: usize, value: u64) {
        self.bytes[field..field + 8].copy_from_slice(&value.to_le_bytes());
    }

    #[inline]
    pub fn cwnd(&self) -> u32 {
        self.get(self.fields().snd_cwnd)
    }

    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.get(self.fields().snd_ssthresh)
    }

    pub fn state(&self) -> u8 {
        self.bytes[self.fields().icsk_ca_state] & STATE_MASK
    }

    pub fn set_state(&mut self, state: u8) {
        let byte = &mut self.bytes[self.model.fields.icsk_ca_state];
        *byte = *byte & !STATE_MASK | state;
    }

    #[inline]
    pub fn set_limited(&mut self, limited: bool) {
        let byte = &mut self.bytes[self.model.fields.is_cwnd_limited];
        *byte = if limited { *byte | CWND_LIMITED_BIT } else { *byte & !CWND_LIMITED_BIT };
    }

    /// A segment's number as a sequence number.
    #[inline]
    pub const fn sequence(&self, segment: u64) -> u32 {
        (segment as u32).wrapping_mul(self.mss).wrapping_add(1)
    }

    /// The time, ns since the host came up.
    #[inline]
    pub fn set_time(&mut self, now_ns: u64) {
        let f = self.fields();
        self.set_wide(f.tcp_mstamp, now_ns / 1000);
        self.set_wide(f.tcp_clock_cache, now_ns);
        let jiffies = (now_ns / TICK_NS) as u32;
        self.set(f.lsndtime, jiffies);
        self.set(f.snd_cwnd_stamp, jiffies);
    }

    /// The time after an idle one: lsndtime stays when the segment before left, or when the connection opened
    /// (tcp_event_data_sent, tcp_finish_connect).
    pub fn resume(&mut self, now_ns: u64, last_sent_ns: Option<u64>) {
        let f = self.fields();
        let opened = self.get(f.lsndtime);
        self.set_time(now_ns);
        self.set(f.lsndtime, last_sent_ns.map_or(opened, |at| (at / TICK_NS) as u32));
    }

    /// The round-trip times, of which the last sample may be unknown, and before the first one the least too.
    #[inline]
    pub fn set_round_trips(
        &mut self,
        now_ns: u64,
        rtt: Option<Interval>,
        srtt: Interval,
        base: Option<Interval>,
    ) {
        let f = self.fields();
        if let Some(rtt) = rtt {
            let error = (micros(rtt).abs_diff(self.get(f.srtt_us) / 8)).min(1 << 28);
            let mdev = self.get(f.mdev_us);
            self.set(f.mdev_us, if mdev == 0 { 2 * micros(rtt) } else { mdev - mdev / 4 + error });
        }
        self.set(f.srtt_us, eighths(srtt));
        self.set(f.rtt_min, (now_ns / 1_000_000) as u32);
        self.set(f.rtt_min + 4, base.map_or(u32::MAX, micros)); // as the kernel's (tcp_init_sock)
    }

    /// What an acknowledgement says.
    #[inline]
    pub fn hear(&mut self, now_ns: u64, ack: &Ack) {
        let f = self.fields();
        self.set_time(now_ns);
        self.set_round_trips(now_ns, ack.rtt, ack.srtt, ack.base_rtt);
        let (next, una) = (self.sequence(ack.next_segment), self.sequence(ack.unacknowledged));
        self.set(f.snd_nxt, next);
        self.set(f.write_seq, next);
        self.set(f.snd_una, una);
        let out = (ack.next_segment.saturating_sub(ack.unacknowledged)) as u32;
        self.set(f.packets_out, out);
        self.set(f.sacked_out, out.saturating_sub(ack.in_flight as u32));
        self.set(f.max_packets_out, out.saturating_add(ack.newly_delivered));
        self.set(f.delivered, ack.delivered as u32);
        self.set_wide(f.delivered_mstamp, now_ns / 1000);
        self.set_wide(f.bytes_acked, ack.unacknowledged.wrapping_mul(u64::from(self.mss)));
    }

    /// The pacing rate that the kernel sets itself after each acknowledgement (tcp_update_pacing_rate), bytes
    /// a second; `None` before the first round-trip time.
    #[inline]
    fn own_pacing_rate(&self, srtt_us: u32) -> Option<u64> {
        let f = self.fields();
        let (cwnd, srtt) = (u64::from(self.cwnd()), u64::from(srtt_us));
        if srtt == 0 {
            return None;
        }
        let in_slow_start = cwnd < u64::from(self.ssthresh() / 2);
        let ratio = if in_slow_start { SLOW_START_RATIO } else { self.avoidance_ratio };
        let window = cwnd.max(u64::from(self.get(f.packets_out))).saturating_mul(u64::from(self.mss));
        let rate = window.saturating_mul(ratio * 8 * 10_000) / srtt;
        Some(rate.min(self.get_wide(f.sk_max_pacing_rate)))
    }

    /// Sets that rate.
    #[inline]
    pub fn update_pacing_rate(&mut self) {
        let f = self.fields();
        if let Some(rate) = self.own_pacing_rate(self.get(f.srtt_us)) {
            self.set_wide(f.sk_pacing_rate, rate);
        }
    }

    /// Whether the connection asks for pacing.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.get(self.fields().sk_pacing_status) != PACING_NONE
    }

    /// The rate at which segments leave, per second, if they are paced.
    pub fn paced_at(&self) -> Option<f64> {
        let rate = self.get_wide(self.fields().sk_pacing_rate);
        self.paced_by(rate)
    }

    /// The same with the kernel's own rate, which follows every acknowledgement, also those after which the
    /// sender calls nothing.
    pub fn paced_by_kernel(&self, srtt: Interval) -> Option<f64> {
        if !self.is_paced() {
            return None;
        }
        self.paced_by(self.own_pacing_rate(eighths(srtt))?)
    }

    fn paced_by(&self, rate: u64) -> Option<f64> {
        let f = self.fields();
        let rate = rate.min(self.get_wide(f.sk_max_pacing_rate));
        (self.is_paced() && rate != UNLIMITED && rate > 0).then(|| rate as f64 / f64::from(self.mss))
    }

    /// The segments that the kernel sends together at this rate (tcp_tso_autosize), at least `least`.
    pub fn burst(&self, least: u32) -> f64 {
        let f = self.fields();
        let shift = u32::from(self.bytes[f.sk_pacing_shift]).min(63);
        let most = u64::from(self.get(f.sk_gso_max_size)) / u64::from(self.mss);
        let segments = (self.get_wide(f.sk_pacing_rate) >> shift) / u64::from(self.mss);
        segments.max(u64::from(least)).min(most.max(1)).max(1) as f64
    }
}

/// Eighths of a microsecond, as in srtt_us.
#[inline]
const fn eighths(span: Interval) -> u32 {
    (span.as_ns() / 125) as u32
}

/// Whole microseconds.
#[inline]
pub(crate) fn micros(span: Interval) -> u32 {
    u32::try_from(span.as_ns() / 1000).unwrap_or(u32::MAX)
}
