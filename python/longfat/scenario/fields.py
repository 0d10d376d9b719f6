"""The values of scenario keys: how each is read, checked and written. Limits are constants, each once."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, SerializationInfo, ValidationInfo

from longfat.scenario import capacity, loading, registry
from longfat.units import RATE, SIZE, TIME, Dimension, packets, split, to_float

RATES_BPS = (1e3, 1e13)
ACCESS_RATES_BPS = (1e3, 1e14)
"""Room for ten times the fastest bottleneck."""
QUICK_START_RATES_BPS = (80e3, 1_310_720e3)
"""The least and greatest rate that a request can have (RFC 4782, section 3.1)."""
DURATIONS_S = (1e-3, 1e6)
TIMES_S = (0.0, DURATIONS_S[1])
RTTS_S = (1e-6, 1e3)
SAMPLES_S = (1e-6, 1e6)
TICKS_S = (0.0, 10.0)
ACK_TIMEOUTS_S = (1e-6, 10.0)
RTO_FLOORS_S = (0.0, 60.0)
GAPS_S = (1e-6, DURATIONS_S[1])
MSS_BYTES = (64, 65_483)
"""The greatest leaves room for the headers in an IP packet of 65535 bytes."""
TRANSFER_BYTES = (1, 1e15)
PAGE_BYTES = (1, 1e12)
LARGEST_FILE_BYTES = (1e6, 1e12)
"""The least lies above the 133 kB at which SURGE's tail begins."""
BUFFER_PACKETS = (1, 10**9)
BUFFER_BDPS = 10_000
WINDOWS_SEGMENTS = (1.0, 1e9)
MOST_FLOWS = 100_000
MOST_SESSIONS = 100_000
SEEDS = (0, 2**63 - 1)


@dataclass(frozen=True)
class Accepts:
    """What a key accepts, for the message when it is missing."""

    text: str


def _in_range(value: float, limits: tuple[float, float], write: Callable[[float], str]) -> float:
    least, greatest = limits
    if not least <= value <= greatest:
        raise ValueError(f"accepted: from {write(least)} to {write(greatest)}")
    return value


def _quantity(dimension: Dimension, limits: tuple[float, float]) -> PlainValidator:
    def check(value: Any) -> float:
        return _in_range(dimension.parse(value), limits, dimension.write)

    return PlainValidator(check)


