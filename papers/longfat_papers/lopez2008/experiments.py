"""The runs of the thesis's figures: which flows, where, how long. `figures` draws what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from longfat.words import Mode
from longfat_papers.kit.suite import Coordinate, Experiment, Run
from longfat_papers.lopez2008 import figures, networks
from longfat_papers.lopez2008 import friendly_figures as beside
from longfat_papers.lopez2008.beyond_experiments import BEYOND
from longfat_papers.lopez2008.settings import (
    ACK_CASES,
    ACKS_FLOWS,
    ACKS_LEFT_MBPS,
    ACKS_MBPS,
    ACKS_RTT_MS,
    ACKS_S,
    BOTTLENECK_S,
    FORMULA_MBPS,
    FORMULA_RTTS_MS,
    FORMULA_S,
    FRIENDLY_BUFFER,
    FRIENDLY_MBPS,
    FRIENDLY_RTTS_MS,
    FRIENDLY_S,
    FRIENDLY_UPDATES,
    JOIN_EVERY_S,
    JOIN_S,
    LEAVE_S,
    ONE_MBPS,
    ONE_RTT_MS,
    ONE_S,
    REPEATS,
    SINE_MBPS,
    SINE_PERIOD_S,
    SINE_S,
    STAGED_EVERY_S,
    STAGED_FOR_S,
    STAGED_MBPS,
    STAGED_RTT_MS,
    STAIRS_MBPS,
    STAIRS_S,
    STARVED_S,
    THREE_CASES,
    THREE_LEFT_MBPS,
    THREE_MBPS,
    THREE_RTT_MS,
    THREE_S,
    TUNED,
    VBE_BUFFER,
    VCP_JOIN_S,
    VCP_MBPS,
    VCP_RTTS_MS,
    VCP_S,
    XCP_ROUTER,
    ZOOM_S,
    ZOOM_SAMPLE_S,
    Steps,
    datagrams,
    dumbbell,
    flow,
    router_of,
    run,
    stairs,
)


def repeats(mode: Mode) -> range:
    """Returns the numbers of the repeats."""
    return range(REPEATS[mode])


def staged(protocol: str, mode: Mode) -> list[Run]:
    """Figs. 2.11 and 2.12: four flows, 15 s apart, each 75 s long."""
    flows = [
        flow(
            protocol,
            f"{protocol}-{number + 1}",
            STAGED_RTT_MS,
            STAGED_EVERY_S * number,
            stop=f"{STAGED_EVERY_S * number + STAGED_FOR_S} s",
        )
        for number in range(4)
    ]
    bottleneck = {"rate": f"{STAGED_MBPS} Mbit/s", "buffer": "100 % BDP", **router_of(protocol)}
    duration_s = STAGED_EVERY_S * 3 + STAGED_FOR_S
    return [
        run(
            {"protocol": protocol},
            dumbbell(f"four flows of {protocol}", bottleneck, flows, duration_s=duration_s, repeat=repeat),
            STAGED_MBPS,
        )
        for repeat in repeats(mode)
    ]


def staged_xcp(mode: Mode) -> list[Run]:
    """Fig. 2.11."""
    return staged("xcp", mode)


def staged_jetmax(mode: Mode) -> list[Run]:
    """Fig. 2.12."""
    return staged("jetmax", mode)


def joined_vcp(mode: Mode) -> list[Run]:
    """2.5.2: a VCP flow that fills the link, and a later one with a longer RTT."""
    flows = [
        flow("vcp", "vcp-1", VCP_RTTS_MS[0]),
        flow("vcp", "vcp-2", VCP_RTTS_MS[1], VCP_JOIN_S),
    ]
    bottleneck = {"rate": f"{VCP_MBPS} Mbit/s", "buffer": "100 % BDP", **router_of("vcp")}
    return [
        run({}, dumbbell("VCP joined", bottleneck, flows, duration_s=VCP_S, repeat=repeat), VCP_MBPS)
        for repeat in repeats(mode)
    ]


def sine(mode: Mode, rtt_ms: int, protocols: Iterable[str]) -> list[Run]:
    """3.1: one flow on a capacity that goes up and down."""
    top, bottom = SINE_MBPS
    rate = {"sine": {"max": f"{top:g} Mbit/s", "min": f"{bottom:g} Mbit/s", "period": f"{SINE_PERIOD_S:g} s"}}
    return [
        run(
            {"protocol": name, "rtt_ms": rtt_ms},
            dumbbell(
                f"{name} on a sine, {rtt_ms} ms",
                {"rate": rate, "buffer": f"{VBE_BUFFER} packets", **router_of(name)},
                [flow(name, name, rtt_ms, **_tuned(name))],
                duration_s=SINE_S,
                repeat=repeat,
            ),
            0.5 * (top + bottom),
        )
        for name in protocols
        for repeat in repeats(mode)
    ]


def sine_near(mode: Mode) -> list[Run]:
    """Figs. 3.5, 3.7, 3.9."""
    return sine(mode, 100, ("newreno", "hstcp", "xcp"))


def sine_far(mode: Mode) -> list[Run]:
    """Figs. 3.6, 3.8, 3.10."""
    return sine(mode, 200, ("newreno", "hstcp", "xcp"))


def model(mode: Mode) -> list[Run]:
    """Figs. 3.3 and 3.4: the runs of NewReno, with which the model is compared."""
    return sine(mode, 100, ("newreno",)) + sine(mode, 200, ("newreno",))


def steps(mode: Mode, rtt_ms: int) -> list[Run]:
    """3.2: one flow beside datagrams that come and go."""
    return [_stepped(name, rtt_ms, repeat) for name in ("hstcp", "xcp") for repeat in repeats(mode)]


def steps_near(mode: Mode) -> list[Run]:
    """Figs. 3.13 and 3.16."""
    return steps(mode, 100)


def steps_far(mode: Mode) -> list[Run]:
    """Figs. 3.15 and 3.18."""
    return steps(mode, 200)


def zoom(mode: Mode) -> list[Run]:
    """Figs. 3.14 and 3.17: the fall at 50 s, sampled finely."""
    return [_stepped(name, 100, 0, ZOOM_S, ZOOM_SAMPLE_S) for name in ("hstcp", "xcp")]


def unaware_bottleneck(mode: Mode) -> list[Run]:
    """Fig. 4.2: TCP on drop-tail, XCP on XCP routers, XCP where the bottleneck is no XCP router."""
    cases = {
        "a": ("newreno", None, None),
        "b": ("xcp", XCP_ROUTER, XCP_ROUTER),
        "c": ("xcp", None, XCP_ROUTER),
    }
    return [
        run(
            {"case": case},
            networks.network(
                f"fig. 4.1({case})",
                networks.line(bottleneck, others),
                4,
                [networks.between(protocol, protocol, "S", "R")],
                duration_s=BOTTLENECK_S,
                repeat=repeat,
            ),
            30,
        )
        for case, (protocol, bottleneck, others) in cases.items()
        for repeat in repeats(mode)
    ]


def peering(mode: Mode) -> list[Run]:
    """Fig. 4.8: XCP-i across two clouds, and for comparison a path of XCP routers alone."""
    begin_s = networks.BEGIN_S
    return [
        run(
            {"case": case},
            networks.network(
                f"fig. 4.7, {case}",
                links,
                hops,
                [networks.scout("S", "S", "R"), networks.between("xcp", "xcp", "S", "R", begin_s)],
                duration_s=BOTTLENECK_S + begin_s,
                repeat=repeat,
            ),
            30,
        )
        for case, links, hops in (
            ("clouds", networks.peering(networks.ORACLE), 6),
            ("all XCP", networks.line(XCP_ROUTER, XCP_ROUTER), 4),
        )
        for repeat in repeats(mode)
    ]


def merge(mode: Mode) -> list[Run]:
    """Fig. 4.10."""
    return _clouds(mode, {}, networks.merge(networks.ORACLE), 5, ("i", "j"), 400)


def merge_above(mode: Mode) -> list[Run]:
    """Fig. 4.12."""
    return _clouds(mode, {}, networks.merge_above(networks.ORACLE), 5, ("i", "j0", "j1", "k"), 400)


def fork(mode: Mode) -> list[Run]:
    """Fig. 4.14."""
    return _clouds(mode, {}, networks.fork(networks.ORACLE), 4, ("i", "j"), 500)


def shared(mode: Mode) -> list[Run]:
    """Fig. 4.18, without results in the thesis: both flows at once, and the second 5 s later."""
    runs = []
    for case, late_s in (("together", 0.0), ("5 s apart", 5.0)):
        runs += _clouds(
            mode, {"case": case}, networks.shared(networks.ORACLE), 5, ("i", "j"), 300, later={"j": late_s}
        )
    return runs


def errors(mode: Mode) -> list[Run]:
    """Figs. 4.15 to 4.17: TCP, and XCP-i with estimates that are wrong by 5 to 20 %."""
    rooms = networks.CLOUD_BUFFERS
    return _clouds(
        mode, {"protocol": "newreno"}, networks.merge(None, rooms), 5, ("i", "j"), 400, protocol="newreno"
    ) + _clouds(mode, {"protocol": "xcp"}, networks.merge(networks.WRONG, rooms), 5, ("i", "j"), 400)


def layer_two(mode: Mode) -> list[Run]:
    """7.3.1: the same bottleneck as a router, which the TTL reveals, and as a switch, which it does not."""
    runs = []
    for layer in (3, 2):
        runs += _clouds(mode, {"layer": layer}, networks.single(networks.ORACLE, 30, layer), 4, ("",), 30)
    return runs


def acks(mode: Mode) -> list[Run]:
    """Figs. 5.3, 5.4, 5.6 and 5.7, Table 5.1."""
    return [
        _losing_acks(name, loss, "ten", ACKS_FLOWS, (ACKS_MBPS, ACKS_LEFT_MBPS), ACKS_S, ACKS_RTT_MS, repeat)
        for name, loss in ACK_CASES
        for repeat in repeats(mode)
    ]


def three(mode: Mode) -> list[Run]:
    """Figs. 5.8 to 5.10."""
    return [
        _losing_acks(name, loss, "three", 3, (THREE_MBPS, THREE_LEFT_MBPS), THREE_S, THREE_RTT_MS, repeat)
        for name, loss in THREE_CASES
        for repeat in repeats(mode)
    ]


def one(mode: Mode) -> list[Run]:
    """5.1.1: how fast one flow fills a constant capacity, with and without losses of ACKs."""
    return [
        run(
            {"ack_loss": loss},
            dumbbell(
                f"one flow of XCP, {loss:.0%} of the ACKs lost",
                _acks_bottleneck(ONE_MBPS, loss),
                [flow("xcp", "xcp", ONE_RTT_MS, start="0 s")],
                duration_s=ONE_S,
                repeat=repeat,
                sample_s=0.01,
            ),
            ONE_MBPS,
        )
        for loss in (0.0, 0.3)
        for repeat in (repeats(mode) if loss else range(1))
    ]


def formula(mode: Mode) -> list[Run]:
    """5.3: both forms of XCP-r, and XCP, with RTTs that differ from the router's mean."""
    return [
        run(
            {"protocol": name},
            dumbbell(
                f"two RTTs, {name}",
                {"rate": f"{FORMULA_MBPS} Mbit/s", "buffer": "1000 packets", "router": dict(XCP_ROUTER)},
                [flow(name, f"{name}-{rtt}", rtt) for rtt in FORMULA_RTTS_MS],
                duration_s=FORMULA_S,
                repeat=repeat,
            ),
            FORMULA_MBPS,
        )
        for name in ("xcp", "xcp-r", "xcp-r-first")
        for repeat in repeats(mode)
    ]


