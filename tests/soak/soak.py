"""Runs random valid scenarios for a while and looks for anything that is not as it has to be.

    make soak MINUTES=30

Each scenario runs by both drivers, and twice by the fast one: all three give the same bytes, the balances
hold, the summary is finite, and the scenario survives being written and read. It then runs again with a
change that leaves its results as they are or scales them (`tests/python/relations.py`), each scenario with
another one; `--relations` makes all of these changes to smaller scenarios, and nothing else. A run that would
take more than its memory has to say so. Between them, sweeps over small scenarios are killed at random (the
command or a process below it, by SIGKILL, SIGTERM or SIGINT) and resumed. One process runs all scenarios of a
call, and its memory is watched.

The state holds the next number and the totals over all calls. It is in `tests/soak/totals.json` for
`make soak`, and in the folder's `state.json` if no file is given. The folder, `out/soak` if not given, has in
`findings/` a scenario file for each finding, with a line that says what was found. The exit code is 1 after a
call that found something.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import random
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import pyarrow  # noqa: E402
import tomli_w  # noqa: E402

import balances  # noqa: E402
import kills  # noqa: E402
import random_scenarios  # noqa: E402
import relations  # noqa: E402
from longfat.errors import LongfatError, MemoryExceeded  # noqa: E402
from longfat.runs import memory  # noqa: E402
from longfat.scenario.model import Scenario  # noqa: E402

SWEEP_EVERY = 60
"""A sweep is killed and resumed after so many scenarios."""
SWEEP_PACKETS = (300.0, 3000.0)
KILLS = 3
LONGEST_S = 600.0
"""A scenario that takes more processor time is a finding; ten times what the longest one took."""
LONGEST_WAIT_S = 6 * 3600.0
"""So is one that takes longer altogether: on the busiest machine, it is stuck."""
RUN_MIB = 640
"""A run may take so much memory, as with `--memory`; an algorithm may ask for more, and is then refused."""
MOST_MIB = 1024
"""More resident memory than this is a finding: the process itself, a run, and the results of two others."""
GROWTH_MIB = 32
"""The least memory in the last quarter of a process's runs may exceed that in the second quarter by this."""
GROWTH_RUNS = 400
"""Growth is judged from this many runs on."""
STATE = "state.json"
RELATED_PACKETS = (300.0, 6000.0)
"""The sizes of scenarios that all relations change."""


def work(own: Path, only_relations: bool) -> None:
    """Reads numbers from standard input and answers each with a line of JSON."""
    warnings.simplefilter("ignore")
    memory.give(RUN_MIB * 2**20)
    for line in sys.stdin:
        number, begun = int(line), time.perf_counter()
        answer: dict[str, Any] = {"number": number, "problems": [], "packets": 0, "runs": 0, "refused": 0}
        answer["relations"] = 0
        try:
            tables = draw(number, own, only_relations)
            scenario = Scenario.from_dict(tables)
            if memory.estimate(scenario)[0] > memory.given():
                raise MemoryExceeded(str(number), RUN_MIB * 2**20)
            if not only_relations:
                answer["problems"], answer["packets"] = check(scenario)
                answer["runs"] = 3
            names = list(relations.RELATIONS)
            for name in names if only_relations else names[number % len(names) :][:1]:
                answer["relations"] += 1
                if (found := relations.check(name, tables, number)) is not None:
                    answer["problems"].append(f"relation {name}: {found}")
        except (MemoryExceeded, MemoryError):  # the core's own is a MemoryError
            answer["refused"] = 1
        except LongfatError as error:
            answer["problems"] = [f"{type(error).__name__}: {' '.join(str(error).split())}"]
        except Exception as error:
            answer["problems"] = [f"unexpected {type(error).__name__}: {' '.join(str(error).split())[:400]}"]
        answer["wall_s"] = time.perf_counter() - begun
        answer["rss_mib"], answer["peak_mib"] = resident_mib()
        print(json.dumps(answer), flush=True)


def draw(number: int, own: Path, only_relations: bool) -> dict[str, Any]:
    """Returns the tables of a scenario."""
    sizes = RELATED_PACKETS if only_relations else random_scenarios.PACKETS
    return random_scenarios.draw(number, own, sizes)


