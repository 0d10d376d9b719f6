"""Traces that other people made: what is read, what is refused, and what a result keeps of them."""

from __future__ import annotations

import gzip
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import longfat
from longfat.errors import InputError, ScenarioError
from longfat.scenario.model import Scenario

RATE = b"1\n2\n4\n"
DELAY = b"0 1\n1000 2\n"
KEYS = {"rate": RATE, "added_delay": DELAY}


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


FORMS = {
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16, the high byte first": lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    "blank lines": lambda data: b"\n \n" + data.replace(b"\n", b"\n\n") + b"\t\n\n",
    "comments": lambda data: b"# 4G, downlink\n" + data.replace(b"\n", b" # seen\n", 1),
    "lines of Windows": lambda data: data.replace(b"\n", b"\r\n"),
    "lines of old Macs": lambda data: data.replace(b"\n", b"\r"),
    "no last line end": lambda data: data[:-1],
    "floats": lambda data: data.replace(b"1", b"+1.0", 1).replace(b"2", b".2e1", 1),
    "a column header": lambda data: b"time_ms, what is it\n" + data,
    "spaces around": lambda data: b"  " + data.replace(b"\n", b" ,\n"),
    "tabs": lambda data: data.replace(b" ", b"\t"),
    "commas": lambda data: data.replace(b" ", b", "),
    "semicolons": lambda data: data.replace(b" ", b";"),
    "gzip": gzip.compress,
    "gzip in two parts": lambda data: gzip.compress(data[:2]) + gzip.compress(data[2:]),
    "zstd": zstd,
    "all at once": lambda data: zstd(("#\n\nwhen\n" + data.decode()).replace("\n", "\r\n").encode("utf-16")),
}


def with_trace(folder: Path, key: str, data: bytes, duration: str = "2 s", **rest: Any) -> Scenario:
    file = folder / f"{key}.trace"
    file.write_bytes(data)
    bottleneck = {"rate": "10 Mbit/s", "buffer": "50 packets", key: {"trace": str(file)}} | rest
    flow = [{"algorithm": "reno", "rtt": "20 ms"}]
    return Scenario.from_dict({"duration": duration, "bottleneck": bottleneck, "flow": flow})


def planned(folder: Path, key: str, data: bytes) -> Any:
    link = with_trace(folder, key, data).plan["links"][0]
    return link["capacity"] or link["disturbance"]["disturbed"]["added_delay"]


def refusal(folder: Path, key: str, data: bytes) -> str:
    with pytest.raises(ScenarioError) as refused:
        with_trace(folder, key, data)
    assert len(refused.value.problems) == 1
    return str(refused.value)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", FORMS)
def test_both_kinds_of_traces_are_read_in_every_form_that_others_write(
    tmp_path: Path, key: str, form: str
) -> None:
    plain = planned(tmp_path, key, KEYS[key])
    assert plain in (
        {"trace_ms": [1, 2, 4]},
        {"steps": [[0.0, 0.001], [1.0, 0.002]]},
    )
    assert planned(tmp_path, key, FORMS[form](KEYS[key])) == plain


def test_times_of_a_rate_s_trace_may_have_fractions_of_a_millisecond(tmp_path: Path) -> None:
    # 1500 bytes each half millisecond: 24 Mbit/s
    scenario = with_trace(tmp_path, "rate", b"0.5\n1.0\n1.5\n")
    assert scenario.plan["links"][0]["capacity"] == {"trace_ms": [0.5, 1, 1.5]}
    link = longfat.run(scenario).summary["links"][0]
    assert link["rate_bps"] == pytest.approx(24e6, rel=1e-3)
    assert link["utilization"] > 0.9


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x00\x01\x02\xff", "not a text in UTF-8 or UTF-16; accepted: a text file of numbers"),
        (b"1 two\n", "line 1: '1 two'"),
        (b"", "it is empty; accepted: "),
        (b"\xef\xbb\xbf", "it is empty; accepted: "),
        (gzip.compress(b"", mtime=0), "it is empty when it is unpacked; accepted: "),
        (b"\n\n\n\n\n", "it has no line of numbers; accepted: "),
        (b"# nothing\n\n", "it has no line of numbers; accepted: "),
        (b"time\n", "it has no line of numbers; accepted: "),
        (b"nan nan\n", "it has no line of numbers; accepted: "),
        (b"inf,1\n", "line 1: 'inf,1'"),
        (gzip.compress(b"1 2\n3 4\n", mtime=0)[:-9], "its packed data end early: the file was cut short"),
        (gzip.compress(b"1 2\n3 4\n", mtime=0)[:4], "its packed data end early: the file was cut short"),
        (
            gzip.compress(b"1 2\n3 4\n", mtime=0) + b"x",
            "its packed data are damaged, or something follows them",
        ),
        (zstd(b"1 2\n" * 1000)[:20], "its packed data end early: the file was cut short"),
        (zstd(b"1 2\n" * 1000)[:4], "its packed data end early: the file was cut short"),
        (b"time_s, x\n1 2\n", "line 1: 'time_s, x': a column is in s; accepted: "),
        (b"delay [us]\n1 2\n", "a column is in us; accepted: "),
        (b"1e999 1e999\n", "accepted: "),
        (b"1_0 2\n", "line 1: '1_0 2'"),
        ("٣ ٤\n".encode(), "line 1: '٣ ٤'"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path, key: str, data: bytes, said: str) -> None:
    assert said in refusal(tmp_path, key, data)


