"""The draft, the algorithms under test, and what its tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from longfat.figure.data import Curve, points
from longfat_papers.kit import CHOSEN_HERE, Check, Declaration, Mode, Paper, Run, Runs, Setting
from longfat_papers.kit.paper import over
from longfat_papers.tcpeval import networks as nw
from longfat_papers.tcpeval.networks import STANDARD, Table
from longfat_papers.tcpeval.reduction import reduce_run

TITLES = {
    STANDARD: "standard TCP",
    "hstcp": "HighSpeed TCP",
    "htcp": "H-TCP",
    "cubic": "CUBIC",
    "ctcp": "Compound TCP",
    "yeah": "YeAH-TCP",
    "bbr": "BBR",
    "bbr3": "BBRv3",
}

NUMBERS = "Numbers chosen here."
REPORTED = "The metrics are reported, without a verdict; checks compare with standard TCP, for orientation."

REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Over seeds, where a run is not long; the draft has one run of each basic scenario."""

PAPER = Paper(
    "tcpeval",
    "EVAL",
    "Common TCP Evaluation Suite",
    "Hayes, Ros, Andrew, Floyd: Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01, 2014",
    settings=(
        Setting("standard TCP", "SACK without ECN", "6.1"),
        Setting("stack", "delayed ACKs, byte counting, timestamps, initial window of 3", CHOSEN_HERE),
    ),
    estimator="Mean over repeats, from prefill_t + warmup to the end.",
    reduce=reduce_run,
)

TRAFFIC = (
    Setting(
        "traffic",
        "connections that start at random (Poisson), each with one file; sizes have a lognormal body and a "
        "Pareto tail",
        CHOSEN_HERE
        + ": the draft replays Tmix traces, which Longfat does not have; its appendix A describes "
        "sessions that arrive as a Poisson process and sizes with heavy tails",
    ),
    Setting("sizes", "SURGE's constants, up to 10 MB", "docs/models/traffic.md"),
    Setting("load", "mean size of a session, in bits of IP, over the mean time between sessions", "3.1"),
    Setting(
        "left to right",
        f"{nw.UP_SHARE:g} of the bytes from right to left",
        CHOSEN_HERE + ": 4.2 says that it is less and prints no number; with a tenth both directions of the "
        "satellite link have the same load in percent",
    ),
    Setting("packets", "536 bytes for a tenth of the connections, 1500 for the others", "2.4"),
    Setting("paths", "each connection has one of nine RTTs, with equal probability", "4.1, Table 1"),
    Setting(
        "start",
        "no prefilling; statistics begin after prefill_t + warmup of the draft's tables",
        "3.3; " + CHOSEN_HERE + ": a session is one file here, so the load is there after one transfer",
    ),
)
"""Settings of the claims about tests with traffic."""
EDGE_LINKS = Setting(
    "edge links",
    "each connection has one of its own, of the draft's rate",
    CHOSEN_HERE + ": in 4.1 the connections of a side share three (docs/guide/networks.md)",
)


@dataclass(frozen=True)
class Choice:
    """The algorithms under test in each mode; standard TCP always runs too, as the baseline."""

    quick: tuple[str, ...]
    full: tuple[str, ...]

    def all(self) -> dict[Mode, tuple[str, ...]]:
        """Returns standard TCP and the algorithms under test, each once, by mode."""
        chosen: dict[Mode, tuple[str, ...]] = {"quick": self.quick, "full": self.full}
        return {mode: tuple(dict.fromkeys((STANDARD, *names))) for mode, names in chosen.items()}


USUAL = Choice(("cubic", "htcp", "bbr3"), tuple(name for name in TITLES if name != STANDARD))
"""What the suite runs unless a file chooses others."""

_TESTS: dict[str, tuple[Mapping[str, Any], Callable[..., Table | None], Callable[[Table], float] | None]] = {}


