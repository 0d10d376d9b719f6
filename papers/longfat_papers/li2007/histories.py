"""Histories of two like flows at 250 Mbit/s (Figs. 4 to 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from longfat_papers.kit import (
    Check,
    Checks,
    Curve,
    Declaration,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    above,
    at_least,
    below,
    cwnd_panel,
    listed,
    seconds,
)
from longfat_papers.li2007 import common as lls

BACKOFF_RTTS = 100
"""F5a, F5b: mean time between backoffs, LLS's averaging time."""
RAPID_COV = 0.1
"""F5a: coefficient of variation of cwnd."""
ABRUPT_STEP = 0.3
"""F5b: change of cwnd between neighbouring means over 10 s."""
LOCKED_RATIO = 0.5
"""F5b: ratio of throughputs over 100 s."""

AS_MEASURED, HALF_ALPHA, AS_PRINTED = "as measured", "alpha / 2", "as printed"
"""Values of the coordinate `variant`."""
FINE_SAMPLE = "20 ms"
"""Half an RTT of Fig. 7: backoffs come every second and are read from the samples."""


def histories(
    number: int, name: str, rtts_ms: tuple[int, ...], variants: Mapping[str, Mapping[str, Any]] | None = None
) -> Declaration:
    """Declares the runs of Fig. 3 whose histories a figure shows, and their ``variants``."""
    changes = {AS_MEASURED: {}, **(variants or {})}

    @lls.PAPER.experiment(
        f"F{number}",
        f"Fig. {number}",
        f"{lls.TITLES[name]} histories",
        grid={
            "algorithm": (name,),
            "rate_mbps": (lls.HIGH_MBPS,),
            "variant": tuple(changes),
            "rtt_ms": rtts_ms,
            "repeat": lls.REPEATS,
        },
        keeps_series=True,
    )
    def declared(
        mode: Mode, algorithm: str, rate_mbps: int, variant: str, rtt_ms: int, repeat: int
    ) -> dict[str, Any]:
        flow = (algorithm, rtt_ms)
        return lls.pair(mode, rate_mbps, flow, flow, change=changes[variant])

    @declared.drawing
    def drawing(runs: Runs, mode: Mode) -> Drawing:
        panels = tuple(
            cwnd_panel(f"{rtt} ms" + ("" if variant == AS_MEASURED else f", {variant}"), run)
            for variant in changes
            for rtt in runs.where(variant=variant).distinct("rtt_ms")
            for run in [runs.where(variant=variant, rtt_ms=rtt).first()]
        )
        others = ", ".join(variants or ())
        return Drawing(
            f"{lls.TITLES[name]}, 250 Mbit/s, queue 20 % BDP, no web traffic; first repeat, sampled every "
            "half second."
            + (f" Below: the other reading of the paper's formula ({others})." if others else ""),
            panels,
            columns=1,
            title=f"{lls.TITLES[name]}: cwnd after a second flow starts",
        )

    return declared


scalable = histories(4, "stcp", (42, 162))
fast = histories(5, "fast", (42, 162), {HALF_ALPHA: {"variant": "lls-half"}})
hstcp = histories(6, "hstcp", (42, 162, 324))


@lls.PAPER.experiment(
    "F7",
    "Fig. 7",
    "HS-TCP's table",
    grid={
        "algorithm": ("hstcp",),
        "rate_mbps": (lls.HIGH_MBPS,),
        "rtt_ms": (42,),
        "table": {"quick": ("nearest", "interpolated"), "full": ("nearest", "interpolated", "exact")},
        "repeat": {"quick": 2, "full": lls.REPEATS["full"]},
    },
    keeps_series=True,
)
def tables(
    mode: Mode, algorithm: str, rate_mbps: int, rtt_ms: int, table: str, repeat: int
) -> dict[str, Any]:
    """HS-TCP with the nearest-neighbour table, the interpolated one, and the equations."""
    flow = (algorithm, rtt_ms)
    return lls.pair(mode, rate_mbps, flow, flow, change={"table": table}) | {"sample": {"cwnd": FINE_SAMPLE}}


