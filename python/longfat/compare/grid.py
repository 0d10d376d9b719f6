"""The runs of a comparison: checks what the command line asks for and makes a scenario for every run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from longfat.errors import InputError
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.scenario.stacks import LINUX
from longfat.study.contenders import Contender, contenders, tried
from longfat.study.grid import FIRST_SEED, Place
from longfat.units import PACKET_BITS, RATE, TIME
from longfat.words import Mode

MOST_REPEATS = 1000
COORDINATES = ("algorithm", "trial", "rate_bps", "rtt_s", "buffer", "level")


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
    listed = contenders(algorithms, "compare")
    rate_bps = [
        tried({"bottleneck.rate": text}, "--rates").bottleneck.rate
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
            path.scenario(contender.algorithm.written, stack)  # refuses before anything runs
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


def runs(grid: Grid) -> Iterator[tuple[Place, Scenario, float]]:
    """Yields the `coordinates` of each run but its repeat, its scenario, and its expected work in packets."""
    for contender, trial, path in itertools.product(grid.contenders, grid.trials, grid.paths):
        for level in levels(grid, trial):
            scenario = _scenario(grid, contender, trial, path, level)
            at = {"buffer": level} if trial.varied == "buffer" else {"level": float(level)}
            yield _placed(grid, contender, scenario, trial.name, path.rate_bps, path.rtt_s, at)
    for contender, file in itertools.product(grid.contenders, grid.files):
        scenario = file.scenario(contender.algorithm.written, grid.stack)
        rate_bps = scenario.link[0].rate if scenario.link else scenario.bottleneck.rate
        at = {"path": file.label}
        yield _placed(grid, contender, scenario, paths.TRIAL, rate_bps, file.rtt_s, at)


def coordinates(grid: Grid) -> Sequence[str]:
    """Returns what each run has in runs.parquet, before what was measured."""
    return [*COORDINATES, *(["path"] if grid.files else []), "repeat"]


def levels(grid: Grid, trial: Trial) -> Sequence[Any]:
    """Returns a trial's values on each path: buffers as texts, probabilities, or percents of the BDP."""
    return {"buffer": grid.buffers, "loss": grid.extent.losses, "share": grid.extent.shares}[trial.varied]


def _scenario(grid: Grid, contender: Contender, trial: Trial, path: NetworkPath, level: Any) -> Scenario:
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
        "seed": FIRST_SEED,
        "bottleneck": {"rate": RATE.write(path.rate_bps), **bottleneck},
        "flow": flows[: trial.flows],
    }
    return Scenario.from_dict(tables, source=f"compare, {trial.name}", stack=grid.stack)


def _placed(
    grid: Grid,
    contender: Contender,
    scenario: Scenario,
    trial: str,
    rate_bps: float,
    rtt_s: float | None,
    at: Mapping[str, Any],
) -> tuple[Place, Scenario, float]:
    values = {"algorithm": contender.label, "trial": trial, "rate_bps": rate_bps, "rtt_s": rtt_s, **at}
    place = tuple(values.get(name) for name in coordinates(grid)[:-1])
    return place, scenario, contender.cost * rate_bps * scenario.duration / PACKET_BITS


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
    return float(tried({"flow.0.rtt": text}, "--rtts").flow[0].rtt)


def _buffer(text: str) -> str:
    return str(tried({"bottleneck.buffer": text}, "--buffers").to_dict()["bottleneck"]["buffer"])
