"""The thesis's mechanisms around RCP, MaxNet and ERICA: section 7.4 (GEN-1 to GEN-7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, multiple, percent, settings
from longfat_papers.kit.checks import above, at_least, at_most, below
from longfat_papers.kit.means import mean
from longfat_papers.relatives import common as rel
from longfat_papers.relatives import networks
from longfat_papers.relatives.reduction import OTHER, SCOUT, Row, rows

ORACLE: dict[str, Any] = {"kind": "xcp-i", "estimator": "oracle"}

CLOUD_MBPS, CLOUD_RTT_MS = 100, 100
CLOUD_BEGIN_S, CLOUD_S, CLOUD_FROM_S = 2.0, 32.0, 12.0
"""Flows begin, the run ends, the rate counts; before, a short flow has created the virtual routers."""
MIX_MBPS, MIX_RTT_MS, MIX_BUFFER_MS = 200, 20, 60
MIX_JOIN_S, MIX_S, MIX_FROM_S = 10.0, 60.0, 30.0
MIX_TCP = 2
ACKS_MBPS, ACKS_RTT_MS, ACKS_S, ACKS_FLOWS = 200, 100, 60, 3
ACKS_EVERY_S = 10
ACKS_OTHERS_MBPS = 100
"""Datagrams that take half of the link in every second period of `ACKS_EVERY_S`."""

CLOUD_SHARE = 0.8  # GEN-1 to GEN-3: of the cloud's rate
CLOUD_LOSS = 0.01  # GEN-1 to GEN-3: of the packets
MIX_SHARE = 0.5  # GEN-4 to GEN-6: of the fair share, both for the explicit flow and for TCP
ACKS_LOST_FACTOR = 2.0  # GEN-7: of the packets lost without losses of ACKs
ACKS_KEPT_SHARE = 0.95  # GEN-7: of the rate without losses of ACKs


@rel.PAPER.experiment("clouds", "thesis, 7.4; chapter 4", "XCP-i's virtual router", grid=rel.CASES)
def clouds(system: str, case: str, repeat: int) -> dict[str, Any]:
    """A flow through a cloud without the system's routers, between edges with them or with XCP-i's."""
    router = system if case == rel.PLAIN else ORACLE | {"protocol": system}
    edge = partial(networks.link, mbps=networks.EDGE_MBPS, router=router)
    cloud = partial(networks.link, mbps=CLOUD_MBPS)
    ends: dict[str, Any] = {"from": "S", "to": "R"}
    return rel.scenario(
        f"{system} through a cloud",
        CLOUD_S,
        link=[
            link(name, delay_ms=CLOUD_RTT_MS / 8, buffer_ms=CLOUD_RTT_MS)
            for name, link in (("S-R0", edge), ("R0-A", edge), ("A-R1", cloud), ("R1-R", edge))
        ],
        flow=[
            rel.flow(system, f"{SCOUT}-S", bytes="10 kB", **ends) | {"start": "0 s"},
            rel.flow(system, system, CLOUD_BEGIN_S, **ends),
        ],
    )


@clouds.drawing
def draw_clouds(runs: Runs, mode: Mode) -> Drawing:
    return rel.cases(
        runs,
        f"A flow through a cloud of {CLOUD_MBPS} Mbit/s: with the system's own routers at the edges (plain), "
        "and with XCP-i's around the system's law (wrapped).",
        2.0 * CLOUD_MBPS,
        ("flow", ""),
    )


@rel.PAPER.experiment("mixes", "thesis, 7.4; chapter 6", "The friendliness mechanism", grid=rel.CASES)
def mixes(system: str, case: str, repeat: int) -> dict[str, Any]:
    """An explicit flow beside TCP, with the system's own router and with the friendliness mechanism."""
    flows = [rel.flow(system, "explicit")]
    flows += [rel.flow("newreno", f"tcp-{i + 1}", MIX_JOIN_S) for i in range(MIX_TCP)]
    router = system if case == rel.PLAIN else rel.FRIENDLY | {"protocol": system}
    title, more = f"{system} beside TCP, {case}", {"buffer": f"{MIX_BUFFER_MS} ms", "router": router}
    return rel.dumbbell(title, MIX_MBPS, MIX_RTT_MS, MIX_S, flows, **more)


