import itertools
import json
import math
import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from longfat.figure import inline, style
from longfat.figure import matplotlib as plots
from longfat.figure.data import Curve, Figure, Panel, points, theory
from longfat.scenario import registry


def sample_figure():
    lossy = Panel(
        "250 Mbit/s",
        "loss",
        "Mbit/s",
        (
            points("Standard TCP", [(1e-3, (3.0, 0.1)), (1e-4, (9.0, math.nan))], "reno"),
            points("H-TCP", [(1e-4, (math.nan, math.nan)), (1e-3, (5.0, 0.2))], "htcp"),
            theory("theory", [1e-4, 1e-3], [9.1, 2.9], "reno"),
        ),
        x_log=True,
        y_log=True,
        y_range=(1.0, 100.0),
    )
    history = Panel(
        "cwnd",
        "time, s",
        "packets",
        tuple(
            Curve(f"flow {i}", (0.0, 1.0, 2.0), (1.0, 2.0 * i, 1.0), None, "htcp", "line", i - 1)
            for i in (1, 2)
        ),
    )
    return Figure("T1", "Fig. T1", "A title", "A caption", (lossy, history))


def test_points_are_drawn_in_the_order_of_x():
    assert sample_figure().panels[0].curves[0].x == (1e-4, 1e-3)


def test_a_figure_comes_back_from_json_as_it_was():
    figure = sample_figure()
    text = json.dumps(figure.to_json(), allow_nan=False)
    again = Figure.from_json(json.loads(text))
    assert json.dumps(again.to_json()) == text
    assert math.isnan(again.panels[0].curves[1].y[0])


def test_a_figure_is_saved_in_every_format_for_papers(tmp_path):
    paths = plots.save(sample_figure(), tmp_path / "figures")
    starts = {path.name: path.read_bytes()[:5] for path in paths}
    assert starts["T1.pdf"] == b"%PDF-"
    assert starts["T1.svg"] == b"<?xml"
    assert starts["T1.png"].startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, kind):
    one, two = (plots.save(sample_figure(), tmp_path / name, [kind])[0].read_bytes() for name in "ab")
    assert one == two


def test_the_axes_of_a_figure_are_those_of_its_panels():
    lossy, history = plots.draw(sample_figure()).axes
    assert (lossy.get_xscale(), lossy.get_yscale()) == ("log", "log")
    assert lossy.get_ylim() == (1.0, 100.0)
    assert (history.get_xscale(), history.get_yscale()) == ("linear", "linear")
    assert history.get_ylim()[0] == 0.0


def test_error_bars_are_the_standard_errors():
    lossy = plots.draw(sample_figure()).axes[0]
    bars = lossy.containers[0].lines[2][0].get_segments()
    assert [segment[:, 1].tolist() for segment in bars] == [[9.0, 9.0], [2.9, 3.1]]


def test_every_label_is_in_the_legend_once():
    canvas = plots.draw(sample_figure())
    labels = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert labels == ["Standard TCP", "H-TCP", "theory", "flow 1", "flow 2"]


def test_a_figure_of_a_hundred_flows_has_a_short_legend_and_room_for_its_axes(tmp_path, recwarn):
    curves = tuple(Curve(f"flow {i}", (0.0, 1.0), (1.0, i), None, "reno", "line") for i in range(100))
    figure = Figure("T", "T", "", "", (Panel("", "time, s", "packets", curves),))
    plots.save(figure, tmp_path, ["png"])
    assert not recwarn.list
    labels = [text.get_text() for text in plots.draw(figure).legends[0].get_texts()]
    assert (len(labels), labels[0], labels[-1]) == (24, "flow 0", "and 77 more")


def test_a_zero_on_a_logarithmic_axis_is_a_gap():
    panel = Panel("", "x", "y", (Curve("a", (1.0, 2.0), (0.0, 1.0)),), y_log=True)
    (axis,) = plots.draw(Figure("T", "T", "", "", (panel,))).axes
    drawn = axis.containers[0].lines[0].get_ydata(orig=False)
    np.testing.assert_equal(drawn, [math.nan, 1.0])


def test_a_logarithmic_panel_without_a_positive_value_still_draws(tmp_path):
    panel = Panel("", "x", "y", (Curve("a", (1.0, 2.0), (0.0, math.nan)),), y_log=True)
    assert plots.save(Figure("T", "T", "", "", (panel,)), tmp_path, ["png"])[0].stat().st_size > 0