bic = histories(8, "bic", (42, 162, 324), {AS_PRINTED: {"variant": "literal"}})
htcp = histories(9, "htcp", (42, 162, 324))


@scalable.claim(
    "F4",
    "Scalable-TCP x2, 250 Mbit/s, 42 and 162 ms, second flow later",
    published="no convergence to fairness within 10 min",
    estimator="Mean over repeats of the ratio of throughputs over the last 60 s.",
    bounds="The bound is LLS's own 80 %.",
)
def scalable_does_not_converge(runs: Runs) -> Checks:
    found = _by_rtt(runs, "final_ratio")
    for rtt, (ratio, _) in found.items():
        yield below(f"{rtt} ms: ratio of the last 60 s", ratio, lls.CONVERGED)
    return Evidence(
        "ratio of the last 60 s: " + ", ".join(f"{rtt} ms {ratio:.2f}" for rtt, (ratio, _) in found.items()),
        {"final_ratio": {rtt: ratio for rtt, (ratio, _) in found.items()}},
        figure=Measured("greater ratio of the last 60 s", *max(found.values())),
    )


@fast.claim(
    "F5a",
    "FAST-TCP x2, 250 Mbit/s, 42 ms",
    published="cwnd varies rapidly: the flows want 2 x alpha/2 = 200 packets in a queue of 175",
    estimator="Means over repeats: run time divided by congestion events; CoV of cwnd sampled every 0.1 s.",
    bounds=(
        f"The time between backoffs is that of {BACKOFF_RTTS} RTT, LLS's averaging time. The CoV is that of "
        "the later half, and its bound is chosen here."
    ),
    values={"queue_packets": 175.0},
    note="The printed rule queues alpha = 200 packets for each flow, the text says alpha/2; both are shown.",
)
def fast_varies_rapidly(runs: Runs) -> Checks:
    runs = runs.where(rtt_ms=42)
    at = runs.where(variant=AS_MEASURED)
    epochs = _epochs(at)
    found = [at.mean_stderr(f"late_cwnd_cov_{number}") for number in (1, 2)]
    covs = [mean for mean, _ in found]
    for number, (epoch, cov) in enumerate(zip(epochs, covs, strict=True), start=1):
        yield below(f"flow {number}: seconds between backoffs", epoch, BACKOFF_RTTS * 0.042)
        yield at_least(f"flow {number}: CoV of cwnd", cov, RAPID_COV)
    queue = at.mean("queue_limit_packets")
    return Evidence(
        f"queue {queue:.0f} packets; {_backoffs(epochs)}; CoV of cwnd {covs[0]:.2f} and {covs[1]:.2f}",
        {"epoch_s": epochs, "cwnd_cov": covs, "queue_limit_packets": queue},
        f"With alpha / 2 in the rule: {_backoffs(_epochs(runs.where(variant=HALF_ALPHA)))}.",
        Measured("CoV of cwnd of the steadier flow", *min(found)),
    )


