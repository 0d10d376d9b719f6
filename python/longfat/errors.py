"""Every error that Longfat raises on purpose, and the exit code that it stands for."""

from __future__ import annotations

MOST_LINES = 10
"""Problems of one scenario that are told; the rest are counted."""


class LongfatError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line ends with."""

    exit_code = 1

    def lines(self) -> list[str]:
        """What the command line says, each of them after "error: "."""
        return [str(self)]


class InputError(LongfatError, ValueError):
    """What was asked for cannot be done as written: one clear line saying what would be accepted."""

    exit_code = 2


class ScenarioError(InputError):
    """A scenario was refused. `problems` has one line each; `str()` is the first `MOST_LINES` of them."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """One a problem; beyond `MOST_LINES` they are counted."""
        others = len(self.problems) - MOST_LINES
        more = [f"and {others} more {'problem' if others == 1 else 'problems'}"] if others > 0 else []
        return [*self.problems[:MOST_LINES], *more]


class AlgorithmError(LongfatError):
    """A user's own algorithm raised, or left a window that is not a number or below one segment.

    Attributes:
        flow: name of the flow that it drives.
        details: what happened, with the algorithm's traceback if it raised.
    """

    def __init__(self, flow: str, details: str) -> None:
        super().__init__(flow, details)
        self.flow = flow
        self.details = details

    def __str__(self) -> str:
        return f"the algorithm of flow {self.flow!r} failed:\n{self.details.rstrip()}"


class Interrupted(LongfatError):  # noqa: N818 - not an error
    """Ctrl-C on the command line, with what became of the work."""

    exit_code = 130


class WorkerError(LongfatError):
    """A worker process ended before its run did (out of memory, killed)."""


class ScenarioWarning(UserWarning):
    """Something in a scenario is probably not meant, but can be run."""
