"""The claims of the theory suite as data, written down with their rules before anything was measured."""

from __future__ import annotations

from longfat.runs import theory
from longfat_papers.kit.claims import CHOSEN_HERE, Claim, Paper, Setting
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import part, percent, short
from longfat_papers.theory import bounds, requirements, rules
from longfat_papers.theory.settings import (
    COMMON_SETTINGS,
    RESPONSE_SETTINGS,
    THESIS,
    UDT_SETTINGS,
    UNFAIR_SETTINGS,
    has,
    windowed,
)

WINDOW = (
    "Packets received per round-trip time, over the later half of the packets of a run with one loss every "
    "1/p packets."
)

_D_WITHIN = percent(bounds.D_FACTOR - 1.0)

_of_thesis = Paper[Data]("LOP", THESIS, COMMON_SETTINGS, WINDOW).claim

THESIS_CLAIMS: tuple[Claim[Data], ...] = (
    _of_thesis(
        "2a",
        setting="standard TCP, 10 Gbit/s, 100 ms, 1500 bytes",
        published="W = 83333 packets and at most one loss in 5e9 packets, 2e-10",
        settings=(
            *RESPONSE_SETTINGS,
            Setting(
                "rate that is simulated",
                "100 Mbit/s quick, 1 Gbit/s full, at the loss of 3 / (2 W^2)",
                CHOSEN_HERE + ": one loss in 5e9 packets takes hours; the law says how W and p scale",
            ),
        ),
        estimator=WINDOW + " d: least squares on logarithms over losses below 1e-3.",
        rule=(
            f"The law 3 / (2 W^2) gives {bounds.TEN_GIGABIT_LOSS:g} within "
            f"{percent(bounds.TEN_GIGABIT_FACTOR - 1.0)} %; one flow with the loss that the law requires at "
            f"the simulated rate reaches that rate within {percent(bounds.SCALED_FACTOR - 1.0)} %; the W^2 p "
            f"measured there gives {bounds.TEN_GIGABIT_LOSS:g} at 10 Gbit/s within "
            f"{percent(bounds.CONSTANT_FACTOR - 1.0)} %; the measured response is proportional to "
            f"p^-{short(bounds.STANDARD_D)}, with d within {percent(bounds.D_FACTOR - 1.0)} % (tolerances "
            "chosen here; the RFC that the thesis quotes has the constant 1.2 for our 1.22)."
        ),
        experiments=("scaled", "response"),
        find=rules.ten_gigabit,
        values={
            "window": rules.TEN_GIGABIT_WINDOW,
            "packets_per_loss": 5e9,
            "loss": bounds.TEN_GIGABIT_LOSS,
        },
        note="The thesis rounds: 1 / 5e9 is 2e-10, the law gives 2.16e-10 and one loss in 4.6e9 packets.",
    ),
    _of_thesis(
        "2b",
        setting="loss-based law c / p^d; two flows with round-trip times R1 and R2",
        published=(
            "RTT unfairness (R1 / R2)^(1 / (1 - d)): HSTCP d .82, exponent 5.55; Scalable TCP d 1, infinite"
        ),
        settings=(*RESPONSE_SETTINGS, *UNFAIR_SETTINGS),
        estimator=(
            WINDOW
            + " d: as in LOP-2a. Exponent: logarithm of the ratio of throughputs over that of the mean "
            "smoothed round-trip times, later half of the time that both flows run, mean over ratios and "
            "repeats."
        ),
        rule=(
            f"d is within {_D_WITHIN} % of {short(bounds.HSTCP_D)} for HSTCP and within {_D_WITHIN} % of "
            f"{short(bounds.STCP_D)} for Scalable TCP; the measured exponent of HSTCP is within a factor "
            f"{bounds.EXPONENT_FACTOR:g} of {bounds.HSTCP_EXPONENT:g}, that of Scalable TCP is above "
            f"{bounds.HSTCP_EXPONENT:g} (tolerances chosen here; infinity cannot be measured)."
        ),
        experiments=("response", "unfairness"),
        find=rules.unfairness_exponents,
        values={
            "hstcp_d": bounds.HSTCP_D,
            "stcp_d": bounds.STCP_D,
            "hstcp_exponent": bounds.HSTCP_EXPONENT,
        },
        note="RFC 3649's own d is .835, whose exponent is 6.06; the formula holds for synchronised losses.",
    ),
    _of_thesis(
        "2f",
        setting="UDT beside standard TCP, and beside BIC-TCP",
        published="UDT strongly degrades the throughput of both (2.4.2.3, after experiments of others)",
        settings=UDT_SETTINGS,
        estimator=(
            "Throughput of the TCP flow from the later start to the end, mean over repeats, over that of the "
            "first of two flows of its kind."
        ),
        rule=f"Both keep less than {part(bounds.STRONGLY)} (chosen here for strongly).",
        experiments=("udt",) if has("udt") else (),
        find=rules.udt_degrades,
        note="The thesis gives no setting.",
    ),
    _of_thesis(
        "2.4.1",
        setting="every algorithm; settings of each requirement in its estimator",
        published="seven requirements on a protocol for large networks, in words",
        estimator=" ".join(
            f"{item.number}. {item.name}: {item.estimator}." for item in requirements.REQUIREMENTS
        ),
        rule="There is nothing to check; the table is reported. Bounds, chosen here: "
        + "; ".join(f"{item.number} {item.bound}" for item in requirements.REQUIREMENTS)
        + ".",
        experiments=("requirements",),
        find=rules.seven_requirements,
        reports=True,
    ),
)

LAW_CLAIMS: tuple[Claim[Data], ...] = tuple(
    Paper[Data]("LAW", law.source, (*COMMON_SETTINGS, *RESPONSE_SETTINGS), WINDOW).claim(
        name,
        setting=f"one {name} flow, 100 ms, one loss every 1/p packets, the path never full",
        published=f"response function of {law.source}: c R^{law.e:g} / p^{law.d:.3g} at low loss"
        if law.e
        else f"response function of {law.source}: c / p^{law.d:.3g} at low loss",
        rule=(
            f"The measured window is within a factor {bounds.LAW_FACTOR:g} of the law at each loss at which "
            f"the law's window is not within a factor {bounds.SWITCH_FACTOR:g} of a switch of modes (numbers "
            "chosen here; the laws leave out the round trip that a recovery takes)."
        ),
        experiments=("response",),
        find=rules.follows_law(name),
    )
    for name, law in theory.LAWS.items()
    if name in windowed()
)

CLAIMS = (*THESIS_CLAIMS, *LAW_CLAIMS)
