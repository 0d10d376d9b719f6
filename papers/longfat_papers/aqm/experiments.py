"""The runs of the comparison of queues. `figures` draws what they show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longfat.words import Mode
from longfat_papers.aqm import figures
from longfat_papers.aqm.settings import (
    ABOVE_BURSTS,
    AROUND_PIE,
    BOUND_OFFERED,
    CHANGE_S,
    DROPS,
    DURATION_S,
    FAR_MS,
    FEW,
    FLOWS,
    LONG_BUFFER_PACKETS,
    MARKS,
    MORE,
    NEAR_MS,
    NUMBERS,
    OFFERED,
    QUEUES,
    RATE_MBPS,
    REPEATS,
    RESPONSIVE,
    SACK,
    alternating,
    can_mark,
    run,
)
from longfat_papers.kit.suite import Experiment, Run


def like_flows(mode: Mode) -> list[Run]:
    """Twenty like flows behind each queue."""
    return [
        run(mode, {}, queue, signal, [SACK | {"count": FLOWS}], repeat)
        for queue, signal, repeat in combinations(mode)
    ]


def changing_load(mode: Mode) -> list[Run]:
    """Five flows, thirty in the second third of the run, five again."""
    third = DURATION_S[mode] // 3
    more = {"start": {"uniform": [f"{third} s", f"{third + 1} s"]}, "stop": f"{2 * third} s"}
    flows = [SACK | {"name": "few", "count": FEW}, SACK | {"name": "more", "count": MORE} | more]
    return [run(mode, {}, queue, signal, flows, repeat) for queue, signal, repeat in combinations(mode)]


def changing_capacity(mode: Mode) -> list[Run]:
    """Twenty like flows on a capacity that changes tenfold, slowly and fast."""
    return [
        run(
            mode,
            {"change": change},
            queue,
            signal,
            [SACK | {"count": FLOWS}],
            repeat,
            {"rate": alternating(mode, change)},
        )
        for change in CHANGE_S
        for queue, signal, repeat in combinations(mode)
    ]


def mixes(mode: Mode) -> list[Run]:
    """Like flows, flows with different RTTs, gentle flows beside aggressive ones."""
    half = FLOWS // 2
    kinds = {
        "like": [SACK | {"count": FLOWS}],
        "RTTs": [SACK | {"name": name, "count": half, "rtt": f"{rtt} ms"} for name, rtt in NEAR_AND_FAR],
        "aggressive": [
            {"name": "gentle", "algorithm": "reno", "count": half},
            {"name": "aggressive", "algorithm": "stcp", "count": half},
        ],
    }
    return [
        run(mode, {"mix": mix}, queue, signal, flows, repeat)
        for mix, flows in kinds.items()
        for queue, signal, repeat in combinations(mode)
    ]


NEAR_AND_FAR = (("near", NEAR_MS), ("far", FAR_MS))


def unresponsive(mode: Mode) -> list[Run]:
    """Datagrams at a constant rate beside few and many flows of TCP."""
    return [
        run(mode, {"flows": number, "offered": offered}, queue, DROPS, _datagrams(number, offered), repeat)
        for number in RESPONSIVE
        for queue in QUEUES
        for offered in OFFERED
        for repeat in range(REPEATS[mode])
    ]


def bound(mode: Mode) -> list[Run]:
    """Datagrams beside many flows behind CHOKe, with thresholds around PIE's target and above bursts."""
    many = RESPONSIVE[-1]
    return [
        run(
            mode,
            {"thresholds": f"{least} and {most}", "offered": offered},
            "choke",
            DROPS,
            _datagrams(many, offered),
            repeat,
            {
                "buffer": f"{LONG_BUFFER_PACKETS} packets",
                "queue": {"kind": "choke", "min": f"{least} packets", "max": f"{most} packets"},
            },
        )
        for least, most in (AROUND_PIE, ABOVE_BURSTS)
        for offered in BOUND_OFFERED
        for repeat in range(REPEATS[mode])
    ]


def _datagrams(flows: int, offered: float) -> list[dict[str, Any]]:
    rate = {"name": "cbr", "rate": f"{offered * RATE_MBPS:g} Mbit/s"}
    return [SACK | {"name": "TCP", "count": flows}, {"name": "datagrams", "algorithm": rate}]


def numbers(mode: Mode) -> list[Run]:
    """Different numbers of flows behind SRED."""
    return [
        run(mode, {"flows": number}, "sred", DROPS, [SACK | {"count": number}], repeat)
        for number in NUMBERS[mode]
        for repeat in range(REPEATS[mode])
    ]


def combinations(mode: Mode) -> Iterator[tuple[str, str, int]]:
    """Yields each queue with drops, and with marks if it can mark, in each repeat."""
    for queue in QUEUES:
        for signal in (DROPS, MARKS) if can_mark(queue) else (DROPS,):
            for repeat in range(REPEATS[mode]):
                yield queue, signal, repeat


EXPERIMENTS = (
    Experiment("tradeoff", "RFC 7928, 2.7", "Goodput against queueing delay", like_flows, figures.tradeoff),
    Experiment("load", "RFC 7928, 8.2.5; thesis 2.5.1.5", "Changing load", changing_load, figures.load),
    Experiment(
        "capacity",
        "RFC 7928, 8.2.6; thesis 2.5.1.5",
        "Changing capacity",
        changing_capacity,
        figures.capacity,
    ),
    Experiment(
        "fairness",
        "RFC 7928, 5.2 and 6; thesis 2.5.1.5",
        "Fairness among TCP flows",
        mixes,
        figures.fairness,
    ),
    Experiment(
        "unresponsive",
        "RFC 7928, 5.3; thesis 2.5.1.2",
        "Unresponsive datagrams",
        unresponsive,
        figures.unresponsive,
    ),
    Experiment("bound", "thesis 2.5.1.2", "CHOKe's bound and its thresholds", bound, figures.bound),
    Experiment("flows", "thesis 2.5.1.4", "The number of flows that SRED estimates", numbers, figures.flows),
)
