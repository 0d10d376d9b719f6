"""Commands where the world is not as usual: FIFOs, full disks, and two at once."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import longfat as library
from longfat.errors import InputError, LongfatError
from samples import table

LONGFAT = (sys.executable, "-m", "longfat")
NO_GIT = os.environ | {"GIT_DIR": os.devnull}
"""Keeps git, which tells a checkout's commit, from a lock that it could not write and would leave behind."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.toml"
    path.write_text(tomli_w.dumps(table(duration="2 s")))
    return path


def until(reached: Callable[[], bool], most_s: float = 60.0) -> None:
    """Waits for it, on a machine that may be busy."""
    end = time.monotonic() + most_s
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


def waits_for_a_reader(pid: int) -> bool:
    """Whether the program is in the open() of a FIFO."""
    return Path(f"/proc/{pid}/wchan").read_text() == "wait_for_partner"


def waits_for_room(pid: int) -> bool:
    """Whether a thread of the program is in the write() to a full FIFO."""
    return any(
        task.read_text() in ("pipe_write", "anon_pipe_write")
        for task in Path(f"/proc/{pid}/task").glob("*/wchan")
    )


def run_into_fifo(file: Path, option: str, duration: str) -> tuple[Path, subprocess.Popen[str]]:
    """Starts a run with one flow that writes its packets or events into a new FIFO."""
    fifo = file.with_name("fifo")
    os.mkfifo(fifo)
    one = table(duration=duration)
    one["flow"] = one["flow"][:1]
    file.write_text(tomli_w.dumps(one))
    asked = [*LONGFAT, "run", str(file), option, str(fifo)]
    return fifo, subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def interrupt(program: subprocess.Popen[str], waits: Callable[[int], bool]) -> None:
    """Sends SIGINT once the program waits, and checks that this ends it with one line."""
    until(lambda: program.poll() is not None or waits(program.pid))
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert err.startswith("interrupted; ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
def test_a_fifo_without_a_reader_is_waited_for_until_ctrl_c(file: Path, option: str) -> None:
    _, program = run_into_fifo(file, option, "2 s")
    interrupt(program, waits_for_a_reader)


@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
def test_a_fifo_whose_reader_has_stopped_reading_is_waited_for_until_ctrl_c(file: Path, option: str) -> None:
    fifo, program = run_into_fifo(file, option, "60 s")
    with fifo.open("rb"):
        interrupt(program, waits_for_room)


@pytest.mark.parametrize("option", ["capture", "qlog"])
def test_a_fifo_with_a_reader_gets_what_a_file_gets(tmp_path: Path, option: str) -> None:
    one = table(duration="2 s")
    one["flow"] = one["flow"][:1]
    fifo, plain = tmp_path / "fifo", tmp_path / "plain"
    os.mkfifo(fifo)
    with (tmp_path / "read").open("wb") as read, subprocess.Popen(["cat", str(fifo)], stdout=read) as reader:
        library.run(one, **{option: fifo})  # type: ignore[arg-type]
        assert reader.wait(timeout=60) == 0
    library.run(one, **{option: plain})  # type: ignore[arg-type]
    assert (tmp_path / "read").read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
@pytest.mark.parametrize("read", ["a.toml", "rate.trace", "own.py"])
def test_a_file_that_the_run_reads_is_not_written_over(file: Path, option: str, read: str) -> None:
    one = table(duration="2 s")
    one["flow"] = [one["flow"][0] | {"algorithm": "own.py:Own"}]
    one["bottleneck"]["rate"] = {"trace": "rate.trace"}
    file.with_name("rate.trace").write_text("1\n2\n3\n")
    hooks = (f"  def {name}(self, told, window): pass\n" for name in ("on_ack", "on_congestion"))
    file.with_name("own.py").write_text("class Own:\n" + "".join(hooks))
    file.write_text(tomli_w.dumps(one))
    before = file.with_name(read).read_bytes()
    argument = {"--pcap": "capture", "--qlog": "qlog"}[option]
    link = file.with_name("link")
    link.symlink_to(file.with_name(read))
    for name in (str(file.with_name(read)), str(link)):
        said = f"{name}: the run reads this file; accepted: another one"
        done = subprocess.run([*LONGFAT, "run", str(file), option, name], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (2, f"error: {option} {said}\n")
        with pytest.raises(InputError) as refused:
            library.run(file, **{argument: name})  # type: ignore[arg-type]
        assert str(refused.value) == f"{argument} {said}"
        assert file.with_name(read).read_bytes() == before


def test_a_scenario_with_a_byte_order_mark_is_read_as_without(file: Path) -> None:
    marked = file.with_name("marked.toml")
    marked.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert library.Scenario.load(marked) == library.Scenario.load(file)


def little_room(most_bytes: int = 4096) -> None:
    """Files have this many bytes at most, as on a disk that fills up."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))  # Python ignores SIGXFSZ


@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_is_named_with_the_file_and_the_table_is_printed(file: Path, as_json: bool) -> None:
    out = file.with_name("out")
    more = ["--json"] if as_json else []
    done = subprocess.run(
        [*LONGFAT, "run", str(file), "--out", str(out), *more],
        capture_output=True,
        text=True,
        preexec_fn=little_room,
        env=NO_GIT,
    )
    assert done.returncode == 1
    first = next(iter(done.stderr.splitlines()))
    assert first.startswith(f"error: {out}/")
    assert first.endswith(f": File too large; {out} is as it was")
    assert done.stderr.count("\n") == 1
    if as_json:
        assert len(json.loads(done.stdout)["flows"]) == 2
    else:
        assert "Jain's index" in done.stdout
        assert "Written to" not in done.stdout
    assert not out.exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_import_on_a_full_disk_names_the_file_and_prints_the_table(tmp_path: Path, as_json: bool) -> None:
    capture, out = tmp_path / "run.pcapng", tmp_path / "out"
    library.run(table(duration="2 s"), capture=capture)
    done = subprocess.run(
        [*LONGFAT, "import", str(capture), "--out", str(out), *(["--json"] if as_json else [])],
        capture_output=True,
        text=True,
        preexec_fn=lambda: little_room(512),
        env=NO_GIT,
    )
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.startswith(f"error: {out}/")
    assert last.endswith(f": File too large; {out} is as it was")
    if as_json:
        assert len(json.loads(done.stdout)["flows"]) == 2
    else:
        assert "goodput" in done.stdout
        assert "Written to" not in done.stdout
    assert not out.exists()


def test_saving_a_result_on_a_full_disk_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = library.run(table(duration="1 s"))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "Error writing bytes to file")  # as Arrow says it

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(LongfatError) as failed:
        result.save(tmp_path / "out")
    assert str(failed.value) == (
        f"{tmp_path}/out/flows.parquet: No space left on device; {tmp_path}/out is as it was"
    )


def test_a_page_on_a_full_disk_is_one_line_with_the_file(file: Path) -> None:
    folder = library.run(table(duration="1 s")).save(file.with_name("out"))
    done = subprocess.run(
        [*LONGFAT, "report", str(folder)], capture_output=True, text=True, preexec_fn=little_room, env=NO_GIT
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {folder}/figures/")
    assert done.stderr.endswith(": File too large\n")
    assert done.stderr.count("\n") == 1
    assert not list(folder.rglob(".*"))


def test_two_runs_into_one_folder_are_one_and_a_refusal(file: Path) -> None:
    out = file.with_name("out")
    asked = [*LONGFAT, "run", str(file), "--out", str(out)]
    long = [*asked, "--set", "duration=2000 s", "--set", "sample.cwnd=1 s"]
    first = subprocess.Popen(long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: first.poll() is not None or any(out.glob(".longfat-*")))
    second = subprocess.run(asked, capture_output=True, text=True)
    assert (second.returncode, second.stdout) == (2, "")
    assert second.stderr == (
        f"error: --out {out}: another command is writing to it; "
        "accepted: another folder, or this one when that has ended\n"
    )
    assert first.wait(timeout=300) == 0
    assert json.loads((out / "summary.json").read_text())["duration_s"] == 2000.0


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep of two runs."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "base.toml").write_text(tomli_w.dumps(table(duration="1 s")))
    (folder / "sweep.toml").write_text('base = "base.toml"\n[axes]\nduration = ["1 s", "2 s"]\n')
    made = [sys.executable, "-m", "longfat", "sweep", str(folder / "sweep.toml"), "--no-page"]
    subprocess.run([*made, "--out", str(folder / "out")], check=True, capture_output=True)
    return folder / "out"


@pytest.mark.parametrize("megabytes", [300, 450, 600])
@pytest.mark.parametrize(
    "arguments", [["report"], ["results"], ["results", "--sql", "SELECT count(*) FROM runs"]]
)
def test_little_memory_ends_with_a_result_or_one_line(
    swept: Path, megabytes: int, arguments: list[str]
) -> None:
    """Threads that cannot start are waited for by no library, and end none (`ulimit -v`)."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    command = [sys.executable, "-m", "longfat", arguments[0], str(swept), *arguments[1:]]
    ended = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=limit, timeout=120, check=False
    )
    assert ended.returncode in (0, 1, 2), ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0 or "memory" in ended.stderr.lower()
