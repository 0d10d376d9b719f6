"""Reading a sweep: tidy tables, SQL over them, and samples of single runs."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longfat import documents, extras
from longfat.errors import InputError, LongfatError
from longfat.lazy import above
from longfat.store import sums, whole
from longfat.store.ledger import LEDGER_FILE, read_ledger
from longfat.store.store import STORE_FILE
from longfat.store.whole import ODD_VALUES
from longfat.sweep import tables, unfinished
from longfat.sweep.tables import SWEEP_FILE, TABLES
from longfat.words import suggestion

if TYPE_CHECKING:
    import pandas
    import polars

FORMAT = 1
"""The version of sweep.json and its tables; it increases when an older Longfat could not read them."""
NAMES = ("runs", "flows", "failures", "claims")
AS_TEXT = re.compile("DATE|TIME|INTERVAL|BLOB|BIT")
"""Parts of the names of DuckDB's types that Python cannot represent in full, also of lists, as in DATE[]."""
MOST_NEAR = 3
"""The most columns that a message suggests."""
CLAIMS = ("suite", "id", "paper", "setting", "published", "measured", "rule", "verdict", "note")


class Swept:
    """A folder that `longfat sweep` wrote, also while it runs or after it was interrupted.

    Attributes:
        folder: its path.
        document: the content of its sweep.json; of an unfinished sweep what is known of that.
        note: how many runs of how many there are, if the sweep has not finished; else empty.
    """

    note = ""

    def __init__(self, folder: Path, document: Mapping[str, Any]) -> None:
        self.folder = folder
        self.document = document

    def __repr__(self) -> str:
        of = f" of {self.document['title']!r}" if self.document["title"] else ""
        runs = self.document["runs"]
        return f"<Swept{of}: {self.note or f'{runs} run' + ('' if runs == 1 else 's')}, {self.folder}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the axes, the number of runs, and the first figure."""
        return str(above("views.swept_html")(self))

    @property
    def keys(self) -> list[str]:
        """The keys of all axes, in the order of the sweep file; each is a column of every table."""
        return [key for axis in self.document["axes"] for key in axis["keys"]]

    @property
    def runs(self) -> pa.Table:
        """One row for each run, with its number, repeat, axes, seed, results of its links, and metrics."""
        return self.table("runs")

    @property
    def flows(self) -> pa.Table:
        """One row for each flow of a run, with run, repeat, axes, and the summary's values for the flow."""
        return self.table("flows")

    @property
    def failures(self) -> pa.Table:
        """One row for each run without a result, with run, repeat, axes and error."""
        return self.table("failures")

    @property
    def claims(self) -> pa.Table:
        """The ledgers of claims stored in the folder or below it."""
        rows = [
            {"suite": path.parent.name} | {key: _flat(value) for key, value in row.items()}
            for path in sorted(self.folder.rglob(LEDGER_FILE))
            for row in read_ledger(path)
        ]
        if rows:
            return pa.Table.from_pylist(rows)
        return pa.table({name: pa.array([], pa.string()) for name in CLAIMS})

    def table(self, name: str) -> pa.Table:
        """Returns one of the tables `NAMES`, in the order of the runs."""
        if name == "claims":
            return self.claims
        folder = self.folder / TABLES / name
        files = sorted(str(path) for path in folder.rglob("*.parquet"))
        damaged = LongfatError(f"{folder}: damaged; run `longfat sweep` again to rebuild it from the runs")
        if not self._are_whole(files, name):
            raise damaged
        if not files:
            return tables.empty(self.keys, failures=name == "failures")
        try:
            table = pa.concat_tables(map(whole.parquet_table, files), promote_options="permissive")
        except (pa.ArrowException, OSError):
            raise damaged from None
        return table.sort_by([("run", "ascending")])

    def _are_whole(self, files: Iterable[str], name: str) -> bool:
        """Whether the files of a table are those that the sweep wrote, and all of them."""
        tables = self.folder / TABLES
        try:
            said = sums.parsed((tables / sums.SUMS_FILE).read_text(encoding="utf-8"))
            found = {str(Path(file).relative_to(tables)): sums.of_file(file) for file in files}
        except (OSError, ValueError):
            return False
        return found == {file: digest for file, digest in said.items() if file.startswith(f"{name}/")}

    def series(self, run: int) -> pa.Table:
        """Returns the samples of a run in long form: `of` ("flow" or "link"), name, time and quantities.

        Raises:
            InputError: there is no such run, or its samples were not kept.
            LongfatError: the file is damaged.
        """
        import pyarrow.compute as pc

        runs = self.runs.filter(pc.equal(self.runs["run"], run))
        if not runs.num_rows:
            raise InputError(f"{self.folder}: run {run} has no result")
        if "series" not in runs.column_names:
            raise InputError(f'{self.folder}: there are no samples; accepted: a sweep with keep = "series"')
        file = self.folder / runs["series"][0].as_py()
        try:
            data = file.read_bytes()
            if not sums.fits(file.name, data):
                raise OSError("not what its name says")
            return whole.parquet_table(pa.BufferReader(data))
        except (pa.ArrowException, OSError):
            raise LongfatError(f"{file}: damaged or missing; remove it and run the sweep again") from None

    def with_flows(self) -> pa.Table:
        """Returns `runs` with a column flow_NAME_COLUMN for each column of each flow."""
        import pyarrow.compute as pc

        runs, flows = self.runs, self.flows
        own = [key for key in flows.column_names if key not in ("run", "repeat", "name", *self.keys)]
        for name in flows["name"].unique().to_pylist():
            held = flows.filter(pc.equal(flows["name"], name)).select(["run", *own])
            named = held.rename_columns(["run", *(f"flow_{name}_{key}" for key in own)])
            runs = runs.join(named, "run")
        return runs.sort_by([("run", "ascending")])

    def to_polars(self, name: str = "runs") -> polars.DataFrame:
        """Returns a table as a polars frame. Raises InputError if polars is not installed."""
        return extras.to_polars(self.table(name))

    def to_pandas(self, name: str = "runs") -> pandas.DataFrame:
        """Returns a table as a pandas frame. Raises InputError if pandas is not installed."""
        return extras.to_pandas(self.table(name))

    def sql(self, query: str, *, dates_as_text: bool = False) -> pa.Table:
        """Returns the result of a query over the tables `runs`, `flows`, `failures` and `claims`.

        A column whose name an earlier one has gets a number: a, a_1, a_2.

        Args:
            query: what DuckDB is asked.
            dates_as_text: returns columns with dates, times, intervals, bits and bytes as DuckDB writes them,
                since Python has not all of DuckDB's: it lacks dates at infinity, years before 1, and months.

        Raises:
            InputError: DuckDB refuses the query, or it is not one query that reads.
        """
        import duckdb

        # without threads of its own: DuckDB crashes where none can start (`ulimit -v`)
        config: dict[str, Any] = {"enable_external_access": "false", "threads": 1, "async_threads": 0}
        with duckdb.connect(config=config) as database:
            for name in NAMES:
                database.register(name, self.table(name))
            try:
                statements = database.extract_statements(query)
                if len(statements) > 1:
                    raise InputError(f"--sql: there are {len(statements)} statements; accepted: one query")
                reads = [statement.type in _reading() for statement in statements]
                if not all(reads):
                    raise InputError("--sql: the tables are only read; accepted: a query, such as SELECT")
                asked = database.sql(query)
                if asked is None:
                    raise InputError(
                        "--sql: the query is empty; accepted: for example SELECT count(*) FROM runs"
                    )
                names, odd = asked.columns, [bool(AS_TEXT.search(str(kind))) for kind in asked.types]
                if dates_as_text and any(odd):
                    asked = asked.query("answer", _casting(odd)) or asked
                answer: pa.Table = asked.to_arrow_table()
            except duckdb.Error as error:
                raise InputError(f"--sql: {self._refusal(str(error))}") from None
        return answer.rename_columns(_unlike(names))

    def _refusal(self, said: str) -> str:
        """What DuckDB says about a query, in one sentence, with what would be accepted."""
        kind, colon, text = re.sub(r" LINE \d+:.*", "", " ".join(said.split())).partition(": ")
        text = text if colon else kind
        if found := re.search(r'^Referenced column "(.*)" not found|have a column named "([^"]*)"', text):
            return self._no_column(found[1] or found[2])
        if found := re.search(
            r'^Referenced table "(.*)" not found|^Table with name "?(.*?)"? does not exist', text
        ):
            name = found[1] or found[2]
            quoted = [key for key in self._columns() if key.startswith(f"{name}.")]
            also = f", or a column in double quotes: {', '.join(map(_quoted, quoted))}" if quoted else ""
            return f'there is no table "{name}"; accepted: {", ".join(NAMES)}{also}'
        function = r'Function with name (\S+) does not exist(?:! Did you mean "([^"]+)")?'
        if found := re.search(function, text):
            near = suggestion(found[1], [found[2]] if found[2] else [])
            accepted = "those of DuckDB, such as avg, sum and quantile"
            return f'there is no function "{found[1]}"{near}; accepted: {accepted}'
        # without lists of all that there is
        sentence = re.split(r"""(?<=[\w"')][.!?]) (?=[A-Z])""", text)[0].rstrip(".!")
        match kind:
            case "Parser Error":
                return f"{sentence}; accepted: a query, such as SELECT avg(jain) FROM runs"
            case "Permission Error":
                return f"{sentence}; accepted: the tables {', '.join(NAMES)}"
        return sentence

    def _no_column(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._columns(), n=MOST_NEAR)
        nearest = f"the nearest: {', '.join(map(_quoted, near))}; " if near else ""
        accepted = "a column of the tables in FROM, as DESCRIBE lists them"
        return f'there is no column "{name}"; {nearest}accepted: {accepted}'

    def _columns(self) -> list[str]:
        """The columns of all tables."""
        return list(dict.fromkeys(key for name in NAMES for key in self.table(name).column_names))


