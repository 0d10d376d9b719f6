"""Multiple bottlenecks (EVAL-6.3): section 6.3."""

from __future__ import annotations

import math
from collections.abc import Callable

from longfat import units
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.checks import at_most
from longfat_papers.kit.curves import repeats
from longfat_papers.tcpeval import common as ev
from longfat_papers.tcpeval import networks as nw
from longfat_papers.tcpeval.networks import MULTIPLE, SINGLE, Times

MBPS, LINK_MBPS, HOP_MS = 100.0, 1000.0, 10.0
BUFFER_MS = 60.0
TIMES = {
    "quick": dict.fromkeys((30, 40, 50), Times(0.0, 20.0, 60.0)),
    "full": {30: Times(41.4, 173.0, 470.0), 40: Times(55.2, 37.0, 2052.0), 50: Times(69.0, 38.0, 1338.0)},
}
"""Table 11, by the percent of a bottleneck that each source offers; two share each bottleneck (6.3.1)."""
PATHS = ((MULTIPLE, "8", "1"), (f"{SINGLE}1", "3", "2"), (f"{SINGLE}2", "5", "4"), (f"{SINGLE}3", "7", "6"))
"""Name, right and left node of each source: flows 1 to 4 of Figure 10."""


def parking_lot(title: str, times: Times, algorithm: str, load: float) -> nw.Table:
    """Returns the scenario of Figure 10: each of four sources offers ``load`` percent of a bottleneck."""
    edge = {"rate": f"{LINK_MBPS:g} Mbit/s", "buffer": f"{BUFFER_MS:g} ms"}
    hop = {"rate": f"{MBPS:g} Mbit/s", "buffer": f"{BUFFER_MS:g} ms", "delay": f"{HOP_MS:g} ms"}
    # from right to left: link A leads from router 2 to router 1; the ends of the row have no delay
    links = [{"name": name, "from": f"R{i + 2}", "to": f"R{i + 1}", **hop} for i, name in enumerate(nw.LOT)]
    for node, router in zip("12345678", "11223344", strict=True):
        delay_ms = 0.0 if node in "18" else HOP_MS
        links.append({"from": node, "to": f"R{router}", "delay": f"{delay_ms:g} ms", **edge})
    background = [
        table
        for name, right, left in PATHS
        for table in nw.traffic(algorithm, load, nw.UP_SHARE * load, name, ends=(right, left))
    ]
    return nw.scenario(title, times, link=links, background=background)


@ev.experiment(
    "lot",
    "section 6.3",
    "Multiple bottlenecks",
    {"load": tuple(2 * load for load in TIMES["full"]), "repeat": ev.REPEATS},
    lambda scenario: 3.0 * MBPS * 1e6 * float(scenario["duration"].split()[0]) / units.PACKET_BITS,
)
def three_in_a_row(mode: Mode, algorithm: str, load: int, repeat: int) -> nw.Table:
    title = f"parking lot at {load} %, {algorithm}"
    return parking_lot(title, TIMES[mode][load // 2], algorithm, load // 2)


def single_share(runs: Runs, key: str) -> tuple[float, float]:
    """Returns a quantity of traffic over one bottleneck over that across three, repeat by repeat."""

    def ratio(of_repeat: Runs) -> float:
        single = math.fsum(of_repeat.mean(key.format(f"{SINGLE}{number}")) for number in (1, 2, 3)) / 3.0
        return single / of_repeat.mean(key.format(MULTIPLE))

    return runs.over_repeats(ratio)


GOODPUT, LARGEST = "goodput_bps_{}", f"transfer_bps_{{}}_{nw.QUARTILES}"


@three_in_a_row.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    def panel(label: str, estimate: Callable[[Runs], tuple[float, float]]) -> Panel:
        loads = runs.distinct("load")
        curves = ev.lines(runs, lambda own: ((float(load), estimate(own.where(load=load))) for load in loads))
        return Panel("", "offered load of a bottleneck, %", label, curves)

    return Drawing(
        f"Three bottlenecks of {MBPS:g} Mbit/s in a row behind links of {LINK_MBPS:g} Mbit/s; an RTT "
        "of 60 ms on all paths. Traffic over one bottleneck (mean of three) over that across all three: "
        "goodput, and the mean rate of transfers of the largest quartile. Last: drops over all three."
        + repeats(runs),
        (
            panel("goodput, one / three bottlenecks", lambda at: single_share(at, GOODPUT)),
            panel("mean transfer rate, largest files", lambda at: single_share(at, LARGEST)),
            panel("dropped / arrived", lambda at: at.mean_stderr("drop_ratio")),
        ),
        columns=3,
    )


@three_in_a_row.claim(
    "6.3",
    "three bottlenecks of 100 Mbit/s in a row, all RTTs 60 ms",
    "prints no value; throughput over one bottleneck over that over three, and drops, are asked for",
    settings=(
        *ev.TRAFFIC,
        Setting("topology", "Figure 10", "6.3.1"),
        Setting("buffers", f"{BUFFER_MS:g} ms", CHOSEN_HERE + ": the BDP; the draft prints none"),
        Setting("loads", "30, 40 and 50 % from each source", "6.3.1"),
    ),
    bounds=ev.REPORTED + " The advantage is that of the largest transfers, at 100 %.",
    reports=True,
)
def one_bottleneck_over_three(runs: Runs) -> Checks:
    most = str(max(runs.distinct("load")))
    values = {
        name: {
            str(load): [single_share(at, GOODPUT)[0], single_share(at, LARGEST)[0], at.mean("drop_ratio")]
            for load in own.distinct("load")
            for at in [own.where(load=load)]
        }
        for name, own in ev.each(runs)
    }
    advantages = {name: rows[most][1] for name, rows in values.items()}
    yield from ev.against_standard(at_most, "advantage of one bottleneck", advantages)
    texts = {name: "{:.3f}, {:.2f}, {:.2g}".format(*rows[most]) for name, rows in values.items()}
    return Evidence(
        f"one over three bottlenecks at {most} %, goodput, rate of the largest transfers, and drops: "
        + ev.told(texts),
        values,
        figure=Measured("standard TCP's ratio of goodput", values[nw.STANDARD][most][0]),
    )
