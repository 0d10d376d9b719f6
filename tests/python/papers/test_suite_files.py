"""How a paper is written down: what a figure's file declares, `readings.toml`, and suites in folders."""

import json
import re
import sys

import pytest

import longfat_papers as suites
from longfat.errors import InputError, LongfatError
from longfat_papers.kit import Check, Drawing, Evidence, Panel, Paper, Run, Runs, above, at_least, repeats
from longfat_papers.kit.assumptions import load
from longfat_papers.kit.claims import judge
from longfat_papers.kit.suite import Data

ROWS = Runs("F1", [{"rtt_ms": rtt, "ratio": ratio, "repeat": 0} for rtt, ratio in ((40, 0.9), (80, 0.5))])


HERE = r" \(test_suite_files\.py, line \d+\)$"
"""What ends an error about a function of this file."""


def paper() -> Paper:
    return Paper("toy", "TOY", "Toy", "A toy, 2026", estimator="mean")


def row_of(rule, **options):
    """The ledger row of a claim with this rule."""
    toy = paper()
    toy.experiment("F1", "Fig. 1", "flows")(lambda mode: []).drawing(lambda runs, mode: Drawing("", ()))
    toy.claim("1", "two flows", "fair", ("F1",), **options)(rule)
    (claim,) = toy.suite(__name__).claims
    return judge(claim, Data({"F1": ROWS}), "full")


def test_a_rule_yields_its_checks_and_returns_the_evidence():
    def rule(runs):
        for rtt, ratio in runs.means("rtt_ms", "ratio").items():
            yield at_least(f"{rtt} ms: ratio", ratio, 0.8)
        return Evidence("one of two", {"good": 1}, note="a note")

    row = row_of(rule)
    assert (row["verdict"], row["measured"], row["values"]) == ("partly", "one of two", {"good": 1})
    assert row["note"] == "a note"
    assert [check["passed"] for check in row["checks"]] == [True, False]


def test_a_rule_without_evidence_reports_what_its_checks_measured():
    def rule(runs):
        yield at_least("ratio", runs.mean("ratio"), 0.8)

    assert row_of(rule)["measured"] == "ratio at least 0.8: 0.7"


def test_the_sentence_of_a_rule_has_each_quantity_once_and_no_measured_bound():
    def rule(runs):
        for rtt, ratio in runs.means("rtt_ms", "ratio").items():
            yield at_least(f"{rtt} ms: ratio", ratio, 0.8)
        yield above("80 ms: ratio", 0.5, 0.123, than="that of the web's flows")

    assert row_of(rule, bounds="Chosen here.")["rule"] == (
        "40 ms, 80 ms: ratio at least 0.8; 80 ms: ratio above that of the web's flows. Chosen here. "
        "Reproduced if all checks hold, partly if at least half do."
    )


def test_the_sentence_of_a_rule_with_many_cases_names_the_first_and_the_last():
    def rule(runs):
        for number in range(20):
            yield at_least(f"run {number}: ratio", 1.0, 0.8)

    assert row_of(rule)["rule"].startswith("run 0 to run 19 (20 cases): ratio at least 0.8.")


def test_a_claim_that_only_reports_has_no_verdict_and_no_rule_about_it():
    row = row_of(lambda runs: iter([Check("it holds", True, "1")]), reports=True, bounds="Nothing to check.")
    assert (row["verdict"], row["rule"]) == ("undecidable", "it holds. Nothing to check.")


def test_a_grid_gives_a_run_for_each_point_and_the_seed_of_its_repeat():
    toy = paper()

    @toy.experiment("F1", "Fig. 1", "flows", grid={"rtt_ms": {"quick": (40,), "full": (40, 80)}, "repeat": 2})
    def flows(rtt_ms, repeat, mode):
        return {"title": f"{rtt_ms} {mode}"}

    flows.drawing(lambda runs, mode: Drawing("caption", (Panel("", "x", "y", ()),)))
    experiment = toy.suite(__name__).experiment("F1")
    assert experiment.runs("quick") == [
        Run({"rtt_ms": 40, "repeat": 0}, {"seed": 1, "title": "40 quick"}),
        Run({"rtt_ms": 40, "repeat": 1}, {"seed": 2, "title": "40 quick"}),
    ]
    assert len(experiment.runs("full")) == 4
    figure = experiment.figure(ROWS, "full")
    assert (figure.name, figure.mirrors, figure.title, figure.caption) == ("F1", "Fig. 1", "flows", "caption")


