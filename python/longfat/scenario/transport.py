"""How the two ends of a connection behave, as a scenario says it; flows and background traffic share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from longfat.scenario.fields import (
    AckTimeout,
    Mss,
    QuickStartRate,
    RtoFloor,
    Segments,
    SegmentsOrInfinite,
    Switch,
    Tick,
)
from longfat.scenario.named import Algorithm, AlgorithmSpec

HEADER_BYTES = 52
"""IPv4 (20), TCP (20) and its timestamps option (12) before each segment's payload."""


class Part(BaseModel):
    """A table of a scenario. It refuses unknown keys, converts nothing and cannot be changed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


class Transport(Part):
    """How the two ends of a connection behave; flows and background traffic share it."""

    also_accepts: ClassVar[tuple[str, ...]] = ("variant",)

    algorithm: Algorithm = AlgorithmSpec("sack")
    """The congestion control."""
    mss: Mss = 1448.0
    """Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP."""
    initial_ssthresh: SegmentsOrInfinite = math.inf
    """The slow-start threshold at the beginning."""
    initial_window: Segments = 3.0  # RFC 3390 for this segment size
    """The window at the beginning."""
    max_window: SegmentsOrInfinite = math.inf
    """The receiver's window."""
    slow_start: Literal["standard", "limited"] = "standard"
    """Standard slow-start, or the limited one of RFC 3742."""
    max_ssthresh: Segments = 100.0  # RFC 3742; used by limited slow-start
    """The window from which limited slow-start grows more slowly."""
    delayed_ack: Switch = True
    """The receiver acknowledges every second segment."""
    delayed_ack_timeout: AckTimeout = 0.04  # Linux's least
    """The receiver acknowledges a single segment after this long."""
    byte_counting: Switch = True
    """The window grows by acknowledged segments (RFC 3465), not by ACKs."""
    sack: Switch | None = None
    """An older spelling of `loss_detection`: true is "sack", false is "newreno"."""
    loss_detection: Literal["rack", "sack", "newreno", "reno", "tahoe"] | None = None
    """How the sender finds losses; by default as the algorithm has it in the registry."""
    recovery: Literal["rate-halving", "prr", "prr-9937"] = "rate-halving"
    """How the window shrinks in SACK recovery."""
    rtt_samples: Literal["echoed", "last"] = "echoed"
    """Which round-trip times reach the algorithm: the echoed timestamp's, or those that Linux reports."""
    host_tick: Tick = 0.0
    """Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at once."""
    rto_min: RtoFloor = 0.2  # Linux; RFC 6298 has 1 s
    """Least margin of the retransmission timeout above the smoothed RTT."""
    ecn: Switch = False
    """Negotiate ECN (RFC 3168): a queue with `ecn = true` marks packets instead of dropping them."""
    quick_start: QuickStartRate | None = None
    """The rate that the connection request asks the routers for (RFC 4782); none by default."""

    @model_validator(mode="before")
    @classmethod
    def _variant_is_a_parameter(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "variant" not in data:
            return data
        rest = {key: value for key, value in data.items() if key != "variant"}
        algorithm = rest.get("algorithm", "sack")
        table = dict(algorithm) if isinstance(algorithm, Mapping) else {"name": algorithm}
        return rest | {"algorithm": {"variant": data["variant"]} | table}

    @model_validator(mode="after")
    def _options_fit_the_transport(self) -> Self:
        wrong = sorted(self.algorithm.ignores & self.model_fields_set)
        if wrong:
            others = [key for key in TRANSPORT_OPTIONS if key not in self.algorithm.ignores]
            raise ValueError(
                f'{wrong[0]} does not go with "{self.algorithm.name}", which is not TCP; '
                f"accepted beside it: {', '.join(others)}"
            )
        if self.quick_start is not None and self.algorithm.explicit:
            raise ValueError(
                f'quick_start does not go with "{self.algorithm.name}", which its routers guide from the '
                "start; accepted: one of them"
            )
        return self

    @model_validator(mode="after")
    def _sack_agrees_with_the_loss_detection(self) -> Self:
        chosen = self.loss_detection
        if self.sack is None or chosen is None or self.sack == (chosen in WITH_SACK):
            return self
        others = [f'"{name}"' for name in LOSS_DETECTIONS if (name in WITH_SACK) == self.sack]
        raise ValueError(
            f'sack = {str(self.sack).lower()} contradicts loss_detection = "{chosen}"; accepted: one of the '
            f"two keys, or beside this sack {', '.join(others)}"
        )

    @model_serializer(mode="wrap")
    def _without_what_does_not_apply(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in write(self).items() if key not in self.algorithm.ignores}

    @property
    def header_bytes(self) -> int:
        """The bytes of headers before each segment's payload."""
        return HEADER_BYTES + self.algorithm.explicit_bytes

    @property
    def packet_bytes(self) -> float:
        """The bytes of a full packet of IP."""
        return self.mss + self.header_bytes


LOSS_DETECTIONS = ("rack", "sack", "newreno", "reno", "tahoe")
WITH_SACK = frozenset({"rack", "sack"})
"""The ways of `loss_detection` in which the receiver sends selective acknowledgements."""

TRANSPORT_OPTIONS = tuple(Transport.model_fields)
