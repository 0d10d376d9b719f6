"""Stacks: what the presets become, which keys win, what is refused, and that every value has a source."""

from __future__ import annotations

import copy
import importlib.util
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_keys import DUMBBELL, beside

import longfat
from longfat import _core, sweep
from longfat.cli.app import app
from longfat.errors import InputError
from longfat.live.check import check
from longfat.scenario import registry, stacks
from longfat.scenario.model import Scenario

TCP = [row["name"] for row in registry.rows("algorithms") if row.get("transport", "tcp") == "tcp"]
UDP = [row["name"] for row in registry.rows("algorithms") if row.get("transport", "tcp") != "tcp"]
ACCEPTED = {*_core.connection_keys(), "variant"} - {"from", "to"}


ROOT = Path(__file__).parents[3]


def docs_tables() -> Any:
    """The module `docs/tables.py`."""
    specification = importlib.util.spec_from_file_location("docs_tables", ROOT / "docs" / "tables.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def flow(**keys: Any) -> dict[str, Any]:
    """The dumbbell with a flow that has these keys too."""
    return DUMBBELL | {"flow": [{"rtt": "20 ms", **keys}]}


def keys_of(name: str, algorithm: str) -> dict[str, Any]:
    """The keys and values that a stack gives to a flow with this algorithm."""
    (stack,) = (stack for stack in stacks.STACKS if stack["name"] == name)
    found = {one["key"]: one["algorithms"].get(algorithm, one["value"]) for one in stack["keys"]}
    return {key: value for key, value in found.items() if value is not None}


def as_written(algorithm: str, name: str) -> dict[str, Any]:
    """The keys of a stack written out."""
    return {"algorithm": algorithm, **keys_of(name, algorithm)}


@pytest.mark.parametrize("name", stacks.NAMES)
@pytest.mark.parametrize("algorithm", ["cubic", "newreno", "tahoe", "xcp"])
def test_a_stack_is_its_keys_written_out(name: str, algorithm: str) -> None:
    short = Scenario.from_dict(flow(algorithm=algorithm, stack=name))
    written = Scenario.from_dict(flow(**as_written(algorithm, name)))
    assert short.plan == written.plan
    assert short.to_toml() == written.to_toml()


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_background_has_a_stack_too(name: str) -> None:
    data = beside("bulk", flows=2)
    (part,) = data["background"]
    short = DUMBBELL | {"background": [part | {"algorithm": "cubic", "stack": name}]}
    written = DUMBBELL | {"background": [part | as_written("cubic", name)]}
    assert Scenario.from_dict(short).plan == Scenario.from_dict(written).plan


def test_rfc_is_what_a_scenario_without_a_stack_has() -> None:
    for algorithm in TCP:
        plain, named = (
            Scenario.from_dict(flow(algorithm=algorithm, **keys)) for keys in ({}, {"stack": "rfc"})
        )
        assert json.dumps(plain.plan) == json.dumps(named.plan)


def test_a_key_that_is_written_out_wins() -> None:
    kept = Scenario.from_dict(flow(stack="linux", initial_window=4, recovery="rate-halving")).flow[0]
    assert (kept.initial_window, kept.recovery, kept.rtt_samples) == (4.0, "rate-halving", "last")


@pytest.mark.parametrize(
    "algorithm",
    [{"name": "cubic", "variant": "2005"}, {"kind": "cubic", "variant": "2005"}],
)
def test_a_parameter_that_is_written_out_wins(algorithm: dict[str, str]) -> None:
    kept = Scenario.from_dict(flow(stack="linux", algorithm=algorithm)).flow[0]
    assert kept.algorithm.parameters["variant"] == "2005"
    short = Scenario.from_dict(flow(stack="linux", algorithm="cubic", variant="2005")).flow[0]
    assert short.algorithm == kept.algorithm


def test_aliases_have_the_keys_of_their_algorithm() -> None:
    alias = next(row["aliases"][0] for row in registry.rows("algorithms") if row["name"] == "reno")
    named = (Scenario.from_dict(flow(stack="linux", algorithm=name)) for name in (alias, "reno"))
    assert len({json.dumps(one.plan) for one in named}) == 1


def test_a_user_s_own_algorithm_takes_a_stack() -> None:
    class Own:
        def on_ack(self, *_: Any) -> None: ...

        def on_congestion(self, *_: Any) -> None: ...

    assert Scenario.from_dict(flow(stack="linux", algorithm=Own)).flow[0].rtt_samples == "last"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("linx", 'flow.0.stack = "linx": there is no such choice, did you mean "linux"?; accepted: "rfc"'),
        ("Windows", 'flow.0.stack = "Windows": there is no such choice; accepted: "rfc"'),
        (3, "flow.0.stack = 3: there is no such choice; accepted:"),
    ],
)
def test_an_unknown_stack_is_refused_with_the_nearest_name(name: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        Scenario.from_dict(flow(stack=name))
    (line,) = refused.value.lines()
    assert says in line


@pytest.mark.parametrize("algorithm", UDP)
@pytest.mark.parametrize("name", ["rfc", "linux"])
def test_a_stack_on_a_flow_over_udp_is_refused_in_one_line(algorithm: str, name: str) -> None:
    with pytest.raises(InputError) as refused:
        Scenario.from_dict(flow(stack=name, algorithm=algorithm))
    (line,) = refused.value.lines()
    assert f'stack = "{name}": it does not go with "{algorithm}", which is not TCP' in line


def test_a_background_of_on_off_sources_takes_no_stack() -> None:
    with pytest.raises(InputError, match='stack = "linux": it does not go with "onoff"'):
        Scenario.from_dict(beside("onoff", sources=2, stack="linux"))


def test_a_wrong_algorithm_beside_a_stack_is_refused_for_itself() -> None:
    with pytest.raises(InputError) as refused:
        Scenario.from_dict(flow(stack="linux", algorithm="cubik"))
    assert [line for line in refused.value.lines() if "stack" not in line and '"cubic"' in line]


def test_set_takes_a_stack() -> None:
    text = 'duration = "1 s"\nbottleneck = { rate = "10 Mbit/s" }\nflow = [{ rtt = "20 ms" }]\n'
    changed = Scenario.from_toml(text, overrides={"flow.0.stack": "linux"})
    assert changed.flow[0] == Scenario.from_dict(flow(stack="linux")).flow[0]


def test_stacks_are_an_axis_of_a_sweep() -> None:
    base = flow(algorithm="cubic", initial_window=4)
    asked = sweep.from_dict({"base": base, "axes": {"flow.0.stack": list(stacks.NAMES)}})
    planned = [asked.scenario(point).plan for point in asked.points()]
    assert planned == [
        Scenario.from_dict(flow(algorithm="cubic", initial_window=4, stack=name)).plan
        for name in stacks.NAMES
    ]
    assert len({json.dumps(one) for one in planned}) == len(stacks.NAMES)
    assert {one["flows"][0]["transport"]["initial_window"] for one in planned} == {4.0}


def test_another_stack_of_a_scenario_sets_all_of_its_keys() -> None:
    plain = Scenario.from_dict(flow(algorithm="reno"))
    linux = plain.with_values({"flow.0.stack": "linux"})
    assert linux == Scenario.from_dict(flow(algorithm="reno", stack="linux"))
    assert linux.with_values({"flow.0.stack": "rfc"}) == plain
    both = plain.with_values({"flow.0.initial_window": 4, "flow.0.stack": "linux"}).flow[0]
    assert (both.initial_window, both.rtt_samples) == (4.0, "last")


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_stored_scenario_has_the_keys_and_not_the_name(name: str) -> None:
    full = Scenario.from_dict(flow(algorithm="cubic", stack=name)).filled()
    table = tomllib.loads(full.to_toml())["flow"][0]
    assert "stack" not in table
    assert set(keys_of(name, "cubic")) <= {*table, "variant"}
    assert Scenario.from_toml(full.to_toml()).plan == full.plan


@pytest.mark.parametrize("stack", stacks.STACKS, ids=lambda stack: stack["name"])
def test_every_value_of_a_stack_has_a_source(stack: stacks.Stack) -> None:
    assert all((stack["name"], stack["title"], stack["era"], stack["summary"]))
    assert all(setting["source"].strip() for setting in stack["keys"])
    assert all(line.strip().endswith(".") for line in stack["unknown"])
    keys = [setting["key"] for setting in stack["keys"]]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= ACCEPTED
    assert {name for setting in stack["keys"] for name in setting["algorithms"]} <= set(TCP)


@pytest.mark.parametrize("stack", stacks.STACKS[1:], ids=lambda stack: stack["name"])
def test_a_stack_holds_what_differs_from_the_defaults(stack: stacks.Stack) -> None:
    plain = Scenario.from_dict(flow()).flow[0]
    for setting in stack["keys"]:
        key = setting["key"]
        if setting["value"] is not None:
            given = Scenario.from_dict(flow(**{key: setting["value"]})).flow[0]
            assert getattr(given, key) != getattr(plain, key), key


def test_ns_2_halves_at_first_in_its_own_agents_and_not_in_the_modules_of_linux() -> None:
    found = {
        name: Scenario.from_dict(flow(algorithm=name, stack="ns-2")).flow[0]
        for name in ("newreno", "hstcp", "xcp", "cubic", "vegas")
    }
    assert {name: part.first_reduction for name, part in found.items()} == {
        "newreno": "half",
        "hstcp": "half",
        "xcp": "half",
        "cubic": "own",
        "vegas": "own",
    }
    assert {part.timeout_reductions for part in found.values()} == {"each"}
    assert {part.backoff_until for part in found.values()} == {"new-segment"}


@pytest.mark.parametrize("name", stacks.NAMES)
@pytest.mark.parametrize("algorithm", TCP)
def test_every_tcp_algorithm_runs_on_every_stack(name: str, algorithm: str) -> None:
    data = copy.deepcopy(flow(algorithm=algorithm, stack=name))
    data["bottleneck"] = {"rate": "10 Mbit/s", "buffer": "20 packets", "loss": 0.005}
    (sent,) = longfat.run(data).summary["flows"]
    assert sent["throughput_bps"] > 0.0


def test_a_scenario_can_be_read_with_a_stack_for_what_names_none() -> None:
    data = flow() | {"flow": [*flow()["flow"], {"rtt": "20 ms", "stack": "rfc"}]}
    data["flow"].append({"rtt": "20 ms", "algorithm": "udt"})
    data["background"] = [{"kind": "onoff", "sources": 2}, {"kind": "bulk", "flows": 2}]
    read = Scenario.from_dict(data, stack="linux")
    assert [part.rtt_samples for part in read.flow] == ["last", "echoed", "echoed"]
    assert [part.rtt_samples for part in read.background] == ["echoed", "last"]


def test_the_hosts_of_a_scenario_have_the_name_of_the_nearest_stack() -> None:
    data = flow(algorithm="cubic") | {"background": [{"kind": "onoff", "sources": 2}]}
    assert stacks.hosts(Scenario.from_dict(data, stack="linux")) == {"flow.0": "linux"}
    assert stacks.hosts(Scenario.from_dict(data)) == {"flow.0": "rfc"}
    changed = Scenario.from_dict(flow(algorithm="cubic", initial_window=4), stack="linux")
    assert stacks.hosts(changed) == {"flow.0": "linux, except initial_window"}


def test_the_hosts_are_named_once_if_all_are_the_same_and_else_by_flow() -> None:
    assert stacks.in_words({}) == []
    assert stacks.in_words({"flow.0": "linux", "flow.1": "linux"}) == ["stack linux"]
    mixed = {"flow.0": "linux", **{f"flow.{i}": "rfc" for i in range(1, 6)}}
    said = ["stack linux of flow.0", "stack rfc of flow.1, flow.2, flow.3 and 2 more"]
    assert stacks.in_words(mixed) == said


def test_live_runs_take_what_the_kernel_decides_as_it_is_on_linux_and_refuse_other_values() -> None:
    for algorithm in ("cubic", "reno-classic", "reno"):
        check(Scenario.from_dict(flow(algorithm=algorithm, stack="linux")))
    with pytest.raises(InputError, match="slow_start_limit: the kernel decides this itself"):
        check(Scenario.from_dict(flow(algorithm="cubic", stack="linux", slow_start_limit=1)))
    check(Scenario.from_dict(flow(algorithm="cubic", sack_compression="1 ms")))  # what the kernel has
    with pytest.raises(InputError, match='accepted with --backend live: "1 ms", or leave'):
        check(Scenario.from_dict(flow(algorithm="cubic", sack_compression="2 ms")))
    with pytest.raises(InputError, match='leave out this key, and any stack but "linux"'):
        check(Scenario.from_dict(flow(algorithm="cubic", stack="ns-2")))


def test_the_pages_of_the_stacks_have_every_value() -> None:
    made = docs_tables()
    for stack in stacks.STACKS:
        name = stack["name"]
        table = made.TEXTS[f"stack-{name}"]()
        assert all(f"| `{one['key']}` |" in table and one["source"] in table for one in stack["keys"])
        assert all(line in " ".join(table.split()) for line in stack["unknown"])
        page = (ROOT / "docs" / "stacks" / f"{name}.md").read_text(encoding="utf-8")
        assert f"<!-- generated: stack-{name} -->" in page
        assert f"[`{name}`]({name}.md)" in made.stacks()


def test_the_list_of_stacks_is_json_with_the_documented_keys() -> None:
    printed = CliRunner().invoke(app, ["list", "stacks", "--json"])
    listed = json.loads(printed.output)
    assert printed.exit_code == 0
    assert [stack["name"] for stack in listed] == list(stacks.NAMES)
    for stack in listed:
        assert set(stack) == {"name", "title", "era", "summary", "keys", "unknown"}
        for key in stack["keys"]:
            assert set(key) == {"key", "value", "source", "algorithms"}
    linux = next(stack for stack in listed if stack["name"] == "linux")
    assert {key["key"]: key["value"] for key in linux["keys"]}["initial_window"] == 10


def test_the_list_of_stacks_has_every_key() -> None:
    printed = CliRunner().invoke(app, ["list", "stacks"])
    assert printed.exit_code == 0
    for stack in stacks.STACKS:
        assert stack["title"] in printed.output
        assert all(setting["key"] in printed.output for setting in stack["keys"])
