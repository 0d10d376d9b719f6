import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import InputError, ScenarioError
from longfat.scenario import registry
from longfat.scenario.model import Scenario, assignment
from samples import in_lines, scenario, table

ROOT = Path(__file__).parents[3]
FILE = (ROOT / "scenarios" / "two-hstcp.toml").read_text()


def problem(**overrides: Any) -> str:
    """The first line that refuses the file with these dotted keys (double underscores for dots)."""
    values = {key.replace("__", "."): value for key, value in overrides.items()}
    with pytest.raises(InputError) as refused:
        Scenario.from_toml(FILE, source="x.toml", overrides=values)
    text = in_lines(str(refused.value))
    assert "\n" not in text
    place = re.match(r"x\.toml(:\d+:\d+)?: ", text)
    assert place is not None
    return text.removeprefix(place[0])


def changed(**overrides: Any) -> Scenario:
    """The file with these dotted keys (double underscores for dots)."""
    values = {key.replace("__", "."): value for key, value in overrides.items()}
    return Scenario.from_toml(FILE, overrides=values)


def test_the_reference_file_is_read_in_si_units() -> None:
    read = Scenario.from_toml(FILE)
    assert (read.duration, read.bottleneck.rate, read.flow[0].rtt, read.flow[1].start) == (
        600.0,
        2.5e8,
        0.042,
        5.0,
    )
    assert read.flow[0].algorithm.parameters == {"low_window": 31.0}


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"flow__0__rtt": 42}, 'flow.0.rtt = 42: a time needs a unit; accepted: "42 ms"'),
        ({"flow__0__rtt": "42"}, 'flow.0.rtt = "42": a time needs a unit; accepted: "42 ms"'),
        (
            {"bottleneck__rate": "0 Mbit/s"},
            'bottleneck.rate = "0 Mbit/s": the rate is too small; accepted: from 1 kbit/s to 10 Tbit/s',
        ),
        (
            {"bottleneck__rate": "-1 Mbit/s"},
            'bottleneck.rate = "-1 Mbit/s": the rate is too small; accepted: from 1 kbit/s to 10 Tbit/s',
        ),
        (
            {"bottleneck__rate": float("inf")},
            'bottleneck.rate = inf: a rate needs a unit; accepted: "250 Mbit/s"',
        ),
        (
            {"duration": "1e999 s"},
            'duration = "1e999 s": the time is too large; accepted: from 1 ms to 1000000 s',
        ),
        (
            {"flow__0__count": 10**12},
            "flow.0.count = 1000000000000: the number is too large; accepted: a whole number from 1 to "
            "100000",
        ),
        (
            {"bottleneck__buffer": 175},
            'bottleneck.buffer = 175: a buffer needs a unit, did you mean "175 packets"?; accepted: ',
        ),
        (
            {"bottleneck__buffer": "0.5 packets"},
            'bottleneck.buffer = "0.5 packets": "0.5 packets" is no such number; accepted: a whole number of '
            "packets "
            "from 1",
        ),
        (
            {"bottleneck__buffer": "100 B"},
            'bottleneck.buffer = "100 B": it is less than a packet of 1500 B; accepted: ',
        ),
        (
            {"bottleneck__buffer": "0 % BDP"},
            'bottleneck.buffer = "0 % BDP": it holds less than a packet; accepted: ',
        ),
        (
            {"bottleneck__rate": "10 Tbit/s", "flow": [{"rtt": "1000 s"}]},
            'bottleneck.buffer: "20 % BDP" is 1.67e+11 packets; accepted: up to 1e+09',
        ),
        (
            {"bottleneck__queue": "rde"},
            'bottleneck.queue = "rde": "rde" is not a queue, did you mean "red"?; accepted: "droptail", ',
        ),
        (
            {"bottleneck__queue": {"kind": "red", "min": "25 KiB"}},
            'bottleneck.queue = { kind = "red", min = "25 KiB" }: red.min = "25 KiB": this is not a number '
            'of that unit; accepted: a number, 20 or "20 packets"',
        ),
        (
            {"bottleneck__queue": {"kind": "red", "mean_packet": 1500}},
            'bottleneck.queue = { kind = "red", mean_packet = 1500 }: red.mean_packet = 1500: a size needs a '
            'unit; accepted: "1500 B"',
        ),
        (
            {"bottleneck__queue": {"kind": "red", "ecn": "yes"}},
            'bottleneck.queue = { kind = "red", ecn = "yes" }: red.ecn = "yes": there is no such choice; '
            "accepted: true or false",
        ),
        (
            {"flow__0__slow_start": "limitted"},
            'flow.0.slow_start = "limitted": there is no such choice, did you mean "limited"?; accepted: '
            '"standard", "limited", "hystart++" or "search"',
        ),
        (
            {"flow__0__rtt": "4_2 ms"},
            'flow.0.rtt = "4_2 ms": "_2 ms" is not a unit of time',
        ),
        (
            {"bottleneck__buffer": "١٧٥ packets"},
            'bottleneck.buffer = "١٧٥ packets": this is not a buffer; accepted: "20 % BDP"',
        ),
        (
            {"bottleneck__queue": {"kind": "red", "min": "75 packets", "max": "25 packets"}},
            "bottleneck.queue: red.max = 25 packets is not accepted; accepted: more than red.min, which is "
            "75 packets",
        ),
        (
            {"bottleneck__queue": {"kind": "pie", "ecn_threshold": 1.5}},
            'bottleneck.queue = { kind = "pie", ecn_threshold = 1.5 }: pie.ecn_threshold = 1.5: it is too '
            "large; accepted: from 0 to 1",
        ),
        (
            {"bottleneck__queue": {"kind": "droptail", "ecn": True}},
            'bottleneck.queue = { kind = "droptail", ecn = true }: ecn: droptail cannot mark packets; '
            'accepted: ecn with "red", ',
        ),
        (
            {"bottleneck__queue": {"kind": "codel", "target": "5"}},
            'bottleneck.queue = { kind = "codel", target = "5" }: codel.target = "5": a time needs a unit',
        ),
        (
            {"bottleneck__loss": 1.0},
            "bottleneck.loss = 1.0: the number is too large; accepted: a probability per packet",
        ),
        (
            {"bottleneck__loss": float("nan")},
            "bottleneck.loss = nan: this is not a number; accepted: a probability per packet",
        ),
        (
            {"bottleneck__queue": {"kind": "red", "min": 0}},
            'bottleneck.queue = { kind = "red", min = 0 }: red.min = 0: it is not above 0; accepted: '
            '"auto", or above 0 and up to ',
        ),
        (
            {"flow__0__ecn": "l4"},
            'flow.0.ecn = "l4": there is no such choice, did you mean "l4s"?; accepted: true, false',
        ),
        (
            {"bottleneck__loss": {"every": 1}},
            "bottleneck.loss = { every = 1 }: every: the number is too small; accepted: a whole number",
        ),
        (
            {"flow__0__algorithm": "hstpc"},
            'flow.0.algorithm = "hstpc": "hstpc" is not an algorithm, did you mean "hstcp"?',
        ),
        (
            {"flow__0__algorithm": {"name": "hstcp", "low_widow": 31}},
            'flow.0.algorithm = { name = "hstcp", low_widow = 31 }: hstcp has no parameter "low_widow", '
            'did you mean "low_window"?',
        ),
        (
            {"flow__0__algorithm": {"name": "htcp", "delta_l": 1}},
            'flow.0.algorithm = { name = "htcp", delta_l = 1 }: htcp.delta_l = 1: a time needs a unit; '
            'accepted: "1 s"',
        ),
        (
            {"flow__0__variant": "freebsd"},
            'flow.0.algorithm = { name = "hstcp", low_window = 31, variant = "freebsd" }: hstcp.variant = '
            '"freebsd": there is no such choice',
        ),
        ({"flow__0__algorithm": "nowhere.py:Mine"}, "flow.0.algorithm = "),
        (
            {"flow__0__algoritm": "reno"},
            'flow.0.algoritm: there is no such key, did you mean "algorithm"?; accepted: ',
        ),
        (
            {"flow__0__delayed_ack": 1},
            "flow.0.delayed_ack = 1: this is not a switch; accepted: true or false",
        ),
        (
            {"flow__0__slow_start": "quick"},
            'flow.0.slow_start = "quick": there is no such choice; accepted: "standard", "limited", '
            '"hystart++" or '
            '"search"',
        ),
        (
            {"flow__0__loss_detection": "fack"},
            'flow.0.loss_detection = "fack": there is no such choice, did you mean "sack"?; accepted: '
            '"rack", '
            '"sack", ',
        ),
        (
            {"flow__0__initial_window": 0.5},
            "flow.0.initial_window = 0.5: the number is too small; accepted: a number of segments from 1",
        ),
        ({"flow__0__stop": "0 s"}, 'flow.0.stop = "0 s": it is not after the start'),
        (
            {"flow__7__rtt": "42 ms"},
            "flow.7.rtt: there is no flow.7; accepted: after flow a position from 0 to 1",
        ),
        (
            {"bottleneck__rate__x": 1},
            "bottleneck.rate.x: bottleneck.rate is not a table; accepted: the whole value",
        ),
        ({"bottleneck": {}}, 'bottleneck.rate: this key is missing; accepted: a rate such as "250 Mbit/s"'),
        (
            {"flow__0": {"algorithm": "reno"}},
            'flow.0.rtt: this key is missing; accepted: a two-way propagation delay such as "42 ms"',
        ),
        ({"flow": []}, "there is nothing to send; accepted: at least one [[flow]], "),
        ({"flow": 3}, "flow = 3: this is not a list; accepted: a list of tables, [[flow]]"),
        ({"flow__1__name": "1"}, 'flow.1: two flows or backgrounds are called "1"'),
        (
            {"window": ["5 s", "1 s"]},
            'window = ["5 s", "1 s"]: the times are not in order; accepted: two times from 0 s on, '
            "the lesser first, such as ",
        ),
        (
            {"window": ["5 s", "601 s"]},
            'window = ["5 s", "601 s"]: it ends after the run; accepted: up to 600 s',
        ),
        (
            {"sample__cwnd": "10 us"},
            'sample.cwnd = "10 us": samples every 10 us are more than 20000000; accepted: from "6e-05 s"',
        ),
        (
            {"bottleneck__reverse_queue": {"kind": "red", "min": "9 packets", "max": "3 packets"}},
            "bottleneck.reverse_queue: red.max = 3 packets is not accepted; accepted: more than red.min",
        ),
        ({"bottleneck__reverse_queue": "rde"}, 'bottleneck.reverse_queue = "rde": '),
        ({"seed": -1}, "seed = -1: the number is too small; accepted: a whole number from 0"),
        (
            {"flow__0__rtt": {"exponential": "40 ms"}},
            "bottleneck.buffer: this is in BDP, and an exponential rtt has no least one; accepted: "
            "bottleneck.buffer_rtt",
        ),
    ],
)
def test_bad_values_are_refused_with_what_is_accepted(overrides: dict[str, Any], expected: str) -> None:
    assert problem(**overrides).startswith(expected)


