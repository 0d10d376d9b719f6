"""The relatives: arithmetic against cases worked out by hand, and what is special about the suite's runs."""

import pytest

from longfat_papers.relatives import SUITE, networks
from longfat_papers.relatives.blasts import predicted_mbps
from longfat_papers.relatives.rcp import sharing_s
from longfat_papers.relatives.reduction import Row

RUNS = {experiment.name: experiment.runs("quick") for experiment in SUITE.experiments}


def reading(assumption, name):
    rows = next(item for item in SUITE.assumptions if item.id == assumption).readings
    return next(row for row in rows if row.name == name).change


def test_max_min_rates_are_those_of_the_textbook_on_two_links():
    # One flow over both links, two more on the first, none on the second: 10/3 each, and 20 - 10/3 is unused.
    assert networks.max_min([10.0, 20.0], [(0, 1), (0,), (0,)]) == pytest.approx([10 / 3] * 3)
    # With another flow on the second link, it takes what the long one leaves.
    assert networks.max_min([10.0, 20.0], [(0, 1), (0,), (1,)]) == pytest.approx([5.0, 5.0, 15.0])


def test_max_min_rates_on_the_parking_lot_fill_the_fullest_link_first():
    shares = networks.lot_shares()
    assert shares == pytest.approx(
        {"long": 25.0, "1-1": 75.0, "2-1": 37.5, "2-2": 37.5, "3-1": 25.0, "3-2": 25.0, "3-3": 25.0}
    )
    assert networks.lot_shares(0.9)["long"] == pytest.approx(22.5)


def test_flows_that_use_nothing_leave_the_fixed_point_of_cadpc():
    # x = 1 - traffic: n flows on one link have 1 / (n + 1) each.
    for number in (1, 2, 4, 8):
        assert networks.max_min([1.0], [(0,)] * number, 1.0) == pytest.approx([1.0 / (number + 1)] * number)
    # Four flows on the last link: a fifth each. The first link has .8 left for one flow: .4.
    shares = networks.lot_shares(unused=1.0)
    assert (shares["long"], shares["1-1"]) == pytest.approx((20.0, 40.0))


def test_processor_sharing_adds_a_round_trip_and_a_half_to_the_time_at_the_left_capacity():
    # 1000 packets of 12 000 bits at a tenth of 2.4 Gbit/s: 50 ms.
    assert sharing_s(1000, 2400.0) == pytest.approx(0.150 + 0.050)


def test_a_prediction_for_rbudp_counts_each_blast_and_its_answer():
    # 100 MB in packets of 1500 bytes, all of it payload: 66 667 packets, 66.7 and .07 missing; two blasts.
    seconds = 0.8 * 1.001 + 2 * 0.1
    assert predicted_mbps(0.1, 1.0) == pytest.approx(800.0 / seconds, rel=1e-3)


def test_a_system_has_its_router_wherever_it_needs_one():
    for run in RUNS["shares"] + RUNS["point"]:
        system = run.coordinates.get("system", "cadpc")
        assert run.document["bottleneck"]["router"] == {"cadpc": "ptp"}.get(system, system)
    for run in RUNS["lot"]:
        routers = [link.get("router") for link in run.document["link"]]
        expected = {"reno": None, "cadpc": "ptp"}.get(run.coordinates["system"], run.coordinates["system"])
        assert routers[:3] == [expected] * 3
        assert routers[3:] == [None] * 3


def test_a_mechanism_of_the_thesis_gets_the_law_that_it_is_put_around():
    for name in ("clouds", "mixes"):
        for run in RUNS[name]:
            tables = run.document.get("link") or [run.document["bottleneck"]]
            routers = [table["router"] for table in tables if "router" in table]
            if run.coordinates["case"] == "wrapped":
                assert {router["protocol"] for router in routers} == {run.coordinates["system"]}
            else:
                assert set(routers) == {run.coordinates["system"]}


def test_shallow_buffers_hold_a_fifth_on_a_dumbbell_and_in_a_network():
    change = reading("buffers", "shallow")
    assert change.apply(RUNS["shares"][0].document)["bottleneck"]["buffer"] == "20 ms"
    assert {link["buffer"] for link in change.apply(RUNS["lot"][0].document)["link"]} == {"12 ms"}


def test_spread_round_trip_times_keep_their_mean():
    flows = reading("rtts", "spread").apply(RUNS["shares"][0].document)["flow"]
    assert [flow["rtt"] for flow in flows] == ["50 ms", "150 ms"]


def test_even_sizes_keep_the_mean_of_the_heavy_ones():
    for run in RUNS["short"]:
        before, after = (
            document["background"][0]
            for document in (run.document, reading("sizes", "even").apply(run.document))
        )
        means = [
            float(table["tail_least"].split()[0]) * table["tail_shape"] / (table["tail_shape"] - 1.0)
            for table in (before, after)
        ]
        assert means[1] == pytest.approx(means[0], rel=1e-3)
        payload = {"rcp": 1436, "xcp": 1428, "reno": 1448}[run.coordinates["system"]]
        assert means[0] == pytest.approx(25 * payload, rel=1e-3)


def test_a_flow_is_found_by_its_whole_name_before_its_prefix():
    names = [f"{number}" for number in range(1, 11)]
    row = Row({"bin_s": 1.0, "names": names, "queue": [0.0], "rates_mbps": [[float(name)] for name in names]})
    assert row.rates("1") == [1.0]
    assert row.rate() == 55.0
