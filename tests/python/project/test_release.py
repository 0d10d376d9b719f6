"""A release: `supply/release.py` on a small copy of the repository, and, in minutes, on a clone of it."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
NEXT = "7.0.0"
MAKEFILE = """
release-files:
	mkdir dist && cp COPIED dist/CITATION.cff && git rev-parse HEAD > dist/SHA256SUMS
	cd dist && touch longfat-7.0.0-x.whl longfat_papers-7.0.0-y.whl longfat-7.0.0.tar.gz
	cd dist && touch longfat-7.0.0.cdx.json longfat-7.0.0-docs.zip
wheel-test:
	test -e dist/SHA256SUMS
"""


def program(root: Path) -> ModuleType:
    """The module `supply/release.py` of a checkout."""
    specification = importlib.util.spec_from_file_location("release", root / "supply" / "release.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "a change")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the files that a release changes, whose `make` only touches files."""
    root = tmp_path / "checkout"
    for name in [*program(ROOT).VERSIONS, "CHANGELOG.md", "supply/release.py"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- This.\n\n## [0.1.0]\n"
    )
    (root / "Makefile").write_text(MAKEFILE.replace("COPIED", "CITATION.cff"))
    (root / ".gitignore").write_text("/dist/\n/out/\n__pycache__/\n")
    (root / "dist").mkdir()
    (root / "dist" / "earlier").write_text("")
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "config", "user.name", "Tester")
    git(root, "config", "user.email", "tester@example.org")
    commit(root)
    return root


def release(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "supply/release.py", *(arguments or (NEXT,))]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def state(root: Path) -> tuple[str, ...]:
    """All that a failed release must leave as it was."""
    dist = sorted(path.name for path in (root / "dist").iterdir())
    commands = ("rev-parse HEAD", "tag", "status --porcelain", "worktree list", "branch --list")
    return (*(git(root, *command.split()) for command in commands), *dist)


def test_all_files_have_one_version() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert program(ROOT).current(ROOT) == manifest["workspace"]["package"]["version"]


