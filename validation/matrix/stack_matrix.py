"""Runs every TCP algorithm of the registry on three stacks over a dozen kinds of paths, one flow each.

    make validate-matrix

writes `matrix.txt`: goodput, throughput, loss, sRTT, cwnd and timeouts of each run. Rules flag what a flow
that is alone on its path should not do. Each flag is a fault, or has its reason in `explanations.toml`, and a
control, the same run without that reason, which is not flagged; if a flag has none, the exit code is 1. A
seed draws the paths (`drawn_paths.py`): `--seed N` prints the table of others.
"""

from __future__ import annotations

import argparse
import math
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import longfat
from drawn_paths import KINDS, PACKET_BYTES, DrawnPath, draw
from longfat.errors import LongfatError
from longfat.runs.result import Result
from longfat.scenario import registry
from longfat.scenario.model import Scenario

HERE = Path(__file__).resolve().parent
SNAPSHOT = HERE / "matrix.txt"
EXPLANATIONS = HERE / "explanations.toml"
STACKS = ("rfc", "linux", "quic")
"""Hosts of today; the first is what the others are compared with."""
SEED = 1
LEAST_USEFUL, MOST_LOST, LEAST_OF_RFC, MOST_OF_RFC = 0.75, 0.15, 0.5, 2.0
"""Goodput over throughput, lost packets over sent ones, and goodput over that of the stack `rfc`."""
LEAST_OF_FLAGGED = 0.2
"""Goodput of a sound control over that of the run that is flagged (chosen here)."""
RULES = ("useful", "loss", "stack")
DRAWING = ("cdg", "vivace")
"""Algorithms whose steps are drawn: as where losses are, several runs show what is usual. BBR and NV draw
only when a cycle begins."""
SEEDS = 5


class Cell(NamedTuple):
    """Which run: an algorithm on a stack over a kind of path."""

    kind: str
    algorithm: str
    stack: str


