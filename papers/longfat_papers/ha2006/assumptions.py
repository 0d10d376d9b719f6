"""What the slides of Ha et al. leave open, and the readings of it. The first reading of each is the base.

"slides" are those of the talk. The same authors' longer paper is S. Ha, L. Le, I. Rhee, L. Xu: Impact of
background traffic on performance of high-speed TCP variant protocols, Computer Networks 51, 2007. Only its
abstract was available; it has no rate, buffer or amount of traffic.
"""

from __future__ import annotations

from typing import Any

from longfat_papers.ha2006.settings import (
    BACKGROUND_RTT,
    LONG_FLOWS,
    RATE_MBPS,
    ROUTER_TICK,
    SHORT_LOAD,
)
from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.claims import CHOSEN_HERE

LEAST_RTT = "20 ms"


def _background(short_load: str, long_flows: int) -> Change:
    """Changes the amount of background traffic."""

    def rewrite(document: dict[str, Any]) -> dict[str, Any]:
        amounts: dict[str, dict[str, Any]] = {"short": {"load": short_load}, "bulk": {"flows": long_flows}}
        sources = [{**source, **amounts[source["kind"]]} for source in document.get("background", [])]
        return {**document, **({"background": sources} if sources else {})}

    return Change(rewrite=rewrite)


OLDER = CHOSEN_HERE + ": no reading has a better source, and the suite had this one before"
"""The source of a base that nothing documents."""

ASSUMPTIONS = (
    Assumption(
        id="rate",
        question="The slides show no rate of the bottleneck.",
        readings=(
            Reading("400", f"{RATE_MBPS} Mbit/s.", OLDER, Change()),
            Reading(
                "100",
                "100 Mbit/s, with a buffer of 0.5 MB.",
                "plausible because many testbeds of the time had Fast Ethernet at the bottleneck",
                Change(bottleneck={"rate": "100 Mbit/s", "buffer": "0.5 MB"}),
            ),
        ),
    ),
    Assumption(
        id="buffer",
        question='The slides "configure the queue size" of dummynet and do not print it.',
        readings=(
            Reading("2-mb", "2 MB, half the BDP at 82 ms.", OLDER, Change()),
            Reading(
                "half-mb",
                "0.5 MB, an eighth of the BDP at 82 ms.",
                'plausible because the longer paper\'s abstract finds FAST unfair "in small buffer" networks',
                Change(bottleneck={"buffer": "0.5 MB"}),
            ),
            Reading(
                "8-mb",
                "8 MB, the BDP at 162 ms.",
                "plausible because a BDP was the rule of thumb",
                Change(bottleneck={"buffer": "8 MB"}),
            ),
        ),
    ),
    Assumption(
        id="background",
        question="The slides say of which flows the background consists, but not how many there were.",
        readings=(
            Reading(
                "medium",
                f"Short flows load {SHORT_LOAD}, and there are {LONG_FLOWS} long flows each way.",
                OLDER,
                Change(),
            ),
            Reading(
                "light",
                "Short flows load 5 %, and there are 2 long flows each way.",
                'plausible because "packet loss rate increases only slightly" with background',
                _background("5 %", 2),
            ),
            Reading(
                "heavy",
                "Short flows load 30 %, and there are 16 long flows each way.",
                "plausible because the longer paper's abstract tries larger amounts of background",
                _background("30 %", 16),
            ),
        ),
    ),
    Assumption(
        id="background-rtts",
        question='The background has RTTs "from an Internet measurement study"; the plot has no scale.',
        readings=(
            Reading(
                "exponential",
                f"Exponential, {BACKGROUND_RTT['exponential']} on average, without a lower bound.",
                'backup slides: "RTTs have exponential distribution"',
                Change(),
            ),
            Reading(
                "from-20-ms",
                f"The same mean, but at least {LEAST_RTT}.",
                "plausible because few Internet paths are shorter, and the slides show no lower end",
                Change(backgrounds={"rtt": {**BACKGROUND_RTT, "least": LEAST_RTT}}),
            ),
        ),
    ),
    Assumption(
        id="background-windows",
        question="The slides do not say which window iperf's long flows had.",
        readings=(
            Reading("64-kb", "64 kB, as hosts had by default.", OLDER, Change()),
            Reading(
                "unlimited",
                "Nothing but the network limits them.",
                "plausible because the high-speed flows of the same testbed need large windows",
                Change(backgrounds={"max_window": None}),
            ),
        ),
    ),
    Assumption(
        id="counting",
        question="The slides name no kernel, so it is open how ACKs were counted.",
        readings=(
            Reading("stack", "As Linux 2.6.16.", "the kernel that followed the talk", Change()),
            Reading(
                "acks",
                "Each ACK counts one segment.",
                "tcp(7): byte counting came with Linux 2.6.15, in January 2006; the talk was in February",
                Change(flows={"byte_counting": False}, backgrounds={"byte_counting": False}),
            ),
            Reading(
                "segments",
                "ACKs count segments, at most two in slow-start.",
                "RFC 3465, 2.2; tcp(7): tcp_abc = 2",
                Change(
                    flows={"byte_counting": True, "slow_start_limit": 2},
                    backgrounds={"byte_counting": True, "slow_start_limit": 2},
                ),
            ),
        ),
    ),
    Assumption(
        id="initial-ssthresh",
        question="The slides do not say whether BIC and CUBIC kept the initial ssthresh of their modules.",
        readings=(
            Reading("stack", "100 segments, as in Linux 2.6.16.", "the stack's page", Change()),
            Reading(
                "infinite",
                "Slow-start ends with the first loss.",
                "plausible because the other protocols start so; the suite had it before",
                Change(flows={"initial_ssthresh": "infinite"}),
            ),
        ),
        claims=("1", "2", "3", "5", "6", "7"),
    ),
    Assumption(
        id="rate-halving",
        question="The slides do not say how far the kernels let the window fall in recovery.",
        readings=(
            Reading("stack", "As Linux 2.6.16.", "the stack's page", Change()),
            Reading(
                "to-ssthresh",
                "The window stops at the algorithm's ssthresh.",
                "the suite had it before; each protocol's paper has its ssthresh as the new window",
                Change(flows={"recovery": "rate-halving"}, backgrounds={"recovery": "rate-halving"}),
            ),
        ),
    ),
    Assumption(
        id="router",
        question="The slides name dummynet, but not the clock of its host.",
        readings=(
            Reading("hz-1000", f"Ticks of {ROUTER_TICK}.", "dummynet(4): strongly recommended", Change()),
            Reading(
                "ideal",
                "The router sends packets one by one.",
                "plausible because the slides speak of a queue size only; the suite had this one before",
                Change(bottleneck={"service_tick": None}),
            ),
        ),
    ),
    Assumption(
        id="fast-alpha",
        question="The slides do not give FAST's alpha.",
        readings=(
            Reading("200", "200 packets.", OLDER, Change()),
            Reading(
                "100",
                "100 packets.",
                "plausible because alpha grows with the rate: FAST's authors used 200 at 1 Gbit/s",
                Change(algorithms={"fast": {"alpha": 100}}),
            ),
            Reading(
                "switched",
                "alpha switches between 8, 20 and 200 packets with the rate.",
                "Li, Leith, Shorten 2007, IV-E: the prototype of that time does so",
                Change(algorithms={"fast": {"alpha": None, "variant": "lls"}}),
            ),
        ),
        claims=("1", "2", "4", "6", "7"),
    ),
)
"""Written down, with their sources, before any reading was run."""
