"""The runs of YeAH's figures: which points, how long, how often. `figures` draws what they show."""

from __future__ import annotations

from longfat.words import Mode
from longfat_papers.kit.suite import Experiment, Run
from longfat_papers.yeah2007 import figures
from longfat_papers.yeah2007.settings import (
    ALGORITHMS,
    DURATION_S,
    FIRST_RTT_MS,
    FRIENDLY_RTT_MS,
    JOIN_S,
    JOINED_RTT_MS,
    JOINED_S,
    LONG_RTT_MS,
    LONGEST_S,
    LOSS,
    LOSSES,
    LOSSES_RTT_MS,
    LOSSY_RTTS_MS,
    QUEUE_SAMPLE,
    QUEUES_PERCENT,
    QUEUES_RTT_MS,
    RENO_FLOWS,
    REPEATS,
    RTT_RATIOS,
    RTTS_MS,
    TABLE_RTTS_MS,
    run,
)


def joined(mode: Mode) -> list[Run]:
    """Fig. 1: YeAH joined by YeAH, and by Reno."""
    return [
        run(
            {"algorithm": "yeah", "partner": partner},
            [("yeah", JOINED_RTT_MS), (partner, JOINED_RTT_MS)],
            duration_s=JOINED_S,
            repeat=repeat,
            starts=["0 s", f"{JOIN_S:g} s"],
            events=True,
        )
        for partner in ("yeah", "reno")
        for repeat in range(REPEATS[mode])
    ]


def over_rtts(mode: Mode) -> list[Run]:
    """Fig. 3: two like flows over the RTT."""
    return _over_rtts(mode, RTTS_MS[mode])


def table_runs(mode: Mode) -> list[Run]:
    """Table I: the runs of Fig. 3 at three RTTs."""
    return _over_rtts(mode, TABLE_RTTS_MS)


def lossy_rtts(mode: Mode) -> list[Run]:
    """Fig. 4: Fig. 3 with random loss."""
    return _over_rtts(mode, LOSSY_RTTS_MS[mode], loss=LOSS)


def over_losses(mode: Mode) -> list[Run]:
    """Fig. 5: two like flows over the random loss."""
    return [
        run(
            {"algorithm": name, "loss": loss},
            [(name, LOSSES_RTT_MS)] * 2,
            duration_s=DURATION_S[mode],
            repeat=repeat,
            share=min(1.0, (1e-7 / loss) ** 0.3),
            loss=loss,
        )
        for name in ALGORITHMS
        for loss in LOSSES[mode]
        for repeat in range(REPEATS[mode])
    ]


def over_queues(mode: Mode) -> list[Run]:
    """Fig. 6: two like flows over the size of the buffer."""
    return [
        run(
            {"algorithm": name, "queue_percent": percent},
            [(name, QUEUES_RTT_MS)] * 2,
            duration_s=DURATION_S[mode],
            repeat=repeat,
            queue_percent=percent,
            sample=QUEUE_SAMPLE,
        )
        for name in ALGORITHMS
        for percent in QUEUES_PERCENT[mode]
        for repeat in range(REPEATS[mode])
    ]


def over_ratios(mode: Mode) -> list[Run]:
    """Fig. 7: two flows with different RTTs."""
    return [
        run(
            {"algorithm": name, "rtt_ratio": ratio},
            [(name, FIRST_RTT_MS), (name, FIRST_RTT_MS * ratio)],
            duration_s=DURATION_S[mode],
            repeat=repeat,
        )
        for name in ALGORITHMS
        for ratio in RTT_RATIOS[mode]
        for repeat in range(REPEATS[mode])
    ]


def against_reno(mode: Mode) -> list[Run]:
    """V-D: n Reno flows against one flow of each algorithm, which is the last flow."""
    return [
        run(
            {"algorithm": name, "reno_flows": number},
            [*[("reno", FRIENDLY_RTT_MS)] * number, (name, FRIENDLY_RTT_MS)],
            duration_s=DURATION_S[mode],
            repeat=repeat,
        )
        for name in ALGORITHMS
        for number in RENO_FLOWS[mode]
        for repeat in range(REPEATS[mode])
    ]


def from_slow_start(mode: Mode) -> list[Run]:
    """Fig. 8(a): efficiency over the length of the experiment, with limited slow-start."""
    return _long(mode, None, 0.8)


def from_avoidance(mode: Mode) -> list[Run]:
    """Fig. 8(b): the same without slow-start."""
    return _long(mode, 2.0, 0.4)


def _over_rtts(mode: Mode, rtts_ms: tuple[int, ...], loss: float = 0.0) -> list[Run]:
    return [
        run(
            {"algorithm": name, "rtt_ms": rtt},
            [(name, rtt)] * 2,
            duration_s=DURATION_S[mode],
            repeat=repeat,
            loss=loss,
            sample=QUEUE_SAMPLE,
        )
        for name in ALGORITHMS
        for rtt in rtts_ms
        for repeat in range(REPEATS[mode])
    ]


def _long(mode: Mode, ssthresh: float | None, share: float) -> list[Run]:
    return [
        run(
            {"algorithm": name},
            [(name, LONG_RTT_MS)] * 2,
            duration_s=LONGEST_S[mode],
            repeat=repeat,
            share=share,
            ssthresh=ssthresh,
        )
        for name in ALGORITHMS
        for repeat in range(REPEATS[mode])
    ]


EXPERIMENTS = (
    Experiment("F1", "Fig. 1", "YeAH joined by YeAH and by Reno", joined, figures.joined, keeps_series=True),
    Experiment("F3", "Fig. 3", "Queue and RTT", over_rtts, figures.queue_over_rtts),
    Experiment("T1", "Table I", "Loss at the buffer", table_runs, figures.overflow_table),
    Experiment("F4", "Fig. 4", "Utilization and RTT under random loss", lossy_rtts, figures.lossy_rtts),
    Experiment("F5", "Fig. 5", "Utilization and random loss", over_losses, figures.over_losses),
    Experiment("F6", "Fig. 6", "Size of the buffer", over_queues, figures.over_queues),
    Experiment("F7", "Fig. 7", "Fairness and RTT ratio", over_ratios, figures.over_ratios),
    Experiment("FR", "V-D", "Fair to Reno", against_reno, figures.fair_to_reno),
    Experiment("F8a", "Fig. 8(a)", "Length of the experiment", from_slow_start, figures.efficiency("F8a")),
    Experiment(
        "F8b",
        "Fig. 8(b)",
        "Length of the experiment, no slow-start",
        from_avoidance,
        figures.efficiency("F8b"),
    ),
)
