"""Measures how long acknowledgements above a gap wait in this machine's TCP.

    python validation/live/ack_timer.py PATH [--seconds 20]

The selftest bpf_cc_cubic runs live on a path of selftests.py. The kernel's trace events tell when a receiver
starts its timer of compressed SACK (tcp_compressed_ack_kick) and when that expires. Needs root and tracefs.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import kernel_source
import longfat
import selftests
from longfat.errors import LongfatError

TRACING = Path("/sys/kernel/tracing")
TIMER = "tcp_compressed_ack_kick"
EVENTS = ("hrtimer_start", "hrtimer_expire_entry")
SHARES = (0, 5, 50, 95, 99, 100)
EVENT = re.compile(r"\s(\d+\.\d+): (\w+): hrtimer=(\w+)")


class NoTraceError(Exception):
    """Why the kernel's events cannot be traced here: one line."""


@contextmanager
def traced() -> Iterator[Path]:
    """Traces the timer's events into an instance of its own, which goes at the end."""
    address = next((line.split()[0] for line in _symbols() if line.split()[2] == TIMER), "")
    if not int(address or "0", 16):
        raise NoTraceError(f"this kernel does not show the address of {TIMER} (are you root?)")
    if not (TRACING / "instances").is_dir():
        raise NoTraceError(f"tracefs is missing: mount -t tracefs nodev {TRACING}")
    instance = TRACING / "instances" / "longfat"
    instance.mkdir()
    try:
        (instance / "trace_clock").write_text("mono")
        (instance / "buffer_size_kb").write_text("16384")
        for event in EVENTS:
            where = instance / "events" / "timer" / event
            (where / "filter").write_text(f"function==0x{address}")
            (where / "enable").write_text("1")
        yield instance / "trace"
    finally:
        instance.rmdir()


def _symbols() -> list[str]:
    return Path("/proc/kallsyms").read_text().splitlines()


def waits_ms(lines: Iterable[str]) -> list[float]:
    """Returns the times from each start of a timer to its expiry; those that were stopped are left out."""
    begun: dict[str, float] = {}
    found = []
    for line in lines:
        if (event := EVENT.search(line)) is None:
            continue
        at, name, timer = float(event[1]), event[2], event[3]
        if name == "hrtimer_start":
            begun[timer] = at
        elif timer in begun:
            found.append(1e3 * (at - begun.pop(timer)))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Prints the percentiles of the waits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("path", type=int, choices=range(1, 1 + selftests.PATHS))
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the run is")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="longfat-selftests-") as folder:
        try:
            objects = kernel_source.build(["bpf_cc_cubic"], Path(folder))
            path = selftests.paths(objects, selftests.PATHS, selftests.SEED)[asked.path - 1]
            scenario = path.scenario(1) | {"duration": f"{asked.seconds:g} s"}
            del scenario["window"]
            with traced() as trace:
                result = longfat.run(scenario, backend="live")
                found = waits_ms(trace.read_text().splitlines())
        except (LongfatError, kernel_source.NotBuiltError, NoTraceError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    flow = result.summary["flows"][0]
    segment_ms = 12.0 / path.rate_mbps
    print(
        f"{path.rate_mbps:g} Mbit/s, {path.rtt_ms} ms, {asked.seconds:g} s: "
        f"{1e-6 * flow['throughput_bps']:.2f} Mbit/s, {flow['timeouts']} timeouts"
    )
    if found:
        told = Counter(1 + int(wait / segment_ms) for wait in found)
        print(f"{len(found)} waits, ms: " + ", ".join(f"{q} % {np.percentile(found, q):.3f}" for q in SHARES))
        print("segments that come while one waits, itself included:", dict(sorted(told.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
