"""The claims as data, written down with their rules before the systems were built or anything was run."""

from __future__ import annotations

from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import multiple, percent, short
from longfat_papers.relatives import blast_rules, bounds, rules
from longfat_papers.relatives import settings as given
from longfat_papers.relatives.settings import COMMON_SETTINGS, SHORT_BINS

NUMBERS = "Numbers chosen here."
SETTLED = f"Means over the last {given.SETTLED_S:g} s, and over repeats."
LATE = "Means over the second half of the run, and over repeats."
SOON = (
    f"Rate of each flow over {given.SPAN_RTTS} round-trip times, from {bounds.SOON_RTTS:g} after the start "
    "of the last; "
    "mean over repeats of the greatest distance from its share."
)
TIMES = (
    f"Mean completion time of the flows of a size that begin between {percent(given.SHORT_COUNTED[0])} and "
    f"{percent(given.SHORT_COUNTED[1])} % of the run and end within it; mean over repeats."
)
TRANSFER = "Payload over the time from the start to the end of the transfer; mean over repeats."
SHARE = percent(bounds.SHARE_WITHIN)
LARGE = f"{SHORT_BINS[-1][0]} to {SHORT_BINS[-1][1]} packets"
HARM = short(bounds.HARMED_SHARE)


def _paper(citation: str, estimator: str) -> Paper[Data]:
    return Paper[Data]("REL", citation, COMMON_SETTINGS, estimator)


_rcp = _paper(given.RCP, TIMES).claim
_sharing = _paper(given.SHARING, TIMES).claim
_maxnet = _paper(given.MAXNET, LATE).claim
_erica = _paper(given.ERICA, SETTLED).claim
_cadpc = _paper(given.CADPC, LATE).claim
_tri_s = _paper(
    given.TRI_S, f"Means from {given.SLOW_FROM_S:g} s to the end of the run, and over repeats."
).claim
_sabul = _paper(given.SABUL, TRANSFER).claim
_rbudp = _paper(given.RBUDP, TRANSFER).claim
_tsunami = _paper(given.TSUNAMI, TRANSFER).claim
_thesis = _paper(given.THESIS, f"Means from {given.CLOUD_FROM_S:g} s to the end, and over repeats.").claim

BESIDE = f"TCP's mean rate from {given.BESIDE_FROM_S:g} s to the end of the run; mean over repeats."
MIXED = f"Mean rates from {given.MIX_FROM_S:g} s to the end of the run; mean over repeats."

RCP_CLAIMS: tuple[Claim[Data], ...] = (
    _sharing(
        "RCP-1",
        "N flows on one link, which begin together or are joined by the last",
        "a router assigns a single rate to all flows, close to processor sharing: C / N for each",
        f"For each N, with flows that begin together and with one that joins: from {bounds.SOON_RTTS:g} "
        "round-trip "
        f"times after the start of the last, each flow is within {SHARE} % of C / N. {NUMBERS}",
        ("shares",),
        rules.soon_fair("rcp"),
        settings=given.SHARE_SETTINGS,
        estimator=SOON,
    ),
    _rcp(
        "RCP-2",
        "flows of Pareto sizes that arrive at random: figure 1",
        "existing (TCP) and newly proposed (XCP) algorithms make flows last much longer than necessary; RCP "
        "enables "
        "flows to complete close to the minimum possible",
        f"In each of {len(SHORT_BINS)} ranges of sizes, RCP's mean completion time is below XCP's and below "
        "TCP's.",
        ("short",),
        rules.short_flows,
        settings=given.SHORT_SETTINGS,
    ),
    _rcp(
        "RCP-3",
        f"flows of {LARGE} among flows of Pareto sizes",
        "a mid-size flow has 1000 packets, and TCP makes it last 10 times longer than need be; XCP is even "
        "worse",
        f"TCP's mean completion time is at least {bounds.LONGER:g} times that of processor sharing, 1.5 RTT "
        "+ L / (C "
        "(1 - load)), and XCP's is above TCP's (half an order of magnitude chosen here).",
        ("short",),
        rules.much_longer,
        settings=given.SHORT_SETTINGS,
        values={"tcp_over_sharing": 10.0},
    ),
    _sharing(
        "RCP-4",
        "flows of Pareto sizes that arrive at random",
        "RCP's performance is very close to ideal processor sharing",
        f"In each of {len(SHORT_BINS)} ranges of sizes, RCP's mean completion time is within a factor "
        f"{bounds.NEAR_FACTOR:g} of that of processor sharing, 1.5 RTT + L / (C (1 - load)). {NUMBERS}",
        ("short",),
        rules.near_sharing,
        settings=given.SHORT_SETTINGS,
        values={"rcp_over_sharing": 1.0},
    ),
)

