"""Sets dotted keys of a scenario file: for `--set`, the axes of a sweep, and `with_values`."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from longfat import documents
from longfat.errors import InputError

SHORT_FORMS = {"algorithm": "name", "queue": "kind", "router": "kind", "reverse_queue": "kind"}
"""Keys whose value may be a bare name, and the key of that name in the table that it is short for."""

TOML_BEGINS = "\"'[{"
"""How values begin that are TOML, or a mistake; others may be plain words."""


def override(data: dict[str, Any], key: str, value: Any, source: str) -> None:
    """Sets a dotted key in nested tables; list positions are numbers. Makes tables that are missing.

    Raises:
        InputError: the key passes through a value that is not a table, or a list lacks the position.
    """
    *parents, last = key.split(".")
    here: Any = data
    passed: list[str] = []
    for part in parents:
        step: Any = _position(here, part, passed, key, source) if isinstance(here, list) else part
        if isinstance(here, dict):
            here.setdefault(part, {})
        name = SHORT_FORMS.get(part)
        if name is not None and not isinstance(here[step], dict | list):
            here[step] = {name: here[step]}
        here = here[step]
        passed.append(part)
        if not isinstance(here, (dict, list)):
            raise InputError(f"{source}: {key}: {'.'.join(passed)} is not a table; accepted: the whole value")
    if isinstance(here, list):
        here[_position(here, last, passed, key, source)] = value
    else:
        here[last] = value


def _position(here: list[Any], part: str, passed: list[str], key: str, source: str) -> int:
    if not (part.isascii() and part.isdecimal()) or int(part) >= len(here):
        positions = f"a position from 0 to {len(here) - 1}" if here else "nothing, it is empty"
        raise InputError(
            f"{source}: {key}: no {'.'.join([*passed, part])}; accepted after {'.'.join(passed)}: {positions}"
        )
    return int(part)


def parse_override(text: str) -> tuple[str, Any]:
    """Returns key and value of "key=value"; the value is read as TOML if it is, else as a text.

    Raises:
        InputError: there is no key or value, or the value begins as TOML and is not.
    """
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key or not value:
        raise InputError(f'--set {text}: accepted: key=value such as "flow.0.rtt=82 ms"')
    try:
        parsed = documents.toml(f"value = {value}")
    except tomllib.TOMLDecodeError as error:
        if value[0] in TOML_BEGINS:
            what = re.sub(r" \(at [^()]*\)$", "", str(error))
            raise InputError(
                f"--set {text}: the value is not TOML: {what}; accepted: a plain word, or TOML such as "
                '"82 ms", [1, 2] or { kind = "red" }'
            ) from None
        return key, value
    return key, parsed["value"] if parsed.keys() == {"value"} else value
