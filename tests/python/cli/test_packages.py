"""Commands and pages that other packages add, and those that cannot be imported."""

import json
import sys

import pytest
from click.testing import CliRunner

from longfat.cli import report
from longfat.cli.app import app
from longfat.errors import InputError, LongfatError
from longfat_papers.kit import registry


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package `torn-tool` with these entry points, whose module raises when it is imported."""

    def install(entries):
        folder = tmp_path / "site" / "torn_tool-1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: torn-tool\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(entries)
        (tmp_path / "site" / "torn_tool.py").write_text("import there_is_no_such_module\n")
        monkeypatch.syspath_prepend(tmp_path / "site")

    return install


REASON = (
    "the package torn-tool cannot be imported: ModuleNotFoundError: No module named 'there_is_no_such_module'"
)


def test_the_help_lists_all_commands_beside_one_that_cannot_be_imported(installed):
    installed("[longfat.commands]\ntorn = torn_tool:torn\n")
    shown = CliRunner().invoke(app, ["--help"], terminal_width=400)
    assert shown.exit_code == 0, shown.output
    assert f"not available: torn: {REASON}" in " ".join(shown.output.split())
    assert "Run the scenario in FILE" in shown.output


@pytest.mark.parametrize("arguments", [["torn"], ["torn", "FILE", "--json"], ["torn", "--help"]])
def test_a_command_that_cannot_be_imported_ends_with_the_name_of_its_package(installed, arguments):
    installed("[longfat.commands]\ntorn = torn_tool:torn\n")
    ended = CliRunner().invoke(app, arguments)
    assert isinstance(ended.exception, LongfatError)
    assert str(ended.exception) == f"torn: {REASON}"


def run_folder(folder):
    summary = {"duration_s": 0.2, "flows": [], "links": [], "background": [], "metrics": {}}
    (folder / "summary.json").write_text(json.dumps(summary))


def test_a_page_that_cannot_be_imported_does_not_hide_that_of_a_run(installed, tmp_path, capsys):
    installed("[longfat.pages]\ntorn.json = torn_tool:build\n")
    run_folder(tmp_path)
    (tmp_path / "torn.json").write_text("{}")
    assert report.build(tmp_path) == tmp_path / "index.html"
    assert capsys.readouterr().err == f"warning: {tmp_path}: torn.json: {REASON}\n"


def test_a_page_of_another_folder_is_not_imported(installed, tmp_path, capsys):
    installed("[longfat.pages]\ntorn.json = torn_tool:build\n")
    run_folder(tmp_path)
    assert report.build(tmp_path) == tmp_path / "index.html"
    assert capsys.readouterr().err == ""
    assert "torn_tool" not in sys.modules


def test_a_folder_whose_only_page_cannot_be_imported_names_its_package(installed, tmp_path):
    installed("[longfat.pages]\ntorn.json = torn_tool:build\n")
    (tmp_path / "torn.json").write_text("{}")
    with pytest.raises(LongfatError) as raised:
        report.build(tmp_path)
    assert str(raised.value) == f"{tmp_path}: torn.json: {REASON}"


def test_the_folder_of_a_suite_names_the_package_that_builds_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "added", lambda group: {})
    (tmp_path / "suite.json").write_text("{}")
    with pytest.raises(InputError) as raised:
        report.build(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}: the page of a suite comes with the package longfat-papers, which is not installed; "
        "install it with `pip install longfat-papers`"
    )


def test_a_suite_that_cannot_be_imported_names_its_package(installed):
    installed("[longfat.suites]\ntorn = torn_tool:SUITE\n")
    with pytest.raises(LongfatError) as raised:
        registry.get("torn")
    assert str(raised.value) == f"torn: {REASON}"
