"""The rules of YeAH's claims. `claims` has their texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from longfat.numbers import finite
from longfat_papers.kit.checks import above, at_least, at_most, below, between, held, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.kit.text import listed, seconds
from longfat_papers.yeah2007 import bounds
from longfat_papers.yeah2007.reduction import efficiency_lengths_s, fair_to_reno_ratio
from longfat_papers.yeah2007.settings import (
    ALGORITHMS,
    BEFORE_S,
    FILLED_UP_TO_MS,
    HTCP_ALIKE_UP_TO_S,
    HYBRID,
    JOIN_S,
    LOSS_BASED,
    LOW_LOSS,
    TABLE_I,
    TITLES,
)


def joined(data: Data) -> Finding:
    """YEAH-F1."""
    runs = data["F1"]
    like, reno = runs.where(partner="yeah"), runs.where(partner="reno")
    times = [math.inf if math.isnan(time) else time for time in like.values("convergence_80_s").tolist()]
    steep = float(np.median(times))
    left = float(np.mean([_left_by_yielding(row) for row in reno]))
    factors = [factor for factor in reno.values("late_loss_factor_1").tolist() if not math.isnan(factor)]
    factor = float(np.mean(factors)) if factors else math.nan
    ratio = reno.mean("late_ratio")
    return Finding(
        (
            at_most("YeAH joined by YeAH: time to 80 %, s", steep, bounds.STEEP_S),
            at_least(
                "YeAH joined by YeAH: ratio of the later half", like.mean("late_ratio"), bounds.JOINED_RATIO
            ),
            at_most("joined by Reno: YeAH's least cwnd over that before", left, bounds.YIELDED),
            between("joined by Reno: what late losses leave of YeAH's window", factor, *bounds.RENO_BACKOFF),
            at_least("joined by Reno: ratio of the later half", ratio, bounds.RENO_RATIO),
        ),
        f"joined by YeAH: 80 % after {seconds(steep)}, later ratio {like.mean('late_ratio'):.2f}; joined "
        f"by Reno: YeAH goes down to {left:.2f} of its window, backs off to {factor:.2f}, later ratio "
        f"{ratio:.2f}",
        {
            "convergence_80_s": finite(steep),
            "left": left,
            "late_loss_factor": finite(factor),
            "late_ratio": ratio,
        },
        figure=Measured("YeAH joined by Reno: ratio of the later half", *reno.mean_stderr("late_ratio")),
    )


def queues(data: Data) -> Finding:
    """YEAH-F3."""
    runs = data["F3"]
    share = {name: runs.where(algorithm=name).means("rtt_ms", "queue_share") for name in ALGORITHMS}
    used = {name: runs.where(algorithm=name).means("rtt_ms", "utilization") for name in ALGORITHMS}
    covs = {name: runs.where(algorithm=name).means("rtt_ms", "queue_cov") for name in ALGORITHMS}
    rtts = list(share["reno"])
    filled = [rtt for rtt in rtts if rtt <= FILLED_UP_TO_MS]
    checks = [
        below(
            f"{rtt} ms: YeAH's queue below all others'",
            share["yeah"][rtt],
            min(share[name][rtt] for name in ALGORITHMS if name != "yeah"),
        )
        for rtt in rtts
    ]
    checks += [at_least(f"{rtt} ms: Reno's queue", share["reno"][rtt], bounds.RENO_QUEUE) for rtt in filled]
    checks += [
        within_factor(
            f"{rtt} ms: {TITLES[name]}'s queue, Reno's",
            share[name][rtt],
            share["reno"][rtt],
            bounds.ALIKE_FACTOR,
        )
        for name in HYBRID
        for rtt in filled
    ]
    checks += [
        above(f"{rtt} ms: {TITLES[name]}'s queue above Reno's", share[name][rtt], share["reno"][rtt])
        for name in ("hstcp", "cubic")
        for rtt in filled
    ]
    least_cov, most_cov = bounds.QUEUE_COV
    steady = max(share["htcp"].values()) / min(share["htcp"].values())
    checks.append(at_most("H-TCP's queue, greatest over least", steady, bounds.STEADY_FACTOR))
    checks += [
        at_least(f"{TITLES[name]}: least utilization up to {FILLED_UP_TO_MS} ms", least, bounds.FULL)
        for name in ALGORITHMS
        for least in [min(used[name][rtt] for rtt in filled)]
    ]
    checks += [
        Check(
            f"{TITLES[name]}: queue's deviation over its mean between {least_cov} and {most_cov} at "
            "every RTT",
            all(least_cov <= cov <= most_cov for cov in covs[name].values()),
            _span(covs[name]),
        )
        for name in ALGORITHMS
    ]
    return Finding(
        tuple(checks),
        f"{_held(checks)}; queue / buffer: {_spans(share)}; deviation / mean: {_spans(covs)}",
        {"queue_share": _keyed(share), "utilization": _keyed(used), "queue_cov": _keyed(covs)},
        figure=Measured(
            f"Reno's queue / buffer, mean over RTTs up to {FILLED_UP_TO_MS} ms",
            *runs.where(algorithm="reno").over_repeats(
                lambda rows: float(np.mean([rows.where(rtt_ms=rtt).mean("queue_share") for rtt in filled]))
            ),
        ),
    )


def table_i(data: Data) -> Finding:
    """YEAH-T1."""
    runs = data["T1"]
    measured = {name: runs.where(algorithm=name).means("rtt_ms", "overflow_ratio") for name in ALGORITHMS}
    checks = [
        at_most(f"{TITLES[name]}, {rtt} ms: loss", measured[name][rtt], 0.0)
        if printed is None
        else _loss_within(f"{TITLES[name]}, {rtt} ms: loss", measured[name][rtt], printed)
        for name, row in TABLE_I.items()
        for rtt, printed in row.items()
    ]
    listed = (
        f"{TITLES[name]} {' / '.join(f'{value:.2g}' for value in row.values())}"
        for name, row in measured.items()
    )
    return Finding(
        tuple(checks),
        f"{_held(checks)}; at {' / '.join(map(str, measured['reno']))} ms: {', '.join(listed)}",
        {"overflow_ratio": _keyed(measured)},
        figure=Measured(
            "loss over the printed one, geometric mean of the table",
            *runs.over_repeats(_over_printed),
            published=1.0,
            log=True,
        ),
    )


def lossy_rtts(data: Data) -> Finding:
    """YEAH-F4."""
    lossy, clean = data["F4"], data["F3"].where(algorithm="yeah")
    used = {name: lossy.where(algorithm=name).means("rtt_ms", "utilization") for name in ALGORITHMS}
    reached = clean.means("rtt_ms", "utilization")
    checks = [
        at_least(f"{rtt} ms: YeAH's utilization", value, bounds.FULL * reached[rtt])
        for rtt, value in used["yeah"].items()
    ]
    long = [rtt for rtt in used["reno"] if rtt > FILLED_UP_TO_MS]
    checks += [
        below(
            f"{rtt} ms: {TITLES[name]} below the other new ones",
            used[name][rtt],
            min(used[other][rtt] for other in (*LOSS_BASED, "yeah")),
        )
        for name in HYBRID
        for rtt in long
    ]
    checks += [
        below(
            f"{rtt} ms: Reno below all",
            used["reno"][rtt],
            min(used[name][rtt] for name in ALGORITHMS if name != "reno"),
        )
        for rtt in long
    ]
    return Finding(
        tuple(checks),
        f"{_held(checks)}; utilization: {_spans(used)}",
        {"utilization": _keyed(used), "yeah_without_loss": _by_point(reached)},
        figure=Measured(
            "YeAH's least utilization over that without loss",
            *lossy.where(algorithm="yeah").over_repeats(
                lambda rows: min(
                    rows.where(rtt_ms=rtt).mean("utilization") / reached[rtt] for rtt in used["yeah"]
                )
            ),
        ),
    )


def over_losses(data: Data) -> Finding:
    """YEAH-F5."""
    runs = data["F5"]
    used = {name: runs.where(algorithm=name).means("loss", "utilization") for name in ALGORITHMS}
    losses = [loss for loss in used["reno"] if loss <= LOW_LOSS]
    checks = []
    for loss in losses:
        values = {name: used[name][loss] for name in ALGORITHMS}
        checks.append(
            at_most(
                f"loss {loss:g}: Reno", values["reno"], (1.0 + bounds.NEAR_EXTREME) * min(values.values())
            )
        )
        checks.append(
            at_least(
                f"loss {loss:g}: YeAH", values["yeah"], (1.0 - bounds.NEAR_EXTREME) * max(values.values())
            )
        )
    high, low = max(used["yeah"]), min(used["yeah"])
    checks.append(
        at_most(
            f"YeAH at {high:g} against {low:g}",
            used["yeah"][high],
            bounds.HIGH_LOSS_SHARE * used["yeah"][low],
        )
    )
    return Finding(
        tuple(checks),
        f"{_held(checks)}; utilization: {_spans(used)}",
        {"utilization": _keyed(used)},
        figure=Measured(
            f"YeAH's utilization over the best, least up to a loss of {LOW_LOSS:g}",
            *runs.over_repeats(lambda rows: min(_over_best(rows, loss) for loss in losses)),
        ),
    )


def over_queues(data: Data) -> Finding:
    """YEAH-F6."""
    runs = data["F6"]
    share = {name: runs.where(algorithm=name).means("queue_percent", "queue_share") for name in ALGORITHMS}
    used = {name: runs.where(algorithm=name).means("queue_percent", "utilization") for name in ALGORITHMS}
    percents = list(share["yeah"])
    least, most = percents[0], percents[-1]
    checks = [
        at_least(f"{percent} %: YeAH's utilization", used["yeah"][percent], bounds.FULL * used["yeah"][most])
        for percent in percents[:-1]
    ]
    checks += [
        below(
            f"YeAH's queue / buffer at {large} % below that at {small} %",
            share["yeah"][large],
            share["yeah"][small],
        )
        for small, large in pairwise(percents)
    ]
    checks += [
        above(f"{TITLES[name]}'s queue / buffer at {most} % above that at {least} %", row[most], row[least])
        for name, row in share.items()
        if name != "yeah"
    ]
    checks += [
        at_most(
            f"{TITLES[name]}: utilization at {least} against {most} %",
            used[name][least],
            bounds.SMALL_BUFFER_SHARE * used[name][most],
        )
        for name in ("reno", *LOSS_BASED)
    ]
    checks += [
        at_most(f"{percent} %: Reno's utilization", used["reno"][percent], bounds.RENO_BELOW_BDP)
        for percent in percents[:-1]
    ]
    return Finding(
        tuple(checks),
        f"{_held(checks)}; utilization at {least} %: {listed(_column(used, least), TITLES)}; "
        f"YeAH's queue / buffer: {', '.join(f'{value:.3f}' for value in share['yeah'].values())}",
        {"queue_share": _keyed(share), "utilization": _keyed(used)},
        figure=Measured(
            f"YeAH's utilization at {least} % over that at {most} %",
            *runs.where(algorithm="yeah").over_repeats(
                lambda rows: (
                    rows.where(queue_percent=least).mean("utilization")
                    / rows.where(queue_percent=most).mean("utilization")
                )
            ),
        ),
    )


def over_ratios(data: Data) -> Finding:
    """YEAH-F7."""
    runs = data["F7"]
    index = {name: runs.where(algorithm=name).means("rtt_ratio", "jain") for name in ALGORITHMS}
    ratios = [ratio for ratio in index["yeah"] if ratio > 1]
    greatest = ratios[-1]
    others = {name: row[1] for name, row in index.items() if name != "cubic"}
    checks = [at_least(f"{TITLES[name]} at ratio 1", value, bounds.FAIR) for name, value in others.items()]
    checks.append(below("CUBIC at ratio 1 below all others", index["cubic"][1], min(others.values())))
    checks += [
        at_least(f"{TITLES[name]} at ratio {ratio}", index[name][ratio], bounds.STAYS_FAIR)
        for name in ("htcp", "yeah")
        for ratio in ratios
    ]
    checks += [
        below(f"{TITLES[name]} at ratio {greatest}", row[greatest], bounds.STAYS_FAIR)
        for name, row in index.items()
        if name not in ("htcp", "yeah")
    ]
    return Finding(
        tuple(checks),
        f"{_held(checks)}; Jain's index at ratio 1: {listed(_column(index, 1), TITLES, 3)}; at {greatest}: "
        f"{listed(_column(index, greatest), TITLES)}",
        {"jain": _keyed(index)},
        figure=Measured(
            f"Jain's index of H-TCP at ratio {greatest}",
            *runs.where(algorithm="htcp", rtt_ratio=greatest).mean_stderr("jain"),
        ),
    )


def fair_to_reno(data: Data) -> Finding:
    """YEAH-FR."""
    runs = data["FR"]
    numbers = runs.distinct("reno_flows")
    ratio = {
        name: {n: fair_to_reno_ratio(runs, name, n) for n in numbers} for name in ALGORITHMS if name != "reno"
    }
    most = numbers[-1]
    checks = [
        between(f"{TITLES[name]}, n = 1", ratio[name][1], *bounds.LOSS_BASED_RATIO) for name in LOSS_BASED
    ]
    checks += [
        Check(
            f"{TITLES[name]}: nearer to 1 at n = {most} than at n = 1, and at most "
            f"{bounds.MANY_RENO_RATIO:g}",
            abs(ratio[name][most] - 1.0) < abs(ratio[name][1] - 1.0)
            and ratio[name][most] <= bounds.MANY_RENO_RATIO,
            f"{ratio[name][1]:.2f}, then {ratio[name][most]:.2f}",
        )
        for name in LOSS_BASED
    ]
    checks += [
        between(f"{TITLES[name]}, n = {n}", ratio[name][n], *bounds.FRIENDLY_RATIO)
        for name in (*HYBRID, "yeah")
        for n in numbers
    ]
    listed = (
        f"{TITLES[name]} {' / '.join(f'{value:.2f}' for value in row.values())}"
        for name, row in ratio.items()
    )
    return Finding(
        tuple(checks),
        f"{_held(checks)}; at n = {' / '.join(map(str, numbers))}: {', '.join(listed)}",
        {"fair_to_reno": _keyed(ratio)},
        figure=Measured(
            "fair-to-Reno ratio at n = 1, mean of the loss-based protocols",
            *runs.over_repeats(
                lambda rows: float(np.mean([fair_to_reno_ratio(rows, name, 1) for name in LOSS_BASED]))
            ),
            published=6.0,
        ),
    )


def slow_start_alone(data: Data) -> Finding:
    """YEAH-F8a."""
    used = _efficiencies(data["F8a"])
    checks = []
    for length in used["reno"]:
        values = {name: used[name][length] for name in used if name != "htcp" or length <= HTCP_ALIKE_UP_TO_S}
        apart = max(values.values()) - min(values.values())
        checks.append(at_most(f"{length} s: greatest less least efficiency", apart, bounds.ALIKE_EFFICIENCY))
    first, last = (float(np.mean([row.get(s, math.nan) for row in used.values()])) for s in (100, 1800))
    checks.append(between("100 s: mean efficiency", first, *bounds.FIRST_EFFICIENCY))
    checks.append(between("1800 s: mean efficiency", last, *bounds.LAST_EFFICIENCY))
    return Finding(
        tuple(checks),
        f"{_held(checks)}; efficiency: " + ", ".join(_at(used, s) for s in used["reno"]),
        {"efficiency": _keyed(used)},
        figure=Measured(
            "mean efficiency at 100 s",
            *data["F8a"].over_repeats(lambda rows: rows.mean("efficiency_100")),
            published=0.2,
        ),
    )


def without_slow_start(data: Data) -> Finding:
    """YEAH-F8b."""
    used = _efficiencies(data["F8b"])
    longest = max(used["reno"])
    values = {name: row[longest] for name, row in used.items()}
    others = [value for name, value in values.items() if name != "reno"]
    checks = (
        at_least(
            f"{longest} s: greatest less least efficiency",
            max(values.values()) - min(values.values()),
            bounds.SEPARATE_EFFICIENCY,
        ),
        below(f"{longest} s: Reno's efficiency below all others'", values["reno"], min(others)),
    )
    return Finding(
        checks,
        f"efficiency at {longest} s: {listed(values, TITLES)}",
        {"efficiency": _keyed(used)},
        figure=Measured(
            f"greatest less least efficiency at {longest} s",
            *data["F8b"].over_repeats(lambda rows: float(np.ptp(rows.values(f"efficiency_{longest}")))),
        ),
    )


def _left_by_yielding(row: Mapping[str, Any]) -> float:
    """Returns YeAH's least cwnd after another flow has joined over its mean in the half minute before."""
    history = row["series"][0]
    time, cwnd = np.asarray(history["time_s"]), np.asarray(history["cwnd"])
    before = cwnd[(time >= JOIN_S - BEFORE_S) & (time < JOIN_S)]
    return float(cwnd[time >= JOIN_S].min() / before.mean())


