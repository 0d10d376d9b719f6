"""The event log, kept on request."""

from __future__ import annotations

import longfat

LOSSY = {
    "duration": "20 s",
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 packets", "loss": {"every": 500}},
    "flow": [{"algorithm": "reno", "rtt": "40 ms"}],
}


def test_the_log_has_a_line_for_every_congestion_event_and_its_end() -> None:
    result = longfat.run(LOSSY | {"sample": {"events": True}})
    log = result.events.to_pandas()
    flow = result.summary["flows"][0]
    assert list(log.columns) == ["time_s", "name", "event", "cwnd"]
    assert log["event"].iloc[0] == "connected"
    assert log["time_s"].is_monotonic_increasing
    counts = log["event"].value_counts()
    assert counts["loss"] + counts.get("timeout", 0) == flow["congestion_events"] > 5
    assert abs(counts["recovered"] - flow["congestion_events"]) <= 1


def test_no_log_is_kept_unless_asked_for() -> None:
    assert longfat.run(LOSSY).events.num_rows == 0
