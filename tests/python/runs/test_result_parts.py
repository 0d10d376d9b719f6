"""Values of a result as attributes: `result.metrics.jain`, `result.flow("1").throughput_bps`."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any, assert_type, get_args

import pandas
import pytest

import longfat
from longfat.errors import InputError
from longfat.runs.parts import FlowResult, LinkResult, Metrics, Value
from longfat.runs.result import Result

TABLES: dict[str, Any] = {
    "duration": "5 s",
    "bottleneck": {"rate": "10 Mbit/s", "rtt": "40 ms"},
    "flow": [
        {"algorithm": "cubic", "rtt": "40 ms"},
        {"algorithm": {"name": "cbr", "rate": "1 Mbit/s"}, "rtt": "40 ms"},
        {"algorithm": "reno", "rtt": "20 ms", "bytes": "500 kB", "name": "short"},
        {"algorithm": "reno", "rtt": "20 ms", "start": "4 s", "name": "late"},
    ],
    "window": ["0 s", "3 s"],
}
DUALPI2: dict[str, Any] = {
    "duration": "5 s",
    "bottleneck": {"rate": "10 Mbit/s", "queue": "dualpi2"},
    "flow": [{"algorithm": "prague", "rtt": "20 ms"}],
}


@pytest.fixture(scope="module")
def result() -> Result:
    return longfat.run(TABLES)


def parts(result: Result) -> list[tuple[Any, dict[str, Any]]]:
    """Each part of a result, and what the summary says of it."""
    summary = result.summary
    return [
        (result.metrics, summary["metrics"]),
        *((result.flow(entry["name"]), entry) for entry in summary["flows"]),
        *((result.link(entry["name"]), entry) for entry in summary["links"]),
    ]


def values_of(part: Any) -> dict[str, Value[Any]]:
    return {name: value for name, value in vars(type(part)).items() if isinstance(value, Value)}


@pytest.mark.parametrize("tables", [TABLES, DUALPI2], ids=["usual", "dualpi2"])
def test_each_value_of_the_summary_is_an_attribute(tables: dict[str, Any]) -> None:
    for part, entry in parts(longfat.run(tables)):
        assert entry.keys() <= values_of(part).keys()
        assert {name: getattr(part, name) for name in entry} == entry


def test_there_is_no_attribute_that_no_summary_has() -> None:
    found: dict[type, set[str]] = {}
    for tables in (TABLES, DUALPI2):
        for part, entry in parts(longfat.run(tables)):
            found.setdefault(type(part), set()).update(entry)
    for kind, names in found.items():
        assert {name for name, value in vars(kind).items() if isinstance(value, Value)} == names


@pytest.mark.parametrize("tables", [TABLES, DUALPI2], ids=["usual", "dualpi2"])
def test_values_have_the_types_that_checkers_are_given(tables: dict[str, Any]) -> None:
    for part, _ in parts(longfat.run(tables)):
        for name, value in values_of(part).items():
            (kind,) = get_args(value.__orig_class__)  # type: ignore[attr-defined]
            assert isinstance(getattr(part, name), kind), (name, getattr(part, name))


def test_what_is_unknown_is_none(result: Result) -> None:
    late, datagrams = result.flow("late"), result.flow(2)
    assert (late.throughput_bps, late.goodput_bps, late.loss_ratio, late.cwnd_mean) == (None,) * 4
    assert (datagrams.cwnd_mean, datagrams.srtt_mean_s, datagrams.connected) == (None,) * 3
    assert result.flow("1").completed_s is None
    assert result.metrics.cov is None


def test_a_flow_has_values_as_attributes_and_series_by_key(result: Result) -> None:
    flow, link = result.flow("1"), result.link("bottleneck")
    assert isinstance(flow.packets_sent, int)
    assert flow["packets_sent"][-1] > flow.packets_sent > 0  # the window is shorter than the run
    assert list(pandas.DataFrame(flow).columns) == list(flow)
    assert flow["time_s"][-1] == link["time_s"][-1] == 5.0
    assert flow.get("nothing") is None
    assert "throughput_bps" not in flow


def test_completion_offers_every_value_with_a_sentence(result: Result) -> None:
    for part, entry in parts(result):
        assert entry.keys() <= set(dir(part))
        for name, value in values_of(part).items():
            assert (inspect.getdoc(value) or "").endswith("."), name
            assert len(inspect.getdoc(value) or "") > 10, name


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda result: result.flow("shor"),
            'flow "shor": there is no such flow, did you mean "short"?; '
            'accepted: "1", "2", "short" or "late"',
        ),
        (
            lambda result: result.flow(7),
            'flow "7": there is no such flow; accepted: "1", "2", "short" or "late"',
        ),
        (
            lambda result: result.link("bottelneck"),
            'link "bottelneck": there is no such link, did you mean "bottleneck"?; '
            'accepted: "bottleneck" or "reverse"',
        ),
        (
            lambda result: result.flow("1")["goodput_bps"],
            'flow 1 has no series "goodput_bps": that is one value; accepted: .goodput_bps',
        ),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_those_that_there_are(
    result: Result, ask: Any, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        ask(result)
    assert str(refused.value) == said


def test_a_series_that_there_is_not_is_refused_with_the_nearest(result: Result) -> None:
    with pytest.raises(
        InputError, match=r'link bottleneck: series "queue_packet": there is no such series.*"queue_packets"'
    ):
        result.link("bottleneck")["queue_packet"]


@pytest.mark.parametrize(
    ("part", "name", "said"),
    [
        ("metrics", "jian", "Metrics has no 'jian', did you mean \"jain\"?"),
        ("flow", "goodput", "FlowResult has no 'goodput', did you mean \"goodput_bps\"?"),
        ("flow", "srtt_s", "FlowResult has no 'srtt_s'; its series is [\"srtt_s\"]"),
    ],
)
def test_an_attribute_that_there_is_not_is_an_attribute_error(
    result: Result, part: str, name: str, said: str
) -> None:
    found = result.metrics if part == "metrics" else result.flow("1")
    with pytest.raises(AttributeError) as refused:
        getattr(found, name)
    assert str(refused.value) == said
    assert not hasattr(found, "__array_interface__")


def test_values_cannot_be_set(result: Result) -> None:
    with pytest.raises(AttributeError, match="jain is a result and cannot be set"):
        result.metrics.jain = 1.0  # type: ignore[assignment]
    with pytest.raises(AttributeError, match="throughput_bps is a result and cannot be set"):
        result.flow("1").throughput_bps = 1.0  # type: ignore[assignment]


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
def test_parts_can_be_copied_and_sent_to_other_processes(result: Result, travel: Any) -> None:
    for part, entry in parts(result):
        there = travel(part)
        assert type(there) is type(part)
        assert {name: getattr(there, name) for name in entry} == entry
    assert travel(result.flow("1"))["cwnd"].tobytes() == result.flow("1")["cwnd"].tobytes()


def test_parts_show_themselves(result: Result) -> None:
    assert repr(result.flow("late")) == "<FlowResult 'late': reno, no rate>"
    assert repr(result.link("bottleneck")) == "<LinkResult 'bottleneck': 10 Mbit/s, queue droptail>"
    assert repr(result.metrics).startswith("Metrics(jain=0.")


def test_type_checkers_know_the_types(result: Result) -> None:
    """mypy checks this file."""
    assert_type(result.metrics, Metrics)
    assert_type(result.metrics.jain, float | None)
    assert_type(result.flow("1"), FlowResult)
    assert_type(result.flow("1").throughput_bps, float | None)
    assert_type(result.flow("1").timeouts, int)
    assert_type(result.link("reverse"), LinkResult)
    assert_type(result.link("reverse").queue, str)
    with pytest.raises(AttributeError):
        _ = result.metrics.jian  # type: ignore[attr-defined]
