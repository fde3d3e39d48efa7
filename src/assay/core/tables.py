"""Table: what every result becomes, and its renderings as text, Markdown, HTML, CSV, JSON and LaTeX.

Rounding happens here and nowhere else: CSV and JSON keep all digits, the others follow each column's
format. Nothing in a cell is read as markup or as a command of the terminal.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from assay.core.dataframes import FramesOut
from assay.core.errors import UsageError
from assay.core.keys import key_of
from assay.core.markup import html_page, html_table, html_text, markdown_text, tagged, visible
from assay.core.tex import tex, tex_columns, tex_row

FORMATS = ("text", "csv", "json", "latex", "markdown", "html")
FORMATS_OF_SEVERAL = tuple(format for format in FORMATS if format != "csv")
"""Formats of several tables with different columns, which a CSV cannot hold."""
NOTHING = "–"
MOST_SHOWN = 60
"""Rows that a prompt shows of a table that nobody printed."""
GAP = 2
"""Blanks between two columns of text."""
LEAST_WORDS = 24
"""Columns of words are wrapped where this much room is left for each; else columns go to panels of their own."""
BOTH_COLUMNS, SMALL = 48, 80
"""Characters from which on a LaTeX table goes over both columns of a page, and is set in small type."""


@dataclass(frozen=True, repr=False)
class Table(FramesOut):
    """Named columns with a format each, rows of plain values, a caption and notes.

    A format is a Python format such as `.4f`, or `p` for a p-value, or empty for text. None is shown as a dash. `keys`
    are the names of the columns for programs: ASCII, lower case, made of the shown name unless given.

    >>> print(Table.of({"run": "", "AP": ".3f"}, [("bm25", 1/3), ("dpr", None)]).text())
    run      AP
    ----  -----
    bm25  0.333
    dpr       –
    """

    columns: tuple[str, ...]
    formats: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    notes: tuple[str, ...] = field(default=())
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keys = self.keys or tuple(key_of(name) for name in self.columns)
        twice = next((k for k in keys if keys.count(k) > 1), None)
        if twice is not None:
            raise UsageError(f"two columns of a table have the key {twice!r}; give `keys`")
        object.__setattr__(self, "keys", keys)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, str],
        rows: Iterable[Sequence[Any]],
        *,
        caption: str = "",
        notes: Iterable[str] = (),
        keys: Mapping[str, str] | None = None,
    ) -> Table:
        """A table from column → format and the rows; keys: column → its key, where the usual one will not do."""
        plain_rows = []
        for row in rows:
            plain = tuple(_plain(value) for value in row)
            if len(plain) != len(columns):
                raise UsageError(f"a row of {len(plain)} values in a table of {len(columns)} columns")
            plain_rows.append(plain)
        given = keys or {}
        return cls(
            columns=tuple(columns),
            formats=tuple(columns.values()),
            rows=tuple(plain_rows),
            caption=caption,
            notes=tuple(notes),
            keys=tuple(given.get(name, key_of(name)) for name in columns),
        )

    def column(self, name: str) -> list[Any]:
        """The values of one column, by its name or its key.

        >>> Table.of({"a": "", "b": "d"}, [("x", 1), ("y", 2)]).column("b")
        [1, 2]
        """
        names = self.columns if name in self.columns else self.keys
        if name not in names:
            raise UsageError(f"no column {name!r} in this table; it has: {', '.join(self.columns)}")
        at = names.index(name)
        return [row[at] for row in self.rows]

    def to_dict(self) -> dict[str, list[Any]]:
        """{key: values} of all columns, with all digits.

        >>> Table.of({"run": "", "p corrected": "p"}, [("x", 0.01)]).to_dict()
        {'run': ['x'], 'p_corrected': [0.01]}
        """
        return {key: [row[at] for row in self.rows] for at, key in enumerate(self.keys)}

    def cells(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [list(map(shown, row, self.formats)) for row in self.rows]

    def text(self, width: int | None = None) -> str:
        """Aligned columns for a terminal, as wide as they are or not wider than `width`.

        Columns of words are wrapped where that suffices; else the columns stand in several panels one below the other,
        each beginning with the first column. Notes are wrapped.
        """
        cells = self.cells()
        widths = self._widths(cells)
        least = widths if width is None else self._least_widths(cells, widths)
        widths, panels = _laid_out(widths, least, most=width)
        blocks = ["\n".join(self._block(cells, panel, widths)) for panel in panels]
        lines = []
        if self.caption:
            lines += [*_wrapped(visible(self.caption), width), ""]
        lines.append("\n\n".join(blocks))
        for note in self.notes:
            lines += _wrapped(visible(note), width, indent="  ")
        return "\n".join(lines)

    def _widths(self, cells: Sequence[Sequence[str]]) -> list[int]:
        """Characters of the widest cell of each column, its name among them."""
        widths = []
        for column in zip(map(visible, self.columns), *cells, strict=True):
            widths.append(max(map(display_width, column)))
        return widths

    def _least_widths(self, cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[int]:
        """To what a column may be narrowed: one of words to its longest word, the first and those of numbers not."""
        least = list(widths)
        for i, format in enumerate(self.formats):
            if i == 0 or format:
                continue
            words = " ".join(row[i] for row in cells).split()
            longest = max(map(len, words), default=0)
            least[i] = min(widths[i], max(LEAST_WORDS, longest))
        return least

    def _block(self, cells: Sequence[Sequence[str]], panel: Sequence[int], widths: Sequence[int]) -> Iterator[str]:
        """The lines of the columns of one panel: names, rule, rows."""
        for row in [list(map(visible, self.columns)), ["-" * w for w in widths], *cells]:
            wrapped = [_wrapped(row[i], widths[i]) for i in panel]
            for texts in zip_longest(*wrapped, fillvalue=""):
                padded = []
                for text, i in zip(texts, panel, strict=True):
                    is_number = bool(self.formats[i])
                    padded.append(_padded(text, widths[i], right=is_number))
                yield (" " * GAP).join(padded).rstrip()

    def markdown(self) -> str:
        """A Markdown table, its caption above and its notes below."""
        lines = []
        if self.caption:
            lines += [f"**{markdown_text(self.caption, cell=False)}**", ""]
        rule = ["---:" if format else "---" for format in self.formats]
        for row in [self.columns, rule, *self.cells()]:
            cells = " | ".join(map(markdown_text, row))
            lines.append(f"| {cells} |")
        lines.append("")
        lines += [f"{markdown_text(note, cell=False)}  " for note in self.notes if note]
        return "\n".join(lines).rstrip()

    def csv(self) -> str:
        """Comma-separated values with a header of keys and all digits; no caption, no notes."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.keys)
        writer.writerows(self.rows)
        return out.getvalue().rstrip("\n")

    def record(self) -> dict[str, Any]:
        """The table as plain data, for JSON; the key and the name of every column, and rows by key."""
        return {
            "caption": self.caption,
            "notes": [note for note in self.notes if note],
            "columns": [{"key": key, "name": name} for key, name in zip(self.keys, self.columns, strict=True)],
            "rows": [dict(zip(self.keys, row, strict=True)) for row in self.rows],
        }

    def html(self) -> str:
        """The table for any page, with a look of its own."""
        numbers = [bool(format) for format in self.formats]
        rows = ["<tr>" + tagged("td", row, numbers) + "</tr>" for row in self.cells()]
        head = tagged("th", self.columns, numbers)
        notes = [html_text(note) for note in self.notes if note]
        return html_table(html_text(self.caption), head, ["".join(rows)], notes)

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        from assay.core.table_html import table_html

        return table_html(self)

    def __repr__(self) -> str:
        """The table in a terminal; of a long one the first rows."""
        if len(self.rows) <= MOST_SHOWN:
            return self.text()
        head = replace(self, rows=self.rows[:MOST_SHOWN], notes=())
        return f"{head.text()}\n… {MOST_SHOWN} of {len(self.rows):,} rows; all of them with print(table.text())"

    def latex(self) -> str:
        """A booktabs table, ready for a paper: a wide one over both columns (table*), a very wide one in small type."""
        cells = self.cells()
        widths = self._widths(cells)
        width = sum(w + GAP for w in widths)
        star = "*" if width > BOTH_COLUMNS else ""
        lines = [rf"\begin{{table{star}}}", r"\centering"]
        if self.caption:
            lines.append(rf"\caption{{{tex(self.caption)}}}")
        if width > SMALL:
            lines += [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"]
        spec = "".join(tex_columns(self.formats, widths))
        lines += [rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
        lines += [tex_row(self.columns), r"\midrule"]
        lines += map(tex_row, cells)
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\footnotesize {tex(note)}" for note in self.notes if note]
        lines.append(rf"\end{{table{star}}}")
        return "\n".join(lines)


def render(tables: Sequence[Table], format: str = "text", *, width: int | None = None) -> str:
    """One or several tables in one of FORMATS; `width` is that of the terminal, for text alone.

    Several tables are separated by a blank line, in JSON they are a list. CSV is one table for a program to read:
    several with the same columns become one, whose first column, `table`, has their captions; others are an error.
    """
    if format == "json":
        records = [table.record() for table in tables]
        one_or_all = records[0] if len(records) == 1 else records
        return json.dumps(one_or_all, ensure_ascii=False, indent=2, allow_nan=False)
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}; known: {', '.join(FORMATS)}")
    if format == "text":
        return "\n\n".join(t.text(width) for t in tables)
    if format == "csv" and len(tables) > 1:
        distinct_keys = {table.keys for table in tables}
        if len(distinct_keys) > 1:
            raise UsageError(
                f"these are {len(tables)} tables with different columns, and CSV holds one; "
                "use --format json, or leave out the options that add tables"
            )
        return _one_sheet(tables).csv()
    if format == "html":
        return html_page(*(table.html() for table in tables))
    return "\n\n".join(str(getattr(t, format)()) for t in tables)


def _one_sheet(tables: Sequence[Table]) -> Table:
    """Tables with the same columns as one, their captions in its first column."""
    first = tables[0]
    columns = {"table": "", **dict.fromkeys(first.columns, "")}
    rows: list[tuple[Any, ...]] = []
    for table in tables:
        rows += [(table.caption, *row) for row in table.rows]
    keys = dict(zip(first.columns, first.keys, strict=True))
    return Table.of(columns, rows, keys=keys)


def shown(value: Any, format: str) -> str:
    """A value as a person reads it.

    >>> shown(0.00001, "p"), shown(0.0312, "p"), shown(None, ".3f"), shown(-0.00001, "+.3f")
    ('<.0001', '.0312', '–', '0.000')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not format or isinstance(value, str):
        return visible(str(value))
    if format == "p":
        return "<.0001" if value < 0.00005 else f"{value:.4f}".removeprefix("0")
    text = f"{value:{format}}"
    rounds_to_zero = text.strip("+-0.%") == ""
    if rounds_to_zero:
        return text.lstrip("+-")
    if "e" in text:
        return text
    return text.replace("-", "−")


def p_value(p: float) -> str:
    """A p-value within a sentence.

    >>> p_value(0.1412), p_value(0.00001)
    ('p = .1412', 'p < .0001')
    """
    text = shown(p, "p")
    if text.startswith("<"):
        return f"p < {text[1:]}"
    return f"p = {text}"


def _plain(value: Any) -> Any:
    """numpy scalars become Python ones; NaN and infinities become None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _laid_out(widths: list[int], least: list[int], *, most: int | None) -> tuple[list[int], list[list[int]]]:
    """Widths of the columns, and the columns of each panel, such that no panel is wider than `most` where it can be.

    >>> _laid_out([3, 4, 4], [3, 4, 4], most=9)
    ([3, 4, 4], [[0, 1], [0, 2]])
    >>> _laid_out([3, 90, 30], [3, 24, 24], most=60)
    ([3, 26, 27], [[0, 1, 2]])
    >>> _laid_out([3, 9, 90], [3, 9, 24], most=30)
    ([3, 9, 25], [[0, 1], [0, 2]])
    """
    gaps = GAP * (len(widths) - 1)
    everything = list(range(len(widths)))
    if most is None or sum(widths) + gaps <= most:
        return widths, [everything]
    if sum(least) + gaps <= most:
        return _narrowed(widths, least, most - gaps), [everything]
    # a column of words that is wider than a panel is wrapped there
    beside_first = most - widths[0] - GAP
    widths = [w if w <= beside_first or i == 0 else max(least[i], beside_first) for i, w in enumerate(widths)]
    panels: list[list[int]] = []
    taken = 0  # characters of the last panel, with the gap behind each column
    for i in everything[1:]:
        if panels and taken + widths[i] <= most:
            panels[-1].append(i)
        else:
            panels.append([0, i])
            taken = widths[0] + GAP
        taken += widths[i] + GAP
    return widths, panels or [everything]


def _narrowed(widths: list[int], least: list[int], room: int) -> list[int]:
    """The widths after the widest column that may give gave way, one character at a time, until all fit the room."""
    narrow = list(widths)
    while sum(narrow) > room:
        may_give = [i for i, width in enumerate(narrow) if width > least[i]]
        widest = max(may_give, key=narrow.__getitem__)
        narrow[widest] -= 1
    return narrow


def _wrapped(text: str, width: int | None, *, indent: str = "") -> list[str]:
    """A text in lines not wider than `width`; words are not cut, an empty text is one empty line."""
    if width is None or display_width(text) <= width:
        return [text]
    return textwrap.wrap(
        text,
        max(1, width),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def display_width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    width = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        is_wide = unicodedata.east_asian_width(character) in "WF"
        width += 2 if is_wide else 1
    return width
