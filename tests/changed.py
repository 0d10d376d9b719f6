"""Runs the tests of the crates, packages and pages that have changed since the last commit, or else in it.

    python tests/changed.py [--workers N] [--loader FEATURE]

What a crate changes may show in other crates' tests and in Python's, which `make test` runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/python"
ALWAYS = [f"{TESTS}/scenario", f"{TESTS}/project/test_layers.py"]
"""Quick, and wrong values of any part, such as crates/python and Cargo.lock, come to light here."""
LEFT_OUT = "not wheel and not long and not live and not alone"


def changed() -> list[str]:
    """Returns new files and those that differ from the last commit; without any, those of that commit.

    Of a merge they are those that differ from the branch that it went into.
    """

    def lines(*command: str) -> list[str]:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    found = lines("diff", "--name-only", "HEAD") + lines("ls-files", "--others", "--exclude-standard")
    return found or lines("show", "--name-only", "--format=", "-m", "--first-parent", "HEAD")


def tests_of(files: Iterable[str]) -> tuple[list[str], list[str]]:
    """Returns the crates of some files of the repository, and the files and folders of Python's tests."""
    crates, tests = set(), set(ALWAYS)
    for file in files:
        match Path(file).parts:
            case ("crates", crate, *_) if (
                crate != "python" and (ROOT / "crates" / crate / "Cargo.toml").exists()
            ):
                crates.add(f"longfat-{crate}")
            case ("supply" | ".github" | ".ci", *_) | ("Makefile",):
                tests.add(f"{TESTS}/project")
            case ("python", "longfat", package, _, *_) if (ROOT / TESTS / package).is_dir():
                tests.add(f"{TESTS}/{package}")
            case ("papers", *_):
                tests.add(f"{TESTS}/papers")
            case ("tests", "python", _, name) if name.startswith("test_") and (ROOT / file).exists():
                tests.add(file)
            case ("docs", *_) | (_,) if file.endswith(".md"):
                tests.add(f"{TESTS}/project/test_docs.py")
    return sorted(crates), sorted(test for test in tests if str(Path(test).parent) not in tests)


def main() -> int:
    """Runs the tests of Rust, then those of Python."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="2", help="how many processes run tests of Python")
    parser.add_argument("--loader", help="the feature of the crate that loads algorithms into the kernel")
    asked = parser.parse_args()
    crates, tests = tests_of(changed())
    code = 0
    if crates:
        packages = [word for crate in crates for word in ("--package", crate)]
        features = ["--features", asked.loader] if asked.loader and "longfat-bpf-loader" in crates else []
        cargo = ["cargo", "test", "--quiet", *packages, *features, "--lib", "--bins", "--tests"]
        code = subprocess.run(cargo, cwd=ROOT).returncode
    pytest = [sys.executable, "-m", "pytest", "-n", asked.workers, "--dist", "worksteal", "-m", LEFT_OUT]
    return code or subprocess.run([*pytest, *tests], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
