"""What a sweep leaves: tables that are tidy whoever reads them, and samples of its runs."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from longfat import errors, sweep
from longfat.runs import simulate
from samples import flips
from tiny_sweeps import BASE, grid


def test_tables_are_tidy_partitioned_and_answer_sql(tmp_path: Path) -> None:
    asked = grid(
        axes={"bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"], "flow.0.algorithm": ["reno", "cubic"]}, repeats=2
    )
    sweep.run(asked, tmp_path)
    swept = sweep.open_sweep(tmp_path)
    assert swept.runs.num_rows == 8
    assert swept.runs.column_names[:5] == ["run", "repeat", "bottleneck.rate", "flow.0.algorithm", "seed"]
    parts = {path.parent.name for path in (tmp_path / "tables" / "runs").rglob("*.parquet")}
    assert parts == {"part=1000000.0", "part=2000000.0"}
    answer = swept.sql(
        'SELECT "bottleneck.rate" AS rate, count(*) AS n, max(goodput_bps) <= rate AS below '
        "FROM flows GROUP BY rate ORDER BY rate"
    ).to_pylist()
    assert answer == [{"rate": 1e6, "n": 4, "below": True}, {"rate": 2e6, "n": 4, "below": True}]
    with pytest.raises(errors.InputError, match="--sql: the query is empty"):
        swept.sql("-- nothing")
    for refused, said in (
        ("SELECT 1; SELECT 2", "there are 2 statements; accepted: one query"),
        ("INSERT INTO runs VALUES (1)", "the tables are only read; accepted: a query, such as SELECT"),
        ("DROP TABLE runs", "the tables are only read; accepted: a query, such as SELECT"),
        (
            "SELEC 1",
            'syntax error at or near "SELEC"; accepted: a query, such as SELECT avg(jain) FROM runs',
        ),
        ("SELECT 1 FROM nowhere", 'there is no table "nowhere"; accepted: runs, flows, failures, claims'),
        (
            "SELECT bottleneck.rate FROM runs",
            'there is no table "bottleneck"; accepted: runs, flows, failures, claims, or a column in double '
            'quotes: "bottleneck.rate"',
        ),
        (
            "SELECT jane FROM runs",
            'there is no column "jane"; the nearest: jain; accepted: a column of the tables in FROM, '
            "as DESCRIBE lists them",
        ),
        (
            "SELECT runs.jane FROM runs",
            'there is no column "jane"; the nearest: jain; accepted: a column of the tables in FROM, '
            "as DESCRIBE lists them",
        ),
        ('SELECT 1 FROM "my table"', 'there is no table "my table"; accepted: runs, flows, failures, claims'),
        (
            "SELECT avgg(jain) FROM runs",
            'there is no function "avgg", did you mean "avg"?; accepted: those of DuckDB, such as avg, '
            "sum and quantile",
        ),
        (
            "SELECT cast('a. b' AS INTEGER)",
            "Could not convert string 'a. b' to INT32",
        ),
        (
            "SELECT runs.zzz FROM runs",
            'there is no column "zzz"; accepted: a column of the tables in FROM, as DESCRIBE lists them',
        ),
        (
            "SELECT zzzzqq(1)",
            'there is no function "zzzzqq"; accepted: those of DuckDB, such as avg, sum and quantile',
        ),
        (
            "SELECT avg(jain, 3) FROM runs",
            "No function matches the given name and argument types 'avg(DOUBLE, INTEGER_LITERAL)'",
        ),
    ):
        with pytest.raises(errors.InputError) as told:
            swept.sql(refused)
        assert str(told.value) == f"--sql: {said}"
    assert swept.to_polars("flows").height == 8
    folder = tmp_path / "tables" / "runs"
    others = (
        pandas.read_parquet(folder)["bottleneck.rate"],
        polars.read_parquet(folder)["bottleneck.rate"],
        duckdb.sql(f"SELECT * FROM '{folder}/*/*.parquet'").to_arrow_table()["bottleneck.rate"].to_pandas(),
    )
    assert [sorted(set(column)) for column in others] == [[1e6, 2e6]] * 3


def test_an_axis_of_quantities_that_cannot_be_compared_is_one_of_texts(tmp_path: Path) -> None:
    buffers = ["20 % BDP", "50 packets", "10 ms"]
    sweep.run(grid(axes={"bottleneck.buffer": buffers}), tmp_path)
    assert sweep.open_sweep(tmp_path).runs["bottleneck.buffer"].to_pylist() == buffers


def test_samples_are_made_where_only_summaries_were_kept_and_are_found_by_their_run(tmp_path: Path) -> None:
    asked = {"seed": [1, 2]}
    sweep.run(grid(axes=asked, keep="summary"), tmp_path)
    with pytest.raises(errors.InputError, match='keep = "series"'):
        sweep.open_sweep(tmp_path).series(0)
    document = sweep.run(grid(axes=asked, keep="series"), tmp_path)
    assert document["performance"]["ran"] == 2
    swept = sweep.open_sweep(tmp_path)
    ran = simulate.run(BASE, seed=2).flows["received_bytes"].to_pylist()
    series = swept.series(1)
    assert series.filter(pc.equal(series["of"], "flow"))["received_bytes"].to_pylist() == ran
    with pytest.raises(errors.InputError, match="run 2 has no result"):
        swept.series(2)
    (tmp_path / swept.runs["series"][0].as_py()).write_bytes(b"PAR1")
    with pytest.raises(errors.LongfatError, match="damaged or missing; remove it"):
        swept.series(0)


def test_tables_that_are_damaged_are_told_and_made_anew_by_the_next_sweep(tmp_path: Path) -> None:
    asked = grid(axes={"seed": [1, 2]})
    sweep.run(asked, tmp_path)
    file = next((tmp_path / "tables" / "runs").rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(errors.LongfatError, match="damaged; run `longfat sweep` again"):
        _ = sweep.open_sweep(tmp_path).runs
    sweep.run(asked, tmp_path)
    assert sweep.open_sweep(tmp_path).runs.num_rows == 2


def test_a_changed_bit_anywhere_in_a_sweep_never_gives_other_results(tmp_path: Path) -> None:
    sweep.run(grid(axes={"seed": [1, 2]}), tmp_path)
    swept = sweep.open_sweep(tmp_path)
    told = 0
    for file in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        whole = file.read_bytes()
        for changed in flips(whole, 100):
            file.write_bytes(changed)
            try:
                found = sweep.open_sweep(tmp_path)
                assert (found.document, found.runs, found.flows) == (swept.document, swept.runs, swept.flows)
            except errors.LongfatError:
                told += 1
        file.write_bytes(whole)
    assert told >= 400  # sweep.json, SHA256SUMS, runs and flows; the store is not read


def test_an_axis_of_numbers_and_tables_is_one_of_texts(tmp_path: Path) -> None:
    sweep.run(grid(axes={"bottleneck.loss": [0, 0.1, {"every": 100}]}), tmp_path)
    assert sweep.open_sweep(tmp_path).runs["bottleneck.loss"].to_pylist() == ["0", "0.1", "every 100"]


def test_a_sweep_without_a_result_has_tables_without_rows(tmp_path: Path) -> None:
    document = sweep.run(grid(axes={"bottleneck.buffer": ["1 B"]}), tmp_path)
    assert (document["failed"], document["performance"]["first_s"]) == (1, None)
    swept = sweep.open_sweep(tmp_path)
    assert (swept.runs.num_rows, swept.flows.num_rows, swept.failures.num_rows) == (0, 0, 1)


def test_samples_are_kept_where_the_sweep_asks_for_them(tmp_path: Path) -> None:
    sweep.run(grid(axes={"seed": [1, 2]}, keep="series"), tmp_path)
    files = list((tmp_path / "series").iterdir())
    assert len(files) == 2
    assert {"time_s", "name", "of", "cwnd", "queue_packets"} <= set(pq.read_schema(files[0]).names)


def test_columns_of_one_name_get_numbers_and_lose_nothing(tmp_path: Path) -> None:
    sweep.run(grid(axes={"seed": [1, 2]}), tmp_path)
    swept = sweep.open_sweep(tmp_path)
    answer = swept.sql("SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a, 5 AS A")
    assert answer.to_pylist() == [{"a": 1, "a_2": 2, "a_1": 3, "a_3": 4, "A": 5}]
    joined = swept.sql("SELECT * FROM runs JOIN flows USING (run) LIMIT 1")
    assert len(set(joined.column_names)) == joined.num_columns


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("date 'infinity'", "infinity"),
        ("date '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("timestamp '-infinity'", "-infinity"),
        ("timestamp '2026-11-28 10:00:00'", "2026-11-28 10:00:00"),
        ("timestamptz 'infinity'", "infinity"),
        ("time '24:00:00'", "24:00:00"),
        ("[date 'infinity', date '2026-01-01']", "[infinity, 2026-01-01]"),
        ("{'at': timestamp 'infinity'}", "{'at': infinity}"),
        ("interval 1 day", "1 day"),
        ("[interval 25 month]", "[2 years 1 month]"),
        ("'ab'::blob", "ab"),
    ],
)
def test_dates_that_python_does_not_have_are_printed_as_duckdb_writes_them(
    longfat: Any, tmp_path: Path, value: str, shown: str
) -> None:
    sweep.run(grid(axes={"seed": [1]}), tmp_path)
    query = f"SELECT {value} AS d, 1 AS d, 'x' AS \"a b\""
    code, out, err = longfat("results", tmp_path, "--sql", query, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == [{"d": shown, "d_1": 1, "a b": "x"}]
    code, out, err = longfat("results", tmp_path, "--sql", query)
    assert (code, err) == (0, "")
    assert shown in out


def test_numbers_of_a_query_are_numbers_and_only_null_is_missing(longfat: Any, tmp_path: Path) -> None:
    sweep.run(grid(axes={"seed": [1, 2]}), tmp_path)
    query = "SELECT sum(run) AS s, 1.50 AS d, {'a': sum(run)} AS h, sum(run) = 1 AS b"
    code, out, err = longfat("results", tmp_path, "--sql", f"{query} FROM runs", "--json")
    assert (code, err, json.loads(out)) == (0, "", [{"s": 1, "d": 1.5, "h": {"a": 1}, "b": True}])
    code, out, err = longfat("results", tmp_path, "--sql", f"{query} FROM runs")
    assert out.splitlines()[1].split() == ["1", "1.50", '{"a":', "1}", "true"]
    query = "SELECT 'inf'::double AS a, '-inf'::double AS b, 'nan'::double AS c, NULL AS d, 1.0::double AS e"
    code, out, err = longfat("results", tmp_path, "--sql", query)
    assert out.splitlines()[1].split() == ["inf", "-inf", "nan", "-", "1"]
