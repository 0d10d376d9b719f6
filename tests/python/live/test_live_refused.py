"""What cannot run live is refused in one line with exit code 2, and the doctor lists the same items."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live_runs import (
    ROOT,
    SOMEONE,
    able,
    able_to_load,
    as_root,
    command,
    elsewhere,
    emptied,
    live,
    opened_to_others,
    reached_by_others,
    tun_for_all,
    tun_for_root,
)
from longfat.errors import InputError
from longfat.live import run
from longfat.scenario.model import Scenario

__all__ = ["able", "able_to_load", "as_root"]

pytestmark = pytest.mark.kernel("objects")  # tests there change the same permissions

TOPOLOGY = """
duration = "1 s"
[[link]]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
router = "rcp"
[[flow]]
algorithm = "cubic"
from = "a"
to = "b"
"""


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"flow": [{"algorithm": "rcp", "rtt": "40 ms"}]}, 'flow.0.algorithm = "rcp"'),
        ({"flow": [{"algorithm": "udt", "rtt": "40 ms"}]}, 'flow.0.algorithm = "udt"'),
        ({"flow": [{"algorithm": "hstcp-lp", "rtt": "40 ms"}]}, "no form in the Linux kernel"),
        ({"flow": [{"algorithm": {"name": "hstcp", "low_window": 40}, "rtt": "40 ms"}]}, "low_window = 40"),
        ({"flow": [{"algorithm": "cubic", "rtt": "40 ms", "host_tick": "1 ms"}]}, "flow.0.host_tick"),
        (
            {"flow": [{"algorithm": "cubic", "rtt": "40 ms", "interrupt_moderation": "125 us"}]},
            "flow.0.interrupt_moderation",
        ),
        ({"flow": [{"algorithm": "cubic", "rtt": "40 ms", "send_jitter": "1 ms"}]}, "flow.0.send_jitter"),
        (
            {"flow": [{"algorithm": "cubic", "rtt": "40 ms", "loss_detection": "reno-classic"}]},
            'flow.0.loss_detection = "reno-classic": the kernel has SACK',
        ),
        ({"bottleneck.router": "rcp"}, 'bottleneck.router = "rcp"'),
        (
            {
                "flow": [
                    {"algorithm": "cubic", "rtt": "40 ms", "max_window": size} for size in (10, 20, 30, 40)
                ]
            },
            "there are 4 different windows",
        ),
        ({"flow": [{"algorithm": "dctcp", "rtt": "40 ms", "max_window": 10}]}, 'receivers of "dctcp"'),
        (
            {"flow": [{"algorithm": "cubic", "rtt": "40 ms", "mss": "536 B", "max_window": 2}]},
            "flow.0.max_window = 2: the kernel's receivers offer more",
        ),
    ],
)
def test_what_no_kernel_does_is_refused_before_anything_is_run(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match="accepted") as refused:
        run.run(live(1, **changes), "mine.toml")
    assert str(refused.value).startswith("mine.toml: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_topology_with_such_a_router_is_refused_on_the_command_line_with_its_file_named(
    tmp_path: Path,
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TOPOLOGY)
    for what in (command(file), [sys.executable, "-m", "longfat", "crosscheck", str(file)]):
        ended = subprocess.run(what, capture_output=True, text=True, cwd=tmp_path)
        assert ended.returncode == 2
        assert ended.stderr.startswith(f'error: {file}: link.0.router = "rcp": no kernel has hosts')
        assert len(ended.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [file]


NO_NAMESPACES = "echo 0 > /proc/sys/user/max_net_namespaces"
NO_TUN = emptied("/dev/net")
NO_BTF = emptied("/sys/kernel/btf")
NO_OBJECTS = emptied(ROOT / "bpf" / "out")


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Path]:
    """A scenario file that every user may read."""
    file = tmp_path / "one.toml"
    file.write_text(live(1, flow=[{"algorithm": "htcp", "rtt": "40 ms"}]).to_toml())
    file.chmod(0o644)
    with reached_by_others(tmp_path):
        yield file


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
@pytest.mark.parametrize(
    ("mounts", "flags", "says", "item"),
    [
        ([NO_NAMESPACES], ["--user", "--map-root-user"], "network namespaces", "namespaces"),
        ([NO_TUN], [], "/dev/net/tun", "tun"),
        ([NO_BTF], [], "BTF", "btf"),
        ([NO_OBJECTS], [], "make bpf", "algorithm htcp"),
    ],
    ids=["rights", "tun", "btf", "objects"],
)
def test_what_this_machine_lacks_is_one_line_and_the_doctor_says_how_to_fix_it(
    mounts: list[str], flags: list[str], says: str, item: str, one: Path
) -> None:
    out = one.parent / "out"
    if not item.startswith(("btf", "algorithm")):
        one.write_text(live(1).to_toml())  # only the kernel's own algorithms run in a user's namespaces
    ended = elsewhere(mounts, command(one, "--out", out), *flags)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"error: {one}: ")
    assert says in ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert not out.exists()
    asked = elsewhere(mounts, [sys.executable, "-m", "longfat", "doctor", "--json"], *flags)
    items = {each["name"]: each for each in json.loads(asked.stdout)}
    assert not items[item]["ok"]
    assert items[item]["remedy"]
    assert asked.returncode == (1 if items[item]["needed"] else 0)


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_what_the_plan_of_a_live_run_is_refused_for_is_told_with_the_scenarios_key() -> None:
    flows = [{"algorithm": "cubic", "rtt": "40 ms", "initial_window": segments} for segments in (10, 3)]
    with pytest.raises(
        InputError, match=r"^two\.toml: flow\.1\.initial_window: .*have the same initial window"
    ):
        run.run(live(1, flow=flows), "two.toml")


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_a_doctor_without_clang_names_the_package(tmp_path: Path) -> None:
    for name in ("python3", "sh"):
        (tmp_path / name).symlink_to("/bin/sh")
    asked = subprocess.run(
        [sys.executable, "-m", "longfat", "doctor"],
        env={**os.environ, "PATH": str(tmp_path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0, asked.stderr
    row = next(line for line in asked.stdout.splitlines() if " clang " in line)
    assert row.startswith("no ")
    assert "apt-get install -y clang" in row


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_a_user_without_rights_can_run_the_kernels_own_algorithms(one: Path) -> None:
    one.write_text(live(1).to_toml())
    mounts = [*tun_for_all(one.parent), *opened_to_others(one.parent / "stage")]
    ended = elsewhere(mounts, SOMEONE + command(one, "--json"))
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["links"][0]["utilization"] > 0.8


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_a_user_without_rights_is_told_that_explicit_rate_needs_root(one: Path) -> None:
    xcp = {"flow": [{"algorithm": "xcp", "rtt": "40 ms"}], "bottleneck.router": "xcp"}
    one.write_text(live(1, **xcp).to_toml())
    mounts = [*tun_for_all(one.parent), *opened_to_others(one.parent / "stage")]
    ended = elsewhere(mounts, SOMEONE + command(one))
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"error: {one}: ")
    assert "lf_xcp" in ended.stderr
    assert "root" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    asked = elsewhere(mounts, [*SOMEONE, sys.executable, "-m", "longfat", "doctor", "--json"])
    item = next(each for each in json.loads(asked.stdout) if each["name"] == "cgroup")
    assert not item["ok"]
    assert "root" in item["remedy"]


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_a_user_without_rights_is_told_what_needs_root(one: Path) -> None:
    mounts = [*tun_for_all(one.parent), *opened_to_others(one.parent / "stage")]
    ended = elsewhere(mounts, SOMEONE + command(one))
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"error: {one}: ")
    assert "lf_htcp" in ended.stderr
    assert "root" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    asked = elsewhere(mounts, [*SOMEONE, sys.executable, "-m", "longfat", "doctor", "--json"])
    items = {each["name"]: each for each in json.loads(asked.stdout)}
    assert (items["algorithm htcp"]["ok"], items["algorithm htcp"]["remedy"]) == (False, "run as root")
    assert items["algorithm cubic"]["ok"]
    assert asked.returncode == 0


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_a_tun_device_that_this_user_may_not_open_is_told(one: Path) -> None:
    one.write_text(live(1).to_toml())
    mounts = [*tun_for_root(one.parent), *opened_to_others(one.parent / "stage")]
    ended = elsewhere(mounts, SOMEONE + command(one))
    assert ended.returncode == 2, ended.stderr
    assert "/dev/net/tun" in ended.stderr
    assert "Permission denied" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_the_topology_of_these_tests_is_one_that_the_simulator_takes() -> None:
    assert Scenario.from_toml(TOPOLOGY).link
