"""What the thesis's chapter 2 and the laws leave open, with sources, written before any run of the readings.

The first reading of a question is the suite's base. The chapter simulates nothing, so its claims name hardly
any setting; most bases are the readings that the suite had before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.claims import CHOSEN_HERE
from longfat_papers.theory.claims import LAW_CLAIMS

Document = dict[str, Any]

RARE_EVERY = 100_000
"""At rarer periodic losses a recovery is less than a hundredth of an epoch, and a run takes minutes."""
UNFAIR_PROTOCOLS = ("reno", "hstcp", "stcp")
LONG_S = 1800.0


def _under_periodic_loss(keys: Mapping[str, Any]) -> Callable[[Document], Document]:
    """Returns a rewriting that sets keys of the flow of a run with periodic losses, except the rarest."""

    def rewrite(document: Document) -> Document:
        loss = document["bottleneck"].get("loss")
        if isinstance(loss, dict) and loss["every"] <= RARE_EVERY:
            for flow in document["flow"]:
                flow |= keys
        return document

    return rewrite


def _unfair(
    bottleneck: Mapping[str, Any] | None = None, duration_s: float | None = None, start: Any = None
) -> Callable[[Document], Document]:
    """Returns a rewriting of the pairs with unlike RTTs of the protocols that LOP-2b names."""

    def rewrite(document: Document) -> Document:
        flows = document["flow"]
        if len(flows) == 2 and all(flow["algorithm"] in UNFAIR_PROTOCOLS for flow in flows):
            document["bottleneck"] |= bottleneck or {}
            if duration_s is not None:
                document["duration"] = f"{duration_s:g} s"
            if start is not None:
                flows[0]["start"], flows[1]["start"] = start
        return document

    return rewrite


def _fat_path(document: Document) -> Document:
    document["bottleneck"]["rate"] = "1000 Mbit/s"
    for flow in document["flow"]:
        flow["rtt"] = "100 ms"
    return document


LAWS = tuple(claim.id for claim in LAW_CLAIMS)

ASSUMPTIONS = (
    Assumption(
        "recovery",
        "The laws reduce the window at once at a loss; a sender needs a round trip or more, and they do not "
        "say how.",
        (
            Reading(
                "rate-halving",
                "The window shrinks by one packet for every second ACK.",
                CHOSEN_HERE + ": rate halving, Longfat's default",
                Change(),
            ),
            Reading(
                "immediate",
                "The window is what a loss leaves of it at once.",
                "docs/theory.md: the laws have no recovery, which makes the mean window up to 8 % smaller; "
                "RFC 6675 sets cwnd to ssthresh at the first loss",
                Change(rewrite=_under_periodic_loss({"recovery": "immediate"})),
            ),
        ),
        ("LOP-2a", "LOP-2b", *LAWS),
    ),
    Assumption(
        "delayed-acks",
        "The laws count one increase for each ACK of a packet; they do not say that ACKs are delayed.",
        (
            Reading(
                "delayed",
                "Every second packet is acknowledged, and acknowledged packets are counted.",
                CHOSEN_HERE + ": RFC 1122 and RFC 3465, Longfat's default",
                Change(),
            ),
            Reading(
                "each-packet",
                "Each packet is acknowledged.",
                "NTAP/rfc8312bis, issue 66 on GitHub: the analysis that the laws follow leaves delayed ACKs "
                "out; thesis, (2.16) and (2.18): an increase for every received ACK",
                Change(rewrite=_under_periodic_loss({"delayed_ack": False})),
            ),
        ),
        ("LOP-2a", "LOP-2b", *LAWS),
    ),
    Assumption(
        "unfair-queue",
        "2.4.3.4 gives the exponent of RTT unfairness without a queue.",
        (
            Reading(
                "fifth",
                "The queue is 20 % of the longer path's BDP.",
                CHOSEN_HERE + "; thesis, 3.1.2: a buffer smaller than the BDP represents reality better",
                Change(),
            ),
            Reading(
                "whole",
                "It is 100 %.",
                "plausible because the model of synchronized losses behind the formula (2.4.3.4) has full "
                "links, which standard TCP needs such a queue for",
                Change(rewrite=_unfair({"buffer": "100 % BDP"})),
            ),
        ),
        ("LOP-2b",),
    ),
    Assumption(
        "unfair-time",
        "2.4.3.4 compares the throughputs of a steady state; a flow that starves needs long to get there.",
        (
            Reading("ten-minutes", "The pairs run for ten minutes (quick: 200 s).", CHOSEN_HERE, Change()),
            Reading(
                "half-an-hour",
                "The pairs run for half an hour.",
                "plausible because docs/validation.md finds that starving takes more than 200 s",
                Change(rewrite=_unfair(duration_s=LONG_S)),
            ),
        ),
        ("LOP-2b",),
    ),
    Assumption(
        "unfair-start",
        "2.4.3.4 does not say which flow is there first.",
        (
            Reading("random", "Both start at random within 10 s.", CHOSEN_HERE, Change()),
            Reading(
                "short-first",
                "The flow with the shorter RTT is there a minute earlier.",
                "plausible because the formula is about a steady state, which does not depend on the order",
                Change(rewrite=_unfair(start=("60 s", "0 s"))),
            ),
        ),
        ("LOP-2b",),
    ),
    Assumption(
        "udt-path",
        "2.4.2.3 reports experiments of others without their path.",
        (
            Reading("small", "100 Mbit/s and 40 ms.", CHOSEN_HERE, Change()),
            Reading(
                "fat",
                "1 Gbit/s and 100 ms.",
                "plausible because the chapter is about networks of large BDP, and 2.4.2.3 says so of UDT",
                Change(rewrite=_fat_path),
            ),
        ),
        ("LOP-2f",),
    ),
    Assumption(
        "udt-queue",
        "2.4.2.3 does not say how much the path can queue.",
        (
            Reading("bdp", "The queue is 100 % of the BDP.", CHOSEN_HERE + ": the older reading", Change()),
            Reading(
                "fifth",
                "It is 20 %.",
                "plausible because 3.1.2 says that a buffer smaller than the BDP represents reality better",
                Change(bottleneck={"buffer": "20 % BDP"}),
            ),
        ),
        ("LOP-2f",),
    ),
    Assumption(
        "udt-version",
        "The thesis describes UDT in outline; the experiments that it cites used a released version.",
        (
            Reading("thesis", "UDT as 2.4.2.1 describes it.", "thesis, 2.4.2.1", Change()),
            Reading(
                "draft",
                "UDT as its authors' draft describes it.",
                "docs/models/udt.md: draft-gg-udt",
                Change(algorithms={"udt": {"variant": "draft"}}),
            ),
        ),
        ("LOP-2f",),
    ),
)

CLOSED = {
    "LOP-2.4.1": "The thesis prints no number for its requirements; what is measured is reported.",
}
"""Why nothing is open in a claim."""