MAXNET_CLAIMS: tuple[Claim[Data], ...] = (
    _maxnet(
        "MAX-1",
        "a parking lot of three links",
        "MaxNet results in MaxMin fairness for sources with general homogeneous utility functions",
        f"Each flow is within {SHARE} % of its max-min fair rate, with {given.TARGETS['maxnet']:g} of each "
        "link "
        f"shared out. {NUMBERS}",
        ("lot",),
        rules.max_min("maxnet"),
        settings=given.LOT_SETTINGS,
    ),
    _maxnet(
        "MAX-2",
        "a parking lot of three links",
        "only the most severely bottlenecked link controls a source; where all links add to the signal, as "
        "in the "
        "current architecture, the result may not be max-min fair",
        f"The flow over all links gets at least {short(bounds.KEPT_SHARE)} of its max-min fair rate with "
        "MaxNet, and "
        f"less than {short(bounds.KEPT_SHARE)} of it with TCP SACK. {NUMBERS}",
        ("lot",),
        rules.not_max_min,
        settings=given.LOT_SETTINGS,
    ),
    _paper(given.STABLE_MAXNET, SETTLED).claim(
        "MAX-3",
        "flows on one link, one of which joins the others",
        "desirable properties such as high throughput and low latency",
        f"For each number of flows: the rate is at least {short(bounds.FULL)} of the capacity, and the mean "
        "queue is "
        f"at most {short(bounds.QUEUE_SHARE)} of the buffer. {NUMBERS}",
        ("shares",),
        rules.full_and_short,
        settings=given.SHARE_SETTINGS,
    ),
)

ERICA_CLAIMS: tuple[Claim[Data], ...] = (
    _erica(
        "ERI-1",
        "flows on one link, one of which joins the others",
        "the switch shares out a fraction of the link: .9 implies 90 % link utilization",
        f"For each number of flows, the utilization is within {short(bounds.TARGET_WITHIN)} of "
        f"{short(given.TARGETS['erica'])}. {NUMBERS}",
        ("shares",),
        rules.on_target,
        settings=(
            *given.SHARE_SETTINGS,
            Setting("target utilization", f"{given.TARGETS['erica']:g}", given.ERICA_FRACTION),
        ),
        values={"utilization": given.TARGETS["erica"]},
    ),
    _paper(given.ERICA_FORUM, SOON).claim(
        "ERI-2",
        "N flows on one link, one of which joins the others",
        "achieves both efficiency and fairness, and exhibits a fast transient response",
        f"For each N, from {bounds.SOON_RTTS:g} round-trip times after the start of the last, each flow is "
        "within "
        f"{SHARE} % of {short(given.TARGETS['erica'])} C / N. {NUMBERS}",
        ("shares",),
        rules.soon_fair("erica"),
        settings=given.SHARE_SETTINGS,
    ),
    _erica(
        "ERI-3",
        "flows on one link, one of which joins the others",
        "high link utilization with low delays",
        f"For each number of flows, the mean queue is at most {short(bounds.QUEUE_SHARE)} of the buffer. "
        f"{NUMBERS}",
        ("shares",),
        rules.short_queue,
        settings=given.SHARE_SETTINGS,
    ),
    _erica(
        "ERI-4",
        "a parking lot of three links",
        "it is fair: without minimum rates, that is max-min fairness",
        f"Each flow is within {SHARE} % of its max-min fair rate, with {short(given.TARGETS['erica'])} of "
        "each link "
        f"shared out. {NUMBERS}",
        ("lot",),
        rules.max_min("erica"),
        settings=given.LOT_SETTINGS,
        estimator=LATE,
    ),
)

CADPC_CLAIMS: tuple[Claim[Data], ...] = (
    _cadpc(
        "CAD-1",
        "n flows on one link",
        "the law x <- x (1 + a (1 - x - traffic)) has its fixed point at 1 / (n + 1) for each flow, n / (n "
        "+ 1) in all",
        f"For each n, all flows together are within {percent(bounds.TOTAL_WITHIN)} % of n / (n + 1) of the "
        "capacity, "
        f"and each is within {SHARE} % of 1 / (n + 1). {NUMBERS}",
        ("point",),
        rules.fixed_point,
        settings=given.POINT_SETTINGS,
        estimator=f"Means over the last {given.POINT_SPAN_S:g} s, and over repeats.",
        note="The fixed point follows from the law by arithmetic; the book's own figures were not available.",
    ),
    _cadpc(
        "CAD-2",
        "a parking lot of three links",
        "converges to a max-min fair rate allocation in a fully distributed manner",
        f"Each flow is within {SHARE} % of its max-min fair rate, where each link is also shared with one "
        "flow that "
        f"uses nothing: this is the law's fixed point. {NUMBERS}",
        ("lot",),
        rules.max_min("cadpc", unused=1.0),
        settings=given.LOT_SETTINGS,
    ),
    _thesis(
        "CAD-3",
        "CADPC beside TCP",
        "where the performance of E2E flows is degraded by the aggressiveness of ERN protocols, like "
        "CADPC/PTP, the "
        "friendliness solution does not offer any advantage",
        f"TCP gets at most {HARM} of its fair share beside CADPC, and with the mechanism at most "
        f"{short(bounds.HELPED_FACTOR)} times as much. {NUMBERS}",
        ("harmed",),
        rules.no_help,
        settings=given.HARMED_SETTINGS,
        estimator=f"TCP's mean rate from {given.HARMED_FROM_S:g} s to the end of the run; mean over repeats.",
    ),
)