def test_every_problem_is_a_line_of_its_own() -> None:
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_toml(FILE, overrides={"flow.0.rtt": 42, "duration": 1, "bottleneck.rate": 2})
    assert len(refused.value.problems) == 3
    assert str(refused.value).splitlines() == list(refused.value.problems)
    assert [line.split(" = ")[0] for line in refused.value.problems] == [
        "scenario: duration",
        "scenario: bottleneck.rate",
        "scenario: flow.0.rtt",
    ]


def test_beyond_ten_problems_the_rest_are_counted() -> None:
    unknown = {f"flow.0.key{i}": 1 for i in range(12)}
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_toml(FILE, overrides=unknown)
    lines = str(refused.value).splitlines()
    assert (len(refused.value.problems), len(lines), lines[-1]) == (12, 11, "and 2 more problems")


@pytest.mark.parametrize(
    ("bare", "written"),
    [
        (
            {"bottleneck__queue": {"kind": "red", "min": 25, "max": 75}},
            {"bottleneck__queue": {"kind": "red", "min": "25 packets", "max": "75 packets"}},
        ),
        (
            {"bottleneck__router": {"kind": "quickstart", "share": 0.85}},
            {"bottleneck__router": {"kind": "quickstart", "share": "85 %"}},
        ),
        (
            {"bottleneck__router": {"kind": "xcp-i", "trains": 4, "packets": 50}},
            {"bottleneck__router": {"kind": "xcp-i", "trains": "4 trains", "packets": "50 packets"}},
        ),
        (
            {"flow__0__algorithm": {"name": "yeah", "rho": 12, "queue_max": 60}},
            {"flow__0__algorithm": {"name": "yeah", "rho": "12 round trips", "queue_max": "60 packets"}},
        ),
        ({"bottleneck__loss": {"every": 1000}}, {"bottleneck__loss": {"every": "1000 packets"}}),
    ],
)
def test_counts_and_shares_may_be_bare_or_carry_their_unit_wherever_they_stand(
    bare: dict[str, Any], written: dict[str, Any]
) -> None:
    assert changed(**bare) == changed(**written)


