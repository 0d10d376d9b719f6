"""Settings of Ha et al. 2006 (HA), each with its source, and what the slides' figures share.

Only the slides of the talk were available; they give no rate, buffer or amount of traffic. Their figures were
not available either, and their text has no numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit import (
    CHOSEN_HERE,
    Coordinate,
    Curve,
    Declaration,
    Drawing,
    MeanOfRuns,
    Measured,
    Mode,
    Panel,
    Paper,
    Run,
    Runs,
    Setting,
    history,
    kept_as,
    points,
    repeats_text,
)

ALGORITHMS: dict[str, dict[str, Any]] = {
    "reno": {"name": "reno"},
    "bic": {"name": "bic"},
    "cubic": {"name": "cubic", "variant": "2005"},
    "fast": {"name": "fast", "alpha": 200},
    "hstcp": {"name": "hstcp", "table": "nearest"},
    "htcp": {"name": "htcp", "variant": "linux"},
    "stcp": {"name": "stcp"},
    "westwood": {"name": "westwood"},
    "ltcp": {"name": "ltcp"},
    "africa": {"name": "africa"},
    "yeah": {"name": "yeah", "variant": "paper"},
    "ctcp": {"name": "ctcp", "variant": "paper"},
    "illinois": {"name": "illinois"},
    "westwood+": {"name": "westwood+"},
    "vegas": {"name": "vegas"},
    "hstcp-lp": {"name": "hstcp-lp"},
}
"""The protocols that the slides name, and the TCP variants of the later suites; `theory` has all algorithms.

Standard TCP without SACK and parallel TCP are left out, and so are transports over UDP and explicit rates,
which need their own stack or router.
"""

TITLES = {
    "reno": "TCP SACK",
    "bic": "BIC",
    "cubic": "CUBIC",
    "fast": "FAST",
    "hstcp": "HSTCP",
    "htcp": "H-TCP",
    "stcp": "STCP",
    "westwood": "Westwood",
    "ltcp": "LTCP",
    "africa": "Africa",
    "yeah": "YeAH",
    "ctcp": "Compound",
    "illinois": "Illinois",
    "westwood+": "Westwood+",
    "vegas": "Vegas",
    "hstcp-lp": "HSTCP-LP",
}
MEASURED = ("reno", "bic", "cubic", "fast", "hstcp", "htcp", "stcp")
"""The protocols for which the slides show results; the claims are about them."""
HISTORIES = ("fast", "stcp", "hstcp", "htcp", "bic", "cubic")
"""The protocols whose throughput the backup slides show, in the order of the slides."""

RATE_MBPS = 400
BUFFER = "2 MB"
HISTORY_RTT_MS = 82
LONG_RTT_MS = 162
RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (HISTORY_RTT_MS,), "full": (42, HISTORY_RTT_MS, LONG_RTT_MS)}
SHORT_RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (16, 82), "full": (16, 42, 82, LONG_RTT_MS)}
FIRST_S, SECOND_S = 30, 130
DURATION_S: dict[Mode, int] = {"quick": 300, "full": 1200}
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Repeats of the protocols in `MEASURED`; the others are shown beside them and run once."""

WITHOUT, WITH = "without", "with"
"""Values of the coordinate `background`."""
BACKGROUNDS = (WITHOUT, WITH)

SHORT_LOAD = "15 %"
LONG_FLOWS = 8
LONG_WINDOW = 44
BACKGROUND_RTT = {"exponential": "100 ms"}
KERNEL = "linux-2.6.16"
"""The stack of all hosts: the kernel of the year of the talk."""
BACKGROUND: list[dict[str, Any]] = [
    {"kind": "short", "load": SHORT_LOAD, "rtt": BACKGROUND_RTT, "direction": "both", "stack": KERNEL},
    {
        "kind": "bulk",
        "flows": LONG_FLOWS,
        "max_window": LONG_WINDOW,
        "start": {"uniform": ["0 s", "30 s"]},
        "rtt": BACKGROUND_RTT,
        "direction": "both",
        "stack": KERNEL,
    },
]

STACK: dict[str, Any] = {"stack": KERNEL}

ROUTER_TICK = "1 ms"
"""dummynet works at the ticks of its host's clock."""

NO_RATE = f"The slides give no rate or buffer: {RATE_MBPS} Mbit/s and {BUFFER}, chosen here."
"""Part of every caption."""

PANELS = {WITHOUT: "Without background", WITH: "With background"}
NUMBERS = "Numbers chosen here."
MEANS = "Mean over RTTs and repeats, over the time that both flows run, without and with background."

