"""The wheel in an empty environment outside the repository, where everything has to work."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from live_runs import ROOT, able, able_to_load, skip

__all__ = ["able", "able_to_load"]

pytestmark = pytest.mark.wheel

NO_NETWORK = re.compile(r"Retrying \(|NewConnectionError|Name or service not known|Network is unreachable")
SCENARIO = """
duration = "5 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "100 % BDP"
[[flow]]
algorithm = "htcp"
rtt = "40 ms"
[[flow]]
algorithm = "reno"
rtt = "40 ms"
start = { uniform = ["0 s", "1 s"] }
"""
SWEEP = """
base = "mine.toml"
repeats = 2
[axes]
"flow.0.rtt" = ["20 ms", "40 ms"]
"""

Longfat = Callable[..., subprocess.CompletedProcess[str]]


def fitting(folder: Path) -> Path | None:
    """The wheel in a folder that pip takes on this machine: the first in the order of tags that fit."""
    ranks = {tag: rank for rank, tag in enumerate(sys_tags())}
    found = {}
    for path in folder.glob("longfat-*.whl"):
        tags = parse_wheel_filename(path.name)[3]
        if fit := ranks.keys() & tags:
            found[min(map(ranks.__getitem__, fit))] = path
    return found[min(found)] if found else None


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel that `make wheel` built."""
    found = fitting(ROOT / "dist")
    if found is None:
        pytest.skip("no wheel in dist; `make wheel` builds it")
    return found


