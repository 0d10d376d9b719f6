"""The seven requirements of the thesis's section 2.4.1 as measurements: runs, estimator and bound of each.

The thesis states them in words and prints no number. Runs, estimators and bounds are chosen here and were
written down before anything was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from longfat.runs import metrics
from longfat.scenario import registry
from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit.claims import Missing
from longfat_papers.kit.suite import Coordinate, Run, Runs
from longfat_papers.theory.settings import LARGE_BPS, LATER_START, REPEATS, controlled, flow, has, pair

Estimate = tuple[float, float]
"""Mean and standard error over repeats."""

LARGE_S = 60.0
LARGE_RTTS_MS = (20.0, 200.0)
LARGE_LOSSES = (0.0, 1e-6)
CROWD = 20
CROWD_BPS, CROWD_RTT_MS = 100e6, 80.0
LOW_BPS, LOW_RTT_MS = 10e6, 40.0
PAIR_BPS, PAIR_RTT_MS = 250e6, 80.0
EQUIPMENT_BPS, EQUIPMENT_RTT_MS = 100e6, 80.0
COARSE_TICK = "10 ms"
SMALL_PERCENT = 5
OPPONENTS = ("hstcp", "htcp", "bic", "cubic")
"""Other high-speed protocols; the registry may lack some, and none competes with itself."""


@dataclass(frozen=True)
class Requirement:
    """One requirement: the thesis's words in short, what is measured for it, and when it is met."""

    number: int
    name: str
    words: str
    estimator: str
    axis: str
    sense: Literal["at least", "at most", "between"]
    bounds: tuple[float, ...]
    measure: Callable[[Runs], Estimate]

    def met(self, value: float) -> bool:
        """Returns whether a measured value is within the bound."""
        match self.sense:
            case "at least":
                return value >= self.bounds[0]
            case "at most":
                return value <= self.bounds[0]
            case "between":
                return self.bounds[0] <= value <= self.bounds[1]

    @property
    def bound(self) -> str:
        """The bound in words."""
        return f"{self.sense} {' and '.join(f'{bound:g}' for bound in self.bounds)}"


def runs(mode: Mode) -> list[Run]:
    """Returns the runs of all requirements, for every algorithm that controls congestion."""
    return [
        run
        for name in controlled()
        for repeat in range(REPEATS[mode])
        for run in _of_algorithm(mode, name, repeat)
    ]


def _of_algorithm(mode: Mode, name: str, repeat: int) -> Iterator[Run]:
    def run(
        test: str,
        rate_bps: float,
        seconds: float,
        flows: list[dict[str, Any]],
        buffer: str,
        *,
        loss: float = 0.0,
        against: str = "",
    ) -> Run:
        document = pair(
            f"{name}: {test}",
            rate_bps,
            tuple(flows),
            duration_s=seconds,
            repeat=repeat,
            buffer=buffer,
            loss=loss,
        )
        at: dict[str, Coordinate] = {"algorithm": name, "test": test, "against": against}
        return Run(at | {"repeat": repeat}, document, rate_bps * seconds / PACKET_BITS)

    def two(rtt_ms: float, first: str = name) -> list[dict[str, Any]]:
        return [flow(first, rtt_ms), flow(name, rtt_ms, LATER_START)]

    for rtt_ms in LARGE_RTTS_MS:
        for loss in LARGE_LOSSES:
            yield run(
                f"large {rtt_ms:g} ms {loss:g}",
                LARGE_BPS[mode],
                LARGE_S,
                [flow(name, rtt_ms, {"uniform": ["0 s", "1 s"]})],
                buffer="100 % BDP",
                loss=loss,
            )
    crowd = flow(name, CROWD_RTT_MS, count=CROWD)
    yield run("crowd", CROWD_BPS, 120.0, [crowd], buffer="20 % BDP")
    yield run("low", LOW_BPS, 300.0, [flow("reno", LOW_RTT_MS), flow(name, LOW_RTT_MS)], buffer="100 % BDP")
    yield run("like", PAIR_BPS, 200.0, two(PAIR_RTT_MS), buffer="20 % BDP")
    for other in OPPONENTS:
        if other != name and has(other):
            yield run("unlike", PAIR_BPS, 200.0, two(PAIR_RTT_MS, other), buffer="20 % BDP", against=other)
    for tick in ("0 s", COARSE_TICK):
        one = flow(name, EQUIPMENT_RTT_MS, {"uniform": ["0 s", "1 s"]}, host_tick=tick)
        yield run(f"tick {tick}", EQUIPMENT_BPS, 120.0, [one], buffer="100 % BDP")
    for percent in (SMALL_PERCENT, 100):
        yield run(
            f"buffer {percent}",
            EQUIPMENT_BPS,
            120.0,
            two(EQUIPMENT_RTT_MS),
            buffer=f"{percent} % BDP",
        )


