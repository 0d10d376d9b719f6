"""Writes, renames and synchronizations that fail, and power that goes: what has finished stays, and is told.

A run of a program here is cut short at each of its steps in turn: at a step that fails as on a full or broken
disk, and at a loss of power, after which the disk holds what had been synchronized by then and nothing else.
"""

import builtins
import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from longfat import errors, sweep
from longfat.store import ledger, output, whole
from longfat.store.store import Store
from longfat_papers.kit import folder as suite_folder

REASON = "the disk has gone"


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model below stands for the disk, so nothing has to wait for the real one."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class PowerLoss(BaseException):
    """The machine stops here."""


class Disk:
    """Counts the steps by which a folder changes, ends one of them, and knows what would survive.

    `kept` holds what a loss of power would leave: the names that were synchronized in each folder, and the
    bytes that were synchronized in each file. The model is the least that POSIX promises: a new name, a
    rename or a removal lasts after `fsync` of its folder, and bytes last after `fsync` of their file.
    """

    def __init__(self, root: Path, ends_at: int, with_power_loss: bool) -> None:
        self.root = root
        self.ends_at = ends_at
        self.with_power_loss = with_power_loss
        self.steps = 0
        self.names: dict[int, dict[str, int]] = {}  # of folders, by inode
        self.bytes: dict[int, bytes] = {}  # of files, by inode
        self.held: list[int] = []  # descriptors, so that no other file gets the inode of one that is removed
        self._learn(root)

    def close(self) -> None:
        """Lets inodes be used again."""
        while self.held:
            os.close(self.held.pop())

    def _learn(self, folder: Path) -> None:
        """Everything that is there at the beginning has been there for long."""
        self.held.append(os.open(folder, os.O_PATH))
        self.names[folder.stat().st_ino] = {entry.name: entry.stat().st_ino for entry in folder.iterdir()}
        for entry in folder.iterdir():
            if entry.is_dir():
                self._learn(entry)
            else:
                self.held.append(os.open(entry, os.O_PATH))
                self.bytes[entry.stat().st_ino] = entry.read_bytes()

    def step(self, path: Any) -> None:
        """Something is about to happen to a path."""
        if not self._is_inside(path):
            return
        self.steps += 1
        if self.with_power_loss and self.steps >= self.ends_at:
            raise PowerLoss
        if self.steps == self.ends_at:
            raise OSError(28, REASON, str(path))

    def synchronized(self, descriptor: int) -> None:
        """`fsync` has returned."""
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if not self._is_inside(path):
            return
        self.held.append(os.dup(descriptor))
        inode = os.fstat(descriptor).st_ino
        if path.is_dir():
            self.names[inode] = {entry.name: entry.stat().st_ino for entry in path.iterdir()}
        else:
            self.bytes[inode] = path.read_bytes()

    def _is_inside(self, path: Any) -> bool:
        return not isinstance(path, int) and Path(os.path.abspath(path)).is_relative_to(self.root)

    def after_power_loss(self, into: Path) -> None:
        """Writes what is left; a name whose bytes were never synchronized is an empty file."""
        self._restore(self.root.stat().st_ino, into)

    def _restore(self, inode: int, into: Path) -> None:
        into.mkdir()
        for name, number in self.names.get(inode, {}).items():
            if number in self.names:
                self._restore(number, into / name)
            else:
                (into / name).write_bytes(self.bytes.get(number, b""))


