"""The runs of a comparison: checks what the command line asks for and makes a scenario for every run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import documents
from longfat.compare import paths
from longfat.compare.columns import (
    EXTENTS,
    FAR,
    FIRST_START_S,
    LATE_START_S,
    TRIALS,
    WINDOW_FROM,
    Extent,
    Trial,
)
from longfat.compare.paths import FilePath
from longfat.errors import InputError, ScenarioError
from longfat.scenario import registry
from longfat.scenario.model import Algorithm, Scenario
from longfat.scenario.stacks import LINUX
from longfat.units import PACKET_BITS, RATE, TIME
from longfat.words import Mode

CUSTOM_COST = 20.0
"""A user's own algorithm takes about this many times longer; such runs start first."""

MOST_REPEATS = 1000
COORDINATES = ("algorithm", "trial", "rate_bps", "rtt_s", "buffer", "level", "repeat")
"""What each run has in runs.parquet, before what was measured."""


@dataclass(frozen=True)
class Contender:
    """One algorithm of a comparison: its name in the table, and how a scenario specifies it."""

    label: str
    algorithm: Algorithm

    @property
    def custom(self) -> bool:
        """Whether it is a user's own."""
        return self.algorithm.custom

    @property
    def cost(self) -> float:
        """The time that a packet takes, relative to that with an algorithm of Longfat."""
        return CUSTOM_COST if self.custom else 1.0


@dataclass(frozen=True)
class NetworkPath:
    """A rate and a round-trip time of the grid."""

    rate_bps: float
    rtt_s: float

    @property
    def bdp_packets(self) -> float:
        """The bandwidth-delay product in packets of 1500 bytes."""
        return self.rate_bps * self.rtt_s / PACKET_BITS


@dataclass(frozen=True)
class Grid:
    """A whole comparison, checked: after this only a run itself can fail."""

    contenders: tuple[Contender, ...]
    paths: tuple[NetworkPath, ...]
    buffers: tuple[str, ...]
    repeats: int
    mode: Mode
    trials: tuple[Trial, ...]
    skipped: dict[str, str]
    """The reason why a trial is not run, by its name."""
    stack: str
    """The hosts of flows that name none."""
    files: tuple[FilePath, ...] = ()
    """Paths beside the grid."""

    @property
    def extent(self) -> Extent:
        """The mode's durations, losses and small buffers."""
        return EXTENTS[self.mode]


@dataclass(frozen=True)
class Task:
    """One run: its coordinates, its scenario, and its expected work in packets."""

    coordinates: dict[str, Any]
    scenario: Scenario
    packets: float


def grid(
    algorithms: Sequence[str],
    rates: str | None = None,
    rtts: str | None = None,
    buffers: str | None = None,
    repeats: int | None = None,
    mode: Mode = "quick",
    files: Sequence[str] = (),
    stack: str = LINUX,
) -> Grid:
    """Returns the grid that the command line asks for; `EXTENTS` has the defaults of a mode.

    Args:
        algorithms: names, aliases, "file.py:Class", or inline tables with parameters.
        rates: rates of the bottleneck, separated by commas, each with its unit.
        rtts: propagation delays, likewise.
        buffers: buffers of the bottleneck, likewise, written as in a scenario.
        repeats: runs of each kind at each point.
        mode: selects the defaults.
        files: scenario files and traces, as paths beside the grid.
        stack: the hosts of flows and backgrounds over TCP that name none.

    Raises:
        InputError: one line that says what is wrong and what is accepted.
    """
    extent = EXTENTS[mode]
    listed = contenders(algorithms)
    rate_bps = [
        _tried({"bottleneck.rate": text}, "--rates").bottleneck.rate
        for text in _listed("--rates", rates, extent.rates)
    ]
    rtt_s = [_rtt_s(text) for text in _listed("--rtts", rtts, extent.rtts)]
    given = [_buffer(text) for text in _listed("--buffers", buffers, extent.buffers)]
    for option, values in (("--rates", rate_bps), ("--rtts", rtt_s), ("--buffers", given)):
        if len(set(values)) < len(values):
            raise InputError(f"{option}: the same value is given twice; accepted: each value once")
    number = extent.repeats if repeats is None else repeats
    if not 1 <= number <= MOST_REPEATS:
        raise InputError(f"--repeats {number}: it is out of range; accepted: from 1 to {MOST_REPEATS}")
    beside = paths.read(files, sorted(rtt_s), extent.duration_s)
    for path in beside:
        for contender in listed:
            path.scenario(contender.algorithm.written, 0, stack)  # refuses before anything runs
    known = {row["name"] for row in registry.rows("algorithms")}
    skipped = {
        trial.name: f"this version has no algorithm {trial.beside}"
        for trial in TRIALS
        if trial.beside is not None and trial.beside not in known
    }
    return Grid(
        contenders=listed,
        paths=tuple(NetworkPath(rate, rtt) for rate in sorted(rate_bps) for rtt in sorted(rtt_s)),
        buffers=tuple(given),
        repeats=number,
        mode=mode,
        trials=tuple(trial for trial in TRIALS if trial.name not in skipped),
        skipped=skipped,
        stack=stack,
        files=beside,
    )


