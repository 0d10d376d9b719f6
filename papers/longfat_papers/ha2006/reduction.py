"""Reduces a run of two flows on HA's testbed. Quantities cover the time that both flows run."""

from __future__ import annotations

from typing import Any

from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat_papers.kit.reduction import history


@kept_as("longfat.suites.ha2006_reduction.reduce_run", "e2bf04960a0b7f5e")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row of quantities, with the flows' histories under ``series``.

    `utilization` counts all traffic on the bottleneck. `loss_ratio` is lost over sent packets of the two
    flows, `link_loss_ratio` that of all traffic. `cov` is taken over seconds and is the mean of both flows.
    """
    summary = result.summary
    link, flows = summary["links"][0], summary["flows"]
    rates = [flow["throughput_bps"] for flow in flows]
    forward = [group for group in summary["background"] if not group["name"].endswith("-reverse")]
    return {
        "utilization": link["utilization"],
        "cov": summary["metrics"]["cov"],
        "loss_ratio": metrics.loss_ratio(
            sum(flow["packets_lost"] for flow in flows), sum(flow["packets_sent"] for flow in flows)
        ),
        "link_loss_ratio": link["loss_ratio"],
        "jain": metrics.jain(rates),
        "ratio": metrics.throughput_ratio(rates),
        "throughput_1_bps": rates[0],
        "throughput_2_bps": rates[1],
        "convergence_80_s": summary["metrics"]["convergence_80_s"],
        "background_share": sum(group["throughput_bps"] for group in forward) / link["rate_bps"],
        "queue_mean_packets": link["queue_mean_packets"],
        "packets": link["packets_in"],
        "series": [history(flow["name"], result.flow(flow["name"])) for flow in flows],
    }
