"""The runs of the theory suite: response functions, RTT unfairness, the seven requirements, UDT."""

from __future__ import annotations

from longfat.runs import theory
from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit.suite import Experiment, Run
from longfat_papers.theory import figures, requirements
from longfat_papers.theory.settings import (
    LEAST_PACKETS,
    LOSSES,
    PAIR_REPEATS,
    PERIODIC_EPOCHS,
    RANDOM_EPOCHS,
    RARE,
    REPEATS,
    RTT_S,
    SCALED_BPS,
    TIME_MARGIN,
    UNFAIR_LONG_MS,
    UNFAIR_RATE_BPS,
    UNFAIR_RATIOS,
    controlled,
    flow,
    has,
    law_window,
    pair,
    rate_for,
    windowed,
)

PERIODIC, RANDOM = "periodic", "random"
"""Kinds of loss: every n-th packet, or each packet with the same probability."""

UDT_BPS, UDT_RTT_MS, UDT_S = 100e6, 40.0, 200.0
VICTIMS = ("reno", "bic")


def response_runs(mode: Mode) -> list[Run]:
    """One flow of every window-based algorithm, over losses of both kinds."""
    found = []
    for name in windowed():
        for loss in LOSSES[mode]:
            found.append(response(name, loss, PERIODIC, 0))
            repeats = 1 if loss <= RARE else REPEATS[mode]
            found += [response(name, loss, RANDOM, repeat) for repeat in range(repeats)]
    return found


def response(name: str, loss: float, kind: str, repeat: int) -> Run:
    """One run. It ends with its data, so that all algorithms get as many losses and none runs for hours."""
    epochs = RANDOM_EPOCHS if kind == RANDOM and loss > RARE else PERIODIC_EPOCHS
    packets = max(epochs / loss, LEAST_PACKETS)
    window = law_window(name, loss)
    known = name in theory.LAWS
    slowest = window if known else theory.standard_window(loss)
    duration_s = TIME_MARGIN * packets / slowest * RTT_S
    # the length is given in bytes; a packet has 1448 bytes of payload
    document = pair(
        f"{name} under {kind} losses of {loss:g}",
        rate_for(window),
        (flow(name, RTT_S * 1e3, "0 s", bytes=f"{1448 * int(packets)} B"),),
        duration_s=duration_s,
        repeat=repeat,
        buffer="100 % BDP",
    )
    if known:
        document["flow"][0]["initial_ssthresh"] = window
    document["bottleneck"]["loss"] = {"every": round(1.0 / loss)} if kind == PERIODIC else loss
    document["bottleneck"]["access_rate"] = document["bottleneck"]["rate"]
    document["sample"] = {"cwnd": f"{max(duration_s / 20_000.0, 0.01):.6f} s", "queue": f"{duration_s:g} s"}
    return Run({"algorithm": name, "loss": loss, "kind": kind, "repeat": repeat}, document, packets)


def scaled_runs(mode: Mode) -> list[Run]:
    """LOP-2a at a lower rate: standard TCP with the loss that its law requires for that rate."""
    window = SCALED_BPS[mode] * RTT_S / PACKET_BITS
    run = response("reno", theory.standard_loss(window), PERIODIC, 0)
    return [Run({**run.coordinates, "rate_mbps": SCALED_BPS[mode] / 1e6}, run.document, run.packets)]


def unfairness_runs(mode: Mode) -> list[Run]:
    """Two like flows, the first with the longer round-trip time."""
    duration_s = 200.0 if mode == "quick" else 600.0
    return [
        Run(
            {"algorithm": name, "rtt_ratio": ratio, "repeat": repeat},
            pair(
                f"{name}, round-trip times as {ratio:g} to 1",
                UNFAIR_RATE_BPS,
                (flow(name, UNFAIR_LONG_MS), flow(name, UNFAIR_LONG_MS / ratio)),
                duration_s=duration_s,
                repeat=repeat,
                buffer="20 % BDP",
                buffer_rtt_ms=UNFAIR_LONG_MS,
            ),
            UNFAIR_RATE_BPS * duration_s / PACKET_BITS,
        )
        for name in controlled()
        for ratio in UNFAIR_RATIOS[mode]
        for repeat in range(REPEATS[mode])
    ]


def udt_runs(mode: Mode) -> list[Run]:
    """Standard TCP and BIC-TCP, each beside another of its kind and beside UDT."""
    return [
        Run(
            {"algorithm": victim, "against": other, "repeat": repeat},
            pair(
                f"{victim} beside {other}",
                UDT_BPS,
                (flow(victim, UDT_RTT_MS), flow(other, UDT_RTT_MS)),
                duration_s=UDT_S,
                repeat=repeat,
                buffer="100 % BDP",
            ),
            UDT_BPS * UDT_S / PACKET_BITS,
        )
        for victim in VICTIMS
        for other in (victim, "udt")
        for repeat in range(PAIR_REPEATS[mode])
    ]


EXPERIMENTS = (
    Experiment(
        "response", "response", "Response functions of all algorithms", response_runs, figures.response
    ),
    Experiment("scaled", "2.3.3", "What standard TCP needs to fill a fat link", scaled_runs, figures.scaled),
    Experiment("unfairness", "2.4.3.4", "RTT unfairness", unfairness_runs, figures.unfairness),
    Experiment("requirements", "2.4.1", "Seven requirements", requirements.runs, figures.requirements_figure),
    *((Experiment("udt", "2.4.2.3", "UDT beside TCP", udt_runs, figures.udt),) if has("udt") else ()),
)
