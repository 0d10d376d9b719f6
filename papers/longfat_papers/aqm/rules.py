"""The rules of the claims about queues. `claims` has their texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from longfat_papers.aqm import bounds
from longfat_papers.aqm.settings import (
    ABOVE_BURSTS,
    AROUND_PIE,
    CHANGE_S,
    CHOKE_BOUND,
    DROPS,
    FAST,
    OF_THE_THESIS,
    RESPONSIVE,
    SLOW,
    TITLES,
)
from longfat_papers.kit.checks import above, at_least, at_most, below, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.means import geometric_mean, mean_factor
from longfat_papers.kit.suite import Data, Runs


def load_low_and_stable(data: Data) -> Finding:
    """AQM-1."""
    return _never_low_and_stable(data["load"].where(signal=DROPS), ("1", "2", "3"))


def capacity_low_and_stable(data: Data) -> Finding:
    """AQM-6."""
    runs = data["capacity"].where(signal=DROPS)
    found = _never_low_and_stable(runs.where(change=SLOW), ("high", "low"))
    fast = runs.where(change=FAST)
    rows = {name: fast.where(queue=name) for name in TITLES}
    seen = {name: (at.mean("wait_ms"), at.mean("goodput_share")) for name, at in rows.items()}
    text = ", ".join(f"{TITLES[name]} {ms:.1f} ms {share:.3f}" for name, (ms, share) in seen.items())
    kept = {f"{name}, {FAST}": {"wait_ms": ms, "goodput": share} for name, (ms, share) in seen.items()}
    note = f"Changing every {CHANGE_S[FAST]:g} s, mean wait and goodput / mean capacity: {text}."
    return Finding(found.checks, found.measured, {**found.values, **kept}, note, found.figure)


def _never_low_and_stable(runs: Runs, spans: Sequence[str]) -> Finding:
    """Checks that each queue of the thesis fails one of the four; ``spans`` end the names of columns."""
    checks, texts, kept, misses = [], [], {}, []
    for name in TITLES:
        at = runs.where(queue=name)
        delays = [at.mean(f"delay_ms_{span}") for span in spans]
        drops = [at.mean(f"drop_ratio_{span}") for span in spans]
        short = [
            text
            for text, held in (
                ("queue low", max(delays) <= bounds.LOW_MS),
                ("queue stable", max(delays) <= bounds.STEADY_FACTOR * min(delays)),
                ("drops low", max(drops) <= bounds.LOW_DROPS),
                ("drops stable", max(drops) <= bounds.STEADY_FACTOR * min(drops)),
            )
            if not held
        ]
        seen = ", ".join(f"{ms:.1f} ms {ratio:.2g}" for ms, ratio in zip(delays, drops, strict=True))
        texts.append(f"{TITLES[name]} {'not ' + ' / '.join(short) if short else 'low and stable'}")
        kept[name] = {"delay_ms": delays, "drop_ratio": drops}
        if name in OF_THE_THESIS:
            text = f"{TITLES[name]}: not both low and stable ({', '.join(short) or 'all held'})"
            checks.append(Check(text, bool(short), seen))
            misses.append(_miss(delays, drops))
    label = "least miss of the thesis's queues: their worst of the four over its bound"
    return Finding(tuple(checks), "; ".join(texts), kept, figure=Measured(label, min(misses), log=True))


def _miss(delays: Sequence[float], drops: Sequence[float]) -> float:
    """Returns by how much a queue misses the worst of the four; at most 1 if it is low and stable."""
    return max(
        max(delays) / bounds.LOW_MS,
        max(drops) / bounds.LOW_DROPS,
        *(
            max(values) / (bounds.STEADY_FACTOR * min(values)) if min(values) > 0.0 else math.inf
            for values in (delays, drops)
            if max(values) > 0.0
        ),
    )


def fairness_either_way(data: Data) -> Finding:
    """AQM-2."""
    runs = data["fairness"].where(signal=DROPS)
    gains = {
        (name, mix): runs.where(queue=name, mix=mix).mean("jain")
        - runs.where(queue="droptail", mix=mix).mean("jain")
        for name in TITLES
        for mix in runs.distinct("mix")
    }
    of_thesis = {pair: gain for pair, gain in gains.items() if pair[0] in OF_THE_THESIS}
    best, worst = max(of_thesis, key=of_thesis.__getitem__), min(of_thesis, key=of_thesis.__getitem__)
    checks = (
        at_least(f"{TITLES[best[0]]}, {best[1]}: Jain's index over drop-tail's", gains[best], bounds.MARGIN),
        at_most(
            f"{TITLES[worst[0]]}, {worst[1]}: Jain's index over drop-tail's", gains[worst], -bounds.MARGIN
        ),
    )
    text = f"from {gains[worst]:+.3f} ({TITLES[worst[0]]}, {worst[1]}) to {gains[best]:+.3f} "
    return Finding(
        checks,
        f"{text}({TITLES[best[0]]}, {best[1]})",
        {f"{name}, {mix}": gain for (name, mix), gain in gains.items()},
        figure=Measured(
            "lesser of the greatest gain and the greatest loss of Jain's index",
            min(gains[best], -gains[worst]),
        ),
    )


def choke_holds_back(data: Data) -> Finding:
    """AQM-3."""
    few, many = (_shares(data["unresponsive"].where(flows=number)) for number in RESPONSIVE)
    checks = []
    for offered, share in many["choke"].items():
        checks.append(at_most(f"{offered:g} of the capacity: with CHOKe", share, CHOKE_BOUND))
        checks.append(below(f"{offered:g} of the capacity: CHOKe's below RED's", share, many["red"][offered]))
    kept = {name: {str(offered): share for offered, share in row.items()} for name, row in many.items()}
    note = f"Beside {RESPONSIVE[0]} flows: {_three(few)}."
    measured = f"beside {RESPONSIVE[1]} flows: {_three(many)}"
    at = data["unresponsive"].where(flows=RESPONSIVE[1], queue="choke")
    return Finding(tuple(checks), measured, kept, note, _greatest_share(at))


def _greatest_share(runs: Runs) -> Measured:
    """Returns the greatest share of datagrams over their rates, as a claim's figure."""
    shares = [runs.where(offered=rate).mean_stderr("last_share") for rate in runs.distinct("offered")]
    return Measured("greatest share of the datagrams behind CHOKe", *max(shares), published=CHOKE_BOUND)


