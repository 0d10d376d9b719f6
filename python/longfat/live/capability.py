"""Whether this machine can carry the path of a scenario, beforehand: `longfat doctor --path FILE`.

A short live run with one flow of CUBIC loads a link of the path's greatest rate, whose buffer drains as fast
as the path's least one. How late the routers are then, and how busy, is compared with what a live run accepts
(docs/live.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import units
from longfat.live import doctor, load, run
from longfat.live.check import check
from longfat.runs.result import Result
from longfat.scenario.model import Scenario, least

TEST_S, TEST_BEGIN_S = 4.0, 1.0
"""The length of the test, and the time after which it is measured."""
LONGEST_RTT_S = 0.02
"""The test's flow fills the link soon: with the path's round-trip time, but at most this (chosen here)."""
LATENESS = "lateness of the routers, 99th percentile, s"
PROCESSOR = "processor used by one thread"
MARGIN = 2.0
"""A buffer that is advised accepts this many times the lateness that was measured (chosen here)."""
FILLED = 0.9
"""The least share of the link that the test has to fill where its buffer lets CUBIC do so (chosen here)."""


@dataclass(frozen=True)
class Demand:
    """What a path asks of a machine.

    Attributes:
        rate_bps: of the fastest link that data cross.
        packet_bytes: of a full packet.
        drain_s: the shortest time in which a full buffer drains that data cross.
        rtt_s: the shortest round-trip time.
    """

    rate_bps: float
    packet_bytes: float
    drain_s: float
    rtt_s: float

    @property
    def packets_per_s(self) -> float:
        """Full packets at this rate."""
        return self.rate_bps / 8 / self.packet_bytes


def demand(scenario: Scenario) -> Demand:
    """Returns what the path of a scenario asks for."""
    planned = scenario.plan
    connections = planned["flows"] + [background["flow"] for background in planned["background"]]
    packet_bytes = max(float(each["transport"]["mss"] + each["header_bytes"]) for each in connections)
    crossed = [planned["links"][i] for i in sorted({i for each in connections for i in each["forward"]})]

    def drain_s(link: Any) -> float:
        held = link["queue"]["limit_bytes"] or link["queue"]["limit_packets"] * packet_bytes
        return float(8 * held / link["rate_bps"])

    return Demand(
        rate_bps=max(float(link["rate_bps"]) for link in crossed),
        packet_bytes=packet_bytes,
        drain_s=min(map(drain_s, crossed)),
        rtt_s=min(least(each["rtt_s"]) for each in connections),
    )


def test(asked: Demand) -> Scenario:
    """Returns the scenario of the short test."""
    payload = round(asked.packet_bytes) - 52
    return Scenario.from_dict(
        {
            "title": "What this machine carries",
            "duration": f"{TEST_S} s",
            "window": [f"{TEST_BEGIN_S} s", f"{TEST_S} s"],
            "bottleneck": {
                "rate": f"{asked.rate_bps!r} bit/s",
                "buffer": f"{max(math.floor(asked.drain_s * asked.packets_per_s), 1)} packets",
            },
            "flow": [
                {
                    "algorithm": {"name": "cubic", "variant": "linux"},
                    "rtt": f"{min(max(asked.rtt_s, 1e-3), LONGEST_RTT_S)!r} s",
                    "mss": f"{payload} B",
                    "initial_window": 10,
                }
            ],
        }
    )


def examine(scenario: Scenario, file: Path) -> list[dict[str, Any]]:
    """Tests this machine against a path and returns items as `doctor.examine` does.

    Args:
        scenario: what is to be run.
        file: names it in errors.

    Raises:
        InputError: no kernel, or not this machine, can run the scenario at all.
    """
    check(scenario, str(file))
    asked = demand(scenario)
    return judged(asked, run.run(test(asked), str(file)))


def judged(asked: Demand, result: Result) -> list[dict[str, Any]]:
    """Returns the items for what a test has found."""
    validity = result.validity or {}
    checks = {each["name"]: each for each in validity["checks"]}
    late, used = checks[LATENESS], checks[PROCESSOR]
    median_s, p99_s, most_s = validity["lateness_s"]
    filled = result.summary["links"][0]["utilization"]
    needed_s = MARGIN * p99_s * asked.drain_s / late["bound"]
    meanwhile = load.told(validity.get("others"))
    carries = used["ok"] and (filled >= FILLED or asked.drain_s < min(asked.rtt_s, LONGEST_RTT_S))
    busy = "or end other processes" + (f": {meanwhile}" if meanwhile else "")
    rate, buffer = doctor.PATH
    return [
        _item(
            rate,
            carries,
            f"{units.RATE.write(asked.rate_bps)}, {asked.packets_per_s:,.0f} packets/s; a test filled "
            f"{filled:.0%} of it and used {used['value']:.2f} of a processor in its busiest thread "
            f"(accepted: {used['bound']:g})",
            f"choose a lower rate, {busy}",
        ),
        _item(
            buffer,
            late["ok"],
            f"the least one drains in {1e3 * asked.drain_s:.3g} ms, so routers may be "
            f"{1e6 * late['bound']:.0f} us late; here they were {1e6 * p99_s:.0f} us late "
            f"(99th percentile; median {1e6 * median_s:.0f}, most {1e6 * most_s:.0f})",
            f"choose a buffer of at least {1e3 * needed_s:.2g} ms, {busy}",
        ),
    ]


def _item(name: str, ok: bool, found: str, remedy: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed": True, "found": found, "remedy": "" if ok else remedy}
