"""What holds in every run: no packet appears or vanishes, limits hold, counters never fall.

`crates/sim/tests/invariants.rs` checks the same of random plans; this module checks it of a `Result`, so of
everything that a scenario file can say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from longfat import _core
from longfat.algorithm import maker
from longfat.runs import memory, simulate
from longfat.runs.result import Result
from longfat.scenario import registry
from longfat.scenario.model import Scenario

Columns = Mapping[str, Any]
Plan = dict[str, Any]

QUEUES = {"dqw": 3}
"""Routers that have several queues, each of which may hold the link's limit (docs/models/dqw.md)."""
ROUNDED_S = 0.5e-9
"""The time that a packet takes is rounded to whole nanoseconds."""
QUICK_START_BYTES = 8
"""The option of RFC 4782 in a flow's first packet."""
NOT_COUNTERS = {"queue_packets", "queue_bytes", "flows_estimated", "capacity_bps"}
FLOW_COUNTERS = (
    "time_s",
    "acked_bytes",
    "delivered_bytes",
    "received_bytes",
    "packets_sent",
    "packets_lost",
    "retransmits",
)
OWN = dict.fromkeys(("events", "driver", "servers"))
"""What a driver writes of itself into a summary; the results are the same."""


def violations(result: Result) -> list[str]:
    """Returns one line for each balance that this run violates."""
    planned = result.scenario.plan
    return [*_links(planned, result), *_flows(planned, result), *_background(planned, result)]


def difference(scenario: Scenario) -> tuple[Result, str | None]:
    """Runs a scenario three times, twice by the fast driver and once by the oracle.

    Returns:
        The result, and the first thing in which two of the runs differ, None if they are the same bytes.
    """
    result = simulate.run(scenario)
    fast, again, oracle = result._output, *(_output(scenario, fast=fast) for fast in (True, False))
    for other, name in ((again, "the second run"), (oracle, "the oracle")):
        if (found := _differs(fast, other)) is not None:
            return result, f"{name} differs: {found}"
    return result, None


def _output(scenario: Scenario, *, fast: bool) -> Columns:
    parts = scenario.flow_parts().items()
    custom = {name: maker(name, part.algorithm) for name, part in parts if part.algorithm.custom}
    output: Columns = _core.simulate(scenario.core, custom, int(memory.given()), fast=fast)
    return output


def _differs(one: Columns, other: Columns) -> str | None:
    if one.keys() != other.keys():
        return f"{sorted(one)} and {sorted(other)}"
    for key, value in one.items():
        found = other[key]
        if key == "summary":  # what drivers say of themselves
            value, found = ({**summary, **OWN} for summary in (value, found))
        if isinstance(value, dict):
            for name in value.keys() | found.keys():
                if value.get(name) != found.get(name):
                    return f"{key} {name}: {_first(value.get(name), found.get(name))}"
        elif value != found:
            return key
    return None


