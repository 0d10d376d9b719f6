"""`longfat doctor`: what works on this machine, and how to fix what is missing for live runs."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Collection
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _core, installation, system
from longfat.errors import InputError, LongfatError
from longfat.live import kernel, run, traffic
from longfat.scenario import foreign, loading, registry
from longfat.units import SIZE

if TYPE_CHECKING:
    from rich.console import Console

REMEDIES = {
    "namespaces": "run as root, or as root: sysctl -w user.max_user_namespaces=1000 "
    "(and kernel.unprivileged_userns_clone=1 if that key exists)",
    "tun": "as root: modprobe tun && chmod 666 /dev/net/tun",
    "sysctls": "as root: mount -o remount,rw /proc/sys",
    "cgroup": "run as root, on Linux 5.10 or later, with a cgroup2 file system: as root: "
    "mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified",
    "realtime": "run as root, or as root: setcap cap_sys_nice+ep on the Python interpreter",
}
NEEDED = frozenset({"kernel", "namespaces", "tun", "sysctls"})
"""Nothing runs live without these; the others allow more, or improve results."""
PATH = ("path rate", "path buffer")
"""The items about a path, which `longfat.live.capability` examines."""
LEAST_PROCESSORS = 2
OTHER_KERNEL = "use a kernel built with CONFIG_DEBUG_INFO_BTF=y"
BTF = Path("/sys/kernel/btf/vmlinux")
REGISTERING = {"CAP_NET_ADMIN": 12, "CAP_PERFMON": 38, "CAP_BPF": 39}
"""The capabilities that registering an algorithm with the kernel needs (capabilities(7))."""


def examine() -> list[dict[str, Any]]:
    """Looks at what every system has, and on Linux at everything that live runs need or can use.

    Returns:
        For each item its `name`, `ok`, whether it is `needed` for any live run, what was `found`, and the
        `remedy`, a command or advice, which is "" if the item is ok.
    """
    reason = system.no_live()
    items = _everywhere(not reason)
    items.append(_item("kernel", not reason, f"{system.name()} {platform.release()}", reason))
    if reason:
        return items
    try:
        probed = run.ask({"what": "probe"}, "doctor")
    except LongfatError as error:
        probed = [(name, str(error)) for name in REMEDIES]
    items += [_item(name, not missing, missing or "usable", REMEDIES[name]) for name, missing in probed]
    processors = os.cpu_count() or 1
    items.append(
        _item(
            "processors",
            processors >= LEAST_PROCESSORS,
            f"{processors}",
            f"use a machine with {LEAST_PROCESSORS} or more: routers and hosts run in threads of their own",
        )
    )
    btf = BTF.exists()
    items.append(_item("btf", btf, str(BTF) if btf else f"no {BTF}", OTHER_KERNEL))
    if installation.checkout() is not None:  # a wheel contains what clang would build
        clang = shutil.which("clang")
        items.append(_item("clang", clang is not None, clang or "not found", kernel.CLANG))
    program = traffic.iperf3()
    items.append(_item("iperf3", program is not None, program or "not found", traffic.INSTALL))
    there = kernel.available()
    items += [
        _algorithm(row, there)
        for row in registry.rows("algorithms")
        if row["live"] and row.get("transport") == "tcp"
    ]
    return items


def _everywhere(live: bool) -> list[dict[str, Any]]:
    """Returns the items that need no Linux; `live` says whether this machine may have live runs too."""
    loads = live and _core.live_has_loader()
    whole_bytes, free_bytes = system.memory_bytes()
    memory = "of memory free" if free_bytes < whole_bytes else "of memory"
    room = f"{system.cores()} processors, {SIZE.write(float(f'{free_bytes:.2g}'))} {memory}"
    return [
        _item("simulator", True, room, ""),
        _item("figures", True, f"matplotlib {metadata.version('matplotlib')}", ""),
        _item("captures", True, "of simulated and of live runs" if live else "of simulated runs", ""),
        _item("eBPF", True, f"objects run in the simulator{' and the kernel' if loads else ''}", ""),
    ]


def _algorithm(row: registry.Row, there: list[str]) -> dict[str, Any]:
    name = kernel.name_of(row["name"], there)
    item = f"algorithm {row['name']}"
    found, remedy = lacks(name, there)
    if found:
        return _item(item, False, found, remedy)
    if name == row.get("kernel_form"):
        return _item(item, True, f"{name}, loaded for each run", "")
    return _item(item, True, name if name in there else f"the module tcp_{name} can be loaded", "")


def lacks(name: str, there: list[str]) -> tuple[str, str]:
    """Returns what is missing to run an algorithm live and how to fix it, or two "" if nothing is.

    Args:
        name: the kernel's name of it, or a user's own object, as `kernel.congestion` has it.
        there: the names of the algorithms that the kernel has now.
    """
    if name in kernel.own_forms():
        return kernel.unbuilt(name) or _cannot_load()
    if loading.OBJECT in name:
        return kernel.no_loader() or _cannot_load()
    if name in there or foreign.has_module(name):
        return "", ""
    return f"no {name}", f"as root: modprobe tcp_{name}, on a kernel that has it"


def _cannot_load() -> tuple[str, str]:
    if not BTF.exists():
        return "no BTF", OTHER_KERNEL
    if not _may_register():
        return "not permitted to register it", "run as root"
    return "", ""


def _may_register() -> bool:
    """Returns whether this process has those capabilities in the initial user namespace."""
    try:
        mapped = Path("/proc/self/uid_map").read_text().split()
        status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    except (OSError, ValueError):
        return False
    held = int(status.get("CapEff", "0"), 16)
    return mapped == ["0", "0", "4294967295"] and all(held >> bit & 1 for bit in REGISTERING.values())


def refuse_without(names: Collection[str], who: str) -> None:
    """Raises `InputError`, one line, if this machine lacks what every live run needs, or one of these items.

    Args:
        names: names of items.
        who: begins the message.
    """
    for item in examine():
        if not item["ok"] and (item["needed"] or item["name"] in names):
            raise InputError(
                f"{who}: --backend live: {item['name']}: {item['found']}; to fix it: {item['remedy']}"
            )


def lacking(items: list[dict[str, Any]]) -> list[str]:
    """Returns the names of missing items without which nothing runs live here."""
    return [item["name"] for item in items if item["needed"] and not item["ok"]]


def _item(name: str, ok: bool, found: str, remedy: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed": name in NEEDED, "found": found, "remedy": "" if ok else remedy}


def show(items: list[dict[str, Any]], console: Console) -> None:
    """Prints the items as a table, and a line that says whether live runs work."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "item", "found", "how to fix it"):
        table.add_column(heading)
    for item in items:
        sign = "[green]yes[/]" if item["ok"] else "[red]no[/]" if item["needed"] else "[yellow]no[/]"
        table.add_row(sign, *(item[key].replace("[", "\\[") for key in ("name", "found", "remedy")))
    console.print(table)
    without = lacking(items)
    console.print(_verdict(items, without), markup=False)


def _verdict(items: list[dict[str, Any]], without: list[str]) -> str:
    """Returns the line under the table."""
    if reason := system.no_live():
        return f"Everything but live runs works here: {reason}."
    asked = [item["name"] for item in items if item["name"] in PATH]
    if not set(without) <= set(asked):
        return f"Nothing runs live here without: {', '.join(name for name in without if name not in asked)}."
    if without:
        return "Live runs work here, but this path is more than this machine carries now."
    return "Live runs work here, and this machine carries this path." if asked else "Live runs work here."
