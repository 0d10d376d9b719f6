import errno
import json
import os
import re
from html.parser import HTMLParser

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import longfat
from longfat.cli import report
from longfat.errors import InputError, LongfatError
from longfat.figure import histories
from longfat.figure.data import Figure, Panel, points
from longfat.report import page

CLAIM = {
    "id": "LLS-F3a",
    "paper": "a paper",
    "setting": "two flows",
    "published": "ratio <b>above</b> .95 & more",
    "measured": "18 of 20",
    "rule": "ratio at least .95",
    "estimator": "mean",
    "experiments": ["F3"],
    "verdict": "not reproduced",
    "indicative": True,
    "mode": "quick",
    "note": "a remark",
    "checks": [
        {"text": "yes", "passed": True, "measured": "1"},
        {"text": "no", "passed": False, "measured": "0"},
        {"text": "open", "passed": None, "measured": "?"},
    ],
    "settings": [{"name": "queue", "value": "20 % BDP", "source": "III"}],
}


@pytest.fixture
def stored(tmp_path):
    panel = Panel("10 Mbit/s", "x", "y", (points("</script><i>H-TCP</i>", [(1.0, (0.5, 0.1))], "htcp"),))
    figure = Figure("F3", "Fig. 3", "A figure", "Caption of the figure", (panel,))
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "F3.json").write_text(
        json.dumps({"name": "F3", "mode": "quick", "runs": 7, "figure": figure.to_json()})
    )
    (tmp_path / "claims.json").write_text(json.dumps({"suite": "li2007", "claims": [CLAIM]}))
    (tmp_path / "suite.json").write_text(
        json.dumps(
            {
                "suite": "li2007",
                "title": "A paper's title",
                "citation": "Somebody 2007",
                "mode": "quick",
                "status": "complete",
                "order": ["F3"],
                "performance": {"runs": 7, "packets": 10, "wall_s": 1.0, "packets_per_s": 10.0},
                "provenance": {"version": "0.1.0", "command": ["longfat", "suite"]},
            }
        )
    )
    return tmp_path


class Loads(HTMLParser):
    """Everything that a browser would fetch by itself."""

    def __init__(self):
        super().__init__()
        self.found = []
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster") or (tag == "link" and name == "href"):
                self.found.append((tag, value))


def test_the_page_fetches_nothing(stored):
    page = report.build(stored).read_text()
    parser = Loads()
    parser.feed(page)
    assert parser.found == []
    assert "script" not in parser.tags
    assert not re.search(r"@import|url\((?!#)", page)


def test_a_page_with_one_figure_is_small(stored):
    assert report.build(stored).stat().st_size < 60_000


def test_the_page_shows_claims_verdicts_checks_and_sources(stored):
    page = report.build(stored).read_text()
    for text in (
        "LLS-F3a",
        "18 of 20",
        "not reproduced",
        "indicative",
        "ratio at least .95",
        "20 % BDP",
        "(III)",
    ):
        assert text in page
    assert page.count('class="yes"') == page.count('class="no"') == page.count('class="open"') == 1


def test_the_page_shows_figures_with_caption_downloads_and_provenance(stored):
    page = report.build(stored).read_text()
    assert "Caption of the figure" in page
    assert "7 runs, quick mode" in page
    assert "longfat suite" in page
    for kind in ("pdf", "svg", "png"):
        assert f'href="figures/F3.{kind}"' in page
        assert (stored / "figures" / f"F3.{kind}").is_file()


def test_text_from_results_is_shown_and_never_run(stored):
    page = report.build(stored).read_text()
    assert "ratio &lt;b&gt;above&lt;/b&gt; .95 &amp; more" in page
    assert "</script><i>" not in page


def test_a_point_of_a_figure_says_its_value_at_the_pointer(stored):
    page = report.build(stored).read_text()
    titles = re.findall(r"<use [^>]*><title>([^<]*)</title></use>", page)
    assert titles == ["&lt;/script&gt;&lt;i&gt;H-TCP&lt;/i&gt;\n1: 0.5 ± 0.1"]


def test_a_figure_follows_the_colours_of_the_page(stored):
    drawn = re.search(r'<svg class="figure".*?</svg>', report.build(stored).read_text(), re.DOTALL)[0]
    assert "stroke: currentColor" in drawn
    assert "stroke: var(--line)" in drawn
    assert "#ffffff" not in drawn
    ids = re.findall(r'\bid="([^"]*)"', drawn)
    assert all(name.startswith("F3-") for name in ids)
    assert set(re.findall(r'(?:url\(|href=")#([^")]*)', drawn)) <= set(ids)


def test_a_report_is_rebuilt_from_stored_data_alone(stored):
    first = report.build(stored).read_bytes()
    (stored / "index.html").unlink()
    assert report.build(stored).read_bytes() == first


def test_an_empty_directory_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="`suite`") as caught:
        report.build(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["suite.json", "claims.json", "experiments/F3.json"])
def test_a_damaged_file_is_refused_by_name(stored, name):
    (stored / name).write_text("{")
    with pytest.raises(InputError, match=name.split("/")[-1].replace(".", r"\.")):
        report.build(stored)


