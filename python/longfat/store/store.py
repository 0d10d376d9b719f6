"""A store of runs by key: each run is kept once, written whole or not at all.

A store is a folder, or an address that fsspec knows ("s3://bucket/name"):

store.json                       format, and the version that made it
segments/REDUCTION/DIGEST.parquet  rows (key of a run, its stored results as JSON), written in batches
series/KEY-DIGEST.parquet          samples of a run, if they are kept
damaged/                           files whose content is not what it was; their runs are run again

A file gets its name once all of it is on disk, and only files with a name count. So whatever ends the
program, a store holds whole files; a run whose segment is missing or damaged is run again. DIGEST is that of
the file's bytes (`sums`): Parquet alone would decode most changed bits to another number.
"""

from __future__ import annotations

import base64
import functools
import json
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longfat import _core, documents
from longfat.errors import InputError, LongfatError
from longfat.store import sums
from longfat.store.index import Index
from longfat.store.place import place

FORMAT = 1
"""The format of a store; incremented when older versions cannot read it."""
STORE_FILE = "store.json"
SEGMENTS, SERIES, DAMAGED = "segments", "series", "damaged"
MOST_ROWS = 512
"""The most rows in a segment that is written while runs come in."""
MOST_WAIT_S = 2.0
"""A run that ends later than this after the last segment causes a new one to be written, or later still
where writing takes long (`MOST_SHARE`)."""
MOST_SHARE = 0.2
"""On a slow disk segments are written less often, so that writing takes at most this share of the time."""
FEW_SEGMENTS = 64
"""If there are more segments than this, closing the store joins them."""
JOINED_ROWS = 1024
"""Segments with fewer rows are joined; a joined segment has at least these, except the last."""
ARRAY = "float64"
"""Marks an array in JSON."""

SCHEMA = pa.schema([("key", pa.string()), ("kept", pa.string())])


