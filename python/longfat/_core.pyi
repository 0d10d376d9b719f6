"""The compiled core (crates/python): runs plans in the packet-level simulator."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

class AlgorithmError(Exception):
    """A user's algorithm raised, or left a cwnd that is no number or below 1; args: (flow name, details)."""

def simulate(plan_json: str, algorithms: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Runs a plan (see `longfat.runs.plan`) and returns its summary and series.

    `algorithms` maps the names of flows whose algorithm is "custom" to makers of it. The GIL is released
    meanwhile, and signals are polled. Raises ValueError for a bad plan, AlgorithmError, KeyboardInterrupt.

    Returns {"summary": JSON text, "flows": {name: columns}, "links": {name: columns}, "transfers": columns},
    where columns map a quantity to its little-endian f64 samples as bytes.
    """

def live_run(
    plan_json: str, congestion: Mapping[str, str], objects: Path, iperf3: str | None
) -> dict[str, Any]:
    """Runs a plan on this machine's own TCP; returns what `simulate` does, and "validity" (JSON text).

    `congestion` maps the names of flows and backgrounds to the kernel's names of their algorithms; `objects`
    is the folder of those that `make bpf` built. The process moves into namespaces of its own for good.
    Raises ValueError for a plan that cannot be run here, RuntimeError for a run that ended early.
    """

def live_die_with_parent() -> None:
    """This process gets a SIGKILL when the thread that started it ends."""

def live_has_loader() -> bool:
    """Whether this build can bring algorithms of its own into the kernel."""

def live_probe() -> list[tuple[str, str]]:
    """What this process may do live, each with what is missing or "". It leaves its namespaces for good."""

def registry() -> str:
    """JSON text: {"algorithms": rows, "queues": rows, "routers": rows}."""

def check_parameters(algorithm: str, parameters: Mapping[str, float | str]) -> None:
    """Raises ValueError with one clear line if the algorithm does not accept these parameters."""

def check_queue(queue: str, parameters: Mapping[str, float | str], rate_bps: float) -> None:
    """Raises ValueError with one clear line if the queue does not accept these before a link of this rate."""

def shortest_paths(
    links: list[tuple[int, int, float]], pairs: list[tuple[int, int]]
) -> list[list[int] | None]:
    """The links, by position, of the shortest path of each pair of nodes; None where there is none.

    Links are (from node, to node, delay in s). The least sum of delays wins, then the fewest links, then
    the path that begins with the link that stands first.
    """

def version() -> str:
    """Longfat's version."""

def commit() -> str | None:
    """The commit that the core was built from, with "-dirty" if tracked files differed; None if unknown."""

def results_version(plan: str | None = None) -> int:
    """Of the bytes that this plan (JSON) gives, or any: counts up with each version that gives others."""