COMMON_SETTINGS = (
    Setting("topology", "dumbbell, one bottleneck", "slides, Testbed Overview"),
    Setting(
        "rate and buffer", f"{RATE_MBPS} Mbit/s, {BUFFER}, drop-tail", CHOSEN_HERE + ": no slide has one"
    ),
    Setting("access links, packets", "1 Gbit/s, 1500 bytes", CHOSEN_HERE),
    Setting(
        "flows",
        f"two, from {FIRST_S} s and {SECOND_S} s on",
        "slides, Experimental Plan; within the next second, " + CHOSEN_HERE,
    ),
    Setting("duration", "1200 s", "slides, Experimental Plan"),
    Setting("RTT", "42, 82 and 162 ms; means over them", "82 and 162 ms: slides; 42 ms " + CHOSEN_HERE),
    Setting(
        "short background flows",
        f"lognormal body and Pareto tail of sizes, exponential gaps; {SHORT_LOAD} of the capacity each way",
        "slides, Background Traffic; SURGE's constants and the load " + CHOSEN_HERE,
    ),
    Setting(
        "long background flows",
        f"{LONG_FLOWS} each way, TCP SACK, at most {LONG_WINDOW} segments (64 kB, as hosts had by default)",
        "slides, Background Traffic; number and window " + CHOSEN_HERE,
    ),
    Setting(
        "background RTTs", "exponential, mean 100 ms", "backup slides: exponential; the mean " + CHOSEN_HERE
    ),
    Setting(
        "stack",
        f"{KERNEL}, of all flows",
        CHOSEN_HERE + ": the slides name no kernel; it is that of the month after the talk",
    ),
    Setting(
        "router",
        f"dummynet, which works at ticks of {ROUTER_TICK}",
        "slides, Testbed Overview (dummynet); dummynet(4) strongly recommends a clock of 1000 Hz",
    ),
    Setting(
        "FAST",
        "alpha 200 packets, fixed",
        CHOSEN_HERE + ": the value for 1 Gbit/s; two flows fill half the buffer",
    ),
    Setting("CUBIC, H-TCP, HSTCP", "variants 2005, linux, table as in Linux", CHOSEN_HERE + ": as of 2006"),
    Setting("others", "as in `longfat list algorithms`, with their defaults", CHOSEN_HERE),
    Setting(
        "repeats",
        "3, over seeds: starts and background differ; 1 for protocols without results on the slides",
        CHOSEN_HERE,
    ),
)


@kept_as("longfat.suites.ha2006_reduction.reduce_run", "e2bf04960a0b7f5e")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row of quantities, with the flows' histories under ``series``.

    `utilization` counts all traffic on the bottleneck. `loss_ratio` is lost over sent packets of the two
    flows, `link_loss_ratio` that of all traffic. `cov` is taken over seconds and is the mean of both flows.
    """
    summary = result.summary
    link, flows = summary["links"][0], summary["flows"]
    rates = [flow["throughput_bps"] for flow in flows]
    forward = [group for group in summary["background"] if not group["name"].endswith("-reverse")]
    return {
        "utilization": link["utilization"],
        "cov": summary["metrics"]["cov"],
        "loss_ratio": metrics.loss_ratio(
            sum(flow["packets_lost"] for flow in flows), sum(flow["packets_sent"] for flow in flows)
        ),
        "link_loss_ratio": link["loss_ratio"],
        "jain": metrics.jain(rates),
        "ratio": metrics.throughput_ratio(rates),
        "throughput_1_bps": rates[0],
        "throughput_2_bps": rates[1],
        "convergence_80_s": summary["metrics"]["convergence_80_s"],
        "background_share": sum(group["throughput_bps"] for group in forward) / link["rate_bps"],
        "queue_mean_packets": link["queue_mean_packets"],
        "packets": link["packets_in"],
        "series": [history(flow["name"], result.flow(flow["name"])) for flow in flows],
    }


PAPER = Paper(
    "ha2006",
    "HA",
    "A Step toward Realistic Performance Evaluation of High-Speed TCP Variants",
    "Ha, Kim, Le, Rhee, Xu: A Step toward Realistic Performance Evaluation of High-Speed TCP Variants, "
    "PFLDnet 2006 (slides)",
    settings=COMMON_SETTINGS,
    estimator=MEANS,
    reduce=reduce_run,
    counts=lambda run: run.coordinates["algorithm"] in MEASURED,
)


def scenario(flows: Sequence[tuple[str, int]], mode: Mode, background: str, repeat: int) -> dict[str, Any]:
    """Returns a scenario of the testbed; ``flows`` are (algorithm, RTT in ms) in the order they start."""
    (first, first_ms), (second, second_ms) = flows
    return {
        "title": f"{first} at {first_ms} ms, {second} at {second_ms} ms, {background} background",
        "duration": f"{DURATION_S[mode]} s",
        "seed": repeat + 1,
        "window": [f"{SECOND_S} s", f"{DURATION_S[mode]} s"],
        "bottleneck": {
            "rate": f"{RATE_MBPS} Mbit/s",
            "buffer": BUFFER,
            "queue": "droptail",
            "access_rate": "1 Gbit/s",
            "service_tick": ROUTER_TICK,
        },
        "flow": [
            {
                **STACK,
                "algorithm": dict(ALGORITHMS[name]),
                "rtt": f"{rtt_ms} ms",
                "start": {"uniform": [f"{start} s", f"{start + 1} s"]},
            }
            for (name, rtt_ms), start in zip(flows, (FIRST_S, SECOND_S), strict=True)
        ],
        **({"background": [dict(source) for source in BACKGROUND]} if background == WITH else {}),
    }


def background(document: dict[str, Any], short_load: str, long_flows: int) -> dict[str, Any]:
    """Changes the amount of background traffic, for readings."""
    amounts: dict[str, dict[str, Any]] = {"short": {"load": short_load}, "bulk": {"flows": long_flows}}
    for source in document.get("background", []):
        source |= amounts[source["kind"]]
    return document


def pairs(
    mode: Mode,
    names: Iterable[str],
    rtts_ms: Iterable[int],
    flows: Callable[[str, int], Sequence[tuple[str, int]]] = lambda name, rtt: ((name, rtt), (name, rtt)),
) -> list[Run]:
    """Returns the runs of pairs, without and with background; by default two like flows."""
    found = []
    for name in names:
        repeats = range(REPEATS[mode] if name in MEASURED else 1)
        for rtt in rtts_ms:
            for background in BACKGROUNDS:
                for repeat in repeats:
                    at: dict[str, Coordinate] = {
                        "algorithm": name,
                        "rtt_ms": rtt,
                        "background": background,
                        "repeat": repeat,
                    }
                    found.append(Run(at, scenario(flows(name, rtt), mode, background, repeat)))
    return found


def like_pairs(name: str, slide: str, title: str) -> Declaration:
    """Declares an experiment with two flows of one protocol with one RTT; six slides share these runs."""
    return PAPER.experiment(name, slide, title)(lambda mode: pairs(mode, ALGORITHMS, RTTS_MS[mode]))


def shown(mode: Mode) -> Iterable[str]:
    """In quick mode, only the protocols that the claims are about: these runs serve a single claim."""
    return MEASURED if mode == "quick" else ALGORITHMS


def both(runs: Runs, quantity: str, names: tuple[str, ...] = MEASURED) -> dict[str, tuple[float, float]]:
    """Returns each protocol's mean over RTTs and repeats, without and with background."""
    return {
        name: (at.where(background=WITHOUT).mean(quantity), at.where(background=WITH).mean(quantity))
        for name in names
        for at in [runs.where(algorithm=name)]
    }


