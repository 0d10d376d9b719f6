"""The systems, and the scenarios, checks and drawings that several of them share.

The systems are those that the papers of the other suites name without studying them. Several of their papers
could be read only as an abstract or through a description; each citation says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from longfat.figure.data import Curve
from longfat_papers.kit import Checks, Drawing, Evidence, Mode, Panel, Paper, Runs, at_most, citations, mean
from longfat_papers.kit.claims import Measured, settings
from longfat_papers.relatives.reduction import Row, reduce_run, rows

THESIS = f"{citations.LOPEZ2008}, section 7.4"

TITLES = {
    "rcp": "RCP",
    "maxnet": "MaxNet",
    "erica": "ERICA",
    "xcp": "XCP",
    "reno": "TCP SACK",
    "newreno": "TCP NewReno",
    "vegas": "TCP Vegas",
    "tri_s": "Tri-S",
    "cadpc": "CADPC",
    "udt": "UDT",
    "sabul": "SABUL",
    "rbudp": "RBUDP",
    "tsunami": "Tsunami",
}
RBUDP_RATE, TSUNAMI_RATE = "1000 Mbit/s", "965 Mbit/s"
FLOWS: dict[str, dict[str, Any]] = {name: {"algorithm": name} for name in TITLES} | {
    "rcp": {"algorithm": "rcp", "mss": "1436 B"},
    "maxnet": {"algorithm": "maxnet", "mss": "1444 B"},
    "erica": {"algorithm": "erica", "mss": "1440 B"},
    "xcp": {"algorithm": "xcp", "mss": "1428 B"},
    "rbudp": {"algorithm": {"name": "rbudp", "rate": RBUDP_RATE}},
    "tsunami": {"algorithm": {"name": "tsunami", "target_rate": TSUNAMI_RATE}},
}
"""The table of a flow of each system, and of those that it is compared with. All packets have 1500 bytes."""
WRAPPED = ("rcp", "maxnet", "erica")
ROUTERS = {"rcp": "rcp", "maxnet": "maxnet", "erica": "erica", "xcp": "xcp", "cadpc": "ptp"}
"""The router that a system needs beside the queue."""
TARGETS = {"rcp": 1.0, "maxnet": 0.95, "erica": 0.9, "reno": 1.0, "cadpc": 1.0}
"""The share of a link that a system's flows are to use: the target of its router, or all."""
FRIENDLY: dict[str, Any] = {"kind": "friendly", "update": "packet"}

TOGETHER, JOINING = "together", "joining"
PLAIN, WRAPPING = "plain", "wrapped"
"""Values of the coordinate `case`."""

REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
SAMPLE_S = 0.1
SMALL_START_S = 0.1
"""Starts are drawn from this time, so that repeats differ."""
SHARE_MBPS, SHARE_RTT_MS = 100, 100
SPAN_RTTS = 10
"""Rates are averaged over this many round-trip times."""
SETTLED_S = 5.0
"""Utilization and queue count over this many seconds before the end."""
SHORT_MBPS: dict[Mode, tuple[int, ...]] = {"quick": (600,), "full": (2400,)}
ACKS_LOSS = 0.3
CASES = {"system": WRAPPED, "case": (PLAIN, WRAPPING), "repeat": REPEATS}

SOON_RTTS = 10  # RCP-1, ERI-2: round-trip times after which a share counts
SHARE_WITHIN = 0.1
"""RCP-1, ERI-2, ERI-4, MAX-1, CAD-1, CAD-2: greatest distance of a flow from its share, as a part of it."""
FULL = 0.9  # MAX-3, TRI-1: of the capacity
QUEUE_SHARE = 0.1  # MAX-3, ERI-3: mean queue, of the buffer
HARMED_SHARE = 0.5  # CAD-3, RBU-3, TSU-3: of TCP's fair share, which is less; SAB-3: which is kept

NUMBERS = "Numbers chosen here."
DISTANCES = f"Distances are parts of the share. {NUMBERS}"
SETTLED = f"Means over the last {SETTLED_S:g} s, and over repeats."
LATE = "Means over the second half of the run, and over repeats."
SOON = (
    f"Rate of each flow over {SPAN_RTTS} round-trip times, from {SOON_RTTS:g} after the start of the last; "
    "mean over repeats of the greatest distance from its share."
)