def test_broken_toml_names_file_and_line() -> None:
    with pytest.raises(ScenarioError, match=r"^a text has no quotes\n --> x\.toml:2:12\n"):
        Scenario.from_toml("title = 'a'\nduration = 6 s", source="x.toml")


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml: No such file"):
        Scenario.load(tmp_path / "nowhere.toml")


def test_every_way_to_write_a_value_is_read() -> None:
    full = Scenario.from_toml(
        """
        duration = "1 min"
        [bottleneck]
        rate = "1 Gbit/s"
        buffer = "10 ms"
        loss = { gilbert_elliott = { good_to_bad = 1e-5, bad_to_good = 0.1 } }
        ack_loss = { every = 100 }
        reverse_rate = "10 Mbit/s"
        reverse_buffer = "512 KiB"
        [[flow]]
        name = "many"
        algorithm = "htcp"
        variant = "linux"
        rtt = { uniform = ["16 ms", "320 ms"] }
        start = { uniform = ["0 s", "40 s"] }
        stop = "50 s"
        bytes = "10 MB"
        count = 3
        stagger = "1 s"
        initial_ssthresh = 100
        max_window = "infinite"
        slow_start = "limited"
        host_tick = "1 ms"
        direction = "reverse"
        [[background]]
        kind = "web"
        direction = "both"
        rtt = { exponential = "50 ms" }
        [sample]
        cwnd = "1 s"
        queue = "10 ms"
        """
    )
    flow = full.flow[0]
    assert (flow.rtt, flow.start) == ({"uniform": [0.016, 0.32]}, {"uniform": [0.0, 40.0]})
    assert flow.algorithm.parameters == {"variant": "linux"}
    assert full.flow_names() == ["many-1", "many-2", "many-3"]
    chain = {"good_to_bad": 1e-5, "bad_to_good": 0.1, "loss_good": 0.0, "loss_bad": 1.0}
    assert full.bottleneck.loss == {"gilbert_elliott": chain}
    assert full.background[0].rtt == {"exponential": [0.0, 0.05]}
    assert full.plan["links"][0]["queue"]["limit_packets"] == int(1e9 * 0.01 / 8 / 1500)
    assert Scenario.from_toml(full.to_toml()) == full
    assert Scenario.from_toml(full.filled().to_toml()) == full.filled()


