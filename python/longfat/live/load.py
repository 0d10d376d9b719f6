"""What else the machine did during a live run: how much other processes used, and which those were."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROC = Path("/proc")
NAMED = 3
"""How many of the busiest processes are named."""
LEAST_SHARE = 0.01
"""Processes that used less of a processor are not named (chosen here)."""


@dataclass(frozen=True)
class Moment:
    """Processor times up to a moment, s.

    Attributes:
        uptime_s: since the machine began.
        busy_s: what all processes and the kernel have used.
        stolen_s: what the machine wanted to use and its hypervisor gave to others.
        own_s: what the children of this process have used that have ended.
        processes: name and time of each process, by its number and its beginning.
    """

    uptime_s: float
    busy_s: float
    stolen_s: float
    own_s: float
    processes: dict[tuple[int, int], tuple[str, float]]


def now() -> Moment | None:
    """Returns the times up to now; None where /proc does not have them."""
    try:
        first = (PROC / "stat").read_text().splitlines()[0]
        uptime_s = float((PROC / "uptime").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return None
    import resource

    # user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5))
    times = [int(field) / _ticks_per_s() for field in first.split()[1:9]]
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Moment(
        uptime_s=uptime_s,
        busy_s=sum(times[:3]) + sum(times[5:7]),
        stolen_s=times[7],
        own_s=children.ru_utime + children.ru_stime,
        processes=dict(filter(None, map(_process, PROC.glob("[0-9]*/stat")))),
    )


def _ticks_per_s() -> int:
    return os.sysconf("SC_CLK_TCK")


def _process(file: Path) -> tuple[tuple[int, int], tuple[str, float]] | None:
    try:
        number, rest = file.read_text().split(" (", 1)
    except (OSError, ValueError):
        return None  # it has ended
    name, _, fields = rest.rpartition(") ")
    columns = fields.split()
    # behind the name: state is column 3 of proc_pid_stat(5), utime 14, stime 15, starttime 22
    used = (int(columns[11]) + int(columns[12])) / _ticks_per_s()
    return (int(number), int(columns[19])), (name, used)


def others(before: Moment | None, after: Moment | None) -> dict[str, Any] | None:
    """Returns what others used between two moments, in processors.

    Returns:
        `processors` that all other processes used together, `stolen` by the hypervisor, and the `busiest`
        processes that still run, each with its `name` and the `processors` that it used; None if unknown.
    """
    if before is None or after is None or after.uptime_s <= before.uptime_s:
        return None
    span_s = after.uptime_s - before.uptime_s
    used = {
        key: (name, (seconds - before.processes.get(key, ("", 0.0))[1]) / span_s)
        for key, (name, seconds) in after.processes.items()
        if key[0] != os.getpid()
    }
    busiest = sorted(used.values(), key=lambda each: -each[1])[:NAMED]
    all_s = after.busy_s - before.busy_s - (after.own_s - before.own_s)
    return {
        "processors": max(all_s, 0.0) / span_s,
        "stolen": (after.stolen_s - before.stolen_s) / span_s,
        "busiest": [{"name": name, "processors": share} for name, share in busiest if share >= LEAST_SHARE],
    }


def told(load: dict[str, Any] | None) -> str:
    """Returns the same in words; "" if unknown."""
    if load is None:
        return ""
    named = ", ".join(f"{each['name']} {each['processors']:.2f}" for each in load["busiest"])
    text = f"other processes used {load['processors']:.2f} of {os.cpu_count() or 1} processors"
    text += f" ({named})" if named else ""
    if load["stolen"] >= LEAST_SHARE:
        text += f", and the hypervisor kept {load['stolen']:.2f}"
    return text