def experiment(
    name: str,
    mirrors: str,
    title: str,
    grid: Mapping[str, Any],
    packets: Callable[[Table], float] | None = None,
) -> Callable[[Callable[..., Table | None]], Declaration]:
    """Declares a test by the function that returns the scenario of an algorithm at a point of the grid.

    ``packets`` estimates those of a scenario; without it, it fills its bottleneck.
    """

    def declare(function: Callable[..., Table | None]) -> Declaration:
        _TESTS[name] = grid, function, packets
        return PAPER.experiment(name, mirrors, title)(runs_of(name, USUAL))

    return declare


def runs_of(name: str, choice: Choice) -> Callable[[Mode], list[Run]]:
    """Returns the runs of a test for a choice of algorithms."""
    grid, function, packets = _TESTS[name]
    return over({"algorithm": choice.all(), **grid}, function, packets)


def title(name: str) -> str:
    """Returns what figures and texts call an algorithm."""
    return TITLES.get(name, name)


def each(runs: Runs) -> Iterator[tuple[str, Runs]]:
    """Yields the algorithms of an experiment, standard TCP first, with their runs."""
    found = dict.fromkeys(row["algorithm"] for row in runs)
    for name in sorted(found, key=lambda name: name != STANDARD):
        yield name, runs.where(algorithm=name)


def titles(runs: Runs) -> dict[str, str]:
    """Returns the titles of the algorithms of an experiment."""
    return {name: title(name) for name, _ in each(runs)}


def tested(runs: Runs) -> list[str]:
    """Returns the algorithms of an experiment without standard TCP."""
    return [name for name, _ in each(runs) if name != STANDARD]


def lines(
    runs: Runs, samples: Callable[[Runs], Iterable[tuple[float, tuple[float, float]]]]
) -> tuple[Curve, ...]:
    """Returns a curve for each algorithm, of what ``samples`` makes of its runs."""
    return tuple(points(title(name), samples(at), name) for name, at in each(runs))


def told(found: Mapping[str, str], separator: str = ", ") -> str:
    """Writes a text about each algorithm after its title."""
    return separator.join(f"{title(name)} {text}" for name, text in found.items())


def against_standard(
    check: Callable[..., Check], quantity: str, found: Mapping[str, float], than: str = "standard TCP's"
) -> Iterator[Check]:
    """Compares a quantity of each algorithm with standard TCP's."""
    for name, value in found.items():
        if name != STANDARD:
            yield check(f"{title(name)}: {quantity}", value, found[STANDARD], than=than)


def by_link(runs: Runs) -> str:
    """Says in a caption how many runs a point stands for at each rate."""
    counts = {mbps: len(runs.where(mbps=mbps).distinct("repeat")) for mbps in runs.distinct("mbps")}
    return " Runs for each point: " + ", ".join(f"{n} at {mbps} Mbit/s" for mbps, n in counts.items()) + "."


def users(document: Table) -> Table:
    """Replaces the traffic by SURGE's users, for readings."""
    kept = ("name", "algorithm", "mss", "load", "rtt", "direction", "from", "to")
    if "background" in document:
        document["background"] = [
            {"kind": "surge", **{key: part[key] for key in kept if key in part}}
            for part in document["background"]
        ]
    return document


def offered_back(document: Table, share: float) -> Table:
    """Offers a share of the bytes from left to right; what is offered from right to left stays.

    The load of the wireless LAN is that of both directions together: both change, and so do the parts of the
    medium that they have. In percent of these, their loads stay.
    """
    if _is_wireless(document):
        link = nw.wireless(share).link()
        document["bottleneck"] |= {key: value for key, value in link.items() if key.endswith("rate")}
        return document
    for part in document.get("background", ()):
        if f"-{nw.UP}-" in part["name"]:
            load = float(part["load"].removesuffix(" %"))
            part["load"] = f"{load * share / nw.UP_SHARE:.9g} %"
    return document


def contention(document: Table, jitter: str) -> Table:
    """Adds jitter to the wireless LAN."""
    if _is_wireless(document):
        document["bottleneck"]["jitter"] = jitter
    return document


def _is_wireless(document: Table) -> bool:
    return str(document["title"]).startswith(nw.WIRELESS.title)
