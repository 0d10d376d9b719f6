"""What an agent sees, does and is rewarded for, as data; ready settings after two papers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np

from longfat.env.quantities import QUANTITIES, Array, Quantity
from longfat.errors import InputError
from longfat.units import TIME, split, to_float
from longfat.words import choice, shown

MOST_HISTORY = 1000
"""The most intervals of an observation."""


@dataclass(frozen=True)
class Action:
    """How an action, a number from -1 to 1, changes what the flow does.

    With a = action x reach, the law "linear" makes x (1 + scale a) of a rate or window x, or x / (1 - scale
    a) if a is below 0. The law "power" makes x scale^a of it.
    """

    moves: Literal["rate", "cwnd"]
    """The pacing rate, without a window; or cwnd, which the algorithm goes on to move."""
    law: Literal["linear", "power"]
    """How the action changes it."""
    scale: float
    """The constant of the law."""
    reach: float
    """What the greatest action stands for."""
    limits: tuple[float, float]
    """The least and the greatest rate (packets per second) or cwnd (segments)."""
    start: tuple[float, float] = (1.0, 1.0)
    """The range of the first rate, of that of the narrowest link of the path; drawn evenly."""

    def __post_init__(self) -> None:
        for name, known in (("moves", ("rate", "cwnd")), ("law", ("linear", "power"))):
            if getattr(self, name) not in known:
                told = choice(getattr(self, name), known)
                raise InputError(f"Action: {name} = {shown(getattr(self, name))}: {told}")
        for name in ("scale", "reach"):
            if not _is_number(getattr(self, name), above=0.0):
                raise InputError(
                    f"Action: {name} = {shown(getattr(self, name))}: it is not above 0; "
                    "accepted: a finite number above 0"
                )
        for name in ("limits", "start"):
            pair = getattr(self, name)
            if not (
                isinstance(pair, Sequence)
                and len(pair) == 2
                and all(_is_number(value, above=0.0) for value in pair)
                and pair[0] <= pair[1]
            ):
                raise InputError(
                    f"Action: {name} = {shown(pair)}: these are not limits; "
                    "accepted: two finite numbers above 0, the lower one first"
                )

    def applied(self, value: Array, action: Array) -> Array:
        """Returns what actions make of rates or windows."""
        a = self.reach * np.clip(action, -1.0, 1.0)
        if self.law == "power":
            changed = value * self.scale**a
        else:
            step = 1.0 + self.scale * np.abs(a)
            changed = np.where(a >= 0.0, value * step, value / step)
        return np.clip(changed, *self.limits)


@dataclass(frozen=True)
class Setting:
    """What an agent sees, does and is rewarded for. To change one, use `dataclasses.replace`."""

    observation: Sequence[str | Quantity]
    """The quantities of an interval that it sees, as names of QUANTITIES or as quantities of your own."""
    history: int
    """The number of intervals for which it sees them, the oldest first."""
    reward: Mapping[str | Quantity, float]
    """The reward of an interval is the sum of these quantities, each times its weight."""
    action: Action
    """What it does."""
    interval: str
    """The length of a monitor interval, such as "20 ms", or "0.5 RTT" for a multiple of the last mean RTT."""
    begins: Literal["connected", "after slow start"] = "connected"
    """The agent takes over at the first RTT, or once cwnd is above ssthresh."""

    def __post_init__(self) -> None:
        if not isinstance(self.observation, Sequence) or isinstance(self.observation, str):
            raise InputError(
                f"Setting: observation = {shown(self.observation)}: this is no list; "
                "accepted: a list of quantities"
            )
        if not self.observation:
            raise InputError("Setting: observation is empty; accepted: one quantity or more")
        if not isinstance(self.reward, Mapping):
            raise InputError(
                f"Setting: reward = {shown(self.reward)}: this is no table; "
                "accepted: quantities with their weights"
            )
        if not isinstance(self.history, int) or not 1 <= self.history <= MOST_HISTORY:
            raise InputError(
                f"Setting: history = {shown(self.history)}: this is no number of intervals; "
                f"accepted: from 1 to {MOST_HISTORY}"
            )
        if self.begins not in ("connected", "after slow start"):
            told = choice(self.begins, ("connected", "after slow start"))
            raise InputError(f"Setting: begins = {shown(self.begins)}: {told}")
        for name, weight in self.reward.items():
            if not _is_number(weight):
                raise InputError(
                    f"Setting: reward: {shown(name)} = {shown(weight)}: it is not finite; "
                    "accepted: a finite number"
                )
        _ = self.observed, self.rewarded, self.timing

    @property
    def observed(self) -> list[Quantity]:
        """The quantities of the observation."""
        return [_found(name, "observation") for name in self.observation]

    @property
    def rewarded(self) -> list[tuple[Quantity, float]]:
        """The quantities of the reward and their weights."""
        return [(_found(name, "reward"), weight) for name, weight in self.reward.items()]

    @property
    def timing(self) -> tuple[float, float]:
        """The length of an interval in seconds and in round-trip times, one of which is 0."""
        amount, unit = split(self.interval) or (None, "")
        if unit == "RTT" and amount is not None and 0 < amount <= MOST_HISTORY:
            return 0.0, to_float(amount)
        try:
            return TIME.parse_within(self.interval, (1e-9, 1e6)), 0.0
        except ValueError as error:
            said = f'{error}, or a multiple such as "0.5 RTT"'
            raise InputError(f"Setting: interval = {shown(self.interval)}: {said}") from None


def _is_number(value: object, above: float = -math.inf) -> bool:
    return type(value) is not bool and isinstance(value, Real) and above < to_float(value) < math.inf


def _found(name: str | Quantity, key: str) -> Quantity:
    if isinstance(name, Quantity):
        return name
    if not isinstance(name, str) or name not in QUANTITIES:
        raise InputError(f"Setting: {key}: {shown(name)}: {choice(name, list(QUANTITIES))}")
    return QUANTITIES[name]


AURORA = Setting(
    observation=("latency_gradient", "latency_ratio", "send_ratio"),
    history=10,
    reward={"throughput_pps": 0.010, "latency_s": -1.0, "loss_share": -2.0},
    action=Action("rate", "linear", scale=0.025, reach=10.0, limits=(40.0, 1000.0), start=(0.3, 1.5)),
    interval="0.5 RTT",
)
"""Aurora (Jay, Rotman, Godfrey, Schapira, Tamar, ICML 2019), as its authors' PCC-RL trains it.

