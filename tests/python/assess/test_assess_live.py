"""The live form of a dossier: which runs are live, what is laid beside what, and a dossier on real hosts."""

from __future__ import annotations

import io
import json
import platform
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from live_runs import able
from longfat.assess import beside, cells, command, live, page, table, tasks
from longfat.assess.estimate import Results
from longfat.assess.model import Criterion, Experiment, Measure, Point, Setting
from longfat.assess.networks import dumbbell
from longfat.cli.app import end_code
from longfat.errors import InputError, LongfatError
from longfat.live import doctor, kernel
from longfat.runs import simulate
from longfat.runs.result import Result
from longfat.scenario import foreign
from longfat.scenario.model import Scenario
from longfat.store.store import Store

__all__ = ["able"]

STRANGE = Path(__file__).with_name("strange_algorithms.py")
RATE = Measure("own_of_link", "share of the link", "%", "more")
LATE = "lateness of the routers"


@pytest.fixture(autouse=True)
def modules(monkeypatch):
    """The kernel has these modules, whatever this machine has."""
    monkeypatch.setattr(kernel, "available", lambda: ["reno", "cubic"])


def path(mbps=10, duration_s=3.0, count=1, algorithm="cubic", **keys):
    given = {"window": ["1 s", f"{duration_s:g} s"], "bottleneck": {"rate": f"{mbps} Mbit/s"}, "rtt": "20 ms"}
    return dumbbell(given | {"flow": {"own": {"count": count, **keys}}}, algorithm)


def row(*points):
    """A row of the RFC with an experiment that lasts seconds."""
    found = [
        Point(at, lambda algorithm, keys=keys: path(algorithm=algorithm, **keys), 1e3) for at, keys in points
    ]
    experiment = Experiment(
        "toy", "A toy", "One flow.", (Setting("rate", "10 Mbit/s"),), "Means.", (RATE,), lambda mode: found
    )
    return Criterion("5.1.2", "Toy", "How much?", (experiment,))


def asked(*points, algorithm="cubic", baseline="reno"):
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


def test_a_baseline_that_this_kernel_lacks_stays_in_the_simulator_with_the_remedy(monkeypatch):
    monkeypatch.setattr(kernel, "available", lambda: ["cubic"])
    monkeypatch.setattr(foreign, "has_module", lambda _: False)
    wanted = asked(("a", {}))
    chosen = live.choose(wanted, tasks.plan(wanted))
    why = "no reno; to fix it: as root: modprobe tcp_reno, on a kernel that has it"
    assert chosen.left_out == {("toy", "a", "Reno", 0): why}
    assert list(chosen.carriers) == ["cubic"]


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


def both_sides(wanted, live_rows, left_out=None):
    simulated = {
        ("toy", at, contender.label, repeat): {
            "own_of_link": (0.5 if at == "a" else 0.9) + 0.1 * repeat,
            "assessed_sent": 100.0,
        }
        for at in ("a", "b")
        for contender in wanted.everyone
        for repeat in range(wanted.repeats)
    }
    return Results(wanted, simulated, {}), live.Live(live_rows, left_out or {})


def compared(wanted, live_rows, left_out=None):
    results, lived = both_sides(wanted, live_rows, left_out)
    row = beside.of_row(lived, results, wanted.criteria[0])
    return row, row["numbers"]["toy.own_of_link"]["algorithms"]


def test_live_numbers_stand_beside_those_of_the_same_points_and_repeats():
    rows = {("toy", "a", label, 0): {"own_of_link": 0.8} for label in ("cubic", "Reno")}
    _, found = compared(asked(("a", {}), ("b", {})), rows)
    assert found["cubic"]["points"] == ["a"]
    assert found["cubic"]["live"]["mean"] == pytest.approx(80.0)
    # the later repeats of the simulator have other seeds
    assert found["cubic"]["simulated"]["mean"] == pytest.approx(50.0)
    assert found["Reno"]["live"]["half_width_95"] is None


