"""What the control groups of this process still allow it to take of the memory.

A container, a batch system or a service manager limits the memory of a group, or of one above it. Both
versions of the hierarchy are read (docs.kernel.org/admin-guide, cgroup-v2.html and cgroup-v1/memory.html).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PROCESS = Path("/proc/self")


@dataclass(frozen=True)
class _Names:
    """The files with a group's limit and use, and the line of memory.stat that can be reclaimed, bytes."""

    limit: str
    used: str
    reclaimable: str


_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Names("memory.max", "memory.current", "inactive_file")


def free_bytes(process: Path = PROCESS) -> float:
    """Returns the least that any group around this process has left, bytes; infinity without a limit.

    Args:
        process: the folder that describes the process, such as /proc/self.
    """
    return min((_left(group, names) for group, names in _groups(process)), default=math.inf)


def _groups(process: Path) -> Iterator[tuple[Path, _Names]]:
    """Yields the folders of the process's own groups and of those above them."""
    try:
        memberships = (process / "cgroup").read_text(encoding="utf-8").splitlines()
        mounts = (process / "mountinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # another system than Linux
        return
    for membership in memberships:
        hierarchy, _, rest = membership.partition(":")
        controllers, _, path = rest.partition(":")
        if hierarchy == "0":
            names, kind, option = _V2, "cgroup2", None
        elif "memory" in controllers.split(","):
            names, kind, option = _V1, "cgroup", "memory"
        else:
            continue
        for mount in mounts:
            if (top := _mounted(mount, kind, option, path)) is not None:
                folder, below = top
                yield from ((folder / part, names) for part in (below, *below.parents))
                break


def _mounted(mount: str, kind: str, option: str | None, path: str) -> tuple[Path, PurePosixPath] | None:
    """Returns where a line of mountinfo shows the hierarchy, and the path below; None if it does not."""
    left, _, right = mount.partition(" - ")
    fields, system = left.split(" "), right.split(" ")
    if len(fields) < 5 or len(system) < 3 or system[0] != kind:
        return None
    if option is not None and option not in system[2].split(","):
        return None
    root, point = fields[3], fields[4]
    inside = PurePosixPath(path).is_relative_to(root)
    below = PurePosixPath(path).relative_to(root) if inside else PurePosixPath()
    return Path(point), below


def _left(group: Path, names: _Names) -> float:
    try:
        limit = float((group / names.limit).read_text(encoding="ascii"))
        used = float((group / names.used).read_text(encoding="ascii"))
    except (OSError, ValueError):  # a group without the files, or "max"
        return math.inf
    return max(0.0, limit - max(0.0, used - _reclaimable(group, names)))


def _reclaimable(group: Path, names: _Names) -> float:
    """Returns the bytes of files that the kernel drops before it refuses memory."""
    try:
        for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
            name, _, amount = line.partition(" ")
            if name == names.reclaimable:
                return float(amount)
    except (OSError, ValueError):
        pass
    return 0.0
