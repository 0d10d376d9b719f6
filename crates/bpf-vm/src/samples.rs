//! What a callback is told of an acknowledgement: `struct ack_sample` and `struct rate_sample`, which share
//! one room, as one callback gets one of them.

use crate::bytes::{u32_at, u64_at};
use crate::kernel_model::{ACK_SAMPLE_BYTES, Fields, RATE_SAMPLE_BYTES, model};
use crate::sock::{Sock, micros};
use crate::struct_ops::Callback;
use longfat_transport::cc::{Ack, Delivery};

/// The fields of a sample, by their names in the kernel.
pub type Sample = Vec<(&'static str, i64)>;

/// The sample of the callback that is being called; samples share their bytes.
pub(crate) struct Samples {
    bytes: [u8; RATE_SAMPLE_BYTES],
    fields: &'static Fields,
}

impl Samples {
    pub fn new() -> Self {
        Samples { bytes: [0; RATE_SAMPLE_BYTES], fields: &model().fields }
    }

    /// The first bytes, which the callback may read.
    pub fn first(&self, bytes: usize) -> &[u8] {
        &self.bytes[..bytes]
    }

    fn put(&mut self, field: usize, value: u32) {
        self.bytes[field..field + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn put_wide(&mut self, field: usize, value: i64) {
        self.bytes[field..field + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Fills in the sample of pkts_acked (struct ack_sample). Returns its size.
    pub fn fill_acknowledged(&mut self, ack: &Ack, mss: u32) -> usize {
        let f = self.fields;
        self.put(f.ack_pkts_acked, ack.newly_delivered);
        self.put(f.ack_rtt_us, ack.rtt.map_or(-1_i32 as u32, micros));
        // tcp_clean_rtx_queue has it in bytes
        let segments = (ack.in_flight as u32).saturating_add(ack.newly_delivered);
        self.put(f.ack_in_flight, segments.saturating_mul(mss));
        ACK_SAMPLE_BYTES
    }

    /// Fills in the sample of cong_control (struct rate_sample): `marked` segments of what was delivered had
    /// been marked. Returns its size.
    pub fn fill_rate(&mut self, d: &Delivery, marked: u32, now_ns: u64, sock: &Sock) -> usize {
        let f = self.fields;
        self.bytes.fill(0);
        let interval_us =
            d.rate.filter(|rate| *rate > 0.0).map(|rate| (d.delivered as f64 / rate * 1e6) as i64);
        let interval = interval_us.unwrap_or(-1);
        let now_us = (now_ns / 1000) as i64;
        self.put_wide(f.rs_prior_mstamp, if interval > 0 { now_us - interval } else { 0 });
        self.put(f.rs_prior_delivered, d.prior_delivered.unwrap_or(0) as u32);
        self.put(f.rs_delivered, if interval > 0 { d.delivered as u32 } else { -1_i32 as u32 });
        self.put_wide(f.rs_interval_us, interval);
        self.put(f.rs_snd_interval_us, interval.max(0) as u32);
        self.put(f.rs_rcv_interval_us, interval.max(0) as u32);
        self.put_wide(f.rs_rtt_us, d.rtt.map_or(-1, |rtt| i64::from(micros(rtt))));
        self.put(f.rs_delivered_ce, marked);
        self.put(f.rs_losses, d.newly_lost as u32);
        self.put(f.rs_acked_sacked, d.newly_delivered as u32);
        self.put(f.rs_prior_in_flight, d.prior_in_flight as u32);
        self.put(f.rs_last_end_seq, sock.get(f.snd_una));
        self.bytes[f.rs_is_app_limited] = u8::from(d.app_limited);
        RATE_SAMPLE_BYTES
    }

    /// What this callback was told.
    pub fn described(&self, callback: Callback) -> Sample {
        let f = self.fields;
        let narrow = |at: usize| i64::from(u32_at(&self.bytes, at).unwrap_or(0) as i32);
        let wide = |at: usize| u64_at(&self.bytes, at).unwrap_or(0) as i64;
        if callback == Callback::PktsAcked {
            return vec![
                ("pkts_acked", narrow(f.ack_pkts_acked)),
                ("rtt_us", narrow(f.ack_rtt_us)),
                ("in_flight", narrow(f.ack_in_flight)),
            ];
        }
        vec![
            ("delivered", narrow(f.rs_delivered)),
            ("interval_us", wide(f.rs_interval_us)),
            ("rtt_us", wide(f.rs_rtt_us)),
            ("losses", narrow(f.rs_losses)),
            ("acked_sacked", narrow(f.rs_acked_sacked)),
            ("prior_in_flight", narrow(f.rs_prior_in_flight)),
            ("delivered_ce", narrow(f.rs_delivered_ce)),
            ("is_app_limited", i64::from(self.bytes[f.rs_is_app_limited])),
        ]
    }
}
