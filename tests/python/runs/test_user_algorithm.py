import re
import signal
from pathlib import Path
from typing import Any, ClassVar

import pytest

import longfat
from longfat.errors import AlgorithmError, InputError
from longfat.runs.result import Result
from samples import scenario

EXAMPLE = Path(__file__).parents[3] / "examples" / "my_reno.py"
MY_RENO = f"{EXAMPLE}:MyReno"


class Reno:
    def on_ack(self, ack: Any, window: Any) -> None:
        if window.in_slow_start():
            window.slow_start(ack.acked)
        else:
            window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, event: Any, window: Any) -> None:
        window.ssthresh = window.cwnd / 2


class Raises(Reno):
    def on_congestion(self, event: Any, window: Any) -> None:
        raise ZeroDivisionError(f"seen a {event.cause}")


class Interrupted(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        raise KeyboardInterrupt  # as Ctrl-C does while Python code runs


class NotANumber(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        window.cwnd = float("nan")


class Shrinks(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        window.cwnd = 0.5


class Explodes(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        window.cwnd = 1e300


class Interrupts(Reno):
    def on_congestion(self, event: Any, window: Any) -> None:
        signal.raise_signal(signal.SIGINT)


class Recorder(Reno):
    seen: ClassVar[list[dict[str, Any]]] = []
    causes: ClassVar[list[str]] = []

    def on_ack(self, ack: Any, window: Any) -> None:
        keys = ("now_s", "acked", "rtt_s", "srtt_s", "base_rtt_s", "in_flight", "newly_delivered")
        self.seen.append({key: getattr(ack, key) for key in keys})
        super().on_ack(ack, window)

    def on_congestion(self, event: Any, window: Any) -> None:
        self.causes.append(event.cause)
        super().on_congestion(event, window)


class Names(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        super().on_ack(ack, window)
        window.record(f"at {ack.now_s} s", 1.0)


class Records(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        super().on_ack(ack, window)
        window.record("half_packets", window.cwnd / 2)


class ReadsRtt(Reno):
    def on_ack(self, ack: Any, window: Any) -> None:
        assert ack.rtt_s is None or ack.rtt_s > 0.0
        super().on_ack(ack, window)


def cwnd_mean(ran: Result) -> float:
    mean: float = ran.summary["flows"][0]["cwnd_mean"]
    return mean


def alone(algorithm: Any) -> longfat.Scenario:
    return scenario(duration="60 s", flow=[{"algorithm": algorithm, "rtt": "40 ms"}])


@pytest.mark.parametrize("algorithm", [Reno, MY_RENO, {"name": MY_RENO, "increase": 1.0}])
def test_standard_tcp_written_by_a_user_gives_the_native_cwnd_trace_exactly(algorithm: Any) -> None:
    native, mine = longfat.run(alone("reno")), longfat.run(alone(algorithm))
    assert native.summary["flows"][0]["packets_lost"] > 0
    assert mine.flow("1")["cwnd"].tobytes() == native.flow("1")["cwnd"].tobytes()


def test_parameters_reach_the_constructor() -> None:
    gentle = longfat.run(alone({"name": MY_RENO, "decrease": 0.125}))
    assert (
        gentle.summary["flows"][0]["cwnd_mean"] > longfat.run(alone("reno")).summary["flows"][0]["cwnd_mean"]
    )


def test_the_summary_names_a_users_algorithm_without_its_folder() -> None:
    assert longfat.run(alone(MY_RENO)).summary["flows"][0]["algorithm"] == "my_reno.py:MyReno"


def test_acknowledgements_carry_what_is_documented() -> None:
    Recorder.seen.clear()
    Recorder.causes.clear()
    longfat.run(alone(Recorder))
    times = [ack["now_s"] for ack in Recorder.seen]
    assert times == sorted(times)
    assert all(ack["rtt_s"] is None or ack["rtt_s"] >= ack["base_rtt_s"] >= 0.04 for ack in Recorder.seen)
    assert all(ack["newly_delivered"] >= 1 and ack["in_flight"] >= 0 for ack in Recorder.seen)
    assert set(Recorder.causes) == {"loss"}


class Times(Reno):
    told: ClassVar[list[tuple[str, float | None, float | None]]] = []

    def on_ack(self, ack: Any, window: Any) -> None:
        self.told.append(("ack", ack.srtt_s, ack.base_rtt_s))
        super().on_ack(ack, window)

    def on_congestion(self, event: Any, window: Any) -> None:
        self.told.append((event.cause, event.srtt_s, event.base_rtt_s))
        super().on_congestion(event, window)


class ModelTimes:
    told: ClassVar[list[float | None]] = []

    def on_delivery(self, sample: Any, window: Any) -> None:
        self.told.append(sample.srtt_s)
        window.cwnd = 10.0


def unmeasured(algorithm: Any) -> dict[str, Any]:
    """The first SYN and the first data are lost: what is sent again measures no time without timestamps."""
    lost = [{"begin": "0 s", "length": "500 ms"}, {"begin": "1045 ms", "length": "100 ms"}]
    return {
        "duration": "6 s",
        "bottleneck": {"rate": "10 Mbit/s", "outages": [each | {"queue": "drains"} for each in lost]},
        "flow": [{"algorithm": algorithm, "rtt": "40 ms", "timestamps": False}],
    }


def test_round_trip_times_are_none_before_the_first_is_measured() -> None:
    Times.told.clear()
    longfat.run(unmeasured(Times))
    assert Times.told[:2] == [("timeout", None, None), ("ack", None, None)]
    _, srtt_s, base_rtt_s = Times.told[2]
    assert srtt_s == base_rtt_s == pytest.approx(0.041, abs=1e-3)


def test_a_model_learns_no_round_trip_time_before_the_first_is_measured() -> None:
    ModelTimes.told.clear()
    longfat.run(unmeasured(ModelTimes))
    assert ModelTimes.told[0] is None
    assert ModelTimes.told[-1] == pytest.approx(0.041, abs=0.02)


def test_what_an_algorithm_records_is_a_series_of_the_result() -> None:
    ran = longfat.run(alone(Records))
    series = ran.internals.to_pandas()
    assert set(zip(series["name"], series["quantity"], strict=True)) == {("1", "half_packets")}
    # the last ACK before most samples was one that grew the window
    cwnd = dict(zip(ran.flow(1)["time_s"], ran.flow(1)["cwnd"], strict=True))
    recorded = zip(series["time_s"], series["value"], strict=True)
    equal = [value == cwnd[time_s] / 2 for time_s, value in recorded]
    assert sum(equal) > 0.9 * len(equal) > 500
    assert not longfat.run(alone(Reno)).has_internals


def test_native_algorithms_say_what_they_know_if_the_scenario_asks() -> None:
    asked = alone("fast").with_values({"sample.internals": True})
    assert "alpha" in longfat.run(asked).internals["quantity"].unique().to_pylist()
    assert longfat.run(alone("fast")).internals.num_rows == 0


def test_an_algorithm_that_makes_up_names_without_end_is_stopped() -> None:
    with pytest.raises(AlgorithmError, match="records more than 64 quantities"):
        longfat.run(alone(Names))


@pytest.mark.parametrize(
    ("keys", "notes"),
    [({}, 1), ({"rtt_samples": "last"}, 0), ({"delayed_ack": False}, 0)],
    ids=["echoed", "last", "not delayed"],
)
def test_round_trip_times_that_delayed_acks_distort_are_noted_where_they_are_read(
    keys: dict[str, Any], notes: int
) -> None:
    def one(algorithm: Any) -> list[str]:
        flow = {"algorithm": algorithm, "rtt": "40 ms"} | keys
        found: list[str] = longfat.run(scenario(duration="2 s", flow=[flow])).summary["notes"]
        return [note for note in found if "ack.rtt_s" in note]

    assert len(one(ReadsRtt)) == notes
    assert one(Reno) == []


def test_an_exception_names_the_flow_and_keeps_the_traceback() -> None:
    with pytest.raises(AlgorithmError) as failed:
        longfat.run(alone(Raises))
    assert failed.value.flow == "1"
    assert "ZeroDivisionError: seen a loss" in failed.value.details
    assert "in on_congestion" in failed.value.details


@pytest.mark.parametrize(("algorithm", "left"), [(NotANumber, "NaN"), (Shrinks, "0.5"), (Explodes, "1e300")])
def test_a_window_that_cannot_be_fails_the_run_with_method_value_and_time(algorithm: Any, left: str) -> None:
    with pytest.raises(AlgorithmError) as failed:
        longfat.run(alone(algorithm))
    # the first acknowledgement of data comes two round trips after the start: the handshake's and its own
    told = re.fullmatch(rf"on_ack left cwnd = {left}, .* at (.*) s: cwnd must be .*", failed.value.details)
    assert told is not None
    assert 0.08 <= float(told[1]) < 0.13


def returns(value: Any, method: str = "on_ack") -> Any:
    """An algorithm whose method returns this."""
    return type("Returns", (Reno,), {method: lambda *_: value})


async def later() -> None:
    """A coroutine that is never awaited."""


@pytest.mark.parametrize(
    ("algorithm", "method", "what"),
    [
        (returns(2.0), "on_ack", "a float"),
        (returns(0), "on_ack", "an int"),
        (returns(n for n in ()), "on_ack", "a generator"),
        (type("Waits", (Reno,), {"on_ack": lambda *_: later()}), "on_ack", "a coroutine"),
        (returns(True, "on_congestion"), "on_congestion", "a bool"),
        (returns([], "on_sample"), "on_sample", "a list"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_method_that_returns_something_is_refused_by_name(algorithm: Any, method: str, what: str) -> None:
    with pytest.raises(AlgorithmError) as failed:
        longfat.run(alone(algorithm))
    accepted = "a method without yield or async that returns None and sets its decision in window"
    assert re.fullmatch(rf"{method} returned {what} at [0-9.]+ s; accepted: {accepted}", failed.value.details)


def test_a_failing_algorithm_with_an_attribute_of_any_name_fails_as_itself() -> None:
    with pytest.raises(AlgorithmError, match="ZeroDivisionError: seen a loss"):
        longfat.run(alone(type("Own", (Raises,), {"refused": 0})))


@pytest.mark.parametrize(
    ("method", "code", "what"),
    [
        ("on_ack", "def on_ack(self, ack, window):\n  yield", "a generator (it has a yield)"),
        ("on_ack", "async def on_ack(self, ack, window):\n  pass", "a coroutine (async def)"),
        ("on_sample", "async def on_sample(self, ack):\n  yield", "a generator (it has a yield)"),
    ],
)
def test_a_method_that_does_not_run_when_called_is_refused_before_the_run(
    method: str, code: str, what: str
) -> None:
    members: dict[str, Any] = {}
    exec(code, members)
    with pytest.raises(InputError) as refused:
        longfat.run(alone(type("Slow", (Reno,), {method: members[method]})))
    said = f"Slow.{method} is {what}; accepted: a method of plain statements"
    assert str(refused.value).endswith(said)


def test_ctrl_c_in_the_midst_of_an_algorithm_is_not_its_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        longfat.run(alone(Interrupts))


def test_a_failure_in_a_worker_arrives_whole() -> None:
    with pytest.raises(AlgorithmError, match="ZeroDivisionError: seen a loss"):
        list(longfat.run_many([alone(Raises)] * 3, jobs=2))


@pytest.mark.parametrize("algorithm", [Reno, MY_RENO])
def test_users_algorithms_run_in_workers(algorithm: Any) -> None:
    expected = longfat.run(alone("reno")).summary["flows"][0]["cwnd_mean"]
    assert list(longfat.run_many([alone(algorithm)] * 2, jobs=2, reduce=cwnd_mean)) == [expected, expected]


def test_a_class_that_is_not_in_its_file_is_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class There:\n    pass\n")
    with pytest.raises(InputError, match='has no class "Missing"; it has: There'):
        longfat.run(alone(f"{tmp_path / 'mine.py'}:Missing"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "import os\n\nimport nowhere_to_be_found\n",
            "ModuleNotFoundError: No module named .*mine.py, line 3",
        ),
        ("class Mine:\n    def on_ack(\n", "SyntaxError: .*mine.py, line 2"),
        ("import sys\nsys.exit(3)\n", "ends the program .*SystemExit: 3.*mine.py, line 2"),
        ("class Mine:\n    def on_ack(self, ack, window): ...\n", "Mine has no on_congestion; accepted"),
        ("class Mine: ...\n", "Mine has no on_ack and no on_congestion; accepted"),
        (
            "class Mine:\n    def on_ack(self, ack): ...\n    def on_congestion(self, event, window): ...\n",
            r"Mine\.on_ack\(self, ack\) cannot be called as it has to be; "
            r"accepted: on_ack\(self, ack, window\)",
        ),
        (
            "class Mine:\n    def on_delivery(self, sample, window, more): ...\n",
            r"Mine\.on_delivery\(self, sample, window, more\) cannot be called as it has to be; "
            r"accepted: on_delivery\(self, sample, window\)",
        ),
        ("\0", "mine.py cannot be imported"),
    ],
)
def test_a_file_that_cannot_be_an_algorithm_is_refused_at_load_in_one_line_with_file_and_key(
    tmp_path: Path, text: str, expected: str
) -> None:
    (tmp_path / "mine.py").write_text(text)
    tables = scenario().to_dict()
    tables["flow"][1]["algorithm"] = "mine.py:Mine"
    with pytest.raises(InputError) as refused:
        longfat.Scenario.from_dict(tables, source="short.toml", base=tmp_path)
    told = str(refused.value)
    assert told.startswith('short.toml: flow.1.algorithm = "mine.py:Mine": ')
    assert re.search(expected, told)
    assert "\n" not in told
    assert "importlib" not in told


@pytest.mark.parametrize(
    ("made", "lacking"),
    [
        ("None", "on_ack and no on_congestion"),
        ("3", "on_ack and no on_congestion"),
        ("Half()", "on_congestion"),
    ],
)
def test_a_function_that_makes_no_algorithm_is_refused_with_what_it_returned(
    tmp_path: Path, made: str, lacking: str
) -> None:
    half = "class Half:\n  def on_ack(self, ack, window): pass\n  def __repr__(self): return 'Half()'\n"
    (tmp_path / "own.py").write_text(f"{half}def make(**given): return {made}\n")
    asked = alone({"name": f"{tmp_path}/own.py:make", "gain": 2})
    with pytest.raises(InputError) as refused:
        longfat.run(asked)
    assert str(refused.value) == (
        f"flow 1: {tmp_path}/own.py:make returned {made}, which has no {lacking}; accepted: an object with "
        "on_ack(self, ack, window) and on_congestion(self, event, window), or with "
        "on_delivery(self, sample, window)"
    )
    with pytest.raises(InputError, match="make returned"):
        list(longfat.run_many([asked], jobs=2))


def test_a_parameter_that_the_constructor_does_not_take_is_refused_with_those_it_takes() -> None:
    with pytest.raises(InputError, match=r"flow\.0\.algorithm = .*'gain'; it takes: increase, decrease"):
        alone({"name": MY_RENO, "gain": 2})


def test_a_constructor_that_raises_fails_the_run_with_its_traceback() -> None:
    class Mine(Reno):
        def __init__(self) -> None:
            raise OverflowError("too much of it")

    with pytest.raises(AlgorithmError, match="OverflowError: too much of it"):
        longfat.run(alone(Mine))


def test_a_file_is_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(EXAMPLE.read_text())
    text = alone("reno").to_toml().replace('"reno"', '"mine.py:MyReno"')
    (tmp_path / "mine.toml").write_text(text)
    ran = longfat.run(tmp_path / "mine.toml")
    assert ran.scenario.flow[0].algorithm.name == f"{tmp_path / 'mine.py'}:MyReno"


def test_background_traffic_does_not_take_a_users_algorithm() -> None:
    with pytest.raises(InputError, match="longfat list algorithms"):
        scenario(background=[{"kind": "web", "algorithm": Reno}])


def test_ctrl_c_inside_an_algorithm_ends_the_run_and_is_no_failure_of_the_algorithm() -> None:
    with pytest.raises(KeyboardInterrupt):
        longfat.run(alone(Interrupted))
