"""Every key of a scenario reaches the core and has documentation; plans of known scenarios stay the same."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat import _core
from longfat.live.check import KERNELS_OWN
from longfat.report.columns import METRICS
from longfat.runs.plan import NEWER_PARAMETERS, build
from longfat.scenario import registry
from longfat.scenario.background import Bulk, Onoff, Short, Surge, Web
from longfat.scenario.bottleneck import Bottleneck
from longfat.scenario.flow import Flow, Sample
from longfat.scenario.model import Scenario
from longfat.scenario.named import TCP_OPTIONS, QueueSpec, RouterSpec
from longfat.scenario.override import override
from longfat.scenario.part import Part
from longfat.scenario.program import Program
from longfat.scenario.topology import Link, Node
from longfat.scenario.transport import Transport

ROOT = Path(__file__).parents[2]
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


TRANSPORT: dict[str, Any] = {
    "algorithm": "htcp",
    "mss": "1000 B",
    "initial_ssthresh": 50,
    "ssthresh_cache": True,
    "initial_window": 10,
    "max_window": 20,
    "max_burst": 3,
    "slow_start": "limited",
    "max_ssthresh": 50,
    "delayed_ack": False,
    "delayed_ack_timeout": "100 ms",
    "quick_acks": 2,
    "sack_compression": "1 ms",
    "byte_counting": False,
    "slow_start_limit": "infinite",
    "sack": False,
    "loss_detection": "tahoe",
    "recovery": "prr",
    "timeout_reductions": "each",
    "first_reduction": "half",
    "cwnd_moderation": True,
    "rtt_samples": "last",
    "host_tick": "1 ms",
    "interrupt_moderation": "125 us",
    "send_jitter": "0.1 ms",
    "rto_min": "1 s",
    "rto_min_of": "timeout",
    "rto_tick": "10 ms",
    "backoff_until": "new-segment",
    "initial_rto": "3 s",
    "timestamps": False,
    "ecn": True,
    "abe": True,
    "quick_start": "1 Mbit/s",
    "receiver": {"divide_acks": 4},
}
CONNECTIONS: dict[str, Any] = {"name": "x", "rtt": "30 ms", "direction": "both", "stop": "0.5 s"}
DISTURBANCES: dict[str, Any] = {
    "reorder": {"probability": 0.01, "delay": "10 ms"},
    "jitter": "2 ms",
    "duplicate": 0.01,
    "added_delay": {"handovers": {"period": "15 s", "range": "20 ms"}},
    "remark": "mark",
    "overtaking": True,
    "outages": [{"begin": "0.5 s", "length": "0.1 s"}],
}
TABLES: list[tuple[type[Part], str, dict[str, Any], dict[str, Any]]] = [
    (Scenario, "", DUMBBELL, {"duration": "2 s", "seed": 2, "window": ["0.1 s", "0.9 s"]}),
    (
        Bottleneck,
        "bottleneck.",
        DUMBBELL,
        {
            "rate": "20 Mbit/s",
            "buffer": "20 packets",
            "buffer_rtt": "80 ms",
            "queue": "codel",
            "router": "xcp",
            "loss": 0.01,
            "ack_loss": 0.01,
            "service_tick": "1 ms",
            **DISTURBANCES,
            "access_rate": "2 Gbit/s",
            "reverse_rate": "5 Mbit/s",
            "reverse_buffer": "20 packets",
            "reverse_queue": "codel",
        },
    ),
    (
        Link,
        "link.0.",
        NETWORK,
        {
            "name": "x",
            "rate": "20 Mbit/s",
            "delay": "6 ms",
            "buffer": "9 packets",
            "queue": "codel",
            "router": "xcp",
            "loss": 0.01,
            "ack_loss": 0.01,
            "service_tick": "1 ms",
            **DISTURBANCES,
            "layer": 2,
            "duplex": False,
        },
    ),
    (
        Flow,
        "flow.0.",
        DUMBBELL,
        {
            "name": "x",
            "rtt": "30 ms",
            "start": "0.5 s",
            "stop": "0.7 s",
            "bytes": "20 kB",
            "count": 3,
            "stagger": "0.1 s",
            "direction": "reverse",
            **TRANSPORT,
        },
    ),
    (
        Web,
        "background.0.",
        beside("web"),
        {"sessions": 3, "gap": "2 s", "page": "5 kB", "shape": 1.5, **CONNECTIONS},
    ),
    (
        Surge,
        "background.0.",
        beside("surge", users=2),
        {"users": 3, "largest": "5 MB", **CONNECTIONS},
    ),
    (
        Short,
        "background.0.",
        beside("short", gap="100 ms"),
        {
            "gap": "50 ms",
            "sizes": {"empirical": ["10 kB", "20 kB"]},
            "body_mu": 9.0,
            "body_sigma": 1.0,
            "tail_share": 0.1,
            "tail_least": "200 kB",
            "tail_shape": 1.2,
            "largest": "5 MB",
            **CONNECTIONS,
        },
    ),
    (Bulk, "background.0.", beside("bulk", flows=2), {"flows": 3, "start": "0.1 s", **CONNECTIONS}),
    (Onoff, "background.0.", beside("onoff", sources=2), {"sources": 3, "start": "0.1 s", **CONNECTIONS}),
    (Transport, "background.0.", beside("bulk", flows=2), TRANSPORT),
    (Sample, "sample.", DUMBBELL, {"cwnd": "50 ms", "queue": "50 ms", "events": True, "internals": True}),
]
APART = {
    "title": "it changes no result",
    "kind": "each kind is a table of its own here",
    "rtt": "of programs, which are not in plans, see test_live_shell.py",
    "load": "it becomes another key, see test_background.py and test_surge.py",
    **dict.fromkeys(("from", "to"), "see test_topology.py"),
    **dict.fromkeys(("bottleneck", "node", "link", "flow", "background", "sample"), "a table of its own"),
    "program": "only live runs have programs, see test_live_shell.py",
}


def keys(model: type[Part]) -> set[str]:
    """The keys of a table, of a background without those of the transport, which it shares with flows."""
    shared = (
        set(Transport.model_fields) if model.__name__ in ("Web", "Surge", "Short", "Bulk", "Onoff") else set()
    )
    return {key.alias for name, key in model.model_fields.items() if name not in shared}


@pytest.mark.parametrize(("model", "values"), [(t[0], t[3]) for t in TABLES], ids=lambda item: str(item)[:40])
def test_every_key_has_a_value_to_try(model: type[Part], values: dict[str, Any]) -> None:
    missing = keys(model) - set(values) - set(APART)
    assert missing == set(), f"add a value that is not the default to TABLES, table {model.__name__}"


def tries() -> Iterator[Any]:
    for _, prefix, base, values in TABLES:
        for key, value in values.items():
            yield pytest.param(base, prefix + key, value, id=f"{prefix}{key}")


@pytest.mark.parametrize(("base", "key", "value"), list(tries()))
def test_every_key_reaches_the_plan_and_the_core_reads_it(base: dict[str, Any], key: str, value: Any) -> None:
    data = copy.deepcopy(base)
    override(data, key, value, "x.toml")
    plan = build(Scenario.from_dict(data))
    assert plan != build(Scenario.from_dict(base)), f"runs/plan.py does not copy {key}"
    _core.simulate(json.dumps(plan), {})


def test_every_transport_key_says_what_udp_and_the_kernel_do_with_it() -> None:
    keys = set(Transport.model_fields)
    over_udp = {"algorithm", "mss", "host_tick", "interrupt_moderation", "rto_min"}
    assert keys - TCP_OPTIONS == over_udp, "scenario/named.py: TCP_OPTIONS"
    set_in_the_kernel = {"algorithm", "mss", "initial_window", "sack", "recovery", "rtt_samples", "ecn"}
    set_in_the_kernel |= {"loss_detection"}
    set_in_the_kernel |= {"max_window"}
    refused_with_a_line_of_its_own = {"quick_start"}
    assert keys - set(KERNELS_OWN) == set_in_the_kernel | refused_with_a_line_of_its_own, (
        "live/check.py: KERNELS_OWN"
    )


def test_every_key_has_a_row_in_the_documentation() -> None:
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    documented = {
        name
        for row in re.findall(r"^\|([^|]*)\|", text, re.MULTILINE)
        for name in re.findall(r"`([a-z_]+)`", row)
    }
    tables = {key for model, *_ in TABLES for key in keys(model)} | set(Transport.model_fields)
    tables |= keys(Program)
    in_sections = {"node", "link", "bottleneck", "flow", "background", "program", "sample", "origin"}
    assert tables - documented - in_sections == set()
    assert keys(Node) == {"name"}


def plans() -> dict[str, str]:
    """The digest of the plan of each scenario in scenarios/."""
    return {
        path.name: hashlib.sha256(json.dumps(build(Scenario.load(path)), sort_keys=True).encode()).hexdigest()
        for path in sorted((ROOT / "scenarios").glob("*.toml"))
    }


def test_plans_stay_what_they_are_so_that_stored_runs_are_found() -> None:
    kept = dict(line.split() for line in PLANS.read_text().splitlines())
    assert plans() == kept, (
        "a stored run is found by its plan: leave a new key out of the plan where it has its default "
        "(runs/plan.py); a new scenario gets a line in plans.txt"
    )


def written(word: Any) -> Any:
    """Returns a parameter's value as a scenario has it: flags are true or false."""
    return {"true": True, "false": False}.get(word, word)


