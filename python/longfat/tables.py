"""Results and registry rows as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from longfat.registry import Row
from longfat.scenario import HEADER_BYTES, Scenario, Transport
from longfat.units import RATE, TIME

_METRICS = {
    "jain": "Jain's index",
    "throughput_ratio": "least / greatest throughput",
    "convergence_time_s": "convergence time (LLS), s",
    "convergence_80_s": "convergence to 80 % (Ha), s",
    "cov": "coefficient of variation of rates",
    "inefficiency": "inefficiency of the bottleneck",
}


def _table(title: str, *columns: str, left: int = 1) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", header_style="dim", box=None, pad_edge=False
    )
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < left else "right")
    return table


def _number(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e6:.3f}"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def print_summary(console: Console, scenario: Scenario, summary: Mapping[str, Any]) -> None:
    """Flows, links, metrics and the defaults that were used; `summary` is one run's or a mean."""
    if scenario.title:
        console.print(scenario.title, style="bold", markup=False)
    flows = _table(
        "Flows",
        *("name", "algorithm", "RTT ms", "start s", "throughput Mbit/s", "goodput Mbit/s"),
        *("packets", "lost", "loss ratio", "timeouts", "cwnd", "sRTT ms"),
        left=2,
    )
    for flow in summary["flows"]:
        flows.add_row(
            flow["name"],
            flow["algorithm"],
            _number(1e3 * flow["rtt_s"]),
            _number(flow["start_s"]),
            _rate(flow["throughput_bps"]),
            _rate(flow["goodput_bps"]),
            _count(flow["packets_sent"]),
            _count(flow["packets_lost"]),
            _number(flow["loss_ratio"], 3),
            _count(flow["timeouts"]),
            _number(flow["cwnd_mean"]),
            "-" if flow["srtt_mean_s"] is None else _number(1e3 * flow["srtt_mean_s"]),
        )
    links = _table(
        "Links",
        *(
            "name",
            "rate",
            "utilization",
            "packets",
            "dropped",
            "lost",
            "queue mean",
            "std",
            "max",
            "limit packets",
        ),
    )
    for link in summary["links"]:
        links.add_row(
            link["name"],
            RATE.write(link["rate_bps"]),
            _number(link["utilization"]),
            _count(link["packets_in"]),
            _count(link["packets_dropped"]),
            _count(link["packets_lost"]),
            _number(link["queue_mean_packets"]),
            _number(link["queue_std_packets"]),
            _count(link["queue_max_packets"]),
            _count(link["queue_limit_packets"]),
        )
    shown = [flows, links] if summary["flows"] else [links]
    if summary["background"]:
        background = _table(
            "Background", "name", "transfers", "completed", "throughput Mbit/s", "packets", "lost"
        )
        for entry in summary["background"]:
            background.add_row(
                entry["name"],
                _count(entry["transfers_started"]),
                _count(entry["transfers_completed"]),
                _rate(entry["throughput_bps"]),
                _count(entry["packets_sent"]),
                _count(entry["packets_lost"]),
            )
        shown.append(background)
    metrics = _table("Metrics", "", "")
    for key, meaning in _METRICS.items():
        metrics.add_row(meaning, _number(summary["metrics"][key]))
    for table in (*shown, metrics):
        console.print()
        console.print(table)
    console.print()
    console.print(f"Used: {'; '.join(_used(scenario))}.", style="dim", markup=False)


def _used(scenario: Scenario) -> list[str]:
    """The values behind the figures that a scenario may have left to defaults."""
    full = scenario.filled()
    begin, end = full.figures_window_s()
    bottleneck = full.bottleneck
    parts: list[Transport] = [*full.flow, *full.background]
    payloads = sorted({part.mss for part in parts})
    initial = sorted({part.initial_window for part in parts})
    return [
        f"seed {full.seed}",
        f"figures from {TIME.write(begin)} to {TIME.write(end)}",
        f"mss {', '.join(f'{mss:g}' for mss in payloads)} B + {HEADER_BYTES} B of headers",
        f"initial window {', '.join(f'{window:g}' for window in initial)} segments",
        f"access {RATE.write(bottleneck.access_rate or 0.0)}",
        f"reverse path {RATE.write(bottleneck.reverse_rate or 0.0)}",
    ]


def print_rows(console: Console, title: str, rows: Sequence[Row]) -> None:
    """Registry rows with their parameters."""
    if not rows:
        console.print(f"{title}: none in this version.")
        return
    for row in rows:
        also = f" (also {', '.join(row['aliases'])})" if row["aliases"] else ""
        console.print(f"{row['name']}{also}", style="bold", markup=False, highlight=False)
        details = [row["citation"]]
        if row["linux_module"]:
            details.append(f"Linux: {row['linux_module']}")
        console.print(f"  {'; '.join(details)}", style="dim", markup=False, highlight=False)
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
        for parameter in row["parameters"]:
            choices = f" ({', '.join(parameter['choices'])})" if parameter["choices"] else ""
            value = parameter["default"]
            default = f"{value:g} {parameter['unit']}" if isinstance(value, (int, float)) else f'"{value}"'
            table.add_row("   ", parameter["name"], default.strip(), parameter["meaning"] + choices)
        if row["parameters"]:
            console.print(table, markup=False)
