"""What a sweep file says: axes, points, repeats and seeds; and what is refused."""

from typing import Any

import pytest

from longfat import errors, sweep
from longfat.store.identity import run_key
from longfat.study.grid import keys, repeated
from longfat.sweep import estimate
from tiny_sweeps import BASE, grid


def test_points_are_all_combinations_with_the_last_axis_and_the_repeat_fastest() -> None:
    asked = grid(
        axes={"bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"], "flow.0.rtt": ["10 ms", "20 ms"]}, repeats=2
    )
    points = list(asked.points())
    assert [point.number for point in points] == list(range(8))
    assert [(p.values["bottleneck.rate"], p.values["flow.0.rtt"], p.repeat) for p in points[:5]] == [
        ("1 Mbit/s", "10 ms", 0),
        ("1 Mbit/s", "10 ms", 1),
        ("1 Mbit/s", "20 ms", 0),
        ("1 Mbit/s", "20 ms", 1),
        ("2 Mbit/s", "10 ms", 0),
    ]
    assert asked.scenario(points[1]).seed == asked.scenario(points[0]).seed + 1


def test_axes_that_are_zipped_move_together_and_dotted_keys_may_be_nested() -> None:
    asked = grid(
        axes={"bottleneck": {"rate": ["1 Mbit/s", "2 Mbit/s"]}},
        zip=[{"flow.0.rtt": ["10 ms", "20 ms", "40 ms"], "flow.0.algorithm": ["reno", "hstcp", "cubic"]}],
    )
    assert asked.keys == ["bottleneck.rate", "flow.0.rtt", "flow.0.algorithm"]
    assert asked.count() == 6
    assert {(p.values["flow.0.rtt"], p.values["flow.0.algorithm"]) for p in asked.points()} == {
        ("10 ms", "reno"),
        ("20 ms", "hstcp"),
        ("40 ms", "cubic"),
    }


@pytest.mark.parametrize(
    ("spacing", "values"),
    [("linear", ["10 ms", "85 ms", "160 ms"]), ("log", ["10 ms", "40 ms", "160 ms"])],
)
def test_ranges_have_equal_steps_or_equal_ratios_and_end_where_they_are_said_to(
    spacing: str, values: list[str]
) -> None:
    asked = grid(axes={"flow.0.rtt": {"from": "10 ms", "to": "160 ms", "points": 3, "spacing": spacing}})
    assert [asked.scenario(point).flow[0].rtt for point in asked.points()] == [
        float(v.split()[0]) / 1000 for v in values
    ]


def test_whole_numbers_stay_whole_and_as_many_as_were_asked_for() -> None:
    asked = grid(axes={"seed": {"from": 1, "to": 1500, "points": 1500}})
    assert [point.values["seed"] for point in asked.points()] == list(range(1, 1501))


def test_a_filter_leaves_points_out_by_quantities_in_si_units() -> None:
    asked = grid(
        axes={"bottleneck.rate": ["1 Mbit/s", "10 Mbit/s"], "flow.0.rtt": ["10 ms", "100 ms"]},
        where="bottleneck_rate * flow_0_rtt < 5e5 and not flow_0_rtt == 0.01",
    )
    assert [tuple(point.values.values()) for point in asked.points()] == [("1 Mbit/s", "100 ms")]


