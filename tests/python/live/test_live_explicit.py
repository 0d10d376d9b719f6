"""Explicit rate between real hosts: XCP's senders, receivers and router on this machine's own TCP."""

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from live_runs import (
    Left,
    able,
    able_to_load,
    as_root,
    begun,
    command,
    elsewhere,
    live,
    own_algorithms,
    started,
)
from longfat.errors import InputError
from longfat.live import run
from longfat.runs.result import Result

__all__ = ["able", "able_to_load", "as_root"]

pytestmark = pytest.mark.kernel("cgroups")

XCP: dict[str, Any] = {"bottleneck.router": "xcp", "flow": [{"algorithm": "xcp", "rtt": "40 ms"}]}


def groups() -> list[str]:
    """Returns the cgroups that live runs have made, wherever the second version is mounted."""
    mounts = [line.split(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    roots = [Path(before.split()[4]) for before, after in mounts if after.startswith("cgroup2 ")]
    return [str(found) for root in roots for found in root.rglob("longfat-*")]


def option_programs() -> set[int]:
    """Returns the numbers of the kernel's programs that write TCP options for live runs."""
    kernel, number = ctypes.CDLL(None, use_errno=True), 0
    found: set[int] = set()
    bpf, get_next, get_fd, get_info = 321, 11, 13, 15  # of x86-64; include/uapi/linux/bpf.h
    while True:
        ids = (ctypes.c_uint32 * 4)(number)
        if kernel.syscall(bpf, get_next, ids, 12):
            return found
        number = ids[1]
        handle = kernel.syscall(bpf, get_fd, (ctypes.c_uint32 * 3)(number), 12)
        if handle < 0:
            continue
        info = (ctypes.c_ubyte * 128)()
        told = (ctypes.c_uint64 * 2)(handle | len(info) << 32, ctypes.addressof(info))
        result = kernel.syscall(bpf, get_info, told, 16)
        os.close(handle)
        sock_ops, name = 13, bytes(info[64:80]).rstrip(b"\0")
        if not result and info[0] == sock_ops and name == b"options":
            found.add(number)


def xcp(seconds: float, **more: Any) -> Result:
    return run.run(live(seconds, **{**XCP, **more}))


def of(result: Result, check: str) -> dict[str, Any]:
    return next(each for each in result.summary["validity"]["checks"] if each["name"] == check)


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_an_xcp_flow_fills_the_link_without_a_queue_and_gets_all_feedback_back() -> None:
    before = option_programs()
    result = xcp(4, window=["1 s", "4 s"])
    link, flow = result.summary["links"][0], result.summary["flows"][0]
    assert link["utilization"] > 0.95
    assert link["packets_dropped"] == 0
    assert flow["retransmits"] == 0
    told = result.summary["validity"]["explicit"]["1"]
    assert told["acks_without_room"] == 0
    assert told["acks"] > 500
    # from a few segments to 10 Mbit/s x 40 ms = 50 kB; only what is under way is missing
    assert told["given_bytes"] > 20_000
    assert told["echoed_bytes"] == pytest.approx(told["given_bytes"], abs=3000)
    assert told["returned_bytes"] == pytest.approx(told["echoed_bytes"], abs=3000)
    assert of(result, "largest packet, bytes")["ok"]
    assert groups() == []
    assert option_programs() <= before


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
@pytest.mark.parametrize(("algorithm", "router"), [("xcp-r", "xcp"), ("vcp", "vcp"), ("jetmax", "jetmax")])
def test_other_protocols_fill_the_link_that_their_router_measures(algorithm: str, router: str) -> None:
    # VCP's window grows by a sixteenth in 200 ms
    flow = {"algorithm": algorithm, "rtt": "40 ms", "initial_window": 20}
    result = xcp(6, window=["4 s", "6 s"], **{"bottleneck.router": router, "flow": [flow]})
    link = result.summary["links"][0]
    # VCP and JetMax aim at 95 % of the link
    assert link["utilization"] > (0.95 if router == "xcp" else 0.85)
    assert link["packets_dropped"] == 0
    told = result.summary["validity"]["explicit"]["1"]
    assert told["acks"] > 500
    assert told["acks_without"] < 0.1 * told["acks"]


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_feedback_that_finds_no_room_beside_sack_blocks_comes_later() -> None:
    lossy = {"bottleneck.loss": 0.01, "seed": 3}
    told = xcp(4, **lossy).summary["validity"]["explicit"]["1"]
    assert told["acks_without_room"] > 0
    assert told["echoed_bytes"] == pytest.approx(told["given_bytes"], abs=6000)


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_a_run_no_program_and_no_group_is_left(end: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    flows = [{"algorithm": "xcp", "rtt": "400 ms"}, {"algorithm": "xcp-r", "rtt": "40 ms"}]
    file.write_text(live(60, **{**XCP, "flow": flows}).to_toml())
    algorithms, programs = own_algorithms("lf_xcp"), option_programs()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with started(command(file), **pipes) as process:
        left = Left(begun(process.pid))
        own, running = own_algorithms("lf_xcp") - algorithms, option_programs() - programs
        assert len(own) == 2
        assert len(running) == 2
        assert groups() == [], "a group is there only while sockets are opened"
        time.sleep(1.0)
        process.send_signal(end)
        process.communicate(timeout=10)
    assert process.returncode in (-end, 128 + end)
    assert left.in_a_while() == []
    limit = time.monotonic() + 10.0
    while (running & option_programs() or own & own_algorithms("lf_xcp")) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not running & option_programs()
    assert not own & own_algorithms("lf_xcp")
    assert groups() == []


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_without_a_cgroup_file_system_the_run_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text(live(1, **XCP).to_toml())
    ended = elsewhere(["umount -l $(findmnt -n -t cgroup2 -o TARGET)"], command(file))
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    for word in (str(file), "xcp", "cgroup2", "accepted", "longfat doctor"):
        assert word in ended.stderr


WEB = {"kind": "web", "sessions": 2, "gap": "1 s", "algorithm": "xcp", "rtt": "40 ms"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"bottleneck.router": "rcp"}, 'bottleneck.router = "rcp"'),
        ({"bottleneck.router": {"kind": "dqw", "protocol": "rcp"}}, 'bottleneck.router.protocol = "rcp"'),
        ({"bottleneck.router": "quickstart"}, 'bottleneck.router = "quickstart"'),
        ({"background": [WEB]}, 'background.0.algorithm = "xcp"'),
        ({"flow": [{"algorithm": {"name": "xcp-r", "variant": "first"}, "rtt": "40 ms"}]}, "variant"),
        (
            {
                "flow": [{"algorithm": "reno", "rtt": "40 ms", "quick_start": "5 Mbit/s"}],
                "bottleneck.router": "quickstart",
            },
            'bottleneck.router = "quickstart"',
        ),
        (
            {
                "flow": [{"algorithm": "reno", "rtt": "40 ms", "quick_start": "5 Mbit/s"}],
                "bottleneck.router": "xcp",
            },
            "flow.0.quick_start: Quick-Start is an option of the IP header",
        ),
    ],
)
def test_what_has_no_hosts_in_the_kernel_is_refused_before_anything_is_run(
    changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match="accepted") as refused:
        run.run(live(1, **{**XCP, **changes}), "mine.toml")
    assert str(refused.value).startswith("mine.toml: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_iperf3_cannot_carry_flows_whose_rate_routers_set() -> None:
    with pytest.raises(InputError, match=r"flow.0.algorithm = \"xcp\": iperf3|iperf3 is not installed"):
        run.run(live(1, **XCP), "mine.toml", traffic="iperf3")
