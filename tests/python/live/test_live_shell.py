"""`longfat shell`, and programs on the path of a live run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from live_runs import (
    PATH,
    ROOT,
    SOMEONE,
    Left,
    able,
    as_root,
    begun,
    elsewhere,
    emptied,
    needs,
    opened_to_others,
    path,
    processes,
    shell,
    skip,
    started,
    tun_for_all,
)
from longfat.errors import ScenarioError
from longfat.scenario.model import Scenario
from samples import in_lines

__all__ = ["able", "as_root", "path"]

RATE_BPS, RTT_S = 20e6, 0.04
FULL = 1500 / 1448
"""Bytes of IP for a byte of TCP's payload."""


def ran(
    file: Path, *more: object, timeout: float = 60, **options: Any
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """What a shell printed and returned, and its summary. The command's own output is in stderr."""
    at = more.index("--") if "--" in more else len(more)
    what = shell(file, *more[:at], "--json", *more[at:])
    ended = subprocess.run(what, capture_output=True, text=True, timeout=timeout, **options)
    return ended, json.loads(ended.stdout) if ended.stdout else {}


def script(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "script.py"
    file.write_text(text)
    return file


def busiest(summary: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = max(
        summary["connections"], key=lambda row: row["a_to_b_bytes"] + row["b_to_a_bytes"]
    )
    return found


# What programs see


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("way", ["a_to_b", "b_to_a"])
def test_iperf3_sees_the_rate_of_the_path_in_both_directions(path: Path, way: str) -> None:
    needs("iperf3")
    more = ["-R"] if way == "b_to_a" else []
    client = ["iperf3", "-c", "{peer}", "-t", 5, "-O", 1, "-J", *more]
    ended, summary = ran(path, "--peer-command", "iperf3 -s -1", "--", *client)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stderr[ended.stderr.index("{") : ended.stderr.rindex("\n}") + 2])
    received = report["end"]["sum_received"]["bits_per_second"] * FULL
    assert received == pytest.approx(RATE_BPS, rel=0.05)
    row = busiest(summary)
    assert (row["protocol"], row["b_port"], row["opened_by"]) == ("tcp", 5201, "a")
    assert row[f"{way}_throughput_bps"] == pytest.approx(RATE_BPS, rel=0.08)  # with its slow-start
    link = summary["links"][0 if way == "a_to_b" else 1]
    assert link["queue_max_packets"] > 10
    assert summary["validity"]["valid"], summary["validity"]["checks"]


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_curl_takes_a_file_from_a_python_server_at_the_rate_of_the_path(path: Path, tmp_path: Path) -> None:
    needs("curl")
    size = 8_000_000
    (tmp_path / "large").write_bytes(bytes(size))
    server = f"exec {sys.executable} -m http.server -d {tmp_path} 8000"
    written = "%{speed_download} %{size_download}"
    client = ["curl", "-s", "-o", "/dev/null", "-w", written, "http://{peer}:8000/large"]
    ended, summary = ran(path, "--peer-command", server, "--", *client)
    assert ended.returncode == 0, ended.stderr
    speed, got = map(float, ended.stderr.splitlines()[0].split("longfat")[0].split())
    assert got == size
    seconds = size / speed
    # opening and the beginning of slow-start take about six round trips
    assert 8 * size * FULL / (seconds - 6 * RTT_S) == pytest.approx(RATE_BPS, rel=0.05)
    assert summary["programs"][1]["exit_code"] is None, "the server was asked to end"


PING = r"time=([0-9.]+) ms"


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("family", ["4", "6"])
def test_ping_sees_the_round_trip_time_within_a_millisecond(path: Path, family: str) -> None:
    import re

    needs("ping")
    peer = "{peer}" if family == "4" else "{peer6}"
    ended, summary = ran(path, "--", "ping", "-c", 10, "-i", "0.2", peer)
    assert ended.returncode == 0, ended.stderr
    times = sorted(float(each) for each in re.findall(PING, ended.stderr))
    assert len(times) == 10
    assert times[len(times) // 2] == pytest.approx(1e3 * RTT_S, abs=1.0)
    (row,) = summary["connections"]
    assert (row["protocol"], row["a_to_b_packets"]) == ("icmp" if family == "4" else "icmp6", 10)


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("peer", ["{peer}", pytest.param("{peer6}", marks=pytest.mark.long)])
def test_a_quic_transfer_crosses_the_path(path: Path, tmp_path: Path, peer: str) -> None:
    pytest.importorskip("aioquic")
    quic = ROOT / "tests/python/quic_transfer.py"
    size = 6_000_000
    server, client = f"exec {sys.executable} {quic} serve {tmp_path} {size}", [sys.executable, quic, "fetch"]
    # how long its own code takes: both ends on one host, of which nothing crosses the path
    both = f"({server}) & sleep 2; {sys.executable} {quic} fetch ::1"
    ended, _ = ran(path, "--", "sh", "-c", both, timeout=120)
    own_s = float(ended.stderr.splitlines()[0].split()[2])
    ended, summary = ran(path, "--peer-command", server, "--", *client, peer, timeout=120)
    assert ended.returncode == 0, ended.stderr
    got, seconds, ping_s = map(float, ended.stderr.splitlines()[0].split())
    assert got == size
    row = busiest(summary)
    assert (row["protocol"], row["b_port"]) == ("udp", 4433)
    assert ping_s - own_s == pytest.approx(RTT_S, abs=0.001)
    assert row["b_to_a_bytes"] > size
    # slow-start takes a few round trips, and what is lost at its end is sent again
    assert 8 * row["b_to_a_bytes"] / (seconds - 6 * RTT_S) == pytest.approx(RATE_BPS, rel=0.05)
    assert 8 * size / seconds > 0.75 * RATE_BPS


MARKED = """
import socket, struct, sys
if sys.argv[1] == "send":
    sender = socket.socket(socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
    if ":" in sys.argv[2]:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 2)
    sender.connect((sys.argv[2], 7000))
    for _ in range(60):
        sender.send(bytes(1000))
    sender.settimeout(5)
    print(sender.recv(100).decode())
else:
    receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    receiver.bind(("::", 7000))
    marked = got = 0
    while True:
        data, extra, _, peer = receiver.recvmsg(2000, 200)
        fields = [value[0] & 3 for level, kind, value in extra]
        got, marked = got + 1, marked + (3 in fields)
        receiver.settimeout(0.7)
        try:
            receiver.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            break
    receiver.sendto(f"{got} {marked}".encode(), peer)
"""


@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("peer", ["{peer}", "{peer6}"])
def test_datagrams_are_marked_as_tcp_is_and_each_mark_arrives(path: Path, tmp_path: Path, peer: str) -> None:
    program = script(tmp_path, MARKED)
    # the queue marks from the tenth packet on
    marking = (
        'queue = { kind = "red", min = "8 packets", max = "9 packets", max_p = 1.0, weight = 1.0, '
        "ecn = true, harddrop = false }"
    )
    path.write_text(PATH.replace('"100 % BDP"', f'"100 packets"\n{marking}'))
    ended, summary = ran(
        path,
        "--peer-command",
        f"exec {sys.executable} {program} receive",
        "--",
        sys.executable,
        program,
        "send",
        peer,
    )
    assert ended.returncode == 0, ended.stderr
    got, marked = map(int, ended.stderr.splitlines()[0].split())
    row = busiest(summary)
    assert (got, row["a_to_b_packets"], row["a_to_b_dropped"]) == (60, 60, 0)
    assert marked == row["a_to_b_marked"] == summary["links"][0]["packets_marked"]
    assert marked > 10


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_two_programs_at_once_share_the_path_beside_the_scenarios_flow(path: Path, tmp_path: Path) -> None:
    needs("iperf3")
    path.write_text(
        'duration = "6 s"\n'
        + PATH
        + """
[[flow]]
algorithm = "cubic"
rtt = "40 ms"
[[program]]
name = "server one"
side = "b"
command = "iperf3 -s -1 -p 7001"
[[program]]
name = "server two"
side = "b"
command = ["iperf3", "-s", "-1", "-p", "7002"]
[[program]]
name = "one"
command = "iperf3 -c {peer} -p 7001 -t $SECONDS_TO_RUN"
start = "0.5 s"
environment = { SECONDS_TO_RUN = "4" }
[[program]]
name = "two"
command = ["iperf3", "-c", "{peer}", "-p", "7002", "-t", "4"]
start = "0.5 s"
[[program]]
name = "failing"
command = "echo first >&2; echo last words >&2; exit 4"
[[program]]
name = "sleeping"
command = "sleep 100"
stop = "2 s"
"""
    )
    out = tmp_path / "out"
    what = [sys.executable, "-m", "longfat", "run", str(path), "--backend", "live", "--out", str(out)]
    ended = subprocess.run(what, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "program one at side a: iperf3 -c {peer} -p 7001" in ended.stderr, "it says what it starts"
    assert "warning: program failing ended with exit code 4: last words" in ended.stderr
    summary = json.loads((out / "summary.json").read_text())
    programs = {program["name"]: program for program in summary["programs"]}
    assert [programs[name]["exit_code"] for name in ("one", "two", "failing")] == [0, 0, 4]
    assert programs["sleeping"]["exit_code"] is None
    assert programs["sleeping"]["end_s"] == pytest.approx(2.0, abs=0.3)
    assert programs["one"]["start_s"] == pytest.approx(0.5, abs=0.1)
    assert "iperf Done" in programs["one"]["output"]
    rates = [
        row["a_to_b_throughput_bps"] for row in summary["connections"] if row["a_to_b_bytes"] > 1_000_000
    ]
    assert len(rates) == 2
    assert min(rates) > 0.1 * RATE_BPS
    assert summary["flows"][0]["throughput_bps"] > 0.1 * RATE_BPS
    assert summary["links"][0]["utilization"] > 0.7
    report = subprocess.run(
        [sys.executable, "-m", "longfat", "report", str(out)], capture_output=True, text=True
    )
    assert report.returncode == 0, report.stderr
    page = (out / "index.html").read_text()
    assert "Connections of programs" in page
    assert "server two" in page


# How a command ends


@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
        (["sh", "-c", "nosuch"], 127),
    ],
)
def test_the_exit_code_of_the_command_is_that_of_longfat(path: Path, command: list[str], code: int) -> None:
    ended, summary = ran(path, "--", *command)
    assert ended.returncode == code, ended.stderr
    assert summary["programs"][0]["exit_code"] == code


def test_a_command_that_is_not_there_is_one_line_and_127(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    plain = tmp_path / "plain"
    plain.write_text("")
    for name, code, says in [
        ("nosuch", 127, "nosuch: command not found"),
        (str(tmp_path / "nosuch"), 127, "command not found"),
        (str(plain), 126, "permission denied"),
        (str(folder), 126, "is a folder"),
    ]:
        ended = subprocess.run(shell(path, "--", name), capture_output=True, text=True)
        assert (ended.returncode, ended.stdout) == (code, "")
        assert len(ended.stderr.splitlines()) == 1
        assert says in ended.stderr


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_peer_command_that_dies_at_once_is_told_with_its_exit_code_and_last_words(path: Path) -> None:
    peer = "echo one; echo two >&2; echo cannot open the port >&2; exit 7"
    ended, summary = ran(path, "--peer-command", peer, "--", "true")
    assert ended.returncode == 0
    lines = ended.stderr.splitlines()
    assert "longfat: the peer command ended with exit code 7" in lines
    assert "longfat: the peer command: cannot open the port" in lines
    assert summary["programs"][1]["exit_code"] == 7
    assert "one\ntwo\n" in summary["programs"][1]["output"]
    ended, _ = ran(path, "--peer-command", "nosuch", "--", "true")
    assert "longfat: the peer command ended with exit code 127" in ended.stderr


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_the_commands_streams_are_its_own(path: Path) -> None:
    ended = subprocess.run(shell(path, "--", "cat"), capture_output=True, text=True, input="some\ntext\n")
    assert (ended.returncode, ended.stdout) == (0, "some\ntext\n")
    assert "longfat: a to b:" in ended.stderr


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_command_that_goes_on_for_too_long_ends_with_the_duration(path: Path) -> None:
    begin = time.monotonic()
    ended, summary = ran(path, "--duration", "1 s", "--", "sleep", 100)
    assert ended.returncode == 124, ended.stderr
    assert summary["duration_s"] == pytest.approx(1.0, abs=0.01)
    assert time.monotonic() - begin < 10


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_the_result_is_that_of_a_live_run_and_its_page_can_be_made(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, summary = ran(path, "--out", out, "--", "sleep", "0.3")
    assert json.loads((out / "summary.json").read_text()) == summary
    assert summary["backend"] == "live"
    assert 0.3 <= summary["duration_s"] < 3.0
    again = Scenario.load(out / "scenario.toml")
    assert again.duration == pytest.approx(summary["duration_s"])
    assert again.program[0].command == ["sleep", "0.3"]
    made = subprocess.run(
        [sys.executable, "-m", "longfat", "report", str(out)], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr


# Nothing is left


DAEMON = """
import os, sys, time
if os.fork():
    time.sleep(float(sys.argv[2]))
    sys.exit()
os.setsid()
if os.fork():
    os._exit(0)
import signal
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
import socket
connection = socket.create_connection((sys.argv[1], 7000))
open(sys.argv[3], "w").close()
while True:
    connection.send(bytes(65536))
"""
SINK = "import socket; c = socket.create_server(('', 7000)).accept()[0]\nwhile c.recv(65536): pass"


@pytest.mark.kernel("cgroups")
@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("end", [None, signal.SIGKILL, signal.SIGTERM])
def test_what_a_command_leaves_behind_ends_with_the_run(
    path: Path, tmp_path: Path, end: signal.Signals | None
) -> None:
    daemon, sink = tmp_path / "leaves_a_daemon.py", tmp_path / "takes_its_data.py"
    daemon.write_text(DAEMON)
    sink.write_text(SINK)
    seconds = 3 if end is None else 60
    up = tmp_path / "up"
    devices, groups = os.listdir("/sys/class/net"), _groups()
    what = shell(
        path,
        "--outside",
        "--peer-command",
        f"exec {sys.executable} {sink}",
        "--",
        sys.executable,
        daemon,
        "{peer}",
        seconds,
        up,
    )
    with started(what, stderr=subprocess.PIPE) as process:
        left = Left(begun(process.pid))
        for _ in range(100):
            if up.exists():
                break
            time.sleep(0.1)
        time.sleep(1.0)  # a window is in flight
        assert len(processes(daemon.name)) >= 2
        assert left()
        if end is not None:
            process.send_signal(end)
        _, err = process.communicate(timeout=20)
    assert process.returncode in ((0,) if end is None else (-end, 128 + end)), err
    assert left.in_a_while() == []
    assert processes(daemon.name) == []
    assert processes(sink.name) == []
    assert os.listdir("/sys/class/net") == devices
    assert _groups() == groups


def _groups() -> set[str]:
    return {str(each) for each in Path("/sys/fs/cgroup").glob("**/longfat-*")}


# As whom


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_programs_run_as_who_called_sudo_unless_told_otherwise(path: Path) -> None:
    environment = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
    asked = ["sh", "-c", "id -un; echo $USER"]
    for options, name in [([], "nobody"), (["--user", "root"], "root"), (["--user", "daemon"], "daemon")]:
        ended, _ = ran(path, *options, "--", *asked, env=environment)
        assert ended.stderr.splitlines()[0] == name, ended.stderr
    ended, _ = ran(path, "--user", "nosuch", "--", "true")
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        'error: --user nosuch: there is no such user; accepted: a user\'s name, or "root"'
    ]


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_a_user_without_rights_has_a_shell_where_the_kernel_gives_namespaces_to_users(tmp_path: Path) -> None:
    needs("ping")
    file = Path("/tmp") / f"path-{os.getpid()}.toml"
    file.write_text(PATH)
    file.chmod(0o644)
    try:
        asked = ["sh", "-c", "id -u; ping -c 2 -i 0.2 {peer}; echo $LONGFAT_SIDE"]
        ended = elsewhere(
            [*tun_for_all(tmp_path), *opened_to_others(tmp_path / "stage")],
            [*SOMEONE, *shell(file, "--", *asked)],
        )
        if "user namespaces" in ended.stderr or "right to make" in ended.stderr:
            skip(ended.stderr)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.splitlines()[0] == "65534", "it is the same user within"
        assert "2 received" in ended.stdout
    finally:
        file.unlink()


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_without_rights_there_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    for trouble, says in [
        ("echo 0 > /proc/sys/user/max_net_namespaces", "the right to make"),
        (emptied("/dev/net"), "/dev/net/tun"),
    ]:
        ended = elsewhere([trouble], shell(file, "--", "true"), "--user", "--map-root-user")
        assert ended.returncode == 2, ended.stderr
        assert len(ended.stderr.splitlines()) == 1, ended.stderr
        assert says in ended.stderr


# Scenarios with programs


def test_the_simulator_refuses_programs_in_one_line(path: Path) -> None:
    path.write_text('duration = "1 s"\n' + PATH + '[[program]]\ncommand = "true"\n')
    ended = subprocess.run(
        [sys.executable, "-m", "longfat", "run", str(path)], capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        f"error: {path}: [[program]]: programs run in real time; "
        "accepted: --backend live, or leave them out\n"
    )


def test_iperf3_as_the_traffic_beside_programs_is_refused_in_one_line(path: Path) -> None:
    path.write_text('duration = "1 s"\n' + PATH + '[[program]]\ncommand = "true"\n')
    what = [sys.executable, "-m", "longfat", "run", str(path), "--backend", "live", "--traffic", "iperf3"]
    ended = subprocess.run(what, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith(f"error: {path}: [[program]]: iperf3 for the flows")


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("command = 3", "program.0.command: this is not a command; accepted: a command such as"),
        ("command = []", "accepted: a command such as"),
        ('command = "x"\nside = "c"', 'program.0.side: there is no such choice; accepted: "a" or "b"'),
        ('command = "x"\nstart = "2 s"\nstop = "1 s"', "not after the start, 2 s"),
        ('command = "x"\nenvironment = { A = 3 }', "program.0.environment"),
        ('command = "x"\nname = "n"\n[[program]]\ncommand = "y"\nname = "n"', 'two programs are called "n"'),
        ("", "program.0.command: this key is missing"),
    ],
)
def test_a_wrong_program_is_told_with_what_would_be_accepted(program: str, says: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_toml('duration = "1 s"\n' + PATH + f"[[program]]\n{program}\n")
    (problem,) = refused.value.lines()
    assert says in in_lines(problem)


def test_programs_need_a_round_trip_time_and_flows_give_it() -> None:
    text = 'duration = "1 s"\n' + PATH.replace('rtt = "40 ms"\n', "") + '[[program]]\ncommand = "true"\n'
    with pytest.raises(ScenarioError, match=r"^bottleneck.rtt: this key is missing"):
        Scenario.from_toml(text)
    flow = '[[flow]]\nrtt = "30 ms"\n'
    assert Scenario.from_toml(text + flow).network().program_rtt_s == 0.03
