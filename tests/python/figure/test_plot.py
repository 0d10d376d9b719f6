"""`longfat plot`: figures for papers from stored runs, sweeps and comparisons."""

import dataclasses
import math
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import longfat
from longfat import plots, sweep
from longfat.cli.app import app
from longfat.errors import InputError
from longfat.figure.matplotlib import draw, save_as
from longfat.intervals import student_t_95
from plotted import made, sampled

BASE = {
    "duration": "5 s",
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 % BDP"},
    "flow": [
        {"algorithm": "cubic", "rtt": "20 ms"},
        {"algorithm": "cubic", "rtt": "20 ms", "start": {"uniform": ["0 s", "1 s"]}},
    ],
}
ALGORITHMS = ["cubic", "bbr", "htcp"]
PATHS = ["campus", "lossy", "far"]
THREE = {
    "base": BASE,
    "repeats": 3,
    "keep": "series",
    "zip": [
        {
            "title": PATHS,
            "bottleneck.loss": [0.0, 1e-3, 0.0],
            "flow.0.rtt": ["10 ms", "20 ms", "80 ms"],
            "flow.1.rtt": ["10 ms", "20 ms", "80 ms"],
        },
        {"flow.0.algorithm": ALGORITHMS, "flow.1.algorithm": ALGORITHMS},
    ],
}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("charts") / "three"
    sweep.run(sweep.from_dict(THREE), folder)
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    (root / "two.toml").write_text(
        'duration = "5 s"\nbottleneck = { rate = "10 Mbit/s" }\n'
        'flow = [{ algorithm = "cubic", rtt = "20 ms", start = { uniform = ["0 s", "1 s"] } }, '
        '{ algorithm = "bbr", rtt = "20 ms" }]\n'
    )
    for name, more in (("a", []), ("b", ["--set", "bottleneck.loss=1e-3"])):
        given = ["run", str(root / "two.toml"), "--repeats", "3", "--out", str(root / name), *more]
        assert CliRunner().invoke(app, given).exit_code == 0
    return root


def refused(*given):
    result = CliRunner().invoke(app, ["plot", *map(str, given)])
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def test_one_command_draws_bars_with_intervals_of_three_algorithms_over_three_paths(swept):
    given = ["plot", str(swept), "--kind", "bars", "--x", "title", "--by", "algorithm", "--y", "jain"]
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    assert done.exit_code == 0
    file = swept / "figures" / "bars-jain-title-flow-0-algorithm.pdf"
    assert done.stdout.strip() == str(file)
    assert "95 % confidence intervals (Student's t)" in done.stderr
    assert file.read_bytes().startswith(b"%PDF")
    drawn = plots.plot(swept, "bars", x="title", by="algorithm", y="jain")
    (axes,) = drawn.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == PATHS
    assert len(axes.patches) == 9
    assert len(axes.containers) == 6  # of each algorithm the bars and their intervals


def test_an_interval_is_that_of_student_over_the_repeats(swept):
    found = made(swept, kind="bars", x="title", by="algorithm", y="jain")
    table = sweep.open_sweep(swept).to_polars()
    own = table.filter((table["title"] == "lossy") & (table["flow.0.algorithm"] == "bbr"))["jain"].to_numpy()
    assert own.size == 3
    bbr = next(curve for curve in found.panels[0].curves if curve.label == "bbr")
    at = found.panels[0].categories.index("lossy")
    assert bbr.y[at] == pytest.approx(own.mean())
    assert bbr.error[at] == pytest.approx(student_t_95(2) * own.std(ddof=1) / math.sqrt(3))


def test_a_mean_over_other_axes_is_taken_in_each_repeat_first(swept):
    found = made(swept, kind="bars", x="algorithm", y="jain")
    table = sweep.open_sweep(swept).to_polars()
    own = table.filter(table["flow.0.algorithm"] == "htcp")
    means = [own.filter(own["repeat"] == repeat)["jain"].mean() for repeat in range(3)]
    (curve,) = found.panels[0].curves
    at = found.panels[0].categories.index("htcp")
    assert curve.y[at] == pytest.approx(np.mean(means))
    assert curve.error[at] == pytest.approx(student_t_95(2) * np.std(means, ddof=1) / math.sqrt(3))
    assert "Averaged over: title." in found.caption


