"""Suites between real hosts: how runs are adapted, judged, kept and shown. One test runs live."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import longfat_papers as suites
from live_runs import Left, able, able_to_load, as_root, begun, own_algorithms, started
from longfat.cli import app
from longfat.errors import InputError, LongfatError
from longfat.figure.data import Figure, Panel, points
from longfat.live.check import check
from longfat.runs import simulate
from longfat.scenario.model import Scenario
from longfat.store import whole
from longfat.store.ledger import load_ledgers, read_ledger
from longfat_papers.kit import folder, live, page
from longfat_papers.kit.claims import Check, Claim, Finding
from longfat_papers.kit.faults import StudyError
from longfat_papers.kit.hosts import Adapted, Hosts, Unfit
from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Experiment, Run, Suite
from longfat_papers.lopez2008.hosts import HOSTS
from longfat_papers.lopez2008.reduction import Row
from longfat_papers.lopez2008.reduction import reduce_run as reduce_thesis

__all__ = ["able", "able_to_load", "as_root"]

pytestmark = pytest.mark.usefixtures("drawn_once")

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
    assert (flow["algorithm"], flow["stack"], flow["mss"]) == ("reno", "linux", "1024 B")
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
    slow = HOSTS.adapt(run.document, run.packets)
    hosts = {**slow.document, "flow": run.document["flow"]}  # the thesis's hosts on both sides
    whole, fifth = (
        Row(row)
        for row in (
            reduce_thesis(simulate.run(Scenario.from_dict(run.document))),
            HOSTS.restore(reduce_thesis(simulate.run(Scenario.from_dict(hosts))), slow.divisor),
        )
    )
    assert fifth.filled(1000, 0.1) == pytest.approx(whole.filled(1000, 0.1), abs=0.06)
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
            f"{rate / 1e6:.1f} Mbit/s", checks=(Check("more than the link has", rate > 9e6, f"{rate:.3g}"),)
        )

    return Claim(f"TINY-{number}", "a paper", "s", "p", (), "e", (experiment,), find)


def adapt(given: dict, packets: float) -> Adapted:
    if given["flow"][0]["algorithm"] == "newreno":
        raise Unfit("No kernel is that old.")
    return Adapted({**given, "flow": [{**flow, "stack": "linux"} for flow in given["flow"]]}, 2.0)


SUITE = Suite(
    "tiny",
    "A small suite",
    "a paper",
    (tiny("A", "reno"), tiny("B", "newreno")),
    (claim("A", "A"), claim("B", "B")),
    reduce_run,
    hosts=Hosts(adapt, lambda row, k: {**row, "aggregate_bps": k * row["aggregate_bps"]}, ()),
)


def longfat(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Runs a command in this process and returns its exit code."""
    monkeypatch.setattr("sys.argv", ["longfat", *arguments])
    return app.end_code()


