"""Like flows with different RTTs under web traffic (Fig. 15)."""

from __future__ import annotations

from typing import Any

from longfat_papers.kit import (
    CHOSEN_HERE,
    Checks,
    Drawing,
    Evidence,
    Mode,
    Panel,
    Runs,
    Setting,
    between,
    held,
    points,
    samples,
    within_factor,
)
from longfat_papers.li2007 import common as lls

WEB_FACTOR = 1.5
LOAD_PERCENT = (1.0, 2.0)
BURST_PERCENT = (5.0, 20.0)

PAGE = "9.4 kB"
GAP = "1 s"
SHAPE = 1.2


@lls.PAPER.experiment(
    "F15",
    "Fig. 15",
    "RTT unfairness under web traffic",
    grid={
        "algorithm": tuple(lls.ALGORITHMS),
        "rate_mbps": (lls.HIGH_MBPS,),
        "rtt_ms": {"quick": (16, 42), "full": lls.SHORT_RTTS_MS},
        "sessions": {"quick": (0, 50), "full": (0, 10, 20, 30, 40, 50)},
        "repeat": lls.REPEATS,
    },
)
def under_web_traffic(
    mode: Mode, algorithm: str, rate_mbps: int, rtt_ms: int, sessions: int, repeat: int
) -> dict[str, Any]:
    """Fig. 10 at 250 Mbit/s under web sessions."""
    document = lls.pair(mode, rate_mbps, (algorithm, lls.LONG_RTT_MS), (algorithm, rtt_ms))
    if sessions:
        web = {
            "kind": "web",
            "sessions": sessions,
            "gap": GAP,
            "page": PAGE,
            "shape": SHAPE,
            "direction": "both",
            "rtt": f"{lls.LONG_RTT_MS} ms",
            **lls.host("reno"),
        }
        document["background"] = [web]
    return document


@under_web_traffic.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = tuple(
        Panel(
            lls.TITLES[name],
            lls.RTT_2_AXIS,
            "flow 1 / flow 2",
            tuple(
                points(
                    f"{sessions} sessions",
                    samples(at.where(sessions=sessions), "rtt_ms", "first_to_second", least=lls.FINEST_RATIO),
                    name,
                    stroke,
                )
                for stroke, sessions in enumerate(at.distinct("sessions"))
            ),
            y_log=True,
            y_range=lls.RATIO_RANGE,
        )
        for name in lls.ALGORITHMS
        for at in [runs.where(algorithm=name)]
    )
    return Drawing(
        f"Flow 1 at {lls.LONG_RTT_MS} ms, 250 Mbit/s, queue 20 % of flow 1's BDP, bidirectional web sessions."
        f"{lls.repeated(runs)} The paper: web traffic makes little difference.",
        panels,
        columns=3,
        title="Different RTTs under web traffic",
    )


@under_web_traffic.claim(
    "F15",
    "LLS-F10 at 250 Mbit/s with 0..50 web sessions",
    published="ratios barely change; 50 sessions load ~1.5 % of the link with ~1 s bursts of ~10 %",
    estimator=lls.SHARED + " Loads: mean over all runs with 50 sessions.",
    bounds=lls.CHOSEN,
    settings=(
        *lls.QUEUE_OF_LONG_RTT,
        Setting(
            "web sessions",
            f"Pareto pages, shape {SHAPE}, mean {PAGE}; exponential gaps, mean {GAP}; both directions",
            "IV-F; the mean page follows from 50 sessions loading 1.5 % of 250 Mbit/s",
        ),
        Setting("RTT of the web sessions", "162 ms", CHOSEN_HERE),
    ),
    values={"load_share": 0.015, "burst_share": 0.10},
)
def web_changes_little(runs: Runs) -> Checks:
    checks, factors = [], {}
    for name in lls.ALGORITHMS:
        for rtt in runs.where(algorithm=name).distinct("rtt_ms"):
            at = runs.where(algorithm=name, rtt_ms=rtt)
            quiet, *loaded = at.means("sessions", "first_to_second").items()
            for sessions, ratio in loaded:
                factors[f"{name} at {rtt} ms, {sessions} sessions"] = ratio / quiet[1]
                text = f"{lls.TITLES[name]}, {rtt} ms, {sessions} sessions: ratio"
                checks.append(within_factor(text, ratio, quiet[1], WEB_FACTOR, than="that without"))
    yield from checks
    busiest = runs.where(sessions=50)
    load, peak = busiest.mean("background_share"), busiest.mean("background_peak_share")
    yield between("mean load of 50 sessions, % of the link", 100 * load, *LOAD_PERCENT)
    yield between("greatest load over 1 s, % of the link", 100 * peak, *BURST_PERCENT)
    within = f"within a factor {WEB_FACTOR:g}"
    return Evidence(
        f"{held(checks)} of {len(checks)} ratios {within}; 50 sessions load {100 * load:.1f} %, "
        f"bursts {100 * peak:.0f} %",
        {"factor": factors, "load_share": load, "burst_share": peak},
        figure=lls.share(f"share of ratios {within}", checks),
    )
