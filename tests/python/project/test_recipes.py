"""The code on the pages of recipes runs as it stands there."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import longfat_papers as suites
import worlds
from longfat.cli.app import app
from longfat.errors import InputError
from longfat_papers.kit.claims import judge

RECIPES = Path(__file__).parents[3] / "docs" / "recipes"


def files_in(page: Path) -> dict[str, str]:
    """The files on a page: each block of code that begins with a comment with the file's name."""
    blocks = re.findall(
        r"^ *```(?:python|toml)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    texts = (textwrap.dedent(block) for block in blocks)
    return {
        found[1]: text[found.end() :]
        for text in texts
        if (found := re.match(r"# ([\w/]+\.(?:py|toml))\n", text)) is not None
    }


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The example suite in a folder of its own; what it leaves in the interpreter is taken back."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = tmp_path / "example2026"
    folder.mkdir()
    for name, text in files_in(RECIPES / "add-a-suite.md").items():
        if name.startswith("example2026/"):
            (tmp_path / name).write_text(text)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "example2026"]:
        del sys.modules[name]


def test_the_example_suite_runs_and_comes_to_the_verdicts_of_its_paper(example, tmp_path):
    suite = suites.get(str(example))
    outcome = suites.run_suite(suite, "quick", jobs=1, out=tmp_path / "out")
    assert {row["id"]: row["verdict"] for row in outcome.ledger} == {
        "EX-1": "reproduced",
        "EX-2": "reproduced",
    }
    assert "Scalable TCP does not" in outcome.report_path.read_text(encoding="utf-8")


def test_the_example_suite_runs_under_its_readings_from_the_command_line(example, tmp_path):
    command = [
        "suite",
        str(example),
        "--assumptions",
        "--json",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 0, ran.stderr
    answer = json.loads(ran.stdout)
    headline = answer["headline"]
    assert headline["base"] + headline["reading"] + headline["none"] == headline["claims"] == 2
    found = {entry["id"]: entry for entry in answer["assumptions"]["claims"]}
    assert [len(found[name]["readings"]) for name in ("EX-1", "EX-2")] == [1, 2]
    assert found["EX-2"]["figure"] == {"label": "ratio", "published": None, "log": True}
    assert all(reading["runs_changed"] for entry in found.values() for reading in entry["readings"])
    assert "2 claims: " in ran.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--assumption", "acks"], "--assumption cannot be used without --assumptions"),
        (["--readings-repeats", "2"], "--readings-repeats cannot be used without --assumptions"),
        (["--assumptions", "--assumption", "ack"], 'no such assumption, did you mean "acks"'),
        (["--assumptions", "--readings-repeats", "0"], "--readings-repeats"),
    ],
)
def test_options_of_readings_that_make_no_sense_are_refused(example, tmp_path, options, said):
    ran = CliRunner().invoke(app, ["suite", str(example), *options, "--out", str(tmp_path / "out")])
    assert ran.exit_code == 2 or isinstance(ran.exception, InputError)
    assert said in ran.stderr + str(ran.exception)
    assert not (tmp_path / "out").exists()


def test_the_example_suite_satisfies_what_every_suite_has_to(example):
    suite = suites.get(str(example))
    made_up = ModuleType("example2026_world")
    exec(files_in(RECIPES / "add-a-suite.md")["worlds/example2026.py"], vars(made_up))
    for mode in ("quick", "full"):
        for reduced, verdict in (
            (made_up.as_published, "reproduced"),
            (made_up.as_nobody_says, "not reproduced"),
        ):
            data = worlds.make(suite, reduced, mode)
            assert [judge(claim, data, mode)["verdict"] for claim in suite.claims] == [verdict, verdict]
        figure = suite.experiments[0].figure(data["F1"], mode)
        assert [curve.label for curve in figure.panels[0].curves] == ["Standard TCP", "Scalable TCP"]
    rule = judge(suite.claims[0], worlds.make(suite, made_up.as_published), "quick")["rule"]
    assert rule.startswith("80 ms: ratio at least 0.75. The bound is chosen here.")


OWN_REDUCTION = """
from longfat.store.kept import kept_as

from longfat_papers.kit import reduce_run

@kept_as("own.reduce", "1")
def reduce(result):
    return reduce_run(result) | {"ratio": 0.5}

PAPER.reduce = reduce
"""


def test_a_file_with_a_reduction_of_its_own_runs_in_worker_processes(example, tmp_path):
    figure = example / "fig1.py"
    figure.write_text(figure.read_text() + OWN_REDUCTION)
    outcome = suites.run_suite(suites.get(str(example)), "quick", jobs=2, out=tmp_path / "out")
    assert outcome.ledger[1]["measured"] == "0.50"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("missing.py", None, "no such file"),
        ("empty_suite.py", "", "it defines 0 papers and no SUITE"),
        ("broken_suite.py", "1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("json.py", "SUITE = 1", "json is the name of another module"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_in_one_line(tmp_path, monkeypatch, name, text, said):
    monkeypatch.setattr(sys, "path", [*sys.path])
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        suites.get(str(tmp_path / name))
    assert "\n" not in str(caught.value)
