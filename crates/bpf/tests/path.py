"""Kernel TCP flows over a path of this program's own, each alone at a bottleneck that loses every n-th new segment.

Usage: path.py BASE_RTT_S RATE_PPS FIRST_LOSS EVERY SECONDS ALGORITHM...

Two unnamed network namespaces hang from this process; between their TUN devices it delays and paces packets. A line a
sample and flow: algorithm, time in us, and of TCP_INFO state, cwnd, ssthresh, srtt_us, min_rtt_us, delivered.
"""

import collections
import ctypes
import fcntl
import heapq
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x1, 0x1000
PR_SET_PDEATHSIG = 1
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
TCP_INFO_BYTES = 232
SAMPLE_S = 0.01
FIRST_PORT = 5001
MTU = 576
LIBC = ctypes.CDLL(None, use_errno=True)


def side(address):
    """Enter a new namespace with one TUN device; its descriptor."""
    if LIBC.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"path", IFF_TUN | IFF_NO_PI))
    for words in (
        f"addr add {address}/24 dev path",
        f"link set path mtu {MTU} txqueuelen 10000 up",
        "link set lo up",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    for name, value in (("tcp_no_metrics_save", "1"), ("tcp_pacing_ca_ratio", "100")):
        with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
            file.write(value)
    return tun


def info(flow):
    """State, cwnd, ssthresh, srtt_us, min_rtt_us, delivered."""
    raw = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    (state,) = struct.unpack_from("B", raw, 1)
    srtt_us, _, ssthresh, cwnd = struct.unpack_from("4I", raw, 68)
    (min_rtt_us,) = struct.unpack_from("I", raw, 148)
    (delivered,) = struct.unpack_from("I", raw, 192)
    return state, cwnd, ssthresh, srtt_us, min_rtt_us, delivered


class Bottleneck:
    """Of one flow: when a segment leaves it, or None for one that is lost."""

    def __init__(self, rate_pps, first_loss, every):
        self.spacing_s = 1 / rate_pps
        self.free_at = 0.0
        self.next_new = None
        self.count = 0
        self.lose_at = first_loss
        self.every = every

    def leaves(self, now, packet):
        header = 4 * (packet[0] & 15)
        sequence = int.from_bytes(packet[header + 4 : header + 8], "big")
        size = len(packet) - header - 4 * (packet[header + 12] >> 4)
        if size:
            new = self.next_new is None or 0 < (sequence + size - self.next_new) & 0xFFFFFFFF < 1 << 31
            if new:
                self.next_new = (sequence + size) & 0xFFFFFFFF
                self.count += 1
                if self.count == self.lose_at:
                    self.lose_at += self.every
                    return None
        self.free_at = max(now, self.free_at) + (self.spacing_s if size else 0.0)
        return self.free_at


def main():
    base_s, rate_pps = float(sys.argv[1]), float(sys.argv[2])
    first_loss, every = int(sys.argv[3]), int(sys.argv[4])
    seconds, algorithms = float(sys.argv[5]), sys.argv[6:]
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    near = side("10.0.0.1")
    flows = []
    for algorithm in algorithms:
        flow = socket.socket()
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        flow.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 22)
        flow.setblocking(False)
        flows.append(flow)
    far = side("10.0.0.2")
    listeners = []
    for i in range(len(flows)):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
        listener.bind(("10.0.0.2", FIRST_PORT + i))
        listener.listen()
        listener.setblocking(False)
        listeners.append(listener)

    bottlenecks = collections.defaultdict(lambda: Bottleneck(rate_pps, first_loss, every))
    due, number, sinks = [], 0, []
    for i, flow in enumerate(flows):
        flow.connect_ex(("10.0.0.2", FIRST_PORT + i))
    start = next_sample = time.monotonic()
    data, chunk = bytes(1 << 16), 1 << 16
    while (now := time.monotonic()) < start + seconds:
        while due and due[0][0] <= now:
            _, _, device, packet = heapq.heappop(due)
            os.write(device, packet)
        if now >= next_sample:
            next_sample += SAMPLE_S
            at = int((now - start) * 1e6)
            for algorithm, flow in zip(algorithms, flows, strict=True):
                print(algorithm, at, *info(flow))
        wait = min(next_sample, due[0][0] if due else now + SAMPLE_S) - time.monotonic()
        ready, _, _ = select.select([near, far, *listeners, *sinks], [], [], max(wait, 0))
        now = time.monotonic()
        for source in ready:
            if source in (near, far):
                for _ in range(64):
                    try:
                        packet = os.read(source, 2048)
                    except BlockingIOError:
                        break
                    if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
                        continue
                    if source == near:
                        port = int.from_bytes(packet[22:24], "big")
                        left = bottlenecks[port].leaves(now, packet)
                        if left is not None:
                            number += 1
                            heapq.heappush(due, (left + base_s / 2, number, far, packet))
                    else:
                        number += 1
                        heapq.heappush(due, (now + base_s / 2, number, near, packet))
            elif source in listeners:
                sink, _ = source.accept()
                sink.setblocking(False)
                sinks.append(sink)
            else:
                source.recv(1 << 20)
        for flow in flows:
            try:
                flow.send(data[:chunk])
            except (BlockingIOError, OSError):
                pass


if __name__ == "__main__":
    main()
