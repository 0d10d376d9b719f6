"""Compares explicit rate in the simulator with explicit rate between this machine's own TCPs.

Both sides run the same files. Live runs take real time; valid ones are kept in a folder, and missing ones are
run. `--write` puts the tables into docs/validation-live.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import longfat
from longfat import _core
from longfat.errors import LongfatError
from longfat.runs.result import Result

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "validation-live.md"
MARKS = ("<!-- make validate-explicit -->\n", "<!-- end of make validate-explicit -->\n")
REPEATS = 3
ATTEMPTS = 3
"""How often a live run is tried until it is valid."""
RATES_MBPS = (20, 100, 200)
ROUND_TRIPS_MS: dict[int, dict[str, tuple[int, ...]]] = {
    1: {"80 ms": (80,)},
    3: {"80 ms": (80,) * 3, "40 to 160 ms": (40, 80, 160)},
    10: {"80 ms": (80,) * 10, "40 to 160 ms": tuple(round(40 + 120 * i / 9) for i in range(10))},
}
"""For each number of flows: round-trip times."""
LAST_START_S, BEGIN_S, END_S, SAMPLE_S = 8.0, 14.0, 22.0, 0.02
"""When the last flow starts, the results begin and end, and the sampling period."""
SHARE = 0.8
"""A flow has converged once it has had this part of its fair share for a round trip."""
UTILIZATION, JAIN, SHARES, ROUND_TRIPS = 0.05, 0.05, 0.05, 2.0
"""How much the two sides may differ; convergence in round trips of the last flow."""
ACK_LOSS = 0.2
"""The share of acknowledgements that are lost in the second table."""
FRIENDLY = {"kind": "friendly", "update": "packet"}
EDGE, HOP_MS = 4, 10
"""Links beside a cloud are this many times as fast as its own; each of four links has this delay."""
LINUX = {"cubic": {"name": "cubic", "variant": "linux"}}
"""How a scenario names the kernel's form of an algorithm."""


