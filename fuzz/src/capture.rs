//! Captures: whatever bytes a file has, its connections are read or it is refused.

/// Reads the connections of a capture.
pub fn check(data: &[u8]) {
    let Ok(captured) = longfat_capture::flows(data) else { return };
    let contents = &captured.contents;
    let mut rows = 0;
    for flow in &captured.flows {
        assert!(flow.packets > 0 && flow.retransmits <= flow.packets && flow.payload_bytes > 0);
        assert!(flow.start_s >= 0.0 && flow.duration_s >= 0.0 && flow.start_s.is_finite());
        // numbers that are not known are NaN
        assert!(
            flow.goodput_bps.is_nan() || flow.throughput_bps >= flow.goodput_bps && flow.goodput_bps >= 0.0
        );
        assert!(flow.busy_s.is_nan() || flow.busy_s >= 0.0 && flow.busy_s <= flow.duration_s + 1e-9);
        assert!(flow.flight_bytes.is_nan() || flow.flight_bytes >= 0.0);
        assert!(
            flow.rtt_samples == 0
                || flow.rtt_min_s.is_nan()
                || flow.rtt_min_s >= 0.0 && flow.rtt_min_s <= flow.rtt_mean_s * (1.0 + 1e-9)
        );
        assert!(flow.rows.windows(2).all(|pair| pair[0].time_s < pair[1].time_s), "rows in order");
        assert!(flow.rows.windows(2).all(|pair| pair[0].delivered_bytes <= pair[1].delivered_bytes));
        rows += flow.rows.len() as u64;
    }
    assert!(rows <= 4 * contents.packets, "two rows a packet and direction");
    assert!(contents.others() + captured.copies + captured.mirrored <= contents.packets);
}
