"""Kinds of senders (AQM-9): RFC 7928, sections 5.1.1 to 5.4."""

from __future__ import annotations

import math
from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING, clouds, over_queues
from longfat_papers.aqm.reduction import SHORT
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.checks import below
from longfat_papers.kit.curves import repeats

SHORT_FLOW = aq.SACK | {"name": SHORT, "bytes": f"{50 * 1448} B", "start": {"uniform": ["30 s", "40 s"]}}
"""Starts beside a long flow in its steady state, with more than 10 and fewer than 100 packets (5.1.2)."""
SENDERS: dict[str, tuple[str, list[aq.Table]]] = {
    "standard": ("standard TCP", [aq.SACK]),
    "aggressive": ("CUBIC", [{"algorithm": "cubic"}]),
    "flood": ("datagrams at 1.5 times the capacity", [{"algorithm": aq.cbr(1.5 * aq.RATE_MBPS)}]),
    "beside-datagrams": (
        "standard TCP, datagrams at .75",
        [aq.SACK, {"algorithm": aq.cbr(0.75 * aq.RATE_MBPS)}],
    ),
    "beside-ledbat": ("standard TCP, LEDBAT", [aq.SACK, {"algorithm": {"name": "ledbat", "target": "5 ms"}}]),
    **{
        f"before-iw{window}": (
            f"standard TCP, then a short flow, IW {window}",
            [aq.SACK, SHORT_FLOW | {"initial_window": window}],
        )
        for window in (3, 10)
    },
}
"""Title and flows by the coordinate `sender`; in a pair the standard one is first. Datagrams offer more than
the capacity alone, and between half of it and all of it beside TCP (5.3)."""
PAIRS = [sender for sender, (_, flows) in SENDERS.items() if len(flows) > 1]


@aq.PAPER.experiment(
    "senders", "RFC 7928, 5.1 to 5.4", "Kinds of senders", grid={"sender": tuple(SENDERS), **aq.DROPPING}
)
def senders(mode: Mode, **at: Any) -> aq.Table | None:
    return aq.scenario(mode, at, SENDERS[at["sender"]][1])


@senders.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    seconds = [(SENDERS[sender][0], runs.where(sender=sender), "last_goodput_share") for sender in PAIRS]
    return Drawing(
        f"One flow, or a standard one beside another. {SETTING} Ellipses and centres as in the trade-off: "
        "delays in spans of time, the backlog over the capacity. Last: the share of the capacity that the "
        "second flow of a pair gets, a short one while it lasts." + repeats(runs),
        (
            *(clouds(title, runs.where(sender=sender), (0.0, 1.1)) for sender, (title, _) in SENDERS.items()),
            over_queues("goodput / capacity", seconds, "The second flow", y_range=(0.0, 1.02)),
        ),
    )


@senders.claim(
    "9",
    "one standard, aggressive or unresponsive sender, and a standard one beside datagrams, LEDBAT or a "
    "short flow",
    "prints no value; goodput against queueing delay is asked for (5.1 to 5.4)",
    settings=(
        Setting(
            "senders", "one flow each: TCP SACK, CUBIC, datagrams, LEDBAT", f"5.1 to 5.4 ({aq.DRAFT_13})"
        ),
        Setting(
            "datagrams",
            "1.5 times the capacity alone, .75 beside TCP",
            "5.3 (more than the capacity; between half of it and all of it); " + CHOSEN_HERE,
        ),
        Setting(
            "short flow",
            "50 packets, initial window of 3 or 10, starts at 30 to 40 s",
            "5.1.2 (more than 10 and fewer than 100 packets, in the steady state of the long flow); "
            + CHOSEN_HERE,
        ),
        Setting(
            "LEDBAT",
            "target 5 ms, gain 1",
            "5.4 has a gain of 10; the model takes at most 1 (docs/models/ledbat.md)",
        ),
    ),
    **aq.REPORT,
)
def goodput_against_delay(runs: Runs) -> Checks:
    keys = ("goodput_share", "wait_ms", "last_goodput_share", f"completion_s_{SHORT}")
    texts, values = [], {}
    for sender in SENDERS:
        found = values[sender] = aq.means(runs, keys, sender=sender)
        waits = {name: row[1] for name, row in found.items()}
        yield from aq.against_drop_tail(below, "delay", waits, f"{sender}, ")
        told = ", ".join(
            f"{aq.TITLES[name]} {goodput:.3f} at {ms:.1f} ms"
            + (f", second {share:.3f}" if sender in PAIRS else "")
            + (f" in {took:.3g} s" if math.isfinite(took) else "")
            for name, (goodput, ms, share, took) in found.items()
        )
        texts.append(f"{sender}: {told}")
    figure = Measured(
        "greatest delay of a queue with standard TCP, ms", max(row[1] for row in values["standard"].values())
    )
    return Evidence("; ".join(texts), values, figure=figure)
