"""The workflows of a public host and the Dockerfile: what they call is there; publishing needs no secret."""

from __future__ import annotations

import re
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
    assert set(upload["with"]) == {"packages-dir"}


def test_the_image_is_built_from_wheels_alone_and_runs_a_suite() -> None:
    assert (ROOT / ".dockerignore").read_text().split() == ["*", "!dist"]
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "COPY" not in text
    assert re.findall(r"source=([\w.]+)", text) == ["dist"]
    assert text.endswith('ENTRYPOINT ["longfat"]\nCMD ["suite", "li2007", "--quick"]\n')
