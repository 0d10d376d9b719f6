"""What runs on both sides: algorithms, paths, one flow and two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from longfat.scenario.loading import OBJECT

ALGORITHMS = (
    "reno",
    "cubic",
    "hstcp",
    "stcp",
    "bic",
    "htcp",
    "fast",
    "yeah",
    "africa",
    "westwood+",
    "ctcp",
    "illinois",
    "vegas",
    "ltcp",
    "dctcp",
    "ledbat++",
    "copa",
)
MARKED = frozenset(("dctcp",))
"""Algorithms whose bottleneck marks what finds more than a fifth of a BDP waiting; RFC 8257, section 4.1,
asks for more than a seventh."""
WITHOUT_CUTS = frozenset(("copa",))
"""Algorithms that move cwnd without a new ssthresh, so there is no backoff factor to compare."""
REPEATS = 5
"""Repeats with two flows; each draws another start of the second flow, the same on both sides."""


@dataclass(frozen=True)
class Network:
    """A path, and how long its flows run.

    Attributes:
        buffer: written as in a scenario.
        loss_every: one packet in this many is lost for each flow of the algorithms in `lossless`. They would
            lose hardly any packet in the time, so there would be no congestion event to compare.
        begin_s: results start here.
        second_s: the start of the second flow is drawn from this range.
        jobs: live runs at the same time.
    """

    name: str
    rate_mbps: int
    rtt_ms: int
    buffer: str
    loss_every: int
    lossless: frozenset[str]
    duration_s: tuple[float, float]
    begin_s: tuple[float, float]
    second_s: tuple[float, float]
    sample_ms: int
    jobs: int

    def title(self, flows: int) -> str:
        """Describes the path in words."""
        end, begin = self.duration_s[flows - 1], self.begin_s[flows - 1]
        start = "" if flows == 1 else f", the second from {self.second_s[0]:g} to {self.second_s[1]:g} s on"
        return (
            f"{self.rate_mbps} Mbit/s, round-trip time {self.rtt_ms} ms, buffer {self.buffer}, "
            f"{'one flow' if flows == 1 else 'two flows'} for {end:g} s{start}; results from {begin:g} s on"
        )


NETWORKS = (
    Network(
        name="10",
        rate_mbps=10,
        rtt_ms=40,
        buffer="100 % BDP",
        loss_every=2000,
        lossless=frozenset(("fast", "vegas")),
        duration_s=(30.0, 40.0),
        begin_s=(5.0, 10.0),
        second_s=(5.0, 7.0),
        sample_ms=20,
        jobs=6,
    ),
    Network(
        name="100",
        rate_mbps=100,
        rtt_ms=82,
        buffer="50 % BDP",
        loss_every=20_000,
        lossless=frozenset(("reno", "fast", "westwood+", "vegas")),
        duration_s=(90.0, 50.0),
        begin_s=(20.0, 15.0),
        second_s=(8.0, 12.0),
        sample_ms=40,
        jobs=2,
    ),
    Network(
        name="250",
        rate_mbps=250,
        rtt_ms=162,
        buffer="50 % BDP",
        loss_every=30_000,
        lossless=frozenset(
            ("reno", "fast", "yeah", "africa", "westwood+", "ctcp", "illinois", "vegas", "ledbat++")
        ),
        duration_s=(100.0, 45.0),
        begin_s=(25.0, 15.0),
        second_s=(6.0, 10.0),
        sample_ms=50,
        jobs=2,
    ),
)


class Planned(Protocol):
    """What runs on both sides, once for each seed."""

    @property
    def key(self) -> str:
        """The name of its files."""

    @property
    def algorithm(self) -> str:
        """What its flows run."""

    @property
    def seeds(self) -> range:
        """The seeds of its repeats."""

    @property
    def jobs(self) -> int:
        """How many such live runs go at the same time."""

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario for both backends."""


PACED = {"lf_fast": {"pacing_ca_ratio": 100}}
"""Objects that rely on the kernel to send at cwnd / srtt, with the parameter that says so."""


def flow(algorithm: str | dict[str, Any], rtt_ms: int) -> dict[str, Any]:
    """Returns a flow that is the same on both sides; the simulator has the hosts of today's Linux."""
    return {"algorithm": algorithm, "rtt": f"{rtt_ms} ms", "stack": "linux"}


def marking(rate_mbps: float, rtt_ms: int) -> dict[str, Any]:
    """Returns a queue that marks what finds more than a fifth of a BDP waiting."""
    packets = max(round(rate_mbps * rtt_ms / 12 / 5), 1)
    curve = {"min": f"{packets} packets", "max": f"{packets + 1} packets", "max_p": 1.0, "weight": 1.0}
    return {"kind": "red", **curve, "ecn": True, "harddrop": False}


@dataclass(frozen=True)
class Case:
    """One algorithm on one path, alone or beside itself.

    Attributes:
        object: the algorithm's form in eBPF if it runs on both sides, None for the simulator's own form.
    """

    algorithm: str
    network: Network
    flows: int
    object: Path | None = None

    @property
    def key(self) -> str:
        """The name of its files."""
        form = "" if self.object is None else "-object"
        return f"{self.network.name}-{self.flows}-{self.algorithm}{form}"

    def _algorithm(self) -> str | dict[str, Any]:
        if self.object is None:
            return self.algorithm
        more = PACED.get(self.object.name.removesuffix(OBJECT))
        return str(self.object) if more is None else {"name": str(self.object), **more}

    @property
    def seeds(self) -> range:
        """With one flow nothing is random."""
        return range(1, 1 + (1 if self.flows == 1 else REPEATS))

    @property
    def jobs(self) -> int:
        """Live runs at the same time."""
        return self.network.jobs

    @property
    def loss_every(self) -> int | None:
        """One packet in this many is lost for each flow."""
        return self.network.loss_every if self.algorithm in self.network.lossless else None

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario for both backends."""
        network = self.network
        end, begin = network.duration_s[self.flows - 1], network.begin_s[self.flows - 1]
        first = flow(self._algorithm(), network.rtt_ms)
        later = {"start": {"uniform": [f"{second:g} s" for second in network.second_s]}}
        bottleneck: dict[str, Any] = {"rate": f"{network.rate_mbps} Mbit/s", "buffer": network.buffer}
        if self.algorithm in MARKED:
            bottleneck["queue"] = marking(network.rate_mbps, network.rtt_ms)
        if self.loss_every is not None:
            bottleneck["loss"] = {"every": self.loss_every}
        return {
            "title": f"{self.algorithm}, simulator and live",
            "seed": seed,
            "duration": f"{end:g} s",
            "window": [f"{begin:g} s", f"{end:g} s"],
            "bottleneck": bottleneck,
            "flow": [first, first | later][: self.flows],
            "sample": {"cwnd": f"{network.sample_ms} ms"},
        }


def cases() -> list[Case]:
    """Returns all cases, in the order in which they run."""
    return [
        Case(algorithm, network, flows)
        for network in NETWORKS
        for flows in (1, 2)
        for algorithm in ALGORITHMS
    ]
