"""The seven requirements of section 2.4.1 as measurements, and UDT beside TCP of 2.4.2.3 (LOP-2f, LOP-2.4.1).

The thesis states the requirements in words and prints no number. Runs, estimators and bounds are chosen here
and were written down before anything was measured.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from longfat.figure.data import Curve, Panel, Table, points
from longfat.runs import metrics
from longfat.scenario import registry
from longfat_papers.kit import Check, Checks, Drawing, Evidence, Measured, Missing, Mode, Run, Runs
from longfat_papers.kit.checks import below
from longfat_papers.kit.claims import settings
from longfat_papers.kit.text import part
from longfat_papers.theory import common as th

LARGE_BPS: dict[Mode, float] = {"quick": 1e9, "full": 10e9}
"""The "10 Gbps with smaller or bigger RTT" of the thesis' first requirement."""
CROWD = 20
LOW_BPS, LOW_RTT_MS = 10e6, 40.0
PAIR_BPS, PAIR_RTT_MS = 250e6, 80.0
BPS, RTT_MS = 100e6, 80.0
COARSE_TICK = "10 ms"
SMALL_PERCENT = 5
OPPONENTS = ("hstcp", "htcp", "bic", "cubic")
"""Other high-speed protocols; none competes with itself."""
UDT_RTT_MS, UDT_S = 40.0, 200.0

STRONGLY = 0.5  # LOP-2f: share of its throughput that TCP keeps

Estimate = tuple[float, float]
"""Mean and standard error over repeats."""


@dataclass(frozen=True)
class Requirement:
    """One requirement: what is measured for it over which runs, and when it is met."""

    number: int
    name: str
    axis: str
    sense: Literal["at least", "at most", "between"]
    bounds: tuple[float, ...]
    estimator: str
    measure: Callable[[Runs], Estimate]

    def met(self, value: float) -> bool:
        """Returns whether a measured value is within the bound."""
        above, below = value >= self.bounds[0], value <= self.bounds[-1]
        return {"at least": above, "at most": below, "between": above and below}[self.sense]

    @property
    def bound(self) -> str:
        """The bound in words."""
        return f"{self.sense} {' and '.join(f'{bound:g}' for bound in self.bounds)}"


REQUIREMENTS: list[Requirement] = []


def requirement(
    name: str, axis: str, sense: Literal["at least", "at most", "between"], *bounds: float, of: str
) -> Callable[[Callable[[Runs], Estimate]], None]:
    """Declares the next requirement by the function that measures it; ``of`` is its estimator in words.

    The function's docstring is what the thesis says, in short.
    """
    number = len(REQUIREMENTS) + 1
    return lambda measure: REQUIREMENTS.append(Requirement(number, name, axis, sense, bounds, of, measure))


@requirement(
    "Performance",
    "utilisation",
    "at least",
    0.8,
    of="least utilisation of one flow over 60 s, its start included, at 1 Gbit/s (full: 10 Gbit/s), RTT 20 "
    "and 200 ms, queue 100 % BDP, without and with a random loss of 1e-6",
)
def _performance(runs: Runs) -> Estimate:
    """Good performance over a large BDP, for any RTT and under any conditions, such as lossy links."""
    return min(
        runs.where(test=f"large {rtt_ms:g} ms {loss:g}").mean_stderr("utilization")
        for rtt_ms in th.LARGE_RTTS_MS
        for loss in th.LARGE_LOSSES
    )


@requirement(
    "Congestion control",
    "loss ratio",
    "at most",
    0.01,
    of="packets lost over packets sent by 20 like flows, 100 Mbit/s, 80 ms, queue 20 % BDP, 120 s",
)
def _congestion(runs: Runs) -> Estimate:
    """Avoids and controls congestion."""
    return runs.where(test="crowd").mean_stderr("loss_ratio")


@requirement(
    "TCP friendliness",
    "share beside TCP",
    "between",
    1 / 3,
    2 / 3,
    of="share of one flow beside one standard TCP flow, 10 Mbit/s, 40 ms, queue 100 % BDP, 300 s",
)
def _friendliness(runs: Runs) -> Estimate:
    """Fair to TCP in low-speed networks."""
    rows = runs.where(test="low")
    own, standard = rows.values("throughput_2_bps"), rows.values("throughput_1_bps")
    return metrics.mean_stderr(own / (own + standard))


@requirement(
    "Intra-protocol fairness",
    "Jain's index",
    "at least",
    0.95,
    of="Jain's index of two like flows, 250 Mbit/s, 80 ms, queue 20 % BDP, over the later half of the time "
    "that both run; the second starts 20 to 40 s after the first; 200 s",
)
def _intra(runs: Runs) -> Estimate:
    """Its senders share fairly."""
    return runs.where(test="like").mean_stderr("late_jain")


@requirement(
    "Inter-protocol fairness",
    "Jain's index",
    "at least",
    0.8,
    of=f"least of Jain's indices, as before, joining a flow of each of {', '.join(OPPONENTS)} that the "
    "registry has, except its own kind",
)
def _inter(runs: Runs) -> Estimate:
    """Shares fairly with other congestion controls."""
    at = runs.where(test="unlike")
    return min(at.where(against=other).mean_stderr("late_jain") for other in at.distinct("against"))


