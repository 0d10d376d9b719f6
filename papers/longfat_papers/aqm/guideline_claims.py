"""The tests of RFC 7928 that the thesis has no comparison for, as data.

Written down with their rules before anything was measured. The RFC prints no results, so all report; their
checks compare with drop-tail and make no verdict. AQM-11 judged a projection at first, see its note.
"""

from __future__ import annotations

from longfat_papers.aqm import guideline_rules
from longfat_papers.aqm.claims import MEAN
from longfat_papers.aqm.guideline_settings import (
    BURST_MBPS,
    CATEGORIES_MS,
    CATEGORY_MS,
    CBR_MBPS,
    CONNECTIONS,
    FRAME_RATE,
    FRAMES_MBPS,
    LEVELS,
    MIX_BULK,
    MIX_PAGES,
    OBJECT_KB,
    OBJECTS,
    PAGE_GAP_S,
    PAGE_WINDOW,
    SEGMENT_MBPS,
    SEGMENT_S,
    SHORT_PACKETS,
    SHORT_WINDOWS,
    UPSTREAM_MBPS,
    VOICE_BYTES,
    VOICE_KBPS,
    flows_of,
)
from longfat_papers.aqm.settings import BUFFER_PACKETS, COMMON_SETTINGS, GUIDELINES, RATE_MBPS
from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data

REPORTED = "The values are reported, without a verdict. For orientation, checks tell "
DRAFT_13 = "draft-ietf-aqm-eval-guidelines-13, the last draft of the RFC"
PAGES = (
    Setting(
        "web page",
        f"{OBJECTS} objects of {OBJECT_KB} kB over {CONNECTIONS} connections at once, initial window of "
        f"{PAGE_WINDOW}",
        f"7.2 ({DRAFT_13}), which has objects of at least 1 kB; their size, and that a connection sends "
        "its objects without a pause: " + CHOSEN_HERE,
    ),
    Setting("datagrams", f"{CBR_MBPS:g} Mbit/s", "7.2; rate " + CHOSEN_HERE),
)
TIMES = (
    "Mean over the pages that ended, from the start to the last byte of the last connection; otherwise the "
    "mean over the window."
)

_claim = Paper[Data]("AQM", GUIDELINES, COMMON_SETTINGS, MEAN).claim

CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "9",
        "one standard, aggressive or unresponsive sender, and a standard one beside datagrams, LEDBAT or a "
        "short flow",
        "prints no value; goodput against queueing delay is asked for (5.1 to 5.4)",
        REPORTED + "whether the delay is below drop-tail's beside each sender.",
        ("senders",),
        guideline_rules.senders,
        settings=(
            Setting(
                "senders", "one flow each: TCP SACK, CUBIC, datagrams, LEDBAT", f"5.1 to 5.4 ({DRAFT_13})"
            ),
            Setting(
                "datagrams",
                "1.5 times the capacity alone, .75 beside TCP",
                "5.3 (more than the capacity; between half of it and all of it); " + CHOSEN_HERE,
            ),
            Setting(
                "short flow",
                f"{SHORT_PACKETS} packets, initial window of {SHORT_WINDOWS[0]} or {SHORT_WINDOWS[1]}, "
                "starts at 30 to 40 s",
                "5.1.2 (more than 10 and fewer than 100 packets, in the steady state of the long flow); "
                + CHOSEN_HERE,
            ),
            Setting(
                "LEDBAT",
                "target 5 ms, gain 1",
                "5.4 has a gain of 10; the model takes at most 1 (docs/models/ledbat.md)",
            ),
        ),
        reports=True,
    ),
    _claim(
        "10",
        f"a flow with an RTT of {CATEGORY_MS} ms (I) beside one of {CATEGORIES_MS['full'][0]} to "
        f"{CATEGORIES_MS['full'][-1]} ms (II)",
        "prints no value; the ratio of the goodputs and the drop rates are asked for (6.3)",
        REPORTED + "whether the factor between the two goodputs is at most drop-tail's at each RTT.",
        ("categories",),
        guideline_rules.categories,
        settings=(Setting("RTTs", "100 ms, and 5 to 560 ms", f"6.2 ({DRAFT_13}); points " + CHOSEN_HERE),),
        reports=True,
    ),
    _claim(
        "11",
        "as many like flows as define mild, medium and heavy congestion",
        "prints no result; projects drop-tail's drop rate as 0.76 N^2 / S^2, around .1, .5 and 1 %, to "
        "define the levels (8.2.1 to 8.2.4)",
        "The values are reported, without a verdict: the RFC uses the loss rate to define the levels and "
        "does not stipulate that a level estimates the loss rate in other circumstances (8.2.1). The "
        "projection stands beside drop-tail's drop ratio.",
        ("levels",),
        guideline_rules.levels,
        settings=(
            Setting(
                "flows",
                ", ".join(str(flows_of(level)) for level in LEVELS)
                + ": .036, .081 and .114 for each packet of "
                "BDP and buffer",
                f"8.2.2 to 8.2.4 ({DRAFT_13})",
            ),
        ),
        note="A first form of this entry judged whether the projection holds within a factor 2; it does not.",
        reports=True,
    ),
    _claim(
        "12",
        "web pages and datagrams (I), with a long flow (II), with bursty video (III), with both (IV)",
        "prints no value; delay, goodput and completion times are asked for (7.2)",
        REPORTED + "whether a page takes less time than behind drop-tail in each case.",
        ("bursts",),
        guideline_rules.bursts,
        settings=(
            *PAGES,
            Setting("gap", f"a page every {PAGE_GAP_S:g} s", CHOSEN_HERE + ": a page ends before the next"),
            Setting(
                "video",
                f"{FRAME_RATE} frames/s, {FRAMES_MBPS:g} Mbit/s, each frame at {BURST_MBPS:g} Mbit/s, as "
                "datagrams",
                "7.2 leaves it to the tester; " + CHOSEN_HERE,
            ),
        ),
        estimator=TIMES,
        reports=True,
    ),
    _claim(
        "13",
        f"a call, {MIX_PAGES} web pages, datagrams, a video and {MIX_BULK} long flows",
        "prints no value; delay, goodput and completion times of each class are asked for (9.1)",
        REPORTED + "whether a page takes less time than behind drop-tail.",
        ("mix",),
        guideline_rules.mix,
        settings=(
            Setting("mix", "one of each, 6 pages and 5 long flows", f"9.1 ({DRAFT_13})"),
            *PAGES,
            Setting(
                "call",
                f"{VOICE_KBPS:g} kbit/s each way in packets with {VOICE_BYTES} bytes of payload",
                CHOSEN_HERE,
            ),
            Setting(
                "video",
                f"a segment of {SEGMENT_S:g} s every {SEGMENT_S:g} s, {SEGMENT_MBPS:g} Mbit/s, each over its "
                "own connection",
                CHOSEN_HERE + ": Longfat has no video that adapts its rate, which 9.1 asks for",
            ),
        ),
        estimator=TIMES,
        reports=True,
    ),
    _claim(
        "14",
        "mild congestion in both directions, the queue under test in both",
        "prints no value; goodput and delay of each direction are asked for, and whether a queue makes "
        "losses of ACKs more likely (9.2)",
        REPORTED + "whether at most as great a share of the ACKs is dropped as behind drop-tail.",
        ("bidirectional",),
        guideline_rules.bidirectional,
        settings=(
            Setting("flows", f"{flows_of('mild')} each way", f"8.2.2, 9.2 ({DRAFT_13}): mild congestion"),
            Setting(
                "link",
                "symmetric, the queue under test in both directions",
                CHOSEN_HERE + ": 9.2 leaves the amount of asymmetry open. Not run: 3.1 also asks for an "
                "asymmetric link with the queue in one direction only, and calls both directions additional",
            ),
        ),
        reports=True,
    ),
    _claim(
        "15",
        "flows A behind two routers, flows B behind the second",
        "prints no value; goodput and delay are asked for (10.2)",
        REPORTED
        + "whether the sum of the delays is below that with the queue at either router and drop-tail at "
        "the other.",
        ("two-queues",),
        guideline_rules.two_queues,
        settings=(
            Setting(
                "flows",
                f"{flows_of('mild') // 2} of A and as many of B, all with the same RTT",
                f"10.2 ({DRAFT_13}): mild congestion, shared equally",
            ),
            Setting(
                "links",
                f"{UPSTREAM_MBPS} Mbit/s from the first router, {RATE_MBPS} Mbit/s from the second; buffers "
                f"of {BUFFER_PACKETS * UPSTREAM_MBPS // RATE_MBPS} and {BUFFER_PACKETS} packets, two BDPs",
                CHOSEN_HERE + ": A's fair share of the second is more than the first has, so both are full",
            ),
            Setting("parameters", "the same at both routers", "10.2 (I)"),
        ),
        reports=True,
    ),
)
