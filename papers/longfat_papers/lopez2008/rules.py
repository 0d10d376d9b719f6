"""The rules of the claims of chapters 2 to 4. `claims` has their texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from longfat.numbers import finite
from longfat.runs import metrics
from longfat_papers.kit.checks import at_least, at_most, below, between, within_factor
from longfat_papers.kit.claims import Finding
from longfat_papers.kit.suite import Data, Find, Runs
from longfat_papers.kit.text import listed, seconds
from longfat_papers.lopez2008 import bounds, networks
from longfat_papers.lopez2008.reduction import Row, figure, mean, rows
from longfat_papers.lopez2008.settings import (
    BOTTLENECK_S,
    HARD_S,
    HARDER_S,
    INEFFICIENT_S,
    NEVER_FROM_S,
    OVERSHOOTS_S,
    SETTLE_S,
    SHORT_SPAN_S,
    SINE_S,
    STAGED_EVERY_S,
    STAGED_FOR_S,
    STAGED_MBPS,
    TITLES,
    VCP_JOIN_S,
    VCP_S,
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
        # never within the run counts as its end
        figure=figure("time to fairness, s", (min(each, VCP_S - VCP_JOIN_S) for each in times), 100.0),
    )


def staged(protocol: str) -> Find:
    """LOP-2d and LOP-2e."""

    def find(data: Data) -> Finding:
        fair, full, lost, least = [], [], 0.0, []
        for row in rows(data[protocol]):
            lost = max(lost, row.dropped())
            for begin, end, active in _stages():
                rates = row.rates_mbps((begin + SETTLE_S, end))
                fair.append(metrics.jain([rates[index] for index in active]))
                full.append(sum(rates) / STAGED_MBPS)
            least.append(min(fair[-len(_stages()) :]))
        return Finding(
            (
                at_least("least Jain's index of a stage", min(fair), bounds.FAIR),
                at_least("least share of the link used in a stage", min(full), bounds.USED),
                at_most("packets dropped", lost, 0.0),
            ),
            f"Jain's index {min(fair):.3f} and more, {min(full):.3f} and more of the link, {lost:.0f} "
            f"dropped",
            {"jain": min(fair), "used": min(full), "dropped": lost},
            figure=figure("least Jain's index of a stage", least),
        )

    return find


def sine_near(data: Data) -> Finding:
    """LOP-3a."""
    found = {
        name: _wasted(data["sine-100"], name, "sine", INEFFICIENT_S) for name in ("newreno", "hstcp", "xcp")
    }
    lost = dropped(data["sine-100"].where(protocol="xcp"))
    return Finding(
        (
            between("NewReno's inefficiency", found["newreno"], *around(bounds.NEWRENO_NEAR)),
            below("HSTCP's inefficiency", found["hstcp"], bounds.EFFICIENT),
            below("XCP's inefficiency", found["xcp"], bounds.EFFICIENT),
            at_most("packets of XCP dropped", lost, 0.0),
        ),
        f"inefficiency: {listed(found, TITLES, 3)}; XCP's drops: {lost:.0f}",
        {"inefficiency": found, "xcp_dropped": lost},
        figure=figure(
            "NewReno's inefficiency",
            _wastes(data["sine-100"], "newreno", "sine", INEFFICIENT_S),
            bounds.NEWRENO_NEAR,
        ),
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
    lost = dropped(runs.where(protocol="xcp"))
    return Finding(
        (
            below(
                f"NewReno's greatest rate from {NEVER_FROM_S:g} s on, over {SHORT_SPAN_S:g} s, Mbit/s",
                most,
                bounds.NEVER_MBPS,
            ),
            between("HSTCP's inefficiency", found["hstcp"], *around(bounds.HSTCP_FAR)),
            below("XCP's inefficiency", found["xcp"], bounds.EFFICIENT),
            at_most("packets of XCP dropped", lost, 0.0),
        ),
        f"NewReno up to {most:.0f} Mbit/s; inefficiency: {listed(found, TITLES, 3)}; XCP's drops: {lost:.0f}",
        {"newreno_most_mbps": most, "inefficiency": found, "xcp_dropped": lost},
        figure=figure(
            "HSTCP's inefficiency", _wastes(runs, "hstcp", "sine", INEFFICIENT_S), bounds.HSTCP_FAR
        ),
    )


def steps_near(data: Data) -> Finding:
    """LOP-3c."""
    runs = data["steps-100"]
    found = {name: _wasted(runs, name, "steps", HARD_S) for name in ("hstcp", "xcp")}
    lost = dropped(runs.where(protocol="xcp"))
    return Finding(
        (
            below("HSTCP's inefficiency", found["hstcp"], bounds.EFFICIENT),
            at_most("packets of XCP dropped", lost, 0.0),
        ),
        f"inefficiency from {HARD_S[0]:g} to {HARD_S[1]:g} s: {listed(found, TITLES, 3)}; XCP's drops: "
        f"{lost:.0f}",
        {"inefficiency": found, "xcp_dropped": lost},
        figure=figure("HSTCP's inefficiency", _wastes(runs, "hstcp", "steps", HARD_S)),
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
            between("HSTCP's inefficiency", found["hstcp"], *around(bounds.HSTCP_STEPS_FAR)),
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
        figure=figure(
            "HSTCP's inefficiency", _wastes(far, "hstcp", "steps", HARDER_S), bounds.HSTCP_STEPS_FAR
        ),
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
        figure=figure(
            "XCP with a drop-tail bottleneck, MB",
            (sum(row.each("megabytes")) for row in rows(runs, case="c")),
            bounds.MEGABYTES["c"],
            log=True,
        ),
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
        figure=figure(
            "rate over that without clouds", (row.rate_mbps(span) / rate["all XCP"] for row in through), 1.0
        ),
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
        figure=figure("i, Mbit/s", _settled_each(data["merge"], "i"), 280.0),
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
        figure=figure(
            "k over i",
            (
                k / i
                for k, i in zip(
                    _settled_each(data["merge-above"], "k"),
                    _settled_each(data["merge-above"], "i"),
                    strict=True,
                )
            ),
        ),
    )


def fork(data: Data) -> Finding:
    """LOP-4e."""
    rate = _settled(data["fork"], ("i", "j"))
    return Finding(
        tuple(between(f"{name}, Mbit/s", value, *bounds.FORK_MBPS) for name, value in rate.items()),
        f"i {rate['i']:.1f}, j {rate['j']:.1f} Mbit/s",
        {"mbps": rate},
        figure=figure("i, Mbit/s", _settled_each(data["fork"], "i"), 250.0),
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
        figure=figure(
            "TCP's sender i, MB",
            (row.each("megabytes", "i")[0] for row in rows(runs, protocol="newreno")),
            published["newreno", "i"],
            log=True,
        ),
    )


def around(published: float) -> tuple[float, float]:
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
    return mean(_wastes(runs, protocol, variation, span))


def _wastes(runs: Runs, protocol: str, variation: Variation, span: tuple[float, float]) -> list[float]:
    """Returns the same of each repeat."""
    there = available_mbps(variation, span)
    return [metrics.inefficiency(there, row.rate_mbps(span)) for row in rows(runs, protocol=protocol)]


def dropped(runs: Runs) -> float:
    """Returns the packets that all links dropped in the worst repeat."""
    return max(Row(row).dropped() for row in runs)


def _settled(runs: Runs, names: Sequence[str]) -> dict[str, float]:
    """Returns mean rates in the second half."""
    return {name: mean(_settled_each(runs, name)) for name in names}


def _settled_each(runs: Runs, name: str) -> list[float]:
    """Returns a flow's mean rate in the second half of each repeat."""
    span = (0.5 * (networks.BEGIN_S + networks.MERGE_S), networks.MERGE_S)
    return [row.rate_mbps(span, name) for row in rows(runs)]
