"""What a suite is made of: a paper, its experiments, their drawings, and claims with their checks."""

from __future__ import annotations

from longfat.figure.data import Curve, Panel, Table, points, theory
from longfat.store.kept import kept_as
from longfat.words import Mode
from longfat_papers.kit.checks import above, at_least, at_most, below, between, held, within_factor
from longfat_papers.kit.claims import CHOSEN_HERE, Check, Evidence, Measured, Missing, Setting, settings
from longfat_papers.kit.curves import (
    MeanOfRuns,
    by_algorithm,
    cwnd_panel,
    mean_of,
    repeats,
    repeats_text,
    samples,
    thinned,
)
from longfat_papers.kit.means import geometric_mean, mean, mean_factor
from longfat_papers.kit.paper import Checks, Declaration, Drawing, Paper
from longfat_papers.kit.reduction import history, reduce_run
from longfat_papers.kit.suite import Coordinate, Run, Runs
from longfat_papers.kit.text import counted, listed, multiple, part, percent, seconds, short, with_error

__all__ = [
    "CHOSEN_HERE", "Check", "Checks", "Coordinate", "Curve", "Declaration", "Drawing", "Evidence",
    "MeanOfRuns", "Measured", "Missing", "Mode", "Panel", "Paper", "Run", "Runs", "Setting", "Table",
    "above", "at_least", "at_most", "below", "between", "by_algorithm", "counted", "cwnd_panel",
    "geometric_mean", "held", "history", "kept_as", "listed", "mean", "mean_factor", "mean_of",
    "multiple", "part", "percent", "points", "reduce_run", "repeats", "repeats_text", "samples",
    "seconds", "settings", "short", "theory", "thinned", "with_error", "within_factor",
]  # fmt: skip
