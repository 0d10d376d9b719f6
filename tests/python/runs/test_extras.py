"""Longfat where pandas and polars are not installed, as after a plain `pip install longfat`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longfat import extras
from longfat.errors import InputError

ROOT = Path(__file__).parents[3]
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
SWEEP = """
repeats = 2
keep = "series"
[base]
duration = "1 s"
bottleneck.rate = "1 Mbit/s"
flow = [{ algorithm = "reno", rtt = "20 ms" }]
[axes]
"bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s"]
"flow.0.algorithm" = ["reno", "cubic"]
"""
PROGRAM = """
import sys
import longfat
from longfat import sweep
from longfat.sweep import figures

web = {"kind": "web", "sessions": 5}
small = {"duration": "3 s", "bottleneck": {"rate": "2 Mbit/s"}, "sample": {"events": True},
         "flow": [{"algorithm": "htcp", "rtt": "20 ms"}], "background": [web]}

if __name__ == "__main__":
    result = longfat.run(small, capture="run.pcapng")
    for name in ("flows", "links", "internals", "transfers", "events"):
        if name != "internals":
            assert getattr(result, name).num_rows, name
    assert longfat.read_capture("run.pcapng").flows.num_rows
    assert len(result.plot_cwnd().axes) and "<svg" in result._repr_html_()
    assert result.report("run").exists()
    longfat.run(small, repeats=2, jobs=2).report("repeats")
    assert [each.metrics.jain for each in longfat.run_many([small] * 2, jobs=2)]
    swept = longfat.Sweep.load("sweep.toml").run("swept", jobs=2, progress=False)
    assert swept.series(0).num_rows and swept.with_flows().num_rows == 8
    assert swept.sql("SELECT count(*) AS n FROM runs JOIN flows USING (run)").to_pylist() == [{"n": 8}]
    assert figures.page(swept) and "<svg" in swept._repr_html_()
    for table in (result, swept):
        for read in (table.to_pandas, table.to_polars):
            try:
                read()
            except longfat.InputError as error:
                print(error)
    print(sys.modules.keys() & {"pandas", "polars"})
"""
SAID = """to_pandas: needs pandas; accepted: pip install "longfat[pandas]"
to_polars: needs polars; accepted: pip install "longfat[polars]"
"""


@pytest.fixture
def plain(tmp_path: Path) -> dict[str, str]:
    """An environment whose Pythons, workers too, find neither package."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return os.environ | {"PYTHONPATH": str(tmp_path / "site")}


def test_everything_but_frames_works_without_pandas_and_polars(plain: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, "program.py"], env=plain, cwd=tmp_path, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (0, 2 * SAID + "set()\n"), ran.stderr


@pytest.mark.parametrize(
    "command",
    [
        "run run.toml --repeats 2 --json",
        "sweep sweep.toml --out out --jobs 2",
        "plot sweep.toml --y jain --out figure.svg",
        "compare reno --quick --rates 10Mbit/s --rtts 20ms --buffers 100%BDP --repeats 1 --out compared",
    ],
)
def test_commands_work_without_pandas_and_polars(command: str, plain: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_bytes((ROOT / "scenarios" / "two-hstcp.toml").read_bytes())
    command = command.replace("run.toml", "run.toml --set duration=5s")
    ran = subprocess.run(
        [sys.executable, "-m", "longfat", *command.split()],
        env=plain,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr


def test_a_package_that_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(
        InputError, match=r'^s3://a: needs no_such; accepted: pip install "longfat\[cluster\]"$'
    ):
        extras.load("no_such", "cluster", "s3://a")


def test_a_package_that_lacks_another_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacking.py").write_text("import no_such\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="'no_such'"):
        extras.load("lacking", "cluster", "s3://a")
