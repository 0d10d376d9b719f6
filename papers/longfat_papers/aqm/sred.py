"""The number of flows that SRED estimates (AQM-4, AQM-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from longfat.figure.data import points, theory
from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.checks import within_factor
from longfat_papers.kit.curves import repeats, samples
from longfat_papers.kit.means import geometric_mean, mean_factor

OTT = "Ott, Lakshman, Wong: SRED: Stabilized RED, INFOCOM 1999; thesis, section 2.5.1.4"
NEAR_FACTOR = 1.25
"""AQM-4: estimated over true number of flows."""
CLOSE_FACTOR = 1.1
"""AQM-8: estimated over effective number of flows."""


@aq.PAPER.experiment(
    "flows",
    "thesis 2.5.1.4",
    "The number of flows that SRED estimates",
    grid={
        "flows": {"quick": (5, 10, 20, 50, 100), "full": (2, 5, 10, 20, 50, 100, 200)},
        **aq.DROPPING,
        "queue": ("sred",),
    },
)
def like_flows(mode: Mode, **at: Any) -> aq.Table | None:
    return aq.scenario(mode, at, [aq.SACK | {"count": at["flows"]}])


@like_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    true = [float(number) for number in runs.distinct("flows")]
    effective = list(runs.means("flows", "flows_effective").values())
    return Drawing(
        f"Like flows of TCP. {SETTING} Mean of 1 / P over the run. The effective number is 1 / sum of "
        "squared shares, from products of the shares in 0.1 s and in the 4000 packets that the list "
        "remembers." + repeats(runs),
        (
            Panel(
                "",
                "flows",
                "flows estimated",
                (
                    points(aq.TITLES["sred"], samples(runs, "flows", "flows_estimated"), "sred"),
                    theory("as many as there are", true, true),
                    replace(theory("effective number", true, effective), stroke=1),
                ),
                x_log=True,
                y_log=True,
            ),
        ),
        columns=1,
    )


@like_flows.claim(
    "4", "like flows behind SRED", "1 / P estimates the number of active flows", paper=OTT, bounds=aq.NUMBERS
)
def it_counts_flows(runs: Runs) -> Checks:
    estimates = runs.means("flows", "flows_estimated")
    for number, estimate in estimates.items():
        text = f"{number:g} flows: estimated"
        yield within_factor(text, estimate, float(number), NEAR_FACTOR, than="the true number")
    return Evidence(
        ", ".join(f"{estimate:.3g} of {number:g}" for number, estimate in estimates.items()),
        estimates,
        figure=Measured(
            "estimated / true number of flows, mean over numbers",
            geometric_mean(estimate / number for number, estimate in estimates.items()),
            published=1.0,
            log=True,
        ),
    )


@like_flows.claim(
    "8",
    "flows of TCP behind SRED",
    "1 / P estimates 1 / sum of squared shares (proposition 1)",
    paper=OTT,
    settings=(
        Setting(
            "shares",
            "products of shares in 0.1 s and in the packets before, weighted exp(-age / 4000 packets)",
            CHOSEN_HERE + ": 1000 zombies, replaced with probability 1/4; written after AQM-4 was found 7 to "
            "11 % low, to show why",
        ),
    ),
    bounds="The shares are taken over the packets that the list remembers. " + aq.NUMBERS,
)
def it_sees_shares(runs: Runs) -> Checks:
    estimates, effective = (runs.means("flows", f"flows_{key}") for key in ("estimated", "effective"))
    for n in estimates:
        text = f"{n:g} flows: estimated"
        yield within_factor(text, estimates[n], effective[n], CLOSE_FACTOR, than="1 / sum of squared shares")
    return Evidence(
        ", ".join(f"{estimates[n]:.3g} of {effective[n]:.3g} ({n:g} flows)" for n in estimates),
        {n: [estimates[n], effective[n]] for n in estimates},
        figure=Measured(
            "factor between estimated and effective number of flows, mean over numbers",
            mean_factor(estimates[n] / effective[n] for n in estimates),
            published=1.0,
            log=True,
        ),
    )
