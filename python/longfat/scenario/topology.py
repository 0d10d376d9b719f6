"""Networks beyond the dumbbell: nodes, links between them, and the shortest paths that flows take.

A link has two ways unless it says `duplex = false`. What it says holds for the way from `from` to `to`; the
way back is a drop-tail queue of the same rate, delay and buffer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainSerializer, PlainValidator, model_validator

from longfat import _core
from longfat.scenario.fields import (
    TIMES_S,
    Accepts,
    BottleneckRate,
    Buffer,
    BufferSize,
    Loss,
    Queue,
    QueueSpec,
    RandomLoss,
    Router,
)
from longfat.scenario.transport import Part, Transport
from longfat.units import TIME

MOST_LINKS = 64
"""On the path of a flow, either way."""
MOST_NODES = 1000
LONGEST_NAME = 100


def _name(value: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or not value.isprintable()
        or len(value) > LONGEST_NAME
    ):
        raise ValueError(f"accepted: 1 to {LONGEST_NAME} printable characters")
    return value


def _delay(value: Any) -> float:
    delay = TIME.parse(value)
    if not 0.0 <= delay <= MOST_DELAY_S:
        raise ValueError(f"accepted: from {TIME.write(0.0)} to {TIME.write(MOST_DELAY_S)}")
    return delay


MOST_DELAY_S = min(100.0, TIMES_S[1])

Name = Annotated[str, PlainValidator(_name), Accepts('a name such as "R1"')]
Delay = Annotated[
    float, PlainValidator(_delay), PlainSerializer(TIME.write), Accepts('a time such as "10 ms"')
]


class Placed(Transport):
    """What sends from one node to another, in a scenario that has links."""

    origin: Name | None = Field(None, alias="from")
    to: Name | None = None


class Node(Part):
    """A place where links meet; those that links name need no table of their own."""

    name: Name


class Link(Part):
    """A link from one node to another, and back."""

    name: Name | None = None
    """"FROM-TO" if not given; its way back is "TO-FROM", or NAME-back."""
    origin: Name = Field(alias="from")
    to: Name
    rate: BottleneckRate
    """The greatest one where it varies; the way back has that one always."""
    delay: Delay = 0.0
    """Propagation, each way."""
    buffer: Buffer = BufferSize(bdp=1)  # type: ignore[arg-type]  # as of a bottleneck
    queue: Queue = QueueSpec("droptail")
    router: Router | None = None
    """An explicit-rate router around the queue."""
    loss: Loss = RandomLoss(0.0)
    """Of data packets that enter it."""
    ack_loss: Loss = RandomLoss(0.0)
    """Of ACKs that enter its way back; of a link of one way those that enter itself."""
    layer: Literal[2, 3] = 3
    """2: its queue stands in a switch, which leaves the time-to-live of IP as it is; it has no router."""
    duplex: bool = True

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.origin == self.to:
            raise ValueError(f'from and to are both "{self.to}"; accepted: two nodes that differ')
        _core.check_queue(self.queue.kind, self.queue.parameters, self.rate)
        if self.layer == 2 and self.router is not None:
            raise ValueError("a router at a switch, layer = 2; accepted with a router: layer = 3")
        return self

    def names(self) -> tuple[str, ...]:
        """Of its ways in results."""
        there = self.name or f"{self.origin}-{self.to}"
        back = f"{self.name}-back" if self.name else f"{self.to}-{self.origin}"
        return (there, back) if self.duplex else (there,)

    def filled(self) -> Self:
        """With the values that follow from others written out."""
        update = {
            "name": self.name or self.names()[0],
            "queue": self.queue.filled(),
            "router": self.router and self.router.filled(),
        }
        # a name that was made up would give the way back another one
        if self.duplex and self.name is None:
            del update["name"]
        return self.model_copy(update=update)


@dataclass(frozen=True)
class Way:
    """One direction of a link."""

    name: str
    link: Link
    position: int
    """Of the link in the file."""
    back: bool

    @property
    def ends(self) -> tuple[str, str]:
        """The nodes that it leads from and to."""
        return (self.link.to, self.link.origin) if self.back else (self.link.origin, self.link.to)


@dataclass(frozen=True)
class Path:
    """What a flow crosses, there and back, by position among the ways."""

    forward: tuple[int, ...]
    reverse: tuple[int, ...]
    rate: float
    """Of the narrowest link on the way there."""
    reverse_rate: float
    rtt_s: float
    """Propagation there and back."""


class Topology:
    """Nodes and links with the paths over them; ValueError where they do not fit together."""

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
        """The nodes of a way, by number."""
        begin, end = way.ends
        return self._numbers[begin], self._numbers[end]

    def paths(self, pairs: Mapping[str, tuple[str, str]]) -> dict[str, Path]:
        """The path of each part of the scenario, such as "flow.0", between its two nodes."""
        for place, pair in pairs.items():
            for key, node in zip(("from", "to"), pair, strict=True):
                if node not in self._numbers:
                    known = ", ".join(f'"{name}"' for name in self.nodes[:20])
                    raise ValueError(f'{place}.{key} = "{node}": no link leads there; accepted: {known}')
            if pair[0] == pair[1]:
                raise ValueError(
                    f'{place}: from and to are both "{pair[0]}"; accepted: two nodes that differ'
                )
        links = [(*self.numbered(way), way.link.delay) for way in self.ways]
        asked = [(self._numbers[a], self._numbers[b]) for a, b in pairs.values()]
        found = _core.shortest_paths(links, [*asked, *((b, a) for a, b in asked)])
        paths = {}
        for (place, (begin, end)), there, back in zip(
            pairs.items(), found[: len(asked)], found[len(asked) :], strict=True
        ):
            for path, (first, last) in ((there, (begin, end)), (back, (end, begin))):
                if path is None or len(path) > MOST_LINKS:
                    problem = "no path leads" if path is None else f"more than {MOST_LINKS} links lead"
                    raise ValueError(
                        f'{place}: {problem} from "{first}" to "{last}"; '
                        "accepted: nodes that links connect, both ways"
                    )
            paths[place] = self._path(there or [], back or [])
        return paths

    def _path(self, there: list[int], back: list[int]) -> Path:
        rates = [min(self.ways[i].link.rate for i in path) for path in (there, back)]
        rtt_s = math.fsum(self.ways[i].link.delay for i in (*there, *back))
        return Path(tuple(there), tuple(back), float(rates[0]), float(rates[1]), rtt_s)


def _ways(links: Sequence[Link]) -> Iterator[Way]:
    """First what the links say themselves, then the ways back."""
    for back in (False, True):
        for position, link in enumerate(links):
            if link.duplex or not back:
                yield Way(link.names()[back], link, position, back)


def check_ends(parts: Sequence[tuple[str, Placed]]) -> None:
    """Whether each flow or background says between which nodes it is, and no RTT; ValueError if not."""
    for place, part in parts:
        for key, node in (("from", part.origin), ("to", part.to)):
            if node is None:
                raise ValueError(f"{place}.{key} is missing; accepted: the name of a node")
        if getattr(part, "rtt", None) is not None:
            raise ValueError(
                f"{place}.rtt does not go with [[link]]: the delays of links make it; leave it out"
            )


def check_no_ends(parts: Sequence[tuple[str, Placed]]) -> None:
    """Whether no flow or background of a dumbbell names nodes; ValueError if one does."""
    for place, part in parts:
        for key, node in (("from", part.origin), ("to", part.to)):
            if node is not None:
                raise ValueError(f"{place}.{key} goes with [[link]], not with [bottleneck]; accepted: rtt")


def _differ(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'two {what} are called "{twice}"; accepted: names that differ')
