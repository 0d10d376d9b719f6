"""One flow on a capacity that varies: a sine (Figs. 3.3 to 3.10), and steps (Figs. 3.13 to 3.18); LOP-3."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat.runs.theory import sawtooth_under_bps, sine_capacity_bps
from longfat_papers.kit import (
    Checks,
    Curve,
    Declaration,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    listed,
    mean,
    settings,
    thinned,
)
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008.reduction import Span, dropped, rows

NEWRENO_SINE, HSTCP_SINE_FAR, HSTCP_STEPS_FAR = 0.4, 0.3, 0.35
"""Inefficiencies that the thesis prints."""
EFFICIENT = 0.05
"""An inefficiency."""
NEVER_MBPS = 500.0
OVERSHOOT_PACKETS = 1000.0
ZOOM_S = (48.0, 56.0)
ZOOM_SAMPLE_S = 0.02

TUNED: dict[str, Any] = {"initial_ssthresh": 21_000.0, "max_window": 24_000.0}
"""Options of TCP. TCP fills 1 Gbit/s at 100 ms "during the startup" and has its first losses "at second 10
approximately" for any RTT. Path and buffer hold 24 000 segments at 100 ms. With 21 000 the buffer
overflows when the sine is down to 730 Mbit/s (7 s) at 100 ms, and to 370 (13 s) at 200 ms.
"""
PROTOCOLS: dict[str, tuple[str, ...]] = {"sine": ("newreno", "hstcp", "xcp"), "steps": ("hstcp", "xcp")}

SETTINGS = settings(f"""
queue | {lp.VBE_BUFFER} packets, drop-tail; for XCP an XCP router | 3.1.2, 3.2.1
TCP's window | initial ssthresh 21 000, at most 24 000 segments, at both RTTs | from 3.1.3.2: all of 1 \
Gbit/s "during the startup", first losses "at second 10 approximately"
""")
SINE_SETTINGS = SETTINGS + settings("""
capacity | sine, 1 Gbit/s to 300 Mbit/s, period 32 s | (3.8); the text has 30 s
""")
STEPS_SETTINGS = SETTINGS + settings(f"""
capacity | 1 Gbit/s less datagram flows of 50 Mbit/s, changes every 10 s | 3.2
steps | left: {", ".join(map(str, lp.STAIRS_MBPS))} | chosen here: Fig. 3.11 has no numbers
""")
IN_ALL = "Drops are those of the whole run, datagrams included, in the worst repeat."
OURS = f"{lp.NEAR:g} around the number and XCP's {EFFICIENT:g} are chosen here."


def scenario(
    protocol: str, rtt_ms: int, what: str, rate: Any, end_s: float, beside: Iterable[Any] = (), **more: Any
) -> lp.Document:
    """Returns one flow on a capacity; TCP is tuned."""
    flow = lp.flow(protocol, protocol, rtt_ms, **({} if protocol == "xcp" else TUNED))
    title, router = f"{protocol} on {what}, {rtt_ms} ms", lp.ROUTERS.get(protocol)
    return lp.dumbbell(title, rate, lp.VBE_BUFFER, [flow, *beside], end_s, router=router, **more)


def on_a_sine(protocol: str, rtt_ms: int, repeat: int) -> lp.Document:
    top, bottom = (f"{mbps:g} Mbit/s" for mbps in lp.SINE_MBPS)
    sine = {"max": top, "min": bottom, "period": f"{lp.SINE_PERIOD_S:g} s"}
    return scenario(protocol, rtt_ms, "a sine", {"sine": sine}, lp.SINE_S)


def on_steps(
    protocol: str, rtt_ms: int, repeat: int, end_s: float = lp.STAIRS_S, sample_s: float = lp.SAMPLE_S
) -> lp.Document:
    left = [step for step in lp.stairs(lp.STAIRS_MBPS) if step[0] < end_s]
    beside = lp.datagrams(left, 1000, end_s, rtt_ms)
    return scenario(protocol, rtt_ms, "steps", 1000, end_s, beside, sample_s=sample_s)


def fall(protocol: str, rtt_ms: int, repeat: int) -> lp.Document:
    """The fall at 50 s, sampled finely."""
    return on_steps(protocol, rtt_ms, repeat, ZOOM_S[1], ZOOM_SAMPLE_S)


def declared(variation: lp.Variation, rtt_ms: int, title: str, mirrors: str) -> Declaration:
    """Declares an experiment with the usual drawing: rates, windows and queues."""
    runs, end_s = (on_a_sine, lp.SINE_S) if variation == "sine" else (on_steps, lp.STAIRS_S)
    at: dict[str, Any] = {"protocol": PROTOCOLS[variation], "rtt_ms": (rtt_ms,)}
    found = lp.experiment(f"{variation}-{rtt_ms}", mirrors, f"{title}, {rtt_ms} ms", **at)(runs)
    found.drawing(lambda runs, mode: drawing(runs, variation, end_s))
    return found


sine_near = declared("sine", 100, "Sine capacity", "Figs. 3.5, 3.7, 3.9")
sine_far = declared("sine", 200, "Sine capacity", "Figs. 3.6, 3.8, 3.10")
both: dict[str, Any] = {"protocol": ("newreno",), "rtt_ms": (100, 200)}
model = lp.experiment("model", "Figs. 3.3, 3.4", "The model of TCP beside the simulation", **both)(on_a_sine)
steps_near = declared("steps", 100, "Steps", "Figs. 3.13, 3.16")
at_100_ms: dict[str, Any] = {"protocol": PROTOCOLS["steps"], "rtt_ms": (100,), "repeat": 1}
zoom = lp.experiment("zoom", "Figs. 3.14, 3.17", "A fall of the capacity", **at_100_ms)(fall)
steps_far = declared("steps", 200, "Steps", "Figs. 3.15, 3.18")


def drawing(runs: Runs, variation: lp.Variation, end_s: float) -> Drawing:
    panels = []
    for protocol in (key for key in lp.TITLES if runs.has(protocol=key)):
        row, title = dr.first(runs, protocol=protocol), lp.TITLES[protocol]
        curves = (dr.available(variation, end_s), dr.history("rate", row, protocol))
        panels.append(dr.rates(f"{title}: {row.dropped():.0f} dropped", curves, end_s, 1000.0))
        curves = (dr.cwnd(row), dr.line("queue", row.edges_s(), row.row["queue"], 1, dr.MOST_BINS))
        text = f"{title}: window and queue"
        panels.append(Panel(text, dr.TIME_AXIS, "packets", curves, x_range=(0.0, end_s)))
    return Drawing(
        f"Queue of {lp.VBE_BUFFER} packets; rate at the receiver.{dr.shown(runs)}",
        tuple(panels),
        title=f"One flow on a varying capacity, {runs.distinct('rtt_ms')[0]} ms",
    )


@model.drawing
def lines_of_the_model(runs: Runs, mode: Mode) -> Drawing:
    def capacity(time_s: float) -> float:
        top, bottom = (1e6 * mbps for mbps in lp.SINE_MBPS)
        return sine_capacity_bps(time_s, top, bottom, lp.SINE_PERIOD_S)

    panels = []
    times = np.arange(0.0, lp.SINE_S, 0.1).tolist()
    for rtt_ms in runs.distinct("rtt_ms"):
        bps = sawtooth_under_bps(capacity, times, 1e-3 * rtt_ms, capacity(0.0), lp.PACKET_BITS / 8.0)
        curves = (
            dr.available("sine", lp.SINE_S),
            dr.dashed("model (3.4)", times, [1e-6 * each for each in bps], dr.RED),
            dr.history("simulated", dr.first(runs, rtt_ms=rtt_ms), "newreno"),
        )
        panels.append(dr.rates(f"RTT {rtt_ms} ms", curves, lp.SINE_S))
    return Drawing(
        "3.1.3.1: the rate grows by 8 MSS / RTT^2 and halves where it meets the capacity; no queue, no "
        "slow-start.",
        tuple(panels),
    )


@zoom.drawing
def around_the_fall(runs: Runs, mode: Mode) -> Drawing:
    def late(curve: Curve) -> Curve:
        kept = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if x >= ZOOM_S[0]]
        return replace(curve, x=tuple(x for x, _ in kept), y=tuple(y for _, y in kept))

    panels = []
    for name in runs.distinct("protocol"):
        row = dr.first(runs, protocol=name)
        rate = dr.line("rate", row.edges_s().tolist(), row.summed_mbps().tolist())
        curves = (late(dr.available("steps", ZOOM_S[1])), late(rate))
        panels.append(Panel(lp.TITLES[name], dr.TIME_AXIS, dr.RATE_AXIS, curves, x_range=ZOOM_S))
        time, cwnd = row.edges_s(), np.asarray(row.row["cwnd"][0])
        kept = time >= ZOOM_S[0]
        window = dr.line("cwnd", *thinned(time[kept], cwnd[kept]))
        panels.append(dr.windows(f"{lp.TITLES[name]}: window", (window,), ZOOM_S))
    return Drawing(
        "100 ms; rate at the receiver every 20 ms, and the window. The thesis: HSTCP fills the queue, loses, "
        "stops and comes back; XCP's rate dips until its window has adapted.",
        tuple(panels),
        title="A fall of the capacity by 350 Mbit/s",
    )


def _inefficiency(
    runs: Runs, variation: lp.Variation, span: Span
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Returns each protocol's inefficiency (3.5), mean and of each repeat: 1 less arrived over available."""
    there = lp.available_mbps(variation, span)
    each = {
        name: [metrics.inefficiency(there, row.rate_mbps(span)) for row in rows(runs, protocol=name)]
        for name in PROTOCOLS[variation]
    }
    return {name: mean(wastes) for name, wastes in each.items()}, each


