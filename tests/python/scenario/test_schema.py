"""The JSON Schemas of scenario and sweep files accept what `longfat run` accepts, and refuse bad forms."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

import mutations
from longfat import _core
from longfat.cli.app import app
from longfat.errors import InputError
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.scenario.schema import scenario_schema
from longfat.sweep import file
from longfat.sweep.schema import sweep_schema
from samples import table, with_key

ROOT = Path(__file__).parents[3]
FILES = sorted(
    path for folder in ("scenarios", "examples", "sweeps") for path in (ROOT / folder).glob("*.toml")
)
SCENARIO = jsonschema.Draft202012Validator(scenario_schema())
SWEEP = jsonschema.Draft202012Validator(sweep_schema())


def is_sweep(path: Path) -> bool:
    return "base" in tomllib.loads(path.read_text())


def test_the_schemas_are_schemas() -> None:
    for validator in (SCENARIO, SWEEP):
        validator.check_schema(validator.schema)


@pytest.mark.parametrize(("options", "name"), [([], "scenario"), (["--sweep"], "sweep")])
def test_the_stored_schema_is_what_the_command_prints(options: list[str], name: str) -> None:
    printed = CliRunner().invoke(app, ["schema", *options])
    stored = (ROOT / "schemas" / f"{name}.json").read_text()
    assert printed.exit_code == 0
    assert printed.stdout == stored, "make generated"


def test_the_constructors_are_those_of_the_definition() -> None:
    stored = (ROOT / "python" / "longfat" / "scenario" / "tables.py").read_text()
    assert _core.definition("constructors") == stored, "make generated"


def test_the_schema_and_the_reader_agree_about_mutated_files() -> None:
    told = [line for number in range(150) if (line := mutations.compared(number)[1])]
    assert told == [], "python tests/python/mutations.py 2000 tries more of them"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_schema_accepts_every_file_and_the_file_names_it(path: Path) -> None:
    name = "sweep" if is_sweep(path) else "scenario"
    validator = SWEEP if is_sweep(path) else SCENARIO
    assert [error.message for error in validator.iter_errors(tomllib.loads(path.read_text()))] == []
    assert path.read_text().splitlines()[0] == f"#:schema ../schemas/{name}.json"


@pytest.mark.parametrize("path", [path for path in FILES if not is_sweep(path)], ids=lambda path: path.name)
def test_the_schema_accepts_a_scenario_with_every_default_written_out(path: Path) -> None:
    filled = tomllib.loads(Scenario.load(path).filled().to_toml())
    assert [error.message for error in SCENARIO.iter_errors(filled)] == []


FORMS: list[tuple[str, Any]] = [
    ("duration", 60),
    ("duration", "60"),
    ("duration", "60 Mbit/s"),
    ("duration", "-60 s"),
    ("title", 3),
    ("seed", "1"),
    ("seed", -1),
    ("window", ["1 s"]),
    ("window", ["-1 s", "5 s"]),
    ("colour", "red"),
    ("bottleneck.rate", "10 Mbps"),
    ("bottleneck.rate", {"sine": {"max": "1 Gbit/s"}}),
    ("bottleneck.rate", {"steps": [["0 s", "5"]]}),
    ("bottleneck.buffer", 50),
    ("bottleneck.buffer", "50 pkts"),
    ("bottleneck.buffer", "-50 packets"),
    ("bottleneck.buffers", "50 packets"),
    ("bottleneck.queue", "rde"),
    ("bottleneck.queue", {"kind": "red", "min": "25 KiB"}),
    ("bottleneck.queue", {"kind": "red", "minimum": 25}),
    ("bottleneck.queue", {"kind": "red", "ecn": "yes"}),
    ("bottleneck.queue", {"kind": "codel", "target": 5}),
    ("bottleneck.queue", {"kind": "codel", "target": "-5 ms"}),
    ("bottleneck.queue", {"kind": "red", "min": "-5 packets"}),
    ("bottleneck.queue", {"kind": "droptail", "ecn": True}),
    ("bottleneck.queue", {"min": 25}),
    ("bottleneck.router", "xpc"),
    ("bottleneck.loss", 2.0),
    ("bottleneck.loss", True),
    ("bottleneck.loss", "-1 %"),
    ("bottleneck.loss", {"every": 1}),
    ("bottleneck.loss", {"gilbert_elliott": {"good_to_bad": 0.1}}),
    ("bottleneck.reverse_rate", {"trace": "x"}),
    ("flow.0.algorithm", "hstpc"),
    ("flow.0.algorithm", {"name": "hstcp", "low_widow": 31}),
    ("flow.0.algorithm", {"name": "htcp", "delta_l": 1}),
    ("flow.0.algorithm", {"name": "cubic", "beta": 2}),
    ("flow.0.algorithm", {"name": "cubic", "fast_convergence": "maybe"}),
    ("flow.0.algorithm", {"low_window": 31}),
    ("flow.0.variant", "freebsd"),
    ("flow.0.rtt", 42),
    ("flow.0.rtt", "-42 ms"),
    ("flow.0.rtt", {"uniform": ["1 ms"]}),
    ("flow.0.rtt", {"normal": "1 ms"}),
    ("flow.0.rtt", {"exponential": "1 ms", "most": "2 ms"}),
    ("flow.0.start", "-1 s"),
    ("flow.0.start", {"uniform": ["-1 s", "2 s"]}),
    ("flow.0.start", {"empirical": []}),
    ("flow.0.start", {"empirical": [["-1 s", 2]]}),
    ("flow.0.stop", "-1 s"),
    ("flow.0.stagger", "-1 s"),
    ("flow.0.host_tick", "-1 ms"),
    ("flow.0.rto_min", "-1 s"),
    ("flow.0.mss", 1448),
    ("flow.0.bytes", "10 Mbit"),
    ("flow.0.count", 0),
    ("flow.0.count", "3 pkts"),
    ("flow.0.name", ""),
    ("flow.0.initial_window", 0.5),
    ("flow.0.initial_window", "3 pkts"),
    ("flow.0.initial_window", "infinite"),
    ("flow.0.slow_start", "quick"),
    ("flow.0.delayed_ack", 1),
    ("flow.0.direction", "both"),
    ("flow.0.quick_start", "10"),
    ("flow.0", {"algorithm": "reno", "wrong": 1}),
    ("background", [{"kind": "webb"}]),
    ("background", [{"sessions": 3}]),
    ("background", [{"kind": "web", "users": 3}]),
    ("background", [{"kind": "surge", "load": 3}]),
    ("background", [{"kind": "surge", "load": "3 ms"}]),
    ("background", [{"kind": "short", "gap": "1 s", "sizes": {"uniform": ["1 B", "2 B"]}}]),
    ("background", [{"kind": "short", "load": "-20 %"}]),
    ("background", [{"kind": "bulk"}]),
    ("background", {"kind": "web"}),
    ("sample.cwnd", 1),
    ("sample.events", "always"),
    ("sample.internals", "always"),
    ("sample.period", "1 s"),
    ("flow", 3),
    ("flow", []),
    ("link", [{"from": "A", "to": "B", "rate": "1 Mbit/s"}]),
]


@pytest.mark.parametrize(("key", "value"), FORMS, ids=lambda item: str(item))
def test_run_and_schema_refuse_the_same_bad_forms(key: str, value: Any) -> None:
    assert SCENARIO.is_valid(table())
    data = with_key(table(), key, value)
    with pytest.raises(InputError):
        Scenario.from_dict(data)
    assert not SCENARIO.is_valid(data)


DUMBBELL: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "10 Mbit/s"},
    "flow": [{"rtt": "20 ms"}],
    "background": [{"kind": "web"}],
}
NETWORK: dict[str, Any] = {
    "duration": "1 s",
    "link": [{"from": "A", "to": "B", "rate": "10 Mbit/s", "delay": "5 ms"}],
    "flow": [{"from": "A", "to": "B"}],
    "background": [{"kind": "web", "from": "A", "to": "B"}],
}
ENDS = {"from": "A", "to": "B"}


@pytest.mark.parametrize(
    ("good", "change"),
    [
        (DUMBBELL, {"flow": [{}]}),
        (DUMBBELL, {"flow": [{"rtt": "20 ms"}, {"algorithm": "reno"}]}),
        (DUMBBELL, {"flow": [ENDS]}),
        (DUMBBELL, {"flow": [{"rtt": "20 ms", "from": "A"}]}),
        (DUMBBELL, {"flow": [{"rtt": "20 ms", "to": "B"}]}),
        (DUMBBELL, {"flow": []}),
        (DUMBBELL, {"background": [{"kind": "web", **ENDS}]}),
        (DUMBBELL, {"node": [{"name": "A"}]}),
        (NETWORK, {"flow": [{}]}),
        (NETWORK, {"flow": [{"from": "A"}]}),
        (NETWORK, {"flow": [{"to": "B"}]}),
        (NETWORK, {"flow": [ENDS, {"rtt": "20 ms"}]}),
        (NETWORK, {"flow": [ENDS | {"rtt": "20 ms"}]}),
        (NETWORK, {"background": [{"kind": "web"}]}),
        (NETWORK, {"background": [{"kind": "web", "from": "A"}]}),
        (NETWORK, {"background": [{"kind": "web", "rtt": "20 ms", **ENDS}]}),
        (NETWORK, {"bottleneck": {"rate": "10 Mbit/s"}}),
        (NETWORK, {"link": [NETWORK["link"][0] | {"delay": "-1 ms"}]}),
    ],
    ids=lambda item: "network" if item is NETWORK else "dumbbell" if item is DUMBBELL else str(item),
)
def test_run_and_schema_refuse_what_does_not_go_with_the_network(
    good: dict[str, Any], change: dict[str, Any]
) -> None:
    Scenario.from_dict(good)
    assert SCENARIO.is_valid(good)
    with pytest.raises(InputError):
        Scenario.from_dict(good | change)
    assert not SCENARIO.is_valid(good | change)


@pytest.mark.parametrize(
    "data",
    [
        DUMBBELL | {"node": [], "link": []},
        DUMBBELL | {"flow": [], "background": [{"kind": "web", "rtt": "20 ms"}]},
        NETWORK | {"flow": []},
        NETWORK | {"node": [{"name": "A"}, {"name": "C"}]},
    ],
    ids=str,
)
def test_run_and_schema_accept_what_goes_with_the_network(data: dict[str, Any]) -> None:
    Scenario.from_dict(data)
    assert [error.message for error in SCENARIO.iter_errors(data)] == []


@pytest.mark.parametrize("missing", ["duration", "bottleneck", "flow"])
def test_a_scenario_without_what_it_needs_is_refused(missing: str) -> None:
    data = {key: value for key, value in table().items() if key != missing}
    with pytest.raises(InputError):
        Scenario.from_dict(data)
    assert not SCENARIO.is_valid(data)


def examples() -> list[tuple[str, Any]]:
    """For each parameter of each row its default, and each other word, as a file has them."""
    places: dict[registry.Kind, str] = {
        "algorithms": "flow.0.algorithm",
        "queues": "bottleneck.queue",
        "routers": "bottleneck.router",
    }
    return [
        (key, {"name": row["name"], parameter["name"]: value})
        for kind, key in places.items()
        for row in registry.rows(kind)
        for parameter in row["parameters"]
        for value in (parameter["words"] or [parameter["written"]])
    ]


@pytest.mark.parametrize(("key", "value"), examples(), ids=lambda item: str(item))
def test_the_schema_accepts_every_parameter_as_it_is_written(key: str, value: Any) -> None:
    data = with_key(table(), key, value)
    assert [error.message for error in SCENARIO.iter_errors(data)] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("bottleneck.loss", "0.1 %"),
        ("bottleneck.loss", {"every": "1000 packets"}),
        ("bottleneck.queue", {"name": "red", "min": "auto", "ecn": True}),
        ("bottleneck.queue", {"kind": "pie", "ecn_threshold": 0.2}),
        ("flow.0.algorithm", {"kind": "hstcp", "low_window": "31 segments"}),
        ("flow.0.variant", "paper"),
        ("flow.0.initial_window", "10 segments"),
        ("flow.0.max_window", "infinite"),
        ("flow.0.count", "2 flows"),
        ("flow.0.start", {"empirical": ["1 s", ["2 s", 3]]}),
        ("background", [{"kind": "web", "sessions": "20 sessions"}]),
        ("background", [{"kind": "short", "load": "20 %", "tail_share": "7 %"}]),
    ],
)
def test_run_and_schema_accept_the_same_forms(key: str, value: Any) -> None:
    data = with_key(table(), "flow.0.algorithm", "htcp") if key == "flow.0.variant" else table()
    data = with_key(data, key, value)
    Scenario.from_dict(data)
    assert [error.message for error in SCENARIO.iter_errors(data)] == []


@pytest.mark.parametrize(
    "change",
    [
        {"axes": {"flow.0.rtt": "1 ms"}},
        {"axes": {"flow.0.rtt": []}},
        {"axes": {"flow.0.rtt": {"from": "1 ms", "to": "2 ms"}}},
        {"axes": {"flow.0.rtt": {"from": "1 ms", "to": "2 ms", "points": 1}}},
        {"axes": {"flow.0.rtt": {"from": "1 ms", "to": "2 ms", "points": 3, "spacing": "even"}}},
        {"axes": {}},
        {"zip": {}},
        {"zip": [{}]},
        {"base": 3},
        {"base": ""},
        {"repeats": 0},
        {"repeats": "3"},
        {"keep": "all"},
        {"title": 3},
        {"axis": {}},
        {"figure": [{"kind": "pie"}]},
        {"figure": [{"kind": "lines", "x": "flow.0.rtt", "y": "jain", "colour": "jain"}]},
        {"figure": [{"kind": "heat", "x": "flow.0.rtt", "y": "flow.1.rtt"}]},
        {"figure": [{"kind": "lines", "x": "flow.0.rtt"}]},
        {"figure": [{"kind": "lines", "x": "flow.0.rtt", "y": "jain", "y_scale": "ln"}]},
    ],
    ids=str,
)
def test_sweep_and_schema_refuse_the_same_bad_forms(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"base": table(), "axes": {"flow.0.rtt": ["1 ms", "2 ms"]}}
    assert SWEEP.is_valid(good)
    with pytest.raises(InputError):
        file.from_dict(good | change)
    assert not SWEEP.is_valid(good | change)


def resolved(schema: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """A part of the schema, or what its reference leads to."""
    place = one.get("$ref", "").removeprefix("#/").split("/")
    found: dict[str, Any] = schema
    for word in place if place != [""] else ():
        found = found[word]
    return one if place == [""] else resolved(schema, found)


def test_every_key_has_a_description() -> None:
    schema = scenario_schema()
    names = ("Bottleneck", "Flow", "Link", "Node", "Sample", "Web", "Surge", "Short", "Bulk", "Onoff")
    tables = {name: schema["$defs"][name]["properties"] for name in names} | {"": schema["properties"]}
    bare = [
        f"{name}.{key}"
        for name, keys in tables.items()
        for key, one in keys.items()
        if not resolved(schema, one).get("description", "").endswith(".")
    ]
    assert bare == [], "keys without documentation (crates/scenario/src/tables)"
    mss = resolved(schema, tables["Flow"]["mss"])["description"]
    assert mss.startswith("Payload of a full segment")


def test_units_are_patterns() -> None:
    pattern = scenario_schema()["properties"]["duration"]["pattern"]
    assert re.match(pattern, "1.5 min")
    assert not re.match(pattern, "1.5 Mbit/s")
