"""The figures on the page of a sweep, and when it is drawn."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longfat import errors, sweep
from longfat.figure import matplotlib as plots
from longfat.figure import scales
from longfat.figure.data import Figure
from longfat.figure.grouping import figure
from longfat.figure.request import Request, check
from longfat.store import sums
from longfat.sweep import figures, page, words
from longfat.sweep.handle import Swept
from longfat.sweep.layout import Layout
from longfat.sweep.source import of_sweep
from plotted import made
from tiny_sweeps import grid


def drawn_of(read: Swept, kind: Any, column: str, x: str, y: str | None = None, **more: Any) -> Figure:
    return figures.draw(of_sweep(read), Layout(kind, column, x, y, **more))


def test_figures_say_what_is_in_the_tables(tmp_path: Path) -> None:
    axes = {"bottleneck.rate": ["1 Mbit/s", "4 Mbit/s"], "flow.0.rtt": ["10 ms", "40 ms"]}
    sweep.run(grid(axes=axes, repeats=3), tmp_path)
    swept = sweep.open_sweep(tmp_path)
    drawn = drawn_of(swept, "heat", "bottleneck_utilization", "bottleneck.rate", "flow.0.rtt")
    wanted = swept.sql(
        'SELECT bottleneck_utilization AS u FROM runs WHERE "bottleneck.rate" = 4e6 AND "flow.0.rtt" = 0.01'
    )["u"].to_numpy()
    assert drawn.panels[0].cells[0][1] == pytest.approx(wanted.mean())
    along = drawn_of(swept, "lines", "bottleneck_utilization", "flow.0.rtt", lines="bottleneck.rate")
    fast = along.panels[0].curves[1]
    assert fast.y[0] == pytest.approx(wanted.mean())
    # half of the 95 % confidence interval, with Student's t of two degrees of freedom
    assert fast.error is not None
    assert fast.error[0] == pytest.approx(4.302653 * wanted.std(ddof=1) / math.sqrt(3.0))
    page = sweep.report(tmp_path)
    assert page is not None
    assert "bottleneck.rate" in page.read_text()
    assert "Means of 3 repeats with 95 % confidence intervals" in page.read_text()
    assert (along.panels[0].x_label, fast.x) == ("RTT of flow 1, ms", (10.0, 40.0))
    with pytest.raises(errors.InputError, match="it has no column nothing"):
        drawn_of(swept, "heat", "nothing", "bottleneck.rate", "flow.0.rtt")


def test_a_figure_is_a_grid_of_panels_on_one_scale_that_the_file_asks_for(tmp_path: Path) -> None:
    axes = {
        "flow.0.rtt": ["10 ms", "40 ms"],
        "flow.0.algorithm": ["reno", "cubic"],
        "bottleneck.rate": ["1 Mbit/s", "4 Mbit/s"],
        "bottleneck.buffer": ["50 % BDP", "100 % BDP"],
    }
    asked = {
        "kind": "lines",
        "x": "flow.0.rtt",
        "y": "flow_1_throughput_bps / flow_1_goodput_bps",
        "lines": "flow.0.algorithm",
        "columns": "bottleneck.rate",
        "rows": "bottleneck.buffer",
        "where": {"flow.0.algorithm": ["cubic"]},
    }
    sweep.run(grid(axes=axes, figure=[asked]), tmp_path)
    (drawn,) = figures.page(sweep.open_sweep(tmp_path))
    assert drawn.columns == 2
    assert [panel.title for panel in drawn.panels] == [
        "1 Mbit/s, 50 % BDP",
        "4 Mbit/s, 50 % BDP",
        "1 Mbit/s, 100 % BDP",
        "4 Mbit/s, 100 % BDP",
    ]
    assert [curve.label for panel in drawn.panels for curve in panel.curves] == ["cubic"] * 4
    assert len({panel.y_range for panel in drawn.panels}) == 1
    # what is sent again counts as throughput and not as goodput
    assert all(y >= 1.0 for panel in drawn.panels for curve in panel.curves for y in curve.y)
    assert [bool(panel.y_label) for panel in drawn.panels] == [True, False, True, False]
    assert [bool(panel.x_label) for panel in drawn.panels] == [False, False, True, True]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["bottleneck.rate"], "bottleneck rate"),
        (["flow.1.rtt"], "RTT of flow 2"),
        (["flow.0.rtt", "flow.1.rtt", "background.0.rtt"], "RTT"),
        (["background.0.sessions"], "background sessions"),
    ],
)
def test_axes_are_called_by_what_moves_along_them(keys: list[str], said: str) -> None:
    assert words.axis(keys) == said


def test_an_axis_may_have_values_that_are_empty_texts_or_begin_with_an_underscore(tmp_path: Path) -> None:
    axes = {"title": ["", "_a", "b"], "flow.0.rtt": ["10 ms", "20 ms"]}
    lines = {"kind": "lines", "x": "flow.0.rtt", "y": "jain"}
    asked = [lines | {"lines": "title"}, lines | {"columns": "title"}]
    sweep.run(grid(axes=axes, figure=asked), tmp_path, jobs=1)
    first, second = figures.page(sweep.open_sweep(tmp_path))
    assert [curve.label for curve in first.panels[0].curves] == ['""', "_a", "b"]
    assert [panel.title for panel in second.panels] == ['""', "_a", "b"]
    legend = plots.draw(first).legends[0]
    assert [text.get_text().strip() for text in legend.get_texts()] == ['""', "_a", "b"]


def test_a_page_is_drawn_when_it_is_asked_for_or_the_results_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Path] = []
    build = page.build
    monkeypatch.setattr(page, "build", lambda root, jobs: drawn.append(root) or build(root, jobs))

    def drawings(**asked: Any) -> int:
        before = len(drawn)
        told = sweep.report(tmp_path, **asked)
        assert (told is None) == (not page.current(tmp_path))
        return len(drawn) - before

    def ran(*seeds: int) -> None:
        sweep.run(grid(axes={"seed": list(seeds)}), tmp_path, jobs=1)

    ran(1, 2)
    assert [drawings(draw=False), drawings(), drawings(), drawings(draw=True)] == [0, 1, 0, 1]
    ran(1, 2)
    assert drawings() == 0
    ran(1, 2, 3)
    assert [drawings(draw=False), drawings(), drawings()] == [0, 1, 0]
    next((tmp_path / "figures").glob("*.pdf")).unlink()
    assert [drawings(), drawings()] == [1, 0]


def swept(
    folder: Path, columns: dict[str, list[float | None]], left_out: Sequence[tuple[float, str, float]] = ()
) -> Swept:
    """A sweep over rates, algorithms and round-trip times with these figures; some runs have no result."""
    axes = {
        "bottleneck.rate": ["1 Mbit/s", "4 Mbit/s"],
        "flow.0.algorithm": ["reno", "cubic"],
        "flow.0.rtt": ["10 ms", "40 ms", "160 ms"],
    }
    steps = list(itertools.product([1e6, 4e6], ["reno", "cubic"], [0.01, 0.04, 0.16]))
    whole = {"axes": [{"keys": [key], "values": [[v] for v in values]} for key, values in axes.items()]}
    (folder / "tables" / "runs").mkdir(parents=True)
    of_runs = dict(zip(axes, zip(*steps, strict=True), strict=True)) | columns
    runs = pa.table({"run": range(len(steps)), "repeat": [0] * len(steps), **of_runs})
    if left_out:
        runs = runs.filter(pa.array([step not in left_out for step in steps]))
    part = folder / "tables" / "runs" / "part.parquet"
    pq.write_table(runs, part)
    (folder / "tables" / sums.SUMS_FILE).write_text(f"{sums.of_file(str(part))}  runs/{part.name}\n")
    return Swept(folder, whole | {"repeats": 1})


RATIOS: list[float | None] = [0.1 * number for number in range(1, 13)]
OF_CUBIC = [(rate, "cubic", rtt) for rate in (1e6, 4e6) for rtt in (0.01, 0.04, 0.16)]


def test_all_panels_of_lines_have_one_scale_along_and_up(tmp_path: Path) -> None:
    short = [*RATIOS[:7], None, None, RATIOS[9], None, None]  # 4 Mbit/s: 10 ms alone
    read = swept(tmp_path, {"ratio": short})
    drawn = drawn_of(read, "lines", "ratio", "flow.0.rtt", columns="bottleneck.rate")
    assert {panel.x_log for panel in drawn.panels} == {True}
    assert (
        len({panel.x_range for panel in drawn.panels}) == len({panel.y_range for panel in drawn.panels}) == 1
    )
    low, high = drawn.panels[0].x_range or (0.0, 0.0)
    assert low < 10.0 < 160.0 < high
    one, two = plots.draw(drawn).axes
    assert (one.get_xscale(), one.get_xlim()) == (two.get_xscale(), two.get_xlim())
    assert one.get_xticks().tolist() == two.get_xticks().tolist()


@pytest.mark.parametrize(
    ("values", "log"), [([1, 2, 4], True), ([1, 2, 3], False), ([1, 5, 100], True), ([0, 5, 100], False)]
)
def test_an_axis_is_logarithmic_if_it_is_wide_or_has_equal_ratios(values: list[float], log: bool) -> None:
    assert scales.is_log(values) == log


@pytest.mark.parametrize("kind", ["lines", "heat"])
def test_the_caption_says_how_many_values_are_missing_if_any_is(tmp_path: Path, kind: str) -> None:
    some = [None if number in (3, 5) else value for number, value in enumerate(RATIOS)]
    read = swept(tmp_path, {"whole": RATIOS, "some": some})
    y = "bottleneck.rate" if kind == "heat" else None
    whole, lacking = (drawn_of(read, kind, column, "flow.0.rtt", y).caption for column in ("whole", "some"))
    assert lacking == f"{whole} 2 of 12 rows have no value."
    assert "no value" not in whole


def test_an_algorithm_without_a_result_takes_no_panels_and_the_caption_says_so(tmp_path: Path) -> None:
    read = swept(tmp_path, {"ratio": RATIOS}, OF_CUBIC)
    drawn = drawn_of(read, "heat", "ratio", "flow.0.rtt", "bottleneck.rate", rows="flow.0.algorithm")
    assert [panel.title for panel in drawn.panels] == ["reno"]
    assert drawn.caption.endswith("Without a value: cubic.")
    only = {"flow.0.algorithm": ["cubic"]}
    none = drawn_of(read, "lines", "ratio", "flow.0.rtt", rows="flow.0.algorithm", where=only)
    assert len(none.panels) == 1
    assert [text.get_text() for text in plots.draw(none).axes[0].texts] == ["no values"]
    assert "no row is left" in none.caption


def test_what_another_axis_leaves_out_is_not_said_to_lack_a_value(tmp_path: Path) -> None:
    axes = {"title": ["near", "far"], "flow.0.rtt": ["10 ms", "40 ms"]}
    sweep.run(grid(zip=[axes]), tmp_path, jobs=1)
    only = {"title": ["far"]}
    drawn = drawn_of(
        sweep.open_sweep(tmp_path), "lines", "bottleneck_utilization", "title", lines="flow.0.rtt", where=only
    )
    assert [curve.label for curve in drawn.panels[0].curves] == ["far (40 ms)"]
    assert "Without" not in drawn.caption


def test_a_line_has_a_gap_where_no_run_has_a_value(tmp_path: Path) -> None:
    gap = [None if number % 3 == 1 else value for number, value in enumerate(RATIOS)]
    (curve,) = drawn_of(swept(tmp_path, {"ratio": gap}), "lines", "ratio", "flow.0.rtt").panels[0].curves
    assert curve.x == pytest.approx((10.0, 40.0, 160.0))
    assert [math.isnan(y) for y in curve.y] == [False, True, False]


def test_a_map_keeps_the_rows_and_columns_without_a_value(tmp_path: Path) -> None:
    gap = [None if number % 3 == 1 else value for number, value in enumerate(RATIOS)]
    read = swept(tmp_path, {"ratio": gap})
    (across,) = drawn_of(read, "heat", "ratio", "flow.0.rtt", "flow.0.algorithm").panels
    assert across.categories == ("10 ms", "40 ms", "160 ms")
    assert [[math.isnan(cell) for cell in row] for row in across.cells] == 2 * [[False, True, False]]
    (up,) = drawn_of(read, "heat", "ratio", "flow.0.algorithm", "flow.0.rtt").panels
    assert up.levels == ("10 ms", "40 ms", "160 ms")
    assert [math.isnan(row[0]) for row in up.cells] == [False, True, False]


def test_bars_keep_the_place_of_a_setting_without_a_value(tmp_path: Path) -> None:
    none = [None if number // 3 % 2 else value for number, value in enumerate(RATIOS)]
    source = of_sweep(swept(tmp_path, {"ratio": none}))
    drawn = figure(check(Request("bars", "ratio", "flow.0.algorithm"), source), source)
    assert drawn.panels[0].categories == ("reno", "cubic")
    assert drawn.panels[0].curves[0].x == (0.0,)


def test_a_sweep_draws_the_figures_of_its_own_however_many_values_an_axis_has(tmp_path: Path) -> None:
    axes = {"flow.0.rtt": [f"{rtt} ms" for rtt in range(10, 71)], "flow.0.algorithm": ["reno", "cubic"]}
    sweep.run(grid(axes=axes), tmp_path, jobs=1)
    maps = [drawn for drawn in figures.page(sweep.open_sweep(tmp_path)) if drawn.panels[0].cells]
    assert maps
    assert {len(drawn.panels[0].categories) for drawn in maps} == {61}
    with pytest.raises(errors.InputError, match=r"RTT of flow 1: there are 61 values; accepted: up to 60"):
        made(tmp_path, kind="bars", x="flow.0.rtt", y="bottleneck_utilization")


def test_a_line_without_a_value_is_said_to_be_one(tmp_path: Path) -> None:
    none = [None if number // 3 % 2 else value for number, value in enumerate(RATIOS)]
    read = swept(tmp_path, {"ratio": none})
    drawn = drawn_of(read, "lines", "ratio", "flow.0.rtt", lines="flow.0.algorithm")
    assert [curve.label for curve in drawn.panels[0].curves] == ["reno"]
    assert drawn.caption.endswith("Without a value: cubic.")


def test_algorithms_along_an_axis_are_categories(tmp_path: Path) -> None:
    small = {
        "duration": "1 s",
        "bottleneck": {"rate": "1 Mbit/s"},
        "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
    }
    asked = {"kind": "lines", "x": "flow.0.algorithm", "y": "bottleneck_utilization"}
    axes = {"flow.0.algorithm": ["reno", "cubic", "bbr"]}
    sweep.run(sweep.from_dict({"base": small, "axes": axes, "figure": [asked]}), tmp_path, jobs=1)
    (drawn,) = figures.page(sweep.open_sweep(tmp_path))
    (panel,) = drawn.panels
    assert panel.categories == ("reno", "cubic", "bbr")
    assert panel.curves[0].x == (0.0, 1.0, 2.0)
    (axis,) = plots.draw(drawn).axes
    assert [text.get_text() for text in axis.get_xticklabels()] == ["reno", "cubic", "bbr"]
