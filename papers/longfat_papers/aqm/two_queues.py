"""Two queues in a row (AQM-15): RFC 7928, section 10.2, Figure 3."""

from __future__ import annotations

from longfat import units
from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING, over_queues
from longfat_papers.aqm.reduction import UPSTREAM
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Run, Runs, Setting
from longfat_papers.kit.checks import below
from longfat_papers.kit.curves import repeats

SHARED = "shared"
"""Router M's queue, which all flows share; `UPSTREAM` is Router L's."""
UPSTREAM_MBPS = 20
UPSTREAM_BUFFER_PACKETS = aq.BUFFER_PACKETS * UPSTREAM_MBPS // aq.RATE_MBPS
UPSTREAM_MS = 0.1 * aq.RTT_MS
"""One-way delay between Router L and Router M."""
POSITIONS = {"both": (UPSTREAM, SHARED), "upstream only": (UPSTREAM,), "shared only": (SHARED,)}
"""Where the queue under test is, by the coordinate `position`; the other queue is drop-tail."""
GROUPS = ("A", "B")
"""Senders before Router L, and before Router M."""


@aq.PAPER.experiment("two-queues", "RFC 7928, 10.2", "Two queues in a row")
def in_a_row(mode: Mode) -> list[Run]:
    packets = aq.RATE_MBPS * 1e6 * aq.DURATION_S[mode] / units.PACKET_BITS
    return [
        Run(
            {"queue": queue, "position": position, "repeat": repeat},
            {"seed": repeat + 1, **network(mode, queue, routers)},
            packets,
        )
        for position, routers in POSITIONS.items()
        for queue in aq.QUEUES
        for repeat in range(aq.REPEATS[mode])
    ]


def network(mode: Mode, queue: str, routers: tuple[str, ...]) -> aq.Table:
    """Returns the network with a queue at these routers; senders A cross both, senders B only the second."""
    upstream, shared = (queue if name in routers else aq.DROP_TAIL for name in (UPSTREAM, SHARED))
    flows = [
        {**aq.SACK, "name": name, "count": aq.flows_of("mild") // len(GROUPS), "from": name, "to": "R"}
        for name in GROUPS
    ]
    at = {"queue": shared, "signal": aq.DROPS}
    document = aq.scenario(mode, at, flows, title=f"{upstream} before {shared}") or {}
    second = document.pop("bottleneck")
    first = second | {"rate": f"{UPSTREAM_MBPS} Mbit/s", "queue": aq.QUEUES[upstream]}
    first |= {"buffer": f"{UPSTREAM_BUFFER_PACKETS} packets"}
    for flow in document["flow"]:
        del flow["rtt"]
    edge = {"rate": "1 Gbit/s", "buffer": "1000 packets"}
    return document | {
        "link": [
            {"name": SHARED, "from": "M", "to": "R", "delay": f"{0.5 * aq.RTT_MS - UPSTREAM_MS:g} ms"}
            | second,
            {"name": UPSTREAM, "from": "L", "to": "M", "delay": f"{UPSTREAM_MS:g} ms"} | first,
            {"from": "A", "to": "L", "delay": "0 ms", **edge},
            # senders B have no Router L in front of them, and the same round-trip time
            {"from": "B", "to": "M", "delay": f"{UPSTREAM_MS:g} ms", **edge},
        ]
    }


@in_a_row.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = (
        ("delay at the first router, ms", "second_wait_ms"),
        ("delay at the shared router, ms", "wait_ms"),
        *((f"goodput of {group} / capacity", f"share_{group}") for group in GROUPS),
    )
    return Drawing(
        f"Flows A cross a link of {UPSTREAM_MBPS} Mbit/s and then the shared one, flows B only that. "
        f"{SETTING} Where the queue under test is not, there is drop-tail." + repeats(runs),
        tuple(
            over_queues(label, [(position, runs.where(position=position), key) for position in POSITIONS])
            for label, key in panels
        ),
    )


@in_a_row.claim(
    "15",
    "flows A behind two routers, flows B behind the second",
    "prints no value; goodput and delay are asked for (10.2)",
    settings=(
        Setting(
            "flows",
            f"{aq.flows_of('mild') // 2} of A and as many of B, all with the same RTT",
            f"10.2 ({aq.DRAFT_13}): mild congestion, shared equally",
        ),
        Setting(
            "links",
            f"{UPSTREAM_MBPS} Mbit/s from the first router, {aq.RATE_MBPS} Mbit/s from the second; buffers "
            f"of {UPSTREAM_BUFFER_PACKETS} and {aq.BUFFER_PACKETS} packets, two BDPs",
            CHOSEN_HERE + ": A's fair share of the second is more than the first has, so both are full",
        ),
        Setting("parameters", "the same at both routers", "10.2 (I)"),
    ),
    **aq.REPORT,
)
def delays_and_goodput(runs: Runs) -> Checks:
    keys = ("second_wait_ms", "wait_ms", *(f"share_{group}" for group in GROUPS))
    at = {position: aq.means(runs, keys, position=position) for position in POSITIONS}
    sums = {name: {position: sum(rows[name][:2]) for position, rows in at.items()} for name in aq.TITLES}
    for name, of_queue in sums.items():
        if name != aq.DROP_TAIL:
            text = f"{aq.TITLES[name]} at both: sum of the delays"
            alone = min(of_queue["upstream only"], of_queue["shared only"])
            than = "the lesser with it at one and drop-tail at the other"
            yield below(text, of_queue["both"], alone, than=than)
    return Evidence(
        "at both routers, delays at the first and at the shared one, goodput / capacity of A and of B: "
        + aq.told(at["both"], "{:.1f} and {:.1f} ms, {:.3f} {:.3f}", "; "),
        {name: {position: rows[name] for position, rows in at.items()} for name in aq.TITLES},
        figure=Measured("sum of the delays with drop-tail, ms", sums[aq.DROP_TAIL]["both"], log=True),
    )
