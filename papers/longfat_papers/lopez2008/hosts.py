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

from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.kit.hosts import Adapted, Hosts, Unfit
from longfat_papers.lopez2008.beyond_experiments import BEYOND
from longfat_papers.lopez2008.settings import MBPS, MSS, PACKET_BITS, TITLES

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
    "newreno": "reno",
    "reno": "reno",
    "hstcp": "hstcp",
    "cubic": {"name": "cubic", "variant": "linux"},
    "xcp": "xcp",
    "xcp-r": "xcp-r",
    "jetmax": "jetmax",
    "vcp": "vcp",
}
"""The kernel's form of each algorithm; its reno has SACK."""
DATAGRAMS_SENDER = "cbr"
NOT_TRAINS = frozenset({"xcp", "xcp-r", "jetmax", "vcp", DATAGRAMS_SENDER})

FOLLOWS_RATE = re.compile(r" (BDP|[mu]?s)$")
"""The units of buffers that get smaller with the rate by themselves."""

LINEAR = ("means_mbps", "megabytes", "sent", "dropped")
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
    changed = {**row, "queue": [divisor * value for value in row["queue"]]}
    changed["queue_limit"] = divisor * row["queue_limit"]
    changed |= {key: [divisor * value for value in row[key]] for key in LINEAR}
    changed |= {
        key: [[divisor * value for value in values] for values in row[key]] for key in LINEAR_OVER_TIME
    }
    return changed


def carried_mbps(document: Mapping[str, Any], packets: float) -> float:
    """Returns the greatest rate at which data cross the network: the bottleneck's, or what all flows send."""
    if "link" in document:
        return packets * PACKET_BITS / MBPS / _number(document["duration"])
    rate = document["bottleneck"]["rate"]
    return _number(rate["sine"]["max"] if isinstance(rate, Mapping) else rate)


def _divisor(document: Mapping[str, Any], packets: float) -> int:
    slow = any(_algorithm(flow)[0] in NOT_TRAINS for flow in document["flow"])
    most = MOST_MBPS if slow else MOST_TCP_MBPS
    carried = carried_mbps(document, packets)
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
        rate = changed["rate"]
        changed["rate"] = (
            {"sine": _sine(rate["sine"], divisor)} if isinstance(rate, Mapping) else _over(rate, divisor)
        )
    buffer = str(changed.get("buffer", "0 s"))
    if buffer.endswith(" packets"):
        changed["buffer"] = f"{max(1, round(_number(buffer) / divisor))} packets"
    elif not FOLLOWS_RATE.search(buffer):
        raise Unfit(f"A buffer of {buffer} would not be divided with the rate.")
    given = changed.get("algorithm")
    if isinstance(given, Mapping) and "rate" in given:
        changed["algorithm"] = {**given, "rate": _over(given["rate"], divisor)}
    return changed


def _sine(sine: Mapping[str, Any], divisor: int) -> dict[str, Any]:
    return {**sine, "max": _over(sine["max"], divisor), "min": _over(sine["min"], divisor)}


def _over(rate: Any, divisor: int) -> str:
    number, unit = str(rate).split()
    return f"{float(number) / divisor:g} {unit}"


def _number(quantity: Any) -> float:
    return float(str(quantity).split()[0])


HOSTS = Hosts(
    adapt=adapt,
    restore=restore,
    settings=(
        Setting(
            "rates and buffers",
            f"divided by the least of {', '.join(map(str, DIVISORS[:4]))}, ... with which data cross the "
            f"network at {MOST_MBPS:g} Mbit/s or less, or {MOST_TCP_MBPS:g} for TCP alone. Rates, bytes, "
            "queues and losses are multiplied by it; windows, ratios and timeouts are not. Runs of one claim "
            "can have different divisors: in 3a and 3b, TCP at 1 Gbit/s is compared with XCP at 200 Mbit/s",
            CHOSEN_HERE + ": what has been validated (docs/validation-live.md, docs/live.md)",
        ),
        Setting(
            "hosts", f'this kernel\'s TCP; in the simulator stack = "linux"; segments of {MSS}', CHOSEN_HERE
        ),
        Setting(
            "what counts packets",
            "stays whole at a divided rate: at a fifth of the rate, the 1000 zombies of `friendly` (6b to "
            "6e) take 5 times longer to fill, and 2 segments (6a) are 5 times the share",
            "docs/models/friendly.md",
        ),
        Setting(
            "TCP",
            "the kernel's reno, with SACK; the kernel's HSTCP if it is loaded, else Longfat's for the kernel",
            CHOSEN_HERE,
        ),
        Setting(
            "TCP's window",
            "the kernel's own: no initial ssthresh, no greatest window",
            "a kernel takes neither",
        ),
        Setting(
            "explicit headers",
            "a TCP option of 12 bytes, not 20 bytes",
            "docs/live.md#explicit-rate",
        ),
        Setting("a run", "is repeated until it is valid, three times at most", CHOSEN_HERE),
    ),
    without={experiment.name: "The thesis did not try this." for experiment in BEYOND},
)
