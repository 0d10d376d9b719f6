"""The rules of LLS's claims. `claims` has their texts, `history_rules` the other rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from longfat.numbers import finite
from longfat.runs import metrics, theory
from longfat_papers.kit.checks import above, at_least, below, between, held, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured, Missing
from longfat_papers.kit.means import geometric_mean, mean_factor
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.kit.text import listed, short
from longfat_papers.li2007 import bounds
from longfat_papers.li2007.settings import (
    ALGORITHMS,
    HIGH_MBPS,
    LONG_RTT_MS,
    LOW_MBPS,
    NEW,
    REFILL_RTT_MS,
    RESPONSE_RTT_MS,
    SMALLEST_PERCENT,
    TITLES,
    USUAL_PERCENT,
    WELL_PROVISIONED_PERCENT,
    bdp_packets,
)

PRINTED_LOSS_RISE = 100.0
"""V-D: around two orders of magnitude."""
LEAST = 1e-4
"""Lesser ratios and unfairnesses count as this in a claim's figure."""


def refill(data: Data) -> Finding:
    """LLS-F1."""
    history = data["F1"].first()["series"][0]
    time, cwnd, received = (np.asarray(history[key]) for key in ("time_s", "cwnd", "received_bytes"))
    low_s, before, _ = metrics.backoffs(time, cwnd)
    if low_s.size != 1:
        raise Missing(f"The run has {low_s.size} backoffs where the claim needs one.")
    refilled = time[(time > low_s[0]) & (cwnd >= 0.99 * before[0])]
    if not refilled.size:
        raise Missing("The window did not refill within the run.")
    refill_s = float(refilled[0] - low_s[0])
    rtts = refill_s / (REFILL_RTT_MS / 1000.0)
    mean = metrics.throughput_bps(time, received, (float(low_s[0]), float(time[-1])))
    return Finding(
        (
            within_factor("refill, RTTs", rtts, bounds.REFILL_RTTS, bounds.REFILL_FACTOR),
            within_factor("refill, s", refill_s, bounds.REFILL_S, bounds.REFILL_FACTOR),
            within_factor("mean rate, Mbit/s", mean / 1e6, bounds.REFILL_MBPS, bounds.REFILL_MBPS_FACTOR),
        ),
        f"refill {rtts:.0f} RTT, {refill_s:.0f} s; mean {mean / 1e6:.0f} Mbit/s over "
        f"{time[-1] - low_s[0]:.0f} s",
        {"refill_rtts": rtts, "refill_s": refill_s, "mean_bps": mean, "window_packets": float(before[0])},
        figure=Measured("mean rate after the loss, Mbit/s", mean / 1e6, published=bounds.REFILL_MBPS),
    )


def fair_to_five_percent(data: Data) -> Finding:
    """LLS-F3a."""
    runs = data["F3"]
    checks = []
    for name in ("reno", "htcp"):
        for rate, rtt in _points(runs.where(algorithm=name)):
            mean, error = runs.where(algorithm=name, rate_mbps=rate, rtt_ms=rtt).mean_stderr("ratio")
            checks.append(
                at_least(f"{TITLES[name]}, {rate} Mbit/s, {rtt} ms: ratio", mean, bounds.FAIR, error)
            )
    worst = {name: _least(runs.where(algorithm=name), "ratio") for name in ("reno", "htcp")}
    holding = held(checks)
    return Finding(
        tuple(checks),
        f"{holding} of {len(checks)} points at {short(bounds.FAIR)} or above; lowest: "
        + ", ".join(f"{TITLES[name]} {value:.2f}" for name, value in worst.items()),
        {"lowest": worst},
        figure=_share(f"share of points at {short(bounds.FAIR)} or above", checks),
    )


