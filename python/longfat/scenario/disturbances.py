"""What happens to packets behind a link's transmitter: reordering, jitter, copies, varying delay, outages.

A trace of delays is a text file. Each line has a time and a delay, both in milliseconds; the delay holds
from that time on. `longfat.scenario.traces` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from longfat.scenario import traces
from longfat.scenario.fields import Switch, quantity, quantity_schema, share, share_schema
from longfat.scenario.form import At, Form, Schema, any_of, table
from longfat.scenario.part import Part
from longfat.scenario.steps import LATEST_S, MOST_STEPS
from longfat.scenario.steps import read as read_steps
from longfat.units import TIME

DELAYS_S = (0.0, 100.0)
"""The range of a delay that a disturbance adds."""
PERIODS_S = (0.1, LATEST_S)
"""The range of the time between two handovers."""
OUTAGES_S = (1e-6, LATEST_S)
"""The range of an outage's length."""
MOST_LINES = 1_000_000
MOST_OUTAGES = 10_000
SHARES = (0.0, 1.0)

_SHARE = 'a share of the packets from 0 to 1, such as 0.01 or "1 %"'


@dataclass(frozen=True)
class Reorder:
    """A share of the packets takes longer by `delay`, so that others overtake it."""

    probability: float
    delay: float


@dataclass(frozen=True)
class Steps:
    """A delay that is added from each time on; `source` is the trace that it comes from."""

    steps: tuple[tuple[float, float], ...]
    source: traces.Source | None = None


@dataclass(frozen=True)
class Handovers:
    """A delay that is drawn anew from [0, range] at each multiple of the period."""

    period: float
    range: float


Added = Steps | Handovers


@dataclass(frozen=True)
class Outage:
    """A time in which a link carries nothing."""

    begin: float
    length: float
    queue: Literal["waits", "drains"] = "waits"


def _time(value: Any, limits: tuple[float, float], where: str, example: str = "10 ms") -> float:
    try:
        return TIME.parse_within(value, limits, example)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _delay(value: Any) -> float:
    return TIME.parse_within(value, DELAYS_S, "10 ms")


def _members(value: Any, required: set[str], example: str, optional: frozenset[str] = frozenset()) -> Any:
    if not isinstance(value, Mapping) or not required <= set(value) <= required | optional:
        raise ValueError(f"accepted: {example}")
    return value


_REORDER = '{ probability = 0.01, delay = "10 ms" }'
_OUTAGE = '{ begin = "10 s", length = "2 s" }, with queue = "waits" (the default) or "drains"'
_ADDED = (
    '{ steps = [["0 s", "0 ms"], ["10 s", "20 ms"]] }, { trace = "file" } or '
    '{ handovers = { period = "15 s", range = "20 ms" } }'
)


def _read_reorder(value: Any, _: At) -> Reorder:
    if isinstance(value, Reorder):
        return value
    given = _members(value, {"probability", "delay"}, _REORDER)
    try:
        probability = share(given["probability"], SHARES, _SHARE)
    except ValueError as error:
        raise ValueError(f"probability: {error}") from None
    return Reorder(probability, _time(given["delay"], DELAYS_S, "delay"))


def _write_reorder(value: Reorder, _: str) -> Any:
    return {"probability": value.probability, "delay": TIME.write(value.delay)}


def _read_added(value: Any, at: At) -> Added:
    if isinstance(value, (Steps, Handovers)):
        return value
    match list(value) if isinstance(value, Mapping) else []:
        case ["steps"]:
            steps = read_steps(value["steps"], "delay", ("0 ms", "20 ms"), _delay, from_start=False)
            return Steps(tuple(steps))
        case ["handovers"]:
            try:
                given = _members(
                    value["handovers"], {"period", "range"}, '{ period = "15 s", range = "20 ms" }'
                )
            except ValueError as error:
                raise ValueError(f"handovers: {error}") from None
            period = _time(given["period"], PERIODS_S, "handovers.period", "15 s")
            return Handovers(period, _time(given["range"], DELAYS_S, "handovers.range", "20 ms"))
    if isinstance(value, Mapping) and traces.is_named(value):
        return _trace(value, at.base)
    raise ValueError(f"accepted: {_ADDED}")


