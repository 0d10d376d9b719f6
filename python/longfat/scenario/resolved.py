"""A scenario resolved: every default filled in, every derived value worked out, in SI units.

`Scenario.resolve` makes it; a plan (`longfat.runs.plan`) only copies from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from longfat.scenario.background import Background
from longfat.scenario.bottleneck import Bottleneck
from longfat.scenario.buffers import BufferSize
from longfat.scenario.distributions import Distribution, Empirical, Exponential, Uniform
from longfat.scenario.disturbances import Disturbance
from longfat.scenario.flow import Flow, Sample
from longfat.scenario.losses import LossModel, RandomLoss
from longfat.scenario.named import AlgorithmSpec, QueueSpec, RouterSpec
from longfat.scenario.network import BOTTLENECK, LINKS, REVERSE, Network
from longfat.scenario.topology import Way
from longfat.scenario.transport import Transport

NO_LOSS = RandomLoss(0.0)


class Limit(NamedTuple):
    """Room of a queue, counted in packets or in bytes."""

    packets: int | None = None
    bytes: int | None = None


class ResolvedLink(NamedTuple):
    """One direction of a link.

    Attributes:
        key: the table of the scenario behind it, such as "bottleneck" or "link.0".
        nodes: the numbers of the nodes where it begins and ends; None in a dumbbell.
        rate: bit/s; a `VaryingRate` where it varies.
        layer: 3, or 2 for a queue in a switch.
        service_tick_s: the time between two ticks of its clock; 0 for none.
        clock: the name of that clock; links of one clock tick together.
        disturbance: what happens to packets behind the transmitter; None for nothing.
    """

    key: str
    name: str
    nodes: tuple[int, int] | None
    layer: int
    rate: float
    delay_s: float
    queue: QueueSpec
    limit: Limit
    router: RouterSpec | None
    loss: LossModel
    ack_loss: LossModel
    service_tick_s: float
    clock: str
    disturbance: Disturbance | None


class Connection(NamedTuple):
    """What a flow, or the connections of a background, are like, and where their packets go.

    Attributes:
        transport: the keys of the two ends, as the scenario has them.
        algorithm: the transport's algorithm with all its parameters.
        forward: the links that data cross, by position.
        reverse: the links that ACKs cross, by position.
        rtt: two-way propagation delay, s.
        access_bps: the rate of the hosts' own links.
    """

    transport: Transport
    algorithm: AlgorithmSpec
    forward: tuple[int, ...]
    reverse: tuple[int, ...]
    rtt: Distribution
    access_bps: float


class ResolvedFlow(NamedTuple):
    """One flow; `count` of them in the scenario are as many here, and share their connection.

    `key` is such as "flow.0".
    """

    key: str
    name: str
    start: Distribution
    stop_s: float | None
    bytes: float | None
    connection: Connection


class ResolvedBackground(NamedTuple):
    """A background in one direction; `key` is such as "background.0"."""

    key: str
    name: str
    part: Background
    connection: Connection


class Resolved(NamedTuple):
    """A whole scenario. Metrics cover the times within `window_s`."""

    seed: int
    duration_s: float
    window_s: tuple[float, float]
    access_bps: float
    links: tuple[ResolvedLink, ...]
    flows: tuple[ResolvedFlow, ...]
    background: tuple[ResolvedBackground, ...]
    sample: Sample


def links(network: Network) -> tuple[ResolvedLink, ...]:
    """The links of a network in the plan's order, with the defaults of queues and routers filled in."""
    if network.topology is not None:
        ways = network.topology.ways
        return tuple(_way(network, way, network.topology.numbered(way)) for way in ways)
    assert network.bottleneck is not None
    return _dumbbell(network, network.bottleneck)


def _limit(network: Network, buffer: BufferSize, rate_bps: float) -> Limit:
    """Whole packets that fit, at least one; a buffer in bytes counts bytes."""
    if buffer.bytes is not None:
        return Limit(bytes=buffer.bytes)
    return Limit(packets=max(1, math.floor(network.packets(buffer, rate_bps))))