class Store:
    """The rows of one reduction. One process at a time may open it for writing.

    Attributes:
        damaged: names of the files that are not what they were; they have been moved aside.
    """

    def __init__(self, where: Path | str, reduction: str, *, write: bool = True) -> None:
        """Opens a store and creates it if it is missing.

        Args:
            where: a folder, or an address with "://" for fsspec.
            reduction: the key of what is kept of each run, from `kept.reduction_key`.
            write: False to read only; another process may write meanwhile.

        Raises:
            InputError: it cannot be written, a newer version made it, or another process writes to it.
        """
        self._place = place(where)
        self._folder = f"{SEGMENTS}/{reduction}"
        self._rows: dict[str, str] = {}
        self._since = time.monotonic()
        self._wait_s = MOST_WAIT_S
        self.damaged: list[str] = []
        self._segments: dict[str, int] = {}  # number of rows by name
        self._index = Index()
        self._writes = write
        if write:
            self._place.prepare()
            made = json.dumps({"format": FORMAT, "made_by": _core.version()}) + "\n"
            self._place.lock(STORE_FILE, made.encode())
        try:
            self._open(write)
        except BaseException:
            self._place.unlock()
            raise

    def _open(self, write: bool) -> None:
        self._check_format()
        for name in self._place.names(self._folder):
            keys = self._keys(name, write)
            if keys is not None:
                self._put(name, keys)

    def _put(self, name: str, keys: Collection[str]) -> None:
        self._segments[name] = len(keys)
        self._index.put(keys, name)

    def _check_format(self) -> None:
        try:
            made = documents.json_value(self._place.read(STORE_FILE))
            if not isinstance(made["format"], int):
                raise TypeError
        except FileNotFoundError:
            return
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{self._place}: {STORE_FILE} is damaged; accepted: a store of runs") from None
        if made["format"] > FORMAT:
            by = made.get("made_by", "of a later version")
            raise InputError(
                f"{self._place}: it was made by Longfat {by} (format {made['format']}), "
                f"this is {_core.version()} (format {FORMAT}); accepted: stores of this version or older"
            )

    def _keys(self, name: str, write: bool) -> list[str] | None:
        """Returns the keys in a segment. Moves one that cannot be read aside and returns None."""
        try:
            table = _table(self._checked(f"{self._folder}/{name}"), columns=["key"])
            keys: list[str] = table["key"].to_pylist()
        except (pa.ArrowException, OSError, KeyError, ValueError):
            self.damaged.append(name)
            if write:
                with self._told():
                    self._place.move(f"{self._folder}/{name}", f"{DAMAGED}/{name}")
            return None
        return keys

    def _checked(self, name: str) -> bytes:
        """Returns the content of a file. Raises ValueError if it is not what its name says."""
        data = self._place.read(name)
        if not sums.fits(name.rpartition("/")[2], data):
            raise ValueError(f"{name} is damaged")
        return data

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, key: str) -> bool:
        return key in self._rows or self._index.find(key) is not None

    def __len__(self) -> int:
        return len(self._index) + sum(self._index.find(key) is None for key in self._rows)

    def add(self, key: str, row: Mapping[str, Any] | str, series: pa.Table | None = None) -> None:
        """Keeps a run's row, or the text that `text` made of it. It is on disk after `flush` at the latest.

        Raises:
            LongfatError: the disk is full or gone; earlier writes stay.
        """
        if series is not None:
            self._keep_series(key, series)
        self._rows[key] = row if isinstance(row, str) else text(row)
        if len(self._rows) >= MOST_ROWS or time.monotonic() - self._since > self._wait_s:
            self.flush()

    def flush(self) -> None:
        """Writes everything added so far to disk."""
        began = time.monotonic()
        if self._rows:
            columns = {"key": list(self._rows), "kept": list(self._rows.values())}
            self._segment(pa.table(columns, schema=SCHEMA))
            self._rows = {}
        self._since = time.monotonic()
        self._wait_s = max(MOST_WAIT_S, (self._since - began) * (1.0 / MOST_SHARE - 1.0))

    def _segment(self, table: pa.Table) -> str:
        data = _parquet(table, MOST_ROWS)
        name = f"{sums.named(data)}.parquet"
        self._write(f"{self._folder}/{name}", data)
        self._put(name, table["key"].to_pylist())
        return name

    def write_json(self, name: str, document: Any) -> None:
        """Writes a file, with its digest, beside the segments. Raises LongfatError as `add` does."""
        self._write(name, (json.dumps(sums.signed(document), indent=1, allow_nan=False) + "\n").encode())

    @contextmanager
    def exchange(self, folder: str, described_by: str) -> Iterator[Callable[[str, pa.Table], None]]:
        """Replaces a folder's content by the tables put within the block. Raises as `add` does.

        Args:
            folder: its name.
            described_by: the file that describes the tables; it is removed, and has to be written again.
        """
        digests: dict[str, str] = {}
        with self._told(), self._place.exchange(folder, described_by) as put:

            def put_table(name: str, table: pa.Table) -> None:
                data = _parquet(table)
                digests[name] = sums.digest(data)
                put(name, data)

            yield put_table
            put(sums.SUMS_FILE, sums.lines(digests).encode())

    def _write(self, name: str, data: bytes) -> None:
        with self._told():
            self._place.write(name, data)

    def remove(self, name: str) -> None:
        """Removes a file if it is there. Raises LongfatError as `add` does."""
        with self._told():
            self._place.remove(name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise LongfatError(
                f"{self._place}: {reason}; what has finished is kept; run again to go on"
            ) from None

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Returns the rows of these runs, without those that are not kept."""
        return {key: row(kept) for key, kept in self.texts(keys)}

    def texts(self, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yields (key, text) for each of these runs that is kept, in any order; `row` parses a text."""
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
        """Returns whether the samples of a run are kept."""
        return key in self._series

    def series_name(self, key: str) -> str | None:
        """Returns the name of the file with the samples of a run, if kept."""
        name = self._series.get(key)
        return name and f"{SERIES}/{name}"

    @functools.cached_property
    def _series(self) -> dict[str, str]:
        return {name.partition(".")[0].partition("-")[0]: name for name in self._place.names(SERIES)}

    def _keep_series(self, key: str, series: pa.Table) -> None:
        data = _parquet(series)
        name, earlier = f"{key}-{sums.named(data)}.parquet", self._series.get(key)
        self._write(f"{SERIES}/{name}", data)
        self._series[key] = name
        if earlier not in (None, name):
            self.remove(f"{SERIES}/{earlier}")

    def series(self, key: str) -> pa.Table | None:
        """Returns the samples of a run, if kept. Raises LongfatError if their file is damaged."""
        name = self.series_name(key)
        if name is None:
            return None
        try:
            return _table(self._checked(name))
        except (pa.ArrowException, ValueError):
            raise LongfatError(f"{self._place}: {name} is damaged; remove it and run again") from None

    def _read(self, name: str, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yields the wanted rows of a segment."""
        file = _file(self._held(name))
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, use_threads=False)
            for key, kept in zip(table["key"].to_pylist(), table["kept"], strict=True):
                if key in wanted:
                    yield key, kept.as_py()
            del table
            _release()

    def _held(self, name: str) -> bytes:
        """Returns the content of a segment that was whole when the store was opened."""
        try:
            return self._checked(f"{self._folder}/{name}")
        except (OSError, ValueError):
            raise LongfatError(f"{self._place}: {name} is damaged; run again to go on") from None

    def close(self) -> None:
        """Writes everything to disk, joins small segments if there are many, and lets others write."""
        try:
            self.flush()
            if self._writes and len(self._segments) > FEW_SEGMENTS:
                self._join()
        finally:
            self._place.unlock()

    def _join(self) -> None:
        """Joins small segments, and removes them last, so that no row is ever missing."""
        old = sorted(name for name, rows in self._segments.items() if rows < JOINED_ROWS)
        small: list[pa.Table] = []
        joined = set()
        for name in old:
            table = _table(self._held(name))
            # after an interrupted join a row is in two segments; the index knows which of them counts
            own = [self._index.find(key) == name for key in table["key"].to_pylist()]
            if any(own):
                small.append(table.filter(pa.array(own, pa.bool_())))
            if sum(table.num_rows for table in small) >= JOINED_ROWS:
                joined.add(self._segment(pa.concat_tables(small)))
                small = []
        if small:
            joined.add(self._segment(pa.concat_tables(small)))
        for name in set(old) - joined:  # a segment joined with nothing keeps its name
            self.remove(f"{self._folder}/{name}")
            del self._segments[name]


def text(row: Mapping[str, Any]) -> str:
    """Returns a row as the store keeps it. Workers call this, which spares the one process that writes."""
    return json.dumps(row, default=_encode, separators=(",", ":"))


def row(kept: str) -> dict[str, Any]:
    """Returns the row from which `text` made this text."""
    value: dict[str, Any] = json.loads(kept, object_hook=_decode)
    return value


def _table(data: bytes, columns: list[str] | None = None) -> pa.Table:
    table = _file(data).read(columns=columns, use_threads=False)
    _release()
    return table


def _file(data: bytes) -> pq.ParquetFile:
    """Opens a Parquet file without Arrow's datasets, with their own threads and memory."""
    return pq.ParquetFile(pa.BufferReader(data))


def _parquet(table: pa.Table, group_rows: int | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=group_rows)
    data: bytes = sink.getvalue().to_pybytes()
    del sink
    _release()
    return data


def _release() -> None:
    """Returns Arrow's free memory, which would grow with each file to several times the memory in use."""
    pa.default_memory_pool().release_unused()


def _encode(value: Any) -> Any:
    """Encodes arrays bit by bit and numpy scalars as Python numbers."""
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
