"""Turns a scenario into its plan: the numbers that the core runs (JSON), every flow with its own entry.

`Scenario.resolve` fills in every default and works out every derived value; this module copies them under the
names that the core knows. A plan has no units, no files and no `count`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import Any

from longfat.scenario.background import Background, Bulk, Onoff, Short, Surge, Web
from longfat.scenario.capacity import VaryingRate
from longfat.scenario.distributions import Distribution, Empirical, Exponential, Uniform
from longfat.scenario.flow import Flow
from longfat.scenario.losses import EveryLoss, GilbertElliott, LossModel, RandomLoss
from longfat.scenario.model import Scenario
from longfat.scenario.named import QueueSpec, RouterSpec
from longfat.scenario.network import REVERSE
from longfat.scenario.receivers import Receiver
from longfat.scenario.resolved import Connection, Limit, ResolvedBackground, ResolvedFlow, ResolvedLink
from longfat.scenario.transport import Transport
from longfat.words import shown

Plan = dict[str, Any]


def build(scenario: Scenario, *, fast: bool = True) -> Plan:
    """Returns the plan of a scenario. Pure: the same scenario always gives the same plan.

    The `count` flows of a [[flow]] share the lists and tables within their entries: do not change these.

    Args:
        scenario: what to run.
        fast: lets the core use its fast driver and queues (identical results).
    """
    full = scenario.resolve()
    return {
        "seed": full.seed,
        "duration_s": full.duration_s,
        "window_s": list(full.window_s),
        "links": [_link(link) for link in full.links],
        "flows": list(_flows(full.flows)),
        "background": [_background(part) for part in full.background],
        "sample": {"flows_s": full.sample.cwnd, "links_s": full.sample.queue}
        | ({"internals": True} if full.sample.internals else {}),
        "events": full.sample.events,
        "fast": fast,
    }


def text(plan: Plan) -> str:
    """Returns a plan as JSON. One entry at a time, so that Ctrl-C need not wait for 100 000 flows."""
    parts = (
        f"[{', '.join(map(json.dumps, value))}]" if isinstance(value, list) else json.dumps(value)
        for value in plan.values()
    )
    return f"{{{', '.join(f'{json.dumps(key)}: {part}' for key, part in zip(plan, parts, strict=True))}}}"


def _link(link: ResolvedLink) -> Plan:
    rest: Plan = {
        "capacity": link.rate.plan if isinstance(link.rate, VaryingRate) else None,
        "queue": _element(link.queue) | _limit(link.limit),
        "router": link.router and _element(link.router),
        "loss": _loss(link.loss),
        "ack_loss": _loss(link.ack_loss),
    }
    if link.service_tick_s > 0.0:  # left out without a tick, as in plans stored before this key existed
        rest |= {"service_tick_s": link.service_tick_s, "clock": link.clock}
    if link.disturbance is not None:  # left out without any, for the same reason
        rest["disturbance"] = link.disturbance.plan
    if link.nodes is None:
        number = {"rate_bps": float(link.rate), "capacity": rest.pop("capacity"), "delay_s": link.delay_s}
        return {"name": link.name, **number, **rest}
    ends = {"nodes": list(link.nodes), "layer2": link.layer == 2}
    return {"name": link.name, **ends, "rate_bps": float(link.rate), "delay_s": link.delay_s, **rest}


NEWER_PARAMETERS = {"xcp": ("restarts",), "friendly": ("p_drop",), "red": ("harddrop",)}
"""Parameters of routers and queues that are younger than stored runs. Plans omit them at their defaults."""


def _element(spec: QueueSpec | RouterSpec) -> Plan:
    newer = NEWER_PARAMETERS.get(spec.kind, ())
    defaults = type(spec)(spec.kind).filled().parameters if newer else {}
    left_out = {name for name in newer if spec.parameters.get(name) == defaults[name]}
    given = {name: value for name, value in spec.parameters.items() if name not in left_out}
    return {"kind": spec.kind, **given}


def _limit(limit: Limit) -> Plan:
    return {"limit_packets": limit.packets} if limit.bytes is None else {"limit_bytes": limit.bytes}


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


def _finite(segments: float) -> float | None:
    return None if math.isinf(segments) else segments


NEWER_KEYS = {
    "interrupt_moderation": "interrupt_moderation_s",
    "send_jitter": "send_jitter_s",
    "rtt_samples": "rtt_samples",
    "quick_acks": "quick_acks",
    "sack_compression": "sack_compression_s",
    "timestamps": "timestamps",
    "rto_min_of": "rto_min_of",
    "rto_tick": "rto_tick_s",
    "initial_rto": "initial_rto_s",
    "loss_detection": "loss_detection",
    "abe": "abe",
    "max_burst": "max_burst",
    "cwnd_moderation": "cwnd_moderation",
    "ssthresh_cache": "ssthresh_cache",
    "slow_start_limit": "slow_start_limit",
    "timeout_reductions": "timeout_reductions",
    "first_reduction": "first_reduction",
    "backoff_until": "backoff_until",
    "receiver": "receiver",
}
"""Transport keys that are younger than stored runs, with their names in the plan."""


def _newer(part: Transport) -> Plan:
    """Leaves keys out where they have their default, so that runs stored before they existed stay valid."""
    given = {name: getattr(part, key) for key, name in NEWER_KEYS.items() if part.differs(key)}
    return {name: _planned(value) for name, value in given.items()}


def _planned(value: Any) -> Any:
    if isinstance(value, Receiver):
        return value.plan
    return _finite(value) if isinstance(value, float) else value


def _connection(connection: Connection) -> Plan:
    part = connection.transport
    algorithm = connection.algorithm
    return {
        "algorithm": algorithm.name if algorithm.listed else "custom",
        "parameters": algorithm.parameters if algorithm.listed else {},
        "forward": list(connection.forward),
        "reverse": list(connection.reverse),
        "rtt_s": _drawn(connection.rtt),
        "access_rate_bps": connection.access_bps,
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
        "recovery": part.recovery_used,
        "host_tick_s": part.host_tick,
        "rto_min_s": part.rto_min,
        "ecn": part.ecn,
        "quick_start_bps": part.quick_start,
        **({"needs_marks": True} if algorithm.needs_marks else {}),
        **_newer(part),
    }


def _flows(flows: Iterable[ResolvedFlow]) -> Iterator[Plan]:
    """Yields the entry of each flow; the connection of a [[flow]] is written once for all its flows."""
    for hosts, (_, found) in enumerate(groupby(flows, attrgetter("key"))):
        alike = list(found)
        connection = _connection(alike[0].connection)
        if alike[0].connection.transport.ssthresh_cache:
            connection["hosts"] = hosts
        for flow in alike:
            yield {
                "name": flow.name,
                "start_s": _drawn(flow.start),
                "stop_s": flow.stop_s,
                "bytes": None if flow.bytes is None else int(flow.bytes),
                **connection,
            }


def _background(background: ResolvedBackground) -> Plan:
    part = background.part
    return {
        "name": background.name,
        "kind": part.kind,
        **_members(part),
        "flow": _connection(background.connection) | {"stop_s": part.stop},
    }


def _members(part: Background) -> Plan:
    """The keys of a kind: its members and their habits."""
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


_REVERSE_KEYS = {
    "rate": "reverse_rate",
    "buffer": "reverse_buffer",
    "queue": "reverse_queue",
    "queue.limit_packets": "reverse_buffer",
}
"""The keys of a dumbbell's way back."""


