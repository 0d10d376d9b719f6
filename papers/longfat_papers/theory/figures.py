"""The figures of the theory suite as data."""

from __future__ import annotations

import math
from collections.abc import Iterable

from longfat.figure.data import Curve, Figure, Panel, Table, points
from longfat.figure.data import theory as theory_curve
from longfat.runs import theory
from longfat.words import Mode
from longfat_papers.kit.suite import Runs
from longfat_papers.kit.text import with_error
from longfat_papers.theory import requirements
from longfat_papers.theory.reduction import rtt_exponent
from longfat_papers.theory.settings import RTT_S

LOSS_AXIS, WINDOW_AXIS = "loss probability", "packets per round-trip time"
POINTS_A_DECADE = 20
LAW_STROKE, STANDARD_STROKE = 1, 6
DIGITS = 3


def response(runs: Runs, mode: Mode) -> Figure:
    """Draws measured windows over the loss: all algorithms together, then each beside its law."""
    names = _names(runs)
    losses = [float(loss) for loss in runs.distinct("loss")]
    panels = [
        Panel(
            f"all, {title}",
            LOSS_AXIS,
            WINDOW_AXIS,
            tuple(points(name, _windows(runs, name, kind), name) for name in names),
            x_log=True,
            y_log=True,
        )
        for kind, title in (("periodic", "one loss every 1/p"), ("random", "random losses"))
    ]
    for name in names:
        law = theory.LAWS.get(name)
        curves = [
            Curve(
                "standard TCP's law",
                *_law(theory.LAWS["reno"], losses),
                None,
                None,
                "theory",
                STANDARD_STROKE,
            )
        ]
        if law is not None and name != "reno":
            curves.append(Curve("its own law", *_law(law, losses), None, None, "theory", LAW_STROKE))
        curves += [
            points("one loss every 1/p packets", _windows(runs, name, "periodic"), None, 0),
            points("random losses", _windows(runs, name, "random"), None, 2),
        ]
        title = name if law is not None else f"{name} (no law)"
        panels.append(Panel(title, LOSS_AXIS, WINDOW_AXIS, tuple(curves), x_log=True, y_log=True))
    return Figure(
        "response",
        "response",
        "Response functions of all algorithms",
        "Mean window of one flow over a path of 100 ms that never fills, against the loss: Fig. 13 of "
        "Li, Leith and Shorten for every window-based algorithm of the registry. Later half of the "
        "packets of each run; random losses: mean and standard error over repeats. Sources of the laws: "
        + "; ".join(f"{name}: {theory.LAWS[name].source}" for name in names if name in theory.LAWS)
        + ".",
        tuple(panels),
        columns=3,
    )


def scaled(runs: Runs, mode: Mode) -> Figure:
    """Draws LOP-2a: the loss that standard TCP needs for a rate, the thesis's point, and the measurement."""
    row = runs.first()
    rates = [10.0 ** (exponent / 10.0) for exponent in range(60, 101)]
    needed = [theory.standard_loss(rate * RTT_S / 12_000.0) for rate in rates]
    reached = theory.throughput_bps(row["window"], RTT_S)
    return Figure(
        "scaled",
        "2.3.3",
        "Loss at which standard TCP fills a link over 100 ms",
        "3 / (2 W^2) for W packets of 1500 bytes per round-trip time; the thesis prints 2e-10 at 10 Gbit/s. "
        "Measured: with the loss that the line gives.",
        (
            Panel(
                "",
                "rate, Mbit/s",
                "loss probability",
                (
                    theory_curve("law", [rate / 1e6 for rate in rates], needed),
                    points("the thesis", [(1e4, (2e-10, math.nan))], None, 3),
                    points("measured", [(reached / 1e6, (row["loss"], math.nan))], "reno"),
                ),
                x_log=True,
                y_log=True,
            ),
        ),
        columns=1,
    )


def unfairness(runs: Runs, mode: Mode) -> Figure:
    """Draws the exponent of RTT unfairness of every algorithm beside that of its law."""
    names = _names(runs)
    laws = [theory.LAWS[name].unfairness if name in theory.LAWS else math.nan for name in names]
    measured = [rtt_exponent(runs, name) for name in names]
    panel = Panel(
        "exponent x of (R1 / R2)^x",
        "",
        "x",
        (
            Curve("its law, 1/(1 - d)", _positions(names), tuple(map(_drawn, laws)), None, None, "points", 6),
            *(
                points(name, [(index, value)], name)
                for index, (name, value) in enumerate(zip(names, measured, strict=True))
            ),
        ),
        categories=names,
    )
    rows = tuple(
        (name, _written(law), with_error(value, error))
        for name, law, (value, error) in zip(names, laws, measured, strict=True)
    )
    return Figure(
        "unfairness",
        "2.4.3.4",
        "RTT unfairness",
        "Two like flows at 1 Gbit/s, the longer RTT 80 ms: logarithm of the ratio of throughputs over that "
        "of the measured round-trip times, later half of the run, mean over ratios and repeats. The law's "
        "value holds for losses that both flows see at once; Scalable TCP's is infinite and has no point; "
        "laws that hold only while no queue builds have none either.",
        (panel,),
        columns=1,
        table=Table(("algorithm", "law", "measured"), rows),
    )


