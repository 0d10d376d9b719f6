"""`--qlog`: every record is valid, and the events add up to what the result says.

The drafts define qlog in CDDL. The schema below is that of the records that Longfat writes, turned into JSON
Schema by hand: QlogFileSeq, TraceSeq, CommonFields and VantagePoint of draft-ietf-quic-qlog-main-schema-14;
QUICPacketSent, QUICPacketReceived, QUICPacketsAcked, QUICPacketLost, QUICRecoveryMetricsUpdated,
QUICCongestionStateUpdated, PacketHeader and AckFrame of draft-ietf-quic-qlog-quic-events-13. What is optional
there is optional here; what a group is closed for is refused here too.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import longfat
from longfat.errors import InputError

UINT = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}
UINT16 = {"type": "integer", "minimum": 0, "maximum": 2**16 - 1}
MS = {"type": "number", "minimum": 0}
TEXT = {"type": "string"}


def group(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """A closed group of CDDL."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": sorted(required),
        "additionalProperties": False,
    }


RAW = group({}, {"length": UINT, "payload_length": UINT, "data": TEXT})
HEADER = group({"packet_type": {"enum": ["1RTT", "initial", "handshake"]}}, {"packet_number": UINT})
RANGES = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "array", "items": UINT, "minItems": 1, "maxItems": 2},
}
FRAMES = {"type": "array", "items": group({"frame_type": {"const": "ack"}}, {"acked_ranges": RANGES})}
EVENTS = {
    "quic:packet_sent": group(
        {"header": HEADER},
        {"frames": FRAMES, "raw": RAW, "trigger": {"enum": ["retransmit_reordered", "retransmit_timeout"]}},
    ),
    "quic:packet_received": group({"header": HEADER}, {"frames": FRAMES, "raw": RAW}),
    "quic:packets_acked": group(
        {},
        {
            "packet_number_space": {"enum": ["initial", "handshake", "application_data"]},
            "packet_numbers": {"type": "array", "items": UINT, "minItems": 1},
        },
    ),
    "quic:packet_lost": group(
        {}, {"header": HEADER, "trigger": {"enum": ["reordering_threshold", "time_threshold", "pto_expired"]}}
    ),
    "quic:recovery_metrics_updated": group(
        {},
        dict.fromkeys(("min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"), MS)
        | {"pto_count": UINT16}
        | dict.fromkeys(("congestion_window", "bytes_in_flight", "ssthresh", "packets_in_flight"), UINT)
        | {"pacing_rate": UINT},
    ),
    "quic:congestion_state_updated": group({"new": TEXT}, {"old": TEXT, "trigger": TEXT}),
}
FIRST = group(
    {
        "file_schema": {"const": "urn:ietf:params:qlog:file:sequential"},
        "serialization_format": {"const": "application/qlog+json-seq"},
        "trace": group(
            {"event_schemas": {"type": "array", "items": TEXT, "minItems": 1}},
            {
                "common_fields": {
                    "type": "object",
                    "properties": {"time_format": {"const": "relative_to_epoch"}},
                },
                "vantage_point": group({"type": {"enum": ["client", "server", "network"]}}, {"name": TEXT}),
            },
        ),
    },
    {"title": TEXT, "description": TEXT},
)
EVENT = group({"time": {"type": "number"}, "name": {"enum": sorted(EVENTS)}, "data": {"type": "object"}})


def scenario(**changes: Any) -> dict[str, Any]:
    """Flows that lose packets, are paced, and time out."""
    return {
        "duration": "6 s",
        "bottleneck": {"rate": "20 Mbit/s", "buffer": "40 packets", "loss": 0.01},
        "flow": [
            {"name": "a", "algorithm": "cubic", "rtt": "40 ms"},
            {"name": "b / c", "algorithm": "bbr", "rtt": "40 ms", "start": "1 s"},
            {
                "name": "sack-less",
                "algorithm": "newreno",
                "rtt": "10 ms",
                "start": "1 s",
                "timestamps": False,
            },
        ],
    } | changes


def records(file: Path | str) -> list[dict[str, Any]]:
    """The records of a JSON text sequence (RFC 7464)."""
    parts = Path(file).read_bytes().split(b"\x1e")
    assert parts[0] == b""
    assert all(part.endswith(b"\n") and part.count(b"\n") == 1 for part in parts[1:])
    return [json.loads(part) for part in parts[1:]]


