"""The figures of a run over time: what is kept of long, repeated and many histories, and what pages draw."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from longfat.errors import InputError
from longfat.figure import histories, uplot
from longfat.figure import matplotlib as plots
from longfat.intervals import half_width_95, student_t_95

SUMMARY = {"duration_s": 10.0, "window_s": [0.0, 10.0], "links": []}


def table(series, times, **others):
    """A table in long form from values by name."""
    rows = [(t, name, y) for name, values in series.items() for t, y in zip(times, values, strict=True)]
    time, name, cwnd = zip(*rows, strict=True)
    return pa.table({"time_s": time, "name": name, "cwnd": cwnd, **others})


def flows(*names):
    return [{"name": name, "algorithm": "cubic", "start_s": 0.0, "rtt_s": 0.1} for name in names]


def figures(summary, *wanted, most=None, **tables):
    return histories.figures(SUMMARY | summary, tables, wanted or tuple(histories.TITLES), most=most)


def cwnd(names, series, **more):
    """The panel of the congestion windows of some flows."""
    (figure,) = figures({"flows": flows(*names), **more}, "cwnd", flows=series)
    return figure.panels[0]


# (degrees of freedom, t at .975): Student's table as printed in Fisher, Yates, Statistical Tables, table III
@pytest.mark.parametrize(
    ("degrees", "printed"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (10, 2.228), (29, 2.045), (120, 1.980)],
)
def test_students_t_is_the_printed_one(degrees, printed):
    assert student_t_95(degrees) == pytest.approx(printed, abs=5e-4)


def test_an_interval_covers_the_mean_in_95_of_100_samples():
    samples = np.random.default_rng(1).normal(3.0, 2.0, size=(5, 20_000))
    covered = np.abs(samples.mean(axis=0) - 3.0) <= half_width_95(samples)
    assert covered.mean() == pytest.approx(0.95, abs=0.005)


def test_a_single_run_has_no_interval():
    assert np.isnan(half_width_95(np.ones((1, 3)))).all()


def test_thinning_keeps_the_least_and_the_greatest_value_in_their_order():
    times = np.arange(1000.0)
    spiky = np.zeros(1000)
    spiky[503], spiky[507] = 9.0, -4.0
    drawn_s, places = histories.thin(times, np.array([spiky, times]), 100)
    assert drawn_s.size <= 102
    kept = spiky[places[0]]
    assert list(kept[np.flatnonzero(kept)]) == [9.0, -4.0]
    assert (places[1][0], places[1][-1]) == (0, 999)
    assert np.all(np.diff(drawn_s) > 0.0)


@pytest.mark.parametrize("most", [100, None])
def test_a_short_history_is_kept_as_it_is(most):
    times = np.arange(10.0)
    drawn_s, places = histories.thin(times, np.array([times**2]), most)
    assert drawn_s is times
    assert places.tolist() == [list(range(10))]


def test_gaps_stay_gaps():
    values = np.full(1000, np.nan)
    values[:100] = 1.0
    _, places = histories.thin(np.arange(1000.0), np.array([values]), 100)
    kept = values[places[0]]
    assert np.isnan(kept[-10:]).all()
    assert np.all(kept[:10] == 1.0)


def test_repeats_are_their_mean_with_an_interval():
    times = [0.0, 1.0]
    runs = [table({"1": [level, 10.0 + level]}, times) for level in (1.0, 2.0, 3.0)]
    seeded = [run.append_column("seed", pa.array([seed] * 2)) for seed, run in enumerate(runs)]
    drawn = figures({"flows": flows("1")}, "cwnd", flows=pa.concat_tables(seeded))
    (curve,) = drawn[0].panels[0].curves
    assert curve.y == (2.0, 12.0)
    # s = 1, t = 4.303 with two degrees of freedom
    assert curve.error == pytest.approx([4.303 / math.sqrt(3.0)] * 2, abs=1e-3)
    (series,) = uplot.document(drawn)["panels"][0]["series"]
    (band,) = series["bands"]
    assert band["low"] == [
        0.0,
        pytest.approx(12.0 - 4.303 / math.sqrt(3.0), abs=1e-3),
    ]  # no window is below 0
    assert band["high"][0] == pytest.approx(2.0 + 4.303 / math.sqrt(3.0), abs=1e-3)


def test_the_interval_at_a_thinned_point_is_that_of_the_value_drawn_there():
    times = np.arange(1000.0)
    level = np.where(times == 503.0, 9.0, 1.0)
    width = np.where(times == 503.0, 0.5, 0.1)
    both = [table({"1": level + sign * width}, times, seed=[sign] * 1000) for sign in (-1, 1)]
    drawn = figures({"flows": flows("1")}, "cwnd", flows=pa.concat_tables(both), most=100)
    (curve,) = drawn[0].panels[0].curves
    place = curve.y.index(max(curve.y))
    assert curve.y[place] == pytest.approx(9.0)
    assert curve.error[place] == pytest.approx(0.5 * student_t_95(1))  # s = 0.5 sqrt(2), over sqrt(2)
    assert curve.error[place - 2] == pytest.approx(0.1 * student_t_95(1))


def test_many_flows_become_quantiles_and_each_stays_at_hand():
    names = [str(n) for n in range(101)]
    series = table({name: [float(n)] * 2 for n, name in enumerate(names)}, [0.0, 1.0])
    panel = cwnd(names, series)
    (curve,) = panel.curves
    assert (curve.label, curve.y[0]) == ("median of 101 flows", 50.0)
    assert [(band.label, band.low[0], band.high[0]) for band in curve.bands] == [
        ("5 % to 95 %", 5.0, 95.0),
        ("25 % to 75 %", 25.0, 75.0),
    ]
    assert [detail.flow for detail in panel.details] == names
    assert {detail.x for detail in panel.details} == {curve.x}
    few = cwnd(names[:12], series)
    assert [curve.flow for curve in few.curves] == names[:12]


def test_a_paper_shows_many_flows_as_named_bands():
    names = [str(n) for n in range(101)]
    series = table({name: [float(n)] * 2 for n, name in enumerate(names)}, [0.0, 1.0])
    canvas = plots.draw(figures({"flows": flows(*names)}, "cwnd", flows=series)[0])
    (axis,) = canvas.axes
    assert len(axis.lines) == 1
    ends = [
        (each.get_datalim(axis.transData).y0, each.get_datalim(axis.transData).y1)
        for each in axis.collections
    ]
    assert ends == [(5.0, 95.0), (25.0, 75.0)]
    labels = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert labels == ["median of 101 flows", "5 % to 95 %", "25 % to 75 %"]


def test_losses_are_shown_where_they_happen():
    series = table({"1": [1.0] * 4}, [0.0, 1.0, 2.0, 3.0], packets_lost=[0.0, 2.0, 2.0, 5.0])
    (ticks,) = cwnd(["1"], series).ticks
    assert (ticks.flow, ticks.label, ticks.x) == ("1", "loss", (1.0, 3.0))


def test_only_a_link_with_a_queue_has_a_panel_and_the_others_are_named():
    links = pa.table(
        {
            "time_s": [0.0, 1.0] * 2,
            "name": ["busy", "busy", "idle", "idle"],
            "queue_packets": [0.0, 3.0, 0.0, 0.0],
            "capacity_bps": [1e6, 2e6, 1e6, 1e6],
            "packets_dropped": [0.0, 1.0, 0.0, 0.0],
        }
    )
    summary = {"flows": [], "links": [{"name": name, "queue_limit_packets": 5} for name in ("busy", "idle")]}
    titles = ["Queue of busy, room for 5 packets", "Capacity of busy"]
    drawn = figures(summary, links=links)
    (figure,) = [figure for figure in drawn if figure.name == "queue"]
    assert [panel.title for panel in figure.panels] == titles
    assert [panel["title"] for panel in uplot.document(drawn)["panels"]] == titles
    assert figure.panels[0].ticks[0].label == "drop"
    assert histories.empty_queues(SUMMARY | summary, links) == ["idle"]
    alone = figures(summary, "queue", links=links)[0]
    assert [panel.title for panel in alone.panels] == [*titles, "Queue of idle, room for 5 packets"]
    assert alone.panels[-1].y_range == (0.0, 1.0)


def test_every_queue_is_drawn_unless_a_page_asks_for_the_longest():
    names = [str(number) for number in range(15)]
    columns = {"time_s": [0.0] * 15, "name": names, "queue_packets": [float(name) for name in names]}
    summary = SUMMARY | {"flows": [], "links": [{"name": name} for name in names]}
    tables = {"links": pa.table(columns)}
    (every,) = histories.figures(summary, tables, ("queue",))
    assert (len(every.panels), every.caption) == (15, "")
    (longest,) = histories.figures(summary, tables, ("queue",), most_links=2)
    assert [panel.title for panel in longest.panels] == ["Queue of 14", "Queue of 13"]
    assert longest.caption == "The 2 longest of 15 queues."


def test_a_figure_that_there_is_not_is_refused():
    with pytest.raises(InputError, match='figure "cwn": there is no such figure, did you mean "cwnd"'):
        figures({"flows": []}, "cwn")


def test_a_paper_shows_the_limit_of_a_queue_that_comes_near_it_and_a_page_always():
    def levels(most):
        links = pa.table({"time_s": [0.0, 1.0], "name": ["1", "1"], "queue_packets": [0.0, most]})
        drawn = figures(
            {"flows": [], "links": [{"name": "1", "queue_limit_packets": 10}]}, "queue", links=links
        )
        curves = drawn[0].panels[0].curves
        return [curve.y for curve in curves[1:]], uplot.document(drawn)["panels"][0]["levels"]

    assert levels(2.0) == ([(10, 10)], [10])
    assert levels(1.0) == ([], [10])


def test_a_threshold_far_above_every_window_is_not_shown():
    series = table({"1": [1.0, 2.0, 4.0]}, [0.0, 1.0, 2.0], ssthresh=[math.inf, 1e6, 3.0])
    (threshold,) = cwnd(["1"], series).details
    np.testing.assert_equal(threshold.y, (math.nan, math.nan, 3.0))
    assert (threshold.flow, threshold.kind) == ("1", "theory")


def test_each_flow_begins_at_its_start_and_flows_of_one_algorithm_differ_in_colour():
    series = table({"1": [1.0, 2.0, 3.0], "2": [4.0, 5.0, 6.0]}, [0.0, 1.0, 2.0])
    entries = flows("1", "2")
    entries[1]["start_s"] = 1.0
    (figure,) = figures({"flows": entries}, "cwnd", flows=series)
    one, two = figure.panels[0].curves
    assert one.y == (1.0, 2.0, 3.0)
    np.testing.assert_equal(two.y, (math.nan, 5.0, 6.0))
    assert [curve.label for curve in (one, two)] == ["1 (cubic)", "2 (cubic)"]
    document = uplot.document([figure])
    assert [flow["name"] for flow in document["flows"]] == ["1", "2"]
    assert document["flows"][0]["colours"] != document["flows"][1]["colours"]
    assert document["panels"][0]["series"][1]["y"] == [None, 5.0, 6.0]


def test_a_flow_s_throughput_is_its_counter_s_gain_by_bins_from_its_start_on():
    times = [0.1 * i for i in range(1001)]
    # nothing for 10 s, then 1 MB a second: 8 Mbit/s
    counter = [max(0.0, 1e6 * (time - 10.0)) for time in times]
    series = table({"1": counter}, times, received_bytes=counter)
    (figure,) = figures({"flows": flows("1"), "duration_s": 100.0}, "throughput", flows=series)
    (curve,) = figure.panels[0].curves
    assert curve.x[:3] == pytest.approx((0.25, 0.75, 1.25))  # 100 s in 200 bins
    after = [y for x, y in zip(curve.x, curve.y, strict=True) if x > 10.0]
    assert after == pytest.approx([8.0] * 180)
    assert sum(curve.y) == pytest.approx(8.0 * 180)


@pytest.mark.parametrize(
    ("window_s", "marked"), [([2.0, 8.0], (2.0, 8.0)), ([0.0, 10.0], None), (None, None)]
)
def test_the_window_of_the_figures_is_marked_unless_it_is_the_whole_run(window_s, marked):
    series = table({"1": [1.0, 2.0, 3.0]}, [0.0, 5.0, 10.0], received_bytes=[0.0, 1.0, 2.0])
    links = pa.table({"time_s": [0.0, 10.0], "name": ["1", "1"], "queue_packets": [0.0, 3.0]})
    summary = {"flows": flows("1"), "links": [{"name": "1"}], "window_s": window_s}
    drawn = figures(summary, "cwnd", "throughput", "queue", flows=series, links=links)
    assert len(drawn) == 3
    for figure in drawn:
        assert figure.panels[0].marked == marked
        shaded = [patch for patch in plots.draw(figure).axes[0].patches if patch.get_alpha()]
        ends = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in shaded]
        assert ends == ([marked] if marked else [])
    assert [panel["marked"] for panel in uplot.document(drawn)["panels"]] == [marked] * 3


def test_internals_have_a_panel_for_each_quantity_with_the_colours_of_their_flows():
    rows = {"time_s": [0.0, 1.0] * 2, "name": ["2"] * 4, "quantity": ["bw_pps"] * 2 + ["gain"] * 2}
    internals = pa.table(rows | {"value": [1.0, 2.0, 3.0, 4.0]})
    series = table({"1": [1.0, 1.0], "2": [1.0, 1.0]}, [0.0, 1.0])
    drawn = figures({"flows": flows("1", "2")}, "cwnd", "internals", flows=series, internals=internals)
    panels = drawn[1].panels
    assert [(panel.title, panel.curves[0].y) for panel in panels] == [
        ("bw_pps", (1.0, 2.0)),
        ("gain", (3.0, 4.0)),
    ]
    (own,) = panels[0].curves
    assert (own.flow, own.stroke) == ("2", 1)
    assert [panel["key"] for panel in uplot.document(drawn)["panels"]] == [
        "cwnd",
        "internals-0",
        "internals-1",
    ]


def test_runs_of_repeats_that_were_sampled_at_other_times_meet_on_those_of_the_first():
    one = table({"1": [0.0, 2.0, 4.0]}, [0.0, 1.0, 2.0], seed=[1] * 3)
    other = table({"1": [10.0, 30.0]}, [0.0, 2.0], seed=[2] * 2)
    curve = cwnd(["1"], pa.concat_tables([one, other])).curves[0]
    assert curve.y == (5.0, 11.0, 17.0)


def test_embedded_data_cannot_end_the_script_that_holds_them():
    text = uplot.embedded({"name": "</script><b>&"})
    assert not {"<", ">", "&"} & set(text)
    assert json.loads(text) == {"name": "</script><b>&"}


def test_a_paper_shows_the_lines_of_a_page_with_their_intervals():
    times = np.linspace(0.0, 10.0, 11)
    both = [table({"1": k * times, "2": k + times}, times, seed=[k] * 22) for k in (1, 2, 3)]
    drawn = figures({"flows": flows("1", "2")}, "cwnd", flows=pa.concat_tables(both))
    assert (drawn[0].name, drawn[0].panels[0].y_label) == ("cwnd", "cwnd, segments")
    (axis,) = plots.draw(drawn[0]).axes
    assert axis.lines[0].get_ydata() == pytest.approx(2.0 * times)
    half = times * student_t_95(2) / math.sqrt(3)
    assert drawn[0].panels[0].curves[0].error == pytest.approx(half, rel=1e-3)
    (panel,) = uplot.document(drawn)["panels"]
    assert (panel["title"], panel["unit"]) == ("Congestion window", "segments")
    assert [series["y"] for series in panel["series"]] == [line.get_ydata().tolist() for line in axis.lines]
