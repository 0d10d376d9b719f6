"""The conjecture of Lopez Pacheco's thesis, 7.3.2: does an elastic drop probability share a link better?

Runs the scenarios of its chapter 6 in the simulator, at 20 and 100 ms, with NewReno, HSTCP and CUBIC as the
other flows, and with the printed and the elastic rule of the router `friendly`. `--write` puts the table into
docs/models/friendly.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import longfat
from longfat import _core
from longfat_papers.lopez2008 import friendly

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "models" / "friendly.md"
MARKS = ("<!-- make validate-elastic -->\n", "<!-- end of make validate-elastic -->\n")
RULES = ("printed", "elastic")
OTHERS = ("newreno", "hstcp", "cubic")
EXPERIMENTS = {"1 and 2": "figure 6.3", "10 others": "figure 6.4", "10 XCP": "figure 6.5"}
"""One XCP flow joined by two others, ten others joined by three of XCP, ten of XCP joined by three others."""
FROM_S, SPAN_S = 30, 10
"""Shares are compared over each span of 10 s from here on, while flows of both kinds are there."""


def flows(experiment: str, other: str, rtt_ms: int) -> list[dict[str, Any]]:
    """Returns the flows of an experiment, with the thesis's times."""
    if experiment == "1 and 2":
        return friendly.one_and_two("xcp", other, rtt_ms)
    ten, three = (other, "xcp") if experiment == "10 others" else ("xcp", other)
    return friendly.joined(ten, three, rtt_ms)


def scenario(experiment: str, other: str, rtt_ms: int, rule: str) -> dict[str, Any]:
    """Returns the scenario of a run."""
    router = {**friendly.PER_PACKET, "p_drop": rule}
    return {**friendly.scenario("", router, flows(experiment, other, rtt_ms)), "seed": 1}


def present(table: dict[str, Any], begin_s: float, end_s: float) -> bool:
    """Returns whether a flow is there for a span; one that starts as the span begins counts."""
    earliest = float(table["start"]["uniform"][0].split()[0])
    return earliest <= begin_s and float(table.get("stop", "inf").split()[0]) >= end_s


def measure(what: tuple[str, str, int, str]) -> dict[str, float]:
    """Runs one case; returns the mean share of the others over their fair one, and its distance from 1."""
    document = scenario(*what)
    result = longfat.run(document)
    ratios = []
    for begin in range(FROM_S, friendly.END_S, SPAN_S):
        there = [table for table in document["flow"] if present(table, begin, begin + SPAN_S)]
        explicit = [table for table in there if table["name"].startswith("xcp")]
        if not explicit or len(explicit) == len(there):
            continue
        rates = {table["name"]: rate(result.flow(table["name"]), begin) for table in there}
        all_bps = sum(rates.values())
        share = 1.0 - sum(rates[table["name"]] for table in explicit) / all_bps
        ratios.append(share / (1.0 - len(explicit) / len(there)))
    return {
        "ratio": float(np.mean(ratios)),
        "off": float(np.mean(np.abs(np.array(ratios) - 1.0))),
        "utilization": float(result.summary["links"][0]["utilization"]),
    }


def rate(series: dict[str, Any], begin_s: float) -> float:
    """Returns a flow's mean throughput over a span."""
    received = np.interp([begin_s, begin_s + SPAN_S], series["time_s"], series["received_bytes"])
    return float(received[1] - received[0])


def table(found: dict[tuple[str, str, int], dict[str, dict[str, float]]]) -> str:
    """Returns the lines of the table in Markdown."""
    lines = [
        "| experiment | others | RTT, ms | the others' share / fair share | distance from 1 | nearer |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for (experiment, other, rtt_ms), both in found.items():
        if len(both) < len(RULES):
            continue
        printed, elastic = (both[rule] for rule in RULES)
        nearer = printed["off"] - elastic["off"]
        verdict = "elastic" if nearer > 0.01 else "printed" if nearer < -0.01 else "equal"
        lines.append(
            f"| {experiment} ({EXPERIMENTS[experiment]}) | {other} | {rtt_ms} | {printed['ratio']:.2f}, "
            f"{elastic['ratio']:.2f} | {printed['off']:.2f}, {elastic['off']:.2f} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what is missing and prints or writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "elastic")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-run", action="store_true", help="show only what is there")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    grid = list(itertools.product(EXPERIMENTS, OTHERS, friendly.RTTS_MS, RULES))
    paths = {what: options.folder / f"{'-'.join(map(str, what)).replace(' ', '')}.json" for what in grid}

    def kept(what: tuple[str, str, int, str]) -> dict[str, float] | None:
        if not paths[what].exists():
            return None
        told = json.loads(paths[what].read_text())
        same = (told["scenario"], told["version"]) == (scenario(*what), _core.results_version())
        return told["measured"] if same else None

    missing = [] if options.no_run else [what for what in grid if kept(what) is None]
    with ProcessPoolExecutor(options.jobs) as pool:
        for what, measured in zip(missing, pool.map(measure, missing), strict=True):
            told = {"scenario": scenario(*what), "version": _core.results_version(), "measured": measured}
            paths[what].write_text(json.dumps(told, indent=1))
            print(*what, measured, flush=True)
    found: dict[tuple[str, str, int], dict[str, dict[str, float]]] = {}
    for what in grid:
        there = kept(what)
        if there is not None:
            found.setdefault(what[:3], {})[what[3]] = there
    text = table(found)
    if not options.write:
        print(text)
        return
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


if __name__ == "__main__":
    main()
