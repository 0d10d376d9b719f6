"""Measures what Longfat costs: the reference work, flows, bottlenecks, memory over time, and many tiny runs.

Each run is a process of its own. Times are user CPU time per data packet that leaves the bottleneck, and
for cases of several hops also per data packet and link that it crosses. MPTS are millions of packet
transmissions, of acknowledgements too, per second of user CPU time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
import pgo
from measure import BenchError, Row
from rich.console import Console
from rich.table import Table

FLOWS = [2, 10, 100, 1000, 10_000]
SECTIONS = ["cases", "scaling", "bottlenecks", "memory", "runs"]
SUITE = "suite"
"""A section that runs only when it is named, since it can take long."""
GOALS = {"w1": 45.0, "w2": 45.0, "w3": 150.0, "w4": 60.0, "w5": 60.0, "w6": 60.0, "w7": 150.0}
"""The bars of the design, in ns per packet and link that it crosses."""
W7_GOAL_MIB = 1024.0
SCALING_GOAL = 2.5
"""Cost with 10000 flows, as a multiple of that with 100."""
BOTTLENECK_GOALS = dict.fromkeys(pgo.BOTTLENECKS, 1.8) | {"xcp": 2.5}
"""Cost with another bottleneck, as a multiple of that with drop-tail at a constant rate."""
BOTTLENECK_ROUNDS = 9
"""The fewest: a run takes 50 ms, so that single ones say little."""
MEMORY_GOAL_MIB = 64.0
RUN_GOAL_MS = 5.0


def repeat(command: list[str | Path], repeats: int) -> Row:
    """Runs the command that many times; returns the last run's values and statistics of the cost."""
    return alternate([command], repeats)[0]


def alternate(commands: list[list[str | Path]], rounds: int) -> list[Row]:
    """Repeats several commands, each once a round: then other work on the machine hardly changes ratios."""
    made = [[measure.run(command) for command in commands] for _ in range(rounds)]
    return [summed_up(command, [row[i] for row in made]) for i, command in enumerate(commands)]


def summed_up(command: list[str | Path], rows: list[Row]) -> Row:
    """Returns the last run's values and statistics of the cost."""
    if len({row["packets"] for row in rows}) != 1:
        raise BenchError(f"{' '.join(map(str, command[1:]))}: the same plan gave another number of packets")
    return {
        **{
            key: rows[-1][key]
            for key in ("case", "title", "flows", "duration_s", "packets", "events_per_packet")
        },
        **{key: rows[-1][key] for key in ("utilization", "packets_dropped", "transfers", "transmissions")},
        "ns_per_packet": measure.spread([row["ns_per_packet"] for row in rows]),
        "ns_per_packet_hop": statistics.median(row["ns_per_packet_hop"] for row in rows),
        "transmissions_per_s": statistics.median(row["transmissions_per_s"] for row in rows),
        "setup_s": statistics.median(row["setup_s"] for row in rows),
        "system_s": statistics.median(row["system_s"] for row in rows),
        "peak_memory_mib": max(row["peak_memory_kib"] for row in rows) / 1024,
    }


def cost_cells(row: Row) -> list[str]:
    """Returns median, minimum and spread of the cost, packets/s, MPTS, events per packet, set-up, memory."""
    cost = row["ns_per_packet"]
    return [
        f"{cost['median']:.1f}",
        f"{cost['min']:.1f}",
        f"{100 * cost['spread']:.0f} %",
        f"{1e3 / cost['median']:.1f}",
        f"{1e-6 * row['transmissions_per_s']:.1f}",
        f"{row['events_per_packet']:.2f}",
        f"{1e3 * row['setup_s']:.2f}",
        f"{row['peak_memory_mib']:.1f}",
    ]


COST_COLUMNS = ["ns/packet", "min", "spread", "Mpacket/s", "MPTS", "events/packet", "set-up ms", "peak MiB"]


def table(title: str, columns: list[str]) -> Table:
    """Prints a table whose first column holds words and whose others hold numbers."""
    made = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right", no_wrap=i > 0)
    return made


def cases(binary: Path, repeats: int, console: Console) -> list[Row]:
    """Measures every case of the reference work except `scale`, which has its own table."""
    listed = measure.listing(binary)
    shown = table("Reference work", ["case", "packets", "utilization", *COST_COLUMNS, "ns/hop", "goal"])
    rows = []
    for case in listed:
        if case["case"] == "scale":
            continue
        row = repeat([binary, case["case"]], repeats)
        row["goal_ns_per_packet_hop"] = GOALS.get(case["case"])
        goal = f"{row['goal_ns_per_packet_hop']:.0f}" if row["goal_ns_per_packet_hop"] else ""
        shown.add_row(
            f"{row['case']}: {row['title']}",
            f"{row['packets']}",
            f"{row['utilization']:.3f}",
            *cost_cells(row),
            f"{row['ns_per_packet_hop']:.1f}",
            goal,
        )
        rows.append(row)
    console.print(shown)
    console.print(f"W7 may take {W7_GOAL_MIB:.0f} MiB\n")
    return rows


