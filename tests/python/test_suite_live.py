"""Suites between real hosts: how runs are adapted, judged, kept and shown. One test runs live."""

import json
from pathlib import Path

import pytest

from live_runs import able, able_to_load, as_root
from longfat import suites
from longfat.cli import app
from longfat.errors import InputError, LongfatError
from longfat.figure.data import Figure, Panel, points
from longfat.live.check import check
from longfat.runs import simulate
from longfat.scenario.model import Scenario
from longfat.store.ledger import read_ledger
from longfat.suites.kit import folder, live, page
from longfat.suites.kit.claims import Check, Claim, Finding
from longfat.suites.kit.hosts import Adapted, Hosts, Unfit
from longfat.suites.kit.reduction import reduce_run
from longfat.suites.kit.suite import Experiment, Run, Suite
from longfat.suites.lopez2008.hosts import HOSTS
from longfat.suites.lopez2008.reduction import Row, filled
from longfat.suites.lopez2008.reduction import reduce_run as reduce_thesis

__all__ = ["able", "able_to_load", "as_root"]

THESIS = suites.get("lopez2008")


def adapted(experiment: str, **coordinates: object) -> Adapted:
    """The first run of an experiment of the thesis at some coordinates, for real hosts."""
    runs = THESIS.experiment(experiment).runs("quick")
    found = next(r for r in runs if all(r.coordinates[key] == value for key, value in coordinates.items()))
    return HOSTS.adapt(found.document, found.packets)


def test_what_a_machine_would_not_carry_is_slower_with_its_buffers_and_keeps_its_times() -> None:
    slow = adapted("steps-200", protocol="xcp")
    assert slow.divisor == 5
    assert slow.document["bottleneck"]["rate"] == "200 Mbit/s"
    assert slow.document["bottleneck"]["buffer"] == "2500 packets"
    datagrams = [flow for flow in slow.document["flow"] if flow["name"].startswith("udp")]
    assert {flow["algorithm"]["rate"] for flow in datagrams} == {"10 Mbit/s"}
    assert (slow.document["duration"], slow.document["flow"][0]["rtt"]) == ("200 s", "200 ms")
    assert adapted("sine-100", protocol="xcp").document["bottleneck"]["rate"]["sine"] == {
        "max": "200 Mbit/s", "min": "60 Mbit/s", "period": "32 s"
    }  # fmt: skip
    # 400 Mbit/s arrive at the merge; what the thesis leaves unsaid is fast
    merge = adapted("merge")
    assert merge.divisor == 2
    assert {link["rate"] for link in merge.document["link"]} == {
        "500 Mbit/s", "200 Mbit/s", "150 Mbit/s", "50 Mbit/s"
    }  # fmt: skip


def test_tcp_alone_keeps_its_rate_because_its_packets_travel_in_trains() -> None:
    tcp = adapted("sine-100", protocol="newreno")
    assert tcp.divisor == 1
    assert tcp.document["bottleneck"]["rate"]["sine"]["max"] == "1000 Mbit/s"
    flow = tcp.document["flow"][0]
    assert (flow["algorithm"], flow["stack"], flow["mss"]) == ("sack", "linux", "1024 B")
    assert not {"initial_ssthresh", "max_window", "loss_detection"} & set(flow)


def test_every_experiment_of_the_thesis_can_run_live_or_says_in_a_line_why_not() -> None:
    lines = dict(HOSTS.without)
    for experiment in THESIS.experiments:
        if experiment.name in lines:
            continue
        try:
            documents = [HOSTS.adapt(run.document, run.packets).document for run in experiment.runs("full")]
        except Unfit as why:
            lines[experiment.name] = str(why)
            continue
        for document in documents:
            check(Scenario.from_dict(document))
    assert "mirror window only" in lines["formula"]
    assert len(lines) == 7  # the formula, and six experiments that are not the thesis's
    assert all(line.endswith(".") and "\n" not in line for line in lines.values())


def test_xcp_at_a_fifth_of_the_rate_fills_the_link_as_fast_as_at_the_whole_rate() -> None:
    run = THESIS.experiment("one").runs("quick")[0]
    slow = HOSTS.adapt({**run.document, "flow": run.document["flow"]}, run.packets)
    hosts = {**slow.document, "flow": run.document["flow"]}  # the thesis's hosts on both sides
    whole, fifth = (
        Row(row)
        for row in (
            reduce_thesis(simulate.run(Scenario.from_dict(run.document))),
            HOSTS.restore(reduce_thesis(simulate.run(Scenario.from_dict(hosts))), slow.divisor),
        )
    )
    assert filled(fifth) == pytest.approx(filled(whole), abs=0.06)
    assert sum(fifth.each("megabytes")) == pytest.approx(sum(whole.each("megabytes")), rel=0.03)