TRI_S_CLAIMS: tuple[Claim[Data], ...] = (
    _tri_s(
        "TRI-1",
        "like flows on one link",
        "throughput gradients show the state of the network, and the optimal operating point can be achieved",
        f"For each number of flows: the rate is at least {short(bounds.FULL)} of the capacity, and the mean "
        "queue is "
        f"at most {short(bounds.QUEUE_FACTOR)} of NewReno's. {NUMBERS}",
        ("slow",),
        rules.knee,
        settings=given.SLOW_SETTINGS,
    ),
    _tri_s(
        "TRI-2",
        "like flows that begin one after the other",
        "the fair sharing of resources can be achieved",
        f"For each number of flows above 1, Jain's index is at least {short(bounds.FAIR)}. {NUMBERS}",
        ("slow",),
        rules.fair_search,
        settings=given.SLOW_SETTINGS,
    ),
    _tri_s(
        "TRI-3",
        f"{given.MIXED} flows of Tri-S beside {given.MIXED} of Vegas, which was inspired by it (thesis, 2.4)",
        "prints no value; the shares are reported here",
        "The values are reported; the check compares the two.",
        ("slow",),
        rules.beside_vegas,
        settings=given.SLOW_SETTINGS,
        reports=True,
    ),
)

BLAST_CLAIMS: tuple[Claim[Data], ...] = (
    _sabul(
        "SAB-1",
        "a large file over 1 Gbit/s and 100 ms with .1 % of the packets lost",
        "designed for high performance over networks with a high bandwidth-delay product",
        f"The goodput is at least {short(bounds.FILLED)} of the link's rate. {NUMBERS}",
        ("fast",),
        blast_rules.filled("sabul"),
        settings=given.FAST_SETTINGS,
    ),
    _sabul(
        "SAB-2",
        f"two flows, {given.DELAYS_MS[0]} and {given.DELAYS_MS[1]} ms",
        "adjusts its rate at uniform intervals, in order to remove the fairness bias between flows with "
        "different "
        "network delays",
        f"The lesser rate is at least {short(bounds.DELAY_RATIO)} of the greater one, and nearer to it than "
        "with TCP "
        f"SACK. {NUMBERS}",
        ("delays",),
        blast_rules.unbiased,
        settings=(Setting("bottleneck", f"{given.DELAYS_MBPS} Mbit/s", CHOSEN_HERE),),
        estimator=LATE,
    ),
    _paper(given.EARLY_SABUL, BESIDE).claim(
        "SAB-3",
        "a TCP flow that SABUL joins",
        "this algorithm is proven to be TCP friendly",
        f"TCP gets at least {HARM} of its fair share. {NUMBERS}",
        ("beside",),
        blast_rules.spares_tcp,
        settings=given.BESIDE_SETTINGS,
    ),
    _rbudp(
        "RBU-1",
        "a large file over 1 Gbit/s and 100 ms with .1 % of the packets lost",
        "keeps the network pipe as full as possible during bulk data transfer",
        f"The goodput is at least {short(bounds.FILLED)} of the link's rate. {NUMBERS}",
        ("fast",),
        blast_rules.filled("rbudp"),
        settings=given.FAST_SETTINGS,
    ),
    _rbudp(
        "RBU-2",
        "files of two sizes over 1 Gbit/s and 100 ms with .1 % of the packets lost",
        "the model is able to provide good estimates of RBUDP's performance",
        f"For each size, the goodput is within a factor {bounds.PREDICTED_FACTOR:g} of S / (sum over blasts "
        "of the "
        f"packets still missing / rate + RTT). {NUMBERS}",
        ("fast",),
        blast_rules.predicted,
        settings=(
            *given.FAST_SETTINGS,
            Setting("small file", f"{given.SMALL_GB:g} GB", CHOSEN_HERE),
            Setting(
                "model",
                "each blast carries what the last one lost, and its answer comes after a round-trip time",
                "derived here from the phases that the project's page describes; the paper's equations were "
                "not "
                "available",
            ),
        ),
    ),
    _rbudp(
        "RBU-3",
        "a TCP flow that RBUDP joins",
        "an aggressive scheme, intended for dedicated or QoS-enabled networks",
        f"TCP gets less than {HARM} of its fair share. {NUMBERS}",
        ("beside",),
        blast_rules.starves_tcp("rbudp"),
        settings=given.BESIDE_SETTINGS,
        estimator=BESIDE,
    ),
    _tsunami(
        "TSU-1",
        "a large file over 1 Gbit/s and 100 ms with .1 % of the packets lost",
        "wire rates of gigabit Ethernet where TCP fails for its losses",
        f"The goodput is at least {short(bounds.FILLED)} of the link's rate. {NUMBERS}",
        ("fast",),
        blast_rules.filled("tsunami"),
        settings=given.FAST_SETTINGS,
    ),
    _tsunami(
        "TSU-2",
        "1 Gbit/s with 3 % of the packets lost: the demonstration between Brussels and Seattle",
        "over 800 Mbit/s on average; TCP from a few tens to a very few hundreds of Mbit/s",
        f"Tsunami's goodput is at least {bounds.DEMONSTRATED_MBPS:g} Mbit/s, TCP's at most "
        f"{bounds.TCP_MBPS:g} (read "
        'as "a very few hundreds").',
        ("lossy",),
        blast_rules.demonstrated,
        settings=(
            Setting("losses", f"{100 * given.LOSSY:g} %, random", given.TSUNAMI),
            Setting("round-trip time", f"{given.LOSSY_RTT_MS} ms", CHOSEN_HERE + ": Brussels to Seattle"),
        ),
        estimator="Goodput over the whole run; mean over repeats.",
        values={"tsunami_mbps": 800.0},
    ),
    _tsunami(
        "TSU-3",
        "a TCP flow that Tsunami joins",
        "aggressive tools such as this are intended for dedicated links, not for general use",
        f"TCP gets less than {HARM} of its fair share. {NUMBERS}",
        ("beside",),
        blast_rules.starves_tcp("tsunami"),
        settings=given.BESIDE_SETTINGS,
        estimator=BESIDE,
    ),
)

