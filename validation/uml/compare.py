"""Compares Longfat with the Linux kernel's own congestion control modules, in user-mode Linux.

One bulk flow crosses a rate-limited bottleneck with a drop-tail queue, set up and sampled in the same way on
both sides. `--write` puts the tables into docs/validation.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table

import longfat
from figures import Figures, Trace, figures, of_kernel, of_longfat
from longfat.scenario import registry
from machine import HERE, MachineError, parts, run_all

ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "validation.md"
MARKS = ("<!-- make validate-uml -->\n", "<!-- end of make validate-uml -->\n")
TOLERANCE = 0.1
"""A ratio that is further from 1 needs an explanation."""
SAMPLE_S = 0.05
MSS_BYTES, HEADER_BYTES, ETHERNET_BYTES = 1448, 52, 14
BUFFER_BYTES = 16 << 20
"""Buffers of both sockets. Half of the receiver's is its advertised window, which must hold several times the
sender's cwnd: everything sent after a loss waits there for the retransmission."""
LIMIT_S = 300.0
"""Real time that a guest may take."""
SYSCTLS = {
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_rmem": f"4096 {BUFFER_BYTES} {BUFFER_BYTES}",
    "net.ipv4.tcp_wmem": f"4096 {BUFFER_BYTES} {BUFFER_BYTES}",
    "net.ipv4.tcp_mem": "65536 65536 65536",  # no memory pressure
}
SHOWN = {
    "mean_cwnd": ("mean cwnd", "{:.1f}"),
    "backoff": ("backoff", "{:.3f}"),
    "growth": ("growth, 1/s", "{:.2f}"),
    "events": ("events/min", "{:.1f}"),
    "srtt_ms": ("sRTT, ms", "{:.1f}"),
}
HEADINGS = ("module", "value", "Linux", "Longfat", "ratio", "outside of 10 %: why")


@dataclass(frozen=True)
class Network:
    """A path, and how long its flow runs.

    Attributes:
        rate_bps: rate of IP bytes.
        rtt_ms: propagation delay. Together with a segment's time on the bottleneck it is just below a whole
            number of ticks of the guest's 100 Hz clock: some modules count round-trip times in ticks and
            round up.
        limit_packets: packets that wait or are in transmission.
        threshold_packets: RED marks what finds more than so many of them, if any. Only modules that respond
            to the extent of marking run there.
    """

    name: str
    rate_bps: int
    rtt_ms: int
    limit_packets: int
    duration_s: float
    warmup_s: float
    threshold_packets: int = 0

    def title(self) -> str:
        """Describes the path in words."""
        marks = f", marks above {self.threshold_packets}" if self.threshold_packets else ""
        return (
            f"{self.rate_bps / 1e6:g} Mbit/s, round-trip time {self.rtt_ms} ms, {self.limit_packets} packets "
            f"of queue{marks}, one flow of {self.duration_s:g} s; results from {self.warmup_s:g} s on"
        )


NETWORKS = (
    Network("thin", 20_000_000, 99, 100, 120.0, 20.0),
    Network("fat", 50_000_000, 199, 400, 80.0, 20.0),
    Network("marking", 20_000_000, 99, 400, 120.0, 20.0, threshold_packets=40),
)
"""Bandwidth-delay products of 165 and 829 packets, with queues of 60 and 48 % of them, and one that marks."""
RESPONDS_TO_EXTENT = frozenset({"dctcp"})
"""Modules that the networks with a threshold are for. Their receivers need the same module."""
RED_WEIGHT = 0.5
"""tc gives RED this weight for a burst of as many packets as the lower threshold has (tc_red_eval_ewma)."""


