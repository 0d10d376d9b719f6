"""The rules of the claims of the draft. `claims` has their texts.

The draft prints no results. What it says about outcomes is checked; the metrics that it asks for are reported
beside standard TCP's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from longfat_papers.kit.checks import above, at_least, at_most, below
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.means import geometric_mean, mean_factor
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.tcpeval import bounds
from longfat_papers.tcpeval.reduction import names, relative, single_share
from longfat_papers.tcpeval.settings import (
    ACCESS,
    BASIC,
    BUFFERS_PERCENT,
    DATA_CENTER,
    DECREASE,
    INCREASE,
    INTER,
    INTRA,
    LOADS,
    MOST_POWER,
    RAMP_MBPS,
    RELEASE_S,
    SATELLITE,
    STAIRS,
    STANDARD,
    WORST_POWER,
    title,
)

PERCENT = 100.0


def tested(runs: Runs) -> list[str]:
    """Returns the algorithms of an experiment without standard TCP."""
    return [name for name in names(runs) if name != STANDARD]


def basic_table(data: Data) -> Finding:
    """EVAL-4."""
    runs = data["basic"]
    checks, kept = [], {}
    for name in names(runs):
        for item in BASIC:
            at = runs.where(scenario=item.name)
            kept[f"{name}, {item.name}"] = {
                str(load): [
                    at.where(algorithm=name, load=load).mean(key)
                    for key in ("utilization", "drop_ratio", "delay_ms")
                ]
                for load in LOADS
            }
            if name != STANDARD:
                own, base = (at.where(algorithm=each, load=max(LOADS)) for each in (name, STANDARD))
                text = f"{title(name)}, {item.title}, {max(LOADS)} %: drops (bound: standard TCP's)"
                checks.append(at_most(text, own.mean("drop_ratio"), base.mean("drop_ratio")))
    told = []
    for name in names(runs):
        at = runs.where(algorithm=name, scenario=ACCESS.name)
        seen = [
            f"{at.where(load=load).mean('utilization'):.3f} {at.where(load=load).mean('drop_ratio'):.2g} "
            f"{at.where(load=load).mean('delay_ms'):.1f} ms"
            for load in LOADS
        ]
        told.append(f"{title(name)} {' / '.join(seen)}")
    standard = runs.where(algorithm=STANDARD, scenario=ACCESS.name, load=max(LOADS))
    return Finding(
        tuple(checks),
        "access link at 60 / 85 / 110 %, utilization, drops, delay: " + ", ".join(told),
        kept,
        figure=Measured("standard TCP's drops on the access link at 110 %", standard.mean("drop_ratio")),
    )


def uplink(data: Data) -> Finding:
    """EVAL-4.4.4."""
    runs = data["basic"].where(algorithm=STANDARD, scenario=SATELLITE.name)
    drops = {
        load: (runs.where(load=load).mean("up_drop_ratio"), runs.where(load=load).mean("drop_ratio"))
        for load in LOADS
    }
    checks = tuple(
        above(f"{load} %: drops of the uplink (bound: the downlink's)", *drops[load]) for load in LOADS
    )
    return Finding(
        checks,
        "share of packets dropped, uplink and downlink: "
        + ", ".join(f"{load} % {up:.2g} {down:.2g}" for load, (up, down) in drops.items()),
        {str(load): list(pair) for load, pair in drops.items()},
        figure=Measured("drops of the uplink at 110 %", drops[max(LOADS)][0]),
    )


def processor_sharing(data: Data) -> Finding:
    """EVAL-A."""
    runs = data["basic"].where(algorithm=STANDARD, scenario=DATA_CENTER.name)
    factors, told = {}, []
    for load in LOADS:
        share = load / PERCENT
        if share >= 1.0:
            continue
        law, number = share / (1.0 - share), runs.where(load=load).mean("active")
        factors[load] = number / law
        told.append(f"{load} % {number:.3g}, queue {law:.3g}")
    return Finding(
        (),
        "mean number of flows: " + "; ".join(told),
        {str(load): factor for load, factor in factors.items()},
        figure=Measured(
            "factor between measured number of flows and the queue's",
            mean_factor(factors.values()),
            published=1.0,
            log=True,
        ),
    )


def smaller_buffers(data: Data) -> Finding:
    """EVAL-5.1."""
    runs = data["tradeoff"]
    least, most = min(BUFFERS_PERCENT), max(BUFFERS_PERCENT)
    checks, told, kept = [], [], {}
    lost = 0
    for name in names(runs):
        small, large = (runs.where(algorithm=name, buffer=percent) for percent in (least, most))
        kept_share = small.mean("utilization") / large.mean("utilization")
        delays = (small.mean("delay_ms"), large.mean("delay_ms"))
        slower = small.mean("transfer_s_all") / large.mean("transfer_s_all")
        checks.append(below(f"{title(name)}: delay with {least} % (bound: with {most} %)", *delays))
        lost += kept_share <= 1.0 - bounds.EXPENSE
        told.append(
            f"{title(name)} {delays[0]:.2g} and {delays[1]:.3g} ms, throughput {kept_share:.3f}, transfers "
            f"{slower:.2f} times as long"
        )
        kept[name] = {"delay_ms": list(delays), "throughput": kept_share, "transfer_time": slower}
    checks.append(_many("lose throughput", lost, len(kept)))
    return Finding(
        tuple(checks),
        f"{least} % against {most} % BDP: " + "; ".join(told),
        kept,
        figure=Measured(
            "throughput kept with the smallest buffer, mean",
            geometric_mean(row["throughput"] for row in kept.values()),  # type: ignore[misc]
        ),
    )


def ramp_table(data: Data) -> Finding:
    """EVAL-5.2."""
    runs = data["ramp-up"].where(slow_start="off")
    checks, kept, told = [], {}, []
    for name in names(runs):
        for mbps in RAMP_MBPS:
            at = runs.where(algorithm=name, mbps=mbps)
            for rtts in dict.fromkeys(row["rtts"] for row in at):
                kept[f"{name}, {mbps}, {rtts}"] = [
                    at.where(rtts=rtts).mean_stderr_reached(f"reached_{power}_s")[0]
                    for power in range(1, MOST_POWER + 1)
                ]
        time_s = _mean_time_s(runs.where(algorithm=name, mbps=min(RAMP_MBPS)))
        told.append(f"{title(name)} {time_s:.3g} s")
        if name != STANDARD:
            base = _mean_time_s(runs.where(algorithm=STANDARD, mbps=min(RAMP_MBPS)))
            checks.append(at_most(f"{title(name)}: time (bound: standard TCP's)", time_s, base))
    return Finding(
        tuple(checks),
        f"{1.5 * 10 ** (WORST_POWER - 3):g} MB on {min(RAMP_MBPS)} Mbit/s without slow-start: "
        + ", ".join(told),
        kept,
        figure=Measured(
            "standard TCP's time, s",
            _mean_time_s(runs.where(algorithm=STANDARD, mbps=min(RAMP_MBPS))),
            log=True,
        ),
    )


def _mean_time_s(runs: Runs) -> float:
    """Returns the mean time until the bytes that EVAL-5.2.2 compares; NaN if a run did not get so far."""
    return runs.mean(f"reached_{WORST_POWER}_s")


def slow_start_off(data: Data) -> Finding:
    """EVAL-5.2.2."""
    runs = data["ramp-up"].where(mbps=min(RAMP_MBPS))
    ratios = {
        name: _mean_time_s(at.where(slow_start="off")) / _mean_time_s(at.where(slow_start="on"))
        for name in names(runs)
        for at in [runs.where(algorithm=name)]
    }
    return Finding(
        tuple(
            above(f"{title(name)}: time without slow-start over the time with it", ratio, 1.0)
            for name, ratio in ratios.items()
        ),
        "time without slow-start over the time with it: "
        + ", ".join(f"{title(name)} {ratio:.3g}" for name, ratio in ratios.items()),
        ratios,
        figure=Measured("mean ratio", geometric_mean(ratios.values()), log=True),
    )


def transient_table(data: Data) -> Finding:
    """EVAL-5.3."""
    runs = data["transients"]
    checks, kept, told = [], {}, []
    for name in names(runs):
        at = runs.where(algorithm=name)
        down = at.where(transient=DECREASE)
        time_s = down.mean_stderr_reached("window_90_s")[0]
        dropped = [at.where(transient=kind).mean("cross_dropped") for kind in (INCREASE, STAIRS)]
        kept[name] = {
            "window_s": [down.mean_stderr_reached(f"window_{share}_s")[0] for share in (60, 80, 90)],
            "step_packets": down.mean("step_packets"),
            "cross_dropped": dropped,
        }
        reached = f"{time_s:.3g} s" if math.isfinite(time_s) else f"not within {RELEASE_S:g} s"
        told.append(f"{title(name)} {reached}, {dropped[0]:.0f} and {dropped[1]:.0f} dropped")
        if name != STANDARD:
            base = runs.where(algorithm=STANDARD, transient=INCREASE).mean("cross_dropped")
            text = f"{title(name)}: datagrams dropped at the increase (bound: beside standard TCP)"
            checks.append(at_most(text, dropped[0], base))
    return Finding(
        tuple(checks),
        "time to 90 % of the BDP; datagrams dropped, at once and in steps: " + "; ".join(told),
        kept,
        figure=Measured(
            "datagrams dropped beside standard TCP at the increase",
            runs.where(algorithm=STANDARD, transient=INCREASE).mean("cross_dropped"),
        ),
    )


def gain_and_loss(data: Data) -> Finding:
    """EVAL-6.1."""
    runs = data["impact"]
    most = max(runs.distinct("load"))
    at_expense, more_used, told = 0, 0, []
    kept: dict[str, dict[str, Any]] = {}
    for name in tested(runs):
        gain, loss, used = (_against_baseline(runs, name, most, key) for key in IMPACT_KEYS)
        at_expense += _clear(gain) and gain[0] > 1.0 and _clear(loss) and loss[0] < 1.0
        more_used += _clear(used) and used[0] > 1.0
        told.append(
            f"{title(name)} "
            + ", ".join(f"{value:.3f} (+-{error:.3f})" for value, error in (gain, loss, used))
        )
        kept[name] = {
            f"{mbps}, {load}": [relative(runs, name, mbps, load, key)[0] for key in IMPACT_KEYS]
            for mbps in runs.distinct("mbps")
            for load in runs.distinct("load")
        }
    number = len(tested(runs))
    return Finding(
        (
            _many("gain at the expense of standard TCP", at_expense, number),
            _many("increase the utilization", more_used, number),
        ),
        f"G, L and utilization over the baseline's at {most} %, mean over rates: " + "; ".join(told),
        kept,
        figure=Measured(
            "share of the algorithms with a gain at the expense of standard TCP", at_expense / number
        ),
    )


IMPACT_KEYS = ("goodput_bps_b", "goodput_bps_a", "utilization")
"""What gives G, L and the use of the link over the baseline's."""


