"""The folders that commands write with `--out`: each replaced as a whole, or left as it was."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from longfat import installation, system
from longfat.errors import InputError, LongfatError
from longfat.figure.data import FORMATS as FIGURE_FORMATS
from longfat.runs.result import TABLES, Result
from longfat.store import whole
from longfat.store.sums import SUMS_FILE
from longfat.store.whole import write_json, write_table, write_text

if TYPE_CHECKING:
    import pyarrow

    from longfat.runs.imported import Imported
    from longfat.scenario.model import Scenario

Found = TypeVar("Found")

FORMAT = 1
"""The format of a run's folder; incremented when a reader has to know."""

PATIENCE_S = 1.0
"""How long a command waits for another that is beginning in the same folder (chosen here)."""
EARLIER, REPLACED = "earlier", "replaced"
"""The folder of a draft that gets the files which it replaces, and its name once all of them are there."""

TRACES = "traces"
"""The folder with copies of the traces that a run read."""
RUN_FILES = frozenset(
    {"summary.json", "scenario.toml", whole.PROVENANCE, TRACES} | {f"{name}.parquet" for name in TABLES}
)
COPY_DIGITS = 16
"""Digits of the digest in the name of a copy."""
COPIED = re.compile(rf"-[0-9a-f]{{{COPY_DIGITS}}}$")
LONGEST_NAME = 100
"""The most characters of a trace's own name in that of its copy."""
REPORT_FILES = frozenset({"index.html", "figures"})
"""What `longfat report` adds to any of these folders."""
STORE_FILES = frozenset({"store.json", "segments", "series", "damaged"})
"""The store of runs in the folder of a suite, a comparison or a sweep."""
SUITE_FILES = frozenset(
    {"suite.json", "claims.json", "assumptions.json", "experiments", "history.json", "live"}
)
COMPARE_FILES = frozenset({"compare.json", "runs.parquet"})
SWEEP_FILES = frozenset({"sweep.json", "tables", "unfinished.json"})
CROSSCHECK_FILES = frozenset({"crosscheck.json"})
ASSESS_FILES = frozenset({"dossier.json", "dossier.md", "numbers.parquet", "live.parquet", "scenarios.zip"})
KINDS = {
    "the results of a run": RUN_FILES,
    "the results of a suite": SUITE_FILES,
    "the results of a comparison": COMPARE_FILES,
    "the results of a sweep": SWEEP_FILES,
    "the results of a crosscheck": CROSSCHECK_FILES,
    "a dossier": ASSESS_FILES,
}