@pytest.fixture(scope="module")
def source(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution beside the wheel, unpacked."""
    [archive] = wheel.parent.glob("longfat-*.tar.gz")
    folder = tmp_path_factory.mktemp("source")
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(folder)], check=True)
    [root] = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and its dependencies, and nothing else."""
    root = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(root)], check=True)
    pip = [str(root / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, cwd=root)
    ended = subprocess.run([*pip, str(wheel)], capture_output=True, text=True, cwd=root)
    if ended.returncode and NO_NETWORK.search(ended.stderr):
        pytest.skip("pip cannot reach a package index for the wheel's dependencies")
    assert ended.returncode == 0, ended.stderr
    return root


@pytest.fixture(scope="module")
def papers(wheel: Path, environment: Path) -> None:
    """Installs the wheel of the papers beside the library's."""
    [suites] = wheel.parent.glob("longfat_papers-*.whl")
    pip = [str(environment / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", str(suites)], check=True, cwd=environment)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with a scenario and a sweep, and a home directory with nothing."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "home").mkdir()
    (folder / "mine.toml").write_text(SCENARIO)
    (folder / "sweep.toml").write_text(SWEEP)
    return folder


@pytest.fixture(scope="module")
def execute(environment: Path, elsewhere: Path) -> Longfat:
    """Runs a program of the environment, without anything of the caller's own environment."""

    def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(environment / "bin" / name), *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=elsewhere,
            env={
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": str(elsewhere / "home"),
                "LANG": "C.UTF-8",
            },
            timeout=300,
        )

    return run


@pytest.fixture(scope="module")
def longfat(execute: Longfat) -> Callable[..., str]:
    """Runs the command, which has to succeed, and returns what it prints."""

    def run(*arguments: object) -> str:
        ended = execute("longfat", *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def test_the_wheel_contains_what_an_installation_needs_and_nothing_else(wheel: Path) -> None:
    kernel_forms = {f"longfat/bpf/{source.stem}.o" for source in ROOT.glob("bpf/lf_*.c")}
    sources = ROOT / "python" / "longfat"
    expected = {
        f"longfat/{path.relative_to(sources)}"
        for suffix in ("py", "pyi", "j2", "js", "css", "toml", "typed")
        for path in sources.rglob(f"*.{suffix}")
    }
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata, tags = (
            next(archive.read(name).decode() for name in names if name.endswith(end))
            for end in (".dist-info/METADATA", ".dist-info/WHEEL")
        )
        objects = b"".join(archive.read(name) for name in kernel_forms)
    own = {name for name in names if name.startswith("longfat/")}
    assert own == expected | kernel_forms | {"longfat/_core.abi3.so"}
    assert not [name for name in names if "papers" in name]
    assert "Description-Content-Type: text/markdown" in metadata
    assert (ROOT / "README.md").read_text().strip() in metadata
    assert {"LICENSE-MIT", "LICENSE-APACHE"} <= {Path(name).name for name in names}
    assert "Tag: cp311-abi3-manylinux_" in tags
    assert str(ROOT).encode() not in objects


def test_the_source_distribution_contains_what_building_needs(source: Path) -> None:
    names = {str(path.relative_to(source)) for path in source.rglob("*")}
    needed = {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "Makefile", "COMMIT", "CHANGELOG.md"}
    needed |= {
        "scenarios/two-hstcp.toml",
        "crates/python/build.rs",
        "python/longfat/__init__.py",
        "bpf/lf_htcp.c",
        "bpf/lf.h",
    }
    assert needed <= names
    assert not [name for name in names if name.endswith((".o", ".so")) or name.startswith("target/")]
    told = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version=1"],
        capture_output=True,
        text=True,
        cwd=source,
    )
    assert told.returncode == 0, told.stderr
    members = {package["name"] for package in json.loads(told.stdout)["packages"]}
    assert members == {f"longfat-{manifest.parent.name}" for manifest in ROOT.glob("crates/*/Cargo.toml")}


def test_its_dependencies_are_complete_and_fit_each_other(execute: Longfat) -> None:
    ended = execute("pip", "check")
    assert ended.returncode == 0, ended.stdout


def test_all_versions_are_the_workspaces(wheel: Path, longfat: Callable[..., str], execute: Longfat) -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert wheel.name.split("-")[1] == version
    assert longfat("--version").split() == ["longfat,", "version", version]
    script = "import longfat, importlib.metadata as m; print(longfat.__version__, m.version('longfat'))"
    assert execute("python", "-c", script).stdout.split() == [version, version]


def test_a_run_is_written_with_its_commit_and_reported(
    longfat: Callable[..., str], elsewhere: Path, source: Path
) -> None:
    summary = json.loads(longfat("run", "mine.toml", "--out", "out/run", "--json"))
    assert summary["links"][0]["utilization"] > 0.5
    provenance = json.loads((elsewhere / "out" / "run" / "provenance.json").read_text())
    assert provenance["version"] == summary["version"]
    assert provenance["commit"] == source.joinpath("COMMIT").read_text().strip()
    longfat("report", "out/run")
    assert (elsewhere / "out" / "run" / "index.html").stat().st_size > 10_000
    assert list((elsewhere / "out" / "run" / "figures").glob("*.pdf"))


def test_the_package_runs_the_same_scenario(longfat: Callable[..., str], execute: Longfat) -> None:
    script = "import longfat, json; print(json.dumps(longfat.run('mine.toml').summary['flows']))"
    ended = execute("python", "-c", script)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == json.loads(longfat("run", "mine.toml", "--json"))["flows"]


def test_an_algorithm_of_the_users_own_runs(longfat: Callable[..., str], elsewhere: Path) -> None:
    (elsewhere / "my_reno.py").write_text((ROOT / "examples" / "my_reno.py").read_text())
    change = 'flow.0.algorithm="my_reno.py:MyReno"'
    summary = json.loads(longfat("run", "mine.toml", "--set", change, "--json"))
    assert summary["flows"][0]["algorithm"] == "my_reno.py:MyReno"


def test_a_comparison_has_its_page(longfat: Callable[..., str], elsewhere: Path) -> None:
    grid = ["--rates", "5 Mbit/s", "--rtts", "20 ms", "--buffers", "100 % BDP", "--repeats", 1, "--jobs", 2]
    document = json.loads(longfat("compare", "htcp", *grid, "--out", "out/compare", "--json"))
    assert [row["name"] for row in document["algorithms"]] == ["htcp"]
    assert (elsewhere / "out" / "compare" / "index.html").exists()


def test_without_the_papers_a_suite_is_refused_and_says_what_to_install(execute: Longfat) -> None:
    ended = execute("longfat", "suite", "li2007")
    assert (ended.returncode, "pip install longfat-papers" in ended.stderr) == (2, True)


def test_the_wheel_of_the_papers_has_all_files_of_each_suite(wheel: Path, papers: None) -> None:
    [suites] = wheel.parent.glob("longfat_papers-*.whl")
    sources = ROOT / "papers"
    endings = (".py", ".j2", ".toml")
    found = [path for path in sources.glob("longfat_papers/**/*") if path.suffix in endings]
    with zipfile.ZipFile(suites) as archive:
        assert {str(path.relative_to(sources)) for path in found} <= set(archive.namelist())


def test_a_suite_checks_a_claim_and_the_ledger_is_read_back(
    longfat: Callable[..., str], elsewhere: Path, papers: None
) -> None:
    suite = json.loads(
        longfat("suite", "li2007", "--quick", "--only", "F7", "--jobs", 2, "--out", "out/li2007", "--json")
    )
    verdicts = {row["id"]: row["verdict"] for row in suite["claims"]}
    assert "LLS-F7" in verdicts
    assert verdicts["LLS-F7"] != "not measured"
    claims = json.loads(longfat("claims", "--json"))
    assert {row["id"]: row["verdict"] for row in claims} == verdicts
    assert (elsewhere / "out" / "li2007" / "index.html").exists()


def test_a_sweep_runs_and_answers_a_question(longfat: Callable[..., str]) -> None:
    longfat("sweep", "sweep.toml", "--jobs", 2, "--out", "out/sweep")
    answer = json.loads(longfat("results", "out/sweep", "--sql", "SELECT count(*) AS n FROM runs", "--json"))
    assert answer == [{"n": 4}]


@pytest.mark.parametrize("kind", ["algorithms", "queues", "routers"])
def test_the_registries_are_there(longfat: Callable[..., str], kind: str) -> None:
    assert json.loads(longfat("list", kind, "--json"))


def test_the_doctor_gives_no_advice_that_needs_a_checkout(execute: Longfat) -> None:
    items: list[dict[str, Any]] = json.loads(execute("longfat", "doctor", "--json").stdout)
    assert {"kernel", "tun", "algorithm htcp"} <= {item["name"] for item in items}
    assert not [item for item in items if "make " in item["remedy"] or item["name"] == "clang"]
    brought = [item for item in items if item["name"].startswith("algorithm")]
    assert not [item for item in brought if "missing" in item["found"] or "cannot load" in item["found"]]


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
@pytest.mark.parametrize("command", ["run", "crosscheck"])
def test_h_tcp_runs_live(command: str, longfat: Callable[..., str]) -> None:
    live = ["--backend", "live"] if command == "run" else ["--out", "out/crosscheck"]
    alone = ["--set", "duration=3 s", "--set", 'flow.1.algorithm="cubic"']
    document = json.loads(longfat(command, "mine.toml", *alone, *live, "--json"))
    summary = document if command == "run" else document["live"][0]
    assert summary["validity"]["congestion"]["1"].startswith(("lf_htcp", "htcp"))
    assert summary["links"][0]["utilization"] > 0.5


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_a_kernel_algorithm_that_is_missing_is_refused_with_advice_for_an_installation(
    environment: Path, execute: Longfat
) -> None:
    [folder] = environment.glob("lib/python3*/site-packages/longfat/bpf")
    if "htcp" in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split():
        skip("this kernel has the module tcp_htcp, which comes first")
    (folder / "lf_htcp.o").rename(folder / "away")
    try:
        ended = execute("longfat", "run", "mine.toml", "--backend", "live")
    finally:
        (folder / "away").rename(folder / "lf_htcp.o")
    assert ended.returncode == 2
    [line] = ended.stderr.splitlines()
    assert line.startswith("error: mine.toml: lf_htcp: ")
    assert "reinstall Longfat from its wheel" in line
    assert "make" not in line


def test_nothing_is_written_into_the_home_directory(elsewhere: Path, longfat: Callable[..., str]) -> None:
    longfat("run", "mine.toml")
    assert {path.name for path in (elsewhere / "home").iterdir()} <= {".cache", ".config"}  # matplotlib's
