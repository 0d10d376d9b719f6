"""Scenario to plan: every quantity a plain number in SI units, defaults filled in, every flow its own entry.

The plan is what the core runs (JSON); it knows no units, no files and no `count`.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from longfat.scenario.background import Background, Bulk, Onoff, Short, Surge, Web
from longfat.scenario.capacity import VaryingRate
from longfat.scenario.distributions import Distribution, Empirical, Exponential, Uniform
from longfat.scenario.fields import BufferSize, EveryLoss, GilbertElliott, LossModel, RandomLoss
from longfat.scenario.model import LINKS, Flow, Scenario
from longfat.scenario.topology import Topology, Way
from longfat.scenario.transport import Transport

Plan = dict[str, Any]

BOTTLENECK, REVERSE = range(len(LINKS))


def build(scenario: Scenario, *, fast: bool = True) -> Plan:
    """The plan of a scenario. Pure: the same scenario always gives the same plan.

    Args:
        scenario: what to run.
        fast: let the core use its fused form of plain drop-tail links (identical results).
    """
    full = scenario.filled()
    return {
        "seed": full.seed,
        "duration_s": full.duration,
        "window_s": list(full.figures_window_s()),
        "links": _links(full) if full.topology is None else _ways(full, full.topology),
        "flows": _flows(full),
        "background": [
            entry
            for part, place in zip(full.background, _places(full, "background"), strict=True)
            for entry in _background(part, place)
        ],
        "sample": {"flows_s": full.sample.cwnd, "links_s": full.sample.queue},
        "events": full.sample.events,
        "fast": fast,
    }


def _links(scenario: Scenario) -> list[Plan]:
    bottleneck = scenario.bottleneck
    reverse_rate = bottleneck.reverse_rate or float(bottleneck.rate)
    queue, reverse_queue = (
        {"kind": spec.kind, **spec.parameters} for spec in (bottleneck.queue, bottleneck.reverse_queue)
    )
    router = bottleneck.router
    # The RTT is propagation of the whole path, spread by the core: the links themselves add none.
    return [
        {
            "name": LINKS[BOTTLENECK],
            "rate_bps": float(bottleneck.rate),
            "capacity": bottleneck.rate.plan if isinstance(bottleneck.rate, VaryingRate) else None,
            "delay_s": 0.0,
            "queue": queue | _limit(scenario, bottleneck.buffer, bottleneck.rate),
            "router": router and {"kind": router.kind, **router.parameters},
            "loss": _loss(bottleneck.loss),
            "ack_loss": _loss(RandomLoss(0.0)),
        },
        {
            "name": LINKS[REVERSE],
            "rate_bps": reverse_rate,
            "capacity": None,
            "delay_s": 0.0,
            "queue": reverse_queue | _limit(scenario, scenario.reverse_buffer(), reverse_rate),
            "router": None,
            "loss": _loss(RandomLoss(0.0)),
            "ack_loss": _loss(bottleneck.ack_loss),
        },
    ]


def _ways(scenario: Scenario, topology: Topology) -> list[Plan]:
    return [_way(scenario, topology, way) for way in topology.ways]


def _way(scenario: Scenario, topology: Topology, way: Way) -> Plan:
    link, none = way.link, RandomLoss(0.0)
    rate_bps = float(link.rate)
    limit = _limit(scenario, link.buffer, rate_bps)
    plan: Plan = {
        "name": way.name,
        "nodes": list(topology.numbered(way)),
        "layer2": link.layer == 2,
        "rate_bps": rate_bps,
        "delay_s": link.delay,
    }
    if way.back:
        return plan | {
            "capacity": None,
            "queue": {"kind": "droptail"} | limit,
            "router": None,
            "loss": _loss(none),
            "ack_loss": _loss(link.ack_loss),
        }
    return plan | {
        "capacity": link.rate.plan if isinstance(link.rate, VaryingRate) else None,
        "queue": {"kind": link.queue.kind, **link.queue.parameters} | limit,
        "router": link.router and {"kind": link.router.kind, **link.router.parameters},
        "loss": _loss(link.loss),
        "ack_loss": _loss(none if link.duplex else link.ack_loss),
    }


@dataclass(frozen=True)
class _Place:
    """Where packets of a flow or background go if its data go forward, and the RTT if the path makes it."""

    forward: list[int]
    reverse: list[int]
    access_bps: float
    rtt_s: float | None


def _places(scenario: Scenario, kind: str) -> list[_Place]:
    """Of each `flow` or `background`, in order."""
    access_bps, number = scenario.access_bps(), len(getattr(scenario, kind))
    if scenario.topology is None:
        return [_Place([BOTTLENECK], [REVERSE], access_bps, None)] * number
    paths = scenario.paths()
    found = [paths[f"{kind}.{i}"] for i in range(number)]
    return [_Place(list(path.forward), list(path.reverse), access_bps, path.rtt_s) for path in found]


def _limit(scenario: Scenario, buffer: BufferSize, rate_bps: float) -> Plan:
    """Whole packets that fit, at least one; a buffer written in bytes counts bytes."""
    if buffer.bytes is not None:
        return {"limit_bytes": buffer.bytes}
    return {"limit_packets": max(1, math.floor(scenario.packets(buffer, rate_bps)))}


def _loss(loss: LossModel) -> Plan:
    match loss:
        case RandomLoss(probability=0.0):
            return {"kind": "none"}
        case RandomLoss(probability):
            return {"kind": "random", "probability": probability}
        case EveryLoss(packets):
            return {"kind": "every", "packets": packets}
        case GilbertElliott():
            return {"kind": "gilbert_elliott", **vars(loss)}


def _drawn(value: Distribution) -> float | Plan:
    match value:
        case Uniform(low, high):
            return {"uniform": [low, high]}
        case Exponential(mean, least):
            return {"exponential": [least, mean]}
        case Empirical():
            return _measured(value)
        case _:
            return value


def _measured(value: Empirical) -> Plan:
    return {"empirical": list(zip(value.values, value.weights, strict=True))}


def _later(start: Distribution, delay_s: float) -> Distribution:
    match start:
        case Uniform(low, high):
            return Uniform(low + delay_s, high + delay_s)
        case Empirical(values, weights):
            return Empirical(tuple(value + delay_s for value in values), weights)
        case Exponential():
            return start
        case _:
            return start + delay_s


def _finite(segments: float) -> float | None:
    return None if math.isinf(segments) else segments


def _transport(part: Transport, place: _Place, rtt: Distribution, direction: str) -> Plan:
    path = (place.forward, place.reverse)
    forward, reverse = path if direction == "forward" else path[::-1]
    custom = part.algorithm.custom
    return {
        "algorithm": "custom" if custom else part.algorithm.name,
        "parameters": {} if custom else part.algorithm.parameters,
        "forward": forward,
        "reverse": reverse,
        "rtt_s": _drawn(rtt) if place.rtt_s is None else place.rtt_s,
        "access_rate_bps": place.access_bps,
        "mss_bytes": int(part.mss),
        "header_bytes": part.header_bytes,
        "initial_ssthresh": _finite(part.initial_ssthresh),
        "initial_window": part.initial_window,
        "max_window": _finite(part.max_window),
        "slow_start": part.slow_start,
        "max_ssthresh": part.max_ssthresh,
        "delayed_ack": part.delayed_ack,
        "delayed_ack_timeout_s": part.delayed_ack_timeout,
        "byte_counting": part.byte_counting,
        "sack": part.sack,
        "recovery": part.recovery,
        "host_tick_s": part.host_tick,
        "rto_min_s": part.rto_min,
        "ecn": part.ecn,
        "quick_start_bps": part.quick_start,
        # left out where it is the default: stored runs from before this key stay what they were
        **({} if part.rtt_samples == "echoed" else {"rtt_samples": part.rtt_samples}),
    }


def _flows(scenario: Scenario) -> list[Plan]:
    names = iter(scenario.flow_names())
    return [
        {
            "name": next(names),
            "start_s": _drawn(_later(flow.start, flow.stagger * i)),
            "stop_s": flow.stop,
            "bytes": None if flow.bytes is None else int(flow.bytes),
            **_transport(flow, place, flow.rtt, flow.direction),
        }
        for flow, place in zip(scenario.flow, _places(scenario, "flow"), strict=True)
        for i in range(flow.count)
    ]


def as_written(scenario: Scenario, place: str) -> str:
    """The key of a scenario behind a place of its plan, such as "link.0.router" behind "links[0].router"."""
    match = re.fullmatch(r"(links|flows|background)\[([0-9]+)\]\.?(.*)", place)
    if match is None:
        return place
    kind, position, rest = match[1], int(match[2]), re.sub(r"_(s|bps)$", "", match[3])
    known = scenario.topology
    if kind == "links" and known is None:
        back = {"rate": "reverse_rate", "queue": "reverse_queue", "queue.limit_packets": "reverse_buffer"}
        owner = "bottleneck"
        rest = rest if position == BOTTLENECK else back.get(rest, rest)
    elif kind == "links" and known is not None:
        owner = f"link.{known.ways[position].position}"
    elif kind == "flows":
        owners = [i for i, flow in enumerate(scenario.flow) for _ in range(flow.count)]
        owner = f"flow.{owners[position]}"
    else:
        entries = [2 if part.direction == "both" else 1 for part in scenario.background]
        owners = [i for i, number in enumerate(entries) for _ in range(number)]
        owner, rest = f"background.{owners[position]}", rest.removeprefix("flow.")
    return f"{owner}.{rest}" if rest else owner


def refusal(scenario: Scenario, said: str) -> str:
    """What is said of the scenario's plan, with the scenario's own key before it."""
    place, colon, what = said.partition(": ")
    return f"{as_written(scenario, place)}{colon}{what}"


def flow_parts(scenario: Scenario) -> dict[str, Flow]:
    """The part of the scenario behind each flow of the plan."""
    parts = [flow for flow in scenario.flow for _ in range(flow.count)]
    return dict(zip(scenario.flow_names(), parts, strict=True))


def _background(part: Background, place: _Place) -> list[Plan]:
    """One entry a direction; traffic in both has the direction in its names."""
    both = part.direction == "both"
    entries = []
    for direction in ("forward", "reverse") if both else (part.direction,):
        rtt: Any = part.rtt  # filled in by now
        entries.append(
            {
                "name": f"{part.name}-{direction}" if both else part.name,
                "kind": part.kind,
                **_members(part),
                "flow": _transport(part, place, rtt, direction) | {"stop_s": part.stop},
            }
        )
    return entries


def _members(part: Background) -> Plan:
    """What a kind says of its members and their habits."""
    match part:
        case Web():
            return {
                "sessions": part.sessions,
                "gap_s": part.gap,
                "page_bytes": part.page,
                "shape": part.shape,
            }
        case Surge():
            return {"users": part.users, "habits": asdict(part.habits())}
        case Short():
            files = {"files": asdict(part.files())}
            return {"gap_s": part.gap, "sizes": files if part.sizes is None else _measured(part.sizes)}
        case Bulk():
            return {"flows": part.flows, "start_s": _drawn(part.start)}
        case Onoff():
            start: Any = part.start  # filled in by now
            return {"sources": part.sources, "start_s": _drawn(start)}
