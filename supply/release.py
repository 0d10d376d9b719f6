"""Makes a release: sets the version, builds and tries its files, then commits and tags.

    python supply/release.py 0.2.0              `make release VERSION=0.2.0` calls this
    python supply/release.py 0.2.0 --dry-run    checks what a release needs, and prints the steps
    python supply/release.py 0.2.0 --notes      prints the changelog's section of a version that is set

The work is done in a worktree of its own in a temporary folder. The branch, the tag and dist/ of the checkout
change at the end, when everything else has succeeded. Exit codes: 0 done, 1 a step failed, 2 bad input.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORM = r"\d+\.\d+\.\d+"
LOCKED = r'name = "longfat-(?!fuzz)[a-z-]+"\nversion = "'
VERSIONS = {
    name: re.compile(rf"({before})({FORM})", re.MULTILINE)
    for name, before in {
        "Cargo.toml": r'^\[workspace\.package\]\nversion = "',
        "Cargo.lock": LOCKED,
        "fuzz/Cargo.lock": LOCKED,
        "papers/pyproject.toml": r'^version = "|"longfat==',
        "CITATION.cff": r"^version: ",
    }.items()
}
"""The files that have the version, with the places where they have it."""
CHANGELOG = "CHANGELOG.md"
UNRELEASED = "## [Unreleased]\n"
RELEASED = re.compile(r"^date-released: .*\n", re.MULTILINE)
FILES = (
    *("longfat-{}-*.whl", "longfat_papers-{}-*.whl", "longfat-{}.tar.gz", "longfat-{}.cdx.json"),
    *("longfat-{}-docs.zip", "CITATION.cff", "SHA256SUMS"),
)
"""What `make release-files` leaves in dist."""
REPLACED = Path("out", "dist.before")
"""Where the files of dist are while a release replaces them."""
KEPT = "the branch, its tags and dist/ are as they were"


class ReleaseError(Exception):
    """The release cannot be made like this."""


def git(*arguments: str, folder: Path = ROOT) -> str:
    """Returns what a git command prints; its own message stands above the error if it fails."""
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def current(root: Path) -> str:
    """Returns the version that all files have.

    Raises:
        ReleaseError: a file has none or another one.
    """
    found = {}
    for name, pattern in VERSIONS.items():
        places = pattern.findall((root / name).read_text(encoding="utf-8"))
        found[name] = ", ".join(sorted({version for _, version in places})) or "none"
    if len(set(found.values())) != 1:
        listed = "; ".join(f"{name}: {versions}" for name, versions in found.items())
        raise ReleaseError(f"the versions differ ({listed}); accepted: the same one everywhere")
    return found["Cargo.toml"]


def section(changelog: str, heading: str) -> str:
    """Returns what the changelog has below a heading, without the heading; empty if there is none."""
    found = re.search(rf"^{re.escape(heading)}[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def check(version: str, root: Path) -> str:
    """Checks what has to hold before a release, and returns the branch that it goes on.

    Raises:
        ReleaseError: something does not hold.
    """
    before = current(root)
    if _numbers(version) <= _numbers(before):
        raise ReleaseError(f"{version}: the version is {before} already; accepted: a later one")
    changelog = (root / CHANGELOG).read_text(encoding="utf-8")
    if not section(changelog, UNRELEASED.strip()):
        raise ReleaseError(
            f"{CHANGELOG}: {UNRELEASED.strip()} is empty or missing; accepted: what has changed"
        )
    if f"## [{version}]" in changelog:
        raise ReleaseError(f"{CHANGELOG}: it has a section {version} already")
    if changed := git("status", "--porcelain", folder=root):
        raise ReleaseError(f"the tree has changes; accepted: a clean tree\n{changed}")
    branch = git("branch", "--show-current", folder=root)
    if not branch:
        raise ReleaseError("no branch is checked out; accepted: the branch that the release goes on")
    if git("tag", "--list", f"v{version}", folder=root):
        raise ReleaseError(f"the tag v{version} is there already")
    return branch


def set_version(version: str, root: Path, day: str) -> None:
    """Writes the version, and the day as YYYY-MM-DD, into every file that has them."""
    for name, pattern in VERSIONS.items():
        path = root / name
        text = pattern.sub(rf"\g<1>{version}", path.read_text(encoding="utf-8"))
        if name == "CITATION.cff":
            text = RELEASED.sub("", text)
            text = re.sub(r"(^version: .*\n)", rf"\g<1>date-released: {day}\n", text, flags=re.MULTILINE)
        path.write_text(text, encoding="utf-8")
    path = root / CHANGELOG
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day}\n", 1), encoding="utf-8")


def make(*arguments: str, folder: Path) -> None:
    """Runs make in a folder, without what a make around this program hands down."""
    around = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VERSION")
    environment = {name: value for name, value in os.environ.items() if name not in around}
    subprocess.run(["make", f"PYTHON={sys.executable}", *arguments], cwd=folder, check=True, env=environment)


def missing(version: str, dist: Path) -> list[str]:
    """Returns which of a release's files are not there."""
    return [name.format(version) for name in FILES if not any(dist.glob(name.format(version)))]


