"""How readings change the documents of the runs: the functions that `readings.toml` names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longfat_papers.kit.assumptions import Document, updated
from longfat_papers.lopez2008.common import MBPS, Steps, datagrams, number, stairs
from longfat_papers.lopez2008.reduction import DATAGRAMS

SEGMENT_BITS = 8.0 * 1024.0
"""The MSS of (3.1)."""
CLASSES_QUEUE: dict[str, Any] = {"kind": "red", "mode": "bytes", "mean_packet": "500 B", "wait": True}
"""The queue of what is not XCP: ns-2's RED with the values of ns-default.tcl."""
PERIODIC = {0.1: 10, 0.3: 3}
"""Every how many ACKs one is lost, by the share that is to be lost."""


def flows_of(
    document: Document, of: Sequence[str], rtt: str | None = None, remove: Sequence[str] = (), **keys: Any
) -> Document:
    """Changes and removes keys of the flows with these algorithms, and with this RTT if one is given."""
    keys |= dict.fromkeys(remove)
    document["flow"] = [
        updated(flow, keys) if _algorithm(flow) in of and rtt in (None, flow.get("rtt")) else flow
        for flow in document["flow"]
    ]
    return document


def path_as_ssthresh(document: Document) -> Document:
    """Gives each NewReno flow its path without queues, (3.1)'s cwnd for the least rate, as first ssthresh."""
    for flow in document["flow"]:
        if _algorithm(flow) == "newreno":
            mbps, rtt_ms = path(document, flow)
            flow["initial_ssthresh"] = round(mbps * MBPS * 1e-3 * rtt_ms / SEGMENT_BITS)
    return document


def sine_period(document: Document, period: str) -> Document:
    """Changes the period of a capacity that is a sine."""
    document["bottleneck"]["rate"]["sine"]["period"] = period
    return document


def steps_leave(document: Document, levels_mbps: Sequence[float]) -> Document:
    """Changes what datagrams leave of 1 Gbit/s in each period of chapter 3."""
    return datagrams_leave(document, {"1000": stairs(levels_mbps)})


def datagrams_leave(document: Document, left: Mapping[str, Steps]) -> Document:
    """Changes what datagrams leave of the bottleneck, by its rate in Mbit/s."""
    mbps, end_s = number(document["bottleneck"]["rate"]), number(document["duration"])
    flows = [flow for flow in document["flow"] if not flow["name"].startswith(DATAGRAMS)]
    steps = [(at, rate) for at, rate in left[f"{mbps:g}"] if at < end_s]
    document["flow"] = flows + datagrams(steps, mbps, end_s, number(flows[0]["rtt"]))
    return document


def router(document: Document, of: str, remove: Sequence[str] = (), **keys: Any) -> Document:
    """Changes and removes keys of every router of a kind."""
    for link in document.get("link") or [document["bottleneck"]]:
        given = link.get("router")
        table = given if isinstance(given, Mapping) else {"kind": given}
        if table["kind"] == of:
            link["router"] = updated(table, keys | dict.fromkeys(remove))
    return document


def classes(document: Document, controls: str) -> Document:
    """Turns XCP routers into ns-2's Queue/XCP: XCP's queue and another in turn.

    The law within takes no parameters, so an interval without packets does not set it back.
    """
    for link in document.get("link") or [document["bottleneck"]]:
        given = link.get("router")
        if "xcp" in (given, given.get("kind") if isinstance(given, Mapping) else None):
            link["queue"] = CLASSES_QUEUE
    return router(document, "xcp", ["restarts"], kind="dqw", turn="packets", controls=controls)


def links(document: Document, only: str = "", **keys: Any) -> Document:
    """Changes all links of a network, or the one of that name."""
    document["link"] = [{**link, **keys} if only in ("", link["name"]) else link for link in document["link"]]
    return document


def delays(document: Document, factor: float, clouds_only: bool = False) -> Document:
    """Multiplies the delays of a network's links, or of those in clouds, which have no router."""
    for link in document["link"]:
        if not (clouds_only and "router" in link):
            link["delay"] = f"{factor * number(link['delay']):g} ms"
    return document


def ack_losses(document: Document, burst: float | None = None) -> Document:
    """Loses the share of ACKs at equal distances, or in bursts (a Markov chain) of this length on average."""
    if share := document["bottleneck"].get("ack_loss"):
        begins = share / (1.0 - share) / burst if burst else 0.0
        document["bottleneck"]["ack_loss"] = (
            {"gilbert_elliott": {"good_to_bad": begins, "bad_to_good": 1.0 / burst}}
            if burst
            else {"every": PERIODIC[share]}
        )
    return document


def _algorithm(flow: Mapping[str, Any]) -> str:
    given = flow["algorithm"]
    return str(given["name"] if isinstance(given, Mapping) else given)


def path(document: Document, flow: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the least rate on a flow's path in Mbit/s, and its round-trip time in ms."""
    if "bottleneck" in document:
        return number(document["bottleneck"]["rate"]), number(flow["rtt"])
    links = _way(document["link"], flow["from"], flow["to"])
    return min(number(link["rate"]) for link in links), 2.0 * sum(number(link["delay"]) for link in links)


def _way(links: Sequence[Document], begin: str, end: str) -> list[Document]:
    """Returns the links from one node to another of a network without circles; none if there is no way."""
    for link in links:
        if link["from"] == begin:
            if link["to"] == end:
                return [link]
            if rest := _way(links, link["to"], end):
                return [link, *rest]
    return []
