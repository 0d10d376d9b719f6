"""The rules of the theory suite's claims. `claims` has their texts."""

from __future__ import annotations

import math

from longfat.runs import metrics, theory
from longfat_papers.kit.checks import above, below, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured, Missing
from longfat_papers.kit.means import mean_factor
from longfat_papers.kit.suite import Data, Find, Runs
from longfat_papers.kit.text import with_error
from longfat_papers.theory import bounds, requirements
from longfat_papers.theory.reduction import rtt_exponent
from longfat_papers.theory.settings import RTT_S, has

TEN_GIGABIT_WINDOW = 83_333.0
"""LOP-2a: packets of 1500 bytes that 10 Gbit/s carry in 100 ms, rounded by the thesis."""
ROUNDED = 1.0001
"""This only checks arithmetic, so it is not a bound of the claim."""
SLOPE_FROM = 1e-3
"""Slopes of response functions are fitted below this loss, away from the high-speed laws' switch."""


def ten_gigabit(data: Data) -> Finding:
    """LOP-2a."""
    window = 10e9 * RTT_S / 12_000.0
    loss = theory.standard_loss(window)
    run = data["scaled"].first()
    asked_mbps = run["rate_mbps"]
    reached_mbps = theory.throughput_bps(run["window"], RTT_S) / 1e6
    periodic = data["response"].where(algorithm="reno", kind="periodic")
    slope = _slope(periodic)
    constant = run["window"] ** 2 * run["loss"]
    checks = (
        within_factor("window of 10 Gbit/s and 100 ms, packets,", window, TEN_GIGABIT_WINDOW, ROUNDED),
        within_factor("law: loss for that window", loss, bounds.TEN_GIGABIT_LOSS, bounds.TEN_GIGABIT_FACTOR),
        within_factor(
            f"measured: Mbit/s with one loss in {1 / run['loss']:.3g} packets",
            reached_mbps,
            asked_mbps,
            bounds.SCALED_FACTOR,
        ),
        within_factor(
            "loss for 10 Gbit/s out of the measured W^2 p",
            constant / TEN_GIGABIT_WINDOW**2,
            bounds.TEN_GIGABIT_LOSS,
            bounds.CONSTANT_FACTOR,
        ),
        within_factor("exponent d of the measured W = c / p^d", slope, bounds.STANDARD_D, bounds.D_FACTOR),
    )
    return Finding(
        checks,
        f"law {loss:.3g}, one loss in {1 / loss:.3g} packets; measured {reached_mbps:.3g} Mbit/s at the loss "
        f"for {asked_mbps:g}, W p^.5 = {math.sqrt(constant):.3g}, d = {slope:.3g}",
        {"law_loss": loss, "window": window, "reached_mbps": reached_mbps, "constant": constant, "d": slope},
        figure=Measured(
            "loss for 10 Gbit/s out of the measured W^2 p",
            constant / TEN_GIGABIT_WINDOW**2,
            published=bounds.TEN_GIGABIT_LOSS,
            log=True,
        ),
    )


def unfairness_exponents(data: Data) -> Finding:
    """LOP-2b."""
    response, pairs = data["response"], data["unfairness"]
    slopes = {name: _slope(response.where(algorithm=name, kind="periodic")) for name in ("hstcp", "stcp")}
    found = {name: rtt_exponent(pairs, name) for name in ("reno", "hstcp", "stcp")}
    hstcp, stcp = found["hstcp"][0], found["stcp"][0]
    checks = (
        within_factor(
            "HSTCP: d of the measured W = c / p^d", slopes["hstcp"], bounds.HSTCP_D, bounds.D_FACTOR
        ),
        within_factor(
            "Scalable TCP: d of the measured W = c / p^d", slopes["stcp"], bounds.STCP_D, bounds.D_FACTOR
        ),
        within_factor(
            "HSTCP: measured exponent of unfairness", hstcp, bounds.HSTCP_EXPONENT, bounds.EXPONENT_FACTOR
        ),
        above("Scalable TCP: measured exponent of unfairness", stcp, bounds.HSTCP_EXPONENT),
    )
    return Finding(
        checks,
        f"d: HSTCP {slopes['hstcp']:.3g}, Scalable TCP {slopes['stcp']:.3g}; exponents of two flows: HSTCP "
        f"{with_error(*found['hstcp'])}, Scalable TCP {with_error(*found['stcp'])}, standard TCP "
        f"{with_error(*found['reno'])} (its law: 2)",
        {
            "d": slopes,
            "from_d": {name: 1.0 / (1.0 - d) if d < 1.0 else None for name, d in slopes.items()},
            "exponent": {name: value for name, (value, _) in found.items()},
        },
        figure=Measured("exponent of two Scalable TCP flows", *found["stcp"]),
    )