def _performance(runs: Runs) -> Estimate:
    found = [
        runs.where(test=f"large {rtt_ms:g} ms {loss:g}").mean_stderr("utilization")
        for rtt_ms in LARGE_RTTS_MS
        for loss in LARGE_LOSSES
    ]
    return min(found)


def _congestion(runs: Runs) -> Estimate:
    return runs.where(test="crowd").mean_stderr("loss_ratio")


def _friendliness(runs: Runs) -> Estimate:
    rows = runs.where(test="low")
    own, standard = rows.values("throughput_2_bps"), rows.values("throughput_1_bps")
    return metrics.mean_stderr(own / (own + standard))


def _intra(runs: Runs) -> Estimate:
    return runs.where(test="like").mean_stderr("late_jain")


def _inter(runs: Runs) -> Estimate:
    against = runs.where(test="unlike")
    return min(against.where(against=other).mean_stderr("late_jain") for other in against.distinct("against"))


def _ratio(runs: Runs, test: str, reference: str) -> Estimate:
    """Returns the ratio of two utilisations, repeat by repeat."""
    values, references = (runs.where(test=name).values("utilization") for name in (test, reference))
    return metrics.mean_stderr(values / references)


def _deployment(runs: Runs) -> Estimate:
    return _ratio(runs, f"tick {COARSE_TICK}", "tick 0 s")


def _equipment(runs: Runs) -> Estimate:
    return _ratio(runs, f"buffer {SMALL_PERCENT}", "buffer 100")


REQUIREMENTS = (
    Requirement(
        1,
        "Performance",
        "good performance over a large BDP, whatever the RTT and the conditions, such as lossy links",
        "least utilisation of one flow over 60 s, its start included, at 1 Gbit/s (full: 10 Gbit/s), RTT 20 "
        "and 200 ms, queue 100 % BDP, without and with a random loss of 1e-6",
        "utilisation",
        "at least",
        (0.8,),
        _performance,
    ),
    Requirement(
        2,
        "Congestion control",
        "avoids and controls congestion",
        "packets lost over packets sent by 20 like flows, 100 Mbit/s, 80 ms, queue 20 % BDP, 120 s",
        "loss ratio",
        "at most",
        (0.01,),
        _congestion,
    ),
    Requirement(
        3,
        "TCP friendliness",
        "fair to TCP in low-speed networks",
        "share of one flow beside one standard TCP flow, 10 Mbit/s, 40 ms, queue 100 % BDP, 300 s",
        "share beside TCP",
        "between",
        (1 / 3, 2 / 3),
        _friendliness,
    ),
    Requirement(
        4,
        "Intra-protocol fairness",
        "its senders share fairly",
        "Jain's index of two like flows, 250 Mbit/s, 80 ms, queue 20 % BDP, over the later half of the time "
        "that both run; the second starts 20 to 40 s after the first; 200 s",
        "Jain's index",
        "at least",
        (0.95,),
        _intra,
    ),
    Requirement(
        5,
        "Inter-protocol fairness",
        "shares fairly with other congestion controls",
        f"least of Jain's indices, as before, joining a flow of each of {', '.join(OPPONENTS)} that the "
        "registry has, except its own kind",
        "Jain's index",
        "at least",
        (0.8,),
        _inter,
    ),
    Requirement(
        6,
        "Deployment",
        "its mechanisms can be deployed with current technology",
        "utilisation of one flow on a host with a timer of 10 ms over that with an exact timer, 100 Mbit/s, "
        "80 ms, queue 100 % BDP; the table names the Linux module, if there is one",
        "kept with a 10 ms timer",
        "at least",
        (0.9,),
        _deployment,
    ),
    Requirement(
        7,
        "Compatibility",
        "not degraded by current network elements",
        "utilisation of two like flows over a drop-tail queue of 5 % BDP over that with 100 % BDP, 100 "
        "Mbit/s, 80 ms",
        "kept with a 5 % BDP queue",
        "at least",
        (0.8,),
        _equipment,
    ),
)


def measured(runs: Runs, name: str) -> dict[int, Estimate]:
    """Returns what was measured for an algorithm, by requirement; without runs a requirement is left out."""
    of_algorithm = runs.where(algorithm=name)
    found = {}
    for requirement in REQUIREMENTS:
        try:
            found[requirement.number] = requirement.measure(of_algorithm)
        except Missing:
            continue
    return found


def modules() -> dict[str, str]:
    """Returns the Linux module of each algorithm that has one."""
    return {
        row["name"]: row["linux_module"]
        for row in registry.rows("algorithms")
        if row["linux_module"] is not None
    }