@dataclass(frozen=True)
class Case:
    """Flows of one algorithm at a router; the last one starts later if there are several.

    Attributes:
        router: as in a scenario; of each link but the cloud's if there is one.
        others: algorithms of further flows, which are the kernel's own and have the first flow's round-trip
            time. Then all flows start at once, with the kernel's initial window.
        more: further keys of the bottleneck.
    """

    table: str
    algorithm: str
    rate_mbps: int
    name: str
    rtts_ms: tuple[int, ...]
    router: Any = "xcp"
    others: tuple[str, ...] = ()
    more: tuple[tuple[str, Any], ...] = ()
    through_cloud: bool = False

    @property
    def link(self) -> str:
        """The link that is measured."""
        return "cloud" if self.through_cloud else "bottleneck"

    @property
    def key(self) -> str:
        """The name of its files."""
        name = "-".join([self.name.replace(" ", ""), *self.others, *(key for key, _ in self.more)])
        if self.table in ("clouds", "elastic"):
            kind = self.router["kind"] if isinstance(self.router, dict) else self.router
            name += f"-{self.table}-{kind}"
        return f"{self.algorithm}-{self.rate_mbps}-{len(self.rtts_ms)}-{name}"

    @property
    def flows(self) -> str:
        """Describes the flows in words."""
        beside = f" beside {len(self.others)} x {self.others[0]}" if self.others else ""
        if self.through_cloud:
            beside = f", routers {self.router}"
        return f"{len(self.rtts_ms)} x {self.algorithm}, {self.name}{beside}"

    @property
    def starts_s(self) -> list[float]:
        """When each flow with explicit headers starts."""
        alone = len(self.rtts_ms) == 1 or bool(self.others)
        return [0.0] * (len(self.rtts_ms) - 1) + [0.0 if alone else LAST_START_S]

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario that both sides run."""
        flows: list[dict[str, Any]] = [
            {"algorithm": self.algorithm, "rtt": f"{rtt} ms", "start": f"{start} s"}
            for rtt, start in zip(self.rtts_ms, self.starts_s, strict=True)
        ]
        if self.others:
            flows = [{**flow, "initial_window": 10} for flow in flows]
        flows += [
            {"algorithm": LINUX.get(other, other), "rtt": f"{self.rtts_ms[0]} ms", "stack": "linux"}
            for other in self.others
        ]
        run = {
            "duration": f"{END_S} s",
            "window": [f"{BEGIN_S} s", f"{END_S} s"],
            "sample": {"cwnd": f"{SAMPLE_S} s"},
            "seed": seed,
        }
        if self.through_cloud:
            return {**run, "link": self.links(), "flow": [through(flow) for flow in flows]}
        return {
            **run,
            "bottleneck": {
                "rate": f"{self.rate_mbps} Mbit/s",
                "buffer": "100 % BDP",
                "router": self.router,
                **dict(self.more),
            },
            "flow": flows,
        }

    def links(self) -> list[dict[str, Any]]:
        """Returns a cloud, which is a drop-tail hop without a router, between hops that have one."""
        edge: dict[str, Any] = {"rate": f"{EDGE * self.rate_mbps} Mbit/s", "router": self.router}
        hops = [("s", "a", edge), ("a", "b", edge), ("b", "c", {"name": self.link}), ("c", "r", edge)]
        base = {"rate": f"{self.rate_mbps} Mbit/s", "delay": f"{HOP_MS} ms", "buffer": f"{8 * HOP_MS} ms"}
        return [{**base, "from": begin, "to": end, **more} for begin, end, more in hops]


def through(flow: dict[str, Any]) -> dict[str, Any]:
    """Returns a flow from one end of the links to the other, whose delays are its own."""
    return {key: value for key, value in flow.items() if key != "rtt"} | {"from": "s", "to": "r"}


@dataclass(frozen=True)
class Measured:
    """What is compared of one run."""

    utilization: float
    jain: float
    queue_packets: float
    drops: int
    converged_s: float
    share: float
    acks: int = 0
    acks_without_room: int = 0

    @classmethod
    def of(cls, case: Case, result: Result) -> Measured:
        """Takes it from a result."""
        link = next(link for link in result.summary["links"] if link["name"] == case.link)
        told = result.summary.get("validity", {}).get("explicit", {}).values()
        return cls(
            utilization=link["utilization"],
            jain=result.summary["metrics"]["jain"],
            queue_packets=link["queue_mean_packets"],
            drops=sum(each["packets_dropped"] for each in result.summary["links"])
            if case.through_cloud
            else link["packets_dropped"],
            converged_s=converged_s(case, result),
            share=share(case, result),
            acks=sum(each["acks"] for each in told),
            acks_without_room=sum(each["acks_without_room"] for each in told),
        )


def share(case: Case, result: Result) -> float:
    """Returns the part of the throughput that flows with explicit headers have."""
    rates = [flow["throughput_bps"] for flow in result.summary["flows"]]
    return float(sum(rates[: len(case.rtts_ms)]) / sum(rates))


def converged_s(case: Case, result: Result) -> float:
    """Returns how long after its start the last flow had its share for a round trip; NaN if it never had."""
    rtt_s, start_s = 1e-3 * case.rtts_ms[-1], case.starts_s[-1]
    series = result.flow(str(result.summary["flows"][len(case.rtts_ms) - 1]["name"]))
    steps = max(1, round(rtt_s / SAMPLE_S))
    rates = 8 * (series["received_bytes"][steps:] - series["received_bytes"][:-steps]) / (steps * SAMPLE_S)
    enough = rates >= SHARE * 1e6 * case.rate_mbps / len(case.rtts_ms)
    found = np.flatnonzero(enough)
    return float(series["time_s"][steps:][found[0]]) - start_s if found.size else math.nan


def cases() -> Iterator[Case]:
    """Yields all cases of the table."""
    for choices in ROUND_TRIPS_MS.values():
        for name, rtts_ms in choices.items():
            for rate_mbps in RATES_MBPS:
                yield Case("xcp", "xcp", rate_mbps, name, rtts_ms)
    lossy = (("ack_loss", ACK_LOSS),)
    for rate_mbps in RATES_MBPS[:2]:
        for algorithm in ("xcp", "xcp-r"):
            yield Case("ack-loss", algorithm, rate_mbps, "40 to 160 ms", (40, 80, 160), more=lossy)
    for rate_mbps in RATES_MBPS[:2]:
        for protocol in ("vcp", "jetmax"):
            yield Case("others", protocol, rate_mbps, "80 ms", (80,) * 3, protocol)
    for rate_mbps in RATES_MBPS[:2]:
        for other in ("reno", "cubic"):
            yield Case("friendly", "xcp", rate_mbps, "80 ms", (80,) * 2, FRIENDLY, (other,) * 2)
    for other in ("reno", "hstcp", "cubic"):
        router = {**FRIENDLY, "p_drop": "elastic"}
        yield Case("elastic", "xcp", RATES_MBPS[1], "80 ms", (80,) * 2, router, (other,) * 2)
    for rate_mbps in RATES_MBPS[:2]:
        for number in (1, 3):
            rtts_ms = (8 * HOP_MS,) * number
            yield Case("clouds", "xcp", rate_mbps, "80 ms", rtts_ms, "xcp-i", through_cloud=True)
    yield Case("clouds", "xcp", RATES_MBPS[0], "80 ms", (80,) * 3, "xcp", through_cloud=True)


def simulated(case: Case, seed: int, folder: Path) -> Measured:
    """Returns the simulator's side, kept or new."""
    path, scenario = folder / f"{case.key}-sim-{seed}.json", case.scenario(seed)
    version = _core.results_version()
    if path.exists():
        kept = json.loads(path.read_text())
        if (kept["scenario"], kept["version"]) == (scenario, version):
            return Measured(**kept["measured"])
    measured = Measured.of(case, longfat.run(scenario))
    path.write_text(
        json.dumps({"scenario": scenario, "version": version, "measured": asdict(measured)}, indent=1)
    )
    return measured


