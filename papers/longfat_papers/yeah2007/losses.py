"""Utilization under random loss, over the RTT (Fig. 4) and over the loss (Fig. 5)."""

from __future__ import annotations

from typing import Any

from longfat_papers.kit import (
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    at_least,
    at_most,
    below,
    part,
    percent,
    repeats,
)
from longfat_papers.yeah2007 import common as yh

NEAR_EXTREME = 0.01
"""F5: distance from the lowest and the highest utilization."""
HIGH_LOSS_SHARE = 0.5
"""F5: share of its utilization that YeAH keeps at most."""

LOSS = 5e-7
RTT_MS = 200
LOW_LOSS = 1e-5
"""Fig. 5: up to this loss YeAH is the best."""


@yh.over(
    "F4",
    "Fig. 4",
    "Utilization and RTT under random loss",
    rtt_ms={"quick": (60, 240), "full": yh.RTTS_MS["full"]},
)
def over_rtts(mode: Mode, algorithm: str, rtt_ms: int, repeat: int) -> dict[str, Any]:
    flows = [(algorithm, rtt_ms)] * 2
    return yh.scenario(flows, yh.DURATION_S[mode], loss=LOSS, sample=yh.QUEUE_SAMPLE)


@over_rtts.drawing
def over_rtts_drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Two like flows, buffer of one BDP, a loss probability of {LOSS:g}.{repeats(runs)} The paper: YeAH "
        "fills the link at every RTT; Africa and Compound lose more, Reno most.",
        (yh.panel(runs, "rtt_ms", yh.RTT_AXIS, "utilization"),),
        columns=1,
        title="Utilization over the RTT under random loss",
    )


@over_rtts.claim(
    "F4",
    f"random loss {LOSS:g}, RTT 15..480 ms",
    published=(
        "YeAH fills the link at every RTT; Africa and Compound lose more than the other new protocols; Reno "
        "is worst"
    ),
    also=("F3",),
    bounds=(
        "Limited slow-start bounds the utilization on long paths, also without loss. The other new ones are "
        f"H-TCP, CUBIC, HSTCP and YeAH. {percent(yh.FULL)} % chosen here."
    ),
)
def yeah_fills_a_lossy_link(runs: Runs, clean: Runs) -> Checks:
    used = yh.means(runs, "rtt_ms", "utilization")
    reached = clean.where(algorithm="yeah").means("rtt_ms", "utilization")
    than = f"{percent(yh.FULL)} % of that without loss"
    checks = [
        at_least(f"{rtt} ms: YeAH's utilization", value, yh.FULL * reached[rtt], than=than)
        for rtt, value in used["yeah"].items()
    ]
    long = [rtt for rtt in used["reno"] if rtt > yh.FILLED_UP_TO_MS]
    orders = [(name, "the other new ones", (*yh.HYBRID, "reno")) for name in yh.HYBRID]
    for name, than, worse in (*orders, ("reno", "all", ("reno",))):
        for rtt in long:
            best = min(yh.others(yh.column(used, rtt), *worse))
            checks.append(below(f"{rtt} ms: {yh.TITLES[name]}", used[name][rtt], best, than=than))
    yield from checks
    return Evidence(
        f"{yh.held_text(checks)}; utilization: {yh.spans(used)}",
        {"utilization": used, "yeah_without_loss": reached},
        figure=Measured(
            "YeAH's least utilization over that without loss",
            *runs.where(algorithm="yeah").over_repeats(
                lambda rows: min(
                    rows.where(rtt_ms=rtt).mean("utilization") / reached[rtt] for rtt in used["yeah"]
                )
            ),
        ),
    )


@yh.over(
    "F5",
    "Fig. 5",
    "Utilization and random loss",
    loss={"quick": (1e-7, 1e-6, 1e-5, 1e-4), "full": (1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)},
)
def over_losses(mode: Mode, algorithm: str, loss: float, repeat: int) -> dict[str, Any]:
    return yh.scenario([(algorithm, RTT_MS)] * 2, yh.DURATION_S[mode], loss=loss)


@over_losses.drawing
def over_losses_drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Two like flows, {RTT_MS} ms, buffer of one BDP ({yh.bdp_packets(RTT_MS):.0f} packets)."
        f"{repeats(runs)} The paper: Reno lowest, YeAH highest until the loss is very high.",
        (yh.panel(runs, "loss", "loss probability", "utilization", x_log=True),),
        columns=1,
        title="Utilization over the random loss",
    )


@over_losses.claim(
    "F5",
    f"RTT {RTT_MS} ms, random loss 1e-8..1e-4",
    published="Reno is worst, YeAH best until the loss is very high",
    bounds=yh.CHOSEN,
)
def yeah_is_best_until_the_loss_is_high(runs: Runs) -> Checks:
    used = yh.means(runs, "loss", "utilization")
    losses = [loss for loss in used["reno"] if loss <= LOW_LOSS]
    near = f"{percent(1.0 + NEAR_EXTREME)} % of the lowest utilization"
    top = f"{percent(1.0 - NEAR_EXTREME)} % of the highest utilization"
    checks = []
    for loss in losses:
        at, words = yh.column(used, loss), f"loss {loss:g}"
        worst, best = (1.0 + NEAR_EXTREME) * min(at.values()), (1.0 - NEAR_EXTREME) * max(at.values())
        checks += [
            at_most(f"{words}: Reno", at["reno"], worst, than=near),
            at_least(f"{words}: YeAH", at["yeah"], best, than=top),
        ]
    high, low = max(used["yeah"]), min(used["yeah"])
    text, most = f"YeAH at {high:g} against {low:g}", HIGH_LOSS_SHARE * used["yeah"][low]
    than = f"{part(HIGH_LOSS_SHARE)} of the latter"
    checks.append(at_most(text, used["yeah"][high], most, than=than))
    yield from checks
    return Evidence(
        f"{yh.held_text(checks)}; utilization: {yh.spans(used)}",
        {"utilization": used},
        figure=Measured(
            f"YeAH's utilization over the best, least up to a loss of {LOW_LOSS:g}",
            *runs.over_repeats(lambda rows: min(_over_best(rows, loss) for loss in losses)),
        ),
    )


def _over_best(runs: Runs, loss: float) -> float:
    """Returns YeAH's utilization at a loss over the best one there."""
    used = runs.where(loss=loss).means("algorithm", "utilization")
    return used["yeah"] / max(used.values())
