"""The compiled core (crates/python): runs plans in the packet-level simulator."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PACKET_BYTES: float

class AlgorithmError(Exception):
    """A user's algorithm raised, or left a cwnd below 1 or not a number; args: (flow name, details)."""

class EbpfAlgorithm:
    """A congestion control of an object with eBPF programs (struct_ops); calling it returns it.

    With `pacing_ca_ratio`, it returns the same with another net.ipv4.tcp_pacing_ca_ratio (percent).

    Flows of a run that have the same one share its maps and global variables.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        """Loads the one of this name, or the only one; ValueError with one line if it cannot run here."""

    @property
    def name(self) -> str:
        """Its name in the kernel."""

    @property
    def model_based(self) -> bool:
        """Whether it controls the window in every phase."""

    @property
    def variable(self) -> str:
        """The variable of its structure in the object."""

    @property
    def needs_ecn(self) -> bool:
        """Whether its connections negotiate ECN (TCP_CONG_NEEDS_ECN)."""

    @property
    def callbacks(self) -> list[str]:
        """The names of the callbacks that it has."""

    def begin_trace(self, most: int, only: list[str]) -> None:
        """Keeps the first `most` callbacks of connections made from now on; if `only`, of these names."""

    def end_trace(self) -> tuple[int, str]:
        """Ends the trace; returns how many callbacks there were, and those kept, as JSON."""

    def __call__(self, *, pacing_ca_ratio: int | None = None) -> EbpfAlgorithm: ...

def simulate(
    plan_json: str,
    algorithms: Mapping[str, Callable[[], Any]],
    memory_bytes: int | None = None,
    capture: tuple[str, str, int, list[str]] | None = None,
    qlog: tuple[list[str], str, str] | None = None,
) -> dict[str, Any]:
    """Runs a plan (see `longfat.runs.plan`) and returns its summary and series.

    `algorithms` maps each flow whose algorithm is "custom" to a function that makes it, or to an
    `EbpfAlgorithm`. The GIL is released
    while the core runs, and signals are polled. Raises ValueError for a bad plan, AlgorithmError, and
    KeyboardInterrupt, and MemoryError once the run has taken more than `memory_bytes`.

    Returns {"summary": JSON text, "flows": {name: columns}, "links": {name: columns}, "transfers": columns},
    where columns map a quantity to its little-endian f64 samples as bytes. With `capture` (path, program,
    snap length, links) it also has "capture": {"packets", "bytes", "missing", "failure"}, and with `qlog`
    (paths, program, version) "qlog": None, or why something is missing. An OSError says which file cannot be
    created, "pcap" or "qlog", and why.
    """

def short_term_throughput_bps(
    samples: tuple[bytes, bytes], averaging_s: float, sampling_s: float
) -> tuple[bytes, bytes]:
    """Returns times, and the fading average of a counter's rate, bit/s.

    The counter is given by its times and its bytes so far; all columns are little-endian f64.
    """

def convergence_time_s(
    samples: tuple[bytes, bytes], start_s: float, averaging_s: float, sampling_s: float, share: float
) -> float | None:
    """Returns the time until the fading average reaches a share of the mean over the rest."""

def time_to_share_s(
    samples: tuple[bytes, bytes],
    others: tuple[bytes, bytes],
    start_s: float,
    averaging_s: float,
    sampling_s: float,
    share: float,
) -> float | None:
    """Returns the time until the fading average reaches a share of another counter's."""

def rate_variation(samples: tuple[bytes, bytes], window_s: tuple[float, float], span_s: float) -> float:
    """Returns the coefficient of variation of the mean rates over spans of a window."""

def variation(values: bytes) -> float:
    """Returns the coefficient of variation of values, little-endian f64."""

def sum(values: Sequence[float]) -> float:
    """Returns the sum of values, rounded as NumPy does."""

def read_capture(path: str | None) -> dict[str, Any]:
    """Reads the TCP connections of a capture, or of standard input; see `longfat.runs.imported`.

    Raises OSError if it cannot be opened, and ValueError if nothing of it can be read. Ctrl-C ends the
    reading.
    """