def added(label: str, runs: Runs, quantity: str, names: tuple[str, ...] = MEASURED) -> Measured:
    """Returns what background adds to a quantity, as the mean over protocols and RTTs."""
    names = tuple(name for name in names if runs.has(algorithm=name))
    counted = Runs(runs.name, [row for row in runs if row["algorithm"] in MEASURED])

    def mean(rows: Runs) -> float:
        return float(np.mean([after - before for before, after in both(rows, quantity, names).values()]))

    return Measured(label, *counted.over_repeats(mean))


def listed(found: Mapping[str, tuple[float, float]]) -> str:
    """Writes the values of each protocol without and with background."""
    return ", ".join(f"{TITLES[name]} {before:.3g} to {after:.3g}" for name, (before, after) in found.items())


def metric(
    text: str,
    runs: Runs,
    y_label: str,
    mean: MeanOfRuns,
    y_range: tuple[float, float] | None = None,
) -> Drawing:
    """Draws a metric over the protocols, without and with background side by side."""
    return Drawing(f"{text} {NO_RATE}{repeated(runs)}", panels(runs, y_label, mean, y_range=y_range))


def panels(
    runs: Runs,
    y_label: str,
    mean: MeanOfRuns,
    *,
    of: str = "",
    y_range: tuple[float, float] | None = None,
    y_log: bool = False,
) -> tuple[Panel, ...]:
    """Returns a metric over the protocols, without and with background on the same scale."""
    names = [name for name in TITLES if runs.has(algorithm=name)]
    curves = {
        background: tuple(
            points(
                f"{rtt} ms",
                [
                    (float(index), mean(runs.where(algorithm=name, background=background, rtt_ms=rtt)))
                    for index, name in enumerate(names)
                ],
                stroke=stroke,
            )
            for stroke, rtt in enumerate(runs.distinct("rtt_ms"))
        )
        for background in BACKGROUNDS
    }
    return tuple(
        Panel(
            PANELS[background] + (f", {of}" if of else ""),
            "",
            y_label,
            curves[background],
            y_log=y_log,
            y_range=y_range or _common(curves, y_log),
            categories=tuple(TITLES[name] for name in names),
        )
        for background in BACKGROUNDS
    )


def _common(curves: Mapping[str, tuple[Curve, ...]], log: bool) -> tuple[float, float] | None:
    """Returns one scale for panels that are compared with each other."""
    found = [y for group in curves.values() for curve in group for y in curve.y if math.isfinite(y)]
    positive = [y for y in found if y > 0.0]
    if not positive:
        return None
    return (0.5 * min(positive), 2.0 * max(positive)) if log else (0.0, 1.1 * max(positive))


def repeated(runs: Runs) -> str:
    """Says in a caption how many runs a point stands for."""
    seen: dict[str, set[Any]] = {}
    for row in runs:
        on_slides = row["algorithm"] in MEASURED
        group = "for protocols with results on the slides" if on_slides else "for others"
        seen.setdefault(group, set()).add(row["repeat"])
    return repeats_text({group: len(numbers) for group, numbers in sorted(seen.items(), reverse=True)})
