"""Losses of ACKs beside datagrams, ten flows and three (Figs. 5.3 to 5.10, Table 5.1; LOP-5a to LOP-5d)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Table, points, repeats
from longfat_papers.kit import checks as ck
from longfat_papers.kit.means import mean
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008.reduction import Row, Span, rows

LOST = {lp.PLAIN: (107, 167), lp.LOSING: (204, 414), lp.MIRRORED: (192, 302)}
"""Table 5.1: packets lost after the falls at 5 and 55 s."""
RATES_MBPS = {lp.PLAIN: (83.5, 87.5), lp.MIRRORED: (82.0, 89.5)}
"""Least and greatest mean rate of a flow, as the thesis prints them."""
LOST_FACTOR = 2.0
WIDER = 0.05
"""How far a rate may lie beyond either end of the printed range, as a share of this end."""
TAKES_OVER_MBPS = 400.0
SILENT_S, NOT_SILENT_S = 2.0, 1.0
EVEN_AGAIN_S = (7.5, 30.0)
LEAST_TIMEOUTS = 1.0

SETTINGS = lp.losing_settings(lp.ACKS_LEFT_MBPS, "Fig. 5.2 has")
AFTER = f"Packets lost are those within {lp.AFTER_FALL_S:g} s of each fall."
WIDENED = f"Rates may leave the printed range by {100.0 * WIDER:g} %: chosen here, as the factor."


def ten_flows(protocol: str, ack_loss: float, repeat: int) -> lp.Document | None:
    return lp.losing_acks("ten", protocol, ack_loss) if (protocol, ack_loss) in LOST else None


both = ("xcp", "xcp-r")
grid: dict[str, Any] = {"protocol": both, "ack_loss": (0.0, 0.1)}
ten = lp.experiment("acks", "Figs. 5.3, 5.4, 5.6, Table 5.1", "Losses of ACKs, ten flows", **grid)(ten_flows)
radar = lp.experiment("radar", "Fig. 5.7", "Average throughput of ten flows", **grid)(ten_flows)


@lp.experiment(
    "three", "Figs. 5.8 to 5.10", "Losses of ACKs, three flows", protocol=both, ack_loss=(0.0, 0.3)
)
def three(protocol: str, ack_loss: float, repeat: int) -> lp.Document | None:
    return lp.losing_acks("three", protocol, ack_loss) if (protocol, ack_loss) in lp.THREE_CASES else None


def _at(case: lp.Case) -> dict[str, Any]:
    return {"protocol": case[0], "ack_loss": case[1]}


def _title(case: lp.Case) -> str:
    return f"{lp.TITLES[case[0]]}, {case[1]:.0%} of the ACKs lost"


def _lost(row: Row, fall_s: float) -> float:
    return row.lost((fall_s, fall_s + lp.AFTER_FALL_S))


def _even_shares(title: str, row: Row, variation: lp.Variation, end_s: float) -> Panel:
    """Returns a panel with each flow's rate over half seconds, and an even share of the capacity."""
    whole = dr.available(variation, end_s)
    share = dr.dashed("even share of the available", whole.x, [y / len(row.names) for y in whole.y])
    curves = dr.each(row, lambda name: f"flow {name.rsplit('-', 1)[1]}", 0.5)
    return dr.rates(title, (share, *curves), end_s)


@ten.drawing
def rates_of_ten(runs: Runs, mode: Mode) -> Drawing:
    panels, lines = [], []
    for case, printed in LOST.items():
        panels.append(_even_shares(_title(case), dr.first(runs, **_at(case)), "acks", lp.ACKS_S))
        for at, number in zip(lp.ACKS_FALLS_S, printed, strict=True):
            lost = mean(_lost(row, at) for row in rows(runs, **_at(case)))
            lines.append((lp.TITLES[case[0]], f"{case[1]:.0%}", f"{at:g} s", str(number), f"{lost:.0f}"))
    heads = ("protocol", "ACKs lost", "fall at", "packets lost, thesis (Table 5.1)", "packets lost")
    return Drawing(
        f"1 Gbit/s, 150 ms, 0 to 5 datagram flows of 50 Mbit/s; rates over half a second.{dr.shown(runs)}",
        tuple(panels),
        columns=1,
        table=Table(heads, tuple(lines)),
        title="Ten flows, losses of ACKs, and a capacity that falls",
    )


