"""The rooms: imports form no circle, in Python and within each crate, and point down only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "python" / "longfat"
PAPERS = ROOT / "papers" / "longfat_papers"

LAYERS = (
    ("_core",),
    ("system",),
    ("documents", "drafts", "errors", "lazy", "numbers", "units", "words"),
    ("extras", "installation", "intervals", "packages", "terminal", "verifier"),
    ("scenario",),
    ("figure",),
    ("algorithm",),
    ("runs",),
    ("store",),
    ("live",),
    ("report",),
    ("study",),
    ("compare", "crosscheck", "ebpf", "env", "sweep"),
    ("assess",),
    ("sources",),
    ("api", "plots", "sweeping", "views"),
    ("cli",),
    ("__main__",),
)
"""The rooms from the bottom up; a room uses those below it, and none beside it."""


CRATE_LAYERS = {
    "scenario": (
        ("decimal", "problem", "routes", "sums", "tree"),
        ("occupancy", "sizes", "text", "world"),
        ("at", "units"),
        ("form",),
        ("keys",),
        ("forms",),
        ("stacks",),
        ("tables",),
        ("plan", "read", "schema", "write"),
        ("changes", "memory", "network", "reference", "stub"),
        ("fit", "notes", "resolve"),
        ("",),
    ),
    "sim": (("model",), ("results",), ("run",), ("drive",), ("steps",), ("",)),
    "transport": (
        ("chunks", "packet_sizes"),
        (
            "ages",
            "delivery",
            "feedback",
            "rack",
            "receiver",
            "rtt",
            "scoreboard",
            "slow_start",
            "sender::request",
            "udp::row",
            "udp::periods",
        ),
        ("codepoints", "misbehaving"),
        ("echoing",),
        ("cc::row",),
        ("cc::congestion_control",),
        ("cc::round", "reduction"),
        ("cc",),
        ("cc::controller",),
        ("sender",),
        ("udp::connection",),
        ("udp::end",),
        ("udp",),
        ("udp::ends",),
        ("",),
    ),
}
"""The parts of a crate from the bottom up, as the documentation in its lib.rs has them.

A module belongs to the part with the longest name that leads to it: the algorithms are `cc`, and the list of
them is `cc::controller`. The part without a name is the crate's root.
"""


def python_modules(package: Path) -> dict[str, Path]:
    """Every module of a package by its dotted name; a package goes by its own name."""
    found = {}
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def python_imports(package: Path) -> dict[str, set[str]]:
    """For each module the modules of the package that it imports, anywhere in its file."""
    modules = python_modules(package)
    return {
        name: {target for target in _targets(ast.parse(path.read_text()), modules) if target != name}
        for name, path in modules.items()
    }


def _targets(tree: ast.AST, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module
        elif isinstance(node, ast.Constant) and "." in str(node.value) and str(node.value) in modules:
            yield str(node.value)  # what import_module and the worker processes are given


def circles(arrows: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The groups of names that reach each other (strongly connected components of more than one)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in arrows.get(name, ()):
            if target not in order:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in arrows:
        if name not in order:
            visit(name)
    return found


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


@pytest.mark.parametrize("package", [PACKAGE, PAPERS], ids=lambda package: package.name)
def test_no_python_modules_import_each_other_in_a_circle(package):
    assert circles(python_imports(package)) == []


def test_the_library_imports_no_paper():
    texts = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    assert [str(path) for path, text in texts.items() if "longfat_papers" in text] == []


def test_python_imports_point_down_from_room_to_room():
    rank = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    modules = python_modules(PACKAGE)
    assert {room(name) for name in modules} - {""} <= set(rank), "a room has no layer"
    upward = [
        f"{name} imports {target}"
        for name, targets in python_imports(PACKAGE).items()
        for target in targets
        if room(name) and room(target) and room(name) != room(target)
        if rank[room(target)] >= rank[room(name)]
    ]
    assert upward == []


def test_no_rooms_of_the_python_front_form_a_circle():
    arrows: dict[str, set[str]] = {}
    for name, targets in python_imports(PACKAGE).items():
        arrows.setdefault(room(name), set()).update(
            room(target) for target in targets if room(target) not in ("", room(name))
        )
    arrows.pop("")
    assert circles(arrows) == []


FIGURES = {
    path.parent.name: set(re.findall(r"^    \"(\w+)\",$", path.read_text(), re.MULTILINE))
    for path in PAPERS.glob("*/__init__.py")
    if "FIGURES = " in path.read_text()
}
"""The modules with a figure, by paper."""


def figure_problems(arrows: Mapping[str, Iterable[str]], figures: Mapping[str, Iterable[str]]) -> list[str]:
    """The imports of a figure's file by another file, and those of another paper."""
    return [
        f"{name} imports {target}"
        for name, targets in arrows.items()
        for target in targets
        for paper, other in [(name.split(".")[1:2], target.split(".")[1:2])]
        if paper and paper[0] in figures
        if (target.split(".")[2:3] and target.split(".")[2] in figures.get(other[0], ()))
        or other[0] not in (paper[0], "kit")
    ]


