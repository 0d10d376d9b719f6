"""The dossier of RFC 9743: its rows, its arithmetic, what it knows to be true, and what it survives."""

from __future__ import annotations

import json
import math
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longfat.assess import answers, command, dossier, headline, markdown, tasks
from longfat.assess.criteria import CRITERIA, EXPERIMENTS, select
from longfat.assess.estimate import Cell, difference
from longfat.assess.measure import backoff, heavy_loss, reached, task
from longfat.assess.model import Measure
from longfat.cli import report
from longfat.cli.app import end_code
from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat.scenario.stacks import LINUX, hosts
from longfat.study.stats import Estimate, with_half_width

STRANGE = Path(__file__).with_name("strange_algorithms.py")
SECTIONS = [
    *("5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2", "5.2.1", "5.2.2", "5.2.3", "5.3.1", "5.3.2"),
    *("6.1", "6.2", "6.3", "6.4"),
    *("7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11"),
]
"""The sections of RFC 9743 that ask something, by its table of contents."""


def mine(name):
    return f"{STRANGE}:{name}"


def numbers(name, at, algorithm, seed=1):
    """What one run of an experiment measures, in the units of the dossier."""
    experiment = EXPERIMENTS[name]
    (point,) = [point for point in experiment.points("quick") if point.at == at]
    row = task(Scenario.from_dict(point.make(algorithm) | {"seed": seed}, stack=LINUX))
    found = {}
    for measure in experiment.measures:
        value = row[measure.key]
        found[measure.key] = math.nan if value is None else measure.scale * value
    return found


# the data


def test_every_section_of_the_rfc_that_asks_something_is_a_row():
    assert [row.section for row in CRITERIA] == SECTIONS


def test_every_row_has_experiments_or_a_prompt_or_the_reason_why_not():
    for row in CRITERIA:
        assert sum(map(bool, (row.experiments, row.prompt, row.why))) == 1, row.section


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_has_sources_and_scenarios_that_are_accepted(name):
    experiment = EXPERIMENTS[name]
    assert experiment.settings
    assert all(setting.source for setting in experiment.settings)
    for mode in ("quick", "full"):
        points = experiment.points(mode)
        assert len({point.at for point in points}) == len(points)
        for point in (points[0], points[-1]):
            for algorithm in ("reno", "prague", "xcp", mine("Deaf")):
                Scenario.from_dict(point.make(algorithm))


def test_the_names_of_experiments_and_the_keys_of_measures_are_unique():
    listed = [item.name for row in CRITERIA for item in row.experiments]
    assert len(set(listed)) == len(listed)
    assert set(listed) == EXPERIMENTS.keys()
    for item in EXPERIMENTS.values():
        assert len({measure.key for measure in item.measures}) == len(item.measures)


def test_an_explicit_rate_algorithm_gets_its_router_except_behind_a_tunnel():
    def routers(name, algorithm):
        points = EXPERIMENTS[name].points("quick")
        return [point.make(algorithm)["bottleneck"].get("router") for point in points]

    assert routers("tunnel", "xcp") == ["xcp", None]
    assert set(routers("droptail", "rcp")) == {"rcp"}
    assert set(routers("droptail", "reno")) == {None}


def test_sections_are_selected_by_their_beginning():
    assert [row.section for row in select(["5.3", "7.6"])] == ["5.3.1", "5.3.2", "7.6"]
    assert [row.section for row in select(["7.1"])] == ["7.1"]
    assert len(select([])) == len(SECTIONS)


def test_the_topics_of_the_lines_name_numbers_and_points_that_exist():
    named = [item for item in EXPERIMENTS.values() if item.topic]
    assert len(named) >= headline.LINES == 10
    for item in named:
        assert item.measure(item.topic.measure) in item.measures
        for mode in ("quick", "full"):
            assert any(point.at.endswith(item.topic.points) for point in item.points(mode))


def test_the_hosts_are_todays_unless_another_stack_is_asked_for():
    def found(**more):
        planned = tasks.plan(tasks.assessment("htcp", only=["5.1.2", "5.2.1"], **more))
        return {
            (name == "beside-quic", *sorted(set(hosts(work.scenario).values())))
            for work in planned.works
            for name in {place[0] for place in work.places}
        }

    assert found() == {(False, "linux"), (True, "linux", "quic")}
    assert found(stack="rfc") == {(False, "rfc"), (True, "quic", "rfc")}


