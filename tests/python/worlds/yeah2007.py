"""YeAH's testbed, as the paper describes it."""

import numpy as np

from longfat_papers.yeah2007.reduction import EFFICIENCY_S

PRINTED_LOSS = {
    "reno": (5.77e-6, 5.07e-6, 9.40e-7),
    "yeah": (0.0, 0.0, 0.0),
    "ctcp": (4.01e-6, 1.08e-6, 7.53e-7),
    "htcp": (3.75e-5, 1.42e-4, 3.35e-4),
    "africa": (2.67e-6, 1.84e-6, 1.17e-6),
    "cubic": (2.61e-5, 1.85e-5, 2.97e-5),
    "hstcp": (6.06e-5, 2.93e-5, 4.12e-6),
}
"""Table I as the list of published claims has it, at 15, 60 and 240 ms."""

EMPTY = {"T1": {"YeAH"}}
"""No packet of YeAH was lost."""

QUEUE = {"reno": 0.4, "yeah": 0.02, "ctcp": 0.42, "htcp": 0.3, "africa": 0.38, "cubic": 0.6, "hstcp": 0.65}
LOSSY = {"reno": 0.4, "yeah": 0.98, "ctcp": 0.6, "htcp": 0.8, "africa": 0.65, "cubic": 0.85, "hstcp": 0.75}
LOSS_BASED = ("reno", "hstcp", "cubic", "htcp")


def as_published(experiment, run):
    at = run.coordinates
    name, rtt, loss = at["algorithm"], at.get("rtt_ms", 80), at.get("loss")
    percent, ratio, number = at.get("queue_percent", 100), at.get("rtt_ratio", 1), at.get("reno_flows", 1)
    used = 0.99 if rtt <= 240 else 0.8
    if experiment == "F4" and rtt > 120:
        used *= LOSSY[name]
    if loss is not None:
        used = {"reno": 0.2, "yeah": 0.9}.get(name, 0.5) * (1.0 if loss <= 1e-5 else 0.3)
    if percent < 100:
        used = 0.85 if name in LOSS_BASED and percent <= 5 else 0.97
    fair = 0.98 if name != "cubic" else 0.96
    unfair = 0.97 if name in ("yeah", "htcp") else 0.7
    beside = 6.0 ** (1.0 / number) if name in ("hstcp", "cubic", "htcp") else 1.05
    lost = PRINTED_LOSS[name][(15, 60, 240).index(rtt)] if rtt in (15, 60, 240) else 0.0
    slow = experiment == "F8a"
    separate = {"reno": 0.2, "hstcp": 0.5, "cubic": 0.7}.get(name, 0.6)
    return {
        "queue_share": 0.02 * 100 / percent if name == "yeah" else QUEUE[name] * (percent / 100) ** 0.2,
        "queue_cov": 1.5,
        "utilization": used,
        "overflow_ratio": lost,
        "jain": fair if ratio == 1 else unfair,
        "others_goodput_bps": 480e6 * number / (number + 1) / (beside if name != "reno" else 1.0),
        "convergence_80_s": 20.0,
        "late_ratio": 0.95,
        "duration_s": 300.0,
        "packets": 1e7,
        "late_loss_factor_1": 0.5,
        "series": [history(left=0.5), history(left=1.0)],
        **{f"efficiency_{s}": 0.2 + 0.68 * (s - 100) / 1700 if slow else separate for s in EFFICIENCY_S},
    }


def as_nobody_says(experiment, run):
    at = run.coordinates
    name = at["algorithm"]
    rank = list(QUEUE).index(name)
    percent, ratio = at.get("queue_percent", 100), at.get("rtt_ratio", 1)
    queue = {"reno": 0.1, "yeah": 0.9, "africa": 0.5, "ctcp": 0.5}.get(name, 0.05)
    queue *= percent / 100 if name == "yeah" else 100 / percent
    if name == "htcp" and at.get("rtt_ms", 15) > 15:
        queue *= 10.0
    used = 0.9
    if experiment in ("F4", "F5") or percent < 100:
        used = {"reno": 0.99, "africa": 0.9, "ctcp": 0.9, "yeah": 0.3}.get(name, 0.6)
    if experiment == "F6" and name in ("hstcp", "cubic", "htcp"):
        used = 0.9
    jain = {"htcp": 0.5, "yeah": 0.5}.get(name, 0.95)
    if ratio == 1:
        jain = 0.95 if name == "cubic" else 0.6
    length = dict.fromkeys(EFFICIENCY_S, 0.5 + 0.01 * rank)
    if experiment == "F8a":
        length = dict.fromkeys(EFFICIENCY_S, 0.5 + 0.1 * rank)
    elif name == "reno":
        length[1800] = 0.6
    return {
        "queue_share": queue,
        "queue_cov": 0.2,
        "utilization": used,
        "overflow_ratio": 1e-2,
        "jain": jain,
        "others_goodput_bps": 30e6 if name in ("africa", "ctcp", "yeah") else 100e6,
        "convergence_80_s": None,
        "late_ratio": 0.1,
        "duration_s": 300.0,
        "packets": 1e7,
        "late_loss_factor_1": 0.875,
        "series": [history(left=1.0), history(left=1.0)],
        **{f"efficiency_{s}": value for s, value in length.items()},
    }


def history(left):
    """A window of 1000 packets until the other flow joins at 100 s, then down to a part of it."""
    time = np.arange(0.0, 300.5, 0.5)
    cwnd = np.where(time < 100.0, 1000.0, 1000.0 * left + (time - 100.0) * 0.1)
    return {"name": "1", "time_s": time, "cwnd": cwnd, "received_bytes": time * 1e6}
