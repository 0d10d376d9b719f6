"""The progress bar of studies that run many scenarios."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def progress_bar(console: Console) -> Progress:
    """Returns a progress bar with the fields `runs`, `of` and `rate` (million packets per second)."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[runs]}/{task.fields[of]} runs"),
        TextColumn("{task.fields[rate]:.1f} M packets/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
