"""What the systems' papers leave open, with sources, written before any run of the readings.

The first reading of a question is the suite's base. Few of the papers could be read in full, so the table
has only what bears on many claims (hosts, buffers, round-trip times) and what a system's sources disagree
about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.claims import CHOSEN_HERE
from longfat_papers.relatives.settings import FAST_LOSS, SCRIPTS, SHORT_GAINS, SHORT_MEAN, SHORT_SHAPE

Document = dict[str, Any]

SHALLOW = 0.2
"""The smaller buffer, as a share of the base's."""
EVEN_SHAPE = 1.8
"""Tail index of the other sizes of short flows, with the same mean."""
SPREAD = (0.5, 1.5)
"""Round-trip times of the first and the last flow, over the base's."""


def _links(document: Document) -> list[Document]:
    return document.get("link") or [document["bottleneck"]]


def _shallow(document: Document) -> Document:
    """Makes all buffers smaller."""
    for link in _links(document):
        milliseconds = float(link["buffer"].removesuffix(" ms"))
        link["buffer"] = f"{SHALLOW * milliseconds:g} ms"
    return document


def _spread(document: Document) -> Document:
    """Spreads the round-trip times of the flows evenly; the paths of a network stay as they are."""
    flows = document.get("flow", [])
    if len(flows) < 2 or not all("rtt" in flow for flow in flows):
        return document
    least, most = SPREAD
    for number, flow in enumerate(flows):
        factor = least + (most - least) * number / (len(flows) - 1)
        flow["rtt"] = f"{factor * float(flow['rtt'].removesuffix(' ms')):.4g} ms"
    return document


def _router(kind: str, parameters: Mapping[str, Any]) -> Callable[[Document], Document]:
    """Returns a rewriting of the parameters of a router by its kind."""

    def rewrite(document: Document) -> Document:
        for link in _links(document):
            router = link.get("router")
            table = {"kind": router} if isinstance(router, str) else router
            if table is not None and table["kind"] == kind:
                link["router"] = {**table, **parameters}
        return document

    return rewrite


def _even_sizes(document: Document) -> Document:
    """Gives the short flows another tail and the same mean."""
    for background in document.get("background", []):
        least = float(background["tail_least"].removesuffix(" B"))
        mean = least * SHORT_SHAPE / (SHORT_SHAPE - 1.0)
        background["tail_shape"] = EVEN_SHAPE
        background["tail_least"] = f"{round(mean * (EVEN_SHAPE - 1.0) / EVEN_SHAPE)} B"
        background["body_mu"] = 8.0
    return document


