"""The JSON Schema of scenario files, for editors: from the models, their docstrings and the registry."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from longfat.scenario import registry, stacks
from longfat.scenario.buffers import Buffer
from longfat.scenario.distributions import DrawnRtt, DrawnTime
from longfat.scenario.fields import BottleneckRate
from longfat.scenario.form import Form, Schema
from longfat.scenario.losses import Loss
from longfat.scenario.model import Scenario
from longfat.scenario.named import Algorithm, Queue, Router
from longfat.scenario.transport import Transport

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    """Pydantic's schemas without types that TOML lacks, and without titles that repeat keys."""

    def nullable_schema(self, schema: Any) -> Schema:
        """A key that may be left out; TOML has no null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Schema:
        """The inner schema: `_describe` adds defaults in the form that files use."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a title would repeat the key."""
        return False

    def tagged_union_schema(self, schema: Any) -> Schema:
        """One of several kinds; `discriminator` is OpenAPI's and not JSON Schema's."""
        found = super().tagged_union_schema(schema)
        found.pop("discriminator", None)
        return found


def scenario_schema() -> Schema:
    """Returns the JSON Schema (draft 2020-12) of a scenario file.

    It checks the form: keys, types, units, names and their parameters, and which keys a network and a
    dumbbell need. What depends on several values, such as a window that ends after the run, only `Scenario`
    checks.
    """
    whole = Scenario.model_json_schema(schema_generator=_Generator)
    shared = _shared()
    schema: Schema = _hoisted(whole, shared)
    definitions: dict[str, Schema] = schema["$defs"]
    definitions |= {name: _hoisted(shared[name], shared, at_top=True) for name in shared}
    for model in _models(Scenario):
        described = schema if model is Scenario else definitions[model.__name__]
        _describe(described, model)
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
    found = _inner(annotated)
    assert found is not None
    return found


def _hoisted(schema: Any, shared: dict[str, Schema], *, at_top: bool = False) -> Any:
    """The schema with a reference wherever it has a shared one."""
    if isinstance(schema, dict):
        name = next((name for name, one in shared.items() if one == schema and not at_top), None)
        if name is not None:
            return {"$ref": f"#/$defs/{name}"}
        return {key: _hoisted(value, shared) for key, value in schema.items()}
    return [_hoisted(item, shared) for item in schema] if isinstance(schema, list) else schema


def _describe(schema: Schema, model: type[BaseModel]) -> None:
    """Adds docstrings and defaults, as a file writes them, to the keys of a model's schema."""
    texts = docstrings(model)
    for name, field in model.model_fields.items():
        key = field.alias or name
        found: Schema = schema["properties"][key]
        form = next((item for item in field.metadata if isinstance(item, Form)), None) or _inner(
            field.annotation
        )
        own = found.pop("description", None)
        described = {"description": _joined(texts.get(name), own)}
        if isinstance(field.default, (str, int, float, bool)) or (form and _has_default(field.default)):
            described["default"] = form.write(field.default, "json") if form else field.default
        if "$ref" in found:  # a definition is shared, its description here is not
            found = {"allOf": [{"$ref": found.pop("$ref")}], **found}
        schema["properties"][key] = found | {k: v for k, v in described.items() if v is not None}
    if issubclass(model, Transport):
        schema["properties"]["variant"] = {
            "enum": sorted(_variants()),
            "description": "Short for algorithm = { name = ..., variant = ... }.",
        }
        schema["properties"]["stack"] = {
            "enum": list(stacks.NAMES),
            "description": "Sets the keys of a host of this name; keys that are written out win.",
            "default": stacks.RFC.name,
        }


def _has_default(value: Any) -> bool:
    return value is not None and "Undefined" not in type(value).__name__


def _inner(annotation: Any) -> Form | None:
    """The form within an annotation such as `Annotated[float, Form] | None`."""
    for argument in get_args(annotation):
        if isinstance(argument, Form):
            return argument
        found = _inner(argument)
        if found is not None:
            return found
    return None


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


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and those of its tables, each once."""
    found: dict[type[BaseModel], None] = {}

    def add(one: type[BaseModel]) -> None:
        if one not in found:
            found[one] = None
            for field in one.model_fields.values():
                for inner in _tables(field.annotation):
                    add(inner)

    add(model)
    yield from found


def _tables(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _tables(argument)


@cache
def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The texts below a model's fields, those of its base classes included."""
    texts: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if not issubclass(owner, BaseModel) or owner is BaseModel:
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
