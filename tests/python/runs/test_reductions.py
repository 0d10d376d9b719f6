"""A stored row is found again by its reduction's declared version, so what a version gives must not change.

`reductions.json` holds, for each reduction with `kept_as`, a digest of what it gives for a few small runs.
Whoever changes what a reduction gives declares another version and stores the digests again:
`UPDATE_REDUCTIONS=1 pytest tests/python/runs/test_reductions.py`.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longfat
import longfat_papers as suites
from longfat.assess import measure as assess_measure
from longfat.compare import measure
from longfat.runs.result import Result
from longfat.store.kept import kept_as, reduction_key
from longfat.sweep import reduction as sweep_reduction

PACKAGES = (Path(longfat.__file__).parent, Path(suites.__file__).parent)
STORED = Path(__file__).with_name("reductions.json")
DIGITS = 12
"""Numbers are compared to so many digits: libraries add in another order on other processors."""

Reduction = Callable[[Any], Any]


def flows(*algorithms: str, **more: Any) -> list[dict[str, Any]]:
    return [
        {"algorithm": name, "rtt": f"{20 + 10 * number} ms", "start": f"{2 * number} s", **more}
        for number, name in enumerate(algorithms)
    ]


def scenario(duration_s: float, flow: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    bottleneck = {"rate": "5 Mbit/s", "buffer": "20 packets", **more.pop("bottleneck", {})}
    return {"duration": f"{duration_s:g} s", "bottleneck": bottleneck, "flow": flow, **more}


WEB = {"kind": "web", "sessions": 2, "gap": "1 s", "page": "9.4 kB", "shape": 1.2, "direction": "both"}
SHORT = {"kind": "short", "load": "15 %", "rtt": "30 ms", "direction": "both"}
SURGE = {"kind": "surge", "name": "web-reverse", "load": "500 kbit/s", "direction": "reverse"}
STEPS = {"steps": [["0 s", "6 Mbit/s"], ["8 s", "2 Mbit/s"]]}
RED = {"kind": "red", "min": "5 packets", "max": "15 packets"}

RUNS: dict[str, tuple[dict[str, Any], ...]] = {
    "li2007": (
        scenario(30, flows("hstcp", "bic"), background=[WEB]),
        scenario(10, flows("reno"), bottleneck={"loss": 1e-3}),
    ),
    "yeah2007": (scenario(110, flows("yeah", "reno"), background=[SURGE], sample={"events": True}),),
    "ha2006": (scenario(30, flows("htcp", "fast"), background=[SHORT], window=["5 s", "30 s"]),),
    "lopez2008": (
        scenario(
            8,
            [*flows("xcp", "xcp", loss_detection="newreno"), {"name": "udp-1", **flows("cubic")[0]}],
            bottleneck={"router": "xcp", "ack_loss": 0.1},
        ),
        scenario(6, flows("newreno", "hstcp"), sample={"cwnd": "50 ms"}),
    ),
    "aqm": (
        scenario(16, flows("reno", "stcp"), bottleneck={"queue": RED, "rate": STEPS}, window=["2 s", "16 s"]),
        scenario(12, flows("reno", "reno"), bottleneck={"queue": {"kind": "sred"}}, window=["2 s", "12 s"]),
        scenario(
            12,
            [
                {**flows("reno")[0], "name": "bulk"},
                {**flows("reno")[0], "name": "back", "direction": "reverse"},
                {**flows("reno")[0], "name": "page-1", "count": 2, "bytes": "30 kB", "start": "4 s"},
            ],
            bottleneck={"reverse_buffer": "10 packets"},
            window=["2 s", "12 s"],
        ),
    ),
    "theory": (
        scenario(40, flows("stcp", bytes="4 MB"), bottleneck={"loss": {"every": 500}}),
        scenario(20, flows("hstcp", "hstcp")[::-1]),
    ),
    "relatives": (
        scenario(
            8,
            [*flows("reno", "udt", bytes="1 MB"), {"name": "udp-1", **flows("cubic")[0]}],
            bottleneck={"loss": 1e-3},
        ),
        {
            "duration": "10 s",
            "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets", "router": "xcp"},
            "background": [{**SHORT, "algorithm": "xcp", "load": "50 %"}],
        },
    ),
    "tcpeval": (
        scenario(
            20,
            [
                {**flows("cubic")[0], "name": "first"},
                {**flows("reno")[0], "name": "second", "start": "3 s"},
            ],
            background=[
                {**SHORT, "name": "all-down-1500", "direction": "forward"},
                {**SHORT, "name": "all-up-1500", "direction": "reverse"},
            ],
            window=["5 s", "20 s"],
        ),
        scenario(
            12, [{**flows("reno")[0], "name": "old"}, {**flows("reno")[0], "name": "new", "start": "2 s"}]
        ),
        scenario(
            70,
            [
                {**flows("cubic")[0], "name": "test"},
                {
                    "name": "cross",
                    "algorithm": {"name": "cbr", "rate": "4 Mbit/s"},
                    "rtt": "20 ms",
                    "start": "60 s",
                },
            ],
        ),
    ),
    "compare": (scenario(20, flows("cubic", "reno")),),
    "sweep": (scenario(10, flows("htcp", "reno"), background=[WEB]),),
    "assess": (
        scenario(20, [{**flow, "name": f"own-{i}"} for i, flow in enumerate(flows("cubic", "reno"))]),
        scenario(
            20,
            [
                {**flows("cubic")[0], "name": "own"},
                {**flows("reno")[0], "name": "short", "count": 3, "bytes": "30 kB", "stagger": "2 s"},
                {**flows("cbr")[0], "name": "media", "algorithm": {"name": "cbr", "rate": "1 Mbit/s"}},
            ],
            bottleneck={"outages": [{"begin": "10 s", "length": "4 s", "queue": "drains"}]},
            window=["8 s", "20 s"],
        ),
    ),
}
"""What each reduction is tried on; a suite's by the suite's name."""

REDUCTIONS: dict[str, Reduction] = {
    **{name: suites.get(name).reduce for name in suites.names()},
    "compare": measure.measure,
    "sweep": sweep_reduction.reduce_run,
    "assess": assess_measure.measure,
}


def digest(value: Any) -> str:
    """SHA-256 of a nested value: arrays by their bytes, other numbers to `DIGITS` digits."""
    state = hashlib.sha256()
    _feed(state, value)
    return state.hexdigest()[:16]


def _feed(state: Any, value: Any) -> None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        for key in sorted(value):
            state.update(f"{key}:".encode())
            _feed(state, value[key])
    elif isinstance(value, list | tuple):
        state.update(f"[{len(value)}]".encode())
        for item in value:
            _feed(state, item)
    elif isinstance(value, np.ndarray):
        state.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, float):
        state.update(f"{value:.{DIGITS}g};".encode())
    else:
        state.update(f"{value!r};".encode())


FLOW_COLUMNS = ("time_s", "cwnd", "received_bytes", "packets_lost")
LINK_COLUMNS = ("time_s", "queue_packets", "packets_in", "packets_dropped")


def of_run(result: Result) -> list[Any]:
    """Enough of what the simulator gave to tell a changed simulation from a changed reduction."""
    flow_names = [flow["name"] for flow in result.summary["flows"]]
    link_names = [link["name"] for link in result.summary["links"]]
    return [
        [[result.flow(name)[column] for column in FLOW_COLUMNS] for name in flow_names],
        [[result.link(name)[column] for column in LINK_COLUMNS] for name in link_names],
    ]


def measured(reduction: Reduction, results: list[Result]) -> dict[str, str]:
    """Digests of some runs and of the rows that a reduction makes of them."""
    return {
        "runs": digest([of_run(result) for result in results]),
        "rows": digest([reduction(result) for result in results]),
    }


def problem(key: str, found: Mapping[str, str], stored: Mapping[str, Mapping[str, str]]) -> str | None:
    """What is wrong with a reduction, by its key, or None."""
    name, _, version = key.rpartition("-")
    if key not in stored:
        return f"{key} is not in {STORED.name}: store it with UPDATE_REDUCTIONS=1"
    if found["runs"] != stored[key]["runs"]:
        return (
            f"{key}: the runs it was tried on give other results; store the digests with UPDATE_REDUCTIONS=1"
        )
    if found["rows"] != stored[key]["rows"]:
        return f"{name} gives other rows than version {version} did: give it another version"
    return None


def declared(package: Path) -> set[str]:
    """The keys of all reductions that a package declares with `kept_as`."""
    calls = (
        node
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "kept_as"
    )
    return {"-".join(ast.literal_eval(argument) for argument in call.args) for call in calls}


@pytest.fixture(scope="module")
def stored():
    if "UPDATE_REDUCTIONS" in os.environ:
        entries = {
            reduction_key(REDUCTIONS[name]): measured(REDUCTIONS[name], [longfat.run(run) for run in runs])
            for name, runs in RUNS.items()
        }
        kept = json.loads(STORED.read_text(encoding="utf-8"))
        for key, found in entries.items():
            if key in kept and found["runs"] == kept[key]["runs"]:
                assert problem(key, found, kept) is None
        text = json.dumps(dict(sorted(entries.items())), indent=1)
        STORED.write_text(text + "\n", encoding="utf-8")
    return json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_a_reduction_gives_the_rows_that_its_version_gave(name, stored):
    reduction = REDUCTIONS[name]
    found = measured(reduction, [longfat.run(run) for run in RUNS[name]])
    assert problem(reduction_key(reduction), found, stored) is None


def test_every_reduction_that_is_declared_is_tried_and_none_is_stored_beside_them(stored):
    keys = {reduction_key(reduction) for reduction in REDUCTIONS.values()}
    assert set().union(*map(declared, PACKAGES)) == keys == set(stored)
    assert {reduction_key(REDUCTIONS[name]) for name in RUNS} == keys


def test_a_reduction_of_another_package_is_found_when_it_is_declared(tmp_path):
    (tmp_path / "toy.py").write_text('@kept_as("toy", "3")\ndef reduce(result):\n    return {}\n')
    assert declared(tmp_path) == {"toy-3"}


@kept_as("toy", "1")
def toy(result: Result) -> dict[str, Any]:
    return {"sent": result.summary["flows"][0]["packets_sent"], "series": [result.flow("1")["cwnd"]]}


@kept_as("toy", "1")
def toy_with_another_row(result: Result) -> dict[str, Any]:
    return toy(result) | {"sent": 1 + toy(result)["sent"]}


@kept_as("toy", "1")
def toy_with_another_series(result: Result) -> dict[str, Any]:
    return toy(result) | {"series": [np.nextafter(result.flow("1")["cwnd"], 0.0)]}


@kept_as("toy", "2")
def toy_with_another_version(result: Result) -> dict[str, Any]:
    return toy_with_another_row(result)


@pytest.mark.parametrize(
    ("reduction", "seed", "expected"),
    [
        (toy, 1, None),
        (toy_with_another_row, 1, "toy gives other rows than version 1 did: give it another version"),
        (toy_with_another_series, 1, "toy gives other rows than version 1 did: give it another version"),
        (toy_with_another_version, 1, "toy-2 is not in reductions.json: store it with UPDATE_REDUCTIONS=1"),
        (toy, 2, "toy-1: the runs it was tried on give other results; store the digests with "),
    ],
)
def test_a_reduction_that_changed_under_its_version_is_told_what_to_do(reduction, seed, expected):
    lossy = scenario(4, flows("reno"), bottleneck={"loss": 1e-2})
    kept = {"toy-1": measured(toy, [longfat.run(lossy, seed=1)])}
    said = problem(reduction_key(reduction), measured(reduction, [longfat.run(lossy, seed=seed)]), kept)
    assert said == expected or (expected and said and said.startswith(expected))
