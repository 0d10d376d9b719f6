"""How each LLS claim is judged: a `Finding` from the data. Each rule's words stand in `li2007_claims`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from longfat.numbers import finite
from longfat.runs import metrics, theory
from longfat.suites.kit.checks import above, at_least, at_most, below, between, within_factor
from longfat.suites.kit.claims import Check, Finding, Missing
from longfat.suites.kit.suite import Data, Runs
from longfat.suites.li2007.settings import (
    ALGORITHMS,
    HIGH_MBPS,
    LONG_RTT_MS,
    LOW_MBPS,
    NEW,
    REFILL_RTT_MS,
    RESPONSE_RTT_MS,
    TITLES,
    bdp_packets,
)

Find = Callable[[Data], Finding]

FAIR = 0.95
CONVERGED = 0.8
NEVER = math.inf


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
            within_factor("refill, RTTs", rtts, 8000.0, 1.1),
            within_factor("refill, s", refill_s, 800.0, 1.1),
            within_factor("mean rate, Mbit/s", mean / 1e6, 218.0, 1.2),
        ),
        f"refill {rtts:.0f} RTT, {refill_s:.0f} s; mean {mean / 1e6:.0f} Mbit/s over "
        f"{time[-1] - low_s[0]:.0f} s",
        {"refill_rtts": rtts, "refill_s": refill_s, "mean_bps": mean, "window_packets": float(before[0])},
    )


def fair_to_five_percent(data: Data) -> Finding:
    """LLS-F3a."""
    runs = data["F3"]
    checks = []
    for name in ("sack", "htcp"):
        for rate, rtt in _places(runs.where(algorithm=name)):
            mean, error = runs.where(algorithm=name, rate_mbps=rate, rtt_ms=rtt).mean_stderr("ratio")
            checks.append(at_least(f"{TITLES[name]}, {rate} Mbit/s, {rtt} ms: ratio", mean, FAIR, error))
    worst = {name: _least(runs.where(algorithm=name), "ratio") for name in ("sack", "htcp")}
    held = sum(check.passed is True for check in checks)
    return Finding(
        tuple(checks),
        f"{held} of {len(checks)} points at .95 or above; lowest: "
        + ", ".join(f"{TITLES[name]} {value:.2f}" for name, value in worst.items()),
        {"lowest": worst},
    )


def degrees_of_unfairness(data: Data) -> Finding:
    """LLS-F3b."""
    runs = data["F3"]
    unfair = {name: _mean_unfairness(runs, name) for name in ALGORITHMS}
    checks = [
        above(f"{TITLES[name]}: unfairness", unfair[name], 0.05) for name in ("stcp", "fast", "hstcp", "bic")
    ]
    checks += [
        above(f"{TITLES[worse]} less fair than {TITLES[better]}", unfair[worse], unfair[better])
        for worse in ("stcp", "fast")
        for better in ("hstcp", "bic")
    ]
    return Finding(tuple(checks), "mean unfairness: " + _listed(unfair), {"unfairness": unfair})


def stcp_does_not_converge(data: Data) -> Finding:
    """LLS-F4."""
    runs = data["F4"]
    ratios = {rtt: runs.where(rtt_ms=rtt, variant="as measured").mean("final_ratio") for rtt in (42, 162)}
    checks = tuple(
        below(f"{rtt} ms: ratio of the last 60 s", ratio, CONVERGED) for rtt, ratio in ratios.items()
    )
    measured = ", ".join(f"{rtt} ms {ratio:.2f}" for rtt, ratio in ratios.items())
    return Finding(checks, f"ratio of the last 60 s: {measured}", {"final_ratio": _keyed(ratios)})


def fast_varies_rapidly(data: Data) -> Finding:
    """LLS-F5a."""
    runs = data["F5"].where(rtt_ms=42)
    at = runs.where(variant="as measured")
    checks = []
    epochs, covs = _epochs(at), [at.mean(f"late_cwnd_cov_{number}") for number in (1, 2)]
    for number, (epoch, cov) in enumerate(zip(epochs, covs, strict=True), start=1):
        checks.append(below(f"flow {number}: seconds between backoffs", epoch, 100 * 0.042))
        checks.append(at_least(f"flow {number}: CoV of cwnd", cov, 0.1))
    queue = at.mean("queue_limit_packets")
    return Finding(
        tuple(checks),
        f"queue {queue:.0f} packets; {_backoffs(epochs)}; CoV of cwnd {covs[0]:.2f} and {covs[1]:.2f}",
        {"epoch_s": epochs, "cwnd_cov": covs, "queue_limit_packets": queue},
        _half_alpha(runs, "", lambda some: [_backoffs(_epochs(some))]),
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
            at_least(f"flow {number}: seconds between backoffs", epoch, 100 * 0.162)
            for number, epoch in enumerate(epochs, start=1)
        ),
        above("largest change between 10 s means of cwnd", step, 0.3),
        below("lowest ratio over 100 s", locked, 0.5),
    )
    return Finding(
        checks,
        f"{_backoffs(epochs)}; largest change of cwnd in 10 s "
        f"{100 * step:.0f} %; lowest ratio over 100 s {locked:.2f}",
        {"epoch_s": epochs, "largest_step": step, "least_100s_ratio": locked},
        _half_alpha(
            runs, "lowest ratio over 100 s", lambda some: [f"{some.values('least_100s_ratio').min():.2f}"]
        ),
    )


def hstcp_converges_slower(data: Data) -> Finding:
    """LLS-F6."""
    times = _history_times(data["F6"])
    checks = (
        *(Check(f"{rtt} ms: converges", value < NEVER, _seconds(value)) for rtt, value in times.items()),
        _later(times, 42, 162),
        _later(times, 162, 324),
    )
    return Finding(checks, _times(times), {"convergence_80_s": _keyed(times)})


def table_granularity(data: Data) -> Finding:
    """LLS-F7."""
    runs = data["F7"]
    found = {table: runs.where(table=table).mean_stderr("late_ratio") for table in runs.distinct("table")}
    unfair = {table: 1.0 - mean for table, (mean, _) in found.items()}
    errors = [found[table][1] for table in ("nearest", "interpolated")]
    difference, error = unfair["nearest"] - unfair["interpolated"], math.hypot(*errors)
    smaller = None if abs(difference) <= error else difference > 0.0
    checks = (
        above("unfairness with the nearest-neighbour table", unfair["nearest"], 0.05),
        Check("smaller when interpolated", smaller, f"difference {difference:.3f} ± {error:.3f}"),
    )
    return Finding(checks, "unfairness of the later half: " + _listed(unfair, {}, 3), {"unfairness": unfair})


def bic_slows_down(data: Data) -> Finding:
    """LLS-F8."""
    runs = data["F8"]
    times = _history_times(runs)
    final = runs.where(rtt_ms=324, variant="as measured").mean("final_ratio")
    checks = (
        _later(times, 42, 162),
        _later(times, 162, 324),
        below("324 ms: ratio of the last 60 s", final, CONVERGED),
    )
    printed = _history_times(runs, "as printed") if runs.has(variant="as printed") else {}
    return Finding(
        checks,
        f"{_times(times)}; last 60 s at 324 ms: ratio {final:.2f}",
        {"convergence_80_s": _keyed(times), "final_ratio_324": final},
        f"With the formula as printed: {_times(printed)}." if printed else "",
    )


def htcp_shares_equally(data: Data) -> Finding:
    """LLS-F9."""
    runs = data["F9"]
    ratios = {rtt: runs.where(rtt_ms=rtt, variant="as measured").mean("late_ratio") for rtt in (42, 162, 324)}
    checks = tuple(
        at_least(f"{rtt} ms: ratio of the later half", ratio, FAIR) for rtt, ratio in ratios.items()
    )
    measured = ", ".join(f"{rtt} ms {ratio:.3f}" for rtt, ratio in ratios.items())
    return Finding(checks, f"ratio of the later half: {measured}", {"late_ratio": _keyed(ratios)})


def rtt_unfairness(data: Data) -> Finding:
    """LLS-F10."""
    small, large = data["F10"], data["F10-100"]
    lowest = {name: _least(small.where(algorithm=name), "first_to_second") for name in ALGORITHMS}
    exponents = {name: _rtt_exponent(small.where(algorithm=name)) for name in ("sack", "htcp")}
    deep = {name: _least(large.where(algorithm=name), "first_to_second") for name in ALGORITHMS}
    others = [deep[name] for name in ALGORITHMS if name not in ("sack", "htcp")]
    checks = (
        within_factor("standard TCP: lowest ratio", lowest["sack"], 0.02, 2.0),
        within_factor("H-TCP: lowest ratio", lowest["htcp"], 0.2, 2.0),
        within_factor("HS-TCP: lowest ratio", lowest["hstcp"], 0.003, 3.0),
        within_factor("FAST-TCP: lowest ratio", lowest["fast"], 0.003, 3.0),
        below("Scalable-TCP: lowest ratio", lowest["stcp"], min(lowest["hstcp"], lowest["fast"])),
        between("H-TCP: exponent", exponents["htcp"], 0.7, 1.3),
        between("standard TCP: exponent", exponents["sack"], 1.6, 2.4),
        above("100 % BDP: H-TCP's lowest above standard TCP's", deep["htcp"], deep["sack"]),
        above("100 % BDP: standard TCP's lowest above all others'", deep["sack"], max(others)),
    )
    return Finding(
        checks,
        f"lowest ratio: {_listed(lowest, digits=4)}; exponent: standard {exponents['sack']:.2f}, H-TCP "
        f"{exponents['htcp']:.2f}; at 100 % BDP: {_listed(deep, digits=4)}",
        {"lowest": lowest, "exponent": exponents, "lowest_100_percent": deep},
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
    unfair = [row for row in runs.where(algorithm="stcp", rate_mbps=LOW_MBPS) if row["ratio"] < CONVERGED]
    least = min((row["cwnd_max_2"] for row in unfair), default=math.nan)
    crossing = least > ALGORITHMS["stcp"]["low_window"] if unfair else None
    seen = f"least peak cwnd {least:.0f} in {len(unfair)} unfair runs" if unfair else "no run was unfair"
    checks.append(Check("10 Mbit/s: Scalable-TCP passes Low_Window wherever it is unfair", crossing, seen))
    return Finding(
        tuple(checks),
        "; ".join(f"mean ratio at {rate} Mbit/s: {_listed(values)}" for rate, values in means.items()),
        {"mean_ratio": {str(rate): values for rate, values in means.items()}},
    )


def new_beats_standard(data: Data) -> Finding:
    """LLS-F12a."""
    runs = data["F12"]
    capacity = 100e6
    checks = []
    for percent in (queue for queue in runs.distinct("queue_percent") if queue >= 10):
        standard = runs.where(algorithm="sack", queue_percent=percent).mean("aggregate_bps")
        for name in NEW:
            rate = runs.where(algorithm=name, queue_percent=percent).mean("aggregate_bps")
            full = min(rate, standard) >= 0.995 * capacity
            checks.append(
                Check(
                    f"{TITLES[name]} at {percent} % BDP above standard TCP",
                    rate > standard or full,
                    f"{rate / 1e6:.1f} against {standard / 1e6:.1f} Mbit/s",
                )
            )
    held = sum(check.passed is True for check in checks)
    losers = sorted({check.text.split(" above")[0] for check in checks if not check.passed})
    return Finding(
        tuple(checks),
        f"{held} of {len(checks)} points" + (f"; not: {', '.join(losers)}" if losers else ""),
    )


def small_queues_collapse(data: Data) -> Finding:
    """LLS-F12b."""
    runs = data["F12"]
    collapse = {name: _largest_collapsing_queue(runs.where(algorithm=name)) for name in ALGORITHMS}
    loss = {name: _loss_rise(runs.where(algorithm=name)) for name in ALGORITHMS}
    others = [collapse[name] for name in ALGORITHMS if name != "fast"]
    checks = [
        between(f"{TITLES[name]}: largest collapsing queue, % BDP", collapse[name], 1.0, 3.0)
        for name in ALGORITHMS
        if name != "fast"
    ]
    checks += [
        Check(
            "FAST-TCP: largest collapsing queue above the others', at most 8 % BDP",
            max(others) < collapse["fast"] <= 8.0,
            f"{collapse['fast']:g} % against {max(others):g} %",
        )
    ]
    checks += [
        at_least(f"{TITLES[name]}: loss at 1 % over 20 % BDP", loss[name], 30.0) for name in ALGORITHMS
    ]
    return Finding(
        tuple(checks),
        f"largest collapsing queue, % BDP: {_listed(collapse, digits=0)}; loss rises by a factor of "
        f"{_listed(loss, digits=0)}",
        {"collapse_percent": collapse, "loss_rise": {name: finite(value) for name, value in loss.items()}},
    )


def report_efficiency(data: Data) -> Finding:
    """LLS-E2."""
    runs = data["E2"]
    lines, values = [], {}
    for rate in runs.distinct("rate_mbps"):
        used, lost = {}, {}
        for name in ALGORITHMS:
            at = runs.where(algorithm=name, rate_mbps=rate)
            used[name] = {str(rtt): at.where(rtt_ms=rtt).mean("utilization") for rtt in at.distinct("rtt_ms")}
            lost[name] = {str(rtt): at.where(rtt_ms=rtt).mean("loss_ratio") for rtt in at.distinct("rtt_ms")}
        values[f"{rate} Mbit/s"] = {"utilization": used, "loss_ratio": lost}
        spans = (
            f"{TITLES[name]} {min(used[name].values()):.2f}..{max(used[name].values()):.2f}"
            for name in ALGORITHMS
        )
        lines.append(f"used of {rate} Mbit/s: {', '.join(spans)}")
    return Finding((), "; ".join(lines), values, "The paper prints no figure of this test: reported.")


def report_compatibility(data: Data) -> Finding:
    """LLS-C2."""
    runs = data["C2"]
    values: dict[str, Any] = {}
    lines = []
    for rate in runs.distinct("rate_mbps"):
        found = {}
        for name in NEW:
            at = runs.where(algorithm=name, rate_mbps=rate)
            found[name] = {
                str(rtt): at.where(rtt_ms=rtt).mean("first_to_second") for rtt in at.distinct("rtt_ms")
            }
        values[f"{rate} Mbit/s"] = found
        spans = (
            f"{TITLES[name]} {min(ratios.values()):.3f}..{max(ratios.values()):.3f}"
            for name, ratios in found.items()
        )
        lines.append(f"standard / new at {rate} Mbit/s: {', '.join(spans)}")
    return Finding((), "; ".join(lines), values, "The paper prints no figure of this test: reported.")


def follows_theory(data: Data) -> Finding:
    """LLS-F13."""
    runs = data["F13"]
    rtt_s = RESPONSE_RTT_MS / 1000.0
    limit = 0.8 * bdp_packets(HIGH_MBPS * 1e6, rtt_s)
    switches = {"sack": None, "stcp": 16.0, "hstcp": 31.0}
    checks, ratios = [], {}
    for name, switch in switches.items():
        at = runs.where(algorithm=name)
        for loss in at.distinct("loss"):
            window = theory.RESPONSE_FUNCTIONS[name](loss)
            near = switch is not None and switch / 3.0 <= window <= switch * 3.0
            if window > limit or near:
                continue
            expected = theory.throughput_bps(window, rtt_s)
            measured = at.where(loss=loss).mean("settled_throughput_1_bps")
            ratios[f"{name} at {loss:g}"] = measured / expected
            checks.append(
                within_factor(f"{TITLES[name]}, loss {loss:g}: Mbit/s", measured / 1e6, expected / 1e6, 1.5)
            )
    held = sum(check.passed is True for check in checks)
    spread = f"{min(ratios.values()):.2f}..{max(ratios.values()):.2f}" if ratios else "none"
    return Finding(
        tuple(checks),
        f"{held} of {len(checks)} points within a factor 1.5; measured / theory {spread}",
        {"measured_over_theory": ratios},
    )


def convergence_fast_link(data: Data) -> Finding:
    """LLS-F14a."""
    runs = data["F14"].where(rate_mbps=HIGH_MBPS)
    times = {name: _times_by_rtt(runs.where(algorithm=name)) for name in ALGORITHMS}
    longest = max(times["htcp"])
    checks = [
        Check(
            f"{TITLES[name]} at {longest} ms: over 100 s or never",
            times[name][longest] > 100.0,
            _seconds(times[name][longest]),
        )
        for name in ("stcp", "hstcp", "bic")
    ]
    level = {rtt: value for rtt, value in times["htcp"].items() if rtt >= 82}
    checks += [between(f"H-TCP at {rtt} ms, s", value, 15.0, 60.0) for rtt, value in level.items()]
    checks.append(at_most(f"H-TCP at {longest} ms against 82 ms, s", level[longest], 2.0 * level[82]))
    smallest = [
        rtt
        for rtt in times["fast"]
        if all(times["fast"][rtt] < times[name][rtt] for name in ALGORITHMS if name != "fast")
    ]
    checks += [
        Check(
            "FAST-TCP the smallest at more than half of the RTTs",
            2 * len(smallest) > len(times["fast"]),
            f"at {len(smallest)} of {len(times['fast'])}",
        ),
        Check(
            f"standard TCP at {longest} ms: never",
            times["sack"][longest] == NEVER,
            _seconds(times["sack"][longest]),
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
    )


def convergence_slow_link(data: Data) -> Finding:
    """LLS-F14b."""
    runs = data["F14"].where(rate_mbps=LOW_MBPS)
    standard, htcp = (_times_by_rtt(runs.where(algorithm=name)) for name in ("sack", "htcp"))
    checks = []
    for rtt, expected in standard.items():
        value = htcp[rtt]
        known = value < NEVER and expected < NEVER
        checks.append(
            within_factor(f"{rtt} ms: H-TCP's time, s", value, expected, 2.0)
            if known
            else Check(
                f"{rtt} ms: H-TCP within a factor 2",
                None if value == expected else False,
                f"{_seconds(value)} against {_seconds(expected)}",
            )
        )
    return Finding(
        tuple(checks),
        f"standard TCP: {_times(standard)}; H-TCP: {_times(htcp)}",
        {"sack": _keyed(standard), "htcp": _keyed(htcp)},
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
                checks.append(within_factor(text, loaded, quiet, 1.5))
    busiest = runs.where(sessions=50)
    load, peak = busiest.mean("background_share"), busiest.mean("background_peak_share")
    held = sum(check.passed is True for check in checks)
    points = len(checks)
    checks += [
        between("mean load of 50 sessions, % of the link", 100 * load, 1.0, 2.0),
        between("greatest load over 1 s, % of the link", 100 * peak, 5.0, 20.0),
    ]
    return Finding(
        tuple(checks),
        f"{held} of {points} ratios within a factor 1.5; 50 sessions load {100 * load:.1f} %, bursts "
        f"{100 * peak:.0f} %",
        {"factor": factors, "load_share": load, "burst_share": peak},
    )


def _places(runs: Runs) -> Iterable[tuple[int, int]]:
    for rate in runs.distinct("rate_mbps"):
        for rtt in runs.where(rate_mbps=rate).distinct("rtt_ms"):
            yield rate, rtt


def _least(runs: Runs, figure: str) -> float:
    return min(runs.where(rate_mbps=rate, rtt_ms=rtt).mean(figure) for rate, rtt in _places(runs))


def _mean_unfairness(runs: Runs, name: str) -> float:
    at = runs.where(algorithm=name)
    ratios = [at.where(rate_mbps=rate, rtt_ms=rtt).mean("ratio") for rate, rtt in _places(at)]
    return 1.0 - metrics.mean_stderr(ratios)[0]


def _mean_over_rtts(runs: Runs, figure: str) -> float:
    return metrics.mean_stderr([runs.where(rtt_ms=rtt).mean(figure) for rtt in runs.distinct("rtt_ms")])[0]


def _rtt_exponent(runs: Runs) -> float:
    nearer = Runs(runs.name, [row for row in runs if row["rtt_ms"] < LONG_RTT_MS])
    ratios, measured = [], []
    for rate, rtt in _places(nearer):
        at = nearer.where(rate_mbps=rate, rtt_ms=rtt)
        ratios.append(at.mean("srtt_2_s") / at.mean("srtt_1_s"))
        measured.append(at.mean("first_to_second"))
    return metrics.log_slope(ratios, measured)


def _largest_collapsing_queue(runs: Runs) -> float:
    """Largest queue (% BDP) with a throughput below 80 % of that at 20 % BDP; 0 if none."""
    reference = runs.where(queue_percent=20).mean("aggregate_bps")
    collapsed = [
        float(percent)
        for percent in runs.distinct("queue_percent")
        if percent < 20 and runs.where(queue_percent=percent).mean("aggregate_bps") < 0.8 * reference
    ]
    return max(collapsed, default=0.0)


def _loss_rise(runs: Runs) -> float:
    small, usual = (runs.where(queue_percent=percent).mean("loss_ratio") for percent in (1, 20))
    if usual > 0.0:
        return small / usual
    return math.inf if small > 0.0 else math.nan


def _epochs(runs: Runs) -> list[float]:
    """Mean seconds between the backoffs of flows 1 and 2; infinite if a flow never backed off."""
    found = []
    for number in (1, 2):
        seconds = runs.values(f"epoch_{number}_s")
        found.append(float(np.where(np.isnan(seconds), math.inf, seconds).mean()))
    return found


def _backoffs(epochs: list[float]) -> str:
    """How often flows 1 and 2 back off, in words."""
    if all(math.isinf(epoch) for epoch in epochs):
        return "no backoff"
    if any(math.isinf(epoch) for epoch in epochs):
        return "; ".join(
            f"flow {number}: " + ("no backoff" if math.isinf(epoch) else f"a backoff every {epoch:.3g} s")
            for number, epoch in enumerate(epochs, start=1)
        )
    return "a backoff every " + " and ".join(f"{epoch:.3g} s" for epoch in epochs)


def _half_alpha(runs: Runs, text: str, figures: Callable[[Runs], list[str]]) -> str:
    """What the other reading of FAST's rule gives, for the remark."""
    if not runs.has(variant="alpha / 2"):
        return ""
    text = f"{text} " if text else ""
    return f"With alpha / 2 in the rule: {text}{' and '.join(figures(runs.where(variant='alpha / 2')))}."


