"""Files that appear whole or not at all: each is written under another name and then renamed.

A file is on the disk, with its name, when the function that wrote it returns: its bytes are synchronized
before it is renamed, and the folder afterwards. So a loss of power takes nothing that came before.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import system
from longfat.drafts import draft_of
from longfat.errors import InputError, LongfatError
from longfat.store import sums

if TYPE_CHECKING:
    import pyarrow


PROVENANCE = "provenance.json"


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """Yields the name of a draft beside `path`, which becomes `path` if the block ends without an error.

    If the block raises, the draft is removed and `path` stays as it was. Names of drafts begin with a dot. An
    OSError of the block is one of `path`.
    """
    scratch = draft_of(path)
    try:
        scratch.unlink(missing_ok=True)  # a link of that name would be followed
        yield scratch
        system.synchronize(scratch)
        scratch.replace(path)
    except BaseException as error:
        with suppress(OSError):
            scratch.unlink()
        if isinstance(error, OSError) and error.errno:  # that of a full disk has no name
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
        raise
    system.synchronize(path.parent)


@contextmanager
def listed(path: Path) -> Iterator[Path]:
    """As `draft`, and the folder's `SHA256SUMS` lists the file; see `check`.

    While the file is being replaced, the list has the digests of the old content and of the new one, so it is
    right whenever the program ends.
    """
    others = [(value, name) for value, name in _list(path.parent) if name != path.name]
    before = [(value, name) for value, name in _list(path.parent) if name == path.name]
    with draft(path) as scratch:
        yield scratch
        new = (sums.of_file(str(scratch)), path.name)
        _write_list(path.parent, [*others, *before, new])
    if before:
        _write_list(path.parent, [*others, new])


def write_list(folder: Path, names: Iterable[str]) -> None:
    """Writes `SHA256SUMS` of these files into their folder. Raises OSError."""
    _write_list(folder, [(sums.of_file(str(folder / name)), name) for name in names])


def check(path: Path) -> None:
    """Checks that a file is what its folder's `SHA256SUMS` says.

    A file that is not listed counts as whole: earlier versions wrote no list.

    Raises:
        LongfatError: it is not.
        OSError: it cannot be read.
    """
    said = [value for value, name in _list(path.parent) if name == path.name]
    if said and sums.of_file(str(path)) not in said:
        raise LongfatError(
            f"{path}: damaged: not what {sums.SUMS_FILE} says; repeat the run to make it again"
        )


def refuse_odd(folder: Path) -> None:
    """Refuses a folder with a link that leads out of it, or with anything but files and folders.

    Raises:
        InputError: there is one; what a command wrote holds none.
        OSError: the folder cannot be read.
    """
    root = folder.resolve()
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent) / name for name in (*folders, *files)):
            if path.is_symlink():
                if not path.resolve().is_relative_to(root):
                    raise InputError(f"{path}: leads out of the folder; accepted: no such links in {folder}")
            elif not path.is_file() and not path.is_dir():
                raise InputError(f"{path}: is neither a file nor a folder; accepted: files and folders")


ODD_VALUES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What values of another kind or size raise where they are read."""


@contextmanager
def of_anyone(folder: Path) -> Iterator[None]:
    """Turns a fault of values from elsewhere into an error of one line, and hides no other.

    Where the folder is what this version has written, a fault is Longfat's own.

    Raises:
        InputError: a link leads out of the folder, or its content is not what a command writes.
    """
    try:
        if folder.is_dir():
            refuse_odd(folder)
            refuse_incomplete(folder)
        yield
    except LongfatError:
        raise
    except Exception as error:
        if not isinstance(error, (*ODD_VALUES, *_of_libraries())) or isinstance(error, OSError):
            raise
        if _is_own(folder):
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{folder}: cannot be shown ({said}); accepted: what a command wrote") from error


def _of_libraries() -> Iterator[type[Exception]]:
    """What templates and tables raise over such values; only libraries that have been imported raise."""
    for module, name in (("jinja2", "TemplateRuntimeError"), ("pyarrow", "ArrowException")):
        if module in sys.modules:
            yield getattr(sys.modules[module], name)


