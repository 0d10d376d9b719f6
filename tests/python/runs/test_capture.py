"""`--pcap`: tshark reads every packet of a capture without complaint, and counts what Longfat counts."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas.testing
import pytest

import longfat
from longfat.errors import InputError

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark (apt install tshark)")

SENT_AGAIN = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
"""What tshark calls a segment below the highest one so far.

It says "out of order" and not "retransmission" if the segment comes within a round trip of the highest. Where
a sender sends them, its packets cannot be out of order.
"""
WORRIES = (
    "_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0 or udp.checksum.status == 0"
    " or _ws.expert.severity >= 0x800000 or tcp.analysis.ack_lost_segment or tcp.analysis.lost_segment"
    " or tcp.analysis.window_full"
)
CHECKSUMS = [x for p in ("ip", "tcp", "udp") for x in ("-o", f"{p}.check_checksum:TRUE")]


def path(**changes: Any) -> dict[str, Any]:
    """A path that loses packets in bursts, and one flow over it."""
    return {
        "duration": "6 s",
        "bottleneck": {"rate": "20 Mbit/s", "buffer": "30 packets"},
        "flow": [{"algorithm": "cubic", "rtt": "40 ms"}],
    } | changes


def hops(**changes: Any) -> dict[str, Any]:
    """Three links in a row, the second one with the least rate."""
    links = [("S", "A", "50 Mbit/s"), ("A", "B", "20 Mbit/s"), ("B", "D", "50 Mbit/s")]
    return {
        "duration": "5 s",
        "link": [
            {"from": a, "to": b, "rate": rate, "delay": "5 ms", "buffer": "25 packets"}
            for a, b, rate in links
        ],
        "flow": [{"algorithm": "reno-classic", "from": "S", "to": "D"}],
    } | changes


SCENARIOS: Mapping[str, dict[str, Any]] = {
    "drop-tail losses and SACK": path(),
    "random losses both ways": path(
        bottleneck={"rate": "20 Mbit/s", "buffer": "60 packets", "loss": 0.002, "ack_loss": 0.02}
    ),
    "without SACK and timestamps": path(
        flow=[{"algorithm": "newreno", "rtt": "40 ms", "timestamps": False, "bytes": "3 MB"}]
    ),
    "a queue that marks": path(
        bottleneck={"rate": "20 Mbit/s", "buffer": "60 packets", "queue": {"kind": "codel", "ecn": True}},
        flow=[
            {"algorithm": "cubic", "rtt": "40 ms", "ecn": True},
            {"algorithm": "reno-classic", "rtt": "20 ms"},
        ],
    ),
    "accurate feedback": path(
        bottleneck={"rate": "20 Mbit/s", "buffer": "100 packets", "queue": "dualpi2"},
        flow=[{"algorithm": "prague", "rtt": "20 ms"}, {"algorithm": "cubic", "rtt": "20 ms", "ecn": True}],
    ),
    "DCTCP": path(
        bottleneck={"rate": "20 Mbit/s", "buffer": "60 packets", "queue": {"kind": "codel", "ecn": True}},
        flow=[{"algorithm": "dctcp", "rtt": "20 ms"}],
    ),
    "an explicit header": path(
        bottleneck={"rate": "20 Mbit/s", "buffer": "60 packets", "router": "xcp", "loss": 1e-3},
        flow=[{"algorithm": "xcp", "rtt": "40 ms"}],
    ),
    "over UDP": path(
        flow=[{"algorithm": "udt", "rtt": "40 ms"}, {"algorithm": "cubic", "rtt": "40 ms", "start": "1 s"}]
    ),
    "both directions and background": path(
        flow=[
            {"algorithm": "cubic", "rtt": "40 ms"},
            {"algorithm": "bbr", "rtt": "30 ms", "direction": "reverse", "start": "0.5 s"},
        ],
        background=[{"kind": "web", "rtt": "50 ms", "sessions": 5}],
    ),
    "jitter and reordering": path(
        bottleneck={
            "rate": "20 Mbit/s",
            "buffer": "40 packets",
            "jitter": "1 ms",
            "reorder": {"probability": 0.01, "delay": "5 ms"},
        }
    ),
}


def tshark(file: Path, *arguments: str) -> list[str]:
    """The lines that tshark prints for a capture."""
    command = ["tshark", "-r", str(file), *CHECKSUMS, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cut short" not in done.stderr, done.stderr
    return done.stdout.splitlines()


def counted(file: Path, shown: str, field: str = "ip.src") -> Counter[str]:
    return Counter(tshark(file, "-Y", shown, "-T", "fields", "-e", field))


def dissected(file: Path) -> list[dict[str, str]]:
    """What tshark says of each packet; a field that a packet lacks is empty."""
    fields = ["ip.src", "ip.dsfield.ecn", "tcp.len", "tcp.flags.syn", "udp.length", "frame.comment"]
    fields += SENT_AGAIN.split(" or ")
    lines = tshark(file, "-T", "fields", *(part for field in fields for part in ("-e", field)))
    return [dict(zip(fields, line.split("\t"), strict=True)) for line in lines]


def senders(result: longfat.Result) -> dict[str, dict[str, Any]]:
    """The flows of a run by their senders' addresses in a capture."""
    return {f"10.0.0.{i + 1}": flow for i, flow in enumerate(result.summary["flows"])}