def test_a_message_says_how_other_columns_become_a_trace_or_steps(tmp_path: Path) -> None:
    steps = '{ steps = [["0 s", "1.25 Mbit/s"], ["1 s", "3.5 Mbit/s"], ...] }'
    for separator in (" ", ",", ";", "\t"):
        rates = f"when{separator}rate\n0{separator}1.25\n1{separator}3.5\n".encode()
        said = refusal(tmp_path, "rate", rates)
        assert "2 columns; accepted: one time in ms on each line" in said
        assert f"if its lines have seconds and Mbit/s, write rate = {steps}" in said
    # and the advice is right
    bottleneck = {"rate": tomllib.loads(f"rate = {steps}".replace(", ...", ""))["rate"]}
    flow = [{"rtt": "20 ms"}]
    advised = Scenario.from_dict({"duration": "2 s", "bottleneck": bottleneck, "flow": flow})
    assert advised.plan["links"][0]["capacity"] == {"steps": [[0.0, 1.25e6], [1.0, 3.5e6]]}
    said = refusal(tmp_path, "added_delay", b"10\n20\n30\n")
    assert "1 column; accepted: a time and a delay in ms" in said
    assert 'delays alone: put the time of each before it; every 100 ms these are "0 10" and "100 20"' in said
    said = refusal(tmp_path, "added_delay", b"0 10 .1\n")
    assert "3 columns; accepted: a time and a delay in ms" in said
    assert "keep the first two" in said


def test_a_packed_trace_takes_no_more_memory_than_a_plain_one(tmp_path: Path) -> None:
    assert "more than 64 MB when unpacked" in refusal(tmp_path, "rate", gzip.compress(b"\n" * 65_000_000))
    assert "more than 64 MB when unpacked" in refusal(tmp_path, "added_delay", zstd(b"\n" * 65_000_000))


@pytest.mark.parametrize("key", KEYS)
def test_a_file_that_waits_for_more_is_no_trace(tmp_path: Path, key: str) -> None:
    with pytest.raises(ScenarioError, match=r"/proc/kmsg: .*; accepted: a file") as refused:
        Scenario.from_dict(
            {
                "duration": "1 s",
                "bottleneck": {"rate": "1 Mbit/s", key: {"trace": "/proc/kmsg"}},
                "flow": [{"rtt": "1 ms"}],
            }
        )
    assert len(refused.value.problems) == 1


def test_a_scenario_is_not_waited_for_in_proc() -> None:
    with pytest.raises(InputError, match=r"^/proc/kmsg: .*; accepted: a scenario file"):
        Scenario.load("/proc/kmsg")


def test_a_trace_that_ends_long_before_the_run_gets_a_note(tmp_path: Path) -> None:
    opportunities = b"".join(b"%d\n" % ms for ms in range(2, 20_001, 2))
    delays = b"0 20\n19900 39\n"
    repeats = "bottleneck.rate repeats its trace, which lasts 20 s; the run lasts 60 s"
    holds = (
        "the trace of bottleneck.added_delay ends at 19.9 s; its last delay, 39 ms, holds until the end of "
        "the run, 60 s"
    )
    apart = (
        "bottleneck repeats its trace of the rate, but not that of the delay: after the first 19.9 s "
        "a rate and a delay are not of the same moment"
    )
    (tmp_path / "delays").write_bytes(delays)
    beside = {"added_delay": {"trace": str(tmp_path / "delays")}}
    assert with_trace(tmp_path, "rate", opportunities, "60 s").notes() == [repeats]
    assert with_trace(tmp_path, "added_delay", delays, "60 s").notes() == [holds]
    assert with_trace(tmp_path, "rate", opportunities, "60 s", **beside).notes() == [repeats, holds, apart]
    assert with_trace(tmp_path, "rate", opportunities, "20 s", **beside).notes() == []
    # a short pattern is meant to repeat
    assert with_trace(tmp_path, "rate", b"1\n", "60 s").notes() == []


