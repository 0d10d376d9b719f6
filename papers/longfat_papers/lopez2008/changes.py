"""How the readings of `assumptions` change the documents of the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from longfat_papers.kit.assumptions import Change, updated
from longfat_papers.lopez2008.settings import DATAGRAMS, MBPS, Steps, datagrams, stairs

Document = dict[str, Any]
Rewrite = Callable[[Document], Document]

SEGMENT_BITS = 8.0 * 1024.0
"""The MSS of (3.1)."""

CLASSES: dict[str, Any] = {"kind": "dqw", "turn": "packets", "controls": "link"}
"""ns-2's Queue/XCP: XCP's queue and another in turn, and a law that believes that the link is XCP's."""
CLASSES_QUEUE: dict[str, Any] = {"kind": "red", "mode": "bytes", "mean_packet": "500 B", "wait": True}
"""The queue of what is not XCP: ns-2's RED with the values of ns-default.tcl."""

DEEP_FALLS = (
    1000, 900, 800, 850, 950, 300, 650, 300, 500, 700,
    300, 350, 500, 650, 800, 900, 1000, 500, 300, 500,
)  # fmt: skip
LATE_RISE = (
    1000, 850, 700, 800, 950, 600, 750, 450, 550, 700,
    300, 300, 400, 650, 900, 900, 1000, 650, 300, 500,
)  # fmt: skip
"""Other staircases of chapter 3. From 120 to 150 s and to 170 s they leave as much as the base, on which the
rules count."""

FULL_BETWEEN: dict[float, Steps] = {
    1000: (
        (0, 1000),
        (5, 750),
        (15, 1000),
        (25, 900),
        (35, 1000),
        (55, 750),
        (65, 1000),
        (75, 850),
        (85, 1000),
    ),
    200: ((0, 200), (5, 50), (15, 200), (30, 50), (40, 200)),
}
SLOW_RETURN: dict[float, Steps] = {
    1000: ((0, 1000), (5, 750), (15, 800), (25, 850), (35, 900), (45, 1000), (55, 750), (65, 800), (75, 850),
           (85, 900), (95, 1000)),
    200: ((0, 200), (5, 50), (10, 100), (15, 150), (20, 200), (30, 50), (35, 100), (40, 150), (45, 200)),
}  # fmt: skip
"""Other staircases of chapter 5, by the rate of the link."""

PERIODIC = {0.1: 10, 0.3: 3}
"""Every how many ACKs one is lost, by the share that is to be lost."""
BURST_ACKS = 5.0


def flows_of(*algorithms: str, **keys: Any) -> Rewrite:
    """Returns a change of the flows with these algorithms. A key whose value is None is removed."""

    def rewrite(document: Document) -> Document:
        document["flow"] = [
            updated(flow, keys) if _algorithm(flow) in algorithms else flow for flow in document["flow"]
        ]
        return document

    return rewrite


def tuned(*algorithms: str, ssthresh: float | None, window: float | None, rtt: str | None = None) -> Rewrite:
    """Returns a change of TCP's first ssthresh and greatest window, in segments; None: unbounded.

    With ``rtt``, only flows of that round-trip time change.
    """
    change = flows_of(*algorithms, initial_ssthresh=ssthresh, max_window=window)
    return lambda document: change(document) if rtt in (None, document["flow"][0].get("rtt")) else document


def path_as_ssthresh(document: Document) -> Document:
    """Gives each NewReno flow its path without queues, (3.1)'s cwnd for the least rate, as first ssthresh."""

    def changed(flow: Document) -> Document:
        if _algorithm(flow) != "newreno":
            return flow
        mbps, rtt_ms = path(document, flow)
        return {**flow, "initial_ssthresh": round(mbps * MBPS * 1e-3 * rtt_ms / SEGMENT_BITS)}

    return {**document, "flow": [changed(flow) for flow in document["flow"]]}


def sine_period(period: str) -> Rewrite:
    """Returns a change of the period of a capacity that is a sine."""

    def rewrite(document: Document) -> Document:
        document["bottleneck"]["rate"]["sine"]["period"] = period
        return document

    return rewrite


def steps_leave(levels_mbps: Sequence[float]) -> Rewrite:
    """Returns a change of what datagrams leave of 1 Gbit/s in each period of chapter 3."""
    return datagrams_leave({1000.0: stairs(levels_mbps)})


