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
