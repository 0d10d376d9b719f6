"""Flows, and how often they and the links are sampled."""

from __future__ import annotations

from typing import Literal

from longfat.scenario.distributions import DrawnRtt, DrawnTime, Exponential, least
from longfat.scenario.fields import FlowCount, Name, Period, Switch, Time, Transfer
from longfat.scenario.part import Part
from longfat.scenario.topology import Placed
from longfat.units import TIME


class Flow(Placed):
    """One flow, or `count` of them."""

    name: Name | None = None
    """Its name in results, by default a running number; `count` flows get one number each after it."""
    rtt: DrawnRtt = None  # type: ignore[assignment]  # given in a dumbbell, and only there
    """Two-way propagation delay of the whole path; with `[bottleneck]`."""
    start: DrawnTime = 0.0
    """When it starts."""
    stop: Time | None = None
    """From then on it sends nothing new; by default it never stops."""
    bytes: Transfer | None = None
    """Payload after which it is complete; by default it is endless."""
    count: FlowCount = 1
    """The number of flows like this one."""
    stagger: Time = 0.0
    """The n-th of `count` flows, from 0, starts n times this later."""
    direction: Literal["forward", "reverse"] = "forward"
    """Which way data go."""

    def check(self) -> None:
        """Raises ValueError if its times do not fit together, or as every transport."""
        super().check()
        if self.stop is not None and self.stop <= least(self.start):
            raise ValueError(f"stop = {TIME.write(self.stop)} is not after its start; accepted: a later time")
        if self.stagger and isinstance(self.start, Exponential):
            raise ValueError(
                "stagger does not go with an exponential start; accepted: a fixed or uniform start"
            )


class Sample(Part):
    """How often series are sampled."""

    cwnd: Period = 0.1
    """Period of the series of flows."""
    queue: Period = 0.1
    """Period of the series of links."""
    events: Switch = False
    """Also log each loss, mark, timeout and recovery of the flows."""
    internals: Switch = False
    """Also sample what the flows' algorithms know of themselves, such as FAST's `alpha`."""
