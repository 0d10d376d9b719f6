"""Response functions of all algorithms: mean windows under losses, each beside its law."""

from __future__ import annotations

import math
from collections.abc import Iterable

from longfat.figure.data import Curve
from longfat.runs import theory
from longfat_papers.kit import Drawing, Mode, Panel, Run, Runs, points, samples
from longfat_papers.theory import common as th

LOSSES: dict[Mode, tuple[float, ...]] = {
    "quick": (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5),
    "full": (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7),
}
POINTS_A_DECADE = 20
LAW_STROKE, STANDARD_STROKE = 1, 6


@th.PAPER.experiment("response", "response", "Response functions of all algorithms")
def response(mode: Mode) -> list[Run]:
    """One flow of every window-based algorithm, over losses of both kinds."""
    found = []
    for name in th.windowed():
        for loss in LOSSES[mode]:
            repeats = 1 if loss <= th.RARE else th.REPEATS[mode]
            found.append(th.response(name, loss, th.PERIODIC, 0))
            found += [th.response(name, loss, th.RANDOM, repeat) for repeat in range(repeats)]
    return found


@response.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    """All algorithms together, then each beside its law."""
    names, losses = th.names(runs), runs.distinct("loss")
    kinds = {th.PERIODIC: "one loss every 1/p", th.RANDOM: "random losses"}

    def windows(label: str, name: str, kind: str, algorithm: str | None, stroke: int = 0) -> Curve:
        at = runs.where(algorithm=name, kind=kind)
        return points(label, samples(at, "loss", "window"), algorithm, stroke)

    def panel(title: str, curves: Iterable[Curve]) -> Panel:
        return Panel(
            title, "loss probability", "packets per round-trip time", tuple(curves), x_log=True, y_log=True
        )

    panels = [
        panel(f"all, {title}", (windows(name, name, kind, name) for name in names))
        for kind, title in kinds.items()
    ]
    for name in names:
        law = theory.LAWS.get(name)
        curves = [_law("standard TCP's law", theory.LAWS["reno"], losses, STANDARD_STROKE)]
        if law is not None and name != "reno":
            curves.append(_law("its own law", law, losses, LAW_STROKE))
        curves.append(windows("one loss every 1/p packets", name, th.PERIODIC, None))
        curves.append(windows("random losses", name, th.RANDOM, None, 2))
        panels.append(panel(name if law is not None else f"{name} (no law)", curves))
    return Drawing(
        "Mean window of one flow over a path of 100 ms that never fills, against the loss: Fig. 13 of "
        "Li, Leith and Shorten for every window-based algorithm of the registry. Later half of the "
        "packets of each run; random losses: mean and standard error over repeats. Sources of the laws: "
        + "; ".join(f"{name}: {theory.LAWS[name].source}" for name in names if name in theory.LAWS)
        + ".",
        tuple(panels),
        columns=3,
    )


def _law(label: str, law: theory.Law, losses: list[float], stroke: int) -> Curve:
    low, high = math.log10(min(losses)), math.log10(max(losses))
    steps = max(1, round((high - low) * POINTS_A_DECADE))
    grid = tuple(10.0 ** (low + (high - low) * step / steps) for step in range(steps + 1))
    windows = tuple(law.window(loss, th.RTT_S) for loss in grid)
    return Curve(label, grid, windows, None, None, "theory", stroke)
