"""Changing load (AQM-1) and changing capacity (AQM-6)."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from longfat.figure.data import Curve, Panel
from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import DELAY_AXIS, DROPS_AXIS, SETTING, SIGNALS, over_queues
from longfat_papers.kit import CHOSEN_HERE, Check, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.text import multiple, short

LOW_MS, LOW_DROPS = 20.0, 0.02
STEADY_FACTOR = 2.0
"""Delay and drop ratio that are low, and greatest over least where they are stable."""
FEW, MORE = 5, 25
"""Flows that stay, and flows that run only in the second third of the run."""
HIGH_MBPS, LOW_MBPS = 100, 10
"""The capacities of RFC 7928, section 8.2.6, with the values of ns-3's aqm-eval-suite."""
SLOW, FAST = "slow", "fast"
CHANGE_S = {SLOW: 20.0, FAST: 0.1}
"""How long each capacity lasts, by the coordinate `change`: experiments 1 and 2 of 8.2.6."""

UNABLE = "AQM algorithms prove unable to keep queue and drop rate low and stable at once in dynamic networks"
LOW_AND_STABLE = (
    f"Low and stable means four things: mean delay at most {LOW_MS:g} ms; greatest delay at most "
    f"{multiple(STEADY_FACTOR)} the least; drop ratio at most {short(LOW_DROPS)}; greatest drop ratio at "
    f"most {multiple(STEADY_FACTOR)} the least. They are compared over "
)


@aq.PAPER.experiment("load", "RFC 7928, 8.2.5; thesis 2.5.1.5", "Changing load", grid=aq.COMPARED)
def changing_load(mode: Mode, **at: Any) -> aq.Table | None:
    third = aq.DURATION_S[mode] // 3
    more = {"start": {"uniform": [f"{third} s", f"{third + 1} s"]}, "stop": f"{2 * third} s"}
    flows = [aq.SACK | {"name": "few", "count": FEW}, aq.SACK | {"name": "more", "count": MORE} | more]
    return aq.scenario(mode, at, flows)


@aq.PAPER.experiment(
    "capacity",
    "RFC 7928, 8.2.6; thesis 2.5.1.5",
    "Changing capacity",
    grid={"change": tuple(CHANGE_S), **aq.COMPARED},
)
def changing_capacity(mode: Mode, **at: Any) -> aq.Table | None:
    span_s = CHANGE_S[at["change"]]
    steps = [
        [f"{round(number * span_s, 3):g} s", f"{(HIGH_MBPS, LOW_MBPS)[number % 2]} Mbit/s"]
        for number in range(round(aq.DURATION_S[mode] / span_s))
    ]
    return aq.scenario(mode, at, [aq.SACK | {"count": aq.FLOWS}], {"rate": {"steps": steps}})


@changing_load.drawing
def load(runs: Runs, mode: Mode) -> Drawing:
    phases = {"1": f"{FEW} flows", "2": f"{FEW + MORE} flows", "3": f"{FEW} again"}
    return Drawing(
        f"{FEW} flows, {MORE} more in the second third of the run. {SETTING} Means over each third; without "
        "drops there is no point. Below: histories with drops, means over half a second, first repeat. The "
        "capacity does not change here." + repeats(runs),
        (*_spans(runs, phases), *_histories(runs.where(signal=aq.DROPS))),
    )


@changing_capacity.drawing
def capacity(runs: Runs, mode: Mode) -> Drawing:
    slow, fast = runs.where(change=SLOW), runs.where(change=FAST)
    levels = {"high": f"{HIGH_MBPS} Mbit/s", "low": f"{LOW_MBPS} Mbit/s"}
    waits = (
        over_queues(label, [(text, fast.where(signal=signal), key)], title, y_range=y_range)
        for key, text, label, y_range in (
            ("wait_ms", "mean wait", "mean wait, ms", None),
            ("goodput_share", "all flows", "goodput / mean capacity", (0.0, 1.02)),
        )
        for signal, title in ((key, f"Every {CHANGE_S[FAST]:g} s. {text}") for key, text in SIGNALS.items())
    )
    return Drawing(
        f"{aq.FLOWS} like flows on a capacity of {HIGH_MBPS} and {LOW_MBPS} Mbit/s, alternating every "
        f"{CHANGE_S[SLOW]:g} s (above) and every {CHANGE_S[FAST]:g} s (below). {SETTING} Delays are the "
        "backlog over the current capacity, waits the mean backlog over the carried rate. RED's and CHOKe's "
        "thresholds are in packets and do not follow the capacity; Adaptive RED assumes the higher one. "
        "Without drops there is no point. Last: histories with slow changes and drops, means over half a "
        "second, first repeat." + repeats(runs),
        (*_spans(slow, levels, log=True), *waits, *_histories(slow.where(signal=aq.DROPS))),
    )