def figure(keys: dict[str, Any], told: str) -> tuple[dict[str, Any], str]:
    """A sweep whose figure is right but for these keys, and what is wrong with it."""
    axes = {"flow.0.rtt": ["1 ms", "2 ms"], "flow.0.algorithm": ["reno", "cubic"]}
    right = {"kind": "lines", "x": "flow.0.rtt", "y": "jain"}
    return {"axes": axes, "figure": [right | keys]}, told


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, "there are no axes"),
        ({"axes": {"flow.0.rtt": []}}, "axes.flow.0.rtt: there is no value"),
        (
            {"axes": {"flow.0.rrt": ["1 ms", "2 ms"]}},
            'an axis does not name a key of the scenario: .*mean "rtt"',
        ),
        ({"axes": {"seed": [1]}, "where": "sed > 1"}, 'sed: there is no such axis, did you mean "seed"'),
        (
            {"axes": {"seed": [1]}, "figure": {}},
            "figure: this is not a list of tables; accepted: a list of tables",
        ),
        figure({"kind": "line"}, r'figure.0.kind = line: there is no such kind; accepted: "lines" or "heat"'),
        figure({"kind": []}, r'figure.0.kind = \[\]: there is no such kind; accepted: "lines" or "heat"'),
        figure({"colour": "jain"}, "colour: there is no such key"),
        figure({"x": "flow.0.rt"}, 'figure.0.x.flow.0.rt: there is no such axis, did you mean "flow.0.rtt"'),
        figure({"y": "jian"}, 'figure.0.y: there is no column "jian", did you mean "jain"'),
        figure({"y": "jain / bottleneck_losses"}, 'there is no column "bottleneck_losses"'),
        figure({"lines": "flow.0.rtt"}, "it is already used as x; accepted: another axis"),
        figure(
            {"where": {"flow.0.rtt": "3 ms"}},
            "where.flow.0.rtt = 3 ms: this is not a value .*accepted: 1 ms, 2 ms",
        ),
        figure({"y_scale": "logarithmic"}, 'accepted: "linear" or "log"'),
        ({"axes": {"flow.3.rtt": ["1 ms", "2 ms"]}}, "an axis does not name a key of the scenario: .*flow.3"),
        ({"axes": {"flow.0.rtt": ["1 ms", "1 ms"]}}, "appears twice"),
        ({"axes": {"seed": [float("inf"), 2]}}, "accepted: finite numbers"),
        ({"axes": {"flow.0.rtt": ["1 ms"]}, "zip": [{"flow.0.rtt": ["2 ms"]}]}, "is an axis twice"),
        ({"zip": [{"seed": [1, 2], "flow.0.rtt": ["1 ms"]}]}, "seed has 2, flow.0.rtt has 1"),
        ({"axes": {"seed": [1]}, "where": "import os"}, "where = "),
        ({"axes": {"seed": [1]}, "where": "__import__('os')"}, "where = .*accepted: names of axes"),
        ({"axes": {"seed": [1]}, "where": "rtt > 1"}, "rtt: there is no such axis; accepted: seed"),
        ({"axes": {"seed": [1]}, "where": "seed > 1"}, "where excludes every run"),
        ({"axes": {"seed": [1]}, "where": f"seed * {'9' * 400} * 1.0 > 1"}, "too large to convert to float"),
        ({"axes": {"seed": [1]}, "where": "seed \0 > 1"}, r'where = "seed .u0000 > 1": .*null bytes'),
        ({"axes": {"seed": [1]}, "where": "seed\n > 1"}, r'where = "seed.n > 1": '),
        ({"axes": {"seed": [1]}, "where": "(" * 4000 + "seed"}, "parenthes"),
        ({"axes": {"seed": [1]}, "where": "-" * 9000 + "seed > 1"}, "nested too deeply"),
        ({"axes": {"seed": [1]}, "where": "seed" + " + 1" * 2400 + " > 1"}, "nested too deeply"),
        ({"axes": {"seed": [1]}, "where": "seed" + " + 1" * 9000 + " > 1"}, "accepted: up to 10000"),
        ({"axes": {"seed": [1]}, "where": "'x' * 10000000000 == seed"}, "texts can only be compared"),
        ({"axes": {"seed": [1]}, "repeats": 0}, "repeats = 0"),
        ({"axes": {"seed": [1, 2]}, "repeats": 2}, "repeats and an axis of seeds"),
        (
            {"axes": {"bottleneck": [BASE["bottleneck"]], "bottleneck.rate": ["1 Mbit/s"]}},
            "lies within the axis",
        ),
        (
            {"axes": {"bottleneck.rate": ["1 Mbit/s"], "seed": [1], "bottleneck": [BASE["bottleneck"]]}},
            "bottleneck.rate lies within the axis bottleneck; accepted: axes that do not overlap",
        ),
        ({"axes": {"flow.0.rtt": {"from": "1 ms", "to": "1 Mbit/s", "points": 3}}}, "differ in kind"),
        ({"duration": "1 s"}, "is a scenario; accepted: a sweep"),
        ({"axes": {"seed": [1]}, "keep": "all"}, 'accepted: "summary" or "series"'),
        ({"axes": {"seed": {"from": 1, "to": 3}}}, "axes.seed.points is missing"),
        ({"axes": {"seed": [1]}, "where": "seed * 2"}, "gives 2, which is neither true nor false"),
        (
            {
                "axes": {"flow.0.rtt": {"from": "1 ms", "to": "1 s", "points": 100_000}},
                "repeats": 10_000,
            },
            "there are 1000000000 runs; accepted: up to 10000000",
        ),
        ({"axes": {"seed": [1]}, "axis": 1}, "axis: there is no such key"),
        (
            {"axes": {"flow.0.rtt": {"from": "0 ms", "to": "1 ms", "points": 3, "spacing": "log"}}},
            "values above 0",
        ),
        ({"axes": {"flow.0.rtt": {"from": "1 ms", "to": "2 ms", "points": 1}}}, "points = 1"),
    ],
)
def test_a_sweep_that_means_nothing_is_refused_in_one_line(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(errors.InputError, match=told) as refused:
        grid(**keys)
    assert "\n" not in str(refused.value)


def test_more_runs_than_anyone_means_need_a_yes() -> None:
    seeds = {"from": 1, "to": 60_000, "points": 60_000}
    asked = grid(axes={"seed": seeds, "bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"]})
    with pytest.raises(errors.InputError, match="120000 runs; accepted: up to 100000"):
        estimate.refuse_large(asked, accepted=False)
    estimate.refuse_large(asked, accepted=True)