def _shares(runs: Runs) -> Mapping[str, Mapping[float, float]]:
    return {name: runs.where(queue=name).means("offered", "last_share") for name in TITLES}


def _three(shares: Mapping[str, Mapping[float, float]]) -> str:
    return ", ".join(
        f"{TITLES[name]} {' / '.join(f'{share:.3f}' for share in row.values())}"
        for name, row in shares.items()
    )


def sred_counts(data: Data) -> Finding:
    """AQM-4."""
    estimates = data["flows"].means("flows", "flows_estimated")
    checks = tuple(
        within_factor(f"{number:g} flows: estimated", estimate, float(number), bounds.NEAR_FACTOR)
        for number, estimate in estimates.items()
    )
    text = ", ".join(f"{estimate:.3g} of {number:g}" for number, estimate in estimates.items())
    return Finding(
        checks,
        text,
        {str(number): estimate for number, estimate in estimates.items()},
        figure=Measured(
            "estimated / true number of flows, mean over numbers",
            geometric_mean(estimate / number for number, estimate in estimates.items()),
            published=1.0,
            log=True,
        ),
    )


def choke_bound(data: Data) -> Finding:
    """AQM-7."""
    near, far = (
        data["bound"].where(thresholds=f"{least} and {most}") for least, most in (AROUND_PIE, ABOVE_BURSTS)
    )
    shares = [runs.means("offered", "last_share") for runs in (near, far)]
    below_min = [runs.means("offered", "below_min") for runs in (near, far)]
    checks = []
    for offered, share in shares[1].items():
        text = f"{offered:g} of the capacity, thresholds {ABOVE_BURSTS[0]} and {ABOVE_BURSTS[1]}: share"
        checks.append(at_most(text, share, CHOKE_BOUND))
        checks.append(below(f"{offered:g}: less than with {AROUND_PIE[0]}", share, shares[0][offered]))
    told = [
        f"{least} and {most} packets: {_list(share, 3)}, below {least} packets {_list(low, 2)} of the time"
        for (least, most), share, low in zip((AROUND_PIE, ABOVE_BURSTS), shares, below_min, strict=True)
    ]
    kept = {
        f"{least} and {most}": {str(x): [share[x], low[x]] for x in share}
        for (least, most), share, low in zip((AROUND_PIE, ABOVE_BURSTS), shares, below_min, strict=True)
    }
    return Finding(tuple(checks), "; ".join(told), kept, figure=_greatest_share(far))


def _list(values: Mapping[float, float], digits: int) -> str:
    return " / ".join(f"{value:.{digits}f}" for value in values.values())


def sred_sees_shares(data: Data) -> Finding:
    """AQM-8."""
    estimates = data["flows"].means("flows", "flows_estimated")
    effective = data["flows"].means("flows", "flows_effective")
    checks = tuple(
        within_factor(
            f"{number:g} flows: estimated", estimates[number], effective[number], bounds.CLOSE_FACTOR
        )
        for number in estimates
    )
    text = ", ".join(f"{estimates[n]:.3g} of {effective[n]:.3g} ({n:g} flows)" for n in estimates)
    return Finding(
        checks,
        text,
        {str(n): [estimates[n], effective[n]] for n in estimates},
        figure=Measured(
            "factor between estimated and effective number of flows, mean over numbers",
            mean_factor(estimates[n] / effective[n] for n in estimates),
            published=1.0,
            log=True,
        ),
    )


def tradeoff(data: Data) -> Finding:
    """AQM-5."""
    runs = data["tradeoff"]
    found = {
        (name, signal): (at.mean("goodput_share"), at.mean("delay_ms"))
        for signal in runs.distinct("signal")
        for name in TITLES
        if runs.has(queue=name, signal=signal)
        for at in [runs.where(queue=name, signal=signal)]
    }
    dropping = {name: pair for (name, signal), pair in found.items() if signal == DROPS}
    text = ", ".join(f"{TITLES[name]} {share:.3f} at {ms:.1f} ms" for name, (share, ms) in dropping.items())
    checks = tuple(
        above(f"{TITLES[name]}: goodput / capacity over drop-tail's", share, dropping["droptail"][0])
        for name, (share, _) in dropping.items()
        if name != "droptail"
    )
    least = min(share for share, _ in dropping.values())
    return Finding(
        checks,
        text,
        {f"{name}, {signal}": list(pair) for (name, signal), pair in found.items()},
        figure=Measured("least goodput / capacity of a queue that drops", least),
    )
