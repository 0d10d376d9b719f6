"""The user's side of a congestion control written in Python.

An algorithm is any class whose instances have the two methods of `Algorithm`. One instance is made for each
flow. All windows are in segments, all times in seconds::

    class MyReno:
        def on_ack(self, ack, window):
            if window.in_slow_start():
                window.slow_start(ack.acked)
            else:
                window.cwnd += ack.acked / window.cwnd

        def on_congestion(self, event, window):
            window.ssthresh = window.cwnd / 2

Use it as `algorithm = "my_reno.py:MyReno"` in a scenario file (relative to that file), or hand over the class
itself from Python. `algorithm = { name = "my_reno.py:MyReno", gain = 2 }` calls `MyReno(gain=2)`. The shared
sender does everything else: it finds losses, retransmits and recovers, as it does for the native algorithms.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

from longfat.errors import AlgorithmError, InputError
from longfat.fields import AlgorithmSpec


class Ack(Protocol):
    """What one acknowledgement told the sender."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def acked(self) -> float:
        """Segments by which the window may count it (RFC 3465): in slow-start at most 2, without it 1."""

    @property
    def newly_delivered(self) -> int:
        """Segments that reached the receiver according to this one and none before (cumulative and SACK)."""

    @property
    def rtt_s(self) -> float | None:
        """The round-trip time that it measured, if it did."""

    @property
    def srtt_s(self) -> float:
        """The smoothed round-trip time (RFC 6298)."""

    @property
    def base_rtt_s(self) -> float:
        """The least round-trip time of this connection."""

    @property
    def in_flight(self) -> float:
        """Segments in flight after it (the pipe of RFC 6675)."""


class Congestion(Protocol):
    """A congestion event; there is one for each recovery episode."""

    @property
    def cause(self) -> Literal["loss", "mark", "timeout"]:
        """Segments were lost, a router marked one (RFC 3168), or the retransmission timer expired."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def in_flight(self) -> float:
        """Segments in flight when it was noticed."""


class Window(Protocol):
    """The window that an algorithm moves; cwnd has to stay finite and at least 1."""

    cwnd: float
    ssthresh: float

    def in_slow_start(self) -> bool:
        """Whether cwnd is below ssthresh."""

    def slow_start(self, acked: float) -> None:
        """Grows cwnd as the flow's slow-start does (standard, or limited by RFC 3742), up to ssthresh."""


class Algorithm(Protocol):
    """What a user's own algorithm has to have."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """New data was acknowledged outside of recovery while the window was limiting: move `window.cwnd`."""

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """The window has to shrink: set `window.ssthresh`, to which recovery leads `window.cwnd`."""


def maker(flow: str, spec: AlgorithmSpec) -> Callable[[], Any]:
    """What makes this flow's algorithm. AlgorithmError if its file raises, InputError if there is none."""
    factory = spec.factory or _load(flow, spec.name)
    return functools.partial(factory, **spec.parameters) if spec.parameters else factory


def _load(flow: str, name: str) -> Callable[..., Any]:
    file, _, qualified = name.rpartition(":")
    module = _module(flow, file)
    here: Any = module
    for part in qualified.split("."):
        here = getattr(here, part, None)
    if not callable(here):
        known = ", ".join(key for key, value in vars(module).items() if isinstance(value, type)) or "none"
        raise InputError(f'flow {flow}: {file} has no class "{qualified}"; it has: {known}')
    loaded: Callable[..., Any] = here
    return loaded


def _module(flow: str, file: str) -> Any:
    """The module in this file, imported once a process unless the file changed."""
    path = Path(file)
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"flow {flow}: {file}: {error.strerror}; accepted: file.py:Class") from None
    key = f"longfat_user_{path.stem}_{abs(hash(str(path)))}_{stamp}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise InputError(f"flow {flow}: {file} is not a Python file; accepted: file.py:Class")
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        del sys.modules[key]
        raise AlgorithmError(flow, traceback.format_exc()) from None
    return module