# the arithmetic


def test_a_difference_leaves_out_what_one_of_both_lacks():
    # it failed where the other one was slow: the rest is no better than that of the other
    own = Cell({"easy": (5.0, 7.0), "hard": (math.nan, 3.0)})
    other = Cell({"easy": (5.0, 7.0), "hard": (1.0, 3.0)})
    assert difference(own, other) == Estimate(0.0, 0.0)
    assert own.estimate.mean == 5.0
    assert math.isnan(difference(Cell({"hard": (math.nan,)}), Cell({"hard": (1.0,)})).mean)


def test_a_difference_is_that_of_runs_with_the_same_seed():
    own, other = Cell({"a": (11.0, 21.0, 31.0)}), Cell({"a": (10.0, 20.0, 30.0)})
    assert difference(own, other) == Estimate(1.0, 0.0)
    # t of Student with 2 degrees of freedom is 4.303; s = 10, so 10 / sqrt(3) * 4.303
    assert with_half_width(own.values).half_width == pytest.approx(24.84, abs=0.01)
    assert math.isnan(with_half_width((1.0,)).half_width)
    assert math.isnan(with_half_width((math.nan,)).mean)


def test_a_difference_counts_if_its_interval_leaves_out_zero():
    assert Estimate(2.0, 1.0).differs
    assert not Estimate(1.0, 2.0).differs
    assert not Estimate(0.0, 0.0).differs
    assert not Estimate(math.nan, 1.0).differs


@pytest.mark.parametrize(
    ("gap", "better", "said"),
    [
        (Estimate(2.0, 1.0), "less", "worse than Reno by 2 ± 1 points"),
        (Estimate(-2.0, 1.0), "less", "better than Reno by 2 ± 1 points"),
        (Estimate(-2.0, 1.0), "more", "worse than Reno by 2 ± 1 points"),
        (Estimate(2.0, 1.0), "neither", "2 ± 1 points more than Reno"),
        (Estimate(0.5, 1.0), "less", "like Reno (+0.5 ± 1 points)"),
        (Estimate(math.nan), "less", "no number to compare with Reno"),
    ],
)
def test_a_difference_is_said_as_better_or_worse_and_never_as_pass_or_fail(gap, better, said):
    assert headline.comparison(gap, Measure("x", "x", "%", better), "Reno") == said


def test_backoff_is_the_median_factor_between_neighbouring_gaps():
    time_s = np.arange(0.0, 32.0, 0.5)
    sent = np.sum([time_s >= at for at in (1.0, 2.0, 4.0, 8.0, 16.0)], axis=0).astype(float)
    assert backoff(time_s, sent) == 2.0
    assert backoff(time_s, np.minimum(sent, 3.0)) is None


def test_a_rate_is_reached_when_a_whole_second_is_fast_enough():
    time_s = np.arange(0.0, 10.1, 0.1)
    received = 1e6 / 8.0 * np.maximum(time_s - 5.0, 0.0)  # 1 Mbit/s from 5 s on
    # at 5.8 s, four fifths of the last second were fast
    assert reached(time_s, received, 2.0, 1e6) == pytest.approx(3.8, abs=0.11)
    assert reached(time_s, received, 2.0, 2e6) is None


def test_seconds_of_heavy_loss_are_counted():
    time_s = np.arange(0.0, 5.0)
    assert heavy_loss(time_s, 100.0 * time_s, np.array([0.0, 9.0, 20.0, 20.0, 50.0])) == 2.0


def test_a_number_of_others_is_compared_with_what_it_was_beside_a_baseline():
    share = EXPERIMENTS["beside-reno"].measure("other_of_fair")
    assert headline.comparison(Estimate(-9.0, 1.0), share, "Reno") == "9 ± 1 points less than beside Reno"
    assert headline.comparison(Estimate(0.5, 1.0), share, "Reno") == "as beside Reno (+0.5 ± 1 points)"


# what is known


