"""How a reading changes the document of a scenario."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.scenario.model import Scenario
from longfat_papers.kit.assumptions import Change

VALUES = st.one_of(st.integers(), st.booleans(), st.text(max_size=5), st.lists(st.integers(), max_size=2))
TABLES = st.dictionaries(st.sampled_from(["mss", "rtt", "sack", "queue", "name"]), VALUES, max_size=4)
ALGORITHMS = st.sampled_from(["reno", "hstcp", "udt", {"name": "stcp", "increase": 0.02}, {"kind": "fast"}])
FLOWS = st.builds(lambda table, algorithm: {**table, "algorithm": algorithm}, TABLES, ALGORITHMS)
BACKGROUNDS = st.builds(lambda t, kind: {**t, "kind": kind}, TABLES, st.sampled_from(["web", "onoff"]))
DOCUMENTS = st.fixed_dictionaries(
    {"duration": st.just("9 s"), "flow": st.lists(FLOWS, max_size=3)},
    optional={"bottleneck": TABLES, "background": st.lists(BACKGROUNDS, max_size=2)},
)
KEYS = st.dictionaries(st.sampled_from(["mss", "rtt", "sack"]), st.one_of(st.none(), VALUES), max_size=3)
CHANGES = st.builds(
    Change,
    flows=KEYS,
    backgrounds=KEYS,
    bottleneck=KEYS,
    algorithms=st.dictionaries(st.sampled_from(["stcp", "fast", "scalable"]), KEYS, max_size=2),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, CHANGES)
def test_a_change_leaves_the_document_of_the_base_as_it_is(document, change):
    before = copy.deepcopy(document)
    changed = change.apply(document)
    for part in changed["flow"]:
        part.clear()
    changed.clear()
    assert document == before


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_a_change_of_nothing_is_the_identity(document):
    assert Change().apply(document) == document
    assert not Change()


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, CHANGES)
def test_a_change_made_twice_is_the_change_made_once(document, change):
    once = change.apply(document)
    assert change.apply(once) == once


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, KEYS)
def test_every_flow_over_tcp_has_the_keys_of_the_change_and_no_other_flow_does(document, keys):
    for before, after in zip(document["flow"], Change(flows=keys).apply(document)["flow"], strict=True):
        if before["algorithm"] == "udt":
            assert after == before
        else:
            for key, value in keys.items():
                assert (key in after) is (value is not None)
                assert after.get(key) == value
            kept = before.keys() - keys.keys()
            assert {key: after[key] for key in kept} == {key: before[key] for key in kept}


def test_a_background_over_udp_stays_as_it_is():
    change = Change(backgrounds={"max_window": 44})
    document = {"background": [{"kind": "web"}, {"kind": "onoff", "sources": 3}]}
    (web, onoff) = change.apply(document)["background"]
    assert (web, onoff) == ({"kind": "web", "max_window": 44}, {"kind": "onoff", "sources": 3})


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("stcp", {"name": "stcp", "increase": 0.02}),
        ("scalable", {"name": "scalable", "increase": 0.02}),
        ({"name": "stcp", "low_window": 9}, {"name": "stcp", "low_window": 9, "increase": 0.02}),
        ({"kind": "stcp", "increase": 1.0}, {"kind": "stcp", "increase": 0.02}),
        ("reno", "reno"),
    ],
)
def test_an_algorithm_is_found_as_a_name_and_as_a_table(written, changed):
    document = {
        "flow": [{"algorithm": written}],
        "background": [{"kind": "bulk", "algorithm": written}],
    }
    found = Change(algorithms={"stcp": {"increase": 0.02}}).apply(document)
    assert found["flow"][0]["algorithm"] == found["background"][0]["algorithm"] == changed


def test_a_flow_that_names_no_algorithm_runs_reno():
    document = {"flow": [{"rtt": "9 ms"}], "background": [{"kind": "web"}]}
    found = Change(algorithms={"reno": {"alpha": 2}}).apply(document)
    assert (
        found["flow"][0]["algorithm"] == found["background"][0]["algorithm"] == {"name": "reno", "alpha": 2}
    )


def test_an_algorithm_of_ones_own_runs_over_tcp():
    document = {"flow": [{"algorithm": "mine.py:Mine"}, {"algorithm": Scenario}]}
    found = Change(flows={"mss": 1000}, algorithms={"reno": {"alpha": 2}}).apply(document)
    assert [flow["mss"] for flow in found["flow"]] == [1000, 1000]
    assert [flow["algorithm"] for flow in found["flow"]] == ["mine.py:Mine", Scenario]


def test_a_network_of_links_has_no_bottleneck_to_change():
    document = {"link": [{"rate": "1 Mbit/s"}], "flow": []}
    assert Change(bottleneck={"service_tick": "1 ms"}).apply(document) == document


def test_a_rewrite_gets_a_copy_with_the_other_changes_made():
    seen = []

    def rewrite(document):
        seen.append(document["flow"][0]["mss"])
        document["flow"][0]["rtt"] = "1 ms"
        return document

    document = {"flow": [{"rtt": "9 ms"}]}
    found = Change(flows={"mss": 1000}, rewrite=rewrite).apply(document)
    assert seen == [1000]
    assert (found["flow"][0]["rtt"], document["flow"][0]) == ("1 ms", {"rtt": "9 ms"})
