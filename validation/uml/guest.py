"""The first process inside user-mode Linux: a router between two hosts, one flow, and its trace.

It uses only the standard library and starts without site packages. The guest sees the host's files read-only
and can write to one folder, its only argument; `plan.json` there says what to do.

    sender (s) --- veth --- router --- netem rate, limit N ---> receiver (r)
                   veth <---------------- netem delay, the whole RTT ---
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
FINIT_MODULE = 313  # x86-64
CLONE_NEWNET = 0x40000000
POWER_OFF = 0x4321FEDC
WRITABLE = Path("/run/longfat")
PORT = 5001
SENDER, RECEIVER = "10.0.1.1", "10.0.2.1"
SENDER_GATEWAY, RECEIVER_GATEWAY = "10.0.1.254", "10.0.2.254"
CHUNK = 1 << 18
FRAME_BYTES = 1514
"""A full packet with Ethernet's header: RED counts bytes."""
SETTLING_S = 1.0
"""Time between the links coming up and the flow."""


def checked(result: int, what: str) -> None:
    """Raises the C library's error unless the call succeeded."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(kind: str, target: str, options: str = "") -> None:
    """Mounts a file system without a device."""
    checked(LIBC.mount(b"none", target.encode(), kind.encode(), 0, options.encode()), f"mount {target}")


def load(module: str) -> None:
    """Loads one module."""
    with open(module, "rb") as file:
        checked(LIBC.syscall(FINIT_MODULE, file.fileno(), b"", 0), f"load {module}")


def ip(line: str, program: str = "ip") -> None:
    """Runs iproute2."""
    subprocess.run([program, *line.split()], check=True)


def enter(namespace: str) -> None:
    """Moves this process into a network namespace."""
    with open(f"/run/netns/{namespace}") as file:
        checked(LIBC.setns(file.fileno(), CLONE_NEWNET), f"enter {namespace}")


def write_sysctls(values: dict[str, str]) -> dict[str, str]:
    """Sets the sysctls that this namespace has, and returns their values."""
    seen = {}
    for key, value in values.items():
        path = Path("/proc/sys", *key.split("."))
        if path.exists():
            path.write_text(value)
            seen[key] = path.read_text().strip()
    return seen


def in_namespace(namespace: str, work: Any) -> int:
    """Forks a child that does `work` in a namespace."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        enter(namespace)
        work()
        status = 0
    except BaseException as error:
        print(f"guest: {namespace}: {error!r}", flush=True)
    os._exit(status)


def build_network(plan: dict[str, Any]) -> None:
    """Sets up three namespaces, two veth pairs, the bottleneck and the delay."""
    for name in "sr":
        ip(f"netns add {name}")
    for name, host, gateway in ("s", SENDER, SENDER_GATEWAY), ("r", RECEIVER, RECEIVER_GATEWAY):
        # one segment per packet: the queue's limit would count a packet of several as one
        ip(f"link add {name}0 gso_max_segs 1 type veth peer name {name}1")
        ip(f"link set {name}0 netns {name}")
        ip(f"addr add {gateway}/24 dev {name}1")
        ip(f"link set {name}1 gso_max_segs 1 up")
        ip(f"-n {name} addr add {host}/24 dev {name}0")
        ip(f"-n {name} link set {name}0 gso_max_segs 1 up")
        ip(f"-n {name} link set lo up")
        ip(f"-n {name} route add default via {gateway}")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    # the rate is of IP bytes; netem would also count Ethernet's
    bottleneck = f"rate {plan['rate_bps']}bit -{plan['ethernet_bytes']} limit {plan['limit_packets']}"
    threshold = plan["threshold_packets"]
    if threshold:
        frame = FRAME_BYTES
        curve = f"min {threshold * frame} max {(threshold + 1) * frame} avpkt {frame} burst {threshold}"
        limit = f"limit {plan['limit_packets'] * frame}"
        rate = plan["rate_bps"] * frame // (frame - plan["ethernet_bytes"])
        # not netem: RED takes a queue that holds packets back for an idle one
        ip(f"qdisc add dev r1 root handle 1: tbf rate {rate}bit burst {frame} {limit}", "tc")
        bandwidth = f"bandwidth {rate}bit"
        ip(f"qdisc add dev r1 parent 1:1 red {limit} {curve} {bandwidth} probability 1 ecn", "tc")
    else:
        ip(f"qdisc add dev r1 root netem {bottleneck}", "tc")
    ip(f"-n r qdisc add dev r0 root netem delay {plan['rtt_ms']}ms limit 1000000", "tc")


