"""The one definition of a scenario: what a file may say, its defaults, and how problems with it are told.

Attributes hold plain SI values (seconds, bit/s, bytes); files and `Scenario.to_toml` always write units.
Nothing here knows how a scenario is run: `longfat.runs.plan` turns it into numbers for the core.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import tomli_w
from pydantic import (
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    model_validator,
)

from longfat import _core
from longfat.errors import InputError, ScenarioError
from longfat.scenario import problems, topology
from longfat.scenario.background import Background, Rates
from longfat.scenario.distributions import RTT_SUCH_AS, DrawnRtt, DrawnTime, Exponential, is_drawn, least
from longfat.scenario.fields import (
    BUFFER_PACKETS,
    MOST_FLOWS,
    SEEDS,
    Accepts,
    AccessRate,
    BottleneckRate,
    Buffer,
    BufferSize,
    Duration,
    FlowCount,
    GilbertElliott,
    Loss,
    LossModel,
    Period,
    Queue,
    QueueSpec,
    RandomLoss,
    Rate,
    Router,
    RouterSpec,
    Rtt,
    Seed,
    Time,
    Transfer,
    whole_number,
    write_buffer,
)
from longfat.scenario.override import override
from longfat.scenario.topology import Link, Node, Placed, Topology
from longfat.scenario.topology import Path as Route
from longfat.scenario.transport import Part, Transport
from longfat.units import RATE, TIME

LEAST_ACCESS_BPS = 1e9
"""Access links are this fast, or `ACCESS_FACTOR` times the bottleneck where that is as fast itself."""
ACCESS_FACTOR = 10.0

LEAST_REVERSE_PACKETS = 1000
"""The reverse path's buffer is the forward one's, but at least this: ACKs are not dropped by accident."""

LINKS = ("bottleneck", "reverse")
"""Of a dumbbell, in the plan's order."""

IDENTICAL = "nothing in this scenario is random: repeats are identical"

MOST_SAMPLES = 20_000_000
"""Of all flows or all links of a run: 1.6 GB of series."""

Window = Annotated[
    tuple[float, float],
    PlainValidator(lambda value: _window(value)),
    PlainSerializer(lambda value: [TIME.write(value[0]), TIME.write(value[1])]),
    Accepts('two times such as ["100 s", "600 s"]'),
]


def _window(value: Any) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError('accepted: two times such as ["100 s", "600 s"]')
    begin, end = map(TIME.parse, value)
    if not 0.0 <= begin < end:
        raise ValueError('accepted: two times, the lesser first, such as ["100 s", "600 s"]')
    return begin, end


def access_bps(rate_bps: float) -> float:
    """The rate of hosts' own links beside a link of this rate, where none is given."""
    return rate_bps * ACCESS_FACTOR if rate_bps >= LEAST_ACCESS_BPS else LEAST_ACCESS_BPS


class Bottleneck(Part):
    """A dumbbell's shared link with its queue, the way back, and the access links around it."""

    rate: BottleneckRate
    """The greatest one where it varies; of a trace the mean."""
    buffer: Buffer = BufferSize(bdp=1)  # type: ignore[arg-type]  # one BDP: Villamizar and Song, CCR 1994
    buffer_rtt: Rtt | None = None
    """The RTT of "% BDP"; the smallest RTT of a flow if not given."""
    queue: Queue = QueueSpec("droptail")
    router: Router | None = None
    """An explicit-rate router around the queue."""
    loss: Loss = RandomLoss(0.0)
    """Of data packets that enter the bottleneck."""
    ack_loss: Loss = RandomLoss(0.0)
    """Of ACKs that enter the reverse path."""
    access_rate: AccessRate | None = None
    reverse_rate: Rate | None = None
    reverse_buffer: Buffer | None = None
    reverse_queue: Queue = QueueSpec("droptail")

    @model_validator(mode="after")
    def _queue_goes_with_the_rate(self) -> Self:
        _core.check_queue(self.queue.kind, self.queue.parameters, self.rate)
        back = self.reverse_queue
        try:
            _core.check_queue(back.kind, back.parameters, self.reverse_rate or float(self.rate))
        except ValueError as error:
            raise ValueError(f"reverse_queue: {error}") from None
        return self

    def filled(self) -> Self:
        """With the values that follow from others written out."""
        return self.model_copy(
            update={
                "access_rate": self.access_rate or access_bps(self.rate),
                "reverse_rate": self.reverse_rate or float(self.rate),
                "queue": self.queue.filled(),
                "reverse_queue": self.reverse_queue.filled(),
                "router": self.router and self.router.filled(),
            }
        )


