"""What algorithms in Python may have besides their two methods: delivery rates, pacing, timers and more."""

import re
import statistics
from pathlib import Path
from typing import Any, ClassVar

import pytest
from test_user_algorithm import Reno, alone

import longfat
from longfat.errors import AlgorithmError, InputError
from longfat.runs.result import Result
from samples import scenario

EXAMPLES = Path(__file__).parents[3] / "examples"
MY_BBR = f"{EXAMPLES / 'my_bbr.py'}:MyBbr"


class ByAttribute(Reno):
    pacing_rate = 200.0


class ByProperty(Reno):
    @property
    def pacing_rate(self) -> float:
        return 200.0


class ByMethod(Reno):
    def pacing_rate(self) -> float:
        return 200.0


class Together(ByAttribute):
    send_quantum = 8


class Doubles(Reno):
    timer_period_s = 30.0

    def __init__(self) -> None:
        self.pacing_rate = 100.0

    def on_timer(self, now_s: float, window: Any) -> None:
        self.pacing_rate *= 2


class Ticks(Reno):
    timer_period_s = 0.25
    ticks: ClassVar[list[float]] = []

    def on_ack(self, ack: Any, window: Any) -> None:
        pass

    def on_timer(self, now_s: float, window: Any) -> None:
        self.ticks.append(now_s)
        window.cwnd = 10.0 + len(self.ticks)


class Samples(Reno):
    samples: ClassVar[list[float | None]] = []
    window: ClassVar[list[float]] = []

    def on_sample(self, ack: Any) -> None:
        self.samples.append(ack.now_s)

    def on_ack(self, ack: Any, window: Any) -> None:
        self.window.append(ack.now_s)
        super().on_ack(ack, window)


class Undone(Reno):
    undone: ClassVar[list[tuple[float, float]]] = []

    def on_congestion(self, event: Any, window: Any) -> None:
        self.before = window.cwnd
        super().on_congestion(event, window)

    def on_undo(self, window: Any) -> None:
        self.undone.append((self.before, window.cwnd))


class Recovers(Reno):
    recovered: ClassVar[list[float]] = []

    def on_recovered(self, now_s: float, window: Any) -> None:
        self.recovered.append(now_s)
        window.cwnd = 17.0


class Still(Reno):
    """Leaves its window as slow-start and congestion events make it, and keeps what it is told."""

    told: ClassVar[list[tuple[str, float, float, int]]] = []

    def on_ack(self, ack: Any, window: Any) -> None:
        phase = "slow-start" if window.in_slow_start() else "avoidance"
        self.told.append((phase, ack.now_s, ack.acked, ack.newly_delivered))
        if phase == "slow-start":
            window.slow_start(ack.acked)

    def on_congestion(self, event: Any, window: Any) -> None:
        self.told.append(("congestion", event.now_s, 0.0, 0))
        window.ssthresh = 20.0


class StillByFours(Still):
    acks_per_call = 4
    told: ClassVar[list[tuple[str, float, float, int]]] = []


class SlowReader(Reno):
    """Every second segment makes the receiver answer: 20 ms after the first of the two."""

    pacing_rate = 50.0
    rtts: ClassVar[list[float]] = []

    def on_ack(self, ack: Any, window: Any) -> None:
        window.cwnd = 20.0  # the rate is the limit, not the window
        if ack.rtt_s is not None:
            self.rtts.append(ack.rtt_s)


class ExactReader(SlowReader):
    sending_times = "round-trips"
    rtts: ClassVar[list[float]] = []


class Listener:
    """A model-based algorithm with a constant window and rate, and all that it is told."""

    pacing_rate = 500.0
    told: ClassVar[dict[str, list[Any]]] = {}

    def keep(self, what: str, told: Any) -> None:
        self.told.setdefault(what, []).append(told)

    def on_open(self, opening: Any, window: Any) -> None:
        self.keep("opening", opening)
        window.cwnd = 100.0

    def on_delivery(self, sample: Any, window: Any) -> None:
        self.keep("cwnd", window.cwnd)
        self.keep("delivery", sample)
        window.cwnd = 100.0

    def on_lost(self, segment: Any, window: Any) -> None:
        self.keep("lost", segment)

    def on_timeout(self, now_s: float, window: Any) -> None:
        self.keep("timeout", window.cwnd)

    def on_restart(self, now_s: float, window: Any) -> None:
        self.keep("restart", now_s)


