"""The figures of the draft's suite: data and captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from longfat.figure.data import Curve, Figure, Panel, Table, points
from longfat.words import Mode
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.suite import Runs
from longfat_papers.tcpeval.reduction import names, relative, single_share
from longfat_papers.tcpeval.settings import (
    BASIC,
    BDP_SHARES,
    BYTES_UNIT,
    DECREASE,
    INCREASE,
    INTER,
    INTRA,
    LONG_RTT_MS,
    LOT_EDGE_MBPS,
    LOT_MBPS,
    MOST_POWER,
    QUARTILES,
    RAMP_LOAD,
    STAIRS,
    STANDARD,
    STEPS,
    title,
)

DELAY_AXIS = "mean queueing delay, ms"
QUARTILE_KEYS = tuple(f"transfer_bps_{{}}_{number}" for number in range(1, QUARTILES + 1))
"""Columns of the mean rate of transfers in each quartile of sizes; the braces stand for a camp."""
Estimate = tuple[float, float]


def basic(runs: Runs, mode: Mode) -> Figure:
    """Draws utilization, drops and delay of each link at each load."""
    links = [item for item in BASIC if runs.has(scenario=item.name)]
    quantities = (
        ("utilization", "utilization", False),
        ("drop_ratio", "dropped / arrived", True),
        ("delay_ms", DELAY_AXIS, True),
    )
    return Figure(
        "basic",
        "section 4",
        "Basic scenarios",
        "Six links, from right to left, at offered loads of 60, 85 and 110 %. All connections use the "
        "algorithm. Without drops there is no point. The table has the other direction too." + repeats(runs),
        tuple(
            Panel(
                f"{load} % offered",
                "",
                label,
                tuple(
                    points(
                        title(name),
                        [
                            (
                                float(at),
                                runs.where(algorithm=name, scenario=item.name, load=load).mean_stderr(key),
                            )
                            for at, item in enumerate(links)
                        ],
                        name,
                    )
                    for name in names(runs)
                ),
                y_log=log,
                categories=tuple(item.title for item in links),
            )
            for key, label, log in quantities
            for load in runs.distinct("load")
        ),
        columns=3,
        table=_basic_table(runs),
    )


def _basic_table(runs: Runs) -> Table:
    rows = []
    for item in BASIC:
        for row in runs:
            if row["scenario"] != item.name:
                continue
            numbers = (
                f"{row['utilization']:.3f}",
                f"{row['drop_ratio']:.2g}",
                f"{row['delay_ms']:.3g}",
                f"{row['up_utilization']:.3f}",
                f"{row['up_drop_ratio']:.2g}",
                f"{row['up_delay_ms']:.3g}",
            )
            rows.append((item.title, f"{row['load']} %", title(row["algorithm"]), *numbers))
    return Table(
        (
            "link", "load", "algorithm", "utilization", "drops", "delay, ms", "up: utilization", "up: drops",
            "up: delay, ms",
        ),
        tuple(rows),
    )  # fmt: skip


def tradeoff(runs: Runs, mode: Mode) -> Figure:
    """Draws throughput and drops against delay, one point for each buffer."""
    return Figure(
        "tradeoff",
        "section 5.1",
        "Delay and throughput over the buffer",
        "The access link, 100 Mbit/s, at an offered load of 85 %, with buffers of "
        + ", ".join(f"{percent}" for percent in runs.distinct("buffer"))
        + " % of its BDP at 100 ms, from left to right. Right: the mean time of a transfer."
        + repeats(runs),
        tuple(
            Panel(
                "",
                DELAY_AXIS,
                label,
                tuple(_against_delay(runs, name, key) for name in names(runs)),
                x_log=True,
                y_log=log,
            )
            for key, label, log in (
                ("utilization", "throughput / capacity", False),
                ("drop_ratio", "dropped / arrived", True),
                ("transfer_s_all", "mean completion time, s", False),
            )
        ),
        columns=3,
    )


def _against_delay(runs: Runs, name: str, key: str) -> Curve:
    at = runs.where(algorithm=name)
    samples = [
        (at.where(buffer=percent).mean("delay_ms"), at.where(buffer=percent).mean_stderr(key))
        for percent in at.distinct("buffer")
    ]
    return points(title(name), samples, name)


def ramp_up(runs: Runs, mode: Mode) -> Figure:
    """Draws the time until a number of bytes of the new flow has arrived."""
    return Figure(
        "ramp-up",
        "section 5.2",
        "Ramp-up time",
        f"Time until byte {BYTES_UNIT} 10^n of a flow arrives that starts beside another and a load of "
        f"{RAMP_LOAD:g} %. RTTs: of the old flow, of the new one. Solid: without slow-start; broken: with "
        "it. A point is missing where the run ends before." + _runs_of(runs),
        tuple(
            Panel(
                f"{mbps} Mbit/s, RTTs {rtts} ms",
                "bytes",
                "time, s",
                tuple(
                    points(
                        title(name) + ("" if slow_start == "off" else ", slow-start"),
                        [
                            (float(BYTES_UNIT * 10**power), at.mean_stderr_reached(f"reached_{power}_s"))
                            for power in range(1, MOST_POWER + 1)
                        ],
                        name,
                        stroke,
                    )
                    for name in names(runs)
                    for stroke, slow_start in enumerate(("off", "on"))
                    if runs.has(algorithm=name, mbps=mbps, rtts=rtts, slow_start=slow_start)
                    for at in [runs.where(algorithm=name, mbps=mbps, rtts=rtts, slow_start=slow_start)]
                ),
                x_log=True,
                y_log=True,
            )
            for mbps in runs.distinct("mbps")
            for rtts in dict.fromkeys(row["rtts"] for row in runs)
        ),
        columns=3,
    )


def _runs_of(runs: Runs) -> str:
    counts = {mbps: len(runs.where(mbps=mbps).distinct("repeat")) for mbps in runs.distinct("mbps")}
    return " Runs for each point: " + ", ".join(f"{n} at {mbps} Mbit/s" for mbps, n in counts.items()) + "."


def transients(runs: Runs, mode: Mode) -> Figure:
    """Draws how fast the window grows after a release, and what cross traffic loses that begins."""
    return Figure(
        "transients",
        "section 5.3",
        "Transients",
        "One flow on 100 Mbit/s with an RTT of 100 ms beside datagrams. Left: 75 Mbit/s of datagrams stop; "
        "time until the window is 60, 80 and 90 % of the BDP (a point is missing where it never is), and its "
        "greatest growth within an RTT until then. Right: datagrams begin, 75 Mbit/s at once or in "
        f"{STEPS} steps; how many are dropped until 100 s later." + repeats(runs),
        (
            Panel(
                "75 Mbit/s stop",
                "window, % of the BDP",
                "time, s",
                tuple(
                    points(
                        title(name),
                        [(float(share), at.mean_stderr_reached(f"window_{share}_s")) for share in BDP_SHARES],
                        name,
                    )
                    for name, at in _of(runs.where(transient=DECREASE))
                ),
            ),
            _bars(runs.where(transient=DECREASE), "growth within an RTT, packets", "step_packets"),
            *(
                _bars(runs.where(transient=kind), "datagrams dropped", "cross_dropped", text)
                for kind, text in ((INCREASE, "75 Mbit/s begin"), (STAIRS, "30 steps of 2.5 Mbit/s"))
            ),
        ),
    )


def _bars(runs: Runs, label: str, key: str, text: str = "75 Mbit/s stop") -> Panel:
    found = list(_of(runs))
    curve = points("mean", [(float(i), at.mean_stderr(key)) for i, (_, at) in enumerate(found)])
    return Panel(text, "", label, (curve,), categories=tuple(title(name) for name, _ in found))


def _of(runs: Runs) -> Iterable[tuple[str, Runs]]:
    for name in names(runs):
        yield name, runs.where(algorithm=name)


def impact(runs: Runs, mode: Mode) -> Figure:
    """Draws the gain of the new algorithm against the loss of standard TCP."""
    tested = [name for name in names(runs) if name != STANDARD]
    rows = tuple(
        (
            f"{mbps} Mbit/s",
            f"{load} %",
            title(name),
            *(
                f"{relative(runs, name, mbps, load, key.format(camp))[0]:.3f}"
                for key in ("goodput_bps_{}", *QUARTILE_KEYS)
                for camp in "ba"
            ),
        )
        for mbps in runs.distinct("mbps")
        for load in runs.distinct("load")
        for name in tested
    )
    return Figure(
        "impact",
        "section 6.1",
        "Impact on standard TCP",
        "Two camps with the same load: goodput of camp B with the new algorithm (G), and of camp A, which "
        "stays with standard TCP (L), each over the baseline in which both have standard TCP. In the table "
        "also the mean rate of transfers in each quartile of sizes, the smallest first, over the baseline's."
        + repeats(runs),
        tuple(
            Panel(
                f"{mbps} Mbit/s, {load} % offered",
                "L",
                "G",
                tuple(
                    points(
                        title(name),
                        [
                            (
                                relative(runs, name, mbps, load, "goodput_bps_a")[0],
                                relative(runs, name, mbps, load, "goodput_bps_b"),
                            )
                        ],
                        name,
                    )
                    for name in tested
                ),
            )
            for mbps in runs.distinct("mbps")
            for load in runs.distinct("load")
        ),
        table=Table(
            (
                "link", "load", "algorithm", "G", "L",
                *(f"{letter} of quartile {q + 1}" for q in range(QUARTILES) for letter in "GL"),
            ),
            rows,
        ),
    )  # fmt: skip


def fairness(runs: Runs, mode: Mode) -> Figure:
    """Draws the ratio of two throughputs over the RTT."""
    panels = []
    for mbps in runs.distinct("mbps"):
        for kind in (INTRA, INTER):
            for buffer in runs.where(mbps=mbps).distinct("buffer"):
                at = runs.where(mbps=mbps, kind=kind, buffer=buffer)
                text = "like RTTs" if kind == INTRA else f"beside {LONG_RTT_MS} ms"
                panels.append(
                    Panel(
                        f"{mbps} Mbit/s, {buffer} % BDP, {text}",
                        "RTT, ms",
                        "lesser / greater throughput"
                        if kind == INTRA
                        else "shorter / longer RTT's throughput",
                        tuple(
                            points(
                                title(name),
                                _over(own, "rtt_ms", lambda r, k=kind: _ratio(r, k)),  # type: ignore[misc]
                                name,
                            )
                            for name, own in _of(at)
                        ),
                        x_log=True,
                        y_log=kind != INTRA,
                        y_range=(0.0, 1.02) if kind == INTRA else None,
                    )
                )
    return Figure(
        "fairness",
        "section 6.2",
        "Intra-protocol and inter-RTT fairness",
        f"Two flows beside a load of {RAMP_LOAD:g} %, both with the same RTT, or one of {LONG_RTT_MS} ms "
        "that another joins. Buffers in percent of the BDP at 100 ms. Throughput from the later start to the "
        "end." + _runs_of(runs),
        tuple(panels),
        columns=4,
        table=_drop_table(runs),
    )


def _ratio(runs: Runs, kind: str) -> Estimate:
    return runs.mean_stderr("fairness" if kind == INTRA else "ratio")


def _over(runs: Runs, coordinate: str, estimate: Callable[[Runs], Estimate]) -> list[tuple[float, Estimate]]:
    return [(float(x), estimate(runs.where(**{coordinate: x}))) for x in runs.distinct(coordinate)]


def _drop_table(runs: Runs) -> Table:
    rows = []
    for mbps in runs.distinct("mbps"):
        for buffer in runs.where(mbps=mbps).distinct("buffer"):
            for name, at in _of(runs.where(mbps=mbps, buffer=buffer)):
                values = (at.mean("drop_ratio"), at.mean("utilization"))
                rows.append(
                    (f"{mbps} Mbit/s", f"{buffer} %", title(name), f"{values[0]:.2g}", f"{values[1]:.3f}")
                )
    return Table(("link", "buffer", "algorithm", "drops, all RTTs", "utilization"), tuple(rows))


def lot(runs: Runs, mode: Mode) -> Figure:
    """Draws what traffic over one bottleneck gets, over what traffic over three gets."""
    panels = (
        ("goodput, one / three bottlenecks", "goodput_bps_{}"),
        ("mean transfer rate, largest files", f"transfer_bps_{{}}_{QUARTILES}"),
    )
    return Figure(
        "lot",
        "section 6.3",
        "Multiple bottlenecks",
        f"Three bottlenecks of {LOT_MBPS:g} Mbit/s in a row behind links of {LOT_EDGE_MBPS:g} Mbit/s; an RTT "
        "of 60 ms on all paths. Traffic over one bottleneck (mean of three) over that across all three: "
        "goodput, and the mean rate of transfers of the largest quartile. Last: drops over all three."
        + repeats(runs),
        (
            *(
                Panel(
                    "",
                    "offered load of a bottleneck, %",
                    label,
                    tuple(
                        points(title(name), _over(at, "load", lambda r, k=key: single_share(r, k)), name)  # type: ignore[misc]
                        for name, at in _of(runs)
                    ),
                )
                for label, key in panels
            ),
            Panel(
                "",
                "offered load of a bottleneck, %",
                "dropped / arrived",
                tuple(
                    points(title(name), _over(at, "load", lambda r: r.mean_stderr("drop_ratio")), name)
                    for name, at in _of(runs)
                ),
            ),
        ),
        columns=3,
    )