@pytest.mark.parametrize("name", SCENARIOS)
def test_tshark_reads_whole_packets_without_complaint_and_counts_the_same(name: str, tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    result = longfat.run(SCENARIOS[name], capture=longfat.Capture(file, snaplen=0))
    told = result.summary["capture"]
    assert (told["complete"], told["bytes"]) == (True, file.stat().st_size)
    assert tshark(file, "-Y", WORRIES) == []
    packets = dissected(file)
    assert len(packets) == told["packets"]
    again = Counter(
        packet["ip.src"]
        for packet in packets
        if any(packet[sign] for sign in SENT_AGAIN.split(" or "))
        and packet["tcp.flags.syn"] in ("0", "False")
    )
    sent = Counter(
        packet["ip.src"] for packet in packets if packet["tcp.len"] not in ("", "0") or packet["udp.length"]
    )
    for address, flow in senders(result).items():
        if flow["algorithm"] != "udt":
            counts = (again[address], sent[address])
            assert counts == (flow["retransmits"], flow["packets_sent"]), (name, address)
    comments = Counter(packet["frame.comment"] for packet in packets)
    links = {link["name"]: link for link in result.summary["links"]}
    assert comments["dropped: queue full"] == sum(link["dropped_full"] for link in links.values())
    assert comments["lost on the link"] == sum(link["packets_lost"] for link in links.values())
    marked = sum(link["packets_marked"] for link in links.values())
    seen = sum(packet["ip.dsfield.ecn"] == "3" for packet in packets)
    assert (comments["marked"], seen) == (marked, marked)


def test_what_tshark_calls_out_of_order_is_what_was_sent_a_second_time(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    longfat.run(SCENARIOS["drop-tail losses and SACK"], capture=file)
    fields = ("-T", "fields", "-e", "tcp.seq")
    sent = Counter(tshark(file, "-Y", "tcp.len > 0", *fields))
    early = Counter(tshark(file, "-Y", "tcp.analysis.out_of_order", *fields))
    assert early
    assert all(sent[seq] > early[seq] for seq in early)


def test_each_link_is_an_interface_and_one_of_several_hops_can_be_captured_alone(tmp_path: Path) -> None:
    every, one = tmp_path / "every.pcapng", tmp_path / "one.pcapng"
    result = longfat.run(hops(), capture=every)
    names = Counter(tshark(every, "-T", "fields", "-e", "frame.interface_name"))
    assert set(names) == {"S-A", "A-B", "B-D", "A-S", "B-A", "D-B"}
    for link in result.summary["links"][:3]:
        data = f"frame.interface_name == {link['name']} and ip.src == 10.0.0.1"
        assert len(tshark(every, "-Y", data)) == link["packets_in"]
    longfat.run(hops(), capture=longfat.Capture(one, links=["S-A", "A-S"]))
    assert counted(one, SENT_AGAIN)["10.0.0.1"] == result.summary["flows"][0]["retransmits"] > 0


def test_a_capture_changes_nothing_and_is_the_same_again(tmp_path: Path) -> None:
    for scenario in SCENARIOS.values():
        plain = longfat.run(scenario)
        files = [tmp_path / f"{i}.pcapng" for i in range(2)]
        for file in files:
            run = longfat.run(scenario, capture=file)
            pandas.testing.assert_frame_equal(run.flows.to_pandas(), plain.flows.to_pandas())
            pandas.testing.assert_frame_equal(run.links.to_pandas(), plain.links.to_pandas())
            left_out = ("performance", "capture")
            assert {k: v for k, v in run.summary.items() if k not in left_out} == {
                k: v for k, v in plain.summary.items() if k not in left_out
            }
        assert files[0].read_bytes() == files[1].read_bytes()


def test_round_trip_times_are_those_of_the_sender(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    quiet = path(
        duration="3 s", flow=[{"algorithm": "cubic", "rtt": "40 ms", "max_window": 20, "delayed_ack": False}]
    )
    longfat.run(quiet, capture=file)
    answered = "tcp.analysis.ack_rtt and ip.dst == 10.0.0.1"
    rtts = [float(x) for x in tshark(file, "-Y", answered, "-T", "fields", "-e", "tcp.analysis.ack_rtt")]
    assert 0.0400 < min(rtts) < 0.0410
    assert max(rtts) < 0.060


def test_sequence_numbers_wrap(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    # the 55th flow begins 35 MB before the wrap
    flows = [
        {"algorithm": "cubic", "rtt": "10 ms", "bytes": "1 kB", "count": 54},
        {"algorithm": "cubic", "rtt": "10 ms", "bytes": "40 MB", "mss": "8948 B"},
    ]
    fast = path(bottleneck={"rate": "200 Mbit/s", "buffer": "100 packets"}, flow=flows)
    result = longfat.run(fast, capture=file)
    raw = [int(x) for x in tshark(file, "-Y", "tcp.len > 0", "-T", "fields", "-e", "tcp.seq_raw")]
    assert max(raw) > 2**32 - 9000 > 9000 > min(raw), "it wraps"
    again = counted(file, SENT_AGAIN)
    assert again["10.0.0.55"] == result.summary["flows"][54]["retransmits"] > 0
    assert tshark(file, "-Y", WORRIES) == []


def run_program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "longfat", "run", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    file = tmp_path / "scenario.toml"
    file.write_text(longfat.Scenario.from_dict(path()).to_toml())
    return str(file)


def test_a_disk_that_is_full_ends_the_capture_and_not_the_run(scenario: str, tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))  # Python ignores SIGXFSZ

    done = run_program(scenario, "--pcap", str(file), "--json", preexec_fn=little_room)
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    told = summary["capture"]
    assert not told["complete"]
    assert told["missing"] > 0
    assert done.stderr.count("\n") == 1
    assert f"warning: {file}: File too large; it holds" in done.stderr
    assert file.stat().st_size == told["bytes"] <= 200_000
    assert len(tshark(file)) == told["packets"] > 0
    assert summary["flows"] == longfat.run(scenario).summary["flows"]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_a_file_that_can_be_read(
    scenario: str, tmp_path: Path, end: signal.Signals
) -> None:
    file = tmp_path / "run.pcapng"
    command = [
        sys.executable,
        "-m",
        "longfat",
        "run",
        scenario,
        "--set",
        'duration="10 h"',
        "--pcap",
        str(file),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        until = time.monotonic() + 60
        while not (file.exists() and file.stat().st_size > 3_000_000):
            assert program.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        program.send_signal(end)
        _, said = program.communicate()
    reader = subprocess.run(["tshark", "-r", str(file)], capture_output=True, text=True)
    assert reader.stdout.count("\n") > 10_000
    complaints = [line for line in reader.stderr.splitlines() if "cut short" in line]
    # the system ends a process that is killed in the middle of what it writes, between two pages of the file
    assert (reader.returncode, len(complaints)) in ([(0, 0)] if end == signal.SIGINT else [(0, 0), (2, 1)])
    if end == signal.SIGINT:
        assert (program.returncode, said.count(f"interrupted; {file} has the packets up to now")) == (130, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--snaplen", "96"], "--snaplen cannot be used without --pcap FILE"),
        (["--pcap-link", "bottleneck"], "--pcap-link cannot be used without --pcap FILE"),
        (
            ["--pcap", "x.pcapng", "--repeats", "2"],
            "--pcap cannot be used with --repeats, since a capture is of one run",
        ),
        (
            ["--pcap", "x.pcapng", "--snaplen", "40"],
            "--snaplen 40: it is out of range; accepted: 80 to 65535 bytes, or 0",
        ),
        (
            ["--pcap", "x.pcapng", "--pcap-link", "b"],
            '--pcap-link b: there is no such link; accepted: ["bottleneck"',
        ),
        (
            ["--pcap", "no/such/x.pcapng"],
            "--pcap no/such/x.pcapng: No such file or directory; accepted: a file that",
        ),
        (["--pcap", "."], "--pcap .: Is a directory; accepted: a file that can be written"),
        (
            ["--pcap", "/dev/full"],
            "--pcap /dev/full: No space left on device; accepted: a file that can be written",
        ),
        (["--pcap", ""], '--pcap "" is an empty name; accepted: a file'),
    ],
)
def test_bad_input_gets_one_line(scenario: str, tmp_path: Path, arguments: list[str], said: str) -> None:
    done = run_program(scenario, *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x.pcapng").exists()


def test_a_capture_over_several_links_says_how_to_capture_each_packet_once(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(longfat.Scenario.from_dict(hops()).to_toml())
    done = run_program(str(file), "--pcap", str(tmp_path / "x.pcapng"))
    assert done.returncode == 0
    assert "to capture it once: --pcap-link S-A --pcap-link A-S" in done.stderr
    once = run_program(
        str(file), "--pcap", str(tmp_path / "x.pcapng"), "--pcap-link", "S-A", "--pcap-link", "A-S"
    )
    assert (once.returncode, once.stderr) == (0, "")


def test_a_link_that_there_is_not_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'^Capture: links: "b": there is no such link; '):
        longfat.run(path(), capture=longfat.Capture(tmp_path / "x.pcapng", links=["b"]))
    assert not (tmp_path / "x.pcapng").exists()
