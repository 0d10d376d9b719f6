"""The documents: links and anchors, the tutorial's commands, the tables that follow from the registries."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import longfat
from longfat.cli.compare import compare
from longfat.compare.grid import grid
from longfat.scenario import registry
from longfat.scenario.stacks import NAMES
from longfat_papers import names as suite_names

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not path.relative_to(DOCS).parts[0].startswith("_"))
OUTSIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^ {0,3}(```+)([^\n]*)\n(.*?)^ {0,3}\1 *$", re.MULTILINE | re.DOTALL)
TUTORIAL = DOCS / "tutorial.md"
MOST_README_LINES = 135
LONGEST_RUN = "2 s"
"""Of simulated time, in place of the tutorial's minute."""


def prose(path: Path) -> str:
    """A page without its code, in which brackets are no links."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    lines = (
        line for line in text.splitlines() if not line.startswith("    ") or line.lstrip().startswith("|")
    )
    return re.sub(r"`[^`\n]*`", "`", "\n".join(lines))


def slug(heading: str) -> str:
    """The anchor that GitHub and MyST make of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text.strip()).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#{1,4} +(.+?)\s*$", text, re.MULTILINE)}


def tables():
    """The module `docs/tables.py`."""
    specification = importlib.util.spec_from_file_location("docs_tables", DOCS / "tables.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def broken(path: Path) -> list[str]:
    """What is wrong with the links of a page."""
    wrong = []
    for target in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", target):
            parts = urlsplit(target)
            if parts.scheme not in ("https", "http", "mailto") or not (parts.netloc or parts.path):
                wrong.append(f"{target}: not an address")
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            wrong.append(f"{target}: no such file")
        elif anchor and file.name == "api.md":
            continue  # anchors of docstrings, which the build of the site checks
        elif anchor and anchor not in anchors(file):
            wrong.append(f"{target}: no such heading")
    return wrong


@pytest.mark.parametrize("path", [*OUTSIDE, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_are_there(path):
    assert broken(path) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n[here](#a-page) [gone](#gone) [file](gone.md) [good](page.md#a-page) [odd](htps://x)\n"
        "`[code](no.md)`\n\n    [code](no.md)\n\n```text\n[code](no.md)\n```\n"
    )
    assert broken(page) == [
        "#gone: no such heading",
        "gone.md: no such file",
        "htps://x: not an address",
    ]


ROOMS = ("bpf", "crates", "python", "tests", "benches", "validation", "scenarios", "sweeps", "examples")
BUILT = {"bpf/out"}
RECIPES = DOCS / "recipes"
"""Their steps name the files that a reader will write."""


@pytest.mark.parametrize(
    "path",
    [page for page in [*OUTSIDE, *PAGES] if page.parent != RECIPES],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_files_that_a_page_names_are_there(path):
    named = re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w./*-]+)`", path.read_text(encoding="utf-8"))
    names = {name.rstrip("/") for name in named} - BUILT
    assert sorted(name for name in names if not any(ROOT.glob(name))) == []


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for _, kind, body in FENCE.findall(page.read_text(encoding="utf-8")):
            if kind.strip() != "{toctree}":
                continue
            for entry in (line.strip() for line in body.splitlines()):
                if entry == "*":
                    listed |= set(page.parent.glob("*.md"))
                elif entry and not entry.startswith(":"):
                    listed.add((page.parent / f"{entry}.md").resolve())
    assert set(PAGES) <= listed, sorted(str(page) for page in set(PAGES) - listed)
    assert all(page.is_file() for page in listed), sorted(str(page) for page in listed if not page.is_file())


def test_the_gallerys_table_has_every_scenario():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| (.+) \|$", gallery, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert listed == {path.stem for path in (ROOT / "scenarios").glob("*.toml")}


def test_generated_text_is_that_of_the_registries_the_stacks_and_the_commands():
    made = tables()
    pages = made.pages_with_text()
    assert {ROOT / "README.md", DOCS / "gallery.md", DOCS / "stacks" / "linux.md"} <= set(pages)
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    old = [page.name for page, text in texts.items() if made.filled(text) != text]
    assert old == [], "run: make generated"
    everything = "".join(texts.values())
    assert [name for name in made.TEXTS if f"<!-- generated: {name} -->" not in everything] == []


def test_old_generated_text_is_replaced_and_what_stands_around_it_stays():
    made = tables()
    page = "above\n\n<!-- generated: pages -->\n\nold\n\n<!-- end of pages -->\n\nbelow\n"
    assert made.filled(page) == page.replace("old", made.pages())


def test_a_comment_without_an_end_is_refused():
    with pytest.raises(ValueError, match="<!-- end of NAME -->"):
        tables().filled("<!-- generated: pages -->\n\n<!-- end of stacks -->\n")


def test_the_readmes_table_names_every_model_and_suite():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = chain.from_iterable(registry.rows(kind) for kind in ("algorithms", "queues", "routers"))
    names = {*(row["name"] for row in rows), *NAMES, *suite_names()}
    assert {name for name in names if f"`{name}`" not in readme} == set()


def test_the_readmes_scenario_runs(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (scenario,) = [body for _, kind, body in FENCE.findall(readme) if kind == "toml"]
    (tmp_path / "mine.toml").write_text(scenario)
    shutil.copy(ROOT / "examples" / "my_reno.py", tmp_path)
    flows = longfat.run(tmp_path / "mine.toml").summary["flows"]
    assert [flow["algorithm"] for flow in flows] == ["htcp", "my_reno.py:MyReno"]


def test_the_readme_is_read_in_a_minute_and_names_what_visitors_look_for():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= MOST_README_LINES
    wanted = ("handovers", "outages", "jitter", "longfat shell", "notebooks", "course-lab.ipynb")
    places = ("WSL2", "Colab", "Docker", "pipx run", "uv tool install")
    assert [word for word in (*wanted, *places) if word not in readme] == []


@pytest.mark.parametrize("page", ["README.md", "docs/guide/install.md"])
def test_the_commands_that_install_need_no_shell_that_expands_patterns(page: str) -> None:
    """PowerShell does not, and a folder may have wheels of other platforms."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "--find-links dist longfat longfat-papers" in text
    assert ".whl" not in text


def files_of(text: str) -> dict[str, str]:
    """The files that a reader of the tutorial saves: blocks whose first line names one."""
    blocks = (body for _, _, body in FENCE.findall(text))
    return {
        body.split("\n", 1)[0].removeprefix("# file: "): body
        for body in blocks
        if body.startswith("# file: ")
    }


def commands_of(text: str) -> list[tuple[str, list[str]]]:
    """The tutorial's commands with what they read from standard input, each with the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for _, kind, body in FENCE.findall(text):
        if kind.strip() != "console":
            continue
        lines = iter(body.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                found[-1][1].append(line)
                continue
            command = [line.removeprefix("$ ")]
            while command[0].endswith("<<'EOF'") and command[-1] != "EOF":
                command.append(next(lines))
            found.append(("\n".join(command), []))
    return found


def test_the_tutorials_blocks_parse():
    text = TUTORIAL.read_text(encoding="utf-8")
    for _, kind, body in FENCE.findall(text):
        if kind.strip() == "toml":
            tomllib.loads(body)
        elif kind.strip() == "python":
            compile(body, str(TUTORIAL), "exec")
    commands = commands_of(text)
    assert len(commands) >= 12
    for command, _ in commands:
        shlex.split(command.split("\n")[0].replace("<<'EOF'", ""), comments=True)


def test_the_tutorials_commands_run(tmp_path, monkeypatch):
    text = TUTORIAL.read_text(encoding="utf-8")
    for name, body in files_of(text).items():
        (tmp_path / name).write_text(re.sub(r'duration = "[^"]*"', f'duration = "{LONGEST_RUN}"', body))
    assert {path.name for path in tmp_path.iterdir()} == {"mine.toml", "aimd.py", "buffers.toml"}
    program = tmp_path / "bin" / "longfat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m longfat "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = 0
    for command, printed in commands_of(text):
        if command.startswith(("make ", "source ")):
            continue
        if command.startswith("longfat compare"):  # whose runs have lengths of their own
            monkeypatch.chdir(tmp_path)
            asked = compare.make_context("compare", shlex.split(command)[2:]).params
            planned = grid(
                *(asked[key] for key in ("algorithms", "rates", "rtts", "buffers", "repeats")), "quick"
            )
            assert len(planned.contenders) == 3
            continue
        command = command.replace('duration = "60 s"', f'duration = "{LONGEST_RUN}"')
        command = command.replace('["0 s", "10 s"]', '["0 s", "1 s"]')
        expected = int(code[1]) if (code := re.search(r"# exit code (\d)", command)) else 0
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == expected, f"{command}\n{ran.stdout}{ran.stderr}"
        assert [line for line in printed if line not in ran.stderr.splitlines()] == []
        done += 1
    assert done >= 10
    assert (tmp_path / "out" / "mine" / "index.html").is_file()
    assert (tmp_path / "out" / "buffers" / "index.html").is_file()
    summary = json.loads((tmp_path / "out" / "repeated" / "summary.json").read_text())
    assert len(summary["runs"]) == 5


SOURCES = sorted(
    path
    for folder, ending in (
        ("python/longfat", "*.py"),
        ("benches", "*.py"),
        ("validation", "*.py"),
        ("crates", "*.rs"),
    )
    for path in (ROOT / folder).rglob(ending)
)


def test_no_docstring_begins_with_of():
    begins = re.compile(r'^\s*(?:"""|///|//!) ?Of ', re.MULTILINE)
    assert [
        str(path.relative_to(ROOT)) for path in SOURCES if begins.search(path.read_text(encoding="utf-8"))
    ] == []


def test_blocks_of_code_in_the_crates_documentation_are_text() -> None:
    """`make test` runs no doc tests, which would take a program for each crate."""
    fence = re.compile(r"^\s*//[/!] ```(.*)$", re.MULTILINE)
    found = {file: fence.findall(file.read_text())[::2] for file in ROOT.glob("crates/*/src/**/*.rs")}
    assert sum(map(len, found.values())) > 50
    assert {file: kinds for file, kinds in found.items() if set(kinds) - {"text"}} == {}
