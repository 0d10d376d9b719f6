"""Turns what pydantic found wrong into one line per problem: file, key, value, what would be accepted."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from longfat.scenario.form import Form
from longfat.words import choice, shown, suggestion


def lines(error: ValidationError, model: type[BaseModel], source: str) -> list[str]:
    """Returns one line per problem of a model that was validated from `source`."""
    return [f"{source}: {_line(detail, model)}" for detail in error.errors(include_url=False)]


def _line(detail: ErrorDetails, model: type[BaseModel]) -> str:
    location, owner = _walk(model, detail["loc"])
    path = ".".join(str(part) for part in location)
    match detail["type"]:
        case "missing":
            return f"{path} is missing; accepted: {_accepted(owner, location[-1])}"
        case "extra_forbidden":
            known = [*_fields(owner), *getattr(owner, "also_accepts", ())] if owner else []
            return f"{path}: unknown key{suggestion(str(location[-1]), known)}; accepted: {', '.join(known)}"
        case "value_error":
            message = str(detail["ctx"]["error"])
        case "literal_error":
            message = _literal(owner, location[-1], detail)
        case "string_type":
            message = "accepted: a text"
        case "list_type":
            message = f"accepted: a list of tables, [[{path}]]"
        case "model_type" | "model_attributes_type":
            message = f"accepted: a table, [{path}]"
        case _:
            message = detail["msg"]
    value = detail["input"]
    if (
        isinstance(value, (dict, BaseModel))
        and detail["type"] == "value_error"
        and _is_table(owner, location)
    ):
        return f"{path}: {message}" if path else message
    return f"{path} = {shown(value)}: {message}"


def _literal(owner: type[BaseModel] | None, key: int | str, detail: ErrorDetails) -> str:
    """What is accepted by a key that takes one of a few words."""
    field = _fields(owner).get(str(key)) if owner else None
    words = _words(field.annotation) if field else []
    return choice(detail["input"], words, detail["ctx"]["expected"].replace("'", '"'))


def _words(annotation: Any) -> list[str]:
    """The words of a `Literal`, one that may also be None too."""
    return [
        word
        for argument in get_args(annotation)
        for word in ([argument] if isinstance(argument, str) else _words(argument))
    ]


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the names that a file has."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _walk(
    model: type[BaseModel], location: tuple[int | str, ...]
) -> tuple[tuple[int | str, ...], type[BaseModel] | None]:
    """A location as written in the file, without pydantic's tags of kinds, and the model of its last part."""
    models: list[type[BaseModel]] = [model]
    written: list[int | str] = []
    for position, part in enumerate(location):
        tagged = [kind for kind in models if part in _kinds(kind)] if len(models) > 1 else []
        if tagged:
            models = tagged
            continue
        written.append(part)
        if isinstance(part, str) and position < len(location) - 1:
            field = _fields(models[0]).get(part) if models else None
            models = _models(field.annotation) if field else []
    return tuple(written), models[0] if models else None


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    """The words that tell a model from its alternatives."""
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def _is_table(owner: type[BaseModel] | None, location: tuple[int | str, ...]) -> bool:
    """Whether a location is a table of the file, not a value that is written as an inline table."""
    if not location or isinstance(location[-1], int):
        return True
    field = _fields(owner).get(location[-1]) if owner else None
    return field is not None and bool(_models(field.annotation))


def _accepted(owner: type[BaseModel] | None, key: int | str) -> str:
    field = _fields(owner).get(str(key)) if owner else None
    if field is None:
        return "a value"
    for item in field.metadata:
        if isinstance(item, Form):
            return item.accepts
    if _models(field.annotation):
        return f"a table, [{key}]"
    words = [f'"{word}"' for word in get_args(field.annotation)]
    return " or ".join(words) or "a value"