def test_every_record_is_as_the_drafts_say_and_the_events_add_up(tmp_path: Path) -> None:
    result = longfat.run(scenario(), qlog=tmp_path / "run.sqlog")
    told = result.summary["qlog"]
    assert told == {
        "files": {
            "a": str(tmp_path / "run-a.sqlog"),
            "b / c": str(tmp_path / "run-b___c.sqlog"),
            "sack-less": str(tmp_path / "run-sack-less.sqlog"),
        },
        "complete": True,
        "failure": None,
    }
    checks = {name: jsonschema.Draft202012Validator(schema) for name, schema in EVENTS.items()}
    event_check = jsonschema.Draft202012Validator(EVENT)
    for flow in result.summary["flows"]:
        first, *events = records(told["files"][flow["name"]])
        jsonschema.validate(first, FIRST)
        assert first["trace"]["common_fields"]["group_id"] == flow["name"]
        for event in events:
            event_check.validate(event)
            checks[event["name"]].validate(event["data"])
        times = [event["time"] for event in events]
        assert times == sorted(times)
        assert times[-1] <= 6000.0
        seen = Counter(event["name"] for event in events)
        assert seen["quic:packet_sent"] == flow["packets_sent"]
        assert seen["quic:packet_lost"] == flow["retransmits"] > 0
        named = [event["data"] for event in events]
        sent = [
            d["header"]["packet_number"]
            for e, d in zip(events, named, strict=True)
            if e["name"].endswith("_sent")
        ]
        assert sent == list(range(len(sent)))
        acked = [n for d in named for n in d.get("packet_numbers", [])]
        assert len(acked) == len(set(acked)), "each number is acknowledged once"
        assert set(acked) < set(sent)
        timeouts = [d for d in named if d.get("trigger") == "timeout"]
        assert len(timeouts) <= flow["timeouts"]


def test_the_metrics_are_those_of_the_series(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlog"
    only = scenario(flow=[{"algorithm": "cubic", "rtt": "40 ms"}], sample={"cwnd": "100 ms"})
    result = longfat.run(only, qlog=file)
    table = result.flows.to_pandas()
    metrics: dict[str, float] = {}
    events = iter(records(file)[1:])
    event = next(events)
    checked = 0
    for row in table.itertuples():
        while event is not None and event["time"] < 1000.0 * row.time_s:
            if event["name"] == "quic:recovery_metrics_updated":
                metrics |= event["data"]
            event = next(events, None)
        if "smoothed_rtt" in metrics:
            assert metrics["congestion_window"] == math.floor(row.cwnd * 1448)
            assert metrics["smoothed_rtt"] == pytest.approx(1000.0 * row.srtt_s, abs=1e-5)
            checked += 1
    assert checked > 50


def test_a_log_changes_nothing_and_one_flow_has_the_file_itself(tmp_path: Path) -> None:
    file = tmp_path / "run.sqlog"
    only = scenario(flow=[{"algorithm": "bbr", "rtt": "40 ms"}])
    logged, plain = longfat.run(only, qlog=file, capture=tmp_path / "run.pcapng"), longfat.run(only)
    assert logged.summary["flows"] == plain.summary["flows"]
    assert logged.summary["links"] == plain.summary["links"]
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["run.pcapng", "run.sqlog"]
    paces = [event["data"]["pacing_rate"] for event in records(file)[1:] if "pacing_rate" in event["data"]]
    assert 1e6 < max(paces) < 1e9


def test_version_0_3_has_the_older_names(tmp_path: Path) -> None:
    file = tmp_path / "run.qlog"
    flows = [{"algorithm": "cubic", "rtt": "40 ms"}]
    longfat.run(scenario(flow=flows), qlog=longfat.Qlog(file, version="0.3"))
    first, *events = records(file)
    assert (first["qlog_version"], first["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert {event["name"] for event in events} == {
        "transport:packet_sent",
        "transport:packet_received",
        "transport:packets_acked",
        "recovery:packet_lost",
        "recovery:metrics_updated",
        "recovery:congestion_state_updated",
    }
    states = [event["data"] for event in events if event["name"].endswith("state_updated")]
    assert {state["new"] for state in states} > {"recovery"}
    assert not any("trigger" in state for state in states), "of losses; the draft has a word for marks only"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--qlog-version", "0.3"], "--qlog-version cannot be used without --qlog FILE"),
        (
            ["--qlog", "x.sqlog", "--qlog-version", "7"],
            "--qlog-version 7: there is no such version; accepted: current or 0.3",
        ),
        (
            ["--qlog", "x.sqlog", "--repeats", "2"],
            "--qlog cannot be used with --repeats, since a log is of one run",
        ),
        (
            ["--qlog", "x.sqlog", "--backend", "live"],
            "--qlog cannot be used with --backend live: a kernel does not report enough",
        ),
        (
            ["--qlog", "no/x.sqlog"],
            "--qlog no/x.sqlog: No such file or directory; accepted: a file that can be written",
        ),
        (["--qlog", "x", "--pcap", "x-a"], "--pcap and --qlog have one file, x-a; accepted: two files"),
        (["--qlog", ""], '--qlog "" is an empty name; accepted: a file'),
    ],
)
def test_bad_input_gets_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "s.toml").write_text(longfat.Scenario.from_dict(scenario()).to_toml())
    command = [sys.executable, "-m", "longfat", "run", "s.toml", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_flows_over_udp_alone_and_too_many_flows_are_refused(tmp_path: Path) -> None:
    over_udp = scenario(flow=[{"algorithm": "udt", "rtt": "40 ms"}])
    with pytest.raises(InputError, match="no flow runs over TCP; accepted: a scenario with such a flow"):
        longfat.run(over_udp, qlog=tmp_path / "x")
    many = scenario(flow=[{"algorithm": "cubic", "rtt": "40 ms", "count": 300}])
    with pytest.raises(InputError, match="300 flows need a file each; accepted: up to 256 flows"):
        longfat.run(many, qlog=tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
