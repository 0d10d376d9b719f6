"""The keys of stored live runs: whatever can change a live result changes its key."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longfat import _core
from longfat.live import identity, kernel
from longfat.live.identity import live_key
from longfat.scenario.model import Scenario


def scenario(algorithm: str, **more: object) -> Scenario:
    return Scenario.from_dict(
        {
            "duration": "4 s",
            "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"},
            "flow": [{"algorithm": algorithm, "rtt": "20 ms"}],
        }
        | more
    )


@pytest.fixture
def forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of kernel forms, on a kernel without modules of its own."""
    (tmp_path / "lf_hstcp.o").write_bytes(b"one")
    (tmp_path / "lf_xcp.o").write_bytes(b"one")
    monkeypatch.setattr(kernel, "forms", lambda: tmp_path)
    monkeypatch.setattr(kernel, "available", lambda: ["reno", "cubic"])
    return tmp_path


def test_the_key_of_a_live_run_does_not_depend_on_its_title(forms: Path) -> None:
    assert live_key(scenario("hstcp", title="one")) == live_key(scenario("hstcp", title="other"))


@pytest.mark.parametrize(
    "change",
    [
        lambda patch, forms: patch.setattr("platform.release", lambda: "6.99"),
        lambda patch, forms: patch.setattr("platform.node", lambda: "another-machine"),
        lambda patch, forms: patch.setattr(identity, "RESULTS_VERSION", 0),
        lambda patch, forms: patch.setattr(_core.Scenario, "results_version", lambda core: "other"),
        lambda patch, forms: patch.setattr(kernel, "available", lambda: ["reno", "cubic", "highspeed"]),
        lambda patch, forms: (forms / "lf_hstcp.o").write_bytes(b"other"),
    ],
    ids=["kernel", "machine", "live results", "links", "module", "object"],
)
def test_what_can_change_a_live_result_changes_its_key(
    change: Callable[[pytest.MonkeyPatch, Path], object], forms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = live_key(scenario("hstcp"))
    change(monkeypatch, forms)
    assert live_key(scenario("hstcp")) != before
    assert live_key(scenario("hstcp", seed=2)) != live_key(scenario("hstcp"))


def test_an_object_that_a_run_does_not_load_leaves_its_key_as_it_was(forms: Path) -> None:
    before = live_key(scenario("hstcp"))
    (forms / "lf_xcp.o").write_bytes(b"other")
    assert live_key(scenario("hstcp")) == before


def test_algorithms_that_only_the_kernel_has_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longfat.scenario.foreign.available", lambda: ["reno", "one", "other"])
    keys = {live_key(scenario(name)) for name in ("one", "other")}
    assert len(keys) == 2


def test_algorithms_of_users_are_told_apart_by_the_content_of_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "users_own", lambda scenario: {})
    monkeypatch.setattr(kernel, "congestion", lambda *_: {"1": "mine"})
    keys = set()
    for folder, step in (("a", 1.0), ("b", 2.0)):
        file = tmp_path / folder / "mine.py"
        file.parent.mkdir()
        file.write_text(
            "class Mine:\n"
            f"    def on_ack(self, ack, window):\n        window.cwnd += {step}\n\n"
            "    def on_congestion(self, event, window):\n        window.ssthresh = 2.0\n"
        )
        keys.add(live_key(scenario(f"{file}:Mine")))
    assert len(keys) == 2
