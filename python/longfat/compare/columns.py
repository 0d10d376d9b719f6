"""What a comparison measures, as data: the kinds of run, and for each column its runs and its estimator.

docs/compare.md says the same to readers; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longfat.words import Mode

FAR = 4
"""The ratio of the two round-trip times in the trial of unlike flows."""

HALF = 0.5
"""Share of the link that one flow must fill for random loss to count as tolerated (chosen here)."""
COLLAPSE = 0.8
"""Share of the link that two flows must use for a buffer to count as large enough (chosen here)."""


@dataclass(frozen=True)
class Extent:
    """What a mode runs by default; texts are written as in a scenario."""

    rates: tuple[str, ...]
    rtts: tuple[str, ...]
    buffers: tuple[str, ...]
    repeats: int
    duration_s: float
    losses: tuple[float, ...]
    shares: tuple[int, ...]
    """Buffers of the trial "small", in percent of the BDP."""


EXTENTS: dict[Mode, Extent] = {
    "quick": Extent(
        rates=("10 Mbit/s", "100 Mbit/s"),
        rtts=("20 ms", "80 ms"),
        buffers=("20 % BDP", "100 % BDP"),
        repeats=3,
        duration_s=120.0,
        losses=(1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
        shares=(1, 3, 10, 30, 100),
    ),
    "full": Extent(
        rates=("10 Mbit/s", "100 Mbit/s", "250 Mbit/s"),
        rtts=("20 ms", "80 ms", "160 ms"),
        buffers=("10 % BDP", "30 % BDP", "100 % BDP"),
        repeats=5,
        duration_s=600.0,
        losses=(1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
        shares=(1, 2, 5, 10, 20, 50, 100),
    ),
}

Varied = Literal["buffer", "loss", "share"]
"""What a trial varies besides rate and RTT: the grid's buffers, random losses, or small buffers."""

FIRST_START_S = 1.0
LATE_START_S = (1 / 12, 1 / 6)
"""The second flow starts between these shares of the run to measure convergence: 10 to 20 of 120 s."""
WINDOW_FROM = 0.25
"""Share of the run that is excluded at the start; after it, both flows are running."""


@dataclass(frozen=True)
class Trial:
    """A kind of run: which flows, and what varies besides rate and RTT. `words` describes it to readers.

    The second flow runs the algorithm too if `beside` is None; with `flows` 1 there is none.
    """

    name: str
    words: str
    varied: Varied = "buffer"
    flows: int = 2
    beside: str | None = None
    far: bool = False
    late: bool = False


PAIR = Trial(
    "pair",
    "two flows of the algorithm, same RTT; the first starts within 1 s, the second at a random time between "
    "a twelfth and a sixth of the run",
    late=True,
)
UNLIKE = Trial(
    "unlike",
    f"two flows of the algorithm, RTTs as 1 to {FAR}, the shorter one the grid's; both start at random "
    "within a sixth of the run",
    far=True,
)
BESIDE_RENO = Trial(
    "reno",
    "the algorithm and standard TCP with SACK, same RTT; both start at random within a sixth of the run",
    beside="reno",
)
BESIDE_CUBIC = Trial(
    "cubic",
    "the algorithm and CUBIC as the registry has it by default, same RTT; both start at random within a "
    "sixth of the run",
    beside="cubic",
)
LOSSY = Trial(
    "lossy",
    "one flow of the algorithm, buffer 100 % BDP, each data packet lost with the same probability",
    varied="loss",
    flows=1,
)
SMALL = Trial("small", "as `pair`, with small buffers", varied="share", late=True)

TRIALS = (PAIR, UNLIKE, BESIDE_RENO, BESIDE_CUBIC, LOSSY, SMALL)

Averaging = Literal["mean", "median", "geometric"]


@dataclass(frozen=True)
class Column:
    """One column: its trial, the value of a run that it uses, and how the grid's points are averaged.

    A column with a `threshold` looks for the loss or the buffer at which that value crosses it. `scale`
    converts a value for the table and the plots. `good` says which direction is better.
    """

    key: str
    heading: str
    figure: str
    good: str
    estimator: str
    trial: Trial = PAIR
    over_points: Averaging = "mean"
    scale: float = 1.0
    threshold: float | None = None


COLUMNS = (
    Column(
        "utilization",
        "utilisation",
        "utilization",
        "1",
        "share of the link's rate that leaves it (RFC 5166, 2.1.1)",
    ),
    Column(
        "loss_ratio",
        "loss ratio",
        "loss_ratio",
        "small",
        "data packets dropped over data packets sent, both flows (RFC 5166, 2.1.3)",
    ),
    Column(
        "queueing_delay_ms",
        "queue ms",
        "queueing_delay_s",
        "small",
        "time average of the bottleneck's queue over the link's rate, ms",
        scale=1e3,
    ),
    Column(
        "jain",
        "Jain, same RTT",
        "jain",
        "1",
        "Jain's index of the two throughputs, from 1/2 to 1 (RFC 5166, 2.3.1)",
    ),
    Column("jain_unlike", f"Jain, RTT 1:{FAR}", "jain", "1", "the same", UNLIKE),
    Column(
        "share_reno",
        "share / Reno",
        "share_1",
        "1/2",
        "throughput of the algorithm's flow over that of both",
        BESIDE_RENO,
    ),
    Column("share_cubic", "share / CUBIC", "share_1", "1/2", "the same", BESIDE_CUBIC),
    Column(
        "convergence_s",
        "converges in s",
        "convergence_80_s",
        "small",
        "time after its start until the second flow runs at 80 % of the first one's rate (Ha et al. 2006; "
        "rates as in Li, Leith, Shorten 2007, eq. 2); median over the points, a flow that never does so "
        "counting as the longest; mean over the repeats that have one, the length of the observation with a "
        "> if most do not",
        over_points="median",
    ),
    Column(
        "loss_tolerance",
        "tolerates loss",
        "utilization",
        "large",
        "the loss probability up to which the flow fills half of the link: interpolated on the logarithm "
        "between the losses that were run; a < or > where the crossing lies outside of them",
        LOSSY,
        "geometric",
        threshold=HALF,
    ),
    Column(
        "buffer_needed",
        "needs buffer / BDP",
        "utilization",
        "small",
        "the buffer, as a share of the BDP, from which on the two flows use 80 % of the link: interpolated "
        "on the logarithm between the buffers that were run; a < or > where the crossing lies outside of "
        "them",
        SMALL,
        "geometric",
        threshold=COLLAPSE,
    ),
)