def requirements_figure(runs: Runs, mode: Mode) -> Figure:
    """Draws a panel for each requirement, with every algorithm and the bound, and the table of all."""
    names = _names(runs)
    measured = {name: requirements.measured(runs, name) for name in names}
    panels = []
    for requirement in requirements.REQUIREMENTS:
        ends = (-0.5, len(names) - 0.5)
        bounds = [
            Curve("bound", ends, (bound, bound), None, None, "theory", STANDARD_STROKE)
            for bound in requirement.bounds
        ]
        found = [
            points(name, [(float(index), measured[name][requirement.number])], name)
            for index, name in enumerate(names)
            if requirement.number in measured[name]
        ]
        panels.append(
            Panel(
                f"{requirement.number}. {requirement.name}",
                "",
                requirement.axis,
                (*bounds, *found),
                categories=names,
                y_log=requirement.axis == "loss ratio",
            )
        )
    return Figure(
        "requirements",
        "2.4.1",
        "Seven requirements on a protocol for large networks",
        "The thesis names them; estimators and bounds are chosen here. "
        + " ".join(
            f"{item.number}. {item.name}: {item.estimator}; met: {item.bound}."
            for item in requirements.REQUIREMENTS
        ),
        tuple(panels),
        columns=3,
        table=_requirements_table(measured),
    )


def _requirements_table(measured: dict[str, dict[int, requirements.Estimate]]) -> Table:
    modules = requirements.modules()
    rows = []
    for name, found in measured.items():
        cells = [name]
        for requirement in requirements.REQUIREMENTS:
            if requirement.number not in found:
                cells.append("-")
                continue
            value, error = found[requirement.number]
            width = "" if math.isnan(error) else f" ± {error:.1g}"
            cells.append(f"{'✓' if requirement.met(value) else '✗'} {value:.{DIGITS}g}{width}")
        rows.append((*cells, modules.get(name, "none")))
    headings = [f"{item.number}. {item.name}" for item in requirements.REQUIREMENTS]
    return Table(("algorithm", *headings, "Linux module"), tuple(rows))


def udt(runs: Runs, mode: Mode) -> Figure:
    """Draws LOP-2f: the throughput of a TCP flow beside its like and beside UDT."""
    victims = tuple(runs.distinct("algorithm"))
    curves = []
    for stroke, other in enumerate(("its like", "UDT")):
        samples = []
        for index, victim in enumerate(victims):
            at = runs.where(algorithm=victim, against="udt" if other == "UDT" else victim)
            mean, error = at.mean_stderr("throughput_1_bps")
            samples.append((float(index), (mean / 1e6, error / 1e6)))
        curves.append(points(f"beside {other}", samples, None, stroke))
    return Figure(
        "udt",
        "2.4.2.3",
        "TCP beside UDT",
        "Throughput of one TCP flow at 100 Mbit/s and 40 ms, queue 100 % BDP, beside another of its kind and "
        "beside one UDT flow; from the later start to the end of 200 s.",
        (Panel("", "", "Mbit/s", tuple(curves), categories=victims),),
        columns=1,
    )


def _windows(runs: Runs, name: str, kind: str) -> Iterable[tuple[float, tuple[float, float]]]:
    at = runs.where(algorithm=name, kind=kind)
    for loss in at.distinct("loss"):
        yield float(loss), at.where(loss=loss).mean_stderr("window")


def _law(law: theory.Law, losses: list[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    low, high = math.log10(min(losses)), math.log10(max(losses))
    steps = max(1, round((high - low) * POINTS_A_DECADE))
    grid = tuple(10.0 ** (low + (high - low) * step / steps) for step in range(steps + 1))
    return grid, tuple(law.window(loss, RTT_S) for loss in grid)


def _names(runs: Runs) -> tuple[str, ...]:
    """Returns the algorithms in the order of the runs, which is that of the registry."""
    return tuple(dict.fromkeys(row["algorithm"] for row in runs))


def _positions(names: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(float(index) for index in range(len(names)))


def _drawn(value: float) -> float:
    return value if math.isfinite(value) else math.nan


def _written(value: float) -> str:
    return "-" if math.isnan(value) else "infinite" if math.isinf(value) else f"{value:.3g}"
