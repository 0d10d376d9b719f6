"""The environments for reinforcement learning."""

import dataclasses
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import longfat
from longfat import _core
from longfat.env import AURORA, AURORA_PATHS, ORCA, QUANTITIES, Action, Env, Quantity, Setting, VectorEnv
from longfat.env.quantities import Interval
from longfat.errors import InputError

DUMBBELL: dict[str, Any] = {
    "duration": "8 s",
    "bottleneck": {"rate": "6 Mbit/s", "buffer": "50 packets"},
    "flow": [
        {"algorithm": "cubic", "rtt": {"uniform": ["30 ms", "90 ms"]}},
        {"algorithm": "reno", "rtt": "50 ms"},
    ],
}
RATES = {"bottleneck.rate": {"uniform": ["4 Mbit/s", "20 Mbit/s"]}}
SETTINGS = pytest.mark.parametrize(("setting", "paths"), [(AURORA, AURORA_PATHS), (ORCA, RATES)])


@SETTINGS
def test_gymnasiums_checker_accepts_the_ready_settings(setting: Setting, paths: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(Env({**DUMBBELL, "duration": "30 s"}, setting, paths=paths), skip_render_check=True)


def interval(**changes: float) -> Interval:
    usual = {
        "span_s": 0.5,
        "sent": 120.0,
        "delivered": 80.0,
        "lost": 20.0,
        "rtts": 40.0,
        "rtt_s": 0.1,
        "rtt_increase_s": 0.01,
        "srtt_s": 0.08,
        "base_rtt_s": 0.048,
        "cwnd": 16.0,
        "packet_bits": 12_000.0,
        "least_rtt_s": 0.05,
        "most_pps": 200.0,
    }
    return Interval(**{name: np.array([value]) for name, value in (usual | changes).items()})


def test_quantities_are_what_the_papers_say_in_a_case_worked_out_by_hand() -> None:
    seen = interval()
    expected = {
        "throughput_pps": 160.0,
        "throughput_bps": 1.92e6,
        "send_rate_pps": 240.0,
        "loss_share": 0.2,
        "latency_s": 0.1,
        "latency_gradient": 0.02,
        "latency_ratio": 2.0,
        "send_ratio": 1.5,
        "throughput_of_best": 0.8,
        "pacing_of_best": 1.2,  # 1.2 x 16 / 0.08 = 240 of 200 packets per second
        "loss_of_best": 1.0,  # 5 x 40 of 200
        "rtts_of_cwnd": 2.5,
        "interval_s": 0.5,
        "least_rtt_of_srtt": 0.6,
        "delay_metric": 0.75,  # 1.25 x 48 ms = 60 of 80 ms
        "cwnd": 16.0,
        "power": -0.15,  # (160 - 200) / 200 x 0.75
    }
    found = {name: float(quantity.of(seen)[0]) for name, quantity in QUANTITIES.items()}
    assert found == pytest.approx(expected)


def test_an_interval_in_which_nothing_happened_has_finite_quantities() -> None:
    seen = interval(**dict.fromkeys((f.name for f in dataclasses.fields(Interval)), 0.0))
    found = {name: float(quantity.of(seen)[0]) for name, quantity in QUANTITIES.items()}
    assert {name: found[name] for name in ("latency_ratio", "send_ratio", "delay_metric")} == {
        "latency_ratio": 1.0,
        "send_ratio": 1.0,
        "delay_metric": 1.0,
    }
    assert np.all(np.isfinite(list(found.values())))


def test_an_action_moves_rates_as_aurora_and_windows_as_orca_do() -> None:
    rates = AURORA.action.applied(np.array([100.0, 100.0, 999.0, 41.0]), np.array([0.1, -0.1, 1.0, -1.0]))
    assert rates == pytest.approx([102.5, 100.0 / 1.025, 1000.0, 40.0])
    windows = ORCA.action.applied(np.array([10.0, 10.0, 6.0, 9000.0]), np.array([0.5, -0.5, -1.0, 1.0]))
    assert windows == pytest.approx([20.0, 5.0, 4.0, 10_000.0])


def test_the_reward_and_the_observation_are_those_of_the_interval() -> None:
    env = Env({**DUMBBELL, "flow": [{"algorithm": "reno", "rtt": "50 ms"}]}, AURORA)
    _, _ = env.reset(seed=2)
    for _ in range(30):
        seen, reward, terminated, truncated, told = env.step(np.zeros(1))
    assert (terminated, truncated) == (False, False)
    # about 0.3 to 1.5 of 500 packets per second are sent; what a step tells is what its reward is made of
    rate = told["throughput_bps"] / 12_000.0
    loss = told["lost"] / (told["lost"] + rate * 0.5 * told["latency_s"])
    assert reward == pytest.approx(0.010 * rate - told["latency_s"] - 2.0 * loss, rel=0.05)
    assert seen.shape == (30,)
    gradient, latency_ratio, send_ratio = seen[-3:]
    assert abs(gradient) < 10.0
    assert 1.0 <= latency_ratio < 20.0
    assert 0.0 <= send_ratio < 3.0


def test_a_higher_rate_than_the_link_s_fills_its_queue_and_a_lower_one_empties_it() -> None:
    setting = dataclasses.replace(
        AURORA, action=dataclasses.replace(AURORA.action, start=(0.5, 0.5), reach=1000.0)
    )
    env = Env({**DUMBBELL, "duration": "30 s", "flow": [{"algorithm": "reno", "rtt": "50 ms"}]}, setting)
    env.reset(seed=1)
    double = np.array([0.052])  # 1 + 0.025 x 52 = 2.3 times as fast: 1.15 of the link's rate

    def latency_s(action: Any) -> float:
        env.step(action)
        return float(np.mean([env.step(np.zeros(1))[4]["latency_s"] for _ in range(80)][40:]))

    quiet, full, again = latency_s(np.zeros(1)), latency_s(double), latency_s(-double)
    # 50 packets wait at 500 a second
    assert quiet == pytest.approx(0.0525, abs=0.004)
    assert full == pytest.approx(0.0525 + 0.1, abs=0.01)
    assert again < 0.06


@SETTINGS
def test_an_episode_has_the_same_draws_for_the_same_seed_and_others_for_another(
    setting: Setting, paths: Any
) -> None:
    def played(seed: int) -> list[Any]:
        env = Env({**DUMBBELL, "duration": "30 s"}, setting, paths=paths)
        seen, _ = env.reset(seed=seed)
        rows = [seen.tolist()]
        for step in range(12):
            seen, reward, *_ = env.step(np.array([0.1 * (step % 3)]))
            rows.append([reward, *seen.tolist()])
        return rows

    assert played(5) == played(5)
    assert played(5) != played(6)


def play(env: VectorEnv, steps: int) -> list[Any]:
    actions = np.random.default_rng(9).uniform(-1.0, 1.0, (steps, env.num_envs, 1))
    return [[np.copy(part).tolist() for part in env.step(action)[:4]] for action in actions]


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    played = []
    for threads in (1, 3):
        env = VectorEnv({**DUMBBELL, "duration": "2 s"}, ORCA, 6, paths=RATES, threads=threads)
        first, _ = env.reset(seed=4)
        played.append([first.tolist(), play(env, 120)])
        env.close()
    assert played[0] == played[1]


def played(seed: int) -> list[Any]:
    env = VectorEnv({**DUMBBELL, "duration": "2 s"}, ORCA, 6, paths=RATES, threads=2)
    env.reset(seed=seed)
    return play(env, 60)


def test_environments_in_several_threads_of_python_do_not_disturb_each_other() -> None:
    expected = [played(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(played, range(4))) == expected


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_steps_its_environments_too() -> None:
    expected = played(3)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(played, (3,)).get(60) == expected


def forks(number: int) -> list[int]:
    """Forks between steps, on one processor, where threads often end late.

    Returns how the children ended, up to the first that failed.
    """
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    env = VectorEnv({**DUMBBELL, "duration": "1000 s"}, ORCA, 6, threads=2)
    env.reset(seed=1)
    actions = np.zeros((6, 1))
    ends: list[int] = []
    while len(ends) < number and not any(ends):
        for _ in range(20):
            env.step(actions)
        child = os.fork()
        if not child:
            code = 1
            try:
                signal.alarm(20)  # ends a child that waits for ever
                env.step(actions)
                code = 0
            finally:
                os._exit(code)
        ends.append(os.waitpid(child, 0)[1])
    return ends


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_between_steps_waits_for_no_lock_of_its_parents() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(forks, (100,)).get(60) == [0] * 100


def test_an_environment_among_many_is_the_one_of_its_seed() -> None:
    many = VectorEnv(DUMBBELL, ORCA, 3, paths=RATES)
    one = Env(DUMBBELL, ORCA, paths=RATES)
    first, _ = many.reset(seed=[7, 11, 13])
    assert first[1].tolist() == one.reset(seed=11)[0].tolist()
    for action in (0.3, -0.2, 0.0):
        seen, rewards, *_ = many.step(np.full((3, 1), action))
        alone, reward, *_ = one.step(np.array([action]))
        assert (seen[1].tolist(), rewards[1]) == (alone.tolist(), reward)
    assert many.observation_space.contains(seen)


def test_the_step_after_an_episode_begins_the_next_one() -> None:
    scenario = {**DUMBBELL, "duration": "2 s"}
    setting = dataclasses.replace(ORCA, interval="100 ms")
    many = VectorEnv(scenario, setting, 4, paths=RATES)
    many.reset(seed=1)
    overs = []
    for _ in range(60):
        over = many._fleet.done.copy()
        _, rewards, terminated, truncated, told = many.step(np.zeros((4, 1)))
        assert not terminated.any()
        assert (rewards[over] == 0.0).all()
        assert not truncated[over].any()
        if not over.all():
            assert (told["_time_s"] == ~over).all()
            assert (told["time_s"][truncated] == 2.0).all()
        overs.append(truncated)
    assert (np.sum(overs, axis=0) >= 2).all()


def test_an_episode_ends_with_the_scenario() -> None:
    env = Env({**DUMBBELL, "duration": "1 s"}, dataclasses.replace(AURORA, interval="300 ms"))
    env.reset(seed=1)
    steps = 0
    truncated = False
    while not truncated:
        *_, truncated, told = env.step(np.zeros(1))
        steps += 1
    assert steps == 3
    assert told["time_s"] == 1.0
    assert refusal(lambda: env.step(np.zeros(1))) == "the episode is over; accepted: reset() to begin another"


def test_paths_are_drawn_within_their_limits() -> None:
    paths = {
        "bottleneck.rate": {"uniform": ["4 Mbit/s", "5 Mbit/s"]},
        "bottleneck.buffer": {"log_uniform": ["5 packets", "500 packets"]},
        "bottleneck.loss": {"uniform": [0.0, 0.01]},
        "flow.1.algorithm": {"choice": ["reno", "htcp"]},
    }
    env = Env(DUMBBELL, ORCA, paths=paths)
    generator = np.random.default_rng(1)
    drawn = [env._fleet._drawing.scenario(env._fleet.scenario, generator).plan for _ in range(40)]
    rates = [plan["links"][0]["rate_bps"] for plan in drawn]
    assert 4e6 <= min(rates) < 4.2e6 < 4.8e6 < max(rates) <= 5e6
    buffers = [plan["links"][0]["queue"]["limit_packets"] for plan in drawn]
    assert 5 <= min(buffers) < 15
    assert 150 < max(buffers) <= 500
    assert {plan["flows"][1]["transport"]["algorithm"]["kind"] for plan in drawn} == {"reno", "htcp"}
    assert len({plan["seed"] for plan in drawn}) == 40


def test_a_quantity_of_one_s_own_can_be_seen_and_rewarded() -> None:
    waiting = Quantity(
        "waiting", "sent and not delivered", (-1e6, 1e6), lambda i: i.sent - i.delivered - i.lost
    )
    setting = dataclasses.replace(
        ORCA, observation=[waiting, "cwnd"], history=2, reward={waiting: -1.0, "cwnd": 0.5}
    )
    env = Env(DUMBBELL, setting)
    env.reset(seed=1)
    seen, reward, *_ = env.step(np.zeros(1))
    assert reward == pytest.approx(-seen[2] + 0.5 * seen[3], rel=1e-6)


def refusal(act: Any) -> str:
    with pytest.raises(InputError) as refused:
        act()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_bad_input_gets_one_line_that_says_what_is_accepted() -> None:
    replaced = dataclasses.replace
    assert (
        refusal(lambda: Env(DUMBBELL, AURORA, flow="3"))
        == 'flow = "3": there is no such flow; accepted: "1" or "2"'
    )
    udp = {**DUMBBELL, "flow": [{"algorithm": "udt", "rtt": "40 ms"}]}
    assert "UDP carries it" in refusal(lambda: Env(udp, AURORA).reset())
    sized = {**DUMBBELL, "flow": [{"algorithm": "reno", "rtt": "40 ms", "bytes": "1 MB"}]}
    assert refusal(lambda: Env(sized, AURORA)).startswith("flow 1 has a size; accepted: ")
    ended = {**DUMBBELL, "flow": [{"algorithm": "reno", "rtt": "40 ms", "stop": "3 s"}]}
    assert refusal(lambda: Env(ended, AURORA)).startswith("flow 1 stops; accepted: ")
    late = {**DUMBBELL, "flow": [{"algorithm": "reno", "rtt": "40 ms", "start": "8 s"}]}
    assert refusal(lambda: Env(late, AURORA).reset()).startswith(
        "flow 1 has not begun at the end of an episode"
    )
    wide = {**DUMBBELL, "duration": "100 ms", "flow": [{"algorithm": "reno", "rtt": "40 ms"}]}
    assert "is not out of slow start" in refusal(lambda: Env(wide, ORCA).reset())
    told = refusal(lambda: replaced(AURORA, observation=["latency_ration"]))
    assert told.startswith(
        'Setting: observation: "latency_ration": there is no such choice, did you mean "latency_ratio"?; '
        "accepted: "
    )
    assert refusal(lambda: replaced(AURORA, reward={"x": 1.0})).startswith(
        'Setting: reward: "x": there is no such choice; accepted: '
    )
    assert refusal(lambda: replaced(AURORA, interval="5")).endswith('or a multiple such as "0.5 RTT"')
    assert (
        refusal(lambda: replaced(AURORA, history=0))
        == "Setting: history = 0: this is no number of intervals; accepted: from 1 to 1000"
    )
    assert refusal(lambda: replaced(AURORA, observation=())).startswith("Setting: observation is empty")
    assert refusal(lambda: replaced(AURORA, begins="later")).startswith(
        'Setting: begins = "later": there is no such choice; accepted: '
    )
    assert refusal(lambda: replaced(AURORA.action, law="square")).startswith(
        'Action: law = "square": there is no such choice; accepted: '
    )
    assert refusal(lambda: Action("rate", "power", 0.0, 1.0, (1.0, 2.0))).startswith(
        "Action: scale = 0.0: it is not above 0; accepted: "
    )
    for drawn in (
        5,
        {"uniform": ["1 s"]},
        {"uniform": ["2 Mbit/s", "1 Mbit/s"]},
        {"gamma": [1, 2]},
        {"choice": []},
    ):
        told = refusal(lambda drawn=drawn: Env(DUMBBELL, AURORA, paths={"bottleneck.rate": drawn}))
        assert told.startswith("paths: bottleneck.rate: ")
    mixed = {"bottleneck.rate": {"uniform": ["1 Mbit/s", "1 Gbit/s"]}}
    assert "with the same unit" in refusal(lambda: Env(DUMBBELL, AURORA, paths=mixed))
    unknown = Env(DUMBBELL, AURORA, paths={"bottleneck.rat": {"choice": ["1 Mbit/s"]}})
    with pytest.raises(InputError, match="rat"):
        unknown.reset()
    assert refusal(lambda: VectorEnv(DUMBBELL, AURORA, 0)).startswith(
        "there cannot be 0 environments; accepted: from 1"
    )
    assert refusal(lambda: VectorEnv(DUMBBELL, AURORA, 2, threads=0)).startswith(
        "threads = 0: this is no number of threads; accepted: 1 or more"
    )
    wrong: Any
    for wrong in (2.5, "2", True):
        told = refusal(lambda wrong=wrong: VectorEnv(DUMBBELL, AURORA, wrong))
        assert told.endswith(" environments; accepted: from 1 to 65536")
    for wrong in (1.5, "1", True):
        told = refusal(lambda wrong=wrong: VectorEnv(DUMBBELL, AURORA, 2, threads=wrong))
        assert told.startswith("threads = ")
    told = refusal(lambda: Env(DUMBBELL, "aurora"))  # type: ignore[arg-type]
    assert told == 'setting = "aurora": this is not a Setting; accepted: one such as longfat.env.AURORA'
    told = refusal(lambda: Env(DUMBBELL, AURORA, paths=[1]))  # type: ignore[arg-type]
    assert told == "paths = [1]: these are no paths; accepted: keys of the scenario, each with its values"
    one = Env(DUMBBELL, AURORA)
    for wrong in (1.5, "1", -1, True):
        told = refusal(lambda wrong=wrong: one.reset(seed=wrong))
        assert told.endswith(": this is not a seed; accepted: a whole number from 0, or None")
    one.reset(seed=1)
    assert (
        refusal(lambda: one.step(np.zeros(2)))
        == "step: there are 2 actions; accepted: an array of one number"
    )
    wrong = "left"
    assert refusal(lambda: one.step(wrong)).startswith('step: "left" is no array of numbers; accepted: ')
    many = VectorEnv(DUMBBELL, AURORA, 2)
    for wrong in (1.5, "12", [1, "2"], [1, -2]):
        assert refusal(lambda wrong=wrong: many.reset(seed=wrong)).startswith("reset: seed = ")
    assert (
        refusal(lambda: many.reset(seed=[1]))
        == "reset: there are 1 seeds; accepted: one number, or 2 of them"
    )
    many.reset(seed=1)
    assert (
        refusal(lambda: many.step(np.zeros(3)))
        == "step: there are 3 actions; accepted: one for each of 2 environments"
    )


def test_an_action_that_is_not_finite_is_refused_and_changes_nothing() -> None:
    # in a process of its own with little memory: such an action once took all there was
    script = (
        "import numpy as np\n"
        "from longfat.env import AURORA, ORCA, Env, VectorEnv\n"
        "from longfat.errors import InputError\n"
        f"tables = {DUMBBELL!r}\n"
        "for setting in (AURORA, ORCA):\n"
        "    for wrong in (np.nan, np.inf, -np.inf):\n"
        "        for env, shape in ((Env(tables, setting), (1,)), (VectorEnv(tables, setting, 2), (2, 1))):\n"
        "            env.reset(seed=1)\n"
        "            try: env.step(np.full(shape, wrong))\n"
        "            except InputError as error: print(error)\n"
        "            env.step(np.zeros(shape))\n"
    )
    ran = subprocess.run(
        ["bash", "-c", 'ulimit -v 6000000; exec "$0" -c "$1"', sys.executable, script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = [
        f"step: action = {wrong}: this is not a finite number; accepted: one, from -1 to 1 in effect"
        for _ in range(2)
        for wrong in ("nan", "inf", "-inf")
        for _ in range(2)
    ]
    assert (ran.stdout.splitlines(), ran.stderr, ran.returncode) == (told, "", 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scale", np.inf),
        ("scale", "1"),
        ("reach", math.nan),
        ("limits", (1.0, np.inf)),
        ("limits", (2.0, 1.0)),
        ("limits", 3.0),
        ("start", (0.0, 1.0)),
        ("start", ("a", "b")),
        ("start", (1.0,)),
    ],
)
def test_the_numbers_of_an_action_are_finite_and_above_zero(key: str, value: Any) -> None:
    told = refusal(lambda: dataclasses.replace(AURORA.action, **{key: value}))
    assert told.startswith(f"Action: {key} = ")
    assert "accepted: " in told


@pytest.mark.parametrize("weight", [math.nan, -math.inf, "1", True, None])
def test_a_weight_of_a_reward_is_a_finite_number(weight: Any) -> None:
    told = refusal(lambda: dataclasses.replace(AURORA, reward={"latency_s": weight}))
    assert told.startswith('Setting: reward: "latency_s" = ')


@pytest.mark.parametrize(
    ("key", "value"),
    [("reward", []), ("reward", "latency_s"), ("reward", {3: 1.0}), ("observation", 3), ("observation", [3])],
)
def test_the_quantities_of_a_setting_are_named(key: str, value: Any) -> None:
    told = refusal(lambda: dataclasses.replace(AURORA, **{key: value}))
    assert told.startswith(f"Setting: {key}")
    assert "accepted: " in told


def test_numbers_of_numpy_are_numbers_of_a_setting() -> None:
    changed = dataclasses.replace(AURORA, reward={"latency_s": np.float32(-1.0), "loss_share": np.int64(-2)})
    assert [weight for _, weight in changed.rewarded] == [-1.0, -2.0]


def test_an_episode_that_ends_before_the_first_action_is_refused() -> None:
    flow = {"algorithm": "reno", "rtt": "50 ms", "start": "930 ms"}
    short = {**DUMBBELL, "duration": "1 s", "flow": [flow]}
    told = "flow 1: the episode ends before the agent's first action; accepted: a longer duration"
    setting = dataclasses.replace(AURORA, interval="20 ms")
    assert refusal(lambda: Env(short, setting).reset(seed=1)) == told
    assert refusal(lambda: VectorEnv(short, setting, 2).reset(seed=1)) == told


def test_an_environment_that_fails_is_told_and_not_that_it_interrupts_the_others(tmp_path: Path) -> None:
    algorithm = tmp_path / "fails.py"
    algorithm.write_text(
        "class Fails:\n    def on_ack(self, ack, window):\n        raise ValueError('no idea')\n\n"
        "    def on_congestion(self, event, window):\n        window.ssthresh = 2.0\n"
    )
    flow = {"rtt": "20 ms"}
    fast = {"rate": "10 Gbit/s", "buffer": "10000 packets"}
    long = {"duration": "1000 s", "bottleneck": fast, "flow": [{**flow, "algorithm": "cubic"}]}
    failing = {**long, "flow": [{**flow, "algorithm": f"{algorithm}:Fails"}]}
    first, second = (longfat.Simulation(tables) for tables in (long, failing))
    steppers = [first._core, second._core]
    with pytest.raises(_core.AlgorithmError, match="no idea"):
        _core.advance_all(steppers, [first._end_ns, second._end_ns], [0, 0], 2)


def test_a_seed_may_be_a_number_of_numpy() -> None:
    one, two = Env(DUMBBELL, AURORA), VectorEnv(DUMBBELL, AURORA, np.int64(2))  # type: ignore[arg-type]
    whole: Any = np.int64(3)
    assert np.array_equal(one.reset(seed=3)[0], one.reset(seed=whole)[0])
    assert np.array_equal(two.reset(seed=3)[0], two.reset(seed=whole)[0])
    assert np.array_equal(two.reset(seed=3)[0], two.reset(seed=np.array([3, 4]))[0])


def test_a_missing_gymnasium_is_named_with_the_extra_that_brings_it() -> None:
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import longfat.env; print(longfat.env.AURORA.history)\n"
        "try: longfat.env.Env\nexcept ModuleNotFoundError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "10",
        'longfat.env needs gymnasium; accepted: pip install "longfat[gym]"',
    ]


def test_the_example_learns_and_tells_its_rewards() -> None:
    script = Path(__file__).parents[3] / "examples" / "learn_rate.py"
    few = ["--generations", "2", "--population", "4", "--paths", "2"]
    ran = subprocess.run(
        [sys.executable, str(script), *few], capture_output=True, text=True, timeout=300, check=True
    )
    words = [line.split()[0] for line in ran.stdout.splitlines()]
    assert words == ["generation", "generation", "the", "the"]
    assert "of 2 paths" in ran.stdout
