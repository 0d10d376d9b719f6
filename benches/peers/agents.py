"""Compares Longfat's stack of ns-2 with ns-2's own agents, on the same paths.

`--write` puts the table into docs/validation.md. Finished runs of ns-2 are kept in out/ns2 and not repeated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

import longfat

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEPT = ROOT / "out" / "ns2"
SCRIPT = HERE / "ns2" / "agents.tcl"
PAGE = ROOT / "docs" / "validation.md"
MARKS = ("<!-- make validate-ns2 -->\n", "<!-- end of make validate-ns2 -->\n")
TOLERANCE = 0.05
"""A ratio that is further from 1 needs an explanation."""
LIMIT_S = 600.0
"""Real time that one run of ns-2 may take."""
PACKET_BITS = 8 * 1040
PAYLOAD_BYTES = 1000
STACK = {"stack": "ns-2", "mss": f"{PAYLOAD_BYTES} B"}
VEGAS_THRESHOLDS = (0.5, 3.5)
"""Segments. ns-2's are 1 and 3 (v_alpha_, v_beta_); it rounds the difference that it compares with them."""
SHOWN = {
    "cwnd": ("mean cwnd", "{:.1f}"),
    "utilisation": ("utilisation", "{:.4f}"),
    "queue": ("mean queue", "{:.2f}"),
    "drop_ratio": ("drop ratio", "{:.2e}"),
}
HEADINGS = ("path", "agent", "value", "ns-2", "Longfat", "ratio", "outside of 5 %: why")


class PeerError(Exception):
    """ns-2 is missing or failed."""


@dataclass(frozen=True)
class Network:
    """A path. Its queue holds `waiting` packets besides the one in transmission."""

    name: str
    rate_mbps: float
    rtt_ms: float
    waiting: int
    warmup_s: float
    duration_s: float
    red: bool = False

    @property
    def bdp(self) -> float:
        """The bandwidth-delay product, packets."""
        return self.rate_mbps * 1e6 * self.rtt_ms / 1e3 / PACKET_BITS

    @property
    def thresholds(self) -> tuple[float, float]:
        """RED's, packets: a twelfth and a quarter of the queue, which never fills then."""
        return self.waiting / 12, self.waiting / 4

    def title(self) -> str:
        """Describes the path in words."""
        least, greatest = self.thresholds
        queue = f"RED from {least:.1f} to {greatest:.1f} in" if self.red else "queue of"
        return (
            f"{self.name}: {self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {queue} {self.waiting} packets "
            f"({self.waiting / self.bdp:.1f} BDP), {self.warmup_s:g} to {self.duration_s:g} s"
        )


NETWORKS = (
    Network("a", 2, 200, 48, 100, 900),
    Network("b", 5, 100, 30, 100, 700),
    Network("c", 10, 20, 36, 50, 350),
    Network("d", 10, 60, 22, 50, 350),
    Network("e", 20, 40, 96, 50, 350),
    Network("f", 20, 150, 180, 100, 500),
    Network("g", 50, 30, 54, 50, 200),
    Network("h", 50, 80, 360, 50, 250),
    Network("i", 100, 20, 120, 30, 100),
    Network("j", 200, 40, 288, 30, 110),
    Network("k", 10, 60, 216, 50, 250, red=True),
    Network("l", 20, 40, 288, 50, 250, red=True),
    Network("m", 50, 30, 540, 50, 150, red=True),
)
"""2 to 200 Mbit/s, 20 to 200 ms, drop-tail queues of 0.3 to 1.5 BDP; and three with RED."""


@dataclass(frozen=True)
class Agent:
    """One of ns-2's agents, and what Longfat runs for it."""

    name: str
    longfat: str
    flows: int = 1

    def algorithm(self, network: Network) -> dict[str, Any]:
        """Returns the algorithm with its parameters on this path."""
        if self.longfat != "vegas":
            return {"name": self.longfat}
        base_s = network.rtt_ms / 1e3 + PACKET_BITS / (network.rate_mbps * 1e6)
        rates = [f"{segments * PAYLOAD_BYTES / base_s} B/s" for segments in VEGAS_THRESHOLDS]
        return {"name": "vegas", "alpha_rate": rates[0], "beta_rate": rates[1]}


AGENTS = {
    "Reno": Agent("reno", "reno-classic"),
    "Newreno": Agent("newreno", "newreno"),
    "Sack1": Agent("sack1", "reno"),
    "Sack1, HighSpeed": Agent("hstcp", "hstcp"),
    "Vegas": Agent("vegas", "vegas"),
    "Vegas, 3 flows": Agent("vegas", "vegas", flows=3),
}
UNDER_RED = ("Newreno", "Sack1", "Sack1, HighSpeed")
SEEDS = (1, 2, 3)
"""RED draws random numbers: the mean of so many runs is compared."""
STAGGER_S = 5.0


