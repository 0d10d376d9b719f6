"""Ramp-up time (EVAL-5.2, EVAL-5.2.2): section 5.2."""

from __future__ import annotations

from typing import Any

from longfat.figure.data import points
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.checks import above, at_most
from longfat_papers.kit.means import geometric_mean
from longfat_papers.tcpeval import common as ev
from longfat_papers.tcpeval import networks as nw
from longfat_papers.tcpeval.networks import Times

TIMES = {
    "quick": {10: Times(0.0, 60.0, 200.0), 1000: Times(0.0, 20.0, 40.0)},
    "full": {10: Times(500.0, 114.0, 600.0), 1000: Times(200.0, 102.0, 600.0)},
}
"""The new flow starts where statistics begin. Table 9; of its three warm-ups at 10 Mbit/s the longest."""
INITIAL_SSTHRESH = 3.0
"""Disables slow-start: an initial threshold at the initial window (5.2.2), which is 3 segments here."""
SAMPLE_S = 0.01
POWER = 3
"""Times are compared until byte 1500 10^POWER."""
BYTES = f"{nw.BYTES_UNIT} 10^{POWER}"

SETTINGS = (
    *ev.TRAFFIC,
    Setting(
        "link",
        f"{nw.RAMP_MBPS[0]} Mbit/s and {nw.RAMP_MBPS[1] // 1000} Gbit/s, 80 ms of buffer, a central delay of "
        "2 ms, edge links of 1 Gbit/s",
        "5.2.1",
    ),
    Setting("RTTs", "80 and 80, 120 and 30, 30 and 120 ms", "5.2.1, Table 8"),
    Setting("load", "50 % from right to left", "5.2.1"),
    Setting(
        "times",
        f"the new flow starts at {TIMES['full'][10].begin_s:g} and {TIMES['full'][1000].begin_s:g} s, 600 s "
        "before the end; quick: at 60 and 20 s",
        "Table 9, of the three warm-ups at 10 Mbit/s the longest",
    ),
)


@ev.experiment(
    "ramp-up",
    "section 5.2",
    "Ramp-up time",
    # RTTs of the existing and of the new flow (5.2.1); an average over at least three runs (5.2.3)
    {
        "mbps": nw.RAMP_MBPS,
        "rtts": ("80, 80", "120, 30", "30, 120"),
        "slow_start": ("off", "on"),
        "repeat": 3,
    },
)
def a_new_flow(
    mode: Mode, algorithm: str, mbps: int, rtts: str, slow_start: str, repeat: int
) -> nw.Table | None:
    if mbps != nw.SLOW_MBPS and (slow_start == "on" or (mode == "quick" and repeat > 0)):
        return None
    times = TIMES[mode][mbps]
    old, new = ({"algorithm": algorithm, "rtt": f"{rtt} ms"} for rtt in rtts.split(", "))
    late: dict[str, Any] = {"start": f"{times.begin_s:g} s"}
    if slow_start == "off":
        late["initial_ssthresh"] = INITIAL_SSTHRESH
    return nw.scenario(
        f"ramp-up on {mbps} Mbit/s, {algorithm}, slow-start {slow_start}",
        times,
        bottleneck=nw.link(mbps, f"{nw.RAMP_BUFFER_MS:g} ms"),
        flow=[{"name": "old", **old}, {"name": "new", **new, **late}],
        background=nw.crossing(algorithm, nw.RAMP_LOAD),
        sample_s=SAMPLE_S,
    )


@a_new_flow.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    powers = range(1, nw.MOST_POWER + 1)
    kinds = (("off", "", 0), ("on", ", slow-start", 1))
    return Drawing(
        f"Time until byte {nw.BYTES_UNIT} 10^n of a flow arrives that starts beside another and a load of "
        f"{nw.RAMP_LOAD:g} %. RTTs: of the old flow, of the new one. Solid: without slow-start; broken: with "
        "it. A point is missing where the run ends before." + ev.by_link(runs),
        tuple(
            Panel(
                f"{mbps} Mbit/s, RTTs {rtts} ms",
                "bytes",
                "time, s",
                tuple(
                    points(
                        ev.title(name) + text,
                        [
                            (float(nw.BYTES_UNIT * 10**power), at.mean_stderr_reached(f"reached_{power}_s"))
                            for power in powers
                        ],
                        name,
                        stroke,
                    )
                    for name, own in ev.each(runs.where(mbps=mbps, rtts=rtts))
                    for slow_start, text, stroke in kinds
                    if own.has(slow_start=slow_start)
                    for at in [own.where(slow_start=slow_start)]
                ),
                x_log=True,
                y_log=True,
            )
            for mbps in runs.distinct("mbps")
            for rtts in dict.fromkeys(row["rtts"] for row in runs)
        ),
        columns=3,
    )


def _mean_time_s(runs: Runs) -> float:
    """Returns the mean time until the bytes that are compared; NaN if a run did not get so far."""
    return runs.mean(f"reached_{POWER}_s")


@a_new_flow.claim(
    "5.2",
    "a new flow without slow-start beside another and a load of 50 %",
    "prints no value; the times until byte 1500 10^n of the new flow are asked for",
    settings=SETTINGS,
    estimator="Time from the new flow's start; mean over three runs.",
    bounds=f"{ev.REPORTED} The time is that until byte {BYTES} on {nw.SLOW_MBPS} Mbit/s.",
    reports=True,
)
def times_without_slow_start(runs: Runs) -> Checks:
    without = runs.where(slow_start="off")
    values = {
        f"{name}, {mbps}, {rtts}": [
            at.where(rtts=rtts).mean_stderr_reached(f"reached_{power}_s")[0]
            for power in range(1, nw.MOST_POWER + 1)
        ]
        for name, own in ev.each(without)
        for mbps in nw.RAMP_MBPS
        for at in [own.where(mbps=mbps)]
        for rtts in dict.fromkeys(row["rtts"] for row in at)
    }
    times = {name: _mean_time_s(own.where(mbps=nw.SLOW_MBPS)) for name, own in ev.each(without)}
    yield from ev.against_standard(at_most, "time", times)
    megabytes = 1.5 * 10 ** (POWER - 3)
    return Evidence(
        f"{megabytes:g} MB on {nw.SLOW_MBPS} Mbit/s without slow-start: "
        + ev.told({name: f"{time:.3g} s" for name, time in times.items()}),
        values,
        figure=Measured("standard TCP's time, s", times[nw.STANDARD], log=True),
    )


@a_new_flow.claim(
    "5.2.2",
    "the new flow of EVAL-5.2 without slow-start, and with it",
    "without slow-start is the worst case",
    settings=(
        *SETTINGS,
        Setting("bytes", BYTES, CHOSEN_HERE + ": seconds on this link, when slow-start is long over"),
    ),
    estimator="Time from the new flow's start; mean over three runs and three pairs of RTTs.",
    bounds=f"The time is that until byte {BYTES} on {nw.SLOW_MBPS} Mbit/s.",
)
def slow_start_helps(runs: Runs) -> Checks:
    ratios = {}
    for name, own in ev.each(runs.where(mbps=nw.SLOW_MBPS)):
        without, with_it = (_mean_time_s(own.where(slow_start=kind)) for kind in ("off", "on"))
        ratios[name] = without / with_it
        yield above(f"{ev.title(name)}: time without slow-start over the time with it", ratios[name], 1.0)
    return Evidence(
        "time without slow-start over the time with it: "
        + ev.told({name: f"{ratio:.3g}" for name, ratio in ratios.items()}),
        ratios,
        figure=Measured("mean ratio", geometric_mean(ratios.values()), log=True),
    )
