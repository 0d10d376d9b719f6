"""Writes which claims of Lopez Pacheco's thesis hold between real hosts into docs/validation-live.md.

`longfat suite lopez2008 --backend live` measures them; this reads its folder. The verdicts in the simulator
with the thesis's settings are those of docs/validation.md.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from longfat.errors import InputError
from longfat.store.ledger import LEDGER_FILE, VERDICTS, read_ledger, tally
from matrix import ROOT, write_page

PUBLISHED = ROOT / "docs" / "validation.md"
MARKS = ("<!-- make validate-thesis -->\n", "<!-- end of make validate-thesis -->\n")
HEADINGS = ("claim", "as published", "rates divided by", "the same files simulated", "live")


def published() -> dict[str, str]:
    """Returns the verdict of each claim in the simulator with the thesis's settings."""
    rows = re.findall(r"^\| (LOP-\w+) \|.*\| ([a-z ]+) \|$", PUBLISHED.read_text(), re.MULTILINE)
    return {claim: verdict for claim, verdict in rows if verdict in VERDICTS}


def told(judged: dict[str, Any]) -> str:
    """Returns a verdict and what was measured; why there is none otherwise."""
    return f"{judged['verdict']}: {judged['measured'] or judged['note']}"


def table(rows: list[dict[str, Any]]) -> str:
    """Returns how many claims have each verdict, and the table, in Markdown."""
    sides = {"live": [row["live"] for row in rows], "simulated": [row["live"]["simulated"] for row in rows]}
    counts = {
        side: ", ".join(f"{n} {verdict}" for verdict, n in tally(found).items() if n)
        for side, found in sides.items()
    }
    both = [row["live"] for row in rows if row["live"]["verdict"] != "not measured"]
    alike = sum(row["verdict"] == row["simulated"]["verdict"] for row in both)
    before = published()
    kernels = " and ".join(sorted({row["live"]["kernel"] for row in rows}))
    lines = [HEADINGS, ["---"] * len(HEADINGS)]
    for row in rows:
        live = row["live"]
        if row["id"] not in before:
            raise SystemExit(f"error: {PUBLISHED.relative_to(ROOT)}: no verdict of {row['id']} in its tables")
        cells = [row["id"], before[row["id"]], live["divided"] or "1", told(live["simulated"]), told(live)]
        lines.append([cell.replace("|", "/") for cell in cells])
    return (
        f"Linux {kernels}. Live: {counts['live']}. The same files in the simulator: {counts['simulated']}. "
        f"The two verdicts are the same for {alike} of the {len(both)} claims that were measured live.\n\n"
        + "".join(f"| {' | '.join(line)} |\n" for line in lines)
    )


def main() -> None:
    """Prints the table, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "lopez2008-live")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    try:
        rows = [row for row in read_ledger(options.folder / LEDGER_FILE) if "live" in row]
    except InputError as error:
        parser.error(str(error))
    if not rows:
        parser.error(f"{options.folder}: nothing in it was run live")
    text = table(rows)
    if options.write:
        write_page(text, MARKS)
    else:
        print(text)


if __name__ == "__main__":
    main()