def test_a_stored_scenario_that_is_no_text_is_refused_by_name(tmp_path):
    summary = {"duration_s": 0.2, "flows": [], "links": [], "background": [], "metrics": {}}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "scenario.toml").write_bytes(b'title = "\xb4"\n')
    with pytest.raises(InputError, match=r"scenario\.toml: cannot be read as a stored scenario"):
        report.build(tmp_path)


def test_the_folder_of_a_run_has_a_report_too(tmp_path):
    flow = {"name": "1", "algorithm": "hstcp", "start_s": 0.1, "throughput_bps": 123456789.0}
    (tmp_path / "summary.json").write_text(
        json.dumps(
            {
                "duration_s": 0.2,
                "flows": [flow],
                "links": [{"name": "bottleneck", "queue_limit_packets": 8}],
                "background": [{"name": "short-1", "transfers_started": 9}],
                "completion_times": [
                    {"background": "short-1", "from_bytes": 1e4, "below_bytes": 1e5}
                    | {"transfers": 7, "p50_s": 0.2571}
                ],
                "metrics": {"jain": 1.0},
            }
        )
    )
    (tmp_path / "scenario.toml").write_text('title = "a <run>"\n')
    times = [0.0, 0.1, 0.2]
    pq.write_table(
        pa.table({"time_s": times, "name": ["1"] * 3, "cwnd": [1.0, 2.0, 3.0]}), tmp_path / "flows.parquet"
    )
    pq.write_table(
        pa.table({"time_s": times, "name": ["bottleneck"] * 3, "queue_packets": [0.0, 5.0, 2.0]}),
        tmp_path / "links.parquet",
    )
    page = re.sub(r"<script>.*?</script>", "", report.build(tmp_path).read_text(), flags=re.DOTALL)
    assert "hstcp" in page
    assert "<h1>a &lt;run&gt;</h1>" in page
    assert "throughput Mbit/s</th>" in page
    assert ">123.5</td>" in page
    sizes = page[page.index("Completion times by size") :]
    assert all(f">{cell}</td>" in sizes for cell in ("10,000", "100,000", "7", "257.1"))
    data = json.loads(re.search(r'id="timeline-data">(.*?)</script>', page, re.DOTALL).group(1))
    panels = {panel["key"]: panel for panel in data["panels"]}
    assert [series["y"] for series in panels["cwnd"]["series"]] == [[None, 2.0, 3.0]]  # from its start
    assert data["span_s"] == 0.2
    assert panels["queue-0"]["series"][0]["y"] == [0.0, 5.0, 2.0]
    assert panels["queue-0"]["levels"] == [8]


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "{", '{"flows": 3}', '{"runs": []}', '{"duration_s": 1, "flows": [{}], "links": []}'],
)
def test_a_damaged_summary_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    with pytest.raises(InputError, match=r"summary\.json: ") as caught:
        report.build(tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize("name", ["suite.json", "claims.json", "experiments/F3.json"])
def test_an_empty_object_is_refused_by_name(stored, name):
    (stored / name).write_text("{}")
    with pytest.raises(InputError, match=name.split("/")[-1].replace(".", r"\.")):
        report.build(stored)


@pytest.mark.parametrize(("failure", "kind"), [(errno.ENOSPC, LongfatError), (errno.EACCES, InputError)])
def test_a_full_disk_is_no_bad_input(stored, monkeypatch, failure, kind):
    def refuse(path, text):
        raise OSError(failure, os.strerror(failure))

    monkeypatch.setattr(page, "write_text", refuse)
    with pytest.raises(LongfatError) as raised:
        report.build(stored)
    assert type(raised.value) is kind


def test_many_figures_stay_in_their_order_on_any_number_of_processors(tmp_path):
    names = [f"F{number}" for number in range(page.FEW + 2)]
    panel = Panel("10 Mbit/s", "x", "y", (points("H-TCP", [(1.0, (0.5, 0.1))], "htcp"),))
    shown = [(Figure(name, "", "A figure", "Caption", (panel,)), {"runs": 1}) for name in names]
    alone = page.entries(tmp_path / "1", shown, jobs=1)
    together = page.entries(tmp_path / "2", shown, jobs=2)
    assert [each["name"] for each in together] == names
    assert together == alone


def test_a_page_and_a_notebook_draw_the_longest_queues_with_a_note_and_a_plot_draws_all(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(histories, "MOST_LINKS", 1)
    flow = {"algorithm": "cubic", "rtt": "20 ms"}
    bottleneck = {"rate": "5 Mbit/s", "buffer": "20 packets", "reverse_buffer": "20 packets"}
    ways = [flow, flow | {"direction": "reverse"}]
    result = longfat.run({"duration": "4 s", "bottleneck": bottleneck, "flow": ways})
    assert len(result.plot_queue().axes) == 2
    note = "The 1 longest of 2 queues."
    assert note in result.report(tmp_path / "run").read_text()
    assert note in result._repr_html_()