def datagrams_leave(left: Mapping[float, Steps]) -> Rewrite:
    """Returns a change of what datagrams leave of the bottleneck, by its rate in Mbit/s."""

    def rewrite(document: Document) -> Document:
        mbps, end_s = _number(document["bottleneck"]["rate"]), _number(document["duration"])
        flows = [flow for flow in document["flow"] if not flow["name"].startswith(DATAGRAMS)]
        steps = [step for step in left[mbps] if step[0] < end_s]
        document["flow"] = flows + datagrams(steps, mbps, end_s, _number(flows[0]["rtt"]))
        return document

    return rewrite


def router(kind: str, /, **keys: Any) -> Rewrite:
    """Returns a change of the parameters of every router of a kind. One whose value is None is removed."""

    def rewrite(document: Document) -> Document:
        for link in _links(document):
            if _kind(link) == kind:
                given = link["router"]
                link["router"] = updated(given if isinstance(given, dict) else {"kind": given}, keys)
        return document

    return rewrite


def classes(controls: str) -> Rewrite:
    """Returns a change of XCP routers to ns-2's queues for XCP and for others.

    The law within takes no parameters, so an interval without packets does not set it back.
    """
    change = router("xcp", **{**CLASSES, "controls": controls, "restarts": None})

    def rewrite(document: Document) -> Document:
        for link in _links(document):
            if _kind(link) == "xcp":
                link["queue"] = CLASSES_QUEUE
        return change(document)

    return rewrite


def buffers(buffer: str) -> Rewrite:
    """Returns a change of the queues of all links of a network."""

    def rewrite(document: Document) -> Document:
        document["link"] = [{**link, "buffer": buffer} for link in document["link"]]
        return document

    return rewrite


def delays(factor: float, *, clouds_only: bool = False) -> Rewrite:
    """Returns a change of the delays of a network's links, or of those in clouds, which have no router."""

    def longer(link: Document) -> Document:
        if clouds_only and "router" in link:
            return link
        return {**link, "delay": f"{factor * _number(link['delay']):g} ms"}

    return lambda document: {**document, "link": [longer(link) for link in document["link"]]}


def link_rate(name: str, mbps: float) -> Rewrite:
    """Returns a change of the rate of one link of a network."""

    def changed(link: Document) -> Document:
        return {**link, "rate": f"{mbps:g} Mbit/s"} if link["name"] == name else link

    return lambda document: {**document, "link": [changed(link) for link in document["link"]]}


def periodic_ack_losses(document: Document) -> Document:
    """Loses every tenth ACK, or every third, instead of 10 or 30 % of them at random."""
    share = document["bottleneck"].get("ack_loss")
    if share is not None:
        document["bottleneck"]["ack_loss"] = {"every": PERIODIC[share]}
    return document


def bursts_of_ack_losses(document: Document) -> Document:
    """Loses as many ACKs in bursts of `BURST_ACKS` on average (a Markov chain of two states)."""
    share = document["bottleneck"].get("ack_loss")
    if share is not None:
        begins = share / (1.0 - share) / BURST_ACKS
        document["bottleneck"]["ack_loss"] = {
            "gilbert_elliott": {"good_to_bad": begins, "bad_to_good": 1.0 / BURST_ACKS}
        }
    return document


def rewritten(rewrite: Rewrite) -> Change:
    """Returns a change that is nothing but a rewrite."""
    return Change(rewrite=rewrite)


def _algorithm(flow: Mapping[str, Any]) -> str:
    given = flow["algorithm"]
    return str(given["name"] if isinstance(given, Mapping) else given)


def _kind(link: Mapping[str, Any]) -> str | None:
    given = link.get("router")
    return given["kind"] if isinstance(given, Mapping) else given


def _links(document: Document) -> list[Document]:
    """The tables of the links, to be changed in place: a network's, or the bottleneck alone."""
    links: list[Document] = document.get("link") or [document["bottleneck"]]
    return links


def path(document: Document, flow: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the least rate on a flow's path in Mbit/s, and its round-trip time in ms."""
    if "bottleneck" in document:
        return _number(document["bottleneck"]["rate"]), _number(flow["rtt"])
    links = _way(document["link"], flow["from"], flow["to"])
    return min(_number(link["rate"]) for link in links), 2.0 * sum(_number(link["delay"]) for link in links)


def _way(links: Sequence[Document], begin: str, end: str) -> list[Document]:
    """Returns the links from one node to another of a network without circles; none if there is no way."""
    for link in links:
        if link["from"] == begin:
            if link["to"] == end:
                return [link]
            if rest := _way(links, link["to"], end):
                return [link, *rest]
    return []


def _number(quantity: Any) -> float:
    """Returns the number of a quantity such as "30 Mbit/s"."""
    return float(str(quantity).split()[0])
