"""What moves a claim, what turns its verdict, and how a tornado shows it."""

import math
from dataclasses import replace

import pytest

from longfat.figure import matplotlib as plots
from longfat.figure import style
from longfat_papers.kit import effects, turns
from longfat_papers.kit.claims import Check, Judged, Measured, unfinished
from longfat_papers.kit.effects import Base


def standing(verdict, value, stderr=math.nan, passed=False):
    return Judged(verdict, Measured("x", value, stderr), (Check("", passed, ""),))


@pytest.mark.parametrize(
    ("value", "moved"),
    [(0.21, False), (0.128, False), (0.22, True), (0.11, True), (math.nan, True)],
)
def test_a_reading_moves_a_figure_by_more_than_two_errors_of_the_difference(value, moved):
    # .01 over 5 repeats is sigma = .0224; with one repeat the error of a difference is .0224 sqrt(1 + 1/5)
    # = .0245, and twice that is .049
    whole = standing("partly", 0.169, 0.01)
    found = effects.effect(Base(whole, whole, 5, 1), standing("partly", value))
    assert found.stderr == pytest.approx(0.0245, abs=1e-4)
    assert found.moved is moved


@pytest.mark.parametrize(
    ("reading", "moved"),
    [
        (standing("partly", 1.04), False),
        (standing("partly", 0.96), False),
        (standing("partly", 1.06), True),
        (standing("not reproduced", 1.0), True),
        (standing("partly", 1.0, passed=True), True),
        (standing("partly", math.nan), True),
    ],
)
def test_without_an_error_five_percent_a_check_or_a_verdict_count(reading, moved):
    whole = standing("partly", 1.0)
    assert effects.effect(Base(whole, whole, 1, 1), reading).moved is moved


def test_a_base_of_zero_without_an_error_is_moved_by_any_change():
    whole = standing("partly", 0.0)
    assert effects.effect(Base(whole, whole, 1, 1), standing("partly", 1e-12)).moved
    assert not effects.effect(Base(whole, whole, 1, 1), standing("partly", 0.0)).moved


def test_repeats_that_agree_to_the_last_bit_are_not_moved_by_rounding():
    whole = standing("partly", 1.0, 0.0)
    assert not effects.effect(Base(whole, whole, 2, 2), standing("partly", 1.0 + 1e-12)).moved
    assert effects.effect(Base(whole, whole, 2, 2), standing("partly", 1.0 + 1e-6)).moved


def test_a_time_that_is_never_reached_in_both_is_no_change():
    whole = standing("partly", math.inf)
    assert not effects.effect(Base(whole, whole, 1, 1), standing("partly", math.inf)).moved
    assert effects.effect(Base(whole, whole, 1, 1), standing("partly", 5.0)).moved


def test_fewer_repeats_alone_turn_no_verdict():
    whole, fewer = standing("partly", 1.0, 0.1), standing("reproduced", 1.0)
    reading = standing("reproduced", 1.0)
    found = effects.effect(Base(whole, fewer, 5, 1), reading)
    assert not found.turned
    assert effects.outcome(whole, [(reading, found)], reports=False, complete=True) == "none"
    found = effects.effect(Base(whole, whole, 5, 1), reading)
    assert found.turned
    assert effects.outcome(whole, [(reading, found)], reports=False, complete=True) == "reading"


def test_a_claim_holds_under_none_only_when_every_reading_was_run():
    whole = standing("partly", 1.0)
    assert effects.outcome(whole, [], reports=False, complete=False) == "unfinished"
    assert effects.outcome(standing("reproduced", 1.0), [], reports=False, complete=False) == "base"
    assert effects.outcome(unfinished(""), [], reports=False, complete=True) == "unfinished"


def tornado_of(values, *, base, log):
    entry = {
        "id": "T-1", "published": "x", "mode": "full", "repeats": 1, "readings_repeats": 1, "closed": None,
        "outcome": "none", "figure": {"label": "loss", "published": None, "log": log},
        "base": {"verdict": "partly", "value": base, "stderr": None},
        "base_with_fewer_repeats": None, "pairs": [],
        "readings": [
            {
                "changes": [{"assumption": "a", "reading": str(number)}], "verdict": "partly", "value": value,
                "stderr": None, "difference": None if value is None else value - base, "moved": False,
                "difference_stderr": None, "turned": False, "runs": 1, "runs_changed": 1, "note": "",
                "measured": "",
            }
            for number, value in enumerate(values)
        ],
    }  # fmt: skip
    return turns.tornado(entry)


def test_a_zero_on_a_logarithmic_axis_stands_below_all_other_values(tmp_path):
    figure = tornado_of([0.0, 1e-3], base=1e-2, log=True)
    axis = plots.draw(figure).axes[0]
    assert [text.get_text() for text in axis.texts] == ["0", "0.001"]
    bars = [bar for container in axis.containers for bar in container]
    assert [bar.get_width() < 0.0 for bar in bars] == [True, True]
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert 0.0 < ends[0] < ends[1] == pytest.approx(1e-3)
    assert axis.get_xscale() == "log"
    assert axis.get_xlim()[0] > 0.0


def test_a_span_that_reaches_below_zero_is_shaded_to_the_end_of_a_logarithmic_axis():
    figure = tornado_of([0.02], base=0.01, log=True)
    wide = replace(figure.panels[0], marked=(-0.005, 0.025))
    axis = plots.draw(replace(figure, panels=(wide,))).axes[0]
    shade = next(patch for patch in axis.patches if patch.get_alpha() == style.MARKED_OPACITY)
    assert shade.get_x() == pytest.approx(axis.get_xlim()[0])
    assert shade.get_x() + shade.get_width() == pytest.approx(0.025)


@pytest.mark.parametrize("log", [False, True])
def test_a_tornado_without_a_single_value_still_draws(tmp_path, log):
    figure = tornado_of([None, None], base=0.0, log=log)
    assert plots.save(figure, tmp_path, ["png"])[0].stat().st_size > 0
    texts = [text.get_text() for text in plots.draw(figure).axes[0].texts]
    assert texts == ["no values"] * 3