def test_no_file_imports_that_of_a_figure_or_another_paper():
    assert figure_problems(python_imports(PAPERS), FIGURES) == []


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("a.fig1", "a.common", 0),
        ("a.fig1", "kit", 0),
        ("a.fig1", "kit.means", 0),
        ("a.fig1", "a.fig2", 1),
        ("a.common", "a.fig1", 1),
        ("a.fig1", "b.common", 1),
    ],
)
def test_an_import_of_a_figures_file_is_found(name, target, expected):
    arrows = {f"longfat_papers.{name}": {f"longfat_papers.{target}"}}
    assert len(figure_problems(arrows, {"a": ["fig1", "fig2"]})) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": "from toy import b", "b.py": ""}, []),
        ({"a.py": "from toy import b", "b.py": "import toy.a"}, [["toy.a", "toy.b"]]),
        (
            {
                "a.py": "from toy.b import x",
                "b.py": "def f():\n    from toy.c import y",
                "c.py": "import toy.a",
            },
            [["toy.a", "toy.b", "toy.c"]],
        ),
        ({"a.py": "import_module('toy.b')", "b.py": "from toy.a import z"}, [["toy.a", "toy.b"]]),
    ],
)
def test_a_circle_of_imports_is_found(tmp_path, files, expected):
    package = tmp_path / "toy"
    package.mkdir()
    for name, text in {"__init__.py": "", **files}.items():
        (package / name).write_text(text)
    assert circles(python_imports(package)) == expected


def rust_modules(source: Path) -> dict[str, Path]:
    """Every module file of a crate by its path, such as `sim::plan::link`; tests are left out."""
    found = {}
    for path in sorted(source.rglob("*.rs")):
        parts = [source.parent.name, *path.relative_to(source).with_suffix("").parts]
        if parts[-1] in ("lib", "main", "mod"):
            parts.pop()
        found["::".join(parts)] = path
    texts = {name: path.read_text() for name, path in found.items()}
    for name, text in texts.items():
        for inner in re.findall(r"#\[cfg\(test\)\]\s*(?:pub )?mod (\w+);", text):
            for other in list(found):
                if other == f"{name}::{inner}" or other.startswith(f"{name}::{inner}::"):
                    del found[other]
    return found


def rust_imports(source: Path) -> dict[str, set[str]]:
    """For each module of a crate the modules whose items it names.

    A re-export (`pub use`) is a signpost and no arrow: a path through it leads to where the item is defined.
    """
    modules = rust_modules(source)
    code = {name: _rust_code(path.read_text()) for name, path in modules.items()}
    exports = {
        name: dict(_leaves(text, r"pub(?:\([a-z: ]+\))? use ", name, modules)) for name, text in code.items()
    }
    return {name: set(_rust_targets(name, text, modules, exports)) - {name} for name, text in code.items()}