@mixes.drawing
def draw_mixes(runs: Runs, mode: Mode) -> Drawing:
    return rel.cases(
        runs,
        f"One explicit flow; two of TCP join at {MIX_JOIN_S:g} s. Plain: the system's own router. Wrapped: "
        "the thesis's mechanism around the system's law.",
        MIX_MBPS,
        ("explicit", "explicit"),
        ("TCP, together", "tcp"),
    )


@rel.PAPER.experiment(
    "acks",
    "thesis, 7.4; chapter 5",
    "RCP with losses of ACKs",
    grid={"ack_loss": (0.0, rel.ACKS_LOSS), "repeat": rel.REPEATS},
)
def acks(ack_loss: float, repeat: int) -> dict[str, Any]:
    """Three flows of RCP, while datagrams come and go."""
    others = [
        {
            "name": f"{OTHER}-{begin}",
            "algorithm": {"name": "cbr", "rate": f"{ACKS_OTHERS_MBPS} Mbit/s"},
            "start": f"{begin} s",
            "stop": f"{begin + ACKS_EVERY_S} s",
        }
        for begin in range(ACKS_EVERY_S, ACKS_S, 2 * ACKS_EVERY_S)
    ]
    title = f"three flows of RCP, {ack_loss:.0%} of the ACKs lost"
    flows = [*(rel.flow("rcp", f"rcp-{i + 1}") for i in range(ACKS_FLOWS)), *others]
    more = {"router": rel.ROUTERS["rcp"], "ack_loss": ack_loss}
    return rel.dumbbell(title, ACKS_MBPS, ACKS_RTT_MS, ACKS_S, flows, **more)


@acks.drawing
def draw_acks(runs: Runs, mode: Mode) -> Drawing:
    return rel.drawn(
        "Three flows of RCP on 200 Mbit/s; datagrams take half of it in every second 10 s.",
        (
            rel.histories(f"{row['ack_loss']:.0%} of the ACKs lost: {row.loss_ratio():.2%} lost", row, 100.0)
            for row in rel.first_repeats(runs)
        ),
    )


def compared(runs: Runs, system: str, *values: Callable[[Row], float]) -> list[list[list[float]]]:
    """Returns values of each repeat, with the mechanism and without."""
    found = (rows(runs, system=system, case=case) for case in (rel.WRAPPING, rel.PLAIN))
    return [[[value(row) for row in at] for value in values] for at in found]


of_clouds = partial(
    clouds.claim,
    paper=rel.THESIS,
    settings=settings(f"""
        path | edges of {networks.EDGE_MBPS} Mbit/s with the system's routers, between them a cloud of \
            {CLOUD_MBPS} without; {CLOUD_RTT_MS} ms | as in lopez2008's run of JetMax
        estimate | oracle | thesis, 4.6.1
    """),
    estimator=f"Means from {CLOUD_FROM_S:g} s to the end, and over repeats.",
    bounds=rel.NUMBERS,
)
for number, system in enumerate(rel.WRAPPED, start=1):

    @of_clouds(
        f"GEN-{number}",
        f"{rel.TITLES[system]} through a cloud without its routers, with XCP-i's virtual router around its "
        "law",
        "detection, estimate and virtual router are independent of the protocol and can be used with any",
    )
    def gets_through_a_cloud(runs: Runs, system: str = system) -> Checks:
        found = compared(runs, system, lambda row: row.rate("", CLOUD_FROM_S) / CLOUD_MBPS, Row.loss_ratio)
        (rate, lost), (plain, plain_lost) = ([mean(values) for values in pair] for pair in found)
        yield at_least("rate over the cloud's", rate, CLOUD_SHARE)
        yield at_most("packets lost, as a share,", lost, CLOUD_LOSS)
        return Evidence(
            f"{rate:.3f} of the cloud's rate, {lost:.3%} lost; without the virtual router {plain:.3f} and "
            f"{plain_lost:.3%}",
            {"wrapped": [rate, lost], "plain": [plain, plain_lost]},
            figure=Measured.mean("rate over the cloud's", found[0][0]),
        )