def test_a_point_without_a_value_on_one_side_counts_on_neither():
    rows = {("toy", "a", "cubic", 0): {"own_of_link": 0.2}, ("toy", "b", "cubic", 0): {"own_of_link": None}}
    row, found = compared(asked(("a", {}), ("b", {})), rows)
    assert row["ran"]["toy"]["cubic"] == ["a", "b"]
    assert found["cubic"]["points"] == ["a"]
    assert found["cubic"]["live"]["mean"] == pytest.approx(20.0)
    assert found["cubic"]["simulated"]["mean"] == pytest.approx(50.0)


def test_a_simulated_run_that_failed_takes_its_live_one_out_of_the_mean():
    wanted = asked(("a", {}), ("b", {}))
    rows = {("toy", at, "cubic", 0): {"own_of_link": share} for at, share in (("a", 0.2), ("b", 0.8))}
    results, lived = both_sides(wanted, rows)
    without = {place: row for place, row in results.rows.items() if place != ("toy", "b", "cubic", 0)}
    row = beside.of_row(lived, replace(results, rows=without), wanted.criteria[0])
    found = row["numbers"]["toy.own_of_link"]["algorithms"]["cubic"]
    assert (found["points"], found["live"]["mean"]) == (["a"], pytest.approx(20.0))


def test_a_baseline_without_a_live_run_does_not_take_the_points_of_the_others():
    rows = {("toy", at, "cubic", 0): {"own_of_link": 0.8} for at in ("a", "b")}
    rows["toy", "a", "Reno", 0] = {"own_of_link": 0.6}
    row, found = compared(asked(("a", {}), ("b", {})), rows)
    assert found["cubic"]["points"] == ["a", "b"]
    assert found["Reno"]["points"] == ["a"]
    assert row["ran"] == {"toy": {"cubic": ["a", "b"], "Reno": ["a"]}}


def test_a_repeat_that_failed_leaves_the_others_of_its_point():
    wanted = replace(asked(("a", {}), ("b", {})), mode="full")
    rows = {
        ("toy", "a", label, i): {"own_of_link": 0.3 + 0.3 * i}
        for label in ("cubic", "Reno")
        for i in (0, 1, 2)
    }
    del rows["toy", "a", "cubic", 1]
    row, found = compared(wanted, rows, {("toy", "a", "cubic", 1): "not valid"})
    assert found["cubic"]["points"] == ["a"]
    assert found["cubic"]["live"]["mean"] == pytest.approx(60.0)  # of 30 and 90
    assert found["cubic"]["simulated"]["mean"] == pytest.approx(60.0)  # of 50 and 70
    assert row["left_out"] == ["a (cubic, 1 of 3 repeats): not valid"]


def test_a_line_names_only_pairs_of_point_and_algorithm_that_are_left_out():
    wanted = asked(("a", {}), ("b", {}))
    rows = {("toy", "a", "Reno", 0): {}, ("toy", "b", "cubic", 0): {}}
    row, _ = compared(wanted, rows, {("toy", "b", "Reno", 0): "late", ("toy", "a", "cubic", 0): "late"})
    assert row["left_out"] == ["a (cubic): late", "b (Reno): late"]


def test_what_is_left_out_of_one_experiment_is_not_said_of_another_with_the_same_points():
    wanted = asked(("a", {}))
    (own,) = wanted.criteria[0].experiments
    other = replace(own, name="other", title="Another")
    wanted = replace(wanted, criteria=(replace(wanted.criteria[0], experiments=(own, other)),))
    results, lived = both_sides(wanted, {}, {("other", "a", "Reno", 0): "late"})
    assert beside.of_row(lived, results, wanted.criteria[0])["left_out"] == ["Another, a (Reno): late"]


def carried(scenario, wrong=()):
    """The result of a live run, without one."""
    checks = [{"name": name, "ok": name not in wrong, "value": 0.01, "bound": 0.005} for name in (LATE, "x")]
    validity = {
        "valid": not wrong,
        "checks": checks,
        "lateness_s": [0.001, 0.002, 0.003],
        "congestion": {"own-1": "cubic"},
    }
    found = simulate.run(scenario)
    return Result(scenario, found._output | {"validity": validity}, 0.0)


