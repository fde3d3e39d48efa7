"""Tables as people and programs read them: in a narrow terminal, in a paper, on a page, in a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest

from assay.core.errors import UsageError
from assay.core.tables import Table, render

WIDE = Table.of(
    {"run": "", **{f"column {i}": ".4f" for i in range(12)}},
    [(f"run_{r}", *(r + i / 100 for i in range(12))) for r in range(3)],
    caption="Twelve columns",
    notes=["a note of many words " * 8, ""],
)
WORDS = Table.of({"where": "", "level": "", "what": ""}, [("a.run:7", "error", "one two three " * 12)])


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_narrow_terminal_sees_every_cell_in_panels_of_whole_columns(width: int) -> None:
    text = WIDE.text(width)
    assert max(map(len, text.splitlines())) <= width
    for column, cells in zip(WIDE.columns[1:], list(zip(*WIDE.cells(), strict=True))[1:], strict=True):
        assert text.count(column + "\n") + text.count(column + "  ") == 1
        assert all(cell in text for cell in cells)
    panels = text.count("run_0")
    assert panels > 1
    assert text.count("run_2") == panels


def test_a_table_that_fits_is_not_touched() -> None:
    wide_enough = max(map(len, WIDE.text().splitlines()))
    assert WIDE.text(wide_enough) == WIDE.text() == render([WIDE])


def test_words_at_the_end_of_a_row_are_wrapped_in_their_column() -> None:
    lines = WORDS.text(60).splitlines()
    assert max(map(len, lines)) <= 60
    start = lines[0].index("what")
    assert all(line[:start].strip() == "" for line in lines[3:])
    assert " ".join(line[start:].strip() for line in lines[2:]) == WORDS.rows[0][2].strip()


def test_no_room_for_words_means_panels_and_one_long_word_is_not_cut() -> None:
    word = "x" * 50
    text = Table.of({"run": "", "what": ""}, [("a", word)]).text(20)
    assert word in text
    assert Table.of({}, []).text(10) == ""


def test_tables_of_the_same_columns_are_one_sheet() -> None:
    tables = [Table.of({"run": "", "mean": ".2f"}, [("a", 1 / 3)], caption=c) for c in ("AP", "nDCG")]
    rows = list(csv.DictReader(io.StringIO(render(tables, "csv"))))
    assert rows == [{"table": c, "run": "a", "mean": repr(1 / 3)} for c in ("AP", "nDCG")]
    assert render(tables[:1], "csv").splitlines()[0] == "run,mean"
    with pytest.raises(UsageError, match="2 tables with different columns"):
        render([tables[0], WORDS], "csv")


def test_names_are_not_markup() -> None:
    hostile = "<b>|*x*`y` <.0001 a_b"
    assert r"| \<b>\|\*x\*\`y\` <.0001 a_b |" in Table.of({"run": ""}, [(hostile,)]).markdown()


def test_wide_tables_of_a_paper_are_set_small_over_both_columns() -> None:
    small, wide = Table.of({"run": ""}, [("a|b",)], notes=["AP|ties:docid"]).latex(), WIDE.latex()
    assert small.startswith("\\begin{table}\n")
    assert "footnotesize\n" not in small
    assert wide.startswith("\\begin{table*}\n")
    assert wide.endswith("\\end{table*}")
    assert wide.index("\\footnotesize\n") < wide.index("\\begin{tabular}")
    assert r"\begin{tabular}{llp{0.6\linewidth}}" in WORDS.latex()
    two = Table.of({"a": "", "b": "", "n": "d"}, [("x " * 60, "y " * 60, 1)]).latex()
    assert r"\begin{tabular}{p{0.4\linewidth}p{0.4\linewidth}r}" in two
    assert r"a\textbar{}\allowbreak{}b" in small
    assert "|" not in small


def test_a_column_that_is_not_there_is_an_error_that_names_the_others() -> None:
    with pytest.raises(UsageError, match="no column 'AP' in this table; it has: where, level, what"):
        WORDS.column("AP")
