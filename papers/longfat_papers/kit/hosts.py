"""How the runs of a suite become runs between real hosts. Nothing here runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from longfat_papers.kit.claims import Setting


class Unfit(Exception):  # noqa: N818 - what cannot run between real hosts is a result here, not an error
    """Raised for a run that real hosts cannot do; says why in one line."""


@dataclass(frozen=True)
class Adapted:
    """A run for real hosts.

    Attributes:
        document: its scenario, as a file would have it; the simulator runs it too.
        divisor: by how much its rates are lower than the paper's.
    """

    document: Mapping[str, Any]
    divisor: float = 1.0


@dataclass(frozen=True)
class Hosts:
    """How the runs of a suite become runs between real hosts.

    Attributes:
        adapt: returns a run for real hosts, given its document and its estimated packets; raises `Unfit`.
        restore: returns the row of such a run, given the divisor, with all that is proportional to the rate
            multiplied by it; the rest, such as windows and ratios, stays. The claims' rules apply to it.
        settings: what differs from the settings of the claims.
        without: why some experiments do not run between real hosts, by name.
    """

    adapt: Callable[[Mapping[str, Any], float], Adapted]
    restore: Callable[[Mapping[str, Any], float], dict[str, Any]]
    settings: tuple[Setting, ...]
    without: Mapping[str, str] = field(default_factory=dict)
