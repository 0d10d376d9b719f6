"""Relations that scale a run: all times, or rate and packets together.

Times: every time times k and every rate by k, sizes and counts as they are. With k a power of two,
floating-point numbers scale without rounding, and whole nanoseconds do where a byte takes whole nanoseconds.
What has no time of its own then does the same in slow motion. Nothing with an absolute constant takes part:

- RACK (2 ms, 200 ms), Linux's timestamps (1 ms), compressed SACK (100 us), HyStart++ (4 to 16 ms), H-TCP (a
  polynomial in seconds), NV, BBR, Prague, Copa and Vivace (10 s, 200 ms, Mbit/s), and explicit routers;
- networks of links, whose hosts send at 1 Gbit/s, and runs of a minute, the longest retransmission timeout.

Nor does what rounds: a power of a time (CUBIC, FAST), thresholds for round-trip times, which are whole
nanoseconds and means of these (Vegas, Veno, YeAH, Illinois, Westwood and others; alone on a path they scale
too, and `test_relations.py` shows it), queues that take roots or powers of times, and times that are drawn
(jitter, ticks of hosts and links, backgrounds).

Packets: rate times k and packets times k. A packet then takes as long as before, and an algorithm that counts
in segments does the same. SYNs and ACKs keep their size, so that a connection begins a little earlier, and
its round-trip times differ by that: events come in the same order, with the same windows, at other times.
What compares a round-trip time with the least one, or counts bytes, is left out.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from longfat import units
from longfat.errors import InputError
from longfat.scenario.model import Scenario
from trials import Table, Trial, View, seconds

TIMELESS = ("reno", "newreno", "reno-classic", "tahoe", "hstcp", "stcp", "bic", "ptcp", "dctcp")
"""Algorithms over TCP that look at no time."""
DATAGRAMS = ("cbr", "onoff")
"""And others, which keep their rates."""
IN_SEGMENTS = ("reno", "newreno", "reno-classic", "tahoe", "hstcp", "stcp", "bic", "dctcp")
"""Algorithms that count segments, and look at no time."""
FACTOR = 2
BYTE_NS = 8_000_000_000
"""The rate in bit/s at which a byte takes a nanosecond."""
RATES_BPS = sorted(BYTE_NS // ns for ns in (2**i * 5**j for i in range(12) for j in range(10)))
"""Whole rates at which a byte takes whole nanoseconds, as it does at half of them."""
STEP_NS = 16
"""Times are multiples of this, so that halves and quarters of them are whole too."""
LONGEST_S = 20.0
"""Retransmission timeouts end at 60 s, which no longer run times two reaches."""
SRTT_ROUNDED_S = 2e-6
"""Smoothed round-trip times are whole nanoseconds; what rounding leaves adds up over a run."""


def times(tables: Table, draws: random.Random) -> Trial | None:
    """All times times two and all rates by two."""
    if not tables.get("flow") or "bottleneck" not in tables or seconds(tables["duration"]) > LONGEST_S:
        return None
    one = copy.deepcopy(tables)
    one.pop("background", None)
    for i, flow in enumerate(one["flow"], start=1):
        _timeless_flow(flow, draws)
        flow.setdefault("name", str(i))
    _timeless_link(one["bottleneck"])
    try:
        one = _walk(Scenario.from_dict(one).filled().to_dict(), _whole)
    except InputError:
        return None
    return Trial(one, _walk(one, _slower), equal_in_slow_motion)


def _timeless_flow(flow: Table, draws: random.Random) -> None:
    name = flow["algorithm"] if isinstance(flow["algorithm"], str) else flow["algorithm"]["name"]
    if name not in TIMELESS + DATAGRAMS:
        flow["algorithm"] = name = draws.choice(TIMELESS)
    if (
        flow.get("rto_min") == "0 s"
    ):  # the timeout then follows a variance of some nanoseconds, which is rounded
        del flow["rto_min"]
    for key in (
        "stack",
        "sack_compression",
        "host_tick",
        "send_jitter",
        "interrupt_moderation",
        "quick_start",
        "ecn",
        "abe",
    ):
        flow.pop(key, None)
    if name in DATAGRAMS:
        kept = (
            "algorithm",
            "from",
            "to",
            "rtt",
            "start",
            "stop",
            "bytes",
            "count",
            "stagger",
            "direction",
            "mss",
        )
        for key in set(flow) - set(kept):
            del flow[key]
    elif flow.get("loss_detection") == "rack":
        flow["loss_detection"] = "sack"
    if flow.get("rtt_samples") == "last":
        del flow["rtt_samples"]
    if flow.get("slow_start") in ("hystart++", "search"):
        del flow["slow_start"]
    for key in ("rtt", "start"):
        if isinstance(flow.get(key), dict):
            flow[key] = _constant(flow[key])


def _constant(distribution: Table) -> str:
    """One of the values that a distribution may draw."""
    value = next(iter(distribution.values()))
    while isinstance(value, list):
        value = (
            value[-1]
            if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str)
            else value[0]
        )
    return str(value)


def _timeless_link(link: Table) -> None:
    if isinstance(link["rate"], dict) and "sine" in link["rate"]:
        link["rate"] = link["rate"]["sine"]["max"]
    for key in ("router", "jitter", "service_tick"):
        link.pop(key, None)
    if "handovers" in link.get("added_delay", ()):
        del link["added_delay"]
    for key in ("queue", "reverse_queue"):
        kind = link.get(key, "droptail")
        if (kind if isinstance(kind, str) else kind["kind"]) not in TIMELESS_QUEUES:
            link[key] = "droptail"


TIMELESS_QUEUES = ("droptail", "sred", "sfq", "blue")
"""Queues whose decisions follow from counts, or from times that are parameters."""
_QUANTITY = re.compile(r"([0-9.eE+-]+) (\S+)")


def _walk(value: Any, change: Callable[[units.Dimension, float], str]) -> Any:
    """Nested tables with each time and each rate changed."""
    if isinstance(value, dict):
        return {key: item if key in ("title", "name") else _walk(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, change) for item in value]
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    for dimension in (units.TIME, units.RATE):
        if found is not None and found[2] in dimension.units:
            return change(dimension, dimension.parse(value))
    return value


def _whole(dimension: units.Dimension, value: float) -> str:
    """A time in whole nanoseconds; a rate at which a byte takes whole nanoseconds."""
    if dimension is units.TIME:
        return f"{STEP_NS * round(value * 1e9 / STEP_NS)} ns"
    return f"{min(RATES_BPS, key=lambda bps: abs(bps / value - 1.0))} bit/s"


def _slower(dimension: units.Dimension, value: float) -> str:
    if dimension is units.TIME:
        return f"{FACTOR * round(value * 1e9)} ns"
    return f"{value / FACTOR:.0f} bit/s"


COUNTS = (
    "packets_sent",
    "packets_lost",
    "retransmits",
    "spurious_retransmits",
    "timeouts",
    "congestion_events",
)
"""What a flow's summary counts."""


