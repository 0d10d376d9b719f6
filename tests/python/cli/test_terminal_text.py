"""Texts from elsewhere in a terminal: no character of them reaches it that would steer it."""

from __future__ import annotations

import ast
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import longfat as library
from longfat import terminal
from samples import table

EVIL = "red \x1b[31m \x1b]0;title\x01 back\x02 c1 \x9b2J del \x7f bidi \u202e"
SHOWN = "red ␛[31m ␛]0;title␁ back␂ c1 \ufffd2J del ␡ bidi \ufffd"
STEERING = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F))} - {"\n", "\t"}
RENO = "def on_ack(self, ack, window): pass\n    def on_congestion(self, event, window): pass\n"


def refuse_steering(text: str) -> None:
    found = STEERING & set(text)
    assert not found, [unicodedata.name(one, hex(ord(one))) for one in found]


def scenario_file(folder: Path, **changes: Any) -> Path:
    file = folder / f"{EVIL}.toml".replace("/", "")
    file.write_text(tomli_w.dumps(table(duration="1 s", **changes)))
    return file


def test_every_control_character_is_shown_and_no_other_changes() -> None:
    assert terminal.printable(EVIL) == SHOWN
    plain = "a\tb\nc Ünïcödé → ✓ µs 中 e\u0301"
    assert terminal.printable(plain) == plain
    for code in range(0x110000):
        shown = terminal.printable(chr(code))
        assert len(shown) == 1
        if unicodedata.category(chr(code)) == "Cc" and chr(code) not in "\t\n":
            assert unicodedata.category(shown) != "Cc"


def test_titles_and_names_of_algorithms_and_files_are_shown_in_tables_and_messages(
    longfat: Any, tmp_path: Path
) -> None:
    (tmp_path / f"own{EVIL}.py").write_text(f"class Own:\n    {RENO}")
    flow = {"rtt": "20 ms", "algorithm": f"own{EVIL}.py:Own"}
    file = scenario_file(tmp_path, title=EVIL, flow=[flow])
    code, out, err = longfat("run", file, "--out", tmp_path / f"out{EVIL}", "--plot")
    assert code == 0, err
    assert out.splitlines()[0].strip() == SHOWN
    assert f"Written to {tmp_path}/out{SHOWN}" in out
    refuse_steering(out + err)
    code, out, err = longfat("report", tmp_path / f"out{EVIL}")
    assert (code, out) == (0, f"{tmp_path}/out{SHOWN}/index.html\n")
    # the pages and data have the text as it is, and JSON escapes it
    code, out, _ = longfat("run", file, "--json")
    assert json.loads(out)["flows"][0]["algorithm"] == f"own{EVIL}.py:Own"
    refuse_steering(out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", f"nothing{EVIL}.toml"),
        ("run", "{file}", "--set", f"flow.0.{EVIL}=3"),
        ("run", "{file}", "--set", f'title="{EVIL}"', "--set", "flow.0.rtt=1"),
        ("report", f"nowhere{EVIL}"),
        ("results", f"nowhere{EVIL}"),
        ("import", f"nowhere{EVIL}.pcap"),
        ("run", f"--{EVIL}"),
        (EVIL,),
    ],
)
def test_messages_show_control_characters(longfat: Any, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = scenario_file(tmp_path)
    code, out, err = longfat(*(argument.replace("{file}", str(file)) for argument in arguments))
    assert code == 2
    assert "␛[31m" in err or r"\x1b[31m" in err
    refuse_steering(out + err)


def test_cells_and_columns_of_a_query_show_control_characters(longfat: Any, tmp_path: Path) -> None:
    library.Sweep(table(duration="1 s"), {"seed": [1]}, title=EVIL).run(tmp_path, jobs=1, progress=False)
    query = f"SELECT '{EVIL}' AS \"{EVIL}\""
    for more in ((), ("--json",)):
        code, out, err = longfat("results", tmp_path, "--sql", query, *more)
        assert code == 0, err
        refuse_steering(out + err)
    assert json.loads(out) == [{EVIL: EVIL}]
    code, out, err = longfat("results", tmp_path)
    refuse_steering(out + err)


def test_styles_still_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console
    from rich.text import Text

    console = terminal.safe(Console(force_terminal=True, width=40, color_system="standard"))
    with console.capture() as captured:
        console.print(Text(f"a{EVIL[:8]}", style="bold"))
    assert captured.get() == "\x1b[1mared ␛[31\x1b[0m\n"


def test_only_one_module_writes_to_the_terminal() -> None:
    root = Path(library.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node)
                name = ast.unparse(node.func)
                if name in ("click.echo", "click.secho", "print") or (
                    name in ("Console", "rich.console.Console") and "quiet=True" not in called
                ):
                    found.append((path.relative_to(root).as_posix(), called))
    assert {file for file, _ in found} == {"terminal.py", "__main__.py", "runs/progress.py"}
    others = [called for file, called in found if file != "terminal.py"]
    assert others == [
        "print('interrupted', file=sys.stderr)",
        "print(printable(plain), file=stream, flush=True)",
    ]
