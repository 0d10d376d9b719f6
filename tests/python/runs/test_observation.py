"""What is observed, and what takes no part, changes nothing that happens."""

from __future__ import annotations

from typing import Any

import pytest

from longfat.runs import simulate

QUEUES = ("fq_codel", "fq_pie", "sfq", "sred", "choke", "droptail")
"""Queues that hash or compare flows, and one that does neither."""


def happened(table: dict[str, Any]) -> dict[str, Any]:
    """What happened to flows, links and backgrounds, by name; the mean of the samples apart."""
    summary = simulate.run(table).summary
    return {
        entry["name"]: {key: value for key, value in entry.items() if key != "srtt_mean_s"}
        for part in ("flows", "links", "background")
        for entry in summary[part]
    }


@pytest.mark.parametrize("queue", QUEUES)
def test_another_sample_period_changes_no_packet_of_background_traffic(queue: str) -> None:
    base = {
        "duration": "10 s",
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "60 packets", "queue": queue},
        "flow": [
            {"name": "a", "algorithm": "cubic", "rtt": "80 ms"},
            {"name": "b", "algorithm": "bbr", "rtt": "40 ms"},
        ],
        "background": [{"kind": "web", "sessions": 40}],
    }
    periods = [happened(base | {"sample": {"cwnd": period}}) for period in ("10 ms", "100 ms", "3 s")]
    assert periods[0] == periods[1] == periods[2]
    idle = {"name": "aa", "algorithm": "reno", "rtt": "80 ms", "start": "100 s"}
    more = happened(base | {"flow": [idle, *base["flow"]], "sample": {"cwnd": "3 s"}})
    assert {name: more[name] for name in periods[2]} == periods[2]


def test_an_unused_link_changes_no_loss_of_another() -> None:
    way = {"from": "n0", "to": "n1", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "50 packets"}
    used = {
        "duration": "5 s",
        "link": [way | {"ack_loss": 0.3}],
        "flow": [{"name": "a", "from": "n0", "to": "n1"}],
    }
    unused = {"from": "z1", "to": "z2", "rate": "1 Mbit/s", "delay": "5 ms", "buffer": "10 packets"}
    alone = happened(used)
    for links in ([*used["link"], unused], [unused, *used["link"]]):
        beside = happened(used | {"link": links})
        assert {name: beside[name] for name in alone} == alone
