"""What no kernel, or not this traffic, can do of a scenario: refused before anything runs."""

from __future__ import annotations

import math

from longfat.errors import InputError
from longfat.live import refuse_elsewhere
from longfat.live import traffic as traffics
from longfat.scenario import loading, registry, stacks
from longfat.scenario.model import Algorithm, Element, Part, Scenario
from longfat.words import shown

WITH_SACK = frozenset({"rack", "sack"})
"""The ways of `loss_detection` in which the receiver sends selective acknowledgements."""
KERNELS_VALUE = {"sack_compression": "1 ms"}
"""What the kernel has for keys that `stack = "linux"` leaves to it (the core: `decided_by_kernel`)."""

MOST_WINDOWS = 3
"""Different limits of the receiver's window in a live run: each takes a port of its own."""
LEAST_WINDOW_BYTES = 1152
"""The least window that a receiver can be held to: Linux 6.12, net/ipv4/tcp.c, tcp_set_window_clamp, and
include/net/sock.h, SOCK_MIN_RCVBUF, half of 2048 + 256 bytes."""


def check(scenario: Scenario, source: str = "scenario", traffic: str = traffics.KINDS[0]) -> None:
    """Checks that a kernel can run a scenario with this traffic.

    Args:
        scenario: what to run.
        source: names the scenario in errors, such as a file name.
        traffic: what flows over TCP carry, one of `traffic.KINDS`.

    Raises:
        InputError: one line that says what is not possible, or why nothing runs live here.
    """
    refuse_elsewhere()
    try:
        _check(scenario)
        traffics.check(scenario, traffic)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _check(scenario: Scenario) -> None:
    routers = {f"link.{i}.router": link.router for i, link in enumerate(scenario.link)}
    if scenario.bottleneck is not None:
        routers["bottleneck.router"] = scenario.bottleneck.router
    for key, router in routers.items():
        if router is not None:
            _check_router(key, router)
    parts: list[tuple[str, Part]] = [(f"flow.{i}", part) for i, part in enumerate(scenario.flow)]
    parts += [(f"background.{i}", part) for i, part in enumerate(scenario.background)]
    for table, part in parts:
        _check_part(table, part)
    _check_windows(parts)
    _check_pacing(parts)


def _check_windows(parts: list[tuple[str, Part]]) -> None:
    """Checks that the kernel's receivers can have these limits of their windows."""
    limited = [(table, part) for table, part in parts if math.isfinite(part.max_window)]
    for table, part in limited:
        spec, held = part.algorithm, f"{table}.max_window"
        if spec.needs_marks or spec.is_scalable or spec.protocol:
            raise InputError(
                f'{held}: receivers of "{spec.name}" share a socket that has no limit; accepted with '
                "--backend live: leave it out"
            )
        if part.max_window * part.mss < LEAST_WINDOW_BYTES:
            least = math.ceil(LEAST_WINDOW_BYTES / part.mss)
            raise InputError(
                f"{held} = {part.max_window:g}: the kernel's receivers offer more; accepted with "
                f"--backend live: {least} or more segments of this size"
            )
    sizes = sorted({part.max_window * part.mss for _, part in limited})
    if len(sizes) > MOST_WINDOWS:
        raise InputError(
            f"max_window: there are {len(sizes)} different windows; "
            f"accepted with --backend live: up to {MOST_WINDOWS}"
        )


def _check_pacing(parts: list[tuple[str, Part]]) -> None:
    """Checks that all objects ask for the same pacing, which is a setting of the whole namespace."""
    own = [
        (table, part.algorithm.parameters.get(loading.PACING)) for table, part in parts if part.algorithm.ebpf
    ]
    for table, ratio in own:
        if ratio != own[0][1]:
            raise InputError(
                f"{table}.algorithm.{loading.PACING}: in a live run, all objects have the same; "
                "accepted: one for all"
            )


def _check_router(key: str, spec: Element) -> None:
    live = [row["name"] for row in registry.rows("routers") if row["live"]]
    accepted = ", ".join(f'"{name}"' for name in live)
    if spec.kind not in live:
        raise InputError(
            f'{key} = "{spec.kind}": no kernel has hosts that talk to such a router; '
            f"accepted with --backend live: {accepted}; --backend sim has all"
        )
    spoken = {row.get("protocol") for row in registry.rows("algorithms") if row["live"]}
    protocol = spec.settings.get("protocol", spec.kind)
    if protocol not in spoken:
        accepted = ", ".join(f'"{name}"' for name in sorted(str(name) for name in spoken if name))
        raise InputError(
            f'{key}.protocol = "{protocol}": no kernel has hosts that speak it; '
            f"accepted with --backend live: {accepted}"
        )


def _check_part(table: str, part: Part) -> None:
    spec = part.algorithm
    named = f'{table}.algorithm = "{spec.name}"'
    if spec.custom and not spec.ebpf:
        raise InputError(
            f"{named}: no kernel can run it; accepted with --backend live: an object with eBPF programs, "
            f"file{loading.OBJECT}, {_names()}"
        )
    if spec.listed:
        row = registry.find("algorithms", spec.name)
        if not row["live"]:
            raise InputError(
                f"{named}: has no form in the Linux kernel; accepted with --backend live: {_names()}"
            )
        if row.get("transport") != "tcp":
            return
        if row.get("protocol") and table.startswith("background"):
            raise InputError(
                f"{named}: routers set the rate of flows only; accepted with --backend live: other "
                "algorithms in the background"
            )
        _check_parameters(table, spec, row)
    for key in part.decided_by_kernel:
        other = f'"{KERNELS_VALUE[key]}", or ' if key in KERNELS_VALUE else ""
        raise InputError(
            f"{table}.{key}: the kernel decides this itself; "
            f"accepted with --backend live: {other}leave out this key, "
            f'and any stack but "{stacks.LINUX}"'
        )
    if getattr(part, "quick_start", None) is not None:
        raise InputError(
            f"{table}.quick_start: Quick-Start is an option of the IP header, which Longfat's programs for "
            "the kernel do not read; accepted with --backend live: leave out this key"
        )
    if isinstance(part.ecn, str):
        raise InputError(
            f'{table}.ecn = "{part.ecn}": the kernel\'s TCP has the feedback of RFC 3168; '
            "accepted with --backend live: true or false"
        )
    if part.loss_detection not in (None, *WITH_SACK):
        accepted = ", ".join(f'"{name}"' for name in sorted(WITH_SACK))
        raise InputError(
            f'{table}.loss_detection = "{part.loss_detection}": the kernel has SACK; accepted with '
            f"--backend live: {accepted}, or leave it out"
        )


def _check_parameters(table: str, spec: Algorithm, row: registry.Row) -> None:
    """Checks that an algorithm of the registry has the kernel's parameters."""
    for name, value in spec.parameters.items():
        parameter = next(p for p in row["parameters"] if p["name"] == name)
        if value not in (parameter["default"], "linux"):
            told = shown(registry.written(spec.name, parameter, value))
            raise InputError(
                f"{table}.algorithm.{name} = {told}: the kernel's {spec.name} has its own value; "
                f'accepted with --backend live: leave it out, or variant = "linux"'
            )


def _names() -> str:
    return ", ".join(f'"{row["name"]}"' for row in registry.rows("algorithms") if row["live"])