def _trace(value: Mapping[str, Any], base: Path) -> Steps:
    source, rows = traces.read(value, base, _DELAYS, "leo.delays")
    steps: list[tuple[float, float]] = []
    for row in rows:
        time_s, delay_s = (number / 1e3 for number in row.numbers)
        if not (0.0 <= time_s <= LATEST_S) or not DELAYS_S[0] <= delay_s <= DELAYS_S[1]:
            greatest = f"times up to {TIME.write(LATEST_S)} and delays up to {TIME.write(DELAYS_S[1])}"
            raise ValueError(f"{row.where}: {row.shown}; accepted: {greatest}")
        if steps and time_s <= steps[-1][0]:
            raise ValueError(
                f"{row.where}: {row.numbers[0]:.15g} comes after {1e3 * steps[-1][0]:.15g}; "
                f"accepted: {_DELAYS.accepted}"
            )
        steps.append((time_s, delay_s))
        if len(steps) > MOST_LINES:
            raise ValueError(f"trace {base / value['trace']}: accepted: up to {MOST_LINES} lines")
    return Steps(tuple(steps), source)


def _of_other_columns(lines: Sequence[Sequence[str]]) -> str:
    """How the lines of a file with other columns become times and delays."""
    if len(lines[0]) > 2:
        return "more columns: keep the first two, if these are the time and the delay"
    timed = " and ".join(f'"{100 * number} {line[0]}"' for number, line in enumerate(lines))
    return f"delays alone: put the time of each before it; every 100 ms these are {timed}"


_DELAYS = traces.Kind(
    2, "a time and a delay in ms on each line, each time after the one before", _of_other_columns
)


def _write_added(value: Added, _: str) -> Any:
    match value:
        case Handovers(period, span):
            return {"handovers": {"period": TIME.write(period), "range": TIME.write(span)}}
        case Steps(source=traces.Source() as source):
            return source.written()
        case Steps(steps):
            return {"steps": [[TIME.write(time), TIME.write(delay)] for time, delay in steps]}


def _read_outages(value: Any, _: At) -> tuple[Outage, ...]:
    if not isinstance(value, (list, tuple)) or len(value) > MOST_OUTAGES:
        raise ValueError(f"accepted: a list of up to {MOST_OUTAGES} tables such as {_OUTAGE}")
    outages: list[Outage] = []
    for number, one in enumerate(value, start=1):
        if isinstance(one, Outage):
            outages.append(one)
            continue
        where = f"outage {number}"
        try:
            given = _members(one, {"begin", "length"}, _OUTAGE, frozenset({"queue"}))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        begin = _time(given["begin"], (0.0, LATEST_S), f"{where}, begin", "10 s")
        length = _time(given["length"], OUTAGES_S, f"{where}, length", "2 s")
        queue = given.get("queue", "waits")
        if queue not in ("waits", "drains"):
            raise ValueError(f'{where}, queue = {queue!r}: accepted: "waits" or "drains"')
        if outages and begin < outages[-1].begin + outages[-1].length:
            raise ValueError(f"{where}: accepted: a begin after the end of the outage before")
        outages.append(Outage(begin, length, queue))
    return tuple(outages)


def _write_outages(value: tuple[Outage, ...], _: str) -> Any:
    return [
        {"begin": TIME.write(one.begin), "length": TIME.write(one.length), "queue": one.queue}
        for one in value
    ]


def _reorder_schema() -> Schema:
    return table({"probability": share_schema(SHARES), "delay": quantity_schema(TIME)})


def _added_schema() -> Schema:
    time = quantity_schema(TIME)
    pair = {"type": "array", "prefixItems": [time, time], "minItems": 2, "maxItems": 2}
    return any_of(
        table({"steps": {"type": "array", "items": pair, "minItems": 1, "maxItems": MOST_STEPS}}),
        traces.schema("A file of times and delays in ms, relative to the scenario"),
        table({"handovers": table({"period": time, "range": time})}),
    )


def _outages_schema() -> Schema:
    time = quantity_schema(TIME)
    one = table({"begin": time, "length": time}, {"queue": {"enum": ["waits", "drains"]}})
    return {"type": "array", "items": one, "maxItems": MOST_OUTAGES}


ReorderForm = Annotated[Reorder, Form(_REORDER, _read_reorder, _write_reorder, _reorder_schema)]
Jitter = Annotated[float, quantity(TIME, DELAYS_S, "2 ms")]
Duplicate = Annotated[
    float,
    Form(
        _SHARE,
        lambda value, _: share(value, SHARES, _SHARE),
        lambda value, _: value,
        lambda: share_schema(SHARES),
    ),
]
AddedDelay = Annotated[Added, Form(_ADDED, _read_added, _write_added, _added_schema)]
OutageList = Annotated[tuple[Outage, ...], Form(_OUTAGE, _read_outages, _write_outages, _outages_schema)]


