"""The runs of the draft's tests, for any choice of algorithms. `figures` draws what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from longfat.words import Mode
from longfat_papers.kit.suite import Coordinate, Experiment, Run
from longfat_papers.tcpeval import figures
from longfat_papers.tcpeval.networks import (
    basic_traffic,
    dumbbell,
    link_of,
    parking_lot,
    plain_link,
    run,
    traffic,
)
from longfat_papers.tcpeval.settings import (
    ACCESS,
    AFTER_S,
    BASIC,
    BUFFER_RTT_MS,
    BUFFERS_PERCENT,
    CENTRAL_MS,
    CROSS_MBPS,
    DECREASE,
    EDGE_MBPS,
    FAIR_BUFFERS,
    FAIR_RTTS_MS,
    FAIR_S,
    HIGH_LOAD,
    IMPACT_LOADS,
    IMPACT_MBPS,
    IMPACT_REPEATS,
    IMPACT_TIMES,
    INCREASE,
    INTER,
    INTRA,
    LONG_RTT_MS,
    LOT_LOADS,
    LOT_MBPS,
    LOT_TIMES,
    QUICK_FAST_BUFFER,
    QUICK_FAST_RTTS_MS,
    RAMP_BUFFER_MS,
    RAMP_LOAD,
    RAMP_MBPS,
    RAMP_REPEATS,
    RAMP_RTTS_MS,
    RAMP_TIMES,
    RELEASE_S,
    REPEATS,
    STANDARD,
    START_SHARE,
    STEP_MBPS,
    STEP_S,
    STEPS,
    TRANSIENT_BUFFER_PACKETS,
    TRANSIENT_MBPS,
    TRANSIENT_RTT_MS,
    TRANSIENT_S,
    TRANSIENTS,
    UP_SHARE,
    Choice,
    Times,
)

NEW_SSTHRESH = 3.0
"""Slow-start is disabled by an initial threshold at the initial window (5.2.2), which is 3 segments here."""
RAMP_SAMPLE_S, TRANSIENT_SAMPLE_S = 0.01, 0.01
START_S = 1.0
"""Flows of the transients start within this time, so that repeats differ."""


def crossing(algorithm: str, load: float, name: str = "all") -> list[dict[str, Any]]:
    """Returns traffic on the paths of Table 1, both ways, with the central link of section 5.2."""
    rtts_ms = replace(ACCESS, central_ms=CENTRAL_MS).rtts_ms()
    return traffic(algorithm, load, UP_SHARE * load, name, rtts_ms=rtts_ms)


def basic(choice: Choice, mode: Mode) -> list[Run]:
    """Six links at three loads; all connections use the algorithm (4)."""
    found = []
    for algorithm in choice.all(mode):
        for scenario in BASIC:
            for load in scenario.times:
                times = scenario.span(mode, load)
                document = dumbbell(
                    f"{scenario.title} at {load} %, {algorithm}",
                    times,
                    0,
                    link_of(scenario),
                    background=basic_traffic(scenario, algorithm, load),
                )
                at: dict[str, Coordinate] = {"algorithm": algorithm, "scenario": scenario.name, "load": load}
                found.append(run(at, 0, document, scenario.mbps, times.end_s))
    return found


def tradeoff(choice: Choice, mode: Mode) -> list[Run]:
    """The access link at a high load with five buffers (5.1)."""
    times = ACCESS.span(mode, HIGH_LOAD)
    found = []
    for algorithm in choice.all(mode):
        for percent in BUFFERS_PERCENT:
            for repeat in range(REPEATS[mode]):
                document = dumbbell(
                    f"buffer of {percent} % BDP, {algorithm}",
                    times,
                    repeat,
                    link_of(ACCESS, f"{percent / 100.0 * BUFFER_RTT_MS:g} ms"),
                    background=basic_traffic(ACCESS, algorithm, HIGH_LOAD),
                )
                at: dict[str, Coordinate] = {"algorithm": algorithm, "buffer": percent}
                found.append(run(at, repeat, document, ACCESS.mbps, times.end_s))
    return found


def ramp_up(choice: Choice, mode: Mode) -> list[Run]:
    """A new flow joins another beside a load of half the link, without slow-start or with it (5.2)."""
    return [
        _ramp(mode, algorithm, mbps, rtts, slow_start, repeat)
        for algorithm in choice.all(mode)
        for mbps in RAMP_MBPS
        for rtts in RAMP_RTTS_MS
        for slow_start in ("off", "on")
        for repeat in range(RAMP_REPEATS)
        if mbps == min(RAMP_MBPS) or (slow_start == "off" and (mode == "full" or repeat == 0))
    ]


def _ramp(
    mode: Mode, algorithm: str, mbps: int, rtts: tuple[float, float], slow_start: str, repeat: int
) -> Run:
    times = RAMP_TIMES[mode][mbps]
    old, new = rtts
    late: dict[str, Any] = {"start": f"{times.begin_s:g} s"}
    if slow_start == "off":
        late["initial_ssthresh"] = NEW_SSTHRESH
    document = dumbbell(
        f"ramp-up on {mbps} Mbit/s, {algorithm}, slow-start {slow_start}",
        times,
        repeat,
        plain_link(mbps, f"{RAMP_BUFFER_MS:g} ms", EDGE_MBPS),
        flows=(
            {"name": "old", "algorithm": algorithm, "rtt": f"{old:g} ms"},
            {"name": "new", "algorithm": algorithm, "rtt": f"{new:g} ms", **late},
        ),
        background=crossing(algorithm, RAMP_LOAD),
        sample_s=RAMP_SAMPLE_S,
    )
    at: dict[str, Coordinate] = {
        "algorithm": algorithm,
        "mbps": mbps,
        "rtts": f"{old:g}, {new:g}",
        "slow_start": slow_start,
    }
    return run(at, repeat, document, mbps, times.end_s)


def transients(choice: Choice, mode: Mode) -> list[Run]:
    """Datagrams that stop, start, or start step by step beside one flow (5.3)."""
    found = []
    for algorithm in choice.all(mode):
        for transient in TRANSIENTS:
            for repeat in range(REPEATS[mode]):
                cross = _cross(transient)
                lasting_s = RELEASE_S if transient == DECREASE else AFTER_S
                lasting_s += STEPS * STEP_S if cross.get("count") else 0.0
                times = Times(0.0, 0.0, TRANSIENT_S + lasting_s)
                rtt = f"{TRANSIENT_RTT_MS:g} ms"
                start = {"uniform": ["0 s", f"{START_S:g} s"]}
                document = dumbbell(
                    f"{transient} of cross traffic, {algorithm}",
                    times,
                    repeat,
                    plain_link(TRANSIENT_MBPS, f"{TRANSIENT_BUFFER_PACKETS} packets", TRANSIENT_MBPS),
                    flows=(
                        {"name": "test", "algorithm": algorithm, "rtt": rtt, "start": start},
                        {"name": "cross", "rtt": rtt, **cross},
                    ),
                    sample_s=TRANSIENT_SAMPLE_S,
                )
                at: dict[str, Coordinate] = {"algorithm": algorithm, "transient": transient}
                found.append(run(at, repeat, document, TRANSIENT_MBPS, times.end_s))
    return found


def _cross(transient: str) -> dict[str, Any]:
    def datagrams(mbps: float) -> dict[str, Any]:
        return {"name": "cbr", "rate": f"{mbps:g} Mbit/s"}

    begin = f"{TRANSIENT_S:g} s"
    if transient == DECREASE:
        return {"algorithm": datagrams(CROSS_MBPS), "stop": begin}
    if transient == INCREASE:
        return {"algorithm": datagrams(CROSS_MBPS), "start": begin}
    return {"algorithm": datagrams(STEP_MBPS), "start": begin, "count": STEPS, "stagger": f"{STEP_S:g} s"}


def impact(choice: Choice, mode: Mode) -> list[Run]:
    """Camp A of standard TCP beside camp B of the algorithm, or of standard TCP too (6.1).

    The run with standard TCP in both camps is the baseline. The names of the traffic are the same in both, so
    connections start at the same times with the same sizes.
    """
    found = []
    for algorithm in choice.all(mode):
        for mbps in IMPACT_MBPS[mode]:
            for load in IMPACT_LOADS:
                for repeat in range(IMPACT_REPEATS):
                    times = IMPACT_TIMES[mode][load]
                    camps = [*crossing(STANDARD, load / 2, "a"), *crossing(algorithm, load / 2, "b")]
                    document = dumbbell(
                        f"standard TCP beside {algorithm}, {mbps} Mbit/s at {load} %",
                        times,
                        repeat,
                        plain_link(mbps, f"{RAMP_BUFFER_MS:g} ms", EDGE_MBPS),
                        background=camps,
                    )
                    at: dict[str, Coordinate] = {"algorithm": algorithm, "mbps": mbps, "load": load}
                    found.append(run(at, repeat, document, mbps, times.end_s))
    return found


def fairness(choice: Choice, mode: Mode) -> list[Run]:
    """Two flows with the same RTT, or one of 160 ms that another joins, beside a load of half (6.2)."""
    return [
        _fair(mode, algorithm, mbps, buffer, kind, rtt, repeat)
        for algorithm in choice.all(mode)
        for mbps in RAMP_MBPS
        for buffer, rtt in _fair_grid(mode, mbps)
        for kind in (INTRA, INTER)
        for repeat in range(REPEATS[mode] if mbps == min(RAMP_MBPS) else 1)
        if kind == INTRA or rtt != LONG_RTT_MS
    ]


def _fair_grid(mode: Mode, mbps: int) -> Iterator[tuple[int, int]]:
    few = mode == "quick" and mbps != min(RAMP_MBPS)
    for buffer in (QUICK_FAST_BUFFER,) if few else FAIR_BUFFERS:
        for rtt in QUICK_FAST_RTTS_MS if few else FAIR_RTTS_MS:
            yield buffer, rtt


def _fair(mode: Mode, algorithm: str, mbps: int, buffer: int, kind: str, rtt: int, repeat: int) -> Run:
    seconds = FAIR_S[mode][mbps]
    half = 0.5 * START_SHARE * seconds
    early, late = {"uniform": ["0 s", f"{half:g} s"]}, {"uniform": [f"{half:g} s", f"{2.0 * half:g} s"]}
    anywhere = {"uniform": ["0 s", f"{2.0 * half:g} s"]}
    times = Times(0.0, 0.0, seconds)
    document = dumbbell(
        f"{kind} on {mbps} Mbit/s, {rtt} ms, {buffer} % BDP, {algorithm}",
        times,
        repeat,
        plain_link(mbps, f"{buffer / 100.0 * BUFFER_RTT_MS:g} ms", EDGE_MBPS),
        flows=(
            {
                "name": "first",
                "algorithm": algorithm,
                "rtt": f"{rtt if kind == INTRA else LONG_RTT_MS} ms",
                "start": anywhere if kind == INTRA else early,
            },
            {
                "name": "second",
                "algorithm": algorithm,
                "rtt": f"{rtt} ms",
                "start": anywhere if kind == INTRA else late,
            },
        ),
        background=crossing(algorithm, RAMP_LOAD),
    )
    at: dict[str, Coordinate] = {
        "algorithm": algorithm,
        "mbps": mbps,
        "buffer": buffer,
        "kind": kind,
        "rtt_ms": rtt,
    }
    return run(at, repeat, document, mbps, seconds)


def lot(choice: Choice, mode: Mode) -> list[Run]:
    """Traffic over three bottlenecks, and over each of them (6.3)."""
    found = []
    for algorithm in choice.all(mode):
        for load in LOT_LOADS:
            for repeat in range(REPEATS[mode]):
                times = LOT_TIMES[mode][load]
                document = parking_lot(
                    f"parking lot at {2 * load} %, {algorithm}", times, repeat, algorithm, load
                )
                at: dict[str, Coordinate] = {"algorithm": algorithm, "load": 2 * load}
                found.append(run(at, repeat, document, 3 * LOT_MBPS, times.end_s))
    return found


def experiments(choice: Choice) -> tuple[Experiment, ...]:
    """Returns the experiments of the draft for a choice of algorithms."""
    rows: tuple[tuple[str, str, str, Callable[[Choice, Mode], list[Run]], Any], ...] = (
        ("basic", "section 4", "Basic scenarios", basic, figures.basic),
        ("tradeoff", "section 5.1", "Delay and throughput over the buffer", tradeoff, figures.tradeoff),
        ("ramp-up", "section 5.2", "Ramp-up time", ramp_up, figures.ramp_up),
        ("transients", "section 5.3", "Transients", transients, figures.transients),
        ("impact", "section 6.1", "Impact on standard TCP", impact, figures.impact),
        ("fairness", "section 6.2", "Intra-protocol and inter-RTT fairness", fairness, figures.fairness),
        ("lot", "section 6.3", "Multiple bottlenecks", lot, figures.lot),
    )
    return tuple(
        Experiment(name, mirrors, title, partial(runs, choice), figure)
        for name, mirrors, title, runs, figure in rows
    )
