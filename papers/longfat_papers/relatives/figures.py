"""The figures of the suite: data and captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from longfat.figure.data import Curve, Figure, Panel, Table, points
from longfat.words import Mode
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.suite import Runs
from longfat_papers.relatives import networks
from longfat_papers.relatives.reduction import Row, sharing_s
from longfat_papers.relatives.settings import (
    ACKS_LOSS,
    BESIDE_JOIN_S,
    BESIDES,
    CLOUD_MBPS,
    DELAYS_MS,
    FAST_MBPS,
    FASTS,
    HARMED_MBPS,
    JOIN_S,
    LOT_MBPS,
    LOTS,
    MIX_JOIN_S,
    MIX_MBPS,
    POINT_MBPS,
    SHARE_MBPS,
    SHORT_BINS,
    SHORT_LOAD,
    SHORT_RTT_MS,
    SHORTS,
    SLOW_MBPS,
    TITLES,
    WRAPPED,
)

RATE_AXIS, TIME_AXIS = "rate, Mbit/s", "time, s"
GREY = 6
"""The stroke of lines that are not measured."""
MOST_BINS = 300
"""Greatest number of points of a history; longer histories are averaged."""


def _history(label: str, row: Row, prefix: str, stroke: int) -> Curve:
    """Returns the rate over time of all flows with this prefix."""
    rate = np.sum([row.row["rates_mbps"][index] for index in row.among(prefix)], axis=0)
    stride = max(1, -(-rate.size // MOST_BINS))
    whole = rate.size // stride * stride
    means = rate[:whole].reshape(-1, stride).mean(axis=1)
    times = row.bin_s * stride * (np.arange(means.size) + 0.5)
    return Curve(label, tuple(times.tolist()), tuple(means.round(3).tolist()), None, None, "line", stroke)


def _histories(
    title: str,
    row: Row,
    groups: Sequence[tuple[str, str]],
    most: float,
    dashes: Mapping[str, float] | None = None,
) -> Panel:
    """Returns the rates over time of groups of flows, (label, prefix), and lines that are not measured."""
    curves = [_history(label, row, prefix, number) for number, (label, prefix) in enumerate(groups)]
    for label, level in (dashes or {}).items():
        curves.append(Curve(label, (0.0, row.end_s()), (level, level), None, None, "theory", GREY))
    return Panel(
        title, TIME_AXIS, RATE_AXIS, tuple(curves), x_range=(0.0, row.end_s()), y_range=(0.0, 1.05 * most)
    )


def _first(runs: Runs, **coordinates: Any) -> Row:
    """Returns the first repeat at some coordinates."""
    return Row(runs.where(**coordinates).first())


def _by_category(
    title: str,
    y_label: str,
    values: Mapping[str, float],
    expected: float | None = None,
    most: float | None = None,
) -> Panel:
    """Returns a point for each category, and a line for what is expected."""
    curves = [points("measured", ((float(i), (y, float("nan"))) for i, y in enumerate(values.values())))]
    if expected is not None:
        ends = (0.0, float(len(values) - 1))
        curves.append(Curve("expected", ends, (expected, expected), None, None, "theory", GREY))
    return Panel(
        title,
        "",
        y_label,
        tuple(curves),
        y_range=None if most is None else (0.0, most),
        categories=tuple(values),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def shares(runs: Runs, mode: Mode) -> Figure:
    """Draws the flows that begin first together, and the one that joins them."""
    panels = []
    for system in WRAPPED:
        for case in runs.where(system=system).distinct("case"):
            for number in runs.where(system=system, case=case).distinct("flows"):
                row = _first(runs, system=system, case=case, flows=number)
                last = row.names[-1]
                groups = [("the first", row.names[0]), ("the last", last)]
                panels.append(
                    _histories(
                        f"{TITLES[system]}: {number} flows, {case}",
                        row,
                        groups,
                        SHARE_MBPS / max(1, number - 1) * 1.5,
                        {"C / N": SHARE_MBPS / number},
                    )
                )
    return Figure(
        "shares",
        "RCP; ERICA",
        "Flows that join others",
        f"{SHARE_MBPS} Mbit/s. The last flow joins at {JOIN_S:g} s, or begins with the others. First repeat.",
        tuple(panels),
    )


def short(runs: Runs, mode: Mode) -> Figure:
    """Draws completion times over the size of the flows, and those of processor sharing."""
    numbers, mbps = range(1, len(SHORT_BINS) + 1), runs.distinct("mbps")[0]
    curves = []
    for stroke, system in enumerate(SHORTS):
        at = runs.where(system=system)
        curves.append(
            points(
                TITLES[system],
                (
                    (at.mean_stderr_reached(f"short_{i}_packets")[0], at.mean_stderr_reached(f"short_{i}_s"))
                    for i in numbers
                ),
                system,
                stroke,
            )
        )
    sizes = [10.0**exponent for exponent in np.linspace(0.7, 3.5, 30)]
    sharing = tuple(sharing_s(size, mbps) for size in sizes)
    curves.append(Curve("processor sharing", tuple(sizes), sharing, None, None, "theory", GREY))
    return Figure(
        "short",
        "RCP, figure 1",
        "Completion times of short flows",
        f"Flows of Pareto sizes arrive at random, with a load of {SHORT_LOAD:g} of {mbps:g} Mbit/s; "
        f"{SHORT_RTT_MS} ms. Points are means over the flows of "
        + ", ".join(f"{least} to {most}" for least, most in SHORT_BINS)
        + " packets."
        + repeats(runs),
        (
            Panel(
                "",
                "size, packets",
                "mean completion time, s",
                tuple(curves),
                x_log=True,
                y_log=True,
            ),
        ),
    )


def lot(runs: Runs, mode: Mode) -> Figure:
    """Draws the rates on the parking lot, of the flow that crosses all links and of the others together."""
    groups = [("all three links", networks.LONG), *((f"link {i}", f"{i}-1") for i in (1, 2, 3))]
    return Figure(
        "lot",
        "MaxNet",
        "A parking lot",
        f"Three links of {LOT_MBPS} Mbit/s. One flow crosses all, and 1, 2 and 3 flows cross one link each; "
        "the "
        "first of each is drawn. Max-min fair rates of the whole capacity: "
        + ", ".join(f"{networks.lot_shares()[prefix]:.1f} ({label})" for label, prefix in groups)
        + " Mbit/s. First repeat.",
        tuple(_histories(TITLES[system], _first(runs, system=system), groups, LOT_MBPS) for system in LOTS),
    )


def point(runs: Runs, mode: Mode) -> Figure:
    """Draws the rates of CADPC's flows, all together, over time and the fixed point."""
    return Figure(
        "point",
        "CADPC",
        "CADPC's fixed point",
        f"All flows together on {POINT_MBPS} Mbit/s, and n / (n + 1) of it. First repeat.",
        tuple(
            _histories(
                f"{number} flows",
                _first(runs, flows=number),
                [("all flows", "")],
                POINT_MBPS,
                {"n / (n + 1)": POINT_MBPS * number / (number + 1.0)},
            )
            for number in runs.distinct("flows")
        ),
    )


