"""Settings of Baiocchi, Castellani, Vacirca 2007, each with its source, and what the figures share.

The paper has figures without numbers, and words. Where it gives no number, the number in a rule is chosen
here, and the rule says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from longfat.units import PACKET_BITS
from longfat_papers.kit import (
    CHOSEN_HERE,
    Check,
    Declaration,
    Mode,
    Panel,
    Paper,
    Runs,
    Setting,
    by_algorithm,
    held,
)
from longfat_papers.yeah2007.reduction import reduce_run

ALGORITHMS: dict[str, dict[str, Any]] = {
    "reno": {"name": "reno"},
    "yeah": {"name": "yeah", "variant": "paper"},
    "ctcp": {"name": "ctcp", "variant": "paper"},
    "htcp": {"name": "htcp", "variant": "linux"},
    "africa": {"name": "africa"},
    "cubic": {"name": "cubic", "variant": "2005"},
    "hstcp": {"name": "hstcp", "table": "nearest"},
}
"""The seven protocols, in the order of Table I. The paper's Reno runs with SACK: "reno"."""

TITLES = {
    "reno": "Reno",
    "yeah": "YeAH",
    "ctcp": "Compound",
    "htcp": "H-TCP",
    "africa": "Africa",
    "cubic": "CUBIC",
    "hstcp": "HSTCP",
}
LOSS_BASED = ("hstcp", "cubic", "htcp")
"""The new protocols that take only losses as congestion."""
HYBRID = ("africa", "ctcp")
"""The protocols that combine losses and delay, as YeAH does."""

RATE_MBPS = 500
DURATION_S: dict[Mode, float] = {"quick": 150.0, "full": 600.0}
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (15, 60, 240), "full": (15, 30, 60, 120, 240, 480)}
START = {"uniform": ["0 s", "1 s"]}
QUEUE_SAMPLE = {"queue": "10 ms"}
WEB_LOAD = "4 Mbit/s"
KERNEL = "linux-2.6.16"
"""IV: the stack of the senders and of the web server, which is the receiver of the flows."""

JOIN_S, BEFORE_S = 100.0, 30.0
"""Fig. 1: when the second flow joins, and how long before that YeAH's window is averaged."""
FILLED_UP_TO_MS = 120
"""Figs. 3 and 4: the longest RTT at which all fill the link."""
HTCP_ALIKE_UP_TO_S = 1200
"""Fig. 8(a): beyond this length H-TCP falls behind (footnote)."""
FULL = 0.95
"""F3, F4, F6: share of the link, or of the capacity used elsewhere."""

CHOSEN = "Numbers chosen here."
WHOLE_RUN = (
    "Mean over repeats and over the whole run, which begins with the later flow's start (within a second)."
)
QUEUE_SAMPLED = WHOLE_RUN + " The queue is sampled at 100 Hz and divided by the buffer."

SETTINGS = (
    Setting("topology", "two senders, one receiver, one bottleneck of 500 Mbit/s", "IV, Fig. 2"),
    Setting("access links", "1 Gbit/s", "IV"),
    Setting("packets", "1500 bytes", "IV; payload of 1448 with timestamps"),
    Setting("queue", "drop-tail; a share of rate x least RTT, 100 % unless stated otherwise", "IV, V"),
    Setting(
        "flows",
        "two of one algorithm, one for each sender",
        "IV, V-A; that both run in each test is " + CHOSEN_HERE,
    ),
    Setting("slow-start", "limited, max_ssthresh 100, ssthresh unlimited", "IV; 100 from RFC 3742"),
    Setting(
        "web traffic",
        f"SURGE, {WEB_LOAD} of IP, from the receiver's side to its clients, so it shares the ACKs' path",
        "IV (the receiver is the web server); the RTT of the first flow is " + CHOSEN_HERE,
    ),
    Setting(
        "stack",
        f"{KERNEL}, of the flows and of the web server",
        'IV: "a modified version of the 2.6.16.2 kernel"; what the modification left is an assumption',
    ),
    Setting("Reno", "standard TCP with SACK", "IV: Linux 2.6.16; " + CHOSEN_HERE),
    Setting("YeAH", "variant paper, with its own defaults for what is not printed", "III"),
    Setting("Compound, Africa", "the papers' rules", "IV: implemented after [8] and [7]"),
    Setting("H-TCP", "variant linux", "IV: Linux 2.6.16.2 had a module"),
    Setting("CUBIC", "variant 2005: reduces by 0.2", "V-B prints 0.2; [5] is the paper of 2005"),
    Setting("HSTCP", "RFC 3649, as a table", "[2]; the table as in Linux " + CHOSEN_HERE),
    Setting("duration", "600 s", "IV"),
    Setting(
        "repeats", "3, over seeds: starts within 1 s, web traffic, random losses", "IV; starts " + CHOSEN_HERE
    ),
)