def test_the_runs_of_a_grid_can_have_an_estimate_of_their_packets():
    toy = paper()
    grid = {"seconds": (1, 2)}

    @toy.experiment("F1", "Fig. 1", "flows", grid=grid, packets=lambda document: 10.0 * document["duration"])
    def flows(seconds):
        return {"duration": seconds}

    assert [run.packets for run in flows.runs("quick")] == [10.0, 20.0]


def test_a_caption_counts_one_run_for_each_point_where_nothing_is_repeated():
    rows = [{"rtt_ms": 40}, {"rtt_ms": 80}]
    assert repeats(Runs("F1", rows)) == " One run for each point."
    assert repeats(Runs("F1", [{**row, "repeat": n} for row in rows for n in (0, 1)])) == (
        " Mean and standard error of 2 runs for each point."
    )


def test_a_scenario_with_a_mistake_names_the_line_of_its_experiment(folder, tmp_path, longfat):
    code, _, err = longfat("suite", folder, "--out", tmp_path / "out")
    assert code == 2
    assert err.startswith("error: suite mine, F2 (fig2.py, line 6): ")
    assert not (tmp_path / "out").exists()


def test_an_experiment_without_a_drawing_and_names_used_twice_are_refused():
    toy = paper()
    toy.experiment("F1", "Fig. 1", "flows")(lambda mode: [])
    with pytest.raises(InputError, match=rf"experiment F1: it has no drawing; .*{HERE}"):
        toy.suite(__name__)
    with pytest.raises(InputError, match="experiment F1 is declared twice"):
        toy.experiment("F1", "Fig. 1", "flows")(lambda mode: [])
    with pytest.raises(InputError, match=r"F/1.* is not the name of a file"):
        toy.experiment("F/1", "Fig. 1", "flows")
    toy.claim("1", "", "", ("F1",))(lambda runs: iter(()))
    with pytest.raises(InputError, match="claim TOY-1 is declared twice"):
        toy.claim("1", "", "", ("F1",))(lambda runs: iter(()))


READINGS = """
[[assumption]]
id = "acks"
question = '''Which ACKs,
for {RATE} Mbit/s?'''
claims = ["1"]

[[assumption.reading]]
name = "delayed"
text = "Delayed."
source = "RFC 5681"

[[assumption.reading]]
name = "each"
text = "Each."
source = "plausible"
flows = { delayed_ack = false }
bottleneck = { buffer = "2 MB" }
remove = ["bottleneck.service_tick", "algorithms.fast.alpha"]
rewrite = { name = "slower", factor = 2 }

[closed]
TOY-2 = "Nothing."
"""


def slower(document, factor):
    return {**document, "seconds": document["seconds"] * factor}


