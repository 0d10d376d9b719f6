"""The matrix of algorithms, stacks and paths: its paths, its rules, and what an explanation covers."""

import sys
from pathlib import Path

import pytest

from longfat.scenario.model import Scenario

MATRIX = Path(__file__).resolve().parents[2] / "validation" / "matrix"
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
        for algorithm in ("sack", "xcp"):
            router = stack_matrix.protocol(algorithm)
            Scenario.from_dict(path.scenario(algorithm, "quic", router)).resolve()


def test_the_table_has_every_algorithm_over_tcp_and_no_other():
    names = stack_matrix.algorithms()
    assert {"sack", "cubic", "bbr3", "prague", "xcp"} <= set(names)
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
        for kind, name in [("constant", "sack"), ("loss", "sack"), ("bursts", "sack"), ("constant", "cdg")]
    ]
    assert runs == [1, 5, 5, 5]
    seeds = stack_matrix.seeds(paths["bursts"], "sack")
    scenarios = [paths["bursts"].scenario("sack", "rfc", None, seed) for seed in seeds]
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


PATHS = drawn_paths.draw(3)
ENTRY = (
    '[[explanation]]\nalgorithms = ["hybla"]\npaths = ["long", "deep"]\nstacks = ["quic"]\n'
    'loss = [0.15, 0.4]\ntext = "scales with the round-trip time"\n'
)


def test_an_explanation_covers_its_algorithms_stacks_paths_and_figures_only(tmp_path):
    reasons = stack_matrix.explanations(written(tmp_path, ENTRY))
    flag = Flag(Cell("long", "hybla", "quic"), "loss", "30 % lost", 0.3)
    assert stack_matrix.reason(flag, PATHS, reasons) is reasons[0]
    for other in (
        Flag(Cell("long", "hybla", "quic"), "useful", "", 0.3),
        Flag(Cell("long", "hybla", "linux"), "loss", "", 0.3),
        Flag(Cell("long", "bic", "quic"), "loss", "", 0.3),
        Flag(Cell("pie", "hybla", "quic"), "loss", "", 0.3),
        Flag(Cell("long", "hybla", "quic"), "loss", "", 0.41),
        Flag(Cell("long", "hybla", "quic"), "loss", "", float("nan")),
    ):
        assert stack_matrix.reason(other, PATHS, reasons) is None


@pytest.mark.parametrize(
    ("line", "covered"),
    [
        ("rtt_ms = [373, 400]", True),
        ("rtt_ms = [374, 400]", False),
        ("buffer_packets = [0, 320]", True),
        ("buffer_packets = [0, 300]", False),
        ("bdp_packets = [400, 410]", True),
        ("bdp_packets = [410, 900]", False),
    ],
)
def test_an_explanation_may_ask_for_a_range_of_what_the_path_is_like(tmp_path, line, covered):
    # 13 Mbit/s for 373 ms are 404 packets of 1500 bytes; the buffer holds 76 % of them, 307
    reasons = stack_matrix.explanations(written(tmp_path, f"{ENTRY}{line}\n"))
    flag = Flag(Cell("long", "hybla", "quic"), "loss", "30 % lost", 0.3)
    assert (stack_matrix.reason(flag, PATHS, reasons) is not None) is covered


def test_a_path_has_the_buffer_that_its_scenario_has():
    for path in [path for seed in range(4) for path in drawn_paths.draw(seed)]:
        (link, *_) = Scenario.from_dict(path.scenario("sack", "rfc", None)).resolve().links
        assert path.buffer_packets == pytest.approx(link.limit.packets, abs=1.0), path.title


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY.replace("hybla", "hibla"), "hibla"),
        (ENTRY.replace("deep", "wide"), "wide"),
        (ENTRY.replace("scales with the round-trip time", ""), "a text"),
        (ENTRY.replace('paths = ["long", "deep"]', ""), "algorithms, paths"),
        (ENTRY.replace("loss = [0.15, 0.4]", ""), "figures of a rule"),
        (ENTRY + 'why = "x"\n', "'why'"),
        (ENTRY.replace("[0.15, 0.4]", "[0.4, 0.15]"), "loss = "),
        (ENTRY + "rtt_ms = 40\n", "rtt_ms = 40"),
    ],
)
def test_an_explanation_with_an_unknown_name_or_without_its_text_is_refused(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        stack_matrix.explanations(written(tmp_path, text))


def test_the_explanations_of_the_repository_can_be_read():
    stack_matrix.explanations(stack_matrix.EXPLANATIONS)


ARGUMENTS = ["--paths", "constant", "--only", "sack", "cubic", "--jobs", "1"]


def test_a_small_matrix_has_a_row_for_each_algorithm_with_the_stacks_side_by_side(tmp_path, capsys):
    assert stack_matrix.main(ARGUMENTS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "6 cells, 0 flags, 0 of them not explained." in lines
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("sack ", "cubic "))}
    assert set(rows) == {"sack", "cubic"}
    for cells in rows.values():
        assert len(cells) == len(stack_matrix.COLUMNS) * len(stack_matrix.STACKS)
        goodput, throughput = map(float, cells[0:3]), map(float, cells[3:6])
        assert all(0.9 < g / t < 1.0 for g, t in zip(goodput, throughput, strict=True))


def test_a_flag_without_an_explanation_fails_and_one_with_an_explanation_does_not(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(stack_matrix, "MOST_LOST", 0.0)
    none = written(tmp_path, "")
    assert stack_matrix.main([*ARGUMENTS, "--explanations", str(none)]) == 1
    assert "NOT EXPLAINED  constant    sack       rfc   loss" in capsys.readouterr().out
    entry = (
        '[[explanation]]\nalgorithms = ["sack", "cubic"]\npaths = ["constant"]\n'
        'loss = [0.0, 0.1]\ntext = "it probes"\n'
    )
    assert stack_matrix.main([*ARGUMENTS, "--explanations", str(written(tmp_path, entry))]) == 0
    shown = capsys.readouterr().out
    assert "explained      constant    sack       rfc   loss" in shown
    assert "it probes" in shown
    assert "! rfc:loss linux:loss quic:loss" in shown


def test_a_part_of_the_matrix_is_not_written_over_the_snapshot(capsys):
    with pytest.raises(SystemExit):
        stack_matrix.main([*ARGUMENTS, "--write"])
    assert "--write goes with the whole table" in capsys.readouterr().err