def release(version: str, root: Path, branch: str, wheels: str) -> None:
    """Makes the release of a checkout.

    Args:
        version: three numbers.
        root: the checkout.
        branch: the branch that the release goes on.
        wheels: the target of make that builds the wheels.

    Raises:
        ReleaseError: another branch is checked out after the build.
        OSError: files of the release are missing after the build, or cannot be copied.
        subprocess.CalledProcessError: a step failed.
    """
    if (root / REPLACED).exists() and not (
        root / "dist"
    ).exists():  # a release was killed while it replaced it
        (root / REPLACED).rename(root / "dist")
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    with tempfile.TemporaryDirectory(prefix="longfat-release-", ignore_cleanup_errors=True) as temporary:
        tree = Path(temporary) / "longfat"
        git("worktree", "add", "--quiet", "--detach", str(tree), folder=root)
        try:
            set_version(version, tree, day)
            git("commit", "--quiet", "--all", "--message", f"release: set version {version}", folder=tree)
            commit = git("rev-parse", "HEAD", folder=tree)
            make(f"WHEELS={wheels}", "release-files", folder=tree)
            make(f"--old-file={wheels}", f"WHEELS={wheels}", "wheel-test", folder=tree)
            if absent := missing(version, tree / "dist"):
                raise FileNotFoundError(f"the build has not made {', '.join(absent)}")
            publish(version, commit, tree / "dist", root, branch)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=root, check=False)


def publish(version: str, commit: str, built: Path, root: Path, branch: str) -> None:
    """Puts the built files, the tag and the commit into the checkout, or nothing of them.

    Raises:
        ReleaseError: another branch is checked out.
    """
    if (now := git("branch", "--show-current", folder=root)) != branch:
        raise ReleaseError(
            f"{now or 'no branch'} is checked out now; accepted: {branch}, as before the build; {KEPT}"
        )
    dist, tag = root / "dist", f"v{version}"
    coming, before = root / "out" / "dist.coming", root / REPLACED
    for folder in (coming, before):
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, coming, ignore_errors=True)
        shutil.copytree(built, coming)
        git("tag", "--annotate", "--message", f"Longfat {version}", tag, commit, folder=root)
        undo.callback(git, "tag", "--delete", tag, folder=root)
        if dist.exists():
            dist.rename(before)
            undo.callback(before.rename, dist)
        coming.rename(dist)
        undo.callback(shutil.rmtree, dist)
        git("merge", "--quiet", "--ff-only", commit, folder=root)
        undo.pop_all()
    shutil.rmtree(before, ignore_errors=True)


def steps(version: str, wheels: str) -> list[str]:
    """Returns what `release` does, a line for each step."""
    return [
        "check out this commit into a temporary folder; the following happens there",
        f"set version {version} in {', '.join(VERSIONS)}",
        f"head the unreleased part of {CHANGELOG} with the version and the day",
        "commit",
        f"make {wheels}, docs: {', '.join(name.format(version) for name in FILES)}",
        "install the wheel into an empty environment and test it",
        f"tag v{version}, advance this branch to the commit, and replace dist/ here",
    ]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description="Make a release of Longfat.")
    parser.add_argument("version", metavar="VERSION", help="three numbers, such as 0.2.0")
    parser.add_argument(
        "--wheels", default="wheel", metavar="TARGET", help="the target of make for the wheels"
    )
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--dry-run", action="store_true", help="check, and print the steps")
    doing.add_argument("--notes", action="store_true", help="print the changelog's section of this version")
    asked = parser.parse_args()
    try:
        if not re.fullmatch(FORM, asked.version):
            raise ReleaseError(f"{asked.version}: this is no version; accepted: three numbers, such as 0.2.0")
        if asked.notes:
            if (version := current(ROOT)) != asked.version:
                raise ReleaseError(f"{asked.version}: the version is {version}")
            text = section((ROOT / CHANGELOG).read_text(encoding="utf-8"), f"## [{asked.version}]")
            if not text:
                raise ReleaseError(f"{CHANGELOG}: it has no section {asked.version}")
            print(text)
            return 0
        branch = check(asked.version, ROOT)
        if asked.dry_run:
            print("\n".join(f"{i}. {step}" for i, step in enumerate(steps(asked.version, asked.wheels), 1)))
            return 0
        release(asked.version, ROOT, branch, asked.wheels)
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"error: {shlex.join(error.cmd)}: exit code {error.returncode}; {KEPT}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error}; {KEPT}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; {KEPT}", file=sys.stderr)
        return 130
    print(
        f"v{asked.version} is tagged and its files are in dist/; to publish: git push --atomic --follow-tags"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
