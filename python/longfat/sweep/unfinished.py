"""The file `unfinished.json`, by which readers find the runs of a sweep that runs or ended early.

It has what sweep.json has of the axes, and the keys of the runs that were handed out, in their order. It is
data alone: a reader makes no scenario, so it opens no file that a scenario names. The sweep removes it at its
end.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from longfat.errors import LongfatError
from longfat.store.kept import reduction_key
from longfat.store.store import MOST_WAIT_S, Store
from longfat.study.grid import Point
from longfat.sweep import tables
from longfat.sweep.axes import from_json
from longfat.sweep.grid import Sweep
from longfat.sweep.reduction import reduce_run
from longfat.sweep.where import Filter

FILE = "unfinished.json"
MOST_SHARE = 0.05
"""The share of the time that writing the file may take."""
MOST_RUNS = 1_000_000
"""Sweeps with more runs do not write it: the keys of a million runs take 130 MB of memory for a moment."""
IDENTITY = ("plan", "where", "keep", "results_version")
"""Where these are equal, a finished sweep has the results of an unfinished one."""


class Journal:
    """Writes the file while a sweep runs, and a last time if its `with` block raises.

    Args:
        store: where it goes.
        described: what sweep.json will have, as far as it is known.
        keys: of the runs handed out; grows.
        failures: runs without a result, each with the reason; grows.
    """

    def __init__(
        self,
        store: Store,
        described: Mapping[str, Any],
        keys: tables.Keys,
        failures: Sequence[tuple[Point, str]],
    ) -> None:
        self._store, self._described, self._keys, self._failures = store, described, keys, failures
        self._next_s = 0.0
        self._is_begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._is_begun:
            with suppress(LongfatError):
                self._write()

    def update(self) -> None:
        """Writes the file if it is time to. Raises LongfatError as `Store.add` does."""
        if time.monotonic() >= self._next_s:
            self._write()

    def _write(self) -> None:
        began = time.monotonic()
        self._is_begun = True
        keys = base64.b64encode(self._keys.to_bytes()).decode()
        failures = [[point.number, error] for point, error in self._failures]
        self._store.write_json(FILE, {**self._described, "keys": keys, "failures": failures})
        ended = time.monotonic()
        self._next_s = ended + max(MOST_WAIT_S, (ended - began) * (1.0 / MOST_SHARE - 1.0))

    def remove(self) -> None:
        """Removes the file of this sweep, or of an earlier one: sweep.json has everything."""
        self._store.remove(FILE)


def read(folder: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Returns the runs of an unfinished sweep so far: a document as sweep.json, and the tables by name.

    Args:
        folder: the sweep's.
        document: the content of its `unfinished.json`.

    Raises:
        LongfatError: a file of the store is damaged, or has just been joined with others.
    """
    axes = from_json(document["axes"])
    keys = [key for axis in axes for key in axis.keys]
    where = Filter(document["where"], keys, str(folder))
    repeats, keep = document["repeats"], document["keep"]
    sweep = Sweep(str(folder), document["title"], {}, folder, axes, repeats, keep, where)
    failed = {int(number): str(error) for number, error in document["failures"]}
    handed_out = tables.Keys(base64.b64decode(document["keys"]))
    found = tables.read(sweep, Store(folder, reduction_key(reduce_run), write=False), handed_out, failed)
    causes = list(dict.fromkeys(failed.values()))
    counts = {"failed": len(failed), "errors": causes[: tables.ERRORS_SHOWN], "causes": len(causes)}
    described = {key: value for key, value in document.items() if key not in ("keys", "failures")}
    return described | counts | {"runs": int(document["runs"])}, found
