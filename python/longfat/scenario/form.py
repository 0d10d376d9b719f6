"""How scenario files write one kind of value: reading, writing, its JSON Schema, and its error messages.

Each key of a scenario has a form in its annotation, `Annotated[float, quantity(TIME, ...)]`. A table
(`scenario.part`) reads and writes values through it, error texts quote `accepts`, and `longfat schema` prints
`schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Schema = dict[str, Any]
"""A JSON Schema."""


HERE = Path()
"""The folder that files are relative to unless a scenario comes from a file."""


class At(NamedTuple):
    """The position of a value: its path of keys, and what holds for the whole scenario.

    Attributes:
        base: the folder that files named in it are relative to.
        path: the keys that lead to it, such as "flow.0.rtt"; empty for the scenario itself.
        stack: the stack of the flows and backgrounds over TCP that name none.
    """

    base: Path = HERE
    path: str = ""
    stack: str | None = None

    @property
    def key(self) -> str:
        """The key of the value itself."""
        return self.path.rpartition(".")[2]

    def below(self, key: str | int) -> At:
        """The position of a key of this table, or of an item of this list."""
        return At(self.base, f"{self.path}.{key}" if self.path else str(key), self.stack)


TOP = At()
"""The position of a table by itself."""


class Form(NamedTuple):
    """The form of one kind of value.

    Attributes:
        accepts: what the key takes, for the message when it is missing.
        read: returns the value of an entry in a file; raises ValueError with what would be accepted.
        write: returns the form of a value in a file; "python" or "json" is the text's destination.
        schema: the JSON Schema of an entry in a file.
    """

    accepts: str
    read: Callable[[Any, At], Any]
    write: Callable[[Any, str], Any]
    schema: Callable[[], Schema]


def any_of(*schemas: Schema) -> Schema:
    """A schema that one of these has to accept."""
    return {"anyOf": list(schemas)}


def table(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """The schema of an inline table with these keys and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }
