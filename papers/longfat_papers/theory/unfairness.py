"""RTT unfairness: section 2.4.3.4 (LOP-2b)."""

from __future__ import annotations

import math
from typing import Any

from longfat.figure.data import Curve
from longfat.runs import metrics, theory
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Table, points, settings
from longfat_papers.kit.checks import above, within_factor
from longfat_papers.kit.text import with_error
from longfat_papers.theory import common as th

RATE_BPS = 1e9
LONG_MS = 80.0
DURATION_S: dict[Mode, float] = {"quick": 200.0, "full": 600.0}

HSTCP_D, STCP_D = 0.82, 1.0
HSTCP_EXPONENT = 5.55
EXPONENT_FACTOR = 1.25


@th.PAPER.experiment(
    "unfairness",
    "2.4.3.4",
    "RTT unfairness",
    grid={
        "algorithm": th.controlled(),
        "rtt_ratio": {"quick": (1.5, 2.0), "full": (1.25, 1.5, 2.0)},
        "repeat": th.REPEATS,
    },
)
def unfairness(algorithm: str, rtt_ratio: float, repeat: int, mode: Mode) -> dict[str, Any]:
    """Two like flows, the first with the longer round-trip time. At 2, HSTCP's law leaves it a 47th."""
    return th.scenario(
        f"{algorithm}, round-trip times as {rtt_ratio:g} to 1",
        RATE_BPS,
        DURATION_S[mode],
        [th.flow(algorithm, LONG_MS), th.flow(algorithm, LONG_MS / rtt_ratio)],
        buffer="20 % BDP",
        buffer_rtt=f"{LONG_MS:g} ms",
    )


def exponent(runs: Runs, name: str) -> tuple[float, float]:
    """Returns the mean and standard error of an algorithm's exponent over ratios and repeats."""
    return metrics.mean_stderr(runs.where(algorithm=name).values("unfairness"))


@unfairness.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    """The exponent of every algorithm beside that of its law."""
    names = th.names(runs)
    laws = [theory.LAWS[name].unfairness if name in theory.LAWS else math.nan for name in names]
    measured = [exponent(runs, name) for name in names]
    places = tuple(map(float, range(len(names))))
    drawn = tuple(law if math.isfinite(law) else math.nan for law in laws)
    curves = [Curve("its law, 1/(1 - d)", places, drawn, None, None, "points", 6)]
    curves += [points(names[i], [(i, value)], names[i]) for i, value in enumerate(measured)]
    written = ("-" if math.isnan(law) else "infinite" if math.isinf(law) else f"{law:.3g}" for law in laws)
    table = zip(names, written, (with_error(*value) for value in measured), strict=True)
    return Drawing(
        "Two like flows at 1 Gbit/s, the longer RTT 80 ms: logarithm of the ratio of throughputs over that "
        "of the measured round-trip times, later half of the run, mean over ratios and repeats. The law's "
        "value holds for losses that both flows see at once; Scalable TCP's is infinite and has no point; "
        "laws that hold only while no queue builds have none either.",
        (Panel("exponent x of (R1 / R2)^x", "", "x", tuple(curves), categories=names),),
        columns=1,
        table=Table(("algorithm", "law", "measured"), tuple(table)),
    )


@th.PAPER.claim(
    "2b",
    "loss-based law c / p^d; two flows with round-trip times R1 and R2",
    "RTT unfairness (R1 / R2)^(1 / (1 - d)): HSTCP d .82, exponent 5.55; Scalable TCP d 1, infinite",
    ("response", "unfairness"),
    paper=th.THESIS,
    settings=th.RESPONSE_SETTINGS
    + settings("""
        path | 1 Gbit/s, long RTT 80 ms, queue 20 % of its BDP
        RTT ratios | 1.25 (full), 1.5, 2
        start | both at random within 10 s
        duration | 200 s quick, 600 s full
    """),
    estimator=th.WINDOW
    + " d: as in LOP-2a. Exponent: logarithm of the ratio of throughputs over that of the mean "
    "smoothed round-trip times, later half of the time that both flows run, mean over ratios and repeats.",
    bounds="Tolerances chosen here; infinity cannot be measured.",
    values={"hstcp_d": HSTCP_D, "stcp_d": STCP_D, "hstcp_exponent": HSTCP_EXPONENT},
    note="RFC 3649's own d is .835, whose exponent is 6.06; the formula holds for synchronised losses.",
)
def unfairness_follows_from_d(responses: Runs, runs: Runs) -> Checks:
    slopes = {name: th.slope(responses, name) for name in ("hstcp", "stcp")}
    found = {name: exponent(runs, name) for name in th.UNFAIR_PROTOCOLS}
    titles = {"hstcp": "HSTCP", "stcp": "Scalable TCP"}
    for name, d in (("hstcp", HSTCP_D), ("stcp", STCP_D)):
        yield within_factor(f"{titles[name]}: d of the measured W = c / p^d", slopes[name], d, th.D_FACTOR)
    text = "measured exponent of unfairness"
    yield within_factor(f"HSTCP: {text}", found["hstcp"][0], HSTCP_EXPONENT, EXPONENT_FACTOR)
    yield above(f"Scalable TCP: {text}", found["stcp"][0], HSTCP_EXPONENT)
    return Evidence(
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
