"""Round-trip time fairness of two flows (AQM-10): RFC 7928, section 6.2."""

from __future__ import annotations

from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING, for_each_queue
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.checks import at_most
from longfat_papers.kit.curves import mean_of, repeats
from longfat_papers.kit.means import mean_factor

CATEGORY_MS = 100
"""RTT of the flow of category I."""


@aq.PAPER.experiment(
    "categories",
    "RFC 7928, 6.2",
    "Round-trip time fairness",
    grid={
        "rtt_ms": {"quick": (5, 50, 100, 200, 560), "full": (5, 20, 50, 100, 200, 400, 560)},
        **aq.DROPPING,
    },
)
def two_flows(mode: Mode, **at: Any) -> aq.Table | None:
    rtts_ms = {"I": CATEGORY_MS, "II": at["rtt_ms"]}
    flows = [aq.SACK | {"name": name, "rtt": f"{rtt_ms} ms"} for name, rtt_ms in rtts_ms.items()]
    return aq.scenario(mode, at, flows)


def ratio(at: Runs) -> float:
    return at.mean("last_goodput_share") / at.mean("first_goodput_share")


@two_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    rtts_ms = {rtt_ms: float(rtt_ms) for rtt_ms in runs.distinct("rtt_ms")}
    return Drawing(
        f"A flow of category I with an RTT of {CATEGORY_MS} ms beside one of category II. {SETTING} Without "
        "losses there is no point." + repeats(runs),
        tuple(
            Panel(
                "",
                "RTT of category II, ms",
                label,
                for_each_queue(runs, "rtt_ms", rtts_ms, estimate),
                x_log=True,
                y_log=True,
            )
            for label, estimate in (
                ("goodput of II / goodput of I", lambda at: at.over_repeats(ratio)),
                ("lost / sent, category I", mean_of("first_loss_ratio")),
                ("lost / sent, category II", mean_of("last_loss_ratio")),
            )
        ),
        columns=3,
    )


@two_flows.claim(
    "10",
    f"a flow with an RTT of {CATEGORY_MS} ms (I) beside one of 5 to 560 ms (II)",
    "prints no value; the ratio of the goodputs and the drop rates are asked for (6.3)",
    settings=(Setting("RTTs", "100 ms, and 5 to 560 ms", f"6.2 ({aq.DRAFT_13}); points " + CHOSEN_HERE),),
    **aq.REPORT,
)
def goodputs_and_drops(runs: Runs) -> Checks:
    rtts_ms = runs.distinct("rtt_ms")
    found = {
        name: {
            rtt_ms: [at.over_repeats(ratio)[0], at.mean("first_loss_ratio"), at.mean("last_loss_ratio")]
            for rtt_ms in rtts_ms
            for at in [runs.where(queue=name, rtt_ms=rtt_ms)]
        }
        for name in aq.TITLES
    }
    factors = {
        name: {rtt_ms: mean_factor([values[0]]) for rtt_ms, values in row.items()}
        for name, row in found.items()
    }
    for name, row in factors.items():
        if name != aq.DROP_TAIL:
            for rtt_ms, factor in row.items():
                text = f"{aq.TITLES[name]}, {rtt_ms} ms: factor between the goodputs"
                yield at_most(text, factor, factors[aq.DROP_TAIL][rtt_ms], than="drop-tail's")
    told = ", ".join(
        f"{aq.TITLES[name]} "
        + " / ".join("{:.3g} ({:.2g}, {:.2g})".format(*values) for values in row.values())
        for name, row in found.items()
    )
    return Evidence(
        f"goodput of II / I (drops of I, of II) at {' / '.join(f'{rtt} ms' for rtt in rtts_ms)}: {told}",
        found,
        figure=Measured(
            "factor between the goodputs behind drop-tail, mean over RTTs",
            mean_factor(values[0] for values in found[aq.DROP_TAIL].values()),
            log=True,
        ),
    )
