"""Traffic that comes and goes: what a scenario may say of each kind, and how a load becomes numbers.

Names, defaults and units stand here; how each kind behaves is in `crates/sim/src/workload`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, model_validator

from longfat.scenario import registry, surge
from longfat.scenario.distributions import (
    Distribution,
    DrawnRtt,
    DrawnTime,
    Empirical,
    MeasuredSizes,
    Uniform,
    least,
    mean,
)
from longfat.scenario.fields import (
    GAPS_S,
    MOST_SESSIONS,
    RATES_BPS,
    Accepts,
    Algorithm,
    AlgorithmSpec,
    Gap,
    LargestFile,
    LogSize,
    LogSpread,
    Page,
    Sessions,
    Shape,
    Share,
    TailIndex,
    Time,
    Transfer,
    WebSessions,
)
from longfat.scenario.sizes import FileSizes
from longfat.scenario.topology import Placed
from longfat.units import RATE, TIME, split, to_float
from longfat.words import choice, shown

GREATEST_SHARE = 10.0
"""Of a link that a load may be: ten times what it carries."""

REACHED = 0.05
"""A load is reached if what comes through differs from it by no more than this part."""


class Rates(Protocol):
    """What loads go by, bit/s: of the link that the data cross (a path's narrowest), there and back."""

    @property
    def rate(self) -> float:
        """There."""
        ...

    @property
    def reverse_rate(self) -> float | None:
        """Back; as there if None."""
        ...


@dataclass(frozen=True)
class LinkShare:
    """A load as a part of the rate of the link that the data cross."""

    share: float


Load = float | LinkShare
"""Bit/s of IP, or a part of the link."""


def _load(value: Any) -> Load:
    if isinstance(value, LinkShare):
        return value
    amount, unit = split(value) or (None, "")
    if amount is not None and unit == "%":
        share = to_float(amount / 100)
        if not 0.0 < share <= GREATEST_SHARE:
            raise ValueError(f"accepted: above 0 %, up to {GREATEST_SHARE * 100:g} %")
        return LinkShare(share)
    try:
        rate_bps = RATE.parse(value)
    except ValueError as error:
        raise ValueError(f'{error}, or a share of the link such as "20 %"') from None
    low, high = RATES_BPS
    if not low <= rate_bps <= high:
        raise ValueError(f"accepted: from {RATE.write(low)} to {RATE.write(high)}")
    return rate_bps


def _write_load(load: Load) -> str:
    return RATE.write(load) if isinstance(load, float) else f"{_percent(load.share)} %"


def _percent(share: float) -> str:
    """Read back as the same float."""
    text = f"{share * 100:.12g}"
    return text if float(text) / 100 == share else f"{share * 100!r}"


OfferedLoad = Annotated[
    Load,
    PlainValidator(_load),
    PlainSerializer(_write_load),
    Accepts('a share of the link such as "20 %", or a rate'),
]


class Connections(Placed):
    """What all kinds share. Each transfer is a new connection."""

    name: str | None = None
    rtt: DrawnRtt | None = None
    """Drawn for each connection; the first flow's if not given."""
    direction: Literal["forward", "reverse", "both"] = "forward"
    stop: Time | None = None
    """From then on nothing is opened, and what has no end sends nothing new."""

    @model_validator(mode="after")
    def _algorithm_and_times_fit(self) -> Self:
        if self.algorithm.custom:
            raise ValueError("background traffic takes an algorithm of `longfat algorithms`, not one's own")
        start: Distribution | None = getattr(self, "start", None)
        if self.stop is not None and self.stop <= (0.0 if start is None else least(start)):
            raise ValueError(f'stop = "{TIME.write(self.stop)}" is not after its start')
        return self

    def asked_bps(self, bottleneck: Rates) -> float | None:
        """The load that was asked for in each direction; None of a kind, or a source, without one."""
        load: Load | None = getattr(self, "load", None)
        if not isinstance(load, LinkShare):
            return load
        reverse = bottleneck.reverse_rate or bottleneck.rate
        return load.share * (reverse if self.direction == "reverse" else bottleneck.rate)

    def with_load(self, _bottleneck: Rates) -> Self:
        """The same with what its load amounts to written out instead; `rtt` is filled in by now."""
        return self


class Web(Connections):
    """Sessions that ask for pages, whether or not the last one has come."""

    kind: Literal["web"]
    sessions: WebSessions = 50
    """Of each direction that is asked for."""
    gap: Gap = 1.0
    """Mean of the exponential time between a session's pages."""
    page: Page = 9400.0  # Li, Leith, Shorten 2007: 50 sessions load about 1.5 % of 250 Mbit/s
    """Mean of the Pareto page size."""
    shape: Shape = 1.2  # Li, Leith, Shorten 2007


class Surge(Connections):
    """SURGE's user equivalents: each fetches objects file by file, then rests (`scenario.surge`)."""

    kind: Literal["surge"]
    users: Sessions | None = None
    """Of each direction that is asked for; this or `load`."""
    load: OfferedLoad | None = None
    """Mean rate of IP that as many users offer to the path while it is idle."""
    largest: LargestFile = surge.Habits.largest_bytes
    """Where the tail of the file sizes ends."""

    @model_validator(mode="after")
    def _users_or_load(self) -> Self:
        if (self.users is None) == (self.load is None):
            raise ValueError(
                'accepted: users, a whole number, or load, such as "4 Mbit/s" or "2 %"; one of them'
            )
        return self

    def habits(self) -> surge.Habits:
        """What its users draw from."""
        return surge.Habits(largest_bytes=self.largest)

    def with_load(self, bottleneck: Rates) -> Self:
        """With the number of users."""
        load_bps = self.asked_bps(bottleneck)
        if load_bps is None or self.rtt is None:
            return self
        rate = bottleneck.rate
        if self.direction == "reverse" and bottleneck.reverse_rate is not None:
            rate = bottleneck.reverse_rate
        one_bps = surge.offered_bps(
            self.habits(), mean(self.rtt), self.mss, self.header_bytes, self.initial_window, rate
        )
        users = surge.users_for(load_bps, one_bps)
        return self.model_copy(update={"users": min(users, MOST_SESSIONS), "load": None})


class Short(Connections):
    """Short flows that start at exponential gaps, with a lognormal body and a Pareto tail of sizes.

    Ha, Kim, Le, Rhee, Xu, PFLDnet 2006; the slides print no constants, so those of SURGE are used.
    """

    kind: Literal["short"]
    gap: Gap | None = None
    """Mean of the exponential time between two starts in each direction asked for; this or `load`."""
    load: OfferedLoad | None = None
    """Mean rate of IP that the flows carry."""
    sizes: MeasuredSizes | None = None
    """Measured sizes, instead of the body and the tail that follow."""
    body_mu: LogSize = FileSizes.body_mu
    body_sigma: LogSpread = FileSizes.body_sigma
    tail_share: Share = FileSizes.tail_share
    tail_least: Transfer = FileSizes.tail_least_bytes
    tail_shape: TailIndex = FileSizes.tail_shape
    largest: Transfer = FileSizes.largest_bytes

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if (self.gap is None) == (self.load is None):
            raise ValueError('accepted: gap, a time such as "10 ms", or load, such as "20 %"; one of them')
        if self.largest < self.tail_least:
            raise ValueError("largest lies below tail_least; accepted: the lesser one as tail_least")
        if not self.files().body_fits():
            raise ValueError(
                "the middle of the body, exp(body_mu) bytes, lies above tail_least; accepted: below it"
            )
        fields = type(self).model_fields
        given = [key for key in BODY_AND_TAIL if getattr(self, key) != fields[key].default]
        if self.sizes is not None and given:
            raise ValueError(f"sizes stands in place of {given[0]}; accepted: one of them")
        return self

    def files(self) -> FileSizes:
        """The distribution of sizes, unless they are measured."""
        return FileSizes(
            self.body_mu, self.body_sigma, self.tail_share, self.tail_least, self.tail_shape, self.largest
        )

    def mean_ip_bytes(self) -> float:
        """Mean bytes of IP that a flow carries, headers included."""
        if isinstance(self.sizes, Empirical):
            packets = [-(-max(1.0, size) // self.mss) for size in self.sizes.values]
            headers = Empirical(tuple(self.header_bytes * n for n in packets), self.sizes.weights)
            return self.sizes.mean() + headers.mean()
        payload = self.files().mean_file_bytes()
        # the last packet is half full on average, and there is at least one
        return payload + self.header_bytes * max(1.0, payload / self.mss + 0.5)

    def with_load(self, bottleneck: Rates) -> Self:
        """With the gap."""
        load_bps = self.asked_bps(bottleneck)
        if load_bps is None:
            return self
        gap = 8.0 * self.mean_ip_bytes() / load_bps
        return self.model_copy(update={"gap": min(max(gap, GAPS_S[0]), GAPS_S[1]), "load": None})


BODY_AND_TAIL = ("body_mu", "body_sigma", "tail_share", "tail_least", "tail_shape", "largest")


class Bulk(Connections):
    """Long-lived flows without series of their own: they send as much as their algorithm lets them."""

    kind: Literal["bulk"]
    flows: Sessions
    """Of each direction that is asked for."""
    start: DrawnTime = 0.0
    """Drawn for each."""


class Onoff(Connections):
    """On-off sources over UDP that listen to nobody; rate and periods are the algorithm's parameters."""

    kind: Literal["onoff"]
    algorithm: Algorithm = AlgorithmSpec("onoff")
    sources: Sessions
    """Of each direction that is asked for."""
    load: OfferedLoad | None = None
    """Mean rate of IP of all of them, in place of the algorithm's rate."""
    start: DrawnTime | None = None
    """Drawn for each; uniform over an on- and an off-period if not given: not all switch together."""

    @model_validator(mode="after")
    def _algorithm_fits(self) -> Self:
        if self.algorithm.name != "onoff":
            raise ValueError(
                f'algorithm = "{self.algorithm.name}": accepted: "onoff", or {{ name = "onoff", on = "1 s" }}'
            )
        if self.load is not None and "rate" in self.algorithm.parameters:
            raise ValueError("load stands in place of algorithm.rate; accepted: one of them")
        return self

    def with_load(self, bottleneck: Rates) -> Self:
        """With the rate while on, and the start."""
        spec = self.algorithm.filled()
        on_s, off_s = spec.parameters["on"], spec.parameters["off"]
        start = Uniform(0.0, on_s + off_s) if self.start is None else self.start
        load_bps = self.asked_bps(bottleneck)
        if load_bps is not None:
            row = registry.find("algorithms", spec.name)
            rate = RATE.write(load_bps / self.sources * (on_s + off_s) / on_s)
            given = registry.write_parameters(row, spec.parameters) | {"rate": rate}
            spec = AlgorithmSpec(spec.name, registry.check_parameters("algorithms", row, given))
        return self.model_copy(update={"algorithm": spec, "start": start, "load": None})


KINDS = ("web", "surge", "short", "bulk", "onoff")


def _known(data: Any) -> Any:
    """A background's table as it is, if its kind is known."""
    if not isinstance(data, Mapping) or data.get("kind") in KINDS:
        return data
    if "kind" not in data:
        raise ValueError(f"kind is missing; {choice(None, KINDS)}")
    raise ValueError(f"kind = {shown(data['kind'])}: {choice(data['kind'], KINDS)}")


Background = Annotated[
    Web | Surge | Short | Bulk | Onoff, Field(discriminator="kind"), BeforeValidator(_known)
]