def test_reno_backs_off_as_rfc_6298_says_when_everything_is_lost():
    found = numbers("collapse", "100 % lost", "reno")
    assert found["backoff"] == pytest.approx(2.0, abs=0.02)  # RFC 6298, section 5.5: twice the timeout
    # from a first timeout of 0.24 s to 1 s, after which gaps double: at most 7 packets fit into 60 s
    assert found["packets_per_rtt"] * 59 / 0.04 <= 7.5
    blackout = numbers("blackout", "blackout", "reno")
    assert blackout["backoff"] == pytest.approx(2.0, abs=0.05)
    assert blackout["packets_per_rtt"] < 0.01


def test_bbr_v1_loses_much_below_one_and_a_half_bdp_and_little_above():
    low, high = (numbers("high-loss", f"8 flows, {buffer} BDP", "bbr") for buffer in ("0.25", "3"))
    reno = numbers("high-loss", "8 flows, 0.25 BDP", "reno")
    assert low["own_loss"] > 5.0
    assert low["own_loss"] > 5.0 * reno["own_loss"]
    assert high["own_loss"] < 0.2 * low["own_loss"]


def test_cubic_fills_a_buffer_of_16_bdp_and_bbr_does_not():
    cubic, bbr = (numbers("bufferbloat", "16 BDP", name)["queue_s"] for name in ("cubic", "bbr"))
    assert cubic > 400.0  # of 640 ms
    assert bbr < 40.0  # one BDP


def test_scalable_tcp_starves_reno():
    at = "50 Mbit/s, 80 ms, 0.5 BDP"
    starved, usual = (numbers("beside-reno", at, name)["other_of_fair"] for name in ("stcp", "reno"))
    assert starved < 25.0 < 80.0 < usual


def test_dctcp_without_marks_does_as_reno():
    for experiment, at in (("droptail", "5 Mbit/s, 10 ms, 2 BDP"), ("aqm", "CoDel, drops")):
        dctcp, reno = (numbers(experiment, at, name) for name in ("dctcp", "reno"))
        assert dctcp["utilization"] == pytest.approx(reno["utilization"], abs=1.5)
        assert dctcp["own_loss"] == pytest.approx(reno["own_loss"], rel=0.2)
    marked, dropped = (numbers("data-centre", at, "dctcp") for at in ("marks", "drops"))
    assert marked["queue_s"] < 0.4 * dropped["queue_s"]
    assert marked["own_loss"] == 0.0


def test_a_receiver_that_conceals_losses_takes_all_from_an_honest_one():
    assert numbers("receivers", "losses concealed", "cubic")["other_of_fair"] < 5.0
    assert numbers("receivers", "ACKs in 8 parts", "cubic")["other_of_fair"] > 70.0


# whole dossiers


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def few(wanted):
    """The rows of these experiments, with only the points that are named."""

    def cut(item):
        return replace(item, points=lambda mode: [p for p in item.points(mode) if p.at in wanted[item.name]])

    rows = []
    for row in CRITERIA:
        kept = tuple(cut(item) for item in row.experiments if item.name in wanted)
        rows += [replace(row, experiments=kept)] if kept else []
    return tuple(rows)


def assessed(algorithm, out, store, only=(), wanted=None, repeats=2, **more):
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(tasks.REPEATS, "quick", repeats)
        asked = tasks.assessment(algorithm, only=only)
        asked = replace(asked, criteria=few(wanted)) if wanted else asked
        return command.run(asked, out, jobs=2, runs=store, **more)


ANSWERS = {"5.3.2": "It halves.\n\nAs RFC 5681 does."}


@pytest.fixture(scope="module")
def htcp(tmp_path_factory, store):
    out = tmp_path_factory.mktemp("dossier") / "out"
    return assessed("htcp", out, store, ["5.1.2", "5.3", "7.10"], answers=ANSWERS), out


