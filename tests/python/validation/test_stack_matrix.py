"""The matrix of algorithms, stacks and paths: its paths, its rules, and what an explanation covers."""

import sys
from pathlib import Path

import pytest

from longfat.scenario.model import Scenario

MATRIX = Path(__file__).resolve().parents[3] / "validation" / "matrix"
sys.path.insert(0, str(MATRIX))

import drawn_paths  # noqa: E402
import stack_matrix  # noqa: E402
from stack_matrix import Cell, Flag, Outcome  # noqa: E402

SOUND = Outcome(goodput_bps=9.6e6, throughput_bps=10e6, loss=0.01, srtt_s=0.05, cwnd=40.0, timeouts=0)


def changed(**values: float) -> Outcome:
    return Outcome(**(vars(SOUND) | values))


def rules(outcome: Outcome, base: Outcome = SOUND) -> list[str]:
    """The rules that a run on quic breaks beside this one on rfc."""
    outcomes = {Cell("deep", "bic", "rfc"): base, Cell("deep", "bic", "quic"): outcome}
    return [flag.rule for flag in stack_matrix.flags(outcomes) if flag.cell.stack == "quic"]


def test_a_seed_draws_a_path_of_each_kind_and_another_seed_draws_others():
    paths = drawn_paths.draw(7)
    assert [path.kind for path in paths] == list(drawn_paths.KINDS)
    assert paths == drawn_paths.draw(7)
    assert all(one.title != other.title for one, other in zip(paths, drawn_paths.draw(8), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_each_drawn_path_is_a_valid_scenario(seed):
    for path in drawn_paths.draw(seed):
        for algorithm in ("reno", "xcp"):
            router = stack_matrix.protocol(algorithm)
            _ = Scenario.from_dict(path.scenario(algorithm, "quic", router)).plan


def test_the_table_has_every_algorithm_over_tcp_and_no_other():
    names = stack_matrix.algorithms()
    assert {"reno", "cubic", "bbr3", "prague", "xcp"} <= set(names)
    assert not {"udt", "cbr", "onoff"} & set(names)


@pytest.mark.parametrize(
    ("outcome", "broken"),
    [
        (SOUND, []),
        (changed(goodput_bps=7.49e6), ["useful"]),
        (changed(goodput_bps=7.51e6), []),
        (changed(loss=0.151), ["loss"]),
        (changed(loss=0.149), []),
        (changed(goodput_bps=4.7e6, throughput_bps=5e6), ["stack"]),
        (changed(goodput_bps=4.9e6, throughput_bps=5e6), []),
        (changed(goodput_bps=19.3e6, throughput_bps=20e6), ["stack"]),
        (changed(goodput_bps=19.1e6, throughput_bps=20e6), []),
        (changed(goodput_bps=0.0, throughput_bps=0.0), ["useful", "stack"]),
        (changed(loss=float("nan")), ["loss"]),
    ],
)
def test_a_rule_flags_what_it_states_and_nothing_else(outcome, broken):
    assert rules(outcome) == broken


def test_where_the_path_or_the_algorithm_draws_the_run_of_median_goodput_stands_for_five():
    paths = {path.kind: path for path in drawn_paths.draw(2)}
    runs = [
        len(stack_matrix.seeds(paths[kind], name))
        for kind, name in [("constant", "reno"), ("loss", "reno"), ("bursts", "reno"), ("constant", "cdg")]
    ]
    assert runs == [1, 5, 5, 5]
    seeds = stack_matrix.seeds(paths["bursts"], "reno")
    scenarios = [paths["bursts"].scenario("reno", "rfc", None, seed) for seed in seeds]
    assert len({scenario["seed"] for scenario in scenarios}) == 5
    outcomes = [changed(goodput_bps=bps) for bps in (5e6, 1e6, 3e6, 4e6, 2e6)]
    assert Outcome.median(outcomes).goodput_bps == 3e6


def test_the_stack_rfc_is_not_compared_with_itself():
    cell = Cell("deep", "bic", "rfc")
    assert [flag.rule for flag in stack_matrix.flags({cell: changed(goodput_bps=1e6)})] == ["useful"]


def written(folder: Path, text: str) -> Path:
    file = folder / "explanations.toml"
    file.write_text(text)
    return file


ENTRY = (
    '[[explanation]]\nalgorithms = ["hybla"]\npaths = ["long", "deep"]\nstacks = ["quic"]\n'
    'rules = ["loss"]\ncontrol = { initial_window = 2 }\ntext = "scales with the round-trip time"\n'
)


def test_an_explanation_applies_to_its_algorithms_stacks_paths_and_rules_only(tmp_path):
    (explanation,) = stack_matrix.explanations(written(tmp_path, ENTRY))
    assert explanation.applies(Flag(Cell("long", "hybla", "quic"), "loss", "30 % lost"))
    for other in (
        Flag(Cell("long", "hybla", "quic"), "useful", ""),
        Flag(Cell("long", "hybla", "linux"), "loss", ""),
        Flag(Cell("long", "bic", "quic"), "loss", ""),
        Flag(Cell("pie", "hybla", "quic"), "loss", ""),
    ):
        assert not explanation.applies(other)
    for key in ("algorithms", "stacks", "paths"):
        lines = [line for line in ENTRY.splitlines() if not line.startswith(key)]
        (wide,) = stack_matrix.explanations(written(tmp_path, "\n".join(lines)))
        assert wide.applies(Flag(Cell("long", "hybla", "quic"), "loss", "")), (
            f"without {key} it holds for all"
        )


def test_a_control_run_differs_in_what_the_explanation_names(tmp_path):
    control = (
        "control = { recovery = 'prr', algorithm = { rtt0 = '600 ms' }, "
        "bottleneck = { buffer = '20 packets' }, slower = 4, wider = 10 }"
    )
    entry = ENTRY.replace("control = { initial_window = 2 }", control)
    (explanation,) = stack_matrix.explanations(written(tmp_path, entry))
    for path in drawn_paths.draw(3):
        one = path.scenario("hybla", "quic", None)
        other = explanation.controlled(one)
        assert other["flow"] == [
            one["flow"][0] | {"recovery": "prr", "algorithm": {"name": "hybla", "rtt0": "600 ms"}}
        ]
        assert other["bottleneck"]["buffer"] == "20 packets"
        assert {**other["bottleneck"], "rate": 0, "buffer": 0} == {
            **one["bottleneck"],
            "rate": 0,
            "buffer": 0,
        }
        constant = isinstance(one["bottleneck"]["rate"], str)
        rates = [
            [run["bottleneck"]["rate"]]
            if constant
            else [step for _, step in run["bottleneck"]["rate"]["steps"]]
            for run in (one, other)
        ]
        mbps = [[float(rate.removesuffix(" Mbit/s")) for rate in run] for run in rates]
        assert mbps[1] == pytest.approx([10 * rate for rate in mbps[0]])
        assert other["duration"] == f"{4 * path.duration_s} s"
        _ = Scenario.from_dict(other).plan
    falls = {path.kind: path for path in drawn_paths.draw(3)}["falls"].scenario("hybla", "quic", None)
    assert [at for at, _ in explanation.controlled(falls)["bottleneck"]["rate"]["steps"]] == ["0 s", "40 s"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY.replace("hybla", "hibla"), "hibla"),
        (ENTRY.replace("deep", "wide"), "wide"),
        (ENTRY.replace('"loss"', '"lost"'), "lost"),
        (ENTRY.replace("scales with the round-trip time", ""), "a text"),
        (ENTRY.replace('rules = ["loss"]', ""), "has rules"),
        (ENTRY.replace("control = { initial_window = 2 }", ""), "a control"),
        (ENTRY + 'why = "x"\n', "'why'"),
        (ENTRY.replace("initial_window", "initial_windw"), "initial_windw"),
        (ENTRY.replace("initial_window = 2", "algorithm = { rtt1 = '2 s' }"), "rtt1"),
    ],
)
def test_an_explanation_with_an_unknown_name_or_without_its_control_is_refused(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        stack_matrix.explanations(written(tmp_path, text))


def test_the_explanations_of_the_repository_can_be_read():
    stack_matrix.explanations(stack_matrix.EXPLANATIONS)


ARGUMENTS = ["--paths", "constant", "--only", "reno", "cubic", "--jobs", "1"]


def test_a_small_matrix_has_a_row_for_each_algorithm_with_the_stacks_side_by_side(tmp_path, capsys):
    assert stack_matrix.main(ARGUMENTS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "6 cells, 0 flags, 0 of them not explained." in lines
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("reno ", "cubic "))}
    assert set(rows) == {"reno", "cubic"}
    for cells in rows.values():
        assert len(cells) == len(stack_matrix.COLUMNS) * len(stack_matrix.STACKS)
        goodput, throughput = map(float, cells[0:3]), map(float, cells[3:6])
        assert all(0.9 < g / t < 1.0 for g, t in zip(goodput, throughput, strict=True))


