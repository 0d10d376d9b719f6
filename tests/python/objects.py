"""eBPF objects for tests, compiled with clang; where it is missing, a test is skipped with the reason."""

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "bpf"


def compiled(source: Path, target: Path) -> Path:
    """Compiles a source as `make bpf` does."""
    if shutil.which("clang") is None or not Path("/usr/include/bpf/bpf_helpers.h").exists():
        pytest.skip("needs clang and libbpf's headers (Debian: apt install clang libbpf-dev)")
    flags = ["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wno-unused-function", "-I", str(SOURCES)]
    subprocess.run(["clang", *flags, "-c", str(source), "-o", str(target)], check=True, capture_output=True)
    return target
