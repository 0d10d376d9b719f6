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
TABLES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("Scenario", "", DUMBBELL, {"duration": "2 s", "seed": 2, "window": ["0.1 s", "0.9 s"]}),
    (
        "Bottleneck",
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
        "Link",
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
        "Flow",
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
        "Web",
        "background.0.",
        beside("web"),
        {"sessions": 3, "gap": "2 s", "page": "5 kB", "shape": 1.5, **CONNECTIONS},
    ),
    (
        "Surge",
        "background.0.",
        beside("surge", users=2),
        {"users": 3, "largest": "5 MB", **CONNECTIONS},
    ),
    (
        "Short",
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
    ("Bulk", "background.0.", beside("bulk", flows=2), {"flows": 3, "start": "0.1 s", **CONNECTIONS}),
    ("Onoff", "background.0.", beside("onoff", sources=2), {"sources": 3, "start": "0.1 s", **CONNECTIONS}),
    ("Transport", "background.0.", beside("bulk", flows=2), TRANSPORT),
    ("Sample", "sample.", DUMBBELL, {"cwnd": "50 ms", "queue": "50 ms", "events": True, "internals": True}),
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


SHORTHANDS = {"stack", "variant"}
"""Keys that stand for others, see test_stacks.py."""


def keys(table: str) -> set[str]:
    """The keys of a table, of a background without those of the transport, which it shares with flows."""
    schema = scenario_schema()
    found = schema if table == "Scenario" else schema["$defs"][table]
    shared = keys("Transport") if table in ("Web", "Surge", "Short", "Bulk", "Onoff") else set()
    return set(found["properties"]) - SHORTHANDS - shared


@pytest.mark.parametrize(("table", "values"), [(t[0], t[3]) for t in TABLES], ids=lambda item: str(item)[:40])
def test_every_key_has_a_value_to_try(table: str, values: dict[str, Any]) -> None:
    missing = keys(table) - set(values) - set(APART)
    assert missing == set(), f"add a value that is not the default to TABLES, table {table}"


def tries() -> Iterator[Any]:
    for _, prefix, base, values in TABLES:
        for key, value in values.items():
            yield pytest.param(base, prefix + key, value, id=f"{prefix}{key}")


@pytest.mark.parametrize(("base", "key", "value"), list(tries()))
def test_every_key_reaches_the_plan_and_the_core_reads_it(base: dict[str, Any], key: str, value: Any) -> None:
    changed = Scenario.from_dict(base, changes={key: value})
    assert changed.plan != Scenario.from_dict(base).plan, f"the plan does not have {key}"
    _core.simulate(changed.core, {})


def test_a_flow_over_udp_takes_the_keys_that_mean_something_there_and_no_others() -> None:
    base = DUMBBELL | {"flow": [{"rtt": "20 ms", "algorithm": "udt"}]}
    taken = set()
    for key, value in TRANSPORT.items():
        with contextlib.suppress(InputError):
            Scenario.from_dict(base, changes={f"flow.0.{key}": value} if key != "algorithm" else {})
            taken.add(key)
    assert taken == {"algorithm", "mss", "host_tick", "interrupt_moderation", "rto_min"}


def test_the_kernel_decides_every_transport_key_but_those_that_live_runs_set_or_refuse() -> None:
    others = TRANSPORT | {"sack_compression": "2 ms", "slow_start_limit": 1}  # not what the kernel has
    decided = {
        key
        for key, value in others.items()
        if key in Scenario.from_dict(DUMBBELL, changes={f"flow.0.{key}": value}).flow[0].decided_by_kernel
    }
    set_in_the_kernel = {"algorithm", "mss", "initial_window", "recovery", "rtt_samples", "ecn"}
    set_in_the_kernel |= {"loss_detection", "max_window"}
    refused_with_a_line_of_its_own = {"quick_start"}
    assert set(TRANSPORT) - decided == set_in_the_kernel | refused_with_a_line_of_its_own


def test_every_key_has_a_row_in_the_documentation() -> None:
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    documented = {
        name
        for row in re.findall(r"^\|([^|]*)\|", text, re.MULTILINE)
        for name in re.findall(r"`([a-z_]+)`", row)
    }
    tables = {key for table, *_ in TABLES for key in keys(table)} | keys("Program")
    in_sections = {"node", "link", "bottleneck", "flow", "background", "program", "sample", "origin"}
    assert tables - documented - in_sections == set()
    assert keys("Node") == {"name"}


def plans() -> dict[str, str]:
    """The digest of the plan of each scenario in scenarios/."""
    return {
        path.name: hashlib.sha256(json.dumps(Scenario.load(path).plan, sort_keys=True).encode()).hexdigest()
        for path in sorted((ROOT / "scenarios").glob("*.toml"))
    }


def test_plans_stay_what_they_are_so_that_stored_runs_are_found() -> None:
    kept = dict(line.split() for line in PLANS.read_text().splitlines())
    assert plans() == kept, (
        "a stored run is found by its plan: runs of earlier versions are not found any more; "
        "a new scenario gets a line in plans.txt"
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
