"""The "Common TCP Evaluation Suite", draft-irtf-iccrg-tcpeval-01, for any choice of algorithms.

`SUITE` runs a few usual algorithms. A file that runs others has three lines:

    from longfat_papers.tcpeval import suite_of

    SUITE = suite_of("cubic", "vegas")
"""

from __future__ import annotations

from longfat.errors import InputError
from longfat.scenario import registry
from longfat_papers.kit.suite import Suite
from longfat_papers.tcpeval.assumptions import ASSUMPTIONS
from longfat_papers.tcpeval.claims import CLAIMS
from longfat_papers.tcpeval.experiments import experiments
from longfat_papers.tcpeval.reduction import reduce_run
from longfat_papers.tcpeval.settings import DRAFT, STANDARD, USUAL, Choice


def _suite(choice: Choice) -> Suite:
    return Suite(
        name="tcpeval",
        title="Common TCP Evaluation Suite",
        citation=DRAFT,
        experiments=experiments(choice),
        claims=CLAIMS,
        reduce=reduce_run,
        assumptions=ASSUMPTIONS,
    )


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
                f"suite tcpeval: {algorithm}: this is no algorithm over TCP; "
                "accepted: one that `longfat list algorithms` "
                "lists and that needs no router"
            )
        names.append(str(row["name"]))
    if not set(names) - {STANDARD}:
        raise InputError(
            f"suite tcpeval: there is no algorithm under test; accepted: at least one besides {STANDARD}"
        )
    return _suite(Choice(tuple(names), tuple(names)))


SUITE = _suite(USUAL)
