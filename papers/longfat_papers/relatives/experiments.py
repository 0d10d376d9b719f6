"""The runs of each system's own statements, and of the thesis's mechanisms around them."""

from __future__ import annotations

from typing import Any

from longfat.words import Mode
from longfat_papers.kit.suite import Experiment, Run
from longfat_papers.relatives import figures, networks
from longfat_papers.relatives.settings import (
    ACKS_EVERY_S,
    ACKS_FLOWS,
    ACKS_LOSS,
    ACKS_MBPS,
    ACKS_OTHERS_MBPS,
    ACKS_RTT_MS,
    ACKS_S,
    BESIDE_JOIN_S,
    BESIDE_S,
    BESIDES,
    CLOUD_MBPS,
    CLOUD_S,
    DELAYS_MBPS,
    DELAYS_MS,
    DELAYS_S,
    FAST_BYTES,
    FAST_LOSS,
    FAST_MBPS,
    FAST_RTT_MS,
    FAST_S,
    FASTS,
    FLOWS,
    HARMED_JOIN_S,
    HARMED_MBPS,
    HARMED_S,
    JOIN_S,
    JOINING,
    LOSSY,
    LOSSY_RTT_MS,
    LOSSY_S,
    LOT_CROSS,
    LOT_MBPS,
    LOT_S,
    LOTS,
    MIX_BUFFER_MS,
    MIX_JOIN_S,
    MIX_MBPS,
    MIX_RTT_MS,
    MIX_S,
    MIX_TCP,
    MIXED,
    OTHER,
    PAIR,
    PLAIN,
    POINT_FLOWS,
    POINT_MBPS,
    POINT_RTT_MS,
    POINT_S,
    SHARE_FLOWS,
    SHARE_MBPS,
    SHARE_RTT_MS,
    SHARE_S,
    SHORT_GAINS,
    SHORT_LOAD,
    SHORT_MBPS,
    SHORT_MEAN,
    SHORT_RTT_MS,
    SHORT_S,
    SHORT_SHAPE,
    SHORTS,
    SLOW_FLOWS,
    SLOW_MBPS,
    SLOW_RTT_MS,
    SLOW_S,
    SLOWS,
    SMALL_GB,
    STAGGER_S,
    TOGETHER,
    WRAPPED,
    WRAPPING,
    dumbbell,
    flow,
    name_of,
    repeats,
    router_of,
    run,
)


def shares(mode: Mode) -> list[Run]:
    """Flows that begin together, and a last one that joins the others: RCP, MaxNet and ERICA."""
    runs = []
    for system in WRAPPED:
        for number in SHARE_FLOWS[mode]:
            for case in (TOGETHER, JOINING) if system == "rcp" else (JOINING,):
                starts = [0.0] * (number - 1) + [JOIN_S if case == JOINING else 0.0]
                flows = [flow(system, f"{i + 1}", start) for i, start in enumerate(starts)]
                bottleneck = {"rate": f"{SHARE_MBPS} Mbit/s", **router_of(system)}
                runs += [
                    run(
                        {"system": system, "flows": number, "case": case},
                        dumbbell(
                            f"{number} flows of {system}, {case}",
                            bottleneck,
                            flows,
                            duration_s=SHARE_S,
                            repeat=repeat,
                            rtt_ms=SHARE_RTT_MS,
                        ),
                        SHARE_MBPS,
                    )
                    for repeat in repeats(mode)
                ]
    return runs


def short(mode: Mode) -> list[Run]:
    """Flows of Pareto sizes that arrive at random: their completion times with RCP, XCP and TCP."""
    mbps = SHORT_MBPS[mode]
    runs = []
    for system in SHORTS:
        payload = int(FLOWS[system].get("mss", "1448 B").split()[0])
        background = {
            "kind": "short",
            "name": name_of(system),
            **FLOWS[system],
            "rtt": f"{SHORT_RTT_MS} ms",
            "load": f"{100 * SHORT_LOAD:g} %",
            "body_mu": 8.0,
            "tail_share": 1.0,
            "tail_least": f"{round(SHORT_MEAN * (SHORT_SHAPE - 1.0) / SHORT_SHAPE * payload)} B",
            "tail_shape": SHORT_SHAPE,
            "largest": "10 MB",
        }
        router: Any = {"kind": "rcp", **SHORT_GAINS} if system == "rcp" else router_of(system).get("router")
        for repeat in repeats(mode):
            document = dumbbell(
                f"short flows of {system}",
                {"rate": f"{mbps} Mbit/s", **({} if router is None else {"router": router})},
                [],
                duration_s=SHORT_S[mode],
                repeat=repeat,
                rtt_ms=SHORT_RTT_MS,
                background=[background],
            )
            del document["flow"]
            runs.append(run({"system": system, "mbps": mbps}, document, SHORT_LOAD * mbps))
    return runs


