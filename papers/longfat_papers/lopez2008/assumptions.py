"""What Lopez Pacheco 2008 leaves open, with the readings of each. Written down before any run of them.

The first reading of each is the base: what the thesis's text says, or else ns-2.30's defaults. Where two are
equally good, it is the one that this suite had before. Files of ns-2 are those of ns-2.35; the files of its
XCP (xcp/) are dated May 2006 and thus are those of ns-2.30, released that September.
"""

from __future__ import annotations

from longfat_papers.kit.assumptions import Assumption, Change, Reading
from longfat_papers.lopez2008 import changes
from longfat_papers.lopez2008.changes import flows_of, rewritten

BASE = Change()

ASSUMPTIONS: tuple[Assumption, ...] = (
    Assumption(
        "vcp-sender",
        "The thesis quotes VCP's authors' simulation without the sender's constants (2.5.2.2).",
        (
            Reading(
                "paper",
                "Growth scales with rtt / t_rho as VCP's paper writes it.",
                "docs/models/vcp.md",
                BASE,
            ),
            Reading(
                "ns2",
                "The authors' ns-2 sender, whose alpha_s is four times as large.",
                "plausible because the authors' simulations ran their own code; its constants are in "
                "docs/models/vcp.md",
                Change(algorithms={"vcp": {"variant": "ns2"}}),
            ),
        ),
        ("2c",),
    ),
    Assumption(
        "vcp-link",
        'The first flow "has already taken 45Mbps" (2.5.2.2); the link\'s rate and queue are not printed.',
        (
            Reading("45-mbps", "The link has 45 Mbit/s and a queue of one BDP.", "2.5.2.2", BASE),
            Reading(
                "50-mbps",
                "The link has 50 Mbit/s, so that the target of 95 % gives one flow about 45.",
                "plausible because VCP's router aims at 95 % of the link and its sender swings below that",
                Change(bottleneck={"rate": "50 Mbit/s"}),
            ),
            Reading(
                "deep-queue",
                "The queue holds four BDP.",
                "plausible because neither the thesis nor the quoted sentence names a queue",
                Change(bottleneck={"buffer": "4 BDP"}),
            ),
        ),
        ("2c",),
    ),
    Assumption(
        "staged-rtt",
        "Figs. 2.11 and 2.12 are taken from other papers without their path (2.5.3).",
        (
            Reading(
                "80-ms", "RTT 80 ms on 100 Mbit/s.", "plausible: the suite's choice from the first", BASE
            ),
            Reading(
                "40-ms",
                "RTT 40 ms on 100 Mbit/s.",
                "plausible because nothing in 2.5.3 fixes it",
                Change(flows={"rtt": "40 ms"}),
            ),
        ),
        ("2d", "2e"),
    ),
    Assumption(
        "tuned-window",
        'TCP is "tuned (ssthresh and max_win, mainly) to get 1Gbps when the available bandwidth does not '
        'change and the RTT is 100 ms" (3.1.3.2); no values.',
        (
            Reading(
                "losses-at-10-s",
                "ssthresh 21 000, at most 24 000 segments: full at once, first losses after 7 to 13 s.",
                '3.1.3.2: "during the startup (slow-start)", "first losses (at second 10 approximately)"',
                BASE,
            ),
            Reading(
                "path",
                "ssthresh and window are (3.1)'s cwnd for 1 Gbit/s at 100 ms, 12 207 segments.",
                "equation (3.1) with an MSS of 1024 bytes, 3.1.3.1",
                rewritten(changes.tuned("newreno", "hstcp", ssthresh=12_207.0, window=12_207.0)),
            ),
            Reading(
                "path-and-queue",
                "ssthresh is the path's 12 207 segments, the window those and the queue's 12 500.",
                "equation (3.1); 3.1.2: queues of 12 500 MSS",
                rewritten(changes.tuned("newreno", "hstcp", ssthresh=12_207.0, window=24_707.0)),
            ),
            Reading(
                "no-bound",
                "Neither is bounded, so slow-start ends with an overflow.",
                "plausible because a window that is large enough for any path is also well tuned",
                rewritten(changes.tuned("newreno", "hstcp", ssthresh=None, window=None)),
            ),
        ),
        ("3a", "3b", "3c", "3d"),
    ),
    Assumption(
        "tuned-at-200-ms",
        "Whether the values tuned for 100 ms also hold in the runs with 200 ms (3.1.3.2).",
        (
            Reading(
                "same", "They do.", '3.1.3.2: "Once having a well tuned TCP stack for this conditions"', BASE
            ),
            Reading(
                "tuned-again",
                "At 200 ms ssthresh is 31 000 and the window 36 000: the same shares of path and queue.",
                'plausible because the footnote to 3.1.3.2 calls TCP well tuned when it grabs "all the '
                'available bandwidth during the startup", and 21 000 segments do so in 172 ms only',
                rewritten(
                    changes.tuned("newreno", "hstcp", ssthresh=31_000.0, window=36_000.0, rtt="200 ms")
                ),
            ),
        ),
        ("3b", "3d"),
    ),
    Assumption(
        "sine-period",
        "The text has a period of 30 s (3.1.1), equation (3.8) one of 32 s.",
        (
            Reading("32-s", "32 s.", "equation (3.8); the averages from 16 to 48 s are one period", BASE),
            Reading(
                "30-s",
                "30 s; the rule still counts 650 Mbit/s available from 16 to 48 s, 21 too many.",
                "3.1.1",
                rewritten(changes.sine_period("30 s")),
            ),
        ),
        ("3a", "3b"),
    ),
    Assumption(
        "hstcp-recovery",
        "The thesis names HSTCP's ns-2 only (3.1.4); windowOption_ 8 goes with any agent.",
        (
            Reading(
                "sack1",
                "SACK; the window is ssthresh at once.",
                "tcl/test/test-suite-tcpHighspeed.tcl runs it in Agent/TCP/Sack1; tcp/tcp-sack1.cc",
                BASE,
            ),
            Reading(
                "newreno",
                "NewReno's recovery.",
                'plausible because the TCP beside it is "a TCP New Reno version provided by the ns2" '
                "(3.1.3.2), and windowOption_ 8 is an option of all agents (tcp/tcp.cc, opencwnd)",
                rewritten(flows_of("hstcp", loss_detection="newreno")),
            ),
            Reading(
                "prr",
                "SACK and proportional rate reduction.",
                "plausible because it ends at ssthresh too: what this suite had before",
                rewritten(flows_of("hstcp", recovery="prr")),
            ),
        ),
        ("3a", "3b", "3c", "3d"),
    ),
    Assumption(
        "staircase",
        "Fig. 3.11 has no numbers; the text gives ends, falls by more than 150 Mbit/s, and a fast rise from "
        "120 to 170 s (3.2).",
        (
            Reading(
                "base", "The staircase that this suite chose from those sentences.", "3.2.1 to 3.2.3", BASE
            ),
            Reading(
                "deep-falls",
                "Each great fall goes to 300 Mbit/s; from 120 to 170 s as before.",
                "plausible because it fits the same sentences",
                rewritten(changes.steps_leave(changes.DEEP_FALLS)),
            ),
            Reading(
                "late-rise",
                "300 Mbit/s until 120 s, and steeper steps from there to 170 s with the same mean.",
                'plausible because the capacity "increases faster" from 120 to 170 s (3.2.2)',
                rewritten(changes.steps_leave(changes.LATE_RISE)),
            ),
        ),
        ("3c", "3d"),
    ),
    Assumption(
        "xcp-classes",
        "Whether datagrams and TCP wait in XCP's queue and count as its traffic: the text says so, ns-2's "
        "Queue/XCP gives them queues of their own.",
        (
            Reading(
                "shared",
                "One queue, and XCP's control counts everything.",
                '3.2: "all flows use the same buffer in the routers"; 6.1: "the total input traffic rate"; '
                '6.2: "Buffers are shared by XCP and TCP flows", first in, first out',
                BASE,
            ),
            Reading(
                "classes",
                "Queues in turn; XCP's control believes that the link is its own.",
                "ns-2: xcp/xcp.cc, xcp/xcpq.cc, tcl/lib/ns-queue.tcl, tcp_xcp_on_ 0 in ns-default.tcl",
                rewritten(changes.classes("link")),
            ),
            Reading(
                "classes-half",
                "Queues in turn; XCP's control has half of the link.",
                "ns-2: the same with tcp_xcp_on_ 1, as in tcl/ex/xcp/xcp-tcp.tcl",
                rewritten(changes.classes("weight")),
            ),
        ),
        ("3c", "3d", "5a", "5b", "5c", "5d", "6a"),
    ),
    Assumption(
        "xcp-recovery",
        '"Fast Retransmit/Fast Recovery (also available in XCP, since it is build at the top of TCP)" '
        "(5.2.2); the text does not say of which TCP.",
        (
            Reading(
                "reno",
                "Reno: a second loss in a flight takes a timeout.",
                "ns-2: XcpRenoTcpAgent in xcp/xcp-end-sys.cc, which all of tcl/ex/xcp uses",
                BASE,
            ),
            Reading(
                "newreno",
                "NewReno.",
                "ns-2: XcpNewRenoFullTcpAgent in the same file; what this suite had before",
                rewritten(flows_of("xcp", "xcp-r", loss_detection="newreno")),
            ),
            Reading(
                "sack",
                "SACK.",
                "plausible because XCP's paper leaves repair to TCP, and TCP had SACK by 2006",
                rewritten(flows_of("xcp", "xcp-r", loss_detection="sack")),
            ),
        ),
        ("4a", "4f", "5a", "5b", "5c", "5d", "6a"),
    ),
    Assumption(
        "tcp-version",
        'Chapters 4 and 6 say "TCP"; chapter 3 says "TCP New Reno".',
        (
            Reading("newreno", "NewReno.", "3.1.3.2", BASE),
            Reading(
                "reno",
                "Reno.",
                'plausible because ns-2\'s own XCP examples beside TCP default to "TCP/Reno" '
                "(tcl/ex/xcp/xcp-tcp.tcl)",
                rewritten(flows_of("newreno", loss_detection="reno-classic")),
            ),
            Reading(
                "sack",
                "SACK, with the window at ssthresh at once.",
                "plausible because the chapters' TCP is not named and Agent/TCP/Sack1 is ns-2's modern one",
                rewritten(flows_of("newreno", algorithm="reno")),
            ),
        ),
        ("4a", "4f", "6a", "6b", "6c", "6d", "6e"),
    ),
    Assumption(
        "tcp-window",
        "Chapters 4 and 6 print no ssthresh and no greatest window for TCP; chapter 3 tunes both (3.1.3.2).",
        (
            Reading(
                "unbounded", "Slow-start ends with the first loss.", "plausible: nothing is printed", BASE
            ),
            Reading(
                "path",
                "ssthresh is the flow's path without queues, as (3.1) has it.",
                "plausible because 3.1.3.2 tunes TCP so that it fills its path in slow-start",
                rewritten(changes.path_as_ssthresh),
            ),
            Reading(
                "chapter-3",
                "The values of chapter 3: ssthresh 21 000, at most 24 000 segments.",
                "plausible because the scripts of one thesis share their settings",
                rewritten(changes.tuned("newreno", ssthresh=21_000.0, window=24_000.0)),
            ),
        ),
        ("4a", "4f", "6a", "6b", "6c", "6d", "6e"),
    ),
    Assumption(
        "delayed-acks",
        "Whether TCP's receiver delays its acknowledgements; the thesis never says.",
        (
            Reading("none", "Each segment is acknowledged.", "ns-2: Agent/TCPSink, the usual sink", BASE),
            Reading(
                "delayed",
                "Every second segment, after at most 100 ms.",
                "ns-2: Agent/TCPSink/DelAck, interval_ 100ms in ns-default.tcl",
                rewritten(flows_of("newreno", "hstcp", delayed_ack=True, delayed_ack_timeout="100 ms")),
            ),
        ),
        ("3a", "3b", "3d", "4a", "4f", "6a", "6c", "6d"),
    ),
    Assumption(
        "packet-size",
        'Whether the 1024 bytes of "MSS" (3.1.3.1) include the headers.',
        (
            Reading(
                "payload", "1024 bytes of payload.", "3.1.3.1; ns-2: useHeaders_ true in ns-default.tcl", BASE
            ),
            Reading(
                "packet",
                "Packets have 1024 bytes with their headers of 40.",
                "plausible because before 2001 useHeaders_ was false (ns-default.tcl), and (3.1) takes the "
                "MSS for the packet",
                rewritten(flows_of("newreno", "hstcp", "xcp", "xcp-r", mss="984 B")),
            ),
        ),
        ("3a", "4a", "6c", "6d"),
    ),
    Assumption(
        "chapter-4-queues",
        "4.2 and 4.6.1 print no queues.",
        (
            Reading("bdp", "One BDP of the link and 100 ms.", "4.6.2's queues are about one BDP", BASE),
            Reading(
                "ns-2",
                "50 packets on every link.",
                "ns-2: Queue set limit_ 50 in ns-default.tcl",
                rewritten(changes.buffers("50 packets")),
            ),
            Reading(
                "chapters-3-and-5",
                "12 500 packets on every link.",
                "plausible because 3.1.2, 3.2.1 and 5.2.1 print this for their routers",
                rewritten(changes.buffers("12500 packets")),
            ),
        ),
        ("4a", "4b", "4c", "4d", "4e"),
    ),
    Assumption(
        "chapter-4-delays",
        "Figs. 4.1 to 4.13 print rates and no delays.",
        (
            Reading(
                "100-ms",
                "RTT 100 ms in equal parts.",
                '4.6.2: 1200 and 3500 MSS are "slightly smaller than the BDP" of 100 and 300 Mbit/s',
                BASE,
            ),
            Reading(
                "50-ms",
                "RTT 50 ms.",
                "plausible because the sentence of 4.6.2 is about that section's clouds only",
                rewritten(changes.delays(0.5)),
            ),
        ),
        ("4a", "4b", "4c", "4d", "4e"),
    ),
    Assumption(
        "cloud-delay",
        'The text explains k above i by an "additional delay" on the path through the cloud (4.6.1.2), which '
        "may be the virtual router's or the cloud's.",
        (
            Reading(
                "none",
                "Paths through clouds are as long as the others.",
                "4.6.1.2 names no longer path",
                BASE,
            ),
            Reading(
                "longer",
                "The links inside clouds have twice the delay of the others.",
                "plausible because a cloud has routers of its own",
                rewritten(changes.delays(2.0, clouds_only=True)),
            ),
        ),
        ("4b", "4c", "4d", "4e"),
    ),
    Assumption(
        "merge-output",
        'The rate of Fig. 4.11\'s merged link is not in the text; the inputs are "much higher" (4.6.1.2).',
        (
            Reading("400-mbps", "400 Mbit/s, as in Fig. 4.9.", "4.6.1.2, the case before", BASE),
            Reading(
                "300-mbps",
                "300 Mbit/s.",
                "plausible because the inputs then exceed it all the more",
                rewritten(changes.link_rate("R2-R4", 300)),
            ),
        ),
        ("4d",),
    ),
    Assumption(
        "estimate-errors",
        "How the errors of 5 to 20 % are drawn, and when (4.6.2).",
        (
            Reading("uniform", "Uniformly, either way, each 2 s.", "4.6.2: minimum, maximum, each 2 s", BASE),
            Reading(
                "greatest",
                "20 % either way, each 2 s.",
                "plausible because both senders of Figs. 4.16 and 4.17 begin 20 % off",
                rewritten(changes.router("xcp-i", error_least=0.2)),
            ),
            Reading(
                "each-second",
                "Uniformly, each second.",
                '4.4.3: "for instance, 1 second after finishing"',
                rewritten(changes.router("xcp-i", period="1 s")),
            ),
        ),
        ("4f",),
    ),
    Assumption(
        "acks-staircase",
        "Figs. 5.2 and 5.8 have no numbers; the text gives ends and the times of the greatest falls.",
        (
            Reading("base", "The staircases that this suite chose.", "5.2.1, 5.2.2, 5.5", BASE),
            Reading(
                "full-between",
                "Between the great falls the whole link comes back at once.",
                "plausible because it fits the same sentences",
                rewritten(changes.datagrams_leave(changes.FULL_BETWEEN)),
            ),
            Reading(
                "slow-return",
                "After the great falls the capacity returns in steps of 50 Mbit/s.",
                "plausible because it fits the same sentences",
                rewritten(changes.datagrams_leave(changes.SLOW_RETURN)),
            ),
        ),
        ("5a", "5b", "5c", "5d"),
    ),
    Assumption(
        "ack-losses",
        'Losses of ACKs have a "constant distribution" (5.2.3).',
        (
            Reading(
                "independent",
                "Each ACK is lost with the same probability.",
                "5: random ACK losses (5.2)",
                BASE,
            ),
            Reading(
                "periodic",
                "Every tenth ACK is lost; for 30 %, every third.",
                "plausible because a constant distribution may be no distribution at all",
                rewritten(changes.periodic_ack_losses),
            ),
            Reading(
                "bursts",
                "The same share in bursts of five.",
                "plausible because 5.2.3 explains such losses by bursts",
                rewritten(changes.bursts_of_ack_losses),
            ),
        ),
        ("5b", "5c", "5d", "5e"),
    ),
    Assumption(
        "xcp-alpha",
        "5.1.1 argues as if a round trip's feedback contained all the spare capacity; XCP's alpha is .4.",
        (
            Reading("0.4", "alpha .4.", "6.1 prints it; ns-2: ALPHA_ in xcp/xcpq.cc", BASE),
            Reading(
                "1",
                "alpha 1: all of it, as the argument needs.",
                "plausible because only then is the sentence's arithmetic that of the router",
                rewritten(changes.router("xcp", alpha=1.0)),
            ),
        ),
        ("5e",),
    ),
    Assumption(
        "formula-path",
        "5.3 tests its first formula with an unnamed set of RTTs.",
        (
            Reading("40-and-160-ms", "40 and 160 ms.", "plausible: the suite's choice from the first", BASE),
            Reading(
                "deep-queue",
                "The same with the 12 500 packets of 5.2.1.",
                "plausible because 5.2.1's routers have them",
                Change(bottleneck={"buffer": "12500 packets"}),
            ),
        ),
        ("5f",),
    ),
    Assumption(
        "starved-rtt",
        "6.2 names no RTT for Fig. 6.2.",
        (
            Reading("100-ms", "100 ms.", '6.2: queues "large enough" for 1 Gbit/s at 100 ms', BASE),
            Reading(
                "20-ms",
                "20 ms.",
                "plausible because 6.4 has both, and names 20 ms first",
                Change(flows={"rtt": "20 ms"}),
            ),
        ),
        ("6a",),
    ),
    Assumption(
        "friendly-rate",
        "The link has 1 Gbit/s (6.2), but the targets of 341.33, 236.3 and 787.7 Mbit/s are shares of 1024.",
        (
            Reading("1000", "1000 Mbit/s.", "6.2 and 6.4: 1 Gbps", BASE),
            Reading("1024", "1024 Mbit/s.", "6.3.1, 6.4.2", Change(bottleneck={"rate": "1024 Mbit/s"})),
        ),
        ("6a", "6b", "6c", "6d", "6e"),
    ),
    Assumption(
        "drop-update",
        'p_drop is updated "at every control interval" (6.3.3), but is at its minimum within 10 s (6.4.1), '
        "which takes 23 000 updates.",
        (
            Reading(
                "packet",
                "With each packet of other traffic.",
                '6.4.1: "after second 20, the drop probability ... is at its minimum value"',
                BASE,
            ),
            Reading(
                "interval",
                "Once in a control interval.",
                "6.3.3",
                rewritten(changes.router("friendly", update="interval")),
            ),
        ),
        ("6b", "6c", "6d", "6e"),
    ),
    Assumption(
        "drop-start",
        "p_drop restarts at .001 below 97 % load (6.3.4), yet TCP in recovery meets no drops (6.4.1, 6.4.3).",
        (
            Reading("0.001", "It restarts at .001.", "6.3.3, 6.3.4", BASE),
            Reading(
                "minimum",
                "It restarts at .0001, the least value above 0.",
                'plausible because of 6.4.1: flows that recover are "no longer penalized"',
                rewritten(changes.router("friendly", start=0.0001)),
            ),
        ),
        ("6b", "6c", "6d", "6e"),
    ),
    Assumption(
        "drop-load",
        'The mechanism acts above a load "slightly smaller" than the link, "e.g., 97 %" (6.3.4).',
        (
            Reading("97-percent", "97 %.", "6.3.4", BASE),
            Reading(
                "90-percent",
                "90 %.",
                "plausible because 97 % is an example",
                rewritten(changes.router("friendly", load=0.9)),
            ),
        ),
        ("6c", "6d"),
    ),
    Assumption(
        "phase",
        "Packets of equal flows through drop-tail queues may fall into step; the thesis names no jitter.",
        (
            Reading("none", "None.", "ns-2: overhead_ 0 in ns-default.tcl", BASE),
            Reading(
                "overhead",
                "Each departure is delayed by up to 10 us, about a packet's time on the link.",
                "plausible because ns-2 has overhead_ against such phase effects",
                Change(flows={"send_jitter": "10 us"}),
            ),
        ),
        ("5a", "6c", "6d"),
    ),
)
