import json
import math

import pytest

from longfat.errors import InputError
from longfat.store.ledger import VERDICTS, load_ledgers, tally
from longfat.words import natural_order
from longfat_papers.kit.checks import above, at_least, at_most, below
from longfat_papers.kit.claims import (
    Check,
    Claim,
    Finding,
    Measured,
    Missing,
    Setting,
    judge,
    settings,
    verdict,
)
from longfat_papers.kit.paper import Drawing, Paper

YES, NO, OPEN = (Check("it holds", passed, "1") for passed in (True, False, None))


def claim(find, **more):
    return Claim(
        id="LLS-F3a",
        paper="a paper",
        setting="two flows",
        published="fair",
        settings=(Setting("queue", "20 % BDP", "III"),),
        estimator="mean",
        experiments=("F3",),
        find=find,
        **more,
    )


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([YES, YES], "reproduced"),
        ([YES, NO], "partly"),
        ([YES, NO, NO], "not reproduced"),
        ([NO], "not reproduced"),
        ([YES, OPEN], "undecidable"),
        ([OPEN], "undecidable"),
        ([YES, NO, OPEN], "partly"),
        ([], "undecidable"),
    ],
)
def test_verdict_follows_from_the_checks(checks, expected):
    assert verdict(checks) == expected


def test_a_row_carries_what_the_contract_asks_for():
    row = judge(claim(lambda data: Finding("1.0", checks=(YES,))), None, "full")
    assert {"id", "paper", "setting", "published", "measured", "rule", "verdict", "note"} <= row.keys()
    assert row["verdict"] == "reproduced"
    assert row["indicative"] is False


def test_a_row_has_texts_for_numbers_as_keys_and_none_for_numbers_without_an_end():
    values = {40: {0.5: (1.0, math.inf)}, "reno": math.nan}
    row = judge(claim(lambda data: Finding("1.0", values, checks=(YES,))), None, "full")
    assert row["values"] == {"40": {"0.5": [1.0, None]}, "reno": None}


def test_the_figure_of_a_claim_can_be_the_mean_over_repeats_with_its_error():
    assert Measured.mean("x", (1.0, 3.0), 2.5) == Measured("x", 2.0, 1.0, published=2.5)
    assert math.isnan(Measured.mean("x", ()).value)


def test_a_quick_verdict_is_marked_indicative():
    row = judge(claim(lambda data: Finding("1.0", checks=(YES,))), None, "quick")
    assert row["indicative"] is True
    assert row["mode"] == "quick"


def test_missing_data_leaves_a_claim_unmeasured_and_says_what_is_missing():
    def find(data):
        raise Missing("F3 has no run at rtt_ms = 42.")

    row = judge(claim(find), None, "full")
    assert row["verdict"] == "not measured"
    assert "rtt_ms = 42" in row["note"]


def test_a_claim_that_only_reports_is_never_reproduced():
    row = judge(claim(lambda data: Finding("1.0", checks=(YES,)), reports=True), None, "full")
    assert row["verdict"] == "undecidable"
    assert row["measured"] == "1.0"


def test_infinite_values_become_null_in_a_row():
    row = judge(
        claim(lambda data: Finding("never", {"times": {"42": float("inf"), "82": 1.0}}, checks=(YES,))),
        None,
        "full",
    )
    assert row["values"] == {"times": {"42": None, "82": 1.0}}
    json.dumps(row, allow_nan=False)


def ledger(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"suite": "li2007", "claims": list(rows)}))


def row(identifier, ruling="reproduced"):
    return {"id": identifier, "verdict": ruling}


def test_ledgers_are_gathered_from_a_directory_and_those_in_it(tmp_path):
    ledger(tmp_path / "claims.json", row("LLS-F10"))
    ledger(tmp_path / "yeah2007" / "claims.json", row("YEAH-F1"), row("LLS-F3a"))
    assert [found["id"] for found in load_ledgers(tmp_path)] == ["LLS-F3a", "LLS-F10", "YEAH-F1"]


