"""Networks, traffic and times of the draft, and the scenarios made from them.

Sections, tables and figures are those of draft-irtf-iccrg-tcpeval-01.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from longfat.scenario.model import Scenario
from longfat.words import Mode

Table = dict[str, Any]

STANDARD = "reno"
"""Standard TCP in the sense of section 6.1: SACK, and no ECN."""

HIGH_LOAD = 85
LOADS = (60, HIGH_LOAD, 110)
"""Offered loads, percent of the bottleneck: moderate, high and overload (4.2)."""
PACKETS = {536: 0.1, 1500: 0.9}
"""Size of the packets of a connection, and the share of the connections that have it (2.4)."""
HEADER_BYTES = 52
UP_SHARE = 0.1
"""Bytes offered from left to right for each one offered from right to left."""
DOWN, UP = "down", "up"
"""From right to left, and back. The scenario's forward direction is the former, which has the load."""

LEFT_MS, RIGHT_MS = (0.0, 12.0, 25.0), (2.0, 37.0, 75.0)
"""One-way delays of the edge links (4.1)."""
BUFFER_RTT_MS = 100.0
"""Buffers in percent of a BDP are those at this RTT (5.1, 6.2)."""

RAMP_MBPS = (10, 1000)
"""Capacities of sections 5.2 and 6.2."""
SLOW_MBPS = min(RAMP_MBPS)
RAMP_BUFFER_MS, RAMP_LOAD = 80.0, 50.0
EDGE_MBPS = 1000.0
BYTES_UNIT, MOST_POWER = 1500, 7
"""Times until byte 1500 10^n of the new flow arrives are kept for n = 1 to the power (5.2.3)."""

TRANSIENT_S = 60.0
TRANSIENT_MBPS, TRANSIENT_RTT_MS = 100.0, 100.0
BDP_PACKETS = TRANSIENT_MBPS * 1e6 * TRANSIENT_RTT_MS / 1e3 / 12_000.0
BDP_SHARES = (60, 80, 90)
"""Windows whose times are measured, percent of the BDP (5.3.3)."""

QUARTILES = 4
"""How many parts the sizes of files are cut into (6.1)."""

LOT = ("A", "B", "C")
"""The bottlenecks of the parking lot (Figure 10)."""
MULTIPLE, SINGLE = "multiple", "single"
"""Names of the traffic that crosses all three bottlenecks, and of each that crosses one."""

SAMPLES, LEAST_SAMPLE_S = 5000, 0.01
"""Samples of a queue in a run, about."""


@dataclass(frozen=True)
class Times:
    """Times of a test as the tables print them, in seconds; statistics begin at prefill + warmup."""

    prefill_s: float
    warmup_s: float
    test_s: float

    @property
    def begin_s(self) -> float:
        """When statistics begin."""
        return self.prefill_s + self.warmup_s

    @property
    def end_s(self) -> float:
        """When they end, and the run with them."""
        return self.begin_s + self.test_s


@dataclass(frozen=True)
class Basic:
    """A basic scenario (4.4). ``down`` is from right to left, where most data go; ``up`` from left to right.

    ``times`` are those of the tables, by load; ``quick`` replaces them in quick mode.
    """

    name: str
    title: str
    mbps: float
    up_mbps: float
    central_ms: float
    buffer: str
    up_buffer: str
    edge_mbps: float
    times: Mapping[int, Times]
    quick: Times
    left_ms: tuple[float, ...] = LEFT_MS
    right_ms: tuple[float, ...] = RIGHT_MS

    def rtts_ms(self) -> list[float]:
        """Returns the RTTs of the nine paths, as Table 1 does, with the central link's delay."""
        sides = [(left, right) for right in self.right_ms for left in self.left_ms]
        return [round(2.0 * (left + self.central_ms + right), 6) for left, right in sides]

    def span(self, mode: Mode, load: int) -> Times:
        """Returns the times of a run."""
        return self.times[load] if mode == "full" else self.quick

    def link(self, buffer: str | None = None) -> Table:
        """Returns its [bottleneck]; ``buffer`` replaces its buffers."""
        return link(self.mbps, buffer or self.buffer, self.edge_mbps) | {
            "reverse_rate": f"{self.up_mbps:.9g} Mbit/s",
            "reverse_buffer": buffer or self.up_buffer,
        }

    def traffic(self, algorithm: str, load: float) -> list[Table]:
        """Returns its traffic at a load in percent."""
        down_bps = load / 100.0 * self.mbps * 1e6
        down, up = 100.0 * down_bps / (self.mbps * 1e6), 100.0 * UP_SHARE * down_bps / (self.up_mbps * 1e6)
        return traffic(algorithm, down, up, "all", rtts_ms=self.rtts_ms())