def test_the_caption_says_how_many_repeats_a_point_has(swept):
    caption = made(swept, kind="bars", y="jain", x="title", by="flow.0.algorithm").caption
    assert caption.startswith("Means of 3 repeats with 95 %")


def test_flows_of_one_run_count_as_one_sample(swept):
    found = made(swept, kind="bars", x="title", by="algorithm", y="throughput_bps")
    flows = sweep.open_sweep(swept).to_polars("flows")
    own = flows.filter((flows["title"] == "far") & (flows["algorithm"] == "cubic"))
    means = [own.filter(own["run"] == run)["throughput_bps"].mean() / 1e6 for run in own["run"].unique()]
    cubic = next(curve for curve in found.panels[0].curves if curve.label == "cubic")
    assert cubic.error[found.panels[0].categories.index("far")] == pytest.approx(
        student_t_95(2) * np.std(means, ddof=1) / math.sqrt(3)
    )
    assert [curve.label for curve in found.panels[0].curves] == ALGORITHMS
    assert found.panels[0].y_label == "throughput, Mbit/s"


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("lines", {"x": "algorithm", "by": "title", "y": "jain"}),
        ("lines", {"x": "rtt", "by": "algorithm", "y": "bottleneck_utilization"}),
        ("bars", {"x": "title", "by": "algorithm", "y": "throughput_bps"}),
        ("heat", {"x": "title", "by": "algorithm", "y": "jain"}),
        ("cdf", {"by": "algorithm", "y": "throughput_bps"}),
        ("box", {"x": "title", "by": "algorithm", "y": "throughput_bps"}),
        ("timeline", {"by": "algorithm", "y": "cwnd", "where": {"title": ["far"]}}),
        ("bars", {"x": "title", "by": "algorithm", "y": "flow_1_throughput_bps / flow_2_throughput_bps"}),
    ],
)
@pytest.mark.parametrize("width", ["column", "page"])
def test_every_kind_draws_a_sweep_as_wide_as_a_column_or_a_page(swept, kind, asked, width, tmp_path):
    found = made(swept, kind=kind, **asked)
    inches = {"column": 3.5, "page": 7.16}[width]
    file = save_as(found, tmp_path / "figure.svg", width_in=inches)
    assert f'width="{72 * inches:g}pt"' in file.read_text()
    assert file.read_bytes() == save_as(found, tmp_path / "again.svg", width_in=inches).read_bytes()


def test_an_axis_of_numbers_has_its_unit_and_decades_a_logarithmic_scale(swept):
    found = made(swept, kind="lines", x="rtt", by="algorithm", y="jain")
    assert found.panels[0].x_label == "RTT, ms"
    assert [round(x, 9) for x in found.panels[0].curves[0].x] == [10, 20, 80]


@pytest.mark.parametrize("kind", ["bars", "box", "cdf", "timeline"])
def test_runs_are_drawn_as_sweeps_are(ran, kind, tmp_path):
    found = made(ran / "a", kind=kind)
    assert save_as(found, tmp_path / "figure.png").stat().st_size > 5000


def test_a_timeline_has_an_interval_at_each_time(ran):
    found = made(ran / "a", kind="timeline", y="cwnd")
    assert [curve.label for curve in found.panels[0].curves] == ["1 (cubic)", "2 (bbr)"]
    assert found.panels[0].y_label == "cwnd, segments"
    assert np.isfinite(found.panels[0].curves[0].error).all()


def test_a_band_of_a_window_does_not_go_below_zero(ran):
    found = made(ran / "a", kind="timeline", y="cwnd")
    (panel,) = found.panels
    wide = dataclasses.replace(panel.curves[0], error=tuple(10.0 * y for y in panel.curves[0].y))
    drawn = draw(dataclasses.replace(found, panels=(dataclasses.replace(panel, curves=(wide,)),)))
    band = drawn.axes[0].collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == 0.0
    assert band[:, 1].max() > max(wide.y)


def test_several_folders_have_a_column_of_folders(ran):
    found = made([ran / "a", ran / "b"], kind="bars", y="throughput_bps", by="algorithm")
    assert found.panels[0].categories == ("a", "b")
    assert [curve.label for curve in found.panels[0].curves] == ["cubic", "bbr"]