_TIME_SUCH_AS = Accepts('a time such as "5 s"')
Duration = Annotated[float, _quantity(TIME, DURATIONS_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
Time = Annotated[float, _quantity(TIME, TIMES_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
Rtt = Annotated[float, _quantity(TIME, RTTS_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
Period = Annotated[float, _quantity(TIME, SAMPLES_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
Tick = Annotated[float, _quantity(TIME, TICKS_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
AckTimeout = Annotated[float, _quantity(TIME, ACK_TIMEOUTS_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
RtoFloor = Annotated[float, _quantity(TIME, RTO_FLOORS_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
Gap = Annotated[float, _quantity(TIME, GAPS_S), PlainSerializer(TIME.write), _TIME_SUCH_AS]
Mss = Annotated[
    float, _quantity(SIZE, MSS_BYTES), PlainSerializer(SIZE.write), Accepts('a size such as "1448 B"')
]
_SIZE_SUCH_AS = Accepts('a size such as "10 MB"')
Transfer = Annotated[float, _quantity(SIZE, TRANSFER_BYTES), PlainSerializer(SIZE.write), _SIZE_SUCH_AS]
Page = Annotated[float, _quantity(SIZE, PAGE_BYTES), PlainSerializer(SIZE.write), _SIZE_SUCH_AS]
LargestFile = Annotated[
    float, _quantity(SIZE, LARGEST_FILE_BYTES), PlainSerializer(SIZE.write), _SIZE_SUCH_AS
]


def _rate(limits: tuple[float, float]) -> PlainValidator:
    def check(value: Any) -> float:
        if isinstance(value, dict):
            raise ValueError(
                f"only bottleneck.rate can vary; accepted: a constant rate such as {RATE.accepted}"
            )
        return _in_range(RATE.parse(value), limits, RATE.write)

    return PlainValidator(check)


_RATE_SUCH_AS = Accepts(f"a rate such as {RATE.accepted}")
Rate = Annotated[float, _rate(RATES_BPS), PlainSerializer(RATE.write), _RATE_SUCH_AS]
BottleneckRate = Annotated[
    float,
    PlainValidator(lambda value, info: capacity.read(value, RATES_BPS, (info.context or {}).get("base"))),
    PlainSerializer(capacity.write),
    _RATE_SUCH_AS,
]
QuickStartRate = Annotated[float, _rate(QUICK_START_RATES_BPS), PlainSerializer(RATE.write), _RATE_SUCH_AS]
AccessRate = Annotated[float, _rate(ACCESS_RATES_BPS), PlainSerializer(RATE.write), _RATE_SUCH_AS]


def _number(limits: tuple[float, float], accepted: str) -> PlainValidator:
    def check(value: Any) -> float:
        return plain_number(value, limits, accepted)

    return PlainValidator(check)


def plain_number(value: Any, limits: tuple[float, float], accepted: str) -> float:
    """A bare number within limits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not limits[0] <= value <= limits[1]:
        raise ValueError(f"accepted: {accepted}")
    return float(value)


def whole_number(value: Any, limits: tuple[int, int]) -> int:
    """A bare whole number within limits."""
    if isinstance(value, bool) or not isinstance(value, int) or not limits[0] <= value <= limits[1]:
        raise ValueError(f"accepted: a whole number from {limits[0]} to {limits[1]}")
    return value


def _whole(least: int, greatest: int) -> PlainValidator:
    return PlainValidator(lambda value: whole_number(value, (least, greatest)))


Seed = Annotated[int, _whole(*SEEDS), Accepts("a whole number")]
FlowCount = Annotated[int, _whole(1, MOST_FLOWS), Accepts("a whole number")]
Sessions = Annotated[int, _whole(1, MOST_SESSIONS), Accepts("a whole number")]
WebSessions = Annotated[int, _whole(0, MOST_SESSIONS), Accepts("a whole number")]
"""None is a point of a grid."""
Shape = Annotated[
    float,
    _number((1.001, 100.0), "a Pareto shape from 1.001 to 100 (at 1 and below the mean is infinite)"),
    Accepts("1.2"),
]

TailIndex = Annotated[float, _number((0.1, 100.0), "a Pareto tail index from 0.1 to 100"), Accepts("1.1")]
LogSize = Annotated[
    float, _number((0.0, 30.0), "the mean of the logarithm of bytes, from 0 to 30"), Accepts("9.357")
]
LogSpread = Annotated[
    float,
    _number((0.01, 10.0), "the standard deviation of the logarithm of bytes, from 0.01 to 10"),
    Accepts("1.318"),
]
Share = Annotated[float, _number((0.0, 1.0), "a share from 0 to 1"), Accepts("0.07")]

INFINITE = "infinite"


def _segments(limits: tuple[float, float], or_infinite: bool) -> PlainValidator:
    def check(value: Any) -> float:
        if or_infinite and (value == INFINITE or value == math.inf):
            return math.inf
        amount, unit = split(value) or (None, "")
        number = to_float(amount) if amount is not None and unit in ("segments", "segment") else value
        endless = f', or "{INFINITE}"' if or_infinite else ""
        return plain_number(
            number, limits, f"a number of segments from {limits[0]:g} to {limits[1]:g}{endless}"
        )

    return PlainValidator(check)


def _write_segments(value: float) -> float | str:
    return INFINITE if value == math.inf else value


Segments = Annotated[float, _segments(WINDOWS_SEGMENTS, or_infinite=False), Accepts("a number of segments")]
SegmentsOrInfinite = Annotated[
    float,
    _segments(WINDOWS_SEGMENTS, or_infinite=True),
    PlainSerializer(_write_segments),
    Accepts("a number of segments"),
]


@dataclass(frozen=True)
class RandomLoss:
    """Each packet is lost with this probability."""

    probability: float


@dataclass(frozen=True)
class EveryLoss:
    """Of each flow, every `packets`-th packet is lost."""

    packets: int


@dataclass(frozen=True)
class GilbertElliott:
    """A two-state Markov chain, stepped per packet; the four are probabilities per packet."""

    good_to_bad: float
    bad_to_good: float
    loss_good: float = 0.0
    loss_bad: float = 1.0


LossModel = RandomLoss | EveryLoss | GilbertElliott
_PROBABILITY = "a probability from 0 to 1"


def _loss(value: Any) -> LossModel:
    if isinstance(value, (RandomLoss, EveryLoss, GilbertElliott)):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return RandomLoss(
            plain_number(value, (0.0, 0.999_999), "a probability per packet, from 0 to below 1")
        )
    if isinstance(value, Mapping) and list(value) == ["every"]:
        every = packets(value["every"])
        whole = int(every) if every is not None and every.denominator == 1 else value["every"]
        return EveryLoss(whole_number(whole, (2, 10**15)))
    if (
        isinstance(value, Mapping)
        and list(value) == ["gilbert_elliott"]
        and isinstance(value["gilbert_elliott"], Mapping)
    ):
        given = dict(value["gilbert_elliott"])
        known = set(GilbertElliott.__dataclass_fields__)
        if not {"good_to_bad", "bad_to_good"} <= set(given) <= known:
            raise ValueError(
                "gilbert_elliott takes good_to_bad, bad_to_good and perhaps loss_good (0), loss_bad (1)"
            )
        return GilbertElliott(
            **{key: plain_number(p, (0.0, 1.0), f"{_PROBABILITY} as {key}") for key, p in given.items()}
        )
    raise ValueError(
        "accepted: a probability such as 1e-5, { every = 10000 } or "
        "{ gilbert_elliott = { good_to_bad = 1e-5, bad_to_good = 0.1 } }"
    )


def _write_loss(loss: LossModel) -> Any:
    match loss:
        case RandomLoss(probability):
            return probability
        case EveryLoss(packets=number):
            return {"every": number}
        case _:
            return {
                "gilbert_elliott": {key: getattr(loss, key) for key in GilbertElliott.__dataclass_fields__}
            }


Loss = Annotated[
    LossModel, PlainValidator(_loss), PlainSerializer(_write_loss), Accepts("a probability such as 1e-5")
]


@dataclass(frozen=True)
class BufferSize:
    """Room for waiting packets as written: packets, bytes, seconds at the link's rate or part of the BDP."""

    packets: int | None = None
    bytes: int | None = None
    time_s: Fraction | None = None
    bdp: Fraction | None = None

    def limit_bytes(self, rate_bps: float, rtt_s: float) -> Fraction | None:
        """Exactly, for all but one in packets; of a link with this rate, the RTT being that of the BDP."""
        if self.packets is not None:
            return None
        if self.bytes is not None:
            return Fraction(self.bytes)
        time = self.time_s if self.time_s is not None else (self.bdp or Fraction(0)) * Fraction(repr(rtt_s))
        return Fraction(repr(rate_bps)) * time / 8


_BUFFERS = 'accepted: "20 % BDP", "175 packets", "512 KiB" or "10 ms"'


def _buffer(value: Any) -> BufferSize:
    if isinstance(value, BufferSize):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise ValueError(f"a buffer needs a unit; {_BUFFERS}")
    amount, unit = split(value) or (None, "")
    if amount is None:
        raise ValueError(_BUFFERS)
    counted = packets(value)
    if counted is not None:
        if counted.denominator != 1 or not BUFFER_PACKETS[0] <= counted <= BUFFER_PACKETS[1]:
            raise ValueError(
                f"accepted: a whole number of packets from {BUFFER_PACKETS[0]} to {BUFFER_PACKETS[1]}"
            )
        return BufferSize(packets=int(counted))
    if amount <= 0:
        raise ValueError(f"less than a packet; {_BUFFERS}")
    if unit in ("% BDP", "%BDP", "BDP"):
        bdp = amount if unit == "BDP" else amount / 100
        if bdp > BUFFER_BDPS:
            raise ValueError(f"accepted: up to {BUFFER_BDPS * 100} % BDP")
        return BufferSize(bdp=bdp)
    if unit in SIZE.units:
        size = amount * SIZE.units[unit]
        if size > BUFFER_PACKETS[1]:
            raise ValueError(f"accepted: up to {SIZE.write(BUFFER_PACKETS[1])}")
        return BufferSize(bytes=int(size))
    if unit in TIME.units:
        time = amount * TIME.units[unit]
        if time > RTTS_S[1]:
            raise ValueError(f"accepted: up to {TIME.write(RTTS_S[1])}")
        return BufferSize(time_s=time)
    raise ValueError(_BUFFERS)


def _decimal(number: Fraction) -> str:
    """Exact: every number here was a decimal one times a power of ten (or 1/100 of one)."""
    return f"{Decimal(number.numerator) / Decimal(number.denominator):f}"


def write_buffer(buffer: BufferSize) -> str:
    """As a scenario file has it."""
    if buffer.packets is not None:
        return f"{buffer.packets} packets"
    if buffer.bytes is not None:
        return f"{buffer.bytes} B"
    if buffer.time_s is not None:
        return f"{_decimal(buffer.time_s)} s"
    return f"{_decimal((buffer.bdp or Fraction(0)) * 100)} % BDP"


Buffer = Annotated[
    BufferSize,
    PlainValidator(_buffer),
    PlainSerializer(write_buffer),
    Accepts(_BUFFERS.removeprefix("accepted: ")),
]


@dataclass(frozen=True)
class QueueSpec:
    """A queueing discipline of the registry; parameters in the registry's units."""

    kind: str
    parameters: dict[str, float | str] = field(default_factory=dict)

    @property
    def random(self) -> bool:
        """Whether it draws random numbers."""
        return bool(registry.find("queues", self.kind).get("random"))

    def filled(self) -> QueueSpec:
        """With the default of every parameter that is not given."""
        row = registry.find("queues", self.kind)
        return QueueSpec(self.kind, registry.filled_parameters(row, self.parameters))


def _named(kind: registry.Kind, value: Any, example: str) -> tuple[str, dict[str, float | str]]:
    """The name of a row and its checked parameters, from a name or a table."""
    given = {"kind": value} if isinstance(value, str) else value
    if not isinstance(given, Mapping) or not isinstance(given.get("kind"), str):
        raise ValueError(
            f'accepted: the name of a {kind.removesuffix("s")} such as "{example}", '
            "or a table with its kind and parameters"
        )
    row = registry.find(kind, given["kind"])
    parameters = {key: item for key, item in given.items() if key != "kind"}
    return row["name"], registry.check_parameters(kind, row, parameters)


def _write_named(kind: registry.Kind, spec: QueueSpec | RouterSpec) -> Any:
    if not spec.parameters:
        return spec.kind
    row = registry.find(kind, spec.kind)
    return {"kind": spec.kind, **registry.write_parameters(row, spec.parameters)}


Queue = Annotated[
    QueueSpec,
    PlainValidator(lambda q: q if isinstance(q, QueueSpec) else QueueSpec(*_named("queues", q, "droptail"))),
    PlainSerializer(lambda queue: _write_named("queues", queue)),
    Accepts('"droptail"'),
]


@dataclass(frozen=True)
class RouterSpec:
    """An explicit-rate router of the registry; parameters in the registry's units."""

    kind: str
    parameters: dict[str, float | str] = field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """What it speaks with hosts: its own name, or that of the protocol that it drives."""
        return str(self.filled().parameters.get("protocol", self.kind))

    def filled(self) -> RouterSpec:
        """With the default of every parameter that is not given."""
        row = registry.find("routers", self.kind)
        return RouterSpec(self.kind, registry.filled_parameters(row, self.parameters))


Router = Annotated[
    RouterSpec,
    PlainValidator(lambda r: r if isinstance(r, RouterSpec) else RouterSpec(*_named("routers", r, "xcp"))),
    PlainSerializer(lambda router: router and _write_named("routers", router)),
    Accepts('"xcp"'),
]


TCP_OPTIONS = frozenset(
    {"initial_ssthresh", "initial_window", "max_window", "slow_start", "max_ssthresh", "delayed_ack"}
    | {"delayed_ack_timeout", "byte_counting", "sack", "recovery", "rtt_samples", "ecn", "quick_start"}
)
"""Keys of a flow that mean nothing to transports over UDP."""


@dataclass(frozen=True)
class AlgorithmSpec:
    """A congestion control: a row of the registry with the parameters given, or a user's own.

    A user's own is a class or zero-argument callable (`factory`), or "file.py:Class" (`name`); its parameters
    are handed to the constructor as keyword arguments.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    factory: Callable[..., Any] | None = None

    @property
    def custom(self) -> bool:
        """Whether it is a user's own."""
        return self.factory is not None or ".py:" in self.name

    @property
    def explicit_bytes(self) -> int:
        """What its explicit congestion header takes of every data packet."""
        return 0 if self.custom else registry.find("algorithms", self.name).get("explicit_bytes", 0)

    @property
    def explicit(self) -> bool:
        """Whether its data packets carry an explicit congestion header, though it may take no bytes."""
        return not self.custom and registry.find("algorithms", self.name).get("explicit", False)

    def loaded(self) -> Callable[..., Any]:
        """A user's own: what makes its instances. ValueError if it cannot be one with these parameters."""
        factory = self.factory
        if factory is None:
            file, _, qualified = self.name.rpartition(":")
            factory = loading.load(Path(file), qualified)
        loading.check(factory, self.parameters)
        return factory

    def filled(self) -> AlgorithmSpec:
        """With the default of every parameter that is not given."""
        if self.custom:
            return self
        row = registry.find("algorithms", self.name)
        return AlgorithmSpec(self.name, registry.filled_parameters(row, self.parameters))

    @property
    def transport(self) -> str:
        """What carries it: "tcp", "udp" or "datagrams", as the registry has them."""
        return "tcp" if self.custom else registry.find("algorithms", self.name).get("transport", "tcp")

    @property
    def ignores(self) -> frozenset[str]:
        """Keys of a flow that what carries it has no use for."""
        match self.transport:
            case "tcp":
                return frozenset()
            case "udp":
                return TCP_OPTIONS
            case _:
                return TCP_OPTIONS | {"rto_min"}

    @property
    def random(self) -> bool:
        """Whether it may draw random numbers, as a user's own may."""
        return self.custom or registry.find("algorithms", self.name).get("random", False)

    def rate_bps(self) -> float | None:
        """The rate of a source that listens to nobody; None for all others."""
        if self.transport != "datagrams":
            return None
        row = registry.find("algorithms", self.name)
        return RATE.parse(registry.write_parameters(row, self.filled().parameters)["rate"])


def _algorithm(value: Any, info: ValidationInfo) -> AlgorithmSpec:
    if isinstance(value, AlgorithmSpec):
        return value
    given: dict[str, Any] = dict(value) if isinstance(value, Mapping) else {"name": value}
    name = given.pop("name", None)
    if callable(name):
        return _checked(AlgorithmSpec(callable_name(name), given, name))
    if not isinstance(name, str):
        raise ValueError(
            'accepted: a name such as "hstcp", or { name = "hstcp", low_window = 31 }, or "file.py:Class"'
        )
    if ".py:" in name:
        file, _, qualified = name.rpartition(":")
        base = (info.context or {}).get("base", Path())
        path = (base / file).resolve()
        if not path.is_file():
            raise ValueError(
                f"there is no file {base / file}; accepted: file.py:Class, relative to the scenario's"
            )
        return _checked(AlgorithmSpec(f"{path}:{qualified}", given))
    row = registry.find("algorithms", name)
    return AlgorithmSpec(row["name"], registry.check_parameters("algorithms", row, given))


def _checked(spec: AlgorithmSpec) -> AlgorithmSpec:
    spec.loaded()
    return spec


def callable_name(factory: Callable[..., Any]) -> str:
    """The "file.py:Class" of a class or function, as far as Python knows its file."""
    code = getattr(factory, "__code__", None)
    module = sys.modules.get(getattr(factory, "__module__", ""), None)
    file = code.co_filename if code else getattr(module, "__file__", None)
    return f"{file or 'unknown.py'}:{getattr(factory, '__qualname__', type(factory).__qualname__)}"


def _write_algorithm(algorithm: AlgorithmSpec, info: SerializationInfo) -> Any:
    # Python values keep a callable, texts name it.
    name: Any = algorithm.factory if algorithm.factory and info.mode == "python" else algorithm.name
    if not algorithm.parameters:
        return name
    if algorithm.custom:
        return {"name": name, **algorithm.parameters}
    row = registry.find("algorithms", algorithm.name)
    return {"name": name, **registry.write_parameters(row, algorithm.parameters)}


Algorithm = Annotated[
    AlgorithmSpec,
    PlainValidator(_algorithm),
    PlainSerializer(_write_algorithm),
    Accepts('a name such as "hstcp", or { name = "hstcp", low_window = 31 }, or "file.py:Class"'),
]
