"""XCP-i through clouds that do not speak XCP (Figs. 4.8, 4.10, 4.12 and 4.14; LOP-4b to LOP-4e)."""

from __future__ import annotations

import numpy as np

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, mean, percent
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008 import networks as nw
from longfat_papers.lopez2008.reduction import dropped, rows

CASES = ("clouds", "all XCP")
SAME_RATE = 0.03
"""Distance from the rate without clouds, as a share of it."""
MERGE_I_MBPS, MERGE_J_MBPS = (266.0, 300.0), (95.0, 101.0)
"""5 % below the numbers, up to the clouds' rates."""
BEHIND_100_MBPS = (45.0, 52.0)
K_OVER_I = (1.0, 1.2)
FORK_MBPS = (237.5, 255.0)
SENDERS = "XCP-i: rates of the senders"
LATE = "Rates are means over the second half of 20 s."


@lp.experiment("peering", "Fig. 4.8", "XCP-i across two clouds", mbps=30, case=CASES)
def peering(case: str, repeat: int) -> lp.Document:
    """Fig. 4.7: two clouds on one path; the second is the bottleneck of 30 Mbit/s (chosen here)."""
    links = nw.line(lp.XCP_ROUTER, lp.XCP_ROUTER)
    if case == "clouds":
        links = [
            *nw.links("S-R0 R0-A", 80, nw.ORACLE),
            *nw.links("A-R1", 50),
            *nw.links("R1-B", 80, nw.ORACLE),
            *nw.links("B-R2", 30),
            *nw.links("R2-R", 80, nw.ORACLE),
        ]
    end_s = nw.BEGIN_S + nw.BOTTLENECK_S
    return nw.clouds(f"fig. 4.7, {case}", links, len(links), duration_s=end_s)


@lp.experiment("merge", "Fig. 4.10", "Clouds of 300 and 100 into 400 Mbit/s", mbps=400)
def merge(repeat: int) -> lp.Document:
    return nw.clouds("clouds", nw.merge(nw.ORACLE), 5, ("i", "j"))


@lp.experiment("merge-above", "Fig. 4.12", "Inputs above the output", mbps=400)
def merge_above(repeat: int) -> lp.Document:
    """Fig. 4.11: j0 and j1 behind a cloud of 100, i behind one of 300, k without; all into 400 (chosen)."""
    links = [
        *nw.links("Sj0-R0 Sj1-R0 R0-A", nw.FAST_MBPS, nw.ORACLE),
        *nw.links("A-R2", 100),
        *nw.links("Si-R1 R1-B", nw.FAST_MBPS, nw.ORACLE),
        *nw.links("B-R2", 300),
        *nw.links("Sk-R3 R3-C C-R2", nw.FAST_MBPS, nw.ORACLE),
        *nw.links("R2-R4", 400, nw.ORACLE),
        *nw.links("R4-Rj0 R4-Rj1 R4-Ri R4-Rk", nw.FAST_MBPS, nw.ORACLE),
    ]
    return nw.clouds("clouds", links, 5, ("i", "j0", "j1", "k"))


@lp.experiment("fork", "Fig. 4.14", "One cloud, two ways on", mbps=500)
def fork(repeat: int) -> lp.Document:
    """Fig. 4.13: i and j leave R0 at 500, through one cloud with 300 to each side."""
    links = [
        *nw.links("Si-R0 Sj-R0", nw.FAST_MBPS, nw.ORACLE),
        *nw.links("R0-A", 500, nw.ORACLE),
        *nw.links("A-R1 A-R2", 300),
        *nw.links("R1-Ri R2-Rj", nw.FAST_MBPS, nw.ORACLE),
    ]
    return nw.clouds("clouds", links, 4, ("i", "j"))


