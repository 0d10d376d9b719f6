"""What a paper leaves open: tables, changes, and a small suite under its readings.

The suite has two flows on a link of 5 Mbit/s. One reading has 8 Mbit/s, another 5 Mbit/s more than the base,
so the sum of the flows' rates is known beforehand for each of them, and for both at once.
"""

import io
import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

import longfat_papers as suites
from longfat.errors import InputError, LongfatError
from longfat.figure.data import Figure, Panel, Tornado, points
from longfat_papers.kit import page, runner, turns
from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.kit.checks import at_least
from longfat_papers.kit.claims import CHOSEN_HERE, Check, Claim, Finding, Measured, Setting
from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Experiment, Run, Suite

PAPER = "a small paper"
REPEATS = 3


def grid(mode):
    return [
        Run(
            {"algorithm": "reno", "repeat": repeat},
            {
                "title": "two flows",
                "duration": "6 s",
                "seed": repeat + 1,
                "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"},
                "flow": [
                    {"algorithm": "reno", "rtt": "20 ms"},
                    {"algorithm": "reno", "rtt": "20 ms", "start": {"uniform": ["1 s", "2 s"]}},
                ],
            },
            3000.0,
        )
        for repeat in range(REPEATS)
    ]


def drawn(name):
    return lambda runs, mode: Figure(
        name, "", "", "", (Panel("", "x", "y", (points("all", [(0.0, (1.0, math.nan))]),)),)
    )


def claim(number, least_mbps, experiments=("A",), *, figure=True, reports=False):
    def find(data):
        mean, error = data[experiments[-1]].mean_stderr("aggregate_bps")
        rate = Measured("sum of the rates, Mbit/s", mean / 1e6, error / 1e6, published=least_mbps)
        return Finding(
            f"{mean / 1e6:.1f} Mbit/s",
            figure=rate if figure else None,
            checks=(at_least("sum", mean / 1e6, least_mbps),),
        )

    settings = (Setting("rate", "5 Mbit/s", CHOSEN_HERE),)
    return Claim(
        f"TINY-{number}", PAPER, "two flows", "fast", settings, "mean", experiments, find, reports=reports
    )


def faster(document):
    rate = float(document["bottleneck"]["rate"].split()[0])
    document["bottleneck"]["rate"] = f"{rate + 5:g} Mbit/s"
    return document


def retitled(document):
    return document | {"title": "another title"}


EIGHT = Reading("eight", "The link has 8 Mbit/s.", "section 2", Change(bottleneck={"rate": "8 Mbit/s"}))
FASTER = Reading("spare", "The link has 5 Mbit/s more.", "section 3", Change(rewrite=faster))
MISSPELT = replace(EIGHT, change=Change(algorithms={"hstpc": {"low_window": 31}}))
RETITLED = Reading("another", "The run has another title.", "section 4", Change(rewrite=retitled))
BASE = Reading("as-said", "As in the text.", "section 1", Change())
RATE = Assumption("rate", "Which rate?", (BASE, EIGHT), ("A", "B", "C", "D", "E", "F", "S"))
SPARE = Assumption("spare-rate", "How much more?", (BASE, FASTER), ("TINY-C", "TINY-D", "TINY-F"))
TITLE = Assumption("title", "Which title?", (BASE, RETITLED), ("D",))

SUITE = Suite(
    "tiny",
    "A small suite",
    PAPER,
    (Experiment("A", "Fig. A", "one", grid, drawn("A")), Experiment("B", "Fig. B", "same", grid, drawn("B"))),
    (
        claim("A", 7.0),
        claim("B", 4.0, ("A", "B")),
        claim("C", 12.0),
        claim("D", 90.0),
        claim("E", 4.0, reports=True),
        claim("F", 7.0),
        claim("S", 7.0, figure=False),
        claim("X", 90.0),
    ),
    reduce_run,
    assumptions=(RATE, SPARE, TITLE),
    closed={"X": "no link of that time is that fast."},
)


