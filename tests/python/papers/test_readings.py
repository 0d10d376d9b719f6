"""The tables of assumptions of all suites: complete, and readings that change what they bear on."""

import math

import pytest

import longfat_papers as suites
import worlds
from longfat.scenario.model import Scenario
from longfat_papers.kit.means import geometric_mean, mean_factor

SUITES = [suite for suite in map(suites.get, suites.names()) if suite.assumptions or suite.closed]
READINGS = [
    pytest.param(suite, item, reading, id=f"{suite.name}-{item.id}-{reading.name}")
    for suite in SUITES
    for item in suite.assumptions
    for reading in item.readings[1:]
]

JUDGED = [
    pytest.param(suite, claim, id=claim.id) for suite in SUITES for claim in suite.claims if not claim.reports
]


@pytest.mark.parametrize(("suite", "claim"), JUDGED)
def test_the_figure_of_a_claim_tells_the_published_world_from_its_opposite(suite, claim):
    published, opposite = (
        claim.find(world(suite.name, "quick")).figure for world in (worlds.published, worlds.opposite)
    )
    assert published.label == opposite.label
    assert math.isfinite(published.value)
    assert published.value != opposite.value
    if published.published is not None:
        assert math.isfinite(published.published)


def documents(suite, claim):
    """The documents of a claim's runs in the quick mode, one for each place."""
    return [
        run.document
        for name in claim.experiments
        for run in suite.experiment(name).runs("quick")
        if run.coordinates["repeat"] == 0
    ]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_claim_has_two_readings_or_a_reason_why_nothing_is_open(suite):
    suite.check_assumptions()


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_texts_are_sentences_and_sources_name_something(suite):
    for item in suite.assumptions:
        assert item.question.endswith("."), item.id
        for reading in item.readings:
            assert reading.text.endswith("."), reading.name
            assert len(reading.source) >= 4, reading.name
    for claim, reason in suite.closed.items():
        assert reason.endswith("."), claim


@pytest.mark.parametrize(("suite", "item", "reading"), READINGS)
def test_a_reading_changes_a_run_of_each_claim_it_bears_on_and_all_are_valid(suite, item, reading):
    bearing = [claim for claim in suite.claims if item in suite.bearing(claim.id)]
    assert bearing
    checked = set()
    for claim in bearing:
        changed = 0
        for document in documents(suite, claim):
            before = repr(document)
            other = reading.change.apply(document)
            assert repr(document) == before
            if repr(other) != before:
                changed += 1
                if repr(other) not in checked:
                    checked.add(repr(other))
                    Scenario.from_dict(other, source=f"{item.id}, {reading.name}")
        assert changed, claim.id


def test_means_of_ratios_cancel_or_do_not():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    assert mean_factor([2.0, 0.5]) == pytest.approx(2.0)
    assert geometric_mean([1.0, math.inf]) == math.inf
    for ratios in ([], [1.0, 0.0], [1.0, math.nan]):
        assert math.isnan(geometric_mean(ratios))
        assert math.isnan(mean_factor(ratios))