def starved(mode: Mode) -> list[Run]:
    """Fig. 6.2: an XCP router without the mechanism, at both RTTs of chapter 6, as the text names none."""
    return [
        friendly(
            {"rtt_ms": rtt_ms},
            "xcp",
            _ranged("xcp", 1, 0) + _ranged("newreno", 2, JOIN_S),
            rtt_ms,
            repeat,
            STARVED_S,
        )
        for rtt_ms in FRIENDLY_RTTS_MS
        for repeat in repeats(mode)
    ]


def one_and_two(mode: Mode) -> list[Run]:
    """Fig. 6.3: the mechanism, with its probability updated as the text says, and as the figures require."""
    return [
        friendly(
            {"rtt_ms": rtt_ms, "update": update},
            {"kind": "friendly", "update": update},
            _ranged("xcp", 1, 0) + _ranged("newreno", 2, JOIN_S),
            rtt_ms,
            repeat,
        )
        for rtt_ms in FRIENDLY_RTTS_MS
        for update in FRIENDLY_UPDATES
        for repeat in repeats(mode)
    ]


def ten_tcp(mode: Mode) -> list[Run]:
    """Fig. 6.4: three XCP flows join ten TCP flows, and leave."""
    return _joined(mode, "newreno", "xcp", 1.0)


