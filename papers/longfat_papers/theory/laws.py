"""Each algorithm's law against the windows of the response functions (LAW)."""

from __future__ import annotations

from functools import partial

from longfat.runs import theory
from longfat_papers.kit import Checks, Evidence, Measured, Runs, mean_factor, within_factor
from longfat_papers.theory import common as th

LAW_FACTOR = 1.25  # measured window over the law's
SWITCH_FACTOR = 3.0  # distance from a switch of modes from which windows are compared


def follows(name: str, law: theory.Law, runs: Runs) -> Checks:
    """Compares the measurement at each loss with the law."""
    at, factors = runs.where(algorithm=name, kind=th.PERIODIC), {}
    for loss in at.distinct("loss"):
        expected = law.window(loss, th.RTT_S)
        if any(expected / SWITCH_FACTOR < edge < expected * SWITCH_FACTOR for edge in law.switch):
            continue
        window = at.where(loss=loss).mean("window")
        factors[f"{loss:g}"] = window / expected
        yield within_factor(f"p = {loss:g}: window", window, expected, LAW_FACTOR, than="the law's")
    label = "factor between measurement and law, mean over losses"
    return Evidence(
        "measured over law: " + ", ".join(f"{loss} {value:.3g}" for loss, value in factors.items()),
        {"factor": factors, "d": th.slope(runs, name)},
        figure=Measured(label, mean_factor(factors.values()), published=1.0, log=True),
    )


for name, law in theory.LAWS.items():
    if name not in th.windowed():
        continue
    form = f"c R^{law.e:g} / p^{law.d:.3g}" if law.e else f"c / p^{law.d:.3g}"
    th.PAPER.claim(
        name,
        f"one {name} flow, 100 ms, one loss every 1/p packets, the path never full",
        f"response function of {law.source}: {form} at low loss",
        ("response",),
        prefix="LAW",
        paper=law.source,
        settings=th.RESPONSE_SETTINGS,
        bounds=f"Losses at which the law's window is within a factor {SWITCH_FACTOR:g} of a switch of modes "
        "do not count. Numbers chosen here; the laws leave out the round trip that a recovery takes.",
    )(partial(follows, name, law))