class Machine:
    """Stands in for live runs: the simulator at half of the rate, valid from a certain attempt on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, invalid: int = 0, breaks: int = 0) -> None:
        self.attempts, self.invalid, self.breaks = 0, invalid, breaks
        monkeypatch.setattr(live.live_run, "run", self.run)
        monkeypatch.setattr(live.doctor, "examine", list)

    def run(self, scenario: Scenario, source: str) -> object:
        self.attempts += 1
        if self.attempts <= self.breaks:
            raise LongfatError(f"{source}: the process of the live run ended early")
        half = f"{scenario.bottleneck.rate / 2!r} bit/s"
        result = simulate.run(scenario.with_values({"bottleneck.rate": half}))
        ok = self.attempts > self.invalid + self.breaks
        result.summary["validity"] = {
            "checks": [{"name": "lateness, s", "value": 0.5, "bound": 0.1, "ok": ok}]
        }
        return result


def ledger(root: Path) -> dict[str, dict]:
    return {row["id"]: row for row in read_ledger(root / "claims.json")}


LACKS = {"name": "cgroup", "ok": False, "needed": False, "found": "no permission", "remedy": "run as root"}


def suite_file(root: Path) -> dict:
    return dict(json.loads((root / "suite.json").read_text()))


def test_claims_between_real_hosts_get_a_column_beside_those_of_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Machine(monkeypatch)
    suites.run_suite(SUITE, out=tmp_path)
    before, simulated = ledger(tmp_path), suite_file(tmp_path)
    outcome = live.run_live(SUITE, out=tmp_path)
    rows = ledger(tmp_path)
    assert {key: {**row, "live": None} for key, row in rows.items()} == {
        key: {**row, "live": None} for key, row in before.items()
    }
    # the machine has half of the rate; both sides are multiplied by 2, and the suite as published is not
    row = rows["TINY-A"]
    assert (row["verdict"], row["measured"]) == ("not reproduced", "5.0 Mbit/s")
    assert (row["live"]["verdict"], row["live"]["measured"]) == ("not reproduced", "5.0 Mbit/s")
    beside = row["live"]["simulated"]
    assert (beside["verdict"], beside["measured"]) == ("reproduced", "9.9 Mbit/s")
    assert row["live"]["divided"] == "2"
    rates = {
        side: whole.read_table(tmp_path / "live" / f"A.{side}.parquet")["aggregate_bps"].to_pylist()
        for side in ("live", "simulated")
    }
    assert rates["live"][0] == pytest.approx(rates["simulated"][0] / 2, rel=0.05)
    drawn = json.loads((tmp_path / "live" / "A.json").read_text())["figures"]
    assert {side: figure["panels"][0]["curves"][0]["y"] for side, figure in drawn.items()} == rates
    assert rows["TINY-B"]["live"]["verdict"] == "not measured"
    assert rows["TINY-B"]["live"]["note"] == "No kernel is that old."
    told = outcome.to_json()
    assert told["without"] == {"B": "No kernel is that old."}
    assert [(each["name"], each["runs"], each["finished"]) for each in told["experiments"]] == [
        ("A", 1, True)
    ]
    stored = suite_file(tmp_path)
    assert {key: stored[key] for key in simulated} == simulated
    shown = (tmp_path / "index.html").read_text()
    assert "<th>Live</th>" in shown
    assert "rates: between real hosts" in shown
    assert "rates: the same files in the simulator" in shown
    assert "No kernel is that old." in shown
    # a later suite in the simulator keeps all of this
    suites.run_suite(SUITE, out=tmp_path)
    assert ledger(tmp_path)["TINY-A"]["live"] == rows["TINY-A"]["live"]
    assert suite_file(tmp_path)["live"] == stored["live"]
    assert 'id="live">Between real hosts' in (tmp_path / "index.html").read_text()
    longfat(monkeypatch, "claims", str(tmp_path))
    assert "live" in capsys.readouterr().out


def test_without_a_simulated_suite_the_folder_says_that_it_has_only_live_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    live.run_live(SUITE, out=tmp_path)
    row = ledger(tmp_path)["TINY-A"]
    assert (row["verdict"], row["live"]["verdict"]) == ("not measured", "not reproduced")
    assert "longfat suite tiny" in row["note"]
    live.run_live(SUITE, mode="full", out=tmp_path)
    stored = suite_file(tmp_path)
    assert (stored["status"], stored["mode"], stored["experiments"]) == ("not run", "", {})
    assert (stored["live"]["status"], stored["live"]["mode"]) == ("complete", "full")
    shown = (tmp_path / "index.html").read_text()
    assert "nothing of the suite in the simulator" in shown
    assert str(stored["live"]["provenance"]["created"]) in shown
    suites.run_suite(SUITE, out=tmp_path)
    assert suite_file(tmp_path)["status"] == "complete"
    assert "nothing of the suite in the simulator" not in (tmp_path / "index.html").read_text()


def test_a_folder_of_live_runs_hides_no_verdict_of_the_simulator_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    suites.run_suite(SUITE, out=tmp_path / "tiny")
    live.run_live(SUITE, out=tmp_path / "tiny-live")
    os.utime(tmp_path / "tiny" / "claims.json", (1, 1))
    rows = {row["id"]: row for row in load_ledgers(tmp_path)}
    assert (rows["TINY-A"]["verdict"], rows["TINY-B"]["verdict"]) == ("not reproduced", "not reproduced")
    assert rows["TINY-A"]["live"]["simulated"]["verdict"] == "reproduced"
    os.utime(tmp_path / "tiny-live" / "claims.json", (0, 0))
    assert {row["id"]: row for row in load_ledgers(tmp_path)} == rows


def test_each_claim_keeps_the_kernel_and_the_mode_under_which_it_was_run_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    monkeypatch.setattr("platform.release", lambda: "6.1-one")
    live.run_live(SUITE, mode="full", out=tmp_path)
    before = ledger(tmp_path)["TINY-A"]["live"]
    assert (before["kernel"], before["mode"]) == ("6.1-one", "full")
    Machine(monkeypatch, invalid=99)
    monkeypatch.setattr("platform.release", lambda: "6.2-two")
    live.run_live(SUITE, out=tmp_path)
    assert ledger(tmp_path)["TINY-A"]["live"] == before
    shown = (tmp_path / "index.html").read_text()
    assert "between TCPs of Linux 6.1-one, judged" in shown
    assert "no valid result in 3 live runs: lateness, s 0.5" in shown
    Machine(monkeypatch)
    live.run_live(SUITE, out=tmp_path)
    assert ledger(tmp_path)["TINY-A"]["live"]["kernel"] == "6.2-two"
    assert "between TCPs of Linux 6.2-two, judged" in (tmp_path / "index.html").read_text()
    assert suite_file(tmp_path)["live"]["invalid"] == {}


def test_live_runs_are_repeated_until_they_are_valid_and_then_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch, invalid=1, breaks=1)
    live.run_live(SUITE, out=tmp_path)
    assert machine.attempts == 3
    assert ledger(tmp_path)["TINY-A"]["live"]["verdict"] == "not reproduced"
    # without rights, stored runs can be judged again
    monkeypatch.setattr(live.doctor, "examine", lambda: [{**LACKS, "needed": True}])
    live.run_live(SUITE, out=tmp_path)
    assert machine.attempts == 3, "the stored run is not repeated"


def test_a_run_that_is_never_valid_leaves_its_claim_unmeasured_and_ends_with_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(monkeypatch, invalid=98, breaks=1)
    monkeypatch.setattr(suites, "get", lambda name: SUITE)
    out = tmp_path / "out"
    assert longfat(monkeypatch, "suite", "tiny", "--backend", "live", "--out", str(out), "--json") == 1
    assert machine.attempts == live.ATTEMPTS
    row = ledger(out)["TINY-A"]["live"]
    assert row["verdict"] == "not measured"
    assert row["note"] == (
        "two reno: no valid result in 3 live runs: suite tiny, two reno: the process of the live run ended "
        "early; lateness, s 0.5."
    )
    printed = capsys.readouterr()
    assert json.loads(printed.out)["invalid"] == {"A": row["note"][:-1]}
    assert "error: suite tiny: --backend live: without live results: A: two reno" in printed.err
    assert suite_file(out)["live"]["status"] == "partly"
    Machine(monkeypatch)
    assert longfat(monkeypatch, "suite", "tiny", "--backend", "live", "--out", str(out)) == 0
    assert ledger(out)["TINY-A"]["live"]["verdict"] == "not reproduced"


@pytest.mark.parametrize(
    ("error", "attempts"), [(InputError("no memory"), 1), (LongfatError("no memory"), 2)]
)
def test_what_a_machine_refuses_is_not_asked_again_and_the_other_runs_go_on(
    error: Exception, attempts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch)
    refused: list[str] = []

    def run(scenario: Scenario, source: str) -> object:
        if scenario.title == "two reno":
            refused.append(source)
            raise error
        return machine.run(scenario, source)

    monkeypatch.setattr(live.live_run, "run", run)
    outcome = live.run_live(BOTH, out=tmp_path)
    assert len(refused) == attempts
    assert outcome.invalid == {
        "A": f"two reno: no valid result in {attempts} live run{'s' * (attempts > 1)}: no memory"
    }
    assert [row["live"]["verdict"] for row in outcome.ledger] == ["not measured", "not reproduced"]


BOTH = Suite(
    "tiny",
    "",
    "",
    (tiny("A", "reno"), tiny("C", "cubic")),
    (claim("A", "A"), claim("C", "C")),
    reduce_run,
    hosts=SUITE.hosts,
)


def test_a_rule_and_a_drawing_that_fail_end_the_command_and_keep_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undrawn(runs: object, mode: str) -> Figure:
        raise StudyError("A: its drawing failed: no ink")

    def unruled(data: object) -> Finding:
        raise StudyError("claim TINY-A: its rule failed: no paper")

    broken = dataclasses.replace(BOTH.experiments[0], figure=undrawn)
    wrong = dataclasses.replace(BOTH.claims[0], find=unruled)
    suite = dataclasses.replace(
        BOTH, experiments=(broken, BOTH.experiments[1]), claims=(wrong, BOTH.claims[1])
    )
    Machine(monkeypatch)
    outcome = live.run_live(suite, out=tmp_path)
    assert outcome.failed == ("A: its drawing failed: no ink", "claim TINY-A: its rule failed: no paper")
    with pytest.raises(LongfatError, match=r"suite tiny: A: its drawing failed: no ink; claim TINY-A: "):
        outcome.raise_if_invalid()
    verdicts = {name: row["live"]["verdict"] for name, row in ledger(tmp_path).items()}
    assert verdicts == {"TINY-A": "not measured", "TINY-C": "not reproduced"}


def test_ctrl_c_judges_and_keeps_the_live_runs_that_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch)

    def interrupted(scenario: Scenario, source: str) -> object:
        if machine.attempts:
            raise KeyboardInterrupt
        return machine.run(scenario, source)

    monkeypatch.setattr(live.live_run, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        live.run_live(BOTH, out=tmp_path)
    assert suite_file(tmp_path)["live"]["status"] == "interrupted"
    rows = ledger(tmp_path)
    assert rows["TINY-A"]["live"]["verdict"] == "not reproduced"
    assert rows["TINY-A"]["live"]["simulated"]["verdict"] == "reproduced"
    assert rows["TINY-C"]["live"]["note"] == "Experiment C did not finish."
    assert (tmp_path / "live" / "A.json").exists()
    again = Machine(monkeypatch)
    live.run_live(BOTH, out=tmp_path)
    assert again.attempts == 1


def test_a_number_of_jobs_that_cannot_be_is_refused_before_any_live_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch)
    with pytest.raises(InputError, match="jobs = 0: there is no worker; accepted: 1 or more"):
        live.run_live(SUITE, out=tmp_path, jobs=0)
    assert machine.attempts == 0


def test_runs_of_one_experiment_with_different_divisors_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def both(given: dict, packets: float) -> Adapted:
        return Adapted(adapt(given, packets).document, 5.0 if given["title"] == "two cubic" else 1.0)

    def runs(mode: str) -> list[Run]:
        return [
            Run({"repeat": 0, "algorithm": name}, document(name), 1000.0) for name in ("reno", "cubic", "bic")
        ]

    experiment = dataclasses.replace(tiny("A", "reno"), runs=runs)
    Machine(monkeypatch)
    live.run_live(
        dataclasses.replace(
            BOTH,
            experiments=(experiment,),
            claims=BOTH.claims[:1],
            hosts=dataclasses.replace(SUITE.hosts, adapt=both),
        ),
        out=tmp_path,
    )
    assert ledger(tmp_path)["TINY-A"]["live"]["divided"] == "1 (bic, reno), 5 (cubic)"
    shown = (tmp_path / "index.html").read_text()
    assert "Rates were divided by 1 (bic, reno), 5 (cubic);" in shown


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("live/A.json", lambda document: document["figures"].pop("live")),
        ("claims.json", lambda document: document["claims"][0]["live"].update(verdict="perhaps")),
        ("claims.json", lambda document: document["claims"][0]["live"].pop("indicative")),
        ("claims.json", lambda document: document["claims"][0]["live"]["simulated"].pop("checks")),
        ("claims.json", lambda document: document["claims"][0].update(live="reproduced")),
    ],
)
def test_damaged_results_of_live_runs_are_refused_by_name(
    name: str, damage: Callable[[dict], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(monkeypatch)
    live.run_live(SUITE, out=tmp_path)
    file = tmp_path / name
    document = json.loads(file.read_text())
    damage(document)
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
        (
            ["lopez2008", "--assumptions"],
            "--assumptions cannot be used with --backend live; accepted: --backend sim",
        ),
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
    monkeypatch.setattr(live.doctor, "examine", lambda: [LACKS])
    with pytest.raises(InputError) as refused:
        suites.run_live(THESIS, only=["one"], out=tmp_path / "out")
    assert (
        str(refused.value) == "suite lopez2008: --backend live: cgroup: no permission; to fix it: run as root"
    )
    assert not (tmp_path / "out").exists()
    live.check_machine("tiny", [Scenario.from_dict(document("reno"))])  # its flows need no cgroup


@pytest.mark.live
@pytest.mark.usefixtures("as_root", "able_to_load")
@pytest.mark.kernel("cgroups")
def test_one_flow_of_the_thesis_fills_a_link_between_real_hosts_as_in_the_simulator(tmp_path: Path) -> None:
    outcome = suites.run_live(THESIS, only=["LOP-5e"], out=tmp_path)
    row = outcome.ledger[0]["live"]
    assert row["verdict"] != "not measured", row["note"]
    assert row["divided"] == "5"
    runs = json.loads((tmp_path / "live" / "one.json").read_text())
    assert runs["runs"] == 2
    # after ten round trips nine tenths of the link are full on both sides
    for side in (row, row["simulated"]):
        assert [check["passed"] for check in side["checks"]][-1], side


PAPER = """
from longfat.figure.data import Figure, Panel, points
from longfat_papers.kit.claims import Check, Claim, Finding
from longfat_papers.kit.hosts import Adapted, Hosts
from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Experiment, Run, Suite