class HoldsBack(Listener):
    holds_back = True


def listened(algorithm: type[Listener] = Listener, **bottleneck: Any) -> tuple[Result, dict[str, list[Any]]]:
    """Runs the listener for 10 s over 10 Mbit/s and 40 ms, each segment acknowledged at once."""
    Listener.told.clear()
    flow = {"algorithm": algorithm, "rtt": "40 ms", "delayed_ack": False}
    link = {"rate": "10 Mbit/s", "buffer": "50 packets"} | bottleneck
    return longfat.run(scenario(bottleneck=link, flow=[flow])), dict(Listener.told)


def one(algorithm: Any, **keys: Any) -> dict[str, Any]:
    """The summary of a single flow."""
    flow: dict[str, Any] = longfat.run(alone(algorithm).with_values(keys)).summary["flows"][0]
    return flow


def refused(algorithm: Any) -> str:
    """What the run of an algorithm that fails says."""
    with pytest.raises(AlgorithmError) as failed:
        longfat.run(alone(algorithm))
    assert failed.value.flow == "1"
    return failed.value.details


@pytest.mark.parametrize("algorithm", [ByAttribute, ByProperty, ByMethod, Together])
def test_a_paced_reno_sends_at_the_rate_that_it_asks_for(algorithm: Any) -> None:
    # 60 s without the handshake's 40 ms, and the window is beyond 10 segments before the second round trip
    assert one(algorithm)["packets_sent"] == pytest.approx(200.0 * (60.0 - 0.04), abs=10)


def test_a_quantum_of_segments_leaves_together() -> None:
    longest = [
        longfat.run(alone(algorithm)).summary["links"][0]["queue_max_packets"]
        for algorithm in (ByAttribute, Together)
    ]
    assert longest[0] <= 1
    assert 7 <= longest[1] <= 8


def test_a_rate_may_change_when_any_method_is_called() -> None:
    # 100 a second for 30 s after the handshake, then 200
    sent = 100.0 * 30.0 + 200.0 * (30.0 - 0.04)
    assert one(Doubles)["packets_sent"] == pytest.approx(sent, abs=10)


def test_a_timer_is_called_in_its_period_with_the_window() -> None:
    Ticks.ticks.clear()
    ran = longfat.run(alone(Ticks).with_values({"duration": "5 s"}))
    assert Ticks.ticks == pytest.approx([Ticks.ticks[0] + 0.25 * i for i in range(len(Ticks.ticks))])
    assert len(Ticks.ticks) == 19
    assert ran.flow(1)["cwnd"][-1] == 29.0


def test_samples_come_for_every_acknowledgement_and_growth_for_some() -> None:
    Samples.samples.clear()
    Samples.window.clear()
    longfat.run(alone(Samples))
    assert set(Samples.window) < set(Samples.samples)


def test_the_end_of_a_recovery_hands_the_window_over() -> None:
    Recovers.recovered.clear()
    summary = one(Recovers)
    assert len(Recovers.recovered) > 3
    assert len(Recovers.recovered) in {summary["congestion_events"], summary["congestion_events"] - 1}


def test_a_spurious_timeout_is_told_after_the_window_is_back() -> None:
    Undone.undone.clear()
    steps = {"steps": [["0 s", "0 ms"], ["2 s", "1 s"]]}
    one(Undone, **{"bottleneck.added_delay": steps, "duration": "10 s"})
    assert Undone.undone
    assert all(before == after > 2 for before, after in Undone.undone)


def test_sending_times_leave_out_the_wait_of_delayed_acknowledgements() -> None:
    for algorithm in (SlowReader, ExactReader):
        algorithm.rtts.clear()
        longfat.run(alone(algorithm).with_values({"duration": "10 s"}))
    # 40 ms, 1.2 ms to send a packet of 1500 bytes, and 20 ms until the second segment arrives
    assert statistics.median(SlowReader.rtts) == pytest.approx(0.0612, abs=1e-4)
    assert max(ExactReader.rtts) < 0.0415


@pytest.mark.parametrize(("algorithm", "notes"), [(SlowReader, 1), (ExactReader, 0)])
def test_exact_round_trip_times_need_no_note(algorithm: Any, notes: int) -> None:
    told: list[str] = longfat.run(alone(algorithm).with_values({"duration": "2 s"})).summary["notes"]
    assert len([note for note in told if "ack.rtt_s" in note]) == notes


