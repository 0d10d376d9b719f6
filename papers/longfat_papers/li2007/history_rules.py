"""The rules of LLS's claims about histories and convergence: Figs. 4 to 6, 8, 9 and 14."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from longfat.numbers import finite
from longfat_papers.kit.checks import above, at_least, at_most, below, between, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.means import geometric_mean
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.kit.text import part, seconds
from longfat_papers.li2007 import bounds
from longfat_papers.li2007.settings import (
    ALGORITHMS,
    HIGH_MBPS,
    LEVEL_FROM_MS,
    LOW_MBPS,
    TITLES,
)

NEVER = math.inf
PRINTED_LEVEL_S = 30.0
"""V-F: where H-TCP's time levels off."""
LONGEST_S = 600.0
"""What a convergence time that was never reached counts as in a claim's figure: the ten minutes of a test."""


def stcp_does_not_converge(data: Data) -> Finding:
    """LLS-F4."""
    runs = data["F4"].where(variant="as measured")
    found = {rtt: runs.where(rtt_ms=rtt).mean_stderr("final_ratio") for rtt in (42, 162)}
    ratios = {rtt: mean for rtt, (mean, _) in found.items()}
    checks = tuple(
        below(f"{rtt} ms: ratio of the last 60 s", ratio, bounds.CONVERGED) for rtt, ratio in ratios.items()
    )
    measured = ", ".join(f"{rtt} ms {ratio:.2f}" for rtt, ratio in ratios.items())
    return Finding(
        checks,
        f"ratio of the last 60 s: {measured}",
        {"final_ratio": _keyed(ratios)},
        figure=Measured("greater ratio of the last 60 s", *max(found.values())),
    )


def fast_varies_rapidly(data: Data) -> Finding:
    """LLS-F5a."""
    runs = data["F5"].where(rtt_ms=42)
    at = runs.where(variant="as measured")
    checks = []
    covs_found = [at.mean_stderr(f"late_cwnd_cov_{number}") for number in (1, 2)]
    epochs, covs = _epochs(at), [mean for mean, _ in covs_found]
    for number, (epoch, cov) in enumerate(zip(epochs, covs, strict=True), start=1):
        checks.append(below(f"flow {number}: seconds between backoffs", epoch, bounds.BACKOFF_RTTS * 0.042))
        checks.append(at_least(f"flow {number}: CoV of cwnd", cov, bounds.RAPID_COV))
    queue = at.mean("queue_limit_packets")
    return Finding(
        tuple(checks),
        f"queue {queue:.0f} packets; {_backoffs(epochs)}; CoV of cwnd {covs[0]:.2f} and {covs[1]:.2f}",
        {"epoch_s": epochs, "cwnd_cov": covs, "queue_limit_packets": queue},
        _half_alpha(runs, "", lambda some: [_backoffs(_epochs(some))]),
        Measured("CoV of cwnd of the steadier flow", *min(covs_found)),
    )


def fast_locks_in(data: Data) -> Finding:
    """LLS-F5b."""
    runs = data["F5"].where(rtt_ms=162)
    at = runs.where(variant="as measured")
    epochs = _epochs(at)
    step = float(np.nanmax([at.values("largest_step_1"), at.values("largest_step_2")]))
    locked = float(at.values("least_100s_ratio").min())
    checks = (
        *(
            at_least(f"flow {number}: seconds between backoffs", epoch, bounds.BACKOFF_RTTS * 0.162)
            for number, epoch in enumerate(epochs, start=1)
        ),
        above("largest change between 10 s means of cwnd", step, bounds.ABRUPT_STEP),
        below("lowest ratio over 100 s", locked, bounds.LOCKED_RATIO),
    )
    return Finding(
        checks,
        f"{_backoffs(epochs)}; largest change of cwnd in 10 s "
        f"{100 * step:.0f} %; lowest ratio over 100 s {locked:.2f}",
        {"epoch_s": epochs, "largest_step": step, "least_100s_ratio": locked},
        _half_alpha(
            runs, "lowest ratio over 100 s", lambda some: [f"{some.values('least_100s_ratio').min():.2f}"]
        ),
        Measured("largest change between 10 s means of cwnd", step),
    )


