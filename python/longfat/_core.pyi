"""The compiled core (crates/python): reads scenarios and runs them in the packet-level simulator."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, final

LIVE: bool
"""Whether this build has live runs; without them there are no functions `live_...`."""
PACKET_BYTES: float
"""What a packet takes in memory, bytes."""

class Refused(ValueError):  # noqa: N818 - what the core calls it
    """A scenario is refused: args[0] is a list with a text for each problem."""

@final
class Scenario:
    """A scenario as the core has it; `longfat.Scenario` wraps it.

    Methods raise `Refused`. `python` is `longfat.scenario.loading`, which knows users' own algorithms.
    """

    @staticmethod
    def read(
        tables: Mapping[str, Any],
        python: ModuleType,
        source: str,
        base: Path,
        stack: str | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> Scenario:
        """Reads tables; `overrides` replace their values by dotted keys.

        `source` names them in messages, `base` is the folder that files are relative to, and `stack` that of
        flows and backgrounds over TCP that name none.
        """

    @staticmethod
    def parse(
        text: str,
        python: ModuleType,
        source: str,
        base: Path | str,
        stack: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        first: Sequence[Mapping[str, Any]] | None = None,
        lasting: str | None = None,
    ) -> Scenario:
        """Reads a TOML text.

        `first` are programs before its own; `lasting` replaces its duration, and its window is then the whole
        run.
        """

    def with_values(self, values: Mapping[str, Any], python: ModuleType) -> Scenario:
        """The same with other values for dotted keys."""

    @property
    def seed(self) -> int:
        """Its seed."""

    def with_seed(self, seed: int) -> Scenario:
        """The same with another seed, which is in the range of seeds."""

    def lasting(self, duration_s: float) -> Scenario:
        """The same for this many seconds, with metrics of the whole run."""

    def filled(self) -> Scenario:
        """The same with every default written out."""

    def tables(self) -> dict[str, Any]:
        """Its tables as a file has them."""

    def toml(self, traces: Mapping[str, str]) -> str:
        """Its text. `traces` has other names for files, by their SHA-256."""

    def view(self) -> dict[str, Any]:
        """Its values in SI numbers."""

    def network(self) -> dict[str, Any]:
        """What follows from its network: access_bps, program_rtt_s, packet_bytes, asked_bps."""

    def planned(self) -> dict[str, Any]:
        """Its plan: the numbers that run, every flow with its own entry."""

    def owners(self) -> tuple[list[int], list[int]]:
        """The tables behind each flow and each background of the plan."""

    def results_version(self) -> int:
        """The version of its results: the last one that gave other bytes than the one before."""

    def memory(self) -> tuple[float, str]:
        """About how much memory a run takes at most, bytes, and the plan's key with most of it."""

    def largest_within(self, bytes: float) -> str:
        """What would be accepted, in words, for that key within this many bytes."""

    def written_key(self, key: str) -> str:
        """Its key behind one of the plan."""

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """The names of flows, backgrounds and programs."""

    def link_names(self) -> list[str]:
        """The names of the links, ways back included."""

    def warnings(self) -> list[str]:
        """Lines on settings that are probably mistakes."""

    def notes(self) -> list[str]:
        """Lines to know when reading the results."""

    def meaningless_metrics(self) -> list[str]:
        """The metrics without a meaning here."""

    def varies(self) -> bool:
        """Whether another seed can give another result."""

    def traces(self) -> list[tuple[Path, str, bytes]]:
        """The files of its traces, each content once: path, SHA-256, content."""

    def unlike(self) -> list[tuple[str, list[tuple[str, list[str]]]]]:
        """The keys of stacks in which each flow and background over TCP differs from each stack.

        Its key, then names of stacks with keys.
        """

def toml_tables(text: str) -> dict[str, Any] | None:
    """The tables of a TOML text; None if it is not TOML, or has what only Python knows, such as dates."""

def assignment(text: str) -> tuple[str, Any]:
    """Reads "key=value"; ValueError with one line if it is none."""

def connection_keys() -> dict[str, Any]:
    """The keys of a connection, with their defaults as files write them."""

def parse_quantity(name: str, value: float | str, like: str) -> float:
    """The SI value of a number with a unit; `like` is an example. ValueError with one line if it is none."""

def write_quantity(name: str, value: float) -> str:
    """The SI value with a unit."""

def quantity_within(name: str, value: float, least: float, greatest: float) -> float:
    """The value; ValueError with one line if it lies outside the limits."""

def dimensions() -> list[tuple[str, str, list[str]]]:
    """The name of each dimension, an example, and its units."""

def split(value: float | str) -> tuple[float, str] | None:
    """The number and the unit, perhaps empty, of a text; None if it does not begin with a number."""

def written_parameter(row: str, parameter: str, value: float | str) -> float | str | bool:
    """A value of a registry as a scenario file writes it."""

def stacks() -> list[dict[str, Any]]:
    """Every stack with its settings: what `longfat list stacks --json` prints."""

