"""`longfat.Sweep`: a sweep made and run from Python."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longfat import documents
from longfat import sweep as sweeps
from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat.sweep import estimate, file, grid, handle

__all__ = ["Sweep"]


class Sweep(grid.Sweep):
    """One scenario run many times with some of its values changed, as a sweep file describes it.

    Runs are stored in a folder, and running again does only those that are missing.

    Args:
        base: the scenario: a Scenario, the path of a file, or nested tables.
        axes: the values of each key, such as {"flow.0.rtt": ["10 ms", "40 ms"]}; all combinations are run.
        zip: keys that change together, each mapping with as many values for each key.
        repeats: runs of each point, with the seeds seed, seed + 1, ...
        where: a condition; points that do not meet it are left out.
        keep: "summary", or "series" for samples of every run; None chooses by the number of runs.
        title: the base's if empty.
        figures: the figures of its page, each as a [[figure]] table of a file.

    Raises:
        InputError: a value or a key is refused; the line says what would be accepted.
    """

    def __init__(
        self,
        base: Scenario | str | os.PathLike[str] | Mapping[str, Any],
        axes: Mapping[str, Any] | None = None,
        *,
        zip: Iterable[Mapping[str, Sequence[Any]]] = (),
        repeats: int = 1,
        where: str = "",
        keep: grid.Keep | None = None,
        title: str = "",
        figures: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        document: dict[str, Any] = {
            "base": _tables(base),
            "axes": dict(axes or {}),
            "zip": [dict(each) for each in zip],
            "repeats": repeats,
            "where": where,
            "figure": [dict(each) for each in figures],
        }
        document |= {"keep": keep} if keep is not None else {}
        document |= {"title": title} if title else {}
        _refuse_objects(document, "sweep")
        folder = Path(os.fspath(base)).parent if isinstance(base, str | os.PathLike) else Path()
        self._take(file.from_dict(document, folder=folder))

    def _take(self, made: grid.Sweep) -> None:
        for part in dataclasses.fields(made):
            object.__setattr__(self, part.name, getattr(made, part.name))

    @classmethod
    def load(cls, path: Path | str) -> Sweep:
        """Reads a sweep file; raises InputError with one line if it is refused."""
        found = cls.__new__(cls)
        found._take(file.load(path))
        return found

    def run(
        self,
        out: Path | str,
        *,
        jobs: int | None = None,
        progress: bool = True,
        page: bool | None = None,
    ) -> handle.Swept:
        """Does the missing runs, builds the page, and returns the results.

        Args:
            out: the folder.
            jobs: worker processes; one for each core if None.
            progress: whether to say how far it is, in a terminal, in a notebook or as lines.
            page: whether to draw the page; None draws it if it does not show the present results.

        Raises:
            InputError: the folder cannot be written, or holds something else.
        """
        sweeps.run(self, out, jobs=jobs, progress=progress)
        sweeps.report(out, jobs=jobs, draw=page)
        return handle.open_sweep(out)

    def estimate(self, jobs: int | None = None) -> dict[str, Any]:
        """Returns how many runs there are, and about how long they take here, as `--dry-run` does."""
        return estimate.estimate(self, jobs)


def _tables(base: Any) -> dict[str, Any]:
    if isinstance(base, Scenario):
        own = next((flow.algorithm for flow in base.flow if flow.algorithm.factory is not None), None)
        if own is not None:
            raise InputError(_own(own.factory))
        return documents.toml(base.to_toml())
    if isinstance(base, Mapping):
        return dict(base)
    if not isinstance(base, str | os.PathLike):
        raise InputError("base: {shown(base)} is no scenario; {ACCEPTED}")
    return documents.toml(Scenario.load(os.fspath(base)).to_toml())


def _refuse_objects(value: Any, at: str) -> None:
    """Raises InputError for what no file could hold, such as a class as an algorithm."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_objects(item, f"{at}.{key}")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _refuse_objects(item, f"{at}.{i}")
    elif callable(value):
        raise InputError(_own(value))


def _own(factory: Any) -> str:
    name = getattr(factory, "__qualname__", str(factory))
    return (
        f"sweep: the algorithm {name} is an object of this program; a sweep stores runs under the digest "
        f'of an algorithm\'s file; accepted: "file.py:{name}" (or longfat.run_many, which stores nothing)'
    )
