"""SABUL, Reliable Blast UDP and Tsunami: large files with losses, and TCP beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from longfat.figure.data import Panel, Table, points
from longfat.runs import metrics
from longfat.units import PACKET_BITS
from longfat_papers.kit import (
    Check,
    Checks,
    Coordinate,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Run,
    Runs,
    mean,
    repeats,
    settings,
)
from longfat_papers.kit.checks import above, at_least, at_most, below, within_factor
from longfat_papers.relatives import common as rel
from longfat_papers.relatives.reduction import Row, rows

SABUL = (
    "Gu, Grossman: SABUL: A Transport Protocol for Grid Computing, Journal of Grid Computing 1, 2003 "
    "(abstract)"
)
EARLY_SABUL = (
    "Gu, Hong, Mazzucco, Grossman: SABUL: A High Performance Data Transfer Protocol (abstract and "
    "introduction)"
)
RBUDP = (
    "He, Leigh, Yu, DeFanti: Reliable Blast UDP: Predictable High Performance Bulk Data Transfer, Cluster "
    "Computing 2002 (abstract and the project's page)"
)
TSUNAMI = (
    "Faster Bulk Transfer Starring: UDP, Oak Ridge National Laboratory (its account of Tsunami; the report "
    "of Tsunami's authors was not available)"
)

FAST_MBPS, FAST_RTT_MS = 1000, 100
FAST_LOSS = 1e-3
FAST_S: dict[Mode, int] = {"quick": 40, "full": 120}
FAST_BYTES: dict[Mode, int] = {"quick": 2, "full": 8}
"""GB of a transfer."""
FASTS = ("sabul", "rbudp", "tsunami", "udt", "reno")
SMALL_GB = 0.1
"""The smaller transfer of RBUDP's prediction."""
PAYLOAD = 1448.0 / 1500.0
"""The share of RBUDP's packets that is data."""
LOSSY, LOSSY_RTT_MS, LOSSY_S = 0.03, 150, 30
"""Tsunami's demonstration: losses, and a path from Brussels to Seattle."""
DELAYS_MS, DELAYS_MBPS, DELAYS_S = (20, 100), 300, 60.0
BESIDE_S, BESIDE_JOIN_S, BESIDE_FROM_S = 40.0, 10.0, 20.0

FILLED = 0.8  # SAB-1, RBU-1, TSU-1: of the link's rate
PREDICTED_FACTOR = 1.1  # RBU-2
DELAY_RATIO = 0.8  # SAB-2: lesser over greater rate
DEMONSTRATED_MBPS = 800.0  # TSU-2
TCP_MBPS = 300.0  # TSU-2: "a few tens to a very few hundreds"


@rel.PAPER.experiment("fast", "SABUL; RBUDP; Tsunami", "A large file with random losses")
def fast(mode: Mode) -> list[Run]:
    """For RBUDP also a smaller file."""
    sizes, found = [(system, float(FAST_BYTES[mode])) for system in FASTS], []
    for system, size in [*sizes, ("rbudp", SMALL_GB)]:
        title = f"{size:g} GB over {system}"
        flow = rel.flow(system, rel.name_of(system), bytes=f"{size:g} GB")
        document = rel.dumbbell(title, FAST_MBPS, FAST_RTT_MS, FAST_S[mode], [flow], loss=FAST_LOSS)
        packets = min(1e6 * FAST_MBPS * FAST_S[mode], 8e9 * size) / PACKET_BITS
        for repeat in range(rel.REPEATS[mode]):
            at: dict[str, Coordinate] = {"system": system, "gigabytes": size, "repeat": repeat}
            found.append(Run(at, {**document, "seed": repeat + 1}, packets))
    return found


