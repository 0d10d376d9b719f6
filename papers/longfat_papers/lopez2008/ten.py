"""Three flows that join ten of the other kind, and leave (Figs. 6.4 to 6.6; LOP-6c to LOP-6e)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from longfat_papers.kit import Check, Checks, Declaration, Evidence, Measured, Run, Runs, percent
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import friendly as fr
from longfat_papers.lopez2008.reduction import rows

FIGURE_FACTOR = 1.3
"""A rate read off a figure."""
SAME_MBPS = 50.0

Means = Mapping[str, Sequence[float]]
"""Rates of the three flows and of the ten, by case, such as "20 ms, 60 to 70 s"."""


def declared(name: str, mirrors: str, title: str, ten: str, three: str, *inspected: float) -> Declaration:
    """Declares an experiment at each share of packets that are inspected."""

    def scenario(rtt_ms: int, inspect: float) -> lp.Document:
        router, title = {**fr.PER_PACKET, "inspect": inspect}, f"rtt_ms {rtt_ms}, inspect {inspect}"
        return fr.scenario(title, router, fr.joined(ten, three, rtt_ms))

    return lp.PAPER.experiment(name, mirrors, title)(
        lambda mode: [
            Run(
                {"rtt_ms": rtt_ms, "inspect": inspect, "repeat": repeat},
                {**scenario(rtt_ms, inspect), "seed": repeat + 1},
            )
            for inspect in inspected
            for rtt_ms in fr.RTTS_MS
            for repeat in range(lp.REPEATS[mode])
        ]
    )


ten_tcp = declared("ten-tcp", "Fig. 6.4", "Three XCP flows join ten TCP flows", "newreno", "xcp", 1.0)
ten_xcp = declared("ten-xcp", "Fig. 6.5", "Three TCP flows join ten XCP flows", "xcp", "newreno", 1.0)
half = declared("half", "Fig. 6.6", "Half of the packets inspected", "xcp", "newreno", 0.5, 1.0)


def _guests(at: float) -> int:
    """Returns how many of the three flows run at a time."""
    return sum(10.0 + 20.0 * number <= at < 70.0 + 20.0 * number for number in range(3))


def _share_of_three(at: float) -> float:
    return fr.MBPS * _guests(at) / (10.0 + _guests(at))


def _share_of_ten(at: float) -> float:
    return fr.MBPS * 10.0 / (10.0 + _guests(at))


at_each_rtt = {f"{rtt} ms": {"rtt_ms": rtt} for rtt in fr.RTTS_MS}
of_each_share = {
    f"{rtt} ms, {word}": {"rtt_ms": rtt, "inspect": share}
    for word, share in (("half", 0.5), ("all", 1.0))
    for rtt in fr.RTTS_MS
}
text = "Three {} flows join ten {} flows, and leave"
ten_tcp.drawing(fr.averages(at_each_rtt, _share_of_three, title=text.format("XCP", "TCP")))
ten_xcp.drawing(fr.averages(at_each_rtt, _share_of_ten, title=text.format("TCP", "XCP")))
half.drawing(fr.averages(of_each_share, _share_of_ten))


def _means(runs: Runs, cases: Iterable[str], few: str, many: str) -> dict[str, list[float]]:
    """Returns the rates of the three and of the ten in each case, such as "20 ms, 60 to 70 s"."""
    found = {}
    for case in cases:
        rtt, _, begin, _, end, _ = case.split()
        at, span = rows(runs, rtt_ms=int(rtt)), (float(begin), float(end))
        found[case] = [*fr.means_mbps(at, [span], few), *fr.means_mbps(at, [span], many)]
    return found


def _as_printed(found: Means, printed: Means) -> Iterable[Check]:
    for case, rates in found.items():
        for label, rate, number in zip(("the three", "the ten"), rates, printed[case], strict=True):
            yield ck.within_factor(f"{case}: {label}, Mbit/s", rate, number, FIGURE_FACTOR)


def _text(found: Means) -> str:
    return "; ".join(f"{case} {few:.0f} / {many:.0f}" for case, (few, many) in found.items())


@ten_tcp.claim(
    "6c",
    "3 XCP joining 10 TCP, 20 and 100 ms",
    "best near 260 / 740 (20 ms, 60..70 s) and 350 / 650 (100 ms, 50..60 s); worst at 20..30 s: 200 / 800 "
    "and 400 / 600 against 93 / 931",
    settings=fr.SETTINGS,
    estimator="Averages over 10 s; means over repeats. XCP joins at 10, 30, 50 s, leaves at 70, 90, 110 s.",
    bounds=f"The factor {FIGURE_FACTOR:g} is chosen here.",
)
def three_of_xcp_beside_ten_of_tcp(runs: Runs) -> Checks:
    printed = {
        "20 ms, 60 to 70 s": (260.0, 740.0),
        "20 ms, 20 to 30 s": (200.0, 800.0),
        "100 ms, 50 to 60 s": (350.0, 650.0),
        "100 ms, 20 to 30 s": (400.0, 600.0),
    }
    found = _means(runs, printed, "xcp", "newreno")
    yield from _as_printed(found, printed)
    each = (row.rate_mbps((60.0, 70.0), "xcp") for row in rows(runs, rtt_ms=20))
    best = Measured.mean("20 ms, 60 to 70 s: XCP, Mbit/s", each, 260.0)
    return Evidence(f"XCP / TCP: {_text(found)} Mbit/s", found, figure=best)


@ten_xcp.claim(
    "6d",
    "3 TCP joining 10 XCP, 20 and 100 ms",
    "near 250 / 750 at 60..70 s (20 ms), worst at 30..50 s: 300 / 700 for 2 TCP against 171 / 853; at 100 ms "
    "TCP below its share: 100 / 900 at 60..70 s",
    settings=fr.SETTINGS,
    estimator="Averages over 10 s; means over repeats. TCP joins at 10, 30, 50 s, leaves at 70, 90, 110 s.",
    bounds=f"TCP's share is that of 2 of 12 flows, then of 3 of 13. The factor {FIGURE_FACTOR:g} is "
    "chosen here.",
)
def three_of_tcp_beside_ten_of_xcp(runs: Runs) -> Checks:
    printed = {
        "20 ms, 60 to 70 s": (250.0, 750.0),
        "20 ms, 30 to 50 s": (300.0, 700.0),
        "100 ms, 60 to 70 s": (100.0, 900.0),
    }
    found = _means(runs, printed, "newreno", "xcp")
    yield from _as_printed(found, printed)
    two, three = found["20 ms, 30 to 50 s"][0], found["100 ms, 60 to 70 s"][0]
    yield ck.above("20 ms, 30 to 50 s: TCP above its share, Mbit/s", two, fr.MBPS * 2.0 / 12.0)
    yield ck.below("100 ms, 60 to 70 s: TCP below its share, Mbit/s", three, fr.MBPS * 3.0 / 13.0)
    each = (row.rate_mbps((60.0, 70.0), "newreno") for row in rows(runs, rtt_ms=20))
    best = Measured.mean("20 ms, 60 to 70 s: TCP, Mbit/s", each, 250.0)
    return Evidence(f"TCP / XCP: {_text(found)} Mbit/s", found, figure=best)


@half.claim(
    "6e",
    "LOP-6d inspecting half the packets",
    "about the same as inspecting all",
    settings=fr.SETTINGS,
    estimator="Averages over 10 s; means over repeats.",
    bounds="The distance is that of TCP's rates over each 10 s from 10 to 110 s from those with all packets "
    f"inspected. {percent(SAME_MBPS / fr.MBPS)} % of the link is chosen here.",
)
def about_the_same(runs: Runs) -> Checks:
    over = fr.spans(fr.JOIN_S, fr.LEAVE_S + 2 * fr.JOIN_EVERY_S)
    apart = {}
    for rtt in fr.RTTS_MS:
        whole, part = (
            fr.means_mbps(rows(runs, rtt_ms=rtt, inspect=share), over, "newreno") for share in (1.0, 0.5)
        )
        apart[rtt] = float(np.mean(np.abs(np.subtract(whole, part))))
        yield ck.at_most(f"{rtt} ms: TCP's mean distance over 10 s, Mbit/s", apart[rtt], SAME_MBPS)
    return Evidence(
        "mean distance of TCP's 10 s averages from those with all inspected: "
        + ", ".join(f"{value:.0f} Mbit/s at {rtt} ms" for rtt, value in apart.items()),
        {"apart_mbps": apart},
        figure=Measured("20 ms: TCP's mean distance over 10 s, Mbit/s", apart[20]),
    )
