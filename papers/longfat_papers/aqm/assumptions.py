"""What the thesis and the papers on queues leave open, with sources, written before any run of the readings.

The first reading of a question is the suite's base. Neither the thesis nor the papers that it cites print the
settings of the comparisons that it sums up, so most bases are the readings that the suite had before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from longfat_papers.aqm.settings import ABOVE_BURSTS, LONG_BUFFER_PACKETS
from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.claims import CHOSEN_HERE

Document = dict[str, Any]

SPREAD_RTTS = {"uniform": ["25 ms", "75 ms"]}


def _queues(changes: Mapping[str, Mapping[str, Any]]) -> Callable[[Document], Document]:
    """Returns a rewriting of the parameters of queues by their kind; None removes a parameter.

    Adaptive RED finds its own thresholds and stays as it is.
    """

    def rewrite(document: Document) -> Document:
        queue = document["bottleneck"]["queue"]
        if queue["kind"] in changes and not queue.get("adaptive", False):
            merged = {**queue, **changes[queue["kind"]]}
            document["bottleneck"]["queue"] = {
                key: value for key, value in merged.items() if value is not None
            }
        return document

    return rewrite


def _room_for_choke(document: Document) -> Document:
    """Gives RED and CHOKe the thresholds and the buffer of AQM-7."""
    if document["bottleneck"]["queue"]["kind"] not in ("red", "choke"):
        return document
    least, most = (f"{packets} packets" for packets in ABOVE_BURSTS)
    document["bottleneck"]["buffer"] = f"{LONG_BUFFER_PACKETS} packets"
    return _queues({kind: {"min": least, "max": most} for kind in ("red", "choke")})(document)


def _spread(document: Document) -> Document:
    for flow in document["flow"]:
        flow["rtt"] = SPREAD_RTTS
    return document


ASSUMPTIONS = (
    Assumption(
        "thresholds",
        "The thesis does not say how the thresholds of RED and CHOKe are set.",
        (
            Reading(
                "15-ms",
                "They lie around 15 ms, the target of the other queues.",
                CHOSEN_HERE + ": settings.py; Adaptive RED sets them at half and three halves of its target",
                Change(),
            ),
            Reading(
                "automatic",
                "They lie around 5 ms, RED's automatic values.",
                "docs/models/red.md: Adaptive RED 4.3 and ns-2's targetdelay_ of 5 ms",
                Change(rewrite=_queues({kind: {"min": None, "max": None} for kind in ("red", "choke")})),
            ),
        ),
        ("1", "2", "6"),
    ),
    Assumption(
        "red-and-choke",
        "The thesis prints RED and CHOKe in other forms than their authors' later work and today's routers "
        "have.",
        (
            Reading(
                "current",
                "RED rises gently above its upper threshold, and CHOKe compares packets there too.",
                "docs/models/red.md: ns-2's RED is gentle since 2001; choke.md: the flow chart of Pan et al.",
                Change(),
            ),
            Reading(
                "as-printed",
                "Above the upper threshold both drop every packet.",
                "thesis, algorithms 4 and 5",
                Change(rewrite=_queues({"red": {"gentle": False}, "choke": {"variant": "thesis"}})),
            ),
        ),
        ("1", "2", "3", "6", "7"),
    ),
    Assumption(
        "sred-form",
        "The thesis prints SRED's drop probability without the factor for packets that hit; the paper has "
        "both.",
        (
            Reading(
                "simple",
                "The probability does not depend on a hit.",
                "thesis, 2.5.1.4: packets can be discarded at a hit or a miss",
                Change(),
            ),
            Reading(
                "full",
                "It rises with a hit.",
                "docs/models/sred.md: full SRED of Ott et al.",
                Change(rewrite=_queues({"sred": {"variant": "full"}})),
            ),
        ),
        ("1", "2", "4", "6", "8"),
    ),
    Assumption(
        "room",
        "The bound of CHOKe does not name thresholds; its proof has a queue that stays above the lower one.",
        (
            Reading(
                "15-ms",
                "RED and CHOKe have the thresholds and the buffer of the other experiments.",
                CHOSEN_HERE + ": AQM-3 was written so, before anything was measured",
                Change(),
            ),
            Reading(
                "above-bursts",
                f"Both have thresholds of {ABOVE_BURSTS[0]} and {ABOVE_BURSTS[1]} packets and room for "
                f"{LONG_BUFFER_PACKETS}.",
                "docs/models/choke.md: CHOKe compares nothing while the average is below the lower threshold",
                Change(rewrite=_room_for_choke),
            ),
        ),
        ("3",),
    ),
    Assumption(
        "senders",
        "Neither the thesis nor the papers on CHOKe and SRED say here how TCP counts and sends its ACKs.",
        (
            Reading(
                "rfc",
                "Delayed ACKs, SACK and byte counting.",
                CHOSEN_HERE + ": Longfat's default; RFC 7928, section 4 asks for a current TCP",
                Change(),
            ),
            Reading(
                "ns-2",
                "ns-2's one-way agents: an ACK for each packet, and ACKs are counted.",
                "plausible because the simulations of 1999 to 2004 ran on ns-2, and so did the thesis's",
                Change(flows={"stack": "ns-2"}),
            ),
        ),
        ("1", "2", "3", "4", "6", "7", "8"),
    ),
    Assumption(
        "rtts",
        "The claims about like flows do not say whether their round-trip times differ.",
        (
            Reading("equal", "All have 50 ms.", CHOSEN_HERE + ": like flows in every respect", Change()),
            Reading(
                "spread",
                "They are spread evenly from 25 to 75 ms.",
                "plausible because the proofs assume that packets of different flows arrive independently",
                Change(rewrite=_spread),
            ),
        ),
        ("1", "3", "4", "6", "7", "8"),
    ),
)

_REPORTED = "RFC 7928 prints no value for this comparison; what is measured is reported."
CLOSED = dict.fromkeys(("5", "9", "10", "11", "12", "13", "14", "15"), _REPORTED)
"""Why nothing is open in a claim."""