@dataclass(frozen=True)
class Case:
    """One algorithm on one path: the kernel's module, and the parameters that Longfat uses for it."""

    name: str
    module: str
    parameters: dict[str, str]
    network: Network

    @property
    def key(self) -> str:
        """The name of its files."""
        return f"{self.network.name}-{self.module}"

    def plan(self, files: list[str]) -> dict[str, Any]:
        """Returns the plan of the guest."""
        return {
            "module": self.module,
            "modules": files,
            "sysctls": SYSCTLS | self.receivers_module(),
            "threshold_packets": self.network.threshold_packets,
            "rate_bps": self.network.rate_bps,
            "ethernet_bytes": ETHERNET_BYTES,
            "rtt_ms": self.network.rtt_ms,
            "limit_packets": self.network.limit_packets,
            "duration_s": self.network.duration_s,
            "sample_s": SAMPLE_S,
        }

    def receivers_module(self) -> dict[str, str]:
        """Returns the sysctl by which the receiver tells of marks as the sender's module expects."""
        marks = self.network.threshold_packets > 0
        return {"net.ipv4.tcp_congestion_control": self.module} if marks else {}

    def queue(self) -> Any:
        """Returns the queue of Longfat's bottleneck; its length leaves out the packet in transmission."""
        threshold = self.network.threshold_packets - 1
        if threshold < 0:
            return "droptail"
        curve = {"min": f"{threshold} packets", "max": f"{threshold + 1} packets", "max_p": 1.0}
        return {"kind": "red", **curve, "weight": RED_WEIGHT, "ecn": True, "harddrop": False}

    def scenario(self) -> dict[str, Any]:
        """Returns Longfat's scenario of the same path; the guest's veth pairs take no time."""
        return {
            "title": f"{self.name} beside Linux",
            "duration": f"{self.network.duration_s} s",
            "bottleneck": {
                "rate": f"{self.network.rate_bps} bit/s",
                # netem's limit includes the packet in transmission
                "buffer": f"{self.network.limit_packets - 1} packets",
                "queue": self.queue(),
                "access_rate": "1 Tbit/s",
                "reverse_rate": "1 Tbit/s",
            },
            "flow": [
                {
                    "algorithm": {"name": self.name, **self.parameters},
                    "rtt": f"{self.network.rtt_ms} ms",
                    "mss": f"{MSS_BYTES} B",
                    "stack": "linux",
                }
            ],
            "sample": {"cwnd": f"{SAMPLE_S} s", "events": True},
        }


def cases() -> list[Case]:
    """Returns every algorithm with a kernel module on each path; the first where several name one."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for row in registry.rows("algorithms"):
        module = row["linux_module"]
        if module is not None and module not in found:
            choices = [p["name"] for p in row["parameters"] if "linux" in (p["choices"] or [])]
            found[module] = row["name"], dict.fromkeys(choices, "linux")
    return [
        Case(name, module, parameters, network)
        for network in NETWORKS
        for module, (name, parameters) in found.items()
        if not network.threshold_packets or module in RESPONDS_TO_EXTENT
    ]


@dataclass(frozen=True)
class Row:
    """One quantity of one case on both sides."""

    case: Case
    figure: str
    kernel: float | None
    longfat: float | None
    explanation: str | None

    @property
    def ratio(self) -> float | None:
        """Longfat's value over the kernel's."""
        return self.longfat / self.kernel if self.kernel and self.longfat is not None else None

    @property
    def agrees(self) -> bool:
        """Whether the ratio is within the tolerance, or there is nothing to compare.

        One event more or less in the time observed is a matter of phase.
        """
        if self.figure == "events" and self.kernel is not None and self.longfat is not None:
            watched_s = self.case.network.duration_s - self.case.network.warmup_s
            if abs(self.longfat - self.kernel) * watched_s / 60.0 < 1.5:
                return True
        if self.ratio is None:
            return not self.kernel and not self.longfat
        return abs(self.ratio - 1.0) <= TOLERANCE

    def cells(self) -> list[str]:
        """Returns the cell of the table."""
        title, form = SHOWN[self.figure]
        values = ["-" if value is None else form.format(value) for value in (self.kernel, self.longfat)]
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        verdict = "" if self.agrees else self.explanation or "NOT EXPLAINED"
        return [self.case.module, title, *values, ratio, verdict]


def explanations() -> dict[tuple[str, str, str], str]:
    """By path, module and quantity. Each was written after the measurement."""
    with (HERE / "explanations.toml").open("rb") as file:
        entries = tomllib.load(file).get("explanation", [])
    return {
        (network, entry["module"], figure): entry["text"]
        for entry in entries
        for network in entry["networks"]
        for figure in entry["figures"]
    }


def compare(case: Case, kernel: Trace, ours: Trace, known: dict[tuple[str, str, str], str]) -> list[Row]:
    """All quantities of one case."""
    window = case.network.warmup_s, case.network.duration_s
    theirs, mine = (figures(trace, *window) for trace in (kernel, ours))
    names = [field.name for field in fields(Figures)]
    why = {name: known.get((case.network.name, case.module, name)) for name in names}
    return [Row(case, name, getattr(theirs, name), getattr(mine, name), why[name]) for name in names]


def draw(case: Case, kernel: Trace, ours: Trace, path: Path) -> None:
    """Draws cwnd over time on both sides."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="time, s", ylabel="cwnd, segments", title=case.key)
    axes.plot(kernel.time_s, kernel.cwnd, linewidth=0.8, label=f"Linux, {case.module}")
    axes.plot(ours.time_s, ours.cwnd, linewidth=0.8, label=f"Longfat, {case.name}")
    axes.legend()
    figure.savefig(path, dpi=100)