def _is_own(folder: Path) -> bool:
    """Whether a run or an import of this version and commit wrote the folder, and all is as listed."""
    from longfat import documents, installation

    try:
        names = [name for _, name in _list(folder)]
        for name in names:
            check(folder / name)
        made = documents.json_value((folder / PROVENANCE).read_bytes())
        here = (installation.__version__, installation.commit())
        return PROVENANCE in names and (made["version"], made["commit"]) == here
    except (LongfatError, OSError, *ODD_VALUES):
        return False


def refuse_incomplete(folder: Path) -> None:
    """Refuses a folder without a file that its `SHA256SUMS` lists.

    Raises:
        LongfatError: one is missing, or the list is damaged.
        OSError: the list cannot be read.
    """
    for _, name in _list(folder):
        if not (folder / name).is_file():
            raise LongfatError(
                f"{folder / name}: missing or not a file, but {sums.SUMS_FILE} lists it; repeat the run to "
                "make it again"
            )


def read_text(path: Path) -> str:
    """Returns a text file in UTF-8. Raises OSError or ValueError, or LongfatError as `check` does."""
    check(path)
    return path.read_text(encoding="utf-8")


def _list(folder: Path) -> list[tuple[str, str]]:
    path = folder / sums.SUMS_FILE
    try:
        return sums.pairs(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except ValueError:
        raise LongfatError(f"{path}: damaged; remove it and run again") from None


def _write_list(folder: Path, entries: Iterable[tuple[str, str]]) -> None:
    lines = (f"{value}  {name}\n" for value, name in sorted(entries, key=lambda entry: entry[1]))
    write_text(folder / sums.SUMS_FILE, "".join(lines))


def make_folder(folder: Path) -> None:
    """Makes a folder, with its parents, if it is missing; all are on the disk then. Raises OSError."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(missing):
        system.synchronize(each.parent)


def prepare(folder: Path) -> None:
    """Makes a folder, with its parents, if it is missing. Raises OSError if no file can be made in it."""
    make_folder(folder)
    with tempfile.TemporaryFile(dir=folder):  # has no name, so two machines may try at once
        pass


Way = Callable[[Path], AbstractContextManager[Path]]
"""How a file is replaced: `draft` or `listed`."""


def write_text(path: Path, text: str, way: Way = draft) -> None:
    """Writes a text file in UTF-8. Raises OSError."""
    with way(path) as scratch:
        scratch.write_text(text, encoding="utf-8")


def write_json(
    path: Path, document: Any, default: Callable[[Any], Any] | None = None, way: Way = draft
) -> None:
    """Writes a JSON file.

    Args:
        path: the file.
        document: its content.
        default: turns values that JSON does not know into values that it knows; see `json.dumps`.
        way: how the file is replaced.

    Raises:
        OSError: the file cannot be written.
        ValueError: the document holds a number that is not finite, which JSON does not have.
    """
    write_text(path, json.dumps(document, indent=1, allow_nan=False, default=default) + "\n", way)


def write_table(path: Path, table: pyarrow.Table, way: Way = draft) -> None:
    """Writes a Parquet file with checksums of its pages. Raises OSError."""
    from pyarrow import parquet

    with way(path) as scratch:
        parquet.write_table(table, scratch, compression="zstd", write_page_checksum=True)


def read_table(path: Path) -> pyarrow.Table:
    """Reads a Parquet file. Raises OSError or ValueError, or LongfatError as `check` does."""
    check(path)
    return parquet_table(path)


def parquet_table(source: Path | str | pyarrow.NativeFile) -> pyarrow.Table:
    """Reads a Parquet file in this thread: those of Arrow wait for ever where none can start (`ulimit -v`).

    Raises:
        OSError: it cannot be read.
        pyarrow.ArrowException: it is no Parquet file, or a page of it is damaged.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(source, page_checksum_verification=True, pre_buffer=False) as file:
        return file.read(use_threads=False)