class Disturbed(Part):
    """The keys of a link that disturb packets behind its transmitter."""

    reorder: ReorderForm | None = None
    """A share of the data packets and ACKs takes this much longer, and others overtake it."""
    jitter: Jitter = 0.0
    """Each packet takes longer by a time up to this, drawn anew; order is kept without `overtaking`."""
    duplicate: Duplicate = 0.0
    """The share of data packets and ACKs that arrive twice."""
    added_delay: AddedDelay | None = None
    """A propagation delay that varies, in both directions; it is added to the constant one."""
    remark: Literal["mark", "bleach"] | None = None
    """A router marks all ECN-capable data packets, or clears their ECN field; by default it does neither."""
    overtaking: Switch = False
    """Packets may overtake each other by jitter and by a delay that varies."""
    outages: OutageList = ()
    """When the link carries nothing, in either direction, and what its queues do meanwhile."""

    def disturbance(self, medium: str, *, back: bool) -> Disturbance | None:
        """What disturbs packets of one direction; None if nothing does.

        Args:
            medium: the name of what both directions share.
            back: for the way back, which shares the varying delay and the outages only.
        """
        both = Disturbance(
            medium, added_delay=self.added_delay, overtaking=self.overtaking, outages=self.outages
        )
        found = both if back else both.beside(self.reorder, self.jitter, self.duplicate, self.remark)
        return found if found.disturbs else None

    @property
    def disturbs_at_random(self) -> bool:
        """Whether what happens to packets differs from seed to seed."""
        return (
            (self.reorder is not None and 0.0 < self.reorder.probability < 1.0)
            or self.jitter > 0.0
            or 0.0 < self.duplicate < 1.0
            or isinstance(self.added_delay, Handovers)
        )

    def refuse_waiting_ticks(self, service_tick: float) -> None:
        """Raises ValueError where a queue served at ticks would have to wait for the end of an outage."""
        if service_tick > 0.0 and any(outage.queue == "waits" for outage in self.outages):
            raise ValueError('outages: with service_tick accepted: queue = "drains" in each of them')


@dataclass(frozen=True)
class Disturbance:
    """What disturbs the packets of one direction of a link; `medium` names what both directions share."""

    medium: str
    reorder: Reorder | None = None
    jitter: float = 0.0
    duplicate: float = 0.0
    added_delay: Added | None = None
    overtaking: bool = False
    outages: tuple[Outage, ...] = ()
    remark: str | None = None

    def beside(
        self, reorder: Reorder | None, jitter: float, duplicate: float, remark: str | None
    ) -> Disturbance:
        """The same with what only one direction has."""
        return replace(self, reorder=reorder, jitter=jitter, duplicate=duplicate, remark=remark)

    @property
    def disturbs(self) -> bool:
        """Whether any of it makes a difference."""
        late = self.reorder is not None and self.reorder.probability > 0.0
        rest = self.added_delay is not None or self.overtaking or bool(self.outages)
        return late or self.jitter > 0.0 or self.duplicate > 0.0 or self.remark is not None or rest

    @property
    def plan(self) -> dict[str, Any]:
        """The form that the core reads."""
        found: dict[str, Any] = {}
        if self.reorder is not None:
            found["reorder"] = {"probability": self.reorder.probability, "delay_s": self.reorder.delay}
        if self.jitter > 0.0:
            found["jitter_s"] = self.jitter
        if self.duplicate > 0.0:
            found["duplicate"] = self.duplicate
        match self.added_delay:
            case Steps(steps):
                found["added_delay"] = {"steps": [list(step) for step in steps]}
            case Handovers(period, span):
                found["added_delay"] = {
                    "handovers": {"period_s": period, "range_s": span, "medium": self.medium}
                }
        if self.overtaking:
            found["overtaking"] = True
        if self.remark is not None:
            found["remark"] = self.remark
        if self.outages:
            found["outages"] = [
                {"begin_s": one.begin, "length_s": one.length, "queue": one.queue} for one in self.outages
            ]
        return found


def longest(plan: Mapping[str, Any]) -> dict[str, float]:
    """Returns the greatest delay that each key of a planned disturbance adds, s."""
    added = plan.get("added_delay", {})
    greatest = max((delay for _, delay in added.get("steps", ())), default=0.0)
    return {
        "reorder": plan.get("reorder", {}).get("delay_s", 0.0),
        "jitter": plan.get("jitter_s", 0.0),
        "added_delay": math.fsum((greatest, added.get("handovers", {}).get("range_s", 0.0))),
    }