def _kept(runs: Runs, test: str, reference: str) -> Estimate:
    """Returns the ratio of two utilisations, repeat by repeat."""
    values, references = (runs.where(test=name).values("utilization") for name in (test, reference))
    return metrics.mean_stderr(values / references)


@requirement(
    "Deployment",
    "kept with a 10 ms timer",
    "at least",
    0.9,
    of="utilisation of one flow on a host with a timer of 10 ms over that with an exact timer, 100 Mbit/s, "
    "80 ms, queue 100 % BDP; the table names the Linux module, if there is one",
)
def _deployment(runs: Runs) -> Estimate:
    """Its mechanisms can be deployed with current technology."""
    return _kept(runs, f"tick {COARSE_TICK}", "tick 0 s")


@requirement(
    "Compatibility",
    "kept with a 5 % BDP queue",
    "at least",
    0.8,
    of="utilisation of two like flows over a drop-tail queue of 5 % BDP over that with 100 % BDP, 100 "
    "Mbit/s, 80 ms",
)
def _compatibility(runs: Runs) -> Estimate:
    """Not degraded by current network elements."""
    return _kept(runs, f"buffer {SMALL_PERCENT}", "buffer 100")


def measured(runs: Runs, name: str) -> dict[int, Estimate]:
    """Returns what was measured for an algorithm, by requirement; without runs a requirement is left out."""
    of_algorithm, found = runs.where(algorithm=name), {}
    for item in REQUIREMENTS:
        with contextlib.suppress(Missing):
            found[item.number] = item.measure(of_algorithm)
    return found


@th.PAPER.experiment("requirements", "2.4.1", "Seven requirements")
def seven(mode: Mode) -> list[Run]:
    return [
        Run({"algorithm": name, **at, "repeat": repeat}, {**document, "seed": repeat + 1})
        for name in th.controlled()
        for repeat in range(th.REPEATS[mode])
        for at, document in _tests(name, mode)
    ]


def _tests(name: str, mode: Mode) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    def run(
        test: str, rate_bps: float, seconds: float, buffer: str, *flows: Any, against: str = "", **more: Any
    ) -> Any:
        at = {"test": test, "against": against}
        return at, th.scenario(f"{name}: {test}", rate_bps, seconds, flows, buffer=buffer, **more)

    def two(rtt_ms: float, first: str = name) -> list[dict[str, Any]]:
        return [th.flow(first, rtt_ms), th.flow(name, rtt_ms, {"uniform": ["20 s", "40 s"]})]

    soon, whole, fifth = {"uniform": ["0 s", "1 s"]}, "100 % BDP", "20 % BDP"
    for rtt_ms in th.LARGE_RTTS_MS:
        for loss in th.LARGE_LOSSES:
            lossy: dict[str, Any] = {"loss": loss} if loss else {}
            one = th.flow(name, rtt_ms, soon)
            yield run(f"large {rtt_ms:g} ms {loss:g}", LARGE_BPS[mode], 60.0, whole, one, **lossy)
    yield run("crowd", BPS, 120.0, fifth, th.flow(name, RTT_MS, count=CROWD))
    yield run("low", LOW_BPS, 300.0, whole, th.flow("reno", LOW_RTT_MS), th.flow(name, LOW_RTT_MS))
    yield run("like", PAIR_BPS, 200.0, fifth, *two(PAIR_RTT_MS))
    for other in OPPONENTS:
        if other != name:
            yield run("unlike", PAIR_BPS, 200.0, fifth, *two(PAIR_RTT_MS, other), against=other)
    for tick in ("0 s", COARSE_TICK):
        yield run(f"tick {tick}", BPS, 120.0, whole, th.flow(name, RTT_MS, soon, host_tick=tick))
    for percent in (SMALL_PERCENT, 100):
        yield run(f"buffer {percent}", BPS, 120.0, f"{percent} % BDP", *two(RTT_MS))


@seven.drawing
def draw_seven(runs: Runs, mode: Mode) -> Drawing:
    """A panel for each requirement, with every algorithm and the bound, and the table of all."""
    names = th.names(runs)
    found = {name: measured(runs, name) for name in names}
    panels = []
    for item in REQUIREMENTS:
        ends = (-0.5, len(names) - 0.5)
        curves = [Curve("bound", ends, (bound, bound), None, None, "theory", 6) for bound in item.bounds]
        curves += [
            points(name, [(float(index), found[name][item.number])], name)
            for index, name in enumerate(names)
            if item.number in found[name]
        ]
        panels.append(
            Panel(
                f"{item.number}. {item.name}",
                "",
                item.axis,
                tuple(curves),
                categories=names,
                y_log=item.axis == "loss ratio",
            )
        )
    return Drawing(
        "The thesis names them; estimators and bounds are chosen here. "
        + " ".join(f"{at.number}. {at.name}: {at.estimator}; met: {at.bound}." for at in REQUIREMENTS),
        tuple(panels),
        columns=3,
        table=_table(found),
        title="Seven requirements on a protocol for large networks",
    )