def _cases(
    name: str, mirrors: str, title: str, caption: str, most: float, groups: Sequence[tuple[str, str]]
) -> Callable[[Runs, Mode], Figure]:
    """Returns a function that draws the histories of each case, of each system if there are several."""

    def draw(runs: Runs, mode: Mode) -> Figure:
        places = dict.fromkeys((row.get("system"), row["case"]) for row in runs)
        panels = []
        for system, case in places:
            at = {"case": case} if system is None else {"system": system, "case": case}
            row = _first(runs, **at)
            label = case if system is None else f"{TITLES[system]}, {case}"
            panels.append(_histories(f"{label}: {row.loss_ratio():.2%} lost", row, groups, most))
        return Figure(name, mirrors, title, caption + " First repeat.", tuple(panels))

    return draw


harmed = _cases(
    "harmed",
    "thesis, 7.4",
    "CADPC beside TCP",
    "Two flows of CADPC join two of TCP; plain, and with the thesis's mechanism on the next link.",
    HARMED_MBPS,
    (("TCP", "tcp"), ("CADPC", "cadpc")),
)
clouds = _cases(
    "clouds",
    "thesis, 7.4; chapter 4",
    "XCP-i's virtual router",
    f"A flow through a cloud of {CLOUD_MBPS} Mbit/s: with the system's own routers at the edges (plain), and "
    "with XCP-i's around the system's law (wrapped).",
    2.0 * CLOUD_MBPS,
    (("flow", ""),),
)
mixes = _cases(
    "mixes",
    "thesis, 7.4; chapter 6",
    "The friendliness mechanism",
    f"One explicit flow; two of TCP join at {MIX_JOIN_S:g} s. Plain: the system's own router. Wrapped: the "
    "thesis's mechanism around the system's law.",
    MIX_MBPS,
    (("explicit", "explicit"), ("TCP, together", "tcp")),
)


