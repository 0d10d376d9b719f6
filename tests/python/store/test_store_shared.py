"""One store and many who want it: other machines, slow disks, restarted jobs, a thousand workers."""

import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from test_sweep import finish, sweep_file, tables

from longfat import errors
from longfat.store import output, store, sums, whole
from longfat.store.store import Store
from tiny_sweeps import driver


def test_a_writer_on_another_machine_is_noticed_by_the_lock_of_a_file(tmp_path: Path) -> None:
    Store(tmp_path, "kind").close()
    with (tmp_path / "store.json").open("r+b") as held:  # NFS gives no lock of a folder to other machines
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(errors.InputError, match="another process is writing to it"):
            Store(tmp_path, "kind")
    Store(tmp_path, "kind").close()


def test_a_file_system_without_locks_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(errors.InputError, match=r"cannot be locked \(Operation not supported\); accepted: "):
        Store(tmp_path, "kind")


def test_a_store_that_is_refused_is_open_to_others_at_once(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text('{"format": 99, "made_by": "9.9.9"}')
    for _ in range(2):
        with pytest.raises(errors.InputError, match=r"it was made by Longfat 9\.9\.9"):
            Store(tmp_path, "kind")


def test_runs_of_another_version_of_the_reduction_are_kept_beside_and_not_read(tmp_path: Path) -> None:
    for reduction, value in (("older", 1), ("newer", 2)):
        with Store(tmp_path, reduction) as kept:
            assert "k" not in kept
            kept.add("k", {"x": value})
    with Store(tmp_path, "older") as kept:
        assert kept.get(["k"]) == {"k": {"x": 1}}


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    with Store(tmp_path, "kind") as kept:
        kept.add("k", {"x": 1})
    left = [tmp_path / ".sweep.json.123", tmp_path / "segments" / "kind" / ".a.parquet.123"]
    for path in (*left, tmp_path / ".mine", tmp_path / "segments" / ".notes.txt"):
        path.write_text("half")
    Store(tmp_path, "kind", write=False).close()
    assert all(path.exists() for path in left)  # a reader may not be alone
    with Store(tmp_path, "kind") as kept:
        assert "k" in kept
    assert not any(path.exists() for path in left)
    assert (tmp_path / ".mine").exists()
    assert (tmp_path / "segments" / ".notes.txt").exists()


SECONDS = 0.2


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A disk on which each file takes a while; the list has the time of each."""
    times: list[float] = []
    fsync = os.fsync

    def slow(descriptor: int) -> None:
        times.append(time.monotonic())
        time.sleep(SECONDS)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    monkeypatch.setattr(store, "MOST_WAIT_S", 0.0)
    return times


@pytest.mark.alone
def test_on_a_slow_disk_segments_are_written_less_often(tmp_path: Path, slow_disk: list[float]) -> None:
    with Store(tmp_path, "kind") as kept:
        slow_disk.clear()
        until = time.monotonic() + 15 * SECONDS
        number = 0
        while time.monotonic() < until:
            kept.add(str(number), {"x": number})
            number += 1
            time.sleep(0.005)
        # without the bound on their share, nearly every row would have its own: some 14
        assert 2 <= len(slow_disk) <= 4
        assert len(kept) == number
    with Store(tmp_path, "kind") as kept:
        assert len(kept) == number


def test_a_slow_disk_changes_no_table(tmp_path: Path, slow_disk: list[float]) -> None:
    file = sweep_file(tmp_path, repeats=1)
    finish(file, tmp_path / "slow")
    assert slow_disk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        finish(file, tmp_path / "fast")
    assert tables(tmp_path / "slow") == tables(tmp_path / "fast")


def test_a_thousand_workers_that_want_the_same_store_lose_no_run_and_write_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FEW_SEGMENTS", 8)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    writers = threading.Semaphore(1)
    waiting = list(range(1000))
    refused: list[str] = []
    broken: list[BaseException] = []

    def work(number: int) -> None:
        draws = random.Random(number)
        while number in waiting:
            try:
                with Store(tmp_path, "kind") as kept:
                    assert writers.acquire(blocking=False), "two writers at a time"
                    try:
                        kept.add(str(number), {"x": number})
                        waiting.remove(number)
                    finally:
                        writers.release()
            except errors.InputError as error:
                refused.append(str(error))
                time.sleep(draws.uniform(0.0, 2.0))
            except BaseException as error:
                broken.append(error)
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in waiting]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    assert refused
    assert {line.partition(": ")[2] for line in refused} == {
        "another process is writing to it; accepted: one writer at a time"
    }
    with Store(tmp_path, "kind") as kept:
        assert kept.damaged == []
        assert {key: row["x"] for key, row in kept.get(map(str, range(1000))).items()} == {
            str(number): number for number in range(1000)
        }


def test_a_job_that_a_scheduler_starts_again_elsewhere_waits_for_no_ghost_and_gives_the_same_tables(
    tmp_path: Path,
) -> None:
    file = sweep_file(tmp_path, repeats=20)
    out = tmp_path / "out"
    first = subprocess.Popen(driver(file, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not list(out.glob("segments/*/*.parquet")):
            assert time.monotonic() < until
            time.sleep(0.05)
        if first.poll() is None:
            early = subprocess.run(driver(file, out), capture_output=True, text=True)
            assert first.poll() is not None or "another process is writing to it" in early.stderr
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    again = subprocess.run(driver(file, out), capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    finish(file, tmp_path / "calm")
    assert tables(out) == tables(tmp_path / "calm")


def test_a_probe_for_a_folder_leaves_nothing_and_two_machines_may_try_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 7)  # the same on both
    broken: list[Any] = []

    def probe() -> None:
        try:
            for _ in range(50):
                whole.prepare(tmp_path / "new")
        except OSError as error:
            broken.append(error)

    threads = [threading.Thread(target=probe) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    assert list((tmp_path / "new").iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from longfat.store import output

replace, left = os.replace, int(sys.argv[2])

def counted(source, target):
    global left
    if left == 0:
        os._exit(1)
    left -= 1
    replace(source, target)

with output.folder(Path(sys.argv[1])) as draft:
    (draft / "summary.json").write_text("new")
    (draft / "scenario.toml").write_text("new")
    (draft / "provenance.json").write_text("new")
    os.replace = counted
"""


@pytest.mark.parametrize("is_listed", [False, True])
@pytest.mark.parametrize("moves", range(10))
def test_a_folder_whose_files_were_being_replaced_when_its_command_was_killed_is_made_whole(
    moves: int, is_listed: bool, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    old = dict.fromkeys(["summary.json", "flows.parquet", "provenance.json"], "old")
    new = dict.fromkeys(["summary.json", "scenario.toml", "provenance.json"], "new")
    if is_listed:
        old[sums.SUMS_FILE] = f"{'0' * 64}  summary.json\n"
    for name, text in old.items():
        (out / name).write_text(text)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(out), str(moves)])
    assert ended.returncode == (0 if moves == 9 else 1)
    with pytest.raises(RuntimeError), output.folder(out):
        raise RuntimeError  # the next command changes nothing itself
    found = {path.name: path.read_text() for path in out.iterdir()}
    if moves >= 6:
        assert list(sums.parsed(found.pop(sums.SUMS_FILE))) == sorted(new)
    assert found == (old if moves < 6 else new)


