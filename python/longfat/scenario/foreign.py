"""The running kernel's congestion controls, by name: live runs have those too that the simulator lacks."""

from __future__ import annotations

import platform
import re
from pathlib import Path

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
MODULES = Path("/lib/modules")
NAME = re.compile(r"[A-Za-z0-9_+-]{1,15}")
"""The kernel's names have at most 15 characters (TCP_CA_NAME_MAX)."""


def available() -> list[str]:
    """Returns the kernel's names of the algorithms that it has now. It may load further modules on demand."""
    try:
        return AVAILABLE.read_text().split()
    except OSError:
        return []


def has_module(module: str) -> bool:
    """Returns whether the running kernel can load the algorithm of this module, tcp_NAME."""
    try:
        listed = (MODULES / platform.release() / "modules.dep").read_text()
    except OSError:
        return False
    return re.search(rf"/tcp_{re.escape(module)}\.ko(\.\w+)?:", listed) is not None


def has(name: str) -> bool:
    """Returns whether the running kernel has a congestion control of this name, or a module with one."""
    return NAME.fullmatch(name) is not None and (name in available() or has_module(name))
