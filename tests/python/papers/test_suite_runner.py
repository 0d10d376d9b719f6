"""Running a suite, on a small one: two experiments that share a run."""

import io
import json
import os
import shutil

import pyarrow.parquet as pq
import pytest
from rich.console import Console

import longfat_papers as suites
from longfat.errors import InputError
from longfat.figure.data import Figure, Panel, points
from longfat_papers.kit import runner
from longfat_papers.kit.claims import Check, Claim, Finding, Setting
from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Experiment, Run, Suite

PAPER = "a small paper"


def document(algorithm, seed=1):
    return {
        "title": f"two {algorithm}",
        "duration": "8 s",
        "seed": seed,
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"},
        "flow": [
            {"algorithm": algorithm, "rtt": "20 ms"},
            {"algorithm": algorithm, "rtt": "20 ms", "start": "1 s"},
        ],
    }


def grid(*algorithms):
    return lambda mode: [Run({"algorithm": name, "repeat": 0}, document(name), 3000.0) for name in algorithms]


def figure(name):
    def build(runs, mode):
        samples = [(float(i), (row["ratio"], float("nan"))) for i, row in enumerate(runs)]
        return Figure(
            name, f"Fig. {name}", "ratios", "a caption", (Panel("", "x", "y", (points("all", samples),)),)
        )

    return build


def claim(number, experiments, passed=True):
    def find(data):
        ratios = [row["ratio"] for name in experiments for row in data[name]]
        return Finding(f"{ratios[0]:.3f}", {"ratios": ratios}, checks=(Check("holds", passed, ""),))

    return Claim(
        f"TINY-{number}",
        PAPER,
        "two flows",
        "fair",
        (Setting("rate", "5 Mbit/s", "here"),),
        "one run",
        experiments,
        find,
    )


SUITE = Suite(
    "tiny",
    "A small suite",
    PAPER,
    (
        Experiment("A", "Fig. A", "both", grid("reno", "hstcp"), figure("A"), keeps_series=True),
        Experiment("B", "Fig. B", "one", grid("reno"), figure("B")),
    ),
    (claim("A", ("A",)), claim("B", ("B",), passed=False), claim("AB", ("A", "B"))),
    reduce_run,
)


def run(out, **options):
    return suites.run_suite(SUITE, "quick", jobs=1, out=out, **{"only": [], **options})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("suite")
    text = io.StringIO()
    return run(out, console=Console(file=text, width=120)), out, text


def test_the_outcome_prints_as_the_contract_says(finished):
    outcome, _, _ = finished
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert document["suite"] == "tiny"
    assert [row["id"] for row in document["claims"]] == ["TINY-A", "TINY-AB", "TINY-B"]
    assert [row["verdict"] for row in document["claims"]] == ["reproduced", "reproduced", "not reproduced"]
    assert [experiment["name"] for experiment in document["experiments"]] == ["A", "B"]


def test_a_run_that_experiments_share_is_run_once(finished):
    outcome, _, _ = finished
    assert outcome.performance["runs"] == 2


def test_results_lie_in_files_that_other_tools_read(finished):
    _, out, _ = finished
    rows = pq.read_table(out / "experiments" / "A.parquet").to_pylist()
    assert [row["algorithm"] for row in rows] == ["reno", "hstcp"]
    assert all(0.0 < row["ratio"] <= 1.0 for row in rows)
    series = pq.read_table(out / "experiments" / "A.series.parquet")
    assert set(series.column_names) == {"run", "name", "time_s", "cwnd", "received_bytes"}
    assert set(series["run"].to_pylist()) == {0, 1}
    assert not (out / "experiments" / "B.series.parquet").exists()


def test_the_terminal_shows_each_claim_its_verdict_and_where_the_report_is(finished):
    outcome, _, text = finished
    shown = text.getvalue()
    assert "TINY-AB" in shown
    assert "not reproduced" in shown
    assert str(outcome.report_path) in shown.replace("\n", "")


def test_nothing_unfinished_is_left_beside_the_results(finished):
    _, out, _ = finished
    assert list(out.rglob(".*")) == []


def test_the_figures_are_the_same_whatever_the_number_of_workers(finished, tmp_path):
    alone, _, _ = finished
    together = suites.run_suite(SUITE, "quick", jobs=2, out=tmp_path)
    assert [row["values"] for row in together.ledger] == [row["values"] for row in alone.ledger]


def test_only_runs_what_is_asked_for_and_keeps_the_rest_of_the_ledger(tmp_path):
    run(tmp_path)
    before = json.loads((tmp_path / "claims.json").read_text())["claims"]
    outcome = run(tmp_path, only=["TINY-B"])
    assert [row["id"] for row in outcome.ledger] == ["TINY-B"]
    assert outcome.performance["runs"] == 1
    assert json.loads((tmp_path / "claims.json").read_text())["claims"] == before


def test_ids_may_be_given_with_commas_between():
    assert SUITE.select(["TINY-A, b"]) == SUITE.select(["TINY-A", "B"])
    assert [experiment.name for experiment in SUITE.select(["A,B"])[0]] == ["A", "B"]


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "run_many", lambda *args, **options: pytest.fail("ran"))
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"thesis\.tex.*accepted: a new or empty folder"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_unknown_id_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="TINY-AB"):
        run(tmp_path / "new", only=["nope"])
    assert not (tmp_path / "new").exists()


