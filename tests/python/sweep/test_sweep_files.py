"""The sweeps that come with Longfat, figures of sweeps, and the script for Slurm as far as it goes here."""

import itertools
import math
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longfat import sweep
from longfat.figure import matplotlib as plots
from longfat.runs import simulate
from longfat.scenario.model import Scenario
from longfat.store import sums
from longfat.sweep import figures, tables
from longfat.sweep.handle import Swept
from longfat.sweep.layout import Layout
from longfat.sweep.reduction import reduce_run

ROOT = Path(__file__).resolve().parents[3]
FILES = [path for path in sorted((ROOT / "sweeps").glob("*.toml")) if not path.stem.endswith("-base")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_first_and_the_last_point_of_each_sweep_file_are_scenarios(path: Path) -> None:
    asked = sweep.load(path)
    points = list(asked.points())
    assert len(points) == asked.count()
    for point in (points[0], points[-1]):
        assert asked.scenario(point).duration > 0.0


def test_a_figure_of_usual_columns_is_checked_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "run", lambda *_: pytest.fail("there was a run"))
    assert sum(len(sweep.load(path).figures) for path in FILES) > 0


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_every_run_fills_the_usual_columns(path: Path) -> None:
    scenario = Scenario.load(path)
    kept = reduce_run(simulate.run(scenario.lasting(min(0.001, scenario.duration))))
    assert tables.usual_columns(scenario) <= set(tables.columns(kept))


def test_the_grid_of_li_leith_and_shorten_has_all_its_runs() -> None:
    assert sweep.load(ROOT / "sweeps" / "lls-like-rtt.toml").count() == 5 * 4 * 6 * 2 * 6 * 5


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue")
def test_the_script_for_slurm_says_what_it_would_submit() -> None:
    script = ROOT / "examples" / "slurm_sweep.py"
    file = ROOT / "sweeps" / "lls-like-rtt.toml"
    command = [sys.executable, str(script), str(file), "out", "--show"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in (
        "#SBATCH -J longfat",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH -t 04:00:00",
        "distributed.cli.dask_worker",
    ):
        assert line in shown


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
    runs = pa.table({"run": range(len(steps)), **of_runs})
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
    drawn = figures.lines(swept(tmp_path, {"ratio": short}), "ratio", "flow.0.rtt", columns="bottleneck.rate")
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
    assert figures._x_scale(values)[0] == log


@pytest.mark.parametrize("kind", ["lines", "heat"])
def test_the_caption_says_how_many_values_are_missing_if_any_is(tmp_path: Path, kind: str) -> None:
    some = [None if number in (3, 5) else value for number, value in enumerate(RATIOS)]
    read = swept(tmp_path, {"whole": RATIOS, "some": some})
    y = "bottleneck.rate" if kind == "heat" else None
    whole, lacking = (
        figures.draw(read, Layout(kind, column, "flow.0.rtt", y)).caption  # type: ignore[arg-type]
        for column in ("whole", "some")
    )
    assert lacking == f"{whole} No value in 2 of 12 runs; means are over the others."
    assert "No value" not in whole


def test_an_algorithm_without_a_result_takes_no_panels_and_the_caption_says_so(tmp_path: Path) -> None:
    read = swept(tmp_path, {"ratio": RATIOS}, OF_CUBIC)
    drawn = figures.heat_map(read, "ratio", "flow.0.rtt", "bottleneck.rate", rows="flow.0.algorithm")
    assert [panel.title for panel in drawn.panels] == ["reno"]
    assert drawn.caption.endswith("Without a result: cubic.")
    where = {"flow.0.algorithm": ["cubic"]}
    none = figures.lines(read, "ratio", "flow.0.rtt", rows="flow.0.algorithm", where=where)
    assert len(none.panels) == 1
    assert [text.get_text() for text in plots.draw(none).axes[0].texts] == ["no values"]
    assert none.caption.endswith("No run gave a result.")


def test_a_line_has_a_gap_where_no_run_has_a_value(tmp_path: Path) -> None:
    gap = [None if number % 3 == 1 else value for number, value in enumerate(RATIOS)]
    (curve,) = figures.lines(swept(tmp_path, {"ratio": gap}), "ratio", "flow.0.rtt").panels[0].curves
    assert curve.x == pytest.approx((10.0, 40.0, 160.0))
    assert [math.isnan(y) for y in curve.y] == [False, True, False]


def test_a_line_without_a_value_is_said_to_be_one(tmp_path: Path) -> None:
    none = [None if number // 3 % 2 else value for number, value in enumerate(RATIOS)]
    drawn = figures.lines(swept(tmp_path, {"ratio": none}), "ratio", "flow.0.rtt", by="flow.0.algorithm")
    assert [curve.label for curve in drawn.panels[0].curves] == ["reno", "cubic (no values)"]


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
