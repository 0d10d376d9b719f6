"""`longfat import`: a capture of a run gives the run's numbers again, and any other one its connections."""

from __future__ import annotations

import bisect
import bz2
import gzip
import json
import lzma
import math
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import longfat
from longfat.errors import InputError
from longfat.runs.imported import Imported

Packet = tuple[float, bytes]
ZSTD = pa.Codec("zstd").compress(bytes(100)).to_pybytes()
"""A packed file."""


def scenario(**changes: Any) -> dict[str, Any]:
    """Flows with losses, over one bottleneck."""
    return {
        "duration": "20 s",
        "bottleneck": {"rate": "20 Mbit/s", "buffer": "60 packets", "loss": 0.002},
        "flow": [
            {"name": "first", "algorithm": "cubic", "rtt": "40 ms"},
            {"name": "second", "algorithm": "reno-classic", "rtt": "25 ms", "start": "2 s"},
        ],
    } | changes


SCENARIOS = {
    "losses": scenario(),
    "a deep buffer": scenario(bottleneck={"rate": "20 Mbit/s", "buffer": "300 packets"}),
    "a paced flow": scenario(flow=[{"algorithm": "bbr", "rtt": "40 ms"}]),
    "lost acknowledgements": scenario(
        bottleneck={"rate": "20 Mbit/s", "buffer": "60 packets", "ack_loss": 0.05}
    ),
    "the other direction": scenario(flow=[{"algorithm": "cubic", "rtt": "40 ms", "direction": "reverse"}]),
    "transfers that end": scenario(
        flow=[
            {
                "algorithm": "cubic",
                "rtt": "40 ms",
                "bytes": "8 MB",
                "count": 2,
                "start": {"uniform": ["0 s", "1 s"]},
            }
        ]
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_capture_of_a_run_gives_the_numbers_of_the_run(name: str, tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    run = longfat.run(SCENARIOS[name], capture=file)
    imported = longfat.read_capture(file)
    assert imported.summary["notes"] == []
    assert imported.summary["backend"] == "capture"
    ran = {flow["name"]: flow for flow in run.summary["flows"]}
    assert [flow["name"] for flow in imported.summary["flows"]] == sorted(
        ran, key=lambda n: ran[n]["start_s"]
    )
    for flow in imported.summary["flows"]:
        own = ran[flow["name"]]
        for exact in ("algorithm", "packets_sent", "retransmits"):
            assert flow[exact] == own[exact], exact
        assert flow["throughput_bps"] == pytest.approx(own["throughput_bps"], rel=0.01)
        assert flow["goodput_bps"] == pytest.approx(own["goodput_bps"], rel=0.01)
        assert flow["srtt_mean_s"] == pytest.approx(own["srtt_mean_s"], abs=1e-3)
        assert own["rtt_s"] <= flow["rtt_s"] < flow["srtt_mean_s"]
        assert flow["start_s"] - own["start_s"] == pytest.approx(
            -min(f["start_s"] for f in ran.values()), abs=1e-3
        )
    first = imported.summary["flows"][0]  # begins with an empty queue
    assert first["rtt_s"] == pytest.approx(ran[first["name"]]["rtt_s"], abs=1e-3)
    table = imported.flows.to_pandas()
    assert {"time_s", "name", "received_bytes", "delivered_bytes", "srtt_s", "retransmits", "cwnd"} <= set(
        table
    )
    for flow in imported.summary["flows"]:
        assert table[table["name"] == flow["name"]]["retransmits"].is_monotonic_increasing


def test_without_timestamps_round_trips_are_those_of_segments_sent_once(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    plain = [{"algorithm": "cubic", "rtt": "40 ms", "timestamps": False}]
    run = longfat.run(scenario(flow=plain), capture=file)
    (flow,) = longfat.read_capture(file).summary["flows"]
    (own,) = run.summary["flows"]
    assert (flow["retransmits"], flow["packets_sent"]) == (own["retransmits"], own["packets_sent"])
    assert flow["srtt_mean_s"] == pytest.approx(own["srtt_mean_s"], abs=3e-3)


def test_of_several_hops_each_packet_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    links = [("S", "A"), ("A", "B"), ("B", "D")]
    hops = {
        "duration": "10 s",
        "link": [
            {"from": a, "to": b, "rate": "20 Mbit/s", "delay": "5 ms", "buffer": "25 packets", "loss": 0.001}
            for a, b in links
        ],
        "flow": [{"algorithm": "cubic", "from": "S", "to": "D"}],
    }
    (own,) = longfat.run(hops, capture=file).summary["flows"]
    imported = longfat.read_capture(file)
    (flow,) = imported.summary["flows"]
    assert (flow["packets_sent"], flow["retransmits"]) == (own["packets_sent"], own["retransmits"])
    assert flow["throughput_bps"] == pytest.approx(own["throughput_bps"], rel=0.01)
    assert flow["rtt_s"] == pytest.approx(own["rtt_s"], abs=2e-3)
    assert imported.summary["capture"]["copies"] > own["packets_sent"]
    assert any("several interfaces" in note for note in imported.summary["notes"])


def tcp(seq: int, ack: int, payload: int, flags: int = 0x10, *, back: bool = False) -> bytes:
    """A TCP header of a connection between the ports 1000 and 2000, and its payload."""
    ports = (2000, 1000) if back else (1000, 2000)
    return struct.pack("!HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 0x50, flags, 1000, 0, 0) + bytes(
        payload
    )


def ipv4(segment: bytes, *, back: bool = False) -> bytes:
    ends = [socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2")]
    source, destination = reversed(ends) if back else ends
    total = 20 + len(segment)
    return struct.pack("!BBHHHBBH", 0x45, 0, total, 7, 0, 64, 6, 0) + source + destination + segment


def ipv6(segment: bytes, *, back: bool = False) -> bytes:
    ends = [socket.inet_pton(socket.AF_INET6, f"2001:db8::{i}") for i in (1, 2)]
    source, destination = reversed(ends) if back else ends
    return struct.pack("!IHBB", 6 << 28, len(segment), 6, 64) + source + destination + segment


def ethernet(packet: bytes) -> bytes:
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes(12) + struct.pack("!H", kind) + packet


def tagged(packet: bytes) -> bytes:
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes(12) + struct.pack("!HHH", 0x8100, 5, kind) + packet


def cooked(packet: bytes) -> bytes:
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes(14) + struct.pack("!H", kind) + packet


def cooked_2(packet: bytes) -> bytes:
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return struct.pack("!H", kind) + bytes(18) + packet


def loopback(packet: bytes) -> bytes:
    return struct.pack("<I", 2 if packet[0] >> 4 == 4 else 10) + packet


def conversation(ip: Callable[..., bytes], link: Callable[[bytes], bytes]) -> list[Packet]:
    """An opening, and ten segments, the third of them sent twice, each acknowledged after 30 ms."""
    first = 2**32 - 4000  # wraps on the way
    packets = [
        (0.0, ip(tcp(first - 1, 0, 0, 0x02))),
        (0.03, ip(tcp(99, first, 0, 0x12, back=True), back=True)),
        (0.03, ip(tcp(first, 100, 0))),
    ]
    for i in range(10):
        packets.append((0.1 + 0.1 * i, ip(tcp(first + 1000 * i, 100, 1000))))
        if i == 2:
            packets.append((0.1 + 0.1 * i + 0.01, ip(tcp(first + 1000 * i, 100, 1000))))
        packets.append((0.13 + 0.1 * i, ip(tcp(100, first + 1000 * (i + 1), 0, back=True), back=True)))
    return [(at, link(packet)) for at, packet in packets]


def pcap(
    packets: list[Packet], link: int, *, order: str = "<", nanoseconds: bool = False, snap: int = 65535
) -> bytes:
    magic, parts = (0xA1B23C4D, 1_000_000_000) if nanoseconds else (0xA1B2C3D4, 1_000_000)
    blocks = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)]
    for at, packet in packets:
        seconds = math.floor(at)
        times = (1_000_000 + seconds, round((at - seconds) * parts))
        blocks.append(struct.pack(f"{order}IIII", *times, len(packet[:snap]), len(packet)) + packet[:snap])
    return b"".join(blocks)


LINKS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "Ethernet": (1, ethernet),
    "a VLAN": (1, tagged),
    "raw IP": (101, bytes),
    "cooked": (113, cooked),
    "cooked, version 2": (276, cooked_2),
    "loopback": (0, loopback),
}


@pytest.mark.parametrize("ip", [ipv4, ipv6])
@pytest.mark.parametrize("link", LINKS)
def test_any_link_and_both_versions_of_ip_say_the_same(
    link: str, ip: Callable[..., bytes], tmp_path: Path
) -> None:
    number, frame = LINKS[link]
    file = tmp_path / "x.pcap"
    for form in ({}, {"order": ">"}, {"nanoseconds": True}, {"snap": 80}):
        file.write_bytes(pcap(conversation(ip, frame), number, **form))  # type: ignore[arg-type]
        (flow,) = longfat.read_capture(file).summary["flows"]
        assert (flow["packets_sent"], flow["retransmits"], flow["rtt_samples"]) == (11, 1, 10), "and the SYN"
        assert flow["rtt_s"] == pytest.approx(0.03, abs=1e-5)
        assert flow["srtt_mean_s"] == pytest.approx(0.03, abs=1e-5)
        assert flow["duration_s"] == pytest.approx(1.03, abs=1e-5)
        assert flow["goodput_bps"] == pytest.approx(8 * 10_000 / 1.03, rel=1e-4)
        assert flow["name"].endswith(":2000")


@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed (apt install tshark)")
def test_what_other_programs_make_of_a_capture_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    longfat.run(scenario(duration="5 s"), capture=file)
    before = longfat.read_capture(file).summary
    for kind in ("pcap", "nsecpcap"):
        other = tmp_path / f"other.{kind}"
        subprocess.run(["editcap", "-F", kind, str(file), str(other)], check=True)
        after = longfat.read_capture(other).summary
        for own, flow in zip(before["flows"], after["flows"], strict=True):
            assert flow["retransmits"] == own["retransmits"]
            assert flow["srtt_mean_s"] == pytest.approx(own["srtt_mean_s"], abs=1e-5)
        assert after["flows"][0]["name"] == "10.0.0.1:49152 to 10.128.0.1:50000", "pcap has no comments"


def run_program(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longfat", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_the_program_prints_a_table_or_json_and_writes_what_report_draws(tmp_path: Path) -> None:
    longfat.run(scenario(duration="3 s"), capture=tmp_path / "run.pcapng")
    table = run_program("import", "run.pcapng", cwd=tmp_path)
    assert (table.returncode, table.stderr) == (0, "")
    assert "first" in table.stdout
    assert "cubic" in table.stdout
    found = json.loads(run_program("import", "run.pcapng", "--json", cwd=tmp_path).stdout)
    assert found == longfat.read_capture(tmp_path / "run.pcapng").summary | {"file": "run.pcapng"}
    assert run_program("import", "run.pcapng", "--out", "in", cwd=tmp_path).returncode == 0
    names = {entry.name for entry in (tmp_path / "in").iterdir()}
    assert {"summary.json", "flows.parquet", "provenance.json"} <= names
    page = run_program("report", "in", cwd=tmp_path)
    assert (page.returncode, page.stderr) == (0, "")
    assert "first" in (tmp_path / "in" / "index.html").read_text()


def test_a_capture_is_drawn_beside_a_run(tmp_path: Path) -> None:
    run = longfat.run(scenario(duration="3 s"), capture=tmp_path / "run.pcapng")
    run.save(tmp_path / "run")
    assert run_program("import", "run.pcapng", "--out", "in", cwd=tmp_path).returncode == 0
    axes = ["--kind", "bars", "--x", "name", "--y", "throughput_bps", "--by", "folder"]
    drawn = run_program("plot", "run", "in", *axes, "--out", "both.svg", "--json", cwd=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "both.svg").stat().st_size > 1000


def test_what_is_left_of_a_damaged_file_is_read_with_a_note(tmp_path: Path) -> None:
    whole = tmp_path / "whole.pcapng"
    longfat.run(scenario(duration="3 s"), capture=whole)
    content = whole.read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(content[:-7])
    cut = run_program("import", "cut.pcapng", "--json", cwd=tmp_path)
    assert cut.returncode == 1
    assert re.match(
        r"note: cut\.pcapng: it was cut short, or something else follows its packets: no whole packet begins "
        r"at byte \d+; the ",
        cut.stderr,
    )
    assert cut.stderr.count("\n") == 1
    packets = json.loads(cut.stdout)["capture"]["packets"]
    assert packets == longfat.read_capture(whole).summary["capture"]["packets"] - 1
    middle = len(content) // 2 // 4 * 4
    (tmp_path / "hole.pcapng").write_bytes(content[:middle] + b"\xff" * 4096 + content[middle + 4096 :])
    hole = run_program("import", "hole.pcapng", "--json", cwd=tmp_path)
    assert hole.returncode == 1
    assert 0 < json.loads(hole.stdout)["capture"]["packets"] < packets
    assert hole.stderr.startswith("note: hole.pcapng: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        (b"", "it is empty"),
        (b"\n\r\r\n", "it ends within the header of a capture: it was cut short, or is none"),
        (gzip.compress(b"", mtime=0), "it is empty when it is unpacked"),
        (
            gzip.compress(bytes(100), mtime=0)[:12],
            "its compressed data end early, or something else follows them",
        ),
        (lzma.compress(bytes(100))[:20], "its compressed data end early, or something else follows them"),
        (ZSTD[:8], "its compressed data end early, or something else follows them"),
        (ZSTD[:-2], "its compressed data end early, or something else follows them"),
        (
            b"not a capture, but a text that is long enough for a header",
            "it is neither pcapng nor pcap, or damaged",
        ),
        (b"\xd4\xc3\xb2\xa1", "it ends within the header of a capture: it was cut short, or is none"),
    ],
)
def test_what_is_no_capture_gets_one_line(content: bytes | None, said: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "x").write_bytes(content)
    done = run_program("import", "x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"error: x: {said}; accepted: a pcapng or pcap file, also compressed with gzip, zstd or xz\n"
    )
    with pytest.raises(InputError, match="is a folder"):
        longfat.read_capture(tmp_path)


@pytest.mark.parametrize(
    ("packed", "after", "said"),
    [
        (
            False,
            b"hello",
            "it was cut short, or something else follows its packets: no whole packet begins at ",
        ),
        (False, b"hello, world" + bytes(16), "damaged: a block of 1998597231 bytes, at "),
        (
            True,
            b"hello",
            "it was cut short, or something else follows its packets: no whole packet begins at ",
        ),
    ],
)
def test_a_note_has_the_place_from_which_on_nothing_could_be_read(
    packed: bool, after: bytes, said: str, tmp_path: Path
) -> None:
    longfat.run(scenario(duration="1 s"), capture=tmp_path / "run.pcapng")
    content = (tmp_path / "run.pcapng").read_bytes()
    content += after
    (tmp_path / "x").write_bytes(gzip.compress(content) if packed else content)
    summary = longfat.read_capture(tmp_path / "x").summary
    place = f"byte {len(content) - len(after)}{' of what is unpacked' if packed else ''}"
    assert summary["capture"]["damage"] == said + place
    packets = summary["capture"]["packets"]
    assert summary["notes"][0] == f"{tmp_path}/x: {said}{place}; the {packets} packets before that were read"


def test_a_capture_without_tcp_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(pcap([(0.0, bytes(60))], 101))
    done = run_program("import", "x.pcap", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["flows"] == []
    assert done.stderr == (
        "note: x.pcap: no TCP connection with payload among 1 packets\nnote: left out: 1 packets not of IP\n"
    )


def test_compressed_captures_and_standard_input_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(conversation(ipv4, ethernet), 1))
    whole = longfat.read_capture(file).summary
    for ending, pack in (("gz", gzip.compress), ("xz", lzma.compress)):
        packed = tmp_path / f"x.pcap.{ending}"
        packed.write_bytes(pack(file.read_bytes()))
        assert longfat.read_capture(packed).summary == whole | {"file": str(packed)}
        packed.write_bytes(pack(file.read_bytes()[:500]) + pack(file.read_bytes()[500:]))
        assert longfat.read_capture(packed).summary == whole | {"file": str(packed)}
        packed.write_bytes(pack(file.read_bytes())[:-30])
        assert longfat.read_capture(packed).summary["capture"]["damage"]
    with (tmp_path / "x.pcap").open("rb") as stream:
        command = [sys.executable, "-m", "longfat", "import", "-", "--json"]
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == whole | {"file": "standard input"}


def test_zstd_of_several_frames_is_unpacked(tmp_path: Path) -> None:
    content = pcap(conversation(ipv4, ethernet), 1)
    parts = [content[:500], content[500:]]
    frames = [pa.compress(part, codec="zstd", asbytes=True) for part in parts]
    skipped = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    (tmp_path / "x.zst").write_bytes(skipped + frames[0] + skipped + frames[1])
    (flow,) = longfat.read_capture(tmp_path / "x.zst").summary["flows"]
    assert flow["packets_sent"] == 11


def test_other_compressed_files_are_refused_with_what_unpacks_them(tmp_path: Path) -> None:
    (tmp_path / "x.bz2").write_bytes(bz2.compress(b"a"))
    with pytest.raises(InputError, match="compressed with bzip2; unpack it first: bunzip2"):
        longfat.read_capture(tmp_path / "x.bz2")


def test_notes_count_what_is_left_out(tmp_path: Path) -> None:
    packets = conversation(ipv4, ethernet) + [(2.0, bytes(12) + b"\x08\x06" + bytes(28))] * 3
    (tmp_path / "x.pcap").write_bytes(pcap(packets, 1, snap=54))
    assert longfat.read_capture(tmp_path / "x.pcap").summary["notes"][0] == "left out: 3 packets not of IP"
    sent = [
        (at, frame) for at, frame in conversation(ipv4, ethernet) if frame[34:36] == struct.pack("!H", 1000)
    ]
    (tmp_path / "y.pcap").write_bytes(pcap(sent, 1))
    (flow,) = longfat.read_capture(tmp_path / "y.pcap").summary["flows"]
    assert (flow["srtt_mean_s"], flow["cwnd_mean"], flow["in_flight_s"]) == (None, None, None)
    assert flow["goodput_bps"] == pytest.approx(8 * 10_000 / 1.0, rel=1e-4)
    (note,) = longfat.read_capture(tmp_path / "y.pcap").summary["notes"]
    assert "no packet of the receiver was captured" in note


def test_an_idle_flow_has_its_rate_while_data_were_in_flight(tmp_path: Path) -> None:
    packets = conversation(ipv4, ethernet)
    first = 2**32 - 4000
    last = ethernet(ipv4(tcp(first + 10_000, 100, 0, 0x11)))
    (tmp_path / "x.pcap").write_bytes(pcap([*packets, (100.0, last)], 1))
    imported = longfat.read_capture(tmp_path / "x.pcap")
    (flow,) = imported.summary["flows"]
    assert flow["in_flight_s"] == pytest.approx(0.3, abs=1e-4)
    assert flow["throughput_in_flight_bps"] == pytest.approx(8 * 10_400 / 0.3, rel=1e-3)
    assert flow["throughput_bps"] == pytest.approx(8 * 10_400 / 100.0, rel=1e-3)
    (note,) = imported.summary["notes"]
    assert note.startswith(
        "mostly idle; the time with data in flight, and the throughput over it: 192.0.2.1:1000"
    )


def test_rows_join_with_those_of_the_run(tmp_path: Path) -> None:
    run = longfat.run(scenario(duration="3 s"), capture=tmp_path / "run.pcapng")
    own = set(run.flows.to_pandas()["time_s"])
    read = set(longfat.read_capture(tmp_path / "run.pcapng").flows.to_pandas()["time_s"])
    assert len(read) > 20
    assert read <= own


def test_twenty_thousand_connections_are_named_in_a_second(tmp_path: Path) -> None:
    flow = {"start_s": 0.0, "sender": "192.0.2.1:1000", "receiver": "192.0.2.2:2000"}
    imported = Imported("x", {"flows": [flow] * 20_000, "comment": ""})
    begin = time.process_time()
    names = imported._names
    assert time.process_time() - begin < 1.0
    assert names[19_999] == ("192.0.2.1:1000 to 192.0.2.2:2000 (20000)", None)


def test_what_is_in_flight_is_what_the_sender_logs(tmp_path: Path) -> None:
    flow = [{"algorithm": "bbr", "stack": "linux", "rtt": "50 ms"}]
    lossy = {"rate": "10 Mbit/s", "buffer": "100 packets", "loss": 0.1}
    asked = {"duration": "6 s", "bottleneck": lossy, "flow": flow}
    longfat.run(asked, capture=tmp_path / "run.pcapng", qlog=tmp_path / "run.sqlog")
    logged: list[tuple[float, float]] = []
    for text in (tmp_path / "run.sqlog").read_text().split("\x1e")[1:]:
        event = json.loads(text)
        if "bytes_in_flight" in event.get("data", {}):
            logged.append((event["time"] / 1e3, event["data"]["bytes_in_flight"] / 1448))
    times = [at for at, _ in logged]
    rows = longfat.read_capture(tmp_path / "run.pcapng").flows.to_pandas()
    own = [logged[bisect.bisect_right(times, at) - 1][1] for at in rows["time_s"]]
    assert 20 < sum(own) / len(own) < 60
    assert rows["cwnd"].mean() == pytest.approx(sum(own) / len(own), rel=0.03)
    assert max(abs(rows["cwnd"] - own)) <= 5
