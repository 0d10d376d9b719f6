"""Algorithms, queues and routers as a scenario names them: by a name, or a table with parameters."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from longfat.scenario import foreign, loading, registry
from longfat.scenario.form import Form, Schema, any_of
from longfat.scenario.parameters import row_schema
from longfat.units import RATE

NAME_KEYS: dict[registry.Kind, str] = {"algorithms": "name", "queues": "kind", "routers": "kind"}
"""The key that holds the name where a scenario writes a table. Both words are read in each."""


@dataclass(frozen=True)
class Element:
    """A queue or a router of the registry; parameters are in the registry's units."""

    kind: str
    parameters: dict[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class QueueSpec(Element):
    """A queueing discipline of the registry."""

    @property
    def random(self) -> bool:
        """Whether it draws random numbers."""
        return bool(registry.find("queues", self.kind).get("random"))

    @property
    def l4s(self) -> bool:
        """Whether it treats ECT(1) as RFC 9331 says."""
        return bool(registry.find("queues", self.kind).get("l4s"))

    def filled(self) -> QueueSpec:
        """The same queue with the default of every parameter that is not given."""
        row = registry.find("queues", self.kind)
        return QueueSpec(self.kind, registry.filled_parameters(row, self.parameters))


@dataclass(frozen=True)
class RouterSpec(Element):
    """An explicit-rate router of the registry."""

    @property
    def protocol(self) -> str:
        """The protocol that it speaks with hosts: its own name, or the one that it drives."""
        return str(self.filled().parameters.get("protocol", self.kind))

    def filled(self) -> RouterSpec:
        """The same router with the default of every parameter that is not given."""
        row = registry.find("routers", self.kind)
        return RouterSpec(self.kind, registry.filled_parameters(row, self.parameters))


def _split(kind: registry.Kind, value: Any) -> tuple[Any, dict[str, Any]]:
    """The name and the parameters of a name or a table."""
    if not isinstance(value, Mapping):
        return value, {}
    given = dict(value)
    own = NAME_KEYS[kind]
    other = "kind" if own == "name" else "name"
    return given.pop(own if own in given else other, None), given


def _element(kind: registry.Kind, value: Any, example: str) -> tuple[str, dict[str, float | str]]:
    name, given = _split(kind, value)
    if not isinstance(name, str):
        raise ValueError(
            f'accepted: the name of a {kind.removesuffix("s")} such as "{example}", '
            "or a table with its kind and parameters"
        )
    row = registry.find(kind, name)
    return row["name"], registry.check_parameters(kind, row, given)


def _write_element(kind: registry.Kind, spec: Element) -> Any:
    if not spec.parameters:
        return spec.kind
    row = registry.find(kind, spec.kind)
    return {"kind": spec.kind, **registry.write_parameters(row, spec.parameters)}


def kind_schema(kind: registry.Kind) -> Schema:
    """The JSON Schema of a name of the registry, or a table with parameters."""
    tables = [row_schema(row, NAME_KEYS[kind]) for row in registry.rows(kind)]
    return any_of({"enum": registry.all_names(kind)}, *tables)


def _form(kind: registry.Kind, spec: type[QueueSpec] | type[RouterSpec], example: str) -> Form:
    return Form(
        f'"{example}"',
        lambda value, _: value if isinstance(value, spec) else spec(*_element(kind, value, example)),
        lambda value, _: _write_element(kind, value),
        lambda: kind_schema(kind),
    )


Queue = Annotated[QueueSpec, _form("queues", QueueSpec, "droptail")]
Router = Annotated[RouterSpec, _form("routers", RouterSpec, "xcp")]

TCP_OPTIONS = frozenset(
    {"initial_ssthresh", "initial_window", "max_window", "slow_start", "max_ssthresh", "delayed_ack"}
    | {"quick_acks", "sack_compression", "slow_start_limit", "cwnd_moderation", "max_burst", "ssthresh_cache"}
    | {"delayed_ack_timeout", "byte_counting", "sack", "recovery", "rtt_samples", "ecn", "quick_start"}
    | {"timestamps", "initial_rto", "rto_tick", "rto_min_of"}
    | {"loss_detection", "abe"}
    | {"send_jitter"}
    | {"timeout_reductions", "first_reduction", "backoff_until"}
    | {"receiver"}
)
"""Keys of a flow that mean nothing to transports over UDP."""


@dataclass(frozen=True)
class AlgorithmSpec:
    """A congestion control: a row of the registry with the parameters given, or a user's own.

    A user's own is a class or zero-argument callable (`factory`), or "file.py:Class" (`name`); its parameters
    go to the constructor as keyword arguments. It may also be "file.bpf.o:NAME", a congestion control of an
    object with eBPF programs. Or it is one that only the running kernel has, by its name there.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    factory: Callable[..., Any] | None = None

    @property
    def custom(self) -> bool:
        """Whether it is a user's own."""
        return self.factory is not None or ".py:" in self.name or f"{loading.OBJECT}:" in self.name

    @property
    def file(self) -> str | None:
        """The file that the name of a user's own has; None for a class or function passed from Python."""
        return (self.name.rpartition(":")[0] or None) if self.custom else None

    @property
    def ebpf(self) -> bool:
        """Whether it is a congestion control of an object with eBPF programs."""
        return self.factory is None and f"{loading.OBJECT}:" in self.name

    @property
    def foreign(self) -> bool:
        """Whether only the kernel has it."""
        return not self.custom and registry.algorithm_named(self.name) is None

    @property
    def listed(self) -> bool:
        """Whether the registry has it."""
        return not self.custom and not self.foreign

    @property
    def needs_marks(self) -> bool:
        """Whether a user's own algorithm needs every mark told (RFC 8257), and so negotiates ECN."""
        return self.custom and loading.needs_marks(self.loaded())

    @property
    def explicit_bytes(self) -> int:
        """The bytes of its explicit congestion header in every data packet."""
        return registry.find("algorithms", self.name).get("explicit_bytes", 0) if self.listed else 0

    @property
    def explicit(self) -> bool:
        """Whether its data packets carry an explicit congestion header, which may take no bytes."""
        return self.listed and registry.find("algorithms", self.name).get("explicit", False)

    def loaded(self) -> Callable[..., Any]:
        """Returns the factory of a user's own algorithm; ValueError if it does not take these parameters."""
        factory = self.factory
        if factory is None:
            file, _, qualified = self.name.rpartition(":")
            factory = loading.load(Path(file), qualified)
        loading.check(factory, self.parameters)
        return factory

    def filled(self) -> AlgorithmSpec:
        """The same algorithm with the default of every parameter that is not given."""
        if not self.listed:
            return self
        row = registry.find("algorithms", self.name)
        return AlgorithmSpec(self.name, registry.filled_parameters(row, self.parameters))

    @property
    def transport(self) -> str:
        """What carries it: "tcp", "udp" or "datagrams", as in the registry."""
        return registry.find("algorithms", self.name).get("transport", "tcp") if self.listed else "tcp"

    def has(self, what: Literal["abe", "scalable", "ect1", "model_based", "protocol"]) -> bool:
        """Whether the registry, or a user's class, says so of it: see `registry.Row`."""
        if self.custom:
            return what == "model_based" and loading.is_model_based(self.loaded())
        if self.foreign:
            return False
        return bool(registry.find("algorithms", self.name).get(what, False))

    @property
    def ignores(self) -> frozenset[str]:
        """Keys of a flow that its transport ignores."""
        match self.transport:
            case "tcp":
                return frozenset()
            case "udp":
                return TCP_OPTIONS
            case _:
                return TCP_OPTIONS | {"rto_min"}

    @property
    def random(self) -> bool:
        """Whether it may draw random numbers; a user's own may."""
        return not self.listed or registry.find("algorithms", self.name).get("random", False)

    def rate_bps(self) -> float | None:
        """The rate that the user sets, of whatever has one and is not TCP; None for all others."""
        if self.transport == "tcp":
            return None
        row = registry.find("algorithms", self.name)
        if "rate" not in (parameter["name"] for parameter in row["parameters"]):
            return None
        return RATE.parse(registry.write_parameters(row, self.filled().parameters)["rate"])


_ALGORITHM = (
    'a name such as "hstcp", or { name = "hstcp", low_window = 31 }, or "file.py:Class", or "file.bpf.o"'
)


def _read_algorithm(value: Any, base: Path) -> AlgorithmSpec:
    if isinstance(value, AlgorithmSpec):
        return value
    name, given = _split("algorithms", value)
    if callable(name):
        return _checked(AlgorithmSpec(callable_name(name), given, name))
    if not isinstance(name, str):
        raise ValueError(f"accepted: {_ALGORITHM}")
    if ".py:" in name:
        file, _, qualified = name.rpartition(":")
        path = (base / file).resolve()
        if not os.path.isfile(path):  # also False for what no file can be called
            raise ValueError(
                f"there is no file {base / file}; accepted: file.py:Class, relative to the scenario's folder"
            )
        return _checked(AlgorithmSpec(f"{path}:{qualified}", given))
    if loading.OBJECT in name:
        file, dot, wanted = name.partition(loading.OBJECT)
        path = (base / f"{file}{dot}").resolve()
        if not os.path.isfile(path) or not (wanted == "" or wanted.startswith(":")):
            raise ValueError(
                f"there is no file {path}{wanted}; accepted: file.bpf.o, or file.bpf.o:NAME, "
                "relative to the scenario's folder"
            )
        return _checked(AlgorithmSpec(f"{path}:{loading.ebpf(path, wanted[1:] or None).name}", given))
    if name.endswith((".py", ".o", ".so", ".c")):
        raise ValueError(f'"{name}" names a file; accepted: file.py:Class, or file.bpf.o')
    if registry.algorithm_named(name) is None and foreign.has(name):
        if given:
            raise ValueError(f"{name} is the kernel's, with its own parameters; accepted: the name alone")
        return AlgorithmSpec(name)
    row = registry.find("algorithms", name)
    return AlgorithmSpec(row["name"], registry.check_parameters("algorithms", row, given))


def _checked(spec: AlgorithmSpec) -> AlgorithmSpec:
    spec.loaded()
    return spec


def callable_name(factory: Callable[..., Any]) -> str:
    """Returns the "file.py:Class" of a class or function, as far as Python knows its file."""
    code = getattr(factory, "__code__", None)
    module = sys.modules.get(getattr(factory, "__module__", ""), None)
    file = code.co_filename if code else getattr(module, "__file__", None)
    return f"{file or 'unknown.py'}:{getattr(factory, '__qualname__', type(factory).__qualname__)}"


def write_algorithm(algorithm: AlgorithmSpec, mode: str = "python") -> Any:
    """Returns what `Algorithm` reads; mode "json" is for texts."""
    # Python values keep a callable, texts name it.
    name: Any = algorithm.factory if algorithm.factory and mode == "python" else algorithm.name
    if not algorithm.parameters:
        return name
    if not algorithm.listed:
        return {"name": name, **algorithm.parameters}
    row = registry.find("algorithms", algorithm.name)
    return {"name": name, **registry.write_parameters(row, algorithm.parameters)}


def _algorithm_schema() -> Schema:
    told = 'A user\'s own, "file.py:Class", or "file.bpf.o" with eBPF programs'
    own = {"type": "string", "pattern": r"\.py:|\.bpf\.o(:|$)", "description": told}
    known = kind_schema("algorithms")["anyOf"]
    return any_of(*known, own, {"type": "object", "properties": {"name": own}, "required": ["name"]})


Algorithm = Annotated[
    AlgorithmSpec,
    Form(_ALGORITHM, lambda value, at: _read_algorithm(value, at.base), write_algorithm, _algorithm_schema),
]
