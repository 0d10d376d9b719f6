"""A kernel's eBPF congestion control as a flow's algorithm in the simulator."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.errors import AlgorithmError, InputError
from longfat.store import identity
from objects import SOURCES, compiled
from samples import in_lines

ENDLESS = """
#include "kernel_types.h"
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_cwnd / 2; }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(grow, struct tcp_sock *tp) { tp->snd_cwnd += 1; }
SEC("struct_ops") void BPF_PROG(hang, struct tcp_sock *tp) { volatile u32 *w = &tp->snd_cwnd; while (*w) ; }
#define OPS(NAME, AVOID) SEC(".struct_ops.link") struct tcp_congestion_ops NAME = { .name = #NAME, \\
    .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .cong_avoid = (void *)AVOID };
OPS(grows, grow)
OPS(hangs, hang)
char _license[] SEC("license") = "GPL";
"""


@pytest.fixture(scope="module")
def hstcp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(SOURCES / "lf_hstcp.c", tmp_path_factory.mktemp("hstcp") / "lf_hstcp.bpf.o")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    (folder / "two.c").write_text(ENDLESS)
    return compiled(folder / "two.c", folder / "two.bpf.o")


def scenario(algorithm: Any, flows: int = 1) -> dict[str, Any]:
    return {
        "duration": "20 s",
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "100 % BDP"},
        "flow": [{"algorithm": algorithm, "rtt": "40 ms"} for _ in range(flows)],
    }


def test_an_object_does_what_the_native_algorithm_does(hstcp: Path) -> None:
    mine, native = (longfat.run(scenario(name)).summary["flows"][0] for name in (str(hstcp), "hstcp"))
    assert mine["throughput_bps"] == pytest.approx(native["throughput_bps"], rel=0.01)
    assert mine["cwnd_mean"] == pytest.approx(native["cwnd_mean"], rel=0.03)


def test_the_same_object_and_seed_give_the_same_summary(hstcp: Path) -> None:
    first, second = (longfat.run(scenario(str(hstcp), 2)) for _ in range(2))
    assert first.summary["flows"] == second.summary["flows"]
    assert first.summary["links"] == second.summary["links"]


def test_a_run_is_stored_under_the_digest_of_its_object(hstcp: Path, tmp_path: Path) -> None:
    copy = tmp_path / "lf_hstcp.bpf.o"
    copy.write_bytes(hstcp.read_bytes())
    key = identity.run_key(longfat.Scenario.from_dict(scenario(str(hstcp))))
    assert identity.run_key(longfat.Scenario.from_dict(scenario(str(copy)))) == key


def test_an_object_with_several_asks_for_a_name(two: Path) -> None:
    with pytest.raises(
        InputError, match=r"two\.bpf\.o: several congestion controls, grows, hangs; choose one"
    ):
        longfat.run(scenario(str(two)))
    with pytest.raises(InputError, match="no congestion control cubic; the object has grows, hangs"):
        longfat.run(scenario(f"{two}:cubic"))
    assert longfat.run(scenario(f"{two}:grows")).summary["flows"][0]["throughput_bps"] > 1e6


def test_a_program_that_does_not_end_ends_the_run_with_its_place(two: Path) -> None:
    with pytest.raises(
        AlgorithmError, match=r"cong_avoid: hang, instruction \d+: it ran longer than its budget"
    ):
        longfat.run(scenario(f"{two}:hangs"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not an eBPF object: no ELF header"),
        (b"\x7fELF\x02\x02" + bytes(60), "a big-endian object"),
    ],
)
def test_a_file_that_is_no_object_is_refused_in_one_line_before_the_run(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "x.bpf.o").write_bytes(content)
    file = tmp_path / "x.toml"
    file.write_text(
        'duration = "1 s"\n[bottleneck]\nrate = "1 Mbit/s"\nbuffer = "10 packets"\n'
        '[[flow]]\nalgorithm = "x.bpf.o"\nrtt = "10 ms"\n'
    )
    command = [sys.executable, "-m", "longfat", "run", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2
    assert reason in ended.stderr
    assert len(in_lines(ended.stderr.strip()).splitlines()) == 1


def test_an_object_takes_no_parameter_but_its_pacing(hstcp: Path) -> None:
    with pytest.raises(
        InputError, match="gain: an eBPF object takes no such parameter; accepted: pacing_ca_ratio"
    ):
        longfat.run(scenario({"name": str(hstcp), "gain": 2}))


def test_an_object_on_another_host_than_linux_gets_a_suggestion(hstcp: Path) -> None:
    other, linux = scenario(str(hstcp)), scenario(str(hstcp))
    linux["flow"][0]["stack"] = "linux"
    notes, none = (longfat.Scenario.from_dict(each).notes() for each in (other, linux))
    assert none == []
    assert len(notes) == 1
    assert 'suggested: stack = "linux"' in notes[0]