def test_a_second_command_into_one_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with output.folder(tmp_path / "out") as first:
        (first / "summary.json").write_text("first")
        with (
            pytest.raises(
                errors.InputError, match=r"^--out .*out: another command is writing to it; accepted: "
            ),
            output.folder(tmp_path / "out"),
        ):
            pass
        assert first.exists()
    assert (tmp_path / "out" / "summary.json").read_text() == "first"
    marks = frozenset({"summary.json"})
    with output.folder(tmp_path / "out", marks=marks) as later:
        (later / "summary.json").write_text("later")
    assert (tmp_path / "out" / "summary.json").read_text() == "later"


FILES = ["provenance.json", "summary.json"]


def replaced(out: Path, text: str) -> None:
    with output.folder(out) as draft:
        for name in FILES:
            (draft / name).write_text(text)


INTERRUPTED = {module.__file__ for module in (output, whole, sums, shutil)}
"""The files whose lines are interrupted: what the others do is one step of theirs."""


def ends_before(line: int, out: Path) -> bool:
    """Replaces a folder, and interrupts that before its `line`th line; returns whether there is one."""
    left = line

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        left -= event == "line" and frame.f_code.co_filename in INTERRUPTED
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return count

    try:
        sys.settrace(count)
        replaced(out, "new")
    except (KeyboardInterrupt, OSError):
        return True  # an OSError, too: when it is interrupted, Python's rmtree may close a descriptor twice
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("before", ["", "old"])
def test_an_interruption_before_any_line_leaves_what_was_there_or_a_whole_folder(
    before: str, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    out = base / "some" / "out"
    line, interrupted = 0, True
    while interrupted:
        shutil.rmtree(base / "some", ignore_errors=True)
        if before:
            replaced(out, before)
        line += 1
        interrupted = ends_before(line, out)
        held = {path.name: path.read_text() for path in base.rglob("*") if path.is_file()}
        listed = held.pop(sums.SUMS_FILE, "")
        if not held:
            assert (before, list(base.iterdir())) == ("", []), line
            continue
        assert held in (dict.fromkeys(FILES, text) for text in ("new", before)), line
        assert [name for _, name in sums.pairs(listed)] == FILES
        assert all(value == sums.of_file(str(out / name)) for value, name in sums.pairs(listed)), line
        assert {path.name for path in base.rglob("*")} == {"some", "out", sums.SUMS_FILE, *FILES}, line
    assert line > 100
