"""Messages of the commands for wrong inputs: which one, what is wrong, and what would be accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from samples import table


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a scenario and some things that are not results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(tomli_w.dumps(table(duration="1 s")))
    (tmp_path / "broken.toml").write_text("duration = s\n")
    (tmp_path / "empty").mkdir()
    for kind in ("suite", "sweep"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{kind}.json").write_text("{}")
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("report nope", "nope: No such file or directory; accepted: a folder of results"),
        ("report a.toml", "a.toml: Not a directory; accepted: a folder of results"),
        ("results nope", "nope: No such file or directory; accepted: a folder of results"),
        ("claims nope", "nope: No such file or directory; accepted: a folder of results"),
        ("report", "DIR is missing; usage: longfat report [OPTIONS] DIR"),
        ("run a.toml b.toml", "Got unexpected extra argument (b.toml); usage: longfat run [OPTIONS] [FILE]"),
        ("list queues x", "Got unexpected extra argument (x); usage: longfat list queues [OPTIONS]"),
        (
            "run --reapeats 2 a.toml",
            '--reapeats: there is no such option, did you mean "--repeats"?; '
            "accepted: what `longfat run --help` lists",
        ),
        (
            "bpf chek",
            'chek: there is no such command, did you mean "check"?; accepted: what `longfat bpf --help` '
            "lists",
        ),
        (
            "swep",
            'swep: there is no such command, did you mean "sweep"?; accepted: what `longfat --help` lists',
        ),
        ("run a.toml --seed x", '--seed "x": this is not a whole number; accepted: a whole number'),
        ("assess cubic --jobs 0", '--jobs "0": it is out of range; accepted: a whole number from 1 on'),
        (
            "run a.toml --traffic ipref3",
            '--traffic "ipref3": there is no such choice, did you mean "iperf3"?; '
            'accepted: "longfat" or "iperf3"',
        ),
        (
            "run a.toml --memory x",
            '--memory "x": this is not a size; accepted: a number and a unit such as "1500 B"',
        ),
        ("run a.toml --out", "--out: its value is missing; accepted: --out and a value"),
        ("run a.toml --json=1", "--json: it takes no value; accepted: --json alone"),
        (
            "sweep broken.toml",
            "broken.toml: this is not TOML: Invalid value (at line 1, column 12); "
            "accepted: a sweep file (TOML)",
        ),
        (
            "plot nope",
            "nope: No such file or directory; accepted: a folder written by `longfat run --out`, `sweep` or "
            "`compare`",
        ),
        ("report suite", "suite/suite.json: damaged: it has no suite; accepted: what a command wrote there"),
        (
            "report sweep",
            "sweep/sweep.json: this is not a stored sweep; accepted: what `longfat sweep` wrote",
        ),
        (
            "run a.toml --window 1",
            '--window "1": these are not two times; accepted: two times such as "100 s,600 s"',
        ),
        ("run a.toml --warmup 3", '--warmup "3": a time needs a unit; accepted: "3 s"'),
        (
            "compare cubic --stack linx",
            '--stack "linx": there is no such stack, did you mean "linux"?; '
            'accepted: "rfc", "linux", "linux-2.6.6-altaimd", '
            '"linux-2.6.16", "ns-2" or "quic"',
        ),
        (
            "compare cubic --path nope",
            "--path nope: No such file or directory; accepted: a file, "
            "or a scenario file whose name ends in .toml",
        ),
    ],
)
def test_a_wrong_input_is_one_line_that_says_what_is_accepted(longfat: Any, asked: str, said: str) -> None:
    assert longfat(*asked.split()) == (2, "", f"error: {said}\n")


@pytest.mark.usefixtures("here")
def test_broken_toml_of_a_scenario_is_shown_with_its_line(longfat: Any) -> None:
    code, out, err = longfat("run", "broken.toml")
    assert (code, out) == (2, "")
    first, place, _, line, _ = err.splitlines()
    assert first == "error: a text has no quotes"
    assert place == " --> broken.toml:1:12"
    assert line == "1 | duration = s"


NO_OBJECT = "damaged: it is no JSON object in UTF-8; accepted: what a command wrote there"
NO_SWEEP = "this is not a stored sweep; accepted: what `longfat sweep` wrote"
DAMAGE = [b"", b'{"format": 1, "ax', b"[]", b"null", b"3", b"\xff\xfe", b"[" * 100_000]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: repr(damage[:8]))
@pytest.mark.parametrize(
    ("asked", "file", "said"),
    [
        ("report x", "summary.json", NO_OBJECT),
        ("report x", "suite.json", NO_OBJECT),
        ("report x", "compare.json", NO_OBJECT),
        ("report x", "dossier.json", NO_OBJECT),
        ("report x", "crosscheck.json", NO_OBJECT),
        ("report x", "sweep.json", NO_SWEEP),
        ("results x", "sweep.json", NO_SWEEP),
        ("plot x --x time_s --y cwnd", "summary.json", NO_OBJECT),
        ("plot x --x seed --y jain", "sweep.json", NO_SWEEP),
    ],
)
def test_a_damaged_file_of_results_is_named_in_one_line(
    longfat: Any, here: Path, asked: str, file: str, said: str, damage: bytes
) -> None:
    (here / "x").mkdir()
    (here / "x" / file).write_bytes(damage)
    assert longfat(*asked.split()) == (2, "", f"error: x/{file}: {said}\n")


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: repr(damage[:8]))
def test_damage_behind_digests_has_exit_code_1_and_without_them_2(
    longfat: Any, here: Path, damage: bytes
) -> None:
    assert longfat("run", "a.toml", "--out", "x")[0] == 0
    for file in ("summary.json", "provenance.json"):
        whole = (here / "x" / file).read_bytes()
        (here / "x" / file).write_bytes(damage)
        said = "damaged: not what SHA256SUMS says; repeat the run to make it again"
        assert longfat("report", "x") == (1, "", f"error: x/{file}: {said}\n")
        (here / "x" / "SHA256SUMS").rename(here / "digests")
        assert longfat("report", "x") == (2, "", f"error: x/{file}: {NO_OBJECT}\n")
        (here / "digests").rename(here / "x" / "SHA256SUMS")
        (here / "x" / file).write_bytes(whole)
    (here / "x" / "SHA256SUMS").unlink()
    (here / "x" / "SHA256SUMS").mkdir()
    assert longfat("report", "x") == (1, "", "error: x/SHA256SUMS: Is a directory\n")


def test_a_sweep_whose_provenance_is_no_table_is_refused_in_one_line(longfat: Any, here: Path) -> None:
    (here / "sweep" / "sweep.json").write_text('{"format": 9, "provenance": 3}')
    said = (
        "it was made by Longfat of a later version, which is newer; accepted: sweeps of this version or older"
    )
    assert longfat("results", "sweep") == (2, "", f"error: sweep/sweep.json: {said}\n")