def lot(mode: Mode) -> list[Run]:
    """A flow over three links, each shared with other flows."""
    return [
        run(
            {"system": system},
            networks.parking_lot(system, duration_s=LOT_S[mode], repeat=repeat),
            LOT_MBPS * len(LOT_CROSS),
        )
        for system in LOTS
        for repeat in repeats(mode)
    ]


def point(mode: Mode) -> list[Run]:
    """CADPC at its fixed point, for several numbers of flows."""
    return [
        run(
            {"flows": number},
            dumbbell(
                f"{number} flows of CADPC",
                {"rate": f"{POINT_MBPS} Mbit/s", **router_of("cadpc")},
                [flow("cadpc", f"{i + 1}") for i in range(number)],
                duration_s=POINT_S,
                repeat=repeat,
                rtt_ms=POINT_RTT_MS,
            ),
            POINT_MBPS,
        )
        for number in POINT_FLOWS[mode]
        for repeat in repeats(mode)
    ]


def harmed(mode: Mode) -> list[Run]:
    """CADPC beside TCP, with and without the thesis's friendliness mechanism."""
    flows = [flow("reno", f"tcp-{i + 1}") for i in range(PAIR)]
    flows += [flow("cadpc", f"cadpc-{i + 1}", HARMED_JOIN_S) for i in range(PAIR)]
    return [
        run(
            {"case": case},
            networks.behind_ptp(router, flows, duration_s=HARMED_S, repeat=repeat),
            HARMED_MBPS,
        )
        for case, router in ((PLAIN, None), (WRAPPING, networks.FRIENDLY))
        for repeat in repeats(mode)
    ]


def slow(mode: Mode) -> list[Run]:
    """Tri-S, Vegas and NewReno on a slow link, alone and Tri-S beside Vegas."""
    groups: list[tuple[str, int, list[str]]] = [
        (system, number, [system] * number) for system in SLOWS for number in SLOW_FLOWS[mode]
    ]
    groups.append(("mixed", 2 * MIXED, ["tri_s", "vegas"] * MIXED))
    return [
        run(
            {"system": name, "flows": number},
            dumbbell(
                f"{number} flows, {name}",
                {"rate": f"{SLOW_MBPS} Mbit/s"},
                [flow(system, f"{system}-{i + 1}", STAGGER_S * i) for i, system in enumerate(systems)],
                duration_s=SLOW_S,
                repeat=repeat,
                rtt_ms=SLOW_RTT_MS,
            ),
            SLOW_MBPS,
        )
        for name, number, systems in groups
        for repeat in repeats(mode)
    ]


def fast(mode: Mode) -> list[Run]:
    """A large file over 1 Gbit/s and 100 ms with random losses; for RBUDP also a smaller one."""
    sizes = [(system, float(FAST_BYTES[mode])) for system in FASTS]
    return [
        run(
            {"system": system, "gigabytes": size},
            dumbbell(
                f"{size:g} GB over {system}",
                {"rate": f"{FAST_MBPS} Mbit/s", "loss": FAST_LOSS},
                [flow(system, name_of(system), bytes=f"{size:g} GB")],
                duration_s=FAST_S[mode],
                repeat=repeat,
                rtt_ms=FAST_RTT_MS,
            ),
            min(FAST_MBPS, 8000.0 * size / FAST_S[mode]),
        )
        for system, size in [*sizes, ("rbudp", SMALL_GB)]
        for repeat in repeats(mode)
    ]


def lossy(mode: Mode) -> list[Run]:
    """Tsunami and TCP on a path that loses 3 % of the packets."""
    return [
        run(
            {"system": system},
            dumbbell(
                f"{system} with 3 % of the packets lost",
                {"rate": f"{FAST_MBPS} Mbit/s", "loss": LOSSY},
                [flow(system, name_of(system))],
                duration_s=LOSSY_S,
                repeat=repeat,
                rtt_ms=LOSSY_RTT_MS,
            ),
            FAST_MBPS,
        )
        for system in ("tsunami", "reno")
        for repeat in repeats(mode)
    ]


def delays(mode: Mode) -> list[Run]:
    """Two flows with unlike round-trip times, of SABUL and of TCP."""
    return [
        run(
            {"system": system},
            dumbbell(
                f"two flows of {system}, {DELAYS_MS[0]} and {DELAYS_MS[1]} ms",
                {"rate": f"{DELAYS_MBPS} Mbit/s"},
                [flow(system, f"{rtt} ms", rtt=f"{rtt} ms") for rtt in DELAYS_MS],
                duration_s=DELAYS_S,
                repeat=repeat,
                rtt_ms=max(DELAYS_MS),
            ),
            DELAYS_MBPS,
        )
        for system in ("sabul", "reno")
        for repeat in repeats(mode)
    ]