def run(out, **options):
    return suites.run_assumptions(SUITE, "quick", jobs=1, out=out, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("suite")
    return run(out), out


@pytest.fixture(scope="module")
def entries(finished):
    outcome, _ = finished
    return {entry["id"]: entry for entry in outcome.document["claims"]}


@pytest.fixture(autouse=True)
def undrawn(request, monkeypatch):
    """Spares tests that are not about the page the drawing of figures."""
    if "drawing" not in request.fixturenames:
        monkeypatch.setattr(page, "build", lambda root, _jobs: root / "index.html")


@pytest.fixture
def drawing():
    """Asks for the page."""


def names(readings):
    return [turns.name(reading) for reading in readings]


# the small suite


def test_the_three_numbers_of_the_headline_add_up_to_the_claims_with_a_verdict(finished):
    outcome, _ = finished
    assert outcome.to_json()["headline"] == {
        "claims": 7, "base": 1, "reading": 4, "none": 2, "reports": 1, "unfinished": 0
    }  # fmt: skip


def test_each_claim_is_told_where_it_is_reproduced(entries):
    assert {name.removeprefix("TINY-"): entry["outcome"] for name, entry in entries.items()} == {
        "A": "reading", "B": "base", "C": "reading", "D": "none", "E": "reports", "F": "reading",
        "S": "reading", "X": "none",
    }  # fmt: skip


def test_a_reading_has_the_value_that_its_change_leads_to(entries):
    a = entries["TINY-A"]
    assert a["base"]["value"] == pytest.approx(5.0, rel=0.05)
    (reading,) = a["readings"]
    assert reading["value"] == pytest.approx(8.0, rel=0.05)
    assert reading["difference"] == pytest.approx(reading["value"] - a["base"]["value"])
    assert (reading["verdict"], reading["moved"], reading["turned"]) == ("reproduced", True, True)


def test_only_readings_that_bear_on_a_claim_are_run_for_it(entries):
    assert names(entries["TINY-B"]["readings"]) == ["rate: eight"]
    assert names(entries["TINY-D"]["readings"]) == ["rate: eight", "spare-rate: spare", "title: another"]
    assert entries["TINY-X"]["readings"] == []
    assert entries["TINY-X"]["closed"] == "no link of that time is that fast."


def test_pairs_are_those_of_readings_that_moved_the_figure(entries):
    (pair,) = entries["TINY-C"]["pairs"]
    assert turns.name(pair) == "rate: eight + spare-rate: spare"
    assert pair["value"] == pytest.approx(13.0, rel=0.05)
    assert pair["verdict"] == "reproduced"
    assert [reading["verdict"] for reading in entries["TINY-C"]["readings"]] == ["not reproduced"] * 2
    assert names(entries["TINY-D"]["pairs"]) == ["rate: eight + spare-rate: spare"]


def test_a_claim_that_a_single_reading_reproduces_needs_no_pairs(entries):
    assert [reading["moved"] for reading in entries["TINY-F"]["readings"]] == [True, True]
    assert entries["TINY-F"]["pairs"] == []


def test_a_reading_that_changes_no_run_says_so_and_moves_nothing(entries):
    title = entries["TINY-D"]["readings"][-1]
    assert (title["runs"], title["runs_changed"], title["moved"]) == (1, 0, False)
    assert title["note"] == "It changes none of the claim's runs."
    shown = io.StringIO()
    Console(file=shown, width=200).print(turns.turns_table([entries["TINY-D"]]))
    assert "1 changes none of its runs" in shown.getvalue()


def test_of_many_pairs_the_first_that_reproduce_a_claim_are_named_and_the_others_counted(entries):
    def pair(number, verdict):
        changes = [{"assumption": "a", "reading": str(number)}, {"assumption": "b", "reading": "x"}]
        return {
            **dict.fromkeys(entries["TINY-D"]["readings"][0]),
            "changes": changes,
            "runs_changed": 1,
            "verdict": verdict,
            "turned": True,
            "moved": True,
            "value": 1.0,
            "difference": 100.0 - number,
        }

    pairs = [pair(n, "reproduced") for n in range(15)] + [pair(n, "partly") for n in range(15, 20)]
    entry = {**entries["TINY-D"], "pairs": pairs}
    told = turns.summary(entry)
    assert "Reproduced under 15 pairs: a: 0 + b: x, a: 1 + b: x, a: 2 + b: x and 12 more." in told
    assert "5 other pairs change the verdict otherwise." in told
    shown = io.StringIO()
    Console(file=shown, width=200).print(turns.turns_table([entry]))
    assert shown.getvalue().count("+ b: x") == turns.MOST_PAIRS
    assert "8 pairs more, 8 turn it" in shown.getvalue()


def test_the_error_of_a_difference_counts_the_repeats_of_both(entries):
    a = entries["TINY-A"]
    assert (a["repeats"], a["readings_repeats"]) == (3, 1)
    # sigma sqrt(1/1 + 1/3), where the base's error is sigma / sqrt(3)
    assert a["readings"][0]["difference_stderr"] == pytest.approx(2.0 * a["base"]["stderr"])
    assert a["base_with_fewer_repeats"]["value"] != a["base"]["value"]


def test_a_claim_without_a_figure_shows_the_share_of_checks_that_hold(entries):
    s = entries["TINY-S"]
    assert (s["figure"]["label"], s["base"]["value"], s["base"]["stderr"]) == ("checks that hold", 0.0, None)
    assert (s["readings"][0]["value"], s["readings"][0]["moved"]) == (1.0, True)


def test_claims_and_experiments_share_runs_and_readings_have_fewer_repeats(tmp_path, monkeypatch):
    ran = watched(monkeypatch)
    run(tmp_path)
    assert ran == [3, 2, 1]  # the base, two readings that change something, one pair


def test_more_repeats_of_the_readings_are_run_on_request(tmp_path, monkeypatch):
    ran = watched(monkeypatch)
    entry = run(tmp_path, only=["A"], repeats=2).document["claims"][0]
    assert ran == [3, 2, 0]
    assert (entry["readings_repeats"], entry["readings"][0]["runs"]) == (2, 2)


def test_the_base_is_stored_as_a_run_without_readings_stores_it(finished, tmp_path):
    _, out = finished
    suites.run_suite(SUITE, "quick", jobs=1, out=tmp_path)
    for name in ("claims.json", "experiments/A.parquet", "experiments/B.parquet"):
        assert (out / name).read_bytes() == (tmp_path / name).read_bytes()


def watched(monkeypatch):
    """Counts the runs of each batch."""
    whole, ran = runner.run_many, []

    def counted(scenarios, **options):
        ran.append(len(scenarios))
        return whole(scenarios, **options)

    monkeypatch.setattr(runner, "run_many", counted)
    return ran


def interrupt_after(monkeypatch, number):
    """Presses Ctrl-C when so many runs have finished."""
    whole, left = runner.run_many, [number]

    def interrupted(scenarios, **options):
        for result in whole(scenarios, **options):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            yield result

    monkeypatch.setattr(runner, "run_many", interrupted)


def test_an_interrupted_command_keeps_what_has_finished_and_goes_on(finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_after(patch, REPEATS + 1)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path)
    stored = json.loads((tmp_path / "assumptions.json").read_text())
    assert stored["headline"]["unfinished"] > 0
    assert json.loads((tmp_path / "suite.json").read_text())["status"] == "complete"
    ran = watched(monkeypatch)
    assert run(tmp_path).document["claims"] == finished[0].document["claims"]
    assert ran == [0, 1, 1]


def test_only_renews_its_claims_and_keeps_the_others(finished, tmp_path):
    whole = run(tmp_path).document
    part = run(tmp_path, only=["D"])
    assert part.document["claims"] == whole["claims"]
    assert part.document["headline"] == whole["headline"]


def test_one_assumption_alone_is_run_and_the_others_are_left_open(tmp_path, monkeypatch):
    ran = watched(monkeypatch)
    (found,) = run(tmp_path, only=["D"], assumptions=["spare-rate"]).document["claims"]
    assert ran == [3, 1, 0]
    verdicts = dict(zip(names(found["readings"]), found["readings"], strict=True))
    assert verdicts["rate: eight"]["verdict"] == "not measured"
    assert verdicts["spare-rate: spare"]["value"] == pytest.approx(10.0, rel=0.05)
    assert found["outcome"] == "unfinished"


def test_an_assumption_selects_the_claims_that_it_bears_on(tmp_path):
    outcome = run(tmp_path, assumptions=["spare-rate"])
    assert [entry["id"] for entry in outcome.document["claims"]] == ["TINY-C", "TINY-D", "TINY-F"]
    assert [item["name"] for item in outcome.base.experiments] == ["A"]


def test_an_experiment_selects_its_claims_and_a_claim_itself_alone():
    ids = [claim.id for claim in SUITE.named(["A,B"])]
    assert ids == ["TINY-A", "TINY-B"]  # both are claims and experiments
    renamed = replace(SUITE, experiments=(replace(SUITE.experiments[0], name="G"),))
    renamed = replace(renamed, claims=tuple(replace(item, experiments=("G",)) for item in SUITE.claims[:2]))
    assert [claim.id for claim in renamed.named(["g"])] == ["TINY-A", "TINY-B"]
    assert [claim.id for claim in renamed.named(["b"])] == ["TINY-B"]
    assert renamed.named([]) == renamed.claims
    with pytest.raises(InputError, match="nope"):
        renamed.named(["b,nope"])


def test_the_page_shows_the_table_the_headline_and_a_tornado_for_each_open_claim(finished, drawing):
    outcome, out = finished
    shown = outcome.base.report_path.read_text(encoding="utf-8")
    said = "7 claims: 1 reproduced at the base, 4 under some documented reading, 2 under none"
    assert said in shown
    assert "(section 3)" in shown
    assert "no link of that time is that fast." in shown
    for name in "ABCDES":
        assert f'id="readings-TINY-{name}"' in shown
        assert (out / "figures" / f"readings-TINY-{name}.svg").is_file()
    assert 'id="readings-TINY-X"' not in shown
    from longfat.cli import report

    assert report.build(out).read_text(encoding="utf-8") == shown


def test_a_page_without_readings_has_no_section_for_them(tmp_path, drawing):
    path = suites.run_suite(SUITE, "quick", jobs=1, out=tmp_path).report_path
    assert "leaves open" not in path.read_text(encoding="utf-8")


def test_a_damaged_file_of_readings_is_named(finished, tmp_path):
    run(tmp_path, only=["A"])
    (tmp_path / "assumptions.json").write_text("{}")
    with pytest.raises(LongfatError, match=r"assumptions\.json: damaged: not what SHA256SUMS says"):
        run(tmp_path, only=["A"])
    (tmp_path / "SHA256SUMS").unlink()  # as in a folder of an earlier version
    with pytest.raises(InputError, match=r"assumptions\.json: not the readings of a suite"):
        run(tmp_path, only=["A"])


def test_the_result_of_a_small_suite_is_one_json_object(finished):
    outcome, out = finished
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert {"suite", "claims", "assumptions", "headline"} <= document.keys()
    stored = json.loads((out / "assumptions.json").read_text())
    assert document["assumptions"] == stored
    (base, eight) = stored["assumptions"][0]["readings"]
    assert (base["base"], eight["base"], eight["source"]) == (True, False, "section 2")
    assert stored["assumptions"][0]["claims"][0] == "TINY-A"


# what is refused


def refused(match, **changes):
    with pytest.raises(InputError, match=match) as caught:
        replace(SUITE, **changes).check_assumptions()
    assert "\n" not in str(caught.value)


def test_a_suite_without_a_table_is_refused():
    refused("suite tiny: assumptions: there are none", assumptions=(), closed={})


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (replace(RATE, readings=(BASE,)), "rate: readings: 1; accepted: at least 2"),
        (replace(RATE, readings=(BASE, EIGHT, EIGHT)), "rate: reading eight is used twice"),
        (replace(RATE, readings=(EIGHT, BASE)), "rate: eight changes something"),
        (replace(RATE, readings=(BASE, replace(BASE, name="same"))), "rate: same changes nothing"),
        (replace(RATE, claims=("Z",)), "rate: Z: there is no such claim.*accepted: TINY-A, TINY-B"),
        (
            replace(RATE, readings=(BASE, MISSPELT)),
            'rate: eight: "hstpc" is not an algorithm, did you mean "hstcp"',
        ),
        (replace(RATE, claims=()), "TINY-X: is closed, but readings bear on it"),
        (replace(RATE, claims=("A", "B", "C", "D", "E")), "TINY-S: no reading bears on it"),
    ],
)  # fmt: skip
def test_an_incomplete_table_is_refused(item, said):
    refused(said, assumptions=(item, SPARE, TITLE))


