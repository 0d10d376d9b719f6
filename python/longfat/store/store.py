"""Runs that are kept by what they are: each once, written whole or not at all, found again by anyone.

A store is a folder, or anything that fsspec knows ("s3://bucket/name"):

store.json                       format, and the version that made it
segments/REDUCTION/NAME.parquet  rows (key of a run, what was kept of it as JSON), written in batches
series/KEY.parquet               samples of a run, where they are kept
damaged/                         segments that could not be read; what was in them is run again

A row counts when its segment has its name, and a segment gets its name when all of it is on the disk. So
whatever ends the program, a store holds whole segments; a run whose segment is missing or damaged is run
again.
"""

from __future__ import annotations

import base64
import functools
import json
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longfat import _core
from longfat.errors import InputError, LongfatError
from longfat.store.index import Index
from longfat.store.place import place

FORMAT = 1
"""Of a store; counts up when an older version could not read it."""
STORE_FILE = "store.json"
SEGMENTS, SERIES, DAMAGED = "segments", "series", "damaged"
MOST_ROWS = 512
"""Of a segment that is written while runs come in."""
MOST_WAIT_S = 2.0
"""Between the end of a run and its segment, if another run ends after that."""
FEW_SEGMENTS = 64
"""More than these are joined when the store is closed."""
JOINED_ROWS = 1024
ARRAY = "float64"
"""Marks an array in JSON."""

SCHEMA = pa.schema([("key", pa.string()), ("kept", pa.string())])