@fast.drawing
def draw_fast(runs: Runs, mode: Mode) -> Drawing:
    size = max(runs.distinct("gigabytes"))
    goodputs = [np.mean([row.goodput() for row in rows(runs, system=name, gigabytes=size)]) for name in FASTS]
    curve = points("measured", [(float(i), (float(y), math.nan)) for i, y in enumerate(goodputs)])
    table = tuple(
        (
            rel.TITLES[row["system"]],
            f"{row['gigabytes']:g}",
            f"{Row(row).goodput():.0f}",
            f"{Row(row).loss_ratio():.2%}",
        )
        for row in runs
    )
    return Drawing(
        f"Goodput of a file of {size:g} GB over 1 Gbit/s and 100 ms, with 0.1 % of the packets lost at "
        "random." + repeats(runs),
        (
            Panel(
                "",
                "",
                "goodput, Mbit/s",
                (curve,),
                y_range=(0.0, FAST_MBPS),
                categories=tuple(rel.TITLES[system] for system in FASTS),
            ),
        ),
        table=Table(("system", "file, GB", "goodput, Mbit/s", "packets lost"), table),
    )


@rel.PAPER.experiment(
    "lossy",
    "Tsunami's demonstration",
    "3 % of the packets lost",
    grid={"system": ("tsunami", "reno"), "repeat": rel.REPEATS},
)
def lossy(system: str, repeat: int) -> dict[str, Any]:
    title, flow = f"{system} with 3 % of the packets lost", rel.flow(system, rel.name_of(system))
    return rel.dumbbell(title, FAST_MBPS, LOSSY_RTT_MS, LOSSY_S, [flow], loss=LOSSY)


@lossy.drawing
def draw_lossy(runs: Runs, mode: Mode) -> Drawing:
    return _each(runs, "1 Gbit/s with 3 % of the packets lost at random.", FAST_MBPS)


@rel.PAPER.experiment(
    "delays", "SABUL", "Unlike round-trip times", grid={"system": ("sabul", "reno"), "repeat": rel.REPEATS}
)
def delays(system: str, repeat: int) -> dict[str, Any]:
    title = f"two flows of {system}, {DELAYS_MS[0]} and {DELAYS_MS[1]} ms"
    flows = [rel.flow(system, f"{rtt} ms", rtt=f"{rtt} ms") for rtt in DELAYS_MS]
    return rel.dumbbell(title, DELAYS_MBPS, max(DELAYS_MS), DELAYS_S, flows)


@delays.drawing
def draw_delays(runs: Runs, mode: Mode) -> Drawing:
    return _each(runs, "Two flows of each, without random losses.", DELAYS_MBPS)


def _each(runs: Runs, caption: str, most: float) -> Drawing:
    """Draws the flows of each system, a single one without its name."""
    panels = []
    for row in rel.first_repeats(runs):
        groups = [("flow", "")] if len(row.names) == 1 else None
        panels.append(rel.histories(rel.TITLES[row["system"]], row, most, groups))
    return rel.drawn(caption, panels)


@rel.PAPER.experiment(
    "beside",
    "beside",
    "A TCP flow that a blast joins",
    grid={"system": ("reno", "sabul", "rbudp", "tsunami"), "repeat": rel.REPEATS},
)
def beside(system: str, repeat: int) -> dict[str, Any]:
    """A TCP flow that another transport joins, and for comparison another TCP flow."""
    flows = [rel.flow("reno", "tcp"), rel.flow(system, "joining", BESIDE_JOIN_S)]
    return rel.dumbbell(f"{system} joins TCP", FAST_MBPS, FAST_RTT_MS, BESIDE_S, flows)


@beside.drawing
def draw_beside(runs: Runs, mode: Mode) -> Drawing:
    caption = f"1 Gbit/s, 100 ms, no random losses; the other flow joins TCP at {BESIDE_JOIN_S:g} s."
    panels = []
    for row in rel.first_repeats(runs):
        title = rel.TITLES[row["system"]]
        other = "the other TCP" if row["system"] == "reno" else title
        panels.append(rel.histories(f"{title} joins", row, FAST_MBPS, [("TCP", "tcp"), (other, "joining")]))
    return rel.drawn(caption, panels)


