"""The rules of HA's claims. `claims` has their texts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from longfat.numbers import finite
from longfat_papers.ha2006 import bounds
from longfat_papers.ha2006.settings import DURATION_S, MEASURED, SECOND_S, TITLES, WITH, WITHOUT
from longfat_papers.kit.checks import above, at_least, at_most, below
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.kit.text import multiple, seconds

NEW = tuple(name for name in MEASURED if name != "reno")
NOT_FAST = tuple(name for name in MEASURED if name != "fast")
NEVER_S = float(DURATION_S["full"] - SECOND_S)
"""The tornado figure shows a convergence that was never reached at the end of the run."""


def utilization(data: Data) -> Finding:
    """HA-1."""
    used = _both(data["utilization"], "utilization")
    checks = [
        at_least(f"{TITLES[name]}: with background less without", after - before, -bounds.SAME)
        for name, (before, after) in used.items()
    ]
    good = sum(after >= bounds.GOOD for _, after in used.values())
    most = math.floor(bounds.MOST_SHARE * len(used)) + 1
    checks.append(at_least(f"protocols that use {bounds.GOOD:g} with background", float(good), float(most)))
    return Finding(
        tuple(checks),
        _listed(used),
        {"utilization": _keyed(used)},
        figure=_added("utilization with background less without, mean", data["utilization"], "utilization"),
    )


def stability(data: Data) -> Finding:
    """HA-2."""
    covs = _both(data["stability"], "cov")
    checks = [
        below(f"{TITLES[name]}: with background", after, before)
        for name, (before, after) in covs.items()
        if name != "fast"
    ]
    checks.append(above("FAST: with background", covs["fast"][1], covs["fast"][0]))
    typical = float(np.median([before for name, (before, _) in covs.items() if name != "fast"]))
    checks.append(at_least("median of the others without background", typical, bounds.HIGH_COV))
    return Finding(
        tuple(checks),
        _listed(covs),
        {"cov": _keyed(covs)},
        figure=_added(
            "CoV with background less without, mean of all but FAST", data["stability"], "cov", NOT_FAST
        ),
    )


def loss(data: Data) -> Finding:
    """HA-3."""
    own, whole = (_both(data["loss"], quantity) for quantity in ("loss_ratio", "link_loss_ratio"))
    checks = [
        above(
            f"{text} {background} background: STCP's",
            losses["stcp"][index],
            max(pair[index] for name, pair in losses.items() if name != "stcp"),
        )
        for text, losses in (("the flows,", own), ("all traffic,", whole))
        for index, background in enumerate((WITHOUT, WITH))
    ]
    checks += [
        at_most(
            f"{TITLES[name]}: what background adds to the loss of all traffic",
            after - before,
            bounds.ADDED_LOSS,
        )
        for name, (before, after) in whole.items()
    ]
    return Finding(
        tuple(checks),
        f"of the flows: {_listed(own)}; of all traffic: {_listed(whole)}",
        {"loss_ratio": _keyed(own), "link_loss_ratio": _keyed(whole)},
        figure=_added("loss of all traffic that background adds, mean", data["loss"], "link_loss_ratio"),
    )


def rtt_fairness(data: Data) -> Finding:
    """HA-4."""
    runs = data["rtt"]
    checks = [
        at_least(
            f"FAST without background, {rtt} ms",
            *_bounded(
                runs.where(algorithm="fast", background=WITHOUT, rtt_ms=rtt), "ratio", bounds.NEARLY_PERFECT
            ),
        )
        for rtt in runs.distinct("rtt_ms")
    ]
    ratios = _both(runs, "ratio")
    others = min(after for name, (_, after) in ratios.items() if name != "fast")
    checks.append(below("FAST with background, all others'", ratios["fast"][1], others))
    return Finding(
        tuple(checks),
        "mean ratios: " + _listed(ratios),
        {"ratio": _keyed(ratios)},
        figure=_added("FAST's ratio with background less without", runs, "ratio", ("fast",)),
    )


def friendliness(data: Data) -> Finding:
    """HA-5."""
    jain = _both(data["friendly"], "jain", NEW)
    checks = [
        at_most("STCP: with background", after, before + bounds.SAME)
        if name == "stcp"
        else above(f"{TITLES[name]}: with background", after, before)
        for name, (before, after) in jain.items()
    ]
    return Finding(
        tuple(checks),
        _listed(jain),
        {"jain": _keyed(jain)},
        figure=_added(
            "Jain's index beside SACK with background less without, mean of all but STCP",
            data["friendly"],
            "jain",
            tuple(name for name in NEW if name != "stcp"),
        ),
    )


def intra(data: Data) -> Finding:
    """HA-6."""
    jain = _both(data["intra"], "jain")
    checks: list[Check] = []
    for name in ("hstcp", "reno", "stcp"):
        before, after = jain[name]
        checks.append(below(f"{TITLES[name]} without background", before, bounds.LOW_INDEX))
        checks.append(above(f"{TITLES[name]}: with background", after, before))
    before, after = jain["fast"]
    checks.append(at_least("FAST: without background less with", before - after, bounds.FALLS_BY))
    return Finding(
        tuple(checks),
        _listed(jain),
        {"jain": _keyed(jain)},
        figure=_added(
            "Jain's index with background less without, mean of HSTCP, SACK and STCP",
            data["intra"],
            "jain",
            ("hstcp", "reno", "stcp"),
        ),
    )


def convergence(data: Data) -> Finding:
    """HA-7."""
    runs = data["convergence"]
    times = {
        name: (_typical(runs, name, WITHOUT), _typical(runs, name, WITH))
        for name in MEASURED
        if runs.has(algorithm=name)
    }
    (slow, better), (fast, worse) = times["hstcp"], times["fast"]
    checks = (
        at_least("HSTCP without background, s", slow, bounds.SLOW_S),
        below("HSTCP: with background, s", better, slow),
        above(
            f"FAST: with background, over {multiple(bounds.MUCH_SLOWER)} without, s",
            worse,
            bounds.MUCH_SLOWER * fast,
        ),
    )
    text = ", ".join(
        f"{TITLES[name]} {seconds(a, '.0f')} to {seconds(b, '.0f')}" for name, (a, b) in times.items()
    )
    kept = {name: finite(list(pair)) for name, pair in times.items()}
    return Finding(
        checks,
        text,
        {"convergence_80_s": kept},
        figure=Measured(
            "HSTCP's convergence without background, s, median over RTTs",
            *runs.where(algorithm="hstcp").over_repeats(
                lambda rows: min(_typical(rows, "hstcp", WITHOUT), NEVER_S)
            ),
            log=True,
        ),
    )


def _both(runs: Runs, quantity: str, names: tuple[str, ...] = MEASURED) -> dict[str, tuple[float, float]]:
    """Returns each protocol's mean over RTTs and repeats, without and with background."""
    return {
        name: (at.where(background=WITHOUT).mean(quantity), at.where(background=WITH).mean(quantity))
        for name in names
        for at in [runs.where(algorithm=name)]
    }


