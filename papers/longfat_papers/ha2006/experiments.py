"""The runs of HA's slides: which points, how often. `figures` draws what they show."""

from __future__ import annotations

from collections.abc import Iterable

from longfat.words import Mode
from longfat_papers.ha2006 import figures
from longfat_papers.ha2006.settings import (
    ALGORITHMS,
    BACKGROUNDS,
    HISTORIES,
    HISTORY_RTT_MS,
    LONG_RTT_MS,
    MEASURED,
    RTTS_MS,
    SHORT_RTTS_MS,
    repeats,
    run,
)
from longfat_papers.kit.suite import Experiment, Run


def like_pairs(mode: Mode) -> list[Run]:
    """Two flows of one protocol with one RTT."""
    return _pairs(mode, ALGORITHMS, RTTS_MS[mode])


def histories(mode: Mode) -> list[Run]:
    """The pairs of the backup slides; the figure shows one repeat."""
    pairs = _pairs(mode, HISTORIES, (HISTORY_RTT_MS,))
    return [pair for pair in pairs if pair.coordinates["repeat"] == 0]


def unlike_rtts(mode: Mode) -> list[Run]:
    """Two flows of one protocol, the first at 162 ms."""
    return [
        run(mode, {"algorithm": name, "rtt_ms": rtt}, [(name, LONG_RTT_MS), (name, rtt)], background, repeat)
        for name in _shown(mode)
        for rtt in SHORT_RTTS_MS[mode]
        for background in BACKGROUNDS
        for repeat in repeats(mode, name)
    ]


def beside_sack(mode: Mode) -> list[Run]:
    """A flow of TCP SACK joined by one of another protocol."""
    return [
        run(mode, {"algorithm": name, "rtt_ms": rtt}, [("reno", rtt), (name, rtt)], background, repeat)
        for name in _shown(mode)
        if name != "reno"
        for rtt in RTTS_MS[mode]
        for background in BACKGROUNDS
        for repeat in repeats(mode, name)
    ]


def _shown(mode: Mode) -> Iterable[str]:
    """In quick mode, only the protocols that the claims are about: these runs serve a single claim."""
    return MEASURED if mode == "quick" else ALGORITHMS


def _pairs(mode: Mode, names: Iterable[str], rtts_ms: Iterable[int]) -> list[Run]:
    return [
        run(mode, {"algorithm": name, "rtt_ms": rtt}, [(name, rtt), (name, rtt)], background, repeat)
        for name in names
        for rtt in rtts_ms
        for background in BACKGROUNDS
        for repeat in repeats(mode, name)
    ]


EXPERIMENTS = (
    Experiment(
        "utilization", "Link Utilization", "Use of the link by all traffic", like_pairs, figures.utilization
    ),
    Experiment("stability", "Stability", "Variation of the rates", like_pairs, figures.stability),
    Experiment(
        "loss", "Packet loss rate", "Losses of the flows and of all traffic", like_pairs, figures.loss
    ),
    Experiment("rtt", "RTT Fairness", "Pairs with different RTTs", unlike_rtts, figures.rtt_fairness),
    Experiment("friendly", "TCP Friendliness", "Beside TCP SACK", beside_sack, figures.friendliness),
    Experiment("intra", "Intra-Protocol Fairness", "Pairs of one protocol", like_pairs, figures.intra),
    Experiment(
        "convergence", "Convergence", "Time until the second flow has 80 %", like_pairs, figures.convergence
    ),
    Experiment(
        "histories", "Backup slides", "Throughput of pairs at 82 ms", histories, figures.histories, True
    ),
)
