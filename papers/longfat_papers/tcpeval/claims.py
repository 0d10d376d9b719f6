"""What the draft says about outcomes, and the metrics that it asks for, as data.

Written down with the rules before anything was measured. The draft defines tests and metrics and prints no
result, so most entries report. Four check statements that the draft makes in passing. The rules of EVAL-5.1,
EVAL-6.1 and EVAL-A were changed after a first measurement; their notes say how.
"""

from __future__ import annotations

from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import part, percent
from longfat_papers.tcpeval import bounds, rules
from longfat_papers.tcpeval.settings import (
    BUFFERS_PERCENT,
    DRAFT,
    FAIR_S,
    IMPACT_LOADS,
    IMPACT_MBPS,
    IMPACT_REPEATS,
    LOT_BUFFER_MS,
    RAMP_MBPS,
    RAMP_TIMES,
    RELEASE_S,
    STANDARD_SETTINGS,
    START_SHARE,
    TRAFFIC_SETTINGS,
    TRANSIENT_S,
    WIRELESS,
    WIRELESS_MBPS,
    WORST_POWER,
)

MEAN = "Mean over repeats, from prefill_t + warmup to the end."
NUMBERS = "Numbers chosen here."
REPORTED = "The metrics are reported, without a verdict. For orientation, checks compare with standard TCP: "
BYTES = f"1500 10^{WORST_POWER}"

_claim = Paper[Data]("EVAL", DRAFT, TRAFFIC_SETTINGS, MEAN).claim
_without_traffic = Paper[Data]("EVAL", DRAFT, STANDARD_SETTINGS, MEAN).claim

BASIC_SETTINGS = (
    Setting("links", "rates, delays and buffers of 4.4.1 to 4.4.6", "4.4"),
    Setting("loads", "60, 85 and 110 %, from right to left", "4.2"),
    Setting("times", "those of Tables 2 to 7; shorter in quick mode", "4.4"),
    Setting(
        "wireless LAN",
        f"{WIRELESS.mbps:.3g} Mbit/s down and {WIRELESS.up_mbps:.3g} up, {WIRELESS.buffer} each way; the "
        f"load is that of both together, of {WIRELESS_MBPS:g} Mbit/s",
        "4.4.5 (nominal rate, load); "
        + CHOSEN_HERE
        + ": Longfat has no shared medium, so each direction has the part that its share of the load is; "
        "what one does not use is lost to the other. The draft prints no buffer of the base station; 50 "
        "packets are a BDP of the nominal rate at the mean RTT",
    ),
    Setting(
        "edge links",
        "each connection has one of its own, of the draft's rate",
        CHOSEN_HERE + ": in 4.1 the connections of a side share three (docs/guide/networks.md)",
    ),
)
RAMP_SETTINGS = (
    Setting(
        "link",
        f"{RAMP_MBPS[0]} Mbit/s and {RAMP_MBPS[1] // 1000} Gbit/s, 80 ms of buffer, a central delay of 2 ms, "
        "edge links of 1 Gbit/s",
        "5.2.1",
    ),
    Setting("RTTs", "80 and 80, 120 and 30, 30 and 120 ms", "5.2.1, Table 8"),
    Setting("load", "50 % from right to left", "5.2.1"),
    Setting(
        "times",
        f"the new flow starts at {RAMP_TIMES['full'][10].begin_s:g} and "
        f"{RAMP_TIMES['full'][1000].begin_s:g} s, 600 s before the end; quick: at 60 and 20 s",
        "Table 9, of the three warm-ups at 10 Mbit/s the longest",
    ),
)

CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "4",
        "six links at three loads",
        "prints no value; utilization, drop rate and queueing delay of the central link are asked for (4.5)",
        REPORTED
        + "whether each algorithm drops at most as great a share of the packets at 110 %, link by link. "
        "Delay and utilization are not compared.",
        ("basic",),
        rules.basic_table,
        settings=BASIC_SETTINGS,
        reports=True,
    ),
    _claim(
        "4.4.4",
        "geostationary satellite: 40 Mbit/s down, 4 Mbit/s up",
        "congestion is often on the uplink, although most of the traffic is in the downlink direction",
        "With standard TCP the uplink drops a greater share of its packets than the downlink at each load.",
        ("basic",),
        rules.uplink,
        settings=BASIC_SETTINGS,
        note="It depends on what the uplink is offered. The draft's traces say that; here it was chosen.",
    ),
    _claim(
        "A",
        "data centre, loads below the capacity",
        "prints no value; measures load as the mean number of jobs in an M/G/1 queue with processor sharing, "
        "which is rho / (1 - rho), because TCP aims at processor sharing",
        "The mean number of standard TCP's connections is reported beside the queue's, without a verdict: "
        "the draft does not say that they are equal.",
        ("basic",),
        rules.processor_sharing,
        settings=(
            *BASIC_SETTINGS,
            Setting("link", "the data centre", CHOSEN_HERE + ": the queue has no propagation delay"),
        ),
        estimator="Sum of the durations of completed connections within the measured span over its length.",
        note="A first form of this entry judged whether the two are within a factor 2 (they are not).",
        reports=True,
    ),
    _claim(
        "5.1",
        "access link at 85 %, buffers of 10 to 200 % of the BDP",
        "smaller buffers improve latency, but often at the expense of throughput",
        f"For each algorithm the delay with {min(BUFFERS_PERCENT)} % of the BDP is below that with "
        f"{max(BUFFERS_PERCENT)} %, and for at least {part(bounds.MANY)} of them the throughput is at least "
        f"{percent(bounds.EXPENSE)} % lower. {NUMBERS}",
        ("tradeoff",),
        rules.smaller_buffers,
        settings=(
            Setting("link", "the access link at 85 %, both buffers varied", "5.1.1"),
            BASIC_SETTINGS[-1],
        ),
        note="A first form of the rule asked every algorithm to lose throughput. BBRv3 did not (0.5 %), and "
        "the rule was changed after that, because the draft says often.",
    ),
    _claim(
        "5.2",
        "a new flow without slow-start beside another and a load of 50 %",
        "prints no value; the times until byte 1500 10^n of the new flow are asked for",
        REPORTED + f"whether byte {BYTES} arrives at least as soon on {RAMP_MBPS[0]} Mbit/s.",
        ("ramp-up",),
        rules.ramp_table,
        settings=RAMP_SETTINGS,
        estimator="Time from the new flow's start; mean over three runs.",
        reports=True,
    ),
    _claim(
        "5.2.2",
        "the new flow of EVAL-5.2 without slow-start, and with it",
        "without slow-start is the worst case",
        f"On {RAMP_MBPS[0]} Mbit/s each algorithm's mean time until byte {BYTES} is longer without "
        "slow-start.",
        ("ramp-up",),
        rules.slow_start_off,
        settings=(
            *RAMP_SETTINGS,
            Setting("bytes", BYTES, CHOSEN_HERE + ": seconds on this link, when slow-start is long over"),
        ),
        estimator="Time from the new flow's start; mean over three runs and three pairs of RTTs.",
    ),
    _without_traffic(
        "5.3",
        "one flow on 100 Mbit/s and 100 ms; 75 Mbit/s of datagrams stop, begin, or begin in 30 steps",
        "prints no value; times to 60, 80 and 90 % of the BDP, the greatest growth within an RTT, and "
        "dropped cross traffic are asked for",
        REPORTED + "whether at most as many datagrams are dropped at the increase.",
        ("transients",),
        rules.transient_table,
        settings=(
            Setting("link", "100 Mbit/s, 1024 packets of buffer, 100 ms", "5.3.1, 5.3.2"),
            Setting(
                "transient", f"at {TRANSIENT_S:g} s", CHOSEN_HERE + ": slow-start is over by then (5.3.1)"
            ),
            Setting("cross traffic", "datagrams at a constant rate; no TCP", "5.3.1"),
        ),
        estimator="Window in segments against a BDP of 833 packets; dropped until 100 s after the transient. "
        f"A window that is not reached {RELEASE_S:g} s after the release has no time (a limit chosen here).",
        reports=True,
    ),
    _claim(
        "6.1",
        "half of the traffic with the new algorithm, half with standard TCP, against a baseline without it",
        "many new proposals gain throughput at the expense of standard TCP, and by a higher utilization",
        f"At {max(IMPACT_LOADS)} %, in the geometric mean over the rates, at least {part(bounds.MANY)} of "
        f"the algorithms have G at least {percent(bounds.MARGIN)} % above 1 and L at least "
        f"{percent(bounds.MARGIN)} % below 1, and at least {part(bounds.MANY)} have a utilization at least "
        f"{percent(bounds.MARGIN)} % above the baseline's; each by at least {bounds.ERRORS:g} standard "
        f"errors over repeats. {NUMBERS}",
        ("impact",),
        rules.gain_and_loss,
        settings=(
            Setting(
                "link",
                f"{', '.join(str(mbps) for mbps in IMPACT_MBPS['full'])} Mbit/s, 80 ms of buffer, a "
                "central delay of 2 ms, edge links of 1 Gbit/s; quick: without the last rate",
                "6.1.1 (10 Mbit/s and 1 Gbit/s); buffer, delay and edge links "
                + CHOSEN_HERE
                + ", as in 5.2.1; 100 Mbit/s because two copies of the traces, at the scales "
                "of Table 10, are about 50 and 100 % of it by the scales of Table 3",
            ),
            Setting("loads", "50 and 100 %, half from each camp", "6.1.2"),
            Setting(
                "camps",
                "the same starts and sizes in both experiments; the two camps are alike only in distribution",
                "6.1.2 has copies of the same flows in both camps; " + CHOSEN_HERE,
            ),
        ),
        estimator=f"Ratio to the baseline, repeat by repeat, from right to left; {IMPACT_REPEATS} repeats.",
        note="A first form of the rule took any rate and load, asked for no margin in utilization and had "
        "one seed in quick mode; noise alone could pass its second check. Changed after a measurement.",
    ),
    _claim(
        "6.2",
        "two flows of one algorithm with RTTs of 10 to 160 ms beside a load of 50 %",
        "prints no value; the ratio of the throughputs and the drop rate are asked for",
        REPORTED
        + f"whether on {RAMP_MBPS[0]} Mbit/s, in the mean over RTTs and buffers, the ratio with like "
        "RTTs is at least as great, and the advantage of the shorter RTT at most as great.",
        ("fairness",),
        rules.fairness_table,
        settings=(
            Setting("link", "10 Mbit/s and 1 Gbit/s, buffers of 25 to 200 % of the BDP at 100 ms", "6.2.1"),
            Setting(
                "start",
                f"like RTTs: both within the first {percent(START_SHARE)} % of the run; otherwise the flow "
                "of 160 ms in the first half of that, the other in the second",
                "6.2.2; " + CHOSEN_HERE,
            ),
            Setting(
                "duration", f"{FAIR_S['full'][10]:g} s", "6.2.1: as 5.2; " + CHOSEN_HERE + " for its start"
            ),
        ),
        estimator="Throughput from the later start to the end; geometric mean of ratios of unlike RTTs.",
        reports=True,
    ),
    _claim(
        "6.3",
        "three bottlenecks of 100 Mbit/s in a row, all RTTs 60 ms",
        "prints no value; throughput over one bottleneck over that over three, and drops, are asked for",
        REPORTED
        + "whether the largest transfers over one bottleneck have at most as great an advantage at 100 %.",
        ("lot",),
        rules.lot_table,
        settings=(
            Setting("topology", "Figure 10", "6.3.1"),
            Setting("buffers", f"{LOT_BUFFER_MS:g} ms", CHOSEN_HERE + ": the BDP; the draft prints none"),
            Setting("loads", "30, 40 and 50 % from each source", "6.3.1"),
        ),
        reports=True,
    ),
)
