"""The short form of the front's fuzz targets and of the changed bits; `make fuzz` and `make flips` go on."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from longfat import errors
from longfat.store import whole

FUZZ = Path(__file__).parents[3] / "fuzz"


@pytest.fixture(scope="module")
def fuzz() -> Any:
    """The modules of fuzz/, which import each other by name."""
    sys.path.insert(0, str(FUZZ))
    yield {name: load(name) for name in ("front", "flips", "run")}
    sys.path.remove(str(FUZZ))
    for name in ("front", "flips", "run"):
        sys.modules.pop(name, None)


def load(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(name, FUZZ / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # dataclasses look for their module there
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", ["scenario", "trace", "sweep"])
def test_hostile_input_ends_with_a_result_or_a_line(target: str, fuzz: Any, tmp_path: Path) -> None:
    told = fuzz["front"].campaign(target, 2.0, tmp_path / "corpus", tmp_path / "findings")
    assert told["findings"] == 0, "".join(path.read_text() for path in (tmp_path / "findings").iterdir())
    assert told["executions"] > 0


def test_sixty_changed_bits_anywhere_never_give_another_result(fuzz: Any, capsys: Any) -> None:
    assert fuzz["flips"].main(60, 1) == 0
    assert "wrong: 0" in capsys.readouterr().out


def test_a_changed_bit_that_is_not_noticed_would_be_a_finding(fuzz: Any) -> None:
    right = [(0, "a table"), (0, "another")]
    assert not fuzz["flips"].wrong(right, [(0, "a table"), (1, "")])
    assert fuzz["flips"].wrong(right, [(0, "a table"), (0, "an other")])


def test_a_command_that_ends_in_another_way_is_a_finding(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    front = fuzz["front"]
    monkeypatch.setattr(front, "end_code", lambda: 1)
    with pytest.raises(front.Finding, match="without an error"):
        front.longfat("claims", tmp_path)
    monkeypatch.setattr(front, "read_trace", lambda file: [3, 2])
    told = front.campaign("trace", 5.0, tmp_path / "corpus", tmp_path / "findings")
    assert told["findings"] == 1
    assert "times that no link has" in next((tmp_path / "findings").iterdir()).read_text()


def test_a_finding_is_told_with_what_its_panic_says(fuzz: Any) -> None:
    told = fuzz["run"].told
    log = "INFO: Seed: 1\n\nthread 'a' (12) panicked at src/capacity.rs:31:13:\n{}\nstack backtrace:\n"
    assert told(log.format("37384 bits of 0")) == ": 37384 bits of 0"
    assert told(log.format(1000 * "long")) == ": " + 75 * "long"
    assert told("ALARM: working on the last Unit for 61 seconds\n") == ""


def test_sums_of_fuzzing_grow_and_their_table_has_a_row_for_each_target(fuzz: Any) -> None:
    run = fuzz["run"]
    sums = run.added({}, {"plan": run.Outcome(1000, 1800.0, 1)})
    sums = run.added(sums, {"plan": run.Outcome(500, 1800.0, 0), "store": run.Outcome(7, 60.0, 0)})
    assert sums["plan"] == {"executions": 1500, "seconds": 3600, "findings": 1}
    table = run.table(sums).splitlines()
    assert len(table) == 2 + len(run.CORE) + len(run.FRONT)
    assert any("`plan`" in row and "| 1,500 | 1.00 | 1 |" in row for row in table)


def test_the_page_has_the_sums_of_fuzzing(fuzz: Any) -> None:
    run = fuzz["run"]
    page = run.PAGE.read_text(encoding="utf-8")
    assert run.table(run.totals()) in page


def test_a_changed_bit_of_any_listed_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    whole.write_json(file, {"claims": list(range(20))}, way=whole.listed)
    content = file.read_bytes()
    for position in np.random.default_rng(3).integers(8 * len(content), size=60).tolist():
        changed = bytearray(content)
        changed[position // 8] ^= 1 << (position % 8)
        file.write_bytes(bytes(changed))
        with pytest.raises(errors.LongfatError, match="damaged: not what SHA256SUMS says"):
            whole.read_text(file)
    file.write_bytes(content)
    assert json.loads(whole.read_text(file)) == {"claims": list(range(20))}