@peering.drawing
def through_clouds_and_without(runs: Runs, mode: Mode) -> Drawing:
    found = [(case, dr.first(runs, case=case), number) for number, case in enumerate(CASES)]
    means = [float(np.mean(row.row["cwnd"][0][row.bins // 2 :])) for _, row, _ in found]
    return Drawing(
        f"Compared with a path of XCP routers alone.{dr.shown(runs)} The thesis: identical. Here the windows "
        f"may differ: in the second half of the run {means[0]:.0f} segments through the clouds, "
        f"{means[1]:.0f} without; at the same rate, the difference waits in the clouds' queues.",
        (
            dr.rates("Rate", [dr.history(case, row, "xcp", n) for case, row, n in found], 62.0),
            dr.windows("Window", [dr.cwnd(row, case, n) for case, row, n in found], (0.0, 62.0)),
        ),
    )


for declared, caption in (
    (merge, "Clouds of 300 (i) and 100 Mbit/s (j) into 400. The thesis: 280 and 100 Mbit/s."),
    (
        merge_above,
        "j0 and j1 behind 100, i behind 300, k without a cloud, into 400. The thesis: 50 each, k slightly "
        "above i.",
    ),
    (fork, "500 Mbit/s into one cloud with 300 to each side. The thesis: 250 each."),
):
    declared.drawing(dr.senders(caption, title=SENDERS))


@peering.claim(
    "4b",
    "XCP-i across two non-XCP clouds",
    "performs like the all-XCP path, without loss or timeout",
    settings=nw.SETTINGS,
    bounds=f"The rate is that from {nw.PEERED_S:g} s after the start on; drops and timeouts are those of the "
    f"worst repeat. {percent(SAME_RATE)} % is chosen here.",
)
def like_the_path_of_xcp_routers(runs: Runs) -> Checks:
    span = (nw.BEGIN_S + nw.PEERED_S, nw.BEGIN_S + nw.BOTTLENECK_S)
    rate = {case: mean(row.rate_mbps(span) for row in rows(runs, case=case)) for case in CASES}
    through = rows(runs, case="clouds")
    lost, timeouts = max(row.dropped() for row in through), max(row.timeouts() for row in through)
    clouds, alone = rate.values()
    label = "rate over that without clouds"
    yield ck.between(label, clouds / alone, 1.0 - SAME_RATE, 1.0 + SAME_RATE)
    yield ck.at_most("packets dropped", lost, 0.0)
    yield ck.at_most("timeouts", timeouts, 0.0)
    return Evidence(
        f"{clouds:.2f} Mbit/s through the clouds, {alone:.2f} without; {lost:.0f} dropped, "
        f"{timeouts:.0f} timeouts",
        {"mbps": rate, "dropped": lost, "timeouts": timeouts},
        figure=Measured.mean(label, (row.rate_mbps(span) / alone for row in through), 1.0),
    )


def _settled_mbps(runs: Runs, *names: str) -> dict[str, list[float]]:
    """Returns the mean rate of each flow in the second half of each repeat."""
    span = (0.5 * (nw.BEGIN_S + nw.END_S), nw.END_S)
    return {name: [row.rate_mbps(span, name) for row in rows(runs)] for name in names}


@merge.claim(
    "4c",
    "merge, inputs 300 + 100, output 400",
    "280 and 100 Mbit/s, independent virtual routers",
    settings=nw.SETTINGS,
    values={"i_mbps": 280.0, "j_mbps": 100.0},
    bounds=f"{LATE} The bounds, 5 % below the numbers and the clouds' rates, are chosen here.",
)
def nearly_all_of_both_clouds(runs: Runs) -> Checks:
    each = _settled_mbps(runs, "i", "j")
    rate, lost = {name: mean(found) for name, found in each.items()}, dropped(runs)
    yield ck.between("i, Mbit/s", rate["i"], *MERGE_I_MBPS)
    yield ck.between("j, Mbit/s", rate["j"], *MERGE_J_MBPS)
    return Evidence(
        f"i {rate['i']:.1f}, j {rate['j']:.1f} Mbit/s; {lost:.0f} dropped",
        {"mbps": rate, "dropped": lost},
        figure=Measured.mean("i, Mbit/s", each["i"], 280.0),
    )


@merge_above.claim(
    "4d",
    "merge, inputs above the output, j0 and j1 behind 100",
    "j0 = j1 = 50; k slightly above i",
    settings=nw.SETTINGS,
    values={"j0_mbps": 50.0, "j1_mbps": 50.0},
    bounds=f"{LATE} Bounds chosen here.",
)
def k_is_slightly_above_i(runs: Runs) -> Checks:
    each = _settled_mbps(runs, "i", "j0", "j1", "k")
    rate = {name: mean(found) for name, found in each.items()}
    yield ck.between("j0, Mbit/s", rate["j0"], *BEHIND_100_MBPS)
    yield ck.between("j1, Mbit/s", rate["j1"], *BEHIND_100_MBPS)
    yield ck.between("k over i", rate["k"] / rate["i"], *K_OVER_I)
    return Evidence(
        ", ".join(f"{name} {value:.1f}" for name, value in rate.items()) + " Mbit/s",
        {"mbps": rate},
        figure=Measured.mean("k over i", np.divide(each["k"], each["i"])),
    )


@fork.claim(
    "4e",
    "fork behind 500",
    "250 each",
    settings=nw.SETTINGS,
    values={"mbps": 250.0},
    bounds=f"{LATE} Bounds chosen here.",
)
def half_of_it_each(runs: Runs) -> Checks:
    each = _settled_mbps(runs, "i", "j")
    rate = {name: mean(found) for name, found in each.items()}
    for name in rate:
        yield ck.between(f"{name}, Mbit/s", rate[name], *FORK_MBPS)
    return Evidence(
        f"i {rate['i']:.1f}, j {rate['j']:.1f} Mbit/s",
        {"mbps": rate},
        figure=Measured.mean("i, Mbit/s", each["i"], 250.0),
    )
