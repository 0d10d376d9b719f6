"""Loss models of a link: independent losses, every n-th packet, and the Gilbert-Elliott chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from longfat.scenario.fields import number_schema, share, share_schema, whole_number
from longfat.scenario.form import Form, Schema, any_of, table

PROBABILITIES = (0.0, 0.999_999)
EVERY_PACKETS = (2, 10**15)


@dataclass(frozen=True)
class RandomLoss:
    """The link loses each packet with this probability."""

    probability: float


@dataclass(frozen=True)
class EveryLoss:
    """The link loses every `packets`-th packet of each flow."""

    packets: int


@dataclass(frozen=True)
class GilbertElliott:
    """A two-state Markov chain that takes a step for each packet; all four are probabilities per packet."""

    good_to_bad: float
    bad_to_good: float
    loss_good: float = 0.0
    loss_bad: float = 1.0


_PROBABILITY = 'a probability per packet, from 0 to below 1, such as 1e-5 or "0.1 %"'

LossModel = RandomLoss | EveryLoss | GilbertElliott
_KEYS = tuple(GilbertElliott.__dataclass_fields__)
_REQUIRED = ("good_to_bad", "bad_to_good")


def is_random(loss: LossModel) -> bool:
    """Whether the losses differ from seed to seed."""
    match loss:
        case RandomLoss(probability):
            return probability > 0.0
        case _:
            return isinstance(loss, GilbertElliott)


def _read(value: Any, _: Any) -> LossModel:
    if isinstance(value, (RandomLoss, EveryLoss, GilbertElliott)):
        return value
    if (isinstance(value, (int, float)) and not isinstance(value, bool)) or isinstance(value, str):
        return RandomLoss(share(value, PROBABILITIES, _PROBABILITY))
    if isinstance(value, Mapping) and list(value) == ["every"]:
        return EveryLoss(whole_number(value["every"], EVERY_PACKETS, "packets"))
    if (
        isinstance(value, Mapping)
        and list(value) == ["gilbert_elliott"]
        and isinstance(value["gilbert_elliott"], Mapping)
    ):
        given = dict(value["gilbert_elliott"])
        if not set(_REQUIRED) <= set(given) <= set(_KEYS):
            raise ValueError(
                "gilbert_elliott takes good_to_bad and bad_to_good; "
                "accepted beside them: loss_good (0 by default), loss_bad (1 by default)"
            )
        return GilbertElliott(
            **{key: share(p, (0.0, 1.0), f"a probability from 0 to 1 as {key}") for key, p in given.items()}
        )
    raise ValueError(
        "accepted: a probability such as 1e-5, { every = 10000 } or "
        "{ gilbert_elliott = { good_to_bad = 1e-5, bad_to_good = 0.1 } }"
    )


def _write(loss: LossModel, _: str) -> Any:
    match loss:
        case RandomLoss(probability):
            return probability
        case EveryLoss(packets=number):
            return {"every": number}
        case _:
            return {"gilbert_elliott": {key: getattr(loss, key) for key in _KEYS}}


def _schema() -> Schema:
    probability = share_schema((0.0, 1.0))
    every = any_of(
        {"type": "integer", "minimum": EVERY_PACKETS[0]},
        number_schema("A count", "10000 packets", ("packets", "packet")),
    )
    chain = table(
        dict.fromkeys(_REQUIRED, probability), {key: probability for key in _KEYS if key not in _REQUIRED}
    )
    return any_of(share_schema(PROBABILITIES), table({"every": every}), table({"gilbert_elliott": chain}))


Loss = Annotated[LossModel, Form("a probability such as 1e-5", _read, _write, _schema)]