@radar.drawing
def mean_rates_around_a_circle(runs: Runs, mode: Mode) -> Drawing:
    curves = []
    for number, case in enumerate(LOST):
        means = np.mean([row.each("means_mbps") for row in rows(runs, **_at(case))], axis=0)
        samples = [(float(flow), (float(rate), nan)) for flow, rate in enumerate(means)]
        curves.append(points(_title(case), samples, None, number))
    flows = tuple(f"flow {number + 1}" for number in range(len(curves[0].x)))
    axis, limits = "mean rate, Mbit/s", (0.0, 105.0)
    return Drawing(
        f"Mbit/s; the rounder a curve, the fairer.{repeats(runs)} The thesis: 83.5 to 87.5 without losses of "
        "ACKs, 81 to 98 with, 82 to 89.5 for XCP-r.",
        (Panel("", "", axis, tuple(curves), y_range=limits, categories=flows, radar=True),),
        columns=1,
        title="Average throughput of flows",
    )


@three.drawing
def rates_of_three(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for case in lp.THREE_CASES:
        row = dr.first(runs, **_at(case))
        text = f"{_title(case)}: {row.timeouts():.0f} timeouts"
        panels.append(_even_shares(text, row, "three", lp.THREE_S))
    return Drawing(
        f"100 ms.{dr.shown(runs)} The thesis: timeouts of XCP at 5 and 30 s, none of XCP-r.",
        tuple(panels),
        columns=1,
        title="Three flows, losses of ACKs, 200 to 50 Mbit/s",
    )


def _printed(case: lp.Case, rates_mbps: Span) -> Mapping[str, float]:
    names = (*(f"lost_{at:g}_s" for at in lp.ACKS_FALLS_S), "least_mbps", "greatest_mbps")
    return dict(zip(names, map(float, (*LOST[case], *rates_mbps)), strict=True))


def _measured(runs: Runs, case: lp.Case) -> tuple[dict[str, Any], str, Measured]:
    """Returns packets lost at both falls and least and greatest mean rate, their text, and the figure."""
    found = rows(runs, **_at(case))
    each = [[_lost(row, at) for at in lp.ACKS_FALLS_S] for row in found]
    lost = [mean(at_fall) for at_fall in zip(*each, strict=True)]
    means = [mean(pick(row.each("means_mbps")) for row in found) for pick in (min, max)]
    text = f"lost {lost[0]:.0f} and {lost[1]:.0f}; mean rates {means[0]:.1f} to {means[1]:.1f} Mbit/s"
    both_falls = Measured.mean("packets lost after both falls", map(sum, each), float(sum(LOST[case])))
    return {"lost": lost, "mbps": means}, text, both_falls


def _losses(lost: Sequence[float], case: lp.Case) -> Checks:
    for at, value, number in zip(lp.ACKS_FALLS_S, lost, LOST[case], strict=True):
        yield ck.within_factor(f"packets lost at {at:g} s", value, number, LOST_FACTOR)
    return None


def _range(means: Sequence[float], case: lp.Case) -> Checks:
    least, most = (1.0 - WIDER) * RATES_MBPS[case][0], (1.0 + WIDER) * RATES_MBPS[case][1]
    yield ck.between("least mean rate of a flow, Mbit/s", means[0], least, most)
    yield ck.between("greatest mean rate of a flow, Mbit/s", means[1], least, most)
    return None


@ten.claim(
    "5a",
    "10 XCP flows, 1 Gbit/s, delay 75 ms one way, 0..5 UDP flows of 50 Mbit/s, no ACK loss",
    "packets lost at 5 s / 55 s: 107 / 167; mean rates 83.5..87.5 Mbit/s",
    settings=SETTINGS,
    values=_printed(lp.PLAIN, RATES_MBPS[lp.PLAIN]),
    bounds=f"{AFTER} {WIDENED}",
)
def few_losses_and_even_rates(runs: Runs) -> Checks:
    found, text, both_falls = _measured(runs, lp.PLAIN)
    yield from _losses(found["lost"], lp.PLAIN)
    yield from _range(found["mbps"], lp.PLAIN)
    return Evidence(text, found, figure=both_falls)


@ten.claim(
    "5b",
    "with 10 % ACK loss",
    "204 / 414; one flow up to 550, others idle up to 8 s; 81..98 Mbit/s; ~15 s to stabilise",
    settings=SETTINGS,
    values=_printed(lp.LOSING, (81.0, 98.0)),
    bounds=f"{AFTER} Rate and silence are those of the {2.0 * lp.AFTER_FALL_S:g} s after the second one. "
    f"Shares are even where Jain's index over a second stays at {lp.FAIR:g} or above. The spread is the "
    "greatest less the least mean rate of a flow. Bounds chosen here.",
)
def one_flow_takes_over_and_another_is_silent(runs: Runs) -> Checks:
    found, text, both_falls = _measured(runs, lp.LOSING)
    (least, most), (other_least, other_most) = found["mbps"], _measured(runs, lp.PLAIN)[0]["mbps"]
    second, each = lp.ACKS_FALLS_S[1], rows(runs, **_at(lp.LOSING))
    after = (second, second + 2.0 * lp.AFTER_FALL_S)
    peak = mean(_peak_mbps(row, after) for row in each)
    idle = mean(row.silence_s(after) for row in each)
    even = mean(_stable_after(row, second) for row in each)
    spread = (most - least) / (other_most - other_least)
    fall = f"{second:g} s"
    yield from _losses(found["lost"], lp.LOSING)
    yield ck.at_least(f"greatest rate of a flow after {fall}, over a second, Mbit/s", peak, TAKES_OVER_MBPS)
    yield ck.at_least(f"longest silence of a flow after {fall}, s", idle, SILENT_S)
    yield ck.between(f"time until shares are even again after {fall}, s", even, *EVEN_AGAIN_S)
    yield ck.above("spread of the mean rates over that without loss", spread, 1.0)
    return Evidence(
        f"{text}; after {fall} one flow up to {peak:.0f} Mbit/s, another idle for {idle:.1f} s, even again "
        f"after {even:.1f} s",
        {**found, "most_mbps": peak, "idle_s": idle, "even_after_s": even},
        figure=both_falls,
    )


def _peak_mbps(row: Row, span: Span) -> float:
    """Returns the greatest rate of a flow over a second."""
    return max(max(row.rates_mbps((at, at + 1.0))) for at in np.arange(span[0], span[1] - 1.0, 0.5))


def _stable_after(row: Row, fall_s: float) -> float:
    """Returns the time after a fall until Jain's index over a second stays fair (for 30 s)."""
    moments = np.arange(fall_s, fall_s + 30.0, 1.0)
    uneven = [at for at in moments if not metrics.jain(row.rates_mbps((at, at + 1.0))) >= lp.FAIR]
    return float(uneven[-1] + 1.0 - fall_s) if uneven else 0.0


@ten.claim(
    "5c",
    "XCP-r with 10 % ACK loss",
    "192 / 302; no flow idle; 82..89.5 Mbit/s",
    settings=SETTINGS,
    values=_printed(lp.MIRRORED, RATES_MBPS[lp.MIRRORED]),
    bounds=f"{AFTER} A silence counts from {lp.SILENCE_FROM_S:g} s on. {WIDENED}",
)
def xcp_r_loses_less_and_no_flow_is_silent(runs: Runs) -> Checks:
    found, text, both_falls = _measured(runs, lp.MIRRORED)
    of_both = found["lost"], _measured(runs, lp.LOSING)[0]["lost"]
    idle = mean(row.silence_s((lp.SILENCE_FROM_S, lp.ACKS_S)) for row in rows(runs, **_at(lp.MIRRORED)))
    yield from _losses(found["lost"], lp.MIRRORED)
    for at, of_xcp_r, of_xcp in zip(lp.ACKS_FALLS_S, *of_both, strict=True):
        than = "XCP's with the same loss of ACKs"
        yield ck.below(f"{at:g} s: packets lost", of_xcp_r, of_xcp, than=than)
    yield ck.below("longest silence of a flow, s", idle, NOT_SILENT_S)
    yield from _range(found["mbps"], lp.MIRRORED)
    return Evidence(f"{text}; longest silence {idle:.1f} s", {**found, "idle_s": idle}, figure=both_falls)


@three.claim(
    "5d",
    "3 flows, 200..50 Mbit/s, 50 ms one way, 30 % ACK loss",
    "XCP times out, XCP-r does not",
    settings=lp.losing_settings(lp.THREE_LEFT_MBPS, "Figs. 5.8 to 5.10 have"),
    bounds="Timeouts are those of all three flows.",
)
def xcp_times_out_and_xcp_r_does_not(runs: Runs) -> Checks:
    found = {case: rows(runs, **_at(case)) for case in lp.THREE_CASES}
    counts = {case: mean(row.timeouts() for row in of_case) for case, of_case in found.items()}
    without, plain, mirrored = counts.values()
    span = (lp.SILENCE_FROM_S, lp.THREE_S)
    idle = {case[0]: mean(row.silence_s(span) for row in found[case]) for case in lp.THREE_CASES[1:]}
    yield ck.at_least("XCP's timeouts, mean over repeats", plain, LEAST_TIMEOUTS)
    yield ck.at_most("XCP-r's timeouts", mirrored, 0.0)
    return Evidence(
        f"timeouts: XCP {plain:.1f} (without loss of ACKs {without:.1f}), XCP-r {mirrored:.1f}; longest "
        f"silence {idle['xcp']:.1f} and {idle['xcp-r']:.1f} s",
        {"timeouts": {f"{name}, {loss:g}": value for (name, loss), value in counts.items()}, "idle_s": idle},
        figure=Measured.mean("XCP's timeouts", (row.timeouts() for row in found[lp.THREE_CASES[1]])),
    )
