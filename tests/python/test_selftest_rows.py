"""How the table of the kernel's selftests compares one simulated value with several live ones."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation" / "live"))

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
