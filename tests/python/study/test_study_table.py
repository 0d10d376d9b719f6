"""A table of a study: the same cells in the terminal, in Markdown and on a page."""

import io

import pytest
from rich.console import Console

from longfat.study.stats import written
from longfat.study.table import Table

ROWS = [
    [f"flow {i}", name, "493.8 ± 0.1", "5 < 6"] for i in (1, 2) for name in ("throughput, Mbit/s", "cwnd")
]
TABLE = Table(["of", "quantity", "sim", "live"], ROWS, texts=2)


@pytest.mark.parametrize("width", [34, 46, 60, 100])
def test_each_row_of_each_part_says_what_it_is_of(width):
    for part in TABLE.fitted(width):
        console = Console(file=io.StringIO(), width=width)
        console.print(part)
        shown = console.file.getvalue()
        assert max(map(len, shown.splitlines())) <= width
        assert shown.count("flow 1") == shown.count("flow 2") == 2
        assert shown.count("Mbit/s") == shown.count("cwnd") == 2
        assert "…" not in shown


def test_a_table_is_markdown_with_numbers_at_the_right():
    head, rule, first, *_ = Table(["", "sim"], [["throughput", "1 ± 2"]]).markdown().splitlines()
    assert (head, rule, first) == ("| | sim |", "|---|---:|", "| throughput | 1 ± 2 |")


def test_a_table_on_a_page_escapes_its_cells():
    page = TABLE.html(text="id")
    assert page.count('<td class="id">') == 8
    assert page.count('<td class="number">5 &lt; 6</td>') == 4


def test_a_mean_is_written_with_its_error_and_its_unit():
    assert written(0.91342, 0.00213, "ms") == "0.913 ± 0.0021 ms"
    assert written(12.0, float("nan")) == written(12.0, None) == "12"
