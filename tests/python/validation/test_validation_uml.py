import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import longfat

UML = Path(__file__).resolve().parents[3] / "validation" / "uml"
sys.path.insert(0, str(UML))

import compare  # noqa: E402
import figures  # noqa: E402
import machine  # noqa: E402

CASE = compare.cases()[0]


def sawtooth():
    """From 10 to 19 segments in nine seconds, two seconds of recovery, and again; a loss leaves 9."""
    cwnd = [*range(10, 20), 15, 15] * 3
    reducing = ([False] * 10 + [True] * 2) * 3
    n = len(cwnd)
    arrays = [np.array(column, dtype=float) for column in (range(n), cwnd, [9] * n, [0.1] * n)]
    return figures.Trace(*arrays, reducing=np.array(reducing))


def test_a_sawtooth_has_the_backoff_growth_and_mean_that_it_was_drawn_with():
    seen = figures.figures(sawtooth(), 0.0, 36.0)
    assert seen.backoff == pytest.approx(9 / 19)
    assert seen.growth == pytest.approx(1.0)
    assert seen.events == pytest.approx(60 * 3 / 36)
    assert seen.mean_cwnd == pytest.approx((145 + 30) / 12)
    assert seen.srtt_ms == pytest.approx(100.0)


def test_a_second_loss_within_a_recovery_counts_as_an_event_but_not_as_a_backoff_of_the_window():
    trace = sawtooth()
    trace.ssthresh[11] = 5.0
    seen = figures.figures(trace, 0.0, 24.0)
    assert seen.events == pytest.approx(60 * 3 / 24)
    assert seen.backoff == pytest.approx(9 / 19)


def test_a_window_without_losses_has_a_mean_but_no_backoff():
    seen = figures.figures(sawtooth(), 0.0, 9.0)
    assert (seen.backoff, seen.growth, seen.events) == (None, None, 0.0)
    assert seen.mean_cwnd == pytest.approx(14.0)


def test_the_kernels_states_cwr_recovery_and_loss_are_reductions(tmp_path):
    samples = [[1e6 * t, state, 10, 20, 150_000, 0, 0, 0, 0] for t, state in enumerate([0, 1, 2, 3, 4, 0])]
    (tmp_path / "trace.json").write_text(json.dumps({"samples": samples}))
    trace = figures.of_kernel(tmp_path)
    assert trace.reducing.tolist() == [False, False, True, True, True, False]
    assert trace.srtt_s[0] == pytest.approx(0.15)


def test_standard_tcp_on_the_thin_path_halves_its_window():
    result = longfat.run({**CASE.scenario(), "duration": "30 s"})
    seen = figures.figures(figures.of_longfat(result), 10.0, 30.0)
    # the path holds 165 packets and one segment's growth a round trip of up to 160 ms is 6 to 10 a second
    assert seen.backoff == pytest.approx(0.5, abs=0.01)
    assert 130 < seen.mean_cwnd < 270


def row(kernel, ours, explanation=None):
    return compare.Row(CASE, "growth", kernel, ours, explanation)


def test_a_ratio_beyond_ten_percent_needs_an_explanation():
    assert row(10.0, 10.9).agrees
    assert not row(10.0, 11.1).agrees
    assert row(10.0, 11.1).cells()[-1] == "NOT EXPLAINED"
    assert row(10.0, 11.1, "because").cells()[-1] == "because"
    assert row(10.0, 10.9, "because").cells()[-1] == ""


def test_a_figure_that_only_one_side_has_does_not_agree():
    assert not row(None, 0.5).agrees
    assert not row(0.5, None).agrees
    assert not row(0.0, 0.5).agrees
    assert row(None, None).agrees
    assert row(0.0, 0.0).agrees


