"""Notes on what happened in a run: what a reader of its numbers would otherwise overlook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longfat.units import TIME

WASTED = 0.5
"""Above this share of packets lost or received twice, a flow sends more than twice what it delivers."""
LEAST_SENT = 100
"""Packets from which on that share says something; fewer may be those of a single burst (chosen here)."""


def of_runs(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the notes of repeats, each once; a note that differs only in its numbers is that of the first.

    Args:
        runs: the summaries of all repeats, or of a single run.
    """
    found: dict[str, list[str]] = {}
    for run in runs:
        for note in run["notes"]:
            found.setdefault(note.partition(": ")[0], []).append(note)
    return [
        alike[0] if len(alike) == len(runs) else f"{alike[0]} (in {len(alike)} of {len(runs)} runs)"
        for alike in found.values()
    ]


def warnings(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the notes on what happened in runs, as `of_runs` does."""
    return of_runs([{"notes": notes(run["flows"], run["window_s"])} for run in runs])


def notes(flows: Sequence[Mapping[str, Any]], window_s: Sequence[float]) -> list[str]:
    """Returns a line for each flow that never connected, or that sent more than twice what it delivered.

    Args:
        flows: the flows of a summary.
        window_s: the span that it covers.
    """
    return [line for flow in flows for line in (*_unconnected(flow, window_s[1]), *_wasteful(flow))]


def _unconnected(flow: Mapping[str, Any], end_s: float) -> list[str]:
    if flow["connected"] is not False or flow["start_s"] >= end_s:
        return []
    span = TIME.write(float(f"{end_s - flow['start_s']:.3g}"))
    return [f"flow {flow['name']} never connected: its requests remained without an answer for {span}"]


def _wasteful(flow: Mapping[str, Any]) -> list[str]:
    sent, lost, again = (flow[key] for key in ("packets_sent", "packets_lost", "spurious_retransmits"))
    if sent < LEAST_SENT or lost + again <= WASTED * sent:
        return []
    return [
        f"flow {flow['name']} sent more than twice what it delivered: "
        f"of {sent:,} packets, {lost:,} were lost and {again:,} came a second time"
    ]
