"""The live backend, on this machine's own TCP."""

import json
import math
import os
import pickle
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import longfat
from live_runs import able, able_to_load, begun, command, live, started
from longfat import _core, installation
from longfat.crosscheck import crosscheck
from longfat.live import doctor, doubts, kernel
from longfat.scenario import registry

__all__ = ["able", "able_to_load"]


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
    utilizations = [each.summary["links"][0]["utilization"] for each in (simulated, real)]
    assert utilizations[1] == pytest.approx(utilizations[0], abs=0.1)  # other tests may run at the same time
    validity = real.summary["validity"]
    assert validity["valid"] == all(check["ok"] for check in validity["checks"])
    assert validity["congestion"] == {"1": "cubic"}
    assert validity["sysctls"]["net.ipv4.tcp_no_metrics_save"] == "1"
    assert pickle.loads(pickle.dumps(real)).summary["validity"] == validity


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_the_kernel_s_receivers_offer_no_more_than_max_window() -> None:
    # 12 and 60 segments in 40 ms are 3.5 and 17.4 Mbit/s of payload; the third flow takes what is left
    path = {"bottleneck.rate": "50 Mbit/s", "bottleneck.buffer": "50 packets"}
    flows = [
        {"algorithm": "cubic", "rtt": "40 ms", **keys}
        for keys in ({"max_window": 12}, {"max_window": 60}, {})
    ]
    real = longfat.run(live(6, **path, window=["2 s", "6 s"], flow=flows[:2]), backend="live")
    rates = [flow["goodput_bps"] for flow in real.summary["flows"]]
    assert rates == [pytest.approx(segments * 1448 * 8 / 0.04, rel=0.05) for segments in (12, 60)]
    assert all(flow["connected"] for flow in real.summary["flows"])
    held = [check for check in real.summary["validity"]["checks"] if "held back" in check["name"]]
    assert len(held) == 2
    assert all(check["ok"] for check in held)
    free = longfat.run(live(6, **path, window=["2 s", "6 s"], flow=[flows[0], flows[2]]), backend="live")
    slow, fast = (flow["goodput_bps"] for flow in free.summary["flows"])
    assert slow < 1.05 * 12 * 1448 * 8 / 0.04
    assert fast > 30e6


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_live_flow_with_an_end_shows_when_everything_had_arrived() -> None:
    real = longfat.run(
        live(3, flow=[{"algorithm": "cubic", "rtt": "40 ms", "bytes": "200 kB"}]), backend="live"
    )
    (flow,) = real.summary["flows"]
    assert flow["connected"] is True
    assert 0.16 < flow["delivered_s"] < flow["completed_s"] < 2.0
    assert math.isnan(real.flow("1")["srtt_s"][0])


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_runs_with_the_same_algorithm_at_the_same_time_have_it_under_names_of_their_own(
    tmp_path: Path,
) -> None:
    file = tmp_path / "htcp.toml"
    file.write_text(live(3, flow=[{"algorithm": "htcp", "rtt": "40 ms"}]).to_toml())
    with (
        started(command(file, "--json"), stdout=subprocess.PIPE) as first,
        started(command(file, "--json"), stdout=subprocess.PIPE) as second,
    ):
        summaries = [json.loads(each.communicate(timeout=60)[0]) for each in (first, second)]
    names = {summary["validity"]["congestion"]["1"] for summary in summaries}
    assert len(names) == 2
    assert all(name.startswith("lf_htcp") for name in names)
    for summary in summaries:
        assert summary["links"][0]["utilization"] > 0.7
        assert summary["flows"][0]["congestion_events"] > 0


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
def test_marks_keep_the_queue_of_dctcp_short_beside_a_flow_without_ecn() -> None:
    marking = {"kind": "red", "min": "8 packets", "max": "9 packets", "max_p": 1.0, "weight": 1.0}
    flows = [{"algorithm": "dctcp", "rtt": "40 ms"}, {"algorithm": "cubic", "rtt": "40 ms", "start": "5 s"}]
    queue = marking | {"ecn": True, "harddrop": False}
    real = longfat.run(
        live(5.5, flow=flows, window=["2 s", "5 s"], **{"bottleneck.queue": queue}), backend="live"
    )
    names = real.summary["validity"]["congestion"]
    assert names["1"].startswith(("dctcp", "lf_dctcp"))
    assert names["2"] == "cubic"
    flow, series = real.summary["flows"][0], real.flow("1")
    assert flow["retransmits"] == 0
    assert flow["throughput_bps"] > 9e6
    # 33 packets are the path's own; without marks there would be 66, and with the echo of RFC 3168 a mark
    # would halve the window
    cwnd = series["cwnd"][(series["time_s"] > 3.0) & (series["time_s"] < 5.0)]
    assert cwnd.min() > 30
    assert cwnd.max() < 50


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_transfer_that_is_over_leaves_the_rest_of_the_run_to_others(tmp_path: Path) -> None:
    web = {"kind": "web", "sessions": 20, "gap": "0.1 s", "algorithm": "cubic", "rtt": "40 ms"}
    sized = {"algorithm": "cubic", "rtt": "40 ms", "bytes": "200 kB"}
    real = longfat.run(live(3, flow=[sized], background=[web]), backend="live")
    flow, transfers = real.summary["flows"][0], real.summary["background"][0]
    # opening takes 40 ms, sending 138 packets at least as long as the link needs
    assert 0.04 + 138 * 1500 * 8 / 10e6 < flow["completed_s"] < 3.0
    assert real.flow("1")["delivered_bytes"][-1] == 200_000
    assert transfers["transfers_completed"] > 0.5 * transfers["transfers_started"] > 20


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_rate_beyond_what_this_machine_carries_is_never_silently_wrong(tmp_path: Path) -> None:
    file = tmp_path / "fast.toml"
    file.write_text(live(1.5, **{"bottleneck.rate": "20 Gbit/s"}).to_toml())
    ended = subprocess.run(command(file, "--json"), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    validity = json.loads(ended.stdout)["validity"]
    assert not validity["valid"]
    warned = [line for line in ended.stderr.splitlines() if "not valid" in line]
    assert len(warned) == 1, ended.stderr
    assert warned[0].startswith("warning: ")
    assert "accepted up to" in warned[0]


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_run_whose_threads_are_held_back_is_not_valid(tmp_path: Path) -> None:
    file = tmp_path / "held.toml"
    file.write_text(live(4).to_toml())
    with started(command(file, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        worker = int(begun(process.pid).name)
        for _ in range(5):
            os.kill(worker, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(worker, signal.SIGCONT)
            time.sleep(0.1)
        answered, warned = process.communicate(timeout=60)
    failed = {check["name"] for check in json.loads(answered)["validity"]["checks"] if not check["ok"]}
    late = {f"lateness of the {who}, 99th percentile, s" for who in ("routers", "hosts")}
    assert late <= failed
    assert all(name in warned for name in late)


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
def test_compare_lays_both_over_each_other(tmp_path: Path) -> None:
    document = crosscheck.run(live(3), 1, tmp_path / "out", ["test"])
    assert {"crosscheck.json", "index.html", "figures", "SHA256SUMS"} == {
        path.name for path in (tmp_path / "out").iterdir()
    }
    rows = {(row["of"], row["quantity"]): row for row in document["differences"]}
    utilization = rows["link bottleneck", "utilization"]
    assert utilization["difference"] == pytest.approx(utilization["live"] / utilization["sim"] - 1.0)
    assert abs(utilization["difference"]) < 0.1  # other tests may run at the same time
    labels = {curve["label"] for panel in document["figure"]["panels"] for curve in panel["curves"]}
    assert labels == {"sim", "live"}
    assert (
        json.loads((tmp_path / "out" / "crosscheck.json").read_text())["differences"]
        == document["differences"]
    )


def test_the_backoff_factor_is_ssthresh_at_a_cut_over_the_window_before_it() -> None:
    inf = np.inf
    series = {
        "time_s": np.arange(10.0),
        "cwnd": np.array([10.0, 20.0, 40.0, 38.0, 25.0, 20.0, 22.0, 40.0, 20.0, 21.0]),
        "ssthresh": np.array([inf, inf, inf, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0]),
    }
    # the second cut leaves the same threshold as the first
    assert crosscheck.backoffs(series) == pytest.approx([0.5, 0.5])
    assert crosscheck.backoffs(series, (5.0, 9.0)) == pytest.approx([0.5])
    assert crosscheck.backoffs(series, (0.0, 2.0)) == []


def test_a_kernels_own_module_comes_before_our_form_of_it() -> None:
    assert kernel.name_of("hstcp", ["reno", "cubic"]) == "lf_hstcp"
    assert kernel.name_of("hstcp", ["reno", "highspeed"]) == "highspeed"
    assert kernel.name_of("ltcp", ["reno"]) == "lf_ltcp"
    assert kernel.name_of("reno", ["cubic"]) == "reno"


def test_failed_checks_are_a_line_with_what_was_found_and_what_is_accepted() -> None:
    checks = [
        {"name": "lateness, s", "ok": False, "value": 0.02, "bound": 0.001},
        {"name": "drops", "ok": True, "value": 0.0, "bound": 0.0},
        {"name": "processor", "ok": False, "value": 0.95, "bound": 0.9},
    ]
    sound = {"seed": 4, "validity": {"valid": True, "checks": checks[1:2]}}
    assert doubts([{"seed": 3, "validity": {"valid": False, "checks": checks}}, sound]) == [
        "the live result of seed 3 is not valid: lateness, s: 0.02, accepted up to 0.001; "
        "processor: 0.95, accepted up to 0.9"
    ]


def test_the_registry_says_of_every_algorithm_whether_it_has_a_form_in_the_kernel() -> None:
    flags = {row["name"]: row["live"] for row in registry.rows("algorithms")}
    ours = {path.stem.removeprefix("lf_") for path in Path(__file__).parents[3].glob("bpf/lf_*.c")}
    named = {row["kernel_form"] for row in registry.rows("algorithms") if row.get("kernel_form")}
    assert named == {f"lf_{name}" for name in ours}
    for name in ("reno", "cubic", "hstcp", "ltcp", "africa", "cbr", "onoff", "xcp", "xcp-r", "vcp", "jetmax"):
        assert flags[name], name
    for name in ("rcp", "jetmax-r", "maxnet", "erica", "udt", "runat"):
        assert not flags[name], name


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


@pytest.mark.parametrize("loader", [True, False])
@pytest.mark.parametrize("clang", [True, False])
def test_advice_for_a_missing_kernel_algorithm_fits_where_longfat_runs(
    loader: bool, clang: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_core, "live_has_loader", lambda: loader)
    monkeypatch.setattr(kernel.shutil, "which", lambda _: "/usr/bin/clang" if clang else None)
    monkeypatch.setattr(installation, "PACKAGE", tmp_path)
    monkeypatch.setattr(installation, "checkout", lambda: tmp_path)
    found, remedy = kernel.unbuilt("lf_htcp") or ("", "")
    assert found == (
        f"{tmp_path}/bpf/out/lf_htcp.o is missing" if loader else "this build of Longfat cannot load it"
    )
    assert remedy.endswith("make bpf" if loader else "make setup bpf")
    assert ("clang" in remedy) == (loader and not clang)
    monkeypatch.setattr(installation, "checkout", lambda: None)
    found, remedy = kernel.unbuilt("lf_htcp") or ("", "")
    assert found == (
        f"{tmp_path}/bpf/lf_htcp.o is missing" if loader else "this build of Longfat cannot load it"
    )
    assert "wheel" in remedy
    assert "make" not in remedy
    assert "clang" not in {item["name"] for item in doctor.examine()}
    (tmp_path / "bpf").mkdir()
    (tmp_path / "bpf" / "lf_htcp.o").touch()
    assert (kernel.unbuilt("lf_htcp") is None) == loader


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_a_live_run_says_in_lines_how_far_it_is_where_there_is_no_terminal(tmp_path: Path) -> None:
    file = tmp_path / "lasting.toml"
    file.write_text(live(6).to_toml())
    ended = subprocess.run(command(file, "--json"), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert any(line.startswith("live run: 5 of 6 s") for line in ended.stderr.splitlines())
    assert json.loads(ended.stdout)["backend"] == "live"