@given(
    rate=st.floats(1e3, 1e13),
    rtt=st.floats(1e-6, 1.0),
    loss=st.floats(0, 0.99),
    start=st.floats(0, 500),
    low_window=st.floats(2, 300),
    seed=st.integers(0, 2**63 - 1),
)
def test_any_scenario_survives_being_written_with_its_defaults(
    rate: float, rtt: float, loss: float, start: float, low_window: float, seed: int
) -> None:
    built = Scenario.from_dict(
        {
            "duration": "600 s",
            "seed": seed,
            "bottleneck": {"rate": f"{rate!r} bit/s", "buffer": "20 % BDP", "loss": loss},
            "flow": [
                {
                    "algorithm": {"name": "hstcp", "low_window": low_window},
                    "rtt": f"{rtt!r} s",
                    "start": f"{start!r} s",
                }
            ],
        }
    ).filled()
    assert Scenario.from_toml(built.to_toml()) == built


def test_access_links_are_one_gigabit_or_ten_times_a_faster_bottleneck() -> None:
    assert scenario().filled().bottleneck.access_rate == 1e9
    assert scenario({"bottleneck.rate": "1 Gbit/s"}).filled().bottleneck.access_rate == 1e10


def test_defaults_that_follow_from_a_value_follow_when_it_changes() -> None:
    changed = scenario().with_values({"bottleneck.rate": "2 Gbit/s"})
    assert (changed.filled().bottleneck.access_rate, changed.filled().bottleneck.reverse_rate) == (2e10, 2e9)


