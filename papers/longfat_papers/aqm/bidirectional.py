"""Traffic in both directions (AQM-14): RFC 7928, section 9.2."""

from __future__ import annotations

from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import DELAY_AXIS, DROPS_AXIS, SETTING, SIGNALS, over_queues
from longfat_papers.aqm.reduction import BACK, BULK
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.checks import at_most
from longfat_papers.kit.curves import repeats


@aq.PAPER.experiment("bidirectional", "RFC 7928, 9.2", "Traffic in both directions", grid=aq.COMPARED)
def both_ways(mode: Mode, **at: Any) -> aq.Table | None:
    flows = aq.SACK | {"count": aq.flows_of("mild")}
    reverse = {
        "reverse_queue": aq.QUEUES[at["queue"]] | aq.marking(at["signal"]),
        "reverse_buffer": f"{aq.BUFFER_PACKETS} packets",
    }
    both = [flows | {"name": BULK}, flows | {"name": BACK, "direction": "reverse"}]
    return aq.scenario(mode, at, both, reverse)


@both_ways.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = (
        (DROPS_AXIS, {"ACKs": "ack_drop_ratio", "all packets": "drop_ratio"}, True),
        ("goodput / capacity", {"there": f"share_{BULK}", "back": f"share_{BACK}"}, False),
        (DELAY_AXIS, {"there": "wait_ms", "back": "second_wait_ms"}, False),
    )
    return Drawing(
        f"{aq.flows_of('mild')} flows each way. {SETTING} The queue is the same in both directions. Without "
        "drops there is no point." + repeats(runs),
        tuple(
            over_queues(
                label,
                [(text, runs.where(signal=signal), key) for text, key in curves.items()],
                title,
                log=log,
            )
            for label, curves, log in panels
            for signal, title in SIGNALS.items()
        ),
    )


@both_ways.claim(
    "14",
    "mild congestion in both directions, the queue under test in both",
    "prints no value; goodput and delay of each direction are asked for, and whether a queue makes "
    "losses of ACKs more likely (9.2)",
    settings=(
        Setting("flows", f"{aq.flows_of('mild')} each way", f"8.2.2, 9.2 ({aq.DRAFT_13}): mild congestion"),
        Setting(
            "link",
            "symmetric, the queue under test in both directions",
            CHOSEN_HERE + ": 9.2 leaves the amount of asymmetry open. Not run: 3.1 also asks for an "
            "asymmetric link with the queue in one direction only, and calls both directions additional",
        ),
    ),
    **aq.REPORT,
)
def drops_of_acks(runs: Runs) -> Checks:
    keys = (
        "ack_drop_ratio", f"share_{BULK}", f"share_{BACK}", "wait_ms", "second_wait_ms", "drop_ratio",
        "second_drop_ratio",
    )  # fmt: skip
    found = aq.means(runs, keys, signal=aq.DROPS)
    acks = {name: row[0] for name, row in found.items()}
    yield from aq.against_drop_tail(at_most, "drops of ACKs", acks)
    return Evidence(
        "dropped ACKs; goodput / capacity and delay, there and back: "
        + aq.told(found, "{:.2g}, {:.3f} {:.3f}, {:.1f} {:.1f} ms", "; "),
        found,
        figure=Measured("drops of ACKs behind drop-tail", acks[aq.DROP_TAIL], log=True),
    )