def test_a_style_file_decides_size_and_colours(swept, tmp_path):
    own = tmp_path / "mine.mplstyle"
    own.write_text("figure.figsize: 5, 5\naxes.prop_cycle: cycler(color=['red', 'lime', 'blue'])\n")
    found = made(swept, kind="bars", x="title", by="algorithm", y="jain")
    drawn = draw(found, styles=[str(own)])
    assert tuple(drawn.get_size_inches()) == (5.0, 5.0)
    assert {patch.get_facecolor()[:3] for patch in drawn.axes[0].patches} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_what_does_not_exist_is_refused_with_the_nearest(swept, ran, tmp_path):
    assert 'it has no column throughputbps, did you mean "throughput_bps"?' in refused(
        swept, "--y", "throughputbps"
    )
    assert 'did you mean "title"?' in refused(swept, "--x", "titel", "--y", "jain")
    assert 'did you mean "bars"?' in refused(swept, "--kind", "barss")
    assert 'did you mean "page"?' in refused(swept, "--width", "pages")
    assert 'did you mean "pdf"?' in refused(swept, "--format", "pfd")
    where = refused(swept, "--y", "jain", "--where", "algorithm=cubik")
    assert 'did you mean "cubic"?; accepted: cubic, bbr, htcp' in where
    assert "accepted: COLUMN=VALUE" in refused(swept, "--where", "algorithm")
    assert "no such file or style" in refused(swept, "--style", "mine")
    assert "accepted: no x" in refused(ran / "a", "--kind", "timeline", "--x", "name")
    assert "accepted: a folder written by" in refused(tmp_path)
    assert "accepted: two columns" in refused(swept, "--x", "title", "--by", "title")
    assert "holds no numbers" in refused(swept, "--y", "title", "--x", "algorithm")


def test_a_style_with_an_unknown_key_is_refused_in_one_line(swept, tmp_path):
    own = tmp_path / "mine.mplstyle"
    own.write_text("lines.nonsense: 4\n")
    told = refused(swept, "--style", own)
    assert "lines.nonsense" in told
    assert "\n" not in told


def test_a_scatter_has_a_point_for_each_flow_with_intervals_both_ways(swept):
    (panel,) = made(swept, kind="scatter").panels
    assert (panel.x_label, panel.y_label) == ("sRTT mean, ms", "throughput, Mbit/s")
    assert [(curve.label, len(curve.x)) for curve in panel.curves] == [(name, 6) for name in ALGORITHMS]
    flows = sweep.open_sweep(swept).to_polars("flows")
    own = flows.filter((flows["title"] == "far") & (flows["algorithm"] == "bbr") & (flows["name"] == "2"))
    assert len(own) == 3
    bbr = panel.curves[1]
    at = int(np.argmin(np.abs(np.array(bbr.x) - 1e3 * own["srtt_mean_s"].mean())))
    half = student_t_95(2) / math.sqrt(3)
    assert bbr.y[at] == pytest.approx(1e-6 * own["throughput_bps"].mean())
    assert bbr.error[at] == pytest.approx(1e-6 * half * own["throughput_bps"].std())
    assert bbr.x_error[at] == pytest.approx(1e3 * half * own["srtt_mean_s"].std())
    (axes,) = draw(made(swept, kind="scatter")).axes
    assert {line.get_linestyle() for container in axes.containers for line in container.lines[:1]} == {"None"}


def test_panels_are_small_multiples_with_the_same_scales(swept):
    found = made(swept, kind="scatter", panels="title")
    assert [panel.title for panel in found.panels] == PATHS
    assert (
        len({panel.x_range for panel in found.panels}) == len({panel.y_range for panel in found.panels}) == 1
    )
    assert (found.columns, [bool(panel.y_label) for panel in found.panels]) == (2, [True, False, True])
    assert [bool(panel.x_label) for panel in found.panels] == [False, True, True]
    low, high = found.panels[0].x_range
    assert all(low < x < high for panel in found.panels for curve in panel.curves for x in curve.x)
    page = plots.plot(swept, "bars", x="algorithm", y="jain", panels="title", width="page")
    assert [axis.get_title(loc="left") for axis in page.axes] == PATHS


