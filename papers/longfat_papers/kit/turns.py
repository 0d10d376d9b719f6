"""Shows what readings do to claims: a table for the terminal, and a tornado figure for each claim.

Everything here is made of the entries of `assumptions.json`, so a page can be built again without a run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table as Lines

from longfat.figure.data import Bar, Figure, Table, Tornado
from longfat_papers.kit.effects import MOST_CHANGE, MOST_ERRORS, WITH_VERDICT
from longfat_papers.kit.text import counted, percent, with_error

OUTCOMES = {
    "base": "at the base",
    "reading": "under a reading",
    "none": "under none",
    "reports": "no published value",
    "unfinished": "runs are missing",
}
"""Where a claim is reproduced, in words."""

MOST_PAIRS = 12
"""Most pairs in a figure and in the terminal: those that do most. The figure's table has all."""
MOST_NAMED = 3
"""Pairs that a sentence names."""

Entry = Mapping[str, Any]


def turns_table(entries: Iterable[Entry]) -> Lines:
    """Returns what the readings do to each claim as a table for the terminal."""
    table = Lines(title="Readings of what the paper leaves open", title_justify="left", show_lines=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("figure", ratio=3)
    table.add_column("at the base", ratio=2)
    table.add_column("readings that turn or move it", ratio=5)
    table.add_column("reproduced", no_wrap=True)
    for entry in entries:
        base = entry["base"]
        paper = entry["figure"]["published"]
        table.add_row(
            entry["id"],
            entry["figure"]["label"] + (f" (paper: {paper:.3g})" if paper is not None else ""),
            f"{base['verdict']}, {with_error(*_value(base))}",
            "\n".join(_effects(entry)),
            OUTCOMES[entry["outcome"]],
        )
    return table


def name(reading: Entry) -> str:
    """Returns the name of a reading or a pair: "host-tick: none + acks: counted"."""
    return " + ".join(f"{change['assumption']}: {change['reading']}" for change in reading["changes"])


def told(entry: Entry) -> str:
    """Says where a claim is reproduced: "reproduced under a reading"."""
    where = OUTCOMES[entry["outcome"]]
    return f"reproduced {where}" if entry["outcome"] in WITH_VERDICT else where


def summary(entry: Entry) -> str:
    """Says in a sentence or two what the readings do to a claim."""
    base = entry["base"]["verdict"]
    if entry["closed"]:
        return f"{_capital(base)} at the base. Nothing is open: {entry['closed']}"
    if entry["outcome"] == "reports":
        return "The paper prints no value to compare with, so there is no verdict."
    groups: dict[str, list[str]] = {}
    for item in entry["readings"]:
        if item["turned"]:
            groups.setdefault(item["verdict"], []).append(name(item))
    sentences = [f"{_capital(verdict)} under {', '.join(names)}." for verdict, names in groups.items()]
    turned = " ".join([*sentences, *_of_pairs(entry["pairs"])])
    unmeasured = sum(item["verdict"] == "not measured" for item in _every(entry))
    are = "reading is" if unmeasured == 1 else "readings are"
    missing = f" {unmeasured} {are} not measured." if unmeasured else ""
    none = " It holds under none." if entry["outcome"] == "none" else ""
    return f"{_capital(base)} at the base. {turned or 'No reading turns it.'}{none}{missing}"


def _of_pairs(pairs: Iterable[Entry]) -> Iterable[str]:
    """Says how many pairs turn a claim, and names the first that reproduce it."""
    turning = [item for item in _ordered(pairs) if item["turned"]]
    good = [name(item) for item in turning if item["verdict"] == "reproduced"]
    if good:
        more = f" and {len(good) - MOST_NAMED} more" if len(good) > MOST_NAMED else ""
        yield f"Reproduced under {counted(len(good), 'pair')}: {', '.join(good[:MOST_NAMED])}{more}."
    if other := len(turning) - len(good):
        verb = "changes" if other == 1 else "change"
        yield f"{counted(other, 'other pair' if good else 'pair')} {verb} the verdict otherwise."


def tornado(entry: Entry) -> Figure:
    """Returns a claim's tornado figure: a bar for each reading, then for pairs, the longest first."""
    singles, pairs = _ordered(entry["readings"]), _ordered(entry["pairs"])
    drawn = [*singles, *pairs[:MOST_PAIRS]]
    shape = entry["figure"]
    panel = Tornado(
        "",
        shape["label"],
        "",
        (),
        x_log=shape["log"],
        marked=_unmoved(entry),
        bars=tuple(Bar(name(item), _value(item)[0], item["verdict"]) for item in drawn),
        base=_value(entry["base"])[0],
        reference=shape["published"],
        reference_label="the paper",
    )
    return Figure(
        f"readings-{entry['id']}",
        entry["id"],
        shape["label"],
        _caption(entry, len(pairs)),
        (panel,),
        columns=1,
        table=_table(entry, [*singles, *pairs]) if drawn else None,
    )


def _caption(entry: Entry, pairs: int) -> str:
    counts = [f"{entry['repeats']} at the base", f"{entry['readings_repeats']} under a reading"]
    repeats = f"Repeats: {', '.join(counts)}."
    if entry["base"]["stderr"] is None:
        band = (
            f"The base has no standard error; shaded: {percent(MOST_CHANGE)} % on both sides of its value. A "
            "reading moves the claim outside of it, or if a verdict or a check changes."
        )
    else:
        band = (
            f"Shaded: {MOST_ERRORS:g} standard errors of a difference from the base; a reading moves the "
            "claim outside of it."
        )
    more = f" The figure shows {MOST_PAIRS} of {pairs} pairs, the table all." if pairs > MOST_PAIRS else ""
    colour = "A bar has the colour of the verdict under its reading."
    paper = f"The paper: {entry['published'].rstrip('.')}."
    return f"{summary(entry)} {paper} {colour} {band} {repeats}{more}"


def _table(entry: Entry, readings: Iterable[Entry]) -> Table:
    base = ("the base", entry["base"]["verdict"], with_error(*_value(entry["base"])), "", "", "")
    rows = [base]
    fewer = entry["base_with_fewer_repeats"]
    if fewer:
        label = f"the base, {counted(entry['readings_repeats'], 'repeat')}"
        rows.append((label, fewer["verdict"], with_error(*_value(fewer)), "", "", ""))
    for item in readings:
        there = _has_value(item)
        difference, error = _number(item["difference"]), _number(item["difference_stderr"])
        rows.append(
            (
                name(item),
                item["verdict"] + (" (turned)" if item["turned"] else ""),
                with_error(*_value(item)) if there else "–",
                with_error(difference, error) if math.isfinite(difference) else "–",
                "yes" if item["moved"] else "no",
                item["note"]
                if item["verdict"] == "not measured" or not item["runs_changed"]
                else item["measured"],
            )
        )
    return Table(("reading", "verdict", "value", "difference", "moved", "measured"), tuple(rows))


def _effects(entry: Entry) -> list[str]:
    """Returns lines on what turns or moves a claim: each reading, and the pairs that reproduce it."""
    if entry["closed"]:
        return [f"nothing is open: {entry['closed']}"]
    lines = []
    others = []
    pairs = _ordered(entry["pairs"])
    told = [item for item in pairs if item["turned"] and item["verdict"] == "reproduced"][:MOST_PAIRS]
    for item in [*_ordered(entry["readings"]), *told]:
        if item["turned"] or item["moved"]:
            verdict = item["verdict"] if item["turned"] else "moved"
            lines.append(f"{name(item)}: {verdict}, {_value(item)[0]:.3g}")
        else:
            others.append(item)
    missing = sum(item["verdict"] == "not measured" for item in others)
    idle = sum(item["runs_changed"] == 0 and item["verdict"] != "not measured" for item in others)
    if count := len(others) - missing - idle:
        lines.append(f"{count} {'other' if lines else 'reading'}{'s do' if count > 1 else ' does'} neither")
    if idle:
        lines.append(f"{idle} {'changes' if idle == 1 else 'change'} none of its runs")
    if missing:
        lines.append(f"{missing} not measured")
    if rest := len(pairs) - len(told):
        turning = sum(item["turned"] for item in pairs) - len(told)
        lines.append(f"{counted(rest, 'pair')} {'more' if told else 'in all'}, {turning} turn it")
    return lines


def _unmoved(entry: Entry) -> tuple[float, float] | None:
    """Returns the span around the base's value in which a reading does not move the figure."""
    value, error = _value(entry["base"])
    like = entry["base_with_fewer_repeats"] or entry["base"]
    if not math.isfinite(value):
        return None
    if math.isfinite(error):
        half = MOST_ERRORS * error * math.sqrt(1.0 + entry["repeats"] / entry["readings_repeats"])
    else:
        value = _value(like)[0]
        half = MOST_CHANGE * abs(value)
    return (value - half, value + half) if math.isfinite(half) and half > 0.0 else None


def _ordered(readings: Iterable[Entry]) -> list[Entry]:
    """Puts the readings that move a claim's figure most first, and those without a value last."""
    return sorted(
        readings, key=lambda item: -abs(item["difference"] or 0.0) if _has_value(item) else math.inf
    )


def _has_value(reading: Entry) -> bool:
    return reading["value"] is not None


def _every(entry: Entry) -> list[Entry]:
    return [*entry["readings"], *entry["pairs"]]


def _value(judged: Entry) -> tuple[float, float]:
    """The value and its standard error; NaN where there is none."""
    return _number(judged["value"]), _number(judged["stderr"])


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