@dataclass(frozen=True)
class Figures:
    """What is compared: over the flows, and from the end of the warm-up on."""

    cwnd: float
    utilisation: float
    queue: float
    drop_ratio: float
    drops: float


@dataclass(frozen=True)
class Case:
    """One agent on one path."""

    agent: str
    network: Network

    @property
    def ssthresh(self) -> int:
        """Half of what the path holds for each flow: slow-start ends without a loss."""
        held = self.network.bdp + (0 if self.network.red else self.network.waiting)
        return max(2, int(held / 2 / AGENTS[self.agent].flows))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its runs; without RED nothing is random but the phase of ns-2's clock."""
        return SEEDS if self.network.red else SEEDS[:1]

    def theirs(self, program: str, seed: int) -> Figures:
        """Runs ns-2.

        Raises:
            PeerError: it failed or took too long.
        """
        network, agent = self.network, AGENTS[self.agent]
        least, greatest = network.thresholds
        asked = {
            "agent": agent.name,
            "rate": network.rate_mbps * 1e6,
            "rtt": network.rtt_ms / 1e3,
            "waiting": network.waiting,
            "queue": "red" if network.red else "droptail",
            "least": least,
            "greatest": greatest,
            "flows": agent.flows,
            "stagger": STAGGER_S,
            "ssthresh": self.ssthresh,
            "duration": network.duration_s,
            "warmup": network.warmup_s,
            "seed": seed,
        }
        found = json.loads(kept([program, str(SCRIPT), *(str(x) for pair in asked.items() for x in pair)]))
        seconds = network.duration_s - network.warmup_s
        return Figures(
            found["cwnd"],
            found["packets"] * PACKET_BITS / (seconds * network.rate_mbps * 1e6),
            found["queue"],
            found["drops"] / (found["packets"] + found["drops"]),
            found["drops"],
        )

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns Longfat's scenario of the same path."""
        network, agent = self.network, AGENTS[self.agent]
        least, greatest = network.thresholds
        red = {
            "kind": "red",
            "min": least,
            "max": greatest,
            "max_p": 0.1,
            "weight": 0.002,
            "gentle": True,
            "wait": True,
        }
        return {
            "title": f"ns-2's {self.agent}",
            "duration": f"{network.duration_s} s",
            "window": [f"{network.warmup_s} s", f"{network.duration_s} s"],
            "seed": seed,
            "bottleneck": {
                "rate": f"{network.rate_mbps} Mbit/s",
                "buffer": f"{network.waiting} packets",
                "access_rate": "10 Gbit/s",
                "reverse_rate": "10 Gbit/s",
                "queue": red if network.red else "droptail",
            },
            "flow": [
                {
                    "algorithm": agent.algorithm(network),
                    "rtt": f"{network.rtt_ms} ms",
                    "count": agent.flows,
                    "stagger": f"{STAGGER_S} s",
                    "initial_ssthresh": self.ssthresh,
                    **STACK,
                }
            ],
        }

    def ours(self, seed: int) -> Figures:
        """Runs Longfat."""
        summary = longfat.run(self.scenario(seed)).summary
        link = summary["links"][0]
        return Figures(
            fmean(flow["cwnd_mean"] for flow in summary["flows"]),
            link["utilization"],
            link["queue_mean_packets"],
            link["loss_ratio"],
            link["packets_dropped"],
        )


def kept(command: list[str], script: Path = SCRIPT) -> str:
    """Returns what the command prints, or printed when it ran before with this script.

    Raises:
        PeerError: it failed or took too long.
    """
    file = KEPT / hashlib.sha256(f"{command[2:]}{script.read_text()}".encode()).hexdigest()[:16]
    if file.exists():
        return file.read_text()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise PeerError(f"ns-2 took more than {LIMIT_S:g} s: {' '.join(command)}") from None
    if done.returncode != 0 or not done.stdout.strip():
        raise PeerError(f"ns-2 failed: {' '.join(command)}\n{done.stderr[-500:]}")
    KEPT.mkdir(parents=True, exist_ok=True)
    file.with_suffix(".part").write_text(done.stdout)
    file.with_suffix(".part").replace(file)
    return done.stdout


