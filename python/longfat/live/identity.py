"""The keys of stored live runs: what a live result depends on, as far as a program can know it."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

from longfat.live import kernel
from longfat.scenario.model import Scenario
from longfat.store.identity import digest, own_digests

RESULTS_VERSION = 1
"""The version of live results. Raise it with each change after which a live run can come out differently: in
`crates/live`, in how `longfat.live` runs a scenario, or in what is sampled."""


def live_key(scenario: Scenario) -> str:
    """Returns the key of a live run's results.

    It holds the plan with its seed; the versions of live results, and of the simulator's, whose links and
    routers carry the packets; the kernel's name of each algorithm; the content of each eBPF object that is
    loaded; and this machine with its kernel.
    """
    congestion = kernel.congestion(scenario)
    forms = sorted(kernel.own_forms() & set(congestion.values()))
    return digest(
        [
            "live",
            RESULTS_VERSION,
            scenario.core.results_version(),
            scenario.plan,
            own_digests(scenario),
            congestion,
            {form: _content(kernel.forms() / f"{form}.o") for form in forms},
            [platform.node(), platform.release()],
        ]
    )


def _content(path: Path) -> str | None:
    """Returns a file's digest; None for one that is missing, so that the run has to be refused anew."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
