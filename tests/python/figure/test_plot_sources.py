"""`longfat plot`: what figures are drawn from: sweep files, comparisons, results, recorded internals."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import longfat
from longfat import sweep
from longfat.cli.app import app
from longfat.errors import InputError
from longfat.figure.matplotlib import draw
from plotted import made, plots_figure, sampled

RECORDED = ("of", "run", "seed", "repeat", "algorithm", "name", "bottleneck.loss", "mine")


def test_a_comparison_is_drawn_with_its_own_columns_and_paths(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(
        'duration = "4 s"\nbottleneck = { rate = "5 Mbit/s", loss = 1e-3 }\n[[flow]]\nalgorithm = "cubic"\n'
        'rtt = "20 ms"\nstart = { uniform = ["0 s", "1 s"] }\n'
    )
    grid = ["--rates", "1 Mbit/s", "--rtts", "20 ms", "--buffers", "100 % BDP", "--repeats", "2"]
    folder = tmp_path / "compare"
    given = ["compare", "cubic", "htcp", *grid, "--path", str(path), "--out", str(folder)]
    assert CliRunner().invoke(app, given).exit_code == 0
    usual = made(folder, kind="bars")
    assert (usual.panels[0].categories, [curve.label for curve in usual.panels[0].curves]) == (
        ("short",),
        ["cubic", "htcp"],
    )
    share = made(folder, kind="bars", x="algorithm", y="share_reno")
    assert share.panels[0].y_label == "share / Reno"
    assert share.panels[0].categories == ("cubic", "htcp")
    lossy = made(folder, kind="lines", x="level", y="utilization", by="algorithm", where={"trial": ["lossy"]})
    assert len(lossy.panels[0].curves[0].x) == 6
    (scattered,) = made(folder, kind="scatter").panels
    assert (scattered.x_label, scattered.y_label) == ("queueing delay, ms", "utilization")
    (near,) = made(folder, kind="lines", x="rtt_s", y="utilization", where={"trial": ["pair"]}).panels
    assert (near.x_label, near.curves[0].x) == ("RTT, ms", (20.0,))
    assert lossy.panels[0].x_log
    # the pair has no path: its own axes are along the figure, and columns without values are refused
    pair = made(folder, kind="bars", where={"trial": ["pair"]})
    assert pair.panels[0].categories == ("1 Mbit/s",)
    assert [curve.label for curve in pair.panels[0].curves] == ["cubic", "htcp"]
    given = ["plot", str(folder), "--where", "trial=pair", "--json"]
    assert CliRunner().invoke(app, given, catch_exceptions=False).exit_code == 0
    for part in ({"x": "path"}, {"x": "rtt_s", "by": "path"}, {"x": "rtt_s", "panels": "path"}):
        with pytest.raises(InputError, match=r"no row that is left has a value of .*path"):
            made(folder, kind="bars", y="utilization", where={"trial": ["pair"]}, **part)
    both = made(folder, kind="bars", x="path", y="utilization", where={"trial": ["pair", "path"]})
    assert both.panels[0].categories == ("short",)
    assert "rows are left out: they have no path." in both.caption


def test_a_sweep_file_is_run_and_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(
        '[base]\nduration = "1 s"\nbottleneck = { rate = "1 Mbit/s" }\nflow = [{ algorithm = "reno", '
        'rtt = "20 ms" }]\n[axes]\n"flow.0.algorithm" = ["reno", "cubic"]\n'
    )
    done = CliRunner().invoke(app, ["plot", "mine.toml", "--format", "svg"], catch_exceptions=False)
    assert done.exit_code == 0
    assert (tmp_path / "out/mine/figures/bars-bottleneck-utilization-flow-0-algorithm.svg").is_file()


def test_columns_are_looked_for_before_the_runs_of_a_sweep_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(
        "repeats = 3\n"
        "[base]\nduration = '1 s'\nbottleneck = { rate = '1 Mbit/s', buffer = '20 packets' }\n"
        "flow = [{ algorithm = 'reno', rtt = '20 ms' }]\n"
        "[axes]\n'flow.0.algorithm' = ['reno', 'cubic']\n'flow.0.rtt' = ['20 ms', '40 ms']\n"
    )

    def lines(*options):
        return CliRunner().invoke(app, ["plot", "mine.toml", *options])

    unknown = str(lines("--y", "throughputbps").exception)
    assert 'mine.toml: it has no column throughputbps, did you mean "throughput_bps"?; accepted: ' in unknown
    assert "throughput_bps, goodput_bps" in unknown
    assert not Path("out").exists()
    # a value that the first run lacks is known all the same
    assert lines("--y", "throughput_bps", "--where", "algorithm=cubic", "--kind", "lines").exit_code == 0
    assert lines("--y", "throughput_bps", "--where", "algorithm=reno", "--kind", "lines").exit_code == 0
    names = {file.name for file in Path("out/mine/figures").glob("*.pdf")}
    assert len(names) == 2
    assert all("algorithm" in name for name in names)
    assert "out/mine: it has no column" in str(lines("--y", "throughputbps").exception)


def test_columns_are_not_looked_for_in_results_of_another_state_of_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "[base]\nduration = '1 s'\nbottleneck = { rate = '1 Mbit/s' }\n"
        "flow = [{ algorithm = 'reno', rtt = '20 ms' }]\n[axes]\n'flow.0.algorithm' = ['reno', 'cubic']\n"
    )
    Path("mine.toml").write_text(text)
    given = ["plot", "mine.toml", "--y", "jain"]
    assert CliRunner().invoke(app, given, catch_exceptions=False).exit_code == 0
    Path("mine.toml").write_text(text + "'flow.0.rtt' = ['20 ms', '40 ms']\n")
    done = CliRunner().invoke(app, [*given, "--x", "rtt", "--json"], catch_exceptions=False)
    assert Path(json.loads(done.stdout)["file"]).is_file()


def test_an_axis_led_by_titles_is_called_so():
    from longfat.sweep import words

    keys = ["title", "bottleneck.rate", "flow.0.rtt", "flow.1.rtt"]
    assert words.axis(keys) == "title"
    assert words.axis(keys, "title") == "title"
    assert words.axis(keys, "flow.1.rtt") == "RTT"
    assert words.axis(keys, "bottleneck.rate") == "bottleneck rate"
    assert words.axis(["flow.0.rtt", "flow.1.rtt", "background.0.rtt"], "background.0.rtt") == "RTT"


def test_a_whole_number_keeps_its_digits_in_words():
    from longfat.sweep import words

    assert [words.value(step) for step in (12345678901, 0.1 + 0.2, True)] == ["12345678901", "0.3", "true"]


def test_what_algorithms_record_can_be_drawn_from_a_run_and_from_a_sweep(tmp_path):
    file = sampled(tmp_path / "one")
    result = longfat.run(str(file))
    result.save(tmp_path / "out")
    own = result.to_pandas("internals")
    own = own[own["quantity"] == "bw_pps"]
    for source in (tmp_path / "out", result):
        (panel,) = plots_figure(source, kind="timeline", y="bw_pps").panels
        assert panel.y_label == "bw, packets/s"
        (curve,) = panel.curves
        assert curve.label == "2 (bbr)"
        assert (curve.x, curve.y) == (tuple(own["time_s"]), tuple(own["value"]))
    document = {"base": tomllib.loads(file.read_text()), "keep": "series", "axes": {"seed": [1, 2]}}
    sweep.run(sweep.from_dict(document), tmp_path / "two")
    (panel,) = made(tmp_path / "two", kind="timeline", y="bw_pps / cwnd", by="name").panels
    assert [curve.label for curve in panel.curves] == ["2"]
    assert panel.y_label == "bw / cwnd, packets/s / segments"


def test_what_an_algorithm_records_takes_no_column_of_the_tables(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "class Own:\n"
        "    def on_ack(self, ack, window):\n"
        f"        for name in {RECORDED}:\n"
        "            window.record(name, 7.0)\n"
        "    def on_congestion(self, event, window): ...\n"
    )
    flow = {"algorithm": f"{file}:Own", "rtt": "20 ms"}
    base = {"duration": "1 s", "bottleneck": {"rate": "2 Mbit/s"}, "flow": [flow]}
    results = longfat.run(longfat.Scenario.from_dict(base), repeats=2)
    document = {"base": base, "keep": "series", "axes": {"bottleneck.loss": [0.0, 0.001]}}
    assert sweep.run(sweep.from_dict(document), tmp_path / "out")["failed"] == 0
    for name in RECORDED:
        y = name if name in ("mine", "bottleneck.loss") else f"internal_{name}"
        (panel,) = plots_figure(results, kind="timeline", y=y).panels
        assert set(panel.curves[0].y) == {7.0}
        y = name if name == "mine" else f"internal_{name}"
        (panel,) = made(tmp_path / "out", kind="timeline", y=y, by="name").panels
        assert set(panel.curves[0].y) == {7.0}


def test_a_result_is_drawn_as_the_folder_that_it_is_saved_in(tmp_path):
    results = longfat.run(str(sampled(tmp_path / "one")), repeats=2)
    results.save(tmp_path / "out")
    for kind in ("bars", "timeline", "scatter"):
        stored, there = (plots_figure(source, kind=kind) for source in (tmp_path / "out", results))
        assert there.panels == stored.panels
    assert longfat.plot(results[0], "scatter").axes[0].get_xlabel() == "sRTT mean, ms"
    with pytest.raises(InputError, match="results = 3: nothing of it can be drawn; accepted: a Result"):
        longfat.plot(3)


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variants") / "out"
    slow = {"name": "cubic", "fast_convergence": False}
    flow = {"algorithm": "cubic", "rtt": "20 ms"}
    base = {"duration": "2 s", "bottleneck": {"rate": "2 Mbit/s"}, "flow": [flow]}
    paths = {"title": ["near", "far"], "flow.0.rtt": ["10 ms", "40 ms"], "bottleneck.loss": [0.0, 0.0]}
    document = {"base": base, "axes": {"flow.0.algorithm": ["cubic", slow, "bbr"]}, "zip": [paths]}
    sweep.run(sweep.from_dict(document), folder)
    return folder


def test_variants_of_an_algorithm_are_told_apart_and_keep_its_colour(variants):
    labels = ["cubic", "cubic (fast_convergence = false)", "bbr"]
    for y in ("throughput_bps", "bottleneck_utilization"):  # of flows, and of runs
        found = made(variants, kind="bars", x="title", by="algorithm", y=y)
        assert [curve.label for curve in found.panels[0].curves] == labels
        assert [curve.algorithm for curve in found.panels[0].curves] == ["cubic", "cubic", "bbr"]
        assert len({patch.get_facecolor() for patch in draw(found).axes[0].patches}) == 3
    only = made(variants, kind="bars", y="jain", x="title", where={"algorithm": [labels[1]]})
    assert only.caption.endswith(f"Only algorithm of flow 1 {labels[1]}.")


def test_values_beside_a_title_are_shown_with_it_if_they_have_but_one(variants):
    found = made(variants, kind="bars", x="rtt", y="jain", by="algorithm")
    assert found.panels[0].categories == ("near (10 ms)", "far (40 ms)")
    assert made(variants, kind="bars", x="loss", y="jain").panels[0].categories == ("0",)


def test_a_timeline_of_runs_shorter_than_a_bin_is_refused(tmp_path):
    flow = {"algorithm": "cubic", "rtt": "20 ms"}
    base = {"duration": "0.03 s", "bottleneck": {"rate": "2 Mbit/s"}, "flow": [flow]}
    results = longfat.run(longfat.Scenario.from_dict(base), repeats=3)
    with pytest.raises(InputError, match="throughput_bps has no value over time, since no run is as long"):
        plots_figure(results, kind="timeline", y="throughput_bps")
    assert plots_figure(results, kind="timeline", y="cwnd").panels[0].curves[0].x


def test_unlike_settings_are_no_sample_so_a_mean_over_them_without_repeats_has_no_interval(tmp_path):
    flow = {"algorithm": "cubic", "rtt": "20 ms"}
    base = {"duration": "2 s", "bottleneck": {"rate": "2 Mbit/s"}, "flow": [flow]}
    axes = {"flow.0.rtt": ["10 ms", "40 ms"], "bottleneck.rate": ["1 Mbit/s", "10 Mbit/s"]}
    sweep.run(sweep.from_dict({"base": base, "axes": axes}), tmp_path / "grid")
    found = made(tmp_path / "grid", kind="lines", y="bottleneck_utilization", x="flow.0.rtt", by="")
    assert [curve.error for curve in found.panels[0].curves] == [None]
    assert found.caption.startswith("One repeat for each point, so there are no intervals")
    assert "Averaged over: " in found.caption


def grid_of(folder, axes, **more):
    flow = {"algorithm": "cubic", "rtt": "20 ms"}
    base = {"duration": "1 s", "bottleneck": {"rate": "2 Mbit/s"}, "flow": [flow]}
    sweep.run(sweep.from_dict({"base": base, "axes": axes, **more}), folder, jobs=1)
    return folder


def test_quantities_of_two_kinds_in_two_folders_are_categories(tmp_path):
    shares = grid_of(tmp_path / "shares", {"bottleneck.buffer": ["50 % BDP", "100 % BDP"]})
    packets = grid_of(tmp_path / "packets", {"bottleneck.buffer": ["50 packets", "9 packets"]})
    mixed = grid_of(tmp_path / "mixed", {"bottleneck.buffer": ["50 % BDP", "9 packets"]})
    (panel,) = made([shares, packets, mixed], kind="lines", x="buffer", y="jain", by="folder").panels
    assert panel.categories == ("50 % BDP", "100 % BDP", "50 packets", "9 packets")
    assert [(curve.label, curve.x) for curve in panel.curves] == [
        ("shares", (0.0, 1.0)),
        ("packets", (2.0, 3.0)),
        ("mixed", (0.0, 3.0)),
    ]
    where = {"buffer": ["9 packets"]}
    only = made([shares, packets, mixed], kind="bars", x="folder", y="jain", where=where).panels[0]
    assert only.categories == ("packets", "mixed")


def test_values_of_one_axis_in_two_folders_are_written_as_in_their_own(tmp_path):
    near = grid_of(tmp_path / "near", {"flow.0.rtt": ["5 ms", "10 ms"]})
    far = grid_of(tmp_path / "far", {"flow.0.rtt": ["0.1 s", "1 s"]})
    found = made([near, far], kind="bars", x="flow.0.rtt", y="bottleneck_utilization")
    assert found.panels[0].categories == ("5 ms", "10 ms", "0.1 s", "1 s")


def test_samples_of_a_run_and_of_a_sweep_are_drawn_together(tmp_path):
    longfat.run(str(sampled(tmp_path / "one"))).save(tmp_path / "run")
    swept = grid_of(tmp_path / "swept", {"flow.0.algorithm": ["cubic", "bbr"]}, keep="series")
    for y in ("cwnd", "queue_packets"):
        both = made([tmp_path / "run", swept], kind="timeline", y=y, by="folder").panels[0].curves
        assert [curve.label for curve in both] == ["run", "swept"]
        where = {"folder": ["swept"], "run": [0]}
        (only,) = made([tmp_path / "run", swept], kind="timeline", y=y, by="run", where=where).panels
        (alone,) = made(swept, kind="timeline", y=y, by="run", where={"run": [0]}).panels
        assert only.curves[0].y == alone.curves[0].y
    mean = made([tmp_path / "run", swept], kind="bars", x="folder", y="throughput_bps").panels[0].curves[0]
    flows = sweep.open_sweep(swept).flows["throughput_bps"].to_numpy()
    assert mean.y[1] == pytest.approx(1e-6 * flows.mean())
