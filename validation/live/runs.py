"""Runs of both backends, reduced to what is compared; live ones take real time and are kept."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import longfat
from cases import Planned
from longfat.crosscheck import crosscheck
from longfat.errors import LongfatError
from longfat.runs.result import Result
from longfat.scenario.loading import OBJECT

ATTEMPTS = 4
"""How often a live run is tried until it is valid."""
KEPT = ("time_s", "cwnd", "ssthresh", "srtt_s", "received_bytes")


@dataclass(frozen=True)
class Run:
    """One run: its summary, and the backoff factors of each flow as `longfat crosscheck` computes them."""

    summary: dict[str, Any]
    backoffs: list[list[float]]

    @classmethod
    def of(cls, result: Result) -> Run:
        """Returns what is compared of a result."""
        window = result.scenario.metrics_window_s()
        names = [flow["name"] for flow in result.summary["flows"]]
        return cls(result.summary, [crosscheck.backoffs(result.flow(name), window) for name in names])

    def mbps(self, flow: int) -> float:
        """Returns the throughput of a flow."""
        return 1e-6 * float(self.summary["flows"][flow]["throughput_bps"])

    @property
    def sum_mbps(self) -> float:
        """Returns the throughput of all flows."""
        return sum(self.mbps(i) for i in range(len(self.summary["flows"])))

    @property
    def cwnd(self) -> float:
        """Returns the first flow's mean window."""
        return float(self.summary["flows"][0]["cwnd_mean"])

    @property
    def second_share(self) -> float:
        """Returns the second flow's share of the throughput of both."""
        return self.mbps(1) / self.sum_mbps


def simulated(case: Planned) -> list[Run]:
    """Returns the simulator's side of a case."""
    return [Run.of(longfat.run(case.scenario(seed))) for seed in case.seeds]


class Kept:
    """Live runs in a folder: a JSON file and the flows' series for each run."""

    def __init__(self, folder: Path) -> None:
        """Creates the folder if it is missing."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, case: Planned, seed: int) -> Path:
        """Returns the path of a run's file, which exists once the run is done."""
        return self.folder / f"{case.key}-{seed}.json"

    def find(self, case: Planned, seed: int) -> Run | None:
        """Returns a valid run of exactly this scenario, if there is one."""
        try:
            found = json.loads(self.path(case, seed).read_text())
        except FileNotFoundError:
            return None
        if found["scenario"] != _digest(case, seed) or not found["summary"]["validity"]["valid"]:
            return None
        return Run(found["summary"], found["backoffs"])

    def runs(self, case: Planned) -> list[Run]:
        """Returns all finished runs of a case."""
        return [run for seed in case.seeds if (run := self.find(case, seed)) is not None]

    def keep(self, case: Planned, seed: int, result: Result) -> None:
        """Writes the series first, then the file that marks the run as done."""
        run = Run.of(result)
        series = {
            f"{flow['name']}.{name}": result.flow(flow["name"])[name].astype(np.float32)
            for flow in run.summary["flows"]
            for name in KEPT
        }
        path = self.path(case, seed)
        np.savez_compressed(path.with_suffix(".npz"), **series)  # type: ignore[arg-type]
        written = path.with_suffix(".new")
        written.write_text(
            json.dumps(
                {"scenario": _digest(case, seed), "summary": run.summary, "backoffs": run.backoffs}, indent=1
            )
        )
        written.replace(path)


def _digest(case: Planned, seed: int) -> str:
    """Identifies a scenario; a file with eBPF programs by its content, wherever it is."""
    scenario = case.scenario(seed)
    text = json.dumps(scenario, sort_keys=True)
    for entry in scenario["flow"]:
        algorithm = entry["algorithm"]
        file, found, _ = str(algorithm["name"] if isinstance(algorithm, dict) else algorithm).partition(
            OBJECT
        )
        if found:
            content = Path(f"{file}{OBJECT}").read_bytes()
            text = text.replace(f"{file}{OBJECT}", hashlib.sha256(content).hexdigest())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def measure(chosen: Sequence[Planned], kept: Kept, jobs: int | None, say: Callable[[str], None]) -> list[str]:
    """Makes the missing live runs, some at a time; returns a line for each invalid one."""
    missing = [(case, seed) for case in chosen for seed in case.seeds if kept.find(case, seed) is None]
    failures: list[str] = []
    for most, some in itertools.groupby(missing, key=lambda item: item[0].jobs):
        crew = _Crew(list(some), kept, say)
        crew.work(jobs or most)
        failures += crew.failures
    return failures


class _Crew:
    """Threads that make live runs.

    Names of kernel algorithms are shared by the whole machine, so no two runs of one go at the same time.
    """

    def __init__(self, waiting: list[tuple[Planned, int]], kept: Kept, say: Callable[[str], None]) -> None:
        self.waiting, self.kept, self.say = waiting, kept, say
        self.busy: set[str] = set()
        self.failures: list[str] = []
        self.turn = threading.Condition()

    def work(self, jobs: int) -> None:
        """Makes all of them; after an interrupt, the end of the program ends the threads and their runs."""
        threads = [threading.Thread(target=self._one, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _one(self) -> None:
        while (item := self._next()) is not None:
            case, seed = item
            line = _live(case, seed, self.kept, self.say)
            with self.turn:
                self.busy.discard(case.algorithm)
                self.failures += [line] if line else []
                self.say(f"{case.key} {seed}: {line or 'valid'}; {len(self.waiting)} wait")
                self.turn.notify_all()

    def _next(self) -> tuple[Planned, int] | None:
        with self.turn:
            while self.waiting:
                for item in self.waiting:
                    if item[0].algorithm not in self.busy:
                        self.waiting.remove(item)
                        self.busy.add(item[0].algorithm)
                        return item
                self.turn.wait()
        return None


def _live(case: Planned, seed: int, kept: Kept, say: Callable[[str], None]) -> str | None:
    """Makes one live run and repeats it while it is invalid; returns why there is none, or None."""
    why = None
    for attempt in range(ATTEMPTS):
        if why is not None:
            say(f"{case.key} {seed}: attempt {attempt}: {why}")
        try:
            result = longfat.run(case.scenario(seed), backend="live")
        except LongfatError as error:
            why = str(error)
            continue
        checks = result.summary["validity"]["checks"]
        wrong = [f"{check['name']} {check['value']:.4g}" for check in checks if not check["ok"]]
        if not wrong:
            kept.keep(case, seed, result)
            return None
        why = f"not valid, load {os.getloadavg()[0]:.1f}: {'; '.join(wrong)}"
    return why
