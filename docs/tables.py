"""Text of the documents that follows from the registries, the stacks, the commands and the keys of scenarios.

    python docs/tables.py

Pages keep this text between comments, so that they can be read without a build. The command writes it
anew, as a part of `make generated`, and a test checks that it is current.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from longfat import _core
from longfat.cli.app import app
from longfat.scenario import registry
from longfat.scenario.registry import Kind, Parameter, Row
from longfat.scenario.stacks import NAMES, STACKS, Setting, Stack
from longfat.words import shown
from longfat_papers import names as suite_names

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LONGEST_LINE = 110
BEGIN = "<!-- generated: "
MARKED = re.compile(rf"^({BEGIN}([a-z0-9.-]+) -->\n).*?^(<!-- end of \2 -->)$", re.MULTILINE | re.DOTALL)
"""The generated text of a page with the two comments around it."""


def algorithms() -> str:
    """Every algorithm with its page, what carries it, how it runs live, and its source."""
    lines = ["| name | model | carried by | live as | source |", "|---|---|---|---|---|"]
    for row in registry.rows("algorithms"):
        carrier = {"tcp": "TCP", "udp": "UDP", "datagrams": "datagrams"}[row["transport"]]
        carrier += ", explicit rate" if row.get("explicit") else ""
        lines.append(f"| {_names(row)} | {_link(row)} | {carrier} | {_live(row)} | {row['citation']} |")
    return "\n".join(lines)


def queues() -> str:
    """Every queue with its page, whether it can mark, and its source."""
    lines = ["| name | model | ECN marks | Linux has | source |", "|---|---|---|---|---|"]
    for row in registry.rows("queues"):
        module = f"`{row['linux_module']}`" if row["linux_module"] else "–"
        marks = "yes" if row.get("ecn") else "no"
        lines.append(f"| {_names(row)} | {_link(row)} | {marks} | {module} | {row['citation']} |")
    return "\n".join(lines)


def routers() -> str:
    """Every router with its page and its source."""
    lines = ["| name | model | source |", "|---|---|---|"]
    lines += [f"| {_names(row)} | {_link(row)} | {row['citation']} |" for row in registry.rows("routers")]
    return "\n".join(lines)


def pages() -> str:
    """The contents of the models' index: pages of the network, then of rows in the registries' order."""
    kinds: tuple[Kind, ...] = ("algorithms", "queues", "routers")
    stems = ["network", "capacity", "transport", "surge", "traffic"]
    stems += [row["page"] for kind in kinds for row in registry.rows(kind)]
    listed = "\n".join(dict.fromkeys(stems))
    return f"```{{toctree}}\n:hidden:\n\n{listed}\n```"


def stacks() -> str:
    """Every stack with its page, its time and what it is."""
    lines = ["| stack | hosts | time | |", "|---|---|---|---|"]
    lines += [
        f"| [`{one['name']}`]({one['name']}.md) | {one['title']} | {one['era']} | {one['summary']} |"
        for one in STACKS
    ]
    return "\n".join(lines)


def stack_pages() -> str:
    """The contents of the stacks' index."""
    listed = "\n".join(NAMES)
    return f"```{{toctree}}\n:hidden:\n\n{listed}\n```"


def stack(one: Stack) -> str:
    """The keys of a stack with their sources, and what is unknown."""
    lines = [_lines(one["summary"]), ""]
    if one["keys"]:
        lines += ["| key | value | source |", "|---|---|---|"]
        lines += [
            f"| `{setting['key']}` | {_stack_values(setting)} | {setting['source']} |"
            for setting in one["keys"]
        ]
    else:
        lines.append("This stack sets no key.")
    if one["unknown"]:
        unknown = (_lines(f"- {line}", "  ") for line in one["unknown"])
        lines += ["", "Unknown, or not modelled:", "", *unknown]
    return "\n".join(lines)


