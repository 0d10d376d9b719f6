"""`longfat doctor`: what this machine can run live, and the command that mends what is missing."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _core, registry
from longfat.errors import LongfatError
from longfat.live import run

if TYPE_CHECKING:
    from rich.console import Console

REMEDIES = {
    "namespaces": "run as root, or as root: sysctl -w user.max_user_namespaces=1000 "
    "(and kernel.unprivileged_userns_clone=1 where there is one)",
    "tun": "as root: modprobe tun && chmod 666 /dev/net/tun",
    "sysctls": "mount /proc for writing: mount -o remount,rw /proc/sys",
    "realtime": "run as root, or as root: setcap cap_sys_nice+ep on the Python interpreter",
}
NEEDED = frozenset({"kernel", "namespaces", "tun", "sysctls"})
"""Without these nothing runs live; the rest makes more of it possible, or results better."""
LEAST_PROCESSORS = 2
BTF = Path("/sys/kernel/btf/vmlinux")


def examine() -> list[dict[str, Any]]:
    """Every item: name, whether it is there, what was found, what mends it ("" if nothing has to be)."""
    items = [
        _item(
            "kernel", platform.system() == "Linux", f"{platform.system()} {platform.release()}", "use Linux"
        )
    ]
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
            f"use a machine with {LEAST_PROCESSORS} or more: router and hosts have a thread each",
        )
    )
    items += [
        _algorithm(row)
        for row in registry.rows("algorithms")
        if row["live"] and row.get("transport") == "tcp"
    ]
    items.append(_item("btf", BTF.exists(), str(BTF), "use a kernel built with CONFIG_DEBUG_INFO_BTF=y"))
    clang = shutil.which("clang")
    items.append(
        _item("clang", clang is not None, clang or "not found", "apt-get install -y clang libbpf-dev")
    )
    return items


def _algorithm(row: registry.Row) -> dict[str, Any]:
    there = run.available()
    name, own, module = run.kernel_name(row["name"], there), row.get("kernel_form"), row["linux_module"] or ""
    if name in there:
        return _item(f"algorithm {row['name']}", True, name, "")
    if name == own and (run.OBJECTS / f"{own}.o").exists() and _core.live_has_loader():
        return _item(f"algorithm {row['name']}", True, f"{own}, brought in for each run", "")
    if name == module and _module_file(module):
        return _item(f"algorithm {row['name']}", True, f"the module tcp_{module} can be loaded", "")
    found = "no loader in this build" if own and not _core.live_has_loader() else f"no {name}"
    return _item(f"algorithm {row['name']}", False, found, _bringing(own, module))


def _bringing(own: str | None, module: str) -> str:
    if own is None:
        return f"as root: modprobe tcp_{module}, on a kernel that has it"
    if _core.live_has_loader():
        return "make bpf"
    return "apt-get install -y pkg-config libelf-dev zlib1g-dev && rm -f .venv/.core && make setup bpf"


def _module_file(module: str) -> bool:
    folder = Path("/lib/modules") / platform.release()
    try:
        return f"tcp_{module}.ko" in (folder / "modules.dep").read_text()
    except OSError:
        return False


def _item(name: str, ok: bool, found: str, remedy: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed": name in NEEDED, "found": found, "remedy": "" if ok else remedy}


def show(items: list[dict[str, Any]], console: Console) -> None:
    """The items as a table, and what follows from them in a line."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "item", "found", "what mends it"):
        table.add_column(heading)
    for item in items:
        sign = "[green]yes[/]" if item["ok"] else "[red]no[/]" if item["needed"] else "[yellow]no[/]"
        table.add_row(sign, *(item[key].replace("[", "\\[") for key in ("name", "found", "remedy")))
    console.print(table)
    lacking = [item["name"] for item in items if item["needed"] and not item["ok"]]
    console.print(
        f"Nothing can be run live here: {', '.join(lacking)}." if lacking else "Live runs work here.",
        markup=False,
    )
