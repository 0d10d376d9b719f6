"""ERICA: flows on one link and on the parking lot, in the runs of RCP and MaxNet (ERI-1 to ERI-4)."""

from __future__ import annotations

from functools import partial

from longfat_papers.kit import Checks, Evidence, Measured, Runs, Setting, at_most, mean
from longfat_papers.relatives import common as rel
from longfat_papers.relatives import networks

FORUM = (
    "Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan: ERICA Switch Algorithm: A Complete Description, ATM "
    "Forum/96-1172, 1996 (abstract)"
)
ERICA = (
    "Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic Management in "
    "ATM Networks, IEEE/ACM ToN 8(1), 2000 (abstract)"
)
FRACTION = "the description of ERICA+ in arXiv:cs/9809040, section 4"

TARGET_WITHIN = 0.03  # ERI-1: distance from the target utilization

claim = partial(rel.PAPER.claim, paper=ERICA, estimator=rel.SETTLED)
TARGET = rel.TARGETS["erica"]
JOINED = "flows on one link, one of which joins the others"


@claim(
    "ERI-1",
    JOINED,
    "the switch shares out a fraction of the link: .9 implies 90 % link utilization",
    ("shares",),
    settings=(*rel.SHARE_SETTINGS, Setting("target utilization", f"{TARGET:g}", FRACTION)),
    bounds=rel.NUMBERS,
    values={"utilization": TARGET},
)
def utilization_is_on_target(runs: Runs) -> Checks:
    found = {n: used for n, (used, _) in rel.settled(runs, "erica").items()}
    for n, used in found.items():
        text = f"{n} flows: distance of the utilization from {TARGET:g}"
        yield at_most(text, abs(mean(used) - TARGET), TARGET_WITHIN)
    worst = max(found.values(), key=lambda used: abs(mean(used) - TARGET))
    return Evidence(
        ", ".join(f"{n} flows {mean(used):.3f}" for n, used in found.items()),
        {n: mean(used) for n, used in found.items()},
        figure=Measured.mean("utilization farthest from the target", worst, TARGET),
    )


claim(
    "ERI-2",
    "N flows on one link, one of which joins the others",
    "achieves both efficiency and fairness, and exhibits a fast transient response",
    ("shares",),
    paper=FORUM,
    settings=rel.SHARE_SETTINGS,
    estimator=rel.SOON,
    bounds=f"Each share is {TARGET:g} C / N. {rel.DISTANCES}",
)(partial(rel.soon_fair, "erica"))


@claim(
    "ERI-3",
    JOINED,
    "high link utilization with low delays",
    ("shares",),
    settings=rel.SHARE_SETTINGS,
    bounds=rel.NUMBERS,
)
def queue_is_short(runs: Runs) -> Checks:
    found = {n: queued for n, (_, queued) in rel.settled(runs, "erica").items()}
    for n, queued in found.items():
        yield at_most(f"{n} flows: mean queue over the buffer", mean(queued), rel.QUEUE_SHARE)
    return Evidence(
        ", ".join(f"{n} flows {mean(queued):.4f}" for n, queued in found.items()),
        {n: mean(queued) for n, queued in found.items()},
        figure=Measured.mean("greatest mean queue over the buffer", max(found.values(), key=mean)),
    )


claim(
    "ERI-4",
    "a parking lot of three links",
    "it is fair: without minimum rates, that is max-min fairness",
    ("lot",),
    settings=networks.LOT_SETTINGS,
    estimator=rel.LATE,
    bounds=f"These are the max-min fair rates with {TARGET:g} of each link shared out. {rel.DISTANCES}",
)(partial(networks.max_min_fair, "erica"))