def tasks(grid: Grid) -> list[Task]:
    """Returns every run of the grid, long ones first, so that no processor waits for one at the end."""
    found = [
        _task(grid, contender, trial, path, level, repeat)
        for contender in grid.contenders
        for trial in grid.trials
        for path in grid.paths
        for level in levels(grid, trial)
        for repeat in range(grid.repeats)
    ]
    found += [
        _on_path(contender, path, repeat, grid.stack)
        for contender in grid.contenders
        for path in grid.files
        for repeat in range(grid.repeats)
    ]
    return sorted(found, key=lambda task: -task.packets)


def levels(grid: Grid, trial: Trial) -> Sequence[Any]:
    """Returns a trial's values on each path: buffers as texts, probabilities, or percents of the BDP."""
    return {"buffer": grid.buffers, "loss": grid.extent.losses, "share": grid.extent.shares}[trial.varied]


def _task(grid: Grid, contender: Contender, trial: Trial, path: NetworkPath, level: Any, repeat: int) -> Task:
    duration_s = grid.extent.duration_s
    bottleneck = {
        "buffer": {"buffer": level},
        "loss": {"buffer": "100 % BDP", "loss": level},
        "share": {"buffer": f"{level} % BDP"},
    }[trial.varied]
    # always random, so that repeats differ
    early, late = (TIME.write(share * duration_s) for share in LATE_START_S)
    starts = [["0 s", late], ["0 s", late]]
    if trial.late or trial.flows == 1:
        starts = [["0 s", TIME.write(FIRST_START_S)], [early, late]]
    own = contender.algorithm.written
    rtts_s = (path.rtt_s, path.rtt_s * FAR if trial.far else path.rtt_s)
    flows = [
        {"algorithm": algorithm, "rtt": TIME.write(rtt_s), "start": {"uniform": start}}
        for algorithm, rtt_s, start in zip((own, trial.beside or own), rtts_s, starts, strict=True)
    ]
    tables = {
        "title": f"{contender.label}: {trial.name}",
        "duration": TIME.write(duration_s),
        "window": [TIME.write(WINDOW_FROM * duration_s), TIME.write(duration_s)],
        "seed": repeat + 1,
        "bottleneck": {"rate": RATE.write(path.rate_bps), **bottleneck},
        "flow": flows[: trial.flows],
    }
    scenario = Scenario.from_dict(tables, source=f"compare, {trial.name}", stack=grid.stack)
    values: dict[str, Any] = {"buffer": level} if trial.varied == "buffer" else {"level": float(level)}
    if grid.files:
        values["path"] = None
    values |= {"trial": trial.name, "rate_bps": path.rate_bps, "rtt_s": path.rtt_s, "repeat": repeat}
    return _placed(contender, scenario, values)


