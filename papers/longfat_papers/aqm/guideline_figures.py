"""The figures of the tests of RFC 7928 that the thesis has no comparison for: data and captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from longfat.figure.data import Figure, Panel, points, theory
from longfat.words import Mode
from longfat_papers.aqm.figures import DELAY_AXIS, SETTING, SIGNALS, cloud, over_queues, queue_titles
from longfat_papers.aqm.guideline_settings import (
    BACK,
    BULK,
    CASES,
    CATEGORY_MS,
    GROUPS,
    LEVELS,
    PAGE,
    POSITIONS,
    SEGMENT,
    SENDERS,
    SHORT_WINDOWS,
    UPSTREAM_MBPS,
    VOICE,
    flows_of,
    projected_drops,
)
from longfat_papers.aqm.reduction import category_ratio
from longfat_papers.aqm.settings import TITLES
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.suite import Runs

SENDER_TITLES = {
    "standard": "standard TCP",
    "aggressive": "CUBIC",
    "flood": "datagrams at 1.5 times the capacity",
    "beside-datagrams": "standard TCP, datagrams at .75",
    "beside-ledbat": "standard TCP, LEDBAT",
    **{f"before-iw{window}": f"standard TCP, then a short flow, IW {window}" for window in SHORT_WINDOWS},
}


def senders(runs: Runs, mode: Mode) -> Figure:
    """Draws goodput against delay for each sender, and what the second of a pair gets."""
    pairs = [name for name, flows in SENDERS.items() if len(flows) > 1]
    return Figure(
        "senders",
        "RFC 7928, 5.1 to 5.4",
        "Kinds of senders",
        f"One flow, or a standard one beside another. {SETTING} Ellipses and centres as in the trade-off: "
        "delays in spans of time, the backlog over the capacity. Last: the share of the capacity that the "
        "second flow of a pair gets, a short one while it lasts." + repeats(runs),
        (
            *(
                Panel(
                    SENDER_TITLES[sender],
                    DELAY_AXIS,
                    "goodput / capacity",
                    tuple(curve for name in TITLES for curve in cloud(name, at.where(queue=name))),
                    y_range=(0.0, 1.1),
                )
                for sender in SENDERS
                for at in [runs.where(sender=sender)]
            ),
            Panel(
                "The second flow",
                "",
                "goodput / capacity",
                tuple(
                    points(
                        SENDER_TITLES[sender],
                        over_queues(
                            runs.where(sender=sender), lambda at: at.mean_stderr("last_goodput_share")
                        ),
                        stroke=stroke,
                    )
                    for stroke, sender in enumerate(pairs)
                ),
                y_range=(0.0, 1.02),
                categories=queue_titles(runs),
            ),
        ),
    )


def categories(runs: Runs, mode: Mode) -> Figure:
    """Draws the ratio of goodputs and the losses of two flows over the RTT of the second."""
    rtts = runs.distinct("rtt_ms")
    panels: tuple[tuple[str, Callable[[Runs], tuple[float, float]]], ...] = (
        ("goodput of II / goodput of I", lambda at: at.over_repeats(category_ratio)),
        ("lost / sent, category I", lambda at: at.mean_stderr("first_loss_ratio")),
        ("lost / sent, category II", lambda at: at.mean_stderr("last_loss_ratio")),
    )
    return Figure(
        "categories",
        "RFC 7928, 6.2",
        "Round-trip time fairness",
        f"A flow of category I with an RTT of {CATEGORY_MS} ms beside one of category II. {SETTING} Without "
        "losses there is no point." + repeats(runs),
        tuple(
            Panel(
                "",
                "RTT of category II, ms",
                label,
                tuple(
                    points(
                        TITLES[name],
                        [(float(rtt), estimate(runs.where(queue=name, rtt_ms=rtt))) for rtt in rtts],
                        name,
                    )
                    for name in TITLES
                ),
                x_log=True,
                y_log=True,
            )
            for label, estimate in panels
        ),
        columns=3,
    )


def levels(runs: Runs, mode: Mode) -> Figure:
    """Draws delay and drops of each queue at three levels of congestion, beside the projection."""
    counts = [float(flows_of(level)) for level in LEVELS]
    dropping = runs.where(signal="drops")
    quantities = (("wait_ms", DELAY_AXIS, False), ("drop_ratio", "dropped / arrived", True))
    return Figure(
        "levels",
        "RFC 7928, 8.2.1 to 8.2.4",
        "Levels of congestion",
        "Like flows, as many as mild, medium and heavy congestion take: "
        + ", ".join(f"{count:.0f}" for count in counts)
        + f". {SETTING} The projection is 0.76 N^2 / S^2. Without drops there is no point."
        + repeats(runs),
        tuple(
            Panel(
                SIGNALS[signal],
                "flows",
                label,
                (
                    *(
                        points(
                            TITLES[name],
                            [
                                (count, at.where(queue=name, level=level).mean_stderr(key))
                                for count, level in zip(counts, LEVELS, strict=True)
                            ],
                            name,
                        )
                        for name in TITLES
                        if at.has(queue=name)
                    ),
                    *(
                        (
                            theory(
                                "projected, drop-tail", counts, [projected_drops(level) for level in LEVELS]
                            ),
                        )
                        if key == "drop_ratio"
                        else ()
                    ),
                ),
                y_log=log,
            )
            for key, label, log in quantities
            for signal, at in (("drops", dropping), ("marks", runs.where(signal="marks")))
        ),
    )


CASE_TEXTS = {
    "I": "pages and datagrams",
    "II": "with a long flow",
    "III": "with bursty video",
    "IV": "with both",
}


def bursts(runs: Runs, mode: Mode) -> Figure:
    """Draws the time of a page, the delay and the drops of each queue in the four cases."""
    return Figure(
        "bursts",
        "RFC 7928, 7.2",
        "Absorption of bursts",
        f"Web pages over six connections beside other traffic. {SETTING} Pages that did not end are left "
        "out. Without drops there is no point." + repeats(runs),
        tuple(
            _queues_panel(
                "",
                label,
                runs,
                [
                    (f"{case}: {text}", runs.where(case=case), key)
                    for case, text in CASE_TEXTS.items()
                    if case in CASES
                ],
                log=True,
            )
            for key, label in (
                (f"completion_s_{PAGE}", "time of a page, s"),
                ("wait_ms", DELAY_AXIS),
                ("drop_ratio", "dropped / arrived"),
            )
        ),
    )


def mix(runs: Runs, mode: Mode) -> Figure:
    """Draws what each class of a mix of traffic gets behind each queue."""
    panels = (
        ("completion time, s", ((PAGE, f"completion_s_{PAGE}"), (SEGMENT, f"completion_s_{SEGMENT}"))),
        ("lost / sent", tuple((name, f"lost_{name}") for name in (VOICE, PAGE, SEGMENT, BULK))),
        (DELAY_AXIS, (("queue", "wait_ms"),)),
        ("goodput / capacity", (("long flows", f"share_{BULK}"),)),
    )
    return Figure(
        "mix",
        "RFC 7928, 9.1",
        "A mix of traffic",
        f"A call, six web pages, datagrams, a video in segments and five long flows. {SETTING} Pages and "
        "segments that did not end are left out. Without losses there is no point." + repeats(runs),
        tuple(
            _queues_panel(
                "", label, runs, [(text, runs, key) for text, key in curves], log=label != panels[-1][0]
            )
            for label, curves in panels
        ),
    )


def bidirectional(runs: Runs, mode: Mode) -> Figure:
    """Draws the drops of ACKs, and goodput and delay in both directions."""
    panels = (
        ("dropped / arrived", (("ACKs", "ack_drop_ratio"), ("all packets", "drop_ratio")), True),
        ("goodput / capacity", (("there", f"share_{BULK}"), ("back", f"share_{BACK}")), False),
        (DELAY_AXIS, (("there", "wait_ms"), ("back", "second_wait_ms")), False),
    )
    return Figure(
        "bidirectional",
        "RFC 7928, 9.2",
        "Traffic in both directions",
        f"{flows_of('mild')} flows each way. {SETTING} The queue is the same in both directions. Without "
        "drops there is no point." + repeats(runs),
        tuple(
            _queues_panel(SIGNALS[signal], label, at, [(text, at, key) for text, key in curves], log=log)
            for label, curves, log in panels
            for signal in SIGNALS
            for at in [runs.where(signal=signal)]
        ),
    )


def two_queues(runs: Runs, mode: Mode) -> Figure:
    """Draws delays and goodput with the queue at both routers, at the first and at the second."""
    panels = (
        ("delay at the first router, ms", "second_wait_ms"),
        ("delay at the shared router, ms", "wait_ms"),
        *((f"goodput of {group} / capacity", f"share_{group}") for group in GROUPS),
    )
    return Figure(
        "two-queues",
        "RFC 7928, 10.2",
        "Two queues in a row",
        f"Flows A cross a link of {UPSTREAM_MBPS} Mbit/s and then the shared one, flows B only that. "
        f"{SETTING} Where the queue under test is not, there is drop-tail." + repeats(runs),
        tuple(
            _queues_panel(
                "", label, runs, [(position, runs.where(position=position), key) for position in POSITIONS]
            )
            for label, key in panels
        ),
    )


def _queues_panel(
    title: str, label: str, runs: Runs, curves: Iterable[tuple[str, Runs, str]], *, log: bool = False
) -> Panel:
    """Returns a panel with the queues side by side; each curve is a text, its runs and a quantity."""
    return Panel(
        title,
        "",
        label,
        tuple(
            points(text, over_queues(of_curve, lambda at, key=key: at.mean_stderr(key)), stroke=stroke)  # type: ignore[misc]
            for stroke, (text, of_curve, key) in enumerate(curves)
        ),
        y_log=log,
        categories=queue_titles(runs),
    )
