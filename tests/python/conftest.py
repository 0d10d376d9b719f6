import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# A shell that starts the tests in the background has them ignore Ctrl-C, and what they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest loads readline, which sets these for the processes below. Workers of xdist are such processes: as
# without workers, what they start has these, and the tests themselves do not.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("COLUMNS", "LINES"):
        if (value := os.environ.pop(name, None)) is not None:
            os.putenv(name, value)
