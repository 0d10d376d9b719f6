"""The process that a live run happens in, and nothing else: it moves into namespaces of its own for good.

`python -m longfat.live.worker PARENT` reads a pickled request from standard input and writes a pickled
answer. It ends when its parent does, however that ends, and everything that it has made hangs from its file
descriptors. It has one thread when it begins, without which a user could not have a user namespace.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from longfat import _core

DONE, REFUSED, FAILED = "done", "refused", "failed"


def answer(request: dict[str, Any]) -> tuple[str, Any]:
    """What became of a request, and its result or a line that says why there is none."""
    try:
        if request["what"] == "probe":
            return DONE, _core.live_probe()
        given = (request[key] for key in ("plan", "congestion", "objects", "iperf3"))
        return DONE, _core.live_run(*given)
    except ValueError as error:
        return REFUSED, str(error)
    except Exception as error:
        return FAILED, str(error)


def main() -> None:
    """Answers one request."""
    _core.live_die_with_parent()
    if os.getppid() != int(sys.argv[1]):
        return  # it has ended before the line above
    pickle.dump(answer(pickle.load(sys.stdin.buffer)), sys.stdout.buffer)


if __name__ == "__main__":
    main()
