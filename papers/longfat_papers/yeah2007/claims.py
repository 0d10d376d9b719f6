"""The claims of the YeAH paper as data, written down with their rules before anything was measured.

The paper has figures without numbers, and words. Where it gives no number, the number in the rule is chosen
here, and the rule says so.
"""

from __future__ import annotations

from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import multiple, part, percent, short
from longfat_papers.yeah2007 import bounds, rules
from longfat_papers.yeah2007.settings import (
    BEFORE_S,
    COMMON_SETTINGS,
    FILLED_UP_TO_MS,
    FIRST_RTT_MS,
    FRIENDLY_RTT_MS,
    HTCP_ALIKE_UP_TO_S,
    JOIN_S,
    JOINED_RTT_MS,
    JOINED_S,
    LOSS,
    LOSSES_RTT_MS,
    LOW_LOSS,
    PAPER,
    QUEUES_RTT_MS,
    TABLE_I,
)

_LOW_LOSS = f"{LOW_LOSS:.0e}".replace("e-0", "e-")
WHOLE_RUN = (
    "Mean over repeats and over the whole run, which begins with the later flow's start (within a second)."
)

_claim = Paper[Data]("YEAH", PAPER, COMMON_SETTINGS, WHOLE_RUN).claim


CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "F1",
        "YeAH joined by YeAH; YeAH joined by Reno",
        "steep convergence; YeAH yields until cwnd < count_reno, then shares as Reno",
        f"With YeAH, the second flow has 80 % of the first flow's rate at most {bounds.STEEP_S:g} s after "
        f"its start (median), and the ratio of the later half is at least {short(bounds.JOINED_RATIO)}. With "
        f"Reno, YeAH's cwnd falls to at most {short(bounds.YIELDED)} of its mean in the {BEFORE_S:g} s "
        f"before; its losses in the later half leave {short(bounds.RENO_BACKOFF[0])} to "
        f"{short(bounds.RENO_BACKOFF[1])} of cwnd on average, as Reno's do; the ratio of the later half is "
        f"at least {short(bounds.RENO_RATIO)} (numbers chosen here).",
        ("F1",),
        rules.joined,
        estimator=(
            "Mean over repeats; later half of the time that both flows run; cwnd sampled every half second."
        ),
        settings=(
            Setting("RTT", f"{JOINED_RTT_MS} ms", CHOSEN_HERE + ": Fig. 1 names none; the RTT of Fig. 6"),
            Setting(
                "second flow", f"starts at {JOIN_S:g} s of {JOINED_S:g} s", "IV (600 s); start " + CHOSEN_HERE
            ),
        ),
    ),
    _claim(
        "F3",
        "two like flows, RTT 15..480 ms",
        "mean queue / buffer: YeAH lowest at every RTT; Reno high for 15..120 ms; Africa and Compound near "
        "Reno; HSTCP and CUBIC above Reno; H-TCP nearly constant; all fill the link up to 120 ms; queue "
        "deviation / mean between 1 and 2",
        f"YeAH's queue is below all others' at each RTT. At each RTT up to {FILLED_UP_TO_MS} ms Reno's queue "
        f"is at least {short(bounds.RENO_QUEUE)} of the buffer, Africa's and Compound's are within a factor "
        f"{bounds.ALIKE_FACTOR:g} of Reno's, HSTCP's and CUBIC's are above Reno's, and every algorithm uses "
        f"at least {percent(bounds.FULL)} % of the link. H-TCP's greatest queue is at most "
        f"{multiple(bounds.STEADY_FACTOR)} its least. The deviation over the mean is between "
        f"{bounds.QUEUE_COV[0]} and {bounds.QUEUE_COV[1]} for each algorithm at every RTT (all numbers but "
        "the last are chosen here).",
        ("F3",),
        rules.queues,
        estimator=WHOLE_RUN + " The queue is sampled at 100 Hz and divided by the buffer.",
        note="A deviation beyond the mean is possible only for a queue that is empty for much of the time.",
    ),
    _claim(
        "T1",
        "loss probability at 15 / 60 / 240 ms",
        "Reno 5.77e-6 / 5.07e-6 / 9.40e-7; YeAH none / none / none; Compound 4.01e-6 / 1.08e-6 / 7.53e-7; "
        "H-TCP 3.75e-5 / 1.42e-4 / 3.35e-4; Africa 2.67e-6 / 1.84e-6 / 1.17e-6; CUBIC 2.61e-5 / 1.85e-5 / "
        "2.97e-5; HSTCP 6.06e-5 / 2.93e-5 / 4.12e-6",
        "No packet of YeAH is dropped at any RTT; each other value is within a factor "
        f"{bounds.TABLE_FACTOR:g} of the printed one (chosen here).",
        ("T1",),
        rules.table_i,
        estimator="Mean over repeats of the packets that the buffer dropped, divided by those that arrived.",
        values={
            f"{name} at {rtt} ms": 0.0 if value is None else value
            for name, row in TABLE_I.items()
            for rtt, value in row.items()
        },
    ),
    _claim(
        "F4",
        f"random loss {LOSS:g}, RTT 15..480 ms",
        "YeAH fills the link at every RTT; Africa and Compound lose more than the other new protocols; Reno "
        "is worst",
        f"At each RTT YeAH uses at least {percent(bounds.FULL)} % of what it uses without loss (limited "
        f"slow-start bounds that on long paths). At each RTT above {FILLED_UP_TO_MS} ms Africa and Compound "
        f"are each below H-TCP, CUBIC, HSTCP and YeAH, and Reno is below all ({percent(bounds.FULL)} % "
        "chosen here).",
        ("F4", "F3"),
        rules.lossy_rtts,
    ),
    _claim(
        "F5",
        f"RTT {LOSSES_RTT_MS} ms, random loss 1e-8..1e-4",
        "Reno is worst, YeAH best until the loss is very high",
        f"At each loss up to {_LOW_LOSS} Reno is within {percent(bounds.NEAR_EXTREME)} % of the lowest and "
        f"YeAH within {percent(bounds.NEAR_EXTREME)} % of the highest utilization; at 1e-4 YeAH uses at most "
        f"{part(bounds.HIGH_LOSS_SHARE)} of what it uses at the least loss (numbers chosen here).",
        ("F5",),
        rules.over_losses,
    ),
    _claim(
        "F6",
        f"RTT {QUEUES_RTT_MS} ms (BDP 3333), different queues",
        "YeAH's utilisation does not fall with small queues and its normalised queue falls as the queue "
        "grows; loss-based protocols lose goodput at small queues, Reno below a BDP",
        f"At each smaller buffer YeAH has at least {percent(bounds.FULL)} % of its utilization at one BDP, "
        "and its queue over the buffer falls from each buffer to the next larger one. For every other "
        "algorithm queue over buffer is greater at the largest buffer than at the smallest. At the smallest "
        f"buffer Reno, HSTCP, CUBIC and H-TCP have at most {percent(bounds.SMALL_BUFFER_SHARE)} % of their "
        f"utilization at one BDP. Reno's utilization is at most {short(bounds.RENO_BELOW_BDP)} at each "
        "buffer below a BDP (numbers chosen here).",
        ("F6",),
        rules.over_queues,
        estimator=WHOLE_RUN + " The queue is sampled at 100 Hz and divided by the buffer.",
    ),
    _claim(
        "F7",
        f"RTT1 {FIRST_RTT_MS} ms, different ratios RTT2/RTT1, queue = BDP",
        "all are fair at ratio 1, CUBIC slightly less; above 1 only H-TCP and YeAH stay fair (Jain)",
        f"At ratio 1 every algorithm but CUBIC has at least {short(bounds.FAIR)}, and CUBIC has the lowest "
        f"index. Above 1 H-TCP and YeAH have at least {short(bounds.STAYS_FAIR)} at each ratio, and the "
        f"others are below {short(bounds.STAYS_FAIR)} at the greatest (numbers chosen here).",
        ("F7",),
        rules.over_ratios,
        estimator="Mean over repeats of Jain's index of throughputs over the whole run.",
    ),
    _claim(
        "FR",
        "n Reno flows against one other",
        "fair-to-Reno ratio 5..7 at n = 1 for loss-based protocols, towards 1 as n grows; ~1 for Africa, "
        "Compound, YeAH at every n",
        f"HSTCP, CUBIC, H-TCP: {bounds.LOSS_BASED_RATIO[0]:g} to {bounds.LOSS_BASED_RATIO[1]:g} at n = 1 (5 "
        "to 7, give or take a fifth); at the greatest n nearer to 1, and at most "
        f"{bounds.MANY_RENO_RATIO:g}. Africa, Compound, YeAH: {short(bounds.FRIENDLY_RATIO[0])} to "
        f"{short(bounds.FRIENDLY_RATIO[1])} at every n (numbers chosen here).",
        ("FR",),
        rules.fair_to_reno,
        estimator=(
            "Goodput of the n Reno flows beside one more Reno flow, divided by their goodput beside the "
            "other algorithm; means over repeats."
        ),
        settings=(
            Setting("RTT", f"{FRIENDLY_RTT_MS} ms", CHOSEN_HERE + ": V-D names none; the RTT of Fig. 6"),
            Setting("n", "1, 2, 4, 8, 16", CHOSEN_HERE),
        ),
        values={"least": 5.0, "greatest": 7.0},
    ),
    _claim(
        "F8a",
        "480 ms, queue 20000, ssthresh infinite, limited slow-start, no loss, 100..1800 s",
        "all are identical (footnote: H-TCP falls somewhat behind beyond 1200 s): efficiency .2 at 100 s to "
        "just under .9 at 1800 s",
        f"At each length all are within {short(bounds.ALIKE_EFFICIENCY)} of each other (H-TCP only up to "
        f"{HTCP_ALIKE_UP_TO_S} s); the mean is {short(bounds.FIRST_EFFICIENCY[0])} to "
        f"{short(bounds.FIRST_EFFICIENCY[1])} at 100 s and {short(bounds.LAST_EFFICIENCY[0])} to "
        f"{short(bounds.LAST_EFFICIENCY[1])} at 1800 s (numbers chosen here).",
        ("F8a",),
        rules.slow_start_alone,
        estimator="Mean over repeats of the throughput up to that length, divided by the capacity.",
        values={"efficiency_100": 0.2, "efficiency_1800": 0.9},
    ),
    _claim(
        "F8b",
        "the same, ssthresh 2",
        "the algorithms separate",
        "At the greatest length the greatest and the least efficiency differ by at least "
        f"{short(bounds.SEPARATE_EFFICIENCY)}, and Reno's is the lowest (numbers chosen here).",
        ("F8b",),
        rules.without_slow_start,
        estimator="Mean over repeats of the throughput up to that length, divided by the capacity.",
    ),
)
