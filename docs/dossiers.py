"""Makes the page of dossiers from the folders that `longfat assess` wrote.

python docs/dossiers.py out/assess-cubic out/assess-bbr ... > docs/guide/dossiers.md
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

WIDTH = 110

INTRODUCTION = """\
# Dossiers of known algorithms

These are the ten lines of [dossiers](assess.md) of algorithms that are well known, in the quick form and on
the stack `linux`: 5 repeats of each point, and ± is half of a 95 % interval. The greatest difference comes
first. Lines about others say what *they* get, and compare it with what they get beside Reno or CUBIC.

What is known comes out. BBR v1 loses a great deal with buffers below 1.5 BDP, which RFC 9743 (section 5.1.3)
describes, and BBR v3 loses less. CUBIC fills a buffer of 16 BDP. `tests/python/assess/test_assess.py` checks
these, that Scalable TCP starves Reno, that Reno backs off as RFC 6298 says when everything is lost, and that
DCTCP without marks does as Reno.
"""


def page(folders: list[Path]) -> Iterator[str]:
    """Yields the blocks of the page."""
    yield INTRODUCTION
    for folder in folders:
        yield from section(json.loads((folder / "dossier.json").read_text()))


def section(dossier: Mapping[str, Any]) -> Iterator[str]:
    """Yields the heading, the command and the lines of a dossier."""
    name = dossier["algorithm"]
    given = f"examples/{name}" if ".py:" in name else name
    yield f"## `{name}`\n"
    yield f"    longfat assess {given}\n"
    for number, line in enumerate(dossier["headline"], start=1):
        text = f"**{line['name']}** ({line['section']}): {line['text']}."
        mark = f"{number}. "
        yield textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark))
    yield ""


if __name__ == "__main__":
    print("\n".join(page([Path(name) for name in sys.argv[1:]])).rstrip())
