"""Numbers that no float has room for: each entry of the library refuses them as it refuses others."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longfat
from longfat.env import AURORA, Env
from longfat.env.paths import Drawing
from longfat.errors import InputError, ScenarioError
from longfat.scenario.model import Scenario
from samples import scenario

LARGE = (10**400, -(10**400))
WHOLE: dict[str, Any] = {
    "duration": "1 s",
    "seed": 1,
    "window": ["0 s", "1 s"],
    "bottleneck": {
        "rate": {"sine": {"max": "2 Mbit/s", "min": "1 Mbit/s", "period": "1 s"}},
        "buffer": "50 packets",
        "reverse_rate": "1 Mbit/s",
        "access_rate": "1 Gbit/s",
        "rtt": "10 ms",
        "buffer_rtt": "1 s",
        "loss": {"gilbert_elliott": {"good_to_bad": 0.1, "bad_to_good": 0.5}},
        "ack_loss": {"every": 100},
        "jitter": "1 ms",
        "duplicate": 0.1,
        "reorder": {"probability": 0.1, "delay": "1 ms"},
        "added_delay": {"steps": [["0 s", "1 ms"]]},
        "outages": [{"begin": "0.5 s", "length": "1 ms", "queue": "drains"}],
        "queue": {"kind": "red", "min": "25 packets", "max": "75 packets"},
        "router": {"kind": "xcp", "alpha": 0.4},
    },
    "flow": [
        {
            "rtt": {"exponential": "10 ms"},
            "algorithm": {"name": "cubic", "beta": 0.7},
            "start": {"uniform": ["0 s", "1 s"]},
            "stop": "1 s",
            "bytes": "1 MB",
            "mss": "1448 B",
            "count": 1,
            "initial_window": 10,
            "max_window": 100,
            "initial_ssthresh": 10,
            "rto_min": "200 ms",
        }
    ],
    "background": [
        {"kind": "web", "sessions": 3, "gap": "1 s", "rtt": "10 ms"},
        {"kind": "short", "load": "1 Mbit/s", "sizes": {"empirical": [["1 kB", 3]]}, "rtt": "10 ms"},
    ],
    "sample": {"cwnd": "0.1 s", "queue": "0.1 s"},
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from leaves(item, (*path, key))
    if path:
        yield path


def with_value(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    whole = copy.deepcopy(WHOLE)
    table: Any = whole
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    return whole


def test_every_value_of_a_scenario_is_refused_that_is_too_large_for_a_float() -> None:
    Scenario.from_dict(WHOLE)
    tried = 0
    for path in leaves(WHOLE):
        for number in LARGE:
            tried += 1
            with pytest.raises(ScenarioError) as refused:
                Scenario.from_dict(with_value(path, number))
            assert "\n" not in str(refused.value), path
    assert tried > 100


STEPS: dict[str, Callable[[longfat.Simulation, int], object]] = {
    "step": lambda simulation, number: simulation.step(number),
    "run_until": lambda simulation, number: simulation.run_until(number),
    "cwnd": lambda simulation, number: simulation.flows["1"].set(cwnd=number),
    "pacing_rate": lambda simulation, number: simulation.flows["1"].set(pacing_rate=number),
    "rate": lambda simulation, number: setattr(simulation.link("bottleneck"), "rate", number),
}


@pytest.mark.parametrize("number", LARGE, ids=["above", "below"])
@pytest.mark.parametrize("name", STEPS)
def test_a_simulation_refuses_them(name: str, number: int) -> None:
    simulation = longfat.Simulation(scenario())
    with pytest.raises(InputError, match="accepted: "):
        STEPS[name](simulation, number)
    assert simulation.now_s == 0.0


@pytest.mark.parametrize("number", LARGE, ids=["above", "below"])
def test_runs_and_changed_scenarios_refuse_them(number: int, tmp_path: Path) -> None:
    one: Any = scenario()
    asked: list[Callable[[], object]] = [
        lambda: longfat.run(one, seed=number),
        lambda: longfat.run(one, window=(number, number)),  # type: ignore[arg-type]
        lambda: longfat.run(one, capture=longfat.Capture(tmp_path / "a.pcapng", snaplen=number)),
        lambda: list(longfat.run_many([one], jobs=number)),
        lambda: one.with_values({"flow.0.rtt": number}),
        lambda: one.repeat(number),
        lambda: Env(one, AURORA).step(np.array([number], dtype=object)),
        lambda: Drawing({"bottleneck.loss": {"uniform": [number, 10**401]}}),
        lambda: Drawing({"bottleneck.loss": {"log_uniform": [0.1, number]}}),
    ]
    for ask in asked:
        with pytest.raises(InputError):
            ask()
