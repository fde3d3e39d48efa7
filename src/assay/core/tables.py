"""Table: what every result becomes, and its renderings as text, Markdown, CSV, JSON and LaTeX.

Rounding happens here and nowhere else: text, Markdown and LaTeX follow each column's format, CSV and JSON
keep all digits.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.errors import UsageError

FORMATS = ("text", "csv", "json", "latex", "markdown")
NOTHING = "–"
GAP = 2
"""Blanks between two columns of text."""
LEAST_WORDS = 24
"""Columns of words are wrapped where this much room is left for each; else columns go to panels of their own."""
BOTH_COLUMNS, SMALL, PARAGRAPH = 48, 80, 50
"""Characters from which on a LaTeX table goes over both columns of a page and is set in small type, and from which on
a column of words is set as paragraphs."""


@dataclass(frozen=True)
class Table:
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
        plain = tuple(tuple(_plain(v) for v in row) for row in rows)
        for row in plain:
            if len(row) != len(columns):
                raise UsageError(f"a row of {len(row)} values in a table of {len(columns)} columns")
        given = keys or {}
        named = tuple(given.get(name, key_of(name)) for name in columns)
        return cls(tuple(columns), tuple(columns.values()), plain, caption, tuple(notes), named)

    def column(self, name: str) -> list[Any]:
        """The values of one column, by its name or its key.

        >>> Table.of({"a": "", "b": "d"}, [("x", 1), ("y", 2)]).column("b")
        [1, 2]
        """
        at = (self.columns if name in self.columns else self.keys).index(name)
        return [row[at] for row in self.rows]

    def cells(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[shown(v, f) for v, f in zip(row, self.formats, strict=True)] for row in self.rows]

    def text(self, width: int | None = None) -> str:
        """Aligned columns for a terminal, as wide as they are or not wider than `width`.

        Columns of words are wrapped where that suffices; else the columns stand in several panels one below the other,
        each beginning with the first column. Notes are wrapped.
        """
        cells = self.cells()
        widths = self._widths(cells)
        widths, panels = _laid_out(widths, widths if width is None else self._least_widths(cells, widths), most=width)
        blocks = ["\n".join(self._block(cells, panel, widths)) for panel in panels]
        notes = [line for n in self.notes for line in _wrapped(n, width, indent="  ")]
        return "\n".join([*([self.caption, ""] if self.caption else []), "\n\n".join(blocks), *notes])

    def _widths(self, cells: Sequence[Sequence[str]]) -> list[int]:
        return [max([_width(c), *(_width(r[i]) for r in cells)]) for i, c in enumerate(self.columns)]

    def _least_widths(self, cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[int]:
        """To what a column may be narrowed: one of words to its longest word, the first and those of numbers not."""
        longest = [max((len(w) for r in cells for w in r[i].split()), default=0) for i in range(len(widths))]
        return [
            min(w, max(LEAST_WORDS, word)) if i and not f else w
            for i, (w, word, f) in enumerate(zip(widths, longest, self.formats, strict=True))
        ]

    def _block(self, cells: Sequence[Sequence[str]], panel: Sequence[int], widths: Sequence[int]) -> Iterator[str]:
        """The lines of the columns of one panel: names, rule, rows."""
        for row in [list(self.columns), ["-" * w for w in widths], *cells]:
            parts = [_wrapped(row[i], widths[i]) for i in panel]
            for line in range(max(map(len, parts), default=0)):
                texts = [p[line] if line < len(p) else "" for p in parts]
                padded = [_padded(t, widths[i], right=bool(self.formats[i])) for t, i in zip(texts, panel, strict=True)]
                yield (" " * GAP).join(padded).rstrip()

    def markdown(self) -> str:
        """A Markdown table, its caption above and its notes below."""
        rule = ["---:" if f else "---" for f in self.formats]
        lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in [list(self.columns), rule, *self.cells()]]
        head = [f"**{self.caption}**", ""] if self.caption else []
        tail = ["", *(f"{n}  " for n in self.notes if n)] if self.notes else []
        return "\n".join([*head, *lines, *tail]).rstrip()

    def csv(self) -> str:
        """Comma-separated values with a header of keys and all digits; no caption, no notes."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.keys)
        writer.writerows(self.rows)
        return out.getvalue().rstrip("\n")

    def record(self) -> dict[str, Any]:
        """The table as plain data, for JSON; rows by key."""
        rows = [dict(zip(self.keys, row, strict=True)) for row in self.rows]
        return {"caption": self.caption, "notes": [n for n in self.notes if n], "rows": rows}

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        rows = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self.cells())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.notes if n)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def latex(self) -> str:
        """A booktabs table, ready for a paper: a wide one over both columns (table*), a very wide one in small type."""
        cells = self.cells()
        widths = self._widths(cells)
        spec = "".join(_tex_columns(self.formats, widths))
        body = [" & ".join(map(_tex, row)) + r" \\" for row in cells]
        head = " & ".join(map(_tex, self.columns)) + r" \\"
        caption = [rf"\caption{{{_tex(self.caption)}}}"] if self.caption else []
        notes = [rf"\par\footnotesize {_tex(n)}" for n in self.notes if n]
        inner = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        width = sum(w + GAP for w in widths)
        star = "*" if width > BOTH_COLUMNS else ""
        small = [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"] if width > SMALL else []
        start, end = rf"\begin{{table{star}}}", rf"\end{{table{star}}}"
        return "\n".join([start, r"\centering", *caption, *small, *inner, r"\end{tabular}", *notes, end])


def render(tables: Sequence[Table], format: str = "text", *, width: int | None = None) -> str:
    """One or several tables in one of FORMATS; `width` is that of the terminal, for text alone.

    Several tables are separated by a blank line, in JSON they are a list. CSV is one table for a program to read:
    several with the same columns become one, whose first column, `table`, has their captions; others are an error.
    """
    if format == "json":
        records = [t.record() for t in tables]
        return json.dumps(records[0] if len(records) == 1 else records, ensure_ascii=False, indent=2, allow_nan=False)
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}; known: {', '.join(FORMATS)}")
    if format == "text":
        return "\n\n".join(t.text(width) for t in tables)
    if format == "csv" and len(tables) > 1:
        if len({t.keys for t in tables}) > 1:
            raise UsageError(
                f"these are {len(tables)} tables with different columns, and CSV holds one; "
                "use --format json, or leave out the options that add tables"
            )
        return _one_sheet(tables).csv()
    return "\n\n".join(str(getattr(t, format)()) for t in tables)


