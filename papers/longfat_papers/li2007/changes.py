"""How readings of what LLS leave open rewrite a scenario."""

from __future__ import annotations

from typing import Any

from longfat.units import PACKET_BITS, RATE, TIME
from longfat_papers.li2007.common import DURATION_S, SINGLE_START, bdp_packets, standard_epoch_s

Document = dict[str, Any]

DUMMYNET_LIMIT, DUMMYNET_LIMIT_BYTES = "1 MiB", 1024 * 1024
LEFT_BY_THE_LAST = 0.5
"""Share of the window that a finished connection leaves as ssthresh, at the least."""
SOONEST_END_S = 20.0
"""A start over a whole epoch leaves time for the ten minutes of Fig. 14, and so much more."""


def _path(document: Document) -> tuple[float, list[float], float]:
    """Returns the rate in bit/s, the RTTs in s, and the queue in packets, which is a share of the BDP."""
    bottleneck = document["bottleneck"]
    rate_bps: float = RATE.parse(bottleneck["rate"])
    rtts_s = [TIME.parse(flow["rtt"]) for flow in document["flow"]]
    rtt_s = TIME.parse(bottleneck["buffer_rtt"]) if "buffer_rtt" in bottleneck else min(rtts_s)
    share = float(bottleneck["buffer"].removesuffix(" % BDP")) / 100.0
    return rate_bps, rtts_s, share * bdp_packets(rate_bps, rtt_s)


def limited_queue(document: Document) -> Document:
    if _path(document)[2] * PACKET_BITS / 8 > DUMMYNET_LIMIT_BYTES:
        document["bottleneck"]["buffer"] = DUMMYNET_LIMIT
        document["bottleneck"].pop("buffer_rtt", None)
    return document


def same_reverse_queue(document: Document) -> Document:
    document["bottleneck"]["reverse_buffer"] = f"{max(1, int(_path(document)[2]))} packets"
    return document


def together(document: Document) -> Document:
    for flow in document["flow"][1:]:
        flow["start"] = SINGLE_START
    return document


def over_an_epoch(document: Document) -> Document:
    """Draws the start of flow 2 from a whole epoch of a first flow of standard TCP that is alone."""
    if len(document["flow"]) < 2 or document["flow"][0]["algorithm"]["name"] != "reno":
        return document
    rate_bps, (rtt_s, *_), queue = _path(document)
    epoch_s = standard_epoch_s(rate_bps, rtt_s, queue / bdp_packets(rate_bps, rtt_s), 1)
    latest = TIME.parse(document["duration"]) - DURATION_S - SOONEST_END_S
    if 20.0 + epoch_s > 80.0:
        end_s = min(20.0 + epoch_s, max(latest, 80.0))
        document["flow"][1]["start"] = {"uniform": ["20 s", f"{end_s:.0f} s"]}
    return document


def cached_ssthresh(document: Document) -> Document:
    """Sets the initial ssthresh to a share of the window of equal flows at a full queue."""
    rate_bps, rtts_s, queue = _path(document)
    for flow, rtt_s in zip(document["flow"], rtts_s, strict=True):
        window = (bdp_packets(rate_bps, rtt_s) + queue) / len(rtts_s)
        flow["initial_ssthresh"] = max(2.0, round(LEFT_BY_THE_LAST * window, 1))
    return document


def ten_minutes(document: Document) -> Document:
    return document | {"duration": f"{DURATION_S:g} s"}


def closest_row(document: Document) -> Document:
    for flow in document["flow"]:
        if flow["algorithm"].get("table") == "nearest":
            flow["algorithm"]["table"] = "closest"
    return document


def web_like_flow_2(document: Document) -> Document:
    for background in document.get("background", []):
        background["rtt"] = document["flow"][-1]["rtt"]
    return document


def fast_without_ticks(document: Document) -> Document:
    for flow in document["flow"]:
        if flow["algorithm"]["name"] == "fast":
            flow.pop("host_tick", None)
    return document
