"""The rules of the claims of chapter 5. `claims` has their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit.checks import above, at_least, at_most, below, between, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.suite import Data
from longfat_papers.lopez2008 import bounds
from longfat_papers.lopez2008.reduction import Row, figure, filled, mean, rows
from longfat_papers.lopez2008.rules import around, dropped
from longfat_papers.lopez2008.settings import (
    ACKS_FALLS_S,
    ACKS_S,
    AFTER_FALL_S,
    FORMULA_FROM_S,
    FORMULA_RTTS_MS,
    FORMULA_S,
    SECOND_FALL_S,
    SILENCE_FROM_S,
    TABLE_5_1,
    TAKEN_OVER_S,
    THREE_CASES,
    THREE_S,
    TITLES,
)


def no_ack_loss(data: Data) -> Finding:
    """LOP-5a."""
    lost, means = _table(data, "xcp", 0.0)
    return Finding(
        (*_losses(lost, TABLE_5_1["xcp", 0.0]), *_spread(means, *bounds.RATES_MBPS["xcp", 0.0])),
        _table_text(lost, means),
        {"lost": lost, "mbps": means},
        figure=_losses_figure(data, "xcp", 0.0),
    )


def ack_loss(data: Data) -> Finding:
    """LOP-5b."""
    lost, means = _table(data, "xcp", 0.1)
    _, without = _table(data, "xcp", 0.0)
    found = rows(data["acks"], protocol="xcp", ack_loss=0.1)
    after = (SECOND_FALL_S, SECOND_FALL_S + TAKEN_OVER_S)
    most = mean(max(_peak(row, index, after) for index in row.among("xcp")) for row in found)
    idle = mean(max(row.idle_s(after, index) for index in row.among("xcp")) for row in found)
    settled = mean(_stable_after(row, SECOND_FALL_S) for row in found)
    fall = f"{SECOND_FALL_S:g} s"
    spread = (means[1] - means[0]) / (without[1] - without[0])
    return Finding(
        (
            *_losses(lost, TABLE_5_1["xcp", 0.1]),
            at_least(
                f"greatest rate of a flow after {fall}, over a second, Mbit/s", most, bounds.TAKES_OVER_MBPS
            ),
            at_least(f"longest silence of a flow after {fall}, s", idle, bounds.SILENT_S),
            between(f"time until shares are even again after {fall}, s", settled, *bounds.EVEN_AGAIN_S),
            above("spread of the mean rates over that without loss", spread, 1.0),
        ),
        f"{_table_text(lost, means)}; after {fall} one flow up to {most:.0f} Mbit/s, another idle for "
        f"{idle:.1f} s, even again after {settled:.1f} s",
        {"lost": lost, "mbps": means, "most_mbps": most, "idle_s": idle, "even_after_s": settled},
        figure=_losses_figure(data, "xcp", 0.1),
    )


def mirrored(data: Data) -> Finding:
    """LOP-5c."""
    lost, means = _table(data, "xcp-r", 0.1)
    unmirrored, _ = _table(data, "xcp", 0.1)
    found = rows(data["acks"], protocol="xcp-r", ack_loss=0.1)
    span = (SILENCE_FROM_S, float(ACKS_S))
    idle = mean(max(row.idle_s(span, index) for index in row.among("xcp-r")) for row in found)
    return Finding(
        (
            *_losses(lost, TABLE_5_1["xcp-r", 0.1]),
            *(
                below(f"lost at {at:g} s, XCP's", lost[number], unmirrored[number])
                for number, at in enumerate(ACKS_FALLS_S)
            ),
            below("longest silence of a flow, s", idle, bounds.NOT_SILENT_S),
            *_spread(means, *bounds.RATES_MBPS["xcp-r", 0.1]),
        ),
        f"{_table_text(lost, means)}; longest silence {idle:.1f} s",
        {"lost": lost, "mbps": means, "idle_s": idle},
        figure=_losses_figure(data, "xcp-r", 0.1),
    )


def three(data: Data) -> Finding:
    """LOP-5d."""
    runs = data["three"]
    counts = {
        (name, loss): mean(sum(row.each("timeouts")) for row in rows(runs, protocol=name, ack_loss=loss))
        for name, loss in THREE_CASES
    }
    idle = {
        name: mean(
            max(row.idle_s((SILENCE_FROM_S, float(THREE_S)), index) for index in row.among())
            for row in rows(runs, protocol=name, ack_loss=0.3)
        )
        for name in ("xcp", "xcp-r")
    }
    return Finding(
        (
            at_least("XCP's timeouts, mean over repeats", counts["xcp", 0.3], bounds.TIMEOUTS),
            at_most("XCP-r's timeouts", counts["xcp-r", 0.3], 0.0),
        ),
        f"timeouts: XCP {counts['xcp', 0.3]:.1f} (without loss of ACKs {counts['xcp', 0.0]:.1f}), XCP-r "
        f"{counts['xcp-r', 0.3]:.1f}; longest silence {idle['xcp']:.1f} and {idle['xcp-r']:.1f} s",
        {"timeouts": {f"{name}, {loss:g}": value for (name, loss), value in counts.items()}, "idle_s": idle},
        figure=figure(
            "XCP's timeouts", (sum(row.each("timeouts")) for row in rows(runs, protocol="xcp", ack_loss=0.3))
        ),
    )


def one(data: Data) -> Finding:
    """LOP-5e."""
    each = [filled(row) for row in rows(data["one"], ack_loss=0.3)]
    lossy, clean = (
        [mean(shares) for shares in zip(*found, strict=True)]
        for found in (each, [filled(row) for row in rows(data["one"], ack_loss=0.0)])
    )
    return Finding(
        (
            between("filled after one RTT", lossy[0], *around(bounds.FILLED[0])),
            between("filled after two RTTs", lossy[1], *around(bounds.FILLED[1])),
            between(
                "filled after one RTT, over that without loss", lossy[0] / clean[0], *around(bounds.FILLED[0])
            ),
            at_least("filled after ten RTTs", lossy[9], bounds.FULL),
        ),
        "filled after 1, 2, 3, 5, 10 RTTs: "
        + ", ".join(f"{lossy[number - 1]:.2f}" for number in (1, 2, 3, 5, 10))
        + "; without loss "
        + ", ".join(f"{clean[number - 1]:.2f}" for number in (1, 2, 3, 5, 10)),
        {"filled": lossy, "filled_without_loss": clean},
        figure=figure("filled after one RTT", (shares[0] for shares in each), bounds.FILLED[0]),
    )


def formula(data: Data) -> Finding:
    """LOP-5f."""
    runs = data["formula"]
    span = (FORMULA_FROM_S, float(FORMULA_S))
    rate = {
        name: [
            mean(row.rate_mbps(span, f"{name}-{rtt}") for row in rows(runs, protocol=name))
            for rtt in FORMULA_RTTS_MS
        ]
        for name in ("xcp", "xcp-r", "xcp-r-first")
    }
    apart = {
        name: max(abs(mbps / xcp - 1.0) for mbps, xcp in zip(rate[name], rate["xcp"], strict=True))
        for name in ("xcp-r", "xcp-r-first")
    }
    lost = dropped(runs.where(protocol="xcp-r-first"))
    wrong = max(apart["xcp-r-first"], 1.0 if lost else 0.0)
    return Finding(
        (
            at_most("the mirror's greatest distance from XCP's rates", apart["xcp-r"], bounds.MIRROR_WITHIN),
            at_least("the first formula's distance (1 if packets are dropped)", wrong, bounds.FIRST_OFF),
        ),
        "; ".join(
            f"{TITLES[name]} " + " / ".join(f"{mbps:.1f}" for mbps in values) + " Mbit/s"
            for name, values in rate.items()
        )
        + f"; the first formula's drops: {lost:.0f}",
        {"mbps": rate, "first_dropped": lost},
        figure=figure(
            "the first formula's distance from XCP's rates",
            (
                max(
                    abs(row.rate_mbps(span, f"xcp-r-first-{rtt}") / xcp - 1.0)
                    for rtt, xcp in zip(FORMULA_RTTS_MS, rate["xcp"], strict=True)
                )
                for row in rows(runs, protocol="xcp-r-first")
            ),
        ),
    )


def _table(data: Data, protocol: str, loss: float) -> tuple[list[float], list[float]]:
    """Returns the packets lost at both falls, and the least and greatest mean rate of a flow."""
    found = rows(data["acks"], protocol=protocol, ack_loss=loss)
    lost = [mean(row.lost((at, at + AFTER_FALL_S)) for row in found) for at in ACKS_FALLS_S]
    means = [mean(pick(row.each("means_mbps")) for row in found) for pick in (min, max)]
    return lost, means


def _losses_figure(data: Data, protocol: str, loss: float) -> Measured:
    """Returns the packets lost after both falls together."""
    found = rows(data["acks"], protocol=protocol, ack_loss=loss)
    return figure(
        "packets lost after both falls",
        (sum(row.lost((at, at + AFTER_FALL_S)) for at in ACKS_FALLS_S) for row in found),
        float(sum(TABLE_5_1[protocol, loss])),
    )


def _losses(lost: Sequence[float], printed: Sequence[float]) -> Iterable[Check]:
    for at, value, number in zip(ACKS_FALLS_S, lost, printed, strict=True):
        yield within_factor(f"packets lost at {at:g} s", value, number, bounds.LOST_FACTOR)


def _spread(means: Sequence[float], least: float, most: float) -> Iterable[Check]:
    ends = ((1.0 - bounds.WIDER) * least, (1.0 + bounds.WIDER) * most)
    yield between("least mean rate of a flow, Mbit/s", means[0], *ends)
    yield between("greatest mean rate of a flow, Mbit/s", means[1], *ends)


def _table_text(lost: Sequence[float], means: Sequence[float]) -> str:
    return f"lost {lost[0]:.0f} and {lost[1]:.0f}; mean rates {means[0]:.1f} to {means[1]:.1f} Mbit/s"


def _peak(row: Row, index: int, span: tuple[float, float]) -> float:
    """Returns a flow's greatest rate over a second."""
    return max(row.rates_mbps((at, at + 1.0))[index] for at in np.arange(span[0], span[1] - 1.0, 0.5))


def _stable_after(row: Row, fall_s: float) -> float:
    """Returns the time after a fall until Jain's index over a second stays fair (for 30 s)."""
    moments = np.arange(fall_s, fall_s + 30.0, 1.0)
    uneven = [at for at in moments if not metrics.jain(row.rates_mbps((at, at + 1.0))) >= bounds.FAIR]
    return float(uneven[-1] + 1.0 - fall_s) if uneven else 0.0
