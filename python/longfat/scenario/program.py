"""Programs on the path: commands that a live run starts at either side, beside the scenario's flows."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from longfat.scenario.fields import Name, Time
from longfat.scenario.form import Form, any_of
from longfat.scenario.part import Part
from longfat.units import TIME

MOST_PROGRAMS = 100
"""The most programs of a scenario (chosen here)."""

_COMMAND = 'a command such as "iperf3 -c {peer}", or a list such as ["iperf3", "-c", "{peer}"]'


def _read_command(value: Any, _: Any) -> str | tuple[str, ...]:
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(part, str) and "\0" not in part for part in value)
        and value[0].strip()
    ):
        return tuple(value)
    raise ValueError(f"accepted: {_COMMAND}")


Command = Annotated[
    str | tuple[str, ...],
    Form(
        _COMMAND,
        _read_command,
        lambda value, _: value if isinstance(value, str) else list(value),
        lambda: any_of(
            {"type": "string", "minLength": 1, "description": "For /bin/sh -c"},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ),
    ),
]


def _read_environment(value: Any, _: Any) -> dict[str, str]:
    accepted = 'accepted: a table of texts, such as { LANG = "C" }'
    if not isinstance(value, dict):
        raise ValueError(accepted)
    for name, text in value.items():
        if not re.fullmatch(r"[^=\0]+", name) or not isinstance(text, str) or "\0" in text:
            raise ValueError(f"{name}: {accepted}")
    return dict(value)


Environment = Annotated[
    dict[str, str],
    Form(
        "a table of texts",
        _read_environment,
        lambda value, _: dict(value),
        lambda: {"type": "object", "additionalProperties": {"type": "string"}},
    ),
]


class Program(Part):
    """A program that runs on the path in a live run."""

    command: Command
    """What is run: a text by /bin/sh, a list as it is. {peer} stands for the other side's address."""
    side: Literal["a", "b"] = "a"
    """The side that it runs on; the bottleneck is in the direction from "a" to "b"."""
    name: Name | None = None
    """Its name in results, by default program-1 and so on."""
    start: Time = 0.0
    """When it starts."""
    stop: Time | None = None
    """When it is asked to end (SIGTERM, a second later SIGKILL); by default with the run."""
    environment: Environment = {}  # noqa: RUF012 - nobody changes it
    """Variables that it has beside those of Longfat's own environment."""

    def check(self) -> None:
        """Raises ValueError if its times do not fit together."""
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(f"stop = {TIME.write(self.stop)} is not after its start; accepted: a later time")

    def told(self) -> str:
        """The command as a user would type it."""
        import shlex

        return self.command if isinstance(self.command, str) else shlex.join(self.command)
