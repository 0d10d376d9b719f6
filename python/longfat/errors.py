"""Every error that Longfat raises on purpose, with its exit code."""

from __future__ import annotations

MOST_LINES = 10
"""The most problems of one scenario that a message lists; it counts the rest."""


class LongfatError(Exception):
    """Base of all errors raised on purpose; `exit_code` is the exit code of the command line."""

    exit_code = 1

    def lines(self) -> list[str]:
        """The lines that the command line prints, each after "error: "."""
        return [str(self)]


class InputError(LongfatError, ValueError):
    """The request cannot be carried out as written; one clear line says what would be accepted."""

    exit_code = 2


class ScenarioError(InputError):
    """A scenario was refused. `problems` has a line for each; `str()` has the first `MOST_LINES` of them."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """One line per problem; the last one counts those beyond `MOST_LINES`."""
        others = len(self.problems) - MOST_LINES
        more = [f"and {others} more {'problem' if others == 1 else 'problems'}"] if others > 0 else []
        return [*self.problems[:MOST_LINES], *more]


class AlgorithmError(LongfatError):
    """A user's own algorithm raised, or set a window that is not a number or is below one segment.

    Attributes:
        flow: the name of the flow that the algorithm drives.
        details: what happened, with the algorithm's traceback if it raised.
    """

    def __init__(self, flow: str, details: str) -> None:
        super().__init__(flow, details)
        self.flow = flow
        self.details = details

    def __str__(self) -> str:
        return f"the algorithm of flow {self.flow!r} failed:\n{self.details.rstrip()}"


class MemoryExceeded(LongfatError):  # noqa: N818 - as MemoryError
    """A run took more memory than it may, though the estimate before it did not say so.

    Attributes:
        source: what was run.
        allowed: the bytes that it may take.
    """

    def __init__(self, source: str, allowed: float) -> None:
        super().__init__(source, allowed)
        self.source = source
        self.allowed = allowed

    def __str__(self) -> str:
        return (
            f"{self.source}: the run took more than the {self.allowed / 1e9:.2g} GB of memory that it has; "
            "--memory gives it more"
        )


class Interrupted(LongfatError):  # noqa: N818 - not an error
    """Ctrl-C ended a command; the message says what happened to its work."""

    exit_code = 130


class WorkerError(LongfatError):
    """A worker process ended before its run did (out of memory, killed)."""
