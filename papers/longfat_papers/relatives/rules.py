"""The rules of the claims. `claims` has their texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from longfat.runs import metrics
from longfat_papers.kit.checks import above, at_least, at_most, below, within_factor
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.suite import Data
from longfat_papers.relatives import bounds, networks
from longfat_papers.relatives.reduction import Row, figure_of, mean, rows, sharing_s
from longfat_papers.relatives.settings import (
    ACKS_LOSS,
    CLOUD_FROM_S,
    CLOUD_MBPS,
    HARMED_FROM_S,
    HARMED_MBPS,
    HARMED_S,
    JOINING,
    LOT_CROSS,
    MIX_FROM_S,
    MIX_MBPS,
    MIX_TCP,
    PLAIN,
    POINT_MBPS,
    POINT_SPAN_S,
    SETTLED_S,
    SHARE_MBPS,
    SHARE_RTT_MS,
    SHORT_BINS,
    SLOW_FROM_S,
    SLOW_MBPS,
    SPAN_RTTS,
    TARGETS,
    TITLES,
    WRAPPING,
)

Rule = Callable[[Data], Finding]


def _off(rates: Iterable[float], share: float) -> float:
    """Returns the greatest distance of a rate from its share, as a part of it."""
    return max(abs(rate / share - 1.0) for rate in rates)


def soon_fair(system: str) -> Rule:
    """RCP-1 and ERI-2: each flow has its share soon after the last began."""

    def find(data: Data) -> Finding:
        runs = data["shares"].where(system=system)
        rtt_s = 1e-3 * SHARE_RTT_MS
        checks, texts, kept, worst = [], [], {}, []
        for case in runs.distinct("case"):
            for number in runs.where(case=case).distinct("flows"):
                share = TARGETS[system] * SHARE_MBPS / number
                found = []
                for row in rows(runs, case=case, flows=number):
                    begin = row.last_start_s() + bounds.SOON_RTTS * rtt_s
                    found.append(_off(row.rates_mbps((begin, begin + SPAN_RTTS * rtt_s)), share))
                off = mean(found)
                worst.append(found)
                text = f"{number} flows, {case}"
                checks.append(
                    at_most(f"{text}, from {bounds.SOON_RTTS:g} RTTs on: distance", off, bounds.SHARE_WITHIN)
                )
                texts.append(f"{text} {off:.3f}")
                kept[text] = off
        return Finding(
            tuple(checks),
            "greatest distance from the share: " + ", ".join(texts),
            kept,
            figure=figure_of("greatest distance from the share", max(worst, key=mean)),
        )

    return find


def _times(data: Data, system: str) -> dict[int, tuple[float, float]]:
    """Returns the mean completion time in each bin of sizes, and that of processor sharing."""
    runs = data["short"].where(system=system)
    mbps = runs.distinct("mbps")[0]
    return {
        i: (runs.mean(f"short_{i}_s"), sharing_s(runs.mean(f"short_{i}_packets"), mbps))
        for i in range(1, len(SHORT_BINS) + 1)
    }


def _sizes(number: int) -> str:
    least, most = SHORT_BINS[number - 1]
    return f"{least} to {most} packets"


def short_flows(data: Data) -> Finding:
    """RCP-2."""
    found = {system: _times(data, system) for system in ("rcp", "xcp", "reno")}
    checks = tuple(
        below(f"{_sizes(i)}: RCP's time over {TITLES[other]}'s", found["rcp"][i][0] / found[other][i][0], 1.0)
        for i in found["rcp"]
        for other in ("xcp", "reno")
    )
    text = "; ".join(
        f"{_sizes(i)}: " + ", ".join(f"{TITLES[name]} {times[i][0]:.3g} s" for name, times in found.items())
        for i in found["rcp"]
    )
    last = len(SHORT_BINS)
    return Finding(
        checks,
        text,
        {name: {_sizes(i): list(pair) for i, pair in times.items()} for name, times in found.items()},
        figure=Measured(
            f"XCP's over RCP's completion time, {_sizes(last)}",
            found["xcp"][last][0] / found["rcp"][last][0],
            log=True,
        ),
    )


def much_longer(data: Data) -> Finding:
    """RCP-3."""
    last = len(SHORT_BINS)
    ratios = {
        system: time / sharing for system in ("xcp", "reno") for time, sharing in [_times(data, system)[last]]
    }
    text = f"{_sizes(last)}: time over processor sharing's"
    return Finding(
        (
            at_least(f"TCP, {text}", ratios["reno"], bounds.LONGER),
            above(f"XCP over TCP, {text}", ratios["xcp"] / ratios["reno"], 1.0),
        ),
        f"{_sizes(last)}: TCP {ratios['reno']:.2f}, XCP {ratios['xcp']:.2f} times as long as processor "
        "sharing",
        ratios,
        figure=Measured(f"TCP, {text}", ratios["reno"], published=10.0, log=True),
    )


def near_sharing(data: Data) -> Finding:
    """RCP-4."""
    ratios = {i: time / sharing for i, (time, sharing) in _times(data, "rcp").items()}
    return Finding(
        tuple(
            within_factor(f"{_sizes(i)}: time over processor sharing's", ratio, 1.0, bounds.NEAR_FACTOR)
            for i, ratio in ratios.items()
        ),
        ", ".join(f"{_sizes(i)} {ratio:.2f}" for i, ratio in ratios.items()),
        {_sizes(i): ratio for i, ratio in ratios.items()},
        figure=Measured(
            "greatest time over processor sharing's", max(ratios.values()), published=1.0, log=True
        ),
    )


def max_min(system: str, unused: float = 0.0) -> Rule:
    """MAX-1, ERI-4 and CAD-2: every flow of the parking lot has its max-min fair rate."""
    shares = networks.lot_shares(TARGETS[system], unused)

    def find(data: Data) -> Finding:
        checks, texts, kept, found = [], [], {}, []
        for prefix in (networks.LONG, *(f"{link + 1}-" for link in range(len(LOT_CROSS)))):
            share = next(rate for name, rate in shares.items() if name.startswith(prefix))
            rates = [_late_rates(row, prefix) for row in rows(data["lot"], system=system)]
            off = [_off(row, share) for row in rates]
            name = "all links" if prefix == networks.LONG else f"link {prefix[0]} alone"
            checks.append(
                at_most(f"{name}: distance from {share:.1f} Mbit/s", mean(off), bounds.SHARE_WITHIN)
            )
            average = mean([mean(row) for row in rates])
            texts.append(f"{name} {average:.1f} of {share:.1f}")
            kept[name] = [average, share]
            found.append(off)
        return Finding(
            tuple(checks),
            ", ".join(texts) + " Mbit/s",
            kept,
            figure=figure_of("greatest distance from a max-min fair rate", max(found, key=mean)),
        )

    return find


def _late_rates(row: Row, prefix: str) -> list[float]:
    """Returns the rates over the second half of a run."""
    return row.rates_mbps((0.5 * row.end_s(), row.end_s()), prefix)


def not_max_min(data: Data) -> Finding:
    """MAX-2."""
    shares = {
        system: mean(
            _late_rates(row, networks.LONG)[0] / networks.lot_shares(TARGETS[system])[networks.LONG]
            for row in rows(data["lot"], system=system)
        )
        for system in ("maxnet", "reno")
    }
    text = "the flow over all links, rate over its max-min fair one"
    return Finding(
        (
            at_least(f"MaxNet: {text}", shares["maxnet"], bounds.KEPT_SHARE),
            below(f"TCP: {text}", shares["reno"], bounds.KEPT_SHARE),
        ),
        f"the flow over all links gets {shares['maxnet']:.2f} (MaxNet) and {shares['reno']:.2f} (TCP) of its "
        "max-min fair rate",
        shares,
        figure=Measured(f"TCP: {text}", shares["reno"]),
    )


def _settled(data: Data, system: str) -> dict[int, tuple[list[float], list[float]]]:
    """Returns the share of the capacity and of the buffer that is used in the last seconds, by flows."""
    runs = data["shares"].where(system=system, case=JOINING)
    found = {}
    for number in runs.distinct("flows"):
        at = rows(runs, flows=number)
        spans = [(row.end_s() - SETTLED_S, row.end_s()) for row in at]
        used = [row.rate_mbps(span) / SHARE_MBPS for row, span in zip(at, spans, strict=True)]
        queued = [row.queue_share(span) for row, span in zip(at, spans, strict=True)]
        found[number] = (used, queued)
    return found


def full_and_short(data: Data) -> Finding:
    """MAX-3."""
    found = {n: (mean(used), mean(queued)) for n, (used, queued) in _settled(data, "maxnet").items()}
    checks: list[Check] = []
    for number, (used, queued) in found.items():
        checks.append(at_least(f"{number} flows: rate over the capacity", used, bounds.FULL))
        checks.append(at_most(f"{number} flows: mean queue over the buffer", queued, bounds.QUEUE_SHARE))
    return Finding(
        tuple(checks),
        ", ".join(f"{n} flows: rate {used:.3f}, queue {queued:.3f}" for n, (used, queued) in found.items()),
        {str(n): list(pair) for n, pair in found.items()},
        figure=Measured("greatest mean queue over the buffer", max(queued for _, queued in found.values())),
    )


def on_target(data: Data) -> Finding:
    """ERI-1."""
    found = {n: used for n, (used, _) in _settled(data, "erica").items()}
    target = TARGETS["erica"]
    worst = max(found.values(), key=lambda used: abs(mean(used) - target))
    return Finding(
        tuple(
            at_most(
                f"{n} flows: distance of the utilization from {target:g}",
                abs(mean(used) - target),
                bounds.TARGET_WITHIN,
            )
            for n, used in found.items()
        ),
        ", ".join(f"{n} flows {mean(used):.3f}" for n, used in found.items()),
        {str(n): mean(used) for n, used in found.items()},
        figure=figure_of("utilization farthest from the target", worst, target),
    )


def short_queue(data: Data) -> Finding:
    """ERI-3."""
    found = {n: queued for n, (_, queued) in _settled(data, "erica").items()}
    worst = max(found.values(), key=mean)
    return Finding(
        tuple(
            at_most(f"{n} flows: mean queue over the buffer", mean(queued), bounds.QUEUE_SHARE)
            for n, queued in found.items()
        ),
        ", ".join(f"{n} flows {mean(queued):.4f}" for n, queued in found.items()),
        {str(n): mean(queued) for n, queued in found.items()},
        figure=figure_of("greatest mean queue over the buffer", worst),
    )


def fixed_point(data: Data) -> Finding:
    """CAD-1."""
    runs = data["point"]
    checks, texts, kept, ratios = [], [], {}, []
    for number in runs.distinct("flows"):
        share = POINT_MBPS / (number + 1.0)
        rates = [
            row.rates_mbps((row.end_s() - POINT_SPAN_S, row.end_s())) for row in rows(runs, flows=number)
        ]
        ratio = [math.fsum(row) / (number * share) for row in rates]
        off = mean(_off(row, share) for row in rates)
        total = mean(ratio)
        checks += [
            at_most(f"{number} flows: distance of the total", abs(total - 1.0), bounds.TOTAL_WITHIN),
            at_most(f"{number} flows: greatest distance of a flow", off, bounds.SHARE_WITHIN),
        ]
        texts.append(
            f"{number} flows {total * number * share / POINT_MBPS:.3f} of {number / (number + 1):.3f}"
        )
        kept[str(number)] = [total * number * share / POINT_MBPS, number / (number + 1.0), off]
        ratios.append(ratio)
    worst = max(ratios, key=lambda ratio: abs(mean(ratio) - 1.0))
    return Finding(
        tuple(checks),
        "share of the capacity: " + ", ".join(texts),
        kept,
        figure=figure_of("total over n / (n + 1), farthest from 1", worst, 1.0),
    )


def no_help(data: Data) -> Finding:
    """CAD-3."""
    fair = 0.5 * HARMED_MBPS
    span = (HARMED_FROM_S, float(HARMED_S))
    found = {
        case: [row.rate_mbps(span, "tcp") for row in rows(data["harmed"], case=case)]
        for case in (PLAIN, WRAPPING)
    }
    plain, wrapped = mean(found[PLAIN]), mean(found[WRAPPING])
    return Finding(
        (
            at_most("plain: TCP over its fair share", plain / fair, bounds.HARMED_SHARE),
            at_most(
                "TCP over its fair share, with the mechanism",
                wrapped / fair,
                bounds.HELPED_FACTOR * plain / fair,
            ),
        ),
        f"TCP gets {plain:.1f} Mbit/s beside CADPC, and {wrapped:.1f} with the mechanism; fair are "
        f"{fair:.1f}",
        {"plain": plain, "friendly": wrapped, "fair": fair},
        figure=figure_of("TCP over its fair share, plain", [rate / fair for rate in found[PLAIN]]),
    )


def knee(data: Data) -> Finding:
    """TRI-1."""
    checks: list[Check] = []
    texts, kept, ratios = [], {}, []
    for number in data["slow"].where(system="tri_s").distinct("flows"):
        queues = {}
        for system in ("tri_s", "newreno"):
            at = rows(data["slow"], system=system, flows=number)
            queues[system] = mean(row.queue((SLOW_FROM_S, row.end_s())) for row in at)
        used = mean(
            row.rate_mbps((SLOW_FROM_S, row.end_s())) / SLOW_MBPS
            for row in rows(data["slow"], system="tri_s", flows=number)
        )
        ratio = queues["tri_s"] / queues["newreno"] if queues["newreno"] > 0.0 else math.nan
        checks += [
            at_least(f"{number} flows: rate over the capacity", used, bounds.FULL),
            at_most(f"{number} flows: mean queue over NewReno's", ratio, bounds.QUEUE_FACTOR),
        ]
        texts.append(f"{number} flows: rate {used:.3f}, queue {ratio:.2f} of NewReno's")
        kept[str(number)] = [used, ratio]
        ratios.append(ratio)
    return Finding(
        tuple(checks),
        "; ".join(texts),
        kept,
        figure=Measured("greatest mean queue over NewReno's", max(ratios), log=True),
    )


def fair_search(data: Data) -> Finding:
    """TRI-2."""
    runs = data["slow"].where(system="tri_s")
    found = {
        n: [metrics.jain(row.rates_mbps((SLOW_FROM_S, row.end_s()))) for row in rows(runs, flows=n)]
        for n in runs.distinct("flows")
        if n > 1
    }
    return Finding(
        tuple(at_least(f"{n} flows: Jain's index", mean(jain), bounds.FAIR) for n, jain in found.items()),
        ", ".join(f"{n} flows {mean(jain):.3f}" for n, jain in found.items()),
        {str(n): mean(jain) for n, jain in found.items()},
        figure=figure_of("least of Jain's indices", min(found.values(), key=mean)),
    )


def beside_vegas(data: Data) -> Finding:
    """TRI-3."""
    found = {
        prefix: [
            row.rate_mbps((SLOW_FROM_S, row.end_s()), prefix) for row in rows(data["slow"], system="mixed")
        ]
        for prefix in ("tri_s", "vegas")
    }
    tri_s, vegas = mean(found["tri_s"]), mean(found["vegas"])
    return Finding(
        (at_least("Tri-S's rate over Vegas's", tri_s / vegas if vegas > 0.0 else math.nan, 1.0),),
        f"two flows of Tri-S get {tri_s:.2f}, two of Vegas {vegas:.2f} Mbit/s",
        {"tri_s": tri_s, "vegas": vegas},
        figure=figure_of("Tri-S's share of the capacity", [rate / SLOW_MBPS for rate in found["tri_s"]]),
    )


def through_cloud(system: str) -> Rule:
    """GEN-1 to GEN-3: XCP-i's virtual router around another law."""

    def find(data: Data) -> Finding:
        found: dict[str, tuple[list[float], list[float]]] = {}
        for case in (PLAIN, WRAPPING):
            at = rows(data["clouds"], system=system, case=case)
            rates = [row.rate_mbps((CLOUD_FROM_S, row.end_s())) / CLOUD_MBPS for row in at]
            found[case] = (rates, [row.loss_ratio() for row in at])
        rate, lost = (mean(values) for values in found[WRAPPING])
        plain, plain_lost = (mean(values) for values in found[PLAIN])
        return Finding(
            (
                at_least("rate over the cloud's", rate, bounds.CLOUD_SHARE),
                at_most("packets lost, as a share,", lost, bounds.CLOUD_LOSS),
            ),
            f"{rate:.3f} of the cloud's rate, {lost:.3%} lost; without the virtual router {plain:.3f} and "
            f"{plain_lost:.3%}",
            {"wrapped": [rate, lost], "plain": [plain, plain_lost]},
            figure=figure_of("rate over the cloud's", found[WRAPPING][0]),
        )

    return find


