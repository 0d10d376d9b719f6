"""Tests of the draft, as its remarks about outcomes have them.

Where the draft says nothing each algorithm has numbers of its own, so that no two can be taken for another.
"""

from longfat_papers.tcpeval.common import USUAL
from longfat_papers.tcpeval.networks import DATA_CENTER, STANDARD


def as_published(experiment, run):
    at = run.coordinates
    name = at["algorithm"]
    new = name != STANDARD
    if experiment == "basic":
        share = at["load"] / 100.0
        law = share / (1.0 - share) if share < 1.0 else 50.0
        active = 1.2 * law if at["scenario"] == DATA_CENTER.name else 40.0
        return link(drops=0.01, up_drops=0.05) | {"active": active}
    if experiment == "tradeoff":
        used = 0.80 + 0.05 * at["buffer"] / 200
        return link(used=used, delay_ms=0.1 * at["buffer"]) | {"transfer_s_all": 1.0}
    if experiment == "ramp-up":
        return reached(2.0 if at["slow_start"] == "on" else 5.0)
    if experiment == "transients":
        return transient(rank(name))
    if experiment == "impact":
        # repeats differ, so that their standard error is not 0
        off = 0.01 * (at["repeat"] - 1)
        if new:
            return link(used=0.94 + 0.3 * off) | camps((1.05 + off) * 1e6, (0.95 + off) * 1e6)
        return link(used=0.92) | camps(1e6, 1e6)
    if experiment == "fairness":
        slower = 1.0 if at["mbps"] == 10 else 0.5
        return link() | {"fairness": slower * (0.9 - 0.1 * rank(name)), "ratio": 2.0 + rank(name)}
    return lot(rank(name))


def rank(name):
    """0 for standard TCP, and another number for each algorithm that runs."""
    return (STANDARD, *USUAL.full).index(name) if name in USUAL.full else 0 if name == STANDARD else 9


def as_nobody_says(experiment, run):
    at = run.coordinates
    row = as_published(experiment, run)
    if experiment == "basic":
        return row | {"up_drop_ratio": 0.001, "active": 100.0}
    if experiment == "tradeoff":
        return row | {"utilization": 0.85, "delay_ms": 10.0 - 0.01 * at["buffer"]}
    if experiment == "ramp-up":
        return reached(5.0 if at["slow_start"] == "on" else 2.0)
    if experiment == "impact":
        return link(used=0.92) | camps(1e6, 1e6)
    return row


def link(used=0.9, drops=0.01, up_drops=0.01, delay_ms=10.0):
    return {
        "utilization": used,
        "drop_ratio": drops,
        "delay_ms": delay_ms,
        "up_utilization": 0.1,
        "up_drop_ratio": up_drops,
        "up_delay_ms": 1.0,
    }


def reached(seconds):
    return {f"reached_{power}_s": seconds * 10.0 ** (power - 3) for power in range(1, 6)} | {
        "reached_6_s": None,
        "reached_7_s": None,
    }


def transient(number):
    return {
        "window_60_s": 1.0 + number,
        "window_80_s": 2.0 + number,
        "window_90_s": 3.0 + number,
        "step_packets": 2.0 + number,
        "cross_dropped": 100.0 * (1 + number),
    }


def camps(gained_bps, left_bps):
    row = {"goodput_bps_a": left_bps, "goodput_bps_b": gained_bps}
    for number in range(1, 5):
        row |= {f"transfer_bps_a_{number}": left_bps, f"transfer_bps_b_{number}": gained_bps}
    return row


def lot(number):
    row = link()
    for path, share in (("multiple", 1.0), ("single1", 1.0), ("single2", 2.0), ("single3", 3.0)):
        times = 1.0 if path == "multiple" else 1.0 + 0.1 * number
        faster = 1.0 if path == "multiple" else 2.0
        row |= {
            f"goodput_bps_{path}": 1e6 * share * times,
            f"transfer_bps_{path}_4": 1e6 * share * times * faster,
        }
    return row
