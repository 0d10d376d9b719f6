"""The rules of the claims of chapter 6. `claims` has their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from longfat_papers.kit.checks import above, at_least, at_most, below, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.lopez2008 import bounds
from longfat_papers.lopez2008.reduction import Row, figure, mean, rows
from longfat_papers.lopez2008.settings import (
    FRIENDLY_MBPS,
    FRIENDLY_RTTS_MS,
    FRIENDLY_S,
    JOIN_EVERY_S,
    JOIN_S,
    LEAVE_S,
    SPAN_S,
    STARVED_S,
)

Span = tuple[float, float]


def starved(data: Data) -> Finding:
    """LOP-6a."""
    rest = (19.0, float(STARVED_S))
    picks = (_rate((15.0, 16.0)), _rate(rest), _cwnd(rest))
    (near, near_left, near_cwnd), (fallen, left, cwnd) = (
        [mean(map(pick, rows(data["starved"], rtt_ms=rtt))) for pick in picks] for rtt in FRIENDLY_RTTS_MS
    )
    return Finding(
        (
            at_most("XCP's rate from 15 to 16 s, Mbit/s", fallen, bounds.FALLEN_MBPS),
            at_most("XCP's mean window after 19 s, segments", cwnd, bounds.LEFT_SEGMENTS),
        ),
        f"XCP at {fallen:.1f} Mbit/s by 15 s, then {left:.2f} Mbit/s with a window of {cwnd:.1f}",
        {
            "mbps_at_15": fallen,
            "mbps_after": left,
            "cwnd_after": cwnd,
            "at_20_ms": [near, near_left, near_cwnd],
        },
        f"At 20 ms: {near:.1f} Mbit/s, then {near_left:.2f} with a window of {near_cwnd:.1f}.",
        figure(
            "XCP's rate from 15 to 16 s, Mbit/s",
            map(picks[0], rows(data["starved"], rtt_ms=100)),
            30.0,
            log=True,
        ),
    )


def one_and_two(data: Data) -> Finding:
    """LOP-6b."""
    near, far = (_spans(data["one-two"].where(rtt_ms=rtt, update="packet"), 30.0) for rtt in FRIENDLY_RTTS_MS)
    by_text = [_spans(data["one-two"].where(rtt_ms=rtt, update="interval"), 30.0) for rtt in FRIENDLY_RTTS_MS]
    target = FRIENDLY_MBPS / 3.0
    return Finding(
        (
            at_least(
                "20 ms: least rate of XCP over 10 s, Mbit/s", min(near["xcp"]), bounds.KEPT_SHARE * target
            ),
            at_most(
                "20 ms: greatest rate of TCP over 10 s, Mbit/s",
                max(near["tcp"]),
                2.0 * target * bounds.TCP_SHARE,
            ),
            at_least("100 ms: least rate of XCP over 10 s, Mbit/s", min(far["xcp"]), target),
            below("100 ms: mean rate of TCP, Mbit/s", float(np.mean(far["tcp"])), 2.0 * target),
        ),
        f"from 30 s on, over 10 s: XCP {_range(near['xcp'])} Mbit/s at 20 ms, {_range(far['xcp'])} at 100 "
        f"ms; TCP "
        f"{_range(near['tcp'])} and {_range(far['tcp'])}",
        {"near": near, "far": far, "near_by_text": by_text[0], "far_by_text": by_text[1]},
        f"Updated once a control interval: XCP {_range(by_text[0]['xcp'])} and "
        f"{_range(by_text[1]['xcp'])} Mbit/s.",
        figure(
            "20 ms: XCP's rate from 30 s on, Mbit/s",
            map(_rate((30.0, float(FRIENDLY_S))), rows(data["one-two"], rtt_ms=20, update="packet")),
        ),
    )


def ten_tcp(data: Data) -> Finding:
    """LOP-6c."""
    runs = data["ten-tcp"]
    near, far = (rows(runs, rtt_ms=rtt) for rtt in FRIENDLY_RTTS_MS)
    printed = (
        ("20 ms, 60 to 70 s", near, (60.0, 70.0), 260.0, 740.0),
        ("20 ms, 20 to 30 s", near, (20.0, 30.0), 200.0, 800.0),
        ("100 ms, 50 to 60 s", far, (50.0, 60.0), 350.0, 650.0),
        ("100 ms, 20 to 30 s", far, (20.0, 30.0), 400.0, 600.0),
    )
    checks, texts, values = _as_printed(printed, "xcp", "newreno")
    return Finding(
        tuple(checks),
        "XCP / TCP: " + "; ".join(texts) + " Mbit/s",
        values,
        figure=figure("20 ms, 60 to 70 s: XCP, Mbit/s", map(_rate((60.0, 70.0)), near), printed[0][3]),
    )


def ten_xcp(data: Data) -> Finding:
    """LOP-6d."""
    runs = data["ten-xcp"]
    near, far = (rows(runs, rtt_ms=rtt) for rtt in FRIENDLY_RTTS_MS)
    printed = (
        ("20 ms, 60 to 70 s", near, (60.0, 70.0), 250.0, 750.0),
        ("20 ms, 30 to 50 s", near, (30.0, 50.0), 300.0, 700.0),
        ("100 ms, 60 to 70 s", far, (60.0, 70.0), 100.0, 900.0),
    )
    checks, texts, values = _as_printed(printed, "newreno", "xcp")
    share = FRIENDLY_MBPS * 3.0 / 13.0
    tcp = mean(row.rate_mbps((60.0, 70.0), "newreno") for row in far)
    two = mean(row.rate_mbps((30.0, 50.0), "newreno") for row in near)
    checks += [
        above("20 ms, 30 to 50 s: TCP above its share, Mbit/s", two, FRIENDLY_MBPS * 2.0 / 12.0),
        below("100 ms, 60 to 70 s: TCP below its share, Mbit/s", tcp, share),
    ]
    return Finding(
        tuple(checks),
        "TCP / XCP: " + "; ".join(texts) + " Mbit/s",
        values,
        figure=figure(
            "20 ms, 60 to 70 s: TCP, Mbit/s",
            (row.rate_mbps((60.0, 70.0), "newreno") for row in near),
            printed[0][3],
        ),
    )


def half(data: Data) -> Finding:
    """LOP-6e."""
    runs = data["half"]
    apart = {}
    for rtt in FRIENDLY_RTTS_MS:
        every, second = (
            [
                mean(row.rate_mbps(span, "newreno") for row in rows(runs, rtt_ms=rtt, inspect=share))
                for span in _both_present()
            ]
            for share in (1.0, 0.5)
        )
        apart[rtt] = float(np.mean(np.abs(np.subtract(every, second))))
    return Finding(
        tuple(
            at_most(f"{rtt} ms: TCP's mean distance over 10 s, Mbit/s", value, bounds.SAME_MBPS)
            for rtt, value in apart.items()
        ),
        "mean distance of TCP's 10 s averages from those with all inspected: "
        + ", ".join(f"{value:.0f} Mbit/s at {rtt} ms" for rtt, value in apart.items()),
        {"apart_mbps": {str(rtt): value for rtt, value in apart.items()}},
        figure=Measured("20 ms: TCP's mean distance over 10 s, Mbit/s", apart[20]),
    )


def _rate(span: Span) -> Callable[[Row], float]:
    return lambda row: row.rate_mbps(span, "xcp")


def _cwnd(span: Span) -> Callable[[Row], float]:
    return lambda row: row.cwnd(span, "xcp")


def _spans(runs: Runs, from_s: float) -> dict[str, list[float]]:
    """Returns the rates of XCP and of TCP over every 10 s after a time, means over repeats."""
    spans = [(at, at + SPAN_S) for at in np.arange(from_s, FRIENDLY_S, SPAN_S)]
    found = [Row(row) for row in runs]
    return {
        "xcp": [mean(row.rate_mbps(span, "xcp") for row in found) for span in spans],
        "tcp": [mean(row.rate_mbps(span, "newreno") for row in found) for span in spans],
    }


def _both_present() -> list[Span]:
    """Returns the spans of 10 s in which flows of both kinds run."""
    end = LEAVE_S + 2 * JOIN_EVERY_S
    return [(float(at), float(at + SPAN_S)) for at in range(JOIN_S, end, SPAN_S)]


def _as_printed(
    printed: Iterable[tuple[str, Sequence[Row], Span, float, float]], few: str, many: str
) -> tuple[list[Check], list[str], dict[str, list[float]]]:
    checks, texts, values = [], [], {}
    for case, found, span, of_few, of_many in printed:
        rates = [mean(row.rate_mbps(span, name) for row in found) for name in (few, many)]
        checks += [
            within_factor(f"{case}: {label}, Mbit/s", rate, number, bounds.FIGURE_FACTOR)
            for label, rate, number in zip(("the three", "the ten"), rates, (of_few, of_many), strict=True)
        ]
        texts.append(f"{case} {rates[0]:.0f} / {rates[1]:.0f}")
        values[case] = rates
    return checks, texts, values


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.0f} to {max(values):.0f}"
