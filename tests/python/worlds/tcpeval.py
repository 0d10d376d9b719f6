"""Tests of the draft, as its remarks about outcomes have them."""

from longfat.suites.tcpeval.settings import DATA_CENTER, STANDARD


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
        return transient()
    if experiment == "impact":
        return link(used=0.93 if new else 0.92) | camps(1.05e6 if new else 1e6, 0.95e6 if new else 1e6)
    if experiment == "fairness":
        return link() | {"fairness": 0.9, "ratio": 2.0}
    return lot()


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


def transient():
    return {
        "window_60_s": 1.0,
        "window_80_s": 2.0,
        "window_90_s": 3.0,
        "step_packets": 2.0,
        "cross_dropped": 100.0,
    }


def camps(gained_bps, left_bps):
    row = {"goodput_bps_a": left_bps, "goodput_bps_b": gained_bps}
    for number in range(1, 5):
        row |= {f"transfer_bps_a_{number}": left_bps, f"transfer_bps_b_{number}": gained_bps}
    return row


def lot():
    row = link()
    for path, rate_bps in (("multiple", 1e6), ("single1", 2e6), ("single2", 2e6), ("single3", 2e6)):
        row |= {f"goodput_bps_{path}": rate_bps, f"transfer_bps_{path}_4": rate_bps}
    return row