@contextmanager
def watched(disk: Disk) -> Iterator[None]:
    """Lets a disk see, and end, the steps of what runs within."""
    patch = pytest.MonkeyPatch()

    def before(name: str) -> None:
        real = getattr(os, name)

        def call(path: Any, *args: Any, **keys: Any) -> Any:
            disk.step(path)
            return real(path, *args, **keys)

        patch.setattr(os, name, call)

    for name in ("mkdir", "rename", "replace", "unlink", "rmdir", "remove"):
        before(name)
    real_fsync, real_open = os.fsync, io.open

    def fsync(descriptor: int) -> None:
        disk.step(os.readlink(f"/proc/self/fd/{descriptor}"))
        real_fsync(descriptor)
        disk.synchronized(descriptor)

    def opened(file: Any, mode: str = "r", *args: Any, **keys: Any) -> Any:
        if set(mode) & set("wax+"):
            disk.step(file)  # creates the file, or takes its bytes away
            real = real_open(file, mode, *args, **keys)
            if not isinstance(file, int) and disk._is_inside(file):
                write = real.write

                def half(data: Any) -> Any:
                    try:
                        disk.step(file)
                    except OSError:
                        write(data[: len(data) // 2])
                        real.flush()
                        raise
                    return write(data)

                real.write = half
            return real
        return real_open(file, mode, *args, **keys)

    patch.setattr(os, "fsync", fsync)
    patch.setattr(io, "open", opened)
    patch.setattr(builtins, "open", opened)
    try:
        yield
    finally:
        patch.undo()


def every_end(
    tmp_path: Path,
    begin: Callable[[Path], Any],
    work: Callable[[Path], Any],
    check: Callable[[Path, BaseException | None], Any],
    with_power_loss: bool,
) -> int:
    """Ends the work at each of its steps in turn, checks what is left, and returns how many steps it has."""
    number = 0
    while True:
        number += 1
        root = tmp_path / f"at-{number}"
        root.mkdir()
        begin(root)
        disk = Disk(root, number, with_power_loss)
        ended: BaseException | None = None
        with watched(disk):
            try:
                work(root)
            except (PowerLoss, errors.LongfatError, OSError) as error:
                ended = error
        if disk.steps < number:
            assert ended is None
            disk.close()
            check(root, None)
            return number - 1
        left = root
        if with_power_loss:
            left = tmp_path / f"left-{number}"
            disk.after_power_loss(left)
        disk.close()
        check(left, ended)
        shutil.rmtree(left)
        shutil.rmtree(root, ignore_errors=True)


ROWS = {"old": {"x": 1.5}, "older": {"x": "y" * 3000}}


def keep_old(root: Path) -> None:
    for key, row in ROWS.items():
        with Store(root, "kind") as kept:
            kept.add(key, row)


@pytest.mark.parametrize("with_power_loss", [False, True])
@pytest.mark.parametrize("joined", [False, True])
def test_a_store_has_every_earlier_run_after_any_step_has_failed(
    with_power_loss: bool, joined: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longfat.store.store.FEW_SEGMENTS", 1 if joined else 64)
    flushed: list[str] = []

    def work(root: Path) -> None:
        flushed.clear()
        with Store(root, "kind") as kept:
            for key in ("a", "b"):
                kept.add(key, {"x": key})
                kept.flush()
                flushed.append(key)

    def check(root: Path, ended: BaseException | None) -> None:
        expected = ROWS | {key: {"x": key} for key in flushed}
        with Store(root, "kind") as kept:
            found = kept.get([*expected, "a", "b"])
            assert kept.damaged == []
        assert {key: found[key] for key in expected} == expected
        assert all(found.get(key, {"x": key}) == {"x": key} for key in ("a", "b"))
        if isinstance(ended, errors.LongfatError):
            assert ended.exit_code in (1, 2)
            assert "\n" not in str(ended)
        else:
            assert ended is None or isinstance(ended, PowerLoss), ended

    steps = every_end(tmp_path, keep_old, work, check, with_power_loss)
    assert steps >= 10


@pytest.mark.parametrize("with_power_loss", [False, True])
def test_samples_are_whole_or_missing_after_any_step_has_failed(
    with_power_loss: bool, tmp_path: Path
) -> None:
    import pyarrow as pa

    def begin(root: Path) -> None:
        with Store(root, "kind") as kept:
            kept.add("k", {}, pa.table({"time_s": [0.0]}))

    def work(root: Path) -> None:
        with Store(root, "kind") as kept:
            kept.add("k", {}, pa.table({"time_s": [0.0, 1.0]}))

    def check(root: Path, ended: BaseException | None) -> None:
        with Store(root, "kind") as kept:
            assert kept.series("k")["time_s"].to_pylist() in ([0.0], [0.0, 1.0])

    assert every_end(tmp_path, begin, work, check, with_power_loss) >= 4


BASE = {
    "duration": "0.2 s",
    "bottleneck": {"rate": "5 Mbit/s", "buffer": "50 % BDP"},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}


@pytest.mark.parametrize("with_power_loss", [False, True])
def test_tables_of_a_sweep_are_the_earlier_ones_the_new_ones_or_said_to_be_missing(
    with_power_loss: bool, tmp_path: Path
) -> None:
    earlier, later = (
        sweep.from_dict({"base": BASE, "axes": {"seed": seeds}}) for seeds in ([1, 2], [1, 2, 3])
    )
    sweep.run(later, tmp_path / "done", jobs=1)
    expected = [sweep.open_sweep(tmp_path / "done").runs]
    shutil.rmtree(tmp_path / "done" / "tables")
    (tmp_path / "done" / "sweep.json").unlink()
    shutil.copytree(tmp_path / "done", tmp_path / "earlier")
    sweep.run(earlier, tmp_path / "earlier", jobs=1)
    expected.append(sweep.open_sweep(tmp_path / "earlier").runs)

    def begin(root: Path) -> None:
        shutil.copytree(tmp_path / "earlier", root, dirs_exist_ok=True)

    def work(root: Path) -> None:
        sweep.run(later, root, jobs=1)  # every run is there

    def check(root: Path, ended: BaseException | None) -> None:
        told = ""
        try:
            found = sweep.open_sweep(root)
            runs = found.runs
        except errors.LongfatError as error:
            told = str(error)
        if told:
            assert "run it again" in told or "run `longfat sweep` again" in told
        else:
            assert runs in expected
            assert found.document["runs"] == runs.num_rows
        if ended is None:
            assert runs == expected[0]
        elif not with_power_loss:
            assert isinstance(ended, errors.LongfatError), ended
        sweep.run(later, root, jobs=1)
        assert sweep.open_sweep(root).runs == expected[0]

    assert every_end(tmp_path, begin, work, check, with_power_loss) >= 20


def write_run(root: Path, text: str) -> None:
    with output.folder(root) as draft:
        for name in ("provenance.json", "scenario.toml", "summary.json"):
            whole.write_text(draft / name, text + name)


@pytest.mark.parametrize("with_power_loss", [False, True])
def test_the_folder_of_a_run_is_the_earlier_one_the_new_one_or_said_to_be_damaged(
    with_power_loss: bool, tmp_path: Path
) -> None:
    names = ("provenance.json", "scenario.toml", "summary.json")

    def check(root: Path, ended: BaseException | None) -> None:
        found = set()
        for name in names:
            with suppress(errors.LongfatError, FileNotFoundError):
                found.add(whole.read_text(root / name).removesuffix(name))
        assert found in (set(), {"old "}, {"new "}), "what is read is of one run"
        if ended is None:
            assert found == {"new "}
        elif not with_power_loss:
            assert found in ({"old "}, {"new "})
            assert len([name for name in names if (root / name).exists()]) == 3

    steps = every_end(
        tmp_path,
        lambda root: write_run(root, "old "),
        lambda root: write_run(root, "new "),
        check,
        with_power_loss,
    )
    assert steps >= 20


@pytest.mark.parametrize("with_power_loss", [False, True])
def test_a_ledger_is_whole_after_any_step_has_failed(with_power_loss: bool, tmp_path: Path) -> None:
    def write(root: Path, verdict: str) -> None:
        claims = [{"id": "F1", "verdict": verdict}]
        suite_folder.write_json(root / "claims.json", {"suite": "s", "claims": claims})

    def check(root: Path, ended: BaseException | None) -> None:
        (row,) = ledger.read_ledger(root / "claims.json")
        assert row["verdict"] in ({"partly"} if ended is None else {"partly", "reproduced"})

    steps = every_end(
        tmp_path,
        lambda root: write(root, "reproduced"),
        lambda root: write(root, "partly"),
        check,
        with_power_loss,
    )
    assert steps >= 8
