"""One XCP flow and two TCP flows, without and with the mechanism (Figs. 6.2 and 6.3; LOP-6a and LOP-6b)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, mean, settings
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008 import friendly as fr
from longfat_papers.lopez2008.reduction import rows

FALLEN_MBPS = 60.0
LEFT_SEGMENTS = 2.0
KEPT_SHARE, TCP_SHARE = 0.5, 1.1
"""Shares of XCP's target and of TCP's."""
UPDATES = ("packet", "interval")


@lp.experiment("starved", "Fig. 6.2", "XCP beside TCP", rtt_ms=fr.RTTS_MS)
def starved(rtt_ms: int, repeat: int) -> lp.Document:
    """At both RTTs of chapter 6, as the text names none."""
    return fr.scenario(f"rtt_ms {rtt_ms}", "xcp", fr.one_and_two("xcp", "newreno", rtt_ms), fr.STARVED_S)


@lp.experiment("one-two", "Fig. 6.3", "One XCP flow, two TCP flows", rtt_ms=fr.RTTS_MS, update=UPDATES)
def one_and_two(rtt_ms: int, update: str, repeat: int) -> lp.Document:
    """The probability is updated as the text says, and as the figures require."""
    router = {"kind": "friendly", "update": update}
    flows = fr.one_and_two("xcp", "newreno", rtt_ms)
    return fr.scenario(f"rtt_ms {rtt_ms}, update {update}", router, flows)


@starved.drawing
def windows_and_rates(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for rtt in fr.RTTS_MS:
        row = dr.first(runs, rtt_ms=rtt)
        windows = [dr.cwnd(row, name, number, number) for number, name in enumerate(row.names)]
        panels.append(dr.windows(f"{rtt} ms: window", windows))
        panels.append(dr.rates(f"{rtt} ms: rate", dr.each(row), row.end_s, fr.MBPS))
    return Drawing(
        f"1 Gbit/s, 5000 packets; two TCP flows from 10 s on.{dr.shown(runs)} The thesis: XCP falls to one "
        "packet.",
        tuple(panels),
        title="XCP beside TCP on an XCP router",
    )


one_and_two.drawing(
    fr.averages(
        {
            f"{rtt} ms, update: {update}": {"rtt_ms": rtt, "update": update}
            for update in UPDATES
            for rtt in fr.RTTS_MS
        },
        lambda at: fr.MBPS / 3.0 if at >= 10.0 else fr.MBPS,
        " The drop probability changes with each TCP packet, or once in a control interval as the text says.",
        title="One XCP flow, two TCP flows from 10 s on",
    )
)


@starved.claim(
    "6a",
    "1 XCP joined by 2 TCP at 10 s, 1 Gbit/s, XCP router without the mechanism",
    "XCP falls to ~30 Mbit/s by 15 s and to 1 packet after 19 s",
    settings=fr.SETTINGS[:1]
    + settings("""
RTT | 100 ms; 20 ms is also reported | chosen here: 6.2 sizes its queues for 100 ms
"""),
    values={"mbps_at_15": 30.0, "cwnd": 1.0},
    bounds=f"At 100 ms; the window is the mean cwnd until {fr.STARVED_S} s. Bounds chosen here.",
)
def xcp_starves(runs: Runs) -> Checks:
    fall, rest = (15.0, 16.0), (19.0, float(fr.STARVED_S))
    near, far = (
        [
            (row.rate_mbps(fall, "xcp"), row.rate_mbps(rest, "xcp"), row.cwnd(rest, "xcp"))
            for row in rows(runs, rtt_ms=rtt)
        ]
        for rtt in fr.RTTS_MS
    )
    at_20_ms, (fallen, left, cwnd) = ([mean(each) for each in zip(*at, strict=True)] for at in (near, far))
    yield ck.at_most("XCP's rate from 15 to 16 s, Mbit/s", fallen, FALLEN_MBPS)
    yield ck.at_most("XCP's mean window after 19 s, segments", cwnd, LEFT_SEGMENTS)
    return Evidence(
        f"XCP at {fallen:.1f} Mbit/s by 15 s, then {left:.2f} Mbit/s with a window of {cwnd:.1f}",
        {"mbps_at_15": fallen, "mbps_after": left, "cwnd_after": cwnd, "at_20_ms": at_20_ms},
        "At 20 ms: {:.1f} Mbit/s, then {:.2f} with a window of {:.1f}.".format(*at_20_ms),
        Measured.mean("XCP's rate from 15 to 16 s, Mbit/s", (each[0] for each in far), 30.0, log=True),
    )


@one_and_two.claim(
    "6b",
    "the same with the friendliness mechanism, 20 and 100 ms",
    "XCP keeps a share (target 341 of 1024); at 100 ms TCP recovers slowly and XCP stays above its share",
    settings=fr.SETTINGS,
    values={"target_share": 1.0 / 3.0},
    bounds=f"From {fr.SETTLED_S:g} to {fr.END_S} s. XCP's target is a third of the link, TCP's the rest. The "
    f"bounds, {KEPT_SHARE:g} of XCP's and {TCP_SHARE:g} of TCP's at 20 ms and the targets at 100 ms, are "
    "chosen here.",
)
def xcp_keeps_a_share(runs: Runs) -> Checks:
    over = fr.spans(fr.SETTLED_S, fr.END_S)
    near, far, near_by_text, far_by_text = (
        {
            key: fr.means_mbps(rows(runs, rtt_ms=rtt, update=update), over, prefix)
            for key, prefix in (("xcp", "xcp"), ("tcp", "newreno"))
        }
        for update in UPDATES
        for rtt in fr.RTTS_MS
    )
    target, of_tcp = fr.MBPS / 3.0, 2.0 * fr.MBPS / 3.0
    whole, at_20 = (fr.SETTLED_S, float(fr.END_S)), rows(runs, rtt_ms=20, update="packet")
    yield ck.at_least("20 ms: least rate of XCP over 10 s, Mbit/s", min(near["xcp"]), KEPT_SHARE * target)
    yield ck.at_most("20 ms: greatest rate of TCP over 10 s, Mbit/s", max(near["tcp"]), of_tcp * TCP_SHARE)
    yield ck.at_least("100 ms: least rate of XCP over 10 s, Mbit/s", min(far["xcp"]), target)
    yield ck.below("100 ms: mean rate of TCP, Mbit/s", float(np.mean(far["tcp"])), of_tcp)
    return Evidence(
        f"from 30 s on, over 10 s: XCP {_range(near['xcp'])} Mbit/s at 20 ms, {_range(far['xcp'])} at 100 "
        f"ms; TCP {_range(near['tcp'])} and {_range(far['tcp'])}",
        {"near": near, "far": far, "near_by_text": near_by_text, "far_by_text": far_by_text},
        f"Updated once a control interval: XCP {_range(near_by_text['xcp'])} and "
        f"{_range(far_by_text['xcp'])} Mbit/s.",
        Measured.mean(
            "20 ms: XCP's rate from 30 s on, Mbit/s", (row.rate_mbps(whole, "xcp") for row in at_20)
        ),
    )


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.0f} to {max(values):.0f}"
