"""Compares the simulator with this machine's own TCP: every algorithm that the kernel runs, on three paths.

Each case has one flow, or two of which one starts later, with the same scenario on both sides. Live runs take
real time; valid ones are kept in a folder, and missing ones are run. `--write` puts the tables into
docs/validation-live.md. With `--objects`, the simulator runs the eBPF object too that the kernel runs, and
rows of the page whose live runs are not in the folder stay as they are.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import platform
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from cases import ALGORITHMS, NETWORKS, WITHOUT_CUTS, Case, Network, cases
from longfat.runs import metrics
from longfat.scenario import registry
from longfat.scenario.loading import OBJECT
from runs import Kept, Run, measure, simulated

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "validation-live.md"
MARKS = ("<!-- make validate-live -->\n", "<!-- end of make validate-live -->\n")
OBJECT_MARKS = ("<!-- make validate-objects -->\n", "<!-- end of make validate-objects -->\n")
STUDENT_95 = {5: 2.776}
"""Half a 95 % confidence interval in standard errors, by the number of repeats (Student's t)."""
UNEXPLAINED = "NOT EXPLAINED"
"""What the page has in place of an explanation; such a row fails."""
TOLERANCE = {"throughput": 0.05, "cwnd": 0.10, "backoff": 0.03, "sum": 0.05}
"""Larger differences need an explanation; shares must overlap."""
HEADINGS = {
    1: ("algorithm", "throughput, Mbit/s", "", "mean cwnd", "", "backoff factor (cuts)", "", "why"),
    2: ("algorithm", "throughput of both, Mbit/s", "", "share of the second", "", "why"),
}


def _name(case: Case) -> str:
    """Returns the first cell of a row."""
    return case.algorithm + ("" if case.loss_every is None else " *")


@dataclass(frozen=True)
class Figure:
    """One quantity of a case on both sides, and whether they agree."""

    name: str
    sim: str
    live: str
    difference: str
    agrees: bool

    @property
    def cells(self) -> list[str]:
        """Returns the row or cell of the table."""
        return [f"{self.sim}, {self.live}", self.difference if self.agrees else f"**{self.difference}**"]


@dataclass(frozen=True)
class Row:
    """A case with results on both sides."""

    case: Case
    figures: list[Figure]
    why: str

    @property
    def disagrees(self) -> list[str]:
        """Names of the quantities that differ too much."""
        return [figure.name for figure in self.figures if not figure.agrees]

    @property
    def line(self) -> str:
        """The row of the table."""
        why = self.why or (UNEXPLAINED if self.disagrees else "")
        cells = [_name(self.case), *(cell for figure in self.figures for cell in figure.cells), why]
        return f"| {' | '.join(cells)} |".replace("  |", " |")


@dataclass(frozen=True)
class WrittenRow:
    """A row that the page has already, whose live runs are elsewhere."""

    case: Case
    line: str

    @property
    def disagrees(self) -> list[str]:
        """The differences that are too large."""
        return [cell for cell in self._cells[:-1] if cell.startswith("**")]

    @property
    def why(self) -> str:
        """What explains them, empty if nothing does."""
        return "" if self._cells[-1] == UNEXPLAINED else self._cells[-1]

    @property
    def _cells(self) -> list[str]:
        return [cell.strip() for cell in self.line.removeprefix("|").removesuffix("|").split("|")]


def _ratio(name: str, sim: float, found: float, form: str, counts: tuple[int, int] | None = None) -> Figure:
    """Compares a quantity by its ratio; without a cut on either side there is nothing to compare."""

    def text(value: float, of: int) -> str:
        written = "-" if math.isnan(value) else form.format(value)
        return written if counts is None else f"{written} ({counts[of]})"

    if math.isnan(sim) or math.isnan(found):
        return Figure(name, text(sim, 0), text(found, 1), "-", math.isnan(sim) and math.isnan(found))
    difference = found / sim - 1.0
    agrees = abs(difference) <= TOLERANCE[name]
    return Figure(name, text(sim, 0), text(found, 1), f"{100 * difference:+.1f} %", agrees)


def _one(case: Case, sim: Run, found: Run) -> list[Figure]:
    factors = [[] if case.algorithm in WITHOUT_CUTS else run.backoffs[0] for run in (sim, found)]
    counts = len(factors[0]), len(factors[1])
    means = [metrics.mean_stderr(each)[0] for each in factors]
    return [
        _ratio("throughput", sim.mbps(0), found.mbps(0), "{:.2f}"),
        _ratio("cwnd", sim.cwnd, found.cwnd, "{:.1f}"),
        _ratio("backoff", means[0], means[1], "{:.3f}", counts),
    ]


def _two(sim: list[Run], found: list[Run]) -> list[Figure]:
    sums = [metrics.mean_stderr([run.sum_mbps for run in runs])[0] for runs in (sim, found)]
    shares = [_interval([run.second_share for run in runs]) for runs in (sim, found)]
    texts = [f"{mean:.3f} ± {half:.3f}" for mean, half in shares]
    gap = abs(shares[1][0] - shares[0][0]) - shares[0][1] - shares[1][1]
    verdict = "overlap" if gap <= 0.0 else f"apart by {gap:.3f}"
    return [
        _ratio("sum", sums[0], sums[1], "{:.2f}"),
        Figure("share", texts[0], texts[1], verdict, gap <= 0.0),
    ]


def _interval(values: list[float]) -> tuple[float, float]:
    """Returns the mean and half of its confidence interval."""
    mean, error = metrics.mean_stderr(values)
    return mean, error * STUDENT_95[len(values)]


def row(case: Case, kept: Kept, known: dict[tuple[str, str], str]) -> Row | None:
    """Returns both sides of a case, or None while live runs are missing."""
    found = kept.runs(case)
    if len(found) < len(case.seeds):
        return None
    sim = simulated(case)
    figures = _one(case, sim[0], found[0]) if case.flows == 1 else _two(sim, found)
    path = f"{case.network.name}-{case.flows}"
    same = known.get((path, case.algorithm), "")
    return Row(
        case, figures, same if case.object is None else known.get((f"{path}-object", case.algorithm), same)
    )


def explanations() -> dict[tuple[str, str], str]:
    """By path and number of flows ("100-2", "100-2-object"), and algorithm; written after the measurement.

    An object without one has that of the simulator's own form: the live side is the same program.
    """
    with (HERE / "explanations.toml").open("rb") as file:
        entries = tomllib.load(file).get("explanation", [])
    return {
        (path, algorithm): entry["text"]
        for entry in entries
        for path in entry["paths"]
        for algorithm in entry["algorithms"]
    }


def by_table(rows: Iterable[Row | WrittenRow]) -> list[tuple[Network, int, list[Row | WrittenRow]]]:
    """Returns the rows by path and number of flows."""
    listed = list(rows)
    split = [
        (network, flows, [row for row in listed if (row.case.network, row.case.flows) == (network, flows)])
        for network in NETWORKS
        for flows in (1, 2)
    ]
    return [entry for entry in split if entry[2]]


def with_object(case: Case, folder: Path) -> Case | None:
    """Returns the case with the algorithm's object on both sides, None if the algorithm has none.

    The object that `make bpf` built is copied into the folder, under the name that a scenario asks for.
    """
    form = registry.find("algorithms", case.algorithm).get("kernel_form")
    if form is None:
        return None
    built, own = ROOT / "bpf" / "out" / f"{form}.o", folder / f"{form}{OBJECT}"
    if not built.exists():
        raise SystemExit(f"error: {built.relative_to(ROOT)} is missing; build it with make bpf")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built, own)
    return dataclasses.replace(case, object=own)


