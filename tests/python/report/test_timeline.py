"""The data of a run's page: what is kept of long, repeated and many histories."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from longfat.intervals import half_width_95, student_t_95
from longfat.report import timeline

SUMMARY = {"duration_s": 10.0, "window_s": [0.0, 10.0], "links": []}


def table(series, times, **others):
    """A table in long form from values by name."""
    rows = [(t, name, y) for name, values in series.items() for t, y in zip(times, values, strict=True)]
    time, name, cwnd = zip(*rows, strict=True)
    return pa.table({"time_s": time, "name": name, "cwnd": cwnd, **others})


def flows(*names):
    return [{"name": name, "algorithm": "cubic", "start_s": 0.0, "rtt_s": 0.1} for name in names]


def panel(document, key):
    return next(panel for panel in document["panels"] if panel["key"] == key)


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
    places, kept = timeline.thin(times, np.array([spiky, times]), 100)
    assert places.size <= 102
    assert list(kept[0][np.flatnonzero(kept[0])]) == [9.0, -4.0]
    assert kept[1][0] == 0.0
    assert kept[1][-1] == 999.0
    assert np.all(np.diff(places) > 0.0)


def test_a_short_history_is_kept_as_it_is():
    times = np.arange(10.0)
    places, kept = timeline.thin(times, np.array([times**2]), 100)
    assert places is times
    assert np.array_equal(kept, [times**2])


def test_gaps_stay_gaps():
    values = np.full(1000, np.nan)
    values[:100] = 1.0
    _, kept = timeline.thin(np.arange(1000.0), np.array([values]), 100)
    assert np.isnan(kept[0][-10:]).all()
    assert np.all(kept[0][:10] == 1.0)


def test_repeats_are_their_mean_with_an_interval():
    times = [0.0, 1.0]
    runs = [table({"1": [level, 10.0 + level]}, times) for level in (1.0, 2.0, 3.0)]
    seeded = [run.append_column("seed", pa.array([seed] * 2)) for seed, run in enumerate(runs)]
    document = timeline.document(SUMMARY | {"flows": flows("1")}, pa.concat_tables(seeded), None)
    line, low, high = panel(document, "cwnd")["series"]
    assert document["runs"] == 3
    assert line["y"] == [2.0, 12.0]
    # s = 1, t = 4.303 with two degrees of freedom
    assert low["y"] == [0.0, pytest.approx(12.0 - 4.303 / math.sqrt(3.0), abs=1e-3)]  # no window is below 0
    assert high["y"][0] == pytest.approx(2.0 + 4.303 / math.sqrt(3.0), abs=1e-3)


def test_many_flows_become_quantiles_and_each_stays_at_hand():
    names = [str(n) for n in range(101)]
    series = table({name: [float(n)] * 2 for n, name in enumerate(names)}, [0.0, 1.0])
    document = timeline.document(SUMMARY | {"flows": flows(*names)}, series, None)
    shown = panel(document, "cwnd")["series"]
    assert document["quantiles"]
    assert {one["at"]: one["y"][0] for one in shown if one["role"] == "quantile"} == {
        0.05: 5.0, 0.25: 25.0, 0.5: 50.0, 0.75: 75.0, 0.95: 95.0,
    }  # fmt: skip
    assert sum(one["role"] == "line" for one in shown) == 101


def test_losses_are_counted_where_they_happen():
    series = table({"1": [1.0] * 4}, [0.0, 1.0, 2.0, 3.0], packets_lost=[0.0, 2.0, 2.0, 5.0])
    document = timeline.document(SUMMARY | {"flows": flows("1")}, series, None)
    (ticks,) = panel(document, "cwnd")["ticks"]
    assert ticks == {"flow": 0, "label": "loss", "t": [1.0, 3.0], "n": [2, 3]}


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
    entries = [{"name": name, "queue_limit_packets": 5} for name in ("busy", "idle")]
    document = timeline.document({**SUMMARY, "flows": [], "links": entries}, None, links)
    assert [panel["title"] for panel in document["panels"]] == ["Queue of busy", "Capacity of busy"]
    assert document["empty"] == ["idle"]
    assert document["panels"][0]["ticks"][0]["label"] == "drop"


def test_a_threshold_far_above_every_window_is_not_shown():
    series = table({"1": [1.0, 2.0, 4.0]}, [0.0, 1.0, 2.0], ssthresh=[math.inf, 1e6, 3.0])
    document = timeline.document(SUMMARY | {"flows": flows("1")}, series, None)
    threshold = next(one for one in panel(document, "cwnd")["series"] if one["role"] == "ssthresh")
    assert threshold["y"] == [None, None, 3.0]


def test_embedded_data_cannot_end_the_script_that_holds_them():
    text = timeline.embedded({"name": "</script><b>&"})
    assert not {"<", ">", "&"} & set(text)
    assert json.loads(text) == {"name": "</script><b>&"}


def test_the_figures_for_papers_show_what_the_page_shows():
    times = np.linspace(0.0, 10.0, 11)
    both = [table({"1": k * times, "2": k + times}, times, seed=[k] * 22) for k in (1, 2, 3)]
    queue = [7.0] * 10 + [9.0]
    rows = {"time_s": times, "name": ["bottleneck"] * 11, "queue_packets": queue}
    links = pa.table({**rows, "seed": [1] * 11})
    summary = SUMMARY | {
        "flows": flows("1", "2"),
        "links": [{"name": "bottleneck", "queue_limit_packets": 10}],
        "window_s": [2.0, 10.0],
    }
    cwnd, queues = timeline.figures(timeline.document(summary, pa.concat_tables(both), links))
    assert (cwnd.name, queues.name) == ("cwnd", "queue")
    (panel,) = cwnd.panels
    assert (panel.y_label, panel.x_range, panel.marked) == ("cwnd, segments", (0.0, 10.0), (2.0, 10.0))
    assert [(curve.label, curve.algorithm, curve.stroke) for curve in panel.curves] == [
        ("1 (cubic)", "cubic", 0),
        ("2 (cubic)", "cubic", 1),
    ]
    assert panel.curves[0].y == pytest.approx(2.0 * times)
    assert panel.curves[0].error == pytest.approx(times * student_t_95(2) / math.sqrt(3), rel=1e-3)
    assert [(curve.label, max(curve.y)) for curve in queues.panels[0].curves] == [
        ("Queue of bottleneck", 9.0),
        ("limit", 10),
    ]