class Stepper:
    """A run of a plan that pauses at times of the caller's choice; see `simulate`.

    Flows and links are known by their position in the plan. All methods raise RuntimeError if the run ended
    early, or if another thread steps it.
    """

    FLOW: list[str]
    LINK: list[str]
    INTERVAL: list[str]

    def __init__(
        self,
        plan_json: str,
        algorithms: Mapping[str, Callable[[], Any]],
        rates: bool,
        memory_bytes: int | None = None,
    ) -> None: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...
    @property
    def done(self) -> bool: ...
    @property
    def packets(self) -> int:
        """Packets that all links have begun to send so far."""

    def advance(self, to_ns: int) -> bool:
        """Goes on to this time or to the end, and returns whether it has ended. Raises as `simulate` does."""

    def flow(self, index: int) -> list[float]:
        """Returns the state of a flow, in the order of `FLOW`."""

    def link(self, index: int) -> list[float]:
        """Returns the state of a link, in the order of `LINK`."""

    def is_tcp(self, index: int) -> bool:
        """Returns whether a flow can be steered and watched."""

    def steer(
        self, index: int, cwnd: float | None = None, holds: bool = False, rate: float | None = None
    ) -> bool:
        """Sets the window (segments) and the pacing rate (segments/s); False if there is nothing to steer."""

    def release(self, index: int) -> bool:
        """Leaves a flow to its algorithm again."""

    def watch(self, index: int) -> bool:
        """Begins an interval of what happens at a flow's sender, the first of a series; False over UDP."""

    def set_rate(self, index: int, rate_bps: float) -> str | None:
        """Sets the rate of a link. Returns why that cannot be, if so."""

    def finish(self) -> dict[str, Any]:
        """Returns what `simulate` returns, once the run has ended; the run is gone then."""

def advance_all(
    steppers: Sequence[Stepper], to_ns: Sequence[int], flows: Sequence[int], threads: int
) -> bytes:
    """Lets each run go on to its time, with so many threads and without the GIL.

    Returns what has happened since the last such time at the sender of one flow of each: rows in the order of
    `Stepper.INTERVAL`, as little-endian f64. Raises as `Stepper.advance` does; one that fails stops all, and
    they cannot go on.
    """

def ebpf_needs(path: Path) -> str:
    """Returns what an object needs, as JSON; ValueError if it is no eBPF object.

    {"license", "instructions", "needs": [{"kind", "name", "here", "optional"}], "algorithms": [{"name",
    "variable", "callbacks", "needs_ecn", "model_based", "problem"}], "problem": why it cannot run, or null}.
    """

def ebpf_try_load(path: Path, variable: str, name: str) -> None:
    """Asks this kernel whether it would take a congestion control; nothing stays.

    Raises ValueError with one line if not, PermissionError if the kernel cannot be asked.
    """

def live_run(
    plan_json: str,
    congestion: Mapping[str, str],
    forms: Path,
    objects: Mapping[str, tuple[Path, str, str]],
    pacing_ratio: int | None,
    iperf3: str | None,
    capture: tuple[str, str, int, list[str]] | None,
    programs: str | None,
) -> dict[str, Any]:
    """Runs a plan on this machine's own TCP; returns the same as `simulate`, and "validity" (JSON text).

    `congestion` maps the names of flows and backgrounds to the kernel's names of their algorithms, or to keys
    of `objects`, users' own: file, variable, and name in the kernel. `forms` is the folder with the compiled
    algorithms of `bpf/`. `pacing_ratio` is net.ipv4.tcp_pacing_ca_ratio, `capture` that of `simulate`.
    `programs` is JSON, what runs on the path beside the plan; the result then has "programs" (JSON text) too.
    The process moves into its own namespaces and cannot leave them. Raises ValueError for a plan that cannot
    run here, RuntimeError for one that ended early.
    """

def live_die_with_parent() -> None:
    """Makes the kernel send SIGKILL to this process when the thread that started it ends."""

def live_has_loader() -> bool:
    """Returns whether this build can load Longfat's own algorithms into the kernel."""

def live_probe() -> list[tuple[str, str]]:
    """Returns what live runs need, each with what is missing or "". Moves the process like `live_run`."""

def registry() -> str:
    """Returns JSON text: {"algorithms": rows, "queues": rows, "routers": rows}."""

def check_parameters(algorithm: str, parameters: Mapping[str, float | str]) -> None:
    """Raises ValueError with one line if the algorithm does not accept these parameters."""

def check_queue(queue: str, parameters: Mapping[str, float | str], rate_bps: float) -> None:
    """Raises ValueError with one line if the queue does not accept these parameters at this rate."""

def shortest_paths(
    links: list[tuple[int, int, float]], pairs: list[tuple[int, int]]
) -> list[list[int] | None]:
    """Returns the shortest path between each pair of nodes as positions in `links`, None if there is no path.

    Links are (from node, to node, delay in s). The path with the least delay wins, then the one with fewest
    links, then the one whose first link comes first in `links`.
    """

def version() -> str:
    """Returns Longfat's version."""

def commit() -> str | None:
    """Returns the commit that the core was built from, "-dirty" if files differed; None if unknown."""

def results_version(plan: str | None = None) -> int:
    """Returns the version of the results of this plan (JSON), or of any; it changes whenever they do."""
