"""Checks what Longfat is built from: licences, sources and known holes of crates and Python packages.

    python supply/audit.py

Prints a line for each check: what it found, or why it could not run here. Ends with 1 if a check found
something, else with 0.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCKS = sorted(ROOT.glob("requirements*.lock"))
WORKSPACES = {"Longfat": ROOT / "Cargo.toml", "the fuzz targets": ROOT / "fuzz" / "Cargo.toml"}
NO_DATABASE = re.compile(
    r"failed to fetch advisory database|unable to load.*advisory|failed to clone", re.IGNORECASE
)
NO_NETWORK = re.compile(r"ConnectionError|Max retries|NewConnectionError|Name or service not known|Timeout")
NOT_FOUND = "could not be audited"
LIMIT_S = 300


def run(*command: str) -> tuple[int, str]:
    """Returns the exit code of a command, and everything that it printed."""
    try:
        ended = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, f"Timeout: no answer within {LIMIT_S} s"
    return ended.returncode, ended.stdout + ended.stderr


def crates() -> list[bool]:
    """Checks the crates; returns whether each check that ran found nothing."""
    if shutil.which("cargo-deny") is None:
        print("crates: not checked: cargo-deny is missing; cargo install --locked cargo-deny")
        return []
    passed = []
    for name, manifest in WORKSPACES.items():
        deny = ["cargo", "deny", "--manifest-path", str(manifest), "--config", str(ROOT / "deny.toml")]
        for checks in (["licenses", "bans", "sources"], ["advisories"]):
            what = f"crates of {name}, {' and '.join(checks)}"
            code, text = run(*deny, "check", *checks)
            if NO_DATABASE.search(text):
                print(f"{what}: not checked: the database of advisories cannot be fetched here")
                continue
            passed.append(tell(what, code, text))
    return passed


def packages() -> list[bool]:
    """Checks the Python packages; returns whether each check that ran found nothing."""
    passed = [tell(f"packages, digests in {lock.name}", *digests(lock)) for lock in LOCKS]
    if shutil.which("pip-audit") is None:
        print("packages, advisories: not checked: pip-audit is missing; pip install pip-audit")
        return passed
    named = [word for lock in LOCKS for word in ("--requirement", str(lock))]
    code, text = run("pip-audit", *named, "--disable-pip", "--require-hashes", "--progress-spinner", "off")
    locked = "".join(lock.read_text(encoding="utf-8") for lock in LOCKS)
    pinned = len(re.findall("^[^#\\s]+==", locked, re.MULTILINE))
    if NO_NETWORK.search(text) or text.count(NOT_FOUND) >= pinned:
        print("packages, advisories: not checked: pip-audit has no data here")
    else:
        passed.append(tell("packages, advisories", code, text))
    return passed


def digests(lock: Path) -> tuple[int, str]:
    """Every line of a lock file has a version and digests."""
    entries = re.split(r"\n(?=[^\s#])", lock.read_text(encoding="utf-8"))
    names = [entry.split()[0] for entry in entries if not entry.startswith("#")]
    bare = [
        entry.split()[0] for entry in entries if not entry.startswith("#") and "--hash=sha256:" not in entry
    ]
    return (1, f"without a digest: {', '.join(bare)}") if bare else (0, f"{len(names)} packages")


def tell(what: str, code: int, text: str) -> bool:
    """Prints how a check ended, with its output if it found something."""
    print(f"{what}: {'nothing found' if code == 0 else 'FOUND'}")
    if code != 0:
        print(text)
    return code == 0


if __name__ == "__main__":
    sys.exit(0 if all([*crates(), *packages()]) else 1)
