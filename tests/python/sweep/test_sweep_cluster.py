"""Sweeps on a dask cluster of several processes on this machine."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longfat import errors, sweep
from longfat.sweep.cluster import versions

pytest.importorskip("distributed")

BASE = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "buffer": "50 % BDP", "loss": 0.01},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}
RATES = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]


def asked(repeats: int) -> sweep.Sweep:
    return sweep.from_dict(
        {"base": BASE, "axes": {"bottleneck.rate": RATES}, "repeats": repeats, "keep": "summary"}
    )


def tables(folder: Path) -> dict[str, bytes]:
    root = folder / "tables"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


@contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    file = folder / "scheduler.json"
    command = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    running = subprocess.Popen(
        [sys.executable, *command, "--scheduler-file", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < until
            time.sleep(0.1)
        yield str(file), running
    finally:
        running.kill()
        running.wait()


@contextmanager
def workers(file: str, number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    command = [
        "-m",
        "distributed.cli.dask_worker",
        "--scheduler-file",
        file,
        "--nthreads",
        "1",
        "--no-dashboard",
    ]
    running = [
        subprocess.Popen(
            [sys.executable, *command, "--no-nanny"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(number)
    ]
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.wait()


def address(file: str) -> str:
    import json

    found: str = json.loads(Path(file).read_text())["address"]
    return found


def wait_for_workers(where: str, number: int) -> None:
    from distributed import Client

    with Client(where, timeout=30, set_as_default=False) as client:
        client.wait_for_workers(number, timeout=60)


def test_a_cluster_gives_what_this_machine_gives_whichever_of_its_workers_die(tmp_path: Path) -> None:
    sweep.run(asked(40), tmp_path / "here")
    draws = random.Random(3)
    with scheduler(tmp_path) as (file, _), workers(file, 3) as running:
        where = address(file)
        wait_for_workers(where, 3)
        text = (
            "import sys; from longfat import sweep\n"
            "sys.path.insert(0, sys.argv[1]); import test_sweep_cluster as t\n"
            "sweep.run(t.asked(40), sys.argv[2], scheduler=sys.argv[3])"
        )
        arguments = [str(Path(__file__).parent), str(tmp_path / "there"), where]
        driver = subprocess.Popen([sys.executable, "-c", text, *arguments], stderr=subprocess.PIPE, text=True)
        time.sleep(draws.uniform(2.0, 3.0))
        os.kill(running[draws.randrange(3)].pid, signal.SIGKILL)
        _, said = driver.communicate(timeout=120)
        assert driver.returncode == 0, said
    assert tables(tmp_path / "there") == tables(tmp_path / "here")


def test_a_scheduler_that_goes_is_told_and_the_rest_can_be_run_later(tmp_path: Path) -> None:
    with scheduler(tmp_path) as (file, process), workers(file, 2):
        where = address(file)
        wait_for_workers(where, 2)
        from longfat.sweep import cluster

        connected = cluster.Cluster(where)
        outcomes = connected.outcomes(slow, iter(range(400)))
        next(outcomes)
        process.kill()
        with pytest.raises(errors.LongfatError, match="is gone; finished runs are kept"):
            for _ in outcomes:
                pass


def slow(number: int) -> int:
    time.sleep(0.05)
    return number


def test_nobody_at_the_address_and_no_worker_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from longfat.sweep import cluster

    monkeypatch.setattr(cluster, "TIMEOUT_S", 1.0)
    with pytest.raises(errors.InputError, match=r"accepted: one of .*tcp"):
        cluster.Cluster("http://127.0.0.1:80")
    with pytest.raises(errors.InputError, match="does not answer"):
        cluster.Cluster("tcp://127.0.0.1:9")
    with scheduler(tmp_path) as (file, _), pytest.raises(errors.InputError, match="has no worker"):
        cluster.Cluster(address(file))


def test_workers_of_another_version_are_refused_with_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from longfat.sweep import cluster

    with scheduler(tmp_path) as (file, _), workers(file, 1):
        where = address(file)
        wait_for_workers(where, 1)
        there = versions()
        monkeypatch.setattr(cluster._core, "version", lambda: "9.9.9")
        with pytest.raises(
            errors.InputError, match=rf"runs {there.replace('(', '.').replace(')', '.')}, this is .*9\.9\.9"
        ):
            cluster.Cluster(where)


def test_a_worker_of_another_version_that_joins_later_computes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from longfat.sweep import cluster

    with scheduler(tmp_path) as (file, _), workers(file, 1):
        where = address(file)
        wait_for_workers(where, 1)
        connected = cluster.Cluster(where)
        monkeypatch.setattr(cluster._core, "version", lambda: "9.9.9")
        with pytest.raises(errors.InputError, match=r"worker tcp://.* runs .*, this is .*9\.9\.9"):
            list(connected.outcomes(abs, iter(range(20))))


def test_a_thousand_workers_run_every_task_once(tmp_path: Path) -> None:
    from longfat.sweep import cluster

    with scheduler(tmp_path) as (file, _):
        command = ["-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--no-dashboard"]
        many = subprocess.Popen(
            [sys.executable, *command, "--nthreads", "1000", "--no-nanny"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            where = address(file)
            wait_for_workers(where, 1)
            found = list(cluster.Cluster(where).outcomes(abs, iter(range(5_000))))
        finally:
            many.kill()
            many.wait()
    assert sorted(found) == [(number, number) for number in range(5_000)]


def test_the_runs_of_a_dossier_go_to_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longfat.assess import command, tasks

    monkeypatch.setitem(tasks.REPEATS, "quick", 1)
    tiny = tasks.assessment("htcp", only=["7.4"])
    with scheduler(tmp_path) as (file, _), workers(file, 2):
        where = address(file)
        wait_for_workers(where, 2)
        there = command.run(tiny, tmp_path / "there", scheduler=where)
    here = command.run(tiny, tmp_path / "here", jobs=1)
    assert there["criteria"] == here["criteria"]
    assert there["criteria"][0]["status"] == "addressed"
