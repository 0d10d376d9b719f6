"""Prints digests of what random scenarios give, to be the same on every system and processor.

    python tests/python/digests.py [NUMBER] > here.txt

There is one line for each scenario of `random_scenarios`, from 0 up to NUMBER (50): its number, the digest of
its summary as `longfat run --json` prints it, without what depends on the machine, and that of its series.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import longfat
from random_scenarios import draw, own_algorithms

DIGITS = 16


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def of_series(value: Any) -> bytes:
    """The bytes of all columns, with their names."""
    if isinstance(value, dict):
        return b"".join(f"{key}:".encode() + of_series(inner) for key, inner in sorted(value.items()))
    return value if isinstance(value, bytes) else f"{value!r};".encode()


def line(number: int, folder: Path) -> str:
    tables = draw(number, own_algorithms(folder))
    result = longfat.run(tables)
    for key in ("wall_s", "packets_per_s"):
        del result.summary["performance"][key]
    series = {key: columns for key, columns in result._output.items() if key != "summary"}
    return f"{number} {digest(json.dumps(result.summary).encode())} {digest(of_series(series))}"


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        for each in range(number):
            print(line(each, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