def degrees_of_unfairness(data: Data) -> Finding:
    """LLS-F3b."""
    runs = data["F3"]
    unfair = {name: _mean_unfairness(runs, name) for name in ALGORITHMS}
    checks = [
        above(f"{TITLES[name]}: unfairness", unfair[name], bounds.UNFAIR)
        for name in ("stcp", "fast", "hstcp", "bic")
    ]
    checks += [
        above(f"{TITLES[worse]} less fair than {TITLES[better]}", unfair[worse], unfair[better])
        for worse in ("stcp", "fast")
        for better in ("hstcp", "bic")
    ]
    return Finding(
        tuple(checks),
        "mean unfairness: " + listed(unfair, TITLES),
        {"unfairness": unfair},
        figure=Measured(
            "lesser unfairness of Scalable-TCP and FAST-TCP / greater of HS-TCP and BIC-TCP",
            geometric_mean(
                [min(unfair["stcp"], unfair["fast"]) / max(unfair["hstcp"], unfair["bic"], LEAST)]
            ),
            log=True,
        ),
    )


def table_granularity(data: Data) -> Finding:
    """LLS-F7."""
    runs = data["F7"]
    found = {table: runs.where(table=table).mean_stderr("late_ratio") for table in runs.distinct("table")}
    unfair = {table: 1.0 - mean for table, (mean, _) in found.items()}
    errors = [found[table][1] for table in ("nearest", "interpolated")]
    difference, error = unfair["nearest"] - unfair["interpolated"], math.hypot(*errors)
    smaller = None if abs(difference) <= error else difference > 0.0
    checks = (
        above("unfairness with the nearest-neighbour table", unfair["nearest"], bounds.UNFAIR),
        Check("smaller when interpolated", smaller, f"difference {difference:.3f} ± {error:.3f}"),
    )
    return Finding(
        checks,
        "unfairness of the later half: " + listed(unfair, {}, 3),
        {"unfairness": unfair},
        figure=Measured("unfairness, nearest-neighbour less interpolated", difference, error),
    )


def rtt_unfairness(data: Data) -> Finding:
    """LLS-F10."""
    small, large = data["F10"], data["F10-100"]
    lowest = {name: _least(small.where(algorithm=name), "first_to_second") for name in ALGORITHMS}
    exponents = {name: _rtt_exponent(small.where(algorithm=name)) for name in ("reno", "htcp")}
    deep = {name: _least(large.where(algorithm=name), "first_to_second") for name in ALGORITHMS}
    others = [deep[name] for name in ALGORITHMS if name not in ("reno", "htcp")]
    checks = (
        *(
            within_factor(f"{title}: lowest ratio", lowest[name], ratio, bounds.LOWEST_FACTOR[name])
            for name, ratio in bounds.LOWEST_RATIO.items()
            for title in ["standard TCP" if name == "reno" else TITLES[name]]
        ),
        below("Scalable-TCP: lowest ratio", lowest["stcp"], min(lowest["hstcp"], lowest["fast"])),
        between("H-TCP: exponent", exponents["htcp"], *_around("htcp")),
        between("standard TCP: exponent", exponents["reno"], *_around("reno")),
        above("100 % BDP: H-TCP's lowest above standard TCP's", deep["htcp"], deep["reno"]),
        above("100 % BDP: standard TCP's lowest above all others'", deep["reno"], max(others)),
    )
    return Finding(
        checks,
        f"lowest ratio: {listed(lowest, TITLES, 4)}; exponent: standard {exponents['reno']:.2f}, H-TCP "
        f"{exponents['htcp']:.2f}; at 100 % BDP: {listed(deep, TITLES, 4)}",
        {"lowest": lowest, "exponent": exponents, "lowest_100_percent": deep},
        figure=Measured(
            "factor between measured and printed lowest ratio, mean over protocols",
            mean_factor(max(lowest[name], LEAST) / ratio for name, ratio in bounds.LOWEST_RATIO.items()),
            published=1.0,
            log=True,
        ),
    )