def test_a_dossier_has_the_promised_form(htcp):
    document, out = htcp
    assert document["algorithm"] == "htcp"
    assert document["baselines"] == ["Reno", "CUBIC"]
    assert document["stack"] == "linux"
    keys = {"section", "title", "asks", "status", "figures", "measured", "baseline", "uncertainty", "runs"}
    assert all(keys <= row.keys() for row in document["criteria"])
    statuses = {row["section"]: row["status"] for row in document["criteria"]}
    assert statuses == {
        "5.1.2": "addressed",
        "5.3.1": "text needed",
        "5.3.2": "addressed",
        "7.10": "not applicable",
    }
    row = document["criteria"][0]
    measured = row["measured"]["bufferbloat.queue_s"]
    assert [point["at"] for point in measured["points"]] == ["0.25 BDP", "1 BDP", "4 BDP", "16 BDP"]
    gap = row["uncertainty"]["differences"]["Reno"]["bufferbloat.queue_s"]
    reno = row["baseline"]["Reno"]["bufferbloat.queue_s"]
    assert gap["mean"] == pytest.approx(measured["mean"] - reno["mean"])
    assert json.loads((out / "dossier.json").read_text()) == document


def test_the_scenario_of_each_run_is_in_the_archive_and_gives_the_same_numbers(htcp):
    document, out = htcp
    row = document["criteria"][0]
    (run,) = [run for run in row["runs"] if (run["at"], run["algorithm"]) == ("16 BDP", "Reno")]
    with zipfile.ZipFile(out / "scenarios.zip") as archive:
        scenario = Scenario.from_toml(archive.read(run["file"]).decode())
    point = row["baseline"]["Reno"]["bufferbloat.queue_s"]["points"][-1]
    assert task(scenario)["queue_s"] * 1e3 == pytest.approx(point["mean"], abs=point["half_width_95"])


def test_a_dossier_continues_with_the_runs_that_are_kept(htcp, tmp_path, store, monkeypatch):
    def none(*_):
        return lambda function, scenarios: iter([pytest.fail("a run was repeated") for _ in scenarios])

    monkeypatch.setattr(command, "distribution", none)
    again = assessed("htcp", tmp_path / "out", store, ["5.1.2", "5.3", "7.10"], answers=ANSWERS)
    assert again["criteria"] == htcp[0]["criteria"]


def test_the_page_and_the_markdown_say_the_ten_lines_and_every_section(htcp):
    document, out = htcp
    page, marked = (out / "index.html").read_text(), (out / "dossier.md").read_text()
    assert "Limitations of the method" in page
    assert "It halves." in page
    assert marked == markdown.text(document)
    for row in document["criteria"]:
        assert f"## {row['section']} {row['title']}" in marked
        assert f'id="s{row["section"]}"' in page
    plain = re.sub(r"\\(.)", r"\1", marked)
    assert all(f"{line['text']}." in plain for line in document["headline"])
    assert not re.search(r"(?<!\\)<", re.sub(r"`[^`]*`", "", marked))

    # four points of three algorithms in each of two panels, with nothing that needs a script
    assert page.count("</title></use>") == 24
    assert "<script" not in page
    assert report.build(out).read_text() == page


def test_the_name_of_an_algorithm_s_file_is_no_markup_in_the_markdown(htcp):
    document, _ = htcp
    name = "*my*_<b>|`x`[1](2).py:Own"
    marked = markdown.text({**document, "algorithm": name})
    assert marked.startswith(r"# Assessment of \*my\*\_\<b\>\|\`x\`\[1\](2).py:Own by RFC 9743")


def test_a_deaf_algorithm_and_a_timid_one_are_told_apart_in_the_ten_lines(tmp_path, store):
    wanted = {
        "high-loss": ["8 flows, 0.25 BDP"],
        "beside-reno": ["10 Mbit/s, 20 ms, 2 BDP"],
        "droptail": ["50 Mbit/s, 100 ms, 2 BDP"],
    }

    def said(name):
        document = assessed(mine(name), tmp_path / name, store, wanted=wanted, repeats=4)
        return {line["name"]: line["text"] for line in document["headline"]}

    deaf, timid = said("Deaf"), said("Timid")
    assert "worse than Reno" in deaf["Loss"]
    assert "less than beside Reno" in deaf["Beside Reno"]
    assert "worse than Reno" not in deaf["Drop-tail paths"]
    assert "better than Reno" in timid["Loss"]
    assert "more than beside Reno" in timid["Beside Reno"]
    assert "worse than Reno" in timid["Drop-tail paths"]