def ten_xcp(mode: Mode) -> list[Run]:
    """Fig. 6.5: three TCP flows join ten XCP flows, and leave."""
    return _joined(mode, "xcp", "newreno", 1.0)


def half(mode: Mode) -> list[Run]:
    """Fig. 6.6: the same with half of the packets inspected, and with all of them."""
    return _joined(mode, "xcp", "newreno", 0.5) + _joined(mode, "xcp", "newreno", 1.0)


def friendly(
    coordinates: Mapping[str, Coordinate],
    router: Any,
    flows: list[dict[str, Any]],
    rtt_ms: float,
    repeat: int,
    duration_s: float = FRIENDLY_S,
) -> Run:
    """Returns a run of chapter 6."""
    bottleneck = {
        "rate": f"{FRIENDLY_MBPS} Mbit/s",
        "buffer": f"{FRIENDLY_BUFFER} packets",
        "router": router,
    }
    title = ", ".join(f"{key} {value}" for key, value in coordinates.items())
    tables = [{**table, "rtt": f"{rtt_ms:g} ms"} for table in flows]
    document = dumbbell(title, bottleneck, tables, duration_s=duration_s, repeat=repeat)
    return run(coordinates, document, FRIENDLY_MBPS)


def _joined(mode: Mode, first: str, later: str, inspect: float) -> list[Run]:
    guests = [
        flow(
            later,
            f"{later}-{number + 1}",
            None,
            JOIN_S + JOIN_EVERY_S * number,
            stop=f"{LEAVE_S + JOIN_EVERY_S * number} s",
        )
        for number in range(3)
    ]
    return [
        friendly(
            {"rtt_ms": rtt_ms, "inspect": inspect},
            {"kind": "friendly", "update": "packet", "inspect": inspect},
            _ranged(first, 10, 0) + guests,
            rtt_ms,
            repeat,
        )
        for rtt_ms in FRIENDLY_RTTS_MS
        for repeat in repeats(mode)
    ]