def test_a_directory_without_a_ledger_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="longfat suite") as caught:
        load_ledgers(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"claims": [{"id": "x"}]}', '{"claims": [{"id": "x", "verdict": "fine"}]}']
)
def test_a_damaged_ledger_is_refused_by_name(tmp_path, text):
    (tmp_path / "claims.json").write_text(text)
    with pytest.raises(InputError, match=r"claims\.json"):
        load_ledgers(tmp_path)


def test_identifiers_are_ordered_by_their_numbers():
    names = ["LLS-F10", "LLS-F3b", "LLS-E2", "LLS-F3a", "LLS-F1"]
    assert sorted(names, key=natural_order) == ["LLS-E2", "LLS-F1", "LLS-F3a", "LLS-F3b", "LLS-F10"]


def test_tally_counts_every_verdict():
    counts = tally([row("a"), row("b", "partly"), row("c", "partly")])
    assert counts["partly"] == 2
    assert counts["reproduced"] == 1
    assert set(counts) == set(VERDICTS)


@pytest.mark.parametrize(
    ("check", "held"), [(at_least, False), (at_most, True), (above, False), (below, True)]
)
def test_a_check_without_its_value_or_its_bound_is_undecided(check, held):
    assert check("delay", math.nan, 1.0).passed is None
    assert check("delay", 1.0, math.nan).passed is None
    assert check("delay", 1.0, 2.0).passed is held


@pytest.mark.parametrize(
    ("bound", "than", "rule", "stored"),
    [
        (8000.5, "", "RED: delay below 8000.5", "RED: delay below 8000.5"),
        (2.0004, "drop-tail's", "RED: delay below drop-tail's", "RED: delay below drop-tail's (2)"),
    ],
)
def test_a_rule_names_a_bound_that_is_measured_and_the_ledger_has_its_value_too(bound, than, rule, stored):
    found = below("RED: delay", 1.0, bound, than=than)
    assert (found.text, found.to_json()["text"]) == (rule, stored)


def test_a_grid_has_no_run_where_the_function_returns_none_and_a_claim_may_be_of_another_paper():
    paper = Paper("name", "AB", "title", "citation", estimator="mean")

    @paper.experiment("e", "Fig. 1", "title", grid={"rtt_ms": {"quick": (1,), "full": (1, 2)}, "repeat": 2})
    def runs(rtt_ms, repeat, mode):
        return None if (rtt_ms, repeat) == (1, 1) else {"duration": f"{rtt_ms} s"}

    runs.drawing(lambda runs, mode: Drawing("caption", ()))
    runs.claim("1", "setting", "published", paper="another")(lambda runs: iter(()))
    runs.claim("1", "setting", "published", prefix="CD")(lambda runs: iter(()))
    suite = paper.suite(__name__)
    found = [(run.coordinates, run.document["seed"]) for run in suite.experiments[0].runs("full")]
    assert found == [
        ({"rtt_ms": 1, "repeat": 0}, 1),
        ({"rtt_ms": 2, "repeat": 0}, 1),
        ({"rtt_ms": 2, "repeat": 1}, 2),
    ]
    assert len(suite.experiments[0].runs("quick")) == 1
    assert [(claim.id, claim.paper) for claim in suite.claims] == [("AB-1", "another"), ("CD-1", "citation")]


def test_settings_are_read_from_lines_and_those_without_a_source_were_chosen_here():
    found = settings(
        """
        path | 1 Gbit/s, \
            100 ms | Fig. 1
        flows | two
        """
    )
    assert found == (Setting("path", "1 Gbit/s, 100 ms", "Fig. 1"), Setting("flows", "two", "chosen here"))


@pytest.mark.parametrize("line", ["path", "path |1 Gbit/s", "path | 1 | 2 | 3", "path |  | Fig. 1"])
def test_settings_with_other_cells_are_refused_with_the_line_and_what_is_accepted(line):
    with pytest.raises(InputError, match=r"settings: 'path.*'; accepted: name \| value, or name") as caught:
        settings(f"rate | 1 Gbit/s\n{line}")
    assert "\n" not in str(caught.value)
