"""Prints what `pip install longfat` brings, and its extras, with the size of the installed files.

    python supply/sizes.py

Each package counts with those that only come with it; one that several need counts with the first of them.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
EXTRAS = ("pandas", "polars", "cluster", "gym")
MB = 1e6


def normal(name: str) -> str:
    """Returns the name of a package as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def size(name: str) -> int:
    """Returns the bytes of an installed package, without what Python compiles of it."""
    files = [Path(str(file.locate())) for file in metadata.distribution(name).files or ()]
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())


def needed(name: str, known: set[str]) -> set[str]:
    """Returns a package with everything that it needs and that is not yet known."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        name = normal(waiting.pop())
        if name in known | found:
            continue
        found.add(name)
        wanted = map(Requirement, metadata.requires(name) or ())
        waiting += [each.name for each in wanted if not each.marker or each.marker.evaluate({"extra": ""})]
    return found


def show(lines: list[str], known: set[str]) -> set[str]:
    """Prints a line for each package that these lines name; returns the known packages with theirs."""
    direct = [normal(Requirement(line).name) for line in lines]
    for name in direct:
        brought = needed(name, known | set(direct) - {name})
        known |= brought
        others = f"  with {', '.join(sorted(brought - {name}))}" if brought - {name} else ""
        print(f"  {name:14} {sum(map(size, brought)) / MB:6.1f} MB{others}")
    return known


def main() -> None:
    """Prints all of it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = sum(file.stat().st_size for file in (ROOT / "python").rglob("*") if file.suffix != ".pyc")
    print(f"longfat itself, as built here: {core / MB:.1f} MB; it needs")
    known = show(project["dependencies"], set())
    print(f"together {sum(map(size, known)) / MB:.0f} MB in {len(known)} packages; the extras add")
    for extra in EXTRAS:
        show(project["optional-dependencies"][extra], set(known))


if __name__ == "__main__":
    main()
