"""What the thesis did not try: real probing, other TCPs, more losses, more flows, other counters, JetMax."""

from __future__ import annotations

from typing import Any

from longfat.words import Mode
from longfat_papers.kit.suite import Experiment, Run
from longfat_papers.lopez2008 import beyond_figures as figures
from longfat_papers.lopez2008 import networks
from longfat_papers.lopez2008.settings import (
    BEYOND_REPEATS,
    CROSS,
    FRIENDLY_BUFFER,
    FRIENDLY_MBPS,
    FRIENDLY_RTTS_MS,
    JOIN_S,
    THREE_LEFT_MBPS,
    THREE_MBPS,
    THREE_RTT_MS,
    THREE_S,
    VBE_BUFFER,
    XCP_ROUTER,
    datagrams,
    dumbbell,
    flow,
    router_of,
    run,
)

CLOUD_MBPS = 100
CROSS_MBPS: dict[Mode, tuple[int, ...]] = {"quick": (0, 40), "full": (0, 20, 40, 60)}
ESTIMATORS = ("oracle", "oracle-error", "igi", "ptr")
PROBED_S = networks.BEGIN_S + 30.0
OTHERS = ("newreno", "hstcp", "cubic")
OTHERS_S = 60
ACK_LOSSES: dict[Mode, tuple[float, ...]] = {"quick": (0.0, 0.2, 0.5), "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)}
MANY, MANY_RTT_MS, MANY_S = 100, 100, 30
RIVALS: dict[str, dict[str, Any]] = {
    "zombie tables": {"kind": "friendly", "update": "packet"},
    "zombie tables, half inspected": {"kind": "friendly", "update": "packet", "inspect": 0.5},
    "exact table": {"kind": "friendly", "update": "packet", "counter": "exact"},
    "Bloom filter": {"kind": "friendly", "update": "packet", "counter": "bloom"},
    "half and half": {"kind": "dqw"},
}
RIVALS_RTT_MS = 20
RIVAL_TCP = 6
RIVAL_XCP = 2


def prober(mode: Mode) -> list[Run]:
    """XCP-i with each estimator through a cloud of 100 Mbit/s that also carries datagrams."""
    runs = []
    for estimator in ESTIMATORS:
        more = networks.OFF if estimator == "oracle-error" else {}
        links = networks.single({"kind": "xcp-i", "estimator": estimator, **more}, CLOUD_MBPS)
        for cross in CROSS_MBPS[mode]:
            flows = [
                networks.scout("S", "S", "R"),
                networks.between("xcp", "xcp", "S", "R", networks.BEGIN_S),
            ]
            if cross:
                flows.append(networks.datagrams_through(CROSS, "A", "R1", cross))
            runs += [
                run(
                    {"estimator": estimator, "cross_mbps": cross},
                    networks.network(
                        f"{estimator}, {cross} Mbit/s of datagrams",
                        links,
                        4,
                        flows,
                        duration_s=PROBED_S,
                        repeat=repeat,
                    ),
                    CLOUD_MBPS,
                )
                for repeat in range(BEYOND_REPEATS[mode])
            ]
    return runs


def other_tcps(mode: Mode) -> list[Run]:
    """Fig. 6.3 with HighSpeed TCP and CUBIC in place of NewReno."""
    return [
        run(
            {"protocol": name, "rtt_ms": rtt_ms},
            dumbbell(
                f"one XCP, two {name}, {rtt_ms} ms",
                _shared({"kind": "friendly", "update": "packet"}),
                [
                    flow("xcp", "xcp-1", rtt_ms),
                    *(flow(name, f"{name}-{number}", rtt_ms, JOIN_S) for number in (1, 2)),
                ],
                duration_s=OTHERS_S,
                repeat=repeat,
            ),
            FRIENDLY_MBPS,
        )
        for name in OTHERS
        for rtt_ms in FRIENDLY_RTTS_MS
        for repeat in range(BEYOND_REPEATS[mode])
    ]


def ack_losses(mode: Mode) -> list[Run]:
    """Figs. 5.8 to 5.10 with up to half of the ACKs lost, and a queue of one BDP so that losses show."""
    return [
        run(
            {"protocol": name, "ack_loss": loss},
            dumbbell(
                f"three flows of {name}, {loss:.0%} of the ACKs lost",
                {
                    "rate": f"{THREE_MBPS} Mbit/s",
                    "buffer": "100 % BDP",
                    "router": dict(XCP_ROUTER),
                    **({"ack_loss": loss} if loss else {}),
                },
                [flow(name, f"{name}-{number}", THREE_RTT_MS) for number in (1, 2, 3)]
                + datagrams(THREE_LEFT_MBPS, THREE_MBPS, THREE_S, THREE_RTT_MS),
                duration_s=THREE_S,
                repeat=repeat,
            ),
            THREE_MBPS,
        )
        for name in ("xcp", "xcp-r")
        for loss in ACK_LOSSES[mode]
        for repeat in range(BEYOND_REPEATS[mode])
    ]


def hundred(mode: Mode) -> list[Run]:
    """A hundred XCP flows with one RTT, and with RTTs from 20 to 200 ms."""
    spread = [20 + 180 * number // (MANY - 1) for number in range(MANY)]
    return [
        run(
            {"rtts": name},
            dumbbell(
                f"{MANY} XCP flows, {name}",
                {"rate": "1000 Mbit/s", "buffer": f"{VBE_BUFFER} packets", "router": dict(XCP_ROUTER)},
                [flow("xcp", f"xcp-{number + 1}", rtt_ms) for number, rtt_ms in enumerate(rtts)],
                duration_s=MANY_S,
                repeat=repeat,
                sample_s=0.5,
            ),
            1000,
        )
        for name, rtts in (("100 ms", [MANY_RTT_MS] * MANY), ("20 to 200 ms", spread))
        for repeat in range(BEYOND_REPEATS[mode])
    ]


def rivals(mode: Mode) -> list[Run]:
    """Two XCP flows beside six TCP flows: ways to count flows, and ns-2's half and half."""
    return [
        run(
            {"mechanism": name},
            dumbbell(
                name,
                _shared(router),
                [flow("xcp", f"xcp-{number + 1}", RIVALS_RTT_MS) for number in range(RIVAL_XCP)]
                + [
                    flow("newreno", f"newreno-{number + 1}", RIVALS_RTT_MS, JOIN_S)
                    for number in range(RIVAL_TCP)
                ],
                duration_s=OTHERS_S,
                repeat=repeat,
            ),
            FRIENDLY_MBPS,
        )
        for name, router in RIVALS.items()
        for repeat in range(BEYOND_REPEATS[mode])
    ]


def generality(mode: Mode) -> list[Run]:
    """7.4: the three mechanisms around JetMax."""
    runs = []
    for repeat in range(BEYOND_REPEATS[mode]):
        inner = {"protocol": "jetmax"}
        flows = [
            networks.scout("S", "S", "R", "jetmax"),
            networks.between("jetmax", "jetmax", "S", "R", networks.BEGIN_S),
        ]
        for case, router in (("plain", "jetmax"), ("-i", networks.ORACLE | inner)):
            links = networks.single(router, CLOUD_MBPS)
            document = networks.network(f"cloud, {case}", links, 4, flows, duration_s=PROBED_S, repeat=repeat)
            runs.append(run({"mechanism": "-i", "case": case}, document, CLOUD_MBPS))
        for name in ("jetmax", "jetmax-r"):
            document = dumbbell(
                f"three flows of {name}, 30 % of the ACKs lost",
                {
                    "rate": f"{THREE_MBPS} Mbit/s",
                    "buffer": f"{VBE_BUFFER} packets",
                    "ack_loss": 0.3,
                    **router_of("jetmax"),
                },
                [flow(name, f"{name}-{number}", THREE_RTT_MS) for number in (1, 2, 3)]
                + datagrams(THREE_LEFT_MBPS, THREE_MBPS, THREE_S, THREE_RTT_MS),
                duration_s=THREE_S,
                repeat=repeat,
            )
            runs.append(run({"mechanism": "-r", "case": name}, document, THREE_MBPS))
        for case, router in (
            ("plain", "jetmax"),
            ("friendly", {"kind": "friendly", "update": "packet"} | inner),
        ):
            document = dumbbell(
                f"JetMax beside TCP, {case}",
                _shared(router),
                [flow("jetmax", "jetmax-1", RIVALS_RTT_MS)]
                + [flow("newreno", f"newreno-{number}", RIVALS_RTT_MS, JOIN_S) for number in (1, 2)],
                duration_s=OTHERS_S,
                repeat=repeat,
            )
            runs.append(run({"mechanism": "friendliness", "case": case}, document, FRIENDLY_MBPS))
    return runs


def _shared(router: Any) -> dict[str, Any]:
    return {"rate": f"{FRIENDLY_MBPS} Mbit/s", "buffer": f"{FRIENDLY_BUFFER} packets", "router": router}


BEYOND = (
    Experiment(
        "prober", "not in the thesis", "XCP-i with real probing and cross traffic", prober, figures.prober
    ),
    Experiment(
        "others", "not in the thesis", "HSTCP and CUBIC in place of Reno", other_tcps, figures.other_tcps
    ),
    Experiment(
        "ack-losses", "not in the thesis", "Up to half of the ACKs lost", ack_losses, figures.ack_losses
    ),
    Experiment("hundred", "not in the thesis", "A hundred XCP flows", hundred, figures.hundred),
    Experiment("rivals", "6.3", "Counters of flows, and half and half", rivals, figures.rivals),
    Experiment("generality", "7.4", "The mechanisms with JetMax", generality, figures.generality),
)
