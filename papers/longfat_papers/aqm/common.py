"""The queues that are compared, the settings with their sources, and what the comparisons share.

Sections of RFC 7928 are those of draft-ietf-aqm-eval-guidelines-13, its last draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from longfat.units import PACKET_BITS
from longfat_papers.aqm.reduction import PAGE, reduce_run
from longfat_papers.kit import CHOSEN_HERE, Check, Mode, Paper, Runs, Setting, below
from longfat_papers.kit.citations import LOPEZ2008

Table = dict[str, Any]

THESIS = f"{LOPEZ2008}, section 2.5.1.5"
GUIDELINES = "Kuhn, Natarajan, Khademi, Ros: Characterization Guidelines for AQM, RFC 7928, 2016"
DRAFT_13 = "draft-ietf-aqm-eval-guidelines-13, the last draft of the RFC"

AROUND_PIE, ABOVE_BURSTS = (31, 94), (100, 300)
"""Thresholds of RED and CHOKe, packets: half and three halves of 15 ms, as Adaptive RED sets them around its
target, and greater ones."""
LONG_BUFFER_PACKETS = 1000
THRESHOLDS = {"min": f"{AROUND_PIE[0]} packets", "max": f"{AROUND_PIE[1]} packets"}

DROP_TAIL = "droptail"
_QUEUES: tuple[tuple[str, str, Table], ...] = (
    (DROP_TAIL, "drop-tail", {"kind": "droptail"}),
    ("red", "RED", {"kind": "red", **THRESHOLDS}),
    ("adaptive-red", "Adaptive RED", {"kind": "red", "adaptive": True, "target_delay": "15 ms"}),
    ("choke", "CHOKe", {"kind": "choke", **THRESHOLDS}),
    ("blue", "BLUE", {"kind": "blue"}),
    ("sred", "SRED", {"kind": "sred"}),
    ("codel", "CoDel", {"kind": "codel"}),
    ("fq_codel", "FQ-CoDel", {"kind": "fq_codel"}),
    ("pie", "PIE", {"kind": "pie"}),
)
QUEUES = {name: queue for name, _, queue in _QUEUES}
TITLES = {name: title for name, title, _ in _QUEUES}
OF_THE_THESIS = ("red", "choke", "blue", "sred")
"""The queues that sections 2.5.1.1 to 2.5.1.4 describe and 2.5.1.5 judges."""

DROPS, MARKS = "drops", "marks"
"""Values of the coordinate `signal`."""

RATE_MBPS = 50
RTT_MS = 50
BDP_PACKETS = RATE_MBPS * RTT_MS * 1000 // PACKET_BITS
BUFFER_PACKETS = 416
"""Two BDPs, 100 ms."""
FLOWS = 20
SETTLE_S = 10
DURATION_S: dict[Mode, int] = {"quick": 60, "full": 300}
REPEATS: dict[Mode, int] = {"quick": 2, "full": 10}
SACK: Table = {"algorithm": "reno"}

DROPPING: dict[str, Any] = {"queue": tuple(QUEUES), "signal": (DROPS,), "repeat": REPEATS}
COMPARED = {**DROPPING, "signal": (DROPS, MARKS)}
"""Grids of all queues; drop-tail does not mark, see `scenario`."""

FEW, MANY = 10, 64
"""TCP flows beside the datagrams: few, and many as CHOKe's theory assumes."""
LEVELS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
"""Flows for each packet of BDP and buffer, by the coordinate `level` (RFC 7928, sections 8.2.2 to 8.2.4)."""
MORRIS = 0.76
"""The factor of the projected drop rate, 0.76 N^2 / S^2 (RFC 7928, section 8.2.1)."""

NUMBERS = "Numbers chosen here."
REPORT: dict[str, Any] = {
    "paper": GUIDELINES,
    "bounds": "The values are reported, without a verdict; the checks are for orientation.",
    "reports": True,
}
"""What claims have in common for which RFC 7928 prints no value."""

PAPER = Paper(
    "aqm",
    "AQM",
    "Active queue management compared",
    f"{THESIS}; {GUIDELINES}",
    settings=(
        Setting("bottleneck", f"{RATE_MBPS} Mbit/s, {BUFFER_PACKETS} packets (two BDPs)", CHOSEN_HERE),
        Setting("capacity", "constant unless stated otherwise", CHOSEN_HERE),
        Setting("flows", f"TCP SACK, {RTT_MS} ms unless stated otherwise, starts within 5 s", CHOSEN_HERE),
        Setting(
            "RED, CHOKe",
            "thresholds 31 and 94 packets",
            CHOSEN_HERE + ": around 15 ms, PIE's target; the defaults aim at 5 ms, a tenth of the RTT",
        ),
        Setting("Adaptive RED", "target 15 ms", CHOSEN_HERE),
        Setting("others", "as in `longfat list queues`, with their defaults", CHOSEN_HERE),
        Setting("marks", "ECN (RFC 3168) in the queue and in all flows of TCP", "RFC 7928"),
        Setting(
            "duration, repeats", f"300 s, measured from {SETTLE_S} s on; 10 repeats over seeds", CHOSEN_HERE
        ),
    ),
    estimator="Mean over repeats, from 10 s on.",
    reduce=reduce_run,
)