@dataclass(frozen=True)
class Outcome:
    """What a run gave, or what is usual of several."""

    goodput_bps: float
    throughput_bps: float
    loss: float
    srtt_s: float
    cwnd: float
    timeouts: int

    @classmethod
    def median(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Returns the run of median goodput."""
        return sorted(outcomes, key=lambda outcome: outcome.goodput_bps)[len(outcomes) // 2]

    @classmethod
    def of(cls, result: Result) -> Outcome:
        """Returns the outcome of a run with one flow."""
        flow = result.summary["flows"][0]
        return cls(
            goodput_bps=_number(flow["goodput_bps"]),
            throughput_bps=_number(flow["throughput_bps"]),
            loss=_number(flow["loss_ratio"]),
            srtt_s=_number(flow["srtt_mean_s"]),
            cwnd=_number(flow["cwnd_mean"]),
            timeouts=int(flow["timeouts"]),
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


@dataclass(frozen=True)
class Flag:
    """A rule that a run breaks."""

    cell: Cell
    rule: str
    text: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a flag is no fault; an empty set of algorithms, stacks or paths holds for all of them."""

    algorithms: frozenset[str]
    rules: frozenset[str]
    stacks: frozenset[str]
    paths: frozenset[str]
    control: Mapping[str, Any]
    """What a run without the reason has: keys of its flow, with parameters under `algorithm`, and of its
    bottleneck under `bottleneck`. `slower` is a factor of the run and of the times at which the rate changes,
    `wider` one of the rates; `ssthresh_bdp` is the window at which slow-start ends, in BDPs of the first
    rate."""
    text: str

    def applies(self, flag: Flag) -> bool:
        """Whether this may be the reason of a flag: its control run then shows it."""
        pairs = (
            (self.algorithms, flag.cell.algorithm),
            (self.rules, flag.rule),
            (self.stacks, flag.cell.stack),
            (self.paths, flag.cell.kind),
        )
        return all(not names or name in names for names, name in pairs)

    def controlled(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the scenario of the control run."""
        keys = dict(self.control)
        one = dict(scenario) | {"bottleneck": dict(scenario["bottleneck"]) | keys.pop("bottleneck", {})}
        (flow,) = scenario["flow"]
        if "ssthresh_bdp" in keys:
            keys["initial_ssthresh"] = max(2, round(keys.pop("ssthresh_bdp") * _bdp_packets(scenario)))
        if parameters := keys.pop("algorithm", None):
            flow = flow | {"algorithm": {"name": flow["algorithm"]} | parameters}
        slower, wider = keys.pop("slower", 1), keys.pop("wider", 1)
        one["duration"] = _times(one["duration"], slower)
        if isinstance(rate := one["bottleneck"]["rate"], str):
            one["bottleneck"]["rate"] = _times(rate, wider)
        else:
            steps = [[_times(at, slower), _times(step, wider)] for at, step in rate["steps"]]
            one["bottleneck"]["rate"] = {"steps": steps}
        return one | {"flow": [flow | keys]}


def _bdp_packets(scenario: Mapping[str, Any]) -> float:
    """What the path holds without a queue at its first rate, in packets of `PACKET_BYTES`."""
    rate, (flow,) = scenario["bottleneck"]["rate"], scenario["flow"]
    first = rate if isinstance(rate, str) else rate["steps"][0][1]
    mbps, rtt_ms = (float(quantity.split(" ")[0]) for quantity in (first, flow["rtt"]))
    return mbps * 125.0 * rtt_ms / PACKET_BYTES


def _times(quantity: str, factor: float) -> str:
    amount, unit = quantity.split(" ")
    return f"{factor * float(amount):g} {unit}"


@dataclass(frozen=True)
class Reason:
    """An explanation whose control run is not flagged, and the outcome of that."""

    explanation: Explanation
    control: Outcome


def algorithms() -> list[str]:
    """The names of all algorithms over TCP."""
    return [row["name"] for row in registry.rows("algorithms") if row.get("transport") == "tcp"]


def protocol(algorithm: str) -> str | None:
    """The router that an explicit algorithm needs, None for others."""
    name = registry.find("algorithms", algorithm).get("protocol")
    return None if name is None else str(name)


def explanations(file: Path) -> list[Explanation]:
    """Reads a file of explanations; ValueError says what is not known."""
    known = {"algorithms": algorithms(), "rules": RULES, "stacks": STACKS, "paths": tuple(KINDS)}
    found = []
    for entry in tomllib.loads(file.read_text()).get("explanation", []):
        names = {key: frozenset(entry.pop(key, ())) for key in known}
        for key, accepted in known.items():
            if unknown := sorted(names[key] - set(accepted)):
                raise ValueError(f"{file.name}: {key} = {unknown}: accepted: {', '.join(accepted)}")
        control, reason = entry.pop("control", {}), " ".join(entry.pop("text", "").split())
        if not all((names["rules"], control, reason)) or entry:
            raise ValueError(
                f"{file.name}: an explanation has rules, a control and a text, "
                f"and of the rest only what is known: {sorted(entry)}"
            )
        explanation = Explanation(**names, control=control, text=reason)
        _check(file, explanation)
        found.append(explanation)
    return found


def _check(file: Path, explanation: Explanation) -> None:
    """Refuses a control whose keys no scenario has, before anything runs."""
    path = draw(SEED)[0]
    for name in explanation.algorithms or ("reno",):
        one = explanation.controlled(path.scenario(name, STACKS[0], protocol(name)))
        try:
            Scenario.from_dict(one)
        except LongfatError as error:
            raise ValueError(f"{file.name}: control of {name}: {error}") from None


def seeds(path: DrawnPath, algorithm: str) -> range:
    """The seeds of a cell's runs, several where anything is drawn."""
    return range(1, 1 + (SEEDS if path.draws or algorithm in DRAWING else 1))


def measure(
    paths: Sequence[DrawnPath],
    cells: Iterable[tuple[Cell, Explanation | None]],
    *,
    jobs: int,
    progress: bool = False,
) -> list[Outcome]:
    """Runs cells, or control runs of explanations, and returns their outcomes in the same order."""
    drawn = {path.kind: path for path in paths}
    runs: list[tuple[int, dict[str, Any]]] = []
    for index, (cell, control) in enumerate(cells):
        path = drawn[cell.kind]
        for seed in seeds(path, cell.algorithm):
            scenario = path.scenario(cell.algorithm, cell.stack, protocol(cell.algorithm), seed)
            runs.append((index, scenario if control is None else control.controlled(scenario)))
    found: dict[int, list[Outcome]] = {index: [] for index, _ in runs}
    scenarios = [scenario for _, scenario in runs]
    outcomes = longfat.run_many(scenarios, jobs=jobs, reduce=Outcome.of, progress=progress)
    for (index, _), outcome in zip(runs, outcomes, strict=True):
        found[index].append(outcome)
    return [Outcome.median(outcomes) for outcomes in found.values()]


def flags(outcomes: Mapping[Cell, Outcome]) -> list[Flag]:
    """Returns what the rules find; an undefined number breaks a rule too."""
    found = []
    for cell, outcome in outcomes.items():
        useful = outcome.goodput_bps / outcome.throughput_bps if outcome.throughput_bps else 0.0
        if not useful >= LEAST_USEFUL:
            found.append(Flag(cell, "useful", f"goodput is {useful:.3g} of throughput"))
        if not outcome.loss <= MOST_LOST:
            found.append(Flag(cell, "loss", f"{100 * outcome.loss:.3g} % lost"))
        base = outcomes.get(cell._replace(stack=STACKS[0]))
        if base is None or cell.stack == STACKS[0]:
            continue
        low, high = (factor * base.goodput_bps for factor in (LEAST_OF_RFC, MOST_OF_RFC))
        if not low <= outcome.goodput_bps <= high:
            text = f"goodput {outcome.goodput_bps / 1e6:.3g}, {base.goodput_bps / 1e6:.3g} on {STACKS[0]}"
            found.append(Flag(cell, "stack", text))
    return found


def reasons_of(
    found: Sequence[Flag],
    outcomes: Mapping[Cell, Outcome],
    paths: Sequence[DrawnPath],
    known: Sequence[Explanation],
    *,
    jobs: int,
) -> dict[Flag, Reason]:
    """Runs the controls of explanations in their order, and returns the first sound one of each flag.

    A control is sound if its rule does not flag its run, no other rule does that did not before, and it does
    not just carry less.
    """
    reasons: dict[Flag, Reason] = {}
    for explanation in known:
        open_flags = [flag for flag in found if flag not in reasons and explanation.applies(flag)]
        cells = list(dict.fromkeys(cell for flag in open_flags for cell in _compared(flag)))
        if not cells:
            continue
        runs = measure(paths, [(cell, explanation) for cell in cells], jobs=jobs)
        controls = dict(zip(cells, runs, strict=True))
        broken = {(flag.cell, flag.rule) for flag in flags(controls)}
        before = {(flag.cell, flag.rule) for flag in found}
        for flag in open_flags:
            control = controls[flag.cell]
            carries = control.goodput_bps >= LEAST_OF_FLAGGED * outcomes[flag.cell].goodput_bps
            new = {rule for cell, rule in broken - before if cell == flag.cell}
            if (flag.cell, flag.rule) not in broken and not new and carries:
                reasons[flag] = Reason(explanation, control)
    return reasons


def _compared(flag: Flag) -> list[Cell]:
    """The cells that a rule looks at."""
    return [flag.cell, flag.cell._replace(stack=STACKS[0])] if flag.rule == "stack" else [flag.cell]


COLUMNS: dict[str, Callable[[Outcome], str]] = {
    "goodput, Mbit/s": lambda outcome: _digits(outcome.goodput_bps / 1e6),
    "throughput, Mbit/s": lambda outcome: _digits(outcome.throughput_bps / 1e6),
    "lost, %": lambda outcome: _digits(100 * outcome.loss, 2),
    "sRTT, ms": lambda outcome: _digits(1e3 * outcome.srtt_s),
    "cwnd": lambda outcome: _digits(outcome.cwnd),
    "timeouts": lambda outcome: str(outcome.timeouts),
}
"""Headings, and what a cell below them shows of a run."""
NAME_WIDTH, WIDTH, GAP = 12, 6, "  "


def _digits(value: float, digits: int = 3) -> str:
    """Returns a number in plain digits, '-' if it is undefined."""
    if math.isnan(value):
        return "-"
    if value == 0.0 or abs(value) >= 10.0 ** (digits - 1):
        return f"{value:.0f}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{min(places, digits)}f}"


def table(path: DrawnPath, outcomes: Mapping[Cell, Outcome], found: Sequence[Flag]) -> list[str]:
    """Returns the lines of a path: a row for each algorithm, whose cells have the stacks side by side."""
    cells = [cell for cell in outcomes if cell.kind == path.kind]
    names = list(dict.fromkeys(cell.algorithm for cell in cells))
    stacks = list(dict.fromkeys(cell.stack for cell in cells))
    headings = [f"{title:>{WIDTH * len(stacks)}}" for title in COLUMNS]
    below = ["".join(f"{stack:>{WIDTH}}" for stack in stacks)] * len(COLUMNS)
    lines = [f"{path.kind}: {path.title}", "", _line("", headings), _line("algorithm", below)]
    for name in names:
        row = [
            "".join(f"{show(outcomes[Cell(path.kind, name, stack)]):>{WIDTH}}" for stack in stacks)
            for show in COLUMNS.values()
        ]
        broken = [flag for flag in found if (flag.cell.kind, flag.cell.algorithm) == (path.kind, name)]
        marks = dict.fromkeys(f"{flag.cell.stack}:{flag.rule}" for flag in broken)
        lines.append(_line(name, row) + (f"{GAP}! {' '.join(marks)}" if marks else ""))
    return [*lines, ""]


def _line(name: str, cells: Iterable[str]) -> str:
    return GAP.join([f"{name:<{NAME_WIDTH}}", *cells]).rstrip()


def text(
    seed: int,
    paths: Sequence[DrawnPath],
    outcomes: Mapping[Cell, Outcome],
    found: Sequence[Flag],
    reasons: Mapping[Flag, Reason],
) -> str:
    """Returns the whole table, with what is flagged in front."""
    open_flags = [flag for flag in found if flag not in reasons]
    lines = [
        f"Every TCP algorithm on {len(STACKS)} stacks, alone on each of {len(paths)} paths (seed {seed}).",
        "`make validate-matrix` makes this file; stack_matrix.py says what it shows.",
        f"Where losses are drawn, and of {' and '.join(DRAWING)}, a cell has the run of median goodput",
        f"of {SEEDS} seeds.",
        "",
        "What is flagged:",
        f"useful  goodput below {LEAST_USEFUL} of throughput",
        f"loss    more than {MOST_LOST} of the packets that were sent",
        f"stack   goodput below {LEAST_OF_RFC} or above {MOST_OF_RFC:g} times that on {STACKS[0]}",
        f"{len(outcomes)} cells, {len(found)} flags, {len(open_flags)} of them not explained.",
        "What explains a flag has a control, which is not flagged: the same run without the reason.",
        "",
    ]
    lines += [f"NOT EXPLAINED  {flag_line(flag)}" for flag in open_flags]
    for explanation in dict.fromkeys(reason.explanation for reason in reasons.values()):
        for flag, reason in reasons.items():
            if reason.explanation is explanation:
                lines.append(f"explained      {flag_line(flag)}; control: {_figures(reason.control)}")
        lines.append(f"               {explanation.text}")
    lines += [""] if found else []
    for path in paths:
        lines += table(path, outcomes, found)
    return "\n".join(lines)


def _figures(outcome: Outcome) -> str:
    return f"goodput {_digits(outcome.goodput_bps / 1e6)}, {_digits(100 * outcome.loss, 2)} % lost"


def flag_line(flag: Flag) -> str:
    """Returns a flag as one line."""
    kind, algorithm, stack = flag.cell
    return f"{kind:<{NAME_WIDTH + 2}}{algorithm:<{NAME_WIDTH + 1}}{stack:<{WIDTH}}{flag.rule:<7} {flag.text}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns exit code 1 if a flag has no explanation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=SEED, help="draws the paths")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these algorithms only")
    parser.add_argument(
        "--paths", nargs="+", choices=list(KINDS), metavar="KIND", help="these kinds of paths only"
    )
    parser.add_argument("--explanations", type=Path, default=EXPLANATIONS, metavar="FILE")
    parser.add_argument("--write", action="store_true", help=f"write {SNAPSHOT.name} in place of printing it")
    asked = parser.parse_args(arguments)
    if asked.write and (asked.only or asked.paths or asked.seed != SEED):
        parser.error("--write goes with the whole table of the usual seed")
    known = explanations(asked.explanations)
    names = [registry.find("algorithms", name)["name"] for name in asked.only or algorithms()]
    paths = [path for path in draw(asked.seed) if path.kind in (asked.paths or KINDS)]
    cells = [Cell(path.kind, name, stack) for path in paths for name in names for stack in STACKS]
    measured = measure(paths, [(cell, None) for cell in cells], jobs=asked.jobs, progress=True)
    outcomes = dict(zip(cells, measured, strict=True))
    found = flags(outcomes)
    reasons = reasons_of(found, outcomes, paths, known, jobs=asked.jobs)
    written = text(asked.seed, paths, outcomes, found, reasons)
    if asked.write:
        SNAPSHOT.write_text(written)
    else:
        print(written)
    unexplained = [flag for flag in found if flag not in reasons]
    if asked.write:
        for flag in unexplained:
            print(f"NOT EXPLAINED  {flag_line(flag)}")
        for explanation in known:
            if not any(reason.explanation is explanation for reason in reasons.values()):
                print(f"explains no flag of this table: {explanation.text}")
    print(f"{len(outcomes)} cells, {len(found)} flags, {len(unexplained)} not explained", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
