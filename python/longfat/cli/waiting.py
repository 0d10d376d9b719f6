"""Says how long one run of the simulator will take."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario

LEAST_PACKETS = 2e7
"""Shorter runs are over before anybody asks."""
EVERY_S = 0.5


@contextmanager
def expected(scenario: Scenario, name: str) -> Iterator[None]:
    """Says in a terminal how long the run within the block has taken, and about how long it will take."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from longfat.runs import cost

    if cost.packets(scenario) < LEAST_PACKETS:
        yield
        return
    whole_s = cost.tried(scenario, name)[1]
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(whole_s, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _tell(whole_s: float, ended: threading.Event) -> None:
    from longfat.runs.progress import about

    began = time.monotonic()
    while not ended.wait(EVERY_S):
        since_s = time.monotonic() - began
        left_s = whole_s - since_s
        ahead = (
            f"about {about(left_s)} left" if left_s > 0.0 else f"longer than the {about(whole_s)} expected"
        )
        sys.stderr.write(f"\r\x1b[2Ksimulating, {about(since_s)} so far, {ahead}")
        sys.stderr.flush()
    sys.stderr.write("\r\x1b[2K")
    sys.stderr.flush()