def _against_baseline(runs: Runs, name: str, load: int, key: str) -> tuple[float, float]:
    """Returns a quantity over the baseline's, geometric mean over the rates, and its error over repeats."""

    def ratio(of_repeat: Runs) -> float:
        return geometric_mean(
            relative(of_repeat, name, mbps, load, key)[0] for mbps in of_repeat.distinct("mbps")
        )

    return runs.over_repeats(ratio)


def _clear(estimate: tuple[float, float]) -> bool:
    """Returns whether a ratio differs from 1 by the margin and by more than its error can explain.

    An error that is not a number, as of one repeat, makes nothing clear.
    """
    value, error = estimate
    return abs(value - 1.0) >= max(bounds.ERRORS * error, bounds.MARGIN)


def _many(text: str, count: int, number: int) -> Check:
    return at_least(f"share of the algorithms that {text}", count / number, bounds.MANY)


def fairness_table(data: Data) -> Finding:
    """EVAL-6.2."""
    runs = data["fairness"]
    slow = min(RAMP_MBPS)
    checks, told, kept = [], [], {}
    for name in names(runs):
        at = runs.where(algorithm=name)
        for mbps in at.distinct("mbps"):
            kept[f"{name}, {mbps}"] = _ratios(at.where(mbps=mbps))
        own = kept[f"{name}, {slow}"]
        told.append(f"{title(name)} {own[INTRA]:.2f}, {own[INTER]:.3g}")
        if name != STANDARD:
            base = kept[f"{STANDARD}, {slow}"]
            text = f"{title(name)}: lesser over greater throughput (bound: standard TCP's)"
            checks.append(at_least(text, own[INTRA], base[INTRA]))
            text = f"{title(name)}: advantage of the shorter RTT (bound: standard TCP's)"
            checks.append(at_most(text, own[INTER], base[INTER]))
    return Finding(
        tuple(checks),
        f"{slow} Mbit/s: lesser / greater throughput with like RTTs, and shorter / longer RTT's, "
        "means over RTTs and buffers: " + ", ".join(told),
        kept,
        figure=Measured("standard TCP's mean ratio with like RTTs", kept[f"{STANDARD}, {slow}"][INTRA]),
    )


