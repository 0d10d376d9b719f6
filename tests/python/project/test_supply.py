"""What Longfat is built from: every version has its digests, and a wheel says what is in it."""

import _ctypes
import importlib
import itertools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import test_wheel
from packaging.specifiers import SpecifierSet
from packaging.tags import sys_tags

ROOT = Path(__file__).parents[3]
DEBIAN_12 = "3.11.2"
LOCKS = {file.name: file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("requirements*.lock"))}
ENTRIES = {
    name: [entry for entry in re.split(r"\n(?=[^\s#])", text) if not entry.startswith("#")]
    for name, text in LOCKS.items()
}
ALL = list(itertools.chain.from_iterable(ENTRIES.values()))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_locked_package_has_a_version_and_digests_and_no_address() -> None:
    assert len(ALL) > 50
    for entry in ALL:
        assert re.match(r"[A-Za-z0-9._-]+==\S+ \\\n", entry), entry
        assert re.fullmatch(r"(\s+--hash=sha256:[0-9a-f]{64}( \\)?\n?)+", entry.partition("\\")[2]), entry
    assert "://" not in "".join(LOCKS.values())


def test_every_package_that_longfat_names_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = itertools.chain.from_iterable(project["optional-dependencies"].values())
    named = [*project["dependencies"], *extras]
    wanted = {normal(re.match(r"[A-Za-z0-9._-]+", line).group()) for line in named}  # type: ignore[union-attr]
    assert wanted <= {normal(entry.partition("==")[0]) for entry in ALL}


def test_make_setup_installs_what_longfat_needs_and_what_builds_it_and_make_develop_the_rest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["build"]]
    found = {name: {normal(entry.partition("==")[0]) for entry in each} for name, each in ENTRIES.items()}
    setup, develop = found["requirements.lock"], found["requirements-dev.lock"]
    assert {normal(re.match(r"[A-Za-z0-9._-]+", line).group()) for line in wanted} <= setup  # type: ignore[union-attr]
    assert not setup & develop
    assert not setup & {"mypy", "pandas", "polars", "pytest", "ruff", "sphinx"}


def planned(*asked: str) -> str:
    """What make would do, in its order."""
    command = ["make", "--dry-run", "--always-make", *asked]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_installers_take_turns_in_the_environment() -> None:
    for asked in (["develop"], ["develop", "lint"], ["setup", "docs"]):
        done = planned(*asked)
        assert (
            0
            < done.index("-r requirements-dev.lock")
            < done.index("maturin develop")
            < done.index("-e papers")
        )
    assert "requirements-dev.lock" not in planned("setup") + planned("demo")


