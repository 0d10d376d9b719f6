"""Folders of results from elsewhere: names stay within them, and their texts are only shown.

Pages of each kind are built with markup in every text, and opened in a browser.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_assess import assessed
from test_compare import compared  # noqa: F401
from test_report import stored  # noqa: F401
from test_sweep_unfinished import stopped_after

import longfat
from longfat import drafts
from longfat.cli import report
from longfat.errors import InputError, LongfatError
from longfat.figure.data import Figure, Panel, plain_name, points
from longfat.store import sums
from samples import table

CHROMIUM = shutil.which("chromium")
MARKUP = (
    """"'><img src=x onerror="document.title='ran'"><svg onload="document.title='ran'"></svg>"""
    """<script>document.title='ran'</script></script><script>document.title='ran'</script>"""
    """`<b onclick=1>` {{ 7 * 7 }} ${document.title='ran'} $\\frac$ javascript:alert(1)"""
)
AS_IT_IS = frozenset(
    [
        "algorithm",
        "backend",
        "class",
        "group",
        "id",
        "kind",
        "mode",
        "name",
        "section",
        "seed",
        "sha256",
        "status",
        "suite",
        "verdict",
        "x",
        "y",
        "experiments",
        "order",
        "key",
        "keys",
        "columns",
        "skipped",
        "command",
        "trial",
        "outcome",
        "path",
        "quantity",
        "baselines",
        "ran",
        "labels",
        "tables",
    ]
)
"""Keys whose texts name something else in the folder, or are one of a few words."""
Row = dict[str, Any]


