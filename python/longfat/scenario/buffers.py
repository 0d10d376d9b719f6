"""Buffer sizes: packets, bytes, a time at the link's rate, or a share of the bandwidth-delay product."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from longfat.scenario.fields import RTTS_S, number_schema
from longfat.scenario.form import Form, Schema
from longfat.units import SIZE, TIME, meant, packets, split

BUFFER_PACKETS = (1, 10**9)
BUFFER_BDPS = 10_000

BDP_UNITS = ("% BDP", "%BDP", "BDP")
ACCEPTED = 'accepted: "20 % BDP", "175 packets", "512 KiB" or "10 ms"'


@dataclass(frozen=True)
class BufferSize:
    """Room for waiting packets: packets, bytes, seconds at the link's rate, or a share of the BDP."""

    packets: int | None = None
    bytes: int | None = None
    time_s: Fraction | None = None
    bdp: Fraction | None = None

    def limit_bytes(self, rate_bps: float, rtt_s: float) -> Fraction | None:
        """The exact size in bytes, None for a size in packets.

        Args:
            rate_bps: the rate of the link.
            rtt_s: the RTT of the BDP.
        """
        if self.packets is not None:
            return None
        if self.bytes is not None:
            return Fraction(self.bytes)
        time = self.time_s if self.time_s is not None else (self.bdp or Fraction(0)) * Fraction(repr(rtt_s))
        return Fraction(repr(rate_bps)) * time / 8


def _read(value: Any, _: Any) -> BufferSize:
    if isinstance(value, BufferSize):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        hint = f', did you mean "{value} packets"?' if isinstance(value, int) and value > 0 else ""
        raise ValueError(f"a buffer needs a unit{hint}; {ACCEPTED}")
    amount, unit = split(value) or (None, "")
    if amount is None:
        raise ValueError(ACCEPTED)
    counted = packets(value)
    if counted is not None:
        if counted.denominator != 1 or not BUFFER_PACKETS[0] <= counted <= BUFFER_PACKETS[1]:
            raise ValueError(
                f"accepted: a whole number of packets from {BUFFER_PACKETS[0]} to {BUFFER_PACKETS[1]}"
            )
        return BufferSize(packets=int(counted))
    if amount <= 0:
        raise ValueError(f"less than a packet; {ACCEPTED}")
    if unit in BDP_UNITS:
        bdp = amount if unit == "BDP" else amount / 100
        if bdp > BUFFER_BDPS:
            raise ValueError(f"accepted: up to {BUFFER_BDPS * 100} % BDP")
        return BufferSize(bdp=bdp)
    if unit in SIZE.units:
        size = amount * SIZE.units[unit]
        if size > BUFFER_PACKETS[1]:
            raise ValueError(f"accepted: up to {SIZE.write(BUFFER_PACKETS[1])}")
        return BufferSize(bytes=int(size))
    if unit in TIME.units:
        time = amount * TIME.units[unit]
        if time > RTTS_S[1]:
            raise ValueError(f"accepted: up to {TIME.write(RTTS_S[1])}")
        return BufferSize(time_s=time)
    if not unit:
        raise ValueError(f'a buffer needs a unit, did you mean "{value.strip()} packets"?; {ACCEPTED}')
    hint = meant(value, ("packets", *BDP_UNITS[::2], *SIZE.units, *TIME.units))
    raise ValueError(f'"{unit}" is not a unit of a buffer{hint}; {ACCEPTED}')


def _decimal(number: Fraction) -> str:
    """Exact: every number here was a decimal one times a power of ten (or 1/100 of one)."""
    return f"{Decimal(number.numerator) / Decimal(number.denominator):f}"


def write_buffer(buffer: BufferSize) -> str:
    """The size as a scenario file writes it."""
    if buffer.packets is not None:
        return f"{buffer.packets} packets"
    if buffer.bytes is not None:
        return f"{buffer.bytes} B"
    if buffer.time_s is not None:
        return f"{_decimal(buffer.time_s)} s"
    return f"{_decimal((buffer.bdp or Fraction(0)) * 100)} % BDP"


def _schema() -> Schema:
    units = ("packets", "packet", *BDP_UNITS, *SIZE.units, *TIME.units)
    text = number_schema("A buffer", "20 % BDP", units)
    return text | {
        "description": "Packets, a size, a time at the link's rate, or a share of the BDP",
        "examples": ["20 % BDP", "175 packets", "512 KiB", "10 ms"],
    }


Buffer = Annotated[
    BufferSize,
    Form(ACCEPTED.removeprefix("accepted: "), _read, lambda value, _: write_buffer(value), _schema),
]
