"""The definition of a scenario: what a file may say, its defaults, and checks of how its parts fit together.

Attributes hold SI values (seconds, bit/s, bytes); files and `Scenario.to_toml` always write units. Nothing
here knows how a scenario is run: `longfat.runs.plan` turns `Scenario.resolve` into numbers for the core.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from longfat import documents
from longfat.errors import InputError, ScenarioError
from longfat.scenario import notes, resolved, stacks
from longfat.scenario import traces as traced
from longfat.scenario.background import Background
from longfat.scenario.bottleneck import Bottleneck
from longfat.scenario.capacity import VaryingRate
from longfat.scenario.distributions import is_drawn
from longfat.scenario.disturbances import Steps
from longfat.scenario.fields import (
    MOST_FLOWS,
    SEEDS,
    TIMES_S,
    Duration,
    Seed,
    quantity_schema,
    whole_number,
)
from longfat.scenario.flow import Flow, Sample
from longfat.scenario.form import At, Form
from longfat.scenario.losses import is_random
from longfat.scenario.network import Network
from longfat.scenario.override import override
from longfat.scenario.part import Part, Refused
from longfat.scenario.program import MOST_PROGRAMS, Program
from longfat.scenario.resolved import Resolved
from longfat.scenario.topology import Link, Node
from longfat.units import TIME

MOST_SAMPLES = 20_000_000
"""The most samples of all flows, or of all links, of a run: 1.6 GB of series."""


def _window(value: Any, _: Any) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError('accepted: two times such as ["100 s", "600 s"]')
    begin, end = map(TIME.parse, value)
    if not 0.0 <= begin < end <= TIMES_S[1]:
        raise ValueError('accepted: two times from 0 s on, the lesser first, such as ["100 s", "600 s"]')
    return begin, end


Window = Annotated[
    tuple[float, float],
    Form(
        'two times such as ["100 s", "600 s"]',
        _window,
        lambda value, _: [TIME.write(value[0]), TIME.write(value[1])],
        lambda: {"type": "array", "items": quantity_schema(TIME), "minItems": 2, "maxItems": 2},
    ),
]


class Scenario(Part):
    """A network, its flows and its traffic."""

    title: str = ""
    """Any text; tables and figures have it as a heading."""
    duration: Duration
    """Length of the run."""
    seed: Seed = 1
    """Changes every random draw."""
    window: Window | None = None
    """Metrics are restricted to these times; by default they cover the whole run."""
    bottleneck: Bottleneck = None  # type: ignore[assignment]  # where there are no links
    """The shared link of a dumbbell; or give `[[link]]`."""
    node: list[Node]
    """Points where links meet."""
    link: list[Link]
    """Links between nodes, in place of `[bottleneck]`."""
    flow: list[Flow]
    """The flows whose series are kept."""
    background: list[Background]
    """Traffic that comes and goes."""
    program: list[Program]
    """Commands that run on the path in a live run."""
    sample: Sample = Sample()
    """How often series are sampled."""

    def check(self) -> None:
        """Raises ValueError if the parts do not fit together."""
        network = self.network()
        if not self.flow and not self.background and not self.program:
            raise ValueError(
                "nothing to send; accepted: at least one [[flow]], [[background]] or [[program]]"
            )
        self._programs_fit(network)
        if self.window is not None and self.window[1] > self.duration:
            begin, end, most = map(TIME.write, (*self.window, self.duration))
            raise ValueError(f'window = ["{begin}", "{end}"]: it ends after the run; accepted: up to {most}')
        number = sum(flow.count for flow in self.flow)
        if number > MOST_FLOWS:
            raise ValueError(f"{number} flows; accepted: up to {MOST_FLOWS}")
        names = self.flow_names() + self.background_names()
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise ValueError(f'two flows or backgrounds are called "{twice}"; accepted: names that differ')
        if not self.link and not self.flow and any(part.rtt is None for part in self.background):
            raise ValueError(
                "background.rtt is missing, and there is no flow to take it from; "
                'accepted: a time such as "42 ms"'
            )
        for key, period, series in (
            ("cwnd", self.sample.cwnd, number),
            ("queue", self.sample.queue, len(network.names)),
        ):
            if self.duration / period * series > MOST_SAMPLES:
                least_period = self.duration * series / MOST_SAMPLES
                raise ValueError(
                    f'sample.{key} = "{TIME.write(period)}" gives more than {MOST_SAMPLES} samples; '
                    f'accepted: from "{least_period:.2g} s"'
                )
        network.check_sources()
        network.check_buffers()

    def _programs_fit(self, network: Network) -> None:
        if not self.program:
            return
        if self.link:
            raise ValueError("[[program]] and [[link]]: accepted with [[program]]: a dumbbell, [bottleneck]")
        if network.program_rtt_s == 0.0:
            raise ValueError(
                "bottleneck.rtt is missing, and there is no flow to take it from; "
                'accepted: a time such as "42 ms"'
            )
        if len(self.program) > MOST_PROGRAMS:
            raise ValueError(f"{len(self.program)} programs; accepted: up to {MOST_PROGRAMS}")
        names = self.program_names()
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise ValueError(f'two programs are called "{twice}"; accepted: names that differ')

    def __repr__(self) -> str:
        of = f" {self.title!r}" if self.title else ""
        flows = sum(flow.count for flow in self.flow)
        number = f"{flows} flow{'' if flows == 1 else 's'}"
        return f"<Scenario{of}: {number}, {TIME.write(self.duration)}, seed {self.seed}>"

    def network(self) -> Network:
        """The links, the paths over them, and derived values. Each call computes them again."""
        given = self.bottleneck if "bottleneck" in self.model_fields_set else None
        return Network(given, self.node, self.link, self.flow, self.background)

    @property
    def packet_bytes(self) -> float:
        """The largest full packet of IP that a flow sends, bytes; a background where there is no flow."""
        return self.network().packet_bytes

    def flow_names(self) -> list[str]:
        """The names of all flows, each of `count` on its own: given ones, else running numbers from 1."""
        names: list[str] = []
        for flow in self.flow:
            if flow.name is None:
                names += [str(len(names) + i + 1) for i in range(flow.count)]
            elif flow.count == 1:
                names.append(flow.name)
            else:
                names += [f"{flow.name}-{i + 1}" for i in range(flow.count)]
        return names

    def background_names(self) -> list[str]:
        """The names of the backgrounds: given ones, else kind and number."""
        return [part.name or f"{part.kind}-{i + 1}" for i, part in enumerate(self.background)]

    def program_names(self) -> list[str]:
        """The names of the programs: given ones, else program-1 and so on."""
        return [program.name or f"program-{i + 1}" for i, program in enumerate(self.program)]

    def metrics_window_s(self) -> tuple[float, float]:
        """The times that metrics cover: the given window, else the whole run."""
        return self.window or (0.0, self.duration)

    def varies(self) -> bool:
        """Whether another seed can give another result; a user's own algorithm may draw numbers too."""
        links: Sequence[Link | Bottleneck] = self.link or [self.bottleneck]
        return bool(self.background) or any(
            (
                any(is_random(link.loss) or is_random(link.ack_loss) or link.queue.random for link in links),
                any(link.service_tick > 0.0 or link.disturbs_at_random for link in links),
                not self.link and self.bottleneck.reverse_queue.random,
                any(
                    is_drawn(flow.rtt)
                    or is_drawn(flow.start)
                    or flow.host_tick > 0.0
                    or flow.send_jitter > 0.0
                    or flow.algorithm.random
                    for flow in self.flow
                ),
            )
        )

    def warnings(self) -> list[str]:
        """Notes on settings that can be run but are probably mistakes."""
        return notes.warnings(self.network(), self.flow, self.duration)

    def notes(self) -> list[str]:
        """Lines to know when reading the results."""
        network = self.network()
        return notes.notes(network, self.flow) + notes.of_traces(network, self.duration)

    def meaningless_metrics(self) -> tuple[str, ...]:
        """The metrics without a meaning here, since they compare flows that take unlike paths."""
        return notes.meaningless_metrics(self.network(), self.flow)

    def filled(self) -> Self:
        """The same scenario with every default written out, also those that follow from other values."""
        network = self.network()
        bottleneck = self.bottleneck
        if not self.link:
            derived = {
                "reverse_buffer": network.reverse_buffer,
                "buffer_rtt": network.buffer_rtt_s or None,
            }
            bottleneck = bottleneck.filled().model_copy(update=derived)
        return self.model_copy(
            update={
                "window": self.metrics_window_s(),
                "bottleneck": bottleneck,
                "link": [link.filled() for link in self.link],
                "flow": [
                    flow.model_copy(update={"algorithm": flow.algorithm.filled()}) for flow in self.flow
                ],
                "background": self._filled_background(network),
            }
        )

    def _filled_background(self, network: Network) -> list[Background]:
        """The backgrounds with every default written out, and their loads worked out."""
        filled: list[Background] = []
        for i, (part, name) in enumerate(zip(self.background, self.background_names(), strict=True)):
            update: dict[str, Any] = {"algorithm": part.algorithm.filled(), "name": name}
            if not self.link and part.rtt is None:
                update["rtt"] = self.flow[0].rtt
            filled.append(network.loaded(part.model_copy(update=update), f"background.{i}"))
        return filled

    def resolve(self) -> Resolved:
        """Returns every value of a run as a number, defaults filled in and derived ones worked out once."""
        network = self.network()
        return Resolved(
            seed=self.seed,
            duration_s=self.duration,
            window_s=self.metrics_window_s(),
            access_bps=network.access_bps,
            links=resolved.links(network),
            flows=resolved.flows(network, self.flow, self.flow_names()),
            background=resolved.backgrounds(network, self._filled_background(network)),
            sample=self.sample,
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns nested tables that `from_dict` reads; a user's own algorithm stays an object."""
        return self._whole("python")

    def to_toml(self, traces: Mapping[str, str] | None = None) -> str:
        """Returns a text that `from_toml` reads; `traces` has other names for their files, by `sha256`."""
        import tomli_w

        return tomli_w.dumps(traced.renamed(self._whole("json"), traces or {}))

    def traces(self) -> list[traced.Source]:
        """The files of its traces, each content once."""
        links: Sequence[Link | Bottleneck] = self.link or [self.bottleneck]
        values = [value for link in links for value in (link.rate, link.added_delay)]
        found = [value.source for value in values if isinstance(value, (VaryingRate, Steps))]
        return list({source.sha256: source for source in found if source is not None}.values())

    def _whole(self, mode: str) -> dict[str, Any]:
        """The tables without the keys that are younger than stored scenarios, which stay as they were."""
        tables = self.written(mode)
        return tables if self.program else {key: tables[key] for key in tables if key != "program"}

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """The same scenario with other values for dotted keys, as in {"flow.0.rtt": "82 ms"}.

        A scenario has all its keys, so a stack, as in {"flow.0.stack": "linux"}, sets every key that stacks
        know; other keys among the values win over it.
        """
        data = self.to_dict()
        _make_room_for_stacks(data, values)
        for key, value in values.items():
            override(data, key, value, "scenario")
        return self.from_dict(data)

    def repeat(self, number: int, source: str = "scenario") -> Self:
        """The same scenario with `number` added to its seed; ScenarioError where there is no such seed."""
        seed = self.seed + number
        try:
            return self.model_copy(update={"seed": whole_number(seed, SEEDS)})
        except ValueError as error:
            raise ScenarioError([f"{source}: seed = {seed}: {error}"]) from None

    def after_warmup(self, warmup: str) -> Self:
        """The same scenario with metrics from `warmup`, a time with its unit, to the end; or ValueError."""
        if not 0.0 <= TIME.parse(warmup, "10 s") < self.duration:
            raise ValueError(f"accepted: from 0 s to before the run's end, {TIME.write(self.duration)}")
        return self.with_values({"window": [warmup, TIME.write(self.duration)]})

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any] | Self,
        *,
        source: str = "scenario",
        base: Path | None = None,
        stack: str | None = None,
    ) -> Self:
        """Reads nested tables as in a file.

        Args:
            data: the tables; a scenario is returned as it is.
            source: what error lines name, such as the file.
            base: the folder that "file.py:Class" is relative to; the current one by default.
            stack: the stack of the flows and backgrounds over TCP that name none.

        Raises:
            ScenarioError: with a line per problem.
        """
        if isinstance(data, Mapping) and "base" in data and "axes" in data:
            raise ScenarioError([f"{source}: this is a sweep; accepted: a scenario (see `longfat sweep`)"])
        try:
            return cls.model_validate(data, At(base or Path(), stack=stack))
        except Refused as refused:
            raise ScenarioError([f"{source}: {line}" for line in refused.lines]) from None

    @classmethod
    def from_toml(
        cls,
        text: str,
        *,
        source: str = "scenario",
        base: Path | None = None,
        overrides: Mapping[str, Any] | None = None,
        stack: str | None = None,
        first: Sequence[Mapping[str, Any]] | None = None,
        lasting: str | None = None,
    ) -> Self:
        """Reads the text of a file; `overrides` are dotted keys whose values replace the text's.

        `stack` as in `from_dict`. `first` are programs before those of the text. `lasting` replaces its
        duration; its window is then the whole run.
        """
        try:
            data = documents.toml(text)
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError([f"{source}: not TOML: {_toml_problem(error)}"]) from None
        for key, value in (overrides or {}).items():
            override(data, key, value, source)
        if first and isinstance(data.get("program", []), list):
            data["program"] = [*first, *data.get("program", [])]
        if lasting is not None:
            data.pop("window", None)
            data["duration"] = lasting
        return cls.from_dict(data, source=source, base=base, stack=stack)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        overrides: Mapping[str, Any] | None = None,
        stack: str | None = None,
        first: Sequence[Mapping[str, Any]] | None = None,
        lasting: str | None = None,
    ) -> Self:
        """Reads a file; `overrides`, `stack`, `first` and `lasting` as in `from_toml`."""
        try:
            text = documents.text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise InputError(f"{path}: {reason}; accepted: a scenario file (TOML)") from None
        return cls.from_toml(
            text,
            source=str(path),
            base=Path(path).parent,
            overrides=overrides,
            stack=stack,
            first=first,
            lasting=lasting,
        )


def _make_room_for_stacks(data: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Takes the keys that stacks set out of each flow and background that gets another stack."""
    for key in values:
        match key.split("."):
            case [("flow" | "background") as kind, number, "stack"] if number.isdecimal():
                for table in data[kind][int(number) : int(number) + 1]:
                    for preset in (*stacks.PRESET_KEYS, *stacks.OLDER_SPELLINGS):
                        table.pop(preset, None)


def _toml_problem(error: tomllib.TOMLDecodeError) -> str:
    """What is wrong with the file; a table of a list that is written as a single one gets a hint."""
    table = re.search(r"Cannot declare \(\'(flow|link|node|background)\',\) twice (.*)", str(error))
    if table is None:
        return f"{error}; accepted: a scenario file (TOML)"
    return f"[{table[1]}] twice {table[2]}; accepted: [[{table[1]}]], a list of tables"