class Machine:
    """Stands for `live.run.run`: what becomes of each run, by its title; a valid result by default."""

    def __init__(self, monkeypatch, **becomes):
        self.becomes = becomes
        self.ran = []
        monkeypatch.setattr(live.live_run, "run", self)
        monkeypatch.setattr(doctor, "examine", list)

    def __call__(self, scenario, source):
        self.ran.append(scenario.title)
        label = scenario.title.rpartition(" ")[2]
        became = self.becomes.get(label, [()])
        what = became.pop(0) if len(became) > 1 else became[0]
        if isinstance(what, BaseException):
            raise what
        return carried(scenario, what)


def performed(wanted, folder, **more):
    chosen = live.choose(wanted, tasks.plan(wanted))
    with Store(folder, "test") as kept:
        return live.perform(chosen, kept, Console(quiet=True), **more)


def test_a_live_run_is_tried_until_it_is_valid_and_the_attempts_are_kept(tmp_path, monkeypatch):
    machine = Machine(monkeypatch, cubic=[[LATE], LongfatError("ended early"), ()])
    lived = performed(asked(("a", {})), tmp_path)
    assert len(machine.ran) == 4  # three of cubic, one of Reno
    assert {place[2] for place in lived.rows} == {"cubic", "Reno"}
    (own,) = [outcome for outcome in lived.outcomes if outcome.work.places[0][2] == "cubic"]
    assert own.attempts == 3
    assert own.failed == ("not valid: lateness of the routers 0.01", "ended early")
    again = performed(asked(("a", {})), tmp_path)
    assert len(machine.ran) == 4
    assert {outcome.work.key: outcome for outcome in again.outcomes}[own.work.key] == own


def test_a_run_that_was_never_valid_is_kept_as_such_until_a_retry(tmp_path, monkeypatch):
    machine = Machine(monkeypatch, Reno=[[LATE]])
    why = "not valid in 3 attempts, the last one because of: lateness of the routers"
    place = ("toy", "a", "Reno", 0)
    assert performed(asked(("a", {})), tmp_path).left_out == {place: why}
    assert len(machine.ran) == 4
    assert performed(asked(("a", {})), tmp_path).left_out == {place: why}
    assert len(machine.ran) == 4
    (again,) = [each for each in performed(asked(("a", {})), tmp_path, retry=True).outcomes if each.failed]
    assert (len(machine.ran), again.attempts) == (7, 6)
    machine.becomes.clear()
    lived = performed(asked(("a", {})), tmp_path, retry=True)
    assert len(machine.ran) == 8
    assert sorted(outcome.attempts for outcome in lived.outcomes) == [1, 7]
    assert (place in lived.rows, lived.left_out) == (True, {})
    assert place in performed(asked(("a", {})), tmp_path).rows
    assert len(machine.ran) == 8


def test_an_interrupted_command_goes_on_with_the_runs_that_are_missing(tmp_path, monkeypatch):
    machine = Machine(monkeypatch, Reno=[KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        performed(asked(("a", {}), ("b", {"duration_s": 4.0})), tmp_path)
    first = len(machine.ran)
    machine.becomes.clear()
    lived = performed(asked(("a", {}), ("b", {"duration_s": 4.0})), tmp_path)
    assert len(lived.rows) == 4
    assert len(machine.ran) == first + 4 - (first - 1)


def test_what_the_machine_refuses_is_tried_once_and_again_by_the_next_command(tmp_path, monkeypatch):
    machine = Machine(monkeypatch, Reno=[InputError("live run: not permitted")])
    lived = performed(asked(("a", {})), tmp_path)
    assert lived.left_out == {("toy", "a", "Reno", 0): "live run: not permitted"}
    assert len(machine.ran) == 2
    performed(asked(("a", {})), tmp_path)
    assert len(machine.ran) == 3


def test_live_runs_stop_when_several_in_a_row_have_no_result(tmp_path, monkeypatch):
    broken = [LongfatError("the process of the live run ended early: killed")]
    machine = Machine(monkeypatch, cubic=broken, Reno=broken)
    lengths = [(f"{n} s", {"duration_s": float(n)}) for n in (3, 4, 5)]
    lived = performed(asked(*lengths), tmp_path)
    assert len(machine.ran) == live.MOST_BROKEN * live.ATTEMPTS
    assert lived.without_result == 6
    whys = list(lived.left_out.values())
    assert whys.count("not tried: 3 runs in a row had no result") == 3
    assert whys.count("the process of the live run ended early: killed") == 3
    machine.becomes.clear()
    assert len(performed(asked(*lengths), tmp_path).rows) == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda patch, forms: patch.setattr(platform, "node", lambda: "another"),
        lambda patch, forms: patch.setattr(platform, "release", lambda: "9.9"),
        lambda patch, forms: patch.setattr(kernel, "available", lambda: ["reno", "cubic", "htcp"]),
        lambda patch, forms: (forms / "lf_htcp.o").write_bytes(b"rebuilt"),
    ],
)
def test_a_live_run_belongs_to_the_machine_the_kernel_and_the_program_that_carried_it(
    change, tmp_path, monkeypatch
):
    (tmp_path / "lf_htcp.o").write_bytes(b"built")
    monkeypatch.setattr(kernel, "forms", lambda: tmp_path)
    (work, *_) = [
        work for work in tasks.plan(asked(("a", {}), algorithm="htcp")).works if work.places[0][2] == "htcp"
    ]
    before = live.live_key(work)
    assert live.live_key(work) == before
    change(monkeypatch, tmp_path)
    assert live.live_key(work) != before


