"""The rules of the claims about SABUL, RBUDP and Tsunami. `claims` has their texts."""

from __future__ import annotations

import math
from collections.abc import Callable

from longfat.runs import metrics
from longfat.units import PACKET_BITS
from longfat_papers.kit.checks import above, at_least, at_most, below, within_factor
from longfat_papers.kit.claims import Finding
from longfat_papers.kit.suite import Data
from longfat_papers.relatives import bounds
from longfat_papers.relatives.reduction import figure_of, mean, rows
from longfat_papers.relatives.settings import (
    BESIDE_FROM_S,
    DELAYS_S,
    FAST_LOSS,
    FAST_MBPS,
    FAST_RTT_MS,
)

Rule = Callable[[Data], Finding]


def filled(system: str) -> Rule:
    """SAB-1, RBU-1 and TSU-1: the transfer takes most of a link with random losses."""

    def find(data: Data) -> Finding:
        runs = data["fast"].where(system=system)
        size = max(runs.distinct("gigabytes"))
        shares = [row.row["goodputs_mbps"][0] / FAST_MBPS for row in rows(runs, gigabytes=size)]
        tcp = mean(row.row["goodputs_mbps"][0] for row in rows(data["fast"], system="reno"))
        share = mean(shares)
        return Finding(
            (at_least("goodput over the link's rate", share, bounds.FILLED),),
            f"{size:g} GB at {share * FAST_MBPS:.0f} Mbit/s (TCP SACK: {tcp:.1f})",
            {"share": share, "tcp_mbps": tcp},
            figure=figure_of("goodput over the link's rate", shares),
        )

    return find


def predicted_mbps(gigabytes: float, payload: float) -> float:
    """Returns the goodput of RBUDP's phases: blasts of what is still missing, each answered after an RTT.

    Args:
        gigabytes: of payload.
        payload: of a packet, as a share of its bytes.
    """
    bits = 8e9 * gigabytes
    packets = bits / (payload * PACKET_BITS)
    blasts, missing, sent = 0, packets, 0.0
    while missing >= 0.5:
        blasts, sent, missing = blasts + 1, sent + missing, missing * FAST_LOSS
    return 1e-6 * bits / (sent * PACKET_BITS / (1e6 * FAST_MBPS) + blasts * 1e-3 * FAST_RTT_MS)


def predicted(data: Data) -> Finding:
    """RBU-2."""
    runs = data["fast"].where(system="rbudp")
    found = {
        size: [row.row["goodputs_mbps"][0] for row in rows(runs, gigabytes=size)]
        for size in runs.distinct("gigabytes")
    }
    expected = {size: predicted_mbps(size, 1448.0 / 1500.0) for size in found}
    worst = max(found, key=lambda size: abs(math.log(max(mean(found[size]), 1e-9) / expected[size])))
    return Finding(
        tuple(
            within_factor(
                f"{size:g} GB: goodput, Mbit/s,", mean(rates), expected[size], bounds.PREDICTED_FACTOR
            )
            for size, rates in found.items()
        ),
        ", ".join(
            f"{size:g} GB at {mean(rates):.0f} of {expected[size]:.0f} Mbit/s"
            for size, rates in found.items()
        ),
        {f"{size:g}": [mean(rates), expected[size]] for size, rates in found.items()},
        figure=figure_of(
            "goodput over the prediction, farthest from 1",
            [rate / expected[worst] for rate in found[worst]],
            1.0,
        ),
    )


def unbiased(data: Data) -> Finding:
    """SAB-2."""
    ratios = {
        system: [
            metrics.throughput_ratio(row.rates_mbps((0.5 * DELAYS_S, DELAYS_S)))
            for row in rows(data["delays"], system=system)
        ]
        for system in ("sabul", "reno")
    }
    ratio, tcp = (mean(ratios[system]) for system in ("sabul", "reno"))
    return Finding(
        (
            at_least("lesser over greater rate", ratio, bounds.DELAY_RATIO),
            above("lesser over greater rate, SABUL's less TCP's", ratio - tcp, 0.0),
        ),
        f"lesser over greater rate: SABUL {ratio:.2f}, TCP {tcp:.2f}",
        {"sabul": ratio, "reno": tcp},
        figure=figure_of("SABUL: lesser over greater rate", ratios["sabul"]),
    )


def _beside(data: Data, system: str) -> list[float]:
    """Returns TCP's rate over its fair share beside a flow of another system."""
    at = rows(data["beside"], system=system)
    return [row.rate_mbps((BESIDE_FROM_S, row.end_s()), "tcp") / (0.5 * FAST_MBPS) for row in at]


def spares_tcp(data: Data) -> Finding:
    """SAB-3."""
    shares, tcp = _beside(data, "sabul"), mean(_beside(data, "reno"))
    return Finding(
        (at_least("TCP over its fair share", mean(shares), bounds.HARMED_SHARE),),
        f"TCP gets {mean(shares):.2f} of its fair share (beside another TCP {tcp:.2f})",
        {"share": mean(shares), "beside_tcp": tcp},
        figure=figure_of("TCP over its fair share", shares),
    )


def starves_tcp(system: str) -> Rule:
    """RBU-3 and TSU-3: what a blast does to TCP."""

    def find(data: Data) -> Finding:
        shares, tcp = _beside(data, system), mean(_beside(data, "reno"))
        return Finding(
            (below("TCP over its fair share", mean(shares), bounds.HARMED_SHARE),),
            f"TCP gets {mean(shares):.3f} of its fair share (beside another TCP {tcp:.2f})",
            {"share": mean(shares), "beside_tcp": tcp},
            figure=figure_of("TCP over its fair share", shares),
        )

    return find


def demonstrated(data: Data) -> Finding:
    """TSU-2."""
    found = {
        system: [row.row["goodputs_mbps"][0] for row in rows(data["lossy"], system=system)]
        for system in ("tsunami", "reno")
    }
    tsunami, tcp = mean(found["tsunami"]), mean(found["reno"])
    return Finding(
        (
            at_least("Tsunami: goodput, Mbit/s,", tsunami, bounds.DEMONSTRATED_MBPS),
            at_most("TCP: goodput, Mbit/s,", tcp, bounds.TCP_MBPS),
        ),
        f"Tsunami {tsunami:.0f}, TCP SACK {tcp:.2f} Mbit/s",
        {"tsunami": tsunami, "reno": tcp},
        figure=figure_of("Tsunami: goodput, Mbit/s", found["tsunami"], bounds.DEMONSTRATED_MBPS),
    )