@fast.claim(
    "F5b",
    "FAST-TCP x2, 250 Mbit/s, 162 ms",
    published=(
        "no rapid variation; abrupt cwnd changes from alpha switching, can lock into lasting unfairness"
    ),
    estimator=(
        "Time between backoffs: mean over repeats. Abrupt change and lasting unfairness: worst repeat, "
        "the former without the first 100 s after flow 2's start."
    ),
    bounds=f"The time between backoffs is that of {BACKOFF_RTTS} RTT. {lls.CHOSEN}",
)
def fast_locks_in(runs: Runs) -> Checks:
    runs = runs.where(rtt_ms=162)
    at = runs.where(variant=AS_MEASURED)
    epochs = _epochs(at)
    step = float(np.nanmax([at.values("largest_step_1"), at.values("largest_step_2")]))
    locked, half = (
        float(runs.where(variant=variant).values("least_100s_ratio").min())
        for variant in (AS_MEASURED, HALF_ALPHA)
    )
    for number, epoch in enumerate(epochs, start=1):
        yield at_least(f"flow {number}: seconds between backoffs", epoch, BACKOFF_RTTS * 0.162)
    label = "largest change between 10 s means of cwnd"
    yield above(label, step, ABRUPT_STEP)
    yield below("lowest ratio over 100 s", locked, LOCKED_RATIO)
    return Evidence(
        f"{_backoffs(epochs)}; largest change of cwnd in 10 s {100 * step:.0f} %; "
        f"lowest ratio over 100 s {locked:.2f}",
        {"epoch_s": epochs, "largest_step": step, "least_100s_ratio": locked},
        f"With alpha / 2 in the rule: lowest ratio over 100 s {half:.2f}.",
        Measured(label, step),
    )


@hstcp.claim(
    "F6",
    "HS-TCP x2, 250 Mbit/s, 42 / 162 / 324 ms",
    published="converges, more slowly at longer RTTs",
    estimator=lls.CONVERGENCE,
)
def hstcp_converges_later_on_longer_paths(runs: Runs) -> Checks:
    times = lls.times_by_rtt(runs)
    for rtt, value in times.items():
        yield Check(f"{rtt} ms: converges", value < lls.NEVER, seconds(value))
    yield _later(times, 42, 162)
    yield _later(times, 162, 324)
    return Evidence(
        lls.times_text(times),
        {"convergence_80_s": times},
        figure=lls.time_figure("HS-TCP at 324 ms", runs.where(rtt_ms=324)),
    )


@tables.drawing
def tables_drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for table in sorted(runs.distinct("table"), key=("nearest", "interpolated", "exact").index):
        run = runs.where(table=table).first()
        panels += [cwnd_panel(f"table: {table}", run), _decreases(table, run)]
    return Drawing(
        "250 Mbit/s, 42 ms, queue 20 % BDP. Left: cwnd; right: the decrease factor of each backoff, read "
        "from the history (after / before). The paper: lasting unfairness with the nearest-neighbour table."
        + lls.repeated(runs),
        tuple(panels),
        title="HS-TCP: the table's granularity",
    )


@tables.claim(
    "F7",
    "HS-TCP x2, 250 Mbit/s, 42 ms, nearest-neighbour table against interpolated table",
    published="lasting unfairness with the table, less when interpolated",
    estimator=lls.LATE,
    bounds=(
        "Unfairness is 1 - ratio, of the later half; which is smaller is undecided if the difference is "
        "within one standard error."
    ),
)
def the_coarse_table_is_unfair(runs: Runs) -> Checks:
    found = {table: runs.where(table=table).mean_stderr("late_ratio") for table in runs.distinct("table")}
    unfair = {table: 1.0 - mean for table, (mean, _) in found.items()}
    difference = unfair["nearest"] - unfair["interpolated"]
    error = math.hypot(found["nearest"][1], found["interpolated"][1])
    smaller = None if abs(difference) <= error else difference > 0.0
    yield above("unfairness with the nearest-neighbour table", unfair["nearest"], lls.UNFAIR)
    yield Check("smaller when interpolated", smaller, f"difference {difference:.3f} ± {error:.3f}")
    return Evidence(
        "unfairness of the later half: " + listed(unfair, {}, 3),
        {"unfairness": unfair},
        figure=Measured("unfairness, nearest-neighbour less interpolated", difference, error),
    )


