"""Compares the kernel's own eBPF selftests in the simulator with the same objects on this machine's own TCP.

The objects are built from Debian's source package and not kept. Each runs on random paths with a single
flow; the bottleneck marks for bpf_dctcp. Live runs take real time; valid ones are kept in a folder, and
missing ones are run. `--write` puts the table into docs/validation-live.md.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import kernel_source
import longfat
from cases import flow, marking
from longfat.errors import LongfatError
from matrix import PAGE, ROOT, kernel, refusal, write_page
from runs import Kept, Run, measure

MARKS = ("<!-- make validate-selftests -->\n", "<!-- end of make validate-selftests -->\n")
SELFTESTS = ("bpf_cubic", "bpf_cc_cubic", "bpf_dctcp")
MARKED = frozenset(("bpf_dctcp",))
RATES_MBPS, RTTS_MS, BUFFERS_BDP = (8.0, 120.0), (15.0, 100.0), (0.4, 1.2)
"""Ranges of the paths: rates are drawn on a logarithmic scale."""
DURATION_S, BEGIN_S = 40.0, 10.0
PATHS = 6
"""How many random paths the page has."""
SEED = 23
"""Draws the paths."""
NAMED_BY = (0, 2)
"""The cells that name a row: the path's number and the object."""
TOLERANCE = {"throughput": 0.05, "cwnd": 0.10}
SACK_COMPRESSION = "1 ms"
"""tcp_comp_sack_delay_ns, which hosts have by default. bpf_cc_cubic sends by what one ACK tells of."""
REPEATS = {"bpf_cc_cubic": 3}
"""Live runs of a path, where it is not one. A late packet moves bpf_cc_cubic between its two states."""
SEEDS = 5
"""Runs of the simulator beside several live ones, with packets as late as those of the live runs."""


@dataclass(frozen=True)
class Lateness:
    """How late the routers of live runs handed packets to hosts, s."""

    median: float
    p99: float
    greatest: float

    @classmethod
    def of(cls, live: Sequence[Run]) -> Lateness:
        """Returns the medians over the runs."""
        each = [run.summary["validity"]["lateness_s"] for run in live]
        return cls(*(statistics.median(float(late[i]) for late in each) for i in range(3)))

    def draw(self, packets: int, stream: random.Random) -> list[float]:
        """Draws the lateness of so many packets: what is known, and exponential pieces between.

        Half of them are late by up to the median, evenly, and the greatest is that of one in all of them.
        """
        tail, rest = math.log(0.5 / 0.01), math.log(max(0.01 * packets, 2.0))

        def quantile(beyond: float) -> float:
            if beyond > 0.5:
                return self.median * (1.0 - beyond) / 0.5
            if beyond > 0.01:
                return self.median + (self.p99 - self.median) * math.log(0.5 / beyond) / tail
            return min(self.p99 + (self.greatest - self.p99) * math.log(0.01 / beyond) / rest, self.greatest)

        return [quantile(1.0 - stream.random()) for _ in range(packets)]


