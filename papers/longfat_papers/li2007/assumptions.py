"""What LLS leave open: the readings of each question with their sources, written before any run of them.

The first reading of a question is the suite's base. It is the one with the best source; where two sources are
equally good, it is the reading that the suite had before this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from longfat.units import PACKET_BITS, RATE, TIME
from longfat_papers.kit.assumptions import Assumption, Change, Reading, updated
from longfat_papers.kit.claims import CHOSEN_HERE
from longfat_papers.li2007.settings import (
    DURATION_S,
    SINGLE_START,
    TIMER_TICK,
    bdp_packets,
    standard_epoch_s,
)

Document = dict[str, Any]

DUMMYNET = "ip_dummynet.c of FreeBSD (Rizzo, 1998-2002)"
LINUX = "Linux 2.6.11"
"""The oldest 2.6 whose TCP was at hand; the testbed's is 2.6.6."""

DUMMYNET_LIMIT = "1 MiB"
DUMMYNET_LIMIT_BYTES = 1024 * 1024
RECEIVE_WINDOW_SEGMENTS = 65_535 // 1448
LEFT_BY_THE_LAST = 0.5
"""Share of the window that a finished connection leaves as ssthresh, at the least."""
SOONEST_END_S = 20.0
"""A start over a whole epoch leaves time for the ten minutes of Fig. 14, and so much more."""


def _where(algorithm: str, keys: Mapping[str, Any]) -> Callable[[Document], Document]:
    """Returns a rewriting that sets keys of the flows of one algorithm; None removes a key."""

    def rewrite(document: Document) -> Document:
        document["flow"] = [
            updated(flow, keys) if flow["algorithm"]["name"] == algorithm else flow
            for flow in document["flow"]
        ]
        return document

    return rewrite


def _rate_bps(document: Document) -> float:
    return RATE.parse(document["bottleneck"]["rate"])


def _rtts_s(document: Document) -> list[float]:
    return [TIME.parse(flow["rtt"]) for flow in document["flow"]]


def _queue_packets(document: Document) -> float:
    """Returns the size of the queue; every queue of the suite is a share of the BDP in percent."""
    bottleneck = document["bottleneck"]
    rtt_s = TIME.parse(bottleneck["buffer_rtt"]) if "buffer_rtt" in bottleneck else min(_rtts_s(document))
    share = float(bottleneck["buffer"].removesuffix(" % BDP")) / 100.0
    return share * bdp_packets(_rate_bps(document), rtt_s)


def _limited_queue(document: Document) -> Document:
    if _queue_packets(document) * PACKET_BITS / 8 > DUMMYNET_LIMIT_BYTES:
        document["bottleneck"]["buffer"] = DUMMYNET_LIMIT
        document["bottleneck"].pop("buffer_rtt", None)
    return document


def _same_reverse_queue(document: Document) -> Document:
    document["bottleneck"]["reverse_buffer"] = f"{max(1, int(_queue_packets(document)))} packets"
    return document


def _together(document: Document) -> Document:
    for flow in document["flow"][1:]:
        flow["start"] = SINGLE_START
    return document


def _over_an_epoch(document: Document) -> Document:
    """Draws the start of flow 2 from a whole epoch of a first flow of standard TCP that is alone."""
    first = document["flow"][0]
    if len(document["flow"]) < 2 or first["algorithm"]["name"] != "reno":
        return document
    rtt_s = TIME.parse(first["rtt"])
    share = _queue_packets(document) / bdp_packets(_rate_bps(document), rtt_s)
    epoch_s = standard_epoch_s(_rate_bps(document), rtt_s, share, 1)
    latest = TIME.parse(document["duration"]) - DURATION_S - SOONEST_END_S
    if 20.0 + epoch_s > 80.0:
        document["flow"][1]["start"] = {
            "uniform": ["20 s", f"{min(20.0 + epoch_s, max(latest, 80.0)):.0f} s"]
        }
    return document


def _cached_ssthresh(document: Document) -> Document:
    """Sets the initial ssthresh to a share of the window of equal flows at a full queue."""
    flows = document["flow"]
    for flow, rtt_s in zip(flows, _rtts_s(document), strict=True):
        window = (bdp_packets(_rate_bps(document), rtt_s) + _queue_packets(document)) / len(flows)
        flow["initial_ssthresh"] = max(2.0, round(LEFT_BY_THE_LAST * window, 1))
    return document


def _ten_minutes(document: Document) -> Document:
    document["duration"] = f"{DURATION_S:g} s"
    return document


