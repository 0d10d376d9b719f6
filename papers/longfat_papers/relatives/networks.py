"""Networks of more than one link, and what is max-min fair on a parking lot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longfat_papers.kit import Checks, Evidence, Measured, Runs, at_most, mean, settings
from longfat_papers.relatives import common as rel
from longfat_papers.relatives.reduction import rows

Link = dict[str, Any]

LONG = "long"
"""The name of the flow that crosses the whole parking lot."""
LOT_MBPS, LOT_RTT_MS = 100, 60
EDGE_MBPS = 1000
LOT_CROSS = (1, 2, 3)
"""Flows that cross each link of the parking lot beside the one that crosses all."""

LOT_SETTINGS = settings(f"""
    parking lot | three links of {LOT_MBPS} Mbit/s; one flow crosses all, {", ".join(map(str, LOT_CROSS))} \
        others cross one each
    round-trip times | {LOT_RTT_MS} ms, all flows
""")


def link(ends: str, mbps: float, delay_ms: float, buffer_ms: float, router: Any = None) -> Link:
    """Returns the table of a link."""
    begin, end = ends.split("-")
    return {
        "name": ends,
        "from": begin,
        "to": end,
        "rate": f"{mbps:g} Mbit/s",
        "delay": f"{delay_ms:g} ms",
        "buffer": f"{buffer_ms:g} ms",
        **({} if router is None else {"router": router}),
    }


def parking_lot(system: str, duration_s: float) -> dict[str, Any]:
    """Returns three links in a row; the links that lead to them are fast and make all paths equally long."""
    hop_ms = 0.5 * LOT_RTT_MS / len(LOT_CROSS)
    inner, router = ("A-B", "B-C", "C-D"), rel.ROUTERS.get(system)
    links = [link(ends, LOT_MBPS, hop_ms, LOT_RTT_MS, router) for ends in inner]
    flows = [rel.flow(system, LONG) | {"from": "A", "to": "D"}]
    for number, (ends, crossing) in enumerate(zip(inner, LOT_CROSS, strict=True), start=1):
        source, (begin, end) = f"X{number}", ends.split("-")
        links.append(link(f"{source}-{begin}", EDGE_MBPS, 0.5 * LOT_RTT_MS - hop_ms, LOT_RTT_MS))
        flows += [
            rel.flow(system, f"{number}-{i + 1}") | {"from": source, "to": end} for i in range(crossing)
        ]
    return rel.scenario(f"{system} on a parking lot", duration_s, link=links, flow=flows)


def max_min(capacities: Sequence[float], routes: Sequence[Sequence[int]], unused: float = 0.0) -> list[float]:
    """Returns the max-min fair rates of flows by filling the links.

    Args:
        capacities: of the links.
        routes: the links of each flow, by their positions.
        unused: flows that share each link with the others and use nothing; CADPC leaves the share of one.
    """
    rates: dict[int, float] = {}
    while len(rates) < len(routes):
        levels = []
        for link, capacity in enumerate(capacities):
            users = [i for i, route in enumerate(routes) if link in route]
            if waiting := [i for i in users if i not in rates]:
                left = capacity - sum(rates.get(i, 0.0) for i in users)
                levels.append((left / (len(waiting) + unused), waiting))
        level, waiting = min(levels, key=lambda found: found[0])
        rates |= dict.fromkeys(waiting, level)
    return [rates[i] for i in range(len(routes))]


def lot_shares(target: float = 1.0, unused: float = 0.0) -> dict[str, float]:
    """Returns the max-min fair rate of each flow of the parking lot, Mbit/s, by its name."""
    crossing = [(link, i) for link, number in enumerate(LOT_CROSS) for i in range(number)]
    routes = [tuple(range(len(LOT_CROSS))), *((link,) for link, _ in crossing)]
    rates = max_min([target * LOT_MBPS] * len(LOT_CROSS), routes, unused)
    return dict(zip((LONG, *(f"{link + 1}-{i + 1}" for link, i in crossing)), rates, strict=True))


def max_min_fair(system: str, runs: Runs, unused: float = 0.0) -> Checks:
    """MAX-1, ERI-4 and CAD-2: every flow of the parking lot has its max-min fair rate."""
    shares = lot_shares(rel.TARGETS[system], unused)
    kept, found = {}, []
    for prefix in (LONG, *(f"{link + 1}-" for link in range(len(LOT_CROSS)))):
        share = next(rate for name, rate in shares.items() if name.startswith(prefix))
        name = "all links" if prefix == LONG else f"link {prefix[0]} alone"
        rates = [row.rates(prefix) for row in rows(runs, system=system)]
        off = [rel.distance(row, share) for row in rates]
        yield at_most(f"{name}: distance from {share:.1f} Mbit/s", mean(off), rel.SHARE_WITHIN)
        kept[name] = [mean(mean(row) for row in rates), share]
        found.append(off)
    label = "greatest distance from a max-min fair rate"
    text = ", ".join(f"{name} {rate:.1f} of {share:.1f}" for name, (rate, share) in kept.items())
    return Evidence(f"{text} Mbit/s", kept, figure=Measured.mean(label, max(found, key=mean)))