@sine_near.claim(
    "3a",
    "sine capacity 1 Gbit/s..300 Mbit/s, period 32 s, queue 12500 packets, RTT 100 ms, s 16..48",
    "NewReno inefficiency .40; HSTCP below .05; XCP follows with no drop",
    settings=SINE_SETTINGS,
    estimator="Inefficiency (3.5): 1 minus the ratio of what arrived to the capacity, both over "
    f"{lp.ends(lp.INEFFICIENT_S)} s; means over repeats.",
    values={"newreno": NEWRENO_SINE, "hstcp": EFFICIENT},
    bounds=f"{IN_ALL} {OURS}",
)
def newreno_wastes_and_xcp_follows(runs: Runs) -> Checks:
    found, each = _inefficiency(runs, "sine", lp.INEFFICIENT_S)
    lost = dropped(runs.where(protocol="xcp"))
    yield ck.between("NewReno's inefficiency", found["newreno"], *lp.around(NEWRENO_SINE))
    yield ck.below("HSTCP's inefficiency", found["hstcp"], EFFICIENT)
    yield ck.below("XCP's inefficiency", found["xcp"], EFFICIENT)
    yield ck.at_most("packets of XCP dropped", lost, 0.0)
    return Evidence(
        f"inefficiency: {listed(found, lp.TITLES, 3)}; XCP's drops: {lost:.0f}",
        {"inefficiency": found, "xcp_dropped": lost},
        figure=Measured.mean("NewReno's inefficiency", each["newreno"], NEWRENO_SINE),
    )


