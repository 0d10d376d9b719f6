"""Lines about a scenario that can be run: probable mistakes, and how to read its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longfat.scenario import registry, stacks
from longfat.scenario.buffers import write_buffer
from longfat.scenario.distributions import least
from longfat.scenario.flow import Flow
from longfat.scenario.named import QueueSpec, RouterSpec
from longfat.scenario.network import Network
from longfat.scenario.transport import Transport
from longfat.units import TIME

IDENTICAL = "nothing in this scenario is random: repeats are identical"
COMPARING = ("jain", "throughput_ratio", "convergence_80_s")
"""The metrics that compare flows with each other."""
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
