"""What is running: version and commit, in a checkout and outside of one."""

import subprocess
import tomllib
from pathlib import Path

import pytest

import longfat
from longfat import _core, installation

ROOT = Path(__file__).parents[3]
BUILT_FROM = "1" * 40


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place below a repository of somebody else where the package could be, with a core of known origin."""
    commands = (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "theirs"])
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    for command in commands:
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)
    folder = tmp_path / "python" / "longfat"
    folder.mkdir(parents=True)
    monkeypatch.setattr(installation, "PACKAGE", folder)
    monkeypatch.setattr(_core, "commit", lambda: BUILT_FROM)
    return folder


def test_the_version_is_the_workspaces() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert longfat.__version__ == _core.version() == manifest["workspace"]["package"]["version"]


def test_a_checkout_is_asked_for_its_commit() -> None:
    assert installation.checkout() == ROOT
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert str(installation.commit()).removesuffix("-dirty") == head.stdout.strip()


def test_a_repository_around_an_installation_is_not_a_checkout(package: Path) -> None:
    assert installation.checkout() is None
    assert installation.commit() == BUILT_FROM


def test_the_commit_of_changed_files_is_marked(package: Path) -> None:
    root = package.parent.parent
    manifest = root / "crates" / "python" / "Cargo.toml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("")
    subprocess.run(["git", "add", "crates"], cwd=root, check=True)
    commit = str(installation.commit())
    assert commit != BUILT_FROM
    assert len(commit.removesuffix("-dirty")) == 40
    assert commit.endswith("-dirty")


def test_an_unpacked_source_distribution_has_the_commit_of_its_core(package: Path) -> None:
    unpacked = package / "longfat-0.1.0"
    for folder in ("python/longfat", "crates/python"):
        (unpacked / folder).mkdir(parents=True)
    (unpacked / "crates" / "python" / "Cargo.toml").write_text("")
    installation.PACKAGE = unpacked / "python" / "longfat"
    assert installation.checkout() == unpacked
    assert installation.commit() == BUILT_FROM
