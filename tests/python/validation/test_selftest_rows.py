"""The tables of eBPF objects: a simulated value is put beside several live ones, and no row gets lost."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "validation" / "live"))

import matrix
import selftests


def test_one_run_on_each_side_differs_by_what_the_live_one_is_away() -> None:
    assert selftests.apart([5.0], [5.25]) == pytest.approx(0.05)
    assert selftests.apart([5.0], [4.0]) == pytest.approx(-0.2)


def test_of_several_runs_the_median_of_each_side_has_to_be_in_the_range_of_the_other() -> None:
    assert selftests.apart([4.5, 5.0, 6.5], [4.0, 6.0, 7.0]) == 0.0
    # a wide range on one side is not enough
    assert selftests.apart([5.0, 5.0, 5.0], [4.0, 6.0, 7.0]) == pytest.approx(0.2)
    assert selftests.apart([4.0, 8.0, 8.0], [5.0, 5.0, 5.0]) == pytest.approx(-0.375)


def test_one_run_is_written_as_it_is_and_several_as_their_median_and_range() -> None:
    assert selftests.span([6.15]) == "6.15"
    assert selftests.span([7.84, 4.47, 6.17]) == "6.17 (4.47 to 7.84)"


def test_values_of_several_runs_are_counted_apart_from_those_near_one_live_run() -> None:
    text = selftests.summary([("bpf_cubic", 2), ("bpf_cc_cubic", 1), ("bpf_dctcp", 1), ("bpf_cc_cubic", 2)])
    assert text.startswith("3 of 4 values with one live run are within their bounds (5 %, 10 %); ")
    assert "3 of 4 values of bpf_cc_cubic, with 3 live runs and 5 seeds of the simulator" in text


@pytest.mark.parametrize(
    "asked",
    [
        ["--paths", "2"],
        ["--tail"],
        ["--paths", "0"],
        ["--only", "bpf_cubic", "bpf_cubic", "bpf_cubic"],
        ["--jobs", "0"],
    ],
)
def test_a_part_of_the_selftests_is_refused_before_anything_runs(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        selftests.main([*asked, "--write"])
    assert ended.value.code == 2
    assert "take" in capsys.readouterr().err.splitlines()[-1]


def test_a_table_that_lacks_a_row_of_the_page_is_refused() -> None:
    page = selftests.PAGE.read_text().partition(selftests.MARKS[0])[2].partition(selftests.MARKS[1])[0]
    assert matrix.refusal(page, selftests.MARKS, selftests.NAMED_BY) is None
    without = "".join(line for line in page.splitlines(keepends=True) if not line.startswith("| 3 | "))
    refused = matrix.refusal(without, selftests.MARKS, selftests.NAMED_BY)
    assert refused is not None
    assert "would lose 3 of its rows (3 bpf_cc_cubic, 3 bpf_cubic, 3 bpf_dctcp)" in refused


def test_only_an_object_that_noise_moves_between_states_runs_live_several_times_and_alone() -> None:
    chosen = [selftests.SelftestPath(Path(f"{n}.bpf.o"), 1, 10.0, 65, 0.74) for n in selftests.SELFTESTS]
    seeds = {path.algorithm: list(path.seeds) for path in chosen}
    assert seeds == {"bpf_cubic": [1], "bpf_cc_cubic": [1, 2, 3], "bpf_dctcp": [1]}
    assert {path.algorithm: path.jobs for path in chosen} == {
        "bpf_cubic": 2,
        "bpf_cc_cubic": 1,
        "bpf_dctcp": 2,
    }


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The scenarios that the simulator would have run."""
    scenarios: list[dict[str, Any]] = []
    monkeypatch.setattr(selftests.longfat, "run", scenarios.append)
    monkeypatch.setattr(selftests.Run, "of", lambda _: None)
    return scenarios


def late_by(*lateness_s: float) -> selftests.Run:
    return selftests.Run({"validity": {"lateness_s": list(lateness_s)}}, [])


def test_only_simulated_receivers_are_told_to_compress_sack_blocks(given: list[dict[str, Any]]) -> None:
    path = selftests.SelftestPath(Path("bpf_cubic.bpf.o"), 1, 10.0, 65, 0.74)
    assert len(path.simulated([late_by(1e-5, 1e-4, 1e-3)])) == 1
    assert given[0]["flow"][0]["sack_compression"] == "1 ms"
    assert "sack_compression" not in path.scenario(1)["flow"][0]
    assert "added_delay" not in given[0]["bottleneck"]


def test_beside_several_live_runs_simulated_packets_are_late_as_theirs(given: list[dict[str, Any]]) -> None:
    path = selftests.SelftestPath(Path("bpf_cc_cubic.bpf.o"), 1, 10.0, 65, 0.74)
    path.simulated([late_by(1e-5, 1e-4, 1e-3), late_by(9e-5, 3e-4, 9e-3), late_by(2e-5, 2e-4, 4e-3)])
    assert [each["seed"] for each in given] == [1, 2, 3, 4, 5]
    assert {each["bottleneck"]["jitter"] for each in given} == {"40 us"}
    assert {each["flow"][0]["sack_compression"] for each in given} == {"1 ms"}