FAST_SETTINGS = settings(f"""
    path | {FAST_MBPS / 1000:g} Gbit/s, {FAST_RTT_MS} ms, {100 * FAST_LOSS:g} % random loss \
        | chosen here: a long fat path with losses that stop TCP
    transfer | {FAST_BYTES["full"]} GB, in quick mode {FAST_BYTES["quick"]} GB
    sending rate of RBUDP and Tsunami | the link's rate, 965 Mbit/s of payload \
        | the user's choice; chosen here
""")
LARGE_FILE = "a large file over 1 Gbit/s and 100 ms with .1 % of the packets lost"
of_fast = partial(
    fast.claim,
    settings=FAST_SETTINGS,
    estimator="Payload over the time from the start to the end of the transfer; mean over repeats.",
    bounds=rel.NUMBERS,
)
of_beside = partial(
    beside.claim,
    settings=settings(f"""
        path | {FAST_MBPS / 1000:g} Gbit/s, {FAST_RTT_MS} ms, no random loss
        flows | TCP SACK from 0 s, the other from {BESIDE_JOIN_S:g} s
    """),
    estimator=f"TCP's mean rate from {BESIDE_FROM_S:g} s to the end of the run; mean over repeats.",
    bounds=rel.NUMBERS,
)


def filled(system: str, runs: Runs) -> Checks:
    """SAB-1, RBU-1 and TSU-1: the transfer takes most of a link with random losses."""
    own = runs.where(system=system)
    size = max(own.distinct("gigabytes"))
    shares = [row.goodput() / FAST_MBPS for row in rows(own, gigabytes=size)]
    tcp, share = mean(row.goodput() for row in rows(runs, system="reno")), mean(shares)
    yield at_least("goodput over the link's rate", share, FILLED)
    return Evidence(
        f"{size:g} GB at {share * FAST_MBPS:.0f} Mbit/s (TCP SACK: {tcp:.1f})",
        {"share": share, "tcp_mbps": tcp},
        figure=Measured.mean("goodput over the link's rate", shares),
    )


def joined(system: str, check: Callable[[str, float, float], Check], digits: int, runs: Runs) -> Checks:
    """SAB-3, RBU-3 and TSU-3: what TCP gets beside a blast; the evidence also has it beside another TCP."""
    shares, references = (
        [row.rate("tcp", BESIDE_FROM_S) / (0.5 * FAST_MBPS) for row in rows(runs, system=other)]
        for other in (system, "reno")
    )
    share, tcp = mean(shares), mean(references)
    yield check("TCP over its fair share", share, rel.HARMED_SHARE)
    return Evidence(
        f"TCP gets {share:.{digits}f} of its fair share (beside another TCP {tcp:.2f})",
        {"share": share, "beside_tcp": tcp},
        figure=Measured.mean("TCP over its fair share", shares),
    )


of_fast(
    "SAB-1",
    LARGE_FILE,
    "designed for high performance over networks with a high bandwidth-delay product",
    paper=SABUL,
)(partial(filled, "sabul"))


@delays.claim(
    "SAB-2",
    f"two flows, {DELAYS_MS[0]} and {DELAYS_MS[1]} ms",
    "adjusts its rate at uniform intervals, in order to remove the fairness bias between flows with "
    "different network delays",
    paper=SABUL,
    settings=settings(f"bottleneck | {DELAYS_MBPS} Mbit/s"),
    estimator=rel.LATE,
    bounds=rel.NUMBERS,
)
def sabul_shares_in_spite_of_delays(runs: Runs) -> Checks:
    own, others = (
        [metrics.throughput_ratio(row.rates()) for row in rows(runs, system=system)]
        for system in ("sabul", "reno")
    )
    ratio, tcp = mean(own), mean(others)
    yield at_least("lesser over greater rate", ratio, DELAY_RATIO)
    yield above("lesser over greater rate, SABUL's less TCP's", ratio - tcp, 0.0)
    return Evidence(
        f"lesser over greater rate: SABUL {ratio:.2f}, TCP {tcp:.2f}",
        {"sabul": ratio, "reno": tcp},
        figure=Measured.mean("SABUL: lesser over greater rate", own),
    )


of_beside(
    "SAB-3",
    "a TCP flow that SABUL joins",
    "this algorithm is proven to be TCP friendly",
    paper=EARLY_SABUL,
)(partial(joined, "sabul", at_least, 2))

of_fast(
    "RBU-1",
    LARGE_FILE,
    "keeps the network pipe as full as possible during bulk data transfer",
    paper=RBUDP,
)(partial(filled, "rbudp"))


