"""`longfat shell --outside`: the machine's own network through the path."""

from __future__ import annotations

import contextlib
import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_live_shell import FULL, PATH, RATE_BPS, RTT_S, busiest, needs, path, ran, shell

from live_runs import SOMEONE, able, as_root, elsewhere, opened_to_others, skip, tun_for_all
from longfat.live import outside

__all__ = ["able", "as_root", "path"]

SIZE = 8_000_000


class _Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        self.end_headers()
        self.wfile.write(bytes(SIZE))

    def do_PUT(self) -> None:
        left = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 16)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server on the machine's own loopback."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Server) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield serving.server_port
        serving.shutdown()


def settings() -> dict[str, str]:
    """What of the machine's network a forwarder could have to change."""
    asked = [
        ["ip", "rule"],
        ["ip", "route", "show", "table", "all"],
        ["ip", "-o", "link"],
        ["ip", "-o", "addr"],
    ]
    asked += [[tool, "-S"] for tool in ("iptables", "ip6tables") if shutil.which(tool)]
    asked += [["nft", "list", "ruleset"]] if shutil.which("nft") else []
    found = {" ".join(what): subprocess.run(what, capture_output=True, text=True).stdout for what in asked}
    for file in ("ipv4/ip_forward", "ipv4/conf/all/rp_filter", "ipv6/conf/all/forwarding"):
        with contextlib.suppress(OSError):
            found[file] = Path("/proc/sys/net", file).read_text()
    return found


CONNECT = """
import socket, sys, time
times = []
for _ in range(10):
    begin = time.monotonic()
    with socket.create_connection((sys.argv[1], int(sys.argv[2]))):
        times.append(time.monotonic() - begin)
print(min(times))
"""


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("way", ["download", "upload"])
def test_a_server_of_the_machines_is_reached_at_the_rate_and_round_trip_time_of_the_path(
    path: Path, tmp_path: Path, server: int, way: str
) -> None:
    needs("curl", "ip")
    (tmp_path / "large").write_bytes(bytes(SIZE))
    upload = f"-T {tmp_path / 'large'} -H Expect:" if way == "upload" else ""
    script = tmp_path / "connect.py"
    script.write_text(CONNECT)
    written = "%{speed_download} %{speed_upload} %{http_code}"
    asked = f"{sys.executable} {script} $LONGFAT_HOST {server}; "
    asked += f'curl -s -o /dev/null {upload} -w "{written}" http://$LONGFAT_HOST:{server}/large'
    before = settings()
    ended, summary = ran(path, "--outside", "--", "sh", "-c", asked)
    assert ended.returncode == 0, ended.stderr
    connected_s = float(ended.stderr.splitlines()[0])
    down, up, code = map(float, ended.stderr.splitlines()[1].split("longfat")[0].split())
    assert code == 200
    seconds = SIZE / (down if way == "download" else up)
    assert 8 * SIZE * FULL / (seconds - 6 * RTT_S) == pytest.approx(RATE_BPS, rel=0.05)
    assert connected_s == pytest.approx(RTT_S, abs=0.001)
    row = busiest(summary)
    assert (row["b"], row["b_port"]) == (outside.HOST, server)
    assert row["a_to_b_bytes" if way == "upload" else "b_to_a_bytes"] > SIZE
    assert settings() == before


ECHO = """
import socket, sys, time
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.settimeout(5)
times = []
for n in range(10):
    begin = time.monotonic()
    asked.sendto(b"hello %d" % n, (sys.argv[1], int(sys.argv[2])))
    data, peer = asked.recvfrom(100)
    times.append(time.monotonic() - begin)
    assert data == b"hello %d" % n and peer == (sys.argv[1], int(sys.argv[2])), (data, peer)
    time.sleep(0.02)
print(sorted(times)[5])
"""


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_datagrams_go_out_and_their_answers_come_back(path: Path, tmp_path: Path) -> None:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as echo:
        echo.bind(("127.0.0.1", 0))

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    data, peer = echo.recvfrom(100)
                    echo.sendto(data, peer)

        threading.Thread(target=answer, daemon=True).start()
        port = echo.getsockname()[1]
        asked = ["sh", "-c", f"{sys.executable} {script} $LONGFAT_HOST {port}"]
        ended, summary = ran(path, "--outside", "--", *asked)
    assert ended.returncode == 0, ended.stderr
    # the forwarder and both programs are in Python, and each has to wake up
    assert float(ended.stderr.splitlines()[0]) == pytest.approx(RTT_S, abs=0.004)
    (row,) = summary["connections"]
    assert (row["protocol"], row["a_to_b_packets"], row["b_to_a_packets"]) == ("udp", 10, 10)


