"""The congestion controls of this machine's kernel, and those that Longfat loads into it for a run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from longfat import _core, installation
from longfat.scenario import loading, registry
from longfat.scenario.foreign import available as available
from longfat.scenario.loading import PACING
from longfat.scenario.model import Algorithm, Scenario

CLANG = "apt-get install -y clang libbpf-dev"
"""Installs what `make bpf` needs."""
NO_LOADER = "this build of Longfat cannot load it"
FROM_WHEEL = "reinstall Longfat from its wheel for newer Linux; only that one has kernel algorithms"


def name_of(algorithm: str, there: list[str]) -> str:
    """Returns the kernel's name of an algorithm: its module if `there` has it, else Longfat's own form."""
    row = registry.find("algorithms", algorithm)
    module, own = row["linux_module"], row.get("kernel_form")
    if module is None or (own is not None and module not in there):
        return own or algorithm
    return module


def congestion(scenario: Scenario) -> dict[str, str]:
    """Returns the kernel's name of the algorithm of each flow and background over TCP of a scenario.

    A flow with a user's own object has the object's name here, and one with an algorithm that only the kernel
    has, that.
    """
    planned = scenario.plan
    known = users_own(scenario) | kernels_own(scenario)
    connections = [(flow["name"], flow) for flow in planned["flows"] if flow["name"] not in known]
    connections += [(entry["name"], entry["flow"]) for entry in planned["background"]]
    entries = [(name, connection["transport"]["algorithm"]["kind"]) for name, connection in connections]
    there = available()
    named = {
        name: name_of(algorithm, there)
        for name, algorithm in entries
        if registry.find("algorithms", algorithm).get("transport") == "tcp"
    }
    return named | {name: spec.name for name, spec in known.items()}


def users_own(scenario: Scenario) -> dict[str, Algorithm]:
    """Returns the algorithm of each flow that has a user's own object."""
    parts = scenario.flow_parts()
    return {name: part.algorithm for name, part in parts.items() if part.algorithm.ebpf}


def kernels_own(scenario: Scenario) -> dict[str, Algorithm]:
    """Returns the algorithm of each flow that only the kernel has."""
    parts = scenario.flow_parts()
    return {name: part.algorithm for name, part in parts.items() if part.algorithm.foreign}


def source(spec: Algorithm) -> tuple[Path, str, str]:
    """Returns the file, the variable and the kernel's name of an object's algorithm."""
    file, _, name = spec.name.rpartition(":")
    return Path(file), loading.ebpf(Path(file), name).variable, name


def pacing_ratio(own: Mapping[str, Algorithm]) -> int | None:
    """Returns the pacing_ca_ratio that objects ask for, None for the kernel's default."""
    return next((spec.parameters[PACING] for spec in own.values() if PACING in spec.parameters), None)


def forms() -> Path:
    """Returns the folder with the compiled algorithms of `bpf/`: a checkout's own, else the package's."""
    root = installation.checkout()
    return installation.PACKAGE / "bpf" if root is None else root / "bpf" / "out"


def own_forms() -> frozenset[str]:
    """Returns the kernel's names of the algorithms in `bpf/`."""
    forms = (row.get("kernel_form") for row in registry.rows("algorithms"))
    return frozenset(form for form in forms if form is not None)


def no_loader() -> tuple[str, str] | None:
    """Returns that this installation cannot load programs into the kernel and how to fix it, None if it can.

    The advice fits the installation: a checkout can build what is missing, an installed package cannot.
    """
    if _core.live_has_loader():
        return None
    build = "apt-get install -y pkg-config libelf-dev zlib1g-dev && rm -f .venv/.core && make setup bpf"
    return NO_LOADER, build if installation.checkout() is not None else FROM_WHEEL


def unbuilt(own: str) -> tuple[str, str] | None:
    """Returns what this installation lacks to load an algorithm of `bpf/`, as `no_loader` does."""
    if lacking := no_loader():
        return lacking
    if not (forms() / f"{own}.o").exists():
        build = "make bpf" if shutil.which("clang") else f"{CLANG} && make bpf"
        return f"{forms() / own}.o is missing", build if installation.checkout() is not None else FROM_WHEEL
    return None