def _one_sheet(tables: Sequence[Table]) -> Table:
    first = tables[0]
    columns = {"table": "", **dict.fromkeys(first.columns, "")}
    rows = [(t.caption, *row) for t in tables for row in t.rows]
    return Table.of(columns, rows, keys=dict(zip(first.columns, first.keys, strict=True)))


GLOSSARY = {
    "Δ": "delta", "τ": "tau", "σ": "sigma", "α": "alpha", "η": "eta", "ω": "omega", "κ": "kappa", "ρ": "rho",
    "φ": "phi", "Φ": "phi", "χ": "chi", "δ": "delta", "μ": "mu", "β": "beta", "λ": "lambda", "θ": "theta", "γ": "gamma",
    "ε": "epsilon", "π": "pi", "ν": "nu", "ψ": "psi", "²": "2", "₁": "1", "₂": "2", "%": "percent", "≥": "at_least",
    "≤": "at_most", "±": "plus_minus", "−": "minus", "#": "number", "<": "below", ">": "above",
}  # fmt: skip
"""What a sign in the name of a column is called in its key."""


def key_of(name: str) -> str:
    """The key of a column: its name in ASCII, in lower case, words joined by underscores.

    Names of measures keep their case and signs, as in scores.

    >>> key_of("Δ"), key_of("p corrected"), key_of("τ with AP"), key_of("nDCG@10"), key_of("95 % low")
    ('delta', 'p_corrected', 'tau_with_ap', 'nDCG@10', '95_percent_low')
    """
    if re.fullmatch(r"[!-~]*[A-Z@(][!-~]*", name):
        return name
    spelled = "".join(f" {GLOSSARY[c]} " if c in GLOSSARY else c for c in name)
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "column"


