"""Background traffic: the keys of each kind, and how a load becomes numbers.

This module has names, defaults and units; `crates/sim/src/workload` has the behaviour of each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, Self

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
    Flows,
    Gap,
    LargestFile,
    LogSize,
    LogSpread,
    Name,
    Page,
    Shape,
    Share,
    Sources,
    TailIndex,
    Time,
    Transfer,
    Users,
    WebSessions,
    number_schema,
)
from longfat.scenario.form import Form
from longfat.scenario.named import Algorithm, AlgorithmSpec
from longfat.scenario.sizes import FileSizes
from longfat.scenario.topology import Placed
from longfat.units import RATE, TIME, split, to_float

GREATEST_SHARE = 10.0
"""The greatest load, as a share of the link: ten times its capacity."""

REACHED = 0.05
"""A load is reached if the throughput differs from it by no more than this share."""


class Rates(Protocol):
    """The rates that loads refer to, bit/s: those of the narrowest link of a path, there and back."""

    @property
    def rate(self) -> float:
        """The rate on the way there."""
        ...

    @property
    def reverse_rate(self) -> float:
        """The rate on the way back."""
        ...


@dataclass(frozen=True)
class LinkShare:
    """A load as a share of the rate of the link that the data cross."""

    share: float


Load = float | LinkShare
"""Bit/s of IP, or a share of the link."""


def _load(value: Any, _: Any) -> Load:
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
    return RATE.within(rate_bps, RATES_BPS)


def _write_load(load: Load) -> str:
    return RATE.write(load) if isinstance(load, float) else f"{_percent(load.share)} %"


def _percent(share: float) -> str:
    """Writes a percentage that is read as the same float."""
    text = f"{share * 100:.12g}"
    return text if float(text) / 100 == share else f"{share * 100!r}"


OfferedLoad = Annotated[
    Load,
    Form(
        'a share of the link such as "20 %", or a rate',
        _load,
        lambda value, _: _write_load(value),
        lambda: number_schema("A load, as a share of the link or a rate", "20 %", ("%", *RATE.units)),
    ),
]


class Connections(Placed):
    """The keys that all kinds share. Each transfer is a new connection."""

    name: Name | None = None
    """Its name in results; by default its kind and number."""
    rtt: DrawnRtt | None = None
    """Two-way propagation delay, drawn for each connection; by default the first flow's."""
    direction: Literal["forward", "reverse", "both"] = "forward"
    """Which way data go."""
    stop: Time | None = None
    """From then on no connection opens, and endless ones send nothing new."""

    def check(self) -> None:
        """Raises ValueError if its keys do not fit together, or as every transport."""
        super().check()
        if not self.algorithm.listed:
            whose = "of one's own" if self.algorithm.custom else "that only the kernel has"
            raise ValueError(
                f"background traffic does not take an algorithm {whose}; "
                "accepted: one that `longfat algorithms` lists"
            )
        start: Distribution | None = getattr(self, "start", None)
        if self.stop is not None and self.stop <= (0.0 if start is None else least(start)):
            raise ValueError(
                f'stop = "{TIME.write(self.stop)}" is not after its start; accepted: a later time'
            )

    def asked_bps(self, path: Rates) -> float | None:
        """The load that is asked for in each direction; None for a kind, or a source, without one."""
        load: Load | None = getattr(self, "load", None)
        if not isinstance(load, LinkShare):
            return load
        return load.share * (path.reverse_rate if self.direction == "reverse" else path.rate)

    def with_load(self, _path: Rates) -> Self:
        """The same background with its load worked out; `rtt` is filled in already."""
        return self


class Web(Connections):
    """Sessions that ask for pages, whether or not the last page has arrived."""

    kind: Literal["web"]
    """Sessions that ask for pages."""
    sessions: WebSessions = 50
    """The number of sessions in each direction."""
    gap: Gap = 1.0
    """Mean of the exponential time between a session's pages."""
    page: Page = 9400.0  # Li, Leith, Shorten 2007: 50 sessions load about 1.5 % of 250 Mbit/s
    """Mean of the Pareto page size."""
    shape: Shape = 1.2  # Li, Leith, Shorten 2007
    """Shape of the Pareto page size."""


