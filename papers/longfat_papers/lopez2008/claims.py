"""The claims of the thesis as data, written down with their rules before anything was measured.

Where the thesis gives words, or a number was read from a figure, the tolerance is chosen here, and the rule
says so. The claims 2a, 2b and 2f are in the suite `theory`.
"""

from __future__ import annotations

from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import part, percent, short
from longfat_papers.lopez2008 import ack_rules, bounds, rules
from longfat_papers.lopez2008 import friendly_rules as friendly
from longfat_papers.lopez2008.networks import (
    BEGIN_S,
    EARLY_S,
    LATE_S,
    MERGE_S,
    NETWORK_SETTINGS,
    PEERED_S,
)
from longfat_papers.lopez2008.settings import (
    ACKS_FALLS_S,
    ACKS_SETTINGS,
    AFTER_FALL_S,
    COMMON_SETTINGS,
    FORMULA_FROM_S,
    FRIENDLY_MBPS,
    FRIENDLY_SETTINGS,
    HARD_S,
    HARDER_S,
    INEFFICIENT_S,
    NEVER_FROM_S,
    PAPER,
    SECOND_FALL_S,
    SETTLE_S,
    SHORT_SPAN_S,
    SILENCE_FROM_S,
    SINE_SETTINGS,
    STAIRS_SETTINGS,
    TABLE_5_1,
    TAKEN_OVER_S,
    THREE_LEFT_MBPS,
)


def _near(published: float, digits: int | None = 2) -> str:
    """Writes the bounds around a number of the thesis; a share is at most 1."""
    least, most = published - bounds.NEAR, min(published + bounds.NEAR, 1.0)
    return f"{short(least, digits)} to {short(most, digits)}"


def _printed(case: tuple[str, float], rates_mbps: tuple[float, float]) -> dict[str, float]:
    """Returns the numbers of Table 5.1 and the range of the mean rates."""
    names = (*(f"lost_{at:g}_s" for at in ACKS_FALLS_S), "least_mbps", "greatest_mbps")
    return dict(zip(names, map(float, (*TABLE_5_1[case], *rates_mbps)), strict=True))


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"


SEEN = "Rates are IP bytes that arrive; means over repeats."

_claim = Paper[Data]("LOP", PAPER, COMMON_SETTINGS, SEEN).claim


STAGED_SETTINGS = (
    Setting(
        "bottleneck", "100 Mbit/s, 80 ms, one BDP", CHOSEN_HERE + ": the thesis takes the figures of others"
    ),
    Setting("flows", "four, 15 s apart, 75 s each", "2.5.3.2; for XCP too " + CHOSEN_HERE),
)

STAGED_RULE = (
    f"From {SETTLE_S:g} s after each start and stop until the next, Jain's index is at least "
    f"{short(bounds.FAIR)} and at least {short(bounds.USED)} of the link is used; no packet is dropped in "
    "the whole run (chosen here)."
)
_XCP_FOLLOWS = f"XCP below {short(bounds.EFFICIENT)} and no packet dropped"
_SECOND_HALF = f"Second half of {MERGE_S - BEGIN_S:g} s"
_AROUND = f"({short(bounds.NEAR)} around the number, XCP's {short(bounds.EFFICIENT)}: chosen here)"

CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "2c",
        "VCP, 40 ms flow at 45 Mbit/s joined by a 50 ms flow",
        "up to 100 s to fairness",
        f"The first flow has at least {bounds.FIRST_VCP_MBPS:g} Mbit/s before the second starts; Jain's "
        f"index over {SHORT_SPAN_S:g} s first reaches {short(bounds.FAIR)} between {bounds.VCP_FAIR_S[0]:g} "
        f"and {bounds.VCP_FAIR_S[1]:g} s after that start, median over repeats (chosen here).",
        ("vcp",),
        rules.joined_vcp,
        settings=(
            Setting("bottleneck", "45 Mbit/s, one BDP", CHOSEN_HERE + ": the first flow has 45 Mbit/s"),
            Setting("second flow", "at 50 s of 250 s", CHOSEN_HERE),
        ),
        values={"convergence_s": 100.0},
    ),
    _claim(
        "2d",
        "4 JetMax flows, 15 s apart, 75 s each",
        "fair, full, no loss",
        STAGED_RULE,
        ("jetmax",),
        rules.staged("jetmax"),
        settings=STAGED_SETTINGS,
    ),
    _claim(
        "2e",
        "4 XCP flows",
        "fair, full, no loss",
        STAGED_RULE,
        ("xcp",),
        rules.staged("xcp"),
        settings=STAGED_SETTINGS,
    ),
    _claim(
        "3a",
        "sine capacity 1 Gbit/s..300 Mbit/s, period 32 s, queue 12500 packets, RTT 100 ms, s 16..48",
        f"NewReno inefficiency {short(bounds.NEWRENO_NEAR, 2)}; HSTCP below {short(bounds.EFFICIENT)}; XCP "
        "follows with no drop",
        f"NewReno {_near(bounds.NEWRENO_NEAR)}; HSTCP below {short(bounds.EFFICIENT)}; {_XCP_FOLLOWS} in the "
        f"whole run {_AROUND}.",
        ("sine-100",),
        rules.sine_near,
        settings=SINE_SETTINGS,
        estimator=(
            "Inefficiency (3.5): 1 minus the ratio of what arrived to the capacity, both over "
            f"{_range(INEFFICIENT_S)} s; means over repeats."
        ),
        values={"newreno": bounds.NEWRENO_NEAR, "hstcp": bounds.EFFICIENT},
    ),
    _claim(
        "3b",
        "the same at 200 ms",
        f"NewReno never recovers; HSTCP {short(bounds.HSTCP_FAR, 2)}; XCP follows with no drop",
        f"NewReno below {bounds.NEVER_MBPS:g} Mbit/s over every {SHORT_SPAN_S:g} s from {NEVER_FROM_S:g} s "
        f"on (the text's number); HSTCP {_near(bounds.HSTCP_FAR)}; {_XCP_FOLLOWS} {_AROUND}.",
        ("sine-200",),
        rules.sine_far,
        settings=SINE_SETTINGS,
        estimator=f"Inefficiency (3.5) over {_range(INEFFICIENT_S)} s; means over repeats.",
        values={"hstcp": bounds.HSTCP_FAR},
    ),
    _claim(
        "3c",
        "step capacity by 50 Mbit/s on-off UDP flows, changes every 10 s, 1 Gbit/s..300 Mbit/s, 100 ms",
        f"HSTCP inefficiency below {short(bounds.EFFICIENT)} (s 120..150); XCP no drop",
        f"HSTCP below {short(bounds.EFFICIENT)}; no packet is dropped in XCP's whole run, datagrams "
        "included.",
        ("steps-100",),
        rules.steps_near,
        settings=STAIRS_SETTINGS,
        estimator=f"Inefficiency (3.5) over {_range(HARD_S)} s of what the datagrams leave; means over "
        "repeats.",
        values={"hstcp": bounds.EFFICIENT},
    ),
    _claim(
        "3d",
        "the same at 200 ms",
        f"HSTCP {short(bounds.HSTCP_STEPS_FAR)} (s 120..170); XCP overshoots at 50, 70, 100, 170, 180 s but "
        "is less sensitive to the longer RTT than HSTCP",
        f"HSTCP {_near(bounds.HSTCP_STEPS_FAR)}; XCP's queue reaches at least {bounds.OVERSHOOT_PACKETS:g} "
        f"packets within {SHORT_SPAN_S:g} s of each of those times; from 100 to 200 ms XCP's inefficiency "
        f"over {_range(HARDER_S)} s grows by less than HSTCP's ({short(bounds.NEAR)}, "
        f"{bounds.OVERSHOOT_PACKETS:g} packets: chosen here).",
        ("steps-200", "steps-100"),
        rules.steps_far,
        settings=STAIRS_SETTINGS,
        estimator=f"Inefficiency (3.5) over {_range(HARDER_S)} s of what the datagrams leave; queue sampled "
        "every 0.1 s.",
        values={"hstcp": bounds.HSTCP_STEPS_FAR},
    ),
    _claim(
        "4a",
        "30 Mbit/s bottleneck, other links 80, 60 s: TCP on drop-tail, XCP on XCP routers, XCP with a "
        "drop-tail bottleneck",
        " / ".join(f"{value:.1f}" for value in bounds.MEGABYTES.values())
        + " MB; the third one unstable with heavy loss",
        f"The MB that arrive are within {percent(bounds.MEGABYTES_FACTOR - 1.0)} % of the first two numbers "
        f"and within a factor {bounds.UNSTABLE_FACTOR:g} of the third; the third case loses at least "
        f"{percent(bounds.UNSTABLE_LOSS)} % of its packets (chosen here).",
        ("bottleneck",),
        rules.unaware_bottleneck,
        settings=NETWORK_SETTINGS[:2],
        values={"tcp_mb": 215.004, "xcp_mb": 223.808, "plain_mb": 52.426},
    ),
    _claim(
        "4b",
        "XCP-i across two non-XCP clouds",
        "performs like the all-XCP path, without loss or timeout",
        f"The rate after {PEERED_S:g} s is within {percent(bounds.SAME_RATE)} % of that on the all-XCP path; "
        f"no repeat has a dropped packet or a timeout ({percent(bounds.SAME_RATE)} %: chosen here).",
        ("peering",),
        rules.peering,
        settings=NETWORK_SETTINGS,
    ),
    _claim(
        "4c",
        "merge, inputs 300 + 100, output 400",
        "280 and 100 Mbit/s, independent virtual routers",
        f"{_SECOND_HALF}: i {_range(bounds.MERGE_I_MBPS)}, j {_range(bounds.MERGE_J_MBPS)} Mbit/s (5 % "
        "below the numbers, up to the clouds' rates: chosen here).",
        ("merge",),
        rules.merge,
        settings=NETWORK_SETTINGS,
        values={"i_mbps": 280.0, "j_mbps": 100.0},
    ),
    _claim(
        "4d",
        "merge, inputs above the output, j0 and j1 behind 100",
        "j0 = j1 = 50; k slightly above i",
        f"{_SECOND_HALF}: j0 and j1 {_range(bounds.BEHIND_100_MBPS)} Mbit/s each; k "
        f"{_range(bounds.K_OVER_I)} times i (chosen here).",
        ("merge-above",),
        rules.merge_above,
        settings=NETWORK_SETTINGS,
        values={"j0_mbps": 50.0, "j1_mbps": 50.0},
    ),
    _claim(
        "4e",
        "fork behind 500",
        "250 each",
        f"{_SECOND_HALF}: each {_range(bounds.FORK_MBPS)} Mbit/s (chosen here).",
        ("fork",),
        rules.fork,
        settings=NETWORK_SETTINGS,
        values={"mbps": 250.0},
    ),
    _claim(
        "4f",
        "estimation error 5..20 %, new estimate every 2 s, 20 s",
        "TCP {:g} and {:g} MB; XCP-i {:g} and {:g} MB; ".format(*bounds.ERRORS_MEGABYTES.values())
        + "underestimate by 20 % wastes 20 of 100 Mbit/s; the error "
        "shrinks with the available bandwidth",
        f"Each MB is within {percent(bounds.ERRORS_FACTOR - 1.0)} %; j is never below "
        f"{bounds.LEAST_J_MBPS:g} Mbit/s over a second, from "
        f"{'one second' if EARLY_S[0] == 1.0 else f'{EARLY_S[0]:g} s'} after its start; j is nearer "
        f"to 100 Mbit/s in the last {LATE_S:g} s than from {_range(EARLY_S)} s after its start (chosen "
        "here).",
        ("errors",),
        rules.errors,
        settings=(
            *NETWORK_SETTINGS[:1],
            Setting("queues of the clouds", "1200 and 3500 packets", "4.6.2"),
            *NETWORK_SETTINGS[2:3],
            Setting("estimate", "off by 5 to 20 % either way, a new one every 2 s", "4.6.2"),
            Setting("TCP", "NewReno without virtual routers", "4.6.2; " + CHOSEN_HERE),
        ),
        values={
            f"{'tcp' if protocol == 'newreno' else protocol}_{name}_mb": value
            for (protocol, name), value in bounds.ERRORS_MEGABYTES.items()
        },
    ),
    _claim(
        "5a",
        "10 XCP flows, 1 Gbit/s, delay 75 ms one way, 0..5 UDP flows of 50 Mbit/s, no ACK loss",
        "packets lost at {:g} s / {:g} s: {} / {}; mean rates {:g}..{:g} Mbit/s".format(
            *ACKS_FALLS_S, *TABLE_5_1["xcp", 0.0], *bounds.RATES_MBPS["xcp", 0.0]
        ),
        f"The packets lost within {AFTER_FALL_S:g} s of each fall are within a factor {bounds.LOST_FACTOR:g} "
        "of the number; the least and the greatest mean rate of a flow are within the range, widened by "
        f"{percent(bounds.WIDER)} % on both sides (chosen here).",
        ("acks",),
        ack_rules.no_ack_loss,
        settings=ACKS_SETTINGS,
        values=_printed(("xcp", 0.0), bounds.RATES_MBPS["xcp", 0.0]),
    ),
    _claim(
        "5b",
        "with 10 % ACK loss",
        "{} / {}; one flow up to 550, others idle up to 8 s; 81..98 Mbit/s; ~15 s to stabilise".format(
            *TABLE_5_1["xcp", 0.1]
        ),
        f"The lost packets are within a factor {bounds.LOST_FACTOR:g}. In the {TAKEN_OVER_S:g} s after "
        f"{SECOND_FALL_S:g} s one flow reaches at least {bounds.TAKES_OVER_MBPS:g} Mbit/s over a second, one "
        f"is silent for at least {bounds.SILENT_S:g} s, Jain's index over a second stays at "
        f"{short(bounds.FAIR)} or above after {_range(bounds.EVEN_AGAIN_S)} s. Mean rates spread more "
        "than without loss of ACKs (chosen here).",
        ("acks",),
        ack_rules.ack_loss,
        settings=ACKS_SETTINGS,
        values=_printed(("xcp", 0.1), (81.0, 98.0)),
    ),
    _claim(
        "5c",
        "XCP-r with 10 % ACK loss",
        "{} / {}; no flow idle; {:g}..{:g} Mbit/s".format(
            *TABLE_5_1["xcp-r", 0.1], *bounds.RATES_MBPS["xcp-r", 0.1]
        ),
        f"The lost packets are within a factor {bounds.LOST_FACTOR:g} and below XCP's with the same loss of "
        "ACKs. No flow is silent for "
        f"{'a second' if bounds.NOT_SILENT_S == 1.0 else f'{bounds.NOT_SILENT_S:g} s'} from "
        f"{SILENCE_FROM_S:g} s on. The least and the greatest mean rate are within the range, widened by "
        f"{percent(bounds.WIDER)} % on both sides (chosen here).",
        ("acks",),
        ack_rules.mirrored,
        settings=ACKS_SETTINGS,
        values=_printed(("xcp-r", 0.1), bounds.RATES_MBPS["xcp-r", 0.1]),
    ),
    _claim(
        "5d",
        "3 flows, 200..50 Mbit/s, 50 ms one way, 30 % ACK loss",
        "XCP times out, XCP-r does not",
        f"XCP has at least {'one timeout' if bounds.TIMEOUTS == 1.0 else f'{bounds.TIMEOUTS:g} timeouts'}, "
        "mean over repeats; XCP-r has none in any repeat.",
        ("three",),
        ack_rules.three,
        settings=(
            ACKS_SETTINGS[0],
            Setting(
                "steps",
                "left: " + ", ".join(f"{mbps} from {at} s" for at, mbps in THREE_LEFT_MBPS),
                CHOSEN_HERE + ": Figs. 5.8 to 5.10 have no numbers",
            ),
            ACKS_SETTINGS[2],
        ),
    ),
    _claim(
        "5e",
        "one XCP flow, constant capacity, 30 % ACK loss (5.1.1)",
        f"fills {percent(bounds.FILLED[0])} % after one RTT, {percent(bounds.FILLED[1])} % after two",
        "The share of the capacity that arrives in the first and the second RTT after that of the first data "
        f"is {_near(bounds.FILLED[0], None)} and {_near(bounds.FILLED[1], None)}; the first is "
        f"{_near(bounds.FILLED[0], None)} of that without loss; after ten RTTs the share is at least "
        f"{short(bounds.FULL)} (chosen here).",
        ("one",),
        ack_rules.one,
        settings=(
            Setting(
                "bottleneck", "1 Gbit/s, 100 ms, 12500 packets", "5.1.1 has 1 Gbit/s; the rest " + CHOSEN_HERE
            ),
        ),
        values={"after_one": bounds.FILLED[0], "after_two": bounds.FILLED[1]},
    ),
    _claim(
        "5f",
        "first XCP-r formula against the mirror window (5.3), RTTs that differ from the router's mean",
        "the first gives a wrong window",
        f"From {FORMULA_FROM_S:g} s on each flow's rate is within {percent(bounds.MIRROR_WITHIN)} % of XCP's "
        f"with the mirror; with the first formula it is off by at least {percent(bounds.FIRST_OFF)} %, or "
        "packets are dropped (chosen here).",
        ("formula",),
        ack_rules.formula,
        settings=(
            Setting("flows", "two, 40 and 160 ms, 100 Mbit/s, 1000 packets, no loss of ACKs", CHOSEN_HERE),
        ),
    ),
    _claim(
        "6a",
        "1 XCP joined by 2 TCP at 10 s, 1 Gbit/s, XCP router without the mechanism",
        "XCP falls to ~30 Mbit/s by 15 s and to 1 packet after 19 s",
        f"XCP's rate from 15 to 16 s is at most {bounds.FALLEN_MBPS:g} Mbit/s; its mean cwnd from 19 to 60 s "
        f"is at most {bounds.LEFT_SEGMENTS:g} segments (chosen here).",
        ("starved",),
        friendly.starved,
        settings=(
            FRIENDLY_SETTINGS[0],
            Setting(
                "RTT", "100 ms; 20 ms is also reported", CHOSEN_HERE + ": 6.2 sizes its queues for 100 ms"
            ),
        ),
        values={"mbps_at_15": 30.0, "cwnd": 1.0},
    ),
    _claim(
        "6b",
        "the same with the friendliness mechanism, 20 and 100 ms",
        "XCP keeps a share (target 341 of 1024); at 100 ms TCP recovers slowly and XCP stays above its share",
        f"Over every 10 s from 30 to 120 s: at 20 ms XCP has at least {part(bounds.KEPT_SHARE)} of its "
        f"target (a third), TCP at most {short(bounds.TCP_SHARE)} times its own; at 100 ms XCP is never "
        "below its target, and TCP's mean is below its own (chosen here).",
        ("one-two",),
        friendly.one_and_two,
        settings=FRIENDLY_SETTINGS,
        values={"target_share": 1.0 / 3.0},
    ),
    _claim(
        "6c",
        "3 XCP joining 10 TCP, 20 and 100 ms",
        "best near 260 / 740 (20 ms, 60..70 s) and 350 / 650 (100 ms, 50..60 s); worst at 20..30 s: 200 / "
        "800 and 400 / 600 against 93 / 931",
        f"Each of the eight rates is within a factor {bounds.FIGURE_FACTOR:g} (chosen here).",
        ("ten-tcp",),
        friendly.ten_tcp,
        settings=FRIENDLY_SETTINGS,
        estimator="Averages over 10 s; means over repeats. XCP joins at 10, 30, 50 s, leaves at 70, 90, "
        "110 s.",
    ),
    _claim(
        "6d",
        "3 TCP joining 10 XCP, 20 and 100 ms",
        "near 250 / 750 at 60..70 s (20 ms), worst at 30..50 s: 300 / 700 for 2 TCP against 171 / 853; at "
        "100 ms TCP below its share: 100 / 900 at 60..70 s",
        f"Each of the six rates is within a factor {bounds.FIGURE_FACTOR:g}; at 20 ms two TCP flows are "
        "above their share from 30 to 50 s, at 100 ms three are below theirs from 60 to 70 s (chosen here).",
        ("ten-xcp",),
        friendly.ten_xcp,
        settings=FRIENDLY_SETTINGS,
        estimator="Averages over 10 s; means over repeats. TCP joins at 10, 30, 50 s, leaves at 70, 90, "
        "110 s.",
    ),
    _claim(
        "6e",
        "LOP-6d inspecting half the packets",
        "about the same as inspecting all",
        f"TCP's rates over each 10 s from 10 to 110 s are on average within {bounds.SAME_MBPS:g} Mbit/s, "
        f"{percent(bounds.SAME_MBPS / FRIENDLY_MBPS)} % of the link, of those with all packets inspected, at "
        "both RTTs (chosen here).",
        ("half",),
        friendly.half,
        settings=FRIENDLY_SETTINGS,
        estimator="Averages over 10 s; means over repeats.",
    ),
)