def marked(value: Any, key: str = "") -> Any:
    """The same document with markup behind every text."""
    if isinstance(value, dict):
        return {name: marked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [marked(item, key) for item in value]
    return value + MARKUP if isinstance(value, str) and key not in AS_IT_IS else value


def rewrite(file: Path, change: Callable[[Any], Any] = marked) -> None:
    """Changes a JSON file of a folder, as a person would who knows how its digests are made."""
    for listed in (file.parent / sums.SUMS_FILE, file.parent.parent / sums.SUMS_FILE):
        listed.unlink(missing_ok=True)
    document = json.loads(file.read_text())
    signed = document.pop(sums.OWN, None)
    document = change(document)
    file.write_text(json.dumps(sums.signed(document) if signed is not None else document))


def run_folder(folder: Path) -> Path:
    """A run whose names, quantities and texts are markup."""
    asked = {
        "duration": "2 s",
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"},
        "flow": [{"algorithm": "cubic", "rtt": "20 ms"}, {"algorithm": "bbr", "rtt": "30 ms"}],
        "sample": {"internals": True, "events": True},
    }
    longfat.run(asked).save(folder)
    rewrite(folder / "provenance.json")
    rewrite(folder / "summary.json", lambda one: marked(one) | named(one))
    for file in folder.glob("*.parquet"):
        table = pq.read_table(file)
        for column in ("name", "quantity"):
            if column in table.column_names:
                texts = [text + MARKUP for text in table[column].to_pylist()]
                table = table.set_column(table.column_names.index(column), column, pa.array(texts))
        pq.write_table(table, file)
    (folder / "scenario.toml").write_text(f"title = '''{MARKUP}'''\n# {MARKUP}\n")
    return folder


def named(summary: Row) -> Row:
    """The flows and links of a summary, with markup in their names too."""
    return {
        table: [marked(row) | {"name": row["name"] + MARKUP, "algorithm": MARKUP} for row in summary[table]]
        for table in ("flows", "links")
    }


def sweep_folder(folder: Path) -> Path:
    base = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flow": [{"rtt": "20 ms"}]}
    axes = {
        "flow.0.algorithm": ["cubic", "reno"],
        "title": [f"a{MARKUP}", f"b{MARKUP}"],
        "flow.0.rtt": ["9 ms", MARKUP],
    }
    longfat.Sweep(base, axes, title=MARKUP).run(folder, jobs=1, progress=False)
    rewrite(folder / "sweep.json", lambda one: one | {"provenance": marked(one["provenance"])})
    return folder


def unfinished_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flow": [{"rtt": "20 ms"}]}
    axes = {"title": [f"a{MARKUP}", f"b{MARKUP}"], "flow.0.rtt": [MARKUP, "9 ms", "18 ms"]}
    stopped_after(1, longfat.Sweep(base, axes, title=MARKUP), folder, monkeypatch)
    rewrite(folder / "unfinished.json", lambda one: one | {"provenance": marked(one["provenance"])})
    return folder


def crosscheck_folder(folder: Path) -> Path:
    folder.mkdir()
    panel = Panel("p", "x", "y", (points("c", [(1.0, (0.5, 0.1))], "htcp"),))
    check = {"name": "late", "value": 2.0, "bound": 1.0, "ok": False}
    document = {
        "live": [{"seed": 1, "validity": {"valid": False, "checks": [check], "others": None}}],
        "figure": Figure("crosscheck", "crosscheck", "t", "c", (panel,)).to_json(),
        "stacks": {"flow.0": "linux"},
        "scenario": "title",
        "provenance": {"version": "0"},
    }
    (folder / "crosscheck.json").write_text(json.dumps(document))
    rewrite(folder / "crosscheck.json")
    return folder


@pytest.fixture(scope="module")
def dossier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("dossier")
    assessed("htcp", root / "out", root / "runs", ["7.10"], repeats=1)
    return root / "out"


@pytest.fixture
def folders(
    tmp_path: Path,
    compared: Any,  # noqa: F811
    stored: Path,  # noqa: F811
    dossier: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Path]:
    """A folder of each kind with markup in its texts."""
    suite, compare, assess = (tmp_path / name for name in ("suite", "compare", "assess"))
    shutil.copytree(stored, suite, ignore=shutil.ignore_patterns("suite", "compare", "assess"))
    for file in ("suite.json", "claims.json", "experiments/F3.json"):
        rewrite(suite / file)
    shutil.copytree(compared[2], compare)
    rewrite(compare / "compare.json")
    shutil.copytree(dossier, assess)
    rewrite(assess / "dossier.json")
    return {
        "run": run_folder(tmp_path / "run"),
        "sweep": sweep_folder(tmp_path / "sweep"),
        "unfinished": unfinished_folder(tmp_path / "unfinished", monkeypatch),
        "crosscheck": crosscheck_folder(tmp_path / "crosscheck"),
        "suite": suite,
        "compare": compare,
        "assess": assess,
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


FOUND = """() => {
    const all = [...document.querySelectorAll("*")];
    const handlers = all.flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith("on")));
    const addresses = all.flatMap((one) => ["href", "src"].map((name) => one.getAttribute(name) || ""));
    return {
        handlers, images: document.images.length,
        odd: addresses.filter((to) => to.includes(":") && !to.startsWith("#")),
        text: document.body.innerText,
    };
}"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium; on Debian: apt install chromium")
def test_no_text_of_a_foreign_folder_runs_in_a_page(folders: dict[str, Path], browser: Any) -> None:
    for kind, folder in folders.items():
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("dialog", lambda dialog, kind=kind: pytest.fail(f"{kind}: {dialog.message}"))
        page.goto(report.build(folder).as_uri())
        page.wait_for_timeout(200)
        assert page.title() != "ran", kind
        found = page.evaluate(FOUND)
        assert (found["handlers"], found["images"], found["odd"]) == ([], 0, []), kind
        assert "onerror=" in found["text"], kind  # it is there, as text
        assert len(asked) == 1, kind
        page.close()


ESCAPES = ["../../escaped", "/tmp/escaped", "a/b", "..", ".hidden", "", "x" * 300, "a\nb", "a\\b", 3, None]


@pytest.mark.parametrize("name", ESCAPES)
def test_a_name_that_leads_elsewhere_is_no_name_of_a_file(name: Any) -> None:
    with pytest.raises(ValueError, match="is not the name of a file; accepted: a name without a folder"):
        plain_name(name)


@pytest.mark.parametrize("name", ["../../escaped", '"><script>alert(1)</script>/x', ".hidden"])
def test_the_name_of_a_stored_figure_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    folder = crosscheck_folder(tmp_path / "deep")
    rewrite(folder / "crosscheck.json", lambda one: one | {"figure": one["figure"] | {"name": name}})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"deep: cannot be shown \(ValueError: .* is not the name of a file"):
        report.build(folder)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_figure_s_name_with_markup_is_escaped_in_the_page(tmp_path: Path) -> None:
    folder = crosscheck_folder(tmp_path / "one")
    name = '"><b onmouseover="alert(1)" x=?#%'
    rewrite(folder / "crosscheck.json", lambda one: one | {"figure": one["figure"] | {"name": name}})
    page = report.build(folder).read_text()
    assert "<b onmouseover" not in page
    assert (folder / "figures" / f"{name}.svg").is_file()


def test_the_name_of_an_experiment_is_that_of_its_file(stored: Path) -> None:  # noqa: F811
    rewrite(stored / "experiments" / "F3.json", lambda one: one | {"name": "../../escaped"})
    with pytest.raises(InputError, match=r'F3\.json: damaged: its name is "\.\./\.\./escaped"; accepted: F3'):
        report.build(stored)


def linked(folder: Path) -> None:
    (folder / "figures").symlink_to(folder.parent / "outside", target_is_directory=True)


def linked_file(folder: Path) -> None:
    (folder / "provenance.json").unlink()
    (folder / "provenance.json").symlink_to("/etc/passwd")


def piped(folder: Path) -> None:
    os.mkfifo(folder / "SHA256SUMS.old")


@pytest.mark.parametrize("change", [linked, linked_file, piped])
@pytest.mark.parametrize("command", ["report", "plot"])
def test_links_out_of_a_folder_and_special_files_are_refused(
    longfat: Any, tmp_path: Path, change: Callable[[Path], None], command: str
) -> None:
    (tmp_path / "outside").mkdir()
    folder = run_folder(tmp_path / "run")
    change(folder)
    more = ("--x", "time_s", "--y", "cwnd") if command == "plot" else ()
    code, out, err = longfat(command, folder, *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "leads out of the folder" in err or "is neither a file nor a folder" in err
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("missing", ["flows.parquet", "summary.json"])
def test_a_file_that_is_listed_and_missing_is_damage(tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "run"
    longfat.run(longfat.Scenario.from_dict(table(duration="1 s"))).save(folder)
    (folder / missing).unlink()
    with pytest.raises(
        LongfatError, match=f"{missing}: missing or not a file, but SHA256SUMS lists it"
    ) as told:
        report.build(folder)
    assert not isinstance(told.value, InputError), "the exit code is 1"


@pytest.mark.parametrize("is_own", [True, False])
def test_a_fault_over_a_folder_of_this_version_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_own: bool
) -> None:
    folder = longfat.run(table(duration="1 s")).save(tmp_path / "run")
    if not is_own:
        rewrite(folder / "provenance.json", lambda one: one | {"version": "0.0.1"})

    def fails(_: Path) -> Path:
        raise TypeError("a fault of Longfat")

    monkeypatch.setattr("longfat.report.run.build", fails)
    said = (
        "^a fault of Longfat$"
        if is_own
        else r"run: cannot be shown \(TypeError: a fault of Longfat\); accepted"
    )
    with pytest.raises(TypeError if is_own else InputError, match=said):
        report.build(folder)


def test_a_fault_that_no_value_causes_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Path) -> Path:
        raise AssertionError("a fault of Longfat")

    monkeypatch.setattr("longfat.crosscheck.page.build", fails)
    with pytest.raises(AssertionError, match="a fault of Longfat"):
        report.build(crosscheck_folder(tmp_path / "one"))


def test_a_link_in_place_of_a_figure_is_replaced_and_not_followed(tmp_path: Path) -> None:
    folder = crosscheck_folder(tmp_path / "one")
    (folder / "figures").mkdir()
    (folder / "mine").write_text("mine")
    for name in ("figures/crosscheck.svg", "figures/crosscheck.pdf", "index.html"):
        (folder / name).symlink_to(folder / "mine")
    report.build(folder)
    assert (folder / "mine").read_text() == "mine"


ODD: list[Any] = ["x", 3, None, [], {}, [1, "a"], {"a": 1}, -1.5, True]


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("odd", ODD, ids=map(repr, ODD))
def test_odd_values_of_a_foreign_folder_are_refused_in_one_line(
    tmp_path: Path,
    odd: Any,
    stored: Path,  # noqa: F811
    dossier: Path,
) -> None:
    """Each key of each kind in turn is of another type."""
    kinds = {
        "suite.json": stored,
        "crosscheck.json": crosscheck_folder(tmp_path / "one"),
        "dossier.json": dossier,
    }
    left_out = shutil.ignore_patterns("*-odd", "one", "figures", "scenarios.zip")
    for name, source in kinds.items():
        folder = tmp_path / f"{name}-odd"
        shutil.copytree(source, folder, ignore=left_out)
        whole = json.loads((folder / name).read_text())
        for key in whole:
            rewrite(folder / name, lambda _, key=key, whole=whole: whole | {key: odd})
            assert "\n" not in refusal(folder)


@pytest.mark.parametrize("key", ["status", "section", "title", "experiments", "figures"])
def test_a_criterion_with_an_unknown_word_is_refused_in_one_line(
    tmp_path: Path,
    key: str,
    dossier: Path,
) -> None:
    shutil.copytree(dossier, tmp_path / "out")

    def change(one: Row) -> Row:
        return one | {"criteria": [row | {key: {"odd": "x"}} for row in one["criteria"]]}

    rewrite(tmp_path / "out" / "dossier.json", change)
    said = refusal(tmp_path / "out")
    assert "\n" not in said
    assert key == "title" or f"{tmp_path}/out" in said


def refusal(folder: Path) -> str:
    """The message for a folder; empty if its page was built. Any other error fails the test."""
    try:
        report.build(folder)
    except LongfatError as error:
        return "\n".join(error.lines())
    return ""


def test_a_name_between_dollars_is_shown_as_it_is(tmp_path: Path) -> None:
    flows = [{"name": r"$\frac$", "rtt": "20 ms"}, {"name": "$5 and $6", "rtt": "20 ms"}]
    folder = longfat.run(
        {"title": "costs $1 or $2", "duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flow": flows}
    ).save(tmp_path / "run")
    report.build(folder)
    drawn = (folder / "figures" / "cwnd.svg").read_text()
    assert r"$\frac$" in drawn
    assert "$5 and $6" in drawn


def test_a_report_removes_what_a_killed_one_left_and_no_draft_of_another(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    own = drafts.draft_of(folder / "index.html")
    dead = own.with_suffix(f".{ended.pid}")
    elsewhere = own.with_name(f".index.html.another-machine.{ended.pid}")
    young = dead.with_name(dead.name.replace("index", "young"))
    for draft in (dead, own, elsewhere, young):
        draft.write_text("half of a page")
        os.utime(draft, (0, 0))
    os.utime(young)  # perhaps of another container, where a process with this number runs
    report.build(folder)
    assert not dead.exists()
    assert elsewhere.exists()
    assert young.exists()