def test_a_model_based_algorithm_learns_the_delivery_rate_of_each_acknowledgement() -> None:
    _, told = listened()
    (opening,) = told["opening"]
    assert opening.selective
    assert 0.04 <= opening.rtt_s < 0.0415
    assert told["restart"][0] == opening.now_s  # the first segment finds an idle path
    assert set(told["cwnd"]) == {100.0}
    first, last = told["delivery"][0], told["delivery"][-1]
    # the first segment was alone in the round trip before its acknowledgement
    assert (first.delivered, first.app_limited, first.newly_delivered) == (1, True, 1)
    assert first.rate == pytest.approx(1 / first.rtt_s)
    for sample in told["delivery"][100:]:
        assert sample.rate == pytest.approx(500.0)
        assert sample.rtt_s == pytest.approx(last.rtt_s)
        assert sample.prior_delivered == sample.total_delivered - sample.delivered
        assert (sample.app_limited, sample.repair, sample.window_limited) == (False, None, False)
        # 500 a second for 41 ms
        assert (sample.in_flight, sample.prior_in_flight, sample.tx_in_flight) == (20, 21, 21)
        assert sample.next_departure_s >= sample.now_s
    assert last.total_delivered == len(told["delivery"])


def test_a_model_based_algorithm_keeps_its_window_in_recovery_and_is_told_of_each_loss() -> None:
    ran, told = listened(loss={"every": 500})
    samples = told["delivery"]
    assert set(told["cwnd"]) == {100.0}
    assert [segment.segment for segment in told["lost"]][:3] == [499, 998, 1497]
    assert all(segment.lost == 1 and segment.tx_in_flight == 21 for segment in told["lost"])
    assert sum(sample.newly_lost for sample in samples) == len(told["lost"]) == samples[-1].total_lost
    assert {sample.repair for sample in samples} == {None, "recovery"}
    assert ran.summary["flows"][0]["packets_sent"] == pytest.approx(500.0 * (10.0 - 0.04), abs=3)


def test_a_timeout_sets_the_window_of_a_model_based_algorithm_before_it_is_told() -> None:
    outage = {"begin": "2 s", "length": "1 s", "queue": "drains"}
    _, told = listened(outages=[outage])
    # nothing is in flight any longer
    assert set(told["timeout"]) == {1.0}
    assert "timeout" in {sample.repair for sample in told["delivery"]}


def test_samples_are_limited_by_the_application_while_an_algorithm_holds_back() -> None:
    _, told = listened(HoldsBack)
    assert all(sample.app_limited for sample in told["delivery"])


@pytest.mark.parametrize(("loss", "least"), [(0.0, 0.95), (0.01, 0.9)])
def test_a_rate_based_toy_fills_a_link_even_where_packets_are_lost_at_random(
    loss: float, least: float
) -> None:
    def link(algorithm: Any) -> dict[str, Any]:
        changed = alone(algorithm).with_values({"bottleneck.loss": loss, "duration": "30 s"})
        found: dict[str, Any] = longfat.run(changed).summary["links"][0]
        return found

    toy, reno = link(MY_BBR), link("reno")
    assert toy["utilization"] > least
    if loss:
        assert reno["utilization"] < 0.6
    else:
        assert toy["queue_mean_packets"] < reno["queue_mean_packets"]


def test_a_class_with_on_delivery_needs_no_other_method_and_controls_slow_start() -> None:
    assert alone(Listener).flow[0].algorithm.is_model_based
    with pytest.raises(InputError, match="controls the window itself"):
        scenario(flow=[{"algorithm": Listener, "rtt": "40 ms", "slow_start": "hystart++"}])


def by_fours(told: list[tuple[str, float, float, int]]) -> list[tuple[str, float, float, int]]:
    """What is told if four acknowledgements out of slow-start come in one call, or fewer before an event."""
    found: list[tuple[str, float, float, int]] = []
    number = 0  # of those in the last call
    for what, now_s, acked, newly in told:
        if what == "avoidance" and 0 < number < 4:
            number += 1
            _, _, acked_before, newly_before = found.pop()
            found.append((what, now_s, acked_before + acked, newly_before + newly))
        else:
            number = 1 if what == "avoidance" else 0
            found.append((what, now_s, acked, newly))
    return found