CLOUD_RULE = (
    f"Through the cloud the flow gets at least {short(bounds.CLOUD_SHARE)} of its rate and loses at most "
    f"{short(bounds.CLOUD_LOSS)} of its packets. {NUMBERS}"
)
MIX_RULE = (
    f"The explicit flow and TCP each get at least {short(bounds.MIX_SHARE)} of their fair shares, and the "
    "explicit "
    f"flow gets more than without the mechanism. {NUMBERS}"
)

GENERAL_CLAIMS: tuple[Claim[Data], ...] = (
    *(
        _thesis(
            f"GEN-{number}",
            f"{given.TITLES[system]} through a cloud without its routers, with XCP-i's virtual router "
            "around its law",
            "detection, estimate and virtual router are independent of the protocol and can be used with any",
            CLOUD_RULE,
            ("clouds",),
            rules.through_cloud(system),
            settings=given.CLOUD_SETTINGS,
        )
        for number, system in enumerate(given.WRAPPED, start=1)
    ),
    *(
        _thesis(
            f"GEN-{number}",
            f"{given.TITLES[system]} beside TCP, with the friendliness mechanism around its law",
            "the friendliness mechanisms are independent of the protocol and can be implemented in any ERN "
            "router",
            MIX_RULE,
            ("mixes",),
            rules.kept_beside(system),
            settings=given.MIX_SETTINGS,
            estimator=MIXED,
        )
        for number, system in enumerate(given.WRAPPED, start=1 + len(given.WRAPPED))
    ),
    _thesis(
        "GEN-7",
        f"{given.ACKS_FLOWS} flows of RCP on a capacity that others take and leave, with losses of ACKs",
        "the r architecture must be implemented in every ERN protocol, because ACKs carry its feedback and "
        "get lost",
        f"With {percent(given.ACKS_LOSS)} % of the ACKs lost, RCP loses more than "
        f"{multiple(bounds.ACKS_LOST_FACTOR)} as many packets as without, and its rate is below "
        f"{short(bounds.ACKS_KEPT_SHARE)} of that without. {NUMBERS}",
        ("acks",),
        rules.needs_r,
        settings=given.ACKS_SETTINGS,
        estimator="Means over the whole run, and over repeats.",
        note="An RCP-r would send the same: each of RCP's ACKs carries the whole state. The claim asks "
        "whether there "
        "is anything to gain.",
    ),
)

CLAIMS: tuple[Claim[Data], ...] = (
    *RCP_CLAIMS,
    *MAXNET_CLAIMS,
    *ERICA_CLAIMS,
    *CADPC_CLAIMS,
    *TRI_S_CLAIMS,
    *BLAST_CLAIMS,
    *GENERAL_CLAIMS,
)
