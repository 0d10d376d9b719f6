"""Checks eBPF objects with changes in their structure, as `longfat bpf check` does: it never crashes.

    python fuzz/objects.py NUMBER [SEED]

The objects are those of `make bpf`; `object_mutants.py` changes them. As root the kernel is asked too, in a
process of its own, which libbpf may end. Prints how many objects were refused here or by the kernel, and how
many ended that process. Another seed draws other changes. A check that raises anything else than an error of
Longfat is a finding: its object is kept in `fuzz/findings`, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from object_mutants import changed

from longfat import ebpf
from longfat.errors import LongfatError

HERE = Path(__file__).parent
OBJECTS = HERE.parent / "bpf" / "out"
FINDINGS = HERE / "findings"


def mutants(seed: int) -> Iterator[bytes]:
    """Yields changed objects without end."""
    drawn = random.Random(seed)
    originals = [path.read_bytes() for path in sorted(OBJECTS.glob("lf_*.o"))]
    while True:
        yield changed(drawn.choice(originals), drawn)


def checked(mutant: bytes) -> str:
    """Returns the answer of `bpf check` in a few words; "finding: ..." if it raises something odd."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.bpf.o"
        path.write_bytes(mutant)
        try:
            found = ebpf.check(path)
        except LongfatError as error:
            lines = str(error).splitlines()
            return "refused here" if len(lines) == 1 else f"finding: {len(lines)} lines"
        except BaseException as error:  # a panic of the core is no Exception
            return f"finding: {type(error).__name__}"
    for each in found["algorithms"]:
        if each["problem"] is None and (each["reason"] or "").startswith("libbpf ended"):
            return f"{each['reason']}"
        if each["reason"] is not None and len(each["reason"].splitlines()) != 1:
            return "finding: a reason of several lines"
    kernel = {each["kernel"] for each in found["algorithms"] if each["problem"] is None}
    return f"the kernel: {', '.join(sorted(kernel))}" if kernel else "not for the simulator"


def main() -> int:
    """Checks as many objects as asked."""
    parser = argparse.ArgumentParser(description="Checks changed eBPF objects.")
    parser.add_argument("number", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        made = mutants(arguments.seed)
        remaining = arguments.number
        while remaining:
            batch = list(islice(made, min(remaining, 1000)))
            remaining -= len(batch)
            for mutant, answer in zip(batch, pool.map(checked, batch, chunksize=8), strict=True):
                counts[answer] += 1
                if answer.startswith("finding"):
                    FINDINGS.mkdir(exist_ok=True)
                    (FINDINGS / f"object-{hashlib.sha256(mutant).hexdigest()[:16]}.bpf.o").write_bytes(mutant)
            print(f"{counts.total()} objects: {dict(counts.most_common())}", flush=True)
    return int(any(answer.startswith("finding") for answer in counts))


if __name__ == "__main__":
    sys.exit(main())
