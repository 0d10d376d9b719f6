"""Refilling a long fat pipe after one loss (Fig. 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit import (
    CHOSEN_HERE,
    Checks,
    Curve,
    Drawing,
    Evidence,
    Measured,
    Missing,
    Mode,
    Panel,
    Runs,
    Setting,
    thinned,
    within_factor,
)
from longfat_papers.li2007 import common as lls

REFILL_RTTS = 8000.0
REFILL_S = 800.0
REFILL_FACTOR = 1.1
MEAN_MBPS = 218.0
MEAN_FACTOR = 1.2

RATE_MBPS, RTT_MS = 1000, 100
WINDOW = 8333
"""BDP of LLS Fig. 1 in packets; cwnd is held there, so that the one loss meets a full pipe."""
LOSS_EVERY = 56_000_000
"""The packet that is lost. The refill sends fewer packets, so there is no second loss before the end."""
DURATION_S = 1540.0


@lls.PAPER.experiment(
    "F1", "Fig. 1", "Refilling a long fat pipe", grid={"algorithm": ("reno",), "repeat": 1}, keeps_series=True
)
def one_loss(algorithm: str, repeat: int) -> dict[str, Any]:
    """One standard flow fills 1 Gbit/s over 100 ms and loses one packet; no byte counting."""
    return {
        "title": "Refilling a long fat pipe after one loss",
        "duration": f"{DURATION_S:g} s",
        "bottleneck": {
            "rate": f"{RATE_MBPS} Mbit/s",
            "buffer": "100 % BDP",
            "queue": "droptail",
            "loss": {"every": LOSS_EVERY},
        },
        "flow": [
            {**lls.flow(algorithm, RTT_MS, lls.FIRST_START), "byte_counting": False, "max_window": WINDOW}
        ],
    }


@one_loss.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    history = runs.first()["series"][0]
    time, cwnd, received = (history[key] for key in ("time_s", "cwnd", "received_bytes"))
    grid, rate = metrics.short_term_throughput_bps(time, received, 0.01, sampling_s=1.0)
    panels = tuple(
        Panel(
            title,
            "time, s",
            unit,
            (Curve(lls.TITLES["reno"], *thinned(x, y), None, "reno", "line"),),
            y_range=(0.0, top),
        )
        for title, unit, x, y, top in (
            ("Congestion window", "packets", time, cwnd, 9000.0),
            ("Throughput", "Mbit/s", grid, rate * 1e-6, 1050.0),
        )
    )
    return Drawing(
        "One standard flow, 1 Gbit/s, 100 ms, delayed ACK without byte counting, held at a window of one "
        "BDP (8333 packets) until one packet is lost. The paper: BDP about 8000 packets, about 8000 RTTs "
        "(800 s) to refill; its own path averaged 218 Mbit/s over 1200 s.",
        panels,
        columns=1,
        title="One loss on a long fat pipe",
    )


@one_loss.claim(
    "F1",
    "1 standard flow, 1 Gbit/s, 100 ms, delayed ACK without byte counting, one loss at a full window",
    published=(
        "BDP ~8000 packets; ~8000 RTT (800 s) to refill; the measured path averaged 218 Mbit/s over 1200 s"
    ),
    estimator=(
        "One run. Refill: from the lowest cwnd after the loss to 99 % of cwnd before it. Mean rate: from "
        "the loss to the end of the run, about 870 s."
    ),
    bounds="Tolerances chosen here.",
    settings=(
        Setting("one loss", "cwnd held at 8333 packets; the 56 millionth packet is lost", CHOSEN_HERE),
        Setting("queue", "100 % BDP, so that slow-start loses nothing", CHOSEN_HERE),
        Setting("access link", "10 Gbit/s", CHOSEN_HERE),
    ),
    values={"refill_rtts": REFILL_RTTS, "refill_s": REFILL_S, "mean_bps": 1e6 * MEAN_MBPS},
    note="218 Mbit/s is one measurement of one path on one afternoon; its losses are not published.",
)
def refill_takes_8000_round_trips(runs: Runs) -> Checks:
    history = runs.first()["series"][0]
    time, cwnd, received = (np.asarray(history[key]) for key in ("time_s", "cwnd", "received_bytes"))
    low_s, before, _ = metrics.backoffs(time, cwnd)
    if low_s.size != 1:
        raise Missing(f"The run has {low_s.size} backoffs where the claim needs one.")
    refilled = time[(time > low_s[0]) & (cwnd >= 0.99 * before[0])]
    if not refilled.size:
        raise Missing("The window did not refill within the run.")
    refill_s = float(refilled[0] - low_s[0])
    rtts = refill_s / (RTT_MS / 1000.0)
    mean = metrics.throughput_bps(time, received, (float(low_s[0]), float(time[-1])))
    yield within_factor("refill, RTTs", rtts, REFILL_RTTS, REFILL_FACTOR)
    yield within_factor("refill, s", refill_s, REFILL_S, REFILL_FACTOR)
    yield within_factor("mean rate, Mbit/s", mean / 1e6, MEAN_MBPS, MEAN_FACTOR)
    return Evidence(
        f"refill {rtts:.0f} RTT, {refill_s:.0f} s; mean {mean / 1e6:.0f} Mbit/s over "
        f"{time[-1] - low_s[0]:.0f} s",
        {"refill_rtts": rtts, "refill_s": refill_s, "mean_bps": mean, "window_packets": float(before[0])},
        figure=Measured("mean rate after the loss, Mbit/s", mean / 1e6, published=MEAN_MBPS),
    )
