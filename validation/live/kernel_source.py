"""Builds eBPF objects of the kernel's selftests from Debian's source package; nothing of it is kept.

The package is installed (`apt-get install linux-source-6.12`), or fetched with `apt-get download` into the
temporary folder. The kernel's types are those of the running kernel, as bpftool prints them.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

PACKAGE = "linux-source-6.12"
INSTALLED = Path("/usr/src") / f"{PACKAGE}.tar.xz"
PROGRAMS = "tools/testing/selftests/bpf/progs"
HEADERS = ("bpf_tracing_net.h", "bpf_dctcp.h", "bpf_compiler.h", "bpf_misc.h")
TYPES = Path("/sys/kernel/btf/vmlinux")
ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64", "riscv64": "riscv", "s390x": "s390"}
"""The names that libbpf's headers have for a machine's architecture."""


class NotBuiltError(Exception):
    """Why the objects cannot be built here: one line."""


def build(names: Iterable[str], folder: Path) -> list[Path]:
    """Builds the selftests' objects with these names, such as "bpf_cubic", in an empty folder.

    Raises:
        NotBuiltError: a program, a package or the kernel's types are missing.
    """
    wanted = list(names)
    if not shutil.which("clang") or not Path("/usr/include/bpf/bpf_helpers.h").exists():
        raise NotBuiltError("clang or libbpf's headers are missing (Debian: apt install clang libbpf-dev)")
    if not TYPES.exists():
        raise NotBuiltError(f"this kernel has no {TYPES}")
    _unpack(_archive(folder), wanted, folder)
    (folder / "vmlinux.h").write_text(_run([_bpftool(folder), "btf", "dump", "file", TYPES, "format", "c"]))
    target = ARCHITECTURES.get(platform.machine(), platform.machine())
    flags = ["-target", "bpf", "-mcpu=v3", "-O2", "-g", f"-D__TARGET_ARCH_{target}", f"-I{folder}"]
    flags += [f"-ffile-prefix-map={folder}=."]  # the same bytes in every folder
    objects = []
    for name in wanted:
        built = folder / f"{name}.bpf.o"
        _run(["clang", *flags, "-c", folder / PROGRAMS / f"{name}.c", "-o", built], folder)
        objects.append(built)
    return objects


def _run(command: list[str | Path], cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise NotBuiltError(f"{Path(command[0]).name} failed: {said[-1] if said else error}") from None
    return done.stdout


def _fetched(package: str, folder: Path) -> Path:
    """Fetches a package without installing it."""
    if not shutil.which("apt-get"):
        raise NotBuiltError(f"the package {package} is missing, and there is no apt-get to fetch it")
    _run(["apt-get", "download", package], folder)
    found = sorted(folder.glob(f"{package}_*.deb"))
    if not found:
        raise NotBuiltError(f"apt-get has fetched no {package}")
    return found[0]


def _archive(folder: Path) -> Path:
    """Returns the archive of the kernel's source."""
    if INSTALLED.exists():
        return INSTALLED
    package = _fetched(PACKAGE, folder)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
        taken = subprocess.run(
            ["tar", "-x", f".{INSTALLED}"], stdin=files.stdout, cwd=folder, capture_output=True, text=True
        )
    package.unlink()
    if taken.returncode:
        raise NotBuiltError(f"{package.name} holds no {INSTALLED}")
    return folder / INSTALLED.relative_to("/")


def _unpack(archive: Path, names: list[str], folder: Path) -> None:
    files = [f"{PACKAGE}/{PROGRAMS}/{name}" for name in (*HEADERS, *(f"{name}.c" for name in names))]
    subprocess.run(["tar", "-xf", archive, "--strip-components=1", *files], cwd=folder, capture_output=True)
    missing = [name for name in names if not (folder / PROGRAMS / f"{name}.c").exists()]
    if missing:
        raise NotBuiltError(f"{archive.name} holds no {PROGRAMS}/{missing[0]}.c")


def _bpftool(folder: Path) -> Path:
    """Returns bpftool, which is only unpacked if it is not installed."""
    for where in (shutil.which("bpftool"), "/usr/sbin/bpftool"):
        if where is not None and Path(where).exists():
            return Path(where)
    package = _fetched("bpftool", folder)
    _run(["dpkg-deb", "--extract", package, folder / "bpftool"])
    return folder / "bpftool" / "usr" / "sbin" / "bpftool"