def _first(one: Any, other: Any) -> str:
    """Says where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        name = next(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        return f"{name}: {_first(one.get(name), other.get(name))}"
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next(_first(a, b) for a, b in zip(one, other, strict=True) if a != b)
    if isinstance(one, bytes) and isinstance(other, bytes):
        a, b = np.frombuffer(one), np.frombuffer(other)
        if len(a) != len(b):
            return f"{len(a)} and {len(b)} samples"
        at = int(np.flatnonzero(~((a == b) | (np.isnan(a) & np.isnan(b))))[0])
        return f"sample {at}: {float(a[at])!r} and {float(b[at])!r}"
    return f"{one!r} and {other!r}"


def _links(planned: Plan, result: Result) -> Iterator[str]:
    begin, end = planned["window_s"]
    biggest = max([1500.0, *(_packet_bytes(flow) for flow in _connections(planned))])
    for link, summary in zip(planned["links"], result.summary["links"], strict=True):
        name, series = link["name"], result.link(link["name"])
        for column, values in series.items():
            if column not in NOT_COUNTERS and np.any(np.diff(values) < 0):
                yield f"link {name}: {column} falls"
        held = series["packets_out"] + series["packets_dropped"] + series["queue_packets"]
        yield from _everywhere(
            f"link {name}: in = out + dropped + queued", series["packets_in"] == held, series
        )
        for limit, column in (("limit_packets", "queue_packets"), ("limit_bytes", "queue_bytes")):
            most = link["queue"][limit]
            if most is not None:
                most *= QUEUES.get((link["router"] or {}).get("kind"), 1)
                yield from _everywhere(f"link {name}: {column} <= {most}", series[column] <= most, series)
        capacity_bps = link["rate_bps"]  # of a rate that varies, the greatest
        span_s = series["time_s"] + link["service_tick_s"] + ROUNDED_S * series["packets_out"]
        carried = capacity_bps / 8.0 * span_s + biggest
        what = f"link {name}: sends no more than its rate"
        yield from _everywhere(what, series["bytes_out"] <= carried * (1.0 + 1e-9), series)
        came = summary["packets_in"] + (summary["queue_max_packets"] if begin > 0.0 else 0)
        dropped = summary["packets_dropped"]
        ratio = summary["loss_ratio"]
        is_undefined = summary["packets_in"] + summary["packets_lost"] == 0
        if dropped > came or (ratio is not None if is_undefined else ratio is None or not ratio >= 0.0):
            yield f"link {name}: drops {dropped} of {came}, loss_ratio = {ratio}"
        slack_s = link["service_tick_s"] + ROUNDED_S * summary["packets_in"]
        most = 1.0 + (8.0 * biggest / capacity_bps + slack_s) / (end - begin)
        if link["capacity"] is None and not 0.0 <= summary["utilization"] <= most:
            yield f"link {name}: utilization = {summary['utilization']}, at most {most}"
        for column in ("queue_mean_packets", "queue_std_packets"):
            if not 0.0 <= summary[column] <= summary["queue_max_packets"] + 1e-9:
                most_packets = summary["queue_max_packets"]
                yield f"link {name}: {column} = {summary[column]}, the maximum is {most_packets}"


def _flows(planned: Plan, result: Result) -> Iterator[str]:
    for flow, summary in zip(planned["flows"], result.summary["flows"], strict=True):
        name, series = flow["name"], result.flow(flow["name"])
        algorithm = flow["transport"]["algorithm"]["kind"]
        at = f"flow {name} ({algorithm})"
        for column in FLOW_COUNTERS:
            if np.any(np.diff(series[column]) < 0):
                yield f"{at}: {column} falls"
        packet = _packet_bytes(flow)
        arrived = np.ceil(series["received_bytes"] / packet)
        under_way = arrived + series["packets_lost"] <= series["packets_sent"]
        copied = _copies(planned, flow)
        yield from _everywhere(f"{at}: sent >= arrived + lost", under_way | copied, series)
        yield from _everywhere(
            f"{at}: acked <= delivered",
            (series["acked_bytes"] <= series["delivered_bytes"]) | _lies(flow),
            series,
        )
        fresh = (series["packets_sent"] - series["retransmits"]) * flow["transport"]["mss"]
        yield from _everywhere(
            f"{at}: delivers what was sent first", (series["delivered_bytes"] <= fresh) | copied, series
        )
        yield from _everywhere(
            f"{at}: delivers what arrived", series["delivered_bytes"] <= series["received_bytes"], series
        )
        has_window = ~np.isnan(series["cwnd"])
        sound = ~has_window | ((series["cwnd"] >= 1.0) & np.isfinite(series["cwnd"]))
        yield from _everywhere(f"{at}: cwnd is finite and at least 1", sound, series)
        # Linux's timestamps, which give the time of what was sent twice, count whole milliseconds
        least = (summary["rtt_s"] or 0.0) - (1e-3 if flow["transport"]["rtt_samples"] == "last" else 1e-6)
        yield from _everywhere(
            f"{at}: sRTT is at least the path's",
            np.isnan(series["srtt_s"]) | (series["srtt_s"] >= least) | _lies(flow),
            series,
        )
        goodput, throughput = summary["goodput_bps"], summary["throughput_bps"]
        if (goodput is None) != (throughput is None):
            yield f"{at}: goodput {goodput}, throughput {throughput}"
        elif planned["window_s"][0] == 0.0 and goodput is not None and goodput > throughput * (1 + 1e-9):
            yield f"{at}: goodput {goodput} above throughput {throughput}"
        delivered_s, completed_s = summary["delivered_s"], summary["completed_s"]
        # a source without acknowledgements, CADPC among them, completes when it has sent everything
        acknowledged = summary["connected"] and algorithm != "cadpc" and not _lies(flow)
        if acknowledged and None not in (delivered_s, completed_s) and delivered_s > completed_s:
            yield f"{at}: delivered at {delivered_s} s, completed at {completed_s} s"
        narrow = min(planned["links"][i]["rate_bps"] for i in flow["forward"])
        tick = sum(planned["links"][i]["service_tick_s"] for i in flow["forward"])
        carried = narrow * (series["time_s"] + tick + ROUNDED_S * series["packets_sent"]) + 8.0 * packet
        what = f"{at}: receives no more than its path carries"
        within = 8.0 * series["received_bytes"] <= carried * (1.0 + 1e-9)
        yield from _everywhere(what, within | copied, series)


def _background(planned: Plan, result: Result) -> Iterator[str]:
    for part, summary in zip(planned["background"], result.summary["background"], strict=True):
        at = f"background {summary['name']}"
        if planned["window_s"][0] == 0.0:
            if summary["transfers_completed"] > summary["transfers_started"]:
                done, begun = summary["transfers_completed"], summary["transfers_started"]
                yield f"{at}: {done} of {begun} transfers complete"
            copied = _copies(planned, part["flow"])
            if summary["packets_lost"] > summary["packets_sent"] and not copied:
                yield f"{at}: {summary['packets_lost']} of {summary['packets_sent']} packets lost"
            most = summary["packets_sent"] * part["flow"]["transport"]["mss"]
            if summary["bytes_delivered"] > most and not copied:
                yield f"{at}: {summary['bytes_delivered']} bytes in {summary['packets_sent']} packets"
    durations = result.transfers["completion_time_s"].to_numpy()
    if not np.all(durations > 0.0):
        yield f"a transfer took {durations.min()} s"


def _copies(planned: Plan, connection: dict[str, Any]) -> bool:
    """Whether a link on the way may make copies, which datagrams deliver too."""
    ways = [planned["links"][i]["disturbance"] for i in connection["forward"]]
    return any(way is not None and way["disturbed"]["duplicate"] > 0.0 for way in ways)


def _lies(connection: dict[str, Any]) -> bool:
    """Whether the receiver acknowledges what has not come."""
    receiver = connection["transport"]["receiver"]
    return bool(receiver["conceal_losses"] or receiver["ack_ahead"])


def _connections(planned: Plan) -> Iterator[dict[str, Any]]:
    yield from planned["flows"]
    yield from (part["flow"] for part in planned["background"])


def _packet_bytes(flow: Mapping[str, Any]) -> float:
    """The bytes of IP of a full packet of this flow."""
    row = registry.algorithm_named(flow["transport"]["algorithm"]["kind"])
    explicit = row.get("explicit_bytes", 0) if row is not None else 0
    asks = QUICK_START_BYTES if flow["transport"]["quick_start"] else 0
    return float(flow["transport"]["mss"] + flow["header_bytes"] + explicit + asks)


def _everywhere(what: str, holds: Any, series: Columns) -> Iterator[str]:
    """Yields a line if this does not hold in some sample, with the first of them."""
    if not np.all(holds):
        at = int(np.flatnonzero(~holds)[0])
        shown = {key: values[at] for key, values in series.items() if not math.isnan(values[at])}
        yield f"{what}: not in sample {at}: {', '.join(f'{key} {value:g}' for key, value in shown.items())}"
