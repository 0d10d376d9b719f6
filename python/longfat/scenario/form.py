"""How scenario files write one kind of value: reading, writing, its JSON Schema, and its error messages.

Each key of a scenario has a form in its annotation, `Annotated[float, quantity(TIME, ...)]`. Pydantic reads
and writes values through it, error texts quote `accepts`, and `longfat schema` prints `schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

Schema = dict[str, Any]
"""A JSON Schema."""


HERE = Path()
"""The folder that files are relative to unless a scenario comes from a file."""


class At(NamedTuple):
    """The position of a value: the folder that files named in it are relative to, and its key."""

    base: Path
    key: str


@dataclass(frozen=True, eq=False)
class Form:
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

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any, info: ValidationInfo) -> Any:
            base = info.context.get("base", HERE) if info.context else HERE
            return self.read(value, At(base, info.field_name or ""))

        def write(value: Any, info: Any) -> Any:
            return self.write(value, info.mode)

        return core_schema.with_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(write, info_arg=True)
        )

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> Schema:
        return self.schema()


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