def predicted_mbps(gigabytes: float, payload: float) -> float:
    """Returns the goodput of RBUDP's phases: blasts of what is still missing, each answered after an RTT.

    Args:
        gigabytes: of payload.
        payload: of a packet, as a share of its bytes.
    """
    bits = 8e9 * gigabytes
    packets = bits / (payload * PACKET_BITS)
    blasts, missing, sent = 0, packets, 0.0
    while missing >= 0.5:
        blasts, sent, missing = blasts + 1, sent + missing, missing * FAST_LOSS
    return 1e-6 * bits / (sent * PACKET_BITS / (1e6 * FAST_MBPS) + blasts * 1e-3 * FAST_RTT_MS)


@of_fast(
    "RBU-2",
    "files of two sizes over 1 Gbit/s and 100 ms with .1 % of the packets lost",
    "the model is able to provide good estimates of RBUDP's performance",
    paper=RBUDP,
    settings=FAST_SETTINGS
    + settings(f"""
        small file | {SMALL_GB:g} GB
        model | each blast carries what the last one lost, and its answer comes after a round-trip time \
            | derived here from the phases that the project's page describes; the paper's equations were not \
            available
    """),
    bounds="For a file of S bits, the model gives S / (sum over blasts of the packets still missing / rate + "
    f"RTT). {rel.NUMBERS}",
)
def the_model_predicts_rbudp(runs: Runs) -> Checks:
    own = runs.where(system="rbudp")
    found = {
        size: ([row.goodput() for row in rows(own, gigabytes=size)], predicted_mbps(size, PAYLOAD))
        for size in own.distinct("gigabytes")
    }
    for size, (rates, expected) in found.items():
        text = f"{size:g} GB: goodput, Mbit/s,"
        yield within_factor(text, mean(rates), expected, PREDICTED_FACTOR, than="the model's")
    worst, expected = max(found.values(), key=lambda at: abs(math.log(max(mean(at[0]), 1e-9) / at[1])))
    return Evidence(
        ", ".join(f"{size:g} GB at {mean(at):.0f} of {of:.0f} Mbit/s" for size, (at, of) in found.items()),
        {size: [mean(at), of] for size, (at, of) in found.items()},
        figure=Measured.mean(
            "goodput over the prediction, farthest from 1", [rate / expected for rate in worst], 1.0
        ),
    )


of_beside(
    "RBU-3",
    "a TCP flow that RBUDP joins",
    "an aggressive scheme, intended for dedicated or QoS-enabled networks",
    paper=RBUDP,
)(partial(joined, "rbudp", below, 3))


of_fast("TSU-1", LARGE_FILE, "wire rates of gigabit Ethernet where TCP fails for its losses", paper=TSUNAMI)(
    partial(filled, "tsunami")
)


@lossy.claim(
    "TSU-2",
    "1 Gbit/s with 3 % of the packets lost: the demonstration between Brussels and Seattle",
    "over 800 Mbit/s on average; TCP from a few tens to a very few hundreds of Mbit/s",
    paper=TSUNAMI,
    settings=settings(f"""
        losses | {100 * LOSSY:g} %, random | {TSUNAMI}
        round-trip time | {LOSSY_RTT_MS} ms | chosen here: Brussels to Seattle
    """),
    estimator="Goodput over the whole run; mean over repeats.",
    bounds=f'{TCP_MBPS:g} Mbit/s is how "a very few hundreds" is read here.',
    values={"tsunami_mbps": 800.0},
)
def tsunami_is_fast_where_tcp_is_not(runs: Runs) -> Checks:
    own, others = ([row.goodput() for row in rows(runs, system=system)] for system in ("tsunami", "reno"))
    yield at_least("Tsunami: goodput, Mbit/s,", mean(own), DEMONSTRATED_MBPS)
    yield at_most("TCP: goodput, Mbit/s,", mean(others), TCP_MBPS)
    return Evidence(
        f"Tsunami {mean(own):.0f}, TCP SACK {mean(others):.2f} Mbit/s",
        {"tsunami": mean(own), "reno": mean(others)},
        figure=Measured.mean("Tsunami: goodput, Mbit/s", own, DEMONSTRATED_MBPS),
    )


of_beside(
    "TSU-3",
    "a TCP flow that Tsunami joins",
    "aggressive tools such as this are intended for dedicated links, not for general use",
    paper=TSUNAMI,
)(partial(joined, "tsunami", below, 3))
