"""A user's own eBPF object on this machine's own TCP: what runs, what is refused, and that nothing stays."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import longfat
from live_runs import (
    SOMEONE,
    Left,
    able,
    able_to_load,
    as_root,
    begun,
    command,
    elsewhere,
    live,
    opened_to_others,
    own_algorithms,
    reached_by_others,
    skip,
    started,
)
from longfat.errors import InputError
from longfat.live import check
from objects import SOURCES, compiled

__all__ = ["able", "able_to_load", "as_root"]

pytestmark = pytest.mark.kernel("objects")

SEVERAL = """
#include "kernel_types.h"
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_cwnd / 2; }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(grow, struct tcp_sock *tp) { tp->snd_cwnd += 1; }
SEC("struct_ops") void BPF_PROG(pace, struct tcp_sock *tp) {
    tp->snd_cwnd = 20;
    tp->snd_ssthresh = 10; // out of slow-start, whose ratio is another one
    tp->inet_conn.icsk_inet.sk.sk_pacing_status = 1;
}
SEC("struct_ops") void BPF_PROG(hang, struct tcp_sock *tp) { volatile u32 *w = &tp->snd_cwnd; while (*w) ; }
#define OPS(SECTION, NAME, AVOID, UNDO) SEC(SECTION) struct tcp_congestion_ops NAME = { .name = "h_" #NAME, \\
    .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)UNDO, .cong_avoid = (void *)AVOID };
OPS(".struct_ops", grows, grow, undo_cwnd)
OPS(".struct_ops", grows_beside, grow, undo_cwnd)
OPS(".struct_ops.link", paces, pace, undo_cwnd)
OPS(".struct_ops.link", hangs, hang, undo_cwnd)
OPS(".struct_ops.link", lacks, grow, 0)
char _license[] SEC("license") = "GPL";
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    (folder / "several.c").write_text(SEVERAL)
    return compiled(folder / "several.c", folder / "several.bpf.o")