def hstcp_converges_slower(data: Data) -> Finding:
    """LLS-F6."""
    times = _history_times(data["F6"])
    checks = (
        *(Check(f"{rtt} ms: converges", value < NEVER, seconds(value)) for rtt, value in times.items()),
        _later(times, 42, 162),
        _later(times, 162, 324),
    )
    return Finding(
        checks,
        _times(times),
        {"convergence_80_s": _keyed(times)},
        figure=_time_figure("HS-TCP at 324 ms", data["F6"].where(rtt_ms=324)),
    )


def bic_slows_down(data: Data) -> Finding:
    """LLS-F8."""
    runs = data["F8"]
    times = _history_times(runs)
    final, error = runs.where(rtt_ms=324, variant="as measured").mean_stderr("final_ratio")
    checks = (
        _later(times, 42, 162),
        _later(times, 162, 324),
        below("324 ms: ratio of the last 60 s", final, bounds.CONVERGED),
    )
    printed = _history_times(runs, "as printed") if runs.has(variant="as printed") else {}
    return Finding(
        checks,
        f"{_times(times)}; last 60 s at 324 ms: ratio {final:.2f}",
        {"convergence_80_s": _keyed(times), "final_ratio_324": final},
        f"With the formula as printed: {_times(printed)}." if printed else "",
        Measured("ratio of the last 60 s at 324 ms", final, error),
    )


def htcp_shares_equally(data: Data) -> Finding:
    """LLS-F9."""
    runs = data["F9"].where(variant="as measured")
    found = {rtt: runs.where(rtt_ms=rtt).mean_stderr("late_ratio") for rtt in (42, 162, 324)}
    ratios = {rtt: mean for rtt, (mean, _) in found.items()}
    checks = tuple(
        at_least(f"{rtt} ms: ratio of the later half", ratio, bounds.FAIR) for rtt, ratio in ratios.items()
    )
    measured = ", ".join(f"{rtt} ms {ratio:.3f}" for rtt, ratio in ratios.items())
    return Finding(
        checks,
        f"ratio of the later half: {measured}",
        {"late_ratio": _keyed(ratios)},
        figure=Measured("least ratio of the later half", *min(found.values())),
    )


def convergence_fast_link(data: Data) -> Finding:
    """LLS-F14a."""
    runs = data["F14"].where(rate_mbps=HIGH_MBPS)
    times = {name: _times_by_rtt(runs.where(algorithm=name)) for name in ALGORITHMS}
    longest = max(times["htcp"])
    checks = [
        Check(
            f"{TITLES[name]} at {longest} ms: over {bounds.SLOW_S:g} s or never",
            times[name][longest] > bounds.SLOW_S,
            seconds(times[name][longest]),
        )
        for name in ("stcp", "hstcp", "bic")
    ]
    level = {rtt: value for rtt, value in times["htcp"].items() if rtt >= LEVEL_FROM_MS}
    checks += [between(f"H-TCP at {rtt} ms, s", value, *bounds.LEVEL_S) for rtt, value in level.items()]
    reference = level[LEVEL_FROM_MS]
    text = f"H-TCP at {longest} ms against {LEVEL_FROM_MS} ms, s"
    checks.append(at_most(text, level[longest], bounds.LEVEL_FACTOR * reference))
    smallest = [
        rtt
        for rtt in times["fast"]
        if all(times["fast"][rtt] < times[name][rtt] for name in ALGORITHMS if name != "fast")
    ]
    checks += [
        Check(
            f"FAST-TCP the smallest at more than {part(bounds.SMALLEST_SHARE)} of the RTTs",
            len(smallest) > bounds.SMALLEST_SHARE * len(times["fast"]),
            f"at {len(smallest)} of {len(times['fast'])}",
        ),
        Check(
            f"standard TCP at {longest} ms: never",
            times["reno"][longest] == NEVER,
            seconds(times["reno"][longest]),
        ),
    ]
    own = {name: _times_by_rtt(runs.where(algorithm=name), "convergence_own_s") for name in ALGORITHMS}
    return Finding(
        tuple(checks),
        "; ".join(f"{TITLES[name]}: {_times(times[name])}" for name in ALGORITHMS),
        {
            "convergence_80_s": {name: _keyed(value) for name, value in times.items()},
            "convergence_own_s": {name: _keyed(value) for name, value in own.items()},
        },
        figure=_time_figure(
            f"H-TCP at {longest} ms", runs.where(algorithm="htcp", rtt_ms=longest), PRINTED_LEVEL_S
        ),
    )


