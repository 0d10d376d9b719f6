"""Every key of a scenario reaches the core and has documentation; plans of known scenarios stay the same."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat import _core
from longfat.errors import InputError
from longfat.report.columns import METRICS
from longfat.scenario.model import Scenario
from longfat.scenario.schema import scenario_schema

ROOT = Path(__file__).parents[3]
PLANS = Path(__file__).parent / "plans.txt"
DOCUMENTS = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name not in ("models", "recipes")]

DUMBBELL: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "10 Mbit/s"},
    "flow": [{"rtt": "20 ms", "count": 2}],
}
NETWORK: dict[str, Any] = {
    "duration": "1 s",
    "link": [
        {"from": "A", "to": "B", "rate": "10 Mbit/s", "delay": "5 ms"},
        {"from": "B", "to": "A", "rate": "10 Mbit/s", "delay": "9 ms", "duplex": False, "name": "back"},
    ],
    "flow": [{"from": "A", "to": "B"}],
}


def beside(kind: str, **keys: Any) -> dict[str, Any]:
    """The dumbbell with a background."""
    return DUMBBELL | {"background": [{"kind": kind, **keys}]}


TRANSPORT: dict[str, Any] = {"algorithm": "htcp", "recovery": "prr", "receiver": {"divide_acks": 4}}
CONNECTIONS: dict[str, Any] = {"name": "x", "rtt": "30 ms"}
QUEUE = {"queue": "codel", "router": "xcp"}
DISTURBANCES: dict[str, Any] = {
    "reorder": {"probability": 0.01, "delay": "10 ms"},
    "added_delay": {"handovers": {"period": "15 s", "range": "20 ms"}},
    "outages": [{"begin": "0.5 s", "length": "0.1 s"}],
}
BOTTLENECK = {
    "rate": "20 Mbit/s",
    "access_rate": "2 Gbit/s",
    "reverse_queue": "codel",
    **QUEUE,
    **DISTURBANCES,
}
TABLES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("Scenario", "", DUMBBELL, {"window": ["0.1 s", "0.9 s"]}),
    ("Bottleneck", "bottleneck.", DUMBBELL, BOTTLENECK),
    ("Link", "link.0.", NETWORK, {"name": "x", "rate": "20 Mbit/s", **QUEUE, **DISTURBANCES}),
    ("Flow", "flow.0.", DUMBBELL, {"name": "x", "rtt": "30 ms", "start": "0.5 s", "count": 3, **TRANSPORT}),
    ("Web", "background.0.", beside("web"), CONNECTIONS),
    ("Surge", "background.0.", beside("surge", users=2), {"users": 3, **CONNECTIONS}),
    (
        "Short",
        "background.0.",
        beside("short", gap="100 ms"),
        {"sizes": {"empirical": ["10 kB", "20 kB"]}, "tail_least": "200 kB", **CONNECTIONS},
    ),
    ("Bulk", "background.0.", beside("bulk", flows=2), {"flows": 3, "start": "0.1 s", **CONNECTIONS}),
    ("Onoff", "background.0.", beside("onoff", sources=2), {"sources": 3, "start": "0.1 s", **CONNECTIONS}),
    ("Transport", "background.0.", beside("bulk", flows=2), TRANSPORT),
    ("Sample", "sample.", DUMBBELL, {}),
]
"""Each table: where it stands, in which scenario, and values of keys whose schema gives none to try."""
APART = {
    "title": "it changes no result",
    "kind": "each kind is a table of its own here",
    "rtt": "of programs, which are not in plans, see test_live_shell.py",
    "load": "it becomes another key, see test_background.py and test_surge.py",
    **dict.fromkeys(("from", "to"), "see test_topology.py"),
    **dict.fromkeys(("bottleneck", "node", "link", "flow", "background", "sample"), "a table of its own"),
    "program": "only live runs have programs, see test_live_shell.py",
}


SHORTHANDS = {"stack", "variant"}
"""Keys that stand for others, see test_stacks.py."""


SCHEMA = scenario_schema()


def resolved(one: dict[str, Any]) -> dict[str, Any]:
    """A part of the schema, or what its reference leads to."""
    found: Any = SCHEMA
    for word in one.get("$ref", "").split("/")[1:]:
        found = found[word]
    return resolved(found) if "$ref" in one else one


def properties(table: str) -> dict[str, Any]:
    """The keys of a table, of a background without those of the transport, which it shares with flows."""
    found = SCHEMA if table == "Scenario" else SCHEMA["$defs"][table]
    shared = properties("Transport") if table in ("Web", "Surge", "Short", "Bulk", "Onoff") else {}
    names = set(found["properties"]) - SHORTHANDS - set(shared)
    return {key: resolved(found["properties"][key]) for key in sorted(names)}


def keys(table: str) -> set[str]:
    return set(properties(table))


def candidates(schema: dict[str, Any]) -> list[Any]:
    """Values that the schema of a key accepts."""
    found = [*schema.get("enum", []), *((True, False) if schema.get("type") == "boolean" else ())]
    if schema.get("type") in ("integer", "number"):
        least = schema.get("minimum", 0)
        most = schema.get("maximum", least + 2)
        found += [least + 1 if least + 1 < most else (least + most) / 2, least]
    found += [text for example in schema.get("examples", []) for text in (f"2{example}", example)]
    return found + [value for one in schema.get("anyOf", []) for value in candidates(resolved(one))]


def values(table: str) -> dict[str, Any]:
    """A value that is not the default for each key of a table that has one to try."""
    given = next(row[3] for row in TABLES if row[0] == table)
    found = dict(given)
    for key, schema in properties(table).items():
        usual = schema.get("default")
        others = [value for value in candidates(schema) if value != usual]
        if key not in given and key not in APART and others:
            found[key] = others[0]
    return found


@pytest.mark.parametrize("table", [row[0] for row in TABLES])
def test_every_key_has_a_value_to_try(table: str) -> None:
    missing = keys(table) - set(values(table)) - set(APART)
    assert missing == set(), f"add a value that is not the default to TABLES, table {table}"


def tries() -> Iterator[Any]:
    for table, prefix, base, _ in TABLES:
        for key, value in values(table).items():
            yield pytest.param(base, prefix + key, value, id=f"{prefix}{key}")


@pytest.mark.parametrize(("base", "key", "value"), list(tries()))
def test_every_key_reaches_the_plan_and_the_core_reads_it(base: dict[str, Any], key: str, value: Any) -> None:
    changed = Scenario.from_dict(base, changes={key: value})
    assert changed.plan != Scenario.from_dict(base).plan, f"nothing uses {key}"
    _core.simulate(changed.core, {})


def test_code_reads_every_key_that_a_plan_holds_as_it_is() -> None:
    crates = ROOT / "crates"
    runs = [path for crate in ("sim", "live", "capture") for path in (crates / crate / "src").rglob("*.rs")]
    text = "".join(path.read_text().split("#[cfg(test)]")[0] for path in runs)
    read = set(re.findall(r"\b(?:plan|planned|connection)\s*\.(\w+)\b(?!\()", text))
    for file in ("plan/connection.rs", "plan/disturbance.rs", "tables/transport.rs"):
        read |= set(re.findall(r"\bself\s*\.(\w+)\b(?!\()", (crates / "scenario/src" / file).read_text()))
    disturbed = {"jitter", "duplicate", "overtaking", *DISTURBANCES, "remark"}
    assert (keys("Transport") | disturbed) - read == set(), "nothing reads these keys of a plan"


def test_a_flow_over_udp_takes_the_keys_that_mean_something_there_and_no_others() -> None:
    base = DUMBBELL | {"flow": [{"rtt": "20 ms", "algorithm": "udt"}]}
    taken = set()
    for key, value in values("Transport").items():
        with contextlib.suppress(InputError):
            Scenario.from_dict(base, changes={f"flow.0.{key}": value} if key != "algorithm" else {})
            taken.add(key)
    assert taken == {"algorithm", "mss", "host_tick", "interrupt_moderation", "rto_min"}


def test_the_kernel_decides_every_transport_key_but_those_that_live_runs_set_or_refuse() -> None:
    others = values("Transport") | {
        "sack_compression": "2 ms",
        "slow_start_limit": 1,
    }  # not what the kernel has
    decided = {
        key
        for key, value in others.items()
        if key in Scenario.from_dict(DUMBBELL, changes={f"flow.0.{key}": value}).flow[0].decided_by_kernel
    }
    set_in_the_kernel = {"algorithm", "mss", "initial_window", "recovery", "rtt_samples", "ecn"}
    set_in_the_kernel |= {"loss_detection", "max_window"}
    refused_with_a_line_of_its_own = {"quick_start"}
    assert keys("Transport") - decided == set_in_the_kernel | refused_with_a_line_of_its_own


def test_constructors_make_the_tables_of_a_file() -> None:
    dumbbell = longfat.Scenario(
        duration="1 s",
        bottleneck=longfat.Bottleneck(rate="10 Mbit/s"),
        flow=[longfat.Flow(rtt="20 ms", count=2)],
        background=[longfat.Web(sessions=3)],
    )
    assert dumbbell == Scenario.from_dict(beside("web", sessions=3))
    back = longfat.Link("B", "A", rate="10 Mbit/s", delay="9 ms", duplex=False, name="back")
    there = longfat.Link("A", "B", rate="10 Mbit/s", delay="5 ms")
    network = longfat.Scenario(duration="1 s", link=[there, back], flow=[longfat.Flow(origin="A", to="B")])
    assert network == Scenario.from_dict(NETWORK)


IN_SECTIONS = {"node", "link", "bottleneck", "flow", "background", "program", "sample"}


def every_key() -> set[str]:
    return {key for table, *_ in TABLES for key in keys(table)} | keys("Program") | keys("Node")


def test_every_key_has_a_row_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text()
    asked = re.findall(r"<!-- generated: keys-([a-z]+) -->", page)
    rows = "\n".join(_core.definition(name) for name in asked)
    assert every_key() - set(re.findall(r"^\| `([a-z_]+)` \|", rows, re.MULTILINE)) - IN_SECTIONS == set()


def test_every_key_has_a_sentence_on_a_page() -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "recipes"]
    named = {name for path in pages for name in re.findall(r"`\[*([a-z_]+)\b[^`]*`", path.read_text())}
    assert every_key() - named == set(), (
        "docs: a sentence on what the key does, such as in models/transport.md"
    )


def plans() -> dict[str, str]:
    """The digest of the plan of each scenario in scenarios/."""
    return {
        path.name: hashlib.sha256(json.dumps(Scenario.load(path).plan, sort_keys=True).encode()).hexdigest()
        for path in sorted((ROOT / "scenarios").glob("*.toml"))
    }


def test_plans_stay_what_they_are_so_that_stored_runs_are_found() -> None:
    kept = dict(line.split() for line in PLANS.read_text().splitlines())
    assert plans() == kept, (
        "a stored run is found by its plan, so all stored runs run again, or a scenario is new: "
        "python tests/python/scenario/test_keys.py > tests/python/scenario/plans.txt"
    )


def test_every_key_of_a_summary_has_a_heading_or_a_place_in_the_documentation() -> None:
    data = beside("web") | {"sample": {"events": True}}
    summary = longfat.run(data).summary
    assert list(METRICS) == list(summary["metrics"]), "report/columns.py: METRICS"
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    named = set(re.findall(r"`([a-z_0-9]+)`", text))
    kinds = ("flows", "links", "background", "completion_times")
    told = {key for kind in kinds for entry in summary[kind] for key in entry} | set(summary["metrics"])
    assert told - named == set(), "docs: what a run returns"


if __name__ == "__main__":
    print("\n".join(f"{name} {digest}" for name, digest in plans().items()))
