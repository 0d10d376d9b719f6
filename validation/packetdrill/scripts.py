"""Runs packetdrill's scripts about a TCP sender against the model's, with `stack = "linux"`.

    python validation/packetdrill/scripts.py --scripts packetdrill/gtests/net/tcp

The scripts are the kernel developers' own and under the GPL, so they stay outside of this repository: clone
https://github.com/google/packetdrill, or take tools/testing/selftests/net/packetdrill of the kernel's source
(Debian: linux-source). Each script passes, fails with what differs first, or does not apply, with the reason.
With `--packetdrill` this machine's kernel runs the scripts too, which needs root. `--write` puts the table
into docs/stacks/linux.md. Why a script may fail is in explanations.toml.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from language import ForeignError, ScriptError, read
from sender import ROOT, Driven, Model, Profile, build
from verdicts import Verdict, compare

PAGE = ROOT / "docs" / "stacks" / "linux.md"
MARKS = ("<!-- make validate-packetdrill -->\n", "<!-- end of make validate-packetdrill -->\n")
EXPLANATIONS = Path(__file__).with_name("explanations.toml")
KERNEL_SECONDS, KERNEL_TRIES = 120, 3
"""A script that fails is tried again on a kernel: a busy machine is late."""
ADDRESSES = (
    "--ip_version=ipv4",
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
    "--define=CMSG_LEVEL_IP=SOL_IP",
    "--define=CMSG_TYPE_RECVERR=IP_RECVERR",
)
"""As the kernel's ksft_runner.sh has them."""


@dataclass(frozen=True)
class Judged:
    """A script, what the model does with it, and whether this machine's kernel passes it."""

    name: str
    verdict: Verdict
    kernel: bool | None = None


def found(folders: list[Path]) -> Iterator[tuple[str, Path]]:
    """Returns the scripts in these folders, with names that begin with the folder's."""
    for folder in folders:
        root = folder.resolve()
        for path in sorted(root.rglob("*.pkt")):
            yield str(path.relative_to(root.parent)), path


def judge(path: Path, program: Path) -> Verdict:
    """Runs a script against the model."""
    try:
        script = read(path)
    except ForeignError as error:
        return Verdict(reason=str(error))
    except ScriptError as error:
        return Verdict(reason=f"not understood: {error}")
    with ExitStack() as stack:

        def start(profile: Profile) -> Driven:
            return stack.enter_context(Model(program, profile))

        return compare(script, start)


def passes_here(path: Path, packetdrill: Path) -> bool:
    """Whether this machine's kernel passes a script."""
    command = ["unshare", "--net", str(packetdrill.resolve()), *ADDRESSES, path.name]
    return any(_succeeds(command, path.parent) for _ in range(KERNEL_TRIES))


def _succeeds(command: list[str], folder: Path) -> bool:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=KERNEL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def explanations() -> dict[str, str]:
    """Returns why a script may fail, by its file's name without ending."""
    read = tomllib.loads(EXPLANATIONS.read_text())["explanation"]
    return {name: each["text"] for each in read for name in each["scripts"]}


def table(judged: list[Judged], why: dict[str, str]) -> str:
    """Returns the results as Markdown."""
    applicable = [each for each in judged if not each.verdict.reason]
    passed = sum(not each.verdict.differences for each in applicable)
    by_kernel = any(each.kernel is not None for each in applicable)
    others = len(judged) - len(applicable)
    explained = sum(bool(each.verdict.differences) and Path(each.name).stem in why for each in applicable)
    sentence = (
        f"{passed} of {len(applicable)} scripts about a sender pass, {explained} more differ for a stated "
    )
    sentence += f"reason; {others} do not apply."
    if by_kernel:
        ours = sum(each.kernel is True for each in applicable)
        release = platform.release().partition("-")[0]
        sentence += f" Linux {release} itself passes {ours} in one of {KERNEL_TRIES} tries."
    head = ["script", "model", *(["Linux"] if by_kernel else []), "compared", "what differs, and why"]
    lines = [sentence, "", _row(head), _row(["---"] * len(head))]
    for each in applicable:
        kernel = [{True: "pass", False: "fail", None: ""}[each.kernel]] if by_kernel else []
        lines.append(_row([f"`{each.name}`", _word(each), *kernel, _compared(each.verdict), _why(each, why)]))
    reasons = Counter(each.verdict.reason for each in judged if each.verdict.reason)
    lines += ["", _row(["does not apply, as it is about", "scripts"]), _row(["---"] * 2)]
    lines += [_row([_escaped(reason), str(count)]) for reason, count in reasons.most_common()]
    return "\n".join(lines) + "\n"


def write_page(text: str) -> None:
    """Replaces what stands between the marks."""
    head, begin, rest = PAGE.read_text().partition(MARKS[0])
    _, end, tail = rest.partition(MARKS[1])
    if not begin or not end:
        raise SystemExit(f"error: {PAGE.relative_to(ROOT)}: the marks {MARKS[0].strip()} are missing")
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + tail)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _word(each: Judged) -> str:
    return "**fail**" if each.verdict.differences else "pass"


def _compared(verdict: Verdict) -> str:
    text = f"{_count(verdict.packets, 'packet')}, {_count(verdict.statements, 'assertion')}"
    missing = sorted(set(verdict.unknown))
    return text + (f"; not {', '.join(f'`{name}`' for name in missing)}" if missing else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _why(each: Judged, why: dict[str, str]) -> str:
    if not each.verdict.differences:
        return ""
    text = _escaped(str(each.verdict.differences[0]))
    reason = why.get(Path(each.name).stem)
    return f"{text}. {reason}" if reason else text


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def main(arguments: list[str] | None = None) -> int:
    """Returns exit code 0 if every script passes, does not apply or is explained, 1 if not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scripts", nargs="+", type=Path, required=True, metavar="DIR", help="folders with scripts"
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="scripts whose name contains this")
    parser.add_argument("--all", action="store_true", help="print every difference, not only the first")
    parser.add_argument(
        "--packetdrill", type=Path, metavar="PROGRAM", help="run the scripts on this kernel too"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    asked = parser.parse_args(arguments)
    chosen = [(name, path) for name, path in found(asked.scripts) if asked.only in name]
    if not chosen:
        print(f"error: no scripts (*.pkt) in {', '.join(map(str, asked.scripts))}", file=sys.stderr)
        return 2
    program, why = build(), explanations()
    judged = []
    for name, path in chosen:
        verdict = judge(path, program)
        kernel = None
        if asked.packetdrill and not verdict.reason:
            kernel = passes_here(path, asked.packetdrill)
        judged.append(Judged(name, verdict, kernel))
        told = "" if kernel is None else f"; this kernel: {'pass' if kernel else 'fail'}"
        print(f"{verdict.word:14} {name}{': ' if verdict.reason else ''}{verdict.reason}{told}", flush=True)
        for difference in verdict.differences[: None if asked.all else 1]:
            print(f"{'':14} {difference}")
    text = table(judged, why)
    if asked.write:
        write_page(text)
    failed = [Path(each.name).stem for each in judged if each.verdict.differences]
    print("\n" + text.partition("\n")[0])
    return 1 if any(name not in why for name in failed) else 0


if __name__ == "__main__":
    sys.exit(main())