def test_an_algorithm_that_raises_or_never_sends_has_a_dossier_that_says_so(tmp_path, store):
    wanted = {"collapse": ["50 % lost", "100 % lost"], "bufferbloat": ["1 BDP"]}
    raised = assessed(mine("Breaks"), tmp_path / "raises", store, wanted=wanted)
    collapse, bufferbloat = raised["criteria"]
    assert collapse["status"] == "text needed"
    assert bufferbloat["status"] == "addressed"
    assert "no idea what to do" in collapse["problems"][0]
    assert "100 % lost" in collapse["problems"][0]
    assert not bufferbloat["problems"]
    assert bufferbloat["measured"]["bufferbloat.queue_s"]["mean"] > 0.0
    (own,) = [line for row in raised["criteria"] for line in row["problems"] if "no idea what to do" in line]
    assert re.search(r"ValueError: no idea what to do \(\w+\.py, line \d+, in on_\w+\)$", own)
    assert re.match(r"failed in \d+ of \d+ runs", raised["headline"][0]["text"])
    assert "no idea what to do" in (tmp_path / "raises" / "index.html").read_text()
    silent = assessed(mine("Silent"), tmp_path / "silent", store, wanted=wanted)
    assert silent["criteria"][1]["problems"] == ["strange_algorithms.py:Silent sent next to nothing at 1 BDP"]


def test_each_cause_of_failures_is_said_once_over_all_sections(tmp_path, store):
    wanted = {"bufferbloat": ["1 BDP", "16 BDP"], "high-loss": ["8 flows, 0.25 BDP"]}
    document = assessed(mine("AlwaysBreaks"), tmp_path / "out", store, wanted=wanted)
    (failure,) = document["failures"]
    assert failure["runs"] == failure["of"] > 5
    assert failure["sections"] == ["5.1.2", "5.1.3"]
    page, markdown = ((tmp_path / "out" / name).read_text() for name in ("index.html", "dossier.md"))
    for text in (page, markdown):
        assert f"{failure['of']} of {failure['of']} runs (5.1.2, 5.1.3) failed: " in text


# bad input


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"algorithm": "mine.py"}, '"mine.py" names a file; accepted: file.py:Class'),
        ({"algorithm": "cubik"}, 'did you mean "cubic"?'),
        ({"algorithm": "nowhere.py:Mine"}, "assess: nowhere.py:Mine: there is no file"),
        (
            {"algorithm": "cubic", "only": ["5.4"]},
            "--only 5.4: RFC 9743 has no such section; accepted: 5.1.1",
        ),
        ({"algorithm": "cubic", "baselines": ["cubic"]}, "--baseline: cubic is what is assessed"),
        ({"algorithm": "cubic", "baselines": ["reno", "tcp"]}, "--baseline: tcp: it is given twice"),
    ],
)
def test_what_cannot_be_assessed_is_refused_in_a_line(asked, told):
    with pytest.raises(InputError) as refused:
        tasks.assessment(**asked)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"5.4" = "x"', "5.4: RFC 9743 has no such section"),
        ('"5.3.1" = 3', '5.3.1: this is not a text; accepted: text, as in "5.3.1" = "text"'),
        ('"5.3.1" = ""', "5.3.1: this is not a text; accepted: text"),
        ("5.3.1", 'accepted: lines such as "5.3.1" = "text"'),
    ],
)
def test_answers_that_are_none_are_refused_in_a_line(text, told, tmp_path):
    (tmp_path / "answers.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        answers.read(tmp_path / "answers.toml")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_answers_are_read_with_and_without_quotes(tmp_path):
    (tmp_path / "answers.toml").write_text('"5.3.1" = "one"\n5.3.2 = """\ntwo\n"""\n')
    assert answers.read(tmp_path / "answers.toml") == {"5.3.1": "one", "5.3.2": "two"}


@pytest.mark.parametrize("name", ["Never", "Nobody"])
def test_a_class_that_cannot_be_made_ends_the_command_with_a_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["longfat", "assess", mine(name), "--out", str(tmp_path / "out")])
    assert end_code() in (1, 2)
    error = capsys.readouterr().err.strip()
    assert error.startswith("error: ")
    assert "\n" not in error
    assert not (tmp_path / "out").exists()


def test_the_status_of_a_row_is_no_verdict():
    for row in CRITERIA:
        assert dossier.status(row, {"x": {"complete": True}}, "") in (
            "addressed",
            "text needed",
            "not applicable",
        )