def beside(mode: Mode) -> list[Run]:
    """A TCP flow that another transport joins, and for comparison another TCP flow."""
    return [
        run(
            {"system": system},
            dumbbell(
                f"{system} joins TCP",
                {"rate": f"{FAST_MBPS} Mbit/s"},
                [flow("reno", "tcp"), flow(system, "joining", BESIDE_JOIN_S)],
                duration_s=BESIDE_S,
                repeat=repeat,
                rtt_ms=FAST_RTT_MS,
            ),
            FAST_MBPS,
        )
        for system in BESIDES
        for repeat in repeats(mode)
    ]


def clouds(mode: Mode) -> list[Run]:
    """RCP, MaxNet and ERICA through a cloud, with their own routers and with XCP-i's virtual ones."""
    return [
        run(
            {"system": system, "case": case},
            networks.cloud(system, router, duration_s=CLOUD_S, repeat=repeat),
            CLOUD_MBPS,
        )
        for system in WRAPPED
        for case, router in ((PLAIN, system), (WRAPPING, networks.ORACLE | {"protocol": system}))
        for repeat in repeats(mode)
    ]


def mixes(mode: Mode) -> list[Run]:
    """RCP, MaxNet and ERICA beside TCP, with their own routers and with the friendliness mechanism."""
    runs = []
    for system in WRAPPED:
        cases: tuple[tuple[str, Any], ...] = (
            (PLAIN, system),
            (WRAPPING, networks.FRIENDLY | {"protocol": system}),
        )
        flows = [flow(system, "explicit")]
        flows += [flow("newreno", f"tcp-{i + 1}", MIX_JOIN_S) for i in range(MIX_TCP)]
        for case, router in cases:
            runs += [
                run(
                    {"system": system, "case": case},
                    dumbbell(
                        f"{system} beside TCP, {case}",
                        {"rate": f"{MIX_MBPS} Mbit/s", "buffer": f"{MIX_BUFFER_MS} ms", "router": router},
                        flows,
                        duration_s=MIX_S,
                        repeat=repeat,
                        rtt_ms=MIX_RTT_MS,
                    ),
                    MIX_MBPS,
                )
                for repeat in repeats(mode)
            ]
    return runs


def acks(mode: Mode) -> list[Run]:
    """RCP with and without losses of ACKs, while datagrams come and go."""
    others = [
        {
            "name": f"{OTHER}-{begin}",
            "algorithm": {"name": "cbr", "rate": f"{ACKS_OTHERS_MBPS} Mbit/s"},
            "start": f"{begin} s",
            "stop": f"{begin + ACKS_EVERY_S} s",
        }
        for begin in range(ACKS_EVERY_S, ACKS_S, 2 * ACKS_EVERY_S)
    ]
    return [
        run(
            {"ack_loss": loss},
            dumbbell(
                f"three flows of RCP, {loss:.0%} of the ACKs lost",
                {"rate": f"{ACKS_MBPS} Mbit/s", "ack_loss": loss, **router_of("rcp")},
                [*(flow("rcp", f"rcp-{i + 1}") for i in range(ACKS_FLOWS)), *others],
                duration_s=ACKS_S,
                repeat=repeat,
                rtt_ms=ACKS_RTT_MS,
            ),
            ACKS_MBPS,
        )
        for loss in (0.0, ACKS_LOSS)
        for repeat in repeats(mode)
    ]


EXPERIMENTS = (
    Experiment("shares", "RCP; ERICA", "Flows that join others", shares, figures.shares),
    Experiment("short", "RCP, figure 1", "Completion times of short flows", short, figures.short),
    Experiment("lot", "MaxNet", "A parking lot", lot, figures.lot),
    Experiment("point", "CADPC", "CADPC's fixed point", point, figures.point),
    Experiment("harmed", "thesis, 7.4", "CADPC beside TCP", harmed, figures.harmed),
    Experiment("slow", "Tri-S", "Tri-S, Vegas and NewReno", slow, figures.slow),
    Experiment("fast", "SABUL; RBUDP; Tsunami", "A large file with random losses", fast, figures.fast),
    Experiment("lossy", "Tsunami's demonstration", "3 % of the packets lost", lossy, figures.lossy),
    Experiment("delays", "SABUL", "Unlike round-trip times", delays, figures.delays),
    Experiment("beside", "beside", "A TCP flow that a blast joins", beside, figures.beside),
    Experiment("clouds", "thesis, 7.4; chapter 4", "XCP-i's virtual router", clouds, figures.clouds),
    Experiment("mixes", "thesis, 7.4; chapter 6", "The friendliness mechanism", mixes, figures.mixes),
    Experiment("acks", "thesis, 7.4; chapter 5", "RCP with losses of ACKs", acks, figures.acks),
)