def _ratios(runs: Runs) -> dict[str, float]:
    return {
        INTRA: runs.where(kind=INTRA).mean("fairness"),
        INTER: geometric_mean(runs.where(kind=INTER).values("ratio").tolist()),
    }


def lot_table(data: Data) -> Finding:
    """EVAL-6.3."""
    runs = data["lot"]
    found: dict[str, Callable[[Runs], float]] = {
        "goodput": lambda at: single_share(at, "goodput_bps_{}")[0],
        "largest transfers": lambda at: single_share(at, "transfer_bps_{}_4")[0],
        "drops": lambda at: at.mean("drop_ratio"),
    }
    most = max(runs.distinct("load"))
    checks, kept, told = [], {}, []
    for name in names(runs):
        at = runs.where(algorithm=name)
        kept[name] = {
            str(load): [measure(at.where(load=load)) for measure in found.values()]
            for load in at.distinct("load")
        }
        goodput, rate, drops = kept[name][str(most)]
        told.append(f"{title(name)} {goodput:.3f}, {rate:.2f}, {drops:.2g}")
        if name != STANDARD:
            base = single_share(runs.where(algorithm=STANDARD, load=most), "transfer_bps_{}_4")[0]
            text = f"{title(name)}: advantage of one bottleneck (bound: standard TCP's)"
            checks.append(at_most(text, rate, base))
    return Finding(
        tuple(checks),
        f"one over three bottlenecks at {most} %, goodput, rate of the largest transfers, and drops: "
        + ", ".join(told),
        kept,
        figure=Measured("standard TCP's ratio of goodput", kept[STANDARD][str(most)][0]),
    )