def as_written(scenario: Scenario, key: str) -> str:
    """Returns the scenario's key behind one of its plan: "link.0.router" for "links[0].router"."""
    match = re.fullmatch(r"(links|flows|background)\[([0-9]+)\]\.?(.*)", key)
    if match is None:
        return key
    kind, position, rest = match[1], int(match[2]), re.sub(r"_(s|bps)$", "", match[3])
    full = scenario.resolve()
    owner = getattr(full, kind)[position].key
    if kind == "background":
        rest = rest.removeprefix("flow.")
    elif kind == "links" and full.links[position].nodes is None and position == REVERSE:
        rest = _REVERSE_KEYS.get(rest, rest)
    return f"{owner}.{rest}" if rest else owner


def with_value(scenario: Scenario, key: str) -> str:
    """Returns the scenario's key behind one of its plan, and its value where it has one."""
    written = as_written(scenario, key)
    here: Any = scenario.to_dict()
    for part in written.split("."):
        if isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        elif isinstance(here, dict) and part in here:
            here = here[part]
        else:
            return written
    return f"{written} = {shown(int(here) if isinstance(here, float) and here.is_integer() else here)}"


def refusal(scenario: Scenario, said: str) -> str:
    """Returns the core's message about the plan, with the scenario's own key in front."""
    key, colon, what = said.partition(": ")
    return f"{as_written(scenario, key)}{colon}{what}"


def flow_parts(scenario: Scenario) -> dict[str, Flow]:
    """Returns the part of the scenario behind each flow of the plan."""
    parts = [flow for flow in scenario.flow for _ in range(flow.count)]
    return dict(zip(scenario.flow_names(), parts, strict=True))