def check_guest(folder: Path) -> None:
    """Refuses a run in which the guest did not measure properly.

    Raises:
        MachineError: samples came late, segments are not as long as assumed, or packets stood for several.
    """
    trace = json.loads((folder / "trace.json").read_text())
    link, *_ = json.loads((folder / "bottleneck.json").read_text())
    mean_bytes = link["bytes"] / link["packets"]
    full = MSS_BYTES + HEADER_BYTES + ETHERNET_BYTES
    if trace["mss"] != MSS_BYTES or not full - 5 < mean_bytes <= full:  # a few are SYN, or retransmitted
        raise MachineError(f"{folder.name}: segments of {trace['mss']} bytes, packets of {mean_bytes:.1f}")
    if trace["late_s"] > 0.1 * SAMPLE_S:
        raise MachineError(f"{folder.name}: a sample came {1e3 * trace['late_s']:.2f} ms late")


def by_network(rows: Iterable[Row]) -> list[tuple[Network, list[Row]]]:
    """Returns the rows by path."""
    listed = list(rows)
    split = [(network, [row for row in listed if row.case.network == network]) for network in NETWORKS]
    return [(network, own) for network, own in split if own]


def markdown(rows: list[Row], release: str) -> str:
    """Returns the tables of docs/validation.md."""
    lines = [f"Linux {release}."]
    for network, own in by_network(rows):
        lines += ["", f"{network.title()}:", "", f"| {' | '.join(HEADINGS)} |", "|" + "---|" * len(HEADINGS)]
        lines += [f"| {' | '.join(row.cells())} |".replace("  |", " |") for row in own]
    return "\n".join(lines) + "\n"


def write_page(text: str) -> None:
    """Replaces what stands between the marks."""
    head, begin, rest = PAGE.read_text().partition(MARKS[0])
    _, end, tail = rest.partition(MARKS[1])
    if not begin or not end:
        raise MachineError(f"{PAGE.relative_to(ROOT)}: the marks {MARKS[0].strip()} are missing")
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + tail)


def show(rows: list[Row], console: Console) -> None:
    """Prints the same tables."""
    for network, own in by_network(rows):
        table = Table(title=network.title(), title_justify="left")
        for heading in HEADINGS:
            table.add_column(heading, justify="right" if heading in HEADINGS[2:5] else "left")
        for row in own:
            table.add_row(*row.cells(), end_section=row.figure == list(SHOWN)[-1])
        console.print(table)


def measure(chosen: list[Case], folder: Path, jobs: int) -> tuple[list[Row], str]:
    """Measures both sides of each case; traces and pictures stay in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    known = explanations()
    found = parts(folder)
    common = [
        file for name in ("veth", "sch_netem", "sch_red", "sch_tbf") for file in found.module_files(name)
    ]
    plans = {}
    for case in chosen:
        own = [] if case.module == "reno" else found.module_files(f"tcp_{case.module}")
        plans[case.key] = case.plan(common + own)
    folders = run_all(found, plans, folder, jobs, LIMIT_S)
    rows = []
    for case in chosen:
        check_guest(folders[case.key])
        kernel, ours = of_kernel(folders[case.key]), of_longfat(longfat.run(case.scenario()))
        draw(case, kernel, ours, folder / f"{case.key}.png")
        rows += compare(case, kernel, ours, known)
    return rows, found.release


def _stop(_signal: int, _frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if all agrees or is explained, 1 if not, 2 if it could not be measured."""
    every = cases()
    modules = list(dict.fromkeys(case.module for case in every))
    names = [network.name for network in NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="MODULE", choices=modules, default=modules)
    parser.add_argument("--network", nargs="+", choices=names, default=names)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="guests at a time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "uml", help="for traces and pictures")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/validation.md")
    asked = parser.parse_args(arguments)
    chosen = [case for case in every if case.module in asked.only and case.network.name in asked.network]
    if asked.jobs < 1:
        parser.error("--jobs takes 1 or more")
    if asked.write and chosen != every:
        parser.error("--write takes everything: leave out --only and --network")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        rows, release = measure(chosen, asked.out.resolve(), asked.jobs)
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
