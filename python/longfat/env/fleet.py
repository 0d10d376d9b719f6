"""Many simulations that go on together, with an agent at one flow of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat import _core, system
from longfat.env.paths import Drawing, Paths
from longfat.env.quantities import Array, Interval
from longfat.env.setting import Setting
from longfat.errors import InputError
from longfat.runs.simulate import Ready, Source, load, name_of
from longfat.runs.step import MOST_CWND, NS_PER_S
from longfat.words import choice, shown

UNTIL_NS = NS_PER_S // 100
"""A flow that has not begun is looked at this often."""
ASIDE = "algorithm of your own"
MOST_ENVIRONMENTS = 65_536

COLUMNS = tuple(_core.Stepper.INTERVAL)
Whole = NDArray[np.int64]
Places = Whole | slice
"""Places by their numbers; a slice of all of them is quicker."""


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class Fleet:
    """Simulations in numbered places; each plays one episode after another.

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        setting: what the agent sees, does and is rewarded for.
        flow: the name of the agent's flow.
        paths: values that are drawn for each episode.
        places: how many simulations there are.
        threads: how many of them go on at the same time.
    """

    def __init__(
        self, source: Source, setting: Setting, flow: str, paths: Paths, places: int, threads: int | None
    ) -> None:
        if not is_whole(places) or not 1 <= places <= MOST_ENVIRONMENTS:
            raise InputError(
                f"there cannot be {shown(places)} environments; accepted: from 1 to {MOST_ENVIRONMENTS}"
            )
        processors = system.cores()
        if threads is not None and (not is_whole(threads) or threads < 1):
            raise InputError(
                f"threads = {shown(threads)}: this is no number of threads; "
                "accepted: 1 or more, or None for all processors"
            )
        self.scenario = load(source)
        self._name = name_of(source)
        self.setting = setting
        self.threads = min(int(places), processors if threads is None else int(threads))
        names = self.scenario.flow_names()
        if flow not in names:
            raise InputError(f"flow = {shown(flow)}: {choice(flow, names, what='flow')}")
        self._index = names.index(flow)
        own = self.scenario.plan["flows"][self._index]
        for ends, told in ((own["bytes"] is not None, "has a size"), (own["stop_s"] is not None, "stops")):
            if ends:
                raise InputError(f"flow {flow} {told}; accepted: a flow that sends until the episode ends")
        self._flow = flow
        self._drawing = Drawing(paths)
        self._span_s, self._span_rtts = setting.timing
        self._ready: Ready
        self._steppers: list[Any] = [None] * places
        self.done: NDArray[np.bool_] = np.ones(places, dtype=bool)
        self._now_ns: Whole = np.zeros(places, dtype=np.int64)
        self._end_ns: Whole = np.zeros(places, dtype=np.int64)
        self._packet_bits, self._rate_pps = np.zeros(places), np.zeros(places)
        self._rtt_s, self._cwnd = np.zeros(places), np.zeros(places)
        self._observed, self._rewarded = setting.observed, setting.rewarded
        low, high = np.array([quantity.limits for quantity in self._observed]).T
        self.limits = low, high
        self._history = np.zeros((places, setting.history, len(self._observed)))

    def begin(self, places: Sequence[int], randoms: Sequence[np.random.Generator]) -> None:
        """Begins new episodes in these places, and goes on to where the agent takes over."""
        which = np.array(places, dtype=np.int64)
        for place, random in zip(places, randoms, strict=True):
            scenario = self._drawing.scenario(self.scenario, random)
            self._ready = ready = Ready.of(scenario, self._name)
            with ready.map_errors():
                stepper = _core.Stepper(scenario.core, ready.algorithms, False, ready.memory_bytes)
            if not stepper.watch(self._index):
                raise InputError(
                    f"flow {self._flow} has no window: UDP carries it; accepted: a flow over TCP"
                )
            self._steppers[place] = stepper
            self._end_ns[place] = stepper.end_ns
            self._set_out(place, scenario.plan, random)
        self._now_ns[which] = 0
        self._history[which] = [quantity.at_rest for quantity in self._observed]
        self._await(which)
        if self.setting.action.moves == "rate":
            for place in places:
                self._steppers[place].steer(self._index, MOST_CWND, True, self._rate_pps[place])
        self._go_on(which)
        if np.any(self.done[which]):
            raise InputError(
                f"flow {self._flow}: the episode ends before the agent's first action; "
                "accepted: a longer duration"
            )

    def _set_out(self, place: int, planned: Mapping[str, Any], random: np.random.Generator) -> None:
        """Notes what is known of an episode's path, and draws the first rate."""
        flow = planned["flows"][self._index]
        bits = 8.0 * (flow["transport"]["mss"] + flow["header_bytes"])
        narrowest = min(float(planned["links"][link]["rate_bps"]) for link in flow["forward"])
        action = self.setting.action
        first = narrowest / bits * random.uniform(*action.start)
        self._packet_bits[place] = bits
        self._rate_pps[place] = min(max(first, action.limits[0]), action.limits[1])

    def _await(self, which: Whole) -> None:
        """Goes on until the agent takes over."""
        waiting = which
        while waiting.size:
            seen = self._advance(waiting, self._now_ns[waiting] + UNTIL_NS)
            begun = seen["srtt_s"] > 0.0
            if self.setting.begins == "after slow start":
                begun &= seen["ssthresh"] < seen["cwnd"]
            self._rtt_s[waiting] = seen["srtt_s"]
            self._cwnd[waiting] = seen["cwnd"]
            ended = self._now_ns[waiting] >= self._end_ns[waiting]
            if np.any(ended & ~begun):
                what = "is not out of slow start" if np.any(seen["srtt_s"][ended] > 0.0) else "has not begun"
                raise InputError(
                    f"flow {self._flow} {what} at the end of an episode; accepted: a longer duration"
                )
            for place in waiting[begun]:
                self._steppers[place].watch(self._index)  # what the agent sees begins here
            waiting = waiting[~begun]

    def _all_or(self, places: Whole) -> Places:
        return slice(None) if places.size == len(self._steppers) else places

    def _advance(self, which: Places, to_ns: Whole) -> dict[str, Array]:
        """Goes on to these times, and returns what has happened since the last ones at the senders."""
        to_ns = np.minimum(to_ns, self._end_ns[which])
        steppers = self._steppers if isinstance(which, slice) else [self._steppers[i] for i in which]
        with self._ready.map_errors():
            found = _core.advance_all(steppers, to_ns.tolist(), [self._index] * len(steppers), self.threads)
        self._now_ns[which] = to_ns
        rows = np.frombuffer(found, dtype="<f8").reshape(len(steppers), len(COLUMNS))
        return dict(zip(COLUMNS, rows.T, strict=True))

    def act(self, which: Whole, actions: Array) -> tuple[Array, Mapping[str, Array]]:
        """Carries out actions in these places and goes on for an interval; returns the rewards and more.

        Places whose episode ends with it are then `done`.
        """
        action = self.setting.action
        if not np.all(np.isfinite(actions)):
            wrong = float(actions[~np.isfinite(actions)][0])
            raise InputError(
                f"step: action = {shown(wrong)}: this is not a finite number; "
                "accepted: one, from -1 to 1 in effect"
            )
        if action.moves == "rate":
            self._rate_pps[which] = action.applied(self._rate_pps[which], actions)
            for place, rate in zip(which.tolist(), self._rate_pps[which].tolist(), strict=True):
                self._steppers[place].steer(self._index, None, False, rate)
        else:
            cwnd = action.applied(self._cwnd[which], actions)
            for place, segments in zip(which.tolist(), cwnd.tolist(), strict=True):
                self._steppers[place].steer(self._index, segments, False, None)
        seen = self._go_on(which)
        rewards = sum(
            (weight * quantity.of(seen) for quantity, weight in self._rewarded), np.zeros(which.size)
        )
        told = {
            "time_s": self._now_ns[which] / NS_PER_S,
            "throughput_bps": seen.throughput_pps * seen.packet_bits,
            "latency_s": seen.rtt_s,
            "lost": seen.lost,
            "cwnd": seen.cwnd,
        }
        if action.moves == "rate":
            told["pacing_bps"] = self._rate_pps[which] * seen.packet_bits
        return rewards, told

    def _go_on(self, places: Whole) -> Interval:
        """Goes on for an interval, and notes what it brings."""
        which = self._all_or(places)
        spans_s = np.maximum(self._span_s + self._span_rtts * self._rtt_s[which], 1.0 / NS_PER_S)
        found = self._advance(which, self._now_ns[which] + np.rint(spans_s * NS_PER_S).astype(np.int64))
        del found["ssthresh"]
        seen = Interval(**found, packet_bits=self._packet_bits[which])
        self._rtt_s[which] = np.where(seen.rtt_s > 0.0, seen.rtt_s, self._rtt_s[which])
        self._cwnd[which] = seen.cwnd
        self._history[which, :-1] = self._history[which, 1:]
        row = np.stack([quantity.of(seen) for quantity in self._observed], axis=1)
        self._history[which, -1] = np.clip(row, *self.limits)
        self.done[which] = self._now_ns[which] >= self._end_ns[which]
        return seen

    def observations(self) -> NDArray[np.float32]:
        """What the agent sees in each place: a row of the intervals of its history, the oldest first."""
        return self._history.reshape(len(self._steppers), -1).astype(np.float32)

    def packets(self) -> int:
        """Packets that all links of the present episodes have begun to send."""
        return sum(stepper.packets for stepper in self._steppers if stepper is not None)

    def close(self) -> None:
        """Forgets the simulations."""
        self._steppers = [None] * len(self._steppers)
        self.done[:] = True
