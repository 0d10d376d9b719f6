"""How the runs of the thesis become runs between this machine's own TCPs.

The rules stood before anything was measured live. The kernel's hosts take the place of ns-2's. Rates are
divided, with the buffers, where a machine would not carry the packets; delays and times stay, so that control
intervals and round trips mean the same. The laws of explicit rate are then the same, but what counts packets
is not: TCP, the zombie lists of the router `friendly`, and bounds in segments. The simulator runs the same
files, which shows what the division alone changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from longfat_papers.kit import settings
from longfat_papers.kit.hosts import Adapted, Hosts, Unfit
from longfat_papers.lopez2008.common import MBPS, MSS, PACKET_BITS, TITLES, number

NOT_IN_THE_THESIS = ("prober", "others", "ack-losses", "hundred", "rivals", "generality")
"""Experiments."""

MOST_MBPS = 200.0
"""The greatest rate with explicit headers, or with datagrams, of the comparison in docs/validation-live.md:
neither can be handed over in trains."""
MOST_TCP_MBPS = 1000.0
"""The greatest rate at which docs/live.md has a valid run of 60 s, of TCP alone."""
DIVISORS = (1, 2, 5, 10, 20, 50, 100)
"""The least of these is used with which a run stays below the greatest rate."""

SIMULATORS_OWN = ("initial_ssthresh", "max_window", "loss_detection")
"""Keys of flows that only the simulator has: a kernel decides them itself."""
FORMS: dict[str, Any] = {
    **{name: name for name in ("reno", "hstcp", "xcp", "xcp-r", "jetmax", "vcp")},
    "newreno": "reno",
    "cubic": {"name": "cubic", "variant": "linux"},
}
"""The kernel's form of each algorithm; its reno has SACK."""
DATAGRAMS_SENDER = "cbr"
NOT_TRAINS = frozenset({"xcp", "xcp-r", "jetmax", "vcp", DATAGRAMS_SENDER})

FOLLOWS_RATE = re.compile(r" (BDP|[mu]?s)$")
"""The units of buffers that get smaller with the rate by themselves."""

LINEAR = ("means_mbps", "megabytes", "sent", "dropped", "queue")
LINEAR_OVER_TIME = ("rates_mbps", "lost")
"""What is proportional to the rate: lists over flows or links, and lists over time of each flow. Windows stay
as they are, because the least window is one segment at any rate; so do ratios and counts of timeouts."""


def adapt(document: Mapping[str, Any], packets: float) -> Adapted:
    """Returns a run for real hosts.

    Args:
        document: the scenario of the suite's run.
        packets: its estimated data packets.

    Raises:
        Unfit: the kernel has no form of an algorithm, or the run cannot be made slow enough.
    """
    flows = [_flow(flow) for flow in document["flow"]]
    divisor = _divisor(document, packets)
    changed = {**document, "flow": [_slower(flow, divisor) for flow in flows]}
    if "link" in document:
        changed["link"] = [_slower(link, divisor) for link in document["link"]]
    else:
        changed["bottleneck"] = _slower(document["bottleneck"], divisor)
    return Adapted(changed, divisor)


def restore(row: Mapping[str, Any], divisor: float) -> dict[str, Any]:
    """Returns a reduced run with what is proportional to the rate multiplied by the divisor."""
    changed = {**row, "queue_limit": divisor * row["queue_limit"]}
    for key in LINEAR:
        changed[key] = [divisor * value for value in row[key]]
    for key in LINEAR_OVER_TIME:
        changed[key] = [[divisor * value for value in values] for values in row[key]]
    return changed


