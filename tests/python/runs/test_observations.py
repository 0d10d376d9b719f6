"""What a result reports beside its rates: what is undefined, when flows end, and what went wrong."""

import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from rich.console import Console

import longfat
from longfat.cli import tables
from longfat.intervals import half_intervals, half_width_95
from longfat.report import columns
from longfat.runs import metrics, observations
from longfat.runs.repeats import aggregate
from longfat.runs.result import Result
from longfat.scenario.model import Scenario

OUTAGE = {"outages": [{"begin": "0 s", "length": "100 s"}]}


def dumbbell(*flows: dict[str, Any], **bottleneck: Any) -> dict[str, Any]:
    path = {"rate": "20 Mbit/s", "buffer": "50 packets", **bottleneck}
    return {
        "duration": "6 s",
        "bottleneck": path,
        "flow": [{"algorithm": "cubic", "rtt": "20 ms", **flow} for flow in flows],
    }


def printed(result: Result | list[Result]) -> str:
    runs = result if isinstance(result, list) else [result]
    console = Console(file=io.StringIO(), width=240)
    summary = runs[0].summary if len(runs) == 1 else aggregate([each.summary for each in runs])
    tables.print_summary(console, runs[0].scenario, summary)
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


def test_what_was_never_measured_is_null_in_the_summary_and_nan_in_the_table(tmp_path: Path) -> None:
    # over before the first sample, and without acknowledgements
    short = {"bytes": "20 kB", "rtt": "200 us"}
    source = {"algorithm": {"name": "cbr", "rate": "1 Mbit/s"}}
    late = {"start": "5.5 s"}
    result = longfat.run(dumbbell(short, source, late, {}) | {"window": ["0 s", "5 s"]})
    for flow in result.summary["flows"][:3]:
        assert flow["srtt_mean_s"] is None, flow["name"]
    late_flow, usual = result.summary["flows"][2:]
    undefined = ("throughput_bps", "goodput_bps", "loss_ratio", "cwnd_mean")
    assert [late_flow[key] for key in undefined] == [None] * 4
    assert usual["srtt_mean_s"] > 0.02
    result.save(tmp_path / "run")
    saved = pyarrow.parquet.read_table(tmp_path / "run" / "flows.parquet").to_pandas()
    for name, rows in saved.groupby("name", observed=True):
        values = rows["srtt_s"].to_numpy()
        assert math.isnan(values[0]), name
        assert not np.any(values == 0.0), name
    assert np.all(np.isnan(saved[saved["name"] == "2"]["srtt_s"]))
    json.dumps(result.summary, allow_nan=False)


def test_metrics_over_flows_leave_out_those_that_did_not_run_in_the_window() -> None:
    alone = longfat.run(dumbbell({}) | {"window": ["0 s", "5 s"]}).summary["metrics"]
    late = longfat.run(dumbbell({}, {"start": "5.5 s"}) | {"window": ["0 s", "5 s"]}).summary["metrics"]
    assert late["jain"] == alone["jain"] == 1.0
    assert late["throughput_ratio"] == 1.0


def test_metrics_of_a_path_that_carried_nothing_are_undefined() -> None:
    summary = longfat.run(dumbbell({}, **OUTAGE)).summary
    assert summary["links"][1]["loss_ratio"] is None
    assert summary["metrics"]["jain"] is None


def test_the_state_of_a_simulation_has_no_round_trip_time_before_the_first() -> None:
    sim = longfat.Simulation(dumbbell({}))
    assert sim.flows["1"].srtt_s is None
    assert sim.snapshot()["flows"]["1"]["srtt_s"] is None
    sim.step("100 ms")
    srtt_s = sim.flows["1"].srtt_s
    assert srtt_s is not None
    assert srtt_s > 0.02


def test_what_a_simulation_does_not_know_is_none() -> None:
    source = {"algorithm": {"name": "cbr", "rate": "1 Mbit/s"}}
    sim = longfat.Simulation(dumbbell({}, source))
    flow, datagrams = sim.flows["1"], sim.flows["2"]
    sim.step("50 ms")
    assert flow.ssthresh is None  # no loss yet
    assert (datagrams.cwnd, datagrams.ssthresh, datagrams.srtt_s) == (None, None, None)
    assert repr(datagrams) == "<Flow '2': no cwnd, no RTT yet>"
    state = datagrams.state()
    assert (state["cwnd"], state["packets_sent"]) == (None, 5.0)  # one each 12 ms
    assert sim.link("bottleneck").state()["flows_estimated"] is None
    assert sim.snapshot()["flows"]["2"] == state
    sim.run()
    assert flow.ssthresh is not None


