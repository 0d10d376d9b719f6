"""Settings of the draft "Common TCP Evaluation Suite": networks, loads, times, and which algorithms.

Sections and tables are those of draft-irtf-iccrg-tcpeval-01.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longfat.words import Mode
from longfat_papers.kit.claims import CHOSEN_HERE, Setting

DRAFT = "Hayes, Ros, Andrew, Floyd: Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01, 2014"

STANDARD = "reno"
"""Standard TCP in the sense of section 6.1: SACK, and no ECN."""

TITLES = {
    STANDARD: "standard TCP",
    "hstcp": "HighSpeed TCP",
    "htcp": "H-TCP",
    "cubic": "CUBIC",
    "ctcp": "Compound TCP",
    "yeah": "YeAH-TCP",
    "bbr": "BBR",
    "bbr3": "BBRv3",
}


def title(name: str) -> str:
    """Returns what figures and texts call an algorithm."""
    return TITLES.get(name, name)


@dataclass(frozen=True)
class Choice:
    """The algorithms under test in each mode; standard TCP always runs too, as the baseline."""

    quick: tuple[str, ...]
    full: tuple[str, ...]

    def tested(self, mode: Mode) -> tuple[str, ...]:
        """Returns the algorithms under test, each once and without standard TCP."""
        chosen = self.quick if mode == "quick" else self.full
        return tuple(dict.fromkeys(name for name in chosen if name != STANDARD))

    def all(self, mode: Mode) -> tuple[str, ...]:
        """Returns standard TCP and the algorithms under test."""
        return (STANDARD, *self.tested(mode))


USUAL = Choice(("cubic", "htcp", "bbr3"), tuple(name for name in TITLES if name != STANDARD))
"""What the suite runs unless a file chooses others."""

LOADS = (60, 85, 110)
"""Offered loads, percent of the bottleneck: moderate, high and overload (4.2)."""
HIGH_LOAD = 85

PACKETS = {536: 0.1, 1500: 0.9}
"""Size of the packets of a connection, and the share of the connections that have it (2.4)."""
UP_SHARE = 0.1
"""Bytes offered from left to right for each one offered from right to left."""

LEFT_MS: Sequence[float] = (0.0, 12.0, 25.0)
RIGHT_MS: Sequence[float] = (2.0, 37.0, 75.0)
"""One-way delays of the edge links (4.1)."""


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
    left_ms: Sequence[float] = LEFT_MS
    right_ms: Sequence[float] = RIGHT_MS

    def rtts_ms(self) -> list[float]:
        """Returns the RTTs of the nine paths, as Table 1 does, with the central link's delay."""
        return [
            round(2.0 * (left + self.central_ms + right), 6)
            for right in self.right_ms
            for left in self.left_ms
        ]

    def span(self, mode: Mode, load: int) -> Times:
        """Returns the times of a run."""
        return self.times[load] if mode == "full" else self.quick

    def down_bps(self, load: float) -> float:
        """Returns the load from right to left, bit/s of IP."""
        return load / 100.0 * self.mbps * 1e6


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
BASIC = (DATA_CENTER, ACCESS, OCEAN, SATELLITE, WIRELESS, DIAL_UP)

BUFFERS_PERCENT = (10, 20, 50, 100, 200)
"""Buffers of section 5.1, percent of the BDP of the access link at `BUFFER_RTT_MS`."""
BUFFER_RTT_MS = 100.0

RAMP_MBPS = (10, 1000)
"""Capacities of sections 5.2, 6.1 and 6.2."""
RAMP_RTTS_MS = ((80.0, 80.0), (120.0, 30.0), (30.0, 120.0))
"""RTTs of the existing and of the new flow (5.2.1)."""
RAMP_BUFFER_MS = 80.0
RAMP_LOAD = 50.0
EDGE_MBPS = 1000.0
CENTRAL_MS = 2.0
RAMP_REPEATS = 3
"""An average over at least three runs should be taken (5.2.3)."""
RAMP_TIMES: dict[Mode, dict[int, Times]] = {
    "quick": {10: Times(0.0, 60.0, 200.0), 1000: Times(0.0, 20.0, 40.0)},
    "full": {10: Times(500.0, 114.0, 600.0), 1000: Times(200.0, 102.0, 600.0)},
}
"""The new flow starts where statistics begin. Table 9; of its three warm-ups at 10 Mbit/s the longest."""
BYTES_UNIT = 1500
MOST_POWER = 7
"""Times until byte 1500 10^n of the new flow arrives are kept for n = 1 to this (5.2.3)."""
WORST_POWER = 3
"""The power at which EVAL-5.2.2 compares the times."""

