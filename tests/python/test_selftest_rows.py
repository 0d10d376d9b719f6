"""The tables of eBPF objects: a simulated value is put beside several live ones, and no row gets lost."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation" / "live"))

import matrix
import selftests


def test_a_value_within_what_live_runs_span_does_not_differ_and_one_outside_differs_by_its_distance() -> None:
    assert selftests.beyond(5.0, [4.0, 7.0, 6.0]) == 0.0
    assert selftests.beyond(5.0, [5.5, 7.0]) == pytest.approx(0.1)
    assert selftests.beyond(5.0, [4.0, 4.5]) == pytest.approx(-0.1)
    assert selftests.beyond(5.0, [5.25]) == pytest.approx(0.05)


def test_one_live_run_is_written_as_it_is_and_several_as_their_range() -> None:
    assert selftests.span([6.15]) == "6.15"
    assert selftests.span([7.84, 4.47, 6.17]) == "4.47 to 7.84"


def test_only_an_object_that_noise_moves_between_states_runs_live_several_times() -> None:
    seeds = {
        name: list(selftests.SelftestPath(Path(f"{name}.bpf.o"), 1, 10.0, 65, 0.74).seeds)
        for name in selftests.SELFTESTS
    }
    assert seeds == {"bpf_cubic": [1], "bpf_cc_cubic": [1, 2, 3], "bpf_dctcp": [1]}


def test_only_simulated_receivers_are_told_to_compress_sack_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(selftests.longfat, "run", given.append)
    monkeypatch.setattr(selftests.Run, "of", lambda _: None)
    path = selftests.SelftestPath(Path("bpf_cc_cubic.bpf.o"), 1, 10.0, 65, 0.74)
    path.simulated()
    assert given[0]["flow"][0]["sack_compression"] == "1 ms"
    assert "sack_compression" not in path.scenario(1)["flow"][0]


def test_rows_of_the_page_whose_live_runs_are_elsewhere_are_named_before_they_are_lost() -> None:
    page = matrix.PAGE.read_text()
    lost = matrix.lost_rows([], page)
    assert "hstcp, 10, 1 flow" in lost
    assert "africa, 250, 2 flows" in lost  # marked with an asterisk
    assert matrix.lost_rows([], page.partition(matrix.OBJECT_MARKS[0])[0]) == []


def test_a_page_is_not_written_without_the_rows_that_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = matrix.PAGE.read_text()
    if len(list((matrix.ROOT / "bpf" / "out").glob("lf_*.o"))) < len(
        list((matrix.ROOT / "bpf").glob("lf_*.c"))
    ):
        pytest.skip("the objects are not built (make bpf)")
    code = matrix.main(["--objects", "--no-run", "--write", "--kept", str(tmp_path)])
    assert (code, matrix.PAGE.read_text()) == (2, before)
    assert "would be lost" in capsys.readouterr().err
