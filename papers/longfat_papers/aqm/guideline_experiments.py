"""The runs of the tests of RFC 7928 that the thesis has no comparison for."""

from __future__ import annotations

from typing import Any

from longfat.words import Mode
from longfat_papers.aqm import guideline_figures
from longfat_papers.aqm.experiments import combinations
from longfat_papers.aqm.guideline_networks import (
    both_ways,
    burst_flows,
    mixed_flows,
    packets,
    two_queues,
)
from longfat_papers.aqm.guideline_settings import (
    CASES,
    CATEGORIES_MS,
    CATEGORY_MS,
    LEVELS,
    POSITIONS,
    SENDERS,
    flows_of,
)
from longfat_papers.aqm.settings import BUFFER_PACKETS, DROPS, MARKS, QUEUES, REPEATS, SACK, run
from longfat_papers.kit.suite import Coordinate, Experiment, Run


def senders(mode: Mode) -> list[Run]:
    """One standard, aggressive or unresponsive sender, or a standard one beside another or a short flow."""
    return [
        run(mode, {"sender": sender}, queue, DROPS, flows, repeat)
        for sender, flows in SENDERS.items()
        for queue in QUEUES
        for repeat in range(REPEATS[mode])
    ]


def categories(mode: Mode) -> list[Run]:
    """A flow with an RTT of 100 ms beside one with another RTT."""
    return [
        run(
            mode,
            {"rtt_ms": rtt},
            queue,
            DROPS,
            [SACK | {"name": "I", "rtt": f"{CATEGORY_MS} ms"}, SACK | {"name": "II", "rtt": f"{rtt} ms"}],
            repeat,
        )
        for rtt in CATEGORIES_MS[mode]
        for queue in QUEUES
        for repeat in range(REPEATS[mode])
    ]


def levels(mode: Mode) -> list[Run]:
    """As many like flows as mild, medium and heavy congestion take."""
    return [
        run(mode, {"level": level}, queue, signal, [SACK | {"count": flows_of(level)}], repeat)
        for level in LEVELS
        for queue, signal, repeat in combinations(mode)
    ]


def bursts(mode: Mode) -> list[Run]:
    """Web pages and datagrams, without and with a long flow and a video."""
    return [
        run(mode, {"case": case}, queue, DROPS, burst_flows(mode, case), repeat)
        for case in CASES
        for queue in QUEUES
        for repeat in range(REPEATS[mode])
    ]


def mix(mode: Mode) -> list[Run]:
    """A call, six web pages, datagrams, a video and five long flows."""
    return [
        run(mode, {}, queue, DROPS, mixed_flows(mode), repeat)
        for queue in QUEUES
        for repeat in range(REPEATS[mode])
    ]


def bidirectional(mode: Mode) -> list[Run]:
    """Mild congestion in both directions, with the queue under test in both."""
    return [
        run(mode, {}, queue, signal, both_ways(), repeat, _both_queues(queue, signal))
        for queue, signal, repeat in combinations(mode)
    ]


def _both_queues(queue: str, signal: str) -> dict[str, Any]:
    marks = {"ecn": True} if signal == MARKS else {}
    return {"reverse_queue": QUEUES[queue] | marks, "reverse_buffer": f"{BUFFER_PACKETS} packets"}


def queues_in_a_row(mode: Mode) -> list[Run]:
    """The queue under test at both routers, at the first and at the second."""
    found = []
    for position, routers in POSITIONS.items():
        for queue in QUEUES:
            for repeat in range(REPEATS[mode]):
                document = two_queues(mode, queue, repeat, routers)
                at: dict[str, Coordinate] = {"queue": queue, "position": position, "repeat": repeat}
                found.append(Run(at, document, packets(mode)))
    return found


EXPERIMENTS = (
    Experiment("senders", "RFC 7928, 5.1 to 5.4", "Kinds of senders", senders, guideline_figures.senders),
    Experiment(
        "categories", "RFC 7928, 6.2", "Round-trip time fairness", categories, guideline_figures.categories
    ),
    Experiment("bursts", "RFC 7928, 7.2", "Absorption of bursts", bursts, guideline_figures.bursts),
    Experiment(
        "levels", "RFC 7928, 8.2.1 to 8.2.4", "Levels of congestion", levels, guideline_figures.levels
    ),
    Experiment("mix", "RFC 7928, 9.1", "A mix of traffic", mix, guideline_figures.mix),
    Experiment(
        "bidirectional",
        "RFC 7928, 9.2",
        "Traffic in both directions",
        bidirectional,
        guideline_figures.bidirectional,
    ),
    Experiment(
        "two-queues", "RFC 7928, 10.2", "Two queues in a row", queues_in_a_row, guideline_figures.two_queues
    ),
)
