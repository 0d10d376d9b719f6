"""What a live run carries, and what it costs: one CUBIC flow on fast paths, a row for each.

    python benches/live.py                       # this checkout
    python benches/live.py --before CHECKOUT     # beside another one, alternately, and the ratios of both

Each checkout runs with its own `python/longfat`, core included. Use ratios within one run: two runs of this
benchmark differ by what else the machine does. It needs the rights of a live run, and no other live run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Case:
    """A path, and how long its run lasts."""

    rate: str
    rtt: str
    seconds: float
    begin_s: float
    buffer: str = "100 % BDP"
    algorithm: str = 'algorithm = { name = "cubic", variant = "linux" }'

    @property
    def name(self) -> str:
        """The name of the row."""
        return f"{self.rate} x {self.rtt}"

    def toml(self) -> str:
        """Its scenario."""
        return (
            f'duration = "{self.seconds} s"\nwindow = ["{self.begin_s} s", "{self.seconds} s"]\n'
            f'[bottleneck]\nrate = "{self.rate}"\nbuffer = "{self.buffer}"\n'
            f'[[flow]]\n{self.algorithm}\nrtt = "{self.rtt}"\nrecovery = "prr"\ninitial_window = 10\n'
        )


CASES = (
    Case("100 Mbit/s", "40 ms", 12, 4),
    Case("1 Gbit/s", "20 ms", 12, 4),
    Case("2.5 Gbit/s", "20 ms", 12, 4),
    Case("5 Gbit/s", "20 ms", 12, 4),
    Case("2.5 Gbit/s", "100 ms", 30, 15),
    Case("1 Gbit/s", "200 ms", 30, 15),
)


def measure(checkout: Path, case: Case) -> dict[str, Any]:
    """Runs a case once and returns the numbers of its row."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "case.toml"
        file.write_text(case.toml())
        done = subprocess.run(
            [sys.executable, "-m", "longfat", "run", str(file), "--backend", "live", "--json"],
            env={**os.environ, "PYTHONPATH": str(checkout / "python")},
            cwd=folder,
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise SystemExit(f"{checkout}: {case.name}: {done.stderr.strip()}")
    summary = json.loads(done.stdout)
    validity, link, flow = summary["validity"], summary["links"][0], summary["flows"][0]
    gigabytes_per_s = (
        flow["throughput_bps"] / 8e9
    )  # of the window; the shares of processors are the whole run's
    return {
        "valid": validity["valid"],
        "failed": [check["name"] for check in validity["checks"] if not check["ok"]],
        "utilization": link["utilization"],
        "srtt_ms": 1e3 * flow["srtt_mean_s"],
        "retransmits": flow["retransmits"],
        "routers_s_per_gb": sum(validity["processor"][:2]) / gigabytes_per_s,
        "all_s_per_gb": sum(validity["processor"]) / gigabytes_per_s,
        "processor": validity["processor"],
        "lateness_us": [1e6 * value for value in validity["lateness_s"]],
    }


def shown(name: str, row: dict[str, Any]) -> str:
    """Returns a row as a line."""
    late = "/".join(f"{value:.0f}" for value in row["lateness_us"])
    used = "+".join(f"{value:.2f}" for value in row["processor"])
    return (
        f"{name:34} {'valid' if row['valid'] else 'INVALID':8} {row['utilization']:.3f} {row['srtt_ms']:8.2f}"
        f" {row['retransmits']:7d} {row['routers_s_per_gb']:8.3f} {row['all_s_per_gb']:8.3f}"
        f" {used:>16} {late:>18}" + (f"  {'; '.join(row['failed'])}" if row["failed"] else "")
    )


HEADING = (
    f"{'':34} {'':8} {'util':5} {'srtt, ms':>8} {'retrans':>7} {'routers':>8} {'all':>8} {'processors':>16}"
    f" {'late, us':>18}\n{'':66} {'s/GB':>8} {'s/GB':>8} {'there+back+hosts':>16} {'p50/p99/most':>18}"
)


def main() -> None:
    """Runs the cases and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="another checkout, run alternately with this one")
    parser.add_argument("--runs", type=int, default=1, help="how often each case runs (default: 1)")
    parser.add_argument("--only", help="run the cases whose names contain this")
    given = parser.parse_args()
    builds = {"": ROOT} if given.before is None else {"before": given.before.resolve(), "now": ROOT}
    print(HEADING, flush=True)
    for case in CASES:
        if given.only and given.only not in case.name:
            continue
        rows: dict[str, list[dict[str, Any]]] = {build: [] for build in builds}
        for _ in range(given.runs):
            for build, checkout in builds.items():
                rows[build].append(measure(checkout, case))
                print(shown(f"{case.name} {build}", rows[build][-1]), flush=True)
        if given.before is not None:
            for key in ("routers_s_per_gb", "all_s_per_gb"):
                medians = [statistics.median(row[key] for row in rows[build]) for build in builds]
                print(f"{case.name} {key}: now / before = {medians[1] / medians[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
