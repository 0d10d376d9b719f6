"""TCP MaxNet: a parking lot, which other systems have too, and flows on one link (MAX-1 to MAX-3)."""

from __future__ import annotations

from functools import partial
from typing import Any

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, at_least, at_most, below, mean
from longfat_papers.relatives import common as rel
from longfat_papers.relatives import networks
from longfat_papers.relatives.reduction import rows

MAXNET = (
    "Wydrowski, Zukerman: MaxNet: A congestion control architecture, IEEE Communications Letters, 2002 "
    "(abstract)"
)
STABLE = "Implementation of Provably Stable MaxNet (abstract)"

LOT_S: dict[Mode, int] = {"quick": 40, "full": 80}

KEPT_SHARE = 0.9  # MAX-2: of the max-min share


@rel.PAPER.experiment(
    "lot",
    "MaxNet",
    "A parking lot",
    grid={"system": ("maxnet", "erica", "rcp", "cadpc", "reno"), "repeat": rel.REPEATS},
)
def lot(system: str, repeat: int, mode: Mode) -> dict[str, Any]:
    return networks.parking_lot(system, LOT_S[mode])


@lot.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    groups = [("all three links", networks.LONG), *((f"link {i}", f"{i}-1") for i in (1, 2, 3))]
    return rel.drawn(
        f"Three links of {networks.LOT_MBPS} Mbit/s. One flow crosses all, and 1, 2 and 3 flows cross one "
        "link each; the first of each is drawn. Max-min fair rates of the whole capacity: "
        + ", ".join(f"{networks.lot_shares()[prefix]:.1f} ({label})" for label, prefix in groups)
        + " Mbit/s.",
        (
            rel.histories(rel.TITLES[row["system"]], row, networks.LOT_MBPS, groups)
            for row in rel.first_repeats(runs)
        ),
    )


claim = partial(lot.claim, paper=MAXNET, settings=networks.LOT_SETTINGS, estimator=rel.LATE)

claim(
    "MAX-1",
    "a parking lot of three links",
    "MaxNet results in MaxMin fairness for sources with general homogeneous utility functions",
    bounds=f"These are the max-min fair rates with {rel.TARGETS['maxnet']:g} of each link shared out. "
    + rel.DISTANCES,
)(partial(networks.max_min_fair, "maxnet"))


@claim(
    "MAX-2",
    "a parking lot of three links",
    "only the most severely bottlenecked link controls a source; where all links add to the signal, as in "
    "the current architecture, the result may not be max-min fair",
    bounds=rel.NUMBERS,
)
def only_tcp_is_not(runs: Runs) -> Checks:
    shares = {
        system: mean(
            row.rates(networks.LONG)[0] / networks.lot_shares(rel.TARGETS[system])[networks.LONG]
            for row in rows(runs, system=system)
        )
        for system in ("maxnet", "reno")
    }
    text = "the flow over all links, rate over its max-min fair one"
    yield at_least(f"MaxNet: {text}", shares["maxnet"], KEPT_SHARE)
    yield below(f"TCP: {text}", shares["reno"], KEPT_SHARE)
    return Evidence(
        f"the flow over all links gets {shares['maxnet']:.2f} (MaxNet) and {shares['reno']:.2f} (TCP) of its "
        "max-min fair rate",
        shares,
        figure=Measured(f"TCP: {text}", shares["reno"]),
    )


@rel.PAPER.claim(
    "MAX-3",
    "flows on one link, one of which joins the others",
    "desirable properties such as high throughput and low latency",
    ("shares",),
    paper=STABLE,
    settings=rel.SHARE_SETTINGS,
    estimator=rel.SETTLED,
    bounds=rel.NUMBERS,
)
def the_link_is_full_and_the_queue_short(runs: Runs) -> Checks:
    found = {n: (mean(used), mean(queued)) for n, (used, queued) in rel.settled(runs, "maxnet").items()}
    for number, (used, queued) in found.items():
        yield at_least(f"{number} flows: rate over the capacity", used, rel.FULL)
        yield at_most(f"{number} flows: mean queue over the buffer", queued, rel.QUEUE_SHARE)
    return Evidence(
        ", ".join(f"{n} flows: rate {used:.3f}, queue {queued:.3f}" for n, (used, queued) in found.items()),
        found,
        figure=Measured("greatest mean queue over the buffer", max(queued for _, queued in found.values())),
    )
