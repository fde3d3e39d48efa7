"""MarkedTable: a table of a paper, with bold and underlined numbers, marks behind them, and groups of rows.

Where Table holds values, this holds what is printed: text, Markdown, HTML and LaTeX of the same cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.core.markup import html_table, html_text, markdown_text
from assay.core.tables import BOTH_COLUMNS, GAP, SMALL, Table, display_width
from assay.core.tex import tex, tex_mark

NEED_SYMBOLS = "▲▼△▽"
"""Marks that LaTeX has only with the package amssymb."""


@dataclass(frozen=True)
class Cell:
    """A printed number or name, how it is set, and the marks behind it."""

    text: str
    bold: bool = False
    underlined: bool = False
    marks: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """All marks in a row; those of several characters are separated by commas."""
        longest = max(map(len, self.marks), default=0)
        return ("," if longest > 1 else "").join(self.marks)


@dataclass(frozen=True)
class Block:
    """Rows under a title; without one where the title is empty. The first cell of a row is its name."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class MarkedTable:
    """Blocks of rows below the names of the columns, with a caption, a label and notes.

    >>> row = (Cell("bm25"), Cell("0.31", bold=True, marks=("†",)))
    >>> print(MarkedTable(("run", "AP"), (Block("", (row,)),), notes=("† p < .05",)).markdown())
    | run | AP |
    | --- | ---: |
    | bm25 | **0.31**<sup>†</sup> |
    <BLANKLINE>
    † p < .05
    """

    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    caption: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()

    def text(self, width: int | None = None) -> str:
        """For a terminal: **bold**, _underlined_, marks behind the numbers; digits below digits."""
        rows = list(self._text_rows())
        columns: dict[str, str] = dict.fromkeys(self.columns, "")
        return Table.of(columns, rows, caption=self.caption, notes=self.notes).text(width)

    def _text_rows(self) -> Iterator[list[str]]:
        before, behind = self._room()
        for block in self.blocks:
            if block.title:
                yield [block.title, *[""] * (len(self.columns) - 1)]
            for name, *cells in block.rows:
                indent = "  " if block.title else ""
                row = [f"{indent}{name.text}{_in_brackets(name)}"]
                for at, cell in enumerate(cells):
                    sign = _text_sign(cell)
                    number = f"{sign}{cell.text}".rjust(before[at])
                    row.append(number + f"{sign}{cell.mark}".ljust(behind[at]))
                yield row

    def _room(self) -> tuple[list[int], list[int]]:
        """Of each column of numbers the characters up to the last digit, and those behind it."""
        before = []
        behind = []
        for column in self._columns_of_numbers():
            before.append(max(len(_text_sign(cell)) + len(cell.text) for cell in column))
            behind.append(max(len(_text_sign(cell)) + len(cell.mark) for cell in column))
        return before, behind

    def markdown(self) -> str:
        """As GitHub reads it; marks are raised, titles of groups are rows of their own."""
        lines = []
        if self.caption:
            lines += [f"**{markdown_text(self.caption, cell=False)}**", ""]
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        rows = [[markdown_text(name) for name in self.columns], rule]
        for block in self.blocks:
            if block.title:
                rows.append([f"*{markdown_text(block.title)}*", *[""] * (len(self.columns) - 1)])
            rows += [[_markdown_cell(cell) for cell in row] for row in block.rows]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
        lines += [f"{markdown_text(note, cell=False)}  " for note in self.notes]
        return "\n".join(lines).rstrip()

    def html(self) -> str:
        """For any page, with a look of its own; a group is a body of the table."""
        first, *others = (html_text(name) for name in self.columns)
        head = f"<th>{first}</th>" + "".join(f'<th class="n">{name}</th>' for name in others)
        bodies = []
        for block in self.blocks:
            rows = [_html_row(row) for row in block.rows]
            if block.title:
                rows.insert(0, f'<tr><th colspan="{len(self.columns)}">{html_text(block.title)}</th></tr>')
            bodies.append("".join(rows))
        return html_table(html_text(self.caption), head, bodies, [html_text(note) for note in self.notes])

    def latex(self) -> str:
        """A booktabs table: numbers and their marks in columns of their own, so that digits stand below digits.

        A wide one goes over both columns (table*), a very wide one is set in small type.
        """
        marked = [any(cell.marks for cell in column) for column in self._columns_of_numbers()]
        width = self._width()
        star = "*" if width > BOTH_COLUMNS else ""
        lines = [f"% in the preamble: {self._packages()}", rf"\begin{{table{star}}}", r"\centering"]
        if self.caption:
            lines.append(rf"\caption{{{tex(self.caption)}}}")
        if self.label:
            lines.append(rf"\label{{{self.label}}}")
        if width > SMALL:
            lines += [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"]
        spec = "".join("r@{}l" if has_marks else "r" for has_marks in marked)
        lines += [rf"\begin{{tabular}}{{l{spec}}}", r"\toprule", self._tex_head(marked)]
        lines += self._tex_rows(marked)
        lines += [r"\bottomrule", r"\end{tabular}"]
        if self.notes:
            said = r"\\ ".join(tex(note) for note in self.notes)
            lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize\raggedright {said}}}")
        lines.append(rf"\end{{table{star}}}")
        return "\n".join(lines)

    def _packages(self) -> str:
        """What LaTeX needs for this table."""
        printed = [*self.notes, *(cell.mark for row in self._rows() for cell in row)]
        needs_symbols = any(sign in text for text in printed for sign in NEED_SYMBOLS)
        packages = ["booktabs", "amssymb"] if needs_symbols else ["booktabs"]
        return ", ".join(rf"\usepackage{{{name}}}" for name in packages)

    def _tex_head(self, marked: Sequence[bool]) -> str:
        first, *others = map(tex, self.columns)
        names = [first]
        for name, has_marks in zip(others, marked, strict=True):
            names.append(rf"\multicolumn{{2}}{{c}}{{{name}}}" if has_marks else name)
        return " & ".join(names) + r" \\"

    def _tex_rows(self, marked: Sequence[bool]) -> Iterator[str]:
        columns = 1 + len(marked) + sum(marked)
        for block in self.blocks:
            yield r"\midrule"
            if block.title:
                yield rf"\multicolumn{{{columns}}}{{l}}{{\textit{{{tex(block.title)}}}}} \\"
            for name, *cells in block.rows:
                indent = r"\quad " if block.title else ""
                parts = [indent + tex(name.text) + _raised(name)]
                for cell, has_marks in zip(cells, marked, strict=True):
                    parts.append(_tex_number(cell))
                    if has_marks:
                        parts.append(_raised(cell))
                yield " & ".join(parts) + r" \\"

    def _rows(self) -> list[tuple[Cell, ...]]:
        return [row for block in self.blocks for row in block.rows]

    def _columns_of_numbers(self) -> list[tuple[Cell, ...]]:
        return list(zip(*self._rows(), strict=True))[1:]

    def _width(self) -> int:
        """Characters of a row as it is printed."""
        width = 0
        for name, column in zip(self.columns, zip(*self._rows(), strict=True), strict=True):
            texts = [cell.text + cell.mark for cell in column]
            width += max(map(display_width, [name, *texts])) + GAP
        return width


