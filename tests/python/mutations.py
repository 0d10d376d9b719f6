"""Mutated scenario files, and whether the schema and the reader say the same of each.

    python tests/python/mutations.py NUMBER [FIRST]

tries that number of them and prints each on which they disagree. The schema knows what stands in one value:
its type, its unit, its name, and the keys of its table. What it leaves to the reader is in `BEYOND`.
"""

from __future__ import annotations

import copy
import json
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

import random_scenarios
from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat.scenario.schema import scenario_schema

ROOT = Path(__file__).parents[2]
FILES = [path for path in sorted((ROOT / "scenarios").glob("*.toml")) if path.name != "sweep.toml"]
SCHEMA = jsonschema.Draft202012Validator(scenario_schema())

VALUES: list[Any] = [
    *(0, 1, -1, 2, 3, 17, 0.5, -0.5, 1e300, 10**12, True, False),
    *("", " ", "0", "5", "-5", "auto", "infinite", "none", "on", "linux", "x", "ü", "a\tb", "a\u200bb"),
    *("sack", "codel", "xcp", "file.py:A", "file.bpf.o", "x" * 101),
    *("1 s", "10 ms", "0 s", "-1 s", "5 µs", "1 sec", "1.5e1 ms", " 2  s ", "1e9 h", ".5 s", "5. s", "1s"),
    *("1e2000 s", "1 Mbit/s", "10 Mbps", "1 kB/s", "0 bit/s", "100 kB", "512 KiB", "1 KB", "0 B"),
    *("20 %", "7%", "150 %", "-1 %", "1.5 BDP", "20 % BDP", "20 % of BDP"),
    *("3 packets", "1 packet", "2.5 packets", "2 segments", "3 flows", "1e1 sessions", "2 users"),
    *([], ["1 s"], ["1 s", "2 s"], ["2 s", "1 s"], [1, 2], [["0 s", "1 Mbit/s"]], [{}], [[]], {}),
    *({"name": "x"}, {"kind": "red"}, {"name": "htcp"}, {"uniform": ["1 ms", "2 ms"]}, {"every": 10}),
    *({"exponential": "5 ms"}, {"empirical": ["1 ms", ["2 ms", 3]]}, {"steps": [["0 s", "2 Mbit/s"]]}),
    *({"probability": 0.1, "delay": "1 ms"}, {"handovers": {"period": "1 s", "range": "1 ms"}}),
    {"gilbert_elliott": {"good_to_bad": 0.1, "bad_to_good": 0.1}},
]
"""Values that some keys take and others do not."""
NUMBERS = [
    *("0", "1", "2", "-1", "+3", ".5", "5.", "5.0", "5.e1", "1e-9", "1e9", "1E2", "1e+2", "1e", "1e1234"),
    *("0x1", "1_000", "1,5", "inf", "nan", "½", "٣", "007", "", "1" * 120),
]
SPACES = [" ", " ", " ", "", "  ", "\t", "\n", "\u00a0", "\u2009"]
"""Between a number and its unit: what Rust, Python and JavaScript take for spaces."""
UNITS = [
    *("ns", "us", "µs", "μs", "ms", "s", "min", "h", "sec", "S", "bit/s", "Mbit/s", "Tbit/s", "B/s"),
    *("MB/s", "TB/s", "Mbps", "B", "kB", "KB", "MB", "TB", "KiB", "TiB", "%", "BDP", "% BDP", "%  BDP"),
    *("packets", "packet", "segments", "segment", "flows", "flow", "sessions", "users", "sources"),
    *("queues", "1/s", "of BDP", "% of the capacity", "of the capacity", "of the window"),
]
PROGRAMS: Any = {
    "duration": "1 s",
    "bottleneck": {"rate": "10 Mbit/s", "rtt": "20 ms", "buffer": "50 packets"},
    "program": [
        {"command": "iperf3 -c {peer}", "side": "a", "name": "p", "start": "0.1 s", "stop": "0.5 s"},
        {"command": ["iperf3", "-s"], "side": "b", "environment": {"LANG": "C"}},
    ],
    "sample": {"cwnd": "1 ms", "internals": True},
}

