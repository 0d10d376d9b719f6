"""How far a piece of work is: a line in a terminal, in a notebook or in a log, with an honest estimate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from longfat.units import TIME

if TYPE_CHECKING:
    from rich.console import Console

LEAST_S = 0.5
"""Nothing is shown before; most work is done by then."""
EVERY_S = 0.2
LINE_EVERY_S = 30.0
"""Time between lines where there is neither a terminal nor a notebook."""
BAR = 24
"""Letters of the bar."""


def remaining_s(done: float, total: float, elapsed_s: float) -> float | None:
    """Returns the time that is left if the rest goes as fast as the work so far; None before any is done."""
    return None if done <= 0.0 else elapsed_s * max(0.0, total - done) / done


def about(seconds: float) -> str:
    """Writes a time as precisely as an estimate deserves: "8 s", "3 min", "1.5 h"."""
    if seconds < 100.0:
        return TIME.write(float(f"{max(seconds, 0.0):.0f}"))
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"


class Progress:
    """Says how much of some work is done. Use it in a `with` block and call `update`.

    Args:
        what: what is done, such as "runs".
        total: how much there is; None if it is not known.
        unit: the word behind the numbers, or "s" for simulated or real time.
        console: where it goes; standard error by default.
    """

    def __init__(
        self, what: str, total: float | None, unit: str = "runs", console: Console | None = None
    ) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._console = console
        self._began = self._said = time.monotonic()
        self._show: Callable[[str, bool], None] | None = None
        self._close: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        self._began = self._said = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def update(self, done: float, found: float = 0.0) -> None:
        """Says how much is done so far, of which `found` was there before and took no time."""
        now = time.monotonic()
        if now - self._began < LEAST_S:
            return
        if self._show is None:
            self._show = self._shower()
        is_last = self._total is not None and done >= self._total
        if now - self._said >= EVERY_S or is_last:
            self._show(self.told(done, now - self._began, found), is_last)
            self._said = now

    def told(self, done: float, elapsed_s: float, found: float = 0.0) -> str:
        """The line for this much work in this time; arguments as those of `update`."""
        if self._total is None:
            return f"{self._what}: {done:g} {self._unit}, {about(elapsed_s)} so far"
        share = min(1.0, done / self._total) if self._total > 0 else 1.0
        bar = "━" * round(BAR * share) + "─" * (BAR - round(BAR * share))
        left = remaining_s(done - found, self._total - found, elapsed_s)
        ahead = "" if left is None else f", about {about(left)} left"
        return f"{self._what} {bar} {done:g} of {self._total:g} {self._unit}{ahead}"

    def _shower(self) -> Callable[[str, bool], None]:
        handle = _notebook_line()
        if handle is not None:
            return lambda text, _: handle.update(_Html(text))
        from longfat.terminal import printable

        stream: Any = sys.stderr if self._console is None else self._console.file
        if stream is None:  # standard error is closed
            return lambda *_: None
        if self._console.is_terminal if self._console is not None else stream.isatty():

            def line(text: str, _: bool) -> None:
                stream.write(f"\r\x1b[2K{printable(text)}")
                stream.flush()

            def close() -> None:
                stream.write("\r\x1b[2K")
                stream.flush()

            self._close = close
            return line
        last = self._began

        def log(text: str, _: bool) -> None:
            nonlocal last
            if time.monotonic() - last >= LINE_EVERY_S:
                last = time.monotonic()
                plain = text.replace("━", "").replace("─", "").replace("  ", " ")
                print(printable(plain), file=stream, flush=True)

        return log


class _Html:
    """A line for a notebook; as text where the front end has no HTML."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<code>{self._text}</code>"


def _notebook_line() -> Any:
    """A line of the notebook's cell that can be replaced; None outside a notebook."""
    if "ipykernel" not in sys.modules:
        return None
    from IPython import display as displays
    from IPython import get_ipython

    display: Any = displays.display
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return display(_Html(""), display_id=True)
