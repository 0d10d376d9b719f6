"""What flows over TCP carry in a live run: Longfat's own traffic or iperf3's."""

from __future__ import annotations

import math
import shutil

from longfat.errors import InputError
from longfat.scenario.model import Scenario

KINDS = ("longfat", "iperf3")
INSTALL = "apt-get install -y iperf3"


def iperf3() -> str | None:
    """Returns the path of iperf3, None if it is not installed."""
    return shutil.which("iperf3")


def check(scenario: Scenario, traffic: str) -> None:
    """Raises InputError, one line, if the traffic is unknown or does not work with this scenario."""
    refuse_unknown(traffic)
    if traffic == KINDS[0]:
        return
    if scenario.program:
        raise InputError(
            "[[program]]: iperf3 for the flows and other programs may want the same ports; accepted with "
            'traffic "iperf3": a scenario without programs'
        )
    if iperf3() is None:
        raise InputError(f'traffic "iperf3": iperf3 is not installed; to fix it: {INSTALL}')
    for i, flow in enumerate(scenario.flow):
        tcp = flow.algorithm.transport == "tcp"
        if flow.algorithm.needs_marks or flow.algorithm.is_scalable:
            raise InputError(
                f'flow.{i}.algorithm = "{flow.algorithm.name}": iperf3\'s receiver does not tell of every '
                'mark; accepted with traffic "iperf3": other algorithms'
            )
        if flow.algorithm.protocol:
            raise InputError(
                f'flow.{i}.algorithm = "{flow.algorithm.name}": iperf3 opens its own sockets, whose packets '
                'carry no explicit headers; accepted with traffic "iperf3": other algorithms'
            )
        if tcp and math.isfinite(flow.max_window):
            raise InputError(
                f"flow.{i}.max_window: iperf3's server opens its own socket; accepted with traffic "
                '"iperf3": leave it out'
            )
        if tcp and flow.bytes is not None:
            raise InputError(
                f"flow.{i}.bytes: iperf3 ends when the kernel has taken the last byte, not when it has "
                'arrived; accepted with traffic "iperf3": leave it out, or set stop'
            )


def refuse_unknown(traffic: str, backend: str = "live") -> None:
    """Raises InputError if the traffic is unknown or the backend does not have it."""
    if traffic not in KINDS:
        raise InputError(
            f"traffic {traffic!r}: there is no such traffic; accepted: {', '.join(map(repr, KINDS))}"
        )
    if traffic != KINDS[0] and backend != "live":
        raise InputError(f'traffic "{traffic}": the simulator has no real hosts; accepted: backend = "live"')
