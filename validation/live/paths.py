"""Compares `stack = "linux"` alone with this machine's own TCP on random paths that nobody tuned for.

Each path is drawn from a seed. It carries one flow of CUBIC, then one of Reno, whose only transport key is the
stack. Live runs take real time; valid ones are kept in a folder, and missing ones are run. `--write` puts the
table into docs/validation-live.md.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import longfat
from longfat.errors import LongfatError
from matrix import PAGE, ROOT, write_page
from runs import Kept, Run, measure

MARKS = ("<!-- make validate-paths -->\n", "<!-- end of make validate-paths -->\n")
ALGORITHMS = {"cubic": "cubic", "reno": "sack"}
"""The kernel's name of an algorithm, and what a scenario calls it."""
RATES_MBPS, RTTS_MS, BUFFERS_BDP = (5.0, 150.0), (10.0, 120.0), (0.3, 1.5)
"""Ranges of the paths: rates are drawn on a logarithmic scale."""
DURATION_S, BEGIN_S = 40.0, 10.0
TOLERANCE = {"throughput_bps": 0.05, "srtt_mean_s": 0.10}
TITLES = {"throughput_bps": "throughput, Mbit/s", "srtt_mean_s": "sRTT, ms"}
UNITS = {"throughput_bps": 1e-6, "srtt_mean_s": 1e3}


@dataclass(frozen=True)
class RandomPath:
    """One random path with one flow."""

    number: int
    module: str
    rate_mbps: float
    rtt_ms: int
    buffer_bdp: float

    @property
    def key(self) -> str:
        """The name of its files."""
        return f"path-{self.number}-{self.module}"

    @property
    def algorithm(self) -> str:
        """What its flow runs."""
        return self.module

    @property
    def seeds(self) -> range:
        """One run: with one flow nothing is random."""
        return range(1, 2)

    @property
    def jobs(self) -> int:
        """How many such live runs go at the same time."""
        return 2

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario for both backends."""
        return {
            "title": f"{self.module}, {self.rate_mbps:g} Mbit/s, {self.rtt_ms} ms, {self.buffer_bdp:g} BDP",
            "duration": f"{DURATION_S:g} s",
            "seed": seed,
            "window": [f"{BEGIN_S:g} s", f"{DURATION_S:g} s"],
            "bottleneck": {
                "rate": f"{self.rate_mbps:g} Mbit/s",
                "buffer": f"{100.0 * self.buffer_bdp:g} % BDP",
            },
            "flow": [{"algorithm": ALGORITHMS[self.module], "rtt": f"{self.rtt_ms} ms", "stack": "linux"}],
        }


def paths(count: int, seed: int) -> list[RandomPath]:
    """Returns the paths that a seed draws, each with every algorithm."""
    draw = random.Random(seed)
    found = []
    for number in range(1, count + 1):
        low, high = RATES_MBPS
        rate = round(low * (high / low) ** draw.random(), 1)
        rtt, buffer = round(draw.uniform(*RTTS_MS)), round(draw.uniform(*BUFFERS_BDP), 2)
        found += [RandomPath(number, module, rate, rtt, buffer) for module in ALGORITHMS]
    return found


def row(path: RandomPath, live: Run) -> tuple[list[str], int]:
    """Returns the table's row of a path, and how many of its figures are within their bounds."""
    simulated = longfat.run(path.scenario(1)).summary["flows"][0]
    measured = live.summary["flows"][0]
    cells, agree = [], 0
    for name, bound in TOLERANCE.items():
        ratio = simulated[name] / measured[name]
        within = abs(ratio - 1.0) <= bound
        agree += within
        text = f"{100.0 * (ratio - 1.0):+.1f} %"
        cells += [
            f"{simulated[name] * UNITS[name]:.4g} / {measured[name] * UNITS[name]:.4g}",
            text if within else f"**{text}**",
        ]
    where = f"{path.rate_mbps:g} Mbit/s, {path.rtt_ms} ms, {path.buffer_bdp:g} BDP"
    return [str(path.number), where, path.module, *cells], agree


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if every figure is within its bound, 1 if not or if a live run is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=12, help="how many random paths")
    parser.add_argument("--seed", type=int, default=18, help="draws the paths")
    parser.add_argument("--jobs", type=int, help="live runs at a time")
    parser.add_argument("--kept", type=Path, default=ROOT / "out" / "live", help="where live runs are kept")
    parser.add_argument("--write", action="store_true", help=f"write the table into docs/{PAGE.name}")
    asked = parser.parse_args(arguments)
    chosen = paths(asked.paths, asked.seed)
    kept = Kept(asked.kept.resolve())
    try:
        failures = measure(chosen, kept, asked.jobs, lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("interrupted; finished runs are kept", file=sys.stderr)
        return 130
    except LongfatError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    rows = [row(path, found[0]) for path in chosen if (found := kept.runs(path))]
    agree, figures = sum(count for _, count in rows), len(TOLERANCE) * len(rows)
    head = ["path", "rate, RTT, buffer", "algorithm"]
    for name, bound in TOLERANCE.items():
        head += [TITLES[name], f"difference (bound {100.0 * bound:g} %)"]
    lines = [
        f"Linux {platform.release()}; {agree} of {figures} figures are within their bounds. The first of two "
        f'numbers is the simulator\'s, with `stack = "linux"` and no other transport key; one flow of '
        f"{DURATION_S:g} s, results from {BEGIN_S:g} s on; paths drawn with seed {asked.seed}.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(f"| {' | '.join(cells)} |" for cells, _ in rows),
    ]
    text = "\n".join(lines) + "\n"
    if asked.write:
        write_page(text, MARKS)
    print(text)
    return 1 if failures or len(rows) < len(chosen) or agree < figures else 0


if __name__ == "__main__":
    sys.exit(main())