class Flow(Placed):
    """One flow, or `count` of them."""

    name: str | None = None
    """The running number if not given; with count > 1 followed by one."""
    rtt: DrawnRtt = None  # type: ignore[assignment]  # given in a dumbbell, and only there
    """Two-way propagation delay of the whole path."""
    start: DrawnTime = 0.0
    stop: Time | None = None
    bytes: Transfer | None = None
    """Payload after which it is complete; None: endless."""
    count: FlowCount = 1
    stagger: Time = 0.0
    """The n-th of `count` starts n x stagger later than the first."""
    direction: Literal["forward", "reverse"] = "forward"

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        if self.stop is not None and self.stop <= least(self.start):
            raise ValueError(f"stop = {TIME.write(self.stop)} is not after its start")
        if self.stagger and isinstance(self.start, Exponential):
            raise ValueError(
                "stagger does not go with an exponential start; accepted: a fixed or uniform start"
            )
        if self.name is not None and not (
            self.name.strip() and self.name.isprintable() and len(self.name) <= 100
        ):
            raise ValueError("name: accepted: 1 to 100 printable characters")
        return self


class Sample(Part):
    """How often series are sampled."""

    cwnd: Period = 0.1
    """Everything about flows."""
    queue: Period = 0.1
    """Everything about links."""
    events: bool = False
    """Also log each loss, mark, timeout and recovery of the flows."""


