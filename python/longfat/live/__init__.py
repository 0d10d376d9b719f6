"""The live backend: scenarios on this machine's own TCP. Imports nothing, because its worker starts here."""

from __future__ import annotations

from typing import Any


def refuse_elsewhere() -> None:
    """Raises InputError where nothing runs live."""
    from longfat import system
    from longfat.errors import InputError

    if reason := system.no_live():
        raise InputError(f"{reason}; accepted: the simulator, or Linux in a virtual machine")


def doubts(summaries: list[dict[str, Any]]) -> list[str]:
    """Returns a line for each live run that is not valid, with every check that failed."""
    from longfat.live import load

    lines = []
    for summary in summaries:
        failed = [
            f"{check['name']}: {check['value']:.4g}, accepted up to {check['bound']:.4g}"
            for check in summary["validity"]["checks"]
            if not check["ok"]
        ]
        if failed:
            meanwhile = load.told(summary["validity"].get("others"))
            lines.append(
                f"the live result of seed {summary['seed']} is not valid: {'; '.join(failed)}"
                + (f". Meanwhile {meanwhile}" if meanwhile else "")
            )
    return lines