def slow(runs: Runs, mode: Mode) -> Figure:
    """Draws utilization and queue over the number of flows, and Tri-S beside Vegas."""
    curves: dict[str, list[Curve]] = {"share": [], "queue": []}
    for stroke, system in enumerate(("tri_s", "vegas", "newreno")):
        at = runs.where(system=system)
        for key, value in (("share", _late_share), ("queue", _late_queue)):
            samples = [
                (float(n), (_mean(value(Row(row)) for row in at.where(flows=n)), float("nan")))
                for n in at.distinct("flows")
            ]
            curves[key].append(points(TITLES[system], samples, system, stroke))
    mixed = _first(runs, system="mixed")
    return Figure(
        "slow",
        "Tri-S",
        "Tri-S, Vegas and NewReno",
        f"{SLOW_MBPS} Mbit/s; flows begin 5 s apart; rates and queue over the second half of the run. Last: "
        "two "
        "flows of Tri-S beside two of Vegas, first repeat." + repeats(runs),
        (
            Panel("", "flows", "rate / capacity", tuple(curves["share"]), y_range=(0.0, 1.05)),
            Panel("", "flows", "mean queue / buffer", tuple(curves["queue"]), y_range=(0.0, 1.05)),
            _histories("Tri-S beside Vegas", mixed, [("Tri-S", "tri_s"), ("Vegas", "vegas")], SLOW_MBPS),
        ),
    )


def _late_share(row: Row) -> float:
    return row.rate_mbps((0.5 * row.end_s(), row.end_s())) / SLOW_MBPS


def _late_queue(row: Row) -> float:
    return row.queue_share((0.5 * row.end_s(), row.end_s()))


def fast(runs: Runs, mode: Mode) -> Figure:
    """Draws the goodput of a large file."""
    size = max(runs.distinct("gigabytes"))
    values = {
        TITLES[system]: _mean(
            Row(row).row["goodputs_mbps"][0] for row in runs.where(system=system, gigabytes=size)
        )
        for system in FASTS
    }
    rows = tuple(
        (
            TITLES[row["system"]],
            f"{row['gigabytes']:g}",
            f"{row['goodputs_mbps'][0]:.0f}",
            f"{Row(row).loss_ratio():.2%}",
        )
        for row in runs
    )
    return Figure(
        "fast",
        "SABUL; RBUDP; Tsunami",
        "A large file with random losses",
        f"Goodput of a file of {size:g} GB over 1 Gbit/s and 100 ms, with 0.1 % of the packets lost at "
        "random." + repeats(runs),
        (_by_category("", "goodput, Mbit/s", values, most=FAST_MBPS),),
        table=Table(("system", "file, GB", "goodput, Mbit/s", "packets lost"), rows),
    )


def lossy(runs: Runs, mode: Mode) -> Figure:
    """Draws Tsunami and TCP with many losses."""
    row = {system: _first(runs, system=system) for system in ("tsunami", "reno")}
    panels = tuple(_histories(TITLES[name], found, [("flow", "")], FAST_MBPS) for name, found in row.items())
    caption = "1 Gbit/s with 3 % of the packets lost at random. First repeat."
    return Figure("lossy", "Tsunami's demonstration", "3 % of the packets lost", caption, panels)


def delays(runs: Runs, mode: Mode) -> Figure:
    """Draws two flows with unlike round-trip times."""
    groups = [(f"{rtt} ms", f"{rtt} ms") for rtt in DELAYS_MS]
    panels = tuple(
        _histories(TITLES[system], _first(runs, system=system), groups, 300.0) for system in ("sabul", "reno")
    )
    caption = "Two flows of each, without random losses. First repeat."
    return Figure("delays", "SABUL", "Unlike round-trip times", caption, panels)


def beside(runs: Runs, mode: Mode) -> Figure:
    """Draws TCP and what joins it."""
    panels = tuple(
        _histories(
            f"{TITLES[system]} joins",
            _first(runs, system=system),
            [("TCP", "tcp"), (TITLES[system] if system != "reno" else "the other TCP", "joining")],
            FAST_MBPS,
        )
        for system in BESIDES
    )
    caption = (
        f"1 Gbit/s, 100 ms, no random losses; the other flow joins TCP at {BESIDE_JOIN_S:g} s. First repeat."
    )
    return Figure("beside", "beside", "A TCP flow that a blast joins", caption, panels)


def acks(runs: Runs, mode: Mode) -> Figure:
    """Draws RCP without and with losses of ACKs."""
    panels = []
    for loss in (0.0, ACKS_LOSS):
        row = _first(runs, ack_loss=loss)
        groups = [(name, name) for name in row.names]
        panels.append(
            _histories(f"{loss:.0%} of the ACKs lost: {row.loss_ratio():.2%} lost", row, groups, 100.0)
        )
    return Figure(
        "acks",
        "thesis, 7.4; chapter 5",
        "RCP with losses of ACKs",
        "Three flows of RCP on 200 Mbit/s; datagrams take half of it in every second 10 s. First repeat.",
        tuple(panels),
    )
