"""Both forms of XCP-r, and XCP, with RTTs that differ from the router's mean (5.3; LOP-5f)."""

from __future__ import annotations

from collections.abc import Iterable

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, mean, settings
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008.reduction import Row, dropped, rows

PROTOCOLS = ("xcp", "xcp-r", "xcp-r-first")
MBPS, BUFFER = 100, 1000
MIRROR_WITHIN, FIRST_OFF = 0.05, 0.2
"""Shares of XCP's rate."""


@lp.experiment("formula", "5.3", "Both formulas of XCP-r", protocol=PROTOCOLS)
def two_rtts(protocol: str, repeat: int) -> lp.Document:
    flows = [lp.flow(protocol, f"{protocol}-{rtt}", rtt) for rtt in lp.FORMULA_RTTS_MS]
    end_s = lp.FORMULA_SPAN_S[1]
    return lp.dumbbell(f"two RTTs, {protocol}", MBPS, BUFFER, flows, end_s, router=lp.XCP_ROUTER)


@two_rtts.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for name in PROTOCOLS:
        row = dr.first(runs, protocol=name)
        curves = dr.each(row, lambda flow: f"{flow.rsplit('-', 1)[1]} ms")
        panels.append(dr.rates(lp.TITLES[name], curves, row.end_s))
    return Drawing(
        f"100 Mbit/s, no losses of ACKs.{dr.shown(runs)} The thesis: the first formula gives a wrong window.",
        tuple(panels),
        columns=3,
        title="Both formulas of XCP-r with different RTTs",
    )


@two_rtts.claim(
    "5f",
    "first XCP-r formula against the mirror window (5.3), RTTs that differ from the router's mean",
    "the first gives a wrong window",
    settings=settings("flows | two, 40 and 160 ms, 100 Mbit/s, 1000 packets, no loss of ACKs"),
    bounds=f"Distances are shares of XCP's rate from {lp.FORMULA_SPAN_S[0]:g} s on; the flow with the "
    f"greater one counts. {MIRROR_WITHIN:g} and {FIRST_OFF:g} are chosen here.",
)
def only_the_first_formula_is_off(runs: Runs) -> Checks:
    each = {name: [_rates(row, name) for row in rows(runs, protocol=name)] for name in PROTOCOLS}
    rate = {name: [mean(flow) for flow in zip(*found, strict=True)] for name, found in each.items()}

    def apart(rates: Iterable[float]) -> float:
        return max(abs(mbps / xcp - 1.0) for mbps, xcp in zip(rates, rate["xcp"], strict=True))

    lost = dropped(runs.where(protocol="xcp-r-first"))
    wrong = max(apart(rate["xcp-r-first"]), 1.0 if lost else 0.0)
    yield ck.at_most("the mirror's greatest distance from XCP's rates", apart(rate["xcp-r"]), MIRROR_WITHIN)
    yield ck.at_least("the first formula's distance (1 if packets are dropped)", wrong, FIRST_OFF)
    texts = (f"{lp.TITLES[name]} {' / '.join(f'{mbps:.1f}' for mbps in rate[name])} Mbit/s" for name in rate)
    return Evidence(
        "; ".join(texts) + f"; the first formula's drops: {lost:.0f}",
        {"mbps": rate, "first_dropped": lost},
        figure=Measured.mean(
            "the first formula's distance from XCP's rates", map(apart, each["xcp-r-first"])
        ),
    )


def _rates(row: Row, protocol: str) -> list[float]:
    return [row.rate_mbps(lp.FORMULA_SPAN_S, f"{protocol}-{rtt}") for rtt in lp.FORMULA_RTTS_MS]