def test_flows_without_a_name_have_their_running_number() -> None:
    named = scenario(flow=[{"rtt": "1 ms", "count": 2}, {"rtt": "1 ms", "name": "x"}, {"rtt": "1 ms"}])
    assert named.flow_names() == ["1", "2", "x", "4"]


def test_a_buffer_that_computes_to_less_than_a_packet_is_warned_of() -> None:
    corner = scenario({"bottleneck.rate": "1 Mbit/s", "bottleneck.buffer": "20 % BDP", "flow.0.rtt": "16 ms"})
    assert corner.warnings() == ['bottleneck.buffer = "20 % BDP" is 0.267 packets; 1 packet is used']
    assert scenario().warnings() == []


def test_a_flow_that_starts_after_the_end_is_warned_of() -> None:
    assert scenario({"flow.1.start": "20 s"}).warnings() == [
        "flow.1 starts at 20 s, not before the run's end"
    ]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("flow.0.rtt=82 ms", "flow.0.rtt", "82 ms"),
        ('flow.0.rtt="82 ms"', "flow.0.rtt", "82 ms"),
        ("flow.0.count = 3", "flow.0.count", 3),
        ("flow.0.timestamps=false", "flow.0.timestamps", False),
        ("bottleneck.loss={ every = 100 }", "bottleneck.loss", {"every": 100}),
        ("title=a = b", "title", "a = b"),
    ],
)
def test_overrides_are_toml_where_they_can_be(text: str, key: str, value: object) -> None:
    assert assignment(text) == (key, value)


@pytest.mark.parametrize("text", ["flow.0.rtt", "=3", "a="])
def test_overrides_without_key_or_value_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="accepted: key=value"):
        assignment(text)


def test_a_table_given_to_from_dict_is_not_changed() -> None:
    given = table()
    Scenario.from_dict(given).with_values({"flow.0.rtt": "80 ms"})
    assert given == table()


def test_a_buffer_in_bytes_has_room_for_a_packet_of_the_background_too() -> None:
    with pytest.raises(ScenarioError, match=r'buffer = "1000 B": it is less than a packet of 1500 B'):
        scenario(
            bottleneck={"rate": "10 Mbit/s", "buffer": "1000 B"},
            flow=[{"algorithm": "reno", "rtt": "42 ms", "mss": "500 B"}],
            background=[{"kind": "web"}],
        )


def test_switches_and_auto_reach_the_plan_in_the_words_of_the_core() -> None:
    cubic = {"name": "cubic", "fast_convergence": False, "hystart": "auto", "beta": "auto"}
    red = {"kind": "red", "gentle": False, "ecn": True, "weight": "auto"}
    plan = changed(flow__0__algorithm=cubic, bottleneck__queue=red).plan
    planned = plan["flows"][0]["transport"]["algorithm"]["parameters"]
    assert (planned["fast_convergence"], planned["hystart"], planned["beta"]) == ("off", "auto", 0.0)
    queue = plan["links"][0]["queue"]
    assert (queue["gentle"], queue["ecn"], queue["weight"]) == ("false", "true", 0.0)


def test_every_switch_and_every_automatic_number_is_written_as_such() -> None:
    for kind in ("algorithms", "queues", "routers"):
        for row in registry.rows(kind):
            for parameter in row["parameters"]:
                value = parameter["written"]
                assert value == registry.written(row["name"], parameter, parameter["default"])
                assert value not in ("on", "off", "true", "false"), (row["name"], parameter["name"])
                is_zero = parameter["default"] == 0.0 and "0" in parameter["meaning"]
                assert not is_zero or value == "auto", (row["name"], parameter["name"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"bottleneck__queue": {"name": "red", "min": 9}}, {"bottleneck__queue": {"kind": "red", "min": 9}}),
        ({"bottleneck__router": {"name": "xcp"}}, {"bottleneck__router": "xcp"}),
        (
            {"flow__0__algorithm": {"kind": "hstcp", "low_window": 31}},
            {"flow__0__algorithm": {"name": "hstcp", "low_window": 31}},
        ),
        ({"bottleneck__loss": "0.1 %"}, {"bottleneck__loss": 0.001}),
        ({"flow__0__count": "3 flows"}, {"flow__0__count": 3}),
        (
            {"background": [{"kind": "web", "sessions": "1 session"}]},
            {"background": [{"kind": "web", "sessions": 1}]},
        ),
        (
            {"background": [{"kind": "short", "gap": "1 s", "tail_share": "7 %"}]},
            {"background": [{"kind": "short", "gap": "1 s", "tail_share": 0.07}]},
        ),
    ],
)
def test_a_form_that_one_key_takes_is_taken_by_all_keys_like_it(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert changed(**one) == changed(**other)


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ({"flow": [{"rtt": "1 ms", "name": "\n"}]}, "flow.0.name"),
        ({"background": [{"kind": "web", "name": "x" * 101}]}, "background.0.name"),
    ],
)
def test_all_names_follow_one_rule(part: dict[str, Any], key: str) -> None:
    assert re.match(f"{key} = .*; accepted: 1 to 100 printable characters", problem(**part))