def least_compatible(data: Data) -> Finding:
    """LLS-F11."""
    runs = data["F11"]
    checks = []
    means: dict[int, dict[str, float]] = {}
    for rate in (LOW_MBPS, HIGH_MBPS):
        means[rate] = {
            name: _mean_over_rtts(runs.where(algorithm=name, rate_mbps=rate), "ratio") for name in NEW
        }
        two_least = sorted(means[rate], key=means[rate].__getitem__)[:2]
        for name in ("stcp", "fast"):
            checks.append(
                Check(
                    f"{rate} Mbit/s: {TITLES[name]} among the two least fair",
                    name in two_least,
                    f"least fair: {' and '.join(TITLES[least] for least in two_least)}",
                )
            )
    unfair = [
        row for row in runs.where(algorithm="stcp", rate_mbps=LOW_MBPS) if row["ratio"] < bounds.CONVERGED
    ]
    least = min((row["cwnd_max_2"] for row in unfair), default=math.nan)
    crossing = least > ALGORITHMS["stcp"]["low_window"] if unfair else None
    seen = f"least peak cwnd {least:.0f} in {len(unfair)} unfair runs" if unfair else "no run was unfair"
    checks.append(Check("10 Mbit/s: Scalable-TCP passes Low_Window wherever it is unfair", crossing, seen))
    return Finding(
        tuple(checks),
        "; ".join(f"mean ratio at {rate} Mbit/s: {listed(values, TITLES)}" for rate, values in means.items()),
        {"mean_ratio": {str(rate): values for rate, values in means.items()}},
        figure=Measured(
            "greater ratio of Scalable-TCP and FAST-TCP / least of the others, at the worse rate",
            max(_not_least(values) for values in means.values()),
            log=True,
        ),
    )


def new_beats_standard(data: Data) -> Finding:
    """LLS-F12a."""
    runs = data["F12"]
    capacity = 100e6
    checks = []
    for percent in (queue for queue in runs.distinct("queue_percent") if queue >= WELL_PROVISIONED_PERCENT):
        standard = runs.where(algorithm="reno", queue_percent=percent).mean("aggregate_bps")
        for name in NEW:
            rate = runs.where(algorithm=name, queue_percent=percent).mean("aggregate_bps")
            full = min(rate, standard) >= (1.0 - bounds.FULL_USE_WITHIN) * capacity
            checks.append(
                Check(
                    f"{TITLES[name]} at {percent} % BDP above standard TCP",
                    rate > standard or full,
                    f"{rate / 1e6:.1f} against {standard / 1e6:.1f} Mbit/s",
                )
            )
    holding = held(checks)
    losers = sorted({check.text.split(" above")[0] for check in checks if not check.passed})
    return Finding(
        tuple(checks),
        f"{holding} of {len(checks)} points" + (f"; not: {', '.join(losers)}" if losers else ""),
        figure=_share("share of points above standard TCP", checks),
    )


def small_queues_collapse(data: Data) -> Finding:
    """LLS-F12b."""
    runs = data["F12"]
    collapse = {name: _largest_collapsing_queue(runs.where(algorithm=name)) for name in ALGORITHMS}
    loss = {name: _loss_rise(runs.where(algorithm=name)) for name in ALGORITHMS}
    others = [collapse[name] for name in ALGORITHMS if name != "fast"]
    most = bounds.FAST_COLLAPSING_PERCENT
    checks = [
        between(
            f"{TITLES[name]}: largest collapsing queue, % BDP", collapse[name], *bounds.COLLAPSING_PERCENT
        )
        for name in ALGORITHMS
        if name != "fast"
    ]
    checks += [
        Check(
            f"FAST-TCP: largest collapsing queue above the others', at most {most:g} % BDP",
            max(others) < collapse["fast"] <= most,
            f"{collapse['fast']:g} % against {max(others):g} %",
        )
    ]
    checks += [
        at_least(
            f"{TITLES[name]}: loss at {SMALLEST_PERCENT} % over {USUAL_PERCENT} % BDP",
            loss[name],
            bounds.LOSS_RISE,
        )
        for name in ALGORITHMS
    ]
    return Finding(
        tuple(checks),
        f"largest collapsing queue, % BDP: {listed(collapse, TITLES, 0)}; loss rises by a factor of "
        f"{listed(loss, TITLES, 0)}",
        {"collapse_percent": collapse, "loss_rise": {name: finite(value) for name, value in loss.items()}},
        figure=Measured(
            "rise of the loss at the smallest queue, mean over protocols",
            geometric_mean(loss.values()),
            published=PRINTED_LOSS_RISE,
            log=True,
        ),
    )


