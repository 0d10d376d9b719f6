"""Runs the reference work W1 to W4 in Longfat, ns-2 and ns-3 by turns, and prints the ratios.

Costs are user CPU time per data packet that leaves the bottleneck, less set-up; a peer's set-up is a run of
almost no simulated time. A separate run counts ns-2's packets, since its monitors cost time. W4 is ns-3's own
example, with the RED curve of that; its packets cross three links, which transmissions per second count.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure  # noqa: E402
from measure import BenchError, Row  # noqa: E402

CASES = {"w1": 600.0, "w2": 200.0, "w3": 60.0}
"""Simulated seconds."""
NS3_CASES = {"w1": 20.0, "w3": 2.0, "w4": 1.0}
"""ns-3 takes 30 to 200 us per packet, so only the first seconds are run."""
NS3_LONG = {"w1": 60.0, "w2": 20.0, "w3": 10.0, "w4": 5.0}
"""With --ns3-long: tens of minutes, most of them for W2."""
SET_UP_S = 0.001
PACKET_BITS = 12_000
RATES_BPS = {"w1": 250e6, "w2": 1e9, "w3": 1e9, "w4": 1e10}
FORMS = {"w4": "ramp"}
"""What follows a case's name: `--bottleneck` in Longfat, in place of the name in ns-3."""
GOALS = {("ns-2", "w1"): 25.0, ("ns-2", "w2"): 28.0, ("ns-2", "w3"): 20.0, ("ns-3", "w4"): 100.0}
"""The ratios to Longfat that the design asks for."""
NS3_PROGRAMS = {"w1": "work", "w2": "work", "w3": "work", "w4": "w4"}
NS3_MODULES = [
    *("ns3-applications", "ns3-internet", "ns3-nix-vector-routing", "ns3-point-to-point"),
    "ns3-traffic-control",
]


@dataclass
class Side:
    """One simulator on one case: the costs of its runs, and what happened in them."""

    case: str
    seconds: float
    simulator: str
    packets: int = 0
    dropped: int = 0
    transmissions: int | None = None
    peak_memory_kib: int = 0
    user_s: list[float] = field(default_factory=list)
    set_up_s: list[float] = field(default_factory=list)

    def cost(self) -> Row:
        """Nanoseconds per packet, less set-up."""
        set_up = statistics.median(self.set_up_s)
        return measure.spread([1e9 * (s - set_up) / self.packets for s in self.user_s])

    def transmissions_per_s(self) -> float | None:
        """Packets and links that they crossed, for a second of CPU time; nothing if not counted."""
        spent_s = statistics.median(self.user_s) - statistics.median(self.set_up_s)
        return None if self.transmissions is None else self.transmissions / spent_s

    def utilization(self) -> float:
        """Share of the bottleneck's capacity that was used."""
        return self.packets * PACKET_BITS / (self.seconds * RATES_BPS[self.case])

    def row(self) -> Row:
        """Returns everything, for JSON."""
        return {
            "case": self.case,
            "simulator": self.simulator,
            "duration_s": self.seconds,
            "packets": self.packets,
            "packets_dropped": self.dropped,
            "utilization": self.utilization(),
            "set_up_s": statistics.median(self.set_up_s),
            "ns_per_packet": self.cost(),
            "transmissions_per_s": self.transmissions_per_s(),
            "peak_memory_mib": self.peak_memory_kib / 1024,
        }


def longfat(binary: Path, side: Side) -> None:
    """Runs Longfat once."""
    form = ["--bottleneck", FORMS[side.case]] if side.case in FORMS else []
    row = measure.run([binary, side.case, *form, "--seconds", str(side.seconds)])
    side.packets, side.dropped = row["packets"], row["packets_dropped"]
    side.transmissions = row["transmissions"]
    side.user_s.append(row["setup_s"] + row["user_s"])
    side.set_up_s.append(row["setup_s"])
    side.peak_memory_kib = max(side.peak_memory_kib, row["peak_memory_kib"])


def ns2(program: str, scheduler: str, side: Side) -> None:
    """Runs ns-2 and its set-up; the first time also a run that counts packets."""
    script: list[str | Path] = [program, HERE / "ns2" / "work.tcl", side.case]
    if not side.packets:
        counted = measure.run([*script, str(side.seconds), scheduler, "count"])
        side.packets, side.dropped = counted["packets"], counted["packets_dropped"]
    side.set_up_s.append(measure.run([*script, str(SET_UP_S), scheduler])["process_user_s"])
    row = measure.run([*script, str(side.seconds), scheduler])
    side.user_s.append(row["process_user_s"])
    side.peak_memory_kib = max(side.peak_memory_kib, row["peak_memory_kib"])


def ns3(programs: dict[str, Path], side: Side) -> None:
    """Runs ns-3 and its set-up."""
    command: list[str | Path] = [programs[NS3_PROGRAMS[side.case]], FORMS.get(side.case, side.case)]
    side.set_up_s.append(measure.run([*command, str(SET_UP_S)])["process_user_s"])
    row = measure.run([*command, str(side.seconds)])
    side.packets, side.dropped = row["packets"], row["packets_dropped"]
    side.transmissions = row.get("transmissions")
    side.user_s.append(row["process_user_s"])
    side.peak_memory_kib = max(side.peak_memory_kib, row["peak_memory_kib"])