def test_with_their_tail_a_few_packets_are_as_late_as_the_latest_of_the_live_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traces = []

    def run(scenario: dict[str, Any]) -> None:
        traces.append(Path(scenario["bottleneck"]["added_delay"]["trace"]).read_text())
        assert scenario["flow"][0]["sack_compression"] == "1 ms"

    monkeypatch.setattr(selftests.longfat, "run", run)
    monkeypatch.setattr(selftests.Run, "of", lambda _: None)
    path = selftests.SelftestPath(Path("bpf_cc_cubic.bpf.o"), 1, 10.0, 65, 0.74)
    path.simulated(
        [late_by(1e-5, 1e-4, 1e-3), late_by(9e-5, 3e-4, 9e-3), late_by(2e-5, 2e-4, 4e-3)], tail=True
    )
    assert len(set(traces)) == 5
    late_ms = sorted(float(line.split()[1]) for line in traces[0].splitlines())
    assert len(late_ms) == 33_333  # 40 s of packets that take 1.2 ms each
    assert late_ms[len(late_ms) // 2] == pytest.approx(0.02, rel=0.05)
    assert late_ms[len(late_ms) * 99 // 100] == pytest.approx(0.2, rel=0.25)
    assert 1.0 < late_ms[-1] <= 4.0


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the page, for `matrix` to read and write, with this kernel's name."""
    if len(list((matrix.ROOT / "bpf" / "out").glob("lf_*.o"))) < len(
        list((matrix.ROOT / "bpf").glob("lf_*.c"))
    ):
        pytest.skip("the objects are not built (make bpf)")
    copy = tmp_path / matrix.PAGE.name
    head, mark, rest = matrix.PAGE.read_text().partition(matrix.OBJECT_MARKS[0])
    copy.write_text(
        head + mark + re.sub(r"Linux [^;]*;", lambda _: f"Linux {matrix.kernel()};", rest, count=1)
    )
    monkeypatch.setattr(matrix, "PAGE", copy)
    return copy


WRITE = ["--objects", "--no-run", "--write", "--kept"]


def test_rows_whose_live_runs_are_elsewhere_stay_on_the_page_as_they_are(page: Path, tmp_path: Path) -> None:
    before = page.read_text()
    matrix.main([*WRITE, str(tmp_path / "kept")])
    assert page.read_text() == before
    assert "agree in every value" in before.partition(matrix.OBJECT_MARKS[0])[2]


def test_a_row_that_was_run_replaces_that_of_the_page_and_counts_anew(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = page.read_text()
    agreeing = re.compile(r"; (\d+) of (\d+) rows agree in every value")
    old = agreeing.search(before.partition(matrix.OBJECT_MARKS[0])[2])
    assert old is not None

    def run(case: matrix.Case, *_: object) -> matrix.Row | None:
        if (case.network.name, case.flows, case.algorithm) != ("10", 1, "hstcp"):
            return None
        return matrix.Row(case, [matrix.Figure("cwnd", "1", "9", "+800.0 %", False)], "a test")

    monkeypatch.setattr(matrix, "row", run)
    matrix.main([*WRITE, str(tmp_path / "kept")])
    objects = page.read_text().partition(matrix.OBJECT_MARKS[0])[2]
    new = agreeing.search(objects)
    assert new is not None
    assert (int(new[1]), int(new[2])) == (int(old[1]) - 1, int(old[2]))
    assert "| hstcp | 1, 9 | **+800.0 %** | a test |\n" in objects
    changed = set(before.splitlines()) ^ set(page.read_text().splitlines())
    assert len(changed) == 4  # the row and the line that counts, before and after


def test_the_table_of_the_kernels_own_algorithms_keeps_all_its_rows(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = page.read_text()
    assert matrix.main(["--no-run", "--write", "--kept", str(tmp_path / "kept")]) == 2
    assert page.read_text() == before
    assert re.search(r"would lose \d+ of its rows \(.*\); nothing was written", capsys.readouterr().err)


def test_a_row_without_an_explanation_stays_unexplained_once_it_is_written() -> None:
    case = next(iter(matrix.cases()))
    row = matrix.Row(case, [matrix.Figure("cwnd", "1", "9", "+800.0 %", False)], "")
    written = matrix.WrittenRow(case, row.line)
    assert written.disagrees
    assert (row.why, written.why) == ("", "")
    assert matrix.WrittenRow(case, row.line.replace(matrix.UNEXPLAINED, "noise")).why == "noise"


def test_a_row_with_losses_is_another_than_one_without() -> None:
    with_losses = next(case for case in matrix.cases() if case.loss_every is not None)
    line = matrix.Row(with_losses, [], "").line
    page = (
        f"{matrix.MARKS[0]}\n{with_losses.network.title(with_losses.flows)}:\n\n{line}\n\n{matrix.MARKS[1]}"
    )
    assert matrix.on_the_page(with_losses, page, matrix.MARKS) is not None
    without = page.replace(f"{with_losses.algorithm} *", with_losses.algorithm)
    assert without != page
    assert matrix.on_the_page(with_losses, without, matrix.MARKS) is None


def test_rows_of_another_kernel_are_refused_before_anything_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = page.read_text()
    monkeypatch.setattr(matrix.platform, "release", lambda: "9.9.9-1")
    monkeypatch.setattr(matrix, "measure", lambda *_: pytest.fail("nothing may run"))
    some = ["--objects", "--only", "hstcp", "--write", "--kept", str(tmp_path / "kept")]
    assert matrix.main(some) == 2
    assert page.read_text() == before
    assert "nothing was written" in capsys.readouterr().err


def test_builds_of_one_version_are_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    page = f"{matrix.OBJECT_MARKS[0]}\nLinux 6.18.44-a; 1 of 1 rows agree."
    for release, other in (("6.18.44-a", None), ("6.18.44-b", "6.18.44-a")):
        monkeypatch.setattr(matrix.platform, "release", lambda release=release: release)
        assert matrix.other_kernel(page) == other


def test_rows_of_another_kernel_are_neither_mixed_nor_lost(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = page.read_text()
    monkeypatch.setattr(matrix.platform, "release", lambda: "9.9.9-1")
    assert matrix.main([*WRITE, str(tmp_path / "kept")]) == 2
    assert page.read_text() == before
    assert "this is Linux 9.9.9-1; nothing was written" in capsys.readouterr().err