@pytest.mark.parametrize(
    ("control", "sound"),
    [("max_window = 300", True), ("bottleneck = { buffer = '20 packets' }", False)],
)
def test_only_an_explanation_whose_control_run_is_not_flagged_explains_a_flag(
    tmp_path, capsys, monkeypatch, control, sound
):
    monkeypatch.setattr(stack_matrix, "MOST_LOST", 0.0)
    none = written(tmp_path, "")
    assert stack_matrix.main([*ARGUMENTS, "--explanations", str(none)]) == 1
    assert "NOT EXPLAINED  constant      reno         rfc   loss" in capsys.readouterr().out
    entry = f'[[explanation]]\nrules = ["loss"]\ncontrol = {{ {control} }}\ntext = "it probes"\n'
    explained = stack_matrix.main([*ARGUMENTS, "--explanations", str(written(tmp_path, entry))]) == 0
    assert explained is sound
    shown = capsys.readouterr().out
    assert ("explained      constant      reno         rfc   loss" in shown) is sound
    assert ("it probes" in shown) is sound
    assert ("control: goodput" in shown) is sound
    assert "! rfc:loss linux:loss quic:loss" in shown


@pytest.mark.parametrize(("control", "sound"), [("max_window = 300", True), ("max_window = 1", False)])
def test_a_ratio_of_stacks_has_a_control_on_both_that_does_not_just_carry_less(
    tmp_path, monkeypatch, control, sound
):
    monkeypatch.setattr(stack_matrix, "MOST_OF_RFC", 1.02)
    entry = f'[[explanation]]\nrules = ["stack"]\ncontrol = {{ {control} }}\ntext = "it is faster"\n'
    paths = [path for path in drawn_paths.draw(1) if path.kind == "constant"]
    cells = [Cell("constant", "tahoe", stack) for stack in ("rfc", "linux")]
    outcomes = dict(zip(cells, stack_matrix.measure(paths, [(c, None) for c in cells], jobs=1), strict=True))
    (flag,) = stack_matrix.flags(outcomes)
    known = stack_matrix.explanations(written(tmp_path, entry))
    assert (flag in stack_matrix.reasons_of([flag], outcomes, paths, known, jobs=1)) is sound


