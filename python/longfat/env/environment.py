"""The environments of gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.env.fleet import Fleet, is_whole
from longfat.env.paths import Paths
from longfat.env.setting import Setting
from longfat.errors import InputError
from longfat.numbers import finite
from longfat.runs.simulate import Source
from longfat.words import shown

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    raise ModuleNotFoundError('longfat.env needs gymnasium; accepted: pip install "longfat[gym]"') from None

Values = NDArray[np.float32]


def _spaces(setting: Setting) -> tuple[Any, Any]:
    if not isinstance(setting, Setting):
        raise InputError(
            f"setting = {shown(setting)}: this is not a Setting; accepted: one such as longfat.env.AURORA"
        )
    low, high = np.array([quantity.limits for quantity in setting.observed], dtype=np.float32).T
    observation = spaces.Box(np.tile(low, setting.history), np.tile(high, setting.history), dtype=np.float32)
    return observation, spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)


def _seed(seed: Any) -> int | None:
    """Returns a seed as gymnasium has it."""
    if seed is not None and (not is_whole(seed) or seed < 0):
        raise InputError(
            f"reset: seed = {shown(seed)}: this is not a seed; accepted: a whole number from 0, or None"
        )
    return None if seed is None else int(seed)


def _numbers(actions: Any, count: int, accepted: str) -> NDArray[np.float64]:
    """Returns `count` actions."""
    try:
        given = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"step: {shown(actions)} is no array of numbers; accepted: {accepted}") from None
    if given.size != count:
        raise InputError(f"step: there are {given.size} actions; accepted: {accepted}")
    return given.reshape(-1)


class Env(gymnasium.Env[Values, Values]):
    """A flow of a scenario whose window or rate an agent controls.

    A step is a monitor interval. An episode is a run of the scenario, and is truncated at its end. Each has a
    seed and a path of its own; `reset(seed=...)` makes all that follow the same again.

    Args:
        scenario: a Scenario, the path of a scenario file, or nested tables as in one.
        setting: what the agent sees, does and is rewarded for, such as AURORA.
        flow: the name of the agent's flow.
        paths: dotted keys of the scenario whose values are drawn for each episode, each with one of uniform,
            log_uniform and choice and its values, such as {"uniform": ["1 Mbit/s", "6 Mbit/s"]}.

    Raises:
        InputError: the scenario, the flow or the paths are refused.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium has it so

    def __init__(
        self, scenario: Source, setting: Setting, *, flow: str = "1", paths: Paths | None = None
    ) -> None:
        self.setting = setting
        self.observation_space, self.action_space = _spaces(setting)
        self._fleet = Fleet(scenario, setting, flow, {} if paths is None else paths, 1, 1)
        self._only = np.zeros(1, dtype=np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Values, dict[str, Any]]:
        """Begins an episode. Returns the first observation, and no further information.

        Args:
            seed: what all draws of this episode and of those after it follow from.
            options: unused.
        """
        super().reset(seed=_seed(seed))
        self._fleet.begin([0], [self.np_random])
        return self._fleet.observations()[0], {}

    def step(self, action: Values) -> tuple[Values, float, bool, bool, dict[str, Any]]:
        """Carries out an action and goes on for a monitor interval.

        Returns the observation, the reward, False, whether the episode is over, and what the interval
        brought: time_s, throughput_bps, latency_s, lost, cwnd and pacing_bps.

        Args:
            action: an array of one number.

        Raises:
            InputError: the episode is over, or has not begun, or the action is not one finite number.
        """
        if self._fleet.done[0]:
            raise InputError("the episode is over; accepted: reset() to begin another")
        rewards, told = self._fleet.act(self._only, _numbers(action, 1, "an array of one number"))
        information = {name: finite(float(values[0])) for name, values in told.items()}
        return self._fleet.observations()[0], float(rewards[0]), False, bool(self._fleet.done[0]), information

    def close(self) -> None:
        """Forgets the simulation."""
        self._fleet.close()


class VectorEnv(gymnasium.vector.VectorEnv[Values, Values, NDArray[Any]]):
    """Many environments that go on at the same time, in threads that do not hold the GIL.

    Each is an `Env` with draws of its own. The step after the end of an episode begins the next one and
    ignores the action, as gymnasium does by default (AutoresetMode.NEXT_STEP).

    Args:
        scenario: a Scenario, the path of a scenario file, or nested tables as in one.
        setting: what the agents see, do and are rewarded for, such as AURORA.
        num_envs: how many environments there are.
        flow: the name of the agent's flow in each.
        paths: values that are drawn for each episode, as in `Env`.
        threads: how many go on at the same time; one per processor if None. Results do not depend on it.

    Raises:
        InputError: the scenario, the flow, the paths or a number is refused.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - gymnasium has it so
        "render_modes": [],
        "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        scenario: Source,
        setting: Setting,
        num_envs: int,
        *,
        flow: str = "1",
        paths: Paths | None = None,
        threads: int | None = None,
    ) -> None:
        self.setting = setting
        self._fleet = Fleet(scenario, setting, flow, {} if paths is None else paths, num_envs, threads)
        self.num_envs = num_envs = int(num_envs)
        self.single_observation_space, self.single_action_space = _spaces(setting)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._randoms = [np.random.default_rng() for _ in range(num_envs)]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Values, dict[str, Any]]:
        """Begins an episode in each environment. Returns the first observations, and no further information.

        Args:
            seed: a seed for each environment, or one number: the first one gets it, the next ones those after
                it.
            options: unused.
        """
        seeds = self._seeds(seed)
        self._randoms = [
            before if one is None else gymnasium.utils.seeding.np_random(one)[0]
            for before, one in zip(self._randoms, seeds, strict=True)
        ]
        self._fleet.begin(range(self.num_envs), self._randoms)
        return self._fleet.observations(), {}

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        given: Any = seed
        if isinstance(given, (list, tuple, np.ndarray)):
            if len(given) != self.num_envs:
                raise InputError(
                    f"reset: there are {len(given)} seeds; accepted: one number, or {self.num_envs} of them"
                )
            return [_seed(one) for one in given]
        first = _seed(given)
        return [None if first is None else first + i for i in range(self.num_envs)]

    def step(
        self, actions: Values
    ) -> tuple[Values, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carries out an action in each environment and goes on for a monitor interval of each.

        Returns the observations, the rewards, an array of False, which episodes are over, and what the
        intervals brought, as `Env.step` does; a key with an underscore before it says in which environments.

        Args:
            actions: a row of one number for each environment.

        Raises:
            InputError: there are not as many actions as environments, or none has been reset.
        """
        given = _numbers(actions, self.num_envs, f"one for each of {self.num_envs} environments")
        over = self._fleet.done.copy()
        begun, played = np.flatnonzero(over), np.flatnonzero(~over)
        rewards = np.zeros(self.num_envs)
        information: dict[str, Any] = {}
        if played.size:
            rewards[played], told = self._fleet.act(played, given[played])
            for name, values in told.items():
                information[name] = np.zeros(self.num_envs)
                information[name][played] = values
                information[f"_{name}"] = ~over
        ended = self._fleet.done & ~over
        if begun.size:
            self._fleet.begin(begun.tolist(), [self._randoms[place] for place in begun])
        return self._fleet.observations(), rewards, np.zeros(self.num_envs, dtype=bool), ended, information

    @property
    def packets(self) -> int:
        """Packets that all links of the present episodes have begun to send."""
        return self._fleet.packets()

    def close_extras(self, **_: Any) -> None:
        """Forgets the simulations."""
        self._fleet.close()