SIZES = ", ".join(f"{TITLES[name]} {table['mss']}" for name, table in FLOWS.items() if "mss" in table)
COMMON_SETTINGS = settings(f"""
    parameters of the systems | Longfat's defaults of each system (docs/models); but RBUDP sends at \
        {RBUDP_RATE} and Tsunami's target is {TSUNAMI_RATE} \
        | the table of each model's page; the rates: the link's, chosen here
    mss | default; with explicit headers {SIZES} | chosen here: all packets have 1500 bytes
    buffer | one round-trip time at the link's rate
    starts | each within {SMALL_START_S:g} s | chosen here, so that repeats differ
    repeats | {REPEATS["full"]}, over seeds; {REPEATS["quick"]} in quick mode
""")
SHARE_SETTINGS = settings(f"""
    bottleneck | {SHARE_MBPS} Mbit/s, {SHARE_RTT_MS} ms | chosen here; the abstracts print none
    flows | the last begins 10 s after the others
""")

PAPER = Paper(
    "relatives",
    "REL",
    "The relatives: systems that the papers name",
    f"The systems' own papers, in the claims; {THESIS}",
    settings=COMMON_SETTINGS,
    reduce=reduce_run,
)


def flow(system: str, name: str, start_s: float = 0.0, **more: Any) -> dict[str, Any]:
    """Returns the table of a flow, which begins within a short time after ``start_s``."""
    start = {"uniform": [f"{start_s:g} s", f"{start_s + SMALL_START_S:g} s"]}
    return {**FLOWS[system], "name": name, "start": start, **more}


def name_of(system: str) -> str:
    """Returns the name of a system's only flow. A run draws by it: TCP's drew what docs/validation.md has."""
    return "sack" if system == "reno" else system


def scenario(title: str, duration_s: float, **more: Any) -> dict[str, Any]:
    """Returns a scenario with the suite's samples."""
    sample = f"{SAMPLE_S:g} s"
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "sample": {"cwnd": sample, "queue": sample},
        **more,
    }


def dumbbell(
    title: str, mbps: float, rtt_ms: float, duration_s: float, flows: Iterable[Mapping[str, Any]], **more: Any
) -> dict[str, Any]:
    """Returns a scenario with one bottleneck and a buffer of one round-trip time."""
    return scenario(
        title,
        duration_s,
        bottleneck={"rate": f"{mbps} Mbit/s", "buffer": f"{rtt_ms:g} ms", **more},
        flow=[{"rtt": f"{rtt_ms:g} ms", **table} for table in flows],
    )


def distance(rates: Iterable[float], share: float) -> float:
    """Returns the greatest distance of a rate from its share, as a part of it."""
    return max(abs(rate / share - 1.0) for rate in rates)


def soon_fair(system: str, runs: Runs) -> Checks:
    """RCP-1 and ERI-2: each flow has its share soon after the last began."""
    rtt_s, runs = 1e-3 * SHARE_RTT_MS, runs.where(system=system)
    found = {}
    for case in runs.distinct("case"):
        for number in runs.where(case=case).distinct("flows"):
            share, off = TARGETS[system] * SHARE_MBPS / number, []
            for row in rows(runs, case=case, flows=number):
                begin = max(row["starts_s"]) + SOON_RTTS * rtt_s
                off.append(distance(row.rates("", begin, begin + SPAN_RTTS * rtt_s), share))
            found[f"{number} flows, {case}"] = off
            yield at_most(
                f"{number} flows, {case}, from {SOON_RTTS:g} RTTs on: distance", mean(off), SHARE_WITHIN
            )
    return Evidence(
        "greatest distance from the share: "
        + ", ".join(f"{at} {mean(off):.3f}" for at, off in found.items()),
        {at: mean(off) for at, off in found.items()},
        figure=Measured.mean("greatest distance from the share", max(found.values(), key=mean)),
    )


def settled(runs: Runs, system: str) -> dict[int, tuple[list[float], list[float]]]:
    """Returns the share of the capacity and of the buffer that is used in the last seconds, by flows."""
    runs = runs.where(system=system, case=JOINING)
    return {
        number: (
            [row.rate("", row.end_s - SETTLED_S) / SHARE_MBPS for row in rows(runs, flows=number)],
            [row.queue_share(row.end_s - SETTLED_S) for row in rows(runs, flows=number)],
        )
        for number in runs.distinct("flows")
    }


