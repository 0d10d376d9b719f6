"""The mean time that packets wait in a link's queue, from its samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike


def mean_wait_ms(
    series: Mapping[str, Any], link: Mapping[str, Any], window: tuple[float, float], capacity_bps: float
) -> float:
    """Returns the packets' mean wait in milliseconds: the mean backlog over the carried rate (Little's law).

    The backlog over the capacity would be the wait times the utilization, since packets come while the queue
    is long more often than a clock ticks then. NaN if the link carried nothing.

    Args:
        series: samples of the link, with `time_s` and `queue_bytes`.
        link: its summary over the window, with `utilization`.
        window: begin and end, seconds.
        capacity_bps: what `utilization` is a share of.
    """
    time: ArrayLike = series["time_s"]
    seen = (time >= window[0]) & (time <= window[1])  # type: ignore[operator]
    carried_bps = link["utilization"] * capacity_bps
    return 8e3 * float(series["queue_bytes"][seen].mean()) / carried_bps if carried_bps > 0.0 else math.nan