def _dns_answer(question: bytes) -> bytes:
    """What a resolver answers: one address, 192.0.2.77, for an A record, and nothing for others."""
    end = question.index(b"\0", 12) + 5
    is_a = question[end - 4 : end - 2] == b"\0\1"
    head = question[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_a else b"\0\0") + b"\0\0\0\0"
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton("192.0.2.77")
    return head + question[12:end] + (answer if is_a else b"")


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_names_are_resolved_through_the_path_by_the_machines_resolver(path: Path, tmp_path: Path) -> None:
    """A resolver on the machine's loopback, as systemd's is, has no meaning within a namespace."""
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("# a comment\nnameserver 127.77.0.53\nsearch example\noptions timeout:5\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as dns:
        dns.bind(("127.77.0.53", 53))

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    question, peer = dns.recvfrom(2000)
                    dns.sendto(_dns_answer(question), peer)

        threading.Thread(target=answer, daemon=True).start()
        asked = "import socket; print(socket.getaddrinfo('www.example', 80)[0][4][0]);"
        asked += "print(open('/etc/resolv.conf').read())"
        ended = elsewhere(
            [f"mount --bind {resolver} /etc/resolv.conf"],
            shell(path, "--outside", "--", sys.executable, "-c", asked),
        )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "192.0.2.77"
    assert f"nameserver {outside.RESOLVER}\nsearch example\noptions timeout:5\n" in ended.stdout
    assert re.search(r"udp +198\.18\.1\.1 +\d+ +198\.18\.2\.53 +53", ended.stderr)


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_port_that_nobody_listens_on_outside_ends_the_connection(path: Path) -> None:
    needs("curl")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and it does not listen
        asked = f"curl -sS --max-time 5 http://$LONGFAT_HOST:{taken.getsockname()[1]}/"
        ended, _ = ran(path, "--outside", "--", "sh", "-c", asked)
    assert ended.returncode == 56, ended.stderr
    assert "reset by peer" in ended.stderr


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_without_the_option_there_is_nothing_outside(path: Path, server: int) -> None:
    asked = f"import socket; socket.create_connection(('{outside.HOST}', {server}))"
    ended, _ = ran(path, "--", sys.executable, "-c", asked)
    assert "Network is unreachable" in ended.stderr


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_a_user_without_rights_has_the_machines_network_too(tmp_path: Path, server: int) -> None:
    needs("curl")
    file = Path("/tmp") / f"outside-{os.getpid()}.toml"
    file.write_text(PATH)
    file.chmod(0o644)
    try:
        asked = f'curl -s -o /dev/null -w "%{{http_code}} %{{size_download}}" http://$LONGFAT_HOST:{server}/'
        ended = elsewhere(
            [*tun_for_all(tmp_path), *opened_to_others(tmp_path / "stage")],
            [*SOMEONE, *shell(file, "--outside", "--", "sh", "-c", asked)],
        )
        if "right to make" in ended.stderr:
            skip(ended.stderr)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout == f"200 {SIZE}"
    finally:
        file.unlink()


def test_what_resolv_conf_says_besides_its_resolvers_stays() -> None:
    text = "# x\n; y\nnameserver 127.0.0.53\n\nnameserver ::1\nsearch a b\noptions edns0\n"
    assert outside.nameservers(text) == (["127.0.0.53", "::1"], ["search a b", "options edns0"])


def test_ipv6_is_outside_only_where_a_route_leads_there() -> None:
    zero = "0" * 32
    unreachable = f"{zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200       lo\n"
    assert not outside.has_ipv6(unreachable)
    route = f"{zero} 00 {zero} 00 fe80{'0' * 27}1 00000400 00000001 00000000 00000003     eth0\n"
    assert outside.has_ipv6(unreachable + route)
