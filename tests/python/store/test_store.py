"""Stored runs: kept whole or not at all, found again, refused when they cannot be read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longfat import errors
from longfat.scenario.model import Scenario
from longfat.store import index, store, whole
from longfat.store.identity import digest, run_key
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.sweep import reduction
from longfat_papers.kit.reduction import reduce_run
from samples import flips

TINY: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 % BDP"},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    row = {
        "a": 0.1,
        "none": None,
        "nan": float("nan"),
        "text": "ü",
        "series": [{"x": np.array([1.0, np.nan, 1e-300])}],
    }
    with Store(tmp_path, "kind") as kept:
        kept.add("k", row)
        assert kept.get(["k"])["k"]["a"] == 0.1
    with Store(tmp_path, "kind") as kept:
        found = kept.get(["k", "other"])
    assert list(found) == ["k"]
    back = found["k"]
    assert (back["a"], back["none"], back["text"]) == (0.1, None, "ü")
    assert np.isnan(back["nan"])
    np.testing.assert_array_equal(back["series"][0]["x"], row["series"][0]["x"])  # type: ignore[index]


def test_reductions_do_not_see_each_others_rows(tmp_path: Path) -> None:
    with Store(tmp_path, "one") as kept:
        kept.add("k", {"x": 1})
    with Store(tmp_path, "two") as kept:
        assert "k" not in kept


def test_a_truncated_segment_is_put_aside_and_its_runs_are_missing(tmp_path: Path) -> None:
    for key in ("a", "b"):
        with Store(tmp_path, "kind") as kept:
            kept.add(key, {"x": key})
    first, second = sorted((tmp_path / "segments" / "kind").iterdir())
    first.write_bytes(first.read_bytes()[:-20])
    with Store(tmp_path, "kind") as kept:
        assert kept.damaged == [first.name]
        assert len(kept) == 1
    assert [path.name for path in (tmp_path / "damaged").iterdir()] == [first.name]
    assert second.exists()


def test_a_segment_with_one_changed_bit_is_put_aside(tmp_path: Path) -> None:
    with Store(tmp_path, "kind") as kept:
        for number in range(20):
            kept.add(f"{number}", {"x": number / 7, "name": f"run {number}"})
    (segment,) = (tmp_path / "segments" / "kind").iterdir()
    for changed in flips(segment.read_bytes(), 500):
        segment.write_bytes(changed)
        with Store(tmp_path, "kind", write=False) as kept:
            assert (kept.damaged, len(kept)) == ([segment.name], 0)


def test_a_file_whose_name_has_no_digest_is_put_aside(tmp_path: Path) -> None:
    with Store(tmp_path, "kind") as kept:
        kept.add("k", {"x": 1.0})
    (segment,) = (tmp_path / "segments" / "kind").iterdir()
    segment.rename(segment.with_name("anything.parquet"))
    with Store(tmp_path, "kind") as kept:
        assert (kept.damaged, len(kept)) == (["anything.parquet"], 0)


def test_a_reader_joins_no_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("a", "b", "c"):
        with Store(tmp_path, "kind") as kept:
            kept.add(key, {"x": 1})
    monkeypatch.setattr("longfat.store.store.FEW_SEGMENTS", 1)
    before = sorted(path.name for path in (tmp_path / "segments" / "kind").iterdir())
    with Store(tmp_path, "kind", write=False) as kept:
        assert len(kept) == len(before) == 3
    assert sorted(path.name for path in (tmp_path / "segments" / "kind").iterdir()) == before


def test_a_bit_that_changes_while_a_store_is_open_is_an_error_and_no_row(tmp_path: Path) -> None:
    with Store(tmp_path, "kind") as kept:
        kept.add("k", {"x": 1.0})
    (segment,) = (tmp_path / "segments" / "kind").iterdir()
    with Store(tmp_path, "kind") as kept:
        segment.write_bytes(next(flips(segment.read_bytes(), 1)))
        with pytest.raises(errors.LongfatError, match="is damaged; run again"):
            kept.get(["k"])


def test_samples_with_one_changed_bit_are_an_error(tmp_path: Path) -> None:
    with Store(tmp_path, "kind") as kept:
        kept.add("k", {}, pa.table({"time_s": np.arange(50.0)}))
    (file,) = (tmp_path / "series").iterdir()
    for changed in flips(file.read_bytes(), 200):
        file.write_bytes(changed)
        with Store(tmp_path, "kind") as kept, pytest.raises(errors.LongfatError, match="is damaged"):
            kept.series("k")


def test_samples_that_are_made_again_replace_the_earlier_ones(tmp_path: Path) -> None:
    for length in (2, 3):
        with Store(tmp_path, "kind") as kept:
            kept.add("k", {}, pa.table({"time_s": np.arange(float(length))}))
    assert len(list((tmp_path / "series").iterdir())) == 1
    with Store(tmp_path, "kind") as kept:
        assert kept.series("k").num_rows == 3  # type: ignore[union-attr]


def test_a_single_small_segment_survives_a_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FEW_SEGMENTS", 0)
    for _ in range(2):
        with Store(tmp_path, "kind") as kept:
            if "k" not in kept:
                kept.add("k", {"x": 1})
            assert kept.get(["k"]) == {"k": {"x": 1}}


def test_many_small_segments_are_joined_without_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FEW_SEGMENTS", 4)
    for number in range(8):
        with Store(tmp_path, "kind") as kept:
            kept.add(str(number), {"x": number})
    assert len(list((tmp_path / "segments" / "kind").iterdir())) < 8
    with Store(tmp_path, "kind") as kept:
        rows = kept.get(map(str, range(8)))
    assert {key: row["x"] for key, row in rows.items()} == {str(n): n for n in range(8)}


def test_a_row_that_a_join_left_in_two_segments_is_in_one_after_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FEW_SEGMENTS", 4)
    folder = tmp_path / "segments" / "kind"
    for number in range(3):
        with Store(tmp_path, "kind") as kept:
            kept.add(str(number), {"x": number})
    for path in list(folder.iterdir()):
        (folder / f"again-{path.name}").write_bytes(path.read_bytes())
    with Store(tmp_path, "kind") as kept:
        assert len(kept) == 3
    keys = [key for path in folder.iterdir() for key in pq.read_table(path)["key"].to_pylist()]
    assert sorted(keys) == ["0", "1", "2"]


def test_a_second_writer_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    with Store(tmp_path, "kind"), pytest.raises(errors.InputError, match="another process is writing to it"):
        Store(tmp_path, "kind")
    Store(tmp_path, "kind").close()


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(json.dumps({"format": store.FORMAT + 1, "made_by": "9.9.9"}))
    with pytest.raises(errors.InputError, match=r"it was made by Longfat 9\.9\.9"):
        Store(tmp_path, "kind")


def test_samples_are_kept_beside_their_run(tmp_path: Path) -> None:
    samples = pa.table({"time_s": [0.0, 0.1]})
    with Store(tmp_path, "kind") as kept:
        kept.add("k", {}, samples)
        assert kept.series("k") == samples
        assert kept.series("other") is None


def test_a_store_in_the_memory_of_fsspec_holds_runs_too() -> None:
    place = "memory://sweep"
    with Store(place, "kind") as kept:
        kept.add("k", {"x": 1})
    with Store(place, "kind") as kept:
        assert kept.get(["k"]) == {"k": {"x": 1}}


FULL = """
import resource, sys
from longfat.store.store import Store
kept = Store(sys.argv[1], "kind")
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    kept.add("later", {"x": "y" * 10000})
    kept.flush()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_disk_that_takes_no_more_is_told_and_leaves_what_is_there(tmp_path: Path) -> None:
    with Store(tmp_path, "kind") as kept:
        kept.add("first", {"x": 1})
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith("LongfatError")
    assert "run again to go on" in ended.stdout
    left = [path for path in tmp_path.rglob(".*") if path.is_file()]
    assert left == []
    with Store(tmp_path, "kind") as kept:
        assert (len(kept), kept.damaged) == (1, [])


