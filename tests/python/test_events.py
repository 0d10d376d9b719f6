"""The event log, kept on request."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
from click.testing import CliRunner

import longfat
from longfat.cli import main

LOSSY = {
    "duration": "20 s",
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 packets", "loss": {"every": 500}},
    "flow": [{"algorithm": "sack", "rtt": "40 ms"}],
}


def test_the_log_has_a_line_for_every_congestion_event_and_its_end() -> None:
    result = longfat.run(LOSSY | {"sample": {"events": True}})
    log = result.events.to_pandas()
    flow = result.summary["flows"][0]
    assert list(log.columns) == ["time_s", "name", "event", "cwnd"]
    assert log["event"].iloc[0] == "connected"
    assert log["time_s"].is_monotonic_increasing
    counts = log["event"].value_counts()
    assert counts["loss"] + counts.get("timeout", 0) == flow["congestion_events"] > 5
    assert abs(counts["recovered"] - flow["congestion_events"]) <= 1


def test_no_log_is_kept_unless_asked_for() -> None:
    assert longfat.run(LOSSY).events.num_rows == 0


def test_the_log_is_written_beside_the_series(tmp_path: Path) -> None:
    scenario = longfat.Scenario.from_dict(LOSSY).to_toml()
    arguments = ["run", "-", "--set", "sample.events=true", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, arguments, input=scenario)
    assert done.exit_code == 0, done.output
    assert pyarrow.parquet.read_table(tmp_path / "out" / "events.parquet").num_rows > 10