def _dumbbell(network: Network, bottleneck: Bottleneck) -> tuple[ResolvedLink, ResolvedLink]:
    key, back_bps = "bottleneck", bottleneck.reverse_bps
    there = ResolvedLink(
        key=key,
        name=LINKS[BOTTLENECK],
        nodes=None,
        layer=3,
        rate=bottleneck.rate,
        delay_s=0.0,
        queue=bottleneck.queue.filled(),
        limit=_limit(network, bottleneck.buffer, bottleneck.rate),
        router=bottleneck.router and bottleneck.router.filled(),
        loss=bottleneck.loss,
        ack_loss=NO_LOSS,
        service_tick_s=bottleneck.service_tick,
        clock=LINKS[BOTTLENECK],
        disturbance=bottleneck.disturbance(LINKS[BOTTLENECK], back=False),
    )
    back = ResolvedLink(
        key=key,
        name=LINKS[REVERSE],
        nodes=None,
        layer=3,
        rate=back_bps,
        delay_s=0.0,
        queue=bottleneck.reverse_queue.filled(),
        limit=_limit(network, network.reverse_buffer, back_bps),
        router=None,
        loss=NO_LOSS,
        ack_loss=bottleneck.ack_loss,
        service_tick_s=bottleneck.service_tick,
        clock=LINKS[BOTTLENECK],
        disturbance=bottleneck.disturbance(LINKS[BOTTLENECK], back=True),
    )
    return there, back


def _way(network: Network, way: Way, nodes: tuple[int, int]) -> ResolvedLink:
    link = way.link
    ack_loss = link.ack_loss if way.back or not link.duplex else NO_LOSS
    return ResolvedLink(
        key=f"link.{way.position}",
        name=way.name,
        nodes=nodes,
        layer=link.layer,
        rate=float(link.rate) if way.back else link.rate,
        delay_s=link.delay,
        queue=QueueSpec("droptail") if way.back else link.queue.filled(),
        limit=_limit(network, link.buffer, link.rate),
        router=None if way.back or link.router is None else link.router.filled(),
        loss=NO_LOSS if way.back else link.loss,
        ack_loss=ack_loss,
        service_tick_s=link.service_tick,
        clock=link.names()[0],
        disturbance=link.disturbance(link.names()[0], back=way.back),
    )


def flows(network: Network, parts: Sequence[Flow], names: Sequence[str]) -> tuple[ResolvedFlow, ...]:
    """Every flow by itself, with its start and its path."""
    name = iter(names)
    found = []
    for number, flow in enumerate(parts):
        key = f"flow.{number}"
        connection = _connection(network, key, flow, flow.rtt, flow.direction)
        for i in range(flow.count):
            start = _later(flow.start, flow.stagger * i)
            found.append(ResolvedFlow(key, next(name), start, flow.stop, flow.bytes, connection))
    return tuple(found)


def backgrounds(network: Network, parts: Sequence[Background]) -> tuple[ResolvedBackground, ...]:
    """Every background in each of its directions; one in both has the direction in its names."""
    found = []
    for number, part in enumerate(parts):
        both = part.direction == "both"
        for direction in ("forward", "reverse") if both else (part.direction,):
            key, rtt = f"background.{number}", part.rtt
            found.append(
                ResolvedBackground(
                    key=key,
                    name=f"{part.name}-{direction}" if both else str(part.name),
                    part=part,
                    connection=_connection(network, key, part, rtt, direction),
                )
            )
    return tuple(found)


def _connection(
    network: Network, key: str, part: Transport, rtt: Distribution | None, direction: str
) -> Connection:
    path = network.paths[key]
    ends = (path.forward, path.reverse) if direction == "forward" else (path.reverse, path.forward)
    given: Any = rtt if path.rtt_s is None else path.rtt_s
    return Connection(part, part.algorithm.filled(), *ends, rtt=given, access_bps=network.access_bps)


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