class Store:
    """Rows of one reduction; opened for writing by one process at a time.

    Attributes:
        damaged: names of segments that could not be read and were put aside.
    """

    def __init__(self, where: Path | str, reduction: str, *, write: bool = True) -> None:
        """Opens a store, made if it is not there.

        Args:
            where: a folder, or an address with "://" for fsspec.
            reduction: what is kept of each run, as `identity.reduction_key` names it.
            write: False only reads, beside another process that may be writing.

        Raises:
            InputError: it cannot be written, was made by a newer version, or another process writes to it.
        """
        self._place = place(where)
        self._folder = f"{SEGMENTS}/{reduction}"
        self._rows: dict[str, str] = {}
        self._since = time.monotonic()
        self.damaged: list[str] = []
        if write:
            self._place.prepare()
        self._check_format(write)
        if write:
            self._place.lock()
        self._segments: dict[str, int] = {}  # and how many rows each has
        self._index = Index()
        for name in self._place.names(self._folder):
            keys = self._keys(name, write)
            if keys is not None:
                self._put(name, keys)

    def _put(self, name: str, keys: Collection[str]) -> None:
        self._segments[name] = len(keys)
        self._index.put(keys, name)

    def _check_format(self, write: bool) -> None:
        try:
            made = json.loads(self._place.read(STORE_FILE))
        except FileNotFoundError:
            if write:
                text = json.dumps({"format": FORMAT, "made_by": _core.version()}) + "\n"
                self._place.write(STORE_FILE, text.encode())
            return
        except ValueError:
            raise InputError(f"{self._place}: {STORE_FILE} is damaged; accepted: a store of runs") from None
        if made["format"] > FORMAT:
            raise InputError(
                f"{self._place}: made by Longfat {made['made_by']} (format {made['format']}), this is "
                f"{_core.version()} (format {FORMAT}); accepted: stores of this version or older"
            )

    def _keys(self, name: str, write: bool) -> list[str] | None:
        """What a segment holds; one that cannot be read is put aside."""
        try:
            table = _table(self._place.read(f"{self._folder}/{name}"), columns=["key"])
            keys: list[str] = table["key"].to_pylist()
        except (pa.ArrowException, OSError, KeyError, ValueError):
            self.damaged.append(name)
            if write:
                self._place.move(f"{self._folder}/{name}", f"{DAMAGED}/{name}")
            return None
        return keys

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, key: str) -> bool:
        return key in self._rows or self._index.find(key) is not None

    def __len__(self) -> int:
        return len(self._index) + sum(self._index.find(key) is None for key in self._rows)

    def add(self, key: str, row: Mapping[str, Any] | str, series: pa.Table | None = None) -> None:
        """Keeps what a run gave, or what `text` made of it; on the disk at the latest with `flush`.

        Raises:
            LongfatError: the disk is full or gone; what is there stays.
        """
        if series is not None:
            self._write(series_name(key), _parquet(series))
        self._rows[key] = row if isinstance(row, str) else text(row)
        if len(self._rows) >= MOST_ROWS or time.monotonic() - self._since > MOST_WAIT_S:
            self.flush()

    def flush(self) -> None:
        """Everything added so far is on the disk."""
        if self._rows:
            columns = {"key": list(self._rows), "kept": list(self._rows.values())}
            self._segment(pa.table(columns, schema=SCHEMA))
            self._rows = {}
        self._since = time.monotonic()

    def _segment(self, table: pa.Table) -> None:
        name = f"{uuid.uuid4().hex}.parquet"
        self._write(f"{self._folder}/{name}", _parquet(table, MOST_ROWS))
        self._put(name, table["key"].to_pylist())

    def write_json(self, name: str, document: Any) -> None:
        """A file beside the segments. LongfatError as `add`."""
        self._write(name, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())

    @contextmanager
    def exchange(self, folder: str) -> Iterator[Callable[[str, pa.Table], None]]:
        """Tables that are put within the block become all that the folder holds. LongfatError as `add`."""
        with self._told(), self._place.exchange(folder) as put:
            yield lambda name, table: put(name, _parquet(table))

    def _write(self, name: str, data: bytes) -> None:
        with self._told():
            self._place.write(name, data)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise LongfatError(
                f"{self._place}: {reason}; what has finished is kept, run again to go on"
            ) from None

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What is kept of these runs; those that are not there are left out."""
        return {key: row(kept) for key, kept in self.texts(keys)}

    def texts(self, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
        """(key, text) of those of these runs that are there, in no order; `row` reads a text."""
        wanted: dict[str, set[str]] = {}
        for key in keys:
            if key in self._rows:
                yield key, self._rows[key]
                continue
            name = self._index.find(key)
            if name is not None:
                wanted.setdefault(name, set()).add(key)
        for name, held in wanted.items():
            yield from self._read(name, held)

    def has_series(self, key: str) -> bool:
        """Whether samples of a run are kept."""
        return series_name(key).rpartition("/")[2] in self._series

    @functools.cached_property
    def _series(self) -> set[str]:
        return set(self._place.names(SERIES))

    def series(self, key: str) -> pa.Table | None:
        """The samples of a run, if they are kept; LongfatError if their file is damaged."""
        name = series_name(key)
        try:
            return _table(self._place.read(name))
        except FileNotFoundError:
            return None
        except pa.ArrowException:
            raise LongfatError(f"{self._place}: {name} is damaged; remove it and run again") from None

    def _read(self, name: str, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
        """These rows of a segment."""
        file = _file(self._place.read(f"{self._folder}/{name}"))
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, use_threads=False)
            for key, kept in zip(table["key"].to_pylist(), table["kept"], strict=True):
                if key in wanted:
                    yield key, kept.as_py()
            del table
            _release()

    def close(self) -> None:
        """Everything is on the disk, in few files, and others may write."""
        try:
            self.flush()
            if len(self._segments) > FEW_SEGMENTS:
                self._join()
        finally:
            self._place.unlock()

    def _join(self) -> None:
        """Small segments become few: the new ones first, so that nothing is ever missing."""
        old = sorted(name for name, rows in self._segments.items() if rows < JOINED_ROWS)
        small: list[pa.Table] = []
        for name in old:
            table = _table(self._place.read(f"{self._folder}/{name}"))
            # a row that is in another segment too, as after a join that was ended, is kept there
            own = [self._index.find(key) == name for key in table["key"].to_pylist()]
            if any(own):
                small.append(table.filter(pa.array(own, pa.bool_())))
            if sum(table.num_rows for table in small) >= JOINED_ROWS:
                self._segment(pa.concat_tables(small))
                small = []
        if small:
            self._segment(pa.concat_tables(small))
        for name in old:
            self._place.remove(f"{self._folder}/{name}")
            del self._segments[name]


def series_name(key: str) -> str:
    """Where a store has the samples of a run."""
    return f"{SERIES}/{key}.parquet"


def text(row: Mapping[str, Any]) -> str:
    """A row as a store keeps it. A worker that makes it saves the one process that writes the work."""
    return json.dumps(row, default=_encode, separators=(",", ":"))


def row(kept: str) -> dict[str, Any]:
    """The row that `text` made a text of."""
    value: dict[str, Any] = json.loads(kept, object_hook=_decode)
    return value


def _table(data: bytes, columns: list[str] | None = None) -> pa.Table:
    table = _file(data).read(columns=columns, use_threads=False)
    _release()
    return table


def _file(data: bytes) -> pq.ParquetFile:
    """Read by this thread alone, without Arrow's datasets, whose threads would keep memory of their own."""
    return pq.ParquetFile(pa.BufferReader(data))


def _parquet(table: pa.Table, group_rows: int | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=group_rows)
    data: bytes = sink.getvalue().to_pybytes()
    del sink
    _release()
    return data


def _release() -> None:
    """Arrow gives back what it holds free, which would be more with each file: several times what it uses."""
    pa.default_memory_pool().release_unused()


def _encode(value: Any) -> Any:
    """Arrays of numbers bit by bit, other numbers of numpy as Python's."""
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value, dtype="<f8").tobytes()
        return {ARRAY: base64.b64encode(zlib.compress(data)).decode()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be kept in a store")


def _decode(value: dict[str, Any]) -> Any:
    if value.keys() == {ARRAY}:
        return np.frombuffer(zlib.decompress(base64.b64decode(value[ARRAY])), dtype="<f8")
    return value