def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "run_many", lambda *args, **options: pytest.fail("ran"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--out"):
        run(tmp_path / "file" / "below")


def test_interrupting_leaves_finished_experiments_readable_and_the_others_not_measured(tmp_path, monkeypatch):
    whole = runner.run_many

    def interrupted(scenarios, **options):
        yield next(whole(scenarios, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    verdicts = {
        row["id"]: row["verdict"] for row in json.loads((tmp_path / "claims.json").read_text())["claims"]
    }
    assert verdicts == {"TINY-A": "not measured", "TINY-AB": "not measured", "TINY-B": "not reproduced"}
    assert json.loads((tmp_path / "suite.json").read_text())["status"] == "interrupted"
    assert json.loads((tmp_path / "suite.json").read_text())["experiments"] == {
        "A": "interrupted",
        "B": "complete",
    }
    from longfat.cli import report

    assert "interrupted" in report.build(tmp_path).read_text()


def test_interrupting_a_part_leaves_what_it_did_not_make_as_it_was(tmp_path, monkeypatch):
    run(tmp_path)
    before = {
        path: path.read_bytes() for path in [*(tmp_path / "experiments").iterdir(), tmp_path / "claims.json"]
    }

    shutil.rmtree(tmp_path / "segments")  # runs that are kept would not be run again

    def interrupted(scenarios, **options):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(runner, "run_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        suites.run_suite(SUITE, "full", jobs=1, out=tmp_path, only=["B"])
    assert {path: path.read_bytes() for path in before} == before
    stored = json.loads((tmp_path / "suite.json").read_text())
    assert stored["status"] == "interrupted"
    assert stored["experiments"] == {"A": "complete", "B": "complete"}
    from longfat.cli import report

    page = report.build(tmp_path).read_text()
    assert "as an earlier run left them" in page
    assert "quick mode" in page


def test_a_claim_of_which_an_experiment_was_renewed_and_another_interrupted_is_not_measured(
    tmp_path, monkeypatch
):
    run(tmp_path)
    shutil.rmtree(tmp_path / "segments")
    whole = runner.run_many

    def interrupted(scenarios, **options):
        yield next(whole(scenarios, **options))  # the run that both experiments share: B is finished by it
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    rows = json.loads((tmp_path / "claims.json").read_text())["claims"]
    assert {row["id"]: row["verdict"] for row in rows} == {
        "TINY-A": "reproduced",
        "TINY-AB": "not measured",
        "TINY-B": "not reproduced",
    }


def test_an_interrupted_suite_goes_on_where_it_was_and_comes_to_the_same(tmp_path, monkeypatch):
    whole = runner.run_many
    ran = []

    def interrupted(scenarios, **options):
        yield next(whole(scenarios, **options))
        raise KeyboardInterrupt

    def counted(scenarios, **options):
        ran.append(len(scenarios))
        return whole(scenarios, **options)

    monkeypatch.setattr(runner, "run_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "hit")
    monkeypatch.setattr(runner, "run_many", counted)
    run(tmp_path / "hit")
    run(tmp_path / "calm")
    assert ran[0] == ran[1] - 1
    for name in ("claims.json", "experiments/A.parquet", "experiments/B.parquet"):
        assert (tmp_path / "hit" / name).read_bytes() == (tmp_path / "calm" / name).read_bytes()


def test_suites_share_runs_that_are_kept_in_one_place(tmp_path, monkeypatch):
    suites.run_suite(SUITE, jobs=1, out=tmp_path / "one", runs=tmp_path / "runs")
    monkeypatch.setattr(runner, "run_many", lambda scenarios, **options: iter(scenarios))
    outcome = suites.run_suite(SUITE, jobs=1, out=tmp_path / "two", runs=tmp_path / "runs")
    assert outcome.performance["found"] == outcome.performance["runs"]


def test_a_folder_that_kept_runs_for_another_suite_becomes_a_suite_s_own(tmp_path):
    suites.run_suite(SUITE, jobs=1, out=tmp_path / "one", runs=tmp_path / "runs")
    suites.run_suite(SUITE, jobs=1, out=tmp_path / "runs")
    assert (tmp_path / "runs" / "suite.json").exists()


def test_a_longer_run_is_started_first(tmp_path, monkeypatch):
    started = []
    whole = runner.run_many

    def watched(scenarios, **options):
        started.extend(scenario.title for scenario in scenarios)
        return whole(scenarios, **options)

    monkeypatch.setattr(runner, "run_many", watched)
    runs = [
        Run({"algorithm": name, "repeat": 0}, document(name), work)
        for name, work in (("reno", 1.0), ("stcp", 9.0))
    ]
    suite = Suite(
        "tiny",
        "t",
        PAPER,
        (Experiment("A", "", "", lambda mode: runs, figure("A")),),
        (claim("A", ("A",)),),
        reduce_run,
    )
    suites.run_suite(suite, "quick", jobs=1, out=tmp_path)
    assert started == ["two stcp", "two reno"]


def test_provenance_is_stored_beside_the_results(finished):
    _, out, _ = finished
    provenance = json.loads((out / "suite.json").read_text())["provenance"]
    assert {"version", "commit", "host", "kernel", "command"} <= provenance.keys()
    assert os.path.exists(out / "index.html")
