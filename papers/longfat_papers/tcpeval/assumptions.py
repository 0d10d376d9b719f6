"""What the draft leaves open, or prints and cannot be had, with sources; written before any run."""

from __future__ import annotations

from typing import Any

from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.claims import CHOSEN_HERE
from longfat_papers.tcpeval.networks import UP, link_of
from longfat_papers.tcpeval.settings import UP_SHARE, WIRELESS, wireless

Document = dict[str, Any]

HALF = 0.5
JITTER = "5 ms"
KEPT_OF_TRAFFIC = ("name", "algorithm", "mss", "load", "rtt", "direction", "from", "to")
WITH_TRAFFIC = ("4", "4.4.4", "A", "5.1", "5.2", "5.2.2", "6.1", "6.2", "6.3")


def _users(document: Document) -> Document:
    document["background"] = [
        {"kind": "surge", **{key: part[key] for key in KEPT_OF_TRAFFIC if key in part}}
        for part in document.get("background", ())
    ] or None
    return {key: value for key, value in document.items() if value is not None}


def _half_back(document: Document) -> Document:
    """Offers half of the bytes from left to right; what is offered from right to left stays.

    The load of the wireless LAN is that of both directions together: both change, and so do the parts of the
    medium that they have. In percent of these, their loads stay.
    """
    if _is_wireless(document):
        document["bottleneck"] |= {
            key: value for key, value in link_of(wireless(HALF)).items() if key.endswith("rate")
        }
        return document
    for part in document.get("background", ()):
        if f"-{UP}-" in part["name"]:
            share = float(part["load"].removesuffix(" %"))
            part["load"] = f"{share * HALF / UP_SHARE:.9g} %"
    return document


def _is_wireless(document: Document) -> bool:
    return str(document["title"]).startswith(WIRELESS.title)


def _contention(document: Document) -> Document:
    """Adds jitter to the wireless LAN."""
    if _is_wireless(document):
        document["bottleneck"]["jitter"] = JITTER
    return document


ASSUMPTIONS = (
    Assumption(
        "traffic",
        "The draft replays Tmix traces of a campus, which Longfat does not have.",
        (
            Reading(
                "arrivals",
                "Connections arrive at random, each with one file.",
                "draft, 3.1 and appendix A: sessions are a Poisson process, and a load is E[f] / E[t]",
                Change(),
            ),
            Reading(
                "users",
                "SURGE's users fetch files one after the other and rest.",
                "draft, 2.1: think times between a response and the next request; docs/models/surge.md",
                Change(rewrite=_users),
            ),
        ),
        WITH_TRAFFIC,
    ),
    Assumption(
        "asymmetry",
        "The draft offers less from left to right and does not say how much less.",
        (
            Reading(
                "tenth",
                "A tenth of the bytes.",
                CHOSEN_HERE + ": the ratio of the satellite link's rates",
                Change(),
            ),
            Reading(
                "half",
                "Half of the bytes.",
                "plausible because the traces' page says that they are meant for symmetric configurations "
                "(wil-ns.cs.caltech.edu/~benchmark/traffic)",
                Change(rewrite=_half_back),
            ),
        ),
        WITH_TRAFFIC,
    ),
    Assumption(
        "stack",
        "The draft does not say how TCP counts ACKs and delays them.",
        (
            Reading(
                "rfc",
                "Delayed ACKs, SACK and byte counting.",
                CHOSEN_HERE + ": Longfat's default",
                Change(),
            ),
            Reading(
                "each-ack",
                "An ACK for each packet, and ACKs are counted.",
                "draft, 7: its implementation is for ns-2, whose sinks do so unless told otherwise",
                Change(
                    flows={"delayed_ack": False, "byte_counting": False},
                    backgrounds={"delayed_ack": False, "byte_counting": False},
                ),
            ),
        ),
    ),
    Assumption(
        "wireless",
        "Longfat has no shared medium, so wires stand for the wireless LAN.",
        (
            Reading(
                "rate",
                "Only by its nominal rate, which the two directions share as they share the load.",
                "draft, 4.4.5: a nominal rate of 6 Mbit/s",
                Change(),
            ),
            Reading(
                "jitter",
                f"Packets also take up to {JITTER} longer at random, and keep their order.",
                "draft, 4.4.5.2: contention adds jitter; " + CHOSEN_HERE,
                Change(rewrite=_contention),
            ),
        ),
        ("4",),
    ),
)