def test_acks_come_together_where_the_class_says_so_and_events_find_none_untold() -> None:
    ran = []
    for algorithm in (Still, StillByFours):
        algorithm.told.clear()
        lossy = alone(algorithm).with_values({"bottleneck.loss": {"every": 501}})
        ran.append(longfat.run(lossy).summary["flows"][0])
    assert ran[0] == ran[1] | {"algorithm": ran[0]["algorithm"]}
    assert {what for what, *_ in Still.told} == {"slow-start", "avoidance", "congestion"}
    expected = by_fours(Still.told)
    assert len(expected) - len(StillByFours.told) in {0, 1}  # the run may end in the midst of four
    assert expected[: len(StillByFours.told)] == StillByFours.told
    fewer = len(StillByFours.told) / len(Still.told)
    assert 0.25 < fewer < 0.35


def set_to(**attributes: Any) -> type:
    return type("Mine", (Reno,), attributes)


def nothing(*_: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        (set_to(pacing_rate=-3.0), "pacing_rate = -3.0: it must be a finite number of segments per second"),
        (set_to(pacing_rate="fast"), "pacing_rate = 'fast': it must be"),
        (set_to(pacing_rate=float("inf")), "pacing_rate = inf: it must be"),
        (set_to(send_quantum=0.5), "send_quantum = 0.5: it must be .*, at least 1"),
        (set_to(holds_back="yes"), "holds_back = 'yes': it must be True or False"),
        (set_to(sending_times="rtt"), "sending_times = 'rtt': it must be \"round-trips\""),
        (set_to(timer_period_s=0.0, on_timer=nothing), "timer_period_s = 0.0: it must be .*, at least 1e-6"),
        (set_to(timer_period_s=1.0), r"timer_period_s: it needs on_timer\(now_s, window\) beside it"),
        (set_to(on_timer=nothing), "on_timer: it needs timer_period_s beside it"),
        (set_to(on_open=nothing), r"on_open: it needs on_delivery\(sample, window\) beside it"),
        (set_to(on_sample=3), "on_sample = 3: it must be a method"),
        (set_to(acks_per_call=0), "acks_per_call = 0: it must be a whole number from 1 to 1000"),
        (set_to(acks_per_call="all"), "acks_per_call = 'all': it must be a whole number"),
        (
            set_to(acks_per_call=4, on_delivery=nothing),
            r"acks_per_call: it needs on_ack\(ack, window\), which on_delivery replaces",
        ),
    ],
)
def test_what_an_object_asks_for_wrongly_fails_the_run_at_once_in_one_line(algorithm: Any, told: str) -> None:
    assert re.fullmatch(told + "[^\n]*", refused(algorithm))


class Slows(Reno):
    pacing_rate: float | None = None

    def on_ack(self, ack: Any, window: Any) -> None:
        self.pacing_rate = 0.0


class BlowsUp(Listener):
    def __init__(self) -> None:
        self.pacing_rate = 100.0

    def on_delivery(self, sample: Any, window: Any) -> None:
        self.pacing_rate = float("nan")


@pytest.mark.parametrize(
    ("algorithm", "left"),
    [(Slows, "on_ack left pacing_rate = 0.0 at "), (BlowsUp, "on_delivery left pacing_rate = nan at ")],
)
def test_a_rate_that_cannot_be_fails_the_run_with_method_value_and_time(algorithm: Any, left: str) -> None:
    told = re.fullmatch(rf"{left}(.*) s: it must be [^\n]*", refused(algorithm))
    assert told is not None
    assert 0.08 <= float(told[1]) < 0.13


def raises(*_: Any) -> None:
    raise ZeroDivisionError("here")


@pytest.mark.parametrize("method", ["on_sample", "on_recovered", "on_timer"])
def test_an_exception_in_an_optional_method_ends_the_run(method: str) -> None:
    details = refused(set_to(**{method: raises}, **({"timer_period_s": 1.0} if method == "on_timer" else {})))
    assert "ZeroDivisionError: here" in details


@pytest.mark.parametrize("method", ["on_open", "on_delivery", "on_lost", "on_restart"])
def test_an_exception_in_a_method_of_a_model_ends_the_run(method: str) -> None:
    mine = type("Mine", (Listener,), {method: raises, "pacing_rate": 2000.0})
    assert "ZeroDivisionError: here" in refused(mine)


def test_a_property_that_fails_is_not_taken_for_a_missing_one() -> None:
    class Mine(Reno):
        @property
        def pacing_rate(self) -> float:
            return self.never_set  # type: ignore[attr-defined, no-any-return]

    assert "AttributeError" in refused(Mine)
