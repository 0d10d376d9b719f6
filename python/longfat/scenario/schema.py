"""The JSON Schema of scenario files, for editors, and what schemas of other files are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longfat import _core

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
"""A JSON Schema."""


def scenario_schema() -> Schema:
    """Returns the JSON Schema (draft 2020-12) of a scenario file."""
    return _core.scenario_schema()


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
