"""The rules of the tests of RFC 7928 that the thesis has no comparison for.

`guideline_claims` has their texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from longfat_papers.aqm.guideline_settings import (
    BACK,
    BULK,
    CASES,
    GROUPS,
    LEVELS,
    PAGE,
    POSITIONS,
    SEGMENT,
    SENDERS,
    SHORT,
    VOICE,
    flows_of,
    projected_drops,
)
from longfat_papers.aqm.reduction import category_ratio
from longfat_papers.aqm.settings import DROPS, TITLES
from longfat_papers.kit.checks import at_most, below
from longfat_papers.kit.claims import Check, Finding, Measured
from longfat_papers.kit.means import mean_factor
from longfat_papers.kit.suite import Data, Runs

DROP_TAIL = "droptail"
SENDER_KEYS = ("goodput_share", "wait_ms", "last_goodput_share", f"completion_s_{SHORT}")
"""What AQM-9 reports; the last only beside a short flow."""


def senders(data: Data) -> Finding:
    """AQM-9."""
    runs = data["senders"]
    checks, told, kept = [], [], {}
    for sender, flows in SENDERS.items():
        found = {}
        for name in TITLES:
            at = runs.where(sender=sender, queue=name)
            found[name] = _means(at, SENDER_KEYS)
            if name != DROP_TAIL:
                least = found[DROP_TAIL][1]
                checks.append(
                    below(f"{sender}, {TITLES[name]}: delay (bound: drop-tail's)", found[name][1], least)
                )
        pair = len(flows) > 1
        told.append(
            f"{sender}: "
            + ", ".join(
                f"{TITLES[name]} {goodput:.3f} at {ms:.1f} ms"
                + (f", second {share:.3f}" if pair else "")
                + (f" in {took:.3g} s" if math.isfinite(took) else "")
                for name, (goodput, ms, share, took) in found.items()
            )
        )
        kept[sender] = found
    figure = Measured(
        "greatest delay of a queue with standard TCP, ms", max(row[1] for row in kept["standard"].values())
    )
    return Finding(tuple(checks), "; ".join(told), kept, figure=figure)


def categories(data: Data) -> Finding:
    """AQM-10."""
    runs = data["categories"]
    rtts = runs.distinct("rtt_ms")
    ratios = {
        name: {rtt: runs.where(queue=name, rtt_ms=rtt).over_repeats(category_ratio)[0] for rtt in rtts}
        for name in TITLES
    }
    losses = {
        name: {
            rtt: _means(runs.where(queue=name, rtt_ms=rtt), ("first_loss_ratio", "last_loss_ratio"))
            for rtt in rtts
        }
        for name in TITLES
    }
    checks = tuple(
        at_most(
            f"{TITLES[name]}, {rtt} ms: factor between the goodputs (bound: drop-tail's)",
            mean_factor([value]),
            mean_factor([ratios[DROP_TAIL][rtt]]),
        )
        for name, row in ratios.items()
        if name != DROP_TAIL
        for rtt, value in row.items()
    )
    told = [
        f"{TITLES[name]} "
        + " / ".join(
            f"{value:.3g} ({first:.2g}, {last:.2g})"
            for value, (first, last) in zip(row.values(), losses[name].values(), strict=True)
        )
        for name, row in ratios.items()
    ]
    return Finding(
        checks,
        f"goodput of II / I (drops of I, of II) at {' / '.join(f'{rtt} ms' for rtt in rtts)}: "
        + ", ".join(told),
        {
            name: {str(rtt): [value, *losses[name][rtt]] for rtt, value in row.items()}
            for name, row in ratios.items()
        },
        figure=Measured(
            "factor between the goodputs behind drop-tail, mean over RTTs",
            mean_factor(ratios[DROP_TAIL].values()),
            log=True,
        ),
    )


def levels(data: Data) -> Finding:
    """AQM-11."""
    runs = data["levels"].where(signal=DROPS)
    found = {level: runs.where(queue=DROP_TAIL, level=level).mean("drop_ratio") for level in LEVELS}
    told = [
        f"{level} ({flows_of(level)} flows) {100.0 * ratio:.2g} %, "
        f"projected {100.0 * projected_drops(level):.2g} %"
        for level, ratio in found.items()
    ]
    others = {
        name: {
            level: [at.mean("wait_ms"), at.mean("drop_ratio")]
            for level in LEVELS
            for at in [runs.where(queue=name, level=level)]
        }
        for name in TITLES
    }
    note = "Delay and drops at the levels: " + ", ".join(
        f"{TITLES[name]} {' / '.join(f'{ms:.1f} ms {ratio:.2g}' for ms, ratio in row.values())}"
        for name, row in others.items()
    )
    return Finding(
        (),
        "drops of drop-tail, and the projection: " + ", ".join(told),
        others,
        note + ".",
        Measured(
            "factor between measured and projected drops of drop-tail, mean over levels",
            mean_factor(ratio / projected_drops(level) for level, ratio in found.items()),
            published=1.0,
            log=True,
        ),
    )


def bursts(data: Data) -> Finding:
    """AQM-12."""
    runs = data["bursts"]
    keys = (f"completion_s_{PAGE}", "wait_ms", "drop_ratio")
    found = {
        case: {name: _means(runs.where(case=case, queue=name), keys) for name in TITLES} for case in CASES
    }
    told = [
        f"{case}: "
        + ", ".join(
            f"{TITLES[name]} {took:.3g} s, {ms:.1f} ms, {ratio:.2g}"
            for name, (took, ms, ratio) in rows.items()
        )
        for case, rows in found.items()
    ]
    return Finding(
        tuple(check for case, rows in found.items() for check in _sooner(f"{case}, ", rows)),
        "time of a page, delay, drops: " + "; ".join(told),
        found,
        figure=Measured("time of a page behind drop-tail in case IV, s", found["IV"][DROP_TAIL][0], log=True),
    )


def _means(runs: Runs, keys: tuple[str, ...]) -> list[float]:
    return [runs.mean(key) for key in keys]


def _sooner(where: str, rows: Mapping[str, list[float]]) -> list[Check]:
    """Checks that each queue's first value, the time of a page, is below drop-tail's."""
    return [
        below(f"{where}{TITLES[name]}: time of a page (bound: drop-tail's)", row[0], rows[DROP_TAIL][0])
        for name, row in rows.items()
        if name != DROP_TAIL
    ]


def mix(data: Data) -> Finding:
    """AQM-13."""
    keys = (
        f"completion_s_{PAGE}",
        f"completion_s_{SEGMENT}",
        f"lost_{VOICE}",
        "wait_ms",
        f"share_{BULK}",
    )
    found = {name: _means(data["mix"].where(queue=name), keys) for name in TITLES}
    told = [
        f"{TITLES[name]} {page:.3g} s, {segment:.3g} s, {lost:.2g}, {ms:.1f} ms, {share:.3f}"
        for name, (page, segment, lost, ms, share) in found.items()
    ]
    return Finding(
        tuple(_sooner("", found)),
        "time of a page, time of a segment, lost voice, delay, share of the long flows: " + "; ".join(told),
        found,
        figure=Measured("time of a page behind drop-tail, s", found[DROP_TAIL][0], log=True),
    )


def bidirectional(data: Data) -> Finding:
    """AQM-14."""
    runs = data["bidirectional"].where(signal=DROPS)
    keys = (
        "ack_drop_ratio", f"share_{BULK}", f"share_{BACK}", "wait_ms", "second_wait_ms", "drop_ratio",
        "second_drop_ratio",
    )  # fmt: skip
    found = {name: _means(runs.where(queue=name), keys) for name in TITLES}
    told = [
        f"{TITLES[name]} {acks:.2g}, {there:.3f} {back:.3f}, {ms:.1f} {ms_back:.1f} ms"
        for name, (acks, there, back, ms, ms_back, *_) in found.items()
    ]
    checks = tuple(
        at_most(f"{TITLES[name]}: drops of ACKs (bound: drop-tail's)", row[0], found[DROP_TAIL][0])
        for name, row in found.items()
        if name != DROP_TAIL
    )
    return Finding(
        checks,
        "dropped ACKs; goodput / capacity and delay, there and back: " + "; ".join(told),
        found,
        figure=Measured("drops of ACKs behind drop-tail", found[DROP_TAIL][0], log=True),
    )


def two_queues(data: Data) -> Finding:
    """AQM-15."""
    runs = data["two-queues"]
    keys = ("second_wait_ms", "wait_ms", *(f"share_{group}" for group in GROUPS))
    found = {
        name: {position: _means(runs.where(queue=name, position=position), keys) for position in POSITIONS}
        for name in TITLES
    }
    checks, told = [], []
    for name, rows in found.items():
        upstream_ms, shared_ms, *shares = rows["both"]
        seen = " ".join(f"{share:.3f}" for share in shares)
        told.append(f"{TITLES[name]} {upstream_ms:.1f} and {shared_ms:.1f} ms, {seen}")
        if name != DROP_TAIL:
            sums = {position: values[0] + values[1] for position, values in rows.items()}
            alone = min(ms for position, ms in sums.items() if position != "both")
            text = f"{TITLES[name]} at both: sum of the delays (bound: with it at one)"
            checks.append(below(text, sums["both"], alone))
    drop_tail = found[DROP_TAIL]["both"]
    return Finding(
        tuple(checks),
        "at both routers, delays at the first and at the shared one, goodput / capacity of A and of B: "
        + "; ".join(told),
        found,
        figure=Measured("sum of the delays with drop-tail, ms", drop_tail[0] + drop_tail[1], log=True),
    )