def receive() -> None:
    """Receives everything."""
    server = socket.create_server((RECEIVER, PORT))
    connection, _ = server.accept()
    room = bytearray(CHUNK)
    while connection.recv_into(room):
        pass


def info(flow: socket.socket) -> list[int]:
    """Returns a sample of TCP_INFO; `COLUMNS` in figures.py names its values after the time."""
    raw = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    words = struct.unpack_from("=24I", raw, 8)
    unacked, sacked, lost, retrans = words[4:8]
    srtt, _, ssthresh, cwnd = words[15:19]
    return [raw[1], cwnd, ssthresh, srtt, unacked, sacked, lost, retrans]


def send(plan: dict[str, Any], folder: Path) -> None:
    """Runs one bulk flow and samples it at regular times."""
    flow = socket.socket()
    flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, plan["module"].encode())
    flow.connect((RECEIVER, PORT))
    mss = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)

    def pump() -> None:
        data = bytes(CHUNK)
        while True:
            flow.sendall(data)

    threading.Thread(target=pump, daemon=True).start()
    begin = time.monotonic()
    samples = []
    late = 0.0
    for number in range(int(plan["duration_s"] / plan["sample_s"])):
        due = begin + number * plan["sample_s"]
        time.sleep(max(due - time.monotonic(), 0))
        at = time.monotonic()
        late = max(late, at - due)
        samples.append([round(1e6 * (at - begin)), *info(flow)])
    (folder / "trace.json").write_text(json.dumps({"mss": mss, "late_s": late, "samples": samples}))


def run(folder: Path) -> None:
    """Does the whole plan."""
    plan = json.loads((folder / "plan.json").read_text())
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    for module in plan["modules"]:
        load(module)
    sysctls = write_sysctls(plan["sysctls"])
    build_network(plan)
    with open(folder / "begin-virtual-time"):
        pass
    # the clock stands at a multiple of 10 s, so the length of the boot does not matter
    now = time.monotonic()
    time.sleep(now // 10 * 10 + 20 - now)

    def receiver() -> None:
        sysctls.update(write_sysctls(plan["sysctls"]))
        receive()

    def sender() -> None:
        sysctls.update(write_sysctls(plan["sysctls"]))
        (folder / "sysctls.json").write_text(json.dumps(sysctls))
        time.sleep(SETTLING_S)
        send(plan, folder)

    in_namespace("r", receiver)
    child = in_namespace("s", sender)
    _, status = os.waitpid(child, 0)
    bottleneck = subprocess.run(
        ["tc", "-s", "-j", "qdisc", "show", "dev", "r1"], check=True, capture_output=True, text=True
    )
    (folder / "bottleneck.json").write_text(bottleneck.stdout)
    if status == 0:
        (folder / "done").write_text(os.uname().release)


def main() -> None:
    """Runs the plan and switches the machine off, whatever happens."""
    folder = Path(sys.argv[1])
    try:
        os.chdir("/")
        mount("proc", "/proc")
        mount("sysfs", "/sys")
        mount("tmpfs", "/run")
        WRITABLE.mkdir()
        mount("hostfs", str(WRITABLE), str(folder))
        run(WRITABLE)
    except BaseException as error:
        print(f"guest: {error!r}", flush=True)
    finally:
        os.sync()
        LIBC.reboot(POWER_OFF)


main()
