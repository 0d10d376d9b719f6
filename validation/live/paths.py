"""Compares `stack = "linux"` alone with this machine's own TCP on random paths that nobody tuned for.

Each path is drawn from a seed and carries one TCP flow, of CUBIC, Reno and BBR in turn; the stack is the
flow's only transport key. On half of the paths the rate is constant; on the others it falls, rises or breaks
off, or bursts of datagrams take most of it. Live runs take real time; valid ones are kept in a folder, and
missing ones are run. `--write` puts the tables into docs/validation-live.md.
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
ALGORITHMS = {"cubic": "cubic", "reno": "reno", "bbr": "bbr"}
"""The kernel's name of an algorithm, and what a scenario calls it."""
RATES_MBPS, RTTS_MS, BUFFERS_BDP = (5.0, 150.0), (10.0, 200.0), (0.05, 1.5)
"""Ranges of the paths, all drawn on a logarithmic scale."""
DURATION_S, BEGIN_S, CHANGE_S = 40.0, 10.0, 15.0
"""The results begin after slow-start, and the change comes after them."""
LEAST_PACKETS = 6
"""A buffer has room for a delayed ACK's burst at least."""


@dataclass(frozen=True)
class Bound:
    """How far apart a metric of both may be.

    Attributes:
        title: the metric as the table names it.
        scale: from the summary's unit to the title's.
        ratio: the simulator's value over the kernel's, or its inverse, is at most this.
    """

    title: str
    scale: float
    ratio: float


CONSTANT = {
    "throughput_bps": Bound("throughput, Mbit/s", 1e-6, 1.05),
    "srtt_mean_s": Bound("sRTT, ms", 1e3, 1.10),
}
VARYING = {
    "goodput_bps": Bound("goodput, Mbit/s", 1e-6, 1.07),
    "srtt_mean_s": Bound("sRTT, ms", 1e3, 1.15),
    "packets_dropped": Bound("packets dropped", 1.0, 2.0),
}
FEW_DROPS = 20
"""Up to as many drops on each side count as equal (chosen here)."""