PAPER = Paper(
    "yeah2007",
    "YEAH",
    "YeAH-TCP: Yet Another Highspeed TCP",
    "Baiocchi, Castellani, Vacirca: YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007",
    settings=SETTINGS,
    estimator=WHOLE_RUN,
    reduce=reduce_run,
)

Flows = Sequence[tuple[str, int]]
"""The algorithm and the RTT in ms of each flow."""


def scenario(
    flows: Flows,
    duration_s: float,
    *,
    queue_percent: int = 100,
    ssthresh: float | str = "infinite",
    starts: Sequence[Any] = (),
    sample: Mapping[str, Any] | None = None,
    **bottleneck: float,
) -> dict[str, Any]:
    """Returns a scenario of the paper's testbed."""
    transport = {"stack": KERNEL, "slow_start": "limited", "initial_ssthresh": ssthresh}
    return {
        "title": " and ".join(f"{name} at {rtt} ms" for name, rtt in flows[:2]),
        "duration": f"{duration_s:g} s",
        "bottleneck": {
            "rate": f"{RATE_MBPS} Mbit/s",
            "buffer": f"{queue_percent} % BDP",
            "queue": "droptail",
            "access_rate": "1 Gbit/s",
            **bottleneck,
        },
        "flow": [
            {**transport, "algorithm": dict(ALGORITHMS[name]), "rtt": f"{rtt_ms} ms", "start": start}
            for (name, rtt_ms), start in zip(flows, starts or [START] * len(flows), strict=True)
        ],
        # the name carries the direction, as the names of two-way traffic do
        "background": [
            {
                "kind": "surge",
                "name": "web-reverse",
                "load": WEB_LOAD,
                "direction": "reverse",
                "stack": KERNEL,
            }
        ],
        **({"sample": sample} if sample else {}),
    }


def start_apart(document: dict[str, Any]) -> dict[str, Any]:
    """Starts the last flow 5 to 60 s after the others, for a reading."""
    document["flow"][-1]["start"] = {"uniform": ["5 s", "60 s"]}
    return document


def over(
    name: str, mirrors: str, title: str, **grid: Any
) -> Callable[[Callable[..., dict[str, Any]]], Declaration]:
    """Declares an experiment with all algorithms over a grid."""
    whole = {"algorithm": tuple(ALGORITHMS), **grid, "repeat": REPEATS}
    return PAPER.experiment(name, mirrors, title, grid=whole)


def bdp_packets(rtt_ms: float) -> float:
    """Returns the bandwidth-delay product in packets of 1500 bytes: 20 000 at 480 ms."""
    return RATE_MBPS * 1e3 * rtt_ms / PACKET_BITS


AXES = {
    "queue_share": ("mean queue / buffer", (0.0, 1.0)),
    "utilization": ("share of the capacity", (0.0, 1.05)),
    "jain": ("Jain's index", (0.45, 1.02)),
}
RTT_AXIS = "propagation RTT, ms"


def panel(runs: Runs, x: str, x_label: str, quantity: str, title: str = "", *, x_log: bool = False) -> Panel:
    """Returns a quantity of all algorithms over a coordinate."""
    y_label, y_range = AXES[quantity]
    curves = by_algorithm(runs, x, quantity, TITLES)
    return Panel(title, x_label, y_label, curves, x_log=x_log, y_range=y_range)


Rows = dict[str, dict[Any, float]]
"""A quantity by algorithm and by the value of a coordinate."""


def means(runs: Runs, coordinate: str, quantity: str) -> Rows:
    """Returns the mean of a quantity at each value of a coordinate, for all algorithms."""
    return {name: runs.where(algorithm=name).means(coordinate, quantity) for name in ALGORITHMS}


def column(rows: Rows, at: Any) -> dict[str, float]:
    """Returns the values of all algorithms at one point."""
    return {name: row[at] for name, row in rows.items()}


def others(values: Mapping[str, float], *names: str) -> list[float]:
    """Returns the values of all algorithms but some."""
    return [value for name, value in values.items() if name not in names]


def span(row: Mapping[Any, float]) -> str:
    """Writes the least and the greatest value."""
    return f"{min(row.values()):.2f}..{max(row.values()):.2f}"


def spans(rows: Rows) -> str:
    """Writes each algorithm's least and greatest value."""
    return ", ".join(f"{TITLES[name]} {span(row)}" for name, row in rows.items())


def slashed(rows: Rows, spec: str) -> str:
    """Writes all values of each algorithm."""
    return ", ".join(
        f"{TITLES[name]} {' / '.join(f'{value:{spec}}' for value in row.values())}"
        for name, row in rows.items()
    )


def held_text(checks: Sequence[Check]) -> str:
    """Writes how many of the checks hold."""
    return f"{held(checks)} of {len(checks)} checks hold"
