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


def load_ledgers(directory: Path | str) -> list[dict[str, Any]]:
    """Returns every ledger row in a directory and the directories directly below it, ordered by id.

    If two rows have the same id, the one in the newer file counts. Raises `InputError` if there is no ledger.
    """
    root = Path(directory)
    files = [*root.glob(LEDGER_FILE), *root.glob(f"*/{LEDGER_FILE}")]
    if not files:
        raise InputError(
            f"{root}: no stored claims ({LEDGER_FILE}); accepted: a directory that `longfat suite` wrote"
        )
    rows: dict[str, dict[str, Any]] = {}
    for file in sorted(files, key=lambda path: (path.stat().st_mtime, str(path))):
        for row in read_ledger(file):
            rows[str(row["id"])] = row
    return [rows[key] for key in sorted(rows, key=natural_order)]


def read_ledger(file: Path) -> list[dict[str, Any]]:
    """Returns the rows of one ledger file. Raises `InputError` or `LongfatError` if it is damaged."""
    try:
        document = documents.json_value(whole.read_text(file))
        rows = document["claims"]
        judged = [*rows, *(row["live"] for row in rows if "live" in row)]
        if not all(row["verdict"] in VERDICTS for row in judged) or not all("id" in row for row in rows):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{file}: not a claims ledger") from None
    return list(rows)


def tally(rows: Iterable[Mapping[str, Any]]) -> dict[Verdict, int]:
    """Returns how many rows have each verdict."""
    counts: dict[Verdict, int] = dict.fromkeys(VERDICTS, 0)
    for row in rows:
        counts[row["verdict"]] += 1
    return counts
