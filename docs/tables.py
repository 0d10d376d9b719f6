"""Tables of the documents that follow from the registries, the stacks and the definition of scenarios.

The site calls these functions when it is built. The README must be readable without a build, so it keeps its
table in the text: `python docs/tables.py --write README.md` updates it, and a test checks that it is current.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from longfat import _core
from longfat.scenario import registry
from longfat.scenario.registry import Kind, Parameter, Row
from longfat.scenario.stacks import NAMES, STACKS, Setting, Stack
from longfat.words import shown
from longfat_papers import names as suite_names

BEGIN = "<!-- python docs/tables.py --write README.md -->"
END = "<!-- end of python docs/tables.py -->"


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
    lines = [one["summary"], ""]
    if one["keys"]:
        lines += ["| key | value | source |", "|---|---|---|"]
        lines += [
            f"| `{setting['key']}` | {_stack_values(setting)} | {setting['source']} |"
            for setting in one["keys"]
        ]
    else:
        lines.append("This stack sets no key.")
    if one["unknown"]:
        lines += ["", "Unknown, or not modelled:", "", *(f"- {line}" for line in one["unknown"])]
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


def overview() -> str:
    """What there is, for the README: a line for each kind, names linked to their pages."""
    rows = registry.rows("algorithms")
    tcp = [row for row in rows if row["transport"] == "tcp" and not row.get("explicit")]
    explicit = [row for row in rows if row.get("explicit")]
    udp = [row for row in rows if row["transport"] != "tcp"]
    suites = ", ".join(f"`{name}`" for name in suite_names())
    return "\n".join(
        [
            "| | |",
            "|---|---|",
            f"| TCP | {_list(tcp)} |",
            f"| explicit rate | {_list(explicit)} |",
            f"| over UDP | {_list(udp)} |",
            f"| queues | {_list(registry.rows('queues'))}; ECN marks |",
            f"| routers | {_list(registry.rows('routers'))} |",
            f"| stacks | {', '.join(f'[`{name}`](docs/stacks/{name}.md)' for name in NAMES)} |",
            f"| suites | {suites} ([guide](docs/guide/suites.md)) |",
        ]
    )


def written(text: str) -> str:
    """The README with its table as the registries are now."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the table stands between {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{overview()}\n\n{END}{after}"


def _names(row: Row) -> str:
    return ", ".join(f"`{name}`" for name in (row["name"], *row["aliases"]))


def _link(row: Row) -> str:
    return f"[{row['title']}]({row['page']}.md)"


def _list(rows: list[Row]) -> str:
    return ", ".join(f"[`{row['name']}`](docs/models/{row['page']}.md)" for row in rows)


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


TABLES: dict[str, Callable[[], str]] = {
    "algorithms": algorithms,
    "queues": queues,
    "routers": routers,
    "parameters": parameters,
    "pages": pages,
    "stacks": stacks,
    "stack-pages": stack_pages,
    **{f"stack-{one['name']}": partial(stack, one) for one in STACKS},
    **{f"keys-{name}": partial(_core.definition, name) for name in (*KEYS, "kernel")},
}
"""What a page of the site asks for with a comment `generated: NAME`."""


def main() -> None:
    """Prints the README's table, or writes it into a file."""
    parser = argparse.ArgumentParser(description="The README's table of what there is.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write it into this file")
    asked = parser.parse_args()
    if asked.write is None:
        print(overview())
    else:
        asked.write.write_text(written(asked.write.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
