"""Writes which claims of Lopez Pacheco's thesis hold between real hosts into docs/validation-live.md.

`longfat suite lopez2008 --backend live` measures them; this reads its folder. The verdicts in the simulator
with the thesis's settings are those of docs/validation.md.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from longfat.store.ledger import LEDGER_FILE, VERDICTS, read_ledger, tally
from longfat.suites.kit.folder import read_suite

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "validation-live.md"
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


def table(rows: list[dict[str, Any]], kernel: str) -> str:
    """Returns a sentence of numbers and the table in Markdown."""
    sides = {"live": [row["live"] for row in rows], "simulated": [row["live"]["simulated"] for row in rows]}
    counts = {
        side: ", ".join(f"{n} {verdict}" for verdict, n in tally(found).items() if n)
        for side, found in sides.items()
    }
    both = [row["live"] for row in rows if row["live"]["verdict"] != "not measured"]
    alike = sum(row["verdict"] == row["simulated"]["verdict"] for row in both)
    before = published()
    lines = [HEADINGS, ["---"] * len(HEADINGS)]
    for row in rows:
        live = row["live"]
        divisors = ", ".join(f"{divisor:g}" for divisor in live["divisors"])
        cells = [row["id"], before.get(row["id"], "-"), divisors or "-", told(live["simulated"]), told(live)]
        lines.append([cell.replace("|", "/") for cell in cells])
    return (
        f"Linux {kernel}. Live: {counts['live']}. The same files in the simulator: {counts['simulated']}. "
        f"The two verdicts are the same for {alike} of the {len(both)} claims that were measured live.\n\n"
        + "".join(f"| {' | '.join(line)} |\n" for line in lines)
    )


def main() -> None:
    """Prints the table, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "lopez2008-live")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    rows = [row for row in read_ledger(options.folder / LEDGER_FILE) if "live" in row]
    text = table(rows, read_suite(options.folder)["live"]["kernel"])
    if not options.write:
        print(text)
        return
    page = PAGE.read_text()
    before, rest = page.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