TRANSIENT_MBPS, TRANSIENT_RTT_MS = 100.0, 100.0
TRANSIENT_BUFFER_PACKETS = 1024
CROSS_MBPS = 75.0
STEPS, STEP_MBPS, STEP_S = 30, 2.5, 1.0
"""Section 5.3.1."""
AFTER_S = 100.0
"""Cross traffic packets are counted until so long after the transient (5.3.3)."""
RELEASE_S = 300.0
"""Time that a flow has to reach its BDP after the release; the draft sets no limit."""
TRANSIENT_S = 60.0
BDP_SHARES = (60, 80, 90)
"""Windows whose times are measured, percent of the BDP (5.3.3)."""
BDP_PACKETS = TRANSIENT_MBPS * 1e6 * TRANSIENT_RTT_MS / 1e3 / 12_000.0
DECREASE, INCREASE, STAIRS = "decrease", "increase", "steps"
"""Values of the coordinate `transient`."""
TRANSIENTS = (DECREASE, INCREASE, STAIRS)

IMPACT_MBPS: dict[Mode, tuple[int, ...]] = {"quick": (10, 100), "full": (10, 100, 1000)}
IMPACT_LOADS = (50, 100)
IMPACT_TIMES: dict[Mode, dict[int, Times]] = {
    "quick": {50: Times(0.0, 20.0, 100.0), 100: Times(0.0, 20.0, 100.0)},
    "full": {50: Times(45.9, 26.0, 508.0), 100: Times(91.8, 50.0, 498.0)},
}
"""Table 10."""
QUARTILES = 4

FAIR_RTTS_MS = (10, 20, 40, 80, 160)
LONG_RTT_MS = 160
FAIR_BUFFERS = (25, 50, 100, 200)
"""Section 6.2; buffers in percent of the BDP at `BUFFER_RTT_MS`."""
INTRA, INTER = "intra", "inter"
"""Values of the coordinate `kind`: two like RTTs, or one of 160 ms that is joined by another."""
FAIR_S: dict[Mode, dict[int, float]] = {
    "quick": {10: 200.0, 1000: 40.0},
    "full": {10: 600.0, 1000: 600.0},
}
START_SHARE = 0.1
"""Flows start within this share of the run."""
QUICK_FAST_RTTS_MS = (10, 40, 160)
"""In quick mode the 1 Gbit/s link has these RTTs, and one buffer."""
QUICK_FAST_BUFFER = 100

LOT_MBPS, LOT_EDGE_MBPS, LOT_HOP_MS = 100.0, 1000.0, 10.0
LOT_BUFFER_MS = 60.0
LOT_LOADS = (30, 40, 50)
"""Percent of a bottleneck that each source offers; two share each bottleneck (6.3.1)."""
LOT_TIMES: dict[Mode, dict[int, Times]] = {
    "quick": dict.fromkeys(LOT_LOADS, Times(0.0, 20.0, 60.0)),
    "full": {30: Times(41.4, 173.0, 470.0), 40: Times(55.2, 37.0, 2052.0), 50: Times(69.0, 38.0, 1338.0)},
}
"""Table 11."""
MULTIPLE, SINGLE = "multiple", "single"
"""Names of the traffic that crosses all three bottlenecks, and of each that crosses one."""

REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Over seeds, where a run is not long; the draft has one run of each basic scenario."""
IMPACT_REPEATS = 3
"""In both modes, because EVAL-6.1 compares small differences; averages are encouraged (6.1.3.1)."""

STANDARD_SETTINGS = (
    Setting("standard TCP", "SACK without ECN", "6.1"),
    Setting("stack", "delayed ACKs, byte counting, timestamps, initial window of 3", CHOSEN_HERE),
)
TRAFFIC_SETTINGS = (
    *STANDARD_SETTINGS,
    Setting(
        "traffic",
        "connections that start at random (Poisson), each with one file; sizes have a lognormal body and a "
        "Pareto tail",
        CHOSEN_HERE
        + ": the draft replays Tmix traces, which Longfat does not have; its appendix A describes "
        "sessions that arrive as a Poisson process and sizes with heavy tails",
    ),
    Setting("sizes", "SURGE's constants, up to 10 MB", "docs/models/traffic.md"),
    Setting("load", "mean size of a session, in bits of IP, over the mean time between sessions", "3.1"),
    Setting(
        "left to right",
        f"{UP_SHARE:g} of the bytes from right to left",
        CHOSEN_HERE + ": 4.2 says that it is less and prints no number; with a tenth both directions of the "
        "satellite link have the same load in percent",
    ),
    Setting("packets", "536 bytes for a tenth of the connections, 1500 for the others", "2.4"),
    Setting("paths", "each connection has one of nine RTTs, with equal probability", "4.1, Table 1"),
    Setting(
        "start",
        "no prefilling; statistics begin after prefill_t + warmup of the draft's tables",
        "3.3; " + CHOSEN_HERE + ": a session is one file here, so the load is there after one transfer",
    ),
)
