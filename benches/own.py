"""Measures what an algorithm in Python costs beside the same one in the core, on W1 of the reference work.

Both are HighSpeed TCP (RFC 3649). The Python form runs with a call for each acknowledgement, and with one for
several. The runs alternate; the least processor time of each counts.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

from rich.console import Console
from rich.table import Table

import longfat

LOW_WINDOW, HIGH_WINDOW, HIGH_P, HIGH_DECREASE = 38.0, 83_000.0, 1e-7, 0.1
"""RFC 3649, section 5."""
LOW_P = 1.5 / LOW_WINDOW**2
SLOPE = (math.log(HIGH_WINDOW) - math.log(LOW_WINDOW)) / (math.log(HIGH_P) - math.log(LOW_P))


def share(cwnd: float) -> float:
    """Returns where a window is between the low and the high one, by their logarithms."""
    return math.log(cwnd / LOW_WINDOW) / math.log(HIGH_WINDOW / LOW_WINDOW)


class HighSpeed:
    """HighSpeed TCP by the formulas of RFC 3649, with a call for each acknowledgement."""

    def on_ack(self, ack: Any, window: Any) -> None:
        """Grows the window."""
        if window.in_slow_start():
            window.slow_start(ack.acked)
            return
        w = window.cwnd
        if w <= LOW_WINDOW:
            window.cwnd = w + ack.acked / w
            return
        b = 0.5 + (HIGH_DECREASE - 0.5) * share(w)
        p = LOW_P * (w / LOW_WINDOW) ** (1.0 / SLOPE)
        window.cwnd = w + ack.acked * w * p * 2.0 * b / (2.0 - b)

    def on_congestion(self, event: Any, window: Any) -> None:
        """Shrinks it."""
        w = window.cwnd
        b = 0.5 if w <= LOW_WINDOW else 0.5 + (HIGH_DECREASE - 0.5) * share(w)
        window.ssthresh = (1.0 - b) * w


class InSixteens(HighSpeed):
    """The same with a call for sixteen acknowledgements."""

    acks_per_call = 16


CASES: dict[str, Any] = {"core": "hstcp", "Python": HighSpeed, "Python, acks_per_call = 16": InSixteens}
GOAL = 4.0


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--duration", default="100 s")
    given = parser.parse_args()
    spent: dict[str, list[float]] = {name: [] for name in CASES}
    packets: dict[str, int] = {}
    for _ in range(given.repeats):
        for name, algorithm in CASES.items():
            flow = {"algorithm": algorithm, "rtt": "42 ms"}
            w1 = longfat.Scenario.from_dict(
                {
                    "duration": given.duration,
                    "bottleneck": {"rate": "250 Mbit/s", "buffer": "175 packets"},
                    "sample": {"cwnd": "100 ms"},
                    "flow": [flow, flow | {"start": "5 s"}],
                }
            )
            sim = longfat.Simulation(w1, rates=False)
            begin = time.process_time()
            sim.run_until(given.duration)
            spent[name].append(time.process_time() - begin)
            packets[name] = sum(flow["packets_sent"] for flow in sim.result().summary["flows"])
    table = Table("HighSpeed TCP", "packets", "ns/packet", "ratio", title=f"W1, at most {GOAL:g}")
    least = {name: 1e9 * min(spent[name]) / packets[name] for name in CASES}
    for name, cost in least.items():
        table.add_row(name, f"{packets[name]:,}", f"{cost:.1f}", f"{cost / least['core']:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
