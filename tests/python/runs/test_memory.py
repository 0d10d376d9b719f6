"""Work and memory are bounded: what cannot fit is refused before it runs; what nobody could foresee ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import large_runs
from longfat import documents
from longfat.cli.app import app
from longfat.errors import InputError, MemoryExceeded, ScenarioError
from longfat.runs import memory, pool, simulate
from longfat.scenario.model import Scenario
from samples import table as scenario

ROOT = Path(__file__).parents[3]
GB = 1e9
TRANSFER_BYTES = 96
"""A complete connection: 56 bytes in a list, then five columns of 8 bytes."""


@pytest.fixture(autouse=True)
def _default() -> Iterator[None]:
    yield
    memory.give(None)


def flow(**keys: Any) -> dict[str, Any]:
    return {"algorithm": "reno", "rtt": "42 ms"} | keys


def web(**keys: Any) -> dict[str, Any]:
    return {"kind": "web", "sessions": 1, "gap": "1 s"} | keys


def codel() -> dict[str, Any]:
    return {"rate": "10 Mbit/s", "buffer": "1000000 packets", "queue": "codel"}


REFUSED: dict[str, dict[str, Any]] = {
    "flow.0.initial_window": {"flow": [flow(initial_window=1e9)]},
    "flow.1.initial_window": {
        "bottleneck": codel(),
        "flow": [flow(), flow(initial_window=1e6, count=200)],
    },
    "background.0.gap": {"background": [web(gap="1 us")]},
    "background.1.gap": {"background": [web(), web(sessions=100_000, gap="1 ms")]},
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_cannot_fit_is_refused_with_the_key_that_asks_for_most_and_its_value(key: str) -> None:
    memory.give(20 * GB)
    with pytest.raises(
        InputError,
        match=rf"^scenario: {key} = [0-9.\" ums]*: .* of memory, .* has 20 GB; accepted: .*, or more",
    ) as refused:
        simulate.run(scenario(duration="60 s", **REFUSED[key]))
    assert refused.value.exit_code == 2
    assert "--memory" in str(refused.value)
    if found := re.search(r"accepted: up to about (\d+), ", str(refused.value)):
        kept = {**REFUSED[key]}
        *_, last = kept["flow"]
        kept["flow"] = [*kept["flow"][:-1], {**last, "initial_window": int(found[1])}]
        assert 19 * GB < memory.estimate(Scenario(scenario(duration="60 s", **kept)))[0] <= 20 * GB
    else:
        assert "accepted: a longer one, or" in str(refused.value)


def test_a_key_that_follows_from_another_is_named_as_the_scenario_has_it() -> None:
    slow = {"reverse_rate": "50 Mbit/s", "reverse_buffer": "1000000 packets"}  # acknowledgements wait there
    greedy = {"rate": "1 Gbit/s", "buffer": "100 packets"} | slow
    memory.give(0.08 * GB)
    with pytest.raises(InputError, match=r"^scenario: bottleneck\.reverse_buffer = \"1000000 packets\": "):
        simulate.run(scenario(duration="60 s", bottleneck=greedy))


def test_scenarios_of_the_repository_need_little() -> None:
    for file in sorted(ROOT.glob("scenarios/*.toml")):
        assert memory.estimate(Scenario.load(file))[0] < 0.5 * GB, file


MEASURED: dict[str, dict[str, Any]] = {
    "flows": {"duration": "1 s", "flow": [flow(count=5000)], "sample": {"cwnd": "0.5 s"}},
    "first windows": {"duration": "1 s", "flow": [flow(initial_window=1e6)]},
    "queue": {"duration": "3 s", "bottleneck": codel(), "flow": [flow(initial_window=1e5, count=5)]},
    "samples": {"duration": "100 s", "sample": {"cwnd": "0.0005 s", "queue": "0.0005 s"}},
    "internals": {
        "duration": "50 s",
        "flow": [flow(algorithm="bbr3")],
        "sample": {"cwnd": "0.0005 s", "internals": True},
    },
    "rack": {
        "duration": "4 s",
        "bottleneck": {"rate": "1 Gbit/s", "buffer": "2000 packets"},
        "background": [
            {"kind": "bulk", "flows": 3000, "rtt": "100 ms", "algorithm": algorithm, "stack": "linux"}
            for algorithm in ("reno", "bbr")
        ],
    },
    "connections": {"duration": "10 s", "background": [web(gap="1 ms", sessions=2)]},
    "sessions": {"duration": "1 s", "background": [web(sessions=100_000, gap="1000 s")]},
    "bulk": {"duration": "1 s", "background": [{"kind": "bulk", "flows": 20_000}]},
}


@pytest.mark.parametrize("case", MEASURED)
def test_a_run_takes_less_than_estimated(case: str, tmp_path: Path) -> None:
    taken, expected = large_runs.taken_and_expected(scenario(**MEASURED[case]), tmp_path)
    assert taken > 5e6  # it shows something
    assert taken < expected < 20 * taken + 0.2 * GB


@pytest.mark.parametrize("number", range(7))
def test_the_estimate_of_a_large_run_is_not_far_above_what_it_takes(number: int, tmp_path: Path) -> None:
    taken, expected = large_runs.taken_and_expected(large_runs.scenario(number), tmp_path)
    assert taken < expected < 1.5 * taken


def test_events_are_in_the_estimate(tmp_path: Path) -> None:
    lossy = {"rate": "1 Gbit/s", "buffer": "100 packets", "loss": 0.05}
    noted = {"duration": "60 s", "bottleneck": lossy, "flow": [flow(rtt="1 ms", count=20)]}
    sizes = [
        large_runs.taken_and_expected(scenario(**noted, sample={"events": events}), tmp_path)
        for events in (False, True)
    ]
    (without, _), (taken, expected) = sizes
    assert without + 5e6 < taken < expected
    memory.give(sizes[0][1] + 1e6)
    with pytest.raises(InputError, match=r"^scenario: sample\.events = true: "):
        simulate.run(scenario(**noted, sample={"events": True}))


def test_long_files_leave_no_room_behind_in_later_connections(tmp_path: Path) -> None:
    files = {"kind": "short", "gap": "1 ms", "rtt": "40 ms"}
    fast = {"rate": "1 Gbit/s", "buffer": "1000 packets"}
    first, last = (
        large_runs.taken_and_expected(
            scenario(duration=duration, bottleneck=fast, background=[files]), tmp_path
        )[0]
        for duration in ("5 s", "20 s")
    )
    # 15,000 more transfers; with the rings of all earlier long files it was 8 MB more
    assert last < first + 15_000 * TRANSFER_BYTES + 2e6


def test_connections_free_their_memory_when_they_are_over_not_at_samples(tmp_path: Path) -> None:
    pages = {"kind": "web", "sessions": 2000, "gap": "500 ms", "page": "1 kB", "rtt": "10 ms"}
    fast = {"rate": "1 Gbit/s", "buffer": "1000 packets"}
    changes = {"duration": "20 s", "bottleneck": fast, "background": [pages]}
    often, seldom = (
        large_runs.taken_and_expected(scenario(**changes, sample={"cwnd": cwnd}), tmp_path)[0]
        for cwnd in ("1 s", "20 s")
    )
    assert seldom < 1.1 * often


@pytest.mark.parametrize("own", ["1e9", "1e7"])
def test_a_run_that_takes_more_than_it_may_ends_with_one_line(own: str, tmp_path: Path) -> None:
    # no plan tells which window an algorithm of one's own will set
    (tmp_path / "own.py").write_text(
        "class Greedy:\n"
        "    def on_ack(self, ack, window):\n"
        f"        window.cwnd = {own}\n"
        "    def on_congestion(self, event, window):\n"
        "        pass\n"
    )
    memory.give(0.2 * GB)
    greedy = Scenario.from_dict(scenario(flow=[flow(algorithm="own.py:Greedy")]), base=tmp_path)
    with pytest.raises(
        MemoryExceeded, match=r"more than the 0\.2 GB of memory that it has; --memory"
    ) as ended:
        simulate.run(greedy)
    assert ended.value.exit_code == 1


def test_an_algorithm_that_meets_no_loss_does_not_fill_the_memory() -> None:
    # Hybla's slow-start multiplies the window by 2^18 for each round trip here; nobody tells it of losses
    lying = flow(algorithm="hybla", rtt="458 ms", receiver={"conceal_losses": True})
    slow = {"rate": "233 kbit/s", "buffer": "20 packets"}
    memory.give(1.0 * GB)
    result = simulate.run(Scenario.from_dict(scenario(duration="60 s", bottleneck=slow, flow=[lying])))
    assert result.summary["flows"][0]["packets_sent"] > 1e6


def command(*arguments: Any) -> tuple[int, str]:
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments], standalone_mode=False)
    return ended.exit_code, str(ended.exception or "")


def test_memory_takes_a_size(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(Scenario.from_dict(scenario(duration="1 s")).to_toml())
    assert command("run", file, "--memory", "8GiB") == (0, "")
    assert memory.given() == 8 * 2**30
    for wrong in ("8", "8 GHz", "1 kB", "much"):
        code, said = command("run", file, "--memory", wrong)
        assert code != 0
        assert "accepted: " in said


def test_memory_refuses_a_run_that_it_does_not_hold(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(Scenario.from_dict(scenario(duration="1 s", flow=[flow(initial_window=2e6)])).to_toml())
    code, said = command("run", file, "--memory", "100 MB")
    assert code == 1  # click's own code: the line and 2 come from `end_code`
    assert "flow.0.initial_window" in said
    assert "has 100 MB" in said


def _share(_: int) -> float:
    return memory.given()


def test_workers_share_the_memory() -> None:
    memory.give(8 * GB)
    assert [share for _, share in pool.map_unordered(_share, range(2), jobs=4)] == [2 * GB, 2 * GB]
    assert [share for _, share in pool.outcomes(_share, range(1), 4, memory_bytes=1 << 30)] == [1 << 30]


def test_without_a_size_it_is_a_share_of_what_is_free() -> None:
    assert 0.0 < memory.given() < memory.SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert memory.given(2) < memory.given()


@pytest.fixture
def quick() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < 10.0


@pytest.mark.usefixtures("quick")
def test_a_wide_table_of_hstcp_is_not_computed_in_advance() -> None:
    for table in ("nearest", "interpolated", "closest"):
        wide = {"table": table, "high_window": 1e8, "high_p": 1e-6}
        algorithm = {"name": "hstcp", **wide}
        simulate.run(scenario(duration="5 s", flow=[flow(algorithm=algorithm)]))


@pytest.mark.usefixtures("quick")
def test_equal_names_among_many_flows_are_found_at_once() -> None:
    flows = [flow(count=50_000), flow(name="50000"), flow(count=49_000)]
    with pytest.raises(ScenarioError, match='two flows or backgrounds are called "50000"'):
        Scenario.from_dict(scenario(flow=flows))


def rate(path: Path) -> dict[str, Any]:
    return {"bottleneck": {"rate": {"trace": str(path)}, "buffer": "100 packets"}}


def rtt(path: Path) -> dict[str, Any]:
    return {"flow": [flow(rtt={"empirical": str(path)})]}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("table", [rate, rtt])
def test_a_trace_or_a_distribution_is_a_regular_file_of_limited_size(table: Any, tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.touch()
    os.truncate(large, 10**11)  # without any block on the disk
    for path, reason in (
        (Path("/dev/zero"), "not a regular file"),
        (pipe, "not a regular file"),
        (large, "more than .* MB"),
        (tmp_path, "."),
    ):
        with pytest.raises(ScenarioError, match=rf"{path}: {reason}.*accepted: a file"):
            Scenario.from_dict(scenario(**table(path)))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("arguments", [["run", "/dev/zero"], ["sweep", "/dev/zero"], ["run", "-"]])
def test_a_file_without_an_end_is_refused(arguments: list[str]) -> None:
    with open("/dev/zero", "rb") as endless:
        ended = subprocess.run(
            [sys.executable, "-c", "from longfat.__main__ import main; main()", *arguments],
            stdin=endless,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert ended.returncode == 2
    assert "more than 64 MB" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_scenario_may_come_through_a_pipe(tmp_path: Path) -> None:
    text = Scenario.from_dict(scenario(duration="1 s")).to_toml()
    read, write = os.pipe()
    os.write(write, text.replace("\n", "\r\n").encode())
    os.close(write)
    try:
        assert Scenario.load(f"/dev/fd/{read}").duration == 1.0
    finally:
        os.close(read)


def test_a_name_of_a_file_with_a_nul_is_an_error_of_that_file() -> None:
    with pytest.raises(OSError, match="NUL"):
        documents.text("a\0b")
