"""Lines about a scenario that can be run: probable mistakes, and how to read its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longfat.scenario import registry, stacks
from longfat.scenario.bottleneck import Bottleneck
from longfat.scenario.buffers import write_buffer
from longfat.scenario.capacity import VaryingRate
from longfat.scenario.distributions import least
from longfat.scenario.disturbances import Added, Steps
from longfat.scenario.flow import Flow
from longfat.scenario.named import QueueSpec, RouterSpec
from longfat.scenario.network import Network
from longfat.scenario.topology import Link
from longfat.scenario.transport import Transport
from longfat.units import RATE, TIME

IDENTICAL = "nothing in this scenario is random: repeats are identical"
COMPARING = ("jain", "throughput_ratio", "convergence_80_s")
"""The metrics that compare flows with each other."""
ENDS_EARLY = 0.9
"""A trace that covers less than this share of a run ends long before it (chosen here)."""
PATTERN_S = 1.0
"""A shorter trace of a rate is a pattern that is meant to repeat, such as a constant rate (chosen here)."""
SLOW_BPS = 64_000.0
"""A channel of a telephone network (ITU-T G.711): traces of slower links are rare, wrong units are not."""
SHORT_DELAY_S = 1e-3
"""Delays that traces record are longer; in seconds instead of ms they are below it (chosen here)."""
UNLIKE = "the flows take unlike paths, so metrics that compare them with each other have no meaning here"


def warnings(network: Network, flows: Sequence[Flow], duration_s: float) -> list[str]:
    """Notes on settings that can be run but are probably mistakes."""
    found = []
    for key, buffer, rate in network.buffers():
        number = network.packets(buffer, rate)
        if number < 1:
            found.append(f'{key} = "{write_buffer(buffer)}" is {float(number):.3g} packets; 1 packet is used')
    found += _slow_ticks(network)
    for i, flow in enumerate(flows):
        if least(flow.start) >= duration_s:
            found.append(f"flow.{i} starts at {TIME.write(least(flow.start))}, not before the run's end")
    return found


def of_traces(network: Network, duration_s: float) -> list[str]:
    """Notes on traces that end early, or that seem to have another unit."""
    links: dict[str, Bottleneck | Link] = {f"link.{i}": link for i, link in enumerate(network.links)}
    if network.bottleneck is not None:
        links["bottleneck"] = network.bottleneck
    return [
        line
        for key, link in links.items()
        for line in _of_trace(key, link.rate, link.added_delay, duration_s)
    ]


def _of_trace(key: str, rate: float, added: Added | None, duration_s: float) -> list[str]:
    found = []
    whole = TIME.write(duration_s)
    period_s = rate.period_s if isinstance(rate, VaryingRate) else None
    repeats = period_s is not None and PATTERN_S <= period_s < ENDS_EARLY * duration_s
    if period_s is not None and repeats:
        found.append(f"{key}.rate repeats its trace, which lasts {_time(period_s)}; the run lasts {whole}")
    if period_s is not None and rate < SLOW_BPS:
        found.append(
            f"{key}.rate is {RATE.write(float(f'{rate:.3g}'))} on average: a line of a trace is a time "
            "in ms, at which 1500 bytes leave; this file may have another unit"
        )
    if not isinstance(added, Steps) or added.source is None:
        return found
    (end_s, last_s), longest_s = added.steps[-1], max(delay for _, delay in added.steps)
    if end_s < ENDS_EARLY * duration_s:
        found.append(
            f"the trace of {key}.added_delay ends at {_time(end_s)}; its last delay, {_time(last_s)}, holds "
            f"until the end of the run, {whole}"
        )
        if repeats:
            found.append(
                f"{key} repeats its trace of the rate, but not that of the delay: after the first "
                f"{_time(min(end_s, period_s or end_s))} a rate and a delay are not of the same moment"
            )
    if 0.0 < longest_s < SHORT_DELAY_S:
        found.append(
            f"{key}.added_delay is {_time(longest_s)} at most: a trace has times and delays in ms; "
            "this file may have another unit"
        )
    return found


def _time(seconds: float) -> str:
    return TIME.write(float(f"{seconds:.4g}"))


def meaningless_metrics(network: Network, flows: Sequence[Flow]) -> tuple[str, ...]:
    """The metrics that compare flows, if these flows do not cross the same links; else none."""
    ways = set()
    for i, flow in enumerate(flows):
        path = network.paths[f"flow.{i}"]
        ways.add(frozenset(path.forward if flow.direction == "forward" else path.reverse))
    return COMPARING if len(ways) > 1 else ()


def _slow_ticks(network: Network) -> list[str]:
    """Links whose buffer a tick's worth of packets overfills, so that they lose some of every burst."""
    ticks_s = {f"link.{i}": link.service_tick for i, link in enumerate(network.links)}
    if network.bottleneck is not None:
        ticks_s["bottleneck"] = network.bottleneck.service_tick
    found = []
    for key, buffer, rate_bps in network.buffers():
        table = key.rpartition(".")[0]
        tick_s = ticks_s[table]
        drained_s = float(network.packets(buffer, rate_bps)) * network.packet_bytes * 8 / rate_bps
        if tick_s > drained_s:
            found.append(
                f'{table}.service_tick = "{TIME.write(tick_s)}" is longer than {key} takes '
                f"to drain, {TIME.write(float(f'{drained_s:.3g}'))}: a tick can hand out more than fits"
            )
    return found


