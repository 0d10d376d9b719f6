"""Asks this machine's kernel whether it would take a congestion control of an eBPF object.

libbpf trusts the objects that it reads, so it runs in a process of its own: `python -m longfat.verifier`.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

from longfat import _core

Verdict = Literal["yes", "no", "unknown"]

LIMIT_S = 120
"""How long the kernel may take (chosen here; a program of a million instructions takes about ten seconds)."""
_VERDICTS: dict[int, Verdict] = {0: "yes", 3: "no", 4: "unknown"}
"""By the exit code of the process; Python itself ends with 1 and 2."""


def ask(path: Path, variable: str, name: str) -> tuple[Verdict, str | None]:
    """Returns whether the kernel would take the algorithm, and why not in one line.

    Args:
        path: the object file.
        variable: the algorithm's variable in the object.
        name: the algorithm's name in the kernel.
    """
    call = [sys.executable, "-P", "-m", __name__, str(path), variable, name]
    try:
        asked = subprocess.run(
            call, capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        return "unknown", f"the kernel did not answer within {LIMIT_S} s"
    if asked.returncode < 0:
        return "no", f"libbpf ended with {signal.Signals(-asked.returncode).name} while it read the object"
    lines = (asked.stdout or asked.stderr).decode(errors="replace").splitlines()
    if asked.returncode not in _VERDICTS:
        return "unknown", f"asking the kernel failed: {lines[-1] if lines else asked.returncode}"
    return _VERDICTS[asked.returncode], lines[0] if lines else None


def _answer(path: Path, variable: str, name: str) -> tuple[Verdict, str | None]:
    try:
        _core.ebpf_try_load(path, variable, name)
    except PermissionError as error:
        return "unknown", str(error)
    except ValueError as error:
        return "no", str(error)
    return "yes", None


def _main() -> int:
    verdict, reason = _answer(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
    if reason is not None:
        sys.stdout.buffer.write(" ".join(reason.splitlines()).encode())
    return next(code for code, each in _VERDICTS.items() if each == verdict)


if __name__ == "__main__":
    sys.exit(_main())