GREY = 6
"""The stroke of lines that are not measured."""
MOST_BINS = 300
"""Greatest number of points of a history; longer histories are averaged."""


def line(label: str, x: Sequence[float], y: Sequence[float]) -> Curve:
    """Returns a line that is not measured."""
    return Curve(label, tuple(x), tuple(y), None, None, "theory", GREY)


def first_repeats(runs: Runs) -> list[Row]:
    """Returns the first repeat at each point of a grid."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in sorted(runs, key=lambda row: row["repeat"]):
        point = tuple(row.get(key) for key in ("system", "case", "flows", "ack_loss"))
        found.setdefault(point, Row(row))
    return list(found.values())


def drawn(caption: str, panels: Iterable[Panel]) -> Drawing:
    """Returns the drawing of the histories of first repeats."""
    return Drawing(f"{caption} First repeat.", tuple(panels))


def histories(
    title: str,
    row: Row,
    most: float,
    groups: Iterable[tuple[str, str]] | None = None,
    levels: Mapping[str, float] | None = None,
) -> Panel:
    """Returns the rates over time of groups of flows, (label, prefix), and lines that are not measured."""
    ends = (0.0, row.end_s)
    groups = [(name, name) for name in row.names] if groups is None else groups
    curves = [_history(label, row, prefix, number) for number, (label, prefix) in enumerate(groups)]
    curves += [line(label, ends, (level, level)) for label, level in (levels or {}).items()]
    return Panel(title, "time, s", "rate, Mbit/s", tuple(curves), x_range=ends, y_range=(0.0, 1.05 * most))


def _history(label: str, row: Row, prefix: str, stroke: int) -> Curve:
    """Returns the rate over time of all flows with this prefix."""
    rate = np.sum([row["rates_mbps"][index] for index in row.among(prefix)], axis=0)
    stride = max(1, math.ceil(rate.size / MOST_BINS))
    whole = rate.size // stride * stride
    means = rate[:whole].reshape(-1, stride).mean(axis=1)
    times = row.bin_s * stride * (np.arange(means.size) + 0.5)
    return Curve(label, tuple(times.tolist()), tuple(means.round(3).tolist()), None, None, "line", stroke)


def cases(runs: Runs, caption: str, most: float, *groups: tuple[str, str]) -> Drawing:
    """Draws the histories of each case, of each system if there are several."""
    return drawn(
        caption,
        (
            histories(f"{name}{row['case']}: {row.loss_ratio():.2%} lost", row, most, groups)
            for row in first_repeats(runs)
            for name in [f"{TITLES[row['system']]}, " if "system" in row.row else ""]
        ),
    )


def links(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the links of a network or the bottleneck of a dumbbell, for readings."""
    return document.get("link") or [document["bottleneck"]]


def smaller_buffers(document: dict[str, Any], share: float) -> dict[str, Any]:
    """Leaves buffers a share of their size."""
    for link in links(document):
        link["buffer"] = f"{share * float(link['buffer'].removesuffix(' ms')):g} ms"
    return document


def spread_rtts(document: dict[str, Any], least: float, most: float) -> dict[str, Any]:
    """Spreads the flows' round-trip times evenly, by these factors; the paths of a network stay the same."""
    flows = document.get("flow", [])
    if len(flows) > 1 and all("rtt" in flow for flow in flows):
        for number, flow in enumerate(flows):
            factor = least + (most - least) * number / (len(flows) - 1)
            flow["rtt"] = f"{factor * float(flow['rtt'].removesuffix(' ms')):.4g} ms"
    return document


def rcp_gains(document: dict[str, Any], **gains: float) -> dict[str, Any]:
    """Gives RCP's routers other gains."""
    for link in links(document):
        router = link.get("router", "")
        table = {"kind": router} if isinstance(router, str) else router
        if table["kind"] == "rcp":
            link["router"] = table | gains
    return document


def other_tail(document: dict[str, Any], shape: float) -> dict[str, Any]:
    """Gives the short flows another tail and the same mean."""
    for source in document.get("background", []):
        mean_bytes = float(source["tail_least"].removesuffix(" B")) * source["tail_shape"]
        mean_bytes /= source["tail_shape"] - 1.0
        source |= {"tail_shape": shape, "tail_least": f"{round(mean_bytes * (shape - 1.0) / shape)} B"}
    return document