CBR_MBPS = 5.0
CONNECTIONS, OBJECTS, OBJECT_KB, PAGE_WINDOW = 6, 50, 12, 10
"""A web page (7.2): 50 objects, here of 12 kB, over 6 connections with an initial window of 10."""
PAGE_SETTINGS = (
    Setting(
        "web page",
        f"{OBJECTS} objects of {OBJECT_KB} kB over {CONNECTIONS} connections at once, initial window of "
        f"{PAGE_WINDOW}",
        f"7.2 ({DRAFT_13}), which has objects of at least 1 kB; their size, and that a connection sends "
        "its objects without a pause: " + CHOSEN_HERE,
    ),
    Setting("datagrams", f"{CBR_MBPS:g} Mbit/s", "7.2; rate " + CHOSEN_HERE),
)
PAGE_TIMES = (
    "Mean over the pages that ended, from the start to the last byte of the last connection; otherwise the "
    "mean over the window."
)


def scenario(
    mode: Mode,
    at: Mapping[str, Any],
    flows: Sequence[Table],
    bottleneck: Mapping[str, Any] | None = None,
    title: str = "",
) -> Table | None:
    """Returns the scenario at these coordinates; None for drop-tail with marks.

    ``flows`` and ``bottleneck`` hold what differs from the common settings.
    """
    queue, signal = at["queue"], at["signal"]
    if signal == MARKS and queue == DROP_TAIL:
        return None
    others = [value for name, value in at.items() if name not in ("queue", "signal", "repeat")]
    start = {"uniform": ["0 s", "5 s"]}
    return {
        "title": title or ", ".join(map(str, (queue, signal, *others))),
        "duration": f"{DURATION_S[mode]} s",
        "window": [f"{SETTLE_S} s", f"{DURATION_S[mode]} s"],
        "bottleneck": {
            "rate": f"{RATE_MBPS} Mbit/s",
            "buffer": f"{BUFFER_PACKETS} packets",
            "queue": QUEUES[queue] | marking(signal),
            **(bottleneck or {}),
        },
        "flow": [{"rtt": f"{RTT_MS} ms", "start": start, **marking(signal), **flow} for flow in flows],
        "sample": {"queue": "10 ms"},
    }


def marking(signal: str) -> Table:
    """Returns the key of queues and flows that mark instead of dropping."""
    return {"ecn": True} if signal == MARKS else {}


def flows_of(level: str) -> int:
    """Returns the number of flows at a level of congestion."""
    return round(LEVELS[level] * (BDP_PACKETS + BUFFER_PACKETS))


def projected_drops(level: str) -> float:
    """Returns the drop rate that a drop-tail queue is projected to have at a level of congestion."""
    return MORRIS * (flows_of(level) / (BDP_PACKETS + BUFFER_PACKETS)) ** 2


def cbr(mbps: float) -> Table:
    """Returns the algorithm of datagrams at a constant rate."""
    return {"name": "cbr", "rate": f"{mbps:g} Mbit/s"}


DATAGRAMS: Table = {"name": "datagrams", "algorithm": cbr(CBR_MBPS)}


def pages(starts_s: Iterable[float]) -> list[Table]:
    """Returns web pages, one after the other; the connections of one start together."""
    size = f"{OBJECTS * OBJECT_KB / CONNECTIONS:g} kB"
    page = SACK | {"count": CONNECTIONS, "bytes": size, "initial_window": PAGE_WINDOW}
    return [
        page | {"name": f"{PAGE}-{number}", "start": f"{start_s:g} s"}
        for number, start_s in enumerate(starts_s, start=1)
    ]


def means(runs: Runs, keys: Iterable[str], **coordinates: Any) -> dict[str, list[float]]:
    """Returns the means of quantities behind each queue."""
    return {
        name: [at.mean(key) for key in keys]
        for name in TITLES
        for at in [runs.where(queue=name, **coordinates)]
    }


def told(found: Mapping[str, Sequence[float]], pattern: str, separator: str = ", ") -> str:
    """Writes the numbers of each queue in a format such as "{:.3f} at {:.1f} ms"."""
    return separator.join(f"{TITLES[name]} {pattern.format(*row)}" for name, row in found.items())


def against_drop_tail(
    check: Callable[..., Check], quantity: str, found: Mapping[str, float], where: str = ""
) -> Iterator[Check]:
    """Compares a quantity behind each other queue with that behind drop-tail."""
    for name, value in found.items():
        if name != DROP_TAIL:
            yield check(f"{where}{TITLES[name]}: {quantity}", value, found[DROP_TAIL], than="drop-tail's")


def pages_sooner(found: Mapping[str, Sequence[float]], where: str = "") -> Iterator[Check]:
    """Checks that each queue's first value, the time of a page, is below drop-tail's."""
    return against_drop_tail(below, "time of a page", {name: row[0] for name, row in found.items()}, where)


def automatic_thresholds(document: Table) -> Table:
    """Leaves the thresholds of RED and CHOKe to their defaults, for readings."""
    queue = document["bottleneck"]["queue"]
    if queue["kind"] in ("red", "choke"):
        for threshold in THRESHOLDS:
            queue.pop(threshold, None)
    return document


def queues(document: Table, **parameters: Mapping[str, Any]) -> Table:
    """Changes parameters of queues by their kind; Adaptive RED stays as it is."""
    queue = document["bottleneck"]["queue"]
    if not queue.get("adaptive", False):
        queue |= parameters.get(queue["kind"], {})
    return document


def room_for_choke(document: Table) -> Table:
    """Gives RED and CHOKe the thresholds and the buffer of AQM-7."""
    if document["bottleneck"]["queue"]["kind"] in ("red", "choke"):
        document["bottleneck"]["buffer"] = f"{LONG_BUFFER_PACKETS} packets"
    thresholds = dict(zip(("min", "max"), (f"{packets} packets" for packets in ABOVE_BURSTS), strict=True))
    return queues(document, red=thresholds, choke=thresholds)


def spread(document: Table) -> Table:
    """Spreads the round-trip times of all flows."""
    for flow in document["flow"]:
        flow["rtt"] = {"uniform": ["25 ms", "75 ms"]}
    return document
