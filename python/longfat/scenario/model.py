"""Scenarios: a network, its flows and its traffic.

The core reads, checks and resolves them (`crates/scenario`), where each key is defined once. Attributes
hold SI values (seconds, bit/s, bytes); files and `Scenario.to_toml` always write units.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

from longfat import _core, documents
from longfat.errors import InputError, ScenarioError
from longfat.scenario import loading
from longfat.units import TIME

SEEDS = (0, 2**63 - 1)
RATES_BPS = (1e3, 1e13)
"""The rates that links may have."""
DURATIONS_S = (1e-3, 1e6)
"""The lengths that runs may have."""
IDENTICAL = "nothing in this scenario is random: repeats are identical"
UNLIKE = "the flows take unlike paths, so metrics that compare them with each other have no meaning here"


def assignment(text: str) -> tuple[str, Any]:
    """Returns key and value of "key=value"; the value is read as TOML if it is, else as a text."""
    try:
        return _core.assignment(text)
    except ValueError as error:
        raise InputError(str(error)) from None


class Algorithm:
    """A congestion control: a row of the registry with the parameters given, a user's own, or the kernel's.

    Attributes:
        name: the row's name, "file.py:Class", "file.bpf.o:NAME", or the kernel's name.
        parameters: those given: in the registry's units, or the arguments of a user's own.
        settings: all parameters of a row of the registry.
        written: as a scenario has it.
        factory: the class or function that Python gave; None if a file names it.
        transport: what carries it: "tcp", "udp" or "datagrams".
        protocol: the explicit protocol whose header its data packets carry; None for none.
        needs_marks: whether a user's own algorithm needs every mark reported (RFC 8257).
        is_scalable: whether it responds to the extent of marking.
        is_model_based: whether it controls the window in every phase.
    """

    def __init__(self, view: Mapping[str, Any], written: Any) -> None:
        own = view["kind"] in ("own", "ebpf")
        table = dict(written) if isinstance(written, Mapping) else {"name": written}
        named = table.pop("name", None)
        self.name: str = view["name"]
        self.parameters: dict[str, Any] = table if own else view["parameters"]
        self.settings: dict[str, Any] = view["settings"]
        self.factory: Callable[..., Any] | None = named if callable(named) else None
        self.transport: str = view["transport"]
        self.protocol: str | None = view["protocol"]
        self.needs_marks: bool = view["needs_marks"]
        self.is_scalable: bool = view["is_scalable"]
        self.is_model_based: bool = view["is_model_based"]
        self.written = written
        self._kind: str = view["kind"]

    @property
    def custom(self) -> bool:
        """Whether it is a user's own."""
        return self._kind in ("own", "ebpf")

    @property
    def file(self) -> str | None:
        """The file that the name of a user's own has; None for a class or function passed from Python."""
        return (self.name.rpartition(":")[0] or None) if self.custom else None

    @property
    def ebpf(self) -> bool:
        """Whether it is a congestion control of an object with eBPF programs."""
        return self._kind == "ebpf"

    @property
    def foreign(self) -> bool:
        """Whether only the kernel has it."""
        return self._kind == "kernel"

    @property
    def listed(self) -> bool:
        """Whether the registry has it."""
        return self._kind == "listed"

    def loaded(self) -> Callable[..., Any]:
        """Returns the factory of a user's own algorithm; ValueError if it does not take these parameters."""
        factory = self.factory
        if factory is None:
            file, _, qualified = self.name.rpartition(":")
            factory = loading.load(Path(file), qualified)
        loading.check(factory, self.parameters)
        return factory

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"<Algorithm {self.name}{f' ({given})' if given else ''}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Algorithm) and self._facts() == other._facts()

    def _facts(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "written"}

    __hash__ = None  # type: ignore[assignment]


class Element(NamedTuple):
    """A queue or a router of the registry, in its units: the parameters given, and all of them."""

    kind: str
    parameters: dict[str, Any]
    settings: dict[str, Any]


