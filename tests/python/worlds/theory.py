"""Congestion controls, as the laws and the thesis have them."""

from longfat.runs import theory


def as_published(experiment, run):
    at = run.coordinates
    name = at["algorithm"]
    law = theory.LAWS.get(name)
    if experiment in ("response", "scaled"):
        return {"window": law.window(at["loss"], 0.1) if law else 50.0}
    if experiment == "unfairness":
        return {"unfairness": {"hstcp": 5.55, "stcp": 40.0}.get(name, 2.0)}
    if experiment == "udt":
        return {"throughput_1_bps": 5e6 if at["against"] == "udt" else 50e6}
    return {
        "utilization": 0.95,
        "loss_ratio": 1e-3,
        "throughput_1_bps": 5e6,
        "throughput_2_bps": 5e6,
        "late_jain": 0.99,
    }


def as_nobody_says(experiment, run):
    at = run.coordinates
    values = as_published(experiment, run)
    if experiment in ("response", "scaled"):
        return {"window": 1e-3 / at["loss"] ** 0.3}
    if experiment == "unfairness":
        return {"unfairness": 1.0}
    if experiment == "udt":
        return {"throughput_1_bps": 50e6}
    return values | {"utilization": 0.3, "loss_ratio": 0.1, "throughput_2_bps": 50e6, "late_jain": 0.5}
