"""What every suite has to satisfy. What is special about one suite is in that suite's own file."""

import importlib
import importlib.util
import math
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import longfat_papers as suites
import worlds
from longfat.errors import InputError, LongfatError
from longfat.scenario.model import Scenario
from longfat.store.kept import reduction_key
from longfat_papers.kit.claims import figure_of, judge
from longfat_papers.kit.paper import Declaration
from longfat_papers.kit.suite import Data


def numbers_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys and positions that lead to each number of a bound, which may be a pair or a table."""
    if isinstance(value, dict | tuple):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from numbers_in(value[key], (*path, key))
    else:
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """The part of a value that keys and positions lead to."""
    for key in path:
        value = value[key]
    return value


def scaled(value: Any, path: tuple[Any, ...], factor: float) -> Any:
    """The bound with one of its numbers multiplied."""
    if not path:
        return value * factor
    inner = scaled(value[path[0]], path[1:], factor)
    if isinstance(value, dict):
        return value | {path[0]: inner}
    return (*value[: path[0]], inner, *value[path[0] + 1 :])


MODES = ("quick", "full")
SUITES = [suites.get(name) for name in suites.names()]
CLAIMS = [pytest.param(suite, claim, id=claim.id) for suite in SUITES for claim in suite.claims]
JUDGED = [param for param in CLAIMS if not param.values[1].reports]
EXPERIMENTS = [
    pytest.param(suite, experiment, id=f"{suite.name}-{experiment.name}")
    for suite in SUITES
    for experiment in suite.experiments
]
OPEN = [suite for suite in SUITES if suite.assumptions or suite.closed]
"""The suites with a table of assumptions."""
WORLDS = {"lopez2008": ("quick",)}
"""The modes in which a suite's claims are judged; the histories of a full world of the thesis are large."""


def module_of(suite: str, name: str) -> Any:
    """A module of a suite that is a package."""
    return importlib.import_module(f"longfat_papers.{suite}.{name}")


CONSTANTS = [
    pytest.param(suite.name, figure, name, path, id="-".join(map(str, (suite.name, figure, name, *path))))
    for suite in SUITES
    for figure in getattr(importlib.import_module(f"longfat_papers.{suite.name}"), "FIGURES", ())
    for name, value in vars(module_of(suite.name, figure)).items()
    if name.isupper()
    for path in numbers_in(value)
    if isinstance(at(value, path), float | int)
]
"""Every number that a figure's file defines: bounds of its claims, and what its drawing needs."""


def test_every_package_of_suites_is_in_the_list_of_names():
    found = {module.name for module in pkgutil.iter_modules(suites.__path__)}
    assert found - {"kit", "command"} == set(suites.names())


def test_a_suite_goes_by_the_name_of_its_package_and_ids_are_unique():
    assert [suite.name for suite in SUITES] == list(suites.names())
    identifiers = [claim.id for suite in SUITES for claim in suite.claims]
    assert len(set(identifiers)) == len(identifiers)
    for suite in SUITES:
        names = [experiment.name for experiment in suite.experiments]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_suite_has_a_title_a_citation_and_rows_that_can_be_kept(suite):
    assert suite.title
    assert suite.citation
    assert reduction_key(suite.reduce)


@pytest.mark.parametrize(("suite", "claim"), CLAIMS)
def test_a_claim_names_its_paper_its_experiments_and_the_sources_of_its_settings(suite, claim):
    assert set(claim.experiments) <= {experiment.name for experiment in suite.experiments}
    assert claim.settings
    assert all(setting.value and setting.source for setting in claim.settings)
    rule = judge(claim, worlds.published(suite.name, "quick"), "quick")["rule"]
    for text in (claim.paper, claim.setting, claim.published, claim.estimator, rule):
        assert text
        assert "{" not in text


@pytest.mark.parametrize(("suite", "claim"), CLAIMS)
def test_a_claim_without_its_runs_is_not_measured(suite, claim):
    assert judge(claim, Data({}), "full")["verdict"] == "not measured"


@pytest.mark.parametrize(("suite", "claim"), CLAIMS)
def test_a_world_as_published_reproduces_the_claim(suite, claim):
    for mode in WORLDS.get(suite.name, MODES):
        row = judge(claim, worlds.published(suite.name, mode), mode)
        failed = [check for check in row["checks"] if check["passed"] is not True and not claim.reports]
        assert (row["verdict"], failed) == ("undecidable" if claim.reports else "reproduced", [])
        assert row["measured"]


@pytest.mark.parametrize(("suite", "claim"), JUDGED)
def test_a_world_where_nothing_of_it_is_so_does_not_reproduce_the_claim(suite, claim):
    for mode in WORLDS.get(suite.name, MODES):
        row = judge(claim, worlds.opposite(suite.name, mode), mode)
        assert row["verdict"] == "not reproduced", [check for check in row["checks"] if check["passed"]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("suite", "experiment"), EXPERIMENTS)
