"""The ledger of claims that a suite writes: one row a claim, with its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from longfat import documents
from longfat.errors import InputError
from longfat.store import whole
from longfat.words import natural_order

Verdict = Literal["reproduced", "partly", "not reproduced", "undecidable", "not measured"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

LEDGER_FILE = "claims.json"
SIDE_KEYS = ("measured", "checks", "note")
"""What a ledger has beside a verdict of a claim between real hosts, and of the same files simulated."""
LIVE_KEYS = (
    *SIDE_KEYS,
    "mode",
    "indicative",
    "divided",
    "kernel",
    "version",
    "commit",
    "created",
    "simulated",
)


def load_ledgers(directory: Path | str) -> list[dict[str, Any]]:
    """Returns every ledger row in a directory and the directories directly below it, ordered by id.

    If two rows have the same id, `later` decides: the newer file's is the later one. Raises `InputError` if
    there is no ledger.
    """
    root = Path(directory)
    files = [*root.glob(LEDGER_FILE), *root.glob(f"*/{LEDGER_FILE}")]
    if not files:
        raise InputError(
            f"{root}: there are no stored claims ({LEDGER_FILE}); "
            "accepted: a directory that `longfat suite` wrote"
        )
    rows: dict[str, dict[str, Any]] = {}
    for file in sorted(files, key=lambda path: (path.stat().st_mtime, str(path))):
        for row in read_ledger(file):
            rows[str(row["id"])] = later(rows.get(str(row["id"])), row)
    return [rows[key] for key in sorted(rows, key=natural_order)]


def later(earlier: dict[str, Any] | None, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a claim that counts, given an earlier and a later one.

    It is the later one, unless that was not measured and the earlier one was. What the claim came to between
    real hosts, `live`, is decided alone by the same rule.
    """
    if earlier is None:
        return row
    sides = [each["live"] for each in (earlier, row) if "live" in each]
    live = {"live": _counting(sides[0], sides[-1])} if sides else {}
    return {**_counting(earlier, row), **live}


def _counting(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    return earlier if later["verdict"] == "not measured" != earlier["verdict"] else later


def read_ledger(file: Path) -> list[dict[str, Any]]:
    """Returns the rows of one ledger file. Raises `InputError` or `LongfatError` if it is damaged."""
    try:
        document = documents.json_value(whole.read_text(file))
        rows = document["claims"]
        for row in rows:
            _check(row, ("id",))
            if "live" in row:
                _check(row["live"], LIVE_KEYS)
                _check(row["live"]["simulated"], SIDE_KEYS)
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{file}: not a claims ledger") from None
    return list(rows)


def _check(row: Any, keys: Iterable[str]) -> None:
    """Raises TypeError unless this is an object with these keys and a verdict."""
    if not isinstance(row, dict) or row.get("verdict") not in VERDICTS or any(key not in row for key in keys):
        raise TypeError


def tally(rows: Iterable[Mapping[str, Any]]) -> dict[Verdict, int]:
    """Returns how many rows have each verdict."""
    counts: dict[Verdict, int] = dict.fromkeys(VERDICTS, 0)
    for row in rows:
        counts[row["verdict"]] += 1
    return counts
