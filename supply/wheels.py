"""Builds the wheels of all platforms into dist/, and checks them.

    python supply/wheels.py [--check | --tools] [TARGET]...

Each target is one of `TARGETS`; all by default. zig links them, and MinGW those for Windows. `--check` only
checks those that dist/ holds, and `--tools` what building them needs. A wheel passes if its core is for the
right machine, exports what Python looks for, has no symbols to strip, and needs nothing but libraries of the
system.

They have neither the kernel algorithms nor the loader, which needs libelf. That of `make wheel` has both, for
Linux with the glibc of the machine that built it or a newer one.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
GLIBC = (2, 17)
"""The newest version that manylinux2014 may ask for (PEP 599)."""
MINGW = "x86_64-w64-mingw32-gcc"
READER = "llvm-readobj"
MB = 1e6


@dataclass(frozen=True)
class Target:
    """A platform.

    Attributes:
        wheel: a pattern of its wheels' names.
        core: the file of the core.
        machine: the machine of the core's file, as llvm-readobj calls it.
        libraries: those that the system brings.
    """

    wheel: str
    core: str
    machine: str
    libraries: re.Pattern[str]


# Some of those of PEP 599, and the dynamic linker
OF_LINUX = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s)\.so\.\d+|ld-linux[-_a-z0-9]*\.so\.\d")
# The system's, and the core's own name, which llvm-readobj lists too
OF_MACOS = re.compile(r"/usr/lib/.+|/System/Library/.+|@rpath/longfat\._core\.abi3\.so")
# What every Windows since 10 has, and Python's own library; "api-ms-win-" are names within Windows.
OF_WINDOWS = re.compile(
    r"(python3|kernel32|ntdll|ws2_32|userenv|advapi32|bcrypt|bcryptprimitives|ucrtbase|msvcrt)\.dll|"
    r"api-ms-win-.+\.dll",
    re.IGNORECASE,
)
TARGETS = {
    "x86_64-unknown-linux-gnu": Target("*-manylinux2014_x86_64*", "_core.abi3.so", "x86_64", OF_LINUX),
    "aarch64-unknown-linux-gnu": Target("*-manylinux2014_aarch64*", "_core.abi3.so", "aarch64", OF_LINUX),
    "x86_64-apple-darwin": Target("*-macosx_*_x86_64*", "_core.abi3.so", "x86_64", OF_MACOS),
    "aarch64-apple-darwin": Target("*-macosx_*_arm64*", "_core.abi3.so", "aarch64", OF_MACOS),
    "x86_64-pc-windows-gnu": Target("*-win_amd64*", "_core.pyd", "x86_64", OF_WINDOWS),
}


def build(name: str) -> None:
    """Builds the wheel of a target."""
    command = ["maturin", "build", "--release", "--locked", "--strip", "--quiet", "--target", name]
    if "windows" not in name:  # with zig, maturin 1.16 has the DLL export the module's name with its dot
        command.append("--zig")
    if "linux" in name:
        command += ["--compatibility", "manylinux2014"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    if subprocess.run([*command, "--out", str(DIST)], cwd=ROOT, env=environment, check=False).returncode:
        raise SystemExit(f"{name}: maturin cannot build it; its message is above")


def missing(names: list[str]) -> list[str]:
    """Returns a line for each thing that building these targets lacks, with the command that brings it."""
    lacking = inspecting()
    if importlib.util.find_spec("ziglang") is None:
        lacking.append("ziglang, the linker: .venv/bin/pip install ziglang")
    if shutil.which(MINGW) is None and any("windows" in name for name in names):
        lacking.append(f"{MINGW}: apt install gcc-mingw-w64-x86-64-win32")
    if shutil.which("rustup") is None:
        return [*lacking, "rustup, which installs Rust for other platforms: https://rustup.rs"]
    listed = ["rustup", "target", "list", "--installed"]
    installed = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    lacking += [f"{name}: rustup target add {name}" for name in names if name not in installed]
    return lacking


def inspecting() -> list[str]:
    """Returns such a line if what reads the wheels is missing."""
    return [] if shutil.which(READER) else [f"{READER}: apt install llvm"]


def problems(name: str, wheel: Path) -> list[str]:
    """Returns what is wrong with the wheel of a target, and prints what it holds."""
    target = TARGETS[name]
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        binaries = [entry for entry in archive.namelist() if re.search(r"\.(so|dylib|dll|pyd)(\.|$)", entry)]
        core = Path(archive.extract(f"longfat/{target.core}", folder))
        size = core.stat().st_size
        read = _read(core)
    libraries = _needed(read)
    print(
        f"{wheel.name}: {wheel.stat().st_size / MB:.1f} MB, its core {size / MB:.1f} MB; "
        f"needs {', '.join(libraries) or 'nothing'}"
    )
    found = []
    if binaries != [f"longfat/{target.core}"]:
        found.append(f"holds other libraries: {', '.join(binaries)}")
    if f"Arch: {target.machine}" not in read:
        found.append(f"is not for {target.machine}")
    if not re.search(r"Name: _?PyInit__core\b", read):
        found.append("does not export PyInit__core")
    found += [f"needs {each}" for each in libraries if not target.libraries.fullmatch(each)]
    newer = sorted({version for version in _glibc(read) if version > GLIBC})
    found += [f"needs glibc {major}.{minor}" for major, minor in newer]
    if ".debug_info" in read or "__debug_info" in read:
        found.append("is not stripped")
    return [f"{wheel.name}: {problem}" for problem in found]


def _read(core: Path) -> str:
    """What llvm-readobj says of a library: its format, sections, needed libraries, and exported symbols."""
    options = ["--file-header", "--sections", "--needed-libs", "--dyn-symbols", "--coff-exports", "--symbols"]
    reading = [READER, *options, str(core)]
    return subprocess.run(reading, capture_output=True, text=True, check=True).stdout


def _needed(read: str) -> list[str]:
    block = re.search(r"^NeededLibraries \[\n(.*?)^\]", read, re.MULTILINE | re.DOTALL)
    return [line.strip() for line in block.group(1).splitlines()] if block else []


def _glibc(read: str) -> list[tuple[int, int]]:
    return [(int(major), int(minor)) for major, minor in re.findall(r"@GLIBC_(\d+)\.(\d+)", read)]


def main() -> int:
    """Builds and checks; returns 1 if a wheel does not pass, 2 if something to build with is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--check", action="store_true", help="build nothing")
    doing.add_argument("--tools", action="store_true", help="check only what building needs")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    asked = parser.parse_args()
    if unknown := sorted(set(asked.targets) - set(TARGETS)):
        parser.error(f"{unknown[0]}: accepted: {', '.join(TARGETS)}")
    names = asked.targets or list(TARGETS)
    lacking = inspecting() if asked.check else missing(names)
    if lacking:
        print(*(f"missing: {line}" for line in lacking), sep="\n", file=sys.stderr)
        return 2
    if asked.tools:
        return 0
    wrong = []
    for name in names:
        if not asked.check:
            build(name)
        wheels = sorted(DIST.glob(TARGETS[name].wheel))
        wrong += problems(name, wheels[-1]) if wheels else [f"{name}: there is no wheel in {DIST.name}/"]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
