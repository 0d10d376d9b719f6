"""Whatever ends a live run, nothing of it is left."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from live_runs import (
    ROOT,
    Left,
    able,
    able_to_load,
    as_root,
    begun,
    command,
    elsewhere,
    live,
    namespaces,
    own_algorithms,
    skip,
    started,
)

__all__ = ["able", "able_to_load", "as_root"]

pytestmark = pytest.mark.kernel("ltcp")


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_a_run_with_data_in_flight_nothing_is_left(end: signal.Signals, tmp_path: Path) -> None:
    file, out = tmp_path / "long.toml", tmp_path / "out"
    web = {"kind": "web", "sessions": 20, "gap": "0.1 s", "algorithm": "cubic", "rtt": "400 ms"}
    flows = [{"algorithm": "ltcp", "rtt": "400 ms"}, {"algorithm": "ltcp", "rtt": "40 ms"}]
    file.write_text(live(60, flow=flows, background=[web]).to_toml())
    devices, others = os.listdir("/sys/class/net"), own_algorithms("lf_ltcp")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with started(command(file, "--out", out), **pipes) as process:
        left = Left(begun(process.pid))
        names = own_algorithms("lf_ltcp") - others
        assert len(left.names) >= 2
        assert left()
        assert names
        assert os.listdir("/sys/class/net") == devices
        time.sleep(1.0)  # windows have grown
        process.send_signal(end)
        _, err = process.communicate(timeout=10)
    assert process.returncode in (-end, 128 + end)
    assert left.in_a_while() == []
    assert not names & own_algorithms("lf_ltcp")
    assert os.listdir("/sys/class/net") == devices
    if end == signal.SIGINT:
        assert "nothing was written" in err
        assert not out.exists()


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_a_worker_that_is_killed_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(live(60, flow=[{"algorithm": "ltcp", "rtt": "400 ms"}]).to_toml())
    with started(command(file), stderr=subprocess.PIPE) as process:
        left = Left(begun(process.pid))
        os.kill(int(left.worker.name), signal.SIGKILL)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "ended early" in err
    assert left.in_a_while() == []


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_the_look_for_what_is_left_sees_what_only_the_kernel_holds() -> None:
    """Here a socket alone holds a namespace that no process is in."""
    script = (
        "import ctypes, os, socket, sys; home = os.open('/proc/self/ns/net', os.O_RDONLY);"
        "ctypes.CDLL(None).unshare(0x40000000); kept = socket.socket();"
        "print(os.readlink('/proc/self/ns/net'), flush=True);"
        "sys.stdin.readline(); ctypes.CDLL(None).setns(home, 0x40000000); print('', flush=True);"
        "sys.stdin.readline(); kept.close(); print('', flush=True); sys.stdin.readline()"
    )
    if os.geteuid() != 0:
        skip("needs root")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(["python3", "-c", script], **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        left = Left(Path(f"/proc/{process.pid}"))
        assert left.names == {name}
        if not left.handles[0].size:
            skip("handles of namespaces need Linux 6.18")
        for is_there in (True, False):
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            assert name not in namespaces(Path(f"/proc/{process.pid}"))
            found = "a namespace that something in the kernel holds" in left.in_a_while(2.0 * (not is_there))
            assert found == is_there


@pytest.mark.live
@pytest.mark.usefixtures("as_root")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    file, small = tmp_path / "short.toml", tmp_path / "small"
    file.write_text(live(0.5).to_toml())
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(small)], capture_output=True
    )
    if mounted.returncode:
        skip(mounted.stderr.decode())
    try:
        ended = subprocess.run(command(file, "--out", small / "out"), capture_output=True, text=True)
        assert ended.returncode == 1
        assert "No space left" in ended.stderr
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_a_program_that_the_verifier_rejects_is_a_line_and_leaves_only_its_log(tmp_path: Path) -> None:
    if not shutil.which("clang"):
        skip("clang is missing (Debian: apt install clang)")
    objects, out = tmp_path / "objects", tmp_path / "out"
    objects.mkdir()
    source = ROOT / "crates/bpf-loader/tests/rejected.c"
    flags = ["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wno-unused-function", "-c", f"-I{ROOT / 'bpf'}"]
    subprocess.run(["clang", *flags, str(source), "-o", str(objects / "lf_ltcp.o")], check=True)
    file = tmp_path / "short.toml"
    file.write_text(live(1, flow=[{"algorithm": "ltcp", "rtt": "40 ms"}]).to_toml())
    before = own_algorithms("lf_ltcp")
    ended = elsewhere(
        [f"mount --bind {objects} {ROOT / 'bpf/out'}"],
        command(file, "--out", out),
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    (log,) = (path for path in tmp_path.iterdir() if path.name not in ("objects", "short.toml"))
    for word in (str(file), "lf_ltcp", "verifier", str(log)):
        assert word in ended.stderr
    assert (log.name.startswith("lf_ltcp-"), log.suffix) == (True, ".log")
    assert own_algorithms("lf_ltcp") <= before