def test_summaries_alone_are_kept_of_large_sweeps() -> None:
    axis = {"from": 1, "to": 1001, "points": 1001}
    assert grid(axes={"seed": axis}).keep == "summary"
    assert grid(axes={"seed": [1, 2]}).keep == "series"


def test_what_is_probably_not_meant_is_told_before_anything_runs() -> None:
    same = {**BASE, "bottleneck": {"rate": "5 Mbit/s"}}
    axes: dict[str, Any] = {"flow.0.rtt": ["10 ms", "20 ms"]}
    repeated = sweep.from_dict({"base": same, "axes": axes, "repeats": 2})
    assert repeated.warnings() == ["nothing in this scenario is random: repeats are identical"]
    lossy = sweep.from_dict({"base": same, "axes": axes | {"bottleneck.loss": [0, 0.1]}, "repeats": 2})
    assert lossy.warnings() == []
    (told,) = grid(axes={"flow.0.algorithm": ["reno", "cubix"]}).warnings()
    assert told.startswith('a point will fail: sweep: flow.0.algorithm = "cubix"')


def test_repeats_of_a_point_are_the_runs_that_their_scenarios_say() -> None:
    asked = grid(axes={"bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"]}, repeats=3)
    for first in asked.combinations():
        scenarios = [asked.scenario(first.again(repeat)) for repeat in range(3)]
        seeds = [scenario.seed for scenario in scenarios]
        assert seeds == [1, 2, 3]
        own = [run_key(scenario) for scenario in scenarios]
        assert list(keys(scenarios[0], 3)) == own
        places = list(repeated([(("a", "b"), scenarios[0], 5.0)], 3))
        assert [place for place, _, _ in places] == [("a", "b", 0), ("a", "b", 1), ("a", "b", 2)]
        assert [run_key(scenario) for _, scenario, _ in places] == own
        assert [scenario.plan["seed"] for scenario in scenarios] == seeds


def test_repeats_beyond_the_last_seed_are_refused_at_once() -> None:
    file = {"base": {**BASE, "seed": 2**63 - 2}, "axes": {"bottleneck.rate": ["1 Mbit/s"]}}
    assert sweep.from_dict({**file, "repeats": 2}).count() == 2
    with pytest.raises(errors.InputError, match=r"repeats = 3: the base has the seed 9223372036854775806"):
        sweep.from_dict({**file, "repeats": 3})