def larger_files(bytes: float) -> float:
    """The share of files with more bytes, of those that short flows carry by default."""

def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""

def definition(what: str) -> str:
    """What is made of the definition of scenarios.

    "schema", the text of schemas/scenario.json; "constructors", that of scenario/tables.py; "kernel", a list
    of the keys that the kernel decides; or the rows of a table of the reference, by its name.
    """

class AlgorithmError(Exception):
    """A user's algorithm raised, or left a cwnd below 1 or not a number; args: (flow name, details)."""

@final
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

    def end_trace(self) -> tuple[int, list[dict[str, Any]]]:
        """Ends the trace; returns how many callbacks there were, and those kept (`longfat.ebpf.Callback`)."""

    def __call__(self, *, pacing_ca_ratio: int | None = None) -> EbpfAlgorithm: ...

def simulate(
    scenario: Scenario,
    algorithms: Mapping[str, Callable[[], Any]],
    memory_bytes: int | None = None,
    capture: tuple[str, str, int, list[str]] | None = None,
    qlog: tuple[list[str], str, str] | None = None,
    fast: bool = True,
) -> dict[str, Any]:
    """Runs a scenario and returns its summary and series; `fast` allows the fast driver and queues.

    `algorithms` maps each flow whose algorithm is "custom" to a function that makes it, or to an
    `EbpfAlgorithm`. The GIL is released
    while the core runs, and signals are polled. Raises ValueError for a bad plan, AlgorithmError, and
    KeyboardInterrupt, and MemoryError once the run has taken more than `memory_bytes`.

    Returns {"summary": tables, "flows": {name: columns}, "links": {name: columns}, "transfers": columns,
    "internals": {flow: {name: columns}}, "events": columns and "texts", "reads_rtt": flows whose algorithms
    in Python read round-trip times}, where columns map a quantity to its little-endian f64 samples as bytes.
    With `capture` (path, program, snap length, links) it also has "capture": {"packets", "bytes", "missing",
    "failure"}, and with `qlog` (paths, program, version) "qlog": None, or why something is missing. An
    OSError says which file cannot be created, "pcap" or "qlog", and why.
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

@final
class Stepper:
    """A run of a scenario that pauses at times of the caller's choice; see `simulate`.

    With `rates`, the rates of links can be set. Flows and links are known by their position in the plan. All
    methods raise RuntimeError if the run ended early, or if another thread steps it.
    """

    FLOW: list[str]
    LINK: list[str]
    INTERVAL: list[str]

    def __init__(
        self,
        scenario: Scenario,
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
    """Lets each run go on to its time, with up to `threads` threads and without the GIL.

    Returns what has happened since the last such time at the sender of one flow of each: rows in the order of
    `Stepper.INTERVAL`, as little-endian f64. Raises as `Stepper.advance` does; one that fails stops all, and
    they cannot go on.
    """

def ebpf_needs(path: Path) -> dict[str, Any]:
    """Returns what an object needs (`longfat.ebpf.Needs`); ValueError if it is no eBPF object."""

def ebpf_try_load(path: Path, variable: str, name: str) -> None:
    """Asks this kernel whether it would take a congestion control; nothing stays.

    Raises ValueError with one line if not, PermissionError if the kernel cannot be asked.
    """

def live_run(
    plan: Mapping[str, Any],
    congestion: Mapping[str, str],
    forms: Path,
    objects: Mapping[str, tuple[Path, str, str]],
    pacing_ratio: int | None,
    iperf3: str | None,
    capture: tuple[str, str, int, list[str]] | None,
    programs: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Runs a plan of `Scenario.planned` on this machine's own TCP.

    Returns the same as `simulate`, and "validity".

    `congestion` maps the names of flows and backgrounds to the kernel's names of their algorithms, or to keys
    of `objects`, users' own: file, variable, and name in the kernel. `forms` is the folder with the compiled
    algorithms of `bpf/`. `pacing_ratio` is net.ipv4.tcp_pacing_ca_ratio, `capture` that of `simulate`.
    `programs` are tables of what runs on the path beside the plan; the result then has "programs" too.
    The process moves into its own namespaces and cannot leave them. Raises ValueError for a plan that cannot
    run here, RuntimeError for one that ended early.
    """

def live_die_with_parent() -> None:
    """Makes the kernel send SIGKILL to this process when the thread that started it ends."""

def live_has_loader() -> bool:
    """Returns whether this build can load Longfat's own algorithms into the kernel."""

def live_probe() -> list[tuple[str, str]]:
    """Returns what live runs need, each with what is missing or "". Moves the process like `live_run`."""

def registry() -> Any:
    """The rows of "algorithms", "queues" and "routers"."""

def version() -> str:
    """Returns Longfat's version."""

def commit() -> str | None:
    """Returns the commit that the core was built from, "-dirty" if files differed; None if unknown."""

def results_version() -> int:
    """The newest version of results; a change of any scenario's results increments it."""