def _stack_values(setting: Setting) -> str:
    """The value of a stack's key, and those of the algorithms that have others."""
    texts = [] if setting["value"] is None else [f"`{shown(setting['value'])}`"]
    others: dict[str, list[str]] = {}
    for name, value in setting["algorithms"].items():
        others.setdefault("their own" if value is None else f"`{shown(value)}`", []).append(f"`{name}`")
    texts += [f"{', '.join(names)}: {told}" for told, names in others.items()]
    return "; ".join(texts)


KEYS = (
    *("scenario", "bottleneck", "disturbances", "link", "node", "flow", "transport", "background"),
    *("web", "surge", "short", "bulk", "onoff", "program", "sample"),
)
"""The tables of a scenario's keys, which the core makes from their definition."""


def parameters() -> str:
    """Every parameter of every row, with default, range and meaning."""
    blocks = []
    kinds: tuple[Kind, ...] = ("algorithms", "queues", "routers")
    for kind in kinds:
        blocks.append(f"## {kind.capitalize()}")
        for row in registry.rows(kind):
            link = f"See [{row['title']}](../models/{row['page']}.md)."
            blocks.append(f"### {row['name']} ({kind.removesuffix('s')})\n\n{link}")
            if row["parameters"]:
                rows = "\n".join(_parameter(row["name"], parameter) for parameter in row["parameters"])
                blocks.append(f"| parameter | default | accepts | meaning |\n|---|---|---|---|\n{rows}")
            else:
                blocks.append("No parameters.")
    return "\n\n".join(blocks)


FIRST_RUN = (
    *("run", "--preset", "dumbbell", "--flow", "cubic", "--flow", "bbr"),
    *("--rate", "50 Mbit/s", "--rtt", "40 ms", "--out", "out/first"),
)
"""The README's first command."""
FIRST_WIDTH = 100
"""Columns of the terminal in which it runs."""


