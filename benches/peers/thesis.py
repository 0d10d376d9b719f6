"""Runs ns-2 on paths of Lopez Pacheco's thesis and prints the figures of docs/validation.md.

Finished runs of ns-2 are kept in out/ns2 and not repeated.
"""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import agents

from longfat_papers.lopez2008 import common

SCRIPT = Path(__file__).resolve().parent / "ns2" / "thesis.tcl"
SEGMENT_BITS = 8 * 1024
PACKET_BITS = 8 * 1064
UNLIMITED = 100_000
MERGES = (
    ("Newreno", UNLIMITED),
    ("Reno", UNLIMITED),
    ("Sack1", UNLIMITED),
    ("Newreno", 7100),
    ("Newreno", 3500),
)


@dataclass(frozen=True)
class Moment:
    """What ns-2 has counted up to a time."""

    s: float
    waiting: int
    dropped: int
    acknowledged: list[int]
    timeouts: list[int]


@dataclass(frozen=True)
class History:
    """A run, every tenth of a second."""

    moments: list[Moment]

    def at(self, s: float) -> Moment:
        """Returns the moment nearest to this time."""
        return min(self.moments, key=lambda moment: abs(moment.s - s))

    def dropped(self, begin_s: float, end_s: float) -> int:
        """Returns the packets dropped between two times."""
        return self.at(end_s).dropped - self.at(begin_s).dropped

    def greatest_mbps(self, begin_s: float, end_s: float) -> float:
        """Returns the greatest rate of a flow over one second."""
        starts = [begin_s + k / 2 for k in range(int(2 * (end_s - begin_s)) - 1)]
        spans = [(self.at(start), self.at(start + 1)) for start in starts]
        return max(
            (b - a) * PACKET_BITS / 1e6
            for first, last in spans
            for a, b in zip(first.acknowledged, last.acknowledged, strict=True)
        )

    def silence_s(self, begin_s: float, end_s: float) -> float:
        """Returns the longest time in which some flow got no new acknowledgement."""
        inside = [moment for moment in self.moments if begin_s <= moment.s <= end_s]
        longest = 0.0
        for flow in range(len(inside[0].acknowledged)):
            since = inside[0]
            for moment in inside:
                if moment.acknowledged[flow] != since.acknowledged[flow]:
                    since = moment
                longest = max(longest, moment.s - since.s)
        return longest


def steps(
    mbps: float, rtt_ms: float, flows: int, left: Iterable[tuple[float, float]], loss: float, end_s: float
) -> History:
    """Runs XCP beside datagrams, which leave `left` (from s on, Mbit/s) of the link."""
    asked = {
        "mbps": mbps,
        "rtt": rtt_ms / 1e3,
        "flows": flows,
        "left": " ".join(f"{s} {rest}" for s, rest in left),
        "loss": loss,
        "duration": end_s,
    }
    moments = []
    for line in ns2("steps", asked).splitlines():
        s, waiting, dropped, *each = (float(x) for x in line.split())
        moments.append(
            Moment(s, int(waiting), int(dropped), list(map(int, each[::2])), list(map(int, each[1::2])))
        )
    return History(moments)


def ns2(path: str, asked: dict[str, object]) -> str:
    """Runs ns-2, or returns what it printed before.

    Raises:
        PeerError: it is missing, failed, or took too long.
    """
    program = shutil.which("ns")
    if program is None:
        raise agents.PeerError("ns-2 is not installed (Debian: apt install ns2)")
    return agents.kept(
        [program, str(SCRIPT), path, *(str(x) for pair in asked.items() for x in pair)], SCRIPT
    )


def merged() -> None:
    """4f: TCP through two bottlenecks that merge."""
    for agent, window in MERGES:
        sent = [float(line) / 1e6 for line in ns2("merge", {"agent": agent, "window": window}).splitlines()]
        limit = "" if window == UNLIMITED else f", at most {window} segments"
        print(f"4f  {agent}{limit}: i sends {sent[0]:.0f} MB, j {sent[1]:.0f} MB")


def ten() -> None:
    """5a, 5b: ten flows beside datagrams, with and without losses of ACKs."""
    for claim, loss in (("5a", 0.0), ("5b", 0.1)):
        run = steps(
            common.ACKS_MBPS,
            common.ACKS_RTT_MS,
            common.ACKS_FLOWS,
            common.ACKS_LEFT_MBPS,
            loss,
            common.ACKS_S,
        )
        for fall_s in common.ACKS_FALLS_S:
            after = (fall_s, fall_s + common.AFTER_FALL_S)
            most = max(moment.waiting for moment in run.moments if after[0] <= moment.s <= after[1])
            print(
                f"{claim}  after {fall_s:g} s: {run.dropped(*after)} dropped, at most {most} wait, "
                f"a flow gets {run.greatest_mbps(*after):.0f} Mbit/s for a second, "
                f"silence up to {run.silence_s(*after):.1f} s"
            )


def three() -> None:
    """5d: three flows on 200 Mbit/s."""
    for loss in (0.0, 0.3):
        run = steps(common.THREE_MBPS, common.THREE_RTT_MS, 3, common.THREE_LEFT_MBPS, loss, common.THREE_S)
        end = run.moments[-1]
        print(f"5d  {loss:.0%} of the ACKs lost: {sum(end.timeouts)} timeouts, {end.dropped} dropped")


def one() -> None:
    """5e: how much of the link one flow fills, round trip by round trip."""
    for loss in (0.0, 0.3):
        run = steps(common.ONE_MBPS, common.ONE_RTT_MS, 1, [(0, common.ONE_MBPS)], loss, 3)
        first_s = next(moment.s for moment in run.moments if moment.acknowledged[0] >= 0)
        rtt_s = common.ONE_RTT_MS / 1e3
        acknowledged = [run.at(first_s + k * rtt_s).acknowledged[0] for k in range(11)]
        link = common.ONE_MBPS * 1e6 * rtt_s
        filled = [(b - a) * SEGMENT_BITS / link for a, b in itertools.pairwise(acknowledged)]
        shares = ", ".join(f"{share:.2f}" for share in filled)
        print(f"5e  {loss:.0%} of the ACKs lost: fills {shares} of the link")


def main() -> int:
    """Prints all of it."""
    try:
        merged()
        ten()
        three()
        one()
    except agents.PeerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