def kept_beside(system: str) -> Rule:
    """GEN-4 to GEN-6: the friendliness mechanism around another law."""
    own, others = MIX_MBPS / (1.0 + MIX_TCP), MIX_MBPS * MIX_TCP / (1.0 + MIX_TCP)

    def find(data: Data) -> Finding:
        found: dict[str, tuple[list[float], list[float]]] = {}
        for case in (PLAIN, WRAPPING):
            at = rows(data["mixes"], system=system, case=case)
            spans = [(MIX_FROM_S, row.end_s()) for row in at]
            found[case] = (
                [row.rate_mbps(span, "explicit") / own for row, span in zip(at, spans, strict=True)],
                [row.rate_mbps(span, "tcp") / others for row, span in zip(at, spans, strict=True)],
            )
        mine, theirs = (mean(values) for values in found[WRAPPING])
        plain, plain_tcp = (mean(values) for values in found[PLAIN])
        return Finding(
            (
                at_least(f"{TITLES[system]} over its fair share", mine, bounds.MIX_SHARE),
                at_least("TCP over its fair share", theirs, bounds.MIX_SHARE),
                above(f"{TITLES[system]} over its fair share, more than without", mine - plain, 0.0),
            ),
            f"{TITLES[system]} gets {mine:.2f} of its fair share, TCP {theirs:.2f}; without the mechanism "
            f"{plain:.2f} and {plain_tcp:.2f}",
            {"wrapped": [mine, theirs], "plain": [plain, plain_tcp]},
            figure=figure_of(f"{TITLES[system]} over its fair share", found[WRAPPING][0]),
        )

    return find


def needs_r(data: Data) -> Finding:
    """GEN-7."""
    found = {}
    for loss in (0.0, ACKS_LOSS):
        at = rows(data["acks"], ack_loss=loss)
        rates = [row.rate_mbps((0.0, row.end_s())) for row in at]
        found[loss] = (mean(float(sum(row.row["lost"])) for row in at), mean(rates))
    (lost, rate), (lost_then, rate_then) = found[0.0], found[ACKS_LOSS]
    return Finding(
        (
            above("packets lost with losses of ACKs", lost_then, bounds.ACKS_LOST_FACTOR * lost),
            below("rate with losses of ACKs over that without", rate_then / rate, bounds.ACKS_KEPT_SHARE),
        ),
        f"{lost:.0f} packets lost and {rate:.1f} Mbit/s without, {lost_then:.0f} and {rate_then:.1f} with "
        "losses "
        "of ACKs",
        {"without": [lost, rate], "with": [lost_then, rate_then]},
        figure=Measured("rate with losses of ACKs over that without", rate_then / rate),
    )
