"""The rows of RFC 9743 (BCP 133): what each asks in a few words of ours, and the experiments for it."""

from __future__ import annotations

from longfat.assess import behaviour, general, special
from longfat.assess.model import Criterion
from longfat.errors import InputError

SOURCE = (
    "Duke, Fairhurst (editors): Specifying New Congestion Control Algorithms, RFC 9743, BCP 133, March 2025"
)

CRITERIA = (
    Criterion(
        "5.1.1",
        "Protection against congestion collapse",
        "Does it stop, or fall to a packet a round trip and then back off exponentially, when most packets "
        "are lost?",
        (behaviour.COLLAPSE, behaviour.BLACKOUT, behaviour.AFTER_BLACKOUT),
    ),
    Criterion(
        "5.1.2",
        "Protection against bufferbloat",
        "How long a queue does it keep where the buffer is large?",
        (behaviour.BUFFERBLOAT,),
    ),
    Criterion(
        "5.1.3",
        "Protection against high packet loss",
        "How much does it lose, with many flows and small buffers?",
        (behaviour.HIGH_LOSS,),
    ),
    Criterion(
        "5.1.4",
        "Fairness within the algorithm",
        "How do flows that all use it share a link, and how soon does a late comer have its share?",
        (behaviour.FAIRNESS, behaviour.CONVERGENCE),
    ),
    Criterion(
        "5.1.5",
        "Short flows",
        "How do short and long flows that use it affect each other?",
        (behaviour.SHORT,),
    ),
    Criterion(
        "5.2",
        "Mixed algorithms: starvation and harm",
        "Can it starve others, and does it back off when all feedback is lost?",
        (behaviour.STARVED_RENO, behaviour.STARVED_CUBIC, behaviour.NO_FEEDBACK),
    ),
    Criterion(
        "5.2.1",
        "Existing general-purpose congestion control",
        "What do flows of RFC 5681, RFC 9438 and RFC 9002 get beside it?",
        (behaviour.BESIDE_RENO, behaviour.BESIDE_CUBIC, behaviour.BESIDE_QUIC),
    ),
    Criterion(
        "5.2.2",
        "Real-time congestion control",
        "What delay and loss does real-time traffic see beside it?",
        (behaviour.REAL_TIME,),
    ),
    Criterion(
        "5.2.3",
        "Short and long flows of other algorithms",
        "How do short and long flows of others fare beside it?",
        (behaviour.SHORT_OF_OTHERS, behaviour.LONG_OF_OTHERS),
    ),
    Criterion(
        "5.3.1",
        "Differences from the congestion control principles",
        "Where does it deviate from RFC 2914 and RFC 7141, and why?",
        prompt="Explain each deviation from RFC 2914 and RFC 7141.",
    ),
    Criterion(
        "5.3.2",
        "Incremental deployment",
        "Can it be deployed step by step, and how is its scope kept to the environment that it is meant for?",
        prompt="Say where it is meant to run, what it needs there, and how it works with equipment that "
        "knows nothing of it.",
    ),
    Criterion(
        "6.1",
        "Paths with tail-drop queues",
        "How does it do through drop-tail queues, over a range of rates, delays and buffers?",
        (general.DROPTAIL,),
    ),
    Criterion(
        "6.2",
        "Tunnel behaviour",
        "What happens where routers cannot see the flow, or their signals do not arrive?",
        (general.TUNNEL,),
    ),
    Criterion("6.3", "Wired paths", "How does it do where only queues lose packets?", (general.WIRED,)),
    Criterion(
        "6.4",
        "Wireless paths",
        "How does it do with random loss, a rate that varies, and jitter?",
        (general.WIRELESS,),
    ),
    Criterion(
        "7.1",
        "Active queue management",
        "How does it do through AQM, with drops and with ECN marks?",
        (special.AQM,),
    ),
    Criterion(
        "7.2",
        "Operation with the envelope set by circuit breakers",
        "Does it react before a circuit breaker would?",
        (special.BREAKER,),
    ),
    Criterion(
        "7.3",
        "Paths with varying delay",
        "Is it robust when the least delay of the path changes?",
        (special.DELAY,),
    ),
    Criterion(
        "7.4",
        "Internet of Things and constrained nodes",
        "How does it do where a round trip carries less than a packet?",
        (special.IOT,),
    ),
    Criterion("7.5", "Paths with high delay", "How does it do over a satellite?", (special.GEO,)),
    Criterion(
        "7.6",
        "Misbehaving nodes",
        "What do receivers and routers gain or break that do not keep to the rules?",
        (special.RECEIVERS, special.ROUTERS),
    ),
    Criterion(
        "7.7",
        "Extreme packet reordering",
        "How does it do when packets are out of order?",
        (special.REORDERING,),
    ),
    Criterion(
        "7.8",
        "Transient events",
        "How does it take a sudden onset of congestion, or a disconnection?",
        (special.BURST, special.AFTER_BURST, special.OUTAGE),
    ),
    Criterion(
        "7.9",
        "Sudden changes in the path",
        "Is it robust when the rate or the delay of the path changes at once?",
        (special.PATHS,),
    ),
    Criterion(
        "7.10",
        "Multipath transport",
        "How does it keep the state of each path, and what happens where paths share a bottleneck?",
        why="A flow in Longfat has one path.",
    ),
    Criterion(
        "7.11",
        "Data centres",
        "How does it do below 2 ms, with bursts of many nodes?",
        (special.DATA_CENTRE, special.INCAST),
    ),
)

LIMITS = (
    "These are runs of a simulator. It has no host that is too slow, no other protocol layers, no "
    "middlebox, and no real "
    "users; measurements of a deployment say what it cannot.",
    "The shared sender of Longfat detects losses, retransmits, and times out for every algorithm, by the "
    "rules of its stack (RFC 8985 or RFC 6675, RFC 6298 and others), as an operating system does. So what "
    "happens after a timeout, as in 5.1.1, is partly the sender's doing.",
    "Real-time traffic is a source of constant rate: media senders that adapt (RFC 8836) are not modelled.",
    "Attackers from outside (7.6), real radio links (6.4), and multipath transports (7.10) are not modelled.",
    "The paths are a few points, chosen by the tables of each section, not a sample of the Internet. The "
    "intervals say how "
    "much repeats of the same points differ, and nothing about other points.",
    "With so many intervals of 95 %, about one in twenty leaves out zero by chance.",
    "RFC 9743 gives no thresholds, and this dossier has none: it says by how much the algorithm differs "
    "from others.",
)
"""What the method cannot say."""


def select(asked: tuple[str, ...] | list[str]) -> tuple[Criterion, ...]:
    """Returns the rows of these sections, all if there are none; "5.1" stands for all that begin with it.

    Raises:
        InputError: there is no such section.
    """
    sections = [part.strip() for text in asked for part in text.split(",")]
    for section in sections:
        if not any(_is_in(row.section, section) for row in CRITERIA):
            known = ", ".join(row.section for row in CRITERIA)
            raise InputError(f"--only {section}: RFC 9743 has no such section; accepted: {known}")
    return tuple(row for row in CRITERIA if not sections or any(_is_in(row.section, s) for s in sections))


def _is_in(section: str, asked: str) -> bool:
    return section == asked or section.startswith(f"{asked}.")