@bic.claim(
    "F8",
    "BIC-TCP x2, 250 Mbit/s, 42 / 162 / 324 ms",
    published="converges more slowly at longer RTTs; not fair within 10 min at 324 ms",
    estimator=lls.CONVERGENCE,
    bounds="Never is later than any time. The bound of the ratio is LLS's own 80 %.",
    note="The formula in the paper has a slip. The corrected form is judged; the printed form is shown too.",
)
def bic_slows_down(runs: Runs) -> Checks:
    times, printed = (lls.times_by_rtt(runs.where(variant=which)) for which in (AS_MEASURED, AS_PRINTED))
    final, error = runs.where(rtt_ms=324, variant=AS_MEASURED).mean_stderr("final_ratio")
    yield _later(times, 42, 162)
    yield _later(times, 162, 324)
    yield below("324 ms: ratio of the last 60 s", final, lls.CONVERGED)
    return Evidence(
        f"{lls.times_text(times)}; last 60 s at 324 ms: ratio {final:.2f}",
        {"convergence_80_s": times, "final_ratio_324": final},
        f"With the formula as printed: {lls.times_text(printed)}.",
        Measured("ratio of the last 60 s at 324 ms", final, error),
    )


@htcp.claim(
    "F9",
    "H-TCP x2, 250 Mbit/s, 42 / 162 / 324 ms",
    published="the flows share equally at all three RTTs",
    estimator=lls.LATE,
    bounds="The bound is the 5 % of LLS-F3a.",
)
def htcp_shares_equally(runs: Runs) -> Checks:
    found = _by_rtt(runs, "late_ratio")
    for rtt, (ratio, _) in found.items():
        yield at_least(f"{rtt} ms: ratio of the later half", ratio, lls.FAIR)
    return Evidence(
        "ratio of the later half: " + ", ".join(f"{rtt} ms {ratio:.3f}" for rtt, (ratio, _) in found.items()),
        {"late_ratio": {rtt: ratio for rtt, (ratio, _) in found.items()}},
        figure=Measured("least ratio of the later half", *min(found.values())),
    )


def _by_rtt(runs: Runs, quantity: str) -> dict[int, tuple[float, float]]:
    """Returns the mean and the standard error of a quantity at each RTT."""
    return {rtt: runs.where(rtt_ms=rtt).mean_stderr(quantity) for rtt in runs.distinct("rtt_ms")}


def _epochs(runs: Runs) -> list[float]:
    """Returns the mean seconds between backoffs of flows 1 and 2; infinite if a flow never backed off."""
    epochs = (runs.values(f"epoch_{number}_s") for number in (1, 2))
    return [float(np.where(np.isnan(found), math.inf, found).mean()) for found in epochs]


def _backoffs(epochs: list[float]) -> str:
    """Returns a text on how often flows 1 and 2 back off."""
    if all(math.isinf(epoch) for epoch in epochs):
        return "no backoff"
    if any(math.isinf(epoch) for epoch in epochs):
        return "; ".join(
            f"flow {number}: " + ("no backoff" if math.isinf(epoch) else f"a backoff every {epoch:.3g} s")
            for number, epoch in enumerate(epochs, start=1)
        )
    return "a backoff every " + " and ".join(f"{epoch:.3g} s" for epoch in epochs)


def _later(times: Mapping[int, float], near: int, far: int) -> Check:
    both_never = times[near] == times[far] == lls.NEVER
    return Check(
        f"later at {far} than at {near} ms",
        None if both_never else times[far] > times[near],
        f"{seconds(times[far])} against {seconds(times[near])}",
    )


def _decreases(table: str, run: Mapping[str, Any]) -> Panel:
    """Returns the decrease factor of each backoff."""
    curves = []
    for number, history in enumerate(run["series"]):
        time, before, after = (history["backoffs"][key] for key in ("time_s", "before", "after"))
        factors = tuple(float(low / high) for high, low in zip(before, after, strict=True))
        curves.append(
            Curve(
                f"flow {number + 1}", tuple(map(float, time)), factors, None, run["algorithm"], "line", number
            )
        )
    title = f"decrease factor, table: {table}"
    return Panel(title, "time, s", "cwnd after / before", tuple(curves), y_range=(0.3, 1.0))
