"""The tables of a scenario: their keys, how they are read and written, and one line for each problem.

A table is a subclass of `Part`, and its annotations are its keys: a `Form`, a few words (`Literal`), a text,
a table, a list of tables, or tables that their `kind` tells apart. A key without a default has to be given,
but a list of tables is empty where it is not. The names that begin with `model_` are those of pydantic, with
which earlier versions read scenarios.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, Union, get_args, get_origin

from longfat.scenario.form import TOP, At, Form, Schema
from longfat.scenario.registry import listed
from longfat.words import choice, shown, suggestion


class Refused(ValueError):  # noqa: N818 - as InputError, it is no fault of the program
    """A table was refused; `lines` has one for each problem: key, value, what would be accepted."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Alias(str):
    """In an annotation, how files write a key that Python could not have as a name."""


class Key(NamedTuple):
    """One key of a table.

    Attributes:
        alias: its name in files.
        form: what it holds.
        tables: the tables that it holds; none if it holds another value.
        is_list: whether it holds a list of them.
        may_lack: whether it may be None.
        default: its value where it is not given.
        required: whether it has to be given.
    """

    alias: str
    form: Form
    tables: tuple[type[Part], ...]
    is_list: bool
    may_lack: bool
    default: Any
    required: bool

    def read(self, value: Any, at: At) -> Any:
        """Returns the value of an entry in a file; raises ValueError, or `Refused` for a table."""
        return None if value is None and self.may_lack else self.form.read(value, at)


class Part:
    """A table of a scenario. It refuses unknown keys, converts nothing and cannot be changed."""

    model_fields: ClassVar[Mapping[str, Key]] = {}
    """The keys by their names in Python, those of base classes first."""
    also_accepts: ClassVar[tuple[str, ...]] = ()
    """Keys that stand for others (`spelled_out`)."""
    model_fields_set: frozenset[str]
    """The names of the keys that were given."""

    def __init_subclass__(cls) -> None:
        own = {name: _key(cls, name, text) for name, text in cls.__annotations__.items() if _is_key(text)}
        cls.model_fields = {**cls.model_fields, **own}

    def __init__(self, **data: Any) -> None:
        self._fill(data, TOP)

    @classmethod
    def model_validate(cls, data: Any, at: At = TOP) -> Self:
        """Reads a table. Raises `Refused` with a line for each problem."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            accepted = f"a table, [{at.path}]" if at.path else "tables, as in a file"
            raise Refused([f"{at.path} = {shown(data)}: accepted: {accepted}".removeprefix(" = ")])
        part = cls.__new__(cls)
        part._fill(data, at)
        return part

    def _fill(self, data: Mapping[str, Any], at: At) -> None:
        try:
            given = self.spelled_out(data, at)
            values, problems = self._values(given, at)
            if problems:
                raise Refused(problems)
            self.__dict__.update(values)
            names = frozenset(name for name, key in self.model_fields.items() if key.alias in given)
            self.__dict__["model_fields_set"] = names
            self.check()
        except Refused:
            raise
        except ValueError as error:
            raise Refused([f"{at.path}: {error}" if at.path else str(error)]) from None

    def _values(self, given: Mapping[str, Any], at: At) -> tuple[dict[str, Any], list[str]]:
        """The values of all keys, and the problems of those that are given."""
        values: dict[str, Any] = {}
        problems: list[str] = []
        for name, key in self.model_fields.items():
            there = at.below(key.alias)
            if key.alias in given:
                value = given[key.alias]
                try:
                    values[name] = key.read(value, there)
                except Refused as refused:
                    problems += refused.lines
                except ValueError as error:
                    problems.append(f"{there.path} = {shown(value)}: {error}")
            elif key.required:
                problems.append(f"{there.path} is missing; accepted: {key.form.accepts}")
            else:
                values[name] = [] if key.is_list else key.default
        known = [*(key.alias for key in self.model_fields.values()), *self.also_accepts]
        for unknown in [word for word in given if word not in known]:
            near = suggestion(str(unknown), known)
            problems.append(f"{at.below(unknown).path}: unknown key{near}; accepted: {', '.join(known)}")
        return values, problems

    @classmethod
    def spelled_out(cls, data: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        """The table with the keys that others stand for; ValueError if they do not fit."""
        return data

    def check(self) -> None:
        """Raises ValueError, with what would be accepted, if the values do not fit together."""

    def written(self, mode: str = "python") -> dict[str, Any]:
        """Returns the table as a file has it, without keys that have no value; mode "json" is for texts."""
        return {
            key.alias: key.form.write(value, mode)
            for name, key in self.model_fields.items()
            if (value := getattr(self, name)) is not None
        }

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Returns the same table with other values, which are not checked."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__, **update)
        copied.__dict__["model_fields_set"] = self.model_fields_set | update.keys()
        return copied

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a table of a scenario cannot be changed; accepted: with_values")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.model_fields)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.model_fields)
        return f"{type(self).__name__}({given})"


def _is_key(annotation: str) -> bool:
    return not annotation.startswith("ClassVar")


def _key(owner: type[Part], name: str, annotation: str) -> Key:
    """The key that an annotation of a class describes, which is a text (PEP 563)."""
    hint = eval(annotation, vars(sys.modules[owner.__module__]))
    alias, may_lack, form = name, False, None
    while form is None:
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            hint = arguments[0]
            alias = next((str(item) for item in arguments[1:] if isinstance(item, Alias)), alias)
            form = next((item for item in arguments[1:] if isinstance(item, Form)), None)
        elif origin in (Union, UnionType) and NoneType in arguments:
            may_lack = True
            hint = Union[tuple(argument for argument in arguments if argument is not NoneType)]  # noqa: UP007
        else:
            break
    is_list = form is None and get_origin(hint) is list
    within = get_args(hint)[0] if is_list else hint
    tables = () if form else _tables(within)
    if form is None:
        form = _lists(tables) if is_list else _form(hint, tables)
    required = not (hasattr(owner, name) or is_list)
    return Key(alias, form, tables, is_list, may_lack, getattr(owner, name, None), required)


def _tables(hint: Any) -> tuple[type[Part], ...]:
    """The tables among which an annotation leaves the choice."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Part))


