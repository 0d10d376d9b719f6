"""The live backend, for real where this machine can; a few seconds in all."""

import contextlib
import json
import os
import pickle
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longfat
from longfat import registry
from longfat.errors import InputError
from longfat.live import compare, doctor, doubts, run
from longfat.scenario import Scenario
from samples import scenario

LIVE: dict[str, Any] = {
    "bottleneck.rate": "10 Mbit/s",
    "bottleneck.buffer": "100 % BDP",
    "flow": [{"algorithm": "cubic", "rtt": "40 ms"}],
}


def live(seconds: float, **more: Any) -> Scenario:
    return scenario(LIVE | more, duration=f"{seconds} s")


@pytest.fixture(scope="session")
def able() -> None:
    lacking = [item for item in doctor.examine() if item["needed"] and not item["ok"]]
    if lacking:
        pytest.skip(f"{lacking[0]['name']}: {lacking[0]['found']}")


def workers() -> list[Path]:
    """Processes of live runs, in /proc."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"longfat.live.worker" in (entry / "cmdline").read_bytes():
                found.append(entry)
        except OSError:
            continue  # it has ended meanwhile
    return found


def namespaces(process: Path) -> set[str]:
    """The network namespaces that a process is in, or holds open."""
    links = [process / "ns" / "net"]
    with contextlib.suppress(OSError):
        links += list((process / "fd").iterdir())
    targets = set()
    for link in links:
        with contextlib.suppress(OSError):
            targets.add(os.readlink(link))
    return {target for target in targets if target.startswith("net:")}


def begun(own: int) -> Path:
    """The worker of a run that was started, once it has both namespaces and is under way."""
    for _ in range(100):
        found = [each for each in workers() if f"\0{own}\0" in (each / "cmdline").read_text()]
        if found and len(namespaces(found[0])) >= 2:
            time.sleep(0.5)
            return found[0]
        time.sleep(0.1)
    return pytest.fail("no worker was seen with two namespaces")


def gone(worker: Path, held: set[str]) -> bool:
    """Whether a worker has ended, and no process is in its namespaces or holds one, within a few seconds."""
    for _ in range(50):
        spaces = {space for entry in Path("/proc").glob("[0-9]*") for space in namespaces(entry)}
        mounted = Path("/proc/self/mountinfo").read_text()
        if not worker.exists() and not held & spaces and not any(space in mounted for space in held):
            return True
        time.sleep(0.1)
    return False


def command(file: Path, *more: object) -> list[str]:
    return [sys.executable, "-m", "longfat", "run", str(file), "--backend", "live", *map(str, more)]


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_live_run_gives_what_a_simulated_one_does_and_says_whether_it_is_valid() -> None:
    chosen = live(3)
    simulated, real = longfat.run(chosen), longfat.run(chosen, backend="live")
    assert real.summary["backend"] == "live"
    assert set(real.summary) == set(simulated.summary) | {"validity"}
    for key in ("flows", "links"):
        assert [set(each) for each in real.summary[key]] == [set(each) for each in simulated.summary[key]]
        assert getattr(real, key).schema == getattr(simulated, key).schema
    assert real.summary["links"][0]["utilization"] == pytest.approx(0.97, abs=0.03)
    validity = real.summary["validity"]
    assert validity["valid"] == all(check["ok"] for check in validity["checks"])
    assert validity["congestion"] == {"1": "cubic"}
    assert validity["sysctls"]["net.ipv4.tcp_no_metrics_save"] == "1"
    assert pickle.loads(pickle.dumps(real)).summary["validity"] == validity


@pytest.mark.live
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_a_live_run_nothing_is_left(end: signal.Signals, tmp_path: Path) -> None:
    file, out = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(live(60).to_toml())
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    devices = os.listdir("/sys/class/net")
    with subprocess.Popen(command(file, "--out", out), **pipes) as process:
        worker = begun(process.pid)
        held = namespaces(worker) - namespaces(Path("/proc/self"))
        assert len(held) >= 2
        assert os.listdir("/sys/class/net") == devices
        process.send_signal(end)
        _, err = process.communicate(timeout=10)
    assert process.returncode in (-end, 130)
    assert gone(worker, held)
    assert os.listdir("/sys/class/net") == devices
    if end == signal.SIGINT:
        assert b"nothing was written" in err
        assert not out.exists()


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_an_algorithm_that_a_run_brings_into_the_kernel_goes_with_it(tmp_path: Path) -> None:
    item = next(each for each in doctor.examine() if each["name"] == "algorithm ltcp")
    if not item["ok"] or "lf_ltcp" in run.available():
        pytest.skip(item["remedy"] or "somebody holds lf_ltcp already")
    file = tmp_path / "long.toml"
    file.write_text(live(60, flow=[{"algorithm": "ltcp", "rtt": "40 ms"}]).to_toml())
    with subprocess.Popen(command(file), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        worker = begun(process.pid)
        held = namespaces(worker) - namespaces(Path("/proc/self"))
        assert "lf_ltcp" in run.available()
        process.kill()
    assert gone(worker, held)
    for _ in range(50):
        if "lf_ltcp" not in run.available():
            return
        time.sleep(0.1)
    pytest.fail("lf_ltcp is still registered")


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_the_hosts_own_network_is_left_alone() -> None:
    def state() -> str:
        asked = (["ip", "-o", "address"], ["ip", "route"])
        own = "".join(
            subprocess.run(each, capture_output=True, text=True, check=True).stdout for each in asked
        )
        return own + Path("/proc/sys/net/ipv4/tcp_no_metrics_save").read_text()

    before = state()
    longfat.run(live(0.3), backend="live")
    assert state() == before


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a small file system needs root")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4k", "longfat-test", str(small)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(mounted.stderr.decode())
    try:
        file = tmp_path / "short.toml"
        file.write_text(live(0.5).to_toml())
        ended = subprocess.run(command(file, "--out", small / "out"), capture_output=True, text=True)
        assert ended.returncode == 1
        assert "No space left" in ended.stderr
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_user_without_rights_can_run_the_kernels_own_algorithms(tmp_path: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"):
        pytest.skip("needs root, to become someone else, and util-linux")
    file, node = Path(tempfile.mkdtemp()) / "short.toml", tmp_path / "tun"
    file.parent.chmod(0o755)
    file.write_text(live(1).to_toml())
    os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(10, 200))
    node.chmod(0o666)  # as most systems have /dev/net/tun
    someone = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    script = f"mount --bind {node} /dev/net/tun && exec {shlex.join(someone + command(file, '--json'))}"
    try:
        ended = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, cwd="/")
    finally:
        shutil.rmtree(file.parent)
    if not ended.stdout and "longfat" not in ended.stderr:
        pytest.skip(ended.stderr)  # no Python for others here
    assert ended.stdout, ended.stderr
    assert json.loads(ended.stdout)["links"][0]["utilization"] > 0.8


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_compare_lays_both_over_each_other(tmp_path: Path) -> None:
    document = compare.run(live(3), 1, tmp_path / "out", ["test"])
    assert {"compare.json", "index.html", "figures"} == {path.name for path in (tmp_path / "out").iterdir()}
    rows = {(row["of"], row["quantity"]): row for row in document["differences"]}
    utilization = rows["link bottleneck", "utilization"]
    assert utilization["difference"] == pytest.approx(utilization["live"] / utilization["sim"] - 1.0)
    assert abs(utilization["difference"]) < 0.05
    labels = {curve["label"] for panel in document["figure"]["panels"] for curve in panel["curves"]}
    assert labels == {"sim", "live"}
    assert (
        json.loads((tmp_path / "out" / "compare.json").read_text())["differences"] == document["differences"]
    )


def test_the_backoff_factor_is_ssthresh_at_a_cut_over_the_window_before_it() -> None:
    inf = np.inf
    series = {
        "time_s": np.arange(10.0),
        "cwnd": np.array([10.0, 20.0, 40.0, 38.0, 25.0, 20.0, 22.0, 40.0, 20.0, 21.0]),
        "ssthresh": np.array([inf, inf, inf, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0]),
    }
    # the second cut leaves the same threshold as the first
    assert compare.backoffs(series) == pytest.approx([0.5, 0.5])
    assert compare.backoffs(series, (5.0, 9.0)) == pytest.approx([0.5])
    assert compare.backoffs(series, (0.0, 2.0)) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"flow": [{"algorithm": "xcp", "rtt": "40 ms"}]}, "flow.0.algorithm"),
        ({"flow": [{"algorithm": "udt", "rtt": "40 ms"}]}, "flow.0.algorithm"),
        ({"flow": [{"algorithm": "hstcp-lp", "rtt": "40 ms"}]}, "no form in the Linux kernel"),
        ({"flow": [{"algorithm": {"name": "hstcp", "low_window": 40}, "rtt": "40 ms"}]}, "low_window"),
        ({"flow": [{"algorithm": "cubic", "rtt": "40 ms", "host_tick": "1 ms"}]}, "flow.0.host_tick"),
        ({"flow": [{"algorithm": "cubic", "rtt": "40 ms", "sack": False}]}, "flow.0.sack"),
        ({"bottleneck.router": "xcp"}, "bottleneck.router"),
    ],
)
def test_what_no_kernel_does_is_refused_before_anything_is_run(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match="accepted") as refused:
        run.run(live(1, **changes))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_kernels_own_module_comes_before_our_form_of_it() -> None:
    assert run.kernel_name("hstcp", ["reno", "cubic"]) == "lf_hstcp"
    assert run.kernel_name("hstcp", ["reno", "highspeed"]) == "highspeed"
    assert run.kernel_name("ltcp", ["reno"]) == "lf_ltcp"
    assert run.kernel_name("sack", ["cubic"]) == "reno"


def test_a_failed_check_is_a_line_with_what_was_found_and_what_is_accepted() -> None:
    checks = [
        {"name": "lateness, s", "ok": False, "value": 0.02, "bound": 0.001},
        {"name": "drops", "ok": True, "value": 0.0, "bound": 0.0},
    ]
    assert doubts([{"seed": 3, "validity": {"valid": False, "checks": checks}}]) == [
        "seed 3 is not valid: lateness, s: 0.02, accepted up to 0.001"
    ]


def test_the_doctor_names_every_live_algorithm_and_a_remedy_for_what_is_missing() -> None:
    items = {item["name"]: item for item in doctor.examine()}
    named = {
        f"algorithm {row['name']}"
        for row in registry.rows("algorithms")
        if row.get("transport") == "tcp" and row["live"]
    }
    assert named <= set(items)
    for item in items.values():
        assert bool(item["remedy"]) != item["ok"], item