def udt_degrades(data: Data) -> Finding:
    """LOP-2f."""
    if not has("udt"):
        raise Missing("This version has no algorithm udt.")
    runs = data["udt"]
    kept = {}
    for victim in runs.distinct("algorithm"):
        at = runs.where(algorithm=victim)
        kept[victim] = at.where(against="udt").mean("throughput_1_bps") / at.where(against=victim).mean(
            "throughput_1_bps"
        )
    checks = tuple(
        below(f"{name}: throughput beside UDT over that beside its like", value, bounds.STRONGLY)
        for name, value in kept.items()
    )
    return Finding(
        checks,
        "kept beside UDT: " + ", ".join(f"{name} {100 * value:.3g} %" for name, value in kept.items()),
        {"kept": kept},
        figure=Measured("greater share of its throughput that standard TCP or BIC keeps", max(kept.values())),
    )


def seven_requirements(data: Data) -> Finding:
    """Reports the table of 2.4.1."""
    runs = data["requirements"]
    names = dict.fromkeys(row["algorithm"] for row in runs)
    met, values, checks = {}, {}, []
    for name in names:
        found = requirements.measured(runs, name)
        values[name] = {str(number): value for number, (value, _) in found.items()}
        holds = {
            item.number: item.met(found[item.number][0])
            for item in requirements.REQUIREMENTS
            if item.number in found
        }
        met[name] = sum(holds.values())
        lacking = [item.name for item in requirements.REQUIREMENTS if not holds.get(item.number, True)]
        checks.append(
            Check(
                f"{name}: all that was measured is met",
                all(holds.values()),
                f"not {', '.join(lacking)}" if lacking else f"{met[name]} of {len(holds)}",
            )
        )
    return Finding(
        tuple(checks),
        "met of 7: " + ", ".join(f"{name} {count}" for name, count in met.items()),
        {"met": met, "measured": values},
        figure=Measured("requirements that a protocol meets, mean", sum(met.values()) / len(met)),
    )


def follows_law(name: str) -> Find:
    """Returns the rule of one algorithm's law: compares the measurement at each loss with it."""

    def find(data: Data) -> Finding:
        law = theory.LAWS[name]
        runs = data["response"].where(algorithm=name, kind="periodic")
        checks, factors = [], {}
        for loss in runs.distinct("loss"):
            expected = law.window(loss, RTT_S)
            if any(
                expected / bounds.SWITCH_FACTOR < edge < expected * bounds.SWITCH_FACTOR
                for edge in law.switch
            ):
                continue
            window = runs.where(loss=loss).mean("window")
            factors[f"{loss:g}"] = window / expected
            checks.append(within_factor(f"p = {loss:g}: window", window, expected, bounds.LAW_FACTOR))
        return Finding(
            tuple(checks),
            "measured over law: " + ", ".join(f"{loss} {value:.3g}" for loss, value in factors.items()),
            {"factor": factors, "d": _slope(runs)},
            figure=Measured(
                "factor between measurement and law, mean over losses",
                mean_factor(factors.values()),
                published=1.0,
                log=True,
            ),
        )

    return find


def _slope(runs: Runs) -> float:
    """Returns d of W = c / p^d, fitted on logarithms over the rarer losses."""
    losses = [loss for loss in runs.distinct("loss") if loss < SLOPE_FROM]
    return -metrics.log_slope(losses, [runs.where(loss=loss).mean("window") for loss in losses])