@dataclass(frozen=True)
class SelftestPath:
    """A selftest's object on one random path."""

    object: Path
    number: int
    rate_mbps: float
    rtt_ms: int
    buffer_bdp: float

    @property
    def algorithm(self) -> str:
        """The selftest's name."""
        return self.object.name.partition(".")[0]

    @property
    def key(self) -> str:
        """The name of its files."""
        return f"selftest-{self.number}-{self.algorithm}"

    @property
    def seeds(self) -> range:
        """One run, as with one flow nothing is random, or as many as live runs differ by themselves."""
        return range(1, 1 + REPEATS.get(self.algorithm, 1))

    @property
    def jobs(self) -> int:
        """How many such live runs go at the same time: one where a late packet may decide."""
        return 2 if len(self.seeds) == 1 else 1

    def simulated(self, live: Sequence[Run], tail: bool = False) -> list[Run]:
        """Runs it in the simulator, with receivers that compress SACK blocks as the kernel's do.

        With one live run nothing is random, and a live run of that scenario is the same, so
        `longfat crosscheck` takes it too. Beside several live runs, each of several seeds lets packets be
        late as their routers were: up to twice the median lateness, so that the median is the same, or with
        the `tail` as well.
        """
        if len(self.seeds) == 1:
            return [Run.of(longfat.run(self.told()))]
        late = Lateness.of(live)
        if not tail:
            jitter = {"jitter": f"{2e6 * late.median:g} us"}
            return [Run.of(longfat.run(self.told(seed, jitter))) for seed in range(1, 1 + SEEDS)]
        with tempfile.TemporaryDirectory() as folder:
            return [self._late(seed, late, Path(folder) / "late") for seed in range(1, 1 + SEEDS)]

    def _late(self, seed: int, late: Lateness, trace: Path) -> Run:
        packet_ms = 12.0 / self.rate_mbps
        packets = round(1e3 * DURATION_S / packet_ms)
        drawn = late.draw(packets, random.Random(seed))
        lines = (f"{i * packet_ms:.4f} {1e3 * seconds:.4f}\n" for i, seconds in enumerate(drawn))
        trace.write_text("".join(lines))
        return Run.of(longfat.run(self.told(seed, {"added_delay": {"trace": str(trace)}})))

    def told(self, seed: int = 1, bottleneck: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """Returns the simulator's scenario, with more options of the bottleneck."""
        scenario = self.scenario(seed)
        scenario["bottleneck"] |= bottleneck
        scenario["flow"] = [one | {"sack_compression": SACK_COMPRESSION} for one in scenario["flow"]]
        return scenario

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario of a live run."""
        buffer = f"{100.0 * self.buffer_bdp:g} % BDP"
        bottleneck: dict[str, Any] = {"rate": f"{self.rate_mbps:g} Mbit/s", "buffer": buffer}
        if self.algorithm in MARKED:
            bottleneck["queue"] = marking(self.rate_mbps, self.rtt_ms)
        return {
            "title": f"{self.algorithm}, simulator and live",
            "seed": seed,
            "duration": f"{DURATION_S:g} s",
            "window": [f"{BEGIN_S:g} s", f"{DURATION_S:g} s"],
            "bottleneck": bottleneck,
            "flow": [flow(str(self.object), self.rtt_ms)],
        }


def paths(objects: list[Path], count: int, seed: int) -> list[SelftestPath]:
    """Returns the paths that a seed draws, each with every object."""
    draw = random.Random(seed)
    found = []
    for number in range(1, count + 1):
        low, high = RATES_MBPS
        rate = round(low * (high / low) ** draw.random(), 1)
        rtt, buffer = round(draw.uniform(*RTTS_MS)), round(draw.uniform(*BUFFERS_BDP), 2)
        found += [SelftestPath(each, number, rate, rtt, buffer) for each in objects]
    return found


def apart(simulated: Sequence[float], measured: Sequence[float]) -> float:
    """Returns how far each side's median is from what the other side spans, the farther of the two.

    With one run on each side that is how far the live one is from the other.
    """

    def nearest(value: float, others: Sequence[float]) -> float:
        return min(max(value, min(others)), max(others))

    ours, theirs = statistics.median(simulated), statistics.median(measured)
    return max(nearest(ours, measured) / ours - 1.0, theirs / nearest(theirs, simulated) - 1.0, key=abs)


def span(values: Sequence[float]) -> str:
    """Returns the number, or the median of several with the least and the greatest."""
    middle = f"{statistics.median(values):.2f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.2f} to {max(values):.2f})"


def summary(counted: Sequence[tuple[str, int]]) -> str:
    """Says how many values are within their bounds, by the rule that applies to them.

    Args:
        counted: the object of each row, and how many of its values are.
    """

    def of(names: set[str]) -> str:
        own = [agree for name, agree in counted if name in names]
        return f"{sum(own)} of {len(TOLERANCE) * len(own)} values"

    several, names = set(REPEATS), {name for name, _ in counted}
    parts = [f"{of(names - several)} with one live run are within their bounds (5 %, 10 %)"]
    if names & several:
        parts.append(
            f"{of(several)} of {', '.join(sorted(names & several))}, with "
            f"{' or '.join(str(count) for count in sorted(set(REPEATS.values())))} live runs and {SEEDS} "
            "seeds of the simulator, have the median of each side as near to the range of the other"
        )
    return "; ".join(parts)


def row(path: SelftestPath, sim: Sequence[Run], live: Sequence[Run]) -> tuple[list[str], int]:
    """Returns the table's row of a path, and how many of its values are within their bounds.

    With several runs on each side, the median of each has to be near what the other spans.
    """
    pairs = {
        "throughput": ([run.mbps(0) for run in sim], [run.mbps(0) for run in live]),
        "cwnd": ([run.cwnd for run in sim], [run.cwnd for run in live]),
    }
    cells, agree = [], 0
    for name, (simulated, measured) in pairs.items():
        difference = apart(simulated, measured)
        within = abs(difference) <= TOLERANCE[name]
        agree += within
        text = f"{100.0 * difference:+.1f} %"
        cells += [f"{span(simulated)}, {span(measured)}", text if within else f"**{text}**"]

    def timeouts(runs: Sequence[Run]) -> str:
        counts = [int(run.summary["flows"][0]["timeouts"]) for run in runs]
        return " to ".join(map(str, sorted({min(counts), max(counts)})))

    where = f"{path.rate_mbps:g} Mbit/s, {path.rtt_ms} ms, {path.buffer_bdp:g} BDP"
    return [str(path.number), where, path.algorithm, *cells, f"{timeouts(sim)}, {timeouts(live)}"], agree


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if every value is within its bound, 1 if not or if a live run is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=PATHS, help="how many random paths")
    parser.add_argument("--seed", type=int, default=SEED, help="draws the paths")
    parser.add_argument("--only", nargs="+", choices=SELFTESTS, default=SELFTESTS, help="only these objects")
    parser.add_argument("--jobs", type=int, help="live runs at a time")
    parser.add_argument("--kept", type=Path, default=ROOT / "out" / "live", help="where live runs are kept")
    parser.add_argument(
        "--tail", action="store_true", help="simulated packets are as late as the latest live"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table into docs/{PAGE.name}")
    asked = parser.parse_args(arguments)
    if asked.paths < 1 or (asked.jobs is not None and asked.jobs < 1):
        parser.error("--paths and --jobs take 1 or more")
    if asked.write and (set(asked.only) != set(SELFTESTS) or asked.paths != PATHS or asked.tail):
        parser.error("--write takes everything: leave out --only, --paths and --tail")
    kept = Kept(asked.kept.resolve())
    with tempfile.TemporaryDirectory(prefix="longfat-selftests-") as folder:
        try:
            objects = kernel_source.build(SELFTESTS, Path(folder))
            chosen = [
                path for path in paths(objects, asked.paths, asked.seed) if path.algorithm in asked.only
            ]
            failures = measure(chosen, kept, asked.jobs, lambda line: print(line, flush=True))
            rows = [
                row(path, path.simulated(found, asked.tail), found)
                for path in chosen
                if len(found := kept.runs(path)) == len(path.seeds)
            ]
        except KeyboardInterrupt:
            print("interrupted; finished runs are kept", file=sys.stderr)
            return 130
        except (LongfatError, kernel_source.NotBuiltError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    agree, values = sum(count for _, count in rows), len(TOLERANCE) * len(rows)
    counted = [(cells[NAMED_BY[1]], count) for cells, count in rows]
    head = ["path", "rate, RTT, buffer", "object", "throughput, Mbit/s", "", "mean cwnd", "", "timeouts"]
    lines = [
        f"Linux {kernel()}; {summary(counted)}. The first of two numbers is the simulator's; one flow of "
        f"{DURATION_S:g} s, results from {BEGIN_S:g} s on; paths drawn with seed {asked.seed}; simulated "
        f'receivers have `sack_compression = "{SACK_COMPRESSION}"`, as the kernel has. Where there are '
        "several runs, a value is their median, with the least and the greatest. The simulator's packets are "
        f"then late at random, {'as' if asked.tail else 'by the median as'} those of the live runs' routers, "
        "and the difference is that of the median of one side from the range of the other, the greater of "
        "the two.",
        "",
        f"| {' | '.join(head)} |".replace("  |", " |"),
        "|" + "---|" * len(head),
        *(f"| {' | '.join(cells)} |" for cells, _ in rows),
    ]
    text = "\n".join(lines) + "\n"
    if asked.write:
        refused = refusal(text, MARKS, NAMED_BY)
        if refused is not None:
            print(refused, file=sys.stderr)
            return 2
        write_page(text, MARKS)
    print(text)
    return 1 if failures or len(rows) < len(chosen) or agree < values else 0


if __name__ == "__main__":
    sys.exit(main())
