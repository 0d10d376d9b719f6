"""How messages show a value, and what would have been accepted in its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

LONGEST_VALUE = 60
MOST_REPEATS = 10_000
"""The most repeats of a run at once."""

Mode = Literal["quick", "full"]
"""How much of a suite or a comparison runs: a short list of points, or all of them."""
Backend = Literal["sim", "live"]
"""What carries runs: the simulator, or this machine's own TCP."""


def shown(value: Any) -> str:
    """Returns a value roughly as a file writes it, shortened if it is long."""
    if isinstance(value, dict):
        text = "{ " + ", ".join(f"{key} = {shown(item)}" for key, item in value.items()) + " }"
    elif isinstance(value, float):
        text = repr(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def suggestion(word: Any, known: Iterable[str]) -> str:
    """Returns ', did you mean "x"?' if a known word is near, or nothing."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1) if isinstance(word, str) else []
    return f', did you mean "{near[0]}"?' if near else ""


def choice(word: Any, known: Sequence[str], accepted: str | None = None, what: str = "choice") -> str:
    """Returns that there is no such word, with the nearest one if one is near, and what is accepted.

    Args:
        word: the wrong word.
        known: the accepted words.
        accepted: the text to show instead of `known` in quotes.
        what: what the word would be, such as "flow".
    """
    *first, last = [f'"{item}"' for item in known] or [""]
    listed = " or ".join([", ".join(first), last] if first else [last])
    return f"there is no such {what}{suggestion(word, known)}; accepted: {accepted or listed}"


def natural_order(identifier: str) -> list[tuple[int, int, str]]:
    """Returns a sort key that puts LLS-F3a before LLS-F10."""
    key: list[tuple[int, int, str]] = []
    digits = text = ""
    for character in identifier:
        if character.isdigit():
            if text:
                key.append((1, 0, text))
                text = ""
            digits += character
        else:
            if digits:
                key.append((0, int(digits), ""))
                digits = ""
            text += character
    key.append((0, int(digits), "") if digits else (1, 0, text))
    return key
