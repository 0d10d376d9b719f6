"""The "Common TCP Evaluation Suite", draft-irtf-iccrg-tcpeval-01, for any choice of algorithms.

`SUITE` runs a few usual algorithms. A file that runs others has three lines:

    from longfat_papers.tcpeval import suite_of

    SUITE = suite_of("cubic", "vegas")

The draft defines tests and metrics and prints no result, so most claims report. Four check statements that it
makes in passing. Claims and their rules were written down before anything was measured; those of EVAL-5.1,
EVAL-6.1 and EVAL-A were changed after a first measurement, and their notes say how.
"""

from __future__ import annotations

from dataclasses import replace

from longfat.errors import InputError
from longfat.scenario import registry
from longfat_papers.kit.suite import Suite
from longfat_papers.tcpeval import common
from longfat_papers.tcpeval.networks import STANDARD

FIGURES = ("basic", "tradeoff", "ramp_up", "transients", "impact", "fairness", "lot")
"""In the order of the draft."""

SUITE = common.PAPER.suite(__name__, FIGURES, vars(common))


def suite_of(*algorithms: str) -> Suite:
    """Returns the suite with these algorithms under test, in both modes; standard TCP runs as the baseline.

    Args:
        algorithms: names that `longfat list algorithms` lists; most tests have many short connections, which
            take no algorithm of one's own.

    Raises:
        InputError: an algorithm is not listed, is not over TCP or needs routers, or there is none but
            standard TCP.
    """
    names = []
    for algorithm in algorithms:
        row = registry.algorithm_named(algorithm)
        if row is None or row.get("transport", "tcp") != "tcp" or row.get("explicit", False):
            raise InputError(
                f"suite tcpeval: {algorithm}: this is no algorithm over TCP; accepted: one that `longfat "
                "list algorithms` lists and that needs no router"
            )
        names.append(str(row["name"]))
    if not set(names) - {STANDARD}:
        raise InputError(
            f"suite tcpeval: there is no algorithm under test; accepted: at least one besides {STANDARD}"
        )
    choice = common.Choice(tuple(names), tuple(names))
    chosen = (replace(item, runs=common.runs_of(item.name, choice)) for item in SUITE.experiments)
    return replace(SUITE, experiments=tuple(chosen))
