"""`--pcap` on the live backend: the routers' packets, which tshark reads and counts as the kernel does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from test_capture import SENT_AGAIN, WORRIES, tshark

import longfat
from live_runs import able, skip

__all__ = ["able"]

KERNEL_WORRIES = f"({WORRIES}) and not tcp.analysis.window_full and not tcp.checksum == 0xffff"
"""Without what kernels do: they fill a window, and write a checksum of 0xffff for 0 (CSUM_MANGLED_0)."""


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_tshark_counts_the_retransmissions_of_the_kernel_and_the_router_s_drops_and_marks(
    tmp_path: Path,
) -> None:
    if shutil.which("tshark") is None:
        skip("tshark is not installed (Debian: apt install tshark)")
    file = tmp_path / "live.pcapng"
    path = {
        "duration": "9 s",
        "bottleneck": {
            "rate": "20 Mbit/s",
            "buffer": "60 packets",
            # marks 9 packets on average and 5 at least in 200 simulated runs; with CoDel's own target 3 and 1
            "queue": {"kind": "codel", "ecn": True, "target": "1 ms", "interval": "20 ms"},
            "loss": 5e-4,
            "ack_loss": 0.01,
        },
        "flow": [
            {"name": "marked", "algorithm": "cubic", "rtt": "40 ms", "bytes": "6 MB", "ecn": True},
            {"name": "dropped", "algorithm": "reno", "rtt": "20 ms", "bytes": "6 MB"},
        ],
    }
    result = longfat.run(path, backend="live", capture=longfat.Capture(file, snaplen=0))
    told = result.summary["capture"]
    assert (told["complete"], told["missing"], told["bytes"]) == (True, 0, file.stat().st_size)
    assert tshark(file, "-Y", KERNEL_WORRIES) == []
    assert len(tshark(file)) == told["packets"]
    again = Counter(
        tshark(file, "-Y", f"({SENT_AGAIN}) and tcp.len > 0", "-T", "fields", "-e", "tcp.srcport")
    )
    assert sorted(again.values()) == sorted(flow["retransmits"] for flow in result.summary["flows"])
    comments = Counter(tshark(file, "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment"))
    links = result.summary["links"]
    assert comments["lost on the link"] == sum(link["packets_lost"] for link in links) > 0
    assert comments["marked"] == sum(link["packets_marked"] for link in links) > 0
    assert comments.total() == comments["marked"] + sum(
        link["packets_dropped"] + link["packets_lost"] for link in links
    )
    imported = longfat.read_capture(file).summary["flows"]
    ran = {flow["retransmits"]: flow for flow in result.summary["flows"]}
    for flow in imported:
        own = ran[flow["retransmits"]]
        assert flow["packets_sent"] == own["packets_sent"]
        assert flow["srtt_mean_s"] == pytest.approx(own["srtt_mean_s"], rel=0.15)  # a mean over other times
    interfaces = Counter(tshark(file, "-T", "fields", "-e", "frame.interface_name"))
    assert set(interfaces) == {"bottleneck", "reverse"}


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_segment_is_captured_before_the_kernel_s_answer_to_it(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        skip("tshark is not installed (Debian: apt install tshark)")
    file = tmp_path / "short.pcapng"
    # a host answers the receiver's FIN at once, within the call that hands it over
    short = {"algorithm": "reno", "rtt": "2 ms", "bytes": "10 kB"}
    flows = [{"name": f"flow {n}", "start": f"{10 * n} ms", **short} for n in range(200)]
    longfat.run(
        {"duration": "3 s", "bottleneck": {"rate": "50 Mbit/s"}, "flow": flows},
        backend="live",
        capture=longfat.Capture(file, snaplen=0),
    )
    assert len(tshark(file, "-Y", "tcp.flags.fin == 1")) >= 400
    assert tshark(file, "-Y", "tcp.analysis.ack_lost_segment") == []


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_disk_that_is_full_ends_a_live_capture_and_not_the_run(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        skip("tshark is not installed (Debian: apt install tshark)")
    scenario, small, kept = (tmp_path / name for name in ("path.toml", "small", "kept.pcapng"))
    scenario.write_text(
        'duration = "3 s"\n[bottleneck]\nrate = "20 Mbit/s"\n[[flow]]\nalgorithm = "cubic"\nrtt = "20 ms"\n'
    )
    small.mkdir()
    program = f"{sys.executable} -m longfat run {scenario} --backend live --json --pcap {small}/run.pcapng"
    keep = f"cp {small}/run.pcapng {kept}"
    mounted = f"mount -t tmpfs -o size=200k small {small} && {program}; end=$?; {keep}; exit $end"
    alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    done = subprocess.run([*alone, "sh", "-c", mounted], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    told = summary["capture"]
    assert not told["complete"]
    assert told["missing"] > 0
    assert f"warning: {small}/run.pcapng: No space left on device; it holds" in done.stderr
    assert kept.stat().st_size == told["bytes"] <= 200 * 1024
    assert len(tshark(kept)) == told["packets"] > 0
    assert summary["flows"][0]["throughput_bps"] > 15e6


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_live_capture_that_cannot_be_written_is_refused_before_the_run() -> None:
    path = {
        "duration": "2 s",
        "bottleneck": {"rate": "20 Mbit/s"},
        "flow": [{"algorithm": "cubic", "rtt": "40 ms"}],
    }
    with pytest.raises(
        longfat.InputError,
        match=r": capture /no/such/folder/x\.pcapng: No such file or directory; accepted: a file",
    ):
        longfat.run(path, backend="live", capture="/no/such/folder/x.pcapng")


@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("peer", ["{peer}", "{peer6}"])
def test_the_packets_of_a_shell_s_command_are_captured_over_both_families(peer: str, tmp_path: Path) -> None:
    for program in ("tshark", "ping"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed (Debian: apt install tshark iputils-ping)")
    path, file = tmp_path / "path.toml", tmp_path / "ping.pcapng"
    path.write_text('[bottleneck]\nrate = "20 Mbit/s"\nrtt = "40 ms"\n')
    command = ["ping", "-c", "3", "-i", "0.2", peer]
    given = [sys.executable, "-m", "longfat", "shell", str(path), "--pcap", str(file), "--", *command]
    ended = subprocess.run(given, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "3 received" in ended.stdout
    assert tshark(file, "-Y", f"({WORRIES})") == []
    for link, kinds in (
        ("bottleneck", "icmp.type == 8 or icmpv6.type == 128"),
        ("reverse", "icmp.type == 0 or icmpv6.type == 129"),
    ):
        assert len(tshark(file, "-Y", f'frame.interface_name == "{link}" and ({kinds})')) == 3
