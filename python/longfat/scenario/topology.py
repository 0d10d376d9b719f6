"""Networks beyond the dumbbell: nodes, links between them, and the shortest paths that flows take.

A link has two ways unless it says `duplex = false`. Its keys hold for the way from `from` to `to`; the way
back is a drop-tail queue of the same rate, delay and buffer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Self

from longfat import _core
from longfat.scenario.buffers import Buffer, BufferSize
from longfat.scenario.disturbances import Disturbed
from longfat.scenario.fields import BottleneckRate, Delay, Name, ServiceTick, Switch
from longfat.scenario.losses import Loss, RandomLoss
from longfat.scenario.named import Queue, QueueSpec, Router
from longfat.scenario.part import Alias, Part
from longfat.scenario.transport import Transport

MOST_LINKS = 64
"""The most links on the path of a flow, either way."""
MOST_NODES = 1000


class Placed(Transport):
    """A transport that sends from one node to another, in a scenario that has links."""

    origin: Annotated[Name | None, Alias("from")] = None
    """The node that sends data, with `[[link]]`."""
    to: Name | None = None
    """The node that receives data, with `[[link]]`."""


class Node(Part):
    """A point where links meet; nodes that links name need no table of their own."""

    name: Name
    """What links and flows call it."""


class Link(Disturbed):
    """A link from one node to another, and back."""

    name: Name | None = None
    """Its name in results, "FROM-TO" by default; the way back is called "TO-FROM", or NAME-back."""
    origin: Annotated[Name, Alias("from")]
    """The node where it begins."""
    to: Name
    """The node where it ends."""
    rate: BottleneckRate
    """Its rate, constant or varying; the way back always has the greatest rate."""
    delay: Delay = 0.0
    """Propagation delay, each way."""
    buffer: Buffer = BufferSize(bdp=1)  # type: ignore[arg-type]  # as in a bottleneck
    """Room for waiting packets; the RTT of "% BDP" is the smallest of a flow."""
    queue: Queue = QueueSpec("droptail")
    """The queueing discipline."""
    router: Router | None = None
    """An explicit-rate router around the queue."""
    loss: Loss = RandomLoss(0.0)
    """Loss of data packets that enter the link."""
    ack_loss: Loss = RandomLoss(0.0)
    """Loss of ACKs that enter the way back; a link with one way loses those that enter itself."""
    service_tick: ServiceTick = 0.0
    """The link's clock: at each tick each way hands out what its rate has earned. With 0 it has none."""
    layer: Literal[2, 3] = 3
    """2 puts its queue into a switch, which does not count down IP's time-to-live and has no router."""
    duplex: Switch = True
    """Whether it has a way back."""

    def check(self) -> None:
        """Raises ValueError if its keys do not fit together."""
        if self.origin == self.to:
            raise ValueError(f'from and to are both "{self.to}"; accepted: two nodes that differ')
        self.refuse_waiting_ticks(self.service_tick)
        _core.check_queue(self.queue.kind, self.queue.parameters, self.rate)
        if self.layer == 2 and self.router is not None:
            raise ValueError("a switch (layer = 2) has no router; accepted with a router: layer = 3")

    def names(self) -> tuple[str, ...]:
        """The names of its ways in results."""
        there = self.name or f"{self.origin}-{self.to}"
        back = f"{self.name}-back" if self.name else f"{self.to}-{self.origin}"
        return (there, back) if self.duplex else (there,)

    def filled(self) -> Self:
        """The same link with every default written out."""
        update = {
            "name": self.name or self.names()[0],
            "queue": self.queue.filled(),
            "router": self.router and self.router.filled(),
        }
        # Writing the default name out would change the name of the way back.
        if self.duplex and self.name is None:
            del update["name"]
        return self.model_copy(update=update)


class Way(NamedTuple):
    """One direction of a link."""

    name: str
    link: Link
    position: int
    """Position of the link in the file."""
    back: bool

    @property
    def ends(self) -> tuple[str, str]:
        """The nodes where it begins and ends."""
        return (self.link.to, self.link.origin) if self.back else (self.link.origin, self.link.to)


