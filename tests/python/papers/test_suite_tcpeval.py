"""What is special about the suite tcpeval: the draft's networks, loads and metrics, and its algorithms."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import longfat
import longfat_papers as suites
import worlds
from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat_papers.kit.claims import judge
from longfat_papers.tcpeval import suite_of
from longfat_papers.tcpeval.lot import parking_lot
from longfat_papers.tcpeval.networks import ACCESS, BASIC, DATA_CENTER, OCEAN, SATELLITE, Times
from longfat_papers.tcpeval.reduction import quartile_edges, reduce_run

SUITE = suites.get("tcpeval")
MODES = ("quick", "full")


def runs_of(experiment, mode="quick", **at):
    found = SUITE.experiment(experiment).runs(mode)
    return [run for run in found if all(run.coordinates[key] == value for key, value in at.items())]


def test_the_rtts_are_those_of_table_1_and_twice_the_delay_of_the_central_link():
    table = [4, 28, 54, 74, 98, 124, 150, 174, 200]
    assert ACCESS.rtts_ms() == [rtt + 4 for rtt in table]
    assert OCEAN.rtts_ms() == [rtt + 130 for rtt in table]
    assert SATELLITE.rtts_ms() == [rtt + 600 for rtt in table]
    assert min(DATA_CENTER.rtts_ms()) == pytest.approx(0.04)
    assert max(DATA_CENTER.rtts_ms()) == pytest.approx(0.4)


@pytest.mark.parametrize("basic", BASIC.values(), ids=lambda basic: basic.name)
def test_the_traffic_offers_the_load_and_a_tenth_of_its_bytes_in_the_other_direction(basic):
    for run in runs_of("basic", algorithm="reno", scenario=basic.name):
        down = up = 0.0
        for part in run.document["background"]:
            share = float(part["load"].removesuffix(" %"))
            if part["direction"] == "forward":
                down += share * basic.mbps
            else:
                up += share * basic.up_mbps
        assert up == pytest.approx(0.1 * down)
        assert down == pytest.approx(run.coordinates["load"] * basic.mbps)


def offered_mbps(document):
    """Loads from right to left and from left to right."""
    rates = {"forward": document["bottleneck"]["rate"], "reverse": document["bottleneck"]["reverse_rate"]}
    return tuple(
        sum(
            float(part["load"].removesuffix(" %")) / 100.0 * float(rates[way].removesuffix(" Mbit/s"))
            for part in document["background"]
            if part["direction"] == way
        )
        for way in ("forward", "reverse")
    )


@pytest.mark.parametrize(("reading", "ratio"), [("tenth", 0.1), ("half", 0.5)])
@pytest.mark.parametrize("load", [60, 85, 110])
def test_the_wireless_lan_offers_the_load_of_6_mbit_s_in_all_and_of_each_direction(reading, ratio, load):
    (run,) = runs_of("basic", algorithm="reno", scenario="wireless", load=load)
    document = changed(run, "asymmetry", reading)
    down, up = offered_mbps(document)
    assert down + up == pytest.approx(0.06 * load)
    assert up == pytest.approx(ratio * down)
    rates = [float(document["bottleneck"][key].removesuffix(" Mbit/s")) for key in ("rate", "reverse_rate")]
    assert sum(rates) == pytest.approx(6.0)
    assert [down, up] == pytest.approx([load / 100 * rate for rate in rates])


def test_with_half_the_bytes_back_the_other_links_keep_their_load_from_right_to_left():
    (run,) = runs_of("basic", algorithm="reno", scenario="access", load=85)
    assert offered_mbps(changed(run, "asymmetry", "half")) == pytest.approx((85.0, 42.5))


def changed(run, assumption, reading):
    (item,) = [item for item in SUITE.assumptions if item.id == assumption]
    (found,) = [one for one in item.readings if one.name == reading]
    return found.change.apply(run.document)


def test_both_directions_of_the_tradeoff_have_the_buffer_under_test():
    sizes = {
        (run.document["bottleneck"]["buffer"], run.document["bottleneck"]["reverse_buffer"])
        for run in runs_of("tradeoff", algorithm="reno")
    }
    # 10 to 200 % of 100 ms
    assert sizes == {(f"{ms} ms", f"{ms} ms") for ms in (10, 20, 50, 100, 200)}


def test_a_tenth_of_the_connections_have_packets_of_536_bytes_and_the_others_of_1500():
    (document,) = [
        run.document for run in runs_of("basic", algorithm="reno", scenario="data-center", load=60)
    ]
    document = {**document, "duration": "2 s", "window": ["0 s", "2 s"]}
    entries = longfat.run(document).summary["background"]
    started = {entry["name"]: entry["transfers_started"] for entry in entries}
    both = started["all-down-536"] + started["all-down-1500"]
    assert both > 2000
    # 0.1 with a standard deviation of 0.005
    assert started["all-down-536"] / both == pytest.approx(0.1, abs=0.02)


def test_the_full_form_has_the_times_of_the_tables():
    (run,) = runs_of("basic", "full", algorithm="reno", scenario="access", load=85)
    # Table 3: a prefill of 52.02 s, a warm-up of 179 s, then 829 s
    assert run.document["window"] == ["231.02 s", "1060.02 s"]
    (run,) = runs_of("lot", "full", algorithm="reno", load=60, repeat=0)
    assert run.document["duration"] == "684.4 s"  # Table 11


def test_all_paths_of_the_parking_lot_have_60_ms_and_cross_three_bottlenecks_or_one():
    scenario = Scenario.from_dict(parking_lot("lot", Times(0.0, 1.0, 2.0), "reno", 30))
    flows = [part["flow"] for part in scenario.plan["background"]]
    assert [flow["rtt_s"] for flow in flows] == pytest.approx([0.06] * len(flows))
    assert sorted(len(flow["forward"]) for flow in flows) == [3] * 12 + [5] * 4


def test_the_new_flow_begins_without_slow_start_unless_the_run_says_otherwise():
    for run in runs_of("ramp-up", algorithm="cubic", mbps=10):
        old, new = run.document["flow"]
        assert "initial_ssthresh" not in old
        assert ("initial_ssthresh" in new) == (run.coordinates["slow_start"] == "off")
        assert (old["rtt"], new["rtt"]) == tuple(f"{rtt} ms" for rtt in run.coordinates["rtts"].split(", "))
    seeds = {run.document["seed"] for run in runs_of("ramp-up", algorithm="cubic", mbps=10)}
    assert len(seeds) == 3


@pytest.mark.parametrize(("transient", "rates"), [("decrease", 1), ("increase", 1), ("steps", 30)])
def test_the_cross_traffic_is_75_mbit_s_in_all_and_there_is_no_tcp_beside_the_flow(transient, rates):
    for run in runs_of("transients", transient=transient):
        test, cross = run.document["flow"]
        rate = float(cross["algorithm"]["rate"].removesuffix(" Mbit/s"))
        assert rate * cross.get("count", 1) == 75.0
        assert cross.get("count", 1) == rates
        assert "background" not in run.document
        assert test["rtt"] == "100 ms"


def test_connections_of_both_camps_start_alike_in_the_baseline_and_in_the_mix():
    def sizes(document):
        document = {**document, "duration": "6 s", "window": ["0 s", "6 s"]}
        table = longfat.run(document).transfers.to_pandas()
        table = table[table["name"].isin(["a-down-1500", "b-down-1500"])]
        return {(row.name, round(row.start_s, 9)): row.bytes for row in table.itertuples(index=False)}

    base, mix = (
        sizes(runs_of("impact", algorithm=name, mbps=100, load=50)[0].document) for name in ("reno", "cubic")
    )
    both = set(base) & set(mix)
    assert len(both) > 0.9 * max(len(base), len(mix)) > 50
    assert all(base[key] == mix[key] for key in both)


class Ran:
    """Downloads and two flows before 8 Mbit/s for 20 s, seen from 10 s on."""

    def __init__(self, *, names=("first", "second"), cross=()):
        self.names = names
        self.summary = {
            "window_s": [10.0, 20.0],
            "flows": [{"name": name, "start_s": 12.0, "packets_lost": 0} for name in names]
            + [{"name": name, "start_s": 60.0, "packets_lost": lost} for name, lost in cross],
            "background": [
                {"name": "all-down-536", "bytes_delivered": 250_000},
                {"name": "all-down-1500", "bytes_delivered": 1_000_000},
                {"name": "all-up-1500", "bytes_delivered": 77_000},
            ],
            "links": [
                {
                    "name": name,
                    "rate_bps": rate,
                    "utilization": used,
                    "packets_in": 1000,
                    "packets_dropped": lost,
                }
                for name, rate, used, lost in (("bottleneck", 8e6, 0.75, 20), ("reverse", 4e6, 0.25, 5))
            ],
        }
        columns = {
            # the first began before the window, and the last is of the other direction
            "name": pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 1, 2], pa.int32()), [part["name"] for part in self.summary["background"]]
            ),
            "start_s": [8.0, 12.0, 15.0, 12.0],
            "completion_time_s": [4.0, 2.0, 1.0, 5.0],
            "bytes": [1e6, 100.0, 1e5, 1e5],
        }
        self.transfers = pa.table(columns)

    def flow(self, name):
        time = np.arange(0.0, 160.1, 0.1)
        rate = 6e6 if name != "second" else 2e6
        # a window that grows by 10 packets a second from 400, reached when the transient begins at 60 s
        cwnd = 400.0 + np.maximum(0.0, 10.0 * (time - 60.0))
        # twice as many bytes arrive as the receiver delivers; the smoothed RTT is 0.2 s
        delivered = time * rate / 8
        return {
            "time_s": time,
            "received_bytes": delivered if name in ("first", "second") else 2.0 * delivered,
            "delivered_bytes": delivered,
            "cwnd": cwnd,
            "srtt_s": np.full(time.size, 0.2),
        }

    def link(self, name):
        time = np.arange(0.0, 20.05, 0.1)
        return {"time_s": time, "queue_bytes": np.where(time < 10.0, 9e9, 5000.0)}


def test_a_run_is_reduced_to_the_metrics_of_both_directions_and_of_its_traffic():
    row = reduce_run(Ran())
    assert (row["utilization"], row["drop_ratio"]) == (0.75, 0.02)
    assert (row["up_utilization"], row["up_drop_ratio"]) == (0.25, 0.005)
    # 5000 bytes before links that carry 6 and 1 Mbit/s
    assert (row["delay_ms"], row["up_delay_ms"]) == (pytest.approx(6.667, rel=1e-3), pytest.approx(40.0))
    assert row["goodput_bps_all"] == pytest.approx(1e6)
    # 2 s of the first within the window, 2 s of the second, 1 s of the third, over 10 s
    assert row["active"] == pytest.approx(0.5)
    assert row["transfer_s_all"] == pytest.approx(1.5)
    assert row["transfer_bps_all_1"] == pytest.approx(400.0)
    assert row["transfer_bps_all_4"] == pytest.approx(8e5)
    assert row["transfer_bps_all_2"] is None
    assert (row["throughput_1_bps"], row["throughput_2_bps"]) == (pytest.approx(6e6), pytest.approx(2e6))
    assert (row["ratio"], row["fairness"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert row["packets"] == 1000


def test_a_run_with_a_new_flow_is_reduced_to_the_times_until_its_bytes_arrived():
    row = reduce_run(Ran(names=("old", "new")))
    # 6 Mbit/s are 750 kB a second from time 0; 1.5 MB after 2 s and 15 MB after 20 s, 12 s of them before it
    assert row["reached_4_s"] == pytest.approx(8.0)
    assert row["reached_6_s"] is None


def test_a_transient_is_reduced_to_the_growth_of_the_window_and_the_datagrams_lost():
    row = reduce_run(Ran(names=("test",), cross=(("cross-1", 7), ("cross-2", 4))))
    # the BDP is 833.3 packets, of which 60 % are 500, 10 s after the transient
    assert row["window_60_s"] == pytest.approx(10.0, abs=0.11)
    assert row["window_90_s"] == pytest.approx(35.0, abs=0.11)
    # 10 packets a second for an RTT of 0.2 s
    assert row["step_packets"] == pytest.approx(2.0)
    assert row["cross_dropped"] == 11.0


def test_quartiles_of_sizes_are_where_a_quarter_half_and_three_quarters_of_drawn_files_end():
    document = {
        "duration": "4 s",
        "bottleneck": {"rate": "1 Gbit/s", "buffer": "10 ms"},
        "background": [{"kind": "short", "load": "50 %", "rtt": "1 ms"}],
    }
    sizes = np.array(longfat.run(document).transfers["bytes"])
    assert sizes.size > 3000
    below = [float((sizes < edge).mean()) for edge in quartile_edges()]
    assert below == pytest.approx([0.25, 0.5, 0.75], abs=0.02)
    assert all(low < high for low, high in pairwise(quartile_edges()))


def test_what_the_draft_prints_no_value_for_is_reported_with_the_numbers():
    data = worlds.published("tcpeval")
    rows = {claim.id: judge(claim, data, "quick") for claim in SUITE.claims if claim.reports}
    assert set(rows) == {"EVAL-4", "EVAL-A", "EVAL-5.2", "EVAL-5.3", "EVAL-6.2", "EVAL-6.3"}
    # CUBIC is the third of the choice, after HighSpeed TCP and H-TCP
    assert "CUBIC 6 s, 400 and 400 dropped" in rows["EVAL-5.3"]["measured"]
    assert "CUBIC 0.60, 5" in rows["EVAL-6.2"]["measured"]
    assert rows["EVAL-6.2"]["values"]["cubic, 1000"] == {
        "intra": pytest.approx(0.3),
        "inter": pytest.approx(5.0),
    }
    # the mean of 1, 2 and 3 times as much, and a tenth more for each rank
    assert "standard TCP 2.000, 4.00" in rows["EVAL-6.3"]["measured"]
    assert "CUBIC 2.600, 5.20" in rows["EVAL-6.3"]["measured"]


def test_a_camp_that_gains_nothing_shares_no_expense_and_a_loss_alone_is_none():
    (claim,) = [claim for claim in SUITE.claims if claim.id == "EVAL-6.1"]

    def only_loss(experiment, run):
        row = worlds.of("tcpeval").as_nobody_says(experiment, run)
        if experiment == "impact" and run.coordinates["algorithm"] != "reno":
            row["goodput_bps_a"] = 0.5e6
        return row

    row = judge(claim, worlds.make(SUITE, only_loss), "quick")
    assert row["verdict"] == "not reproduced"
    assert row["values"]["cubic"]["10, 50"] == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("noise", [1e-6, 0.01])
def test_noise_alone_gives_no_algorithm_a_gain_nor_a_higher_utilization(noise):
    (claim,) = [claim for claim in SUITE.claims if claim.id == "EVAL-6.1"]
    draw = np.random.default_rng(1)

    def noisy(experiment, run):
        row = worlds.of("tcpeval").as_nobody_says(experiment, run)
        if experiment == "impact":
            row |= {key: row[key] * (1.0 + noise * draw.standard_normal()) for key in GAINS}
        return row

    only = SimpleNamespace(experiments=[SUITE.experiment("impact")])
    verdicts = [judge(claim, worlds.make(only, noisy), "quick")["verdict"] for _ in range(200)]
    assert verdicts.count("reproduced") == 0
    assert verdicts.count("not reproduced") > 180


GAINS = ("goodput_bps_a", "goodput_bps_b", "utilization")


def test_the_delay_of_a_half_used_link_is_that_of_its_packets_and_not_that_of_a_clock():
    # 16 Mbit/s for 40 ms before 8 Mbit/s, then nothing for 120 ms. The packets of a burst wait 0 to 40 ms, 20
    # ms in the mean. The backlog rises to 40 ms of the capacity and falls again within 80 of 160 ms: 10 ms.
    source = {"name": "onoff", "rate": "16 Mbit/s", "on": "40 ms", "off": "120 ms"}
    document = {
        "duration": "17 s",
        "window": ["1 s", "17 s"],
        "bottleneck": {"rate": "8 Mbit/s", "buffer": "500 packets", "access_rate": "16 Mbit/s"},
        "flow": [{"name": "bursts", "algorithm": source, "rtt": "20 ms"}],
        "sample": {"queue": "1 ms"},
    }
    result = longfat.run(document)
    assert result.summary["links"][0]["utilization"] == pytest.approx(0.5, rel=0.01)
    assert reduce_run(result)["delay_ms"] == pytest.approx(20.0, rel=0.05)


def test_other_algorithms_run_beside_the_baseline_in_both_modes():
    suite = suite_of("vegas", "cubic", "vegas", "reno")
    for mode in MODES:
        names = [run.coordinates["algorithm"] for run in suite.experiment("basic").runs(mode)]
        assert list(dict.fromkeys(names)) == ["reno", "vegas", "cubic"]
    figure = suite.experiment("lot").figure(
        worlds.make(suite, worlds.of("tcpeval").as_published)["lot"], "quick"
    )
    assert [curve.label for curve in figure.panels[0].curves] == ["standard TCP", "vegas", "CUBIC"]
    assert all(math.isfinite(y) for curve in figure.panels[0].curves for y in curve.y)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("reno",), "no algorithm under test"),
        (("cubik",), "cubik: this is no algorithm over TCP; accepted: one"),
        (("udt",), "udt: this is no algorithm over TCP; accepted: one"),
        (("xcp",), "needs no router"),
        (("mine.py:Mine",), "that `longfat list algorithms` lists"),
    ],
)
def test_an_algorithm_that_cannot_drive_the_traffic_is_refused(names, said):
    with pytest.raises(InputError, match=said):
        suite_of(*names)
