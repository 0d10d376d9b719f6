"""The claims of the YeAH paper, as data: written down, with their rules, before anything was measured.

The paper has figures without numbers, and words. Where it gives words and no number, the number in the rule
is chosen here and the rule says so.
"""

from __future__ import annotations

from longfat.suites.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat.suites.kit.suite import Data
from longfat.suites.yeah2007 import rules
from longfat.suites.yeah2007.settings import (
    COMMON_SETTINGS,
    FIRST_RTT_MS,
    FRIENDLY_RTT_MS,
    JOIN_S,
    JOINED_RTT_MS,
    JOINED_S,
    LOSS,
    LOSSES_RTT_MS,
    PAPER,
    QUEUES_RTT_MS,
    TABLE_I,
)

WHOLE_RUN = "Mean over repeats, over the whole run, from the later flow's start (within a second)."

_claim = Paper[Data]("YEAH", PAPER, COMMON_SETTINGS, WHOLE_RUN).claim


CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "F1",
        "YeAH joined by YeAH; YeAH joined by Reno",
        "steep convergence; YeAH yields until cwnd < count_reno, then shares as Reno",
        "With YeAH: 80 % of the first flow's rate at most 60 s after the start (median), ratio of the "
        "later half at least .8. With Reno: YeAH's cwnd goes down to at most .75 of its mean in the 30 s "
        "before; its losses in the later half leave .4 to .6 on average, as Reno's do; ratio of the later "
        "half at least .5 (numbers chosen here).",
        ("F1",),
        rules.joined,
        estimator="Mean over repeats; later half of the time both run; cwnd sampled every half second.",
        settings=(
            Setting("RTT", f"{JOINED_RTT_MS} ms", CHOSEN_HERE + ": Fig. 1 names none; as Fig. 6"),
            Setting(
                "second flow", f"starts at {JOIN_S:g} s of {JOINED_S:g} s", "IV (600 s); start " + CHOSEN_HERE
            ),
        ),
    ),
    _claim(
        "F3",
        "two like flows, RTT 15..480 ms",
        "mean queue / buffer: YeAH lowest at every RTT; Reno high for 15..120 ms; Africa and Compound "
        "near Reno; HSTCP and CUBIC above Reno; H-TCP nearly constant; all fill the link up to 120 ms; "
        "queue deviation / mean between 1 and 2",
        "At each RTT YeAH's queue below all others'. At each RTT up to 120 ms: Reno's at least .25 of the "
        "buffer, Africa's and Compound's within a factor 1.5 of Reno's, HSTCP's and CUBIC's above Reno's; "
        "every algorithm uses at least 95 % of the link. H-TCP's greatest over least at most 2. Deviation "
        "over mean of each algorithm between 1 and 2 at every RTT (numbers but the last chosen here).",
        ("F3",),
        rules.queues,
        estimator=WHOLE_RUN + " Queue from samples at 100 Hz, over the buffer.",
        note="A deviation beyond the mean is possible only for a queue that is empty for much of the time.",
    ),
    _claim(
        "T1",
        "loss probability at 15 / 60 / 240 ms",
        "Reno 5.77e-6 / 5.07e-6 / 9.40e-7; YeAH none / none / none; Compound 4.01e-6 / 1.08e-6 / 7.53e-7; "
        "H-TCP 3.75e-5 / 1.42e-4 / 3.35e-4; Africa 2.67e-6 / 1.84e-6 / 1.17e-6; CUBIC 2.61e-5 / 1.85e-5 / "
        "2.97e-5; HSTCP 6.06e-5 / 2.93e-5 / 4.12e-6",
        "YeAH: no packet dropped at any RTT; each other value within a factor 3 of the printed one "
        "(chosen here).",
        ("T1",),
        rules.table_i,
        estimator="Mean over repeats of packets that the buffer dropped over those that came to it.",
        values={
            f"{name} at {rtt} ms": 0.0 if value is None else value
            for name, row in TABLE_I.items()
            for rtt, value in row.items()
        },
    ),
    _claim(
        "F4",
        f"random loss {LOSS:g}, RTT 15..480 ms",
        "YeAH fills the link at every RTT; Africa and Compound lose more than the other new protocols; "
        "Reno worst",
        "At each RTT YeAH uses at least 95 % of what it uses without loss (limited slow-start bounds that "
        "on long paths). At each RTT above 120 ms Africa and Compound each below H-TCP, CUBIC, HSTCP and "
        "YeAH, and Reno below all (95 % chosen here).",
        ("F4", "F3"),
        rules.lossy_rtts,
    ),
    _claim(
        "F5",
        f"RTT {LOSSES_RTT_MS} ms, random loss 1e-8..1e-4",
        "Reno worst, YeAH best until loss is very high",
        "At each loss up to 1e-5: Reno within 1 % of the lowest, YeAH within 1 % of the highest "
        "utilization; at 1e-4 YeAH at most half of what it uses at the least loss (numbers chosen here).",
        ("F5",),
        rules.over_losses,
    ),
    _claim(
        "F6",
        f"RTT {QUEUES_RTT_MS} ms (BDP 3333), queue varied",
        "YeAH's utilisation does not fall with small queues and its normalised queue falls as the queue "
        "grows; loss-based ones lose goodput at small queues, Reno below a BDP",
        "YeAH: at each smaller buffer at least 95 % of its utilization at one BDP; its queue over the "
        "buffer falls from each buffer to the next larger one. Every other algorithm: queue over buffer "
        "greater at the largest than at the smallest. Reno, HSTCP, CUBIC, H-TCP: at the smallest buffer "
        "at most 90 % of their utilization at one BDP. Reno: at most .98 at each buffer below a BDP "
        "(numbers chosen here).",
        ("F6",),
        rules.over_queues,
        estimator=WHOLE_RUN + " Queue from samples at 100 Hz, over the buffer.",
    ),
    _claim(
        "F7",
        f"RTT1 {FIRST_RTT_MS} ms, RTT2/RTT1 varied, queue = BDP",
        "at ratio 1 all fair but CUBIC slightly off; above, only H-TCP and YeAH stay fair (Jain)",
        "At ratio 1 every algorithm but CUBIC at least .95, CUBIC the lowest. Above: H-TCP and YeAH at "
        "least .9 at each ratio, the others below .9 at the greatest (numbers chosen here).",
        ("F7",),
        rules.over_ratios,
        estimator="Mean over repeats of Jain's index of throughputs over the whole run.",
    ),
    _claim(
        "FR",
        "n Reno flows against one other",
        "fair-to-Reno ratio 5..7 at n = 1 for loss-based, towards 1 as n grows; ~1 for Africa, Compound, "
        "YeAH at every n",
        "HSTCP, CUBIC, H-TCP: 4 to 8.4 at n = 1 (5 to 7, give or take a fifth); at the greatest n nearer "
        "to 1, and at most 2. Africa, Compound, YeAH: .7 to 1.4 at every n (numbers chosen here).",
        ("FR",),
        rules.fair_to_reno,
        estimator="Goodput of the n Reno flows beside Reno over that beside the other, means over repeats.",
        settings=(
            Setting("RTT", f"{FRIENDLY_RTT_MS} ms", CHOSEN_HERE + ": V-D names none; as Fig. 6"),
            Setting("n", "1, 2, 4, 8, 16", CHOSEN_HERE),
        ),
        values={"least": 5.0, "greatest": 7.0},
    ),
    _claim(
        "F8a",
        "480 ms, queue 20000, ssthresh infinite, limited slow-start, no loss, 100..1800 s",
        "all identical (footnote: H-TCP falls somewhat behind beyond 1200 s): efficiency .2 at 100 s to "
        "just under .9 at 1800 s",
        "At each length all within .02 of each other (H-TCP up to 1200 s only); mean .15 to .25 at 100 s, "
        ".85 to .9 at 1800 s (numbers chosen here).",
        ("F8a",),
        rules.slow_start_alone,
        estimator="Mean over repeats of the throughput of the first so many seconds over the capacity.",
        values={"efficiency_100": 0.2, "efficiency_1800": 0.9},
    ),
    _claim(
        "F8b",
        "the same, ssthresh 2",
        "the algorithms separate",
        "At the greatest length: greatest less least efficiency at least .2, Reno's the lowest (numbers "
        "chosen here).",
        ("F8b",),
        rules.without_slow_start,
        estimator="Mean over repeats of the throughput of the first so many seconds over the capacity.",
    ),
)
