"""The live form of a dossier: which runs are live, what is laid beside what, and a dossier on real hosts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from live_runs import able
from longfat.assess import command, live, page, tasks
from longfat.assess.estimate import Results
from longfat.assess.model import Criterion, Experiment, Measure, Point, Setting
from longfat.assess.networks import dumbbell, flow
from longfat.cli.app import end_code
from longfat.errors import InputError
from longfat.live import doctor
from longfat.scenario.model import Scenario

__all__ = ["able"]

STRANGE = Path(__file__).with_name("strange_algorithms.py")
RATE = Measure("own_of_link", "share of the link", "%", "more", 100.0)


def path(mbps=10, duration_s=3.0, count=1, algorithm="cubic", **keys):
    own = flow("own", algorithm, 20, count=count, **keys)
    return dumbbell(mbps, duration_s, (1.0, duration_s), own)


def row(*points):
    """A row of the RFC with an experiment that lasts seconds."""
    found = [
        Point(at, lambda algorithm, keys=keys: path(algorithm=algorithm, **keys), 1e3) for at, keys in points
    ]
    experiment = Experiment(
        "toy", "A toy", "One flow.", (Setting("rate", "10 Mbit/s"),), "Means.", (RATE,), lambda mode: found
    )
    return Criterion("5.1.2", "Toy", "How much?", (experiment,))


def asked(*points, algorithm="cubic", baseline="sack"):
    return replace(tasks.assessment(algorithm, [baseline]), criteria=(row(*points),))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, None),
        ({"mbps": 100, "duration_s": 60.0, "count": 50}, None),
        ({"mbps": 101}, "101 Mbit/s; live: at most 100"),
        ({"count": 51}, "51 flows; live: at most 50"),
        ({"duration_s": 61.0}, "61 s; live: at most 60"),
        ({"receiver": {"ack_ahead": 20}}, "flow.0.receiver: the kernel decides this itself"),
        ({"algorithm": "tahoe"}, 'flow.0.algorithm = "tahoe": has no form in the Linux kernel'),
        ({"algorithm": f"{STRANGE}:Deaf"}, "Deaf"),
    ],
)
def test_a_run_is_live_unless_the_rule_or_the_kernel_says_why_not(keys, said):
    why = live.unfit(Scenario.from_dict(path(**keys)))
    assert why is None if said is None else said in why
    assert "\n" not in (why or "")


def test_live_runs_are_the_first_repeats_of_what_can_be_live_and_the_others_have_a_reason():
    wanted = asked(("near", {}), ("wide", {"mbps": 1000}))
    chosen = live.choose(wanted, tasks.plan(wanted))
    assert {place for work in chosen.works for place in work.places} == {
        ("toy", "near", label, 0) for label in ("cubic", "Reno")
    }
    assert {place[1:3] for place in chosen.left_out} == {("wide", "cubic"), ("wide", "Reno")}
    assert set(chosen.left_out.values()) == {"1000 Mbit/s; live: at most 100"}


def test_an_algorithm_without_any_live_run_is_refused_with_its_usual_reason():
    wanted = asked(("long", {"duration_s": 90.0}), ("a", {}), ("b", {}), algorithm="tahoe")
    with pytest.raises(
        InputError,
        match=r"^assess --backend live: tahoe: .*no form in the Linux kernel; accepted: an algorithm",
    ):
        live.choose(wanted, tasks.plan(wanted))


def both_sides(wanted, live_rows):
    simulated = {
        ("toy", at, contender.label, repeat): {"own_of_link": 0.5 + 0.1 * repeat, "assessed_sent": 100.0}
        for at in ("a", "b")
        for contender in wanted.everyone
        for repeat in range(wanted.repeats)
    }
    return Results(wanted, simulated, {}), live.Live(live_rows, {}, len(live_rows))


def test_live_numbers_stand_beside_those_of_the_same_points_and_repeats():
    wanted = asked(("a", {}), ("b", {}))
    rows = {("toy", "a", label, 0): {"own_of_link": 0.8} for label in ("cubic", "Reno")}
    rows["toy", "b", "cubic", 0] = {"own_of_link": 0.2}
    results, lived = both_sides(wanted, rows)
    found = live.of_row(lived, results, wanted.criteria[0])["numbers"]["toy.own_of_link"]
    assert found["points"] == ["a"]
    assert found["algorithms"]["cubic"]["live"]["mean"] == pytest.approx(80.0)
    # the later repeats of the simulator have other seeds
    assert found["algorithms"]["cubic"]["simulated"]["mean"] == pytest.approx(50.0)
    assert found["algorithms"]["Reno"]["live"]["half_width_95"] is None


def test_a_baseline_that_never_ran_live_does_not_take_the_points_of_the_others():
    wanted = asked(("a", {}), ("b", {}))
    results, lived = both_sides(wanted, {("toy", at, "cubic", 0): {"own_of_link": 0.8} for at in ("a", "b")})
    found = live.of_row(lived, results, wanted.criteria[0])["numbers"]["toy.own_of_link"]
    assert found["points"] == ["a", "b"]
    assert list(found["algorithms"]) == ["cubic"]


def test_a_machine_that_can_run_nothing_live_is_told_what_to_do(monkeypatch, tmp_path):
    item = {"name": "network namespaces", "needed": True, "ok": False, "found": "none", "remedy": "be root"}
    monkeypatch.setattr(doctor, "examine", lambda: [item])
    with pytest.raises(InputError, match="network namespaces: none; be root"):
        command.run(asked(("a", {})), tmp_path / "out", backend="live")
    assert not (tmp_path / "out").exists()


def test_an_unknown_backend_is_bad_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["longfat", "assess", "cubic", "--backend", "real"])
    assert end_code() == 2
    assert "'real' is not one of 'sim', 'live'" in capsys.readouterr().err


@pytest.mark.live
@pytest.mark.long
@pytest.mark.usefixtures("able")
def test_a_dossier_shows_live_numbers_beside_simulated_ones_and_runs_them_once(tmp_path, monkeypatch):
    wanted = asked(("10 Mbit/s", {}), ("1 Gbit/s", {"mbps": 1000, "duration_s": 2.0}))
    quiet = Console(quiet=True)
    document = command.run(wanted, tmp_path, jobs=1, console=quiet, backend="live")
    (criterion,) = document["criteria"]
    found = criterion["live"]["numbers"]["toy.own_of_link"]
    assert found["points"] == ["10 Mbit/s"]
    for both in found["algorithms"].values():
        assert both["live"]["mean"] == pytest.approx(both["simulated"]["mean"], abs=15.0)
    assert criterion["live"]["left_out"] == ["1 Gbit/s (cubic, Reno): 1000 Mbit/s; live: at most 100"]
    assert document["live"]["runs"] == 2
    text = (tmp_path / command.MARKDOWN_FILE).read_text()
    assert "| | cubic, live | simulated | Reno, live | simulated |" in text
    shown = page.build(tmp_path).read_text()
    assert "Only simulated: 1 Gbit/s" in shown
    assert "cubic, live" in shown
    assert json.loads((tmp_path / command.DOSSIER_FILE).read_text())["live"] == document["live"]

    def refuse(*_):
        raise AssertionError("a finished live run runs again")

    monkeypatch.setattr(live.live_run, "run", refuse)
    again = command.run(wanted, tmp_path, jobs=1, console=quiet, backend="live")
    assert again["criteria"][0]["live"] == criterion["live"]
