"""The shared link of a dumbbell."""

from __future__ import annotations

from typing import Self

from longfat import _core
from longfat.scenario.buffers import Buffer, BufferSize
from longfat.scenario.disturbances import Disturbed
from longfat.scenario.fields import AccessRate, BottleneckRate, Rate, Rtt, ServiceTick
from longfat.scenario.losses import Loss, RandomLoss
from longfat.scenario.named import Queue, QueueSpec, Router

LEAST_ACCESS_BPS = 1e9
"""The rate of access links; if the bottleneck is at least as fast, it is `ACCESS_FACTOR` times its rate."""
ACCESS_FACTOR = 10.0


def default_access_bps(rate_bps: float) -> float:
    """Returns the rate of the hosts' own links beside a link of this rate."""
    return rate_bps * ACCESS_FACTOR if rate_bps >= LEAST_ACCESS_BPS else LEAST_ACCESS_BPS


class Bottleneck(Disturbed):
    """A dumbbell's shared link with its queue, the way back, and the access links around it."""

    rate: BottleneckRate
    """Its rate, constant or varying."""
    buffer: Buffer = BufferSize(bdp=1)  # type: ignore[arg-type]  # one BDP: Villamizar and Song, CCR 1994
    """Room for waiting packets."""
    rtt: Rtt | None = None
    """Two-way propagation delay of programs' connections; by default the smallest RTT of a flow."""
    buffer_rtt: Rtt | None = None
    """The RTT of "% BDP"; by default the smallest RTT of a flow."""
    queue: Queue = QueueSpec("droptail")
    """The queueing discipline."""
    router: Router | None = None
    """An explicit-rate router around the queue."""
    loss: Loss = RandomLoss(0.0)
    """Loss of data packets that enter the bottleneck."""
    ack_loss: Loss = RandomLoss(0.0)
    """Loss of ACKs that enter the reverse path."""
    service_tick: ServiceTick = 0.0
    """The router's clock: at each tick each way hands out what its rate has earned. With 0 it has none."""
    access_rate: AccessRate | None = None
    """Rate of the hosts' own links; by default 1 Gbit/s, or 10 times a faster bottleneck's."""
    reverse_rate: Rate | None = None
    """Rate of the way back; by default that of the bottleneck."""
    reverse_buffer: Buffer | None = None
    """Buffer of the way back; by default as many packets as the bottleneck's, at least 1000."""
    reverse_queue: Queue = QueueSpec("droptail")
    """The queueing discipline of the way back."""

    def check(self) -> None:
        """Raises ValueError if a queue does not fit its link."""
        self.refuse_waiting_ticks(self.service_tick)
        _core.check_queue(self.queue.kind, self.queue.parameters, self.rate)
        back = self.reverse_queue
        try:
            _core.check_queue(back.kind, back.parameters, self.reverse_bps)
        except ValueError as error:
            raise ValueError(f"reverse_queue: {error}") from None

    @property
    def reverse_bps(self) -> float:
        """The rate of the way back, bit/s."""
        return self.reverse_rate or float(self.rate)

    @property
    def access_bps(self) -> float:
        """The rate of the hosts' own links, bit/s."""
        return self.access_rate or default_access_bps(self.rate)

    def filled(self) -> Self:
        """The same bottleneck with every default written out that follows from its own values."""
        return self.model_copy(
            update={
                "access_rate": self.access_bps,
                "reverse_rate": self.reverse_bps,
                "queue": self.queue.filled(),
                "reverse_queue": self.reverse_queue.filled(),
                "router": self.router and self.router.filled(),
            }
        )