def _on_path(contender: Contender, path: FilePath, repeat: int, stack: str) -> Task:
    scenario = path.scenario(contender.algorithm.written, repeat, stack)
    rate_bps = scenario.link[0].rate if scenario.link else scenario.bottleneck.rate
    values = {"trial": paths.TRIAL, "rate_bps": rate_bps, "rtt_s": path.rtt_s, "repeat": repeat}
    return _placed(contender, scenario, values | {"path": path.label})


def _placed(contender: Contender, scenario: Scenario, values: dict[str, Any]) -> Task:
    coordinates = dict.fromkeys(COORDINATES) | {"algorithm": contender.label} | values
    return Task(coordinates, scenario, contender.cost * values["rate_bps"] * scenario.duration / PACKET_BITS)


def contenders(texts: Sequence[str], source: str = "compare") -> tuple[Contender, ...]:
    """Returns the algorithms that a command line lists, each with a label of its own.

    Args:
        texts: names, aliases, "file.py:Class", or inline tables with parameters.
        source: the command or option, for messages.

    Raises:
        InputError: one line that says what is wrong and what is accepted.
    """
    if not texts:
        raise InputError(
            f"{source}: there is no algorithm; accepted: names of `longfat list algorithms`, or file.py:Class"
        )
    specs = [(text, _algorithm(text, source)) for text in texts]
    short = [_label(spec, whole=False) for _, spec in specs]
    found: dict[str, Contender] = {}
    for (text, spec), name in zip(specs, short, strict=True):
        label = name if short.count(name) == 1 else _label(spec, whole=True)
        if label in found:
            raise InputError(f"{source}: {text}: it is given twice; accepted: each algorithm once")
        found[label] = Contender(label, spec)
    return tuple(found.values())


def _algorithm(text: str, source: str) -> Algorithm:
    value: Any = text
    if text.lstrip().startswith("{"):
        try:
            value = documents.toml(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            raise InputError(
                f"{source}: {text}: this is not an inline table; "
                f'accepted: a table such as {{ name = "hstcp", '
                "low_window = 31 }"
            ) from None
    file = text.rpartition(":")[0]
    if file.endswith(".py") and not Path(file).is_file():
        raise InputError(f"{source}: {text}: there is no file {file}; accepted: file.py:Class")
    found: Algorithm = _tried({"flow.0.algorithm": value}, source).flow[0].algorithm
    return found


def _label(spec: Algorithm, *, whole: bool) -> str:
    """Returns a short label: the path of a user's own algorithm loses its folder."""
    name = spec.name if whole or not spec.custom else Path(spec.name).name
    given = ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in spec.parameters.items()
    )
    return f"{name} ({given})" if given else name


def _listed(option: str, text: str | None, default: tuple[str, ...]) -> list[str]:
    if text is None:
        return list(default)
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        empty = "no value" if len(parts) == 1 else "an empty value"
        raise InputError(f'{option} "{text}": {empty}; accepted: a list such as "{", ".join(default)}"')
    return parts


def _rtt_s(text: str) -> float:
    # `TIME` first: a flow accepts a distribution here, a grid does not
    try:
        TIME.parse(text)
    except ValueError as error:
        raise InputError(f"--rtts {text}: {error}") from None
    return float(_tried({"flow.0.rtt": text}, "--rtts").flow[0].rtt)


def _buffer(text: str) -> str:
    return str(_tried({"bottleneck.buffer": text}, "--buffers").to_dict()["bottleneck"]["buffer"])


def _tried(changes: Mapping[str, Any], source: str) -> Scenario:
    """Checks values in a scenario that is right without them; reports the first problem in one line."""
    tables = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flow": [{"rtt": "100 ms"}]}
    try:
        return Scenario.from_dict(tables, source=source, changes=changes)
    except ScenarioError as error:
        raise InputError(error.problems[0]) from None
