"""What is special about li2007: its claims, its testbed, and how parts of a suite are selected."""

import pytest

import longfat_papers as suites
import worlds
from longfat.errors import InputError
from longfat.scenario.model import Scenario

SUITE = suites.get("li2007")
IDS = [
    *("LLS-F1", "LLS-F3a", "LLS-F3b", "LLS-F4", "LLS-F5a", "LLS-F5b", "LLS-F6", "LLS-F7", "LLS-F8", "LLS-F9"),
    *("LLS-F10", "LLS-F11", "LLS-F12a", "LLS-F12b", "LLS-E2", "LLS-C2", "LLS-F13"),
    *("LLS-F14a", "LLS-F14b", "LLS-F15"),
]
REPORTS = {"LLS-E2", "LLS-C2"}


def test_every_claim_of_the_paper_is_in_the_suite():
    assert sorted(claim.id for claim in SUITE.claims) == sorted(IDS)
    assert {claim.id for claim in SUITE.claims if claim.reports} == REPORTS


def planned(name, **place):
    runs = SUITE.experiment(name).runs("quick")
    run = next(run for run in runs if place.items() <= run.coordinates.items())
    return Scenario.from_dict(run.document).plan


def test_the_queue_of_fig_5_is_the_175_packets_that_the_paper_prints():
    assert planned("F5", rtt_ms=42)["links"][0]["queue"]["limit_packets"] == 175


@pytest.mark.parametrize(("percent", "packets"), [(1, 6), (2, 13), (5, 34), (100, 683)])
def test_queues_of_fig_12_are_the_packets_that_the_paper_prints(percent, packets):
    assert planned("F12", queue_percent=percent)["links"][0]["queue"]["limit_packets"] == packets


def test_flows_run_with_table_ii_and_the_common_stack():
    flow = planned("F3", algorithm="hstcp")["flows"][0]
    ends = flow["transport"]
    assert ends["algorithm"]["parameters"]["low_window"] == 31
    assert ends["algorithm"]["parameters"]["table"] == "nearest"
    assert ends["loss_detection"] in (None, "sack", "rack")
    assert ends["recovery"] == "rate-halving-to-half"
    assert ends["delayed_ack"]
    assert ends["byte_counting"]
    assert flow["access_rate_bps"] == 1e9
    assert ends["mss"] + flow["header_bytes"] == 1500


def test_only_the_hosts_of_fast_have_a_tick_and_the_router_has_one():
    for run in SUITE.experiment("F11").runs("quick"):
        assert run.document["bottleneck"]["service_tick"] == "1 ms"
        for flow in run.document["flow"]:
            assert flow["stack"] == "linux-2.6.6-altaimd"
            assert flow.get("host_tick") == ("1 ms" if flow["algorithm"]["name"] == "fast" else None)


def reading(assumption, name):
    item = next(item for item in SUITE.assumptions if item.id == assumption)
    return next(reading for reading in item.readings if reading.name == name).change


def document(name, **place):
    runs = SUITE.experiment(name).runs("full")
    return next(run.document for run in runs if place.items() <= run.coordinates.items())


def test_a_whole_epoch_of_standard_tcp_is_longer_than_a_minute_on_long_fat_paths_only():
    change = reading("start-range", "an-epoch")
    short = document("F14", algorithm="reno", rate_mbps=250, rtt_ms=42)
    assert change.apply(short) == short
    long = change.apply(document("F14", algorithm="reno", rate_mbps=250, rtt_ms=324))
    # alone it has 8100 packets at the full queue and regains 4050, one in each round trip of .324 to .389 s
    assert long["flow"][1]["start"] == {"uniform": ["20 s", "1463 s"]}
    new = document("F14", algorithm="stcp", rate_mbps=250, rtt_ms=324)
    assert change.apply(new) == new


def test_the_kept_ssthresh_is_half_of_an_equal_share_at_a_full_queue():
    changed = reading("saved-ssthresh", "kept").apply(
        document("F3", algorithm="stcp", rate_mbps=250, rtt_ms=162)
    )
    assert [flow["initial_ssthresh"] for flow in changed["flow"]] == [1012.5, 1012.5]


def test_dummynets_limit_cuts_the_queue_at_324_ms_but_not_at_162():
    change = reading("queue-limit", "1-mib")
    at = {rtt: document("F3", algorithm="stcp", rate_mbps=250, rtt_ms=rtt) for rtt in (162, 324)}
    assert change.apply(at[162]) == at[162]
    assert change.apply(at[324])["bottleneck"]["buffer"] == "1 MiB"


def test_fifty_web_sessions_offer_one_and_a_half_percent_of_the_link():
    background = planned("F15", sessions=50)["background"]
    offered = [part["sessions"] * part["page_bytes"] * 8 / part["gap_s"] for part in background]
    assert len(offered) == 2
    assert offered[0] / 250e6 == pytest.approx(0.015, rel=0.01)


def test_histories_are_the_runs_of_fig_3():
    fairness = {repr(run.document) for run in SUITE.experiment("F3").runs("quick")}
    for name in ("F4", "F6", "F9", "F14", "E2"):
        assert {repr(run.document) for run in SUITE.experiment(name).runs("quick")} <= fairness


def test_the_quick_mode_is_the_work_of_130_to_220_runs_of_ten_minutes():
    assert 130 <= worlds.estimated_packets(SUITE, "quick") / 12.5e6 <= 220


def test_the_full_mode_has_five_repeats_at_every_place():
    for experiment in SUITE.experiments:
        if experiment.name == "F1":
            continue
        counts = {}
        for run in experiment.runs("full"):
            place = tuple(sorted((k, v) for k, v in run.coordinates.items() if k != "repeat"))
            counts[place] = counts.get(place, 0) + 1
        assert set(counts.values()) == {5}, experiment.name


def test_standard_tcp_runs_longer_on_long_paths_and_at_most_an_hour():
    def seconds(rtt, name="reno"):
        runs = SUITE.experiment("F3").runs("full")
        place = {"algorithm": name, "rtt_ms": rtt, "rate_mbps": 250}
        run = next(run for run in runs if place.items() <= run.coordinates.items())
        return Scenario.from_dict(run.document).duration

    assert seconds(42) == 600.0
    assert seconds(324) == 3600.0
    assert seconds(324, "stcp") == 600.0


@pytest.mark.parametrize("text", ["LLS-F3a", "lls-f3a", "F3a"])
def test_a_claim_brings_its_experiments(text):
    experiments, claims = SUITE.select([text])
    assert [experiment.name for experiment in experiments] == ["F3"]
    assert "LLS-F3a" in [claim.id for claim in claims]


def test_an_experiment_brings_the_claims_that_need_nothing_else():
    experiments, claims = SUITE.select(["F10"])
    assert [experiment.name for experiment in experiments] == ["F10", "F10-100"]
    assert [claim.id for claim in claims] == ["LLS-F10"]
    assert [claim.id for claim in SUITE.select(["F12"])[1]] == ["LLS-F12a", "LLS-F12b"]


def test_an_unknown_id_is_refused_with_the_ids_there_are():
    with pytest.raises(InputError, match=r"F99.*LLS-F3a.*F10-100") as caught:
        SUITE.select(["F99"])
    assert "\n" not in str(caught.value)


def test_an_unknown_suite_is_refused_with_the_names_there_are():
    with pytest.raises(InputError, match="li2007"):
        suites.get("nope")
