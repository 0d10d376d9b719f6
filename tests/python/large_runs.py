"""Random large scenarios, and what their runs take: python tests/python/large_runs.py [COUNT [FIRST]]."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from longfat.runs import memory
from longfat.scenario.model import Scenario

PEAK = """
import json
import sys
from longfat import _core
from longfat.scenario.model import Scenario
def kib(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
tables = json.load(open(sys.argv[1]))
before = kib("VmRSS")
scenario = Scenario(tables)
_core.simulate(scenario.core, {})
print(1024 * (kib("VmHWM") - before))
"""
KINDS = ("flows", "cwnd", "queue", "web", "short", "surge", "bulk")
"""What most of the memory is for: flows, samples of flows or of links, or a kind of background."""


def scenario(number: int) -> dict[str, Any]:
    """Returns the scenario of this number, as from TOML; its run takes from 20 to 150 MB."""
    draw = random.Random(number)
    kind = KINDS[number % len(KINDS)]
    rtt = draw.choice([10, 40, 100])
    rate = 1000 if kind in ("web", "short") else 2000 if kind == "surge" else draw.choice([10, 100, 1000])
    bottleneck = {
        "rate": f"{rate} Mbit/s",
        "buffer": f"{5 + int(rate * rtt / 12 * draw.choice([0.2, 1.0]))} packets",
        "queue": draw.choice(["droptail", "red", "codel", "fq_codel", "pie"]),
    }
    flow: dict[str, Any] = {
        "algorithm": draw.choice(["reno", "cubic", "bbr", "htcp", "vegas"]),
        "rtt": f"{rtt} ms",
    }
    table: dict[str, Any] = {"duration": "20 s", "seed": number, "bottleneck": bottleneck, "flow": [flow]}
    table["sample"] = sample = {"cwnd": "1 s", "queue": "1 s"}
    match kind:
        case "flows":
            flow["count"] = draw.choice([4000, 10_000])
            table["duration"] = "3 s"
        case "cwnd":
            flow["count"] = draw.choice([2, 3])
            sample["cwnd"] = draw.choice(["0.2 ms", "0.1 ms"])
        case "queue":
            sample["queue"] = draw.choice(["0.1 ms", "0.05 ms"])
        case "web":
            sessions, page = draw.choice([3000, 6000]), draw.choice(["1 kB", "5 kB"])
            pages = {"sessions": sessions, "gap": "1 s", "page": page}
            table |= {"duration": "60 s", "background": [{"kind": "web", **pages, "rtt": f"{rtt} ms"}]}
        case "short":
            brief = {"kind": "short", "gap": "0.5 ms", "rtt": f"{rtt} ms"}
            table |= {"duration": "60 s", "background": [brief]}
        case "surge":
            users = draw.choice([8000, 20_000])
            table["background"] = [{"kind": "surge", "users": users, "rtt": f"{rtt} ms"}]
        case "bulk":
            flows = draw.choice([6000, 15_000])
            table |= {"duration": "5 s", "background": [{"kind": "bulk", "flows": flows, "rtt": f"{rtt} ms"}]}
    return table


def taken_and_expected(table: dict[str, Any], folder: Path) -> tuple[float, float]:
    """Returns what a run of this scenario takes in a process of its own, and the estimate, bytes."""
    (folder / "scenario.json").write_text(json.dumps(table))
    command = [sys.executable, "-c", PEAK, str(folder / "scenario.json")]
    measured = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(measured.stdout), memory.estimate(Scenario(table))[0]


def main(count: int, first: int) -> int:
    """Prints a line for each scenario; returns 1 if any estimate is below what was taken, or half above."""
    wrong = 0
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            taken, expected = taken_and_expected(scenario(number), Path(folder))
        fits = taken < expected < 1.5 * taken
        wrong += not fits
        sizes = f"{taken / 1e6:.1f} MB, estimated {expected / 1e6:.1f} MB, {expected / taken:.2f}"
        print(f"{number} {KINDS[number % len(KINDS)]}: {sizes}{'' if fits else ' WRONG'}", flush=True)
    print(f"{wrong} of {count} wrong")
    return min(wrong, 1)


if __name__ == "__main__":
    asked = [int(number) for number in sys.argv[1:]]
    sys.exit(main(*(asked + [30, 0][len(asked) :])))
