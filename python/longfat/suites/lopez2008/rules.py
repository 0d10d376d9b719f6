"""The rules of the claims of chapters 2 to 5. `claims` has their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from longfat.numbers import finite
from longfat.runs import metrics
from longfat.suites.kit.checks import above, at_least, at_most, below, between, within_factor
from longfat.suites.kit.claims import Check, Finding
from longfat.suites.kit.suite import Data, Find, Runs
from longfat.suites.kit.text import listed, seconds
from longfat.suites.lopez2008 import bounds, networks
from longfat.suites.lopez2008.reduction import Row, mean, rows
from longfat.suites.lopez2008.settings import (
    ACKS_FALLS_S,
    ACKS_S,
    AFTER_FALL_S,
    BOTTLENECK_S,
    FORMULA_FROM_S,
    FORMULA_RTTS_MS,
    FORMULA_S,
    HARD_S,
    HARDER_S,
    INEFFICIENT_S,
    NEVER_FROM_S,
    ONE_MBPS,
    ONE_RTT_MS,
    OVERSHOOTS_S,
    SECOND_FALL_S,
    SETTLE_S,
    SHORT_SPAN_S,
    SILENCE_FROM_S,
    SINE_S,
    STAGED_EVERY_S,
    STAGED_FOR_S,
    STAGED_MBPS,
    TABLE_5_1,
    TAKEN_OVER_S,
    THREE_CASES,
    THREE_S,
    TITLES,
    VCP_JOIN_S,
    Variation,
    available_mbps,
)


def joined_vcp(data: Data) -> Finding:
    """LOP-2c."""
    times = [_fair_after(row, VCP_JOIN_S) for row in rows(data["vcp"])]
    time = float(np.median(times))
    first = mean(row.rate_mbps((VCP_JOIN_S - 10.0, float(VCP_JOIN_S)), "vcp-1") for row in rows(data["vcp"]))
    return Finding(
        (
            at_least("first flow before, Mbit/s", first, bounds.FIRST_VCP_MBPS),
            between("time to fairness, s", time, *bounds.VCP_FAIR_S),
        ),
        f"first flow at {first:.1f} Mbit/s; fair {seconds(time, '.0f')} after the second started",
        {"first_mbps": first, "fair_after_s": finite(time)},
    )


def staged(protocol: str) -> Find:
    """LOP-2d and LOP-2e."""

    def find(data: Data) -> Finding:
        fair, full, lost = [], [], 0.0
        for row in rows(data[protocol]):
            lost = max(lost, row.dropped())
            for begin, end, active in _stages():
                rates = row.rates_mbps((begin + SETTLE_S, end))
                fair.append(metrics.jain([rates[index] for index in active]))
                full.append(sum(rates) / STAGED_MBPS)
        return Finding(
            (
                at_least("least Jain's index of a stage", min(fair), bounds.FAIR),
                at_least("least share of the link used in a stage", min(full), bounds.USED),
                at_most("packets dropped", lost, 0.0),
            ),
            f"Jain's index {min(fair):.3f} and more, {min(full):.3f} and more of the link, {lost:.0f} "
            f"dropped",
            {"jain": min(fair), "used": min(full), "dropped": lost},
        )

    return find


def sine_near(data: Data) -> Finding:
    """LOP-3a."""
    found = {
        name: _wasted(data["sine-100"], name, "sine", INEFFICIENT_S) for name in ("newreno", "hstcp", "xcp")
    }
    lost = _dropped(data["sine-100"].where(protocol="xcp"))
    return Finding(
        (
            between("NewReno's inefficiency", found["newreno"], *_near(bounds.NEWRENO_NEAR)),
            below("HSTCP's inefficiency", found["hstcp"], bounds.EFFICIENT),
            below("XCP's inefficiency", found["xcp"], bounds.EFFICIENT),
            at_most("packets of XCP dropped", lost, 0.0),
        ),
        f"inefficiency: {listed(found, TITLES, 3)}; XCP's drops: {lost:.0f}",
        {"inefficiency": found, "xcp_dropped": lost},
    )


def sine_far(data: Data) -> Finding:
    """LOP-3b."""
    runs = data["sine-200"]
    found = {name: _wasted(runs, name, "sine", INEFFICIENT_S) for name in ("newreno", "hstcp", "xcp")}
    most = max(
        row.rate_mbps((at, at + SHORT_SPAN_S))
        for row in rows(runs, protocol="newreno")
        for at in np.arange(NEVER_FROM_S, SINE_S, SHORT_SPAN_S)
    )
    lost = _dropped(runs.where(protocol="xcp"))
    return Finding(
        (
            below(
                f"NewReno's greatest rate from {NEVER_FROM_S:g} s on, over {SHORT_SPAN_S:g} s, Mbit/s",
                most,
                bounds.NEVER_MBPS,
            ),
            between("HSTCP's inefficiency", found["hstcp"], *_near(bounds.HSTCP_FAR)),
            below("XCP's inefficiency", found["xcp"], bounds.EFFICIENT),
            at_most("packets of XCP dropped", lost, 0.0),
        ),
        f"NewReno up to {most:.0f} Mbit/s; inefficiency: {listed(found, TITLES, 3)}; XCP's drops: {lost:.0f}",
        {"newreno_most_mbps": most, "inefficiency": found, "xcp_dropped": lost},
    )


def steps_near(data: Data) -> Finding:
    """LOP-3c."""
    runs = data["steps-100"]
    found = {name: _wasted(runs, name, "steps", HARD_S) for name in ("hstcp", "xcp")}
    lost = _dropped(runs.where(protocol="xcp"))
    return Finding(
        (
            below("HSTCP's inefficiency", found["hstcp"], bounds.EFFICIENT),
            at_most("packets of XCP dropped", lost, 0.0),
        ),
        f"inefficiency from {HARD_S[0]:g} to {HARD_S[1]:g} s: {listed(found, TITLES, 3)}; XCP's drops: "
        f"{lost:.0f}",
        {"inefficiency": found, "xcp_dropped": lost},
    )


def steps_far(data: Data) -> Finding:
    """LOP-3d."""
    near, far = data["steps-100"], data["steps-200"]
    found = {name: _wasted(far, name, "steps", HARDER_S) for name in ("hstcp", "xcp")}
    before = {name: _wasted(near, name, "steps", HARDER_S) for name in ("hstcp", "xcp")}
    peaks = {
        at: mean(row.queue((at, at + SHORT_SPAN_S)) for row in rows(far, protocol="xcp"))
        for at in OVERSHOOTS_S
    }
    added = {name: found[name] - before[name] for name in found}
    return Finding(
        (
            between("HSTCP's inefficiency", found["hstcp"], *_near(bounds.HSTCP_STEPS_FAR)),
            *(
                at_least(
                    f"queue of XCP within {SHORT_SPAN_S:g} s of {at:g} s, packets",
                    peak,
                    bounds.OVERSHOOT_PACKETS,
                )
                for at, peak in peaks.items()
            ),
            below("what the longer RTT adds to XCP's inefficiency", added["xcp"], added["hstcp"]),
        ),
        f"inefficiency from {HARDER_S[0]:g} to {HARDER_S[1]:g} s: {listed(found, TITLES, 3)} (at 100 ms "
        f"{listed(before, TITLES, 3)}); XCP's queue after the falls: "
        + ", ".join(f"{peak:.0f}" for peak in peaks.values()),
        {
            "inefficiency": found,
            "inefficiency_100": before,
            "queues": {f"{at:g}": peak for at, peak in peaks.items()},
        },
    )


def unaware_bottleneck(data: Data) -> Finding:
    """LOP-4a."""
    runs = data["bottleneck"]
    sent = {
        case: mean(sum(row.each("megabytes")) for row in rows(runs, case=case)) for case in ("a", "b", "c")
    }
    loss = runs.where(case="c").mean("lost_ratio")
    return Finding(
        (
            within_factor("TCP, MB", sent["a"], bounds.MEGABYTES["a"], bounds.MEGABYTES_FACTOR),
            within_factor(
                "XCP on XCP routers, MB", sent["b"], bounds.MEGABYTES["b"], bounds.MEGABYTES_FACTOR
            ),
            within_factor(
                "XCP with a drop-tail bottleneck, MB",
                sent["c"],
                bounds.MEGABYTES["c"],
                bounds.UNSTABLE_FACTOR,
            ),
            at_least("loss ratio of the third", loss, bounds.UNSTABLE_LOSS),
        ),
        f"{sent['a']:.1f} / {sent['b']:.1f} / {sent['c']:.1f} MB; the third loses {loss:.3f} of its packets",
        {"megabytes": sent, "loss_ratio": loss},
    )


def peering(data: Data) -> Finding:
    """LOP-4b."""
    runs = data["peering"]
    span = (networks.BEGIN_S + networks.PEERED_S, networks.BEGIN_S + BOTTLENECK_S)
    rate = {
        case: mean(row.rate_mbps(span) for row in rows(runs, case=case)) for case in ("clouds", "all XCP")
    }
    through = rows(runs, case="clouds")
    lost, timeouts = max(row.dropped() for row in through), max(sum(row.each("timeouts")) for row in through)
    return Finding(
        (
            between(
                "rate over that without clouds",
                rate["clouds"] / rate["all XCP"],
                1.0 - bounds.SAME_RATE,
                1.0 + bounds.SAME_RATE,
            ),
            at_most("packets dropped", lost, 0.0),
            at_most("timeouts", timeouts, 0.0),
        ),
        f"{rate['clouds']:.2f} Mbit/s through the clouds, {rate['all XCP']:.2f} without; {lost:.0f} dropped, "
        f"{timeouts:.0f} timeouts",
        {"mbps": rate, "dropped": lost, "timeouts": timeouts},
    )


def merge(data: Data) -> Finding:
    """LOP-4c."""
    rate = _settled(data["merge"], ("i", "j"))
    lost = max(row.dropped() for row in rows(data["merge"]))
    return Finding(
        (
            between("i, Mbit/s", rate["i"], *bounds.MERGE_I_MBPS),
            between("j, Mbit/s", rate["j"], *bounds.MERGE_J_MBPS),
        ),
        f"i {rate['i']:.1f}, j {rate['j']:.1f} Mbit/s; {lost:.0f} dropped",
        {"mbps": rate, "dropped": lost},
    )


def merge_above(data: Data) -> Finding:
    """LOP-4d."""
    rate = _settled(data["merge-above"], ("i", "j0", "j1", "k"))
    return Finding(
        (
            between("j0, Mbit/s", rate["j0"], *bounds.BEHIND_100_MBPS),
            between("j1, Mbit/s", rate["j1"], *bounds.BEHIND_100_MBPS),
            between("k over i", rate["k"] / rate["i"], *bounds.K_OVER_I),
        ),
        ", ".join(f"{name} {value:.1f}" for name, value in rate.items()) + " Mbit/s",
        {"mbps": rate},
    )


def fork(data: Data) -> Finding:
    """LOP-4e."""
    rate = _settled(data["fork"], ("i", "j"))
    return Finding(
        tuple(between(f"{name}, Mbit/s", value, *bounds.FORK_MBPS) for name, value in rate.items()),
        f"i {rate['i']:.1f}, j {rate['j']:.1f} Mbit/s",
        {"mbps": rate},
    )


def errors(data: Data) -> Finding:
    """LOP-4f."""
    runs = data["errors"]
    published = bounds.ERRORS_MEGABYTES
    sent = {
        (protocol, name): mean(row.each("megabytes", name)[0] for row in rows(runs, protocol=protocol))
        for protocol, name in published
    }
    begin, end = networks.BEGIN_S, networks.MERGE_S
    first = begin + networks.EARLY_S[0], begin + networks.EARLY_S[1]
    spans = np.arange(first[0], end - 1.0, 1.0)
    least = min(row.rate_mbps((at, at + 1.0), "j") for row in rows(runs, protocol="xcp") for at in spans)
    early, late = (
        mean(abs(row.rate_mbps(span, "j") - 100.0) for row in rows(runs, protocol="xcp"))
        for span in (first, (end - networks.LATE_S, end))
    )
    return Finding(
        (
            *(
                within_factor(
                    f"{TITLES[protocol]}, sender {name}, MB",
                    sent[protocol, name],
                    printed,
                    bounds.ERRORS_FACTOR,
                )
                for (protocol, name), printed in published.items()
            ),
            at_least("least rate of j over a second, Mbit/s", least, bounds.LEAST_J_MBPS),
            below("how far j is from 100 Mbit/s in the last seconds, against the first", late, early),
        ),
        f"TCP {sent['newreno', 'i']:.0f} and {sent['newreno', 'j']:.0f} MB, XCP-i {sent['xcp', 'i']:.1f} and "
        f"{sent['xcp', 'j']:.1f} MB; j at least {least:.0f} Mbit/s, {early:.1f} off at first and "
        f"{late:.1f} in the end",
        {
            "megabytes": {f"{protocol}, {name}": value for (protocol, name), value in sent.items()},
            "least_mbps": least,
            "off_mbps": [early, late],
        },
    )


def no_ack_loss(data: Data) -> Finding:
    """LOP-5a."""
    lost, means = _table(data, "xcp", 0.0)
    return Finding(
        (*_losses(lost, TABLE_5_1["xcp", 0.0]), *_spread(means, *bounds.RATES_MBPS["xcp", 0.0])),
        _table_text(lost, means),
        {"lost": lost, "mbps": means},
    )


def ack_loss(data: Data) -> Finding:
    """LOP-5b."""
    lost, means = _table(data, "xcp", 0.1)
    _, without = _table(data, "xcp", 0.0)
    found = rows(data["acks"], protocol="xcp", ack_loss=0.1)
    after = (SECOND_FALL_S, SECOND_FALL_S + TAKEN_OVER_S)
    most = mean(max(_peak(row, index, after) for index in row.among("xcp")) for row in found)
    idle = mean(max(row.idle_s(after, index) for index in row.among("xcp")) for row in found)
    settled = mean(_stable_after(row, SECOND_FALL_S) for row in found)
    fall = f"{SECOND_FALL_S:g} s"
    spread = (means[1] - means[0]) / (without[1] - without[0])
    return Finding(
        (
            *_losses(lost, TABLE_5_1["xcp", 0.1]),
            at_least(
                f"greatest rate of a flow after {fall}, over a second, Mbit/s", most, bounds.TAKES_OVER_MBPS
            ),
            at_least(f"longest silence of a flow after {fall}, s", idle, bounds.SILENT_S),
            between(f"time until shares are even again after {fall}, s", settled, *bounds.EVEN_AGAIN_S),
            above("spread of the mean rates over that without loss", spread, 1.0),
        ),
        f"{_table_text(lost, means)}; after {fall} one flow up to {most:.0f} Mbit/s, another idle for "
        f"{idle:.1f} s, even again after {settled:.1f} s",
        {"lost": lost, "mbps": means, "most_mbps": most, "idle_s": idle, "even_after_s": settled},
    )


def mirrored(data: Data) -> Finding:
    """LOP-5c."""
    lost, means = _table(data, "xcp-r", 0.1)
    unmirrored, _ = _table(data, "xcp", 0.1)
    found = rows(data["acks"], protocol="xcp-r", ack_loss=0.1)
    span = (SILENCE_FROM_S, float(ACKS_S))
    idle = mean(max(row.idle_s(span, index) for index in row.among("xcp-r")) for row in found)
    return Finding(
        (
            *_losses(lost, TABLE_5_1["xcp-r", 0.1]),
            *(
                below(f"lost at {at:g} s, XCP's", lost[number], unmirrored[number])
                for number, at in enumerate(ACKS_FALLS_S)
            ),
            below("longest silence of a flow, s", idle, bounds.NOT_SILENT_S),
            *_spread(means, *bounds.RATES_MBPS["xcp-r", 0.1]),
        ),
        f"{_table_text(lost, means)}; longest silence {idle:.1f} s",
        {"lost": lost, "mbps": means, "idle_s": idle},
    )


def three(data: Data) -> Finding:
    """LOP-5d."""
    runs = data["three"]
    counts = {
        (name, loss): mean(sum(row.each("timeouts")) for row in rows(runs, protocol=name, ack_loss=loss))
        for name, loss in THREE_CASES
    }
    idle = {
        name: mean(
            max(row.idle_s((SILENCE_FROM_S, float(THREE_S)), index) for index in row.among())
            for row in rows(runs, protocol=name, ack_loss=0.3)
        )
        for name in ("xcp", "xcp-r")
    }
    return Finding(
        (
            at_least("XCP's timeouts, mean over repeats", counts["xcp", 0.3], bounds.TIMEOUTS),
            at_most("XCP-r's timeouts", counts["xcp-r", 0.3], 0.0),
        ),
        f"timeouts: XCP {counts['xcp', 0.3]:.1f} (without loss of ACKs {counts['xcp', 0.0]:.1f}), XCP-r "
        f"{counts['xcp-r', 0.3]:.1f}; longest silence {idle['xcp']:.1f} and {idle['xcp-r']:.1f} s",
        {"timeouts": {f"{name}, {loss:g}": value for (name, loss), value in counts.items()}, "idle_s": idle},
    )


def one(data: Data) -> Finding:
    """LOP-5e."""
    filled = {loss: _filled(rows(data["one"], ack_loss=loss)) for loss in (0.0, 0.3)}
    lossy, clean = filled[0.3], filled[0.0]
    return Finding(
        (
            between("filled after one RTT", lossy[0], *_near(bounds.FILLED[0])),
            between("filled after two RTTs", lossy[1], *_near(bounds.FILLED[1])),
            between(
                "filled after one RTT, over that without loss", lossy[0] / clean[0], *_near(bounds.FILLED[0])
            ),
            at_least("filled after ten RTTs", lossy[9], bounds.FULL),
        ),
        "filled after 1, 2, 3, 5, 10 RTTs: "
        + ", ".join(f"{lossy[number - 1]:.2f}" for number in (1, 2, 3, 5, 10))
        + "; without loss "
        + ", ".join(f"{clean[number - 1]:.2f}" for number in (1, 2, 3, 5, 10)),
        {"filled": lossy, "filled_without_loss": clean},
    )


def formula(data: Data) -> Finding:
    """LOP-5f."""
    runs = data["formula"]
    span = (FORMULA_FROM_S, float(FORMULA_S))
    rate = {
        name: [
            mean(row.rate_mbps(span, f"{name}-{rtt}") for row in rows(runs, protocol=name))
            for rtt in FORMULA_RTTS_MS
        ]
        for name in ("xcp", "xcp-r", "xcp-r-first")
    }
    apart = {
        name: max(abs(mbps / xcp - 1.0) for mbps, xcp in zip(rate[name], rate["xcp"], strict=True))
        for name in ("xcp-r", "xcp-r-first")
    }
    lost = _dropped(runs.where(protocol="xcp-r-first"))
    wrong = max(apart["xcp-r-first"], 1.0 if lost else 0.0)
    return Finding(
        (
            at_most("the mirror's greatest distance from XCP's rates", apart["xcp-r"], bounds.MIRROR_WITHIN),
            at_least("the first formula's distance (1 if packets are dropped)", wrong, bounds.FIRST_OFF),
        ),
        "; ".join(
            f"{TITLES[name]} " + " / ".join(f"{mbps:.1f}" for mbps in values) + " Mbit/s"
            for name, values in rate.items()
        )
        + f"; the first formula's drops: {lost:.0f}",
        {"mbps": rate, "first_dropped": lost},
    )


def _near(published: float) -> tuple[float, float]:
    """Returns the bounds around a number of the thesis."""
    return published - bounds.NEAR, published + bounds.NEAR


def _stages() -> list[tuple[float, float, list[int]]]:
    """Returns the spans between the starts and stops of the four flows, and which flows run in each."""
    starts = [float(STAGED_EVERY_S * number) for number in range(4)]
    edges = sorted({*starts, *(start + STAGED_FOR_S for start in starts)})
    return [
        (begin, end, [number for number, start in enumerate(starts) if start <= begin < start + STAGED_FOR_S])
        for begin, end in pairwise(edges)
    ]


def _fair_after(row: Row, joined_s: float) -> float:
    """Returns the time until both flows share fairly over `SHORT_SPAN_S`."""
    end = row.edges_s()[-1]
    for at in np.arange(joined_s, end - SHORT_SPAN_S, 1.0):
        if metrics.jain(row.rates_mbps((at, at + SHORT_SPAN_S))) >= bounds.FAIR:
            return float(at - joined_s)
    return float("inf")


def _wasted(runs: Runs, protocol: str, variation: Variation, span: tuple[float, float]) -> float:
    """Returns the inefficiency (3.5): 1 less the arrived over the available bits, mean over repeats."""
    there = available_mbps(variation, span)
    return mean(metrics.inefficiency(there, row.rate_mbps(span)) for row in rows(runs, protocol=protocol))


def _dropped(runs: Runs) -> float:
    return max(Row(row).dropped() for row in runs)


def _settled(runs: Runs, names: Sequence[str]) -> dict[str, float]:
    """Returns mean rates in the second half."""
    span = (0.5 * (networks.BEGIN_S + networks.MERGE_S), networks.MERGE_S)
    return {name: mean(row.rate_mbps(span, name) for row in rows(runs)) for name in names}


def _table(data: Data, protocol: str, loss: float) -> tuple[list[float], list[float]]:
    """Returns the packets lost at both falls, and the least and greatest mean rate of a flow."""
    found = rows(data["acks"], protocol=protocol, ack_loss=loss)
    lost = [mean(row.lost((at, at + AFTER_FALL_S)) for row in found) for at in ACKS_FALLS_S]
    means = [mean(pick(row.each("means_mbps")) for row in found) for pick in (min, max)]
    return lost, means


def _losses(lost: Sequence[float], printed: Sequence[float]) -> Iterable[Check]:
    for at, value, number in zip(ACKS_FALLS_S, lost, printed, strict=True):
        yield within_factor(f"packets lost at {at:g} s", value, number, bounds.LOST_FACTOR)


def _spread(means: Sequence[float], least: float, most: float) -> Iterable[Check]:
    ends = ((1.0 - bounds.WIDER) * least, (1.0 + bounds.WIDER) * most)
    yield between("least mean rate of a flow, Mbit/s", means[0], *ends)
    yield between("greatest mean rate of a flow, Mbit/s", means[1], *ends)


def _table_text(lost: Sequence[float], means: Sequence[float]) -> str:
    return f"lost {lost[0]:.0f} and {lost[1]:.0f}; mean rates {means[0]:.1f} to {means[1]:.1f} Mbit/s"


def _peak(row: Row, index: int, span: tuple[float, float]) -> float:
    """Returns a flow's greatest rate over a second."""
    return max(row.rates_mbps((at, at + 1.0))[index] for at in np.arange(span[0], span[1] - 1.0, 0.5))


def _stable_after(row: Row, fall_s: float) -> float:
    """Returns the time after a fall until Jain's index over a second stays fair (for 30 s)."""
    moments = np.arange(fall_s, fall_s + 30.0, 1.0)
    uneven = [at for at in moments if not metrics.jain(row.rates_mbps((at, at + 1.0))) >= bounds.FAIR]
    return float(uneven[-1] + 1.0 - fall_s) if uneven else 0.0


def _filled(found: Sequence[Row]) -> list[float]:
    """Returns the share of the capacity that arrives in each RTT, beginning one RTT after the first data."""
    rtt_s = 1e-3 * ONE_RTT_MS
    shares = []
    for row in found:
        first = float(row.edges_s()[np.flatnonzero(row.summed_mbps() > 0.0)[0]])
        shares.append(
            [
                row.rate_mbps((first + number * rtt_s, first + (number + 1) * rtt_s)) / ONE_MBPS
                for number in range(1, 16)
            ]
        )
    return [float(value) for value in np.mean(shares, axis=0)]
