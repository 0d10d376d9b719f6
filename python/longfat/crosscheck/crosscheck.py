"""`longfat crosscheck`: runs a scenario in the simulator and live, and shows both in one figure and table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.crosscheck import page
from longfat.figure import data
from longfat.figure.data import Curve, Figure, Panel
from longfat.live import run as live
from longfat.live.check import check
from longfat.live.traffic import KINDS
from longfat.numbers import finite
from longfat.report import columns
from longfat.runs import simulate
from longfat.runs.parts import Array
from longfat.runs.result import Result
from longfat.scenario.model import Scenario
from longfat.scenario.stacks import hosts
from longfat.store import output
from longfat.store.whole import write_text
from longfat.study.stats import HALF, with_half_width, written
from longfat.study.table import Table

if TYPE_CHECKING:
    from rich.console import Console

BACKENDS = ("sim", "live")
MOST_POINTS = 4000
RATE_SPAN_S = 1.0
"""Rates in the figure are means over spans of this length."""

LEAST_CUT = 0.1
"""The share of cwnd by which it has to fall for a cut."""

QUANTITIES = (
    ("throughput, Mbit/s", "throughput_bps", 1e-6),
    ("mean cwnd, packets", "cwnd_mean", 1.0),
    ("mean sRTT, ms", "srtt_mean_s", 1e3),
    ("loss ratio", "loss_ratio", 1.0),
)
LINK_QUANTITIES = (
    ("utilization", "utilization", 1.0),
    ("mean queue, packets", "queue_mean_packets", 1.0),
    ("packets dropped", "packets_dropped", 1.0),
)


def run(
    scenario: Scenario,
    repeats: int,
    into: Path,
    command: Sequence[str],
    source: str = "scenario",
    traffic: str = KINDS[0],
) -> dict[str, Any]:
    """Runs a scenario in the simulator and live, and writes crosscheck.json, the page and its figure.

    Args:
        scenario: what to run.
        repeats: how many runs of each, with seeds counting up.
        into: the folder to write.
        command: the command line, for the provenance.
        source: names the scenario in errors.
        traffic: what flows over TCP carry live, one of `traffic.KINDS`.

    Returns:
        What crosscheck.json holds.

    Raises:
        InputError: the scenario cannot run live, or the folder cannot be written; before anything runs.
        LongfatError: a live run ended early.
    """
    check(scenario, source, traffic)
    with output.folder(into, output.CROSSCHECK_FILES, output.CROSSCHECK_FILES) as draft:
        seeded = [scenario.repeat(i, source) for i in range(repeats)]
        results = {
            "sim": [simulate.run(each, name=source) for each in seeded],
            "live": [live.run(each, source, traffic) for each in seeded],
        }
        rows = differences(results)
        document = {
            **{name: [each.summary for each in runs] for name, runs in results.items()},
            "differences": rows,
            "figure": figure(scenario, {name: runs[0] for name, runs in results.items()}, rows).to_json(),
            "stacks": hosts(scenario),
            "scenario": scenario.filled().to_toml(),
            "provenance": output.provenance(command),
        }
        write_text(draft / page.CROSSCHECK_FILE, json.dumps(document, indent=1) + "\n")
    page.build(into)
    return document


def _listed(stacks: Mapping[str, str]) -> str:
    """The stacks of the parts in a line; once if all have the same."""
    told = dict.fromkeys(stacks.values())
    return "; ".join(told if len(told) == 1 else [f"{key}: {name}" for key, name in stacks.items()])


def differences(results: dict[str, list[Result]]) -> list[dict[str, Any]]:
    """Returns a row for each quantity of each flow and link.

    A row holds what it is of, the quantity, its mean on each backend with half of the 95 % interval, and the
    relative difference: live over sim, less 1.
    """
    rows = []
    for key, quantities in (("flows", QUANTITIES), ("links", LINK_QUANTITIES)):
        summaries = {name: [each.summary[key] for each in runs] for name, runs in results.items()}
        for i, entry in enumerate(summaries["sim"][0]):
            for label, quantity, unit in quantities:
                found = {
                    name: [each[i][quantity] * unit for each in runs if each[i][quantity] is not None]
                    for name, runs in summaries.items()
                }
                rows.append(_row(f"{key.removesuffix('s')} {entry['name']}", label, found))
    span_s = results["sim"][0].scenario.metrics_window_s()
    for flow in results["sim"][0].summary["flows"]:
        factors = {
            name: [factor for each in runs for factor in backoffs(each.flow(flow["name"]), span_s)]
            for name, runs in results.items()
        }
        if all(factors.values()):
            rows.append(_row(f"flow {flow['name']}", "backoff factor", factors))
    return rows


def backoffs(series: dict[str, Array], span_s: tuple[float, float] = (0.0, np.inf)) -> list[float]:
    """Returns the factors by which a flow's cwnd was cut within a span of time, (begin, end) in s.

    cwnd is cut where it falls by more than a tenth. The factor is ssthresh after the cut over the greatest
    cwnd since it began to grow. A recovery that reduces cwnd step by step counts as one cut.
    """
    within = (series["time_s"] >= span_s[0]) & (series["time_s"] <= span_s[1])
    cwnd, ssthresh = series["cwnd"][within], series["ssthresh"][within]
    factors: list[float] = []
    peak, falls = 0.0, False
    for before, now, threshold in zip(cwnd[:-1], cwnd[1:], ssthresh[1:], strict=True):
        if falls and now > before:
            peak, falls = 0.0, False
        peak = max(peak, before)
        if not falls and now < (1.0 - LEAST_CUT) * peak:
            falls = True
            if np.isfinite(threshold):
                factors.append(float(threshold / peak))
    return factors


def _row(of: str, quantity: str, found: dict[str, list[float]]) -> dict[str, Any]:
    row: dict[str, Any] = {"of": of, "quantity": quantity}
    for name in BACKENDS:
        estimate = with_half_width(found[name])
        row |= finite({name: estimate.mean, f"{name}_{HALF}": estimate.half_width})
    known = row["sim"] and row["live"] is not None
    row["difference"] = row["live"] / row["sim"] - 1.0 if known else None
    return row


def figure(scenario: Scenario, first: dict[str, Result], rows: list[dict[str, Any]]) -> Figure:
    """Returns the figure: each flow's cwnd and throughput and the bottleneck's queue, from the first runs.

    Below it stands the table of `rows`, as `differences` returns them.
    """
    panels = []

    def panel(title: str, axis: str, curves: Iterable[Curve]) -> None:
        panels.append(Panel(title, "time, s", axis, tuple(curves), x_range=(0.0, scenario.duration)))

    for flow in first["sim"].summary["flows"]:
        title = f"flow {flow['name']}"
        histories = {backend: result.flow(flow["name"]) for backend, result in first.items()}
        if not np.isnan(histories["sim"]["cwnd"]).all():
            curves = (
                _curve(
                    name, each["time_s"], np.where(each["time_s"] >= flow["start_s"], each["cwnd"], np.nan)
                )
                for name, each in histories.items()
            )
            panel(f"{title} ({flow['algorithm']})", "cwnd, packets", curves)
        panel(title, "throughput, Mbit/s", (_curve(name, *_rate(each)) for name, each in histories.items()))
    link = first["sim"].summary["links"][0]["name"]
    queues = ((name, result.link(link)) for name, result in first.items())
    panel(
        link, "queue, packets", (_curve(name, each["time_s"], each["queue_packets"]) for name, each in queues)
    )
    shown = table(rows)
    return Figure(
        "crosscheck",
        "crosscheck",
        scenario.title or "Simulator and live",
        "The same scenario in the simulator and on this machine's own TCP; the curves show the first runs.",
        tuple(panels),
        columns=1,
        table=data.Table(tuple(shown.headings), tuple(map(tuple, shown.rows))),
    )


def _rate(series: dict[str, Array]) -> tuple[Array, Array]:
    edges = np.arange(0.0, series["time_s"][-1] + 1e-9, RATE_SPAN_S)
    received = np.interp(edges, series["time_s"], series["received_bytes"])
    return edges[1:], 8e-6 * np.diff(received) / RATE_SPAN_S


def _curve(backend: str, time: Array, values: Array) -> Curve:
    stride = max(1, len(time) // MOST_POINTS)
    stroke = BACKENDS.index(backend)
    return Curve(backend, tuple(time[::stride]), tuple(values[::stride]), None, None, "line", stroke)


def table(rows: list[dict[str, Any]]) -> Table:
    """Returns the differences as a table."""
    cells = []
    for row in rows:
        difference = "-" if row["difference"] is None else f"{row['difference']:+.1%}"
        means = [written(row[name], row[f"{name}_{HALF}"], digits=columns.DIGITS) for name in BACKENDS]
        cells.append([row["of"], row["quantity"], *means, difference])
    return Table(["of", "quantity", *BACKENDS, "difference"], cells, texts=2)


def show(document: dict[str, Any], console: Console) -> None:
    """Prints the differences as a table, and how many of the live runs are valid."""
    console.print(*table(document["differences"]).fitted(console.width))
    if document["stacks"]:
        console.print(f"The simulator's stack: {_listed(document['stacks'])}.", style="dim", markup=False)
    valid = sum(run["validity"]["valid"] for run in document["live"])
    console.print(f"{valid} of {len(document['live'])} live runs are valid.", style="dim")
