"""HA's testbed, as the slides describe it."""

import numpy as np


def as_published(experiment, run):
    at = run.coordinates
    name, background = at["algorithm"], at["background"] == "with"
    jain = 0.98
    if name in ("hstcp", "reno", "stcp"):
        jain = 0.9 if background else 0.7
    if name == "fast":
        jain = 0.8 if background else 0.99
    if experiment == "friendly":
        jain = {"stcp": 0.55}.get(name, 0.8 if background else 0.6)
    ratio = (0.3 if background else 0.95) if name == "fast" else 0.5
    settled = {"hstcp": 150.0 if background else None, "fast": 300.0 if background else 20.0}
    return {
        "utilization": 0.97 if background else 0.92,
        "cov": {"fast": 0.1 if background else 0.02}.get(name, 0.2 if background else 0.4),
        "loss_ratio": 4e-4 if name == "stcp" else 1e-4,
        "link_loss_ratio": (5e-4 if name == "stcp" else 2e-4) + (1e-4 if background else 0.0),
        "jain": jain,
        "ratio": ratio,
        "background_share": 0.3 if background else 0.0,
        "convergence_80_s": settled.get(name, 60.0),
        "series": [history(), history()],
    }


def as_nobody_says(experiment, run):
    at = run.coordinates
    name, background = at["algorithm"], at["background"] == "with"
    jain = 0.9 if background else 0.95
    if experiment == "friendly" and name == "stcp":
        jain = 0.95 if background else 0.5
    return {
        "utilization": 0.5 if background else 0.6,
        "cov": {"fast": 0.1 if background else 0.2}.get(name, 0.15 if background else 0.1),
        "loss_ratio": 1e-5 if name == "stcp" else 1e-4,
        "link_loss_ratio": (1e-5 if name == "stcp" else 1e-4) + (1e-2 if background else 0.0),
        "jain": jain,
        "ratio": 0.8 if name == "fast" else 0.5,
        "background_share": 0.3 if background else 0.0,
        "convergence_80_s": {"hstcp": 90.0 if background else 30.0, "fast": 40.0}.get(name, 60.0),
        "series": [history(), history()],
    }


def history():
    """A flow at 100 Mbit/s."""
    time = np.arange(0.0, 300.5, 0.5)
    return {"name": "1", "time_s": time, "cwnd": np.full(time.size, 800.0), "received_bytes": time * 12.5e6}