def report_efficiency(data: Data) -> Finding:
    """LLS-E2."""
    runs = data["E2"]
    lines, values = [], {}
    for rate in runs.distinct("rate_mbps"):
        used, lost = {}, {}
        for name in ALGORITHMS:
            at = runs.where(algorithm=name, rate_mbps=rate)
            used[name] = _by_rtt(at, "utilization")
            lost[name] = _by_rtt(at, "loss_ratio")
        values[f"{rate} Mbit/s"] = {"utilization": used, "loss_ratio": lost}
        spans = (
            f"{TITLES[name]} {min(used[name].values()):.2f}..{max(used[name].values()):.2f}"
            for name in ALGORITHMS
        )
        lines.append(f"used of {rate} Mbit/s: {', '.join(spans)}")
    least = min(
        min(shares["utilization"][name].values()) for shares in values.values() for name in ALGORITHMS
    )
    return Finding(
        (),
        "; ".join(lines),
        values,
        "The paper prints no figure of this test: reported.",
        Measured("least share of the link that is used", least),
    )


def report_compatibility(data: Data) -> Finding:
    """LLS-C2."""
    runs = data["C2"]
    values: dict[str, Any] = {}
    lines = []
    for rate in runs.distinct("rate_mbps"):
        found = {}
        for name in NEW:
            at = runs.where(algorithm=name, rate_mbps=rate)
            found[name] = _by_rtt(at, "first_to_second")
        values[f"{rate} Mbit/s"] = found
        spans = (
            f"{TITLES[name]} {min(ratios.values()):.3f}..{max(ratios.values()):.3f}"
            for name, ratios in found.items()
        )
        lines.append(f"standard / new at {rate} Mbit/s: {', '.join(spans)}")
    least = min(min(ratios.values()) for found in values.values() for ratios in found.values())
    return Finding(
        (),
        "; ".join(lines),
        values,
        "The paper prints no figure of this test: reported.",
        Measured("least ratio of standard TCP to a new protocol", least, log=True),
    )


def follows_theory(data: Data) -> Finding:
    """LLS-F13."""
    runs = data["F13"]
    rtt_s = RESPONSE_RTT_MS / 1000.0
    limit = bounds.FILLED_BELOW * bdp_packets(HIGH_MBPS * 1e6, rtt_s)
    apart, factor = bounds.SWITCH_FACTOR, bounds.THEORY_FACTOR
    checks, ratios = [], {}
    for name in ("reno", "stcp", "hstcp"):
        switch = ALGORITHMS[name].get("low_window")
        at = runs.where(algorithm=name)
        for loss in at.distinct("loss"):
            window = theory.RESPONSE_FUNCTIONS[name](loss)
            near = switch is not None and switch / apart <= window <= switch * apart
            if window > limit or near:
                continue
            expected = theory.throughput_bps(window, rtt_s)
            measured = at.where(loss=loss).mean("settled_throughput_1_bps")
            ratios[f"{name} at {loss:g}"] = measured / expected
            checks.append(
                within_factor(
                    f"{TITLES[name]}, loss {loss:g}: Mbit/s", measured / 1e6, expected / 1e6, factor
                )
            )
    holding = held(checks)
    spread = f"{min(ratios.values()):.2f}..{max(ratios.values()):.2f}" if ratios else "none"
    return Finding(
        tuple(checks),
        f"{holding} of {len(checks)} points within a factor {factor:g}; measured / theory {spread}",
        {"measured_over_theory": ratios},
        figure=Measured(
            "factor between measurement and theory, mean over points",
            mean_factor(ratios.values()),
            published=1.0,
            log=True,
        ),
    )


