"""The runs of LLS's figures: which points, how long, how often. `figures` draws what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from longfat.runs import theory
from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit.suite import Experiment, Run
from longfat_papers.li2007 import figures
from longfat_papers.li2007.settings import (
    ALGORITHMS,
    FINE_SAMPLE,
    FIRST_START,
    HIGH_MBPS,
    LONG_RTT_MS,
    LOSSES,
    LOW_MBPS,
    NEW,
    QUEUE_TEST_MBPS,
    QUEUE_TEST_RTT_MS,
    QUEUES_PERCENT,
    QUICK_LOSSES,
    QUICK_QUEUES_PERCENT,
    REFILL_DURATION_S,
    REFILL_LOSS_EVERY,
    REFILL_MBPS,
    REFILL_RTT_MS,
    REFILL_WINDOW,
    REPEATS_FULL,
    RESPONSE_RTT_MS,
    RTTS_MS,
    SESSIONS,
    SHORT_RTTS_MS,
    bdp_packets,
    duration_s,
    host,
    lossy_duration_s,
    scenario,
)


def like_flows(
    mode: Mode, algorithms: Iterable[str] = ALGORITHMS, rtts_ms: Sequence[int] = RTTS_MS
) -> list[Run]:
    """Two flows of one algorithm with one RTT (Figs. 3 and 14, III-E-ii)."""
    return [
        pair(mode, rate, (name, rtt), (name, rtt), repeat, {"algorithm": name, "rtt_ms": rtt})
        for name in algorithms
        for rate in (LOW_MBPS, HIGH_MBPS)
        for rtt in rtts_ms
        for repeat in range(repeats(mode, rate))
    ]


def histories(
    algorithm: str, rtts_ms: Sequence[int], variants: Mapping[str, Mapping[str, Any]] | None = None
) -> Callable[[Mode], list[Run]]:
    """Returns the runs of Fig. 3 whose histories the paper shows (Figs. 4 to 9), and their ``variants``."""

    def runs(mode: Mode) -> list[Run]:
        labelled = {"as measured": {}, **(variants or {})}
        return [
            pair(
                mode,
                HIGH_MBPS,
                (algorithm, rtt),
                (algorithm, rtt),
                repeat,
                {"algorithm": algorithm, "rtt_ms": rtt, "variant": label},
                change=change,
            )
            for label, change in labelled.items()
            for rtt in rtts_ms
            for repeat in range(repeats(mode, HIGH_MBPS))
        ]

    return runs


def table_runs(mode: Mode) -> list[Run]:
    """Fig. 7: HS-TCP at 42 ms with the nearest-neighbour table, the interpolated one, and the equations."""
    return [
        pair(
            mode,
            HIGH_MBPS,
            ("hstcp", 42),
            ("hstcp", 42),
            repeat,
            {"algorithm": "hstcp", "rtt_ms": 42, "table": table},
            change={"table": table},
            sample=FINE_SAMPLE,
        )
        for table in (
            ("nearest", "interpolated") if mode == "quick" else ("nearest", "interpolated", "exact")
        )
        for repeat in range(2 if mode == "quick" else REPEATS_FULL)
    ]


def unlike_rtts(queue_percent: int) -> Callable[[Mode], list[Run]]:
    """Fig. 10: flow 1 at 162 ms, flow 2 at a shorter RTT."""

    def runs(mode: Mode) -> list[Run]:
        quick = (16, 42, 82, 162) if queue_percent == 20 else (16, 82)
        return [
            unlike(mode, rate, name, rtt, repeat, queue_percent)
            for name in ALGORITHMS
            for rate in (LOW_MBPS, HIGH_MBPS)
            for rtt in (quick if mode == "quick" else SHORT_RTTS_MS)
            for repeat in range(repeats(mode, rate))
        ]

    return runs


def web_runs(mode: Mode) -> list[Run]:
    """Fig. 15: Fig. 10 at 250 Mbit/s under web sessions."""
    return [
        unlike(mode, HIGH_MBPS, name, rtt, repeat, sessions=sessions)
        for name in ALGORITHMS
        for rtt in ((16, 42) if mode == "quick" else SHORT_RTTS_MS)
        for sessions in ((0, 50) if mode == "quick" else SESSIONS)
        for repeat in range(repeats(mode, HIGH_MBPS))
    ]


def against_standard(mode: Mode) -> list[Run]:
    """Fig. 11: flow 1 is standard TCP, flow 2 a new protocol with the same RTT."""
    return [
        pair(mode, rate, ("reno", rtt), (name, rtt), repeat, {"algorithm": name, "rtt_ms": rtt})
        for name in NEW
        for rate in (LOW_MBPS, HIGH_MBPS)
        for rtt in ((42, 162, 324) if mode == "quick" and rate == HIGH_MBPS else RTTS_MS)
        for repeat in range(repeats(mode, rate))
    ]


def against_standard_unlike(mode: Mode) -> list[Run]:
    """III-D with the tests of III-C-ii: standard TCP at 162 ms, a new protocol at 16 to 324 ms."""
    return [
        pair(
            mode,
            rate,
            ("reno", LONG_RTT_MS),
            (name, rtt),
            repeat,
            {"algorithm": name, "rtt_ms": rtt},
            queue_rtt_ms=LONG_RTT_MS,
        )
        for name in NEW
        for rate in (LOW_MBPS, HIGH_MBPS)
        for rtt in ((42,) if mode == "quick" and rate == HIGH_MBPS else RTTS_MS)
        for repeat in range(repeats(mode, rate))
    ]


def queue_runs(mode: Mode) -> list[Run]:
    """Fig. 12: two like flows at 100 Mbit/s and 82 ms, the queue from 1 to 100 % BDP."""
    rtt = QUEUE_TEST_RTT_MS
    return [
        pair(
            mode,
            QUEUE_TEST_MBPS,
            (name, rtt),
            (name, rtt),
            repeat,
            {"algorithm": name, "queue_percent": percent},
            queue_percent=percent,
        )
        for name in ALGORITHMS
        for percent in (QUICK_QUEUES_PERCENT if mode == "quick" else QUEUES_PERCENT)
        for repeat in range(repeats(mode, QUEUE_TEST_MBPS))
    ]


def response_runs(mode: Mode) -> list[Run]:
    """Fig. 13: one flow at 250 Mbit/s and 162 ms under random loss."""
    rtt_s = RESPONSE_RTT_MS / 1000.0
    found = []
    for name in ALGORITHMS:
        for loss in QUICK_LOSSES if mode == "quick" else LOSSES:
            length = lossy_duration_s(mode, name, loss, rtt_s)
            window = theory.RESPONSE_FUNCTIONS.get(name, theory.stcp_window)(loss)
            share = min(1.0, window / bdp_packets(HIGH_MBPS * 1e6, rtt_s))
            for repeat in range(repeats(mode, HIGH_MBPS)):
                document = scenario(
                    f"{name} under a loss of {loss:g}",
                    HIGH_MBPS,
                    [(ALGORITHMS[name], RESPONSE_RTT_MS)],
                    duration_s=length,
                    repeat=repeat,
                    loss=loss,
                )
                packets = share * HIGH_MBPS * 1e6 * length / PACKET_BITS
                found.append(Run({"algorithm": name, "loss": loss, "repeat": repeat}, document, packets))
    return found


def refill_runs(mode: Mode) -> list[Run]:
    """Fig. 1: one standard flow fills 1 Gbit/s over 100 ms and loses one packet; no byte counting."""
    document = {
        "title": "Refilling a long fat pipe after one loss",
        "duration": f"{REFILL_DURATION_S:g} s",
        "seed": 1,
        "bottleneck": {
            "rate": f"{REFILL_MBPS} Mbit/s",
            "buffer": "100 % BDP",
            "queue": "droptail",
            "loss": {"every": REFILL_LOSS_EVERY},
        },
        "flow": [
            {
                **host("reno"),
                "byte_counting": False,
                "algorithm": dict(ALGORITHMS["reno"]),
                "rtt": f"{REFILL_RTT_MS} ms",
                "start": FIRST_START,
                "max_window": REFILL_WINDOW,
            }
        ],
    }
    packets = 0.86 * REFILL_MBPS * 1e6 * REFILL_DURATION_S / PACKET_BITS
    return [Run({"algorithm": "reno", "repeat": 0}, document, packets)]


def unlike(
    mode: Mode,
    rate_mbps: int,
    name: str,
    rtt_ms: int,
    repeat: int,
    queue_percent: int = 20,
    sessions: int = 0,
) -> Run:
    """One run of Figs. 10 and 15."""
    return pair(
        mode,
        rate_mbps,
        (name, LONG_RTT_MS),
        (name, rtt_ms),
        repeat,
        {"algorithm": name, "rtt_ms": rtt_ms, "sessions": sessions},
        queue_percent=queue_percent,
        queue_rtt_ms=LONG_RTT_MS if rtt_ms != LONG_RTT_MS else None,
        sessions=sessions,
    )


def pair(
    mode: Mode,
    rate_mbps: int,
    first: tuple[str, int],
    second: tuple[str, int],
    repeat: int,
    coordinates: Mapping[str, Any],
    *,
    queue_percent: int = 20,
    queue_rtt_ms: float | None = None,
    sessions: int = 0,
    change: Mapping[str, Any] | None = None,
    sample: str | None = None,
) -> Run:
    """Two flows, the second joins the first; ``change`` overrides parameters of their algorithms."""
    length = duration_s(
        mode, (first[0], second[0]), rate_mbps * 1e6, max(first[1], second[1]) / 1000.0, queue_percent / 100.0
    )
    document = scenario(
        f"{first[0]} at {first[1]} ms and {second[0]} at {second[1]} ms over {rate_mbps} Mbit/s",
        rate_mbps,
        [({**ALGORITHMS[name], **(change or {})}, rtt) for name, rtt in (first, second)],
        duration_s=length,
        repeat=repeat,
        queue=f"{queue_percent} % BDP",
        queue_rtt_ms=queue_rtt_ms,
        sessions=sessions,
        sample=sample,
    )
    packets = rate_mbps * 1e6 * length / PACKET_BITS
    return Run({**coordinates, "rate_mbps": rate_mbps, "repeat": repeat}, document, packets)


def repeats(mode: Mode, rate_mbps: float) -> int:
    """Returns the number of repeats: five as in the paper; in quick mode two at 10 Mbit/s, else one."""
    if mode == "full":
        return REPEATS_FULL
    return 2 if rate_mbps <= LOW_MBPS else 1


EXPERIMENTS = (
    Experiment("F1", "Fig. 1", "Refilling a long fat pipe", refill_runs, figures.refill, keeps_series=True),
    Experiment("F3", "Fig. 3", "Fairness of like flows", like_flows, figures.fairness),
    Experiment(
        "F4",
        "Fig. 4",
        "Scalable-TCP histories",
        histories("stcp", (42, 162)),
        figures.cwnd_histories("F4", "Fig. 4"),
        keeps_series=True,
    ),
    Experiment(
        "F5",
        "Fig. 5",
        "FAST-TCP histories",
        histories("fast", (42, 162), {"alpha / 2": {"variant": "lls-half"}}),
        figures.cwnd_histories("F5", "Fig. 5"),
        keeps_series=True,
    ),
    Experiment(
        "F6",
        "Fig. 6",
        "HS-TCP histories",
        histories("hstcp", (42, 162, 324)),
        figures.cwnd_histories("F6", "Fig. 6"),
        keeps_series=True,
    ),
    Experiment("F7", "Fig. 7", "HS-TCP's table", table_runs, figures.table_histories, keeps_series=True),
    Experiment(
        "F8",
        "Fig. 8",
        "BIC-TCP histories",
        histories("bic", (42, 162, 324), {"as printed": {"variant": "literal"}}),
        figures.cwnd_histories("F8", "Fig. 8"),
        keeps_series=True,
    ),
    Experiment(
        "F9",
        "Fig. 9",
        "H-TCP histories",
        histories("htcp", (42, 162, 324)),
        figures.cwnd_histories("F9", "Fig. 9"),
        keeps_series=True,
    ),
    Experiment("F10", "Fig. 10", "RTT unfairness", unlike_rtts(20), figures.rtt_unfairness("F10", 20)),
    Experiment(
        "F10-100",
        "Fig. 10 at 100 % BDP",
        "RTT unfairness with a large queue",
        unlike_rtts(100),
        figures.rtt_unfairness("F10-100", 100),
    ),
    Experiment("F11", "Fig. 11", "Backward compatibility", against_standard, figures.compatibility),
    Experiment("F12", "Fig. 12", "Efficiency and queue provisioning", queue_runs, figures.queue_provisioning),
    Experiment("F13", "Fig. 13", "Response functions", response_runs, figures.response),
    Experiment("F14", "Fig. 14", "Convergence time", like_flows, figures.convergence),
    Experiment("F15", "Fig. 15", "RTT unfairness under web traffic", web_runs, figures.web),
    Experiment("E2", "III-E-ii", "Efficiency and RTT", like_flows, figures.efficiency_rtt),
    Experiment(
        "C2",
        "III-D",
        "Backward compatibility at different RTTs",
        against_standard_unlike,
        figures.compatibility_unlike,
    ),
)
