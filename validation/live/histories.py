"""Draws the cwnd histories of LLS's figures 4, 6, 8 and 9, simulated and live in one panel.

Two flows of one algorithm, one of them starting later, share 250 Mbit/s with a buffer of 20 % of the BDP.
Pictures go to docs/figures; finished live runs are kept.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import longfat
from cases import flow
from longfat.figure import matplotlib as plots
from longfat.figure.data import Curve, Figure, Panel
from runs import Kept, measure

ROOT = Path(__file__).resolve().parent.parent.parent
FIGURES = ROOT / "docs" / "figures"
SAMPLE_S = 0.5
PAPERS = {"stcp": "Fig. 4", "hstcp": "Fig. 6", "bic": "Fig. 8", "htcp": "Fig. 9"}
TITLES = {"stcp": "Scalable-TCP", "hstcp": "HS-TCP", "bic": "BIC-TCP", "htcp": "H-TCP"}
LENGTHS_S = {42: (80.0, 15.0), 162: (120.0, 25.0)}
"""For each round-trip time: the duration, and the start of the second flow. The paper shows 600 s."""


@dataclass(frozen=True)
class History:
    """One panel of a figure."""

    algorithm: str
    rtt_ms: int
    jobs: int = 1

    @property
    def key(self) -> str:
        """The name of its files."""
        return f"history-{self.algorithm}-{self.rtt_ms}"

    @property
    def seeds(self) -> range:
        """Nothing is random."""
        return range(1, 2)

    def scenario(self, seed: int) -> dict[str, Any]:
        """Returns the scenario for both backends."""
        end, second = LENGTHS_S[self.rtt_ms]
        first = flow(self.algorithm, self.rtt_ms)
        return {
            "title": f"{self.algorithm}, {PAPERS[self.algorithm]} of LLS, simulator and live",
            "seed": seed,
            "duration": f"{end:g} s",
            "window": [f"{second:g} s", f"{end:g} s"],
            "bottleneck": {"rate": "250 Mbit/s", "buffer": "20 % BDP"},
            "flow": [first, first | {"start": f"{second:g} s"}],
            "sample": {"cwnd": f"{SAMPLE_S:g} s"},
        }

    def panels(self, kept: Kept) -> list[Panel]:
        """Draws each flow's cwnd on both sides."""
        result = longfat.run(self.scenario(1))
        end = LENGTHS_S[self.rtt_ms][0]
        panels = []
        with np.load(kept.path(self, 1).with_suffix(".npz")) as live:
            for number, entry in enumerate(result.summary["flows"], start=1):
                name, start = entry["name"], entry["start_s"]
                sim = result.flow(name)
                sides = (
                    ("simulator", sim["time_s"], sim["cwnd"]),
                    ("live", live[f"{name}.time_s"], live[f"{name}.cwnd"]),
                )
                curves = tuple(
                    Curve(label, *_since(start, time, cwnd), None, None, "line", stroke)
                    for stroke, (label, time, cwnd) in enumerate(sides)
                )
                title = f"{self.rtt_ms} ms, flow {number}"
                panels.append(Panel(title, "time, s", "cwnd, packets", curves, x_range=(0.0, end)))
        return panels


def _since(start_s: float, time: Any, cwnd: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    begun = time >= start_s
    return tuple(np.round(time[begun], 3).tolist()), tuple(np.round(cwnd[begun], 1).tolist())


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if all pictures exist, 1 if a live run failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(PAPERS), default=list(PAPERS))
    parser.add_argument("--kept", type=Path, default=ROOT / "out" / "live", help="where live runs are kept")
    parser.add_argument("--no-run", action="store_true", help="only what is kept")
    asked = parser.parse_args(arguments)
    kept = Kept(asked.kept.resolve())
    wanted = [History(algorithm, rtt_ms) for rtt_ms in LENGTHS_S for algorithm in asked.only]
    failures = [] if asked.no_run else measure(wanted, kept, None, lambda line: print(line, flush=True))
    for algorithm in asked.only:
        own = [each for each in wanted if each.algorithm == algorithm and kept.find(each, 1) is not None]
        if not own:
            continue
        title = f"{TITLES[algorithm]}, two flows, simulator and live"
        panels = tuple(panel for each in own for panel in each.panels(kept))
        figure = Figure(f"live-{algorithm}", PAPERS[algorithm], title, "", panels, columns=2)
        print(*plots.save(figure, FIGURES, ("svg",)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