class _Unfinished(Swept):
    """The runs so far of a sweep that runs or was interrupted, as they were when it was opened."""

    def __init__(self, folder: Path, document: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
        super().__init__(folder, document)
        self._tables = tables
        failed = f", {document['failed']} failed" if document["failed"] else ""
        self.note = f"{tables['runs'].num_rows} of {document['runs']} runs so far{failed}"

    def table(self, name: str) -> pa.Table:
        return self.claims if name == "claims" else self._tables[name]


def _reading() -> tuple[Any, ...]:
    """The kinds of statements that change no table."""
    from duckdb import StatementType

    return StatementType.SELECT, StatementType.EXPLAIN, StatementType.PRAGMA


def open_sweep(folder: Path | str) -> Swept:
    """Opens a folder that `longfat sweep` wrote; of a sweep that has not finished, the runs so far.

    Raises:
        InputError: it holds no sweep, or one of a newer version.
        LongfatError: a file is damaged.
    """
    if (found := _unfinished(Path(folder))) is not None:
        return found
    path = Path(folder) / SWEEP_FILE
    try:
        document = _document(path)
    except FileNotFoundError:
        if (Path(folder) / "suite.json").exists():
            why = "holds a suite; `longfat claims` shows its ledger"
        elif (Path(folder) / STORE_FILE).exists():
            why = "holds a sweep that did not finish; run it again"
        else:
            why = f"holds no sweep ({SWEEP_FILE})"
        raise InputError(f"{folder}: {why}; accepted: what `longfat sweep` wrote") from None
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(
            f"{path}: this is not a stored sweep; accepted: what `longfat sweep` wrote"
        ) from None
    _refuse_newer(path, document)
    if not sums.is_whole(document):
        raise LongfatError(f"{path}: damaged; run `longfat sweep` again to rebuild it from the runs")
    return Swept(Path(folder), document)


def holds_sweep(folder: Path) -> bool:
    """Whether `open_sweep` finds something in a folder."""
    return any((folder / name).is_file() for name in (SWEEP_FILE, unfinished.FILE))


def _unfinished(folder: Path) -> Swept | None:
    """Returns the unfinished sweep in a folder; None if there is none, or a finished one has its results."""
    path = folder / unfinished.FILE
    while path.is_file():
        try:
            document = _document(path)
            _refuse_newer(path, document)
            if not sums.is_whole(document):
                raise LongfatError(f"{path}: damaged; run `longfat sweep` again")
            if _has_results(folder, document):
                return None
            found = _Unfinished(folder, *unfinished.read(folder, document))
        except (LongfatError, FileNotFoundError):
            if path.is_file():
                raise
            continue  # it has finished meanwhile, and joined its segments
        except (OSError, *ODD_VALUES):
            raise InputError(f"{path}: this is no sweep; accepted: what `longfat sweep` wrote") from None
        if path.is_file():
            return found
    return None


def _has_results(folder: Path, document: Mapping[str, Any]) -> bool:
    """Whether a finished sweep in the folder is the unfinished one, so that it has all its results."""
    try:
        finished = _document(folder / SWEEP_FILE)
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return all(finished.get(key) == document[key] for key in unfinished.IDENTITY)


def refuse_newer(folder: Path | str) -> None:
    """Raises InputError if the sweep in a folder is of a newer version; an unreadable one counts as none."""
    path = Path(folder) / SWEEP_FILE
    try:
        document = _document(path)
    except (OSError, ValueError, TypeError, KeyError):
        return
    _refuse_newer(path, document)


def _document(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = documents.json_value(path.read_text(encoding="utf-8"))
    if not isinstance(document["format"], int):
        raise TypeError
    return document


def _refuse_newer(path: Path, document: Mapping[str, Any]) -> None:
    if document["format"] > FORMAT:
        provenance = document.get("provenance")
        known = provenance if isinstance(provenance, dict) else {}
        made = known.get("version", "of a later version")
        raise InputError(
            f"{path}: it was made by Longfat {made}, which is newer; "
            "accepted: sweeps of this version or older"
        )


def _casting(is_text: Sequence[bool]) -> str:
    """A query over the columns of `answer`, by their places, that casts some to text."""
    cells = [f"CAST(c{i} AS VARCHAR)" if text else f"c{i}" for i, text in enumerate(is_text)]
    return f"SELECT {', '.join(cells)} FROM answer AS t({', '.join(f'c{i}' for i in range(len(is_text)))})"


def _unlike(names: Sequence[str]) -> list[str]:
    """The names, and for one that is there already the next that is free: a_1, a_2."""
    found: list[str] = []
    taken = set(names)
    for name in names:
        number, free = 0, name
        while free in found or (number and free in taken):
            number += 1
            free = f"{name}_{number}"
        found.append(free)
    return found


def _quoted(name: str) -> str:
    """Quotes a column's name for SQL where that is needed."""
    return name if name.isidentifier() else f'"{name}"'


def _flat(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (dict, list)) else value
