"""What `longfat sweep --dry-run` says about time."""

import pytest

from longfat import sweep, system
from longfat.runs import cost, simulate
from longfat.sweep import estimate, figures
from longfat.sweep.reduction import reduce_run

BASE = {
    "duration": "2 s",
    "bottleneck": {"rate": "1 Mbit/s"},
    "flow": [{"algorithm": "reno", "rtt": "20 ms", "start": {"uniform": ["0 s", "1 s"]}}],
}
SECONDS_A_PACKET = 1e-4


def grid(**more):
    axes = {
        "bottleneck.rate": ["1 Mbit/s", "2 Mbit/s", "40 Mbit/s"],
        "flow.0.rtt": ["10 ms", "20 ms", "30 ms"],
    }
    return sweep.from_dict({"base": BASE, "repeats": 3, "axes": axes, **more})


@pytest.fixture
def priced(monkeypatch):
    """Runs that cost so much a packet and nothing beside, and a page that costs nothing."""
    row = {}

    def costs(scenario):
        if not row:
            row.update(reduce_run(simulate.run(scenario)))
        return 0.0, SECONDS_A_PACKET * cost.packets(scenario), row

    monkeypatch.setattr(estimate, "_cost", costs)
    monkeypatch.setattr(estimate, "_drawn_s", lambda panels, folder: 1.0 + 0.5 * panels)


def test_points_that_cost_unlike_are_weighed_by_their_packets(priced):
    asked = grid()
    expected = estimate.estimate(asked, jobs=1)
    real = sum(SECONDS_A_PACKET * cost.packets(asked.scenario(point)) for point in asked.points())
    assert expected["cpu_s"] == pytest.approx(real)
    assert expected["wall_s"] == pytest.approx(estimate.START_S + real + expected["page_s"])


def test_more_processes_than_processors_are_no_faster(priced):
    most = estimate.estimate(grid(), jobs=100 * system.cores())
    assert most["wall_s"] == pytest.approx(estimate.estimate(grid(), jobs=system.cores())["wall_s"])


def test_places_are_spread_over_every_axis():
    places = estimate._spread(27_000, estimate.SAMPLED)
    for axis in (2, 3, 5, 10):
        assert len({place % axis for place in places}) > 1
    assert estimate._spread(4, 7) == [0, 1, 2, 3]


def test_the_page_counts_with_its_figures_and_panels(priced, tmp_path):
    asked = grid(figure=[{"kind": "lines", "x": "flow.0.rtt", "y": "jain", "columns": "bottleneck.rate"}])
    assert estimate.estimate(asked, jobs=1)["page_s"] == pytest.approx(1.0 + 0.5 * 3)
    plain = grid()
    sweep.run(plain, tmp_path, jobs=1)
    swept = sweep.open_sweep(tmp_path)
    assert figures.sizes((), plain.axes, swept.runs) == [len(figure.panels) for figure in figures.page(swept)]


def test_a_piece_shows_what_a_whole_run_costs():
    scenario = grid().scenario(next(grid().points()))
    beside_s, core_s, row = estimate._cost(scenario)
    assert beside_s > 0.0
    assert core_s > 0.0
    assert row["flows"]
