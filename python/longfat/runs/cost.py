"""What a run of the simulator costs here: a short piece of it shows what a second of it costs."""

from __future__ import annotations

from longfat.runs import simulate
from longfat.runs.result import Result
from longfat.scenario.model import Scenario, least
from longfat.units import PACKET_BITS

PIECE_PACKETS = 2e5
"""Packets of a piece, roughly."""


def packets(scenario: Scenario) -> float:
    """Returns about how many packets a run carries: as many as fill its bottleneck, or its fastest link."""
    fastest_bps: float = max((link.rate for link in scenario.link), default=0.0)
    rate_bps: float = fastest_bps or scenario.bottleneck.rate
    duration_s: float = scenario.duration
    return rate_bps * duration_s / PACKET_BITS


def tried(scenario: Scenario, name: str = "scenario") -> tuple[Result, float]:
    """Runs a piece of a run. Returns it, and about how many seconds the core takes for the whole run.

    Two pieces from its start show what its beginning costs and what each second after it does. `name` is the
    scenario's in messages.
    """
    latest = max((least(flow["start_s"]) for flow in scenario.plan["flows"]), default=0.0)
    share = PIECE_PACKETS / max(packets(scenario), 1.0)
    piece_s = min(scenario.duration, max(2.0 * latest, share * scenario.duration))
    longer = _piece(scenario, piece_s, name)
    if piece_s >= scenario.duration:
        return longer, longer.wall_s
    half_s = _piece(scenario, 0.5 * piece_s, name).wall_s
    slope = (longer.wall_s - half_s) / (0.5 * piece_s)
    if slope <= 0.0:
        slope = longer.wall_s / piece_s
    return longer, longer.wall_s + slope * (scenario.duration - piece_s)


def _piece(scenario: Scenario, duration_s: float, name: str) -> Result:
    return simulate.run(scenario.lasting(duration_s), name=name)