def _ranged(protocol: str, number: int, start_s: float) -> list[dict[str, Any]]:
    return [flow(protocol, f"{protocol}-{index + 1}", None, start_s) for index in range(number)]


def _tuned(protocol: str) -> dict[str, Any]:
    return {} if protocol == "xcp" else TUNED


def _stepped(name: str, rtt_ms: int, repeat: int, duration_s: float = STAIRS_S, sample_s: float = 0.1) -> Run:
    left = [step for step in stairs(STAIRS_MBPS) if step[0] < duration_s]
    return run(
        {"protocol": name, "rtt_ms": rtt_ms},
        dumbbell(
            f"{name} on steps, {rtt_ms} ms",
            {"rate": "1000 Mbit/s", "buffer": f"{VBE_BUFFER} packets", **router_of(name)},
            [flow(name, name, rtt_ms, **_tuned(name)), *datagrams(left, 1000, duration_s, rtt_ms)],
            duration_s=duration_s,
            repeat=repeat,
            sample_s=sample_s,
        ),
        1000,
    )


def _losing_acks(
    protocol: str,
    loss: float,
    count: str,
    number: int,
    capacity: tuple[int, Steps],
    duration_s: int,
    rtt_ms: int,
    repeat: int,
) -> Run:
    """Returns like flows that lose ACKs; ``capacity`` is the link's rate and what datagrams leave of it."""
    mbps, left = capacity
    return run(
        {"protocol": protocol, "ack_loss": loss},
        dumbbell(
            f"{count} flows of {protocol}, {loss:.0%} of the ACKs lost",
            _acks_bottleneck(mbps, loss),
            [flow(protocol, f"{protocol}-{index + 1}", rtt_ms) for index in range(number)]
            + datagrams(left, mbps, duration_s, rtt_ms),
            duration_s=duration_s,
            repeat=repeat,
        ),
        mbps,
    )


def _acks_bottleneck(mbps: float, loss: float) -> dict[str, Any]:
    lost = {"ack_loss": loss} if loss else {}
    return {"rate": f"{mbps:g} Mbit/s", "buffer": f"{VBE_BUFFER} packets", "router": "xcp", **lost}


