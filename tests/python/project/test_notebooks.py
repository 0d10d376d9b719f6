"""The notebooks of `examples/`, executed, and what a notebook shows of results."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from matplotlib.figure import Figure as Drawing
from nbclient import NotebookClient

import longfat
from longfat import sweep
from longfat.errors import InputError

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SMALL = {
    "title": "Two <b>flows</b>",
    "duration": "5 s",
    "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"},
    "flow": [
        {"algorithm": "cubic", "rtt": "20 ms"},
        {"algorithm": "hstcp", "rtt": "20 ms", "start": {"uniform": ["0 s", "1 s"]}},
    ],
}


@pytest.fixture(autouse=True)
def kernels_use_this_longfat(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(longfat.__file__).parents[1]))


@pytest.fixture(scope="module")
def result():
    return longfat.run(SMALL)


def executed(notebook, folder):
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return notebook


def shown(notebook):
    """What the cells show, as (MIME type, text)."""
    return [
        (kind, "".join(text))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()
    ]


def test_there_are_three_notebooks_without_outputs():
    assert [path.stem for path in NOTEBOOKS] == ["course-lab", "li-leith-shorten", "own-algorithm"]
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    lab = nbformat.read(ROOT / "examples" / "course-lab.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in lab.cells)
    assert [int(number) for number in re.findall(r"\*\*Question (\d+)\.", text)] == list(range(1, 9))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(path, tmp_path):
    notebook = executed(nbformat.read(path, as_version=4), tmp_path)
    kinds = {kind for kind, _ in shown(notebook)}
    assert {"image/png", "text/html"} & kinds
    errors = [text for kind, text in shown(notebook) if kind == "text/plain" and "Error" in text]
    assert errors == []


def test_progress_in_a_notebook_is_one_line_that_is_replaced(tmp_path):
    code = (
        "import longfat\n"
        "from longfat.runs import progress\n"
        "progress.LEAST_S = progress.EVERY_S = 0.0\n"
        f"small = {SMALL!r}\n"
        "found = list(longfat.run_many([small] * 3, jobs=1, progress=True))\n"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    lines = [text for kind, text in shown(executed(notebook, tmp_path)) if kind == "text/html"]
    assert len(lines) == 1
    assert "3 of 3 runs" in lines[0]


def test_plots_are_pictures_in_a_notebook_that_has_set_nothing_up(tmp_path):
    cells = [f"import longfat\nresult = longfat.run({SMALL!r})", "result.plot()", "result.plot_cwnd()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    for cell in executed(notebook, tmp_path).cells[1:]:
        (output,) = cell.outputs
        assert output["data"]["image/png"].startswith("iVBOR")


def test_a_plot_is_saved_and_pickled_as_any_matplotlib_figure(result, tmp_path):
    drawn = result.plot_cwnd()
    drawn.savefig(tmp_path / "cwnd.png")
    again = pickle.loads(pickle.dumps(drawn))
    assert type(again) is Drawing
    assert len(again.axes) == len(drawn.axes)


def test_a_run_shows_its_flows_metrics_and_plots(result):
    text = result._repr_html_()
    assert "Two &lt;b&gt;flows&lt;/b&gt;" in text
    assert "<b>flows</b>" not in text
    for part in ("cubic", "hstcp", "Jain", "<svg"):
        assert part in text
    assert len(text) < 200_000
    assert repr(result) == "<Result of 'Two <b>flows</b>': 2 flows, 5 s, seed 1>"
    assert repr(longfat.run({**SMALL, "title": ""})) == "<Result: 2 flows, 5 s, seed 1>"


def test_plots_show_what_their_names_say(result):
    panels = {
        "plot_cwnd": "cwnd",
        "plot_rtt": "RTT",
        "plot_throughput": "throughput",
        "plot_queue": "packets",
    }
    for method, label in panels.items():
        axes = getattr(result, method)().axes
        assert all(label in axis.get_ylabel() for axis in axes)
    assert len(result.plot().axes) >= 4
    (axis,) = result.plot_cwnd(names=["2"]).axes
    assert len(axis.lines) == 1
    (axis,) = result.plot_queue(names=["bottleneck"]).axes


@pytest.mark.parametrize("interactive", [False, True])
def test_names_that_no_flow_or_link_has_are_refused_by_both_kinds_of_plots(result, interactive):
    with pytest.raises(InputError, match=r'^names: "7": there is no such flow; accepted: "1" or "2"$'):
        result.plot_cwnd(names=["7"], interactive=interactive)
    with pytest.raises(
        InputError, match=r'^names: "bottlenek": there is no such link, did you mean "bottleneck"\?'
    ):
        result.plot_queue(names=["bottlenek"], interactive=interactive)
    with pytest.raises(
        InputError,
        match=r'^names = "1": this is not a list of names; accepted: a list of names, such as \["1"\]$',
    ):
        result.plot(names="1", interactive=interactive)


def test_interactive_panels_are_a_page_in_the_notebook(result, tmp_path):
    panels = result.plot_queue(interactive=True)
    assert '"key":"queue-' in panels.html
    assert '"key":"cwnd"' not in panels.html
    assert panels._repr_html_().startswith("<iframe srcdoc=")
    assert panels.save(tmp_path / "panels.html").stat().st_size < 1_500_000


def test_a_run_is_saved_as_the_command_line_saves_it(result, tmp_path):
    page = result.report(tmp_path / "run")
    assert page == tmp_path / "run" / "index.html"
    assert {"summary.json", "flows.parquet", "scenario.toml"} <= {each.name for each in page.parent.iterdir()}
    assert result.save(tmp_path / "again") == tmp_path / "again"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="Longfat did not write"):
        result.save(tmp_path / "other")


def test_a_sweep_from_python_runs_and_shows_itself(tmp_path):
    made = longfat.Sweep(SMALL, {"bottleneck.rate": ["2 Mbit/s", "5 Mbit/s"]}, repeats=2)
    assert "4 runs" in made._repr_html_()
    swept = made.run(tmp_path / "swept", jobs=1)
    assert repr(made) == "<Sweep of 'Two <b>flows</b>': bottleneck.rate, 4 runs>"
    assert repr(swept) == f"<Swept of 'Two <b>flows</b>': 4 runs, {tmp_path / 'swept'}>"
    assert repr(longfat.Scenario.from_dict(SMALL)) == "<Scenario 'Two <b>flows</b>': 2 flows, 5 s, seed 1>"
    assert swept.runs.num_rows == 4
    text = swept._repr_html_()
    assert "bottleneck.rate" in text
    assert "4 runs, 0 failures" in text
    assert "<svg" in text
    (tmp_path / "base.toml").write_text(longfat.Scenario.from_dict(SMALL).to_toml())
    (tmp_path / "sweep.toml").write_text(
        'base = "base.toml"\nrepeats = 2\n[axes]\n"bottleneck.rate" = ["2 Mbit/s"]\n'
    )
    assert longfat.Sweep.load(str(tmp_path / "sweep.toml")).count() == 2
    assert sweep.load(str(tmp_path / "sweep.toml")).count() == 2
    assert longfat.Sweep(tmp_path / "base.toml", {"seed": [1, 2]}).count() == 2


def test_a_sweep_says_before_running_that_it_takes_no_class_of_a_cell():
    class Mine:
        def on_ack(self, ack, window):
            window.cwnd += 1.0

        def on_congestion(self, event, window):
            window.cwnd = 2.0

    with_class = {**SMALL, "flow": [{"algorithm": Mine, "rtt": "20 ms"}]}
    for base in (with_class, longfat.Scenario.from_dict(with_class)):
        with pytest.raises(InputError, match=r'accepted: "file\.py:.*Mine"'):
            longfat.Sweep(base, {"seed": [1, 2]})
    with pytest.raises(InputError, match=r'accepted: "file\.py:.*Mine"'):
        longfat.Sweep(SMALL, {"flow.0.algorithm": ["reno", Mine]})


def test_a_suite_shows_its_experiments_and_claims():
    import longfat_papers as suites

    text = suites.get("yeah2007")._repr_html_()
    assert "experiment" in text
    assert "claim" in text
    assert len(text) > 1000


def test_importing_longfat_loads_nothing_of_notebooks():
    asked = "import sys, longfat.api; print([m for m in ('IPython', 'longfat.views') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