def document(algorithm: str) -> dict[str, object]:
    return {
        "title": f"two {algorithm}",
        "duration": "4 s",
        "seed": 1,
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "20 packets"},
        "flow": [{"algorithm": algorithm, "rtt": "20 ms"}, {"algorithm": algorithm, "rtt": "20 ms"}],
    }


def tiny(title: str, algorithm: str) -> Experiment:
    def figure(runs: object, mode: str) -> Figure:
        samples = [(0.0, (row["aggregate_bps"], float("nan"))) for row in runs]  # type: ignore[attr-defined]
        panel = Panel("", "x", "y", (points("all", samples),))
        return Figure(title, f"Fig. {title}", "rates", "a caption", (panel,))

    runs = [Run({"algorithm": algorithm, "repeat": 0}, document(algorithm), 1000.0)]
    return Experiment(title, f"Fig. {title}", "rates", lambda mode: runs, figure)


def claim(number: str, experiment: str) -> Claim:
    def find(data: object) -> Finding:
        rate = data[experiment].mean("aggregate_bps")  # type: ignore[index]
        return Finding(
            (Check("more than the link has", rate > 9e6, f"{rate:.3g}"),), f"{rate / 1e6:.1f} Mbit/s"
        )

    return Claim(f"TINY-{number}", "a paper", "s", "p", (), "e", "r", (experiment,), find)


def adapt(given: dict, packets: float) -> Adapted:
    if given["flow"][0]["algorithm"] == "newreno":
        raise Unfit("No kernel is that old.")
    return Adapted({**given, "flow": [{**flow, "stack": "linux"} for flow in given["flow"]]}, 2.0)


SUITE = Suite(
    "tiny",
    "A small suite",
    "a paper",
    (tiny("A", "sack"), tiny("B", "newreno")),
    (claim("A", "A"), claim("B", "B")),
    reduce_run,
    hosts=Hosts(adapt, lambda row, k: {**row, "aggregate_bps": k * row["aggregate_bps"]}, ()),
)


def longfat(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Runs a command in this process and returns its exit code."""
    monkeypatch.setattr("sys.argv", ["longfat", *arguments])
    return app.end_code()


class Machine:
    """Stands in for live runs: the simulator's result, valid from a certain attempt on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, invalid: int = 0, breaks: int = 0) -> None:
        self.attempts, self.invalid, self.breaks = 0, invalid, breaks
        monkeypatch.setattr(live.live_run, "run", self.run)
        monkeypatch.setattr(live.doctor, "examine", list)

    def run(self, scenario: Scenario, source: str) -> object:
        self.attempts += 1
        if self.attempts <= self.breaks:
            raise LongfatError(f"{source}: the process of the live run ended early")
        result = simulate.run(scenario)
        ok = self.attempts > self.invalid + self.breaks
        result.summary["validity"] = {
            "checks": [{"name": "lateness, s", "value": 0.5, "bound": 0.1, "ok": ok}]
        }
        return result


def ledger(root: Path) -> dict[str, dict]:
    return {row["id"]: row for row in read_ledger(root / "claims.json")}


def test_claims_between_real_hosts_get_a_column_beside_those_of_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Machine(monkeypatch)
    suites.run_suite(SUITE, out=tmp_path)
    before = ledger(tmp_path)
    outcome = live.run_live(SUITE, out=tmp_path)
    rows = ledger(tmp_path)
    assert {key: {**row, "live": None} for key, row in rows.items()} == {
        key: {**row, "live": None} for key, row in before.items()
    }
    # 5 Mbit/s, multiplied by 2; in the simulator as published it is not
    assert rows["TINY-A"]["verdict"] == "not reproduced"
    assert rows["TINY-A"]["live"]["verdict"] == "reproduced"
    assert rows["TINY-A"]["live"]["simulated"]["verdict"] == "reproduced"
    assert rows["TINY-A"]["live"]["divisors"] == [2.0]
    assert rows["TINY-B"]["live"]["verdict"] == "not measured"
    assert rows["TINY-B"]["live"]["note"] == "No kernel is that old."
    assert outcome.to_json()["without"] == {"B": "No kernel is that old."}
    shown = (tmp_path / "index.html").read_text()
    assert "<th>Live</th>" in shown
    assert "rates: between real hosts" in shown
    assert "rates: the same files in the simulator" in shown
    assert "No kernel is that old." in shown
    # a later suite in the simulator keeps the column
    suites.run_suite(SUITE, out=tmp_path)
    assert ledger(tmp_path)["TINY-A"]["live"] == rows["TINY-A"]["live"]
    longfat(monkeypatch, "claims", str(tmp_path))
    assert "live" in capsys.readouterr().out


def test_without_a_simulated_suite_the_folder_has_what_was_run_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    live.run_live(SUITE, out=tmp_path)
    row = ledger(tmp_path)["TINY-A"]
    assert (row["verdict"], row["live"]["verdict"]) == ("not measured", "reproduced")
    assert "longfat suite tiny" in row["note"]
    told = json.loads((tmp_path / "suite.json").read_text())
    assert told["live"]["status"] == "complete"


def test_live_runs_are_repeated_until_they_are_valid_and_then_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch, invalid=1, breaks=1)
    live.run_live(SUITE, out=tmp_path)
    assert machine.attempts == 3
    assert ledger(tmp_path)["TINY-A"]["live"]["verdict"] == "reproduced"
    live.run_live(SUITE, out=tmp_path)
    assert machine.attempts == 3, "the stored run is not repeated"


