"""The process in which a live run happens; it moves into its own namespaces and cannot leave them.

`python -m longfat.live.worker PARENT` reads a pickled request from standard input and writes a pickled
answer. It ends when its parent process ends, for whatever reason. File descriptors alone hold everything that
it creates, so nothing is left after it. It starts with one thread, because the kernel gives a user namespace
to a process of one thread only.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from longfat import _core

ARGUMENTS = ("plan", "congestion", "forms", "objects", "pacing_ratio", "iperf3", "capture", "programs")
"""The keys of a request that `_core.live_run` takes, in order."""
DONE, REFUSED, FAILED = "done", "refused", "failed"


def answer(request: dict[str, Any]) -> tuple[str, Any]:
    """Handles a request: {"what": "probe"}, or "run" with the arguments of `_core.live_run`.

    Returns:
        DONE and the result, or REFUSED or FAILED and one line that says why there is none.
    """
    try:
        if request["what"] == "probe":
            return DONE, _core.live_probe()
        given = (request[key] for key in ARGUMENTS)
        return DONE, _core.live_run(*given)
    except ValueError as error:
        return REFUSED, str(error)
    except Exception as error:
        return FAILED, str(error)


def main() -> None:
    """Reads one request and writes the response."""
    _core.live_die_with_parent()
    if os.getppid() != int(sys.argv[1]):
        return  # the parent ended before the line above took effect
    pickle.dump(answer(pickle.load(sys.stdin.buffer)), sys.stdout.buffer)


if __name__ == "__main__":
    main()