def _closest_row(document: Document) -> Document:
    for flow in document["flow"]:
        if flow["algorithm"].get("table") == "nearest":
            flow["algorithm"]["table"] = "closest"
    return document


def _web_like_flow_2(document: Document) -> Document:
    for background in document.get("background", []):
        background["rtt"] = document["flow"][-1]["rtt"]
    return document


LIKE_FLOWS = ("F3a", "F3b", "F4", "F6", "F8", "F9", "F14a", "F14b")
"""The claims about two flows with one RTT that Figs. 3, 4, 6, 8, 9 and 14 share runs for."""

ASSUMPTIONS = (
    Assumption(
        "router-tick",
        "IV-F names dummynet on FreeBSD as the router, but not the HZ of its kernel, at whose ticks it "
        "serves.",
        (
            Reading(
                "1-ms",
                "The router hands out at each tick of 1 ms what the rate has earned since the last one.",
                f"IV-F (dummynet); {DUMMYNET}: dummynet() runs once a tick, ready_event() hands out what the "
                "bandwidth has earned; dummynet(4) of 2002: HZ=1000 strongly recommended; with HZ=100 the "
                "six packets of Fig. 12's least queue would carry 7 of 100 Mbit/s",
                Change(),
            ),
            Reading(
                "none",
                "The router sends one packet after the other, as a link does.",
                "plausible because III and the NS simulations of Fig. 12 speak of a link, and the paper "
                "mentions no tick of the router; the suite had this reading before",
                Change(bottleneck={"service_tick": None}),
            ),
        ),
        (*LIKE_FLOWS, "F5a", "F5b", "F7", "F10", "F11", "F12a", "F12b", "F13", "F15"),
    ),
    Assumption(
        "host-tick",
        "V-D presumes that scheduling at 1 ms causes bursts of six to ten packets per ACK, and V-G counts 21 "
        "packets in 1 ms at 250 Mbit/s; neither says what waits for the tick.",
        (
            Reading(
                "timers",
                "Only timers wait for it, among them FAST-TCP's pacing; ACKs are taken when they arrive.",
                f"V-D (FAST-TCP's pacing); {LINUX}, tcp_ipv4.c: tcp_v4_rcv() hands a segment on to "
                "tcp_rcv_established() as it arrives; include/asm-i386/param.h: HZ is 1000",
                Change(),
            ),
            Reading(
                "strict-grid",
                "Every host takes ACKs and sends data only at its ticks of 1 ms.",
                "plausible because V-D and V-G explain the bursts by the tick alone, at every algorithm; the "
                "suite had this reading before",
                Change(flows={"host_tick": TIMER_TICK}, backgrounds={"host_tick": TIMER_TICK}),
            ),
        ),
        (*LIKE_FLOWS, "F7", "F10", "F11", "F12a", "F12b", "F13", "F15"),
    ),
    Assumption(
        "interrupts",
        "Table I names the network adapter and its driver, but not the driver's interrupt throttle rate.",
        (
            Reading(
                "8000-a-second",
                "A host takes packets at most every 125 us.",
                "Documentation/networking/e1000.txt of Linux 2.6.12 (driver 5.x): InterruptThrottleRate is "
                "8000 by default; the dynamic mode of e1000_param.c of 2004 gives nearly 8000 to traffic in "
                "one direction",
                Change(),
            ),
            Reading(
                "each-packet",
                "A host takes each packet when it arrives.",
                "plausible because the paper reports no setting and e1000.txt allows 0 (off); the suite had "
                "this reading before",
                Change(flows={"interrupt_moderation": "0 s"}, backgrounds={"interrupt_moderation": "0 s"}),
            ),
        ),
        ("F3a", "F4", "F7", "F9", "F10", "F12b", "F14a"),
    ),
    Assumption(
        "rate-halving",
        "Appendix I gives the base kernel rate halving, but not whether altAIMD changed its floor.",
        (
            Reading(
                "to-half",
                "In recovery the window falls until half of ssthresh, and slow-start raises it again.",
                f"{LINUX}, tcp_input.c: tcp_cwnd_down() has this floor for every algorithm",
                Change(),
            ),
            Reading(
                "to-ssthresh",
                "In recovery the window falls to the algorithm's ssthresh.",
                "plausible because altAIMD serves algorithms with mild backoffs, and Linux 2.6.18 lets a "
                "module choose this floor; the suite had this reading before",
                Change(flows={"recovery": "rate-halving"}, backgrounds={"recovery": "rate-halving"}),
            ),
        ),
        ("F3a", "F3b", "F4", "F7", "F9", "F10", "F14a"),
    ),
    Assumption(
        "second-start",
        "III-C does not say when the second flow of a fairness test starts.",
        (
            Reading(
                "later",
                "Flow 2 starts 20 to 80 s after flow 1.",
                "Figs. 4 to 9 show histories of points of Fig. 3 (V-A) that follow the startup of a second "
                "flow",
                Change(),
            ),
            Reading(
                "together",
                "Flow 2 starts within 1 s of flow 1.",
                "plausible because III-C asks for average throughputs only, and III-F alone has a second "
                "flow that starts up",
                Change(rewrite=_together),
            ),
        ),
        ("F3a", "F3b", "F10", "F11"),
    ),
    Assumption(
        "start-range",
        "III-F wants start times of flow 2 that span at least one congestion epoch of flow 1; no range is "
        "printed.",
        (
            Reading(
                "a-minute",
                "Flow 2 starts 20 to 80 s after flow 1.",
                CHOSEN_HERE + ": one range for all protocols; the epochs of all but standard TCP are shorter",
                Change(),
            ),
            Reading(
                "an-epoch",
                "Beside a first flow of standard TCP, the range is one epoch of that flow, if that is "
                "longer.",
                "III-F: start times that span at least one congestion epoch of the first flow",
                Change(rewrite=_over_an_epoch),
            ),
        ),
        ("F14a", "F14b"),
    ),
    Assumption(
        "saved-ssthresh",
        "The paper does not say whether a test begins with the ssthresh that Linux kept from the one before.",
        (
            Reading(
                "none",
                "Both flows begin without an ssthresh.",
                f"{LINUX}, tcp_ipv4.c: a socket's ssthresh is infinite at first; the route cache that keeps "
                "values is rebuilt every ten minutes (route.c of Linux 2.6.8.1: ip_rt_secret_interval), the "
                "length of a test; equally good as the other reading, and older",
                Change(),
            ),
            Reading(
                "kept",
                "Both flows begin with an ssthresh of half the window of equal flows at a full queue.",
                f"{LINUX}, tcp_input.c: tcp_update_metrics() keeps at least half of the last window for the "
                "route, tcp_init_metrics() begins with it, and tests were repeated between the same hosts "
                "(IV-F)",
                Change(rewrite=_cached_ssthresh),
            ),
        ),
        ("F3a", "F4", "F5b", "F8", "F9", "F10", "F11", "F14a", "F14b"),
    ),
    Assumption(
        "slow-start-limit",
        "Appendix I names RFC 3465 for counting bytes, but not its limit L on what an ACK counts in "
        "slow-start.",
        (
            Reading(
                "2",
                "An ACK counts two segments at most.",
                "Appendix I: the counting counters the problems of growth under delayed ACKs, for which RFC "
                "3465 has L = 2; the suite's older reading",
                Change(),
            ),
            Reading(
                "1",
                "It counts one, so that slow-start grows by half in a round trip under delayed ACKs.",
                "Linux 9772efb97078 of November 2005: RFC 3465's patch of Yee-Ting Li, LLS's first author, "
                "with tcp_abc = 1 by default, which counts one in slow-start (`longfat list stacks`, "
                "linux-2.6.16)",
                Change(flows={"slow_start_limit": 1}),
            ),
        ),
        ("F3a", "F14a", "F14b"),
    ),
    Assumption(
        "queue-limit",
        "dummynet limits its queues; the paper does not say whether the limit was raised for its largest "
        "ones.",
        (
            Reading(
                "as-printed",
                "Each queue has the share of the BDP that the captions print.",
                "captions of Figs. 3 to 15: queue size is 20 % BDP",
                Change(),
            ),
            Reading(
                "1-mib",
                "No queue is larger than 1 MiB, 699 packets; 20 % BDP at 250 Mbit/s and 324 ms are 1350.",
                f"{DUMMYNET}, set_fs_parms(): a queue in bytes is at most 1024 * 1024",
                Change(rewrite=_limited_queue),
            ),
        ),
        ("F3a", "F6", "F8", "F9", "F10", "F14a"),
    ),
    Assumption(
        "queue-rtt",
        "III-C keeps the queue a constant share of the BDP while the RTT of flow 2 varies, and names no RTT "
        "for it.",
        (
            Reading(
                "flow-1",
                "The BDP is that of flow 1, whose RTT is constant.",
                CHOSEN_HERE
                + ": III-C-ii holds flow 1's RTT and the share constant; the suite's older reading",
                Change(),
            ),
            Reading(
                "flow-2",
                "The BDP is that of flow 2, whose RTT is varied.",
                "plausible because captions print a share of the BDP at each point of the x axis, flow 2's "
                "RTT",
                Change(bottleneck={"buffer_rtt": None}),
            ),
        ),
        ("F10",),
    ),
    Assumption(
        "reverse-queue",
        "The paper does not describe the queue of the reverse path.",
        (
            Reading(
                "roomy",
                "The reverse path has room for 1000 packets at least.",
                CHOSEN_HERE + ": no ACK is lost; the suite's older reading",
                Change(),
            ),
            Reading(
                "as-forward",
                "The reverse path has a queue as short as the forward one.",
                f"plausible because {DUMMYNET} has one pipe for each direction, and one script configures "
                "both",
                Change(rewrite=_same_reverse_queue),
            ),
        ),
        ("F12a", "F12b"),
    ),
    Assumption(
        "standard-duration",
        "V-A says that the tests of Fig. 3 last ten minutes, IV-F that tests with standard TCP last up to an "
        "hour.",
        (
            Reading(
                "epochs",
                "Tests with standard TCP last 20 of its epochs, at most an hour.",
                "IV-F: up to an hour, as the congestion epoch becomes very long; the number of epochs is "
                + CHOSEN_HERE,
                Change(),
            ),
            Reading(
                "ten-minutes", "Every test lasts ten minutes.", "V-A, on Fig. 3", Change(rewrite=_ten_minutes)
            ),
        ),
        ("F3a", "F10", "F11"),
    ),
    Assumption(
        "web-clients",
        "IV-F gives the sizes and times of web requests, but neither the clients' windows nor their RTT.",
        (
            Reading(
                "162-ms",
                "Web transfers have an RTT of 162 ms and are not limited by a window.",
                CHOSEN_HERE + ": flow 1's RTT; the suite's older reading",
                Change(),
            ),
            Reading(
                "64-kb",
                "Their receive window is 65535 bytes.",
                "Documentation/networking/ip-sysctl.txt of Linux 2.6.12: tcp_rmem's default gives a window "
                "of 65535",
                Change(backgrounds={"max_window": RECEIVE_WINDOW_SEGMENTS}),
            ),
            Reading(
                "flow-2",
                "Their RTT is that of flow 2.",
                "plausible because the router delays by path, and the sessions may have used flow 2's",
                Change(rewrite=_web_like_flow_2),
            ),
        ),
        ("F15",),
    ),
    Assumption(
        "fast-alpha",
        "IV-E prints a rule by which each flow queues f_alpha packets; V-A and V-D explain Figs. 5 and 12 by "
        "half.",
        (
            Reading("printed", "The rule as IV-E prints it.", "IV-E", Change()),
            Reading(
                "half",
                "f_alpha / 2 takes the place of f_alpha.",
                "V-A: each flow maintains f_alpha / 2 packets; V-D: two flows maintain f_alpha",
                Change(algorithms={"fast": {"variant": "lls-half"}}),
            ),
        ),
        ("F3b", "F5a", "F5b", "F10", "F11", "F12b", "F14a"),
    ),
    Assumption(
        "fast-thresholds",
        "Table II prints the thresholds of FAST-TCP's alpha without a unit, and IV-E gives other values in "
        "words.",
        (
            Reading(
                "table",
                "1500, 1250, 15000 and 12500 are kilobytes a second of whole packets.",
                "Table II: 12500 kB/s are the 100 Mbit/s of IV-E",
                Change(),
            ),
            Reading(
                "text",
                "alpha becomes 200 above 1 Gbit/s only.",
                "IV-E: 200 for achieved throughputs of greater than 1 Gb/s",
                Change(algorithms={"fast": {"m1u": "125000 kB/s"}}),
            ),
            Reading(
                "payload",
                "They count 1024 bytes of payload a second, so that 125 Mbit/s are just below 15000.",
                "plausible because a kernel counts segments of 1448 bytes and divides by shifting; the paper "
                "says achieved throughput",
                Change(
                    algorithms={
                        "fast": {
                            "packet_bytes": "1448 B",
                            "m0u": "1536 kB/s",
                            "m1l": "1280 kB/s",
                            "m1u": "15360 kB/s",
                            "m2l": "12800 kB/s",
                        }
                    }
                ),
            ),
        ),
        ("F3b", "F5b", "F10", "F11", "F14a"),
    ),
    Assumption(
        "fast-pacing",
        "IV-E says that FAST-TCP paces, V-D that its pacing has the granularity of the hosts; the paper says "
        "neither how, nor with which clock it measures round-trip times.",
        (
            Reading(
                "ticks",
                "Packets leave, and ACKs are taken, at ticks of 1 ms, so that round-trip times are whole "
                "milliseconds.",
                "V-D: the accuracy of the pacing is limited by end host scheduling granularity, on the order "
                f"of 1 ms; {LINUX}, tcp_input.c: round-trip times are counted in jiffies, 1 ms at HZ=1000",
                Change(),
            ),
            Reading(
                "exact",
                "Packets leave when they are due, and round-trip times are exact.",
                "plausible because IV-E calls pacing a part of the algorithm, which a model of it may take "
                "as ideal",
                Change(rewrite=_where("fast", {"host_tick": None})),
            ),
            Reading(
                "off",
                "Packets leave when ACKs arrive, and round-trip times are exact.",
                "plausible because V-D finds that pacing has only a limited impact",
                Change(algorithms={"fast": {"pacing": False}}, rewrite=_where("fast", {"host_tick": None})),
            ),
        ),
        ("F3b", "F5a", "F5b", "F10", "F11", "F12b", "F14a"),
    ),
    Assumption(
        "hstcp-row",
        "V-A says that HS-TCP uses a nearest neighbor type of table lookup, but not which row is the "
        "nearest.",
        (
            Reading(
                "next",
                "The first row that begins at the window or above.",
                "docs/models/hstcp.md: Linux's tcp_highspeed steps through the table of RFC 3649 so; the "
                "suite's older reading",
                Change(),
            ),
            Reading(
                "closest",
                "The row that begins closest to the window.",
                "plausible because V-A says nearest neighbor, and not that windows are rounded up",
                Change(rewrite=_closest_row),
            ),
        ),
        ("F3b", "F6", "F7"),
    ),
    Assumption(
        "bic-rule",
        "IV-D prints a rule of BIC-TCP with a slip; the testbed ran an implementation after the authors' "
        "patch.",
        (
            Reading(
                "corrected",
                "(cwnd - w1) / (B - 1) where IV-D prints w1 / (B - 1).",
                "footnote 3: a corrected implementation based upon the original patch; only so does growth "
                "begin slowly and end at S_max",
                Change(),
            ),
            Reading(
                "printed", "The rule as printed.", "IV-D", Change(algorithms={"bic": {"variant": "literal"}})
            ),
            Reading(
                "linux",
                "The rule of Linux's module, which the authors' patch became.",
                "footnote 3: based upon the original Linux patch; docs/models/bic.md on tcp_bic",
                Change(algorithms={"bic": {"variant": "linux"}}),
            ),
        ),
        ("F3b", "F8", "F10", "F11", "F14a"),
    ),
    Assumption(
        "htcp-scaling",
        "IV-C multiplies H-TCP's increase by T_min without saying in which unit.",
        (
            Reading(
                "100-ms",
                "T_min is in units of 100 ms, without bounds.",
                "docs/models/htcp.md: Linux and FreeBSD divide by 100 ms; in seconds, V-B's proportional "
                "ratios could not arise",
                Change(),
            ),
            Reading(
                "seconds",
                "T_min is in seconds.",
                "IV-C as printed: Table II gives the other time, Delta_L, in seconds",
                Change(algorithms={"htcp": {"rtt_reference": "1 s"}}),
            ),
            Reading(
                "linux",
                "The rule of Linux's module: T_min / 100 ms within .1 and 2, and whole numbers.",
                "plausible because the module is by the authors of H-TCP; docs/models/htcp.md on tcp_htcp",
                Change(algorithms={"htcp": {"variant": "linux"}}),
            ),
        ),
        ("F3a", "F9", "F10", "F11", "F14a", "F14b"),
    ),
)

CLOSED = {
    "F1": (
        "The refill is arithmetic. The mean of 218 Mbit/s is one measurement of a path in the Internet on 9 "
        "December 2003, whose losses are not published, so nobody can repeat it. It cannot follow from one "
        "loss: half a packet a round trip for 1200 s of 100 ms adds 6000 packets, which is 360 Mbit/s on "
        "average even from an empty window."
    ),
    "E2": "The paper prints no figure of this test; what is measured is reported.",
    "C2": "The paper prints no figure of this test; what is measured is reported.",
}
"""Why nothing is open in a claim."""