From `src/gym/network_sim.py` and `src/common/sender_obs.py`: the three features over 10 intervals of half the
last mean RTT, DELTA_SCALE 0.025, rates of 40 to 1000 packets per second that begin at 0.3 to 1.5 of the
link's, and a thousandth of 10 throughput - 1000 latency - 2000 loss. The reach of an action was chosen here:
at most a quarter more in an interval. PCC-RL has 1e12, which leaves the choice to the limits of the rate.
"""

ORCA = Setting(
    observation=(
        "throughput_of_best",
        "pacing_of_best",
        "loss_of_best",
        "rtts_of_cwnd",
        "interval_s",
        "least_rtt_of_srtt",
        "delay_metric",
    ),
    history=10,
    reward={"power": 1.0},
    action=Action("cwnd", "power", scale=4.0, reach=1.0, limits=(4.0, 10_000.0)),
    interval="20 ms",
    begins="after slow start",
)
"""Orca (Abbasloo, Yen, Chao, SIGCOMM 2020), whose agent multiplies the window of CUBIC by 4^a every 20 ms.

From its authors' `rl-module/envwrapper.py`, `rl-module/params.json` (`rec_dim` 10) and
`src/orca-server-mahimahi.cc` (windows from 4 to 10000 segments, of which the code enforces only the first;
the agent begins after slow start, which the code speeds up and this leaves to the algorithm). Use it on flows
with `algorithm = "cubic"`.
"""