DATA_CENTER = Basic(
    "data-center", "data centre", 1000.0, 1000.0, 0.0, "10 ms", "10 ms", 1000.0,
    {60: Times(9.0, 63.0, 69.0), 85: Times(11.3, 19.0, 328.0), 110: Times(14.6, 8.0, 663.0)},
    Times(0.0, 4.0, 12.0), (0.01, 0.01, 0.1), (0.01, 0.1, 0.1),
)  # fmt: skip
ACCESS = Basic(
    "access", "access link", 100.0, 100.0, 2.0, "100 ms", "100 ms", 100.0,
    {60: Times(36.72, 84.0, 479.0), 85: Times(52.02, 179.0, 829.0), 110: Times(67.32, 34.0, 1423.0)},
    Times(0.0, 20.0, 60.0),
)  # fmt: skip
OCEAN = Basic(
    "trans-oceanic", "trans-oceanic link", 1000.0, 1000.0, 65.0, "100 ms", "100 ms", 1000.0,
    {60: Times(89.1, 140.0, 82.5), 85: Times(126.2, 64.0, 252.0), 110: Times(163.4, 82.0, 326.0)},
    Times(0.0, 8.0, 12.0),
)  # fmt: skip
SATELLITE = Basic(
    "satellite", "geostationary satellite", 40.0, 4.0, 300.0, "100 ms", "1000 ms", 100.0,
    {60: Times(324.7, 163.0, 2513.0), 85: Times(460.0, 230.0, 2184.0), 110: Times(595.3, 298.0, 2481.0)},
    Times(0.0, 60.0, 180.0),
)  # fmt: skip
WIRELESS_MBPS = 6.0
"""Nominal rate of the shared medium, both directions together (4.4.5)."""


def wireless(up_share: float) -> Basic:
    """Returns the wireless LAN; each direction has the part of the medium that its share of the load is.

    Longfat has no shared medium. So divided, a load of both directions together is the load of each.
    """
    down_mbps = WIRELESS_MBPS / (1.0 + up_share)
    return Basic(
        "wireless", "wireless LAN", down_mbps, up_share * down_mbps, 2.0, "50 packets", "50 packets", 100.0,
        {60: Times(0.0, 20.0, 4147.0), 85: Times(0.0, 20.0, 5397.0), 110: Times(0.0, 620.0, 1797.0)},
        Times(0.0, 20.0, 400.0),
    )  # fmt: skip


WIRELESS = wireless(UP_SHARE)
DIAL_UP = Basic(
    "dial-up", "dial-up link", 0.064, 0.064, 5.0, "1250 ms", "1250 ms", 100.0,
    {60: Times(559.0, 280.0, 168804.0), 85: Times(792.0, 400.0, 88094.0), 110: Times(1025.0, 512.0, 69891.0)},
    Times(0.0, 1000.0, 20000.0),
)  # fmt: skip
BASIC = {item.name: item for item in (DATA_CENTER, ACCESS, OCEAN, SATELLITE, WIRELESS, DIAL_UP)}


@cache
def packet_shares() -> dict[int, float]:
    """Returns the share of the load that connections with packets of each size have.

    The draft gives shares of connections. Their files are alike; small packets have more headers.
    """
    carried = {}
    for size, share in PACKETS.items():
        keys = {"kind": "short", "gap": "1 s", "mss": f"{size - HEADER_BYTES} B"}
        path = {"bottleneck": {"rate": "1 Gbit/s"}, "duration": "1 s"}
        short = Scenario(path, background=[{**keys, "rtt": "100 ms"}]).background[0]
        carried[size] = share * short.mean_ip_bytes
    return {size: value / sum(carried.values()) for size, value in carried.items()}


def traffic(
    algorithm: str,
    down: float,
    up: float,
    name: str,
    *,
    rtts_ms: Iterable[float] = (),
    ends: tuple[str, str] | None = None,
) -> list[Table]:
    """Returns [[background]] tables for the traffic of one set of connections in both directions.

    ``down`` and ``up`` are loads from right to left and back, percent of the link in that direction. On a
    dumbbell, ``rtts_ms`` are the RTTs of the paths; on other networks, ``ends`` the right and the left node.
    """
    found = []
    for way, load in ((DOWN, down), (UP, up)):
        for size, share in packet_shares().items():
            table: Table = {
                "kind": "short",
                "name": f"{name}-{way}-{size}",
                "algorithm": algorithm,
                "mss": f"{size - HEADER_BYTES} B",
                "load": f"{load * share:.9g} %",
            }
            if ends is None:
                table["rtt"] = {"empirical": [f"{rtt:g} ms" for rtt in rtts_ms]}
                table["direction"] = "forward" if way == DOWN else "reverse"
            else:
                table["from"], table["to"] = ends if way == DOWN else ends[::-1]
            found.append(table)
    return found


def crossing(algorithm: str, load: float, name: str = "all") -> list[Table]:
    """Returns traffic both ways on the paths of the access link, with its central delay (5.2, 6.1, 6.2)."""
    return traffic(algorithm, load, UP_SHARE * load, name, rtts_ms=ACCESS.rtts_ms())


def link(mbps: float, buffer: str, edge_mbps: float = EDGE_MBPS) -> Table:
    """Returns a symmetric [bottleneck]."""
    return {
        "rate": f"{mbps:.9g} Mbit/s",
        "buffer": buffer,
        "reverse_buffer": buffer,
        "access_rate": f"{edge_mbps:g} Mbit/s",
    }


def scenario(title: str, times: Times, *, sample_s: float | None = None, **parts: Any) -> Table:
    """Returns a scenario of these parts; ``sample_s`` is the period of the flows' samples."""
    sample = {"queue": f"{max(times.end_s / SAMPLES, LEAST_SAMPLE_S):g} s"}
    return {
        "title": title,
        "duration": f"{times.end_s:g} s",
        "window": [f"{times.begin_s:g} s", f"{times.end_s:g} s"],
        "sample": sample if sample_s is None else sample | {"cwnd": f"{sample_s:g} s"},
        **parts,
    }