def test_two_columns_give_a_grid_of_panels(swept):
    found = made(swept, kind="bars", x="name", y="throughput_bps", panels="title", rows="algorithm")
    assert found.columns == 3
    assert [panel.title for panel in found.panels] == [f"{a}, {b}" for b in ALGORITHMS for a in PATHS]
    assert "Panels: columns title, rows algorithm." in found.caption
    flows = sweep.open_sweep(swept).to_polars("flows")
    own = flows.filter((flows["title"] == "far") & (flows["algorithm"] == "bbr") & (flows["name"] == "2"))
    (curve,) = found.panels[5].curves
    assert curve.y[1] == pytest.approx(1e-6 * own["throughput_bps"].mean())
    assert "panels and rows are both title" in refused(
        swept, "--x", "name", "--panels", "title", "--rows", "title"
    )


def test_the_limits_of_axes_are_quantities_and_end_up_in_the_unit_of_the_axis(swept, ran):
    drawn = plots.plot(swept, "lines", x="rtt", y="jain", by="algorithm", x_limits=("5 ms", "0.2 s"))
    assert drawn.axes[0].get_xlim() == (5.0, 200.0)
    drawn = plots.plot(ran / "a", "timeline", y="throughput_bps", y_limits=("500 kbit/s", 2e7))
    assert drawn.axes[0].get_ylim() == (0.5, 20.0)
    drawn = plots.plot(swept, "heat", x="title", y="jain", by="algorithm", y_limits=(0.5, 1.0))
    assert drawn.axes[0].collections[0].get_clim() == (0.5, 1.0)


def test_scales_labels_and_titles_are_what_was_asked_for(swept):
    asked = {"x": "rtt", "y": "bottleneck_queue_mean_packets", "by": "algorithm"}
    (usual,) = plots.plot(swept, "lines", **asked).axes
    assert (usual.get_xscale(), usual.get_yscale()) == ("linear", "linear")
    words = {"x_label": "Base RTT (ms)", "y_label": "Queue", "title": "Mine"}
    drawn = plots.plot(swept, "lines", **asked, log_x=True, log_y=True, **words)
    (axes,) = drawn.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Base RTT (ms)", "Queue")
    assert drawn.get_suptitle() == "Mine"


@pytest.mark.parametrize(
    ("width", "points"), [("8 cm", 72 * 8 / 2.54), ("3.25in", 234.0), ("90 mm", 72 * 9 / 2.54)]
)
def test_a_figure_is_as_wide_as_the_length_that_was_asked_for(swept, tmp_path, width, points):
    file = tmp_path / "wide.svg"
    given = ["plot", str(swept), "--y", "jain", "--width", width, "--out", str(file)]
    assert CliRunner().invoke(app, given, catch_exceptions=False).exit_code == 0
    assert float(file.read_text().partition('width="')[2].partition("pt")[0]) == pytest.approx(
        points, rel=1e-5
    )


def test_ticks_stand_at_round_values_and_at_whole_ones_along_whole_numbers(swept, ran):
    seeds = plots.plot(ran / "a", "lines", x="seed", y="jain").axes[0]
    assert all(tick == round(tick) for tick in seeds.get_xticks())
    for asked in ({"kind": "scatter"}, {"kind": "cdf", "y": "throughput_bps"}):
        canvas = draw(made(swept, **asked), width_in=3.5)
        canvas.draw_without_rendering()
        ticks = canvas.axes[0].get_xticks()
        step = ticks[1] - ticks[0]
        assert round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6) in (1, 2, 5)


def test_a_mean_over_links_or_flows_says_which(swept):
    caption = made(
        swept, kind="timeline", y="queue_packets", by="algorithm", where={"title": ["far"]}
    ).caption
    assert "Averaged over: name (bottleneck, reverse)." in caption