def check(scenario: Scenario) -> tuple[list[str], int]:
    """Returns what is wrong with a scenario's runs, and how many packets they carried."""
    problems = []
    full = scenario.filled()
    if Scenario.from_toml(full.to_toml()).plan != full.plan:
        problems.append("the scenario that is written is another one when it is read")
    result, found = balances.difference(scenario)
    if found is not None:
        problems.append(found)
    problems += balances.violations(result)
    json.dumps(result.summary, allow_nan=False)
    return problems, 3 * int(result._output["summary"]["packets"])


def resident_mib() -> tuple[float, float]:
    """Returns the resident memory of this process, without what is free, and its peak."""
    gc.collect()
    pyarrow.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor_s(pid: int) -> float:
    """Returns the processor time that a process has taken, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """The process that runs scenarios; a new one follows one that ended or that did not answer."""

    def __init__(self, own: Path, only_relations: bool) -> None:
        command = [sys.executable, __file__, "--work", str(own)]
        command += ["--relations"] if only_relations else []
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.rss_mib: list[float] = []

    def run(self, number: int) -> dict[str, Any]:
        """Returns the worker's answer, or one that says why there is none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        problem = None
        try:
            self.process.stdin.write(f"{number}\n")
            self.process.stdin.flush()
            with selectors.DefaultSelector() as selector:
                selector.register(self.process.stdout, selectors.EVENT_READ)
                begun, before_s = time.monotonic(), processor_s(self.process.pid)
                while not selector.select(1.0) and problem is None:
                    if processor_s(self.process.pid) - before_s > LONGEST_S:
                        problem = f"runs for more than {LONGEST_S:g} s of processor time"
                    elif time.monotonic() - begun > LONGEST_WAIT_S:
                        problem = f"is stuck after {LONGEST_WAIT_S:g} s"
            line = "" if problem else self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            answer: dict[str, Any] = json.loads(line)
            self.rss_mib.append(answer["rss_mib"])
            if answer["rss_mib"] > MOST_MIB or answer["peak_mib"] > MOST_MIB:
                used = max(answer["rss_mib"], answer["peak_mib"])
                answer["problems"].append(f"{used:.0f} MiB of memory; the bound is {MOST_MIB}")
                self.end()
            return answer
        said = self.end()
        problem = problem or f"the process ended with {self.process.returncode}: {said[-400:]}"
        return {"number": number, "problems": [problem], "wall_s": LONGEST_S}

    def end(self) -> str:
        """Ends the process and returns what it wrote to standard error."""
        self.process.kill()
        return " ".join(self.process.communicate()[1].split())

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self.process.poll() is not None

    def growth(self) -> str | None:
        """Says how much memory grew over the runs of this process, if that is too much."""
        number = len(self.rss_mib)
        if number < GROWTH_RUNS:
            return None
        early = min(self.rss_mib[number // 4 : number // 2])
        late = min(self.rss_mib[-(number // 4) :])
        if late - early <= GROWTH_MIB:
            return None
        return f"memory grew from {early:.0f} to {late:.0f} MiB over {number} runs in one process"


def kill_sweep(number: int, folder: Path, own: Path) -> tuple[list[str], Counter[str]]:
    """Kills and resumes a sweep over a random scenario; see `kills.attack`."""
    draws = random.Random(number)
    tables = random_scenarios.draw(number, own, SWEEP_PACKETS)
    lossy = "link.0.loss" if "link" in tables else "bottleneck.loss"
    sweep = {
        "base": tables | {"seed": 1},
        "repeats": draws.randint(2, 12),
        "keep": draws.choice(["summary", "series"]),
        "axes": {lossy: [0.0, 0.001, 0.02], "sample.queue": ["11 ms", "13 ms"]},
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{number}.toml"
    file.write_text(tomli_w.dumps(sweep))
    case = kills.Case(f"sweep {number}", ["sweep", str(file), "--jobs", "2"], kills.SIGNALS)
    try:
        found, counts = kills.attack(case, folder, draws, KILLS)
    except subprocess.TimeoutExpired as error:
        found, counts = [f"sweep {number}: {error}"], Counter()
    if found:
        shutil.copy(file, folder.parent / "findings" / f"sweep-{number}.toml")
    shutil.rmtree(folder, ignore_errors=True)
    return found, counts


class Soak:
    """One call: the state that goes on, and what this call counted."""

    def __init__(self, folder: Path, state: Path, only_relations: bool) -> None:
        self.folder, self.file, self.only_relations = folder, state, only_relations
        self.findings = folder / "findings"
        self.findings.mkdir(parents=True, exist_ok=True)
        self.own = random_scenarios.own_algorithms(folder)
        self.state = {"next": 0, "totals": {}}
        if state.exists():
            self.state = json.loads(state.read_text())
        self.counts: Counter[str] = Counter()

    def save(self) -> None:
        """Writes the next number, and the totals with this call's counts."""
        totals = Counter(self.state["totals"]) + self.counts
        document = {"next": self.state["next"], "totals": dict(sorted(totals.items()))}
        draft = self.file.with_name(f".{self.file.name}")
        draft.write_text(json.dumps(document, indent=1) + "\n")
        draft.replace(self.file)

    def find(self, name: str, problems: list[str], tables: dict[str, Any] | None = None) -> None:
        """Keeps a finding and prints its line."""
        self.counts["findings"] += 1
        told = " ".join(" ".join(problems).split())
        print(f"{name}: {told[:300]}", flush=True)
        text = "" if tables is None else tomli_w.dumps(tables)
        (self.findings / f"{name}.toml").write_text(f"# {told}\n{text}")

    def run(self, minutes: float) -> int:
        """Soaks for so many minutes; returns the exit code."""
        until = time.monotonic() + 60.0 * minutes
        begun = time.monotonic()
        worker = Worker(self.own, self.only_relations)
        try:
            while time.monotonic() < until:
                number = self.state["next"]
                self.state["next"] += 1
                if number % SWEEP_EVERY == SWEEP_EVERY - 1 and not self.only_relations:
                    found, counts = kill_sweep(number, self.folder / "sweep", self.own)
                    self.counts.update({"sweeps": 1, "kills": kills.number(counts)})
                    if found:
                        self.find(f"sweep-{number}-told", found)
                    self.save()
                    continue
                if worker.ended:
                    worker = Worker(self.own, self.only_relations)
                answer = worker.run(number)
                self.counts["scenarios"] += 1
                self.counts.update({name: answer.get(name, 0) for name in COUNTED})
                if answer["problems"]:
                    tables = draw(number, self.own, self.only_relations)
                    self.find(f"{number}", answer["problems"], tables)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        finally:
            if (grown := worker.growth()) is not None:
                self.find(f"memory-{self.state['next']}", [grown])
            most_mib = max(worker.rss_mib, default=0.0)
            worker.end()
            self.counts["seconds"] = round(time.monotonic() - begun)
            usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            self.counts["processor_seconds"] = round(sum(used.ru_utime + used.ru_stime for used in usages))
            self.save()
        told = ", ".join(f"{self.counts[name]} {name}" for name in NAMES)
        print(f"{told}; {most_mib:.0f} MiB resident at most; {self.file} has the totals")
        return 1 if self.counts["findings"] else 0


COUNTED = ("runs", "packets", "refused", "relations")
"""What the worker counts."""
NAMES = (
    "scenarios",
    "refused",
    "runs",
    "relations",
    "packets",
    "sweeps",
    "kills",
    "seconds",
    "processor_seconds",
    "findings",
)


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "soak", help="where the state is")
    parser.add_argument("--state", type=Path, metavar="FILE", help="what a later call goes on from")
    parser.add_argument("--relations", action="store_true", help="only the changes that leave results alone")
    parser.add_argument("--work", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work is not None:
        work(asked.work, asked.relations)
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):  # in the background, a shell has SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    folder = asked.folder.resolve()
    return Soak(folder, asked.state or folder / STATE, asked.relations).run(asked.minutes)


if __name__ == "__main__":
    sys.exit(main())
