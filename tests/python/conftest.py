import fcntl
import io
import os
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# what tests share, and tests that others build on
sys.path[:0] = map(str, [HERE, *sorted({path.parent for path in HERE.glob("*/test_*.py")})])

# A shell that starts the tests in the background has them ignore Ctrl-C, and what they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest loads readline, which sets these for the processes below. Workers of xdist are such processes: as
# without workers, what they start has these, and the tests themselves do not.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("COLUMNS", "LINES"):
        if (value := os.environ.pop(name, None)) is not None:
            os.putenv(name, value)

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
"""What the command handles itself."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Tests with the mark `kernel` wait for those of the same part, which other processes may run."""
    mark = item.get_closest_marker("kernel")
    if mark is None:
        return (yield)
    with open(Path(tempfile.gettempdir(), f"longfat-{os.getuid()}-{mark.args[0]}"), "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return (yield)


DRAWN: dict[str, list[tuple[str, bytes]]] = {}
"""The files of figures that `drawn_once` has seen."""


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages copy a figure that this process has drawn, in a hundredth of the time."""
    from longfat.figure import matplotlib

    draw = matplotlib.save

    def save(figure: Any, directory: Path) -> list[Path]:
        key = repr(figure)
        if key not in DRAWN:
            DRAWN[key] = [(path.name, path.read_bytes()) for path in draw(figure, directory)]
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in DRAWN[key]:
            (directory / name).write_bytes(data)
        return [directory / name for name, _ in DRAWN[key]]

    monkeypatch.setattr(matplotlib, "save", save)


@pytest.fixture
def longfat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls the command line in this process: (exit code, stdout, stderr)."""

    from longfat import __main__

    def call(*arguments: object, stdin: str = "") -> tuple[int | str | None, str, str]:
        monkeypatch.setattr(sys, "argv", ["longfat", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        earlier = {number: signal.getsignal(number) for number in SIGNALS}
        try:
            with pytest.raises(SystemExit) as ended:
                __main__.main()
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call
