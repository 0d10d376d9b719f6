"""The claims about queues as data, written down with their rules before anything was measured."""

from __future__ import annotations

from longfat_papers.aqm import bounds, rules
from longfat_papers.aqm.settings import (
    ABOVE_BURSTS,
    AROUND_PIE,
    COMMON_SETTINGS,
    FEW,
    FLOWS,
    GUIDELINES,
    HIGH_MBPS,
    LONG_BUFFER_PACKETS,
    LOW_MBPS,
    MORE,
    RESPONSIVE,
    THESIS,
)
from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import multiple, short

NUMBERS = "Numbers chosen here."
LOW_AND_STABLE = (
    f"mean delay at most {bounds.LOW_MS:g} ms; greatest delay at most {multiple(bounds.STEADY_FACTOR)} the "
    f"least; drop ratio at most {short(bounds.LOW_DROPS)}; greatest drop ratio at most "
    f"{multiple(bounds.STEADY_FACTOR)} the least."
)
MEAN = "Mean over repeats, from 10 s on."
TANG = "Tang, Wang, Low: Understanding CHOKe, IEEE/ACM ToN 12(4), 2004; thesis, section 2.5.1.2"
OTT = "Ott, Lakshman, Wong: SRED: Stabilized RED, INFOCOM 1999; thesis, section 2.5.1.4"


_of_thesis, _of_guidelines, _of_tang, _of_ott = (
    Paper[Data]("AQM", citation, COMMON_SETTINGS, MEAN).claim for citation in (THESIS, GUIDELINES, TANG, OTT)
)

CLAIMS: tuple[Claim[Data], ...] = (
    _of_thesis(
        "1",
        "changing load",
        "AQM algorithms prove unable to keep queue and drop rate low and stable at once in dynamic networks",
        "RED, CHOKe, BLUE and SRED each fail at least one of four, over the thirds of the run: "
        + f"{LOW_AND_STABLE} {NUMBERS}",
        ("load",),
        rules.load_low_and_stable,
        settings=(
            Setting("load", f"{FEW} flows, {FEW + MORE} in the second third, {FEW} again", CHOSEN_HERE),
        ),
    ),
    _of_thesis(
        "2",
        "fairness of mixes of flows, against drop-tail",
        "in some scenarios AQM improves fairness, in others it degrades it seriously",
        "Among RED, CHOKe, BLUE and SRED in three mixes of TCP flows, at least one Jain's index is "
        f"{short(bounds.MARGIN)} above drop-tail's and at least one is {short(bounds.MARGIN)} below. "
        f"{NUMBERS}",
        ("fairness",),
        rules.fairness_either_way,
        settings=(
            Setting(
                "mixes",
                f"{FLOWS} flows: alike; half at 20 and half at 100 ms; half TCP SACK and half Scalable TCP",
                CHOSEN_HERE,
            ),
        ),
    ),
    _of_tang(
        "3",
        "datagrams at a constant rate beside many flows of TCP, behind CHOKe",
        "at most 1 / (1 + e) = 26.9 % of the capacity, whatever they offer",
        f"Beside {RESPONSIVE[1]} flows the datagrams get at most 1 / (1 + e) at each rate, and less than "
        f"behind RED. {NUMBERS}",
        ("unresponsive",),
        rules.choke_holds_back,
        settings=(
            Setting(
                "flows of TCP",
                f"{RESPONSIVE[1]}; {RESPONSIVE[0]} for comparison",
                CHOSEN_HERE + f": a first measurement had only {RESPONSIVE[0]}, but the proof needs many",
            ),
        ),
        values={"greatest_share": 0.269},
    ),
    _of_ott(
        "4",
        "like flows behind SRED",
        "1 / P estimates the number of active flows",
        f"The estimate is within a factor {bounds.NEAR_FACTOR:g} of each number of flows. {NUMBERS}",
        ("flows",),
        rules.sred_counts,
    ),
    _of_guidelines(
        "5",
        f"{FLOWS} like flows",
        "prints no value; goodput against queueing delay is reported here",
        "The values are reported; the checks compare goodput with drop-tail's.",
        ("tradeoff",),
        rules.tradeoff,
        reports=True,
    ),
    _of_thesis(
        "6",
        "changing capacity",
        "AQM algorithms prove unable to keep queue and drop rate low and stable at once in dynamic networks",
        "RED, CHOKe, BLUE and SRED each fail at least one of four, over the times at either capacity, "
        f"which changes every 20 s: {LOW_AND_STABLE} {NUMBERS}",
        ("capacity",),
        rules.capacity_low_and_stable,
        settings=(
            Setting(
                "capacity",
                f"{HIGH_MBPS} and {LOW_MBPS} Mbit/s, alternating every 20 s and every 0.1 s",
                "RFC 7928, section 8.2.6, in the values of ns-3's aqm-eval-suite",
            ),
            Setting("flows", f"{FLOWS} like flows", CHOSEN_HERE + "; ns-3's suite has 2"),
        ),
    ),
    _of_tang(
        "7",
        "datagrams beside many flows of TCP, behind CHOKe with room above its thresholds",
        "at most 1 / (1 + e) = 26.9 % of the capacity, whatever they offer",
        f"With thresholds of {ABOVE_BURSTS[0]} and {ABOVE_BURSTS[1]} packets the datagrams get at most 1 / "
        f"(1 + e) at each rate, and less than with {AROUND_PIE[0]} and {AROUND_PIE[1]}. {NUMBERS}",
        ("bound",),
        rules.choke_bound,
        settings=(
            Setting("flows of TCP", f"{RESPONSIVE[-1]}", CHOSEN_HERE),
            Setting(
                "thresholds, buffer",
                f"{ABOVE_BURSTS[0]} and {ABOVE_BURSTS[1]} packets, {LONG_BUFFER_PACKETS} of room",
                CHOSEN_HERE
                + ": written after AQM-3 was found to fail, to show why; CHOKe compares nothing while "
                "the average queue is below its lower threshold",
            ),
        ),
        values={"greatest_share": 0.269},
    ),
    _of_ott(
        "8",
        "flows of TCP behind SRED",
        "1 / P estimates 1 / sum of squared shares (proposition 1)",
        f"The estimate is within a factor {bounds.CLOSE_FACTOR:g} of 1 / sum of squared shares at each "
        f"number of flows; the shares are taken over the packets that the list remembers. {NUMBERS}",
        ("flows",),
        rules.sred_sees_shares,
        settings=(
            Setting(
                "shares",
                "products of shares in 0.1 s and in the packets before, weighted exp(-age / 4000 packets)",
                CHOSEN_HERE
                + ": 1000 zombies, replaced with probability 1/4; written after AQM-4 was found 7 to "
                "11 % low, to show why",
            ),
        ),
    ),
)
