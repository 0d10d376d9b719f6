"""Shows whether one delay moves bpf_cc_cubic from one state to the other, on a path of selftests.py.

    python validation/live/late_packet.py PATH

The first line is the simulator's run without any delay. In each other run the path is 0.5 ms longer in each
direction for 0.1 s, once, from the time on that the line begins with; everything else is the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import kernel_source
import longfat
import selftests

TIMES_S = tuple(5.0 + 0.1 * i for i in range(10))
LATE = "0.5 ms"
LENGTH_S = 0.1


def delayed(begin_s: float) -> dict[str, Any]:
    """Returns the bottleneck's option for one delay."""
    return {"added_delay": {"steps": [[f"{begin_s:g} s", LATE], [f"{begin_s + LENGTH_S:g} s", "0 ms"]]}}


def main() -> int:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("path", type=int, choices=range(1, 1 + selftests.PATHS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="longfat-selftests-") as folder:
        try:
            objects = kernel_source.build(["bpf_cc_cubic"], Path(folder))
        except kernel_source.NotBuiltError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        path = selftests.paths(objects, selftests.PATHS, selftests.SEED)[asked.path - 1]
        options: list[tuple[str, dict[str, Any]]] = [("without", {})]
        options += [(f"{at:g} s", delayed(at)) for at in TIMES_S]
        for name, option in options:
            flow = longfat.run(path.told(bottleneck=option)).summary["flows"][0]
            print(
                f"{name:8} {1e-6 * flow['throughput_bps']:6.2f} Mbit/s, mean cwnd {flow['cwnd_mean']:6.2f}, "
                f"{flow['timeouts']} timeouts"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
