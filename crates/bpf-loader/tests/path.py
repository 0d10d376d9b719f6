"""Run kernel TCP flows over a path of this program, each with a bottleneck that loses every n-th new segment.

What finds more than MARK_ABOVE packets waiting is marked, if its sender can respond to that (ECT).

Usage: path.py BASE_RTT_S RATE_PPS FIRST_LOSS EVERY SECONDS ALGORITHM...

This process holds two unnamed network namespaces, and delays and paces packets between their TUN devices.
It prints a line for each acknowledgement that a sender has received: algorithm, time in us, and from TCP_INFO
state, cwnd, ssthresh, srtt_us, min_rtt_us, bytes_acked, delivered, delivered_ce, unacked, lost. The last line
says how late packets left, in us (99th percentile).
"""

import contextlib
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
FIRST_PORT = 5001
MTU = 576
MARK_ABOVE = 10
ECN_MASK, ECN_MARKED = 3, 3
LIBC = ctypes.CDLL(None, use_errno=True)


def side(address):
    """Enter a new namespace with one TUN device, and return the device's descriptor."""
    if LIBC.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"path", IFF_TUN | IFF_NO_PI))
    for words in (
        f"addr add {address}/24 dev path",
        f"link set path mtu {MTU} txqueuelen 10000 up",
        # every segment is acknowledged, so that SRTT is made of the same samples that the algorithm gets
        "route replace 10.0.0.0/24 dev path quickack 1",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    for name, value in (("tcp_no_metrics_save", "1"), ("tcp_pacing_ca_ratio", "100")):
        with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
            file.write(value)
    return tun


def info(flow):
    """Return what a line has of TCP_INFO."""
    raw = flow.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    (state,) = struct.unpack_from("B", raw, 1)
    unacked, _, lost = struct.unpack_from("3I", raw, 24)
    srtt_us, _, ssthresh, cwnd = struct.unpack_from("4I", raw, 68)
    (bytes_acked,) = struct.unpack_from("Q", raw, 120)
    (min_rtt_us,) = struct.unpack_from("I", raw, 148)
    delivered, delivered_ce = struct.unpack_from("2I", raw, 192)
    return state, cwnd, ssthresh, srtt_us, min_rtt_us, bytes_acked, delivered, delivered_ce, unacked, lost


def header_bytes(packet):
    """Return the length of the IP header."""
    return 4 * (packet[0] & 15)


def payload_bytes(packet):
    """Return the length of the TCP segment's payload."""
    header = header_bytes(packet)
    return len(packet) - header - 4 * (packet[header + 12] >> 4)


def number_at(packet, offset):
    """Return a sequence number of the TCP header."""
    header = header_bytes(packet)
    return int.from_bytes(packet[header + offset : header + offset + 4], "big")


def marked(packet):
    """Return the packet with a congestion mark, if it may carry one."""
    if not packet[1] & ECN_MASK:
        return packet
    header = bytearray(packet[: header_bytes(packet)])
    header[1] |= ECN_MARKED
    header[10:12] = b"\0\0"
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = (~(total + (total >> 16)) & 0xFFFF).to_bytes(2, "big")
    return bytes(header) + packet[len(header) :]


class Bottleneck:
    """The bottleneck of one flow, which determines when a segment leaves it."""

    def __init__(self, rate_pps, first_loss, every):
        self.spacing_s = 1 / rate_pps
        self.free_at = 0.0
        self.next_new = None
        self.count = 0
        self.lose_at = first_loss
        self.every = every

    def leaves(self, now, packet):
        """Return when this segment leaves, or None if it is lost."""
        size = payload_bytes(packet)
        if size:
            end = (number_at(packet, 4) + size) & 0xFFFFFFFF
            if self.next_new is None or 0 < (end - self.next_new) & 0xFFFFFFFF < 1 << 31:
                self.next_new = end
                self.count += 1
                if self.count == self.lose_at:
                    self.lose_at += self.every
                    return None
        self.free_at = max(now, self.free_at) + (self.spacing_s if size else 0.0)
        return self.free_at

    def is_long(self, now):
        """Return whether a packet that arrives now is marked."""
        return self.free_at - now > MARK_ABOVE * self.spacing_s


def abort_when_closed(sock):
    """Let the connection end at once, whatever ends this process, and its algorithm and namespace with it.

    Otherwise it would go on retransmitting for minutes.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def open_flows(algorithms):
    """Open senders in the present namespace, one for each algorithm."""
    flows = []
    for algorithm in algorithms:
        flow = socket.socket()
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        flow.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 22)
        abort_when_closed(flow)
        flow.setblocking(False)
        flows.append(flow)
    return flows


def open_listeners(algorithms):
    """Open receivers in the present namespace; some algorithms have to know what they tell of marks."""
    listeners = []
    for i, algorithm in enumerate(algorithms):
        listener = socket.socket()
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        abort_when_closed(listener)  # and so the connections that it accepts
        listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
        listener.bind(("10.0.0.2", FIRST_PORT + i))
        listener.listen()
        listener.setblocking(False)
        listeners.append(listener)
    return listeners


def packets(device):
    """Yield the TCP packets that wait in the device, at most a batch."""
    for _ in range(64):
        try:
            packet = os.read(device, 2048)
        except BlockingIOError:
            return
        if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
            yield packet


def main():
    """Carry the flows for the duration asked for."""
    base_s, rate_pps = float(sys.argv[1]), float(sys.argv[2])
    first_loss, every = int(sys.argv[3]), int(sys.argv[4])
    seconds, algorithms = float(sys.argv[5]), sys.argv[6:]
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setpriority(os.PRIO_PROCESS, 0, -10)  # a delay here looks like a queue

    near = side("10.0.0.1")
    flows = open_flows(algorithms)
    far = side("10.0.0.2")
    listeners = open_listeners(algorithms)
    bottlenecks = [Bottleneck(rate_pps, first_loss, every) for _ in flows]
    for i, flow in enumerate(flows):
        flow.connect_ex(("10.0.0.2", FIRST_PORT + i))
    due, order, sinks, data, late = [], 0, [], bytes(1 << 16), []
    start = time.monotonic()
    while (now := time.monotonic()) < start + seconds:
        while due and due[0][0] <= now:
            at, _, device, i, packet = heapq.heappop(due)
            now = time.monotonic()
            late.append(now - at)
            os.write(device, packet)
            if device == near:
                print(algorithms[i], int((now - start) * 1e6), *info(flows[i]))
        wait = due[0][0] - time.monotonic() if due else 0.01
        ready, _, _ = select.select([near, far, *listeners, *sinks], [], [], max(wait, 0))
        now = time.monotonic()
        for source in ready:
            if source == near:
                for packet in packets(near):
                    i = int.from_bytes(packet[22:24], "big") - FIRST_PORT
                    long = bottlenecks[i].is_long(now)
                    left = bottlenecks[i].leaves(now, packet)
                    if left is not None:
                        order += 1
                        packet = marked(packet) if long else packet
                        heapq.heappush(due, (left + base_s / 2, order, far, i, packet))
            elif source == far:
                for packet in packets(far):
                    order += 1
                    i = int.from_bytes(packet[20:22], "big") - FIRST_PORT
                    heapq.heappush(due, (now + base_s / 2, order, near, i, packet))
            elif source in listeners:
                sink, _ = source.accept()
                sink.setblocking(False)
                sinks.append(sink)
            else:
                source.recv(1 << 20)
        for flow in flows:
            with contextlib.suppress(BlockingIOError, OSError):
                flow.send(data)
    print("late", int(1e6 * sorted(late)[len(late) * 99 // 100]))


if __name__ == "__main__":
    main()