def _form(hint: Any, tables: tuple[type[Part], ...]) -> Form:
    if tables:
        return _kinds(tables) if len(tables) > 1 else _table(tables[0])
    return TEXT if hint is str else _words(get_args(hint))


def _read_text(value: Any, _: At) -> str:
    if not isinstance(value, str):
        raise ValueError("accepted: a text")
    return value


TEXT = Form("a text", _read_text, lambda value, _: value, lambda: {"type": "string"})


def _words(words: tuple[Any, ...]) -> Form:
    """One of a few words, or of a few numbers."""
    accepted = listed(words)

    def read(value: Any, _: At) -> Any:
        for word in words:
            if value == word and not isinstance(value, bool):
                return word
        raise ValueError(choice(value, [word for word in words if isinstance(word, str)], accepted))

    def schema() -> Schema:
        some: Schema = {"enum": list(words)} if len(words) > 1 else {"const": words[0]}
        return some | {"type": "string" if isinstance(words[0], str) else "integer"}

    return Form(accepted, read, lambda value, _: value, schema)


def _table(table: type[Part]) -> Form:
    return Form(
        "a table",
        table.model_validate,
        lambda value, mode: value.written(mode),
        lambda: {"$ref": f"#/$defs/{table.__name__}"},
    )


def _kinds(tables: tuple[type[Part], ...]) -> Form:
    """A table whose `kind` tells which of several it is."""
    kinds = {table.model_fields["kind"].form.schema()["const"]: table for table in tables}

    def read(value: Any, at: At) -> Part:
        if isinstance(value, tables):
            return value
        if not isinstance(value, Mapping):
            return tables[0].model_validate(value, at)
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            what = f"kind = {shown(kind)}:" if "kind" in value else "kind is missing;"
            raise Refused([f"{at.path}: {what} {choice(kind, list(kinds))}"])
        return kinds[kind].model_validate(value, at)

    return Form(
        "a table",
        read,
        lambda value, mode: value.written(mode),
        lambda: {"oneOf": [_table(table).schema() for table in tables]},
    )


def _lists(tables: tuple[type[Part], ...]) -> Form:
    """A list of tables."""
    one = _form(None, tables)

    def read(value: Any, at: At) -> list[Part]:
        if not isinstance(value, list):
            raise ValueError(f"accepted: a list of tables, [[{at.path}]]")
        found: list[Part] = []
        problems: list[str] = []
        for i, item in enumerate(value):
            try:
                found.append(one.read(item, at.below(i)))
            except Refused as refused:
                problems += refused.lines
        if problems:
            raise Refused(problems)
        return found

    return Form(
        "a list of tables",
        read,
        lambda value, mode: [each.written(mode) for each in value],
        lambda: {"items": one.schema(), "type": "array"},
    )
