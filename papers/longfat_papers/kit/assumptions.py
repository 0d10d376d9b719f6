"""What a paper leaves open, as data: assumptions, the readings of each, and how a reading changes a run.

A suite writes its table down before anything is measured. The first reading of an assumption is the base: the
one with the best source. A base is never chosen by its verdicts.
"""

from __future__ import annotations

import copy
import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longfat.errors import InputError
from longfat.scenario import registry
from longfat.words import choice

LEAST_READINGS = 2
"""An assumption has at least as many readings, and so has a claim in which something is open."""

DEFAULT_ALGORITHMS = {"onoff": "onoff"}
"""The algorithm of a background that names none, by the background's kind; of all others it is "reno"."""

KINDS: dict[str, Any] = {
    **dict.fromkeys(("assumption", "reading", "claims", "remove"), list),
    **dict.fromkeys(("closed", "flows", "backgrounds", "bottleneck", "algorithms"), dict),
    "rewrite": (str, dict),
}
"""What the keys of a file of assumptions hold, if not texts."""

TABLES = ("flows", "backgrounds", "bottleneck", "algorithms")
"""The tables of a `Change`."""

Document = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """How the scenarios of a reading differ from those of the base. `Change()` changes nothing.

    A key with the value None is removed, so that its default counts. The other values replace those of the
    base; tables are not merged, except for the parameters of ``algorithms``.

    Attributes:
        flows: keys of every [[flow]] over TCP.
        backgrounds: keys of every [[background]] over TCP.
        bottleneck: keys of [bottleneck]; a network of [[link]] has none and stays as it is.
        algorithms: parameters of an algorithm by its name, in every flow and background that it drives.
        rewrite: anything else. It gets a copy of the whole document after the changes above, and returns it.
    """

    flows: Mapping[str, Any] = field(default_factory=dict)
    backgrounds: Mapping[str, Any] = field(default_factory=dict)
    bottleneck: Mapping[str, Any] = field(default_factory=dict)
    algorithms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rewrite: Callable[[Document], Document] | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to change."""
        return any((self.flows, self.backgrounds, self.bottleneck, self.algorithms, self.rewrite))

    def apply(self, document: Mapping[str, Any]) -> Document:
        """Returns a changed copy of a scenario's document, which itself stays as it is."""
        changed = copy.deepcopy(dict(document))
        for table, keys in (("flow", self.flows), ("background", self.backgrounds)):
            if table in changed:
                changed[table] = [self._part(part, keys) for part in changed[table]]
        if "bottleneck" in changed:
            changed["bottleneck"] = updated(changed["bottleneck"], self.bottleneck)
        return self.rewrite(changed) if self.rewrite else changed

    def _part(self, part: Document, keys: Mapping[str, Any]) -> Document:
        """Changes one flow or background; first the parameters of the algorithm that the base has."""
        default = DEFAULT_ALGORITHMS.get(str(part.get("kind")), "reno")
        row = registry.algorithm_named(part.get("algorithm", default))
        for name, parameters in self.algorithms.items():
            if row is not None and row is registry.find("algorithms", name):
                part = {**part, "algorithm": _with_parameters(part.get("algorithm", row["name"]), parameters)}
        over_tcp = row is None or row.get("transport", "tcp") == "tcp"
        return updated(part, keys) if over_tcp else part


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open.

    ``name`` is short and in kebab-case. ``text`` is one sentence: what is different. ``source`` is a source
    that was opened, or says "plausible because ...".
    """

    name: str
    text: str
    source: str
    change: Change


@dataclass(frozen=True)
class Assumption:
    """One thing that the paper leaves open. The first reading is the base, the one with the best source.

    ``id`` is in kebab-case. ``question`` is one sentence. ``claims`` are the ids of the claims that it bears
    on; all if empty. The paper's prefix of an id may be left out.
    """

    id: str
    question: str
    readings: tuple[Reading, ...]
    claims: tuple[str, ...] = ()

    def to_json(self, claims: Sequence[str]) -> Document:
        """Returns the assumption as `assumptions.json` stores it, with the full ids of its claims."""
        readings = [
            {"name": item.name, "text": item.text, "source": item.source, "base": item is self.readings[0]}
            for item in self.readings
        ]
        return {"id": self.id, "question": self.question, "claims": list(claims), "readings": readings}


def load(file: Path, names: Mapping[str, Any]) -> tuple[tuple[Assumption, ...], dict[str, str]]:
    """Reads a file of assumptions: the table, and why nothing is open in other claims, by their ids.

    `docs/recipes/add-a-suite.md` has an example. `flows`, `backgrounds`, `bottleneck` and `algorithms` are
    those of `Change`; ``remove`` names keys whose default counts; ``rewrite`` names a function that gets the
    document, and the other values by name.

    Args:
        file: the TOML file. Line breaks in its texts count as spaces.
        names: constants that texts name in braces, and the functions for ``rewrite``.

    Raises:
        InputError: the file is no TOML, or a key or a name is missing or unknown.
    """
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        _check_keys("the file", document, (), ("assumption", "closed"))
        table = tuple(_assumption(item, names) for item in document.get("assumption", ()))
        closed = {claim: _text(claim, why, names) for claim, why in document.get("closed", {}).items()}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, InputError) as error:
        raise InputError(f"{file}: {error}") from None
    return table, closed


def _assumption(item: Document, names: Mapping[str, Any]) -> Assumption:
    here = f"assumption {item.get('id', 'without an id') if isinstance(item, dict) else ''}"
    _check_keys(here, item, ("id", "question", "reading"), ("claims",))
    readings = tuple(_reading(here, reading, names) for reading in item["reading"])
    question = _text(here, item["question"], names)
    return Assumption(item["id"], question, readings, tuple(item.get("claims", ())))


def _reading(there: str, table: Document, names: Mapping[str, Any]) -> Reading:
    here = f"{there}: reading {table.get('name', 'without a name') if isinstance(table, dict) else ''}"
    _check_keys(here, table, ("name", "text", "source"), (*TABLES, "remove", "rewrite"))
    parts: dict[str, Any] = {key: table.get(key, {}) for key in TABLES}
    for path in table.get("remove", ()):
        *tables, key = path.split(".")
        if tables[:1] not in [[known] for known in TABLES]:
            raise InputError(f"{here}: remove {path}; accepted: a key of {', '.join(TABLES)}")
        functools.reduce(lambda part, name: part.setdefault(name, {}), tables, parts)[key] = None
    if written := table.get("rewrite"):
        arguments = {"name": written} if isinstance(written, str) else dict(written)
        function = names.get(name := arguments.pop("name", ""))
        if not callable(function):
            raise InputError(f"{here}: rewrite {name}; accepted: a function of the suite")
        parts["rewrite"] = functools.partial(function, **arguments)
    text, source = (_text(here, table[key], names) for key in ("text", "source"))
    return Reading(table["name"], text, source, Change(**parts))


def _text(here: str, text: str, names: Mapping[str, Any]) -> str:
    try:
        return " ".join(text.format_map(names).split())
    except (KeyError, ValueError, AttributeError) as error:
        raise InputError(
            f"{here}: {error} in braces; accepted: a constant of the suite, or {{{{ and }}}} for braces"
        ) from None


def _check_keys(here: str, table: Document, needed: tuple[str, ...], others: tuple[str, ...]) -> None:
    known = (*needed, *others)
    if not isinstance(table, dict):
        raise InputError(f"{here}: {table!r}; accepted: a table")
    for key in table:
        if key not in known:
            raise InputError(f"{here}: {key}: {choice(key, known, ', '.join(known), 'key')}")
    for key in needed:
        if key not in table:
            raise InputError(f"{here}: {key} is missing")
    for key, value in table.items():
        kind = KINDS.get(key, str)
        if not isinstance(value, kind):
            words = {str: "a text", list: "a list", dict: "a table"}.get(kind, "a name or a table")
            raise InputError(f"{here}: {key} = {value!r}; accepted: {words}")


def check_table(
    suite: str, assumptions: Sequence[Assumption], closed: Mapping[str, str], claims: Mapping[str, str]
) -> None:
    """Checks a suite's table of assumptions.

    Args:
        suite: the suite's name, for messages.
        assumptions: the table.
        closed: why nothing is open in a claim, by the claim's id.
        claims: the id of each claim by each of its spellings, in lower case.

    Raises:
        InputError: the table is empty, an id is used twice or unknown, an assumption has fewer than two
            readings, the base changes something, or a claim has neither two readings nor a reason.
    """
    here = f"suite {suite}: assumptions"
    if not assumptions and not closed:
        raise InputError(f"{here}: there are none; accepted: `readings.toml` beside the suite's files")
    _refuse_twice(here, "id", [item.id for item in assumptions])
    readings = dict.fromkeys(claims.values(), 0)
    for item in assumptions:
        _check_readings(f"{here}: {item.id}", item)
        bears_on = {_claim(f"{here}: {item.id}", name, claims) for name in item.claims} or set(readings)
        for claim in bears_on:
            readings[claim] += len(item.readings)
    reasons = {_claim(f"{here}: closed", name, claims) for name in closed}
    for claim, count in readings.items():
        if count and claim in reasons:
            raise InputError(f"{here}: {claim}: is closed, but readings bear on it; accepted: one of the two")
        if not count and claim not in reasons:
            raise InputError(
                f"{here}: {claim}: no reading bears on it; accepted: at least {LEAST_READINGS} readings, or "
                "the reason in `closed`"
            )


def _check_readings(here: str, item: Assumption) -> None:
    if len(item.readings) < LEAST_READINGS:
        raise InputError(f"{here}: readings: {len(item.readings)}; accepted: at least {LEAST_READINGS}")
    _refuse_twice(here, "reading", [reading.name for reading in item.readings])
    if item.readings[0].change:
        raise InputError(
            f"{here}: {item.readings[0].name} changes something; accepted: Change() for the first reading, "
            "which is the base"
        )
    for reading in item.readings[1:]:
        if not reading.change:
            raise InputError(f"{here}: {reading.name} changes nothing; accepted: a change from the base")
        for name in reading.change.algorithms:
            try:
                registry.find("algorithms", name)
            except ValueError as error:
                raise InputError(f"{here}: {reading.name}: {error}") from None


def _refuse_twice(here: str, what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{here}: {what} {name} is used twice; accepted: each once")


def _claim(here: str, name: str, claims: Mapping[str, str]) -> str:
    """Returns the id of a claim as the table writes it."""
    if name.casefold() not in claims:
        known = list(dict.fromkeys(claims.values()))
        raise InputError(f"{here}: {name}: {choice(name, known, ', '.join(known), 'claim')}")
    return claims[name.casefold()]


def _with_parameters(algorithm: Any, parameters: Mapping[str, Any]) -> Any:
    """Returns an algorithm, written as a name or a table, with some parameters changed."""
    table = dict(algorithm) if isinstance(algorithm, Mapping) else {"name": algorithm}
    return updated(table, parameters)


def updated(table: Mapping[str, Any], keys: Mapping[str, Any]) -> Document:
    """Returns a copy of a table with keys replaced, and without those whose new value is None."""
    merged = {**table, **copy.deepcopy(dict(keys))}
    return {key: value for key, value in merged.items() if value is not None or key not in keys}
