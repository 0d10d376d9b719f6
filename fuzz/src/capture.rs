//! Captures: whatever bytes a file has, its connections are read or it is refused.

/// Reads the connections of a capture.
pub fn check(data: &[u8]) {
    let Ok(captured) = longfat_capture::flows(data) else { return };
    let contents = &captured.contents;
    assert!(contents.others <= contents.packets);
    let mut packets = 0;
    for flow in &captured.flows {
        packets += flow.packets;
        assert!(flow.packets > 0 && flow.retransmits <= flow.packets);
        assert!(flow.start_s >= 0.0 && flow.duration_s >= 0.0 && flow.start_s.is_finite());
        assert!(flow.throughput_bps >= flow.goodput_bps && flow.goodput_bps >= 0.0);
        assert!(
            flow.rtt_samples == 0
                || flow.rtt_min_s >= 0.0 && flow.rtt_min_s <= flow.rtt_mean_s * (1.0 + 1e-9)
        );
        assert!(flow.rows.windows(2).all(|pair| pair[0].time_s < pair[1].time_s), "rows in order");
    }
    assert!(packets + contents.others + captured.copies <= contents.packets);
}
