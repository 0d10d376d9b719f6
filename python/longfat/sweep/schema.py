"""The JSON Schema of sweep files, for editors."""

from __future__ import annotations

from longfat.scenario.schema import DIALECT, Schema, any_of, table
from longfat.sweep import layout
from longfat.sweep.file import KEEPS, MOST_POINTS_OF_AXIS, MOST_REPEATS, RANGE_KEYS, SPACINGS

_TEXT: Schema = {"type": "string", "minLength": 1}
_AMOUNT: Schema = {"type": ["string", "number"]}


def sweep_schema() -> Schema:
    """Returns the JSON Schema (draft 2020-12) of a sweep file.

    It checks the form. That an axis names a key of its base, and takes its values, `longfat sweep` checks.
    """
    return {
        "$schema": DIALECT,
        "title": "Longfat sweep",
        "description": "A base scenario, and axes of values that its runs go through.",
        "type": "object",
        "properties": {
            "base": {
                "type": ["string", "object"],
                "minLength": 1,
                "description": "The path of a scenario file, relative to this one, or a scenario as a table.",
            },
            "title": {"type": "string", "description": "Stands over the page of the sweep."},
            "repeats": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_REPEATS,
                "default": 1,
                "description": "Runs of each point, with seeds that count up.",
            },
            "keep": {"enum": list(KEEPS), "description": "What stays of each run."},
            "where": {"type": "string", "description": "Leaves out the points where this does not hold."},
            "axes": {
                "$ref": "#/$defs/Axes",
                "description": "Dotted keys of the scenario with their values; all are combined.",
            },
            "zip": {
                "type": "array",
                "items": {"$ref": "#/$defs/Axes"},
                "description": "Axes that move together.",
            },
            "figure": {
                "type": "array",
                "items": any_of(*(_figure(kind) for kind in layout.KEYS)),
                "description": "Figures of the page of the sweep.",
            },
        },
        "required": ["base"],
        "anyOf": [{"required": ["axes"]}, {"required": ["zip"]}],
        "additionalProperties": False,
        "$defs": {"Axes": _axes(), "Range": _range()},
    }


def _axes() -> Schema:
    """Keys with their values; a key may be dotted, or nested tables."""
    values = {"type": "array", "minItems": 1}
    nested = {"allOf": [{"$ref": "#/$defs/Axes"}, {"not": any_of(*({"required": [k]} for k in RANGE_KEYS))}]}
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": any_of(values, {"$ref": "#/$defs/Range"}, nested),
    }


def _range() -> Schema:
    points = {"type": "integer", "minimum": 2, "maximum": MOST_POINTS_OF_AXIS}
    return table(
        {"from": _AMOUNT, "to": _AMOUNT, "points": points},
        {"spacing": {"enum": list(SPACINGS), "default": SPACINGS[0]}},
    )


def _figure(kind: str) -> Schema:
    """A [[figure]] table of this kind."""
    required = ("x", "y") if kind == "lines" else ("x", "y", "colour")
    own: dict[str, Schema] = {
        "kind": {"const": kind},
        "where": {"type": "object"},
        "y_scale": {"enum": ["linear", "log"]},
    }
    keys = {key: own.get(key, _TEXT) for key in layout.KEYS[kind]}
    return table(
        {key: keys[key] for key in ("kind", *required)},
        {key: keys[key] for key in keys if key not in ("kind", *required)},
    )