def test_an_algorithm_that_cannot_be_loaded_is_refused_before_anything_runs(tmp_path, monkeypatch):
    machine = Machine(monkeypatch)
    monkeypatch.setattr(kernel, "forms", lambda: tmp_path / "none")
    monkeypatch.setattr(command, "distribution", lambda *_: pytest.fail("the simulation began"))
    with pytest.raises(InputError) as refused:
        command.run(asked(("a", {}), algorithm="htcp"), tmp_path / "out", backend="live")
    assert "lf_htcp" in str(refused.value)
    assert "to fix it" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert (machine.ran, list(tmp_path.iterdir())) == ([], [])


def test_an_explicit_rate_algorithm_needs_a_cgroup(tmp_path, monkeypatch):
    item = {"name": "cgroup", "needed": False, "ok": False, "found": "none", "remedy": "mount it"}
    monkeypatch.setattr(doctor, "examine", lambda: [item])
    with pytest.raises(InputError, match="assess: --backend live: cgroup: none; to fix it: mount it"):
        live.check_machine(asked(("a", {}), algorithm="xcp"))
    live.check_machine(asked(("a", {})))


def test_a_dossier_shows_how_its_live_runs_went(tmp_path, monkeypatch):
    Machine(monkeypatch, cubic=[[LATE], ()], Reno=[[LATE]])
    out = tmp_path / "out"
    document = command.run(asked(("a", {})), out, jobs=1, backend="live")
    assert {key: document["live"][key] for key in ("runs", "not_valid", "attempts", "without")} == {
        "runs": 1,
        "not_valid": 1,
        "attempts": 5,
        "without": "",
    }
    assert document["live"]["carriers"] == {
        "cubic": "the kernel's own cubic",
        "Reno": "the kernel's own reno",
    }
    (row,) = document["criteria"]
    attempts = {run["algorithm"]: (run["valid"], run["attempts"]) for run in row["live"]["runs"]}
    assert attempts == {"cubic": (True, 2), "Reno": (False, 3)}
    rows = {each["algorithm"]: each for each in pq.read_table(out / command.LIVE_FILE).to_pylist()}
    assert {each["backend"] for each in rows.values()} == {"live"}
    assert (rows["cubic"]["valid"], rows["cubic"]["attempts"], rows["cubic"]["lateness_p99_s"]) == (
        1,
        2,
        0.002,
    )
    assert rows["cubic"]["own_of_link"] > 0.5
    assert rows["Reno"]["own_of_link"] is None
    assert (
        "1 more were not valid: cubic by the kernel&#39;s own cubic; Reno by" in page.build(out).read_text()
    )
    command.run(asked(("a", {})), out, jobs=1)
    assert not (out / command.LIVE_FILE).exists()


