"""Queue and utilization over the size of the buffer (Fig. 6)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from longfat_papers.kit import (
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    above,
    at_least,
    at_most,
    below,
    listed,
    percent,
    repeats,
)
from longfat_papers.yeah2007 import common as yh

RTT_MS = 80
SMALL_BUFFER_SHARE = 0.9
"""Share of its utilization that a loss-based protocol keeps at most."""
RENO_BELOW_BDP = 0.98
"""Greatest utilization of Reno below a BDP."""


@yh.over(
    "F6",
    "Fig. 6",
    "Size of the buffer",
    queue_percent={"quick": (5, 20, 100), "full": (2, 5, 10, 20, 30, 50, 75, 100)},
)
def over_buffers(mode: Mode, algorithm: str, queue_percent: int, repeat: int) -> dict[str, Any]:
    flows = [(algorithm, RTT_MS)] * 2
    return yh.scenario(flows, yh.DURATION_S[mode], queue_percent=queue_percent, sample=yh.QUEUE_SAMPLE)


@over_buffers.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Two like flows, {RTT_MS} ms (BDP {yh.bdp_packets(RTT_MS):.0f} packets).{repeats(runs)} The paper: "
        "YeAH uses the link whatever the buffer, and its queue takes a smaller share of a larger buffer; the "
        "others' shares grow, and loss-based protocols lose goodput at small buffers.",
        (
            yh.panel(runs, "queue_percent", "buffer, % BDP", "queue_share", "Queue"),
            yh.panel(runs, "queue_percent", "buffer, % BDP", "utilization", "Utilization"),
        ),
    )


@over_buffers.claim(
    "F6",
    f"RTT {RTT_MS} ms (BDP 3333), different queues",
    published=(
        "YeAH's utilisation does not fall with small queues and its normalised queue falls as the queue "
        "grows; loss-based protocols lose goodput at small queues, Reno below a BDP"
    ),
    estimator=yh.QUEUE_SAMPLED,
    bounds="Buffers are in % BDP. " + yh.CHOSEN,
)
def yeah_needs_no_buffer(runs: Runs) -> Checks:
    share, used = (yh.means(runs, "queue_percent", quantity) for quantity in ("queue_share", "utilization"))
    buffers = list(share["yeah"])
    least, most = buffers[0], buffers[-1]
    than = f"{percent(yh.FULL)} % of that at one BDP"
    checks = [
        at_least(
            f"{buffer} %: YeAH's utilization", used["yeah"][buffer], yh.FULL * used["yeah"][most], than=than
        )
        for buffer in buffers[:-1]
    ]
    for small, large in pairwise(buffers):
        text, than = f"YeAH's queue / buffer at {large} %", f"that at {small} %"
        checks.append(below(text, share["yeah"][large], share["yeah"][small], than=than))
    for name, row in share.items():
        if name != "yeah":
            text, than = f"{yh.TITLES[name]}: queue / buffer at {most} %", f"that at {least} %"
            checks.append(above(text, row[most], row[least], than=than))
    for name in ("reno", *yh.LOSS_BASED):
        text = f"{yh.TITLES[name]}: utilization at {least} against {most} %"
        bound = SMALL_BUFFER_SHARE * used[name][most]
        than = f"{percent(SMALL_BUFFER_SHARE)} % of the latter"
        checks.append(at_most(text, used[name][least], bound, than=than))
    checks += [
        at_most(f"{buffer} %: Reno's utilization", used["reno"][buffer], RENO_BELOW_BDP)
        for buffer in buffers[:-1]
    ]
    yield from checks
    shares = ", ".join(f"{value:.3f}" for value in share["yeah"].values())
    return Evidence(
        f"{yh.held_text(checks)}; utilization at {least} %: {listed(yh.column(used, least), yh.TITLES)}; "
        f"YeAH's queue / buffer: {shares}",
        {"queue_share": share, "utilization": used},
        figure=Measured(
            f"YeAH's utilization at {least} % over that at {most} %",
            *runs.where(algorithm="yeah").over_repeats(
                lambda rows: (
                    rows.where(queue_percent=least).mean("utilization")
                    / rows.where(queue_percent=most).mean("utilization")
                )
            ),
        ),
    )
