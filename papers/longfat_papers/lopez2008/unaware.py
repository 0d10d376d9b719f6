"""A bottleneck that does not speak XCP (Fig. 4.2; LOP-4a)."""

from __future__ import annotations

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, mean, percent
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008 import networks as nw
from longfat_papers.lopez2008.reduction import rows

CASES = {
    "a": ("(a) TCP, drop-tail", "newreno", None, None),
    "b": ("(b) XCP routers", "xcp", lp.XCP_ROUTER, lp.XCP_ROUTER),
    "c": ("(c) XCP, drop-tail bottleneck", "xcp", None, lp.XCP_ROUTER),
}
"""Title, protocol, and the routers of the bottleneck and of the other links."""
MEGABYTES = {"a": 215.0, "b": 223.8, "c": 52.4}
"""As the thesis prints them."""
FACTOR, UNSTABLE_FACTOR, UNSTABLE_LOSS = 1.05, 1.5, 0.01


@lp.experiment("bottleneck", "Fig. 4.2", "A bottleneck without XCP", mbps=30, case=tuple(CASES))
def with_and_without_xcp(case: str, repeat: int) -> lp.Document:
    _, protocol, bottleneck, others = CASES[case]
    flows = [nw.between(protocol, protocol, "S", "R")]
    return nw.network(f"fig. 4.1({case})", nw.line(bottleneck, others), 4, flows, nw.BOTTLENECK_S)


@with_and_without_xcp.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for case, (title, *_) in CASES.items():
        row = dr.first(runs, case=case)
        panels.append(dr.rates(title, (dr.history("rate", row, bin_s=0.5),), 60.0, 35.0))
        panels.append(dr.windows(f"{title}: window", (dr.cwnd(row),), (0.0, 60.0)))
    return Drawing(
        f"Other links 80 Mbit/s, 100 ms.{dr.shown(runs)} The thesis: 215.0, 223.8 and 52.4 MB in 60 s.",
        tuple(panels),
        title="A bottleneck of 30 Mbit/s, with and without XCP",
    )


@with_and_without_xcp.claim(
    "4a",
    "30 Mbit/s bottleneck, other links 80, 60 s: TCP on drop-tail, XCP on XCP routers, XCP with a drop-tail "
    "bottleneck",
    "215.0 / 223.8 / 52.4 MB; the third one unstable with heavy loss",
    settings=nw.SETTINGS[:2],
    values={"tcp_mb": 215.004, "xcp_mb": 223.808, "plain_mb": 52.426},
    bounds=f"The MB are those that arrive. {percent(FACTOR - 1.0)} % and the third's bounds are chosen here.",
)
def unstable_without_an_xcp_router(runs: Runs) -> Checks:
    arrived = {case: [sum(row.each("megabytes")) for row in rows(runs, case=case)] for case in CASES}
    means = {case: mean(found) for case, found in arrived.items()}
    loss = runs.where(case="c").mean("lost_ratio")
    third = "XCP with a drop-tail bottleneck, MB"
    yield ck.within_factor("TCP, MB", means["a"], MEGABYTES["a"], FACTOR)
    yield ck.within_factor("XCP on XCP routers, MB", means["b"], MEGABYTES["b"], FACTOR)
    yield ck.within_factor(third, means["c"], MEGABYTES["c"], UNSTABLE_FACTOR)
    yield ck.at_least("loss ratio of the third", loss, UNSTABLE_LOSS)
    return Evidence(
        "{:.1f} / {:.1f} / {:.1f} MB; ".format(*means.values())
        + f"the third loses {loss:.3f} of its packets",
        {"megabytes": means, "loss_ratio": loss},
        figure=Measured.mean(third, arrived["c"], MEGABYTES["c"], log=True),
    )