def live(case: Case, seed: int, folder: Path) -> Measured | None:
    """Returns a live run, kept or new; None if none was valid."""
    path = folder / f"{case.key}-{seed}.json"
    scenario = case.scenario(seed)
    if path.exists() and (kept := json.loads(path.read_text()))["scenario"] == scenario:
        return Measured(**kept["measured"])
    for _ in range(ATTEMPTS):
        try:
            result = longfat.run(scenario, backend="live")
        except LongfatError as error:
            print(f"{case.key} {seed}: {error}", flush=True)
            continue
        wrong = [check for check in result.summary["validity"]["checks"] if not check["ok"]]
        if not wrong:
            measured = Measured.of(case, result)
            written = {"scenario": scenario, "measured": asdict(measured)}
            path.write_text(json.dumps(written | {"validity": result.summary["validity"]}, indent=1))
            print(f"{case.key} {seed}: {measured}", flush=True)
            return measured
        told = "; ".join(f"{check['name']} {check['value']:.4g}" for check in wrong)
        print(f"{case.key} {seed}: not valid, load {os.getloadavg()[0]:.1f}: {told}", flush=True)
    return None


def spread(values: list[float], form: str) -> str:
    """Returns the mean of repeats, and their range if they differ."""
    written = [form.format(value) for value in (min(values), max(values))]
    mean = form.format(statistics.fmean(values))
    return mean if written[0] == written[1] else f"{mean} ({written[0]} to {written[1]})"


def row(case: Case, sims: list[Measured], found: list[Measured]) -> list[str]:
    """Returns a line of a table; differences beyond the bounds are bold."""

    def cell(name: str, form: str, bound: float | None) -> str:
        values = [float(getattr(run, name)) for run in found]
        ours = [float(getattr(sim, name)) for sim in sims]
        gap = abs(statistics.fmean(values) - statistics.fmean(ours))
        never = all(math.isnan(value) for value in values + ours)
        differs = bound is not None and not never and not gap <= bound + 1e-9
        text = "never" if never else spread(values, form)
        return f"{'never' if never else spread(ours, form)}, {f'**{text}**' if differs else text}"

    return [
        str(case.rate_mbps),
        case.flows,
        cell("utilization", "{:.3f}", UTILIZATION),
        cell("jain", "{:.3f}", JAIN),
        cell("queue_packets", "{:.1f}", None),
        cell("drops", "{:.0f}", None),
        cell("share", "{:.3f}", SHARES)
        if case.others
        else cell("converged_s", "{:.2f}", ROUND_TRIPS * 1e-3 * case.rtts_ms[-1]),
    ]


TITLES = {
    "xcp": "XCP:",
    "ack-loss": "XCP and XCP-r when one acknowledgement in five is lost:",
    "others": "VCP and JetMax:",
    "friendly": "XCP beside the kernel's own TCP, at the router `friendly` with "
    '`update = "packet"`; the last column is the share of the XCP flows:',
    "elastic": 'The same with `p_drop = "elastic"`:',
    "clouds": "XCP through a cloud, a drop-tail hop without a router between three hops of four times its "
    "rate, which have XCP-i or, in the last row, XCP; queue and utilization are the cloud's, drops those of "
    "all hops:",
}
HEADINGS = (
    "Mbit/s",
    "flows",
    "utilization",
    "Jain's index",
    "mean queue, packets",
    "drops",
    "convergence, s",
)


def table(name: str, rows: list[list[str]]) -> str:
    """Returns a title and the lines of a table in Markdown."""
    headings = [*HEADINGS[:-1], "share of XCP" if name in ("friendly", "elastic") else HEADINGS[-1]]
    lines = [headings, ["---"] * len(headings), *rows]
    return f"{TITLES[name]}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write(text: str) -> None:
    """Puts the table between its marks on the page."""
    page = PAGE.read_text()
    before, rest = page.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")


def main() -> None:
    """Runs what is missing and prints or writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "explicit")
    parser.add_argument("--only", help="a part of the names of cases")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-run", action="store_true", help="show only what is there")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in cases() if not options.only or options.only in case.key]
    if not options.no_run:
        for seed in range(1, options.repeats + 1):
            for case in chosen:
                live(case, seed, options.folder)
    rows: dict[str, list[list[str]]] = {}
    for case in chosen:
        paths = [options.folder / f"{case.key}-{seed}.json" for seed in range(1, options.repeats + 1)]
        found = [Measured(**json.loads(path.read_text())["measured"]) for path in paths if path.exists()]
        if found:
            # without other flows nothing in the simulator is random
            seeds = range(1, len(found) + 1) if case.others else (1,)
            sims = [simulated(case, seed, options.folder) for seed in seeds]
            rows.setdefault(case.table, []).append(row(case, sims, found))
    head = (
        f"{platform.system()} {platform.release()}. The first of two numbers is the simulator's, the second "
        "the mean of the live runs, with their range; a difference beyond the bounds is bold.\n\n"
    )
    text = head + "\n".join(table(name, some) for name, some in rows.items())
    if options.write:
        write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