def test_a_run_that_is_never_valid_leaves_its_claim_unmeasured_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch, invalid=99)
    live.run_live(SUITE, out=tmp_path)
    assert machine.attempts == live.ATTEMPTS
    row = ledger(tmp_path)["TINY-A"]["live"]
    assert row["verdict"] == "not measured"
    assert row["note"] == "two sack: none of 3 live runs was valid: lateness, s 0.5."
    Machine(monkeypatch)
    live.run_live(SUITE, out=tmp_path)
    assert ledger(tmp_path)["TINY-A"]["live"]["verdict"] == "reproduced"


def test_ctrl_c_keeps_the_live_runs_that_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Suite(
        "tiny",
        "",
        "",
        (tiny("A", "sack"), tiny("C", "cubic")),
        (claim("A", "A"),),
        reduce_run,
        hosts=SUITE.hosts,
    )
    machine = Machine(monkeypatch)

    def interrupted(scenario: Scenario, source: str) -> object:
        if machine.attempts:
            raise KeyboardInterrupt
        return machine.run(scenario, source)

    monkeypatch.setattr(live.live_run, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        live.run_live(both, out=tmp_path)
    assert json.loads((tmp_path / "suite.json").read_text())["live"]["status"] == "interrupted"
    again = Machine(monkeypatch)
    live.run_live(both, out=tmp_path)
    assert again.attempts == 1


@pytest.mark.parametrize("name", ["live/A.json", "claims.json"])
def test_damaged_results_of_live_runs_are_refused_by_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    live.run_live(SUITE, out=tmp_path)
    file = tmp_path / name
    document = json.loads(file.read_text())
    if name == "claims.json":
        document["claims"][0]["live"] = {"verdict": "perhaps"}
    else:
        document["divisors"] = ["two"]
    folder.write_json(file, document)
    with pytest.raises(InputError) as refused:
        page.build(tmp_path)
    assert Path(name).name in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["aqm"], "suite aqm: --backend live: its runs have no form for real hosts"),
        (["lopez2008", "--only", "LOP-5f"], "nothing of this runs between real hosts (formula: "),
        (["lopez2008", "--only", "prober"], "The thesis did not try this."),
        (["lopez2008", "--assumptions"], "--assumptions: accepted: only with --backend sim"),
    ],
)
def test_what_cannot_run_live_is_one_line_and_nothing_is_written(
    arguments: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert longfat(monkeypatch, "suite", *arguments, "--backend", "live", "--out", str(out)) == 2
    told = capsys.readouterr().err
    assert says in told
    assert len(told.splitlines()) == 1
    assert not out.exists()


def test_a_machine_that_lacks_something_is_one_line_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = {
        "name": "cgroup",
        "ok": False,
        "needed": False,
        "found": "no permission",
        "remedy": "run as root",
    }
    monkeypatch.setattr(live.doctor, "examine", lambda: [lacks])
    with pytest.raises(InputError) as refused:
        suites.run_live(THESIS, only=["one"], out=tmp_path / "out")
    assert (
        str(refused.value) == "suite lopez2008: --backend live: cgroup: no permission; to fix it: run as root"
    )
    assert not (tmp_path / "out").exists()
    live.check_machine("tiny", [Scenario.from_dict(document("sack"))])  # its flows need no cgroup


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
def test_one_flow_of_the_thesis_fills_a_link_between_real_hosts_as_in_the_simulator(tmp_path: Path) -> None:
    outcome = suites.run_live(THESIS, only=["LOP-5e"], out=tmp_path)
    row = outcome.ledger[0]["live"]
    assert row["verdict"] != "not measured", row["note"]
    assert row["divisors"] == [5]
    runs = json.loads((tmp_path / "live" / "one.json").read_text())
    assert runs["runs"] == 2
    # after ten round trips nine tenths of the link are full on both sides
    for side in (row, row["simulated"]):
        assert [check["passed"] for check in side["checks"]][-1], side