def test_an_id_that_is_used_twice_is_refused():
    refused("id rate is used twice", assumptions=(RATE, RATE))


def test_a_reason_for_an_unknown_claim_is_refused():
    refused("closed: TINY-Y: there is no such claim", closed={"TINY-Y": "", **SUITE.closed})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"assumptions": ["rat"]},
            'rat: there is no such assumption, did you mean "rate".*rate, spare-rate, title',
        ),
        ({"assumptions": ["title"], "only": ["B"]}, "title: bears on none.*accepted: TINY-D"),
        ({"repeats": 0}, "--readings-repeats 0: it is out of range; accepted: a whole number from 1"),
        ({"only": ["nope"]}, "TINY-A"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(tmp_path, options, said):
    with pytest.raises(InputError, match=said) as caught:
        run(tmp_path / "new", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(bottleneck={"rate": "8"}), r"bottleneck\.rate"),
        (Change(rewrite=lambda document: None), "`rewrite` returns NoneType; accepted: the document"),
    ],
)
def test_a_reading_that_makes_a_wrong_scenario_is_named_before_anything_runs(
    tmp_path, monkeypatch, change, said
):
    monkeypatch.setattr(runner, "run_many", lambda *args, **options: pytest.fail("ran"))
    wrong = replace(EIGHT, change=change)
    suite = replace(SUITE, assumptions=(replace(RATE, readings=(BASE, wrong)), SPARE, TITLE))
    with pytest.raises(InputError, match=f"suite tiny, rate: eight, A: {said}"):
        suites.run_assumptions(suite, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_two_readings_that_no_scenario_can_have_together_are_a_result(tmp_path):
    loaded = replace(FASTER, change=Change(flows={"slow_start": "limited", "max_ssthresh": 50}))

    def twice(document):
        slow = any("slow_start" in flow for flow in document["flow"])
        document["bottleneck"]["rate"] = "8" if slow else "8 Mbit/s"
        return document

    both = replace(
        SUITE,
        claims=(claim("A", 90.0, figure=False),),
        closed={},
        assumptions=(
            Assumption("slow", "Which slow-start?", (BASE, loaded)),
            Assumption("rate", "Which rate?", (BASE, replace(EIGHT, change=Change(rewrite=twice)))),
        ),
    )
    moved = replace(both, claims=(replace(both.claims[0], find=every_change_counts),))
    (entry,) = suites.run_assumptions(moved, out=tmp_path, jobs=1).document["claims"]
    (pair,) = entry["pairs"]
    assert pair["verdict"] == "not measured"
    assert pair["note"].startswith("The two do not go together: suite tiny, slow: spare and rate: eight, A")
    assert entry["outcome"] == "none"


def every_change_counts(data):
    value = float(data["A"].first()["packets"])
    return Finding("", figure=Measured("packets", value, 1e-6), checks=(Check("never", False, ""),))


# tornado figures


def test_a_tornado_comes_back_from_json_and_other_figures_have_no_new_keys(entries):
    figure = turns.tornado(entries["TINY-C"])
    again = Figure.from_json(json.loads(json.dumps(figure.to_json(), allow_nan=False)))
    assert again == figure
    assert isinstance(again.panels[0], Tornado)
    assert not {"bars", "base", "reference"} & drawn("A")(None, "quick").to_json()["panels"][0].keys()


def test_a_tornado_has_the_longest_bar_on_top_and_pairs_last(entries):
    (panel,) = turns.tornado(entries["TINY-C"]).panels
    assert [bar.label for bar in panel.bars] == [
        "spare-rate: spare",
        "rate: eight",
        "rate: eight + spare-rate: spare",
    ]
    assert panel.base == entries["TINY-C"]["base"]["value"]
    assert panel.reference == 12.0
    _, high = panel.marked
    assert high - panel.base == pytest.approx(2.0 * entries["TINY-C"]["readings"][0]["difference_stderr"])