def refuse_foreign(path: Path, own: frozenset[str], marks: frozenset[str]) -> None:
    """Raises InputError if a folder is a file, or holds anything that a command of this kind did not write.

    Names that begin with a dot are ignored. A folder that is missing or empty is accepted.

    Args:
        path: the folder.
        own: the files that such a command writes; a report beside them is accepted.
        marks: the folder has to hold at least one of these, unless it is empty.
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {path}: is a file; accepted: a folder, which is created if missing")
    held = (
        {entry.name for entry in path.iterdir() if not entry.name.startswith(".")} if path.is_dir() else set()
    )
    accepted = "accepted: a new or empty folder, or one that holds nothing but such results"
    for kind, files in KINDS.items():
        if not files <= own and held & files:
            raise InputError(f"--out {path}: holds {kind} ({min(held & files)}); {accepted}")
    strange = held - own - REPORT_FILES - {SUMS_FILE} - (frozenset() if own is RUN_FILES else STORE_FILES)
    for name, is_own in (("figures", _is_figure), (TRACES, _is_copy)):
        if (path / name).is_dir():
            entries = (path / name).iterdir()
            strange |= {f"{name}/{entry.name}" for entry in entries if not is_own(entry)}
    if held and not held & marks:
        strange = strange or held
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise InputError(f"--out {path}: holds {min(strange)}{more}, which Longfat did not write; {accepted}")


def _is_figure(path: Path) -> bool:
    return path.suffix.removeprefix(".") in FIGURE_FORMATS


def _is_copy(path: Path) -> bool:
    return COPIED.search(path.name) is not None


@contextmanager
def folder(
    path: Path, own: frozenset[str] = RUN_FILES, marks: frozenset[str] = frozenset({whole.PROVENANCE})
) -> Iterator[Path]:
    """Yields an empty folder; its files replace those in `path` when the block ends well.

    If the block raises, its files vanish and `path` stays as it was. Otherwise everything that an earlier
    command of the same kind left in `path` is removed; see `refuse_foreign` for `own` and `marks`.

    Raises:
        InputError: `path` cannot be written, holds something else, or another command is writing to it;
            raised before the block begins.
        LongfatError: a file cannot be written, as on a full disk.
    """
    try:
        made = [parent for parent in (path, *path.parents) if not parent.exists()]
    except OSError as error:
        raise InputError(f"--out {path}: {error.strerror}; accepted: a folder that can be written") from None
    # named before it is made: whenever an interruption comes, it is known what to remove
    draft = path / f"{_prefix()}{uuid.uuid4().hex}"
    held: int | None = None
    try:
        try:
            if path.is_dir():
                _clear_drafts(path)
            refuse_foreign(path, own, marks)
            path.mkdir(parents=True, exist_ok=True)
            with _alone(path, PATIENCE_S):
                _refuse_second(path)
                draft.mkdir(mode=0o700)
                held = _locked(draft)
        except OSError as error:
            raise InputError(
                f"--out {path}: {error.strerror}; accepted: a folder that can be written"
            ) from None
        with _naming(path, draft):
            yield draft
            whole.write_list(draft, {entry.name for entry in draft.iterdir()} - REPORT_FILES - {TRACES})
            _exchange(draft, path, own)
        shutil.rmtree(draft, ignore_errors=True)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise
    finally:
        if held is not None:
            os.close(held)


@contextmanager
def _naming(path: Path, draft: Path) -> Iterator[None]:
    """Raises LongfatError, with the file that is meant, if a file of the draft cannot be written."""
    try:
        yield
    except OSError as error:
        if error.filename is None or not Path(error.filename).is_relative_to(draft):
            raise
        file = path / Path(error.filename).relative_to(draft)
        raise LongfatError(f"{file}: {error.strerror}; {path} is as it was") from None


def written(
    path: Path, run: Callable[[], Found], write: Callable[[Found, Path], None]
) -> tuple[Found, LongfatError | None]:
    """Runs something and writes its result into a folder; what could not be written is not lost.

    Returns what `run` returned, and an error if its result could not be written.

    Args:
        path: as `folder` takes it.
        run: is called once the folder is known to be one.
        write: writes what `run` returned into a folder.

    Raises:
        InputError: as `folder`.
    """
    found = None
    try:
        with folder(path) as draft:
            found = run()
            write(found, draft)
    except LongfatError as error:
        if found is None:
            raise
        return found, error
    return found, None


def _prefix() -> str:
    """How the names of this machine's drafts begin: locks of folders do not reach other machines."""
    return f".longfat-{system.host()}-"


def _locked(folder: Path) -> int | None:
    """Locks a folder until the descriptor is closed; None if another process holds it."""
    descriptor = system.open_to_lock(folder)
    try:
        system.lock(descriptor)
    except OSError:
        return None
    return descriptor


def _is_locked(folder: Path) -> bool:
    """Whether another process holds a folder; False where the file system has no locks."""
    descriptor = system.open_to_lock(folder)
    try:
        system.lock(descriptor)
    except BlockingIOError:
        return True
    except OSError:
        return False
    os.close(descriptor)
    return False


def _refuse_second(path: Path) -> None:
    """Raises InputError if another command is writing into a folder: one of two results would be lost."""
    for draft in path.glob(f"{_prefix()}*"):
        with suppress(OSError):  # it has just ended
            if _is_locked(draft):
                raise InputError(
                    f"--out {path}: another command is writing to it; "
                    "accepted: another folder, or this one when that has ended"
                )


@contextmanager
def _alone(path: Path, patience_s: float = 0.0) -> Iterator[bool]:
    """Keeps others from making and clearing drafts meanwhile; yields whether that was possible.

    Args:
        path: the folder.
        patience_s: how long to wait for another that does the same, which takes milliseconds.
    """
    until = time.monotonic() + patience_s
    while (held := _locked(path.resolve())) is None and time.monotonic() < until:
        time.sleep(PATIENCE_S / 100)
    try:
        yield held is not None
    finally:
        if held is not None:
            os.close(held)


def _clear_drafts(path: Path) -> None:
    """Removes the drafts of programs that were killed: nobody holds them."""
    with _alone(path) as is_alone:
        for draft in path.glob(f"{_prefix()}*") if is_alone else ():
            with suppress(OSError):
                held = _locked(draft)
                if held is not None:
                    _end_exchange(draft, path)
                    shutil.rmtree(draft, ignore_errors=True)
                    os.close(held)


