"""Small sweeps for tests."""

import sys
from pathlib import Path
from typing import Any

from longfat import sweep

BASE = {
    "title": "tiny",
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "buffer": "50 % BDP", "loss": 0.01},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}


def grid(**keys: Any) -> sweep.Sweep:
    return sweep.from_dict({"base": BASE, **keys})


def driver(file: Path, out: Path) -> list[str]:
    """A process that runs a sweep, without drawing its report."""
    text = (
        "from pathlib import Path; from longfat import sweep; "
        f"sweep.run(sweep.load(Path({str(file)!r})), {str(out)!r}, jobs=2)"
    )
    return [sys.executable, "-c", text]