def on_the_page(case: Case, page: str, marks: tuple[str, str]) -> WrittenRow | None:
    """Returns the row of a case between the marks of the page, None if there is none."""
    _, _, rest = page.partition(marks[0])
    _, _, table = rest.partition(marks[1])[0].partition(case.network.title(case.flows))
    for line in table.split("\n\n")[1].splitlines() if table else []:
        if line.removeprefix("|").partition("|")[0].strip() == _name(case):
            return WrittenRow(case, line)
    return None


def kernel() -> str:
    """Returns the release of the running kernel, with what tells builds of one version apart."""
    return platform.release()


def other_kernel(page: str) -> str | None:
    """Returns the release of the page's rows with objects, None if it is the running kernel's."""
    found = re.search(re.escape(OBJECT_MARKS[0]) + r"\s*Linux ([^;]*);", page)
    return found[1] if found is not None and found[1] != kernel() else None


def markdown(rows: list[Row] | list[Row | WrittenRow], older: str | None = None) -> str:
    """Returns the tables of the page; `older` is the release that its written rows were measured on."""
    agree = sum(not row.disagrees for row in rows)
    kernels = {(older or kernel()) if isinstance(row, WrittenRow) else kernel() for row in rows}
    lines = [
        f"Linux {' and '.join(sorted(kernels))}; {agree} of {len(rows)} rows agree in every value. "
        "The first of two numbers is the simulator's; a difference beyond the bounds is bold. "
        "`*`: some packets of each flow are lost on purpose."
    ]
    if rows and rows[0].case.object is not None:
        page = PAGE.read_text()
        same = [found for row in rows if (found := on_the_page(row.case, page, MARKS)) is not None]
        agree = sum(not row.disagrees for row in same)
        lines[0] += f" {agree} of these {len(same)} rows agree with the simulator's own form, above."
    for network, flows, own in by_table(rows):
        loss = f"; `*` one packet in {network.loss_every} lost" if any(r.case.loss_every for r in own) else ""
        lines += ["", f"{network.title(flows)}{loss}:", "", f"| {' | '.join(HEADINGS[flows])} |"]
        lines += ["|" + "---|" * len(HEADINGS[flows])]
        lines += [row.line for row in own]
    return "\n".join(lines) + "\n"


def _keys(text: str, columns: tuple[int, ...]) -> set[tuple[str, ...]]:
    """Returns the rows of tables by the path in the line above their table, and these cells."""
    path, keys = "", set()
    for line in text.splitlines():
        if not line.startswith("|"):
            path = line.partition(";")[0] if line else path
        elif "---" not in line:
            cells = [cell.strip() for cell in line.removeprefix("|").split("|")]
            keys.add((path if path.endswith(" s") else "", *(cells[column] for column in columns)))
    return keys