def test_a_dossier_whose_own_live_runs_all_failed_says_so_on_each_first_screen(tmp_path, monkeypatch):
    Machine(monkeypatch, cubic=[[LATE]])
    document = command.run(asked(("a", {})), tmp_path / "out", jobs=1, backend="live")
    said = "No live run of cubic has a result: not valid in 3 attempts"
    assert document["live"]["without"].startswith(said)
    assert said in (tmp_path / "out" / command.MARKDOWN_FILE).read_text()
    assert said in page.build(tmp_path / "out").read_text()
    assert said in screen(document)


def screen(document):
    console = Console(record=True, width=160, quiet=False, file=io.StringIO())
    table.show(document, console)
    return console.export_text()


def test_without_a_line_the_terminal_shows_each_number_of_each_algorithm(tmp_path, monkeypatch):
    Machine(monkeypatch)
    wanted = asked(("a", {}))
    never = Measure("own_again", "sent again", "%", absent="nothing")
    (own,) = wanted.criteria[0].experiments
    other = replace(own, name="other", title="Another", measures=(RATE, replace(never, key="none")))
    wanted = replace(wanted, criteria=(replace(wanted.criteria[0], experiments=(own, other)),))
    document = command.run(wanted, tmp_path / "out", jobs=1, backend="live")
    assert document["headline"] == []
    shown = screen(document)
    lines = [line for line in shown.splitlines() if line.startswith("share of the link")]
    assert len(lines) == 4  # of two experiments, simulated and live
    assert "5.1.2 A toy" in shown
    assert "5.1.2 Another" in shown
    for label in ("cubic", "Reno"):
        found = document["criteria"][0]["measured" if label == "cubic" else "baseline"]
        entry = (found if label == "cubic" else found[label])["toy.own_of_link"]
        assert f"{cells.value(entry)}" in lines[0]
    absent = next(line for line in shown.splitlines() if line.startswith("sent again"))
    assert absent.count("nothing") == 2
    assert "±" in lines[0]
    assert "live and simulated, at a" in shown


def test_with_a_line_the_terminal_shows_no_table(tmp_path, monkeypatch):
    Machine(monkeypatch)
    document = command.run(asked(("a", {})), tmp_path / "out", jobs=1)
    line = {"name": "Loss", "section": "5.1.3", "text": "like Reno", "size": 0.0}
    shown = screen(document | {"headline": [line]})
    assert "Loss (5.1.3): like Reno" in shown
    assert "share of the link" not in shown


def test_a_retry_without_live_runs_is_bad_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["longfat", "assess", "cubic", "--retry"])
    assert end_code() == 2
    assert "--retry cannot be used without --backend live" in capsys.readouterr().err


def test_a_machine_that_can_run_nothing_live_is_told_what_to_do(monkeypatch, tmp_path):
    item = {"name": "network namespaces", "needed": True, "ok": False, "found": "none", "remedy": "be root"}
    monkeypatch.setattr(doctor, "examine", lambda: [item])
    with pytest.raises(InputError, match="network namespaces: none; to fix it: be root"):
        command.run(asked(("a", {})), tmp_path / "out", backend="live")
    assert not (tmp_path / "out").exists()


def test_an_unknown_backend_is_bad_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["longfat", "assess", "cubic", "--backend", "real"])
    assert end_code() == 2
    assert '--backend "real": there is no such choice; accepted: "sim" or "live"' in capsys.readouterr().err


@pytest.mark.live
@pytest.mark.long
@pytest.mark.usefixtures("able")
def test_a_dossier_shows_live_numbers_beside_simulated_ones_and_runs_them_once(tmp_path, monkeypatch):
    wanted = asked(("10 Mbit/s", {}), ("1 Gbit/s", {"mbps": 1000, "duration_s": 2.0}))
    quiet = Console(quiet=True)
    document = command.run(wanted, tmp_path, jobs=1, console=quiet, backend="live")
    (criterion,) = document["criteria"]
    found = criterion["live"]["numbers"]["toy.own_of_link"]
    for both in found["algorithms"].values():
        assert both["live"]["mean"] == pytest.approx(both["simulated"]["mean"], abs=15.0)
        assert both["points"] == ["10 Mbit/s"]
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