@sine_far.claim(
    "3b",
    "the same at 200 ms",
    "NewReno never recovers; HSTCP .30; XCP follows with no drop",
    settings=SINE_SETTINGS,
    estimator=f"Inefficiency (3.5) over {lp.ends(lp.INEFFICIENT_S)} s; means over repeats.",
    values={"hstcp": HSTCP_SINE_FAR},
    bounds=f"{IN_ALL} {NEVER_MBPS:g} Mbit/s is the text's number; {OURS}",
)
def newreno_never_recovers_and_xcp_follows(runs: Runs) -> Checks:
    found, each = _inefficiency(runs, "sine", lp.INEFFICIENT_S)
    lost = dropped(runs.where(protocol="xcp"))
    most = max(
        row.rate_mbps((at, at + lp.SHORT_SPAN_S))
        for row in rows(runs, protocol="newreno")
        for at in np.arange(lp.NEVER_FROM_S, lp.SINE_S, lp.SHORT_SPAN_S)
    )
    text = f"NewReno's greatest rate from {lp.NEVER_FROM_S:g} s on, over {lp.SHORT_SPAN_S:g} s, Mbit/s"
    yield ck.below(text, most, NEVER_MBPS)
    yield ck.between("HSTCP's inefficiency", found["hstcp"], *lp.around(HSTCP_SINE_FAR))
    yield ck.below("XCP's inefficiency", found["xcp"], EFFICIENT)
    yield ck.at_most("packets of XCP dropped", lost, 0.0)
    return Evidence(
        f"NewReno up to {most:.0f} Mbit/s; inefficiency: {listed(found, lp.TITLES, 3)}; XCP's drops: "
        f"{lost:.0f}",
        {"newreno_most_mbps": most, "inefficiency": found, "xcp_dropped": lost},
        figure=Measured.mean("HSTCP's inefficiency", each["hstcp"], HSTCP_SINE_FAR),
    )


