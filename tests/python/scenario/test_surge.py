"""SURGE users: what a scenario may say of them, and that they load a path as asked."""

import pytest

import longfat
from longfat.errors import ScenarioError
from longfat.scenario.model import Scenario
from samples import scenario, table


def offered(**keys):
    """Surge alone on an idle path."""
    return {
        "duration": "300 s",
        "window": ["20 s", "300 s"],
        "bottleneck": {"rate": "500 Mbit/s", "buffer": "1000 packets"},
        "background": [{"kind": "surge", "rtt": "60 ms", **keys}],
    }


@pytest.mark.parametrize(("rtt", "load_mbps"), [("15 ms", 40), ("240 ms", 40)])
def test_users_of_a_load_load_an_idle_path_by_as_much(rtt, load_mbps):
    # 16 000 files or more; the sizes alone leave an error of 4 %, rests of infinite variance some more
    result = longfat.run(Scenario.from_dict(offered(rtt=rtt, load=f"{load_mbps} Mbit/s")))
    measured = result.summary["background"][0]["throughput_bps"]
    assert measured == pytest.approx(load_mbps * 1e6, rel=0.12)


def test_a_load_becomes_a_number_of_users_and_more_of_them_on_longer_paths():
    def users(**keys):
        return Scenario.from_dict(offered(**keys)).plan["background"][0]["users"]

    assert users(users=7) == 7
    assert users(load="1 kbit/s") == 1
    assert users(load="8 Mbit/s") == pytest.approx(2 * users(load="4 Mbit/s"), abs=1)
    assert users(load="4 Mbit/s", rtt="480 ms") > 1.3 * users(load="4 Mbit/s", rtt="15 ms")


def test_what_is_written_out_is_read_back_with_the_users_in_place_of_the_load():
    given = Scenario.from_dict(offered(load="4 Mbit/s", largest="20 MB"))
    assert Scenario.from_toml(given.to_toml()) == given
    full = given.filled()
    assert Scenario.from_toml(full.to_toml()) == full
    assert "load" not in full.to_dict()["background"][0]
    assert full.background[0].users == pytest.approx(20, abs=4)
    assert full.plan == given.plan


def test_both_directions_have_as_many_users_each_and_names_of_their_own():
    entries = scenario(background=[{"kind": "surge", "users": 3, "direction": "both"}]).plan["background"]
    assert [(entry["name"], entry["users"]) for entry in entries] == [
        ("surge-1-forward", 3),
        ("surge-1-reverse", 3),
    ]
    assert entries[0]["habits"]["body_mu"] == 9.357


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (
            {},
            "background.0: it takes either users or a load; accepted: either users, a whole number, or load, "
            'such as "4 Mbit/s" or "2 %"',
        ),
        (
            {"users": 3, "load": "1 Mbit/s"},
            "background.0: it takes either users or a load; accepted: either users",
        ),
        (
            {"users": 0},
            "background.0.users = 0: the number is too small; accepted: a whole number from 1 to 100000",
        ),
        ({"load": 4}, "background.0.load = 4: a rate needs a unit"),
        (
            {"users": 3, "largest": "10 kB"},
            'background.0.largest = "10 kB": the size is too small; accepted: from 1 MB to 1 TB',
        ),
        ({"users": 3, "sessions": 5}, "background.0.sessions: there is no such key; accepted: "),
        ({"users": 3, "rtt": "4"}, 'background.0.rtt = "4": a time needs a unit'),
    ],
)
def test_bad_values_are_told_with_key_value_and_what_would_be_accepted(keys, says):
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(table(background=[{"kind": "surge", **keys}]), source="a.toml")
    assert str(caught.value).startswith(f"a.toml: {says}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("background", "says"),
    [
        (
            {"kind": "surje"},
            'background.0.kind = "surje": there is no such kind, did you mean "surge"?; accepted: "web", '
            '"surge", "short", ',
        ),
        (
            {"users": 3},
            'background.0.kind: this key is missing; accepted: "web", "surge", "short", "bulk" or "onoff"',
        ),
        ({"kind": "web", "users": 3}, "background.0.users: there is no such key; accepted: "),
    ],
)
def test_a_kind_that_is_not_there_is_told_with_those_that_are(background, says):
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(table(background=[background]), source="a.toml")
    assert str(caught.value).startswith(f"a.toml: {says}")
