"""`make check` runs the tests of what has changed."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "changed.py"
spec = importlib.util.spec_from_file_location("changed", FILE)
assert spec is not None
assert spec.loader is not None
changed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(changed)


@pytest.mark.parametrize(
    ("file", "crates", "tests"),
    [
        ("crates/net/src/lib.rs", ["longfat-net"], []),
        ("crates/net/tests/queues/main.rs", ["longfat-net"], []),
        ("crates/python/src/lib.rs", [], []),
        ("crates/that_was_removed/src/lib.rs", [], []),
        ("Cargo.lock", [], []),
        ("python/longfat/store/whole.py", [], ["tests/python/store"]),
        ("python/longfat/report/templates/run.html", [], ["tests/python/report"]),
        ("python/longfat/units.py", [], []),
        ("papers/longfat_papers/li2007/one.py", [], ["tests/python/papers"]),
        ("tests/python/sweep/test_sweep.py", [], ["tests/python/sweep/test_sweep.py"]),
        ("tests/python/sweep/test_that_was_removed.py", [], []),
        ("tests/python/scenario/test_scenario.py", [], []),  # its folder is among those that always run
        ("docs/tutorial.md", [], ["tests/python/project/test_docs.py"]),
        ("README.md", [], ["tests/python/project/test_docs.py"]),
        ("Makefile", [], ["tests/python/project"]),
        ("supply/release.py", [], ["tests/python/project"]),
        (".ci/run", [], ["tests/python/project"]),
        (".github/workflows/ci.yml", [], ["tests/python/project"]),
    ],
)
def test_a_changed_file_has_the_tests_of_its_crate_package_or_page(
    file: str, crates: list[str], tests: list[str]
) -> None:
    always = [test for test in changed.ALWAYS if not test.startswith(tuple(f"{folder}/" for folder in tests))]
    assert changed.tests_of([file]) == (crates, sorted([*always, *tests]))


def test_the_files_of_a_merge_are_those_that_it_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "ROOT", tmp_path)

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", "--all")
        git("commit", "--message", name)

    git("init", "--initial-branch", "main")
    commit("first")
    assert changed.changed() == ["first"]
    git("switch", "--create", "other")
    commit("brought")
    git("switch", "main")
    commit("own")
    git("merge", "--no-ff", "--message", "merge", "other")
    assert changed.changed() == ["brought"]
    (tmp_path / "new").write_text("")
    assert changed.changed() == ["new"]


def test_what_always_runs_is_there() -> None:
    root = FILE.parents[1]
    assert all((root / test).exists() for test in changed.ALWAYS)


def test_a_folder_has_its_changed_tests_in_it() -> None:
    found = changed.tests_of(["python/longfat/sweep/sweep.py", "tests/python/sweep/test_sweep.py"])[1]
    assert "tests/python/sweep" in found
    assert "tests/python/sweep/test_sweep.py" not in found
