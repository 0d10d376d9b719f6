"""Names columns of tables in words, with the units that figures use."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = {"rtt": "RTT", "jain": "Jain's index", "cov": "coefficient of variation", "srtt": "sRTT"}
UNITS = {
    "_bps": ("Mbit/s", 1e-6),
    "_pps": ("packets/s", 1.0),
    "_packets": ("packets", 1.0),
    "_s": ("s", 1.0),
    "_bytes": ("bytes", 1.0),
}
"""Units of columns by the ending of their names, and the factor from the table's unit."""
SEGMENTS = ("cwnd", "ssthresh", "cwnd_mean")
"""Columns in segments, whose names do not say it."""


def in_words(parts: Sequence[str]) -> str:
    """The parts of a key as words."""
    return " ".join(WORDS.get(word, word) for part in parts for word in part.split("_"))


def column(name: str) -> tuple[str, str, float]:
    """Names a column of the table `runs`; returns also its unit (or "") and the factor into it."""
    unit, factor, own = "segments" if name in SEGMENTS else "", 1.0, name
    for ending, (known, times) in UNITS.items():
        if name.endswith(ending):
            unit, factor, own = known, times, name.removesuffix(ending)
            break
    return in_words(own.split("_")), unit, factor


def quotient(parts: Sequence[str]) -> tuple[str, str, float]:
    """As `column`, for one column or for one divided by another."""
    told = [column(part) for part in parts]
    if len(told) == 1:
        return told[0]
    (above, unit, up), (below, other, down) = told
    if unit == other:
        unit = ""
    elif other:
        unit = f"{unit or '1'} / {other}"
    return f"{above} / {below}", unit, up / down


def labelled(name: str, unit: str) -> str:
    """The label of a figure's axis."""
    return f"{name}, {unit}" if unit else name