def _table(found: dict[str, dict[int, Estimate]]) -> Table:
    modules = {row["name"]: row["linux_module"] for row in registry.rows("algorithms")}

    def cell(item: Requirement, estimates: dict[int, Estimate]) -> str:
        if item.number not in estimates:
            return "-"
        value, error = estimates[item.number]
        width = "" if math.isnan(error) else f" ± {error:.1g}"
        return f"{'✓' if item.met(value) else '✗'} {value:.3g}{width}"

    headings = (f"{item.number}. {item.name}" for item in REQUIREMENTS)
    rows = (
        (name, *(cell(item, at) for item in REQUIREMENTS), modules.get(name) or "none")
        for name, at in found.items()
    )
    return Table(("algorithm", *headings, "Linux module"), tuple(rows))


@th.PAPER.experiment(
    "udt",
    "2.4.2.3",
    "UDT beside TCP",
    grid={"algorithm": ("reno", "bic"), "against": ("reno", "bic", "udt"), "repeat": {"quick": 2, "full": 5}},
)
def udt(algorithm: str, against: str, repeat: int) -> dict[str, Any] | None:
    """Standard TCP and BIC-TCP, each beside another of its kind and beside UDT."""
    if against not in (algorithm, "udt"):
        return None
    flows = [th.flow(algorithm, UDT_RTT_MS), th.flow(against, UDT_RTT_MS)]
    return th.scenario(f"{algorithm} beside {against}", BPS, UDT_S, flows, buffer="100 % BDP")


@udt.drawing
def draw_udt(runs: Runs, mode: Mode) -> Drawing:
    """The throughput of a TCP flow beside its like and beside UDT."""
    victims = tuple(runs.distinct("algorithm"))
    curves = []
    for stroke, other in enumerate(("its like", "UDT")):
        samples = []
        for index, victim in enumerate(victims):
            at = runs.where(algorithm=victim, against="udt" if other == "UDT" else victim)
            mean, error = at.mean_stderr("throughput_1_bps")
            samples.append((float(index), (mean / 1e6, error / 1e6)))
        curves.append(points(f"beside {other}", samples, None, stroke))
    return Drawing(
        "Throughput of one TCP flow at 100 Mbit/s and 40 ms, queue 100 % BDP, beside another of its kind and "
        "beside one UDT flow; from the later start to the end of 200 s.",
        (Panel("", "", "Mbit/s", tuple(curves), categories=victims),),
        columns=1,
        title="TCP beside UDT",
    )


@udt.claim(
    "2f",
    "UDT beside standard TCP, and beside BIC-TCP",
    published="UDT strongly degrades the throughput of both (2.4.2.3, after experiments of others)",
    paper=th.THESIS,
    settings=settings("""
        path | 100 Mbit/s, 40 ms, queue 100 % BDP
        flows | one of each, started at random within 10 s; 200 s
        reference | the same with two flows of the TCP
    """),
    estimator="Throughput of the TCP flow from the later start to the end, mean over repeats, over that of "
    "the first of two flows of its kind.",
    bounds=f"Less than {part(STRONGLY)} was chosen here for strongly.",
    note="The thesis gives no setting.",
)
def udt_degrades_tcp(runs: Runs) -> Checks:
    kept = {}
    for name in runs.distinct("algorithm"):
        beside_udt, beside_like = (
            runs.where(algorithm=name, against=other).mean("throughput_1_bps") for other in ("udt", name)
        )
        kept[name] = beside_udt / beside_like
        yield below(f"{name}: throughput beside UDT over that beside its like", kept[name], STRONGLY)
    label = "greater share of its throughput that standard TCP or BIC keeps"
    return Evidence(
        "kept beside UDT: " + ", ".join(f"{name} {100 * value:.3g} %" for name, value in kept.items()),
        {"kept": kept},
        figure=Measured(label, max(kept.values())),
    )


@seven.claim(
    "2.4.1",
    "every algorithm; settings of each requirement in its estimator",
    published="seven requirements on a protocol for large networks, in words",
    paper=th.THESIS,
    estimator=" ".join(f"{item.number}. {item.name}: {item.estimator}." for item in REQUIREMENTS),
    bounds="The table is reported. Bounds, chosen here: "
    + "; ".join(f"{item.number} {item.bound}" for item in REQUIREMENTS)
    + ".",
    reports=True,
)
def requirements_are_met(runs: Runs) -> Checks:
    met, values = {}, {}
    for name in th.names(runs):
        found = {number: value for number, (value, _) in measured(runs, name).items()}
        holds = {item.name: item.met(found[item.number]) for item in REQUIREMENTS if item.number in found}
        lacking = [title for title, held in holds.items() if not held]
        met[name], values[name] = sum(holds.values()), found
        text = f"not {', '.join(lacking)}" if lacking else f"{met[name]} of {len(holds)}"
        yield Check(f"{name}: all that was measured is met", all(holds.values()), text)
    return Evidence(
        "met of 7: " + ", ".join(f"{name} {count}" for name, count in met.items()),
        {"met": met, "measured": values},
        figure=Measured("requirements that a protocol meets, mean", sum(met.values()) / len(met)),
    )
