"""The network of a scenario: the links that packets cross, and the numbers that follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from longfat.scenario import topology
from longfat.scenario.background import Background
from longfat.scenario.bottleneck import Bottleneck, default_access_bps
from longfat.scenario.buffers import BUFFER_PACKETS, BufferSize, write_buffer
from longfat.scenario.distributions import RTT_SUCH_AS, least
from longfat.scenario.flow import Flow
from longfat.scenario.named import QueueSpec, RouterSpec
from longfat.scenario.topology import Link, Node, Path, Topology
from longfat.units import RATE

LINKS = ("bottleneck", "reverse")
"""The links of a dumbbell, in the plan's order."""
BOTTLENECK, REVERSE = range(len(LINKS))

PROGRAM_PACKET_BYTES = 1500.0
"""The largest packet of IP that programs send where there are neither flows nor backgrounds."""
LEAST_REVERSE_PACKETS = 1000
"""The reverse path's buffer is the forward one's, but at least this, so that it drops no ACKs by accident."""


class Network:
    """A bottleneck or links, and the path of every flow and background. Everything is worked out once.

    Attributes:
        parts: the flows and the backgrounds by key, such as "flow.0".
        bottleneck: the shared link of a dumbbell; None with `[[link]]`.
        topology: the links and their ways; None for a dumbbell.
        paths: the path of each part by its key.
        access_bps: the rate of the hosts' own links.
        packet_bytes: the largest full packet of IP that a flow sends (a background where there is no flow).
        buffer_rtt_s: the RTT of "% BDP".
        program_rtt_s: the RTT of programs' connections; 0 if nothing says it.

    Raises:
        ValueError: the parts do not fit together.
    """

    def __init__(
        self,
        bottleneck: Bottleneck | None,
        nodes: Sequence[Node],
        links: Sequence[Link],
        flows: Sequence[Flow],
        backgrounds: Sequence[Background],
    ) -> None:
        self.parts: dict[str, Flow | Background] = {f"flow.{i}": part for i, part in enumerate(flows)}
        self.parts |= {f"background.{i}": part for i, part in enumerate(backgrounds)}
        self.bottleneck = bottleneck
        self.links = links
        _check_parts(bottleneck, nodes, links, self.parts)
        self.topology = Topology(nodes, links) if links else None
        self.paths: Mapping[str, Path] = self._paths()
        self.access_bps = (
            bottleneck.access_bps if bottleneck else default_access_bps(max(link.rate for link in links))
        )
        measured: Sequence[Flow | Background] = list(flows) or list(backgrounds)
        self.packet_bytes = max((part.packet_bytes for part in measured), default=PROGRAM_PACKET_BYTES)
        least_s = self._least_rtt_s("flow" if flows else "background")
        given_s = bottleneck.rtt if bottleneck else None
        self.program_rtt_s = least_s if given_s is None else given_s
        given_s = bottleneck.buffer_rtt if bottleneck else None
        self.buffer_rtt_s = (least_s if self.parts else self.program_rtt_s) if given_s is None else given_s

    def _paths(self) -> Mapping[str, Path]:
        if self.topology is not None:
            return self.topology.paths({key: (p.origin or "", p.to or "") for key, p in self.parts.items()})
        assert self.bottleneck is not None
        # The RTT is propagation of the whole path, spread by the core: the links themselves add none.
        rates = float(self.bottleneck.rate), self.bottleneck.reverse_bps
        return dict.fromkeys(self.parts, Path((BOTTLENECK,), (REVERSE,), *rates, rtt_s=None))

    def _least_rtt_s(self, kind: str) -> float:
        """The smallest RTT that a flow can have; 0 without any."""
        keys = [key for key in self.parts if key.startswith(kind)]
        if self.topology is not None:
            return min((self.paths[key].rtt_s or 0.0 for key in keys), default=0.0)
        rtts = [rtt for key in keys if (rtt := self.parts[key].rtt) is not None]
        return min(map(least, rtts), default=0.0)

    @property
    def names(self) -> list[str]:
        """The names of all links, ways back included."""
        return [way.name for way in self.topology.ways] if self.topology else list(LINKS)

    def routers(self, key: str, direction: str) -> dict[str, RouterSpec | None]:
        """The router of each link, by name, that the data of a flow cross."""
        path = self.paths[key]
        crossed = path.forward if direction == "forward" else path.reverse
        if self.topology is None:
            router = self.bottleneck.router if self.bottleneck else None
            return {LINKS[n]: router if n == BOTTLENECK else None for n in crossed}
        ways = [self.topology.ways[n] for n in crossed]
        return {way.name: None if way.back else way.link.router for way in ways}

    def queues(self, key: str, direction: str) -> dict[str, QueueSpec]:
        """The queue of each link, by name, that the data of a flow cross."""
        path = self.paths[key]
        crossed = path.forward if direction == "forward" else path.reverse
        if self.topology is None:
            assert self.bottleneck is not None
            queues = {BOTTLENECK: self.bottleneck.queue, REVERSE: self.bottleneck.reverse_queue}
            return {LINKS[n]: queues[n] for n in crossed}
        ways = [self.topology.ways[n] for n in crossed]
        return {way.name: QueueSpec("droptail") if way.back else way.link.queue for way in ways}

    def packets(self, buffer: BufferSize, rate_bps: float) -> Fraction:
        """The size of a buffer on a link of this rate, in full packets; not rounded."""
        size = buffer.limit_bytes(rate_bps, self.buffer_rtt_s)
        return Fraction(buffer.packets or 0) if size is None else size / Fraction(repr(self.packet_bytes))

    @cached_property
    def reverse_buffer(self) -> BufferSize:
        """The buffer of a dumbbell's way back: the given one, else the forward one with its least size."""
        assert self.bottleneck is not None
        if self.bottleneck.reverse_buffer is not None:
            return self.bottleneck.reverse_buffer
        forward = math.floor(self.packets(self.bottleneck.buffer, self.bottleneck.rate))
        return BufferSize(packets=max(forward, LEAST_REVERSE_PACKETS))

    def buffers(self) -> Iterator[tuple[str, BufferSize, float]]:
        """Yields key, size and link rate of each buffer that is given."""
        for i, link in enumerate(self.links):
            yield f"link.{i}.buffer", link.buffer, link.rate
        if self.bottleneck is not None:
            yield "bottleneck.buffer", self.bottleneck.buffer, self.bottleneck.rate
            if self.bottleneck.reverse_buffer is not None:
                yield "bottleneck.reverse_buffer", self.bottleneck.reverse_buffer, self.bottleneck.reverse_bps

    def loaded(self, part: Background, key: str) -> Background:
        """The background with its load worked out; it has no RTT of its own where the path has one."""
        path = self.paths[key]
        if path.rtt_s is None:
            return part.with_load(path)
        loaded = part.model_copy(update={"rtt": path.rtt_s}).with_load(path)
        return loaded.model_copy(update={"rtt": None})

    def check_sources(self) -> None:
        """ValueError if a source whose rate the user sets is faster than its host's link."""
        for key, part in self.parts.items():
            sent = self.loaded(part, key) if not isinstance(part, Flow) else part
            rate_bps = sent.algorithm.rate_bps()
            if rate_bps is not None and rate_bps > self.access_bps:
                raise ValueError(
                    f'{key}.algorithm.rate = "{RATE.write(rate_bps)}" is above the host\'s own link; '
                    f'accepted: up to "{RATE.write(self.access_bps)}"'
                    + (" (bottleneck.access_rate)" if self.topology is None else "")
                )

    def check_buffers(self) -> None:
        """ValueError if a buffer holds no packet, more than the core can count, or a share of no BDP."""
        largest = max((part.packet_bytes for part in self.parts.values()), default=0.0)
        for key, buffer, rate_bps in self.buffers():
            if buffer.bytes is not None and buffer.bytes < largest:
                raise ValueError(
                    f'{key} = "{buffer.bytes} B": less than a packet of {largest:g} B; '
                    'accepted: "20 % BDP", "175 packets", "512 KiB" or "10 ms"'
                )
            if buffer.bdp is not None and self.buffer_rtt_s == 0.0:
                raise ValueError(
                    f"{key} in BDP: links without delay have none; accepted: packets, bytes or a time"
                    if self.topology
                    else f"{key} in BDP: an exponential rtt has no least one; accepted: bottleneck.buffer_rtt"
                )
            number = self.packets(buffer, rate_bps)
            if number > BUFFER_PACKETS[1]:
                raise ValueError(
                    f'{key} = "{write_buffer(buffer)}" is {float(number):.3g} packets; '
                    f"accepted: up to {BUFFER_PACKETS[1]:g}"
                )


def _check_parts(
    bottleneck: Bottleneck | None,
    nodes: Sequence[Node],
    links: Sequence[Link],
    parts: Mapping[str, Flow | Background],
) -> None:
    """ValueError unless there is a bottleneck or there are links, and every part has the matching keys."""
    if links and bottleneck is not None:
        raise ValueError("[bottleneck] and [[link]] exclude each other; accepted: one of them")
    if links:
        topology.check_ends(list(parts.items()))
        return
    if nodes:
        raise ValueError("[[node]] without [[link]]; accepted: both, or [bottleneck]")
    if bottleneck is None:
        raise ValueError("bottleneck is missing; accepted: a table, [bottleneck], or [[link]] and [[node]]")
    topology.check_no_ends(list(parts.items()))
    for key, part in parts.items():
        if isinstance(part, Flow) and "rtt" not in part.model_fields_set:
            raise ValueError(f"{key}.rtt is missing; accepted: {RTT_SUCH_AS}")
