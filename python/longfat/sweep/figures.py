"""Figures of a sweep: any figure of its runs over two axes as a heat map, or over one with error bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longfat import metrics
from longfat.errors import InputError
from longfat.suites.figure import Curve, Figure, Panel, points
from longfat.sweep.grid import dimension_of, plain
from longfat.sweep.handle import Swept

METRICS = ("jain", "throughput_ratio", "bottleneck_utilization", "bottleneck_loss_ratio")
"""Of the page."""
MOST_PANELS = 9
"""Small multiples of a figure."""
MOST_CURVES = 12
LOG_FACTOR = 10.0
"""An axis that spans more is drawn logarithmically."""

Rows = Sequence[Mapping[str, Any]]


def page(swept: Swept) -> list[Figure]:
    """What the report shows: each of `METRICS` over the axes that vary."""
    varied = [axis["keys"][0] for axis in swept.document["axes"] if len(axis["values"]) > 1]
    known = set(swept.runs.column_names)
    shown = [metric for metric in METRICS if metric in known and _varies(swept, metric)]
    found = []
    for metric in shown:
        if len(varied) >= 2:
            x, y = _two(swept, varied)
            others = [key for key in varied if key not in (x, y)]
            found.append(heat_map(swept, metric, x, y, others[0] if others else None))
        numeric = [key for key in varied if _is_number(swept, key)]
        if numeric:
            others = [key for key in varied if key != numeric[0]]
            by = next((key for key in others if not _is_number(swept, key)), others[0] if others else None)
            found.append(lines(swept, metric, numeric[0], by))
    return found


def heat_map(swept: Swept, metric: str, x: str, y: str, small: str | None = None) -> Figure:
    """The mean of a figure over two axes, all other axes and repeats: a panel for each value of `small`.

    Raises:
        InputError: no such column.
    """
    rows = _rows(swept, metric, [x, y] + ([small] if small else []))
    xs, ys = _values(swept, x), _values(swept, y)
    panels: list[Panel] = []
    # one scale for all panels
    known = [row[metric] for row in rows if row[metric] is not None]
    scale = (min(known), max(known)) if known else None
    for value in _values(swept, small)[:MOST_PANELS] if small else [None]:
        own = [row for row in rows if small is None or row[small] == plain(value)]
        cells = tuple(tuple(_mean(own, metric, {x: plain(a), y: plain(b)}) for a in xs) for b in ys)
        title = metric if small is None else f"{small} = {value}"
        across, up = _words(xs), _words(ys)
        panels.append(Panel(title, x, y, (), y_range=scale, categories=across, levels=up, cells=cells))
    return Figure(
        f"{_plain_name(metric)}-map",
        "sweep",
        f"{metric} over {x} and {y}",
        _caption(swept, [x, y, small]),
        tuple(panels),
    )


def lines(swept: Swept, metric: str, x: str, by: str | None = None, small: str | None = None) -> Figure:
    """Mean and standard error of a figure along an axis: curves for the values of `by`, panels for `small`.

    Raises:
        InputError: no such column, or an axis that is not of numbers.
    """
    if not _is_number(swept, x):
        raise InputError(f"{x}: not an axis of numbers; accepted: one, for lines")
    rows = _rows(swept, metric, [key for key in (x, by, small) if key])
    panels = []
    for value in _values(swept, small)[:MOST_PANELS] if small else [None]:
        own = [row for row in rows if small is None or row[small] == plain(value)]
        curves = []
        for number, level in enumerate(_values(swept, by)[:MOST_CURVES] if by else [None]):
            held = [row for row in own if by is None or row[by] == plain(level)]
            curves.append(_curve(swept, held, metric, x, level, number))
        xs = [point for curve in curves for point in curve.x]
        log = bool(xs) and min(xs) > 0.0 and max(xs) > LOG_FACTOR * min(xs)
        title = metric if small is None else f"{small} = {value}"
        panels.append(Panel(title, _labelled(swept, x), metric, tuple(curves), x_log=log))
    along = f"{metric} along {x}" + (f", by {by}" if by else "")
    return Figure(
        f"{_plain_name(metric)}-lines", "sweep", along, _caption(swept, [x, by, small]), tuple(panels)
    )


def _curve(swept: Swept, rows: Rows, metric: str, x: str, level: Any, number: int) -> Curve:
    samples = []
    for value in map(plain, _values(swept, x)):
        found = [row[metric] for row in rows if row[x] == value and row[metric] is not None]
        if found:
            samples.append(
                (float(value), metrics.mean_stderr(found) if len(found) > 1 else (found[0], math.nan))
            )
    label = str(level) if level is not None else metric
    return points(label, samples, label if level is not None else None, number)


def _rows(swept: Swept, metric: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    for key in (metric, *keys):
        if key not in swept.runs.column_names:
            known = ", ".join(swept.runs.column_names)
            raise InputError(f"{key}: no such column of the sweep; accepted: {known}")
    rows: list[dict[str, Any]] = swept.runs.select([metric, *keys]).to_pylist()
    return rows


def _mean(rows: Rows, metric: str, at: Mapping[str, Any]) -> float:
    found = [
        row[metric]
        for row in rows
        if row[metric] is not None and all(row[key] == value for key, value in at.items())
    ]
    return float(np.mean(found)) if found else math.nan


def _values(swept: Swept, key: str) -> list[Any]:
    """The values of an axis, in the order of the file."""
    for axis in swept.document["axes"]:
        if key in axis["keys"]:
            place = axis["keys"].index(key)
            return list({json_key(step[place]): step[place] for step in axis["values"]}.values())
    raise InputError(f"{key}: no axis of the sweep; accepted: {', '.join(swept.keys)}")


def json_key(value: Any) -> str:
    """Something to tell values of an axis apart by."""
    return repr(value)


def _words(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(value) if not isinstance(value, dict) else str(plain(value)) for value in values)


def _is_number(swept: Swept, key: str) -> bool:
    return all(isinstance(plain(value), (int, float)) for value in _values(swept, key))


def _varies(swept: Swept, metric: str) -> bool:
    values = [value for value in swept.runs[metric].to_pylist() if value is not None]
    return len(set(values)) > 1


def _two(swept: Swept, varied: Sequence[str]) -> tuple[str, str]:
    """The two axes of a map: numbers before words."""
    ordered = sorted(varied, key=lambda key: not _is_number(swept, key))
    return ordered[0], ordered[1]


def _labelled(swept: Swept, key: str) -> str:
    dimension = dimension_of(_values(swept, key)[0])
    units = {"time": "s", "rate": "bit/s", "size": "bytes"}
    return f"{key} ({units[dimension.name]})" if dimension else key


def _caption(swept: Swept, drawn: Sequence[str | None]) -> str:
    others = [axis["keys"][0] for axis in swept.document["axes"] if axis["keys"][0] not in drawn]
    over = [*(key for key in others), *(["repeats"] if swept.document["repeats"] > 1 else [])]
    return f"Means over {' and '.join(over)}." if over else "One run a point."


def _plain_name(metric: str) -> str:
    return metric.replace("_", "-")
