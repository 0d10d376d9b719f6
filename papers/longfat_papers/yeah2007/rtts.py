"""Queue over the RTT (Fig. 3), and losses at the buffer (Table I)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from longfat_papers.kit import (
    Check,
    Checks,
    Curve,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    above,
    at_least,
    at_most,
    below,
    by_algorithm,
    repeats,
    within_factor,
)
from longfat_papers.yeah2007 import common as yh

RENO_QUEUE = 0.25
"""Least share of the buffer."""
ALIKE_FACTOR = 1.5
"""Queues like Reno's."""
STEADY_FACTOR = 2.0
"""Greatest over least queue of H-TCP."""
QUEUE_COV = (1, 2)
"""Deviation over mean, as the paper says."""
TABLE_FACTOR = 3.0

TABLE_I: dict[str, dict[int, float | None]] = {
    "reno": {15: 5.7686e-6, 60: 5.0669e-6, 240: 9.4e-7},
    "yeah": {15: None, 60: None, 240: None},
    "ctcp": {15: 4.0134e-6, 60: 1.0827e-6, 240: 7.531e-7},
    "htcp": {15: 3.75099e-5, 60: 1.41953e-4, 240: 3.35233e-4},
    "africa": {15: 2.6651e-6, 60: 1.8414e-6, 240: 1.165e-6},
    "cubic": {15: 2.61158e-5, 60: 1.8499e-5, 240: 2.96627e-5},
    "hstcp": {15: 6.06129e-5, 60: 2.93257e-5, 240: 4.1152e-6},
}
"""Loss probability by RTT in ms, as printed; None stands for a dash: no packet was lost."""


def like_flows(mode: Mode, algorithm: str, rtt_ms: int, repeat: int) -> dict[str, Any]:
    return yh.scenario([(algorithm, rtt_ms)] * 2, yh.DURATION_S[mode], sample=yh.QUEUE_SAMPLE)


over_rtts = yh.over("F3", "Fig. 3", "Queue and RTT", rtt_ms=yh.RTTS_MS)(like_flows)
table = yh.over("T1", "Table I", "Loss at the buffer", rtt_ms=(15, 60, 240))(like_flows)


@over_rtts.drawing
def queue(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Two like flows, buffer of one BDP, queue sampled at 100 Hz.{repeats(runs)} The paper: YeAH lowest "
        "everywhere, Africa and Compound like Reno, HSTCP and CUBIC above it up to 120 ms, H-TCP nearly "
        "constant; all fill the link up to 120 ms (its figure has no utilization).",
        (
            yh.panel(runs, "rtt_ms", yh.RTT_AXIS, "queue_share", "Queue"),
            yh.panel(runs, "rtt_ms", yh.RTT_AXIS, "utilization", "Utilization"),
        ),
        title="Queue at the bottleneck over the RTT",
    )


@over_rtts.claim(
    "F3",
    "two like flows, RTT 15..480 ms",
    published=(
        "mean queue / buffer: YeAH lowest at every RTT; Reno high for 15..120 ms; Africa and Compound near "
        "Reno; HSTCP and CUBIC above Reno; H-TCP nearly constant; all fill the link up to 120 ms; queue "
        "deviation / mean between 1 and 2"
    ),
    estimator=yh.QUEUE_SAMPLED,
    bounds="Queues are shares of the buffer. All numbers but the deviation's are chosen here.",
    note="A deviation beyond the mean is possible only for a queue that is empty for much of the time.",
)
def yeah_has_the_shortest_queue(runs: Runs) -> Checks:
    share, used, covs = (
        yh.means(runs, "rtt_ms", quantity) for quantity in ("queue_share", "utilization", "queue_cov")
    )
    rtts = list(share["reno"])
    filled = [rtt for rtt in rtts if rtt <= yh.FILLED_UP_TO_MS]
    checks = []
    for rtt in rtts:
        queues = yh.column(share, rtt)
        least = min(yh.others(queues, "yeah"))
        checks.append(below(f"{rtt} ms: YeAH's queue", queues["yeah"], least, than="all others'"))
    checks += [at_least(f"{rtt} ms: Reno's queue", share["reno"][rtt], RENO_QUEUE) for rtt in filled]
    for name in yh.HYBRID:
        for rtt in filled:
            text = f"{rtt} ms: {yh.TITLES[name]}'s queue, Reno's"
            near = within_factor(text, share[name][rtt], share["reno"][rtt], ALIKE_FACTOR, than="each other")
            checks.append(near)
    for name in ("hstcp", "cubic"):
        for rtt in filled:
            text = f"{rtt} ms: {yh.TITLES[name]}'s queue"
            checks.append(above(text, share[name][rtt], share["reno"][rtt], than="Reno's"))
    steady = max(share["htcp"].values()) / min(share["htcp"].values())
    checks.append(at_most("H-TCP's queue, greatest over least", steady, STEADY_FACTOR))
    for name, row in used.items():
        text = f"{yh.TITLES[name]}: least utilization up to {yh.FILLED_UP_TO_MS} ms"
        checks.append(at_least(text, min(row[rtt] for rtt in filled), yh.FULL))
    least, most = QUEUE_COV
    for name, row in covs.items():
        text = f"{yh.TITLES[name]}: queue's deviation over its mean between {least} and {most} at every RTT"
        checks.append(Check(text, all(least <= cov <= most for cov in row.values()), yh.span(row)))
    yield from checks
    return Evidence(
        f"{yh.held_text(checks)}; queue / buffer: {yh.spans(share)}; deviation / mean: {yh.spans(covs)}",
        {"queue_share": share, "utilization": used, "queue_cov": covs},
        figure=Measured(
            f"Reno's queue / buffer, mean over RTTs up to {yh.FILLED_UP_TO_MS} ms",
            *runs.where(algorithm="reno").over_repeats(
                lambda rows: float(np.mean([rows.where(rtt_ms=rtt).mean("queue_share") for rtt in filled]))
            ),
        ),
    )