def _rust_code(text: str) -> str:
    """The text without comments, strings and the tests at its end."""
    text = re.split(r"#\[cfg\(test\)\]\s*(?:#\[.*\]\s*)*(?:pub(?:\(\w+\))? )?mod \w+ \{", text)[0]
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def _rust_targets(
    name: str, text: str, modules: Mapping[str, Path], exports: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    paths = [path for _, path in _leaves(text, r"(?<!pub )(?<!\) )\buse ", name, modules)]
    body = re.sub(r"\buse [^;]*;", "", text)
    for found in re.findall(r"\b(?:crate|super|self)(?:::\w+)+", body):
        paths.append(_absolute(found, name))
    for path in paths:
        target = _resolve(path, modules, exports)
        if target is not None:
            yield target


def _leaves(text: str, start: str, name: str, modules: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """(the name that an import brings, the absolute path that it stands for) of each `use` that begins so."""
    for match in re.finditer(start + r"([^;]*);", text):
        for path in _expanded(re.sub(r"\s+", " ", match.group(1)).strip()):
            path, _, alias = path.partition(" as ")
            first = path.split("::")[0]
            local = f"{name}::{first}" in modules
            if first in ("crate", "super", "self") or local:
                absolute = f"{name}::{path}" if local else _absolute(path, name)
                yield alias or path.split("::")[-1], absolute


def _expanded(path: str) -> Iterator[str]:
    """`a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`."""
    opened = path.find("{")
    if opened < 0:
        yield path.strip().removesuffix("::self")
        return
    prefix, inner = path[:opened], path[opened + 1 : path.rindex("}")]
    depth, piece = 0, ""
    for character in inner + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if piece.strip():
                yield from _expanded(prefix + piece.strip())
            piece = ""
        else:
            piece += character


def _absolute(path: str, name: str) -> str:
    here = name.split("::")
    parts = path.split("::")
    if parts[0] == "crate":
        return "::".join([here[0], *parts[1:]])
    while parts and parts[0] in ("super", "self"):
        if parts.pop(0) == "super":
            here = here[:-1]
    return "::".join([*here, *parts])


def _resolve(
    path: str, modules: Mapping[str, Path], exports: Mapping[str, Mapping[str, str]], depth: int = 0
) -> str | None:
    parts = path.split("::")
    for length in range(len(parts), 0, -1):
        module = "::".join(parts[:length])
        if module not in modules:
            continue
        rest = parts[length:]
        if rest and rest[0] in exports[module] and depth < 8:
            return _resolve("::".join([exports[module][rest[0]], *rest[1:]]), modules, exports, depth + 1)
        return module
    return None


CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/src"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_modules_of_a_crate_use_each_other_in_a_circle(crate):
    assert circles(rust_imports(crate / "src")) == []


def crate_part(module: str, parts: Iterable[str]) -> str:
    """For sim::model::flow::ends: model."""
    inner = module.partition("::")[2]
    return max((part for part in parts if f"{inner}::".startswith(f"{part}::") or not part), key=len)


def upward_uses(arrows: Mapping[str, Iterable[str]], layers: Iterable[Iterable[str]]) -> list[str]:
    """The uses from one part of a crate to another that is not below it."""
    rank = {part: number for number, layer in enumerate(layers) for part in layer}
    return [
        f"{name} uses {target}"
        for name, targets in arrows.items()
        for target in targets
        for part, other in [(crate_part(name, rank), crate_part(target, rank))]
        if part != other and rank[other] >= rank[part]
    ]


@pytest.mark.parametrize("crate", CRATE_LAYERS)
def test_the_uses_of_a_crate_point_down_from_part_to_part(crate):
    source, layers = ROOT / "crates" / crate / "src", CRATE_LAYERS[crate]
    arrows = rust_imports(source)
    parts = {part for layer in layers for part in layer}
    assert {crate_part(name, parts) for name in arrows} == parts, "a part of the table has no module"
    assert {name for name in arrows if not crate_part(name, parts)} == {crate}, "a module has no layer"
    assert upward_uses(arrows, layers) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("plan/link.rs", "", []),
        ("run/state.rs", "use crate::plan::link::Link;", []),
        ("plan/link.rs", "use crate::run::state::State;", ["toy::plan::link uses toy::run::state"]),
        ("plan/link.rs", "fn f() { crate::run::state::g() }", ["toy::plan::link uses toy::run::state"]),
        ("plan/link.rs", "use crate::State;", ["toy::plan::link uses toy::run::state"]),
        ("plan/link.rs", "use crate::{N};", ["toy::plan::link uses toy"]),
        ("plan/link.rs", "use super::nodes::N;", []),
        ("plan/nodes.rs", "use crate::model::Model;", ["toy::plan::nodes uses toy::model"]),
        ("plan/list.rs", "use super::nodes::N;", []),
        ("plan/nodes.rs", "use super::list::ALL;", ["toy::plan::nodes uses toy::plan::list"]),
        ("plan/link.rs", "#[cfg(test)]\npub(super) mod path {\n    use crate::State;\n}", []),
    ],
)
def test_a_use_that_points_up_or_sideways_is_found(tmp_path, name, text, expected):
    source = tmp_path / "toy" / "src"
    files = {
        "lib.rs": "mod model;\nmod plan;\nmod run;\npub use run::state::State;\npub const N: u8 = 1;",
        "model.rs": "",
        "plan/mod.rs": "mod link;\nmod list;\nmod nodes;",
        "plan/link.rs": "",
        "plan/list.rs": "",
        "plan/nodes.rs": "",
        "run/mod.rs": "mod state;",
        "run/state.rs": "",
    }
    for file, content in {**files, name: text}.items():
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_text(content)
    layers = (("plan", "model"), ("plan::list",), ("run",), ("",))
    assert upward_uses(rust_imports(source), layers) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"lib.rs": "mod a;\nmod b;\npub use a::A;", "a.rs": "pub struct A;", "b.rs": "use crate::A;"}, []),
        (
            {
                "lib.rs": "mod a;\nmod b;\npub use b::B;",
                "a.rs": "use crate::B;",
                "b.rs": "use super::a::{A, C};",
            },
            [["toy::a", "toy::b"]],
        ),
        (
            {"lib.rs": "mod a;", "a/mod.rs": "mod b;\npub struct A;\nuse b::B;", "a/b.rs": "use super::A;"},
            [["toy::a", "toy::a::b"]],
        ),
        (
            {
                "lib.rs": "mod a;\nmod b;",
                "a.rs": "fn f() { crate::b::g() }",
                "b.rs": "fn g() { super::a::f() }",
            },
            [["toy::a", "toy::b"]],
        ),
        (
            {
                "lib.rs": "mod a;\nmod b;",
                "a.rs": "// crate::b::g\nuse super::b::B;",
                "b.rs": "// use crate::a;",
            },
            [],
        ),
    ],
)
def test_a_circle_of_uses_in_rust_is_found(tmp_path, files, expected):
    for name, text in files.items():
        file = tmp_path / "toy" / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert circles(rust_imports(tmp_path / "toy" / "src")) == expected