def test_every_run_is_a_valid_scenario_at_its_own_place(suite, experiment, mode):
    runs = experiment.runs(mode)
    places = [tuple(sorted(run.coordinates.items(), key=str)) for run in runs]
    assert len(set(places)) == len(runs)
    assert all(run.estimated_packets() > 0 for run in runs)
    first = min(run.coordinates["repeat"] for run in runs)
    for run in runs:
        if mode == "quick" or run.coordinates["repeat"] == first:
            Scenario.from_dict(run.document, source=experiment.name)


@pytest.mark.parametrize("suite", OPEN, ids=lambda suite: suite.name)
def test_a_table_of_assumptions_is_complete_and_each_reading_gives_valid_scenarios(suite):
    suite.check_assumptions()
    for assumption in suite.assumptions:
        claims = [claim for claim in suite.claims if assumption in suite.bearing(claim.id)]
        names = {name for claim in claims for name in claim.experiments}
        for reading in assumption.readings[1:]:
            changed = 0
            for name in names:
                for run in suite.experiment(name).runs("quick"):
                    document = reading.change.apply(run.document)
                    changed += document != run.document
                    source = f"{assumption.id}: {reading.name}, {name}"
                    if run.coordinates["repeat"] == 0:
                        Scenario.from_dict(document, source=source)
            assert changed, f"{assumption.id}: {reading.name} changes no run of the claims that it bears on"


@pytest.mark.parametrize(("suite", "claim"), CLAIMS)
def test_the_figure_of_a_claim_is_a_number_where_everything_is_as_published(suite, claim):
    figure = figure_of(claim.find(worlds.published(suite.name, "quick")))
    assert figure.label
    assert claim.reports or not math.isnan(figure.value)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_the_quick_mode_has_fewer_runs_than_the_full_one(suite):
    grids = [[run for item in suite.experiments for run in item.runs(mode)] for mode in MODES]
    quick, full = ((len(runs), sum(run.estimated_packets() for run in runs)) for runs in grids)
    assert quick[0] < full[0]
    assert quick[1] < full[1]


@pytest.mark.parametrize(
    ("suite", "experiment", "mode"),
    [
        pytest.param(*param.values, mode, id=f"{param.id}-{mode}")
        for param in EXPERIMENTS
        for mode in WORLDS.get(param.values[0].name, MODES)
    ],
)
def test_every_figure_is_drawn_from_its_rows_and_survives_being_stored(suite, experiment, mode):
    figure = experiment.figure(worlds.published(suite.name, mode)[experiment.name], mode)
    assert (figure.name, figure.mirrors) == (experiment.name, experiment.mirrors)
    assert figure.caption
    empty = getattr(worlds.of(suite.name), "EMPTY", {})
    for panel in figure.panels:
        assert panel.curves
        for curve in panel.curves:
            if curve.label not in empty.get(experiment.name, ()):
                assert any(math.isfinite(y) for y in curve.y), (panel.title, curve.label)
    stored = type(figure).from_json(figure.to_json())
    assert stored.to_json() == figure.to_json()
    assert stored.table == figure.table
    assert [panel.categories for panel in stored.panels] == [panel.categories for panel in figure.panels]


@pytest.mark.parametrize(("suite", "figure", "name", "path"), CONSTANTS)
def test_changing_a_number_of_a_figures_file_changes_a_check_a_drawing_or_a_run(
    suite, figure, name, path, monkeypatch
):
    module = module_of(suite, figure)
    experiments = [
        experiment.name for experiment in vars(module).values() if isinstance(experiment, Declaration)
    ]

    def told() -> Any:
        found = suites.get(suite)
        figures = [
            found.experiment(name).figure(worlds.published(suite)[name], "quick").to_json()
            for name in experiments
        ]
        grids = [found.experiment(name).runs(mode) for name in experiments for mode in MODES]
        made_up = (worlds.published(suite), worlds.opposite(suite))
        findings = [repr(claim.find(data)) for claim in found.claims for data in made_up]
        return figures, [[run.document for run in grid] for grid in grids], findings

    before = told()
    for factor in (10, 0.1):
        monkeypatch.setattr(module, name, scaled(getattr(module, name), path, factor))
        try:
            if told() != before:
                return
        except LongfatError:
            return  # such as a quantity that no run has
        monkeypatch.undo()
    pytest.fail(f"{figure}.{name} changes nothing")


def test_a_suite_whose_reduction_has_no_key_is_refused_before_anything_is_written(tmp_path):
    file = tmp_path / "keyless_paper.py"
    file.write_text(
        "from longfat_papers.kit.suite import Suite\n"
        "def reduce(result):\n    return {}\n"
        "SUITE = Suite('keyless', 'title', 'citation', (), (), reduce)\n"
    )
    with pytest.raises(InputError, match=r"keyless_paper.py: reduction reduce: has no key .*kept_as"):
        suites.get(str(file))
