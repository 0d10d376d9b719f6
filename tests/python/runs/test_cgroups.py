"""The memory that a container or a batch system leaves to a run is read from all control groups around it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.runs import cgroups

MIB = 1 << 20


def described(tmp_path: Path, membership: str, mount: str) -> Path:
    """Writes a process's own description; "{top}" in a mount is where the groups lie."""
    process = tmp_path / "proc"
    process.mkdir()
    (process / "cgroup").write_text(f"7:cpu,cpuacct:/other\n{membership}\n")
    other = "31 23 0:28 / /elsewhere rw,relatime - tmpfs tmpfs rw,mode=755\n"
    (process / "mountinfo").write_text(other + mount.format(top=tmp_path / "groups") + "\n")
    return process


def group(tmp_path: Path, below: str, limit: str, used: int, inactive: int = 0, *, version: int = 2) -> None:
    """Writes the files of a control group; its files' pages that can be dropped are `inactive`."""
    folder = tmp_path / "groups" / below
    folder.mkdir(parents=True, exist_ok=True)
    names = (
        ("memory.max", "memory.current")
        if version == 2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    )
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    key = "inactive_file" if version == 2 else "total_inactive_file"
    (folder / "memory.stat").write_text(f"anon 5\n{key} {inactive}\n")


V2 = "35 31 0:32 / {top} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate"
V1 = "35 31 0:32 / {top} rw,relatime - cgroup cgroup rw,memory"


def test_the_tightest_group_above_a_process_counts_in_version_2(tmp_path: Path) -> None:
    process = described(tmp_path, "0::/batch/job/step", V2)
    group(tmp_path, "batch/job/step", "max", 10 * MIB)
    group(tmp_path, "batch/job", str(100 * MIB), 40 * MIB)
    group(tmp_path, "batch", str(200 * MIB), 50 * MIB)
    assert cgroups.free_bytes(process) == 60 * MIB


def test_the_tightest_group_above_a_process_counts_in_version_1(tmp_path: Path) -> None:
    process = described(tmp_path, "4:memory:/batch/job", V1)
    group(tmp_path, "batch/job", str(300 * MIB), 20 * MIB, version=1)
    group(tmp_path, "batch", str(100 * MIB), 30 * MIB, version=1)
    assert cgroups.free_bytes(process) == 70 * MIB


def test_pages_of_files_that_can_be_dropped_count_as_free(tmp_path: Path) -> None:
    process = described(tmp_path, "0::/job", V2)
    group(tmp_path, "job", str(100 * MIB), 90 * MIB, 60 * MIB)
    assert cgroups.free_bytes(process) == 70 * MIB


def test_a_container_sees_its_own_group_where_only_that_one_is_mounted(tmp_path: Path) -> None:
    process = described(tmp_path, "4:memory:/docker/abc/inner", V1.replace(" / ", " /docker/abc "))
    group(tmp_path, "", str(100 * MIB), 10 * MIB, version=1)
    group(tmp_path, "inner", str(80 * MIB), 5 * MIB, version=1)
    assert cgroups.free_bytes(process) == 75 * MIB


def test_a_group_that_uses_more_than_a_lowered_limit_has_nothing_left(tmp_path: Path) -> None:
    process = described(tmp_path, "0::/job", V2)
    group(tmp_path, "job", str(50 * MIB), 90 * MIB)
    assert cgroups.free_bytes(process) == 0


@pytest.mark.parametrize(
    ("membership", "mount"),
    [("0::/job", V2), ("0::/", "cut off"), ("no such form", V1), ("0::/../..", V2), ("4:memory:/gone", V1)],
)
def test_groups_without_a_limit_leave_everything(tmp_path: Path, membership: str, mount: str) -> None:
    assert cgroups.free_bytes(described(tmp_path, membership, mount)) == math.inf


def test_a_system_without_control_groups_leaves_everything(tmp_path: Path) -> None:
    assert cgroups.free_bytes(tmp_path) == math.inf


HIERARCHIES = (
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
)


@pytest.fixture
def nested() -> Iterator[Path]:
    """A control group within one of 400 MB, of this machine."""
    for top, limit in HIERARCHIES:
        outer = top / f"longfat-test-{uuid.uuid4().hex}"
        inner = outer / "inner"
        try:
            inner.mkdir(parents=True)
            (outer / limit).write_text(str(400 * MIB))
        except OSError:
            for folder in (inner, outer):
                if folder.is_dir():
                    folder.rmdir()
            continue
        yield inner
        inner.rmdir()
        outer.rmdir()
        return
    pytest.skip("control groups cannot be made here (they need root and a hierarchy with memory)")


def test_a_run_in_a_nested_group_with_half_of_its_memory_is_refused(nested: Path, tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    flow = '[[flow]]\nalgorithm = "cubic"\nrtt = "40 ms"\ncount = 100000\n'
    file.write_text(f'duration = "2 s"\n[bottleneck]\nrate = "1 Gbit/s"\nbuffer = "100 % BDP"\n{flow}')

    def join() -> None:
        (nested / "cgroup.procs").write_text(str(os.getpid()))

    call = [sys.executable, "-m", "longfat", "run", str(file)]
    ran = subprocess.run(call, capture_output=True, text=True, preexec_fn=join, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the run may take about 1 GB of memory" in ran.stderr
    assert "--memory" in ran.stderr
