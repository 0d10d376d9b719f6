"""Transients (EVAL-5.3): section 5.3."""

from __future__ import annotations

import math
from typing import Any

from longfat.figure.data import points
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.checks import at_most
from longfat_papers.kit.curves import repeats
from longfat_papers.tcpeval import common as ev
from longfat_papers.tcpeval import networks as nw

BUFFER_PACKETS = 1024
CROSS_MBPS = 75.0
STEPS, STEP_MBPS, STEP_S = 30, 2.5, 1.0
"""Section 5.3.1."""
AFTER_S = 100.0
"""Cross traffic packets are counted for this time after the transient (5.3.3)."""
RELEASE_S = 300.0
"""Time that a flow has to reach its BDP after the release; the draft sets no limit."""
SAMPLE_S = 0.01
START_S = 1.0
"""Flows start within this time, so that repeats differ."""
DECREASE, INCREASE, STAIRS = TRANSIENTS = ("decrease", "increase", "steps")
"""Values of the coordinate `transient`."""


@ev.experiment("transients", "section 5.3", "Transients", {"transient": TRANSIENTS, "repeat": ev.REPEATS})
def one_flow(mode: Mode, algorithm: str, transient: str, repeat: int) -> nw.Table:
    rtt = f"{nw.TRANSIENT_RTT_MS:g} ms"
    cross: dict[str, Any] = {"name": "cross", "rtt": rtt, "start": f"{nw.TRANSIENT_S:g} s"}
    mbps, lasting_s = CROSS_MBPS, AFTER_S
    if transient == DECREASE:
        cross["stop"], lasting_s = cross.pop("start"), RELEASE_S
    elif transient == STAIRS:
        cross |= {"count": STEPS, "stagger": f"{STEP_S:g} s"}
        mbps, lasting_s = STEP_MBPS, AFTER_S + STEPS * STEP_S
    cross["algorithm"] = {"name": "cbr", "rate": f"{mbps:g} Mbit/s"}
    start = {"uniform": ["0 s", f"{START_S:g} s"]}
    return nw.scenario(
        f"{transient} of cross traffic, {algorithm}",
        nw.Times(0.0, 0.0, nw.TRANSIENT_S + lasting_s),
        bottleneck=nw.link(nw.TRANSIENT_MBPS, f"{BUFFER_PACKETS} packets", nw.TRANSIENT_MBPS),
        flow=[{"name": "test", "algorithm": algorithm, "rtt": rtt, "start": start}, cross],
        sample_s=SAMPLE_S,
    )


@one_flow.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    decrease = runs.where(transient=DECREASE)
    times = ev.lines(
        decrease,
        lambda at: ((float(share), at.mean_stderr_reached(f"window_{share}_s")) for share in nw.BDP_SHARES),
    )
    return Drawing(
        "One flow on 100 Mbit/s with an RTT of 100 ms beside datagrams. Left: 75 Mbit/s of datagrams stop; "
        "time until the window is 60, 80 and 90 % of the BDP (a point is missing where it never is), and its "
        "greatest growth within an RTT until then. Right: datagrams begin, 75 Mbit/s at once or in "
        f"{STEPS} steps; how many are dropped until 100 s later." + repeats(runs),
        (
            Panel("75 Mbit/s stop", "window, % of the BDP", "time, s", times),
            _bars(decrease, "75 Mbit/s stop", "growth within an RTT, packets", "step_packets"),
            *(
                _bars(runs.where(transient=kind), text, "datagrams dropped", "cross_dropped")
                for kind, text in ((INCREASE, "75 Mbit/s begin"), (STAIRS, "30 steps of 2.5 Mbit/s"))
            ),
        ),
    )


def _bars(runs: Runs, text: str, label: str, key: str) -> Panel:
    found = [(float(x), at.mean_stderr(key)) for x, (_, at) in enumerate(ev.each(runs))]
    return Panel(text, "", label, (points("mean", found),), categories=tuple(ev.titles(runs).values()))


@one_flow.claim(
    "5.3",
    "one flow on 100 Mbit/s and 100 ms; 75 Mbit/s of datagrams stop, begin, or begin in 30 steps",
    "prints no value; times to 60, 80 and 90 % of the BDP, the greatest growth within an RTT, and "
    "dropped cross traffic are asked for",
    settings=(
        Setting("link", "100 Mbit/s, 1024 packets of buffer, 100 ms", "5.3.1, 5.3.2"),
        Setting(
            "transient", f"at {nw.TRANSIENT_S:g} s", CHOSEN_HERE + ": slow-start is over by then (5.3.1)"
        ),
        Setting("cross traffic", "datagrams at a constant rate; no TCP", "5.3.1"),
    ),
    estimator="Window in segments against a BDP of 833 packets; dropped until 100 s after the transient. "
    f"A window that is not reached {RELEASE_S:g} s after the release has no time (a limit chosen here).",
    bounds=ev.REPORTED,
    reports=True,
)
def windows_and_dropped_datagrams(runs: Runs) -> Checks:
    values: dict[str, Any] = {}
    texts = {}
    for name, at in ev.each(runs):
        down = at.where(transient=DECREASE)
        times = [down.mean_stderr_reached(f"window_{share}_s")[0] for share in nw.BDP_SHARES]
        dropped = [at.where(transient=kind).mean("cross_dropped") for kind in (INCREASE, STAIRS)]
        step = down.mean("step_packets")
        values[name] = {"window_s": times, "step_packets": step, "cross_dropped": dropped}
        reached = f"{times[-1]:.3g} s" if math.isfinite(times[-1]) else f"not within {RELEASE_S:g} s"
        texts[name] = f"{reached}, {dropped[0]:.0f} and {dropped[1]:.0f} dropped"
    at_once = {name: row["cross_dropped"][0] for name, row in values.items()}
    quantity, than = "datagrams dropped at the increase", "those beside standard TCP"
    yield from ev.against_standard(at_most, quantity, at_once, than)
    return Evidence(
        f"time to 90 % of the BDP; datagrams dropped, at once and in steps: {ev.told(texts, '; ')}",
        values,
        figure=Measured("datagrams dropped beside standard TCP at the increase", at_once[nw.STANDARD]),
    )