class Scenario(Part):
    """A network, its flows and its traffic."""

    title: str = ""
    duration: Duration
    seed: Seed = 1
    window: Window | None = None
    """Figures are restricted to it; the whole run if not given."""
    bottleneck: Bottleneck = None  # type: ignore[assignment]  # where there are no links
    node: list[Node] = Field(default_factory=list)
    link: list[Link] = Field(default_factory=list)
    flow: list[Flow] = Field(default_factory=list)
    background: list[Background] = Field(default_factory=list)
    sample: Sample = Sample()

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        self._check_network()
        if not self.flow and not self.background:
            raise ValueError("nothing to send: give at least one [[flow]] or [[background]]")
        if self.window is not None and self.window[1] > self.duration:
            raise ValueError(f"window ends after the run's {TIME.write(self.duration)}")
        number = sum(flow.count for flow in self.flow)
        if number > MOST_FLOWS:
            raise ValueError(f"{number} flows; accepted: up to {MOST_FLOWS}")
        names = self.flow_names() + self.background_names()
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f'two flows or backgrounds are called "{twice}"; accepted: names that differ')
        if self.topology is None and not self.flow and any(part.rtt is None for part in self.background):
            raise ValueError("background.rtt is missing; without a flow there is none to take it from")
        for key, period, series in (
            ("cwnd", self.sample.cwnd, number),
            ("queue", self.sample.queue, len(self.topology.ways) if self.topology else len(LINKS)),
        ):
            if self.duration / period * series > MOST_SAMPLES:
                least_period = self.duration * series / MOST_SAMPLES
                raise ValueError(
                    f'sample.{key} = "{TIME.write(period)}" gives more than {MOST_SAMPLES} samples; '
                    f'accepted: from "{least_period:.2g} s"'
                )
        access_bps = self.access_bps()
        parts: list[tuple[str, Transport]] = [(f"flow.{i}", flow) for i, flow in enumerate(self.flow)]
        parts += [
            (f"background.{i}", self._loaded(part, f"background.{i}"))
            for i, part in enumerate(self.background)
        ]
        for place, part in parts:
            rate_bps = part.algorithm.rate_bps()
            if rate_bps is not None and rate_bps > access_bps:
                raise ValueError(
                    f'{place}.algorithm.rate = "{RATE.write(rate_bps)}" is above the host\'s own link; '
                    f'accepted: up to "{RATE.write(access_bps)}"'
                    + (" (bottleneck.access_rate)" if self.topology is None else "")
                )
        for key, buffer, rate in self._buffers():
            self._check_buffer(key, buffer, rate)
        return self

    def _check_network(self) -> None:
        """A bottleneck, or links; and every flow says what goes with it."""
        parts = [(f"flow.{i}", part) for i, part in enumerate(self.flow)]
        others = [(f"background.{i}", part) for i, part in enumerate(self.background)]
        is_dumbbell = "bottleneck" in self.model_fields_set
        if self.link and is_dumbbell:
            raise ValueError("[bottleneck] and [[link]] exclude each other; accepted: one of them")
        if self.link:
            topology.check_ends([*parts, *others])
            self.paths()
            return
        if self.node:
            raise ValueError("[[node]] without [[link]]; accepted: both, or [bottleneck]")
        if not is_dumbbell:
            raise ValueError(
                "bottleneck is missing; accepted: a table, [bottleneck], or [[link]] and [[node]]"
            )
        topology.check_no_ends([*parts, *others])
        for place, part in parts:
            if "rtt" not in part.model_fields_set:
                raise ValueError(f"{place}.rtt is missing; accepted: {RTT_SUCH_AS.text}")

    @property
    def topology(self) -> Topology | None:
        """Its links and their ways; None of a dumbbell."""
        return Topology(self.node, self.link) if self.link else None

    def paths(self) -> dict[str, Route]:
        """The paths of flows and backgrounds by place such as "flow.0"; none in a dumbbell."""
        parts: list[tuple[str, Placed]] = [(f"flow.{i}", part) for i, part in enumerate(self.flow)]
        parts += [(f"background.{i}", part) for i, part in enumerate(self.background)]
        known = self.topology
        return known.paths({p: (part.origin or "", part.to or "") for p, part in parts}) if known else {}

    def _routers_of(self, place: str, direction: str) -> dict[str, RouterSpec | None]:
        """The router of each link that a flow's data cross."""
        known = self.topology
        if known is None:
            forward = direction == "forward"
            return {LINKS[0]: self.bottleneck.router} if forward else {LINKS[1]: None}
        path = self.paths()[place]
        ways = [known.ways[n] for n in (path.forward if direction == "forward" else path.reverse)]
        return {way.name: None if way.back else way.link.router for way in ways}

    def rates(self, place: str) -> Rates:
        """What the load of this background goes by."""
        return self.paths()[place] if self.link else self.bottleneck

    def access_bps(self) -> float:
        """The rate of the hosts' own links."""
        if not self.link:
            return self.bottleneck.access_rate or access_bps(self.bottleneck.rate)
        return access_bps(max(link.rate for link in self.link))

    def _loaded(self, part: Background, place: str) -> Background:
        """With what its load amounts to; with no RTT of its own where the path has one."""
        if not self.link:
            return part.with_load(self.bottleneck)
        path = self.paths()[place]
        loaded = part.model_copy(update={"rtt": path.rtt_s}).with_load(path)
        return loaded.model_copy(update={"rtt": None})

    def _buffers(self) -> list[tuple[str, BufferSize, float]]:
        """Key, size and the rate of the link behind it, of those that are given."""
        if self.link:
            return [(f"link.{i}.buffer", link.buffer, link.rate) for i, link in enumerate(self.link)]
        there, back = self.bottleneck.rate, self.bottleneck.reverse_rate
        found = [("bottleneck.buffer", self.bottleneck.buffer, there)]
        if self.bottleneck.reverse_buffer is not None:
            found.append(("bottleneck.reverse_buffer", self.bottleneck.reverse_buffer, back or there))
        return found

    def _check_buffer(self, key: str, buffer: BufferSize, rate_bps: float) -> None:
        largest = max(part.packet_bytes for part in (*self.flow, *self.background))
        if buffer.bytes is not None and buffer.bytes < largest:
            raise ValueError(
                f'{key} = "{buffer.bytes} B": less than a packet of {largest:g} B; '
                'accepted: "20 % BDP", "175 packets", "512 KiB" or "10 ms"'
            )
        if buffer.bdp is not None and self.buffer_rtt_s() == 0.0:
            raise ValueError(
                f"{key} in BDP: links without delay have none; accepted: packets, bytes or a time"
                if self.link
                else f"{key} in BDP: an exponential rtt has no least one; give bottleneck.buffer_rtt"
            )
        number = self.packets(buffer, rate_bps)
        if number > BUFFER_PACKETS[1]:
            raise ValueError(
                f'{key} = "{write_buffer(buffer)}" is {float(number):.3g} packets; '
                f"accepted: up to {BUFFER_PACKETS[1]:g}"
            )

    @property
    def packet_bytes(self) -> float:
        """The largest full packet of IP that a flow sends (of the background if there are no flows)."""
        return max(part.packet_bytes for part in self.flow or self.background)

    def flow_names(self) -> list[str]:
        """Names of all flows, each of `count` its own: given ones, else running numbers from 1."""
        names: list[str] = []
        for flow in self.flow:
            if flow.name is None:
                names += [str(len(names) + i + 1) for i in range(flow.count)]
            elif flow.count == 1:
                names.append(flow.name)
            else:
                names += [f"{flow.name}-{i + 1}" for i in range(flow.count)]
        return names

    def background_names(self) -> list[str]:
        """Names of the backgrounds: given ones, else kind and number."""
        return [part.name or f"{part.kind}-{i + 1}" for i, part in enumerate(self.background)]

    def buffer_rtt_s(self) -> float:
        """The RTT of "% BDP": the one given, else the smallest that a flow can have."""
        if self.link:
            kind = "flow" if self.flow else "background"
            return min(path.rtt_s for place, path in self.paths().items() if place.startswith(kind))
        if self.bottleneck.buffer_rtt is not None:
            return self.bottleneck.buffer_rtt
        parts = self.flow or self.background
        return min(least(part.rtt) for part in parts if part.rtt is not None)

    def figures_window_s(self) -> tuple[float, float]:
        """The window of the figures: the one given, else the whole run."""
        return self.window or (0.0, self.duration)

    def packets(self, buffer: BufferSize, rate_bps: float) -> Fraction:
        """A buffer on a link of this rate, in full packets; not rounded."""
        size = buffer.limit_bytes(rate_bps, self.buffer_rtt_s())
        return Fraction(buffer.packets or 0) if size is None else size / Fraction(repr(self.packet_bytes))

    def varies(self) -> bool:
        """Whether another seed can give another result, as a user's own algorithm may."""

        def random(loss: LossModel) -> bool:
            match loss:
                case RandomLoss(probability):
                    return probability > 0.0
                case _:
                    return isinstance(loss, GilbertElliott)

        return bool(self.background) or any(
            (
                any(
                    random(link.loss) or random(link.ack_loss) or link.queue.random
                    for link in (*self.link, *((self.bottleneck,) if not self.link else ()))
                ),
                not self.link and self.bottleneck.reverse_queue.random,
                any(
                    is_drawn(flow.rtt)
                    or is_drawn(flow.start)
                    or flow.host_tick > 0.0
                    or flow.algorithm.random
                    for flow in self.flow
                ),
            )
        )

    def reverse_buffer(self) -> BufferSize:
        """The reverse path's: the one given, else the forward one's but at least `LEAST_REVERSE_PACKETS`."""
        if self.bottleneck.reverse_buffer is not None:
            return self.bottleneck.reverse_buffer
        forward = math.floor(self.packets(self.bottleneck.buffer, self.bottleneck.rate))
        return BufferSize(packets=max(forward, LEAST_REVERSE_PACKETS))

    def warnings(self) -> list[str]:
        """What is probably not meant, but can be run."""
        found = []
        for key, buffer, rate in self._buffers():
            if self.packets(buffer, rate) < 1:
                share = float(self.packets(buffer, rate))
                found.append(f'{key} = "{write_buffer(buffer)}" is {share:.3g} packets; 1 packet is used')
        for i, flow in enumerate(self.flow):
            if least(flow.start) >= self.duration:
                found.append(f"flow.{i} starts at {TIME.write(least(flow.start))}, not before the run's end")
        return found

    def notes(self) -> list[str]:
        """What to know when reading the figures: flows that cross queues without the router they speak to."""
        found = []
        for i, flow in enumerate(self.flow):
            routers = self._routers_of(f"flow.{i}", flow.direction)
            kinds = {name: router and router.kind for name, router in routers.items()}
            bare = [name for name, kind in kinds.items() if kind is None]
            if flow.algorithm.explicit and bare:
                what = f"flow.{i} ({flow.algorithm.name}) crosses links without a router"
                found.append(f"{what}: {', '.join(bare)}")
            spoken = {name: router.protocol for name, router in routers.items() if router}
            name = flow.algorithm.name.removesuffix("-r")
            foreign = [link for link, protocol in spoken.items() if protocol != name]
            if flow.algorithm.explicit and foreign:
                what = f"flow.{i} ({flow.algorithm.name}) crosses routers of another protocol"
                found.append(f"{what}: {', '.join(foreign)}")
            found += self._other_intervals(i, flow, routers)
            other = [name for name, kind in kinds.items() if kind != "quickstart"]
            if flow.quick_start is not None and other:
                what = f"flow.{i} asks for a rate by Quick-Start, but routers on its way take no part"
                found.append(f"{what}: {', '.join(other)}")
        return found

    @staticmethod
    def _other_intervals(i: int, flow: Flow, routers: Mapping[str, RouterSpec | None]) -> list[str]:
        """A note of VCP's t_rho, which its senders and its routers have each of their own."""
        if flow.algorithm.name != "vcp":
            return []
        own = flow.algorithm.filled().parameters["interval"]
        measured = {
            name: router.filled().parameters["interval"]
            for name, router in routers.items()
            if router and router.kind == "vcp"
        }
        unlike = [f"{name} ({ms:g} ms)" for name, ms in measured.items() if ms != own]
        what = f"flow.{i} (vcp) scales by an interval of {own:g} ms, routers on its way measure over another"
        return [f"{what}: {', '.join(unlike)}"] if unlike else []

    def filled(self) -> Self:
        """The same scenario with every default written out, also those that follow from other values."""

        def transport(part: Transport) -> dict[str, Any]:
            return {"algorithm": part.algorithm.filled()}

        first_rtt = self.flow[0].rtt if self.flow else None

        def background(part: Background, name: str, place: str) -> Background:
            if self.link:
                return self._loaded(part.model_copy(update=transport(part) | {"name": name}), place)
            rtt: Any = first_rtt if part.rtt is None else part.rtt
            named = part.model_copy(update=transport(part) | {"name": name, "rtt": rtt})
            return named.with_load(bottleneck)

        bottleneck = self.bottleneck
        if not self.link:
            filled = bottleneck.filled().model_copy(update={"reverse_buffer": self.reverse_buffer()})
            bottleneck = filled.model_copy(update={"buffer_rtt": self.buffer_rtt_s() or None})
        return self.model_copy(
            update={
                "window": self.figures_window_s(),
                "bottleneck": bottleneck,
                "link": [link.filled() for link in self.link],
                "flow": [flow.model_copy(update=transport(flow)) for flow in self.flow],
                "background": [
                    background(part, name, f"background.{i}")
                    for i, (part, name) in enumerate(
                        zip(self.background, self.background_names(), strict=True)
                    )
                ],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` reads back: texts with units, a user's own algorithm as it is."""
        return self.model_dump(exclude_none=True, by_alias=True)

    def to_toml(self) -> str:
        """What `from_toml` reads back."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True, by_alias=True))

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """The same scenario but for some dotted keys, list positions as numbers: {"flow.0.rtt": "82 ms"}."""
        data = self.to_dict()
        for key, value in values.items():
            override(data, key, value, "scenario")
        return self.from_dict(data)

    def repeat(self, number: int, source: str = "scenario") -> Self:
        """The same scenario with the seed `number` further on; ScenarioError where there is no such seed."""
        seed = self.seed + number
        try:
            return self.model_copy(update={"seed": whole_number(seed, SEEDS)})
        except ValueError as error:
            raise ScenarioError([f"{source}: seed = {seed}: {error}"]) from None

    def after_warmup(self, warmup: str) -> Self:
        """The same scenario with figures from `warmup`, a time with its unit, to the end; or ValueError."""
        if not 0.0 <= TIME.parse(warmup) < self.duration:
            raise ValueError(f"accepted: a time before the run's end, {TIME.write(self.duration)}")
        return self.with_values({"window": [warmup, TIME.write(self.duration)]})

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, source: str = "scenario", base: Path | None = None
    ) -> Self:
        """From nested tables as in a file. ScenarioError has one line per problem.

        Args:
            data: the tables.
            source: what problems are told of, such as the file's name.
            base: folder that "file.py:Class" is relative to; the current one by default.
        """
        try:
            return cls.model_validate(data, context={"base": base or Path()})
        except ValidationError as error:
            raise ScenarioError(problems.lines(error, cls, source)) from None

    @classmethod
    def from_toml(
        cls,
        text: str,
        *,
        source: str = "scenario",
        base: Path | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> Self:
        """From the text of a file; `overrides` are dotted keys with values that replace the text's."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError([f"{source}: not TOML: {error}"]) from None
        for key, value in (overrides or {}).items():
            override(data, key, value, source)
        return cls.from_dict(data, source=source, base=base)

    @classmethod
    def load(cls, path: str | Path, *, overrides: Mapping[str, Any] | None = None) -> Self:
        """From a file; `overrides` as in `from_toml`."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise InputError(f"{path}: {reason}; accepted: a scenario file (TOML)") from None
        return cls.from_toml(text, source=str(path), base=Path(path).parent, overrides=overrides)