def _history_times(runs: Runs, variant: str = "as measured") -> dict[int, float]:
    return _times_by_rtt(runs.where(variant=variant))


def _times_by_rtt(runs: Runs, figure: str = "convergence_80_s") -> dict[int, float]:
    times = {}
    for rtt in runs.distinct("rtt_ms"):
        mean, _ = runs.where(rtt_ms=rtt).mean_stderr_reached(figure)
        times[rtt] = NEVER if math.isnan(mean) else mean
    return times


def _later(times: dict[int, float], near: int, far: int) -> Check:
    both_never = times[near] == times[far] == NEVER
    return Check(
        f"later at {far} than at {near} ms",
        None if both_never else times[far] > times[near],
        f"{_seconds(times[far])} against {_seconds(times[near])}",
    )


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:.3g} s"


def _times(times: dict[int, float]) -> str:
    return ", ".join(f"{rtt} ms {_seconds(value)}" for rtt, value in times.items())


def _keyed(values: dict[int, float]) -> dict[str, float | None]:
    return {str(key): finite(value) for key, value in values.items()}


def _listed(values: dict[str, float], titles: dict[str, str] | None = None, digits: int = 2) -> str:
    names = TITLES if titles is None else titles
    return ", ".join(f"{names.get(name, name)} {value:.{digits}f}" for name, value in values.items())
