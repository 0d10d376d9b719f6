"""The claims of LLS as data, written down with their rules before anything was measured.

Where the paper gives no number, the number in the rule is chosen here, and the rule says so. Ratios are least
over greatest throughput unless a rule says long over short.
"""

from __future__ import annotations

from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import multiple, part, percent, short
from longfat_papers.li2007 import bounds, history_rules, rules
from longfat_papers.li2007.settings import (
    ALGORITHMS,
    COMMON_SETTINGS,
    LEVEL_FROM_MS,
    PAPER,
    QUEUE_OF_LONG_RTT,
    SMALLEST_PERCENT,
    TWO_FLOWS,
    USUAL_PERCENT,
    WEB_GAP,
    WEB_PAGE,
    WEB_SHAPE,
    WELL_PROVISIONED_PERCENT,
)

SHARED = "Mean over repeats, from the start of flow 2 to the end of the run."
CONVERGENCE = (
    "Time from flow 2's start until its short-term average (eq. 2, lambda = delta / (100 RTT), delta 0.1 s) "
    "is 80 % of flow 1's, within 600 s; mean over the repeats that converge, or never if most do not."
)

_LOWEST = {
    name: f"{bounds.LOWEST_FACTOR[name]:g} of {short(ratio)}" for name, ratio in bounds.LOWEST_RATIO.items()
}
_HSTCP_AND_FAST = (
    f"HS-TCP and FAST-TCP within {_LOWEST['hstcp']}"
    if _LOWEST["hstcp"] == _LOWEST["fast"]
    else f"HS-TCP within {_LOWEST['hstcp']}, FAST-TCP within {_LOWEST['fast']}"
)
_EXPONENT = {
    name: f"{value:g} ± {short(bounds.EXPONENT_MARGIN[name])}" for name, value in bounds.EXPONENT.items()
}

_claim = Paper[Data]("LLS", PAPER, (*COMMON_SETTINGS, *TWO_FLOWS), SHARED).claim


CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "F1",
        "1 standard flow, 1 Gbit/s, 100 ms, delayed ACK without byte counting, one loss at a full window",
        "BDP ~8000 packets; ~8000 RTT (800 s) to refill; the measured path averaged 218 Mbit/s over 1200 s",
        f"The refill takes {bounds.REFILL_RTTS:g} RTT and {bounds.REFILL_S:g} s, both within "
        f"{percent(bounds.REFILL_FACTOR - 1.0)} %; the mean rate after the loss is within "
        f"{percent(bounds.REFILL_MBPS_FACTOR - 1.0)} % of {bounds.REFILL_MBPS:g} Mbit/s (tolerances chosen "
        "here).",
        ("F1",),
        rules.refill,
        estimator=(
            "One run. Refill: from the lowest cwnd after the loss to 99 % of cwnd before it. Mean rate: from "
            "the loss to the end of the run, about 870 s."
        ),
        settings=(
            Setting("one loss", "cwnd held at 8333 packets; the 56 millionth packet is lost", CHOSEN_HERE),
            Setting("queue", "100 % BDP, so that slow-start loses nothing", CHOSEN_HERE),
            Setting("access link", "10 Gbit/s", CHOSEN_HERE),
        ),
        values={
            "refill_rtts": bounds.REFILL_RTTS,
            "refill_s": bounds.REFILL_S,
            "mean_bps": 1e6 * bounds.REFILL_MBPS,
        },
        note="218 Mbit/s is one measurement of one path on one afternoon; its losses are not published.",
    ),
    _claim(
        "F3a",
        "two like flows, same RTT 16..324 ms, 10 and 250 Mbit/s",
        "standard TCP and H-TCP share to within 5 % at every RTT",
        f"Standard TCP and H-TCP have a ratio of at least {short(bounds.FAIR)} at each RTT and each rate.",
        ("F3",),
        rules.fair_to_five_percent,
        values={"least_ratio": bounds.FAIR},
    ),
    _claim(
        "F3b",
        "two like flows, same RTT 16..324 ms, 10 and 250 Mbit/s",
        "Scalable-TCP and FAST-TCP notably unfair; HS-TCP and BIC-TCP unfair to a lesser degree",
        "Unfairness is 1 - ratio, averaged over all points. All four protocols are above "
        f"{short(bounds.UNFAIR)}, the {percent(bounds.UNFAIR)} % of LLS-F3a; Scalable-TCP and FAST-TCP are "
        "each above HS-TCP and BIC-TCP.",
        ("F3",),
        rules.degrees_of_unfairness,
    ),
    _claim(
        "F4",
        "Scalable-TCP x2, 250 Mbit/s, 42 and 162 ms, second flow later",
        "no convergence to fairness within 10 min",
        f"The ratio of the last 60 s is below {short(bounds.CONVERGED)} at each RTT (LLS's own "
        f"{percent(bounds.CONVERGED)} %).",
        ("F4",),
        history_rules.stcp_does_not_converge,
        estimator="Mean over repeats of the ratio of throughputs over the last 60 s.",
    ),
    _claim(
        "F5a",
        "FAST-TCP x2, 250 Mbit/s, 42 ms",
        "cwnd varies rapidly: the flows want 2 x alpha/2 = 200 packets in a queue of 175",
        f"Both flows back off more often than once in {bounds.BACKOFF_RTTS} RTT "
        f"({bounds.BACKOFF_RTTS * 0.042:g} s), LLS's averaging time; both cwnds have a coefficient of "
        f"variation of at least {short(bounds.RAPID_COV)} over the later half (chosen here).",
        ("F5",),
        history_rules.fast_varies_rapidly,
        estimator=(
            "Means over repeats: run time divided by congestion events; CoV of cwnd sampled every 0.1 s."
        ),
        values={"queue_packets": 175.0},
        note=(
            "The printed rule queues alpha = 200 packets for each flow, the text says alpha/2; both are "
            "shown."
        ),
    ),
    _claim(
        "F5b",
        "FAST-TCP x2, 250 Mbit/s, 162 ms",
        "no rapid variation; abrupt cwnd changes from alpha switching, can lock into lasting unfairness",
        f"Neither flow backs off more often than once in {bounds.BACKOFF_RTTS} RTT "
        f"({bounds.BACKOFF_RTTS * 0.162:g} s); a cwnd changes by more than {percent(bounds.ABRUPT_STEP)} % "
        f"between neighbouring 10 s means; over some 100 s the ratio is below {short(bounds.LOCKED_RATIO)} "
        "in at least one repeat (numbers chosen here).",
        ("F5",),
        history_rules.fast_locks_in,
        estimator=(
            "Time between backoffs: mean over repeats. Abrupt change and lasting unfairness: worst repeat, "
            "the former without the first 100 s after flow 2's start."
        ),
    ),
    _claim(
        "F6",
        "HS-TCP x2, 250 Mbit/s, 42 / 162 / 324 ms",
        "converges, more slowly at longer RTTs",
        "HS-TCP converges at each RTT, later at 162 ms than at 42 ms, and later at 324 ms than at 162 ms.",
        ("F6",),
        history_rules.hstcp_converges_slower,
        estimator=CONVERGENCE,
    ),
    _claim(
        "F7",
        "HS-TCP x2, 250 Mbit/s, 42 ms, nearest-neighbour table against interpolated table",
        "lasting unfairness with the table, less when interpolated",
        f"The unfairness (1 - ratio) of the later half is above {short(bounds.UNFAIR)} with the "
        "nearest-neighbour table and smaller when interpolated (undecided if the difference is within one "
        "standard error).",
        ("F7",),
        rules.table_granularity,
        estimator="Mean over repeats of the ratio over the later half of the time both flows run.",
    ),
    _claim(
        "F8",
        "BIC-TCP x2, 250 Mbit/s, 42 / 162 / 324 ms",
        "converges more slowly at longer RTTs; not fair within 10 min at 324 ms",
        "BIC-TCP converges later, or never, at 162 ms than at 42 ms and at 324 ms than at 162 ms; the ratio "
        f"of the last 60 s at 324 ms is below {short(bounds.CONVERGED)}.",
        ("F8",),
        history_rules.bic_slows_down,
        estimator=CONVERGENCE,
        note=(
            "The formula in the paper has a slip. The corrected form is judged; the printed form is shown "
            "too."
        ),
    ),
    _claim(
        "F9",
        "H-TCP x2, 250 Mbit/s, 42 / 162 / 324 ms",
        "the flows share equally at all three RTTs",
        f"The ratio over the later half is at least {short(bounds.FAIR)} at each RTT (the "
        f"{percent(1.0 - bounds.FAIR)} % of LLS-F3a).",
        ("F9",),
        history_rules.htcp_shares_equally,
        estimator="Mean over repeats of the ratio over the later half of the time both flows run.",
    ),
    _claim(
        "F10",
        "like flows, flow 1 at 162 ms, flow 2 at 16..162 ms, 10 and 250 Mbit/s; queue 20 and 100 % BDP",
        "lowest long/short throughput ratio: standard .02, H-TCP .2, HS-TCP and FAST-TCP .003, Scalable-TCP "
        "below that; H-TCP's ratio is proportional to the RTT ratio, standard TCP's to its square; the same "
        "holds at 100 % BDP",
        f"Lowest long/short ratios at 20 % BDP: standard TCP within a factor {_LOWEST['reno']}, H-TCP within "
        f"{_LOWEST['htcp']}, {_HSTCP_AND_FAST}, Scalable-TCP below both. The ratio is a power of the ratio "
        f"of measured RTTs, with exponent {_EXPONENT['htcp']} for H-TCP and {_EXPONENT['reno']} for standard "
        "TCP. At 100 % BDP H-TCP is highest, standard TCP next, and the others are below (tolerances chosen "
        "here).",
        ("F10", "F10-100"),
        rules.rtt_unfairness,
        settings=QUEUE_OF_LONG_RTT,
        estimator=SHARED
        + " Lowest over both rates and all RTTs. Exponents: least squares on logarithms, over all "
        "points at which flow 2 has the shorter RTT, against the ratio of mean measured RTTs.",
        values=bounds.LOWEST_RATIO,
    ),
    _claim(
        "F11",
        "one standard flow joined by one new flow, same RTT, 10 and 250 Mbit/s",
        "Scalable-TCP and FAST-TCP are the least fair to standard TCP at both rates; at 10 Mbit/s "
        "Scalable-TCP because it crosses Low_Window",
        "By the ratio averaged over the RTTs, Scalable-TCP and FAST-TCP are each among the two least fair of "
        "the five, at each rate; at 10 Mbit/s Scalable-TCP's cwnd passes Low_Window "
        f"({ALGORITHMS['stcp']['low_window']}) in every run with a ratio below {short(bounds.CONVERGED)}.",
        ("F11",),
        rules.least_compatible,
    ),
    _claim(
        "F12a",
        "two like flows, 100 Mbit/s, 82 ms (BDP 683 packets), queue 1..100 % BDP",
        "above 10 % BDP every new protocol beats standard TCP",
        f"At each queue of {WELL_PROVISIONED_PERCENT} % BDP and more, each new protocol's throughput is "
        f"above standard TCP's, or both are within {percent(bounds.FULL_USE_WITHIN)} % of the capacity "
        "(tolerance chosen here: at full use nobody can win).",
        ("F12",),
        rules.new_beats_standard,
    ),
    _claim(
        "F12b",
        "two like flows, 100 Mbit/s, 82 ms (BDP 683 packets), queue 1..100 % BDP",
        "below ~3 % BDP (FAST-TCP ~8 %) throughput collapses and the loss rate rises ~100-fold",
        f"Throughput has collapsed if it is below {percent(bounds.COLLAPSED)} % of that at {USUAL_PERCENT} % "
        f"BDP. The largest queue with a collapse is {bounds.COLLAPSING_PERCENT[0]:g} to "
        f"{bounds.COLLAPSING_PERCENT[1]:g} % BDP; for FAST-TCP it is above all others and at most "
        f"{bounds.FAST_COLLAPSING_PERCENT:g} %. For each algorithm the loss at {SMALLEST_PERCENT} % is at "
        f"least {bounds.LOSS_RISE:g} times that at {USUAL_PERCENT} % BDP (numbers chosen here).",
        ("F12",),
        rules.small_queues_collapse,
    ),
    _claim(
        "E2",
        "two flows, same RTT varied 16..324 ms, queue a fixed share of BDP (III-E-ii)",
        "prints no figure; throughput and loss over the RTT are reported here",
        "There is nothing to check; the values are reported.",
        ("E2",),
        rules.report_efficiency,
        reports=True,
    ),
    _claim(
        "C2",
        "standard TCP at 162 ms against a new protocol at 16..324 ms (III-D)",
        "prints no figure; the ratios are reported here",
        "There is nothing to check; the values are reported.",
        ("C2",),
        rules.report_compatibility,
        settings=QUEUE_OF_LONG_RTT,
        reports=True,
    ),
    _claim(
        "F13",
        "one flow, 250 Mbit/s, 162 ms, random loss",
        "standard TCP, Scalable-TCP and HS-TCP follow their theoretical response functions away from the "
        "mode switch",
        f"The measurement is within a factor {bounds.THEORY_FACTOR:g} of theory at each point whose "
        f"theoretical window is below {percent(bounds.FILLED_BELOW)} % of the BDP and not within a factor "
        f"{bounds.SWITCH_FACTOR:g} of Low_Window (numbers chosen here; the paper says that the agreement is "
        "fairly good).",
        ("F13",),
        rules.follows_theory,
        estimator=(
            "Mean over repeats of the throughput without the first 100 s, compared with window x 1500 bytes "
            "/ 162 ms."
        ),
        settings=(
            Setting("losses", "1e-2 to 1e-7, data packets, independent", "III-F; points " + CHOSEN_HERE),
            Setting("duration", "600 s; standard TCP 20 losses, at most 3600 s", CHOSEN_HERE),
        ),
    ),
    _claim(
        "F14a",
        "80 % convergence time after a second flow's start, 250 Mbit/s",
        "Scalable-TCP, HS-TCP, BIC-TCP over 100 s or never; H-TCP levels off near 30 s; FAST-TCP is the "
        "fastest; standard TCP does not converge at long RTT",
        f"At 324 ms Scalable-TCP, HS-TCP and BIC-TCP need over {bounds.SLOW_S:g} s or never converge, "
        f"standard TCP never; H-TCP needs between {bounds.LEVEL_S[0]:g} and {bounds.LEVEL_S[1]:g} s at each "
        f"RTT from {LEVEL_FROM_MS} ms on, and at 324 ms at most {multiple(bounds.LEVEL_FACTOR)} its time at "
        f"{LEVEL_FROM_MS} ms; FAST-TCP is the fastest at more than {part(bounds.SMALLEST_SHARE)} of the RTTs "
        '(numbers for "levels off" chosen here).',
        ("F14",),
        history_rules.convergence_fast_link,
        estimator=CONVERGENCE,
        note="The time by III-A's definition (80 % of the flow's own mean) is in the figure and the values.",
    ),
    _claim(
        "F14b",
        "80 % convergence time after a second flow's start, 10 Mbit/s",
        "H-TCP takes about as long as standard TCP",
        f"At each RTT H-TCP's time is within a factor {bounds.SLOW_LINK_FACTOR:g} of standard TCP's (chosen "
        "here).",
        ("F14",),
        history_rules.convergence_slow_link,
        estimator=CONVERGENCE,
    ),
    _claim(
        "F15",
        "LLS-F10 at 250 Mbit/s with 0..50 web sessions",
        "ratios barely change; 50 sessions load ~1.5 % of the link with ~1 s bursts of ~10 %",
        f"Each ratio with web sessions is within a factor {bounds.WEB_FACTOR:g} of the one without; 50 "
        f"sessions load {bounds.LOAD_PERCENT[0]:g} to {bounds.LOAD_PERCENT[1]:g} % of the link on average "
        f"and {bounds.BURST_PERCENT[0]:g} to {bounds.BURST_PERCENT[1]:g} % in the busiest second (numbers "
        "chosen here).",
        ("F15",),
        rules.web_changes_little,
        estimator=SHARED + " Loads: mean over all runs with 50 sessions.",
        settings=(
            *QUEUE_OF_LONG_RTT,
            Setting(
                "web sessions",
                f"Pareto pages, shape {WEB_SHAPE}, mean {WEB_PAGE}; exponential gaps, mean {WEB_GAP}; both "
                "directions",
                "IV-F; the mean page follows from 50 sessions loading 1.5 % of 250 Mbit/s",
            ),
            Setting("RTT of the web sessions", "162 ms", CHOSEN_HERE),
        ),
        values={"load_share": 0.015, "burst_share": 0.10},
    ),
)