def test_a_file_that_cannot_be_written_whole_is_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    whole.write_json(file, {"x": 1})
    assert json.loads(file.read_text()) == {"x": 1}
    with pytest.raises(ValueError, match="JSON"):
        whole.write_json(file, {"x": float("nan")})

    def half() -> None:
        with whole.draft(file) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert json.loads(file.read_text()) == {"x": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_a_run_is_known_by_what_it_gives_and_not_by_its_title() -> None:
    base = Scenario.from_dict(TINY)
    assert run_key(base) == run_key(base.with_values({"title": "another"}))
    keys = {run_key(base.with_values(change)) for change in ({}, {"seed": 7}, {"flow.0.rtt": "21 ms"})}
    assert len(keys) == 3


def test_an_option_at_its_default_changes_no_run_s_name() -> None:
    base = Scenario.from_dict(TINY)
    told = [run_key(base.with_values({"flow.0.rtt_samples": samples})) for samples in ("echoed", "last")]
    assert told[0] == run_key(base) != told[1]


@pytest.mark.parametrize("algorithm", ["reno", "westwood+", "westwoodplus"])
def test_a_change_of_all_results_gives_every_run_another_name(algorithm: str) -> None:
    scenario = Scenario.from_dict(TINY).with_values({"flow.0.algorithm": algorithm})
    version = 9  # the last change that concerns all plans (crates/sim/src/results/version.rs)
    assert run_key(scenario) == digest([version, scenario.plan, {}])


def test_a_users_own_algorithm_is_part_of_a_run_with_its_source(tmp_path: Path) -> None:
    source = (
        "class Own:\n    def on_ack(self, ack, window): pass\n"
        "    def on_congestion(self, event, window): pass\n"
    )
    keys = []
    for number in range(2):
        file = tmp_path / f"own{number}" / "own.py"
        file.parent.mkdir()
        file.write_text(source + f"# {number}\n")
        document = {**TINY, "flow": [{"algorithm": f"{file}:Own", "rtt": "20 ms"}]}
        keys.append(run_key(Scenario.from_dict(document)))
    assert keys[0] != keys[1]


def test_reductions_have_names_that_stay_and_differ() -> None:
    assert reduction_key(reduce_run) == reduction_key(reduce_run)
    assert reduction_key(reduce_run) != reduction_key(reduction.reduce_run)


def test_the_index_knows_each_of_many_keys_by_the_last_segment_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index, "FRESH", 8)
    known = index.Index()
    for first in range(0, 60, 5):
        known.put([str(number) for number in range(first, first + 10)], f"from {first}")
    assert len(known) == 65
    assert [known.find(str(number)) for number in (0, 7, 12, 64)] == [
        "from 0",
        "from 5",
        "from 10",
        "from 55",
    ]
    assert known.find("65") is None


@pytest.mark.parametrize("text", ['{"format": "1"}', "[]", "{}", "3", "[" * 5000, ""])
def test_a_store_whose_description_is_damaged_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(text)
    with pytest.raises(errors.InputError, match=r"store\.json is damaged"):
        Store(tmp_path, "kind")


def test_a_link_that_leads_out_of_a_store_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "other", "kind") as kept:
        kept.add("k", {"x": 1})
    Store(tmp_path / "own", "kind").close()
    (tmp_path / "own" / "segments").symlink_to(tmp_path / "other" / "segments")
    with pytest.raises(errors.InputError, match="leads out of the folder"):
        Store(tmp_path / "own", "kind")
    (tmp_path / "linked").symlink_to(tmp_path / "other")  # a link to a whole store is one
    with Store(tmp_path / "linked", "kind") as kept:
        assert "k" in kept
