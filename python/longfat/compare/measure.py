"""What a comparison stores of one run: a few numbers, computed in the worker."""

from __future__ import annotations

from typing import Any

from longfat.runs import metrics
from longfat.store.kept import kept_as


@kept_as("longfat.compare.measure.figures", "baae36e8969882e3")
def measure(result: Any) -> dict[str, Any]:
    """Returns shares, ratios and times over the span of results; None for what was never reached."""
    summary = result.summary
    flows, link = summary["flows"], summary["links"][0]
    rates = [flow["throughput_bps"] or 0.0 for flow in flows]
    total = sum(rates)
    packet_bits = 8.0 * result.scenario.packet_bytes
    return {
        "utilization": link["utilization"],
        "loss_ratio": metrics.loss_ratio(
            sum(flow["packets_lost"] for flow in flows), sum(flow["packets_sent"] for flow in flows)
        ),
        "queueing_delay_s": link["queue_mean_packets"] * packet_bits / link["rate_bps"],
        "jain": summary["metrics"]["jain"],
        "share_1": rates[0] / total if total > 0.0 else None,
        "convergence_80_s": summary["metrics"]["convergence_80_s"],
        # how long the later flow was observed
        "watched_s": summary["duration_s"] - max(flow["start_s"] for flow in flows),
        "packets": link["packets_in"],
    }