@steps_near.claim(
    "3c",
    "step capacity by 50 Mbit/s on-off UDP flows, changes every 10 s, 1 Gbit/s..300 Mbit/s, 100 ms",
    "HSTCP inefficiency below .05 (s 120..150); XCP no drop",
    settings=STEPS_SETTINGS,
    estimator=f"Inefficiency (3.5) over {lp.ends(lp.HARD_S)} s of what the datagrams leave; means over "
    "repeats.",
    values={"hstcp": EFFICIENT},
    bounds=IN_ALL,
)
def hstcp_is_efficient_and_xcp_drops_nothing(runs: Runs) -> Checks:
    found, each = _inefficiency(runs, "steps", lp.HARD_S)
    lost = dropped(runs.where(protocol="xcp"))
    yield ck.below("HSTCP's inefficiency", found["hstcp"], EFFICIENT)
    yield ck.at_most("packets of XCP dropped", lost, 0.0)
    return Evidence(
        f"inefficiency from {lp.ends(lp.HARD_S)} s: {listed(found, lp.TITLES, 3)}; XCP's drops: {lost:.0f}",
        {"inefficiency": found, "xcp_dropped": lost},
        figure=Measured.mean("HSTCP's inefficiency", each["hstcp"]),
    )


@steps_far.claim(
    "3d",
    "the same at 200 ms",
    "HSTCP .35 (s 120..170); XCP overshoots at 50, 70, 100, 170, 180 s but is less sensitive to the longer "
    "RTT than HSTCP",
    also=("steps-100",),
    settings=STEPS_SETTINGS,
    estimator=f"Inefficiency (3.5) over {lp.ends(lp.HARDER_S)} s of what the datagrams leave; queue sampled "
    "every 0.1 s.",
    values={"hstcp": HSTCP_STEPS_FAR},
    bounds=f"The longer RTT is 200 ms instead of 100. {lp.NEAR:g} around the number and "
    f"{OVERSHOOT_PACKETS:g} packets are chosen here.",
)
def hstcp_wastes_and_xcp_overshoots(far: Runs, near: Runs) -> Checks:
    (found, each), (before, _) = (_inefficiency(runs, "steps", lp.HARDER_S) for runs in (far, near))
    added = {name: found[name] - before[name] for name in found}
    peaks = {}
    yield ck.between("HSTCP's inefficiency", found["hstcp"], *lp.around(HSTCP_STEPS_FAR))
    for at in lp.OVERSHOOTS_S:
        peak = mean(row.queue((at, at + lp.SHORT_SPAN_S)) for row in rows(far, protocol="xcp"))
        text = f"{at:g} s: XCP's queue within {lp.SHORT_SPAN_S:g} s, packets"
        yield ck.at_least(text, peak, OVERSHOOT_PACKETS)
        peaks[f"{at:g}"] = peak
    text = "what the longer RTT adds to XCP's inefficiency"
    yield ck.below(text, added["xcp"], added["hstcp"], than="what it adds to HSTCP's")
    return Evidence(
        f"inefficiency from {lp.ends(lp.HARDER_S)} s: {listed(found, lp.TITLES, 3)} (at 100 ms "
        f"{listed(before, lp.TITLES, 3)}); XCP's queue after the falls: "
        + ", ".join(f"{peak:.0f}" for peak in peaks.values()),
        {"inefficiency": found, "inefficiency_100": before, "queues": peaks},
        figure=Measured.mean("HSTCP's inefficiency", each["hstcp"], HSTCP_STEPS_FAR),
    )