def notes(network: Network, flows: Sequence[Flow]) -> list[str]:
    """Lines to know when reading the results: flows that cross queues without the router they speak to."""
    return [
        line
        for i, flow in enumerate(flows)
        for line in (
            *_of_flow(f"flow.{i}", flow, network.routers(f"flow.{i}", flow.direction)),
            *_of_l4s(f"flow.{i}", flow, network.queues(f"flow.{i}", flow.direction)),
            *_of_ebpf(f"flow.{i}", flow),
        )
    ]


def _of_l4s(key: str, flow: Flow, queues: Mapping[str, QueueSpec]) -> list[str]:
    """Notes on a flow that sends ECT(1): queues and responses that are not those of L4S."""
    if flow.ecn != "l4s" and not flow.algorithm.has("ect1"):
        return []
    what = f"{key} ({flow.algorithm.name}) sends ECT(1)"
    found = []
    if not any(queue.l4s for queue in queues.values()):
        able = [f'"{row["name"]}"' for row in registry.rows("queues") if row.get("l4s")]
        found.append(f"{what}, but no queue on its way knows L4S; these do: {', '.join(able)}")
    if not flow.algorithm.has("scalable"):
        found.append(f"{what}, but its response to marks is not the scalable one of L4S (RFC 9331, 4.3)")
    return found


def _of_ebpf(key: str, flow: Flow) -> list[str]:
    """A note on an object with a kernel's algorithm whose host is not the kernel's."""
    if not flow.algorithm.ebpf:
        return []
    linux = Transport.model_validate({"algorithm": flow.algorithm, "stack": stacks.LINUX.name})
    unlike = [name for name in stacks.LINUX.keys_for(None) if getattr(flow, name) != getattr(linux, name)]
    what = f"{key} ({Path(flow.algorithm.name).name}) is a Linux kernel's algorithm on another host"
    return [f'{what}; suggested: stack = "{stacks.LINUX.name}"'] if unlike else []


def _of_flow(key: str, flow: Flow, routers: Mapping[str, RouterSpec | None]) -> list[str]:
    found = []
    name = flow.algorithm.name
    if flow.algorithm.explicit:
        bare = [link for link, router in routers.items() if router is None]
        foreign = [
            link for link, router in routers.items() if router and router.protocol != name.removesuffix("-r")
        ]
        if bare:
            found.append(f"{key} ({name}) crosses links without a router: {', '.join(bare)}")
        if foreign:
            found.append(f"{key} ({name}) crosses routers of another protocol: {', '.join(foreign)}")
    if flow.abe and flow.ecn is False:
        found.append(f"{key}: abe = true has no effect without ecn = true")
    found += _other_intervals(key, flow, routers)
    mute = [link for link, router in routers.items() if router is None or router.kind != "ptp"]
    if name == "cadpc" and mute:
        found.append(f"{key} (cadpc) learns nothing of links without a PTP router: {', '.join(mute)}")
    deaf = [link for link, router in routers.items() if router is None or router.kind != "quickstart"]
    if flow.quick_start is not None and deaf:
        what = f"{key} asks for a rate by Quick-Start, but routers on its way take no part"
        found.append(f"{what}: {', '.join(deaf)}")
    return found


def _other_intervals(key: str, flow: Flow, routers: Mapping[str, RouterSpec | None]) -> list[str]:
    """A note of VCP's t_rho, which its senders and its routers each have for themselves."""
    if flow.algorithm.name != "vcp":
        return []
    own = flow.algorithm.filled().parameters["interval"]
    measured = {
        link: router.filled().parameters["interval"]
        for link, router in routers.items()
        if router and router.kind == "vcp"
    }
    unlike = [f"{link} ({ms:g} ms)" for link, ms in measured.items() if ms != own]
    what = f"{key} (vcp) scales by an interval of {own:g} ms, routers on its way measure over another"
    return [f"{what}: {', '.join(unlike)}"] if unlike else []