def web_changes_little(data: Data) -> Finding:
    """LLS-F15."""
    runs = data["F15"]
    checks, factors = [], {}
    for name in ALGORITHMS:
        at = runs.where(algorithm=name)
        for rtt in at.distinct("rtt_ms"):
            quiet = at.where(rtt_ms=rtt, sessions=0).mean("first_to_second")
            for sessions in (count for count in at.distinct("sessions") if count):
                loaded = at.where(rtt_ms=rtt, sessions=sessions).mean("first_to_second")
                text = f"{TITLES[name]}, {rtt} ms, {sessions} sessions: ratio"
                factors[f"{name} at {rtt} ms, {sessions} sessions"] = loaded / quiet
                checks.append(within_factor(text, loaded, quiet, bounds.WEB_FACTOR))
    busiest = runs.where(sessions=50)
    load, peak = busiest.mean("background_share"), busiest.mean("background_peak_share")
    holding = held(checks)
    points = len(checks)
    checks += [
        between("mean load of 50 sessions, % of the link", 100 * load, *bounds.LOAD_PERCENT),
        between("greatest load over 1 s, % of the link", 100 * peak, *bounds.BURST_PERCENT),
    ]
    return Finding(
        tuple(checks),
        f"{holding} of {points} ratios within a factor {bounds.WEB_FACTOR:g}; 50 sessions load "
        f"{100 * load:.1f} %, bursts {100 * peak:.0f} %",
        {"factor": factors, "load_share": load, "burst_share": peak},
        figure=Measured(
            f"share of ratios within a factor {bounds.WEB_FACTOR:g}", holding / points, published=1.0
        ),
    )


def _share(label: str, checks: Sequence[Check]) -> Measured:
    """Returns the share of checks that hold, which is 1 in the paper, as a claim's figure."""
    return Measured(label, held(checks) / len(checks), published=1.0)


def _not_least(ratios: Mapping[str, float]) -> float:
    """Returns the greater ratio of Scalable-TCP and FAST-TCP over the others' least; the paper: below 1."""
    others = min(ratio for name, ratio in ratios.items() if name not in ("stcp", "fast"))
    return max(ratios["stcp"], ratios["fast"]) / max(others, LEAST)


def _by_rtt(runs: Runs, quantity: str) -> dict[str, float]:
    return {str(rtt): mean for rtt, mean in runs.means("rtt_ms", quantity).items()}


def _points(runs: Runs) -> Iterable[tuple[int, int]]:
    for rate in runs.distinct("rate_mbps"):
        for rtt in runs.where(rate_mbps=rate).distinct("rtt_ms"):
            yield rate, rtt


def _least(runs: Runs, quantity: str) -> float:
    return min(runs.where(rate_mbps=rate, rtt_ms=rtt).mean(quantity) for rate, rtt in _points(runs))


def _mean_unfairness(runs: Runs, name: str) -> float:
    at = runs.where(algorithm=name)
    ratios = [at.where(rate_mbps=rate, rtt_ms=rtt).mean("ratio") for rate, rtt in _points(at)]
    return 1.0 - metrics.mean_stderr(ratios)[0]


def _mean_over_rtts(runs: Runs, quantity: str) -> float:
    return metrics.mean_stderr(list(runs.means("rtt_ms", quantity).values()))[0]


def _rtt_exponent(runs: Runs) -> float:
    nearer = Runs(runs.name, [row for row in runs if row["rtt_ms"] < LONG_RTT_MS])
    ratios, measured = [], []
    for rate, rtt in _points(nearer):
        at = nearer.where(rate_mbps=rate, rtt_ms=rtt)
        ratios.append(at.mean("srtt_2_s") / at.mean("srtt_1_s"))
        measured.append(at.mean("first_to_second"))
    return metrics.log_slope(ratios, measured)


def _around(name: str) -> tuple[float, float]:
    """Returns the bounds of the exponent of an algorithm's ratio."""
    middle, margin = bounds.EXPONENT[name], bounds.EXPONENT_MARGIN[name]
    return middle - margin, middle + margin


def _largest_collapsing_queue(runs: Runs) -> float:
    """Returns the largest queue (% BDP) at which throughput has collapsed; 0 if none."""
    least = bounds.COLLAPSED * runs.where(queue_percent=USUAL_PERCENT).mean("aggregate_bps")
    collapsed = [
        float(percent)
        for percent in runs.distinct("queue_percent")
        if percent < USUAL_PERCENT and runs.where(queue_percent=percent).mean("aggregate_bps") < least
    ]
    return max(collapsed, default=0.0)


def _loss_rise(runs: Runs) -> float:
    small, usual = (
        runs.where(queue_percent=percent).mean("loss_ratio") for percent in (SMALLEST_PERCENT, USUAL_PERCENT)
    )
    if usual > 0.0:
        return small / usual
    return math.inf if small > 0.0 else math.nan