def test_plans_leave_newer_parameters_out_at_the_registry_s_defaults_and_nowhere_else() -> None:
    for kind, newer in NEWER_PARAMETERS.items():
        table = "router" if kind in registry.all_names("routers") else "queue"
        filled = (RouterSpec if table == "router" else QueueSpec)(kind).filled().parameters
        usual = {name: written(filled[name]) for name in newer}
        rows = registry.find("routers" if table == "router" else "queues", kind)["parameters"]
        others = {row["name"]: row["choices"] or [] for row in rows if row["name"] in newer}
        given = (usual, {n: written(next(c for c in others[n] if c != filled[n])) for n in newer})
        planned = [
            build(Scenario.from_dict(DUMBBELL | {"bottleneck": DUMBBELL["bottleneck"] | {table: element}}))
            for element in (kind, *({"kind": kind, **switches} for switches in given))
        ]
        found = [plan["links"][0][table] for plan in planned]
        assert found[0] == found[1]
        assert found[2] == found[0] | {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in given[1].items()
        }


def test_every_key_of_a_summary_has_a_heading_or_a_place_in_the_documentation() -> None:
    data = beside("web") | {"sample": {"events": True}}
    summary = longfat.run(data).summary
    assert list(METRICS) == list(summary["metrics"]), "report/columns.py: METRICS"
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    named = set(re.findall(r"`([a-z_0-9]+)`", text))
    kinds = ("flows", "links", "background", "completion_times")
    told = {key for kind in kinds for entry in summary[kind] for key in entry} | set(summary["metrics"])
    assert told - named == set(), "docs: what a run returns"
