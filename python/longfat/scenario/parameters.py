"""The JSON Schemas of a registry row's parameters."""

from __future__ import annotations

from longfat.scenario import registry
from longfat.scenario.fields import number_schema
from longfat.scenario.form import Schema, any_of
from longfat.units import counted_units, declared_units


def row_schema(row: registry.Row, key: str) -> Schema:
    """The schema of a table that names this row under `key` (or the other of "name" and "kind")."""
    names = {"enum": [row["name"], *row["aliases"]]}
    other = "kind" if key == "name" else "name"
    parameters = {parameter["name"]: parameter_schema(parameter) for parameter in row["parameters"]}
    return {
        "type": "object",
        "description": row["citation"],
        "properties": {key: names, other: names, **parameters},
        "oneOf": [{"required": [key]}, {"required": [other]}],
        "additionalProperties": False,
    }


def parameter_schema(parameter: registry.Parameter) -> Schema:
    """The schema of one parameter, with its meaning, its default and its limits."""
    described = {
        "description": registry.meaning(parameter),
        "default": registry.written(parameter, parameter["default"]),
    }
    if parameter["choices"]:
        return {"enum": registry.words(parameter), **described}
    automatic = [{"const": registry.AUTO}] if registry.has_auto(parameter) else []
    unit = parameter["unit"]
    negative = parameter["least"] is None or parameter["least"] < 0.0
    if declared_units(unit):
        example = f"{parameter['default']:g} {unit}"
        text = number_schema("A quantity", example, declared_units(unit), negative=negative)
        return any_of(text, *automatic) | described
    limits = {"minimum": parameter["least"], "maximum": parameter["greatest"]}
    bare: Schema = {"type": "number", **{key: value for key, value in limits.items() if value is not None}}
    texts = [number_schema("A number", f"20 {unit}", counted_units(unit), negative=negative)] if unit else []
    return any_of(bare, *texts, *automatic) | described