def _text_sign(cell: Cell) -> str:
    if cell.bold:
        return "**"
    return "_" if cell.underlined else ""


def _in_brackets(name: Cell) -> str:
    """The marks of a name, which in plain text would be read as a part of it."""
    return f" ({name.mark})" if name.marks else ""


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    if cell.bold:
        text = f"**{text}**"
    if cell.underlined:
        text = f"<ins>{text}</ins>"
    return text + (f"<sup>{markdown_text(cell.mark)}</sup>" if cell.marks else "")


def _html_row(row: Sequence[Cell]) -> str:
    first, *others = map(_html_cell, row)
    return f"<tr><td>{first}</td>" + "".join(f'<td class="n">{text}</td>' for text in others) + "</tr>"


def _html_cell(cell: Cell) -> str:
    text = html_text(cell.text)
    if cell.bold:
        text = f"<b>{text}</b>"
    if cell.underlined:
        text = f"<u>{text}</u>"
    return text + (f"<sup>{html_text(cell.mark)}</sup>" if cell.marks else "")


def _tex_number(cell: Cell) -> str:
    text = tex(cell.text)
    if cell.bold:
        # \textbf has no effect within mathematics, which is how a minus sign is written
        minus_too = text.replace("$-$", r"\boldmath$-$")
        text = rf"\textbf{{{minus_too}}}"
    return rf"\underline{{{text}}}" if cell.underlined else text


def _raised(cell: Cell) -> str:
    return f"$^{{{tex_mark(cell.mark)}}}$" if cell.marks else ""
