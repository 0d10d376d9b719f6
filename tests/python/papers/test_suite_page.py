"""The page of a suite: from a claim to its figure to its runs, and what a claim came to before."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import longfat_papers as suites
from longfat.cli import report
from longfat.figure.data import Figure, Panel, points
from longfat_papers.kit import folder

CHROMIUM = shutil.which("chromium")
MOST_BYTES = 1_500_000
CLAIM = {
    "id": "LLS-F3a",
    "paper": "III",
    "setting": "10 Mbit/s",
    "published": "a ratio above .95",
    "measured": "18 of 20",
    "rule": "ratio at least .95",
    "estimator": "mean",
    "experiments": ["F3"],
    "verdict": "not reproduced",
    "indicative": True,
    "mode": "quick",
    "note": "",
    "checks": [],
    "settings": [],
}


def made(root):
    """The folder of a suite with one experiment, and two versions of one claim."""
    suite = suites.get("li2007")
    runs = suite.experiment("F3").runs("quick")
    (root / "experiments").mkdir(parents=True)
    rows = [dict(run.coordinates) | {"throughput_ratio": 0.5} for run in runs]
    pq.write_table(pa.Table.from_pylist(rows), root / "experiments" / "F3.parquet")
    curve = points("H-TCP", [(float(x), (0.5, 0.1)) for x in range(1, 6)], "htcp")
    figure = Figure("F3", "Fig. 3", "A figure", "Caption", (Panel("10 Mbit/s", "x", "y", (curve,)),))
    experiment = {"name": "F3", "mirrors": "Fig. 3", "mode": "quick", "runs": len(runs)}
    folder.write_json(root / "experiments" / "F3.json", experiment | {"figure": figure.to_json()})
    folder.write_json(root / "claims.json", {"suite": "li2007", "claims": [CLAIM]})
    for version, commit, verdict in (
        ("0.4.0", "a" * 40, "reproduced"),
        ("0.4.0", "a" * 40, "reproduced"),
        ("0.5.0", "b" * 40, "not reproduced"),
    ):
        made_by = {"version": version, "commit": commit, "created": "2026-11-23T08:00:00+00:00"}
        folder.keep_history(root, [CLAIM | {"verdict": verdict}], made_by)
    document = {"suite": "li2007", "title": "A paper", "citation": "", "mode": "quick", "status": "complete"}
    folder.write_json(root / "suite.json", document | {"order": ["F3"], "performance": {}})
    return runs


def test_a_history_has_an_entry_for_each_version_and_verdict(tmp_path):
    made(tmp_path)
    kept = folder.read_history(tmp_path)["LLS-F3a"]
    assert [(entry["version"], entry["verdict"]) for entry in kept] == [
        ("0.4.0", "reproduced"),
        ("0.5.0", "not reproduced"),
    ]
    folder.keep_history(tmp_path, [CLAIM | {"verdict": "not measured"}], {})
    assert len(folder.read_history(tmp_path)["LLS-F3a"]) == 2


def test_a_damaged_history_is_refused_by_name(tmp_path):
    made(tmp_path)
    (tmp_path / "history.json").write_text("[]")
    (tmp_path / "SHA256SUMS").unlink(missing_ok=True)
    with pytest.raises(ValueError, match=r"history\.json: not the history of a suite"):
        report.build(tmp_path)


def test_a_damaged_history_is_refused_before_anything_runs(tmp_path):
    made(tmp_path)
    (tmp_path / "history.json").write_text("[]")
    (tmp_path / "SHA256SUMS").unlink(missing_ok=True)
    with pytest.raises(ValueError, match=r"history\.json: not the history of a suite"):
        folder.prepare(tmp_path)


def test_the_runs_of_a_figure_have_a_page_with_their_scenarios(tmp_path):
    runs = made(tmp_path)
    page = report.build(tmp_path)
    assert page.stat().st_size < MOST_BYTES
    assert f'<a href="experiments/F3.html">{len(runs)} runs</a>' in page.read_text()
    text = (tmp_path / "experiments" / "F3.html").read_text()
    assert text.count("<summary>TOML</summary>") == len(runs)
    assert "longfat run one.toml" in text
    assert "[bottleneck]" in text


def test_a_run_of_the_page_is_a_scenario(tmp_path):
    import html
    import re

    import longfat

    made(tmp_path)
    report.build(tmp_path)
    text = (tmp_path / "experiments" / "F3.html").read_text()
    first = html.unescape(re.search("<pre>(.*?)</pre>", text, re.DOTALL)[1])
    assert longfat.Scenario.from_toml(first).flow


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium; on Debian: apt install chromium")
def test_a_claim_leads_to_its_figure_and_that_to_its_runs_with_a_click_each(tmp_path):
    from playwright.sync_api import sync_playwright

    runs = made(tmp_path)
    page = report.build(tmp_path)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        seen = browser.new_page(viewport={"width": 1000, "height": 500})
        seen.goto(page.as_uri())
        seen.click("tr#LLS-F3a a.to-figure")
        assert seen.url.endswith("#F3")
        box = seen.locator("figure#F3 svg").bounding_box()
        assert box["width"] > 500
        assert box["y"] < 500
        history = seen.locator("tr#LLS-F3a details.history")
        history.locator("summary").click()
        assert history.locator("li").all_inner_texts()[0].split("\n")[0] == "reproduced"
        seen.click("figure#F3 .links a >> nth=0")
        assert seen.locator("tbody tr").count() == len(runs)
        dark = browser.new_page(color_scheme="dark")
        dark.goto(page.as_uri())
        colours = dark.evaluate(
            "(() => { const of = s => getComputedStyle(document.querySelector(s)); "
            "return [of('svg.figure text').fill, of('body').backgroundColor] })()"
        )
        assert colours == ["rgb(230, 235, 244)", "rgb(11, 17, 32)"]
        browser.close()


def test_a_folder_of_an_earlier_version_has_no_history_and_no_runs(tmp_path):
    made(tmp_path)
    for name in ("history.json", "experiments/F3.parquet"):
        (tmp_path / name).unlink()
    listed = tmp_path / "SHA256SUMS"
    if listed.exists():
        kept = [line for line in listed.read_text().splitlines() if not line.endswith("  history.json")]
        listed.write_text("".join(f"{line}\n" for line in kept))
    text = report.build(tmp_path).read_text()
    assert 'class="history"' not in text
    assert "experiments/F3.html" not in text
    assert json.loads((tmp_path / "claims.json").read_text())["claims"]
