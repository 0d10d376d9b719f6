"""`longfat import`: captures of 30 random runs against their own summaries, as docs/guide/packets.md says."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import longfat

ALGORITHMS = (
    "cubic",
    "reno-classic",
    "bbr",
    "htcp",
    "westwood",
    "vegas",
    "newreno",
    "dctcp",
    "illinois",
    "scalable",
)
KINDS = ("plain", "reverse", "two links", "no timestamps", "short", "both ways")
PACKET_BITS = 12_000
"""A packet with 1448 bytes of payload, bits."""
ROUNDS = 10
"""A flow that lasts this many of its round trips or more is long."""


def scenario(seed: int) -> dict[str, Any]:
    """A run of the kind that the seed names."""
    draw = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    rate_mbps = draw.choice([1, 2, 5, 10, 20, 50])
    rtt_ms = draw.choice([5, 20, 40, 100, 200])
    link = {
        "rate": f"{rate_mbps} Mbit/s",
        "buffer": f"{draw.choice([5, 20, 60, 300])} packets",
        "loss": draw.choice([0.0, 0.0, 0.001, 0.01]),
    }
    duration_s = draw.choice([1, 2]) if kind == "short" else draw.choice([5, 8, 12])
    flow: dict[str, Any] = {
        "name": "a",
        "algorithm": draw.choice(ALGORITHMS),
        "rtt": f"{rtt_ms} ms",
        "stack": draw.choice(["linux", "rfc"]),
        "start": draw.choice(["0 s", "0.3 s"]),
    }
    if draw.random() < 0.5:
        flow["bytes"] = f"{draw.choice([200, 1000, 4000])} kB"
    made: dict[str, Any] = {"duration": f"{duration_s} s", "seed": seed}
    if kind == "two links":
        del flow["rtt"]
        ends = [("S", "A"), ("A", "D")]
        links = [{"from": a, "to": b, "delay": f"{rtt_ms / 4} ms"} | link for a, b in ends]
        return made | {"link": links, "flow": [flow | {"from": "S", "to": "D"}]}
    made["bottleneck"] = link
    if draw.random() < 0.3:
        link["ack_loss"] = 0.02
    if kind == "reverse":
        flow["direction"] = "reverse"
    if kind == "no timestamps":
        flow["timestamps"] = False
    made["flow"] = [flow]
    if kind == "both ways":
        link["reverse_rate"] = f"{rate_mbps / 2} Mbit/s"
        other = {key: value for key, value in flow.items() if key != "bytes"}
        made["flow"].append(
            other | {"name": "b", "direction": "reverse", "algorithm": draw.choice(ALGORITHMS)}
        )
    elif draw.random() < 0.4:
        made["flow"].append(flow | {"name": "b", "algorithm": draw.choice(ALGORITHMS)})
    return made


@pytest.mark.parametrize("seed", range(30))
def test_a_capture_of_a_random_run_says_what_the_guide_says(seed: int, tmp_path: Path) -> None:
    asked = scenario(seed)
    link = asked["link"][0] if "link" in asked else asked["bottleneck"]
    rate_bps = 1e6 * float(link.get("reverse_rate", link["rate"]).split()[0])
    packet_s = PACKET_BITS / rate_bps
    file = tmp_path / "run.pcapng"
    run = longfat.run(asked, capture=file)
    ran = {flow["name"]: flow for flow in run.summary["flows"]}
    read = {flow["name"]: flow for flow in longfat.read_capture(file).summary["flows"]}
    assert set(read) == set(ran)
    for name, flow in read.items():
        own = ran[name]
        # one may be between the sender and its first link when the run ends
        assert 0 <= own["packets_sent"] - flow["packets_sent"] <= 1
        assert 0 <= own["retransmits"] - flow["retransmits"] <= 1
        # the ends of a run: two of its round trips
        ends = 2 * flow["srtt_mean_s"] / flow["duration_s"]
        assert flow["goodput_bps"] == pytest.approx(own["goodput_bps"], rel=ends + 0.001)
        assert flow["throughput_bps"] <= own["throughput_bps"] * (1 + ends + 0.001)
        assert flow["throughput_bps"] >= flow["goodput_bps"]
        assert own["rtt_s"] <= flow["rtt_s"]
        if flow["start_s"] == 0.0 and len(ran) == 1:  # begins with an empty queue
            hops = len(asked.get("link", [link]))
            assert flow["rtt_s"] <= own["rtt_s"] + 0.001 + 3 * hops * packet_s
        one_a_window = asked["flow"][0]["stack"] == "rfc" and asked["flow"][0].get("timestamps") is False
        long = flow["duration_s"] > ROUNDS * flow["srtt_mean_s"]
        if long and own["timeouts"] == 0 and not one_a_window:
            # the sender may measure the first or the last of two segments, between which others are sent
            wait_s = len(ran) * packet_s
            assert flow["srtt_mean_s"] == pytest.approx(own["srtt_mean_s"], rel=0.1, abs=wait_s)