def equal_in_slow_motion(one: View, other: View) -> str | None:
    """Counts and windows are the same, times and smoothed round-trip times are twice as long."""
    for part, columns in one.series.items():
        slow = other.series[part]
        for key, values in columns.items():
            theirs = slow[key]
            if len(values) != len(theirs):
                return f"{' '.join(part)}: {len(values)} and {len(theirs)} samples"
            same = (values == theirs) | (np.isnan(values) & np.isnan(theirs))
            if key == "time_s":
                same = np.isclose(FACTOR * values, theirs, rtol=1e-12)
            elif key == "srtt_s":
                same |= np.abs(FACTOR * values - theirs) <= SRTT_ROUNDED_S
            elif key in ("capacity_bps", "flows_estimated"):
                continue
            if not np.all(same):
                at = int(np.flatnonzero(~same)[0])
                what = f"{key} at {columns['time_s'][at]:g} s: {values[at]} and {theirs[at]}"
                return f"{' '.join(part)}: {what}"
    return _counts(one, other)


def _counts(one: View, other: View) -> str | None:
    for part, entry in one.summary.items():
        for key in COUNTS:
            if part[0] == "flows" and entry[key] != other.summary[part][key]:
                return f"{' '.join(part)}: {key}: {entry[key]} and {other.summary[part][key]}"
    return None


HEADERS = 52
"""Bytes of IPv4 and TCP with timestamps (docs/models/transport.md)."""
SHORTEST_RTT_S = 1e-3
LATER_S = 1e-2


def packets(tables: Table, draws: random.Random) -> Trial | None:
    """Rate times k and packets times k, for one flow on the rate and the buffer of a dumbbell."""
    if "bottleneck" not in tables:
        return None
    factor, segments = draws.choice([2, 3, 5]), draws.randint(100, 3000)
    rate_bps = draws.choice([1e6, 1e7, 3e7]) * draws.uniform(1.0, 3.0)
    service_s = 8 * (1448 + HEADERS) / rate_bps
    # Arrivals follow departures by the round-trip time: half a packet apart, so that the microseconds of
    # an ACK's bytes change no order.
    rtt_s = (draws.uniform(0.01, 0.2) // service_s + 0.5) * service_s
    way: Table = {"buffer": f"{draws.randint(5, 100)} packets"}
    if draws.random() < 0.5:
        way["loss"] = draws.choice([{"every": draws.randint(20, 300)}, draws.uniform(1e-4, 1e-2)])
    flow = {
        "algorithm": draws.choice(IN_SEGMENTS),
        "rtt": f"{rtt_s:.6f} s",
        "initial_window": draws.choice([1, 3, 10]),
        "recovery": draws.choice(["rate-halving", "prr", "immediate"]),
        "delayed_ack": False,  # its timer would meet other segments
    }

    def scenario(k: int) -> Table:
        mss = k * 1448 + (k - 1) * HEADERS
        return {
            "duration": "300 s",
            "seed": tables.get("seed", 1),
            "bottleneck": way
            | {
                "rate": f"{k * rate_bps:.0f} bit/s",
                "access_rate": f"{1000 * k * rate_bps:.0f} bit/s",
                "reverse_rate": "1 Gbit/s",
                "reverse_buffer": "1000 packets",
            },
            "flow": [flow | {"mss": f"{mss} B", "bytes": f"{segments * mss} B"}],
            "sample": {"cwnd": "10 s", "queue": "10 s", "events": True},
        }

    return Trial(scenario(1), scenario(factor), _equal_events)


def _equal_events(one: View, other: View) -> str | None:
    for a, b in zip(one.events, other.events, strict=False):
        if a[2] != b[2] or not np.isclose(a[3], b[3], rtol=1e-6, equal_nan=True):
            return f"events: {a} and {b}"
    return _counts(one, other)