def _divisor(document: Mapping[str, Any], packets: float) -> int:
    slow = any(_algorithm(flow)[0] in NOT_TRAINS for flow in document["flow"])
    most = MOST_MBPS if slow else MOST_TCP_MBPS
    if "link" in document:  # what all flows send
        carried = packets * PACKET_BITS / MBPS / number(document["duration"])
    else:
        rate = document["bottleneck"]["rate"]
        carried = number(rate["sine"]["max"] if isinstance(rate, Mapping) else rate)
    # an estimate in packets may be a rounding error above the rate
    for divisor in DIVISORS:
        if carried / divisor <= most * (1.0 + 1e-9):
            return divisor
    raise Unfit(
        f"Data cross the network at {carried:g} Mbit/s: more than {DIVISORS[-1]} times {most:g} Mbit/s."
    )


def _flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a flow of the kernel's hosts."""
    name, variant = _algorithm(flow)
    if name == DATAGRAMS_SENDER:
        return dict(flow)
    if name not in FORMS:
        raise Unfit(f"No kernel has {TITLES.get(name, name)}: Longfat's hosts have no form of it.")
    if variant not in (None, "mirror"):
        raise Unfit("The kernel's form of XCP-r has the mirror window only, not the first formula.")
    kept = {key: value for key, value in flow.items() if key not in SIMULATORS_OWN}
    return {**kept, "algorithm": FORMS[name], "stack": "linux"}


def _algorithm(flow: Mapping[str, Any]) -> tuple[str, str | None]:
    given = flow["algorithm"]
    return (given["name"], given.get("variant")) if isinstance(given, Mapping) else (given, None)


def _slower(table: Mapping[str, Any], divisor: int) -> dict[str, Any]:
    """Divides the rate and the buffer of a link or a bottleneck, or the rate of a flow of datagrams."""
    changed = dict(table)
    if divisor == 1:
        return changed
    if "rate" in changed:
        changed["rate"] = _over(changed["rate"], divisor)
    buffer = str(changed.get("buffer", "0 s"))
    if buffer.endswith(" packets"):
        changed["buffer"] = f"{max(1, round(number(buffer) / divisor))} packets"
    elif not FOLLOWS_RATE.search(buffer):
        raise Unfit(f"A buffer of {buffer} would not be divided with the rate.")
    given = changed.get("algorithm")
    if isinstance(given, Mapping) and "rate" in given:
        changed["algorithm"] = {**given, "rate": _over(given["rate"], divisor)}
    return changed


def _over(rate: Any, divisor: int) -> Any:
    """Divides a rate, or the ends of one that is a sine."""
    if isinstance(rate, Mapping):
        ends = {key: _over(rate["sine"][key], divisor) for key in ("max", "min")}
        return {"sine": {**rate["sine"], **ends}}
    value, unit = str(rate).split()
    return f"{float(value) / divisor:g} {unit}"


HOSTS = Hosts(
    adapt=adapt,
    restore=restore,
    settings=settings(f"""
rates and buffers | divided by the least of {", ".join(map(str, DIVISORS[:4]))}, ... with which data cross \
the network at {MOST_MBPS:g} Mbit/s or less, or {MOST_TCP_MBPS:g} for TCP alone. Rates, bytes, queues and \
losses are multiplied by it; windows, ratios and timeouts are not. Runs of one claim can have different \
divisors: in 3a and 3b, TCP at 1 Gbit/s is compared with XCP at 200 Mbit/s \
| chosen here: what has been validated (docs/validation-live.md, docs/live.md)
hosts | this kernel's TCP; in the simulator stack = "linux"; segments of {MSS}
what counts packets | stays whole at a divided rate: at a fifth of the rate, the 1000 zombies of \
`friendly` (6b to 6e) take 5 times longer to fill, and 2 segments (6a) are 5 times the share \
| docs/models/friendly.md
TCP | the kernel's reno, with SACK; the kernel's HSTCP if it is loaded, else Longfat's for the kernel
TCP's window | the kernel's own: no initial ssthresh, no greatest window | a kernel takes neither
explicit headers | a TCP option of 12 bytes, not 20 bytes | docs/live.md#explicit-rate
a run | is repeated until it is valid, three times at most
"""),
    without=dict.fromkeys(NOT_IN_THE_THESIS, "The thesis did not try this."),
)
