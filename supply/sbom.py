"""Writes what a wheel consists of, as one CycloneDX document beside it.

    python supply/sbom.py dist/longfat-VERSION-....whl

maturin puts a document with the Rust crates into the wheel, and auditwheel one with the shared libraries.
This adds the Python packages that a wheel needs, in the versions of `requirements.lock` that were tested, and
writes dist/longfat-VERSION.cdx.json.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parent.parent / "requirements.lock"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
REQUIRED = re.compile(r"[A-Za-z0-9._-]+")


def document(wheel: Path) -> dict[str, Any]:
    """Returns the document of a wheel."""
    with zipfile.ZipFile(wheel) as held:
        names = held.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        about = message_from_string(held.read(metadata).decode())
        parts = [json.loads(held.read(name)) for name in names if "/sboms/" in name]
    if not any("cargo" in json.dumps(part["components"]) for part in parts):
        raise SystemExit(f"{wheel}: has no list of its crates")
    name, version = about["Name"], about["Version"]
    components = {entry["bom-ref"]: entry for part in parts for entry in part["components"]}
    components |= {entry["bom-ref"]: entry for entry in python_packages(about.get_all("Requires-Dist", []))}
    own = f"pkg:pypi/{name}@{version}"
    components.pop(own, None)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": name,
                "version": version,
                "purl": own,
            }
        },
        "components": [components[key] for key in sorted(components)],
    }


def python_packages(required: list[str]) -> list[dict[str, Any]]:
    """Returns the packages that are required without an extra, in the versions of the lock file."""
    pinned = {_normal(name): version for name, version in PINNED.findall(LOCK.read_text(encoding="utf-8"))}
    found = []
    for line in required:
        if "extra ==" in line:
            continue
        match = REQUIRED.match(line)
        name = _normal(match.group() if match else line)
        url = f"pkg:pypi/{name}@{pinned[name]}"
        found.append({"type": "library", "bom-ref": url, "name": name, "version": pinned[name], "purl": url})
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(wheel: Path) -> None:
    """Writes the document of a wheel beside it, and prints its path."""
    made = document(wheel)
    about = made["metadata"]["component"]
    path = wheel.parent / f"{about['name']}-{about['version']}.cdx.json"
    path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(made['components'])} components")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