def _loss_within(text: str, measured: float, printed: float) -> Check:
    """Checks that a loss is within a factor of the printed one; no loss at all is not."""
    if measured <= 0.0:
        return Check(f"{text} within a factor {bounds.TABLE_FACTOR:g} of {printed:.3g}", False, "none")
    return within_factor(text, measured, printed, bounds.TABLE_FACTOR)


def _over_printed(runs: Runs) -> float:
    """Returns the geometric mean of measured over printed losses; no loss counts as one packet of the run."""
    logs = []
    for name, row in TABLE_I.items():
        for rtt, printed in row.items():
            if printed is not None:
                at = runs.where(algorithm=name, rtt_ms=rtt)
                least = 1.0 / at.mean("packets")
                logs.append(math.log(max(at.mean("overflow_ratio"), least) / printed))
    return math.exp(float(np.mean(logs)))


def _over_best(runs: Runs, loss: float) -> float:
    """Returns YeAH's utilization at a loss over the best one there."""
    used = {name: runs.where(algorithm=name, loss=loss).mean("utilization") for name in ALGORITHMS}
    return used["yeah"] / max(used.values())


def _efficiencies(runs: Runs) -> dict[str, dict[int, float]]:
    lengths = efficiency_lengths_s(runs)
    return {
        name: {s: runs.where(algorithm=name).mean(f"efficiency_{s}") for s in lengths} for name in ALGORITHMS
    }


def _held(checks: Sequence[Check]) -> str:
    return f"{held(checks)} of {len(checks)} checks hold"


def _span(row: Mapping[Any, float]) -> str:
    return f"{min(row.values()):.2f}..{max(row.values()):.2f}"


def _spans(rows: Mapping[str, Mapping[Any, float]]) -> str:
    return ", ".join(f"{TITLES[name]} {_span(row)}" for name, row in rows.items())


def _column(rows: Mapping[str, Mapping[Any, float]], at: Any) -> dict[str, float]:
    return {name: row[at] for name, row in rows.items()}


def _at(used: Mapping[str, Mapping[int, float]], seconds: int) -> str:
    values = [row[seconds] for row in used.values()]
    return f"{seconds} s {min(values):.2f}..{max(values):.2f}"


def _by_point(row: Mapping[Any, float]) -> dict[str, float]:
    return {f"{point:g}": value for point, value in row.items()}


def _keyed(rows: Mapping[str, Mapping[Any, float]]) -> dict[str, dict[str, float]]:
    return {name: _by_point(row) for name, row in rows.items()}
