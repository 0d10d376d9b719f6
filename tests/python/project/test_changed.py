"""`make check` runs the tests of what has changed."""

import importlib.util
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
        ("python/longfat/store/whole.py", [], ["tests/python/store"]),
        ("python/longfat/report/templates/run.html", [], ["tests/python/report"]),
        ("python/longfat/units.py", [], []),
        ("papers/longfat_papers/li2007/one.py", [], ["tests/python/papers"]),
        ("tests/python/sweep/test_sweep.py", [], ["tests/python/sweep/test_sweep.py"]),
        ("tests/python/sweep/test_that_was_removed.py", [], []),
        ("tests/python/scenario/test_scenario.py", [], []),  # its folder is among those that always run
        ("docs/tutorial.md", [], ["tests/python/project/test_docs.py"]),
        ("README.md", [], ["tests/python/project/test_docs.py"]),
        ("Makefile", [], []),
    ],
)
def test_a_changed_file_has_the_tests_of_its_crate_package_or_page(
    file: str, crates: list[str], tests: list[str]
) -> None:
    assert changed.tests_of([file]) == (crates, sorted([*changed.ALWAYS, *tests]))


def test_what_always_runs_is_there() -> None:
    root = FILE.parents[1]
    assert all((root / test).exists() for test in changed.ALWAYS)


def test_a_folder_has_its_changed_tests_in_it() -> None:
    found = changed.tests_of(["python/longfat/sweep/sweep.py", "tests/python/sweep/test_sweep.py"])[1]
    assert "tests/python/sweep" in found
    assert "tests/python/sweep/test_sweep.py" not in found
