"""Drives the model's TCP sender: the program `sender`, an example of the crate longfat-sim."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from longfat.runs.simulate import load

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Profile:
    """What a script says of the connection before it begins."""

    algorithm: str = "cubic"
    """The kernel's name of the congestion control."""
    mss_bytes: int = 1460
    """Payload of a full segment."""
    timestamps: bool = False
    sack: bool = True
    ecn: bool = False

    def scenario(self) -> dict[str, Any]:
        """Returns a scenario whose flow has `stack = "linux"`, and no other key than the script asks for."""
        flow: dict[str, Any] = {
            "algorithm": self.algorithm,
            "stack": "linux",
            "rtt": "100 ms",
            "mss": f"{self.mss_bytes} B",
            "timestamps": self.timestamps,
            "ecn": self.ecn,
        }
        if not self.sack:
            flow["loss_detection"] = "newreno"  # by time needs SACK
        return {
            "title": "a sender that follows a script",
            "duration": "1 s",
            "bottleneck": {"rate": "1 Gbit/s", "buffer": "100 % BDP"},
            "flow": [flow],
        }


@dataclass(frozen=True)
class Sent:
    """A data segment that left."""

    at: int
    """ns"""
    seq: int
    again: bool
    probe: bool
    ect: int | None
    reduced: bool


class Driven(Protocol):
    """A sender that takes orders at times in ns, which never go back."""

    state: dict[str, Any]
    """What the last answer said of it."""

    def tell(self, at: int, **order: Any) -> list[Sent]:
        """Returns what it sent since the last call."""


class Model:
    """The model's sender as a process. A context: leaving it ends the process."""

    def __init__(self, program: Path, profile: Profile) -> None:
        self.state: dict[str, Any] = {}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(load(profile.scenario()).plan, file)
            file.flush()
            self._process = subprocess.Popen(
                [program, file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.tell(0)  # it has read the file

    def tell(self, at: int, **order: Any) -> list[Sent]:
        """Returns what it sent since the last call."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the sender has no pipes")
        self._process.stdin.write(json.dumps({"at": at, **order}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the sender ended with {self._process.wait()} on {order} at {at} ns")
        self.state = json.loads(answer)
        return [Sent(**sent) for sent in self.state.pop("sent")]

    def __enter__(self) -> Model:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def build() -> Path:
    """Builds the program and returns where it is. Tests share what it is built from: their profile is its."""
    command = ["cargo", "build", "--profile", "test", "--package", "longfat-sim", "--example", "sender"]
    lines = subprocess.run(
        [*command, "--message-format", "json-render-diagnostics"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    (found,) = (each["executable"] for each in messages if each.get("target", {}).get("name") == "sender")
    return Path(found)
