"""Records which ways through the core are the usual ones, for builds that follow the record.

    python benches/pgo.py        # writes target/profile/core.profdata

Builds the core with counters, runs each algorithm, each queue, the scenarios of `scenarios/` and the
beginning of the reference work with it, and merges what they counted. `make wheel` and `make bench` build
with the record where the compiler's `llvm-profdata` is installed (`rustup component add llvm-tools`). A
record changes what the core costs, not what it computes: results are the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "profile"
PROFILE = FOLDER / "core.profdata"
BOTTLENECKS = ("red", "codel", "fq_codel", "pie", "dualpi2", "steps", "sine", "xcp")
"""What the example puts in the place of drop-tail at a constant rate."""
REFERENCE = (
    *("w1 --seconds 20", "w2 --seconds 10", "w3 --seconds 5", "10g --seconds 2", "loss --seconds 3"),
    *("w4 --seconds 1", "w4 --seconds 1 --bottleneck ramp", "w5 --seconds 3", "w6 --seconds 3"),
    *("web --seconds 200", "10k --seconds 1", "ten --seconds 10", "scale --flows 100 --seconds 20"),
    *(f"ten --seconds 5 --bottleneck {kind}" for kind in BOTTLENECKS),
)
"""Short runs of the reference work."""


def profdata() -> Path | None:
    """Returns the `llvm-profdata` of the compiler in use, which alone reads what that compiler counts."""
    try:
        found = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return next(Path(found.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata"), None)


def record() -> None:
    """Builds with counters, runs the training, and writes `PROFILE`."""
    merge = profdata()
    if merge is None:
        sys.exit("llvm-profdata is missing; rustup component add llvm-tools")
    counts, package = FOLDER / "counts", FOLDER / "package"
    for folder in (counts, package):
        shutil.rmtree(folder, ignore_errors=True)
    target = FOLDER / "counting"
    build = ["cargo", "build", "--release", "--quiet", "--target-dir", target]
    build += ["--package", "longfat-python", "--package", "longfat-sim", "--lib", "--example", "reference"]
    # counters are put in before crates are optimized together, which would only make the training faster
    flags = {"RUSTFLAGS": f"-Cprofile-generate={counts}", "CARGO_PROFILE_RELEASE_LTO": "off"}
    subprocess.run(build, cwd=ROOT, env={**os.environ, **flags}, check=True)
    shutil.copytree(
        ROOT / "python" / "longfat", package / "longfat", ignore=shutil.ignore_patterns("_core*.so", "bpf")
    )
    shutil.copy(target / "release" / "lib_core.so", package / "longfat" / "_core.abi3.so")
    shutil.rmtree(counts, ignore_errors=True)  # what build scripts counted
    train = [sys.executable, __file__, "--train"]
    subprocess.run(train, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(package)}, check=True)
    # the driver's loops are compiled into each program that calls it, so the example counts for itself
    for case in REFERENCE:
        example = [target / "release" / "examples" / "reference", *case.split()]
        subprocess.run(example, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    subprocess.run([merge, "merge", "--output", PROFILE, counts], check=True)


def train() -> None:
    """Runs what the record is made of, with the core that counts."""
    import longfat

    if FOLDER not in Path(longfat.__file__).parents:
        sys.exit(f"trained the wrong core: {longfat.__file__}")
    for scenario in scenarios():
        longfat.run(scenario)


def scenarios() -> Iterator[Any]:
    """Yields what people run: the files in `scenarios/`, and all algorithms and queues on plain paths."""
    from longfat.scenario import registry

    yield from sorted((ROOT / "scenarios").glob("*.toml"))
    for row in registry.rows("algorithms"):
        link = {"rate": "100 Mbit/s", "buffer": "50 % BDP"}
        if row.get("protocol"):
            link["router"] = row["protocol"]
        flows = [{"algorithm": row["name"], "rtt": rtt} for rtt in ("40 ms", "80 ms")]
        for host in ({}, {"stack": "linux"}) if row["transport"] == "tcp" else ({},):
            yield {"duration": "20 s", "bottleneck": link, "flow": [flow | host for flow in flows]}
    for row in registry.rows("queues"):
        link = {"rate": "200 Mbit/s", "buffer": "100 ms", "queue": row["name"]}
        for algorithm in ("newreno", "cubic"):
            flows = [{"algorithm": algorithm, "rtt": f"{20 + 6 * i} ms"} for i in range(10)]
            yield {"duration": "10 s", "bottleneck": link, "flow": flows}
    for algorithm, loss in (("newreno", 0.0), ("cubic", 0.0), ("newreno", 0.01)):
        link = {"rate": "1 Gbit/s", "buffer": "8333 packets", "loss": loss}
        flows = [{"algorithm": algorithm, "rtt": f"{20 + i} ms"} for i in range(180)]
        yield {"duration": "5 s", "bottleneck": link, "flow": flows}
    link = {"rate": "10 Gbit/s", "buffer": "100 % BDP"}
    yield {"duration": "5 s", "bottleneck": link, "flow": [{"algorithm": "hstcp", "rtt": "100 ms"}]}


if __name__ == "__main__":
    train() if "--train" in sys.argv[1:] else record()