def test_the_parts_of_a_long_target_are_made_by_the_same_make(tmp_path: Path) -> None:
    """As gmake, where make is another program."""
    (tmp_path / "make").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "make").chmod(0o755)
    make = shutil.which("make")
    assert make is not None
    # `make test` passes its own variables on
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [make, "--dry-run", "check"]
    ended = subprocess.run(command, cwd=ROOT, env=ours | path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.findall(r"\d+ s  (.*)", ended.stdout) == ["develop", "lint", "test-changed", "total"]


def test_every_locked_package_runs_on_the_python_of_debian_12() -> None:
    for entry in ALL:
        name, version = re.match(r"(\S+)==(\S+)", entry).groups()  # type: ignore[union-attr]
        found = metadata.distribution(name)
        if found.version == version:  # else the environment is not the one of the list
            accepted = SpecifierSet(found.metadata.get("Requires-Python") or "")
            assert accepted.contains(DEBIAN_12), f"{name} {version} needs Python {accepted}"


def test_every_crate_comes_from_the_public_registry_with_a_checksum() -> None:
    for lock in (ROOT / "Cargo.lock", ROOT / "fuzz" / "Cargo.lock"):
        packages = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
        others = [package for package in packages if not package["name"].startswith("longfat-")]
        assert len(others) > 20
        for package in others:
            assert package["source"] == "registry+https://github.com/rust-lang/crates.io-index", package
            assert len(package["checksum"]) == 64


def wheel_in(folder: Path, crates: list[dict[str, str]]) -> Path:
    wheel = folder / "longfat-1.2.3-cp311-abi3-linux_x86_64.whl"
    info = "longfat-1.2.3.dist-info"
    about = (
        "Metadata-Version: 2.4\nName: longfat\nVersion: 1.2.3\nRequires-Dist: numpy>=1.26\n"
        "Requires-Dist: mypy>=1.10 ; extra == 'dev'\n"
    )
    with zipfile.ZipFile(wheel, "w") as held:
        held.writestr(f"{info}/METADATA", about)
        held.writestr(f"{info}/sboms/longfat-python.cyclonedx.json", json.dumps({"components": crates}))
    return wheel


def sbom(wheel: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "supply" / "sbom.py"), str(wheel)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_bill_of_materials_has_crates_and_packages_and_not_those_of_extras(tmp_path: Path) -> None:
    crate = {"bom-ref": "pkg:cargo/libm@0.2.16", "name": "libm", "version": "0.2.16"}
    assert sbom(wheel_in(tmp_path, [crate])).returncode == 0
    made = json.loads((tmp_path / "longfat-1.2.3.cdx.json").read_text())
    assert (made["bomFormat"], made["metadata"]["component"]["version"]) == ("CycloneDX", "1.2.3")
    pinned = next(entry for entry in ALL if entry.startswith("numpy==")).split()[0].partition("==")[2]
    assert [part["bom-ref"] for part in made["components"]] == [crate["bom-ref"], f"pkg:pypi/numpy@{pinned}"]


def test_a_wheel_without_a_list_of_its_crates_is_refused(tmp_path: Path) -> None:
    ended = sbom(wheel_in(tmp_path, []))
    assert ended.returncode == 1
    assert "has no list of its crates" in ended.stderr


@pytest.mark.parametrize("tool", ["cargo-deny", "pip-audit"])
def test_the_audit_says_which_tool_is_missing(tool: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "supply" / "audit.py")]
    ended = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert f"not checked: {tool} is missing" in ended.stdout
    for name in LOCKS:
        assert f"{name}: nothing found" in ended.stdout


def test_what_the_wheels_of_all_platforms_need_is_named_before_anything_is_built(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "supply" / "wheels.py"), "--tools"]
    ended = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    for program in ("llvm-readobj: ", "x86_64-w64-mingw32-gcc: ", "rustup, "):
        assert f"missing: {program}" in ended.stderr
    listed = subprocess.run(
        ["make", "--dry-run", "wheels"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert 0 < listed.index("wheels.py --tools") < listed.index("maturin build")


def test_the_wheel_that_is_tried_is_the_one_that_pip_takes_here(tmp_path: Path) -> None:
    here = [str(tag) for tag in sys_tags() if tag.interpreter == "cp311" and tag.abi == "abi3"]
    names = [
        f"longfat-1.2.3-{tag}.whl" for tag in (*here, "cp311-abi3-win_arm", "cp311-abi3-macosx_1_0_arm64")
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "longfat_papers-1.2.3-py3-none-any.whl").touch()
    for name in names[: len(here)]:
        assert test_wheel.fitting(tmp_path) == tmp_path / name
        (tmp_path / name).unlink()
    assert test_wheel.fitting(tmp_path) is None


def test_a_wheel_that_needs_a_foreign_library_or_lacks_its_entry_does_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("llvm-readobj") is None:
        pytest.skip("llvm-readobj is missing; on Debian: apt install llvm")
    monkeypatch.syspath_prepend(ROOT / "supply")
    wheels = importlib.import_module("wheels")
    wheel = tmp_path / "longfat-1-cp311-abi3-manylinux2014_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(_ctypes.__file__, "longfat/_core.abi3.so")
        archive.write(_ctypes.__file__, "longfat.libs/libffi.so.8")
    for name, machine in (("x86_64-unknown-linux-gnu", "x86_64"), ("aarch64-unknown-linux-gnu", "aarch64")):
        found = "\n".join(wheels.problems(name, wheel))
        assert "holds other libraries: longfat/_core.abi3.so, longfat.libs/libffi.so.8" in found
        assert "does not export PyInit__core" in found
        assert re.search(r"needs libffi\.so\.\d", found)
        assert (f"is not for {machine}" in found) == (platform.machine() != machine)
    assert "MB; needs libc.so.6, libffi.so" in capsys.readouterr().out
