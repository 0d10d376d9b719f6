"""Longfat beside the Linux kernel's own congestion control modules, which run in user-mode Linux.

One bulk flow over a rate-limited bottleneck with a drop-tail queue, on both sides alike, sampled alike, and the
figures of both samples. `--write` puts the table into docs/validation.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import longfat
from longfat import registry
from longfat.result import Result
from machine import HERE, MachineError, parts, run_all
from rich.console import Console
from rich.table import Table
from trace import Figures, Trace, figures, of_kernel, of_longfat

ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "validation.md"
MARKS = ("<!-- make validate-uml -->\n", "<!-- end of make validate-uml -->\n")
TOLERANCE = 0.1
"""A ratio further from 1 needs an explanation."""

RATE_BPS = 20_000_000
"""Of IP bytes."""
RTT_MS = 99
"""With a segment's 0.6 ms on the bottleneck just below ten ticks of the guest's clock of 100 Hz, in which some
modules count round-trip times, and which they round up."""
LIMIT_PACKETS = 100
"""Waiting and in transmission; 60 % of the bandwidth-delay product."""
DURATION_S, WARMUP_S = 120.0, 20.0
SAMPLE_S = 0.02
MSS_BYTES, HEADER_BYTES = 1448, 52
BUFFER_BYTES = 4 << 20
"""Of both sockets: several times what the path holds."""
LIMIT_S = 300.0
"""Real time that a guest may take."""

SYSCTLS = {
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_recovery": "0",  # losses are found by duplicates, as RFC 6675 does, not by RACK
    "net.ipv4.tcp_early_retrans": "0",  # no tail loss probes
    "net.ipv4.tcp_rmem": f"4096 {BUFFER_BYTES} {BUFFER_BYTES}",
    "net.ipv4.tcp_wmem": f"4096 {BUFFER_BYTES} {BUFFER_BYTES}",
    "net.ipv4.tcp_mem": "65536 65536 65536",
}
SHOWN = {
    "mean_cwnd": ("mean cwnd", "{:.1f}"),
    "backoff": ("backoff", "{:.3f}"),
    "growth": ("growth, 1/s", "{:.2f}"),
    "events": ("events/min", "{:.1f}"),
    "srtt_ms": ("sRTT, ms", "{:.1f}"),
}


@dataclass(frozen=True)
class Case:
    """One algorithm: the kernel's module, and Longfat's parameters for it."""

    name: str
    module: str
    parameters: dict[str, str]

    def plan(self, files: list[str]) -> dict[str, Any]:
        """For the guest."""
        return {
            "module": self.module,
            "modules": files,
            "sysctls": SYSCTLS,
            "rate_bps": RATE_BPS,
            "rtt_ms": RTT_MS,
            "limit_packets": LIMIT_PACKETS,
            "duration_s": DURATION_S,
            "sample_s": SAMPLE_S,
        }

    def scenario(self) -> dict[str, Any]:
        """For Longfat: the same path. The guest's veth pairs take no time."""
        return {
            "title": f"{self.name} beside Linux",
            "duration": f"{DURATION_S} s",
            "bottleneck": {
                "rate": f"{RATE_BPS} bit/s",
                "buffer": f"{LIMIT_PACKETS - 1} packets",  # netem's limit counts the one in transmission too
                "access_rate": "1 Tbit/s",
                "reverse_rate": "1 Tbit/s",
            },
            "flow": [
                {
                    "algorithm": {"name": self.name, **self.parameters},
                    "rtt": f"{RTT_MS} ms",
                    "mss": f"{MSS_BYTES} B",
                    "recovery": "prr",
                    "initial_window": 10,
                }
            ],
            "sample": {"cwnd": f"{SAMPLE_S} s", "events": True},
        }


def cases() -> list[Case]:
    """Every algorithm that names a module; the first one of each module."""
    found: dict[str, Case] = {}
    for row in registry.rows("algorithms"):
        module = row["linux_module"]
        if module is not None and module not in found:
            choices = {p["name"] for p in row["parameters"] if "linux" in (p["choices"] or [])}
            found[module] = Case(row["name"], module, dict.fromkeys(choices, "linux"))
    return list(found.values())


@dataclass(frozen=True)
class Row:
    """One figure of one algorithm on both sides."""

    case: Case
    figure: str
    kernel: float | None
    longfat: float | None
    explanation: str | None

    @property
    def ratio(self) -> float | None:
        """Longfat over the kernel."""
        if self.kernel is None or self.longfat is None or self.kernel == 0.0:
            return None
        return self.longfat / self.kernel

    @property
    def agrees(self) -> bool:
        """Within the tolerance, or nothing to compare on either side."""
        if self.ratio is None:
            return not self.kernel and not self.longfat
        return abs(self.ratio - 1.0) <= TOLERANCE

    def cells(self) -> list[str]:
        """As the tables show it."""
        title, form = SHOWN[self.figure]
        values = ["-" if value is None else form.format(value) for value in (self.kernel, self.longfat)]
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        verdict = "" if self.agrees else self.explanation or "NOT EXPLAINED"
        return [self.case.module, title, *values, ratio, verdict]