def _end_exchange(draft: Path, path: Path) -> None:
    """Completes an exchange that was killed when nothing old was left in `path`, or else undoes it."""
    if (draft / REPLACED).is_dir():
        moved = [file for file in draft.iterdir() if file.name != REPLACED]
    elif not (draft / EARLIER).is_dir():
        return
    else:
        moved = list((draft / EARLIER).iterdir())
        if (draft / SUMS_FILE).exists():  # the list of digests in `path` is still the earlier one
            moved = [file for file in moved if file.name != SUMS_FILE]
        elif not (draft / EARLIER / SUMS_FILE).exists():
            (path / SUMS_FILE).unlink(missing_ok=True)
    for file in moved:
        os.replace(file, path / file.name)


def _exchange(draft: Path, path: Path, own: frozenset[str]) -> None:
    """Swaps an earlier command's files in `path` with those in the draft, all or none.

    The list of their digests comes first: if the machine stops before the end, whatever is old counts as
    damaged.
    """
    listed = draft / SUMS_FILE
    new = sorted(file for file in draft.iterdir() if file != listed)
    earlier = draft / EARLIER
    earlier.mkdir()
    if (path / SUMS_FILE).exists():
        shutil.copyfile(path / SUMS_FILE, earlier / SUMS_FILE)
    old = [path / name for name in sorted(own | REPORT_FILES) if (path / name).exists()]
    moves = [(listed, path / SUMS_FILE), *((file, earlier / file.name) for file in old)]
    moves += [(earlier, draft / REPLACED), *((file, path / file.name) for file in new)]
    begun: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            begun.append((source, target))
            os.replace(source, target)
            if source == listed:
                system.synchronize(path)
        system.synchronize(path)
    except BaseException:
        for source, target in reversed(begun):
            if not source.exists():  # the interruption may have come before the last move or behind it
                os.replace(target, source)
        if (earlier / SUMS_FILE).exists():
            os.replace(earlier / SUMS_FILE, path / SUMS_FILE)
        raise


def write(results: Sequence[Result], summary: dict[str, Any], command: Sequence[str], into: Path) -> None:
    """Writes the files of one run, or of repeats; the tables of repeats have a column `seed`.

    Args:
        results: the runs.
        summary: what `longfat run --json` prints of them.
        command: the command line, for the provenance.
        into: the folder.
    """
    write_text(into / "summary.json", json.dumps(summary, indent=1) + "\n")
    scenario = results[0].scenario
    write_text(into / "scenario.toml", scenario.filled().to_toml(_copied(scenario, into)))
    write_json(into / whole.PROVENANCE, provenance(command))
    events = ["events"] if results[0].scenario.sample.events else []
    internals = ["internals"] if any(result.has_internals for result in results) else []
    transfers = ["transfers"] if results[0].scenario.background else []
    for name in ["flows", "links", *internals, *events, *transfers]:
        tables = [(result.scenario.seed, getattr(result, name)) for result in results]
        write_table(into / f"{name}.parquet", _joined(tables))


def _copied(scenario: Scenario, into: Path) -> dict[str, str]:
    """Writes the traces that a run read; returns their names in `into`, by digest."""
    names = {}
    for source in scenario.traces():
        known = re.sub(r"[^A-Za-z0-9._-]", "_", COPIED.sub("", Path(source.path).name))[:LONGEST_NAME]
        names[source.sha256] = f"{TRACES}/{known}-{source.sha256[:COPY_DIGITS]}"
        (into / TRACES).mkdir(exist_ok=True)
        with whole.draft(into / names[source.sha256]) as draft:
            draft.write_bytes(source.data)
    return names


def write_import(imported: Imported, command: Sequence[str], into: Path) -> None:
    """Writes the files of a capture's flows, which a page is made of as of a run's."""
    write_text(into / "summary.json", json.dumps(imported.summary, indent=1) + "\n")
    write_json(into / whole.PROVENANCE, provenance(command))
    write_table(into / "flows.parquet", imported.flows)


def _joined(tables: list[tuple[int, pyarrow.Table]]) -> pyarrow.Table:
    """Returns one table of all, with a column `seed` if there are several."""
    import pyarrow

    if len(tables) == 1:
        return tables[0][1]
    return pyarrow.concat_tables(
        table.add_column(0, "seed", pyarrow.array([seed] * table.num_rows, pyarrow.int64()))
        for seed, table in tables
    )


def provenance(command: Sequence[str]) -> dict[str, Any]:
    """Returns where a result comes from: version, commit, host, kernel, command."""
    return {
        "format": FORMAT,
        "version": installation.__version__,
        "commit": installation.commit(),
        "command": list(command),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
