"""Scenarios without a file: a usual network, and the flows that the command line names."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from typing import Any

from longfat import documents
from longfat.errors import InputError
from longfat.scenario.stacks import LINUX
from longfat.units import TIME
from longfat.words import choice

PRESETS = ("dumbbell", "parking-lot")
"""One bottleneck for all flows; or two bottlenecks, which the first flow crosses and the others share."""
RATE, RTT, BUFFER, DURATION = "100 Mbit/s", "40 ms", "100 % BDP", "60 s"
STACK = LINUX
"""The hosts of all flows."""
STARTS = {"uniform": ["0 s", "1 s"]}
"""Every flow starts at random within the first second, so that repeats differ."""
HOPS = 2
"""Bottlenecks of a parking lot."""


def tables(
    preset: str,
    flows: Sequence[str],
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    duration: str | None = None,
) -> dict[str, Any]:
    """Returns the tables of a scenario, as a file has them.

    Args:
        preset: one of `PRESETS`.
        flows: an algorithm for each flow: a name, your own file.py:Class, or an inline table.
        rate: of each bottleneck.
        rtt: two-way propagation delay; in a parking lot that of the first flow.
        buffer: of each bottleneck.
        duration: of the run.

    Raises:
        InputError: the preset is unknown, or there are too few flows.
    """
    if preset not in PRESETS:
        raise InputError(f'--preset "{preset}": {choice(preset, PRESETS, what="preset")}')
    if not flows:
        raise InputError(
            "--flow: a preset needs flows; accepted: an algorithm for each, such as --flow cubic"
        )
    named = [_algorithm(text) for text in flows]
    names = [each["name"] if isinstance(each, dict) else each for each in named]
    place = "a dumbbell" if preset == "dumbbell" else "a parking lot"
    document: dict[str, Any] = {
        "title": f"{', '.join(map(str, names))} on {place}",
        "duration": duration or DURATION,
    }
    link = {"rate": rate or RATE, "buffer": buffer or BUFFER}
    if preset == "dumbbell":
        flow = {"rtt": rtt or RTT, "start": STARTS}
        return document | {"bottleneck": link, "flow": [{"algorithm": each} | flow for each in named]}
    try:
        hop_s = TIME.parse(rtt or RTT) / (2 * HOPS)
    except ValueError as error:
        raise InputError(f"--rtt {rtt}: {error}") from None
    nodes = [f"n{i}" for i in range(HOPS + 1)]
    delay = TIME.write(hop_s)
    links = [{"from": a, "to": b, "delay": delay} | link for a, b in itertools.pairwise(nodes)]
    ends = [(nodes[0], nodes[-1])] + [(nodes[i % HOPS], nodes[i % HOPS + 1]) for i in range(len(named) - 1)]
    flows_ = [
        {"algorithm": each, "from": begin, "to": end, "start": STARTS}
        for each, (begin, end) in zip(named, ends, strict=True)
    ]
    return document | {"link": links, "flow": flows_}


def _algorithm(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return documents.toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        raise InputError(
            f"--flow {text}: this is not an inline table; accepted: a table such as "
            '{ name = "hstcp", low_window = 31 }'
        ) from None