def test_one_event_more_or_less_is_a_matter_of_phase_and_two_are_not():
    # 100 s are watched: an event is 0.6 a minute
    events = [compare.Row(CASE, "events", 2.4, ours, None).agrees for ours in (3.0, 1.8, 3.6, 1.2)]
    assert events == [True, True, False, False]
    assert not compare.Row(CASE, "events", 24.0, 27.0, None).agrees


def test_every_explanation_is_of_a_case_and_a_figure_that_exist():
    known = {(case.network.name, case.module) for case in compare.cases()}
    for network, module, figure in compare.explanations():
        assert (network, module) in known
        assert figure in compare.SHOWN


def test_the_page_keeps_all_that_is_not_between_the_marks(tmp_path, monkeypatch):
    begin, end = compare.MARKS
    page = tmp_path / "page.md"
    page.write_text(f"before\n{begin}old\n{end}after\n")
    monkeypatch.setattr(compare, "PAGE", page)
    compare.write_page("new\n")
    compare.write_page("newer\n")
    assert page.read_text() == f"before\n{begin}\nnewer\n\n{end}after\n"


def test_the_documentation_has_the_marks():
    text = compare.PAGE.read_text()
    assert all(text.count(mark) == 1 for mark in compare.MARKS)


def test_a_missing_program_is_named_with_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(machine.TOOLS, "no-such-program", "its-package")
    with pytest.raises(machine.MachineError, match=r"no-such-program.*apt install .*its-package"):
        machine.parts(tmp_path)


def fake_parts(folder, script):
    kernel = folder / "kernel"
    kernel.write_text(f"#!/bin/sh\n{script}\n")
    kernel.chmod(0o755)
    (folder / "modules.dep").write_text("net/tcp_vegas.ko:\nnet/tcp_yeah.ko: net/tcp_vegas.ko\n")
    (folder / "modules.builtin").write_text("kernel/net/tcp_cubic.ko\n")
    return machine.Parts(str(kernel), "6.1", folder / "none.so", sys.executable, folder)


def test_a_module_comes_after_what_it_needs_and_a_built_in_one_not_at_all(tmp_path):
    parts = fake_parts(tmp_path, "")
    names = [Path(file).name for file in parts.module_files("tcp_yeah")]
    assert names == ["tcp_vegas.ko", "tcp_yeah.ko"]
    assert parts.module_files("tcp_cubic") == []
    with pytest.raises(machine.MachineError, match="no module tcp_none"):
        parts.module_files("tcp_none")


def run_fake(tmp_path, script, limit_s):
    machine.run_all(fake_parts(tmp_path, script), {"guest": {}}, tmp_path / "out", 1, limit_s)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_guest_that_takes_too_long_is_ended_with_all_that_it_has_started(tmp_path):
    script = f"for i in 1 2 3; do sleep 1000 & echo $! >>{tmp_path}/pids; done; wait"
    with pytest.raises(machine.MachineError, match="guest: still at work"):
        run_fake(tmp_path, script, 1.0)
    started = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(started) == 3
    assert not any(is_alive(pid) for pid in started)


def test_a_guest_that_fails_says_why_and_its_orphans_are_ended(tmp_path):
    script = f"sleep 1000 & echo $! >{tmp_path}/pid; echo guest: no such module"
    with pytest.raises(machine.MachineError, match="no such module"):
        run_fake(tmp_path, script, 30.0)
    assert not is_alive(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_virtual_time_stands_still_while_real_time_passes(tmp_path):
    clock = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(clock), str(UML / "clock.c")], check=True)
    (tmp_path / machine.START).touch()
    program = f"""
import time
before = time.monotonic()
time.sleep(0.02)
real = time.monotonic() - before
open({str(tmp_path / machine.START)!r}).close()
before = time.monotonic()
time.sleep(0.02)
print(real, time.monotonic() - before)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        env={**os.environ, "LD_PRELOAD": str(clock)},
        capture_output=True,
        text=True,
        check=True,
    )
    real_s, virtual_s = map(float, done.stdout.split())
    assert real_s >= 0.02
    assert 0.0 < virtual_s < 1e-5