def test_a_control_that_another_rule_flags_explains_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(stack_matrix, "MOST_OF_RFC", 1.02)
    entry = '[[explanation]]\nrules = ["stack"]\ncontrol = { max_window = 300 }\ntext = "it is faster"\n'
    paths = [path for path in drawn_paths.draw(1) if path.kind == "constant"]
    cells = [Cell("constant", "tahoe", stack) for stack in ("rfc", "linux")]
    outcomes = dict(zip(cells, stack_matrix.measure(paths, [(c, None) for c in cells], jobs=1), strict=True))
    (flag,) = stack_matrix.flags(outcomes)
    known = stack_matrix.explanations(written(tmp_path, entry))
    monkeypatch.setattr(stack_matrix, "LEAST_USEFUL", 1.0)
    assert stack_matrix.reasons_of([flag], outcomes, paths, known, jobs=1) == {}


def test_slow_start_of_a_control_may_end_at_the_bdp_of_the_first_rate(tmp_path):
    entry = ENTRY.replace("initial_window = 2", "ssthresh_bdp = 0.5")
    (explanation,) = stack_matrix.explanations(written(tmp_path, entry))
    falls = {path.kind: path for path in drawn_paths.draw(1)}["falls"]
    (flow,) = explanation.controlled(falls.scenario("hybla", "quic", None))["flow"]
    assert flow["initial_ssthresh"] == round(0.5 * 25.0 * 125.0 * 31 / 1500)  # 25 Mbit/s, 31 ms


def test_a_part_of_the_matrix_is_not_written_over_the_snapshot(capsys):
    with pytest.raises(SystemExit):
        stack_matrix.main([*ARGUMENTS, "--write"])
    assert "--write goes with the whole table" in capsys.readouterr().err