def shown(value: Any, format: str) -> str:
    """A value as a person reads it.

    >>> shown(0.00001, "p"), shown(0.0312, "p"), shown(None, ".3f"), shown(-0.00001, "+.3f")
    ('<.0001', '.0312', '–', '0.000')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool) or not format or isinstance(value, str):
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    if format == "p":
        return "<.0001" if value < 0.00005 else f"{value:.4f}".removeprefix("0")
    text = f"{value:{format}}"
    zero = text.strip("+-0.%") == ""
    return text.lstrip("+-") if zero else text.replace("-", "−") if "e" not in text else text


def p_value(p: float) -> str:
    """A p-value within a sentence.

    >>> p_value(0.1412), p_value(0.00001)
    ('p = .1412', 'p < .0001')
    """
    text = shown(p, "p")
    return f"p {text.replace('<', '< ')}" if text.startswith("<") else f"p = {text}"


def _plain(value: Any) -> Any:
    """numpy scalars become Python ones; NaN and infinities become None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _laid_out(widths: list[int], least: list[int], *, most: int | None) -> tuple[list[int], list[list[int]]]:
    """Widths of the columns, and the columns of each panel, such that no panel is wider than `most` where it can be.

    >>> _laid_out([3, 4, 4], [3, 4, 4], most=9)
    ([3, 4, 4], [[0, 1], [0, 2]])
    >>> _laid_out([3, 90, 30], [3, 24, 24], most=60)
    ([3, 26, 27], [[0, 1, 2]])
    """
    gaps, everything = GAP * (len(widths) - 1), list(range(len(widths)))
    if most is None or sum(widths) + gaps <= most:
        return widths, [everything]
    if sum(least) + gaps <= most:
        return _narrowed(widths, least, most - gaps), [everything]
    panels: list[list[int]] = []
    for i in everything[1:]:
        if panels and sum(widths[j] + GAP for j in panels[-1]) + widths[i] <= most:
            panels[-1].append(i)
        else:
            panels.append([0, i])
    return widths, panels or [everything]


def _narrowed(widths: list[int], least: list[int], room: int) -> list[int]:
    """The widths after the widest column that may give gave way, one character at a time, until all fit the room."""
    narrow = list(widths)
    while sum(narrow) > room:
        narrow[max((i for i, w in enumerate(narrow) if w > least[i]), key=lambda i: narrow[i])] -= 1
    return narrow


def _wrapped(text: str, width: int | None, *, indent: str = "") -> list[str]:
    """A text in lines not wider than `width`; words are not cut, an empty text is one empty line."""
    if width is None or _width(text) <= width:
        return [text]
    return textwrap.wrap(text, max(1, width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "−": "$-$", "–": "--", "Δ": r"$\Delta$", "τ": r"$\tau$", "σ": r"$\sigma$",
    "α": r"$\alpha$", "η": r"$\eta$", "ω": r"$\omega$", "κ": r"$\kappa$", "ρ": r"$\rho$", "φ": r"$\phi$",
    "Φ": r"$\Phi$", "χ": r"$\chi$", "δ": r"$\delta$", "μ": r"$\mu$", "²": r"$^2$", "≥": r"$\ge$",
    "≤": r"$\le$", "×": r"$\times$", "±": r"$\pm$", "→": r"$\to$", "§": r"\S{}", "…": r"\dots{}", "β": r"$\beta$",
    "λ": r"$\lambda$", "√": r"$\surd$", "₁": r"$_1$", "·": r"$\cdot$", "∞": r"$\infty$", "θ": r"$\theta$",
    "≈": r"$\approx$", "γ": r"$\gamma$", "ε": r"$\varepsilon$", "π": r"$\pi$", "Π": r"$\Pi$", "Σ": r"$\Sigma$",
    "′": r"$'$", "₂": r"$_2$", "ⁿ": r"$^n$", "∝": r"$\propto$", "∩": r"$\cap$", "∪": r"$\cup$",
    "↓": r"$\downarrow$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "⌈": r"$\lceil$", "⌉": r"$\rceil$",
    "|": r"\textbar{}\allowbreak{}",
    "“": "``", "”": "''", "ν": r"$\nu$", "ψ": r"$\psi$", "⁴": r"$^4$", "₀": r"$_0$", "∈": r"$\in$",
}  # fmt: skip


def _markdown(text: str) -> str:
    """A cell in which neither a bar ends it nor a star, a backtick or a tag is read as markup."""
    return re.sub(r"([|*`])|<(?=[A-Za-z/!?])", lambda found: "\\" + found.group(), text)


def _tex_columns(formats: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """r for numbers, l for words, and for long texts paragraphs that share six to eight tenths of the line."""
    long = [not f and w > PARAGRAPH for f, w in zip(formats, widths, strict=True)]
    share = 0.6 if sum(long) == 1 else 0.8 / max(1, sum(long))
    for f, paragraph in zip(formats, long, strict=True):
        yield "r" if f else rf"p{{{share:.2g}\linewidth}}" if paragraph else "l"


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)
