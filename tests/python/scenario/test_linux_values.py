"""One flow on `stack = "linux"`, and what Linux itself (6.18, live backend) got on the same path."""

from __future__ import annotations

import pytest

import longfat

RED = {"rate": "50 Mbit/s", "buffer": "200 % BDP", "queue": "red"}


@pytest.mark.parametrize(
    ("algorithm", "bottleneck", "live_mbps"),
    [
        # the queue grows while the losses at the end of slow-start are repaired
        ("reno", RED, 11.4),
        ("cubic", RED, 28.1),
        ("bbr", {"rate": "100 Mbit/s", "buffer": "10 % BDP"}, 89.6),
    ],
)
def test_a_flow_gets_what_linux_got_without_a_timeout(
    algorithm: str, bottleneck: dict[str, str], live_mbps: float
) -> None:
    flow = {"algorithm": algorithm, "rtt": "200 ms", "stack": "linux"}
    got = longfat.run({"duration": "30 s", "bottleneck": bottleneck, "flow": [flow]}).summary["flows"][0]
    assert got["timeouts"] == 0
    assert got["throughput_bps"] / 1e6 == pytest.approx(live_mbps, rel=0.05)