def test_options_that_contradict_each_other_are_refused(swept, tmp_path):
    style = tmp_path / "wide.mplstyle"
    style.write_text("figure.figsize: 5, 5\n")
    words, numbers = (
        [swept, "--y", "jain", "--x", "title"],
        [swept, "--y", "jain", "--x", "rtt", "--kind", "lines"],
    )
    for given, told in (
        ([*numbers, "--log-x", "--linear-x"], "--log-x cannot be used with --linear-x"),
        ([*words, "--log-x"], "log_x: title has categories"),
        ([*words, "--x-limits", "0", "1"], "x_limits: title has categories"),
        ([*words, "--by", "algorithm", "--kind", "heat", "--log-y"], "log_y: a heat map has categories"),
        ([*words, "--panels", "title"], "x and panels are both title"),
        ([*words, "--format", "png", "--out", "a.pdf"], "--format png cannot be used with --out a.pdf"),
        ([*words, "--width", "8 cm", "--style", style], "sets figure.figsize; accepted: one of them"),
        ([*words, "--width", "8"], 'a length of 1 to 40 in, as "8 cm"'),
        ([*words, "--width", "2 m"], 'a length of 1 to 40 in, as "8 cm"'),
        ([*numbers, "--x-limits", "5", "20"], 'x_limits 5: a time needs a unit; accepted: "5 ms"'),
        ([*numbers, "--x-limits", "5 ms", "20 Mbit/s"], '"Mbit/s" is not a unit of time'),
        ([*numbers, "--x-limits", "20 ms", "5 ms"], "these are no ends; accepted: the lower end"),
        ([*numbers, "--log-x", "--x-limits", "0 ms", "5 ms"], "above 0, since the axis is logarithmic"),
        ([*numbers, "--y-limits", "0", "1 s"], "accepted: a number without a unit"),
        ([swept, "--kind", "scatter", "--x", "title"], "title holds no numbers; accepted as x"),
    ):
        assert told in refused(*given)


def test_the_commands_of_the_guide_draw_what_they_say(swept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(swept, "out/three")
    longfat.run(str(sampled(tmp_path / "one"))).save("out/two")
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "figures.md").read_text()
    commands = re.findall(r"longfat (plot out/(?:three|two)\b[^`\n]*)", guide)
    assert len(commands) >= 6
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command), catch_exceptions=False)
        assert done.exit_code == 0, command
        assert Path(done.stdout.strip()).stat().st_size > 5000


def test_where_takes_values_of_any_column_by_its_type(swept):
    for value in ("1", 1):
        where = {"name": [value], "title": ["far"]}
        (panel,) = made(swept, kind="bars", x="algorithm", y="throughput_bps", where=where).panels
        flows = sweep.open_sweep(swept).to_polars("flows")
        own = flows.filter((flows["name"] == "1") & (flows["title"] == "far"))
        assert panel.curves[0].y[0] == pytest.approx(
            1e-6 * own.filter(own["algorithm"] == "cubic")["throughput_bps"].mean()
        )
    timeline = ["--kind", "timeline", "--where", "name=1", "--where", "run=0", "--json"]
    done = CliRunner().invoke(app, ["plot", str(swept), *timeline], catch_exceptions=False)
    assert "Only name 1." in done.stdout
    words = [swept, "--y", "jain", "--x", "title"]
    for given, accepted in (
        ("jain=abc", "a number"),
        ("packets=1.5", "a whole number"),
        ("packets=3 ms", "a whole number"),
    ):
        column, value = given.split("=")
        told = refused(*words, "--where", given)
        assert f"where {column} = {value}: no such value; accepted: {accepted}" in told
    assert "no row is left" in refused(*words, "--where", "jain=0.123")


def test_a_caption_speaks_of_a_mean_over_flows_only_where_there_is_one(ran):
    assert "Averaged" not in made(ran / "a", kind="bars", x="algorithm", y="throughput_bps").caption
    caption = made(ran / "a", kind="bars", x="seed", y="throughput_bps").caption
    assert caption.endswith("Averaged over: flow (1, 2).")


def test_values_of_a_column_in_several_conditions_are_joined(swept):
    given = ["plot", str(swept), "--y", "jain", "--x", "title", "--json"]
    more = ["--where", "title=far", "--where", "title=campus"]
    done = CliRunner().invoke(app, [*given, *more], catch_exceptions=False)
    assert "Only title far or campus." in done.stdout


def test_arguments_of_another_form_are_refused(swept):
    for given, told in (
        ({"x_limits": (0, None)}, "x_limits = [0, null]: these are no ends; accepted: two quantities or num"),
        ({"x_limits": 5}, "x_limits = 5: these are no ends; accepted: two quantities or numbers"),
        ({"y_limits": (0, math.inf)}, "y_limits 0 inf: these are no ends; accepted: the lower end"),
        ({"y_limits": "01"}, 'y_limits = "01": these are no ends'),
        ({"where": "title=far"}, 'where = "title=far": this is no restriction; accepted: columns with'),
    ):
        with pytest.raises(InputError) as refused:
            plots.plot(swept, "lines", x="rtt", y="jain", **given)
        assert told in str(refused.value)