def find_ns2() -> str | None:
    """Returns ns-2's program, or raises with a line on how to get it."""
    program = shutil.which("ns") or shutil.which("ns2")
    if program is None:
        print("ns-2 is missing; on Debian: apt install ns2", file=sys.stderr)
    return program


def build_ns3() -> dict[str, Path] | None:
    """Builds our programs for ns-3, or says what is missing."""
    how = "on Debian: apt install libns3-dev libgsl-dev g++ pkg-config"
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        print(f"ns-3 is left out: g++ or pkg-config is missing; {how}", file=sys.stderr)
        return None
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *NS3_MODULES], capture_output=True, text=True)
    if flags.returncode != 0:
        print(f"ns-3 is missing; {how}", file=sys.stderr)
        return None
    programs = {}
    for name in dict.fromkeys(NS3_PROGRAMS.values()):
        program = measure.OUT / "peers" / f"ns3-{name}"
        program.parent.mkdir(parents=True, exist_ok=True)
        source = str(HERE / "ns3" / f"{name}.cc")
        command = ["g++", "-std=c++17", "-O2", source, "-o", str(program), *flags.stdout.split()]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"ns-3 is left out: {name}.cc does not build; {how}\n{done.stderr[-500:]}", file=sys.stderr)
            return None
        programs[name] = program
    return programs


def table(title: str, ours: list[Side], theirs: list[Side]) -> Table:
    """Prints each case side by side, with the ratio of the medians."""
    shown = Table(title=title, title_justify="left")
    for column in ("case", "simulator"):
        shown.add_column(column, no_wrap=True)
    for column in (
        "s",
        "packets",
        "drops",
        "util.",
        "ns/packet",
        "spread",
        "MPTS",
        "set-up s",
        "MiB",
        "ratio",
        "goal",
    ):
        shown.add_column(column, justify="right", no_wrap=True)
    for our, their in zip(ours, theirs, strict=True):
        ratio = their.cost()["median"] / our.cost()["median"]
        goal = GOALS.get((their.simulator, our.case))
        for side, last in (
            (our, ["", ""]),
            (their, [f"{ratio:.1f}", f"{goal:.0f}" if goal else ""]),
        ):
            cost = side.cost()
            shown.add_row(
                side.case,
                side.simulator,
                f"{side.seconds:g}",
                str(side.packets),
                str(side.dropped),
                f"{side.utilization():.3f}",
                f"{cost['median']:.1f}",
                f"{100 * cost['spread']:.0f} %",
                "" if (rate := side.transmissions_per_s()) is None else f"{1e-6 * rate:.3g}",
                f"{statistics.median(side.set_up_s):.3f}",
                f"{side.peak_memory_kib / 1024:.1f}",
                *last,
            )
    return shown


def main(arguments: list[str] | None = None) -> int:
    """Measures every simulator that is installed, prints tables and writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = list(NS3_PROGRAMS)
    parser.add_argument("--repeats", type=int, default=3, help="rounds with ns-2; ns-3 has one")
    parser.add_argument("--only", nargs="+", choices=every, default=every, help="cases")
    parser.add_argument(
        "--scheduler", default="Calendar", help="ns-2's: Calendar (its default), Splay, Heap, Map"
    )
    parser.add_argument(
        "--ns3-long", action="store_true", help="longer runs of ns-3, and W2: tens of minutes"
    )
    parser.add_argument("--no-ns3", action="store_true", help="leave ns-3 out")
    parser.add_argument("--out", type=Path, default=measure.OUT / "peers.json")
    asked = parser.parse_args(arguments)
    if asked.repeats < 1:
        parser.error("--repeats takes 1 or more")
    console = Console(width=None if sys.stdout.isatty() else 140)
    measured: dict[str, Any] = {"host": measure.host(), "ns2_scheduler": asked.scheduler, "rows": []}
    try:
        binary = measure.build_as_released()
        measure.warn_if_busy()
        chosen = {case: CASES[case] for case in asked.only if case in CASES}
        program = find_ns2() if chosen else None
        if program is not None:
            ours = [Side(case, seconds, "longfat") for case, seconds in chosen.items()]
            theirs = [Side(case, seconds, "ns-2") for case, seconds in chosen.items()]
            for _ in range(asked.repeats):
                for our, their in zip(ours, theirs, strict=True):
                    ns2(program, asked.scheduler, their)
                    longfat(binary, our)
            console.print(table(f"ns-2, scheduler {asked.scheduler}", ours, theirs))
            measured["rows"] += [side.row() for side in ours + theirs]
        built = None if asked.no_ns3 else build_ns3()
        if built is not None:
            lengths = NS3_LONG if asked.ns3_long else NS3_CASES
            chosen = {case: lengths[case] for case in asked.only if case in lengths}
            ours = [Side(case, seconds, "longfat") for case, seconds in chosen.items()]
            theirs = [Side(case, seconds, "ns-3") for case, seconds in chosen.items()]
            for our, their in zip(ours, theirs, strict=True):
                ns3(built, their)
                longfat(binary, our)
            console.print(table("ns-3, the beginning of each case", ours, theirs))
            measured["rows"] += [side.row() for side in ours + theirs]
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(measured, indent=1) + "\n")
    console.print(f"written: {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
