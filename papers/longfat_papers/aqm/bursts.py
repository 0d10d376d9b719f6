"""Absorption of bursts (AQM-12): RFC 7928, section 7.2."""

from __future__ import annotations

from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import DELAY_AXIS, DROPS_AXIS, SETTING, over_queues
from longfat_papers.aqm.reduction import BULK, PAGE
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting, repeats

PAGE_GAP_S = 5.0
"""Time between two pages: the download before has nearly always ended."""
FRAME_RATE, FRAMES_MBPS, BURST_MBPS = 25, 5.0, 100.0
"""Frames of a video per second, their mean rate, and the rate at which one arrives."""
CASES = {"I": "pages and datagrams", "II": "with a long flow", "III": "with bursty video", "IV": "with both"}
"""The mixes of Figure 2 (7.2), by the coordinate `case`."""


@aq.PAPER.experiment(
    "bursts", "RFC 7928, 7.2", "Absorption of bursts", grid={"case": tuple(CASES), **aq.DROPPING}
)
def bursts(mode: Mode, **at: Any) -> aq.Table | None:
    count = int((aq.DURATION_S[mode] - aq.SETTLE_S) / PAGE_GAP_S)
    gap_ms = 1e3 / FRAME_RATE
    on_ms = gap_ms * FRAMES_MBPS / BURST_MBPS
    video = {
        "name": "onoff",
        "rate": f"{BURST_MBPS:g} Mbit/s",
        "on": f"{on_ms:g} ms",
        "off": f"{gap_ms - on_ms:g} ms",
    }
    flows = [*aq.pages(aq.SETTLE_S + number * PAGE_GAP_S for number in range(count)), aq.DATAGRAMS]
    if at["case"] in ("II", "IV"):
        flows.append(aq.SACK | {"name": BULK})
    if at["case"] in ("III", "IV"):
        flows.insert(0, {"name": "frames", "algorithm": video})
    return aq.scenario(mode, at, flows)


@bursts.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Web pages over six connections beside other traffic. {SETTING} Pages that did not end are left "
        "out. Without drops there is no point." + repeats(runs),
        tuple(
            over_queues(
                label,
                [(f"{case}: {text}", runs.where(case=case), key) for case, text in CASES.items()],
                log=True,
            )
            for key, label in (
                (f"completion_s_{PAGE}", "time of a page, s"),
                ("wait_ms", DELAY_AXIS),
                ("drop_ratio", DROPS_AXIS),
            )
        ),
    )


@bursts.claim(
    "12",
    "web pages and datagrams (I), with a long flow (II), with bursty video (III), with both (IV)",
    "prints no value; delay, goodput and completion times are asked for (7.2)",
    settings=(
        *aq.PAGE_SETTINGS,
        Setting("gap", f"a page every {PAGE_GAP_S:g} s", CHOSEN_HERE + ": a page ends before the next"),
        Setting(
            "video",
            f"{FRAME_RATE} frames/s, {FRAMES_MBPS:g} Mbit/s, each frame at {BURST_MBPS:g} Mbit/s, as "
            "datagrams",
            "7.2 leaves it to the tester; " + CHOSEN_HERE,
        ),
    ),
    estimator=aq.PAGE_TIMES,
    **aq.REPORT,
)
def pages_beside_bursts(runs: Runs) -> Checks:
    keys = (f"completion_s_{PAGE}", "wait_ms", "drop_ratio")
    found = {case: aq.means(runs, keys, case=case) for case in CASES}
    for case, rows in found.items():
        yield from aq.pages_sooner(rows, f"{case}, ")
    told = "; ".join(
        f"{case}: {aq.told(rows, '{:.3g} s, {:.1f} ms, {:.2g}')}" for case, rows in found.items()
    )
    return Evidence(
        f"time of a page, delay, drops: {told}",
        found,
        figure=Measured(
            "time of a page behind drop-tail in case IV, s", found["IV"][aq.DROP_TAIL][0], log=True
        ),
    )
