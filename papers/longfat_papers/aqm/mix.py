"""A mix of traffic (AQM-13): RFC 7928, section 9.1."""

from __future__ import annotations

from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import DELAY_AXIS, SETTING, over_queues
from longfat_papers.aqm.reduction import BACK, BULK, PAGE, SEGMENT, VOICE
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting, repeats

PAGES, LONG_FLOWS = 6, 5
SEGMENT_S, SEGMENT_MBPS = 4.0, 5.0
"""Time between two segments of a video, and the mean rate of the video; a segment is one transfer."""
VOICE_KBPS, VOICE_BYTES = 80.0, 160
"""Rate of IP of a voice call each way, and the payload of its packets."""


@aq.PAPER.experiment("mix", "RFC 7928, 9.1", "A mix of traffic", grid=aq.DROPPING)
def mix(mode: Mode, **at: Any) -> aq.Table | None:
    talk = {"algorithm": aq.cbr(VOICE_KBPS / 1e3), "mss": f"{VOICE_BYTES} B"}
    span_s = aq.DURATION_S[mode] - aq.SETTLE_S
    segment = aq.SACK | {"bytes": f"{SEGMENT_MBPS * 1e3 / 8.0 * SEGMENT_S:g} kB"}
    flows = [
        aq.SACK | {"name": BULK, "count": LONG_FLOWS},
        aq.DATAGRAMS,
        talk | {"name": VOICE},
        talk | {"name": f"{BACK}-{VOICE}", "direction": "reverse"},
        *aq.pages(aq.SETTLE_S + number * span_s / PAGES for number in range(PAGES)),
        *(
            segment | {"name": f"{SEGMENT}-{number + 1}", "start": f"{aq.SETTLE_S + number * SEGMENT_S:g} s"}
            for number in range(int(span_s / SEGMENT_S))
        ),
    ]
    return aq.scenario(mode, at, flows)


@mix.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = (
        ("completion time, s", {name: f"completion_s_{name}" for name in (PAGE, SEGMENT)}),
        ("lost / sent", {name: f"lost_{name}" for name in (VOICE, PAGE, SEGMENT, BULK)}),
        (DELAY_AXIS, {"queue": "wait_ms"}),
        ("goodput / capacity", {"long flows": f"share_{BULK}"}),
    )
    return Drawing(
        f"A call, six web pages, datagrams, a video in segments and five long flows. {SETTING} Pages and "
        "segments that did not end are left out. Without losses there is no point." + repeats(runs),
        tuple(
            over_queues(
                label, [(text, runs, key) for text, key in curves.items()], log=label != panels[-1][0]
            )
            for label, curves in panels
        ),
    )


@mix.claim(
    "13",
    f"a call, {PAGES} web pages, datagrams, a video and {LONG_FLOWS} long flows",
    "prints no value; delay, goodput and completion times of each class are asked for (9.1)",
    settings=(
        Setting("mix", "one of each, 6 pages and 5 long flows", f"9.1 ({aq.DRAFT_13})"),
        *aq.PAGE_SETTINGS,
        Setting(
            "call",
            f"{VOICE_KBPS:g} kbit/s each way in packets with {VOICE_BYTES} bytes of payload",
            CHOSEN_HERE,
        ),
        Setting(
            "video",
            f"a segment of {SEGMENT_S:g} s every {SEGMENT_S:g} s, {SEGMENT_MBPS:g} Mbit/s, each over its "
            "own connection",
            CHOSEN_HERE + ": Longfat has no video that adapts its rate, which 9.1 asks for",
        ),
    ),
    estimator=aq.PAGE_TIMES,
    **aq.REPORT,
)
def each_class(runs: Runs) -> Checks:
    keys = (f"completion_s_{PAGE}", f"completion_s_{SEGMENT}", f"lost_{VOICE}", "wait_ms", f"share_{BULK}")
    found = aq.means(runs, keys)
    yield from aq.pages_sooner(found)
    return Evidence(
        "time of a page, time of a segment, lost voice, delay, share of the long flows: "
        + aq.told(found, "{:.3g} s, {:.3g} s, {:.2g}, {:.1f} ms, {:.3f}", "; "),
        found,
        figure=Measured("time of a page behind drop-tail, s", found[aq.DROP_TAIL][0], log=True),
    )
