"""The options of `longfat.run`: repeats, captures and logs, and what it refuses."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any, assert_type

import pytest

import longfat
from longfat import Capture, Qlog, Results
from longfat.errors import InputError
from longfat.runs import simulate
from longfat.runs.repeats import aggregate

LOSSY: dict[str, Any] = {
    "duration": "3 s",
    "seed": 7,
    "bottleneck": {"rate": "5 Mbit/s", "loss": 0.01},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}


def cwnd(result: longfat.Result) -> bytes:
    return result.flow("1")["cwnd"].tobytes()


WEB: dict[str, Any] = LOSSY | {"background": [{"kind": "web", "sessions": 3}]}


def without_time(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key != "performance"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_repeats_have_seeds_that_go_up_by_one(jobs: int) -> None:
    results = longfat.run(LOSSY, repeats=3, jobs=jobs)
    assert [result.summary["seed"] for result in results] == [7, 8, 9]
    assert [cwnd(result) for result in results] == [cwnd(longfat.run(LOSSY, seed=7 + i)) for i in range(3)]
    assert [result.scenario.seed for result in longfat.run(LOSSY, seed=20, repeats=2, jobs=jobs)] == [20, 21]


def test_repeats_are_those_of_the_command(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(longfat.Scenario.from_dict(LOSSY).to_toml())
    results = longfat.run(file, repeats=3, jobs=1)
    code, said, _ = request.getfixturevalue("longfat")("run", file, "--repeats", 3, "--json")
    printed = json.loads(said)
    assert code == 0
    assert [without_time(run) for run in printed["runs"]] == [without_time(r.summary) for r in results]
    assert printed["mean"] == results.summary["mean"]
    assert printed["stderr"] == results.summary["stderr"]


def test_the_command_repeats_with_the_same_function(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(longfat.Scenario.from_dict(LOSSY).to_toml())
    whole, asked = simulate.repeats, []

    def counted(scenario: Any, number: int, **options: Any) -> Any:
        asked.append(number)
        return whole(scenario, number, **options)

    monkeypatch.setattr(simulate, "repeats", counted)
    request.getfixturevalue("longfat")("run", file, "--repeats", 2, "--json")
    longfat.run(file, repeats=2, jobs=1)
    assert asked == [2, 2]


def test_one_repeat_is_a_sequence_too() -> None:
    (only,) = longfat.run(LOSSY, repeats=1)
    assert cwnd(only) == cwnd(longfat.run(LOSSY))


def test_repeats_are_a_sequence_with_a_summary() -> None:
    results = longfat.run(LOSSY, repeats=3, jobs=1)
    assert isinstance(results, Results)
    assert len(results) == 3
    assert cwnd(results[-1]) == cwnd(results[2])
    assert isinstance(results[1:], Results)
    assert [r.scenario.seed for r in results[1:]] == [8, 9]
    assert results.summary == aggregate([result.summary for result in results])
    assert repr(results) == "<Results: 3 of <Result: 1 flow, 3 s, seed 7>, seeds 7 to 9>"
    assert results[0] in results


def test_repeats_have_means_and_intervals_of_all_that_a_run_counts_and_times() -> None:
    results = longfat.run(WEB, repeats=4, jobs=1)
    mean, intervals = results.summary["mean"], results.intervals
    own = {"backend", "version", "seed", "duration_s", "window_s", "notes", "performance"}
    assert mean.keys() == intervals.keys() == results[0].summary.keys() - own
    for part in ("flows", "links", "background"):
        for row in (mean[part][0], intervals[part][0]):
            assert row.keys() == results[0].summary[part][0].keys()
    waits = [result.summary["links"][0]["sojourn_p95_s"] for result in results]
    assert mean["links"][0]["sojourn_p95_s"] == pytest.approx(sum(waits) / 4)
    assert intervals["links"][0]["sojourn_p95_s"][0] < sum(waits) / 4


def test_completion_times_have_means_over_repeats_where_each_run_has_transfers_of_the_size() -> None:
    results = longfat.run(WEB, repeats=4, jobs=1)
    tables = [result.summary["completion_times"] for result in results]
    sizes = {row["from_bytes"] for table in tables for row in table}
    means = results.summary["mean"]["completion_times"]
    assert [row["from_bytes"] for row in means] == sorted(sizes)
    seldom = 0
    for row, interval in zip(means, results.intervals["completion_times"], strict=True):
        of_size = [[each for each in table if each["from_bytes"] == row["from_bytes"]] for table in tables]
        counts = [each["transfers"] for each in itertools.chain(*of_size)]
        assert row["transfers"] == pytest.approx(sum(counts) / 4)
        assert (row["background"], interval["from_bytes"]) == ("web-1", (row["from_bytes"],) * 2)
        if all(of_size):
            assert row["p95_s"] == pytest.approx(sum(each["p95_s"] for (each,) in of_size) / 4)
        else:
            seldom += 1
            assert (row["p95_s"], interval["p95_s"]) == (None, None)
    assert 0 < seldom < len(means)


def test_exit_codes_have_no_mean_and_what_routers_count_has_one() -> None:
    summary: dict[str, Any] = {
        "flows": [],
        "links": [],
        "background": [],
        "completion_times": [],
        "metrics": {},
    }
    runs = [
        summary
        | {"programs": [{"name": "a", "command": ["a", "-b"], "exit_code": code, "end_s": end_s}]}
        | {"messages": {"sent": sent}}
        for code, end_s, sent in ((0, 1.0, 2), (1, 2.0, 4))
    ]
    for others, code in ((runs, None), (runs[:1] * 2, 0)):
        mean = aggregate(others)["mean"]
        assert mean["programs"][0]["exit_code"] == code
        assert mean["programs"][0]["command"] == ["a", "-b"]
    assert aggregate(runs)["mean"]["messages"] == {"sent": 3.0}
    assert aggregate(runs)["mean"]["programs"][0]["end_s"] == 1.5


def test_repeats_have_the_intervals_of_their_means() -> None:
    results = longfat.run(LOSSY, repeats=3, jobs=1)
    rates = [float(result.summary["flows"][0]["throughput_bps"]) for result in results]
    mean = sum(rates) / 3
    deviation = math.sqrt(sum((rate - mean) ** 2 for rate in rates) / 2)
    half = 4.302653 * deviation / math.sqrt(3)  # Student's t for two degrees of freedom
    (flow,) = results.intervals["flows"]
    assert flow["throughput_bps"] == pytest.approx((mean - half, mean + half), rel=1e-6)
    assert deviation > 0.0
    assert (flow["name"], flow["algorithm"], flow["rtt_s"]) == ("1", "reno", (0.02, 0.02))
    assert results.intervals["metrics"].keys() == results.summary["mean"]["metrics"].keys()
    (only,) = longfat.run(LOSSY, repeats=1).intervals["flows"]
    assert (only["name"], only["throughput_bps"]) == ("1", None)


@pytest.mark.parametrize("number", [1, 3])
def test_repeats_are_written_as_the_command_writes_them(
    number: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(longfat.Scenario.from_dict(LOSSY).to_toml())
    longfat.run(file, repeats=number, jobs=1).save(tmp_path / "python")
    ended = request.getfixturevalue("longfat")(
        "run", file, "--repeats", number, "--out", tmp_path / "command"
    )
    assert ended[0] == 0
    for name in ("flows.parquet", "links.parquet", "scenario.toml"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    page = longfat.run(file, repeats=number, jobs=1).report(tmp_path / "page")
    assert page.read_text(encoding="utf-8").startswith("<!")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"repeats": 0},
            "repeats = 0: this is no number of repeats; accepted: a whole number from 1 to 10000",
        ),
        (
            {"repeats": True},
            "repeats = true: this is no number of repeats; accepted: a whole number from 1 to 10000",
        ),
        (
            {"repeats": 2.0},
            "repeats = 2.0: this is no number of repeats; accepted: a whole number from 1 to 10000",
        ),
        ({"repeats": 10**400}, "repeats = "),
        ({"jobs": 2}, "jobs cannot be used without repeats"),
        ({"progress": True}, "progress cannot be used without repeats"),
        ({"repeats": 2, "jobs": 0}, "jobs = 0: there is no worker; accepted: 1 or more"),
        ({"repeats": 2, "seed": 2**63 - 1}, "scenario: seed = 9223372036854775808: the number is too large"),
        (
            {"repeats": 2, "capture": "x.pcapng"},
            "capture cannot be used with repeats, since it is of one run; accepted: one of them",
        ),
        (
            {"repeats": 2, "qlog": "x.sqlog"},
            "qlog cannot be used with repeats, since it is of one run; accepted: one of them",
        ),
        (
            {"backend": "life"},
            'backend = "life": there is no such choice, did you mean "live"?; accepted: "sim" or "live"',
        ),
        ({"capture": 5}, 'capture = 5: this is not a file; accepted: a file, or Capture("run.pcapng")'),
        ({"capture": True}, 'capture = true: this is not a file; accepted: a file, or Capture("run.pcapng")'),
        ({"qlog": b"x"}, 'qlog = "b\'x\'": this is not a file; accepted: a file, or Qlog("run.sqlog")'),
        ({"capture": ""}, 'capture "" is an empty name; accepted: a file'),
        ({"qlog": ""}, 'qlog "" is an empty name; accepted: a file'),
        (
            {"capture": "no/x"},
            "capture no/x: No such file or directory; accepted: a file that can be written",
        ),
        ({"qlog": "no/x"}, "qlog no/x: No such file or directory; accepted: a file that can be written"),
        ({"capture": "x", "qlog": "x"}, "capture and qlog have one file, x; accepted: two files"),
        (
            {"capture": Capture("x", snaplen=7)},
            "Capture: snaplen = 7: it is out of range; accepted: 80 to 65535 bytes, or 0 for",
        ),
        ({"capture": Capture("x", links=["a"])}, 'Capture: links: "a": there is no such link; accepted: ['),
    ],
)
def test_what_cannot_be_gets_one_line_without_flags_of_the_command(
    options: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        longfat.run(LOSSY, **options)
    assert str(refused.value).startswith(said)
    assert "--" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": -1}, "seed = -1: the number is too small; accepted: "),
        (
            {"seed": 2**63 - 1, "repeats": 2},
            "seed = 9223372036854775808: the number is too large; accepted: ",
        ),
        ({"window": ("5 s", "9 s")}, 'window = ["5 s", "9 s"]: it ends after the run; accepted: '),
        ({"window": "1 s"}, 'window = "1 s": these are not two times; accepted: '),
    ],
)
def test_a_wrong_option_of_a_run_from_a_file_names_the_file(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(longfat.Scenario.from_dict(LOSSY).to_toml())
    with pytest.raises(InputError) as refused:
        longfat.run(file, **options)
    assert str(refused.value).startswith(f"{file}: {said}")


def test_what_is_no_scenario_is_refused_with_what_is_accepted() -> None:
    accepted = "accepted: a Scenario, the path of a scenario file, or nested tables"
    for source in (5, None, ["flow"]):
        for ask in (lambda one: longfat.run(one), lambda one: list(longfat.run_many([one], jobs=1))):
            with pytest.raises(InputError, match=f"is no scenario; {accepted}"):
                ask(source)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_of_many_that_fails_names_its_file(tmp_path: Path, jobs: int) -> None:
    file = tmp_path / "programs.toml"
    tables = LOSSY | {"program": [{"side": "a", "command": "true"}]}
    file.write_text(longfat.Scenario.from_dict(tables).to_toml())
    with pytest.raises(InputError, match=f"^{file}: .*program"):
        list(longfat.run_many([file], jobs=jobs))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Capture(5),  # type: ignore[arg-type]
            "Capture: path = 5: this is not the name of a file; "
            "accepted: the name of a file, as text or as a Path",
        ),
        (
            lambda: Capture("x", snaplen="96"),  # type: ignore[arg-type]
            'Capture: snaplen = "96": this is not a whole number; accepted: a whole number of bytes',
        ),
        (
            lambda: Capture("x", snaplen=False),
            "Capture: snaplen = false: this is not a whole number; accepted: a whole number of bytes",
        ),
        (
            lambda: Capture("x", snaplen=96.0),  # type: ignore[arg-type]
            "Capture: snaplen = 96.0: this is not a whole number; accepted: a whole number of bytes",
        ),
        (
            lambda: Capture("x", links="a"),
            'Capture: links = "a": this is not a list of names; accepted: a list of names, such as ["a"]',
        ),
        (
            lambda: Capture("x", links=3),  # type: ignore[arg-type]
            "Capture: links = 3: this is not a list of names; accepted: a list of names, such as ",
        ),
        (
            lambda: Qlog(None),  # type: ignore[arg-type]
            "Qlog: path = null: this is not the name of a file; "
            "accepted: the name of a file, as text or as a Path",
        ),
        (
            lambda: Qlog("x", version="0.4"),
            'Qlog: version = "0.4": there is no such version, did you mean "0.3"?; accepted: ',
        ),
    ],
)
def test_a_capture_or_a_log_that_cannot_be_is_refused_when_it_is_made(make: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        make()
    assert str(refused.value).startswith(said)


def test_a_capture_never_replaces_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(longfat.Scenario.from_dict(LOSSY).to_toml())
    for options in ({"capture": file}, {"qlog": Qlog(file)}):
        with pytest.raises(
            InputError, match=r"^(capture|qlog) .*: the run reads this file; accepted: another"
        ):
            longfat.run(str(file), **options)
    assert longfat.Scenario.load(file).seed == 7


@pytest.mark.parametrize("given", [str, Path, Capture])
def test_a_path_is_a_capture_of_everything(given: Any, tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    result = longfat.run(LOSSY, capture=given(str(file)), qlog=str(tmp_path / "run.sqlog"))
    assert result.summary["capture"]["file"] == str(file)
    assert result.summary["capture"]["complete"]
    assert result.summary["qlog"]["files"] == {"1": str(tmp_path / "run.sqlog")}
    assert cwnd(result) == cwnd(longfat.run(LOSSY))


def test_one_capture_can_be_used_for_several_runs(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "run.pcapng", snaplen=80, links=("bottleneck",))
    first, second = (longfat.run(LOSSY, capture=capture).summary["capture"] for _ in range(2))
    assert first == second
    assert capture == Capture(tmp_path / "run.pcapng", 80, ("bottleneck",))


def test_type_checkers_know_what_run_and_run_many_return(tmp_path: Path) -> None:
    """mypy checks this file."""
    assert_type(longfat.run(LOSSY, capture=tmp_path / "x"), longfat.Result)
    assert_type(longfat.run(LOSSY, repeats=2, jobs=1), Results)
    for result in longfat.run_many([LOSSY], jobs=1):
        assert_type(result, longfat.Result)
    for size in longfat.run_many([LOSSY], jobs=1, reduce=lambda one: len(cwnd(one))):
        assert_type(size, int)
    for position, also in longfat.run_many([LOSSY], jobs=1, ordered=False):
        assert_type(position, int)
        assert_type(also, longfat.Result)
    pairs = longfat.run_many([LOSSY], jobs=1, ordered=False, reduce=lambda one: len(cwnd(one)))
    assert_type(next(pairs), tuple[int, int])


def test_no_result_has_no_summary() -> None:
    none = longfat.run(LOSSY, repeats=2)[0:0]
    with pytest.raises(InputError, match="there is no result to summarize"):
        _ = none.summary
    with pytest.raises(InputError, match="there is no result to summarize"):
        _ = none.intervals