@table.drawing
def overflow(runs: Runs, mode: Mode) -> Drawing:
    printed = tuple(
        Curve(
            yh.TITLES[name],
            tuple(float(rtt) for rtt in row),
            tuple(math.nan if value is None else value for value in row.values()),
            None,
            name,
        )
        for name, row in TABLE_I.items()
    )
    measured = by_algorithm(runs, "rtt_ms", "overflow_ratio", yh.TITLES)
    return Drawing(
        "Packets that the buffer dropped over those that arrived; a point is missing where none was lost."
        + repeats(runs)
        + " Right: the paper's table, which has a dash for YeAH.",
        tuple(
            Panel(title, yh.RTT_AXIS, "dropped / arrived", curves, y_log=True)
            for title, curves in (("Measured", measured), ("The paper", printed))
        ),
        title="Loss probability at the buffer",
    )


@table.claim(
    "T1",
    "loss probability at 15 / 60 / 240 ms",
    published=(
        "Reno 5.77e-6 / 5.07e-6 / 9.40e-7; YeAH none / none / none; Compound 4.01e-6 / 1.08e-6 / 7.53e-7; "
        "H-TCP 3.75e-5 / 1.42e-4 / 3.35e-4; Africa 2.67e-6 / 1.84e-6 / 1.17e-6; CUBIC 2.61e-5 / 1.85e-5 / "
        "2.97e-5; HSTCP 6.06e-5 / 2.93e-5 / 4.12e-6"
    ),
    estimator="Mean over repeats of the packets that the buffer dropped, divided by those that arrived.",
    bounds="Factor chosen here.",
    values={
        f"{name} at {rtt} ms": 0.0 if value is None else value
        for name, row in TABLE_I.items()
        for rtt, value in row.items()
    },
)
def losses_are_those_of_the_table(runs: Runs) -> Checks:
    measured = yh.means(runs, "rtt_ms", "overflow_ratio")
    checks = [
        _near(f"{yh.TITLES[name]}, {rtt} ms: loss", measured[name][rtt], printed)
        for name, row in TABLE_I.items()
        for rtt, printed in row.items()
    ]
    yield from checks
    rtts = " / ".join(map(str, measured["reno"]))
    return Evidence(
        f"{yh.held_text(checks)}; at {rtts} ms: {yh.slashed(measured, '.2g')}",
        {"overflow_ratio": measured},
        figure=Measured(
            "loss over the printed one, geometric mean of the table",
            *runs.over_repeats(_over_printed),
            published=1.0,
            log=True,
        ),
    )


def _near(text: str, measured: float, printed: float | None) -> Check:
    """Checks that a loss is within a factor of the printed one; no loss at all is not."""
    if printed is None:
        return at_most(text, measured, 0.0)
    if measured > 0.0:
        return within_factor(text, measured, printed, TABLE_FACTOR, than="the printed one")
    text += f" within a factor {TABLE_FACTOR:g} of the printed one"
    return Check(text, False, "none", f"{printed:.3g}")


def _over_printed(runs: Runs) -> float:
    """Returns the geometric mean of measured over printed losses; no loss counts as one packet of the run."""
    logs = [
        math.log(max(at.mean("overflow_ratio"), 1.0 / at.mean("packets")) / printed)
        for name, row in TABLE_I.items()
        for rtt, printed in row.items()
        if printed is not None
        for at in [runs.where(algorithm=name, rtt_ms=rtt)]
    ]
    return math.exp(float(np.mean(logs)))