def explanations() -> dict[tuple[str, str], str]:
    """By module and figure. Each was written after it had been measured."""
    with (HERE / "explanations.toml").open("rb") as file:
        entries = tomllib.load(file).get("explanation", [])
    return {(entry["module"], figure): entry["text"] for entry in entries for figure in entry["figures"]}


def compare(case: Case, kernel: Trace, ours: Trace, known: dict[tuple[str, str], str]) -> list[Row]:
    """All figures of one algorithm."""
    theirs, mine = (figures(trace, WARMUP_S, DURATION_S) for trace in (kernel, ours))
    return [
        Row(case, f.name, getattr(theirs, f.name), getattr(mine, f.name), known.get((case.module, f.name)))
        for f in fields(Figures)
    ]


def draw(case: Case, kernel: Trace, ours: Trace, path: Path) -> None:
    """Both windows over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="time, s", ylabel="cwnd, segments", title=f"{case.module}, {case.name}")
    axes.plot(kernel.time_s, kernel.cwnd, linewidth=0.8, label="Linux")
    axes.plot(ours.time_s, ours.cwnd, linewidth=0.8, label="Longfat")
    axes.legend()
    figure.savefig(path, dpi=100)


def checked_guest(folder: Path) -> None:
    """Refuse a run in which the guest was not the instrument that it should be.

    Raises:
        MachineError: samples came late, segments are not as long as assumed, or packets stood for several.
    """
    trace = json.loads((folder / "trace.json").read_text())
    (link,) = json.loads((folder / "bottleneck.json").read_text())
    mean_bytes = link["bytes"] / link["packets"]
    full = MSS_BYTES + HEADER_BYTES + 14  # Ethernet
    if trace["mss"] != MSS_BYTES or not full - 5 < mean_bytes <= full:
        raise MachineError(f"{folder.name}: segments of {trace['mss']} bytes, packets of {mean_bytes:.1f}")
    if trace["late_s"] > 0.1 * SAMPLE_S:
        raise MachineError(f"{folder.name}: a sample came {1e3 * trace['late_s']:.2f} ms late")


def markdown(rows: list[Row], release: str) -> str:
    """The table of docs/validation.md."""
    lines = [
        f"Linux {release}, {RATE_BPS / 1e6:g} Mbit/s, round-trip time {RTT_MS} ms, {LIMIT_PACKETS} packets of queue, "
        f"one flow of {DURATION_S:g} s; figures from {WARMUP_S:g} s on.",
        "",
        "| module | figure | Linux | Longfat | ratio | outside of 10 %: why |",
        "|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def write_page(text: str) -> None:
    """Replace what stands between the marks."""
    page = PAGE.read_text()
    head, begin, rest = page.partition(MARKS[0])
    _, end, tail = rest.partition(MARKS[1])
    if not begin or not end:
        raise MachineError(f"{PAGE.relative_to(ROOT)}: the marks {MARKS[0].strip()} are missing")
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + tail)


def show(rows: list[Row], console: Console) -> None:
    """The same table for a terminal."""
    table = Table()
    for column in ("module", "figure", "Linux", "Longfat", "ratio", "outside of 10 %: why"):
        table.add_column(column, justify="right" if column in ("Linux", "Longfat", "ratio") else "left")
    for row in rows:
        table.add_row(*row.cells(), end_section=row.figure == list(SHOWN)[-1])
    console.print(table)


def measure(chosen: list[Case], folder: Path, jobs: int) -> tuple[list[Row], str]:
    """Both sides of each case; traces and pictures stay in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    known = explanations()
    found = parts(folder)
    common = [file for name in ("veth", "sch_netem") for file in found.module_files(name)]
    plans = {}
    for case in chosen:
        own = [] if case.module == "reno" else found.module_files(f"tcp_{case.module}")
        plans[case.module] = case.plan(common + own)
    folders = run_all(found, plans, folder, jobs, LIMIT_S)
    rows = []
    for case in chosen:
        checked_guest(folders[case.module])
        result: Result = longfat.run(case.scenario())
        kernel, ours = of_kernel(folders[case.module]), of_longfat(result, MSS_BYTES)
        draw(case, kernel, ours, folder / f"{case.module}.png")
        rows += compare(case, kernel, ours, known)
    return rows, found.release


def _stop(_signal: int, _frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0: all agrees or is explained; 1: something is not; 2: it could not be measured."""
    all_cases = {case.module: case for case in cases()}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="MODULE", choices=list(all_cases), default=list(all_cases))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="guests at a time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "uml", help="for traces and pictures")
    parser.add_argument("--write", action="store_true", help="write the table into docs/validation.md")
    asked = parser.parse_args(arguments)
    if asked.jobs < 1:
        parser.error("--jobs takes 1 or more")
    if asked.write and len(asked.only) < len(all_cases):
        parser.error("--write takes all modules: leave out --only")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        rows, release = measure([all_cases[name] for name in asked.only], asked.out.resolve(), asked.jobs)
        if asked.write:
            write_page(markdown(rows, release))
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    show(rows, console)
    console.print(f"traces and pictures: {asked.out}")
    return 0 if all(row.agrees or row.explanation for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