class Path(NamedTuple):
    """The links that packets cross there and back, by position among the ways."""

    forward: tuple[int, ...]
    reverse: tuple[int, ...]
    rate: float
    """The rate of the narrowest link on the way there, bit/s."""
    reverse_rate: float
    """The rate of the narrowest link on the way back, bit/s."""
    rtt_s: float | None
    """Propagation there and back; None where the flow itself says it, in a dumbbell."""


class Topology:
    """Nodes and links with the paths over them. Raises ValueError where they do not fit together."""

    def __init__(self, nodes: Sequence[Node], links: Sequence[Link]) -> None:
        self.ways = list(_ways(links))
        names = [way.name for way in self.ways]
        _differ(names, "links")
        _differ([node.name for node in nodes], "nodes")
        ends = [end for way in self.ways for end in way.ends]
        self.nodes = list(dict.fromkeys([*(node.name for node in nodes), *ends]))
        if len(self.nodes) > MOST_NODES:
            raise ValueError(f"{len(self.nodes)} nodes; accepted: up to {MOST_NODES}")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.nodes)}

    def numbered(self, way: Way) -> tuple[int, int]:
        """Returns the numbers of a way's nodes."""
        begin, end = way.ends
        return self._numbers[begin], self._numbers[end]

    def paths(self, pairs: Mapping[str, tuple[str, str]]) -> dict[str, Path]:
        """Returns the path between two nodes for each key of the scenario, such as "flow.0"."""
        for part, pair in pairs.items():
            for key, node in zip(("from", "to"), pair, strict=True):
                if node not in self._numbers:
                    known = ", ".join(f'"{name}"' for name in self.nodes[:20])
                    raise ValueError(f'{part}.{key} = "{node}": no link leads there; accepted: {known}')
            if pair[0] == pair[1]:
                raise ValueError(f'{part}: from and to are both "{pair[0]}"; accepted: two nodes that differ')
        links = [(*self.numbered(way), way.link.delay) for way in self.ways]
        asked = [(self._numbers[a], self._numbers[b]) for a, b in pairs.values()]
        found = _core.shortest_paths(links, [*asked, *((b, a) for a, b in asked)])
        paths = {}
        for (part, (begin, end)), there, back in zip(
            pairs.items(), found[: len(asked)], found[len(asked) :], strict=True
        ):
            for path, (first, last) in ((there, (begin, end)), (back, (end, begin))):
                if path is None or len(path) > MOST_LINKS:
                    problem = "no path leads" if path is None else f"more than {MOST_LINKS} links lead"
                    raise ValueError(
                        f'{part}: {problem} from "{first}" to "{last}"; '
                        "accepted: nodes that links connect, both ways"
                    )
            paths[part] = self._path(there or [], back or [])
        return paths

    def _path(self, there: list[int], back: list[int]) -> Path:
        rates = [min(self.ways[i].link.rate for i in path) for path in (there, back)]
        rtt_s = math.fsum(self.ways[i].link.delay for i in (*there, *back))
        return Path(tuple(there), tuple(back), float(rates[0]), float(rates[1]), rtt_s)


def _ways(links: Sequence[Link]) -> Iterator[Way]:
    """Yields the way of each link in order, then the ways back."""
    for back in (False, True):
        for position, link in enumerate(links):
            if link.duplex or not back:
                yield Way(link.names()[back], link, position, back)


def check_ends(parts: Sequence[tuple[str, Placed]]) -> None:
    """Checks that each flow and background names its two nodes and no RTT; ValueError if not."""
    for at, part in parts:
        for key, node in (("from", part.origin), ("to", part.to)):
            if node is None:
                raise ValueError(f"{at}.{key} is missing; accepted: the name of a node")
        if getattr(part, "rtt", None) is not None:
            raise ValueError(
                f"{at}.rtt does not go with [[link]], whose delays make it; accepted: leave it out"
            )


def check_no_ends(parts: Sequence[tuple[str, Placed]]) -> None:
    """Checks that no flow or background of a dumbbell names nodes; ValueError if one does."""
    for at, part in parts:
        for key, node in (("from", part.origin), ("to", part.to)):
            if node is not None:
                raise ValueError(f"{at}.{key} goes with [[link]], not with [bottleneck]; accepted: rtt")


def _differ(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(f'two {what} are called "{twice}"; accepted: names that differ')
