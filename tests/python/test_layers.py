"""The rooms of the Python front: imports form no circle and point down only."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "longfat"

LAYERS = (
    ("errors", "numbers", "units", "words", "_core"),
    ("scenario",),
    ("figure",),
    ("algorithm",),
    ("runs",),
    ("store",),
    ("live",),
    ("report",),
    ("compare", "screen", "sweep"),
    ("suites",),
    ("api", "plan", "plots"),
    ("cli",),
    ("__main__",),
)
"""The rooms from the bottom up; a room uses those below it, and none beside it."""


SUITE_PARTS = (
    ("settings",),
    ("networks", "bounds"),
    ("reduction",),
    ("requirements",),
    ("figures", "rules"),
    ("experiments", "claims"),
)
"""The parts of a suite from the bottom up; `friendly_rules` is a module of the part `rules`."""


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


def test_no_python_modules_import_each_other_in_a_circle():
    assert circles(python_imports(PACKAGE)) == []


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


def suite_problems(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """The imports of suites that point up, sideways or into another suite, and modules of no known part."""
    rank = {name: number for number, layer in enumerate(SUITE_PARTS) for name in layer}
    problems = []
    for name, targets in arrows.items():
        suite, part = _suite_and_part(name)
        if suite in ("", "kit") or not part:
            continue
        if part not in rank:
            problems.append(f"{name} is no part of a suite")
            continue
        for target in targets:
            other, its_part = _suite_and_part(target)
            if other == suite and part != its_part and rank[part] <= rank.get(its_part, len(rank)):
                problems.append(f"{name} imports {target}")
            if other not in ("", "kit", suite):
                problems.append(f"{name} imports {target}, which is another suite's")
    return problems


def _suite_and_part(module: str) -> tuple[str, str]:
    """Of longfat.suites.lopez2008.beyond_figures: lopez2008 and figures."""
    parts = [*module.split(".")[1:], "", "", ""]
    return (parts[1], parts[2].rpartition("_")[2]) if parts[0] == "suites" else ("", "")


def test_the_parts_of_a_suite_import_those_below_them_and_no_other_suite():
    assert suite_problems(python_imports(PACKAGE)) == []


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("a.rules", "a.settings", 0),
        ("a.rules", "kit.checks", 0),
        ("a.rules", "a.figures", 1),
        ("a.claims", "a.figures", 0),
        ("a.friendly_figures", "a.figures", 0),
        ("a.settings", "a.experiments", 1),
        ("a.settings", "b.settings", 1),
        ("a.others", "a.settings", 1),
    ],
)
def test_an_import_between_parts_that_points_up_or_sideways_is_found(name, target, expected):
    arrows = {f"longfat.suites.{name}": {f"longfat.suites.{target}"}}
    assert len(suite_problems(arrows)) == expected


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