of_mixes = partial(
    mixes.claim,
    paper=rel.THESIS,
    settings=settings(f"""
        bottleneck | {MIX_MBPS} Mbit/s, {MIX_RTT_MS} ms, {MIX_BUFFER_MS} ms of buffer \
            | chosen here: the thesis's chapter 6 has 1 Gbit/s
        flows | one explicit flow from 0 s, {MIX_TCP} of TCP NewReno from {MIX_JOIN_S:g} s | thesis, Fig. 6.3
        update | with each packet of other traffic | as in lopez2008's experiments of chapter 6
    """),
    estimator=f"Mean rates from {MIX_FROM_S:g} s to the end of the run; mean over repeats.",
    bounds=rel.NUMBERS,
)
for number, system in enumerate(rel.WRAPPED, start=1 + len(rel.WRAPPED)):

    @of_mixes(
        f"GEN-{number}",
        f"{rel.TITLES[system]} beside TCP, with the friendliness mechanism around its law",
        "the friendliness mechanisms are independent of the protocol and can be implemented in any ERN "
        "router",
    )
    def keeps_its_share_beside_tcp(runs: Runs, system: str = system) -> Checks:
        title, own = rel.TITLES[system], MIX_MBPS / (1.0 + MIX_TCP)
        others = MIX_MBPS * MIX_TCP / (1.0 + MIX_TCP)
        shares = (
            lambda row: row.rate("explicit", MIX_FROM_S) / own,
            lambda row: row.rate("tcp", MIX_FROM_S) / others,
        )
        found = compared(runs, system, *shares)
        (mine, theirs), (plain, plain_tcp) = ([mean(values) for values in pair] for pair in found)
        yield at_least(f"{title} over its fair share", mine, MIX_SHARE)
        yield at_least("TCP over its fair share", theirs, MIX_SHARE)
        yield above(f"{title} over its fair share, more than without", mine - plain, 0.0)
        return Evidence(
            f"{title} gets {mine:.2f} of its fair share, TCP {theirs:.2f}; without the mechanism {plain:.2f} "
            f"and {plain_tcp:.2f}",
            {"wrapped": [mine, theirs], "plain": [plain, plain_tcp]},
            figure=Measured.mean(f"{title} over its fair share", found[0][0]),
        )


@acks.claim(
    "GEN-7",
    f"{ACKS_FLOWS} flows of RCP on a capacity that others take and leave, with losses of ACKs",
    "the r architecture must be implemented in every ERN protocol, because ACKs carry its feedback and get "
    "lost",
    paper=rel.THESIS,
    settings=settings(f"""
        path | {ACKS_MBPS} Mbit/s, {ACKS_RTT_MS} ms, {ACKS_FLOWS} flows | thesis, Figs. 5.8 to 5.10
        datagrams | {ACKS_OTHERS_MBPS} Mbit/s in every second {ACKS_EVERY_S} s \
            | chosen here; the thesis has a finer staircase
        losses of ACKs | none and {100 * rel.ACKS_LOSS:g} %, independent | thesis, Figs. 5.8 to 5.10
    """),
    estimator="Means over the whole run, and over repeats.",
    bounds=f"The losses are {percent(rel.ACKS_LOSS)} % of the ACKs. {rel.NUMBERS}",
    note="An RCP-r would send the same: each of RCP's ACKs carries the whole state. The claim asks whether "
    "there is anything to gain.",
)
def losses_of_acks_hurt_rcp(runs: Runs) -> Checks:
    found = []
    for loss in (0.0, rel.ACKS_LOSS):
        at = rows(runs, ack_loss=loss)
        found.append([mean(float(sum(row["lost"])) for row in at), mean(row.rate("", 0.0) for row in at)])
    (lost, rate), (lost_then, rate_then) = found
    yield above(
        "packets lost with losses of ACKs",
        lost_then,
        ACKS_LOST_FACTOR * lost,
        than=f"{multiple(ACKS_LOST_FACTOR)} those without",
    )
    yield below("rate with losses of ACKs over that without", rate_then / rate, ACKS_KEPT_SHARE)
    return Evidence(
        f"{lost:.0f} packets lost and {rate:.1f} Mbit/s without, {lost_then:.0f} and {rate_then:.1f} with "
        "losses of ACKs",
        {"without": found[0], "with": found[1]},
        figure=Measured("rate with losses of ACKs over that without", rate_then / rate),
    )