@pytest.mark.parametrize("kind", ["algorithms", "queues"])
def test_every_row_of_a_registry_differs_from_the_others_in_colour_or_marker(kind):
    looks: dict[tuple[str, str], str] = {}
    for row in registry.rows(kind):
        look = style.name_colour(row["name"]), style.name_marker(row["name"])
        assert look not in looks, f"{row['name']} looks like {looks[look]}: choose a style in its row"
        looks[look] = row["name"]


def test_a_name_without_a_chosen_colour_always_has_the_same():
    assert style.name_colour("my_reno.py:MyReno") == style.name_colour("my_reno.py:MyReno")
    assert style.name_colour("my_reno.py:MyReno") != style.name_colour("my_reno.py:Other")


SEEN = {
    "any colours": np.eye(3),
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no blue": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""What dichromats see of linear sRGB (Machado, Oliveira, Fernandes 2009, severity 1)."""
APART = 25.0
"""Distance in CIELAB, where 2 can just be seen side by side."""


def lab(colour, seen):
    """A colour as a reader sees it, in CIELAB."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = to_xyz @ np.clip(seen @ linear, 0.0, 1.0) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("reader", SEEN)
def test_readers_with_any_colour_vision_tell_cubic_bbr_bbr3_and_reno_apart(reader):
    for one, other in itertools.combinations(("cubic", "bbr", "bbr3", "reno"), 2):
        colours = [lab(style.name_colour(name), np.array(SEEN[reader])) for name in (one, other)]
        assert np.linalg.norm(colours[0] - colours[1]) > APART, (one, other)


@pytest.mark.parametrize("name", ["cubic", "bbr", "bbr3", "reno", "tahoe"])
def test_flows_of_one_algorithm_have_shades_of_its_colour_that_a_dark_page_shows_too(name):
    shades = [style.flow_colour(name, number) for number in range(3)]
    assert shades[0] == style.name_colour(name)
    seen = [lab(shade, np.eye(3)) for shade in shades]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 10.0
    assert all(lab(style.on_dark(shade), np.eye(3))[0] > 55.0 for shade in shades)


def test_flows_of_one_algorithm_differ_in_a_history():
    first, second = sample_figure().panels[1].curves
    assert style.colour(first) != style.colour(second)


def test_a_figure_is_saved_under_a_folder_that_is_a_text(tmp_path):
    (path,) = plots.save(sample_figure(), str(tmp_path / "out" / "mine"), ["png"])
    assert path == tmp_path / "out" / "mine" / "T1.png"
    assert path.is_file()


def heat_map(columns, cells):
    names = tuple(f"{column} Mbit/s" for column in range(len(cells[0])))
    panels = [
        Panel(f"{i} ms, cubic", "rate", "" if i else "buffer", (), categories=names, levels=("a", "b"))
        for i in range(columns)
    ]
    return Figure("H", "", "A map", "", tuple(replace(panel, cells=cells) for panel in panels), columns)


def test_maps_side_by_side_have_one_set_of_labels_and_cut_nothing_off():
    drawn = heat_map(6, ((0.0123, 0.0456, 0.0789), (0.1, 0.2, 0.3)))
    canvas = plots.draw(drawn)
    canvas.draw_without_rendering()
    assert canvas.get_figwidth() > plots.WIDTH_INCHES
    for axis in canvas.axes:
        box = axis.get_tightbbox()
        assert box.x0 >= 0.0
        assert box.x1 <= canvas.bbox.width
        boxes = [text.get_window_extent() for text in axis.texts[:3]]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    shown = [any(label.get_text() for label in axis.get_yticklabels()) for axis in canvas.axes]
    assert shown == [True] + [False] * 5


def test_cells_that_are_too_narrow_have_no_numbers():
    row = tuple(0.01 * i + 0.001 for i in range(60))
    assert list(plots.draw(heat_map(2, (row, row))).axes[0].texts) == []


@pytest.mark.parametrize(
    "panel",
    [
        Panel("", "x", "y", (Curve("a", (1.0, 2.0), (math.nan, math.nan)),)),
        Panel("", "x", "y", ()),
        Panel("", "x", "y", (), categories=("a",), levels=("b",), cells=((math.nan,),)),
    ],
)
def test_a_panel_without_a_value_says_so(panel):
    figure = Figure("T", "", "", "", (panel,))
    assert [text.get_text() for text in plots.draw(figure).axes[0].texts] == ["no values"]


def test_a_short_logarithmic_axis_has_labels_between_the_powers_of_ten():
    panel = Panel("", "x", "y", (Curve("a", (20.0, 400.0), (1.0, 2.0)),), x_log=True)
    figure = Figure("T", "", "", "", (panel,))
    axis = plots.draw(figure).axes[0]
    low, high = axis.get_xlim()
    assert [x for x in axis.get_xticks() if low < x < high] == [20.0, 50.0, 100.0, 200.0]


def drawn_panel(curves, **more):
    (axis,) = plots.draw(Figure("T", "", "", "", (Panel("", "x", "y", tuple(curves), **more),))).axes
    return axis


def test_points_of_curves_that_share_a_category_stand_beside_each_other():
    values = [(0.0, (1.0, 0.1)), (1.0, (2.0, 0.1))]
    shared = drawn_panel([points(name, values, name) for name in ("cubic", "bbr")], categories=("a", "b"))
    one, other = (container.lines[0].get_xdata() for container in shared.containers)
    assert np.all(other - one > 0.0)
    apart = [points("cubic", values[:1], "cubic"), points("bbr", values[1:], "bbr")]
    alone = drawn_panel(apart, categories=("a", "b"))
    assert [container.lines[0].get_xdata().tolist() for container in alone.containers] == [[0.0], [1.0]]


def test_categories_can_stand_below_each_other():
    curve = points("cubic", [(0.0, (1.0, 0.25)), (1.0, (2.0, 0.25))], "cubic")
    axis = drawn_panel([curve], categories=("first", "second"), sideways=True)
    assert [text.get_text() for text in axis.get_yticklabels()] == ["first", "second"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the first on top
    assert axis.get_xlabel() == "y"
    bars = axis.containers[0].lines[2][0].get_segments()
    assert [segment.tolist() for segment in bars] == [[[0.75, 0.0], [1.25, 0.0]], [[1.75, 1.0], [2.25, 1.0]]]
    assert axis.get_xlim()[0] == 0.0


def test_bars_in_the_same_colour_differ_in_their_hatch():
    names = ("hstcp", "dctcp", "cubic")
    assert style.name_colour("hstcp") == style.name_colour("dctcp")
    curves = [Curve(name, (0.0,), (1.0,), None, name, "bars") for name in names]
    axis = drawn_panel(curves, categories=("a",))
    assert [patch.get_hatch() or "" for patch in axis.patches] == ["", "///", ""]


def test_a_line_with_an_error_has_a_band_around_it():
    curve = Curve("1", (0.0, 1.0), (1.0, 4.0), (2.0, 1.0), "cubic", "line")
    (band,) = drawn_panel([curve]).collections
    ends = band.get_paths()[0].vertices
    assert (ends[:, 1].min(), ends[:, 1].max()) == (0.0, 5.0)  # nothing that is positive goes below zero


def test_a_map_without_numbers_has_a_bar_of_colours():
    row = tuple(0.01 * i + 0.001 for i in range(60))
    assert len(plots.draw(heat_map(2, (row, row))).axes) == 4
    assert len(plots.draw(heat_map(2, ((0.1, 0.2), (0.3, 0.4)))).axes) == 2


def test_what_the_user_has_set_matplotlib_to_changes_no_figure(tmp_path):
    one = plots.save(sample_figure(), tmp_path / "a", ["svg"])[0].read_bytes()
    with mpl.rc_context({"font.size": 20, "axes.grid": False, "lines.linewidth": 7}):
        other = plots.save(sample_figure(), tmp_path / "b", ["svg"])[0].read_bytes()
    assert one == other


def test_a_page_shows_a_figure_without_its_title_which_stands_above_it(tmp_path):
    (path,) = plots.save(sample_figure(), tmp_path, ["svg"])
    whole, within = path.read_text(), inline.svg(path.read_text(), sample_figure())
    assert ">Fig. T1: A title</text>" in whole
    assert ">Fig. T1: A title</text>" not in within
    boxes = [list(map(float, re.search(r'viewBox="([^"]*)"', text)[1].split())) for text in (whole, within)]
    assert 5.0 < boxes[1][1] < 20.0
    assert boxes[0][3] == pytest.approx(boxes[1][1] + boxes[1][3], abs=1e-3)
    assert "250 Mbit/s</text>" in within  # the title of a panel


def test_curves_are_lighter_on_a_dark_page(tmp_path):
    figure = Figure("D", "D", "", "", (Panel("", "x", "y", (points("bbr3", [(1.0, (2.0, 0.1))], "bbr3"),)),))
    (path,) = plots.save(figure, tmp_path, ["svg"])
    own = style.name_colour("bbr3")
    within = inline.svg(path.read_text(), figure)
    assert f"(prefers-color-scheme: dark) {{ .figure {{ --c{own[1:]}: {style.on_dark(own)} }}" in within
    assert within.count(f": {own}") == 0
    assert within.count(f": var(--c{own[1:]}, {own})") > 1
