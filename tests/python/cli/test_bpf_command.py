"""`longfat bpf`: what an object needs, and what its programs do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from live_runs import able, able_to_load, own_algorithms
from longfat import ebpf
from longfat.errors import InputError
from objects import SOURCES, compiled

__all__ = ["able", "able_to_load"]

ODD = """
#include "kernel_types.h"
extern void bbr_init(struct sock *sk) __ksym;
extern void frob(struct sock *sk) __ksym __attribute__((weak));
struct { __uint(type, 1); __uint(max_entries, 1); __type(key, u32); __type(value, u32); } counts SEC(".maps");
SEC("struct_ops") void BPF_PROG(begin, struct sock *sk) { bbr_init(sk); if (frob) frob(sk); }
SEC("struct_ops") u32 BPF_PROG(half, struct tcp_sock *tp) {
    u32 key = 0;
    bpf_map_lookup_elem(&counts, &key);
    bpf_ktime_get_ns();
    return tp->snd_cwnd / 2;
}
SEC("struct_ops") void BPF_PROG(grow, struct tcp_sock *tp) { tp->snd_cwnd += 1; }
SEC(".struct_ops.link") struct tcp_congestion_ops odd = { .name = "odd", .init = (void *)begin,
    .ssthresh = (void *)half, .undo_cwnd = (void *)half, .cong_avoid = (void *)grow };