def flow(algorithm: object, rtt: str = "40 ms") -> dict[str, object]:
    return {"algorithm": algorithm, "rtt": rtt, "stack": "linux"}


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_an_object_does_in_the_kernel_what_it_does_in_the_simulator(several: Path) -> None:
    # a segment for each acknowledgement: slow-start without an end, so losses are what the window stops at
    chosen = live(6, flow=[flow(f"{several}:h_grows")], window=["2 s", "6 s"])
    simulated, real = longfat.run(chosen), longfat.run(chosen, backend="live")
    assert real.summary["validity"]["congestion"]["1"].startswith("h_grows")
    flows = [each.summary["flows"][0] for each in (simulated, real)]
    assert flows[1]["throughput_bps"] == pytest.approx(flows[0]["throughput_bps"], rel=0.05)
    assert flows[1]["cwnd_mean"] == pytest.approx(flows[0]["cwnd_mean"], rel=0.15)


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_the_simulators_and_the_kernels_pacing_take_the_same_share_of_the_window(several: Path) -> None:
    # 20 segments each 100 ms at half of cwnd / srtt leave 1.2 Mbit/s of 2.4
    own = {"name": f"{several}:h_paces", "pacing_ca_ratio": 50}
    chosen = live(5, flow=[flow(own, "100 ms")], window=["2 s", "5 s"])
    simulated, real = longfat.run(chosen), longfat.run(chosen, backend="live")
    assert real.summary["validity"]["sysctls"]["net.ipv4.tcp_pacing_ca_ratio"] == "50"
    rates = [each.summary["flows"][0]["throughput_bps"] for each in (simulated, real)]
    assert rates[1] == pytest.approx(rates[0], rel=0.1)
    assert rates[0] == pytest.approx(1.2e6, rel=0.05)


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_the_run_the_object_is_not_registered_any_more(
    end: signal.Signals, several: Path, tmp_path: Path
) -> None:
    file = tmp_path / "long.toml"
    flows = [flow(f"{several}:h_grows", "400 ms"), flow(f"{several}:h_paces")]
    file.write_text(live(60, flow=flows).to_toml())
    before = own_algorithms("h_")
    with started(command(file), stderr=subprocess.PIPE, start_new_session=True) as process:
        left = Left(begun(process.pid))
        names = own_algorithms("h_") - before
        assert len(names) == 2
        time.sleep(1.0)  # windows have grown
        process.send_signal(end)
        process.communicate(timeout=10)
    assert process.returncode in (-end, 128 + end)
    assert left.in_a_while() == []
    assert not names & own_algorithms("h_")


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_a_run_that_ends_by_itself_leaves_nothing_of_the_object(several: Path) -> None:
    before = own_algorithms("h_")
    longfat.run(live(0.5, flow=[flow(f"{several}:h_grows")]), backend="live")
    assert own_algorithms("h_") <= before


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_a_name_that_the_kernel_has_gets_a_number(tmp_path: Path) -> None:
    text = SEVERAL.replace('"h_" #NAME', '"cubic"').replace("OPS(", "OPS(", 1)
    (tmp_path / "own.c").write_text(text)
    own = compiled(tmp_path / "own.c", tmp_path / "own.bpf.o")
    real = longfat.run(live(0.5, flow=[flow(f"{own}:grows")]), backend="live")
    assert real.summary["validity"]["congestion"] == {"1": "cubic_2"}


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_any_algorithm_of_the_running_kernel_is_live_by_its_name_and_the_simulator_says_so(
    several: Path, tmp_path: Path
) -> None:
    holder, by_name = tmp_path / "holder.toml", tmp_path / "by-name.toml"
    holder.write_text(live(30, flow=[flow(f"{several}:h_grows")]).to_toml())
    by_name.write_text(live(1).to_toml().replace('algorithm = "cubic"', 'algorithm = "h_grows"'))
    ended = subprocess.run(command(by_name), capture_output=True, text=True)
    assert ended.returncode == 2
    assert '"h_grows" is not an algorithm' in ended.stderr, "not yet"
    with started(command(holder)) as process:
        begun(process.pid)
        ended = subprocess.run(command(by_name, "--json"), capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        summary = json.loads(ended.stdout)
        assert summary["validity"]["congestion"] == {"1": "h_grows"}
        assert summary["flows"][0]["algorithm"] == "h_grows"
        assert summary["flows"][0]["cwnd_mean"] > 10
        simulated = subprocess.run(
            [sys.executable, "-m", "longfat", "run", str(by_name)], capture_output=True, text=True
        )
    assert simulated.returncode == 2
    (line,) = simulated.stderr.splitlines()
    assert 'flow.0.algorithm = "h_grows": the simulator lacks it, and this machine\'s kernel has it' in line
    assert "--backend live" in line


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_what_the_verifier_rejects_is_one_line_with_its_reason_and_log(several: Path, tmp_path: Path) -> None:
    file, out = tmp_path / "hangs.toml", tmp_path / "out"
    file.write_text(live(1, flow=[flow(f"{several}:h_hangs")]).to_toml())
    before = own_algorithms("h_")
    ended = subprocess.run(
        command(file, "--out", out),
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    (log,) = tmp_path.glob("h_hangs-*.log")
    for word in (str(file), "h_hangs", "verifier rejects program hang", "infinite loop", str(log)):
        assert word in ended.stderr
    assert not out.exists()
    assert own_algorithms("h_") <= before


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_a_user_without_rights_is_told_what_an_object_needs(several: Path, tmp_path: Path) -> None:
    own = shutil.copy(several, tmp_path / "own.bpf.o")
    file = tmp_path / "own.toml"
    file.write_text(live(1, flow=[flow(f"{own}:h_grows")]).to_toml())
    tun = tmp_path / "tun"
    os.mknod(tun, 0o666 | 0o020000, os.makedev(10, 200))
    for each in (file, Path(own), tun):
        each.chmod(0o666)
    with reached_by_others(tmp_path):
        mounts = [f"mount --bind {tun} /dev/net/tun", *opened_to_others(tmp_path / "stage")]
        ended = elsewhere(mounts, SOMEONE + command(file))
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert "h_grows: registering a kernel algorithm needs root" in ended.stderr


def test_objects_that_ask_for_different_pacing_are_refused(several: Path) -> None:
    flows = [flow({"name": f"{several}:h_paces", "pacing_ca_ratio": ratio}) for ratio in (50, 120)]
    with pytest.raises(
        InputError, match=r"mine: flow\.1\.algorithm\.pacing_ca_ratio: .*accepted: one for all"
    ):
        check.check(live(1, flow=flows), "mine")


@pytest.mark.parametrize("ratio", [0, 1001, 1.5, True, "100 %"])
def test_a_pacing_that_no_kernel_takes_is_refused(several: Path, ratio: object) -> None:
    own = {"name": f"{several}:h_paces", "pacing_ca_ratio": ratio}
    with pytest.raises(InputError, match=r"pacing_ca_ratio = .*; accepted: .* 1 to 1000"):
        live(1, flow=[flow(own)])


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "no ELF header"), (b"\x7fELF\x02\x02" + bytes(60), "a big-endian object")],
)
def test_a_file_that_is_no_object_is_refused_at_its_line_before_anything_runs(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "x.bpf.o").write_bytes(content)
    file = tmp_path / "x.toml"
    file.write_text(live(1).to_toml().replace('"cubic"', '"x.bpf.o"'))
    ended = subprocess.run(command(file, "--json"), capture_output=True, text=True)
    assert ended.returncode == 2
    assert reason in ended.stderr
    first, place, *_ = ended.stderr.splitlines()
    assert first.startswith("error: flow.0.algorithm: x.bpf.o: ")
    assert place.startswith(f"  --> {file}:")
    assert ended.stdout == ""


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_both_ends_of_an_object_that_needs_ecn_have_it(tmp_path: Path) -> None:
    if not shutil.which("clang"):
        skip("clang is missing (Debian: apt install clang)")
    own = compiled(SOURCES / "lf_dctcp.c", tmp_path / "lf_dctcp.bpf.o")
    marking = {"kind": "red", "min": "8 packets", "max": "9 packets", "max_p": 1.0, "weight": 1.0}
    queue = marking | {"ecn": True, "harddrop": False}
    file = tmp_path / "marked.toml"
    file.write_text(
        live(6, flow=[flow(str(own))], window=["2 s", "6 s"], **{"bottleneck.queue": queue}).to_toml()
    )
    ended = subprocess.run(command(file, "--json"), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    flow_of = json.loads(ended.stdout)["flows"][0]
    # marks alone hold the window: 33 segments are the path's own, 8 wait
    assert flow_of["retransmits"] == 0
    assert 30 < flow_of["cwnd_mean"] < 50