def test_a_scenario_is_read_as_it_is_and_what_has_no_keys_is_refused_in_one_line() -> None:
    read = scenario()
    assert Scenario.from_dict(read) is read
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_dict(3)  # type: ignore[arg-type]
    assert str(refused.value) == "scenario: this is no scenario; accepted: tables, as in a file"


def test_a_scenario_cannot_be_changed_but_copied_with_other_values() -> None:
    read = scenario()
    with pytest.raises(AttributeError, match="with_values"):
        read.seed = 2
    other = read.with_values({"seed": read.seed + 1})
    assert other != read
    assert other.with_values({"seed": read.seed}) == read


def test_tables_that_hold_themselves_are_refused() -> None:
    tables: dict[str, Any] = {"duration": "1 s"}
    tables["flow"] = [tables]
    with pytest.raises(ScenarioError, match="nested too deeply; accepted: up to 80"):
        Scenario(tables)


def test_scenarios_are_equal_if_their_algorithms_are_the_same_objects() -> None:
    def made() -> type:
        class Own:
            def on_ack(self, told: Any, window: Any) -> None: ...
            def on_congestion(self, told: Any, window: Any) -> None: ...

        return Own

    one, other = made(), made()
    own = scenario().with_values({"flow.0.algorithm": one})
    assert own == own.with_values({"flow.0.algorithm": one})
    assert own != own.with_values({"flow.0.algorithm": other})


@pytest.mark.parametrize("duration_s", [math.nan, -1.0, 5e9])
def test_a_run_cannot_last_longer_or_shorter_than_a_file_may_say(duration_s: float) -> None:
    with pytest.raises(
        ScenarioError, match=r"duration: the time is too .*; accepted: from 1 ms to 1000000 s"
    ):
        scenario().lasting(duration_s)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[[flow]]\nstack = 'linx'", "4:9"),
        ("[[flow]]\n[flow.receiver]\ndivide_acks = 200", "5:15"),
        ("[[flow]]\n[flow.receiver]\nhide_marks = 1", "5:14"),
        ("[[flow]]\nrtt = { empirical = ['1 ms', ['2 ms', -1]] }", "4:30"),
        ("outages = [{ begin = '1 s', length = 2 }]", "3:38"),
        ("outages = [{ begin = '1 s', length = '1 s', queue = 3 }]", "3:53"),
        ("added_delay = { handovers = { period = 3, range = '1 ms' } }", "3:40"),
        ("added_delay = { steps = [] }", "3:25"),
        ("loss = { every = 1 }", "3:18"),
        ("loss = { gilbert_elliott = { good_to_bad = 0.1, bad_to_good = 2 } }", "3:63"),
        ("queue = { kind = 'codel', target = 5 }", "3:36"),
        ("rate = { sine = { max = '2 Mbit/s', min = 1, period = '1 s' } }", "3:43"),
    ],
)
def test_a_problem_within_a_value_has_its_own_place(text: str, place: str) -> None:
    begin = "duration = '1 s'\n[bottleneck]\n"
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_toml(begin + text, source="x.toml")
    assert f"--> x.toml:{place}" in str(refused.value)


def test_a_value_set_from_outside_is_shown_and_not_looked_for_in_the_text() -> None:
    text = "duration = '1 s'\n[bottleneck]\nrate = '1 Mbit/s'\nqueue = { kind = 'codel' }\n"
    with pytest.raises(ScenarioError, match=r"^x\.toml: bottleneck\.queue = .*target = 5"):
        Scenario.from_toml(text, source="x.toml", overrides={"bottleneck.queue.target": 5})