def test_a_trace_that_looks_like_another_unit_gets_a_note(tmp_path: Path) -> None:
    us = b"".join(b"%d\n" % time for time in range(1000, 60_001, 1000))
    slow = with_trace(tmp_path, "rate", us, "60 s").notes()
    assert slow == [
        "bottleneck.rate is 12 kbit/s on average: a line of a trace is a time in ms, at which 1500 bytes "
        "leave; this file may have another unit"
    ]
    seconds = with_trace(tmp_path, "added_delay", b"0 .010\n1 .020\n", "2 s").notes()
    assert seconds[-1] == (
        "bottleneck.added_delay is 20 us at most: a trace has times and delays in ms; "
        "this file may have another unit"
    )


def test_notes_on_traces_of_links_name_the_link(tmp_path: Path) -> None:
    (tmp_path / "delays").write_bytes(b"0 20\n1000 30\n")
    link = {"from": "A", "to": "B", "rate": "1 Mbit/s", "delay": "5 ms"}
    links = [link, link | {"from": "B", "to": "C", "added_delay": {"trace": str(tmp_path / "delays")}}]
    scenario = Scenario.from_dict({"duration": "10 s", "link": links, "flow": [{"from": "A", "to": "B"}]})
    assert [note.partition(" ends ")[0] for note in scenario.notes()] == ["the trace of link.1.added_delay"]


def test_a_result_keeps_its_traces_and_runs_again_from_its_folder(tmp_path: Path) -> None:
    packed = gzip.compress(DELAY)
    (tmp_path / "delays").write_bytes(packed)
    traced = with_trace(tmp_path, "rate", RATE, added_delay={"trace": str(tmp_path / "delays")})
    first = longfat.run(traced)
    (tmp_path / "rate.trace").unlink()  # what is kept is what was read
    (tmp_path / "delays").unlink()
    folder = first.save(tmp_path / "out")
    written = tomllib.loads((folder / "scenario.toml").read_text())["bottleneck"]
    for key, data in (("rate", RATE), ("added_delay", packed)):
        assert (folder / written[key]["trace"]).read_bytes() == data
        assert len(written[key]["sha256"]) == 64
    moved = folder.rename(tmp_path / "elsewhere")
    again = longfat.run(moved / "scenario.toml")
    assert again.scenario.plan == first.scenario.filled().plan
    # a second result in the same folder, and one of a result
    assert sorted(file.name for file in (again.save(moved) / "traces").iterdir()) == sorted(
        file.name for file in (again.save(tmp_path / "third") / "traces").iterdir()
    )


def test_a_trace_that_has_changed_is_refused(tmp_path: Path) -> None:
    folder = longfat.run(with_trace(tmp_path, "rate", RATE)).save(tmp_path / "out")
    (copy,) = (folder / "traces").iterdir()
    copy.write_bytes(RATE + b"5\n")
    with pytest.raises(ScenarioError, match=r"its content has changed: its SHA-256 is \w{16}\.\.\., and the"):
        Scenario.load(folder / "scenario.toml")
    bottleneck = {"rate": {"trace": str(copy), "sha256": "abc"}}
    with pytest.raises(ScenarioError, match="sha256: this is no digest; accepted: the 64 hexadecimal digits"):
        Scenario.from_dict({"duration": "1 s", "bottleneck": bottleneck, "flow": [{"rtt": "1 ms"}]})


def test_other_files_beside_kept_traces_are_not_overwritten(tmp_path: Path) -> None:
    result = longfat.run(with_trace(tmp_path, "rate", RATE))
    folder = result.save(tmp_path / "out")
    (folder / "traces" / "mine.trace").write_bytes(RATE)
    with pytest.raises(InputError, match=r"holds traces/mine\.trace, which Longfat did not write"):
        result.save(folder)
