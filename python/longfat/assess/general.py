"""The experiments for section 6 of RFC 9743: general use."""

from __future__ import annotations

from typing import Any

from longfat.assess.behaviour import (
    JAIN,
    LOSS,
    MBPS,
    PATH,
    QUEUE,
    RFC5166,
    RTT_MS,
    UTILIZATION,
    WINDOWED,
    one,
)
from longfat.assess.model import Experiment, Point, Setting, Tables, bound
from longfat.assess.networks import dumbbell, flow, work
from longfat.words import Mode


def _tail(algorithm: Any, mbps: float, rtt_ms: float, buffer: float) -> Tables:
    own = flow("own", algorithm, rtt_ms, count=2)
    return dumbbell(mbps, 60, (20, 60), own, buffer=f"{buffer:g} BDP")


def _tails(mode: Mode) -> list[Point]:
    quick = mode == "quick"
    return [
        Point(
            f"{mbps:g} Mbit/s, {rtt:g} ms, {buffer:g} BDP",
            bound(_tail, mbps, rtt, buffer),
            work(mbps, 60),
        )
        for mbps in ((5, 50) if quick else (1, 10, 100, 500))
        for rtt in ((10, 100) if quick else (10, 50, 150))
        for buffer in ((0.5, 2) if quick else (0.25, 1, 4))
    ]


DROPTAIL = Experiment(
    "droptail",
    "Drop-tail queues",
    "Two flows of the algorithm through a drop-tail queue.",
    (
        Setting("rate", "5, 50 Mbit/s; in full 1, 10, 100, 500"),
        Setting("RTT", "10, 100 ms; in full 10, 50, 150"),
        Setting("buffer", "1/2, 2 BDP; in full 1/4, 1, 4"),
        Setting("duration", "60 s, results from 20 s on"),
    ),
    f"{WINDOWED} {RFC5166}.",
    (UTILIZATION, QUEUE, LOSS, JAIN),
    _tails,
)


def _tunnel(algorithm: Any, remark: str | None) -> Tables:
    own = flow("own", algorithm, RTT_MS, count=2, ecn=True)
    tables = dumbbell(
        MBPS, 40, (15, 40), own, buffer="4 BDP", queue={"kind": "codel", "ecn": True}, remark=remark
    )
    if remark is not None:
        tables["bottleneck"].pop("router", None)  # inside the tunnel, nothing writes into the flow's headers
    return tables


TUNNEL = Experiment(
    "tunnel",
    "Signals of the path hidden by a tunnel",
    "Two flows that negotiate ECN through CoDel with marks; then the same where the tunnel's end drops the "
    "outer header, so "
    "that no mark and no explicit header of the bottleneck arrives.",
    (
        PATH,
        Setting("queue", "CoDel with ECN, 4 BDP"),
        Setting(
            "tunnel", "clears the ECN field", "RFC 6040 describes tunnels that lose marks; this one loses all"
        ),
        Setting("duration", "40 s, results from 15 s on"),
    ),
    WINDOWED,
    (QUEUE, LOSS, UTILIZATION),
    one(
        _tunnel,
        (None, "bleach"),
        lambda remark: "no tunnel" if remark is None else "marks hidden",
        work(MBPS, 40),
    ),
)


def _wired(algorithm: Any, number: int) -> Tables:
    return dumbbell(100, 30, (10, 30), flow("own", algorithm, 20, count=number))


WIRED = Experiment(
    "wired",
    "A wired path",
    "Flows of the algorithm on a fast path of constant rate, without losses but those of the queue.",
    (
        Setting("path", "100 Mbit/s, RTT 20 ms, 1 BDP"),
        Setting("flows", "1, 4"),
        Setting("duration", "30 s, results from 10 s on"),
    ),
    WINDOWED,
    (UTILIZATION, LOSS, QUEUE),
    one(_wired, (1, 4), lambda number: f"{number} flow{'s' if number > 1 else ''}", work(100, 30)),
)

SECONDS = range(0, 40, 2)
VARYING = [[f"{at} s", f"{20 if at % 4 else 5} Mbit/s"] for at in SECONDS]
"""A rate that changes by a factor of four every other second."""

WIRELESS_PATHS: dict[str, Tables] = {
    "0.1 % lost": {"loss": 1e-3},
    "1 % lost": {"loss": 1e-2},
    "3 % lost": {"loss": 3e-2},
    "jitter 10 ms": {"jitter": "10 ms"},
    "rate 5 to 20": {"rate": {"steps": VARYING}},
}


def _wireless(algorithm: Any, name: str) -> Tables:
    tables = dumbbell(MBPS, 40, (10, 40), flow("own", algorithm, RTT_MS))
    tables["bottleneck"] |= WIRELESS_PATHS[name]
    return tables


WIRELESS = Experiment(
    "wireless",
    "Wireless paths",
    "One flow of the algorithm where packets are lost at random, delayed at random, or the rate changes.",
    (
        PATH,
        Setting(
            "loss",
            "0.1, 1, 3 % of the data packets",
            "RFC 9743, section 6.4: losses by radio effects; the values are chosen here",
        ),
        Setting(
            "jitter",
            "up to 10 ms, in order",
            "RFC 9743, section 6.4: jitter by access and retransmission; the value is chosen here",
        ),
        Setting(
            "rate",
            "5 and 20 Mbit/s, two seconds each",
            "RFC 9743, section 6.4: capacity that varies; the values are chosen here",
        ),
        Setting("duration", "40 s, results from 10 s on"),
    ),
    WINDOWED,
    (UTILIZATION, QUEUE),
    one(_wireless, tuple(WIRELESS_PATHS), str, work(MBPS, 40)),
)