def runs(mode):
    flow = {"algorithm": "ltcp", "rtt": "40 ms", "stack": "linux"}
    bottleneck = {"rate": "5 Mbit/s", "buffer": "20 packets"}
    document = {"title": "long", "duration": "60 s", "bottleneck": bottleneck, "flow": [flow]}
    return [Run({"repeat": 0}, document, 30000.0)]


def figure(runs, mode):
    return Figure("A", "Fig. A", "rates", "all", (Panel("", "x", "y", (points("all", []),)),))


def find(data):
    check = Check("more than nothing", data["A"].mean("aggregate_bps") > 0.0, "")
    return Finding("something", checks=(check,))


SUITE = Suite(
    "paper", "A paper", "", (Experiment("A", "Fig. A", "rates", runs, figure),),
    (Claim("PAPER-A", "", "", "", (), "", ("A",), find),), reduce_run,
    hosts=Hosts(lambda document, packets: Adapted(document), lambda row, divisor: dict(row), ()),
)
"""


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
@pytest.mark.kernel("ltcp")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_a_suite_nothing_of_its_live_run_is_left(end: signal.Signals, tmp_path: Path) -> None:
    paper, out = tmp_path / "paper.py", tmp_path / "out"
    paper.write_text(PAPER)
    others = own_algorithms("lf_ltcp")
    command = [sys.executable, "-m", "longfat", "suite", paper, "--backend", "live", "--out", out]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with started(list(map(str, command)), **pipes) as process:
        limit = time.monotonic() + 20.0
        while not (out / "segments").exists():  # the simulated run is stored before the live one begins
            assert time.monotonic() < limit
            assert process.poll() is None
            time.sleep(0.05)
        left = Left(begun(process.pid))
        names = own_algorithms("lf_ltcp") - others
        assert names
        process.send_signal(end)
        process.communicate(timeout=20)
    assert process.returncode in (-end, 128 + end)
    assert left.in_a_while() == []
    assert not names & own_algorithms("lf_ltcp")
    if end == signal.SIGINT:
        row = ledger(out)["PAPER-A"]["live"]
        assert (row["verdict"], row["simulated"]["verdict"]) == ("not measured", "reproduced")
        assert suite_file(out)["live"]["status"] == "interrupted"


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"rate": "50000 Mbit/s"}, "more than 100 times"), ({"buffer": "512 KiB"}, "A buffer of 512 KiB")],
)
def test_a_run_that_the_division_does_not_suit_is_unfit_and_says_why(
    changes: dict[str, str], why: str
) -> None:
    run = THESIS.experiment("one").runs("quick")[0]
    bottleneck = {**run.document["bottleneck"], **changes}
    with pytest.raises(Unfit, match=why):
        HOSTS.adapt({**run.document, "bottleneck": bottleneck}, run.packets)