char _license[] SEC("license") = "GPL";
"""


def longfat(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longfat", "bpf", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def hstcp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(SOURCES / "lf_hstcp.c", tmp_path_factory.mktemp("hstcp") / "lf_hstcp.bpf.o")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd.c").write_text(ODD)
    return compiled(folder / "odd.c", folder / "odd.bpf.o")


def test_a_check_names_everything_that_an_object_needs_and_what_of_it_is_missing(odd: Path) -> None:
    found = ebpf.check(odd)
    needs = {(need["kind"], need["name"]): (need["here"], need["optional"]) for need in found["needs"]}
    assert needs["kfunc", "bbr_init"] == (False, False)
    assert needs["kfunc", "frob"] == (False, True)
    assert needs["helper", "bpf_map_lookup_elem"] == (True, False)
    assert needs["helper", "bpf_ktime_get_ns"] == (True, False)
    assert needs["map", "counts (type 1)"] == (True, False)
    assert needs["field", "struct tcp_sock.snd_cwnd"] == (True, False)
    assert found["problem"] == "kfunc bbr_init: not available here; Linux offers it since 5.13"
    assert found["usable"] is False


def test_an_object_that_cannot_run_ends_the_check_with_exit_code_2_and_its_reason(odd: Path) -> None:
    ended = longfat("check", odd)
    assert ended.returncode == 2, ended.stderr
    assert "simulator: no: kfunc bbr_init: not available here" in ended.stdout
    assert "kfuncs that are missing in the simulator: bbr_init" in ended.stdout
    assert "kfuncs that it does without in the simulator: frob" in ended.stdout


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_a_check_asks_the_kernel_and_leaves_nothing_in_it(hstcp: Path) -> None:
    before = own_algorithms("lf_hstcp")
    ended = longfat("check", hstcp, "--json")
    assert ended.returncode == 0, ended.stderr
    (algorithm,) = json.loads(ended.stdout)["algorithms"]
    assert (algorithm["name"], algorithm["kernel"], algorithm["problem"]) == ("lf_hstcp", "yes", None)
    assert {"ssthresh", "undo_cwnd", "cong_avoid"} <= set(algorithm["callbacks"])
    assert own_algorithms("lf_hstcp") <= before


def test_where_the_kernel_cannot_be_asked_an_object_is_still_usable(
    hstcp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = ("unknown", "registering a kernel algorithm needs root")
    monkeypatch.setattr("longfat.verifier.ask", lambda *_: answer)
    found = ebpf.check(hstcp)
    assert (found["algorithms"][0]["kernel"], found["usable"]) == ("unknown", True)
    assert "needs root" in found["algorithms"][0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "nowhere.bpf.o"), "nowhere.bpf.o: there is no such file"),
        (("check", "lf_hstcp.o"), "accepted: file.bpf.o, or file.bpf.o:NAME"),
        (("check", "{hstcp}:cubic"), "no congestion control cubic; the object has lf_hstcp"),
        (("trace", "{hstcp}:cubic"), "no congestion control cubic; the object has lf_hstcp"),
        (("trace", "{hstcp}", "--callback", "grow"), "lf_hstcp has no callback grow; accepted: ssthresh, "),
        (("trace", "{hstcp}", "--rate", "fast"), 'bottleneck.rate = "fast"'),
    ],
)
def test_bad_input_is_one_line_with_exit_code_2(arguments: tuple[str, ...], says: str, hstcp: Path) -> None:
    ended = longfat(*(text.format(hstcp=hstcp) for text in arguments))
    assert ended.returncode == 2
    assert says in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_file_that_is_no_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bpf.o").write_bytes(b"\x7fELF\x02\x02" + bytes(60))
    with pytest.raises(InputError, match=r"x\.bpf\.o: a big-endian object"):
        ebpf.check(tmp_path / "x.bpf.o")


def test_a_trace_shows_each_callback_with_its_arguments_and_the_window_around_it(hstcp: Path) -> None:
    ended = longfat("trace", hstcp, "--duration", "2 s", "--callback", "set_state", "--callback", "ssthresh")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if "set_state(Recovery)" in line)
    # the threshold is asked for before the state changes, and takes effect between the two
    before, asked = lines[first - 1].split(maxsplit=2)[1:]
    assert asked.strip().startswith("ssthresh() = ") or "ssthresh() = " in lines[first - 1]
    assert before.endswith("/-"), "there was none in slow-start"
    reduced = lines[first - 1].rpartition(" = ")[2]
    assert f"/{reduced} " in lines[first]


def test_a_trace_in_json_has_the_samples_and_tells_what_it_leaves_out(hstcp: Path) -> None:
    ended = longfat("trace", hstcp, "--duration", "1 s", "--callback", "pkts_acked", "--most", "3", "--json")
    document = json.loads(ended.stdout)
    assert document["name"] == "lf_hstcp"
    assert len(document["callbacks"]) == 3
    assert document["total"] > 3
    for entry in document["callbacks"]:
        assert entry["callback"] == "pkts_acked"
        assert entry["sample"]["rtt_us"] >= 40_000
        assert entry["sample"]["pkts_acked"] >= 1
        assert entry["cwnd_before"] <= entry["cwnd_after"]
    times = [entry["time_s"] for entry in document["callbacks"]]
    assert times == sorted(times)


def test_the_guides_algorithm_compiles_and_is_taken_as_the_guide_says(tmp_path: Path) -> None:
    page = (SOURCES.parent / "docs" / "guide" / "ebpf.md").read_text()
    source, scenario = (page.split(f"```{kind}\n")[1].partition("```")[0] for kind in ("c", "toml"))
    (tmp_path / "vmlinux.h").write_text('#include "kernel_types.h"\n')
    (tmp_path / "mine.bpf.c").write_text(source)
    (tmp_path / "mine.toml").write_text(scenario)
    mine = compiled(tmp_path / "mine.bpf.c", tmp_path / "mine.bpf.o")
    found = ebpf.check(mine)
    assert [(each["name"], each["problem"]) for each in found["algorithms"]] == [("mine", None)]
    listed = page.partition("mine.bpf.o: license")[2].partition("## Watch it")[0]
    assert all(need["name"] in listed for need in found["needs"])
    shown = [line for line in page.splitlines() if line.endswith(" ssthresh() = 95")]
    ended = longfat("trace", mine, "--callback", "ssthresh", "--most", "1")
    assert ended.stdout.splitlines() == [line.removeprefix("    ") for line in shown]
    assert longfat_run(tmp_path / "mine.toml").returncode == 0


def longfat_run(file: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "longfat",
        "run",
        str(file),
        "--set",
        "duration=11 s",
        "--window",
        "1 s,11 s",
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_two_flows_of_a_trace_are_told_apart(hstcp: Path) -> None:
    flows = [{"rtt": "40 ms"}, {"rtt": "40 ms", "start": "0.5 s"}]
    scenario = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"}, "flow": flows}
    traced = ebpf.trace(hstcp, None, scenario, 10_000, ("init",))
    assert [entry["flow"] for entry in traced.entries] == ["1", "2"]


def test_a_trace_does_not_change_the_run(hstcp: Path) -> None:
    flow = {"rtt": "40 ms", "stack": "linux"}
    scenario = {"duration": "3 s", "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"}, "flow": [flow]}
    some, all_of_them = (ebpf.trace(hstcp, None, scenario, most) for most in (1, 100_000))
    assert some.total == all_of_them.total == len(all_of_them.entries)
    assert some.summary["flows"] == all_of_them.summary["flows"]
