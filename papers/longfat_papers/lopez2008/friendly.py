"""What the figures of chapter 6 share: XCP beside TCP at one router."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from longfat_papers.kit import Drawing, Mode, Panel, Runs, mean, settings
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008.reduction import Row, Span

RTTS_MS = (20, 100)
MBPS = 1000
BUFFER = 5_000
JOIN_S, JOIN_EVERY_S, LEAVE_S, END_S = 10, 20, 70, 120
STARVED_S, OTHERS_S = 60, 60
SPAN_S = 10
"""Averages of chapter 6 are taken over this time."""
SETTLED_S = 30.0
"""One XCP flow beside two TCP flows: averages count from here on."""
PER_PACKET: dict[str, Any] = {"kind": "friendly", "update": "packet"}

SETTINGS = settings(f"""
bottleneck | 1 Gbit/s, {BUFFER} packets, shared | 6.2
mechanism | zombie tables of 1000, drop probability from .001, x .9999 and x 1.0001, 0 below .0001, above 97 \
% load | 6.3, 6.4
update | with each packet of other traffic | chosen here: the text says once in a control interval, which \
cannot produce its figures; both are run
""")


def scenario(title: str, router: Any, flows: Sequence[lp.Document], duration_s: float = END_S) -> lp.Document:
    """Returns a scenario of chapter 6."""
    return lp.dumbbell(title, MBPS, BUFFER, flows, duration_s, router=router)


def one_and_two(protocol: str, other: str, rtt_ms: int) -> list[lp.Document]:
    """Returns one flow, joined by two of another protocol."""
    return lp.flows(protocol, 1, rtt_ms) + lp.flows(other, 2, rtt_ms, JOIN_S)


def joined(ten: str, three: str, rtt_ms: int) -> list[lp.Document]:
    """Returns ten flows, joined by three of another protocol, which leave."""
    return lp.flows(ten, 10, rtt_ms) + [
        lp.flow(three, f"{three}-{number + 1}", rtt_ms, JOIN_S + later, stop=f"{LEAVE_S + later} s")
        for number, later in enumerate(range(0, 3 * JOIN_EVERY_S, JOIN_EVERY_S))
    ]


def spans(from_s: float, until_s: float) -> list[Span]:
    """Returns the spans of 10 s between two times."""
    return [(float(at), float(at + SPAN_S)) for at in np.arange(from_s, until_s, SPAN_S)]


def means_mbps(found: Sequence[Row], over: Sequence[Span], prefix: str) -> list[float]:
    """Returns the rates of flows together in each span, means over repeats."""
    return [mean(row.rate_mbps(span, prefix) for row in found) for span in over]


def beside(
    title: str, row: Row, share: tuple[Sequence[float], Sequence[float]], bin_s: float, other: tuple[str, str]
) -> Panel:
    """Returns a panel of XCP's fair share over time, its rate, and that of ``other``: label and protocol."""
    label, protocol = other
    curves = (
        dr.dashed("XCP's fair share", *share),
        dr.history("XCP", row, "xcp", 0, bin_s),
        dr.history(label, row, protocol, 1, bin_s),
    )
    return dr.rates(title, curves, row.end_s, MBPS)


def over_a_second(title: str, runs: Runs, parts: int, other: tuple[str, str]) -> Panel:
    """Returns the panel with averages over a second, where XCP's share is one of these parts."""
    row = dr.first(runs)
    share = ((float(JOIN_S), row.end_s), (MBPS / parts,) * 2)
    return beside(title, row, share, 1.0, other)


def settled(runs: Runs, other: str) -> list[str]:
    """Writes the rates of XCP and of the other protocol from 30 s on, means over repeats."""
    found = [Row(row) for row in runs]
    over = [(SETTLED_S, found[0].end_s)]
    return [f"{means_mbps(found, over, protocol)[0]:.0f}" for protocol in ("xcp", other)]


def averages(
    cases: Mapping[str, Mapping[str, Any]],
    share_mbps: Callable[[float], float],
    caption: str = "",
    *,
    title: str = "",
) -> Callable[[Runs, Mode], Drawing]:
    """Draws averages over 10 s of XCP and TCP at the coordinates of each case, with XCP's share over time."""

    def draw(runs: Runs, mode: Mode) -> Drawing:
        panels = []
        for text, coordinates in cases.items():
            row = dr.first(runs, **coordinates)
            times = np.arange(0.0, row.end_s, 1.0).tolist()
            share = (times, [share_mbps(at) for at in times])
            panels.append(beside(text, row, share, SPAN_S, ("TCP", "newreno")))
        return Drawing(f"Averages over 10 s.{caption}{dr.shown(runs)}", tuple(panels), title=title)

    return draw