def first_run() -> str:
    """The first command as a user types it, and the beginning of what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        title, flows, links, *_ = _longfat(*FIRST_RUN, folder=folder).split("\n\n")
    typed = " ".join(f'"{word}"' if " " in word else word for word in ("longfat", *FIRST_RUN))
    lines = "\n".join(line.rstrip() for line in "\n\n".join((title, flows, links)).splitlines())
    return f"    {typed}\n\n```text\n{lines}\n```"


def draw_first_run() -> None:
    """Writes the figure of the first command."""
    with tempfile.TemporaryDirectory() as folder:
        _longfat(*FIRST_RUN, folder=folder)
        _longfat("report", FIRST_RUN[-1], folder=folder)
        shutil.copy(Path(folder, FIRST_RUN[-1], "figures", "throughput.svg"), DOCS / "img" / "first.svg")


def _longfat(*arguments: str, folder: str) -> str:
    """Runs the command in a folder, and returns what it prints."""
    command = [sys.executable, "-m", "longfat", *arguments]
    environment = os.environ | {"COLUMNS": str(FIRST_WIDTH)}
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def overview() -> str:
    """What there is, for the README: how many of each kind, and their names."""
    rows = registry.rows("algorithms")
    tcp = [row for row in rows if row["transport"] == "tcp" and not row.get("explicit")]
    explicit = [row for row in rows if row.get("explicit")]
    udp = [row for row in rows if row["transport"] != "tcp"]
    models, queues, routers = "docs/models/index.md", registry.rows("queues"), registry.rows("routers")
    kinds = {
        f"[TCP]({models}#algorithms)": _plain(tcp),
        f"[explicit rate]({models}#algorithms)": _plain(explicit),
        f"[over UDP]({models}#algorithms)": _plain(udp),
        f"[queues]({models}#queues)": _plain(queues),
        f"[routers]({models}#routers)": _plain(routers),
        "[stacks](docs/stacks/index.md) of hosts": NAMES,
        "[suites](docs/guide/suites.md) of papers": suite_names(),
    }
    rows = (f"| {kind} | {len(names)} | {_code(names)} |" for kind, names in kinds.items())
    return "\n".join(["| | | |", "|---|---|---|", *rows])


def commands() -> str:
    """What `--help` prints of every command."""
    return "\n\n".join(_helps(app, "longfat", None))


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command, parent, info_name=name, terminal_width=LONGEST_LINE, **command.context_settings
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (inner := command.get_command(context, name)) is not None:
                yield from _helps(inner, name, context)


def gallery() -> str:
    """Every file in `scenarios/`: its title, the comment at its top, the command that runs it, and a link."""
    sections = []
    for scenario in sorted((ROOT / "scenarios").glob("*.toml")):
        text = scenario.read_text(encoding="utf-8")
        title = tomllib.loads(text)["title"]
        (top,) = re.findall(r"\A(?:#:.*\n)?((?:#.*\n)+)", text)
        about = _lines(" ".join(line.lstrip("# ") for line in top.splitlines()))
        name = f"scenarios/{scenario.name}"
        sections.append(f"## {title}\n\n{about}\n\n    longfat run {name} --plot\n\n[`{name}`](../{name})")
    return "\n\n".join(sections)


def kernel() -> str:
    """The keys that live runs leave to the kernel."""
    return _lines(_core.definition("kernel"))


def pages_with_text() -> list[Path]:
    """The files of the repository that keep generated text."""
    found = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    return [path for path in found if BEGIN in path.read_text(encoding="utf-8")]


def filled(page: str) -> str:
    """Returns a page with its generated text as it is now.

    Raises:
        ValueError: a comment has no end.
        KeyError: there is no such text.
    """
    if page.count(BEGIN) != len(MARKED.findall(page)):
        raise ValueError(f"generated text stands between the lines {BEGIN}NAME --> and <!-- end of NAME -->")
    return MARKED.sub(lambda found: f"{found[1]}\n{TEXTS[found[2]]()}\n\n{found[3]}", page)


def _lines(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, LONGEST_LINE, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _names(row: Row) -> str:
    return _code((row["name"], *row["aliases"]))


def _link(row: Row) -> str:
    return f"[{row['title']}]({row['page']}.md)"


def _plain(rows: list[Row]) -> list[str]:
    return [row["name"] for row in rows]


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _live(row: Row) -> str:
    if not row["live"]:
        return "–"
    forms = [f"`{row['linux_module']}`"] if row["linux_module"] else []
    form = row.get("kernel_form")
    return " or ".join([*forms, *([f"`{form}`"] if form else [])]) or "real datagrams"


def _parameter(row: str, parameter: Parameter) -> str:
    if parameter["choices"]:
        accepts = ", ".join(f"`{shown(choice)}`" for choice in parameter["words"])
    else:
        ends = (("from", parameter["least"]), ("to", parameter["greatest"]))
        given = [_limit(row, parameter, word, end) for word, end in ends if end is not None]
        accepts = " ".join(given) or "any number"
        accepts += ', `"auto"`' if parameter["auto"] is not None else ""
    default = shown(parameter["written"])
    return f"| `{parameter['name']}` | `{default}` | {accepts} | {registry.meaning(parameter)} |"


def _limit(row: str, parameter: Parameter, word: str, limit: float) -> str:
    """A limit as a file writes it; 0 is what the core has for "auto", which files do not write so."""
    value = registry.written(row, parameter, limit)
    return "above `0`" if value == "auto" else f"{word} `{shown(value)}`"


TEXTS: dict[str, Callable[[], str]] = {
    "first-run": first_run,
    "overview": overview,
    "algorithms": algorithms,
    "queues": queues,
    "routers": routers,
    "parameters": parameters,
    "pages": pages,
    "stacks": stacks,
    "stack-pages": stack_pages,
    **{f"stack-{one['name']}": partial(stack, one) for one in STACKS},
    **{f"keys-{name}": partial(_core.definition, name) for name in KEYS},
    "keys-kernel": kernel,
    "commands": commands,
    "gallery": gallery,
}
"""What a page may have between the comments `generated: NAME` and `end of NAME`."""


if __name__ == "__main__":
    for path in pages_with_text():
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    draw_first_run()
