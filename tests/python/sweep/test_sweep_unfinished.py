"""Sweeps that run, or were interrupted: their runs so far can be read and drawn."""

import importlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from longfat import errors, sweep
from longfat.cli import report
from longfat.scenario.model import Scenario
from longfat.sweep import unfinished
from samples import flips
from tiny_sweeps import BASE, driver, grid

sweep_run: Any = importlib.import_module("longfat.sweep.run")


def stopped_after(runs: int, asked: sweep.Sweep, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Does some runs of a sweep and interrupts it."""
    whole = sweep_run.distribution

    def some(*arguments: Any) -> Any:
        def outcomes(function: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
            for done, pair in enumerate(whole(*arguments)(function, tasks)):
                if done == runs:
                    raise KeyboardInterrupt
                yield pair

        return outcomes

    with monkeypatch.context() as patch:
        patch.setattr(sweep_run, "distribution", some)
        with pytest.raises(KeyboardInterrupt):
            sweep.run(asked, out, jobs=1)


@pytest.mark.parametrize("keep", ["summary", "series"])
def test_the_runs_so_far_of_an_interrupted_sweep_are_those_of_the_finished_one(
    keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = {"bottleneck.rate": ["1 Mbit/s", "0 Mbit/s", "2 Mbit/s"], "flow.0.algorithm": ["reno", "cubic"]}
    asked = grid(axes=axes, repeats=2, keep=keep, where='flow_0_algorithm == "reno" or bottleneck_rate < 2e6')
    stopped_after(4, asked, tmp_path, monkeypatch)
    some = sweep.open_sweep(tmp_path)
    assert some.note == "4 of 10 runs so far, 4 failed"
    assert repr(some) == f"<Swept of 'tiny': {some.note}, {tmp_path}>"
    assert not (tmp_path / "sweep.json").exists()
    if keep == "series":
        assert some.series(1).num_rows > 0
    assert "4 of 10 runs so far" in report.build(tmp_path).read_text()
    sweep.run(asked, tmp_path, jobs=1)
    whole = sweep.open_sweep(tmp_path)
    assert whole.note == ""
    assert not (tmp_path / "unfinished.json").exists()
    first = pc.less_equal(whole.runs["run"], some.runs["run"][-1])
    assert some.runs == whole.runs.filter(first)
    assert some.flows == whole.flows.filter(pc.is_in(whole.flows["run"], some.runs["run"]))
    assert some.failures == whole.failures


def test_a_sweep_can_be_read_and_drawn_while_it_runs(tmp_path: Path) -> None:
    long = BASE | {"duration": "300 s", "bottleneck": {"rate": "100 Mbit/s"}}
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    (tmp_path / "long.toml").write_text(Scenario.from_dict(long).to_toml())
    file.write_text('base = "long.toml"\n[axes]\nseed = { from = 1, to = 2000, points = 2000 }\n')
    running = subprocess.Popen(driver(file, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until, found = time.monotonic() + 60, 0
        while not found and time.monotonic() < until:
            time.sleep(0.2)
            if (out / "unfinished.json").exists():
                found = sweep.open_sweep(out).runs.num_rows
        assert 0 < found < 2000
        drawn = subprocess.run(
            [sys.executable, "-m", "longfat", "plot", str(out), "--y", "jain", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert running.poll() is None
    finally:
        running.kill()
        running.wait(timeout=60)
    told = json.loads(drawn.stdout)
    assert Path(told["file"]).exists()
    assert re.search(r"[1-9]\d* of 2000 runs so far\.", told["caption"])


def test_an_unfinished_sweep_counts_before_another_one_and_not_before_its_own_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (grid(axes={"seed": seeds}) for seeds in ([1, 2], [1, 2, 3, 4]))
    sweep.run(small, tmp_path, jobs=1)
    stopped_after(1, large, tmp_path, monkeypatch)
    assert sweep.open_sweep(tmp_path).note == "3 of 4 runs so far"
    left = (tmp_path / "unfinished.json").read_bytes()
    sweep.run(large, tmp_path, jobs=1)
    (tmp_path / "unfinished.json").write_bytes(left)  # as if killed before the last step
    assert sweep.open_sweep(tmp_path).note == ""
    sweep.run(small, tmp_path, jobs=1)
    assert not (tmp_path / "unfinished.json").exists()
    assert sweep.open_sweep(tmp_path).runs.num_rows == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], "is no sweep"),
        (lambda text: text.replace('"keys"', '"key"'), "damaged"),
        (lambda text: text.replace('"repeats": 1', '"repeats": 3'), "damaged"),
        (lambda text: text.replace('"format": 1', '"format": 99'), "which is newer"),
        (lambda text: "[]", "is no sweep"),
    ],
)
def test_what_is_damaged_of_an_unfinished_sweep_is_said(
    change: Callable[[str], str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(1, grid(axes={"seed": [1, 2]}), tmp_path, monkeypatch)
    file = tmp_path / "unfinished.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(errors.LongfatError, match=said):
        sweep.open_sweep(tmp_path)


def test_a_sweep_without_any_run_so_far_is_not_drawn(
    longfat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(0, grid(axes={"seed": [1, 2, 3]}), tmp_path, monkeypatch)
    assert sweep.open_sweep(tmp_path).runs.num_rows == 0
    code, _, err = longfat("plot", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert "0 of 3 runs so far; accepted: a sweep with at least one finished run" in err


def test_a_very_large_sweep_is_read_when_it_has_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished, "MOST_RUNS", 2)
    stopped_after(1, grid(axes={"seed": [1, 2, 3]}), tmp_path, monkeypatch)
    assert not (tmp_path / "unfinished.json").exists()
    with pytest.raises(errors.InputError, match="did not finish"):
        sweep.open_sweep(tmp_path)


def test_a_changed_bit_of_an_unfinished_sweep_is_said_or_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(1, grid(axes={"seed": [1, 2]}), tmp_path, monkeypatch)
    before = sweep.open_sweep(tmp_path)
    file = tmp_path / "unfinished.json"
    said = 0
    for changed in flips(file.read_bytes(), 300):
        file.write_bytes(changed)
        try:
            found = sweep.open_sweep(tmp_path)
        except errors.LongfatError:
            said += 1
        else:
            assert (found.document, found.runs) == (before.document, before.runs)
    assert said > 200