ASSUMPTIONS = (
    Assumption(
        "acks",
        "The papers do not say which packets a receiver over TCP acknowledges.",
        (
            Reading(
                "every-second",
                "Receivers delay ACKs.",
                "RFC 5681, section 4.2: a receiver should",
                Change(),
            ),
            Reading(
                "each",
                "They acknowledge each packet.",
                "plausible because the authors' simulators and the thesis's do",
                Change(flows={"delayed_ack": False}, backgrounds={"delayed_ack": False}),
            ),
        ),
        (
            *(
                "RCP-1",
                "RCP-2",
                "RCP-3",
                "RCP-4",
                "MAX-1",
                "MAX-2",
                "MAX-3",
                "ERI-1",
                "ERI-2",
                "ERI-3",
                "ERI-4",
            ),
            *("CAD-3", "TRI-1", "TRI-2", "TRI-3", "SAB-3", "RBU-3", "TSU-2", "TSU-3"),
            *("GEN-1", "GEN-2", "GEN-3", "GEN-4", "GEN-5", "GEN-6", "GEN-7"),
        ),
    ),
    Assumption(
        "buffers",
        "The papers do not say how large the buffers are.",
        (
            Reading("deep", "They hold one round-trip time.", CHOSEN_HERE + ": the usual rule", Change()),
            Reading(
                "shallow",
                f"They hold {SHALLOW:g} of it.",
                "plausible because the suites li2007 and theory have buffers of 20 % BDP",
                Change(rewrite=_shallow),
            ),
        ),
    ),
    Assumption(
        "rtts",
        "The papers do not say whether the round-trip times of like flows differ.",
        (
            Reading("equal", "They are equal.", CHOSEN_HERE + ": like flows in every respect", Change()),
            Reading(
                "spread",
                f"They are spread evenly from {SPREAD[0]:g} to {SPREAD[1]:g} times that.",
                "plausible because networks have paths of unlike length",
                Change(rewrite=_spread),
            ),
        ),
        ("RCP-1", "MAX-3", "ERI-1", "ERI-2", "ERI-3", "CAD-1", "TRI-2", "TRI-3", "SAB-3", "RBU-3", "TSU-3"),
    ),
    Assumption(
        "rcp-gains",
        "RCP's sources have two pairs of gains.",
        (
            Reading("defaults", "alpha .4, beta .4.", "the authors' ns-2 router: its defaults", Change()),
            Reading(
                "scripts",
                "alpha .1, beta 1.",
                "the authors' ns-2 scripts for completion times",
                Change(rewrite=_router("rcp", SHORT_GAINS)),
            ),
        ),
        ("RCP-1", "GEN-7"),
    ),
    Assumption(
        "rcp-short-gains",
        "RCP's sources have two pairs of gains and do not say which the runs of short flows had.",
        (
            Reading("scripts", "alpha .1, beta 1.", SCRIPTS, Change()),
            Reading(
                "defaults",
                "alpha .4, beta .4.",
                "the authors' ns-2 router: its defaults",
                Change(rewrite=_router("rcp", {"alpha": 0.4, "beta": 0.4})),
            ),
        ),
        ("RCP-2", "RCP-4"),
    ),
    Assumption(
        "sizes",
        "What could be read of RCP's papers does not say how the sizes of short flows are distributed.",
        (
            Reading(
                "heavy",
                f"Pareto, tail index {SHORT_SHAPE:g}, mean {SHORT_MEAN} packets.",
                SCRIPTS,
                Change(),
            ),
            Reading(
                "even",
                f"Pareto, tail index {EVEN_SHAPE:g}, the same mean.",
                "plausible because a published reproduction varies it from 1.1 to 2.2",
                Change(rewrite=_even_sizes),
            ),
        ),
        ("RCP-2", "RCP-3", "RCP-4"),
    ),
    Assumption(
        "maxnet-source",
        "MaxNet's papers have two kinds of sources.",
        (
            Reading(
                "stable", "The provably stable one.", "Implementation of Provably Stable MaxNet", Change()
            ),
            Reading(
                "static",
                "The demand function of the first papers.",
                "plausible because the claim of 2002 is older than the stable source",
                Change(algorithms={"maxnet": {"variant": "static"}}),
            ),
        ),
        ("MAX-1", "MAX-2", "MAX-3"),
    ),
    Assumption(
        "cadpc-gain",
        "What could be read of CADPC's papers does not print the gain a of the law.",
        (
            Reading("half", "a = .5.", "from memory of the book, not verified", Change()),
            Reading(
                "one",
                "a = 1.",
                "plausible because the law without a gain is the logistic one",
                Change(algorithms={"cadpc": {"gain": 1.0}}),
            ),
        ),
        ("CAD-1", "CAD-2", "CAD-3"),
    ),
    Assumption(
        "sabul-rate",
        "SABUL's library has two laws of its rate.",
        (
            Reading("library", "That of its code.", "the authors' library: `processFeedback`", Change()),
            Reading(
                "mimd",
                "The earlier one, which its comments keep.",
                "plausible because the paper of 2003 may describe the earlier library",
                Change(algorithms={"sabul": {"variant": "mimd"}}),
            ),
        ),
        ("SAB-1", "SAB-2", "SAB-3"),
    ),
    Assumption(
        "losses-beside",
        "The papers do not say whether the path that a blast shares with TCP loses packets at random.",
        (
            Reading("none", "It does not.", CHOSEN_HERE + ": TCP alone must be able to use it", Change()),
            Reading(
                "random",
                f"It loses {100 * FAST_LOSS:g} %.",
                "plausible because the transports were made for such paths",
                Change(bottleneck={"loss": FAST_LOSS}),
            ),
        ),
        ("SAB-3", "RBU-3", "TSU-3"),
    ),
)

CLOSED: dict[str, str] = {}
"""Why nothing is open in a claim."""
