"""Levels of congestion (AQM-11): RFC 7928, sections 8.2.1 to 8.2.4."""

from __future__ import annotations

from typing import Any

from longfat.figure.data import theory
from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import DELAY_AXIS, DROPS_AXIS, SETTING, SIGNALS, for_each_queue
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.curves import mean_of, repeats
from longfat_papers.kit.means import mean_factor


@aq.PAPER.experiment(
    "levels",
    "RFC 7928, 8.2.1 to 8.2.4",
    "Levels of congestion",
    grid={"level": tuple(aq.LEVELS), **aq.COMPARED},
)
def like_flows(mode: Mode, **at: Any) -> aq.Table | None:
    return aq.scenario(mode, at, [aq.SACK | {"count": aq.flows_of(at["level"])}])


@like_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    counts = {level: float(aq.flows_of(level)) for level in aq.LEVELS}
    projected = theory("projected, drop-tail", list(counts.values()), list(map(aq.projected_drops, counts)))
    return Drawing(
        "Like flows, as many as mild, medium and heavy congestion take: "
        + ", ".join(f"{count:.0f}" for count in counts.values())
        + f". {SETTING} The projection is 0.76 N^2 / S^2. Without drops there is no point."
        + repeats(runs),
        tuple(
            Panel(
                title,
                "flows",
                label,
                (*for_each_queue(runs.where(signal=signal), "level", counts, mean_of(key)), *extra),
                y_log=log,
            )
            for key, label, log, extra in (
                ("wait_ms", DELAY_AXIS, False, ()),
                ("drop_ratio", DROPS_AXIS, True, (projected,)),
            )
            for signal, title in SIGNALS.items()
        ),
    )


@like_flows.claim(
    "11",
    "as many like flows as define mild, medium and heavy congestion",
    "prints no result; projects drop-tail's drop rate as 0.76 N^2 / S^2, around .1, .5 and 1 %, to "
    "define the levels (8.2.1 to 8.2.4)",
    paper=aq.GUIDELINES,
    settings=(
        Setting(
            "flows",
            ", ".join(str(aq.flows_of(level)) for level in aq.LEVELS)
            + ": .036, .081 and .114 for each packet of BDP and buffer",
            f"8.2.2 to 8.2.4 ({aq.DRAFT_13})",
        ),
    ),
    bounds="The values are reported, without a verdict: the RFC uses the loss rate to define the levels and "
    "does not stipulate that a level estimates the loss rate in other circumstances (8.2.1). The "
    "projection stands beside drop-tail's drop ratio.",
    note="A first form of this entry judged whether the projection holds within a factor 2; it does not.",
    reports=True,
)
def drops_and_their_projection(runs: Runs) -> Checks:
    by_level = {
        level: aq.means(runs, ("wait_ms", "drop_ratio"), signal=aq.DROPS, level=level) for level in aq.LEVELS
    }
    values = {name: {level: rows[name] for level, rows in by_level.items()} for name in aq.TITLES}
    drops = {level: ratio for level, (_, ratio) in values[aq.DROP_TAIL].items()}
    told = ", ".join(
        f"{level} ({aq.flows_of(level)} flows) {100.0 * ratio:.2g} %, "
        f"projected {100.0 * aq.projected_drops(level):.2g} %"
        for level, ratio in drops.items()
    )
    seen = ", ".join(
        f"{aq.TITLES[name]} {' / '.join(f'{ms:.1f} ms {ratio:.2g}' for ms, ratio in row.values())}"
        for name, row in values.items()
    )
    yield from ()
    return Evidence(
        f"drops of drop-tail, and the projection: {told}",
        values,
        f"Delay and drops at the levels: {seen}.",
        Measured(
            "factor between measured and projected drops of drop-tail, mean over levels",
            mean_factor(ratio / aq.projected_drops(level) for level, ratio in drops.items()),
            published=1.0,
            log=True,
        ),
    )