@dataclass(frozen=True)
class Row:
    """One quantity of one case on both sides."""

    case: Case
    figure: str
    theirs: float
    ours: float
    drops: tuple[float, float]
    explanation: str | None

    @property
    def ratio(self) -> float | None:
        """Longfat's value over ns-2's."""
        return self.ours / self.theirs if self.theirs else None

    @property
    def agrees(self) -> bool:
        """Whether the ratio is within the tolerance. One loss episode more or less is a matter of phase."""
        if self.figure == "drop_ratio" and abs(self.drops[0] - self.drops[1]) < 1.5:
            return True
        if self.ratio is None:
            return not self.ours
        return abs(self.ratio - 1.0) <= TOLERANCE

    def cells(self) -> list[str]:
        """Returns the cells of the table."""
        title, form = SHOWN[self.figure]
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        verdict = "" if self.agrees else self.explanation or "NOT EXPLAINED"
        values = [form.format(value) for value in (self.theirs, self.ours)]
        return [self.case.network.name, self.case.agent, title, *values, ratio, verdict]


def cases() -> list[Case]:
    """Returns every agent on each path; under RED those whose losses are its drops."""
    return [
        Case(name, network) for network in NETWORKS for name in AGENTS if not network.red or name in UNDER_RED
    ]


def explanations() -> dict[tuple[str, str, str], str]:
    """By path, agent and quantity. Each was written after the measurement."""
    with (HERE / "ns2" / "explanations.toml").open("rb") as file:
        entries = tomllib.load(file).get("explanation", [])
    return {
        (path, agent, figure): entry["text"]
        for entry in entries
        for path in entry["paths"]
        for agent in entry["agents"]
        for figure in entry["figures"]
    }


def mean(runs: list[Figures]) -> Figures:
    """Returns the mean of each figure."""
    return Figures(*(fmean(getattr(run, field.name) for run in runs) for field in fields(Figures)))


def compare(case: Case, program: str, known: dict[tuple[str, str, str], str]) -> list[Row]:
    """Measures both sides of one case."""
    theirs = mean([case.theirs(program, seed) for seed in case.seeds])
    ours = mean([case.ours(seed) for seed in case.seeds])
    return [
        Row(
            case,
            figure,
            getattr(theirs, figure),
            getattr(ours, figure),
            (theirs.drops, ours.drops),
            known.get((case.network.name, case.agent, figure)),
        )
        for figure in SHOWN
    ]


def find_ns2() -> str:
    """Returns ns-2's program.

    Raises:
        PeerError: it is missing.
    """
    program = shutil.which("ns") or shutil.which("ns2")
    if program is None:
        raise PeerError("ns-2 is missing; on Debian: apt install ns2")
    return program


def markdown(rows: Iterable[Row]) -> str:
    """Returns the tables of docs/validation.md."""
    lines = [f"- {network.title()}" for network in NETWORKS]
    lines += ["", f"| {' | '.join(HEADINGS)} |", "|" + "---|" * len(HEADINGS)]
    lines += [f"| {' | '.join(row.cells())} |".replace("  |", " |") for row in rows]
    return "\n".join(lines) + "\n"


def write_page(text: str) -> None:
    """Replaces what stands between the marks.

    Raises:
        PeerError: the marks are missing.
    """
    head, begin, rest = PAGE.read_text().partition(MARKS[0])
    _, end, tail = rest.partition(MARKS[1])
    if not begin or not end:
        raise PeerError(f"{PAGE.relative_to(ROOT)}: the marks {MARKS[0].strip()} are missing")
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + tail)


def show(rows: Iterable[Row], console: Console) -> None:
    """Prints the same table."""
    table = Table()
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in HEADINGS[3:6] else "left")
    for row in rows:
        table.add_row(*row.cells(), end_section=row.figure == list(SHOWN)[-1])
    console.print(table)


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if all agrees or is explained, 1 if not, 2 if it could not be measured."""
    every = cases()
    names = [network.name for network in NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="AGENT", choices=list(AGENTS), default=list(AGENTS))
    parser.add_argument("--path", nargs="+", choices=names, default=names)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--write", action="store_true", help="write the table into docs/validation.md")
    asked = parser.parse_args(arguments)
    chosen = [case for case in every if case.agent in asked.only and case.network.name in asked.path]
    if asked.jobs < 1:
        parser.error("--jobs takes 1 or more")
    if asked.write and chosen != every:
        parser.error("--write takes everything: leave out --only and --path")
    try:
        program, known = find_ns2(), explanations()
        with ThreadPoolExecutor(asked.jobs) as pool:
            rows = [
                row for own in pool.map(lambda case: compare(case, program, known), chosen) for row in own
            ]
        if asked.write:
            write_page(markdown(rows))
    except PeerError as error:
        print(error, file=sys.stderr)
        return 2
    show(rows, Console(width=None if sys.stdout.isatty() else 140))
    unexplained = sum(not row.agrees and row.explanation is None for row in rows)
    apart = sum(not row.agrees for row in rows)
    print(f"{len(rows)} quantities, {apart} outside of 5 %, {unexplained} of them not explained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
