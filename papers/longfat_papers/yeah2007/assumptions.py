"""What the YeAH paper leaves open, and the readings of it. The first reading of each is the base.

Sources: section numbers are the paper's. "tcp(7)" is the page of the Linux man-pages project, which says what
each kernel had.
"""

from __future__ import annotations

from typing import Any

from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.claims import CHOSEN_HERE
from longfat_papers.yeah2007.settings import WEB_CLIENT_WINDOWS

_AVOIDS_LOSS = ("F1", "F3", "T1", "F6", "F7", "FR")
"""Claims whose runs lose packets at the buffer only."""


def _start_apart(document: dict[str, Any]) -> dict[str, Any]:
    """Starts the last flow 5 to 60 s after the others."""
    first, *others = document["flow"]
    return {**document, "flow": [first, *others[:-1], {**others[-1], "start": {"uniform": ["5 s", "60 s"]}}]}


OLDER = CHOSEN_HERE + ": no reading has a better source, and the suite had this one before"
"""The source of a base that nothing documents."""

ASSUMPTIONS = (
    Assumption(
        id="stack",
        question=(
            'IV runs a "modified version of the 2.6.16.2 kernel", made "fully RFC compliant", without saying '
            "which of its deviations were removed."
        ),
        readings=(
            Reading(
                "kernel",
                "The senders behave as Linux 2.6.16.",
                "IV names the kernel; the patch [21] is not available any more",
                Change(),
            ),
            Reading(
                "rfc",
                "The window is halved at once, and every ACK counts one segment.",
                "RFC 2581, 3.1 and 3.2: an ACK counts one segment, the window becomes ssthresh; the paper's "
                "[20] is about how Linux differs",
                Change(flows={"stack": "rfc", "recovery": "immediate", "byte_counting": False}),
            ),
            Reading(
                "idealised",
                "The host of the suite's first version: byte counting (RFC 3465) and rate halving.",
                "plausible because RFC 3465 is an RFC, too; the suite had this one before",
                Change(
                    flows={"stack": "rfc"},
                    backgrounds={"stack": "rfc"},
                ),
            ),
        ),
    ),
    Assumption(
        id="abc",
        question="The paper does not say which tcp_abc it set, which counts what ACKs acknowledge.",
        readings=(
            Reading(
                "stack",
                "tcp_abc = 1: the stack's.",
                "Linux 2.6.17-rc6 has 1 by default, 2.6.18 has 0",
                Change(),
            ),
            Reading(
                "acks",
                "tcp_abc = 0: each ACK counts one segment, also in congestion avoidance.",
                "tcp(7): 0 is its default; so in Linux 2.6.18",
                Change(flows={"byte_counting": False}, backgrounds={"byte_counting": False}),
            ),
            Reading(
                "two",
                "tcp_abc = 2: an ACK of two segments counts two, also in slow-start.",
                "tcp(7): one of its values; RFC 3465, 2.2, L = 2",
                Change(
                    flows={"byte_counting": True, "slow_start_limit": 2},
                    backgrounds={"byte_counting": True, "slow_start_limit": 2},
                ),
            ),
        ),
    ),
    Assumption(
        id="rate-halving",
        question="The paper does not say how far its kernel let the window fall in recovery.",
        readings=(
            Reading("stack", "As Linux 2.6.16.", "the stack's page", Change()),
            Reading(
                "to-ssthresh",
                "The window stops at the algorithm's ssthresh.",
                'plausible because the kernel was made "fully RFC compliant" (IV); the older base',
                Change(flows={"recovery": "rate-halving"}, backgrounds={"recovery": "rate-halving"}),
            ),
        ),
    ),
    Assumption(
        id="web-clients",
        question=(
            "IV sets the advertised window of the receiver high, but does not say which window the web "
            "clients had."
        ),
        readings=(
            Reading(
                "unlimited",
                "The clients' window limits nothing.",
                'IV: "the advertised window is set to high values", read as said of every receiver',
                Change(),
            ),
            Reading(
                "64-kb",
                f"The clients advertise 64 kB, {WEB_CLIENT_WINDOWS['64-kb']} segments.",
                "RFC 1323, 1.1: the largest window without its option, which clients of the time seldom used",
                Change(backgrounds={"max_window": WEB_CLIENT_WINDOWS["64-kb"]}),
            ),
            Reading(
                "128-kb",
                f"The clients run Linux 2.4 with default buffers: {WEB_CLIENT_WINDOWS['128-kb']} segments.",
                "tcp(7): tcp_rmem ends at 2 x 87380 bytes, of which tcp_adv_win_scale = 2 leaves 3/4",
                Change(backgrounds={"max_window": WEB_CLIENT_WINDOWS["128-kb"]}),
            ),
        ),
        claims=_AVOIDS_LOSS,
    ),
    Assumption(
        id="web-rtt",
        question="IV places the web clients on a fourth PC and does not give their round-trip time.",
        readings=(
            Reading("flow", "That of the first flow.", OLDER, Change()),
            Reading(
                "least",
                "12 ms, the least that the testbed can set.",
                'IV: "both RTTs can vary between 12 ms and 480 ms"',
                Change(backgrounds={"rtt": "12 ms"}),
            ),
            Reading(
                "wide",
                "Exponential, 100 ms on average.",
                "plausible because a population of clients has many distances; Ha et al. 2006 draw theirs so",
                Change(backgrounds={"rtt": {"exponential": "100 ms"}}),
            ),
        ),
        claims=_AVOIDS_LOSS,
    ),
    Assumption(
        id="saved-ssthresh",
        question="The paper does not say whether the web server kept ssthresh in its route cache.",
        readings=(
            Reading(
                "kept",
                "A connection to a client begins with the ssthresh that earlier ones left.",
                "tcp(7): tcp_no_metrics_save is off by default, so Linux saves metrics",
                Change(),
            ),
            Reading(
                "not-kept",
                "Every connection begins without ssthresh.",
                "tcp(7): tcp_no_metrics_save = 1, which those who repeat measurements often set",
                Change(backgrounds={"ssthresh_cache": False}),
            ),
        ),
        claims=_AVOIDS_LOSS,
    ),
    Assumption(
        id="router",
        question="IV says that R emulates the bottleneck, but not with which tool or clock.",
        readings=(
            Reading("ideal", "R sends packets one by one.", OLDER, Change()),
            Reading(
                "hz-250",
                "R works at ticks of 4 ms.",
                "IV: the testbed is Linux; kernel/Kconfig.hz of Linux 2.6: 250 Hz by default",
                Change(bottleneck={"service_tick": "4 ms"}),
            ),
            Reading(
                "hz-1000",
                "R works at ticks of 1 ms.",
                "kernel/Kconfig.hz of Linux 2.6: 1000 Hz can be chosen, and emulators usually did",
                Change(bottleneck={"service_tick": "1 ms"}),
            ),
        ),
    ),
    Assumption(
        id="interrupts",
        question="IV names 1000BaseTX, but no network card; a card may collect packets before an interrupt.",
        readings=(
            Reading("none", "Each packet interrupts the host.", OLDER, Change()),
            Reading(
                "e1000",
                "At most 8000 interrupts a second, as Intel's card of the time.",
                "driver e1000, InterruptThrottleRate: 8000 by default",
                Change(
                    flows={"interrupt_moderation": "125 us"}, backgrounds={"interrupt_moderation": "125 us"}
                ),
            ),
        ),
    ),
    Assumption(
        id="starts",
        question="IV does not say when the second flow starts.",
        readings=(
            Reading("together", "Both start within a second.", OLDER, Change()),
            Reading(
                "apart",
                "The second flow starts 5 to 60 s after the first.",
                "plausible because flows from two hosts rarely begin together; III-F of Li, Leith, Shorten "
                "2007 asks for random starts",
                Change(rewrite=_start_apart),
            ),
        ),
        claims=("F3", "T1", "F6", "F7", "FR"),
    ),
    Assumption(
        id="htcp",
        question="IV does not say whether the kernel's H-TCP or that of its paper ran; they differ.",
        readings=(
            Reading("kernel", "variant linux.", "IV: Linux 2.6.16.2 has a module", Change()),
            Reading(
                "paper",
                "variant paper.",
                "plausible because [6] is cited for the algorithm",
                Change(algorithms={"htcp": {"variant": "paper"}}),
            ),
        ),
        claims=("F3", "T1", "F4", "F7", "FR"),
    ),
)
"""Written down, with their sources, before any reading was run."""