def _spans(runs: Runs, texts: Mapping[str, str], *, log: bool = False) -> Iterator[Panel]:
    """Yields delay and drops of each queue in spans of the run; the keys of ``texts`` end columns' names."""
    for key, label, y_log in (("delay_ms", DELAY_AXIS, log), ("drop_ratio", DROPS_AXIS, True)):
        for signal, title in SIGNALS.items():
            curves = [(text, runs.where(signal=signal), f"{key}_{span}") for span, text in texts.items()]
            yield over_queues(label, curves, title, log=y_log, stroke=1)


def _histories(runs: Runs) -> Iterator[Panel]:
    rows = {name: runs.where(queue=name).first() for name in aq.TITLES if runs.has(queue=name)}
    most = max(max(row["history_ms"]) for row in rows.values())
    for name, row in rows.items():
        title = aq.TITLES[name]
        curve = Curve(title, tuple(row["history_s"]), tuple(row["history_ms"]), None, name, "line")
        yield Panel(title, "time, s", DELAY_AXIS, (curve,), y_range=(0.0, 1.05 * most))


@changing_load.claim(
    "1",
    "changing load",
    UNABLE,
    paper=aq.THESIS,
    settings=(Setting("load", f"{FEW} flows, {FEW + MORE} in the second third, {FEW} again", CHOSEN_HERE),),
    bounds=f"{LOW_AND_STABLE}the thirds of the run. {aq.NUMBERS}",
)
def load_is_never_low_and_stable(runs: Runs) -> Checks:
    return _never_low_and_stable(runs.where(signal=aq.DROPS), ("1", "2", "3"))


@changing_capacity.claim(
    "6",
    "changing capacity",
    UNABLE,
    paper=aq.THESIS,
    settings=(
        Setting(
            "capacity",
            f"{HIGH_MBPS} and {LOW_MBPS} Mbit/s, alternating every 20 s and every 0.1 s",
            "RFC 7928, section 8.2.6, in the values of ns-3's aqm-eval-suite",
        ),
        Setting("flows", f"{aq.FLOWS} like flows", CHOSEN_HERE + "; ns-3's suite has 2"),
    ),
    bounds=f"{LOW_AND_STABLE}the times at either capacity, which changes every 20 s. {aq.NUMBERS}",
)
def capacity_is_never_low_and_stable(runs: Runs) -> Checks:
    dropping = runs.where(signal=aq.DROPS)
    found = yield from _never_low_and_stable(dropping.where(change=SLOW), ("high", "low"))
    fast = aq.means(dropping, ("wait_ms", "goodput_share"), change=FAST)
    waits = {f"{name}, {FAST}": {"wait_ms": ms, "goodput": share} for name, (ms, share) in fast.items()}
    text = aq.told(fast, "{:.1f} ms {:.3f}")
    note = f"Changing every {CHANGE_S[FAST]:g} s, mean wait and goodput / mean capacity: {text}."
    return replace(found, values={**found.values, **waits}, note=note)


def _never_low_and_stable(runs: Runs, spans: Sequence[str]) -> Generator[Check, None, Evidence]:
    """Checks that each queue of the thesis fails one of the four; ``spans`` end the names of columns."""
    texts, values, misses = [], {}, []
    for name, title in aq.TITLES.items():
        at = runs.where(queue=name)
        delays, drops = ([at.mean(f"{key}_{span}") for span in spans] for key in ("delay_ms", "drop_ratio"))
        held = {
            "queue low": max(delays) <= LOW_MS,
            "queue stable": max(delays) <= STEADY_FACTOR * min(delays),
            "drops low": max(drops) <= LOW_DROPS,
            "drops stable": max(drops) <= STEADY_FACTOR * min(drops),
        }
        missed = [text for text, holds in held.items() if not holds]
        texts.append(f"{title} {'not ' + ' / '.join(missed) if missed else 'low and stable'}")
        values[name] = {"delay_ms": delays, "drop_ratio": drops}
        if name in aq.OF_THE_THESIS:
            text = f"{title}: not both low and stable"
            seen = ", ".join(f"{ms:.1f} ms {ratio:.2g}" for ms, ratio in zip(delays, drops, strict=True))
            yield Check(text, bool(missed), seen, ", ".join(missed) or "all held")
            varied = [row for row in (delays, drops) if max(row) > 0.0]
            steady = [max(row) / (STEADY_FACTOR * min(row)) if min(row) > 0.0 else math.inf for row in varied]
            misses.append(max(max(delays) / LOW_MS, max(drops) / LOW_DROPS, *steady))
    label = "least miss of the thesis's queues: their worst of the four over its bound"
    return Evidence("; ".join(texts), values, figure=Measured(label, min(misses), log=True))