@dataclass(frozen=True)
class RandomPath:
    """One random path with one flow of TCP.

    Attributes:
        number: its place among the paths of its kind.
        module: the kernel's name of the algorithm.
        rate_mbps: the rate of a constant path, and of others before and after the change.
        rtt_ms: round-trip time without a queue.
        buffer_packets: the buffer, of the rate at the beginning.
        change: what happens to the path, as the table says it; empty if nothing does.
        tables: the keys of the bottleneck for that.
        bursts: when datagrams come at four fifths of the rate, from and to, seconds.
    """

    number: int
    module: str
    rate_mbps: float
    rtt_ms: int
    buffer_packets: int
    change: str = ""
    tables: tuple[tuple[str, Any], ...] = ()
    bursts: tuple[tuple[float, float], ...] = ()

    @property
    def key(self) -> str:
        """The name of its files."""
        return f"path-{'varying' if self.change else 'constant'}-{self.number}-{self.module}"

    @property
    def algorithm(self) -> str:
        """What its flow runs; two runs of one do not go at the same time."""
        return self.module

    @property
    def seeds(self) -> range:
        """One run: nothing is random."""
        return range(1, 2)

    @property
    def jobs(self) -> int:
        """How many such live runs go at the same time."""
        return 2

    @property
    def text(self) -> str:
        """What the table says of the path."""
        packets = self.rate_mbps * 1e6 * self.rtt_ms * 1e-3 / (8 * 1500)
        path = f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms} ms, {self.buffer_packets / packets:.2g} BDP"
        return f"{path}; {self.change}" if self.change else path

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario for both backends."""
        flow = {
            "name": "tcp",
            "algorithm": ALGORITHMS[self.module],
            "rtt": f"{self.rtt_ms} ms",
            "stack": "linux",
        }
        datagrams = [
            {
                "name": f"burst {i + 1}",
                "algorithm": {"name": "cbr", "rate": f"{0.8 * self.rate_mbps:.4g} Mbit/s"},
                "rtt": f"{self.rtt_ms} ms",
                "start": f"{begin:g} s",
                "stop": f"{end:g} s",
            }
            for i, (begin, end) in enumerate(self.bursts)
        ]
        bottleneck = {
            "rate": f"{self.rate_mbps:g} Mbit/s",
            "buffer": f"{self.buffer_packets} packets",
            **dict(self.tables),
        }
        return {
            "title": f"{self.module}, {self.text}",
            "duration": f"{DURATION_S:g} s",
            "seed": seed,
            "window": [f"{BEGIN_S:g} s", f"{DURATION_S:g} s"],
            "bottleneck": bottleneck,
            "flow": [flow, *datagrams],
        }


class Draw:
    """Draws paths from a seed."""

    def __init__(self, seed: int) -> None:
        """The paths of a seed are always the same."""
        self.random = random.Random(seed)

    def log(self, low: float, high: float) -> float:
        """Returns a number on a logarithmic scale, with three digits."""
        return float(f"{low * (high / low) ** self.random.random():.3g}")

    def path(self, number: int, module: str) -> dict[str, Any]:
        """Returns what constant and varying paths have in common."""
        rate_mbps, rtt_ms = self.log(*RATES_MBPS), round(self.log(*RTTS_MS))
        buffer = self.log(*BUFFERS_BDP) * rate_mbps * 1e6 * rtt_ms * 1e-3 / (8 * 1500)
        return {
            "number": number,
            "module": module,
            "rate_mbps": rate_mbps,
            "rtt_ms": rtt_ms,
            "buffer_packets": max(round(buffer), LEAST_PACKETS),
        }

    def steps(self, rate_mbps: float, share: float) -> tuple[tuple[str, Any], ...]:
        """Returns a rate that becomes this share of itself."""
        steps = [["0 s", f"{rate_mbps:g} Mbit/s"], [f"{CHANGE_S:g} s", f"{share * rate_mbps:.4g} Mbit/s"]]
        return (("rate", {"steps": steps}),)

    def change(self, kind: str, rate_mbps: float) -> dict[str, Any]:
        """Returns what happens to a path that begins at this rate."""
        if kind == "falls":
            share = self.log(0.02, 0.5)
            return {"change": f"falls to {share:g} of it", "tables": self.steps(rate_mbps, share)}
        if kind == "rises":
            share = self.log(2.0, 10.0)
            return {"change": f"rises {share:g} times", "tables": self.steps(rate_mbps, share)}
        if kind == "breaks off":
            length_s = self.log(0.3, 4.0)
            outage = {"begin": f"{CHANGE_S:g} s", "length": f"{length_s:g} s"}
            return {"change": f"breaks off for {length_s:g} s", "tables": (("outages", [outage]),)}
        lengths_s = [self.log(0.5, 3.0) for _ in range(3)]
        bursts = tuple((CHANGE_S + 8 * i, CHANGE_S + 8 * i + length) for i, length in enumerate(lengths_s))
        return {"change": "bursts of " + ", ".join(f"{each:g} s" for each in lengths_s), "bursts": bursts}


CHANGES = ("falls", "rises", "breaks off", "bursts")


def paths(count: int, seed: int) -> list[RandomPath]:
    """Returns as many constant paths as `count` says, and then as many that vary."""
    draw, modules = Draw(seed), tuple(ALGORITHMS)
    constant = [RandomPath(**draw.path(i + 1, modules[i % len(modules)])) for i in range(count)]
    varying = []
    for i in range(count):
        kind = CHANGES[i % len(CHANGES)]
        # each change meets each algorithm
        path = draw.path(i + 1, modules[(i + i // len(CHANGES)) % len(modules)])
        if kind == "rises":
            path["rate_mbps"] = float(f"{path['rate_mbps'] / 3:.3g}")
        varying.append(RandomPath(**path, **draw.change(kind, path["rate_mbps"])))
    return constant + varying


def value(summary: dict[str, Any], name: str) -> float:
    """Returns a metric of the first flow, or the packets that the bottleneck dropped."""
    found = summary["links"][0][name] if name == "packets_dropped" else summary["flows"][0][name]
    return float(found)


def row(path: RandomPath, live: Run) -> tuple[list[str], int]:
    """Returns the table's row of a path, and how many of its metrics are within their bounds."""
    simulated = longfat.run(path.scenario(1)).summary
    cells, agree = [], 0
    for name, bound in (VARYING if path.change else CONSTANT).items():
        ours, kernel = value(simulated, name), value(live.summary, name)
        few = name == "packets_dropped" and max(ours, kernel) <= FEW_DROPS
        within = few or (min(ours, kernel) > 0 and max(ours / kernel, kernel / ours) <= bound.ratio)
        agree += within
        difference = f"{100.0 * (ours / kernel - 1.0):+.1f} %" if kernel else "-"
        cells += [
            f"{ours * bound.scale:.4g} / {kernel * bound.scale:.4g}",
            difference if within else f"**{difference}**",
        ]
    return [str(path.number), path.text, path.module, *cells], agree


def table(rows: list[tuple[list[str], int]], bounds: dict[str, Bound], what: str) -> tuple[list[str], bool]:
    """Returns the lines about one kind of path, and whether every metric is within its bounds."""
    agree, metrics = sum(count for _, count in rows), len(bounds) * len(rows)
    head = ["path", "rate, RTT, buffer", "algorithm"]
    for bound in bounds.values():
        head += [bound.title, f"difference (bound: a factor {bound.ratio:g})"]
    lines = [
        f"{what}: {agree} of {metrics} metrics are within their bounds.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(f"| {' | '.join(cells)} |" for cells, _ in rows),
        "",
    ]
    return lines, agree == metrics


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if every metric is within its bound, 1 if not or if a live run is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=24, help="how many random paths of each kind")
    parser.add_argument("--seed", type=int, default=45, help="draws the paths")
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
    rows: dict[bool, list[tuple[list[str], int]]] = {True: [], False: []}
    for path in chosen:
        if found := kept.runs(path):
            rows[bool(path.change)].append(row(path, found[0]))
    constant, constant_agrees = table(rows[False], CONSTANT, "Constant paths")
    varying, varying_agrees = table(rows[True], VARYING, "Paths that vary")
    lines = [
        f"Linux {platform.release()}. The first of two numbers is the simulator's, with the stack `linux` "
        f"and no other transport key; one flow of TCP for {DURATION_S:g} s, results from {BEGIN_S:g} s on; "
        f"paths drawn with seed {asked.seed}. Up to {FEW_DROPS} drops on each side count as equal.",
        "",
        *constant,
        *varying,
    ]
    text = "\n".join(lines)
    if asked.write:
        write_page(text, MARKS)
    print(text)
    complete = sum(map(len, rows.values())) == len(chosen)
    return 0 if not failures and complete and constant_agrees and varying_agrees else 1


if __name__ == "__main__":
    sys.exit(main())