def test_flows_with_an_end_show_when_it_was_acknowledged_and_when_everything_had_arrived() -> None:
    # 7 segments: the receiver delays the ACK of the last one by 40 ms
    short = {"bytes": f"{7 * 1448} B", "start": "1 s", "quick_acks": 0, "initial_window": 10}
    result = longfat.run(dumbbell(short, {}))
    flow, endless = result.summary["flows"]
    assert flow["completion_time_s"] == pytest.approx(flow["completed_s"] - 1.0)
    assert flow["delivery_time_s"] == pytest.approx(flow["delivered_s"] - 1.0)
    assert flow["completed_s"] - flow["delivered_s"] == pytest.approx(0.05, abs=2e-3)
    assert [endless[key] for key in ("completion_time_s", "delivery_time_s", "delivered_s")] == [None] * 3
    text = printed(result)
    assert re.search(r"completion +delivery", text)
    assert f"{flow['delivery_time_s']:.4f}"[:5] in text
    assert "completion" not in printed(longfat.run(dumbbell({})))


def test_the_page_has_completion_times_and_notes(tmp_path: Path) -> None:
    result = longfat.run(dumbbell({"bytes": "1 MB"}, {"start": "100 ms"}, **OUTAGE))
    page = result.report(tmp_path / "run").read_text(encoding="utf-8")
    assert "flow 1 never connected: its requests remained without an answer for 6 s." in page
    fine = longfat.run(dumbbell({"bytes": "1 MB"}))
    page = fine.report(tmp_path / "fine").read_text(encoding="utf-8")
    assert "completion s</th>" in page
    assert "delivery s</th>" in page
    assert "<h2>Notes</h2>" not in page


def test_a_flow_that_never_connects_is_reported_in_notes_and_table() -> None:
    result = longfat.run(
        dumbbell({}, {"start": "7 s"}, {"algorithm": {"name": "cbr", "rate": "1 Mbit/s"}}, **OUTAGE)
    )
    assert [flow["connected"] for flow in result.summary["flows"]] == [False, False, None]
    notes = [note for note in result.summary["notes"] if "connected" in note]
    assert notes == ["flow 1 never connected: its requests remained without an answer for 6 s"]
    text = printed(result)
    assert re.search(r"\bnever\b", text.partition("Links")[0])
    assert f"Note: {notes[0]}." in text
    assert "connected" not in printed(longfat.run(dumbbell({})))


@pytest.mark.parametrize(
    ("sent", "lost", "again", "warns"),
    [(99, 80, 10, False), (1000, 500, 0, False), (1000, 400, 101, True), (100, 51, 0, True)],
)
def test_a_flow_that_sends_more_than_twice_what_it_delivers_gets_a_note(
    sent: int, lost: int, again: int, warns: bool
) -> None:
    flow = {
        "name": "a",
        "start_s": 0.0,
        "connected": True,
        "packets_sent": sent,
        "packets_lost": lost,
        "spurious_retransmits": again,
    }
    found = observations.notes([flow], (0.0, 10.0))
    assert bool(found) == warns
    assert all("sent more than twice what it delivered" in note for note in found)