def _added(label: str, runs: Runs, quantity: str, names: tuple[str, ...] = MEASURED) -> Measured:
    """Returns what background adds to a quantity, as the mean over protocols and RTTs."""
    shown = tuple(name for name in names if runs.has(algorithm=name))

    def added(rows: Runs) -> float:
        return float(np.mean([after - before for before, after in _both(rows, quantity, shown).values()]))

    return Measured(label, *_measured(runs).over_repeats(added))


def _measured(runs: Runs) -> Runs:
    """Returns the rows of the protocols that the claims are about; the others have fewer repeats."""
    return Runs(runs.name, [row for row in runs if row["algorithm"] in MEASURED])


def _bounded(runs: Runs, quantity: str, least: float) -> tuple[float, float, float]:
    mean, error = runs.mean_stderr(quantity)
    return mean, least, error


def _typical(runs: Runs, name: str, background: str) -> float:
    """Returns the median over RTTs and repeats; a time that was never reached counts as infinite."""
    times = runs.where(algorithm=name, background=background).values("convergence_80_s")
    return float(np.median(np.where(np.isnan(times), math.inf, times)))


def _listed(pairs: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{TITLES[name]} {before:.3g} to {after:.3g}" for name, (before, after) in pairs.items())


def _keyed(pairs: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
    return {name: list(pair) for name, pair in pairs.items()}
