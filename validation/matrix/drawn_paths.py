"""The paths of the matrix: a fixed list of kinds, whose numbers a seed draws.

Every path has one flow. Rates are such that a run carries some ten thousand packets: all runs together take
minutes. What a kind does to its path (a fall, an outage) begins at `CHANGE_S`, after slow-start.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DURATION_S, LONG_DURATION_S = 30, 60
CHANGE_S = 10
RATES_MBPS, RTTS_MS, LONG_RTTS_MS = (4.0, 100.0), (10, 120), (250, 600)
"""Rates are drawn on a logarithmic scale, times uniformly."""
BUFFERS_BDP = {"shallow": (0.05, 0.2), "usual": (0.5, 1.5), "deep": (3.0, 8.0)}
PACKET_BYTES = 1500
AQM_PACKETS = 1000
"""The limit behind an AQM, which keeps the queue short itself."""


@dataclass(frozen=True)
class DrawnPath:
    """One path: its kind, what a reader sees of it, and the tables of a scenario without its flow."""

    kind: str
    title: str
    rtt_ms: int
    duration_s: int
    bottleneck: dict[str, Any]

    @property
    def draws(self) -> bool:
        """Whether losses are drawn: a run may lose each repetition of a segment."""
        return "loss" in self.bottleneck

    def scenario(self, algorithm: str, stack: str, router: str | None, seed: int = 1) -> dict[str, Any]:
        """Returns the scenario of one flow; explicit algorithms cross their own router."""
        bottleneck = dict(self.bottleneck) | ({} if router is None else {"router": router})
        return {
            "title": f"{self.kind}, {algorithm}, {stack}",
            "duration": f"{self.duration_s} s",
            "seed": seed,
            "bottleneck": bottleneck,
            "flow": [{"algorithm": algorithm, "stack": stack, "rtt": f"{self.rtt_ms} ms"}],
        }


class _Draw:
    """The random numbers of one path."""

    def __init__(self, seed: int, kind: str) -> None:
        self.random = random.Random(
            f"{seed} {kind}"
        )  # each kind has its own, so that a new one moves no other
        self.rate_mbps = self.log(*RATES_MBPS)
        low, high = LONG_RTTS_MS if kind == "long" else RTTS_MS
        self.rtt_ms = self.random.randint(low, high)

    def log(self, low: float, high: float) -> float:
        """Returns a number drawn on a logarithmic scale, with two digits."""
        return float(f"{low * (high / low) ** self.random.random():.2g}")

    def buffer(self, depth: str) -> str:
        """Returns a buffer of this depth."""
        return f"{round(100 * self.random.uniform(*BUFFERS_BDP[depth]))} % BDP"

    def steps(self, *mbps: float, every_s: int = CHANGE_S) -> dict[str, Any]:
        """Returns a rate that has these values one after the other, each for this time."""
        return {"steps": [[f"{i * every_s} s", _rate(each)] for i, each in enumerate(mbps)]}


def _rate(mbps: float) -> str:
    return f"{mbps:.3g} Mbit/s"


def _plain(depth: str) -> Callable[[_Draw], dict[str, Any]]:
    return lambda draw: {"rate": _rate(draw.rate_mbps), "buffer": draw.buffer(depth)}


def _managed(queue: str) -> Callable[[_Draw], dict[str, Any]]:
    return lambda draw: {
        "rate": _rate(draw.rate_mbps),
        "buffer": f"{AQM_PACKETS} packets",
        "queue": queue,
    }


def _falls(draw: _Draw) -> dict[str, Any]:
    return {
        "rate": draw.steps(draw.rate_mbps, draw.rate_mbps * draw.log(0.02, 0.2)),
        "buffer": draw.buffer("usual"),
    }


def _falls_codel(draw: _Draw) -> dict[str, Any]:
    return _falls(draw) | {"buffer": f"{AQM_PACKETS} packets", "queue": "codel"}


def _rises(draw: _Draw) -> dict[str, Any]:
    return {
        "rate": draw.steps(draw.rate_mbps * draw.log(0.05, 0.2), draw.rate_mbps),
        "buffer": draw.buffer("usual"),
    }


def _swings(draw: _Draw) -> dict[str, Any]:
    low = draw.rate_mbps * draw.log(0.1, 0.4)
    every_s = draw.random.randint(2, 5)
    times = range(DURATION_S // every_s)
    rate = draw.steps(*(low if i % 2 else draw.rate_mbps for i in times), every_s=every_s)
    return {"rate": rate, "buffer": draw.buffer("usual")}


def _breaks_off(draw: _Draw) -> dict[str, Any]:
    outage = {"begin": f"{CHANGE_S} s", "length": f"{draw.log(0.3, 4.0):g} s"}
    return _plain("usual")(draw) | {"outages": [outage]}


def _loss(draw: _Draw) -> dict[str, Any]:
    return _plain("usual")(draw) | {"loss": draw.log(1e-4, 1e-2)}


def _bursts(draw: _Draw) -> dict[str, Any]:
    chain = {"good_to_bad": draw.log(1e-4, 1e-3), "bad_to_good": draw.log(0.05, 0.3)}
    # Bursts end by packets: if all of a burst were lost, a flow that repeats one after each timeout would
    # wait in it to its end, and its goodput would depend on when that begins.
    chain["loss_bad"] = 0.5
    return _plain("usual")(draw) | {"loss": {"gilbert_elliott": chain}}


KINDS: dict[str, Callable[[_Draw], dict[str, Any]]] = {
    "constant": _plain("usual"),
    "shallow": _plain("shallow"),
    "deep": _plain("deep"),
    "long": _plain("usual"),
    "falls": _falls,
    "falls-codel": _falls_codel,
    "rises": _rises,
    "swings": _swings,
    "breaks-off": _breaks_off,
    "loss": _loss,
    "bursts": _bursts,
    "codel": _managed("codel"),
    "pie": _managed("pie"),
    "fq_codel": _managed("fq_codel"),
}


def draw(seed: int) -> list[DrawnPath]:
    """Returns one path of each kind."""
    found = []
    for kind, bottleneck in KINDS.items():
        drawn = _Draw(seed, kind)
        tables = bottleneck(drawn)
        duration_s = LONG_DURATION_S if kind == "long" else DURATION_S
        found.append(DrawnPath(kind, _title(tables, drawn.rtt_ms), drawn.rtt_ms, duration_s, tables))
    return found


def _title(bottleneck: dict[str, Any], rtt_ms: int) -> str:
    """Says what a path is, such as '30 Mbit/s, 40 ms, buffer 80 % BDP, loss 0.001'."""
    rate = bottleneck["rate"]
    if not isinstance(rate, str):
        (_, first), (at, second), *more = rate["steps"]
        then = f"{first}, {second} from {at} on"
        rate = f"{first} and {second} by turns, each for {at}" if more else then
    parts = [rate, f"{rtt_ms} ms", f"buffer {bottleneck['buffer']}"]
    if "queue" in bottleneck:
        parts.append(str(bottleneck["queue"]))
    for outage in bottleneck.get("outages", []):
        parts.append(f"nothing from {outage['begin']} on for {outage['length']}")
    loss = bottleneck.get("loss")
    if isinstance(loss, dict):
        chain = loss["gilbert_elliott"]
        parts.append(f"losses begin with {chain['good_to_bad']:g} and end with {chain['bad_to_good']:g}")
    elif loss is not None:
        parts.append(f"loss {loss:g}")
    return ", ".join(parts)
