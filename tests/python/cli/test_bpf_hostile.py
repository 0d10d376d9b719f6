"""An eBPF object made to crash its reader is refused, and at most ends the process that asks the kernel."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from live_runs import able, able_to_load
from longfat import ebpf, verifier
from longfat.errors import LongfatError
from objects import SOURCES, compiled

__all__ = ["able", "able_to_load"]

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "fuzz"))

import object_mutants

INTEGER, STRUCTURE = 1, 4
LATIN_1 = b"""
#include "kernel_types.h"
SEC("struct_ops") u32 BPF_PROG(half, struct tcp_sock *tp) { return tp->snd_cwnd / 2; }
SEC("struct_ops") u32 BPF_PROG(undo, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(grow, struct tcp_sock *tp) { tp->mss_cache = 1; /* \xab\x97\xbb */ }
SEC(".struct_ops.link") struct tcp_congestion_ops odd = { .name = "odd",
    .ssthresh = (void *)half, .undo_cwnd = (void *)undo, .cong_avoid = (void *)grow };
char _license[] SEC("license") = "GPL";
"""


@pytest.fixture(scope="module")
def hstcp(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compiled(SOURCES / "lf_hstcp.c", tmp_path_factory.mktemp("hstcp") / "lf_hstcp.bpf.o").read_bytes()


def with_word(file: bytes, at: int, word: int) -> bytes:
    changed = bytearray(file)
    struct.pack_into("<I", changed, at, word)
    return bytes(changed)


def check(folder: Path, file: bytes) -> ebpf.Check:
    path = folder / "changed.bpf.o"
    path.write_bytes(file)
    return ebpf.check(path)


def test_an_integer_of_no_bytes_is_refused_before_libbpf_divides_by_its_size(
    hstcp: bytes, tmp_path: Path
) -> None:
    place = next(place for place, kind, _ in object_mutants.types(hstcp) if kind == INTEGER)
    with pytest.raises(LongfatError, match=r"damaged BTF: type .*: an integer of 0 bytes"):
        check(tmp_path, with_word(hstcp, place + 8, 0))


def test_a_member_beyond_its_structure_is_refused_before_libbpf_reads_there(
    hstcp: bytes, tmp_path: Path
) -> None:
    structures = [
        place for place, kind, words in object_mutants.types(hstcp) if kind == STRUCTURE and words > 3
    ]
    for place in structures:
        with pytest.raises(LongfatError, match=r"damaged BTF: type .*: member .* ends behind its .* bytes"):
            check(tmp_path, with_word(hstcp, place + 20, 0xFFFFFFFF))


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_a_source_line_in_any_encoding_is_quoted_by_a_rejection(tmp_path: Path) -> None:
    (tmp_path / "odd.c").write_bytes(LATIN_1)
    found = ebpf.check(compiled(tmp_path / "odd.c", tmp_path / "odd.bpf.o"))
    (algorithm,) = found["algorithms"]
    assert algorithm["kernel"] == "no"
    assert "the kernel's verifier rejects program grow" in (algorithm["reason"] or "")


def fake_python(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Asks the kernel by this script in place of Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))


def test_an_object_that_ends_libbpf_leaves_the_command_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, monkeypatch, "kill -SEGV $$")
    answer = verifier.ask(tmp_path / "x.bpf.o", "odd", "odd")
    assert answer == ("no", "libbpf ended with SIGSEGV while it read the object")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("exit 0", ("yes", None)),
        ("printf 'odd: rejected'; exit 3", ("no", "odd: rejected")),
        ("printf 'odd: needs root'; exit 4", ("unknown", "odd: needs root")),
        (
            r"printf 'Traceback\nMemoryError\n' >&2; exit 1",
            ("unknown", "asking the kernel failed: MemoryError"),
        ),
    ],
)
def test_the_answer_of_the_process_that_asks_is_its_exit_code_and_one_line(
    script: str, expected: tuple[str, str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, monkeypatch, script)
    assert verifier.ask(tmp_path / "x.bpf.o", "odd", "odd") == expected


def test_the_process_that_asks_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "longfat").mkdir()
    (tmp_path / "longfat" / "__init__.py").write_text("open('imported', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    verifier.ask(tmp_path / "x.bpf.o", "odd", "odd")
    assert not (tmp_path / "imported").exists()


def test_a_kernel_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, monkeypatch, "exec sleep 600")
    monkeypatch.setattr(verifier, "LIMIT_S", 0.2)
    answer = verifier.ask(tmp_path / "x.bpf.o", "odd", "odd")
    assert answer == ("unknown", "the kernel did not answer within 0.2 s")


def test_changed_objects_are_refused_or_described(
    hstcp: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "ask", lambda *_: ("unknown", None))  # `fuzz/objects.py` asks
    drawn = random.Random(1)
    refusals: list[str] = []
    for _ in range(300):
        try:
            check(tmp_path, object_mutants.changed(hstcp, drawn))
        except LongfatError as error:
            refusals.append(str(error))
    assert 30 < len(refusals) < 300
    assert all(len(text.splitlines()) == 1 for text in refusals)


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_the_command_ends_with_2_for_an_object_that_the_kernel_rejects(tmp_path: Path) -> None:
    (tmp_path / "odd.c").write_bytes(LATIN_1)
    path = compiled(tmp_path / "odd.c", tmp_path / "odd.bpf.o")
    call = [sys.executable, "-m", "longfat", "bpf", "check", str(path)]
    ended = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "this kernel: no: odd: the kernel's verifier rejects" in ended.stdout