def test_a_source_of_five_times_the_rate_is_warned_of_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    source = {"algorithm": {"name": "cbr", "rate": "100 Mbit/s"}}
    file.write_text(Scenario.from_dict(dumbbell(source)).to_toml(), encoding="utf-8")
    command = [sys.executable, "-m", "longfat", "run", str(file), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "warning: flow 1 sent more than twice what it delivered: of 50,000 packets" in ran.stderr
    assert json.loads(ran.stdout)["notes"] == [ran.stderr.strip().removeprefix("warning: ")]


def test_notes_of_repeats_stand_once_with_the_number_of_runs_that_have_them() -> None:
    runs = [{"notes": ["a: of 10", "b"]}, {"notes": ["a: of 12"]}, {"notes": ["a: of 9"]}]
    assert observations.of_runs(runs) == ["a: of 10", "b (in 1 of 3 runs)"]


def test_repeats_that_are_equal_up_to_rounding_have_no_interval() -> None:
    # a sum in another order: the greatest differs from the least in the last digits
    values = [94.7, 94.7 * (1.0 + 2.3e-16), 94.7 * (1.0 - 3e-15)]
    assert metrics.mean_stderr(values)[1] == 0.0
    assert half_width_95(values) == 0.0
    assert np.array_equal(half_width_95([[94.7, 1.0], [94.7 + 1e-13, 2.0]]) > 0.0, [False, True])
    assert metrics.mean_stderr([94.7, 94.7001])[1] > 0.0
    column = columns.Column("x", "x", columns.number)
    whole = {"runs": [{}, {}], "stderr": {"flows": [{"x": metrics.mean_stderr(values)[1]}]}}
    halves = half_intervals(whole)["flows"]
    assert columns.rows([column], [{"x": 94.7}], halves) == [["94.7"]]


def test_a_slow_start_that_is_written_out_ends_the_one_that_the_stack_brings_along() -> None:
    def least(**keys: Any) -> Result:
        slow = {"rtt": "100 ms", "stack": "linux", **keys}
        return longfat.run(dumbbell(slow, rate="100 Mbit/s", buffer="1 BDP") | {"duration": "4 s"})

    hybrid, standard, off = (
        least(),
        least(slow_start="standard"),
        least(algorithm={"name": "cubic", "hystart": False}),
    )
    assert standard.flow("1")["cwnd"].tolist() == off.flow("1")["cwnd"].tolist()
    # HyStart leaves slow-start before the buffer of one BDP overflows by as much
    assert hybrid.summary["flows"][0]["packets_lost"] < 100
    assert standard.summary["flows"][0]["packets_lost"] > 1000
    for run_of in (hybrid, standard):
        for written in (run_of.scenario, run_of.scenario.filled()):
            again = Scenario.from_toml(written.to_toml())
            assert again.filled() == run_of.scenario.filled()
    kept = least(slow_start="standard", algorithm={"name": "cubic", "hystart": True})
    assert kept.flow("1")["cwnd"].tolist() == hybrid.flow("1")["cwnd"].tolist()


def test_transfers_of_background_are_delivered_before_they_are_acknowledged() -> None:
    short = {"kind": "short", "load": "10 %", "rtt": "20 ms", "quick_acks": 0}
    result = longfat.run(dumbbell({}) | {"background": [short], "duration": "30 s"})
    transfers = result.to_pandas("transfers")
    assert len(transfers) > 50
    # the last ACK needs half a round trip, and may have waited 40 ms before
    waits_s = transfers["completion_time_s"] - transfers["delivery_time_s"]
    assert np.all(waits_s > 0.01)
    assert np.any(waits_s > 0.05)
    rows = result.summary["completion_times"]
    mean_s = sum(row["transfers"] * row["delivery_mean_s"] for row in rows) / len(transfers)
    assert mean_s == pytest.approx(transfers["delivery_time_s"].mean())
    assert all(row["delivery_p50_s"] <= row["delivery_p95_s"] <= row["delivery_p99_s"] for row in rows)
    assert "delivery" in printed(result).partition("Completion times by size")[2]


def test_connections_without_ports_or_without_a_span_of_time_have_none_in_the_summary() -> None:
    def row(protocol: str, last_s: float) -> dict[str, Any]:
        way = {"packets": 1, "dropped": 0, "marked": 0, "bytes": 84, "throughput_bps": 672.0 * (last_s > 1.0)}
        ends = {"a": "10.0.0.1", "a_port": 0, "b": "10.0.0.2", "b_port": 0, "opened_by": "a"}
        return {"protocol": protocol, **ends, "first_s": 1.0, "last_s": last_s, "a_to_b": way, "b_to_a": way}

    ran = longfat.run(dumbbell({}))
    rows = [row("icmp", 1.0), row("icmp", 2.0), row("udp", 2.0)]
    made = longfat.Result(
        ran.scenario, {**ran._output, "programs": {"programs": [], "connections": rows}}, 1.0
    )
    single, pair, datagrams = made.summary["connections"]
    assert (single["a_port"], single["b_port"], single["b_to_a_throughput_bps"]) == (None, None, None)
    assert (pair["a_port"], pair["a_to_b_throughput_bps"]) == (None, 672.0)
    assert (datagrams["a_port"], datagrams["b_port"]) == (0, 0)
