"""What a machine can carry, said beforehand, and what else it did, said afterwards."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from live_runs import able, live
from longfat.live import capability, doctor, doubts, load
from longfat.scenario.model import Scenario

__all__ = ["able"]


@pytest.mark.alone
def test_a_process_that_uses_a_processor_is_named_with_its_share() -> None:
    before = load.now()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        time.sleep(1.0)
        found = load.others(before, load.now())
        busy.kill()
    assert found is not None
    share = next(each["processors"] for each in found["busiest"] if each["name"].startswith("python"))
    assert 0.2 < share <= 1.05  # other tests may run at the same time
    assert found["processors"] > 0.9 * share


def test_what_a_child_of_this_process_used_is_not_counted_as_others() -> None:
    before = load.now()
    assert before is not None
    spin = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    subprocess.run([sys.executable, "-c", spin], check=True)
    after = load.now()
    assert after is not None
    assert after.own_s - before.own_s >= 0.5
    counted = after.busy_s - before.busy_s
    found = load.others(before, after)
    assert found is not None
    assert found["processors"] * (after.uptime_s - before.uptime_s) == pytest.approx(
        max(counted - (after.own_s - before.own_s), 0.0)
    )


def test_a_result_that_is_not_valid_names_the_load_of_others() -> None:
    check = {"name": "lateness, s", "ok": False, "value": 0.02, "bound": 0.001}
    others = {
        "processors": 1.25,
        "stolen": 0.0,
        "busiest": [{"name": "cc1", "processors": 0.9}, {"name": "tshark", "processors": 0.3}],
    }
    summary = {"seed": 3, "validity": {"valid": False, "checks": [check], "others": others}}
    line = doubts([summary])[0]
    assert line.startswith("the live result of seed 3 is not valid: lateness, s: 0.02, accepted up to 0.001")
    assert ". Meanwhile other processes used 1.25 of " in line
    assert line.endswith(" processors (cc1 0.90, tshark 0.30)")
    others["stolen"] = 0.5
    assert doubts([summary])[0].endswith(", and the hypervisor kept 0.50")


def test_a_path_asks_for_its_fastest_link_and_its_least_buffer() -> None:
    asked = capability.demand(live(1, **{"bottleneck.rate": "100 Mbit/s", "bottleneck.buffer": "25 packets"}))
    assert asked.rate_bps == 100e6
    assert asked.packets_per_s == pytest.approx(8333, rel=1e-3)
    assert asked.drain_s == pytest.approx(25 * 1500 * 8 / 100e6)
    assert asked.rtt_s == 0.04
    links = [
        {"from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "5 ms", "buffer": "500 packets"},
        {"from": "b", "to": "c", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "4 packets"},
    ]
    table = {"duration": "1 s", "link": links, "flow": [{"algorithm": "cubic", "from": "a", "to": "c"}]}
    asked = capability.demand(Scenario.from_dict(table))
    assert asked.rate_bps == 1e9
    assert asked.drain_s == pytest.approx(4 * 1500 * 8 / 10e6)
    assert asked.rtt_s == pytest.approx(0.02)
    tested = capability.demand(capability.test(asked))
    assert tested.rate_bps == asked.rate_bps
    assert tested.drain_s == pytest.approx(asked.drain_s, rel=0.01)


class Found:
    """A test's result, as far as it is judged."""

    def __init__(self, late_s: float, filled: float, used: float) -> None:
        bound = 0.05 * 0.02
        self.validity: dict[str, Any] = {
            "checks": [
                {"name": capability.LATENESS, "ok": late_s <= bound, "value": late_s, "bound": bound},
                {"name": capability.PROCESSOR, "ok": used <= 0.9, "value": used, "bound": 0.9},
            ],
            "lateness_s": [late_s / 2, late_s, 2 * late_s],
        }
        self.summary = {"links": [{"utilization": filled}]}


@pytest.mark.parametrize(
    ("late_s", "filled", "used", "rate", "buffer"),
    [
        (1e-4, 1.0, 0.4, True, True),
        (2e-3, 1.0, 0.4, True, False),
        (1e-4, 0.6, 0.7, False, True),
        (1e-4, 1.0, 0.95, False, True),
    ],
)
def test_a_path_is_carried_if_its_link_is_filled_in_time(
    late_s: float, filled: float, used: float, rate: bool, buffer: bool
) -> None:
    asked = capability.Demand(rate_bps=1e9, packet_bytes=1500.0, drain_s=0.02, rtt_s=0.02)
    found: Any = Found(late_s, filled, used)
    items = {item["name"]: item for item in capability.judged(asked, found)}
    assert (items["path rate"]["ok"], items["path buffer"]["ok"]) == (rate, buffer)
    for item in items.values():
        assert bool(item["remedy"]) != item["ok"], item
    if not buffer:  # 2 ms late; twice that is 5 % of 80 ms
        assert "at least 80 ms" in items["path buffer"]["remedy"]


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_the_doctor_says_beforehand_what_a_path_needs_and_what_this_machine_has(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(live(60).to_toml())
    command = [sys.executable, "-m", "longfat", "doctor", "--path", str(file)]
    ended = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
    items = {item["name"]: item for item in json.loads(ended.stdout)}
    assert set(doctor.PATH) <= set(items)
    assert "833 packets/s" in items["path rate"]["found"]
    assert "drains in 39.6 ms" in items["path buffer"]["found"]
    assert "1980 us late" in items["path buffer"]["found"]
    assert ended.returncode == (0 if all(items[name]["ok"] for name in doctor.PATH) else 1), ended.stderr


def test_a_path_that_cannot_run_live_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(live(1, flow=[{"algorithm": "rcp", "rtt": "40 ms"}]).to_toml())
    for given, says in ((file, 'flow.0.algorithm = "rcp"'), (tmp_path / "none.toml", "none.toml")):
        command = [sys.executable, "-m", "longfat", "doctor", "--path", str(given)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 2, ended.stdout
        assert says in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
