"""What a receiver does against the rules, as a scenario says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from longfat.scenario.fields import whole_number, whole_schema
from longfat.scenario.form import At, Form, Schema, table

AHEAD = (0, 1_000_000_000)
PARTS = (1, 100)

_EXAMPLE = "{ conceal_losses = true }, or with ack_ahead = 10, divide_acks = 4 and hide_marks = true"


@dataclass(frozen=True)
class Receiver:
    """What the receiver does against the rules; by default nothing.

    Attributes:
        conceal_losses: it acknowledges segments that are missing below the highest one that has come.
        ack_ahead: its ACKs cover up to this many segments that have not come yet.
        divide_acks: it sends this many ACKs in place of one, each for a part of the same segments.
        hide_marks: it takes marked packets for unmarked ones.
    """

    conceal_losses: bool = False
    ack_ahead: int = 0
    divide_acks: int = 1
    hide_marks: bool = False

    @property
    def plan(self) -> dict[str, Any]:
        """The form that the core reads: what differs from an honest receiver."""
        return {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if getattr(self, item.name) != item.default
        }


def _read(value: Any, _: At) -> Receiver:
    if isinstance(value, Receiver):
        return value
    known = {item.name for item in fields(Receiver)}
    if not isinstance(value, Mapping) or not set(value) <= known:
        raise ValueError(f"accepted: {_EXAMPLE}")
    given = dict(value)
    for key in ("conceal_losses", "hide_marks"):
        if not isinstance(given.get(key, False), bool):
            raise ValueError(f"{key}: accepted: true or false")
    for key, limits in (("ack_ahead", AHEAD), ("divide_acks", PARTS)):
        if key in given:
            try:
                given[key] = whole_number(given[key], limits)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from None
    return Receiver(**given)


def _schema() -> Schema:
    switch = {"type": "boolean"}
    return table(
        {},
        {
            "conceal_losses": switch,
            "ack_ahead": whole_schema(AHEAD),
            "divide_acks": whole_schema(PARTS),
            "hide_marks": switch,
        },
    )


ReceiverForm = Annotated[Receiver, Form(_EXAMPLE, _read, lambda value, _: value.plan, _schema)]