def test_readings_are_read_with_their_changes(tmp_path):
    file = tmp_path / "readings.toml"
    file.write_text(READINGS)
    (acks,), closed = load(file, {"RATE": 400, "slower": slower})
    assert (acks.id, acks.question, acks.claims) == ("acks", "Which ACKs, for 400 Mbit/s?", ("1",))
    assert closed == {"TOY-2": "Nothing."}
    base, each = acks.readings
    assert not base.change
    changed = each.change.apply(
        {
            "seconds": 5,
            "bottleneck": {"buffer": "1 MB", "service_tick": "1 ms", "rate": "1 Mbit/s"},
            "flow": [{"algorithm": {"name": "fast", "alpha": 200}}],
        }
    )
    assert changed == {
        "seconds": 10,
        "bottleneck": {"buffer": "2 MB", "rate": "1 Mbit/s"},
        "flow": [{"algorithm": {"name": "fast"}, "delayed_ack": False}],
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("question =", "questoin =", r'acks: questoin: there is no such key, did you mean "question"'),
        ('source = "RFC 5681"', "", "assumption acks: reading delayed: source is missing"),
        ("{RATE}", "{RAT}", "assumption acks: 'RAT' in braces; accepted: a constant of the suite"),
        ("slower", "slowest", "reading each: rewrite slowest; accepted: a function of the suite"),
        ("bottleneck.service_tick", "service_tick", "remove service_tick; accepted: a key of flows"),
        ("[closed]", "[close]", r'the file: close: there is no such key, did you mean "closed"'),
        ("[closed]", "[closed", "Expected"),
        ('claims = ["1"]', 'claims = "1"', "assumption acks: claims = '1'; accepted: a list"),
        ("flows = { delayed_ack = false }", "flows = 3", "reading each: flows = 3; accepted: a table"),
    ],
)
def test_a_file_of_readings_with_a_mistake_is_refused_in_one_line(tmp_path, old, new, said):
    file = tmp_path / "readings.toml"
    file.write_text(READINGS.replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        load(file, {"RATE": 400, "slower": slower})
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


PAPER = """
from longfat_papers.kit import Drawing, Panel, Paper, at_least
PAPER = Paper("mine", "MY", "Mine", "A paper, 2026")
"""
FIGURE = """
{imports}
@PAPER.experiment("F{n}", "Fig. {n}", "flows", grid={{"repeat": 1}})
def flows(repeat):
    return {{"duration": "1 s"}}
@flows.drawing
def drawing(runs, mode):
    return Drawing("", (Panel("", "x", "y", ()),))
@flows.claim("{n}", "flows", published="fair")
def fair(runs):
    yield at_least("ratio", 1.0, 0.5)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a paper of two figures; what it leaves in the interpreter is taken back."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "fig2.py").write_text(PAPER + FIGURE.format(n=2, imports=""))
    imports = "from longfat_papers.kit import Drawing, Panel, at_least\nfrom mine.fig2 import PAPER"
    (tmp_path / "mine" / "fig10.py").write_text(FIGURE.format(n=10, imports=imports))
    yield tmp_path / "mine"
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def test_a_folder_is_a_suite_of_all_its_figures_in_the_order_of_their_names(folder):
    suite = suites.get(str(folder))
    assert [experiment.name for experiment in suite.experiments] == ["F2", "F10"]
    assert [claim.id for claim in suite.claims] == ["MY-2", "MY-10"]


def test_a_folder_with_two_papers_is_refused(folder):
    (folder / "fig10.py").write_text(PAPER + FIGURE.format(n=10, imports=""))
    with pytest.raises(InputError, match="it defines 2 papers and no SUITE; accepted: one `Paper`"):
        suites.get(str(folder))


def test_a_folder_without_a_paper_or_with_a_mistake_is_refused(folder):
    (folder / "fig10.py").write_text("1 / 0")
    with pytest.raises(InputError, match="cannot be imported: ZeroDivisionError"):
        suites.get(str(folder))
    (folder / "fig10.py").write_text("from mine.fig2 import PAPER\n\nPAPER.experiment('F/1', '', '')")
    with pytest.raises(InputError, match=r"F/1. is not the name of a file.* \(fig10\.py, line 3\)$"):
        suites.get(str(folder))
    (folder / "fig10.py").write_text(
        "from longfat_papers.kit import settings\n\nsettings('rate | 1 | 2 | 3')"
    )
    with pytest.raises(InputError, match=r"settings: 'rate | 1 | 2 | 3'; .* \(fig10\.py, line 3\)$"):
        suites.get(str(folder))
    for file in folder.glob("*.py"):
        file.unlink()
    with pytest.raises(InputError, match="it defines 0 papers and no SUITE"):
        suites.get(str(folder))


def of_no_check(runs):
    yield True


def no_yield(runs):
    return None


def raising(runs):
    yield at_least("ratio", {}["ratio"], 0.5)


def of_no_coordinate(runs):
    yield at_least("ratio", runs.where(rtt=40).mean("ratio"), 0.5)


def of_no_quantity(runs):
    yield at_least("ratio", runs.mean("ratoi"), 0.5)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (raising, r"claim TOY-1: its rule failed: KeyError: 'ratio' \(test_suite_files\.py, line \d+\)"),
        (of_no_check, rf"it yields bool; accepted: checks, such as `at_least`{HERE}"),
        (no_yield, f"its rule failed: it returns NoneType; accepted: a function that yields checks{HERE}"),
        (of_no_coordinate, rf'F1 has no column rtt, did you mean "rtt_ms"\?.*{HERE}'),
        (
            of_no_quantity,
            rf'F1 has no column ratoi, did you mean "ratio"\?; accepted: ratio, repeat, rtt_ms{HERE}',
        ),
    ],
)
def test_a_rule_that_fails_is_named_and_its_claim_is_not_measured(rule, said):
    row = row_of(rule)
    assert row["verdict"] == "not measured"
    assert row["failed"]
    assert re.search(said, row["note"])


def test_a_claim_about_an_experiment_that_is_not_declared_is_refused():
    toy = paper()
    toy.experiment("F1", "Fig. 1", "flows")(lambda mode: []).drawing(lambda runs, mode: Drawing("", ()))
    toy.claim("1", "", "", ("F2",))(lambda runs: iter(()))
    with pytest.raises(InputError, match=rf"claim TOY-1: experiment F2: there is no such experiment.*{HERE}"):
        toy.suite(__name__)


def test_the_other_figures_are_drawn_when_one_drawing_fails(folder, tmp_path, longfat):
    for file in folder.glob("*.py"):
        file.write_text(NETWORK + file.read_text().replace('"1 s"', '"1 s", **PATH'))
    figure = folder / "fig2.py"
    figure.write_text(figure.read_text().replace("return Drawing", "1 / 0; Drawing"))
    code, out, err = longfat("suite", folder, "--jobs", 1, "--out", tmp_path / "out", "--json")
    assert code == 1
    assert {row["verdict"] for row in json.loads(out)["claims"]} == {"reproduced"}
    assert "experiment F2: its drawing failed: ZeroDivisionError" in err.splitlines()[-1]
    assert (tmp_path / "out" / "figures" / "F10.svg").is_file()


def test_the_other_claims_are_judged_when_a_rule_fails_and_the_command_fails_with_one_line(
    folder, tmp_path, longfat
):
    fair = (folder / "fig2.py").read_text()
    (folder / "fig2.py").write_text(fair.replace("1.0, 0.5", "1 / 0, 0.5").replace('"1 s"', '"1 s", **PATH'))
    (folder / "fig10.py").write_text((folder / "fig10.py").read_text().replace('"1 s"', '"1 s", **PATH'))
    for file in folder.glob("*.py"):
        file.write_text(NETWORK + file.read_text())
    code, out, err = longfat("suite", folder, "--jobs", 1, "--out", tmp_path / "out", "--json")
    assert code == 1
    assert {row["id"]: row["verdict"] for row in json.loads(out)["claims"]} == {
        "MY-2": "not measured",
        "MY-10": "reproduced",
    }
    last = err.splitlines()[-1]
    assert re.fullmatch(
        r"error: suite mine: claim MY-2: its rule failed: ZeroDivisionError: .* \(fig2\.py, line \d+\)", last
    )


NETWORK = """PATH = {
    "bottleneck": {"rate": "1 Mbit/s"}, "flow": [{"algorithm": "reno", "rtt": "20 ms"}]
}
"""


@pytest.mark.parametrize(
    ("grid", "function", "said"),
    [
        ({"rtt_ms": (1,)}, lambda rtt: {}, f'there is no coordinate rtt, did you mean "rtt_ms".*{HERE}'),
        ({"repeat": {"quik": 1, "full": 2}}, lambda repeat: {}, "repeat has no values for quick"),
        ({"rtt_ms": 20}, lambda rtt_ms: {}, "rtt_ms = 20; accepted: a sequence of values"),
        ({"algorithm": "reno"}, lambda algorithm: {}, "algorithm = 'reno'; accepted: a sequence of values"),
        ({"repeat": 1}, lambda repeat: {}[repeat], r"KeyError: 0 \(test_suite_files\.py, line \d+\)"),
    ],
)
def test_runs_that_cannot_be_listed_are_refused_by_the_experiments_name(grid, function, said):
    toy = paper()
    toy.experiment("F1", "Fig. 1", "flows", grid=grid)(function).drawing(lambda runs, mode: Drawing("", ()))
    with pytest.raises(LongfatError, match=f"experiment F1: its runs cannot be listed: {said}"):
        toy.suite(__name__).experiment("F1").runs("quick")


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda runs, mode: 1 / 0, "ZeroDivisionError"),
        (lambda runs, mode: None, f"it returns NoneType; accepted: a Drawing with a panel{HERE}"),
        (lambda runs, mode: Drawing("", ()), "it returns Drawing; accepted: a Drawing with a panel"),
    ],
)
def test_a_drawing_that_fails_is_named(draw, said):
    toy = paper()
    toy.experiment("F1", "Fig. 1", "flows")(lambda mode: []).drawing(draw)
    with pytest.raises(LongfatError, match=f"experiment F1: its drawing failed: {said}"):
        toy.suite(__name__).experiment("F1").figure(ROWS, "quick")
