"""Runs a case of the simulator again beside itself: at other round-trip times, and with jitter.

    python validation/live/neighbours.py PATH FLOWS ALGORITHM

Each line has the throughput of each flow with the simulator's own form and with the object. They show whether
a difference from a live run is that between two states of one algorithm.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import longfat
from cases import ALGORITHMS, NETWORKS, Case, cases
from matrix import with_object

AWAY_MS = (-2.0, -1.0, -0.5, -0.2, -0.1, 0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
JITTERS_MS = (0.1, 0.5)
SEEDS = range(1, 5)


def mbps(scenario: dict[str, Any]) -> str:
    """Returns the throughput of each flow of a run, as text."""
    flows = longfat.run(scenario).summary["flows"]
    return ", ".join(f"{1e-6 * flow['throughput_bps']:.2f}" for flow in flows)


def line(name: str, forms: list[Case], change: dict[str, Any], seed: int = 1) -> str:
    """Returns the line of a neighbour, which has these values for all flows and for the bottleneck."""
    found = []
    for form in forms:
        scenario = form.scenario(1) | {"seed": seed}
        scenario["flow"] = [flow | change.get("flow", {}) for flow in scenario["flow"]]
        scenario["bottleneck"] |= change.get("bottleneck", {})
        found.append(mbps(scenario))
    return f"{name:24} {'   '.join(f'{text:16}' for text in found)}".rstrip()


def main() -> None:
    """Prints a line for each neighbour."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("path", choices=[network.name for network in NETWORKS])
    parser.add_argument("flows", type=int, choices=(1, 2))
    parser.add_argument("algorithm", choices=ALGORITHMS)
    given = parser.parse_args()
    wanted = (given.path, given.flows, given.algorithm)
    (own,) = [case for case in cases() if (case.network.name, case.flows, case.algorithm) == wanted]
    with tempfile.TemporaryDirectory() as folder:
        form = with_object(own, Path(folder))
        forms = [own] + ([] if form is None else [form])
        for away_ms in AWAY_MS:
            rtt = f"{own.network.rtt_ms + away_ms:g} ms"
            print(line(rtt, forms, {"flow": {"rtt": rtt}}))
        for jitter_ms in JITTERS_MS:
            for seed in SEEDS:
                jitter = {"bottleneck": {"jitter": f"{jitter_ms:g} ms"}}
                print(line(f"jitter {jitter_ms:g} ms, seed {seed}", forms, jitter, seed))


if __name__ == "__main__":
    main()
