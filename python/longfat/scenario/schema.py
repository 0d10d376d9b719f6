"""The JSON Schema of scenario files, for editors: from the models, their docstrings and the registry."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any, get_args

from longfat.scenario import registry, stacks
from longfat.scenario.buffers import Buffer
from longfat.scenario.distributions import DrawnRtt, DrawnTime
from longfat.scenario.fields import BottleneckRate
from longfat.scenario.form import Form, Schema
from longfat.scenario.losses import Loss
from longfat.scenario.model import Scenario
from longfat.scenario.named import Algorithm, Queue, Router
from longfat.scenario.part import Part
from longfat.scenario.transport import Transport

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> Schema:
    """Returns the JSON Schema (draft 2020-12) of a scenario file.

    It checks the form: keys, types, units, names and their parameters, and which keys a network and a
    dumbbell need. What depends on several values, such as a window that ends after the run, only `Scenario`
    checks.
    """
    shared = _shared()
    models = sorted(set(_models(Scenario)) - {Scenario}, key=lambda model: model.__name__)
    definitions = {model.__name__: _model_schema(model, shared) for model in models}
    definitions |= {name: _hoisted(shared[name], shared, at_top=True) for name in shared}
    schema = {"$defs": definitions, **_model_schema(Scenario, shared)}
    schema["oneOf"] = [{"required": ["bottleneck"]}, _some("link")]
    schema["anyOf"] = [_some("flow"), _some("background"), _some("program")]
    schema |= {"if": _some("link"), "then": _in_a_network(), "else": _in_a_dumbbell()}
    return {"$schema": DIALECT, **schema, "title": "Longfat scenario"}


def _some(key: str) -> Schema:
    """A list that is given and not empty."""
    return {"required": [key], "properties": {key: {"minItems": 1}}}


def _in_a_network() -> Schema:
    """Flows and backgrounds name their nodes; the links' delays make their RTT."""
    placed = {"items": {"required": ["from", "to"], "properties": {"rtt": False}}}
    return {"properties": {"flow": placed, "background": placed, "program": {"maxItems": 0}}}


def _in_a_dumbbell() -> Schema:
    """There are no nodes, and flows have an RTT; so have backgrounds without a flow to take it from."""
    nowhere: Schema = {"properties": {"from": False, "to": False}}
    timed = {"items": {"required": ["rtt"]}}
    return {
        "properties": {
            "node": {"maxItems": 0},
            "flow": {"items": nowhere | timed["items"]},
            "background": {"items": nowhere},
        },
        "if": {"not": _some("flow")},
        "then": {"properties": {"background": timed}},
    }


def _shared() -> dict[str, Schema]:
    """Schemas that many keys have, by name: each is written once."""
    return {
        "Algorithm": _form_of(Algorithm).schema(),
        "Queue": _form_of(Queue).schema(),
        "Router": _form_of(Router).schema(),
        "Buffer": _form_of(Buffer).schema(),
        "Loss": _form_of(Loss).schema(),
        "VaryingRate": _form_of(BottleneckRate).schema(),
        "DrawnTime": _form_of(DrawnTime).schema(),
        "DrawnRtt": _form_of(DrawnRtt).schema(),
    }


def _form_of(annotated: Any) -> Form:
    return next(argument for argument in get_args(annotated) if isinstance(argument, Form))


def _hoisted(schema: Any, shared: dict[str, Schema], *, at_top: bool = False) -> Any:
    """The schema with a reference wherever it has a shared one."""
    if isinstance(schema, dict):
        name = next((name for name, one in shared.items() if one == schema and not at_top), None)
        if name is not None:
            return {"$ref": f"#/$defs/{name}"}
        return {key: _hoisted(value, shared) for key, value in schema.items()}
    return [_hoisted(item, shared) for item in schema] if isinstance(schema, list) else schema


def _model_schema(model: type[Part], shared: dict[str, Schema]) -> Schema:
    """The schema of a table; each key has its docstring and its default, as a file writes it."""
    texts = docstrings(model)
    properties: dict[str, Schema] = {}
    for name, key in model.model_fields.items():
        found: Schema = _hoisted(_sorted(key.form.schema()), shared)
        described = {"description": _joined(texts.get(name), found.pop("description", None))}
        if not key.tables and key.default is not None:
            described["default"] = key.form.write(key.default, "json")
        if "$ref" in found:  # a definition is shared, its description here is not
            found = {"allOf": [{"$ref": found.pop("$ref")}], **found}
        properties[key.alias] = found | {k: v for k, v in described.items() if v is not None}
    if issubclass(model, Transport):
        properties["variant"] = {
            "enum": sorted(_variants()),
            "description": "Short for algorithm = { name = ..., variant = ... }.",
        }
        properties["stack"] = {
            "enum": list(stacks.NAMES),
            "description": "Sets the keys of a host of this name; keys that are written out win.",
            "default": stacks.RFC.name,
        }
    required = [key.alias for key in model.model_fields.values() if key.required]
    return {
        "additionalProperties": False,
        "description": inspect.getdoc(model),
        "properties": properties,
        **({"required": required} if required else {}),
        "title": model.__name__,
        "type": "object",
    }


def _sorted(schema: Any) -> Any:
    """The schema with its words in order; the order of keys in a table stays."""
    if isinstance(schema, dict):
        return {
            word: {key: _sorted(one) for key, one in schema[word].items()}
            if word == "properties"
            else _sorted(schema[word])
            for word in sorted(schema)
        }
    return [_sorted(item) for item in schema] if isinstance(schema, list) else schema


def _joined(first: str | None, second: str | None) -> str | None:
    texts = [text.rstrip(".") for text in (first, second) if text]
    return ". ".join(texts) + "." if texts else None


def _variants() -> set[str]:
    return {
        word
        for row in registry.rows("algorithms")
        for parameter in row["parameters"]
        if parameter["name"] == "variant"
        for word in parameter["choices"] or ()
    }


def _models(model: type[Part]) -> Iterator[type[Part]]:
    """The model and those of its tables."""
    yield model
    for key in model.model_fields.values():
        for table in key.tables:
            yield from _models(table)


def docstrings(model: type[Part]) -> dict[str, str]:
    """The texts below a model's fields, those of its base classes included."""
    texts: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if not issubclass(owner, Part) or owner is Part:
            continue
        body = ast.parse(inspect.getsource(owner)).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                texts[field.target.id] = inspect.cleandoc(str(text.value.value)).replace("\n", " ")
    return texts