def lost_rows(text: str, marks: tuple[str, str], columns: tuple[int, ...] = (0,)) -> list[str]:
    """Returns the rows of the page between the marks that a new text lacks.

    Args:
        text: what is to stand there.
        marks: the lines before and after it.
        columns: the cells that name a row, beside the line above its table.
    """
    _, _, rest = PAGE.read_text().partition(marks[0])
    gone = _keys(rest.partition(marks[1])[0], columns) - _keys(text, columns)
    return sorted(" ".join(cell for cell in key if cell) for key in gone)


def refusal(text: str, marks: tuple[str, str], columns: tuple[int, ...] = (0,)) -> str | None:
    """Returns one line that says why a text may not replace that of the page, None if it may."""
    gone = lost_rows(text, marks, columns)
    if not gone:
        return None
    few = ", ".join(gone[:3]) + (", ..." if len(gone) > 3 else "")
    return f"error: docs/{PAGE.name} would lose {len(gone)} of its rows ({few}); nothing was written"


def write_page(text: str, marks: tuple[str, str] = MARKS) -> None:
    """Replaces what stands between the marks."""
    head, begin, rest = PAGE.read_text().partition(marks[0])
    _, end, tail = rest.partition(marks[1])
    if not begin or not end:
        raise SystemExit(f"error: {PAGE.relative_to(ROOT)}: the marks {marks[0].strip()} are missing")
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + tail)


def _mixed(older: str, kept: Kept) -> str:
    """Returns the line that refuses to put rows of two kernels into one table."""
    return (
        f"error: docs/{PAGE.name} has rows measured on Linux {older}; their live runs are not in "
        f"{kept.folder}, and this is Linux {kernel()}; nothing was written"
    )


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if everything agrees or is explained, 1 if something is not or did not run."""
    names = [network.name for network in NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="ALGO", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--path", nargs="+", choices=names, default=names)
    parser.add_argument("--flows", nargs="+", type=int, choices=(1, 2), default=(1, 2))
    parser.add_argument("--objects", action="store_true", help="the eBPF object in the simulator too")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="only each N-th of the chosen cases"
    )
    parser.add_argument("--jobs", type=int, help="live runs at a time, instead of each path's own number")
    parser.add_argument("--kept", type=Path, default=ROOT / "out" / "live", help="where live runs are kept")
    parser.add_argument("--no-run", action="store_true", help="only what is kept")
    parser.add_argument("--write", action="store_true", help=f"write the tables into docs/{PAGE.name}")
    asked = parser.parse_args(arguments)
    if (asked.jobs is not None and asked.jobs < 1) or asked.every < 1:
        parser.error("--jobs and --every take 1 or more")
    chosen = [
        case
        for case in cases()
        if case.algorithm in asked.only and case.network.name in asked.path and case.flows in asked.flows
    ]
    kept = Kept(asked.kept.resolve())
    listed: list[Case] = []  # all with objects, of which the tables have what is kept
    if asked.objects:
        both = [with_object(case, kept.folder / "objects") for case in cases()]
        listed = [case for case in both if case is not None]
        asked_for = {dataclasses.replace(case, object=None) for case in chosen}
        chosen = [case for case in listed if dataclasses.replace(case, object=None) in asked_for]
    chosen = chosen[:: asked.every]
    if asked.write and not asked.objects and len(chosen) < len(cases()):
        parser.error("--write takes everything: leave out --only, --path and --flows")
    console = Console(width=None if sys.stdout.isatty() else 160)
    page = PAGE.read_text()
    older = other_kernel(page)
    lacking = [case for case in listed if len(kept.runs(case)) < len(case.seeds)]
    stays = any(asked.no_run or case not in chosen for case in lacking)
    if asked.write and older is not None and stays:  # known before anything runs
        print(_mixed(older, kept), file=sys.stderr)
        return 2
    try:
        failures = (
            [] if asked.no_run else measure(chosen, kept, asked.jobs, lambda line: print(line, flush=True))
        )
    except KeyboardInterrupt:
        print("interrupted; finished runs are kept", file=sys.stderr)
        return 130
    known = explanations()
    found = [
        row(case, kept, known) or (on_the_page(case, page, OBJECT_MARKS) if asked.objects else None)
        for case in (listed if asked.objects else chosen)
    ]
    rows = [each for each in found if each is not None]
    text = markdown(rows, older)
    marks = OBJECT_MARKS if asked.objects else MARKS
    if asked.write:
        mixed = older is not None and any(isinstance(each, WrittenRow) for each in rows)
        refused = _mixed(str(older), kept) if mixed else refusal(text, marks)
        if refused is not None:
            print(refused, file=sys.stderr)
            return 2
        write_page(text, marks)
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    missing = sum(len(kept.runs(case)) < len(case.seeds) for case in chosen)
    if missing:
        console.print(f"{missing} of {len(chosen)} cases have live runs missing.")
    return 1 if failures or missing or any(row.disagrees and not row.why for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
