"""The measurement of the timer of compressed SACK: what it reads from the kernel's trace."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "validation" / "live"))

import ack_timer


def line(at: float, event: str, timer: str) -> str:
    return f"  python-12248   [001] D..2.  {at:.6f}: {event}: hrtimer={timer} function=kick"


def test_a_wait_lasts_from_the_start_of_a_timer_to_its_expiry() -> None:
    lines = [
        "# tracer: nop",
        line(10.0, "hrtimer_start", "0a"),
        line(10.0005, "hrtimer_start", "0b"),
        line(10.0011, "hrtimer_expire_entry", "0a"),
        line(10.0017, "hrtimer_expire_entry", "0b"),
    ]
    assert ack_timer.waits_ms(lines) == pytest.approx([1.1, 1.2])


def test_a_timer_that_was_stopped_or_began_before_the_trace_gives_no_wait() -> None:
    lines = [
        line(9.0, "hrtimer_expire_entry", "0a"),
        line(10.0, "hrtimer_start", "0a"),
        line(10.0005, "hrtimer_start", "0a"),
        line(10.0016, "hrtimer_expire_entry", "0a"),
        line(10.0020, "hrtimer_expire_entry", "0a"),
    ]
    assert ack_timer.waits_ms(lines) == pytest.approx([1.1])