class Part:
    """A table of a scenario: its keys are attributes, in SI values."""

    def __init__(self, values: Mapping[str, Any], written: Mapping[str, Any]) -> None:
        self.__dict__.update(values)
        for key in ("queue", "reverse_queue", "router"):
            found = values.get(key)
            if isinstance(found, Mapping):
                self.__dict__[key] = Element(**found)
        if "algorithm" in values:
            self.__dict__["algorithm"] = Algorithm(values["algorithm"], written.get("algorithm"))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no key {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a table of a scenario cannot be changed; accepted: with_values")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Part({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Trace(NamedTuple):
    """The file of a trace, its SHA-256, and the bytes that were read of it."""

    path: str
    sha256: str
    data: bytes


def least(drawn: Any) -> float:
    """Returns the least value of a number of a plan that may be drawn."""
    match drawn:
        case {"uniform": [low, _]} | {"exponential": [low, _]}:
            return float(low)
        case {"empirical": rows}:
            return float(min(value for value, weight in rows if weight > 0.0))
        case fixed:
            return float(fixed)


class Network(NamedTuple):
    """What follows from a scenario's links.

    Attributes:
        access_bps: the rate of the hosts' own links.
        program_rtt_s: the RTT of programs' connections; 0 if nothing says it.
        packet_bytes: the largest full packet of IP that a flow sends (a background where there is no flow).
        asked_bps: the load that each background asks for in each direction; None where it asks for none.
    """

    access_bps: float
    program_rtt_s: float
    packet_bytes: float
    asked_bps: list[float | None]


@contextmanager
def _refusals() -> Iterator[None]:
    """Raises what the core refuses as a ScenarioError."""
    try:
        yield
    except _core.Refused as refused:
        raise ScenarioError(refused.args[0]) from None


class Scenario:
    """A network, its flows and its traffic. It cannot be changed.

    Every key of a scenario file is an attribute: `scenario.duration`, `scenario.flow[0].rtt`.
    """

    def __init__(self, tables: Mapping[str, Any] | None = None, /, **keys: Any) -> None:
        """Reads tables as in a file; raises ScenarioError with a line for each problem."""
        self.core = self._read({**(tables or {}), **keys}, "scenario", Path(), None)

    @classmethod
    def _of(cls, core: _core.Scenario) -> Self:
        made = cls.__new__(cls)
        made.core = core
        return made

    @staticmethod
    def _read(
        tables: Mapping[str, Any],
        source: str,
        base: Path,
        stack: str | None,
        changes: Mapping[str, Any] | None = None,
    ) -> _core.Scenario:
        with _refusals():
            return _core.Scenario.read(tables, loading, source, base, stack, dict(changes or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_dict(),)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "core" or "core" in self.__dict__:
            raise AttributeError(f"{name}: a scenario cannot be changed; accepted: with_values")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.core == other.core

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._view:
            raise AttributeError(f"there is no key {name!r}")
        value, written = self._view[name], self._tables.get(name, {})
        if isinstance(value, Mapping):
            value = Part(value, written)
        elif isinstance(value, list) and name != "window":
            value = [Part(*pair) for pair in zip(value, written, strict=True)] if value else []
        elif name == "window" and value is not None:
            value = tuple(value)
        self.__dict__[name] = value
        return value

    @cached_property
    def _view(self) -> dict[str, Any]:
        return self.core.view()

    @cached_property
    def _tables(self) -> dict[str, Any]:
        return self.core.tables()

    def __repr__(self) -> str:
        of = f" {self.title!r}" if self.title else ""
        flows = len(self.flow_names())
        number = f"{flows} flow{'' if flows == 1 else 's'}"
        return f"<Scenario{of}: {number}, {TIME.write(self.duration)}, seed {self.seed}>"

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The numbers that run, every flow with its own entry: do not change them."""
        return self.core.planned()

    def network(self) -> Network:
        """Returns what follows from the links."""
        return Network(**self.core.network())

    @property
    def packet_bytes(self) -> float:
        """The largest full packet of IP that a flow sends, bytes; a background where there is no flow."""
        return self.network().packet_bytes

    def flow_names(self) -> list[str]:
        """The names of all flows, each of `count` on its own: given ones, else running numbers from 1."""
        return self.core.names()[0]

    def program_names(self) -> list[str]:
        """The names of the programs: given ones, else program-1 and so on."""
        return self.core.names()[2]

    def flow_parts(self) -> dict[str, Part]:
        """Returns the table behind each flow, by the flow's name."""
        owners, _ = self.core.owners()
        return {name: self.flow[owner] for name, owner in zip(self.flow_names(), owners, strict=True)}

    def metrics_window_s(self) -> tuple[float, float]:
        """The times that metrics cover: the given window, else the whole run."""
        window: tuple[float, float] = self.window or (0.0, self.duration)
        return window

    def varies(self) -> bool:
        """Whether another seed can give another result; a user's own algorithm may draw numbers too."""
        return self.core.varies()

    def warnings(self) -> list[str]:
        """Notes on settings that can be run but are probably mistakes."""
        return self.core.warnings()

    def notes(self) -> list[str]:
        """Lines to know when reading the results."""
        return self.core.notes()

    def meaningless_metrics(self) -> tuple[str, ...]:
        """The metrics without a meaning here, since they compare flows that take unlike paths."""
        return tuple(self.core.meaningless_metrics())

    def filled(self) -> Self:
        """The same scenario with every default written out, also those that follow from other values."""
        return self._of(self.core.filled())

    def to_dict(self) -> dict[str, Any]:
        """Returns nested tables that `from_dict` reads; a user's own algorithm stays an object."""
        return self.core.tables()

    def to_toml(self, traces: Mapping[str, str] | None = None) -> str:
        """Returns a text that `from_toml` reads; `traces` has other names for their files, by `sha256`."""
        return self.core.toml(dict(traces or {}))

    def traces(self) -> list[Trace]:
        """The files of its traces, each content once."""
        return [Trace(str(path), digest, data) for path, digest, data in self.core.traces()]

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """The same scenario with other values for dotted keys, as in {"flow.0.rtt": "82 ms"}.

        A scenario has all its keys, so a stack, as in {"flow.0.stack": "linux"}, sets every key that stacks
        know; other keys among the values win over it.
        """
        with _refusals():
            return self._of(self.core.with_values(dict(values), loading))

    def repeat(self, number: int, source: str = "scenario") -> Self:
        """The same scenario with `number` added to its seed; ScenarioError where there is no such seed."""
        if number == 0:
            return self
        seed = self.core.seed + number
        if not SEEDS[0] <= seed <= SEEDS[1]:
            accepted = f"a whole number from {SEEDS[0]} to {SEEDS[1]}"
            size = "small" if seed < SEEDS[0] else "large"
            raise ScenarioError([f"{source}: seed = {seed}: the number is too {size}; accepted: {accepted}"])
        return self._of(self.core.with_seed(seed))

    def lasting(self, duration_s: float) -> Self:
        """The same scenario with this duration, with metrics of the whole run."""
        with _refusals():
            return self._of(self.core.lasting(duration_s))

    def after_warmup(self, warmup: str) -> Self:
        """The same scenario with metrics from `warmup`, a time with its unit, to the end; or ValueError."""
        end = TIME.write(self.duration)
        if not 0.0 <= TIME.parse(warmup, "10 s") < self.duration:
            raise ValueError(f"it is not within the run; accepted: a time before the run's end, {end}")
        return self.with_values({"window": [warmup, end]})

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any] | Self,
        *,
        source: str = "scenario",
        base: Path | None = None,
        stack: str | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> Self:
        """Reads nested tables as in a file.

        Args:
            data: the tables; a scenario is returned as it is.
            source: what error lines name, such as the file.
            base: the folder that "file.py:Class" is relative to; the current one by default.
            stack: the stack of the flows and backgrounds over TCP that name none.
            changes: dotted keys whose values replace those of the tables.

        Raises:
            ScenarioError: with a line per problem.
        """
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            raise ScenarioError([f"{source}: this is no scenario; accepted: tables, as in a file"])
        return cls._of(cls._read(data, source, base or Path(), stack, changes))

    @classmethod
    def from_toml(
        cls,
        text: str,
        *,
        source: str = "scenario",
        base: Path | str | None = None,
        overrides: Mapping[str, Any] | None = None,
        stack: str | None = None,
        first: Sequence[Mapping[str, Any]] | None = None,
        lasting: str | None = None,
    ) -> Self:
        """Reads the text of a file; `overrides` are dotted keys whose values replace the text's.

        `stack` as in `from_dict`. `first` are programs before those of the text. `lasting` replaces its
        duration; its window is then the whole run.
        """
        changes = dict(overrides or {})
        programs = list(first) if first else None
        with _refusals():
            read = _core.Scenario.parse
            return cls._of(read(text, loading, source, base or Path(), stack, changes, programs, lasting))

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
        if not str(path):
            raise InputError('"" is an empty name; accepted: a scenario file (TOML)')
        try:
            text = documents.text(path)
        except (OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError):
                raise InputError(f"{path}: {error.strerror}; accepted: a scenario file (TOML)") from None
            wrong = f"byte {error.start + 1} is not UTF-8"
            raise InputError(f"{path}: {wrong}; accepted: a scenario file (TOML) in UTF-8") from None
        return cls.from_toml(
            text,
            source=str(path),
            base=os.path.dirname(path),
            overrides=overrides,
            stack=stack,
            first=first,
            lasting=lasting,
        )