def scaling(binary: Path, repeats: int, console: Console) -> list[Row]:
    """Measures the cost per packet over the number of flows, each with the same share of the rate."""
    shown = table(
        "Cost against flows: NewReno, 1 Mbit/s each, 20-200 ms",
        ["flows", "packets", "dropped", *COST_COLUMNS],
    )
    rows = alternate([[binary, "scale", "--flows", str(flows)] for flows in FLOWS], repeats)
    for flows, row in zip(FLOWS, rows, strict=True):
        packets, dropped = row["packets"], row["packets_dropped"]
        share = f"{100 * dropped / (packets + dropped):.1f} %"
        shown.add_row(str(flows), str(packets), share, *cost_cells(row))
    console.print(shown)
    few, most = (rows[FLOWS.index(flows)]["ns_per_packet"]["median"] for flows in (100, 10_000))
    console.print(f"10000 flows cost {most / few:.2f} times what 100 flows cost (goal {SCALING_GOAL})\n")
    return rows


def bottlenecks(binary: Path, rounds: int, console: Console) -> list[Row]:
    """Measures the cost per packet with other queues, rates that vary, and a router, beside drop-tail."""
    shown = table(
        f"Cost against the bottleneck: case ten, {rounds} runs of each in turn",
        ["bottleneck", "packets", "utilization", *COST_COLUMNS, "of drop-tail", "goal"],
    )
    kinds = ["droptail", *BOTTLENECK_GOALS]
    rows = alternate([[binary, "ten", "--bottleneck", kind] for kind in kinds], rounds)
    for kind, row in zip(kinds, rows, strict=True):
        row["bottleneck"] = kind
        row["of_droptail"] = row["ns_per_packet"]["median"] / rows[0]["ns_per_packet"]["median"]
        row["goal_of_droptail"] = BOTTLENECK_GOALS.get(kind)
        goal = f"{row['goal_of_droptail']}" if row["goal_of_droptail"] else ""
        shown.add_row(
            kind,
            f"{row['packets']}",
            f"{row['utilization']:.3f}",
            *cost_cells(row),
            f"{row['of_droptail']:.2f}",
            goal,
        )
    console.print(shown)
    return rows


def memory(binary: Path, console: Console) -> list[Row]:
    """Measures W2's peak memory: ten times as long with as many samples, and with ten times as many."""
    columns = ["simulated s", "samples every, s", *COST_COLUMNS]
    shown = table(f"Memory of W2 (goal {MEMORY_GOAL_MIB:.0f} MiB)", columns)
    rows = []
    for seconds, sample_s in (("200", "0.1"), ("2000", "1"), ("2000", "0.1")):
        rows.append(repeat([binary, "w2", "--seconds", seconds, "--sample", sample_s], 1))
        shown.add_row(seconds, sample_s, *cost_cells(rows[-1]))
    console.print(shown)
    return rows


def many(runs: int, console: Console) -> list[Row]:
    """Measures what a tiny run costs around the core."""
    import many as tiny  # needs longfat itself; the other sections do not

    columns = ["brought home", "jobs", "core ms", "overhead ms", "overhead ms (wall)", "runs/s"]
    shown = table(f"{runs} runs of 10 Mbit/s, 10 s (goal: overhead below {RUN_GOAL_MS:.0f} ms)", columns)
    rows = []
    for jobs, reduce in ((1, tiny.reduced), (None, tiny.reduced), (None, tiny.whole)):
        row = tiny.overhead(runs, jobs, reduce)
        numbers = [f"{row[key]:.2f}" for key in ("core_ms", "overhead_ms", "wall_overhead_ms")]
        shown.add_row(row["brought_home"], str(row["jobs"]), *numbers, f"{row['runs_per_s']:.0f}")
        rows.append(row)
    console.print(shown)
    return rows


def suite(form: str, console: Console) -> Row:
    """Measures CPU seconds of the published experiments, and how busy they keep the processors."""
    program = Path(sys.executable).with_name("longfat")
    with tempfile.TemporaryDirectory() as out:
        row = measure.cpu_of_all([program, "suite", "li2007", f"--{form}", "--out", Path(out) / "suite"])
    shown = table(f"longfat suite li2007 --{form}", ["cores", "wall s", "user s", "system s", "cores busy"])
    numbers = [f"{row[key]:.1f}" for key in ("wall_s", "user_s", "system_s")]
    shown.add_row(str(row["cores"]), *numbers, f"{100 * row['busy']:.0f} %")
    console.print(shown)
    return {"form": form, **row}


def main(arguments: list[str] | None = None) -> int:
    """Measures the chosen sections, prints tables and writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each case")
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS, SUITE], default=SECTIONS, help="sections")
    parser.add_argument("--runs", type=int, default=1000, help="runs of the section `runs`")
    parser.add_argument("--form", choices=["quick", "full"], default="quick", help="of the section `suite`")
    parser.add_argument("--out", type=Path, default=measure.OUT / "bench.json")
    asked = parser.parse_args(arguments)
    if asked.repeats < 1 or asked.runs < 1:
        parser.error("--repeats and --runs take 1 or more")
    console = Console(width=None if sys.stdout.isatty() else 170)
    measured: dict[str, Any] = {"host": measure.host()}
    try:
        binary = measure.build_as_released()
        measure.warn_if_busy()
        if "cases" in asked.only:
            measured["cases"] = cases(binary, asked.repeats, console)
        if "scaling" in asked.only:
            measured["scaling"] = scaling(binary, min(asked.repeats, 3), console)
        if "bottlenecks" in asked.only:
            rounds = max(asked.repeats, BOTTLENECK_ROUNDS)
            measured["bottlenecks"] = bottlenecks(binary, rounds, console)
        if "memory" in asked.only:
            measured["memory"] = memory(binary, console)
        if "runs" in asked.only:
            measured["runs"] = many(asked.runs, console)
        if SUITE in asked.only:
            measured["suite"] = suite(asked.form, console)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(measured, indent=1) + "\n")
    console.print(f"written: {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
