"""The machine's own network for side A of a live run: a forwarder between side B's sockets and the machine's.

Side B takes whatever side A sends to anywhere, by sockets that the core opens there and hands over. For each
TCP connection that arrives the forwarder opens one of its own to the same address, and copies bytes; for
datagrams it has a socket for each pair of addresses. It needs no rights, and changes nothing of the machine's
network.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HOST, RESOLVER = "198.18.2.1", "198.18.2.53"
"""What stands for the machine's own loopback, and for its resolver, on side A."""
RESOLV_CONF = Path("/etc/resolv.conf")
ROUTES_6 = Path("/proc/net/ipv6_route")
CHUNK = 1 << 18
UNSENT = 1 << 17
"""Bytes that a socket of side B holds unsent, so that the queue is in the emulated router."""
LONGEST_DATAGRAM = 1 << 16
AT_ONCE = 64
"""Datagrams of one socket before others have their turn."""
IDLE_S = 120.0
"""A socket for datagrams is closed after this long without any (RFC 4787 asks for two minutes)."""
_WITH_ADDRESS = struct.Struct("=16sI")
"""struct in6_pktinfo: an address and the number of an interface."""

_Address = tuple[str, int]


def nameservers(text: str) -> tuple[list[str], list[str]]:
    """Returns the addresses of the resolvers that a resolv.conf names, and its other lines."""
    found, others = [], []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["nameserver"] and len(words) > 1:
            found.append(words[1])
        elif words and not line.startswith(("#", ";")):
            others.append(line)
    return found, others


def has_ipv6(routes: str) -> bool:
    """Returns whether a table of /proc/net/ipv6_route leads from this machine to all other ones."""
    rows = (line.split() for line in routes.splitlines())
    return any(row[0] == "0" * 32 and row[1] == "00" and row[-1] != "lo" for row in rows if len(row) > 2)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


class Forwarder:
    """Serves, in a thread of its own, the sockets that it is handed."""

    def __init__(self) -> None:
        self._resolvers, others = nameservers(_read(RESOLV_CONF))
        self.resolver = "\n".join([f"nameserver {RESOLVER}", *others, ""])
        self.ipv6 = has_ipv6(_read(ROUTES_6))
        self._handed, self.theirs = socket.socketpair()
        self._handed.setblocking(False)
        self._flows: dict[Any, _Flow] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="forwarder", daemon=True)

    @contextlib.contextmanager
    def running(self) -> Iterator[Forwarder]:
        """Forwards during the block."""
        self._thread.start()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self.theirs.close()

    @property
    def request(self) -> dict[str, Any]:
        """What the core has to know."""
        return {"forwarder": self.theirs.fileno(), "ipv6": self.ipv6, "resolver": self.resolver}

    def _serve(self) -> None:
        self._loop.add_reader(self._handed, self._take_socket)
        self._loop.call_later(IDLE_S / 2, self._close_idle)
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        for flow in self._flows.values():
            flow.out.close()
        self._handed.close()
        self._loop.close()

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take_socket(self) -> None:
        letter, descriptors, _, _ = socket.recv_fds(self._handed, 1, 1)
        for descriptor in descriptors:
            taken = socket.socket(fileno=descriptor)
            if letter == b"t":
                self._loop.add_reader(taken, self._accept, taken)
            else:
                if taken.family == socket.AF_INET6:
                    taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
                self._loop.add_reader(taken, self._take_datagrams, taken)
        if not letter:
            self._loop.remove_reader(self._handed)

    def _target(self, address: str, port: int) -> _Address:
        """Where something that side A sends to an address goes."""
        if address == HOST:
            return "127.0.0.1", port
        if address == RESOLVER and self._resolvers:
            return self._resolvers[0], port
        return address, port

    # TCP

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            task = self._loop.create_task(self._forward(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address, port = _plain(connection.getsockname())
        out = socket.socket(_family(self._target(address, port)[0]), socket.SOCK_STREAM)
        out.setblocking(False)
        try:
            await self._loop.sock_connect(out, self._target(address, port))
            out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.gather(self._copy(connection, out), self._copy(out, connection))
        except OSError:
            for each in (connection, out):  # the other end learns that it is over
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        finally:
            connection.close()
            out.close()

    async def _copy(self, source: socket.socket, target: socket.socket) -> None:
        while chunk := await self._loop.sock_recv(source, CHUNK):
            await self._loop.sock_sendall(target, chunk)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    # Datagrams

    def _take_datagrams(self, taken: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                data, more, _, peer = taken.recvmsg(LONGEST_DATAGRAM, 256)
            except OSError:
                return
            for level, kind, value in more:
                if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
                    own, _ = _WITH_ADDRESS.unpack(value[: _WITH_ADDRESS.size])
                    self._send_on(taken, peer, own, data)

    def _send_on(self, taken: socket.socket, peer: Any, own: bytes, data: bytes) -> None:
        key = (taken.fileno(), peer, own)
        flow = self._flows.get(key)
        try:
            if flow is None:
                port = taken.getsockname()[1]
                target = self._target(*_plain((str(ipaddress.IPv6Address(own)), port)))
                out = socket.socket(_family(target[0]), socket.SOCK_DGRAM)
                out.setblocking(False)
                flow = self._flows[key] = _Flow(out, taken, peer, own, self._loop.time())
                out.connect(target)
                self._loop.add_reader(out, self._send_back, flow)
            flow.latest = self._loop.time()
            flow.out.send(data)
        except OSError:
            return  # lost, as any datagram may be

    def _send_back(self, flow: _Flow) -> None:
        own = [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, _WITH_ADDRESS.pack(flow.own, 0))]
        for _ in range(AT_ONCE):
            try:
                data = flow.out.recv(LONGEST_DATAGRAM)
            except BlockingIOError:
                return
            except OSError:
                continue  # an answer of ICMP to an earlier datagram
            flow.latest = self._loop.time()
            with contextlib.suppress(OSError):
                flow.taken.sendmsg([data], own, 0, flow.peer)

    def _close_idle(self) -> None:
        oldest = self._loop.time() - IDLE_S
        for key in [key for key, flow in self._flows.items() if flow.latest < oldest]:
            flow = self._flows.pop(key)
            self._loop.remove_reader(flow.out)
            flow.out.close()
        self._loop.call_later(IDLE_S / 2, self._close_idle)


class _Flow:
    """Datagrams between an address of side A and one outside."""

    def __init__(
        self, out: socket.socket, taken: socket.socket, peer: Any, own: bytes, latest: float
    ) -> None:
        self.out, self.taken, self.peer, self.own, self.latest = out, taken, peer, own, latest


def _plain(address: Any) -> _Address:
    """An address and its port, with IPv4 as such."""
    host, port = address[0].partition("%")[0], address[1]
    if ":" in host:
        mapped = ipaddress.IPv6Address(host).ipv4_mapped
        host = str(mapped) if mapped else host
    return host, port


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