BEYOND = {
    "nodes and paths": r"no link leads there|no path leads|from and to are both|have none; accepted: packets",
    "names that come twice": r"two (links|flows or backgrounds|nodes|programs) are called",
    "the order of values": r"not later|above the second|first step is later|begins too early|"
    r"ends after the run|not after the start|is below tail_least|not in order|above the mean|"
    r"sine.min is above sine.max|"
    r"is not accepted\W.*(more|less|at most|at least)",
    "files": r"No such file|Is a directory|there is no file|File name too long|is not a .*file",
    "a limit of a number with a unit": r"(time|rate|size|buffer|load|packets?) is too (small|large)|"
    r'"[^"]*": it is too|no such load|holds less than a packet|less than a packet of|'
    r'"[^"]*" is no such number',
    "how much there is in all": r"samples every .* are more than \d+|there are \d+ (flows|programs)",
    "zero with a unit": r'= "[^"]*": it is not above 0',
}
"""What only the reader checks, by a pattern of its messages: values of more than one key, and files."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value within tables and lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def at(tables: Any, path: tuple[Any, ...]) -> Any:
    """The value there."""
    for key in path:
        tables = tables[key]
    return tables


class Mutation:
    """One or a few changes of the tables of a scenario."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(f"mutation {number}")
        chance = self.random.random()
        if chance < 0.05:
            self.base, self.tables = ROOT / "scenarios", copy.deepcopy(PROGRAMS)
        elif chance < 0.5:
            path = self.random.choice(FILES)
            self.base, self.tables = path.parent, tomllib.loads(path.read_text(encoding="utf-8"))
        else:
            self.base, self.tables = ROOT / "scenarios", random_scenarios.draw(number)
        self.what: list[str] = []
        for _ in range(self.random.choice([1, 1, 1, 2])):
            self.change()

    def change(self) -> None:
        """Changes one place."""
        draw = self.random
        path = draw.choice(list(places(self.tables)))
        parent, key = at(self.tables, path[:-1]), path[-1]
        others = ["value", "value", "other", "remove", "rename", "add", "double", "move"]
        kind = draw.choice([*others, *["near"] * len(others)])
        self.what.append(f"{kind} {'.'.join(map(str, path))}")
        match kind:
            case "value":
                parent[key] = copy.deepcopy(draw.choice(VALUES))
            case "other":
                parent[key] = copy.deepcopy(at(self.tables, draw.choice(list(places(self.tables)))))
            case "remove":
                del parent[key]
            case "rename" if isinstance(parent, dict):
                parent[draw.choice([key + "s", key[:-1] or "x", key.upper(), key[::-1]])] = parent.pop(key)
            case "add" if isinstance(parent, dict):
                names = [name for where in places(self.tables) if isinstance(name := where[-1], str)]
                parent[draw.choice([*names, "colour"])] = copy.deepcopy(draw.choice(VALUES))
            case "near":
                parent[key] = self.near(parent[key])
            case "double" if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
            case "move":
                other = at(self.tables, draw.choice(list(places(self.tables))))
                if isinstance(other, dict) and other is not parent[key]:
                    other[str(key)] = copy.deepcopy(parent[key])

    def near(self, value: Any) -> Any:
        """Nearly the same value."""
        draw = self.random
        if isinstance(value, bool):
            return draw.choice(["on", "off", "true", int(value), not value])
        if isinstance(value, int | float):
            unit = draw.choice(UNITS)
            near = [-value, value + 0.5, float(round(value)), value * 1e9, value * 1e-9, 0, 0.0, 1, 1.0]
            return draw.choice([*near, str(value), *[f"{value} {unit}"] * 2, f"{value} %", [value]])
        if isinstance(value, str) and value:
            number, _, unit = value.partition(" ")
            if unit and draw.random() < 0.5:
                return draw.choice(NUMBERS) + draw.choice(SPACES) + draw.choice([unit, unit, *UNITS])
            spot = draw.randrange(len(value))
            texts = [value.upper(), value + " ", f"+{value}", f"-{value}", value.replace(" ", ""), number]
            texts += [value[:spot] + value[spot + 1 :], value[:spot] + draw.choice("x0.µ %e-") + value[spot:]]
            return draw.choice([*texts, [value], {"name": value}, {"kind": value}])
        return draw.choice([[value], {"name": value}, [], {}])


def written(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return json.dumps(value, ensure_ascii=False)


def text_of(tables: dict[str, Any]) -> str:
    """A file with these tables."""
    return "".join(f"{json.dumps(key)} = {written(value)}\n" for key, value in tables.items())


def is_beyond(line: str) -> str | None:
    """What only the reader checks of this problem, if it is of that kind."""
    return next((name for name, pattern in BEYOND.items() if re.search(pattern, line)), None)


def compared(number: int) -> tuple[str, str]:
    """How the schema and the reader take a file, and what differs, if anything does."""
    mutation = Mutation(number)
    text = text_of(mutation.tables)
    problems: list[str] = []
    try:
        Scenario.from_toml(text, base=mutation.base)
    except InputError as refused:
        problems = refused.lines()
    errors = list(SCHEMA.iter_errors(tomllib.loads(text)))
    about = f"{number}: {'; '.join(mutation.what)}"
    if errors and not problems:
        told = [f"{list(error.absolute_path)}: {error.message[:200]}" for error in errors]
        return "disagree", f"{about}: only the schema refuses: {told}"
    if problems and not errors:
        kinds = [is_beyond(line) for line in problems]
        if None in kinds:
            return "disagree", f"{about}: only the reader refuses: {problems}"
        return f"beyond: {kinds[0]}", ""
    return ("refused" if errors else "accepted"), ""


def main(count: int, first: int = 0) -> int:
    """Compares this number of files; prints how they were taken, and returns how many they disagree about."""
    found: Counter[str] = Counter()
    for number in range(first, first + count):
        how, line = compared(number)
        found[how] += 1
        if line:
            print(line)
    print(json.dumps(found, indent=1))
    return found["disagree"]


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
