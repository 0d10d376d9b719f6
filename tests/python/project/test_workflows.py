"""The workflows of a public host and the Dockerfile: what they call is there; publishing needs no secret."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / ".github" / "actions" / "setup" / "action.yml"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))


def read(path: Path) -> dict[str, Any]:
    """A file; its key `on`, which YAML 1.1 takes for a truth value, under that name."""
    text = path.read_text(encoding="utf-8")
    return yaml.safe_load(re.sub(r"^on:", '"on":', text, flags=re.MULTILINE))


def steps(path: Path) -> list[dict[str, Any]]:
    found = read(path)
    parts = found["jobs"].values() if "jobs" in found else [found["runs"]]
    return [step for part in parts for step in part["steps"]]


def test_there_is_one_workflow_each_for_changes_the_site_and_releases() -> None:
    triggers = {path.stem: set(read(path)["on"]) for path in WORKFLOWS}
    assert triggers == {
        "ci": {"push", "pull_request"},
        "docs": {"push", "workflow_dispatch"},
        "release": {"push"},
    }
    assert read(ROOT / ".github/workflows/release.yml")["on"]["push"] == {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.stem)
def test_what_a_workflow_calls_is_in_the_repository(path: Path) -> None:
    for step in steps(path):
        assert ("uses" in step) != ("run" in step), step
        if (used := step.get("uses", "")).startswith("./"):
            assert (ROOT / used / "action.yml").is_file()
        elif used:
            assert re.fullmatch(r"(actions|pypa)/[\w-]+@(v\d+|release/v\d+)", used)
        command = step.get("run", "")
        for arguments in re.findall(r"\bmake ([^\n&|]+)", command):
            asked = [word for word in arguments.split() if not word.startswith("-") and "=" not in word]
            assert set(asked) <= TARGETS, asked
        for program in re.findall(r"(?:^|\s)((?:\.ci|supply)/[\w.]+)", command):
            assert (ROOT / program).is_file()
            assert program.endswith(".py") or (ROOT / program).stat().st_mode & 0o100, program


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_wait_for_jobs_that_are_there_and_get_no_more_rights_than_they_need(path: Path) -> None:
    found = read(path)
    jobs = found["jobs"]
    assert found["permissions"] == {"contents": "read"}
    assert all(job["runs-on"] == "ubuntu-latest" for job in jobs.values())
    assert {job["needs"] for job in jobs.values() if "needs" in job} <= set(jobs)
    assert "secrets." not in path.read_text(encoding="utf-8")
    building = [job for job in jobs.values() if any("make" in step.get("run", "") for step in job["steps"])]
    assert all("permissions" not in job for job in building)


def test_only_the_job_that_uploads_packages_can_prove_who_it_is_to_the_index() -> None:
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    trusted = {name: job for name, job in jobs.items() if "id-token" in job.get("permissions", {})}
    assert list(trusted) == ["publish"]
    job = trusted["publish"]
    assert (job["environment"], job["needs"]) == ("pypi", "build")
    (upload,) = [step for step in job["steps"] if "pypi-publish" in step.get("uses", "")]
    assert upload["with"] == {"packages-dir": "packages", "skip-existing": True}


def test_a_release_has_the_wheels_of_all_platforms() -> None:
    source = (ROOT / "supply" / "wheels.py").read_text(encoding="utf-8")
    listed = re.findall(r'^    "([\w-]+)": Target\(', source, re.MULTILINE)
    commands = [step["run"] for step in steps(ROOT / ".github/workflows/release.yml") if "run" in step]
    assert len(listed) == 5
    (added,) = re.findall(r"rustup target add (.+)", "\n".join(commands).replace("\\\n", " "))
    assert set(added.split()) == set(listed)
    builds = [command for command in commands if "release-files" in command or "wheel-test" in command]
    assert builds == ["make release-files WHEELS=wheels", "make --old-file=wheels wheel-test WHEELS=wheels"]


def test_a_change_of_the_main_branch_is_checked_to_the_end() -> None:
    assert read(ROOT / ".github/workflows/ci.yml")["concurrency"]["cancel-in-progress"] == (
        "${{ github.event_name == 'pull_request' }}"
    )


def test_the_image_is_built_from_wheels_alone_and_runs_a_suite() -> None:
    assert (ROOT / ".dockerignore").read_text().split() == ["*", "!dist"]
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "COPY" not in text
    assert re.findall(r"source=([\w.]+)", text) == ["dist"]
    assert text.endswith('ENTRYPOINT ["longfat"]\nCMD ["suite", "li2007", "--quick"]\n')


BUILD = ["clang", "gcc", "libbpf-dev", "libelf-dev", "pkg-config", "zlib1g-dev"]
APT = """#!/bin/sh
echo "$@" >> "$LOG"
for word; do
  case " $UNKNOWN " in *" $word "*) echo "E: Unable to locate package $word" >&2; exit 100 ;; esac
done
"""


@pytest.mark.parametrize("unknown", ["", "chromium", "clang", "update chromium clang"])
def test_a_package_that_cannot_be_installed_is_named_and_keeps_no_other_from_it(
    tmp_path: Path, unknown: str
) -> None:
    for name, text in (
        ("apt-get", APT),
        ("id", "#!/bin/sh\necho 0\n"),
        ("dpkg-query", "#!/bin/sh\nexit 1\n"),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(tmp_path / "log"), "UNKNOWN": unknown}
    ended = subprocess.run(
        [ROOT / ".ci" / "packages"], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    calls = [
        [word for word in line.split() if not word.startswith("-")]
        for line in (tmp_path / "log").read_text().splitlines()
    ]
    assert calls[0] == ["update"]
    assert sorted(calls[1]) == sorted(["install", *BUILD])
    assert {len(call) for call in calls[2:]} == {2}
    assert ["install", "tshark"] in calls
    failed = [line for line in ended.stdout.splitlines() if line.endswith("failed:")]
    assert len(failed) == len(unknown.split())
    for name in unknown.split():
        assert f"E: Unable to locate package {name}" in ended.stdout
