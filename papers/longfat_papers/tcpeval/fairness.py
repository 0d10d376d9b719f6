"""Intra-protocol and inter-RTT fairness (EVAL-6.2): section 6.2."""

from __future__ import annotations

from longfat.figure.data import Panel, Table
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.checks import at_least, at_most
from longfat_papers.kit.curves import by_algorithm
from longfat_papers.kit.means import geometric_mean
from longfat_papers.kit.text import percent
from longfat_papers.tcpeval import common as ev
from longfat_papers.tcpeval import networks as nw

LONG_RTT_MS = 160
INTRA, INTER = "intra", "inter"
"""Values of the coordinate `kind`: two like RTTs, or one of 160 ms that is joined by another."""
DURATION_S = {"quick": {10: 200.0, 1000: 40.0}, "full": {10: 600.0, 1000: 600.0}}
START_SHARE = 0.1
"""Flows start within this share of the run."""
QUICK_RTTS_MS, QUICK_BUFFER = (10, 40, 160), 100
"""In quick mode the 1 Gbit/s link has these RTTs, and one buffer."""


@ev.experiment(
    "fairness",
    "section 6.2",
    "Intra-protocol and inter-RTT fairness",
    {
        "mbps": nw.RAMP_MBPS,
        "buffer": (25, 50, 100, 200),
        "rtt_ms": (10, 20, 40, 80, 160),
        "kind": (INTRA, INTER),
        "repeat": ev.REPEATS,
    },
)
def two_flows(
    mode: Mode, algorithm: str, mbps: int, buffer: int, rtt_ms: int, kind: str, repeat: int
) -> nw.Table | None:
    few = mode == "quick" and (rtt_ms not in QUICK_RTTS_MS or buffer != QUICK_BUFFER)
    if (mbps != nw.SLOW_MBPS and (few or repeat > 0)) or (kind == INTER and rtt_ms == LONG_RTT_MS):
        return None
    duration_s = DURATION_S[mode][mbps]
    half_s, whole_s = 0.5 * START_SHARE * duration_s, START_SHARE * duration_s
    first: nw.Table = {"name": "first", "algorithm": algorithm, "rtt": f"{rtt_ms} ms"}
    first["start"] = {"uniform": ["0 s", f"{whole_s:g} s"]}
    second = first | {"name": "second"}
    if kind == INTER:
        first |= {"rtt": f"{LONG_RTT_MS} ms", "start": {"uniform": ["0 s", f"{half_s:g} s"]}}
        second["start"] = {"uniform": [f"{half_s:g} s", f"{whole_s:g} s"]}
    return nw.scenario(
        f"{kind} on {mbps} Mbit/s, {rtt_ms} ms, {buffer} % BDP, {algorithm}",
        nw.Times(0.0, 0.0, duration_s),
        bottleneck=nw.link(mbps, f"{buffer / 100.0 * nw.BUFFER_RTT_MS:g} ms"),
        flow=[first, second],
        background=nw.crossing(algorithm, nw.RAMP_LOAD),
    )


@two_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    texts = {
        INTRA: ("like RTTs", "lesser / greater throughput", "fairness"),
        INTER: (f"beside {LONG_RTT_MS} ms", "shorter / longer RTT's throughput", "ratio"),
    }
    return Drawing(
        f"Two flows beside a load of {nw.RAMP_LOAD:g} %, both with the same RTT, or one of {LONG_RTT_MS} ms "
        "that another joins. Buffers in percent of the BDP at 100 ms. Throughput from the later start to the "
        "end." + ev.by_link(runs),
        tuple(
            Panel(
                f"{mbps} Mbit/s, {buffer} % BDP, {text}",
                "RTT, ms",
                label,
                by_algorithm(runs.where(mbps=mbps, kind=kind, buffer=buffer), "rtt_ms", key, ev.titles(runs)),
                x_log=True,
                y_log=kind != INTRA,
                y_range=(0.0, 1.02) if kind == INTRA else None,
            )
            for mbps in runs.distinct("mbps")
            for kind, (text, label, key) in texts.items()
            for buffer in runs.where(mbps=mbps).distinct("buffer")
        ),
        columns=4,
        table=Table(
            ("link", "buffer", "algorithm", "drops, all RTTs", "utilization"),
            tuple(
                (
                    f"{mbps} Mbit/s",
                    f"{buffer} %",
                    ev.title(name),
                    f"{at.mean('drop_ratio'):.2g}",
                    f"{at.mean('utilization'):.3f}",
                )
                for mbps in runs.distinct("mbps")
                for buffer in runs.where(mbps=mbps).distinct("buffer")
                for name, at in ev.each(runs.where(mbps=mbps, buffer=buffer))
            ),
        ),
    )


@two_flows.claim(
    "6.2",
    "two flows of one algorithm with RTTs of 10 to 160 ms beside a load of 50 %",
    "prints no value; the ratio of the throughputs and the drop rate are asked for",
    settings=(
        *ev.TRAFFIC,
        Setting("link", "10 Mbit/s and 1 Gbit/s, buffers of 25 to 200 % of the BDP at 100 ms", "6.2.1"),
        Setting(
            "start",
            f"like RTTs: both within the first {percent(START_SHARE)} % of the run; otherwise the flow "
            "of 160 ms in the first half of that, the other in the second",
            "6.2.2; " + CHOSEN_HERE,
        ),
        Setting("duration", "600 s", "6.2.1: as 5.2; " + CHOSEN_HERE + " for its start"),
    ),
    estimator="Throughput from the later start to the end; geometric mean of ratios of unlike RTTs.",
    bounds=f"{ev.REPORTED} Both are means over RTTs and buffers on {nw.SLOW_MBPS} Mbit/s, the former with "
    "like RTTs, the latter with unlike ones.",
    reports=True,
)
def ratios_of_throughputs(runs: Runs) -> Checks:
    values = {
        f"{name}, {mbps}": {
            INTRA: at.where(kind=INTRA).mean("fairness"),
            INTER: geometric_mean(at.where(kind=INTER).values("ratio").tolist()),
        }
        for name, own in ev.each(runs)
        for mbps in own.distinct("mbps")
        for at in [own.where(mbps=mbps)]
    }
    slow = {name: values[f"{name}, {nw.SLOW_MBPS}"] for name, _ in ev.each(runs)}
    base = slow[nw.STANDARD]
    for name in ev.tested(runs):
        text = f"{ev.title(name)}: lesser over greater throughput"
        yield at_least(text, slow[name][INTRA], base[INTRA], than="standard TCP's")
        text = f"{ev.title(name)}: advantage of the shorter RTT"
        yield at_most(text, slow[name][INTER], base[INTER], than="standard TCP's")
    texts = {name: f"{row[INTRA]:.2f}, {row[INTER]:.3g}" for name, row in slow.items()}
    return Evidence(
        f"{nw.SLOW_MBPS} Mbit/s: lesser / greater throughput with like RTTs, and shorter / longer RTT's, "
        f"means over RTTs and buffers: {ev.told(texts)}",
        values,
        figure=Measured("standard TCP's mean ratio with like RTTs", base[INTRA]),
    )
