"""LLS's testbed, as the paper describes it."""

import numpy as np


def as_published(experiment, run):
    at = run.coordinates
    name, rtt, rate = at["algorithm"], at.get("rtt_ms", 162), at.get("rate_mbps", 250)
    fair = {"reno": 0.98, "htcp": 0.97, "stcp": 0.3, "fast": 0.35, "hstcp": 0.8, "bic": 0.85}[name]
    share = min(rtt, 162) / 162
    starved = {
        "reno": share**2 * 2,
        "htcp": share * 2,
        "stcp": 0.0005,
        "fast": 0.003,
        "hstcp": 0.003,
        "bic": 0.004,
    }
    long_short = min(1.0, starved[name])
    times = {
        "reno": 40.0 if rate == 10 else 50.0 * rtt / 42,
        "htcp": 35.0 if rate == 10 else 30.0,
        "hstcp": 60.0 * rtt / 42,
        "bic": 50.0 * rtt / 42,
        "stcp": 400.0 if rtt < 162 else None,
        "fast": 5.0,
    }
    converges = times[name] if not (name == "reno" and rate == 250 and rtt > 162) else None
    percent = at.get("queue_percent", 20)
    collapsed = percent <= (8 if name == "fast" else 3)
    busy = {"reno": 88.0, "hstcp": 95.0, "stcp": 97.0, "bic": 96.0, "fast": 98.0, "htcp": 94.0}[name]
    if percent == 100:
        busy = 99.9 if name == "reno" else 99.8  # at full use no flow can win
    rapid = name == "fast" and rtt == 42
    p = at.get("loss", 1e-3)
    window = {"reno": 1.2247 * p**-0.5, "stcp": 0.08 / p, "hstcp": 0.12 * p**-0.835}.get(name, 100.0)
    if name != "reno" and p >= 1e-2:
        window = 1.2247 * p**-0.5
    return {
        "ratio": fair,
        "late_ratio": {"nearest": 0.85, "interpolated": 0.96}.get(at.get("table"), fair),
        "final_ratio": 0.5 if name in ("stcp", "bic") else 0.98,
        "first_to_second": long_short,
        "srtt_1_s": 0.162,
        "srtt_2_s": rtt / 1000,
        "convergence_80_s": converges,
        "convergence_own_s": converges,
        "aggregate_bps": (40e6 if collapsed else busy * 1e6),
        "utilization": busy / 100,
        "loss_ratio": 1e-3 if percent == 1 else 1e-5,
        "queue_limit_packets": 175,
        "epoch_1_s": 1.0 if rapid else 100.0,
        "epoch_2_s": 1.5 if rapid else None,
        "late_cwnd_cov_1": 0.3 if rapid else 0.02,
        "late_cwnd_cov_2": 0.3 if rapid else 0.02,
        "largest_step_1": 0.5,
        "largest_step_2": 0.1,
        "least_100s_ratio": 0.2,
        "cwnd_max_2": 40.0,
        "settled_throughput_1_bps": window * 12000 / 0.162,
        "background_share": 0.015 if at.get("sessions") else None,
        "background_peak_share": 0.1 if at.get("sessions") else None,
        "series": [refill_history(8000.0, 218e6)],
    }


def as_nobody_says(experiment, run):
    at = run.coordinates
    values = as_published(experiment, run)
    name = at["algorithm"]
    fair = 0.5 if name in ("reno", "htcp") else 0.99
    return values | {
        "ratio": fair,
        "late_ratio": {"nearest": 0.97, "interpolated": 0.90}.get(at.get("table"), fair),
        "final_ratio": 0.99,
        "first_to_second": 1.2 if at.get("sessions") else 0.6,
        "srtt_2_s": at.get("rtt_ms", 162) / 1000,
        "convergence_80_s": {"reno": 1.0, "fast": 300.0, "htcp": 90.0}.get(name, 20.0)
        if name != "hstcp"
        else None,
        "aggregate_bps": 99e6 if name == "reno" else 80e6,
        "loss_ratio": 1e-5,
        "epoch_1_s": 100.0 if at.get("rtt_ms") == 42 else 1.0,
        "epoch_2_s": 100.0 if at.get("rtt_ms") == 42 else 1.0,
        "late_cwnd_cov_1": 0.0,
        "late_cwnd_cov_2": 0.0,
        "largest_step_1": 0.0,
        "least_100s_ratio": 0.9,
        "cwnd_max_2": 10.0,
        "settled_throughput_1_bps": 1e6,
        "background_share": 0.1 if at.get("sessions") else None,
        "background_peak_share": 0.6 if at.get("sessions") else None,
        "series": [refill_history(1000.0, 900e6)],
    }


def refill_history(rtts, mean_bps):
    """A window full for 50 s, halved, and full again after so many RTTs of 100 ms, at a mean rate."""
    seconds = rtts * 0.1
    time = np.arange(0.0, 50.0 + seconds + 20.0, 0.5)
    cwnd = np.interp(time, [0.0, 50.0, 50.5, 50.5 + seconds, 1e6], [8333, 8333, 4166, 8333, 8333])
    backoff = {"time_s": [50.5], "before": [8333.0], "after": [4166.0]}
    return {
        "name": "1",
        "time_s": time,
        "cwnd": cwnd,
        "received_bytes": time * mean_bps / 8,
        "backoffs": backoff,
    }
