"""iperf3 as the traffic of live runs, for real where this machine can."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import longfat
from live_runs import Left, able, begun, command, live, processes, skip, started
from longfat.errors import InputError
from longfat.live import doctor, traffic
from longfat.live.check import check

__all__ = ["able"]


@pytest.fixture
def able_with_iperf3(able: None) -> None:
    if traffic.iperf3() is None:
        skip(f"iperf3 is not installed: {traffic.INSTALL}")


@pytest.mark.alone
@pytest.mark.live
@pytest.mark.usefixtures("able_with_iperf3")
def test_iperf3_carries_as_much_as_our_own_traffic_and_its_report_agrees() -> None:
    chosen = live(5, window=["2 s", "5 s"])
    ours, theirs = (longfat.run(chosen, backend="live", traffic=each) for each in traffic.KINDS)
    assert set(theirs.summary) == set(ours.summary)
    assert theirs.flows.schema == ours.flows.schema
    own, flow = ours.summary["flows"][0], theirs.summary["flows"][0]
    assert flow["throughput_bps"] == pytest.approx(own["throughput_bps"], rel=0.03)
    assert flow["goodput_bps"] == pytest.approx(own["goodput_bps"], rel=0.03)
    assert "iperf3" not in ours.summary["validity"]
    report = theirs.summary["validity"]["iperf3"]["1"]
    # both count from the start; acknowledged bytes trail received bytes by half a round trip
    delivered = theirs.flow("1")["delivered_bytes"][-1]
    assert delivered == pytest.approx(report["received_bytes"], rel=0.03)
    assert report["received_bps"] == pytest.approx(8 * report["received_bytes"] / report["seconds"], rel=0.03)
    assert report["retransmits"] == theirs.flow("1")["retransmits"][-1]
    assert report["version"].startswith("iperf 3")
    assert theirs.summary["validity"]["congestion"] == {"1": "cubic"}


@pytest.mark.live
@pytest.mark.usefixtures("able_with_iperf3")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_a_run_its_iperf3s_end_too(end: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    flows = [{"algorithm": "cubic", "rtt": "400 ms"}, {"algorithm": "reno", "rtt": "40 ms"}]
    file.write_text(live(60, flow=flows).to_toml())
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    with started(command(file, "--traffic", "iperf3"), **quiet) as process:
        worker = begun(process.pid)
        left = Left(worker)
        time.sleep(1.5)  # data are in flight
        theirs = [each for each in processes("iperf3") if parent(each) == int(worker.name)]
        assert len(theirs) == 4  # a client and a server for each flow
        process.send_signal(end)
        process.communicate(timeout=10)
    assert process.returncode in (-end, 128 + end)
    assert left.in_a_while() == []
    assert not [each for each in theirs if each.exists()]


def parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(") ")[2].split()[1])
    except OSError:
        return 0


@pytest.mark.live
@pytest.mark.usefixtures("able_with_iperf3")
def test_an_iperf3_that_cannot_do_it_ends_the_run_with_its_own_words(tmp_path: Path) -> None:
    broken = tmp_path / "iperf3"
    broken.write_text("#!/bin/sh\necho out of order >&2\nexit 1\n")
    broken.chmod(0o755)
    file, out = tmp_path / "short.toml", tmp_path / "out"
    file.write_text(live(1).to_toml())
    ended = subprocess.run(
        command(file, "--traffic", "iperf3", "--out", out),
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        timeout=60,
    )
    assert ended.returncode == 2, ended.stderr
    assert "iperf3" in ended.stderr
    assert "out of order" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not out.exists()


def test_without_iperf3_the_error_has_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="apt-get install -y iperf3"):
        check(live(1), traffic="iperf3")
    item = next(each for each in doctor.examine() if each["name"] == "iperf3")
    assert (item["ok"], item["needed"], item["remedy"]) == (False, False, traffic.INSTALL)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"traffic": "iperf3"}, 'backend = "live"'),
        ({"traffic": "iperf2", "backend": "live"}, "'longfat', 'iperf3'"),
        ({"traffic": "iperf2"}, "'longfat', 'iperf3'"),
    ],
)
def test_traffic_that_cannot_be_had_is_one_clear_line(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match="accepted") as refused:
        longfat.run(live(1), **options)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_flows_with_a_size_are_refused_with_iperf3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "iperf3", lambda: "iperf3")
    sized = live(1, flow=[{"algorithm": "cubic", "rtt": "40 ms", "bytes": "200 kB"}])
    with pytest.raises(InputError, match=r"flow\.0\.bytes: .*accepted"):
        check(sized, traffic="iperf3")


def test_dctcp_is_refused_with_iperf3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "iperf3", lambda: "iperf3")
    with pytest.raises(InputError, match=r"flow\.0\.algorithm = .*accepted with traffic"):
        check(live(1, flow=[{"algorithm": "dctcp", "rtt": "40 ms"}]), traffic="iperf3")


@pytest.mark.parametrize("more", [["--traffic", "iperf3"], ["--traffic", "netperf", "--backend", "live"]])
def test_the_command_line_refuses_traffic_that_it_has_not(more: list[str], tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text(live(1).to_toml())
    what = [*command(file)[:5], *more]
    ended = subprocess.run(what, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: ")
    assert len(ended.stderr.splitlines()) == 1