def test_a_release_sets_the_version_everywhere_and_commits_and_tags(checkout: Path) -> None:
    before = git(checkout, "rev-parse", "HEAD")
    ended = release(checkout)
    assert ended.returncode == 0, ended.stderr
    assert program(checkout).current(checkout) == NEXT
    locked = tomllib.loads((checkout / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    others = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    expected = [row | {"version": NEXT} if row["name"].startswith("longfat-") else row for row in others]
    assert locked == expected
    papers = tomllib.loads((checkout / "papers/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (papers["version"], papers["dependencies"]) == (NEXT, [f"longfat=={NEXT}"])
    changelog = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(
        r"## \[Unreleased\]\n\n## \[7\.0\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- This\.\n", changelog
    )
    citation = (checkout / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: 7\.0\.0\ndate-released: \d{4}-\d\d-\d\d$", citation, re.MULTILINE)
    head = git(checkout, "rev-parse", "HEAD")
    assert git(checkout, "rev-parse", "HEAD^") == before
    assert git(checkout, "rev-parse", f"v{NEXT}^{{commit}}") == head
    assert git(checkout, "branch", "--show-current") == "main"
    assert git(checkout, "status", "--porcelain") == ""
    assert len(git(checkout, "worktree", "list").splitlines()) == 1
    # the files were built from the commit that is tagged, and replace those of an earlier build
    assert (checkout / "dist" / "SHA256SUMS").read_text().strip() == head
    assert "date-released" in (checkout / "dist" / "CITATION.cff").read_text()
    assert not (checkout / "dist" / "earlier").exists()


def test_a_second_release_replaces_the_day_of_the_first(checkout: Path) -> None:
    citation = checkout / "CITATION.cff"
    citation.write_text(citation.read_text().replace("\nlicense:", "\ndate-released: 2001-01-01\nlicense:"))
    commit(checkout)
    assert release(checkout).returncode == 0
    assert citation.read_text().count("date-released: ") == 1
    assert "2001" not in citation.read_text()


def test_a_dry_run_prints_the_steps_and_changes_nothing(checkout: Path) -> None:
    before = state(checkout)
    ended = release(checkout, NEXT, "--dry-run", "--wheels", "wheels")
    assert (ended.returncode, ended.stderr) == (0, "")
    for part in (
        "fuzz/Cargo.lock",
        "CHANGELOG.md",
        "make wheels, docs",
        "longfat-7.0.0.cdx.json",
        "tag v7.0.0",
    ):
        assert part in ended.stdout
    assert state(checkout) == before


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("cp COPIED dist/CITATION.cff", "release-files: exit code 2"),
        ("touch longfat-7.0.0.cdx.json", "the build has not made longfat-7.0.0.cdx.json"),
        ("test -e dist/SHA256SUMS", "wheel-test: exit code 2"),
    ],
)
def test_a_release_that_fails_leaves_everything_as_it_was(checkout: Path, broken: str, line: str) -> None:
    makefile = checkout / "Makefile"
    other = "touch" if "cdx" in broken else "false"
    text = MAKEFILE.replace(broken, f"{other} -c x")
    makefile.write_text(text.replace("COPIED", "CITATION.cff"))
    commit(checkout)
    before = state(checkout)
    ended = release(checkout)
    assert ended.returncode == 1
    assert line in ended.stderr.splitlines()[-1]
    assert "are as they were" in ended.stderr
    assert state(checkout) == before


def test_a_branch_that_has_moved_on_meanwhile_is_left_alone(checkout: Path) -> None:
    move = f"git -C {checkout} commit --quiet --allow-empty --message another"
    (checkout / "Makefile").write_text(MAKEFILE.replace("COPIED", "CITATION.cff") + f"\t{move}\n")
    commit(checkout)
    ended = release(checkout)
    assert ended.returncode == 1
    assert git(checkout, "log", "-1", "--format=%s") == "another"
    assert git(checkout, "tag") == ""
    assert (checkout / "dist" / "earlier").exists()


def test_a_release_goes_on_no_other_branch_than_the_one_it_began_on(checkout: Path) -> None:
    switch = f"git -C {checkout} switch --quiet --create other"
    (checkout / "Makefile").write_text(MAKEFILE.replace("COPIED", "CITATION.cff") + f"\t{switch}\n")
    commit(checkout)
    before = git(checkout, "rev-parse", "main")
    ended = release(checkout)
    assert ended.returncode == 2
    assert "other is checked out now; accepted: main" in ended.stderr
    assert [git(checkout, "rev-parse", branch) for branch in ("main", "other")] == [before, before]
    assert git(checkout, "tag") == ""
    assert (checkout / "dist" / "earlier").exists()


def test_a_release_restores_files_that_a_killed_one_left_under_another_name(checkout: Path) -> None:
    (checkout / "Makefile").write_text("release-files:\n\tfalse\n")
    commit(checkout)
    (checkout / "out").mkdir()
    (checkout / "dist").rename(checkout / "out" / "dist.before")
    assert release(checkout).returncode == 1
    assert (checkout / "dist" / "earlier").exists()


def test_what_a_release_needs_is_checked_first(checkout: Path) -> None:
    def refused(*arguments: str) -> str:
        ended = release(checkout, *arguments)
        assert ended.returncode == 2
        return ended.stderr

    assert "this is no version" in refused("7")
    assert "the version is" in refused("0.0.1")
    (checkout / "new").write_text("")
    assert "the tree has changes" in refused()
    (checkout / "new").unlink()
    git(checkout, "tag", f"v{NEXT}")
    assert f"the tag v{NEXT} is there already" in refused()
    git(checkout, "tag", "--delete", f"v{NEXT}")
    git(checkout, "checkout", "--quiet", "--detach")
    assert "no branch is checked out" in refused()
    git(checkout, "checkout", "--quiet", "main")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- That.\n")
    assert "[Unreleased] is empty or missing" in refused()
    citation = checkout / "CITATION.cff"
    citation.write_text(citation.read_text().replace("\nversion: ", "\nversion: 1"))
    assert "the versions differ" in refused()


def test_the_notes_are_the_changelogs_section_of_the_version(checkout: Path) -> None:
    assert release(checkout).returncode == 0
    assert release(checkout, NEXT, "--notes").stdout == "### Added\n\n- This.\n"
    assert release(checkout, "0.1.0", "--notes").returncode == 2


@pytest.mark.long
def test_a_release_of_the_repository_has_all_its_files(tmp_path: Path) -> None:
    missing = [name for name in ("clang", "cargo", "make", "pkg-config") if shutil.which(name) is None]
    if missing or not (ROOT / ".git").exists():
        pytest.skip(f"no {', '.join(missing) or 'git checkout'}")
    root = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(ROOT), str(root))
    git(root, "checkout", "--quiet", "-B", "main")
    git(root, "config", "user.name", "Tester")
    git(root, "config", "user.email", "tester@example.org")
    changelog = root / "CHANGELOG.md"
    changelog.write_text(
        changelog.read_text().replace("## [Unreleased]\n", "## [Unreleased]\n\n- A test.\n", 1)
    )
    commit(root)
    ended = subprocess.run(["make", "release", f"VERSION={NEXT}"], cwd=root, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    dist = root / "dist"
    assert program(root).missing(NEXT, dist) == []
    for line in (dist / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest
    assert len(list(dist.iterdir())) == 1 + len((dist / "SHA256SUMS").read_text().splitlines())
    with zipfile.ZipFile(dist / f"longfat-{NEXT}-docs.zip") as site:
        assert f"Longfat {NEXT}" in site.read("docs/index.html").decode()
    assert git(root, "rev-parse", f"v{NEXT}^{{commit}}") == git(root, "rev-parse", "HEAD")
    assert git(root, "status", "--porcelain") == ""