class Surge(Connections):
    """SURGE's user equivalents: each fetches objects file by file, then rests (`scenario.surge`)."""

    kind: Literal["surge"]
    """SURGE's users, who fetch objects file by file, then rest."""
    users: Users | None = None
    """The number of users in each direction; this or `load`."""
    load: OfferedLoad | None = None
    """Mean rate of IP that the users offer to an idle path; sets their number."""
    largest: LargestFile = surge.Habits.largest_bytes
    """The size at which the tail of the file sizes ends."""

    def check(self) -> None:
        """Raises ValueError unless there are either users or a load."""
        super().check()
        if (self.users is None) == (self.load is None):
            raise ValueError('accepted: either users, a whole number, or load, such as "4 Mbit/s" or "2 %"')

    def habits(self) -> surge.Habits:
        """The distributions that its users draw from."""
        return surge.Habits(largest_bytes=self.largest)

    def with_load(self, path: Rates) -> Self:
        """The same background with its number of users worked out."""
        load_bps = self.asked_bps(path)
        if load_bps is None or self.rtt is None:
            return self
        rate = path.reverse_rate if self.direction == "reverse" else path.rate
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
    """Short flows."""
    gap: Gap | None = None
    """Mean of the exponential time between two starts in each direction; this or `load`."""
    load: OfferedLoad | None = None
    """Mean rate of IP that the flows carry; sets the gap."""
    sizes: MeasuredSizes | None = None
    """Measured sizes, in place of the body and the tail that follow."""
    body_mu: LogSize = FileSizes.body_mu
    """Mean of the logarithm of the bytes in the lognormal body."""
    body_sigma: LogSpread = FileSizes.body_sigma
    """Standard deviation of the logarithm of the bytes in the lognormal body."""
    tail_share: Share = FileSizes.tail_share
    """Share of flows in the Pareto tail."""
    tail_least: Transfer = FileSizes.tail_least_bytes
    """The size at which the tail begins."""
    tail_shape: TailIndex = FileSizes.tail_shape
    """Tail index."""
    largest: Transfer = FileSizes.largest_bytes
    """The size at which the tail ends."""

    def check(self) -> None:
        """Raises ValueError if gap, load and sizes do not fit together."""
        super().check()
        if (self.gap is None) == (self.load is None):
            raise ValueError('accepted: either gap, a time such as "10 ms", or load, such as "20 %"')
        if self.largest < self.tail_least:
            raise ValueError("largest is below tail_least; accepted: the lesser size as tail_least")
        if not self.files().body_fits():
            raise ValueError(
                "the middle of the body, exp(body_mu) bytes, is above tail_least; accepted: a lower body_mu"
            )
        fields = type(self).model_fields
        given = [key for key in BODY_AND_TAIL if getattr(self, key) != fields[key].default]
        if self.sizes is not None and given:
            raise ValueError(f"sizes replaces {given[0]}; accepted: one of them")

    def files(self) -> FileSizes:
        """The distribution of sizes, where they are not measured."""
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
        # The last packet is half full on average, and there is at least one.
        return payload + self.header_bytes * max(1.0, payload / self.mss + 0.5)

    def with_load(self, path: Rates) -> Self:
        """The same background with its gap worked out."""
        load_bps = self.asked_bps(path)
        if load_bps is None:
            return self
        gap = 8.0 * self.mean_ip_bytes() / load_bps
        return self.model_copy(update={"gap": min(max(gap, GAPS_S[0]), GAPS_S[1]), "load": None})


BODY_AND_TAIL = ("body_mu", "body_sigma", "tail_share", "tail_least", "tail_shape", "largest")


class Bulk(Connections):
    """Long-lived flows without series of their own, which send as much as their algorithm allows."""

    kind: Literal["bulk"]
    """Long-lived flows."""
    flows: Flows
    """The number of flows in each direction."""
    start: DrawnTime = 0.0
    """When a flow starts, drawn for each."""


class Onoff(Connections):
    """On-off sources over UDP that do not react to the network; the algorithm has their rate and periods."""

    kind: Literal["onoff"]
    """On-off sources that do not react to the network."""
    algorithm: Algorithm = AlgorithmSpec("onoff")
    """The algorithm "onoff" with its rate while on and its periods."""
    sources: Sources
    """The number of sources in each direction."""
    load: OfferedLoad | None = None
    """Mean rate of IP of all sources together, in place of the algorithm's rate."""
    start: DrawnTime | None = None
    """When a source starts, drawn for each; uniform over an on- and an off-period by default."""

    def check(self) -> None:
        """Raises ValueError if its algorithm is not "onoff", or does not go with the load."""
        super().check()
        if self.algorithm.name != "onoff":
            raise ValueError(
                f'algorithm = "{self.algorithm.name}": accepted: "onoff", or {{ name = "onoff", on = "1 s" }}'
            )
        if self.load is not None and "rate" in self.algorithm.parameters:
            raise ValueError("load replaces algorithm.rate; accepted: one of them")

    def with_load(self, path: Rates) -> Self:
        """The same background with its rate while on, and its start."""
        spec = self.algorithm.filled()
        on_s, off_s = spec.parameters["on"], spec.parameters["off"]
        start = Uniform(0.0, on_s + off_s) if self.start is None else self.start
        load_bps = self.asked_bps(path)
        if load_bps is not None:
            row = registry.find("algorithms", spec.name)
            rate = RATE.write(load_bps / self.sources * (on_s + off_s) / on_s)
            given = registry.write_parameters(row, spec.parameters) | {"rate": rate}
            spec = AlgorithmSpec(spec.name, registry.check_parameters("algorithms", row, given))
        return self.model_copy(update={"algorithm": spec, "start": start, "load": None})


Background = Web | Surge | Short | Bulk | Onoff