def _clouds(
    mode: Mode,
    coordinates: Mapping[str, Coordinate],
    links: list[networks.Link],
    hops: int,
    senders: Iterable[str],
    mbps: float,
    *,
    protocol: str = "xcp",
    later: Mapping[str, float] | None = None,
) -> list[Run]:
    """Returns runs of flows from S... to R..., which start when the clouds on their paths are known."""
    title = ", ".join(str(value) for value in coordinates.values()) or "clouds"
    return [
        run(
            coordinates,
            networks.network(
                title,
                links,
                hops,
                [
                    *(
                        networks.scout(f"S{name}", f"S{name}", f"R{name}")
                        for name in senders
                        if protocol == "xcp"
                    ),
                    *(
                        networks.between(
                            protocol,
                            name or protocol,
                            f"S{name}",
                            f"R{name}",
                            networks.BEGIN_S + (later or {}).get(name, 0.0),
                        )
                        for name in senders
                    ),
                ],
                duration_s=networks.MERGE_S,
                repeat=repeat,
            ),
            mbps,
        )
        for repeat in repeats(mode)
    ]


EXPERIMENTS = (
    Experiment("vcp", "2.5.2", "A VCP flow joined by another", joined_vcp, figures.joined_vcp),
    Experiment("xcp", "Fig. 2.11", "Four XCP flows", staged_xcp, figures.staged("xcp")),
    Experiment("jetmax", "Fig. 2.12", "Four JetMax flows", staged_jetmax, figures.staged("jetmax")),
    Experiment(
        "sine-100", "Figs. 3.5, 3.7, 3.9", "Sine capacity, 100 ms", sine_near, figures.sine("sine-100")
    ),
    Experiment(
        "sine-200", "Figs. 3.6, 3.8, 3.10", "Sine capacity, 200 ms", sine_far, figures.sine("sine-200")
    ),
    Experiment("model", "Figs. 3.3, 3.4", "The model of TCP beside the simulation", model, figures.model),
    Experiment("steps-100", "Figs. 3.13, 3.16", "Steps, 100 ms", steps_near, figures.steps("steps-100")),
    Experiment("zoom", "Figs. 3.14, 3.17", "A fall of the capacity", zoom, figures.zoom),
    Experiment("steps-200", "Figs. 3.15, 3.18", "Steps, 200 ms", steps_far, figures.steps("steps-200")),
    Experiment("bottleneck", "Fig. 4.2", "A bottleneck without XCP", unaware_bottleneck, figures.bottleneck),
    Experiment("peering", "Fig. 4.8", "XCP-i across two clouds", peering, figures.peering),
    Experiment("merge", "Fig. 4.10", "Clouds of 300 and 100 into 400 Mbit/s", merge, figures.clouds("merge")),
    Experiment(
        "merge-above", "Fig. 4.12", "Inputs above the output", merge_above, figures.clouds("merge-above")
    ),
    Experiment("fork", "Fig. 4.14", "One cloud, two ways on", fork, figures.clouds("fork")),
    Experiment("errors", "Figs. 4.15 to 4.17", "Wrong estimates", errors, figures.errors),
    Experiment("shared", "Fig. 4.18", "A bottleneck shared inside a cloud", shared, figures.shared),
    Experiment("layer2", "7.3.1", "A bottleneck that the TTL does not reveal", layer_two, figures.layer_two),
    Experiment("acks", "Figs. 5.3, 5.4, 5.6, Table 5.1", "Losses of ACKs, ten flows", acks, figures.acks),
    Experiment("radar", "Fig. 5.7", "Average throughput of ten flows", acks, figures.radar),
    Experiment("three", "Figs. 5.8 to 5.10", "Losses of ACKs, three flows", three, figures.three),
    Experiment("one", "5.1.1", "Losses of ACKs, constant capacity", one, figures.one),
    Experiment("formula", "5.3", "Both formulas of XCP-r", formula, figures.formula),
    Experiment("starved", "Fig. 6.2", "XCP beside TCP", starved, beside.starved),
    Experiment("one-two", "Fig. 6.3", "One XCP flow, two TCP flows", one_and_two, beside.one_and_two),
    Experiment("ten-tcp", "Fig. 6.4", "Three XCP flows join ten TCP flows", ten_tcp, beside.ten_tcp),
    Experiment("ten-xcp", "Fig. 6.5", "Three TCP flows join ten XCP flows", ten_xcp, beside.ten_xcp),
    Experiment("half", "Fig. 6.6", "Half of the packets inspected", half, beside.half),
    *BEYOND,
)