def convergence_slow_link(data: Data) -> Finding:
    """LLS-F14b."""
    runs = data["F14"].where(rate_mbps=LOW_MBPS)
    standard, htcp = (_times_by_rtt(runs.where(algorithm=name)) for name in ("reno", "htcp"))
    checks = []
    for rtt, expected in standard.items():
        value = htcp[rtt]
        known = value < NEVER and expected < NEVER
        checks.append(
            within_factor(f"{rtt} ms: H-TCP's time, s", value, expected, bounds.SLOW_LINK_FACTOR)
            if known
            else Check(
                f"{rtt} ms: H-TCP within a factor {bounds.SLOW_LINK_FACTOR:g}",
                None if value == expected else False,
                f"{seconds(value)} against {seconds(expected)}",
            )
        )
    return Finding(
        tuple(checks),
        f"standard TCP: {_times(standard)}; H-TCP: {_times(htcp)}",
        {"reno": _keyed(standard), "htcp": _keyed(htcp)},
        figure=Measured(
            "H-TCP's time / standard TCP's, mean over RTTs",
            geometric_mean(min(htcp[rtt], LONGEST_S) / min(standard[rtt], LONGEST_S) for rtt in standard),
            published=1.0,
            log=True,
        ),
    )


def _epochs(runs: Runs) -> list[float]:
    """Returns the mean seconds between backoffs of flows 1 and 2; infinite if a flow never backed off."""
    found = []
    for number in (1, 2):
        epochs = runs.values(f"epoch_{number}_s")
        found.append(float(np.where(np.isnan(epochs), math.inf, epochs).mean()))
    return found


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


def _half_alpha(runs: Runs, text: str, texts: Callable[[Runs], list[str]]) -> str:
    """Returns a note about the other reading of FAST's rule, if it was run."""
    if not runs.has(variant="alpha / 2"):
        return ""
    text = f"{text} " if text else ""
    return f"With alpha / 2 in the rule: {text}{' and '.join(texts(runs.where(variant='alpha / 2')))}."


def _history_times(runs: Runs, variant: str = "as measured") -> dict[int, float]:
    return _times_by_rtt(runs.where(variant=variant))


def _times_by_rtt(runs: Runs, quantity: str = "convergence_80_s") -> dict[int, float]:
    times = {}
    for rtt in runs.distinct("rtt_ms"):
        mean, _ = runs.where(rtt_ms=rtt).mean_stderr_reached(quantity)
        times[rtt] = NEVER if math.isnan(mean) else mean
    return times


def _time_figure(label: str, runs: Runs, published: float | None = None) -> Measured:
    """Returns a convergence time over repeats as a claim's figure, `LONGEST_S` if it was never reached."""
    mean, error = runs.mean_stderr_reached("convergence_80_s")
    text = f"{label}: s to converge ({LONGEST_S:g}: never)"
    if math.isnan(mean):
        return Measured(text, LONGEST_S, published=published, log=True)
    return Measured(text, mean, error, published, log=True)


def _later(times: dict[int, float], near: int, far: int) -> Check:
    both_never = times[near] == times[far] == NEVER
    return Check(
        f"later at {far} than at {near} ms",
        None if both_never else times[far] > times[near],
        f"{seconds(times[far])} against {seconds(times[near])}",
    )


def _times(times: dict[int, float]) -> str:
    return ", ".join(f"{rtt} ms {seconds(value)}" for rtt, value in times.items())


def _keyed(values: dict[int, float]) -> dict[str, float | None]:
    return {str(key): finite(value) for key, value in values.items()}
