"""Reads TOML and JSON that come from outside. Whatever is wrong with a text is a ValueError.

The parsers of Python's library also raise RecursionError where brackets are nested deeply, and an error of
`int` where a number has thousands of digits.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any

TOO_DEEP = "nested too deeply"
TOO_LONG = "a number has too many digits"


def toml(text: str) -> dict[str, Any]:
    """Returns the content of a TOML text. Raises tomllib.TOMLDecodeError, a ValueError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise tomllib.TOMLDecodeError(TOO_LONG) from None
    except RecursionError:
        raise tomllib.TOMLDecodeError(TOO_DEEP) from None


def json_value(text: str | bytes) -> Any:
    """Returns the value of a JSON text. Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
