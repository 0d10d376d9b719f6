"""Figures of chapter 6 as data: XCP beside TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from longfat.figure.data import Figure, Panel
from longfat.words import Mode
from longfat_papers.kit.suite import Runs
from longfat_papers.lopez2008.figures import TIME_AXIS, cwnd_curve, dashed, first, history, rates, shown
from longfat_papers.lopez2008.settings import FRIENDLY_MBPS, FRIENDLY_RTTS_MS, SPAN_S

Case = tuple[str, Mapping[str, Any]]


def starved(runs: Runs, mode: Mode) -> Figure:
    """Fig. 6.2."""
    panels = []
    for rtt in FRIENDLY_RTTS_MS:
        row = first(runs, rtt_ms=rtt)
        windows = [cwnd_curve(row, name, number, number) for number, name in enumerate(row.names)]
        panels.append(Panel(f"{rtt} ms: window", TIME_AXIS, "cwnd, segments", tuple(windows)))
        curves = [history(name, row, name, number) for number, name in enumerate(row.names)]
        panels.append(rates(f"{rtt} ms: rate", curves, float(row.edges_s()[-1]), FRIENDLY_MBPS))
    return Figure(
        "starved",
        "Fig. 6.2",
        "XCP beside TCP on an XCP router",
        "1 Gbit/s, 5000 packets; two TCP flows from 10 s on."
        + shown(runs)
        + " The thesis: XCP falls to one packet.",
        tuple(panels),
    )


def one_and_two(runs: Runs, mode: Mode) -> Figure:
    """Fig. 6.3."""
    return _spans(
        "one-two",
        "Fig. 6.3",
        "One XCP flow, two TCP flows from 10 s on",
        [
            (f"{rtt} ms, update: {update}", {"rtt_ms": rtt, "update": update})
            for update in ("packet", "interval")
            for rtt in FRIENDLY_RTTS_MS
        ],
        runs,
        lambda at: FRIENDLY_MBPS / 3.0 if at >= 10.0 else FRIENDLY_MBPS,
        "The drop probability changes with each TCP packet, or once in a control interval as the text says.",
    )


def ten_tcp(runs: Runs, mode: Mode) -> Figure:
    """Fig. 6.4."""
    return _spans(
        "ten-tcp",
        "Fig. 6.4",
        "Three XCP flows join ten TCP flows, and leave",
        [(f"{rtt} ms", {"rtt_ms": rtt}) for rtt in FRIENDLY_RTTS_MS],
        runs,
        lambda at: FRIENDLY_MBPS * _guests(at) / (10.0 + _guests(at)),
        "",
    )


def ten_xcp(runs: Runs, mode: Mode) -> Figure:
    """Fig. 6.5."""
    return _spans(
        "ten-xcp",
        "Fig. 6.5",
        "Three TCP flows join ten XCP flows, and leave",
        [(f"{rtt} ms", {"rtt_ms": rtt}) for rtt in FRIENDLY_RTTS_MS],
        runs,
        _ten_of_xcp,
        "",
    )


def half(runs: Runs, mode: Mode) -> Figure:
    """Fig. 6.6, and Fig. 6.5 for comparison."""
    return _spans(
        "half",
        "Fig. 6.6",
        "Half of the packets inspected",
        [
            (f"{rtt} ms, {'half' if share == 0.5 else 'all'}", {"rtt_ms": rtt, "inspect": share})
            for share in (0.5, 1.0)
            for rtt in FRIENDLY_RTTS_MS
        ],
        runs,
        _ten_of_xcp,
        "",
    )


def _guests(at: float) -> int:
    """Returns how many of the three flows run at a time."""
    return sum(10.0 + 20.0 * number <= at < 70.0 + 20.0 * number for number in range(3))


def _ten_of_xcp(at: float) -> float:
    return FRIENDLY_MBPS * 10.0 / (10.0 + _guests(at))


def _spans(
    name: str,
    mirrors: str,
    title: str,
    cases: Sequence[Case],
    runs: Runs,
    target: Callable[[float], float],
    caption: str,
) -> Figure:
    """Draws averages over 10 s of XCP and TCP, as in chapter 6, with XCP's target."""
    panels = []
    for text, coordinates in cases:
        row = first(runs, **coordinates)
        end = float(row.edges_s()[-1])
        times = np.arange(0.0, end, 1.0)
        panels.append(
            rates(
                text,
                (
                    dashed("XCP's fair share", times.tolist(), [target(at) for at in times.tolist()]),
                    history("XCP", row, "xcp", 0, SPAN_S),
                    history("TCP", row, "newreno", 1, SPAN_S),
                ),
                end,
                FRIENDLY_MBPS,
            )
        )
    return Figure(name, mirrors, title, f"Averages over 10 s. {caption}".strip() + shown(runs), tuple(panels))
